//! `hypercoll tune`: measures what the choice of algorithms needs to know of a machine, and writes the tuning file.

#[cfg(feature = "mpi")]
mod calls;
#[cfg(feature = "mpi")]
mod check;
#[cfg(feature = "mpi")]
mod eager;
#[cfg(feature = "mpi")]
mod links;
#[cfg(feature = "mpi")]
mod packet;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(feature = "mpi")]
mod report;
#[cfg(feature = "mpi")]
mod shared;
#[cfg(feature = "mpi")]
mod turns;

use crate::Failure;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `hypercoll tune`.
#[derive(clap::Args)]
#[command(after_help = "Under mpirun, on the hosts and with the settings of MPI that programs will use, for instance:
  mpirun -n 8 --oversubscribe hypercoll tune
  mpirun --hostfile hosts hypercoll tune --out cluster.toml
  mpirun -n 8 --oversubscribe hypercoll tune --check
Where hosts have several ranks, one of each measures the links between them, and all of them together what messages within a host, and
the starts of messages, take while all are at work. Then calls of every collective are made in several sizes, by the algorithms that are
predicted to be the first, and natively; where a prediction is wrong, the file corrects it.
The file goes to the default place, ~/.config/hypercoll/<host>-<shared|network>.toml, where programs on this machine find it by
themselves, or where --out says, and HYPERCOLL_TUNING=FILE names it to programs.")]
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub struct TuneArgs {
    /// Write the tuning file here
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure nothing anew, but compare what is predicted with what calls take
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// With --check: the tuning file, instead of the one that programs find here
    #[arg(long, value_name = "FILE", requires = "check")]
    tuning: Option<PathBuf>,
    /// Time for everything, in seconds, about
    #[arg(long, default_value_t = 90.0, value_parser = seconds)]
    seconds: f64,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (1.0..=3600.0).contains(seconds));
    seconds.ok_or_else(|| format!("'{text}' is no number of seconds from 1 to 3600"))
}

#[cfg(not(feature = "mpi"))]
pub fn run(_: &TuneArgs, _: &mut dyn Write) -> Result<(), Failure> {
    Err(Failure::Usage("this hypercoll was built without MPI, for which it is to be tuned".into()))
}

#[cfg(feature = "mpi")]
pub fn run(args: &TuneArgs, out: &mut dyn Write) -> Result<(), Failure> {
    use hypercoll::select::Overrides;
    // What is measured is the machine, not what a user has asked for, nor does a file that is yet to be written matter.
    match (args.check, &args.tuning) {
        (false, _) => std::env::set_var("HYPERCOLL_TUNING", ""),
        (true, Some(file)) => std::env::set_var("HYPERCOLL_TUNING", file),
        (true, None) => {}
    }
    Overrides::VARIABLES.iter().chain(&["HYPERCOLL_MEASURE"]).for_each(|name| std::env::remove_var(name));
    let universe = mpi::initialize().ok_or_else(|| "MPI is initialised already".to_string())?;
    crate::launch::check(&universe.world())?;
    let ranks = ranks::Ranks::new(universe.world())?;
    let outcome = match args.check {
        _ if ranks.size < 2 => {
            Err(Failure::Usage("ranks: 1; a machine is measured between at least 2 (mpirun -n 8 ...)".into()))
        }
        true => check::run(args, &ranks, out),
        false => tune(args, &ranks, out),
    };
    // While MPI is up: when the first rank has gone with an error, the launcher ends the others, and their words are lost.
    outcome.map_err(|failure| {
        let (Failure::Usage(message) | Failure::Found(message)) = &failure;
        if ranks.rank == 0 {
            eprintln!("hypercoll: {message}");
        }
        match failure {
            Failure::Usage(_) => Failure::Usage(String::new()),
            Failure::Found(_) => Failure::Found(String::new()),
        }
    })
}

/// The parts of the time for the machine and for calls.
#[cfg(feature = "mpi")]
const FOR_MACHINE: f64 = 0.4;
#[cfg(feature = "mpi")]
const FOR_CALLS: f64 = 0.55;

/// How often is measured what messages take while all ranks are at work.
#[cfg(feature = "mpi")]
const AT_WORK: usize = 7;

/// All of it, on one rank; rank 0 prints and writes.
#[cfg(feature = "mpi")]
fn tune(args: &TuneArgs, ranks: &ranks::Ranks, out: &mut dyn Write) -> Result<(), Failure> {
    use crate::bench::progress::Progress;
    use hypercoll::select::tuning::Tuning;
    let first = ranks.rank == 0;
    let origin = report::origin(ranks);
    // A file that cannot be written is better found out before than after the measurement.
    let place = if first { report::place(args.out.as_deref(), &origin.host, ranks.cores.is_some()) } else { Ok(None) };
    if ranks.any(place.is_err()) {
        return Err(Failure::Usage(place.err().unwrap_or_default()));
    }
    let before = place.as_ref().ok().and_then(Option::as_deref);
    let wiring = before.and_then(|place| report::wiring(place, &origin));
    let progress = Progress::new(first);
    // Before and after all else: what disturbs the machine for a while is not in most of them.
    let mut at_work: Vec<_> = (0..AT_WORK / 2).map(|_| ranks.measured()).collect();
    let found = machine(ranks, FOR_MACHINE * args.seconds, &progress)?;
    at_work.extend((at_work.len()..AT_WORK).map(|_| ranks.measured()));
    let measured = found.map(|found| found.with(ranks, &usual(&at_work), origin, wiring));
    // All ranks go on with what the first one has found.
    let text = measured.as_ref().map_or(String::new(), |(tuning, _, _)| tuning.text());
    let mut tuning = Tuning::parse(&ranks.of_first(&text))
        // Where noise has left nothing of a time, what would be written would be refused.
        .map_err(|error| {
            Failure::Found(format!("what was measured makes no file: {error} (a time of 0: the machine was too busy)"))
        })?;
    let machine = tuning.machine(ranks.cores);
    ranks.sound(ranks.cube.copy_as(&machine));
    let calls = calls::measure(ranks, &machine, FOR_CALLS * args.seconds, calls::Extent::All, &progress)?;
    tuning.checked = Some(calls.kept());
    let (Some((_, links, packet)), true) = (measured, first) else { return Ok(()) };
    let place = place.ok().flatten();
    if let Some(place) = &place {
        crate::output::write(place, &tuning.text())?;
    }
    let found = report::Found { tuning, links, packet, calls, place };
    if args.json {
        writeln!(out, "{}", found.json())?;
        return Ok(());
    }
    found.print(out)
}

/// What was measured of a machine.
#[cfg(feature = "mpi")]
struct Found {
    eager: usize,
    links: links::Links,
    packet: packet::Packet,
}

/// Of each time that was measured several times the lower quartile, as whatever disturbs a message makes it longer; of what is sooner, and
/// of what comes of differences, the median.
#[cfg(feature = "mpi")]
fn usual(all: &[hypercoll::select::Measurement]) -> hypercoll::select::Measurement {
    use hypercoll::select::{Alone, Measurement, Times, Together};
    let quartile = |part: &dyn Fn(&Measurement) -> Option<f64>| {
        let mut values: Vec<f64> = all.iter().filter_map(part).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 4).copied()
    };
    let times = |of: &dyn Fn(&Measurement) -> Option<Times>| {
        let part = |part: fn(Times) -> f64| quartile(&|measured| of(measured).map(part));
        let (tau, hop, t_c) = (part(|times| times.tau)?, part(|times| times.hop)?, part(|times| times.t_c)?);
        Some(Times { tau, hop, t_c })
    };
    let alone = |part: fn(Alone) -> f64| quartile(&|measured| measured.alone.map(part));
    let median = |part: fn(&Measurement) -> Option<usize>| {
        let mut values: Vec<usize> = all.iter().filter_map(part).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied()
    };
    Measurement {
        times: times(&|m| m.times),
        together: Together { tau: quartile(&|m| m.together.tau), hop: quartile(&|m| m.together.hop) },
        alone: alone(|alone| alone.tau).zip(alone(|alone| alone.hop)).map(|(tau, hop)| Alone { tau, hop }),
        burst: median(|m| m.burst),
        piped: quartile(&|m| m.piped),
        single_copy_from: median(|m| m.single_copy_from),
        near: times(&|m| m.near),
        ..Measurement::default()
    }
}

/// Measures the machine for about so many seconds (all ranks call this together); found by one rank of each host at least.
#[cfg(feature = "mpi")]
fn machine(
    ranks: &ranks::Ranks,
    seconds: f64,
    progress: &crate::bench::progress::Progress,
) -> Result<Option<Found>, Failure> {
    progress.start("measuring", 1.0);
    let reach = |done: f64| progress.reach(done);
    let some = ranks.one_a_host();
    // The others would wait for those that measure.
    if ranks.any(some.is_err()) {
        return Err(some
            .err()
            .unwrap_or_else(|| Failure::Usage("the first rank of another host cannot measure".into())));
    }
    let found = some?.map(|some| {
        // The parts of the time are what the steps need on a slow network.
        let eager = eager::boundary(&some);
        reach(0.1);
        let links = match some.cores {
            Some(cores) => shared::measure(&some, cores, 0.5 * seconds),
            None => links::measure(&some, eager, 0.6 * seconds, &reach),
        };
        reach(0.7);
        let packet = packet::measure(&some, links.t_c.median, eager, 0.3 * seconds);
        Found { eager, links, packet }
    });
    ranks.meet();
    progress.end();
    Ok(found)
}

#[cfg(feature = "mpi")]
impl Found {
    /// The tuning file, with what was measured when all ranks were at work, and what the user has said of links; and what else is known of
    /// links and packets.
    fn with(
        self,
        ranks: &ranks::Ranks,
        at_work: &hypercoll::select::Measurement,
        origin: hypercoll::select::tuning::Origin,
        wiring: Option<hypercoll::select::OfLinks>,
    ) -> (hypercoll::select::tuning::Tuning, links::Links, packet::Packet) {
        use hypercoll::select::tuning::{Measured, Shared, Tuning};
        use hypercoll::select::{Alone, Measurement, SharedMemory, Times, Together, Wiring};
        use ranks::Value;
        let Found { eager, mut links, packet } = self;
        let Measurement { times, together, alone, burst, piped, single_copy_from, near, .. } = *at_work;
        if let Some(Times { tau, hop, .. }) = times.filter(|_| near.is_some()) {
            (links.tau, links.hop) = (Value::once(tau), Value::once(hop));
        }
        let parameters = Measured {
            tau: four_digits(links.tau.median),
            hop: four_digits(links.hop.median),
            t_c: four_digits(links.t_c.median),
            ports: links.ports,
            pairs_linked: wiring.map_or(links.pairs_linked, |links| links.wiring != Wiring::Cube),
            packet: packet.best,
            burst: burst.unwrap_or(0),
            eager,
        };
        let tuning = Tuning {
            machine: origin,
            parameters,
            shared_memory: ranks.cube.machine().shared.map(|SharedMemory { cores, cache }| Shared {
                cores,
                cache,
                piped: piped.map(four_digits),
            }),
            near: near.map(|Times { tau, hop, t_c }| Times {
                tau: four_digits(tau),
                hop: four_digits(hop),
                t_c: four_digits(t_c),
            }),
            single_copy_from,
            together: Together { tau: together.tau.map(four_digits), hop: together.hop.map(four_digits) },
            alone: alone.map(|Alone { tau, hop }| Alone { tau: four_digits(tau), hop: four_digits(hop) }),
            wiring,
            checked: None,
        };
        (tuning, links, packet)
    }
}

/// As much as such measurements are good for.
#[cfg(feature = "mpi")]
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(all(test, feature = "mpi"))]
mod tests {
    use super::usual;
    use hypercoll::select::{Alone, Measurement, Times, Together};

    #[test]
    fn what_was_disturbed_does_not_count() {
        let of = |times: f64| {
            let one = Times { tau: times, hop: 2.0 * times, t_c: 3.0 * times };
            let single_copy_from = Some(if times < 2.0 { 1 } else { usize::MAX });
            Measurement {
                times: Some(one),
                together: Together { tau: Some(5.0 * times), hop: Some(4.0 * times) },
                alone: Some(Alone { tau: 6.0 * times, hop: 7.0 * times }),
                burst: Some(if times < 1.15 { 0 } else { 1000 }),
                single_copy_from,
                near: Some(one),
                ..Measurement::default()
            }
        };
        let found = usual(&[of(50.0), of(1.1), of(1.0), of(40.0), of(1.2), of(30.0), of(1.3)]);
        assert_eq!(found, Measurement { burst: Some(1000), ..of(1.1) });
        assert_eq!(usual(&[]), Measurement::default());
    }
}
