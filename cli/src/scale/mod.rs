//! `hypercoll scale`: ours against the choices of Open MPI, MPICH and MVAPICH2 on more ranks than there are, in SimGrid.

mod network;
mod papers;
mod points;
mod report;
mod simulator;

use crate::bench::environment::{command_line, commit, now};
use crate::bench::ELEMENT;
use crate::call::RANKS;
use crate::export::{Export, Format, Work};
use crate::Failure;
use clap::builder::RangedU64ValueParser;
use hypercoll::address::Hosts;
use hypercoll::collective::{Call, Collective};
use hypercoll::select::{choose, parse_bytes, Choice, Options};
use network::{Network, EAGER};
use points::Point;
use serde_json::{json, Value};
use simulator::{Ranks, SimGrid, Software, SELECTORS};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Minutes for the usual points.
const MINUTES: f64 = 14.0;

/// Arguments of `hypercoll scale`.
#[derive(clap::Args)]
pub struct ScaleArgs {
    /// Directory for the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Few points, in about a minute
    #[arg(long)]
    short: bool,
    /// Networks [default: all]
    #[arg(long, value_delimiter = ',')]
    networks: Vec<Network>,
    /// Collectives [default: those that MPI has]
    #[arg(long, value_delimiter = ',')]
    collectives: Vec<Collective>,
    /// Numbers of ranks [default: 64, 1000, 1024, 4096, 4097]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(RANKS))]
    ranks: Vec<usize>,
    /// Ranks on each host [default: 1, 16]
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(RANKS))]
    per_host: Vec<usize>,
    /// Bytes of a vector, or of all blocks together [default: 8 to 16 MiB]
    #[arg(long, value_delimiter = ',', value_parser = bytes)]
    bytes: Vec<usize>,
    /// Only this algorithm of ours, for the collectives that have it, and no selectors
    #[arg(long)]
    algorithm: Option<String>,
    /// Seconds after which a collective of a selector is given up, and one of ours after three times as many
    #[arg(long, default_value_t = 10)]
    limit: u64,
    /// Minutes for all points: those that are not begun by then are left out, and counted [default: 14; no limit for points asked for]
    #[arg(long, value_parser = minutes)]
    minutes: Option<f64>,
    /// Draw and print what an earlier run has left in the directory, and run nothing
    #[arg(long)]
    draw: bool,
    /// Runs at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

impl ScaleArgs {
    /// Whether certain points are asked for.
    fn asks(&self) -> bool {
        let lists =
            [self.networks.len(), self.collectives.len(), self.ranks.len(), self.per_host.len(), self.bytes.len()];
        lists.iter().any(|&len| len > 0)
    }

    /// When time is over.
    fn end(&self) -> Option<Instant> {
        let minutes = self.minutes.or(if self.asks() { None } else { Some(MINUTES) })?;
        // What is longer than a clock can tell is no limit.
        Instant::now().checked_add(Duration::try_from_secs_f64(60.0 * minutes).ok()?)
    }
}

fn bytes(text: &str) -> Result<usize, String> {
    let bytes = parse_bytes(text)?;
    // Of nothing ours takes no time, and nothing can be compared.
    (bytes >= ELEMENT)
        .then_some(bytes)
        .ok_or_else(|| format!("{bytes}; at least an element of {ELEMENT} bytes is needed"))
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| minutes.is_finite() && *minutes >= 0.0);
    minutes.ok_or_else(|| format!("'{text}' is no number of minutes"))
}

/// What a point came to.
struct Found {
    point: Point,
    algorithm: &'static str,
    form: String,
    predicted: f64,
    ours: Option<f64>,
    selectors: Vec<Option<f64>>,
}

impl Found {
    /// The best selector's time over ours.
    fn ratio(&self) -> Option<f64> {
        let best = self.selectors.iter().flatten().copied().reduce(f64::min)?;
        Some(best / self.ours?)
    }

    /// What is told of it as soon as it is known.
    fn line(&self) -> String {
        let Point { network, size, per_host, collective, bytes } = self.point;
        let ratio = self.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
        format!(
            "{} {size} ranks, {per_host} a host, {collective} {bytes} B, {}: {ratio}",
            network.name(),
            self.algorithm
        )
    }

    fn json(&self) -> Value {
        let Point { network, size, per_host, collective, bytes } = self.point;
        json!({
            "network": network.name(), "size": size, "per_host": per_host, "collective": collective.name(), "bytes": bytes,
            "algorithm": self.algorithm, "form": self.form, "predicted_s": self.predicted, "ours_s": self.ours,
            "selectors_s": SELECTORS.iter().zip(&self.selectors).collect::<BTreeMap<_, _>>(),
            "ratio": self.ratio(),
        })
    }
}

pub fn run(args: &ScaleArgs, out: &mut dyn Write) -> Result<(), Failure> {
    fs::create_dir_all(&args.out).map_err(|error| format!("out: cannot make {}: {error}", args.out.display()))?;
    let path = args.out.join("scale.json");
    if !args.draw {
        let points = points::chosen(args)?;
        let simgrid = SimGrid::new(&args.out.join("simgrid"), args.limit, args.end())?;
        let date = now();
        let papers = if args.asks() { Vec::new() } else { papers::rows(&simgrid, &[3, 5])? };
        run_points(&simgrid, &points, args, |found| {
            let left_out = points.len() - found.len();
            let found: Vec<Value> = found.iter().map(Found::json).collect();
            let results = json!({
                "hypercoll": env!("CARGO_PKG_VERSION"), "commit": commit(), "date": date,
                "command_line": command_line(), "points": found, "left_out": left_out, "papers": papers,
            });
            fs::write(&path, format!("{results:#}\n")).map_err(|error| format!("out: {error}"))
        })?;
        let _ = fs::remove_dir_all(simgrid.directory());
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("out: cannot read {}: {error}", path.display()))?;
    let results: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let tables = report::tables(&results);
    fs::write(args.out.join("scale.md"), &tables).map_err(|error| format!("out: {error}"))?;
    report::pictures(&results, &args.out)?;
    out.write_all(tables.as_bytes())?;
    Ok(())
}

/// Runs points, those of the same ranks on the same network one after the other, and several such groups at once; what each has come to
/// is told as it ends, and all that has been found is kept after each group: a run may take long.
fn run_points(
    simgrid: &SimGrid,
    points: &[Point],
    args: &ScaleArgs,
    keep: impl Fn(&[Found]) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let groups: Vec<&[Point]> = points.chunk_by(|a, b| a.ranks() == b.ranks()).collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |worker: usize| {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = measure(simgrid, group, args, worker)?;
            let mut all = all.lock().map_err(|_| GONE.to_string())?;
            all.extend(found);
            keep(&all)?;
        }
        Ok::<_, String>(())
    };
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| GONE.to_string())?)
    })
}

/// What is said of a run that has panicked.
const GONE: &str = "a run has ended without a word";

/// Messages that a port has under way: one where packets are passed on, so that the first is soon at its next rank; else enough to
/// hide what a message takes to start, and as many as are eager together, of so many bytes in the mean; of calls that are short enough to
/// be on their way at once, all. (In any case no more than the schedule lets a rank have.)
fn in_flight(point: &Point, packets: bool, message: f64) -> Option<usize> {
    let passed_on = matches!(point.collective, Collective::Broadcast | Collective::Reduce);
    match (packets && passed_on, point.bytes <= EAGER) {
        (true, _) => Some(1),
        (false, true) => None,
        (false, false) => Some(((EAGER as f64 / message.max(1.0)) as usize).max(4)),
    }
}

/// Runs points of the same ranks: the selectors, and ours.
fn measure(simgrid: &SimGrid, group: &[Point], args: &ScaleArgs, worker: usize) -> Result<Vec<Found>, String> {
    let Some(&Point { network, size, per_host, .. }) = group.first().filter(|_| !simgrid.is_late()) else {
        return Ok(Vec::new());
    };
    let hosts = size.div_ceil(per_host);
    let name = format!("worker-{worker}");
    let ranks = Ranks::write(simgrid, &name, size, per_host, &network.platform(hosts));
    let ranks = ranks.map_err(|error| format!("out: {error}"))?;
    let calls: Vec<(Collective, usize)> = group.iter().map(|point| (point.collective, point.block())).collect();
    let selectors = SELECTORS.map(|selector| match args.algorithm {
        None => simgrid.selector(&ranks, selector, &calls),
        Some(_) => vec![None; calls.len()],
    });
    let numbers: Vec<usize> = (0..hosts).map(|host| per_host.min(size - host * per_host)).collect();
    let options = Options { algorithm: args.algorithm.clone(), ..Options::default() };
    let mut found = Vec::new();
    for (at, point) in group.iter().enumerate().take_while(|_| !simgrid.is_late()) {
        let block = point.block();
        let element = if block % 8 == 0 { 8 } else { 1 };
        let mut call = Call::new(point.collective, size, block / element);
        call.hosts = Hosts::with_ranks(&numbers, false);
        let started = Instant::now();
        let choice =
            choose(&call, element, &options, &network.machine(hosts, per_host)).map_err(|error| error.to_string())?;
        let Choice { algorithm, parameters, predicted, .. } = choice;
        let formula = (algorithm.formula)(&algorithm.shape(&call, &parameters));
        let message = formula.elements * element as f64 / formula.rounds.max(1) as f64;
        let in_flight = in_flight(point, parameters.packet.is_some(), message);
        let work = Work::default();
        let export = Export { algorithm, call, parameters, chosen: None, element, work, in_flight };
        let traces = simgrid.directory().join(&name);
        export.write(Format::Simgrid, &traces).map_err(|failure| match failure {
            Failure::Usage(why) | Failure::Found(why) => why,
        })?;
        let ours = simgrid.traces(&ranks, &traces.join("ranks.txt"), Software::Overheads);
        let _ = fs::remove_dir_all(&traces);
        let packet = parameters.packet.map_or(String::new(), |packet| format!(", packets of {} B", packet * element));
        found.push(Found {
            point: *point,
            algorithm: algorithm.name,
            form: format!("{}{packet}", parameters.form()),
            predicted,
            ours,
            selectors: selectors.iter().map(|times| times[at]).collect(),
        });
        eprintln!("{} ({:.1} s)", found[at].line(), started.elapsed().as_secs_f64());
    }
    Ok(found)
}
