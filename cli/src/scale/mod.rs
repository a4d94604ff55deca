//! `hypercoll scale`: ours against the choices of Open MPI, MPICH and MVAPICH2 on more ranks than there are, in SimGrid.

mod network;
mod points;
mod simulator;

use crate::export::{Export, Format, Work};
use crate::Failure;
use hypercoll::address::Hosts;
use hypercoll::collective::{Call, Collective};
use hypercoll::select::{choose, Options};
use network::Network;
use points::Point;
use serde_json::{json, Value};
use simulator::{Ranks, SimGrid, Software, SELECTORS};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

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
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<usize>,
    /// Ranks on each host [default: 1, 16]
    #[arg(long, value_delimiter = ',')]
    per_host: Vec<usize>,
    /// Bytes of a vector, or of all blocks together [default: 8 to 16 MiB]
    #[arg(long, value_delimiter = ',')]
    bytes: Vec<usize>,
    /// Messages that a port of ours has under way, as export's
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    /// Only this algorithm of ours, and no selectors
    #[arg(long)]
    algorithm: Option<String>,
    /// Seconds after which a run of SimGrid is given up
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// Runs at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
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

    fn json(&self) -> Value {
        let Point { network, size, per_host, collective, bytes } = self.point;
        json!({
            "network": network.name(), "size": size, "per_host": per_host, "collective": collective.name(), "bytes": bytes,
            "algorithm": self.algorithm, "form": self.form, "predicted_s": self.predicted, "ours_s": self.ours,
            "selectors_s": SELECTORS.iter().zip(&self.selectors).map(|(name, time)| (name.to_string(), json!(time))).collect::<serde_json::Map<_, _>>(),
            "ratio": self.ratio(),
        })
    }
}

pub fn run(args: &ScaleArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let simgrid = SimGrid::new(&args.out.join("simgrid"), args.limit)?;
    let points = points::chosen(args);
    let found: Mutex<Vec<Found>> = Mutex::new(Vec::new());
    let next = Mutex::new(points.iter());
    let failure: Mutex<Option<String>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for worker in 0..args.jobs.max(1) {
            let (simgrid, next, found, failure) = (&simgrid, &next, &found, &failure);
            scope.spawn(move || loop {
                let Some(point) = next.lock().ok().and_then(|mut points| points.next()) else { return };
                match measure(simgrid, point, args, worker) {
                    Ok(result) => {
                        eprintln!("{}", result.json());
                        found.lock().map(|mut found| found.push(result)).unwrap_or_default()
                    }
                    Err(why) => {
                        failure.lock().map(|mut failure| *failure = Some(why)).unwrap_or_default();
                        return;
                    }
                }
            });
        }
    });
    if let Some(why) = failure.into_inner().unwrap_or_default() {
        return Err(Failure::Usage(why));
    }
    let found = found.into_inner().unwrap_or_default();
    let results = Value::from(found.iter().map(Found::json).collect::<Vec<_>>());
    fs::write(args.out.join("scale.json"), format!("{results:#}\n")).map_err(|error| format!("out: {error}"))?;
    for collective in Collective::ALL {
        let ratios: Vec<f64> =
            found.iter().filter(|found| found.point.collective == collective).filter_map(Found::ratio).collect();
        if !ratios.is_empty() {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            writeln!(out, "{:<16} {:>4} points, {mean:.2}", collective.name(), ratios.len())?;
        }
    }
    Ok(())
}

/// Runs a point: ours, and the selectors.
fn measure(simgrid: &SimGrid, point: &Point, args: &ScaleArgs, worker: usize) -> Result<Found, String> {
    let Point { network, size, per_host, collective, bytes } = *point;
    let hosts = size.div_ceil(per_host);
    let name = format!("worker-{worker}");
    let ranks = Ranks::write(simgrid, &name, size, per_host, &network.platform(hosts));
    let ranks = ranks.map_err(|error| format!("out: {error}"))?;
    let block = point.block();
    let element = if block % 8 == 0 { 8 } else { 1 };
    let mut call = Call::new(collective, size, block / element);
    let numbers: Vec<usize> = (0..hosts).map(|host| per_host.min(size - host * per_host)).collect();
    call.hosts = Hosts::with_ranks(&numbers, false);
    let options = Options { algorithm: args.algorithm.clone(), ..Options::default() };
    let choice = choose(&call, element, &options, &network.machine()).map_err(|error| error.to_string())?;
    let traces = simgrid.directory().join(&name);
    let export = Export {
        algorithm: choice.algorithm,
        call,
        parameters: choice.parameters,
        chosen: None,
        element,
        work: Work::default(),
        in_flight: Some(args.in_flight),
    };
    export.write(Format::Simgrid, &traces).map_err(|failure| match failure {
        Failure::Usage(why) | Failure::Found(why) => why,
    })?;
    let ours = simgrid.traces(&ranks, &traces.join("ranks.txt"), Software::Overheads);
    let _ = fs::remove_dir_all(&traces);
    let selectors = SELECTORS.iter().map(|selector| {
        let wanted = args.algorithm.is_none();
        wanted.then(|| simgrid.selector(&ranks, selector, collective.name(), block)).flatten()
    });
    let packet =
        choice.parameters.packet.map_or(String::new(), |packet| format!(", packets of {} B", packet * element));
    Ok(Found {
        point: *point,
        algorithm: choice.algorithm.name,
        form: format!("{}{packet}", choice.parameters.form()),
        predicted: choice.predicted,
        ours,
        selectors: selectors.collect(),
    })
}
