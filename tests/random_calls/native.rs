//! What MPI itself makes of the same call.

use crate::draw::Call;
use crate::element::{Combine, Element, Kind};
use bytemuck::{cast_slice, cast_slice_mut};
use hypercoll::collective::Collective;
use hypercoll::SystemOperation;
use mpi::collective::SystemOperation as Native;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

fn operation(operation: SystemOperation) -> Native {
    match operation {
        SystemOperation::Sum => Native::sum(),
        SystemOperation::Product => Native::product(),
        SystemOperation::Max => Native::max(),
        SystemOperation::Min => Native::min(),
        SystemOperation::LogicalAnd => Native::logical_and(),
        SystemOperation::LogicalOr => Native::logical_or(),
        SystemOperation::LogicalXor => Native::logical_xor(),
        SystemOperation::BitwiseAnd => Native::bitwise_and(),
        SystemOperation::BitwiseOr => Native::bitwise_or(),
        SystemOperation::BitwiseXor => Native::bitwise_xor(),
    }
}

/// What a rank has in its second buffer; `None` of calls that MPI, or rsmpi, does not have.
pub fn outcome<T: Element>(call: &Call, nth: usize, comm: &SimpleCommunicator) -> Option<Vec<T>> {
    let rank = comm.rank() as usize;
    let input = call.input::<T>(rank, nth);
    let mut output: Vec<T> = vec![T::zeroed(); call.lengths(rank)[1]];
    let (send, receive): (&[T::Scalar], &mut [T::Scalar]) = (cast_slice(&input), cast_slice_mut(&mut output));
    let (root, here) = (comm.process_at_rank(call.root as i32), rank == call.root);
    match (call.collective, call.combine) {
        // MPI libraries differ in what they make of no elements.
        _ if call.count == 0 => return None,
        // Open MPI 4.1 saturates them where the processor has AVX.
        (_, Combine::System(SystemOperation::Sum)) if call.kind == Kind::U8 => return None,
        (Collective::Broadcast, _) => {
            if here {
                receive.copy_from_slice(send);
            }
            root.broadcast_into(receive);
        }
        (Collective::Scatter, _) if here => root.scatter_into_root(send, receive),
        (Collective::Scatter, _) => root.scatter_into(receive),
        (Collective::Gather, _) if here => root.gather_into_root(send, receive),
        (Collective::Gather, _) => root.gather_into(send),
        (Collective::AllGather, _) => comm.all_gather_into(send, receive),
        (Collective::AllToAll, _) => comm.all_to_all_into(send, receive),
        (Collective::Reduce, Combine::System(o)) if here => root.reduce_into_root(send, receive, operation(o)),
        (Collective::Reduce, Combine::System(o)) => root.reduce_into(send, operation(o)),
        (Collective::ReduceScatter, Combine::System(o)) => comm.reduce_scatter_block_into(send, receive, operation(o)),
        (Collective::AllReduce, Combine::System(o)) => comm.all_reduce_into(send, receive, operation(o)),
        (Collective::Scan, Combine::System(o)) => comm.scan_into(send, receive, operation(o)),
        (Collective::ExclusiveScan, Combine::System(o)) => {
            comm.exclusive_scan_into(send, receive, operation(o));
            if rank == 0 {
                return None;
            }
        }
        _ => return None,
    }
    Some(output)
}
