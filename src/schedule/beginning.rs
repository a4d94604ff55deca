//! What an execution of a schedule begins with: worked out once for all calls of a plan.

use super::{Kind, Schedule};

/// The state in which an execution begins.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    /// For each operation, how many it waits for.
    pub needs: Vec<u32>,
    /// Of a call that nobody waits for yet, and of one that is waited for at once.
    pub starts: [Starts; 2],
}

/// Which operations may start at once.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    /// The first operation that is too far ahead.
    pub opened: usize,
    /// Of those before it, the ones that wait for nothing: receives, and others. In program order, but for those that follow others on
    /// their channel: they start after these.
    pub receives: Vec<u32>,
    pub others: Vec<u32>,
}

impl Schedule {
    pub(crate) fn beginning(&self) -> Beginning {
        let operations = self.operations();
        let starts = |opens: &dyn Fn(usize) -> usize| {
            let opened = (0..operations.len()).position(|at| opens(at) > 0).unwrap_or(operations.len());
            let at_once = |at: &u32| {
                let operation = &operations[*at as usize];
                self.dependencies(operation).is_empty() && self.channel_predecessor(operation).is_none()
            };
            let is_receive = |at: &u32| matches!(operations[*at as usize].kind, Kind::Receive { .. });
            let (receives, others) = (0..opened as u32).filter(at_once).partition(is_receive);
            Starts { opened, receives, others }
        };
        Beginning {
            needs: operations.iter().map(|operation| self.dependencies(operation).len() as u32).collect(),
            starts: [starts(&|at| self.opens_unattended(at)), starts(&|at| self.opens(at))],
        }
    }
}
