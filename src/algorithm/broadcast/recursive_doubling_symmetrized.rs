//! Broadcast by recursive doubling, in all dimensions at once.
//!
//! Algorithm: the vector is cut into n packets, and packet i is broadcast by recursive doubling with the dimensions taken from
//! i on, cyclically: i, i + 1, ..., i - 1. In every step each packet uses a dimension of its own.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 2 (erratum 21: at the end of stage k a packet is in a subcube of k + 1
//! dimensions). d there is n here, m is M; tau there is t_c here, beta there is tau here.
//!
//! Requirements: all ports at once; reductions must commute, as the packets join the ranks in different orders.
//!
//! Cost: M t_c + n tau. Links towards the root carry nothing, those out of the root all M elements.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet i goes along the SBT rotated by i; step k uses port (i + k) mod n, which differs from packet to
//! packet.
//!
//! Example, n = 3, root 0: step 0: packet 0 to 1, packet 1 to 2, packet 2 to 4; step 1: packet 0 to 2 and from 1 to 3, packet 1 to
//! 4 and from 2 to 6, packet 2 to 1 and from 4 to 5; step 2: packet 0 across port 2 from 0, 1, 2, 3, and so on.

use super::packet_down;
use crate::algorithm::{strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::{rotated::Rotated, sbt::Sbt};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "recursive_doubling_symmetrized",
    summary: "n start-ups, and the vector leaves the root once over each of its links in n parts",
    source: "SW BROADCAST 2",
    section: "2",
    ports: &[PortModel::AllPorts],
    cost: "M t_c + n tau",
    formula,
    strides: strides::tree,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast; n packets of at most ceil(M/n) elements.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let (m, packet) = (shape.count as f64, shape.count.div_ceil(n));
    Formula {
        rounds: n,
        elements: (n * packet) as f64,
        moved: (shape.size - 1) as f64 * m,
        load: m,
        hops: n,
        path: m + ((n - 1) * packet) as f64,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], shape.count.is_multiple_of(n))
}

/// The cost of the reduction, which is the same backwards: the root receives n vectors, in n packets each, its children n - 1.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    let (n, m) = (f64::from(shape.n), shape.count as f64);
    Formula { scratch: if shape.in_place { n } else { n - 1.0 } * m, ..forward }.with_path(n * m, true)
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    route.set_rounds(n as usize);
    for i in 0..n {
        let tree = Rotated::new(Sbt::new(n), i);
        let packet = part(problem.vector(), i as usize, n as usize);
        packet_down(problem, &tree, node, route, packet, |c| tree.original(c).ilog2() as usize);
    }
}
