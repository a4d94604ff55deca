//! What one call takes by each of several candidates, and by native MPI, in turns.
//!
//! All that is compared takes turns, so that whatever disturbs the machine disturbs all of it; what is slower leaves early. Between turns
//! ranks rest, each for a moment of its own, so that the system finds them new cores: where ranks share cores, times depend on which ranks
//! share one, by up to a factor of two, and would otherwise do so for a whole run.

use crate::bench::budget::shuffled;
use crate::bench::jobs::Job;
use crate::bench::measure::Bench;
use crate::bench::statistics::Summary;
use crate::Failure;
use hypercoll::select::IN_A_ROW;
use std::ops::Range;
use std::time::Duration;

/// So many turns all of them take. (Six samples are the fewest that tell how sure a median is.)
const TRIED: usize = 6;
/// After that those take part that may be the fastest: the choice, native MPI, and so many others, in so many turns, at least and at most,
/// with the first ones.
const FINALISTS: usize = 3;
const FEWEST_TURNS: usize = 9;
const MOST_TURNS: usize = 40;
/// Repetitions of a turn, of which the median counts, after one that does not; of calls longer than so many seconds there is but one.
const REPETITIONS: usize = 5;
const LONG: f64 = 5e-3;
/// Over links short calls follow one another for so many seconds, but no more of them than are predicted to share what a link lets pass at
/// once, and their mean counts, as the first of them find more of it than those that follow: but for the longest, one of so many.
const ROW: f64 = 6e-3;
const DISTURBED: usize = 8;
/// What a rank rests between turns at most, in microseconds.
const REST: u64 = 2000;
/// The part of its share that is planned for a call; the rest is for turns that take longer than the first.
const PLANNED: f64 = 0.7;
/// A call gets no more than this part of the time left.
const SHARE: f64 = 0.25;
/// What differs by less is as fast, however sure it is: from one run to the next, times differ by as much.
const APART: f64 = 1.05;

/// The candidates' jobs, and native MPI's, which is the last one.
pub struct Turns {
    jobs: Vec<Job>,
    /// Of each job the seconds of one repetition.
    once: Vec<f64>,
    /// Whether messages go over links.
    over_links: bool,
}

impl Turns {
    /// How many of the candidates there is time for, by what each is predicted to take, in so many seconds that are left for all calls.
    pub fn foreseen(predicted: &[f64], left: f64) -> usize {
        // The first repetition makes plans and connections; it counts as two.
        let firsts = 2.0 * predicted.iter().sum::<f64>() / FEWEST_TURNS as f64;
        affordable(predicted, firsts, SHARE * left)
    }

    /// Tries each job once, and keeps those that there is time for.
    pub fn new(bench: &mut Bench, mut jobs: Vec<Job>, left: f64) -> Result<Turns, Failure> {
        let over_links = bench.side.over_links();
        let mut once = Vec::new();
        for job in &jobs {
            once.push(bench.batch(job, 1, 1)?[0]);
        }
        bench.side.maximum(&mut once)?;
        let turns: Vec<f64> = once.iter().map(|&once| turn(once, over_links)).collect();
        if let Some((native, ours)) = turns.split_last() {
            let dropped = affordable(ours, native + REST as f64 * 1e-6, SHARE * left)..ours.len();
            jobs.drain(dropped.clone());
            once.drain(dropped);
        }
        Ok(Turns { jobs, once, over_links })
    }

    /// How many candidates are left, in their order.
    pub fn candidates(&self) -> usize {
        self.jobs.len().saturating_sub(1)
    }

    /// The samples of each job, in about so many seconds.
    pub fn samples(&self, bench: &mut Bench, share: f64) -> Result<Vec<Vec<f64>>, Failure> {
        let mut samples = vec![Vec::new(); self.jobs.len()];
        let all: Vec<usize> = (0..self.jobs.len()).collect();
        self.take(bench, &all, 0..TRIED, &mut samples)?;
        let last = finalists(&samples);
        let left = PLANNED * share - TRIED as f64 * self.seconds(&all);
        let more = ((left / self.seconds(&last)) as usize).clamp(FEWEST_TURNS - TRIED, MOST_TURNS - TRIED);
        self.take(bench, &last, TRIED..TRIED + more, &mut samples)?;
        Ok(samples)
    }

    /// Seconds of a turn of some jobs.
    fn seconds(&self, part: &[usize]) -> f64 {
        part.iter().map(|&job| turn(self.once[job], self.over_links)).sum::<f64>() + REST as f64 * 1e-6
    }

    /// Some turns, in which some jobs take part.
    fn take(
        &self,
        bench: &mut Bench,
        part: &[usize],
        turns: Range<usize>,
        samples: &mut [Vec<f64>],
    ) -> Result<(), Failure> {
        for nth in turns {
            std::thread::sleep(rest(bench.side.cube.rank(), nth));
            for job in (0..part.len()).map(|at| part[(at + nth) % part.len()]) {
                let (warm_up, counted) = repetitions(self.once[job], self.over_links);
                let mut times = bench.batch(&self.jobs[job], warm_up, counted)?;
                bench.side.maximum(&mut times)?;
                samples[job].extend(usual(&times, self.over_links));
            }
        }
        Ok(())
    }
}

/// Repetitions of a job that takes so many seconds, in a turn: those that do not count, and those that do.
fn repetitions(once: f64, over_links: bool) -> (usize, usize) {
    if once > LONG {
        (0, 1)
    } else if over_links {
        (1, ((ROW / once) as usize).clamp(REPETITIONS, IN_A_ROW))
    } else {
        (1, REPETITIONS)
    }
}

/// What a repetition of a turn took.
fn usual(times: &[f64], over_links: bool) -> Option<f64> {
    if over_links {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times.truncate(times.len() - times.len() / DISTURBED);
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    } else {
        Summary::of(times).map(|summary| summary.median)
    }
}

/// Seconds of a turn of a job that takes so many.
fn turn(once: f64, over_links: bool) -> f64 {
    let (warm_up, counted) = repetitions(once, over_links);
    once * (warm_up + counted) as f64
}

/// How long a rank rests before a turn: neither all alike nor always the same.
fn rest(rank: usize, turn: usize) -> Duration {
    Duration::from_micros(shuffled(REST as usize, rank as u64, turn)[0] as u64)
}

/// How many of the candidates there is time for, from what a turn of each takes, and what it takes besides.
fn affordable(ours: &[f64], besides: f64, seconds: f64) -> usize {
    let mut turn = besides;
    let affordable = ours.iter().take_while(|&&one| {
        turn += one;
        turn * FEWEST_TURNS as f64 <= seconds
    });
    affordable.count()
}

/// Which of the jobs may be the fastest, from what each has taken, in their order: of the candidates between the choice and native MPI not
/// more than [`FINALISTS`].
fn finalists(samples: &[Vec<f64>]) -> Vec<usize> {
    let summaries = samples.iter().map(|samples| Summary::of(samples)).enumerate();
    let mut all: Vec<(usize, Summary)> = summaries.filter_map(|(job, summary)| Some((job, summary?))).collect();
    all.sort_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
    let open = |(_, one): &&(usize, Summary)| !faster(&all[0].1, one);
    let (ends, between): (Vec<usize>, Vec<usize>) =
        all.iter().filter(open).map(|(job, _)| *job).partition(|job| [0, samples.len() - 1].contains(job));
    let mut finalists = [ends, between.into_iter().take(FINALISTS).collect()].concat();
    finalists.sort_unstable();
    finalists
}

/// Whether one is faster than another, and no noise.
pub fn faster(one: &Summary, other: &Summary) -> bool {
    let apart = one.interval.zip(other.interval).is_some_and(|((_, high), (low, _))| high < low);
    apart && one.median * APART < other.median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_be_the_fastest_goes_on() {
        let around = |time: f64| [0.99, 0.99, 1.0, 1.0, 1.01, 1.01].map(|part| part * time).to_vec();
        let go_on = |times: &[f64]| finalists(&times.iter().map(|&time| around(time)).collect::<Vec<_>>());
        assert_eq!(go_on(&[2.0, 1.01, 1.0, 1.5]), [1, 2]);
        // The choice and native MPI are dropped only if others are faster beyond doubt.
        assert_eq!(go_on(&[1.04, 1.03, 1.0, 1.01, 1.02, 1.04]), [0, 2, 3, 4, 5]);
        assert_eq!(go_on(&[1.2, 1.0, 1.01, 1.2]), [1, 2]);
        assert_eq!(affordable(&[1.0, 2.0, 3.0], 1.0, FEWEST_TURNS as f64 * 4.5), 2);
        assert_eq!(affordable(&[1.0], 1.0, FEWEST_TURNS as f64), 0);
    }

    /// What a link lets pass at once serves the first of many short calls: one of many takes longer.
    #[test]
    fn short_calls_over_links_follow_one_another() {
        assert_eq!(
            [1e-5, 1e-3, 1e-2].map(|once| repetitions(once, false)),
            [(1, REPETITIONS), (1, REPETITIONS), (0, 1)]
        );
        assert_eq!(
            [1e-5, 1e-3, 4e-3, 1e-2].map(|once| repetitions(once, true)),
            [(1, IN_A_ROW), (1, 6), (1, REPETITIONS), (0, 1)]
        );
        let times = [1.0, 1.0, 1.0, 90.0, 1.0, 1.0, 5.0, 4.0];
        assert_eq!([false, true].map(|over_links| usual(&times, over_links)), [Some(1.0), Some(2.0)]);
    }
}
