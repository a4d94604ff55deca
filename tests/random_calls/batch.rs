//! Some calls on several communicators at once, and what comes of them.

use crate::draw::{Call, Random, Way};
use crate::element::{typed, Kind};
use crate::forms::{init, run, start, Again};
use crate::native;
use crate::pending::{Listed, Pending};
use bytemuck::{cast_slice, cast_slice_mut};
use hypercoll::collective::Collective;
use hypercoll::request::{scope, LocalScope};
use hypercoll::{Error, Hypercube};
use mpi::topology::SimpleCommunicator;

/// A communicator as one of its ranks sees it.
pub struct Group<'g> {
    pub cube: &'g Hypercube,
    /// The same without this library.
    pub native: Option<&'g SimpleCommunicator>,
}

/// Requests under way at a time.
const MOST: usize = 8;
/// Bytes on either side of a buffer that nobody may touch, and what they are.
const AROUND: usize = 16;
const UNTOUCHED: u8 = 0x5c;

/// Bytes of a buffer, aligned as any element needs it and no better.
struct Memory {
    words: Vec<u64>,
    start: usize,
    len: usize,
}

impl Memory {
    fn of(len: usize, skipped: usize) -> Memory {
        let words = vec![u64::from_ne_bytes([UNTOUCHED; 8]); (2 * AROUND + skipped + len).div_ceil(8)];
        Memory { words, start: AROUND + skipped, len }
    }

    fn elements<T: Listed>(&self) -> &[T] {
        cast_slice(&cast_slice::<u64, u8>(&self.words)[self.start..self.start + self.len])
    }

    fn elements_mut<T: Listed>(&mut self) -> &mut [T] {
        cast_slice_mut(&mut cast_slice_mut::<u64, u8>(&mut self.words)[self.start..self.start + self.len])
    }

    fn is_kept(&self) -> bool {
        let bytes: &[u8] = cast_slice(&self.words);
        let (before, behind) = (&bytes[..self.start], &bytes[self.start + self.len..]);
        before.iter().chain(behind).all(|byte| *byte == UNTOUCHED)
    }
}

/// Every so many-th element of them.
fn apart<T: Listed>(elements: &[T], stride: usize) -> Vec<T> {
    elements.iter().copied().step_by(stride).collect()
}

/// The buffers of a call on one rank.
struct Buffers([Memory; 2]);

impl Buffers {
    fn of<T: Listed>(call: &Call, rank: usize) -> Buffers {
        let skipped = call.data as usize % 8 / align_of::<T>() * align_of::<T>();
        let (lengths, strides) = (call.lengths(rank), call.strides(rank));
        let mut buffers = Buffers([0, 1].map(|at| Memory::of(lengths[at] * strides[at] * size_of::<T>(), skipped)));
        buffers.fill::<T>(call, rank, 0);
        buffers
    }

    fn fill<T: Listed>(&mut self, call: &Call, rank: usize, nth: usize) {
        let [mut send, mut receive] = call.lengths(rank).map(|len| vec![T::zeroed(); len]);
        call.fill::<T>(rank, nth, &mut send, &mut receive);
        for ((memory, values), stride) in self.0.iter_mut().zip([send, receive]).zip(call.strides(rank)) {
            let places = memory.elements_mut::<T>().iter_mut().step_by(stride);
            places.zip(values).for_each(|(place, value)| *place = value);
        }
    }

    /// Whether what lies around the buffers, and between their elements, is as it was.
    fn is_kept<T: Listed>(&self, strides: [usize; 2]) -> bool {
        let within = |(memory, stride): (&Memory, usize)| {
            let gaps = memory.elements::<T>().iter().enumerate().filter(|(at, _)| at % stride > 0);
            memory.is_kept()
                && gaps.into_iter().all(|(_, gap)| bytemuck::bytes_of(gap).iter().all(|byte| *byte == UNTOUCHED))
        };
        self.0.iter().zip(strides).all(within)
    }
}

/// A call as one of the ranks that make it sees it.
struct Played<'g> {
    call: Call,
    group: &'g Group<'g>,
    /// What is to be received, for every start.
    expected: Vec<Memory>,
    /// What its failures begin with.
    told: String,
}

impl Played<'_> {
    fn rank(&self) -> usize {
        self.group.cube.rank()
    }

    fn expect<T: Listed>(&self, nth: usize) -> Memory {
        let native = self.group.native.and_then(|comm| native::outcome::<T>(&self.call, nth, comm));
        let outcome = native.unwrap_or_else(|| self.call.outcome::<T>(self.rank(), nth));
        let mut memory = Memory::of(size_of_val(&outcome[..]), 0);
        memory.elements_mut().copy_from_slice(&outcome);
        memory
    }

    /// What has been received is right, and what has been sent is as it was.
    fn compare<T: Listed>(&self, nth: usize, send: &[T], receive: &[T]) {
        let expected = self.expected[nth].elements::<T>();
        if let Some(at) = (0..expected.len()).find(|&at| receive[at] != expected[at]) {
            let (found, expected) = (receive[at], expected[at]);
            panic!("{}, start {nth}: element {at} of {} is {found:?}, not {expected:?}", self.told, receive.len());
        }
        if !send.is_empty() {
            assert!(send == self.call.input::<T>(self.rank(), nth), "{}: what is sent was changed", self.told);
        }
    }

    fn finished<T: Listed>(&self, buffers: &Buffers, refused: bool) {
        let strides = self.call.strides(self.rank());
        assert!(buffers.is_kept::<T>(strides), "{}: something beyond its buffers was changed", self.told);
        if refused {
            let mut before = Buffers::of::<T>(&self.call, self.rank());
            let same = [0, 1].map(|at| before.0[at].elements_mut::<T>() == buffers.0[at].elements::<T>());
            assert!(same == [true; 2], "{}: refused, and buffers were changed", self.told);
        } else {
            let [send, receive] = [0, 1].map(|at| apart::<T>(buffers.0[at].elements(), strides[at]));
            self.compare::<T>(self.expected.len() - 1, &send, &receive);
        }
    }

    /// Whether a call was refused, as all ranks do that asked for an algorithm that cannot serve it.
    fn is_refused(&self, error: &Error) -> bool {
        let Error::Unsuited { .. } = error else { panic!("{}: {error}", self.told) };
        true
    }
}

/// What is under way on a rank.
struct Stage<'a, 's> {
    scope: &'s LocalScope<'a>,
    pending: Pending<'a, 's>,
    /// By call: its buffers until they are lent, its persistent form, and whether it was refused.
    buffers: Vec<Option<&'a mut Buffers>>,
    persistent: Vec<Option<Box<dyn Again + 's>>>,
    refused: Vec<bool>,
}

impl<'a: 's, 's> Stage<'a, 's> {
    /// Makes or starts a call.
    fn begin<T: Listed>(&mut self, at: usize, played: &Played) {
        let (call, cube) = (&played.call, played.group.cube);
        let options = call.options.as_ref();
        let Buffers([send, receive]) = self.buffers[at].take().expect("every call begins once");
        let (send, receive) = (send.elements_mut::<T>(), receive.elements_mut::<T>());
        let outcome = match call.way {
            Way::Blocking => run(cube, call, options, send, receive),
            Way::Immediate if call.collective == Collective::Barrier => {
                cube.immediate_barrier().map(|request| self.pending.push_barrier(at, request))
            }
            Way::Immediate => {
                start(cube, call, options, self.scope, send, receive).map(|request| self.pending.push::<T>(at, request))
            }
            Way::Persistent(_) => init(cube, call, options, self.scope, send, receive).and_then(|mut again| {
                again.start()?;
                self.persistent[at] = Some(again);
                Ok(())
            }),
        };
        self.refused[at] = outcome.is_err_and(|error| played.is_refused(&error));
    }

    /// Starts a persistent call once more.
    fn begin_again<T: Listed>(&mut self, at: usize, played: &Played, nth: usize) {
        let Some(again) = &mut self.persistent[at] else { return };
        let exchange = |send: &mut [u8], receive: &mut [u8]| {
            let mut buffers = [send, receive].map(cast_slice_mut::<u8, T>);
            let strides = played.call.strides(played.rank());
            let [sent, received] = [0, 1].map(|at| apart(buffers[at], strides[at]));
            played.compare(nth - 1, &sent, &received);
            let [mut send, mut receive] = [sent, received];
            played.call.fill(played.rank(), nth, &mut send, &mut receive);
            for ((buffer, values), stride) in buffers.iter_mut().zip([send, receive]).zip(strides) {
                buffer.iter_mut().step_by(stride).zip(values).for_each(|(place, value)| *place = value);
            }
        };
        let outcome = again.show(&mut { exchange }).and_then(|()| again.start());
        outcome.unwrap_or_else(|error| panic!("{}, start {nth}: {error}", played.told));
    }

    /// Comes to the end of a persistent call in one of several ways.
    fn end(&mut self, at: usize, played: &Played, random: &mut Random) {
        let Some(mut again) = self.persistent[at].take() else { return };
        let outcome = match random.below(5) {
            0 => return drop(again),
            // A barrier has no scope that would end it.
            1 if played.call.collective != Collective::Barrier => return again.forget(),
            2 => loop {
                match again.test() {
                    Ok(false) => std::thread::yield_now(),
                    outcome => break outcome.map(|_| ()),
                }
            },
            _ => again.wait(),
        };
        outcome.unwrap_or_else(|error| panic!("{}: {error}", played.told));
    }
}

/// Plays so many calls. `random` is the same on all ranks, `own` is not; `told` is what failures begin with.
pub fn play(calls: usize, groups: &[(usize, Option<Group>)], random: &mut Random, own: &mut Random, told: &str) {
    let sizes: Vec<usize> = groups.iter().map(|group| group.0).collect();
    let mut events: Vec<(usize, usize)> = Vec::new();
    let mut played: Vec<Option<Played>> = Vec::new();
    for at in 0..calls {
        let call = Call::draw(random, &sizes);
        let starts = if let Way::Persistent(starts) = call.way { starts } else { 1 };
        // Other starts of a persistent call, among those of others.
        events.push((at, 0));
        (1..starts).for_each(|nth| events.push((at, nth)));
        let told = format!("{told}, call {at} of {calls}, {call:?}");
        let group = groups[call.group].1.as_ref();
        played.push(group.map(|group| Played {
            call,
            group,
            expected: Vec::new(),
            told: format!("{told}, rank {}", group.cube.rank()),
        }));
    }
    // Every start somewhere behind the one before.
    for at in (0..events.len()).rev() {
        if events[at].1 > 0 {
            let event = events.remove(at);
            let last = events[at..].iter().position(|other| other.0 == event.0).map_or(events.len(), |next| at + next);
            events.insert(at + random.below(last - at + 1), event);
        }
    }
    // MPI's own calls come first: while a rank is in one, it moves no request.
    for played in played.iter_mut().flatten() {
        let starts = if let Way::Persistent(starts) = played.call.way { starts } else { 1 };
        for nth in 0..starts {
            let expected = typed!(played.call.kind, expect_of(played, nth));
            played.expected.push(expected);
        }
    }
    let mut buffers: Vec<Option<Buffers>> = played
        .iter()
        .map(|played| played.as_ref().map(|played| typed!(played.call.kind, buffers_of(played))))
        .collect();
    let lent: Vec<Option<&mut Buffers>> = buffers.iter_mut().map(Option::as_mut).collect();
    let refused = scope(|scope| {
        let none = || (0..calls).map(|_| None).collect();
        let (pending, refused) = (Pending::default(), vec![false; calls]);
        let mut stage = Stage { scope, pending, buffers: lent, persistent: none(), refused };
        let accept = |at: usize, outcome: hypercoll::Result<()>| {
            let told = || played[at].as_ref().map_or("", |played| &played.told);
            outcome.unwrap_or_else(|error| panic!("{}: {error}", told()));
        };
        for (at, nth) in events {
            let Some(played) = &played[at] else { continue };
            while stage.pending.len() >= MOST || stage.pending.len() > 0 && own.once_in(3) {
                stage.pending.act(own, &accept);
            }
            match nth {
                0 => typed!(played.call.kind, begin(&mut stage, at, played)),
                _ => typed!(played.call.kind, begin_again(&mut stage, at, played, nth)),
            }
        }
        for at in own.permutation(calls) {
            if let Some(played) = &played[at] {
                stage.end(at, played, own);
            }
        }
        // Sometimes the end of the scope is what ends them.
        while stage.pending.len() > 0 && !own.once_in(20) {
            stage.pending.act(own, &accept);
        }
        stage.refused
    });
    for ((played, buffers), refused) in played.iter().zip(&buffers).zip(refused) {
        if let (Some(played), Some(buffers)) = (played, buffers) {
            typed!(played.call.kind, finished(played, buffers, refused));
        }
    }
}

fn expect_of<T: Listed>(played: &Played, nth: usize) -> Memory {
    played.expect::<T>(nth)
}

fn buffers_of<T: Listed>(played: &Played) -> Buffers {
    Buffers::of::<T>(&played.call, played.rank())
}

fn begin<'a: 's, 's, T: Listed>(stage: &mut Stage<'a, 's>, at: usize, played: &Played) {
    stage.begin::<T>(at, played);
}

fn begin_again<'a: 's, 's, T: Listed>(stage: &mut Stage<'a, 's>, at: usize, played: &Played, nth: usize) {
    stage.begin_again::<T>(at, played, nth);
}

fn finished<T: Listed>(played: &Played, buffers: &Buffers, refused: bool) {
    played.finished::<T>(buffers, refused);
}
