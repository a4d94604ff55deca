//! Send: the root's vector to the peer; and exchange: the two change places.
//!
//! An exchange is two sends at once. The links that a send uses towards the peer are used in the opposite direction by the one
//! towards the root, so the two do not meet; each file here has a row for either.
//!
//! ```
//! hypercoll::threads::run(8, |cube| {
//!     // From rank 0 to the opposite corner, over all the links that lead there: all ranks take part.
//!     let data: Vec<u32> = (0..60).collect();
//!     let mut received = vec![0; 60];
//!     let send = (cube.rank() == 0).then_some(&data[..]);
//!     let receive = (cube.rank() == 7).then_some(&mut received[..]);
//!     cube.send(0, 7).algorithm("oc_send_1").run(60, send, receive).unwrap();
//!     assert_eq!(received == data, cube.rank() == 7);
//! });
//! ```

pub mod arbitrary_send_1;
pub mod arbitrary_send_2;
pub mod arbitrary_send_3;
pub mod direct;
pub mod oc_send_1;
pub mod oc_send_2;
pub mod oc_send_3;
pub mod oc_send_4;
pub mod relay;
pub mod xoc_send_1;
pub mod xoc_send_2;

#[cfg(test)]
mod tests;

use super::{Figure, Formula, Shape};
use crate::collective::Collective;
use crate::schedule::Problem;
use std::ops::Range;

/// A vector on its way.
struct Journey {
    from: usize,
    to: usize,
    data: Range<usize>,
}

impl Journey {
    /// The dimensions to be crossed.
    fn mask(&self) -> usize {
        self.from ^ self.to
    }
}

/// The journeys of a call: one of a send, two of an exchange; none between a node and itself.
fn journeys(problem: &Problem) -> impl Iterator<Item = Journey> {
    let there = Journey { from: problem.root, to: problem.peer, data: problem.vector_of(false) };
    let exchange = problem.call.collective == Collective::Exchange;
    let back = exchange.then(|| Journey { from: problem.peer, to: problem.root, data: problem.vector_of(true) });
    std::iter::once(there).chain(back).filter(|journey| journey.mask() != 0)
}

/// The formula of an exchange, given that of a send over links of which the way back uses the opposite directions, and through
/// nodes of its own.
fn both_ways(send: Formula) -> Formula {
    Formula { moved: 2.0 * send.moved, ..send }
}

/// The same where a node may lie on both ways: it keeps what goes either, and each waits there for the other, so that the path is of so
/// many elements at most.
fn meeting(send: Formula, path: f64) -> Formula {
    if send.scratch == 0.0 {
        return both_ways(send);
    }
    let both = Formula { moved: 2.0 * send.moved, scratch: 2.0 * send.scratch, ..send };
    both.with_path(path, false).at_most(&[Figure::Scratch], false)
}

/// The packet size that makes `groups` groups, a number that need not be whole.
fn packet_for(shape: &Shape, links: u32, groups: f64) -> f64 {
    shape.count as f64 / (f64::from(links.max(1)) * groups.max(1.0))
}

/// K_d: the sum of 1 / C(d, k) over k = 0, ..., d; Stout and Wagar 1990, section 3.
fn k_sum(d: u32) -> f64 {
    let terms = (0..=d).scan(1.0, |binomial, k| {
        let term = 1.0 / *binomial;
        *binomial *= f64::from(d - k) / f64::from(k + 1);
        Some(term)
    });
    terms.sum()
}

/// What a group of `len` elements costs that spreads over the subcube between two nodes at distance `d`
/// ([`relay::Spread`]).
#[derive(Clone, Copy)]
struct Spreading {
    d: u32,
    len: usize,
}

impl Spreading {
    /// Whether every share is whole.
    fn is_even(&self) -> bool {
        self.len.is_multiple_of(spread_unit(self.d))
    }

    /// The most elements that a link carries in each stage. A share is 1 of d C(d - 1, k) parts of the group, in as many intervals as
    /// its sender, which has k incoming shares, has to take from these; each interval may be rounded up.
    fn stages(&self) -> impl Iterator<Item = usize> {
        let Spreading { d, len } = *self;
        let (even, mut intervals, mut links) = (self.is_even(), 1, d as usize);
        (0..d as usize).map(move |k| {
            if k > 0 {
                let outgoing = d as usize - k;
                // Incoming shares that the j-th outgoing one takes from: k incoming ones are as long as all outgoing ones.
                let taken = (0..outgoing).map(|j| ((j + 1) * k).div_ceil(outgoing) - j * k / outgoing);
                intervals *= taken.max().unwrap_or(1);
                links = links * outgoing / k;
            }
            len.div_ceil(links) + if even { 0 } else { intervals - 1 }
        })
    }

    /// The longest stage.
    fn longest(&self) -> usize {
        self.stages().max().unwrap_or(0)
    }

    /// All stages, one after the other.
    fn in_turn(&self) -> usize {
        self.stages().sum()
    }

    /// What a node receives at each distance from 1 to d; the last one all.
    fn received(&self) -> impl Iterator<Item = usize> {
        let Spreading { d, len } = *self;
        (1..).zip(self.stages()).map(move |(k, stage)| if k == d as usize { len.min(k * stage) } else { k * stage })
    }

    /// What of it is there before the next distance has something to receive: a node sends on what its first outgoing share takes
    /// from as soon as it has that. Beyond distance 7 some wait for more.
    fn received_first(&self) -> impl Iterator<Item = usize> {
        let d = self.d as usize;
        (1..).zip(self.received()).map(move |(k, all)| if k == d || d > 7 { all } else { all / k * k.div_ceil(d - k) })
    }
}

/// lcm(1, ..., d), which is also the least number that d C(d - 1, k) divides for every k: a group of as many elements spreads
/// evenly over the opposite corner's subcube. Below 2^42 for every cube.
pub fn spread_unit(d: u32) -> usize {
    (1..=d as usize).fold(1, |unit, k| {
        let (mut a, mut b) = (unit, k);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        unit / a * k
    })
}
