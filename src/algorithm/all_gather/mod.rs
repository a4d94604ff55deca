//! All-gather: block of every rank to all ranks.
//!
//! ```
//! hypercoll::threads::run(4, |cube| {
//!     let mut all = [' '; 4].map(|c| c as u8);
//!     let mine = b"cube"[cube.rank()];
//!     cube.all_gather().algorithm("sbnt").run(&mine, &mut all).unwrap();
//!     assert_eq!(&all, b"cube");
//! });
//! ```

pub mod bruck;
pub mod complete_broadcast;
pub mod lanes;
pub mod msbt;
pub mod multinode_broadcast;
pub mod pairwise_xor;
pub mod ring;
pub mod sbg;
pub mod sbnt;
pub mod shift;
pub mod two_level;

use super::{Formula, Shape};

/// The cost of a reduce-scatter, given that of the all-gather, which is the same backwards: what a rank receives it keeps until it
/// is sent on, but what comes first for its own block.
fn reduce_scattered(all_gather: fn(&Shape) -> Formula, shape: &Shape) -> Formula {
    let forward = all_gather(shape);
    let others = (shape.size.saturating_sub(2) * shape.count) as f64;
    Formula { scratch: others, ..forward }
}
