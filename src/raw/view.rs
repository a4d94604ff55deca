//! rsmpi's views, whose datatypes MPI packs: also of types with gaps, of structs and of tuples.

use super::elements::{Elements, ElementsMut, Gaps};
use super::Packing;
use crate::buffer::{Buffer, BufferMut};
use bytemuck::{Pod, Zeroable};
use mpi::datatype::{MutView, View};
use mpi::ffi::{self, MPI_Datatype};
use mpi::traits::{AsDatatype, AsRaw, Collection, Datatype, Pointer, PointerMut};
use mpi::Count;
use std::rc::Rc;

/// The element of rsmpi's views: a byte of what MPI's datatypes describe. Lengths of views are in bytes of data.
///
/// A call panics before anything is sent if one element of a view's datatype has more than 2^30 bytes of data, as MPI packs by counts of bytes in
/// an `int`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct MpiByte(u8);

// SAFETY: a byte; all are valid.
unsafe impl Zeroable for MpiByte {}
// SAFETY: as above.
unsafe impl Pod for MpiByte {}

/// Bytes that MPI packs at a time; it counts them in `int`s.
const MOST: usize = 1 << 30;

/// As Rust's type; MPI libraries differ in theirs.
fn address(extent: impl TryInto<isize>) -> isize {
    extent.try_into().unwrap_or(0)
}

/// Elements of a datatype of MPI, which lives as long as the view.
struct Described {
    datatype: MPI_Datatype,
    /// Bytes of data of one, and from one to the next.
    size: usize,
    extent: isize,
}

impl Described {
    fn new(datatype: MPI_Datatype) -> Described {
        let (mut size, mut lower_bound, mut extent) = (0 as ffi::MPI_Count, 0, 0);
        // SAFETY: a datatype that is there, and places for the answers.
        unsafe {
            ffi::PMPI_Type_size_x(datatype, &mut size);
            ffi::PMPI_Type_get_extent(datatype, &mut lower_bound, &mut extent);
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        assert!(size <= MOST, "an element of {size} bytes: MPI packs elements of up to {MOST}; make them parts of it");
        Described { datatype, size, extent: address(extent) }
    }

    /// Calls `act` with the first of some elements, their number, and where their data is among the packed.
    fn parts(&self, count: usize, mut act: impl FnMut(usize, Count, std::ops::Range<usize>)) {
        let most = MOST / self.size.max(1);
        for first in (0..count).step_by(most) {
            let some = most.min(count - first);
            act(first, some as Count, first * self.size..(first + some) * self.size);
        }
    }
}

impl Packing for Described {
    unsafe fn pack(&self, from: *const u8, count: usize, into: &mut [u8]) {
        self.parts(count, |first, some, data| {
            let from = from.wrapping_offset(first as isize * self.extent).cast();
            let (target, mut position) = (&mut into[data], 0);
            let room = target.len() as Count;
            // SAFETY: the elements are there, and a place for their data.
            unsafe {
                let target = target.as_mut_ptr().cast();
                ffi::PMPI_Pack(from, some, self.datatype, target, room, &mut position, ffi::RSMPI_COMM_SELF)
            };
            assert_eq!(position, room, "MPI packs more than the data");
        });
    }

    unsafe fn unpack(&self, from: &[u8], into: *mut u8, count: usize) {
        self.parts(count, |first, some, data| {
            let into = into.wrapping_offset(first as isize * self.extent).cast();
            let (source, mut position) = (&from[data], 0);
            let len = source.len() as Count;
            // SAFETY: the elements are there to be written, and their data.
            unsafe {
                let source = source.as_ptr().cast();
                ffi::PMPI_Unpack(source, len, &mut position, into, some, self.datatype, ffi::RSMPI_COMM_SELF)
            };
        });
    }
}

/// Bytes of data, and how they are gathered.
fn described(view: &(impl AsDatatype + Collection)) -> (usize, Gaps) {
    let described = Described::new(view.as_datatype().as_raw());
    let count = usize::try_from(view.count()).unwrap_or(0);
    (count * described.size, Gaps { packing: Rc::new(described), count })
}

impl<D: Datatype, B: Pointer + ?Sized> Buffer for View<'_, '_, D, B> {
    type Element = MpiByte;

    fn elements(&self) -> Elements<'_, MpiByte> {
        let (bytes, gaps) = described(self);
        // SAFETY: whoever made the view has promised that its elements are there.
        unsafe { Elements::with_gaps(self.pointer().cast(), bytes, gaps) }
    }
}

impl<D: Datatype, B: PointerMut + ?Sized> BufferMut for MutView<'_, '_, D, B> {
    type Element = MpiByte;

    fn elements_mut(&mut self) -> ElementsMut<'_, MpiByte> {
        let (bytes, gaps) = described(self);
        // SAFETY: whoever made the view has promised that its elements are there to be written.
        unsafe { ElementsMut::with_gaps(self.pointer_mut().cast(), bytes, gaps) }
    }
}
