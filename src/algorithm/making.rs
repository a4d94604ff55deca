//! From a row of the registry to the schedule of a rank.

use super::{Algorithm, Form, Formula, Parameters, PortModel, Shape, Write};
use crate::collective::Call;
use crate::schedule::{fold, place, Messages, Problem, Route, Schedule};

impl Algorithm {
    /// The messages of `rank`.
    pub fn messages(&self, call: &Call, parameters: &Parameters, rank: usize) -> Messages {
        let parameters = &self.own(parameters);
        let messages = self.straight(call, parameters, rank);
        match &call.avoid {
            None => messages.flowing(self.flows),
            Some(avoid) => {
                let kind = (call.in_order_of_nodes(), parameters.ports == PortModel::OneWay);
                avoid.detour(messages, rank, kind, &|rank| self.straight(call, parameters, rank))
            }
        }
    }

    /// The messages of `rank` before any detour.
    fn straight(&self, call: &Call, parameters: &Parameters, rank: usize) -> Messages {
        let problem = Problem::new(call);
        let run = |write: Write| {
            fold(&problem, rank, &|problem: &Problem, node: usize, route: &mut Route| {
                write(problem, parameters, node, route)
            })
        };
        match self.form {
            Form::Forward(write) => run(write),
            Form::Combining(write) => run(write).combining(),
            Form::Backward(write) => run(write).reversed(call.collective.reduces()),
            Form::BackwardForward(first, second) => run(first).reversed(true).then(run(second)),
            Form::Between(ends, middle) => run(ends).reversed(true).then(run(middle).combining()).then(run(ends)),
        }
    }

    /// The schedule of `rank`: costs time in proportion to the rank's own operations.
    pub fn schedule(&self, call: &Call, parameters: &Parameters, rank: usize) -> Schedule {
        let messages = self.messages(call, parameters, rank);
        match parameters.packet.filter(|_| self.cuts(parameters.ports)) {
            Some(packet) => place(call, rank, &messages.cut(packet)),
            None => place(call, rank, &messages),
        }
    }

    /// The schedule of `rank` in a call whose messages go over links between hosts, or not.
    pub(crate) fn fitted(&self, call: &Call, parameters: &Parameters, rank: usize, links: bool) -> Schedule {
        let far_ahead = call.flows() && !self.in_step;
        self.schedule(call, parameters, rank).fitted(call, links, far_ahead)
    }

    /// What the formula depends on; cutting messages into packets changes none of it.
    pub fn shape(&self, call: &Call, parameters: &Parameters) -> Shape {
        Shape::new(call, &self.own(parameters))
    }

    /// What follows one another until the last rank has all.
    pub(crate) fn in_a_row(&self, shape: &Shape) -> Formula {
        self.way.unwrap_or(self.formula)(shape)
    }

    /// The parameters for what the algorithm makes itself.
    pub(super) fn own(&self, parameters: &Parameters) -> Parameters {
        let packet = parameters.packet.filter(|_| !self.cuts(parameters.ports));
        Parameters { packet, ..*parameters }
    }

    /// Whether a packet size cuts the messages of a round, rather than making rounds of packets.
    pub fn cuts(&self, ports: PortModel) -> bool {
        !self.packets.contains(&ports)
    }
}
