//! What schedules of a permutation do, found by doing it: no word of the checker's is taken for it.

use super::*;
use std::collections::{HashMap, VecDeque};

/// An element of a rank's send buffer, by rank and index; nothing where nothing has been put.
type Content = Option<(usize, usize)>;

/// Whether every rank ends with what its source had. Parts of a permuted send go past their target, past each other and back, so that
/// the same element may lie, and come, at several places: that one of them does for another, only a run tells.
pub(super) fn right(case: &Case, schedules: &[Schedule]) -> bool {
    let call = &case.call;
    let mut buffers: Vec<[Vec<Content>; 3]> = schedules
        .iter()
        .map(|schedule| {
            let sent = (0..call.send_len(schedule.rank)).map(|at| Some((schedule.rank, at))).collect();
            [sent, vec![None; call.receive_len(schedule.rank)], vec![None; schedule.scratch]]
        })
        .collect();
    let mut done: Vec<Vec<bool>> = schedules.iter().map(|schedule| vec![false; schedule.operations().len()]).collect();
    let mut sent: HashMap<(usize, usize), VecDeque<Vec<Content>>> = HashMap::new();
    loop {
        let mut progress = false;
        for (rank, schedule) in schedules.iter().enumerate() {
            for (index, operation) in schedule.operations().iter().enumerate() {
                let before =
                    schedule.dependencies(operation).iter().copied().chain(schedule.channel_predecessor(operation));
                if done[rank][index] || !{ before }.all(|before| done[rank][before as usize]) {
                    continue;
                }
                let ranges = schedule.ranges(operation);
                let places = |ranges: &[BufferRange]| -> Vec<(usize, usize)> {
                    ranges.iter().flat_map(|r| r.indices().map(|at| (r.buffer as usize, at))).collect()
                };
                let (content, to) = match operation.kind {
                    Kind::Send { peer } => {
                        let content = places(ranges).iter().map(|&(buffer, at)| buffers[rank][buffer][at]).collect();
                        sent.entry((rank, peer)).or_default().push_back(content);
                        (Vec::new(), Vec::new())
                    }
                    Kind::Receive { peer } => match sent.get_mut(&(peer, rank)).and_then(VecDeque::pop_front) {
                        Some(content) => (content, places(ranges)),
                        None => continue,
                    },
                    Kind::Copy => {
                        let from = places(&ranges[..1]);
                        (from.iter().map(|&(buffer, at)| buffers[rank][buffer][at]).collect(), places(&ranges[1..]))
                    }
                    Kind::Combine { .. } | Kind::Multiply { .. } => unreachable!("a permutation only moves"),
                };
                if content.len() != to.len() {
                    return false;
                }
                for (content, (buffer, at)) in content.into_iter().zip(to) {
                    buffers[rank][buffer][at] = content;
                }
                (done[rank][index], progress) = (true, true);
            }
        }
        if !progress {
            break;
        }
    }
    let targets = call.permutation.as_ref().expect("a permutation");
    let arrived = |(source, &target): (usize, &usize)| {
        (0..call.receive_len(target)).all(|at| buffers[target][Buffer::Receive as usize][at] == Some((source, at)))
    };
    done.iter().flatten().all(|&done| done) && targets.iter().enumerate().all(arrived)
}
