//! Raw calls, against what the typed ones do and by hand.

use super::*;
use crate::collective::{Collective, Layout};
use crate::error::Error;
use crate::select::Options;
use crate::{threads, SystemOperation};

/// Pairs of bytes, 5 bytes from one to the next, that begin one byte behind their address.
struct Pairs;

const PAIR: Datatype = Datatype { name: "pair", size: 2, extent: 5, lower_bound: 1, packing: Some(&Pairs) };

impl Packing for Pairs {
    unsafe fn pack(&self, from: *const u8, count: usize, into: &mut [u8]) {
        for (index, pair) in into.chunks_exact_mut(2).enumerate().take(count) {
            std::ptr::copy_nonoverlapping(from.add(5 * index + 1), pair.as_mut_ptr(), 2);
        }
    }

    unsafe fn unpack(&self, from: &[u8], into: *mut u8, count: usize) {
        for (index, pair) in from.chunks_exact(2).enumerate().take(count) {
            std::ptr::copy_nonoverlapping(pair.as_ptr(), into.add(5 * index + 1), 2);
        }
    }
}

fn buffers(send: &[u8], receive: &mut [u8]) -> Buffers {
    Buffers { send: send.as_ptr(), receive: receive.as_mut_ptr() }
}

#[test]
fn what_lies_between_elements_stays_as_it_is() {
    let received = threads::run(3, |cube| {
        let mut data = [b'.'; 15];
        if cube.rank() == 1 {
            data = *b".ab...cd...ef..";
        }
        let call = Call::new(Collective::Broadcast, 3, 3).with_root(1);
        // SAFETY: three pairs, which live until the call is over.
        unsafe { cube.run_raw(call, &Options::default(), buffers(&[], &mut data), &PAIR, None) }.unwrap();
        let mut all = [b'-'; 45];
        let call = Call::new(Collective::AllGather, 3, 3);
        // SAFETY: three pairs, and nine.
        unsafe { cube.run_raw(call, &Options::default(), buffers(&data, &mut all), &PAIR, None) }.unwrap();
        (data, all)
    });
    for (data, all) in received {
        assert_eq!(&data, b".ab...cd...ef..");
        assert_eq!(&all[..], b"-ab---cd---ef--".repeat(3));
    }
}

#[test]
fn what_lies_between_blocks_stays_as_it_is() {
    let received = threads::run(2, |cube| {
        let data = *b".ab..";
        let mut all = *b"-------------------------";
        // The second block first, and a place for a pair before, between and behind them.
        let layout = Layout::of_vectors([1, 1]).received_at([3, 1]);
        let call = Call::new(Collective::AllGather, 2, 1).with_layout(layout);
        // SAFETY: a pair, and five.
        unsafe { cube.run_raw(call, &Options::default(), buffers(&data, &mut all), &PAIR, None) }.unwrap();
        all
    });
    assert_eq!(received, [*b"------ab--------ab-------"; 2]);
}

/// Ports that lead to no rank have blocks, too: nothing comes there.
#[test]
fn blocks_of_absent_neighbors_stay_as_they_are() {
    let received = threads::run(3, |cube| {
        let data = *b".ab...cd..";
        let mut all = *b"----------";
        let call = Call::new(Collective::NeighborAllToAll, 3, 1);
        // SAFETY: two pairs each, which live until the call is over.
        unsafe { cube.run_raw(call, &Options::default(), buffers(&data, &mut all), &PAIR, None) }.unwrap();
        all
    });
    assert_eq!(received, [*b"-ab---cd--", *b"-ab-------", *b"------cd--"]);
}

/// x -> a x + b, as two bytes: first the left one.
fn then(side: Side, from: &[u8], into: &mut [u8]) {
    for (from, into) in from.chunks_exact(2).zip(into.chunks_exact_mut(2)) {
        let (f, g) = match side {
            Side::Left => ([from[0], from[1]], [into[0], into[1]]),
            Side::Right => ([into[0], into[1]], [from[0], from[1]]),
        };
        into[0] = f[0].wrapping_mul(g[0]);
        into[1] = f[1].wrapping_mul(g[0]).wrapping_add(g[1]);
    }
}

#[test]
fn operators_that_do_not_commute_are_applied_in_rank_order() {
    for size in [1, 2, 5, 8] {
        let received = threads::run(size, |cube| {
            let operator = Operator { name: "then", commutes: false, combine: &then };
            let (send, mut receive) = ([3, cube.rank() as u8], [0; 2]);
            let call = Call::new(Collective::AllReduce, size, 1);
            let datatype = Datatype::contiguous("step", 2);
            let buffers = buffers(&send, &mut receive);
            // SAFETY: one element each, which live until the call is over.
            unsafe { cube.run_raw(call, &Options::default(), buffers, &datatype, Some(&operator)) }.unwrap();
            receive
        });
        let mut expected = [3, 0];
        (1..size as u8).for_each(|rank| then(Side::Right, &[3, rank], &mut expected));
        assert_eq!(received, vec![expected; size]);
    }
}

#[test]
fn prefixes_are_in_rank_order_and_nothing_ends_on_rank_0_of_an_exclusive_one() {
    for size in [1, 2, 5, 8] {
        for in_place in [false, true] {
            let received = threads::run(size, |cube| {
                let operator = Operator { name: "then", commutes: false, combine: &then };
                let mine = [3, cube.rank() as u8];
                let datatype = Datatype::contiguous("step", 2);
                [Collective::Scan, Collective::ExclusiveScan].map(|collective| {
                    let mut receive = if in_place { mine } else { [b'-'; 2] };
                    let call = Call { in_place, ..Call::new(collective, size, 1) };
                    let buffers = buffers(&mine, &mut receive);
                    // SAFETY: one element each, which live until the call is over.
                    unsafe { cube.run_raw(call, &Options::default(), buffers, &datatype, Some(&operator)) }.unwrap();
                    receive
                })
            });
            let mut below = if in_place { [3, 0] } else { [b'-'; 2] };
            let mut prefix = [3, 0];
            for (rank, received) in received.into_iter().enumerate() {
                if rank > 0 {
                    below = prefix;
                    then(Side::Right, &[3, rank as u8], &mut prefix);
                }
                assert_eq!(received, [prefix, below], "rank {rank} of {size}");
            }
        }
    }
}

#[test]
fn several_are_under_way_and_what_makes_no_sense_is_refused() {
    threads::run(4, |cube| {
        let datatype = Datatype::contiguous("u64", 8);
        let (mut a, mut b) = ([cube.rank() as u64; 4], [0u64; 4]);
        let send = a;
        let call = |collective| Call::new(collective, 4, 1);
        let bytes = |data: &mut [u64; 4]| data.as_mut_ptr().cast::<u8>();
        let options = Options::default();
        let of = |receive| Buffers { send: send.as_ptr().cast(), receive };
        // SAFETY: as many elements as the calls say, until they are over.
        unsafe {
            let broadcast = call(Collective::Broadcast).with_root(3);
            let first = cube.start_raw(broadcast, &options, of(bytes(&mut a)), &datatype, None).unwrap();
            let second = cube.start_raw(call(Collective::AllGather), &options, of(bytes(&mut b)), &datatype, None);
            second.unwrap().wait().unwrap();
            first.wait().unwrap();
            let missing = cube.run_raw(call(Collective::AllReduce), &options, of(bytes(&mut a)), &datatype, None);
            assert!(matches!(missing, Err(Error::Operation { .. })));
            let other = Call::new(Collective::Broadcast, 5, 1);
            let other = cube.run_raw(other, &options, of(bytes(&mut a)), &datatype, None);
            assert!(matches!(other, Err(Error::Length { argument: "size", .. })));
        }
        assert_eq!((a[0], b), (3, [0, 1, 2, 3]));
        let mut sum = 0;
        cube.all_reduce_into(&1, &mut sum, SystemOperation::sum()).unwrap();
        assert_eq!(sum, 4);
    });
}
