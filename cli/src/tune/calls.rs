//! What calls take: by the library's choice, by what else it might have chosen, and by native MPI.
//!
//! The calls, what is compared of each, and what a tuning file keeps of it; how it is measured: [`turns`](super::turns).

use super::ranks::Ranks;
use super::turns::{faster, Turns};
use crate::bench::arena::Arena;
use crate::bench::jobs::{distinct, largest_buffer, Job, AUTO, NATIVE};
use crate::bench::measure::Bench;
use crate::bench::native::Native;
use crate::bench::progress::Progress;
use crate::bench::sizes::show_bytes;
use crate::bench::statistics::Summary;
use crate::bench::{Side, ELEMENT};
use crate::Failure;
use hypercoll::collective::{Call, Collective};
use hypercoll::select::{candidates, By, Candidate, Checked, Machine, Options, Spread, Timed};
use mpi::traits::*;
use std::time::Instant;

/// Bytes of vectors and blocks. None is farther from the next one than [`hypercoll::select::REACH`], so that between them all is known.
const SIZES: [usize; 9] = [8, 128, 512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 1 << 20, 4 << 20];
/// Larger buffers of a rank are left out, in bytes.
const LARGEST_BUFFER: usize = 8 << 20;
/// So many candidates are compared, if none is predicted to take longer than so many times what the first one is (of those that start the
/// soonest, where links let pass at once all of a call), or over links than so many seconds: to compare them takes no time then, and what short
/// calls take is predicted worst where many hosts share few processors. (On a star of 12 emulated hosts a broadcast of 512 B was predicted to take
/// 1067 us by `sbt`, 198 by `direct`, which took 675; native MPI 257.)
const MOST: usize = 8;
const CLOSE: f64 = 3.0;
const SHORT: f64 = 2e-3;
/// Transfers are taken to be so many times as fast where links let pass at once all of a call.
const FREE: f64 = 16.0;
/// So much longer is kept of what is as fast as the choice, and not the choice.
const BEHIND: f64 = 1.001;

/// What is to be measured.
#[derive(Clone, Copy)]
pub enum Extent {
    /// The choice and native MPI.
    Choice,
    /// What might have been chosen, too.
    All,
}

/// What was measured.
pub struct Calls {
    pub spread: Spread,
    pub compared: Vec<Compared>,
    /// Calls that there was no time for.
    pub left_out: Vec<String>,
}

/// One call.
#[derive(Clone)]
pub struct Compared {
    pub call: Call,
    pub bytes: usize,
    /// The choice first.
    pub ours: Vec<(Candidate, Summary)>,
    pub native: Summary,
}

/// One call, not yet measured.
struct Point {
    call: Call,
    bytes: usize,
    candidates: Vec<Candidate>,
}

/// Measures for about so many seconds what `machine` makes the library choose; all ranks call this together, and get the same.
pub fn measure(
    ranks: &Ranks,
    machine: &Machine,
    seconds: f64,
    extent: Extent,
    progress: &Progress,
) -> Result<Calls, Failure> {
    let start = Instant::now();
    let points = points(ranks, machine, extent)?;
    let native = Native::new(ranks.world.duplicate());
    let side = Side { cube: &ranks.cube, native: Some(&native) };
    let jobs: Vec<Job> = points.iter().flat_map(|point| point.jobs()).collect();
    let mut bench = Bench { side: &side, arena: Arena::new(ranks.rank, &jobs), pause: 0.0 };
    let mut calls = Calls { spread: ranks.spread(), compared: Vec::new(), left_out: Vec::new() };
    let all = points.len();
    // One is measured whatever it takes.
    progress.start("measuring calls", all as f64);
    for (done, mut point) in points.into_iter().enumerate() {
        let mut elapsed = [start.elapsed().as_secs_f64()];
        side.maximum(&mut elapsed)?;
        let left = seconds - elapsed[0];
        let share = left / (all - done) as f64;
        let left = if done == 0 { f64::INFINITY } else { left };
        match point.samples(&mut bench, left, share)? {
            Some(samples) => calls.compared.extend(point.compared(&samples)),
            None => calls.left_out.push(point.name()),
        }
        progress.reach(done as f64 + 1.0);
    }
    progress.end();
    Ok(calls)
}

/// All calls, short ones first: many take no longer than one long call, and what they take is harder to predict.
fn points(ranks: &Ranks, machine: &Machine, extent: Extent) -> Result<Vec<Point>, Failure> {
    let mut points = Vec::new();
    for collective in Collective::ALL.into_iter().filter(|collective| Checked::corrects(*collective)) {
        let sizes = if collective.has_data() { &SIZES[..] } else { &[0] };
        for &bytes in sizes {
            let hosts = ranks.cube.hosts().filter(|_| collective.knows_hosts()).cloned();
            let call = Call { hosts, ..Call::new(collective, ranks.size, bytes / ELEMENT) };
            if largest_buffer(&call) > LARGEST_BUFFER {
                continue;
            }
            let mut serving = likely(&call, machine)?;
            serving.truncate(match extent {
                Extent::Choice => 1,
                // Some of them may turn out to be the same.
                Extent::All => 2 * MOST,
            });
            let mut candidates = distinct(&call, serving, |candidate| (candidate.algorithm, &candidate.parameters));
            candidates.truncate(MOST);
            points.push(Point { call, bytes, candidates });
        }
    }
    points.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.predicted().total_cmp(&b.predicted())));
    Ok(points)
}

/// The candidates that may be the fastest, the most likely ones first.
fn likely(call: &Call, machine: &Machine) -> Result<Vec<Candidate>, Failure> {
    let serving = |machine: &Machine| {
        let found = candidates(call, ELEMENT, &Options::default(), machine).map_err(|error| error.to_string())?;
        Ok::<_, Failure>(found.serving)
    };
    let close = |serving: &[Candidate]| {
        let short = if machine.shared.is_none() { SHORT } else { 0.0 };
        let most = serving.first().map_or(0.0, |first| short.max(CLOSE * first.predicted));
        serving.iter().take_while(|candidate| candidate.predicted <= most).count()
    };
    let all = serving(machine)?;
    let first = &all[..close(&all)];
    // What links let pass at once may have recovered between calls or not: if it has, starts alone decide. So these are among them, too.
    if largest_buffer(call) > 2 * machine.burst {
        return Ok(first.to_vec());
    }
    let free = serving(&Machine { t_c: machine.t_c / FREE, ..machine.clone() })?;
    // With a packet, and a tree, for these links.
    let form = |one: &Candidate| (one.algorithm.name, one.parameters.ports, one.parameters.packet.is_some());
    let same = |a: &Candidate, b: &Candidate| form(a) == form(b);
    let others = free[..close(&free)].iter().filter_map(|one| all.iter().find(|candidate| same(candidate, one)));
    let others: Vec<&Candidate> = others.collect();
    let mut likely: Vec<Candidate> = Vec::new();
    for nth in 0..first.len().max(others.len()) {
        for one in first.get(nth).into_iter().chain(others.get(nth).copied()) {
            if !likely.iter().any(|known| same(known, one)) {
                likely.push(*one);
            }
        }
    }
    Ok(likely)
}

impl Point {
    /// What all candidates together are predicted to take once.
    fn predicted(&self) -> f64 {
        self.candidates.iter().map(|candidate| candidate.predicted).sum()
    }

    fn jobs(&self) -> Vec<Job> {
        let job = |name: &str, options| Job {
            // The communicator knows its hosts itself.
            call: Call { hosts: None, ..self.call.clone() },
            bytes: self.bytes,
            implementation: name.into(),
            options,
            forced: None,
        };
        let exactly = |candidate: &Candidate| Some(Options::exactly(candidate.algorithm, &candidate.parameters));
        let ours = self.candidates.iter().map(|candidate| job(AUTO, exactly(candidate)));
        ours.chain([job(NATIVE, None)]).collect()
    }

    /// The samples of each of the jobs; of the candidates those are dropped that there is no time for. `None` if it is left for none. The share
    /// is what each of the calls to come may take.
    fn samples(&mut self, bench: &mut Bench, left: f64, share: f64) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        let predicted: Vec<f64> = self.candidates.iter().map(|candidate| candidate.predicted).collect();
        self.candidates.truncate(Turns::foreseen(&predicted, left));
        if self.candidates.is_empty() {
            return Ok(None);
        }
        let turns = Turns::new(bench, self.jobs(), left)?;
        self.candidates.truncate(turns.candidates());
        if self.candidates.is_empty() {
            return Ok(None);
        }
        turns.samples(bench, share).map(Some)
    }

    fn name(&self) -> String {
        name(&self.call, self.bytes)
    }

    fn compared(self, samples: &[Vec<f64>]) -> Option<Compared> {
        let summaries: Option<Vec<Summary>> = samples.iter().map(|samples| Summary::of(samples)).collect();
        let summaries = summaries?;
        let native = *summaries.last()?;
        let ours: Vec<_> = self.candidates.into_iter().zip(summaries).collect();
        (!ours.is_empty()).then_some(Compared { call: self.call, bytes: self.bytes, ours, native })
    }
}

/// A call in words.
fn name(call: &Call, bytes: usize) -> String {
    match call.collective.has_data() {
        true => format!("{} of {}", call.collective, show_bytes(bytes)),
        false => call.collective.to_string(),
    }
}

/// What samples that are so many times as large say.
fn scaled(summary: &Summary, factor: f64) -> Summary {
    let Summary { median, interval, min, max } = *summary;
    let interval = interval.map(|(low, high)| (low * factor, high * factor));
    Summary { median: median * factor, interval, min: min * factor, max: max * factor }
}

impl Compared {
    pub fn name(&self) -> String {
        name(&self.call, self.bytes)
    }

    /// The fastest of those that are faster than the choice.
    pub fn better(&self) -> Option<&(Candidate, Summary)> {
        let (first, others) = self.ours.split_first()?;
        let better = others.iter().filter(|(_, summary)| faster(summary, &first.1));
        better.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }

    /// What the fastest of ours took, noise or not.
    fn fastest(&self) -> &Summary {
        let others = self.ours[1..].iter().map(|(_, summary)| summary);
        others.fold(&self.ours[0].1, |fastest, other| if other.median < fastest.median { other } else { fastest })
    }

    /// The times of native MPI and of the fastest of ours, if native MPI is faster than that beyond doubt.
    pub fn native_is_faster(&self) -> Option<[f64; 2]> {
        let fastest = self.fastest();
        faster(&self.native, fastest).then_some([self.native.median, fastest.median])
    }

    fn timed(&self, by: By, time: f64) -> Timed {
        let Call { collective, .. } = self.call;
        Timed { collective, bytes: self.bytes, by, time: super::four_digits(time) }
    }

    /// What a tuning file keeps of ours, the choice first (and native MPI if it is faster). Of those that take as long in comparison
    /// with the choice as is predicted, and what noise adds, it keeps the time that is predicted: what noise makes the first of several
    /// that are alike here would be chosen in place of the right one elsewhere.
    fn of_ours(&self) -> impl Iterator<Item = Timed> + '_ {
        let (choice, first) = &self.ours[0];
        self.ours.iter().enumerate().map(|(nth, (candidate, summary))| {
            let expected = scaled(first, candidate.predicted / choice.predicted);
            let noise = !faster(summary, &expected) && !faster(&expected, summary);
            let mut time = if noise { expected.median } else { summary.median };
            // Nor is what is faster than predicted, but no faster than the choice, put before it.
            if nth > 0 && !faster(summary, first) {
                time = time.max(BEHIND * first.median);
            }
            self.timed(By::ours(candidate.algorithm, &candidate.parameters, ELEMENT), time)
        })
    }
}

impl Calls {
    /// What a tuning file keeps, by collective and size.
    pub fn kept(&self) -> Checked {
        let mut compared: Vec<&Compared> = self.compared.iter().collect();
        compared.sort_by_key(|compared| (compared.call.collective, compared.bytes));
        let collectives = compared.chunk_by(|a, b| a.call.collective == b.call.collective);
        Checked { spread: self.spread.clone(), times: collectives.flat_map(kept).collect() }
    }
}

/// What a tuning file keeps of calls of one collective, the shortest ones first. What one of ours took of a longer call, it takes of a shorter one
/// at most: where it drowns in noise at one size whether it is faster than the choice, the next one tells.
fn kept(compared: &[&Compared]) -> Vec<Timed> {
    let mut least: Vec<(By, Summary)> = Vec::new();
    let mut all = Vec::new();
    for compared in compared.iter().rev() {
        let mut told = (*compared).clone();
        let choice = compared.ours[0].1;
        for (nth, (candidate, summary)) in told.ours.iter_mut().enumerate() {
            let by = By::ours(candidate.algorithm, &candidate.parameters, ELEMENT);
            let noise = nth > 0 && !faster(summary, &choice) && !faster(&choice, summary);
            match least.iter_mut().find(|(known, _)| *known == by) {
                Some((_, least)) if least.median < summary.median && noise => *summary = *least,
                Some((_, least)) => *least = *summary,
                None => least.push((by, *summary)),
            }
        }
        let native = compared.native_is_faster().map(|[time, _]| compared.timed(By::Native, time));
        all.push(told.of_ours().chain(native).collect::<Vec<_>>());
    }
    all.into_iter().rev().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::select::tuning::Tuning;
    use hypercoll::select::Alone;

    /// A call that was measured to take so many times what is predicted, plus or minus one in a hundred, by the first candidates; and
    /// natively so many times what the choice is predicted to take.
    fn compared(times: &[f64], native: f64) -> Compared {
        let call = Call::new(Collective::Broadcast, 8, 1 << 17);
        let serving = candidates(&call, ELEMENT, &Options::default(), &Machine::network()).expect("sound").serving;
        let around = |time: f64| [0.99, 0.99, 0.995, 1.0, 1.0, 1.0, 1.005, 1.01, 1.01].map(|part| part * time);
        let native = Summary::of(&around(native * serving[0].predicted)).expect("samples");
        let measured = |(candidate, times): (&Candidate, &f64)| {
            // As close as can be.
            let candidate = Candidate { predicted: serving[0].predicted, ..*candidate };
            Some((candidate, Summary::of(&around(times * serving[0].predicted))?))
        };
        let ours = serving.iter().zip(times).filter_map(measured).collect();
        Compared { call, bytes: 1 << 20, ours, native }
    }

    #[test]
    fn noise_changes_no_order() {
        let order = |times: &[f64]| {
            let mut kept = kept(&[&compared(times, 1.0)]);
            kept.retain(|timed| timed.by != By::Native);
            let first = kept[0].time;
            kept.iter().map(|timed| (100.0 * timed.time / first).round()).collect::<Vec<_>>()
        };
        assert_eq!(order(&[1.0, 1.04, 0.96]), [100.0; 3]);
        assert_eq!(order(&[1.0, 1.2, 0.9]), [100.0, 120.0, 90.0]);
        // As long as is predicted, and a little less; shorter than that by far, and by noise than the choice; and beyond doubt.
        let mut slower = compared(&[1.0, 1.96, 0.98, 0.8], 1.0);
        slower.ours[1..].iter_mut().for_each(|(candidate, _)| candidate.predicted *= 2.0);
        let times: Vec<f64> = kept(&[&slower]).iter().map(|timed| timed.time / slower.ours[0].1.median).collect();
        assert!((times[1] - 2.0).abs() < 1e-3 && times[2] > 1.0 && times[2] < 1.01 && times[3] < 0.81, "{times:?}");
    }

    /// What is faster beyond doubt in the longer of two calls is in the shorter one, whatever noise says of that.
    #[test]
    fn a_shorter_call_takes_no_longer() {
        let first = |shorter: &[f64], longer: &[f64]| {
            let shorter = Compared { bytes: 1 << 10, ..compared(shorter, 10.0) };
            let both = vec![compared(longer, 10.0), shorter];
            let kept = Calls { spread: Spread::of(8, None, false), compared: both, left_out: vec![] }.kept();
            let short: Vec<&Timed> = kept.times.iter().filter(|timed| timed.bytes == 1 << 10).collect();
            short.iter().enumerate().min_by(|(_, a), (_, b)| a.time.total_cmp(&b.time)).map(|(nth, _)| nth)
        };
        assert_eq!(first(&[1.0, 1.02], &[1.0, 0.8]), Some(1));
        assert_eq!(first(&[0.7, 1.02], &[1.0, 0.8]), Some(0));
        // But of what its own samples tell, whatever else was slow meanwhile.
        assert_eq!(first(&[1.0, 1.3], &[0.9, 0.8]), Some(0));
        assert_eq!(first(&[1.0, 0.85], &[0.8, 1.0]), Some(1));
        assert_eq!(first(&[1.0, 0.8], &[1.0, 1.1]), Some(1));
        assert_eq!(first(&[1.0, 1.02], &[1.0, 1.02]), Some(0));
    }

    #[test]
    fn of_short_calls_over_links_many_are_compared() {
        let many = |machine: &Machine, bytes: usize| {
            let call = Call::new(Collective::Broadcast, 12, bytes / ELEMENT);
            let likely = likely(&call, machine).unwrap_or_else(|_| panic!("sound"));
            (likely.len(), likely.iter().any(|one| one.algorithm.name == "sbt"))
        };
        // As measured on a star of 12 emulated hosts.
        let alone = Some(Alone { tau: 14e-6, hop: 41e-6 });
        let star = Machine { tau: 119e-6, hop: 358e-6, alone, t_c: 174e-9, burst: 14208, ..Machine::network() };
        let (of_short, tried) = many(&star, 512);
        assert!(of_short >= MOST && tried && many(&star, 1 << 20).0 < MOST, "{of_short}");
    }

    #[test]
    fn native_is_kept_where_it_is_faster_and_no_noise() {
        let kept_of = |times: &[f64], native| kept(&[&compared(times, native)]);
        let native = |kept: Vec<Timed>| kept.iter().any(|timed| timed.by == By::Native);
        assert_eq!(kept_of(&[1.0, 1.04, 0.96], 0.96).len(), 3);
        assert!(native(kept_of(&[1.0, 1.2, 0.9], 0.8)) && !native(kept_of(&[1.0, 1.2, 0.9], 0.88)));
        // Only if it is faster than all of ours.
        assert!(!native(kept_of(&[1.0, 1.2, 0.8], 0.9)));
        // What is said of ours then is what the fastest took, even if noise may have made it the fastest.
        let fastest = compared(&[1.0, 0.97, 1.1], 0.8);
        assert_eq!(fastest.native_is_faster(), Some([fastest.native.median, fastest.ours[1].1.median]));
        // Too few samples tell nothing, whatever they say.
        let mut few = compared(&[1.0, 0.5], 0.1);
        few.ours[1].1.interval = None;
        assert_eq!((kept(&[&few]).len(), few.better().is_some(), few.native_is_faster()), (2, false, None));
    }

    /// What is kept makes the library choose what was measured to be the fastest, and through a file as well.
    #[test]
    fn what_is_kept_leads_to_the_better_choice() {
        for (times, best) in [([1.0, 0.9, 0.8], 2), ([1.0, 0.8, 0.9], 1), ([3.0, 3.1, 2.95], 0), ([0.1, 1.0, 1.0], 0)] {
            let compared = compared(&times, 1.0);
            let (call, wanted) = (compared.call.clone(), compared.ours[best].0);
            assert_eq!(compared.better().is_some(), best > 0);
            let calls = Calls { spread: Spread::of(8, None, false), compared: vec![compared], left_out: vec![] };
            let machine = Machine { checked: Some(calls.kept().into()), ..Machine::network() };
            let choice = hypercoll::select::choose(&call, ELEMENT, &Options::default(), &machine).expect("sound");
            assert_eq!(
                (choice.algorithm.name, choice.parameters),
                (wanted.algorithm.name, wanted.parameters),
                "{times:?}"
            );
            let text = "[machine]\nhost='h'\ncpu=''\nmpi=''\nhosts=8\nranks=8\nhypercoll='0'\ndate=''\n[parameters]\ntau=1\nhop=1\nt_c=1\n\
                        ports=1\npairs_linked=true\npacket=1\nburst=0\neager=0\n";
            let tuning = Tuning { checked: Some(calls.kept()), ..Tuning::parse(text).expect("sound") };
            assert_eq!(Tuning::parse(&tuning.text()).map(|tuning| tuning.checked), Ok(Some(calls.kept())));
        }
    }
}
