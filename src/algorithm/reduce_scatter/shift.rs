//! Reduce-scatter by shifts, from host to host: [`all_gather::shift`] backwards.
//!
//! Algorithm: what the ranks of a host have for another host's rank is combined on one of them, and goes to that rank. So every result
//! leaves every host once. (Where one host has more ranks than all others, it goes to a rank there that gives it to that one: see
//! [`by_hosts`](crate::algorithm::by_hosts).)
//!
//! Reference: as for the all-gather.
//!
//! Requirements: a network where every two ranks are linked, or shared memory; the operation must commute.
//!
//! Cost: (P - 1) (m t_c + tau), of which (P - R) m go into and out of each host.
//!
//! Memory: the partial results that a rank combines for others, in scratch memory: where hosts have as many ranks, at most all but its own.
//!
//! Correctness condition: that of the all-gather, backwards.
//!
//! Example, 2 hosts of 2 ranks, rank 0: for 2, from 1 (combined) and to 2; for 1; its own from 2 and from 1.

use crate::algorithm::by_hosts::{scattered, Course};
use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    summary: "long blocks, any number of ranks and hosts: each result leaves every host once",
    formula: |shape| scattered(Course::Shift, shape),
    form: Form::Backward(all_gather::shift::write),
    ..all_gather::shift::ALGORITHM
};
