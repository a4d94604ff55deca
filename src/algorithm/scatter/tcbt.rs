//! Scatter along the two-rooted complete binary tree (TCBT).
//!
//! Algorithm: with one port, all blocks of a subtree travel together, and a node sends first to one child, then to the other;
//! so it does with all ports and the order `subtrees`, to both at once. The usual order with all ports is the blocks of the
//! farthest nodes first, level by level.
//!
//! Reference: Ho and Johnsson 1986, sections 3.4 and 4.3, table 6 (with erratum 4: the all-ports entry, 3N/2 - 1, is only a
//! bound). M elements a block, packets of B.
//!
//! Requirements: none. Packets with all ports, farthest nodes first.
//!
//! Cost, n >= 2: one-way, one-port (2N - 2n - 1) M t_c + (2n - 2) tau. All-ports (3N/4 - 1) M t_c + n tau farthest nodes
//! first; in packets of B <= M, N/2 ceil(M/B) rounds of tau + B t_c; by subtrees (3N/2 - n - 1) M t_c + n tau. For n = 1, one
//! message.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on.
//!
//! Correctness condition: no node has more blocks to pass on at any distance than its parent, so that a node is done with a
//! level when the next one arrives. One port: the blocks of a subtree enter its root c in round label(c); a node sends in
//! the two rounds after that.
//!
//! Example, n = 3, root 0, one port: round 0: blocks 4 5 7 1 to 4; round 1: 2 3 6 to 2, and 5 7 1 from 4 to 5; round 2: 3 from 2
//! to 3, 7 from 5 to 7; round 3: 6 from 2 to 6, 1 from 5 to 1.

use crate::algorithm::tree_scatter::{all_ports, by_level, by_level_cost, by_subtree};
use crate::algorithm::{
    Algorithm, Figure, Form, Formula, Order, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS,
};
use crate::collective::{Call, Collective};
use crate::schedule::Problem;
use crate::topology::{tcbt::Tcbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "tcbt",
    summary: "two children at most: the bookkeeping of a binary tree at twice the rate of the SBT at worst",
    source: "HJ86 TCBT",
    section: "4.3",
    differs: "the paper takes the tree from Bhatt and Ipsen; how it lies in the cube is this library's; its bound for all ports is \
              not reached (erratum)",
    packets: &[PortModel::AllPorts],
    orders: &[Order::ReverseBreadthFirst, Order::Subtrees],
    suits,
    cost: "one-way, one-port: (2N - 2n - 1) M t_c + (2n - 2) tau; all-ports: (3N/4 - 1) M t_c + n tau, \
           by subtrees (3N/2 - n - 1) M t_c + n tau",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn suits(_: &Call, parameters: &Parameters) -> Result<(), Unsuited> {
    match order(parameters) {
        Order::ReverseBreadthFirst if !all_ports(parameters) => {
            Err(("order", format!("sends whole subtrees with {}", parameters.ports)))
        }
        Order::Subtrees if parameters.packet.is_some() => {
            Err(("packet", "sends a subtree's blocks in one packet in the order subtrees".into()))
        }
        _ => Ok(()),
    }
}

/// The order that was asked for, or the usual one.
fn order(parameters: &Parameters) -> Order {
    let usual = if all_ports(parameters) { Order::ReverseBreadthFirst } else { Order::Subtrees };
    parameters.order.unwrap_or(usual)
}

/// The cost of the scatter.
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::NOTHING;
    }
    let (d, nodes) = (n as usize, shape.nodes());
    let whole_subtrees = (3 * nodes / 2 - d - 1) * count;
    let half = nodes / 2 * count;
    let common = Formula {
        // The sum of the levels of all nodes.
        moved: ((d * nodes + 2 - 3 * nodes / 2) * count) as f64,
        load: half as f64,
        scratch: (half - count) as f64,
        hops: d,
        path: whole_subtrees as f64,
        ..Formula::NOTHING
    };
    let (rounds, elements) = match (order(&parameters), parameters.packet) {
        _ if n == 1 => (shape.packets(), count),
        (Order::ReverseBreadthFirst, Some(packet)) => {
            // The second root and the levels below it.
            let levels = std::iter::once(1).chain((0..n - 1).map(|level| 1 << level));
            // What is for several nodes goes on only when all of it has come.
            let whole = (3 * nodes / 4 - 1) * count;
            let path = if packet <= count { half } else { whole };
            let common = Formula { path: path as f64, ..common }.at_most(&[Figure::Path], packet <= count);
            return by_level_cost(common, levels, count, Some(packet));
        }
        (Order::ReverseBreadthFirst, None) => {
            let elements = (3 * nodes / 4 - 1) * count;
            return Formula { rounds: d, elements: elements as f64, path: elements as f64, ..common };
        }
        _ if all_ports(&parameters) => (d, whole_subtrees),
        _ => (2 * d - 2, (2 * nodes - 2 * d - 1) * count),
    };
    Formula { rounds, elements: elements as f64, ..common }
}

/// The cost of the gather, which is the same backwards.
pub fn gathered(shape: &Shape) -> Formula {
    let forward = formula(shape);
    let (nodes, d) = (shape.nodes(), shape.n as usize);
    if shape.n == 0 || order(&shape.parameters) == Order::ReverseBreadthFirst {
        return forward.with_path(((nodes - 1) * shape.count) as f64, true);
    }
    // On the longest way every node waits for all that is below it.
    forward.with_path(((2 * nodes - 2 * d - 1).max(1) * shape.count) as f64, true)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    if problem.n == 0 {
        return;
    }
    let tree = Tcbt::new(problem.n);
    if order(parameters) == Order::ReverseBreadthFirst {
        let root_child = |c: usize| if tree.is_second(c) { 1 << (problem.n - 1) } else { 1 << (problem.n - 2) };
        by_level(problem, parameters, &tree, node, route, root_child);
        return;
    }
    let start = |c: usize| match tree.label(c) {
        Some(_) if all_ports(parameters) => tree.level(c) as usize - 1,
        label => label.map_or(0, |label| label as usize),
    };
    route.set_rounds(2 * problem.n as usize);
    by_subtree(problem, parameters, &tree, node, route, start);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::verify;

    /// Rounds and the sum of the longest messages in blocks, counted in the schedules; with the largest load of a link.
    fn cost(n: u32, ports: PortModel, order: Option<Order>, packet: Option<usize>) -> (usize, usize, usize) {
        let call = Call::new(Collective::Scatter, 1 << n, 6);
        let parameters = Parameters { symmetrized: false, packet, order, ..Parameters::new(ports) };
        let report = verify(&ALGORITHM, &call, &parameters);
        assert!(report.violations.is_empty(), "n = {n} {parameters:?}: {:?}", report.violations);
        (report.cost.rounds, report.cost.longest_sum() / 6, report.cost.max_link_load / 6)
    }

    #[test]
    fn costs_are_those_of_table_6_and_its_erratum() {
        // (N = 2^n: 2N - 2n - 1; 3N/2 - n - 1; 3N/4 - 1) for n = 2, 3, ...
        let expected = [(3, 3, 2), (9, 8, 5), (23, 19, 11), (53, 42, 23), (115, 89, 47), (241, 184, 95)];
        for (n, (one_port, subtrees, levels)) in (2u32..).zip(expected) {
            let (d, half) = (n as usize, 1 << (n - 1));
            for ports in [PortModel::OneWay, PortModel::OnePort] {
                assert_eq!(cost(n, ports, None, None), (2 * d - 2, one_port, half));
                assert_eq!(cost(n, ports, Some(Order::Subtrees), None), (2 * d - 2, one_port, half));
            }
            let all = |order, packet| cost(n, PortModel::AllPorts, order, packet);
            assert_eq!(all(Some(Order::Subtrees), None), (d, subtrees, half));
            assert_eq!(all(None, None), (d, levels, half));
            assert_eq!(all(Some(Order::ReverseBreadthFirst), Some(2)), (3 * half, half, half));
        }
    }

    #[test]
    fn degenerate_cubes() {
        for ports in PortModel::ALL {
            assert_eq!(cost(0, ports, None, None), (0, 0, 0));
            assert_eq!(cost(1, ports, None, None), (1, 1, 1));
        }
        assert_eq!(cost(1, PortModel::AllPorts, Some(Order::Subtrees), None), (1, 1, 1));
        assert_eq!(cost(1, PortModel::AllPorts, None, Some(2)), (3, 1, 1));
    }

    #[test]
    fn orders_that_do_not_go_with_the_ports_or_with_packets_are_refused() {
        let call = Call::new(Collective::Scatter, 8, 6);
        let error = |ports, order, packet| {
            let parameters = Parameters { symmetrized: false, packet, order, ..Parameters::new(ports) };
            ALGORITHM.accepts(&call, &parameters).expect_err("refused").to_string()
        };
        assert!(error(PortModel::OnePort, Some(Order::ReverseBreadthFirst), None).contains("order"));
        assert!(error(PortModel::AllPorts, Some(Order::Subtrees), Some(2)).contains("packet"));
        assert!(error(PortModel::AllPorts, Some(Order::Postorder), None).contains("order"));
    }
}
