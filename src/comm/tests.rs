//! What a communicator tells and is told between collectives, and within one.

use super::*;
use crate::algorithm::PortModel;
use crate::collective::Collective;
use crate::executor::board::Board;
use crate::executor::memory::Span;
use crate::executor::{Stamp, Token, Trouble};
use crate::threads;
use std::time::Duration;

/// The transport of rank 0 of so many, which shows what it was told, and moves nothing.
#[derive(Default)]
struct Alone {
    size: usize,
    synchronous: Rc<Cell<Option<bool>>>,
    ceased: Rc<Cell<bool>>,
    board: Option<Board>,
}

impl Transport for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        self.size
    }

    fn forget_before(&mut self, _: u64) {}

    fn receives_first(&self) -> bool {
        false
    }

    fn send(&mut self, _: Token, _: Stamp, _: usize, _: &[Span]) -> Result<bool> {
        Err(Error::Packet)
    }

    fn receive(&mut self, _: Token, _: Stamp, _: usize, _: &[Span], _: bool) -> Result<bool> {
        Err(Error::Packet)
    }

    fn advance(&mut self, _: bool, _: u32, _: &mut Vec<Token>) -> std::result::Result<bool, Box<Trouble>> {
        Ok(false)
    }

    fn pause(&mut self) -> bool {
        true
    }

    fn under_way(&self) -> Vec<usize> {
        Vec::new()
    }

    fn cease(&mut self, _: Duration) {
        self.ceased.set(true);
    }

    fn board(&self) -> Option<&Board> {
        self.board.as_ref()
    }

    fn tell(&mut self, _: usize, _: &[u8]) {}

    fn part(&mut self, _: usize, _: &[u8]) {}

    fn hear(&mut self) -> Option<(usize, Vec<u8>)> {
        None
    }

    fn end_job(&self, _: &str) {}

    fn ways(&self) -> String {
        "none".into()
    }

    fn synchronous_sends(&mut self, on: bool) {
        self.synchronous.set(Some(on));
    }

    fn set_single_copy_from(&mut self, _: usize) -> Option<usize> {
        None
    }
}

fn alone(size: usize, machine: Machine) -> Hypercube {
    let transport = Box::new(Alone { size, ..Alone::default() });
    Hypercube::over(transport, machine, Ok(Overrides::default()), Patience::default())
}

#[test]
fn sends_are_synchronous_from_the_next_collective_on() {
    let told = Rc::new(Cell::new(None));
    let transport = Box::new(Alone { size: 1, synchronous: Rc::clone(&told), ..Alone::default() });
    let machine = Machine::shared_memory(1);
    let cube = Hypercube::over(transport, machine, Ok(Overrides::default()), Patience::default());
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
        let cube = alone(16, machine);
        let (algorithm, ports) = (Some("complete_broadcast".into()), Some(PortModel::AllPorts));
        let options = Options { algorithm, ports, packet: Some(512), ..Options::default() };
        cube.plan(&Call::new(Collective::AllGather, 16, 4096), 8, Some(&options), None)
            .unwrap()
            .parts
            .part(0)
            .schedule
            .run_ahead
            .window
    };
    assert_eq!(window(Machine::shared_memory(2)), 64);
    assert_eq!(window(Machine::network()), 16);
}

/// Whatever was measured: a reduction in other parts may combine in another order.
#[test]
fn in_shared_memory_long_vectors_go_in_parts() {
    let parts = |machine: Machine| {
        let options = Options { algorithm: Some("chain".into()), packet: Some(5), ..Options::default() };
        let call = Call::new(Collective::Reduce, 16, 4 * 64 * 5);
        alone(16, machine).plan(&call, 8, Some(&options), None).unwrap().parts.number
    };
    assert_eq!([Machine::shared_memory(2), Machine::network()].map(parts), [4, 1]);
    let shared = Machine::shared_memory(2);
    assert_eq!(parts(Machine { tau: 1e6 * shared.tau, t_c: 1e6 * shared.t_c, ..shared }), 4);
}

#[test]
fn short_calls_are_not_timed() {
    let cube = alone(1, Machine::network());
    let plan = cube.plan(&Call::new(Collective::Broadcast, 1, 8), 1, None, None).unwrap();
    let measured = |predicted: f64| {
        let choice = Choice { predicted, ..plan.choice.clone() };
        let schedule = plan.parts.part(0).schedule.clone();
        let plan = Plan::new(&plan.call, 1, &Options::default(), choice, (0, false), |_, _| schedule.clone());
        let mut data = [0u8; 8];
        let mut arguments = Arguments::new(Location::caller(), 8, &[], &mut data);
        cube.execute(cube.engine().unwrap(), Rc::new(plan), &mut arguments).unwrap();
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

#[test]
fn a_collective_within_another_one_is_an_error() {
    let outcomes = threads::run(2, |cube| {
        let add = |a: &u64, b: &u64| {
            assert_eq!(cube.barrier(), Err(Error::Nested));
            a + b
        };
        let mut sum = 0u64;
        cube.all_reduce_into(&1u64, &mut sum, add).map(|()| sum)
    });
    assert_eq!(outcomes, [Ok(2), Ok(2)]);
}

/// What a transport refuses is an error of the call, and of all later ones.
#[test]
fn a_transport_that_fails_breaks_the_communicator() {
    let cube = alone(2, Machine::shared_memory(1));
    assert_eq!(cube.barrier(), Err(Error::Packet));
    assert!(matches!(cube.barrier(), Err(Error::Broken { .. })));
}

/// Runs code on ranks that take themselves to be hosts all of whose links work at once.
fn on_all_ports(size: usize, code: impl Fn(&Hypercube) + Sync) {
    let (transports, _) = crate::executor::threads::Threads::between(size);
    let machine = Machine { ports: PortModel::AllPorts, pairs_linked: false, ..Machine::network() };
    std::thread::scope(|scope| {
        for transport in transports {
            let (code, machine) = (&code, machine.clone());
            scope.spawn(move || {
                code(&Hypercube::over(Box::new(transport), machine, Ok(Overrides::default()), Patience::default()));
            });
        }
    });
}

/// Where the root tells lengths ahead, ranks that know different ones choose alike, and know what they need: for short blocks, long
/// ones in packets, and one long block among short ones.
#[test]
fn lengths_that_are_told_ahead_are_enough() {
    let chosen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    for size in [2, 3, 5, 8] {
        let all_are_through = std::sync::Barrier::new(size);
        on_all_ports(size, |cube| {
            for (unit, all) in [(1, 1), (40, 1), (30_000, 1), (30_000, 0)] {
                let counts: Vec<usize> = (0..size).map(|r| if r == 1 { unit } else { all * unit / (r + 1) }).collect();
                let places: Vec<usize> = (0..size).map(|r| counts[..r].iter().sum()).collect();
                let whole: Vec<u32> = (0..counts.iter().sum::<usize>() as u32).collect();
                let own = whole[places[cube.rank]..][..counts[cube.rank]].to_vec();
                for root in [0, size - 1] {
                    let here = cube.rank == root;
                    let mut gathered = vec![0; whole.len()];
                    let mut into = crate::PartitionMut::new(&mut gathered, &counts[..], &places[..]);
                    cube.gather(root).run_varcount(&own, here.then_some(&mut into)).unwrap();
                    assert!(!here || gathered == whole);
                    chosen
                        .lock()
                        .unwrap()
                        .insert((cube.last().unwrap().algorithm, cube.last().unwrap().parameters.packet.is_some()));
                    let mut scattered = vec![0; own.len()];
                    let from = crate::Partition::new(&whole, &counts[..], &places[..]);
                    cube.scatter(root).run_varcount(here.then_some(&from), &mut scattered).unwrap();
                    assert!(scattered == own);
                    assert!(cube.last().unwrap().why.starts_with("least predicted time"), "{}", cube.explain_last());
                }
            }
            // The root and another rank disagree: an error on all ranks, whatever has been told. (No rank is in a call before.)
            all_are_through.wait();
            let counts = vec![4usize; size];
            let places: Vec<usize> = (0..size).map(|r| 4 * r).collect();
            let mut gathered = vec![0u32; 4 * size];
            let mut into = crate::PartitionMut::new(&mut gathered, &counts[..], &places[..]);
            let own = vec![0u32; if cube.rank == 1 { 5 } else { 4 }];
            let outcome = cube.gather(0).run_varcount(&own, (cube.rank == 0).then_some(&mut into));
            let refused = outcome.and_then(|()| cube.barrier()).unwrap_err();
            match &refused {
                Error::Length { argument: "send", got: 5, .. } => assert_eq!(cube.rank, 1),
                Error::Mismatch { ranks, .. } => assert!(size == 2 || ranks.contains(&1), "{refused}"),
                _ => panic!("{refused}"),
            }
        });
    }
    let chosen = chosen.into_inner().unwrap();
    assert!(chosen.iter().any(|(_, packets)| *packets) && chosen.iter().any(|(_, packets)| !*packets), "{chosen:?}");
}

/// The last chance to let go of what others have sent: they may wait for it.
#[test]
fn what_the_host_has_found_is_heeded_by_one_that_lets_go() {
    for broken in [false, true] {
        let (ceased, boards) = (Rc::new(Cell::new(false)), Board::of_threads(2));
        let transport = Alone { size: 2, ceased: Rc::clone(&ceased), board: Some(boards(0)), ..Alone::default() };
        let machine = Machine::shared_memory(1);
        let cube = Hypercube::over(Box::new(transport), machine, Ok(Overrides::default()), Patience::default());
        if broken {
            boards(1).find("lost\n1\nrank 1 failed");
        }
        drop(cube);
        assert_eq!(ceased.get(), broken);
    }
}
