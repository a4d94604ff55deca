//! The checker, checked by mutation: right schedules with one thing changed. A mutant that means something else must be
//! refused, for a fitting reason; one that means the same, by an argument given here, must pass.

mod costs;
mod messages;
mod operations;
mod runs;
mod schedules;

use hypercoll::algorithm::{registry::ALGORITHMS, verify::schedules, Algorithm, Parameters, PortModel};
use hypercoll::collective::{Buffer, Call, Collective};
use hypercoll::schedule::{check, BufferRange, Builder, Kind, Schedule, Side, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// An operation as the builder takes it.
#[derive(Clone, PartialEq, Debug)]
struct Op {
    kind: Kind,
    round: usize,
    ranges: Vec<BufferRange>,
}

impl Op {
    fn is_message(&self) -> bool {
        matches!(self.kind, Kind::Send { .. } | Kind::Receive { .. })
    }

    /// Which range is written.
    fn writes(&self, range: usize) -> bool {
        match self.kind {
            Kind::Send { .. } => false,
            Kind::Receive { .. } => true,
            Kind::Copy | Kind::Combine { .. } => range == 1,
            Kind::Multiply { .. } => range == 2,
        }
    }

    /// Whether the order of two operations matters because of what they touch, or because one is a signal that tells
    /// what the other has told.
    fn conflicts(&self, other: &Op) -> bool {
        let is_signal = |op: &Op| op.is_message() && op.ranges.is_empty();
        if is_signal(self) && is_signal(other) {
            return matches!(self.kind, Kind::Send { .. }) != matches!(other.kind, Kind::Send { .. });
        }
        self.ranges.iter().enumerate().any(|(a, x)| {
            other.ranges.iter().enumerate().any(|(b, y)| {
                let overlap = x.buffer == y.buffer && x.offset < y.offset + y.len && y.offset < x.offset + x.len;
                overlap && (self.writes(a) || other.writes(b))
            })
        })
    }

    fn same_channel(&self, other: &Op) -> bool {
        match (self.kind, other.kind) {
            (Kind::Send { peer: a }, Kind::Send { peer: b }) => a == b,
            (Kind::Receive { peer: a }, Kind::Receive { peer: b }) => a == b,
            _ => false,
        }
    }
}

fn program(schedule: &Schedule) -> Vec<Op> {
    let op = |o| (schedule.ranges(o).to_vec(), o);
    let ops = schedule.operations().iter().map(op);
    ops.map(|(ranges, o)| Op { kind: o.kind, round: o.round, ranges }).collect()
}

fn append(builder: &mut Builder, op: &Op) {
    match op.kind {
        Kind::Send { peer } => builder.send(op.round, peer, &op.ranges),
        Kind::Receive { peer } => builder.receive(op.round, peer, &op.ranges),
        Kind::Copy => builder.copy(op.round, op.ranges[0], op.ranges[1]),
        Kind::Combine { side } => builder.combine(op.round, op.ranges[0], op.ranges[1], side),
        Kind::Multiply { inner } => builder.multiply(op.round, inner, op.ranges[0], op.ranges[1], op.ranges[2]),
    }
}

/// The schedule with another program, its messages cut into packets or not as before.
fn with_program(schedule: &Schedule, program: &[Op]) -> Schedule {
    let mut builder = Builder::new();
    program.iter().for_each(|op| append(&mut builder, op));
    let mut other = builder.finish(schedule.rank, schedule.size, schedule.scratch);
    other.cut = schedule.cut;
    other
}

fn name(violation: &Violation) -> &'static str {
    match violation {
        Violation::Ranks { .. } => "Ranks",
        Violation::Bounds { .. } => "Bounds",
        Violation::Hazard { .. } => "Hazard",
        Violation::Unmatched { .. } => "Unmatched",
        Violation::Length { .. } => "Length",
        Violation::NotAnEdge { .. } => "NotAnEdge",
        Violation::Avoided { .. } => "Avoided",
        Violation::Round { .. } => "Round",
        Violation::Ports { .. } => "Ports",
        Violation::Deadlock(..) => "Deadlock",
        Violation::Operands { .. } => "Operands",
        Violation::Postcondition { .. } => "Postcondition",
        Violation::Barrier { .. } => "Barrier",
        Violation::Formula { .. } => "Formula",
        Violation::Needless { .. } => "Needless",
        Violation::Route { .. } => "Route",
        Violation::Rounds { .. } => "Rounds",
    }
}

/// Wrong data: found by following them, or because they wait for each other in a circle.
const WRONG_DATA: &[&str] = &["Postcondition", "Operands", "Deadlock", "Round", "Rounds"];

/// A right set of schedules.
struct Case {
    algorithm: &'static Algorithm,
    call: Call,
    parameters: Parameters,
    schedules: Vec<Schedule>,
}

impl Case {
    fn check(&self, schedules: &[Schedule]) -> Vec<Violation> {
        check(&self.call, schedules, self.algorithm.cube_edges).violations
    }

    fn with(&self, rank: usize, program: &[Op]) -> Vec<Schedule> {
        let mut schedules = self.schedules.clone();
        schedules[rank] = with_program(&schedules[rank], program);
        schedules
    }

    /// Without a message, at both of its ends.
    fn without_message(&self, rank: usize, index: usize) -> Vec<Schedule> {
        let mut schedules = self.schedules.clone();
        for (rank, index) in [(rank, index), self.partner(rank, index)] {
            let mut ops = program(&schedules[rank]);
            ops.remove(index);
            schedules[rank] = with_program(&schedules[rank], &ops);
        }
        schedules
    }

    /// Rank and index of the other end of a message.
    fn partner(&self, rank: usize, index: usize) -> (usize, usize) {
        let mine = program(&self.schedules[rank]);
        let ordinal = mine[..index].iter().filter(|op| op.same_channel(&mine[index])).count();
        let (peer, wanted) = match mine[index].kind {
            Kind::Send { peer } => (peer, Kind::Receive { peer: rank }),
            Kind::Receive { peer } => (peer, Kind::Send { peer: rank }),
            _ => unreachable!("only messages have partners"),
        };
        let theirs = program(&self.schedules[peer]);
        let found = theirs.iter().enumerate().filter(|(_, op)| op.kind == wanted).nth(ordinal).map(|(i, _)| i);
        (peer, found.expect("the case is right"))
    }
}

/// Whether an element that an operation brings to a place of a rank's buffers ends in a product, there or where it is sent on to.
/// Where the grid is no square, block matrix multiplication sends whole panels to the end, of which a part is no longer
/// needed.
fn is_multiplied(case: &Case, rank: usize, index: usize, buffer: Buffer, at: usize) -> bool {
    let ops = program(&case.schedules[rank]);
    let covers = |range: &BufferRange| range.buffer == buffer && range.indices().contains(&at);
    for (later, op) in ops.iter().enumerate().skip(index + 1) {
        let Some(range) = op.ranges.iter().position(covers) else { continue };
        match op.kind {
            Kind::Send { .. } => {
                let (peer, other) = case.partner(rank, later);
                let mut ordinal =
                    op.ranges[..range].iter().map(|r| r.len).sum::<usize>() + at - op.ranges[range].offset;
                for range in &program(&case.schedules[peer])[other].ranges {
                    if ordinal < range.len && is_multiplied(case, peer, other, range.buffer, range.offset + ordinal) {
                        return true;
                    }
                    ordinal = ordinal.wrapping_sub(range.len);
                }
            }
            Kind::Receive { .. } => return false,
            Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => return true,
        }
    }
    false
}

/// Whether nothing that a receive brings to a range ends in a product.
fn is_superfluous(case: &Case, rank: usize, index: usize, range: BufferRange) -> bool {
    case.call.collective == Collective::MatrixMultiply
        && range.indices().all(|at| !is_multiplied(case, rank, index, range.buffer, at))
}

/// Cases of every algorithm: sizes, roots, forms and parameters.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in ALGORITHMS {
        for size in 2..=8 {
            let mut calls = Vec::new();
            for root in if algorithm.collective.has_root() { vec![0, size - 1, size / 2] } else { vec![0] } {
                let mut call = Call::new(algorithm.collective, size, 5).with_root(root);
                if call.collective.has_peer() {
                    call.peer = (root + size.div_ceil(2)) % size;
                }
                if call.collective == Collective::Permute {
                    // Without fixed points; the inversion takes translations only, as the reversal may be.
                    let target = |r| if algorithm.name == "inversion" { size - 1 - r } else { (r + 1) % size };
                    call.permutation = Some((0..size).map(target).collect());
                }
                // Parts that return to their sender are there already; the permutations above have no fixed points.
                let on_grid = [Collective::TransposeSubmatrices, Collective::QuarterTurn].contains(&call.collective);
                if on_grid && algorithm.name == "permuted_send" {
                    continue;
                }
                if call.collective.has_in_place() {
                    calls.push(Call { in_place: true, ..call.clone() });
                }
                if call.collective.reduces() {
                    calls.push(Call { ordered: true, ..call.clone() });
                }
                calls.push(call);
            }
            for call in calls {
                for ports in PortModel::ALL {
                    for (packet, symmetrized) in [(None, false), (None, true), (Some(2), false)] {
                        let parameters = Parameters { packet, symmetrized, ..Parameters::new(ports) };
                        if algorithm.accepts(&call, &parameters).is_ok() {
                            let mut schedules = schedules(algorithm, &call, &parameters);
                            // How far ranks run ahead must not matter; and cut into packets, there can be more than the window admits.
                            schedules
                                .iter_mut()
                                .for_each(|schedule| schedule.run_ahead.ahead = schedule.run_ahead.window);
                            if schedules.iter().any(|schedule| schedule.operations().len() > schedule.run_ahead.window)
                            {
                                assert!(packet.is_some() && algorithm.cuts(ports), "the window must not matter here");
                                continue;
                            }
                            cases.push(Case { algorithm, call: call.clone(), parameters, schedules });
                        }
                    }
                }
            }
        }
    }
    cases
}

/// How many mutants of each kind were refused, with which violations, and how many were equivalent.
#[derive(Default)]
struct Tally {
    refused: usize,
    equivalent: usize,
    reasons: BTreeMap<&'static str, usize>,
    algorithms: BTreeSet<String>,
}

impl Tally {
    /// The mutant means something else: refused, for `allowed` reasons only.
    fn refused(&mut self, case: &Case, what: &str, mutant: &[Schedule], allowed: &[&[&str]]) {
        let violations = case.check(mutant);
        let described = || format!("{:?} {:?} {:?}: {what}", case.algorithm, case.call, case.parameters);
        assert!(!violations.is_empty(), "not refused: {}", described());
        for violation in &violations {
            let allowed = allowed.iter().any(|names| names.contains(&name(violation)));
            assert!(allowed, "{}: refused because of {violation:?}", described());
            *self.reasons.entry(name(violation)).or_default() += 1;
        }
        self.refused += 1;
        self.algorithms.insert(format!("{:?}", case.algorithm));
    }

    /// A mutant of a permutation means the same if a run of it ends right ([`runs::right`]), and is accepted unless an operation
    /// now waits for one of a later round; others mean something else.
    fn judged(&mut self, case: &Case, what: &str, mutant: &[Schedule], allowed: &[&[&str]]) {
        if case.call.collective == Collective::Permute && runs::right(case, mutant) {
            if case.check(mutant).iter().all(|violation| name(violation) == "Round") {
                self.equivalent += 1;
            } else {
                self.equivalent(case, what, mutant);
            }
        } else {
            self.refused(case, what, mutant, allowed);
        }
    }

    /// The mutant means the same: accepted.
    fn equivalent(&mut self, case: &Case, what: &str, mutant: &[Schedule]) {
        let violations = case.check(mutant);
        assert!(violations.is_empty(), "{:?} {:?} {what}: refused: {violations:?}", case.algorithm, case.call);
        self.equivalent += 1;
    }

    fn enough(&self, refused: usize, equivalent: usize) {
        eprintln!("{} refused {:?}, {} equivalent", self.refused, self.reasons, self.equivalent);
        assert!(self.refused >= refused, "only {} mutants", self.refused);
        assert!(self.equivalent >= equivalent, "only {} equivalent mutants", self.equivalent);
        assert!(refused == 0 || self.algorithms.len() > 1 || self.refused < 100, "{:?}", self.algorithms);
    }
}

/// Runs over some operations of all cases: all of them would take too long. Which ones differs from case to case.
fn each_operation(mut mutate: impl FnMut(&Case, usize, usize, Vec<Op>)) {
    for (number, case) in cases().iter().enumerate() {
        let mut step = number;
        for rank in 0..case.call.size {
            let ops = program(&case.schedules[rank]);
            assert!(ops.len() <= case.schedules[rank].run_ahead.window, "the window must not matter here");
            for index in 0..ops.len() {
                step += 1;
                if step.is_multiple_of(if ops.len() <= 4 { 3 } else { 7 }) {
                    mutate(case, rank, index, ops.clone());
                }
            }
            step += 1;
        }
    }
}

/// The premise of everything below: the cases are right, and rebuilding one changes nothing.
#[test]
fn the_cases_are_right() {
    let cases = cases();
    assert!(cases.len() > 500);
    for case in &cases {
        assert_eq!(case.check(&case.schedules), [], "{:?} {:?}", case.algorithm, case.call);
        for schedule in &case.schedules {
            assert_eq!(with_program(schedule, &program(schedule)), *schedule);
        }
    }
}

/// Barriers whose order may change without harm: the last round of dissemination tells some things twice if the number of ranks is no power
/// of two; of two ranks both may signal at once; and where a tree is more than one level deep (from 6 ranks on), what comes down from
/// above tells an inner rank that those below have signalled.
fn loose_barrier(case: &Case) -> bool {
    let size = case.call.size;
    let loose = match case.algorithm.name {
        "central" => size == 2,
        "two_level" => size == 2 || size > 5,
        _ => !size.is_power_of_two(),
    };
    case.call.collective == Collective::Barrier && loose
}

/// Whether a signal answers the one that it came with from the same rank, and need not wait for it: that rank knows that it has signalled.
fn answers(case: &Case, signal: &Op, answer: &Op) -> bool {
    match (signal.kind, answer.kind) {
        (Kind::Receive { peer }, Kind::Send { peer: to }) => {
            ["central", "two_level"].contains(&case.algorithm.name) && peer == to
        }
        _ => false,
    }
}
