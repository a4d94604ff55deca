//! Which rank plays which node, where the number of ranks is no power of two.

use super::{dimension_for, reverse_bits, Hosts};

/// Which rank plays which node of the cube.
///
/// With `size` no power of two the cube has dimension n = ceil(log2 size), and the nodes without a rank of their own are
/// played by the rank of their neighbour across the top dimension, so that every edge of the cube stays an edge (or
/// falls inside a rank).
///
/// * Natural: rank r is node r; nodes `size..2^n` are played by ranks r - 2^(n-1).
/// * Ordered, for reductions that must combine in rank order: ranks are numbered so that the dimensions, from the top
///   one down, join neighbouring intervals of ranks. Node bit 0 is the most significant bit of the order and the top
///   bit the least significant one, so the two nodes of a rank are neighbours in the order.
/// * By hosts: as natural, with the places of ranks instead of ranks, so that the ranks of a host are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hosting<'h> {
    size: usize,
    dimension: u32,
    ordered: bool,
    hosts: Option<&'h Hosts>,
}

/// The nodes that one of so many ranks plays at most, where messages go along the edges of the cube.
pub(crate) fn nodes_a_rank(size: usize, along_edges: bool) -> usize {
    if along_edges && !size.is_power_of_two() {
        2
    } else {
        1
    }
}

impl<'h> Hosting<'h> {
    /// The hosting of `size` ranks.
    pub fn new(size: usize, ordered: bool) -> Hosting<'h> {
        Hosting { size, dimension: dimension_for(size), ordered, hosts: None }
    }

    /// The hosting of `size` ranks, which are on these hosts.
    pub fn on(size: usize, ordered: bool, hosts: Option<&'h Hosts>) -> Hosting<'h> {
        Hosting { hosts: hosts.filter(|_| !ordered), ..Hosting::new(size, ordered) }
    }

    /// Dimension of the cube.
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    fn half(&self) -> usize {
        (1 << self.dimension) >> 1
    }

    /// Ranks beyond half the cube: as many pairs across the top dimension have a rank on either side.
    fn pairs(&self) -> usize {
        self.size - self.half()
    }

    /// The node of a rank; the other node that it may play is across the top dimension.
    pub fn node(&self, rank: usize) -> usize {
        if let Some(hosts) = self.hosts {
            return hosts.place(rank);
        }
        if !self.ordered || self.dimension == 0 {
            return rank;
        }
        let pairs = self.pairs();
        let position = if rank < 2 * pairs { rank } else { 2 * (rank - pairs) };
        reverse_bits(position, self.dimension)
    }

    /// The rank whose own node this is, if any.
    pub fn owner(&self, node: usize) -> Option<usize> {
        if let Some(hosts) = self.hosts {
            return (node < self.size).then(|| hosts.rank(node));
        }
        if !self.ordered || self.dimension == 0 {
            return (node < self.size).then_some(node);
        }
        let position = reverse_bits(node, self.dimension);
        let pairs = self.pairs();
        if position < 2 * pairs {
            Some(position)
        } else {
            position.is_multiple_of(2).then_some(position / 2 + pairs)
        }
    }

    /// The rank that plays a node.
    pub fn host(&self, node: usize) -> usize {
        self.owner(node).or_else(|| self.owner(node ^ self.half())).unwrap_or(node)
    }

    /// The other node that the player of `node` plays, if any.
    pub fn twin(&self, node: usize) -> Option<usize> {
        if self.size.is_power_of_two() {
            return None;
        }
        let other = node ^ self.half();
        (self.owner(node).is_none() || self.owner(other).is_none()).then_some(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_one_node_of_its_own_and_every_node_one_player() {
        for size in 1..70usize {
            for ordered in [false, true] {
                let hosting = Hosting::new(size, ordered);
                let nodes = 1 << hosting.dimension;
                for rank in 0..size {
                    assert_eq!(hosting.owner(hosting.node(rank)), Some(rank), "size {size} ordered {ordered}");
                }
                assert_eq!((0..nodes).filter(|&v| hosting.owner(v).is_some()).count(), size);
                for node in 0..nodes {
                    let host = hosting.host(node);
                    assert!(host < size);
                    assert!(host == hosting.owner(node).unwrap_or(host));
                    if let Some(twin) = hosting.twin(node) {
                        assert_eq!(hosting.host(twin), host);
                        assert_eq!(twin ^ node, nodes / 2);
                    }
                }
                let twins = (0..nodes).filter(|&v| hosting.twin(v).is_some()).count();
                assert_eq!(twins, 2 * (nodes - size));
            }
        }
    }

    /// The definition of the design: rank r hosts node r and, where size <= r + 2^(n-1) < 2^n, that node too.
    #[test]
    fn natural_hosting_is_the_design_s() {
        let hosting = Hosting::new(5, false);
        let hosts: Vec<_> = (0..8).map(|v| hosting.host(v)).collect();
        assert_eq!(hosts, [0, 1, 2, 3, 4, 1, 2, 3]);
    }

    /// Joining along the dimensions from the top one down joins neighbouring intervals of ranks.
    #[test]
    fn ordered_hosting_joins_neighbours() {
        for size in 1..40usize {
            let hosting = Hosting::new(size, true);
            for low in (0..hosting.dimension).rev() {
                for node in 0..1usize << hosting.dimension {
                    let in_subcube = |v: &usize| (v ^ node) & ((1 << low) - 1) == 0;
                    let mut ranks: Vec<_> =
                        (0..1usize << hosting.dimension).filter(in_subcube).filter_map(|v| hosting.owner(v)).collect();
                    ranks.sort();
                    assert!(ranks.windows(2).all(|w| w[0] + 1 == w[1]), "size {size} low {low} node {node}: {ranks:?}");
                }
            }
        }
    }
}
