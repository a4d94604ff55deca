//! The list of all algorithms: what there is for a collective, and an algorithm by its name.
//!
//! The command line, the checker, the tests, the benchmark, the choice and the table of algorithms read this list, so that they cannot
//! come to differ.
//!
//! ```
//! use hypercoll::algorithm::registry;
//! use hypercoll::collective::Collective;
//!
//! let barriers: Vec<&str> = registry::of(Collective::Barrier).map(|algorithm| algorithm.name).collect();
//! assert_eq!(barriers, ["recursive_doubling", "dissemination", "two_level", "direct", "central"]);
//!
//! let msbt = registry::find(Collective::Broadcast, "msbt")?;
//! assert_eq!(msbt.source, "HJ86 MSBT"); // the paper, and the name there
//! let error = registry::find(Collective::Broadcast, "mbst").err().unwrap();
//! assert!(error.to_string().contains("known: sbt, msbt, recursive_doubling"));
//! # hypercoll::Result::Ok(())
//! ```

use super::Algorithm;
use crate::collective::Collective;
use crate::error::{Error, Result};

/// All algorithms, by collective.
pub static ALGORITHMS: &[Algorithm] = &[
    super::broadcast::sbt::ALGORITHM,
    super::broadcast::msbt::ALGORITHM,
    super::broadcast::recursive_doubling::ALGORITHM,
    super::broadcast::recursive_doubling_symmetrized::ALGORITHM,
    super::broadcast::wave::ALGORITHM,
    super::broadcast::double_wave::ALGORITHM,
    super::broadcast::pipelined_wave::ALGORITHM,
    super::broadcast::tcbt::ALGORITHM,
    super::broadcast::hamiltonian_path::ALGORITHM,
    super::broadcast::hamiltonian_path_middle::ALGORITHM,
    super::broadcast::hamiltonian_paths::ALGORITHM,
    super::broadcast::chain::ALGORITHM,
    super::broadcast::circulant::ALGORITHM,
    super::broadcast::scatter_all_gather::ALGORITHM,
    super::broadcast::two_level::ALGORITHM,
    super::broadcast::direct::ALGORITHM,
    super::broadcast::postal::ALGORITHM,
    super::broadcast::binary::ALGORITHM,
    super::scatter::sbt::ALGORITHM,
    super::scatter::sbnt::ALGORITHM,
    super::scatter::bst::ALGORITHM,
    super::scatter::balanced_tree::ALGORITHM,
    super::scatter::multinode::ALGORITHM,
    super::scatter::distribute::ALGORITHM,
    super::scatter::distribute_waves::ALGORITHM,
    super::scatter::tcbt::ALGORITHM,
    super::scatter::sbg::ALGORITHM,
    super::scatter::msbt::ALGORITHM,
    super::scatter::direct::ALGORITHM,
    super::scatter::two_level::ALGORITHM,
    super::gather::sbt::ALGORITHM,
    super::gather::sbnt::ALGORITHM,
    super::gather::bst::ALGORITHM,
    super::gather::balanced_tree::ALGORITHM,
    super::gather::multinode::ALGORITHM,
    super::gather::distribute::ALGORITHM,
    super::gather::distribute_waves::ALGORITHM,
    super::gather::tcbt::ALGORITHM,
    super::gather::sbg::ALGORITHM,
    super::gather::msbt::ALGORITHM,
    super::gather::direct::ALGORITHM,
    super::gather::two_level::ALGORITHM,
    super::all_gather::complete_broadcast::ALGORITHM,
    super::all_gather::multinode_broadcast::ALGORITHM,
    super::all_gather::sbnt::ALGORITHM,
    super::all_gather::sbg::ALGORITHM,
    super::all_gather::msbt::ALGORITHM,
    super::all_gather::bruck::ALGORITHM,
    super::all_gather::ring::ALGORITHM,
    super::all_gather::pairwise_xor::ALGORITHM,
    super::all_gather::shift::ALGORITHM,
    super::all_gather::lanes::ALGORITHM,
    super::all_gather::two_level::ALGORITHM,
    super::all_to_all::complete_exchange::ALGORITHM,
    super::all_to_all::total_exchange::ALGORITHM,
    super::all_to_all::sbnt::ALGORITHM,
    super::all_to_all::sbg::ALGORITHM,
    super::all_to_all::pairwise_xor::ALGORITHM,
    super::all_to_all::one_factor::ALGORITHM,
    super::all_to_all::shift::ALGORITHM,
    super::all_to_all::bruck::ALGORITHM,
    super::all_to_all::three_step::ALGORITHM,
    super::neighbor_all_to_all::direct::ALGORITHM,
    super::reduce::sbt::ALGORITHM,
    super::reduce::msbt::ALGORITHM,
    super::reduce::recursive_doubling::ALGORITHM,
    super::reduce::recursive_doubling_symmetrized::ALGORITHM,
    super::reduce::wave::ALGORITHM,
    super::reduce::double_wave::ALGORITHM,
    super::reduce::pipelined_wave::ALGORITHM,
    super::reduce::tcbt::ALGORITHM,
    super::reduce::hamiltonian_path::ALGORITHM,
    super::reduce::hamiltonian_path_middle::ALGORITHM,
    super::reduce::hamiltonian_paths::ALGORITHM,
    super::reduce::chain::ALGORITHM,
    super::reduce::circulant::ALGORITHM,
    super::reduce::reduce_scatter_gather::ALGORITHM,
    super::reduce::two_level::ALGORITHM,
    super::reduce::direct::ALGORITHM,
    super::reduce::postal::ALGORITHM,
    super::reduce::binary::ALGORITHM,
    super::reduce_scatter::histogram::ALGORITHM,
    super::reduce_scatter::multinode_broadcast::ALGORITHM,
    super::reduce_scatter::sbnt::ALGORITHM,
    super::reduce_scatter::sbg::ALGORITHM,
    super::reduce_scatter::msbt::ALGORITHM,
    super::reduce_scatter::bruck::ALGORITHM,
    super::reduce_scatter::ring::ALGORITHM,
    super::reduce_scatter::pairwise_xor::ALGORITHM,
    super::reduce_scatter::shift::ALGORITHM,
    super::reduce_scatter::lanes::ALGORITHM,
    super::reduce_scatter::two_level::ALGORITHM,
    super::all_reduce::histogram::ALGORITHM,
    super::all_reduce::sbt::ALGORITHM,
    super::all_reduce::tcbt::ALGORITHM,
    super::all_reduce::recursive_doubling::ALGORITHM,
    super::all_reduce::ring::ALGORITHM,
    super::all_reduce::direct::ALGORITHM,
    super::all_reduce::shift::ALGORITHM,
    super::all_reduce::lanes::ALGORITHM,
    super::all_reduce::two_level::ALGORITHM,
    super::all_reduce::postal::ALGORITHM,
    super::all_reduce::binary::ALGORITHM,
    super::all_reduce::leaders::ALGORITHM,
    super::scan::recursive_doubling::ALGORITHM,
    super::scan::doubling::ALGORITHM,
    super::scan::chain::ALGORITHM,
    super::scan::direct::ALGORITHM,
    super::scan::recursive_doubling::EXCLUSIVE,
    super::scan::doubling::EXCLUSIVE,
    super::scan::chain::EXCLUSIVE,
    super::scan::direct::EXCLUSIVE,
    super::permute::inversion::ALGORITHM,
    super::permute::permuted_send::ALGORITHM,
    super::permute::direct::ALGORITHM,
    super::send::oc_send_1::ALGORITHM,
    super::send::oc_send_2::ALGORITHM,
    super::send::oc_send_3::ALGORITHM,
    super::send::oc_send_4::ALGORITHM,
    super::send::xoc_send_1::ALGORITHM,
    super::send::xoc_send_2::ALGORITHM,
    super::send::arbitrary_send_1::ALGORITHM,
    super::send::arbitrary_send_2::ALGORITHM,
    super::send::arbitrary_send_3::ALGORITHM,
    super::send::oc_send_1::EXCHANGE,
    super::send::oc_send_2::EXCHANGE,
    super::send::oc_send_3::EXCHANGE,
    super::send::oc_send_4::EXCHANGE,
    super::send::xoc_send_1::EXCHANGE,
    super::send::xoc_send_2::EXCHANGE,
    super::send::arbitrary_send_1::EXCHANGE,
    super::send::arbitrary_send_2::EXCHANGE,
    super::send::arbitrary_send_3::EXCHANGE,
    super::send::direct::ALGORITHM,
    super::send::direct::EXCHANGE,
    super::transpose_rows::complete_exchange::ALGORITHM,
    super::transpose_rows::pairwise_xor::ALGORITHM,
    super::transpose_submatrices::lc_inversion::ALGORITHM,
    super::transpose_submatrices::permuted_send::ALGORITHM,
    super::transpose_submatrices::direct::ALGORITHM,
    super::quarter_turn::squares::ALGORITHM,
    super::quarter_turn::permuted_send::ALGORITHM,
    super::quarter_turn::direct::ALGORITHM,
    super::matrix_multiply::block::ALGORITHM,
    super::matrix_multiply::cannon::ALGORITHM,
    super::matrix_multiply::dns::ALGORITHM,
    super::matrix_multiply::broadcasts::ALGORITHM,
    super::barrier::recursive_doubling::ALGORITHM,
    super::barrier::dissemination::ALGORITHM,
    super::barrier::two_level::ALGORITHM,
    super::barrier::direct::ALGORITHM,
    super::barrier::central::ALGORITHM,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Form;

    /// What runs backwards is an algorithm of the collective's reversal.
    #[test]
    fn rows_backwards_are_rows_of_the_reversal() {
        let mut backwards = 0;
        for row in ALGORITHMS {
            let Form::Backward(write) = row.form else { continue };
            let reversal = row.collective.meaning().reversal.expect("has a reversal");
            let forwards = |row: &Algorithm| matches!(row.form, Form::Forward(w) if std::ptr::fn_addr_eq(w, write));
            assert!(of(reversal).any(forwards), "{row:?}");
            backwards += 1;
        }
        assert!(backwards > 20);
    }
}
