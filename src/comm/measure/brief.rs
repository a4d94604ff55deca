//! What a choice over links can be far off without, as soon as it can be told: for calls of which nobody knows whether there will be more.

use super::{links, Ring, Senders, FIRST};
use crate::comm::Hypercube;
use crate::error::Result;
use crate::select::{Lacks, Measurement};

/// Others to which a rank sends: about as many as in a first call, as each takes a connection.
const OTHERS: usize = 3;

/// Measures of what is lacking at first the times of messages between hosts, and what links can do; `later` is what is left to measure if
/// there are more calls. All ranks call this together, and find the same.
pub(crate) fn brief(cube: &Hypercube, lacks: Lacks, later: Lacks) -> Result<Measurement> {
    let times = match lacks.times {
        true => {
            let ring = Ring { tries: 1, longest: FIRST, ..Ring::between_hosts(cube) };
            let leaders = Senders::leaders(cube.hosts.as_ref(), cube.size);
            Some(ring.times(leaders.start_up(cube, OTHERS)?)?)
        }
        false => None,
    };
    let found = Measurement { times, ..Measurement::default() };
    let links = match lacks.links {
        true => {
            let tries = if later.times { 1 } else { links::TRIES };
            Some(links::links(cube, &cube.machine.clone().with(&found), tries)?)
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
