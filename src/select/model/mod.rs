//! The cost model: what an algorithm's parameters should be on a machine, and how long it then takes.

mod case;
mod hosts;
mod latency;
mod over_links;
mod shared_memory;

pub(super) use latency::of as latency;
pub use over_links::IN_A_ROW;

use self::case::Case;
use super::{Machine, Options};
use crate::address::dimension_for;
use crate::algorithm::{Algorithm, Parameters, PortModel};
use crate::collective::Call;
use crate::executor::piped_below;

/// Packets that are considered on a network, in bytes, from and to.
const SHORTEST_PACKET: usize = 1 << 10;
const LARGEST_PACKET: usize = 1 << 18;

/// The same where a vector has fewer packets than ways, in bytes: shorter ones are hardly shorter than the headers of the frames that carry them.
const LEAST_PACKET: usize = 512;

/// A packet that is no longer is never too long, in bytes.
const GOOD_PACKET: usize = 4 << 10;

/// The parameters to consider: as asked for, or, what is left open, as the machine suggests.
pub(super) fn parameters(
    algorithm: &Algorithm,
    call: &Call,
    element: usize,
    options: &Options,
    machine: &Machine,
) -> Vec<Parameters> {
    let mut all = Vec::new();
    for (nth, ports) in port_models(algorithm, options, machine).into_iter().enumerate() {
        let symmetrized =
            options.symmetrized.unwrap_or(algorithm.symmetrizes && ports == PortModel::AllPorts && !call.ordered);
        let asked = Parameters {
            packet: options.packet.filter(|packet| *packet != Options::WHOLE),
            ports,
            symmetrized,
            order: options.order,
            variant: options.variant.unwrap_or_default(),
            latency: options.latency.unwrap_or_else(|| latency::of(algorithm, call, element, machine)),
        };
        all.push(asked);
        // Where all ports work at once, packets are for them.
        let whole = machine.ports == PortModel::AllPorts && nth > 0;
        if options.packet.is_none() && call.count > 0 && !whole {
            let packet = packet(algorithm, call, element, &asked, machine);
            all.extend(packet.map(|packet| Parameters { packet: Some(packet), ..asked }));
        }
    }
    all
}

/// The port models to consider, the better ones for packets first.
fn port_models(algorithm: &Algorithm, options: &Options, machine: &Machine) -> Vec<PortModel> {
    let made_for = |ports: &PortModel| algorithm.ports.contains(ports);
    match (options.ports, options.symmetrized) {
        (Some(ports), _) => vec![ports],
        (None, Some(true)) => vec![PortModel::AllPorts],
        // Short messages are sooner there if a node starts but one in a round.
        (None, None | Some(false))
            if machine.ports == PortModel::AllPorts && [machine.ports, PortModel::OnePort].iter().all(made_for) =>
        {
            vec![machine.ports, PortModel::OnePort]
        }
        _ if made_for(&machine.ports) => vec![machine.ports],
        // Made for other machines: run all the same, as narrow as it can be, if asked for, or where ports are but memory.
        _ if options.algorithm.is_some() || machine.shared.is_some() => {
            algorithm.ports.iter().copied().min().into_iter().collect()
        }
        _ => vec![PortModel::OnePort],
    }
}

/// The packet size in elements that suggests itself, if packets are of any use.
fn packet(algorithm: &Algorithm, call: &Call, element: usize, asked: &Parameters, machine: &Machine) -> Option<usize> {
    let space = call.space().len().max(1);
    if let Some(shared) = machine.shared {
        if algorithm.cuts(asked.ports) {
            return None;
        }
        let tau = machine.tau + shared_memory::awaited(shared_memory::turn(call, shared), machine);
        let best = (algorithm.best_packet)(&algorithm.shape(call, asked), tau, machine.t_c * element as f64);
        let best = (best.round() as usize).max(1);
        let most = piped_below(machine.single_copy_from) - 1;
        return (best < space).then(|| best.min(most / element.max(1)).max(1));
    }
    // The papers' best packet is for start-ups that add to transfers. On a network both go on at the same time, so that shorter
    // packets are better: the best one of a few sizes.
    let limit = machine.packet_limit.map_or(LARGEST_PACKET, |limit| (limit - limit / 16).min(LARGEST_PACKET));
    // On one port, packets shorter than those that cost little besides their bytes gain nothing.
    let one_port = machine.ports != PortModel::AllPorts;
    // Where hosts with several ranks have all ports at work, what a link does not let pass at once waits longer than is predicted: of 1 MiB
    // on a cube of 8 hosts of 2 ranks, a broadcast in packets of 4 to 12 KiB took 60 ms, of 16 KiB, where 14 KiB pass at once, 63, and of
    // 32 KiB 71.
    let several = call.hosts.is_some() && !one_port;
    let at_once = Some(machine.burst.max(GOOD_PACKET)).filter(|_| several && machine.burst > 0);
    let shortest = machine.packet.filter(|packet| one_port && (SHORTEST_PACKET..limit).contains(packet));
    let shortest = shortest.unwrap_or(SHORTEST_PACKET);
    let sizes = (shortest.ilog2()..)
        .map(|shift| 1usize << shift)
        .take_while(|bytes| *bytes < limit)
        .chain([limit])
        .filter(|bytes| at_once.is_none_or(|burst| *bytes <= burst));
    // Of a vector that is shorter than a packet on every way of the cube, so that all ways are used.
    let ways = dimension_for(call.host_count()).max(1) as usize;
    // (Where hosts have several ranks, messages cost more than is predicted: of 1 KiB on 4 hosts of 4, in packets of 512 bytes, a reduction took
    // 442 us, whole 321.)
    let least = if call.hosts.is_some() { SHORTEST_PACKET } else { LEAST_PACKET };
    let each = Some(space.div_ceil(ways)).filter(|each| (least..shortest.min(GOOD_PACKET)).contains(&(each * element)));
    let sizes = sizes.map(|bytes| (bytes / element.max(1)).clamp(1, space));
    let timed = sizes.chain(each).map(|packet| {
        let parameters = Parameters { packet: Some(packet), ..*asked };
        (packet, predict(algorithm, call, element, &parameters, machine))
    });
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(packet, _)| packet)
}

/// The time for the next larger whole cube, in seconds.
pub fn predict(algorithm: &Algorithm, call: &Call, element: usize, parameters: &Parameters, machine: &Machine) -> f64 {
    if let Some(shared) = machine.shared {
        return shared_memory::time(algorithm, call, element, parameters, machine, shared);
    }
    let case = Case::new(algorithm, call, element, parameters);
    // Whatever the call, ranks wait for each other between calls.
    let meeting = machine.tau + machine.hop;
    let one_way = over_links::goes_one_way(&case, machine).then(|| latency::one_way(machine, || case.exchanges()));
    let machine = one_way.as_ref().unwrap_or(machine);
    match call.hosts {
        Some(_) => hosts::time(&case, machine, meeting),
        None => over_links::time(&case, machine, meeting),
    }
}
