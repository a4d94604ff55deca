//! Reduce-scatter by histogramming: symmetrised recursive halving, [`all_gather::complete_broadcast`] backwards.
//!
//! Algorithm: in each step a node gives its neighbour across one dimension its partial results for the neighbour's half of the
//! bins that both still hold, and adds what it gets to its own. Symmetrised, each of n slices of the blocks goes through the
//! dimensions in an order of its own. Plain (one dimension at a time) it is recursive halving.
//!
//! Reference: Stout and Wagar 1990, section 8, HISTOGRAM; M = 2^n m bins in all, m elements a block.
//!
//! Requirements: symmetrised the operation must commute (the slices join the ranks in different orders).
//!
//! Cost: symmetrised, all-ports (1 - 2^-n)/n M t_c + n tau; plain (1 - 2^-n) M t_c + n tau; plain, one-way twice that.
//!
//! Memory: the partial results that pass through, in scratch memory, at most half the vector and what arrives.
//!
//! Correctness condition: after the steps over a set D of dimensions a node holds the combination of all nodes that differ
//! from it in D only, for the blocks of the nodes that agree with it in D.
//!
//! Example, n = 3, plain, node 0: to 1 the bins 1 3 5 7, to 2 the bins 2 6, to 4 the bin 4. Where operands keep their order, from the
//! top dimension down.

use crate::algorithm::{all_gather, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    name: "histogram",
    source: "SW HISTOGRAM",
    section: "8",
    differs: "begins with dimension 0, and, where hosts are subcubes, within them",
    cost: "symmetrised, all-ports: (1 - 2^-n)/n M t_c + n tau with M = 2^n m; plain: (1 - 2^-n) M t_c + n tau (one-way: twice)",
    formula: all_gather::complete_broadcast::reduce_scattered,
    form: Form::Backward(all_gather::complete_broadcast::write),
    ..all_gather::complete_broadcast::ALGORITHM
};
