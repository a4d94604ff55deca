//! Broadcast of packets along a circulant graph, in the fewest rounds that there can be, however many ranks there are.
//!
//! Algorithm: the root sends a new packet in every round, in turn to the ranks s_0, s_1, ..., s_(q-1) places after it; the others pass on
//! what they have to the ranks as many places after them, such that all but the first rounds bring every rank a packet that it lacks.
//! Where hosts have several ranks, this goes on between one rank of each, in every second round; in the rounds between it passes on what
//! it got to the next rank of its host, that one to the next, and so on.
//!
//! Reference: J. L. Traeff 2024 (T24), "Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast,
//! Reduction and All-Reduction", arXiv:2407.18004. M elements in n = ceil(M/B) packets (his blocks), P ranks; q = ceil(log2 P) and the
//! skips s_k are those of [`topology::circulant`](crate::topology::circulant).
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: n - 1 + q rounds of tau + B t_c. On H hosts of R > 1 ranks, 2 (n - 2) + R + 2 ceil(log2 H) rounds; a host receives M elements,
//! and the root's sends M + (ceil(log2 H) - 1) B. (The path is a bound where the last packet is shorter.)
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: that of the graph: what a rank sends in a round it has received before. Packets before the first are not sent,
//! nor is any to the root; instead of packets after the last one, the last one is sent.
//!
//! Example, 5 ranks, root 0, 2 packets: 0 to 3 (packet 0); 0 to 1 (1), 3 to 4 (0); 0 to 2 (1), 4 to 1 (0); 0 to 3 (1), 1 to 4 (1),
//! 4 to 2 (0).

use super::packets;
use super::pipeline::Pipeline;
use crate::algorithm::{strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::circulant::{Circulant, Exchange};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "circulant",
    summary:
        "long messages, any number of ranks: the fewest rounds of packets there can be; each enters every host once",
    source: "T24 n-block broadcast",
    section: "-",
    differs: "goes between hosts, each of which passes packets on from rank to rank",
    cube_edges: false,
    packets: &[PortModel::OnePort],
    ports: &[PortModel::OnePort],
    cost: "(ceil(M/B) - 1 + ceil(log2 P)) (tau + B t_c)",
    formula,
    best_packet: |shape, tau, t_c| pipeline(shape).best_packet(shape, tau, t_c),
    crossing: Some(|shape| (shape.count + phase(shape).saturating_sub(1) * shape.packet()) as f64),
    strides: strides::skips,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// q, for hosts.
fn phase(shape: &Shape) -> usize {
    Circulant::new(shape.hosts).phase()
}

/// From one round between hosts to the next, where the host that has the most ranks has so many.
fn pace(most: usize) -> usize {
    most.min(2)
}

fn pipeline(shape: &Shape) -> Pipeline {
    let (graph, most) = (Circulant::new(shape.hosts), shape.on_host.0);
    let pace = pace(most);
    Pipeline {
        per_packet: pace,
        rest: (pace * graph.phase() + most) as isize - 2 * pace as isize,
        height: graph.depth() + most - 1,
        // Elsewhere some rank is sent another packet than the last one in every round.
        alone: match shape.hosts {
            2 => pace,
            3 if shape.packets() == 2 => {
                if most == 1 {
                    1
                } else {
                    4usize.saturating_sub(most)
                }
            }
            _ => 0,
        },
        // In a reduction these are no whole vectors, and are counted below.
        received: 0,
        passed: 0,
    }
}

fn formula(shape: &Shape) -> Formula {
    let (pipeline, packets) = (pipeline(shape), shape.packets());
    let forward = pipeline.formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    // The last link that the root uses has the last packet at the end, and another one in each phase before.
    let on_link = shape.in_packets(1 + (packets - 1).div_ceil(phase(shape)), 1);
    let load = if shape.on_host.0 > 1 { forward.load } else { on_link };
    Formula { load, path: shape.in_packets(packets + pipeline.height - 1, 0), ..forward }
        .at_most(&[Figure::Path], shape.full_packets())
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    let (packets, phase, several) = (shape.packets(), phase(shape), shape.on_host.0 > 1);
    // The root receives in every round between hosts, and every packet from its own host.
    let received = packets - 1 + phase + if several { packets } else { 0 };
    // What arrives first where the result is to be needs no other place. Other ranks wait for what they receive, and have less of it.
    let own = received - if shape.in_place { 0 } else { packets };
    let passed = if shape.hosts > 2 { received - 1 } else { received - packets };
    let (full, packet) = (shape.full_packets(), shape.packet() as f64);
    Formula { scratch: own.max(passed) as f64 * packet, path: forward.rounds as f64 * packet, ..forward }
        .at_most(&[Figure::Path], full && (!several || packets >= phase))
        .at_most(&[Figure::Scratch], full && own >= passed)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let packets: Vec<_> = packets(problem, parameters).map(|(_, packet)| packet).collect();
    let (hosts, (most, _)) = (problem.hosts(), problem.most_and_fewest());
    let (graph, pace) = (Circulant::new(hosts), pace(most));
    let Some(last) = graph.rounds(packets.len()).checked_sub(1) else { return };
    route.set_rounds(pace * last + most);
    if node >= problem.call.size {
        return;
    }
    // The root's host is node 0 of the graph. The root, or the first rank of another host, is its leader.
    let (host, root) = (problem.host_at(node), problem.host_at(problem.root));
    let c = (host + hosts - root) % hosts;
    let leader = |c: usize| if c == 0 { problem.root } else { problem.places_of((root + c) % hosts).start };
    // The ranks of a host in turn, from its leader on.
    let mates = problem.places_of(host);
    let mate = |at: usize| mates.start + (leader(c) - mates.start + at) % mates.len();
    let at = (node + mates.len() - leader(c)) % mates.len();
    for (far, Exchange { received, sent }) in graph.exchanges(c, packets.len()).enumerate() {
        let round = pace * far;
        if let Some((to, packet)) = sent.filter(|_| at == 0) {
            route.send(round, leader(to), [packets[packet].clone()]);
        }
        if let Some((from, packet)) = received.filter(|_| at == 0) {
            route.receive(round, leader(from), [packets[packet].clone()]);
        }
        // The root's host has them all.
        let here = if c == 0 { Some(far) } else { received.map(|(_, packet)| packet) };
        let Some(packet) = here.and_then(|packet| packets.get(packet)) else { continue };
        if at > 0 {
            route.receive(round + at, mate(at - 1), [packet.clone()]);
        }
        if at + 1 < mates.len() {
            route.send(round + at + 1, mate(at + 1), [packet.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::address::Hosts;
    use crate::algorithm::{registry, verify::verify, Parameters, PortModel};
    use crate::collective::{Call, Collective};

    /// Rounds of so many packets, counted in schedules that are right and cost what the row says.
    fn rounds(collective: Collective, ranks: &[usize], packets: usize, last: usize) -> usize {
        let algorithm = registry::find(collective, "circulant").expect("in the registry");
        let size = ranks.iter().sum();
        let call = Call::new(collective, size, 3 * (packets - 1) + last).with_root(size / 3);
        let parameters = Parameters { packet: Some(3), ..Parameters::new(PortModel::OnePort) };
        let hosts = Hosts::with_ranks(ranks, packets.is_multiple_of(2));
        let call = Call { hosts, in_place: collective.has_in_place() && last == 3, ..call };
        let report = verify(algorithm, &call, &parameters);
        assert!(report.violations.is_empty(), "{collective} {packets} {ranks:?}: {:?}", report.violations);
        report.cost.rounds
    }

    /// n - 1 + ceil(log2 P), the fewest rounds in which n packets can come to P ranks.
    #[test]
    fn rounds_are_the_fewest_possible() {
        for collective in [Collective::Broadcast, Collective::Reduce] {
            for size in (2..=20).chain([31, 32, 33, 48, 63, 64, 65, 100]) {
                for packets in [1, 2, 3, 4, 5, 6, 7, 12] {
                    let fewest = packets - 1 + usize::next_power_of_two(size).ilog2() as usize;
                    assert_eq!(rounds(collective, &vec![1; size], packets, 3), fewest, "{packets} on {size}");
                    assert_eq!(rounds(collective, &vec![1; size], packets, 1), fewest, "{packets} on {size}");
                }
            }
        }
    }

    /// With R ranks on every host, every second round is between hosts, and after the last one R - 1 are within them.
    #[test]
    fn hosts_pass_packets_on_meanwhile() {
        for collective in [Collective::Broadcast, Collective::Reduce] {
            for (hosts, most) in (2..=9).flat_map(|hosts| (2..=5).map(move |most| (hosts, most))) {
                for (packets, last) in (1..=6).flat_map(|packets| [(packets, 1), (packets, 3)]) {
                    let far = packets - 1 + usize::next_power_of_two(hosts).ilog2() as usize;
                    let counted = rounds(collective, &vec![most; hosts], packets, last);
                    assert_eq!(counted, 2 * (far - 1) + most, "{packets} on {hosts} hosts of {most}");
                }
            }
        }
    }
}
