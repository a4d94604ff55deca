//! What is wrong in a program is said on all ranks, with its place, and ends as MPI says.

mod common;

use common::{built, place, through_hypercoll, ALL, OFF};

/// What ranks find wrong between them comes to C as to Rust: on all ranks the same, by the error handler of the communicator.
#[test]
fn wrong_programs_get_errors_on_all_ranks() {
    let program = built("tests/programs/wrong.c", "wrong", &["-g"]);
    let differ = [
        "rank 1 called barrier",
        "rank 1 called all-reduce (call 4, 5 x MPI_INT",
        "mpi_max",
        // (Four calls of ours among them.)
        "rank 1 called all-reduce (call 106, 1 x MPI_INT",
    ];
    for (what, told) in ["calls", "lengths", "operations", "known"].into_iter().zip(differ) {
        let output = through_hypercoll(&ALL, 3, &program, &[what, "return"]);
        assert_eq!(output.code, Some(0), "{what}: {}", output.told());
        // MPICH 4.0 keeps no text of ours: it goes to standard error, that of the second error as well.
        let kept = cfg!(open_mpi) || !output.stdout.contains("class other: Other MPI error");
        let (texts, times) = if kept { (&output.stdout, 1) } else { (&output.stderr, 2) };
        for rank in 0..3 {
            let class = if kept { format!("rank {rank} class other: ") } else { String::new() };
            let said = texts.matches(&format!("{class}hypercoll: rank {rank}: ")).count();
            assert_eq!(said, times, "{}", output.told());
            let said =
                output.stdout.lines().filter(|line| line.starts_with(&format!("rank {rank}: and then an error")));
            assert_eq!(said.count(), 1, "{}", output.told());
        }
        for told in [told, " at main (wrong.c:"] {
            assert_eq!(texts.matches(told).count(), 3 * times, "{what}: {}", output.told());
        }
        // The usual error handler ends the job, and the text is said in full.
        let output = through_hypercoll(&ALL, 3, &program, &[what]);
        assert!(!matches!(output.code, Some(0) | None), "{what}: {}", output.told());
        assert!(output.stderr.contains(told) && !output.stdout.contains("no error"), "{what}: {}", output.told());
    }
    // Also where the others ask each other before their 8th call.
    for arguments in [&["leaves"][..], &["leaves-later", "stop", "3"], &["leaves-later", "stop", "4"]] {
        let output = through_hypercoll(&ALL, 3, &program, arguments);
        // Some launchers end the job before any rank says a word, and MPICH 5's takes that for a success.
        // Open MPI's launcher says nothing of its own.
        let silent = |said: &&String| if cfg!(open_mpi) { said.is_empty() } else { !said.contains("rank ") };
        let launcher = output.code.is_some() && [&output.stdout, &output.stderr].iter().all(silent);
        let said = [&output.stdout, &output.stderr].iter().any(|text| text.contains("rank 1 has ended"));
        assert!(said || launcher, "{}", output.told());
    }
    // Nor does a rank wait for ever, or in silence, where ranks meet before a call is ours.
    let patience = [("HYPERCOLL_ROLL_CALL", "1"), ("HYPERCOLL_TIMEOUT", "2,error")];
    let output =
        through_hypercoll(&[("HYPERCOLL_FROM_CALL", "4"), patience[0], patience[1]], 3, &program, &["away", "return"]);
    let said = output.stdout.clone() + &output.stderr;
    for said_of in [
        "allreduce: no progress for 1 s; not all ranks of the communicator have called it; this one from main (wrong.c:",
        "rank 2: and then an error",
    ] {
        assert!(said.contains(said_of), "{said_of}: {}", output.told());
    }
    let ended = |line: &str| line.contains(": allreduce at main (wrong.c:") && line.contains("): HYPERCOLL_TIMEOUT: ");
    assert!(said.lines().any(ended), "{}", output.told());
    // And it says from where in the program it waits, to the ranks of its host and to others.
    for (shared_memory, late) in [("two-copies", "late"), ("off", "late"), ("two-copies", "late-wait")] {
        let report = place("late.json");
        let report = report.to_str().expect("a path");
        let variables =
            [ALL[0], ALL[1], ("HYPERCOLL_SHARED_MEMORY", shared_memory), patience[0], ("HYPERCOLL_REPORT", report)];
        let output = through_hypercoll(&variables, 3, &program, &[late]);
        assert_eq!((output.code, output.stdout.matches("no error").count()), (Some(0), 3), "{}", output.told());
        if late == "late-wait" && cfg!(not(open_mpi)) {
            // Such calls are MPICH's own.
            continue;
        }
        let roll = output.stderr.lines().find(|line| line.contains("no progress for 1 s. "));
        let calls = roll.map_or(0, |roll| roll.matches("in all-reduce (call ").count());
        let lines = roll.map_or(0, |roll| roll.matches(", called from main (wrong.c:").count());
        assert!(calls > 0 && lines == calls, "{}", output.told());
        let told = std::fs::read_to_string(report).expect("a report");
        for told_of in ["\"hosts\":1,", "\"program\":\"", "\"date\":\"20", "\"ranks\":3,"] {
            assert!(told.lines().next().is_some_and(|head| head.contains(told_of)), "{told_of}: {told}");
        }
        let name = if late == "late" { "\"allreduce\"" } else { "\"iallreduce\"" };
        let mut rows = told.lines().filter(|row| row.contains(name));
        assert!(rows.any(|row| row.contains("\"least_rank\":1,") && row.contains("\"ranks\":3,")), "{told}");
    }
    // A program without symbols is told by addresses.
    let output = through_hypercoll(&ALL, 3, &built("tests/programs/wrong.c", "bare", &["-s"]), &["calls"]);
    assert!(output.stderr.contains("rank 2: allreduce at bare+0x"), "{}", output.told());
    // Over shared memory, and where MPI's messages are all there is.
    let output = through_hypercoll(&[ALL[0], ALL[1], OFF], 3, &program, &["calls", "return"]);
    let texts = [&output.stdout, &output.stderr].map(|text| text.matches(differ[0]).count());
    assert!(output.code == Some(0) && (texts == [3, 0] || !cfg!(open_mpi) && texts == [0, 6]), "{}", output.told());
    let output = through_hypercoll(&[ALL[0], ALL[1], OFF], 3, &program, &["calls"]);
    assert!(!matches!(output.code, Some(0) | None) && output.stderr.contains(differ[0]), "{}", output.told());
    let output = through_hypercoll(&ALL, 3, &program, &["nothing"]);
    assert_eq!((output.code, output.stdout.matches("no error").count()), (Some(0), 3), "{}", output.told());
}

/// See the program: what depends on the number of calls comes about on all ranks at a time.
#[test]
fn a_call_that_mpi_refuses_does_not_count() {
    let program = built("tests/programs/alone.c", "alone", &[]);
    for (ranks, variables, arguments) in
        [(2, &[][..], &[][..]), (3, &ALL, &[]), (2, &[], &["long"]), (3, &[OFF], &["long"])]
    {
        let output = through_hypercoll(variables, ranks, &program, arguments);
        assert_eq!(output.code, Some(0), "{}", output.told());
        assert_eq!(output.stdout.matches("all is well").count(), ranks, "{}", output.told());
    }
}
