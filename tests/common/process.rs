//! Runs programs with a hard time limit, and leaves no process behind.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The hard limit of a run. The longest, `verify --all` on 16 ranks, takes four minutes in a debug build on two cores that ten others
/// want.
const LIMIT: Duration = Duration::from_secs(1800);

/// A rank that makes no progress in a collective for so many seconds ends its job and says for whom it waits (the library's own
/// limit, over MPI).
const PATIENCE: &str = "60";

/// What a program did.
#[derive(Debug)]
pub struct Output {
    /// The exit code; `None` if it was ended by a signal or by the limit.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
    pub timed_out: bool,
}

impl Output {
    /// Everything that the program said, for the message of a failed test.
    pub fn told(&self) -> String {
        let verdict = if self.timed_out { "ended at the time limit" } else { "ended by itself" };
        format!(
            "{verdict} after {:.1} s with code {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.seconds, self.code, self.stdout, self.stderr
        )
    }
}

/// Runs a program to its end, or until it makes no progress, or to the hard limit.
pub fn run(command: Command) -> Output {
    run_for(LIMIT, command)
}

/// Runs a program in a process group of its own, without standard input, for `limit` at most.
///
/// All processes that come of it carry a mark in their environment, as launchers move ranks to groups of their own. At
/// the limit all are killed. However it ends, no process with the mark may be left.
pub fn run_for(limit: Duration, mut command: Command) -> Output {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    // Of tests inside the library Cargo says no place.
    let place = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, std::path::PathBuf::from);
    // Files and not pipes: a forgotten process that held a pipe open would stop the test too.
    let files = ["out", "err"].map(|kind| place.join(format!("run-{mark}.{kind}")));
    for (at, file) in files.iter().enumerate() {
        let stream = Stdio::from(File::create(file).expect("a file for the output"));
        _ = if at == 0 { command.stdout(stream) } else { command.stderr(stream) };
    }
    command.env("HYPERCOLL_TEST_RUN", &mark).stdin(Stdio::null());
    if !command.get_envs().any(|(name, _)| name == "HYPERCOLL_TIMEOUT") {
        command.env("HYPERCOLL_TIMEOUT", PATIENCE);
    }
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let start = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut timed_out = false;
    while !timed_out && child.try_wait().expect("the state of the process").is_none() {
        std::thread::sleep(Duration::from_millis(5));
        timed_out = start.elapsed() >= limit;
    }
    let seconds = start.elapsed().as_secs_f64();
    if timed_out {
        kill(&format!("-{}", child.id()));
    }
    // A rank may be on its way out when its launcher has gone; after a kill it may not have heard of it.
    let patience = Instant::now();
    while !timed_out && !marked(&mark).is_empty() && patience.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let left: Vec<u32> = marked(&mark);
    for _ in 0..100 {
        let alive = marked(&mark);
        if alive.is_empty() {
            break;
        }
        alive.iter().for_each(|pid| kill(&pid.to_string()));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(marked(&mark), [0u32; 0], "{command:?}: processes that cannot be killed");
    // It has ended or has been killed, so this does not wait for long.
    let code = child.wait().expect("the end of the process").code();
    let [stdout, stderr] = files.map(|file| {
        let text = String::from_utf8_lossy(&std::fs::read(&file).expect("the output")).into_owned();
        std::fs::remove_file(&file).expect("the file is ours");
        text
    });
    let output = Output { code, stdout, stderr, seconds, timed_out };
    assert!(timed_out || left.is_empty(), "{command:?} left processes {left:?} behind; it {}", output.told());
    output
}

/// Kills a process, or, with a minus sign, a process group.
fn kill(target: &str) {
    // The shell's own kill: there may be no other in a minimal system. Dash knows `--` after `-s` only.
    let _ = Command::new("sh").args(["-c", &format!("kill -s KILL -- {target} 2>/dev/null")]).status();
}

/// The live processes of a run, zombies left out.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("HYPERCOLL_TEST_RUN={mark}");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|pid| {
            // The environment of a zombie is empty.
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
        })
        .collect()
}
