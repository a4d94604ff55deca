//! Whether all ranks make the same calls: what a rank makes of what the others tell, and how it is told to all.
//!
//! A finding is final for the communicator, and the same words on every rank. It goes to the ranks of the host by the board, and to
//! others by messages.

use super::record::{sentence, Records, REFUSED};
use crate::error::Error;
use crate::executor::board::{Board, Line, Presence};
use crate::executor::{Transport, Trouble};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long answers of ranks on other hosts are waited for, before it is said what is wrong.
const ANSWERS: Duration = Duration::from_millis(600);
/// How long ranks of this host are waited for that have not made a call, before it is said what is wrong with it.
const LATE: Duration = Duration::from_millis(50);
/// How a rank has gone that makes no more calls.
const LEFT: &str = "has let go of its communicator";
/// That all ranks have called the same.
pub(super) const AGREED: &str = "agreed";
/// Ranks that are listed one by one.
const LISTED: usize = 16;

/// What a rank tells another one on another host.
#[derive(Clone, PartialEq, Debug)]
enum Note {
    /// Something is wrong.
    Finding(String),
    /// What did you call under this number? These are the signatures of my last calls.
    Question { number: u64, known: Vec<(u64, u64)> },
    /// Calls begun and ended, the first one in which we differ, the words and the signature of that one or the one asked for, and what
    /// I am doing.
    Answer { begun: u64, differs: u64, number: u64, signature: u64, words: String, doing: String },
    /// I make no more calls: how I have gone, the words of my last call, and the signatures of my last calls.
    Parting { how: String, words: String, known: Vec<(u64, u64)> },
}

impl Note {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        let signatures = |bytes: &mut Vec<u8>, known: &[(u64, u64)]| {
            known.iter().flat_map(|&(a, b)| [a, b]).for_each(|word| bytes.extend(word.to_le_bytes()));
        };
        match self {
            Note::Finding(finding) => {
                bytes.push(0);
                text(&mut bytes, finding);
            }
            Note::Question { number, known } => {
                bytes.push(1);
                bytes.extend(number.to_le_bytes());
                signatures(&mut bytes, known);
            }
            Note::Answer { begun, differs, number, signature, words, doing } => {
                bytes.push(2);
                [begun, differs, number, signature].into_iter().for_each(|value| bytes.extend(value.to_le_bytes()));
                text(&mut bytes, words);
                text(&mut bytes, doing);
            }
            Note::Parting { how, words, known } => {
                bytes.push(3);
                text(&mut bytes, how);
                text(&mut bytes, words);
                signatures(&mut bytes, known);
            }
        }
        bytes
    }

    /// `None` for what is no note.
    fn decode(bytes: &[u8]) -> Option<Note> {
        fn number(bytes: &mut &[u8]) -> Option<u64> {
            let (value, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*value))
        }
        fn text(bytes: &mut &[u8]) -> Option<String> {
            let len = number(bytes)? as usize;
            let (text, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Some(String::from_utf8_lossy(text).into_owned())
        }
        fn signatures(bytes: &mut &[u8]) -> Option<Vec<(u64, u64)>> {
            let mut known = Vec::new();
            while !bytes.is_empty() {
                known.push((number(bytes)?, number(bytes)?));
            }
            Some(known)
        }
        let (kind, mut rest) = bytes.split_first()?;
        let rest = &mut rest;
        match kind {
            0 => Some(Note::Finding(text(rest)?)),
            1 => {
                let asked = number(rest)?;
                Some(Note::Question { number: asked, known: signatures(rest)? })
            }
            2 => {
                let (begun, differs) = (number(rest)?, number(rest)?);
                let (number, signature) = (number(rest)?, number(rest)?);
                Some(Note::Answer { begun, differs, number, signature, words: text(rest)?, doing: text(rest)? })
            }
            3 => {
                let (how, words) = (text(rest)?, text(rest)?);
                Some(Note::Parting { how, words, known: signatures(rest)? })
            }
            _ => None,
        }
    }
}

/// What a rank called under a number.
#[derive(Clone)]
enum Called {
    /// A signature and words.
    This(u64, String),
    /// Nothing yet: it is behind.
    NotYet(u64),
    /// It is gone.
    Gone(String),
    /// It does not say.
    Unknown,
}

/// A far rank's answer.
struct Answered {
    /// The first call in which it differs from this rank; 0 if it does not.
    differs: u64,
    /// What it called under that number, or the one asked for.
    number: u64,
    called: Called,
    doing: String,
}

/// What a far rank that has gone has told last.
struct Parted {
    how: String,
    words: String,
    known: BTreeMap<u64, u64>,
}

impl Parted {
    /// The number of its last call.
    fn begun(&self) -> u64 {
        self.known.last_key_value().map_or(0, |(&number, _)| number)
    }

    /// What it called under a number.
    fn called(&self, number: u64) -> Called {
        match self.known.get(&number) {
            _ if self.begun() < number => Called::Gone(self.how.clone()),
            Some(&signature) if self.begun() == number => Called::This(signature, self.words.clone()),
            Some(&signature) => Called::This(signature, String::new()),
            None => Called::Unknown,
        }
    }
}

/// The agreement of a communicator, as one of its ranks sees it.
pub(super) struct Agreement {
    pub rank: usize,
    size: usize,
    pub records: Records,
    board: Option<Board>,
    /// The ranks that are not on the board.
    far: Vec<usize>,
    /// What is wrong, once it is known.
    pub failure: Option<Error>,
    /// Answers that have come from far ranks.
    answers: BTreeMap<usize, Answered>,
    /// Far ranks that have gone.
    parted: BTreeMap<usize, Parted>,
    /// What this rank is doing, for those that ask.
    pub doing: String,
}

impl Agreement {
    pub fn of(transport: &dyn Transport) -> Agreement {
        let board = transport.board().cloned();
        let mut near = vec![false; transport.size()];
        near[transport.rank()] = true;
        board.iter().flat_map(|board| board.ranks.iter()).for_each(|&rank| near[rank] = true);
        let far = (0..transport.size()).filter(|&rank| !near[rank]).collect();
        Agreement {
            rank: transport.rank(),
            size: transport.size(),
            records: Records::new(board.clone()),
            far,
            failure: None,
            answers: BTreeMap::new(),
            parted: BTreeMap::new(),
            doing: String::new(),
            board,
        }
    }

    pub fn board(&self) -> Option<&Board> {
        self.board.as_ref()
    }

    pub fn far(&self) -> &[usize] {
        &self.far
    }

    /// Whether another rank of the host has found something wrong: one look at one word.
    pub fn is_broken(&self) -> bool {
        self.board.as_ref().is_some_and(Board::is_broken)
    }

    /// Takes over what another rank of the host has found.
    pub fn adopt(&mut self) -> Option<Error> {
        let (_, finding) = self.board.as_ref()?.finding()?;
        Some(understood(&finding))
    }

    /// Something is wrong: says so to all ranks, unless one was faster; what counts from now on.
    pub fn find(&mut self, finding: &str, transport: &mut dyn Transport) -> Error {
        let first = self.board.as_ref().is_none_or(|board| board.find(finding));
        if first {
            let note = Note::Finding(finding.into()).encode();
            self.far.iter().for_each(|&rank| transport.tell(rank, &note));
        }
        self.adopt().unwrap_or_else(|| understood(finding))
    }

    /// Listens to far ranks, answers them, and returns what one of them has found.
    pub fn listen(&mut self, transport: &mut dyn Transport) -> Option<String> {
        if self.far.is_empty() {
            return None;
        }
        while let Some((rank, bytes)) = transport.hear() {
            match Note::decode(&bytes) {
                Some(Note::Finding(finding)) => {
                    if let Some(board) = &self.board {
                        board.find(&finding);
                    }
                    return Some(finding);
                }
                Some(Note::Question { number, known }) => {
                    let differs = known.iter().find(|(number, signature)| {
                        self.records.signature(*number).is_some_and(|mine| mine != *signature)
                    });
                    let differs = differs.map_or(0, |differs| differs.0);
                    let number = if differs > 0 { differs } else { number };
                    let (signature, words) = (self.records.signature(number), self.records.told(number));
                    let answer = Note::Answer {
                        begun: self.records.begun(),
                        differs,
                        number,
                        signature: signature.unwrap_or_default(),
                        words: words.unwrap_or_default(),
                        doing: self.doing.clone(),
                    };
                    transport.tell(rank, &answer.encode());
                }
                Some(Note::Answer { begun, differs, number, signature, words, doing }) => {
                    let called = match () {
                        () if begun < number => Called::NotYet(begun),
                        () => Called::This(signature, words),
                    };
                    self.answers.insert(rank, Answered { differs, number, called, doing });
                }
                Some(Note::Parting { how, words, known }) => {
                    self.parted.insert(rank, Parted { how, words, known: known.into_iter().collect() });
                }
                None => (),
            }
        }
        None
    }

    /// This rank makes no more calls. Ranks of its host see that on the board; of the others, its neighbours on the cube are told. Those
    /// that have gone and those that wait for more calls then meet somewhere, as the cube and the hosts hold all ranks together.
    pub fn part(&self, transport: &mut dyn Transport) {
        if self.failure.is_some() {
            return;
        }
        let how = if std::thread::panicking() { "has panicked" } else { LEFT };
        let words = self.records.told(self.records.begun()).unwrap_or_default();
        let note = Note::Parting { how: how.into(), words, known: self.records.known().collect() }.encode();
        let neighbours = (0..usize::BITS).map(|port| self.rank ^ 1 << port);
        neighbours.filter(|rank| self.far.binary_search(rank).is_ok()).for_each(|rank| transport.part(rank, &note));
    }

    /// Asks far ranks what they are in.
    pub fn ask(&mut self, ranks: &[usize], number: u64, transport: &mut dyn Transport) {
        let known = self.records.known().filter(|known| known.0 <= number).collect();
        let question = Note::Question { number, known }.encode();
        let there = ranks.iter().filter(|&rank| !self.parted.contains_key(rank));
        there.for_each(|&rank| transport.tell(rank, &question));
    }

    /// What a far rank has answered that it is doing, or how it has gone.
    pub fn answered(&self, rank: usize) -> Option<&str> {
        let parted = self.parted.get(&rank).map(|parted| parted.how.as_str());
        parted.or_else(|| self.answers.get(&rank).map(|answer| answer.doing.as_str()))
    }

    /// Compares what this rank has called with what the others say: what is wrong, if anything. `oldest` is the first call
    /// under way.
    pub fn judge(&mut self, oldest: u64, transport: &mut dyn Transport) -> Option<String> {
        let board = self.board.clone();
        for place in board.iter().flat_map(|board| 0..board.ranks.len()) {
            let Some(board) = board.as_ref().filter(|board| place != board.place) else { continue };
            let line = board.line(place);
            let other = |(number, signature): (u64, u64)| line.signature(number).is_some_and(|said| said != signature);
            let differs = self.records.known().find(|known| other(*known));
            if let Some((number, _)) = differs {
                return Some(self.mismatch(number, transport));
            }
            if let Some(how) = gone(line, oldest) {
                let begun = line.begun();
                return Some(lost(board.ranks[place], how, begun, &line.told(begun).unwrap_or_default()));
            }
        }
        if let Some(number) = self.far_differences().min() {
            return Some(self.mismatch(number, transport));
        }
        let gone = self.parted.iter().find(|(_, parted)| parted.begun() < oldest);
        gone.map(|(&rank, parted)| lost(rank, &parted.how, parted.begun(), &parted.words))
    }

    /// Calls in which far ranks are known to differ from this one.
    fn far_differences(&self) -> impl Iterator<Item = u64> + '_ {
        let answered = self.answers.values().map(|answer| answer.differs).filter(|&number| number > 0);
        let parted = self.parted.values().flat_map(|parted| {
            let other = |&(number, mine): &(u64, u64)| parted.known.get(&number).is_some_and(|said| *said != mine);
            self.records.known().find(other).map(|(number, _)| number)
        });
        answered.chain(parted)
    }

    /// Whether a far rank has said what it called under a number, or that it differs before; answers to earlier questions may still come.
    fn has_answered(&self, rank: usize, number: u64) -> bool {
        let answered = self.answers.get(&rank).is_some_and(|answer| answer.differs > 0 || answer.number == number);
        answered || self.parted.contains_key(&rank)
    }

    /// The first call in which a rank is known to differ from this one.
    fn first_difference(&self) -> Option<u64> {
        let differs = |line: &Line| {
            self.records.known().find(|(number, mine)| line.signature(*number).is_some_and(|said| said != *mine))
        };
        let near = self.board.iter().flat_map(|board| (0..board.ranks.len()).map(|place| board.line(place)));
        let near = near.filter_map(differs).map(|(number, _)| number);
        near.chain(self.far_differences()).min()
    }

    /// What all ranks called under a number, or the first time that they differed before, in words: not the same.
    pub fn mismatch(&mut self, number: u64, transport: &mut dyn Transport) -> String {
        if !self.far.is_empty() {
            self.answers.clear();
            let far = self.far.clone();
            self.ask(&far, number, transport);
            let start = Instant::now();
            while !self.far.iter().all(|&rank| self.has_answered(rank, number)) && start.elapsed() < ANSWERS {
                let mut done = Vec::new();
                // Who has found it first is not asked any more.
                if let Some(finding) = self.listen(transport) {
                    return finding;
                }
                // More messages of other calls may come.
                if transport.advance(false, 1, &mut done).is_err_and(|trouble| matches!(*trouble, Trouble::Failed(_))) {
                    break;
                }
                std::thread::yield_now();
            }
        }
        if let Some(first) = self.first_difference().filter(|&first| first < number) {
            return self.mismatch(first, transport);
        }
        // Those that are about to make the call are waited for, so that it is said what they call.
        let start = Instant::now();
        let late = |board: &Board| {
            let mut lines = (0..board.ranks.len()).map(|place| board.line(place));
            lines.any(|line| line.begun() < number && gone(line, number).is_none())
        };
        while self.board.as_ref().is_some_and(late) && start.elapsed() < LATE {
            std::thread::yield_now();
        }
        let mut called: Vec<(usize, Called)> = Vec::new();
        let own = match (self.records.signature(number), self.records.told(number)) {
            (Some(signature), words) => Called::This(signature, words.unwrap_or_default()),
            (None, _) if self.records.begun() < number => Called::NotYet(self.records.begun()),
            (None, _) => Called::Unknown,
        };
        called.push((self.rank, own));
        for place in self.board.iter().flat_map(|board| 0..board.ranks.len()) {
            let Some(board) = self.board.as_ref().filter(|board| place != board.place) else { continue };
            let line = board.line(place);
            let this = match (line.signature(number), line.told(number)) {
                (Some(signature), words) => Called::This(signature, words.unwrap_or_default()),
                (None, _) => match line.begun() {
                    begun if begun < number => match gone(line, number) {
                        Some(how) => Called::Gone(how.into()),
                        None => Called::NotYet(begun),
                    },
                    _ => Called::Unknown,
                },
            };
            called.push((board.ranks[place], this));
        }
        for &rank in &self.far {
            let answer = self.answers.get(&rank).filter(|answer| answer.number == number);
            let answer = answer.map(|answer| answer.called.clone());
            let answer = answer.or_else(|| Some(self.parted.get(&rank)?.called(number)));
            called.push((rank, answer.unwrap_or(Called::Unknown)));
        }
        called.sort_by_key(|(rank, _)| *rank);
        told(number, self.size, &called)
    }
}

/// A finding: a rank has gone, and this is how, after so many calls, of which the last one in these words.
fn lost(rank: usize, how: &str, begun: u64, words: &str) -> String {
    let last = match (begun, words) {
        (0, _) | (_, "") => String::new(),
        _ => format!("; its last call was {}", sentence(begun, words)),
    };
    format!("lost\n{rank}\nrank {rank} {how}{last}")
}

/// How a rank has gone without making the call of a number, or in the middle of one.
fn gone(line: &Line, number: u64) -> Option<&'static str> {
    let missing = line.begun() < number || line.ended() < line.begun();
    match line.presence() {
        Presence::Panicked if missing => Some("panicked"),
        Presence::Left if missing => Some(LEFT),
        Presence::There if missing && line.is_dead() => Some("has ended"),
        _ => None,
    }
}

/// A finding: what ranks called under a number, those first that deviate from most; [`AGREED`] if none does.
fn told(number: u64, size: usize, called: &[(usize, Called)]) -> String {
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

    #[test]
    fn notes_come_back_and_what_is_none_is_refused() {
        for note in [
            Note::Finding("lost\n3\nrank 3 has ended \u{2014}".into()),
            Note::Question { number: 7, known: vec![] },
            Note::Question { number: 7, known: vec![(6, u64::MAX), (7, 0)] },
            Note::Answer { begun: 9, differs: 0, number: 9, signature: 5, words: "a".into(), doing: String::new() },
            Note::Parting { how: "left".into(), words: String::new(), known: vec![(6, 1), (7, 2)] },
        ] {
            let bytes = note.encode();
            assert_eq!(Note::decode(&bytes), Some(note.clone()));
            assert_ne!(Note::decode(&bytes[..bytes.len() - 1]), Some(note));
        }
        assert_eq!(
            [&[][..], &[3], &[0, 255, 255, 255, 255, 255, 255, 255, 255]].map(Note::decode),
            [const { None }; 3]
        );
    }

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
