//! From which length on messages within a host are there sooner if their receivers copy them out of the senders' memory, once, than through
//! memory of both, twice. That depends on the processor, and on who is at work meanwhile: some ranks of a host send to its first, as in a
//! gather, and where ranks have a core each, or are on several hosts, all send round a ring, too, as in an exchange. (Where they take turns on
//! the cores of one host, a ring would tell of the turns rather than of the copies.)

use super::messages::Messages;
use super::{agree, in_a_row, Ring, LONGEST};
use crate::address::Hosts;
use crate::comm::Hypercube;
use crate::error::Result;
use crate::operation::SystemOperation;
use std::cell::RefCell;
use std::slice;

/// Bytes from which on messages are copied once, at least, among more than two ranks, which pass packets on: these are copied twice, and shorter
/// than that.
pub(in crate::comm) const AMONG_MORE: usize = 16 << 10;
/// Bytes of the messages that are tried: the first ones, and shorter ones, unless the former, and [`LONGEST`], are later in one copy by far, as
/// shorter ones gain less by it; between two ranks from shorter ones on, and of ranks that share cores from longer ones on, for whom those are
/// sooner in two copies. If the first ones are later in one copy by far, or no shorter ones are sooner, [`LONGEST`] tells, too: to touch memory
/// for longer ones took as long as all else together.
const LONG: usize = 128 << 10;
const LENGTHS: &[usize] = &[AMONG_MORE, 32 << 10, 64 << 10];
const LENGTHS_OF_TWO: &[usize] = &[4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
const LENGTHS_IN_TURN: &[usize] = &[32 << 10, 64 << 10];
/// By how many times later: what disturbs them makes 1.2 of 1.0 now and then.
const LATER: f64 = 1.3;
/// Times that messages are copied in each way, of which the middle one counts, and messages each time, as the first after a change of the
/// way takes longer: ranks that share cores meet by luck now and then.
const TRIES: usize = 5;
const IN_A_ROW: usize = 3;
/// Ranks that send to one, at most: it has to have memory for the messages of all.
const SENDERS: usize = 8;

/// Bytes from which on messages are sooner there if receivers copy them, `usize::MAX` if that is never so, or may not be: from now on they do.
/// `None` if nothing can be done about it. All ranks call this together.
///
/// Why not a ring alone: of 8 ranks on 2 cores, blocks of 64 KiB, the time by single copies over that by two was on an Intel Xeon of a
/// permutation, which is a ring, .8, a gather .6, an all-to-all .8; on an AMD EPYC 1.4, 2.0, 1.7, and of a broadcast 2.6 (of 512 KiB 1.0, 1.5, 1.4
/// and 2.0), and of 2 ranks on as many of its cores, 256 KiB, 1.1, 2.0, 1.2 and 1.9. Rings took 128 or 256 KiB to be sooner in one copy in 8 of 32 runs
/// there, and in 2 of 8 on 2 ranks.
pub(super) fn single_from(ring: &Ring) -> Result<Option<usize>> {
    let cube = ring.cube;
    let copy_from = |bytes: usize| Ok(cube.engine()?.set_single_copy_from(bytes));
    // Whether any rank does as it is told, whether any copies once from a length that is fixed, and whether any may not.
    let found = copy_from(AMONG_MORE)?;
    let fixed = found.is_some_and(|from| from != AMONG_MORE && from != usize::MAX);
    let mut any = [found == Some(AMONG_MORE), fixed, found == Some(usize::MAX)].map(u8::from);
    agree(cube, &mut any, SystemOperation::max())?;
    match any {
        [0, 0, 1] => return Ok(Some(usize::MAX)),
        [0, ..] => return Ok(None),
        _ => (),
    }
    let to_one = ToOne::on(cube, cube.hosts.as_ref());
    let in_turn = ring.turn > 1.0;
    let shorter = match cube.size {
        _ if in_turn => LENGTHS_IN_TURN,
        2 => LENGTHS_OF_TWO,
        _ => LENGTHS,
    };
    let send = |bytes: usize| match in_turn {
        true => to_one.send(bytes),
        false => Ok(to_one.send(bytes)? + ring.send(bytes, bytes, IN_A_ROW)?),
    };
    let mut times = both_ways(cube, &[LONG], send)?;
    if are_later(&times) {
        times.extend(both_ways(cube, &[LONGEST], send)?);
    }
    if !are_later(&times) {
        times.splice(0..0, both_ways(cube, shorter, send)?);
        if times.iter().all(|(bytes, _)| *bytes < LONGEST) && sooner_from(&times) >= LONG {
            times.extend(both_ways(cube, &[LONGEST], send)?);
        }
    }
    let found = sooner_from(&times);
    copy_from(found)?;
    Ok(Some(found))
}

/// Whether messages of all these lengths are later by far if they are copied once.
fn are_later(times: &[(usize, [f64; 2])]) -> bool {
    times.iter().all(|(_, [once, twice])| *once > LATER * twice)
}

/// These lengths, and the seconds that messages of each take, copied once and twice.
fn both_ways(
    cube: &Hypercube,
    lengths: &[usize],
    send: impl Fn(usize) -> Result<f64>,
) -> Result<Vec<(usize, [f64; 2])>> {
    let mut times = vec![[[0.0; 2]; TRIES]; lengths.len()];
    for turn in 0..TRIES {
        for (times, &bytes) in times.iter_mut().zip(lengths) {
            for (time, from) in times[turn].iter_mut().zip([bytes, usize::MAX]) {
                cube.engine()?.set_single_copy_from(from);
                *time = send(bytes)?;
            }
        }
    }
    // A rank that comes late finds all that it waits for: what a message takes is what the last of all sees.
    agree(cube, times.as_flattened_mut().as_flattened_mut(), SystemOperation::max())?;
    let usual = |times: [[f64; 2]; TRIES], way: usize| {
        let mut times = times.map(|both| both[way]);
        times.sort_by(f64::total_cmp);
        times[TRIES / 2]
    };
    Ok(lengths.iter().zip(times).map(|(&bytes, times)| (bytes, [0, 1].map(|way| usual(times, way)))).collect())
}

/// From which of these lengths on, the shortest first, a message is there sooner if it is copied once, given what each takes that is copied once,
/// and twice: where the product of all is least, so that a disturbance of one does not decide.
fn sooner_from(times: &[(usize, [f64; 2])]) -> usize {
    let (mut product, mut least, mut found) = (1.0, 1.0, usize::MAX);
    for &(bytes, [once, twice]) in times.iter().rev() {
        product *= once / twice;
        if product < least {
            (least, found) = (product, bytes);
        }
    }
    found
}

/// Ranks that send to the first one of their host, as in a gather.
struct ToOne<'c> {
    cube: &'c Hypercube,
    /// The first one, and the others that send to it.
    root: usize,
    senders: Vec<usize>,
    /// What is sent, and where what is received goes: used again, as memory that nobody has touched takes longer.
    buffers: RefCell<[Vec<u8>; 2]>,
}

impl<'c> ToOne<'c> {
    fn on(cube: &'c Hypercube, hosts: Option<&Hosts>) -> ToOne<'c> {
        let mut senders = match hosts {
            Some(hosts) => hosts.places(hosts.place(cube.rank)).map(|place| hosts.rank(place)).collect(),
            None => Vec::from_iter(0..cube.size),
        };
        // This rank is one of them.
        let root = senders.remove(0);
        senders.truncate(SENDERS);
        ToOne { cube, root, senders, buffers: RefCell::default() }
    }

    /// Sends so many bytes each, again and again: the seconds until those of the one before are there.
    fn send(&self, bytes: usize) -> Result<f64> {
        let ToOne { cube, root, senders, buffers } = self;
        let (to, from): (&[usize], &[usize]) = match cube.rank {
            rank if rank == *root => (&[], senders),
            rank if senders.contains(&rank) => (slice::from_ref(root), &[]),
            _ => (&[], &[]),
        };
        let messages = Messages::of(cube, bytes, to, from);
        let [send, receive] = &mut *buffers.borrow_mut();
        for (buffer, bytes, byte) in [(&mut *send, messages.bytes[0], 1), (&mut *receive, messages.bytes[1], 0)] {
            buffer.resize(buffer.len().max(bytes), byte);
        }
        in_a_row(cube, IN_A_ROW, || messages.send_from(cube, send, receive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_copied_once_from_where_that_is_sooner_in_all() {
        let of = |ratios: [f64; 4]| {
            let times =
                LENGTHS.iter().chain(&[LONG]).zip(ratios).map(|(&bytes, ratio)| (bytes, [30e-6 * ratio, 30e-6]));
            sooner_from(&Vec::from_iter(times))
        };
        assert_eq!(of([0.9, 0.8, 0.6, 0.5]), 16 << 10);
        assert_eq!(of([2.0, 1.5, 1.2, 0.8]), 128 << 10);
        assert_eq!(of([2.0, 1.5, 1.1, 1.2]), usize::MAX);
        assert_eq!(of([2.0, 0.9, 1.5, 0.6]), 128 << 10, "32 KiB gain less than 64 KiB lose");
        assert_eq!(of([2.0, 0.8, 0.8, 1.3]), 32 << 10, "128 KiB were disturbed");
    }

    #[test]
    fn only_by_far_is_later() {
        assert!(are_later(&[(LONG, [1.31, 1.0])]) && are_later(&[(LONG, [1.31, 1.0]), (LONGEST, [2.0, 1.0])]));
        assert!(!are_later(&[(LONG, [1.31, 1.0]), (LONGEST, [1.2, 1.0])]) && !are_later(&[(LONG, [1.2, 1.0])]));
    }

    /// All but the first of a host send, or eight of them, and each time the first has what they sent.
    #[test]
    fn several_send_to_the_first_of_their_host() {
        let one_host = [2, 3, 8, 9, 12].map(|size| (size, vec![size]));
        for (size, ranks) in one_host.into_iter().chain([(7, vec![4, 1, 2]), (13, vec![2, 11])]) {
            let filled = crate::threads::run(size, |cube| {
                let hosts = Hosts::with_ranks(&ranks, true);
                let (places, first) = match &hosts {
                    Some(hosts) => (hosts.places(hosts.place(cube.rank)), hosts.places(hosts.place(cube.rank)).start),
                    None => (0..size, 0),
                };
                let place = hosts.as_ref().map_or(cube.rank, |hosts| hosts.place(cube.rank));
                let senders = SENDERS.min(places.len() - 1);
                let expected = match place - first {
                    0 => [0, 100 * senders],
                    nth if nth <= senders => [100, 0],
                    _ => [0, 0],
                };
                let to_one = ToOne::on(cube, hosts.as_ref());
                assert!([100, 40].iter().all(|&bytes| to_one.send(bytes).is_ok_and(|seconds| seconds > 0.0)));
                let buffers = to_one.buffers.into_inner();
                assert!(buffers[1].iter().all(|&byte| byte == 1), "what was sent has come");
                (buffers.map(|buffer| buffer.len()), expected)
            });
            filled.into_iter().for_each(|(lengths, expected)| assert_eq!(lengths, expected, "{ranks:?}"));
        }
    }
}
