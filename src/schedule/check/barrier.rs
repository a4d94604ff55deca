//! The postcondition of a barrier: no rank leaves before all have entered.

use super::{closure, Violation};
use crate::schedule::{Kind, Schedule};
use std::collections::{BTreeSet, HashMap};

/// A message tells of its sender, and of all that the messages told which its send depends on. In the end every rank must
/// have been told of every other.
pub(super) fn barrier(schedules: &[Schedule], violations: &mut Vec<Violation>) {
    let mut sends: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for schedule in schedules {
        for (index, operation) in schedule.operations().iter().enumerate() {
            if let Kind::Send { peer } = operation.kind {
                sends.entry((schedule.rank, peer)).or_default().push(index);
            }
        }
    }
    let before: Vec<Vec<Vec<u64>>> = schedules.iter().map(closure).collect();
    // told[rank][operation]: the ranks that a receive tells of, or a send may pass on.
    let mut told: Vec<Vec<BTreeSet<usize>>> =
        schedules.iter().map(|s| vec![BTreeSet::new(); s.operations().len()]).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for schedule in schedules {
            let rank = schedule.rank;
            let mut received: HashMap<usize, usize> = HashMap::new();
            for (index, operation) in schedule.operations().iter().enumerate() {
                let news: BTreeSet<usize> = match operation.kind {
                    Kind::Send { .. } => {
                        let needs = (0..index).filter(|&i| before[rank][index][i / 64] >> (i % 64) & 1 == 1);
                        needs.flat_map(|i| told[rank][i].iter().copied()).chain([rank]).collect()
                    }
                    Kind::Receive { peer } => {
                        let ordinal = received.entry(peer).or_default();
                        *ordinal += 1;
                        told[peer][sends[&(peer, rank)][*ordinal - 1]].clone()
                    }
                    Kind::Copy | Kind::Combine { .. } | Kind::Multiply { .. } => BTreeSet::new(),
                };
                changed |= news.len() > told[rank][index].len();
                told[rank][index] = news;
            }
        }
    }
    for schedule in schedules {
        let rank = schedule.rank;
        let heard: BTreeSet<usize> = told[rank].iter().flatten().copied().chain([rank]).collect();
        let missing: Vec<usize> = (0..schedules.len()).filter(|r| !heard.contains(r)).collect();
        if !missing.is_empty() {
            violations.push(Violation::Barrier { rank, missing });
        }
    }
}
