//! The graphs along which data moves, one file each.
//!
//! A graph is a pure function of the dimension and a node's *relative address* (rank XOR root; the root is node 0): a node
//! learns its own parent and children from its own address, in O(n) word operations and without a table of the cube. The
//! graph with another root is the translation of this one: XOR every address with the root. (In [`circulant`], for any number of
//! nodes, addresses are differences: rank - root.)
//!
//! | file | graph | paper |
//! |---|---|---|
//! | [`sbt`] | spanning binomial tree | Ho & Johnsson 1986, section 3.1 |
//! | [`msbt`] | n edge-disjoint spanning trees (the ERSBTs of the MSBT graph) | Ho & Johnsson 1986, section 3.2 |
//! | [`tcbt`] | two-rooted complete binary tree | Ho & Johnsson 1986, section 3.4 |
//! | [`hamiltonian_path`] | Hamiltonian path along the Gray code | Ho & Johnsson 1986, section 3.4 |
//! | [`hamiltonian_cycles`] | n Hamiltonian cycles that share no directed link (no [`Tree`]) | Ho, Johnsson & Edelman 1991, section 4 |
//! | [`sbnt`] | spanning balanced n-tree, four variants | Ho & Johnsson 1988, sections 3 and 4 |
//! | [`balanced_tree`] | perfectly balanced shortest-path tree | Bertsekas et al. 1991, section 3 |
//! | [`multinode`] | broadcast tree whose translated copies never meet | Bertsekas et al. 1991, section 2 |
//! | [`necklace_order`] | no graph: the order of the nodes behind the two trees before | Bertsekas et al. 1991, section 2 |
//! | [`sbg`] | spanning balanced graph: several parents for cyclic nodes (no [`Tree`]) | Ho & Johnsson 1988, section 3 |
//! | [`swapped`] | a copy of a tree with two dimensions exchanged | Ho & Johnsson 1988, section 4 |
//! | [`hosted`] | a tree of hosts, with an SBT in each | - |
//! | [`rotated`] | a tree with its dimensions rotated | Stout & Wagar 1990, section 2 |
//! | [`wave`] | the n trees of the double wave | Stout & Wagar 1990, section 2 |
//! | [`circulant`] | the circulant graph of any number of nodes, and its packets round by round (no [`Tree`]) | Traeff 2024 |
//!
//! ```
//! use hypercoll::topology::{sbt::Sbt, Tree};
//!
//! // The binomial tree of the 3-cube, with rank 6 as its root: where is rank 5?
//! let tree = Sbt::new(3);
//! let (rank, root) = (5, 6);
//! let c = rank ^ root; // 011
//! assert_eq!(tree.parent(c).map(|parent| parent ^ root), Some(7)); // 001
//! assert_eq!(tree.children(c).map(|child| child ^ root).collect::<Vec<_>>(), [1]); // 111
//! assert_eq!((tree.level(c), tree.subtree_size(c)), (2, 2));
//! ```

pub mod balanced_tree;
pub mod circulant;
pub mod hamiltonian_cycles;
pub mod hamiltonian_path;
pub mod hosted;
pub mod msbt;
pub mod multinode;
pub mod necklace_order;
pub mod rotated;
pub mod sbg;
pub mod sbnt;
#[cfg(test)]
mod sbnt_lemmas;
mod sbnt_sizes;
pub mod sbt;
pub mod swapped;
pub mod tcbt;
pub mod wave;

use crate::address::{PortIter, Ports};

/// A spanning tree of the n-cube, rooted at node 0, as a function of the node's relative address.
///
/// Addresses passed in must be below 2^n; this is checked in debug builds only.
pub trait Tree {
    /// n, the dimension of the cube that the tree spans.
    fn dimension(&self) -> u32;

    /// The port to the parent of node `c`; `None` for the root, c = 0.
    fn parent_port(&self, c: usize) -> Option<u32>;

    /// The ports to the children of node `c`.
    fn child_ports(&self, c: usize) -> Ports;

    /// The parent of node `c`; `None` for the root.
    fn parent(&self, c: usize) -> Option<usize> {
        self.parent_port(c).map(|port| c ^ 1 << port)
    }

    /// The children of node `c`, in ascending order of their ports.
    fn children(&self, c: usize) -> Children {
        Children { c, ports: self.child_ports(c).iter() }
    }

    /// The number of edges between node `c` and the root.
    fn level(&self, c: usize) -> u32 {
        std::iter::successors(self.parent(c), |&up| self.parent(up)).map(|_| 1).sum()
    }

    /// The number of nodes of the subtree of `c`, including `c`.
    fn subtree_size(&self, c: usize) -> usize {
        DepthFirst::new(self, c).count()
    }

    /// The nodes of the subtree of `c` in depth-first order, `c` first, each with its number of levels below `c`.
    fn subtree(&self, c: usize) -> DepthFirst<'_, Self>
    where
        Self: Sized,
    {
        DepthFirst::new(self, c)
    }
}

/// The children of one node, in ascending order of their ports. See [`Tree::children`].
#[derive(Clone, Debug)]
pub struct Children {
    c: usize,
    ports: PortIter,
}

impl Iterator for Children {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.ports.next().map(|port| self.c ^ 1 << port)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ports.size_hint()
    }
}

impl ExactSizeIterator for Children {}

/// A depth-first walk over a subtree: (node, levels below the node at which the walk began).
///
/// Children are visited in ascending order of their ports. The memory is O(n) words for the path to the current node.
#[derive(Clone, Debug)]
pub struct DepthFirst<'a, T: ?Sized> {
    tree: &'a T,
    start: Option<usize>,
    /// The children still to be visited, of every node from the start down to the node visited last.
    path: Vec<Children>,
}

impl<'a, T: Tree + ?Sized> DepthFirst<'a, T> {
    /// The walk over the subtree of `c`; the form of [`Tree::subtree`] that also serves a `dyn Tree`.
    pub fn new(tree: &'a T, c: usize) -> Self {
        DepthFirst { tree, start: Some(c), path: Vec::new() }
    }
}

impl<T: Tree + ?Sized> Iterator for DepthFirst<'_, T> {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<(usize, u32)> {
        let c = match self.start.take() {
            Some(c) => c,
            None => loop {
                match self.path.last_mut()?.next() {
                    Some(child) => break child,
                    None => self.path.pop(),
                };
            },
        };
        let level = self.path.len() as u32;
        self.path.push(self.tree.children(c));
        Some((c, level))
    }
}

impl<T: Tree + ?Sized> Tree for &T {
    fn dimension(&self) -> u32 {
        (**self).dimension()
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        (**self).parent_port(c)
    }

    fn child_ports(&self, c: usize) -> Ports {
        (**self).child_ports(c)
    }

    fn level(&self, c: usize) -> u32 {
        (**self).level(c)
    }

    fn subtree_size(&self, c: usize) -> usize {
        (**self).subtree_size(c)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Panics unless the parents form a spanning tree of the cube, whatever its root, and every other query agrees with
    /// them. Exhaustive: for small cubes.
    pub(crate) fn assert_spanning(tree: &dyn Tree) {
        let n = tree.dimension();
        let nodes = 1usize << n;
        assert_eq!((tree.parent_port(0), tree.parent(0), tree.level(0)), (None, None, 0));
        let mut sizes = vec![0; nodes];
        for c in 0..nodes {
            let mut up = c;
            let mut steps = 0;
            sizes[c] += 1;
            while up != 0 {
                let port = tree.parent_port(up).expect("only the root has no parent");
                assert!(port < n, "port {port} of {up:b} leaves the {n}-cube");
                assert_eq!(tree.parent(up), Some(up ^ 1 << port));
                up ^= 1 << port;
                steps += 1;
                assert!(steps < nodes, "{c:b} is on or below a cycle");
                sizes[up] += 1;
            }
            assert_eq!(tree.level(c), steps as u32, "level of {c:b}");
            for port in 0..n {
                let is_child = tree.parent_port(c ^ 1 << port) == Some(port);
                assert_eq!(tree.child_ports(c).contains(port), is_child, "{c:b} across {port}");
            }
            assert_eq!(tree.child_ports(c).0 >> n, 0);
        }
        for (c, &size) in sizes.iter().enumerate() {
            assert_eq!(tree.subtree_size(c), size, "subtree of {c:b}");
            assert_eq!(DepthFirst::new(tree, c).count(), size, "walk from {c:b}");
        }
        for root in 0..nodes.min(32) {
            assert_translates(tree, root);
        }
    }

    /// Panics unless the tree's translation hangs every rank, by cube edges, under the rank `root`.
    fn assert_translates(tree: &dyn Tree, root: usize) {
        let mut reached = vec![false; 1 << tree.dimension()];
        for (c, level) in (&tree).subtree(0) {
            let rank = c ^ root;
            assert!(!std::mem::replace(&mut reached[rank], true), "{rank:b} is reached twice");
            match tree.parent(c) {
                None => assert_eq!((rank, level), (root, 0)),
                Some(up) => {
                    assert!(reached[up ^ root], "{rank:b} comes before its parent");
                    assert_eq!((rank ^ up ^ root).count_ones(), 1);
                }
            }
        }
        assert!(!reached.contains(&false));
    }

    /// Panics unless the parent and the children of `c` agree with what the neighbours say. Local: for large cubes.
    pub(crate) fn assert_consistent(tree: &dyn Tree, c: usize) {
        for port in 0..tree.dimension() {
            let neighbour = c ^ 1 << port;
            assert_eq!(tree.child_ports(c).contains(port), tree.parent(neighbour) == Some(c));
            assert_eq!(tree.parent_port(c) == Some(port), tree.child_ports(neighbour).contains(port));
        }
        assert_eq!(tree.level(c), tree.parent(c).map_or(0, |up| tree.level(up) + 1));
        assert_eq!(tree.parent(c).is_none(), c == 0);
    }

    pub(crate) fn binomial(n: u32, l: u32) -> usize {
        (0..l as usize).fold(1, |product, i| product * (n as usize - i) / (i + 1))
    }

    /// A path of the 2-cube, with nothing but the required methods.
    struct Path;

    impl Tree for Path {
        fn dimension(&self) -> u32 {
            2
        }

        fn parent_port(&self, c: usize) -> Option<u32> {
            [None, Some(0), Some(0), Some(1)][c]
        }

        fn child_ports(&self, c: usize) -> Ports {
            [Ports(1), Ports(2), Ports::NONE, Ports(1)][c]
        }
    }

    #[test]
    fn provided_methods() {
        assert_spanning(&Path);
        assert_eq!([0, 1, 3, 2].map(|c| Path.level(c)), [0, 1, 2, 3]);
        assert_eq!([0, 1, 3, 2].map(|c| Path.subtree_size(c)), [4, 3, 2, 1]);
        assert_eq!(Path.subtree(1).collect::<Vec<_>>(), [(1, 0), (3, 1), (2, 2)]);
    }

    #[test]
    fn depth_first_takes_the_lowest_port_first() {
        let order: Vec<_> = sbt::Sbt::new(3).subtree(0).collect();
        assert_eq!(order, [(0, 0), (1, 1), (3, 2), (7, 3), (5, 2), (2, 1), (6, 2), (4, 1)]);
        assert_eq!(sbt::Sbt::new(3).children(1).collect::<Vec<_>>(), [3, 5]);
    }
}
