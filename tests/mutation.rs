//! The checker, checked by mutation: right schedules with one thing changed. A mutant that means something else must be
//! refused, for a fitting reason; one that means the same, by an argument given here, must pass.

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

/// Whether elements that a receive brings to `range` have been there before: the parts of a permuted send that pass
/// through their target on the way to the rank by way of which they go. The receive buffer holds nothing but what belongs
/// there, so the second time the same comes again.
fn was_there_before(case: &Case, rank: usize, index: usize, range: BufferRange) -> bool {
    let ops = program(&case.schedules[rank]);
    let earlier = || ops[..index].iter().filter(|op| matches!(op.kind, Kind::Receive { .. })).flat_map(|op| &op.ranges);
    let covered = |at: usize| earlier().any(|r| r.buffer == Buffer::Receive && r.indices().contains(&at));
    case.call.collective == Collective::Permute && range.buffer == Buffer::Receive && range.indices().all(covered)
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
                if call.collective == Collective::TransposeSubmatrices && algorithm.name == "permuted_send" {
                    continue;
                }
                if matches!(call.collective, Collective::AllGather | Collective::AllReduce | Collective::Reduce) {
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
                            let schedules = schedules(algorithm, &call, &parameters);
                            // Cut into packets, there can be more than the window admits.
                            if schedules.iter().any(|schedule| schedule.operations().len() > schedule.window) {
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

/// Runs over some operations of all ranks of all cases: all of them would take too long.
fn each_operation(mut mutate: impl FnMut(&Case, usize, usize, Vec<Op>)) {
    let mut step = 0usize;
    for case in cases() {
        for rank in 0..case.call.size {
            let ops = program(&case.schedules[rank]);
            assert!(ops.len() <= case.schedules[rank].window, "the window must not matter here");
            for index in 0..ops.len() {
                step += 1;
                if ops.len() <= 4 || step.is_multiple_of(3) {
                    mutate(&case, rank, index, ops.clone());
                }
            }
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

#[test]
fn a_dropped_operation() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        let dropped = ops.remove(index);
        // Every copy and every combination contributes to a result.
        let reason: &[&str] = if dropped.is_message() { &["Unmatched"] } else { &["Postcondition"] };
        tally.refused(case, &format!("rank {rank} without {dropped:?}"), &case.with(rank, &ops), &[reason]);
    });
    tally.enough(5000, 0);
    assert!(tally.reasons["Postcondition"] > 200);
}

/// Both ends are dropped, so that only the data tell.
#[test]
fn a_dropped_message() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        if !matches!(ops[index].kind, Kind::Send { .. }) || ops[index].ranges.is_empty() {
            return;
        }
        let (peer, other) = case.partner(rank, index);
        let mut mutant = case.schedules.clone();
        ops.remove(index);
        mutant[rank] = with_program(&mutant[rank], &ops);
        let mut theirs = program(&mutant[peer]);
        theirs.remove(other);
        mutant[peer] = with_program(&mutant[peer], &theirs);
        let what = format!("no message {index} of rank {rank}");
        let received = program(&case.schedules[peer])[other].ranges.clone();
        let is_needless =
            |range| was_there_before(case, peer, other, range) || is_superfluous(case, peer, other, range);
        if received.into_iter().all(is_needless) {
            tally.equivalent(case, &what, &mutant);
        } else {
            tally.refused(case, &what, &mutant, &[&["Postcondition", "Operands"]]);
        }
    });
    tally.enough(1500, 0);
}

/// A barrier carries no data; what it must carry is that all have entered. (Every signal is needed: with one fewer some
/// rank does not hear of some other.)
#[test]
fn a_barrier_without_a_signal() {
    let mut tally = Tally::default();
    for case in cases().iter().filter(|case| case.call.collective == Collective::Barrier) {
        for rank in 0..case.call.size {
            for index in 0..case.schedules[rank].operations().len() {
                let mut ops = program(&case.schedules[rank]);
                if matches!(ops[index].kind, Kind::Send { .. }) {
                    let (peer, other) = case.partner(rank, index);
                    let mut mutant = case.schedules.clone();
                    ops.remove(index);
                    mutant[rank] = with_program(&mutant[rank], &ops);
                    let mut theirs = program(&mutant[peer]);
                    theirs.remove(other);
                    mutant[peer] = with_program(&mutant[peer], &theirs);
                    // For sizes that are no power of two, the last round tells some things twice.
                    if case.call.size.is_power_of_two() {
                        tally.refused(case, &format!("no signal {index} of rank {rank}"), &mutant, &[&["Barrier"]]);
                    }
                }
            }
        }
    }
    tally.enough(30, 0);
}

#[test]
fn an_operation_twice() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        let op = ops[index].clone();
        ops.insert(index, op.clone());
        let what = format!("rank {rank}, {op:?} twice");
        let mut mutant = case.with(rank, &ops);
        match op.kind {
            // The source is as it was: the second copy changes nothing.
            Kind::Copy => tally.equivalent(case, &what, &mutant),
            Kind::Combine { .. } | Kind::Multiply { .. } => {
                tally.refused(case, &what, &mutant, &[&["Postcondition"]]);
            }
            Kind::Send { .. } | Kind::Receive { .. } => {
                tally.refused(case, &what, &mutant, &[&["Unmatched"]]);
                // Both ends twice, at once: the same data arrive twice in the same place, before anything uses them.
                let (peer, other) = case.partner(rank, index);
                let mut theirs = program(&mutant[peer]);
                theirs.insert(other, theirs[other].clone());
                mutant[peer] = with_program(&mutant[peer], &theirs);
                tally.equivalent(case, &what, &mutant);
            }
        }
    });
    tally.enough(5000, 5000);
    assert!(tally.reasons["Postcondition"] > 500, "double counting shows");
}

/// Two receives into the same place, each followed by the same combinations: where the operation commutes, exchanging
/// them exchanges two contributions.
fn contributions_exchanged(case: &Case, ops: &[Op], i: usize, j: usize) -> bool {
    let (a, b) = (&ops[i], &ops[j]);
    let are_receives = [a, b].iter().all(|op| matches!(op.kind, Kind::Receive { .. }));
    if case.call.ordered || !are_receives || a.ranges != b.ranges {
        return false;
    }
    // What is done with the place until it is written again.
    let uses = |from: usize| -> Vec<(Kind, Vec<BufferRange>)> {
        let later = ops[from + 1..].iter().filter(|op| op.conflicts(&ops[from]));
        later.take_while(|op| !matches!(op.kind, Kind::Receive { .. })).map(|op| (op.kind, op.ranges.clone())).collect()
    };
    let combinations = uses(i);
    let targets = |place: &Op| {
        combinations.iter().any(|(kind, ranges)| {
            place.conflicts(&Op {
                kind: *kind,
                round: 0,
                ranges: ranges[1..].iter().chain(&ranges[1..]).copied().collect(),
            })
        })
    };
    combinations == uses(j)
        && combinations
            .iter()
            .all(|(kind, ranges)| matches!(kind, Kind::Combine { .. }) && ranges[0].buffer != ranges[1].buffer)
        && ops[i + 1..j].iter().all(|op| match op.kind {
            _ if op.same_channel(a) || op.same_channel(b) => false,
            Kind::Combine { .. } if combinations.contains(&(op.kind, op.ranges.clone())) => true,
            Kind::Receive { .. } => (op.ranges == a.ranges || !op.conflicts(a)) && !targets(op),
            _ => !op.conflicts(a) && !targets(op),
        })
}

/// Whether exchanging two operations, and so turning round their order and that with all between, means the same.
fn exchange_is_equivalent(case: &Case, ops: &[Op], i: usize, j: usize) -> bool {
    // The same twice (two combinations from one place, whatever has come there in between), or two contributions.
    if (ops[i].kind, &ops[i].ranges) == (ops[j].kind, &ops[j].ranges) || contributions_exchanged(case, ops, i, j) {
        return true;
    }
    let turned = (i + 1..=j).map(|k| (i, k)).chain((i + 1..j).map(|k| (k, j)));
    turned.into_iter().all(|(a, b)| {
        let (a, b) = (&ops[a], &ops[b]);
        if a.same_channel(b) {
            // Messages match in order. Two that are alike may change places.
            return a.ranges == b.ranges;
        }
        if !a.conflicts(b) {
            return true; // nothing orders them but their channels and what they touch
        }
        match (a.kind, b.kind) {
            // Two combinations into one place, of sources that are not that place: (x a) b = (x b) a if the operation
            // commutes, and a (x b) = (a x) b in any case.
            (Kind::Combine { side: first }, Kind::Combine { side: second }) => {
                let apart = |x: BufferRange, y: BufferRange| {
                    x.buffer != y.buffer || x.indices().end <= y.offset || y.indices().end <= x.offset
                };
                let sources = [a.ranges[0], b.ranges[0]];
                let only_targets = sources.iter().all(|&from| apart(from, a.ranges[1]) && apart(from, b.ranges[1]));
                only_targets && (!case.call.ordered || first != second)
            }
            // What is added to a product may be added in any order.
            (Kind::Multiply { .. }, Kind::Multiply { .. }) => a.ranges[2] == b.ranges[2],
            _ => false,
        }
    })
}

/// Barriers whose order may change without harm: the last round of dissemination tells some things twice if the number of
/// ranks is no power of two, and of two ranks both may signal at once.
fn loose_barrier(case: &Case) -> bool {
    let size = case.call.size;
    let loose = if case.algorithm.name == "direct" { size == 2 } else { !size.is_power_of_two() };
    case.call.collective == Collective::Barrier && loose
}

#[test]
fn two_operations_exchanged() {
    let mut tally = Tally::default();
    let mut step = 0usize;
    each_operation(|case, rank, i, ops| {
        if loose_barrier(case) {
            return;
        }
        for j in i + 1..ops.len() {
            step += 1;
            if j > i + 1 && !step.is_multiple_of(3) {
                continue;
            }
            let mut mutant = ops.clone();
            mutant.swap(i, j);
            if ops[i].same_channel(&ops[j]) {
                // The messages keep their rounds, else the two ends would differ.
                (mutant[i].round, mutant[j].round) = (ops[i].round, ops[j].round);
            }
            let what = format!("rank {rank}, {i} {:?} and {j} {:?} exchanged", ops[i], ops[j]);
            let schedules = case.with(rank, &mutant);
            let turned =
                ops[i + 1..=j].iter().map(|op| (&ops[i], op)).chain(ops[i + 1..j].iter().map(|op| (op, &ops[j])));
            let only_rounds = |(a, b): (&Op, &Op)| a.same_channel(b) && a.ranges == b.ranges && a.round != b.round;
            if { turned }.any(only_rounds) {
                continue; // messages that are alike change places: only the rounds differ, see the test of rounds
            }
            if exchange_is_equivalent(case, &ops, i, j) {
                tally.equivalent(case, &what, &schedules);
            } else {
                tally.refused(case, &what, &schedules, &[WRONG_DATA, &["Length", "Barrier"]]);
            }
        }
    });
    tally.enough(3000, 3000);
    for reason in ["Postcondition", "Length", "Round"] {
        assert!(tally.reasons.get(reason).is_some_and(|&n| n > 20), "{reason}: {:?}", tally.reasons);
    }
}

fn buffer_len(case: &Case, rank: usize, buffer: Buffer) -> usize {
    match buffer {
        Buffer::Send => case.call.send_len(rank),
        Buffer::Receive => case.call.receive_len(rank),
        Buffer::Scratch => case.schedules[rank].scratch,
    }
}

#[test]
fn a_shifted_range() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        for at in 0..ops[index].ranges.len() {
            for up in [true, false] {
                let mut mutant = ops.clone();
                let range = &mut mutant[index].ranges[at];
                if !up && range.offset == 0 {
                    continue;
                }
                range.offset = if up { range.offset + 1 } else { range.offset - 1 };
                let beyond = range.offset + range.len > buffer_len(case, rank, range.buffer);
                let what = format!("rank {rank}, {index} {:?} shifted to {range:?}", ops[index]);
                let schedules = case.with(rank, &mutant);
                // What came for the second time goes astray, to where the right data arrive later on.
                let astray = mutant[index].ranges[at];
                let astray = astray.indices().filter(|i| !ops[index].ranges[at].indices().contains(i));
                let is_mended = |i: usize| {
                    let later = || ops[index + 1..].iter().flat_map(|op| op.ranges.iter().map(move |r| (op, r)));
                    let mut touching = later().filter(|(_, r)| r.buffer == Buffer::Receive && r.indices().contains(&i));
                    touching.next().is_some_and(|(op, _)| matches!(op.kind, Kind::Receive { .. }))
                };
                let receives = matches!(ops[index].kind, Kind::Receive { .. });
                if ops[index].is_message() && case.call.collective == Collective::MatrixMultiply {
                    let (to, arrival) = if receives { (rank, index) } else { case.partner(rank, index) };
                    let mut arrived = program(&case.schedules[to])[arrival].ranges.clone().into_iter();
                    if arrived.any(|range| is_superfluous(case, to, arrival, range)) {
                        continue; // it may or may not matter what comes instead
                    }
                }
                if receives && was_there_before(case, rank, index, ops[index].ranges[at]) && !beyond && { astray }
                    .all(is_mended)
                {
                    tally.equivalent(case, &what, &schedules);
                    continue;
                }
                tally.refused(case, &what, &schedules, if beyond { &[&["Bounds", "Round"]] } else { &[WRONG_DATA] });
                if beyond {
                    assert!(case.check(&schedules).iter().any(|v| matches!(v, Violation::Bounds { .. })), "{what}");
                }
            }
        }
    });
    tally.enough(8000, 0);
    for reason in ["Postcondition", "Operands", "Bounds"] {
        assert!(tally.reasons.get(reason).is_some_and(|&n| n > 100), "{reason}: {:?}", tally.reasons);
    }
}

#[test]
fn a_shortened_range() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        let op = &ops[index];
        for at in 0..op.ranges.len() {
            let mut mutant = ops.clone();
            mutant[index].ranges[at].len -= 1;
            let what = format!("rank {rank}, {index} {op:?}, range {at} shortened");
            let reason: &[&str] = if op.is_message() { &["Length"] } else { &["Operands"] };
            tally.refused(case, &what, &case.with(rank, &mutant), &[reason]);
        }
        if op.ranges.is_empty() {
            return;
        }
        // Both ends, or both operands, shortened alike: only the data tell.
        let mut mutant = ops.clone();
        if op.is_message() {
            let (peer, other) = case.partner(rank, index);
            mutant[index].ranges.last_mut().expect("a range").len -= 1;
            let mut schedules = case.with(rank, &mutant);
            let mut theirs = program(&schedules[peer]);
            theirs[other].ranges.last_mut().expect("a range").len -= 1;
            schedules[peer] = with_program(&schedules[peer], &theirs);
            let (to, at) = if matches!(op.kind, Kind::Send { .. }) { (peer, other) } else { (rank, index) };
            let mut last = *program(&case.schedules[to])[at].ranges.last().expect("a range");
            (last.offset, last.len) = (last.offset + last.len - 1, 1);
            let what = format!("rank {rank}, {index}: both ends shortened");
            if was_there_before(case, to, at, last) || is_superfluous(case, to, at, last) {
                tally.equivalent(case, &what, &schedules);
            } else {
                tally.refused(case, &what, &schedules, &[WRONG_DATA]);
            }
        } else {
            mutant[index].ranges.iter_mut().for_each(|range| range.len -= 1);
            let what = format!("rank {rank}, {index} {op:?}: both operands shortened");
            tally.refused(case, &what, &case.with(rank, &mutant), &[WRONG_DATA]);
        }
    });
    tally.enough(8000, 0);
}

#[test]
fn another_peer() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        let (Kind::Send { peer } | Kind::Receive { peer }) = ops[index].kind else { return };
        for other in [(peer + 1) % case.call.size, case.call.size] {
            let mut mutant = ops.clone();
            match &mut mutant[index].kind {
                Kind::Send { peer } | Kind::Receive { peer } => *peer = other,
                _ => return,
            }
            let what = format!("rank {rank}, {index} {:?}: peer {other}", ops[index]);
            let schedules = case.with(rank, &mutant);
            tally.refused(case, &what, &schedules, &[&["Unmatched", "NotAnEdge", "Length"]]);
            assert!(case.check(&schedules).iter().any(|v| matches!(v, Violation::Unmatched { .. })), "{what}");
        }
    });
    tally.enough(5000, 0);
}

/// The cube's edges between ranks, by the design's words: node r + 2^(n-1) without a rank of its own is played by rank r.
fn are_neighbours(size: usize, a: usize, b: usize) -> bool {
    let half = size.next_power_of_two() / 2;
    let nodes = |rank: usize| {
        let twin = rank + half;
        [Some(rank), (rank < half && twin >= size).then_some(twin)].into_iter().flatten()
    };
    nodes(a).any(|x| nodes(b).any(|y| (x ^ y).count_ones() == 1))
}

/// An empty message more, with both its ends: it does no harm, if it may go where it goes.
#[test]
fn a_message_to_a_rank_that_is_no_neighbour() {
    let mut tally = Tally::default();
    for case in cases().iter().filter(|case| !case.call.ordered) {
        for from in 0..case.call.size {
            for to in (0..case.call.size).filter(|&to| to != from) {
                let mut mutant = case.schedules.clone();
                let mut mine = program(&mutant[from]);
                mine.push(Op { kind: Kind::Send { peer: to }, round: 1000, ranges: Vec::new() });
                let mut theirs = program(&mutant[to]);
                theirs.push(Op { kind: Kind::Receive { peer: from }, round: 1000, ranges: Vec::new() });
                mutant[from] = with_program(&mutant[from], &mine);
                mutant[to] = with_program(&mutant[to], &theirs);
                let what = format!("{from} to {to}");
                if !case.algorithm.cube_edges || are_neighbours(case.call.size, from, to) {
                    tally.equivalent(case, &what, &mutant);
                } else {
                    tally.refused(case, &what, &mutant, &[&["NotAnEdge"]]);
                }
            }
        }
    }
    tally.enough(1000, 1000);
}

/// One rank is mistaken in the root.
#[test]
fn another_root_on_one_rank() {
    let mut tally = Tally::default();
    for case in cases().iter().filter(|case| case.call.collective.has_root()) {
        for root in (0..case.call.size).filter(|&root| root != case.call.root) {
            let call = case.call.clone().with_root(root);
            if case.algorithm.accepts(&call, &case.parameters).is_err() {
                continue;
            }
            for rank in 0..case.call.size {
                let mut mutant = case.schedules.clone();
                mutant[rank] = case.algorithm.schedule(&call, &case.parameters, rank);
                let what = format!("rank {rank} with root {root}");
                let without_rounds = |schedule: &Schedule| -> Vec<(Kind, Vec<BufferRange>)> {
                    program(schedule).into_iter().map(|op| (op.kind, op.ranges)).collect()
                };
                if mutant[rank] == case.schedules[rank] {
                    tally.equivalent(case, &what, &mutant); // the same parent and the same children
                } else if without_rounds(&mutant[rank]) != without_rounds(&case.schedules[rank]) {
                    let reasons = &["Unmatched", "Length", "Bounds"];
                    tally.refused(case, &what, &mutant, &[reasons, WRONG_DATA]);
                }
            }
        }
    }
    tally.enough(3000, 1);
}

#[test]
fn the_other_side_of_a_combination() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        let Kind::Combine { side } = &mut ops[index].kind else { return };
        *side = if *side == Side::Left { Side::Right } else { Side::Left };
        let mutant = case.with(rank, &ops);
        let what = format!("rank {rank}, {index}: other side");
        if case.call.ordered {
            tally.refused(case, &what, &mutant, &[&["Postcondition"]]);
        } else {
            tally.equivalent(case, &what, &mutant); // the operation commutes
        }
    });
    tally.enough(300, 300);
}

/// Slabs of factors that do not belong together: exchanged between two products, or on the wrong side.
#[test]
fn other_factors_of_a_product() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        if !matches!(ops[index].kind, Kind::Multiply { .. }) {
            return;
        }
        for other in index + 1..ops.len() {
            for factor in [0, 1] {
                let mut mutant = ops.clone();
                if !matches!(ops[other].kind, Kind::Multiply { .. }) || ops[other].kind != ops[index].kind {
                    continue;
                }
                mutant[index].ranges[factor] = ops[other].ranges[factor];
                mutant[other].ranges[factor] = ops[index].ranges[factor];
                let what = format!("rank {rank}, factors {factor} of {index} and {other} exchanged");
                tally.refused(case, &what, &case.with(rank, &mutant), &[WRONG_DATA]);
            }
        }
        let mut mutant = ops.clone();
        mutant[index].ranges.swap(0, 1);
        let what = format!("rank {rank}, {index} {:?}: factors the other way round", ops[index]);
        tally.refused(case, &what, &case.with(rank, &mutant), &[&["Operands"]]);
        for inner in [0, 7] {
            let mut mutant = ops.clone();
            mutant[index].kind = Kind::Multiply { inner };
            let what = format!("rank {rank}, {index} {:?} with inner side {inner}", ops[index]);
            tally.refused(case, &what, &case.with(rank, &mutant), &[&["Operands"]]);
        }
    });
    tally.enough(200, 0);
    assert!(tally.reasons["Operands"] > 150);
}

#[test]
fn a_write_to_the_send_buffer() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        for at in 0..ops[index].ranges.len() {
            let mut mutant = ops.clone();
            if ops[index].writes(at) {
                mutant[index].ranges[at].buffer = Buffer::Send;
                mutant[index].ranges[at].offset = 0;
                let what = format!("rank {rank}, {index} {:?} into the send buffer", ops[index]);
                // A product is looked for in the receive buffer only.
                tally.refused(case, &what, &case.with(rank, &mutant), &[&["Bounds", "Operands"]]);
                assert!(case.check(&case.with(rank, &mutant)).iter().any(|v| matches!(v, Violation::Bounds { .. })));
            }
        }
    });
    tally.enough(3000, 0);
}

#[test]
fn too_little_scratch_memory() {
    let mut tally = Tally::default();
    for case in cases() {
        for rank in (0..case.call.size).filter(|&rank| case.schedules[rank].scratch > 0) {
            let mut mutant = case.schedules.clone();
            mutant[rank].scratch -= 1;
            tally.refused(&case, &format!("rank {rank}"), &mutant, &[&["Bounds"]]);
        }
    }
    tally.enough(1000, 0);
}

/// With one operation at a time, ranks that exchange wait for each other; along a tree they need not.
#[test]
fn too_small_a_window() {
    let mut tally = Tally::default();
    for case in cases() {
        let mut mutant = case.schedules.clone();
        mutant.iter_mut().for_each(|schedule| schedule.window = 0);
        if mutant.iter().any(|schedule| !schedule.operations().is_empty()) {
            tally.refused(&case, "window 0", &mutant, &[&["Deadlock"]]);
        }
        mutant.iter_mut().for_each(|schedule| schedule.window = 1);
        // Two ranks whose first operations are sends to each other.
        let first = |rank: usize| mutant[rank].operations().first().map(|op| op.kind);
        let both_send = (0..case.call.size).any(|rank| match first(rank) {
            Some(Kind::Send { peer }) => first(peer) == Some(Kind::Send { peer: rank }),
            _ => false,
        });
        // Rank by rank along the tree: all receives, from the parent, before all sends.
        let collective = case.call.collective;
        let tree = case.algorithm.name == "sbt" && matches!(collective, Collective::Broadcast | Collective::Scatter);
        if both_send {
            tally.refused(&case, "window 1", &mutant, &[&["Deadlock"]]);
        } else if tree && case.parameters.packet.is_none() && case.call.size.is_power_of_two() {
            tally.equivalent(&case, "window 1", &mutant);
        }
    }
    tally.enough(700, 20);
}

/// Two ranks exchange through scratch memory. If what arrives takes the place of what is sent, each receive waits for its
/// rank's send, and without buffering each send waits for the other rank's receive.
#[test]
fn a_circle_of_waiting() {
    let range = |buffer, offset| BufferRange { buffer, offset, len: 1 };
    let schedule = |rank: usize, arrival: usize| {
        let (mut builder, peer) = (Builder::new(), 1 - rank);
        builder.copy(0, range(Buffer::Receive, rank), range(Buffer::Scratch, 0));
        builder.send(0, peer, &[range(Buffer::Scratch, 0)]);
        builder.receive(0, peer, &[range(Buffer::Scratch, arrival)]);
        builder.copy(0, range(Buffer::Scratch, arrival), range(Buffer::Receive, peer));
        builder.finish(rank, 2, 2)
    };
    let call = Call { in_place: true, ..Call::new(Collective::AllGather, 2, 1) };
    for (arrivals, expected) in [([1, 1], None), ([0, 1], None), ([1, 0], None), ([0, 0], Some("Deadlock"))] {
        let schedules = [schedule(0, arrivals[0]), schedule(1, arrivals[1])];
        let violations = check(&call, &schedules, true).violations;
        assert_eq!(violations.first().map(name), expected, "{arrivals:?}: {violations:?}");
    }
}

/// A send in the round in which its data arrive, or before.
#[test]
fn too_early_a_round() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        if !matches!(ops[index].kind, Kind::Send { .. }) {
            return;
        }
        // The latest round of the messages that the send, directly or through copies and combinations, waits for.
        let schedule = &case.schedules[rank];
        let mut arrival = None;
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<u32> = schedule.dependencies(&schedule.operations()[index]).to_vec();
        while let Some(need) = waiting.pop() {
            let op = &schedule.operations()[need as usize];
            match op.kind {
                _ if !seen.insert(need) => {}
                Kind::Receive { .. } => arrival = arrival.max(Some(op.round)),
                Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => waiting.extend(schedule.dependencies(op)),
                Kind::Send { .. } => {}
            }
        }
        if let Some(arrival) = arrival {
            assert!(arrival < ops[index].round);
            ops[index].round = arrival;
            let what = format!("rank {rank}, send {index} in round {arrival}");
            let mutant = case.with(rank, &ops);
            assert!(case.check(&mutant).iter().any(|v| matches!(v, Violation::Round { .. })), "not refused: {what}");
            tally.refused(case, &what, &mutant, &[&["Round", "Rounds"]]);
        }
    });
    tally.enough(500, 0);
}

/// The two ends of a message are in one round, or the rounds mean nothing.
#[test]
fn rounds_that_differ_between_the_ends() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        if ops[index].is_message() {
            ops[index].round += 100;
            tally.refused(
                case,
                &format!("rank {rank}, {index} later"),
                &case.with(rank, &ops),
                &[&["Round", "Rounds"]],
            );
        }
    });
    tally.enough(1000, 0);
}

/// One schedule too few, too many, or in another's place.
#[test]
fn schedules_that_are_not_those_of_the_ranks() {
    for case in cases().iter().step_by(7) {
        let mut missing = case.schedules.clone();
        missing.pop();
        let mut doubled = case.schedules.clone();
        doubled[0] = doubled[1].clone();
        for (what, mutant) in [("one missing", missing), ("one in another's place", doubled)] {
            let outcome = std::panic::catch_unwind(|| case.check(&mutant));
            let violations = outcome.unwrap_or_else(|_| panic!("{:?} {:?}: {what}: panic", case.algorithm, case.call));
            assert!(!violations.is_empty(), "{:?} {:?}: {what}", case.algorithm, case.call);
        }
    }
}

/// Without a dependency two operations that touch the same elements may run in any order, unless another path of
/// dependencies keeps them apart.
#[test]
fn a_missing_dependency() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        if loose_barrier(case) {
            return;
        }
        let original = &case.schedules[rank];
        let needs = original.dependencies(&original.operations()[index]).to_vec();
        for &dropped in &needs {
            let mut builder = Builder::new();
            ops.iter().for_each(|op| append(&mut builder, op));
            let mut mutant = case.schedules.clone();
            mutant[rank] = builder.finish_with(rank, case.call.size, original.scratch, |at, needs| {
                needs.retain(|&need| (at, need) != (index, dropped));
            });
            let what = format!("rank {rank}, {index} {:?} no longer waits for {dropped}", ops[index]);
            // Another way from the one to the other, through what the operation still waits for?
            let mut waiting: Vec<u32> = needs.iter().copied().filter(|&need| need != dropped).collect();
            let mut reached = BTreeSet::new();
            while let Some(need) = waiting.pop() {
                if reached.insert(need) {
                    waiting.extend(original.dependencies(&original.operations()[need as usize]));
                }
            }
            // A signal of rank 0 need not wait for that of the rank it goes to: that rank knows that it has come.
            let peer = |op: &Op| match op.kind {
                Kind::Send { peer } | Kind::Receive { peer } => Some(peer),
                _ => None,
            };
            let returned = ops[index].ranges.is_empty() && peer(&ops[index]) == peer(&ops[dropped as usize]);
            if reached.contains(&dropped) || returned && case.algorithm.name == "direct" && rank == 0 {
                tally.equivalent(case, &what, &mutant);
            } else if ops[index].ranges.is_empty() {
                tally.refused(case, &what, &mutant, &[&["Barrier"]]);
            } else {
                tally.refused(case, &what, &mutant, &[&["Hazard"]]);
            }
        }
    });
    tally.enough(3000, 10);
}
