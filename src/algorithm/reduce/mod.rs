//! Reduce: the element-wise combination of all vectors, on the root. Every reduce is a broadcast backwards.
//!
//! ```
//! use hypercoll::SystemOperation;
//! hypercoll::threads::run(6, |cube| {
//!     let mut largest = 0;
//!     let receive = (cube.rank() == 4).then_some(&mut largest);
//!     let mine = [7, 3, 9, 1, 5, 8][cube.rank()];
//!     cube.reduce(4).algorithm("sbt").run(&mine, receive, SystemOperation::max()).unwrap();
//!     assert_eq!(largest, if cube.rank() == 4 { 9 } else { 0 });
//! });
//! ```

pub mod binary;
pub mod chain;
pub mod circulant;
pub mod direct;
pub mod double_wave;
pub mod hamiltonian_path;
pub mod hamiltonian_path_middle;
pub mod hamiltonian_paths;
pub mod msbt;
pub mod pipelined_wave;
pub mod postal;
pub mod recursive_doubling;
pub mod recursive_doubling_symmetrized;
pub mod reduce_scatter_gather;
pub mod sbt;
pub mod tcbt;
pub mod two_level;
pub mod wave;
