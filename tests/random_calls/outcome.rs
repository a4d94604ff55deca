//! What calls are given, and what comes of them: computed directly.

use crate::draw::{mix, Call};
use crate::element::{Combine, Element, Operation};
use hypercoll::collective::Collective;
use hypercoll::schedule::Side;
use hypercoll::{Reduction, SystemOperation};

impl Call {
    /// Neighbours on the cube, those included that are no ranks.
    fn ports(&self) -> usize {
        self.size.next_power_of_two().ilog2() as usize
    }

    /// The block of each port that leads to a rank, and that rank.
    fn neighbors(&self, rank: usize) -> impl Iterator<Item = (std::ops::Range<usize>, usize)> + '_ {
        let ports = (0..self.ports()).map(move |port| (port * self.count..(port + 1) * self.count, rank ^ 1 << port));
        ports.filter(|(_, neighbor)| *neighbor < self.size)
    }

    /// Elements that a rank sends, and those that it receives, where they are not in one buffer.
    fn apart(&self, rank: usize) -> [usize; 2] {
        let one = self.count;
        let on = |here: bool, len: usize| if here { len } else { 0 };
        let (root, takes_part) = (rank == self.root, [self.root, self.peer].contains(&rank));
        match self.collective {
            Collective::Broadcast => [0, one],
            Collective::Scatter => [on(root, self.sent(rank).len), self.block(self.root, rank)],
            Collective::Gather => [self.block(rank, self.root), on(root, self.received(rank).len)],
            Collective::AllGather => [self.block(rank, rank), self.received(rank).len],
            Collective::AllToAll => [self.sent(rank).len, self.received(rank).len],
            Collective::NeighborAllToAll => [self.ports() * one; 2],
            Collective::Reduce => [one, on(root, one)],
            Collective::ReduceScatter => [self.sent(rank).len, self.block(rank, rank)],
            Collective::AllReduce | Collective::Scan => [one, one],
            Collective::ExclusiveScan => [one, on(self.in_place || rank > 0, one)],
            Collective::Permute => [one, one],
            Collective::Send => [on(root, one), on(rank == self.peer, one)],
            Collective::Exchange => [on(takes_part, one), on(takes_part, one)],
            _ => [0, 0],
        }
    }

    /// Elements of both buffers of a rank.
    pub fn lengths(&self, rank: usize) -> [usize; 2] {
        let [send, receive] = self.apart(rank);
        match self.collective {
            _ if !self.is_in_place(rank) => [send, receive],
            Collective::Scatter => [send, 0],
            Collective::ReduceScatter => [0, send],
            _ => [0, receive],
        }
    }

    /// What a rank contributes when the call is started for the nth time.
    pub fn input<T: Element>(&self, rank: usize, nth: usize) -> Vec<T> {
        let len = match self.collective {
            Collective::Broadcast if rank == self.root => self.count,
            _ => self.apart(rank)[0],
        };
        let start = mix(self.data ^ (rank as u64) << 32 ^ (nth as u64) << 48);
        let tame = self.combine == Combine::System(SystemOperation::Product);
        (0..len as u64).map(|at| T::of(mix(start.wrapping_add(at)), tame)).collect()
    }

    /// Where in what is received a rank's contribution is, in calls with one buffer.
    fn own_place(&self, rank: usize) -> Option<usize> {
        match self.collective {
            Collective::Broadcast => (rank == self.root).then_some(0),
            Collective::Scatter => None,
            _ if !self.is_in_place(rank) => None,
            Collective::Gather | Collective::AllGather => Some(self.received(rank).at[rank]),
            _ => Some(0),
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

    /// What a rank then has in its second buffer; `received` is what it has received where that is another one than it has sent from.
    pub fn ends_as<T: Element>(&self, rank: usize, nth: usize, received: Vec<T>) -> Vec<T> {
        match self.collective {
            Collective::Scatter if self.is_in_place(rank) => Vec::new(),
            // Only the first is another one than before.
            Collective::ReduceScatter if self.in_place => {
                let mut all = self.input(rank, nth);
                all[..received.len()].copy_from_slice(&received);
                all
            }
            Collective::NeighborAllToAll if self.in_place => {
                let mut all = self.input(rank, nth);
                self.neighbors(rank).for_each(|(block, _)| all[block.clone()].copy_from_slice(&received[block]));
                all
            }
            // What lies between blocks has been there before.
            Collective::AllToAll if self.in_place => {
                let (mut all, places) = (self.input(rank, nth), self.received(rank));
                for (&at, &count) in places.at.iter().zip(&places.counts) {
                    all[at..at + count].copy_from_slice(&received[at..at + count]);
                }
                all
            }
            _ => received,
        }
    }

    /// What a rank has in its second buffer.
    pub fn outcome<T: Element>(&self, rank: usize, nth: usize) -> Vec<T> {
        let received = if self.apart(rank)[1] == 0 { Vec::new() } else { self.receives(rank, nth) };
        self.ends_as(rank, nth, received)
    }

    fn receives<T: Element>(&self, rank: usize, nth: usize) -> Vec<T> {
        let input = |rank: usize| self.input::<T>(rank, nth);
        let block = |to: usize, from: usize| {
            let places = self.sent(from);
            input(from)[places.at[to]..][..places.counts[to]].to_vec()
        };
        match self.collective {
            Collective::Broadcast => input(self.root),
            Collective::Scatter => block(rank, self.root),
            Collective::Gather | Collective::AllGather => self.arranged(rank, input),
            Collective::AllToAll => self.arranged(rank, |from| block(rank, from)),
            Collective::NeighborAllToAll => {
                let mut all = self.blank(rank);
                for (block, from) in self.neighbors(rank) {
                    all[block.clone()].copy_from_slice(&input(from)[block]);
                }
                all
            }
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

    /// A block of each rank, where a rank receives them.
    fn arranged<T: Element>(&self, rank: usize, block: impl Fn(usize) -> Vec<T>) -> Vec<T> {
        let mut all = self.blank(rank);
        for (from, at) in self.received(rank).at.into_iter().enumerate() {
            let block = block(from);
            all[at..at + block.len()].copy_from_slice(&block);
        }
        all
    }

    /// What a rank receives into, as it was before.
    pub fn blank<T: Element>(&self, rank: usize) -> Vec<T> {
        let mut all = vec![T::zeroed(); self.apart(rank)[1]];
        bytemuck::cast_slice_mut::<T, u8>(&mut all).fill(0xa5);
        all
    }

    /// Contributions in rank order, combined.
    fn combined<T: Element>(&self, mut contributions: impl Iterator<Item = Vec<T>>) -> Vec<T> {
        let mut all = contributions.next().expect("a rank");
        contributions.for_each(|next| Operation::of(self.combine).combine(Side::Right, &next, &mut all));
        all
    }
}
