//! `hypercoll bench`: every algorithm against MPI's own collectives, side by side.

pub mod arena;
pub mod budget;
mod candidates;
mod collect;
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

use crate::{output, Failure};
use experiment::Experiment;
use fabric::Fabric;
use hypercoll::collective::Collective;
use hypercoll::{threads, Hypercube, SystemOperation};
use jobs::Job;
use native::Native;
use progress::Progress;
use std::io::Write;
use std::path::PathBuf;

/// Bytes of an element.
pub const ELEMENT: usize = size_of::<f64>();

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
    /// forced: Open MPI and MPICH do), or not at all
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

    /// What a rank has come to, where all ranks have come to something (which they find out together). Else the first of those that have not
    /// says why, and all others end without a word.
    fn agreed<T>(&self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let rank = self.cube.rank();
        // The first rank has the largest number.
        let own = if outcome.is_err() { (self.cube.size() - rank) as f64 } else { 0.0 };
        let mut first = [own];
        self.maximum(&mut first)?;
        if first[0] > own {
            return Err(Failure::Usage(String::new()));
        }
        outcome.map_err(|failure| match failure {
            Failure::Usage(why) if rank > 0 => Failure::Usage(format!("rank {rank}: {why}")),
            failure => failure,
        })
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
            let (outcomes, texts): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
            out.write_all(texts.first().map_or(&[][..], Vec::as_slice))?;
            // One of them says what is wrong, for all.
            let says = |outcome: &Result<(), Failure>| matches!(outcome, Err(Failure::Usage(why) | Failure::Found(why)) if !why.is_empty());
            let said = outcomes.iter().position(says).unwrap_or(0);
            outcomes.into_iter().nth(said).unwrap_or(Ok(()))
        }
    }
}

#[cfg(feature = "mpi")]
fn under_mpi(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Failure> {
    use crate::launch;
    use mpi::traits::Communicator;
    if args.native == NativeMode::Best {
        native::allow_forcing();
    }
    let universe = mpi::initialize().ok_or_else(|| "MPI is initialised already".to_string())?;
    launch::check(&universe.world())?;
    let cube = Hypercube::new(&universe.world()).map_err(|error| error.to_string())?;
    let native = Native::new(universe.world());
    let host = mpi::environment::processor_name().unwrap_or_else(|_| "unnamed host".into());
    let (version, subversion) = mpi::environment::version();
    let library = Library { name: launch::library(), standard: Some(format!("{version}.{subversion}")) };
    debug_assert_eq!(universe.world().size() as usize, cube.size());
    let outcome = on_rank(args, &Side { cube: &cube, native: Some(&native) }, &host, library, out);
    // While MPI is up: when the first rank has gone with an error, the launcher ends the others, and their words are lost.
    outcome.map_err(|failure| {
        let (Failure::Usage(message) | Failure::Found(message)) = &failure;
        if !message.is_empty() {
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

/// The MPI library.
struct Library {
    name: String,
    standard: Option<String>,
}

/// What is to be done.
struct Plan {
    experiment: Experiment,
    fabric: Option<Fabric>,
    jobs: Vec<Job>,
    left_out: Vec<String>,
}

/// The plan of one rank, as far as it alone can tell.
fn plan(args: &BenchArgs, side: &Side) -> Result<Plan, Failure> {
    let experiment = experiment::of(args)?;
    let fabric = environment::fabric()?;
    let with_native = side.native.is_some() && args.native != NativeMode::None;
    let (jobs, left_out) = jobs::of(&experiment, side.cube.size(), side.cube.machine(), with_native);
    if !args.list && jobs.is_empty() {
        return Err(Failure::Usage("largest_buffer: no job is small enough".into()));
    }
    // A file that cannot be written is better found out before than after the measurement.
    if let Some(path) = args.out.as_ref().filter(|_| !args.list && side.cube.rank() == 0) {
        output::check(path)?;
    }
    Ok(Plan { experiment, fabric, jobs, left_out })
}

/// All of it, on one rank; rank 0 prints.
fn on_rank(args: &BenchArgs, side: &Side, host: &str, library: Library, out: &mut dyn Write) -> Result<(), Failure> {
    let Plan { experiment, fabric, jobs, left_out } = side.agreed(plan(args, side))?;
    let first = side.cube.rank() == 0;
    if args.list {
        return if first { list(&jobs, out) } else { Ok(()) };
    }
    let hosts = environment::hosts(side, host);
    let native_at_best = args.native == NativeMode::Best;
    let measured = measure::measure(side, &experiment, jobs, native_at_best, &Progress::new(first))?;
    if !first {
        return Ok(());
    }
    let environment = environment::environment(hosts, fabric, library.name, library.standard);
    let results = collect::collect(experiment, environment, side.cube, left_out, measured);
    let json = serde_json::to_string(&results).map_err(|error| error.to_string())? + "\n";
    // Standard output may fail, and what was measured is kept; the file may fail, and it is printed.
    let kept = args.out.as_ref().map_or(Ok(()), |path| output::write(path, &json));
    if args.json {
        out.write_all(json.as_bytes())?;
    } else {
        report::header(&results, out)?;
        report::tables(&results, out)?;
        report::summary(&results, out)?;
    }
    Ok(kept?)
}

fn list(jobs: &[Job], out: &mut dyn Write) -> Result<(), Failure> {
    for job in jobs {
        let packet = job.options.as_ref().and_then(|o| o.packet).filter(|packet| *packet < job.call.space().len());
        let packet = packet.map_or(String::new(), |p| format!(" of {}", sizes::show_bytes(p * ELEMENT)));
        let bytes = sizes::show_bytes(job.bytes);
        writeln!(out, "{:<15} {bytes:>9}  {}{packet}", job.call.collective, job.implementation)?;
    }
    writeln!(out, "{} jobs", jobs.len())?;
    Ok(())
}

/// What the default experiment leaves out: operations on matrices, which are made of what it measures.
#[cfg(test)]
const MATRICES: [Collective; 4] =
    [Collective::TransposeRows, Collective::TransposeSubmatrices, Collective::QuarterTurn, Collective::MatrixMultiply];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use results::Results;

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
            let blocks = if row.collective == "all-to-all" { 64 } else { 8 };
            assert_eq!(
                (row.count, lengths.len(), lengths.iter().sum::<usize>()),
                (128, blocks, blocks * 128),
                "{row:?}"
            );
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
