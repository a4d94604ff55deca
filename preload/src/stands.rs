//! For how many calls something stands, and how many a communicator has had: what every call is counted by, whether it is looked at or known.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Collective calls that have been made on a communicator, as all its ranks count them.
pub struct Counter {
    calls: AtomicU64,
    /// The one in which its ranks ask each other what there is to do.
    next_look: AtomicU64,
}

/// For how many calls something stands. There as long as the communicator.
pub struct Stands {
    left: AtomicU64,
    counter: Rc<Counter>,
}

impl Counter {
    /// With a look in such a call, and each time that there are twice as many.
    pub fn new(first_look: u64) -> Counter {
        Counter { calls: AtomicU64::new(0), next_look: AtomicU64::new(first_look) }
    }

    #[inline(always)]
    pub fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    /// One call more.
    #[inline(always)]
    pub fn count(&self) {
        self.calls.store(self.calls() + 1, Relaxed);
    }

    /// Whether it is time for a look, in the call that was last counted if that can wait for other ranks.
    pub fn is_due(&self) -> bool {
        self.calls() >= self.next_look.load(Relaxed)
    }

    /// Ranks look now, and not again before such a call.
    pub fn looks(&self, not_before: u64) {
        let mut next = self.next_look.load(Relaxed);
        while next <= self.calls() || next < not_before {
            next *= 2;
        }
        self.next_look.store(next, Relaxed);
    }

    /// There is nothing to look for any more.
    pub fn settle(&self) {
        self.next_look.store(u64::MAX, Relaxed);
    }
}

impl Stands {
    /// For no call of those yet.
    pub fn of(counter: &Rc<Counter>) -> Stands {
        Stands { left: AtomicU64::new(0), counter: Rc::clone(counter) }
    }

    /// For more calls than a program makes.
    pub fn always(counter: &Rc<Counter>) -> Stands {
        let always = Stands::of(counter);
        always.stand(u64::MAX);
        always
    }

    pub fn counter(&self) -> &Rc<Counter> {
        &self.counter
    }

    pub fn stand(&self, calls: u64) {
        self.left.store(calls, Relaxed);
    }

    /// Uses up a call that has been counted, if there is one left.
    #[inline(always)]
    pub fn use_up(&self) -> bool {
        let left = self.left.load(Relaxed);
        if left > 0 {
            self.left.store(left - 1, Relaxed);
        }
        left > 0
    }

    /// Counts a call and uses it up, if there is one left, and the ranks do not look in it.
    #[inline(always)]
    pub fn count(&self) -> bool {
        self.counter.calls() + 1 < self.counter.next_look.load(Relaxed) && self.count_started()
    }

    /// The same of a call that is only started, in which ranks cannot look.
    #[inline(always)]
    pub fn count_started(&self) -> bool {
        let counts = self.use_up();
        if counts {
            self.counter.count();
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_counted_once_and_not_known_when_ranks_look_in_it() {
        let counter = Rc::new(Counter::new(4));
        let stands = Stands::of(&counter);
        assert!(!stands.count());
        stands.stand(5);
        assert_eq!([(); 4].map(|()| stands.count()), [true, true, true, false]);
        assert_eq!((counter.calls(), counter.is_due()), (3, false));
        counter.count();
        assert!(counter.is_due());
        counter.looks(0);
        assert!(!counter.is_due());
        // Two are left; the next look is in the eighth.
        assert_eq!([(); 3].map(|()| stands.count()), [true, true, false]);
        assert_eq!(counter.calls(), 6);
        let always = Stands::always(&counter);
        assert_eq!([(); 2].map(|()| always.count()), [true, false]);
        assert_eq!(([(); 2].map(|()| always.count_started()), counter.calls()), ([true; 2], 9));
        counter.settle();
        assert_eq!([(); 100].map(|()| always.count()), [true; 100]);
    }
}
