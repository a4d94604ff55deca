//! What ranks that share one memory can do.
//!
//! Two ranks are measured while the others sleep, so that each has a core of its own where there are two.

use super::links::Links;
use super::ranks::{Ranks, Value};
use std::time::{Duration, Instant};

/// Messages of a measurement between two ranks.
const MESSAGES: usize = 200;
/// Bytes of a copy: more than fits the nearest caches, less than the farthest.
const COPY: usize = 256 << 10;

/// The start-up, the hop and the copy.
pub fn measure(ranks: &Ranks, cores: usize, seconds: f64) -> Links {
    // Two ranks on one core take turns.
    let turn = if cores < 2 { 2.0 } else { 1.0 };
    let tau = pair(ranks, seconds / 3.0, |message| ranks_of(message, false));
    let trip = pair(ranks, seconds / 3.0, |message| ranks_of(message, true));
    let tau = tau.scaled(1.0 / turn);
    // A message on its way: a start-up and a hop.
    let hop = trip.scaled(1.0 / turn).minus(tau.median);
    let t_c = copies(ranks, cores, seconds / 3.0);
    // A rank copies one message at a time, from any other alike.
    Links { tau, hop, t_c, ports: 1, speed_ups: vec![1.0], pairs_linked: true, far: None }
}

/// Sender and receiver of a message: always the same, or to and fro.
fn ranks_of(message: usize, returns: bool) -> (usize, usize) {
    if returns && message % 2 == 1 {
        (1, 0)
    } else {
        (0, 1)
    }
}

/// Time of a message of 8 bytes among many between two ranks.
fn pair(ranks: &Ranks, seconds: f64, ends: impl Fn(usize) -> (usize, usize)) -> Value {
    // Long enough for the messages on any machine that yields; what is longer shows as one.
    let sleep = Duration::from_millis(5);
    let (send, mut receive) = ([1u64], [0u64]);
    let mut own = Vec::new();
    ranks.repeat(seconds, || {
        if ranks.rank > 1 {
            std::thread::sleep(sleep);
        }
        // All ranks make the calls; those that have slept have nothing to do in them.
        let start = Instant::now();
        for message in 0..MESSAGES {
            let (from, to) = ends(message);
            let call = ranks.cube.send(from, to).algorithm("direct");
            let (send, receive) = (Some(&send[..]).filter(|_| ranks.rank == from), Some(&mut receive[..]));
            ranks.sound(call.run(1, send, receive.filter(|_| ranks.rank == to)));
        }
        if ranks.rank < 2 {
            own.push(start.elapsed().as_secs_f64() / MESSAGES as f64);
        }
    });
    // Rank 0 and rank 1 have as many samples; the others none, and take theirs.
    let mut value = Value::of(&own[1.min(own.len())..]);
    let mut parts = [value.median, value.min, value.max].map(|part| if part.is_nan() { 0.0 } else { part });
    ranks.maximum(&mut parts);
    [value.median, value.min, value.max] = parts;
    value
}

/// Seconds per byte of a copy, while all ranks exchange with a neighbour and as many copies go on as there are cores.
fn copies(ranks: &Ranks, cores: usize, seconds: f64) -> Value {
    let partner = |rank: usize| Some(rank ^ 1).filter(|other| *other < ranks.size).unwrap_or(rank);
    let permutation: Vec<usize> = (0..ranks.size).map(partner).collect();
    let (send, mut receive) = (vec![1u8; COPY], vec![0u8; COPY]);
    let times = ranks.repeat(seconds, || {
        for _ in 0..4 {
            ranks.sound(ranks.cube.permute(&permutation).algorithm("direct").run(&send[..], &mut receive[..]));
        }
    });
    let turn = (ranks.size as f64 / cores as f64).max(1.0);
    Value::of(&times).scaled(1.0 / (4.0 * turn * COPY as f64))
}
