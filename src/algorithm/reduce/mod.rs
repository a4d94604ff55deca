//! Reduce: the element-wise combination of all vectors, on the root. Every reduce is a broadcast backwards.

pub mod direct;
pub mod hamiltonian_path;
pub mod hamiltonian_path_middle;
pub mod hamiltonian_paths;
pub mod msbt;
pub mod sbt;
pub mod tcbt;
