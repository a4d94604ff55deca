//! The ranks of a measurement, and what they do together.

use crate::bench::statistics::Summary;
use crate::Failure;
use hypercoll::address::Hosts;
use hypercoll::select::{Measurement, Spread};
use hypercoll::Hypercube;
use mpi::collective::SystemOperation;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use mpi::Rank;
use std::time::{Duration, Instant};

/// Samples of a measurement: at least, and at most.
const LEAST: usize = 2;
const MOST: usize = 1000;

/// One rank's means: the library, and MPI itself where more is to be said than a collective can.
pub struct Ranks {
    pub cube: Hypercube,
    pub world: SimpleCommunicator,
    pub rank: usize,
    pub size: usize,
    /// The dimension of the largest cube that all of whose nodes have a rank of their own.
    pub dimension: u32,
    /// Cores that the ranks share, if they share one memory.
    pub cores: Option<usize>,
}

impl Ranks {
    pub fn new(world: SimpleCommunicator) -> Result<Ranks, Failure> {
        let cube = Hypercube::new(&world).map_err(|error| Failure::Usage(error.to_string()))?;
        let (rank, size) = (cube.rank(), cube.size());
        let cores = cube.machine().shared.map(|shared| shared.cores);
        Ok(Ranks { cube, world, rank, size, dimension: size.ilog2(), cores })
    }

    /// How they are spread over hosts, as the library sees it: its file is held against that.
    pub fn spread(&self) -> Spread {
        Spread::of(self.size, self.cube.hosts(), self.cores.is_some())
    }

    /// One rank of each host, the first; `None` on the others. Where every rank has a host of its own, or all share one: all (all ranks
    /// call this together).
    pub fn one_a_host(&self) -> Result<Option<Ranks>, Failure> {
        let place = |hosts: &Hosts| hosts.place(self.rank) - hosts.places(hosts.place(self.rank)).start;
        let first = self.cube.hosts().map_or(0, place) == 0;
        let color = if first { Color::with_value(0) } else { Color::undefined() };
        let some = self.world.split_by_color_with_key(color, self.rank as Rank);
        some.map(Ranks::new).transpose()
    }

    /// What messages take while all ranks are at work.
    pub fn measured(&self) -> Measurement {
        self.cube.measured().unwrap_or_else(|error| {
            self.sound(Err(error));
            Measurement::default()
        })
    }

    /// Waits until all ranks have come, without getting in the way of those that measure.
    pub fn meet(&self) {
        let mut request = Some(self.world.immediate_barrier());
        while let Some(pending) = request.take() {
            request = pending.test().err();
            if request.is_some() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Whether the rank is a node of the largest whole cube.
    pub fn takes_part(&self) -> bool {
        self.rank < 1 << self.dimension
    }

    /// A failure in the midst of a collective leaves the others waiting: it ends them all.
    pub fn sound(&self, outcome: hypercoll::Result<()>) {
        if let Err(error) = outcome {
            eprintln!("hypercoll: rank {}: {error}", self.rank);
            self.world.abort(1);
        }
    }

    /// Element by element the largest value of all ranks.
    pub fn maximum(&self, values: &mut [f64]) {
        let own = values.to_vec();
        self.world.all_reduce_into(&own[..], values, SystemOperation::max());
    }

    /// What the first rank has to say.
    pub fn of_first(&self, text: &str) -> String {
        let root = self.world.process_at_rank(0);
        let mut length = [text.len() as u64];
        root.broadcast_into(&mut length[..]);
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(length[0] as usize, 0);
        root.broadcast_into(&mut bytes[..]);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn any(&self, yes: bool) -> bool {
        let mut value = [f64::from(u8::from(yes))];
        self.maximum(&mut value);
        value[0] > 0.0
    }

    /// Repeats what all ranks do together for about so many seconds; the times that the slowest rank took, without the first.
    pub fn repeat(&self, seconds: f64, mut run: impl FnMut()) -> Vec<f64> {
        let (mut samples, mut spent) = (Vec::new(), 0.0);
        loop {
            let [time, all] = self.once(&mut run);
            spent += all;
            samples.push(time);
            // All ranks have the same numbers, and stop together.
            if samples.len() > MOST || samples.len() > LEAST && spent > seconds {
                samples.remove(0);
                return samples;
            }
        }
    }

    /// What all ranks do together, once: the time that the slowest rank took, and what it took with the ranks' waiting for each other.
    pub fn once(&self, run: impl FnOnce()) -> [f64; 2] {
        let begin = Instant::now();
        self.sound(self.cube.barrier());
        let start = Instant::now();
        run();
        let mut times = [start.elapsed().as_secs_f64(), begin.elapsed().as_secs_f64()];
        self.maximum(&mut times);
        times
    }

    /// Exchanges trains of messages: `count` messages of `bytes` to each of the peers, and as many from each; a peer may
    /// occur more than once.
    pub fn train(&self, peers: &[usize], bytes: usize, count: usize, memory: &mut Memory) {
        let total = peers.len() * count;
        let Memory { send, receive } = memory;
        send.resize(bytes, 1);
        receive.resize(total * bytes, 0);
        mpi::request::scope(|scope| {
            let process = |peer: usize| self.world.process_at_rank(peer as Rank);
            let (mut receives, mut sends) = (Vec::with_capacity(total), Vec::with_capacity(total));
            for (part, peer) in receive.chunks_mut(bytes).zip(peers.iter().cycle()) {
                receives.push(process(*peer).immediate_receive_into(scope, part));
            }
            for peer in peers.iter().cycle().take(total) {
                sends.push(process(*peer).immediate_send(scope, &send[..]));
            }
            for request in receives.into_iter().chain(sends) {
                request.wait_without_status();
            }
        })
    }
}

/// Memory of messages, used again.
#[derive(Default)]
pub struct Memory {
    send: Vec<u8>,
    receive: Vec<u8>,
}

/// A measured value: the median, the least and the largest of its samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Value {
    /// Of no samples: not a number.
    pub fn of(samples: &[f64]) -> Value {
        let summary = Summary::of(samples);
        let value = |part: fn(&Summary) -> f64| summary.as_ref().map_or(f64::NAN, part);
        Value { median: value(|s| s.median), min: value(|s| s.min), max: value(|s| s.max) }
    }

    /// Measured before.
    pub fn once(value: f64) -> Value {
        Value { median: value, min: value, max: value }
    }

    pub fn scaled(self, factor: f64) -> Value {
        Value { median: self.median * factor, min: self.min * factor, max: self.max * factor }
    }

    /// Less a time that is in every sample; a time is not negative.
    pub fn minus(self, time: f64) -> Value {
        let less = |part: f64| (part - time).max(0.0);
        Value { median: less(self.median), min: less(self.min), max: less(self.max) }
    }
}
