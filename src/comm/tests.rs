//! What a communicator tells and is told between collectives, and within one.

use super::*;
use crate::algorithm::PortModel;
use crate::executor::{Completion, Wait};
use crate::schedule::BufferRange;
use crate::select::Choice;
use crate::threads;

/// The transport of rank 0 of so many, which shows what it was told of sends, and moves nothing.
struct Alone(usize, Rc<Cell<Option<bool>>>);

impl Transport for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        self.0
    }

    fn send(&mut self, _: u32, _: usize, _: &[BufferRange], _: &Buffers, _: bool) -> Result<()> {
        Err(Error::Broken)
    }

    fn receive(&mut self, _: u32, _: usize, _: &[BufferRange], _: &mut Buffers) -> Result<()> {
        Err(Error::Broken)
    }

    fn progress(&mut self, _: Wait, _: &mut Buffers, _: &mut Vec<Completion>) -> Result<()> {
        Ok(())
    }

    fn ways(&self) -> String {
        "none".into()
    }

    fn synchronous_sends(&mut self, on: bool) {
        self.1.set(Some(on));
    }
}

#[test]
fn sends_are_synchronous_from_the_next_collective_on() {
    let told = Rc::new(Cell::new(None));
    let transport = Box::new(Alone(1, Rc::clone(&told)));
    let cube = Hypercube::over(transport, Machine::shared_memory(1), Ok(Overrides::default()));
    // What the environment asks for stays as it is.
    cube.barrier().unwrap();
    assert_eq!(told.get(), None);
    for on in [true, false] {
        cube.synchronous_sends(on);
        assert_ne!(told.get(), Some(on));
        cube.barrier().unwrap();
        assert_eq!(told.get(), Some(on));
    }
}

#[test]
fn over_links_what_goes_over_several_ports_runs_less_far_ahead() {
    let window = |machine: Machine| {
        let cube = Hypercube::over(Box::new(Alone(16, Rc::default())), machine, Ok(Overrides::default()));
        let (algorithm, ports) = (Some("complete_broadcast".into()), Some(PortModel::AllPorts));
        let options = Options { algorithm, ports, packet: Some(512), ..Options::default() };
        cube.plan(&Call::new(Collective::AllGather, 16, 4096), 8, &options).unwrap().schedule.window
    };
    assert_eq!(window(Machine::shared_memory(2)), 64);
    assert_eq!(window(Machine::network()), 16);
}

#[test]
fn short_calls_are_not_timed() {
    let cube = Hypercube::over(Box::new(Alone(1, Rc::default())), Machine::network(), Ok(Overrides::default()));
    let plan = cube.plan(&Call::new(Collective::Broadcast, 1, 8), 1, &Options::default()).unwrap();
    let measured = |predicted: f64| {
        let choice = Choice { predicted, ..plan.choice.clone() };
        let (call, schedule) = (plan.call.clone(), plan.schedule.clone());
        let plan = Plan { call, element: 1, choice, schedule, lengths: plan.lengths };
        cube.execute(&Rc::new(plan), &[], &mut [0; 8], None).unwrap();
        cube.last().unwrap().measured
    };
    assert_eq!(measured(9e-6), None);
    assert!(measured(11e-6).is_some());
}

#[test]
fn a_combining_function_may_ask_its_communicator() {
    let sums = threads::run(3, |cube| {
        let add = |a: &u64, b: &u64| {
            cube.synchronous_sends(true);
            assert_eq!((cube.transport().as_str(), cube.rank() < cube.size()), ("memory of one process", true));
            a + b
        };
        let mut sum = 0u64;
        cube.all_reduce_into(&1u64, &mut sum, add).unwrap();
        sum
    });
    assert_eq!(sums, [3; 3]);
}
