//! All-gather by multinode broadcast: N broadcasts at once, one block a link and round, in the fewest rounds for that.
//!
//! Algorithm: every node broadcasts its block along its own copy of one tree, all copies in step. The tree informs n nodes a
//! step, over n different dimensions, so that no two blocks want the same link in the same step.
//!
//! Reference: Bertsekas, Özveren, Stamoulis, Tseng and Tsitsiklis 1991, section 2 (with errata 32 and 34). d there is n here;
//! A_i are the links of step i of [`MultinodeTree`]; a packet is a block of m elements.
//!
//! Requirements: none.
//!
//! Cost: q = ceil((2^n - 1)/n) rounds of tau + m t_c, which is the least possible, as a node receives 2^n - 1 blocks over n
//! ports; 2^n (2^n - 1) transmissions. To learn its schedule a node goes through the nodes of the tree once, O(n^2) word
//! operations each.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: within a step the dimensions of the tree's links differ, and a node's parent is informed in an
//! earlier step.
//!
//! Example, n = 3, node 0: round 0: its own block to 1, 2 and 4; round 1: to 1 the block of 2, to 2 that of 4, to 4 that of 1;
//! round 2: to 1 the block of 6. Its own block goes on to 3 from 2, to 6 from 4, to 5 from 1, and last to 7 from 6.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::multinode::MultinodeTree;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "multinode_broadcast",
    summary: "all ports: the fewest rounds in which every link carries one whole block at a time",
    source: "BOSTT multinode broadcast",
    section: "2",
    ports: &[PortModel::AllPorts],
    cost: "ceil((2^n - 1)/n) (tau + m t_c)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the all-gather.
pub fn formula(shape: &Shape) -> Formula {
    let (n, others, m) = (shape.n as usize, shape.nodes() - 1, shape.count as f64);
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let rounds = others.div_ceil(n);
    let elements = rounds as f64 * m;
    Formula {
        rounds,
        elements,
        moved: (shape.size * (shape.size - 1)) as f64 * m,
        load: elements,
        hops: rounds,
        path: others as f64 * m,
        ..Formula::NOTHING
    }
}

/// The cost of the reduce-scatter, which is the same backwards.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(formula, shape)
}

pub fn write(problem: &Problem, _parameters: &Parameters, node: usize, route: &mut Route) {
    let tree = MultinodeTree::new(problem.n);
    route.set_rounds(tree.steps());
    for place in tree.nodes() {
        // The link into t = place.node, in the copy of the tree in which this node is t, and in that in which it is t's parent.
        let bit = 1 << place.column;
        let peer = node ^ bit;
        route.receive(place.step - 1, peer, [problem.block(node ^ place.node)]);
        route.send(place.step - 1, peer, [problem.block(node ^ place.node ^ bit)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Call;

    /// The example of the header, as (round, to, block).
    #[test]
    fn node_0_of_the_3_cube() {
        let call = Call::new(Collective::AllGather, 8, 1);
        let mut route = Route::new();
        write(&Problem::new(&call), &Parameters::new(PortModel::AllPorts), 0, &mut route);
        let sends = route.transfers().iter().filter(|transfer| transfer.sends);
        let mut sent: Vec<_> = sends.map(|t| (t.round, t.peer, route.pieces(t)[0].start)).collect();
        sent.sort_unstable();
        assert_eq!(sent, [(0, 1, 0), (0, 2, 0), (0, 4, 0), (1, 1, 2), (1, 2, 4), (1, 4, 1), (2, 1, 6)]);
    }
}
