//! What calls are given, and what comes of them: computed directly.

use crate::draw::{mix, Call};
use crate::element::{Combine, Element, Operation};
use hypercoll::collective::Collective;
use hypercoll::schedule::Side;
use hypercoll::{Reduction, SystemOperation};

impl Call {
    /// Elements of both buffers of a rank.
    pub fn lengths(&self, rank: usize) -> [usize; 2] {
        let (one, all) = (self.count, self.count * self.size);
        let on = |here: bool, len: usize| if here { len } else { 0 };
        let takes_part = [self.root, self.peer].contains(&rank);
        match self.collective {
            Collective::Broadcast => [0, one],
            Collective::Scatter => [on(rank == self.root, all), one],
            Collective::Gather => [one, on(rank == self.root, all)],
            Collective::AllGather => [on(!self.in_place, one), all],
            Collective::AllToAll => [all, all],
            Collective::Reduce => [one, on(rank == self.root, one)],
            Collective::ReduceScatter => [all, one],
            Collective::AllReduce | Collective::Scan => [on(!self.in_place, one), one],
            Collective::ExclusiveScan => [on(!self.in_place, one), on(self.in_place || rank > 0, one)],
            Collective::Permute => [one, one],
            Collective::Send => [on(rank == self.root, one), on(rank == self.peer, one)],
            Collective::Exchange => [on(takes_part, one), on(takes_part, one)],
            _ => [0, 0],
        }
    }

    /// What a rank contributes when the call is started for the nth time.
    pub fn input<T: Element>(&self, rank: usize, nth: usize) -> Vec<T> {
        let len = match self.collective {
            Collective::Broadcast if rank != self.root => 0,
            Collective::Broadcast | Collective::AllGather => self.count,
            Collective::AllReduce | Collective::Scan | Collective::ExclusiveScan => self.count,
            _ => self.lengths(rank)[0],
        };
        let start = mix(self.data ^ (rank as u64) << 32 ^ (nth as u64) << 48);
        let tame = self.combine == Combine::System(SystemOperation::Product);
        (0..len as u64).map(|at| T::of(mix(start.wrapping_add(at)), tame)).collect()
    }

    /// Where in what is received a rank's contribution is, in calls with one buffer.
    fn own_place(&self, rank: usize) -> Option<usize> {
        match self.collective {
            Collective::Broadcast if rank == self.root => Some(0),
            Collective::AllGather if self.in_place => Some(rank * self.count),
            Collective::AllReduce | Collective::Scan | Collective::ExclusiveScan if self.in_place => Some(0),
            _ => None,
        }
    }

    /// Fills the buffers of a rank.
    pub fn fill<T: Element>(&self, rank: usize, nth: usize, send: &mut [T], receive: &mut [T]) {
        let input = self.input::<T>(rank, nth);
        bytemuck::cast_slice_mut::<T, u8>(receive).fill(0xa5);
        match self.own_place(rank) {
            Some(place) => receive[place..place + input.len()].copy_from_slice(&input),
            None => send.copy_from_slice(&input),
        }
    }

    /// What a rank then has in its second buffer.
    pub fn outcome<T: Element>(&self, rank: usize, nth: usize) -> Vec<T> {
        let input = |rank: usize| self.input::<T>(rank, nth);
        let block = |of: usize, from: usize| input(from)[of * self.count..][..self.count].to_vec();
        if self.lengths(rank)[1] == 0 {
            return Vec::new();
        }
        match self.collective {
            Collective::Broadcast => input(self.root),
            Collective::Scatter => block(rank, self.root),
            Collective::Gather | Collective::AllGather => (0..self.size).flat_map(input).collect(),
            Collective::AllToAll => (0..self.size).flat_map(|from| block(rank, from)).collect(),
            Collective::Reduce | Collective::AllReduce => self.combined((0..self.size).map(input)),
            Collective::Scan => self.combined((0..rank + 1).map(input)),
            // In place, rank 0 keeps its own.
            Collective::ExclusiveScan => self.combined((0..rank.max(1)).map(input)),
            Collective::ReduceScatter => self.combined((0..self.size).map(|from| block(rank, from))),
            Collective::Permute => input(self.permutation.iter().position(|&to| to == rank).expect("a source")),
            Collective::Send => input(self.root),
            Collective::Exchange => input(if rank == self.root { self.peer } else { self.root }),
            _ => Vec::new(),
        }
    }

    /// Contributions in rank order, combined.
    fn combined<T: Element>(&self, mut contributions: impl Iterator<Item = Vec<T>>) -> Vec<T> {
        let mut all = contributions.next().expect("a rank");
        contributions.for_each(|next| Operation::of(self.combine).combine(Side::Right, &next, &mut all));
        all
    }
}
