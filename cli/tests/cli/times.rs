//! Simulation and figures.

use super::*;

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
    assert_eq!(parsed("simulate barrier dissemination --dim 3 --json")["count"], 0);
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
