//! The eager boundary: up to which size a message is sent without waiting for its receiver.
//!
//! The receiver makes MPI progress for a while before it posts its receive. A send that completes in the meantime has not
//! waited for it. (If it slept, some transports would complete nothing: over shared memory Open MPI completes a send when the
//! receiver has taken it out of the way.) The receiver's while begins when it knows of the message, which is after the sender's,
//! so that however late either runs, no send that waited counts as one that did not.

use super::ranks::Ranks;
use mpi::traits::*;
use mpi::Tag;
use std::time::{Duration, Instant};

/// Sizes that are tried, in bytes, from and to.
const SMALLEST: usize = 1 << 10;
const LARGEST: usize = 1 << 20;
/// Seconds without a receive: these, and the time in which a slow network of this many bytes a second takes the message in.
const WAIT: f64 = 0.01;
const SLOW: f64 = 4e6;
/// No message has this tag.
const UNUSED: Tag = 1;

/// Bytes of the largest message found to be sent without waiting, to about a fiftieth; 0 if there is no such bound, as all that
/// are tried wait, or none does. The same on all ranks.
pub fn boundary(ranks: &Ranks) -> usize {
    // A sender that was kept from running looks as if it had waited; so what seems to wait is tried again.
    let passes = |bytes| goes(ranks, bytes) || goes(ranks, bytes);
    let (mut sent, mut waits) = (0, SMALLEST);
    while passes(waits) {
        if waits >= LARGEST {
            return 0;
        }
        (sent, waits) = (waits, 2 * waits);
    }
    while sent > 0 && waits - sent > sent / 50 {
        let middle = sent.midpoint(waits);
        *(if passes(middle) { &mut sent } else { &mut waits }) = middle;
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
            let early = || start.elapsed() < wait.mul_f64(0.8);
            let mut request = Some(ranks.world.process_at_rank(1).immediate_send(scope, &buffer[..]));
            while let Some(pending) = request.take() {
                match pending.test() {
                    // Seen only after a gap, it may have been received.
                    Ok(_) => went = early(),
                    Err(pending) if early() => request = Some(pending),
                    Err(pending) => {
                        pending.wait();
                    }
                }
            }
        }),
        1 => {
            let sender = ranks.world.process_at_rank(0);
            // A message that waits is known of before it is received.
            sender.probe();
            let start = Instant::now();
            while start.elapsed() < wait {
                // Open MPI makes progress only when it finds nothing.
                let _ = sender.immediate_probe_with_tag(UNUSED);
            }
            sender.receive_into(&mut buffer[..]);
        }
        _ => {}
    }
    ranks.any(went)
}
