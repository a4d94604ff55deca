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
use crate::algorithm::{strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
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
    best_packet,
    strides: strides::dimensions,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the broadcast; packets of at most ceil(M/(n g)) elements.
pub fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let g = shape.parameters.groups(shape.count, shape.n);
    let (m, packet) = (shape.count as f64, shape.count.div_ceil(n * g) as f64);
    let rounds = n + g - 1;
    Formula {
        rounds,
        elements: rounds as f64 * packet,
        moved: (shape.size - 1) as f64 * m,
        // A link out of the root carries a packet of every group, and a second one of the last.
        load: if n == 1 { m } else { (g + 1) as f64 * packet },
        hops: n,
        path: m + (n - 1) as f64 * packet,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Elements, Figure::Load, Figure::Path], shape.count.is_multiple_of(n * g))
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if shape.n < 2 || forward == Formula::NOTHING {
        let scratch = if shape.in_place { forward.load } else { 0.0 };
        return Formula { scratch, ..forward };
    }
    let (n, g) = (shape.n as usize, shape.parameters.groups(shape.count, shape.n));
    // Every port carries a packet of each group at most, but one towards the root two of the last. The first packet comes up n
    // levels, at which others come too: as many as counted, or those of all children, of which there are 1, ..., n - 1 on the way.
    let even = shape.count.is_multiple_of(n * g);
    let counted = COUNTED.get(n).copied().filter(|_| even || g == 1);
    let first = counted.unwrap_or(n * (n + 1) / 2 - 1);
    // A longer one comes up every level at most, and something else at least once.
    let (packet, longer) = (shape.count / (n * g), shape.count % (n * g));
    let ahead = first * packet + first.min(n.min(first - 1) * longer);
    Formula { scratch: n as f64 * forward.load, path: (shape.count + ahead) as f64, ..forward }
        .at_most(&[Figure::Path], counted.is_some() && even)
        .at_most(&[Figure::Scratch], false)
}

/// For n < 9 and packets that are all equal, how many follow one another on the way of the first.
const COUNTED: [usize; 9] = [0, 0, 2, 4, 6, 9, 11, 14, 17];

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
