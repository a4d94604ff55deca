//! Tuning files and the environment, through the command line: on threads, and under `mpirun`.

#[path = "../../tests/common/process.rs"]
mod process;

use process::{run, Output};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The beginning of the command line, if there are ranks to start, and the program.
fn command(launcher: &[&str], line: &str, environment: &[(&str, &str)]) -> Output {
    let words = launcher.iter().copied().chain([env!("CARGO_BIN_EXE_hypercoll")]).chain(line.split_whitespace());
    let mut words = words.map(String::from);
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).env_remove("RUST_LOG").env_remove("HYPERCOLL_TUNING").envs(environment.iter().copied());
    if !environment.iter().any(|(name, _)| *name == "XDG_CONFIG_HOME") {
        // Whatever files the user has.
        command.env("XDG_CONFIG_HOME", "/nonexistent");
    }
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    run(command)
}

fn json(output: &Output) -> Value {
    assert_eq!(output.code, Some(0), "{}", output.told());
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", output.told()))
}

const BENCH: &str = "bench broadcast --sizes 64KiB --algorithms sbt --repetitions 1 --passes 1 --seconds 5 --json";

/// What ran where nothing was asked for by the call.
fn auto(output: &Output) -> Value {
    let report = json(output);
    let rows = report["results"].as_array().expect("results");
    rows.iter().find(|row| row["implementation"] == "auto").expect("auto").clone()
}

#[test]
fn threads_heed_the_environment() {
    let bench = format!("{BENCH} --threads 4");
    let usual = auto(&command(&[], &bench, &[]));
    assert!(usual["algorithm"] != "tcbt" && usual["parameters"]["ports"] != "all-ports", "{usual}");
    assert_ne!(usual["parameters"]["packet_bytes"], 12288, "{usual}");
    let asked = [
        ("HYPERCOLL_ALGORITHM", "scatter=direct, bcast=tcbt"),
        ("HYPERCOLL_PACKET", "8KiB,broadcast=12KiB"),
        ("HYPERCOLL_PORTS", "all-ports"),
    ];
    let row = auto(&command(&[], &bench, &asked));
    assert_eq!(row["algorithm"], "tcbt", "{row}");
    assert_eq!(row["parameters"]["packet_bytes"], 12288, "{row}");
    assert_eq!(row["parameters"]["ports"], "all-ports", "{row}");
}

/// What cannot be is an error that names the variable, and what would have done.
#[test]
fn the_environment_is_checked() {
    let wrong = [
        ("HYPERCOLL_ALGORITHM", "broadcast=nonsense", "msbt"),
        ("HYPERCOLL_ALGORITHM", "broadcsat=msbt", "all-gather"),
        ("HYPERCOLL_ALGORITHM", "nonsense", "any collective"),
        ("HYPERCOLL_PACKET", "broadcast=0", "at least one"),
        ("HYPERCOLL_PACKET", "8KB", "KiB"),
        ("HYPERCOLL_PACKET", "barrier=8", "barrier"),
        // An element has eight bytes.
        ("HYPERCOLL_PACKET", "broadcast=7", "8 bytes"),
        ("HYPERCOLL_PORTS", "two-port", "one-port"),
        ("HYPERCOLL_SYMMETRIZED", "broadcast=maybe", "true"),
    ];
    for (variable, value, word) in wrong {
        refused(&[(variable, value)], &[variable, word]);
    }
    // Each exists, but the call cannot have them together.
    let together = [("HYPERCOLL_ALGORITHM", "permute=inversion,broadcast=wave"), ("HYPERCOLL_PORTS", "one-way")];
    refused(&together, &["HYPERCOLL_ALGORITHM, HYPERCOLL_PORTS", "wave", "one-way"]);
}

/// A broadcast is refused, in prediction and in earnest, with these words.
fn refused(environment: &[(&str, &str)], words: &[&str]) {
    let output = command(&[], "explain broadcast --count 100", environment);
    assert_eq!(output.code, Some(2), "{environment:?}: {}", output.told());
    let run = command(&[], &format!("{BENCH} --threads 2"), environment);
    assert!(run.code.is_some_and(|code| code > 0), "{environment:?}: {}", run.told());
    for word in words {
        assert!(output.stderr.contains(word), "{environment:?}: no '{word}' in {}", output.stderr);
        assert!(run.stderr.contains(word), "{environment:?}: no '{word}' in {}", run.stderr);
    }
}

#[test]
fn a_call_s_own_options_go_first() {
    let environment = [("HYPERCOLL_ALGORITHM", "broadcast=msbt"), ("HYPERCOLL_PACKET", "broadcast=8KiB")];
    let explain =
        |line: &str| json(&command(&[], &format!("explain broadcast --count 5000 --json {line}"), &environment));
    let choice = explain("")["choice"].clone();
    assert_eq!((&choice["algorithm"], &choice["packet_bytes"]), (&"msbt".into(), &8192.into()));
    assert_eq!(choice["why"], "asked for by HYPERCOLL_ALGORITHM, HYPERCOLL_PACKET");
    let choice = explain("--algorithm tcbt --packet 10")["choice"].clone();
    assert_eq!((&choice["algorithm"], &choice["packet"]), (&"tcbt".into(), &10.into()));
    assert_eq!(choice["why"], "asked for");
}

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tuning-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn explain_takes_parameters_from_a_file() {
    let folder = folder("explain");
    let file = folder.join("other.toml");
    let text = "[machine]\nhost = 'elsewhere'\ncpu = ''\nmpi = 'an MPI'\nhosts = 8\nranks = 8\nhypercoll = '0.0.0'\ndate = ''\n\
                [parameters]\ntau = 1e-3\nhop = 1e-4\nt_c = 1e-6\nports = 3\npairs_linked = false\npacket = 4096\nburst = 0\neager = 5000\n";
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    // As it is.
    let value = json(&command(&[], &format!("explain broadcast --count 100000 --machine {file} --json"), &[]));
    let machine = &value["machine"];
    assert_eq!((&machine["tau_s"], &machine["t_c_s_per_byte"]), (&1e-3.into(), &1e-6.into()));
    assert_eq!((&machine["ports"], &machine["packet_limit_bytes"]), (&"all-ports".into(), &5000.into()));
    let why = value["choice"]["why"].as_str().expect("a reason");
    assert!(why.contains("measured on elsewhere"), "{why}");
    let both = command(&[], &format!("explain broadcast --count 1 --machine {file} --tuning {file}"), &[]);
    assert!(both.code == Some(2) && both.stderr.contains("tuning: "), "{}", both.told());
    // Only if it was made for this machine.
    for (line, environment) in
        [(format!("--tuning {file}"), vec![]), (String::new(), vec![("HYPERCOLL_TUNING", file.as_str())])]
    {
        let line = format!("explain broadcast --count 100000 --machine network --json {line}");
        let value = json(&command(&[], &line, &environment));
        assert_eq!(value["machine"]["tau_s"], 10e-6, "the built-in one: {value}");
        for word in [file.as_str(), "elsewhere", "0.0.0"] {
            assert!(value["tuning_refused"].as_str().is_some_and(|why| why.contains(word)), "{word}: {value}");
            assert!(value["choice"]["why"].as_str().is_some_and(|why| why.contains(word)), "{word}: {value}");
        }
    }
    for (text, word) in [
        (text.replace("ports = 3", "prots = 3"), "prots"),
        (text.replace("tau = 1e-3", "tau = 0.0"), "parameters.tau: 0; more than 0 is needed"),
        (String::new(), "machine"),
    ] {
        std::fs::write(&file, text).expect("a file");
        for option in ["--machine", "--tuning"] {
            let output = command(&[], &format!("explain broadcast --count 1 {option} {file}"), &[]);
            assert_eq!(output.code, Some(2), "{}", output.told());
            assert!(output.stderr.contains(&file) && output.stderr.contains(word), "{}", output.told());
        }
    }
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

/// What `tune` measured of calls corrects the choice, for as many ranks, and `explain` says so.
#[test]
fn explain_tells_of_corrections() {
    let folder = folder("corrections");
    let file = folder.join("corrected.toml");
    let text = "[machine]\nhost = 'h'\ncpu = ''\nmpi = ''\nhosts = 8\nranks = 8\nhypercoll = '0.2.0'\ndate = ''\n[parameters]\n\
                tau = 1e-5\nhop = 1e-5\nt_c = 1e-9\nports = 1\npairs_linked = true\npacket = 4096\nburst = 0\neager = 65536\n";
    let explain = |size: usize, text: &str| {
        std::fs::write(&file, text).expect("a file");
        let file = file.display();
        command(&[], &format!("explain all-gather --count 1024 --size {size} --machine {file} --json"), &[])
    };
    let before = json(&explain(8, text));
    let (first, second) = (&before["candidates"][0], &before["candidates"][1]);
    let packet =
        |row: &Value| row["packet_bytes"].as_u64().map_or(String::new(), |bytes| format!("packet = {bytes}, "));
    let time = |row: &Value, time: f64| {
        let (name, ports) = (&row["algorithm"], &row["ports"]);
        format!(
            "{{ collective = 'all-gather', bytes = 8192, algorithm = {name}, ports = {ports}, {}time = {time:e} }},",
            packet(row)
        )
    };
    let native = "{ collective = 'all-gather', bytes = 8192, algorithm = 'native', time = 1e-6 }";
    let checked =
        format!("[checked]\nranks = '8 x 1'\ntimes = [{}{}{native}]\n", time(first, 0.02), time(second, 0.01));
    let after = json(&explain(8, &(text.to_string() + &checked)));
    let choice = &after["choice"];
    assert_eq!((&choice["algorithm"], &choice["packet_bytes"]), (&second["algorithm"], &second["packet_bytes"]));
    assert!((choice["predicted_s"].as_f64().expect("a time") / 0.01 - 1.0).abs() < 1e-9, "{choice}");
    assert_eq!(choice["model_s"], second["predicted_s"]);
    assert!(choice["why"].as_str().is_some_and(|why| why.contains("corrected by what tune measured")), "{choice}");
    assert_eq!((&before["native_is_faster"], &after["native_is_faster"]), (&false.into(), &true.into()));
    // Not on other ranks.
    let other = json(&explain(7, &(text.to_string() + &checked)));
    assert_eq!(
        (&other["candidates"], &other["native_is_faster"]),
        (&json(&explain(7, text))["candidates"], &false.into())
    );
    let refused =
        explain(8, &(text.to_string() + &checked.replace("8192, algorithm = 'native'", "-1, algorithm = 'native'")));
    assert!(refused.code == Some(2) && refused.stderr.contains("checked.times[2].bytes"), "{}", refused.told());
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

#[cfg(feature = "mpi")]
mod under_mpirun {
    use super::*;

    fn launcher(ranks: &str) -> Vec<String> {
        let name = std::env::var("HYPERCOLL_MPIRUN").unwrap_or_else(|_| "mpirun".into());
        let mut words = vec![name.clone()];
        if name.ends_with("mpirun") {
            // More ranks than cores are welcome, and a rank that waits lets others run.
            words.extend(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"].map(String::from));
        }
        words.extend(["-n".into(), ranks.into()]);
        words
    }

    fn mpirun(ranks: &str, line: &str, environment: &[(&str, &str)]) -> Output {
        let launcher = launcher(ranks);
        command(&launcher.iter().map(String::as_str).collect::<Vec<_>>(), line, environment)
    }

    /// The ranks take rank 0's word, whatever their own environment says; if they chose differently, they would wait for ever.
    #[test]
    fn all_ranks_choose_alike() {
        for (first, others, asked_for) in [("broadcast=tcbt", "", true), ("", "broadcast=tcbt", false)] {
            let mut words = launcher("1");
            let program = env!("CARGO_BIN_EXE_hypercoll");
            let set = |value: &str| format!("HYPERCOLL_ALGORITHM={value}");
            words.extend(["env".into(), set(first), program.into()]);
            words.extend(BENCH.split_whitespace().map(String::from));
            words.extend([":", "-n", "3", "env"].map(String::from));
            words.push(set(others));
            // What is chosen where nothing is asked for must not depend on what is measured in passing.
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let row = auto(&command(&words, BENCH, &[("HYPERCOLL_MEASURE", "off")]));
            assert_eq!(row["algorithm"] == "tcbt", asked_for, "{first} {others}: {row}");
        }
    }

    /// What calls were chosen for, by a report, and its first figure.
    fn machine(output: &Output) -> (String, Value) {
        let report = json(output);
        let machine = report["method"]["machine"].as_array().expect("a machine").clone();
        (machine[0].as_str().expect("a name").to_string(), machine[1].clone())
    }

    /// What is measured when a communicator is made is measured in one way, whatever calls are to be like.
    #[test]
    fn whatever_is_asked_of_calls_the_machine_is_measured() {
        let asked =
            [("HYPERCOLL_PORTS", "all-ports"), ("HYPERCOLL_PORTS", "one-way"), ("HYPERCOLL_SYMMETRIZED", "true")];
        for (variable, value) in asked {
            let output = mpirun("3", BENCH, &[(variable, value), ("HYPERCOLL_TUNING", "")]);
            assert_eq!(output.code, Some(0), "{variable}={value}: {}", output.told());
            let (name, _) = machine(&output);
            assert!(name.ends_with("(measured when it was first used)"), "{variable}={value}: {name}");
        }
    }

    #[test]
    fn errors_are_those_of_all_ranks() {
        for (variable, value) in [
            ("HYPERCOLL_ALGORITHM", "broadcast=nonsense"),
            ("HYPERCOLL_TUNING", "/nonexistent/file.toml"),
            ("HYPERCOLL_TUNING", "/proc/self/status"),
            ("HYPERCOLL_MEASURE", "nonsense"),
        ] {
            let output = mpirun("3", BENCH, &[(variable, value)]);
            assert_eq!(output.code, Some(2), "{variable}={value}: {}", output.told());
            let word = if variable == "HYPERCOLL_TUNING" { value } else { "nonsense" };
            assert!(output.stderr.contains(word), "{variable}={value}: {}", output.told());
        }
    }

    /// What `tune` writes is used on this machine, from the default place or by name, and refused elsewhere.
    #[test]
    fn tuned_and_used() {
        let folder = folder("tuned");
        let config = folder.display().to_string();
        let at_home = [("XDG_CONFIG_HOME", config.as_str())];
        let found = json(&mpirun("3", "tune --seconds 1 --json", &at_home));
        let file = found["file"].as_str().expect("a file").to_string();
        assert!(file.starts_with(&format!("{config}/hypercoll/")) && file.ends_with("-shared.toml"), "{file}");
        let parameters = &found["tuning"]["parameters"];
        assert!(parameters["tau"].as_f64().is_some_and(|tau| tau > 0.0), "{found}");
        assert!(parameters["t_c"].as_f64().is_some_and(|t_c| t_c > 0.0), "{found}");
        check_after_tuning(&found, &file);
        // From the default place, and by name.
        let by_name = [("HYPERCOLL_TUNING", file.as_str())];
        for environment in [&at_home[..], &by_name[..]] {
            let (name, tau) = machine(&mpirun("2", BENCH, environment));
            assert!(name.contains("measured on"), "{name}");
            assert_eq!(tau, parameters["tau"]);
        }
        // An empty name is none: the machine is measured in passing, unless the user wants it not to be.
        let empty = ("HYPERCOLL_TUNING", "");
        let (name, tau) = machine(&mpirun("2", BENCH, &[at_home[0], empty]));
        assert!(name.ends_with("(measured when it was first used)"), "{name}");
        assert!(tau.as_f64().is_some_and(|tau| tau > 0.0) && tau != parameters["tau"], "{tau}");
        let (name, tau) = machine(&mpirun("2", BENCH, &[at_home[0], empty, ("HYPERCOLL_MEASURE", "off")]));
        assert!(name.ends_with("(built in)"), "{name}");
        assert_eq!(tau.as_f64(), Some(1.5e-7));
        // Made for another MPI: refused, and said so.
        let text = std::fs::read_to_string(&file).expect("the file");
        let mpi = found["tuning"]["machine"]["mpi"].as_str().expect("a version");
        std::fs::write(&file, text.replace(mpi, "Closed MPI 1.0")).expect("a file");
        for environment in [&at_home[..], &by_name[..]] {
            let output = mpirun("2", BENCH, environment);
            let (name, tau) = machine(&output);
            for text in [&name, &output.stderr] {
                assert!(text.contains("refused: made for Closed MPI 1.0") && text.contains(&file), "{text}");
            }
            assert_eq!(output.stderr.matches("Closed MPI").count(), 1, "once, by rank 0: {}", output.stderr);
            assert!(name.contains("measured when") && tau != parameters["tau"], "{name}");
        }
        // A file in the default place that makes no sense is no error.
        std::fs::write(&file, "nonsense").expect("a file");
        let (name, _) = machine(&mpirun("2", BENCH, &at_home));
        assert!(name.contains("measured when") && name.contains("refused"), "{name}");
        std::fs::remove_dir_all(folder).expect("the folder is ours");
    }

    /// The file that `tune` has written for three ranks holds what it has found of calls, is checked, and is stale where it should be.
    fn check_after_tuning(found: &Value, file: &str) {
        let text = std::fs::read_to_string(file).expect("the file");
        assert!(text.contains("ranks = \"1 x 3\""), "{text}");
        let times = found["tuning"]["checked"]["times"].as_array().expect("times");
        let calls = found["calls"].as_array().expect("calls");
        assert!(!calls.is_empty() && times.len() >= calls.len(), "{found}");
        // Every call has the time of the choice, and native's where it was faster.
        for call in calls {
            let of_it = |time: &&Value| time["collective"] == call["collective"] && time["bytes"] == call["bytes"];
            let by: Vec<&Value> = times.iter().filter(of_it).map(|time| &time["algorithm"]).collect();
            assert_eq!(by.first(), Some(&&call["ours"][0]["algorithm"]), "{call}");
            assert_eq!(by.contains(&&Value::from("native")), call["native_is_faster"] == true, "{call}");
            let better = &call["corrected_to"];
            assert!(better.is_null() || by[1..].contains(&better), "{call}: {by:?}");
        }
        let check =
            |ranks: &str, file: &str| mpirun(ranks, &format!("tune --check --seconds 1 --json --tuning {file}"), &[]);
        let value = |output: &Output| -> Value {
            serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", output.told()))
        };
        let stale = |value: &Value| value["stale"].as_array().expect("reasons").clone();
        let says = |reasons: &[Value], word: &str| reasons.iter().any(|r| r.as_str().is_some_and(|r| r.contains(word)));
        let fresh = value(&check("3", file));
        assert!(fresh["file"] == file && !says(&stale(&fresh), "not 1 x 3"), "{fresh}");
        for call in fresh["calls"].as_array().expect("calls") {
            let [predicted, measured] = ["predicted_s", "measured_s"].map(|key| call[key].as_f64().expect("a time"));
            let ratio = measured / predicted;
            assert!((call["measured_over_predicted"].as_f64().expect("a ratio") / ratio - 1.0).abs() < 1e-9, "{call}");
            assert_eq!(call["off"], ratio.max(1.0 / ratio) > 1.2, "{call}");
        }
        // Other ranks, another machine, and times that are not what they were: stale, and an exit code that says so.
        let other = file.replace(".toml", "-other.toml");
        let numbers = |text: &str| {
            text.replace("time = ", "time = 1").replace("tau = ", "tau = 10").replace("t_c = ", "t_c = 10")
        };
        for (ranks, text, word) in [
            ("2", text.clone(), "not 1 x 2"),
            ("3", text.replace("host = \"", "host = \"not-"), "refused: made on host not-"),
            ("3", numbers(&text), "half of the calls are off"),
        ] {
            std::fs::write(&other, text).expect("a file");
            let output = check(ranks, &other);
            assert_eq!(output.code, Some(1), "{word}: {}", output.told());
            assert!(says(&stale(&value(&output)), word) && output.stderr.contains(word), "{word}: {}", output.told());
        }
        // Programs are told, too, by a warning and by what explains a choice.
        std::fs::write(&other, &text).expect("a file");
        let output = mpirun("2", BENCH, &[("HYPERCOLL_TUNING", &other)]);
        let name = json(&output)["method"]["machine"][0].as_str().expect("a name").to_string();
        for words in [&output.stderr, &name] {
            assert!(words.contains("is stale: measured with 1 x 3 ranks, not 1 x 2"), "{words}");
        }
        let table = mpirun("3", &format!("tune --check --seconds 1 --tuning {file}"), &[]).stdout;
        for told in ["\ntau ", "predicted us", "calls are off by more than 20 %"] {
            assert!(table.contains(told), "{told}: {table}");
        }
    }

    /// Hosts are what the library takes for hosts, whatever MPI says: its file is for these. What the user has written of links stays.
    #[test]
    fn tuned_between_hosts() {
        // Each rank in a namespace of host names, as in a container of its own: Open MPI takes them for one host.
        let namespaces = [&["unshare", "-r"][..], &["unshare", "-u"]];
        let status = Command::new("unshare").args(["-r", "unshare", "-u", "true"]).status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("skipped: this system makes no namespaces");
            return;
        }
        let folder = folder("hosts");
        let file = folder.join("file.toml").display().to_string();
        let tune = |ranks: &str| {
            let line = format!("tune --seconds 1 --json --out {file}");
            let launcher = launcher(ranks);
            let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
            let output = command(&[namespaces[0], &launcher, namespaces[1]].concat(), &line, &[]);
            (json(&output)["tuning"].clone(), output.stderr)
        };
        let (found, _) = tune("2");
        assert_eq!((&found["machine"]["hosts"], &found["checked"]["ranks"]), (&2.into(), &"2 x 1".into()), "{found}");
        let text = std::fs::read_to_string(&file).expect("the file").replace(" = true # every", " = false # every");
        std::fs::write(&file, text.replace("pairs_linked = false", "kind = \"cube\"\nlink = 1e-7")).expect("a file");
        let (found, said) = tune("2");
        let parameters = &found["parameters"];
        assert_eq!((&parameters["kind"], &parameters["link"]), (&"cube".into(), &1e-7.into()), "{found}");
        assert!(parameters["pairs_linked"] == false && said.contains("kind = \"cube\" and link = 1e-7 stay"), "{said}");
        let (found, said) = tune("3");
        assert!(found["parameters"]["kind"].is_null(), "{found}");
        assert!(said.contains("is of 2 hosts, not 3: kind = \"cube\"") && said.contains("dropped"), "{said}");
        std::fs::write(&file, "nonsense").expect("a file");
        assert!(tune("2").1.contains("makes no sense"));
        std::fs::remove_dir_all(folder).expect("the folder is ours");
    }

    #[test]
    fn tune_refuses_what_it_cannot_do() {
        for (ranks, line, word) in [
            ("1", "tune", "at least 2"),
            ("1", "tune --check", "at least 2"),
            ("2", "tune --out /nonexistent/file.toml", "/nonexistent/file.toml"),
            ("1", "tune --seconds 0", "seconds"),
            ("1", "tune --tuning a.toml", "--check"),
            ("1", "tune --check --out a.toml", "--out"),
            ("2", "tune --check --tuning /nonexistent/file.toml", "/nonexistent/file.toml"),
        ] {
            let output = mpirun(ranks, line, &[]);
            assert_eq!(output.code, Some(2), "{line}: {}", output.told());
            assert!(output.stderr.contains(word), "{line}: {}", output.told());
        }
    }
}
