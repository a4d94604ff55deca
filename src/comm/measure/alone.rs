//! What messages between hosts take where no rank sends and receives at once, as in trees and between a root and the others. One goes from
//! host to host; several leave one host, or come to it, from which follows what each of them adds.

use super::several::Messages;
use super::{first_of, of_one_more, TURNS};
use crate::address::Hosts;
use crate::comm::Hypercube;
use crate::error::Result;
use crate::operation::SystemOperation;
use crate::select::Alone;

/// Hosts beside the first one that take part at most: each takes a connection.
const MOST: usize = 8;

/// A rank that sends, and one that receives.
type Pair = (usize, usize);

/// From the first host to the second, from that to the third and so on, one after the other; all at once from the first one, and to it.
fn ways(hosts: Option<&Hosts>, size: usize) -> [Vec<Vec<Pair>>; 3] {
    let first = |host: usize| first_of(hosts, host);
    let others = 1..=MOST.min(hosts.map_or(size, Hosts::len) - 1);
    [
        others.clone().map(|host| vec![(first(host - 1), first(host))]).collect(),
        vec![others.clone().map(|host| (first(0), first(host))).collect()],
        vec![others.map(|host| (first(host), first(0))).collect()],
    ]
}

/// Measures it; all ranks, on at least two hosts, call this together, and find the same.
pub(super) fn alone(cube: &Hypercube) -> Result<Alone> {
    let ways = ways(cube.hosts.as_ref(), cube.size);
    let others = ways[0].len();
    let of_this_rank = |pairs: &Vec<Pair>| {
        let to = Vec::from_iter(pairs.iter().filter(|(from, _)| *from == cube.rank).map(|&(_, to)| to));
        let from = Vec::from_iter(pairs.iter().filter(|(_, to)| *to == cube.rank).map(|&(from, _)| from));
        Messages::of(cube, &to, &from)
    };
    let ways = ways.map(|way| Vec::from_iter(way.iter().map(of_this_rank)));
    for way in &ways {
        // The first messages between two ranks open their connection.
        Messages::send(cube, way, 1)?;
    }
    // In turns, as what disturbs a machine lasts.
    let mut times = [[0.0; TURNS]; 3];
    for turn in 0..TURNS {
        for (times, way) in times.iter_mut().zip(&ways) {
            times[turn] = Messages::send(cube, way, 1)?;
        }
    }
    // It takes until the last of all has its message.
    cube.all_reduce_in_place(times.as_flattened_mut(), SystemOperation::max())?;
    let [path, out, back] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[TURNS / 4]
    });
    Ok(of_times(path, (out + back) / 2.0, others))
}

/// Given what a message takes to go from host to host to so many others, and as many that leave one, or come to it. (How much sooner than others
/// a rank leaves the barrier before counts as well, but once, however many follow.)
fn of_times(path: f64, at_once: f64, others: usize) -> Alone {
    let one = path / others as f64;
    let tau = if others > 1 { of_one_more(one, at_once, others).min(one) } else { one / 2.0 };
    Alone { tau, hop: one - tau }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_more_adds_is_its_start_up() {
        let found = |path, at_once, others| {
            let Alone { tau, hop } = of_times(path, at_once, others);
            [tau, hop].map(|time: f64| (time * 1e9).round() / 1e3)
        };
        assert_eq!(found(80e-6, 29e-6, 4), [3.0, 17.0]);
        assert_eq!(found(20e-6, 20e-6, 1), [10.0, 10.0]);
        // More than all that one takes it cannot be, and no message is free.
        assert_eq!(found(80e-6, 500e-6, 4), [20.0, 0.0]);
        assert_eq!(found(80e-6, 10e-6, 4), [0.2, 19.8]);
    }

    #[test]
    fn a_message_goes_on_where_it_has_come_and_several_have_one_end() {
        for ranks in [&[2, 2][..], &[4, 4, 4, 4], &[4, 3, 2, 1], &[1; 12], &[1, 5, 4]] {
            for in_turn in [false, true] {
                let hosts = Hosts::with_ranks(ranks, in_turn);
                let size = ranks.iter().sum();
                let [path, out, back] = ways(hosts.as_ref(), size);
                let others = ranks.len().min(MOST + 1) - 1;
                assert_eq!([path.len(), out.len(), back.len()], [others, 1, 1], "{ranks:?}");
                let path = path.concat();
                assert!(path.windows(2).all(|pairs| pairs[0].1 == pairs[1].0), "{path:?}");
                let [out, back] = [out.concat(), back.concat()];
                let root = path[0].0;
                assert!(out.iter().map(|&(_, to)| to).eq(path.iter().map(|&(_, to)| to)), "{out:?}");
                assert!(out.iter().all(|&(from, _)| from == root) && back.iter().all(|&(_, to)| to == root));
                assert!(back.iter().map(|&(from, _)| from).eq(out.iter().map(|&(_, to)| to)), "{back:?}");
                let host = |rank: usize| hosts.as_ref().map_or(rank, |hosts| hosts.host(hosts.place(rank)));
                assert!(path.iter().chain(&out).all(|&(from, to)| host(from) != host(to)), "{ranks:?}");
            }
        }
    }
}
