//! Collectives that move data.

use super::lists::{kept, Listed, Reads, Types};
use super::serving::serve;
use super::{block_is_nowhere, is_in_place, List, Native, Ours, WRONG};
use crate::datatype::{Back, Blocks, Data, Layout, Lent};
use crate::native;
use crate::native::ffi::{MPI_Comm, MPI_Datatype};
use crate::quick::Key;
use crate::requests::Pin;
use crate::session;
use crate::trial::Class;
use hypercoll::collective::{Call, Collective, Known, Layout as Lengths};
use std::ffi::{c_int, c_void};

type Address = *const c_void;

pub unsafe fn barrier(native: &Native, comm: MPI_Comm) -> c_int {
    serve(native, comm, Some(Key::NOTHING), move |ours| {
        let call = ours.call(Collective::Barrier, 0);
        ours.choose(&call, 0, true)?;
        ours.make(call, Lent::none(), Lent::none(), Back::Nothing)
    })
}

pub unsafe fn bcast(
    native: &Native,
    buffer: Address,
    count: i64,
    datatype: MPI_Datatype,
    root: i64,
    comm: MPI_Comm,
) -> c_int {
    serve(native, comm, Some(Key::of(count, datatype, root, buffer)), move |ours| {
        let (root, data) = (ours.root(root)?, ours.data(buffer, count, datatype)?);
        let call = ours.call(Collective::Broadcast, data.len()).with_root(root);
        ours.choose(&call, 1, true)?;
        let is_root = ours.rank == root;
        let lent = data.open(is_root);
        let back = (!is_root).then_some(data);
        ours.make(call, Lent::none(), lent, back)
    })
}

/// What a call that has lists may be known by, where MPI does not look at more of it than its counts.
fn key_of_lists(types: [MPI_Datatype; 2], root: i64, send: Address, receive: Address) -> Option<Key> {
    cfg!(open_mpi).then(|| Key::of_lists(types, root, send, receive))
}

fn same_type(one: MPI_Datatype, other: MPI_Datatype) -> bool {
    native::word(one) == native::word(other)
}

/// What a rank gives of its own does not lie in its block of all: [`Ours::apart`] as MPIs look for it that do.
fn own_block_apart(ours: &mut Ours, own: &Data, block: &Data) -> Result<(), super::Left> {
    if session::facts().refuses_aliases {
        // Whether they are apart is not in a key.
        ours.key = None;
    }
    let empty = own.count == 0 || block.count == 0;
    match !empty && same_type(own.datatype, block.datatype) && block.layout.is_dense(2) {
        true => ours.apart(own.at.cast(), block.at.cast()),
        false => Ok(()),
    }
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn gather(
    native: &Native,
    send: Address,
    send_count: i64,
    send_type: MPI_Datatype,
    receive: Address,
    receive_count: i64,
    receive_type: MPI_Datatype,
    root: i64,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_blocks([send_count, receive_count], [send_type, receive_type], root, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let root = ours.root(root)?;
        let all = (ours.rank == root).then(|| ours.all(receive, receive_count, receive_type)).transpose()?;
        let in_place = all.filter(|_| is_in_place(send)).map(|all| ours.block(&all, root));
        let own = match in_place {
            Some(block) => block,
            None => ours.data(send, send_count, send_type)?,
        };
        if let Some(all) = all.filter(|_| in_place.is_none()) {
            let block = ours.block(&all, root);
            own_block_apart(ours, &own, &block)?;
        }
        let call = ours.call(Collective::Gather, own.len()).with_root(root);
        ours.choose(&call, 1, true)?;
        if let Some(all) = all {
            ours.suits_itself(&call, own.len() * ours.size, all.len())?;
        }
        let sent = own.taken(in_place.is_some());
        let received = all.map_or_else(Lent::none, |all| all.open(false));
        ours.make(call, sent, received, all)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn scatter(
    native: &Native,
    send: Address,
    send_count: i64,
    send_type: MPI_Datatype,
    receive: Address,
    receive_count: i64,
    receive_type: MPI_Datatype,
    root: i64,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_blocks([send_count, receive_count], [send_type, receive_type], root, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let root = ours.root(root)?;
        let all = (ours.rank == root).then(|| ours.all(send, send_count, send_type)).transpose()?;
        let own = match all.filter(|_| is_in_place(receive)) {
            Some(_) => None,
            None => Some(ours.data(receive, receive_count, receive_type)?),
        };
        if let (Some(own), Some(all)) = (own, all) {
            let block = ours.block(&all, root);
            own_block_apart(ours, &own, &block)?;
        }
        let block = own.or(all.map(|all| ours.block(&all, root))).ok_or(WRONG)?;
        let call = ours.call(Collective::Scatter, block.len()).with_root(root);
        ours.choose(&call, 1, true)?;
        if let Some(all) = all {
            ours.suits_itself(&call, all.len(), block.len() * ours.size)?;
        }
        let sent = all.map_or_else(Lent::none, |all| all.lent());
        // In place, what the root would send to itself stays where it is.
        let received = own.map_or_else(|| Lent::own(block.copied()), |own| own.open(false));
        ours.make(call, sent, received, own)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn allgather(
    native: &Native,
    send: Address,
    send_count: i64,
    send_type: MPI_Datatype,
    receive: Address,
    receive_count: i64,
    receive_type: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_blocks([send_count, receive_count], [send_type, receive_type], 0, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let all = ours.all(receive, receive_count, receive_type)?;
        let own = (!is_in_place(send)).then(|| ours.data(send, send_count, send_type)).transpose()?;
        if let Some(own) = own {
            let block = ours.block(&all, ours.rank);
            own_block_apart(ours, &own, &block)?;
        }
        let mut call = ours.call(Collective::AllGather, all.len() / ours.size);
        call.in_place = own.is_none();
        ours.choose(&call, 1, true)?;
        if let Some(own) = own {
            ours.suits_itself(&call, own.len() * ours.size, all.len())?;
        }
        let sent = own.map_or_else(Lent::none, |own| own.lent());
        let received = all.open(own.is_none());
        ours.make(call, sent, received, all)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn alltoall(
    native: &Native,
    send: Address,
    send_count: i64,
    send_type: MPI_Datatype,
    receive: Address,
    receive_count: i64,
    receive_type: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let key = Key::of_blocks([send_count, receive_count], [send_type, receive_type], 0, send, receive);
    serve(native, comm, Some(key), move |ours| {
        let all = ours.all(receive, receive_count, receive_type)?;
        let own = (!is_in_place(send)).then(|| ours.all(send, send_count, send_type)).transpose()?;
        if send_count == receive_count && send_count > 0 && same_type(send_type, receive_type) {
            ours.apart(send, receive)?;
        }
        let call = ours.call(Collective::AllToAll, all.len() / ours.size);
        ours.choose(&call, 1, true)?;
        if let Some(own) = own {
            ours.suits_itself(&call, own.len(), all.len())?;
        }
        let sent = own.map_or_else(|| Lent::own(all.copied()), |own| own.lent());
        let received = all.open(false);
        ours.make(call, sent, received, all)
    })
}

/// Says where blocks lie, which is known when a call is ours and what it moves has been packed.
fn lie(call: &mut Call, places: impl FnOnce(Lengths) -> Lengths) {
    call.layout = call.layout.take().map(places);
}

/// The lengths of a rooted call's blocks as a rank knows them: the root those of all, the others that of their own.
fn lengths(ours: &Ours, all: Option<&Blocks>, own: usize) -> Lengths {
    match all {
        Some(all) => Lengths::of_vectors(all.lengths()).knowing(Known::Own),
        None => Lengths::of_some(ours.size, Known::Own, [(ours.rank, own)]),
    }
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn gatherv(
    native: &Native,
    send: Address,
    send_count: i64,
    send_type: MPI_Datatype,
    receive: Address,
    receive_counts: List,
    displacements: List,
    receive_type: MPI_Datatype,
    root: i64,
    comm: MPI_Comm,
) -> c_int {
    let entries = kept(native, comm, Reads::Root(root));
    let (receive_counts, displacements) = (receive_counts.kept(entries), displacements.kept(entries));
    let key = key_of_lists([send_type, receive_type], root, send, receive);
    serve(native, comm, key, move |ours| {
        let root = ours.root(root)?;
        let is_root = ours.rank == root;
        let all = is_root.then(|| ours.listed(receive, &receive_counts, &displacements, receive_type)).transpose()?;
        let in_place = all.as_ref().filter(|_| is_in_place(send)).map(|all| all.block(root));
        let own = match in_place {
            Some(block) => block,
            None => ours.data(send, send_count, send_type)?,
        };
        if let Some(all) = all.as_ref().filter(|_| in_place.is_none()) {
            own_block_apart(ours, &own, &all.block(root))?;
        }
        let longest = all.as_ref().map_or(own.len(), Listed::longest);
        let call = ours.call(Collective::Gather, longest).with_root(root);
        ours.reads(if is_root { ours.size } else { 0 }, 0);
        ours.choose_of(Class::Any, &call)?;
        let all = all.map(|all| all.blocks());
        let mut call = call.with_layout(lengths(ours, all.as_ref(), own.len()));
        if let Some(all) = &all {
            ours.suits_itself(&call, own.len(), all.0[root].len())?;
        }
        let sent = own.taken(in_place.is_some());
        let received = all.as_ref().map_or_else(Lent::none, |all| {
            let (received, places) = all.open(false);
            lie(&mut call, |lengths| lengths.received_at(places));
            received
        });
        ours.make(call, sent, received, all)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn scatterv(
    native: &Native,
    send: Address,
    send_counts: List,
    displacements: List,
    send_type: MPI_Datatype,
    receive: Address,
    receive_count: i64,
    receive_type: MPI_Datatype,
    root: i64,
    comm: MPI_Comm,
) -> c_int {
    let entries = kept(native, comm, Reads::Root(root));
    let (send_counts, displacements) = (send_counts.kept(entries), displacements.kept(entries));
    let key = key_of_lists([send_type, receive_type], root, send, receive);
    serve(native, comm, key, move |ours| {
        let root = ours.root(root)?;
        let is_root = ours.rank == root;
        let all = is_root.then(|| ours.listed(send, &send_counts, &displacements, send_type)).transpose()?;
        let own = match all.as_ref().filter(|_| is_in_place(receive)) {
            Some(_) => None,
            None => Some(ours.data(receive, receive_count, receive_type)?),
        };
        if let (Some(own), Some(all)) = (own, &all) {
            own_block_apart(ours, &own, &all.block(root))?;
        }
        let block = own.or(all.as_ref().map(|all| all.block(root))).ok_or(WRONG)?;
        let longest = all.as_ref().map_or(block.len(), Listed::longest);
        let call = ours.call(Collective::Scatter, longest).with_root(root);
        ours.reads(if is_root { ours.size } else { 0 }, 0);
        ours.choose_of(Class::Any, &call)?;
        let all = all.map(|all| all.blocks());
        let mut call = call.with_layout(lengths(ours, all.as_ref(), block.len()));
        if let Some(all) = &all {
            ours.suits_itself(&call, all.0[root].len(), block.len())?;
        }
        let sent = all.as_ref().map_or_else(Lent::none, |all| {
            let (sent, places) = all.lent();
            lie(&mut call, |lengths| lengths.sent_from(places));
            sent
        });
        let received = own.map_or_else(|| Lent::own(block.copied()), |own| own.open(false));
        ours.make(call, sent, received, own)
    })
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn allgatherv(
    native: &Native,
    send: Address,
    send_count: i64,
    send_type: MPI_Datatype,
    receive: Address,
    receive_counts: List,
    displacements: List,
    receive_type: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let entries = kept(native, comm, Reads::All);
    let (receive_counts, displacements) = (receive_counts.kept(entries), displacements.kept(entries));
    let key = key_of_lists([send_type, receive_type], 0, send, receive);
    serve(native, comm, key, move |ours| {
        let all = ours.listed(receive, &receive_counts, &displacements, receive_type)?;
        let own = (!is_in_place(send)).then(|| ours.data(send, send_count, send_type)).transpose()?;
        if let Some(own) = own {
            own_block_apart(ours, &own, &all.block(ours.rank))?;
        }
        let call = ours.call(Collective::AllGather, all.longest());
        ours.reads(ours.size, all.most);
        ours.choose_of(Class::of(call.count), &call)?;
        let all = all.blocks();
        let mut call = call.with_layout(Lengths::of_vectors(all.lengths()));
        call.in_place = own.is_none();
        if let Some(own) = own {
            ours.suits_itself(&call, own.len(), all.0[ours.rank].len())?;
        }
        let sent = own.map_or_else(Lent::none, |own| own.lent());
        let (received, places) = all.open(own.is_none());
        lie(&mut call, |lengths| lengths.received_at(places));
        ours.make(call, sent, received, all)
    })
}

/// An all-to-all whose blocks have lengths of their own, of which the longest is known: those that are sent, if it is not in place, and those
/// that are received.
unsafe fn exchange(
    ours: &mut Ours,
    longest: usize,
    blocks: impl FnOnce() -> (Option<Blocks>, Blocks),
) -> Result<(), super::Left> {
    let call = ours.call(Collective::AllToAll, longest);
    ours.reads(ours.size, 0);
    ours.choose_of(Class::Any, &call)?;
    let (sent, received) = blocks();
    let from = sent.as_ref().unwrap_or(&received);
    let row = Lengths::of_row(ours.rank, &from.lengths(), &received.lengths());
    let mut call = call.with_layout(row);
    ours.suits_itself(&call, from.0[ours.rank].len(), received.0[ours.rank].len())?;
    let (lent, sent_from) = if sent.is_some() { from.lent() } else { from.lent_packed() };
    let (open, received_at) = received.open(false);
    lie(&mut call, |lengths| lengths.sent_from(sent_from).received_at(received_at));
    ours.make(call, lent, open, received)
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn alltoallv(
    native: &Native,
    send: Address,
    send_counts: List,
    send_displacements: List,
    send_type: MPI_Datatype,
    receive: Address,
    receive_counts: List,
    receive_displacements: List,
    receive_type: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let alike = send_counts.is(&receive_counts) && same_type(send_type, receive_type);
    let [sends, receives] = [is_in_place(send), false].map(|none| if none { Reads::None } else { Reads::All });
    let [sends, receives] = [kept(native, comm, sends), kept(native, comm, receives)];
    let (send_counts, send_displacements) = (send_counts.kept(sends), send_displacements.kept(sends));
    let (receive_counts, receive_displacements) = (receive_counts.kept(receives), receive_displacements.kept(receives));
    let key = key_of_lists([send_type, receive_type], 0, send, receive);
    serve(native, comm, key, move |ours| {
        if alike {
            ours.apart(send, receive)?;
        }
        let received = ours.listed(receive, &receive_counts, &receive_displacements, receive_type)?;
        let sent = (!is_in_place(send)).then(|| ours.listed(send, &send_counts, &send_displacements, send_type));
        let sent = sent.transpose()?;
        let longest = sent.as_ref().map_or(0, Listed::longest).max(received.longest());
        exchange(ours, longest, || (sent.map(|sent| sent.blocks()), received.blocks()))
    })
}

/// Blocks of which each has its own datatype, and displacements in bytes.
unsafe fn of_types(
    ours: &mut Ours,
    at: Address,
    counts: &List,
    displacements: &List,
    types: &Types,
) -> Result<Blocks, super::Left> {
    if counts.is_null() || displacements.is_null() || types.list.is_null() {
        return Err(WRONG);
    }
    let blocks = (0..ours.size).map(|rank| {
        let datatype = *types.list.add(rank);
        let count = usize::try_from(counts.get(rank)).map_err(|_| WRONG)?;
        let layout = if count == 0 && session::facts().takes_any_type_of_nothing {
            Layout::NOTHING
        } else {
            Layout::of(datatype).ok_or(WRONG)?
        };
        let displacement = displacements.get(rank) as isize;
        if block_is_nowhere(at, displacement, count, &layout) {
            return Err(WRONG);
        }
        ours.keep(|| Pin::of_type(datatype));
        let at = at.cast_mut().cast::<u8>().wrapping_offset(displacement);
        Ok(Data { at, count, datatype, layout })
    });
    Ok(Blocks(blocks.collect::<Result<_, super::Left>>()?))
}

#[allow(clippy::too_many_arguments)] // MPI's
pub unsafe fn alltoallw(
    native: &Native,
    send: Address,
    send_counts: List,
    send_displacements: List,
    send_types: *const MPI_Datatype,
    receive: Address,
    receive_counts: List,
    receive_displacements: List,
    receive_types: *const MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let alike = send_counts.is(&receive_counts) && send_types == receive_types;
    let [sends, receives] = [is_in_place(send), false].map(|none| if none { Reads::None } else { Reads::All });
    let [sends, receives] = [kept(native, comm, sends), kept(native, comm, receives)];
    let (send_counts, send_displacements) = (send_counts.kept(sends), send_displacements.kept(sends));
    let (receive_counts, receive_displacements) = (receive_counts.kept(receives), receive_displacements.kept(receives));
    let (send_types, receive_types) = (Types::of(send_types, sends), Types::of(receive_types, receives));
    serve(native, comm, None, move |ours| {
        if alike {
            ours.apart(send, receive)?;
        }
        let received = of_types(ours, receive, &receive_counts, &receive_displacements, &receive_types)?;
        let sent = (!is_in_place(send)).then(|| of_types(ours, send, &send_counts, &send_displacements, &send_types));
        let sent = sent.transpose()?;
        let longest = sent.as_ref().map_or(0, Blocks::longest).max(received.longest());
        exchange(ours, longest, || (sent, received))
    })
}
