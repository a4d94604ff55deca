//! Broadcast: the root's vector to all ranks.

pub mod direct;
pub mod hamiltonian_path;
pub mod hamiltonian_path_middle;
pub mod hamiltonian_paths;
pub mod msbt;
pub mod sbt;
pub mod tcbt;

mod pipeline;

use super::{Parameters, PortModel};
use std::ops::Range;

/// The packets of a vector: B elements each, the last one what is left.
fn packets(vector: Range<usize>, parameters: &Parameters) -> impl Iterator<Item = (usize, Range<usize>)> {
    let packet = parameters.packet.unwrap_or(vector.len()).max(1);
    let end = vector.end;
    vector.step_by(packet).enumerate().map(move |(q, start)| (q, start..(start + packet).min(end)))
}

/// The port models, all of which take packets.
const ALL_PACKETS: &[PortModel] = &PortModel::ALL;
