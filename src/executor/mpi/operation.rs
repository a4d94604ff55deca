//! rsmpi's operations, which can be passed as they are.

use crate::operation::{Number, Reduction, SystemOperation};
use crate::schedule::Side;
use mpi::ffi;
use mpi::traits::AsRaw;

impl<T: Number> Reduction<T> for mpi::collective::SystemOperation {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        if let Some(operation) = system_operation(self) {
            T::combine(operation, side, from, into);
        }
    }

    fn commutes(&self) -> bool {
        true
    }

    fn defined(&self) -> bool {
        system_operation(self).is_some_and(T::defines)
    }

    fn name(&self) -> String {
        system_operation(self).map_or("unknown operation".into(), |o| o.to_string())
    }

    fn signature(&self) -> u64 {
        system_operation(self).map_or(0, |operation| operation as u64 + 1)
    }
}

/// The operation that a handle stands for.
fn system_operation(operation: &mpi::collective::SystemOperation) -> Option<SystemOperation> {
    let raw = operation.as_raw();
    // SAFETY: constant handles of MPI, initialised by the rsmpi support library.
    let known = unsafe {
        [
            (ffi::RSMPI_SUM, SystemOperation::Sum),
            (ffi::RSMPI_PROD, SystemOperation::Product),
            (ffi::RSMPI_MAX, SystemOperation::Max),
            (ffi::RSMPI_MIN, SystemOperation::Min),
            (ffi::RSMPI_LAND, SystemOperation::LogicalAnd),
            (ffi::RSMPI_LOR, SystemOperation::LogicalOr),
            (ffi::RSMPI_LXOR, SystemOperation::LogicalXor),
            (ffi::RSMPI_BAND, SystemOperation::BitwiseAnd),
            (ffi::RSMPI_BOR, SystemOperation::BitwiseOr),
            (ffi::RSMPI_BXOR, SystemOperation::BitwiseXor),
        ]
    };
    known.into_iter().find(|(handle, _)| *handle == raw).map(|(_, operation)| operation)
}
