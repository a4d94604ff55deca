//! Gather: block of every rank to the root. Every gather is a scatter backwards.
//!
//! ```
//! hypercoll::threads::run(5, |cube| {
//!     let mut all = [0; 5];
//!     let receive = (cube.rank() == 3).then_some(&mut all);
//!     cube.gather(3).algorithm("sbnt").run(&(10 * cube.rank()), receive).unwrap();
//!     let expected = if cube.rank() == 3 { [0, 10, 20, 30, 40] } else { [0; 5] };
//!     assert_eq!(all, expected);
//! });
//! ```

pub mod balanced_tree;
pub mod bst;
pub mod direct;
pub mod distribute;
pub mod distribute_waves;
pub mod msbt;
pub mod multinode;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
pub mod tcbt;
pub mod two_level;
