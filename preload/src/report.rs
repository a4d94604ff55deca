//! The report of a run: what was called, how often, with how much, what served it, how long it took, and what it would have natively.

mod written;

use crate::kind::{Form, Kind};
use crate::native::{ffi, SUCCESS};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::fmt::Write;
use std::time::Instant;

/// What served a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum By {
    /// An algorithm of the library.
    Ours(&'static str),
    /// Native MPI, and why.
    Mpi(&'static str),
}

/// Sizes from a power of 16 bytes on are a class.
fn class(bytes: usize) -> u32 {
    bytes.checked_ilog2().map_or(0, |log| 1 + log / 4)
}

#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Row {
    calls: u64,
    bytes: u64,
    seconds: f64,
    /// Of how many of them it is known what such calls take natively, what these have taken, and what they would natively.
    tried: u64,
    tried_seconds: f64,
    natively: f64,
}

impl Row {
    /// What all of them would take natively, if those before anything was known are like the others.
    fn all_natively(&self) -> Option<f64> {
        (self.tried > 0).then(|| self.natively / self.tried as f64 * self.calls as f64)
    }
}

/// What one rank has counted.
pub struct Report {
    rows: BTreeMap<((Kind, Form), u32, By), Row>,
    since: Instant,
}

/// The same of all ranks: of the rank that has most, and the mean of those that have any.
#[derive(Clone, Default, PartialEq, Debug)]
struct Merged {
    ranks: u64,
    calls: u64,
    bytes: u64,
    most_seconds: f64,
    all_seconds: f64,
    /// Calls of a rank, its time, and its number, of all ranks.
    of_ranks: Vec<(u64, f64, usize)>,
    /// Ranks that know what such calls take natively, and that of all their calls together.
    know: u64,
    natively: f64,
    /// What those calls of all ranks took of which it was known then, and what they would natively.
    tried: (f64, f64),
}

impl Merged {
    fn mean(&self) -> f64 {
        self.all_seconds / self.ranks.max(1) as f64
    }

    /// The rank that the others have likely waited for: of those with most calls the one that they took the least time.
    fn last(&self) -> Option<usize> {
        let all = || self.of_ranks.iter().filter(|of| of.0 == self.calls);
        let least = all().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (all().count() > 1).then_some(least.2)
    }

    fn mean_natively(&self) -> Option<f64> {
        (self.know > 0).then(|| self.natively / self.know as f64)
    }

    /// How much longer the rank with most time took than the mean one.
    fn imbalance(&self) -> f64 {
        let mean = self.mean();
        if mean > 0.0 {
            self.most_seconds / mean
        } else {
            1.0
        }
    }
}

impl Report {
    pub fn new() -> Report {
        Report { rows: BTreeMap::new(), since: Instant::now() }
    }

    /// Counts a call, that took so long, and would natively, where that has been tried.
    pub fn note(&mut self, what: (Kind, Form), bytes: usize, by: By, seconds: f64, natively: Option<f64>) {
        let row = self.rows.entry((what, class(bytes), by)).or_default();
        row.calls += 1;
        row.bytes += bytes as u64;
        row.seconds += seconds;
        if let Some(natively) = natively {
            row.tried += 1;
            row.tried_seconds += seconds;
            row.natively += natively;
        }
    }

    fn lines(&self, rank: c_int, host: &str) -> String {
        let mut lines = format!("{rank}\t{host}\n");
        for (((kind, form), class, by), row) in &self.rows {
            let (who, what) = match by {
                By::Ours(algorithm) => ("ours", algorithm),
                By::Mpi(why) => ("native", why),
            };
            let (name, Row { calls, bytes, seconds, tried_seconds, natively, .. }) = (form.name(*kind), row);
            let all = row.all_natively().map_or(String::new(), |seconds| seconds.to_string());
            let _ = write!(lines, "{name}\t{class:02}\t{who}\t{what}\t{calls}\t{bytes}\t{seconds}");
            let _ = writeln!(lines, "\t{all}\t{tried_seconds}\t{natively}");
        }
        lines
    }
}

/// By collective, class, and what served them.
type Rows = BTreeMap<(String, u32, String, String), Merged>;

/// The rows of all ranks, and the hosts that they are on.
fn merged(all: &str) -> (Rows, usize) {
    let (mut rows, mut hosts, mut rank) = (Rows::new(), BTreeSet::new(), 0);
    for line in all.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        if let &[number, host] = &words[..] {
            rank = number.parse().unwrap_or(0);
            hosts.insert(host);
        }
        let &[name, class, who, what, calls, bytes, seconds, natively, tried, tried_natively] = &words[..] else {
            continue;
        };
        let key = (name.to_string(), class.parse().unwrap_or(0), who.to_string(), what.to_string());
        let row = rows.entry(key).or_default();
        let seconds: f64 = seconds.parse().unwrap_or(0.0);
        row.ranks += 1;
        let calls = calls.parse().unwrap_or(0);
        row.of_ranks.push((calls, seconds, rank));
        row.calls = row.calls.max(calls);
        row.bytes = row.bytes.max(bytes.parse().unwrap_or(0));
        row.most_seconds = row.most_seconds.max(seconds);
        row.all_seconds += seconds;
        row.tried.0 += tried.parse().unwrap_or(0.0);
        row.tried.1 += tried_natively.parse().unwrap_or(0.0);
        if let Ok(natively) = natively.parse::<f64>() {
            row.know += 1;
            row.natively += natively;
        }
    }
    (rows, hosts.len())
}

/// The lines of all ranks, and their number, on rank 0 of the program's.
fn gathered(report: &Report) -> Option<(usize, String)> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    let host = mpi::environment::processor_name().unwrap_or_default();
    // SAFETY: MPI is up; the buffers are as long as is said.
    unsafe {
        let world = ffi::RSMPI_COMM_WORLD;
        ffi::PMPI_Comm_rank(world, &mut rank);
        ffi::PMPI_Comm_size(world, &mut size);
        let lines = report.lines(rank, host.trim_end_matches('\0'));
        let mine = lines.len() as c_int;
        let mut counts: Vec<c_int> = vec![0; size as usize];
        let int = ffi::RSMPI_INT32_T;
        let own = (&raw const mine).cast::<c_void>();
        ffi::PMPI_Gather(own, 1, int, counts.as_mut_ptr().cast(), 1, int, 0, world);
        let starts: Vec<c_int> = counts
            .iter()
            .scan(0, |end, count| {
                let start = *end;
                *end += count;
                Some(start)
            })
            .collect();
        let mut all = vec![0u8; counts.iter().map(|&count| count as usize).sum()];
        let byte = ffi::RSMPI_UINT8_T;
        let from = lines.as_ptr().cast::<c_void>();
        // What is empty is nowhere in Rust: at address 1, which is Open MPI's `MPI_IN_PLACE`.
        let into = if all.is_empty() { std::ptr::null_mut() } else { all.as_mut_ptr().cast::<c_void>() };
        let code = ffi::PMPI_Gatherv(from, mine, byte, into, counts.as_ptr(), starts.as_ptr(), byte, 0, world);
        (rank == 0 && code == SUCCESS).then(|| (size as usize, String::from_utf8_lossy(&all).into_owned()))
    }
}

/// Writes the report of all ranks, which call this together, to a file, or to standard output if it is `-`: as JSON if its name says so.
pub fn write(report: Report, served: u64, target: &str) {
    let seconds = report.since.elapsed().as_secs_f64();
    let Some((ranks, all)) = gathered(&report) else { return };
    let (rows, hosts) = merged(&all);
    let run = Run { ranks, hosts, seconds, served };
    let text = if target.ends_with(".json") { written::json(&run, &rows) } else { written::table(&run, &rows) };
    let written = match target {
        "-" => {
            print!("{text}");
            Ok(())
        }
        file => std::fs::write(file, text),
    };
    if let Err(error) = written {
        eprintln!("hypercoll: the report cannot be written to {target}: {error}");
    }
}

/// What a report is of.
struct Run {
    ranks: usize,
    hosts: usize,
    seconds: f64,
    /// Communicators of rank 0 that have been served.
    served: u64,
}
