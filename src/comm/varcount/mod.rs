//! Calls with blocks of different lengths: what their arguments have to be, and how ranks come to know the lengths that they need.
//!
//! As in MPI, a rank passes the lengths that it has: of an all-gather and a reduce-scatter those of all blocks, of an all-to-all those of
//! the blocks that it sends and receives, of a scatter and a gather those of all blocks on the root, and that of its own elsewhere.
//! [`crate::collective::Layout`] says what an algorithm must know.
//!
//! What is to be done where only the root of a scatter or gather knows the lengths, ranks decide alike by what they all know, which is
//! the machine and what was asked for:
//! * In shared memory, and where a rank has one port, nothing is gained by a tree but for short blocks on very many ranks: the root talks
//!   to every rank itself (`direct`), for which a rank needs no length but its own. Nothing goes ahead.
//! * Where all ports work at once, where links are avoided, or another algorithm or a packet was asked for, the root tells all ranks the sum and the longest
//!   first, by which they choose alike. Then the lengths go ahead down the tree of the choice: a rank is told those of the blocks that
//!   pass through it, as it will be sent them. If messages that pass through a rank are cut into packets, or go round links, so that it must know all, it is told all.
//!
//! So much waiting is not for a call that is only started: it goes the direct way, or is refused.

mod ahead;
mod calls;
mod forms;
mod immediate;
mod in_place;

use crate::collective::{Call, Layout};
use crate::comm::prepared::Prepared;
use crate::error::{Error, Result};
use crate::partition::Places;
use std::panic::Location;

type At = &'static Location<'static>;

/// Whether a call may wait before it starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// What one rank says of the lengths of a scatter or gather.
struct Said<'s> {
    /// Of all blocks, on the root.
    all: Option<&'s Places>,
    /// Of the rank's own.
    own: usize,
    /// The buffer of the rank's own block.
    argument: &'static str,
}

/// The layout of blocks whose lengths all ranks know.
fn of_all(counts: &[usize], sent: Option<&Places>, received: Option<&Places>) -> Layout {
    placed(Layout::of_vectors(counts.iter().copied()), sent, received)
}

/// A layout with the displacements of this rank's buffers, where there are any.
fn placed(mut layout: Layout, sent: Option<&Places>, received: Option<&Places>) -> Layout {
    if let Some(places) = sent.and_then(Places::displacements) {
        layout = layout.sent_from(places);
    }
    if let Some(places) = received.and_then(Places::displacements) {
        layout = layout.received_at(places);
    }
    layout
}

/// Where the blocks are that only the root passes, if this is the root; of a buffer of so many elements.
fn of_root<'p>(
    prepared: &Prepared,
    passed: Option<(usize, &'p Places)>,
    argument: &'static str,
    written: bool,
) -> Result<Option<&'p Places>> {
    let Call { root, size, .. } = prepared.call;
    if root >= size {
        return Err(Error::Root { root, size });
    }
    match passed.filter(|_| prepared.is_root()) {
        Some((len, places)) => {
            places.check(argument, size, len, written)?;
            Ok(Some(places))
        }
        None if prepared.is_root() => Err(Error::Partition { argument, why: "none, but the root's is needed".into() }),
        None => Ok(None),
    }
}
