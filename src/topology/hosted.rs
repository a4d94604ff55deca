//! Graph: a tree of the hosts, and in each host an SBT.
//!
//! Algorithm designs of Ho and Johnsson have a node for each processor. Where 2^k of them share a host, and the links are those between
//! hosts, trees are to share no link between hosts: the tree is one of the cube of hosts, and whatever enters a host enters the node
//! there whose lowest k address bits are those of the root, and goes on to the other nodes of the host from there.
//!
//! Definition: the upper n - k bits of a relative address are the host, the lower k bits the place in it. The nodes at place 0 form the
//! given tree. At another place the parent is that in the SBT of the same host.
//!
//! Example, the ERSBT 0 of the 2-cube with k = 1, every node and its parent: 010 000, 110 010, 100 110; 001 000, 011 010, 101 100, 111 110.
//!
//! ```
//! use hypercoll::topology::{hosted::Hosted, msbt::Ersbt, Tree};
//!
//! let tree = Hosted::new(Ersbt::new(2, 0), 1);
//! assert_eq!([0b010, 0b110, 0b100, 0b101].map(|c| tree.parent(c)), [0b000, 0b010, 0b110, 0b100].map(Some));
//! ```
//!
//! Properties tested: spanning, consistent, translated to every root; hosts are entered once; with k = 0 it is the tree itself.

use super::{sbt::Sbt, Tree};
use crate::address::{mask, Ports};

/// A tree of hosts that have 2^k nodes each, with an SBT in every host.
#[derive(Clone, Copy, Debug)]
pub struct Hosted<T> {
    hosts: T,
    near: Sbt,
}

impl<T: Tree> Hosted<T> {
    /// The tree of hosts of 2^`near` nodes each.
    ///
    /// # Panics
    /// If `near` exceeds [`MAX_DIMENSION`](crate::address::MAX_DIMENSION).
    pub fn new(hosts: T, near: u32) -> Hosted<T> {
        Hosted { hosts, near: Sbt::new(near) }
    }

    /// The tree of the hosts.
    pub fn hosts(&self) -> &T {
        &self.hosts
    }

    /// The host of node `c`, and its place there.
    pub fn host(&self, c: usize) -> (usize, usize) {
        let k = self.near.dimension();
        (c >> k, c & mask(k))
    }
}

impl<T: Tree> Tree for Hosted<T> {
    fn dimension(&self) -> u32 {
        self.hosts.dimension() + self.near.dimension()
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        let (host, place) = self.host(c);
        let far = || self.hosts.parent_port(host).map(|port| port + self.near.dimension());
        self.near.parent_port(place).or_else(far)
    }

    fn child_ports(&self, c: usize) -> Ports {
        let (host, place) = self.host(c);
        let far = if place == 0 { self.hosts.child_ports(host) } else { Ports::NONE };
        Ports(far.0 << self.near.dimension() | self.near.child_ports(place).0)
    }

    fn level(&self, c: usize) -> u32 {
        let (host, place) = self.host(c);
        self.hosts.level(host) + self.near.level(place)
    }

    fn subtree_size(&self, c: usize) -> usize {
        let (host, place) = self.host(c);
        let hosts = if place == 0 { self.hosts.subtree_size(host) } else { 1 };
        hosts * self.near.subtree_size(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::msbt::Ersbt;
    use crate::topology::sbnt::{Sbnt, Variant};
    use crate::topology::tests::{assert_consistent, assert_spanning};

    #[test]
    fn spans_every_small_cube_and_enters_every_host_once() {
        for (n, k) in (1..=7).flat_map(|n| (0..n).map(move |k| (n, k))) {
            for tree in (0..n - k).map(|j| Hosted::new(Ersbt::new(n - k, j), k)) {
                assert_spanning(&tree);
                let entered = |host: usize| {
                    (1..1usize << n)
                        .filter(move |&c| c >> k == host && tree.parent(c).is_some_and(|parent| parent >> k != host))
                };
                assert!((1..1 << (n - k)).all(|host| entered(host).eq([host << k])));
            }
            assert_spanning(&Hosted::new(Sbnt::new(n - k, Variant::MinRight), k));
        }
    }

    #[test]
    fn without_near_dimensions_it_is_the_tree() {
        let (tree, hosted) = (Ersbt::new(6, 2), Hosted::new(Ersbt::new(6, 2), 0));
        assert!((0..64).all(|c| hosted.parent_port(c) == tree.parent_port(c)));
    }

    #[test]
    fn consistent_in_large_cubes() {
        let tree = Hosted::new(Ersbt::new(20, 7), 8);
        (0..1usize << 28).step_by(0x3_1415).for_each(|c| assert_consistent(&tree, c));
    }
}
