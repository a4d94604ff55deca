//! Findings: what is wrong between ranks, in words that are the same on every rank, and which error that is.

use super::record::{sentence, REFUSED};
use crate::error::Error;
use crate::executor::board::{Line, Presence};
use std::collections::BTreeMap;

/// How a rank has gone that makes no more calls.
pub(super) const LEFT: &str = "has let go of its communicator";
/// That all ranks have called the same.
pub(super) const AGREED: &str = "agreed";
/// Ranks that are listed one by one.
pub(super) const LISTED: usize = 16;

/// What a rank called under a number.
#[derive(Clone)]
pub(super) enum Called {
    /// A signature and words.
    This(u64, String),
    /// Nothing yet: it is behind.
    NotYet(u64),
    /// It is gone.
    Gone(String),
    /// It does not say.
    Unknown,
}

/// A finding: a rank has gone, and this is how, after so many calls, of which the last one in these words.
pub(super) fn lost(rank: usize, how: &str, begun: u64, words: &str) -> String {
    let last = match (begun, words) {
        (0, _) | (_, "") => String::new(),
        _ => format!("; its last call was {}", sentence(begun, words)),
    };
    format!("lost\n{rank}\nrank {rank} {how}{last}")
}

/// How a rank has gone without making the call of a number, or in the middle of one.
pub(super) fn gone(line: &Line, number: u64) -> Option<&'static str> {
    // What a rank has called is read again when it is known how it has gone: it may have ended its call, and gone, meanwhile.
    let missing = || line.begun() < number || line.ended() < line.begun();
    let is_dead = missing() && line.presence() == Presence::There && line.is_dead();
    match line.presence() {
        Presence::Panicked if missing() => Some("panicked"),
        Presence::Left if missing() => Some(LEFT),
        Presence::There if is_dead && missing() => Some("has ended"),
        _ => None,
    }
}

/// A finding: what ranks called under a number, those first that deviate from most; [`AGREED`] if none does.
pub(super) fn told(number: u64, size: usize, called: &[(usize, Called)]) -> String {
    let mut groups: Vec<(u64, String, Vec<usize>)> = Vec::new();
    let mut others: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (rank, called) in called {
        match called {
            Called::This(signature, words) => match groups.iter_mut().find(|group| group.0 == *signature) {
                Some(group) => group.2.push(*rank),
                None => groups.push((*signature, words.clone(), vec![*rank])),
            },
            Called::NotYet(0) => others.entry("has made no call yet".into()).or_default().push(*rank),
            Called::NotYet(begun) => {
                others.entry(format!("has made no call after call {begun} yet")).or_default().push(*rank);
            }
            Called::Gone(how) => others.entry(how.clone()).or_default().push(*rank),
            Called::Unknown => others.entry("does not say what it called".into()).or_default().push(*rank),
        }
    }
    // Most ranks are right, and in doubt the one with the lowest rank; the others come first.
    groups.sort_by_key(|group| (group.2.len(), std::cmp::Reverse(group.2[0])));
    let deviating: Vec<String> =
        groups.iter().rev().skip(1).flat_map(|group| &group.2).take(LISTED).map(usize::to_string).collect();
    let mut texts: Vec<String> = Vec::new();
    let last = groups.len().saturating_sub(1);
    for (at, (signature, words, ranks)) in groups.iter().enumerate() {
        let rest = at == last && at > 0 && ranks.len() > 1;
        let who = if rest && ranks.len() + deviating.len() == size {
            format!("the other {} ranks", ranks.len())
        } else {
            listed(ranks)
        };
        let verb = match (*signature == REFUSED, ranks.len() > 1) {
            (true, true) => "were refused",
            (true, false) => "was refused",
            (false, _) => "called",
        };
        let words = if words.is_empty() {
            format!("call {number}, of which no words are left")
        } else {
            sentence(number, words)
        };
        texts.push(format!("{who} {verb} {words}"));
    }
    texts.extend(others.iter().map(|(how, ranks)| format!("{} {how}", listed(ranks))));
    if groups.len() == 1 && groups[0].2.len() == size {
        return AGREED.into();
    }
    format!("mismatch\n{}\n{}", deviating.join(" "), texts.join("; "))
}

pub(super) fn listed(ranks: &[usize]) -> String {
    let first: Vec<String> = ranks.iter().take(LISTED).map(usize::to_string).collect();
    let more = if ranks.len() > LISTED { format!(" and {} more", ranks.len() - LISTED) } else { String::new() };
    format!("rank{} {}{more}", if ranks.len() > 1 { "s" } else { "" }, first.join(", "))
}

/// The error that a finding is.
pub(super) fn understood(finding: &str) -> Error {
    let mut parts = finding.splitn(3, '\n');
    let [kind, ranks, what] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let ranks: Vec<usize> = ranks.split(' ').filter_map(|rank| rank.parse().ok()).collect();
    let what = what.to_string();
    match (kind, ranks.first()) {
        ("mismatch", _) => Error::Mismatch { ranks, what },
        ("timeout", _) => Error::Timeout { waiting_for: ranks, what },
        (_, Some(&rank)) => Error::RankFailed { rank, what },
        (_, None) => Error::Broken { why: what },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this(signature: u64, words: &str) -> Called {
        Called::This(signature, words.into())
    }

    #[test]
    fn those_that_deviate_come_first() {
        let all = |rank: usize| (rank, this(8, "broadcast\n40 x f64, root 0\nsrc/main.rs:40"));
        let mut called: Vec<_> = (0..8).map(all).collect();
        called[3].1 = this(9, "all-reduce\n40 x f64, sum\nsrc/main.rs:42");
        let error = understood(&told(17, 8, &called));
        assert_eq!(
            error.to_string(),
            "calls differ: rank 3 called all-reduce (call 17, 40 x f64, sum) at src/main.rs:42; \
             the other 7 ranks called broadcast (call 17, 40 x f64, root 0) at src/main.rs:40"
        );
        assert!(matches!(error, Error::Mismatch { ranks, .. } if ranks == [3]));
        called.truncate(2);
        called.push((2, this(REFUSED, "scatter\nroot: 9 is no rank\na.rs:1")));
        called.push((3, Called::NotYet(0)));
        called.push((4, Called::Gone("has ended".into())));
        called.push((5, Called::NotYet(16)));
        called.push((6, Called::Unknown));
        assert_eq!(
            understood(&told(17, 7, &called)).to_string(),
            "calls differ: rank 2 was refused scatter (call 17, root: 9 is no rank) at a.rs:1; \
             ranks 0, 1 called broadcast (call 17, 40 x f64, root 0) at src/main.rs:40; \
             rank 6 does not say what it called; rank 4 has ended; \
             rank 5 has made no call after call 16 yet; rank 3 has made no call yet"
        );
    }

    #[test]
    fn ranks_that_agree_and_ranks_that_say_nothing() {
        let mut called: Vec<_> = (0..3).map(|rank| (rank, this(8, "barrier\n0 x u8\na.rs:1"))).collect();
        assert_eq!(told(1, 3, &called), AGREED);
        called[2].1 = Called::Unknown;
        assert!(told(1, 3, &called).starts_with("mismatch\n"));
    }

    #[test]
    fn long_lists_of_ranks_are_cut() {
        assert_eq!(listed(&[4]), "rank 4");
        let ranks: Vec<usize> = (0..20).collect();
        assert_eq!(listed(&ranks), "ranks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 4 more");
    }
}
