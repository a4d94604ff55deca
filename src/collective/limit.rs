//! The least that links must carry, whatever the algorithm.

use super::Call;
use crate::address::dimension_for;

/// How ranks are linked, by links that carry data in both directions at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Links {
    /// A link to each neighbour on the cube.
    Cube,
    /// One link, to a switch that holds nothing up.
    Star,
}

impl Links {
    /// Links of a rank.
    fn ports(self, call: &Call) -> f64 {
        match self {
            Links::Cube => f64::from(dimension_for(call.size)),
            Links::Star => 1.0,
        }
    }
}

impl Call {
    /// Elements that some link must carry in one direction, whatever the algorithm, where every rank has a host of its own and the cube
    /// is whole; `None` if that is not known, or nothing has to be carried.
    ///
    /// ```
    /// use hypercoll::collective::{Call, Collective, Links};
    ///
    /// let call = Call::new(Collective::Broadcast, 8, 300);
    /// assert_eq!(call.limit(Links::Star), Some(300.0));
    /// assert_eq!(call.limit(Links::Cube), Some(100.0)); // into a node over three links
    /// ```
    pub fn limit(&self, links: Links) -> Option<f64> {
        if self.size < 2 || self.count == 0 {
            return None;
        }
        (self.collective.meaning().limit)(self, links)
    }
}

/// The call's count, the ranks, and those but one.
fn numbers(call: &Call) -> (f64, f64, f64) {
    (call.count as f64, call.size as f64, (call.size - 1) as f64)
}

/// Nobody has worked it out, or nothing need be carried.
pub fn unknown(_: &Call, _: Links) -> Option<f64> {
    None
}

/// A vector into some node.
pub fn vector(call: &Call, links: Links) -> Option<f64> {
    Some(call.count as f64 / links.ports(call))
}

/// The blocks of all others, out of some node or into it.
pub fn blocks_of_others(call: &Call, links: Links) -> Option<f64> {
    let (count, _, others) = numbers(call);
    Some(others * count / links.ports(call))
}

/// A reduce-scatter, and an all-gather of its results.
pub fn parts_of_others_twice(call: &Call, links: Links) -> Option<f64> {
    let (count, ranks, others) = numbers(call);
    Some(2.0 * others / ranks * count / links.ports(call))
}

/// A block from each rank to each rank: half of them cross a dimension.
pub fn pairs(call: &Call, links: Links) -> Option<f64> {
    let (count, ranks, others) = numbers(call);
    Some(match links {
        Links::Cube => ranks / 2.0 * count,
        Links::Star => others * count,
    })
}

/// All links together carry every message over its distance; some node sends one through its ports.
pub fn permuted(call: &Call, links: Links) -> Option<f64> {
    let (count, ranks, _) = numbers(call);
    let permutation = call.permutation.as_ref()?;
    let distance: u32 = permutation.iter().enumerate().map(|(from, to)| (from ^ to).count_ones()).sum();
    match links {
        _ if distance == 0 => None,
        Links::Cube => Some((f64::from(distance) / ranks).max(1.0) * count / links.ports(call)),
        Links::Star => Some(count),
    }
}

/// A block over each link; all blocks of a rank over its only one.
pub fn neighbors(call: &Call, links: Links) -> Option<f64> {
    let dimension = f64::from(dimension_for(call.size));
    Some(dimension * call.count as f64 / links.ports(call))
}
