//! Whether all ranks make the same calls: what a rank makes of what the others tell, and how it is told to all.
//!
//! A finding is final for the communicator, and the same words on every rank. It goes to the ranks of the host by the board, and to
//! others by messages.

use super::finding::{gone, lost, told, understood, Called, AGREED, LEFT};
use super::note::Note;
use super::record::Records;
use crate::error::Error;
use crate::executor::board::{cut, Board, Line, FINDING_WORDS};
use crate::executor::{Transport, Trouble};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long answers of ranks on other hosts are waited for, before it is said what is wrong.
const ANSWERS: Duration = Duration::from_millis(600);
/// How long ranks of this host are waited for that have not made a call, before it is said what is wrong with it.
const LATE: Duration = Duration::from_millis(50);

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
    /// Far ranks that have been asked and have not answered yet.
    asked: BTreeSet<usize>,
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
            asked: BTreeSet::new(),
            parted: BTreeMap::new(),
            doing: String::new(),
            board,
        }
    }

    pub fn board(&self) -> Option<&Board> {
        self.board.as_ref()
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
        // As much as a board holds, so that all say the same.
        let finding = cut(finding, FINDING_WORDS);
        let first = self.board.as_ref().is_none_or(|board| board.find(finding));
        if first {
            let note = Note::Finding(finding.into()).encode();
            self.far.iter().for_each(|&rank| transport.tell(rank, &note));
        }
        self.adopt().unwrap_or_else(|| understood(finding))
    }

    /// What a far rank has told, and who.
    pub fn hear(&self, transport: &mut dyn Transport) -> Option<(usize, Vec<u8>)> {
        if self.far.is_empty() {
            return None;
        }
        transport.hear()
    }

    /// Notes what a far rank has told, answers it, and returns what it has found.
    pub fn heed(&mut self, rank: usize, bytes: &[u8], transport: &mut dyn Transport) -> Option<String> {
        match Note::decode(bytes)? {
            Note::Finding(finding) => {
                if let Some(board) = &self.board {
                    board.find(&finding);
                }
                // Of two findings the host's first one counts, on all its ranks.
                let first = self.board.as_ref().and_then(Board::finding);
                return Some(first.map_or(finding, |(_, first)| first));
            }
            Note::Question { number, known } => {
                let differs = known
                    .iter()
                    .find(|(number, signature)| self.records.signature(*number).is_some_and(|mine| mine != *signature));
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
            Note::Answer { begun, differs, number, signature, words, doing } => {
                let called = match () {
                    () if begun < number => Called::NotYet(begun),
                    () => Called::This(signature, words),
                };
                self.asked.remove(&rank);
                self.answers.insert(rank, Answered { differs, number, called, doing });
            }
            Note::Parting { how, words, known } => {
                self.parted.insert(rank, Parted { how, words, known: known.into_iter().collect() });
            }
        }
        None
    }

    /// Heeds all that far ranks have told; what one of them has found.
    pub fn listen(&mut self, transport: &mut dyn Transport) -> Option<String> {
        while let Some((rank, bytes)) = self.hear(transport) {
            if let Some(finding) = self.heed(rank, &bytes, transport) {
                return Some(finding);
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

    /// Asks all far ranks what they are in by now; what they have answered before is forgotten.
    pub fn ask_all(&mut self, number: u64, transport: &mut dyn Transport) {
        self.answers.clear();
        self.ask(&self.far.clone(), number, transport);
    }

    /// Asks far ranks what they are in.
    fn ask(&mut self, ranks: &[usize], number: u64, transport: &mut dyn Transport) {
        let known = self.records.known().filter(|known| known.0 <= number).collect();
        let question = Note::Question { number, known }.encode();
        for &rank in ranks.iter().filter(|&rank| !self.parted.contains_key(rank)) {
            self.asked.insert(rank);
            transport.tell(rank, &question);
        }
    }

    /// The same, of those of these ranks that are far and have answered what they were asked before: one that does not look for an hour is not
    /// sent questions for so long.
    pub fn ask_again(&mut self, ranks: &[usize], number: u64, transport: &mut dyn Transport) {
        let ready = |rank: &&usize| self.far.binary_search(rank).is_ok() && !self.asked.contains(rank);
        let ready: BTreeSet<usize> = ranks.iter().filter(ready).copied().collect();
        self.ask(&Vec::from_iter(ready), number, transport);
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
                return self.difference(number, transport);
            }
            if let Some(how) = gone(line, oldest) {
                let begun = line.begun();
                return Some(lost(board.ranks[place], how, begun, &line.told(begun).unwrap_or_default()));
            }
        }
        if let Some(number) = self.far_differences().min() {
            return self.difference(number, transport);
        }
        let gone = self.parted.iter().find(|(_, parted)| parted.begun() < oldest);
        gone.map(|(&rank, parted)| lost(rank, &parted.how, parted.begun(), &parted.words))
    }

    /// What all ranks called under a number in which one was seen to differ, unless it does not.
    fn difference(&mut self, number: u64, transport: &mut dyn Transport) -> Option<String> {
        Some(self.mismatch(number, transport)).filter(|finding| finding != AGREED)
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
            self.ask_all(number, transport);
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
