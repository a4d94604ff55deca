//! The `hypercoll` command: see `hypercoll --help`.

mod algorithms;
mod bench;
mod call;
mod check;
mod check_all;
mod explain;
mod export;
mod figures;
mod growth;
#[cfg(feature = "mpi")]
mod launch;
mod machine;
mod output;
mod plot;
#[cfg(unix)]
mod preload;
mod run;
mod scale;
mod simulate;
mod table;
mod tree;
mod tune;
mod verify;

use clap::{Parser, Subcommand};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Hypercube collectives over MPI: look at the trees and tables, check and simulate the algorithms, verify and measure
/// them on the machine at hand.
///
/// Exit codes: 0 all is well; 1 a check, a verification or a run failed; 2 the command line or an argument is wrong.
#[derive(Parser)]
#[command(name = "hypercoll", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the algorithms: names, papers, requirements, costs
    Algorithms(algorithms::AlgorithmsArgs),
    /// Print or draw a spanning tree or graph
    Tree(tree::TreeArgs),
    /// Print one of the papers' tables
    Table(table::TableArgs),
    /// Prove schedules right without running them: matching, deadlock, hazards, result, rounds
    Check(check::CheckArgs),
    /// Run an algorithm in virtual time and compare with the paper's formula
    Simulate(simulate::SimulateArgs),
    /// Print which algorithm a call gets, why, and what the others would take
    Explain(explain::ExplainArgs),
    /// Write schedules as input of SimGrid or LogGOPSim
    Export(export::ExportArgs),
    /// Measure what the choice of an algorithm and the plan of one rank take, up to 2^20 ranks
    Growth(growth::GrowthArgs),
    /// Compare with the choices of Open MPI, MPICH and MVAPICH2 on thousands of ranks, in SimGrid
    Scale(scale::ScaleArgs),
    /// Run all algorithms for real and compare their results (under mpirun, or with --threads)
    Verify(verify::VerifyArgs),
    /// Measure what the choice of algorithms needs to know of a machine, and write it to a file (under mpirun)
    Tune(tune::TuneArgs),
    /// Run an unchanged MPI program with its collectives through hypercoll (under mpirun)
    #[cfg(unix)]
    Preload(preload::PreloadArgs),
    /// Measure against native MPI collectives (under mpirun)
    Bench(bench::BenchArgs),
    /// Draw the papers' figures: their experiments in virtual time beside their formulas
    Figures(figures::FiguresArgs),
    /// Draw the figures of a benchmark's JSON, or of the report of an unchanged program
    Plot(plot::PlotArgs),
}

/// How a subcommand ends when it does not succeed.
pub enum Failure {
    /// What was asked for ran, and found something wrong (exit code 1).
    Found(String),
    /// It could not be run as asked (exit code 2).
    Usage(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Usage(message)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Usage(format!("cannot write: {error}"))
    }
}

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    let cli = Cli::parse();
    let mut out = BufWriter::new(Reader { gone: false });
    let outcome = match &cli.command {
        Command::Algorithms(args) => algorithms::run(args, &mut out),
        Command::Tree(args) => tree::run(args, &mut out).map_err(Failure::Usage),
        Command::Table(args) => table::run(args, &mut out).map_err(Failure::Usage),
        Command::Check(args) => check::run(args, &mut out),
        Command::Simulate(args) => simulate::run(args, &mut out),
        Command::Explain(args) => explain::run(args, &mut out),
        Command::Export(args) => export::run(args, &mut out),
        Command::Growth(args) => growth::run(args, &mut out),
        Command::Scale(args) => scale::run(args, &mut out),
        Command::Verify(args) => verify::run(args, &mut out),
        Command::Tune(args) => tune::run(args, &mut out),
        #[cfg(unix)]
        Command::Preload(args) => preload::run(args),
        Command::Bench(args) => bench::run(args, &mut out),
        Command::Figures(args) => figures::run(args, &mut out),
        Command::Plot(args) => plot::run(args, &mut out),
    };
    let outcome = outcome.and(out.flush().map_err(Failure::from));
    let (code, message) = match outcome {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Found(message)) => (1, message),
        Err(Failure::Usage(message)) => (2, message),
    };
    let _ = out.flush();
    if !message.is_empty() {
        eprintln!("hypercoll: {message}");
    }
    ExitCode::from(code)
}

/// Standard output; when its reader has gone (`| head`), what is left to say is dropped.
struct Reader {
    gone: bool,
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.gone {
            return Ok(bytes.len());
        }
        match io::stdout().write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match io::stdout().flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}
