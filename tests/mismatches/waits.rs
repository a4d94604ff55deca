//! Waits for a rank that makes no call: ranks say that they wait, and for whom, and do not wait for ever.

use crate::ranks::on_ranks;
use crate::said;
use hypercoll::{Error, Hypercube, Result};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::time::{Duration, Instant};

/// How long one that makes no call stands still, if the others do not release it: many times the limit.
const RELEASED_WITHIN: Duration = Duration::from_secs(60);
/// Longer than ranks wait before they say so.
const LATE: Duration = Duration::from_millis(1500);

/// The roll-calls that this rank has said since this was asked last.
fn rolls() -> Vec<String> {
    said::said().into_iter().filter(|text| text.contains("no progress for 1 s. ")).collect()
}

/// Makes no call until the others have waited for so long that it is an error.
fn stand_still(world: &SimpleCommunicator, others: impl Iterator<Item = usize>) {
    let begin = Instant::now();
    for other in others {
        let other = world.process_at_rank(other as i32);
        while other.immediate_probe().is_none() {
            assert!(begin.elapsed() < RELEASED_WITHIN, "the others wait for ever");
            std::thread::sleep(Duration::from_millis(1));
        }
        other.receive::<u8>();
    }
}

/// A call was not to come to an end: the error, in words, and for whom was waited. Releases those that stand still.
fn expired(outcome: Result<()>, world: &SimpleCommunicator, still: &[usize]) -> (String, Vec<usize>) {
    still.iter().for_each(|&rank| world.process_at_rank(rank as i32).send(&0u8));
    match outcome {
        Err(ref error @ Error::Timeout { ref waiting_for, .. }) => (error.to_string(), waiting_for.clone()),
        other => panic!("{other:?}"),
    }
}

/// The last rank comes late to the first call, and not at all to the second, to which rank 1 does not come either.
fn others_stand_still(world: &SimpleCommunicator) {
    let cube = Hypercube::new(world).expect("a hypercube");
    let last = cube.size() - 1;
    if cube.rank() == last {
        std::thread::sleep(LATE);
    }
    cube.barrier().expect("all come");
    assert_eq!(rolls().len(), usize::from(cube.rank() < last));
    match cube.rank() {
        0 => {
            let blocks = vec![0u32; cube.size()];
            let outcome = cube.all_to_all_into(&blocks, &mut blocks.clone());
            let (text, waiting_for) = expired(outcome, world, &Vec::from_iter(1..=last));
            assert_eq!(waiting_for, Vec::from_iter(1..=last));
            let rolls = rolls();
            assert_eq!(rolls.len(), 1, "{rolls:?}");
            // What they did in the first call is no answer.
            let whom = if last == 1 { "rank 1: no answer" } else { "ranks 1, 2: no answer" };
            assert!(text.contains(whom) && rolls[0].contains(whom), "{text}\n{rolls:?}");
        }
        _ => stand_still(world, 0..1),
    }
}

/// Two ranks of several wait for the last one, and answer each other.
fn one_stands_still(world: &SimpleCommunicator) {
    let cube = Hypercube::new(world).expect("a hypercube");
    let last = cube.size() - 1;
    if cube.rank() == last {
        return stand_still(world, 0..last);
    }
    let (text, _) = expired(cube.barrier(), world, &[last]);
    assert!(text.contains(&format!("rank {last}: no answer")), "{text}");
    assert_eq!(rolls().len(), 1);
}

/// Rank 0 is ahead and waits in call 2 for long when rank 1 makes call 1, in which it waits for rank 2.
fn one_behind_waits(world: &SimpleCommunicator) {
    let cube = Hypercube::new(world).expect("a hypercube");
    if cube.rank() == 2 {
        return stand_still(world, 0..2);
    }
    if cube.rank() == 1 {
        std::thread::sleep(LATE);
    }
    let mut data = [0; 5];
    let sent = cube.send(2, 1).run(5, None, (cube.rank() == 1).then_some(&mut data[..]));
    let outcome = if cube.rank() == 0 { sent.and_then(|()| cube.barrier()) } else { sent };
    expired(outcome, world, &[2]);
    let rolls = rolls();
    assert_eq!(rolls.len(), 1, "{rolls:?}");
}

fn run(test: &str, size: usize, way: &str, code: fn(&SimpleCommunicator)) {
    let limits = [("HYPERCOLL_ROLL_CALL", "1"), ("HYPERCOLL_TIMEOUT", "4,error")];
    let variables = [&limits[..], &[("HYPERCOLL_SHARED_MEMORY", way)]].concat();
    on_ranks(test, size, &variables, |world| {
        said::listen();
        code(world);
    });
}

#[test]
fn one_of_2_over_links() {
    run("waits::one_of_2_over_links", 2, "none", others_stand_still);
}

#[test]
fn two_of_3_over_links() {
    run("waits::two_of_3_over_links", 3, "none", others_stand_still);
}

#[test]
fn one_of_4_over_links() {
    run("waits::one_of_4_over_links", 4, "none", one_stands_still);
}

#[test]
fn a_rank_behind_another_that_waits() {
    run("waits::a_rank_behind_another_that_waits", 3, "off", one_behind_waits);
}
