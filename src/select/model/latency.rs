//! Trees that are made for a latency.

use super::super::{Machine, OfLinks, Times, Wiring};
use super::case::Case;
use super::predict;
use crate::algorithm::{Algorithm, Form, Latency, OnTorus, Parameters, PortModel, Shape};
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
    let machine = one_way(machine, || 0.5);
    let bytes = call.count as f64 * element as f64;
    let lambda = |Times { tau, hop, t_c }: Times, bytes: f64| {
        let starts = 1.0 + hop / (tau + t_c * bytes).max(f64::MIN_POSITIVE);
        (starts.round() as usize).clamp(1, Latency::MOST)
    };
    let hosts = call.host_count();
    let links = machine.wiring.filter(|_| alike(call));
    let torus = links.and_then(|links| Some((links.wiring.torus(hosts)?, links)));
    let hop = torus.map_or(machine.hop + beyond(hosts, &machine), |(_, links)| without_links(machine.hop, &links));
    let Machine { tau, t_c, near, shared, .. } = machine;
    let far = Times { tau, hop, t_c };
    let near = if shared.is_some() { far } else { near.unwrap_or(Times::NEAR) };
    let held = (bytes - burst as f64).max(0.0);
    let torus = torus.map(|(torus, OfLinks { link, .. })| {
        let starts = link / (tau + t_c * held).max(f64::MIN_POSITIVE);
        OnTorus { torus, link: (starts.round() as usize).min(Latency::MOST) }
    });
    Latency { far: lambda(far, held), near: lambda(near, bytes), torus }
}

/// Whether hosts have as many ranks each.
fn alike(call: &Call) -> bool {
    call.hosts.as_ref().is_none_or(|hosts| hosts.most_and_fewest().0 == hosts.most_and_fewest().1)
}

/// A hop between neighbours that have no link between them.
fn without_links(hop: f64, OfLinks { wiring, link }: &OfLinks) -> f64 {
    (hop - wiring.links() * link).max(0.0)
}

/// What a message between any two hosts takes longer in the mean than one between hosts that are linked.
fn beyond(hosts: usize, machine: &Machine) -> f64 {
    let wiring = machine.wiring.filter(|_| !machine.pairs_linked);
    wiring.map_or(0.0, |OfLinks { wiring, link }| wiring.beyond(hosts) * link)
}

/// What a message of an algorithm takes longer in the mean than one between hosts that are linked. Over two links in place of one it is there
/// no later, if it starts two messages before. (Hosts with unlike numbers of ranks are not numbered as they are linked.)
fn farther(algorithm: &Algorithm, shape: &Shape, machine: &Machine) -> f64 {
    let near = algorithm.near_hosts && shape.hosts.is_power_of_two() && shape.on_host.0 == shape.on_host.1;
    match machine.wiring {
        _ if algorithm.cube_edges || machine.pairs_linked => 0.0,
        Some(OfLinks { wiring: Wiring::Cube, link }) if near => (link - 2.0 * machine.tau).max(0.0),
        _ => beyond(shape.hosts, machine),
    }
}

/// The seconds of so many hops between hosts, each of which takes that long in the mean. Where it is known how hosts are linked by the links:
/// those that the formula says, or, where all ranks, or leaders, exchange messages along the edges of the cube, those between hosts whose
/// numbers differ in one bit. (Packets wait for each other on the links that they share, which is predicted on a dragonfly only, in
/// `over_links`, and in trees from a root other algorithms, of which no links are known, go to near hosts as well: these stay what hops
/// are in the mean.)
pub fn of_hops(hops: f64, hop: f64, case: &Case, machine: &Machine) -> f64 {
    let Case { algorithm, parameters, shape, formula, .. } = case;
    let hop = hop + farther(algorithm, shape, machine);
    let along_bits = algorithm.cube_edges || matches!(algorithm.form, Form::Between(..));
    let exchange = parameters.packet.is_none() && along_bits && !algorithm.collective.has_root();
    let over = |links: OfLinks| match (links.wiring, formula.links) {
        (Wiring::Torus(_), over @ 1..) => Some((links, over as f64)),
        _ if exchange => Some((links, hops * links.wiring.links_by_bit(shape.hosts)?)),
        _ => None,
    };
    match machine.wiring.filter(|_| shape.on_host.0 == shape.on_host.1).and_then(over) {
        Some((links, over)) => hops * without_links(hop, &links) + over * links.link,
        None => hops * hop,
    }
}

/// The machine for ranks that only send, or only receive, but in this share of their messages exchange them ([`Case::exchanges`]). Start-ups are
/// measured in exchanges: half of one is that of the rank that sends, and the other half comes when the message is there, unless what messages
/// take that are alone has been measured as well. (On hosts emulated on a few cores, the ranks of an exchange keep all of these busy: on a star
/// of 5, 38 us a round, a message that is alone 12 to 20 us, and one in a tree 30.)
pub fn one_way(machine: &Machine, exchanges: impl FnOnce() -> f64) -> Machine {
    let half = |Times { tau, hop, t_c }: Times| Times { tau: tau / 2.0, hop: hop + tau / 2.0, t_c };
    let Times { tau, hop, t_c } = half(Times { tau: machine.tau, hop: machine.hop, t_c: machine.t_c });
    let (tau, hop) = match machine.alone.map(|alone| (alone, exchanges())) {
        None => (tau, hop),
        Some((alone, share)) => (share * tau + (1.0 - share) * alone.tau, share * hop + (1.0 - share) * alone.hop),
    };
    let near = Some(half(machine.near.unwrap_or(Times::NEAR)));
    Machine { tau, hop, t_c, near, ..machine.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::super::{choose, Alone, Options};
    use super::*;
    use crate::address::{Hosts, Torus};
    use crate::algorithm::Formula;
    use crate::collective::Collective;

    /// Hosts of one rank or of two; a hop of 1 us and what the links take in the mean.
    fn machine(sides: &str, link: f64) -> Machine {
        let torus: Torus = sides.parse().expect("a torus");
        let hop = 1e-6 + link * torus.links();
        Machine { tau: 2e-6, hop, wiring: Some(OfLinks { wiring: Wiring::Torus(torus), link }), ..Machine::network() }
    }

    #[test]
    fn short_messages_take_trees_for_the_torus() -> crate::Result<()> {
        for (sides, ranks) in [("8x4x4", 1), ("8x4x4", 2), ("10x10", 1), ("6x5", 4)] {
            let machine = machine(sides, 1e-6);
            let hosts = sides.parse::<Torus>().map_or(0, |torus| torus.hosts());
            for collective in [Collective::Broadcast, Collective::Reduce] {
                let call = Call {
                    hosts: Hosts::with_ranks(&vec![ranks; hosts], false),
                    ..Call::new(collective, ranks * hosts, 1)
                };
                let choice = choose(&call, 8, &Options::default(), &machine)?;
                let (on, name) = (choice.parameters.latency.torus, choice.algorithm.name);
                // A message starts every us, and a link takes as long.
                assert_eq!((on.map(|on| (on.torus.to_string(), on.link)), name), (Some((sides.into(), 1)), "postal"));
                let anywhere = Machine { wiring: None, ..machine.clone() };
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

    /// Below switches half of an exchange's hops, or more, go to hosts of the same one; trees go to all alike.
    #[test]
    fn short_exchanges_stay_below_switches() -> crate::Result<()> {
        for (hosts, switches) in [(64, "8"), (256, "16"), (1024, "32"), (512, "8x8")] {
            let tree = Wiring::Tree { switches: switches.parse().expect("a tree"), hosts };
            let chosen = |wiring: Option<Wiring>| {
                let wiring = wiring.map(|wiring| OfLinks { wiring, link: 0.5e-6 });
                let machine = Machine { tau: 0.5e-6, hop: 0.5e-6 * tree.links(), wiring, ..Machine::network() };
                choose(&Call::new(Collective::AllReduce, hosts, 1), 8, &Options::default(), &machine)
                    .map(|choice| choice.algorithm.name)
            };
            assert_eq!((chosen(None)?, chosen(Some(tree))?), ("postal", "recursive_doubling"), "{hosts} {switches}");
        }
        Ok(())
    }

    /// On a cube in which a link takes time, one message over two links takes less than two messages.
    #[test]
    fn short_trees_skip_nodes_where_links_are_quick() -> crate::Result<()> {
        let chosen = |hosts, link: Option<f64>| {
            let wiring = link.map(|link| OfLinks { wiring: Wiring::Cube, link });
            let (tau, hop, ports) = (0.5e-6, 0.5e-6, PortModel::AllPorts);
            let machine = Machine { tau, hop, ports, pairs_linked: false, wiring, ..Machine::network() };
            choose(&Call::new(Collective::Reduce, hosts, 1), 8, &Options::default(), &machine)
                .map(|choice| choice.algorithm.name)
        };
        // Of 6 us and 10 along the edges of the cube: a start, a link and what a receive takes for every dimension.
        assert_eq!((chosen(64, Some(0.5e-6))?, chosen(1024, Some(0.5e-6))?), ("two_level", "two_level"));
        assert_eq!(chosen(64, Some(4e-6))?, "sbt");
        // Where hosts are not 2^n, what is far in numbers is far.
        assert_eq!(chosen(60, Some(0.5e-6))?, "sbt");
        Ok(())
    }

    /// Of what passes a link at once, too.
    #[test]
    fn links_count_where_a_port_has_recovered() -> crate::Result<()> {
        let predicted = |link| {
            let machine = Machine { burst: 16 << 10, hop: 9e-6, ..machine("8x4x4", link) };
            let options = Options { algorithm: Some("recursive_doubling".into()), ..Options::default() };
            choose(&Call::new(Collective::AllReduce, 128, 1), 8, &options, &machine).map(|choice| choice.predicted)
        };
        // In the mean a message goes over 4 links, between hosts whose numbers differ in one bit over 1, 2, 4, 1, 2, 1 and 2: 13 of 28.
        let saved = predicted(0.0)? - predicted(1e-6)?;
        assert!((saved / 15e-6 - 1.0).abs() < 1e-6, "{saved}");
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

    /// Three messages to a root, one after the other, and the last of them on its way; three along a path; two that wait for each other, in a
    /// tree, and in an exchange, which knows nothing of that; three exchanges, and one more to them and from them.
    #[test]
    fn messages_one_way_take_what_was_measured_of_them() -> crate::Result<()> {
        let predicted = |collective, name: &str, size, alone| {
            let machine = Machine { tau: 8e-6, hop: 20e-6, t_c: 1e-15, alone, ..Machine::network() };
            let options = Options { algorithm: Some(name.into()), ..Options::default() };
            choose(&Call::new(collective, size, 1), 1, &options, &machine).map(|choice| choice.predicted)
        };
        let (exchange, apart) = (8e-6 + 20e-6, 1e-6 + 5e-6);
        for (collective, name, size, before, after) in [
            (Collective::Gather, "direct", 4, 3.0 * 4e-6 + 24e-6, 3.0 * 1e-6 + 5e-6),
            (Collective::Broadcast, "chain", 4, 3.0 * (4e-6 + 24e-6), 3.0 * apart),
            (Collective::Broadcast, "sbt", 4, 2.0 * (4e-6 + 24e-6), 2.0 * (2.5e-6 + 14.5e-6)),
            (Collective::AllReduce, "recursive_doubling", 4, 2.0 * exchange, 2.0 * exchange),
            (Collective::AllReduce, "recursive_doubling", 9, 5.0 * exchange, 3.0 * exchange + 2.0 * apart),
        ] {
            for (alone, expected) in [(None, before), (Some(Alone { tau: 1e-6, hop: 5e-6 }), after)] {
                let found = predicted(collective, name, size, alone)?;
                assert!((found / expected - 1.0).abs() < 1e-3, "{collective} {alone:?}: {found}, {expected}");
            }
        }
        Ok(())
    }

    /// Leaders of hosts with several ranks exchange messages; of two hosts one sends to the other, of four to three, whatever goes on within them.
    #[test]
    fn leaders_that_exchange_do_not_send_one_way() -> crate::Result<()> {
        let gained = |collective, name: &str, hosts: usize| {
            let predicted = |alone| {
                let machine = Machine { tau: 8e-6, hop: 20e-6, t_c: 1e-15, alone, ..Machine::network() };
                let options = Options { algorithm: Some(name.into()), ..Options::default() };
                let hosts = Hosts::with_ranks(&vec![4; hosts], false);
                let size = hosts.as_ref().map_or(0, Hosts::ranks);
                choose(&Call { hosts, ..Call::new(collective, size, 1) }, 1, &options, &machine)
                    .map(|choice| choice.predicted)
            };
            Ok::<_, crate::Error>(predicted(None)? - predicted(Some(Alone { tau: 1e-6, hop: 5e-6 }))?)
        };
        assert_eq!(gained(Collective::AllReduce, "leaders", 4)?, 0.0);
        // Of 5 hosts, one sends before two exchanges and is sent to after them, 22 us sooner each.
        assert!((gained(Collective::AllReduce, "leaders", 5)? - 44e-6).abs() < 1e-9);
        let [two, four] = [2, 4].map(|hosts| gained(Collective::Broadcast, "two_level", hosts));
        let (two, four) = (two?, four?);
        assert!((two - 22e-6).abs() < 1e-9 && (four - 28e-6).abs() < 1e-9, "{two} {four}");
        Ok(())
    }

    /// Between neighbours on a ring of 4, two links away and one away, in the mean one.
    #[test]
    fn hops_take_what_their_links_take() -> crate::Result<()> {
        let machine = machine("4", 1e-6);
        let algorithm = crate::algorithm::registry::find(Collective::AllReduce, "recursive_doubling")?;
        let seconds = |links, whole: bool| {
            let packet = (!whole).then_some(1);
            let parameters = Parameters { packet, ..Parameters::new(PortModel::OnePort) };
            let call = Call::new(Collective::AllReduce, 4, 1);
            let formula = Formula { links, ..Formula::NOTHING };
            let case = Case { formula, ..Case::new(algorithm, &call, 8, &parameters) };
            of_hops(2.0, machine.hop, &case, &machine)
        };
        for (found, expected) in
            [(seconds(0, false), 4e-6), (seconds(0, true), 5e-6), (seconds(3, true), 5e-6), (seconds(9, false), 11e-6)]
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        Ok(())
    }
}
