//! All-gather by shifts, from host to host.
//!
//! Algorithm: in phase k = 0, ..., H - 1 the ranks of every host send their blocks to the k-th next host, to each of its ranks as many
//! as to any other; whoever receives one passes it on to the other ranks of its host. So every block enters every host once, and all
//! ranks of a host work its ports together. Where every rank has a host of its own, rank i sends its block to rank i + k; where one host
//! has more ranks than all others, not all of its ranks speak with those: see [`by_hosts`].
//!
//! Reference: classic; the passing on within a host is that of Traeff and Hunold 2020, "Decomposing MPI collectives for exploiting
//! multi-lane communication". H hosts of R ranks, P = H R.
//!
//! Requirements: a network where every two ranks are linked, or shared memory.
//!
//! Cost: (P - 1) (m t_c + tau), of which (P - R) m go into and out of each host.
//!
//! Memory: none besides the result.
//!
//! Correctness condition: a phase begins with a round in which rank l of a host sends to rank l of another and receives from rank l of
//! a third; then R - 1 rounds are shifts within each host. Where hosts have more ranks than others, a phase has several such waves, and l stays
//! below the ranks of either host.
//!
//! Example, 2 hosts of 2 ranks, rank 0: own block to 1 (round 0), to 2 on the other host (round 1), and the block of 2 to 1 (round 2).

use crate::algorithm::by_hosts::{self, crossing, gathered, Course};
use crate::algorithm::{Algorithm, Form, Parameters, PortModel, Route, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllGather,
    name: "shift",
    summary: "long blocks, any number of ranks and hosts: each block enters every host once",
    source: "classic shifts",
    section: "-",
    cube_edges: false,
    ports: &[PortModel::OnePort],
    cost: "(P - 1) (m t_c + tau), (P - R) m of it between hosts of R ranks",
    formula: |shape| gathered(Course::Shift, shape),
    crossing: Some(|shape| crossing(Course::Shift, shape)),
    form: Form::Forward(write),
    ..DEFAULTS
};

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    by_hosts::write(Course::Shift, problem, node, route, |place| problem.block(place));
}
