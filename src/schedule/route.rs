//! What an algorithm writes: the transfers of one node.

use std::ops::Range;

/// In a prefix sum, what a received value becomes part of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PartOf {
    /// What the node holds and sends: its total. Elsewhere than in a prefix sum there is nothing else.
    #[default]
    Total,
    /// What the node ends with: its prefix. The total stays as it is.
    Prefix,
    /// Both.
    Both,
}

/// One message of a node, before any rank or buffer is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The routing step.
    pub round: usize,
    /// The other node.
    pub peer: usize,
    /// Whether this node sends (else it receives).
    pub sends: bool,
    /// What is received becomes part of.
    pub part_of: PartOf,
    /// Index range of the intervals in [`Route::pieces`].
    pub(super) pieces: Range<usize>,
}

/// One product of matrices that a node computes: C becomes C + A B. All are stored by rows, each in an interval of the space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multiplication {
    /// The routing step in which the node holds A and B, before it sends or receives anything.
    pub round: usize,
    /// Columns of A, rows of B.
    pub inner: usize,
    /// A.
    pub a: Range<usize>,
    /// B.
    pub b: Range<usize>,
    /// C, where the result ends.
    pub c: Range<usize>,
}

/// The transfers of one node: which intervals of the space go to or come from which neighbour in which round.
///
/// In a round a node sends what it held before the round. Both ends of a transfer write it down, each from its own
/// address; the order of the intervals within a message does not matter. Empty intervals are left out, and a transfer
/// without data is no message.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Route {
    rounds: usize,
    transfers: Vec<Transfer>,
    pieces: Vec<Range<usize>>,
    multiplications: Vec<Multiplication>,
}

impl Route {
    /// A route without transfers.
    pub fn new() -> Route {
        Route::default()
    }

    /// States how many rounds the algorithm takes at most, on all nodes: a reduction runs its broadcast's rounds
    /// backwards from this one, so it must be the same everywhere.
    pub fn set_rounds(&mut self, rounds: usize) {
        self.rounds = rounds;
    }

    /// Rounds, as stated.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// This node sends intervals to `peer`.
    pub fn send(&mut self, round: usize, peer: usize, pieces: impl IntoIterator<Item = Range<usize>>) {
        self.transfer(round, peer, true, PartOf::Total, pieces);
    }

    /// This node receives intervals from `peer`.
    pub fn receive(&mut self, round: usize, peer: usize, pieces: impl IntoIterator<Item = Range<usize>>) {
        self.transfer(round, peer, false, PartOf::Total, pieces);
    }

    /// This node receives from `peer` what is part of its prefix, its total, or both: in a prefix sum.
    pub fn receive_part(
        &mut self,
        part_of: PartOf,
        round: usize,
        peer: usize,
        pieces: impl IntoIterator<Item = Range<usize>>,
    ) {
        self.transfer(round, peer, false, part_of, pieces);
    }

    fn transfer(
        &mut self,
        round: usize,
        peer: usize,
        sends: bool,
        part_of: PartOf,
        pieces: impl IntoIterator<Item = Range<usize>>,
    ) {
        let start = self.pieces.len();
        self.pieces.extend(pieces.into_iter().filter(|p| !p.is_empty()));
        if self.pieces.len() > start {
            self.transfers.push(Transfer { round, peer, sends, part_of, pieces: start..self.pieces.len() });
        }
    }

    /// An empty message, sent (`sends`) or received: a signal that orders, and carries nothing.
    pub fn signal(&mut self, round: usize, peer: usize, sends: bool) {
        self.transfers.push(Transfer { round, peer, sends, part_of: PartOf::Total, pieces: 0..0 });
    }

    /// This node multiplies what it holds before a round. Empty products are left out.
    pub fn multiply(&mut self, product: Multiplication) {
        if product.inner > 0 && !product.c.is_empty() {
            self.multiplications.push(product);
        }
    }

    /// The products, in the order of writing.
    pub fn multiplications(&self) -> &[Multiplication] {
        &self.multiplications
    }

    /// The transfers, in the order of writing.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// The intervals of a transfer.
    pub fn pieces(&self, transfer: &Transfer) -> &[Range<usize>] {
        &self.pieces[transfer.pieces.clone()]
    }
}
