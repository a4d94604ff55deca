//! Unchanged programs under `mpirun`: through hypercoll they do what they do natively.
//!
//! `HYPERCOLL_MPIRUN` names another launcher than `mpirun`, `MPICC` and `MPIFORT` other compilers than those of that name: all of one MPI
//! (`scripts/test-mpi`).

mod common;

use common::mpirun::mpirun_with;
use common::process::{run, Output};
use common::{
    built, built_if_possible, built_with, has_fortran, library, place, says_the_same, says_what_another_says,
    through_hypercoll, ALL, MODULES, OFF,
};
use hypercoll::select::tuning::{host_name, mpi_name};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn c_programs_get_the_same_results() {
    let program = built("tests/programs/collectives.c", "collectives", &[]);
    // (Eight ranks of MPICH on two cores take minutes natively.)
    let numbers = if cfg!(open_mpi) { [1, 2, 3, 5, 8] } else { [1, 2, 3, 4, 5] };
    for ranks in numbers {
        says_the_same(&program, "collectives", ranks, &ALL);
    }
    // As it comes: some calls are ours, some MPI's.
    says_the_same(&program, "collectives", 4, &[]);
    for (shared_memory, ranks) in [("off", 3), ("two-copies", 3)] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        says_the_same(&program, "collectives", ranks, &variables);
    }
}

/// So do the functions for large counts, where this MPI has them.
#[test]
fn large_counts_get_the_same_results() {
    let source = "tests/programs/collectives.c";
    let Some(large) = built_if_possible(source, "large", &["-include", "tests/programs/large.h"]) else {
        return eprintln!("this MPI has no large counts");
    };
    let usual = built(source, "usual", &[]);
    says_what_another_says(&usual, &large, "large", 3, &ALL);
}

/// See the program. A communicator has a hypercube from the beginning where all calls are to be ours, so that nonblocking ones are, too.
#[test]
fn odd_calls_do_what_they_do_natively() {
    let program = built("tests/programs/odd.c", "odd", &[]);
    for (ranks, shared_memory) in [(1, "single-copy"), (2, "off"), (3, "single-copy"), (3, "off"), (5, "single-copy")] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory), ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, ranks, &program, &[]);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        for said in ["all is well", "ends well"] {
            assert_eq!(output.stdout.matches(said).count(), ranks, "{ranks} ranks: {}", output.told());
        }
        assert!(!output.stdout.contains("no hypercube yet"), "{}", output.told());
    }
    // There is nothing to report.
    let output = through_hypercoll(&[("HYPERCOLL_REPORT", "-")], 2, &program, &["nothing"]);
    assert_eq!(output.code, Some(0), "{}", output.told());
}

/// See the program.
#[test]
fn blocks_may_be_at_absolute_addresses() {
    let program = built("tests/programs/absolute.c", "absolute", &["-no-pie"]);
    for (ranks, shared_memory) in [(2, "off"), (3, "single-copy")] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        let output = through_hypercoll(&variables, ranks, &program, &[]);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{ranks} ranks: {}", output.told());
    }
}

/// See the program.
#[test]
fn nothing_is_touched_beyond_the_edges_of_buffers() {
    let program = built("tests/programs/edges.c", "edges", &[]);
    for (ranks, shared_memory) in [(2, "off"), (3, "single-copy"), (5, "two-copies")] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        let output = through_hypercoll(&variables, ranks, &program, &[]);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{ranks} ranks: {}", output.told());
    }
}

/// See the program.
#[test]
fn memory_may_be_sent_and_received_into_at_once() {
    if !cfg!(open_mpi) {
        return eprintln!("this MPI refuses that");
    }
    let program = built("tests/programs/aliases.c", "aliases", &[]);
    for (ranks, arguments, looks) in [(2, &[][..], "1"), (3, &["all"], "0"), (5, &["all"], "0")] {
        let variables = [ALL[0], ALL[1], ("OMPI_MCA_mpi_param_check", looks), ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, ranks, &program, arguments);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{ranks} ranks: {}", output.told());
        let is_left = output.stdout.lines().any(|row| row.contains("  MPI: "));
        assert!(!is_left, "{ranks} ranks: {}", output.told());
    }
}

/// See the program.
#[test]
fn the_standard_is_kept_to_the_letter() {
    let program = built("tests/programs/strict.c", "strict", &[]);
    for (ranks, shared_memory) in [(1, "off"), (2, "single-copy"), (3, "off"), (5, "single-copy")] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        let output = through_hypercoll(&variables, ranks, &program, &[]);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{ranks} ranks: {}", output.told());
    }
}

/// See the program.
#[test]
fn random_calls_do_what_messages_do() {
    let program = built("tests/programs/random.c", "random", &[]);
    for (ranks, shared_memory, seed) in
        [(2, "off", "1"), (3, "single-copy", "2"), (4, "off", "3"), (5, "two-copies", "4"), (5, "single-copy", "5")]
    {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory), ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, ranks, &program, &[seed, "400"]);
        assert_eq!(output.code, Some(0), "{ranks} ranks: {}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{ranks} ranks: {}", output.told());
        for name in ["bcast", "alltoallw", "scan"] {
            let ours = output.stdout.lines().any(|row| row.starts_with(name) && row.contains("ours: "));
            assert!(ours, "{name} on {ranks} ranks: {}", output.told());
        }
    }
}

#[test]
fn fortran_programs_get_the_same_results() {
    if !has_fortran() {
        return eprintln!("this MPI has no Fortran");
    }
    for (name, flags) in [("mpif", &["-cpp", MODULES][..]), ("f08", &["-cpp", "-DF08", MODULES])] {
        let program = built("tests/programs/collectives.f90", name, flags);
        for ranks in [1, 3] {
            let report = says_the_same(&program, name, ranks, &ALL);
            assert!(report.contains("\"collective\":\"barrier\""), "{name}: {report}");
        }
    }
}

/// A library in Fortran may be loaded by a program in C, or Python, and MPI's Fortran with it and for it alone.
#[test]
fn fortran_may_be_loaded_later() {
    // (MPICH's Fortran calls its functions of C, and has functions for attributes that pass us by.)
    if !has_fortran() || !cfg!(open_mpi) {
        return eprintln!("this MPI has no Fortran, or it needs nothing of ours");
    }
    let program = built_with("tests/programs/plugin.c", "plugin", &[], &["-ldl"]);
    for (name, flags) in [("plugin-mpif.so", &[][..]), ("plugin-f08.so", &["-DF08"])] {
        let flags = [&["-cpp", "-shared", "-fPIC", MODULES], flags].concat();
        let library = built("tests/programs/plugin.f90", name, &flags);
        let library = library.to_str().expect("a path");
        for variables in [&ALL[..], &[]] {
            let output = through_hypercoll(variables, 3, &program, &[library]);
            assert_eq!(output.code, Some(0), "{name}: {}", output.told());
            assert_eq!(output.stdout.matches("all is well").count(), 3, "{name}: {}", output.told());
        }
    }
}

/// What is MPI's is counted, whoever calls it.
#[test]
fn neighbours_of_fortran_are_in_the_report() {
    for (name, flags) in [("neighbours", &["-cpp"][..]), ("neighbours-f08", &["-cpp", "-DF08"])] {
        if !has_fortran() {
            return;
        }
        let program = built("tests/programs/neighbours.f90", name, flags);
        let output = through_hypercoll(&[("HYPERCOLL_REPORT", "-")], 3, &program, &[]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 3, "{}", output.told());
        let forms = [("allgather", "neighbours"), ("alltoallv", "neighbours"), ("allgatherv", "a nonblocking call")];
        for (name, why) in forms {
            let row = output.stdout.lines().find(|row| row.starts_with(&format!("neighbor_{name} ")));
            let counted = row.is_some_and(|row| row.contains(" 3 ") && row.ends_with(&format!("MPI: {why}")));
            assert!(counted, "{name}: {}", output.told());
        }
    }
}

/// What makes no sense is said, and leaves all to MPI; so do lists of collectives.
#[test]
fn the_environment_says_what_is_served() {
    let program = built("tests/programs/wrong.c", "environment", &[]);
    let rows = |variables: &[(&str, &str)]| {
        let output = through_hypercoll(&[variables, &[("HYPERCOLL_REPORT", "-")]].concat(), 2, &program, &["nothing"]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        (output.stdout, output.stderr)
    };
    let served = |rows: &str, name: &str, by: &str| rows.lines().any(|row| row.starts_with(name) && row.contains(by));
    let (all, _) = rows(&ALL);
    assert!(served(&all, "bcast", "ours: ") && served(&all, "allreduce", "ours: "), "{all}");
    let (only, _) = rows(&[ALL[0], ALL[1], ("HYPERCOLL_ONLY", "bcast,MPI_Barrier")]);
    assert!(served(&only, "bcast", "ours: ") && served(&only, "allreduce", "MPI: asked for"), "{only}");
    let (native, _) = rows(&[ALL[0], ALL[1], ("HYPERCOLL_NATIVE", "broadcast")]);
    assert!(served(&native, "bcast", "MPI: asked for") && served(&native, "allreduce", "ours: "), "{native}");
    let (young, _) = rows(&[]);
    assert!(served(&young, "bcast", "MPI: a young communicator"), "{young}");
    let alike = ("HYPERCOLL_REPRODUCIBLE", "1");
    let (asked, _) = rows(&[ALL[0], ALL[1], alike, ("HYPERCOLL_ALGORITHM", "all-reduce=ring")]);
    assert!(served(&asked, "allreduce", "ours: ring"), "{asked}");
    let (nothing, said) = rows(&[("HYPERCOLL_ONLY", "bcast,nonsense")]);
    assert!(
        said.contains("HYPERCOLL_ONLY: 'nonsense' is none of barrier, bcast, ") && !nothing.contains("ours"),
        "{said}"
    );
}

/// Of several hosts, `mpirun` of Open MPI passes variables to others only if it is told to: those of the first rank count for all, whatever
/// others have. (The ranks are told that each is alone on its host.)
#[cfg(open_mpi)]
#[test]
fn what_the_first_rank_is_asked_for_all_are() {
    let program = built("tests/programs/wrong.c", "told", &[]);
    let script = "case $OMPI_COMM_WORLD_RANK in
        0) export HYPERCOLL_REPORT=- HYPERCOLL_FROM_CALL=1 HYPERCOLL_COMPARE=off HYPERCOLL_ALGORITHM=all-reduce=ring ;;
        1) export HYPERCOLL_ONLY=bcast HYPERCOLL_REPRODUCIBLE=1 HYPERCOLL_TIMEOUT=nonsense ;;
        esac
        OMPI_COMM_WORLD_LOCAL_SIZE=1 exec \"$0\" nothing";
    let output = through_hypercoll(&[], 3, Path::new("sh"), &["-c", script, program.to_str().expect("a path")]);
    assert_eq!(output.code, Some(0), "{}", output.told());
    let served = |name: &str, by: &str| output.stdout.lines().any(|row| row.starts_with(name) && row.contains(by));
    assert!(served("bcast", "ours: ") && served("allreduce", "ours: ring"), "{}", output.told());
}

/// A program with the header, linked to the library as pkg-config would have it.
fn built_with_header(source: &str, name: &str) -> PathBuf {
    let library = library();
    let place = library.parent().expect("a directory").to_str().expect("a path").to_string();
    // Old tags, as a library that `cargo build` left elsewhere is on the path of a test, which goes before new ones.
    let link = [format!("-L{place}"), format!("-Wl,--disable-new-dtags,-rpath,{place}")];
    let flags = ["-Iinclude", &link[0], &link[1], "-Wl,--no-as-needed"];
    built_with(source, name, &flags, &["-lhypercoll_preload"])
}

/// What is not known of a memory that all ranks share is measured when a communicator has had many calls, or long ones, with nonblocking ones
/// under way (which are MPICH's own, and do not count there). A reduction that was made before is made in the same way.
#[test]
fn the_machine_is_measured_after_many_calls() {
    let program = built_with_header("tests/programs/settled.c", "settled");
    let two_copies = ("HYPERCOLL_SHARED_MEMORY", "two-copies");
    let all = |more| [ALL[0], ALL[1], more];
    // The sum of two numbers is the same in whichever way it is made.
    let (before, after) = (["built in"; 3], ["built in", "as before", "measured"]);
    let of_two = ["built in", "measured", "measured"];
    for (ranks, variables, arguments, said) in [
        (2, &ALL[1..], &["8300", "2"][..], of_two),
        (5, &ALL, &["8300", "2"], after),
        (4, &all(two_copies), &["8300", "2"], after),
        (3, &all(OFF), &["8300", "2"], after),
        (2, &ALL, &["1000", "2"], before),
        // So are long ones sooner.
        (2, &ALL, &["50", "3000000"], of_two),
        // A rank with several threads and a call under way makes a blocking one in another way than the next rank.
        (3, &ALL, &["8300", "2", "threads"], after),
    ] {
        settles(&mpirun_with(variables, ranks, &program, arguments), ranks, said);
    }
}

/// What three calls of that program knew of the machine; what it says of the bits of all its sums.
fn settles(output: &Output, ranks: usize, said: [&str; 3]) -> String {
    assert_eq!(output.code, Some(0), "{}", output.told());
    assert_eq!(output.stdout.matches("all is well").count(), ranks, "{}", output.told());
    for (call, said) in ["the 10th", "the last", "another"].into_iter().zip(said) {
        assert!(output.stdout.contains(&format!("{call}: {said}")), "{}", output.told());
    }
    output.stdout.lines().find(|line| line.starts_with("bits ")).expect("a line of rank 0's").into()
}

/// Over links less is measured at first, and all when calls are worth that. Where native MPI may make calls, it does before they are worth a
/// hypercube: sums that depend on who makes them are from the 16th on, nonblocking ones among them, or if they are long, and others when they
/// are long or half a second has been spent in them. Ranks are on hosts of their own if the names that they see are of
/// namespaces of their own, which not every system lets users make. (Without TCP, Open MPI 4.1 hangs natively among these.)
#[test]
fn over_links_the_machine_is_measured_briefly_at_first() {
    let mut allowed = Command::new("unshare");
    allowed.args(["-r", "-u", "true"]);
    if !cfg!(open_mpi) || run(allowed).code != Some(0) {
        return eprintln!("ranks cannot be on hosts of their own here");
    }
    let program = built_with_header("tests/programs/settled.c", "settled-apart");
    let program = program.to_str().expect("a path");
    let variables = [ALL[0], ALL[1], ("OMPI_MCA_btl", "tcp,self")];
    // Two ranks have no choice at first that would be worth it.
    let longer = ["built in", "measured", "measured"];
    for (ranks, calls, count, said) in
        [(4, "300", "2", ["briefly"; 3]), (2, "300", "2", ["built in"; 3]), (2, "66", "3000000", longer)]
    {
        let words = ["-r", "-u", program, calls, count];
        settles(&mpirun_with(&variables, ranks, Path::new("unshare"), &words), ranks, said);
    }
    let (few, tried) = (["native MPI (few calls over links so far)"; 3], "native MPI (tried out)");
    let one_of_few = "native MPI (one of few sums over links)";
    let settled = |ranks, words: &[&str], said| {
        let words = [&["-r", "-u", program], words].concat();
        settles(&mpirun_with(&variables[2..], ranks, Path::new("unshare"), &words), ranks, said)
    };
    settled(4, &["12", "2"], [few[0], few[0], few[0]]);
    settled(4, &["13", "2"], [few[0], "briefly", "briefly"]);
    settled(4, &["10", "600"], ["briefly"; 3]);
    settled(2, &["30", "2"], few);
    settled(2, &["12", "9000"], [tried, tried, "built in"]);
    settled(2, &["20", "2", "late"], ["built in"; 3]);
    settled(5, &["10", "2", "apart"], [one_of_few, one_of_few, "briefly"]);
    settled(5, &["10", "600", "started"], ["briefly"; 3]);
    // When a communicator gets its hypercube goes by time, and who makes its first sums does not.
    let soon = settled(5, &["10", "2"], [few[0], few[0], few[0]]);
    assert_eq!(settled(5, &["10", "2", "late"], [one_of_few, one_of_few, "briefly"]), soon);
    let too_early = "native MPI (no hypercube yet, and no time to make one)";
    let soon = settled(5, &["40", "2", "started"], [too_early, "briefly", "briefly"]);
    assert_eq!(settled(5, &["40", "2", "started", "late"], [one_of_few, "briefly", "briefly"]), soon);
}

/// The examples of a user, with the header and without.
#[test]
fn examples_run() {
    let explain = built_with_header("examples/explain.c", "explain");
    let output = mpirun_with(&ALL, 4, &explain, &[]);
    assert_eq!(output.code, Some(0), "{}", output.told());
    for said in ["the sum is 6", "broadcast of 8000 x 1 B on 4 ranks, root 0: sbt", "avoiding 0-1", "the largest is 3"]
    {
        assert!(output.stdout.contains(said), "{said}: {}", output.told());
    }
    let mut programs = Vec::new();
    if has_fortran() {
        programs.push((built("examples/mean.f", "mean-mpif", &[]), vec![]));
        programs.push((built("examples/mean_f08.f90", "mean-f08", &[]), vec![]));
    }
    let mut python = Command::new("python3");
    python.args(["-c", "import mpi4py.MPI"]);
    match run(python).code {
        Some(0) => {
            programs.push((PathBuf::from("python3"), vec![concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mean.py")]))
        }
        _ => eprintln!("python3 has no mpi4py here: its example is left out"),
    }
    for (program, arguments) in programs {
        let output = through_hypercoll(&[ALL[0], ALL[1], ("HYPERCOLL_REPORT", "-")], 4, &program, &arguments);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert!(output.stdout.contains("the mean is") && output.stdout.contains("3.00"), "{}", output.told());
        let ours = output.stdout.lines().any(|row| row.starts_with("allreduce") && row.contains("ours: "));
        assert!(ours, "{}", output.told());
    }
}

/// Calls that are remembered are not taken for others, whoever makes them.
#[test]
fn calls_that_come_again_are_the_same() {
    let program = built("tests/programs/again.c", "again", &[]);
    for ranks in [2, 3, 4] {
        for compare in ["off", "exact", "all"] {
            // What the machine can do is settled from the first call on, or in the middle, where all that is remembered is forgotten.
            for measure in ["off", "on"] {
                let variables = [ALL[0], ("HYPERCOLL_COMPARE", compare), ("HYPERCOLL_MEASURE", measure)];
                let output = through_hypercoll(&variables, ranks, &program, &[]);
                assert_eq!(output.code, Some(0), "{}", output.told());
                assert_eq!(output.stdout.matches("all is well").count(), ranks, "{}", output.told());
            }
        }
    }
}

/// What a tuning file says of native MPI all ranks take from the call alone, and not from what each remembers.
#[test]
fn ranks_with_a_tuning_file_agree() {
    let program = built("tests/programs/tuned.c", "tuned", &[]);
    let output = mpirun_with(&[], 2, &program, &["where"]);
    let (host, library) = output.stdout.split_once('\n').expect("a host and an MPI");
    let (host, mpi) = (host_name(host), mpi_name(library));
    let text = format!(
        "[machine]\nhost = '{host}'\ncpu = ''\nmpi = '{mpi}'\nhosts = 1\nranks = 2\nhypercoll = '{}'\ndate = ''\n\
         [parameters]\ntau = 1e-6\nhop = 1e-6\nt_c = 1e-9\nports = 1\npairs_linked = true\npacket = 4096\nburst = 0\n\
         eager = 65536\n[shared_memory]\ncores = 2\n[checked]\nranks = '1 x 2'\n\
         times = [{{ collective = 'all-reduce', bytes = 40, algorithm = 'native', time = 1e-9 }}]\n",
        env!("CARGO_PKG_VERSION")
    );
    let file = place("tuned.toml");
    std::fs::write(&file, text).expect("a place for a file");
    let tuning = [ALL[0], ALL[1], ("HYPERCOLL_TUNING", file.to_str().expect("a path"))];
    // (With a report, nothing is remembered.)
    for report in [&[][..], &[("HYPERCOLL_REPORT", "-")]] {
        let output = through_hypercoll(&[&tuning, report].concat(), 2, &program, &[]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 2, "{}", output.told());
        let said = ["MPI: measured faster", "ours: "].map(|by| output.stdout.contains(by));
        assert_eq!(said, [!report.is_empty(); 2], "{}", output.told());
    }
}

/// Ranks that a program spawns need not have the library before them: what they have in common with others is MPI's.
#[test]
fn spawned_ranks_are_not_waited_for() {
    let program = built("tests/programs/spawned.c", "spawned", &[]);
    // Intel's can where it may go beyond the memory of the host, if only by memory that libfabric shares.
    let beyond = [("I_MPI_FABRICS", "shm:ofi"), ("FI_PROVIDER", "shm")];
    let beyond = if std::env::var_os("I_MPI_ROOT").is_some() { &beyond[..] } else { &[] };
    for from in ["1", "17"] {
        let variables = [&[("HYPERCOLL_FROM_CALL", from), ALL[1], ("HYPERCOLL_REPORT", "-")], beyond].concat();
        let output = through_hypercoll(&variables, 2, &program, &[]);
        // Debian's MPICH 4.0 can now and then not, natively either.
        if !cfg!(open_mpi) && output.stderr.contains("Error in spawn call") {
            return eprintln!("this MPI cannot spawn ranks");
        }
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 2, "{}", output.told());
        let said = output.stdout.contains("MPI: ranks of another job") && output.stdout.contains("ours: ");
        assert!(said, "{}", output.told());
    }
}

/// Communicators that come from sessions are served from MPI_Init to MPI_Finalize, their first nonblocking call included; before, after
/// and without these they are MPI's.
#[test]
fn communicators_of_sessions_are_served_like_others() {
    let Some(program) = built_if_possible("tests/programs/sessions.c", "sessions", &[]) else {
        return eprintln!("this MPI has no sessions");
    };
    let mut counts_as_init = false;
    for (arguments, ranks, shared_memory) in
        [(&[][..], 2, "single-copy"), (&[], 3, "off"), (&["within"], 3, "single-copy"), (&["alone"], 3, "single-copy")]
    {
        // (Intel's has no MPI_Init after a session has begun: MPI_Initialized says that the session was one.)
        let native = mpirun_with(&[], ranks, &program, arguments);
        if arguments != ["alone"] && native.stderr.contains("Cannot call MPI_INIT or MPI_INIT_THREAD more than once") {
            eprintln!("this MPI has no sessions beside MPI_Init: {}", native.told());
            counts_as_init = true;
            continue;
        }
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory), ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, ranks, &program, arguments);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{}", output.told());
        assert_eq!(output.stdout.contains("ours: "), arguments != ["alone"] || counts_as_init, "{}", output.told());
        assert!(arguments != ["within"] || !output.stdout.contains("no hypercube yet"), "{}", output.told());
    }
}

/// So are those of Fortran, where this MPI has sessions and Fortran.
#[test]
fn communicators_of_sessions_are_served_in_fortran() {
    if !has_fortran() || built_if_possible("tests/programs/sessions.c", "has-sessions", &[]).is_none() {
        return eprintln!("this MPI has no sessions, or no Fortran");
    }
    for (name, flags) in [("sessions-mpif", &["-cpp"][..]), ("sessions-f08", &["-cpp", "-DF08"])] {
        let program = built("tests/programs/sessions.f90", name, flags);
        let output = through_hypercoll(&[ALL[0], ALL[1], ("HYPERCOLL_REPORT", "-")], 3, &program, &[]);
        assert_eq!(output.code, Some(0), "{name}: {}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 3, "{name}: {}", output.told());
        let mut rows = output.stdout.lines().filter(|row| row.starts_with("allreduce ")).peekable();
        assert!(rows.peek().is_some() && rows.all(|row| row.contains("ours: ")), "{name}: {}", output.told());
        // (What is nonblocking is MPI's where its waits move nothing else.)
        assert!(!output.stdout.contains("no hypercube yet"), "{name}: {}", output.told());
    }
}

/// Two threads of each rank have calls on communicators of their own at the same time, in an order that differs between ranks.
#[test]
fn threads_do_not_wait_for_each_other() {
    let program = built("tests/programs/threads.c", "threads", &["-pthread"]);
    // Also where they are the first to call us, as the program has initialised MPI in another way.
    for (shared_memory, arguments) in [("single-copy", &[][..]), ("off", &[]), ("single-copy", &["late"])] {
        let variables = [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory)];
        let output = through_hypercoll(&variables, 3, &program, arguments);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 3, "{}", output.told());
    }
}

/// What is kept of a communicator goes with it. (Were nothing freed, it would be tens of kB each.)
#[test]
fn communicators_leave_nothing_behind() {
    let program = built("tests/programs/many.c", "many", &[]);
    for from in ["1", "17"] {
        let variables = [("HYPERCOLL_FROM_CALL", from), ALL[1]];
        let output = through_hypercoll(&variables, 3, &program, &["200"]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        let grown = output.stdout.lines().filter_map(|line| line.split_once(" grew by ")?.1.split(' ').next());
        let grown: Vec<u64> = grown.map(|kilobytes| kilobytes.parse().unwrap_or(0)).collect();
        assert!(grown.len() == 3 && grown.iter().all(|&kilobytes| kilobytes < 2000), "{}", output.told());
    }
}

/// Short blocks of memory are not the program's: what it has freed, and looks at, is not overwritten by what is allocated here.
#[cfg(target_env = "gnu")]
#[test]
fn the_heap_of_the_program_is_left_alone() {
    let program = built("tests/programs/heap.c", "heap", &[]);
    let output = through_hypercoll(&ALL, 2, &program, &[]);
    assert_eq!(output.code, Some(0), "{}", output.told());
    assert_eq!(output.stdout.matches(": 0 short blocks").count(), 2, "{}", output.told());
    assert!(!output.stdout.contains("nothing is counted"), "{}", output.told());
}

/// A program has room for as many communicators as natively: hypercubes take only some.
#[test]
fn communicators_leave_room_for_others() {
    let program = built("tests/programs/plenty.c", "plenty", &[]);
    // That of all ranks makes no call, and is served from the first one on.
    for (from, of_all) in [("1", 1), ("17", 0)] {
        let variables = [("HYPERCOLL_FROM_CALL", from), ALL[1], ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, 2, &program, &[]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), 2, "{}", output.told());
        // All, or, where MPI has no more than 2000 or so, some, and one more when another is gone.
        let served = if cfg!(open_mpi) { 1901 + of_all } else { 129 };
        assert!(output.stdout.contains(&format!(" {served} communicators of rank 0 served")), "{}", output.told());
    }
}

/// By itself native MPI is tried out only where nobody can see by the result who has made a call. Of two ranks' numbers there is but one
/// sum.
#[test]
fn sums_of_floating_point_numbers_do_not_depend_on_the_time() {
    let program = built("tests/programs/sums.c", "sums", &[]);
    let tried = |ranks: usize, compare: &str, bytes: &str| {
        let variables = [ALL[0], ("HYPERCOLL_COMPARE", compare), ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, ranks, &program, &["100"]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        let rows = output.stdout.lines().filter(|row| row.starts_with("allreduce") && row.contains(bytes));
        let rows: Vec<&str> = rows.collect();
        assert!(!rows.is_empty(), "{}", output.told());
        let tried = rows.iter().any(|row| row.contains("MPI: tried out"));
        // Of what is ours the report then says what it would take natively.
        let unknown = |row: &&str| row.contains("ours: ") && row.split_whitespace().any(|word| word == "-");
        assert_eq!(rows.iter().any(unknown), !tried, "{}", output.told());
        let won = output.stdout.contains("\nCalls that are ours, from when native MPI was tried, too: ");
        assert_eq!(won, compare != "off", "{}", output.told());
        tried
    };
    let (numbers, integers) = ("1 to 15", "from 256");
    assert_eq!(["off", "exact", "all"].map(|compare| tried(3, compare, numbers)), [false, false, true]);
    assert_eq!(["off", "exact", "all"].map(|compare| tried(3, compare, integers)), [false, true, true]);
    assert_eq!(["off", "exact", "all"].map(|compare| tried(2, compare, numbers)), [false, true, true]);
}

/// Blocks may have other lengths in every call, of which each rank knows its own. Whether native MPI moves them faster is tried out as well.
#[test]
fn lengths_may_be_others_in_every_call() {
    let program = built("tests/programs/lengths.c", "lengths", &[]);
    // So many that it is decided, and tried again.
    for (ranks, compare, many) in
        [(2, "off", "100"), (5, "off", "100"), (2, "exact", "1500"), (3, "exact", "800"), (5, "exact", "800")]
    {
        let tried = compare != "off";
        let variables = [ALL[0], ("HYPERCOLL_COMPARE", compare), ("HYPERCOLL_REPORT", "-")];
        let output = through_hypercoll(&variables, ranks, &program, &[many]);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{}", output.told());
        for name in ["alltoallv", "gatherv", "scatterv", "allgatherv", "reduce_scatter"] {
            let by = |who: &str| output.stdout.lines().any(|row| row.starts_with(name) && row.contains(who));
            assert_eq!((by("ours: "), by("MPI: tried out")), (true, tried), "{name}: {}", output.told());
        }
    }
}
