//! What is simulated, and what the formulas say. The papers' plots are lost; their captions and texts say what was measured.

use super::chart::{Axis, Figure, Series};
use hypercoll::algorithm::{registry, verify::schedules, Algorithm, Order, Parameters, PortModel, Shape};
use hypercoll::collective::{Call, Collective};
use hypercoll::executor::simulator::{simulate, Machine};

/// Draws nothing yet: the points of a figure.
type Experiment = fn() -> Result<Figure, String>;

/// All figures, in the order in which they are drawn.
pub const ALL: [Experiment; 7] = [
    broadcast_by_packet_size,
    broadcast_by_dimension,
    broadcast_speed_up,
    scatter_by_dimension,
    scatter_by_block,
    msbt_over_sbt,
    sbnt_over_sbt,
];

/// The message of the paper's broadcasts, and the largest internal packet of its machine.
const MESSAGE: usize = 60 * 1024;
const INTERNAL: usize = 1024;

/// A call of an algorithm, ready to be timed.
pub struct Run {
    pub algorithm: &'static Algorithm,
    pub call: Call,
    pub parameters: Parameters,
}

impl Run {
    fn new(collective: Collective, name: &str, n: u32, count: usize, ports: PortModel) -> Result<Run, String> {
        let algorithm = registry::find(collective, name).map_err(|error| error.to_string())?;
        let parameters = Parameters { symmetrized: false, ..Parameters::new(ports) };
        Ok(Run { algorithm, call: Call::new(collective, 1 << n, count), parameters })
    }

    fn packet(mut self, packet: usize) -> Run {
        self.parameters.packet = Some(packet);
        self
    }

    fn order(mut self, order: Order) -> Run {
        self.parameters.order = Some(order);
        self
    }

    /// In virtual time.
    pub fn simulated(&self, machine: &Machine) -> Result<f64, String> {
        self.algorithm.accepts(&self.call, &self.parameters).map_err(|error| error.to_string())?;
        let machine = Machine { ports: self.parameters.ports, ..*machine };
        match simulate(&schedules(self.algorithm, &self.call, &self.parameters), &machine) {
            Ok(timeline) => Ok(timeline.time),
            Err(violations) => Err(violations.first().map_or_else(String::new, |violation| violation.to_string())),
        }
    }

    /// By the paper's formula, for packets that are all full: so many rounds of one packet each.
    fn by_formula_of_packets(&self, machine: &Machine) -> f64 {
        let shape = self.shape();
        (self.algorithm.formula)(&shape).rounds as f64 * machine.duration(shape.packet())
    }

    /// By the paper's formula for a machine without internal packets.
    pub fn by_formula(&self, machine: &Machine) -> f64 {
        (self.algorithm.formula)(&self.shape()).time(machine.tau, machine.t_c)
    }

    fn shape(&self) -> Shape {
        Shape::new(&self.call, &self.parameters)
    }
}

fn broadcast(name: &str, n: u32, packet: usize) -> Result<Run, String> {
    Ok(Run::new(Collective::Broadcast, name, n, MESSAGE, PortModel::OnePort)?.packet(packet))
}

/// Figure 5 of 1986.
fn broadcast_by_packet_size() -> Result<Figure, String> {
    let machine = Machine::ipsc();
    let packets: Vec<usize> = (7..=15).map(|k| 1 << k).chain([MESSAGE]).collect();
    let mut series = Vec::new();
    for n in 1..=6 {
        let mut own = Series::new(format!("n = {n}"));
        for &packet in &packets {
            let run = broadcast("sbt", n, packet)?;
            own.simulated.push((packet as f64, run.simulated(&machine)?));
            own.formula.push((packet as f64, run.by_formula_of_packets(&machine)));
        }
        series.push(own);
    }
    Ok(Figure {
        name: "hj86-figure-5-sbt-broadcast",
        title: "Broadcast along the SBT, by external packet size (1986, figure 5)",
        setting: "60 KiB, one port, iPSC: 5 ms an internal packet of at most 1 KiB, 1 us a byte, 20 % overlap of ports"
            .into(),
        marks: "simulated",
        formula: "line: n ceil(M/B) (tau ceil(B/1 KiB) + B t_c), no overlap",
        x: Axis::bytes("external packet B"),
        y: Axis::seconds("time"),
        series,
    })
}

/// The SBT's and the MSBT's broadcasts with full internal packets, for n = 2 to 6.
fn ipsc_broadcasts() -> Result<[Series; 2], String> {
    let machine = Machine::ipsc();
    let mut both = [Series::new("SBT".into()), Series::new("MSBT".into())];
    for n in 2..=6 {
        for (series, name) in both.iter_mut().zip(["sbt", "msbt"]) {
            let run = broadcast(name, n, INTERNAL)?;
            series.simulated.push((f64::from(n), run.simulated(&machine)?));
            series.formula.push((f64::from(n), run.by_formula_of_packets(&machine)));
        }
    }
    Ok(both)
}

/// Figure 6 of 1986.
fn broadcast_by_dimension() -> Result<Figure, String> {
    Ok(Figure {
        name: "hj86-figure-6-sbt-msbt-broadcast",
        title: "Broadcast along the SBT and the MSBT, by dimension (1986, figure 6)",
        setting: "60 KiB in packets of 1 KiB, one port, iPSC: tau 5 ms, t_c 1 us a byte, 20 % overlap of ports".into(),
        marks: "simulated",
        formula: "lines: 60 n and 60 + n packets' times, no overlap",
        x: Axis::dimension(),
        y: Axis::linear("time in seconds"),
        series: ipsc_broadcasts()?.into(),
    })
}

/// Figure 7 of 1986.
fn broadcast_speed_up() -> Result<Figure, String> {
    let [sbt, msbt] = ipsc_broadcasts()?;
    let ratio = |above: &[(f64, f64)], below: &[(f64, f64)]| -> Vec<(f64, f64)> {
        above.iter().zip(below).map(|(a, b)| (a.0, a.1 / b.1)).collect()
    };
    let mut speed_up = Series::new("SBT / MSBT".into());
    speed_up.simulated = ratio(&sbt.simulated, &msbt.simulated);
    speed_up.formula = ratio(&sbt.formula, &msbt.formula);
    let limit = Series { formula: (2..=6).map(|n| (f64::from(n), f64::from(n))).collect(), ..Series::limit("n") };
    Ok(Figure {
        name: "hj86-figure-7-speed-up",
        title: "Speed-up of the MSBT's broadcast over the SBT's (1986, figure 7)",
        setting: "60 KiB in packets of 1 KiB, one port, iPSC: tau 5 ms, t_c 1 us a byte, 20 % overlap of ports".into(),
        marks: "simulated",
        formula: "line: 60 n / (60 + n); the paper measured about n",
        x: Axis::dimension(),
        y: Axis::linear("time of the SBT / time of the MSBT"),
        series: vec![limit, speed_up],
    })
}

/// Bytes of an element in the scatters: fewer elements than bytes, so that no relay need use its memory twice.
const UNIT: usize = 32;

/// A scatter on the iPSC as the paper's programs do it: the SBT in the order of the Gray code, the SBnT in postorder.
///
/// A node that sends has only the end of its send overlap with a receive: so the papers explain what they saw, a node next
/// to the SBT's root that is still passing on a packet when the next one arrives. (The speed-up of their broadcasts, on the
/// other hand, is that of nodes that send and receive at once.)
fn ipsc_scatter(name: &str, n: u32, bytes: usize) -> Result<Run, String> {
    let order = if name == "sbt" { Order::GrayCode } else { Order::Postorder };
    let block = bytes / UNIT;
    Ok(Run::new(Collective::Scatter, name, n, block, PortModel::OneWay)?.packet(block).order(order))
}

fn ipsc_scatters(points: impl Iterator<Item = (f64, u32, usize)>) -> Result<Vec<Series>, String> {
    let ipsc = Machine::ipsc();
    let machine =
        Machine { t_c: ipsc.t_c * UNIT as f64, max_packet: ipsc.max_packet.map(|bytes| bytes / UNIT), ..ipsc };
    let mut series = vec![
        Series::new("SBT, Gray code order".into()),
        Series::new("SBnT, postorder".into()),
        Series::limit("either, no overlap"),
    ];
    for (x, n, bytes) in points {
        for (index, name) in ["sbt", "sbnt"].into_iter().enumerate() {
            let run = ipsc_scatter(name, n, bytes)?;
            series[index].simulated.push((x, run.simulated(&machine)?));
        }
        let others = ((1usize << n) - 1) as f64;
        series[2].formula.push((x, others * ipsc.duration(bytes)));
    }
    Ok(series)
}

/// Figure 8 of 1986.
fn scatter_by_dimension() -> Result<Figure, String> {
    Ok(Figure {
        name: "hj86-figure-8-scatter",
        title: "Scatter along the SBT and the BST (SBnT), by dimension (1986, figure 8)",
        setting:
            "blocks and packets of 1 KiB, iPSC: one send or receive at a time with 20 % overlap, 5 ms, 1 us a byte"
                .into(),
        marks: "simulated",
        formula: "line: (N - 1) (tau + M t_c), the same for both",
        x: Axis::dimension(),
        y: Axis::linear("time in seconds"),
        series: ipsc_scatters((2..=7).map(|n| (f64::from(n), n, INTERNAL)))?,
    })
}

/// Figure 11 of 1988.
fn scatter_by_block() -> Result<Figure, String> {
    Ok(Figure {
        name: "hj88-figure-11-scatter",
        title: "Scatter along the SBT and the SBnT on 64 nodes, by block (1988, figure 11)",
        setting: "n = 6, a packet a block, iPSC: one send or receive at a time with 20 % overlap, 5 ms a KiB begun, 1 us a byte".into(),
        marks: "simulated",
        formula: "line: 63 (tau ceil(M/1 KiB) + M t_c), the same for both",
        x: Axis::bytes("block of a node M"),
        y: Axis::seconds("time"),
        series: ipsc_scatters((5..=14).map(|k| (f64::from(1 << k), 6, 1 << k)))?,
    })
}

/// The start-up of the speed-ups' machine, in transfer times of an element.
const TAU: usize = 1000;

fn all_ports() -> Machine {
    Machine::new(TAU as f64, 1.0, PortModel::AllPorts)
}

/// Broadcast, all ports, best packets of each.
fn msbt_over_sbt() -> Result<Figure, String> {
    let machine = all_ports();
    let mut series =
        vec![Series { formula: (2..=10).map(|n| (f64::from(n), f64::from(n))).collect(), ..Series::limit("n") }];
    for size in [1, 10, 100, 1000, 10_000] {
        let mut own = Series::new(format!("M t_c = {size} tau"));
        for n in 2..=10 {
            let run = |name: &str| -> Result<Run, String> {
                let run = Run::new(Collective::Broadcast, name, n, size * TAU, PortModel::AllPorts)?;
                let best = (run.algorithm.best_packet)(&run.shape(), machine.tau, machine.t_c);
                Ok(run.packet((best.round() as usize).clamp(1, size * TAU)))
            };
            let (sbt, msbt) = (run("sbt")?, run("msbt")?);
            // The largest two would be a million messages each.
            if size <= 1000 || n <= 8 {
                own.simulated.push((f64::from(n), sbt.simulated(&machine)? / msbt.simulated(&machine)?));
            }
            own.formula.push((f64::from(n), sbt.by_formula(&machine) / msbt.by_formula(&machine)));
        }
        series.push(own);
    }
    Ok(Figure {
        name: "speed-up-msbt-over-sbt",
        title: "Broadcast with all ports: how many times faster the MSBT is than the SBT",
        setting: "each with its best packet size; message M relative to the start-up".into(),
        marks: "simulated (the longest message to n = 8)",
        formula: "lines: (ceil(M/B) + n - 1) (tau + B t_c) over (ceil(M/(B n)) + n) (tau + B t_c)",
        x: Axis::dimension(),
        y: Axis::linear("time of the SBT / time of the MSBT"),
        series,
    })
}

/// Scatter, all ports, everything of a level in one packet.
fn sbnt_over_sbt() -> Result<Figure, String> {
    let machine = all_ports();
    let half = (2..=10).map(|n| (f64::from(n), f64::from(n) / 2.0)).collect();
    let mut series = vec![Series { formula: half, ..Series::limit("n/2") }];
    for (count, label) in [(1, "0.001"), (10, "0.01"), (100, "0.1"), (10_000, "10")] {
        let mut own = Series::new(format!("M t_c = {label} tau"));
        for n in 2..=10 {
            let run = |name| Run::new(Collective::Scatter, name, n, count, PortModel::AllPorts);
            let (sbt, sbnt) = (run("sbt")?, run("sbnt")?);
            own.simulated.push((f64::from(n), sbt.simulated(&machine)? / sbnt.simulated(&machine)?));
            own.formula.push((f64::from(n), sbt.by_formula(&machine) / sbnt.by_formula(&machine)));
        }
        series.push(own);
    }
    Ok(Figure {
        name: "speed-up-sbnt-over-sbt",
        title: "Scatter with all ports: how many times faster the SBnT is than the SBT",
        setting: "the farthest blocks first, whole levels at once; block M relative to the start-up".into(),
        marks: "simulated",
        formula: "lines: N/2 M t_c + n tau over (largest subtree) M t_c + n tau",
        x: Axis::dimension(),
        y: Axis::linear("time of the SBT / time of the SBnT"),
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series<'f>(figure: &'f Figure, label: &str) -> &'f Series {
        figure.series.iter().find(|series| series.label == label).expect("a series of that name")
    }

    /// Both tend to their limits, and the simulation does what the formulas say.
    #[test]
    fn speed_ups_tend_to_their_limits() {
        for (figure, longest, limit) in [
            (msbt_over_sbt().expect("a figure"), "M t_c = 10000 tau", 1.0),
            (sbnt_over_sbt().expect("a figure"), "M t_c = 10 tau", 0.5),
        ] {
            let mut before: Vec<f64> = vec![0.0; 9];
            for own in figure.series.iter().filter(|series| !series.simulated.is_empty()) {
                for (index, (simulated, formula)) in own.simulated.iter().zip(&own.formula).enumerate() {
                    // The last packets may be shorter than the formula's.
                    assert!((simulated.1 / formula.1 - 1.0).abs() < 0.1, "{} {simulated:?} {formula:?}", own.label);
                    assert!(simulated.1 > before[index] * 0.97, "{} {simulated:?}", own.label);
                    before[index] = simulated.1;
                }
            }
            // The largest subtree of the 4-cube's SBnT has 5 nodes of 15, for 3.75.
            for (n, ratio) in &series(&figure, longest).formula {
                assert!((0.75..1.05).contains(&(ratio / (n * limit))), "n = {n}: {ratio}");
            }
        }
    }

    /// What the papers measured: above 1 KiB the packet size matters little, below the time grows as packets shrink; the MSBT is
    /// nearly n times faster; the SBnT gains from the overlap of ports, the SBT less.
    #[test]
    fn the_ipsc_behaves_as_measured() {
        let figure = broadcast_by_packet_size().expect("a figure");
        for own in &figure.series {
            let at = |packet: f64| own.simulated.iter().find(|point| point.0 == packet).expect("a point").1;
            assert!((1.6..2.2).contains(&(at(512.0) / at(1024.0))), "{}", own.label);
            assert!((0.8..1.25).contains(&(at(8192.0) / at(1024.0))), "{}", own.label);
        }
        let speed_up = broadcast_speed_up().expect("a figure");
        for (n, ratio) in &series(&speed_up, "SBT / MSBT").simulated {
            assert!((0.8..1.05).contains(&(ratio / n)), "n = {n}: {ratio}");
        }
        let scatter = scatter_by_dimension().expect("a figure");
        let times = |label: &str| series(&scatter, label).simulated.clone();
        let plain = series(&scatter, "either, no overlap").formula.clone();
        // Root and relay in turn: a packet each 1.8 packets' times on port 0, for 1.6 with the full advantage of the overlap.
        for (index, (sbt, sbnt)) in times("SBT, Gray code order").into_iter().zip(times("SBnT, postorder")).enumerate()
        {
            let (sbt, sbnt) = (sbt.1 / plain[index].1, sbnt.1 / plain[index].1);
            assert!((0.9..0.94).contains(&sbt), "n = {}: {sbt}", index + 2);
            assert!((0.8..0.84).contains(&sbnt) || index == 0, "n = {}: {sbnt}", index + 2);
        }
    }
}
