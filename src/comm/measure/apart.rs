//! Ranks that have a core each when they work are on one each while they are measured.
//!
//! Where MPI does not bind them, two may begin on the same, and the kernel may leave them there for tens of milliseconds: what they take
//! for each other in that time says nothing of what they will take.

use super::agree;
use crate::comm::Hypercube;
use crate::error::Result;
use crate::executor::mpi::OwnCore;
use crate::operation::SystemOperation;
use crate::select::Options;

/// Words that a rank tells: 64 cores a word, but for the last one, its first choice. Cores beyond are not chosen.
const WORDS: usize = 17;

/// Keeps every rank on a core of its own until this is dropped.
pub(super) struct Apart {
    _core: OwnCore,
}

impl Apart {
    /// `None` if that cannot be. All ranks call this together, and find the same.
    pub fn keep(cube: &Hypercube) -> Result<Option<Apart>> {
        let mut all = vec![0; WORDS * cube.size];
        cube.all_gather().packet(Options::WHOLE).run(&words(&OwnCore::choices())[..], &mut all[..])?;
        let choices = Vec::from_iter(all.chunks_exact(WORDS).map(choices));
        let core = one_each(&choices).and_then(|cores| OwnCore::keep(cores[cube.rank]));
        let mut kept = u8::from(core.is_some());
        agree(cube, &mut kept, SystemOperation::min())?;
        Ok(core.filter(|_| kept == 1).map(|core| Apart { _core: core }))
    }
}

fn words(choices: &[usize]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for core in choices.iter().filter(|&core| *core < 64 * (WORDS - 1)) {
        words[core / 64] |= 1 << (core % 64);
    }
    words[WORDS - 1] = choices.first().map_or(0, |&core| core as u64);
    words
}

fn choices(words: &[u64]) -> Vec<usize> {
    let first = words[WORDS - 1] as usize;
    let mut cores = Vec::from_iter((0..64 * (WORDS - 1)).filter(|core| words[core / 64] & 1 << (core % 64) != 0));
    cores.sort_by_key(|&core| core != first);
    cores
}

/// One of its choices for every rank, if each gets one: those that have few choose first, and each the first one that is free.
fn one_each(choices: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut order = Vec::from_iter(0..choices.len());
    order.sort_by_key(|&rank| choices[rank].len());
    let mut cores = vec![usize::MAX; choices.len()];
    for rank in order {
        cores[rank] = *choices[rank].iter().find(|core| !cores.contains(core))?;
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_gets_a_core_of_its_choice() {
        let each = |choices: &[&[usize]]| one_each(&Vec::from_iter(choices.iter().map(|cores| cores.to_vec())));
        assert_eq!(each(&[&[1, 0], &[1, 0]]), Some(vec![1, 0]));
        assert_eq!(each(&[&[1, 0], &[1]]), Some(vec![0, 1]), "the second has no choice");
        assert_eq!(each(&[&[3], &[5], &[9]]), Some(vec![3, 5, 9]));
        assert_eq!(each(&[&[1], &[1]]), None);
        assert_eq!(each(&[&[0], &[]]), None, "nobody tells");
    }

    #[test]
    fn choices_are_told_in_words() {
        for told in [&[][..], &[0], &[63, 0, 5, 64], &[1023, 1, 2]] {
            assert_eq!(choices(&words(told)), told);
        }
        assert_eq!(choices(&words(&[5000, 3])), [3]);
    }
}
