//! Buffers with gaps, and elements that are no plain old data.

use super::*;
use hypercoll::buffer::{Strided, StridedMut};
use hypercoll::raw::{Buffers, Datatype};
use hypercoll::request;
use num_complex::Complex64;

const GAP: u32 = u32::MAX;

/// Where element `at` of the middle two of every five columns is.
fn place(at: usize) -> usize {
    5 * (at / 2) + 1 + at % 2
}

/// `rows` rows of five columns, of which the middle two are the elements given.
fn matrix(rows: usize, element: impl Fn(usize) -> u32) -> Vec<u32> {
    let mut matrix = vec![GAP; 5 * rows];
    (0..2 * rows).for_each(|at| matrix[place(at)] = element(at));
    matrix
}

fn strided(matrix: &[u32]) -> Strided<'_, u32> {
    Strided::new(matrix, 1, &[(matrix.len() / 5, 5), (2, 1)]).unwrap()
}

fn strided_mut(matrix: &mut [u32]) -> StridedMut<'_, u32> {
    let rows = matrix.len() / 5;
    StridedMut::new(matrix, 1, &[(rows, 5), (2, 1)]).unwrap()
}

fn value(rank: usize, at: usize) -> u32 {
    (1000 * rank + at) as u32
}

fn with_gaps(cube: &Hypercube, rows: usize) {
    let (rank, size, count) = (cube.rank(), cube.size(), 2 * rows);
    let own = matrix(rows, |at| value(rank, at));
    let wide = matrix(rows * size, |at| value(rank, at));
    let blank = || matrix(rows, |_| 0);
    let all = matrix(rows * size, |at| value(at / count.max(1), at % count.max(1)));
    let sum = |ranks: usize| move |at: usize| (0..ranks).map(|rank| value(rank, at)).sum::<u32>();
    let case = format!("{rows} rows, rank {rank} of {size}");
    for root in [0, size - 1] {
        let process = cube.process_at_rank(root);
        let mut data = if rank == root { own.clone() } else { blank() };
        process.broadcast_into(&mut strided_mut(&mut data)).unwrap();
        assert_eq!(data, matrix(rows, |at| value(root, at)), "broadcast, {case}");
        // With gaps on one side only.
        let mut block = vec![0; count];
        if rank == root {
            process.scatter_into_root(&strided(&wide), &mut block).unwrap();
            let mut back = matrix(rows * size, |_| 0);
            process.gather_into_root(&block, &mut strided_mut(&mut back)).unwrap();
            assert_eq!(back, wide, "gather of what was scattered, {case}");
        } else {
            process.scatter_into(&mut block).unwrap();
            process.gather_into(&block).unwrap();
        }
        assert!((0..count).map(|at| value(root, rank * count + at)).eq(block), "scatter, {case}");
        let mut total = blank();
        if rank == root {
            process.reduce_into_root(&strided(&own), &mut strided_mut(&mut total), SystemOperation::sum()).unwrap();
            assert_eq!(total, matrix(rows, sum(size)), "reduce, {case}");
        } else {
            process.reduce_into(&strided(&own), SystemOperation::sum()).unwrap();
        }
    }
    let mut gathered = matrix(rows * size, |_| 0);
    cube.all_gather_into(&strided(&own), &mut strided_mut(&mut gathered)).unwrap();
    assert_eq!(gathered, all, "all-gather, {case}");
    let mut exchanged = matrix(rows * size, |_| 0);
    cube.all_to_all_into(&strided(&wide), &mut strided_mut(&mut exchanged)).unwrap();
    let expected = matrix(rows * size, |at| value(at / count.max(1), rank * count + at % count.max(1)));
    assert_eq!(exchanged, expected, "all-to-all, {case}");
    let mut totals = own.clone();
    cube.all_reduce_in_place(&mut strided_mut(&mut totals), SystemOperation::sum()).unwrap();
    assert_eq!(totals, matrix(rows, sum(size)), "all-reduce in place, {case}");
    let mut below = own.clone();
    cube.exclusive_scan_into(&strided(&own), &mut strided_mut(&mut below), SystemOperation::sum()).unwrap();
    let expected = if rank == 0 { own.clone() } else { matrix(rows, sum(rank)) };
    assert_eq!(below, expected, "exclusive scan, {case}");

    // Only started, and dropped in a scope: it is all there at its end.
    let (mut gathered, mut prefix) = (matrix(rows * size, |_| 0), blank());
    {
        let (mut into, from, mut sums) = (strided_mut(&mut gathered), strided(&own), strided_mut(&mut prefix));
        request::scope(|scope| {
            drop(cube.immediate_all_gather_into(scope, &from, &mut into).unwrap());
            let scan = cube.immediate_scan_into(scope, &from, &mut sums, SystemOperation::sum()).unwrap();
            std::mem::forget(scan);
        });
    }
    assert_eq!((gathered, prefix), (all, matrix(rows, sum(rank + 1))), "immediate, {case}");
    assert_eq!(own, matrix(rows, |at| value(rank, at)), "what was sent, {case}");
}

#[test]
fn elements_with_gaps_are_sent_and_received_as_they_lie() {
    for size in SIZES {
        on(size, |cube| [0, 1, 3, 200].into_iter().for_each(|rows| with_gaps(cube, rows)));
    }
}

#[test]
fn truth_characters_and_complex_numbers() {
    for size in [1, 2, 3, 6, 8] {
        on(size, move |cube| {
            let rank = cube.rank();
            let mut even = vec![false; size];
            cube.all_gather_into(&(rank % 2 == 0), &mut even).unwrap();
            assert!(even.iter().enumerate().all(|(rank, even)| *even == (rank % 2 == 0)));
            let (mut any, mut all, mut odd) = (false, false, false);
            cube.all_reduce_into(&(rank == 1), &mut any, SystemOperation::logical_or()).unwrap();
            cube.all_reduce_into(&(rank != 1), &mut all, SystemOperation::logical_and()).unwrap();
            cube.all_reduce_into(&true, &mut odd, SystemOperation::logical_xor()).unwrap();
            assert_eq!((any, all, odd), (size > 1, size == 1, size % 2 == 1));
            let refused = cube.all_reduce_into(&true, &mut any, SystemOperation::sum());
            assert!(matches!(refused, Err(Error::Operation { element: "bool", .. })), "{refused:?}");

            let mut letters = ['-'; 3];
            if rank == size - 1 {
                letters = ['ä', 'z', '\u{10FFFF}'];
            }
            cube.process_at_rank(size - 1).broadcast_into(&mut letters).unwrap();
            assert_eq!(letters, ['ä', 'z', '\u{10FFFF}']);

            let i = Complex64::i();
            let (mut sum, mut product) = ([Complex64::default(); 2], Complex64::default());
            cube.all_reduce_into(&[i, i * rank as f64], &mut sum, SystemOperation::sum()).unwrap();
            cube.all_reduce_into(&i, &mut product, SystemOperation::product()).unwrap();
            assert_eq!(sum, [i * size as f64, i * (size * (size - 1) / 2) as f64]);
            assert_eq!(product, (0..size).fold(Complex64::new(1.0, 0.0), |product, _| product * i));
        });
    }
}

/// Another program may say that it sends what it does not.
#[test]
fn what_is_no_element_is_never_seen() {
    on(2, |cube| {
        if cube.rank() == 0 {
            let mut byte = [0u8, 7, 1];
            let call = Call::new(Collective::Broadcast, 2, 3);
            let buffers = Buffers { send: std::ptr::null(), receive: byte.as_mut_ptr() };
            // SAFETY: three bytes, which live until the call is over.
            unsafe { cube.run_raw(call, &Options::default(), buffers, &Datatype::contiguous("bool", 1), None) }
                .unwrap();
        } else {
            let mut truth = [true; 3];
            assert_eq!(cube.process_at_rank(0).broadcast_into(&mut truth), Err(Error::Element));
            assert_eq!(truth, [false; 3]);
        }
    });
}

#[test]
fn the_least_and_the_greatest_with_their_places() {
    use hypercoll::operation::{Located, MaxLoc, MinLoc};
    for size in SIZES {
        on(size, move |cube| {
            let rank = cube.rank() as u64;
            // Ties go to the lowest place; a value that is no number to nobody.
            let mine = [Located::new([3.0, 1.0][(rank % 2) as usize], rank), Located::new(-(rank as f64), 100 - rank)];
            let (mut least, mut greatest) = (mine, mine);
            cube.all_reduce_into(&mine, &mut least, MinLoc).unwrap();
            cube.all_reduce_into(&mine, &mut greatest, MaxLoc).unwrap();
            let last = size as u64 - 1;
            let expected = if size > 1 { Located::new(1.0, 1) } else { Located::new(3.0, 0) };
            assert_eq!(least, [expected, Located::new(-(last as f64), 100 - last)]);
            assert_eq!(greatest, [Located::new(3.0, 0), Located::new(-0.0, 100)]);
            let mut same = [Located::new(5i32, 7 - rank as u32 % 3), Located::new(i32::MIN, 1)];
            cube.all_reduce_in_place(&mut same, MinLoc).unwrap();
            assert_eq!(same, [Located::new(5, 7 - last.min(2) as u32), Located::new(i32::MIN, 1)]);
            let mut odd = [Located::new(if rank == 0 { f32::NAN } else { 2.0 }, rank as u32)];
            cube.all_reduce_in_place(&mut odd, MaxLoc).unwrap();
            assert!(if size > 1 { odd[0] == Located::new(2.0, 1) } else { odd[0].value.is_nan() });
        });
    }
}
