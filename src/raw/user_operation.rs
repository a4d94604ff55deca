//! rsmpi's operations by reference, and those of the user's in C's form.

use crate::operation::{Number, Reduction};
use crate::schedule::Side;
use mpi::collective::{SystemOperation, UnsafeUserOperation};
use mpi::datatype::Equivalence;
use mpi::traits::AsRaw;
use mpi::{ffi, Count};
use std::ffi::c_void;

impl<T: Number> Reduction<T> for &SystemOperation {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        (**self).combine(side, from, into);
    }

    fn commutes(&self) -> bool {
        Reduction::<T>::commutes(*self)
    }

    fn defined(&self) -> bool {
        Reduction::<T>::defined(*self)
    }

    fn name(&self) -> String {
        Reduction::<T>::name(*self)
    }

    fn signature(&self) -> u64 {
        Reduction::<T>::signature(*self)
    }
}

/// Two of them look alike to other ranks, like closures.
impl<T: Equivalence + Copy> Reduction<T> for &UnsafeUserOperation {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        let most = Count::MAX as usize;
        for (from, into) in from.chunks(most).zip(into.chunks_mut(most)) {
            match side {
                Side::Left => reduce_local(self, from, into),
                Side::Right => {
                    // MPI's operations write to their right operand.
                    let mut right = from.to_vec();
                    reduce_local(self, into, &mut right);
                    into.copy_from_slice(&right);
                }
            }
        }
    }

    fn commutes(&self) -> bool {
        let mut commutes = 0;
        // SAFETY: an operation that is there, and a place for the answer.
        unsafe { ffi::PMPI_Op_commutative(self.as_raw(), &mut commutes) };
        commutes != 0
    }

    fn name(&self) -> String {
        "user operation".into()
    }

    fn signature(&self) -> u64 {
        103
    }
}

/// `right = left op right`.
fn reduce_local<T: Equivalence>(operation: &UnsafeUserOperation, left: &[T], right: &mut [T]) {
    let (count, datatype) = (left.len() as Count, T::equivalent_datatype());
    let (left, right) = (left.as_ptr().cast::<c_void>(), right.as_mut_ptr().cast());
    // SAFETY: two slices of so many elements of that datatype, apart; whoever made the operation has promised that it serves them.
    unsafe { ffi::PMPI_Reduce_local(left, right, count, datatype.as_raw(), operation.as_raw()) };
}
