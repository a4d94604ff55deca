//! The parts of a long call on one vector: calls of their own on a stretch of it each, carried out one after the other.
//!
//! All but the last are of the same length, and so the same schedule: a rank plans one, or two, however long the vector is. In shared
//! memory a packet is there in microseconds, and a plan of all would keep the others waiting; over links it is a small part of the call.

use crate::collective::{Blocks, Call};
use crate::executor::memory::Span;
use crate::schedule::{Beginning, Schedule};

/// Packets of a part at least. Fewer would be under way by the time the next part is begun.
const LEAST: usize = 64;
/// Parts at most: what is planned is then a few thousandths of the call.
const MOST: usize = 16;

/// What a rank does in a part, and with what that begins.
pub(crate) struct Part {
    pub schedule: Schedule,
    pub beginning: Beginning,
}

impl Part {
    fn of(schedule: Schedule) -> Part {
        Part { beginning: schedule.beginning(), schedule }
    }
}

/// The parts of a call.
pub(crate) struct Parts {
    pub number: usize,
    /// Elements of each, if there are several; of the last at most.
    count: usize,
    first: Part,
    /// The last, if it is shorter.
    last: Option<Part>,
}

impl Parts {
    /// Of a call with packets of so many elements, between ranks that all share one memory or not. `schedule` makes what a rank does in
    /// a call.
    pub fn of(call: &Call, packet: Option<usize>, shared: bool, schedule: impl Fn(&Call) -> Schedule) -> Parts {
        let count = length(call, packet.filter(|_| shared));
        let number = call.count.div_ceil(count.max(1)).max(1);
        let made = |count| Part::of(schedule(&Call { count, ..call.clone() }));
        let rest = call.count - (number - 1) * count;
        Parts { number, count, first: made(count), last: (rest < count).then(|| made(rest)) }
    }

    pub fn part(&self, nth: usize) -> &Part {
        match &self.last {
            Some(last) if nth + 1 == self.number => last,
            _ => &self.first,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        (0..self.number).map(|nth| self.part(nth))
    }

    /// What is planned, each once.
    pub fn planned(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.first).chain(&self.last)
    }

    /// What a part is of a buffer, which holds the vector or nothing.
    pub fn span(&self, buffer: Span, nth: usize, element: usize) -> Span {
        if self.number == 1 || buffer.len() == 0 {
            return buffer;
        }
        buffer.from(nth * self.count * element).first(self.count * element)
    }
}

/// Elements of each part: a function of nothing that was measured, as the order in which a reduction combines may depend on it.
fn length(call: &Call, packet: Option<usize>) -> usize {
    let (Blocks::Parts, Some(packet)) = (call.collective.meaning().blocks, packet) else {
        return call.count;
    };
    let packets = call.count.div_ceil(packet);
    let number = (packets / LEAST).min(MOST);
    if number < 2 {
        return call.count;
    }
    // Without a shorter last part there is none to be planned; otherwise its packets, too, are whole but for the last.
    match call.count % number {
        0 => call.count / number,
        _ => call.count.div_ceil(number).next_multiple_of(packet),
    }
}
