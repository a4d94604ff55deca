//! The time where hosts have several ranks: the ranks of a host share its ports, and reach each other through its memory.

use super::super::{Machine, Times, Together};
use super::case::Case;
use super::{latency, over_links};
use crate::address::{dimension_for, nodes_a_rank};
use crate::algorithm::{Algorithm, Formula, Parameters, PortModel, Shape};
use crate::collective::{Blocks, Collective};

/// Copies of what goes through a host: into its memory, and out of it to each of its ranks.
const COPIES: f64 = 2.0;

/// Where all ports work at once, a message to another host waits behind those of so many of the other ranks of its host, which go the same
/// way at the same time: as SimGrid has it, for broadcasts on 4 and on 64 hosts of 16 ranks. (Reductions and exchanges wait less.)
const BEHIND: f64 = 1.0 / 3.0;

/// What goes between hosts of all that an algorithm does.
struct Far {
    /// Elements that go into or out of the busiest host.
    crossing: f64,
    /// Of the rounds and messages, the part between hosts.
    part: f64,
    /// Messages between hosts that wait for one another.
    hops: f64,
}

/// Of the dimensions of the cube, the part that leads to other hosts.
fn upper(shape: &Shape) -> f64 {
    f64::from(dimension_for(shape.hosts)) / f64::from(shape.n.max(1))
}

/// Whether all ranks have as much to send.
fn all_send(formula: &Formula, shape: &Shape) -> bool {
    formula.moved >= shape.size as f64 * formula.elements
}

/// As the row says, or, if it does not: along the edges of a cube the upper dimensions lead to other hosts; elsewhere all ranks but those
/// of the own host are on others.
fn far(algorithm: &Algorithm, formula: &Formula, shape: &Shape, ports: f64) -> Far {
    let (size, most) = (shape.size as f64, shape.on_host.0 as f64);
    if let Some(crossing) = algorithm.crossing {
        let crossing = crossing(shape);
        let others = (shape.hosts - 1) as f64;
        if let Some(far) = algorithm.far {
            let (messages, hops) = far(shape);
            let part = messages as f64 / formula.rounds.max(1) as f64;
            return Far { crossing, part, hops: hops as f64 };
        }
        if algorithm.cube_edges {
            let part = upper(shape);
            return Far { crossing, part, hops: part * formula.hops as f64 };
        }
        // Of a host all ranks have as much to do with others, or, where data comes from one rank or goes to it, one of them.
        let busy = if algorithm.collective.meaning().root { 1.0 } else { most };
        let part = match algorithm.paths {
            0 => (crossing / (busy * formula.elements).max(1.0)).min(1.0),
            _ => others / (size - 1.0).max(1.0),
        };
        let passes = algorithm.collective.meaning().passes.max(1) as f64;
        return Far { crossing, part, hops: (passes * others).min(formula.hops as f64) };
    }
    let part = match algorithm.cube_edges {
        true => upper(shape),
        false => (size - most) / (size - 1.0).max(1.0),
    };
    // What comes to a host's ranks; or what leaves the busiest rank, and, if all are as busy, all of its host. Ranks that play two nodes
    // of the cube are neighbours, on one host.
    let nodes = nodes_a_rank(shape.size, algorithm.cube_edges) as f64;
    let come = most * formula.moved / size;
    let leave = if all_send(formula, shape) { most } else { 1.0 } * formula.elements;
    // Whatever the way, the blocks of all other hosts enter one, or leave it. Where all ports of the root work at once, the busiest of
    // them decides, and what leaves it over the others within its host goes on over links of that same host: counted in the schedules
    // of scatters on 8 hosts of 2 ranks, the busiest link carries .93 to 1.13 times as much, of the SBT .75.
    let meaning = algorithm.collective.meaning();
    let least = match meaning.gathers && meaning.blocks == Blocks::Ranks {
        true if meaning.root && ports > 1.0 => {
            ((size - most) * shape.count as f64).max(f64::from(shape.n) * formula.load)
        }
        true => (size - most) * shape.count as f64,
        false => 0.0,
    };
    Far { crossing: (nodes * part * come.max(leave)).max(least), part, hops: part * formula.hops as f64 }
}

/// Over how many links of a host what crosses goes, if not with all ports at once, in turn and at the same time: along the edges of a cube in
/// turn over each dimension's, and directly from a root to hosts that are not all linked to its own at the same time over two, as half goes
/// over the link of the lowest dimension.
fn links(algorithm: &Algorithm, shape: &Shape, parameters: &Parameters, machine: &Machine) -> (f64, f64) {
    let hosts = shape.hosts as f64;
    match (machine.ports, parameters.ports) {
        (PortModel::OneWay | PortModel::OnePort, _) | (_, PortModel::AllPorts) => (1.0, 1.0),
        _ if algorithm.cube_edges => (f64::from(dimension_for(shape.hosts).max(1)), 1.0),
        _ if !machine.pairs_linked && algorithm.collective.meaning().root => (1.0, 2.0 - 2.0 / hosts),
        _ => (1.0, 1.0),
    }
}

/// The time of a call on hosts with several ranks.
///
/// `meeting`: what a round takes in which all hosts wait for each other.
pub fn time(case: &Case, machine: &Machine, meeting: f64) -> f64 {
    let Case { algorithm, call, parameters, shape, formula, .. } = case;
    let bytes = case.bytes();
    let ports = match parameters.ports {
        PortModel::AllPorts if algorithm.cube_edges => f64::from(dimension_for(shape.hosts).max(1)),
        _ => 1.0,
    };
    let Far { crossing, part, hops } = far(algorithm, formula, shape, ports);
    let transfers = machine.t_c * bytes;
    // Where the algorithm makes rounds of packets and its row says what crosses.
    let in_packets = algorithm.crossing.is_some() && ports > 1.0 && !algorithm.cuts(parameters.ports);
    // Fewer packets than there are ports leave some of them idle.
    let (in_turn, apart) = links(algorithm, shape, parameters, machine);
    let link = (crossing / ports.max(apart)).max(if in_packets { shape.packet() as f64 } else { 0.0 });
    // What a link lets pass at once, as far as it has recovered between calls, while all hosts wait for each other once.
    let recovered = f64::from(dimension_for(shape.hosts)) * meeting / transfers;
    let at_rate = (link - in_turn * recovered.min(machine.burst as f64 / bytes)).max(0.0);
    // Besides transfers and hops: start-ups, and what packets cost, as if every rank had a host of its own.
    let all = formula.hops as f64;
    // Where one rank of a host sends for all, it does so while they wait.
    let together = algorithm.all_lead || algorithm.far.is_none() && all_send(formula, shape);
    let Together { tau, hop } = if together { machine.together } else { Together::default() };
    let tau = tau.unwrap_or(machine.tau);
    let steady = Machine { tau, burst: 0, wiring: None, ..machine.clone() };
    let separate = over_links::time(case, &steady, meeting);
    let besides = (separate - formula.elements * transfers - all * machine.hop).max(0.0);
    let near = machine.near.unwrap_or(Times::NEAR);
    // What leaders send to other leaders none of their ranks copies.
    let through = if algorithm.has_leaders() { (formula.elements - link).max(0.0) } else { formula.elements };
    let near = (all - hops).max(0.0) * near.hop
        + (1.0 - part) * formula.rounds as f64 * near.tau
        + COPIES * through * bytes * near.t_c;
    // Where the vector leaves no host more than once, its ranks do not send others the same.
    let alike = crossing > shape.count as f64;
    let behind = match parameters.ports {
        PortModel::AllPorts if call.collective == Collective::Broadcast && alike => {
            BEHIND * (shape.on_host.0 - 1) as f64
        }
        _ => 0.0,
    };
    let waits = behind * hops * formula.elements / formula.rounds.max(1) as f64;
    // Links stand still while the first packets are on their way, as far as they do not let pass at once what waits.
    let still = if in_packets {
        let at_once = (machine.burst as f64 / bytes).min(shape.packet() as f64);
        ((formula.elements / formula.load.max(1.0) - 1.0) * link - hops * at_once).max(0.0)
    } else {
        0.0
    };
    let hop = hop.unwrap_or(machine.hop);
    (at_rate + still + waits) * transfers + part * besides + latency::of_hops(hops, hop, case, machine) + near
}

#[cfg(test)]
mod tests {
    use super::super::super::{choose, Options};
    use super::*;
    use crate::address::Hosts;
    use crate::algorithm::registry;
    use crate::collective::Call;

    /// Of the rounds of a broadcast that goes through one rank of each host, those between hosts: 7 packets to 6 hosts, 9 of 18 rounds
    /// on 2 ranks each, of 20 on 4.
    #[test]
    fn rounds_between_hosts_are_their_part() -> crate::Result<()> {
        let algorithm = registry::find(Collective::Broadcast, "circulant")?;
        for (ranks, rounds) in [(2, 18), (4, 20)] {
            let hosts = Hosts::with_ranks(&[ranks; 6], false);
            let call = Call { hosts, ..Call::new(Collective::Broadcast, 6 * ranks, 70) };
            let parameters = Parameters { packet: Some(10), ..Parameters::new(PortModel::OnePort) };
            let shape = algorithm.shape(&call, &parameters);
            let formula = (algorithm.formula)(&shape);
            let part = far(algorithm, &formula, &shape, 1.0).part;
            assert_eq!((formula.rounds, part * formula.rounds as f64), (rounds, 9.0));
        }
        Ok(())
    }

    /// 4 hosts of 4 ranks on two cores, links of 50 Mbit/s, as measured.
    fn emulated(together: Together, burst: usize) -> Machine {
        let near = Some(Times { tau: 2.1e-6, hop: 2e-5, t_c: 8.3e-10 });
        Machine { tau: 5e-5, hop: 1e-4, together, t_c: 1.69e-7, burst, near, ..Machine::network() }
    }

    fn call(collective: Collective, count: usize) -> Call {
        Call { hosts: Hosts::with_ranks(&[4; 4], false), ..Call::new(collective, 16, count) }
    }

    #[test]
    fn one_rank_of_a_host_speaks_for_all_where_all_together_take_longer() -> crate::Result<()> {
        for collective in [Collective::AllGather, Collective::ReduceScatter] {
            let chosen = |together| {
                choose(&call(collective, 1), 8, &Options::default(), &emulated(together, 0))
                    .map(|choice| choice.algorithm.far.is_some())
            };
            let (none, hop) = (Together::default(), Together { tau: None, hop: Some(2e-4) });
            let tau = Together { tau: Some(1.5e-4), hop: None };
            assert_eq!((chosen(none)?, chosen(hop)?, chosen(tau)?), (false, true, true), "{collective}");
        }
        Ok(())
    }

    #[test]
    fn leaders_are_chosen_where_there_are_hosts_to_lead() -> crate::Result<()> {
        let chosen = |call: &Call, machine: &Machine| {
            choose(call, 8, &Options::default(), machine).map(|choice| choice.algorithm.name)
        };
        let hosts = call(Collective::AllReduce, 1);
        assert_eq!(chosen(&hosts, &emulated(Together::default(), 0))?, "leaders");
        for (size, machine) in
            [2, 4, 16].into_iter().flat_map(|size| [(size, Machine::network()), (size, Machine::shared_memory(2))])
        {
            let alone = Call::new(Collective::AllReduce, size, 1);
            assert_ne!(chosen(&alone, &machine)?, "leaders", "{size}");
            let named = Options { algorithm: Some("leaders".into()), ..Options::default() };
            assert_eq!(choose(&alone, 8, &named, &machine)?.algorithm.name, "leaders");
        }
        Ok(())
    }

    /// On a star of 6 hosts of 2 ranks an all-reduce of 4 KiB took 1211 us by `lanes`, an all-gather of 512 B 839; by `shift` 1259 and 904.
    #[test]
    fn lanes_are_chosen_where_hosts_and_ranks_are_no_cube() -> crate::Result<()> {
        let together = Together { tau: None, hop: Some(2e-4) };
        for (collective, count) in
            [(Collective::AllReduce, 512), (Collective::AllGather, 64), (Collective::ReduceScatter, 64)]
        {
            let lanes = registry::find(collective, "lanes")?;
            let call = |ranks: &[usize]| {
                let hosts = Hosts::with_ranks(ranks, false);
                Call { hosts, ..Call::new(collective, ranks.iter().sum(), count) }
            };
            for ranks in [&[2; 6][..], &[7; 9]] {
                let choice = choose(&call(ranks), 8, &Options::default(), &emulated(together, 0))?;
                assert_eq!(choice.algorithm.name, "lanes", "{collective} on {ranks:?}");
            }
            assert!(lanes.not_chosen(&call(&[4; 4])).is_some(), "{collective}");
            // With one rank a host, the others are `bruck`.
            assert_eq!(lanes.not_chosen(&call(&[1; 5])).is_none(), collective == Collective::AllReduce);
            assert!(lanes.not_chosen(&call(&[1; 33])).is_some(), "{collective}");
        }
        Ok(())
    }

    /// Three messages of 64 elements, and as much less of long ones as a link has recovered meanwhile.
    #[test]
    fn what_a_link_lets_pass_at_once_takes_no_time() -> crate::Result<()> {
        let algorithm = registry::find(Collective::Broadcast, "two_level")?;
        let parameters = Parameters::new(PortModel::OnePort);
        for (count, bytes) in [(64, 3.0 * 512.0), (1 << 14, 2.0 * 1.5e-4 / 1.69e-7)] {
            let predicted = |burst| {
                let machine = emulated(Together::default(), burst);
                let meeting = machine.tau + machine.hop;
                let call = call(Collective::Broadcast, count);
                time(&Case::new(algorithm, &call, 8, &parameters), &machine, meeting)
            };
            let saved = predicted(0) - predicted(16 << 10);
            assert!((saved / (bytes * 1.69e-7) - 1.0).abs() < 1e-6, "{count}: {saved}");
        }
        Ok(())
    }

    /// A vector that is one packet goes through one tree, from host to host as a whole, however many ports there are.
    #[test]
    fn one_packet_keeps_one_port_busy() -> crate::Result<()> {
        let algorithm = registry::find(Collective::Broadcast, "msbt")?;
        let machine = Machine { ports: PortModel::AllPorts, ..emulated(Together::default(), 0) };
        let predicted = |packet| {
            let parameters = Parameters { packet, ..Parameters::new(PortModel::AllPorts) };
            let call = call(Collective::Broadcast, 1 << 12);
            time(&Case::new(algorithm, &call, 8, &parameters), &machine, machine.tau + machine.hop)
        };
        let vector = f64::from(8 << 12) * machine.t_c;
        assert!(predicted(None) > 4.0 * vector, "{}", predicted(None));
        // In packets half of it goes over each of two ports.
        assert!(predicted(Some(1 << 7)) < vector, "{}", predicted(Some(1 << 7)));
        Ok(())
    }
}
