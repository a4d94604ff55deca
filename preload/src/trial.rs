//! Whether a kind of call is ours is tried out: some calls are made by us, some by native MPI, and then all ranks decide alike.
//!
//! The choice of the library knows what its algorithms take, but of native MPI only what `hypercoll tune` has measured. So calls of one
//! collective and about one size are made in turns of several at first, ours before MPI's, and timed. Then the ranks take the largest of
//! their means, for each of both, and the lesser of the two makes such calls from now on. As programs have phases, that is tried again
//! later, ever longer and ever more rarely. Which turn it is depends on nothing but the number of such calls on the communicator, which
//! is the same on all ranks.
//!
//! Of blocks whose lengths no rank knows but their own two, calls of all sizes are one kind: ranks cannot agree on less. But each compares
//! what calls of its own sizes took: that long ones were all made by one of both tells nothing.

use crate::native::{self, ffi};
use crate::quick;
use crate::stands::{Counter, Stands};
use ffi::MPI_Comm;
use hypercoll::Error;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How much longer than MPI's our calls may take: differences below that are none.
const ALIKE: f64 = 1.03;

/// What is known of calls of one collective and one class.
pub struct Trial {
    calls: usize,
    ours: Times,
    natives: Times,
    verdict: Option<Who>,
    /// The last one that there was, and what a call took natively on this rank when it was found.
    last: Option<Who>,
    natively: Option<f64>,
    /// Calls for which the verdict stands yet, and how many trials there have been.
    stands: Box<Stands>,
    /// Until there is another verdict.
    until: Box<Stands>,
    trials: u32,
    /// How often turns have been made twice as long.
    doubled: u32,
}

/// Of calls about which size for this rank, as [`Class::Of`] has it, and the seconds that they took.
type Times = Vec<(u32, f64)>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    Ours,
    Native,
}

/// What is to be done with a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Who makes it.
    By(Who),
    /// Who makes it, and that it is timed.
    Timed(Who),
}

/// Calls about one size, as all ranks know it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Class {
    /// Sizes within a factor of four are alike: by the logarithm of the bytes to the base of 4, and 1.
    Of(u32),
    /// Ranks know but their own sizes.
    #[default]
    Any,
}

impl Class {
    /// That of calls about so many bytes.
    pub fn of(bytes: usize) -> Class {
        Class::Of(size(bytes))
    }

    /// Calls in a turn, and those at its beginning that are not timed; long calls need fewer.
    fn turn(self) -> (usize, usize) {
        match self {
            Class::Of(0..=6) => (24, 6),
            Class::Of(7..=9) | Class::Any => (8, 2),
            Class::Of(_) => (3, 1),
        }
    }
}

fn size(bytes: usize) -> u32 {
    bytes.checked_ilog2().map_or(0, |log| 1 + log / 2)
}

/// Each has two turns.
const TURNS: usize = 4;
/// For how many calls the first verdict stands, and the later ones four times as many each.
const STANDS: u64 = 1000;
const RAREST: u32 = 10;
/// Turns are made twice as long, so many times at most, when neither takes so many times as long as the other: what is clear needs no
/// closer look, and the slower one of the two would make ever more calls.
const LONGEST: u32 = 4;
const CLEAR: f64 = 2.0;

impl Trial {
    /// On a communicator that has had so many calls.
    pub fn new(counter: &Rc<Counter>) -> Trial {
        let (ours, natives) = (Times::new(), Times::new());
        let [stands, until] = [Stands::of(counter), Stands::always(counter)].map(Box::new);
        Trial {
            calls: 0,
            ours,
            natives,
            verdict: None,
            last: None,
            natively: None,
            stands,
            until,
            trials: 0,
            doubled: 0,
        }
    }

    /// What is to be done with the next call, of that name; all ranks of the communicator ask this together.
    ///
    /// # Errors
    /// As [`native::agree`]'s.
    ///
    /// # Safety
    /// A live communicator.
    pub unsafe fn next(&mut self, call: &'static str, class: Class, comm: MPI_Comm) -> Result<Next, Error> {
        if let Some(who) = self.verdict {
            if self.stands.use_up() {
                return Ok(Next::By(who));
            }
            (self.verdict, self.calls) = (None, 0);
        }
        let (length, untimed) = class.turn();
        let length = length << self.doubled;
        if self.calls == TURNS * length {
            let means = means(&std::mem::take(&mut self.ours), &std::mem::take(&mut self.natives));
            self.natively = Some(means[1]);
            let (who, clear) = decided(call, means, comm)?;
            (self.verdict, self.last) = (Some(who), Some(who));
            // Calls that were remembered by the last one would come to life again.
            quick::forget_of(&raw const *self.stands);
            quick::forget_of(&raw const *self.until);
            if !clear {
                self.doubled = LONGEST.min(self.doubled + 1);
            }
            self.stands.stand(STANDS << (2 * self.trials.min(RAREST)));
            self.trials += 1;
            return Ok(Next::By(who));
        }
        let who = if (self.calls / length).is_multiple_of(2) { Who::Ours } else { Who::Native };
        let timed = self.calls % length >= untimed;
        self.calls += 1;
        Ok(if timed { Next::Timed(who) } else { Next::By(who) })
    }

    /// For how many calls the verdict stands.
    pub fn stands(&self) -> &Stands {
        &self.stands
    }

    /// Whether it has been decided.
    pub fn is_over(&self) -> bool {
        self.verdict.is_some()
    }

    /// Until when it is decided for native MPI, if it last was. That changes in calls only in which ranks meet: a nonblocking call may come before
    /// another one on one rank, and after it on the next.
    pub fn found_native(&self) -> Option<&Stands> {
        (self.last == Some(Who::Native)).then_some(&self.until)
    }

    /// Our calls are made in other ways from now on. Until it has been seen how long they take, what was last decided is all that is known.
    pub fn begin_again(&mut self) {
        *self = Trial { last: self.last, ..Trial::new(self.stands.counter()) };
    }

    /// What a call takes natively on this rank, in the mean of what has been tried.
    pub fn natively(&self) -> Option<f64> {
        let so_far = || self.natives.iter().map(|(_, seconds)| seconds).sum::<f64>() / self.natives.len() as f64;
        self.natively.or_else(|| (!self.natives.is_empty()).then(so_far))
    }

    /// Notes what a timed call about so many bytes has taken.
    pub fn note(&mut self, who: Who, bytes: usize, seconds: f64) {
        let times = match who {
            Who::Ours => &mut self.ours,
            Who::Native => &mut self.natives,
        };
        times.push((size(bytes), seconds));
    }
}

/// What a call took in the mean that we made, and that MPI made, had both made as many of each size; of sizes of which both have made some. 0 if
/// there is none.
fn means(ours: &Times, natives: &Times) -> [f64; 2] {
    let sizes: BTreeSet<u32> = ours.iter().map(|&(size, _)| size).collect();
    let (mut sums, mut calls) = ([0.0; 2], 0);
    for size in sizes {
        let both = [ours, natives].map(|times| of_size(size, times));
        if let [Some((our_calls, ours)), Some((native_calls, natives))] = both {
            let many = our_calls + native_calls;
            sums = [sums[0] + many as f64 * ours, sums[1] + many as f64 * natives];
            calls += many;
        }
    }
    sums.map(|sum| sum / calls.max(1) as f64)
}

/// How many calls are of a size, if any, and their mean without the longest few, in which something else went on.
fn of_size(size: u32, times: &Times) -> Option<(usize, f64)> {
    let mut times: Vec<f64> = times.iter().filter(|(other, _)| *other == size).map(|&(_, seconds)| seconds).collect();
    times.sort_by(f64::total_cmp);
    let calls = times.len();
    times.truncate(calls - calls / 16);
    (calls > 0).then(|| (calls, times.iter().sum::<f64>() / times.len() as f64))
}

/// What follows from the means of all ranks, and whether it is clear.
unsafe fn decided(call: &'static str, means: [f64; 2], comm: MPI_Comm) -> Result<(Who, bool), Error> {
    let agreed = native::agree(call, means, ffi::RSMPI_DOUBLE, ffi::RSMPI_MAX, comm)?;
    let Some([ours, natives]) = agreed else { return Ok((Who::Ours, false)) };
    let who = if ours > ALIKE * natives { Who::Native } else { Who::Ours };
    Ok((who, ours > CLEAR * natives || natives > CLEAR * ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_are_calls_of_one_size() {
        let times = |calls: &[(u32, usize, f64)]| -> Times {
            calls.iter().flat_map(|&(size, many, seconds)| vec![(size, seconds); many]).collect()
        };
        assert_eq!(means(&times(&[(3, 12, 2.0)]), &times(&[(3, 12, 5.0)])), [2.0, 5.0]);
        // One of 16 was disturbed.
        assert_eq!(means(&times(&[(3, 15, 2.0), (3, 1, 90.0)]), &times(&[(3, 16, 5.0)])), [2.0, 5.0]);
        // All long ones were ours, and a few more than MPI's.
        assert_eq!(means(&times(&[(9, 8, 1000.0)]), &times(&[(3, 8, 30.0)])), [0.0; 2]);
        let ours = times(&[(9, 9, 100.0), (3, 3, 1.0)]);
        let natives = times(&[(9, 1, 300.0), (3, 11, 3.0)]);
        assert_eq!(means(&ours, &natives), [(10.0 * 100.0 + 14.0) / 24.0, (10.0 * 300.0 + 42.0) / 24.0]);
        assert_eq!(means(&Times::new(), &natives), [0.0; 2]);
    }

    #[test]
    fn sizes_within_a_factor_of_four_are_one_class() {
        assert_eq!([0, 1, 3, 4, 15, 16].map(size), [0, 1, 1, 2, 2, 3]);
        let turn = |bytes| Class::of(bytes).turn();
        assert_eq!(
            [8, 4095, 4096, (1 << 18) - 1, 1 << 18, 1 << 30].map(turn),
            [(24, 6), (24, 6), (8, 2), (8, 2), (3, 1), (3, 1)]
        );
    }
}
