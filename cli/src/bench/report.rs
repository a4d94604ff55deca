//! The tables.

use super::lengths::Lengths;
use super::results::{auto, best, native, native_best, Results, Row};
use super::sizes::show_bytes;
use super::statistics::geometric_mean;
use std::io::{self, Write};

/// What is known before the measurement.
pub fn header(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let environment = &results.environment;
    let commit = environment.commit.as_deref().map_or(String::new(), |commit| {
        let (clean, dirty) = commit.strip_suffix("-dirty").map_or((commit, ""), |clean| (clean, "-dirty"));
        format!(" ({clean:.10}{dirty})")
    });
    writeln!(out, "# hypercoll {}{commit} bench, {}", environment.hypercoll, environment.date)?;
    writeln!(out, "# MPI: {}", environment.mpi_library)?;
    let hosts: Vec<String> = environment
        .hosts
        .iter()
        .take(8)
        .map(|h| format!("{} ({} ranks, {} cores)", h.name, h.ranks, h.cores))
        .collect();
    let more = if environment.hosts.len() > 8 { ", ..." } else { "" };
    writeln!(out, "# ranks: {} on {} host(s): {}{more}", results.ranks, environment.hosts.len(), hosts.join(", "))?;
    if results.oversubscribed {
        writeln!(out, "# OVERSUBSCRIBED: more ranks than cores; ranks take turns, and times depend on the scheduler")?;
    }
    let method = &results.method;
    writeln!(
        out,
        "# experiment {}: up to {} repetitions in {} of {} shuffled passes, {:.0} s of {:.0} s; seed {}",
        method.experiment,
        method.repetitions,
        method.passes_done,
        method.passes,
        method.seconds_taken,
        method.seconds,
        method.seed
    )?;
    writeln!(
        out,
        "# size: bytes of the vector (broadcast, reduce, all-reduce, scans, permute, send, exchange) or of one block (the others); f64, sum"
    )?;
    if method.lengths == Lengths::Zipf {
        writeln!(
            out,
            "# UNEVEN: blocks have different lengths, by Zipf's law, some 0, the same for all; size is their mean"
        )?;
    }
    writeln!(out, "# time: max over ranks; CI: of the median, {:.0} %", method.confidence * 100.0)?;
    writeln!(out, "# algbw: bytes of the largest buffer of a rank / median; MB = 10^6 bytes")?;
    writeln!(
        out,
        "# vs native: native median / this median, more than 1 is faster; *: the best of ours; ~: the CIs overlap"
    )?;
    if forced(results) {
        writeln!(out, "# native:NAME: an algorithm of native MPI's that was forced; the best after {} had been tried; vs best: the best \
                       native median / this median", results.screening.len())?;
    }
    if let Some(fabric) = &environment.fabric {
        writeln!(out, "# network: {fabric}; limit: the least time in which it can carry the call, by this median")?;
    }
    if let Some((name, tau, t_c)) = &method.machine {
        let short = || format!("tau {:.2} us, 1/t_c {:.0} MB/s", tau * 1e6, 1e-6 / t_c);
        writeln!(out, "# auto chooses for: {name}, {}", method.times.clone().unwrap_or_else(short))?;
    }
    if let Some(transport) = &method.transport {
        writeln!(out, "# the library's messages go through: {transport}")?;
    }
    for left_out in &method.left_out {
        writeln!(out, "# left out, as the buffers would be too large: {left_out}")?;
    }
    warnings(results, out)
}

/// Whether native algorithms were forced.
fn forced(results: &Results) -> bool {
    !results.screening.is_empty()
}

fn warnings(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    results.warnings.iter().try_for_each(|warning| writeln!(out, "# WARNING: {warning}"))
}

/// A table for each collective.
pub fn tables(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let width = results.results.iter().map(|row| label(row).len()).max().unwrap_or(0).max(14);
    // Columns that would be empty everywhere are left out.
    let of_limit = results.results.iter().any(|row| row.limit_s.is_some());
    let (vs_best, limit) = (
        if forced(results) { format!(" {:>9}", "vs best") } else { String::new() },
        if of_limit { format!(" {:>6}", "limit") } else { String::new() },
    );
    for collective in results.collectives() {
        let uneven = if results.method.lengths == Lengths::Equal { "" } else { ", blocks of different lengths" };
        writeln!(out, "\n## {collective}{uneven}")?;
        writeln!(
            out,
            "{:>9}  {:<width$} {:>5} {:>11} {:>23} {:>11} {:>11} {:>11} {:>10}{vs_best}{limit}",
            "size",
            "implementation",
            "reps",
            "median (us)",
            "95 % CI (us)",
            "min (us)",
            "max (us)",
            "algbw(MB/s)",
            "vs native"
        )?;
        for (bytes, rows) in results.by_size(collective) {
            let (native, native_best, best) = (native(&rows), native_best(&rows), best(&rows));
            for row in &rows {
                let interval = match (row.ci_low_s, row.ci_high_s) {
                    (Some(low), Some(high)) => format!("[{:.2}, {:.2}]", low * 1e6, high * 1e6),
                    _ => "-".into(),
                };
                let is_default = native.is_some_and(|native| std::ptr::eq(native, *row));
                let vs_native = ratio(native.filter(|_| !is_default), row);
                let vs_best = match forced(results) {
                    true => format!(" {:>9}", ratio(native_best.filter(|_| !row.native), row)),
                    false => String::new(),
                };
                let limit = match (of_limit, row.of_limit()) {
                    (true, Some(fraction)) => format!(" {fraction:>6.3}"),
                    (true, None) => format!(" {:>6}", "-"),
                    (false, _) => String::new(),
                };
                let star = if best.is_some_and(|best| std::ptr::eq(best, *row)) { "*" } else { " " };
                writeln!(
                    out,
                    "{:>9} {star}{:<width$} {:>5} {:>11.2} {:>23} {:>11.2} {:>11.2} {:>11} {:>10}{vs_best}{limit}",
                    if row.collective == "barrier" { "-".into() } else { show_bytes(bytes) },
                    label(row),
                    row.samples_s.len(),
                    row.median_s * 1e6,
                    interval,
                    row.min_s * 1e6,
                    row.max_s * 1e6,
                    row.algbw.map_or("-".into(), |algbw| format!("{:.1}", algbw / 1e6)),
                    vs_native
                )?;
            }
        }
    }
    Ok(())
}

/// How many times as long the other takes; marked where that is not sure.
fn ratio(other: Option<&Row>, row: &Row) -> String {
    other.map_or(String::new(), |other| {
        format!("{}{:.2}", if overlap(other, row) { "~" } else { "" }, other.median_s / row.median_s)
    })
}

/// The implementation; for the library's own choice with what it chose.
fn label(row: &Row) -> String {
    let packet = row.parameters.as_ref().and_then(|parameters| parameters.packet_bytes);
    let packet = packet.map_or(String::new(), |packet| format!(" {}", show_bytes(packet)));
    match &row.algorithm {
        Some(algorithm) if row.implementation == super::jobs::AUTO => format!("auto = {algorithm}{packet}"),
        _ => format!("{}{packet}", row.implementation),
    }
}

fn overlap(a: &Row, b: &Row) -> bool {
    match (a.ci_low_s, a.ci_high_s, b.ci_low_s, b.ci_high_s) {
        (Some(a_low), Some(a_high), Some(b_low), Some(b_high)) => a_low <= b_high && b_low <= a_high,
        _ => true,
    }
}

/// A line for each collective, if there is a native one to compare with.
pub fn summary(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## summary: native median / ours, geometric mean over sizes (more than 1: ours is faster)")?;
    writeln!(out, "# best: the best of ours at each size; auto: the library's own choice; ~: the CIs overlap")?;
    writeln!(
        out,
        "# vs default: native MPI by its own choice; vs best: the best of native MPI at each size, {}",
        match forced(results) {
            true => "forced algorithms included",
            false => "which is its own choice, as none was forced",
        }
    )?;
    let of_limit = results.results.iter().any(|row| row.limit_s.is_some());
    if of_limit {
        writeln!(out, "# limit: the fraction of the physical limit that auto and native MPI at its best reach at the largest size")?;
    }
    let limit = |above: &str, left: &str, right: &str| match of_limit {
        true => (format!("{above:>16}"), format!("{left:>8}{right:>8}")),
        false => Default::default(),
    };
    let (above, below) = limit("of the limit", "auto", "native");
    writeln!(out, "{:<15} {:>6} {:>16}{:>16}{above}", "", "", "best of ours vs", "auto vs")?;
    writeln!(
        out,
        "{:<15} {:>6} {:>8}{:>8}{:>8}{:>8}{below}   sizes at which auto is slower than the best of native",
        "collective", "sizes", "default", "best", "default", "best"
    )?;
    for collective in results.collectives() {
        let mut ratios: [Vec<f64>; 4] = Default::default();
        let mut slower = Vec::new();
        let by_size = results.by_size(collective);
        for (bytes, rows) in &by_size {
            let (Some(native), Some(native_best)) = (native(rows), native_best(rows)) else { continue };
            let mut add = |at: usize, other: &Row, ours: Option<&Row>| {
                ratios[at].extend(ours.map(|ours| other.median_s / ours.median_s));
            };
            add(0, native, best(rows));
            add(1, native_best, best(rows));
            add(2, native, auto(rows));
            add(3, native_best, auto(rows));
            if let Some(auto) = auto(rows).filter(|auto| auto.median_s > native_best.median_s) {
                let size = if *bytes == 0 { "-".into() } else { show_bytes(*bytes) };
                slower.push(format!("{size} ({})", ratio(Some(native_best), auto)));
            }
        }
        let [a, b, c, d] =
            ratios.each_ref().map(|of| geometric_mean(of).map_or("-".into(), |mean| format!("{mean:.2}")));
        let slower = if slower.is_empty() { "none".into() } else { slower.join(", ") };
        let largest = by_size.values().next_back();
        let fraction = |row: Option<&Row>| row.and_then(Row::of_limit).map_or("-".into(), |part| format!("{part:.3}"));
        let [ours, theirs] = [largest.and_then(|rows| auto(rows)), largest.and_then(|rows| native_best(rows))];
        let (_, limit) = limit("", &fraction(ours), &fraction(theirs));
        let sizes = ratios[0].len();
        writeln!(out, "{collective:<15} {sizes:>6} {a:>8}{b:>8}{c:>8}{d:>8}{limit}   {slower}")?;
    }
    warnings(results, out)
}
