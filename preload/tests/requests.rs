//! Nonblocking and persistent collectives of unchanged programs, and their requests.

mod common;

use common::{built, has_fortran, place, says_what_another_says, through_hypercoll, ALL, MODULES};
use std::path::PathBuf;
use std::sync::OnceLock;

/// All collective functions that have a request, without `MPI_`.
const STARTED: [&str; 16] = [
    "bcast",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "scan",
    "exscan",
    "reduce_scatter",
    "reduce_scatter_block",
];

/// Whether nonblocking and persistent calls are served: they are not where the waits of an MPI move nothing else.
fn are_served() -> bool {
    // Asked for by several tests at once.
    static SERVED: OnceLock<bool> = OnceLock::new();
    *SERVED.get_or_init(serves)
}

fn serves() -> bool {
    let program = built("tests/programs/requests.c", "served", &[]);
    let variables = [ALL[0], ALL[1], ("HYPERCOLL_REPORT", "-")];
    let output = through_hypercoll(&variables, 2, &program, &["several"]);
    assert_eq!(output.code, Some(0), "{}", output.told());
    !output.stdout.contains("MPI: an MPI whose waits move nothing else")
}

/// Each of these functions has been served by the library, if any may be.
fn all_are_ours(report: &str, functions: impl Iterator<Item = String>) {
    for name in functions {
        let name = format!("\"collective\":\"{name}\"");
        let ours = report.lines().any(|row| row.contains(&name) && row.contains("\"served_by\":\"ours\""));
        assert!(ours, "{name}: {report}");
    }
}

/// A program says natively, in blocking calls, what it says through hypercoll in nonblocking and persistent ones.
#[test]
fn started_calls_of_c_get_the_same_results() {
    if !are_served() {
        return eprintln!("this MPI makes nonblocking calls itself");
    }
    let source = "tests/programs/collectives.c";
    let blocking = built(source, "blocking", &[]);
    let include = ["-include", "tests/programs/started.h"];
    let nonblocking = built(source, "nonblocking", &include);
    let persistent = built(source, "persistent", &[&include[..], &["-DPERSISTENT"]].concat());
    for (ranks, shared_memory) in [(3, "off"), (5, "single-copy")] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        let report = says_what_another_says(&blocking, &nonblocking, "nonblocking", ranks, &variables);
        all_are_ours(&report, STARTED.iter().map(|name| format!("i{name}")));
        let report = says_what_another_says(&blocking, &persistent, "persistent", ranks, &variables);
        all_are_ours(&report, STARTED.iter().map(|name| format!("{name}_init")));
    }
}

/// A Fortran program with its calls made nonblocking, or persistent, ones, and a line after each that waits.
fn started(source: &str, persistent: bool) -> PathBuf {
    let text = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(source)).expect("a source");
    let mut lines = Vec::new();
    for line in text.lines() {
        let call = line.split_once("call MPI_").and_then(|(indent, call)| {
            let (name, arguments) = call.strip_suffix(", comm, ierror)")?.split_once('(')?;
            STARTED.contains(&name.to_lowercase().as_str()).then_some((indent, name, arguments))
        });
        let Some((indent, name, arguments)) = call else {
            lines.push(line.to_string());
            continue;
        };
        let (begin, info) = match persistent {
            true => (format!("MPIX_{name}_init"), "MPI_INFO_NULL, "),
            false => (format!("MPI_I{}", name.to_lowercase()), ""),
        };
        lines.push(format!("{indent}call {begin}({arguments}, comm, &\n{indent}    {info}request, ierror)"));
        lines.push(format!("{indent}call finish()"));
    }
    let changed = place(if persistent { "persistent.f90" } else { "nonblocking.f90" });
    std::fs::write(&changed, lines.join("\n")).expect("a place for a source");
    changed
}

#[test]
fn started_calls_of_fortran_get_the_same_results() {
    if !has_fortran() {
        return eprintln!("this MPI has no Fortran");
    }
    if !are_served() {
        return eprintln!("this MPI makes nonblocking calls itself");
    }
    let source = "tests/programs/collectives.f90";
    for (handles, flags) in [("mpif", &["-cpp", MODULES][..]), ("f08", &["-cpp", "-DF08", MODULES])] {
        let blocking = built(source, &format!("blocking-{handles}"), flags);
        for (form, more) in [("nonblocking", &["-DSTARTED"][..]), ("persistent", &["-DSTARTED", "-DPERSISTENT"])] {
            let changed = started(source, form == "persistent");
            let name = format!("{form}-{handles}");
            let program = built(changed.to_str().expect("a path"), &name, &[flags, more].concat());
            let report = says_what_another_says(&blocking, &program, &name, 3, &ALL);
            // What is in Fortran's lists of datatypes is MPI's, of persistent calls.
            let functions = STARTED.iter().filter(|&&name| form == "nonblocking" || name != "alltoallw");
            let functions = functions.map(|name| match form {
                "nonblocking" => format!("i{name}"),
                _ => format!("{name}_init"),
            });
            all_are_ours(&report, functions);
            if form == "nonblocking" {
                // MPI's own function of Fortran makes what is left to it.
                let variables = [("HYPERCOLL_NATIVE", "ialltoallw"), ALL[0], ALL[1]];
                let report = says_what_another_says(&blocking, &program, &name, 3, &variables);
                let mut rows = report.lines().filter(|row| row.contains("\"collective\":\"ialltoallw\"")).peekable();
                let all_left = rows.peek().is_some() && rows.all(|row| row.contains("\"served_by\":\"native\""));
                assert!(all_left, "{report}");
            }
        }
    }
}

/// See the program.
#[test]
fn requests_are_requests_of_mpi() {
    let program = built("tests/programs/requests.c", "requests", &[]);
    let served = are_served();
    for (ranks, shared_memory, threads) in [
        (2, "single-copy", None),
        (3, "single-copy", Some("threads")),
        (3, "off", None),
        (5, "single-copy", None),
        (5, "off", Some("threads")),
    ] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory), ("HYPERCOLL_REPORT", "-")];
        // MPI itself does not do all of it everywhere.
        let what = if served { "all" } else { "several" };
        let arguments: Vec<&str> = [what].into_iter().chain(threads).collect();
        let output = through_hypercoll(&variables, ranks, &program, &arguments);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{}", output.told());
        // One request has arguments that are wrong on a rank.
        let refused = |row: &str| ["make no sense", "refuse on some rank"].iter().any(|why| row.contains(why));
        let is_left = output.stdout.lines().any(|row| row.contains("  MPI: ") && !refused(row));
        assert_eq!(is_left, !served, "{}", output.told());
    }
}

/// Each persistent request has a hypercube of its own, of which there are only so many.
#[test]
fn persistent_requests_leave_room_for_others() {
    if !are_served() {
        return eprintln!("this MPI makes persistent calls itself");
    }
    let program = built("tests/programs/requests.c", "plenty-requests", &[]);
    let output = through_hypercoll(&[ALL[0], ALL[1], ("HYPERCOLL_REPORT", "-")], 2, &program, &["plenty"]);
    assert_eq!(output.code, Some(0), "{}", output.told());
    assert_eq!(output.stdout.matches("all is well").count(), 2, "{}", output.told());
    for by in ["ours: ", "MPI: as many persistent requests as are served at a time"] {
        let is = output.stdout.lines().any(|row| row.starts_with("allreduce_init ") && row.contains(by));
        assert!(is, "{by}: {}", output.told());
    }
}

/// A form of a collective can be named, and is left to MPI alone. What MPI is tried out for in blocking calls may be MPI's in others.
#[test]
fn forms_are_chosen() {
    let program = built("tests/programs/requests.c", "forms", &[]);
    let run = |variables: &[(&str, &str)]| {
        let variables = [variables, &[("HYPERCOLL_REPORT", "-")]].concat();
        let output = through_hypercoll(&variables, 3, &program, &["several"]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 3, "{}", output.told());
        output.stdout
    };
    run(&[]);
    if !are_served() {
        return eprintln!("this MPI makes nonblocking calls itself");
    }
    let is = |rows: &str, name: &str, by: &str| {
        let mut rows = rows.lines().filter(|row| row.split(' ').next() == Some(name)).peekable();
        rows.peek().is_some() && rows.all(|row| row.contains(by))
    };
    let rows = run(&[ALL[0], ALL[1], ("HYPERCOLL_NATIVE", "iallreduce,MPI_Ibcast")]);
    assert!(is(&rows, "iallreduce", "MPI: asked for") && is(&rows, "ibcast", "MPI: asked for"), "{rows}");
    assert!(is(&rows, "allreduce", "ours: ") && is(&rows, "iallgather", "ours: "), "{rows}");
    let rows = run(&[ALL[0], ALL[1], ("HYPERCOLL_ONLY", "allreduce")]);
    assert!(is(&rows, "iallreduce", "ours: ") && is(&rows, "allreduce", "ours: "), "{rows}");
    assert!(is(&rows, "iallgather", "MPI: asked for"), "{rows}");
}
