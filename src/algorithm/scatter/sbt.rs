//! Scatter along the spanning binomial tree (SBT).
//!
//! Algorithm: with one port, the root sends all blocks of its largest subtree first, then of the next, and every node
//! does the same with what it gets (order subtrees, the usual one). With all ports, the blocks of the farthest nodes go
//! first, through all ports at once (reverse-breadth-first). In the order gray-code, one port, the root sends block
//! after block, from that of relative address N - 1 down to 1, so that its ports follow one another as in the
//! transition sequence of the binary-reflected Gray code, port 0 every other time, port 1 every fourth; so do those of
//! the nodes below, which therefore need only one way.
//!
//! Reference: Ho and Johnsson 1986, section 4.2.1 and lemma 4.2 (with erratum 6), and 5.2 (gray-code). M elements a
//! block, packets of B.
//!
//! Requirements: none.
//!
//! Cost: one-way, one-port (N - 1) M t_c + n tau in one packet a subtree; with packets of B <= M, (N - 1) ceil(M/B)
//! rounds, of B = 2^b M, N/2^b + b - 1: the n - b largest subtrees in 2^(n-1-b), ..., 1 packets, the others in one each. All-ports N/2 M t_c + n tau. Gray-code (N - 1) ceil(M/B) rounds; its packets hold parts of one block only,
//! all of it without a packet size or if B > M.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on.
//!
//! Correctness condition (one port): a node with highest bit k has its whole subtree's blocks before dimension k + 1
//! begins. Gray-code: what leaves the root in round t enters a node of level l in round t + l - 1 and is then passed on
//! at once; the blocks for a subtree at bit k leave the root 2^(k+1) rounds apart, and its own one, which is not passed
//! on, is the last.
//!
//! Example, n = 3, root 0, one port: round 0: blocks 1 3 5 7 to 1; round 1: 2 6 to 2, and 3 7 from 1 to 3; round 2: 4
//! to 4, 5 from 1 to 5, 6 from 2 to 6, 7 from 3 to 7. Gray-code: the root sends 7 to 1, 6 to 2, 5 to 1, 4 to 4, 3 to 1,
//! 2 to 2, 1 to 1.

use crate::address::binomial;
use crate::algorithm::tree_scatter::{all_ports, by_level, by_level_cost, by_subtree, level_cost, packets};
use crate::algorithm::{
    Algorithm, Figure, Form, Formula, Order, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS,
};
use crate::collective::{Call, Collective};
use crate::schedule::Problem;
use crate::topology::{sbt::Sbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "sbt",
    summary: "fewest start-ups on one port",
    source: "HJ86 SBT",
    section: "4.2.1",
    packets: &PortModel::ALL,
    orders: &[Order::Subtrees, Order::ReverseBreadthFirst, Order::GrayCode],
    suits,
    cost: "one-way, one-port: (N - 1) M t_c + n tau, in packets of B = 2^b M (N - 1) M t_c + (N/2^b + b - 1) tau; all-ports: N/2 M t_c + n tau",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn suits(_: &Call, parameters: &Parameters) -> Result<(), Unsuited> {
    match (parameters.order, all_ports(parameters)) {
        (Some(Order::ReverseBreadthFirst), false) => {
            Err(("order", "sends the farthest blocks first through all ports only".into()))
        }
        (Some(order @ (Order::Subtrees | Order::GrayCode)), true) => {
            Err(("order", format!("sends its blocks in the order {order} one port at a time")))
        }
        _ => Ok(()),
    }
}

/// The cost of the scatter.
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (nodes, others) = (shape.nodes(), (shape.nodes() - 1) * count);
    // Half of all goes to the root's first child and, if all ports work or the ports take turns, on from there at once.
    let half = nodes / 2 * count;
    let common = Formula {
        moved: (n as usize * half) as f64,
        load: half as f64,
        scratch: (half - count) as f64,
        hops: n as usize,
        path: half as f64,
        ..Formula::NOTHING
    };
    if all_ports(&parameters) {
        // The subtree of port 0 is a binomial tree of n - 1 dimensions.
        return by_level_cost(common, (0..n).map(|i| binomial(n - 1, i)), count, parameters.packet);
    }
    if parameters.order == Some(Order::GrayCode) {
        let rounds = (nodes - 1) * shape.packets();
        return Formula { rounds, elements: others as f64, hops: nodes / 2, ..common };
    }
    let subtrees = (0..n).map(|k| 1usize << (n - 1 - k));
    let rounds = level_cost(subtrees, count, parameters.packet);
    // The last packet to the first child goes on in whole; what is for several nodes may have to go on and on.
    let (path, exact) = match parameters.packet {
        None => (others, true),
        Some(_) if n == 1 => (count, true),
        Some(packet) if packet <= count => (half + packet, true),
        Some(packet) => (others.min(half.saturating_add(packet.saturating_mul(n as usize - 1))), packet >= half),
    };
    Formula { rounds, elements: others as f64, path: path as f64, ..common }.at_most(&[Figure::Path], exact)
}

/// The cost of the gather, which is the same backwards: the root receives all blocks.
pub fn gathered(shape: &Shape) -> Formula {
    formula(shape).with_path(((shape.nodes() - 1) * shape.count) as f64, true)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    let tree = Sbt::new(n);
    if all_ports(parameters) {
        by_level(problem, parameters, &tree, node, route, |c| c & c.wrapping_neg());
        return;
    }
    if parameters.order == Some(Order::GrayCode) {
        descending(problem, parameters, &tree, node, route);
        return;
    }
    // Without a packet size dimension k is round k. With one, it begins when the largest messages of the dimensions before
    // it are through: those of the whole cube's subtrees, blocks of missing ranks included.
    let count = problem.call.count;
    let length = |k: u32| level_cost([1usize << (n - 1 - k)].into_iter(), count, parameters.packet);
    let starts: Vec<usize> = (0..=n).map(|k| (0..k).map(length).sum()).collect();
    route.set_rounds(starts[n as usize]);
    let start = |c: usize| tree.parent_port(c).map_or(0, |k| starts[k as usize]);
    by_subtree(problem, parameters, &tree, node, route, start);
}

/// One pass over all nodes, in descending order, for each packet of a block.
fn descending(problem: &Problem, parameters: &Parameters, tree: &Sbt, node: usize, route: &mut Route) {
    let (root, count, others) = (problem.root, problem.call.count, problem.nodes() - 1);
    let packet = parameters.packet.map_or(count, |packet| packet.min(count)).max(1);
    route.set_rounds(others * count.div_ceil(packet) + problem.n as usize);
    // What enters node c: packet, round and piece.
    let entering = |c: usize| {
        let delay = tree.level(c) as usize - 1;
        tree.subtree(c).flat_map(move |(v, _)| {
            let pieces = packets(std::iter::once(problem.block(v ^ root)), Some(packet));
            pieces.into_iter().enumerate().map(move |(pass, piece)| (pass * others + others - v + delay, piece))
        })
    };
    let c = node ^ root;
    if let Some(parent) = tree.parent(c) {
        entering(c).for_each(|(round, piece)| route.receive(round, parent ^ root, piece));
    }
    for child in tree.children(c) {
        entering(child).for_each(|(round, piece)| route.send(round, child ^ root, piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::verify;

    #[test]
    fn packets_of_several_blocks() {
        for n in 1..=6u32 {
            for b in 0..n {
                let call = Call::new(Collective::Scatter, 1 << n, 5);
                let parameters = Parameters { packet: Some(5 << b), ..Parameters::new(PortModel::OnePort) };
                let report = verify(&ALGORITHM, &call, &parameters);
                assert_eq!(report.violations, [], "n = {n}, b = {b}");
                assert_eq!(report.cost.rounds, (1 << (n - b)) + b as usize - 1, "n = {n}, b = {b}");
                assert_eq!(report.cost.longest_sum(), ((1 << n) - 1) * 5, "n = {n}, b = {b}");
            }
        }
    }

    /// "Port 0 is used every other cycle, port 1 every fourth cycle, etc." (1986, section 5.2).
    #[test]
    fn the_ports_of_the_root_follow_the_gray_code() {
        let call = Call::new(Collective::Scatter, 16, 3).with_root(5);
        let order = Some(Order::GrayCode);
        for (packet, passes) in [(None, 1), (Some(7), 1), (Some(2), 2)] {
            let parameters = Parameters { order, packet, ..Parameters::new(PortModel::OneWay) };
            let mut route = Route::new();
            write(&Problem::new(&call), &parameters, 5, &mut route);
            let mut ports: Vec<_> = route.transfers().iter().map(|t| (t.round, (t.peer ^ 5).ilog2())).collect();
            ports.sort_unstable();
            let expected = [0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0].repeat(passes);
            assert!(ports.into_iter().eq((0..).zip(expected)), "packet {packet:?}");
        }
    }
}
