//! The list of all algorithms. The command line, the checker, the tests, the benchmark, the choice and the README's table are
//! driven by it, so that none of them can drift.

use super::Algorithm;
use crate::collective::Collective;
use crate::error::{Error, Result};

/// All algorithms, by collective.
pub static ALGORITHMS: &[Algorithm] = &[
    super::broadcast::sbt::ALGORITHM,
    super::broadcast::msbt::ALGORITHM,
    super::broadcast::direct::ALGORITHM,
    super::scatter::sbt::ALGORITHM,
    super::scatter::sbnt::ALGORITHM,
    super::scatter::direct::ALGORITHM,
    super::gather::sbt::ALGORITHM,
    super::gather::sbnt::ALGORITHM,
    super::gather::direct::ALGORITHM,
    super::all_gather::complete_broadcast::ALGORITHM,
    super::all_gather::pairwise_xor::ALGORITHM,
    super::all_to_all::complete_exchange::ALGORITHM,
    super::all_to_all::pairwise_xor::ALGORITHM,
    super::reduce::sbt::ALGORITHM,
    super::reduce::msbt::ALGORITHM,
    super::reduce::direct::ALGORITHM,
    super::reduce_scatter::histogram::ALGORITHM,
    super::reduce_scatter::pairwise_xor::ALGORITHM,
    super::all_reduce::histogram::ALGORITHM,
    super::all_reduce::sbt::ALGORITHM,
    super::all_reduce::direct::ALGORITHM,
    super::permute::permuted_send::ALGORITHM,
    super::permute::direct::ALGORITHM,
    super::matrix_multiply::block::ALGORITHM,
    super::matrix_multiply::dns::ALGORITHM,
    super::barrier::dissemination::ALGORITHM,
];

/// The algorithms of a collective.
pub fn of(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(move |a| a.collective == collective)
}

/// The algorithm of a collective by its name (hyphens and underscores are the same).
///
/// # Errors
/// [`Error::UnknownAlgorithm`], with the names that would have done.
pub fn find(collective: Collective, name: &str) -> Result<&'static Algorithm> {
    let wanted = name.replace('-', "_").to_lowercase();
    of(collective).find(|a| a.name == wanted).ok_or_else(|| Error::UnknownAlgorithm {
        name: name.to_string(),
        collective,
        known: of(collective).map(|a| a.name).collect::<Vec<_>>().join(", "),
    })
}
