//! One operation changed: dropped, twice, exchanged, shifted, shortened.

use super::*;

#[test]
fn a_dropped_operation() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, mut ops| {
        let dropped = ops.remove(index);
        // Every copy and every combination contributes to a result; a copy may be what is combined with.
        let reason: &[&str] = match dropped.kind {
            Kind::Send { .. } | Kind::Receive { .. } => &["Unmatched"],
            Kind::Copy => &["Postcondition", "Operands"],
            Kind::Combine { .. } | Kind::Multiply { .. } => &["Postcondition"],
        };
        tally.refused(case, &format!("rank {rank} without {dropped:?}"), &case.with(rank, &ops), &[reason]);
    });
    tally.enough(5000, 0);
    assert!(tally.reasons["Postcondition"] > 200);
}

/// Both ends are dropped, so that only the data tell.
#[test]
fn a_dropped_message() {
    let mut tally = Tally::default();
    each_operation(|case, rank, index, ops| {
        if !matches!(ops[index].kind, Kind::Send { .. }) || ops[index].ranges.is_empty() {
            return;
        }
        let (peer, other) = case.partner(rank, index);
        let mutant = case.without_message(rank, index);
        let what = format!("no message {index} of rank {rank}");
        let received = program(&case.schedules[peer])[other].ranges.clone();
        if received.into_iter().all(|range| is_superfluous(case, peer, other, range)) {
            tally.equivalent(case, &what, &mutant);
        } else {
            tally.judged(case, &what, &mutant, &[&["Postcondition", "Operands"]]);
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
                if matches!(case.schedules[rank].operations()[index].kind, Kind::Send { .. }) {
                    let mutant = case.without_message(rank, index);
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
            if exchange_is_equivalent(case, &ops, i, j) || j == i + 1 && answers(case, &ops[i], &ops[j]) {
                tally.equivalent(case, &what, &schedules);
            } else {
                tally.judged(case, &what, &schedules, &[WRONG_DATA, &["Length", "Barrier"]]);
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
                let receives = matches!(ops[index].kind, Kind::Receive { .. });
                if ops[index].is_message() && case.call.collective == Collective::MatrixMultiply {
                    let (to, arrival) = if receives { (rank, index) } else { case.partner(rank, index) };
                    let mut arrived = program(&case.schedules[to])[arrival].ranges.clone().into_iter();
                    if arrived.any(|range| is_superfluous(case, to, arrival, range)) {
                        continue; // it may or may not matter what comes instead
                    }
                }
                if !beyond {
                    tally.judged(case, &what, &schedules, &[WRONG_DATA]);
                } else {
                    tally.refused(case, &what, &schedules, &[&["Bounds", "Round"]]);
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
            if is_superfluous(case, to, at, last) {
                tally.equivalent(case, &what, &schedules);
            } else {
                tally.judged(case, &what, &schedules, &[WRONG_DATA]);
            }
        } else {
            mutant[index].ranges.iter_mut().for_each(|range| range.len -= 1);
            let what = format!("rank {rank}, {index} {op:?}: both operands shortened");
            tally.refused(case, &what, &case.with(rank, &mutant), &[WRONG_DATA]);
        }
    });
    tally.enough(8000, 0);
}
