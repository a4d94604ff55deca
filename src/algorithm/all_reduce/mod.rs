//! All-reduce: the element-wise combination of all vectors, on all ranks.
//!
//! ```
//! use hypercoll::SystemOperation;
//! hypercoll::threads::run(6, |cube| {
//!     let mut sum = cube.rank() as f64;
//!     let call = cube.all_reduce().algorithm("recursive_doubling");
//!     call.run_in_place(&mut sum, SystemOperation::sum()).unwrap();
//!     assert_eq!(sum, 15.0);
//! });
//! ```

pub mod binary;
pub mod direct;
pub mod histogram;
pub mod lanes;
pub mod leaders;
pub mod postal;
pub mod recursive_doubling;
pub mod ring;
pub mod sbt;
pub mod shift;
pub mod tcbt;
pub mod two_level;
