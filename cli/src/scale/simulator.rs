//! Runs of SimGrid, each a process of its own.

use super::network::{EAGER, NEAR_LATENCY, OVERHEAD, UNIT};
use hypercoll::collective::Collective;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The program that makes the selectors' collectives.
const SELECTOR: &str = include_str!("selector.cpp");
/// What is loaded before SimGrid with it.
const LEADERS: &str = include_str!("leaders.cpp");

/// SimGrid's own choices of algorithms.
pub const SELECTORS: [&str; 3] = ["ompi", "mpich", "mvapich2"];

/// A collective out of traces, which are read while they run, may take as long as so many of a selector's program.
const TRACES_TAKE: usize = 3;

/// SimGrid, in a directory for its files.
pub struct SimGrid {
    directory: PathBuf,
    /// Seconds after which a collective is given up.
    limit: u64,
    /// When all runs are.
    end: Option<Instant>,
}

/// What takes time besides the links.
#[derive(Clone, Copy)]
pub enum Software {
    /// Nothing, as in the papers.
    Free,
    /// [`OVERHEAD`] for each message that a rank starts without waiting for it, and for each that it has received.
    Overheads,
}

impl SimGrid {
    /// Makes the selectors' program.
    ///
    /// # Errors
    /// What is missing, and how to come by it.
    pub fn new(directory: &Path, limit: u64, end: Option<Instant>) -> Result<SimGrid, String> {
        let failed = |error| format!("cannot write to {}: {error}", directory.display());
        fs::create_dir_all(directory).map_err(failed)?;
        let directory = directory.canonicalize().map_err(failed)?;
        for (name, source, shared) in
            [("selector", SELECTOR, None), ("leaders.so", LEADERS, Some(["-fPIC", "-shared"]))]
        {
            let file = format!("{name}.cpp");
            fs::write(directory.join(&file), source).map_err(failed)?;
            let mut compiler = Command::new("smpicxx");
            compiler.args(["-std=c++17", "-O1", &file, "-o", name]).args(shared.into_iter().flatten());
            match compiler.current_dir(&directory).output() {
                Ok(output) if output.status.success() => {}
                Ok(output) => return Err(format!("smpicxx: {}", String::from_utf8_lossy(&output.stderr))),
                Err(error) => return Err(format!("smpicxx: {error}; scripts/setup --simgrid installs SimGrid")),
            }
        }
        Ok(SimGrid { directory, limit: limit.max(1), end })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether there is no time for more.
    pub fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Seconds that a run of so many collectives may take that begins now.
    fn patience(&self, collectives: usize) -> u64 {
        let all = self.limit.saturating_mul(collectives as u64);
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()).as_secs());
        left.map_or(all, |left| left.clamp(1, all))
    }

    /// Seconds that exported traces take; `None` if the run did not come to its end.
    pub fn traces(&self, ranks: &Ranks, list: &Path, software: Software) -> Option<f64> {
        let mut command = self.command(ranks, software, TRACES_TAKE);
        command.arg("-replay").arg(list).args(["--log=root.fmt:%m%n"]);
        let text = self.output(command, ranks);
        let time = text.lines().find_map(|line| line.strip_prefix("Simulation time "))?;
        time.trim().parse().ok().map(|time: f64| time / UNIT)
    }

    /// Seconds that each of some collectives of so many bytes takes by a selector; `None` for those that it has not come to the end of.
    pub fn selector(&self, ranks: &Ranks, selector: &str, calls: &[(Collective, usize)]) -> Vec<Option<f64>> {
        let mut times = Vec::with_capacity(calls.len());
        while times.len() < calls.len() && !self.is_late() {
            times.extend(self.as_far_as_it_comes(ranks, selector, &calls[times.len()..]));
            // The one that the run did not come to the end of; those after it are another run's.
            if times.len() < calls.len() {
                times.push(None);
            }
        }
        times.resize(calls.len(), None);
        times
    }

    /// The same of the first ones, as far as all ranks come.
    fn as_far_as_it_comes(&self, ranks: &Ranks, selector: &str, calls: &[(Collective, usize)]) -> Vec<Option<f64>> {
        // One more: what is made before the first.
        let mut command = self.command(ranks, Software::Overheads, calls.len() + 1);
        command.arg(format!("--cfg=smpi/coll-selector:{selector}")).arg("--log=root.thresh:error");
        command.arg("-wrapper").arg(format!("env LD_PRELOAD={}", self.directory.join("leaders.so").display()));
        command.arg(self.directory.join("selector")).arg(self.limit.to_string());
        for (collective, bytes) in calls {
            command.args([collective.name(), &bytes.to_string()]);
        }
        let text = self.output(command, ranks);
        let mut clocks = vec![(0, 0.0f64); calls.len()];
        for (call, time) in text.lines().filter_map(clock) {
            if let Some((through, last)) = clocks.get_mut(call) {
                (*through, *last) = (*through + 1, last.max(time / UNIT));
            }
        }
        let complete = clocks.into_iter().take_while(|(through, _)| *through == ranks.size);
        // MVAPICH2's all-gather of short blocks returns at once on hosts with several ranks, and has sent nothing.
        complete.map(|(_, time)| (time >= NEAR_LATENCY).then_some(time)).collect()
    }

    fn command(&self, ranks: &Ranks, software: Software, collectives: usize) -> Command {
        // In a process group of its own, all of which `timeout` ends.
        let mut command = Command::new("timeout");
        let patience = self.patience(collectives).to_string();
        command.args(["-k", "5", &patience, "smpirun", "-np", &ranks.size.to_string()]);
        command.arg("-platform").arg(&ranks.platform).arg("-hostfile").arg(&ranks.hosts);
        // Messages take the latency of their links, and share bandwidth evenly: no factors, no windows of TCP, no traffic back.
        for setting in ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e30", "network/weight-S:0"]
        {
            command.arg(format!("--cfg={setting}"));
        }
        // Neither program has variables that ranks would have to have each for itself: a copy of it for each of them.
        for setting in ["host-speed:1Gf", "simulate-computation:no", "async-small-thresh:0", "privatization:no"] {
            command.arg(format!("--cfg=smpi/{setting}"));
        }
        match software {
            // A send is through when its message is.
            Software::Free => {
                command.arg("--cfg=smpi/send-is-detached-thresh:0");
            }
            Software::Overheads => {
                // A send of up to 64 KiB is through at once, as is usual.
                command.arg(format!("--cfg=smpi/send-is-detached-thresh:{EAGER}"));
                for each in ["os", "ois", "or"] {
                    command.arg(format!("--cfg=smpi/{each}:0:{}:0", OVERHEAD * UNIT));
                }
            }
        }
        command
    }

    /// What a run prints, as far as it comes.
    fn output(&self, mut command: Command, ranks: &Ranks) -> String {
        let path = ranks.hosts.with_extension("out");
        let Some((file, errors)) = File::create(&path).ok().and_then(|file| Some((file.try_clone().ok()?, file)))
        else {
            return String::new();
        };
        let ended = command.stdin(Stdio::null()).stdout(file).stderr(errors).current_dir(&self.directory).status();
        let text = ended.and_then(|_| fs::read(&path)).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// A line of the selectors' program.
fn clock(line: &str) -> Option<(usize, f64)> {
    let mut words = line.strip_prefix("clock ")?.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Ranks on the hosts of a platform.
pub struct Ranks {
    pub size: usize,
    platform: PathBuf,
    hosts: PathBuf,
}

impl Ranks {
    /// Writes the platform, and which rank is on which host, to files that begin with `name`.
    pub fn write(
        simgrid: &SimGrid,
        name: &str,
        size: usize,
        per_host: usize,
        platform: &str,
    ) -> std::io::Result<Ranks> {
        let path = |extension: &str| simgrid.directory.join(format!("{name}.{extension}"));
        let ranks = Ranks { size, platform: path("xml"), hosts: path("hosts") };
        fs::write(&ranks.platform, platform)?;
        let hosts: String = (0..size).map(|rank| format!("h{}\n", rank / per_host)).collect();
        fs::write(&ranks.hosts, hosts)?;
        Ok(ranks)
    }
}
