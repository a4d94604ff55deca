//! The time over links between hosts.

use super::super::{Machine, PACKET_COST};
use super::case::Case;
use super::latency;
use crate::address::{dimension_for, nodes_a_rank};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Shape};
use crate::collective::{Call, Collective};
use crate::schedule::messages_under_way;

/// So much longer messages take that wait for their receivers, where packets have a limit.
const UNBUFFERED: f64 = 3.0;

/// Where hosts have one port each, messages of several others that arrive at once hold each other up: so much, as measured on TCP,
/// unless they are cut into packets no longer than [`Machine::packet`].
const CONTENTION: f64 = 1.08;

/// An all-reduce in which every rank talks to all others, first of their parts and then of its own, turns round only when all of its
/// part has come, and meets at its next partner what others still send there: so much longer than it takes to send everything, in the mean of
/// stars of 5 to 16 hosts. (Where nothing disturbs the ranks it reaches .97 of the limit; once one of them is late, all are, and some ports
/// stand still while others have two messages: .63 on 12 hosts beside a busy processor, .86 on 9, where a ring reached .97 and .98. Along
/// the edges of a cube it is .95 to .99.)
const TURNING: f64 = 1.12;

/// What TCP's acknowledgements, 66 bytes for two segments of 1514, add where nodes with one port pass on all that comes: they go to
/// another node than the data that leaves. (On two opposite paths they may travel with data, but then the paths hold each other up: on
/// stars of 8 and 16 hosts two took .99 to 1.15 times as long as one.)
const ACKNOWLEDGEMENTS: f64 = 1.02;

/// Bytes that a message without data takes of a port with its acknowledgement, each a frame with headers; as ranks that wait for each other
/// send them between calls, over all dimensions.
const SIGNAL: f64 = 160.0;

/// Of them those of the acknowledgement, which takes another port where the answer is no message.
const ACKNOWLEDGEMENT: f64 = 66.0;

/// Calls that follow one another without a pause, among which what a link lets pass at once is divided: as predicted short calls to a root, and
/// from one, take on stars of 5 and 8 hosts. (If none of it were left, twice as long as they did.)
pub const IN_A_ROW: usize = 40;

/// Packets that a port with as many to send does not send while ranks go on to new partners, as measured on 8 and 16 hosts with one port
/// each. (Where a rank sends what has come, the last packet comes as many packets later as there are hops before it.)
const NEW_PARTNER: f64 = 0.1;

/// How start-ups and transfers, of different messages, that go on at the same time add up: as powers, from the first (one after the
/// other) to infinity (the longer one). Measured on TCP: as third powers; where a host has several ports at work its processors have more
/// to do meanwhile, and it is the power of 1.5. By operations that are exact to the bit on every machine, so that all ranks agree.
fn together(a: f64, b: f64, ports: PortModel) -> f64 {
    let longer = a.max(b);
    if longer == 0.0 {
        return 0.0;
    }
    let other = a.min(b) / longer;
    if ports == PortModel::AllPorts {
        let root = cube_root(1.0 + other * other.sqrt());
        longer * root * root
    } else {
        longer * cube_root(1.0 + other * other * other)
    }
}

/// Of a number from 1 to 2, by Newton's method.
fn cube_root(x: f64) -> f64 {
    (0..5).fold(1.0 + (x - 1.0) / 3.0, |root, _| (2.0 * root + x / (root * root)) / 3.0)
}

/// What follows one another, in elements.
struct Traffic {
    /// Messages that the busiest rank starts one after the other.
    messages: f64,
    /// Over the busiest link, or through the one port of a node.
    load: f64,
    /// As much as that, and what messages wait on their way for others.
    elements: f64,
    /// The longest message, or a packet of it.
    sent: f64,
}

/// The paper's formula, a start-up for every message that a rank starts and t_c for every element that follow one another, except that
/// start-ups and transfers, of different messages, go on at the same time ([`together`]); and a hop for every message that waits for
/// another one, at the same time too as far as a port lets pass at once what it has recovered meanwhile.
///
/// `meeting`: what a round takes in which all ranks wait for each other.
pub fn time(case: &Case, machine: &Machine, meeting: f64) -> f64 {
    let Case { algorithm, shape, formula, .. } = case;
    let hops = formula.hops as f64;
    let bytes = case.bytes();
    let Traffic { messages, load, elements, sent } = traffic(case, machine);
    // What a link lets pass at once does not wait on its way, until acknowledgements have used that up. (For one port they are counted
    // where they are in the way.)
    let one_port = machine.ports != PortModel::AllPorts;
    let used = if one_port { 0.0 } else { (ACKNOWLEDGEMENTS - 1.0) * load };
    let burst = (machine.burst as f64 / bytes - used).max(0.0);
    // A rank that passes on to several others has but one port for it.
    let most = if !one_port || algorithm.paths > 0 { f64::INFINITY } else { burst };
    let waits = (elements - load - (hops * sent.min(burst)).min(most)).max(0.0);
    // And it has recovered as much between calls as passes while all ranks wait for each other once.
    let passed = f64::from(shape.n) * meeting / machine.t_c;
    let signals = SIGNAL * if one_port { f64::from(shape.n) } else { 1.0 };
    let recovered = ((passed - signals).max(0.0) + machine.burst as f64 / IN_A_ROW as f64) / bytes;
    // Frames that messages do not fill: part of a start-up, but that it was measured of messages that a link let pass at once.
    let unfilled = machine
        .packet
        .filter(|_| one_port && machine.burst > 0)
        .map_or(0.0, |packet| 1.0 - sent * bytes / packet as f64)
        .max(0.0);
    let frames = if only_sends(case, machine) { SIGNAL - ACKNOWLEDGEMENT } else { SIGNAL };
    let headers = headers(sent * bytes, machine);
    let at_rate = (headers * load + messages * unfilled * frames / bytes - burst.min(recovered)).max(0.0);
    let slower = slower(case, sent * bytes, machine);
    let transfers = (at_rate + headers * waits) * slower * machine.t_c * case.element as f64;
    // A port recovers while messages are on their way; a host with several at work is busy with them.
    let at_once = if one_port { (burst / load.max(1.0)).min(1.0) } else { 0.0 };
    let under_way = latency::of_hops(hops, machine.hop, case, machine);
    let meanwhile = messages * machine.tau + at_once * under_way;
    (1.0 - at_once) * under_way + together(meanwhile, transfers, machine.ports)
}

/// Whether messages go one way, or some of them, as to leaders and from them, and from ranks beyond 2^n and to them.
pub fn goes_one_way(case: &Case, machine: &Machine) -> bool {
    let Case { algorithm, call, shape, .. } = case;
    let ends = matches!(algorithm.form, Form::Between(..)) && call.hosts.is_none() && !shape.size.is_power_of_two();
    ends || algorithm.has_leaders() || only_sends(case, machine)
}

/// Whether all messages of a call on hosts with one port are whole, and go from a root, or to one: hardly a rank sends and receives at once.
fn only_sends(case: &Case, machine: &Machine) -> bool {
    let meaning = case.algorithm.collective.meaning();
    if machine.ports == PortModel::AllPorts || !meaning.root || meaning.peer {
        return false;
    }
    let fits = |packet: usize| case.longest_message(case.formula.rounds as f64) <= packet as f64;
    case.parameters.packet.is_none_or(fits)
}

/// What the formula says, and where messages are cut into packets, the load of the busiest link: the last packet arrives behind it over
/// as many links as there are hops.
fn traffic(case: &Case, machine: &Machine) -> Traffic {
    let Case { algorithm, call, shape, formula, .. } = case;
    let Parameters { ports, packet, .. } = *case.parameters;
    let signals = (algorithm.signals)(call.size) as f64 / call.size as f64;
    let rounds = (formula.rounds as f64).max(signals);
    let message = case.longest_message(rounds);
    let sent = packet.map_or(message, |packet| message.min(packet as f64));
    // A round over all ports is a message on each of them; where a node has but one, they share it.
    let at_once = if ports == PortModel::AllPorts { f64::from(shape.n.max(1)) } else { 1.0 };
    // A rank that plays two nodes of the cube does the work of both.
    let nodes = nodes_a_rank(shape.size, algorithm.cube_edges) as f64;
    let sharing = if machine.ports == PortModel::AllPorts { 1.0 } else { at_once };
    let load = nodes * load(algorithm, formula, shape, ports, machine);
    let formula = &Formula { elements: nodes * formula.elements, ..*formula };
    if !(algorithm.cuts(ports) && sent < message) {
        let (messages, elements) = (at_once * rounds, sharing * formula.elements);
        return Traffic { messages, load: sharing * load, elements, sent };
    }
    // Rounds overlap as far as a rank has so many messages under way; as many receives go with them.
    let window = messages_under_way(at_once > 1.0);
    let overlap = at_once * rounds * (message / sent).ceil() <= window as f64;
    let one_after_the_other = sharing * if overlap { load } else { formula.elements };
    // Messages that are early by themselves are cut into packets that wait behind those of others.
    let behind = if algorithm.flows { rounds } else { 0.0 };
    let waits =
        if ports_busy(formula, shape, machine) { NEW_PARTNER * (rounds - 1.0) } else { formula.hops as f64 - 1.0 };
    Traffic {
        messages: at_once * (rounds + load / sent),
        load: sharing * load,
        elements: one_after_the_other + (waits.max(0.0) + behind) * sent + passed_on_last(case),
        sent,
    }
}

/// Elements of a scatter that go on when all has come: a host's leader receives its own blocks first, and last those that it sends to
/// other hosts first. (On a star of 12 hosts, blocks of 64 KiB in packets took 147 ms by `two_level`, with three blocks to pass on, of which the
/// root's port needs 121.)
fn passed_on_last(case: &Case) -> f64 {
    let Case { algorithm, call, shape, formula, .. } = case;
    if call.collective != Collective::Scatter || algorithm.cube_edges {
        return 0.0;
    }
    (formula.load - (shape.on_host.0 * shape.count) as f64).max(0.0)
}

/// Elements that one link has to carry, or one port, where a node has but one.
fn load(algorithm: &Algorithm, formula: &Formula, shape: &Shape, ports: PortModel, machine: &Machine) -> f64 {
    let linked = algorithm.cube_edges || machine.pairs_linked;
    match (ports, machine.ports) {
        // Constant storage: what has come must be used up before more may come.
        _ if algorithm.collective.multiplies() => formula.elements,
        (PortModel::AllPorts, _) => formula.load,
        (_, PortModel::AllPorts) if linked => formula.load,
        // The lowest dimension first: of what a root sends to all others directly half goes over one link.
        (_, PortModel::AllPorts) if algorithm.collective.meaning().root => {
            let nodes = shape.nodes() as f64;
            through(algorithm, formula, machine) * nodes / (2.0 * nodes - 2.0).max(1.0)
        }
        // What comes along a path comes by at every hop; where there are two, packets of one wait for the other's as well.
        _ if algorithm.paths == 1 && formula.port == 0.0 => formula.moved / formula.hops.max(1) as f64,
        _ => through(algorithm, formula, machine),
    }
}

/// What goes through the port of the busiest node. Of a tree for a latency only where start-ups were measured of messages that a port lets
/// pass at once: elsewhere what they take is in that latency, and so in the way that takes as long as all.
fn through(algorithm: &Algorithm, formula: &Formula, machine: &Machine) -> f64 {
    let in_the_way = algorithm.way.is_some() && machine.burst == 0;
    if formula.port > 0.0 && !in_the_way {
        formula.port
    } else {
        formula.elements
    }
}

/// How many times as long transfers of messages of so many bytes take with the headers of the packets that they fill: measured along one
/// path, so for hosts with one port.
fn headers(sent: f64, machine: &Machine) -> f64 {
    let packet = machine.packet.filter(|_| machine.ports != PortModel::AllPorts && sent > 0.0);
    packet.map_or(1.0, |packet| 1.0 + PACKET_COST * packet as f64 / sent)
}

/// How many times as long they take where they are in each other's way, or wait for receivers.
fn slower(case: &Case, sent: f64, machine: &Machine) -> f64 {
    let Case { algorithm, call, parameters, shape, formula, .. } = case;
    let direct = if algorithm.cube_edges || machine.pairs_linked { 1.0 } else { congestion(call) };
    let waiting = machine.packet_limit.is_some_and(|limit| sent >= limit as f64);
    // Short packets keep one port evenly busy, and so do those that go all dimensions' ways at once.
    let even = parameters.ports == PortModel::AllPorts
        || parameters.packet.is_some() && machine.packet.is_some_and(|packet| sent <= packet as f64);
    // Every message waits for the one before: all goes round a ring, or down a path.
    let in_turn = formula.hops >= formula.rounds;
    let both_ways = algorithm.collective.meaning().passes == 2 && !algorithm.cube_edges;
    let port = match (machine.ports, algorithm.paths) {
        (PortModel::OnePort, 0) if call.size > 2 && !(even && algorithm.cuts(parameters.ports)) => CONTENTION,
        (PortModel::OnePort, 0) if call.size > 2 && both_ways && in_turn => ACKNOWLEDGEMENTS,
        (PortModel::OnePort, 1..) => ACKNOWLEDGEMENTS,
        _ => 1.0,
    };
    let turning = if both_ways && !in_turn { TURNING } else { 1.0 };
    let one_after_the_other = machine.ports != PortModel::AllPorts && !parameters.symmetrized;
    let port = port * if one_after_the_other { algorithm.shared_port } else { 1.0 };
    let rooted = matches!(algorithm.collective, Collective::Broadcast | Collective::Reduce);
    let links = machine.wiring.filter(|_| rooted && machine.ports != PortModel::AllPorts);
    let strides = || (algorithm.strides)(shape);
    let shared = links.map_or(1.0, |links| links.wiring.sharing(shape.size, algorithm.cube_edges, strides));
    direct * port * turning * shared * if waiting { UNBUFFERED } else { 1.0 }
}

/// Whether all ranks send all the time.
fn all_send(formula: &Formula, shape: &Shape) -> bool {
    formula.moved >= shape.nodes() as f64 * formula.elements
}

/// The same where a rank that sends has no other port.
fn ports_busy(formula: &Formula, shape: &Shape, machine: &Machine) -> bool {
    machine.ports != PortModel::AllPorts && all_send(formula, shape)
}

/// How many times as long a permutation by direct messages takes where they are led over the edges of the cube, lowest dimension
/// first: the messages over the busiest link. Other collectives send direct messages one behind the other.
fn congestion(call: &Call) -> f64 {
    let Some(permutation) = call.permutation.as_deref() else {
        return 1.0;
    };
    let n = dimension_for(call.size) as usize;
    let mut loads = vec![0usize; n << n];
    for (from, &to) in permutation.iter().enumerate() {
        let mut at = from;
        for port in (0..n).filter(|port| (from ^ to) >> port & 1 == 1) {
            loads[at * n + port] += 1;
            at ^= 1 << port;
        }
    }
    loads.into_iter().max().unwrap_or(0).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{registry, verify::schedules};
    use crate::schedule::Kind;
    use crate::select::{choose, Alone, OfLinks, Options, Wiring};

    /// Counted in the schedules; on cubes that are not whole a rank sends no more than on whole ones.
    #[test]
    fn the_longest_message_is_half_of_the_places_or_the_rest() -> crate::Result<()> {
        for (name, size) in ["bruck", "complete_broadcast"].into_iter().flat_map(|name| (3..18).map(move |p| (name, p)))
        {
            let algorithm = registry::find(Collective::AllGather, name)?;
            let call = Call::new(Collective::AllGather, size, 3);
            let parameters = Parameters::new(PortModel::OnePort);
            let case = Case::new(algorithm, &call, 8, &parameters);
            let stated = case.longest_message(case.formula.rounds as f64);
            let schedules = schedules(algorithm, &call, &parameters);
            let sends = schedules.iter().flat_map(|schedule| {
                let sends = schedule.operations().iter().filter(|o| matches!(o.kind, Kind::Send { .. }));
                sends.map(|o| schedule.len(o))
            });
            let longest = sends.max().map_or(0.0, |most| most as f64);
            let whole = name == "bruck" || size.is_power_of_two();
            assert!(
                if whole { (longest - stated).abs() < 1e-9 } else { longest <= stated },
                "{name} {size}: {longest}, {stated}"
            );
        }
        Ok(())
    }

    /// Between groups of 12 hosts there is one link: what goes far over all skips at once waits for it (SimGrid, 64 hosts, 256 KiB: `circulant`
    /// 186 us, `scatter_all_gather` 111; 16 MiB: 7.3 ms, `chain` 2.5), which is known of calls on all 64 hosts only.
    #[test]
    fn long_vectors_stay_near_where_links_are_shared() -> crate::Result<()> {
        let wiring = Wiring::Dragonfly { dragonfly: "2x6".parse().expect("a dragonfly"), hosts: 64 };
        let chosen = |collective, size, bytes: usize, wiring: Option<Wiring>| {
            let wiring = wiring.map(|wiring| OfLinks { wiring, link: 0.5e-6 });
            let (tau, hop, t_c, packet) = (0.5e-6, 2.5e-6, 8e-11, Some(64 << 10));
            let machine = Machine { tau, hop, t_c, packet, packet_limit: None, wiring, ..Machine::network() };
            let call = Call::new(collective, size, bytes);
            choose(&call, 1, &Options::default(), &machine).map(|choice| choice.algorithm.name)
        };
        let names = [(Collective::Broadcast, "scatter_all_gather"), (Collective::Reduce, "reduce_scatter_gather")];
        for (collective, halved) in names {
            for (bytes, known) in [(256 << 10, halved), (16 << 20, "chain")] {
                assert_eq!(chosen(collective, 64, bytes, None)?, "circulant", "{collective} {bytes}");
                assert_eq!(chosen(collective, 64, bytes, Some(wiring))?, known, "{collective} {bytes}");
                assert_eq!(chosen(collective, 60, bytes, Some(wiring))?, "circulant", "{collective} {bytes}");
            }
        }
        Ok(())
    }

    /// A port recovers while ranks wait for each other, twice for four of them, as they do whatever their calls are, less what two signals
    /// take; and every call has a 40th of what it lets pass.
    #[test]
    fn calls_share_what_a_link_lets_pass_at_once() -> crate::Result<()> {
        let predicted = |burst| {
            let (tau, hop, t_c) = (8e-6, 20e-6, 1e-9);
            let alone = Some(Alone { tau: 1e-6, hop: 5e-6 });
            let machine =
                Machine { tau, hop, t_c, alone, burst, packet: None, packet_limit: None, ..Machine::network() };
            let (algorithm, packet) = (Some("direct".into()), Some(Options::WHOLE));
            let options = Options { algorithm, packet, ..Options::default() };
            choose(&Call::new(Collective::Gather, 4, 100_000_000), 1, &options, &machine).map(|choice| choice.predicted)
        };
        let saved = predicted(0)? - predicted(1 << 20)?;
        let recovered = 2.0 * 28e-6 - (2.0 * 160.0 - f64::from(1 << 20) / 40.0) * 1e-9;
        assert!((saved / (CONTENTION * recovered) - 1.0).abs() < 0.01, "{saved} {recovered}");
        Ok(())
    }

    #[test]
    fn what_goes_on_at_the_same_time_takes_less_than_the_sum_and_more_than_the_longer() {
        for (ports, power) in [(PortModel::AllPorts, 1.5), (PortModel::OnePort, 3.0)] {
            assert_eq!(together(0.0, 0.0, ports), 0.0);
            for (a, b) in [(0.0, 2.0), (1.0, 1.0), (3.0, 5.0), (7e-5, 2e-6), (1e9, 1.0)] {
                let expected = (f64::powf(a, power) + f64::powf(b, power)).powf(1.0 / power);
                assert!((together(a, b, ports) / expected - 1.0).abs() < 1e-9, "{a} {b}");
                assert_eq!(together(a, b, ports), together(b, a, ports));
            }
        }
    }
}
