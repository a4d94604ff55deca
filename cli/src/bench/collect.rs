//! The results, out of what was measured.

use super::environment::yields;
use super::experiment::Experiment;
use super::measure::Measured;
use super::results::{Environment, Host, Method, Results, Row, RowParameters};
use super::{lengths, statistics, ELEMENT};
use hypercoll::address::Hosts;
use hypercoll::collective::Call;
use hypercoll::Hypercube;

/// A barrier that takes longer than this (in seconds) is one of ranks that do not give up their processor.
const CRAWLING: f64 = 2e-3;

/// Whether ranks go to the hosts in turn, and do not fill one after another: a host is left more often than there are others.
fn in_turn(hosts: &Hosts) -> bool {
    let host = |rank| hosts.host(hosts.place(rank));
    (1..hosts.ranks()).filter(|&rank| host(rank) != host(rank - 1)).count() >= hosts.len()
}

/// What was measured, with all that is to be known of it. Rank 0 calls this.
pub(super) fn collect(
    experiment: Experiment,
    environment: Environment,
    cube: &Hypercube,
    left_out: Vec<String>,
    measured: Measured,
) -> Results {
    let machine = cube.machine();
    let ranks = measured.jobs.first().map_or(0, |job| job.call.size);
    let oversubscribed = environment.hosts.iter().any(|host| host.ranks > host.cores);
    let mut warnings = warnings(&experiment, &environment, oversubscribed, &measured);
    warnings.extend(measured.screened.warnings);
    let on: Vec<usize> = environment.hosts.iter().map(|host| host.ranks).collect();
    let fabric = environment.fabric.clone().filter(|fabric| fabric.holds(&on));
    if let (Some(fabric), None) = (&environment.fabric, &fabric) {
        warnings.push(format!(
            "no limits are given: HYPERCOLL_FABRIC tells of a {fabric}, but the hosts have {on:?} ranks"
        ));
    }
    // Limits take ranks to fill one host after another; of equal blocks it does not matter which ones are where.
    let in_turn = cube.hosts().is_some_and(in_turn);
    let knows = |call: &Call| !in_turn || call.layout.is_none();
    let rows = measured.jobs.iter().zip(measured.samples).zip(measured.explanations);
    let results = rows.filter_map(|((job, samples), explanation)| {
        let summary = statistics::Summary::of(&samples)?;
        let bytes = job.bandwidth_bytes();
        Some(Row {
            collective: job.call.collective.name().into(),
            size_bytes: job.bytes,
            count: job.bytes / ELEMENT,
            lengths: lengths::of_blocks(&job.call),
            element: "f64".into(),
            implementation: job.implementation.clone(),
            algorithm: explanation.as_ref().map(|e| e.algorithm.to_string()),
            source: explanation.as_ref().map(|e| e.source.to_string()),
            parameters: explanation.as_ref().map(|e| RowParameters {
                // A packet that holds all is none.
                packet_bytes: e.parameters.packet.filter(|p| *p < job.call.space().len()).map(|p| p * ELEMENT),
                ports: e.parameters.ports.name().into(),
                symmetrized: e.parameters.symmetrized,
            }),
            native: job.is_native(),
            predicted_s: explanation.as_ref().map(|e| e.predicted),
            median_s: summary.median,
            ci_low_s: summary.interval.map(|(low, _)| low),
            ci_high_s: summary.interval.map(|(_, high)| high),
            limit_s: fabric.as_ref().filter(|_| knows(&job.call)).and_then(|fabric| fabric.limit(&job.call, ELEMENT)),
            min_s: summary.min,
            max_s: summary.max,
            algbw: (bytes > 0).then(|| bytes as f64 / summary.median),
            samples_s: samples,
        })
    });
    Results {
        environment,
        ranks,
        oversubscribed,
        warnings,
        results: results.collect(),
        screening: measured.screened.tried,
        method: Method {
            experiment: experiment.name,
            description:
                "barrier of the library (over links by dissemination) before every repetition; time = maximum over ranks; jobs in \
                          shuffled order in every pass; warm-up discarded; results verified beforehand; native algorithms \
                          are forced on duplicates of the communicator"
                    .into(),
            passes: experiment.passes,
            passes_done: measured.passes_done,
            repetitions: experiment.repetitions,
            warm_up: experiment.warm_up,
            pause: experiment.pause,
            seconds: experiment.seconds,
            seconds_taken: measured.seconds,
            seed: experiment.seed,
            lengths: experiment.lengths,
            confidence: statistics::CONFIDENCE,
            machine: Some((machine.name.clone(), machine.tau, machine.t_c)),
            times: Some(machine.times()),
            transport: Some(cube.transport()),
            packet_bytes: experiment.packet,
            left_out,
        },
    }
}

fn warnings(
    experiment: &Experiment,
    environment: &Environment,
    oversubscribed: bool,
    measured: &Measured,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let over: Vec<&Host> = environment.hosts.iter().filter(|host| host.ranks > host.cores).collect();
    let open_mpi = environment.mpi_library.contains("Open MPI");
    if let Some(host) = over.first() {
        if measured.barrier > CRAWLING || open_mpi && !yields() {
            warnings.push(format!(
                "{} ranks share {} cores of {} and seem not to give them up while they wait (a barrier takes {:.0} us): times \
                 are of little worth; with Open MPI use --oversubscribe or --mca mpi_yield_when_idle 1",
                host.ranks,
                host.cores,
                host.name,
                measured.barrier * 1e6
            ));
        }
    }
    if !oversubscribed && open_mpi && yields() && environment.variables.contains_key("OMPI_MCA_mpi_yield_when_idle") {
        warnings
            .push("ranks yield their cores although there are enough (mpi_yield_when_idle): latencies suffer".into());
    }
    let passes = experiment.passes.min(experiment.repetitions);
    if 2 * measured.passes_done <= passes && passes > 1 {
        warnings.push(format!("time was enough for {} of {passes} passes only (see --seconds)", measured.passes_done));
    }
    if environment.debug_build {
        warnings.push("this is a debug build; build with --release to measure".into());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_fill_one_host_after_another_or_go_to_them_in_turn() {
        for (names, turns) in
            [("a", false), ("aab", false), ("abbcc", false), ("abab", true), ("aaba", true), ("abcb", true)]
        {
            let names: Vec<char> = names.chars().collect();
            assert_eq!(Hosts::of(&names).as_ref().is_some_and(in_turn), turns, "{names:?}");
        }
    }
}
