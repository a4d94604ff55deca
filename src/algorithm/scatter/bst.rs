//! Scatter along the balanced spanning tree (BST) of 1986, which is the SBnT min-right: [`sbnt`] without its other variants.
//!
//! Reference: Ho and Johnsson 1986, sections 4.1 (the tree), 4.2.2 (cyclic, and level by level on all ports) and 5.2 (depth
//! first); table 6 with erratum 5. Base j there is index j of 1988. Cost, requirements, memory, correctness condition and example
//! are those of [`sbnt`].

use super::sbnt;
use crate::algorithm::Algorithm;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "bst",
    summary: "the SBnT min-right under its name of 1986",
    source: "HJ86 BST",
    section: "4.1, 4.2.2",
    differs: "is sbnt without its other variants",
    variants: false,
    ..sbnt::ALGORITHM
};
