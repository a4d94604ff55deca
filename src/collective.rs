//! What each collective means: which data is where before and after.
//!
//! All data of one call is numbered once, in a flat **space** of element positions. For a scatter the space is the
//! root's send buffer; for an all-to-all it is all send buffers, rank after rank; for a reduction it is the vector to
//! which every rank contributes a value at every position. Algorithms route intervals of the space between nodes and
//! know nothing of buffers; [`Call::initial`] says where an interval lies at the start, and [`Call::last`] where at the end.
//!
//! All that differs between collectives is in one table, a row ([`Meaning`]) for each.
//!
//! ```
//! use hypercoll::collective::{Call, Collective};
//!
//! // A scatter from rank 2: 4 ranks, blocks of 10 elements.
//! let call = Call::new(Collective::Scatter, 4, 10).with_root(2);
//! assert_eq!((call.send_len(2), call.send_len(0)), (40, 0)); // only the root sends
//! assert_eq!(call.receive_len(3), 10);
//! // The block of rank 3 ends at the beginning of its receive buffer.
//! assert_eq!(call.block(3), 30..40);
//! let placement = &call.last(3)[0];
//! assert_eq!((placement.space.clone(), placement.offset), (30..40, 0));
//! ```

mod avoided;
mod blocks;
mod call;
mod check;
mod layout;
mod limit;
mod meaning;
mod names;
mod placement;
mod product;
mod table;

pub use avoided::Avoided;
pub(crate) use blocks::part_with;
pub use blocks::{part, Blocks};
pub use call::Call;
pub use check::check_permutation;
pub(crate) use layout::Steps;
pub use layout::{Known, Layout};
pub use limit::Links;
pub use meaning::{InPlace, Meaning, MpiFunction, Permutation};
pub use names::Collective;
pub use placement::{Buffer, Held, Origin, Placement};
pub use product::MatrixProduct;
