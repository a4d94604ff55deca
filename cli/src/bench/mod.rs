//! `hypercoll bench`: every algorithm against MPI's own collectives, side by side.

pub mod arena;
pub mod budget;
mod candidates;
pub mod environment;
mod experiment;
pub mod fabric;
pub mod jobs;
pub mod lengths;
mod limit;
pub mod measure;
#[cfg(feature = "mpi")]
mod mpich;
#[cfg(feature = "mpi")]
pub mod native;
#[cfg(not(feature = "mpi"))]
#[path = "no_native.rs"]
mod native;
pub mod progress;
mod report;
pub mod results;
mod screening;
pub mod sizes;
pub mod statistics;

use crate::Failure;
use experiment::Experiment;
use hypercoll::collective::Collective;
use hypercoll::{threads, Hypercube, SystemOperation};
use measure::Measured;
use native::Native;
use progress::Progress;
use results::{Environment, Host, Method, Results, Row, RowParameters};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Bytes of an element.
pub const ELEMENT: usize = size_of::<f64>();

/// A barrier that takes longer than this (in seconds) is one of ranks that do not give up their processor.
const CRAWLING: f64 = 2e-3;

/// Arguments of `hypercoll bench`.
#[derive(clap::Args, Clone)]
#[command(after_help = "Under mpirun, for instance:
  mpirun -n 8 --oversubscribe hypercoll bench
  mpirun -n 4 hypercoll bench broadcast all-reduce --sizes 8..4MiB --out results.json
  mpirun -n 4 hypercoll bench broadcast --algorithms msbt --packet 16KiB --repetitions 1000
Every implementation is timed on the same buffers in the same run, in shuffled order, so that whatever disturbs the machine
disturbs all of them. With Open MPI and MPICH, all algorithms that native MPI can be made to use are tried for a short time first, and the
best of them are measured beside its own choice. See bench/experiments/default.toml for what is run without arguments.")]
pub struct BenchArgs {
    /// Only these collectives
    collectives: Vec<Collective>,
    /// What to measure: a TOML file, or one of default, quick, latency, bandwidth, fabric, lengths, papers, transposes
    #[arg(long, value_name = "FILE|NAME")]
    experiment: Option<String>,
    /// Bytes of the vector or block: 8,1KiB,4MiB, or MIN..MAX (steps of x4), or MIN..MAX:FACTOR
    #[arg(long)]
    sizes: Option<String>,
    /// Only these algorithms, besides native and auto (the library's own choice); auto: that one alone
    #[arg(long, value_delimiter = ',')]
    algorithms: Option<Vec<String>>,
    /// Packet size in bytes for the forms with packets, instead of the best one by formula
    #[arg(long, value_name = "BYTES", value_parser = sizes::parse_bytes)]
    packet: Option<usize>,
    /// Repetitions of each job, at most; the default experiment says 200
    #[arg(long)]
    repetitions: Option<usize>,
    /// Time for everything, in seconds; the default experiment says 90
    #[arg(long)]
    seconds: Option<f64>,
    /// Passes over all jobs, each in a new order; the default experiment says 10
    #[arg(long)]
    passes: Option<usize>,
    /// Repetitions that do not count, before the others of a pass
    #[arg(long)]
    warm_up: Option<usize>,
    /// Seconds that every rank computes before each repetition: calls come cold, one at a time
    #[arg(long)]
    pause: Option<f64>,
    /// Seed of the order
    #[arg(long)]
    seed: Option<u64>,
    /// Native MPI as it chooses by itself, or also with the best of its algorithms and segment sizes (where it lets them be
    /// forced: Open MPI does), or not at all
    #[arg(long, value_enum, default_value = "best")]
    native: NativeMode,
    /// Write the results, every sample included, to this file as JSON
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Print the results as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Print what would be measured
    #[arg(long)]
    list: bool,
    /// Ranks as threads of this process instead of under mpirun: ours only, nothing native
    #[arg(long, value_name = "RANKS")]
    threads: Option<usize>,
}

/// What native MPI is compared as.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Debug)]
enum NativeMode {
    None,
    Default,
    Best,
}

/// One rank's means: the library, and MPI itself where there is one.
pub struct Side<'s> {
    pub cube: &'s Hypercube,
    pub native: Option<&'s Native>,
}

impl Side<'_> {
    /// Whether messages go over links.
    pub fn over_links(&self) -> bool {
        self.cube.machine().shared.is_none()
    }

    /// Element by element the largest value of all ranks, by native MPI if there is one: it then does not touch what is
    /// being measured.
    pub fn maximum(&self, values: &mut [f64]) -> Result<(), Failure> {
        match self.native {
            Some(native) => {
                native.maximum(values);
                Ok(())
            }
            None => self.sound(self.cube.all_reduce_in_place(values, SystemOperation::Max)),
        }
    }

    /// A failure in the midst of a collective leaves the others waiting: it ends them all.
    fn sound(&self, outcome: hypercoll::Result<()>) -> Result<(), Failure> {
        outcome.map_err(|error| {
            if let Some(native) = self.native {
                eprintln!("hypercoll: rank {}: {error}", self.cube.rank());
                native.abort();
            }
            Failure::Found(error.to_string())
        })
    }
}

pub fn run(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Failure> {
    match args.threads {
        None => under_mpi(args, out),
        Some(ranks) if !(1..=1 << 12).contains(&ranks) => {
            Err(Failure::Usage(format!("threads: {ranks} ranks; 1 to 4096 are possible")))
        }
        Some(ranks) => {
            let outcomes = threads::run(ranks, |cube| {
                let mut out = Vec::new();
                let machine = Library { name: "none (threads of one process)".into(), standard: None };
                let outcome = on_rank(args, &Side { cube, native: None }, "this process", machine, &mut out);
                (outcome, out)
            });
            let (outcome, text) = outcomes.into_iter().next().unwrap_or((Ok(()), Vec::new()));
            out.write_all(&text)?;
            outcome
        }
    }
}

#[cfg(feature = "mpi")]
fn under_mpi(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Failure> {
    use mpi::traits::Communicator;
    if args.native == NativeMode::Best {
        native::allow_forcing();
    }
    let universe = mpi::initialize().ok_or_else(|| "MPI is initialised already".to_string())?;
    let cube = Hypercube::new(&universe.world()).map_err(|error| error.to_string())?;
    let native = Native::new(universe.world());
    let host = mpi::environment::processor_name().unwrap_or_else(|_| "unnamed host".into());
    let library = mpi::environment::library_version().unwrap_or_else(|_| "unknown".into());
    let (version, subversion) = mpi::environment::version();
    let library = Library { name: short(&library), standard: Some(format!("{version}.{subversion}")) };
    debug_assert_eq!(universe.world().size() as usize, cube.size());
    let outcome = on_rank(args, &Side { cube: &cube, native: Some(&native) }, &host, library, out);
    // While MPI is up: when the first rank has gone with an error, the launcher ends the others, and their words are lost.
    // What all ranks would say alike is said once.
    outcome.map_err(|failure| {
        let (Failure::Usage(message) | Failure::Found(message)) = &failure;
        if !message.is_empty() && (cube.rank() == 0 || matches!(failure, Failure::Found(_))) {
            eprintln!("hypercoll: {message}");
        }
        match failure {
            Failure::Usage(_) => Failure::Usage(String::new()),
            Failure::Found(_) => Failure::Found(String::new()),
        }
    })
}

#[cfg(not(feature = "mpi"))]
fn under_mpi(_: &BenchArgs, _: &mut dyn Write) -> Result<(), Failure> {
    Err(Failure::Usage("this hypercoll was built without MPI; use --threads RANKS".into()))
}

/// The name and version out of what MPI libraries say of themselves.
#[cfg(feature = "mpi")]
fn short(library: &str) -> String {
    let line = library.lines().next().unwrap_or_default();
    line.split(", package").next().unwrap_or(line).trim_end_matches('\0').trim().to_string()
}

/// The MPI library.
struct Library {
    name: String,
    standard: Option<String>,
}

/// All of it, on one rank; rank 0 prints.
fn on_rank(args: &BenchArgs, side: &Side, host: &str, library: Library, out: &mut dyn Write) -> Result<(), Failure> {
    let experiment = experiment::of(args)?;
    let fabric = environment::fabric()?;
    let with_native = side.native.is_some() && args.native != NativeMode::None;
    let (jobs, left_out) = jobs::of(&experiment, side.cube.size(), side.cube.machine(), with_native);
    let first = side.cube.rank() == 0;
    if args.list {
        return if first { list(&jobs, out) } else { Ok(()) };
    }
    if jobs.is_empty() {
        return Err(Failure::Usage("largest_buffer: no job is small enough".into()));
    }
    // A file that cannot be written is better found out before than after the measurement.
    let (file, refusal) = match args.out.as_ref().filter(|_| first).map(|path| (path, File::create(path))) {
        Some((_, Ok(file))) => (Some(file), None),
        Some((path, Err(error))) => (None, Some(format!("out: cannot write {}: {error}", path.display()))),
        None => (None, None),
    };
    let mut refused = [f64::from(u8::from(refusal.is_some()))];
    side.maximum(&mut refused)?;
    if refused[0] > 0.0 {
        return Err(Failure::Usage(refusal.unwrap_or_default()));
    }
    let hosts = environment::hosts(side, host);
    let native_at_best = args.native == NativeMode::Best;
    let measured = measure::measure(side, &experiment, jobs, native_at_best, &Progress::new(first))?;
    if !first {
        return Ok(());
    }
    let environment = environment::environment(hosts, fabric, library.name, library.standard);
    let results = collect(experiment, environment, side.cube, left_out, measured);
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&results).map_err(|error| error.to_string())?)?;
    } else {
        report::header(&results, out)?;
        report::tables(&results, out)?;
        report::summary(&results, out)?;
    }
    if let Some(mut file) = file {
        file.write_all(serde_json::to_string(&results).map_err(|error| error.to_string())?.as_bytes())?;
        file.write_all(b"\n")?;
    }
    Ok(())
}

fn list(jobs: &[jobs::Job], out: &mut dyn Write) -> Result<(), Failure> {
    for job in jobs {
        let packet = job.options.as_ref().and_then(|o| o.packet).filter(|packet| *packet < job.call.space().len());
        let packet = packet.map_or(String::new(), |p| format!(" of {}", sizes::show_bytes(p * ELEMENT)));
        let bytes = sizes::show_bytes(job.bytes);
        writeln!(out, "{:<15} {bytes:>9}  {}{packet}", job.call.collective, job.implementation)?;
    }
    writeln!(out, "{} jobs", jobs.len())?;
    Ok(())
}

fn collect(
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
    let rows = measured.jobs.iter().zip(measured.samples).zip(measured.explanations);
    let results = rows.filter_map(|((job, samples), explanation)| {
        let summary = statistics::Summary::of(&samples)?;
        let bytes = job.bandwidth_bytes();
        Some(Row {
            collective: job.call.collective.name().into(),
            size_bytes: job.bytes,
            count: job.bytes / ELEMENT,
            lengths: lengths::places(&job.call).map(|(lengths, _)| lengths),
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
            limit_s: fabric.as_ref().and_then(|fabric| fabric.limit(&job.call, ELEMENT)),
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
        if measured.barrier > CRAWLING || open_mpi && !environment::yields() {
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
    if !oversubscribed
        && open_mpi
        && environment::yields()
        && environment.variables.contains_key("OMPI_MCA_mpi_yield_when_idle")
    {
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

/// What the default experiment leaves out: operations on matrices, which are made of what it measures.
#[cfg(test)]
const MATRICES: [Collective; 4] =
    [Collective::TransposeRows, Collective::TransposeSubmatrices, Collective::QuarterTurn, Collective::MatrixMultiply];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: BenchArgs,
    }

    fn bench(arguments: &str) -> Result<String, Failure> {
        let mut out = Vec::new();
        run(&Cli::parse_from(std::iter::once("bench").chain(arguments.split(' '))).args, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn a_run_gives_results_that_can_be_read_back() {
        let arguments = "--threads 3 --sizes 8,1KiB --seconds 2 --repetitions 7 --passes 2 --json";
        let text = bench(arguments).unwrap_or_else(|_| panic!("it runs"));
        let results: Results = serde_json::from_str(&text).unwrap();
        assert_eq!((results.ranks, results.collectives().len()), (3, Collective::ALL.len() - MATRICES.len()));
        for row in &results.results {
            assert!((1..=7).contains(&row.samples_s.len()), "{row:?}");
            assert!(row.min_s > 0.0 && row.min_s <= row.median_s && row.median_s <= row.max_s, "{row:?}");
            assert!(row.algorithm.is_some() && !row.native);
        }
        let broadcast = results.by_size("broadcast");
        assert_eq!(broadcast.keys().copied().collect::<Vec<_>>(), [8, 1024]);
        assert!(broadcast.values().all(|rows| results::auto(rows).is_some() && results::native(rows).is_none()));
    }

    #[test]
    fn tables_name_every_collective() {
        let text = bench("--threads 2 --sizes 64 --seconds 1 --repetitions 3").unwrap_or_else(|_| panic!("it runs"));
        let measured = |c: &&Collective| !MATRICES.contains(c);
        assert!(Collective::ALL.iter().filter(measured).all(|c| text.contains(&format!("## {c}"))), "{text}");
    }

    /// Every algorithm gets a result that is verified, and all that is written says what the blocks are.
    #[test]
    fn blocks_of_different_lengths_are_measured_and_told() {
        let arguments = "--experiment lengths --threads 8 --sizes 1KiB --seconds 2 --repetitions 2";
        let text = bench(&format!("{arguments} --json")).unwrap_or_else(|_| panic!("it runs"));
        let results: Results = serde_json::from_str(&text).unwrap();
        assert_eq!(results.method.lengths, lengths::Lengths::Zipf);
        assert_eq!(results.collectives(), lengths::COLLECTIVES.map(|collective| collective.name()));
        assert!(results.setting().contains("different lengths"));
        for row in &results.results {
            let lengths = row.lengths.as_ref().expect("are told");
            assert_eq!((row.count, lengths.iter().sum::<usize>()), (128, 8 * 128), "{row:?}");
            assert!(lengths.contains(&0), "{row:?}");
        }
        let tables = bench(arguments).unwrap_or_else(|_| panic!("it runs"));
        assert!(tables.contains("# UNEVEN") && tables.contains("## scatter, blocks of different lengths"), "{tables}");
        let equal =
            bench("scatter --threads 2 --sizes 64 --seconds 1 --repetitions 2").unwrap_or_else(|_| panic!("it runs"));
        assert!(!equal.contains("UNEVEN") && !equal.contains("different lengths"), "{equal}");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_found_out_before_the_measurement() {
        // A measurement would take all the time that it is given.
        let start = std::time::Instant::now();
        match bench("--threads 2 --sizes 8 --repetitions 1000000000 --seconds 600 --out /nowhere/results.json") {
            Err(Failure::Usage(message)) => assert!(message.contains("/nowhere/results.json"), "{message}"),
            _ => panic!("it must not run"),
        }
        assert!(start.elapsed().as_secs() < 300);
    }
}
