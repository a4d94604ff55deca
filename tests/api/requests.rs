//! Requests and persistent calls: whatever becomes of them, the calls end, and their buffers are left alone.

use super::*;
use hypercoll::buffer::StridedMut;
use hypercoll::request::{self, StaticScope};
use std::cell::Cell;

#[test]
fn calls_end_in_any_order() {
    for size in SIZES {
        on(size, move |cube| {
            let mine = [cube.rank(); 3];
            let (mut sum, mut all, mut data) = ([0; 3], vec![0; 3 * size], [cube.rank(); 100]);
            request::scope(|scope| {
                let a = cube.immediate_all_reduce_into(scope, &mine, &mut sum, SystemOperation::sum()).unwrap();
                let b = cube.immediate_all_gather_into(scope, &mine, &mut all).unwrap();
                let c = cube.process_at_rank(size - 1).immediate_broadcast_into(scope, &mut data).unwrap();
                // Not in the same order on all ranks.
                if cube.rank() % 2 == 0 {
                    assert_eq!(c.wait_for_data().unwrap(), &[size - 1; 100]);
                    a.wait().unwrap();
                    b.wait().unwrap();
                } else {
                    b.wait().unwrap();
                    c.wait().unwrap();
                    a.wait().unwrap();
                }
                // A blocking call between.
                cube.barrier().unwrap();
            });
            assert_eq!(sum, [size * (size - 1) / 2; 3]);
            assert!((0..3 * size).all(|at| all[at] == at / 3));
        });
    }
}

#[test]
fn what_is_dropped_or_leaked_ends_with_its_scope() {
    on(4, |cube| {
        for leaked in [false, true] {
            let mut data = vec![cube.rank() as u64; 50_000];
            request::scope(|scope| {
                let request = cube.process_at_rank(2).immediate_broadcast_into(scope, &mut data).unwrap();
                if leaked {
                    std::mem::forget(request);
                }
            });
            assert!(data.iter().all(|value| *value == 2));
        }
        cube.immediate_barrier().unwrap().wait().unwrap();
    });
}

/// Rank 1 passes on to rank 2 what it receives.
#[test]
fn what_is_leaked_without_a_scope_ends_with_its_thread() {
    on(3, |cube| {
        let data: &'static mut [usize] = Box::leak(vec![cube.rank(); 10].into_boxed_slice());
        let path = cube.broadcast(0).algorithm("hamiltonian_path");
        let request = path.start(StaticScope, data).unwrap();
        match cube.rank() {
            1 => std::mem::forget(request),
            _ => assert_eq!(request.wait_for_data().unwrap(), [0; 10]),
        }
    });
}

#[test]
fn requests_are_tested_until_they_are_over() {
    on(3, |cube| {
        let data: &'static mut [u32] = Box::leak(vec![cube.rank() as u32; 10].into_boxed_slice());
        let mut request = cube.process_at_rank(1).immediate_broadcast_into(StaticScope, data).unwrap();
        let data = loop {
            match request.test() {
                Ok(outcome) => break outcome,
                Err(again) => request = again,
            }
        };
        assert_eq!(data, Ok(()));
        let barriers = (0..5).map(|_| cube.immediate_barrier()).collect::<hypercoll::Result<Vec<_>>>();
        request::wait_all(barriers.unwrap()).unwrap();
    });
}

/// The call cannot go on when its buffers go: the others are told, and nobody waits for ever.
#[test]
fn a_panic_within_a_scope_ends_its_calls() {
    let outcomes = on(3, |cube| {
        let mut data = vec![0u8; 1 << 20];
        let call = || {
            request::scope(|scope| {
                let started = cube.process_at_rank(0).immediate_broadcast_into(scope, &mut data);
                assert!(cube.rank() != 1, "rank 1 has had enough");
                started.and_then(|request| request.wait()).and_then(|()| cube.barrier())
            })
        };
        catch_unwind(AssertUnwindSafe(call)).map_err(|_| ())
    });
    assert_eq!(outcomes[1], Err(()));
    for rank in [0, 2] {
        assert!(matches!(outcomes[rank], Ok(Err(Error::RankFailed { rank: 1, .. }))), "{:?}", outcomes[rank]);
    }
}

#[test]
fn persistent_calls_are_started_again_and_again() {
    for size in SIZES {
        on(size, move |cube| {
            let (mut one, mut sum, mut all) = ([0u64; 2], [0u64; 2], vec![0u64; 2 * size]);
            let (mut blocks, mut block) = (vec![0u64; size], [0u64]);
            request::scope(|scope| {
                let root = cube.process_at_rank(size / 2);
                let mut reduce = cube.all_reduce_init(scope, &mut one, &mut sum, SystemOperation::sum()).unwrap();
                let mut scatter = root.scatter_init(scope, &mut blocks[..], &mut block[..]).unwrap();
                let mut barrier = cube.barrier_init().unwrap();
                for step in 0..20u64 {
                    reduce.buffers().unwrap().0.fill(step);
                    scatter.buffers().unwrap().0.iter_mut().zip(step..).for_each(|(block, value)| *block = value);
                    for call in 0..3 {
                        // Some are under way together, and some are started again before they were waited for.
                        match call {
                            0 => reduce.start().unwrap(),
                            1 => scatter.start().unwrap(),
                            _ => barrier.start().unwrap(),
                        }
                        let started = [Collective::AllReduce, Collective::Scatter, Collective::Barrier][call];
                        assert_eq!(cube.last().unwrap().collective, started);
                    }
                    while !scatter.test().unwrap() {}
                    assert_eq!(reduce.buffers().unwrap().1, &[step * size as u64; 2]);
                    assert_eq!(scatter.buffers().unwrap().1, &[step + cube.rank() as u64]);
                }
                barrier.wait().unwrap();
            });
            request::scope(|scope| {
                let mut gather = cube.all_gather_init(scope, &mut one, &mut all[..]).unwrap();
                gather.start().unwrap();
            });
            assert!(all.iter().all(|value| *value == 19));
        });
    }
}

/// Columns of matrices; what lies between them is the program's, and stays.
#[test]
fn persistent_calls_take_elements_at_equal_distances() {
    for size in SIZES {
        on(size, move |cube| {
            // The middle column of 3 becomes a column of a matrix with one for each rank, last row first.
            let (mut own, mut all) = (vec![7u64; 2 * 3], vec![9u64; 2 * (size + 1)]);
            let mut blocks = vec![0u64; 2 * size];
            let mut column = StridedMut::new(&mut own, 1, &[(2, 3)]).unwrap();
            let mut columns = StridedMut::new(&mut all, 0, &[(size, 1), (2, size + 1)]).unwrap();
            let mut every_second = StridedMut::new(&mut blocks, 1, &[(size, 2)]).unwrap();
            request::scope(|scope| {
                let mut gather = cube.all_gather_init(scope, &mut column, &mut columns).unwrap();
                let mut exchange = cube.all_to_all().init_in_place(scope, &mut every_second).unwrap();
                for step in 0..5u64 {
                    let own = gather.buffers().unwrap().0;
                    (own[1], own[4], own[0]) = (step, 100 + cube.rank() as u64, step);
                    exchange.buffers().unwrap().1.fill(10 * step + cube.rank() as u64);
                    gather.start().unwrap();
                    exchange.start().unwrap();
                    gather.buffers().unwrap().1[size] = 50 + step;
                    let all = &*gather.buffers().unwrap().1;
                    assert_eq!((&all[..size], all[size]), (&vec![step; size][..], 50 + step));
                    assert!((0..size).all(|rank| all[size + 1 + rank] == 100 + rank as u64) && all[2 * size + 1] == 9);
                    let blocks = &*exchange.buffers().unwrap().1;
                    let expected = |at: usize| 10 * step + if at % 2 == 1 { at / 2 } else { cube.rank() } as u64;
                    assert!((0..2 * size).all(|at| blocks[at] == expected(at)), "{blocks:?}");
                }
            });
            assert_eq!(own[..4], [4, 4, 7, 7]);
        });
    }
}

/// The function of a reduction holds requests of the same communicator: it can neither wait for them nor forget them.
#[test]
fn requests_in_the_middle_of_another_call() {
    on(2, |cube| {
        let (mine, mut sum) = ([1], [0]);
        let mut late = [[cube.rank(); 3]; 2];
        request::scope(|scope| {
            let [waited, dropped] = &mut late;
            let start = |data| cube.process_at_rank(0).immediate_broadcast_into(scope, data).unwrap();
            let held = Cell::new(Some((start(waited), start(dropped))));
            let add = |a: &i32, b: &i32| {
                if let Some((mut waited, dropped)) = held.take() {
                    assert!(waited.look());
                    assert_eq!(waited.wait(), Err(Error::Nested));
                    drop(dropped);
                }
                a + b
            };
            cube.all_reduce().algorithm("recursive_doubling").run(&mine, &mut sum, Commutative(add)).unwrap();
            assert!(held.take().is_none());
        });
        // The scope has waited for both.
        assert_eq!((sum, late), ([2], [[0; 3]; 2]));
        cube.barrier().unwrap();
    });
}

/// A call in which the user's function has panicked is told of no more: its data is not what the call was to bring.
#[test]
fn a_call_that_has_panicked_is_not_told_as_over() {
    on(2, |cube| {
        let (mine, mut sum) = ([1u64; 3], [0; 3]);
        request::multiple_scope(1, |scope, requests| {
            let panics = |_: &u64, _: &u64| -> u64 { panic!("one and one is too much") };
            requests.add(cube.immediate_all_reduce_into(scope, &mine, &mut sum, panics).unwrap());
            // Or the other rank was the first, and this one hears of it.
            let first = catch_unwind(AssertUnwindSafe(|| requests.wait_any().map(|(_, data)| data.is_ok())));
            assert!(!matches!(first, Ok(Some(true) | None)), "{first:?}");
            assert_eq!(requests.incomplete(), 0);
            assert!(requests.wait_any().is_none());
        });
    });
}
