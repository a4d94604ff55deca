//! The buffers, the same for all implementations, and what must be in them afterwards.

use super::jobs::Job;
use hypercoll::collective::{Call, Collective};
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
        if call.collective == Collective::Broadcast && rank == call.root {
            receive.iter_mut().enumerate().for_each(|(at, element)| *element = value(rank, at));
        } else {
            receive.fill(UNTOUCHED);
        }
    }

    /// What is wrong with the result, if anything.
    pub fn check(&mut self, call: &Call) -> Option<String> {
        let rank = self.rank;
        let (_, receive) = self.buffers(call);
        receive.iter().enumerate().find_map(|(at, got)| {
            let expected = expected(call, rank, at);
            (*got != expected).then(|| format!("rank {rank}: element {at} is {got}, not {expected}"))
        })
    }
}

/// The element at position `at` of what `rank` sends: a small whole number, so that sums are exact in any order.
fn value(rank: usize, at: usize) -> f64 {
    ((rank * 131 + at * 7) % 1021) as f64
}

fn expected(call: &Call, rank: usize, at: usize) -> f64 {
    let (block, within) = (at / call.count.max(1), at % call.count.max(1));
    let sum = |at: usize| (0..call.size).map(|rank| value(rank, at)).sum();
    match call.collective {
        Collective::Broadcast => value(call.root, at),
        Collective::Scatter => value(call.root, rank * call.count + at),
        Collective::Gather | Collective::AllGather => value(block, within),
        Collective::AllToAll | Collective::TransposeRows => value(block, rank * call.count + within),
        Collective::Reduce | Collective::AllReduce => sum(at),
        Collective::ReduceScatter => sum(rank * call.count + at),
        Collective::Permute | Collective::TransposeSubmatrices => value(source(call, rank), at),
        Collective::Send => value(call.root, at),
        Collective::Exchange => value(call.root ^ call.peer ^ rank, at),
        // No data; no part of any experiment.
        Collective::Barrier | Collective::MatrixMultiply => UNTOUCHED,
    }
}

/// The rank that sends to `rank` in a permutation.
pub fn source(call: &Call, rank: usize) -> usize {
    permutation(call).iter().position(|target| *target == rank).unwrap_or(rank)
}

/// The permutation of a call; empty for other collectives.
pub fn permutation(call: &Call) -> &[usize] {
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
