//! The tables.

use super::results::{auto, best, native, Results, Row};
use super::sizes::show_bytes;
use super::statistics::geometric_mean;
use std::io::{self, Write};

/// What is known before the measurement.
pub fn header(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let environment = &results.environment;
    let commit = environment.commit.as_deref().map_or(String::new(), |c| format!(" ({})", &c[..c.len().min(10)]));
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
        "# size: bytes of the vector (broadcast, reduce, all-reduce, permute) or of one block (the others); f64, sum"
    )?;
    writeln!(out, "# time: max over ranks; CI: of the median, {:.0} %", method.confidence * 100.0)?;
    writeln!(out, "# algbw: bytes of the largest buffer of a rank / median; MB = 10^6 bytes")?;
    writeln!(
        out,
        "# vs native: native median / this median, more than 1 is faster; *: the best of ours; ~: the CIs overlap"
    )?;
    if let Some((name, tau, t_c)) = &method.machine {
        let (tau, rate) = (tau * 1e6, 1e-6 / t_c);
        writeln!(out, "# auto chooses for: {name}, tau {tau:.2} us, 1/t_c {rate:.0} MB/s")?;
    }
    for left_out in &method.left_out {
        writeln!(out, "# left out, as the buffers would be too large: {left_out}")?;
    }
    warnings(results, out)
}

fn warnings(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    results.warnings.iter().try_for_each(|warning| writeln!(out, "# WARNING: {warning}"))
}

/// A table for each collective.
pub fn tables(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let width = results.results.iter().map(|row| label(row).len()).max().unwrap_or(0).max(14);
    for collective in results.collectives() {
        writeln!(out, "\n## {collective}")?;
        writeln!(
            out,
            "{:>9}  {:<width$} {:>5} {:>11} {:>23} {:>11} {:>11} {:>11} {:>10}",
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
            let (native, best) = (native(&rows), best(&rows));
            for row in &rows {
                let interval = match (row.ci_low_s, row.ci_high_s) {
                    (Some(low), Some(high)) => format!("[{:.2}, {:.2}]", low * 1e6, high * 1e6),
                    _ => "-".into(),
                };
                let ratio = match native {
                    Some(native) if !row.native => {
                        let overlap = if overlap(native, row) { "~" } else { "" };
                        format!("{overlap}{:.2}", native.median_s / row.median_s)
                    }
                    _ => String::new(),
                };
                let star = if best.is_some_and(|best| std::ptr::eq(best, *row)) { "*" } else { " " };
                writeln!(
                    out,
                    "{:>9} {star}{:<width$} {:>5} {:>11.2} {:>23} {:>11.2} {:>11.2} {:>11} {:>10}",
                    if row.collective == "barrier" { "-".into() } else { show_bytes(bytes) },
                    label(row),
                    row.samples_s.len(),
                    row.median_s * 1e6,
                    interval,
                    row.min_s * 1e6,
                    row.max_s * 1e6,
                    row.algbw.map_or("-".into(), |algbw| format!("{:.1}", algbw / 1e6)),
                    ratio
                )?;
            }
        }
    }
    Ok(())
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
    writeln!(out, "{:<15} {:>6} {:>8} {:>8}   sizes at which auto is slower", "collective", "sizes", "best", "auto")?;
    for collective in results.collectives() {
        let (mut of_best, mut of_auto, mut slower) = (Vec::new(), Vec::new(), Vec::new());
        for (bytes, rows) in results.by_size(collective) {
            let Some(native) = native(&rows) else { continue };
            of_best.extend(best(&rows).map(|best| native.median_s / best.median_s));
            if let Some(auto) = auto(&rows) {
                let ratio = native.median_s / auto.median_s;
                of_auto.push(ratio);
                if ratio < 1.0 {
                    let unsure = if overlap(native, auto) { "~" } else { "" };
                    slower.push(format!("{} ({unsure}{ratio:.2})", show_bytes(bytes)));
                }
            }
        }
        let show = |ratios: &[f64]| geometric_mean(ratios).map_or("-".into(), |mean| format!("{mean:.2}"));
        let slower = if slower.is_empty() { "none".into() } else { slower.join(", ") };
        let sizes = of_best.len();
        writeln!(out, "{collective:<15} {sizes:>6} {:>8} {:>8}   {slower}", show(&of_best), show(&of_auto))?;
    }
    warnings(results, out)
}
