//! Of which blocks a rank must know the lengths.

use super::{Algorithm, Parameters};
use crate::collective::{Call, Known};

/// Of which blocks a rank must know the lengths to make its schedule, where they are not equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lengths {
    /// Of those that it has before or after: every block goes straight to where it ends.
    Own,
    /// Of those that pass through it.
    Passing,
    /// Of all: where packets end depends on what others send, or parts of a block go different ways.
    All,
}

impl Lengths {
    /// Whether what a rank knows is enough.
    pub(super) fn are(self, known: Known) -> bool {
        match known {
            Known::All | Known::Summary { .. } => true,
            Known::Passing { .. } => self <= Lengths::Passing,
            Known::Own => self == Lengths::Own,
        }
    }
}

impl Algorithm {
    /// Of which blocks a rank must know the lengths, with these parameters. What passes through a rank, cut into packets, depends on what
    /// others send; a block that goes straight to where it ends is cut alike by both. Round links that are avoided, a rank passes on what is
    /// for others.
    pub fn needs(&self, call: &Call, parameters: &Parameters) -> Lengths {
        match (parameters.packet, &call.avoid) {
            (None, None) => self.lengths,
            (Some(_), None) if self.lengths == Lengths::Own => Lengths::Own,
            _ => Lengths::All,
        }
    }

    /// The blocks of others that pass through `rank`, and its own, ascending: those whose lengths it must know by [`Lengths::Passing`].
    pub fn passing(&self, call: &Call, parameters: &Parameters, rank: usize) -> Vec<usize> {
        // With one element a block, positions are blocks.
        let unit = Call { layout: None, count: 1, ..call.clone() };
        let messages = self.messages(&unit, parameters, rank);
        let held = unit.initial(rank).into_iter().chain(unit.last(rank)).map(|placement| placement.space);
        let moved = messages.list().iter().flat_map(|message| messages.pieces(message).iter().cloned());
        let mut blocks: Vec<usize> = held.chain(moved).flatten().collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }
}
