//! Export and growth: files, counts, refusals.

use super::*;
use std::fs;
use std::path::PathBuf;

/// A directory of a test's own, which it removes.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("hypercoll-export-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn traces_are_a_file_a_rank_and_as_many_messages_as_are_checked() {
    let out = directory("traces");
    for (call, size) in
        [("broadcast msbt --count 60 --packet 4", 8), ("all-to-all shift --count 3", 13), ("barrier dissemination", 6)]
    {
        let line = format!("export {call} --size {size} --element-bytes 4 --out {} --json", out.display());
        let value = parsed(&line);
        has_keys(&value, &["algorithm", "messages", "bytes", "empty_messages", "out"], &line);
        let checked = parsed(&format!("check {call} --size {size} --json"));
        assert_eq!(value["messages"], checked["messages"], "{line}");
        let elements = checked["transmissions"].as_u64().expect("a number");
        assert_eq!(value["bytes"].as_u64(), Some(4 * elements), "{line}");
        let list = fs::read_to_string(out.join("ranks.txt")).expect("the list");
        let files: Vec<&str> = list.lines().collect();
        assert_eq!(files.len(), size, "{line}");
        let traces: String = files.iter().map(|file| fs::read_to_string(file).expect("a trace")).collect();
        assert_eq!(Some(traces.matches(" isend ").count() as u64), value["messages"].as_u64(), "{line}");
        assert_eq!(traces.matches(" isend ").count(), traces.matches(" irecv ").count(), "{line}");
    }
    fs::remove_dir_all(out).expect("removed");
}

#[test]
fn auto_is_what_explain_says() {
    let out = directory("auto");
    let call = "broadcast --count 100000 --size 13 --machine network --json";
    let chosen = parsed(&format!("explain {call}"))["choice"].clone();
    let (collective, rest) = call.split_once(' ').expect("words");
    let file = out.join("broadcast.goal");
    let exported = parsed(&format!("export {collective} auto {rest} --format goal --out {}", file.display()));
    assert_eq!((&exported["algorithm"], &exported["packet"]), (&chosen["algorithm"], &chosen["packet"]));
    assert!(fs::read_to_string(&file).expect("the file").starts_with("num_ranks 13\n"));
    fs::remove_dir_all(out).expect("removed");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    refused("export broadcast auto --size 8 --out /tmp/nothing", &["count"]);
    refused("export broadcast nonsense --size 8 --count 1 --out /tmp/nothing", &["nonsense", "msbt"]);
    refused("export broadcast sbt --size 8 --count 1 --out /dev/null/nothing", &["out: cannot write"]);
    refused("export broadcast sbt --size 8 --count 1 --in-flight 1 --format goal --out /tmp/x", &["in-flight"]);
    refused("export broadcast sbt --size 8 --count 1 --copy nan --out /tmp/nothing", &["copy"]);
    refused("export broadcast msbt --size 8 --count 1 --machine nosuch.toml --out /tmp/nothing", &["machine", "auto"]);
    refused("export broadcast msbt --size 8 --count 1 --tuning nosuch.toml --out /tmp/nothing", &["tuning", "auto"]);
}

#[test]
fn growth_has_a_row_for_the_choice_and_every_algorithm() {
    let rows = parsed("growth scan --max-dim 11 --json");
    let rows = rows.as_array().expect("a list");
    let algorithms = ALGORITHMS.iter().filter(|row| row.collective == Collective::Scan).count();
    assert_eq!(rows.len(), 2 * (1 + algorithms));
    assert_eq!(rows.iter().filter(|row| row["algorithm"].is_null()).count(), 2);
    for row in rows {
        has_keys(row, &["collective", "algorithm", "size", "seconds", "operations", "bytes"], "growth");
    }
    refused("growth --max-dim 21", &["max-dim"]);
}

#[test]
fn pictures_of_growth_say_what_grows() {
    let out = directory("growth");
    let picture = |line: &str| {
        assert_eq!(hypercoll(&format!("growth {line} --max-dim 10 --out {}", out.display())).code, Some(0), "{line}");
        fs::read_to_string(out.join(format!("growth-{}.svg", line.split(' ').next().expect("a name"))))
            .expect("a picture")
    };
    let long = picture("broadcast --count 1000");
    assert!(long.contains("broadcast, 1000 elements\n") || long.contains("broadcast, 1000 elements<"), "{long}");
    assert!(!picture("barrier").contains("element") && picture("broadcast").contains("broadcast, one element"));
    assert!(!long.contains("10^6"), "{long}");
    fs::remove_dir_all(out).expect("removed");
}

#[test]
fn scale_refuses_what_it_cannot_run() {
    for (argument, word) in [
        ("--ranks 0", "--ranks"),
        ("--per-host 0", "--per-host"),
        ("--bytes 0", "at least an element"),
        ("--minutes=-5", "minutes"),
        ("--minutes nan", "minutes"),
        ("--minutes inf", "minutes"),
        ("--algorithm nonsense", "nonsense"),
        ("--algorithm msbt --collectives barrier", "msbt"),
    ] {
        let out = directory("scale");
        refused(&format!("scale --out {} {argument}", out.display()), &[word]);
        fs::remove_dir_all(out).expect("removed");
    }
}
