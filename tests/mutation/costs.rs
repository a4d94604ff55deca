//! Right and slow: mutants that bring every element where it belongs, but cost more than the algorithm says. `check` alone has
//! nothing against them; `verify_schedules` refuses them.

use super::*;
use hypercoll::algorithm::verify::{forms, verify_schedules};
use hypercoll::algorithm::{registry, Order};
use hypercoll::schedule::Avoided;
use hypercoll::topology::sbnt::Variant;

/// What is called, and with which parameters: orders, variants, blocks of unequal lengths, links to be avoided, sizes to 16.
fn costly_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |algorithm: &'static Algorithm, call: &Call, parameters: Parameters| {
        if algorithm.accepts(call, &parameters).is_ok() {
            let schedules = schedules(algorithm, call, &parameters);
            cases.push(Case { algorithm, call: call.clone(), parameters, schedules });
        }
    };
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.collective != Collective::Barrier) {
        for (size, count) in [(4, 3), (6, 4), (8, 7), (8, 12), (13, 2), (16, 5)] {
            let root = if algorithm.collective.has_root() { size / 3 } else { 0 };
            let avoid = Avoided::new(size, &[(root, root ^ 1)]).ok();
            for mut call in forms(algorithm.collective, size, count, root) {
                for ports in PortModel::ALL {
                    for (packet, symmetrized) in [(None, false), (None, true), (Some(2), false)] {
                        add(algorithm, &call, Parameters { packet, symmetrized, ..Parameters::new(ports) });
                    }
                    let plain = Parameters { symmetrized: false, ..Parameters::new(ports) };
                    let variants = Variant::ALL.into_iter().filter(|_| algorithm.variants);
                    variants.for_each(|variant| add(algorithm, &call, Parameters { variant, ..plain }));
                    for order in algorithm.orders.iter().copied().map(Some) {
                        add(algorithm, &call, Parameters { order, ..plain });
                        add(algorithm, &call, Parameters { order, packet: Some(2 * count), ..plain });
                    }
                    if call.hosts.is_none() {
                        call.avoid.clone_from(&avoid);
                        add(algorithm, &call, plain);
                        call.avoid = None;
                    }
                }
            }
        }
    }
    cases
}

/// All operations of all ranks, and where each message of a rank has its other end.
struct Programs(Vec<Vec<Op>>);

impl Programs {
    fn of(case: &Case) -> Programs {
        Programs(case.schedules.iter().map(program).collect())
    }

    /// Puts the operations of each rank in the order of their rounds again and builds schedules with so much scratch memory more.
    fn build(mut self, case: &Case, more: &[usize]) -> Vec<Schedule> {
        self.0.iter_mut().for_each(|ops| ops.sort_by_key(|op| op.round));
        let ranks = case.schedules.iter().zip(&self.0).zip(more);
        ranks
            .map(|((schedule, ops), more)| {
                let mut other = schedule.clone();
                other.scratch += more;
                with_program(&other, ops)
            })
            .collect()
    }

    /// Rounds after one become so much later.
    fn make_room(&mut self, after: usize, rounds: usize) {
        self.0.iter_mut().flatten().filter(|op| op.round > after).for_each(|op| op.round += rounds);
    }
}

/// A message: its sender, its receiver, and the indices of its operations there.
type Ends = ((usize, usize), (usize, usize));

/// Some messages of a case, spread over it.
fn some_messages(case: &Case, wanted: usize) -> Vec<Ends> {
    let mut all = Vec::new();
    for rank in 0..case.call.size {
        for (index, op) in program(&case.schedules[rank]).iter().enumerate() {
            if matches!(op.kind, Kind::Send { .. }) && !op.ranges.is_empty() {
                all.push((rank, index));
            }
        }
    }
    let step = all.len().div_ceil(wanted).max(1);
    all.into_iter().step_by(step).map(|end| (end, case.partner(end.0, end.1))).collect()
}

fn len(op: &Op) -> usize {
    op.ranges.iter().map(|range| range.len).sum()
}

/// A range at the end of a rank's scratch memory.
fn beyond(case: &Case, rank: usize, len: usize) -> BufferRange {
    BufferRange { buffer: Buffer::Scratch, offset: case.schedules[rank].scratch, len }
}

/// The mutant of one kind, if there is one for the message.
type Mutate = fn(&Case, Ends) -> Option<Vec<Schedule>>;

/// The message goes in a round of its own, after all others of its round.
fn a_round_later(case: &Case, ((from, send), (to, receive)): Ends) -> Option<Vec<Schedule>> {
    let mut programs = Programs::of(case);
    let round = programs.0[from][send].round;
    programs.make_room(round, 1);
    programs.0[from][send].round += 1;
    programs.0[to][receive].round += 1;
    Some(programs.build(case, &vec![0; case.call.size]))
}

/// The message goes in the next round, with all that goes there.
fn in_the_next_round(case: &Case, ((from, send), (to, receive)): Ends) -> Option<Vec<Schedule>> {
    let mut programs = Programs::of(case);
    programs.0[from][send].round += 1;
    programs.0[to][receive].round += 1;
    Some(programs.build(case, &vec![0; case.call.size]))
}

/// The message goes over one or two ranks in between.
fn by_a_detour(case: &Case, ((from, send), (to, receive)): Ends) -> Option<Vec<Schedule>> {
    let size = case.call.size;
    let way = if case.algorithm.cube_edges {
        let mut ways = (0..size.trailing_zeros()).map(|port| [from ^ 1 << port, to ^ 1 << port]);
        ways.find(|way| !way.contains(&from) && !way.contains(&to) && size.is_power_of_two() && !case.call.ordered)?
            .to_vec()
    } else {
        vec![(0..size).find(|rank| ![from, to].contains(rank))?]
    };
    let mut programs = Programs::of(case);
    let len = len(&programs.0[from][send]);
    let round = programs.0[from][send].round;
    programs.make_room(round, way.len());
    let mut more = vec![0; size];
    let mut last = from;
    for (hop, &rank) in way.iter().enumerate() {
        let ranges = vec![beyond(case, rank, len)];
        more[rank] = len;
        let next = way.get(hop + 1).copied().unwrap_or(to);
        programs.0[rank].push(Op { kind: Kind::Receive { peer: last }, round: round + hop, ranges: ranges.clone() });
        programs.0[rank].push(Op { kind: Kind::Send { peer: next }, round: round + hop + 1, ranges });
        last = rank;
    }
    programs.0[from][send].kind = Kind::Send { peer: way[0] };
    programs.0[to][receive].kind = Kind::Receive { peer: last };
    programs.0[to][receive].round += way.len();
    Some(programs.build(case, &more))
}

/// The message goes a second time, to a place where nobody looks for it.
fn twice(case: &Case, ((from, send), (to, receive)): Ends) -> Option<Vec<Schedule>> {
    let mut programs = Programs::of(case);
    let mut again = programs.0[from][send].clone();
    let round = again.round;
    programs.make_room(round, 1);
    again.round += 1;
    let mut more = vec![0; case.call.size];
    more[to] = len(&again);
    let ranges = vec![beyond(case, to, more[to])];
    programs.0[to].insert(receive + 1, Op { kind: Kind::Receive { peer: from }, round: round + 1, ranges });
    programs.0[from].insert(send + 1, again);
    Some(programs.build(case, &more))
}

/// The next message over the same link goes in the same round, as another or as one with it; or this one waits for that.
fn with_the_next(case: &Case, ends: Ends, merged: bool, early: bool) -> Option<Vec<Schedule>> {
    let ((from, send), (to, receive)) = ends;
    let mut programs = Programs::of(case);
    let next = |ops: &[Op], index: usize| (index + 1..ops.len()).find(|&later| ops[later].same_channel(&ops[index]));
    let (next_send, next_receive) = (next(&programs.0[from], send)?, next(&programs.0[to], receive)?);
    let (now, then) = (programs.0[from][send].round, programs.0[from][next_send].round);
    if now == then {
        return None;
    }
    let round = if early { now } else { then };
    for (rank, index, later) in [(from, send, next_send), (to, receive, next_receive)] {
        let ops = &mut programs.0[rank];
        if merged {
            let other = ops.remove(later);
            ops[index].ranges.extend(other.ranges);
        } else {
            ops[later].round = round;
        }
        ops[index].round = round;
    }
    Some(programs.build(case, &vec![0; case.call.size]))
}

fn a_port_twice(case: &Case, ends: Ends) -> Option<Vec<Schedule>> {
    with_the_next(case, ends, false, true)
        .filter(|mutant| case.check(mutant).is_empty())
        .or_else(|| with_the_next(case, ends, false, false))
}

fn packets_merged(case: &Case, ends: Ends) -> Option<Vec<Schedule>> {
    with_the_next(case, ends, true, true)
        .filter(|mutant| case.check(mutant).is_empty())
        .or_else(|| with_the_next(case, ends, true, false))
}

/// A packet takes an element of the next one of its round, and is longer than packets are.
fn packets_unequal(case: &Case, ((from, send), (to, receive)): Ends) -> Option<Vec<Schedule>> {
    let mut programs = Programs::of(case);
    let next = |ops: &[Op], index: usize| {
        (index + 1..ops.len()).find(|&at| ops[at].same_channel(&ops[index]) && ops[at].round == ops[index].round)
    };
    let (next_send, next_receive) = (next(&programs.0[from], send)?, next(&programs.0[to], receive)?);
    for (rank, index, later) in [(from, send, next_send), (to, receive, next_receive)] {
        let ops = &mut programs.0[rank];
        let (taken, last) = (*ops[later].ranges.first()?, ops[index].ranges.last_mut()?);
        if taken.len < 2 || (last.buffer, last.offset + last.len) != (taken.buffer, taken.offset) {
            return None;
        }
        last.len += 1;
        let rest = &mut ops[later].ranges[0];
        (rest.offset, rest.len) = (rest.offset + 1, rest.len - 1);
    }
    Some(programs.build(case, &vec![0; case.call.size]))
}

/// Every right mutant of one kind is refused, for the first of the reasons at least; at least so many, of so many algorithms.
fn refused(mutate: Mutate, reasons: &[&str], at_least: usize, algorithms: usize) {
    let (mut mutants, mut seen, mut found) = (0, BTreeSet::new(), BTreeMap::new());
    for case in costly_cases() {
        for ends in some_messages(&case, 2) {
            let Some(mutant) = mutate(&case, ends) else { continue };
            if !case.check(&mutant).is_empty() || mutant == case.schedules {
                continue;
            }
            let report = verify_schedules(case.algorithm, &case.call, &case.parameters, &mutant);
            let what = format!("{:?} {:?} {:?}: {ends:?}", case.algorithm, case.call, case.parameters);
            assert!(
                report.violations.iter().any(|v| name(v) == reasons[0]),
                "not refused: {what}: {:?}",
                report.violations
            );
            for violation in &report.violations {
                assert!(reasons.contains(&name(violation)), "{what}: refused because of {violation:?}");
                *found.entry(name(violation)).or_insert(0) += 1;
            }
            mutants += 1;
            seen.insert(format!("{:?}", case.algorithm));
        }
    }
    eprintln!("{mutants} right mutants of {} algorithms refused: {found:?}", seen.len());
    assert!(mutants >= at_least && seen.len() >= algorithms, "only {mutants} mutants of {} algorithms", seen.len());
}

#[test]
fn a_message_in_a_round_of_its_own() {
    refused(a_round_later, &["Route"], 4000, 80);
}

#[test]
fn a_message_in_the_next_round() {
    refused(in_the_next_round, &["Route", "Ports"], 500, 30);
}

#[test]
fn a_detour() {
    refused(by_a_detour, &["Route", "Ports"], 2000, 60);
}

#[test]
fn a_message_that_goes_twice() {
    refused(twice, &["Route"], 4000, 80);
}

#[test]
fn a_port_that_is_used_twice() {
    refused(a_port_twice, &["Route", "Ports"], 200, 20);
}

#[test]
fn packets_that_are_one_message() {
    refused(packets_merged, &["Route"], 200, 20);
}

#[test]
fn packets_of_unequal_lengths() {
    refused(packets_unequal, &["Route"], 100, 10);
}

/// Operations that wait for others without cause.
#[test]
fn a_needless_dependency() {
    let mut mutants = 0;
    for case in costly_cases().iter().step_by(11) {
        for rank in 0..case.call.size {
            let ops = program(&case.schedules[rank]);
            let Some(index) = (1..ops.len()).find(|&at| !ops[at].conflicts(&ops[at - 1])) else { continue };
            let mut builder = Builder::new();
            ops.iter().for_each(|op| append(&mut builder, op));
            let original = &case.schedules[rank];
            let mut mutant = case.schedules.clone();
            mutant[rank] = builder.finish_with(rank, case.call.size, original.scratch, |at, needs| {
                if at == index && !needs.contains(&(index as u32 - 1)) {
                    needs.push(index as u32 - 1);
                }
            });
            mutant[rank].cut = original.cut;
            let violations = verify_schedules(case.algorithm, &case.call, &case.parameters, &mutant).violations;
            let expected = Violation::Needless { rank, operation: index, needs: index - 1 };
            // Or some ranks now wait for each other in a circle.
            let found = violations.iter().all(|v| *v == expected || matches!(v, Violation::Deadlock(_)));
            assert!(!violations.is_empty() && found, "{:?} {:?}: {violations:?}", case.algorithm, case.call);
            mutants += 1;
        }
    }
    assert!(mutants > 1000, "only {mutants}");
}

/// What a row states of its cost.
type Claim = fn(&hypercoll::algorithm::Shape) -> hypercoll::algorithm::Formula;

/// What a row claims is held against its schedules, figure by figure, in either direction, and a figure that is no number is wrong.
#[test]
fn a_row_that_claims_something_else() {
    use hypercoll::algorithm::{Formula, Shape};
    fn of(shape: &Shape) -> Formula {
        let sbt = registry::find(Collective::Broadcast, "sbt").expect("in the registry");
        (sbt.formula)(shape)
    }
    let claims: [(&str, Claim); 10] = [
        ("rounds", |shape| Formula { rounds: of(shape).rounds + 1, ..of(shape) }),
        ("rounds", |shape| Formula { rounds: of(shape).rounds - 1, ..of(shape) }),
        ("elements", |shape| Formula { elements: of(shape).elements - 1.0, ..of(shape) }),
        ("elements", |shape| Formula { elements: f64::NAN, ..of(shape) }),
        ("elements moved", |shape| Formula { moved: of(shape).moved + 1.0, ..of(shape) }),
        ("largest load of a link", |shape| Formula { load: f64::INFINITY, ..of(shape) }),
        ("largest load of a port", |shape| Formula { port: of(shape).port - 1.0, ..of(shape) }),
        ("scratch memory", |shape| Formula { scratch: 1.0, ..of(shape) }),
        ("hops", |shape| Formula { hops: of(shape).hops + 1, ..of(shape) }),
        ("path", |shape| Formula { path: f64::NAN, ..of(shape) }),
    ];
    let sbt = registry::find(Collective::Broadcast, "sbt").expect("in the registry");
    let call = Call::new(Collective::Broadcast, 8, 12);
    let parameters = Parameters::new(PortModel::OnePort);
    let right = schedules(sbt, &call, &parameters);
    for (figure, formula) in claims {
        let claiming = Algorithm { formula, ..*sbt };
        let violations = verify_schedules(&claiming, &call, &parameters, &right).violations;
        let names: Vec<&str> = violations
            .iter()
            .map(|violation| match violation {
                Violation::Formula { what, .. } => *what,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, [figure]);
    }
}

/// Two messages of a node with one port in one round are refused, also where a rank plays two nodes and may send two, but not three.
#[test]
fn ports_are_counted_on_any_number_of_ranks() {
    for (size, order) in [(8, None), (8, Some(Order::GrayCode)), (6, None), (5, None)] {
        let scatter = registry::find(Collective::Scatter, "sbt").expect("in the registry");
        let call = Call::new(Collective::Scatter, size, 4);
        let parameters = Parameters { order, ..Parameters::new(PortModel::OnePort) };
        let case = Case { algorithm: scatter, schedules: schedules(scatter, &call, &parameters), call, parameters };
        let verified = |mutant: &[Schedule]| verify_schedules(scatter, &case.call, &case.parameters, mutant).violations;
        assert_eq!(verified(&case.schedules), []);
        // All that the root sends goes in the first round; what it sends later anyway may still go then.
        let mut programs = Programs::of(&case);
        let sends = |index: &usize| matches!(programs.0[0][*index].kind, Kind::Send { .. });
        let sends: Vec<usize> = (0..programs.0[0].len()).filter(sends).collect();
        for index in sends {
            let (to, receive) = case.partner(0, index);
            programs.0[0][index].round = 0;
            programs.0[to][receive].round = 0;
        }
        let violations = verified(&programs.build(&case, &vec![0; size]));
        assert!(
            violations.contains(&Violation::Ports { rank: 0, round: 0, ports: PortModel::OnePort }),
            "{violations:?}"
        );
    }
}
