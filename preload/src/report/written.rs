//! The report as a table, and as JSON.

use super::{Rows, Run};
use hypercoll::select::tuning::mpi_name;
use serde_json::json;
use std::fmt::Write;

/// Characters of the program's command line that are told.
const COMMAND: usize = 200;

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

/// The MPI that runs the program.
fn library() -> String {
    mpi_name(&mpi::environment::library_version().unwrap_or_default())
}

/// The command line of rank 0, or its beginning.
fn program() -> String {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ").chars().take(COMMAND).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// When the program ends.
fn date() -> String {
    // SAFETY: all zero is a value of it.
    let mut now: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: valid parameters; no pointer is kept.
    unsafe { libc::gmtime_r(&libc::time(std::ptr::null_mut()), &mut now) };
    let (year, month) = (now.tm_year + 1900, now.tm_mon + 1);
    format!("{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z", now.tm_mday, now.tm_hour, now.tm_min, now.tm_sec)
}

pub(super) fn table(run: &Run, rows: &Rows) -> String {
    let (version, library, date, program) = (env!("CARGO_PKG_VERSION"), library(), date(), program());
    let Run { ranks, hosts, seconds, served } = run;
    let mut text = format!(
        "hypercoll {version}, {library}, {date}: {program}\n\
         hypercoll: {ranks} ranks on {hosts} host(s), {seconds:.3} s, {served} communicators of rank 0 served. Calls and bytes of the rank that \
         has most; times in seconds.\n"
    );
    let _ = writeln!(
        text,
        "{:<20} {:<13} {:>10} {:>15} {:>10} {:>10} {:>9} {:>10}  served by",
        "collective", "bytes", "calls", "bytes in all", "mean time", "natively", "most/mean", "waited for"
    );
    let (mut ours, mut natively) = (0.0, 0.0);
    for ((name, class, who, what), row) in rows {
        let by = if who == "ours" { format!("ours: {what}") } else { format!("MPI: {what}") };
        let (class, mean, most) = (class_name(*class), row.mean(), row.imbalance());
        let (calls, bytes) = (row.calls, row.bytes);
        let tried = row.mean_natively().map_or("-".into(), |seconds| format!("{seconds:.6}"));
        let last = row.last().map_or("-".into(), |rank| format!("rank {rank}"));
        let _ = writeln!(
            text,
            "{name:<20} {class:<13} {calls:>10} {bytes:>15} {mean:>10.6} {tried:>10} {most:>9.2} {last:>10}  {by}"
        );
        (ours, natively) = (ours + row.tried.0 / row.ranks as f64, natively + row.tried.1 / row.ranks as f64);
    }
    if rows.is_empty() {
        text.push_str("no collective was called\n");
    }
    if ours > 0.0 {
        let _ = writeln!(
            text,
            "Calls that are ours, from when native MPI was tried, too: {ours:.6} s, natively {natively:.6} s, {:.2} times as long.",
            natively / ours
        );
    }
    text
}

pub(super) fn json(run: &Run, rows: &Rows) -> String {
    let row = |((name, class, who, what), row): (&(String, u32, String, String), &super::Merged)| {
        let from = if *class == 0 { 0 } else { 1u64 << (4 * (class - 1)) };
        let mut told = json!({
            "collective": name,
            "from_bytes": from,
            "served_by": who,
            "ranks": row.ranks,
            "calls": row.calls,
            "bytes": row.bytes,
            "mean_seconds": row.mean(),
            "most_seconds": row.most_seconds,
        });
        if let Some(rank) = row.last() {
            told["least_rank"] = rank.into();
        }
        told[if who == "ours" { "algorithm" } else { "why" }] = what.as_str().into();
        if let Some(seconds) = row.mean_natively() {
            told["native_seconds"] = seconds.into();
        }
        told
    };
    let Run { ranks, hosts, seconds, served } = run;
    let mut text = json!({
        "hypercoll": env!("CARGO_PKG_VERSION"),
        "mpi": library(),
        "date": date(),
        "program": program(),
        "hosts": hosts,
        "ranks": ranks,
        "seconds": seconds,
        "communicators": served,
    })
    .to_string();
    // A row a line, for those who read it without a program.
    let rows: Vec<String> = rows.iter().map(|one| row(one).to_string()).collect();
    text.truncate(text.len() - 1);
    let _ = writeln!(text, ",\"rows\":[\n{}\n]}}", rows.join(",\n"));
    text
}
