//! Messages, roots, sides and factors changed.

use super::*;

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
