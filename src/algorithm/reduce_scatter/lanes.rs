//! Reduce-scatter in lanes: [`all_gather::lanes`] backwards.
//!
//! Algorithm: the ranks of a host combine, each what is for its lane on all hosts; then each lane goes on by halving among hosts.
//!
//! Reference: as for the all-gather. Cost and requirements are those of the all-gather; the operation must commute.
//!
//! Memory: the partial results that pass through, in scratch memory.
//!
//! Correctness condition: that of the all-gather, backwards.
//!
//! Example, 4 ranks, 2 on each of 2 hosts, rank 0: for 1 and 3 to 1, for 0 and 2 from 1; for 2 to 2, for 0 from 2.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    summary: "rather short blocks, hosts with several ranks: few start-ups, each result leaves every host once",
    differs: "among hosts by halving; with one rank a host, `bruck`",
    formula: all_gather::lanes::scattered,
    form: Form::Backward(all_gather::lanes::write),
    ..all_gather::lanes::ALGORITHM
};
