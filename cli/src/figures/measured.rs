//! The papers' experiments as they were measured on cubes with real links, beside simulation and formula.
//!
//! What was measured is said by the results alone: a row is simulated, and worked out, with its own parameters.

use super::chart::{Axis, Figure, Series};
use super::experiments::Run;
use crate::bench::fabric::Fabric;
use crate::bench::results::{Results, Row};
use hypercoll::algorithm::{registry, Parameters, PortModel};
use hypercoll::collective::{Call, Collective};
use hypercoll::executor::simulator::Machine;
use hypercoll::select::tuning::Tuning;
use std::path::Path;

/// Bytes of an element.
const ELEMENT: usize = size_of::<f64>();

/// The paper's message and packet, and larger ones, of which bursts that links let pass free are no great part.
const PAPERS: (usize, usize) = (60 << 10, 1 << 10);
const LARGE: (usize, usize) = (512 << 10, 8 << 10);

const MARKS: &str = "measured (dots), simulated (rings)";

/// A point of a figure, three times: in seconds.
struct Point {
    n: u32,
    collective: Collective,
    algorithm: &'static str,
    bytes: usize,
    packet: usize,
    measured: f64,
    simulated: f64,
    formula: f64,
}

/// All that is known: the points, and where they come from.
struct Known {
    points: Vec<Point>,
    place: String,
}

/// The figures of the results in a directory.
///
/// # Errors
/// A file that cannot be read, results of another network than cubes, or points that are missing.
pub fn figures(results: &Path, tuning: &Path) -> Result<Vec<Figure>, String> {
    let known = known(&read(results)?, &read_tuning(tuning)?)?;
    [
        by_packet_size(&known),
        by_dimension(&known, PAPERS, "hj86-figure-6-papers-message"),
        by_dimension(&known, LARGE, "hj86-figure-6-large-message"),
        speed_up(&known),
        scatter_by_dimension(&known),
        scatter_by_block(&known),
    ]
    .into_iter()
    .collect()
}

fn read(directory: &Path) -> Result<Vec<Results>, String> {
    let shown = directory.display();
    let entries = std::fs::read_dir(directory).map_err(|error| format!("measured: cannot read {shown}: {error}"))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text =
            std::fs::read_to_string(path).map_err(|e| format!("measured: cannot read {}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("measured: {} is no benchmark's JSON: {e}", path.display()))
    };
    paths.iter().map(read).collect()
}

fn read_tuning(path: &Path) -> Result<Tuning, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("tuning: cannot read {shown}: {error}"))?;
    Tuning::parse(&text).map_err(|error| format!("tuning: {shown}: {error}"))
}

fn known(results: &[Results], tuning: &Tuning) -> Result<Known, String> {
    let (tau, t_c) = (tuning.parameters.tau, tuning.parameters.t_c);
    let (mut points, mut rates) = (Vec::new(), Vec::new());
    for one in results {
        let Some(Fabric::Cube { dimension, rate_bps, ref ranks }) = one.environment.fabric else {
            return Err("measured: there are results of another network than a cube of links (scripts/fabric)".into());
        };
        if !ranks.is_empty() {
            return Err("measured: there are results of hosts that have several ranks".into());
        }
        rates.push(rate_bps);
        let n = dimension as u32;
        // A host starts the messages of a round over all its ports one after the other.
        let machine = Machine::new(f64::from(n) * tau, t_c * ELEMENT as f64, PortModel::AllPorts);
        for row in &one.results {
            if let Some(run) = run(row, n)? {
                points.push(Point {
                    n,
                    collective: run.call.collective,
                    algorithm: run.algorithm.name,
                    bytes: row.size_bytes,
                    packet: run.parameters.packet.unwrap_or_default() * ELEMENT,
                    measured: row.median_s,
                    simulated: run.simulated(&machine)?,
                    formula: run.by_formula(&machine),
                });
            }
        }
    }
    let Some(rate) = rates.first().filter(|rate| rates.iter().all(|other| other == *rate)) else {
        return Err("measured: no results, or results of links of several rates".into());
    };
    points.sort_by_key(|point| (point.n, point.bytes, point.packet));
    let place = format!(
        "{}; links of {} Mbit/s; tau n times {:.0} us, t_c {:.3} us a byte as measured",
        tuning.machine.mpi,
        rate / 1e6,
        tau * 1e6,
        t_c * 1e6
    );
    Ok(Known { points, place })
}

/// What a row has run, if it is one of the figures': in packets, with all ports. (On two nodes there is but one port, and the
/// form of one port stands for both.)
fn run(row: &Row, n: u32) -> Result<Option<Run>, String> {
    let (Some(name), Some(own)) = (&row.algorithm, &row.parameters) else { return Ok(None) };
    let Some(packet) = own.packet_bytes else { return Ok(None) };
    if own.ports != PortModel::AllPorts.name() && n > 1 || !row.implementation.ends_with("packets") {
        return Ok(None);
    }
    let collective: Collective = row.collective.parse()?;
    let algorithm = registry::find(collective, name).map_err(|error| error.to_string())?;
    let packet = Some(packet / ELEMENT);
    let parameters = Parameters { symmetrized: own.symmetrized, packet, ..Parameters::new(PortModel::AllPorts) };
    Ok(Some(Run { algorithm, call: Call::new(collective, 1 << n, row.count), parameters }))
}

impl Known {
    /// A line of points: of an algorithm, those that are wanted, by what x says of each.
    fn series(
        &self,
        label: String,
        collective: Collective,
        algorithm: &str,
        wanted: impl Fn(&Point) -> bool,
        x: impl Fn(&Point) -> f64,
    ) -> Result<Series, String> {
        let mut series = Series::new(label);
        let own = |p: &&Point| p.collective == collective && p.algorithm == algorithm && wanted(p);
        for point in self.points.iter().filter(own) {
            series.measured.push((x(point), point.measured));
            series.simulated.push((x(point), point.simulated));
            series.formula.push((x(point), point.formula));
        }
        match series.measured.len() {
            0 => Err(format!("measured: no {collective} by {algorithm} for '{}' (see scripts/papers)", series.label)),
            _ => Ok(series),
        }
    }

    /// The largest dimension.
    fn dimension(&self) -> u32 {
        self.points.iter().map(|point| point.n).max().unwrap_or_default()
    }

    fn broadcasts(&self, (bytes, packet): (usize, usize)) -> Result<[Series; 2], String> {
        let series = |label: &str, name| {
            let wanted = |p: &Point| (p.bytes, p.packet) == (bytes, packet);
            self.series(label.into(), Collective::Broadcast, name, wanted, |p| f64::from(p.n))
        };
        Ok([series("SBT", "sbt")?, series("MSBT", "msbt")?])
    }
}

fn by_packet_size(known: &Known) -> Result<Figure, String> {
    let series = |n| {
        let wanted = |p: &Point| p.n == n && p.bytes == LARGE.0;
        known.series(format!("n = {n}"), Collective::Broadcast, "sbt", wanted, |p| p.packet as f64)
    };
    Ok(Figure {
        name: "hj86-figure-5-sbt-broadcast",
        title: "Broadcast along the SBT over real links, by packet size (1986, figure 5)",
        setting: format!("512 KiB, all ports; {}", known.place),
        marks: MARKS,
        formula: "lines: (ceil(M/B) + n - 1) (tau + B t_c)",
        x: Axis::bytes("packet B"),
        y: Axis::seconds("time"),
        series: (1..=known.dimension()).map(series).collect::<Result<_, _>>()?,
    })
}

fn by_dimension(known: &Known, message: (usize, usize), name: &'static str) -> Result<Figure, String> {
    let (bytes, packet) = (message.0 >> 10, message.1 >> 10);
    Ok(Figure {
        name,
        title: "Broadcast along the SBT and the MSBT over real links, by dimension (1986, figure 6)",
        setting: format!("{bytes} KiB in packets of {packet} KiB, all ports; {}", known.place),
        marks: MARKS,
        formula: "lines: (ceil(M/B) + n - 1) (tau + B t_c), (ceil(M/(B n)) + n) (tau + B t_c)",
        x: Axis::dimension(),
        y: Axis::linear("time in seconds"),
        series: known.broadcasts(message)?.into(),
    })
}

fn speed_up(known: &Known) -> Result<Figure, String> {
    let ratio = |above: &[(f64, f64)], below: &[(f64, f64)]| -> Vec<(f64, f64)> {
        above.iter().zip(below).map(|(a, b)| (a.0, a.1 / b.1)).collect()
    };
    let to = known.dimension();
    let limit = Series { formula: (1..=to).map(|n| (f64::from(n), f64::from(n))).collect(), ..Series::limit("n") };
    let mut series = vec![limit];
    for message in [PAPERS, LARGE] {
        let [sbt, msbt] = known.broadcasts(message)?;
        if sbt.measured.len() != msbt.measured.len() {
            return Err("measured: the SBT's and the MSBT's broadcasts are not of the same cubes".into());
        }
        series.push(Series {
            measured: ratio(&sbt.measured, &msbt.measured),
            simulated: ratio(&sbt.simulated, &msbt.simulated),
            formula: ratio(&sbt.formula, &msbt.formula),
            ..Series::new(format!("{} KiB in {} KiB", message.0 >> 10, message.1 >> 10))
        });
    }
    Ok(Figure {
        name: "hj86-figure-7-speed-up",
        title: "Speed-up of the MSBT's broadcast over the SBT's over real links (1986, figure 7)",
        setting: format!("all ports; {}", known.place),
        marks: MARKS,
        formula: "lines: the formulas' ratio; the paper measured about n",
        x: Axis::dimension(),
        y: Axis::linear("time of the SBT / time of the MSBT"),
        series,
    })
}

/// The scatters of points.
fn scatters(
    known: &Known,
    wanted: impl Fn(&Point) -> bool + Copy,
    x: impl Fn(&Point) -> f64 + Copy,
) -> Result<Vec<Series>, String> {
    let series = |label: &str, name| known.series(label.into(), Collective::Scatter, name, wanted, x);
    Ok(vec![series("SBT", "sbt")?, series("SBnT", "sbnt")?])
}

const SCATTER: &str = "lines: the formulas (all ports): about N/2 M t_c and (N - 1)/n M t_c, and a start-up a packet";

fn scatter_by_dimension(known: &Known) -> Result<Figure, String> {
    const BLOCK: usize = 64 << 10;
    Ok(Figure {
        name: "hj86-figure-8-scatter",
        title: "Scatter along the SBT and the SBnT over real links, by dimension (1986, figure 8)",
        setting: format!("blocks of 64 KiB in packets of 8 KiB, all ports; {}", known.place),
        marks: MARKS,
        formula: SCATTER,
        x: Axis::dimension(),
        y: Axis::linear("time in seconds"),
        series: scatters(known, |p| p.bytes == BLOCK, |p| f64::from(p.n))?,
    })
}

fn scatter_by_block(known: &Known) -> Result<Figure, String> {
    let n = known.dimension();
    Ok(Figure {
        name: "hj88-figure-11-scatter",
        title: "Scatter along the SBT and the SBnT over real links, by block (1988, figure 11)",
        setting: format!("{} hosts, packets of 8 KiB, all ports; {}", 1 << n, known.place),
        marks: MARKS,
        formula: SCATTER,
        x: Axis::bytes("block of a node M"),
        y: Axis::seconds("time"),
        series: scatters(known, |p| p.n == n, |p| p.bytes as f64)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of a cube in which everything takes a second for each dimension.
    fn results(n: u32, fabric: &str) -> Results {
        let row = |collective: &str, algorithm: &str, bytes: usize, packet: usize| {
            serde_json::json!({
                "collective": collective, "size_bytes": bytes, "count": bytes / 8, "element": "f64", "native": false,
                "implementation": format!("{algorithm} all-ports packets"), "algorithm": algorithm,
                "parameters": { "packet_bytes": packet, "ports": "all-ports", "symmetrized": false },
                "samples_s": [n], "median_s": n, "min_s": n, "max_s": n,
            })
        };
        let mut rows = vec![row("scatter", "sbt", 64 << 10, 8 << 10), row("scatter", "sbnt", 64 << 10, 8 << 10)];
        for (bytes, packet) in [PAPERS, LARGE] {
            rows.extend(["sbt", "msbt"].map(|name| row("broadcast", name, bytes, packet)));
        }
        let mut native = row("broadcast", "sbt", 512 << 10, 8 << 10);
        native["implementation"] = "native".into();
        rows.push(native);
        let value = serde_json::json!({
            "environment": {
                "hypercoll": "0", "date": "", "hosts": [], "mpi_library": "", "variables": {}, "command_line": [],
                "debug_build": false, "fabric": Fabric::parse(fabric).expect("a fabric"),
            },
            "ranks": 1 << n, "oversubscribed": false, "results": rows,
            "method": {
                "experiment": "", "description": "", "passes": 1, "passes_done": 1, "repetitions": 1, "warm_up": 0,
                "seconds": 1.0, "seconds_taken": 1.0, "seed": 0, "confidence": 0.95, "left_out": [],
            },
        });
        serde_json::from_value(value).expect("results")
    }

    fn tuning() -> Tuning {
        let text = "[machine]\nhost = 'a'\ncpu = 'a'\nmpi = 'MPI 1'\nhosts = 8\nranks = 8\nhypercoll = '0'\ndate = 'a'\n\
                    [parameters]\ntau = 1e-4\nhop = 0.0\nt_c = 1e-6\nports = 3\npairs_linked = false\npacket = 4096\nburst = 0\neager = 65536";
        Tuning::parse(text).expect("a tuning file")
    }

    #[test]
    fn rows_become_points_beside_simulation_and_formula() {
        let all = [results(1, "cube:1:8000000"), results(2, "cube:2:8000000"), results(3, "cube:3:8000000")];
        let known = known(&all, &tuning()).expect("points");
        let [sbt, msbt] = known.broadcasts(LARGE).expect("two lines");
        for series in [&sbt, &msbt] {
            assert_eq!(series.measured, [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
        }
        // 64 packets of 8 KiB, of 8.192 ms and n start-ups each; the last arrives n - 1 packets' times after the first hop of its own.
        for (n, time) in &sbt.formula {
            assert!((time - (63.0 + n) * (8.192e-3 + n * 1e-4)).abs() < 1e-9, "n = {n}: {time}");
        }
        for (simulated, formula) in sbt.simulated.iter().zip(&sbt.formula) {
            assert!((simulated.1 / formula.1 - 1.0).abs() < 1e-6, "{simulated:?} {formula:?}");
        }
        assert!(msbt.simulated[2].1 < 0.4 * sbt.simulated[2].1);
        let ratio = speed_up(&known).expect("a figure");
        assert_eq!(ratio.series[2].measured, [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]);
        assert!(ratio.setting.contains("8 Mbit/s") && ratio.setting.contains("MPI 1"), "{}", ratio.setting);
        assert_eq!(scatter_by_block(&known).expect("a figure").series[0].measured, [(65536.0, 3.0)]);
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let refused = |all: &[Results]| known(all, &tuning()).err().expect("an error");
        assert!(refused(&[results(1, "star:2:8000000")]).contains("cube"));
        assert!(refused(&[results(1, "cube:1:8000000"), results(2, "cube:2:9000000")]).contains("rates"));
        assert!(refused(&[]).contains("no results"));
        let mut one = results(1, "cube:1:8000000");
        one.results.retain(|row| row.collective == "broadcast");
        let points = known(&[one], &tuning()).expect("points");
        assert!(scatter_by_dimension(&points).err().expect("an error").contains("scripts/papers"));
    }
}
