//! The measurement itself, the same code on all ranks.
//!
//! Every repetition starts with a barrier of the library, for native jobs too: a native barrier may change its way with the number of
//! ranks, and whoever leaves it last decides what is measured. The time of a repetition is the largest one of all ranks; ranks learn it
//! after a batch of repetitions, not in between.

use super::arena::{self, Arena};
use super::budget::{shuffled, split};
use super::experiment::Experiment;
use super::jobs::Job;
use super::native::{Native, World};
use super::progress::Progress;
use super::screening::{distrusted, screen, Screened};
use super::Side;
use crate::Failure;
use hypercoll::collective::{Call, Collective};
use hypercoll::explain::Explanation;
use hypercoll::select::Options;
use std::time::Instant;

/// Repetitions from which a job's cost is estimated.
const PROBES: usize = 2;

/// The part of the time left that is planned for; the rest is for repetitions that take longer than those before.
const PLANNED: f64 = 0.85;

/// What was measured.
pub struct Measured {
    /// Those asked for, and the native algorithms that were found to be worth it.
    pub jobs: Vec<Job>,
    pub screened: Screened,
    /// For each job its samples in seconds.
    pub samples: Vec<Vec<f64>>,
    /// For each job what the library says that it did; `None` for native.
    pub explanations: Vec<Option<Explanation>>,
    pub passes_done: usize,
    pub seconds: f64,
    /// Time of a barrier, in seconds.
    pub barrier: f64,
}

/// What the repetitions of a job have taken so far, all overhead included.
struct Cost {
    seconds: f64,
    repetitions: usize,
}

/// Runs all jobs; before that, if native MPI shall be at its best, looks for its best algorithms.
pub fn measure(
    side: &Side,
    experiment: &Experiment,
    jobs: Vec<Job>,
    native_at_best: bool,
    progress: &Progress,
) -> Result<Measured, Failure> {
    let start = Instant::now();
    let mut bench = Bench { side, arena: Arena::new(side.cube.rank(), &jobs), pause: experiment.pause };
    let barrier = bench.barrier_time()?;
    let (jobs, mut screened) = match side.native.filter(|_| native_at_best) {
        Some(native) => screen(&mut bench, native, experiment, jobs, start, progress)?,
        None => (jobs, Screened::default()),
    };
    progress.start("verifying", jobs.len() as f64);
    let (mut costs, mut explanations, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let mut dropped = vec![false; jobs.len()];
    for (job, dropped) in jobs.iter().zip(&mut dropped) {
        let (cost, explanation, failure) = bench.try_out(job)?;
        costs.push(cost);
        explanations.push(explanation);
        match failure {
            Some(failure) if job.forced.is_some() => {
                *dropped = true;
                screened.warnings.push(distrusted(&failure));
            }
            failure => wrong.extend(failure),
        }
        progress.reach(costs.len() as f64);
    }
    if !wrong.is_empty() {
        // Of the others only those speak that have seen something themselves.
        wrong.retain(|failure| side.cube.rank() == 0 || !failure.is_empty());
        return Err(Failure::Found(wrong.join("\n")));
    }
    // What the ranks found is the same on all of them, so they agree on all that follows, except for the time that has
    // passed: that comes with the samples of every batch.
    let mut elapsed = [start.elapsed().as_secs_f64()];
    side.maximum(&mut elapsed)?;
    let mut costs: Vec<Cost> = costs.into_iter().map(|seconds| Cost { seconds, repetitions: 1 }).collect();
    let mut samples = vec![Vec::new(); jobs.len()];
    let (mut passes_done, mut passes_left) = (0, experiment.passes);
    progress.start("measuring", experiment.seconds);
    while passes_left > 0 && (passes_done == 0 || elapsed[0] < experiment.seconds) {
        // First estimates are poor (memory is touched and connections are made), so every pass has its own plan.
        let means: Vec<f64> = costs.iter().map(|cost| cost.seconds / cost.repetitions as f64).collect();
        let wanted = |(samples, dropped): (&Vec<f64>, &bool)| match dropped {
            true => 0,
            false => experiment.repetitions - samples.len(),
        };
        let wanted: Vec<usize> = samples.iter().zip(&dropped).map(wanted).collect();
        let left = (experiment.seconds - elapsed[0]).max(0.0) * PLANNED;
        let plan = split(&means, &wanted, left, passes_left, experiment.warm_up);
        for index in shuffled(jobs.len(), experiment.seed, passes_done) {
            let repetitions = plan.batch[index];
            // The first pass is made whatever it takes: every job has a result.
            if repetitions == 0 || passes_done > 0 && elapsed[0] > experiment.seconds {
                continue;
            }
            let begin = Instant::now();
            let mut batch = bench.batch(&jobs[index], experiment.warm_up, repetitions)?;
            batch.extend([begin.elapsed().as_secs_f64(), start.elapsed().as_secs_f64()]);
            side.maximum(&mut batch)?;
            elapsed[0] = batch.pop().unwrap_or_default();
            let seconds = batch.pop().unwrap_or_default();
            if passes_done == 0 {
                costs[index] = Cost { seconds: 0.0, repetitions: 0 };
            }
            costs[index].seconds += seconds;
            costs[index].repetitions += experiment.warm_up + repetitions;
            samples[index].append(&mut batch);
            progress.reach(elapsed[0]);
        }
        passes_done += 1;
        passes_left = plan.passes - 1;
    }
    progress.end();
    Ok(Measured { jobs, screened, samples, explanations, passes_done, seconds: elapsed[0], barrier })
}

/// Keeps a core busy for so many seconds, as a program does between its calls.
fn compute(seconds: f64) {
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        std::hint::spin_loop();
    }
}

/// A barrier that over links all ranks leave at about the same time. What the library would choose there, by what is known of the machine, may
/// be a tree, whose root goes first: on a star of 5 hosts a gather of 8 bytes then seemed to take 170 us, and not 75. In shared memory it is
/// what the library chooses: where ranks take turns on a core, none is left at the same time.
struct Meeting {
    call: Call,
    options: Options,
}

impl Meeting {
    fn of(side: &Side) -> Meeting {
        let algorithm = side.over_links().then(|| "dissemination".into());
        let options = Options { algorithm, ..Options::default() };
        Meeting { call: Call::new(Collective::Barrier, side.cube.size(), 0), options }
    }

    fn wait(&self, side: &Side) -> Result<(), Failure> {
        side.sound(arena::run(side.cube, &self.call, &self.options, &[], &mut []))
    }
}

/// One rank's part.
pub struct Bench<'s> {
    pub side: &'s Side<'s>,
    pub arena: Arena,
    /// Seconds that the rank computes before each repetition.
    pub pause: f64,
}

/// Who makes the call of a job, found before anything is timed.
enum Caller<'j> {
    Ours(&'j Options),
    Native(&'j Native, World),
}

impl<'j> Caller<'j> {
    fn of(side: &Side<'j>, job: &'j Job) -> Result<Caller<'j>, Failure> {
        match (&job.options, side.native) {
            (Some(options), _) => Ok(Caller::Ours(options)),
            (None, Some(native)) => Ok(Caller::Native(native, native.ready(job.forced.as_ref()))),
            (None, None) => Err(Failure::Usage("there is no native MPI to run".into())),
        }
    }

    fn run(&self, side: &Side, call: &Call, send: &[f64], receive: &mut [f64]) -> Result<(), Failure> {
        match self {
            Caller::Ours(options) => return side.sound(arena::run(side.cube, call, options, send, receive)),
            Caller::Native(native, world) => native.run(world, call, send, receive),
        }
        Ok(())
    }
}

impl Bench<'_> {
    /// The times of `wanted` repetitions on this rank, after some that do not count. Nothing but the call is timed: finding its buffers
    /// and its communicator can take as long as a short call.
    pub fn batch(&mut self, job: &Job, warm_up: usize, wanted: usize) -> Result<Vec<f64>, Failure> {
        let Bench { side, arena, pause } = self;
        let (send, receive) = arena.buffers(&job.call);
        let caller = Caller::of(side, job)?;
        let meeting = Meeting::of(side);
        let mut times = Vec::with_capacity(wanted + 1);
        for repetition in 0..warm_up + wanted {
            if *pause > 0.0 {
                // Who is done would compute already, and where ranks share cores, as emulated hosts do, keep them from those that are not:
                // a slice of the scheduler, 3 to 4 ms, at each step of a path.
                meeting.wait(side)?;
                compute(*pause);
            }
            meeting.wait(side)?;
            let start = Instant::now();
            caller.run(side, &job.call, send, receive)?;
            let time = start.elapsed().as_secs_f64();
            if repetition >= warm_up {
                times.push(time);
            }
        }
        Ok(times)
    }

    /// Runs a job for the first time: whether it is right, what it says it did, and what a repetition costs.
    fn try_out(&mut self, job: &Job) -> Result<(f64, Option<Explanation>, Option<String>), Failure> {
        let (_, explanation, failure) = self.verify(job)?;
        let start = Instant::now();
        self.batch(job, 0, PROBES)?;
        let mut cost = [start.elapsed().as_secs_f64() / PROBES as f64];
        self.side.maximum(&mut cost)?;
        Ok((cost[0], explanation, failure))
    }

    /// Runs a job and looks at its result: the time it took on the slowest rank, what the library says that it did, and what is
    /// wrong (on all ranks or on none; empty on a rank that has nothing to say).
    pub fn verify(&mut self, job: &Job) -> Result<(f64, Option<Explanation>, Option<String>), Failure> {
        self.arena.prepare(&job.call);
        Meeting::of(self.side).wait(self.side)?;
        let (send, receive) = self.arena.buffers(&job.call);
        let caller = Caller::of(self.side, job)?;
        let start = Instant::now();
        caller.run(self.side, &job.call, send, receive)?;
        let time = start.elapsed().as_secs_f64();
        // Before the ranks agree, for which the library may be called.
        let explanation = self.side.cube.last().filter(|_| !job.is_native());
        let failure = self.arena.check(&job.call);
        let mut agreed = [time, f64::from(u8::from(failure.is_some()))];
        self.side.maximum(&mut agreed)?;
        let what = || format!("wrong result: {} {}, {} bytes", job.call.collective, job.implementation, job.bytes);
        let failure = match failure {
            Some(failure) => Some(format!("{}: {failure}", what())),
            None if agreed[1] == 0.0 => None,
            None if self.side.cube.rank() == 0 => Some(format!("{}: on another rank", what())),
            None => Some(String::new()),
        };
        Ok((agreed[0], explanation, failure))
    }

    /// The median time of a few barriers.
    fn barrier_time(&mut self) -> Result<f64, Failure> {
        let (mut times, meeting) = (Vec::new(), Meeting::of(self.side));
        for _ in 0..15 {
            let start = Instant::now();
            meeting.wait(self.side)?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let mut median = [times[times.len() / 2]];
        self.side.maximum(&mut median)?;
        Ok(median[0])
    }
}
