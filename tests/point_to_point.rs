//! Sends, exchanges, transpositions and blocks of unequal lengths: the machinery under routes that no algorithm would take, and
//! the public API under every algorithm that there is.

#[path = "common/watch.rs"]
mod watch;

use hypercoll::algorithm::{registry, Algorithm, PortModel};
use hypercoll::collective::{Call, Collective, Layout};
use hypercoll::schedule::{check, fold, place, Avoided, Problem, Route};
use hypercoll::{Error, Hypercube};
use std::ops::Range;
use watch::on;

/// Random numbers, the same on every rank.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// The way of one interval: a node and, but for the first, the round in which it is reached.
struct Walk {
    piece: Range<usize>,
    steps: Vec<(usize, usize)>,
}

/// A way over cube edges that wanders about before it goes to its end, with pauses, from a round on.
fn walk(random: &mut Random, n: u32, piece: Range<usize>, from: usize, to: usize, start: usize) -> Walk {
    let mut round = start;
    let mut steps = vec![(from, round)];
    let mut node = from;
    let mut wander = if n == 0 { 0 } else { random.below(4) };
    while node != to || wander > 0 {
        let differing = node ^ to;
        let port = if wander > 0 || differing == 0 {
            wander = wander.saturating_sub(1);
            random.below(n as usize)
        } else {
            differing.trailing_zeros() as usize
        };
        node ^= 1 << port;
        round += 1 + random.below(3);
        steps.push((node, round));
    }
    Walk { piece, steps }
}

/// The blocks of a call, each with the nodes at which it begins and ends.
fn blocks(problem: &Problem) -> Vec<(Range<usize>, usize, usize)> {
    let call = problem.call;
    match call.collective {
        Collective::Send => vec![(problem.vector_of(false), problem.root, problem.peer)],
        Collective::Exchange if call.root == call.peer => vec![(problem.vector_of(false), problem.root, problem.peer)],
        Collective::Exchange => vec![
            (problem.vector_of(false), problem.root, problem.peer),
            (problem.vector_of(true), problem.peer, problem.root),
        ],
        Collective::AllToAll | Collective::TransposeRows => {
            let pairs = (0..problem.nodes()).flat_map(|from| (0..problem.nodes()).map(move |to| (from, to)));
            pairs.map(|(from, to)| (problem.block_between(from, to), from, to)).collect()
        }
        _ => (0..problem.nodes()).filter_map(|node| Some((problem.block(node), node, problem.target(node)?))).collect(),
    }
}

/// Ways for all pieces of all blocks; of a send or exchange parts of them arrive twice.
fn walks(problem: &Problem, seed: u64, unit: usize) -> Vec<Walk> {
    let mut random = Random(seed);
    let mut all = Vec::new();
    for (block, from, to) in blocks(problem) {
        let mut at = block.start;
        while at < block.end {
            let end = (at + (1 + random.below(5)) * unit).min(block.end);
            let start = random.below(12);
            let main = walk(&mut random, problem.n, at..end, from, to, start);
            if problem.call.collective.has_peer() && main.steps.len() > 1 {
                all.push(branch(problem, &mut random, &main));
            }
            all.push(main);
            at = end;
        }
    }
    all
}

/// A second way, for a part of what a rank passes on: it comes after the first, and must bring the same.
fn branch(problem: &Problem, random: &mut Random, main: &Walk) -> Walk {
    let (node, _) = main.steps[random.below(main.steps.len())];
    let (to, last) = main.steps[main.steps.len() - 1];
    let Range { start, end } = main.piece;
    let from = start + random.below(end - start);
    let part = from..end - random.below(end - from);
    let pause = random.below(6);
    walk(random, problem.n, part, node, to, last + pause)
}

fn write(walks: &[Walk], node: usize, route: &mut Route) {
    route.set_rounds(1000);
    for walk in walks {
        for hop in walk.steps.windows(2) {
            let ((from, _), (to, round)) = (hop[0], hop[1]);
            if from == node {
                route.send(round, to, [walk.piece.clone()]);
            } else if to == node {
                route.receive(round, from, [walk.piece.clone()]);
            }
        }
    }
}

/// Builds the schedules of all ranks for some ways of pieces of some `unit`s, and proves them right.
fn prove(call: &Call, seed: u64, unit: usize) {
    let problem = Problem::new(call);
    let walks = walks(&problem, seed, unit);
    let messages =
        |rank: usize| fold(&problem, rank, &|_: &Problem, node: usize, route: &mut Route| write(&walks, node, route));
    let schedules: Vec<_> = (0..call.size)
        .map(|rank| {
            let mut own = messages(rank);
            if let Some(avoid) = &call.avoid {
                own = avoid.detour(own, rank, (false, seed.is_multiple_of(2)), &messages);
            }
            place(call, rank, &own)
        })
        .collect();
    let report = check(call, &schedules, true);
    assert!(report.violations.is_empty(), "{call:?} seed {seed}: {:#?}", report.violations);
}

/// Random calls of a collective, in units of some elements; with `avoid` also a link to be avoided.
fn prove_many(collective: Collective, cases: u64, unit: usize, avoid: bool) {
    for seed in 0..cases {
        let mut random = Random(seed);
        let size = 1 + random.below(if unit == 1 { 17 } else { 5 });
        let count = [0, 1, 2, 5, 13, 40][random.below(6)] * unit;
        let mut call = Call::new(collective, size, count);
        if collective.has_peer() {
            (call.root, call.peer) = (random.below(size), random.below(size));
        }
        if collective == Collective::Permute {
            let mut permutation: Vec<usize> = (0..size).collect();
            (1..size).rev().for_each(|at| permutation.swap(at, random.below(at + 1)));
            call.permutation = Some(permutation.into());
        }
        if !collective.has_peer() && random.below(2) == 1 {
            let lengths: Vec<usize> = (0..size * size).map(|_| random.below(count + 1)).collect();
            call = call.with_layout(if collective.permutes() {
                Layout::of_vectors(lengths[..size].iter().copied())
            } else {
                Layout::of_pairs(size, |from, to| lengths[from * size + to])
            });
        }
        if avoid {
            let node = random.below(size);
            call.avoid = Avoided::new(size, &[(node, node ^ 1 << random.below(5))]).ok();
        }
        prove(&call, seed, unit);
    }
}

#[test]
fn any_ways_serve_a_send() {
    prove_many(Collective::Send, 3000, 1, false);
}

#[test]
fn any_ways_serve_an_exchange() {
    prove_many(Collective::Exchange, 3000, 1, false);
}

#[test]
fn any_ways_serve_permutations() {
    prove_many(Collective::Permute, 600, 1, false);
    prove_many(Collective::TransposeSubmatrices, 200, 1, false);
    prove_many(Collective::QuarterTurn, 200, 1, false);
}

#[test]
fn any_ways_serve_blocks_between_all_pairs() {
    prove_many(Collective::AllToAll, 100, 1, false);
    prove_many(Collective::TransposeRows, 100, 1, false);
}

#[test]
fn any_ways_go_round_a_link() {
    prove_many(Collective::Send, 1000, 1, true);
    prove_many(Collective::Exchange, 1000, 1, true);
    prove_many(Collective::Permute, 300, 1, true);
    prove_many(Collective::AllToAll, 60, 1, true);
}

/// Long vectors on few ranks, so that scratch memory is used again.
#[test]
fn any_ways_serve_long_vectors() {
    for collective in [Collective::Send, Collective::Exchange, Collective::Permute] {
        prove_many(collective, 1000, 20_000, false);
        prove_many(collective, 200, 20_000, true);
    }
}

/// Element `at` of what rank `from` sends.
fn element(from: usize, at: usize) -> u32 {
    (1000 * (from + 1) + at) as u32
}

fn vector(from: usize, len: usize) -> Vec<u32> {
    (0..len).map(|at| element(from, at)).collect()
}

/// The algorithms of a collective, each with every port model for which it makes schedules.
fn with_ports(collective: Collective) -> impl Iterator<Item = (&'static Algorithm, PortModel)> {
    registry::of(collective).flat_map(|algorithm| algorithm.ports.iter().map(move |&ports| (algorithm, ports)))
}

#[test]
fn every_send_and_exchange_between_every_two_ranks() {
    for size in 1..=9 {
        on(size, move |cube| {
            let rank = cube.rank();
            for (from, to) in (0..size).flat_map(|from| (0..size).map(move |to| (from, to))) {
                for count in [0, 1, 7, 24] {
                    let own = vector(rank, count);
                    for (algorithm, ports) in with_ports(Collective::Send) {
                        let mut receive = vec![0; count];
                        let call = cube.send(from, to).algorithm(algorithm.name).ports(ports);
                        match call.run(count, (rank == from).then_some(&own), (rank == to).then_some(&mut receive)) {
                            Err(Error::Unsuited { .. }) => continue,
                            outcome => outcome.unwrap(),
                        }
                        assert!(rank != to || receive == vector(from, count), "{algorithm:?} {from} {to} {count}");
                    }
                    for (algorithm, ports) in with_ports(Collective::Exchange) {
                        let mut receive = vec![0; count];
                        let takes_part = rank == from || rank == to;
                        let call = cube.exchange(from, to).algorithm(algorithm.name).ports(ports);
                        match call.run(count, takes_part.then_some(&own), takes_part.then_some(&mut receive)) {
                            Err(Error::Unsuited { .. }) => continue,
                            outcome => outcome.unwrap(),
                        }
                        let other = if rank == from { to } else { from };
                        let expected = if takes_part { vector(other, count) } else { vec![0; count] };
                        assert_eq!(receive, expected, "{algorithm:?} {from} {to}");
                    }
                }
            }
        });
    }
}

/// Calls as data with blocks of unequal lengths, some empty, under every algorithm that takes them.
fn unequal(cube: &Hypercube, length: &dyn Fn(usize, usize) -> usize) {
    let (rank, size) = (cube.rank(), cube.size());
    let longest = (0..size * size).map(|pair| length(pair / size, pair % size)).max().unwrap_or(0);
    for collective in [Collective::AllToAll, Collective::TransposeRows] {
        let call = Call { layout: Some(Layout::of_pairs(size, length)), ..Call::new(collective, size, longest) };
        let sent = vector(rank, (0..size).map(|to| length(rank, to)).sum());
        let mut expected = Vec::new();
        for from in 0..size {
            let before: usize = (0..rank).map(|to| length(from, to)).sum();
            expected.extend((before..before + length(from, rank)).map(|at| element(from, at)));
        }
        for (algorithm, ports) in with_ports(collective) {
            let mut received = vec![0; expected.len()];
            match cube.collective(call.clone()).algorithm(algorithm.name).ports(ports).run(&sent, &mut received) {
                Err(Error::Unsuited { .. }) => continue,
                outcome => outcome.unwrap(),
            }
            assert_eq!(received, expected, "{algorithm:?} on {size} ranks");
        }
    }
    for shift in 0..size {
        let vectors = |from: usize| length(from, 0);
        let mut call = Call::new(Collective::Permute, size, (0..size).map(vectors).max().unwrap_or(0));
        call.permutation = Some((0..size).map(|from| (from + shift) % size).collect());
        call.layout = Some(Layout::of_vectors((0..size).map(vectors)));
        let from = (rank + size - shift) % size;
        for (algorithm, ports) in with_ports(Collective::Permute) {
            let mut received = vec![0; vectors(from)];
            let given = cube.collective(call.clone()).algorithm(algorithm.name).ports(ports);
            match given.run(&vector(rank, vectors(rank)), &mut received) {
                Err(Error::Unsuited { .. }) => continue,
                outcome => outcome.unwrap(),
            }
            assert_eq!(received, vector(from, vectors(from)), "{algorithm:?} on {size} ranks, shift {shift}");
        }
    }
}

#[test]
fn blocks_of_unequal_lengths_arrive() {
    for size in 1..=9 {
        on(size, |cube| {
            unequal(cube, &|from, to| (5 * from + 3 * to) % 7);
            unequal(cube, &|from, _| if from == 1 { 40 } else { 0 });
            unequal(cube, &|_, to| if to == 0 { 3 } else { 0 });
            unequal(cube, &|_, _| 0);
        });
    }
}

#[test]
fn calls_that_cannot_be_are_refused() {
    on(4, |cube| {
        let size = cube.size();
        assert_eq!(cube.send(0, 4).run(3, Some(&[0u8; 3]), None), Err(Error::Root { root: 4, size }));
        assert_eq!(cube.exchange(5, 0).run::<u8>(0, None, None), Err(Error::Root { root: 5, size }));
        let given = |call: Call| cube.collective(call).run(&[0u8; 4], &mut [0u8; 4]);
        assert!(matches!(given(Call::new(Collective::AllToAll, 3, 1)), Err(Error::Length { argument: "size", .. })));
        assert!(matches!(given(Call::new(Collective::AllReduce, 4, 4)), Err(Error::Operation { .. })));
        assert!(matches!(given(Call::new(Collective::AllToAll, 4, 2)), Err(Error::Length { argument: "send", .. })));
        let grid = Call::new(Collective::TransposeSubmatrices, 4, 4).with_grid(3);
        assert!(matches!(given(grid), Err(Error::Permutation { .. })));
        let mut twice = Call::new(Collective::Permute, 4, 4);
        twice.permutation = Some(vec![0, 1, 1, 3].into());
        assert!(matches!(given(twice), Err(Error::Permutation { .. })));
        cube.barrier().expect("nothing is broken");
    });
}
