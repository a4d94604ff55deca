//! Quarter turn of a matrix stored by submatrices on a grid of ranks: a permutation of the submatrices.
//!
//! ```
//! use hypercoll::matrix::{Storage, Turn};
//! let parts = hypercoll::threads::run(4, |cube| {
//!     // [1 2]              [3 1]
//!     // [3 4] to the right [4 2]: an element on each rank of a grid of 2 x 2.
//!     let storage = Storage::Submatrices { grid: (2, 2), gray: false };
//!     let mut turned = [0];
//!     cube.turn(2, 2, Turn::Right, storage).unwrap().run(&[cube.rank() + 1], &mut turned).unwrap();
//!     turned[0]
//! });
//! assert_eq!(parts, [3, 1, 4, 2]);
//! ```

pub mod direct;
pub mod permuted_send;
pub mod squares;
