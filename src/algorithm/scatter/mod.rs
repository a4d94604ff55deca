//! Scatter: block i of the root's vector to rank i.
//!
//! ```
//! hypercoll::threads::run(4, |cube| {
//!     let all = [10, 11, 20, 21, 30, 31, 40, 41];
//!     let send = (cube.rank() == 1).then_some(&all);
//!     let mut mine = [0; 2];
//!     cube.scatter(1).algorithm("sbnt").run(send, &mut mine).unwrap();
//!     let first = 10 * (cube.rank() as i32 + 1);
//!     assert_eq!(mine, [first, first + 1]);
//! });
//! ```

pub mod balanced_tree;
pub mod bst;
pub mod direct;
pub mod distribute;
pub mod distribute_waves;
pub mod multinode;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
pub mod tcbt;
pub mod two_level;
