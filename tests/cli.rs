//! The command line: what it prints, its JSON, its exit codes.

mod common;

use common::{run, Output};
use hypercoll::algorithm::registry::ALGORITHMS;
use hypercoll::collective::Collective;
use serde_json::{json, Value};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

fn hypercoll(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hypercoll"));
    command.args(line.split_whitespace()).env_remove("RUST_LOG");
    let output = run(command, Duration::from_secs(60));
    assert!(!output.timed_out, "hypercoll {line}: {}", output.told());
    output
}

/// The JSON that a successful call prints.
fn parsed(line: &str) -> Value {
    let output = hypercoll(line);
    assert_eq!(output.code, Some(0), "hypercoll {line}: {}", output.told());
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("hypercoll {line}: {error}: {}", output.stdout))
}

/// The keys that scripts rely on are there. (There may be more.)
fn has_keys(value: &Value, keys: &[&str], line: &str) {
    let object = value.as_object().unwrap_or_else(|| panic!("hypercoll {line}: {value} is no object"));
    for key in keys {
        assert!(object.contains_key(*key), "hypercoll {line}: no {key} in {value}");
    }
}

/// Exit code 2, nothing on standard output, and all the `words` in the message.
fn refused(line: &str, words: &[&str]) {
    let output = hypercoll(line);
    assert_eq!(output.code, Some(2), "hypercoll {line}: {}", output.told());
    assert_eq!(output.stdout, "", "hypercoll {line}");
    for word in words {
        assert!(output.stderr.contains(word), "hypercoll {line}: no '{word}' in: {}", output.stderr);
    }
}

#[test]
fn help_teaches() {
    let help = hypercoll("--help");
    assert_eq!(help.code, Some(0));
    let subcommands =
        ["algorithms", "tree", "table", "check", "simulate", "explain", "figures", "verify", "tune", "bench", "plot"];
    for subcommand in subcommands {
        let listed = help.stdout.lines().any(|line| line.trim_start().starts_with(&format!("{subcommand} ")));
        assert!(listed, "{subcommand} is not listed in\n{}", help.stdout);
        let own = hypercoll(&format!("{subcommand} --help"));
        assert_eq!(own.code, Some(0), "{subcommand}: {}", own.told());
        assert!(own.stdout.contains(&format!("hypercoll {subcommand}")), "{}", own.stdout);
    }
    assert!(help.stdout.contains("Exit codes"));
    let nothing = hypercoll("");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("simulate"), "{}", nothing.told());
    assert!(hypercoll("--version").stdout.starts_with(concat!("hypercoll ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn algorithms_are_the_registry() {
    let rows = parsed("algorithms --json");
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), ALGORITHMS.len());
    // By collective, as the collectives are listed; within one, as in the registry.
    let mut algorithms: Vec<_> = ALGORITHMS.iter().collect();
    algorithms.sort_by_key(|algorithm| Collective::ALL.iter().position(|c| *c == algorithm.collective));
    for (row, algorithm) in rows.iter().zip(algorithms) {
        has_keys(row, &["collective", "name", "source", "summary", "requirements", "ports"], "algorithms");
        assert_eq!(row["collective"], algorithm.collective.name());
        assert_eq!(row["name"], algorithm.name);
        assert_eq!(row["ports"].as_array().map(Vec::len), Some(algorithm.ports.len()));
    }
    // The algorithms that the papers give, by their own names.
    let has = |collective: &str, name: &str, source: &str| {
        let same = |row: &&Value| row["collective"] == collective && row["name"] == name && row["source"] == source;
        assert!(rows.iter().any(|row| same(&row)), "{collective} {name} ({source})");
    };
    has("broadcast", "sbt", "HJ86 SBT");
    has("broadcast", "msbt", "HJ86 MSBT");
    has("scatter", "sbnt", "HJ88 SBnT");
    has("gather", "sbnt", "HJ88 SBnT");
    has("all-gather", "complete_broadcast", "SW COMPLETE BROADCAST");
    has("all-to-all", "complete_exchange", "SW COMPLETE EXCHANGE");
    has("all-to-all", "pairwise_xor", "classic XOR exchange");
    has("reduce-scatter", "histogram", "SW HISTOGRAM");
    has("all-reduce", "histogram", "SW HISTOGRAM");
    has("permute", "permuted_send", "SW PERMUTED SEND");
    has("broadcast", "hamiltonian_path", "HJ86 Hamiltonian path");
    has("broadcast", "tcbt", "HJ86 TCBT");
    has("scatter", "sbg", "HJ88 SBG");
    has("scatter", "balanced_tree", "BOSTT single node scatter");
    has("all-gather", "multinode_broadcast", "BOSTT multinode broadcast");
    has("all-to-all", "total_exchange", "BOSTT total exchange");

    // The formula, worked out, is what the schedule takes; here for the papers' symmetrised and single-message forms.
    for row in rows {
        has_keys(&row["example"], &["dimension", "count", "ports", "formula", "schedule"], "algorithms");
        let (formula, schedule) = (&row["example"]["formula"], &row["example"]["schedule"]);
        assert_eq!(formula["max_link_load"], schedule["max_link_load"], "{row}");
        // A permutation's fixed points need no message.
        if row["collective"] != "transpose-submatrices" {
            assert_eq!(formula["transmissions"], schedule["transmissions"], "{row}");
        }
        // The waves of DISTRIBUTE 2 are the root's; they follow one another through the cube.
        if row["name"] != "distribute_waves" {
            assert_eq!(formula["rounds"], schedule["rounds"], "{row}");
        }
    }
    let example = |collective: &str, name: &str| {
        let row = rows.iter().find(|row| row["collective"] == collective && row["name"] == name).expect("a row");
        row["example"]["schedule"].clone()
    };
    // n = 4, 3840 elements a block: 15 / 4 blocks over each link of the root; every path has 2 links on average.
    let balanced = json!({ "rounds": 4, "transmissions": 32.0 * 3840.0, "max_link_load": 14400.0 });
    assert_eq!(example("scatter", "sbg"), balanced);
    let exchange = json!({ "rounds": 8, "transmissions": 512.0 * 3840.0, "max_link_load": 8.0 * 3840.0 });
    assert_eq!(example("all-to-all", "total_exchange"), exchange);
    let requirements = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).expect("a row");
        row["requirements"].as_str().map(str::to_owned).expect("words")
    };
    assert_eq!(requirements("msbt"), "none");
    assert!(requirements("inversion").contains("permutation"), "{}", requirements("inversion"));

    let some = parsed("algorithms broadcast --json");
    assert!(some.as_array().is_some_and(|rows| rows.len() >= 2 && rows.iter().all(|r| r["collective"] == "broadcast")));
    let text = hypercoll("algorithms").stdout;
    let markdown = hypercoll("algorithms --markdown").stdout;
    for algorithm in ALGORITHMS {
        assert!(text.contains(algorithm.name) && text.contains(algorithm.source) && text.contains(algorithm.cost));
        assert!(markdown.contains(&format!("| {} | `{}` |", algorithm.collective, algorithm.name)));
    }
    refused("algorithms brodcast", &["brodcast", "broadcast"]);
}

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

#[test]
fn tables() {
    let table = parsed("table subtree-sizes --max-dim 6 --json");
    has_keys(&table, &["name", "columns", "rows"], "table");
    assert_eq!(table["name"], "subtree-sizes");
    // Ho and Johnsson 1988, table 1: n, A, B, SBT max, SBnT max, SBnT min.
    let expected =
        [[2, 2, 2, 2, 2, 1], [3, 2, 2, 4, 3, 2], [4, 4, 3, 8, 5, 3], [5, 2, 2, 16, 7, 6], [6, 10, 5, 32, 13, 9]];
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(expected) {
        let width = table["columns"].as_array().map(Vec::len);
        assert_eq!(row.as_array().map(Vec::len), width);
        assert_eq!(row.as_array().map(|row| row[..6].to_vec()), Some(expected.map(Value::from).to_vec()));
    }
    let delays = parsed("table propagation-delays --max-dim 5 --json");
    let rows = delays["rows"].as_array().expect("rows");
    // 1986, table 1: one send or receive, one send and receive, all ports.
    assert!(rows.contains(&json!([5, "SBT", 5, 5, 5])) && rows.contains(&json!([5, "MSBT", 14, 10, 6])));
    let others = [
        "cycles-per-packet",
        "broadcast-complexity",
        "broadcast-comparison",
        "bst-subtree-sizes",
        "personalized-complexity",
        "sbnt-complexities",
        "cyclic-ratios",
        "bostt-optimal",
    ];
    for name in others {
        let table = parsed(&format!("table {name} --json"));
        assert_eq!(table["name"], name);
        assert!(table["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    }
    refused("table sizes", &["sizes", "subtree-sizes", "propagation-delays", "cycles-per-packet"]);
    refused("table subtree-sizes --max-dim 1", &["max-dim"]);
}

/// `hypercoll simulate` against the papers' formulas, worked out by hand: (rounds, time) with tau = 100, t_c = 1.
#[test]
fn simulate_gives_the_papers_times() {
    let cases = [
        // MSBT: all-ports ceil(M/(B n)) + n, one-port ceil(M/B) + n, one-way 2 ceil(M/B) + n - 1 rounds of tau + B t_c.
        ("broadcast msbt --dim 3 --count 120 --packet 10 --ports all-ports", 7, 770.0),
        ("broadcast msbt --dim 3 --count 120 --packet 10 --ports one-port", 15, 1650.0),
        ("broadcast msbt --dim 3 --count 120 --packet 10 --ports one-way", 26, 2860.0),
        ("broadcast msbt --dim 4 --count 64 --packet 4 --ports all-ports --root 11", 8, 832.0),
        ("broadcast msbt --dim 4 --count 64 --packet 4 --ports one-port --root 3", 20, 2080.0),
        ("broadcast msbt --dim 4 --count 64 --packet 4 --ports one-way", 35, 3640.0),
        ("broadcast msbt --dim 6 --count 720 --packet 10 --ports all-ports", 18, 1980.0),
        ("reduce msbt --dim 3 --count 120 --packet 10 --ports one-port", 15, 1650.0),
        // SBT: one-port ceil(M/B) n, all-ports ceil(M/B) + n - 1 rounds.
        ("broadcast sbt --dim 3 --count 120 --packet 10 --ports one-port", 36, 3960.0),
        ("broadcast sbt --dim 3 --count 120 --packet 10 --ports one-way", 36, 3960.0),
        ("broadcast sbt --dim 3 --count 120 --packet 10 --ports all-ports --root 6", 14, 1540.0),
        ("broadcast sbt --dim 10 --count 8 --ports one-port", 10, 1080.0),
        // Scatter: SBT (N - 1) M t_c + n tau; SBnT, all ports, the largest subtree: 5 of 15, 7 of 31, 13 of 63 nodes.
        ("scatter sbt --dim 4 --count 8 --ports one-port", 4, 520.0),
        ("scatter sbnt --dim 4 --count 8 --ports all-ports", 4, 440.0),
        ("scatter sbnt --dim 4 --count 8 --packet 4 --ports all-ports", 10, 1040.0),
        ("scatter sbnt --dim 5 --count 8 --ports all-ports --root 9", 5, 556.0),
        ("gather sbnt --dim 6 --count 10 --ports all-ports", 6, 730.0),
        // Stout and Wagar, symmetrised, all ports.
        ("all-gather complete_broadcast --dim 3 --count 12", 3, 328.0),
        ("all-gather complete_broadcast --dim 4 --count 8", 4, 430.0),
        ("all-to-all complete_exchange --dim 3 --count 12", 3, 348.0),
        ("all-to-all complete_exchange --dim 4 --count 8", 4, 464.0),
        ("reduce-scatter histogram --dim 3 --count 12", 3, 328.0),
        ("all-reduce histogram --dim 3 --count 96", 6, 656.0),
        ("permute permuted_send --dim 3 --count 96", 6, 696.0),
        ("permute permuted_send --dim 4 --count 128", 8, 928.0),
        // Plain: recursive doubling and halving.
        ("all-gather complete_broadcast --dim 3 --count 12 --symmetrized false --ports one-port", 3, 384.0),
        ("all-to-all pairwise_xor --dim 3 --count 10 --ports one-port", 7, 770.0),
        ("barrier dissemination --dim 3 --count 0", 3, 300.0),
    ];
    for (case, rounds, time) in cases {
        let line = format!("simulate {case} --tau 100 --tc 1 --json");
        let value = parsed(&line);
        let keys = ["collective", "algorithm", "dimension", "count", "packet", "ports", "rounds", "time", "formula"];
        has_keys(&value, &keys, &line);
        has_keys(&value, &["max_link_load"], &line);
        has_keys(&value["formula"], &["rounds", "time"], &line);
        let words: Vec<&str> = case.split(' ').collect();
        assert_eq!((&value["collective"], &value["algorithm"]), (&json!(words[0]), &json!(words[1])));
        assert_eq!(value["packet"].is_null(), !case.contains("--packet"));
        assert_eq!(value["rounds"], rounds, "{line}: {value}");
        assert_eq!(value["formula"]["rounds"], rounds, "{line}: {value}");
        for found in [&value["time"], &value["formula"]["time"]] {
            assert!(found.as_f64().is_some_and(|found| (found - time).abs() < 1e-6), "{line}: {time}, not {value}");
        }
    }
    // Internal packets: one message of 10 elements pays a start-up for each 4.
    let value = parsed("simulate broadcast sbt --dim 1 --count 10 --tau 100 --max-packet 4 --json");
    assert_eq!(value["time"], 310.0);
    let text = hypercoll("simulate broadcast msbt --dim 3 --count 120 --packet 10 --ports one-port").stdout;
    assert!(text.contains("165") && text.contains("formula"), "{text}");
}

/// Every row of the registry, with nothing said but the size of the call.
#[test]
fn every_row_is_simulated_and_checked_by_its_name() {
    for algorithm in ALGORITHMS {
        let name = format!("{} {}", algorithm.collective, algorithm.name);
        // A square grid of ranks that is a cube has an even dimension.
        for n in [2, 4] {
            let value = parsed(&format!("simulate {name} --dim {n} --count 960 --json"));
            assert_eq!((&value["dimension"], &value["count"]), (&json!(n), &json!(960)), "{name}");
            let (time, formula) = (value["time"].as_f64(), value["formula"]["time"].as_f64());
            assert!(time.zip(formula).is_some_and(|(time, formula)| time <= formula + 1e-6), "{name}: {value}");
            assert_eq!(parsed(&format!("check {name} --size {} --json", 1 << n))["ok"], true, "{name}");
        }
    }
    // Any number of ranks, where the algorithm takes it.
    for name in ["scatter sbg", "all-to-all total_exchange", "send arbitrary_send_2", "broadcast pipelined_wave"] {
        assert_eq!(parsed(&format!("check {name} --size 11 --json"))["ok"], true, "{name}");
    }
}

#[test]
fn calls_are_what_the_command_line_says() {
    // A send across two of four dimensions: the shortest paths have two links.
    let value = parsed("simulate send oc_send_1 --dim 4 --count 60 --root 3 --peer 6 --json");
    assert_eq!((&value["rounds"], &value["transmissions"]), (&json!(2), &json!(120)));
    // Orders and variants change the schedule, and are told.
    let value =
        parsed("simulate scatter sbnt --dim 5 --count 8 --order postorder --variant max-left --ports one-port --json");
    assert_eq!((&value["order"], &value["variant"]), (&json!("postorder"), &json!("max-left")));
    // A grid of 2 columns and 4 rows.
    assert_eq!(parsed("check transpose-submatrices direct --size 8 --columns 2 --json")["ok"], true);
    // Without the link from 0 to 1 the MSBT loses two trees at most; the checker finds nothing on it.
    assert_eq!(parsed("check broadcast msbt --size 8 --avoid 0-1 --json")["ok"], true);
    assert_eq!(parsed("check scatter sbnt --size 16 --avoid 0-1,5-7 --json")["ok"], true);
    refused("check broadcast msbt --avoid 0+1", &["--avoid", "0+1"]);
    refused("check broadcast msbt --avoid 0-3", &["avoid", "0", "3"]);
    refused("check send oc_send_1 --size 8 --peer 8", &["peer", "8"]);
    refused("check broadcast sbt --peer 1", &["peer"]);
    refused("check broadcast sbt --columns 2", &["columns"]);
    refused("check transpose-submatrices direct --size 8 --columns 3", &["columns", "3"]);
    refused("check send xoc_send_1 --size 8 --peer 7", &["peer"]);
    refused("check permute inversion --size 3 --permutation 1,2,0", &["permutation"]);
    refused("check permute direct --size 3 --permutation 0,1", &["permutation"]);
    refused("check broadcast sbt --order cyclic", &["order", "cyclic"]);
    refused("check broadcast sbt --order backwards", &["backwards", "gray-code"]);
    refused("check broadcast sbt --variant max-left", &["variant"]);
    refused("simulate broadcast sbt --dim 3 --count 1 --overlap 2", &["overlap"]);
    refused("simulate broadcast sbt --dim 3 --count 1 --machine cray", &["cray", "ipsc"]);
}

/// The iPSC: 5 ms an internal packet of at most 1 KiB, 1 us a byte, one port with 20 % overlap.
#[test]
fn a_machine_of_the_papers() {
    let value = parsed("simulate broadcast sbt --dim 1 --count 2049 --machine ipsc --json");
    assert_eq!(value["ports"], "one-port");
    assert!(value["time"].as_f64().is_some_and(|time| (time - (3.0 * 5e-3 + 2049e-6)).abs() < 1e-12), "{value}");
    // The root's three packets go to different ports; each is sent when 80 % of the one before are through.
    let value = parsed("simulate scatter sbt --dim 2 --count 1000 --order gray-code --machine ipsc --json");
    assert!(value["time"].as_f64().is_some_and(|time| (time - 2.6 * 6e-3).abs() < 1e-12), "{value}");
    let value = parsed("simulate scatter sbt --dim 2 --count 1000 --order gray-code --machine ipsc --overlap 0 --json");
    assert!(value["time"].as_f64().is_some_and(|time| (time - 3.0 * 6e-3).abs() < 1e-12), "{value}");
}

#[test]
fn figures_are_drawn() {
    let folder = std::env::temp_dir().join(format!("hypercoll-figures-{}", std::process::id()));
    let output = hypercoll(&format!("figures --out {}", folder.display()));
    assert_eq!(output.code, Some(0), "{}", output.told());
    let drawn: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(drawn.len(), 7);
    for path in drawn {
        let svg = std::fs::read_to_string(path).expect("the figure");
        assert!(svg.starts_with("<svg ") && svg.contains("simulated") && svg.contains("<circle"), "{path}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    refused("figures", &["--out"]);
    refused("figures --out /dev/null/x", &["out", "/dev/null/x"]);
}

#[test]
fn check_says_ok() {
    let line = "check broadcast sbt --size 8 --json";
    let value = parsed(line);
    has_keys(&value, &["ok", "messages", "rounds", "violations"], line);
    assert_eq!((&value["ok"], &value["messages"], &value["rounds"]), (&json!(true), &json!(7), &json!(3)));
    assert_eq!(value["violations"], json!([]));
    for (line, messages, rounds) in [
        ("check broadcast sbt --size 5 --root 3 --count 9 --packet 3 --ports one-port --json", 12, 9),
        ("check broadcast msbt --size 16 --count 64 --packet 4 --ports one-port --json", 240, 20),
        ("check scatter sbt --size 8 --count 5 --ports one-port --json", 7, 3),
        ("check all-to-all pairwise_xor --size 6 --count 1 --json", 30, 7),
        ("check permute permuted_send --size 4 --permutation 0,1,2,3 --count 8 --symmetrized false --json", 16, 4),
        ("check all-reduce sbt --size 8 --ordered --in-place --ports one-port --json", 14, 6),
        ("check broadcast sbt --size 1 --json", 0, 0),
        ("check broadcast sbt --size 8 --count 0 --json", 0, 0),
    ] {
        let value = parsed(line);
        assert_eq!(value["ok"], true, "{line}: {value}");
        assert_eq!((&value["messages"], &value["rounds"]), (&json!(messages), &json!(rounds)), "{line}");
    }
    let text = hypercoll("check broadcast sbt --size 4 --show 1");
    assert_eq!(text.code, Some(0));
    assert!(text.stdout.contains("rank 1 of 4") && text.stdout.contains("receive receive[0..60] from 0"));
    assert!(text.stdout.trim_end().ends_with("ok"));
}

#[test]
fn check_refuses_what_it_cannot_check() {
    refused("check broadcast nonsense", &["nonsense", "sbt", "msbt"]);
    refused("check nonsense sbt", &["nonsense", "broadcast", "all-to-all"]);
    refused("check broadcast", &["ALGORITHM"]);
    refused("check", &["COLLECTIVE"]);
    refused("check broadcast sbt --all", &["--all"]);
    refused("check broadcast sbt --size 0", &["--size"]);
    refused("check broadcast sbt --size 4 --root 4", &["root", "4"]);
    refused("check all-gather complete_broadcast --root 1", &["root"]);
    refused("check broadcast sbt --packet 0", &["packet"]);
    refused("check scatter sbnt --order subtrees --ports one-port --packet 2", &["packet", "sbnt"]);
    refused("check broadcast sbt --ports two-port", &["two-port", "one-port"]);
    refused("check all-to-all pairwise_xor --ports all-ports", &["ports", "pairwise_xor"]);
    refused("check broadcast sbt --symmetrized true", &["symmetrized"]);
    refused("check broadcast sbt --in-place", &["in-place"]);
    refused("check broadcast sbt --ordered", &["ordered"]);
    refused("check reduce msbt --ordered", &["operation", "msbt"]);
    refused("check permute permuted_send --size 3 --permutation 0,1,1", &["permutation"]);
    refused("check broadcast sbt --permutation 0,1", &["permutation"]);
    refused("check broadcast sbt --show 8", &["show", "8"]);
    refused("simulate broadcast nonsense --dim 3 --count 1", &["nonsense", "sbt", "msbt"]);
    refused("simulate broadcast sbt --dim 3", &["--count"]);
    refused("simulate broadcast sbt --dim 3 --count 1 --tau=-1", &["tau"]);
    refused("simulate broadcast sbt --dim 3 --count 1 --tc NaN", &["tc"]);
    refused("simulate broadcast sbt --dim 3 --count 1 --max-packet 0", &["max-packet"]);
    refused("simulate broadcast sbt --dim 30 --count 1", &["--dim"]);
    refused("verify nonsense", &["nonsense"]);
    refused("verify broadcast nonsense --threads 2", &["nonsense", "sbt"]);
    refused("verify --threads 0", &["threads"]);
    refused("frobnicate", &["frobnicate"]);
}

#[test]
fn verify_on_threads() {
    let value = parsed("verify broadcast --threads 3 --json");
    has_keys(&value, &["ok", "ranks", "calls", "failures"], "verify");
    assert_eq!((&value["ok"], &value["ranks"]), (&json!(true), &json!(3)));
    assert!(value["calls"].as_u64().is_some_and(|calls| calls > 100));
    for ranks in [1, 5, 8] {
        let output = hypercoll(&format!("verify --threads {ranks}"));
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert!(output.stdout.contains(&format!("{ranks} ranks")) && output.stdout.trim_end().ends_with("ok"));
    }
}

/// Results of a run on a fabric and of one that knows of none, as older files are.
fn results_file(directory: &std::path::Path, name: &str, ranks: usize, fabric: Option<Value>) -> String {
    let row = |implementation: &str, size: f64, median: f64| {
        let mut row = json!({
            "collective": "broadcast", "size_bytes": size, "count": 1, "element": "f64", "implementation": implementation,
            "native": implementation.starts_with("native"), "samples_s": [median], "median_s": median, "min_s": median,
            "max_s": median,
        });
        if fabric.is_some() {
            row["limit_s"] = json!(size * 1e-7);
        }
        row
    };
    let mut rows = Vec::new();
    for size in [65536.0, 1048576.0] {
        rows.push(row("native", size, size * 5e-7));
        rows.push(row("auto", size, size * 1.25e-7));
        if fabric.is_some() {
            rows.push(row("native:binomial seg 8 KiB", size, size * 2.5e-7));
        }
    }
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|mut row| {
            row["size_bytes"] = json!(row["size_bytes"].as_f64().map(|size| size as usize));
            row
        })
        .collect();
    let mut results = json!({
        "environment": {
            "hypercoll": "0", "date": "2026-01-02T03:04:05Z", "hosts": [], "mpi_library": "Some MPI", "variables": {},
            "command_line": [], "debug_build": false,
        },
        "ranks": ranks, "oversubscribed": false,
        "method": {
            "experiment": "", "description": "", "passes": 1, "passes_done": 1, "repetitions": 1, "warm_up": 0,
            "seconds": 1.0, "seconds_taken": 1.0, "seed": 0, "confidence": 0.95, "left_out": [],
        },
        "results": rows,
    });
    if let Some(fabric) = fabric {
        results["environment"]["fabric"] = fabric;
        results["screening"] = json!([{
            "collective": "broadcast", "size_bytes": 65536, "implementation": "native:binomial seg 8 KiB", "warm_up_s": 1.0,
            "samples_s": [1.0], "verdict": "measured",
        }]);
    }
    let path = directory.join(name);
    std::fs::write(&path, results.to_string()).expect("a file");
    path.display().to_string()
}

#[test]
fn plots_of_results() {
    let directory = std::env::temp_dir().join(format!("hypercoll-plot-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let cube = |dimension: usize| Some(json!({"kind": "cube", "dimension": dimension, "rate_bps": 5e7}));
    let old = results_file(&directory, "old.json", 4, None);
    let three = results_file(&directory, "three.json", 8, cube(3));
    let out = directory.join("figures");
    let drawn = |files: &str| {
        let output = hypercoll(&format!("plot {files} --out {}", out.display()));
        assert_eq!(output.code, Some(0), "{files}: {}", output.told());
        output.stdout
    };
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));

    drawn(&old);
    let best = read("broadcast-best.svg");
    assert!(best.contains("native MPI") && !best.contains("limit") && !best.contains("at its best<"), "{best}");
    drawn(&three);
    let best = read("broadcast-best.svg");
    for text in ["native MPI at its best", "physical limit", "fraction of the physical limit", "cube of dimension 3"] {
        assert!(best.contains(text), "{text} is missing");
    }
    // Forced algorithms are one line, whatever their names.
    let all = read("broadcast.svg");
    assert!(all.contains("native MPI at its best") && !all.contains("seg 8 KiB"), "{all}");
    let listed = drawn(&format!("{old} {three}"));
    assert!(listed.contains("speed-up-over-best.svg") && listed.contains("speed-up-over-default.svg"), "{listed}");
    assert!(read("old/broadcast.svg").contains("Some MPI") && read("three/broadcast-best.svg").contains("limit"));
    assert!(read("speed-up-over-default.svg").contains("broadcast"));

    let twice = hypercoll(&format!("plot {old} {old} --out {}", out.display()));
    assert_eq!(twice.code, Some(2), "{}", twice.told());
    std::fs::remove_dir_all(&directory).expect("it is there");
}

/// `hypercoll ... | head -1`: no panic, no complaint.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hypercoll"))
        .args(["tree", "sbt", "--dim", "14"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hypercoll starts");
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("its output"));
    reader.read_line(&mut first).expect("a line");
    drop(reader);
    assert!(first.starts_with("Spanning binomial tree"));
    let output = child.wait_with_output().expect("its end");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn explain_lists_the_candidates_in_order() {
    for (line, size) in [
        ("explain broadcast --count 100000 --json", 8),
        ("explain broadcast --count 1 --root 3 --size 5 --machine network --json", 5),
        ("explain all-to-all --count 500 --size 16 --element-bytes 4 --machine network --json", 16),
        ("explain reduce --count 500 --ordered --json", 8),
        ("explain permute --count 500 --json", 8),
    ] {
        let value = parsed(line);
        let keys =
            ["collective", "size", "root", "count", "element_bytes", "machine", "choice", "candidates", "refused"];
        has_keys(&value, &keys, line);
        has_keys(&value["machine"], &["name", "tau_s", "t_c_s_per_byte", "ports", "pairs_linked"], line);
        assert_eq!(value["size"], size);
        let candidates = value["candidates"].as_array().expect("a list");
        let times: Vec<f64> = candidates.iter().map(|row| row["predicted_s"].as_f64().expect("a time")).collect();
        assert!(!times.is_empty() && times.is_sorted() && times[0] > 0.0, "{line}: {times:?}");
        for key in ["algorithm", "packet", "ports", "symmetrized", "predicted_s"] {
            assert_eq!(value["choice"][key], candidates[0][key], "{line}: the first of the candidates is chosen");
        }
        assert!(value["choice"]["why"].as_str().is_some_and(|why| why.contains("least predicted time")), "{line}");
        // Every algorithm is in one of the lists.
        let mut names: Vec<&Value> = candidates.iter().map(|row| &row["algorithm"]).collect();
        names.extend(value["refused"].as_array().expect("a list").iter().map(|row| &row["algorithm"]));
        for algorithm in ALGORITHMS.iter().filter(|algorithm| value["collective"] == algorithm.collective.name()) {
            assert!(names.iter().any(|name| **name == algorithm.name), "{line}: {}", algorithm.name);
        }
    }
}

#[test]
fn explain_says_why() {
    let value = parsed("explain reduce --count 500 --ordered --json");
    let msbt = value["refused"].as_array().and_then(|rows| rows.iter().find(|row| row["algorithm"] == "msbt").cloned());
    let why = msbt.expect("msbt cannot combine in order")["why"].to_string();
    assert!(why.contains("rank order"), "{why}");
    let asked = parsed("explain broadcast --count 500 --algorithm hamiltonian_path --packet 7 --ports one-port --json");
    assert_eq!(asked["choice"]["algorithm"], "hamiltonian_path");
    assert_eq!((&asked["choice"]["packet"], &asked["choice"]["packet_bytes"]), (&json!(7), &json!(56)));
    assert_eq!(asked["choice"]["why"], "asked for");
    let text = hypercoll("explain broadcast --count 500 --size 16").stdout;
    for words in ["broadcast of 500 x 8 B on 16 ranks, root 0", "choice:", "predicted", "candidates", "msbt"] {
        assert!(text.contains(words), "no '{words}' in\n{text}");
    }
    refused("explain broadcast", &["--count"]);
    refused("explain broadcast --count 1 --algorithm nonsense", &["nonsense", "msbt"]);
    refused("explain broadcast --count 1 --packet 0", &["packet"]);
    refused("explain broadcast --count 1 --algorithm direct --symmetrized true", &["symmetrized", "direct"]);
    refused("explain broadcast --count 1 --size 4 --root 4", &["root"]);
    refused("explain broadcast --count 1 --machine /nonexistent", &["/nonexistent", "shared-memory"]);
}
