//! The pattern behind broadcasts in which packet after packet goes down a tree, or each of two paths.

use crate::algorithm::{Figure, Formula, Route, Shape};
use crate::schedule::Problem;
use crate::topology::Tree;
use std::ops::Range;

/// How long P packets take: `per_packet` P + `rest` rounds.
pub struct Pipeline {
    /// Rounds from one packet to the next.
    pub per_packet: usize,
    /// Rounds besides, most of them to fill the pipeline.
    pub rest: isize,
    /// The height of the tree.
    pub height: usize,
    /// Rounds, of several packets, in which the last one is alone on its way.
    pub alone: usize,
    /// The vectors that the root of the reduction receives, and sends in the broadcast.
    pub received: usize,
    /// The most that another node of it receives, or sends.
    pub passed: usize,
}

impl Pipeline {
    /// Rounds of so many packets, of which there is at least one.
    pub fn rounds(&self, packets: usize) -> usize {
        (self.per_packet * packets).saturating_add_signed(self.rest)
    }

    pub fn formula(&self, shape: &Shape) -> Formula {
        if shape.n == 0 || shape.count == 0 {
            return Formula::NOTHING;
        }
        let rounds = self.rounds(shape.packets());
        let alone = if shape.packets() == 1 { rounds } else { self.alone };
        let (m, b) = (shape.count as f64, shape.packet() as f64);
        Formula {
            rounds,
            elements: shape.in_packets(rounds, alone),
            moved: (shape.size - 1) as f64 * m,
            load: m,
            port: self.received.max(self.passed) as f64 * m,
            hops: self.height,
            path: m + (self.height - 1) as f64 * b,
            ..Formula::NOTHING
        }
    }

    /// The cost of the reduction, which is the same backwards: `waits` packets that a node is sent before the first of the root's.
    pub fn reduced(&self, shape: &Shape, waits: usize) -> Formula {
        let forward = self.formula(shape);
        if forward == Formula::NOTHING {
            return forward;
        }
        // The first vector that reaches a rank where its result is to be needs no other place.
        let own = if shape.in_place { self.received } else { self.received - 1 };
        let scratch = (own.max(self.passed) * shape.count) as f64;
        Formula { scratch, path: (self.received * shape.count + waits * shape.packet()) as f64, ..forward }
            .at_most(&[Figure::Path], shape.full_packets())
    }

    /// The packet size for which (a M/B + b) (tau + B t_c) is least, a = `per_packet`, b = `rest`: sqrt(a M tau / (b t_c)).
    pub fn best_packet(&self, shape: &Shape, tau: f64, t_c: f64) -> f64 {
        if self.rest <= 0 {
            return shape.count as f64;
        }
        (self.per_packet as f64 * shape.count as f64 * tau / (self.rest as f64 * t_c)).sqrt()
    }
}

/// Writes that `packets` go down the tree: packet q enters node c in the round `round(c, q)`.
pub fn down<I: Iterator<Item = (usize, Range<usize>)>>(
    problem: &Problem,
    tree: &impl Tree,
    node: usize,
    route: &mut Route,
    packets: impl Fn() -> I,
    round: impl Fn(usize, usize) -> usize,
) {
    let root = problem.root;
    let c = node ^ root;
    if let Some(parent) = tree.parent(c) {
        for (q, packet) in packets() {
            route.receive(round(c, q), parent ^ root, [packet]);
        }
    }
    for child in tree.children(c) {
        for (q, packet) in packets() {
            route.send(round(child, q), child ^ root, [packet]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithm::{registry, verify::verify, Parameters, PortModel, Shape};
    use crate::collective::{Call, Collective};

    /// Rounds of so many packets, counted in the schedules.
    fn rounds(name: &str, n: u32, ports: PortModel, packets: usize) -> usize {
        let algorithm = registry::find(Collective::Broadcast, name).expect("in the registry");
        let call = Call::new(Collective::Broadcast, 1 << n, 2 * packets);
        let parameters = Parameters { packet: Some(2), symmetrized: false, ..Parameters::new(ports) };
        algorithm.accepts(&call, &parameters).expect("suits");
        let report = verify(algorithm, &call, &parameters);
        assert!(report.violations.is_empty(), "{name} n = {n} {ports} {packets}: {:?}", report.violations);
        report.cost.rounds
    }

    /// Tables 1 and 2 of Ho and Johnsson 1986: propagation delays and cycles per packet, by port model, narrowest first. The
    /// variations of the Hamiltonian path change neither by more than a factor of two (section 3.4).
    #[test]
    fn delays_and_cycles_are_those_of_the_paper() {
        for n in 2..=6u32 {
            let (d, nodes) = (n as usize, 1usize << n);
            let tables = [
                ("hamiltonian_path", [nodes - 1; 3], [2, 1, 1]),
                ("tcbt", [2 * d - 2, 2 * d - 2, d], [3, 2, 1]),
                ("hamiltonian_path_middle", [nodes / 2; 3], [2, 2, 1]),
            ];
            for (name, delays, cycles) in tables {
                for (ports, (delay, cycle)) in PortModel::ALL.into_iter().zip(delays.into_iter().zip(cycles)) {
                    let counted = [1, 2, 3, 6].map(|packets| rounds(name, n, ports, packets));
                    let expected = [0, 1, 2, 5].map(|more| delay + more * cycle);
                    assert_eq!(counted, expected, "{name} n = {n} {ports}");
                }
            }
            // Two paths, two packets.
            for (ports, delay, cycles) in [(PortModel::OnePort, nodes, 2), (PortModel::AllPorts, nodes - 1, 1)] {
                let counted = [2, 4, 6].map(|packets| rounds("hamiltonian_paths", n, ports, packets));
                assert_eq!(counted, [0, 1, 2].map(|more| delay + more * cycles), "n = {n} {ports}");
                assert_eq!(rounds("hamiltonian_paths", n, ports, 1), nodes - 1);
            }
        }
    }

    /// Table 3, column B_opt (with erratum 1), for M tau / t_c = 3 * 10^6, n = 5; and that of the variations, whose formulas are the
    /// least of (a M/B + b) (tau + B t_c) as well.
    #[test]
    fn best_packets_are_those_of_the_paper() {
        let expected: [(_, &[f64]); 4] = [
            ("hamiltonian_path", &[2.0 / 29.0, 1.0 / 30.0, 1.0 / 30.0]),
            ("tcbt", &[3.0 / 5.0, 1.0 / 3.0, 1.0 / 4.0]),
            ("hamiltonian_path_middle", &[2.0 / 14.0, 2.0 / 14.0, 1.0 / 15.0]),
            ("hamiltonian_paths", &[1.0 / 30.0, 0.5 / 30.0]),
        ];
        for (name, squares) in expected {
            let algorithm = registry::find(Collective::Broadcast, name).expect("in the registry");
            assert_eq!(algorithm.ports.len(), squares.len());
            for (&ports, square) in algorithm.ports.iter().zip(squares) {
                let best = |n: u32| {
                    let call = Call::new(Collective::Broadcast, 1 << n, 10_000);
                    (algorithm.best_packet)(&Shape::new(&call, &Parameters::new(ports)), 30.0, 0.1)
                };
                assert!((best(5) - (3e6 * square).sqrt()).abs() < 1e-9, "{name} {ports}");
                // Where packets gain nothing, the whole vector: one edge; 2n - 5 and n - 2 of the TCBT in the square.
                assert_eq!(best(1), 10_000.0, "{name} {ports}");
                assert!(name != "tcbt" || ports == PortModel::AllPorts || best(2) == 10_000.0, "{ports}");
            }
        }
    }

    /// A cube of two nodes is one edge, on which every packet takes one round; a cube of one node needs none.
    #[test]
    fn degenerate_cubes() {
        for name in ["hamiltonian_path", "hamiltonian_path_middle", "hamiltonian_paths", "tcbt"] {
            for &ports in registry::find(Collective::Broadcast, name).expect("in the registry").ports {
                assert_eq!([0, 1, 5].map(|packets| rounds(name, 0, ports, packets)), [0; 3]);
                assert_eq!([0, 1, 2, 5].map(|packets| rounds(name, 1, ports, packets)), [0, 1, 2, 5], "{name} {ports}");
                assert_eq!(rounds(name, 3, ports, 0), 0);
            }
        }
    }
}
