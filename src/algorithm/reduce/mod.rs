//! Reduce: the element-wise combination of all vectors, on the root. Every reduce is a broadcast backwards.

pub mod direct;
pub mod double_wave;
pub mod hamiltonian_path;
pub mod hamiltonian_path_middle;
pub mod hamiltonian_paths;
pub mod msbt;
pub mod pipelined_wave;
pub mod recursive_doubling;
pub mod recursive_doubling_symmetrized;
pub mod sbt;
pub mod tcbt;
pub mod wave;
