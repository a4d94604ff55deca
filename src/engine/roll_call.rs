//! The roll-call of ranks that wait too long: what every rank of the communicator is doing.

use super::agreement::Agreement;
use super::finding::listed;
use super::record::sentence;
use crate::executor::board::{Board, Presence};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The clock, which ranks of a host share. It may be set.
pub(super) fn clock() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// What every rank of the communicator is doing, in words.
pub(super) fn roll_call(agreement: &Agreement, size: usize) -> String {
    let mut states: Vec<(String, Vec<usize>)> = Vec::new();
    for rank in 0..size {
        let state = state(agreement, rank);
        match states.iter_mut().find(|(other, _)| *other == state) {
            Some((_, ranks)) => ranks.push(rank),
            None => states.push((state, vec![rank])),
        }
    }
    states.iter().map(|(state, ranks)| format!("{}: {state}", listed(ranks))).collect::<Vec<_>>().join("; ")
}

fn state(agreement: &Agreement, rank: usize) -> String {
    if rank == agreement.rank {
        return agreement.doing.clone();
    }
    match agreement.board().and_then(|board| Some((board, board.ranks.iter().position(|other| *other == rank)?))) {
        Some((board, place)) => on_board(board, place),
        None => agreement.answered(rank).unwrap_or("no answer").into(),
    }
}

fn on_board(board: &Board, place: usize) -> String {
    let line = board.line(place);
    let begun = line.begun();
    let last = line.told(begun).filter(|_| begun > 0).map(|words| sentence(begun, &words));
    let at_last = last.as_ref().map_or("it has made none".into(), |last| format!("its last was {last}"));
    match (line.presence(), last) {
        (Presence::Left, _) => format!("has let go of its communicator; {at_last}"),
        (Presence::Panicked, _) => format!("has panicked; {at_last}"),
        (Presence::There, _) if line.is_dead() => format!("has ended; {at_last}"),
        (Presence::There, Some(last)) if line.ended() < begun => match line.waits() {
            Some((since, waits)) => format!("{waits}, for {} s", clock().as_secs().saturating_sub(since)),
            None => format!("in {last}"),
        },
        _ => format!("in no call; {at_last}"),
    }
}
