//! What is expected of a case, on every rank.

use crate::case::{Case, Kind};
use hypercoll::{Error, Result};

/// What came of a rank's calls: those of the case, and two barriers after them; `None` for what panicked.
pub type Outcomes = [Option<Result<()>>; 3];

/// The ranks of a case: this one, the odd one, and how many there are.
#[derive(Clone, Copy)]
pub struct Place {
    pub rank: usize,
    pub odd: usize,
    pub size: usize,
}

/// The error by which a rank was told what is wrong between ranks, or what is wrong with its outcomes. `next` is the line at which
/// the next case begins.
pub fn told(case: &Case, next: u32, place: Place, outcomes: Outcomes) -> std::result::Result<String, String> {
    let is_odd = place.rank == place.odd;
    let shown = format!("{outcomes:?}");
    let [first, second, third] = outcomes;
    let [Some(second), Some(third)] = [second, third] else { return Err(format!("a barrier panicked: {shown}")) };
    if !matches!(third, Err(Error::Broken { .. })) {
        return Err(format!("not broken in the end: {shown}"));
    }
    let error = match (case.kind, first) {
        (Kind::Panics, None) if is_odd => match second {
            Err(Error::Broken { .. }) => return Ok(String::new()),
            _ => return Err(format!("not broken after a panic: {shown}")),
        },
        (_, None) => return Err("panicked".into()),
        (Kind::Refused, Some(first)) if is_odd => match (first, second) {
            (Err(Error::Mismatch { .. } | Error::RankFailed { .. } | Error::Broken { .. }), _) => {
                return Err(format!("not refused: {shown}"))
            }
            (Err(_), Err(second)) => second,
            _ => return Err(format!("no error: {shown}")),
        },
        (_, Some(Err(first))) => match second {
            Err(Error::Broken { .. }) => first,
            _ => return Err(format!("not broken after an error: {shown}")),
        },
        (_, Some(Ok(()))) => match second {
            Err(second) => second,
            Ok(()) => return Err("no error at all".into()),
        },
    };
    let text = error.to_string();
    right(case, next, place, &error).map(|()| text.clone()).map_err(|why| format!("{why}: {text}"))
}

fn right(case: &Case, next: u32, place: Place, error: &Error) -> std::result::Result<(), &'static str> {
    let Place { odd, size, .. } = place;
    let text = error.to_string();
    match (case.kind, error) {
        (Kind::Leaves | Kind::Panics, Error::RankFailed { rank, .. }) if *rank == odd => (),
        // It may be found by what the odd rank has not called.
        (Kind::Leaves, Error::Mismatch { .. }) => (),
        // Of two ranks either is odd.
        (Kind::Differ | Kind::Refused | Kind::RefusedAndLeaves, Error::Mismatch { ranks, .. })
            if *ranks == [odd] || ranks.len() == 1 && size == 2 => {}
        (Kind::Disagree, Error::Mismatch { .. }) => return Ok(()),
        (Kind::Lengths | Kind::Unsent, Error::Mismatch { ranks, .. }) if ranks.len() == 2 && ranks.contains(&odd) => {
            return Ok(())
        }
        _ => return Err("another error than expected"),
    }
    if !text.contains(&format!("rank {odd} ")) {
        return Err("the odd rank is not named");
    }
    let lines: std::collections::BTreeSet<u32> = text
        .split("mismatches/cases.rs:")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .collect();
    if !lines.iter().all(|line| (case.line..next).contains(line)) {
        return Err("another line is named");
    }
    match case.kind {
        Kind::Differ if lines.len() != 2 => Err("not both lines are named"),
        Kind::Refused | Kind::RefusedAndLeaves if lines.is_empty() => Err("the line is not named"),
        _ => Ok(()),
    }
}
