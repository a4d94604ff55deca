//! rsmpi's own partitioned buffers, as arguments of the calls of this library.

use crate::buffer::Element;
use crate::partition::{Partitioned, PartitionedMut, Places};
use mpi::datatype::{Partition, PartitionMut, Partitioned as Described};
use mpi::traits::{Buffer as MpiBuffer, BufferMut as MpiBufferMut, Pointer, PointerMut};
use mpi::Count;
use std::borrow::Borrow;

/// Elements that blocks of a buffer reach to. rsmpi refuses partitions with blocks that end beyond their buffer, but for those that are
/// negative or end beyond what can be counted: of these there are none here, and the call refuses them.
fn reach(described: &impl Described) -> usize {
    let blocks = described.counts().iter().zip(described.displs());
    let ends = blocks.map(|(&count, &place)| {
        let end = count.checked_add(place).filter(|_| count >= 0 && place >= 0)?;
        usize::try_from(end).ok()
    });
    ends.collect::<Option<Vec<usize>>>().and_then(|ends| ends.into_iter().max()).unwrap_or(0)
}

/// Lists that are the same whenever they are looked at, so that what rsmpi has seen of them holds.
pub trait Fixed: Borrow<[Count]> {}

impl Fixed for Vec<Count> {}
impl Fixed for Box<[Count]> {}
impl Fixed for &[Count] {}
impl<const N: usize> Fixed for [Count; N] {}

macro_rules! of_buffers {
    ($($(#[$doc:meta])* [$($generic:tt)*] $buffer:ty,)*) => {$(
        impl<$($generic)*, C: Fixed, D: Fixed> Partitioned for Partition<'_, $buffer, C, D>
        where
            $buffer: MpiBuffer,
        {
            type Element = T;
            type Buffer = [T];

            fn buffer(&self) -> &[T] {
                // SAFETY: the elements of a buffer that it borrows, of which rsmpi has seen that the blocks are within.
                unsafe { std::slice::from_raw_parts(self.pointer().cast(), reach(self)) }
            }

            fn places(&self) -> Places {
                Places::new(self.counts(), self.displs())
            }
        }

        impl<$($generic)*, C: Fixed, D: Fixed> PartitionedMut for PartitionMut<'_, $buffer, C, D>
        where
            $buffer: MpiBufferMut,
        {
            type Element = T;
            type Buffer = [T];

            fn buffer_mut(&mut self) -> &mut [T] {
                let len = reach(self);
                // SAFETY: as above, borrowed to be written.
                unsafe { std::slice::from_raw_parts_mut(self.pointer_mut().cast(), len) }
            }

            fn places(&self) -> Places {
                Places::new(self.counts(), self.displs())
            }
        }
    )*};
}

of_buffers! {
    [T: Element] [T],
    [T: Element] Vec<T>,
    [T: Element, const N: usize] [T; N],
}
