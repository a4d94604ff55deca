//! Broadcast by a wave.
//!
//! Algorithm: the vector is cut into n packets. The root sends packet i over port i. In step k the nodes at distance k from the
//! root send a packet on every link: back over port w the packet w, which they have and the node there lacks; onwards over
//! port z the packet whose number is the first 1 after z, cyclically. So a wave runs once through the cube, and every node has
//! what is missing from those behind it one step after the wave has left it.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 3A (erratum 22: the root sends P_z on link z). d there is n here, m is
//! M; tau there is t_c here, beta there is tau here; C_k are the nodes at distance k.
//!
//! Requirements: all ports at once; reductions must commute, as the packets join the ranks in different orders.
//!
//! Cost: (n + 1)/n M t_c + (n + 1) tau, for n = 1 (where the last step would only return to the root) M t_c + tau. No link carries
//! more than M/n elements.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet i goes along tree i of the MSBT graph ([`crate::topology::wave`]), one level a step; what the
//! paper sends back to the root is left out. Only C_k sends in step k, so waves may follow one another ([`super::pipelined_wave`]).
//!
//! Example, n = 3, root 0: step 0: packet 0 to 1, 1 to 2, 2 to 4; step 1: packet 0 from 1 to 3 and 5, 1 from 2 to 3 and 6, 2 from 4
//! to 5 and 6; step 2: packet 0 from 3 to 7 and 2, from 5 to 4, and so on; step 3: packet 0 from 7 to 6, 1 to 5, 2 to 3.

use super::packet_down;
use crate::algorithm::{strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::{msbt::Ersbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "wave",
    summary: "the least load of the links: every link carries 1/n of the vector at most",
    source: "SW BROADCAST 3A",
    section: "2",
    ports: &[PortModel::AllPorts],
    cost: "(n + 1) (M/n t_c + tau)",
    formula,
    strides: strides::tree,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast; packets of at most ceil(M/n) elements.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let (m, packet) = (shape.count as f64, shape.count.div_ceil(n) as f64);
    let rounds = if n == 1 { 1 } else { n + 1 };
    Formula {
        rounds,
        elements: rounds as f64 * packet,
        moved: (shape.size - 1) as f64 * m,
        load: packet,
        hops: rounds,
        path: m + (rounds - 1) as f64 * packet,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], shape.count.is_multiple_of(n))
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if shape.n < 2 || forward == Formula::NOTHING {
        return super::sbt::reduced(&Shape { parameters: Parameters { packet: None, ..shape.parameters }, ..*shape });
    }
    // Every port carries one packet at most. The first one comes up n levels, at which packets of other trees come too.
    let (n, packet) = (f64::from(shape.n), forward.load);
    Formula { scratch: n * packet, path: shape.count as f64 + 2.0 * (n - 1.0) * packet, ..forward }
        .at_most(&[Figure::Path, Figure::Scratch], shape.count.is_multiple_of(shape.n as usize))
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    route.set_rounds(n as usize + 1);
    for i in 0..n {
        let tree = Ersbt::new(n, i);
        let packet = part(problem.vector(), i as usize, n as usize);
        packet_down(problem, &tree, node, route, packet, |c| Tree::level(&tree, c) as usize - 1);
    }
}
