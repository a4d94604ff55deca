//! The start-up of messages over links: every rank sends one to each of several ranks of other hosts. Those of a train to one and the same
//! rank are taken from the network together, and take less than in any call.

use super::{ROUNDS, SHORT, TURNS};
use crate::address::Hosts;
use crate::algorithm::{registry, Parameters, PortModel};
use crate::collective::{Call, Collective, Layout};
use crate::comm::Hypercube;
use crate::error::Result;
use crate::operation::SystemOperation;
use crate::select::Options;
use std::time::Instant;

/// Ranks of other hosts to each of which a rank sends, at most: each takes a connection.
const MOST: usize = 8;

/// The seconds that one message takes while all ranks send one, and the start-up of one more. `None` where a rank has no two ranks to send
/// to, so that all get as many and none is on its host.
pub(super) fn start_up(cube: &Hypercube) -> Result<Option<(f64, f64)>> {
    let first = cube.hosts.as_ref().map_or(1, |hosts| hosts.most_and_fewest().0);
    let others = (cube.size + 1).saturating_sub(2 * first).min(MOST);
    if others < 2 {
        return Ok(None);
    }
    let (one, all) = (messages(cube, first, 1)?, messages(cube, first, others)?);
    // No message is free; what is less than the noise is taken for a small part.
    Ok(Some((one, ((all - one) / (others - 1) as f64).max(one / 100.0))))
}

/// The seconds in which every rank sends a short message to so many ranks after it, from the `first` on, host by host; in the mean.
fn messages(cube: &Hypercube, first: usize, others: usize) -> Result<f64> {
    let hosts = cube.hosts.as_ref();
    let place = hosts.map_or(cube.rank, |hosts| hosts.place(cube.rank));
    let (mut sends, mut receives) = (vec![0; cube.size], vec![0; cube.size]);
    for k in first..first + others {
        sends[rank(hosts, (place + k) % cube.size)] = SHORT;
        receives[rank(hosts, (place + cube.size - k) % cube.size)] = SHORT;
    }
    let call = Call::new(Collective::AllToAll, cube.size, SHORT);
    let call = call.with_layout(Layout::of_row(cube.rank, &sends, &receives));
    // All that the environment could ask for is said, as what is measured is this.
    let algorithm = registry::find(Collective::AllToAll, "shift")?;
    let parameters = Parameters::new(PortModel::OnePort);
    let options = Options::exactly(algorithm, &parameters);
    let (send, mut receive) = (vec![1u8; others * SHORT], vec![0u8; others * SHORT]);
    let mut send = |rounds: usize| -> Result<f64> {
        cube.barrier()?;
        let start = Instant::now();
        for _ in 0..rounds {
            cube.collective(call.clone()).options(&options).run(&send[..], &mut receive[..])?;
        }
        Ok(start.elapsed().as_secs_f64() / rounds as f64)
    };
    // The first messages between two ranks open their connection.
    send(1)?;
    let mut times = [0.0; TURNS];
    for time in &mut times {
        *time = send(ROUNDS)?;
    }
    times.sort_by(f64::total_cmp);
    let mut sum = times[TURNS / 4];
    cube.all_reduce_in_place(&mut sum, SystemOperation::sum())?;
    Ok(sum / cube.size as f64)
}

fn rank(hosts: Option<&Hosts>, place: usize) -> usize {
    hosts.map_or(place, |hosts| hosts.rank(place))
}
