//! Buffers made of a block for each rank, of different lengths: rsmpi's `Partition` and `PartitionMut`, with and without MPI.
//!
//! Block i has `counts[i]` elements from `displs[i]` on. Counts and displacements are of any integer type, rsmpi's `Count` (`i32`)
//! and `usize` among them. Blocks of what is sent may overlap; those of what is received may not. The buffer may be any, also one whose
//! elements lie apart ([`Strided`](crate::buffer::Strided)): places are counted in its elements. rsmpi's own types are accepted as well, of
//! slices, vectors and arrays.
//!
//! ```
//! use hypercoll::{threads, PartitionMut};
//!
//! // Rank r contributes r elements; every second place of the result stays free.
//! let received = threads::run(3, |cube| {
//!     let send = vec![b'a' + cube.rank() as u8; cube.rank()];
//!     let mut receive = *b"-----";
//!     cube.all_gather_varcount_into(&send, &mut PartitionMut::new(&mut receive, [0, 1, 2], [0, 1, 3])).unwrap();
//!     receive
//! });
//! assert_eq!(&received, &[*b"-b-cc"; 3]);
//! ```

use crate::buffer::{Buffer, BufferMut, Element};
use crate::error::{Error, Result};
use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

/// A count or a displacement: any integer.
pub trait Count: Copy {
    /// In elements; `usize::MAX`, which nothing is as long as, if it is negative or more than can be counted.
    fn elements(self) -> usize;
}

macro_rules! counts {
    ($($t:ty)*) => {$(
        impl Count for $t {
            fn elements(self) -> usize {
                self.try_into().unwrap_or(usize::MAX)
            }
        }
    )*};
}

counts!(u16 u32 u64 usize i16 i32 i64 isize);

/// Where the blocks of a buffer are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    counts: Arc<[usize]>,
    displacements: Arc<[usize]>,
}

impl Places {
    /// Of counts and displacements, one of each a rank. Whether they make sense is checked by the call.
    pub fn new<I: Count, J: Count>(counts: &[I], displacements: &[J]) -> Places {
        Places {
            counts: counts.iter().map(|count| count.elements()).collect(),
            displacements: displacements.iter().map(|place| place.elements()).collect(),
        }
    }

    /// Elements of each block.
    pub(crate) fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Where the blocks begin, unless they follow one another from the beginning on.
    pub(crate) fn displacements(&self) -> Option<Arc<[usize]>> {
        let mut end = 0;
        let follows = self.counts.iter().zip(&self.displacements[..]).all(|(&count, &place)| {
            let follows = count == 0 || place == end;
            end += count;
            follows
        });
        (!follows).then(|| Arc::clone(&self.displacements))
    }

    /// Where a block is.
    pub(crate) fn block(&self, index: usize) -> Range<usize> {
        self.displacements[index]..self.displacements[index].saturating_add(self.counts[index])
    }

    /// Whether there is a block for each of so many ranks, all in a buffer of `len` elements, and, where they are written, apart.
    pub(crate) fn check(&self, argument: &'static str, size: usize, len: usize, written: bool) -> Result<()> {
        let wrong = |why: String| Err(Error::Partition { argument, why });
        let (counts, places) = (self.counts.len(), self.displacements.len());
        if (counts, places) != (size, size) {
            return wrong(format!("{counts} counts and {places} displacements for {size} ranks"));
        }
        if let Some(index) = (0..size).find(|&index| self.block(index).end > len) {
            let Range { start, end } = self.block(index);
            return wrong(match end == usize::MAX {
                true => format!("block {index} has a negative count or displacement, or none that can be counted"),
                false => format!("block {index} is elements {start} to {end} of a buffer of {len}"),
            });
        }
        if written && self.displacements().is_some() {
            let mut blocks: Vec<usize> = (0..size).filter(|&index| self.counts[index] > 0).collect();
            blocks.sort_unstable_by_key(|&index| self.displacements[index]);
            let meets = |pair: &&[usize]| self.block(pair[0]).end > self.displacements[pair[1]];
            if let Some(pair) = blocks.windows(2).find(meets) {
                let (one, other) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                return wrong(format!("blocks {one} and {other} overlap, and both would be written"));
            }
        }
        Ok(())
    }
}

/// A buffer to read from, made of blocks: [`Partition`], or rsmpi's.
pub trait Partitioned {
    /// The type of an element.
    type Element: Element;
    /// The buffer.
    type Buffer: Buffer<Element = Self::Element> + ?Sized;

    /// The buffer, with elements at least up to the end of the last block.
    fn buffer(&self) -> &Self::Buffer;

    /// Where the blocks are.
    fn places(&self) -> Places;
}

/// A buffer to write to, made of blocks: [`PartitionMut`], or rsmpi's.
pub trait PartitionedMut {
    /// The type of an element.
    type Element: Element;
    /// The buffer.
    type Buffer: BufferMut<Element = Self::Element> + ?Sized;

    /// The buffer, with elements at least up to the end of the last block.
    fn buffer_mut(&mut self) -> &mut Self::Buffer;

    /// Where the blocks are.
    fn places(&self) -> Places;
}

/// A buffer to read from, with the blocks that it is made of.
#[derive(Clone, Debug)]
pub struct Partition<'b, B: ?Sized> {
    buffer: &'b B,
    places: Places,
}

impl<'b, B: Buffer + ?Sized> Partition<'b, B> {
    /// Block i has `counts[i]` elements from `displs[i]` on. What makes no sense is refused by the call ([`Error::Partition`]).
    pub fn new<I: Count, J: Count>(buffer: &'b B, counts: impl Borrow<[I]>, displs: impl Borrow<[J]>) -> Self {
        Partition { buffer, places: Places::new(counts.borrow(), displs.borrow()) }
    }
}

impl<B: Buffer + ?Sized> Partitioned for Partition<'_, B> {
    type Element = B::Element;
    type Buffer = B;

    fn buffer(&self) -> &B {
        self.buffer
    }

    fn places(&self) -> Places {
        self.places.clone()
    }
}

/// A buffer to write to, with the blocks that it is made of.
#[derive(Debug)]
pub struct PartitionMut<'b, B: ?Sized> {
    buffer: &'b mut B,
    places: Places,
}

impl<'b, B: BufferMut + ?Sized> PartitionMut<'b, B> {
    /// As [`Partition::new`]; blocks do not overlap.
    pub fn new<I: Count, J: Count>(buffer: &'b mut B, counts: impl Borrow<[I]>, displs: impl Borrow<[J]>) -> Self {
        PartitionMut { buffer, places: Places::new(counts.borrow(), displs.borrow()) }
    }
}

impl<B: BufferMut + ?Sized> PartitionedMut for PartitionMut<'_, B> {
    type Element = B::Element;
    type Buffer = B;

    fn buffer_mut(&mut self) -> &mut B {
        self.buffer
    }

    fn places(&self) -> Places {
        self.places.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        let why = |counts: &[i32], places: &[i32], written| {
            let checked = Places::new(counts, places).check("receive", 2, 5, written);
            checked.map_or_else(|error| error.to_string(), |()| "right".into())
        };
        assert_eq!(why(&[2, 3], &[0, 2], true), "right");
        assert_eq!(why(&[2, 3], &[3, 0], true), "right");
        assert_eq!(why(&[0, 5], &[1, 0], true), "right");
        assert_eq!(why(&[3, 4], &[0, 1], false), "right");
        assert_eq!(why(&[3, 2], &[1, 0], true), "receive: blocks 0 and 1 overlap, and both would be written");
        assert_eq!(why(&[2, 3], &[0, 3], true), "receive: block 1 is elements 3 to 6 of a buffer of 5");
        assert!(why(&[-1, 3], &[0, 2], true).starts_with("receive: block 0 has a negative count"));
        assert!(why(&[1, 3], &[0, -2], false).starts_with("receive: block 1 has a negative count"));
        assert_eq!(why(&[1, 2, 3], &[0, 2], true), "receive: 3 counts and 2 displacements for 2 ranks");
        let most = Places::new(&[usize::MAX, 1], &[1, 0]).check("send", 2, 5, false).unwrap_err().to_string();
        assert!(most.starts_with("send: block 0 has"), "{most}");
    }

    #[test]
    fn blocks_that_follow_one_another_need_no_displacements() {
        assert_eq!(Places::new(&[2, 0, 3], &[0, 9, 2]).displacements(), None);
        assert_eq!(Places::new(&[2, 0, 3], &[0, 2, 3]).displacements().as_deref(), Some(&[0, 2, 3][..]));
    }
}
