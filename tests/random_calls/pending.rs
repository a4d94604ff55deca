//! Requests under way, and the ways in which they come to an end.

use crate::data::Data;
use crate::draw::Random;
use crate::element::Element;
use crate::forms::{Scoped, Started};
use hypercoll::request::{wait_all, wait_any, Request};
use hypercoll::Result;

/// Requests whose data are of one type, and the places of their calls in the batch.
pub struct List<'a, 's, D: ?Sized> {
    calls: Vec<usize>,
    requests: Vec<Scoped<'a, 's, D>>,
}

/// Requests whose elements are of one type.
pub struct Lists<'a, 's, T> {
    whole: List<'a, 's, Data<'a, T>>,
    slices: List<'a, 's, [T]>,
}

/// All requests of a rank.
#[derive(Default)]
pub struct Pending<'a, 's> {
    u8: Lists<'a, 's, u8>,
    i32: Lists<'a, 's, i32>,
    u64: Lists<'a, 's, u64>,
    f32: Lists<'a, 's, f32>,
    f64: Lists<'a, 's, f64>,
    points: Lists<'a, 's, [f64; 3]>,
    barriers: Vec<(usize, Request<'static, [u8]>)>,
}

impl<D: ?Sized> Default for List<'_, '_, D> {
    fn default() -> Self {
        List { calls: Vec::new(), requests: Vec::new() }
    }
}

impl<T> Default for Lists<'_, '_, T> {
    fn default() -> Self {
        Lists { whole: List::default(), slices: List::default() }
    }
}

pub trait Listed: Element {
    fn list<'p, 'a, 's>(pending: &'p mut Pending<'a, 's>) -> &'p mut Lists<'a, 's, Self>;
}

macro_rules! listed {
    ($($t:ty, $field:ident;)*) => {$(
        impl Listed for $t {
            fn list<'p, 'a, 's>(pending: &'p mut Pending<'a, 's>) -> &'p mut Lists<'a, 's, $t> {
                &mut pending.$field
            }
        }
    )*};
}

listed! { u8, u8; i32, i32; u64, u64; f32, f32; f64, f64; [f64; 3], points; }

impl<'a, 's> Pending<'a, 's> {
    pub fn push<T: Listed>(&mut self, call: usize, started: Started<'a, 's, T>) {
        let lists = T::list(self);
        match started {
            Started::Whole(request) => lists.whole.push(call, request),
            Started::Slices(request) => lists.slices.push(call, request),
        }
    }

    pub fn push_barrier(&mut self, call: usize, request: Request<'static, [u8]>) {
        self.barriers.push((call, request));
    }

    pub fn len(&self) -> usize {
        self.u8.len()
            + self.i32.len()
            + self.u64.len()
            + self.f32.len()
            + self.f64.len()
            + self.points.len()
            + self.barriers.len()
    }

    /// Does something to one of the requests, or to several.
    pub fn act(&mut self, random: &mut Random, accept: &dyn Fn(usize, Result<()>)) {
        let mut nth = random.below(self.len());
        macro_rules! within {
            ($($field:ident)*) => {$(
                if nth < self.$field.len() {
                    return self.$field.act(nth, random, accept);
                }
                nth -= self.$field.len();
            )*};
        }
        within!(u8 i32 u64 f32 f64 points);
        let (call, request) = self.barriers.remove(nth);
        accept(call, request.wait());
    }
}

impl<T: Element> Lists<'_, '_, T> {
    fn len(&self) -> usize {
        self.whole.len() + self.slices.len()
    }

    fn act(&mut self, nth: usize, random: &mut Random, accept: &dyn Fn(usize, Result<()>)) {
        match nth.checked_sub(self.whole.len()) {
            None => self.whole.act(nth, random, accept),
            Some(nth) => self.slices.act(nth, random, accept),
        }
    }
}

impl<'a, 's, D: ?Sized> List<'a, 's, D> {
    fn push(&mut self, call: usize, request: Scoped<'a, 's, D>) {
        self.calls.push(call);
        self.requests.push(request);
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn act(&mut self, nth: usize, random: &mut Random, accept: &dyn Fn(usize, Result<()>)) {
        match random.below(12) {
            // Only looks.
            0 | 1 => _ = self.requests[nth].look(),
            2 | 3 => {
                if let Some((at, outcome)) = wait_any(&mut self.requests) {
                    accept(self.calls.remove(at), outcome);
                }
            }
            4 => {
                let calls = self.calls.split_off(nth);
                accept(calls[0], wait_all(self.requests.drain(nth..)));
            }
            way => {
                let (call, mut request) = (self.calls.remove(nth), self.requests.remove(nth));
                match way {
                    5 | 6 => loop {
                        match request.test() {
                            Ok(outcome) => break accept(call, outcome),
                            Err(again) => request = again,
                        }
                        std::thread::yield_now();
                    },
                    7 => drop(request),
                    8 if random.once_in(3) => std::mem::forget(request),
                    9 => accept(call, request.wait_for_data().map(|_| ())),
                    _ => accept(call, request.wait()),
                }
            }
        }
    }
}
