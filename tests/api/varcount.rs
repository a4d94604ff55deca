//! Blocks of different lengths: every collective that has them, on every number of ranks, by every algorithm that serves it.

use super::*;
use hypercoll::{request, Partition, PartitionMut};

/// Lengths of blocks: of Zipf's law, some of them 0; a single long one; all alike; none at all.
fn lengths(size: usize, kind: usize) -> Vec<usize> {
    let zipf = |rank: usize| match (7 * rank + 3) % size {
        place if place % 4 == 3 => 0,
        place => 60 / (place + 1),
    };
    (0..size).map(|rank| [zipf(rank), if rank == size / 2 { 5000 } else { 0 }, 3, 0][kind]).collect()
}

/// Where blocks lie: one after another, or with gaps from the last to the first; and how long the buffer is.
fn places(counts: &[usize], apart: bool) -> (Vec<usize>, usize) {
    let mut places = vec![0; counts.len()];
    let mut end = 0;
    let order: Vec<usize> = if apart { (0..counts.len()).rev().collect() } else { (0..counts.len()).collect() };
    for rank in order {
        end += usize::from(apart);
        places[rank] = end;
        end += counts[rank];
    }
    (places, end)
}

const FREE: u64 = u64::MAX;

/// A buffer of these blocks, in which block r holds what `value(r, i)` says; the rest is free.
fn filled(counts: &[usize], places: &[usize], len: usize, value: impl Fn(usize, usize) -> u64) -> Vec<u64> {
    let mut buffer = vec![FREE; len];
    for (rank, (&count, &place)) in counts.iter().zip(places).enumerate() {
        (0..count).for_each(|at| buffer[place + at] = value(rank, at));
    }
    buffer
}

fn value(from: usize, to: usize, at: usize) -> u64 {
    (from * 1_000_000 + to * 10_000 + at) as u64
}

/// Gather, scatter, all-gather and reduce-scatter with these lengths.
fn vectors(cube: &Hypercube, counts: &[usize], apart: bool, options: &dyn Fn(Collective) -> Vec<Options>) {
    let (rank, size) = (cube.rank(), cube.size());
    let own: Vec<u64> = (0..counts[rank]).map(|at| value(rank, 0, at)).collect();
    // Where blocks lie is each rank's own affair.
    let (at, len) = places(counts, apart && rank % 2 == 0);
    let gathered = filled(counts, &at, len, |from, at| value(from, 0, at));
    let case = |what: &dyn std::fmt::Debug| format!("rank {rank} of {size}, {counts:?}, apart {apart}, {what:?}");
    for o in options(Collective::AllGather) {
        let mut receive = vec![FREE; len];
        let call = cube.all_gather().options(&o);
        call.run_varcount(&own, &mut PartitionMut::new(&mut receive, counts, &at[..])).unwrap();
        assert!(receive == gathered, "all-gather, {}", case(&o));
    }
    for root in [0, size / 2, size - 1] {
        for o in options(Collective::Gather) {
            let mut receive = vec![FREE; len];
            let mut partition = PartitionMut::new(&mut receive, counts, &at[..]);
            let call = cube.gather(root).options(&o);
            let outcome = call.run_varcount(&own, (rank == root).then_some(&mut partition));
            outcome.unwrap_or_else(|error| panic!("{error}, gather on {root}, {}", case(&o)));
            let expected = if rank == root { gathered.clone() } else { vec![FREE; len] };
            assert!(receive == expected, "gather on {root}, {}", case(&o));
        }
        for o in options(Collective::Scatter) {
            let mut receive = vec![FREE; counts[rank]];
            let partition = Partition::new(&gathered, counts, &at[..]);
            let call = cube.scatter(root).options(&o);
            let outcome = call.run_varcount((rank == root).then_some(&partition), &mut receive);
            outcome.unwrap_or_else(|error| panic!("{error}, scatter from {root}, {}", case(&o)));
            assert!(receive == own, "scatter from {root}, {}", case(&o));
        }
    }
    let all: usize = counts.iter().sum();
    let before: usize = counts[..rank].iter().sum();
    let send: Vec<u64> = (0..all).map(|at| (rank * 100_000 + at) as u64).collect();
    let expected: Vec<u64> =
        (before..before + counts[rank]).map(|at| (0..size).map(|rank| (rank * 100_000 + at) as u64).sum()).collect();
    for o in options(Collective::ReduceScatter) {
        let mut receive = vec![FREE; counts[rank]];
        cube.reduce_scatter().options(&o).run_varcount(&send, &mut receive, counts, SystemOperation::sum()).unwrap();
        assert!(receive == expected, "reduce-scatter, {}", case(&o));
    }
}

/// All-to-all: from rank i to rank j what `count` says.
fn pairs(cube: &Hypercube, count: impl Fn(usize, usize) -> usize, apart: bool, options: &[Options]) {
    let (rank, size) = (cube.rank(), cube.size());
    let sends: Vec<usize> = (0..size).map(|to| count(rank, to)).collect();
    let receives: Vec<usize> = (0..size).map(|from| count(from, rank)).collect();
    let (from, len) = places(&sends, apart);
    let send = filled(&sends, &from, len, |to, at| value(rank, to, at));
    let (to, len) = places(&receives, apart);
    let expected = filled(&receives, &to, len, |from, at| value(from, rank, at));
    for o in options {
        let mut receive = vec![FREE; len];
        let sent = Partition::new(&send, &sends[..], &from[..]);
        let mut received = PartitionMut::new(&mut receive, &receives[..], &to[..]);
        cube.all_to_all().options(o).run_varcount(&sent, &mut received).unwrap();
        assert!(receive == expected, "all-to-all, rank {rank} of {size}, apart {apart}, {o:?}");
    }
}

/// What is left to the library, and every algorithm by its name, with packets and without.
fn asked(collective: Collective) -> Vec<Options> {
    let named = registry::of(collective).map(|algorithm| Some(algorithm.name.to_string()));
    let named = named.map(|algorithm| Options { algorithm, ..Options::default() });
    let packet = Options { packet: Some(7), ..Options::default() };
    std::iter::once(Options::default()).chain(named).chain([packet]).collect()
}

#[test]
fn vectors_of_different_lengths() {
    for size in SIZES {
        on(size, |cube| {
            for (kind, apart) in [(0, false), (0, true), (1, true), (2, false), (3, false)] {
                vectors(cube, &lengths(cube.size(), kind), apart, &asked);
            }
        });
    }
}

#[test]
fn pairs_of_different_lengths() {
    let direct = ["one_factor", "shift", "pairwise_xor"];
    let direct = direct.map(|name| Options { algorithm: Some(name.into()), ..Options::default() });
    let cut = direct.clone().map(|options| Options { packet: Some(2), ..options });
    let options: Vec<Options> = direct.into_iter().chain(cut).chain([Options::default()]).collect();
    for size in SIZES {
        let options = options.clone();
        on(size, move |cube| {
            for apart in [false, true] {
                pairs(cube, |from, to| (3 * from + 5 * to) % 7, apart, &options);
                pairs(cube, |from, to| 4000 * usize::from(to == (from + 1) % size), apart, &options);
                pairs(cube, |_, _| 0, apart, &options);
            }
        });
    }
}

/// One element of the root to all ranks, and all of another rank's to all.
#[test]
fn what_is_sent_may_overlap() {
    on(5, |cube| {
        let root = cube.process_at_rank(2);
        let mut mine = [0u32; 2];
        if cube.rank() == 2 {
            root.scatter_varcount_into_root(&Partition::new(&[4, 5, 6], [2; 5], [0, 1, 0, 1, 0]), &mut mine).unwrap();
        } else {
            root.scatter_varcount_into(&mut mine).unwrap();
        }
        assert_eq!(mine, [[4, 5], [5, 6]][cube.rank() % 2]);
        let mut receive = [0; 10];
        let send = [cube.rank(), 7];
        let mut received = PartitionMut::new(&mut receive, [2; 5], [0, 2, 4, 6, 8]);
        cube.all_to_all_varcount_into(&Partition::new(&send, [2; 5], [0; 5]), &mut received).unwrap();
        assert_eq!(receive, [0, 7, 1, 7, 2, 7, 3, 7, 4, 7]);
    });
}

/// In rank order where operands may not change places.
#[test]
fn reductions_in_order() {
    on(6, |cube| {
        let counts = [2, 0, 3, 1, 0, 4];
        let send: Vec<u32> = (0..10).map(|at| 1000 * cube.rank() as u32 + at).collect();
        let mut receive = vec![0; counts[cube.rank()]];
        cube.reduce_scatter_into(&send, &mut receive, &counts, |a: &u32, _: &u32| *a).unwrap();
        let before: usize = counts[..cube.rank()].iter().sum();
        assert!(receive.iter().zip(before as u32..).all(|(found, expected)| *found == expected));
    });
}

/// What only some algorithms can do is refused by name, on all ranks alike, and the communicator can be used on.
#[test]
fn what_needs_lengths_of_others_is_refused() {
    on(4, |cube| {
        let counts = [1usize; 4];
        for (options, told) in [
            (Options { algorithm: Some("complete_exchange".into()), ..Options::default() }, "passes blocks on"),
            (Options { packet: Some(2), algorithm: Some("bruck".into()), ..Options::default() }, "cuts into packets"),
        ] {
            let (send, mut receive) = ([0u8; 4], [0u8; 4]);
            let mut received = PartitionMut::new(&mut receive, counts, [0, 1, 2, 3]);
            let call = cube.all_to_all().options(&options);
            let error = call.run_varcount(&Partition::new(&send, counts, [0, 1, 2, 3]), &mut received).unwrap_err();
            assert!(
                matches!(&error, Error::Unsuited { argument: "lengths", why, .. } if why.contains(told)),
                "{error}"
            );
        }
        pairs(cube, |_, _| 2, false, &[Options::default()]);
    });
}

#[test]
fn bad_partitions_are_refused() {
    on(3, |cube| {
        let refused = |counts: [i32; 3], places: [i32; 3], own: usize| {
            let mut receive = [0u16; 6];
            let mut partition = PartitionMut::new(&mut receive, counts, places);
            cube.all_gather_varcount_into(&vec![1u16; own], &mut partition).unwrap_err().to_string()
        };
        assert_eq!(refused([3, 3, 1], [0, 3, 6], 3), "receive: block 2 is elements 6 to 7 of a buffer of 6");
        assert!(refused([3, 3, -1], [0, 3, 0], 3).starts_with("receive: block 2 has a negative"));
        assert!(refused([3, 3, 1], [0, 2, 5], 3).starts_with("receive: blocks 0 and 1 overlap"));
        assert!(refused([2, 2, 2], [0, 2, 4], 3).starts_with("send: 3 elements, but 2 are needed"));
        let counts = cube.reduce_scatter_into(&[1, 2, 3], &mut 0, &[1, 2], SystemOperation::sum()).unwrap_err();
        assert!(counts.to_string().starts_with("counts: 2 elements, but 3"), "{counts}");
        cube.barrier().unwrap();
    });
}

/// A block that its receiver knows nothing of is found when the two ranks meet again.
#[test]
fn what_nobody_receives_is_found_later() {
    on(2, |cube| {
        let root = cube.process_at_rank(0);
        let sent = if cube.rank() == 0 {
            root.gather_varcount_into_root::<[u8], _>(&[], &mut PartitionMut::new(&mut [0u8; 0], [0, 0], [0, 0]))
        } else {
            root.gather_varcount_into(&[1u8, 2])
        };
        let found = sent.and_then(|()| (0..3).try_for_each(|_| cube.barrier())).unwrap_err();
        assert!(matches!(&found, Error::Mismatch { ranks, .. } if *ranks == [1, 0]), "{found}");
        assert!(found.to_string().contains("rank 1 sends rank 0 what that one does not receive, in gather (call 1,"));
    });
}

/// Started, and started again and again, several at a time.
#[test]
fn forms_that_are_waited_for_later() {
    for size in [1, 2, 3, 5, 8] {
        on(size, |cube| {
            let (rank, size) = (cube.rank(), cube.size());
            let counts = lengths(size, 0);
            let (at, len) = places(&counts, true);
            let all = filled(&counts, &at, len, |from, at| value(from, 0, at));
            let own: Vec<u64> = (0..counts[rank]).map(|at| value(rank, 0, at)).collect();
            let (mut gathered, mut on_root, mut scattered) = (vec![FREE; len], vec![FREE; len], vec![FREE; own.len()]);
            let root = cube.process_at_rank(size - 1);
            let here = rank == size - 1;
            let mut parts = [&mut gathered, &mut on_root].map(|buffer| PartitionMut::new(buffer, &counts[..], &at[..]));
            let send = Partition::new(&all, &counts[..], &at[..]);
            let [everywhere, there] = &mut parts;
            request::scope(|scope| {
                let a = cube.immediate_all_gather_varcount_into(scope, &own, everywhere).unwrap();
                let b = match here {
                    true => root.immediate_gather_varcount_into_root(scope, &own, there),
                    false => root.immediate_gather_varcount_into(scope, &own),
                };
                let c = match here {
                    true => root.immediate_scatter_varcount_into_root(scope, &send, &mut scattered),
                    false => root.immediate_scatter_varcount_into(scope, &mut scattered),
                };
                c.unwrap().wait().unwrap();
                assert_eq!(a.wait_for_data().unwrap(), &all);
                b.unwrap().wait().unwrap();
            });
            assert_eq!(scattered, own);
            assert!(if here { on_root == all } else { on_root.iter().all(|&free| free == FREE) });
        });
    }
}

/// Persistent ones, of an algorithm that needs the lengths of others, too.
#[test]
fn forms_that_are_started_again() {
    for name in [None, Some("sbt")] {
        on(5, move |cube| {
            let (rank, counts) = (cube.rank(), [3usize, 0, 2, 1, 4]);
            let at = [0, 3, 3, 5, 6];
            let before: usize = counts[..rank].iter().sum();
            let mut own = vec![0u64; counts[rank]];
            let (mut gathered, mut all, mut block) = (vec![0; 10], vec![0u64; 10], vec![0; counts[rank]]);
            let mut sums = vec![0u64; counts[rank]];
            let (mut summands, mut row, mut column) = (vec![0u64; 10], vec![0; 5 * counts[rank]], vec![0u64; 10]);
            let columns = [0, 1, 2, 3, 4].map(|to| to * counts[rank]);
            let options = Options { algorithm: name.map(str::to_string), ..Options::default() };
            let mut parts = [&mut gathered, &mut all].map(|buffer| PartitionMut::new(buffer, counts, at));
            let [into, from] = &mut parts;
            let mut sent = PartitionMut::new(&mut row, [counts[rank]; 5], columns);
            let mut received = PartitionMut::new(&mut column, counts, at);
            let here = rank == 2;
            request::scope(|scope| {
                let mut gather =
                    cube.gather(2).options(&options).init_varcount(scope, &mut own[..], here.then_some(into)).unwrap();
                let mut scatter = cube
                    .scatter(2)
                    .options(&options)
                    .init_varcount(scope, here.then_some(from), &mut block[..])
                    .unwrap();
                let mut reduce =
                    cube.reduce_scatter_init(scope, &mut summands, &mut sums, &counts, SystemOperation::sum()).unwrap();
                let mut exchange = cube.all_to_all_varcount_init(scope, &mut sent, &mut received).unwrap();
                for step in 1..4 {
                    gather.buffers().unwrap().0.fill(10 * step + rank as u64);
                    let whole = (0u64..).map(|at| 100 * step + at);
                    scatter.buffers().unwrap().0.iter_mut().zip(whole).for_each(|(element, value)| *element = value);
                    reduce.buffers().unwrap().0.fill(step);
                    exchange.buffers().unwrap().0.fill(10 * step + rank as u64);
                    let started = [gather.start(), scatter.start(), reduce.start(), exchange.start()];
                    assert_eq!(started, [const { Ok(()) }; 4]);
                    let by_rank = (0..5).flat_map(|rank| vec![10 * step + rank as u64; counts[rank]]);
                    let by_rank: Vec<u64> = by_rank.collect();
                    assert!(!here || *gather.buffers().unwrap().1 == by_rank);
                    assert_eq!(*exchange.buffers().unwrap().1, by_rank);
                    let block = (before as u64..).map(|at| 100 * step + at).take(counts[rank]);
                    assert!(block.eq(scatter.buffers().unwrap().1.iter().copied()));
                    assert!(reduce.buffers().unwrap().1.iter().all(|&sum| sum == 5 * step));
                }
            });
        });
    }
}
