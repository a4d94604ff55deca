//! hypercoll: hypercube collectives over MPI.
#![deny(missing_docs)]

pub mod address;
pub mod algorithm;
pub mod collective;
pub mod error;
pub mod schedule;
pub mod topology;
