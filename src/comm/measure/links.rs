//! How many ports of a host work at once, and whether hosts that are no neighbours on the cube are linked as well as those that are: one
//! rank of each host sends to one neighbour, to all of them at once, and to as many that are far away.

use super::{agree, first_of, message, ENOUGH, FIRST, LONGEST, PACKET};
use crate::address::Hosts;
use crate::algorithm::PortModel;
use crate::comm::Hypercube;
use crate::error::Result;
use crate::operation::SystemOperation;
use crate::raw::request;
use crate::select::{Links, Machine};
use std::time::Instant;

/// Times that each is measured, of which the least counts.
pub(super) const TRIES: usize = 3;
/// Start-ups and hops that a message takes, at least: of shorter ones, as on processors that others use too, it cannot be told what links
/// can do, and they stay what they are taken for.
const SEEN_FROM: f64 = 3.0;
/// As much longer messages to hosts far away may take, where these have links of their own. On a cube, where they share those of others,
/// they take twice as long or longer.
const LINKED: f64 = 1.5;

/// What that machine's links can do, by the least of so many times; all ranks of at least [`super::HOSTS`] hosts call this together, and find
/// the same.
pub(super) fn links(cube: &Hypercube, machine: &Machine, tries: usize) -> Result<Links> {
    let hosts = cube.hosts.as_ref();
    let bytes = ((ENOUGH / machine.t_c) as usize).clamp(FIRST, LONGEST);
    if bytes as f64 * machine.t_c < SEEN_FROM * (machine.tau + machine.hop) {
        return Ok(Links { ports: machine.ports, pairs_linked: machine.pairs_linked });
    }
    let n = hosts.map_or(cube.size, Hosts::len).ilog2();
    let all = (1 << n) - 1;
    let way = |mask| partners(cube.size, hosts, mask);
    let near = Vec::from_iter((0..n).map(|d| way(1 << d)));
    let far = Vec::from_iter((0..n).map(|d| way(if n > 2 { all ^ (1 << d) } else { all })));
    let mut times = [f64::INFINITY; 3];
    for _ in 0..tries {
        for (time, ways) in times.iter_mut().zip([&near[..1], &near, &far]) {
            *time = time.min(at_once(cube, ways, bytes)?);
        }
    }
    agree(cube, &mut times, SystemOperation::max())?;
    let [one, near, far] = times;
    let ports = (f64::from(n) * one / near).round() as u32;
    Ok(Links { ports: PortModel::nearest(ports, n), pairs_linked: far < LINKED * near })
}

/// For the first rank of every host of the largest whole cube of hosts that of the one whose number differs by this mask; for other ranks
/// themselves. Without hosts, every rank is on one of its own.
fn partners(size: usize, hosts: Option<&Hosts>, mask: usize) -> Vec<usize> {
    let of = |host: usize| first_of(hosts, host);
    let mut partners = Vec::from_iter(0..size);
    for host in 0..1 << hosts.map_or(size, Hosts::len).ilog2() {
        partners[of(host)] = of(host ^ mask);
    }
    partners
}

/// The seconds that so many bytes take along each of these ways, all at once, right after as many that used up what links let pass after
/// a pause.
fn at_once(cube: &Hypercube, ways: &[Vec<usize>], bytes: usize) -> Result<f64> {
    let send = vec![1u8; bytes];
    let mut receive = vec![vec![0u8; bytes]; ways.len()];
    let mut round = || {
        let start = Instant::now();
        request::scope(|scope| {
            let messages = ways
                .iter()
                .zip(&mut receive)
                .map(|(partners, receive)| message(cube, partners, PACKET).start(scope, &send, receive));
            // All have started before the first is waited for.
            let started = messages.collect::<Result<Vec<_>>>()?;
            started.into_iter().try_for_each(|message| message.wait().map(drop))
        })?;
        Ok(start.elapsed().as_secs_f64())
    };
    cube.barrier()?;
    round()?;
    round()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts beyond the largest whole cube, and all ranks of a host but the first, keep to themselves.
    #[test]
    fn the_first_ranks_of_hosts_have_partners() {
        assert_eq!(partners(7, None, 2), [2, 3, 0, 1, 4, 5, 6]);
        let hosts = Hosts::with_ranks(&[3, 1, 1, 1, 1], true);
        assert_eq!(partners(7, hosts.as_ref(), 3), [3, 2, 1, 0, 4, 5, 6]);
        let hosts = Hosts::with_ranks(&[3, 1, 1, 1, 1], false);
        assert_eq!(partners(7, hosts.as_ref(), 3), [5, 1, 2, 4, 3, 0, 6]);
    }
}
