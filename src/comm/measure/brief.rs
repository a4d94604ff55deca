//! What a choice over links can be far off without, as soon as it can be told: for calls of which nobody knows whether there will be more.

use super::{links, next_host, Ring, Senders, FIRST};
use crate::comm::Hypercube;
use crate::error::Result;
use crate::select::{Lacks, Measurement};

/// Others to which a rank sends: about as many as in a first call, as each takes a connection.
const OTHERS: usize = 3;

/// Measures of what is lacking the times of messages between hosts, and what links can do. All ranks call this together, and find the same.
pub(crate) fn brief(cube: &Hypercube, lacks: Lacks) -> Result<Measurement> {
    let hosts = cube.hosts.as_ref();
    let times = match lacks.times {
        true => {
            let ring = Ring::of(cube, |rank| hosts.map_or((rank + 1) % cube.size, |hosts| next_host(hosts, rank)));
            let ring = Ring { tries: 1, longest: FIRST, ..ring };
            Some(ring.times(Senders::leaders(hosts, cube.size).start_up(cube, OTHERS)?)?)
        }
        false => None,
    };
    let found = Measurement { times, ..Measurement::default() };
    let links = match lacks.links {
        // Where all else is known they are not measured again.
        true => {
            Some(links::links(cube, &cube.machine.clone().with(&found), if lacks.times { 1 } else { links::TRIES })?)
        }
        false => None,
    };
    Ok(Measurement { links, ..found })
}

/// Seconds that take about as long as to measure all: start-ups and pauses, and the bytes of long messages.
pub(crate) fn seconds_of_all(cube: &Hypercube) -> f64 {
    match cube.machine.shared {
        Some(shared) => 3e-3 * cube.size.div_ceil(shared.cores) as f64,
        None => 0.05 + 2.5e6 * cube.machine.t_c,
    }
}
