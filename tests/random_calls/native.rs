//! What MPI itself makes of the same call.

use crate::blocks::Places;
use crate::draw::Call;
use crate::element::{Combine, Element, Kind};
use bytemuck::{cast_slice, cast_slice_mut};
use hypercoll::collective::Collective;
use hypercoll::cube_graph::CubeGraph;
use hypercoll::SystemOperation;
use mpi::collective::SystemOperation as Native;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::Count;

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
    let mut input = call.input::<T>(rank, nth);
    let mut output: Vec<T> = call.blank(rank);
    // The address of no bytes at all is 1, which Open MPI takes for MPI_IN_PLACE.
    input.reserve(1);
    output.reserve(1);
    let (send, receive): (&[T::Scalar], &mut [T::Scalar]) = (cast_slice(&input), cast_slice_mut(&mut output));
    let (root, here) = (comm.process_at_rank(call.root as i32), rank == call.root);
    let varcount = call.lengths.is_some();
    let scalars = |places: Places| {
        let number = (size_of::<T>() / size_of::<T::Scalar>()) as Count;
        let scalars = |numbers: Vec<usize>| numbers.into_iter().map(|at| at as Count * number).collect::<Vec<Count>>();
        (scalars(places.counts), scalars(places.at))
    };
    let sent = |send| {
        let (counts, at) = scalars(call.sent(rank));
        Partition::new(send, counts, at)
    };
    let received = |receive| {
        let (counts, at) = scalars(call.received(rank));
        PartitionMut::new(receive, counts, at)
    };
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
        (Collective::Scatter, _) if varcount && here => root.scatter_varcount_into_root(&sent(send), receive),
        (Collective::Scatter, _) if varcount => root.scatter_varcount_into(receive),
        (Collective::Gather, _) if varcount && here => root.gather_varcount_into_root(send, &mut received(receive)),
        (Collective::Gather, _) if varcount => root.gather_varcount_into(send),
        (Collective::AllGather, _) if varcount => comm.all_gather_varcount_into(send, &mut received(receive)),
        (Collective::AllToAll, _) if varcount => comm.all_to_all_varcount_into(&sent(send), &mut received(receive)),
        // Not in rsmpi.
        (Collective::ReduceScatter, _) if varcount => return None,
        (Collective::Scatter, _) if here => root.scatter_into_root(send, receive),
        (Collective::Scatter, _) => root.scatter_into(receive),
        (Collective::Gather, _) if here => root.gather_into_root(send, receive),
        (Collective::Gather, _) => root.gather_into(send),
        (Collective::AllGather, _) => comm.all_gather_into(send, receive),
        (Collective::AllToAll, _) => comm.all_to_all_into(send, receive),
        (Collective::NeighborAllToAll, _) => {
            let graph = CubeGraph::new(comm).expect("a graph");
            graph.all_to_all(send, receive).expect("an exchange");
        }
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
    Some(call.ends_as(rank, nth, output))
}
