//! The eager boundary: up to which size a message is sent without waiting for its receiver.
//!
//! The receiver makes MPI progress for a while before it posts its receive. A send that completes in the meantime has not
//! waited for it. (If it slept, some transports would complete nothing: over shared memory Open MPI completes a send when the
//! receiver has taken it out of the way.)

use super::ranks::Ranks;
use mpi::traits::*;
use std::time::{Duration, Instant};

/// Sizes that are tried, in bytes, from and to.
const SMALLEST: usize = 1 << 10;
const LARGEST: usize = 1 << 20;
/// Seconds without a receive: these, and the time in which a slow network of this many bytes a second takes the message in.
const WAIT: f64 = 0.01;
const SLOW: f64 = 4e6;

/// Bytes of the largest message found to be sent without waiting, to about a fiftieth; 0 if none is, and at most the largest
/// that was tried. The same on all ranks.
pub fn boundary(ranks: &Ranks) -> usize {
    let mut at = SMALLEST;
    let (mut sent, mut waits) = (0, 2 * LARGEST);
    while at <= LARGEST {
        if !goes(ranks, at) {
            waits = at;
            break;
        }
        sent = at;
        at *= 2;
    }
    while sent > 0 && waits <= LARGEST && waits - sent > sent / 50 {
        let middle = sent.midpoint(waits);
        *(if goes(ranks, middle) { &mut sent } else { &mut waits }) = middle;
    }
    sent
}

/// Whether a message from rank 0 to rank 1 is sent while rank 1 does not receive.
fn goes(ranks: &Ranks, bytes: usize) -> bool {
    let wait = Duration::from_secs_f64(WAIT + bytes as f64 / SLOW);
    let mut buffer = vec![0u8; bytes];
    ranks.sound(ranks.cube.barrier());
    let mut went = false;
    match ranks.rank {
        0 => mpi::request::scope(|scope| {
            let start = Instant::now();
            let mut request = Some(ranks.world.process_at_rank(1).immediate_send(scope, &buffer[..]));
            while let Some(pending) = request.take() {
                match pending.test() {
                    Ok(_) => went = true,
                    // The receiver receives a little later.
                    Err(pending) if start.elapsed() < wait.mul_f64(0.8) => request = Some(pending),
                    Err(pending) => {
                        pending.wait();
                    }
                }
            }
        }),
        1 => {
            let (sender, start) = (ranks.world.process_at_rank(0), Instant::now());
            while start.elapsed() < wait {
                let _ = sender.immediate_probe();
            }
            sender.receive_into(&mut buffer[..]);
        }
        _ => {}
    }
    ranks.any(went)
}
