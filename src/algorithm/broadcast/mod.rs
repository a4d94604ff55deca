//! Broadcast: the root's vector to all ranks.

pub mod direct;
pub mod double_wave;
pub mod msbt;
pub mod pipelined_wave;
pub mod recursive_doubling;
pub mod recursive_doubling_symmetrized;
pub mod sbt;
pub mod wave;

use super::{Parameters, PortModel, Route};
use crate::schedule::Problem;
use crate::topology::Tree;
use std::ops::Range;

/// The packets of a vector: B elements each, the last one what is left.
fn packets(vector: Range<usize>, parameters: &Parameters) -> impl Iterator<Item = (usize, Range<usize>)> {
    let packet = parameters.packet.unwrap_or(vector.len()).max(1);
    let end = vector.end;
    vector.step_by(packet).enumerate().map(move |(q, start)| (q, start..(start + packet).min(end)))
}

/// The port models, all of which take packets.
const ALL_PACKETS: &[PortModel] = &PortModel::ALL;

/// Writes the broadcast of one packet along one tree, its part at `node`: the packet enters the node of relative address c in
/// the round `round(c)`.
fn down(
    problem: &Problem,
    tree: &impl Tree,
    node: usize,
    route: &mut Route,
    packet: Range<usize>,
    round: impl Fn(usize) -> usize,
) {
    let root = problem.root;
    let c = node ^ root;
    if let Some(parent) = tree.parent(c) {
        route.receive(round(c), parent ^ root, [packet.clone()]);
    }
    for child in tree.children(c) {
        route.send(round(child), child ^ root, [packet.clone()]);
    }
}
