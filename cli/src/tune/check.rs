//! `hypercoll tune --check`: what is predicted of calls on these ranks, and what they take.

use super::calls::{self, Calls, Compared, Extent};
use super::ranks::Ranks;
use super::report::form;
use super::TuneArgs;
use crate::bench::progress::Progress;
use crate::bench::ELEMENT;
use crate::Failure;
use hypercoll::select::tuning::Here;
use hypercoll::select::{candidates, Candidate, Machine, Options, Settings, Sources};
use serde_json::{json, Value};
use std::io::Write;

/// Predictions are off if they differ from what is measured by more than this.
const OFF: f64 = 1.2;
/// The machine is no longer what the file says if half of all calls are off by more than this.
const STALE: f64 = 1.5;

/// All of it, on one rank; rank 0 prints.
pub fn run(args: &TuneArgs, ranks: &Ranks, out: &mut dyn Write) -> Result<(), Failure> {
    let progress = Progress::new(ranks.rank == 0);
    let machine = ranks.cube.machine();
    let mut calls = calls::measure(ranks, machine, args.seconds, Extent::Choice, &progress)?;
    if ranks.rank > 0 {
        return Ok(());
    }
    calls.compared.sort_by_key(|compared| (compared.call.collective, compared.bytes));
    let name = mpi::environment::processor_name().unwrap_or_default();
    let library = mpi::environment::library_version().ok();
    let here = Here::of(&name, library.as_deref(), ranks.cores.is_some());
    // What the communicator has found, too.
    let settings = Sources::read(here, None).resolve(ranks.cores, Some(&calls.spread));
    let settings = settings.map_err(|error| Failure::Usage(error.to_string()))?;
    let report = Report { ranks, calls: &calls, settings: &settings };
    let stale = report.stale();
    match args.json {
        true => writeln!(out, "{}", report.json(&stale))?,
        false => report.print(&stale, out)?,
    }
    match stale.is_empty() {
        true => Ok(()),
        false => Err(Failure::Found(format!("{} (`hypercoll tune` makes a new one)", stale.join("; ")))),
    }
}

struct Report<'r> {
    ranks: &'r Ranks,
    calls: &'r Calls,
    settings: &'r Settings,
}

/// How many times as long as predicted a call took.
fn ratio(compared: &Compared) -> f64 {
    let (choice, summary) = &compared.ours[0];
    summary.median / choice.predicted
}

fn is_off(ratio: f64) -> bool {
    ratio.max(1.0 / ratio) > OFF
}

/// By how much half of the calls are off at least, whether they take longer or not.
fn half_off_by(ratios: &[f64]) -> f64 {
    let mut off: Vec<f64> = ratios.iter().map(|ratio| ratio.max(1.0 / ratio)).collect();
    off.sort_by(f64::total_cmp);
    off.get(off.len() / 2).copied().unwrap_or(1.0)
}

impl Report<'_> {
    /// Why the file does not tell of these ranks on this machine; empty if it does, or there is none.
    fn stale(&self) -> Vec<String> {
        let Settings { file, refused, stale, .. } = self.settings;
        let mut reasons: Vec<String> = refused.iter().chain(stale).cloned().collect();
        let ratios: Vec<f64> = self.calls.compared.iter().map(ratio).collect();
        let half = half_off_by(&ratios);
        if let Some(file) = file.as_ref().filter(|_| half > STALE) {
            reasons.push(format!(
                "tuning file {file} is stale: half of the calls are off by a factor of {half:.1} or more"
            ));
        }
        reasons
    }

    /// What the model alone leads to, if that is something else.
    fn instead_of(&self, compared: &Compared) -> Option<Candidate> {
        let model = Machine { checked: None, ..self.ranks.cube.machine().clone() };
        let first =
            candidates(&compared.call, ELEMENT, &Options::default(), &model).ok()?.serving.into_iter().next()?;
        let choice = &compared.ours[0].0;
        let same = first.algorithm.name == choice.algorithm.name && first.parameters == choice.parameters;
        (!same).then_some(first)
    }

    /// Whether the file says that native MPI is faster than the library.
    fn native_is_faster(&self, compared: &Compared) -> bool {
        self.ranks.cube.machine().native_is_faster(&compared.call, ELEMENT)
    }

    fn json(&self, stale: &[String]) -> Value {
        let call = |compared: &Compared| {
            let (choice, summary) = &compared.ours[0];
            json!({
                "collective": compared.call.collective.name(),
                "bytes": compared.bytes,
                "algorithm": choice.algorithm.name,
                "ports": choice.parameters.ports.name(),
                "packet_bytes": choice.parameters.packet.map(|packet| packet * ELEMENT),
                "predicted_s": choice.predicted,
                "model_s": choice.model,
                "instead_of": self.instead_of(compared).map(|first| first.algorithm.name),
                "measured_s": summary.median,
                "interval_s": summary.interval.map(|(low, high)| [low, high]),
                "measured_over_predicted": ratio(compared),
                "off": is_off(ratio(compared)),
                "native_s": compared.native.median,
                "native_is_faster": self.native_is_faster(compared),
            })
        };
        json!({
            "file": self.settings.file,
            "machine": self.ranks.cube.machine().name,
            "ranks": self.calls.spread.to_string(),
            "stale": stale,
            "calls": self.calls.compared.iter().map(call).collect::<Vec<_>>(),
            "calls_left_out": self.calls.left_out,
        })
    }

    fn print(&self, stale: &[String], out: &mut dyn Write) -> Result<(), Failure> {
        let Calls { spread, compared, left_out } = self.calls;
        let machine = self.ranks.cube.machine();
        writeln!(out, "{spread} ranks (hosts x ranks), {}\n{}", machine.name, machine.times())?;
        match &self.settings.file {
            Some(file) => writeln!(out, "tuning file: {file}")?,
            None => writeln!(out, "tuning file: none")?,
        }
        writeln!(
            out,
            "{:<28} {:>12} {:>12} {:>6} {:>12}  algorithm",
            "call", "predicted us", "measured us", "ratio", "native us"
        )?;
        for compared in compared {
            let ((choice, summary), ratio) = (&compared.ours[0], ratio(compared));
            let times = [choice.predicted, summary.median, compared.native.median];
            let [predicted, measured, native] = times.map(|time| time * 1e6);
            let name = compared.name();
            write!(out, "{name:<28} {predicted:>12.1} {measured:>12.1} {ratio:>6.2} {native:>12.1}  {}", form(choice))?;
            let notes = [
                is_off(ratio).then(|| "off".to_string()),
                self.instead_of(compared).map(|first| format!("corrected; the model alone: {}", form(&first))),
                self.native_is_faster(compared).then(|| "native MPI was faster when tuned".to_string()),
            ];
            let notes: Vec<String> = notes.into_iter().flatten().collect();
            match notes.is_empty() {
                true => writeln!(out)?,
                false => writeln!(out, "  ({})", notes.join(", "))?,
            }
        }
        let off = compared.iter().filter(|compared| is_off(ratio(compared))).count();
        writeln!(out, "{off} of {} calls are off by more than {:.0} %", compared.len(), (OFF - 1.0) * 100.0)?;
        if !left_out.is_empty() {
            writeln!(out, "{} calls left out for lack of time (see --seconds)", left_out.len())?;
        }
        for reason in stale {
            writeln!(out, "{reason}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_calls_decide() {
        assert_eq!(half_off_by(&[]), 1.0);
        assert_eq!(half_off_by(&[1.0, 1.1, 0.9, 9.0]), 1.0 / 0.9);
        assert_eq!(half_off_by(&[2.0, 0.5, 1.0]), 2.0);
        assert!(is_off(1.21) && is_off(0.8) && !is_off(1.19) && !is_off(0.84));
    }
}
