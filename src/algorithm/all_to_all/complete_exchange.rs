//! All-to-all by complete exchange, symmetrised.
//!
//! Algorithm: in the step of a dimension every node gives its neighbour across it all the blocks that it holds and that have
//! to cross that dimension: half of what it holds. Symmetrised, each of n slices of every block goes through the dimensions
//! in an order of its own, and every link carries the same load in every step.
//!
//! Reference: Stout and Wagar 1990, section 6, COMPLETE EXCHANGE. m elements a block. The paper starts the blocks for near
//! nodes later (its stage k those of distance n - k); the time is the same, and here all steps are equally long.
//!
//! Requirements: none.
//!
//! Cost: symmetrised, all-ports 2^(n-1) m t_c + n tau; plain n 2^(n-1) m t_c + n tau; plain, one-way twice that.
//!
//! Memory: half of the data in scratch memory.
//!
//! Correctness condition: after the steps over a set D of dimensions a node v holds the blocks from nodes that differ from
//! v in D only, for nodes that agree with v in D.
//!
//! Example, n = 2, plain, node 0: step 0: (0 to 1) and (0 to 3) to node 1, gets (1 to 0) and (1 to 2); step 1: (0 to 2) and
//! (1 to 2) to node 2, gets (2 to 0) and (3 to 0).

use crate::algorithm::exchange::Exchange;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllToAll,
    name: "complete_exchange",
    summary: "n messages a port instead of N - 1; symmetrised, every link is busy in every round",
    source: "SW COMPLETE EXCHANGE",
    section: "6",
    differs: "all steps are equally long; the paper starts the blocks for near nodes later (stages of 1, 4 and 7 blocks for n = 3), \
              in the same time",
    symmetrizes: true,
    cost: "symmetrised, all-ports: 2^(n-1) m t_c + n tau; plain: n 2^(n-1) m t_c + n tau (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of one complete exchange of blocks of `count` elements; slices of at most ceil(m/n).
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let half = (shape.nodes() / 2 * shape.count) as f64;
    let path = n as f64 * half;
    let common = Formula {
        rounds: n,
        elements: path,
        moved: path * shape.nodes() as f64,
        load: half,
        // All that is not for the rank itself.
        scratch: path - ((shape.nodes() - 1) * shape.count) as f64,
        hops: n,
        path,
        ..Formula::NOTHING
    };
    match shape.parameters {
        Parameters { symmetrized: true, .. } => {
            Formula { elements: (n * shape.nodes() / 2 * shape.count.div_ceil(n)) as f64, ..common }
        }
        Parameters { ports: PortModel::OneWay, .. } => Formula { rounds: 2 * n, elements: 2.0 * path, ..common },
        _ => common,
    }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let exchange = Exchange::new(problem.n, parameters);
    route.set_rounds(exchange.rounds());
    let item = |slice, from, to| exchange.slice(problem.block_between(from, to), slice);
    exchange.personalised(0, node, route, item);
}
