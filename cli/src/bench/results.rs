//! The results file: what `bench` writes and `plot` reads. Times are in seconds, sizes in bytes.

use super::fabric::Fabric;
use super::lengths::Lengths;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of the benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    pub environment: Environment,
    pub ranks: usize,
    /// More ranks than cores on some host.
    pub oversubscribed: bool,
    #[serde(default)]
    pub warnings: Vec<String>,
    pub method: Method,
    pub results: Vec<Row>,
    /// The native algorithms that were tried, to find those that are measured beside native's own choice.
    #[serde(default)]
    pub screening: Vec<Tried>,
}

/// A native algorithm that was tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tried {
    pub collective: String,
    pub size_bytes: usize,
    pub implementation: String,
    /// The first call, which does not count.
    pub warm_up_s: f64,
    /// Few, or none if the warm-up told enough; each the maximum over the ranks.
    pub samples_s: Vec<f64>,
    pub verdict: Verdict,
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Measured beside native's own choice.
    Measured,
    /// Others are faster.
    Slower,
    /// Its result is wrong.
    Wrong,
}

/// Where and with what it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Environment {
    pub hypercoll: String,
    /// That the program was built from, with `-dirty` if its source differs.
    pub commit: Option<String>,
    /// Cargo's profile.
    #[serde(default)]
    pub profile: String,
    /// UTC, RFC 3339.
    pub date: String,
    pub hosts: Vec<Host>,
    /// The network between the hosts, where the links are known (`HYPERCOLL_FABRIC`).
    #[serde(default)]
    pub fabric: Option<Fabric>,
    pub cpu: Option<String>,
    pub kernel: Option<String>,
    pub mpi_library: String,
    pub mpi_standard: Option<String>,
    /// Environment variables that change what MPI or the library does.
    pub variables: BTreeMap<String, String>,
    pub command_line: Vec<String>,
    pub debug_build: bool,
}

/// A host, its ranks, and the cores that they may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    pub ranks: usize,
    pub cores: usize,
}

/// How it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Method {
    pub experiment: String,
    pub description: String,
    pub passes: usize,
    pub passes_done: usize,
    pub repetitions: usize,
    pub warm_up: usize,
    /// Seconds of computation before each repetition.
    #[serde(default)]
    pub pause: f64,
    pub seconds: f64,
    pub seconds_taken: f64,
    pub seed: u64,
    /// How long blocks are: where not equal, sizes are their mean.
    #[serde(default)]
    pub lengths: Lengths,
    pub confidence: f64,
    /// What the library's own choice took the machine to be: its name, tau in seconds, t_c in seconds per byte.
    #[serde(default)]
    pub machine: Option<(String, f64, f64)>,
    /// All its times, in words.
    #[serde(default)]
    pub times: Option<String>,
    /// How the library's messages travel, as seen by rank 0.
    #[serde(default)]
    pub transport: Option<String>,
    pub packet_bytes: Option<usize>,
    pub left_out: Vec<String>,
}

/// An implementation at a size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub collective: String,
    /// Of the vector, or of one block (in the mean).
    pub size_bytes: usize,
    pub count: usize,
    /// Elements of the block of each rank, of an all-to-all of those from each rank to each, where they are not all of `count`.
    #[serde(default)]
    pub lengths: Option<Vec<usize>>,
    pub element: String,
    pub implementation: String,
    /// What ran; absent for native.
    pub algorithm: Option<String>,
    pub source: Option<String>,
    pub parameters: Option<RowParameters>,
    pub native: bool,
    pub predicted_s: Option<f64>,
    /// In the order of measurement, each the maximum over the ranks.
    pub samples_s: Vec<f64>,
    pub median_s: f64,
    pub ci_low_s: Option<f64>,
    pub ci_high_s: Option<f64>,
    pub min_s: f64,
    pub max_s: f64,
    /// The least time in which the network can carry it.
    #[serde(default)]
    pub limit_s: Option<f64>,
    /// Bytes of the largest buffer that a rank passes, by the median.
    #[serde(rename = "algbw_Bps")]
    pub algbw: Option<f64>,
}

/// The parameters of an algorithm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RowParameters {
    /// Absent: whole messages.
    pub packet_bytes: Option<usize>,
    pub ports: String,
    pub symmetrized: bool,
}

impl Results {
    /// The collectives, in the order of the file.
    pub fn collectives(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.results {
            if !names.contains(&row.collective.as_str()) {
                names.push(&row.collective);
            }
        }
        names
    }

    /// The sizes of a collective with the rows of each.
    pub fn by_size(&self, collective: &str) -> BTreeMap<usize, Vec<&Row>> {
        let mut sizes: BTreeMap<usize, Vec<&Row>> = BTreeMap::new();
        for row in self.results.iter().filter(|row| row.collective == collective) {
            sizes.entry(row.size_bytes).or_default().push(row);
        }
        sizes
    }

    /// `8 ranks on vm (2 cores, oversubscribed), Open MPI 4.1.4`.
    pub fn setting(&self) -> String {
        let hosts = &self.environment.hosts;
        let place = match &hosts[..] {
            [host] => format!("{}, {} cores", host.name, host.cores),
            _ => format!("{} hosts", hosts.len()),
        };
        let over = if self.oversubscribed { ", oversubscribed" } else { "" };
        let lengths = if self.method.lengths == Lengths::Equal { "" } else { ", blocks of different lengths" };
        format!("{} ranks ({place}{over}){lengths}, {}", self.ranks, self.environment.mpi_library)
    }
}

impl Row {
    /// The fraction of the physical limit that it reaches, where that is known.
    pub fn of_limit(&self) -> Option<f64> {
        self.limit_s.map(|limit| limit / self.median_s)
    }
}

/// The row of MPI's own implementation, by its own choice.
pub fn native<'r>(rows: &[&'r Row]) -> Option<&'r Row> {
    rows.iter().copied().find(|row| row.native && row.implementation == super::jobs::NATIVE)
}

/// The fastest of the native rows, forced algorithms included, by the median.
pub fn native_best<'r>(rows: &[&'r Row]) -> Option<&'r Row> {
    fastest(rows.iter().copied().filter(|row| row.native))
}

/// The row of the library's own choice.
pub fn auto<'r>(rows: &[&'r Row]) -> Option<&'r Row> {
    rows.iter().copied().find(|row| row.implementation == super::jobs::AUTO)
}

/// The fastest of the library's rows, by the median.
pub fn best<'r>(rows: &[&'r Row]) -> Option<&'r Row> {
    fastest(rows.iter().copied().filter(|row| !row.native))
}

fn fastest<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<&'r Row> {
    rows.min_by(|a, b| a.median_s.total_cmp(&b.median_s))
}
