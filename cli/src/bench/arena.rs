//! The buffers, the same for all implementations, and what must be in them afterwards.

use super::jobs::Job;
use hypercoll::collective::{Buffer, Call};
use hypercoll::select::Options;
use hypercoll::{Hypercube, Result, SystemOperation};

/// What no result contains.
const UNTOUCHED: f64 = -1.0;

/// The buffers of one rank.
pub struct Arena {
    rank: usize,
    send: Vec<f64>,
    receive: Vec<f64>,
}

impl Arena {
    /// Buffers that are long enough for all jobs.
    pub fn new(rank: usize, jobs: &[Job]) -> Arena {
        let longest = |len: fn(&Call, usize) -> usize| jobs.iter().map(|job| len(&job.call, rank)).max().unwrap_or(0);
        let send = (0..longest(Call::send_len)).map(|at| value(rank, at)).collect();
        Arena { rank, send, receive: vec![UNTOUCHED; longest(Call::receive_len)] }
    }

    /// The send and receive buffers of a call.
    pub fn buffers(&mut self, call: &Call) -> (&[f64], &mut [f64]) {
        (&self.send[..call.send_len(self.rank)], &mut self.receive[..call.receive_len(self.rank)])
    }

    /// Makes sure that what is found afterwards was put there by the call.
    pub fn prepare(&mut self, call: &Call) {
        let rank = self.rank;
        let (_, receive) = self.buffers(call);
        receive.fill(UNTOUCHED);
        // What a broadcast sends lies there.
        for held in call.initial(rank).into_iter().filter(|held| held.buffer == Buffer::Receive) {
            let elements = receive[held.offset..][..held.space.len()].iter_mut().zip(held.offset..);
            elements.for_each(|(element, at)| *element = value(rank, at));
        }
    }

    /// What is wrong with the result, if anything.
    pub fn check(&mut self, call: &Call) -> Option<String> {
        let rank = self.rank;
        let (_, receive) = self.buffers(call);
        receive.iter().zip(expected(call, rank)).enumerate().find_map(|(at, (got, expected))| {
            (*got != expected).then(|| format!("rank {rank}: element {at} is {got}, not {expected}"))
        })
    }
}

/// The element at position `at` of what `rank` sends: a small whole number, so that sums are exact in any order.
fn value(rank: usize, at: usize) -> f64 {
    ((rank * 131 + at * 7) % 1021) as f64
}

/// What must be in the receive buffer of `rank`: each element is one that some rank sends, or the sum of all ranks', or left alone.
fn expected(call: &Call, rank: usize) -> Vec<f64> {
    let mut expected = vec![None; call.receive_len(rank)];
    for origin in call.origins(rank) {
        let sent = origin.offset..;
        for (element, at) in expected[origin.target].iter_mut().zip(sent) {
            *element = Some(element.unwrap_or(0.0) + value(origin.rank, at));
        }
    }
    expected.into_iter().map(|element| element.unwrap_or(UNTOUCHED)).collect()
}

/// Makes the library run a call.
pub fn run(cube: &Hypercube, call: &Call, options: &Options, send: &[f64], receive: &mut [f64]) -> Result<()> {
    if call.layout.is_some() {
        return super::lengths::run(cube, call, options, send, receive);
    }
    crate::run::run(cube, call, options, send, receive, SystemOperation::Sum)
}
