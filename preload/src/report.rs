//! The report of a run: what was called, how often, with how much, what served it, and how long it took.

use crate::kind::{Form, Kind};
use crate::native::{ffi, SUCCESS};
use std::collections::BTreeMap;
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

fn class_name(class: u32) -> String {
    let words = |bytes: u64| match bytes.trailing_zeros() {
        log @ 0..10 => format!("{}", 1u64 << log),
        log @ 10..20 => format!("{} KiB", 1u64 << (log - 10)),
        log @ 20..30 => format!("{} MiB", 1u64 << (log - 20)),
        log => format!("{} GiB", 1u64 << (log - 30)),
    };
    match class {
        0 => "0".into(),
        1 => "1 to 15".into(),
        _ => format!("from {}", words(1 << (4 * (class - 1)))),
    }
}

#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Row {
    calls: u64,
    bytes: u64,
    seconds: f64,
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
}

impl Merged {
    fn mean(&self) -> f64 {
        self.all_seconds / self.ranks.max(1) as f64
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

    pub fn note(&mut self, what: (Kind, Form), bytes: usize, by: By, seconds: f64) {
        let row = self.rows.entry((what, class(bytes), by)).or_default();
        row.calls += 1;
        row.bytes += bytes as u64;
        row.seconds += seconds;
    }

    fn lines(&self) -> String {
        let mut lines = String::new();
        for (((kind, form), class, by), row) in &self.rows {
            let (who, what) = match by {
                By::Ours(algorithm) => ("ours", algorithm),
                By::Mpi(why) => ("native", why),
            };
            let (name, Row { calls, bytes, seconds }) = (form.name(*kind), row);
            let _ = writeln!(lines, "{name}\t{class:02}\t{who}\t{what}\t{calls}\t{bytes}\t{seconds}");
        }
        lines
    }
}

/// The rows of all ranks by collective, class, and what served them.
fn merged(all: &str) -> BTreeMap<(String, u32, String, String), Merged> {
    let mut rows: BTreeMap<_, Merged> = BTreeMap::new();
    for line in all.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let &[name, class, who, what, calls, bytes, seconds] = &words[..] else { continue };
        let key = (name.to_string(), class.parse().unwrap_or(0), who.to_string(), what.to_string());
        let row = rows.entry(key).or_default();
        let seconds: f64 = seconds.parse().unwrap_or(0.0);
        row.ranks += 1;
        row.calls = row.calls.max(calls.parse().unwrap_or(0));
        row.bytes = row.bytes.max(bytes.parse().unwrap_or(0));
        row.most_seconds = row.most_seconds.max(seconds);
        row.all_seconds += seconds;
    }
    rows
}

/// The lines of all ranks, on rank 0 of the program's.
fn gathered(lines: &str) -> Option<(usize, String)> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    let mine = lines.len() as c_int;
    // SAFETY: MPI is up; the buffers are as long as is said.
    unsafe {
        let world = ffi::RSMPI_COMM_WORLD;
        ffi::PMPI_Comm_rank(world, &mut rank);
        ffi::PMPI_Comm_size(world, &mut size);
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
        // What is empty is nowhere in Rust: at address 1, which is Open MPI's `MPI_IN_PLACE`.
        let from = if lines.is_empty() { std::ptr::null() } else { lines.as_ptr().cast::<c_void>() };
        let into = if all.is_empty() { std::ptr::null_mut() } else { all.as_mut_ptr().cast::<c_void>() };
        let code = ffi::PMPI_Gatherv(from, mine, byte, into, counts.as_ptr(), starts.as_ptr(), byte, 0, world);
        (rank == 0 && code == SUCCESS).then(|| (size as usize, String::from_utf8_lossy(&all).into_owned()))
    }
}

/// Writes the report of all ranks, which call this together, to a file, or to standard output if it is `-`: as JSON if its name says so.
pub fn write(report: Report, served: u64, target: &str) {
    let seconds = report.since.elapsed().as_secs_f64();
    let Some((ranks, all)) = gathered(&report.lines()) else { return };
    let rows = merged(&all);
    let text = match target.ends_with(".json") {
        true => json(ranks, served, seconds, &rows),
        false => table(ranks, served, seconds, &rows),
    };
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

type Rows = BTreeMap<(String, u32, String, String), Merged>;

fn table(ranks: usize, served: u64, seconds: f64, rows: &Rows) -> String {
    let mut text = format!(
        "hypercoll: {ranks} ranks, {seconds:.3} s, {served} communicators of rank 0 served. Calls and bytes of the rank that has most; \
         times in seconds.\n"
    );
    let heads = ["collective", "bytes", "calls", "bytes in all", "mean time", "most/mean", "served by"];
    let _ = writeln!(
        text,
        "{:<20} {:<13} {:>10} {:>15} {:>10} {:>9}  {}",
        heads[0], heads[1], heads[2], heads[3], heads[4], heads[5], heads[6]
    );
    for ((name, class, who, what), row) in rows {
        let by = if who == "ours" { format!("ours: {what}") } else { format!("MPI: {what}") };
        let (class, mean, most) = (class_name(*class), row.mean(), row.imbalance());
        let (calls, bytes) = (row.calls, row.bytes);
        let _ = writeln!(text, "{name:<20} {class:<13} {calls:>10} {bytes:>15} {mean:>10.6} {most:>9.2}  {by}");
    }
    if rows.is_empty() {
        text.push_str("no collective was called\n");
    }
    text
}

/// Names and reasons have no characters that JSON would want to be marked.
fn json(ranks: usize, served: u64, seconds: f64, rows: &Rows) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|((name, class, who, what), row)| {
            let from = if *class == 0 { 0 } else { 1u64 << (4 * (class - 1)) };
            let key = if who == "ours" { "algorithm" } else { "why" };
            format!(
                "{{\"collective\":\"{name}\",\"from_bytes\":{from},\"served_by\":\"{who}\",\"{key}\":\"{what}\",\
                 \"ranks\":{},\"calls\":{},\"bytes\":{},\"mean_seconds\":{:e},\"most_seconds\":{:e}}}",
                row.ranks,
                row.calls,
                row.bytes,
                row.mean(),
                row.most_seconds
            )
        })
        .collect();
    format!(
        "{{\"ranks\":{ranks},\"seconds\":{seconds:e},\"communicators\":{served},\"rows\":[\n{}\n]}}\n",
        rows.join(",\n")
    )
}
