//! What is to be measured: an experiment file (TOML), with what the command line says instead.

use super::lengths::{self, Lengths};
use super::sizes::{parse_bytes, parse_sizes};
use super::BenchArgs;
use hypercoll::algorithm::registry;
use hypercoll::collective::Collective;
use serde::Deserialize;

/// The experiments that are part of the program, so that it needs no files.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("default", include_str!("../../experiments/default.toml")),
    ("quick", include_str!("../../experiments/quick.toml")),
    ("latency", include_str!("../../experiments/latency.toml")),
    ("bandwidth", include_str!("../../experiments/bandwidth.toml")),
    ("fabric", include_str!("../../experiments/fabric.toml")),
    ("lengths", include_str!("../../experiments/lengths.toml")),
    ("papers", include_str!("../../experiments/papers.toml")),
    ("transposes", include_str!("../../experiments/transposes.toml")),
];

/// An experiment, checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    pub name: String,
    /// Collectives, each with its sizes in bytes (of the vector or of a block).
    pub runs: Vec<(Collective, Vec<usize>)>,
    /// Names of the algorithms; empty: all.
    pub algorithms: Vec<String>,
    /// Packet size in bytes instead of the best one by formula.
    pub packet: Option<usize>,
    /// Most repetitions of a job.
    pub repetitions: usize,
    /// Repetitions before each batch that do not count.
    pub warm_up: usize,
    /// Seconds that every rank computes before each repetition.
    pub pause: f64,
    /// In how many passes, each over all jobs, the repetitions are made.
    pub passes: usize,
    /// Time for everything, in seconds.
    pub seconds: f64,
    /// Decides the order of the jobs, and which rank has which of several lengths.
    pub seed: u64,
    /// How long blocks are, where sizes are their mean.
    pub lengths: Lengths,
    /// Sizes that need a larger buffer on some rank are left out, in bytes.
    pub largest_buffer: usize,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    /// For readers of the file.
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    algorithms: Vec<String>,
    packet: Option<String>,
    #[serde(default = "repetitions")]
    repetitions: usize,
    #[serde(default = "warm_up")]
    warm_up: usize,
    #[serde(default)]
    pause: f64,
    #[serde(default = "passes")]
    passes: usize,
    #[serde(default = "seconds")]
    seconds: f64,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    lengths: Lengths,
    #[serde(default = "largest_buffer")]
    largest_buffer: String,
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    collectives: Vec<String>,
    #[serde(default)]
    sizes: Option<String>,
}

fn repetitions() -> usize {
    200
}

fn warm_up() -> usize {
    1
}

fn passes() -> usize {
    10
}

fn seconds() -> f64 {
    90.0
}

fn largest_buffer() -> String {
    "64MiB".into()
}

/// The experiment that the command line asks for.
pub fn of(args: &BenchArgs) -> Result<Experiment, String> {
    let name = args.experiment.as_deref().unwrap_or("default");
    let text = match BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        Some((_, text)) => text.to_string(),
        None => std::fs::read_to_string(name).map_err(|error| {
            let known: Vec<_> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            format!("experiment: {name} is neither a file that can be read ({error}) nor one of {}", known.join(", "))
        })?,
    };
    let mut experiment = parse(&text).map_err(|error| format!("experiment {name}: {error}"))?;
    experiment.apply(args)?;
    Ok(experiment)
}

/// Reads an experiment file.
pub fn parse(text: &str) -> Result<Experiment, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut runs: Vec<(Collective, Vec<usize>)> = Vec::new();
    for run in &file.run {
        for name in &run.collectives {
            let collective: Collective = name.parse()?;
            if collective.meaning().native.is_none() {
                return Err(format!("collectives: {collective} is not measured; MPI has nothing to compare it with"));
            }
            let sizes = match &run.sizes {
                _ if !collective.has_data() => vec![0],
                Some(sizes) => parse_sizes(sizes).map_err(|error| format!("sizes: {error}"))?,
                None => return Err(format!("sizes: {collective} has none")),
            };
            match runs.iter_mut().find(|(known, _)| *known == collective) {
                Some((_, known)) => known.extend(sizes),
                None => runs.push((collective, sizes)),
            }
        }
    }
    for (_, sizes) in &mut runs {
        sizes.sort_unstable();
        sizes.dedup();
    }
    let experiment = Experiment {
        name: file.name,
        runs,
        algorithms: file.algorithms,
        packet: file.packet.as_deref().map(parse_bytes).transpose().map_err(|e| format!("packet: {e}"))?,
        repetitions: file.repetitions,
        warm_up: file.warm_up,
        pause: file.pause,
        passes: file.passes,
        seconds: file.seconds,
        seed: file.seed,
        lengths: file.lengths,
        largest_buffer: parse_bytes(&file.largest_buffer).map_err(|e| format!("largest_buffer: {e}"))?,
    };
    experiment.checked()
}

impl Experiment {
    /// The command line overrules the file.
    fn apply(&mut self, args: &BenchArgs) -> Result<(), String> {
        if !args.collectives.is_empty() {
            if let Some(missing) = args.collectives.iter().find(|c| self.runs.iter().all(|(known, _)| known != *c)) {
                return Err(format!("experiment {}: it has no {missing}", self.name));
            }
            self.runs.retain(|(collective, _)| args.collectives.contains(collective));
            // The file's algorithms of other collectives are no mistake of the command line.
            let runs = &self.runs;
            self.algorithms.retain(|name| runs.iter().any(|(collective, _)| registry::find(*collective, name).is_ok()));
        }
        if let Some(sizes) = &args.sizes {
            let sizes = parse_sizes(sizes).map_err(|error| format!("sizes: {error}"))?;
            for (_, own) in self.runs.iter_mut().filter(|(collective, _)| collective.has_data()) {
                own.clone_from(&sizes);
            }
        }
        if let Some(algorithms) = &args.algorithms {
            self.algorithms.clone_from(algorithms);
        }
        self.packet = args.packet.or(self.packet);
        self.repetitions = args.repetitions.unwrap_or(self.repetitions);
        self.warm_up = args.warm_up.unwrap_or(self.warm_up);
        self.pause = args.pause.unwrap_or(self.pause);
        self.passes = args.passes.unwrap_or(self.passes);
        self.seconds = args.seconds.unwrap_or(self.seconds);
        self.seed = args.seed.unwrap_or(self.seed);
        *self = self.clone().checked()?;
        Ok(())
    }

    fn checked(mut self) -> Result<Experiment, String> {
        const ELEMENT: usize = super::ELEMENT;
        if self.runs.is_empty() {
            return Err("run: there is nothing to measure".into());
        }
        for (collective, sizes) in &self.runs {
            for size in sizes.iter().filter(|_| collective.has_data()) {
                if *size == 0 || !size.is_multiple_of(ELEMENT) {
                    return Err(format!("sizes: {size} bytes are no whole number of {ELEMENT}-byte elements"));
                }
            }
        }
        let other = self.runs.iter().find(|(collective, _)| !lengths::COLLECTIVES.contains(collective));
        if let Some((other, _)) = other.filter(|_| self.lengths != Lengths::Equal) {
            let known = lengths::COLLECTIVES.map(|collective| collective.name()).join(", ");
            return Err(format!("lengths: {other} is measured with equal blocks only, not as {known}"));
        }
        for name in &mut self.algorithms {
            *name = name.replace('-', "_").to_lowercase();
            // The library's own choice takes part in any case: named alone, it is all that does.
            if name != super::jobs::AUTO
                && self.runs.iter().all(|(collective, _)| registry::find(*collective, name).is_err())
            {
                let mut known: Vec<_> =
                    self.runs.iter().flat_map(|(c, _)| registry::of(*c).map(|algorithm| algorithm.name)).collect();
                known.sort_unstable();
                known.dedup();
                return Err(format!("algorithms: {name} is none of these collectives'; known: {}", known.join(", ")));
            }
        }
        if self.packet.is_some_and(|packet| packet < ELEMENT) {
            return Err(format!("packet: it must hold at least one element of {ELEMENT} bytes"));
        }
        if self.repetitions == 0 || self.passes == 0 {
            return Err("repetitions: there must be at least one repetition and one pass".into());
        }
        if !self.seconds.is_finite() || self.seconds <= 0.0 {
            return Err(format!("seconds: {} is no time to measure in", self.seconds));
        }
        if !(0.0..=60.0).contains(&self.pause) {
            return Err(format!("pause: {} is not between 0 and 60 seconds", self.pause));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: BenchArgs,
    }

    fn command(arguments: &[&str]) -> Result<Experiment, String> {
        of(&Cli::parse_from([&["bench"], arguments].concat()).args)
    }

    #[test]
    fn the_built_in_experiments_are_sound() {
        for (name, text) in BUILT_IN {
            let experiment = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(experiment.name, *name);
        }
    }

    #[test]
    fn the_default_covers_every_collective_from_8_bytes_on() {
        let experiment = command(&[]).unwrap();
        for collective in Collective::ALL {
            if super::super::MATRICES.contains(&collective) {
                assert!(experiment.runs.iter().all(|(c, _)| *c != collective));
                continue;
            }
            let (_, sizes) = experiment.runs.iter().find(|(c, _)| *c == collective).expect("is measured");
            assert!(collective == Collective::Barrier || sizes[0] == 8, "{collective}");
        }
        assert!(experiment.seconds < 110.0);
    }

    #[test]
    fn files_are_read() {
        let text = "name = 'a'\npacket = '1KiB'\nseconds = 2.5\n[[run]]\ncollectives = ['bcast', 'barrier']\nsizes = '8,1KiB'\n\
                    [[run]]\ncollectives = ['broadcast']\nsizes = '64'";
        let experiment = parse(text).unwrap();
        assert_eq!(experiment.runs, [(Collective::Broadcast, vec![8, 64, 1024]), (Collective::Barrier, vec![0])]);
        assert_eq!((experiment.packet, experiment.seconds, experiment.warm_up), (Some(1024), 2.5, 1));
        assert_eq!(experiment.lengths, Lengths::Equal);
        let uneven =
            "name = 'a'\nlengths = 'zipf'\n[[run]]\ncollectives = ['scatter', 'gather', 'all-gather']\nsizes = '64'";
        assert_eq!(parse(uneven).unwrap().lengths, Lengths::Zipf);
    }

    #[test]
    fn mistakes_in_files_are_named() {
        let run = "[[run]]\ncollectives = ['broadcast']\nsizes = '8'";
        for (text, named) in [
            (format!("name = 'a'\nrepetition = 5\n{run}"), "repetition"),
            (format!("name = 'a'\nseconds = 0\n{run}"), "seconds"),
            (format!("name = 'a'\npause = -1\n{run}"), "pause"),
            (format!("name = 'a'\nalgorithms = ['sbnt']\n{run}"), "sbt"),
            (format!("name = 'a'\npacket = '4'\n{run}"), "packet"),
            ("name = 'a'\n[[run]]\ncollectives = ['broadcast']".into(), "sizes"),
            ("name = 'a'\n[[run]]\ncollectives = ['broadcast']\nsizes = '12'".into(), "sizes"),
            ("name = 'a'\n[[run]]\ncollectives = ['allsorts']\nsizes = '8'".into(), "allsorts"),
            ("name = 'a'\nrun = []".into(), "run"),
            (format!("name = 'a'\nlengths = 'zipf'\n{run}"), "all-gather"),
            (format!("name = 'a'\nlengths = 'pareto'\n{run}"), "pareto"),
        ] {
            let error = parse(&text).expect_err(&text);
            assert!(error.contains(named), "{text}\n{error}");
        }
    }

    #[test]
    fn the_command_line_overrules_the_file() {
        let experiment =
            command(&["broadcast", "barrier", "--sizes", "8..128", "--algorithms", "msbt", "--packet", "1KiB"])
                .unwrap();
        assert_eq!(experiment.runs, [(Collective::Broadcast, vec![8, 32, 128]), (Collective::Barrier, vec![0])]);
        assert_eq!((experiment.algorithms, experiment.packet), (vec!["msbt".to_string()], Some(1024)));
        let permute = command(&["--experiment", "latency", "permute"]).unwrap();
        assert!(permute.algorithms.iter().all(|name| registry::find(Collective::Permute, name).is_ok()));
        assert!(command(&["--experiment", "/nowhere.toml"]).unwrap_err().contains("default"));
        assert_eq!((command(&["--pause", "0.3"]).unwrap().pause, experiment.pause), (0.3, 0.0));
        assert!(command(&["--repetitions", "0"]).unwrap_err().contains("repetitions"));
    }
}
