//! Graph: n/2 Hamiltonian cycles of the n-cube that share no link, n a power of two; both ways round, n directed ones.
//!
//! Reference: C.-T. Ho, S. L. Johnsson and A. Edelman, 1991, section 4, which needs such cycles and cites others for them (Foregger
//! 1978: the product of two cycles is the union of two Hamiltonian cycles). The formula is this library's.
//!
//! Definition: the 2-cube is one cycle, in the order of the Gray code. The 2h-cube is the product of two h-cubes: (a, b), a the
//! high-order bits. Let a and b be at the positions x and y of cycle i of the h-cube, K = 2^h. Of the K x K torus of these positions,
//! cycle 2i of the 2h-cube goes on in y, but in x where x + y = K - 1 (mod K); cycle 2i + 1 goes on in x, but in y where
//! x + y = K - 1. So each link of the torus belongs to one of the two. Cycle 2i passes (x, y) at position K x + (x + y) mod K,
//! cycle 2i + 1 at K y + (x + y) mod K.
//!
//! The directed cycles, here *rings*: ring 2i is cycle i in that order, ring 2i + 1 backwards. At each node the n rings leave over the n
//! ports, and come in over the n ports. The 1-cube has one ring, back and forth.
//!
//! Every query takes O(n) word operations.
//!
//! Example, n = 4, ring 0 from node 0: 0, 1, 3, 2, then 6, 4, 5, 7, then 15, 14, 12, 13, then 9, 11, 10, 8.
//!
//! ```
//! use hypercoll::topology::hamiltonian_cycles::HamiltonianCycles;
//!
//! let cycles = HamiltonianCycles::new(4).expect("a power of two");
//! let ring: Vec<usize> = std::iter::successors(Some(0), |&node| Some(node ^ 1 << cycles.next_port(2, node))).take(16).collect();
//! assert_eq!(ring, [0, 4, 12, 8, 9, 1, 5, 13, 15, 11, 3, 7, 6, 14, 10, 2]);
//! ```
//!
//! Properties tested: every ring visits all nodes; at every node all rings leave over different ports, and come in over different ones;
//! rings 2i and 2i + 1 are inverse.

use crate::address::{gray, gray_inverse, mask, MAX_DIMENSION};

/// The Hamiltonian cycles of the n-cube.
#[derive(Clone, Copy, Debug)]
pub struct HamiltonianCycles {
    n: u32,
}

impl HamiltonianCycles {
    /// The cycles of the cube of dimension `n`; `None` if `n` is no power of two.
    ///
    /// # Panics
    /// If `n` exceeds [`MAX_DIMENSION`].
    pub fn new(n: u32) -> Option<HamiltonianCycles> {
        assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
        n.is_power_of_two().then_some(HamiltonianCycles { n })
    }

    /// The number of rings: n.
    pub fn rings(&self) -> u32 {
        self.n
    }

    /// The port over which a ring leaves a node.
    pub fn next_port(&self, ring: u32, node: usize) -> u32 {
        self.port(ring, node, ring.is_multiple_of(2))
    }

    /// The port over which a ring comes to a node.
    pub fn previous_port(&self, ring: u32, node: usize) -> u32 {
        self.port(ring, node, !ring.is_multiple_of(2))
    }

    fn port(&self, ring: u32, node: usize, up: bool) -> u32 {
        debug_assert!(node <= mask(self.n), "node {node} outside the {}-cube", self.n);
        if self.n == 1 {
            return 0;
        }
        let (position, last) = (position(self.n, ring / 2, node), mask(self.n));
        let other = if up { position + 1 } else { position + last } & last;
        (node ^ node_at(self.n, ring / 2, other)).trailing_zeros()
    }
}

/// Where a cycle of the n-cube, n a power of two from 2 on, passes a node.
fn position(n: u32, cycle: u32, node: usize) -> usize {
    if n == 2 {
        return gray_inverse(node);
    }
    let h = n / 2;
    let (x, y) = (position(h, cycle / 2, node >> h), position(h, cycle / 2, node & mask(h)));
    let row = if cycle.is_multiple_of(2) { x } else { y };
    row << h | (x + y) & mask(h)
}

/// The node at a position.
fn node_at(n: u32, cycle: u32, position: usize) -> usize {
    if n == 2 {
        return gray(position);
    }
    let h = n / 2;
    let (row, sum) = (position >> h, position & mask(h));
    let other = (sum + (1 << h) - row) & mask(h);
    let (x, y) = if cycle.is_multiple_of(2) { (row, other) } else { (other, row) };
    node_at(h, cycle / 2, x) << h | node_at(h, cycle / 2, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_visit_all_nodes_and_share_no_link() {
        for n in [1u32, 2, 4, 8, 16] {
            let cycles = HamiltonianCycles::new(n).unwrap();
            for ring in 0..cycles.rings() {
                let (mut node, mut visited) = (0, vec![false; 1 << n]);
                for _ in 0..1usize << n {
                    assert!(!std::mem::replace(&mut visited[node], true), "n = {n}, ring {ring}: {node} twice");
                    let next = node ^ 1 << cycles.next_port(ring, node);
                    assert_eq!(next ^ 1 << cycles.previous_port(ring, next), node);
                    node = next;
                }
                assert_eq!(node, 0, "ring {ring} of {n} closes");
            }
            for node in (0..1 << n).step_by(if n > 8 { 7 } else { 1 }) {
                let all = |port: &dyn Fn(u32) -> u32| (0..n).fold(0, |ports, ring| ports | 1usize << port(ring));
                assert_eq!(all(&|ring| cycles.next_port(ring, node)), mask(n), "n = {n}, from {node}");
                assert_eq!(all(&|ring| cycles.previous_port(ring, node)), mask(n), "n = {n}, to {node}");
            }
        }
        assert!([0, 3, 6, 12].into_iter().all(|n| HamiltonianCycles::new(n).is_none()));
    }

    /// The example of the header.
    #[test]
    fn ring_0_of_the_4_cube() {
        let cycles = HamiltonianCycles::new(4).unwrap();
        let ring = std::iter::successors(Some(0usize), |&node| Some(node ^ 1 << cycles.next_port(0, node)));
        assert!(ring.take(16).eq([0, 1, 3, 2, 6, 4, 5, 7, 15, 14, 12, 13, 9, 11, 10, 8]));
    }
}
