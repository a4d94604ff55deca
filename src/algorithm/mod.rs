//! The algorithms: a folder a collective, a file an algorithm, a row each in the [`registry`].
//!
//! An algorithm is a pure function that writes the [`Route`] of one node. It names intervals, neighbours and rounds, and
//! knows no rank, no buffer and no transport. Collectives that are opposites of each other share it: gather is scatter
//! backwards, reduce is broadcast backwards, reduce-scatter is all-gather backwards ([`Form`]).
//!
//! What an algorithm does can be looked at without running it:
//! ```
//! use hypercoll::algorithm::{registry, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//!
//! // 100 elements from rank 0 to 8 ranks along the binomial tree.
//! let sbt = registry::find(Collective::Broadcast, "sbt")?;
//! let call = Call::new(Collective::Broadcast, 8, 100);
//! let parameters = Parameters::new(PortModel::OnePort);
//! let formula = (sbt.formula)(&sbt.shape(&call, &parameters));
//! assert_eq!(formula.rounds, 3); // log2 8
//! // The root sends all of it three times; rank 7, a leaf, passes nothing on.
//! assert_eq!(sbt.schedule(&call, &parameters, 0).elements_sent(), 300);
//! assert_eq!(sbt.schedule(&call, &parameters, 7).elements_sent(), 0);
//! # hypercoll::Result::Ok(())
//! ```

mod accepts;
mod formula;
mod lengths;
mod making;
mod parameters;
pub mod registry;
mod row;
pub mod verify;

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod gather;
mod matrix_multiply;
mod neighbor_all_to_all;
mod permute;
mod quarter_turn;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod send;
mod transpose_rows;
mod transpose_submatrices;

mod by_hosts;
mod direct;
mod exchange;
mod halved;
#[cfg(test)]
mod optimal_times;
mod postal;
mod rings;
#[cfg(test)]
mod sbnt_tables;
mod strides;
mod translated;
mod tree_scatter;
mod two_level;

pub use crate::schedule::PortModel;
use crate::schedule::Route;
pub use formula::{Figure, Figures, Formula, Shape};
pub use lengths::Lengths;
pub use parameters::{Latency, OnTorus, Order, Parameters};
pub use row::{Algorithm, Far, Form, Unsuited, Write};
use row::{BELOW_ONE_SWITCH, DEFAULTS};
