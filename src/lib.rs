//! hypercoll: hypercube collectives over MPI.
#![deny(missing_docs)]

pub mod address;
pub mod algorithm;
pub mod buffer;
pub mod collective;
pub mod comm;
pub mod error;
pub mod executor;
pub mod explain;
pub mod operation;
pub mod render;
pub mod schedule;
pub mod select;
pub mod topology;

pub use comm::Hypercube;
pub use error::{Error, Result};
pub use executor::threads;
pub use operation::SystemOperation;
