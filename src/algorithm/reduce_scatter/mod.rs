//! Reduce-scatter: the element-wise combination of all vectors, block i on rank i.
//!
//! ```
//! use hypercoll::SystemOperation;
//! let bins = hypercoll::threads::run(4, |cube| {
//!     // What every rank counted in four bins; rank i gets the sum of bin i.
//!     let counts = [[1, 0, 0, 2], [0, 3, 0, 0], [1, 1, 0, 0], [0, 0, 0, 5]][cube.rank()];
//!     let mut sum = 0;
//!     cube.reduce_scatter().algorithm("histogram").run(&counts, &mut sum, SystemOperation::sum()).unwrap();
//!     sum
//! });
//! assert_eq!(bins, [2, 4, 0, 7]);
//! ```

pub mod bruck;
pub mod histogram;
pub mod lanes;
pub mod msbt;
pub mod multinode_broadcast;
pub mod pairwise_xor;
pub mod ring;
pub mod sbg;
pub mod sbnt;
pub mod shift;
pub mod two_level;
