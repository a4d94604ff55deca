//! Whether a call given as data makes sense, before anything is planned.

use super::Call;
use crate::error::Error;

impl Call {
    /// Checks what all ranks can check alike: root and peer, the permutation, the blocks, and that all positions can be
    /// counted.
    ///
    /// # Errors
    /// [`Error::Root`], [`Error::Permutation`], or [`Error::Call`], each with the argument at fault.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |argument, why: String| Err(Error::Call { argument, collective: self.collective, why });
        for rank in [self.root, self.peer] {
            if rank >= self.size {
                return Err(Error::Root { root: rank, size: self.size });
            }
        }
        if self.collective.permutes() {
            check_permutation(self.permutation.as_deref().unwrap_or_default(), self.size)?;
        }
        let blocks = self.blocks();
        if let Some(layout) = &self.layout {
            if !self.collective.meaning().unequal {
                return wrong("layout", "has no blocks of unequal lengths".into());
            }
            if layout.blocks() != blocks {
                return wrong("layout", format!("{} blocks for {} ranks, not {blocks}", layout.blocks(), self.size));
            }
            if layout.longest() != self.count {
                return wrong("count", format!("{}, but the longest block has {}", self.count, layout.longest()));
            }
        }
        let counted = match self.collective.multiplies() {
            true => self.product().checked_space(),
            false => self.count.checked_mul(2 * blocks),
        };
        if counted.is_none() {
            return wrong(
                "count",
                format!("{} elements on {} ranks are more than can be counted", self.count, self.size),
            );
        }
        if let Some(hosts) = &self.hosts {
            if hosts.ranks() != self.size {
                return wrong("hosts", format!("of {} ranks, not {}", hosts.ranks(), self.size));
            }
            if !self.collective.knows_hosts() || self.avoid.is_some() {
                return wrong(
                    "hosts",
                    "makes no difference between them, nor does any collective that avoids links".into(),
                );
            }
        }
        if self.avoid.as_ref().is_some_and(|avoid| avoid.size() != self.size) {
            return wrong("avoid", "links of a cube of another size".into());
        }
        Ok(())
    }
}

/// Checks that `permutation` is one of the ranks from 0 to `size` - 1.
///
/// # Errors
/// [`Error::Permutation`], with what is wrong.
pub fn check_permutation(permutation: &[usize], size: usize) -> Result<(), Error> {
    if permutation.len() != size {
        return Err(Error::Permutation { why: format!("{} targets for {size} ranks", permutation.len()) });
    }
    let mut sources = vec![None; size];
    for (rank, &target) in permutation.iter().enumerate() {
        match sources.get_mut(target) {
            None => return Err(Error::Permutation { why: format!("rank {rank} sends to {target}, which is no rank") }),
            Some(Some(other)) => {
                return Err(Error::Permutation { why: format!("ranks {other} and {rank} both send to {target}") })
            }
            Some(source) => *source = Some(rank),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Avoided, Collective, Layout};

    #[test]
    fn errors_name_the_argument() {
        let call = |collective| Call::new(collective, 4, 3);
        let vectors = Layout::of_vectors([1, 2, 0, 3]);
        let right = [
            call(Collective::Permute).with_layout(vectors.clone()),
            call(Collective::Scatter).with_layout(vectors.clone()),
            call(Collective::AllToAll).with_layout(Layout::of_pairs(4, |from, to| from + to)),
            Call { avoid: Avoided::new(4, &[(0, 1)]).ok(), ..call(Collective::Send) },
        ];
        for call in right {
            assert_eq!(call.check(), Ok(()), "{call:?}");
        }
        let wrong = [
            (call(Collective::Permute).with_layout(Layout::of_pairs(4, |_, _| 1)), "layout"),
            (call(Collective::AllToAll).with_layout(vectors.clone()), "layout"),
            (call(Collective::Broadcast).with_layout(vectors.clone()), "layout"),
            (call(Collective::Send).with_layout(vectors.clone()), "layout"),
            (Call { count: 2, ..call(Collective::Permute).with_layout(vectors) }, "count"),
            (Call { count: usize::MAX / 7, ..call(Collective::Exchange) }, "count"),
            (Call { count: usize::MAX / 17, ..call(Collective::AllToAll) }, "count"),
            (Call { avoid: Avoided::new(8, &[(0, 1)]).ok(), ..call(Collective::Send) }, "avoid"),
            (Call { peer: 4, ..call(Collective::Send) }, "root"),
            (call(Collective::TransposeSubmatrices).with_grid(0), "permutation"),
            (call(Collective::TransposeSubmatrices).with_grid(3), "permutation"),
        ];
        for (call, argument) in wrong {
            let error = call.check().unwrap_err().to_string();
            assert!(error.starts_with(argument), "{error}");
        }
    }
}
