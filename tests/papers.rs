//! Tables 3 and 4 of Ho and Johnsson, 1986, cell by cell: what the paper prints, with its errata, against the registry's formulas and
//! best packets, and against what the schedules take in the simulator.
//!
//! Here as there: M elements in packets of B, N = 2^n nodes, start-up time tau, transfer time t_c an element; "1 s or r" (one send or
//! receive at a time) is one-way, "1 s & r" one-port, "log N ports" all-ports.

use hypercoll::algorithm::verify::schedules;
use hypercoll::algorithm::{registry, Parameters, PortModel, Shape};
use hypercoll::collective::{Call, Collective};
use hypercoll::executor::simulator::{simulate, Machine};
use hypercoll::schedule::Cost;

/// What a cell depends on.
#[derive(Clone, Copy, Debug)]
struct At {
    m: usize,
    b: usize,
    n: u32,
    tau: f64,
    t_c: f64,
}

impl At {
    /// log N.
    fn d(&self) -> f64 {
        f64::from(self.n)
    }

    /// N.
    fn nodes(&self) -> f64 {
        self.d().exp2()
    }

    /// M t_c.
    fn transfer(&self) -> f64 {
        self.m as f64 * self.t_c
    }

    /// ceil(M/B).
    fn packets(&self) -> f64 {
        (self.m as f64 / self.b as f64).ceil()
    }

    /// tau + B t_c.
    fn step(&self) -> f64 {
        self.tau + self.b as f64 * self.t_c
    }

    /// sqrt(`part` M tau / t_c).
    fn packet(&self, part: f64) -> f64 {
        (part * self.m as f64 * self.tau / self.t_c).sqrt()
    }
}

fn square_of_sum(a: f64, b: f64) -> f64 {
    (a.sqrt() + b.sqrt()).powi(2)
}

/// A row of table 3: the paper's name of it, the registry's, and the three cells.
struct Row {
    printed: &'static str,
    name: &'static str,
    ports: &'static [PortModel],
    time: fn(At) -> f64,
    best_packet: fn(At) -> f64,
    least_time: fn(At) -> f64,
}

use PortModel::{AllPorts, OnePort, OneWay};

/// B_opt and T_min are the least of T without its ceiling (erratum 8).
const TABLE_3: [Row; 10] = [
    Row {
        printed: "HP, 1 s or r",
        name: "hamiltonian_path",
        ports: &[OneWay],
        time: |x| (2.0 * x.packets() + x.nodes() - 3.0) * x.step(),
        best_packet: |x| x.packet(2.0 / (x.nodes() - 3.0)),
        least_time: |x| square_of_sum(2.0 * x.transfer(), (x.nodes() - 3.0) * x.tau),
    },
    // Printed with N - 3 in all three cells. One packet passes N - 1 edges, one after the other (so table 1), and with B = M the T
    // that is printed has N - 2 steps (erratum 1).
    Row {
        printed: "HP, 1 s & r",
        name: "hamiltonian_path",
        ports: &[OnePort],
        time: |x| (x.packets() + x.nodes() - 2.0) * x.step(),
        best_packet: |x| x.packet(1.0 / (x.nodes() - 2.0)),
        least_time: |x| square_of_sum(x.transfer(), (x.nodes() - 2.0) * x.tau),
    },
    Row {
        printed: "SBT, 1 port",
        name: "sbt",
        ports: &[OneWay, OnePort],
        time: |x| x.packets() * x.d() * x.step(),
        best_packet: |x| x.m as f64,
        least_time: |x| x.d() * (x.transfer() + x.tau),
    },
    Row {
        printed: "SBT, log N ports",
        name: "sbt",
        ports: &[AllPorts],
        time: |x| (x.packets() + x.d() - 1.0) * x.step(),
        best_packet: |x| x.packet(1.0 / (x.d() - 1.0)),
        least_time: |x| square_of_sum(x.transfer(), x.tau * (x.d() - 1.0)),
    },
    Row {
        printed: "TCBT, 1 s or r",
        name: "tcbt",
        ports: &[OneWay],
        time: |x| (3.0 * x.packets() + 2.0 * x.d() - 5.0) * x.step(),
        best_packet: |x| x.packet(3.0 / (2.0 * x.d() - 5.0)),
        least_time: |x| square_of_sum(3.0 * x.transfer(), x.tau * (2.0 * x.d() - 5.0)),
    },
    Row {
        printed: "TCBT, 1 s & r",
        name: "tcbt",
        ports: &[OnePort],
        time: |x| 2.0 * (x.packets() + x.d() - 2.0) * x.step(),
        best_packet: |x| x.packet(1.0 / (x.d() - 2.0)),
        least_time: |x| 2.0 * square_of_sum(x.transfer(), x.tau * (x.d() - 2.0)),
    },
    Row {
        printed: "TCBT, log N ports",
        name: "tcbt",
        ports: &[AllPorts],
        time: |x| (x.packets() + x.d() - 1.0) * x.step(),
        best_packet: |x| x.packet(1.0 / (x.d() - 1.0)),
        least_time: |x| square_of_sum(x.transfer(), x.tau * (x.d() - 1.0)),
    },
    Row {
        printed: "MSBT, 1 s or r",
        name: "msbt",
        ports: &[OneWay],
        time: |x| (2.0 * x.packets() + x.d() - 1.0) * x.step(),
        best_packet: |x| x.packet(2.0 / (x.d() - 1.0)),
        least_time: |x| square_of_sum(2.0 * x.transfer(), x.tau * (x.d() - 1.0)),
    },
    Row {
        printed: "MSBT, 1 s & r",
        name: "msbt",
        ports: &[OnePort],
        time: |x| (x.packets() + x.d()) * x.step(),
        best_packet: |x| x.packet(1.0 / x.d()),
        least_time: |x| square_of_sum(x.transfer(), x.tau * x.d()),
    },
    Row {
        printed: "MSBT, log N ports",
        name: "msbt",
        ports: &[AllPorts],
        time: |x| ((x.m as f64 / (x.b as f64 * x.d())).ceil() + x.d()) * x.step(),
        best_packet: |x| x.packet(1.0) / x.d(),
        least_time: |x| square_of_sum(x.transfer() / x.d(), x.tau * x.d()),
    },
];

/// Every row with each of its port models.
fn table_3() -> impl Iterator<Item = (&'static Row, PortModel)> {
    TABLE_3.iter().flat_map(|row| row.ports.iter().map(move |&ports| (row, ports)))
}

fn call(at: At) -> Call {
    Call::new(Collective::Broadcast, 1 << at.n, at.m)
}

fn parameters(at: At, ports: PortModel) -> Parameters {
    Parameters { packet: Some(at.b), symmetrized: false, ..Parameters::new(ports) }
}

/// The registry's time.
fn formula(name: &str, ports: PortModel, at: At) -> f64 {
    let algorithm = registry::find(Collective::Broadcast, name).expect("in the registry");
    (algorithm.formula)(&Shape::new(&call(at), &parameters(at, ports))).time(at.tau, at.t_c)
}

/// The registry's best packet.
fn best_packet(name: &str, ports: PortModel, at: At) -> f64 {
    let algorithm = registry::find(Collective::Broadcast, name).expect("in the registry");
    (algorithm.best_packet)(&Shape::new(&call(at), &parameters(at, ports)), at.tau, at.t_c)
}

/// The rounds of the schedules of all ranks, and the time that they take in the simulator.
fn simulated(name: &str, ports: PortModel, at: At) -> (usize, f64) {
    let algorithm = registry::find(Collective::Broadcast, name).expect("in the registry");
    let schedules = schedules(algorithm, &call(at), &parameters(at, ports));
    let timeline = simulate(&schedules, &Machine::new(at.tau, at.t_c, ports)).expect("no deadlock");
    (Cost::of(&schedules).rounds, timeline.time)
}

fn equal(found: f64, expected: f64, case: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{case}: {found}, not {expected}");
}

/// Start-ups and transfers as dear as each other, and either much dearer.
const TIMES: [(f64, f64); 4] = [(1.0, 1.0), (1000.0, 0.5), (0.25, 8.0), (5e-3, 1e-6)];

/// Elements and packets: dividing, and not, one element, one packet, and packets that are no multiple of n.
const SIZES: [(usize, usize); 12] =
    [(1, 1), (2, 1), (7, 1), (7, 3), (7, 7), (60, 4), (60, 7), (61, 20), (61, 61), (1000, 13), (5040, 6), (99_991, 10)];

/// The paper's ceiling makes the last packet as long as the others. Where it is shorter, the registry's time is less, by no more than
/// the rounds of one packet are shorter, of which there are at most n or three.
#[test]
fn table_3_t() {
    for (row, ports) in table_3() {
        for n in (2..=8).chain([13, 20]) {
            for (m, b) in SIZES {
                for (tau, t_c) in TIMES {
                    let at = At { m, b, n, tau, t_c };
                    let case = format!("{} {ports} {at:?}", row.printed);
                    let (rounds, time) =
                        (formula(row.name, ports, At { t_c: 0.0, ..at }), formula(row.name, ports, at));
                    equal(rounds, (row.time)(At { t_c: 0.0, ..at }), &case);
                    if m % b == 0 {
                        equal(time, (row.time)(at), &case);
                    } else {
                        let shorter = (m.div_ceil(b) * b - m) as f64 * t_c * f64::from(n.max(3));
                        let most = (row.time)(at) * (1.0 + 1e-9);
                        assert!(time <= most && time >= most - shorter - 1e-8 * most, "{case}: {time}");
                    }
                }
            }
        }
    }
}

/// The ceiling is that of the schedules, whatever divides; and where B divides M they take T. (Else the last packet is shorter, and
/// they take at most T and at least what the full packets take.)
#[test]
fn table_3_t_is_what_the_schedules_take() {
    for (row, ports) in table_3() {
        for n in 2..=5 {
            for (m, b) in SIZES.into_iter().filter(|(m, b)| m.div_ceil(*b) <= 60) {
                for (tau, t_c) in [(1.0, 0.0), (3.0, 1.0)] {
                    let at = At { m, b, n, tau, t_c };
                    let case = format!("{} {ports} {at:?}", row.printed);
                    let (rounds, time) = simulated(row.name, ports, at);
                    equal(rounds as f64, (row.time)(At { tau: 1.0, t_c: 0.0, ..at }), &case);
                    // In the square no node has the third step of a packet to make (erratum 10), and whoever needs no
                    // clock is done sooner.
                    let square = row.printed == "TCBT, 1 s or r" && n == 2;
                    let least = if m % b == 0 || t_c == 0.0 { at } else { At { m: m / b * b, ..at } };
                    assert!(time <= (row.time)(at) * (1.0 + 1e-9), "{case}: {time}");
                    assert!(square || time >= (row.time)(least) * (1.0 - 1e-9), "{case}: {time}");
                }
            }
        }
    }
}

/// In the square the printed B_opt of two rows is no number: 2 log N - 5 is negative and log N - 2 is 0, and T without its ceiling
/// falls up to B = M.
fn has_best_packet(row: &Row, n: u32) -> bool {
    n > 2 || !matches!(row.printed, "TCBT, 1 s or r" | "TCBT, 1 s & r")
}

#[test]
fn table_3_b_opt() {
    for (row, ports) in table_3() {
        for n in (2..=8).chain([13, 20]) {
            for (m, b) in SIZES {
                for (tau, t_c) in TIMES {
                    let at = At { m, b, n, tau, t_c };
                    let expected = if has_best_packet(row, n) { (row.best_packet)(at) } else { m as f64 };
                    equal(best_packet(row.name, ports, at), expected, &format!("{} {ports} {at:?}", row.printed));
                }
            }
        }
    }
}

/// With packets of B_opt, if they are whole and all of one size, the registry's formula and the schedules take T_min, and no other
/// packet takes less; if they are not, every packet takes longer (erratum 8).
#[test]
fn table_3_t_min() {
    for (row, ports) in table_3() {
        for n in (2..=8).filter(|&n| has_best_packet(row, n)) {
            for (b, number) in [(1, 3), (6, 1), (6, 5), (10, 12)] {
                // On all ports packets of the MSBT come n at a time.
                let together = if row.printed == "MSBT, log N ports" { n as usize } else { 1 };
                let number = if row.printed == "SBT, 1 port" { 1 } else { number };
                let at = At { m: b * number * together, b, n, tau: 1.0, t_c: 2.0 };
                // B_opt goes with the root of tau, or is M anyway.
                let at = At { tau: (b as f64 / (row.best_packet)(at)).powi(2), ..at };
                let case = format!("{} {ports} {at:?}", row.printed);
                equal((row.best_packet)(at), b as f64, &case);
                let least = (row.least_time)(at);
                equal(formula(row.name, ports, at), least, &case);
                if n <= 5 {
                    equal(simulated(row.name, ports, at).1, least, &case);
                }
                let others = (1..=at.m).map(|b| formula(row.name, ports, At { b, ..at })).fold(f64::INFINITY, f64::min);
                equal(others, least, &case);
                // Two start-up times between which B_opt is no whole number.
                let between = At { tau: at.tau * 1.1, ..at };
                let packets = if row.printed == "SBT, 1 port" { 0..0 } else { 1..at.m + 1 };
                for b in packets {
                    let time = formula(row.name, ports, At { b, ..between });
                    assert!(time > (row.least_time)(between) * (1.0 + 1e-9), "{case}, packets of {b}: {time}");
                }
            }
        }
    }
}

/// A row of table 4: communication assumption, algorithm over MSBT, and its cells, of log N.
struct Comparison {
    ports: PortModel,
    name: &'static str,
    one_packet: fn(f64) -> f64,
    many_packets: fn(f64) -> f64,
    start_ups: f64,
    transfers: fn(f64) -> f64,
    /// What the cell of the start-ups is the limit of for large log N (erratum 9).
    start_ups_of: fn(f64) -> f64,
}

const TABLE_4: [Comparison; 6] = [
    Comparison {
        ports: OneWay,
        name: "sbt",
        one_packet: |d| d / (d + 1.0),
        many_packets: |d| d / 2.0,
        start_ups: 1.0,
        transfers: |d| d / 2.0,
        start_ups_of: |d| d / (d - 1.0),
    },
    Comparison {
        ports: OneWay,
        name: "tcbt",
        one_packet: |d| (2.0 * d - 2.0) / (d + 1.0),
        many_packets: |_| 1.5,
        start_ups: 2.0,
        transfers: |_| 1.5,
        start_ups_of: |d| (2.0 * d - 5.0) / (d - 1.0),
    },
    Comparison {
        ports: OnePort,
        name: "sbt",
        one_packet: |d| d / (d + 1.0),
        many_packets: |d| d,
        start_ups: 1.0,
        transfers: |d| d,
        start_ups_of: |_| 1.0,
    },
    Comparison {
        ports: OnePort,
        name: "tcbt",
        one_packet: |d| (2.0 * d - 2.0) / (d + 1.0),
        many_packets: |_| 2.0,
        start_ups: 2.0,
        transfers: |_| 2.0,
        start_ups_of: |d| (2.0 * d - 4.0) / d,
    },
    // One row of the paper, "SBT,TCBT/MSBT". The last cell is on condition that tau log^2 N << M t_c (its footnote 5).
    Comparison {
        ports: AllPorts,
        name: "sbt",
        one_packet: |d| d / (d + 1.0),
        many_packets: |d| d,
        start_ups: 1.0,
        transfers: |d| d,
        start_ups_of: |d| (d - 1.0) / d,
    },
    Comparison {
        ports: AllPorts,
        name: "tcbt",
        one_packet: |d| d / (d + 1.0),
        many_packets: |d| d,
        start_ups: 1.0,
        transfers: |d| d,
        start_ups_of: |d| (d - 1.0) / d,
    },
];

/// A time over the MSBT's, each by `time`.
fn ratio(row: &Comparison, time: impl Fn(&str) -> f64) -> f64 {
    time(row.name) / time("msbt")
}

fn close(found: f64, expected: f64, by: f64, case: &str) {
    assert!((found / expected - 1.0).abs() <= by, "{case}: {found}, not {expected}");
}

#[test]
fn table_4_one_packet() {
    for row in &TABLE_4 {
        for n in (2..=8).chain([13, 20, 30]) {
            for (tau, t_c) in TIMES {
                let at = At { m: 60, b: 60, n, tau, t_c };
                let (case, expected) = (format!("{} {} n = {n}", row.name, row.ports), (row.one_packet)(at.d()));
                equal(ratio(row, |name| formula(name, row.ports, at)), expected, &case);
                if n <= 6 {
                    equal(ratio(row, |name| simulated(name, row.ports, at).1), expected, &case);
                }
            }
        }
    }
}

#[test]
fn table_4_many_packets() {
    for row in &TABLE_4 {
        for n in (2..=8).chain([13, 20, 30]) {
            let at = At { m: 1 << 40, b: 64, n, tau: 100.0, t_c: 1.0 };
            let (case, expected) = (format!("{} {} n = {n}", row.name, row.ports), (row.many_packets)(at.d()));
            close(ratio(row, |name| formula(name, row.ports, at)), expected, 1e-6, &case);
            // Of few packets, what fills the pipeline counts: less than 2 n steps, of packets that are n at a time at most. (For
            // the square see above.)
            if (3..=4).contains(&n) {
                let at = At { m: 960, b: 1, ..at };
                close(
                    ratio(row, |name| simulated(name, row.ports, at).1),
                    expected,
                    2.0 * at.d() * at.d() / 960.0,
                    &case,
                );
            }
        }
    }
}

/// Start-ups that even the best packets leave: b of the (a M/B + b) (tau + B t_c) that the registry's rounds are, of which T_min is
/// (sqrt(a M t_c) + sqrt(b tau))^2; where b is 0, those of one packet, which is then the best.
fn start_ups(name: &str, ports: PortModel, n: u32) -> f64 {
    // On all ports the MSBT's packets come n at a time.
    let rounds = |packets: u32| formula(name, ports, At { m: packets as usize, b: 1, n, tau: 1.0, t_c: 0.0 });
    let more = 2.0 * rounds(n) - rounds(2 * n);
    if more == 0.0 {
        rounds(1)
    } else {
        more
    }
}

#[test]
fn table_4_best_packets_start_ups_only() {
    for row in &TABLE_4 {
        for n in (4..=8).chain([13, 20, 30]) {
            let at = At { m: 60, b: 60, n, tau: 1e9, t_c: 1e-3 };
            let case = format!("{} {} n = {n}", row.name, row.ports);
            let found = ratio(row, |name| start_ups(name, row.ports, n));
            equal(found, (row.start_ups_of)(at.d()), &case);
            // The limit is approached as 1/n: so by T_min, and by packets of B_opt or, as it is more here, of M.
            close(found, row.start_ups, 2.5 / at.d(), &case);
            let with_best = |name: &str| {
                let best = best_packet(name, row.ports, at);
                assert!(best >= at.m as f64, "{case}: {best}");
                formula(name, row.ports, at)
            };
            close(ratio(row, with_best), row.start_ups, 2.5 / at.d(), &case);
        }
    }
}

#[test]
fn table_4_best_packets_transfers_only() {
    let with_best = |name: &str, ports, at: At| {
        let b = best_packet(name, ports, at).round() as usize;
        formula(name, ports, At { b, ..at })
    };
    for row in &TABLE_4 {
        // (In the square the TCBT's B_opt is M, and one packet takes 2 log N - 2 = 2 steps of M t_c and not 3.)
        for n in (3..=8).chain([13, 20, 30]) {
            let at = At { m: 1 << 50, b: 1, n, tau: 1.0, t_c: 1.0 };
            let case = format!("{} {} n = {n}", row.name, row.ports);
            let expected = (row.transfers)(at.d());
            close(ratio(row, |name| with_best(name, row.ports, at)), expected, 1e-4, &case);
            // What footnote 5 is for: with tau log^2 N = M t_c the T_min of these trees is (sqrt(n^2 tau) + sqrt((n-1) tau))^2, and
            // that of the MSBT 4 n tau, as its start-ups take as long as its transfers: about n/4 of it, and not n.
            if row.ports == AllPorts && n >= 20 {
                let m = (n * n) as usize;
                let at = At { m: m << 20, tau: (1 << 20) as f64, ..at };
                let expected = square_of_sum(at.d().powi(2), at.d() - 1.0) / (4.0 * at.d());
                close(ratio(row, |name| with_best(name, row.ports, at)), expected, 0.01, &case);
            }
        }
    }
}
