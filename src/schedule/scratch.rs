//! The scratch memory of a rank: which parts of it are free, and from when on.

use super::intervals::{Interval, Intervals, Value};

/// As long as a rank's scratch memory is this small (in elements), no area is used twice, so that no receive has to wait for
/// an earlier one's data to leave.
pub(crate) const MEMORY_USED_ONCE: usize = 1 << 15;

/// Where nodes do not wait for each other's rounds, so many rounds more pass until an area is used again: a receive that is
/// early in its round must not wait for a send that is late in an earlier one.
const FLOWING_LAG: usize = 2;

/// The last round in which an area was used.
#[derive(Clone, Copy)]
struct LastRound(usize);

impl Value for LastRound {
    fn beyond(self, _: usize) -> LastRound {
        self
    }
}

/// Scratch memory: first fit among the areas that are free in the round at hand.
#[derive(Default)]
pub(super) struct Scratch {
    /// Elements of it so far.
    pub top: usize,
    /// Rounds beyond the next until an area that is free is used again.
    lag: usize,
    free: Intervals<LastRound>,
}

impl Scratch {
    /// `flows`: nodes do not wait for each other's rounds.
    pub fn of(flows: bool) -> Scratch {
        Scratch { lag: if flows { FLOWING_LAG } else { 0 }, ..Scratch::default() }
    }

    pub fn free(&mut self, offset: usize, len: usize, round: usize) {
        if len > 0 {
            self.free.put(offset, offset + len, LastRound(round));
        }
    }

    /// The offset of `len` elements that nothing uses in `round`.
    pub fn allocate(&mut self, len: usize, round: usize) -> usize {
        if len == 0 {
            return 0;
        }
        let mut run: Option<(usize, usize)> = None;
        let reusable = (self.top + len > MEMORY_USED_ONCE).then(|| self.free.iter());
        for &Interval { start, end, value: LastRound(used) } in reusable.into_iter().flatten() {
            if used + self.lag >= round {
                continue;
            }
            run = match run {
                Some((from, to)) if to == start => Some((from, end)),
                _ => Some((start, end)),
            };
            if run.is_some_and(|(from, to)| to - from >= len) {
                break;
            }
        }
        // A free run at the top may grow; any other must be long enough.
        let fits = |&(from, to): &(usize, usize)| to - from >= len || to == self.top;
        let offset = run.filter(fits).map_or(self.top, |(from, _)| from);
        let end = offset + len;
        self.free.remove(offset, end);
        self.top = self.top.max(end);
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_used_again_but_not_in_the_same_round() {
        let mut scratch = Scratch::default();
        let unit = MEMORY_USED_ONCE;
        assert_eq!(scratch.allocate(10 * unit, 0), 0);
        assert_eq!(scratch.allocate(5 * unit, 0), 10 * unit);
        scratch.free(0, 10 * unit, 1);
        assert_eq!(scratch.allocate(4 * unit, 1), 15 * unit, "still in use in round 1");
        assert_eq!(scratch.allocate(4 * unit, 2), 0);
        assert_eq!(scratch.allocate(6 * unit, 2), 4 * unit);
        scratch.free(10 * unit, 5 * unit, 2);
        scratch.free(15 * unit, 4 * unit, 2);
        assert_eq!(scratch.allocate(9 * unit, 3), 10 * unit, "neighbours are joined");
        scratch.free(10 * unit, 9 * unit, 3);
        assert_eq!(scratch.allocate(20 * unit, 4), 10 * unit, "the area at the top grows");
        assert_eq!(scratch.top, 30 * unit);
    }

    #[test]
    fn a_little_scratch_is_not_used_twice() {
        let mut scratch = Scratch::default();
        assert_eq!(scratch.allocate(100, 0), 0);
        scratch.free(0, 100, 0);
        assert_eq!(scratch.allocate(100, 5), 100);
        assert_eq!(scratch.allocate(MEMORY_USED_ONCE, 6), 200, "what is free does not suffice");
        assert_eq!(scratch.allocate(100, 7), 0, "the memory is no longer small");
    }
}
