//! Elements of any datatype as bytes, and back.

use super::Layout;
use crate::native::{ffi, SUCCESS};
use crate::session;
use ffi::{MPI_Aint, MPI_Datatype};
use std::ffi::{c_int, c_void};

/// Bytes that are packed at a time: MPI counts them by C's `int`.
const PACKED_AT_ONCE: usize = 1 << 30;

/// A datatype of so many bytes in one piece, which may be more than fit into C's `int`.
struct Packed(MPI_Datatype);

impl Packed {
    /// # Safety
    /// MPI is up.
    unsafe fn of(bytes: usize) -> Packed {
        let byte = ffi::RSMPI_UINT8_T;
        let (mut piece, mut all) = (byte, byte);
        ffi::PMPI_Type_contiguous(PACKED_AT_ONCE as c_int, byte, &mut piece);
        let rest = bytes % PACKED_AT_ONCE;
        let counts = [bytes / PACKED_AT_ONCE, rest].map(|count| count as c_int);
        let (places, types) = ([0, (bytes - rest) as MPI_Aint], [piece, byte]);
        ffi::PMPI_Type_create_struct(2, counts.as_ptr(), places.as_ptr(), types.as_ptr(), &mut all);
        ffi::PMPI_Type_commit(&mut all);
        ffi::PMPI_Type_free(&mut piece);
        Packed(all)
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        // SAFETY: made by `of`, and nobody else has it.
        unsafe { ffi::PMPI_Type_free(&mut self.0) };
    }
}

/// Sends an element to this rank itself, as another datatype of as much data. (No request of ours has this tag.)
///
/// # Safety
/// The element is there, and nobody else uses where it goes.
unsafe fn to_itself((from, sent): (*const c_void, MPI_Datatype), (into, received): (*mut c_void, MPI_Datatype)) {
    let (rank, tag) = (0, 0);
    let status = ffi::RSMPI_STATUS_IGNORE;
    let alone = session::alone();
    let code = ffi::PMPI_Sendrecv(from.cast_mut(), 1, sent, rank, tag, into, 1, received, rank, tag, alone, status);
    debug_assert_eq!(code, SUCCESS);
}

/// Whether elements go to this rank itself instead of being packed: longer ones than MPI packs at a time, and those of absolute addresses with
/// MPICH, to which `MPI_BOTTOM`, which is null, is no address to pack from.
fn are_sent(at: *const u8, layout: Layout) -> bool {
    layout.is_long() || cfg!(not(open_mpi)) && at.is_null() && layout.size > 0
}

/// # Safety
/// The elements are there.
pub unsafe fn pack(from: *const u8, count: usize, datatype: MPI_Datatype, layout: Layout, into: &mut [u8]) {
    if are_sent(from, layout) {
        let packed = Packed::of(layout.size);
        for (at, into) in into.chunks_exact_mut(layout.size).take(count).enumerate() {
            let from = from.wrapping_offset(at as isize * layout.extent).cast();
            to_itself((from, datatype), (into.as_mut_ptr().cast(), packed.0));
        }
        return;
    }
    let at_once = (PACKED_AT_ONCE / layout.size.max(1)).clamp(1, c_int::MAX as usize);
    let mut done = 0;
    while done < count && layout.size > 0 {
        let now = at_once.min(count - done);
        let into = &mut into[done * layout.size..][..now * layout.size];
        let (room, mut end) = (into.len() as c_int, 0);
        let from = from.wrapping_offset(done as isize * layout.extent).cast::<c_void>();
        let into = into.as_mut_ptr().cast::<c_void>();
        ffi::PMPI_Pack(from.cast_mut(), now as c_int, datatype, into, room, &mut end, session::alone());
        debug_assert_eq!(end, room);
        done += now;
    }
}

/// # Safety
/// The elements are there, and nobody else uses them.
pub unsafe fn unpack(from: &[u8], into: *mut u8, count: usize, datatype: MPI_Datatype, layout: Layout) {
    if are_sent(into, layout) {
        let packed = Packed::of(layout.size);
        for (at, from) in from.chunks_exact(layout.size).take(count).enumerate() {
            let into = into.wrapping_offset(at as isize * layout.extent).cast();
            to_itself((from.as_ptr().cast(), packed.0), (into, datatype));
        }
        return;
    }
    let at_once = (PACKED_AT_ONCE / layout.size.max(1)).clamp(1, c_int::MAX as usize);
    let mut done = 0;
    while done < count && layout.size > 0 {
        let now = at_once.min(count - done);
        let from = &from[done * layout.size..][..now * layout.size];
        let (len, mut end) = (from.len() as c_int, 0);
        let into = into.wrapping_offset(done as isize * layout.extent).cast::<c_void>();
        let from = from.as_ptr().cast_mut().cast::<c_void>();
        ffi::PMPI_Unpack(from, len, &mut end, into, now as c_int, datatype, session::alone());
        debug_assert_eq!(end, len);
        done += now;
    }
}
