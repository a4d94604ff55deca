//! What a schedule is as a whole: memory, windows, rounds, dependencies.

use super::*;

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
        mutant.iter_mut().for_each(|schedule| schedule.run_ahead.window = 0);
        if mutant.iter().any(|schedule| !schedule.operations().is_empty()) {
            tally.refused(&case, "window 0", &mutant, &[&["Deadlock"]]);
        }
        mutant.iter_mut().for_each(|schedule| schedule.run_ahead.window = 1);
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
            if reached.contains(&dropped) || answers(case, &ops[dropped as usize], &ops[index]) {
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
