//! Broadcast: the root's vector to all ranks.
//!
//! ```
//! hypercoll::threads::run(6, |cube| {
//!     let mut data = if cube.rank() == 2 { [3.5; 100] } else { [0.0; 100] };
//!     // Along three edge-disjoint trees, each of which carries packets of 10 elements.
//!     cube.broadcast(2).algorithm("msbt").packet(10).run(&mut data).unwrap();
//!     assert_eq!(data, [3.5; 100]);
//! });
//! ```

pub mod binary;
pub mod chain;
pub mod circulant;
pub mod direct;
pub mod double_wave;
pub mod hamiltonian_path;
pub mod hamiltonian_path_middle;
pub mod hamiltonian_paths;
pub mod msbt;
mod pipeline;
pub mod pipelined_wave;
pub mod postal;
pub mod recursive_doubling;
pub mod recursive_doubling_symmetrized;
pub mod sbt;
pub mod scatter_all_gather;
pub mod tcbt;
pub mod two_level;
pub mod wave;

use super::{Parameters, PortModel, Route};
use crate::schedule::Problem;
use crate::topology::Tree;
use std::ops::Range;

/// The packets of a vector: B elements each, the last one what is left.
pub(super) fn packets(problem: &Problem, parameters: &Parameters) -> impl Iterator<Item = (usize, Range<usize>)> {
    let vector = problem.vector();
    let packet = parameters.packet.unwrap_or(vector.len()).max(1);
    let end = vector.end;
    vector.step_by(packet).enumerate().map(move |(q, start)| (q, start..(start + packet).min(end)))
}

/// The port models, all of which take packets.
const ALL_PACKETS: &[PortModel] = &PortModel::ALL;

/// Writes the broadcast of one packet along one tree, its part at `node`: the packet enters the node of relative address c in
/// the round `round(c)`.
fn packet_down(
    problem: &Problem,
    tree: &impl Tree,
    node: usize,
    route: &mut Route,
    packet: Range<usize>,
    round: impl Fn(usize) -> usize,
) {
    pipeline::down(problem, tree, node, route, || std::iter::once((0, packet.clone())), |c, _| round(c));
}

#[cfg(test)]
mod tests {
    use crate::algorithm::verify::verify;
    use crate::algorithm::{registry, Parameters, PortModel, Shape};
    use crate::collective::{Call, Collective};

    /// What the analyses of Stout and Wagar, section 2, come to for d = 1, 2 and 6 and m = 240: stages, stages times packet,
    /// and the largest load of a link: all packets one after the other, a single one, two, or those of g groups and one more.
    #[test]
    fn stages_and_loads_of_stout_and_wagar() {
        let cases = [
            ("recursive_doubling", None, [(1, 240, 240), (2, 480, 240), (6, 1440, 240)]),
            ("recursive_doubling_symmetrized", None, [(1, 240, 240), (2, 240, 240), (6, 240, 240)]),
            ("wave", None, [(1, 240, 240), (3, 360, 120), (7, 280, 40)]),
            ("double_wave", None, [(1, 240, 240), (2, 240, 240), (6, 240, 80)]),
            ("pipelined_wave", None, [(1, 240, 240), (2, 240, 240), (6, 240, 80)]),
            // g = 24, 12, 4.
            ("pipelined_wave", Some(10), [(24, 240, 240), (13, 130, 130), (9, 90, 50)]),
        ];
        for (name, packet, expected) in cases {
            for (n, (rounds, elements, load)) in [1, 2, 6].into_iter().zip(expected) {
                for collective in [Collective::Broadcast, Collective::Reduce] {
                    let algorithm = registry::find(collective, name).expect("in the registry");
                    let call = Call::new(collective, 1 << n, 240).with_root((1 << n) / 3);
                    let parameters = Parameters { packet, symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
                    let report = verify(algorithm, &call, &parameters);
                    assert!(report.violations.is_empty(), "{algorithm:?}, n = {n}: {:?}", report.violations);
                    let found = (report.cost.rounds, report.cost.longest_sum(), report.cost.max_link_load);
                    assert_eq!(found, (rounds, elements, load), "{algorithm:?}, n = {n}");
                }
            }
        }
    }

    /// The optimised time of BROADCAST 4, where the best number of groups is whole: d = 5, m = 20000, beta = 1000 tau, g = 4.
    #[test]
    fn the_best_packet_takes_the_optimised_time() {
        let algorithm = registry::find(Collective::Broadcast, "pipelined_wave").expect("in the registry");
        let mut parameters = Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
        let time = |parameters: &Parameters| {
            let shape = Shape::new(&Call::new(Collective::Broadcast, 32, 20_000), parameters);
            ((algorithm.formula)(&shape).time(1000.0, 1.0), (algorithm.best_packet)(&shape, 1000.0, 1.0))
        };
        assert_eq!(time(&parameters).1, 1000.0);
        let by_packet = |packet| {
            parameters.packet = Some(packet);
            time(&parameters).0
        };
        let times = [500, 800, 1000, 1334, 2000].map(by_packet);
        assert_eq!(times[2], 20_000.0 / 5.0 + 2.0 * 4000.0 + 4.0 * 1000.0);
        assert!(times.iter().all(|&time| time >= times[2]), "{times:?}");
    }
}
