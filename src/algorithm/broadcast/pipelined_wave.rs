//! Broadcast by pipelined waves.
//!
//! Algorithm: the vector is cut into g groups, which follow one another one step apart: the first g - 1 by single waves
//! ([`super::wave`]), the last by a double wave ([`super::double_wave`]). In step k the nodes of C_j work on group k - j only,
//! and on group g - 1 twice.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 4. d there is n here, m is M; tau there is t_c here, beta there is tau
//! here. C_j are the nodes at distance j from the root. A packet of B elements means g = ceil(M / (n B)) groups.
//!
//! Requirements: all ports at once; reductions must commute.
//!
//! Cost: (n + g - 1) (M/(n g) t_c + tau), which no broadcast in packets of one size can beat. Least for
//! g = sqrt((n - 1) M t_c / (n tau)), that is B = sqrt(M tau / (n (n - 1) t_c)): M/n t_c + 2 sqrt((n - 1) M t_c tau / n) +
//! (n - 1) tau, for n = 1 with g = 1.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: in a step of a single wave only one C_j sends. The waves are a step apart, so a link carries at most
//! one packet in a step; the second half of the double wave is the wave after the last.
//!
//! Example, n = 2, g = 2, root 0, packets P0 P1 and Q0 Q1: step 0: P0 to 1, P1 to 2; step 1: Q0 to 1, Q1 to 2, P0 from 1 to 3, P1
//! from 2 to 3; step 2: Q1 to 1, Q0 to 2, Q0 from 1 to 3, Q1 from 2 to 3, P1 from 3 to 1, P0 from 3 to 2.

use super::packet_down;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::{msbt::Ersbt, wave::DoubleWave};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "pipelined_wave",
    summary: "long vectors on all ports: the fewest rounds that packets of one size allow",
    source: "SW BROADCAST 4",
    section: "2",
    packets: &[PortModel::AllPorts],
    ports: &[PortModel::AllPorts],
    cost: "(n + g - 1) (M/(n g) t_c + tau), g = ceil(M/(n B))",
    formula,
    exact: |shape| shape.count.is_multiple_of(shape.n.max(1) as usize * shape.parameters.groups(shape.count, shape.n)),
    best_packet,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// Rounds and elements of the broadcast, and of the reduction, which is the same backwards.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::default();
    }
    let g = shape.parameters.groups(shape.count, shape.n);
    let m = shape.count as f64;
    let packet = m / (n * g) as f64;
    let rounds = n + g - 1;
    Formula {
        rounds,
        elements: rounds as f64 * packet,
        moved: (shape.nodes() - 1) as f64 * m,
        // A link out of the root carries a packet of every group, and a second one of the last.
        load: if n == 1 { m } else { (g + 1) as f64 * packet },
        hops: n,
        path: m + (n - 1) as f64 * packet,
    }
}

/// sqrt(M tau / (t_c n (n - 1))); the whole vector for n = 1.
fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    match shape.n as f64 {
        n if n > 1.0 => (shape.count as f64 * tau / (t_c * n * (n - 1.0))).sqrt(),
        _ => shape.count as f64,
    }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let n = problem.n as usize;
    if n == 0 {
        return;
    }
    let vector = problem.vector();
    let g = parameters.groups(vector.len(), problem.n);
    route.set_rounds(n + g - 1);
    for i in 0..n {
        let packet = |group: usize| part(vector.clone(), group * n + i, n * g);
        let single = Ersbt::new(problem.n, i as u32);
        for group in 0..g - 1 {
            packet_down(problem, &single, node, route, packet(group), |c| group + single.level(c) as usize - 1);
        }
        let double = DoubleWave::new(problem.n, i as u32);
        packet_down(problem, &double, node, route, packet(g - 1), |c| {
            g - 1 + double.step(c).map_or(0, |step| step as usize)
        });
    }
}
