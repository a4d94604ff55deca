//! Help, the registry, the papers' tables.

use super::*;

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

    // The formulas, worked out, are what the schedules take.
    for row in rows {
        has_keys(&row["example"], &["dimension", "count", "tau", "tc", "by_ports"], "algorithms");
        let by_ports = row["example"]["by_ports"].as_array().expect("a list");
        assert!(!by_ports.is_empty(), "{row}");
        for figure in by_ports.iter().flat_map(|example| example["figures"].as_array().expect("a list")) {
            let (found, stated) =
                (figure["schedules"].as_f64().expect("a number"), figure["formula"].as_f64().expect("one"));
            assert!(found == stated || figure["bound"] == true && found < stated, "{row}: {figure}");
        }
    }
    let example = |collective: &str, name: &str, ports: &str| {
        let row = rows.iter().find(|row| row["collective"] == collective && row["name"] == name).expect("a row");
        let by_ports = row["example"]["by_ports"].as_array().expect("a list").iter();
        let found = by_ports.clone().find(|example| example["ports"] == ports).expect("a port model");
        ["rounds", "elements", "transmissions", "max_link_load"].map(|figure| found[figure].as_f64().expect("a number"))
    };
    // n = 4, 3840 elements a block: 15 / 4 blocks over each link of the root; every path has 2 links on average.
    assert_eq!(example("scatter", "sbg", "all-ports"), [4.0, 14400.0, 32.0 * 3840.0, 14400.0]);
    let exchange = [8.0, 8.0 * 3840.0, 512.0 * 3840.0, 8.0 * 3840.0];
    assert_eq!(example("all-to-all", "total_exchange", "all-ports"), exchange);
    // One port, whole vectors down a tree of 4 levels; and n + ceil(M/B) packets, the last of 120 elements (3840 = 12 * 310 + 120).
    assert_eq!(example("broadcast", "sbt", "one-port")[..2], [4.0, 4.0 * 3840.0]);
    assert_eq!(example("broadcast", "msbt", "one-port")[..2], [17.0, 16.0 * 310.0 + 120.0]);
    let differs = |name: &str| rows.iter().find(|row| row["name"] == name).map(|row| row["differs"].clone());
    assert_eq!(differs("sbt"), Some(json!("")));
    assert!(
        differs("complete_exchange").is_some_and(|note| note.as_str().is_some_and(|note| note.contains("1, 4 and 7")))
    );
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
        let own = markdown.split("### ").find(|table| table.starts_with(&format!("{}\n", algorithm.collective)));
        assert!(own.is_some_and(|table| table.contains(&format!("\n| `{}` |", algorithm.name))), "{algorithm:?}");
    }
    refused("algorithms brodcast", &["brodcast", "broadcast"]);
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
        "relay-tables",
        "bostt-optimal",
        "matrix-grids",
    ];
    for name in others {
        let table = parsed(&format!("table {name} --json"));
        assert_eq!(table["name"], name);
        assert!(table["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    }
    refused("table sizes", &["sizes", "subtree-sizes", "propagation-delays", "cycles-per-packet"]);
    refused("table subtree-sizes --max-dim 1", &["max-dim"]);
}
