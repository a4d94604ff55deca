//! Transposition by submatrices by inversion in logically connected subcubes.
//!
//! Algorithm: node a 2^c + b swaps with b 2^c + a. If a and b differ in the positions D, k of them, both nodes belong to the 2^k
//! nodes whose halves differ in just these positions and that agree with them in all others. Two of these that differ in
//! position i of both halves are joined by two paths of two links, by the nodes at which the halves agree in i: a *logical link*.
//! So joined they are a k-cube, and the swap is its inversion: the vector is cut into k slices, slice s crosses the logical
//! dimensions in ascending order cyclically from the s-th one on, half of it by either path, in p packets each. The nodes in
//! between send on what they got in the round before, while the next packets come.
//!
//! Reference: Stout and Wagar 1990, section 7.2, L.C. INVERSION and MATRIX TRANSPOSITION; c, k, p as there, n = 2c (its d), M
//! elements a submatrix (its m), tau the start-up (its beta). Each of the subcubes takes k p + 1 rounds with packets of M/(2 k p).
//! For all to be done at one time, Q = k p would have to be the same for every k (errata 29), which takes a multiple of lcm(1,
//! ..., c). Here p = ceil(Q/k), and the packets of a subcube whose k does not divide Q are a little shorter and a few more.
//! Packets of B: Q = ceil(M/(2 B)), but at least 2c, so that p >= 2 (for c = 1 at least 1). No packets: the least Q.
//!
//! Requirements: all ports; a power of four ranks; the permutation that transposes the square grid. (It does not matter how the
//! submatrices are mapped to the rows and columns of the grid, if to both in the same way: the nodes that swap are the same.)
//!
//! Cost: (Q + 1) (M t_c/(2Q) + tau), if every k up to c divides Q and 2Q divides M; else at most Q + c rounds. Best Q:
//! sqrt(M t_c/(2 tau)), for about M t_c/2 + 2 sqrt(M t_c tau/2) + tau, the time of O.C. SEND 4 on a 2-cube (errata 29).
//!
//! Memory: a vector in scratch memory, and packets on their way between two others.
//!
//! Correctness condition: a link changes one half of an address, so at one of its ends the halves differ in one position more;
//! the link belongs to that end's subcube, and there to one logical link. Its first use is to begin one path, its use in the
//! other direction to end one: no two packets meet. With p >= 2 the first packet of a logical step has arrived, after its two
//! rounds, when it has to leave again.
//!
//! Example, n = 2 (c = 1), Q = 1: nodes 1 and 2 swap, half by 0 and half by 3, in two rounds.

use crate::address::{mask, Ports};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS};
use crate::collective::{part, Call, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::TransposeSubmatrices,
    name: "lc_inversion",
    summary: "square grids of a power of four ranks: half the time of any permutation",
    source: "SW L.C. INVERSION",
    section: "7.2",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    suits,
    cost: "(Q + 1) (M t_c/(2 Q) + tau), Q = ceil(M/(2 B)) >= n",
    formula,
    best_packet: |shape, tau, t_c| (shape.count as f64 * tau / (2.0 * t_c)).sqrt(),
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Q: how many packets a node sends over each of its links, if that is a multiple of the logical dimensions.
fn sends(n: u32, count: usize, parameters: &Parameters) -> usize {
    let least = if n <= 2 { 1 } else { n as usize };
    parameters.packet.map_or(least, |packet| count.div_ceil(packet.saturating_mul(2).max(1)).max(least))
}

fn suits(call: &Call, _: &Parameters) -> Result<(), Unsuited> {
    let n = call.size.trailing_zeros();
    if !call.size.is_power_of_two() || !n.is_multiple_of(2) {
        return Err(("size", format!("needs a power of four ranks, not {}", call.size)));
    }
    let side = 1 << (n / 2);
    let transposes = |permutation: &[usize]| {
        permutation.iter().enumerate().all(|(rank, &target)| target == rank % side * side + rank / side)
    };
    let suited = call.permutation.as_deref().is_some_and(transposes);
    suited.then_some(()).ok_or(("permutation", format!("needs the transposition of a grid of {side} x {side} ranks")))
}

fn formula(shape: &Shape) -> Formula {
    let c = shape.n as usize / 2;
    if c == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let m = shape.count as f64;
    let q = sends(shape.n, shape.count, &shape.parameters);
    let rounds = (1..=c).map(|k| k * q.div_ceil(k)).max().unwrap_or(0) + 1;
    let packet = shape.count.div_ceil(2 * q);
    // Half of each of k slices goes over a link.
    let load = (1..=c).map(|k| k * shape.count.div_ceil(2 * k)).max().unwrap_or(0);
    let even = (1..=c).all(|k| q.is_multiple_of(k)) && shape.count.is_multiple_of(2 * q);
    let waits = if even || c <= 2 { 2 } else { 2 * c };
    Formula {
        rounds,
        elements: (rounds * packet) as f64,
        moved: (c * shape.nodes()) as f64 * m,
        load: load as f64,
        // Where the halves of an address agree, all that comes over the 2c ports is for others.
        scratch: (2 * c * load) as f64,
        hops: rounds,
        // What passes through the busiest node, and waits for what comes with the first packet of it and with the last.
        path: (c * shape.count + waits * packet) as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Rounds, Figure::Elements, Figure::Load, Figure::Scratch, Figure::Hops, Figure::Path], even)
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let c = problem.n / 2;
    let q = sends(problem.n, problem.call.count, parameters);
    route.set_rounds(q + problem.n as usize);
    let differing = |v: usize| (v >> c ^ v) & mask(c);
    for i in 0..c {
        // Across position i of either half.
        let (low, high) = (node ^ 1 << i, node ^ 1 << (i + c));
        let both = low ^ high ^ node;
        if differing(node) >> i & 1 == 1 {
            packets(problem, node, i, q, |round, path, packet| route.send(round, [high, low][path], [packet]));
            // What crosses the high half first comes by the node across the low one, and the other way about.
            packets(problem, both, i, q, |round, path, packet| route.receive(round + 1, [low, high][path], [packet]));
        } else {
            for (from, to, first) in [(low, high, 1), (high, low, 0)] {
                packets(problem, from, i, q, |round, path, packet| {
                    if path == first {
                        route.receive(round, from, [packet.clone()]);
                        route.send(round + 1, to, [packet]);
                    }
                });
            }
        }
    }
}

/// All packets that node `from` of a logically connected subcube sends across its logical dimension `i`: the round, the path
/// (0: the high half first), and the packet.
fn packets(
    problem: &Problem,
    from: usize,
    i: u32,
    q: usize,
    mut act: impl FnMut(usize, usize, std::ops::Range<usize>),
) {
    let c = problem.n / 2;
    let dimensions = Ports::from_mask((from >> c ^ from) & mask(c));
    let k = dimensions.len() as usize;
    let p = q.div_ceil(k);
    let Some(position) = dimensions.iter().position(|dimension| dimension == i) else { return };
    for slice in 0..k {
        let step = (position + k - slice) % k;
        // The node holds what has come across the dimensions of the steps before.
        let done = dimensions.iter().cycle().skip(slice).take(step).fold(0, |done, d| done | 1 << d);
        let block = problem.block(from ^ done ^ done << c);
        for path in 0..2 {
            for packet in 0..p {
                let index = (2 * slice + path) * p + packet;
                act(step * p + packet, path, part(block.clone(), index, 2 * k * p));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::{schedules, verify};
    use crate::executor::simulator::{simulate, Machine};
    use crate::schedule::Kind;
    use std::collections::HashMap;

    fn call(c: u32, count: usize) -> Call {
        let side = 1usize << c;
        let transposed = (0..side * side).map(|rank| rank % side * side + rank / side);
        Call {
            permutation: Some(transposed.collect()),
            ..Call::new(Collective::TransposeSubmatrices, side * side, count)
        }
    }

    fn all_ports(packet: Option<usize>) -> Parameters {
        Parameters { packet, symmetrized: false, ..Parameters::new(PortModel::AllPorts) }
    }

    /// By the paper's definition: nodes in classes by the positions where the halves differ, and by the bits where they agree.
    /// No link joins two logical links, and every link of the cube belongs to one.
    #[test]
    fn no_two_logical_links_share_a_link() {
        for c in 1..=4u32 {
            let side = 1usize << c;
            let mut owner = HashMap::new();
            let mut classes: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
            for (a, b) in (0..side).flat_map(|a| (0..side).map(move |b| (a, b))) {
                classes.entry((a ^ b, a & !(a ^ b))).or_default().push(a * side + b);
            }
            for (&(differ, _), nodes) in &classes {
                assert_eq!(nodes.len(), 1 << differ.count_ones());
                for (&x, &y) in nodes.iter().flat_map(|x| nodes.iter().map(move |y| (x, y))) {
                    if x >= y || (x ^ y).count_ones() != 2 {
                        continue;
                    }
                    let bit = 1 << (x ^ y).trailing_zeros();
                    for between in [x ^ bit, y ^ bit] {
                        for (end, link) in [x, y].map(|end| (end, (end.min(between), end.max(between)))) {
                            assert_eq!((end ^ between).count_ones(), 1);
                            assert_eq!(owner.insert(link, (x, y)), None, "c = {c}: link {link:?}");
                        }
                    }
                }
            }
            assert_eq!(owner.len(), c as usize * side * side, "every link of the cube");
        }
    }

    /// What the schedule sends from a node goes over its own class's links only, half a vector over each.
    #[test]
    fn every_link_carries_half_a_vector() {
        for c in 1..=3u32 {
            let call = call(c, 48);
            let mut loads: HashMap<(usize, usize), usize> = HashMap::new();
            for schedule in schedules(&ALGORITHM, &call, &all_ports(None)) {
                for operation in schedule.operations() {
                    if let Kind::Send { peer } = operation.kind {
                        *loads.entry((schedule.rank, peer)).or_default() += schedule.len(operation);
                    }
                }
            }
            assert_eq!(loads.len(), 2 * c as usize * (1 << (2 * c)));
            assert!(loads.values().all(|&load| load == 24));
        }
    }

    /// Errata 29: (Q + 1)(tau m/(2Q) + beta), and so for the best Q the paper's M t_c/2 + 2 sqrt(M t_c tau/2) + tau.
    #[test]
    fn the_time_is_the_paper_s() {
        for (c, q) in [(1u32, 1usize), (1, 5), (2, 4), (2, 6), (3, 6), (3, 12), (4, 12), (4, 24)] {
            let count = 48 * q;
            let call = call(c, count);
            let parameters = all_ports(Some(24));
            let formula = (ALGORITHM.formula)(&Shape::new(&call, &parameters));
            assert!(!formula.at_most.contains(Figure::Rounds) && !formula.at_most.contains(Figure::Elements));
            if c <= 3 {
                assert_eq!(verify(&ALGORITHM, &call, &parameters).violations, [], "c = {c} Q = {q}");
            }
            let (m, t_c, tau) = (count as f64, 1.0, 24.0 / q as f64);
            let machine = Machine::new(tau, t_c, PortModel::AllPorts);
            let time = simulate(&schedules(&ALGORITHM, &call, &parameters), &machine).unwrap().time;
            let best = m * t_c / 2.0 + 2.0 * (m * t_c * tau / 2.0).sqrt() + tau;
            assert!((time - best).abs() < 1e-6 * best, "c = {c} Q = {q}: {time} for {best}");
            assert!(((ALGORITHM.best_packet)(&Shape::new(&call, &parameters), tau, t_c) - 24.0).abs() < 1e-9);
        }
    }

    /// Packets that do not fit every subcube cost no more than c rounds.
    #[test]
    fn other_packets_are_almost_as_good() {
        for c in 1..=4u32 {
            for (count, packet) in [(97, Some(3)), (97, Some(7)), (1, Some(1)), (5, None), (240, Some(8)), (240, None)]
            {
                let call = call(c, count);
                let parameters = all_ports(packet);
                let report = verify(&ALGORITHM, &call, &parameters);
                assert_eq!(report.violations, [], "c = {c} {count} {packet:?}");
                assert!(report.cost.rounds <= sends(2 * c, count, &parameters) + c as usize);
                let longest = report.cost.longest.iter().max().unwrap_or(&0);
                assert!(packet.is_none_or(|packet| *longest <= packet), "c = {c} {count} {packet:?}: {longest}");
            }
        }
    }

    #[test]
    fn what_is_no_transposition_is_refused() {
        let refusal = |call: &Call| ALGORITHM.accepts(call, &all_ports(None)).unwrap_err().to_string();
        assert!(refusal(&Call::new(Collective::TransposeSubmatrices, 8, 4)).starts_with("size: lc_inversion"));
        assert!(refusal(&Call::new(Collective::TransposeSubmatrices, 9, 4)).starts_with("size: lc_inversion"));
        let flat = Call::new(Collective::TransposeSubmatrices, 16, 4).with_grid(2);
        assert!(refusal(&flat).starts_with("permutation: lc_inversion"));
    }
}
