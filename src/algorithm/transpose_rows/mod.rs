//! Transposition of a matrix stored by rows: a block from every rank to every rank.
//!
//! ```
//! use hypercoll::matrix::Storage;
//! let parts = hypercoll::threads::run(2, |cube| {
//!     // [1 2 3 4]
//!     // [5 6 7 8]: a row on each rank; of the transpose, two rows on each.
//!     let transpose = cube.transpose(2, 4, Storage::Rows { cyclic: false, gray: false }).unwrap();
//!     let mut transposed = vec![0; transpose.output().len()];
//!     transpose.run(&[[1, 2, 3, 4], [5, 6, 7, 8]][cube.rank()], &mut transposed).unwrap();
//!     transposed
//! });
//! assert_eq!(parts, [[1, 5, 2, 6], [3, 7, 4, 8]]);
//! ```

pub mod complete_exchange;
pub mod pairwise_xor;
