//! Operations: what combines the elements of a reduction. `PMPI_Reduce_local` does it, whatever the operation.

use crate::datatype::{pack, unpack, Layout, Scratch};
use crate::native::{self, ffi};
use crate::session;
use ffi::{MPI_Datatype, MPI_Op};
use hypercoll::raw::Operator;
use hypercoll::schedule::Side;
use std::ffi::{c_int, c_long, c_void};

/// Bytes of operands that are few: MPI takes longer to find out what is to be done with them than to do it.
const FEW: usize = 128;

/// Bytes that are copied at a time where operands change their sides.
const EXCHANGED: usize = 8 << 10;

type Few = fn(&[u8], &mut [u8]);

/// Adds numbers to as many others, each as its bytes.
macro_rules! added {
    ($number:ty, $add:expr) => {
        |from: &[u8], into: &mut [u8]| {
            const SIZE: usize = size_of::<$number>();
            let add: fn($number, $number) -> $number = $add;
            for (from, into) in from.chunks_exact(SIZE).zip(into.chunks_exact_mut(SIZE)) {
                if let (Some(from), Some(into)) = (from.first_chunk(), into.first_chunk_mut()) {
                    *into = add(<$number>::from_ne_bytes(*from), <$number>::from_ne_bytes(*into)).to_ne_bytes();
                }
            }
        }
    };
}

fn few(operation: &str, datatype: Option<&str>) -> Option<Few> {
    match (operation, datatype?) {
        ("MPI_SUM", "MPI_DOUBLE") => Some(added!(f64, |a, b| a + b)),
        ("MPI_SUM", "MPI_FLOAT") => Some(added!(f32, |a, b| a + b)),
        ("MPI_SUM", "MPI_INT") => Some(added!(c_int, c_int::wrapping_add)),
        ("MPI_SUM", "MPI_LONG") => Some(added!(c_long, c_long::wrapping_add)),
        _ => None,
    }
}

/// An operation on elements of a datatype.
#[derive(Clone, Copy)]
pub struct Operation {
    op: MPI_Op,
    datatype: MPI_Datatype,
    layout: Layout,
    /// What combines a few of them, where the usual ones are added.
    few: Option<Few>,
    /// Whether elements lie as they travel.
    dense: bool,
    symmetric: bool,
    /// Whether the bits of a result do not depend on the order of what is combined.
    exact: bool,
    pub commutes: bool,
    pub name: &'static str,
    /// What ranks must agree on of the datatype: of an operation of the program's each may have its own, if only the data is the same.
    pub element: &'static str,
}

impl Operation {
    /// `None` if it is not defined for them, or is none.
    pub fn of(op: MPI_Op, datatype: MPI_Datatype, layout: Layout) -> Option<Operation> {
        let handle = native::word(op);
        let dense = layout.is_dense(2);
        let predefined = session::facts().operations.iter().find(|(known, _)| *known == handle);
        let (name, commutes, symmetric, exact) = match predefined {
            Some((_, known)) => (known.defined & layout.group != 0).then_some((
                known.name,
                true,
                known.symmetric & layout.group != 0,
                known.exact & layout.group != 0,
            ))?,
            None if handle == 0 => return None,
            None => match native::commutes(op, session::alone())? {
                true => ("a commutative operation of the program's", true, false, false),
                false => ("an operation of the program's", false, false, false),
            },
        };
        let few = few(name, layout.name);
        let element = layout.name.filter(|_| predefined.is_some()).unwrap_or("element");
        Some(Operation { op, datatype, layout, few, dense, symmetric, exact, commutes, name, element })
    }

    /// Whether the bits of a result of so many ranks do not depend on the order of what is combined: of two there are but two orders.
    pub fn is_exact(&self, ranks: usize) -> bool {
        self.exact || self.symmetric && ranks <= 2
    }

    /// What a call does with an operation, if it has one, as the library takes it.
    #[inline]
    pub fn lent<R>(operation: Option<&Operation>, call: impl FnOnce(Option<&Operator>) -> R) -> R {
        let Some(op) = operation else { return call(None) };
        let combine = |side: Side, from: &[u8], into: &mut [u8]| op.combine(side, from, into);
        call(Some(&Operator { name: op.name, commutes: op.commutes, combine: &combine }))
    }

    /// Combines packed elements as [`hypercoll::raw::Operator::combine`] says.
    pub fn combine(&self, side: Side, from: &[u8], into: &mut [u8]) {
        if let Some(few) = self.few.filter(|_| into.len() <= FEW) {
            return few(from, into);
        }
        let count = into.len().checked_div(self.layout.size).unwrap_or(0);
        if count == 0 {
            return;
        }
        // SAFETY: as many elements in both, which are distinct; those that do not lie as they travel are laid out first.
        unsafe {
            match (self.dense, side) {
                (false, _) => self.combine_laid_out(side, from, into, count),
                (true, Side::Left) => self.reduce(from.as_ptr(), into.as_mut_ptr(), count),
                (true, Side::Right) if self.symmetric => self.reduce(from.as_ptr(), into.as_mut_ptr(), count),
                (true, Side::Right) => self.combine_from_the_right(from, into),
            }
        }
    }

    /// `into = from op into`, of elements as the program has them.
    unsafe fn reduce(&self, from: *const u8, into: *mut u8, count: usize) {
        let mut done = 0;
        while done < count {
            let now = (count - done).min(c_int::MAX as usize);
            let at = done as isize * self.layout.extent - if self.dense { self.layout.first } else { 0 };
            let from = from.wrapping_offset(at).cast::<c_void>().cast_mut();
            let into = into.wrapping_offset(at).cast::<c_void>();
            ffi::PMPI_Reduce_local(from, into, now as c_int, self.datatype, self.op);
            done += now;
        }
    }

    /// `into = into op from`.
    unsafe fn combine_from_the_right(&self, from: &[u8], into: &mut [u8]) {
        let size = self.layout.size;
        let at_once = (EXCHANGED / size).max(1) * size;
        let mut right = Scratch::new(at_once.min(into.len()));
        for (from, into) in from.chunks(at_once).zip(into.chunks_mut(at_once)) {
            let right = &mut right.bytes()[..from.len()];
            right.copy_from_slice(from);
            self.reduce(into.as_ptr(), right.as_mut_ptr(), right.len() / size);
            into.copy_from_slice(right);
        }
    }

    unsafe fn combine_laid_out(&self, side: Side, from: &[u8], into: &mut [u8], count: usize) {
        let (first, end) = self.layout.room(count);
        let room = (end - first).max(0) as usize;
        let (mut theirs, mut ours) = (Scratch::new(room), Scratch::new(room));
        let [theirs, ours] = [&mut theirs, &mut ours].map(|scratch| scratch.start().wrapping_offset(-first));
        unpack(from, theirs, count, self.datatype, self.layout);
        unpack(into, ours, count, self.datatype, self.layout);
        let (left, right) = match side {
            Side::Left => (theirs, ours),
            Side::Right => (ours, theirs),
        };
        self.reduce(left, right, count);
        pack(right, count, self.datatype, self.layout, into);
    }
}
