//! What each collective of MPI is called with: said once for all functions that it has, of C and Fortran, for large counts, nonblocking and
//! persistent.
//!
//! `signature!(write [more] Bcast)` has the macro `write` write a function: `write!([more] Bcast bcast (buffer: receive, ...))`, with the
//! function of [`calls`](crate::calls) that makes such a call, and each parameter with a letter that stands for its type: memory that is
//! sent or received into, a number (n), numbers (ns) or displacements (ds) of all ranks, a datatype (kind) or those of all ranks (kinds).

macro_rules! signature {
    ($write:ident $more:tt Barrier) => {
        $write! { $more Barrier barrier (comm: comm) }
    };
    ($write:ident $more:tt Bcast) => {
        $write! { $more Bcast bcast (
        buffer: receive, count: n, datatype: kind, root: root, comm: comm) }
    };
    ($write:ident $more:tt Gather) => {
        $write! { $more Gather gather (
        from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm) }
    };
    ($write:ident $more:tt Scatter) => {
        $write! { $more Scatter scatter (
        from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, root: root, comm: comm) }
    };
    ($write:ident $more:tt Allgather) => {
        $write! { $more Allgather allgather (
        from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm) }
    };
    ($write:ident $more:tt Alltoall) => {
        $write! { $more Alltoall alltoall (
        from: send, sent: n, send_type: kind, into: receive, received: n, receive_type: kind, comm: comm) }
    };
    ($write:ident $more:tt Gatherv) => {
        $write! { $more Gatherv gatherv (
        from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, root: root,
        comm: comm) }
    };
    ($write:ident $more:tt Scatterv) => {
        $write! { $more Scatterv scatterv (
        from: send, sent: ns, places: ds, send_type: kind, into: receive, received: n, receive_type: kind, root: root,
        comm: comm) }
    };
    ($write:ident $more:tt Allgatherv) => {
        $write! { $more Allgatherv allgatherv (
        from: send, sent: n, send_type: kind, into: receive, received: ns, places: ds, receive_type: kind, comm: comm) }
    };
    ($write:ident $more:tt Alltoallv) => {
        $write! { $more Alltoallv alltoallv (
        from: send, sent: ns, sent_from: ds, send_type: kind, into: receive, received: ns, received_at: ds,
        receive_type: kind, comm: comm) }
    };
    ($write:ident $more:tt Alltoallw) => {
        $write! { $more Alltoallw alltoallw (
        from: send, sent: ns, sent_from: ds, send_types: kinds, into: receive, received: ns, received_at: ds,
        receive_types: kinds, comm: comm) }
    };
    ($write:ident $more:tt Reduce) => {
        $write! { $more Reduce reduce (
        from: send, into: receive, count: n, datatype: kind, op: op, root: root, comm: comm) }
    };
    ($write:ident $more:tt Allreduce) => {
        $write! { $more Allreduce allreduce (
        from: send, into: receive, count: n, datatype: kind, op: op, comm: comm) }
    };
    ($write:ident $more:tt Scan) => {
        $write! { $more Scan scan (
        from: send, into: receive, count: n, datatype: kind, op: op, comm: comm) }
    };
    ($write:ident $more:tt Exscan) => {
        $write! { $more Exscan exscan (
        from: send, into: receive, count: n, datatype: kind, op: op, comm: comm) }
    };
    ($write:ident $more:tt ReduceScatterBlock) => {
        $write! { $more ReduceScatterBlock reduce_scatter_block (
        from: send, into: receive, count: n, datatype: kind, op: op, comm: comm) }
    };
    ($write:ident $more:tt ReduceScatter) => {
        $write! { $more ReduceScatter reduce_scatter (
        from: send, into: receive, counts: ns, datatype: kind, op: op, comm: comm) }
    };
}
