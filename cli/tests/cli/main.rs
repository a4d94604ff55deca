//! The command line: what it prints, its JSON, its exit codes.

mod checks;
mod export;
mod lists;
#[cfg(unix)]
mod preload;
#[path = "../../../tests/common/process.rs"]
mod process;
mod times;
mod trees;

use hypercoll::algorithm::registry::ALGORITHMS;
use hypercoll::collective::Collective;
use process::{run, Output};
use serde_json::{json, Value};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn hypercoll(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hypercoll"));
    command.args(line.split_whitespace()).env_remove("RUST_LOG");
    let output = run(command);
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
