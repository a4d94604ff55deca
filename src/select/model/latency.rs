//! Trees that are made for a latency.

use super::super::{Machine, OfLinks, Times};
use super::predict;
use crate::address::{dimension_for, Hosts};
use crate::algorithm::{Algorithm, Formula, Latency, OnTorus, Parameters, PortModel};
use crate::collective::Call;

/// For how much latency a tree is made: what a rank can start until another one has its message, between hosts and within one. A message
/// that passes a port at its rate keeps it busy as well: only what a link does not let pass at once, or, where the root of that tree would
/// send more than its port has recovered since the last call, all of it. Of both the one that is predicted to take less.
pub fn of(algorithm: &Algorithm, call: &Call, element: usize, machine: &Machine) -> Latency {
    if algorithm.way.is_none() {
        return Latency::default();
    }
    let [at_once, at_rate] = [machine.burst, 0].map(|burst| with(call, element, machine, burst));
    if at_once == at_rate {
        return at_once;
    }
    let time = |latency| {
        let parameters = Parameters { latency, ..Parameters::new(PortModel::OnePort) };
        predict(algorithm, call, element, &parameters, machine)
    };
    if time(at_once) <= time(at_rate) {
        at_once
    } else {
        at_rate
    }
}

/// For a link that lets so many bytes pass at once.
fn with(call: &Call, element: usize, machine: &Machine, burst: usize) -> Latency {
    let machine = one_way(machine);
    let bytes = call.count as f64 * element as f64;
    let lambda = |Times { tau, hop, t_c }: Times, bytes: f64| {
        let starts = 1.0 + hop / (tau + t_c * bytes).max(f64::MIN_POSITIVE);
        (starts.round() as usize).clamp(1, Latency::MOST)
    };
    let torus = machine.torus.filter(|links| serves(links, call));
    let hosts = call.hosts.as_ref().map_or(call.size, Hosts::len);
    let hop = torus.map_or(machine.hop + farther(hosts, &machine), |links| without_links(machine.hop, links));
    let Machine { tau, t_c, near, shared, .. } = machine;
    let far = Times { tau, hop, t_c };
    let near = if shared.is_some() { far } else { near.unwrap_or(Times::NEAR) };
    let held = (bytes - burst as f64).max(0.0);
    let torus = torus.map(|OfLinks { torus, link }| {
        let starts = link / (tau + t_c * held).max(f64::MIN_POSITIVE);
        OnTorus { torus, link: (starts.round() as usize).min(Latency::MOST) }
    });
    Latency { far: lambda(far, held), near: lambda(near, bytes), torus }
}

/// Whether a call's hosts are the torus: as many, in the order of their ranks, and so with as many ranks each.
fn serves(links: &OfLinks, call: &Call) -> bool {
    let hosts = call.hosts.as_ref();
    let alike = hosts.is_none_or(|hosts| hosts.most_and_fewest().0 == hosts.most_and_fewest().1);
    alike && links.torus.hosts() == hosts.map_or(call.size, Hosts::len)
}

/// A hop between neighbours that have no link between them.
fn without_links(hop: f64, OfLinks { torus, link }: OfLinks) -> f64 {
    (hop - torus.links() * link).max(0.0)
}

/// What a message between hosts takes longer in the mean where not all are linked: one goes over (n + 1)/2 links.
fn farther(hosts: usize, machine: &Machine) -> f64 {
    match machine.link.filter(|_| !machine.pairs_linked) {
        Some(link) => link * f64::from(dimension_for(hosts).max(1) - 1) / 2.0,
        None => 0.0,
    }
}

/// The seconds of so many hops between hosts, each of which takes that long in the mean. On a torus by the links: those that the formula
/// says, or, where all ranks exchange messages along the edges of the cube and sides are powers of two, those between hosts whose
/// numbers differ in one bit. (Packets wait for each other on the links that they share, which is not predicted, and in trees from a root
/// other algorithms, of which no links are known, go to near hosts as well: these stay what hops are in the mean.)
pub fn of_hops(
    hops: f64,
    hop: f64,
    algorithm: &Algorithm,
    parameters: &Parameters,
    formula: &Formula,
    hosts: usize,
    machine: &Machine,
) -> f64 {
    let hop = if algorithm.cube_edges { hop } else { hop + farther(hosts, machine) };
    let halved = |links: &OfLinks| links.torus.sides().iter().all(|side| side.is_power_of_two());
    let exchange = parameters.packet.is_none() && algorithm.cube_edges && !algorithm.collective.has_root();
    let counts = |links: &OfLinks| formula.links > 0 || exchange && halved(links);
    let Some(links) = machine.torus.filter(counts) else {
        return hops * hop;
    };
    let over = match formula.links {
        0 => {
            let bits = links.torus.hosts().ilog2().max(1);
            hops * links.torus.links_by_bit().sum::<usize>() as f64 / f64::from(bits)
        }
        over => over as f64,
    };
    hops * without_links(hop, links) + over * links.link
}

/// The machine for ranks that only send, or only receive. Start-ups are measured in exchanges: half of one is that of the rank that sends,
/// and the other half comes when the message is there.
pub fn one_way(machine: &Machine) -> Machine {
    let half = |Times { tau, hop, t_c }: Times| Times { tau: tau / 2.0, hop: hop + tau / 2.0, t_c };
    let Times { tau, hop, t_c } = half(Times { tau: machine.tau, hop: machine.hop, t_c: machine.t_c });
    let near = Some(half(machine.near.unwrap_or(Times::NEAR)));
    Machine { tau, hop, t_c, near, ..machine.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::super::{choose, Options};
    use super::*;
    use crate::address::Torus;
    use crate::collective::Collective;

    /// Hosts of one rank or of two; a hop of 1 us and what the links take in the mean.
    fn machine(sides: &str, link: f64) -> Machine {
        let torus: Torus = sides.parse().expect("a torus");
        let hop = 1e-6 + link * torus.links();
        Machine { tau: 2e-6, hop, torus: Some(OfLinks { torus, link }), ..Machine::network() }
    }

    #[test]
    fn short_messages_take_trees_for_the_torus() -> crate::Result<()> {
        for (sides, ranks) in [("8x4x4", 1), ("8x4x4", 2), ("10x10", 1), ("6x5", 4)] {
            let machine = machine(sides, 1e-6);
            let hosts = machine.torus.map_or(0, |links| links.torus.hosts());
            for collective in [Collective::Broadcast, Collective::Reduce] {
                let call = Call {
                    hosts: Hosts::with_ranks(&vec![ranks; hosts], false),
                    ..Call::new(collective, ranks * hosts, 1)
                };
                let choice = choose(&call, 8, &Options::default(), &machine)?;
                let (on, name) = (choice.parameters.latency.torus, choice.algorithm.name);
                // A message starts every us, and a link takes as long.
                assert_eq!((on.map(|on| (on.torus.to_string(), on.link)), name), (Some((sides.into(), 1)), "postal"));
                let anywhere = Machine { torus: None, ..machine.clone() };
                let other = choose(&call, 8, &Options::default(), &anywhere)?;
                assert!(
                    choice.predicted < other.predicted,
                    "{sides} {ranks}: {} {}",
                    choice.predicted,
                    other.predicted
                );
            }
        }
        Ok(())
    }

    /// A communicator of other hosts, or of unlike numbers of ranks, is not that torus.
    #[test]
    fn other_hosts_are_not_on_the_torus() -> crate::Result<()> {
        let machine = machine("4x2", 1e-6);
        for numbers in [&[1; 7][..], &[1; 16], &[2, 1, 1, 1, 1, 1, 1, 1], &[2; 4]] {
            let size = numbers.iter().sum();
            let hosts = Hosts::with_ranks(numbers, false);
            let call = Call { hosts, ..Call::new(Collective::Broadcast, size, 1) };
            let options = Options { algorithm: Some("postal".into()), ..Options::default() };
            assert_eq!(choose(&call, 8, &options, &machine)?.parameters.latency.torus, None, "{numbers:?}");
        }
        Ok(())
    }

    /// Between neighbours on a ring of 4, two links away and one away, in the mean one.
    #[test]
    fn hops_take_what_their_links_take() -> crate::Result<()> {
        let machine = machine("4", 1e-6);
        let algorithm = crate::algorithm::registry::find(Collective::AllReduce, "recursive_doubling")?;
        let seconds = |links, whole: bool| {
            let formula = Formula { links, ..Formula::NOTHING };
            let packet = (!whole).then_some(1);
            let parameters = Parameters { packet, ..Parameters::new(PortModel::OnePort) };
            of_hops(2.0, machine.hop, algorithm, &parameters, &formula, 4, &machine)
        };
        for (found, expected) in
            [(seconds(0, false), 4e-6), (seconds(0, true), 5e-6), (seconds(3, true), 5e-6), (seconds(9, false), 11e-6)]
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        Ok(())
    }
}
