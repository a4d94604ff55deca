//! Node addresses of a Boolean cube: rotations, necklaces, Gray code, sets of ports, and which rank plays which node.
//!
//! A node of the n-cube is a number below 2^n. Bit j of it belongs to dimension j, and *port* j of a node is the link
//! that flips bit j. Graphs are defined on *relative addresses* c = rank XOR root, so that the root is always node 0.
//!
//! Reference: Ho & Johnsson 1986, section 2; Ho & Johnsson 1988, section 2. Symbols: R is [`rotate_right`], L is
//! [`rotate_left`], B is [`reverse_bits`], P_c is [`period`].
//!
//! Addresses and the numbers of nodes are `usize`; dimensions, ports and numbers of steps are `u32`. Every function takes a
//! dimension of at most [`MAX_DIMENSION`] and an address below 2^n; neither is checked in release builds.
//!
//! ```
//! use hypercoll::address::{dimension_for, gray, Ports};
//!
//! // Six ranks play on the cube of eight nodes.
//! assert_eq!(dimension_for(6), 3);
//! // As seen from root 6, rank 5 is node 011: its way there crosses ports 0 and 1.
//! let relative = 5 ^ 6;
//! assert_eq!(Ports(relative).iter().collect::<Vec<u32>>(), [0, 1]);
//! // The Gray code visits every node, and goes along one link in every step.
//! let walk: Vec<usize> = (0..8).map(gray).collect();
//! assert_eq!(walk, [0b000, 0b001, 0b011, 0b010, 0b110, 0b111, 0b101, 0b100]);
//! ```

mod dragonfly;
mod factors;
mod hosting;
mod hosts;
mod switches;
mod torus;

pub use dragonfly::Dragonfly;
pub(crate) use hosting::nodes_a_rank;
pub use hosting::Hosting;
pub(crate) use hosts::near_dimensions;
pub use hosts::Hosts;
pub use switches::Switches;
pub use torus::Torus;

/// The largest dimension of a cube: 2^30 nodes, so that a node and every product of two short quantities fit a word.
pub const MAX_DIMENSION: u32 = 30;

/// The address of node 11...1, which is also the mask of the n address bits.
pub(crate) fn mask(n: u32) -> usize {
    debug_assert!(n <= MAX_DIMENSION, "dimension {n} above {MAX_DIMENSION}");
    (1 << n) - 1
}

/// R^steps(c): the n-bit address rotated right, so that bit j moves to bit j - steps (mod n). `steps` may exceed n.
///
/// Ho & Johnsson 1986, section 2.
///
/// ```
/// use hypercoll::address::rotate_right;
/// assert_eq!(rotate_right(0b00110, 2, 5), 0b10001);
/// ```
pub fn rotate_right(c: usize, steps: u32, n: u32) -> usize {
    debug_assert!(c <= mask(n), "node {c} outside the {n}-cube");
    if n == 0 {
        return c;
    }
    let steps = steps % n;
    ((c >> steps) | (c << (n - steps))) & mask(n)
}

/// L^steps(c): the n-bit address rotated left, so that bit j moves to bit j + steps (mod n). `steps` may exceed n.
///
/// The inverse of [`rotate_right`]; Ho & Johnsson 1988, section 2.
pub fn rotate_left(c: usize, steps: u32, n: u32) -> usize {
    if n == 0 {
        return c;
    }
    rotate_right(c, n - steps % n, n)
}

/// B(c): the n address bits in the opposite order; bit j moves to bit n-1-j. Ho & Johnsson 1988, section 2.
pub fn reverse_bits(c: usize, n: u32) -> usize {
    debug_assert!(c <= mask(n), "node {c} outside the {n}-cube");
    // A shift by the whole word, which n = 0 asks for, is the one that the processor does not have.
    c.reverse_bits().checked_shr(usize::BITS - n).unwrap_or(0)
}

/// P_c: the least number u > 0 of rotations that bring the n-bit address back to itself; 1 for n = 0.
///
/// It divides n, and is the number of nodes in the necklace of c. Ho & Johnsson 1986, section 2.
///
/// ```
/// use hypercoll::address::period;
/// assert_eq!(period(0b011011, 6), 3);
/// ```
pub fn period(c: usize, n: u32) -> u32 {
    (1..n).find(|&u| n.is_multiple_of(u) && rotate_right(c, u, n) == c).unwrap_or(n.max(1))
}

/// Whether the address is *cyclic*: its period is less than its length n. Ho & Johnsson 1986, section 2.
///
/// Nodes 0...0 and 1...1 are cyclic for n >= 2; no address of fewer than two bits is.
pub fn is_cyclic(c: usize, n: u32) -> bool {
    period(c, n) < n
}

/// The i-th code word of the binary-reflected Gray code. Neighbouring code words differ in one bit.
pub fn gray(i: usize) -> usize {
    i ^ (i >> 1)
}

/// The position of code word `g` in the binary-reflected Gray code: the inverse of [`gray`].
pub fn gray_inverse(g: usize) -> usize {
    // Bit j of the position is the parity of the bits j and above of the code word: a prefix sum by doubling.
    let mut i = g;
    let mut shift = 1;
    while shift < usize::BITS {
        i ^= i >> shift;
        shift *= 2;
    }
    i
}

/// The dimension of the smallest cube with at least `size` nodes: ceil(log2 size), and 0 for sizes 0 and 1.
///
/// The result may exceed [`MAX_DIMENSION`]; the caller who took `size` from outside decides what to say then.
pub fn dimension_for(size: usize) -> u32 {
    usize::BITS - size.saturating_sub(1).leading_zeros()
}

/// The periods of addresses of n bits, each with the number of addresses that have it.
pub(crate) fn periods(n: u32) -> impl Iterator<Item = (usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for period in (1..=n as usize).filter(|period| (n as usize).is_multiple_of(*period)) {
        // All words of so many bits, repeated, but those that repeat a shorter one.
        let shorter: usize = found.iter().filter(|(p, _)| period.is_multiple_of(*p)).map(|(_, nodes)| nodes).sum();
        found.push((period, (1 << period) - shorter));
    }
    found.into_iter()
}

/// C(n, k): the nodes at distance k from a node of the n-cube. `k` may not exceed `n`.
pub(crate) fn binomial(n: u32, k: u32) -> usize {
    (0..k as usize).fold(1, |value, i| value * (n as usize - i) / (i + 1))
}

/// The first 1 of the n-bit address cyclically to the right of bit j; `None` for c = 0.
///
/// Bits are tried in the order j-1, ..., 0, n-1, ..., j+1 and then j itself, so that a node with no 1 but bit j answers j.
/// This is k of Ho & Johnsson 1986, sections 3.2 and 4.1.
///
/// ```
/// use hypercoll::address::previous_one;
/// assert_eq!(previous_one(0b01001, 1, 5), Some(0));
/// assert_eq!(previous_one(0b01001, 0, 5), Some(3));
/// assert_eq!(previous_one(0b01000, 3, 5), Some(3));
/// ```
pub fn previous_one(c: usize, j: u32, n: u32) -> Option<u32> {
    debug_assert!(j < n || c == 0, "no bit {j} in {n} bits");
    // With bit j rotated to bit 0, the order of the search is from the highest bit down.
    let highest = rotate_right(c, j, n).checked_ilog2()?;
    Some((highest + j) % n)
}

/// A set of ports of a node, kept as a bit mask: bit j is port j. Iterates in ascending order.
///
/// ```
/// use hypercoll::address::Ports;
/// let ports = Ports::NONE.with(4).with(1);
/// assert_eq!(ports.iter().collect::<Vec<_>>(), [1, 4]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Ports(
    /// The mask; bit j is set if port j is in the set.
    pub u32,
);

impl Ports {
    /// The empty set.
    pub const NONE: Ports = Ports(0);

    /// The ports 0 to n-1, all those of a node of the n-cube.
    pub fn all(n: u32) -> Ports {
        Ports::from_mask(mask(n))
    }

    /// The set whose mask is an address: the ports across which the node with this address differs from node 0.
    pub(crate) fn from_mask(c: usize) -> Ports {
        debug_assert!(c <= mask(MAX_DIMENSION), "no cube has a port for every bit of {c:#b}");
        Ports(c as u32)
    }

    /// Whether `port` is in the set.
    pub fn contains(self, port: u32) -> bool {
        self.0 >> port & 1 == 1
    }

    /// The number of ports in the set.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no port is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The ports in ascending order.
    pub fn iter(self) -> PortIter {
        PortIter(self.0)
    }

    /// The set with `port` added.
    pub fn with(self, port: u32) -> Ports {
        Ports(self.0 | 1 << port)
    }
}

impl IntoIterator for Ports {
    type Item = u32;
    type IntoIter = PortIter;

    fn into_iter(self) -> PortIter {
        self.iter()
    }
}

/// The ports of a [`Ports`] in ascending order; from either end.
#[derive(Clone, Debug)]
pub struct PortIter(u32);

impl Iterator for PortIter {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let port = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(port)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl DoubleEndedIterator for PortIter {
    fn next_back(&mut self) -> Option<u32> {
        let port = self.0.checked_ilog2()?;
        self.0 ^= 1 << port;
        Some(port)
    }
}

impl ExactSizeIterator for PortIter {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The n bits of an address, highest first, for definitions that use no word operations.
    fn bits(c: usize, n: u32) -> Vec<u8> {
        format!("{:b}", c + (1 << n)).bytes().skip(1).collect()
    }

    fn address(n: u32) -> impl Strategy<Value = usize> {
        0..=mask(n)
    }

    fn dimension_and_address() -> impl Strategy<Value = (u32, usize)> {
        (0..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), address(n)))
    }

    #[test]
    fn rotations_of_the_papers() {
        assert_eq!(rotate_right(0b011, 1, 3), 0b101);
        assert_eq!(rotate_left(0b011, 1, 3), 0b110);
        assert_eq!(rotate_right(0b0101110, 1, 7), 0b0010111);
        assert_eq!(rotate_right(0b110110, 3, 6), 0b110110);
        assert_eq!(reverse_bits(0b001101, 6), 0b101100);
        for c in 0..2 {
            assert_eq!([rotate_right(c, 7, 1), rotate_left(c, 7, 1), reverse_bits(c, 1)], [c; 3]);
        }
        assert_eq!([rotate_right(0, 3, 0), rotate_left(0, 3, 0), reverse_bits(0, 0)], [0; 3]);
    }

    #[test]
    fn periods() {
        let table = [
            (0b0, 0, 1),
            (0b1, 1, 1),
            (0b00, 2, 1),
            (0b01, 2, 2),
            (0b011011, 6, 3),
            (0b011010, 6, 6),
            (0b010101, 6, 2),
            (0b111111, 6, 1),
            (0b000111000111, 12, 6),
        ];
        for (c, n, expected) in table {
            assert_eq!(period(c, n), expected, "{c:b} of {n} bits");
        }
        // The number of cyclic nodes A and of degenerate necklaces B: Ho & Johnsson 1988, table 1.
        for (n, a, b) in [(2, 2, 2), (4, 4, 3), (6, 10, 5), (8, 16, 6), (9, 8, 4), (10, 34, 9), (12, 76, 17)] {
            let cyclic: Vec<usize> = (0..1 << n).filter(|&c| is_cyclic(c, n)).collect();
            assert_eq!(cyclic.len(), a);
            let necklaces: f64 = cyclic.iter().map(|&c| 1.0 / f64::from(period(c, n))).sum();
            assert_eq!(necklaces.round() as usize, b);
        }
        assert!(!is_cyclic(0, 0) && !is_cyclic(0, 1) && !is_cyclic(1, 1));
    }

    #[test]
    fn gray_code_words() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(gray), [0, 1, 3, 2, 6, 7, 5, 4]);
        for i in 0..1 << 10 {
            assert_eq!((gray(i) ^ gray(i + 1)).count_ones(), 1);
        }
    }

    #[test]
    fn dimensions_of_sizes() {
        let sizes = [0, 1, 2, 3, 4, 5, 8, 9, 1023, 1024, 1025, usize::MAX];
        assert_eq!(sizes.map(dimension_for), [0, 0, 1, 2, 2, 3, 3, 4, 10, 10, 11, usize::BITS]);
    }

    #[test]
    fn previous_one_of_short_words() {
        assert_eq!(previous_one(0, 0, 0), None);
        assert_eq!(previous_one(0, 2, 5), None);
        assert_eq!(previous_one(1, 0, 1), Some(0));
        assert_eq!(previous_one(0b10110, 2, 5), Some(1));
        assert_eq!(previous_one(0b10110, 1, 5), Some(4));
    }

    #[test]
    fn ports_are_a_set() {
        let ports = Ports::NONE.with(9).with(0).with(5).with(9);
        assert_eq!(ports.iter().collect::<Vec<_>>(), [0, 5, 9]);
        assert_eq!(ports.iter().rev().collect::<Vec<_>>(), [9, 5, 0]);
        assert_eq!((ports.len(), ports.iter().len()), (3, 3));
        assert!(ports.contains(5) && !ports.contains(4) && !ports.is_empty());
        assert!(Ports::all(0).is_empty() && Ports::NONE == Ports::default());
        assert!(Ports::all(MAX_DIMENSION).into_iter().eq(0..30));
    }

    proptest! {
        #[test]
        fn rotations_move_bits((n, c) in dimension_and_address(), steps in 0u32..100) {
            let mut expected = bits(c, n);
            expected.rotate_right(if n == 0 { 0 } else { (steps % n) as usize });
            prop_assert_eq!(bits(rotate_right(c, steps, n), n), expected);
            prop_assert_eq!(rotate_left(rotate_right(c, steps, n), steps, n), c);
            // RBR = B, Ho & Johnsson 1988, section 2.
            prop_assert_eq!(rotate_right(reverse_bits(rotate_right(c, steps, n), n), steps, n), reverse_bits(c, n));
            let mirror: Vec<u8> = bits(c, n).into_iter().rev().collect();
            prop_assert_eq!(bits(reverse_bits(c, n), n), mirror);
        }

        #[test]
        fn the_period_is_the_size_of_the_necklace((n, c) in dimension_and_address()) {
            let necklace: std::collections::HashSet<Vec<u8>> = (0..n.max(1) as usize)
                .map(|u| {
                    let mut word = bits(c, n);
                    if n > 0 {
                        word.rotate_left(u);
                    }
                    word
                })
                .collect();
            prop_assert_eq!(period(c, n) as usize, necklace.len());
        }

        #[test]
        fn gray_code_has_an_inverse(i: usize) {
            prop_assert_eq!(gray_inverse(gray(i)), i);
            prop_assert_eq!(gray(gray_inverse(i)), i);
        }

        #[test]
        fn previous_one_scans_to_the_right((n, c, j) in (1..=MAX_DIMENSION).prop_flat_map(|n| (Just(n), address(n), 0..n))) {
            let order = (0..j).rev().chain((j..n).rev());
            prop_assert_eq!(previous_one(c, j, n), order.into_iter().find(|&k| c >> k & 1 == 1));
        }
    }
}
