//! Reductions, with every operation.

use super::*;

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
    let combined = |ranks: usize, offset: usize| -> Vec<T> {
        let at = |at: usize| (1..ranks).fold(T::value(0, at), |left, r| fold(&left, &T::value(r, at)));
        (offset..offset + count).map(at).collect()
    };
    let expected = |offset: usize| combined(size, offset);
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
    // Rank 0 gets nothing from an exclusive scan.
    let below = |untouched: Vec<T>| if rank == 0 { untouched } else { combined(rank, 0) };
    let mut receive: Vec<T> = blank(count);
    cube.scan_into(&own, &mut receive, operation).unwrap();
    assert_eq!(receive, combined(rank + 1, 0), "scan, {case}");
    let mut receive: Vec<T> = blank(count);
    cube.exclusive_scan_into(&own, &mut receive, operation).unwrap();
    assert_eq!(receive, below(blank(count)), "exclusive scan, {case}");
    let mut values = own.clone();
    cube.scan_in_place(&mut values, operation).unwrap();
    assert_eq!(values, combined(rank + 1, 0), "scan in place, {case}");
    let mut values = own.clone();
    cube.exclusive_scan_in_place(&mut values, operation).unwrap();
    assert_eq!(values, below(own.clone()), "exclusive scan in place, {case}");
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

/// Elements without bytes, which are nowhere, aligned or not.
#[test]
fn what_has_no_bytes_is_combined() {
    for size in [2, 3, 5] {
        on(size, |cube| {
            let (mine, mut nothing) = ([[0f64; 0]; 3], [[0f64; 0]; 3]);
            let operation = |_: &[f64; 0], b: &[f64; 0]| *b;
            cube.all_reduce_into(&mine, &mut nothing, operation).unwrap();
            cube.scan_into(&mine, &mut nothing, operation).unwrap();
        });
    }
}
