//! All-reduce by shifts, from host to host.
//!
//! Algorithm: the vector is cut into as long a part for each host, and that into a block for each of its ranks; a reduce-scatter by shifts
//! leaves each block's result on its rank, and an all-gather by shifts brings it to all. Where hosts have unlike numbers of
//! ranks, all parts are cut into as many blocks, of which a rank may have several or none: see [`by_hosts`].
//!
//! Reference: that of [`all_gather::shift`]; Stout and Wagar 1990, section 8, for the composition. M elements, H hosts of R ranks.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; the operation must commute.
//!
//! Cost: 2 (P - 1) (M/P t_c + tau) where hosts have as many ranks, M/P rounded up; of which 2 (H - 1)/H M go into and out of each host,
//! whatever their ranks.
//!
//! Memory: the partial results that a rank combines for others.
//!
//! Correctness condition: those of its halves.
//!
//! Example, 3 ranks on 3 hosts, rank 0: third 1 to 1, third 2 to 2, then the result of third 0 to 1 and to 2.

use crate::algorithm::by_hosts::{self, crossing_reduced, reduced, Course};
use crate::algorithm::{all_gather, Algorithm, Form, Parameters, Route};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::AllReduce,
    summary: "long vectors, any number of ranks and hosts: each element enters and leaves every host twice",
    cost: "2 (P - 1) (M/P t_c + tau), 2 (H - 1)/H M of it between hosts",
    formula: |shape| reduced(Course::Shift, shape),
    crossing: Some(crossing_reduced),
    in_step: true,
    form: Form::BackwardForward(write, write),
    ..all_gather::shift::ALGORITHM
};

fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    by_hosts::write_shares(Course::Shift, problem, node, route);
}
