//! Plans: what a rank is going to do in a call, and why. They are made once for every form of a call, and found again.
//!
//! Memory: [`MOST_PLANS`] plans at most, which hold [`MOST_HELD`] entries together, or a single one that holds more. What would
//! exceed that starts the cache afresh. The last plans of each of [`MOST_RECENT`] places stay at hand in any case, but long ones of calls with a layout, and what callers keep.
//! Each plan has the last [`MOST_TOLD`] of its calls in words. Calls with blocks of different lengths, which may be others every time, have a
//! cache of their own, an eighth of it, and places of their own: they drive out no others.

mod parts;

pub(crate) use parts::{Part, Parts};

use crate::collective::{Call, Known, Layout};
use crate::error::Result;
use crate::hash::Fnv;
use crate::schedule::Schedule;
use crate::select::{Choice, Options};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;
use std::hash::BuildHasher;
use std::panic::Location;
use std::rc::Rc;

/// Places of plans kept at hand, with two each.
const MOST_RECENT: usize = 32;
/// Plans kept.
const MOST_PLANS: usize = 4096;
/// What the plans kept hold together: [`Plan::entries`]. At about 40 bytes an entry, some 80 MB.
const MOST_HELD: usize = 1 << 21;
/// Of a plan's calls, so many are kept in words.
const MOST_TOLD: usize = 8;
/// By how much less there is room for calls with a layout.
const FEWER: usize = 8;

/// What a rank does in a call, ready to run, and how it came about.
pub(crate) struct Plan {
    pub call: Call,
    pub element: usize,
    /// What was asked for, if anything was.
    options: Option<Box<Options>>,
    pub choice: Choice,
    pub parts: Parts,
    /// [`Call::send_len`] and [`Call::receive_len`] of this rank.
    pub lengths: (usize, usize),
    /// A hash of the call, of what was asked for and of what was chosen: the same on all ranks that agree, whatever program they run.
    pub signature: u64,
    /// Its calls in words, as far as they have been needed.
    told: RefCell<Vec<Told>>,
}

/// The calls of a plan that are made in one line with such arguments, in words.
struct Told {
    arguments: u64,
    at: &'static Location<'static>,
    words: Rc<str>,
}

impl Plan {
    /// Of rank `rank` among ranks that all share one memory or not; `schedule` makes what it does in a call, be it a part of this one.
    pub fn new(
        call: &Call,
        element: usize,
        options: &Options,
        choice: Choice,
        (rank, shared): (usize, bool),
        schedule: impl Fn(&Call, &Choice) -> Schedule,
    ) -> Plan {
        let parts = Parts::of(call, choice.parameters.packet, shared, |part| schedule(part, &choice));
        let Choice { algorithm, parameters, .. } = &choice;
        let signature = Fnv::of(&(call.agreed(), element, options, algorithm.name, parameters, parts.number));
        let lengths = (call.send_len(rank), call.receive_len(rank));
        let options = (!options.is_empty()).then(|| Box::new(options.clone()));
        Plan { call: call.clone(), element, options, choice, parts, lengths, signature, told: RefCell::default() }
    }

    /// The call, if its messages are packets of blocks whose lengths no rank knows but their own two: a packet does not show that they agree.
    pub fn cut_apart(&self) -> Option<&Call> {
        let some_do_not_know = |layout: &Layout| layout.known() != Known::All;
        let cut = self.choice.parameters.packet.is_some();
        Some(&self.call).filter(|call| cut && call.layout.as_ref().is_some_and(some_do_not_know))
    }

    /// Whether it is that of such a call.
    fn is_of(&self, call: &Call, element: usize, options: Option<&Options>) -> bool {
        self.element == element && self.call == *call && self.options.as_deref() == options
    }

    /// A call in words that were found before, or are found now: to find them takes longer than a short call. `arguments` stands for all
    /// that differs between the calls of a plan that are made in one line.
    #[inline]
    pub fn told(&self, arguments: u64, at: &'static Location<'static>, describe: impl FnOnce() -> String) -> Rc<str> {
        let mut told = self.told.borrow_mut();
        if let Some(told) = told.iter().find(|told| told.arguments == arguments && std::ptr::eq(told.at, at)) {
            return Rc::clone(&told.words);
        }
        let words: Rc<str> = describe().into();
        told.truncate(MOST_TOLD - 1);
        told.insert(0, Told { arguments, at, words: Rc::clone(&words) });
        words
    }

    /// Operations, their ranges and dependencies, and what the call lists: blocks and targets. Several plans
    /// may share such a list; each counts it.
    fn entries(&self) -> usize {
        let listed = |Part { schedule, .. }: &Part| -> usize {
            let operations = schedule.operations().iter();
            operations.map(|o| 1 + schedule.ranges(o).len() + schedule.dependencies(o).len()).sum()
        };
        let blocks = self.call.layout.as_ref().map_or(0, Layout::listed);
        let targets = self.call.permutation.as_ref().map_or(0, |permutation| permutation.len());
        self.parts.planned().map(listed).sum::<usize>() + blocks + targets
    }
}

/// What a communicator has carried out last, and in how many seconds, where they were taken.
#[derive(Default)]
pub(crate) struct Last(pub Option<(Rc<Plan>, Option<f64>)>);

impl Last {
    pub fn note(&mut self, plan: &Rc<Plan>, seconds: Option<f64>) {
        match &mut self.0 {
            Some((last, time)) if Rc::ptr_eq(last, plan) => *time = seconds,
            last => *last = Some((Rc::clone(plan), seconds)),
        }
    }
}

/// Plans kept, as many as there is room for.
#[derive(Default)]
struct Kept {
    /// By a hash of what they are found by: of two with the same, the later one.
    plans: FxHashMap<u64, Rc<Plan>>,
    /// The sum of their entries.
    held: usize,
}

/// The plans kept.
#[derive(Default)]
pub(crate) struct Plans {
    /// Of calls without a layout, and with one.
    kept: [Kept; 2],
    /// The plans put there last, each in the place that a few of its numbers give it: looked at first, as comparing a call is faster than
    /// hashing all of it. A place has the last two, so that two calls in turn that fall on it do not drive each other out.
    recent: Vec<[Option<Rc<Plan>>; 2]>,
}

/// The place at hand of a call.
fn place(call: &Call, element: usize, options: Option<&Options>) -> usize {
    let name = options.and_then(|options| options.algorithm.as_ref());
    let name = name.map_or(0, |name| name.len() + name.bytes().next().map_or(0, usize::from));
    let small = call.root << 20 ^ (call.collective as usize) << 8 ^ element ^ name << 40;
    let numbers = [
        (call.count, 0x9e37_79b9_7f4a_7c15),
        (small, 0xc2b2_ae3d_27d4_eb4f),
        (options.and_then(|options| options.packet).unwrap_or(0), 0x1656_67b1_9e37_79f9),
    ];
    // Products of odd numbers, which do not wait for each other.
    let mixed = numbers.iter().fold(0, |mixed: u64, &(number, factor)| mixed ^ (number as u64).wrapping_mul(factor));
    let place = (mixed >> 59) as usize % MOST_RECENT;
    if call.layout.is_some() {
        MOST_RECENT + place / FEWER
    } else {
        place
    }
}

impl Plans {
    /// The plan of a call, made if it is not kept. Options, if there are any, say something.
    pub fn find(
        &mut self,
        call: &Call,
        element: usize,
        options: Option<&Options>,
        make: impl FnOnce() -> Result<Plan>,
    ) -> Result<Rc<Plan>> {
        let place = place(call, element, options);
        for plan in self.recent.get(place).into_iter().flatten().flatten() {
            if plan.is_of(call, element, options) {
                return Ok(Rc::clone(plan));
            }
        }
        let unequal = call.layout.is_some();
        let plan =
            self.kept[usize::from(unequal)].find(call, element, options, make, if unequal { FEWER } else { 1 })?;
        self.recent.resize(MOST_RECENT + MOST_RECENT / FEWER, [None, None]);
        // Lengths that are others every time make a plan each. To hash a call with a long one takes no part of its time.
        if !unequal || plan.entries() <= MOST_HELD / FEWER {
            let [last, other] = &mut self.recent[place];
            *other = last.replace(Rc::clone(&plan));
        }
        Ok(plan)
    }
}

impl Kept {
    /// The plan of a call, made if it is not kept, where there is room for so many times fewer.
    fn find(
        &mut self,
        call: &Call,
        element: usize,
        options: Option<&Options>,
        make: impl FnOnce() -> Result<Plan>,
        fewer: usize,
    ) -> Result<Rc<Plan>> {
        let hash = FxBuildHasher.hash_one((call, element, options));
        if let Some(plan) = self.plans.get(&hash).filter(|plan| plan.is_of(call, element, options)) {
            return Ok(Rc::clone(plan));
        }
        let plan = Rc::new(make()?);
        let entries = plan.entries();
        if self.plans.len() >= MOST_PLANS / fewer || self.held + entries > MOST_HELD / fewer {
            self.plans.clear();
            self.held = 0;
        }
        self.held += entries;
        if let Some(other) = self.plans.insert(hash, Rc::clone(&plan)) {
            self.held -= other.entries();
        }
        Ok(plan)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::algorithm::{registry::ALGORITHMS, Parameters, PortModel};
    use crate::collective::{Buffer, Collective};
    use crate::error::Error;
    use crate::schedule::{BufferRange, Builder};

    /// A plan of some sends, each of one range that depends on nothing.
    fn plan(call: &Call, sends: usize) -> Plan {
        let mut builder = Builder::new();
        for offset in 0..sends {
            builder.send(0, 1, &[BufferRange { buffer: Buffer::Send, offset, len: 1 }]);
        }
        planned(call, &Options::default(), builder.finish(0, 2, 0))
    }

    pub fn planned(call: &Call, options: &Options, schedule: Schedule) -> Plan {
        let parameters = Parameters::new(PortModel::OnePort);
        let choice = Choice { algorithm: &ALGORITHMS[0], parameters, predicted: 0.0, model: 0.0, why: String::new() };
        Plan::new(call, 1, options, choice, (0, false), |_, _| schedule.clone())
    }

    /// Looks a call up, whose plan has so many sends; the bounds hold after that.
    fn find(plans: &mut Plans, call: &Call, sends: usize) -> Rc<Plan> {
        let found = plans.find(call, 1, None, || Ok(plan(call, sends))).unwrap();
        assert!(plans.recent.len() <= MOST_RECENT + MOST_RECENT / FEWER);
        for (kept, fewer) in plans.kept.iter().zip([1, FEWER]) {
            assert!(kept.plans.len() <= MOST_PLANS / fewer);
            assert!(kept.held <= MOST_HELD / fewer || kept.plans.len() == 1);
            assert_eq!(kept.held, kept.plans.values().map(|plan| plan.entries()).sum::<usize>());
        }
        found
    }

    #[test]
    fn what_plans_hold_is_counted() {
        let call = Call::new(Collective::Broadcast, 4, 10);
        assert_eq!(plan(&call, 5).entries(), 10);
        let call = Call::new(Collective::AllGather, 4, 10).with_layout(Layout::of_vectors([1, 2, 0, 3]));
        assert_eq!(plan(&call, 5).entries(), 15);
        let call = Call::new(Collective::Permute, 4, 10);
        assert_eq!(plan(&call, 5).entries(), 14);
        // Each of two receives into one range waits for the one before.
        let mut builder = Builder::new();
        (0..3).for_each(|_| builder.receive(0, 1, &[BufferRange { buffer: Buffer::Receive, offset: 0, len: 1 }]));
        assert_eq!(planned(&call, &Options::default(), builder.finish(0, 2, 0)).entries(), 3 + 3 + 2 + 4);
    }

    #[test]
    fn a_plan_is_made_once() {
        let mut plans = Plans::default();
        let calls: Vec<Call> = (0..3 * MOST_RECENT).map(|count| Call::new(Collective::Broadcast, 2, count)).collect();
        let made: Vec<_> = calls.iter().map(|call| find(&mut plans, call, 1)).collect();
        for (call, made) in calls.iter().zip(made) {
            assert!(Rc::ptr_eq(&find(&mut plans, call, 1), &made));
        }
        // What was asked for makes another call of it, at hand, where both fall on one place, and elsewhere.
        let mut asked = |symmetrized, make: bool| {
            let options = Options { symmetrized: Some(symmetrized), ..Options::default() };
            let made = || Ok(planned(&calls[0], &options, Builder::new().finish(0, 2, 0)));
            plans.find(&calls[0], 1, Some(&options), || if make { made() } else { Err(Error::Packet) })
        };
        let [yes, no] = [true, false].map(|symmetrized| asked(symmetrized, true).unwrap());
        assert!(!Rc::ptr_eq(&yes, &no));
        assert!(asked(true, false).is_ok_and(|again| Rc::ptr_eq(&again, &yes)));
        plans.recent.clear();
        let found = plans.find(&calls[0], 1, yes.options.as_deref(), || Err(Error::Packet));
        assert!(found.is_ok_and(|found| Rc::ptr_eq(&found, &yes)));
        assert!(!Rc::ptr_eq(&find(&mut plans, &calls[0], 1), &yes));
        let refused = plans.find(&Call::new(Collective::Barrier, 2, 0), 1, None, || Err(Error::Packet));
        assert!(refused.is_err() && plans.kept[0].plans.len() == calls.len() + 2);
    }

    /// Two calls with one hash: the later one's plan stays, and what is held is counted.
    #[test]
    fn of_one_hash_the_later_plan_is_kept() {
        let mut plans = Plans::default();
        let [one, other] = [1, 2].map(|count| Call::new(Collective::Broadcast, 2, count));
        let of_other = find(&mut plans, &other, 7);
        let kept = &mut plans.kept[0];
        kept.plans.clear();
        kept.plans.insert(FxBuildHasher.hash_one((&one, 1usize, None::<&Options>)), of_other);
        let of_one = find(&mut plans, &one, 1);
        assert_eq!((plans.kept[0].plans.len(), plans.kept[0].held), (1, of_one.entries()));
    }

    /// Any two, whatever places they fall on.
    #[test]
    fn two_calls_in_turn_stay_at_hand() {
        let call = |count| Call::new(Collective::Broadcast, 2, count);
        for other in 2..20 * MOST_RECENT {
            let mut plans = Plans::default();
            for count in [1, other, 1, other, 1] {
                find(&mut plans, &call(count), 1);
            }
            let mut kept: Vec<_> = plans.recent.iter().flatten().flatten().map(|plan| plan.call.count).collect();
            kept.sort_unstable();
            assert_eq!(kept, [1, other]);
        }
    }

    #[test]
    fn plans_are_limited_in_number() {
        let mut plans = Plans::default();
        let call = |count| Call::new(Collective::Broadcast, 2, count);
        for count in 0..MOST_PLANS {
            plans.find(&call(count), 1, None, || Ok(plan(&call(count), 1))).unwrap();
        }
        assert_eq!(plans.kept[0].plans.len(), MOST_PLANS);
        for more in 1..5 {
            find(&mut plans, &call(MOST_PLANS + more), 1);
            assert_eq!(plans.kept[0].plans.len(), more);
        }
    }

    #[test]
    fn plans_are_limited_in_what_they_hold() {
        let mut plans = Plans::default();
        let call = |targets: usize, root: usize| Call {
            permutation: Some((0..targets).collect()),
            ..Call::new(Collective::Permute, 2, 0).with_root(root)
        };
        // Three fit, the next one starts afresh.
        let third = MOST_HELD / 3 - 2;
        for (index, kept) in [1, 2, 3, 1, 2, 3, 1].into_iter().enumerate() {
            find(&mut plans, &call(third, index), 1);
            assert_eq!(plans.kept[0].plans.len(), kept);
        }
        // One that is too long stays as long as no other comes, and is at hand even then.
        let long = call(MOST_HELD, 0);
        let made = find(&mut plans, &long, 1);
        assert_eq!(plans.kept[0].plans.len(), 1);
        find(&mut plans, &call(1, 1), 1);
        assert_eq!(plans.kept[0].plans.len(), 1);
        assert!(Rc::ptr_eq(&find(&mut plans, &long, 1), &made));
    }

    /// Lengths that are others every time leave all else in its place.
    #[test]
    fn layouts_drive_out_nothing_else() {
        let mut plans = Plans::default();
        let usual = |count| Call::new(Collective::Broadcast, 2, count);
        let made: Vec<_> = (0..MOST_RECENT).map(|count| find(&mut plans, &usual(count), 1)).collect();
        let recent = |plans: &Plans| plans.recent[..MOST_RECENT].iter().flatten().flatten().count();
        let recent_unequal = |plans: &Plans| plans.recent[MOST_RECENT..].iter().flatten().flatten().count();
        let before = recent(&plans);
        for count in 0..2 * MOST_PLANS {
            let call = Call::new(Collective::AllGather, 2, 0).with_layout(Layout::of_vectors([count, 7]));
            find(&mut plans, &call, 1);
        }
        assert_eq!((recent(&plans), plans.kept[0].plans.len()), (before, MOST_RECENT));
        for (count, made) in made.iter().enumerate() {
            assert!(Rc::ptr_eq(&find(&mut plans, &usual(count), 1), made));
        }
        // Of long ones one is kept, and none at hand.
        let mut plans = Plans::default();
        for count in 0..8 {
            let lengths = std::iter::once(count).chain((0..MOST_HELD / FEWER).map(|_| 1));
            find(&mut plans, &Call::new(Collective::AllGather, 2, 0).with_layout(Layout::of_vectors(lengths)), 1);
            assert_eq!((recent_unequal(&plans), plans.kept[1].plans.len()), (0, 1));
        }
    }
}
