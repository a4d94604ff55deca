//! All-gather along N translated MSBT graphs: a broadcast of every node's block along n trees that share no directed edge.
//!
//! Algorithm: every block is cut into n parts, and part j goes from its owner down tree j of the n trees translated to it. Each directed
//! link but those into the owner is in one of its trees, so that all links carry an n-th of every block once, but of the block of the
//! rank that they lead to: an n-th of all that this rank has to receive, however unlike blocks are in length. Round l - 1 carries parts to
//! level l.
//!
//! Reference: Ho and Johnsson 1986, section 3.2 (ERSBT j); 1988, section 3 (corollary 3: translated graphs). The papers broadcast one
//! vector along these trees. M elements a block.
//!
//! Requirements: all ports at once.
//!
//! Cost, n >= 2, n dividing M: (2^n - 1)/n M t_c + (n + 1) tau. Otherwise parts of some trees are an element longer, and in each
//! round the dimension decides in which most edges of these are.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: no directed edge is in two trees of one owner; along a tree levels grow.
//!
//! Example, n = 2, blocks of 2, node 0: round 0: the first half of its block to 1, the second to 2; round 1: the second half of 2, from
//! 2, to 1, the first of 1, from 1, to 2; round 2: the first half of 3 to 1, the second to 2.

use crate::address::binomial;
use crate::algorithm::scatter::msbt::height;
use crate::algorithm::{Algorithm, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::{msbt::Ersbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "msbt",
    summary: "all ports, blocks of unlike lengths: all links share each block, and each carries it once",
    source: "HJ86 MSBT graph",
    section: "3.2",
    differs: "the paper broadcasts one vector along these trees; here every rank does, all at once",
    ports: &[PortModel::AllPorts],
    cost: "(2^n - 1)/n M t_c + (n + 1) tau",
    formula,
    lengths: Lengths::All,
    shares: true,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the all-gather.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let lengths: Vec<usize> = (0..n as usize).map(|j| part(0..shape.count, j, n as usize).len()).collect();
    // What each dimension carries into a level: the edges of tree j that are so many ports to the left of port j, of all trees.
    let carried = |level: u32, port: u32| {
        let tree = |h: u32| lengths[((port + n - h) % n) as usize];
        (0..n).map(|h| edges(n, level, h) * tree(h)).sum::<usize>()
    };
    let levels = || 1..=height(n);
    let elements: usize = levels().map(|level| (0..n).map(|port| carried(level, port)).max().unwrap_or(0)).sum();
    let load = (0..n).map(|port| levels().map(|level| carried(level, port)).sum::<usize>()).max().unwrap_or(0);
    Formula {
        rounds: height(n) as usize,
        elements: elements as f64,
        moved: shape.size as f64 * (shape.size - 1) as f64 * shape.count as f64,
        load: load as f64,
        hops: height(n) as usize,
        path: ((shape.nodes() - 1) * shape.count) as f64,
        ..Formula::NOTHING
    }
}

/// Edges of tree j into a level, from 1 on, across the port that is h to the left of port j, cyclically: into nodes with bit j set whose
/// farthest bit to the left of it is this one; across port j itself, into the root's child and, from level 3 on, the leaves.
fn edges(n: u32, level: u32, h: u32) -> usize {
    match (level, h) {
        (1, 0) => 1,
        (2, 0) | (1, _) => 0,
        (_, 0) => binomial(n - 1, level - 2),
        _ if h > level - 2 => binomial(h - 1, level - 2),
        _ => 0,
    }
}

/// The cost of the reduce-scatter, which is the same backwards.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(formula, shape)
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    route.set_rounds(height(n) as usize);
    for j in 0..n {
        let tree = Ersbt::new(n, j);
        for c in 1..problem.nodes() {
            let Some(port) = tree.parent_port(c) else { continue };
            let (round, peer) = (tree.level(c) as usize - 1, node ^ 1 << port);
            // The receiver is node c in the tree of the owner.
            let share = |receiver: usize| part(problem.block(receiver ^ c), j as usize, n as usize);
            route.send(round, peer, [share(peer)]);
            route.receive(round, peer, [share(node)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Call, Layout};
    use crate::executor::simulator::{simulate, Machine};

    /// The example of the header, as (round, to, half); half h of block b is position 2b + h.
    #[test]
    fn node_0_of_the_2_cube() {
        let call = Call::new(Collective::AllGather, 4, 2);
        let mut route = Route::new();
        write(&Problem::new(&call), &Parameters::new(PortModel::AllPorts), 0, &mut route);
        let sends = route.transfers().iter().filter(|transfer| transfer.sends);
        let mut sent: Vec<_> = sends.map(|t| (t.round, t.peer, route.pieces(t)[0].start)).collect();
        sent.sort_unstable();
        assert_eq!(sent, [(0, 1, 0), (0, 2, 1), (1, 1, 5), (1, 2, 2), (2, 1, 6), (2, 2, 7)]);
    }

    /// In packets a long block goes on as it comes: where ranks run as far ahead as over links, all links are busy nearly all the time,
    /// whoever has it, and with others half and a quarter as long.
    #[test]
    fn long_blocks_go_on_as_they_come() {
        const SHORT: usize = 600;
        for (n, at) in (2..=5u32).flat_map(|n| [(n, 0), (n, 1), (n, (1usize << n) - 1)]) {
            let mut lengths = vec![SHORT; 1 << n];
            (0..3).for_each(|i| lengths[at ^ i] = (32 * SHORT) >> i);
            let call = Call::new(Collective::AllGather, 1 << n, 0).with_layout(Layout::of_vectors(lengths.clone()));
            let parameters =
                Parameters { packet: Some(60), symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
            let all: Vec<_> = (0..1 << n).map(|rank| ALGORITHM.fitted(&call, &parameters, rank, true)).collect();
            let time = simulate(&all, &Machine::new(0.0, 1.0, PortModel::AllPorts)).expect("a legal schedule").time;
            let limit = (lengths.iter().sum::<usize>() - SHORT) as f64 / f64::from(n);
            assert!((0.999..1.1).contains(&(time / limit)), "n = {n}, {at}: {time}, limit {limit}");
        }
    }
}
