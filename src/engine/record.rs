//! What a rank has called: a number, a signature and words for each call on a communicator, for itself and on the board.

use super::arguments::Arguments;
use crate::executor::board::{Board, CALL_WORDS, HISTORY, KEPT};
use crate::executor::caller;
use crate::executor::Stamp;
use crate::hash::Fnv;
use crate::plan::Plan;
use std::panic::Location;
use std::rc::Rc;

/// The signature of a call that was refused.
pub(crate) const REFUSED: u64 = 1;
/// Characters of a source file's name that are told.
const FILE: usize = 64;

/// Hashes of the types of elements: those of numbers cost nothing.
pub(crate) fn kind<T: 'static>() -> u64 {
    use std::any::TypeId;
    let numbers = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<u128>(),
        TypeId::of::<usize>(),
        TypeId::of::<i8>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<i128>(),
        TypeId::of::<isize>(),
        TypeId::of::<f32>(),
        TypeId::of::<f64>(),
    ];
    let this = TypeId::of::<T>();
    match numbers.iter().position(|number| *number == this) {
        Some(place) => place as u64 + 1,
        None => Fnv::of(std::any::type_name::<T>()),
    }
}

/// The number of a call, and its words.
#[derive(Clone, Default)]
struct Words {
    number: u64,
    text: Option<Rc<str>>,
}

/// The calls of one rank on a communicator.
pub(super) struct Records {
    begun: u64,
    ended: u64,
    /// A hash of the signatures of all calls so far.
    chain: u64,
    signatures: [u64; HISTORY as usize],
    words: Vec<Words>,
    board: Option<Board>,
}

impl Records {
    pub fn new(board: Option<Board>) -> Records {
        let words = vec![Words::default(); KEPT as usize];
        Records { begun: 0, ended: 0, chain: 0, signatures: [0; HISTORY as usize], words, board }
    }

    /// The number of the last call.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// There have been so many calls before the first one, which are none of these.
    #[cfg(feature = "mpi")]
    pub fn count_on(&mut self, calls: u64) {
        (self.begun, self.ended) = (calls, calls);
        if let Some(board) = &self.board {
            board.mine().begin(calls, 0);
            board.mine().end(calls, calls + 1);
        }
    }

    /// A call begins.
    #[inline]
    pub fn begin(&mut self, plan: &Plan, arguments: &Arguments) -> Stamp {
        let own = arguments.signature();
        // Their order in the sum is of no matter: each is spread over all bits first.
        let signature = plan.signature ^ own.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
        let number = self.begun + 1;
        let text = plan.told(own, arguments.at, || described(plan, arguments));
        let words = &mut self.words[(number % KEPT) as usize];
        let same = words.text.as_ref().is_some_and(|last| Rc::ptr_eq(last, &text));
        // The words are there before the number is: whoever sees the one finds the other.
        if let Some(board) = &self.board {
            if same {
                board.mine().tell_again(number);
            } else {
                board.mine().tell(number, &text);
            }
        }
        *words = Words { number, text: Some(text) };
        self.note(signature);
        Stamp { number, signature: self.chain }
    }

    /// A call has been refused before it began; the first that is under way, if there is one.
    pub fn refuse(&mut self, collective: &str, why: &str, at: &Location, oldest: Option<u64>) {
        let number = self.begun + 1;
        let place = place(at);
        // As much as there is room for on the board, so that all ranks have the same words.
        let mut end = why.len().min(CALL_WORDS - collective.len() - place.len() - 2);
        while !why.is_char_boundary(end) {
            end -= 1;
        }
        let text = format!("{collective}\n{}\n{place}", &why[..end]);
        if let Some(board) = &self.board {
            board.mine().tell(number, &text);
        }
        self.words[(number % KEPT) as usize] = Words { number, text: Some(text.into()) };
        self.note(REFUSED);
        self.end(oldest);
    }

    fn note(&mut self, signature: u64) {
        self.begun += 1;
        self.chain = (self.chain.rotate_left(5) ^ signature).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.signatures[(self.begun % HISTORY) as usize] = signature;
        if let Some(board) = &self.board {
            board.mine().begin(self.begun, signature);
        }
    }

    /// A call is over; the first that is not, if there is one.
    pub fn end(&mut self, oldest: Option<u64>) {
        self.ended += 1;
        if let Some(board) = &self.board {
            board.mine().end(self.ended, oldest.unwrap_or(self.begun + 1));
        }
    }

    /// The last calls whose signatures are known, the first of them first.
    pub fn known(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.begun.saturating_sub(HISTORY - 1).max(1);
        (first..=self.begun).map(|number| (number, self.signatures[(number % HISTORY) as usize]))
    }

    pub fn signature(&self, number: u64) -> Option<u64> {
        self.known().find(|known| known.0 == number).map(|known| known.1)
    }

    /// The words of a call.
    pub fn told(&self, number: u64) -> Option<String> {
        let words = &self.words[(number % KEPT) as usize];
        let text = words.text.as_ref().filter(|_| words.number == number && number > 0)?;
        Some(text.to_string())
    }
}

/// A call in words: its collective, its arguments, and where it is made, a line each.
#[cold]
fn described(plan: &Plan, arguments: &Arguments) -> String {
    let call = &plan.call;
    let (element, operation) = arguments.words();
    let blocks = if call.layout.is_some() { "blocks of up to " } else { "" };
    let mut text = format!("{}\n{blocks}{} x {element}", call.collective, call.count);
    if let Some(operation) = operation {
        text += &format!(", {}", operation.to_lowercase());
    }
    if call.collective.has_root() {
        text += &format!(", root {}", call.root);
    }
    if call.collective.has_peer() {
        text += &format!(", peer {}", call.peer);
    }
    if call.in_place {
        text += ", in place";
    }
    if let Some(besides) = &arguments.besides {
        text += &format!(", {besides}");
    }
    if let Some(permutation) = &call.permutation {
        let first: Vec<String> = permutation.iter().take(8).map(ToString::to_string).collect();
        let more = if permutation.len() > 8 { " ..." } else { "" };
        text += &format!(", permutation {}{more}", first.join(" "));
    }
    if let Some(avoid) = &call.avoid {
        let links: Vec<String> = avoid.links().take(4).map(|(a, b)| format!("{a}-{b}")).collect();
        text += &format!(", avoiding {}", links.join(" "));
    }
    text += &format!(", {} {}", plan.choice.algorithm.name, plan.choice.parameters.form());
    if let Some(packet) = plan.choice.parameters.packet {
        text += &format!(" packet {packet}");
    }
    text + "\n" + &place(arguments.at)
}

fn place(at: &Location) -> String {
    if caller::is_interface() {
        return String::new();
    }
    let file = at.file();
    let mut start = file.len().saturating_sub(FILE);
    while !file.is_char_boundary(start) {
        start += 1;
    }
    format!("{}:{}", &file[start..], at.line())
}

/// A call's words with its number, as a sentence has them.
pub(super) fn sentence(number: u64, words: &str) -> String {
    let mut parts = words.splitn(3, '\n');
    let [collective, arguments, place] = [(); 3].map(|()| parts.next().unwrap_or_default());
    match place {
        "" => format!("{collective} (call {number}, {arguments})"),
        _ => format!("{collective} (call {number}, {arguments}) at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Element;
    use crate::collective::{Call, Collective};
    use crate::plan::tests::planned;
    use crate::schedule::Builder;
    use crate::select::Options;
    use std::collections::BTreeSet;

    fn plan(count: usize) -> Plan {
        planned(&Call::new(Collective::Broadcast, 2, count), &Options::default(), Builder::new().finish(0, 2, 0))
    }

    fn arguments<T: Element>(at: &'static Location<'static>) -> Arguments<'static> {
        Arguments::new::<T>(at, 0, &[][..], &mut [][..])
    }

    /// Whatever the order in which they come, be it that of no other number of calls.
    #[test]
    fn calls_that_come_again_are_put_into_words_once() {
        let (plans, here) = ([1, 2, 3].map(plan), Location::caller());
        let mut records = Records::new(None);
        let mut texts = BTreeSet::new();
        for plan in [0, 1, 2, 1, 0, 0, 2].into_iter().cycle().take(50).map(|nth: usize| &plans[nth]) {
            let Stamp { number, .. } = records.begin(plan, &arguments::<f64>(here));
            assert_eq!(records.told(number), Some(described(plan, &arguments::<f64>(here))));
            texts.extend(records.words.iter().flat_map(|words| &words.text).map(|text| text.as_ptr() as usize));
        }
        assert_eq!(texts.len(), plans.len());
    }

    /// Of the lines in which it is made and its elements, too, of which there are more than are kept.
    #[test]
    fn every_call_has_its_own_words() {
        let mut records = Records::new(None);
        let one = Location::caller();
        let other = Location::caller();
        for plan in [1, 2, 3].map(plan) {
            for at in [one, other, one] {
                for arguments in [
                    arguments::<f64>,
                    arguments::<u8>,
                    arguments::<i8>,
                    arguments::<u16>,
                    arguments::<i16>,
                    arguments::<u32>,
                    arguments::<f64>,
                ] {
                    let Stamp { number, .. } = records.begin(&plan, &arguments(at));
                    assert_eq!(records.told(number), Some(described(&plan, &arguments(at))));
                }
            }
        }
        assert_eq!(records.told(records.begun() - KEPT), None);
    }
}
