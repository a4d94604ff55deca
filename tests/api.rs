//! The public API, on threads, against results worked out one element at a time.

use hypercoll::algorithm::{registry, Algorithm, Order, Parameters, PortModel};
use hypercoll::collective::{Call, Collective};
use hypercoll::operation::{Commutative, Number, Reduction};
use hypercoll::select::Options;
use hypercoll::{threads, Error, Hypercube, SystemOperation};
use proptest::prelude::*;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

const SIZES: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16];
const COUNTS: [usize; 5] = [0, 1, 3, 17, 1000];

/// Runs on threads, and fails instead of waiting for ever.
fn on<R: Send + 'static>(ranks: usize, code: impl Fn(&Hypercube) -> R + Sync + Send + 'static) -> Vec<R> {
    within(20, move || threads::run(ranks, code))
}

fn within<R: Send + 'static>(seconds: u64, code: impl FnOnce() -> R + Send + 'static) -> R {
    let (report, outcome) = mpsc::channel();
    std::thread::spawn(move || report.send(catch_unwind(AssertUnwindSafe(code))));
    match outcome.recv_timeout(Duration::from_secs(seconds)) {
        Ok(Ok(results)) => results,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => panic!("no end after {seconds} s: some rank hangs"),
    }
}

/// An element that is no number: three floats.
type Point = [f32; 3];

/// An element type and a different value for every rank and position (as far as the type has room).
trait Element: bytemuck::Pod + PartialEq + std::fmt::Debug + Send + Sync {
    fn value(rank: usize, at: usize) -> Self;
}

fn mix(rank: usize, at: usize) -> u64 {
    (rank as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (at as u64 + 7).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

macro_rules! elements {
    ($($t:ty: $value:expr,)*) => {$(
        impl Element for $t {
            fn value(rank: usize, at: usize) -> Self {
                #[allow(clippy::redundant_closure_call)]
                $value(mix(rank, at))
            }
        }
    )*};
}

elements! {
    u8: |x: u64| (x >> 40) as u8,
    u16: |x: u64| (x >> 40) as u16,
    i32: |x: u64| (x >> 20) as i32,
    u64: |x: u64| x,
    // Small whole numbers, whose sums and products are exact in any order.
    f32: |x: u64| (x >> 40) as u8 as f32,
    f64: |x: u64| (x >> 40) as u16 as f64 - 1000.0,
    Point: |x: u64| [(x >> 40) as u16 as f32, (x >> 20) as u8 as f32, -1.5],
}

fn sent<T: Element>(rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| T::value(rank, at)).collect()
}

/// What must not remain where a result belongs.
fn blank<T: Element>(len: usize) -> Vec<T> {
    vec![bytemuck::Zeroable::zeroed(); len]
}

/// All collectives that move data, with one count, and with every root for the small counts.
fn move_data<T: Element>(cube: &Hypercube, count: usize) {
    let (rank, size) = (cube.rank(), cube.size());
    let case = format!("rank {rank} of {size}, count {count}, {}", std::any::type_name::<T>());
    let own: Vec<T> = sent(rank, count);
    let wide: Vec<T> = sent(rank, count * size);
    let from = |source: usize, offset: usize| move |at: usize| T::value(source, offset + at);
    for root in (0..size).filter(|root| count <= 17 || root % 5 == 2 || *root == 0) {
        let process = cube.process_at_rank(root);
        assert_eq!(process.rank(), root);
        let mut data = if rank == root { own.clone() } else { blank(count) };
        process.broadcast_into(&mut data).unwrap();
        assert!((0..count).map(from(root, 0)).eq(data.iter().copied()), "broadcast, root {root}, {case}");

        let mut receive: Vec<T> = blank(count);
        if rank == root {
            process.scatter_into_root(&wide, &mut receive).unwrap();
        } else {
            process.scatter_into(&mut receive).unwrap();
        }
        assert!((0..count).map(from(root, rank * count)).eq(receive), "scatter, root {root}, {case}");

        if rank == root {
            let mut receive: Vec<T> = blank(count * size);
            process.gather_into_root(&own, &mut receive).unwrap();
            let expected = (0..size).flat_map(|source| (0..count).map(from(source, 0)));
            assert!(expected.eq(receive), "gather, root {root}, {case}");
        } else {
            process.gather_into(&own).unwrap();
        }
    }

    let everything = || (0..size).flat_map(|source| (0..count).map(from(source, 0)));
    let mut receive: Vec<T> = blank(count * size);
    cube.all_gather_into(&own, &mut receive).unwrap();
    assert!(everything().eq(receive), "all-gather, {case}");
    let mut blocks: Vec<T> = blank(count * size);
    blocks[rank * count..(rank + 1) * count].copy_from_slice(&own);
    cube.all_gather_in_place(&mut blocks).unwrap();
    assert!(everything().eq(blocks), "all-gather in place, {case}");

    let mut receive: Vec<T> = blank(count * size);
    cube.all_to_all_into(&wide, &mut receive).unwrap();
    let expected = (0..size).flat_map(|source| (0..count).map(from(source, rank * count)));
    assert!(expected.eq(receive), "all-to-all, {case}");

    for shift in [0, 1, size / 2] {
        let mut receive: Vec<T> = blank(count);
        let permutation: Vec<usize> = (0..size).map(|r| (r + shift) % size).collect();
        cube.permute_into(&permutation, &own, &mut receive).unwrap();
        let source = (rank + size - shift % size) % size;
        assert!((0..count).map(from(source, 0)).eq(receive), "permute by {shift}, {case}");
    }
    // The user's data is as it was.
    assert_eq!((own, wide), (sent(rank, count), sent(rank, count * size)), "send buffers, {case}");
    cube.barrier().unwrap();
}

#[test]
fn data_moves_for_every_size_count_root_and_type() {
    for size in SIZES {
        on(size, |cube| {
            for count in COUNTS {
                move_data::<u8>(cube, count);
                move_data::<u64>(cube, count);
                move_data::<Point>(cube, count);
                if count < 1000 {
                    move_data::<u16>(cube, count);
                    move_data::<i32>(cube, count);
                    move_data::<f32>(cube, count);
                    move_data::<f64>(cube, count);
                }
            }
        });
    }
}

/// All reductions with an operation, against `fold`: the contributions combined in rank order.
fn reduce<T: Element, O: Reduction<T> + Copy>(
    cube: &Hypercube,
    count: usize,
    operation: O,
    fold: impl Fn(&T, &T) -> T,
) {
    let (rank, size) = (cube.rank(), cube.size());
    let case = format!("{} of {}, rank {rank} of {size}, count {count}", operation.name(), std::any::type_name::<T>());
    let own: Vec<T> = sent(rank, count);
    let wide: Vec<T> = sent(rank, count * size);
    let expected = |offset: usize| -> Vec<T> {
        let at = |at: usize| (1..size).fold(T::value(0, at), |left, r| fold(&left, &T::value(r, at)));
        (offset..offset + count).map(at).collect()
    };
    for root in (0..size).filter(|root| size <= 5 || root % 3 == 1) {
        let process = cube.process_at_rank(root);
        if rank == root {
            let mut receive: Vec<T> = blank(count);
            process.reduce_into_root(&own, &mut receive, operation).unwrap();
            assert_eq!(receive, expected(0), "reduce, root {root}, {case}");
        } else {
            process.reduce_into(&own, operation).unwrap();
        }
    }
    let mut receive: Vec<T> = blank(count);
    cube.all_reduce_into(&own, &mut receive, operation).unwrap();
    assert_eq!(receive, expected(0), "all-reduce, {case}");
    let mut values = own.clone();
    cube.all_reduce_in_place(&mut values, operation).unwrap();
    assert_eq!(values, expected(0), "all-reduce in place, {case}");
    let mut receive: Vec<T> = blank(count);
    cube.reduce_scatter_block_into(&wide, &mut receive, operation).unwrap();
    assert_eq!(receive, expected(rank * count), "reduce-scatter, {case}");
    assert_eq!((own, wide), (sent(rank, count), sent(rank, count * size)), "send buffers, {case}");
}

/// What MPI means by its operations on integers, in 128 bits; the caller cuts the result to the type.
fn meaning(operation: SystemOperation, a: i128, b: i128) -> i128 {
    match operation {
        SystemOperation::Sum => a + b,
        SystemOperation::Product => a.wrapping_mul(b),
        SystemOperation::Max => a.max(b),
        SystemOperation::Min => a.min(b),
        SystemOperation::LogicalAnd => (a != 0 && b != 0) as i128,
        SystemOperation::LogicalOr => (a != 0 || b != 0) as i128,
        SystemOperation::LogicalXor => ((a != 0) ^ (b != 0)) as i128,
        SystemOperation::BitwiseAnd => a & b,
        SystemOperation::BitwiseOr => a | b,
        SystemOperation::BitwiseXor => a ^ b,
    }
}

#[test]
fn system_operations_on_integers() {
    for size in SIZES {
        on(size, |cube| {
            for operation in SystemOperation::ALL {
                for count in [0, 1, 3, 17] {
                    reduce(cube, count, operation, |a: &u8, b: &u8| meaning(operation, *a as _, *b as _) as u8);
                    reduce(cube, count, operation, |a: &u16, b: &u16| meaning(operation, *a as _, *b as _) as u16);
                    reduce(cube, count, operation, |a: &i32, b: &i32| meaning(operation, *a as _, *b as _) as i32);
                    reduce(cube, count, operation, |a: &u64, b: &u64| meaning(operation, *a as _, *b as _) as u64);
                }
            }
            let sum = SystemOperation::sum();
            reduce(cube, 1000, sum, |a: &u64, b: &u64| a.wrapping_add(*b));
        });
    }
}

/// Zeros among the operands: the case in which logical operations differ.
#[test]
fn logical_operations_with_zeros() {
    for size in [1, 2, 3, 6, 8] {
        on(size, move |cube| {
            // Bit r of the position says whether rank r contributes 0 or something else.
            let own: Vec<i32> =
                (0..1usize << size).map(|at| (at >> cube.rank() & 1) as i32 * (3 + cube.rank() as i32)).collect();
            let all = |operation| {
                let mut receive = vec![-1; own.len()];
                cube.all_reduce_into(&own, &mut receive, operation).unwrap();
                receive
            };
            let (and, or) = (all(SystemOperation::logical_and()), all(SystemOperation::logical_or()));
            let xor = all(SystemOperation::logical_xor());
            for at in 0..own.len() {
                let ones = at.count_ones();
                // A single rank's contribution is not combined with anything.
                if size > 1 {
                    assert_eq!(and[at], (ones == size as u32) as i32, "and, {at:b}");
                    assert_eq!(or[at], (ones > 0) as i32, "or, {at:b}");
                    assert_eq!(xor[at] != 0, ones % 2 == 1, "xor, {at:b}");
                }
            }
        });
    }
}

#[test]
fn system_operations_on_floats() {
    fn check<T: Element + Number + PartialOrd>(cube: &Hypercube, add: impl Fn(&T, &T) -> T + Copy) {
        for count in [0, 1, 17] {
            reduce(cube, count, SystemOperation::Sum, add);
            reduce(cube, count, SystemOperation::Max, |a: &T, b: &T| if b > a { *b } else { *a });
            reduce(cube, count, SystemOperation::Min, |a: &T, b: &T| if b < a { *b } else { *a });
        }
        for operation in SystemOperation::ALL {
            use SystemOperation::*;
            let defined = matches!(operation, Sum | Product | Max | Min);
            let (own, mut receive) = (sent::<T>(cube.rank(), 4), blank::<T>(4));
            let outcome = cube.all_reduce_into(&own, &mut receive, operation);
            assert_eq!(outcome.is_ok(), defined, "{operation}: {outcome:?}");
            if let Err(error) = outcome {
                assert!(matches!(error, Error::Operation { .. }) && error.to_string().contains("operation"), "{error}");
                assert_eq!(receive, blank::<T>(4));
            }
        }
    }
    for size in SIZES {
        on(size, |cube| {
            check(cube, |a: &f32, b: &f32| a + b);
            check(cube, |a: &f64, b: &f64| a + b);
            // Powers of two, whose products are exact.
            let mut product = [0.0; 3];
            let own = [2.0, 0.5, if cube.rank() % 2 == 0 { -1.0 } else { 1.0 }];
            cube.all_reduce_into(&own, &mut product, SystemOperation::product()).unwrap();
            let size = cube.size() as i32;
            assert_eq!(product, [2f64.powi(size), 0.5f64.powi(size), (-1f64).powi((size + 1) / 2)]);
        });
    }
}

/// The maps x -> a x + b modulo 2^32 in 64 bits: their composition does not commute.
fn compose(left: &u64, right: &u64) -> u64 {
    let (a, b) = ((left >> 32) as u32, *left as u32);
    let (c, d) = ((right >> 32) as u32, *right as u32);
    (c.wrapping_mul(a) as u64) << 32 | c.wrapping_mul(b).wrapping_add(d) as u64
}

#[test]
fn closures_are_combined_in_rank_order() {
    // 2 x 2 matrices modulo 256 in four bytes of an i32.
    let product = |a: &i32, b: &i32| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        let entry = |i: usize, j: usize| a[2 * i].wrapping_mul(b[j]).wrapping_add(a[2 * i + 1].wrapping_mul(b[2 + j]));
        i32::from_le_bytes([entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)])
    };
    let (a, b) = (i32::value(0, 0), i32::value(1, 0));
    assert_ne!(product(&a, &b), product(&b, &a), "else the test would show nothing");
    for size in SIZES {
        on(size, move |cube| {
            for count in COUNTS {
                reduce(cube, count, compose, compose);
                reduce(cube, count, product, product);
                // The last one wins, and the first one: associative, as far from commutative as can be.
                reduce(cube, count, |_: &u64, b: &u64| *b, |_, b| *b);
                reduce(cube, count, |a: &u64, _: &u64| *a, |a, _| *a);
            }
        });
    }
}

#[test]
fn commutative_closures() {
    for size in SIZES {
        on(size, |cube| {
            for count in COUNTS {
                let gcd = |a: &u64, b: &u64| {
                    let (mut a, mut b) = (*a, *b);
                    while b > 0 {
                        (a, b) = (b, a % b);
                    }
                    a
                };
                reduce(cube, count, Commutative(gcd), gcd);
                let sum = |a: &Point, b: &Point| [a[0] + b[0], a[1].max(b[1]), a[2] + b[2]];
                reduce(cube, count, Commutative(sum), sum);
            }
        });
    }
}

/// Everything that can be asked of an algorithm.
fn all_parameters(algorithm: &Algorithm, size: usize) -> Vec<Parameters> {
    let mut all = Vec::new();
    for ports in PortModel::ALL {
        for symmetrized in [false, true] {
            for packet in [None, Some(1), Some(5), Some(1000)] {
                all.push(Parameters { packet, symmetrized, ..Parameters::new(ports) });
            }
        }
    }
    let call = Call::new(algorithm.collective, size, 1);
    all.retain(|parameters| algorithm.accepts(&call, parameters).is_ok());
    all
}

/// One call of a collective with options, compared element by element.
fn with_options(cube: &Hypercube, collective: Collective, root: usize, count: usize, options: &Options) {
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
            let peer = (2 * root + 1) % size;
            let receive = (rank == peer).then_some(&mut narrow[..]);
            let outcome = cube.send(root, peer).options(options).run(count, Some(&own), receive);
            check(outcome, if rank == peer { &narrow } else { &[] }, &|at| u64::value(root, at));
        }
        Collective::Exchange => {
            let peer = (2 * root + 1) % size;
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
        Collective::TransposeSubmatrices => {
            // The grid has 2^floor(n/2) columns, or as many as divide the number of ranks.
            let call = Call::new(collective, size, count);
            let columns = 1 << (hypercoll::address::dimension_for(size) / 2).min(size.trailing_zeros());
            let source = rank % (size / columns) * columns + rank / (size / columns);
            let outcome = cube.collective(call).options(options).run(&own, &mut narrow);
            check(outcome, &narrow, &|at| u64::value(source, at));
        }
        Collective::Barrier => cube.barrier().unwrap(),
    }
}

fn named(algorithm: &Algorithm, parameters: &Parameters) -> Options {
    Options {
        algorithm: Some(algorithm.name.into()),
        packet: parameters.packet,
        ports: Some(parameters.ports),
        symmetrized: Some(parameters.symmetrized),
        order: parameters.order,
        variant: Some(parameters.variant),
    }
}

#[test]
fn every_algorithm_with_every_parameter() {
    for size in SIZES {
        let called = on(size, move |cube| {
            let mut called = 0;
            for algorithm in registry::ALGORITHMS.iter().filter(|a| a.collective != Collective::Barrier) {
                for parameters in all_parameters(algorithm, size) {
                    for root in if size <= 5 { (0..size).collect() } else { vec![0, size / 2, size - 1] } {
                        for count in [0, 1, 17] {
                            let options = named(algorithm, &parameters);
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
        assert!(last.measured.is_some_and(|seconds| seconds > 0.0 && seconds < 20.0));
        let text = cube.explain_last();
        for word in ["broadcast", "96", "8 B", "8 ranks", "root 2", "sbt", "HJ86 SBT", "one-port", "24", "asked for"] {
            assert!(text.contains(word), "no '{word}' in: {text}");
        }
        assert!(text.contains("predicted") && text.contains("measured") && text.contains("bytes"), "{text}");

        let mut all = [0u8; 16];
        cube.all_gather_into(&[1u8, 2], &mut all).unwrap();
        let last = cube.last().unwrap();
        assert_eq!((last.collective, last.root, last.count, last.element), (Collective::AllGather, None, 2, 1));
        assert!(last.why.contains("predicted") && !cube.explain_last().contains("root"), "{}", cube.explain_last());
        // Errors of the arguments are no runs.
        assert!(cube.all_gather_into(&[1u8, 2], &mut [0u8; 3]).is_err());
        assert_eq!(cube.last().unwrap().collective, Collective::AllGather);
        cube.barrier().unwrap();
        assert_eq!(cube.last().unwrap().collective, Collective::Barrier);
    });
}

/// What an error must say.
fn says(outcome: hypercoll::Result<()>, argument: &str, words: &[&str]) -> Error {
    let error = outcome.expect_err(argument);
    let text = error.to_string();
    assert!(text.starts_with(&format!("{argument}:")), "does not name {argument}: {text}");
    words.iter().for_each(|word| assert!(text.contains(word), "no '{word}' in: {text}"));
    error
}

#[test]
fn wrong_lengths_name_the_buffer_and_touch_nothing() {
    for size in [2, 3, 8] {
        on(size, move |cube| {
            let rank = cube.rank();
            let (send, wide) = (sent::<u64>(rank, 5), sent::<u64>(rank, 5 * size));
            let mut short = vec![7u64; 4];
            let mut long = vec![7u64; 5 * size + 1];
            let sum = SystemOperation::sum();
            let root = cube.process_at_rank(rank); // each rank for itself: all see the error
            let five = (5 * size).to_string();
            let length = |outcome, argument: &str, words: &[&str]| {
                assert!(matches!(says(outcome, argument, words), Error::Length { .. }));
            };
            length(root.scatter_into_root(&wide, &mut short), "send", &[&five, &(4 * size).to_string()]);
            length(root.gather_into_root(&send, &mut long), "receive", &[&five]);
            length(root.reduce_into_root(&send, &mut short, sum), "receive", &["4", "5"]);
            length(cube.all_gather_into(&send, &mut long), "receive", &[&five]);
            length(cube.all_gather_in_place(&mut long), "blocks", &["multiple", &size.to_string()]);
            length(cube.all_to_all_into(&long.clone(), &mut long), "send", &["multiple"]);
            length(cube.all_to_all_into(&wide, &mut long), "receive", &[&five]);
            length(cube.all_reduce_into(&send, &mut short, sum), "receive", &["4", "5"]);
            length(cube.reduce_scatter_block_into(&wide, &mut short, sum), "send", &[&(4 * size).to_string()]);
            let identity: Vec<usize> = (0..size).collect();
            length(cube.permute_into(&identity, &send, &mut short), "receive", &["4", "5"]);
            assert_eq!((short, long), (vec![7; 4], vec![7; 5 * size + 1]));
            assert_eq!((send, wide), (sent(rank, 5), sent(rank, 5 * size)));
            // Nothing is broken by it.
            cube.barrier().unwrap();
        });
    }
}

#[test]
fn roots_out_of_range_and_wrong_roles() {
    on(3, |cube| {
        let sum = SystemOperation::sum();
        let (send, mut receive, mut all) = ([1u8], [0u8], [0u8; 3]);
        for root in [3, 1000, usize::MAX] {
            let process = cube.process_at_rank(root);
            let outcomes = [
                process.broadcast_into(&mut receive),
                process.scatter_into(&mut receive),
                process.scatter_into_root(&all.clone(), &mut receive),
                process.gather_into(&send),
                process.gather_into_root(&send, &mut all),
                process.reduce_into(&send, sum),
                process.reduce_into_root(&send, &mut receive, sum),
                cube.broadcast(root).run(&mut receive),
                cube.scatter(root).run(Some(&all.clone()), &mut receive),
                cube.gather(root).run(&send, Some(&mut all)),
                cube.reduce(root).run(&send, Some(&mut receive), sum),
            ];
            for outcome in outcomes {
                assert!(matches!(says(outcome, "root", &["3 ranks"]), Error::Root { size: 3, .. }));
            }
        }
        // A negative rank, as rsmpi's type of ranks can be.
        assert!(matches!(cube.process_at_rank(-1i32).broadcast_into(&mut receive), Err(Error::Root { .. })));

        let (here, there) = (cube.process_at_rank(cube.rank()), cube.process_at_rank((cube.rank() + 1) % 3));
        let role = |outcome: hypercoll::Result<()>, call: &str, instead: &str| {
            let error = outcome.expect_err(call);
            assert!(
                matches!(&error, Error::Role { call: c, instead: i, .. } if *c == call && *i == instead),
                "{error}"
            );
            assert!(error.to_string().contains(call) && error.to_string().contains(instead), "{error}");
        };
        role(here.scatter_into(&mut receive), "scatter_into", "scatter_into_root");
        role(there.scatter_into_root(&all.clone(), &mut receive), "scatter_into_root", "scatter_into");
        role(here.gather_into(&send), "gather_into", "gather_into_root");
        role(there.gather_into_root(&send, &mut all), "gather_into_root", "gather_into");
        role(here.reduce_into(&send, sum), "reduce_into", "reduce_into_root");
        role(there.reduce_into_root(&send, &mut receive, sum), "reduce_into_root", "reduce_into");
        assert_eq!((receive, all), ([0], [0; 3]));
        cube.barrier().unwrap();
    });
}

#[test]
fn options_that_cannot_be_honoured() {
    on(4, |cube| {
        let sum = SystemOperation::sum();
        let (send, mut receive, mut all) = ([1u64; 4], [7u64; 4], [7u64; 16]);
        let unknown = says(cube.broadcast(0).algorithm("best").run(&mut receive), "algorithm", &["best", "sbt, msbt"]);
        assert!(matches!(unknown, Error::UnknownAlgorithm { collective: Collective::Broadcast, .. }));
        says(cube.all_to_all().algorithm("msbt").run(&all.clone(), &mut all), "algorithm", &["pairwise_xor"]);
        assert_eq!(says(cube.broadcast(0).packet(0).run(&mut receive), "packet", &["0"]), Error::Packet);
        assert_eq!(says(cube.all_gather().packet(0).run(&send, &mut all), "packet", &[]), Error::Packet);
        let scatter = cube.scatter(0).algorithm("sbnt").order(Order::Subtrees).ports(PortModel::OnePort).packet(2);
        says(scatter.run(Some(&all[..]).filter(|_| cube.rank() == 0), &mut receive), "packet", &["sbnt"]);
        let gather = cube.all_gather().algorithm("complete_broadcast");
        let exchange = cube.all_to_all().algorithm("pairwise_xor");
        says(exchange.clone().ports(PortModel::AllPorts).run(&all.clone(), &mut all), "ports", &["all-ports"]);
        says(exchange.symmetrized(true).run(&all.clone(), &mut all), "symmetrized", &["pairwise_xor"]);
        says(cube.broadcast(0).symmetrized(true).run(&mut receive), "symmetrized", &[]);
        let gather = gather.symmetrized(true).ports(PortModel::OnePort);
        says(gather.run(&send, &mut all), "symmetrized", &["one-port"]);
        // Operations that do not commute.
        let last = |_: &u64, b: &u64| *b;
        let msbt = cube.reduce(0).algorithm("msbt");
        let outcome = msbt.clone().run(&send, Some(&mut receive), last);
        assert!(matches!(says(outcome, "operation", &["msbt"]), Error::Unsuited { .. }));
        let outcome = cube.all_reduce().algorithm("histogram").symmetrized(true).run(&send, &mut receive, last);
        says(outcome, "symmetrized", &["rank order"]);
        assert_eq!((receive, all), ([7; 4], [7; 16]));
        // The same call with one that commutes.
        msbt.run(&send, Some(&mut receive), sum).unwrap();
        assert_eq!(receive, if cube.rank() == 0 { [4; 4] } else { [7; 4] });
    });
}

#[test]
fn what_is_no_permutation() {
    on(4, |cube| {
        let (send, mut receive) = ([1u32; 3], [7u32; 3]);
        for (permutation, words) in [
            (&[0, 1, 2][..], &["3", "4 ranks"][..]),
            (&[0, 1, 2, 3, 4], &["5", "4 ranks"]),
            (&[], &["0", "4 ranks"]),
            (&[0, 1, 2, 4], &["rank 3", "4"]),
            (&[0, usize::MAX, 2, 3], &["rank 1"]),
            (&[0, 1, 0, 3], &["ranks 0 and 2", "0"]),
        ] {
            let error = says(cube.permute_into(permutation, &send, &mut receive), "permutation", words);
            assert!(matches!(error, Error::Permutation { .. }));
        }
        assert_eq!(receive, [7; 3]);
        cube.permute_into(&[1, 0, 3, 2], &send, &mut receive).unwrap();
        assert_eq!(receive, [1; 3]);
    });
}

/// The outcome of a call in which one rank passes another count, and of a barrier after it.
type Outcomes = Vec<(hypercoll::Result<()>, hypercoll::Result<()>)>;

/// Somebody sees that the counts differ; who saw it has a broken communicator; who did not may go on.
fn somebody_sees_it(case: &str, outcomes: &Outcomes) {
    assert!(outcomes.iter().any(|(first, _)| first.is_err()), "{case}: nobody saw it");
    for (rank, (first, second)) in outcomes.iter().enumerate() {
        if let Err(error) = first {
            let expected = matches!(error, Error::CountsDiffer { .. } | Error::PeerFailed { .. });
            assert!(expected, "{case}, rank {rank}: {error}");
            assert_eq!(*second, Err(Error::Broken), "{case}, rank {rank}");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Counts that differ, but give messages of the same number: the lengths show it.
#[test]
fn counts_that_differ() {
    for size in [2, 3, 5, 8] {
        for odd in 0..size {
            let outcomes: Outcomes = on(size, move |cube| {
                let mut data = vec![cube.rank() as u64; if cube.rank() == odd { 6 } else { 5 }];
                let first = cube.broadcast(0).algorithm("sbt").ports(PortModel::OnePort).run(&mut data);
                let second = if first.is_err() { cube.barrier() } else { Ok(()) };
                (first, second)
            });
            somebody_sees_it(&format!("broadcast, size {size}, rank {odd}"), &outcomes);
            // Whoever hears of it from the parent is told so too.
            if odd == 0 {
                assert!(outcomes[1..].iter().all(|(first, _)| first.is_err()), "size {size}: {outcomes:?}");
                assert!(outcomes.iter().any(|o| matches!(o.0, Err(Error::CountsDiffer { got: 48, expected: 40, .. }))));
            }
            let outcomes: Outcomes = on(size, move |cube| {
                let own = vec![1u64; if cube.rank() == odd { 3 } else { 4 }];
                let mut sum = own.clone();
                let first = cube.all_reduce().algorithm("sbt").run(&own, &mut sum, SystemOperation::sum());
                let second = if first.is_err() { cube.barrier() } else { Ok(()) };
                (first, second)
            });
            somebody_sees_it(&format!("all-reduce, size {size}, rank {odd}"), &outcomes);
        }
    }
}

/// Calls so different that the ranks' schedules do not have the same messages: nobody may wait for ever.
#[test]
fn calls_that_differ_in_shape() {
    let outcomes: Outcomes = on(4, |cube| {
        let mut data = vec![0u64; if cube.rank() == 0 { 0 } else { 5 }];
        let first = cube.process_at_rank(0).broadcast_into(&mut data);
        let second = if first.is_err() { cube.barrier() } else { Ok(()) };
        (first, second)
    });
    somebody_sees_it("nothing from the root", &outcomes);
    let outcomes: Outcomes = on(4, |cube| {
        let mut data = vec![0u64; 64];
        let first = cube.broadcast(0).packet(if cube.rank() == 0 { 64 } else { 8 }).run(&mut data);
        let second = if first.is_err() { cube.barrier() } else { Ok(()) };
        (first, second)
    });
    somebody_sees_it("packets differ", &outcomes);
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
        let message = within(20, move || {
            let outcome = catch_unwind(|| {
                threads::run(5, |cube| {
                    let mut all = [0usize; 5];
                    cube.all_gather_into(&cube.rank(), &mut all).unwrap();
                    assert!(cube.rank() != 3, "rank 3 has had enough");
                    let outcome = cube.all_gather_into(&cube.rank(), &mut all);
                    if unwraps {
                        outcome.unwrap();
                    } else {
                        assert!(matches!(outcome, Err(Error::PeerFailed { .. })), "{outcome:?}");
                    }
                })
            });
            let panic = outcome.map(|results| results.len()).expect_err("the panic is passed on");
            panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
        });
        assert_eq!(message.as_deref(), Some("rank 3 has had enough"), "unwraps: {unwraps}");
    }
    assert!(catch_unwind(|| threads::run(0, |_| ())).is_err());
}

/// No rank leaves a barrier before all have entered it, whoever is late.
#[test]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    for size in SIZES {
        let entered = AtomicUsize::new(0);
        within(20, move || {
            threads::run(size, |cube| {
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
            })
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
        let variants = all_parameters(algorithm, size);
        prop_assume!(!variants.is_empty());
        let mut parameters = variants[variant % variants.len()];
        parameters.packet = parameters.packet.and(packet);
        let options = named(algorithm, &parameters);
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
