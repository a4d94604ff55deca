//! The cost model: what an algorithm's parameters should be on a machine, and how long it then takes.

use super::{Machine, Options, SharedMemory, SINGLE_COPY_FROM};
use crate::address::dimension_for;
use crate::algorithm::{Algorithm, Formula, Parameters, PortModel, Shape};
use crate::collective::{Call, Collective};

/// So much longer messages take that wait for their receivers, where packets have a limit.
const UNBUFFERED: f64 = 3.0;

/// Packets that are considered on a network, in bytes, from and to.
const SHORTEST_PACKET: usize = 1 << 10;
const LARGEST_PACKET: usize = 1 << 18;

/// Where hosts have one port each, messages of several others that arrive at once hold each other up: so much, as measured on TCP,
/// unless they come in packets no longer than those that are fastest one behind the other.
const CONTENTION: f64 = 1.08;

/// What TCP's acknowledgements, 66 bytes for two segments of 1514, add where nodes with one port pass on all that comes: they go to
/// another node than the data that leaves. On two opposite paths they travel with data.
const ACKNOWLEDGEMENTS: f64 = 1.02;

/// What copies of packets, or of messages that are passed on, cost over those that all take at once where one rank has them, where
/// ranks share one memory. Measured in broadcasts of 256 KiB to 4 MiB, by the number of ranks and the core that each met: 1.0 to 1.4.
const PASSED_ON: f64 = 1.2;

/// What a signal of a barrier costs its sender and its receiver together, in start-ups, where ranks share one memory. Measured for 4 to
/// 32 ranks on two cores: 2 to 4. An exchange of all-reduce's recursive doubling, on 2 to 8 ranks: about as much.
const SIGNAL: f64 = 3.0;

/// Bytes that stay in the cores' caches, where ranks share one memory: of a vector, and of another if the two are combined. Measured: a
/// reduction of 1 to 4 MiB takes about twice as long when whole vectors wait for each other as when they come in packets, one of 512
/// KiB 1.1 to 1.25 times; a broadcast of 1 to 4 MiB on 4 ranks 1.1 to 1.4 times, one of 512 KiB .8 to 1.2 times.
const CACHES: usize = 512 << 10;

/// How a start-up and a transfer, of different messages, that go on at the same time add up: as powers with this exponent, from 1 (one
/// after the other) to infinity (the longer one). Measured on TCP: short packets cost less than the sum, and more than the longer; where
/// a host has several ports at work, its processors have more to do meanwhile.
fn overlap(ports: PortModel) -> f64 {
    if ports == PortModel::AllPorts {
        1.5
    } else {
        3.0
    }
}

/// The parameters to consider: as asked for, or, what is left open, as the machine suggests.
pub(super) fn parameters(
    algorithm: &Algorithm,
    call: &Call,
    element: usize,
    options: &Options,
    machine: &Machine,
) -> Vec<Parameters> {
    let mut all = Vec::new();
    for ports in port_models(algorithm, options, machine) {
        let symmetrized =
            options.symmetrized.unwrap_or(algorithm.symmetrizes && ports == PortModel::AllPorts && !call.ordered);
        let asked = Parameters {
            packet: options.packet,
            ports,
            symmetrized,
            order: options.order,
            variant: options.variant.unwrap_or_default(),
        };
        all.push(asked);
        if options.packet.is_none() && call.count > 0 {
            let packet = packet(algorithm, call, element, &asked, machine);
            all.extend(packet.map(|packet| Parameters { packet: Some(packet), ..asked }));
        }
    }
    all
}

/// The port models to consider, the better ones for packets first.
fn port_models(algorithm: &Algorithm, options: &Options, machine: &Machine) -> Vec<PortModel> {
    match (options.ports, options.symmetrized) {
        (Some(ports), _) => vec![ports],
        (None, Some(true)) => vec![PortModel::AllPorts],
        // Packets that go all dimensions' ways at once keep even a single port busy, where those of one dimension wait.
        (None, None) if machine.ports == PortModel::OnePort && machine.shared.is_none() && algorithm.symmetrizes => {
            vec![PortModel::AllPorts, PortModel::OnePort]
        }
        _ if algorithm.ports.contains(&machine.ports) => vec![machine.ports],
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
        let tau = machine.tau + awaited(call, shared, machine);
        let best = (algorithm.best_packet)(&algorithm.shape(call, asked), tau, machine.t_c * element as f64);
        let best = (best.round() as usize).max(1);
        return (best < space).then(|| best.min((SINGLE_COPY_FROM - 1) / element.max(1)).max(1));
    }
    // The papers' best packet is for start-ups that add to transfers. On a network both go on at the same time, so that shorter
    // packets are better: the best one of a few sizes.
    let limit = machine.packet_limit.map_or(LARGEST_PACKET, |limit| (limit - limit / 16).min(LARGEST_PACKET));
    // On one port, packets shorter than those that are fastest one behind the other only cost headers.
    let one_port = machine.ports != PortModel::AllPorts;
    let shortest = machine.packet.filter(|packet| one_port && (SHORTEST_PACKET..limit).contains(packet));
    let sizes = (shortest.unwrap_or(SHORTEST_PACKET).ilog2()..)
        .map(|shift| 1usize << shift)
        .take_while(|bytes| *bytes < limit)
        .chain([limit]);
    let timed = sizes.map(|bytes| (bytes / element.max(1)).clamp(1, space)).map(|packet| {
        let parameters = Parameters { packet: Some(packet), ..*asked };
        (packet, predict(algorithm, call, element, &parameters, machine))
    });
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(packet, _)| packet)
}

/// Elements that follow one another through the busiest port when packets need not wait for the end of a round.
fn flow(algorithm: &Algorithm, formula: &Formula, shape: &Shape, ports: PortModel, machine: &Machine) -> f64 {
    match (ports, machine.ports) {
        // Constant storage: what has come must be used up before more may come.
        _ if algorithm.collective == Collective::MatrixMultiply => formula.elements,
        (PortModel::AllPorts, PortModel::AllPorts) => formula.load,
        // All links of a node share its one port.
        (PortModel::AllPorts, _) => formula.load * f64::from(shape.n),
        (PortModel::OnePort | PortModel::OneWay, _) => formula.elements,
    }
}

/// The time for the next larger whole cube, in seconds.
pub fn predict(algorithm: &Algorithm, call: &Call, element: usize, parameters: &Parameters, machine: &Machine) -> f64 {
    match machine.shared {
        Some(shared) => in_shared_memory(algorithm, call, element, parameters, machine, shared),
        None => over_links(algorithm, call, element, parameters, machine),
    }
}

/// Hops that take the longer the more ranks wait for a core, a start-up a round, and the copies and signals, of which only as many go
/// on at once as there are cores; longer where what is to be combined or passed on does not stay in the caches.
fn in_shared_memory(
    algorithm: &Algorithm,
    call: &Call,
    element: usize,
    parameters: &Parameters,
    machine: &Machine,
    shared: SharedMemory,
) -> f64 {
    let formula = (algorithm.formula)(&algorithm.shape(call, parameters));
    let (hops, signals) = (formula.hops as f64, (algorithm.signals)(call.size) as f64);
    let cores = shared.cores.min(call.size) as f64;
    let copies = formula.path.max(match parameters.packet {
        // A whole message is copied on one core. (Of sizes between powers of two the formula does not know how many there are.)
        None if call.size.is_power_of_two() => {
            let message = (formula.path / hops.max(1.0)).max(1.0);
            (formula.moved / message / cores).ceil() * message
        }
        _ => formula.moved / cores,
    });
    let passed_on = if hops > 1.0 || parameters.packet.is_some() { PASSED_ON } else { 1.0 };
    // What is to be combined goes to memory and back; what is to be passed on comes from there.
    let (vectors, again) = match call.collective {
        Collective::Reduce => (2, 2.0),
        Collective::Broadcast if hops > 1.0 => (1, 1.2),
        _ => (1, 1.0),
    };
    let cached = parameters.packet.is_some() || call.count.saturating_mul(vectors * element) <= CACHES;
    let again = if cached { 1.0 } else { again };
    let start_ups = formula.rounds as f64 + SIGNAL * signals / cores;
    let tau = machine.tau + parameters.packet.map_or(0.0, |_| awaited(call, shared, machine));
    let t_c = machine.t_c * element as f64;
    hops * machine.hop * turn(call, shared) + start_ups * tau + copies * passed_on * again * t_c
}

/// The paper's formula, a start-up for every round and t_c for every element that follow one another, except that start-ups and
/// transfers, of different messages, go on at the same time (`overlap`); and a hop for every message that waits for another one.
/// Where messages are cut into packets, what follows one another is the load of the busiest link, and the last packet arrives
/// behind it over as many links as there are hops.
fn over_links(algorithm: &Algorithm, call: &Call, element: usize, parameters: &Parameters, machine: &Machine) -> f64 {
    let shape = algorithm.shape(call, parameters);
    let formula = (algorithm.formula)(&shape);
    let t_c = machine.t_c * element as f64;
    // A rank starts one signal after the other, however many ports it has.
    let signals = (algorithm.signals)(call.size) as f64 / call.size as f64;
    let (hops, rounds) = (formula.hops as f64, (formula.rounds as f64).max(signals));
    let congestion = if algorithm.cube_edges || machine.pairs_linked { 1.0 } else { congestion(call) };
    // The longest message: of few rounds, in which messages double or halve, the last or the first one's, 2^(n-1) parts of 2^n - 1, in
    // each pass of an all-reduce; of many, the mean.
    let passes = if call.collective == Collective::AllReduce { 2 } else { 1 };
    let halves = formula.rounds > passes && formula.rounds <= passes * shape.n as usize + 1;
    let longest = shape.nodes() as f64 / 2.0 / (shape.nodes() - 1).max(1) as f64;
    let message = formula.elements * if halves { longest / passes as f64 } else { 1.0 / rounds.max(1.0) };
    let (start_ups, elements) = match parameters.packet.filter(|_| algorithm.cuts(parameters.ports)) {
        Some(packet) if (packet as f64) < message => {
            let (flow, packet) = (flow(algorithm, &formula, &shape, parameters.ports, machine), packet as f64);
            // Messages that are early by themselves are cut into packets that wait behind those of others.
            let behind = if algorithm.flows { rounds } else { 0.0 };
            (rounds + flow / packet, flow + ((hops - 1.0).max(0.0) + behind) * packet)
        }
        _ => {
            let limit = machine.packet_limit.map_or(f64::INFINITY, |limit| limit as f64 / element as f64);
            let sent = parameters.packet.map_or(message, |packet| message.min(packet as f64));
            // All links of a node share its one port.
            let shared = parameters.ports == PortModel::AllPorts && machine.ports != PortModel::AllPorts;
            let links = if shared { f64::from(shape.n) } else { 1.0 };
            let late = (hops - 1.0).max(0.0) * late(algorithm, call, sent, element, machine);
            (rounds * links, (formula.elements * links + late) * if sent < limit { 1.0 } else { UNBUFFERED })
        }
    };
    // All dimensions' packets at once, too, keep one port evenly busy, and so do short ones.
    let short = |packet: usize| machine.packet.is_some_and(|fastest| packet * element <= fastest);
    let mixed = parameters.ports == PortModel::AllPorts || parameters.packet.is_some_and(short);
    let port = match (machine.ports, algorithm.paths) {
        (PortModel::OnePort, 0) if call.size > 2 && !(mixed && algorithm.cuts(parameters.ports)) => CONTENTION,
        (PortModel::OnePort, 1) => ACKNOWLEDGEMENTS,
        _ => 1.0,
    };
    let transfer = elements * congestion * port * t_c / start_ups.max(1.0);
    let overlap = overlap(machine.ports);
    hops * machine.hop + start_ups * (machine.tau.powf(overlap) + transfer.powf(overlap)).powf(1.0 / overlap)
}

/// Ranks that take turns on a core.
fn turn(call: &Call, shared: SharedMemory) -> f64 {
    (call.size as f64 / shared.cores as f64).max(1.0)
}

/// How long a packet waits, in the mean, for its receiver's turn on a core. Measured: 1 us for two ranks a core, 2.8 us for four.
fn awaited(call: &Call, shared: SharedMemory, machine: &Machine) -> f64 {
    if call.size > shared.cores {
        machine.hop * turn(call, shared) / 2.0
    } else {
        0.0
    }
}

/// Elements by which a packet on a path through nodes with one port each is later at every node than the paper's formula says. Where
/// links let some bytes pass at once it is earlier, until acknowledgements have used that up; packets of two paths wait for each other.
fn late(algorithm: &Algorithm, call: &Call, packet: f64, element: usize, machine: &Machine) -> f64 {
    match (machine.ports, algorithm.paths) {
        (PortModel::OnePort, 1) => {
            let used = (ACKNOWLEDGEMENTS - 1.0) * call.count as f64 * element as f64;
            -packet.min((machine.burst as f64 - used).max(0.0) / element as f64)
        }
        (PortModel::OnePort, 2) => packet,
        _ => 0.0,
    }
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
