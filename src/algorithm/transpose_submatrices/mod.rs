//! Transposition of a matrix stored by submatrices on a grid of ranks: a permutation of the submatrices.
//!
//! ```
//! use hypercoll::matrix::Storage;
//! let parts = hypercoll::threads::run(4, |cube| {
//!     // [1 2]
//!     // [3 4]: an element on each rank of a grid of 2 x 2.
//!     let storage = Storage::Submatrices { grid: (2, 2), gray: false };
//!     let mut transposed = [0];
//!     cube.transpose(2, 2, storage).unwrap().run(&[cube.rank() + 1], &mut transposed).unwrap();
//!     transposed[0]
//! });
//! assert_eq!(parts, [1, 3, 2, 4]);
//! ```

pub mod direct;
pub mod lc_inversion;
pub mod permuted_send;
