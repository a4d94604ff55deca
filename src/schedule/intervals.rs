//! Disjoint intervals in ascending order, each with a value: where data lies, and who uses it.
//!
//! Most schedules use memory from the front to the back, or in a ring: a look begins where the last one ended. As others go back and
//! forth among very many intervals, these are in chunks, so that it costs little to put one anywhere.

use std::cell::Cell;
use std::ops::Range;

/// The most intervals in a chunk.
const CHUNK: usize = 32;

/// How far a look goes from where the last one ended before it begins anew.
const STEPS: usize = 4;

/// What holds over an interval.
pub(super) trait Value: Copy {
    /// What holds from `distance` beyond the beginning on.
    fn beyond(self, distance: usize) -> Self;
}

/// An interval and what holds over it.
#[derive(Clone, Copy)]
pub(super) struct Interval<V> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: V,
}

impl<V: Value> Interval<V> {
    /// Loses what is before `at`.
    fn begin_at(&mut self, at: usize) {
        self.value = self.value.beyond(at - self.start);
        self.start = at;
    }
}

/// A place among the intervals: that of one of them, or, behind the last one, that of a chunk which is not there.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    chunk: usize,
    index: usize,
}

/// Disjoint intervals, none of them empty.
pub(super) struct Intervals<V> {
    /// None of them empty, either.
    chunks: Vec<Vec<Interval<V>>>,
    /// Where the last look ended.
    last: Cell<Position>,
}

impl<V> Default for Intervals<V> {
    fn default() -> Self {
        Intervals { chunks: Vec::new(), last: Cell::default() }
    }
}

impl<V: Value> Intervals<V> {
    /// The first interval that ends beyond `at`.
    pub(super) fn find(&self, at: usize) -> Position {
        let found = self.near(at).unwrap_or_else(|| {
            let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| last.end <= at));
            let index = self.chunks.get(chunk).map_or(0, |chunk| chunk.partition_point(|interval| interval.end <= at));
            Position { chunk, index }
        });
        self.last.set(found);
        found
    }

    /// The same if it is within a few steps of where the last look ended.
    fn near(&self, at: usize) -> Option<Position> {
        let mut here = self.last.get();
        for _ in 0..STEPS {
            if self.get(here).is_some_and(|interval| interval.end <= at) {
                here = self.after(here);
                continue;
            }
            match self.before(here) {
                Some(before) if self.get(before).is_some_and(|interval| interval.end > at) => here = before,
                _ => return Some(here),
            }
        }
        None
    }

    /// The interval at a position.
    pub(super) fn get(&self, position: Position) -> Option<&Interval<V>> {
        self.chunks.get(position.chunk)?.get(position.index)
    }

    /// The same, to change it.
    pub(super) fn get_mut(&mut self, position: Position) -> Option<&mut Interval<V>> {
        self.chunks.get_mut(position.chunk)?.get_mut(position.index)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Interval<V>> {
        self.chunks.iter().flatten()
    }

    /// The position behind that of an interval.
    pub(super) fn after(&self, Position { chunk, index }: Position) -> Position {
        match self.chunks.get(chunk) {
            Some(intervals) if index + 1 < intervals.len() => Position { chunk, index: index + 1 },
            Some(_) => Position { chunk: chunk + 1, index: 0 },
            None => Position { chunk, index },
        }
    }

    /// The position before another one, if there is one.
    pub(super) fn before(&self, Position { chunk, index }: Position) -> Option<Position> {
        match (chunk, index) {
            (0, 0) => None,
            (_, 0) => Some(Position { chunk: chunk - 1, index: self.chunks[chunk - 1].len() - 1 }),
            _ => Some(Position { chunk, index: index - 1 }),
        }
    }

    /// Puts an interval before the one at a position, and says where it is now.
    pub(super) fn insert(&mut self, position: Position, interval: Interval<V>) -> Position {
        let Position { mut chunk, mut index } = position;
        if index == 0 && chunk > 0 && (chunk == self.chunks.len() || self.chunks[chunk - 1].len() < CHUNK) {
            chunk -= 1;
            index = self.chunks[chunk].len();
        }
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        if self.chunks[chunk].len() == CHUNK {
            // What comes last begins a chunk; elsewhere either half has room.
            let half = if index == CHUNK { CHUNK } else { CHUNK / 2 };
            let mut behind = Vec::with_capacity(CHUNK);
            behind.extend(self.chunks[chunk].drain(half..));
            self.chunks.insert(chunk + 1, behind);
            if index >= half {
                chunk += 1;
                index -= half;
            }
        }
        self.chunks[chunk].insert(index, interval);
        let there = Position { chunk, index };
        self.last.set(there);
        there
    }

    /// Cuts the interval at a position in two at `at`, which is inside; gives the position of the first part.
    pub(super) fn cut(&mut self, position: Position, at: usize) -> Position {
        let Some(interval) = self.get_mut(position) else { return position };
        let first = Interval { end: at, ..*interval };
        interval.begin_at(at);
        self.insert(position, first)
    }

    /// Lets a value hold over `start..end`, whatever did.
    pub(super) fn put(&mut self, start: usize, end: usize, value: V) {
        match self.get_mut(self.find(start)) {
            Some(interval) if (interval.start, interval.end) == (start, end) => interval.value = value,
            _ => {
                let at = self.remove(start, end);
                self.insert(at, Interval { start, end, value });
            }
        }
    }

    /// Takes away what is within `start..end`, and says where it was.
    pub(super) fn remove(&mut self, start: usize, end: usize) -> Position {
        let mut position = self.find(start);
        while let Some(interval) = self.get_mut(position).filter(|interval| interval.start < end) {
            if interval.start < start && interval.end > end {
                position = self.cut(position, start);
                position = self.after(position);
            } else if interval.start < start {
                interval.end = start;
                position = self.after(position);
            } else if interval.end > end {
                interval.begin_at(end);
            } else {
                position = self.drop_within(position, end);
            }
        }
        self.last.set(position);
        position
    }

    /// Takes away the intervals of one chunk, from a position on, that end no later than `end`; what was behind them is there then.
    fn drop_within(&mut self, Position { chunk, index }: Position, end: usize) -> Position {
        let intervals = &mut self.chunks[chunk];
        let gone = intervals[index..].iter().take_while(|interval| interval.end <= end).count();
        intervals.drain(index..index + gone);
        if intervals.is_empty() {
            self.chunks.remove(chunk);
            Position { chunk, index: 0 }
        } else if index == intervals.len() {
            Position { chunk: chunk + 1, index: 0 }
        } else {
            Position { chunk, index }
        }
    }
}

impl Value for () {
    fn beyond(self, _: usize) {}
}

/// Positions without values: neighbours are one interval.
impl Intervals<()> {
    /// Adds positions, and tells which are new.
    pub(super) fn cover(&mut self, positions: Range<usize>, mut new: impl FnMut(Range<usize>)) {
        let Range { mut start, mut end } = positions;
        if start >= end {
            return;
        }
        let mut reached = start;
        let mut at = self.find(start.saturating_sub(1));
        while let Some(&Interval { start: from, end: to, .. }) = self.get(at).filter(|interval| interval.start <= end) {
            if from > reached {
                new(reached..from);
            }
            (start, end) = (start.min(from), end.max(to));
            reached = reached.max(to);
            at = self.after(at);
        }
        if reached < end {
            new(reached..end);
        }
        self.put(start, end, ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Value for usize {
        fn beyond(self, distance: usize) -> usize {
            self + distance
        }
    }

    /// All intervals, in order; none of them, and no chunk, is empty.
    fn all(intervals: &Intervals<usize>) -> Vec<Interval<usize>> {
        assert!(intervals.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
        let all: Vec<_> = intervals.iter().copied().collect();
        assert!(all.iter().all(|interval| interval.start < interval.end));
        assert!(all.windows(2).all(|pair| pair[0].end <= pair[1].start));
        all
    }

    /// Against a list of positions, in several chunks, looked at from anywhere.
    #[test]
    fn intervals_are_put_cut_taken_and_found() {
        const POSITIONS: usize = 4000;
        let mut seed = 7u64;
        let mut next = move |bound: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % bound
        };
        let (mut intervals, mut values) = (Intervals::<usize>::default(), vec![None; POSITIONS]);
        let mut most = 0;
        for step in 0..20_000 {
            let start = next(POSITIONS);
            let end = (start + 1 + next(if step % 1000 == 0 { 1000 } else { 4 })).min(POSITIONS);
            let at = intervals.remove(start, end);
            values[start..end].fill(None);
            if step % 3 > 0 {
                let value = next(1 << 20);
                intervals.insert(at, Interval { start, end, value });
                (start..end).for_each(|at| values[at] = Some(value + at - start));
            }
            let at = next(POSITIONS);
            let found = intervals.get(intervals.find(at)).map_or(POSITIONS, |interval| interval.start.max(at));
            assert_eq!((at..POSITIONS).find(|&at| values[at].is_some()).unwrap_or(POSITIONS), found);
            if step % 50 == 0 {
                let mut listed = vec![None; POSITIONS];
                for Interval { start, end, value } in all(&intervals) {
                    (start..end).for_each(|at| listed[at] = Some(value.beyond(at - start)));
                }
                assert_eq!(listed, values);
            }
            most = most.max(intervals.chunks.len());
        }
        assert!(most > 10);
    }

    #[test]
    fn positions_are_covered_once() {
        let mut positions = Intervals::<()>::default();
        let mut cover = |range| {
            let mut new = Vec::new();
            positions.cover(range, |part| new.push((part.start, part.end)));
            new
        };
        assert_eq!(cover(20..30), [(20, 30)]);
        assert_eq!(cover(10..15), [(10, 15)]);
        assert_eq!(cover(5..40), [(5, 10), (15, 20), (30, 40)]);
        assert_eq!(cover(4..5), [(4, 5)]);
        assert_eq!(cover(40..41), [(40, 41)]);
        assert_eq!(cover(50..50), []);
        assert!(matches!(positions.chunks[..], [ref one] if matches!(one[..], [Interval { start: 4, end: 41, .. }])));
    }

    /// Forwards, backwards, from both ends, and backwards to full chunks: chunks are at least half full but for the last one.
    #[test]
    fn chunks_are_filled() {
        let orders = [
            |i: usize| i,
            |i: usize| 9999 - i,
            |i: usize| if i.is_multiple_of(2) { i / 2 } else { 9999 - i / 2 },
            |i: usize| if i < 100 * CHUNK { i } else { 9999 + 100 * CHUNK - i },
        ];
        for order in orders {
            let mut intervals = Intervals::<usize>::default();
            for start in (0..10_000).map(order) {
                let at = intervals.find(start);
                intervals.insert(at, Interval { start, end: start + 1, value: 0 });
            }
            assert_eq!(all(&intervals).len(), 10_000);
            assert!(intervals.chunks.len() <= 2 * 10_000 / CHUNK + 2, "{}", intervals.chunks.len());
        }
    }
}
