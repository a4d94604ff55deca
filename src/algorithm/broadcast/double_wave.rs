//! Broadcast by two waves, one step apart.
//!
//! Algorithm: as [`super::wave`], but the root starts a second wave one step after the first, with packet w + 1 in the place of
//! packet w. It brings the farthest nodes but one what the first would return to them in its last step, which falls away.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 3B (errata, section B: Q_w = P_(w+1 mod d), from stage 1, for d - 1 stages).
//! d there is n here, m is M; tau there is t_c here, beta there is tau here.
//!
//! Requirements: all ports at once; reductions must commute, as the packets join the ranks in different orders.
//!
//! Cost: M t_c + n tau. No link carries more than 2 M/n elements (for n = 1, M).
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet i goes along tree i of [`crate::topology::wave`], which joins every node to the sender of the
//! packet that is first to arrive; what would arrive again is left out.
//!
//! Example, n = 3, root 0, packet 0: step 0: 0 to 1; step 1: 0 to 4, 1 to 3 and 5; step 2: 3 to 2 and 7, 4 to 6.

use super::packet_down;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::wave::DoubleWave;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "double_wave",
    summary: "n start-ups, and no link carries more than 2/n of the vector",
    source: "SW BROADCAST 3B",
    section: "2",
    ports: &[PortModel::AllPorts],
    cost: "M t_c + n tau",
    formula,
    exact: |shape| shape.count.is_multiple_of(shape.n.max(1) as usize),
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Rounds and elements of the broadcast, and of the reduction, which is the same backwards.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::default();
    }
    let m = shape.count as f64;
    Formula {
        rounds: n,
        elements: m,
        moved: (shape.nodes() - 1) as f64 * m,
        load: m * n.min(2) as f64 / n as f64,
        hops: n,
        path: m + m * (n - 1) as f64 / n as f64,
    }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n;
    route.set_rounds(n as usize);
    for i in 0..n {
        let tree = DoubleWave::new(n, i);
        let packet = part(problem.vector(), i as usize, n as usize);
        packet_down(problem, &tree, node, route, packet, |c| tree.step(c).map_or(0, |step| step as usize));
    }
}
