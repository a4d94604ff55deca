//! Permute: the vector of rank i to rank p(i), for a permutation p known to all.
//!
//! ```
//! let received = hypercoll::threads::run(4, |cube| {
//!     let mut from = 0usize;
//!     cube.permute(&[2, 0, 3, 1]).algorithm("permuted_send").run(&cube.rank(), &mut from).unwrap();
//!     from
//! });
//! assert_eq!(received, [1, 3, 0, 2]);
//! ```

pub mod direct;
pub mod inversion;
pub mod permuted_send;
