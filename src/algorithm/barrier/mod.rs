//! Barrier: no rank leaves before all have entered.
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
//! let entered = AtomicUsize::new(0);
//! hypercoll::threads::run(5, |cube| {
//!     entered.fetch_add(1, SeqCst);
//!     cube.barrier().unwrap();
//!     assert_eq!(entered.load(SeqCst), 5);
//! });
//! ```

pub mod central;
pub mod direct;
pub mod dissemination;
pub mod recursive_doubling;
pub mod two_level;
