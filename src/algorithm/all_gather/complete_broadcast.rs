//! All-gather by complete broadcast: recursive doubling, symmetrised.
//!
//! Algorithm: in step k every node exchanges all it knows with its neighbour across one dimension, so that what it knows
//! doubles. Symmetrised, each of n slices of the blocks goes through the dimensions in an order of its own, and every link
//! carries data in every step. Plain (one dimension at a time) it is recursive doubling. The top dimension comes first, as far places
//! then get little. Where each host is a subcube of 2^k ranks, there are n - k slices, which go through the dimensions between hosts first.
//!
//! Reference: Stout and Wagar 1990, section 6, COMPLETE BROADCAST; section 2, BROADCAST 2. m elements a block, tau there is t_c
//! here, beta there is tau here.
//!
//! Requirements: none.
//!
//! Cost: symmetrised, all-ports (2^n - 1)/n m t_c + n tau; plain (2^n - 1) m t_c + n tau; plain, one-way twice that.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: after the steps over a set D of dimensions a node knows the blocks of the nodes that differ from it
//! in D only.
//!
//! Example, n = 3, slice 1 of node 0: to 2 over port 1 (own block), to 1 over port 0 (blocks 0 and 2), to 4 over port 2
//! (blocks 0, 1, 2, 3).

use crate::algorithm::exchange::{crossing, Exchange};
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "complete_broadcast",
    summary: "fewest start-ups; symmetrised, every link is busy in every round",
    source: "SW COMPLETE BROADCAST",
    section: "6",
    differs:
        "goes from the top dimension down, and, where hosts are subcubes, through the dimensions between them first",
    ordered: true,
    symmetrizes: true,
    cost: "symmetrised, all-ports: (2^n - 1)/n m t_c + n tau; plain: (2^n - 1) m t_c + n tau (one-way: twice)",
    formula,
    crossing: Some(crossing),
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the all-gather; slices of at most ceil(m/n) elements.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let elements = ((shape.nodes() - 1) * shape.count) as f64;
    // Plain, the last dimension carries half of all blocks.
    let load = (shape.nodes() / 2 * shape.count) as f64;
    let moved = (shape.size * (shape.size - 1) * shape.count) as f64;
    let common = Formula { rounds: n, elements, moved, load, hops: n, path: elements, ..Formula::NOTHING };
    match shape.parameters {
        Parameters { symmetrized: true, .. } => {
            let exchange = Exchange::of_shape(shape);
            let slice = |s: u32| exchange.slice(0..shape.count, s).len();
            // Over a port a slice goes when it has t dimensions behind it, for every t another one.
            let (load, elements) = exchange.loads(|s, t| slice(s) << t);
            Formula { elements: elements as f64, load: load as f64, ..common }
        }
        Parameters { ports: PortModel::OneWay, .. } => {
            Formula { rounds: 2 * n, elements: 2.0 * elements, hops: n, ..common }
        }
        _ => common,
    }
}

/// The cost of the reduce-scatter, which is the same backwards: all that a rank receives but its own block is kept until it is sent on.
pub fn reduce_scattered(shape: &Shape) -> Formula {
    super::reduce_scattered(formula, shape)
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let exchange = Exchange::new(problem.n, parameters).far_first(problem);
    exchange.replicated(node, route, |slice, of| exchange.slice(problem.block(of), slice));
}
