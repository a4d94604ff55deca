//! Algorithms, their parameters, and what is said of a call afterwards.

use super::*;

/// The other rank of a send or an exchange.
fn peer(root: usize, size: usize) -> usize {
    (2 * root + 1) % size
}

/// Everything that can be asked of an algorithm in a call of [`with_options`].
pub fn all_parameters(algorithm: &Algorithm, size: usize, root: usize) -> Vec<Parameters> {
    let mut all = Vec::new();
    for ports in PortModel::ALL {
        for symmetrized in [false, true] {
            for packet in [None, Some(1), Some(5), Some(1000)] {
                all.push(Parameters { packet, symmetrized, ..Parameters::new(ports) });
            }
        }
    }
    // Trees for a ring of all ranks, and for a torus of two sides.
    for side in [1, 2].into_iter().filter(|&side| size.is_multiple_of(side)) {
        let torus = Torus::new(&[side, size / side]).map(|torus| OnTorus { torus, link: 1 });
        let latency = Latency { far: 2, near: 1, torus };
        all.push(Parameters { latency, ..Parameters::new(PortModel::OnePort) });
    }
    let mut call = Call::new(algorithm.collective, size, 1);
    if algorithm.collective.has_peer() {
        (call.root, call.peer) = (root, peer(root, size));
    }
    all.retain(|parameters| algorithm.accepts(&call, parameters).is_ok());
    all
}

/// One call of a collective with options, compared element by element.
pub fn with_options(cube: &Hypercube, collective: Collective, root: usize, count: usize, options: &Options) {
    let (rank, size) = (cube.rank(), cube.size());
    let case = format!("{collective} {options:?}, root {root}, count {count}, rank {rank} of {size}");
    let own: Vec<u64> = sent(rank, count);
    let wide: Vec<u64> = sent(rank, count * size);
    let sum = |at: usize| (0..size).fold(0u64, |sum, r| sum.wrapping_add(u64::value(r, at)));
    let check = |outcome: hypercoll::Result<()>, got: &[u64], expected: &dyn Fn(usize) -> u64| {
        outcome.unwrap_or_else(|error| panic!("{case}: {error}"));
        for (at, &got) in got.iter().enumerate() {
            assert_eq!(got, expected(at), "{case}, element {at}");
        }
    };
    let source = |at: usize| u64::value(at / count, at % count);
    let mut narrow = vec![0; count];
    let mut long = vec![0; count * size];
    match collective {
        Collective::Broadcast => {
            narrow.copy_from_slice(&if rank == root { own } else { vec![0; count] });
            let outcome = cube.broadcast(root).options(options).run(&mut narrow);
            check(outcome, &narrow, &|at| u64::value(root, at));
        }
        Collective::Scatter => {
            let outcome = cube.scatter(root).options(options).run((rank == root).then_some(&wide), &mut narrow);
            check(outcome, &narrow, &|at| u64::value(root, rank * count + at));
        }
        Collective::Gather => {
            let outcome = cube.gather(root).options(options).run(&own, (rank == root).then_some(&mut long));
            check(outcome, if rank == root { &long } else { &[] }, &source);
        }
        Collective::AllGather => {
            let outcome = cube.all_gather().options(options).run(&own, &mut long);
            check(outcome, &long, &source);
        }
        Collective::AllToAll => {
            let outcome = cube.all_to_all().options(options).run(&wide, &mut long);
            check(outcome, &long, &|at| u64::value(at / count, rank * count + at % count));
        }
        Collective::NeighborAllToAll => {
            let ports = hypercoll::address::dimension_for(size) as usize;
            let (send, mut receive) = (sent(rank, count * ports), vec![77; count * ports]);
            let outcome = cube.neighbor_all_to_all().options(options).run(&send, &mut receive);
            let expected = |at: usize| match rank ^ 1 << (at / count) {
                neighbor if neighbor < size => u64::value(neighbor, at),
                _ => 77,
            };
            check(outcome, &receive, &expected);
        }
        Collective::Reduce => {
            let receive = (rank == root).then_some(&mut narrow);
            let outcome = cube.reduce(root).options(options).run(&own, receive, SystemOperation::Sum);
            check(outcome, if rank == root { &narrow } else { &[] }, &sum);
        }
        Collective::ReduceScatter => {
            let outcome = cube.reduce_scatter().options(options).run(&wide, &mut narrow, SystemOperation::Sum);
            check(outcome, &narrow, &|at| sum(rank * count + at));
        }
        Collective::AllReduce => {
            let outcome = cube.all_reduce().options(options).run(&own, &mut narrow, SystemOperation::Sum);
            check(outcome, &narrow, &sum);
        }
        Collective::Scan | Collective::ExclusiveScan => {
            let exclusive = collective == Collective::ExclusiveScan;
            let outcome = match exclusive {
                true => cube.exclusive_scan().options(options).run(&own, &mut narrow, SystemOperation::Sum),
                false => cube.scan().options(options).run(&own, &mut narrow, SystemOperation::Sum),
            };
            let ranks = if exclusive { rank } else { rank + 1 };
            let sum = |at: usize| (0..ranks).fold(0u64, |sum, r| sum.wrapping_add(u64::value(r, at)));
            check(outcome, &narrow, &sum);
        }
        Collective::Permute => {
            let mut permutation: Vec<usize> = (0..size).map(|r| (2 * size - 1 - r + root) % size).collect();
            if options.algorithm.as_deref() == Some("inversion") {
                // Of all permutations it takes translations only: where a mask keeps to the ranks, and the identity.
                let mask = if size.is_power_of_two() { root } else { 0 };
                permutation = (0..size).map(|r| r ^ mask).collect();
            }
            let source = permutation.iter().position(|&to| to == rank).unwrap();
            let outcome = cube.permute(&permutation).options(options).run(&own, &mut narrow);
            check(outcome, &narrow, &|at| u64::value(source, at));
        }
        Collective::Send => {
            let peer = peer(root, size);
            let receive = (rank == peer).then_some(&mut narrow[..]);
            let outcome = cube.send(root, peer).options(options).run(count, Some(&own), receive);
            check(outcome, if rank == peer { &narrow } else { &[] }, &|at| u64::value(root, at));
        }
        Collective::Exchange => {
            let peer = peer(root, size);
            let takes_part = rank == root || rank == peer;
            let receive = takes_part.then_some(&mut narrow[..]);
            let outcome = cube.exchange(root, peer).options(options).run(count, Some(&own), receive);
            let other = if rank == root { peer } else { root };
            check(outcome, if takes_part { &narrow } else { &[] }, &|at| u64::value(other, at));
        }
        Collective::TransposeRows => {
            let call = Call::new(collective, size, count);
            let outcome = cube.collective(call).options(options).run(&wide, &mut long);
            check(outcome, &long, &|at| u64::value(at / count, rank * count + at % count));
        }
        Collective::MatrixMultiply if size.is_power_of_two() => {
            let side = count % 64; // every element of the product is computed one by one
            let product = cube.matrix_multiply(side, side + 1, side / 2).options(options);
            let factor = |which: usize, (i, j): (usize, usize)| u64::value(which, 1000 * i + j);
            let a: Vec<u64> = product.a().indices().map(|at| factor(0, at)).collect();
            let b: Vec<u64> = product.b().indices().map(|at| factor(1, at)).collect();
            let places: Vec<_> = product.c().indices().collect();
            let mut c = vec![1; places.len()];
            let outcome = product.run(&a, &b, &mut c);
            check(outcome, &c, &|at| {
                let term = |k| factor(0, (places[at].0, k)).wrapping_mul(factor(1, (k, places[at].1)));
                (0..=side).map(term).fold(0, u64::wrapping_add)
            });
        }
        Collective::MatrixMultiply => {
            let product = cube.matrix_multiply(count, count, count).options(options);
            let (a, b) = (vec![0u64; product.a().len()], vec![0; product.b().len()]);
            let mut c = vec![1; product.c().len()];
            let error = product.run(&a, &b, &mut c).unwrap_err().to_string();
            assert!(error.starts_with("size: "), "{case}: {error}");
        }
        Collective::TransposeSubmatrices | Collective::QuarterTurn => {
            // The grid has 2^floor(n/2) columns, or as many as divide the number of ranks.
            let call = Call::new(collective, size, count);
            let columns = 1 << (hypercoll::address::dimension_for(size) / 2).min(size.trailing_zeros());
            let rows = size / columns;
            let row = if collective == Collective::QuarterTurn { rows - 1 - rank % rows } else { rank % rows };
            let source = row * columns + rank / rows;
            let outcome = cube.collective(call).options(options).run(&own, &mut narrow);
            check(outcome, &narrow, &|at| u64::value(source, at));
        }
        Collective::Barrier => {
            let call = Call::new(Collective::Barrier, size, 0);
            cube.collective(call).options(options).run::<u64>(&[], &mut []).unwrap();
        }
    }
}

#[test]
fn every_algorithm_with_every_parameter() {
    for size in SIZES {
        let called = on(size, move |cube| {
            let mut called = 0;
            for algorithm in registry::ALGORITHMS.iter().filter(|a| a.collective != Collective::Barrier) {
                for root in if size <= 5 { (0..size).collect() } else { vec![0, size / 2, size - 1] } {
                    for parameters in all_parameters(algorithm, size, root) {
                        for count in [0, 1, 17] {
                            let options = Options::exactly(algorithm, &parameters);
                            with_options(cube, algorithm.collective, root, count, &options);
                            // What ran is what was asked for.
                            let last = cube.last().unwrap();
                            assert_eq!((last.algorithm, last.parameters), (algorithm.name, parameters));
                            called += 1;
                        }
                    }
                }
            }
            called
        });
        assert!(called.iter().all(|&calls| calls > 100), "{called:?}");
    }
}

#[test]
fn builders_take_each_option() {
    on(8, |cube| {
        let mut data = if cube.rank() == 3 { sent::<u64>(3, 100) } else { blank(100) };
        let call = cube.broadcast(3).algorithm("msbt").packet(7).ports(PortModel::AllPorts);
        call.clone().run(&mut data).unwrap();
        assert_eq!(data, sent::<u64>(3, 100));
        let last = cube.last().unwrap();
        let ran = (last.algorithm, last.parameters.packet, last.parameters.ports);
        assert_eq!(ran, ("msbt", Some(7), PortModel::AllPorts));
        // Slices, arrays and single numbers are buffers too.
        let mut one = if cube.rank() == 3 { 5u8 } else { 0 };
        call.run(&mut one).unwrap();
        assert_eq!(one, 5);
        cube.process_at_rank(3).broadcast_into(&mut data[..50]).unwrap();
        let mut sum = 0.0;
        cube.all_reduce().algorithm("sbt").packet(1).run(&1.5f64, &mut sum, SystemOperation::sum()).unwrap();
        assert_eq!(sum, 12.0);
        let mut blocks = [0u16; 8];
        blocks[cube.rank()] = cube.rank() as u16;
        cube.all_gather().symmetrized(true).run_in_place(&mut blocks).unwrap();
        assert_eq!(blocks, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(cube.last().unwrap().parameters.symmetrized);
        cube.all_reduce().symmetrized(false).run_in_place(&mut blocks, SystemOperation::max()).unwrap();
        assert!(!cube.last().unwrap().parameters.symmetrized);
        let names = ["complete-exchange", "complete_exchange", "Pairwise_XOR"];
        for name in names {
            let (send, mut receive) = (sent::<u8>(cube.rank(), 8), [0u8; 8]);
            cube.all_to_all().algorithm(name).run(&send, &mut receive).unwrap();
        }
    });
}

#[test]
fn explain_last_says_what_ran() {
    on(8, |cube| {
        assert_eq!(cube.last(), None);
        assert!(cube.explain_last().contains("no collective"));
        let mut data = vec![0u64; 96];
        let begin = Instant::now();
        cube.broadcast(2).algorithm("sbt").packet(24).ports(PortModel::OnePort).run(&mut data).unwrap();
        let last = cube.last().unwrap();
        assert_eq!((last.collective, last.size, last.root), (Collective::Broadcast, 8, Some(2)));
        assert_eq!((last.count, last.element, last.algorithm, last.source), (96, 8, "sbt", "HJ86 SBT"));
        assert_eq!(last.why, "asked for");
        // Rank r sends 4 packets over every dimension above the highest 1 of r XOR 2.
        let children = (cube.rank() ^ 2).checked_ilog2().map_or(3, |high| 2 - high) as usize;
        assert_eq!((last.messages, last.bytes), (4 * children, 96 * 8 * children), "rank {}", cube.rank());
        let active = children + usize::from(cube.rank() != 2);
        assert_eq!(last.rounds, 4 * active);
        assert!(last.predicted > 0.0 && last.predicted < 1.0, "{} s", last.predicted);
        // How long it is predicted to take depends on the cores of this machine, and with it whether it is timed.
        assert_eq!(last.measured.is_some(), last.predicted >= 10e-6);
        let within = |seconds: f64, begin: Instant| seconds > 0.0 && seconds <= begin.elapsed().as_secs_f64();
        assert!(last.measured.is_none_or(|seconds| within(seconds, begin)), "{:?}", last.measured);
        let text = cube.explain_last();
        for word in ["broadcast", "96", "8 B", "8 ranks", "root 2", "sbt", "HJ86 SBT", "one-port", "24", "asked for"] {
            assert!(text.contains(word), "no '{word}' in: {text}");
        }
        assert!(text.contains("predicted") && text.contains("bytes"), "{text}");
        assert_eq!(text.contains("measured"), last.measured.is_some(), "{text}");

        let mut all = [0u8; 16];
        cube.all_gather_into(&[1u8, 2], &mut all).unwrap();
        let last = cube.last().unwrap();
        assert_eq!((last.collective, last.root, last.count, last.element), (Collective::AllGather, None, 2, 1));
        assert_eq!(last.measured.is_some(), last.predicted >= 10e-6);
        assert!(last.why.contains("predicted") && !cube.explain_last().contains("root"), "{}", cube.explain_last());
        // Long on any number of cores.
        let begin = Instant::now();
        cube.broadcast(0).run(&mut vec![0u64; 1 << 19]).unwrap();
        assert!(cube.last().unwrap().measured.is_some_and(|seconds| within(seconds, begin)));
        assert!(cube.explain_last().contains("measured"), "{}", cube.explain_last());
        cube.all_gather_into(&[1u8, 2], &mut all).unwrap();
        // Errors of the arguments are no runs.
        assert!(cube.all_gather_into(&[1u8, 2], &mut [0u8; 3]).is_err());
        assert_eq!(cube.last().unwrap().collective, Collective::AllGather);
        cube.barrier().unwrap();
        assert_eq!(cube.last().unwrap().collective, Collective::Barrier);
    });
}
