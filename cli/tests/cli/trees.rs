//! Trees.

use super::*;

/// The parents that a tree's JSON gives, by rank.
fn parents(tree: &Value) -> Vec<Option<usize>> {
    let list = tree["parents"].as_array().expect("parents");
    list.iter().map(|parent| parent.as_u64().map(|p| p as usize)).collect()
}

#[test]
fn tree_sbt() {
    let tree = parsed("tree sbt --dim 3 --root 5 --json");
    let expected =
        json!({"kind": "sbt", "variant": null, "dimension": 3, "root": 5, "parents": [4, 5, 6, 7, 5, null, 4, 5]});
    assert_eq!(tree, expected);
    for n in 0..=6u32 {
        for root in [0, (1 << n) - 1, (1 << n) / 3] {
            // The parent lacks the highest 1 of the relative address.
            let up = |c: usize| (c > 0).then(|| (c ^ (1 << c.ilog2())) ^ root);
            let expected: Vec<_> = (0..1usize << n).map(|rank| up(rank ^ root)).collect();
            assert_eq!(parents(&parsed(&format!("tree sbt --dim {n} --root {root} --format json"))), expected);
        }
    }
}

#[test]
fn tree_msbt() {
    let tree = parsed("tree msbt --dim 3 --json");
    has_keys(&tree, &["kind", "variant", "dimension", "root", "trees"], "tree msbt");
    // Tree 0 of the 3-cube, from the errata.
    let first = json!({"index": 0, "parents": [null, 0, 3, 1, 5, 1, 7, 3], "labels": [null, 0, 3, 1, 3, 2, 3, 2]});
    assert_eq!(tree["trees"][0], first);
    for n in 1..=6usize {
        for root in [0, (1 << n) - 1] {
            let graph = parsed(&format!("tree msbt --dim {n} --root {root} --json"));
            let trees = graph["trees"].as_array().expect("trees");
            assert_eq!(trees.len(), n);
            let mut edges = HashSet::new();
            let mut arrivals = vec![HashSet::new(); 1 << n];
            for (index, tree) in trees.iter().enumerate() {
                assert_eq!(tree["index"], index);
                let parents = parents(tree);
                let label = |rank: usize| tree["labels"][rank].as_u64().map(|l| l as usize);
                for (rank, parent) in parents.iter().enumerate() {
                    let Some(parent) = *parent else {
                        assert_eq!((rank, label(rank)), (root, None));
                        continue;
                    };
                    assert_eq!((rank ^ parent).count_ones(), 1);
                    assert!(edges.insert((parent, rank)), "edge {parent} to {rank} in two trees");
                    let label = label(rank).expect("a label");
                    // f grows along the tree, and modulo n the labels of the edges into a node differ.
                    assert!(tree["labels"][parent].as_u64().is_none_or(|above| (above as usize) < label));
                    assert!(label < 2 * n);
                    assert!(arrivals[rank].insert(label % n), "n {n}, rank {rank}");
                    // So do those out of it, since cycle t uses dimension t mod n.
                    assert_eq!((rank ^ parent).trailing_zeros() as usize, label % n);
                }
            }
            // n trees of N - 1 edges: all directed edges but those into the root.
            assert_eq!(edges.len(), n * ((1 << n) - 1));
        }
    }
}

#[test]
fn tree_sbnt() {
    let tree = parsed("tree sbnt --dim 3 --json");
    let expected = json!({
        "kind": "sbnt", "variant": "min-right", "dimension": 3, "root": 0, "parents": [null, 0, 0, 1, 0, 4, 2, 3]
    });
    assert_eq!(tree, expected);
    for n in 1..=6u32 {
        for root in [0, (1 << n) - 1, (1 << n) / 3] {
            let right = |c: usize, by: u32| (c >> by | c << (n - by)) & ((1 << n) - 1);
            let up = |c: usize| {
                // The fewest rotations that give the least address; its highest 1 is cleared, and it is rotated back.
                let index = (0..n).min_by_key(|&by| (right(c, by), by))?;
                let base = right(c, index);
                let cleared = base ^ (1 << base.checked_ilog2()?);
                Some(right(cleared, (n - index) % n) ^ root)
            };
            let expected: Vec<_> = (0..1usize << n).map(|rank| up(rank ^ root)).collect();
            assert_eq!(parents(&parsed(&format!("tree sbnt --dim {n} --root {root} --json"))), expected, "n {n}");
        }
    }
    for variant in ["min-right", "max-left", "min-left-reversed", "max-right-reversed"] {
        let tree = parsed(&format!("tree sbnt --dim 4 --variant {variant} --json"));
        assert_eq!(tree["variant"], variant);
        let children_of_root = parents(&tree).iter().filter(|&&parent| parent == Some(0)).count();
        assert_eq!(children_of_root, 4);
    }
}

#[test]
fn trees_of_every_kind() {
    for kind in ["tcbt", "hamiltonian-path", "sbg", "balanced", "multinode", "double-wave"] {
        for n in 0..=5usize {
            let line = format!("tree {kind} --dim {n} --root {} --json", (1usize << n) / 2);
            let graph = parsed(&line);
            has_keys(&graph, &["kind", "variant", "dimension", "root", "parents"], &line);
            assert_eq!((&graph["kind"], &graph["dimension"]), (&json!(kind), &json!(n)));
            if kind == "double-wave" {
                assert_eq!(graph["trees"].as_array().map(Vec::len), Some(n));
                continue;
            }
            assert_eq!(graph["parents"].as_array().map(Vec::len), Some(1 << n));
        }
    }
    // A node of period P has n/P parents, one bit away each.
    let graph = parsed("tree sbg --dim 6 --variant max-left --json");
    assert_eq!(graph["variant"], "max-left");
    for (c, period) in [(0b010101, 2), (0b011011, 3), (0b111111, 1), (0b000111, 6)] {
        let parents = graph["parents"][c].as_array().expect("a list");
        assert_eq!(parents.len(), 6 / period);
        assert!(parents.iter().all(|up| (up.as_u64().expect("a rank") as usize ^ c).count_ones() == 1));
    }
    assert_eq!(graph["parents"][0], json!([]));
    for kind in ["tcbt", "hamiltonian-path", "sbg", "balanced", "multinode", "double-wave"] {
        let svg = hypercoll(&format!("tree {kind} --dim 3 --format svg")).stdout;
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{kind}");
        assert!(hypercoll(&format!("tree {kind} --dim 3")).stdout.contains("[111]"), "{kind}");
    }
    refused("tree balanced --dim 3 --variant max-left", &["variant"]);
    refused("tree sbt --dim 3 --course middle", &["course"]);
}

#[test]
fn tree_as_text_and_picture() {
    assert!(hypercoll("tree sbt --dim 3").stdout.lines().count() > 8);
    let svg = hypercoll("tree msbt --dim 3 --format svg").stdout;
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    refused("tree ring --dim 3", &["ring", "sbt"]);
    refused("tree sbt", &["--dim"]);
    refused("tree sbt --dim 3 --root 8", &["root", "8"]);
    refused("tree sbt --dim 3 --variant max-left", &["variant"]);
}
