//! Checking, verifying, plotting, explaining.

use super::*;
use std::path::Path;

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

/// Formulas hold where nothing divides anything. In slices of 17 elements, 9 + 5 + 3 + 2 + 1 + 1 elements are exchanged there and back
/// for a sum, and 9 + 2 5 + 4 3 + 8 2 + 16 + 32 for a permutation.
#[test]
fn check_compares_every_figure() {
    let elements = |line: &str| {
        let value = parsed(&format!("check {line} --json"));
        assert_eq!(value["ok"], true, "{line}: {value}");
        let figures = value["figures"].as_array().expect("a list").clone();
        for name in ["rounds", "elements moved", "largest load of a link", "scratch memory", "path"] {
            assert!(figures.iter().any(|figure| figure["figure"] == name), "{line}: {name} is not compared");
        }
        let of_time = figures.iter().find(|figure| figure["figure"] == "elements").expect("a figure").clone();
        assert_eq!((&of_time["bound"], &of_time["formula"]), (&json!(false), &of_time["schedules"]), "{line}");
        of_time["schedules"].as_f64().expect("a number")
    };
    assert_eq!(elements("all-reduce histogram --size 64 --count 100"), 2.0 * 21.0);
    assert_eq!(elements("permute permuted_send --size 64 --count 100"), 2.0 * 95.0);
    assert_eq!(elements("scatter sbnt --size 256 --count 5 --packet 100 --order postorder"), 425.0);
    assert_eq!(elements("matrix-multiply block --size 32 --count 10"), 37.0);
    let text = hypercoll("check scatter sbt --size 6 --count 7").stdout;
    assert!(text.contains("by the formula") && text.contains("at most") && text.ends_with("ok\n"), "{text}");
}

#[test]
fn check_refuses_what_it_cannot_check() {
    refused("check broadcast sbt --short", &["--short"]);
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
    for ignored in ["--size 13", "--count 60", "--packet 7", "--root 0", "--hosts 4,4", "--ordered"] {
        refused(&format!("check --all --short {ignored}"), &[&ignored[..6]]);
    }
    refused(&format!("check broadcast sbt --count {}", usize::MAX), &["count"]);
    refused(&format!("check matrix-multiply block --size 4 --count {}", 1u64 << 32), &["count"]);
    refused(&format!("check all-gather bruck --size 8 --count {}", 1u64 << 61), &["count"]);
    refused(&format!("simulate all-gather bruck --dim 3 --count {}", 1u64 << 61), &["count"]);
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
fn results_file(directory: &Path, name: &str, ranks: usize, fabric: Option<Value>) -> String {
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

/// What `plot` says that it has drawn of files, into a directory.
fn plotted(files: &str, out: &Path) -> String {
    let output = hypercoll(&format!("plot {files} --out {}", out.display()));
    assert_eq!(output.code, Some(0), "{files}: {}", output.told());
    output.stdout
}

/// One of the figures there.
fn figure(out: &Path, name: &str) -> String {
    std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn plots_of_results() {
    let directory = std::env::temp_dir().join(format!("hypercoll-plot-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let cube = |dimension: usize| Some(json!({"kind": "cube", "dimension": dimension, "rate_bps": 5e7}));
    let old = results_file(&directory, "old.json", 4, None);
    let three = results_file(&directory, "three.json", 8, cube(3));
    let out = directory.join("figures");
    let (drawn, read) = (|files: &str| plotted(files, &out), |name: &str| figure(&out, name));

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

/// The report of a program, which may have called nothing, and files that are of no kind that can be drawn.
#[test]
fn plots_of_reports() {
    let directory = std::env::temp_dir().join(format!("hypercoll-plot-report-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let report = |rows: Value| json!({"ranks": 8, "seconds": 1.5, "communicators": 1, "rows": rows}).to_string();
    let row = json!({
        "collective": "allreduce", "from_bytes": 16, "served_by": "ours", "algorithm": "direct", "ranks": 8, "calls": 100,
        "bytes": 6400, "mean_seconds": 1e-3, "most_seconds": 2e-3,
    });
    let program = file("program.json", &report(json!([row])));
    let out = directory.join("figures");
    let (drawn, read) = (|files: &str| plotted(files, &out), |name: &str| figure(&out, name));
    assert_eq!(drawn(&program), format!("{}\n", out.join("report.svg").display()));
    assert!(read("report.svg").contains("allreduce from 16 B"));
    // A benchmark beside it is drawn as ever.
    let benchmark = results_file(&directory, "benchmark.json", 4, None);
    drawn(&format!("{program} {benchmark}"));
    assert!(read("program/report.svg").contains("direct") && read("benchmark/broadcast.svg").contains("Some MPI"));

    let both = ["hypercoll bench --out", "hypercoll preload --report"];
    let refused = |path: String, words: &[&str]| refused(&format!("plot {path} --out {}", out.display()), words);
    refused(file("other.json", "{\"ranks\": 8}"), &both);
    refused(file("table.txt", "hypercoll: 8 ranks, 1.500 s"), &both);
    refused(file("empty.json", &report(json!([]))), &["empty.json", "called no collective"]);
    refused(file("half.json", &report(json!([{"collective": "bcast"}]))), &["half.json", "no report's JSON"]);
    refused(file("benchmark-half.json", "{\"results\": []}"), &["no benchmark's JSON"]);
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
    let words = hypercoll("explain exchange --count 500 --root 2 --peer 5").stdout;
    assert!(words.starts_with("exchange of 500 x 8 B on 8 ranks, root 2, peer 5\n"), "{words}");
    let words = hypercoll("explain barrier").stdout;
    assert!(words.starts_with("barrier on 8 ranks\n"), "{words}");
    let machine = |hosts: &str| {
        parsed(&format!("explain broadcast --count 1000 --hosts {hosts} --json"))["machine"]["name"].clone()
    };
    assert_eq!(machine("8"), parsed("explain broadcast --count 1000 --json")["machine"]["name"]);
    assert_eq!(machine("4,4"), parsed("explain broadcast --count 1000 --machine network --json")["machine"]["name"]);
    for hosts in ["0,8", "18446744073709551615,9", "2000000", "1048576,1"] {
        refused(&format!("explain broadcast --count 1000 --hosts {hosts}"), &["hosts"]);
    }
    refused("explain broadcast", &["--count"]);
    refused("explain broadcast --count 1 --algorithm nonsense", &["nonsense", "msbt"]);
    refused("explain broadcast --count 1 --packet 0", &["packet"]);
    refused("explain broadcast --count 1 --algorithm direct --symmetrized true", &["symmetrized", "direct"]);
    refused("explain broadcast --count 1 --size 4 --root 4", &["root"]);
    refused("explain broadcast --count 1 --machine /nonexistent", &["/nonexistent", "shared-memory"]);
}
