//! The buffers, the same for all implementations, and what must be in them afterwards.

use super::jobs::Job;
use hypercoll::collective::{Buffer, Call, Collective};
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

/// What must be in the receive buffer of `rank`: each element is one that some rank sends, or the sum of all ranks'.
fn expected(call: &Call, rank: usize) -> Vec<f64> {
    let mut expected = vec![0.0; call.receive_len(rank)];
    for origin in call.origins(rank) {
        let sent = origin.offset..;
        for (element, at) in expected[origin.target].iter_mut().zip(sent) {
            *element += value(origin.rank, at);
        }
    }
    expected
}

/// The permutation of a call; empty for other collectives.
fn permutation(call: &Call) -> &[usize] {
    call.permutation.as_deref().unwrap_or_default()
}

/// Makes the library run a call.
pub fn run(cube: &Hypercube, call: &Call, options: &Options, send: &[f64], receive: &mut [f64]) -> Result<()> {
    let on_root = cube.rank() == call.root;
    match call.collective {
        Collective::Broadcast => cube.broadcast(call.root).options(options).run(receive),
        Collective::Scatter => cube.scatter(call.root).options(options).run(on_root.then_some(send), receive),
        Collective::Gather => cube.gather(call.root).options(options).run(send, on_root.then_some(receive)),
        Collective::AllGather => cube.all_gather().options(options).run(send, receive),
        Collective::AllToAll => cube.all_to_all().options(options).run(send, receive),
        Collective::Reduce => {
            let receive = on_root.then_some(receive);
            cube.reduce(call.root).options(options).run(send, receive, SystemOperation::Sum)
        }
        Collective::ReduceScatter => cube.reduce_scatter().options(options).run(send, receive, SystemOperation::Sum),
        Collective::AllReduce => cube.all_reduce().options(options).run(send, receive, SystemOperation::Sum),
        Collective::Permute => cube.permute(permutation(call)).options(options).run(send, receive),
        Collective::Send | Collective::Exchange | Collective::TransposeRows | Collective::TransposeSubmatrices => {
            cube.collective(call.clone()).options(options).run(send, receive)
        }
        Collective::Barrier | Collective::MatrixMultiply => cube.barrier(),
    }
}
