//! Send: the root's vector to the peer; and exchange: the two change places.
//!
//! An exchange is two sends at once. The links that a send uses towards the peer are used in the opposite direction by the one
//! towards the root, so the two do not meet; each file here has a row for either.

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

use super::{Formula, Shape};
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

/// The formula of an exchange, given that of a send over links of which the way back uses the opposite directions.
fn both_ways(send: Formula) -> Formula {
    Formula { moved: 2.0 * send.moved, ..send }
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
