//! Scatter along the spanning balanced n-tree (SBnT; the BST of 1986), in its four variants.
//!
//! Algorithm: the subtrees of the root have about N/n nodes each, so with all ports the root is done n/2 times sooner
//! than with the SBT. What the root sends when is the order:
//! * reverse-breadth-first (all ports, usual): the blocks of the farthest nodes first, level by level, through all
//!   ports at once.
//! * postorder: a node's block after all blocks below it; all ports through all at once, else the subtrees in turn.
//! * subtrees (one-way, one-port, usual): each subtree's blocks together, in the cycles of Lemma 17.
//! * cyclic (one-way, one-port; usual with packets): a packet to each subtree in turn, the farthest blocks first.
//!
//! Reference: Ho and Johnsson 1988, sections 3, 4 (variants), 5, 6 (postorder), Lemma 17; 1986, sections 4.2.2 (cyclic)
//! and 5.2 (depth-first). M elements a block, packets of B; s_j the nodes of subtree j, s_0 the largest.
//!
//! Requirements: none. Of links to be avoided, those at the root are gone round; below level 1 another variant, or a copy with
//! two dimensions exchanged, does without any single one (section 7 with the errata). Packets in the orders in which they make sense (all but subtrees).
//!
//! Cost, B <= M dividing M: all-ports s_0 M/B rounds of tau + B t_c, one-way and one-port (N - 1) M/B, in every order
//! and variant. Without packets:
//! * reverse-breadth-first: M s_0 t_c + n tau. The maximising variants lose Lemma 4 at level 1, so that for n >= 7 a
//!   node of level 2 may be busier than the root in a round: there the larger of the two counts.
//! * postorder, all ports: n rounds, each as long as the largest subtree that hangs from its level.
//! * one-way, one-port: 2n - 2 rounds (n >= 2), each as long as its longest message.
//!
//! Packets of B > M hold blocks of several nodes. All-ports, postorder: ceil(s_0 M/B) + n - 1 rounds at most. One-way,
//! one-port: C = ceil(s_0 M/B) times n cycles, then at most n - 2 more (the tail: what the last subtree has still to
//! pass on when the root is done); the paper counts (N-1)M/B root cycles and no tail.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on. With packets it walks its whole subtree
//! of the root, reverse-breadth-first even all of them, to learn where packets end.
//!
//! Correctness condition: no node has more blocks to pass on at any distance than its parent (Lemma 4), so that a node
//! is done with a level when the next one arrives. One port, packets of whole subtrees or B > M: what leaves the root
//! in cycle t for subtree j enters c in cycle t + n - 1 - alpha_c (Lemma 17), and the next packet follows n cycles
//! later. B <= M: a packet is for one node and is passed on in the next cycle; two packets for one subtree follow each
//! other at once only if the first one is for the subtree's root, so that one way suffices.
//!
//! Example, n = 3, root 0, all ports: round 0: block 7 to 1; round 1: 3 to 1, 6 to 2, 5 to 4, and 7 from 1 to 3; round
//! 2: 1, 2, 4 to themselves, 3 from 1, 6 from 2, 5 from 4, 7 from 3. Cyclic, B = M: the root sends 7; 5 6 3; 4 2 1.

use crate::address::mask;
use crate::algorithm::tree_scatter::{
    all_ports, by_level, by_level_cost, by_subtree, packets, relayed, sending_order, subtree_order, subtree_sizes,
};
use crate::algorithm::{
    Algorithm, Figure, Form, Formula, Order, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS,
};
use crate::collective::{Call, Collective};
use crate::schedule::Problem;
use crate::topology::{
    sbnt::{Sbnt, Variant},
    swapped::Swapped,
    Tree,
};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "sbnt",
    summary: "all ports: the root's links carry equal shares, n/2 times the rate of the SBT",
    source: "HJ88 SBnT",
    section: "3, 4, 5",
    differs: "one port at a time, all orders are the same schedule unless there are packets; cyclic is then the usual one",
    packets: &PortModel::ALL,
    orders: &[Order::ReverseBreadthFirst, Order::Subtrees, Order::Cyclic, Order::Postorder],
    variants: true,
    suits,
    cost: "all-ports: M t_c times the nodes of the largest subtree + n tau; one-way, one-port: 2n - 2 rounds, about \
           N (1 + O(log n / n)) M t_c; packets of B <= M: ceil(M/B) (tau + B t_c) times the nodes of the largest subtree \
           (all-ports) or N - 1",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn suits(_: &Call, parameters: &Parameters) -> Result<(), Unsuited> {
    let refuse = |order: Order, ports: &str| Err(("order", format!("sends its blocks in the order {order} {ports}")));
    match parameters.order {
        Some(order @ Order::ReverseBreadthFirst) if !all_ports(parameters) => refuse(order, "through all ports only"),
        Some(order @ (Order::Subtrees | Order::Cyclic)) if all_ports(parameters) => refuse(order, "one port at a time"),
        Some(Order::Subtrees) if parameters.packet.is_some() => {
            Err(("packet", "takes no packet size where subtrees travel whole; the order cyclic does".into()))
        }
        _ => Ok(()),
    }
}

/// The packet size; none if it holds all that there is for a subtree.
fn packet(shape: &Shape) -> Option<usize> {
    let largest = if shape.n == 0 { 0 } else { Sbnt::new(shape.n, shape.parameters.variant).subtree_nodes(0) };
    shape.parameters.packet.filter(|packet| *packet < largest * shape.count)
}

/// The cost of the scatter.
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let tree = Sbnt::new(n, parameters.variant);
    let all = tree.subtree_nodes(0) * count;
    let common = Formula {
        moved: (n as usize * shape.nodes() / 2 * count) as f64,
        load: all as f64,
        scratch: (all - count) as f64,
        hops: n as usize,
        path: all as f64,
        ..Formula::NOTHING
    };
    let by_subtrees = !all_ports(&parameters) || parameters.order == Some(Order::Postorder);
    let common = match packet(shape) {
        Some(packet) if packet <= count => common.at_most(&[Figure::Path], shape.full_packets()),
        // What is for several nodes goes on only when all of it has come.
        None if by_subtrees => common.with_path(deepest(&tree, count), tree.path_is_counted()),
        Some(_) => common.with_path(deepest(&tree, count), false),
        None => common,
    };
    if all_ports(&parameters) {
        through_all_ports(shape, &tree, common)
    } else {
        through_one_port(shape, &tree, common)
    }
}

/// The cost of the gather, which is the same backwards: the root receives all blocks, once the first subtree's have come together.
pub fn gathered(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    let forward = formula(shape);
    if n == 0 || count == 0 {
        return forward;
    }
    let others = shape.nodes() - 1;
    let at_once = all_ports(&parameters) && parameters.order != Some(Order::Postorder);
    match packet(shape) {
        Some(packet) if packet <= count => forward.with_path((others * count) as f64, shape.full_packets()),
        None if at_once => forward.with_path((others * count) as f64, true),
        whole => {
            let path = together(&Sbnt::new(n, parameters.variant), count);
            forward.with_path(path, whole.is_none() && !forward.at_most.contains(Figure::Path))
        }
    }
}

/// What follows one another down the path of the largest subtree, every node's whole subtree.
fn deepest(tree: &Sbnt, count: usize) -> f64 {
    (tree.path_nodes(0).into_iter().sum::<usize>() * count) as f64
}

/// What follows one another until all is at the root, if every node waits for the blocks of its subtree and receives, in its turn, what is
/// there first: the root takes the last subtree's after all others', and that comes together down its path. (So does the root of a scatter
/// through one port end with the last subtree.)
fn together(tree: &Sbnt, count: usize) -> f64 {
    let n = tree.dimension();
    ((mask(n) + tree.path_nodes(n - 1).into_iter().skip(1).sum::<usize>()) * count) as f64
}

fn through_all_ports(shape: &Shape, tree: &Sbnt, common: Formula) -> Formula {
    let (n, count) = (shape.n as usize, shape.count);
    if shape.parameters.order == Some(Order::Postorder) {
        return match packet(shape) {
            Some(packet) if packet <= count => {
                let rounds = tree.subtree_nodes(0) * count.div_ceil(packet);
                let elements = shape.in_packets(rounds, 1);
                Formula { rounds, elements, ..common }.at_most(&[Figure::Elements], shape.full_packets())
            }
            Some(packet) => packed(shape, tree, packet, 1, common),
            None => Formula { rounds: n, elements: common.path, ..common }
                .at_most(&[Figure::Elements], tree.path_is_counted()),
        };
    }
    let own = tree.level_nodes();
    if let Some(packet) = packet(shape) {
        return by_level_cost(common, own.into_iter(), count, Some(packet));
    }
    // In the round in which the root sends a level, the nodes of level 1 send what is as far from their children. In the minimising
    // variants that is less (Lemma 4); in the others data waits for them where they are busier.
    let busier = tree.children(tree.top(0)).filter(|_| !tree.variant().minimises());
    let busiest = busier.fold(own, |busiest, child| {
        let mut sizes = vec![0; n];
        tree.subtree(child).for_each(|(_, level)| sizes[level as usize] += 1);
        busiest.into_iter().zip(sizes).map(|(own, below)| own.max(below)).collect()
    });
    let elements = (busiest.into_iter().sum::<usize>() * count) as f64;
    Formula { rounds: n, elements, ..common }.with_path(elements, elements == common.load)
}

/// The largest cube whose packets of several blocks are followed through all its subtrees, each time that a formula is asked for.
const FOLLOWED: u32 = 8;

/// Packets of several blocks down all subtrees, one to each in `cycle` rounds: packet q enters node c in round `cycle` q + its delay, which
/// is the label one port at a time, the level with all ports.
fn packed(shape: &Shape, tree: &Sbnt, packet: usize, cycle: usize, common: Formula) -> Formula {
    if shape.n <= FOLLOWED {
        let (rounds, elements) = followed(shape, tree, packet, cycle);
        return Formula { rounds, elements: elements as f64, ..common };
    }
    let n = shape.n as usize;
    let most: Vec<usize> = if cycle == 1 {
        tree.path_nodes(0)
    } else {
        // Subtrees leave the root in turn, and the last one's path is what is left.
        let path = tree.path_nodes(shape.n - 1).into_iter();
        (0..shape.n).map(|j| tree.subtree_nodes(j)).chain(path.skip(1)).collect()
    };
    // What a node with the largest subtree of a delay takes of a packet.
    let carried = |delay: usize, packet: usize| most.get(delay).map_or(0, |nodes| packet.min(nodes * shape.count));
    let all = most[0] * shape.count;
    let full = all.div_ceil(packet) - 1;
    let last = all - full * packet;
    let cycles: usize = (0..cycle).map(|delay| full * carried(delay, packet)).sum();
    // In the last cycle the packet before is still on its way farther down.
    let before = |delay: usize| carried(delay + cycle, if full > 0 { packet } else { 0 });
    let end: usize = (0..most.len()).map(|delay| carried(delay, last).max(before(delay))).sum();
    let rounds = full * cycle + if cycle == 1 { n } else { 2 * n - 2 };
    Formula { rounds, elements: (cycles + end) as f64, ..common }.at_most(&[Figure::Rounds, Figure::Elements], false)
}

/// Rounds and elements of these packets, by following them.
fn followed(shape: &Shape, tree: &Sbnt, packet: usize, cycle: usize) -> (usize, usize) {
    let postorder = shape.parameters.order == Some(Order::Postorder);
    let mut longest: Vec<usize> = Vec::new();
    for j in 0..shape.n {
        // In a depth-first walk a node's subtree follows it.
        let nodes = subtree_sizes(tree, tree.top(j));
        let levels: Vec<u32> = nodes.iter().map(|&(_, level, _)| level).collect();
        let mut begins = vec![0; nodes.len()];
        sending_order(&levels, postorder)
            .into_iter()
            .enumerate()
            .for_each(|(at, node)| begins[node] = at * shape.count);
        let mut carried = vec![0; (nodes.len() * shape.count).div_ceil(packet)];
        let mut touched = Vec::new();
        for (at, (c, level, size)) in nodes.into_iter().enumerate() {
            for (begin, end) in begins[at..at + size].iter().map(|&begin| (begin, begin + shape.count)) {
                let packets = begin / packet..end.div_ceil(packet);
                for (q, carried) in packets.clone().zip(&mut carried[packets]) {
                    if *carried == 0 {
                        touched.push(q);
                    }
                    *carried += end.min((q + 1) * packet) - begin.max(q * packet);
                }
            }
            let delay = if cycle == 1 { level } else { tree.label(c).unwrap_or(0) } as usize;
            for q in touched.drain(..) {
                let round = q * cycle + delay;
                longest.resize(longest.len().max(round + 1), 0);
                longest[round] = longest[round].max(std::mem::take(&mut carried[q]));
            }
        }
    }
    (longest.iter().filter(|&&carried| carried > 0).count(), longest.iter().sum())
}

fn through_one_port(shape: &Shape, tree: &Sbnt, common: Formula) -> Formula {
    let (n, count, others) = (shape.n as usize, shape.count, shape.nodes() - 1);
    match packet(shape) {
        Some(packet) if packet <= count => {
            // The root sends in every round; relays are at different packets of their blocks.
            let rounds = others * count.div_ceil(packet);
            let elements = shape.in_packets(rounds, 1);
            Formula { rounds, elements, ..common }.at_most(&[Figure::Elements], shape.full_packets())
        }
        // The root turns to the same subtree again after n cycles.
        Some(packet) => packed(shape, tree, packet, n, common),
        None => Formula { rounds: n + n.saturating_sub(2), elements: together(tree, count), ..common }
            .at_most(&[Figure::Elements], tree.path_is_counted()),
    }
}

/// The tree of the variant; or, if that uses links that must carry nothing, the first among the other variants and the copies
/// of all with two dimensions exchanged that uses the fewest of them below level 1. (All use every link of the root.)
fn usable(problem: &Problem, variant: Variant) -> Swapped<Sbnt> {
    let n = problem.n;
    let edges: Vec<(usize, usize)> =
        problem.avoided_edges().iter().map(|&(from, to)| (from ^ problem.root, to ^ problem.root)).collect();
    let uses =
        |tree: &Swapped<Sbnt>| edges.iter().filter(|&&(from, to)| from != 0 && tree.parent(to) == Some(from)).count();
    let usual = Swapped::new(Sbnt::new(n, variant), 0, 0);
    if uses(&usual) == 0 {
        return usual;
    }
    let swaps = std::iter::once((0, 0)).chain((0..n).flat_map(|second| (0..second).map(move |first| (first, second))));
    let others = swaps
        .flat_map(|(first, second)| Variant::ALL.map(|variant| Swapped::new(Sbnt::new(n, variant), first, second)));
    others
        .fold((uses(&usual), usual), |(least, best), tree| match uses(&tree) {
            fewer if fewer < least => (fewer, tree),
            _ => (least, best),
        })
        .1
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    if n == 0 {
        return;
    }
    let tree = usable(problem, parameters.variant);
    let root_child = |c: usize| tree.top(tree.index(c));
    let level = |c: usize| tree.level(c) as usize - 1;
    let label = |c: usize| tree.label(c).map_or(0, |label| label as usize);
    let postorder = parameters.order == Some(Order::Postorder);
    let order = |top: usize| subtree_order(&tree, top, postorder);
    let block = |c: usize| problem.block(c ^ problem.root);
    let count = problem.call.count;
    // Packets for the largest subtree: those of each block, or of all blocks packed together.
    let cycles = match parameters.packet {
        None => 1,
        Some(packet) if packet <= count => tree.subtree_nodes(0) * count.div_ceil(packet),
        Some(packet) => (tree.subtree_nodes(0) * count).div_ceil(packet),
    };
    match (all_ports(parameters), parameters.packet) {
        (true, None) if postorder => {
            route.set_rounds(n as usize);
            by_subtree(problem, parameters, &tree, node, route, level);
        }
        (true, Some(_)) if postorder => {
            let departures = |top: usize| {
                let blocks = order(top).into_iter().map(block);
                packets(blocks, parameters.packet).into_iter().enumerate().collect()
            };
            route.set_rounds(cycles + n as usize);
            relayed(problem, &tree, node, route, root_child, departures, level);
        }
        (true, _) => by_level(problem, parameters, &tree, node, route, root_child),
        (false, Some(packet)) if packet <= count => {
            // One pass over all nodes for each packet of a block. In a pass the subtrees end together, subtree 0 last, so
            // that those with more nodes begin earlier.
            let nodes = problem.nodes();
            let sizes: Vec<usize> = (0..n).map(|j| tree.subtree_nodes(j)).collect();
            let departures = |top: usize| {
                let j = tree.index(top) as usize;
                let mut departures = Vec::new();
                for (place, c) in order(top).into_iter().rev().enumerate() {
                    let later: usize = sizes.iter().map(|size| place.min(*size)).sum();
                    for (pass, packet) in packets(std::iter::once(block(c)), parameters.packet).into_iter().enumerate()
                    {
                        departures.push(((pass + 1) * (nodes - 1) - 1 - later - j, packet));
                    }
                }
                departures
            };
            route.set_rounds(count.div_ceil(packet) * (nodes - 1) + n as usize);
            relayed(problem, &tree, node, route, root_child, departures, level);
        }
        // Without packets each subtree is one, which leaves the root in the round of its label.
        (false, None) => {
            route.set_rounds(2 * n as usize);
            by_subtree(problem, parameters, &tree, node, route, label);
        }
        (false, Some(_)) => {
            let departures = |top: usize| {
                let blocks = order(top).into_iter().map(block);
                let packets = packets(blocks, parameters.packet).into_iter().enumerate();
                packets.map(|(cycle, packet)| (cycle * n as usize, packet)).collect()
            };
            route.set_rounds((cycles + 1) * n as usize);
            relayed(problem, &tree, node, route, root_child, departures, label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of several blocks: what is not followed on large cubes is no more than what is said of it, and not much less.
    #[test]
    fn packets_are_bounded_where_they_are_not_followed() {
        for (n, ports, postorder) in [9, 10].into_iter().flat_map(|n| {
            [(PortModel::OnePort, false), (PortModel::AllPorts, true)].map(|(ports, postorder)| (n, ports, postorder))
        }) {
            for (count, packet) in [(1, 2), (1, 7), (1, 56), (3, 8), (5, 17), (100, 1000)] {
                let parameters = Parameters {
                    packet: Some(packet),
                    order: Some(if postorder { Order::Postorder } else { Order::Cyclic }),
                    ..Parameters::new(ports)
                };
                let shape = Shape::new(&Call::new(Collective::Scatter, 1 << n, count), &parameters);
                let cycle = if postorder { 1 } else { n as usize };
                let (rounds, elements) = followed(&shape, &Sbnt::new(n, parameters.variant), packet, cycle);
                let bound = formula(&shape);
                let over = (bound.rounds as f64 / rounds as f64, bound.elements / elements as f64);
                assert!(over.0 >= 1.0 && over.1 >= 1.0, "{n} {ports:?} {count} {packet}: {over:?}");
                assert!(over.0 < 1.6 && over.1 < 1.5, "{n} {ports:?} {count} {packet}: {over:?}");
            }
        }
    }
}
