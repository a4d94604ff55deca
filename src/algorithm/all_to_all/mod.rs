//! All-to-all: a block from every rank to every rank.
//!
//! ```
//! hypercoll::threads::run(4, |cube| {
//!     // Row r of a 4 x 4 matrix lies on rank r; afterwards column r does.
//!     let rows = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]];
//!     let mut column = [0; 4];
//!     cube.all_to_all().algorithm("complete_exchange").run(&rows[cube.rank()], &mut column).unwrap();
//!     assert_eq!(column, rows.map(|row| row[cube.rank()]));
//! });
//! ```

pub mod bruck;
pub mod complete_exchange;
pub mod one_factor;
pub mod pairwise_xor;
pub mod sbg;
pub mod sbnt;
pub mod shift;
pub mod three_step;
pub mod total_exchange;
