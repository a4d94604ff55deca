//! Scatter along the spanning balanced n-tree (SBnT; the BST of 1986).
//!
//! Algorithm: the subtrees of the root have about N/n nodes each, so with all ports the root is done n/2 times sooner than
//! with the SBT. Blocks of the farthest nodes go first, level by level, through all ports at once. With one port each
//! subtree's blocks travel together, in the cycles of Lemma 17.
//!
//! Reference: Ho and Johnsson 1988, sections 3 and 5, Lemma 17; 1986, section 4.2.2. M elements a block, packets of B; subtree
//! 0 is the largest.
//!
//! Requirements: none.
//!
//! Cost: all-ports M |subtree 0| t_c + n tau; with packets of B <= M, |subtree 0| ceil(M/B) rounds of tau + B t_c. One-way,
//! one-port 2n - 2 rounds (n >= 2), each as long as its longest message.
//!
//! Memory: a relay holds the blocks of its subtree, each until it is sent on.
//!
//! Correctness condition: no node has more blocks to pass on at any distance than its parent (Lemma 4), so that a node is
//! done with a level when the next one arrives. One port: the edge into c is used in cycle index(c) + n - 1 - alpha_c; a
//! node's labels differ and grow along the tree.
//!
//! Example, n = 3, root 0, all ports: round 0: block 7 to 1; round 1: 3 to 1, 6 to 2, 5 to 4, and 7 from 1 to 3; round 2: 1,
//! 2, 4 to themselves, 3 from 1, 6 from 2, 5 from 4, 7 from 3.

use crate::algorithm::tree_scatter::{all_ports, by_level, by_subtree, level_cost};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{
    sbnt::{Sbnt, Variant},
    Tree,
};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "sbnt",
    summary: "all ports: the root's links carry equal shares, n/2 times the rate of the SBT",
    source: "HJ88 SBnT",
    section: "3, 5",
    packets: &[PortModel::AllPorts],
    cost:
        "all-ports: M t_c times the nodes of the largest subtree + n tau; one-way, one-port: 2n - 2 rounds, about N (1 + O(log n / n)) M t_c",
    formula,
    exact: |shape| shape.parameters.packet.is_none_or(|b| shape.count % b == 0),
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Rounds and elements of the scatter, and of the gather, which is the same backwards.
pub fn formula(shape: &Shape) -> Formula {
    let Shape { n, count, parameters, .. } = *shape;
    if n == 0 || count == 0 {
        return Formula::default();
    }
    let tree = Sbnt::new(n, Variant::MinRight);
    // Down the longest path, 1, 11, 111, ..., every node receives its whole subtree's blocks; of a gather, the root all.
    let path: usize = (1..=n).map(|level| tree.subtree_size((1 << level) - 1)).sum();
    let path = path.max(shape.nodes() - 1) * count;
    let common = Formula {
        moved: (n as usize * shape.nodes() / 2 * count) as f64,
        load: (tree.subtree_size(1) * count) as f64,
        hops: n as usize,
        path: path as f64,
        ..Formula::default()
    };
    if all_ports(&parameters) {
        let mut sizes = vec![0; n as usize];
        tree.subtree(1).for_each(|(_, level)| sizes[level as usize] += 1);
        let (rounds, elements) = level_cost(sizes.into_iter(), count, parameters.packet);
        return Formula { rounds, elements, ..common };
    }
    // Round by round the longest message, which is found where the labels of the definition put it.
    let rounds = one_port_rounds(n);
    let mut longest = vec![0; rounds];
    for c in 1..shape.nodes() {
        if let Some(label) = tree.label(c) {
            let longest = &mut longest[label as usize];
            *longest = tree.subtree_size(c).max(*longest);
        }
    }
    Formula { rounds, elements: longest.iter().map(|size| (size * count) as f64).sum(), ..common }
}

fn one_port_rounds(n: u32) -> usize {
    (2 * n as usize - 2).max(1)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    if problem.n == 0 {
        return;
    }
    let tree = Sbnt::new(problem.n, Variant::MinRight);
    if all_ports(parameters) {
        by_level(problem, parameters, &tree, node, route, |c| 1 << tree.index(c));
        return;
    }
    route.set_rounds(one_port_rounds(problem.n));
    by_subtree(problem, parameters, &tree, node, route, |c| tree.label(c).map_or(0, |label| label as usize));
}
