//! Broadcast by a scatter of the vector's parts and an all-gather.
//!
//! Algorithm: the vector is cut into one part a rank. The root halves what it has: across the last dimension of an exchange goes the half that
//! the nodes over there are to have, and every node does the same across the dimensions before. Then the exchange,
//! [`all_gather::complete_broadcast`](super::super::all_gather::complete_broadcast), brings all parts to all; a node is sent nothing that has
//! come to it, or through it, before. Far places get one part of a node, and near ones half of all.
//!
//! Reference: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts 1994, "Building a high-performance collective communication library"; the
//! exchange is that of Stout and Wagar 1990, section 6. M elements.
//!
//! Requirements: none.
//!
//! Cost: plain 2 (1 - 2^-n) M t_c + 2 n tau; symmetrised, all-ports 2 (1 - 2^-n)/n M t_c + 2 n tau. Where 2^n n (plain: 2^n) does not divide
//! M: 2 times the sum of ceil(L/2^i), i = 1, ..., n, for slices of L = ceil(M/n) (plain: M). Each rank receives each element once.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: with p_0, ..., p_(n-1) the dimensions of the exchange and c a relative address, the scatter leaves a node the parts of
//! all that differ from it in p_0, ..., p_(j-1) only, p_j the first of them in which c has a bit (the root: all); so after step k of the exchange
//! it has those of p_0, ..., p_k, and is sent something only if j <= k.
//!
//! Example, n = 2, root 0, parts 0 to 3, the exchange over dimension 1, then 0: 0 sends parts 1 and 3 to 1; 0 sends 2 to 2, and 1 sends 3 to 3;
//! 0 sends 0 to 2, and 1 sends 1 to 3; 0 sends 0 and 2 to 1, 2 sends 0 and 2 to 3, and 3 sends 1 and 3 to 2, 1 to 0 none.

use crate::algorithm::exchange::Exchange;
use crate::algorithm::{
    halved, strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS,
};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "scatter_all_gather",
    summary: "long vectors over shared links: few start-ups, little goes far",
    source: "Barnett et al. 1994",
    section: "-",
    differs: "a rank is sent nothing that it has passed on before",
    symmetrizes: true,
    ports: &[PortModel::OnePort, PortModel::AllPorts],
    cost: "plain: 2 (1 - 2^-n) M t_c + 2 n tau; symmetrised, all-ports: 2 (1 - 2^-n)/n M t_c + 2 n tau",
    formula,
    shared_port: SHARED_PORT,
    crossing: Some(halved::crossing),
    strides: strides::halving,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The root's halves of halves go at the same time as its first half: of what one port needs, on a star of 8 hosts, 64 KiB took 1.15 times as much
/// in packets of 4 KiB and 1.5 whole, 1 MiB 1.45; in SimGrid, 256 KiB on 16 to 1024 hosts, 1.2. (Backwards 1.0, and symmetrised.)
const SHARED_PORT: f64 = 1.25;

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    if shape.n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let moved = ((shape.size - 1) * shape.count) as f64;
    // Parts are longer or shorter by an element, which goes one way only, and some of few elements are empty.
    let rounded = [Figure::Rounds, Figure::Elements, Figure::Load, Figure::Hops, Figure::Path, Figure::Scratch];
    // Symmetrised, what one slice waits for comes while another does.
    let waits = shape.n == 1 || !shape.parameters.symmetrized;
    let figures = Formula { moved, ..halved::there_and_back(shape) };
    figures.at_most(&rounded, halved::even(shape)).at_most(&[Figure::Path], waits)
}

/// The cost of the reduction, which is the same backwards. What the root receives in a step, going there and going back, are all the parts that
/// the next one halves: together the vector, and what all steps but the last halve; the former comes first to each place of the result, and needs
/// no other if that lies elsewhere.
pub fn reduced(shape: &Shape) -> Formula {
    let forward = formula(shape);
    if forward == Formula::NOTHING {
        return forward;
    }
    let first = if shape.in_place { shape.count } else { 0 };
    Formula { scratch: (halved::exchanged(shape, 1..=shape.n - 1) + first) as f64, ..forward }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let exchange = Exchange::new(problem.n, parameters).far_first(problem);
    let (n, c) = (problem.n as usize, node ^ problem.root);
    route.set_rounds(2 * n);
    for (slice, step) in (0..exchange.slices()).flat_map(|slice| (0..problem.n).map(move |step| (slice, step))) {
        let (done, bit) = (exchange.done(slice, step), 1 << exchange.port(slice, step));
        let peer = node ^ bit;
        let parts = |of| halved::parts(&exchange, problem, slice, done, of);
        let (scatter, gather) = (n - 1 - step as usize, n + step as usize);
        // Whether the scatter has brought a node, or its neighbour over there, both halves.
        let had = |c: usize| c & (done | bit) == 0;
        if had(c) {
            route.send(scatter, peer, parts(peer));
        } else {
            route.receive(gather, peer, parts(peer));
        }
        if had(c ^ bit) {
            route.receive(scatter, peer, parts(node));
        } else {
            route.send(gather, peer, parts(node));
        }
    }
}
