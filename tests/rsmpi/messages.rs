//! Messages of rsmpi from rank to rank, beside the collectives.

use super::moved;
use mpi::request::{CancelGuard, WaitGuard};
use mpi::topology::Color;
use mpi::traits::*;

/// Receives a message for each place.
fn receive(values: &mut [u64], world: &hypercoll::MpiHypercube) {
    for value in values.iter_mut() {
        world.any_process().receive_into(value);
    }
}

pub fn barrier() {
    let world = moved();
    let others = world.size() as usize - 1;
    if world.rank() == 0 {
        let (mut before, mut after) = (vec![0u64; others], vec![0u64; others]);
        receive(&mut before, &world);
        world.barrier().unwrap();
        receive(&mut after, &world);
        assert_eq!((before, after), (vec![1; others], vec![2; others]));
    } else {
        world.process_at_rank(0).send(&1u64);
        world.barrier().unwrap();
        world.process_at_rank(0).send(&2u64);
    }
}

/// Rank 0 waits for messages that the others only send when they are through with the barrier, which has to go on meanwhile.
pub fn immediate_barrier() {
    let world = moved();
    let others = world.size() as usize - 1;
    if world.rank() == 0 {
        let (mut before, mut after) = (vec![0u64; 2 * others], vec![0u64; others]);
        receive(&mut before, &world);
        let barrier = world.immediate_barrier().unwrap();
        receive(&mut after, &world);
        barrier.wait().unwrap();
        before.sort();
        assert_eq!((before, after), ([vec![1; others], vec![2; others]].concat(), vec![3; others]));
    } else {
        world.process_at_rank(0).send(&1u64);
        let barrier = world.immediate_barrier().unwrap();
        world.process_at_rank(0).send(&2u64);
        barrier.wait().unwrap();
        world.process_at_rank(0).send(&3u64);
    }
}

pub fn immediate() {
    let world = moved();
    let (sent, mut got) = (2.5f32, 0.0f32);
    mpi::request::scope(|scope| {
        let mut send = world.this_process().immediate_send(scope, &sent);
        world.any_process().immediate_receive_into(scope, &mut got).wait();
        while let Err(again) = send.test() {
            send = again;
        }
    });
    assert_eq!(sent, got);
    got = 0.0;
    mpi::request::scope(|scope| {
        let _receive = WaitGuard::from(world.any_process().immediate_receive_into(scope, &mut got));
        let _send = WaitGuard::from(unsafe { world.this_process().immediate_ready_send(scope, &sent) });
    });
    assert_eq!(sent, got);
    assert!(world.any_process().immediate_probe().is_none());
    assert!(world.any_process().immediate_matched_probe().is_none());
    got = 0.0;
    mpi::request::scope(|scope| {
        let _send: WaitGuard<_, _> = world.this_process().immediate_synchronous_send(scope, &sent).into();
        let (message, _) = world.any_process().matched_probe();
        let _receive: WaitGuard<_, _> = message.immediate_matched_receive_into(scope, &mut got).into();
    });
    assert_eq!(sent, got);
    let future = world.any_process().immediate_receive::<f32>();
    world.this_process().send(&sent);
    assert_eq!(future.get().0, sent);
    mpi::request::scope(|scope| {
        let send = world.this_process().immediate_send(scope, &sent);
        send.cancel();
        send.wait();
    });
    // MPI need not be able to cancel it (MPICH 5 is not): whether it comes, one that does not overtake it says.
    let last = -sent;
    mpi::request::scope(|scope| {
        let _send: WaitGuard<_, _> = world.this_process().immediate_send(scope, &last).into();
        while world.this_process().receive::<f32>().0 != last {}
    });
    mpi::request::scope(|scope| {
        let _receive = CancelGuard::from(world.this_process().immediate_receive_into(scope, &mut got));
    });
}

pub fn multiple_requests() {
    const MESSAGES: usize = 20;
    let world = moved();
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank - 1 + size) % size);
    let mut got = vec![-1; MESSAGES];
    mpi::request::multiple_scope(2 * MESSAGES, |scope, requests| {
        for _ in 0..MESSAGES {
            requests.add(world.process_at_rank(next).immediate_send(scope, &rank));
        }
        for value in got.iter_mut() {
            requests.add(world.process_at_rank(before).immediate_receive_into(scope, value));
        }
        let mut seen = [0; 2];
        while requests.incomplete() > 0 {
            let (_, _, value) = requests.wait_any().unwrap();
            seen[usize::from(*value == rank)] += 1;
        }
        assert_eq!(seen, if size == 1 { [0, 2 * MESSAGES] } else { [MESSAGES; 2] });
    });
    assert_eq!(got, [before; MESSAGES]);
}

/// A function over any communicator of rsmpi.
fn from_the_one_before<'a, S: mpi::request::Scope<'a> + Copy>(
    world: &impl Communicator,
    scope: S,
    sent: &'a [i32; 4],
    got: &'a mut [i32; 4],
    requests: &mut mpi::request::RequestCollection<'a, [i32; 4]>,
) {
    let (rank, size) = (world.rank(), world.size());
    requests.add(world.process_at_rank((rank + 1) % size).immediate_send(scope, sent));
    requests.add(world.process_at_rank((rank - 1 + size) % size).immediate_receive_into(scope, got));
}

pub fn multiple_test() {
    let world = moved();
    let (sent, mut got) = ([1, 2, 3, world.rank()], [0; 4]);
    mpi::request::multiple_scope(2, |scope, requests| {
        // With rsmpi: `&world`.
        from_the_one_before(world.communicator(), scope, &sent, &mut got, requests);
        let mut done = Vec::new();
        while !requests.test_all(&mut done) {}
        assert_eq!(done.len(), 2);
    });
    assert_eq!(got, [1, 2, 3, (world.rank() - 1 + world.size()) % world.size()]);
}

/// All ways of waiting for a message move a collective that another rank waits for before it sends the message: one in which every
/// rank passes on what it gets.
pub fn waiting() {
    let world = moved();
    let (rank, size) = (world.rank(), world.size());
    let long = vec![rank; 200_000];
    for way in 0..6 {
        let mut all = vec![-1; size as usize];
        if rank > 0 {
            assert_eq!(world.process_at_rank(0).receive::<i32>().0, way as i32);
        }
        mpi::request::scope(|scope| {
            let gather = world.all_gather().algorithm("ring").start(scope, &rank, &mut all[..]).unwrap();
            if rank == 0 {
                // The others have sent nothing yet that it could have passed on.
                (1..size).for_each(|to| world.process_at_rank(to).send(&(way as i32)));
                (1..size).for_each(|from| meet(&world, way, from, &long));
                gather.wait().unwrap();
            } else {
                gather.wait().unwrap();
                answer(&world, way, &long);
            }
        });
        assert!(all.into_iter().eq(0..size));
    }
}

/// All ways of making a communicator move such a collective, too, also where there is no other communicator.
pub fn making() {
    for way in 0..7 {
        let world = moved();
        let (rank, size) = (world.rank(), world.size());
        let mut all = vec![-1; size as usize];
        mpi::request::scope(|scope| {
            let gather = world.all_gather().algorithm("ring").start(scope, &rank, &mut all[..]).unwrap();
            // The others come when they are through.
            if rank == 0 {
                assert_eq!(made(&world, way), size);
                gather.wait().unwrap();
            } else {
                gather.wait().unwrap();
                assert_eq!(made(&world, way), size);
            }
        });
        assert!(all.into_iter().eq(0..size));
    }
}

/// The size of a communicator that has been made in some way, of all ranks.
fn made(world: &hypercoll::MpiHypercube, way: usize) -> i32 {
    match way {
        0 => hypercoll::Hypercube::new(world.communicator()).unwrap().size() as i32,
        1 => world.duplicate().unwrap().size(),
        2 => world.split_by_color(Color::with_value(7)).unwrap().unwrap().size(),
        3 => world.split_by_color_with_key(Color::with_value(7), -world.rank()).unwrap().unwrap().size(),
        4 => world.split_shared(0).unwrap().size(),
        5 => world.split_by_subgroup_collective(&world.group()).unwrap().unwrap().size(),
        _ => world.create_cartesian_communicator(&[world.size()], &[true], false).unwrap().unwrap().size(),
    }
}

/// What rank 0 waits for.
fn meet(world: &hypercoll::MpiHypercube, way: usize, from: i32, long: &[i32]) {
    let other = world.process_at_rank(from);
    match way {
        0 => assert_eq!(other.receive::<i32>().0, from),
        1 => assert_eq!(other.receive_vec::<i32>().0, [from; 3]),
        2 => assert_eq!(other.matched_probe().0.matched_receive::<i32>().0, from),
        3 => {
            assert_eq!(other.probe().source_rank(), from);
            assert_eq!(other.receive_with_tag::<i32>(0).0, from);
        }
        // What is long, or has to be waited for, is only taken when the others are through.
        4 => other.send(long),
        _ => other.synchronous_send(&0),
    }
}

/// What the others do when they are through.
fn answer(world: &hypercoll::MpiHypercube, way: usize, long: &[i32]) {
    let (rank, root) = (world.rank(), world.process_at_rank(0));
    match way {
        1 => root.send(&[rank; 3][..]),
        4 => {
            let mut got = vec![-1; long.len()];
            root.receive_into(&mut got[..]);
            assert_eq!(got, vec![0; long.len()]);
        }
        5 => assert_eq!(root.receive::<i32>().0, 0),
        _ => root.send(&rank),
    }
}
