//! Ranks that differ, leave, panic, hurry or linger.

use super::options::{all_parameters, with_options};
use super::*;

/// The outcome of a call in which ranks differ, and of a barrier after it.
type Outcomes = Vec<(hypercoll::Result<()>, hypercoll::Result<()>)>;

/// Every rank gets the same error, from the first call that needs others or from the next one, and a broken communicator after it.
fn all_see_it(case: &str, odd: usize, outcomes: &Outcomes) {
    for (rank, outcome) in outcomes.iter().enumerate() {
        let error = match outcome {
            (Err(error), second) => {
                assert!(matches!(second, Err(Error::Broken { .. })), "{case}, rank {rank}: {second:?}");
                error
            }
            (Ok(()), Err(error)) => error,
            (Ok(()), Ok(())) => panic!("{case}: rank {rank} does not see it"),
        };
        let Error::Mismatch { ranks, what } = error else { panic!("{case}, rank {rank}: {error}") };
        // Of two ranks either may be the odd one.
        assert!(ranks.contains(&odd) || outcomes.len() == 2, "{case}, rank {rank}: {error}");
        assert!(what.matches("tests/api/ranks.rs:").count() >= 1, "{case}, rank {rank}: {error}");
    }
}

#[test]
fn counts_that_differ() {
    for size in [2, 3, 5, 8] {
        for odd in 0..size {
            let outcomes: Outcomes = on(size, move |cube| {
                let mut data = vec![cube.rank() as u64; if cube.rank() == odd { 6 } else { 5 }];
                let first = cube.broadcast(0).algorithm("sbt").ports(PortModel::OnePort).run(&mut data);
                (first, cube.barrier())
            });
            all_see_it(&format!("broadcast, size {size}, rank {odd}"), odd, &outcomes);
            let outcomes: Outcomes = on(size, move |cube| {
                let own = vec![1u64; if cube.rank() == odd { 3 } else { 4 }];
                let mut sum = own.clone();
                let first = cube.all_reduce().algorithm("sbt").run(&own, &mut sum, SystemOperation::sum());
                (first, cube.barrier())
            });
            all_see_it(&format!("all-reduce, size {size}, rank {odd}"), odd, &outcomes);
        }
    }
}

/// Calls so different that the ranks' schedules do not have the same messages: nobody waits for ever.
#[test]
fn calls_that_differ_in_shape() {
    let outcomes: Outcomes = on(4, |cube| {
        let mut data = vec![0u64; if cube.rank() == 0 { 0 } else { 5 }];
        (cube.process_at_rank(0).broadcast_into(&mut data), cube.barrier())
    });
    all_see_it("nothing from the root", 0, &outcomes);
    let outcomes: Outcomes = on(4, |cube| {
        let mut data = vec![0u64; 64];
        let first = cube.broadcast(0).packet(if cube.rank() == 0 { 64 } else { 8 }).run(&mut data);
        (first, cube.barrier())
    });
    all_see_it("packets differ", 0, &outcomes);
}

/// A rank that returns early, for instance by `?` after an error that it alone sees, does not leave the others waiting.
#[test]
fn a_rank_that_leaves_does_not_hang_the_others() {
    let outcomes = on(4, |cube| {
        if cube.rank() == 1 {
            return cube.all_gather_into(&[1u8], &mut [0u8; 3]); // wrong here only
        }
        cube.all_gather_into(&[1u8], &mut [0u8; 4])
    });
    assert!(matches!(outcomes[1], Err(Error::Length { .. })));
    assert!(outcomes.iter().all(|outcome| outcome.is_err()), "{outcomes:?}");
}

/// The others' calls end with an error, and the panic that is passed on is the first one: also if the others then panic
/// as well because they unwrap what they got.
#[test]
fn a_panic_ends_the_others_waiting() {
    for unwraps in [false, true] {
        let message = panic_of(5, move |cube| {
            let mut all = [0usize; 5];
            cube.all_gather_into(&cube.rank(), &mut all).unwrap();
            assert!(cube.rank() != 3, "rank 3 has had enough");
            let outcome = cube.all_gather_into(&cube.rank(), &mut all);
            if unwraps {
                outcome.unwrap();
            } else {
                assert!(matches!(outcome, Err(Error::RankFailed { rank: 3, .. })), "{outcome:?}");
            }
        });
        assert_eq!(message, "rank 3 has had enough", "unwraps: {unwraps}");
    }
    assert!(catch_unwind(|| threads::run(0, |_| ())).is_err());
}

/// The message of the panic that code on threads is to end with.
fn panic_of<R: Send + 'static>(ranks: usize, code: impl Fn(&Hypercube) -> R + Sync + Send + 'static) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(|| on(ranks, code)));
    let panic = outcome.map(|results| results.len()).expect_err("the panic is passed on");
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap()
}

/// Receives are under way then that only messages of other ranks end, which panic as well.
#[test]
fn a_combining_function_that_panics_on_all_ranks_does_not_hang_them() {
    for size in [2, 4, 5] {
        let message = panic_of(size, move |cube| {
            let panics = |_: &u64, _: &u64| -> u64 { panic!("one and one is too much") };
            let send = vec![1u64; 4 * size];
            if size == 4 {
                let mut block = [0; 4];
                cube.reduce_scatter().algorithm("histogram").run(&send, &mut block, panics)
            } else {
                let mut sum = vec![0; 4 * size];
                cube.all_reduce().algorithm("histogram").run(&send, &mut sum, panics)
            }
        });
        assert_eq!(message, "one and one is too much", "{size} ranks");
    }
}

/// The others learn that something is wrong, and a function that panics is not called again.
#[test]
fn after_a_panic_nothing_is_combined() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let message = panic_of(4, move |cube| {
        let add = |a: &u64, b: &u64| {
            if cube.rank() == 0 {
                counted.fetch_add(1, Ordering::Relaxed);
                panic!("rank 0 cannot add");
            }
            a + b
        };
        let mut sum = [0; 4];
        let outcome = cube.all_reduce().algorithm("histogram").run(&[1u64; 4], &mut sum, add);
        assert!(matches!(outcome, Err(Error::RankFailed { rank: 0, .. })), "{outcome:?}");
    });
    assert_eq!(message, "rank 0 cannot add");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

/// Also where the call then fails in another way: a rank that is still waited for leaves.
#[test]
fn a_panic_is_passed_on_whatever_comes_of_it() {
    let panicked = AtomicUsize::new(0);
    let outcomes = on(3, move |cube| {
        if cube.rank() == 1 {
            while panicked.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            return None;
        }
        let add = |_: &u64, _: &u64| -> u64 {
            panicked.fetch_add(1, Ordering::Relaxed);
            panic!("one and one is too much")
        };
        let mut sum = 0u64;
        let call = || cube.all_reduce().algorithm("recursive_doubling").run(&1u64, &mut sum, Commutative(add));
        Some(catch_unwind(AssertUnwindSafe(call)))
    });
    assert!(matches!(outcomes[0], Some(Err(_))), "rank 0 combines what comes from rank 2, and panics: {outcomes:?}");
    assert!(matches!(outcomes[2], Some(Ok(Err(Error::RankFailed { .. })))), "{outcomes:?}");
}

/// No rank leaves a barrier before all have entered it, whoever is late.
#[test]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    for size in SIZES {
        let entered = AtomicUsize::new(0);
        on(size, move |cube| {
            for late in 0..size {
                if cube.rank() == late {
                    std::thread::sleep(Duration::from_millis(10));
                }
                entered.fetch_add(1, Ordering::SeqCst);
                cube.barrier().unwrap();
                let seen = entered.load(Ordering::SeqCst);
                let rank = cube.rank();
                assert!(seen >= (late + 1) * size, "rank {rank} of {size} did not wait for rank {late}");
            }
        });
    }
}

/// Calls in a row, some ranks far ahead of others: their messages do not meet.
#[test]
fn ranks_may_be_far_ahead() {
    for size in [2, 5, 8] {
        on(size, |cube| {
            let mut mine = vec![cube.rank() as u64; 3];
            for step in 0..200u64 {
                if cube.rank() == step as usize % cube.size() {
                    mine = vec![step; 3];
                    if step % 50 == 0 {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
                cube.process_at_rank(step as usize % cube.size()).broadcast_into(&mut mine).unwrap();
                assert_eq!(mine, [step; 3]);
            }
            // More plans than the cache keeps.
            for count in 0..5000 {
                let mut data = vec![if cube.rank() == 0 { 9u8 } else { 0 }; count % 4500];
                cube.broadcast(0).algorithm("sbt").run(&mut data).unwrap();
                assert!(data.iter().all(|&byte| byte == 9));
            }
        });
    }
}

/// Two communicators, and one inside a thread of another: they know nothing of each other.
#[test]
fn communicators_are_independent() {
    on(3, |cube| {
        let inner = threads::run(4, |inner| {
            let mut all = [0usize; 4];
            inner.all_gather_into(&inner.rank(), &mut all).unwrap();
            all.iter().sum::<usize>()
        });
        let mut sum = 0usize;
        cube.all_reduce_into(&inner[0], &mut sum, SystemOperation::sum()).unwrap();
        assert_eq!(sum, 18);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Whatever is asked of an algorithm, its result is right.
    #[test]
    fn random_calls(
        size in 1usize..=20,
        which in 0..registry::ALGORITHMS.len(),
        count in 0usize..200,
        root in 0usize..20,
        packet in proptest::option::of(1usize..50),
        variant in 0usize..100,
    ) {
        let algorithm = &registry::ALGORITHMS[which];
        let variants = all_parameters(algorithm, size, root % size);
        prop_assume!(!variants.is_empty());
        let mut parameters = variants[variant % variants.len()];
        parameters.packet = parameters.packet.and(packet);
        let options = Options::exactly(algorithm, &parameters);
        on(size, move |cube| with_options(cube, algorithm.collective, root % size, count, &options));
    }

    /// Left to itself the library chooses something that is right, the same on all ranks.
    #[test]
    fn random_calls_with_the_choice_left_open(
        size in 1usize..=20,
        collective in 0..Collective::ALL.len(),
        count in 0usize..3000,
        root in 0usize..20,
    ) {
        let collective = Collective::ALL[collective];
        let size = if collective == Collective::MatrixMultiply { size.next_power_of_two() } else { size };
        let chosen = on(size, move |cube| {
            with_options(cube, collective, root % size, count, &Options::default());
            let last = cube.last().unwrap();
            (last.algorithm, last.parameters)
        });
        prop_assert!(chosen.windows(2).all(|pair| pair[0] == pair[1]), "{chosen:?}");
    }

    /// Any permutation.
    #[test]
    fn random_permutations(size in 1usize..=20, count in 0usize..60, seed: u64) {
        let mut permutation: Vec<usize> = (0..size).collect();
        permutation.sort_by_key(|&r| mix(r, seed as usize));
        on(size, move |cube| {
            let mut receive = blank::<u16>(count);
            cube.permute_into(&permutation, &sent::<u16>(cube.rank(), count), &mut receive).unwrap();
            let source = permutation.iter().position(|&to| to == cube.rank()).unwrap();
            assert_eq!(receive, sent::<u16>(source, count));
        });
    }
}
