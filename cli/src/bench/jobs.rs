//! The jobs of an experiment: every collective, size and implementation.

use super::candidates::Forced;
use super::experiment::Experiment;
use super::lengths;
use super::ELEMENT;
use hypercoll::algorithm::{registry, Algorithm, Parameters, PortModel};
use hypercoll::collective::Call;
use hypercoll::schedule::Schedule;
use hypercoll::select::{Machine, Options};

/// Name of MPI's own implementation in tables and files.
pub const NATIVE: &str = "native";
/// Name of the library's own choice, which is what a user gets who asks for nothing.
pub const AUTO: &str = "auto";
/// Forms are compared on so many ranks at most.
const COMPARED_RANKS: usize = 32;

/// One line of the tables.
#[derive(Clone, Debug)]
pub struct Job {
    pub call: Call,
    /// Bytes of the vector or of a block, in the mean.
    pub bytes: usize,
    /// [`NATIVE`], [`AUTO`], or an algorithm and its form.
    pub implementation: String,
    /// What is asked of the library; `None` for native.
    pub options: Option<Options>,
    /// The native algorithm, if it is not MPI's own choice.
    pub forced: Option<Forced>,
}

impl Job {
    pub fn is_native(&self) -> bool {
        self.options.is_none()
    }

    /// The same call by a native algorithm that is not MPI's own choice.
    pub fn with_forced(&self, forced: Forced) -> Job {
        Job { implementation: forced.to_string(), options: None, forced: Some(forced), ..self.clone() }
    }

    /// Bytes that bandwidths count: those of the largest buffer that a rank passes, as NVIDIA's nccl-tests do.
    pub fn bandwidth_bytes(&self) -> usize {
        largest_buffer(&self.call)
    }
}

/// The jobs, by collective, then size, and what was left out.
pub fn of(experiment: &Experiment, size: usize, machine: &Machine, native: bool) -> (Vec<Job>, Vec<String>) {
    let (mut jobs, mut left_out) = (Vec::new(), Vec::new());
    for (collective, sizes) in &experiment.runs {
        for &bytes in sizes {
            // Of permutations the reversal: with all bits of the address different, it is the longest way on the cube.
            let equal = Call::new(*collective, size, bytes / ELEMENT);
            let call = || experiment.lengths.call(*collective, size, bytes / ELEMENT, experiment.seed);
            // What cannot be counted is too large, too.
            let call = equal.check().ok().map(|()| call());
            let Some(call) = call.filter(|call| largest_buffer(call) <= experiment.largest_buffer) else {
                left_out.push(format!("{collective} of {}", super::sizes::show_bytes(bytes)));
                continue;
            };
            let mut add = |implementation: String, options| {
                jobs.push(Job { call: call.clone(), bytes, implementation, options, forced: None });
            };
            if native {
                add(NATIVE.into(), None);
            }
            add(AUTO.into(), Some(Options::default()));
            // Of barriers the choice alone: each repetition starts with one.
            for algorithm in registry::of(*collective).filter(|_| collective.has_data()) {
                if experiment.algorithms.is_empty() || experiment.algorithms.iter().any(|name| name == algorithm.name) {
                    let packet = experiment.packet.map(|packet| packet / ELEMENT);
                    forms(algorithm, &call, machine, packet).into_iter().for_each(|(n, o)| add(n, Some(o)));
                }
            }
        }
    }
    (jobs, left_out)
}

/// The forms of an algorithm that differ for a call: one port or all ports (there symmetrised, if it can be), whole
/// messages or packets.
fn forms(
    algorithm: &'static Algorithm,
    call: &Call,
    machine: &Machine,
    packet: Option<usize>,
) -> Vec<(String, Options)> {
    let mut forms: Vec<(String, Parameters)> = Vec::new();
    for (ports, suffix) in [(PortModel::OnePort, ""), (PortModel::AllPorts, " all-ports")] {
        let symmetrized = algorithm.symmetrizes && ports == PortModel::AllPorts;
        let parameters = Parameters { symmetrized, ..Parameters::new(ports) };
        let whole = call.space().len().max(1);
        // The packet that the library would take, or the one that is asked for.
        let suggested = suggested_packet(algorithm, call, &parameters, machine);
        let packet = packet.or(suggested).filter(|packet| *packet < whole);
        // Where packets have a limit, longer messages take several times as long: hardly worth the time of measuring them.
        let too_long = machine.packet_limit.is_some_and(|limit| call.count * ELEMENT > limit);
        if packet.is_none() || !too_long {
            forms.push((format!("{}{suffix}", algorithm.name), parameters));
        }
        if packet.is_some() {
            forms.push((format!("{}{suffix} packets", algorithm.name), Parameters { packet, ..parameters }));
        }
    }
    let knows_enough = |parameters: &Parameters| algorithm.needs(call, parameters) <= lengths::known(call);
    forms.retain(|(_, parameters)| algorithm.accepts(call, parameters).is_ok() && knows_enough(parameters));
    // On small cubes, and for whole messages, forms become the same: it would be measured twice.
    let kept = distinct(call, forms, |(_, parameters)| (algorithm, parameters));
    kept.into_iter()
        .map(|(name, parameters)| (name, Options { latency: None, ..Options::exactly(algorithm, &parameters) }))
        .collect()
}

/// Of forms of algorithms those that make ranks do something else in a call than the ones before.
pub fn distinct<F>(call: &Call, forms: Vec<F>, form: impl Fn(&F) -> (&'static Algorithm, &Parameters)) -> Vec<F> {
    let mut kept: Vec<(F, Vec<Schedule>)> = Vec::new();
    for one in forms {
        let (algorithm, parameters) = form(&one);
        let ranks = 0..call.size.min(COMPARED_RANKS);
        let schedules: Vec<_> = ranks.map(|rank| algorithm.schedule(call, parameters, rank)).collect();
        if kept.iter().all(|(_, known)| !known.iter().zip(&schedules).all(|(a, b)| same(a, b))) {
            kept.push((one, schedules));
        }
    }
    kept.into_iter().map(|(one, _)| one).collect()
}

/// The packet in elements that the library takes for an algorithm and port model, if any.
fn suggested_packet(algorithm: &Algorithm, call: &Call, parameters: &Parameters, machine: &Machine) -> Option<usize> {
    let asked = Options { packet: None, ..Options::exactly(algorithm, parameters) };
    let candidates = hypercoll::select::candidates(call, ELEMENT, &asked, machine).ok()?;
    candidates.serving.iter().find_map(|candidate| candidate.parameters.packet)
}

/// Whether two schedules make a rank do the same; round numbers are of no account to executors.
fn same(a: &Schedule, b: &Schedule) -> bool {
    a.operations().len() == b.operations().len()
        && a.operations()
            .iter()
            .zip(b.operations())
            .all(|(x, y)| x.kind == y.kind && a.ranges(x) == b.ranges(y) && a.dependencies(x) == b.dependencies(y))
}

/// Bytes of the largest buffer that some rank passes.
pub fn largest_buffer(call: &Call) -> usize {
    // The root has the largest ones; without a root all are alike.
    call.send_len(call.root).max(call.receive_len(call.root)).saturating_mul(ELEMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::experiment;

    fn machine() -> Machine {
        let machines = hypercoll::threads::run(1, |cube| cube.machine().clone());
        machines.into_iter().next().expect("one for each rank")
    }

    fn names(collective: &str, size: usize, sizes: &str) -> Vec<String> {
        let text = format!("name = 'a'\n[[run]]\ncollectives = ['{collective}']\nsizes = '{sizes}'");
        let experiment = experiment::parse(&text).unwrap();
        let (jobs, left_out) = of(&experiment, size, &machine(), true);
        assert!(left_out.is_empty());
        jobs.into_iter().map(|job| job.implementation).collect()
    }

    #[test]
    fn every_form_is_there_once() {
        assert_eq!(names("barrier", 8, "0"), ["native", "auto"]);
        assert_eq!(names("all-gather", 8, "64")[..2], ["native", "auto"]);
        assert!(names("all-gather", 8, "64").contains(&"complete_broadcast all-ports".into()));
        // On two ranks symmetrised is what plain is.
        assert!(!names("all-gather", 2, "64").contains(&"complete_broadcast all-ports".into()));
        // One element makes no packets, and takes the same way down the tree on one port as on all.
        let short = names("broadcast", 8, "8");
        assert!(short.contains(&"sbt".into()) && !short.contains(&"sbt all-ports".into()), "{short:?}");
        assert!(short.iter().all(|name| !name.contains("packets")), "{short:?}");
        let long = names("broadcast", 8, "4MiB");
        for name in ["sbt", "sbt all-ports packets", "msbt packets", "msbt all-ports packets"] {
            assert!(long.contains(&name.into()), "{name} is not in {long:?}");
        }
    }

    #[test]
    fn every_algorithm_accepts_what_it_is_asked() {
        let experiment = experiment::parse(experiment::BUILT_IN[0].1).unwrap();
        let machine = machine();
        for size in [1, 2, 3, 6, 8] {
            for job in of(&experiment, size, &machine, true).0 {
                if let Some(options) = &job.options {
                    hypercoll::select::choose(&job.call, ELEMENT, options, &machine).unwrap();
                }
            }
        }
    }

    #[test]
    fn buffers_beyond_the_limit_are_left_out() {
        let text = "name = 'a'\nlargest_buffer = '1KiB'\n[[run]]\ncollectives = ['all-to-all']\nsizes = '128,256,8589934592GiB'";
        let (jobs, left_out) = of(&experiment::parse(text).unwrap(), 8, &machine(), false);
        assert!(jobs.iter().all(|job| job.bytes == 128));
        assert_eq!(left_out, ["all-to-all of 256 B", "all-to-all of 8589934592 GiB"]);
        let text = "name = 'a'\nlengths = 'zipf'\n[[run]]\ncollectives = ['scatter']\nsizes = '8589934592GiB'";
        for size in [1, 2, 64] {
            assert_eq!(of(&experiment::parse(text).unwrap(), size, &machine(), false).1.len(), 1, "{size}");
        }
    }
}
