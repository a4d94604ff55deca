//! All-to-all by total exchange: every directed link of the cube carries one block in every round.
//!
//! Algorithm: a block changes the address bits in which its destination differs from its origin from the highest to the lowest.
//! The k-cube is two (k-1)-cubes: first each exchanges its own blocks within itself, then the blocks that have come from the
//! other one, in the same way; meanwhile dimension k carries the blocks between the two, in the order in which they will be
//! wanted, and those that are then at their destination last. Half of them are across when the first is wanted.
//!
//! Reference: Bertsekas, Özveren, Stamoulis, Tseng and Tsitsiklis 1991, section 4 (with erratum 33), "Implementation". d there
//! is n here; link k is port k - 1; a packet is a block of m elements; N(i, n) there counts a node's own packets.
//!
//! Requirements: none.
//!
//! Cost: 2^(n-1) rounds of tau + m t_c and n 2^(2n-1) transmissions, both the least possible. A node learns its schedule in O(1)
//! word operations for each block that it handles, and O(n^2) for each of 2^n positions in the paper's tables.
//!
//! Memory: the blocks on their way, those coming and going included: at most half of a rank's data in scratch memory (n = 3),
//! and nearer to a quarter of it the larger the cube.
//!
//! Correctness condition: let r be the XOR of a block's destination and the node that it is at, k - 1 the highest 1 of r, and y
//! the XOR of its origin and that node, a multiple of 2^k. The block crosses link k in time unit y/2 + position(r), counted
//! from 1: an exchange within a k-cube takes 2^(k-1) units, and there have been y/2^k before this one. Nothing is late: the
//! first p rows of the (k-1)-table have at most 2^(k-2) + p - 1 entries (the paper's (5)), and so many blocks of either half
//! have crossed link k when, in unit p of the second exchange, those rows are due.
//!
//! Example, n = 3, node 0: over port 0 its block for 1, then those of 2, 4 and 6 for 1; over port 1 its blocks for 3 and 2, then
//! those of 4 for 3 and 2; over port 2 its blocks for 5, 7, 6 and 4.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "total_exchange",
    summary: "all ports: every link busy with one whole block in every round; short packets of fixed length",
    source: "BOSTT total exchange",
    section: "4",
    ports: &[PortModel::AllPorts],
    cost: "2^(n-1) (tau + m t_c)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    let (n, m) = (shape.n as usize, shape.count as f64);
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let rounds = shape.nodes() / 2;
    let elements = rounds as f64 * m;
    Formula {
        rounds,
        elements,
        moved: (n * shape.nodes()) as f64 * elements,
        load: elements,
        // All that is not for the rank itself.
        scratch: n as f64 * elements - (shape.nodes() - 1) as f64 * m,
        hops: rounds,
        path: n as f64 * elements,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, _parameters: &Parameters, node: usize, route: &mut Route) {
    route.set_rounds(problem.nodes() / 2);
    for r in 1..problem.nodes() {
        let bit = 1 << r.ilog2();
        let (peer, position) = (node ^ bit, position(r));
        for y in (0..problem.nodes()).step_by(2 * bit) {
            let round = y / 2 + position - 1;
            route.send(round, peer, [problem.block_between(node ^ y, node ^ r)]);
            route.receive(round, peer, [problem.block_between(peer ^ y, peer ^ r)]);
        }
    }
}

/// The place, from 1, of destination `x` in the order in which node 0 sends its own packets over link k, where bit k - 1 is
/// the highest 1 of x: the row of x in the paper's table.
///
/// Column k of the table is the (k-1)-table, read row by row from left to right, with bit k - 1 set, and then e_k. Column m has
/// 2^(m-1) rows. So a place follows from the place of x without its highest 1.
fn position(x: usize) -> usize {
    let highest = x.ilog2();
    let rest = x ^ 1 << highest;
    if rest == 0 {
        return 1 << highest;
    }
    let row = position(rest);
    let above: usize = (0..highest).map(|column| (row - 1).min(1 << column)).sum();
    let to_the_left = (0..rest.ilog2()).filter(|column| row <= 1 << column).count();
    above + to_the_left + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// The paper's d-th table, column by column, built as the paper says.
    fn table(d: u32) -> Vec<Vec<usize>> {
        let mut columns: Vec<Vec<usize>> = vec![vec![1]];
        for k in 2..=d {
            let mut last = Vec::new();
            for row in 0..1 << (k - 2) {
                last.extend(columns.iter().filter_map(|column| column.get(row)).map(|entry| entry | 1 << (k - 1)));
            }
            last.push(1 << (k - 1));
            columns.push(last);
        }
        columns
    }

    #[test]
    fn positions_are_rows_of_the_tables() {
        // The orders of the errata, section B.
        let expected: [&[usize]; 4] = [&[1], &[3, 2], &[5, 7, 6, 4], &[9, 11, 13, 10, 15, 14, 12, 8]];
        assert_eq!(table(4), expected);
        for (k, column) in table(12).iter().enumerate() {
            assert_eq!(column.len(), 1 << k);
            assert!((1..).zip(column).all(|(row, &x)| (position(x), x.ilog2()) == (row, k as u32)));
        }
    }

    /// A packet in the paper's rules: origin, destination and when it arrived.
    type Packet = (usize, usize, usize);

    /// The route of every node, found by carrying out the paper's rules with queues: (time, node, link, origin, destination).
    fn by_queues(d: u32) -> Vec<(usize, usize, u32, usize, usize)> {
        let nodes = 1usize << d;
        let orders = table(d);
        let mut queues: Vec<Vec<VecDeque<Packet>>> = vec![vec![VecDeque::new(); d as usize]; nodes];
        let mut log = Vec::new();
        for time in 1..=nodes / 2 {
            let mut under_way = Vec::new();
            for (node, queues) in queues.iter_mut().enumerate() {
                for (link, order) in (0..).zip(&orders) {
                    let packet = match order.get(time - 1) {
                        Some(entry) => (node, node ^ entry, 0),
                        None => {
                            // By origin XOR node, then by arrival; a queue is in order of arrival already.
                            let queue: &mut VecDeque<Packet> = &mut queues[link as usize];
                            let first = (0..queue.len()).min_by_key(|&at| (queue[at].0 ^ node, queue[at].2));
                            queue
                                .remove(first.expect("a packet is late: the link would be idle"))
                                .expect("in the queue")
                        }
                    };
                    log.push((time, node, link, packet.0, packet.1));
                    under_way.push((node ^ 1 << link, packet));
                }
            }
            for (node, (origin, to, _)) in under_way {
                if let Some(link) = (node ^ to).checked_ilog2() {
                    queues[node][link as usize].push_back((origin, to, time));
                }
            }
        }
        assert!(queues.iter().flatten().all(VecDeque::is_empty));
        log
    }

    /// The example of the header: (origin, destination) by port and round.
    #[test]
    fn node_0_of_the_3_cube() {
        let call = crate::collective::Call::new(Collective::AllToAll, 8, 1);
        let mut route = Route::new();
        write(&Problem::new(&call), &Parameters::new(PortModel::AllPorts), 0, &mut route);
        let expected =
            [[(0, 1), (2, 1), (4, 1), (6, 1)], [(0, 3), (0, 2), (4, 3), (4, 2)], [(0, 5), (0, 7), (0, 6), (0, 4)]];
        let mut sent = [[(0, 0); 4]; 3];
        for transfer in route.transfers().iter().filter(|transfer| transfer.sends) {
            let block = route.pieces(transfer)[0].start;
            sent[transfer.peer.ilog2() as usize][transfer.round] = (block / 8, block % 8);
        }
        assert_eq!(sent, expected);
    }

    #[test]
    fn memory() {
        use crate::algorithm::verify::schedules;
        use crate::collective::Call;
        // Blocks long enough for scratch memory to be used again.
        let count = 1 << 16;
        let parameters = Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
        for (n, blocks) in (1..).zip([0, 1, 4, 7, 13, 23]) {
            let schedules = schedules(&ALGORITHM, &Call::new(Collective::AllToAll, 1 << n, count), &parameters);
            assert!(schedules.iter().all(|schedule| schedule.scratch == blocks * count), "n = {n}");
            assert!(2 * blocks <= 1 << n);
        }
    }

    #[test]
    fn times_are_those_of_the_rules() {
        for d in 1..=8u32 {
            let log = by_queues(d);
            assert_eq!(log.len(), d as usize * (1 << (2 * d - 1)));
            for (time, node, link, origin, to) in log {
                let (r, y) = (node ^ to, node ^ origin);
                assert_eq!((r.ilog2(), y / 2 + position(r)), (link, time), "{origin} to {to} at {node}");
            }
        }
    }
}
