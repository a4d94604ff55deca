//! Native MPI at its best: every algorithm that it can be made to use is tried for a short time, and the best are measured.

use super::budget::shuffled;
use super::candidates::{candidates, open_mpi_name, Forced};
use super::experiment::Experiment;
use super::jobs::Job;
use super::measure::Bench;
use super::native::Native;
use super::progress::Progress;
use super::results::{Tried, Verdict};
use super::statistics::Summary;
use crate::Failure;
use std::time::Instant;

/// The part of the time for everything that this may take.
const SHARE: f64 = 1.0 / 3.0;
/// Algorithms of a call that are measured.
const MEASURED: usize = 2;
/// None is measured that takes so many times as long as the best.
const HOPELESS: f64 = 2.0;
/// Repetitions after the warm-up; as many more as take less than `QUICK` seconds, up to `MOST`.
const REPETITIONS: usize = 3;
const MOST: usize = 20;
const QUICK: f64 = 5e-3;
/// An algorithm gets no further repetitions if one took so many times as long as the best: short calls vary, long ones (in
/// seconds) do not.
const SLOW: f64 = 4.0;
const SLOW_IF_LONG: f64 = 1.5;
const LONG: f64 = 20e-3;

/// What came of it.
#[derive(Default)]
pub struct Screened {
    pub tried: Vec<Tried>,
    pub warnings: Vec<String>,
}

/// Tries the native algorithms of all calls that have any, and puts jobs for the best ones behind those of MPI's own choice.
pub fn screen(
    bench: &mut Bench,
    native: &Native,
    experiment: &Experiment,
    jobs: Vec<Job>,
    start: Instant,
    progress: &Progress,
) -> Result<(Vec<Job>, Screened), Failure> {
    let mut screened = Screened::default();
    if !native.can_force() {
        screened.warnings.push(
            "this MPI does not let its algorithms be forced (MPICH does, and Open MPI, if coll_tuned_use_dynamic_rules is true): \
             native is its default only"
                .into(),
        );
        return Ok((jobs, screened));
    }
    let mut calls: Vec<usize> = (0..jobs.len())
        .filter(|at| jobs[*at].is_native() && open_mpi_name(jobs[*at].call.collective).is_some())
        // Blocks of different lengths are another function of MPI's, which is measured as it chooses by itself.
        .filter(|at| jobs[*at].call.layout.is_none())
        .collect();
    // Short ones first: what they leave of their share goes to the long ones.
    calls.sort_by_key(|at| jobs[*at].bandwidth_bytes());
    let mut found: Vec<Vec<Job>> = vec![Vec::new(); jobs.len()];
    let mut elapsed = start.elapsed().as_secs_f64();
    progress.start("trying native algorithms", calls.len() as f64);
    let mut untried = 0;
    for (done, at) in calls.iter().enumerate() {
        let mut agreed = [elapsed];
        bench.side.maximum(&mut agreed)?;
        let left = (experiment.seconds * SHARE - agreed[0]).max(0.0);
        let deadline = agreed[0] + left / (calls.len() - done) as f64;
        let mut group =
            Group { bench, native, job: &jobs[*at], start, deadline, tried: Vec::new(), warnings: Vec::new() };
        untried += group.run(experiment.seed)?;
        screened.warnings.append(&mut group.warnings);
        let (best, tried) = verdicts(group.tried);
        screened.tried.extend(tried);
        found[*at] = best.into_iter().map(|forced| jobs[*at].with_forced(forced)).collect();
        elapsed = start.elapsed().as_secs_f64();
        progress.reach(done as f64 + 1.0);
    }
    if untried > 0 {
        screened.warnings.push(format!(
            "{untried} segment sizes or algorithms of native MPI were not tried for lack of time (see --seconds)"
        ));
    }
    let jobs = jobs.into_iter().zip(found).flat_map(|(job, found)| std::iter::once(job).chain(found)).collect();
    Ok((jobs, screened))
}

/// The candidates of one call.
struct Group<'g, 's> {
    bench: &'g mut Bench<'s>,
    native: &'g Native,
    job: &'g Job,
    start: Instant,
    /// Seconds since the start after which nothing more is tried.
    deadline: f64,
    tried: Vec<(Forced, Tried)>,
    warnings: Vec<String>,
}

impl Group<'_, '_> {
    /// Tries all that there is time for; how many were left out.
    fn run(&mut self, seed: u64) -> Result<usize, Failure> {
        let call = &self.job.call;
        let Some(name) = open_mpi_name(call.collective) else { return Ok(0) };
        let (once, mut others) =
            candidates(name, &self.native.algorithms(name), self.native.has_segments(), call.size, self.job.bytes);
        let mut untried = 0;
        for at in shuffled(once.len(), seed, self.job.bytes) {
            untried += self.consider(&once[at])?;
        }
        // The segments of the algorithms that did best come first.
        let time = |forced: &Forced| {
            let same = self.tried.iter().filter(|(tried, _)| tried.algorithm == forced.algorithm);
            same.map(|(_, tried)| time(tried)).fold(f64::INFINITY, f64::min)
        };
        others.sort_by(|a, b| time(a).total_cmp(&time(b)));
        for forced in &others {
            untried += self.consider(forced)?;
        }
        Ok(untried)
    }

    /// Tries one if there is time: 0, or 1 if there is none.
    fn consider(&mut self, forced: &Forced) -> Result<usize, Failure> {
        let mut elapsed = [self.start.elapsed().as_secs_f64()];
        self.bench.side.maximum(&mut elapsed)?;
        // One is tried whatever it takes.
        if elapsed[0] > self.deadline && !self.tried.is_empty() {
            return Ok(1);
        }
        self.bench.side.sound(self.native.force(forced))?;
        let job = self.job.with_forced(forced.clone());
        let (warm_up_s, _, failure) = self.bench.verify(&job)?;
        let mut tried = Tried {
            collective: job.call.collective.name().into(),
            size_bytes: job.bytes,
            implementation: job.implementation.clone(),
            warm_up_s,
            samples_s: Vec::new(),
            verdict: Verdict::Slower,
        };
        if let Some(failure) = failure {
            tried.verdict = Verdict::Wrong;
            self.warnings.push(distrusted(&failure));
        } else if warm_up_s < LONG || !self.slow(warm_up_s) {
            tried.samples_s = self.samples(&job)?;
        }
        self.tried.push((forced.clone(), tried));
        Ok(0)
    }

    /// Times of a few repetitions, of fewer if they are long.
    fn samples(&mut self, job: &Job) -> Result<Vec<f64>, Failure> {
        let mut samples = self.batch(job, 1)?;
        if !self.slow(samples[0]) {
            let quick = (QUICK / samples[0].max(1e-9)) as usize;
            let mut more = self.batch(job, quick.clamp(REPETITIONS, MOST) - 1)?;
            samples.append(&mut more);
        }
        Ok(samples)
    }

    fn batch(&mut self, job: &Job, repetitions: usize) -> Result<Vec<f64>, Failure> {
        let mut times = self.bench.batch(job, 0, repetitions)?;
        self.bench.side.maximum(&mut times)?;
        Ok(times)
    }

    /// Whether a time is far above those of the best so far.
    fn slow(&self, seconds: f64) -> bool {
        let best = self.tried.iter().map(|(_, tried)| time(tried)).fold(f64::INFINITY, f64::min);
        seconds > best * if best > LONG { SLOW_IF_LONG } else { SLOW }
    }
}

/// What is said of a native algorithm that is wrong: that is not for us to fail of.
pub fn distrusted(failure: &str) -> String {
    format!("an algorithm of native MPI is left out: {failure}")
}

/// The time of what was tried: infinite if it is wrong.
fn time(tried: &Tried) -> f64 {
    match tried.verdict {
        Verdict::Wrong => f64::INFINITY,
        _ => Summary::of(&tried.samples_s).map_or(tried.warm_up_s, |summary| summary.median),
    }
}

/// The best, and all with what became of them.
fn verdicts(mut tried: Vec<(Forced, Tried)>) -> (Vec<Forced>, Vec<Tried>) {
    tried.sort_by(|(_, a), (_, b)| time(a).total_cmp(&time(b)));
    let most = tried.first().map_or(0.0, |(_, best)| time(best)) * HOPELESS;
    let mut best = Vec::new();
    for (forced, tried) in &mut tried {
        if best.len() < MEASURED && !tried.samples_s.is_empty() && time(tried) <= most {
            tried.verdict = Verdict::Measured;
            best.push(forced.clone());
        }
    }
    (best, tried.into_iter().map(|(_, tried)| tried).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(name: &str, samples: &[f64], verdict: Verdict) -> (Forced, Tried) {
        let forced = Forced { collective: "bcast", algorithm: 1, name: name.into(), segment: 0 };
        let tried = Tried {
            collective: "broadcast".into(),
            size_bytes: 8,
            implementation: forced.to_string(),
            warm_up_s: 1.0,
            samples_s: samples.to_vec(),
            verdict,
        };
        (forced, tried)
    }

    #[test]
    fn the_best_two_are_measured_by_the_median() {
        let all = vec![
            tried("late", &[9.0, 5.0, 4.0], Verdict::Slower),
            tried("wrong", &[], Verdict::Wrong),
            tried("first", &[3.0, 3.0, 90.0], Verdict::Slower),
            tried("hopeless", &[7.0], Verdict::Slower),
            tried("second", &[4.0, 1.0, 5.0], Verdict::Slower),
        ];
        let (best, all) = verdicts(all);
        assert_eq!(best.iter().map(|forced| &forced.name[..]).collect::<Vec<_>>(), ["first", "second"]);
        let measured: Vec<_> = all.iter().filter(|t| t.verdict == Verdict::Measured).collect();
        assert_eq!(measured.len(), 2);
        assert_eq!(all.last().map(|t| t.verdict), Some(Verdict::Wrong));
    }

    #[test]
    fn none_is_measured_that_takes_twice_as_long_as_the_best() {
        let all = vec![tried("far", &[7.0], Verdict::Slower), tried("best", &[3.0], Verdict::Slower)];
        assert_eq!(verdicts(all).0.len(), 1);
        assert!(verdicts(vec![tried("wrong", &[], Verdict::Wrong)]).0.is_empty());
        assert!(verdicts(Vec::new()).0.is_empty());
    }
}
