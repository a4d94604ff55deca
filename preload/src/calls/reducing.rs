//! Collectives that reduce.

use super::lists::{kept, Reads};
use super::serving::serve;
use super::{is_in_place, List, Native, Ours, WRONG};
use crate::datatype::{Back, Data, Layout, Lent};
use crate::native::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use crate::operation::Operation;
use crate::quick::Key;
use crate::session;
use hypercoll::collective::{Call, Collective, Layout as Lengths};
use hypercoll::raw::Datatype;
use std::ffi::{c_int, c_void};

type Address = *const c_void;

/// Whether the result lies where what is sent does: in place, or where MPI does not refuse such memory.
fn is_replaced(send: Address, receive: Address) -> bool {
    is_in_place(send) || send == receive
}

/// Makes a call in elements of a datatype, if it is ours; only then is it asked for what it sends and receives, which may have to be
/// packed. What is received goes `back`.
#[allow(clippy::too_many_arguments)] // what a reduction is made of
unsafe fn reduced(
    ours: &mut Ours,
    mut call: Call,
    layout: Layout,
    op: Operation,
    sent: impl FnOnce() -> Lent,
    received: impl FnOnce() -> Lent,
    back: impl Into<Back>,
) -> Result<(), super::Left> {
    call.ordered = !op.commutes;
    ours.choose(&call, layout.size, op.is_exact(ours.size))?;
    let element = Datatype::contiguous(op.element, layout.size);
    ours.make_by(call, sent(), received(), back.into(), &element, Some(op))
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn reduce(
    native: &Native,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    root: i64,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_reduction(count, datatype, op, root, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let root = ours.root(root)?;
        let is_root = ours.rank == root;
        let in_place = is_root && is_in_place(send);
        if is_root && count > 0 {
            ours.apart_if_reduced(send, receive, true)?;
        }
        let own = ours.data(if in_place { receive } else { send }, count, datatype)?;
        let op = ours.operation(op, datatype, own.layout)?;
        let call = ours.call(Collective::Reduce, own.count).with_root(root);
        let result = is_root.then(|| ours.like(own, receive)).transpose()?;
        let open = || result.map_or_else(Lent::none, |result| result.open(false));
        reduced(ours, call, own.layout, op, || own.taken(is_root && is_replaced(send, receive)), open, result)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn allreduce(
    native: &Native,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_reduction(count, datatype, op, 0, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let in_place = is_in_place(send);
        if count > 0 {
            // (Null is Open MPI's MPI_BOTTOM.)
            ours.apart_if_reduced(send, receive, count > 1 && !send.is_null())?;
        }
        let result = ours.data(receive, count, datatype)?;
        let op = ours.operation(op, datatype, result.layout)?;
        let mut call = ours.call(Collective::AllReduce, result.count);
        call.in_place = in_place;
        let own = (!in_place).then(|| ours.like(result, send)).transpose()?;
        let sent = || own.map_or_else(Lent::none, |own| own.taken(send == receive));
        reduced(ours, call, result.layout, op, sent, || result.open(in_place), result)
    })
}

/// The prefix sums; whether a rank passes the same memory twice is its own affair.
#[allow(clippy::too_many_arguments)] // MPI's
unsafe fn prefix(
    native: &Native,
    collective: Collective,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_reduction(count, datatype, op, 0, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let in_place = is_in_place(send);
        // Nothing comes to rank 0 in an exclusive one, which need not say where to.
        let empty = collective == Collective::ExclusiveScan && ours.rank == 0;
        let result = ours.data(if empty && !in_place { send } else { receive }, count, datatype)?;
        if count > 0 && (!empty || session::facts().refuses_unused_aliases) {
            ours.apart(send, receive)?;
        }
        let op = ours.operation(op, datatype, result.layout)?;
        let call = ours.call(collective, result.count);
        let result = Data { at: receive.cast_mut().cast(), ..result };
        let own = if in_place { result } else { ours.like(result, send)? };
        let back = (!empty).then_some(result);
        let open = || if empty { Lent::none() } else { result.open(false) };
        reduced(ours, call, result.layout, op, || own.taken(is_replaced(send, receive)), open, back)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn scan(
    native: &Native,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    prefix(native, Collective::Scan, send, receive, count, datatype, op, comm)
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn exscan(
    native: &Native,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    prefix(native, Collective::ExclusiveScan, send, receive, count, datatype, op, comm)
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn reduce_scatter_block(
    native: &Native,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_reduction(count, datatype, op, 0, send, receive);
    serve(native, comm, Some(key), move |ours| of_equal_blocks(ours, send, receive, count, datatype, op))
}

unsafe fn of_equal_blocks(
    ours: &mut Ours,
    send: Address,
    receive: Address,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Result<(), super::Left> {
    let in_place = is_in_place(send);
    if count > 0 {
        ours.apart(send, receive)?;
    }
    let all = ours.all(if in_place { receive } else { send }, count, datatype)?;
    let op = ours.operation(op, datatype, all.layout)?;
    let result = ours.data(receive, count, datatype)?;
    let call = ours.call(Collective::ReduceScatter, result.count);
    reduced(ours, call, result.layout, op, || all.taken(is_replaced(send, receive)), || result.open(false), result)
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn reduce_scatter(
    native: &Native,
    send: Address,
    receive: Address,
    counts: List,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let counts = counts.kept(kept(native, comm, Reads::All));
    let first = counts.first();
    let key = Key::of_reduction(first, datatype, op, 0, send, receive);
    serve(native, comm, Some(key), move |ours| {
        if counts.is_null() {
            return Err(WRONG);
        }
        match counts.seen(ours.size) {
            // (MPICH refuses null of a rank that receives something, which is not seen.)
            Some(seen) if !receive.is_null() => ours.reads(ours.size, seen),
            _ => ours.key = None,
        }
        if (1..ours.size).all(|rank| counts.get(rank) == first) {
            return of_equal_blocks(ours, send, receive, first, datatype, op);
        }
        let counts: Result<Vec<usize>, _> = (0..ours.size).map(|rank| counts.get(rank).try_into()).collect();
        let counts = counts.map_err(|_| WRONG)?;
        let sum = counts.iter().try_fold(0i64, |sum, &count| sum.checked_add(count as i64)).ok_or(WRONG)?;
        let in_place = is_in_place(send);
        if sum > 0 {
            ours.apart(send, receive)?;
        }
        let all = ours.data(if in_place { receive } else { send }, sum, datatype)?;
        let op = ours.operation(op, datatype, all.layout)?;
        let result = ours.like(Data { count: counts[ours.rank], ..all }, receive)?;
        let call = ours.call(Collective::ReduceScatter, 0).with_layout(Lengths::of_vectors(counts));
        reduced(ours, call, result.layout, op, || all.taken(is_replaced(send, receive)), || result.open(false), result)
    })
}
