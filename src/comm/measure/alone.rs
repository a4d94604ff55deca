//! What messages between hosts take where no rank sends and receives at once, as in trees and between a root and the others. One goes round
//! the hosts; several leave one host, and come back to it, from which follows what each of them adds. It is that host's clock that tells: ranks
//! leave a barrier one after the other, over more time than a message takes.

use super::messages::Messages;
use super::{agree, first_of, of_one_more, SHORT, TURNS};
use crate::address::Hosts;
use crate::comm::Hypercube;
use crate::error::Result;
use crate::operation::SystemOperation;
use crate::select::Alone;
use std::time::Instant;

/// Hosts beside the first one that take part at most: each takes a connection.
const MOST: usize = 8;

/// A rank that sends, and one that receives.
type Pair = (usize, usize);

/// From the first host to the second, from that to the third and so on, and from the last to the first, one after the other; all at once from
/// the first one, and back to it.
fn ways(hosts: Option<&Hosts>, size: usize) -> [Vec<Vec<Pair>>; 2] {
    let first = |host: usize| first_of(hosts, host);
    let others = MOST.min(hosts.map_or(size, Hosts::len) - 1);
    let out = Vec::from_iter((1..=others).map(|host| (first(0), first(host))));
    let back = out.iter().map(|&(from, to)| (to, from)).collect();
    [(0..=others).map(|host| vec![(first(host), first((host + 1) % (others + 1)))]).collect(), vec![out, back]]
}

/// Measures it; all ranks, on at least two hosts, call this together, and find the same.
pub(super) fn alone(cube: &Hypercube) -> Result<Alone> {
    let ways = ways(cube.hosts.as_ref(), cube.size);
    let others = ways[0].len() - 1;
    let of_this_rank = |pairs: &Vec<Pair>| {
        let to = Vec::from_iter(pairs.iter().filter(|(from, _)| *from == cube.rank).map(|&(_, to)| to));
        let from = Vec::from_iter(pairs.iter().filter(|(_, to)| *to == cube.rank).map(|&(from, _)| from));
        Messages::of(cube, SHORT, &to, &from)
    };
    let ways = ways.map(|way| Vec::from_iter(way.iter().map(of_this_rank)));
    // The first messages between two ranks open their connection, and all others wait for those of the first rank from then on.
    let mut times = [[0.0; TURNS]; 2];
    for turn in std::iter::once(None).chain((0..TURNS).map(Some)) {
        for (times, way) in times.iter_mut().zip(&ways) {
            let start = Instant::now();
            Messages::send_once(cube, way)?;
            if let Some(turn) = turn {
                times[turn] = start.elapsed().as_secs_f64();
            }
        }
    }
    if cube.rank != first_of(cube.hosts.as_ref(), 0) {
        times = [[0.0; TURNS]; 2];
    }
    agree(cube, times.as_flattened_mut(), SystemOperation::max())?;
    let [round, both_ways] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[TURNS / 4]
    });
    Ok(of_times(round / (others + 1) as f64, both_ways / 2.0, others))
}

/// Given what a message takes to another host, and as many at once to so many others, or from these.
fn of_times(one: f64, at_once: f64, others: usize) -> Alone {
    let tau = if others > 1 { of_one_more(one, at_once, others).min(one) } else { one / 2.0 };
    Alone { tau, hop: one - tau }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_more_adds_is_its_start_up() {
        let found = |one, at_once, others| {
            let Alone { tau, hop } = of_times(one, at_once, others);
            [tau, hop].map(|time: f64| (time * 1e9).round() / 1e3)
        };
        assert_eq!(found(20e-6, 29e-6, 4), [3.0, 17.0]);
        assert_eq!(found(20e-6, 20e-6, 1), [10.0, 10.0]);
        // More than all that one takes it cannot be, and no message is free.
        assert_eq!(found(20e-6, 500e-6, 4), [20.0, 0.0]);
        assert_eq!(found(20e-6, 10e-6, 4), [0.2, 19.8]);
    }

    #[test]
    fn a_message_goes_round_and_several_go_and_come_back() {
        for ranks in [&[2, 2][..], &[4, 4, 4, 4], &[4, 3, 2, 1], &[1; 12], &[1, 5, 4]] {
            for in_turn in [false, true] {
                let hosts = Hosts::with_ranks(ranks, in_turn);
                let size = ranks.iter().sum();
                let [round, both_ways] = ways(hosts.as_ref(), size);
                let others = ranks.len().min(MOST + 1) - 1;
                assert_eq!((round.len(), both_ways.len()), (others + 1, 2), "{ranks:?}");
                let round = round.concat();
                assert!(round.windows(2).all(|pairs| pairs[0].1 == pairs[1].0), "{round:?}");
                let root = first_of(hosts.as_ref(), 0);
                assert!(round[0].0 == root && round[others].1 == root, "{round:?}");
                let [out, back] = [&both_ways[0], &both_ways[1]];
                assert!(out.iter().map(|&(_, to)| to).eq(round[..others].iter().map(|&(_, to)| to)), "{out:?}");
                assert!(out.iter().all(|&(from, _)| from == root), "{out:?}");
                assert!(back.iter().all(|&(_, to)| to == root) && back.len() == others, "{back:?}");
                assert!(back.iter().map(|&(from, _)| from).eq(out.iter().map(|&(_, to)| to)), "{back:?}");
                let host = |rank: usize| hosts.as_ref().map_or(rank, |hosts| hosts.host(hosts.place(rank)));
                assert!(round.iter().chain(out).all(|&(from, to)| host(from) != host(to)), "{ranks:?}");
            }
        }
    }
}
