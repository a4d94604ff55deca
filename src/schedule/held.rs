//! What a rank holds, and where.

use super::intervals::{Interval, Intervals, Value};
use crate::collective::Buffer;

/// Which intervals of the space the rank holds, and where.
#[derive(Default)]
pub(super) struct Held {
    intervals: Intervals<Place>,
}

/// A buffer and an offset.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place(Buffer, usize);

impl Value for Place {
    fn beyond(self, distance: usize) -> Place {
        Place(self.0, self.1 + distance)
    }
}

impl Held {
    /// The run from `at`, at most to `limit`: its end and where it lies.
    pub fn at(&self, at: usize, limit: usize) -> Option<(usize, Buffer, usize)> {
        let interval = self.intervals.get(self.intervals.find(at)).filter(|interval| interval.start <= at)?;
        let Place(buffer, offset) = interval.value.beyond(at - interval.start);
        Some((interval.end.min(limit), buffer, offset))
    }

    /// The first position after `at` where what is held begins.
    pub fn next(&self, at: usize) -> Option<usize> {
        let found = self.intervals.find(at);
        let begins = |position| self.intervals.get(position).map(|interval| interval.start);
        begins(found).filter(|&start| start > at).or_else(|| begins(self.intervals.after(found)))
    }

    pub fn remove(&mut self, start: usize, end: usize) {
        self.intervals.remove(start, end);
    }

    pub fn insert(&mut self, start: usize, end: usize, buffer: Buffer, offset: usize) {
        if start >= end {
            return;
        }
        let value = Place(buffer, offset);
        let at = self.intervals.remove(start, end);
        let last = self.intervals.before(at).and_then(|before| self.intervals.get_mut(before));
        match last {
            Some(last) if last.end == start && last.value.beyond(start - last.start) == value => last.end = end,
            _ => {
                self.intervals.insert(at, Interval { start, end, value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_intervals_are_cut_and_replaced() {
        let mut held = Held::default();
        held.insert(0, 10, Buffer::Send, 100);
        held.insert(4, 6, Buffer::Scratch, 0);
        assert_eq!(held.at(2, 10), Some((4, Buffer::Send, 102)));
        assert_eq!(held.at(4, 5), Some((5, Buffer::Scratch, 0)));
        assert_eq!(held.at(7, 10), Some((10, Buffer::Send, 107)));
        held.remove(1, 9);
        assert_eq!(held.at(5, 10), None);
        assert_eq!(held.next(1), Some(9));
        assert_eq!(held.at(9, 10), Some((10, Buffer::Send, 109)));
    }
}
