//! Quarter turn of submatrices round the squares of the cube.
//!
//! Algorithm: node a 2^c + b sends to (b XOR v) 2^c + (a XOR w). In position i of the halves a node has two bits, a_i and b_i, and the
//! four nodes that differ in these only are a square of the cube. If v_i and w_i differ, each node's vector goes to the next one round
//! the square, always the same way; if not, two opposite nodes swap. So the permutation is c steps, a position each.
//! Symmetrised, the vector is cut into c slices, and slice s goes through the positions cyclically from s on. A step is three
//! rounds of a quarter of the slice: of those that go round, three quarters go straight to the next node, one a round, and the
//! last one the other way round, over three links; of those that swap, two quarters go over either path, and the nodes
//! between send on what they got in the round before. Plain, one position after the other, whole vectors go the straight way, and
//! in a swap over two links, all of them first across the low half.
//!
//! Reference: Stout and Wagar 1990, section 10, which says that quarter turns are by algorithms closely related to the transposition
//! of section 7.2, if the submatrices are numbered plainly (to the right v = 0, w = 2^c - 1) or by the reflected Gray code (v = 0,
//! w = 2^(c-1): the code of 2^c - 1 - a is that of a with the highest bit inverted); c, n = 2c and M as in
//! [`lc_inversion`](crate::algorithm::transpose_submatrices::lc_inversion). The steps are ours.
//!
//! Requirements: a power of four ranks; a permutation as above with v and w unlike; symmetrised, all ports.
//!
//! Cost, k the ones of v XOR w: symmetrised 3/4 M t_c + 3 n/2 tau, exact if 2 n | M; if k = c, 3c ceil(ceil(M/c)/4) elements for every M.
//! Plain (n - k) (M t_c + tau), one-way n.
//! 3/4 M is the least: only the two links of a position serve it, so a fraction f of the vectors that go straight loads one way round
//! with f M, and the others the other way with three times (1 - f) M at least.
//!
//! Memory: all that a node receives but its result.
//!
//! Correctness condition: the positions are independent, so their order does not matter; after three rounds the quarter that goes the
//! other way has passed three of four nodes, and is where the straight way leads in one; no link is wanted twice in a round.
//!
//! Example, n = 2, to the right: round the square 0, 1, 3, 2. Node 0 sends its first three quarters to 1, one a round, and its last one
//! to 2, which sends it to 3 in round 1, which sends it to 1 in round 2.

use crate::algorithm::{Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS};
use crate::collective::{part, Call, Collective};
use crate::schedule::Problem;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::QuarterTurn,
    name: "squares",
    summary:
        "square grids of a power of four ranks: 3/4 of the time of any permutation, the least that the links allow",
    source: "SW rotation by a quarter turn",
    section: "10",
    differs: "the paper names it as related to L.C. INVERSION; the steps are this library's",
    symmetrizes: true,
    suits,
    cost: "symmetrised, all-ports: 3/4 M t_c + 3 n/2 tau; plain: n/2 (M t_c + tau) (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn suits(call: &Call, _: &Parameters) -> Result<(), Unsuited> {
    let n = call.size.trailing_zeros();
    if !call.size.is_power_of_two() || !n.is_multiple_of(2) {
        return Err(("size", format!("needs a power of four ranks, not {}", call.size)));
    }
    let turns = call.swapped_halves().is_some_and(|(v, w)| n == 0 || v != w);
    turns.then_some(()).ok_or(("permutation", "needs a quarter turn of a square grid of ranks".into()))
}

fn formula(shape: &Shape) -> Formula {
    let (c, m) = (shape.n as usize / 2, shape.count);
    if c == 0 || m == 0 {
        return Formula::NOTHING;
    }
    let (round, swap) = (shape.turned as usize, c - shape.turned as usize);
    if !shape.parameters.symmetrized {
        let hops = round + 2 * swap;
        let rounds = if shape.parameters.ports == PortModel::OneWay { shape.n as usize } else { hops };
        return Formula {
            rounds,
            elements: (rounds * m) as f64,
            moved: (c * shape.nodes() * m) as f64,
            load: m as f64,
            scratch: ((c - 1) * m) as f64,
            hops,
            path: (hops * m) as f64,
            ..Formula::NOTHING
        };
    }
    // The last quarters of all slices, which are as long as any.
    let last: usize = (0..c).map(|slice| part(0..m, slice, c).len().div_ceil(4)).sum();
    let quarter = m.div_ceil(c).div_ceil(4);
    let (elements, received) = (3 * c * quarter, round * (m + 2 * last) + swap * m);
    let even = m.is_multiple_of(4 * c);
    // One swap after another, some node waits for a quarter where they are not all alike.
    let waits = if even { 0 } else { swap.saturating_sub(1) * quarter };
    Formula {
        rounds: 3 * c,
        elements: elements as f64,
        moved: (received * shape.nodes()) as f64,
        load: (3 * last) as f64,
        scratch: (received - m) as f64,
        hops: 3 * c,
        path: (received.max(elements) + waits) as f64,
        ..Formula::NOTHING
    }
    // In a swap other quarters than the last ones may have a round to themselves, and of few elements some are empty.
    .at_most(&[Figure::Elements, Figure::Path], swap == 0 || even)
    .at_most(&[Figure::Rounds, Figure::Hops], swap == 0 || m >= 4 * c)
}

/// The grid of nodes and how it turns.
#[derive(Clone, Copy)]
struct Turn {
    c: u32,
    v: usize,
    w: usize,
}

impl Turn {
    /// The two bits of a node in a position, of the half a and of b.
    fn bits(self, node: usize, i: u32) -> (bool, bool) {
        (node >> (i + self.c) & 1 == 1, node >> i & 1 == 1)
    }

    /// Whether vectors go round the squares of a position (else opposite nodes swap, or none).
    fn goes_round(self, i: u32) -> bool {
        (self.v ^ self.w) >> i & 1 == 1
    }

    /// Where the vector of a node goes in a position.
    fn target(self, node: usize, i: u32) -> usize {
        let (a, b) = self.bits(node, i);
        let (a, b) = (b ^ (self.v >> i & 1 == 1), a ^ (self.w >> i & 1 == 1));
        node & !(1 << i | 1 << (i + self.c)) | usize::from(b) << i | usize::from(a) << (i + self.c)
    }

    /// From where the vector comes.
    fn source(self, node: usize, i: u32) -> usize {
        let (a, b) = self.bits(node, i);
        let (a, b) = (b ^ (self.w >> i & 1 == 1), a ^ (self.v >> i & 1 == 1));
        node & !(1 << i | 1 << (i + self.c)) | usize::from(b) << i | usize::from(a) << (i + self.c)
    }
}

/// What a node holds of one slice in one step.
type Held<'a> = &'a dyn Fn(usize) -> Range<usize>;

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let (v, w) = problem.call.swapped_halves().unwrap_or((0, 0));
    let turn = Turn { c: problem.n / 2, v, w };
    let c = turn.c as usize;
    let slices = if parameters.symmetrized { c } else { c.min(1) };
    let mut round = 0;
    for step in 0..c {
        let mut after = round;
        for slice in 0..slices {
            let position = |step: usize| ((slice + step) % c) as u32;
            // A node holds what has come through the positions of the steps before.
            let origin = |at: usize| (0..step).fold(at, |at, step| turn.source(at, position(step)));
            let held = |at: usize| part(problem.block(origin(at)), slice, slices);
            after = match (turn.goes_round(position(step)), parameters.symmetrized) {
                (true, true) => go_round(turn, position(step), round, node, &held, route),
                (false, true) => swap(turn, position(step), round, node, &held, route),
                (true, false) => go_straight(turn, position(step), round, node, &held, parameters.ports, route),
                (false, false) => swap_plainly(turn, position(step), round, node, &held, route),
            };
        }
        round = after;
    }
    route.set_rounds(round);
}

/// Round the square both ways: the first round after it.
fn go_round(turn: Turn, i: u32, first: usize, node: usize, held: Held, route: &mut Route) -> usize {
    let (next, last) = (turn.target(node, i), turn.source(node, i));
    let (mut passed, mut coming) = (node, next);
    for round in 0..3 {
        route.send(first + round, next, [part(held(node), round, 4)]);
        route.receive(first + round, last, [part(held(last), round, 4)]);
        // The last quarter, the other way.
        route.send(first + round, last, [part(held(passed), 3, 4)]);
        route.receive(first + round, next, [part(held(coming), 3, 4)]);
        (passed, coming) = (coming, turn.target(coming, i));
    }
    first + 3
}

/// Opposite nodes of a square swap, over both paths of two links: the first round after it.
fn swap(turn: Turn, i: u32, first: usize, node: usize, held: Held, route: &mut Route) -> usize {
    let (low, high) = (node ^ 1 << i, node ^ 1 << (i + turn.c));
    let opposite = low ^ high ^ node;
    // The quarters by the path that crosses the low half first, and by the other one, in the order in which they go.
    let quarters = |at: usize, path: usize| [path + 2, path].map(|quarter| part(held(at), quarter, 4));
    for packet in 0..2 {
        let round = first + packet;
        if turn.target(node, i) == opposite {
            for (path, (neighbour, other)) in [(low, high), (high, low)].into_iter().enumerate() {
                route.send(round, neighbour, [quarters(node, path)[packet].clone()]);
                route.receive(round + 1, other, [quarters(opposite, path)[packet].clone()]);
            }
        } else {
            for (path, (from, to)) in [(low, high), (high, low)].into_iter().enumerate() {
                let quarter = quarters(from, path)[packet].clone();
                route.receive(round, from, [quarter.clone()]);
                route.send(round + 1, to, [quarter]);
            }
        }
    }
    first + 3
}

/// Whole vectors to the next node of the square: the first round after it.
fn go_straight(
    turn: Turn,
    i: u32,
    first: usize,
    node: usize,
    held: Held,
    ports: PortModel,
    route: &mut Route,
) -> usize {
    let (next, last) = (turn.target(node, i), turn.source(node, i));
    // One way at a time, nodes with equal bits send first.
    let one_way = ports == PortModel::OneWay;
    let round = |sender: usize| {
        let (a, b) = turn.bits(sender, i);
        first + usize::from(one_way && a != b)
    };
    route.send(round(node), next, [held(node)]);
    route.receive(round(last), last, [held(last)]);
    first + 1 + usize::from(one_way)
}

/// Opposite nodes swap whole vectors, each over one path: the first round after it.
fn swap_plainly(turn: Turn, i: u32, first: usize, node: usize, held: Held, route: &mut Route) -> usize {
    let (low, high) = (node ^ 1 << i, node ^ 1 << (i + turn.c));
    let opposite = low ^ high ^ node;
    if turn.target(node, i) == opposite {
        route.send(first, low, [held(node)]);
        route.receive(first + 1, high, [held(opposite)]);
    } else {
        route.receive(first, low, [held(low)]);
        route.send(first + 1, high, [held(low)]);
    }
    first + 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::gray;
    use crate::algorithm::verify::{schedules, verify};
    use crate::executor::simulator::{simulate, Machine};
    use crate::schedule::Kind;
    use std::collections::HashMap;

    /// A quarter turn of 2^c x 2^c submatrices, by where (row, column) goes, plainly numbered or by the Gray code.
    fn call(c: u32, count: usize, to_the_right: bool, coded: bool) -> Call {
        let side = 1usize << c;
        let number = |i: usize| if coded { gray(i) } else { i };
        let mut permutation = vec![0; side * side];
        for (row, column) in (0..side).flat_map(|row| (0..side).map(move |column| (row, column))) {
            let (to_row, to_column) = if to_the_right { (column, side - 1 - row) } else { (side - 1 - column, row) };
            permutation[number(row) * side + number(column)] = number(to_row) * side + number(to_column);
        }
        Call { permutation: Some(permutation.into()), ..Call::new(Collective::QuarterTurn, side * side, count) }
    }

    fn parameters(ports: PortModel) -> Parameters {
        Parameters { symmetrized: ports == PortModel::AllPorts, ..Parameters::new(ports) }
    }

    /// Of all turns and numberings, with counts that nothing divides.
    #[test]
    fn turns_are_right_and_cost_what_the_formula_says() {
        for c in 0..=4u32 {
            for (to_the_right, coded) in [(true, false), (false, false), (true, true), (false, true)] {
                for count in if c < 4 { (0..=9).chain([13, 29, 48]) } else { (1..=5).chain([17, 19, 31]) } {
                    let call = call(c, count, to_the_right, coded);
                    for ports in PortModel::ALL {
                        for symmetrized in [false, true].into_iter().filter(|&on| !on || ports == PortModel::AllPorts) {
                            let parameters = Parameters { symmetrized, ..Parameters::new(ports) };
                            ALGORITHM.accepts(&call, &parameters).unwrap();
                            let report = verify(&ALGORITHM, &call, &parameters);
                            let case = format!(
                                "c = {c}, {count} elements, right {to_the_right}, code {coded}, {parameters:?}"
                            );
                            assert_eq!(report.violations, [], "{case}");
                        }
                    }
                }
            }
        }
        // Masks that are neither: some positions go round one way, some the other way, some swap, some stay.
        for (v, w) in (0..4usize).flat_map(|v| (0..4usize).map(move |w| (v, w))).filter(|(v, w)| v != w) {
            let targets: Vec<usize> = (0..16).map(|rank| ((rank & 3) ^ v) << 2 | (rank >> 2) ^ w).collect();
            let call = Call { permutation: Some(targets.into()), ..Call::new(Collective::QuarterTurn, 16, 40) };
            assert_eq!(call.swapped_halves(), Some((v, w)));
            assert_eq!(verify(&ALGORITHM, &call, &parameters(PortModel::AllPorts)).violations, [], "{v} {w}");
            assert_eq!(verify(&ALGORITHM, &call, &parameters(PortModel::OneWay)).violations, [], "{v} {w}");
        }
    }

    /// Numbered plainly: in each of the 3c rounds every link of the cube carries an eighth part of n of a vector, both ways.
    #[test]
    fn every_link_is_busy_in_every_round() {
        for c in 1..=3u32 {
            let mut loads: HashMap<(usize, usize, usize), usize> = HashMap::new();
            let count = 4 * c as usize * 5;
            for schedule in schedules(&ALGORITHM, &call(c, count, true, false), &parameters(PortModel::AllPorts)) {
                for operation in schedule.operations() {
                    if let Kind::Send { peer } = operation.kind {
                        *loads.entry((operation.round, schedule.rank, peer)).or_default() += schedule.len(operation);
                    }
                }
            }
            assert_eq!(loads.len(), 3 * c as usize * 2 * c as usize * (1 << (2 * c)));
            assert!(loads.values().all(|&load| load == 5));
        }
    }

    /// 3/4 M t_c + 3 n/2 tau, however the submatrices are numbered; and less than a permuted send, M t_c + 2 n tau.
    #[test]
    fn the_time_in_the_simulator() {
        for c in 1..=3u32 {
            let count = 8 * 12;
            let machine = Machine::new(10.0, 1.0, PortModel::AllPorts);
            for coded in [false, true] {
                let call = call(c, count, false, coded);
                let time =
                    simulate(&schedules(&ALGORITHM, &call, &parameters(PortModel::AllPorts)), &machine).unwrap().time;
                let expected = 72.0 + 30.0 * f64::from(c);
                assert!((time - expected).abs() < 1e-9, "c = {c}: {time} for {expected}");
            }
        }
    }

    /// The example of the header: what leaves node 0, and its last quarter's way.
    #[test]
    fn round_the_square() {
        let call = call(1, 4, true, false);
        assert_eq!(call.permutation.as_deref(), Some(&[1, 3, 0, 2][..]));
        let problem = Problem::new(&call);
        let mut sent = Vec::new();
        for node in 0..4 {
            let mut route = Route::new();
            write(&problem, &parameters(PortModel::AllPorts), node, &mut route);
            for transfer in route.transfers().iter().filter(|transfer| transfer.sends) {
                let pieces = route.pieces(transfer).iter().filter(|piece| piece.end <= 4);
                sent.extend(pieces.map(|piece| (piece.start, transfer.round, node, transfer.peer)));
            }
        }
        sent.sort_unstable();
        assert_eq!(sent, [(0, 0, 0, 1), (1, 1, 0, 1), (2, 2, 0, 1), (3, 0, 0, 2), (3, 1, 2, 3), (3, 2, 3, 1)]);
    }

    #[test]
    fn what_is_no_quarter_turn_is_refused() {
        let refusal = |call: &Call| ALGORITHM.accepts(call, &parameters(PortModel::AllPorts)).unwrap_err().to_string();
        assert!(refusal(&Call::new(Collective::QuarterTurn, 8, 4)).starts_with("size: squares"));
        assert!(refusal(&Call::new(Collective::QuarterTurn, 16, 4).with_grid(2)).starts_with("permutation: squares"));
        let transposed = Call::new(Collective::TransposeSubmatrices, 16, 4).permutation;
        let call = Call { permutation: transposed, ..Call::new(Collective::QuarterTurn, 16, 4) };
        assert!(refusal(&call).starts_with("permutation: squares"));
    }
}
