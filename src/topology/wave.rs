//! Graph: the trees of the double wave, along which a vector in n parts reaches every node in n steps.
//!
//! Reference: Q. F. Stout and B. Wagar, 1990, section 2, BROADCAST 3A and 3B. Symbols: d is the dimension of the cube (n
//! here), C_k are the nodes at distance k from the root, W_c the 1 bits of c, P_i the packets; c is the relative address. The
//! paper's first 1 in left circular order after bit v, in the sender c ^ 2^v, is bit i iff v is the first 1 of c cyclically to
//! the right of bit i, that is [`previous_one`]`(c, i, n)`.
//!
//! The single wave (3A): in step k the nodes of C_k send a packet on every link. A node with bit i set gets P_i
//! from C_(|c| - 1), a node with bit i clear from C_(|c| + 1), over port i. Where what comes to the root is left out, that is
//! tree i of [`msbt`](super::msbt), and P_i enters node c in step level - 1: the two papers found the same trees.
//!
//! The double wave (3B): one step later the root starts a second wave, with P_(w+1) in the place of P_w. It brings P_i to the
//! nodes with bit i - 1 set, those with bit i clear among them one step before the first wave would return it. The nodes of
//! C_(n-1) then wait for no return, and the step n falls away.
//!
//! Definition of tree i of the double wave, w = i - 1 (mod n), by the first arrival of P_i at node c:
//!
//! | bits of c | parent across | step |
//! |---|---|---|
//! | i set | the first 1 to the right of i | abs(c) - 1 |
//! | i clear, w set | the first 1 to the right of w | abs(c) |
//! | both clear | i | abs(c) + 1 |
//!
//! Example, the 3-cube (parents and steps of the nodes 000 to 111):
//!
//! ```text
//! node         000 001 010 011 100 101 110 111
//! i=0  parent   -  000 011 001 000 001 100 011
//!      step     -   0   2   1   1   1   2   2
//! i=1  parent   -  000 000 010 110 001 010 110
//!      step     -   1   0   1   2   2   1   2
//! i=2  parent   -  101 000 010 000 100 100 101
//!      step     -   2   1   2   0   1   1   2
//! ```
//!
//! ```
//! use hypercoll::topology::{wave::DoubleWave, Tree};
//!
//! // Packet 2 reaches node 001 over 101, in the last of three steps.
//! let tree = DoubleWave::new(3, 2);
//! assert_eq!((tree.parent(0b001), tree.step(0b001)), (Some(0b101), Some(2)));
//! ```
//!
//! Properties tested: spanning, consistent; first arrivals of a run of the paper's two waves, word for word; n steps, which
//! grow along the trees; no link carries two packets in a step.

use super::Tree;
use crate::address::{mask, previous_one, rotate_left, rotate_right, Ports, MAX_DIMENSION};

/// Tree i of the double wave. Every query takes O(1) word operations.
#[derive(Clone, Copy, Debug)]
pub struct DoubleWave {
    n: u32,
    i: u32,
}

impl DoubleWave {
    /// Tree `i` of the n trees of the cube of dimension `n`. (The cube of dimension 0 has none.)
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`], or `i` is not below `n`.
    pub fn new(n: u32, i: u32) -> DoubleWave {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        assert!(i < n, "the {n}-cube has no tree {i}");
        DoubleWave { n, i }
    }

    /// The step, from 0, in which packet i enters node `c`; `None` for the root.
    pub fn step(&self, c: usize) -> Option<u32> {
        let distance = c.count_ones();
        (c != 0).then(|| match self.wave(c) {
            Some(bit) if bit == self.i => distance - 1,
            Some(_) => distance,
            None => distance + 1,
        })
    }

    /// w: the packet whose place packet i takes in the second wave.
    fn second(&self) -> u32 {
        (self.i + self.n - 1) % self.n
    }

    /// The bit by which a wave that leads away from the root brings the packet: i of the first, w of the second; `None`
    /// where it returns.
    fn wave(&self, c: usize) -> Option<u32> {
        debug_assert!(c <= mask(self.n), "node {c} outside the {}-cube", self.n);
        [self.i, self.second()].into_iter().find(|&bit| c >> bit & 1 == 1)
    }
}

impl Tree for DoubleWave {
    fn dimension(&self) -> u32 {
        self.n
    }

    fn parent_port(&self, c: usize) -> Option<u32> {
        match self.wave(c) {
            Some(bit) => previous_one(c, bit, self.n),
            None => (c != 0).then_some(self.i),
        }
    }

    fn child_ports(&self, c: usize) -> Ports {
        let Some(bit) = self.wave(c) else {
            let ports = Ports::NONE.with(self.i).with(self.second());
            return if c == 0 { ports } else { Ports::NONE };
        };
        // Onwards: the zeros between the bit and the first 1 to its right, which reads as the highest bit of this word.
        let aligned = rotate_right(c, bit, self.n);
        let zeros = mask(self.n) ^ mask(aligned.ilog2() + 1);
        let onwards = rotate_left(zeros, bit, self.n);
        Ports::from_mask(if bit != self.i {
            // A node across port i has the packet from the first wave.
            onwards & !(1 << self.i)
        } else if c >> self.second() & 1 == 0 && c != 1 << self.i {
            onwards | 1 << self.i
        } else {
            onwards
        })
    }

    fn level(&self, c: usize) -> u32 {
        let distance = c.count_ones();
        if c != 0 && self.wave(c).is_none() {
            distance + 2
        } else {
            distance
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::msbt::Ersbt;
    use crate::topology::tests::{assert_consistent, assert_spanning};
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// The paper's function: the first 1 of c in left circular order after bit z; z itself at the root.
    fn first_one(c: usize, z: u32, n: u32) -> u32 {
        (1..=n).map(|step| (z + step) % n).find(|&w| c >> w & 1 == 1).unwrap_or(z)
    }

    /// Runs BROADCAST 3A, and 3B for `waves` = 2, as printed, and gives by packet and node the step and port of the first
    /// arrival. Nodes send what the rules say, and must have it.
    fn run(n: u32, waves: u32) -> Vec<Vec<Option<(u32, u32)>>> {
        let nodes = 1usize << n;
        let mut arrivals = vec![vec![None; nodes]; n as usize];
        for step in 0..=n {
            let mut links = HashSet::new();
            let mut received = Vec::new();
            for wave in 0..waves {
                // The second wave is over after n - 1 steps, and the first one's last step falls away with it.
                if step < wave || waves == 2 && step >= n {
                    continue;
                }
                for c in (0..nodes).filter(|c| c.count_ones() == step - wave) {
                    for port in 0..n {
                        let back = c >> port & 1 == 1;
                        let packet = if back { port } else { first_one(c, port, n) };
                        let packet = (packet + wave) % n;
                        let held: Option<(u32, u32)> = arrivals[packet as usize][c];
                        assert!(c == 0 || held.is_some_and(|(when, _)| when < step), "{c:b} lacks {packet}");
                        assert!(links.insert((c, port)), "{c:b} sends twice across {port}");
                        received.push((packet, c ^ 1 << port, port));
                    }
                }
            }
            for (packet, c, port) in received {
                let first: &mut Option<(u32, u32)> = &mut arrivals[packet as usize][c];
                // A packet that comes from two sides at once would leave the tree open.
                assert!(first.is_none_or(|(when, _)| when < step) || c == 0, "{packet} comes twice to {c:b}");
                first.get_or_insert((step, port));
            }
        }
        arrivals
    }

    #[test]
    fn the_single_wave_runs_along_the_msbt() {
        for n in 1..=8 {
            for (i, arrivals) in (0..).zip(run(n, 1)) {
                let tree = Ersbt::new(n, i);
                for (c, arrival) in arrivals.into_iter().enumerate().skip(1) {
                    let expected = tree.parent_port(c).map(|port| (tree.level(c) - 1, port));
                    assert_eq!(arrival, expected, "packet {i} at {c:b} of {n}");
                }
            }
        }
    }

    #[test]
    fn the_double_wave_runs_along_its_trees() {
        for n in 1..=8 {
            for (i, arrivals) in (0..).zip(run(n, 2)) {
                let tree = DoubleWave::new(n, i);
                for (c, arrival) in arrivals.into_iter().enumerate().skip(1) {
                    assert_eq!(arrival, tree.step(c).zip(tree.parent_port(c)), "packet {i} at {c:b} of {n}");
                }
            }
        }
    }

    #[test]
    fn every_tree_spans_every_small_cube() {
        for n in 1..=8 {
            for i in 0..n {
                assert_spanning(&DoubleWave::new(n, i));
            }
        }
    }

    #[test]
    fn the_three_trees_of_the_3_cube() {
        let expected = [
            ([0, 3, 1, 0, 1, 4, 3], [0, 2, 1, 1, 1, 2, 2]),
            ([0, 0, 2, 6, 1, 2, 6], [1, 0, 1, 2, 2, 1, 2]),
            ([5, 0, 2, 0, 4, 4, 5], [2, 1, 2, 0, 1, 1, 2]),
        ];
        for (i, (parents, steps)) in (0..).zip(expected) {
            let tree = DoubleWave::new(3, i);
            assert!((1..8).map(|c| tree.parent(c)).eq(parents.map(Some)), "parents in tree {i}");
            assert!((1..8).map(|c| tree.step(c)).eq(steps.map(Some)), "steps in tree {i}");
            assert_eq!((tree.parent(0), tree.step(0)), (None, None));
        }
    }

    #[test]
    fn n_steps_and_no_link_twice_in_one() {
        for n in 1..=8 {
            let mut links = HashSet::new();
            for i in 0..n {
                let tree = DoubleWave::new(n, i);
                for c in 1..1usize << n {
                    let parent = tree.parent(c).expect("only the root has no parent");
                    let step = tree.step(c).expect("only the root is there from the start");
                    assert!(tree.step(parent) < Some(step) && step < n);
                    assert!(links.insert((parent, c, step)), "{parent:b} to {c:b} in step {step}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn consistent_in_large_cubes(
            (n, i, c) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), 0..n, 0..1usize << n))
        ) {
            let tree = DoubleWave::new(n, i);
            assert_consistent(&tree, c);
            prop_assert!(tree.step(c) < Some(n));
        }
    }
}
