//! What an inner node of a scatter along the SBnT has to know: Ho & Johnsson 1988, section 6.

use super::{Cell, Definition};
use hypercoll::topology::sbnt::{Sbnt, Variant};
use hypercoll::topology::Tree;

pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "relay-tables",
    caption: "What an inner node knows in a scatter along the SBnT, at most: the destination in the header of a block; a count of blocks \
              for each port (postorder); one for each port and level (reverse breadth-first) (Ho & Johnsson 1988, section 6)",
    // Every node of subtree 0 goes through its own subtree.
    largest: 20,
    columns: &["n", "header bits", "postorder counts", "bits", "n^2", "breadth-first counts", "bits", "n^3", "blocks"],
    rows: |max_dim| (2..=max_dim).map(relays).collect(),
}];

/// The largest tables of one dimension, and the most blocks that one relay passes on.
fn relays(n: u32) -> Vec<Cell> {
    let tree = Sbnt::new(n, Variant::MinRight);
    let (mut ports, mut levels) = ((0, 0), (0, 0));
    let mut most_blocks = 0;
    for (c, _) in tree.subtree(tree.top(0)) {
        let children: Vec<Vec<usize>> = tree.children(c).map(|child| by_level(&tree, child)).collect();
        let totals: Vec<usize> = children.iter().map(|levels| levels.iter().sum()).collect();
        most_blocks = most_blocks.max(totals.iter().sum());
        let larger = |(counts, bits): (usize, usize), table: &[usize]| {
            (counts.max(table.len()), bits.max(table.iter().map(|&count| bits_of(count)).sum()))
        };
        ports = larger(ports, &totals);
        levels = larger(levels, &children.concat());
    }
    let d = n as usize;
    [d, d, ports.0, ports.1, d * d, levels.0, levels.1, d * d * d, most_blocks].map(Cell::Count).to_vec()
}

/// Nodes of the subtree of `top`, level by level.
fn by_level(tree: &Sbnt, top: usize) -> Vec<usize> {
    let mut levels = Vec::new();
    for (_, level) in tree.subtree(top) {
        levels.resize(levels.len().max(level as usize + 1), 0);
        levels[level as usize] += 1;
    }
    levels
}

fn bits_of(count: usize) -> usize {
    (usize::BITS - count.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::*;
    use hypercoll::algorithm::{registry, Order, Parameters, PortModel};
    use hypercoll::collective::{Call, Collective};
    use hypercoll::schedule::{Kind, Schedule};
    use serde_json::json;

    /// n = 5 by hand, from the tree of the errata: node 1 has children 3 (of 5 nodes: 1, 2 (7, 11), 1 (15), 1 (31)) and 5.
    #[test]
    fn by_hand() {
        let subtree = [1, 3, 5, 7, 11, 15, 31];
        let tree = Sbnt::new(5, Variant::MinRight);
        assert!(subtree.into_iter().all(|c| tree.index(c) == 0) && tree.subtree_nodes(0) == 7);
        assert_eq!((by_level(&tree, 3), by_level(&tree, 5)), (vec![1, 2, 1, 1], vec![1]));
        // Counts 5 and 1: 3 + 1 bits. Counts 1, 2, 1, 1 and 1: 6 bits.
        assert_eq!(json!(rows("relay-tables", 5)[3]), json!([5, 5, 2, 4, 25, 5, 6, 125, 6]));
    }

    /// The paper's bounds.
    #[test]
    fn tables_are_small() {
        for row in rows("relay-tables", 14) {
            let number = |column: usize| row[column].as_u64().expect("a number");
            let n = number(0);
            assert!(n < 5 || number(2) <= n - 3, "{row}");
            assert!(number(3) <= n * n && number(5) <= n * n && number(6) <= n * n * n, "{row}");
        }
    }

    /// The destination in the header is enough: the next port is that of the first 1 of (own address XOR destination) to the left,
    /// cyclically, of the bit of the subtree, which is the index of the own address.
    #[test]
    fn destinations_lead_along_the_tree() {
        for n in 1..=12u32 {
            let tree = Sbnt::new(n, Variant::MinRight);
            for destination in 1..1usize << n {
                // The root knows the subtree.
                let mut own = tree.top(tree.index(destination));
                assert_eq!(tree.parent(own), Some(0));
                while own != destination {
                    let left = (1..n).map(|step| (tree.index(own) + step) % n);
                    let port =
                        left.into_iter().find(|port| (own ^ destination) >> port & 1 == 1).expect("not there yet");
                    let next = own ^ 1 << port;
                    assert_eq!(tree.parent(next), Some(own), "n = {n}: to {destination:b}");
                    own = next;
                }
            }
        }
    }

    /// What a rank receives, as it comes, and what it sends, each as (peer, where it lies, elements).
    fn messages(schedule: &Schedule, sends: bool) -> Vec<(usize, usize, usize)> {
        let of_kind = schedule.operations().iter().filter_map(|operation| match operation.kind {
            Kind::Send { peer } if sends => Some((peer, operation)),
            Kind::Receive { peer } if !sends => Some((peer, operation)),
            _ => None,
        });
        of_kind.map(|(peer, op)| (peer, schedule.ranges(op)[0].offset, schedule.len(op))).collect()
    }

    /// Counts are enough in postorder, block by block: a relay passes the first blocks that come to its first child, as many as that has
    /// nodes, the next ones to the next child, and keeps the last one. The schedules do the same.
    #[test]
    fn counts_are_what_the_schedules_do() {
        let sbnt = registry::find(Collective::Scatter, "sbnt").expect("in the registry");
        let mut counted = 0;
        for n in 2..=7u32 {
            let tree = Sbnt::new(n, Variant::MinRight);
            let call = Call::new(Collective::Scatter, 1 << n, 1);
            let order = Some(Order::Postorder);
            let parameters =
                Parameters { order, packet: Some(1), symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
            for c in 1..1usize << n {
                let schedule = sbnt.schedule(&call, &parameters, c);
                let (mut received, sent) = (messages(&schedule, false), messages(&schedule, true));
                assert_eq!(received.len(), sent.len() + 1, "n = {n}, node {c}");
                received.pop();
                // Runs, one for each child.
                let mut runs: Vec<(usize, usize)> = Vec::new();
                for &(peer, ..) in &sent {
                    match runs.last_mut() {
                        Some((last, count)) if *last == peer => *count += 1,
                        _ => runs.push((peer, 1)),
                    }
                }
                let mut counts: Vec<_> = tree.children(c).map(|child| (child, tree.subtree_size(child))).collect();
                counts.sort_unstable();
                counted += counts.len();
                runs.sort_unstable();
                assert_eq!(runs, counts, "n = {n}, node {c}");
                let places = |messages: &[(usize, usize, usize)]| messages.iter().map(|m| m.1).collect::<Vec<_>>();
                assert_eq!(places(&received), places(&sent), "n = {n}, node {c}: first come, first passed on");
            }
        }
        assert!(counted > 200);
    }

    /// Counts by level are enough with whole levels: a relay cuts what comes of a level into its children's parts.
    #[test]
    fn counts_by_level_are_what_the_schedules_do() {
        let sbnt = registry::find(Collective::Scatter, "sbnt").expect("in the registry");
        for n in 2..=7u32 {
            let tree = Sbnt::new(n, Variant::MinRight);
            let call = Call::new(Collective::Scatter, 1 << n, 1);
            for c in 1..1usize << n {
                let schedule =
                    sbnt.schedule(&call, &Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) }, c);
                for child in tree.children(c) {
                    let sent = messages(&schedule, true).into_iter().filter(|&(peer, ..)| peer == child).map(|m| m.2);
                    // The farthest level first.
                    assert!(sent.eq(by_level(&tree, child).into_iter().rev()), "n = {n}: {c} to {child}");
                }
            }
        }
    }
}
