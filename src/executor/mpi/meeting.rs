//! How the ranks of a communicator meet: they duplicate it, tell each other where they are, and map the memory that they share.

use super::asked::{Asked, Use};
use super::host::{nonce, Card, Host};
use super::progress::Progress;
use super::shared_memory::{Layout, SharedMemory};
use super::{accept, segment, single_copy};
use crate::address::Hosts;
use crate::error::{Error, Result};
use crate::executor::board::Board;
use crate::executor::patience::{say, Patience};
use crate::hash::Fnv;
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What all ranks of a host can do, as bits: have they mapped the memory, and may they read each other's?
const MAPPED: u64 = 1;
const READABLE: u64 = 2;

/// A communicator that has been made.
pub(super) struct Meeting {
    pub comm: ffi::MPI_Comm,
    pub rank: usize,
    pub size: usize,
    pub synchronous: bool,
    /// Whether a thread is to drive MPI, where messages go through it.
    pub progress: bool,
    pub shared_memory: Option<SharedMemory>,
    pub board: Option<Board>,
    pub crowded: bool,
    pub found: Found,
}

/// What rank 0 has found, the cores of the host if all ranks share one, and the hosts if they do not.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Found {
    pub text: String,
    pub cores: Option<usize>,
    /// Which ranks share a host, where there are several, with several ranks.
    pub hosts: Option<Hosts>,
}

impl Meeting {
    /// Of the ranks of a live communicator, all of which call this together.
    pub fn of(
        parent: ffi::MPI_Comm,
        patience: Result<Patience>,
        find: &dyn Fn(bool) -> String,
        meanwhile: &dyn Fn(),
    ) -> Result<Meeting> {
        may_be_used(parent)?;
        let waits = Waits { patience: *patience.as_ref().unwrap_or(&Patience::default()), meanwhile };
        // SAFETY: a constant handle of MPI, initialised by the rsmpi support library.
        let comm = Box::new(unsafe { ffi::RSMPI_COMM_NULL });
        let mut comm = *wait(parent, &waits, "MPI_Comm_idup", comm, |comm, request| {
            // SAFETY: `parent` is a live communicator; `wait` keeps the memory until the request is complete.
            unsafe { ffi::PMPI_Comm_idup(parent, comm, request) }
        })?;
        Meeting::on(comm, patience, &waits, find).inspect_err(|error| {
            if !matches!(error, Error::Timeout { .. } | Error::Mpi { .. }) {
                // SAFETY: the communicator is ours, and nothing is under way on it.
                unsafe { ffi::PMPI_Comm_free(&mut comm) };
            }
        })
    }

    /// The same on the duplicate.
    fn on(
        comm: ffi::MPI_Comm,
        patience: Result<Patience>,
        waits: &Waits,
        find: &dyn Fn(bool) -> String,
    ) -> Result<Meeting> {
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        // SAFETY: a live communicator, and valid out parameters.
        unsafe {
            accept("MPI_Comm_set_errhandler", ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
            accept("MPI_Comm_rank", ffi::PMPI_Comm_rank(comm, &mut rank))?;
            accept("MPI_Comm_size", ffi::PMPI_Comm_size(comm, &mut size))?;
        }
        let (rank, size) = (rank as usize, size as usize);
        let asked = Asked::of(|name| std::env::var_os(name).unwrap_or_default().to_string_lossy().into_owned());
        let asked = patience.and(asked).and_then(|asked| match asked.progress {
            true => Progress::is_possible().map(|()| asked),
            false => Ok(asked),
        });
        let asks = asked.as_ref().map_or(Card::REFUSED, |asked| asked.shared_memory as u64);
        // The first rank of a host makes the memory; which one that is, ranks know only when they have met.
        let file = segment::create();
        let number = file.as_ref().map_or(u64::MAX, segment::number);
        let probe = Box::new(nonce());
        let cards = meet(comm, size, waits, Card::of_this(&probe, number, asks, Layout::of(8, true).bytes()))?;
        if let Some(other) = cards.iter().position(|card| card.version != cards[rank].version) {
            let why = format!("rank {other} has another version of this library, or another order of bytes");
            return Err(Error::Communicator { why });
        }
        if cards.iter().any(|card| card.asks == Card::REFUSED) {
            asked?;
            return Err(Asked::refused_elsewhere());
        }
        let Asked { synchronous, progress, .. } = asked?;
        let host = Host::of(rank, &cards);
        let mates = host.ranks.iter().map(|&rank| &cards[rank]);
        let asks = mates.map(|card| card.asks).min().unwrap_or_default();
        let share = host.ranks.len() > 1 && asks > Use::None as u64;
        let layout = Layout::of(host.ranks.len(), asks > Use::Off as u64);
        let first = &cards[host.ranks[0]];
        let mapped = share.then(|| segment::map(first.process, first.file, layout.bytes(), host.place == 0));
        let neighbour = &cards[host.ranks[(host.place + 1) % host.ranks.len()]];
        let single_copy = asks >= Use::SingleCopy as u64 && share && readable(neighbour);
        let can = if matches!(mapped, Some(Ok(_))) { MAPPED } else { 0 } | if single_copy { READABLE } else { 0 };
        let cores = (host.ranks.len() == size).then_some(host.cores);
        // Nobody lets go of its file or its nonce before all have looked for it.
        let (all, text) = agree(comm, rank, size, &host, waits, can, || find(cores.is_some()))?;
        drop((file, probe));
        if let (Some(Err(error)), 0) = (&mapped, host.place) {
            once(&format!("no memory is shared on this host ({error}); messages go through MPI"));
        }
        let memory = mapped.and_then(std::result::Result::ok).filter(|_| all & MAPPED != 0).map(Arc::new);
        let board = memory.as_ref().map(|memory| {
            let (start, ranks) = (memory.as_mut_ptr(), Arc::from(&host.ranks[..]));
            // SAFETY: the mapping begins with the board, is page-aligned, was zeros, and is kept.
            unsafe { Board::at(NonNull::new_unchecked(start), host.place, ranks, Arc::clone(memory) as _) }
        });
        board.iter().for_each(|board| board.mine().enter(u64::from(std::process::id())));
        let single_copy = all & READABLE != 0;
        let ways = memory.as_ref().filter(|_| asks > Use::Off as u64);
        let shared_memory = ways.map(|memory| SharedMemory::between(&host, size, memory, &layout, single_copy));
        let crowded = host.ranks.len() > host.cores;
        let names: Vec<u64> = cards.iter().map(|card| card.host).collect();
        let found = Found { text, cores, hosts: Hosts::of(&names) };
        let progress = progress && shared_memory.as_ref().is_none_or(|memory| memory.ranks() < size);
        Ok(Meeting { comm, rank, size, synchronous, progress, shared_memory, board, crowded, found })
    }
}

/// How long ranks wait for each other, and what they do meanwhile.
struct Waits<'w> {
    patience: Patience,
    meanwhile: &'w dyn Fn(),
}

/// Whether calls can be made on a communicator, by this thread.
fn may_be_used(comm: ffi::MPI_Comm) -> Result<()> {
    let refused = |why: &str| Err(Error::Communicator { why: why.into() });
    let (mut inter, mut level, mut main): (c_int, c_int, c_int) = (0, 0, 0);
    // SAFETY: a live communicator, and valid out parameters.
    unsafe {
        accept("MPI_Comm_test_inter", ffi::PMPI_Comm_test_inter(comm, &mut inter))?;
        accept("MPI_Query_thread", ffi::PMPI_Query_thread(&mut level))?;
        accept("MPI_Is_thread_main", ffi::PMPI_Is_thread_main(&mut main))?;
    }
    if inter != 0 {
        return refused("an intercommunicator; a hypercube needs ranks of one group");
    }
    if main == 0 && level < ffi::MPI_THREAD_SERIALIZED as c_int {
        return refused("MPI serves the main thread only; initialise it with Threading::Serialized or Multiple");
    }
    Ok(())
}

/// Starts something that all ranks do together, in some memory, and waits for it; the memory again.
///
/// # Errors
/// Those of MPI, and [`Error::Timeout`]. MPI may then still use the memory, whenever the last rank comes: it is left to it.
fn wait<T>(
    comm: ffi::MPI_Comm,
    waits: &Waits,
    call: &'static str,
    memory: Box<T>,
    start: impl FnOnce(&mut T, &mut ffi::MPI_Request) -> c_int,
) -> Result<Box<T>> {
    let memory = Box::into_raw(memory);
    // SAFETY: a constant handle of MPI, initialised by the rsmpi support library; the memory was a box's, and nobody else has it.
    let (mut request, lent) = unsafe { (ffi::RSMPI_REQUEST_NULL, &mut *memory) };
    accept(call, start(lent, &mut request))?;
    let (mut done, mut looks, mut since, mut said): (c_int, u64, Option<Instant>, bool) = (0, 0, None, false);
    loop {
        // SAFETY: a live request of ours, a valid out parameter, and a status that nobody wants.
        accept(call, unsafe { ffi::PMPI_Test(&mut request, &mut done, ffi::RSMPI_STATUS_IGNORE) })?;
        if done != 0 {
            // SAFETY: it was a box's, and MPI is through with it.
            return Ok(unsafe { Box::from_raw(memory) });
        }
        looks += 1;
        if looks.is_multiple_of(64) {
            (waits.meanwhile)();
            std::thread::yield_now();
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            let what = || {
                let seconds = waited.as_secs();
                format!("Hypercube::new: no progress for {seconds} s; not all ranks of the communicator have called it")
            };
            if !said && waits.patience.report.is_some_and(|limit| waited >= limit) {
                said = true;
                say(&what());
            }
            if waits.patience.timeout.is_some_and(|limit| waited >= limit) {
                if waits.patience.ends_job {
                    super::abort(comm, &format!("HYPERCOLL_TIMEOUT: {}", what()));
                }
                return Err(Error::Timeout { waiting_for: Vec::new(), what: what() });
            }
        }
    }
}

/// What all ranks tell of themselves, by rank.
fn meet(comm: ffi::MPI_Comm, size: usize, waits: &Waits, card: Card) -> Result<Vec<Card>> {
    Ok(gathered(comm, size, waits, card.words())?.iter().map(Card::read).collect())
}

/// So many words of every rank, by rank.
fn gathered<const N: usize>(comm: ffi::MPI_Comm, size: usize, waits: &Waits, own: [u64; N]) -> Result<Vec<[u64; N]>> {
    let memory = Box::new((own, vec![[0; N]; size]));
    let memory = wait(comm, waits, "MPI_Iallgather", memory, |(own, all), request| {
        let (from, into) = (own.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
        let bytes = size_of_val(own) as c_int;
        // As bytes: whether ranks have the same order of them is to be seen.
        // SAFETY: so many bytes to send, and room for those of every rank, which `wait` keeps until the request is complete; a live
        // communicator.
        unsafe {
            let kind = ffi::RSMPI_UINT8_T;
            ffi::PMPI_Iallgather(from, bytes, kind, into, bytes, kind, comm, request)
        }
    })?;
    Ok(memory.1)
}

/// The bits that all ranks of this rank's host have, and the text that rank 0 finds. All ranks of the communicator call this
/// together. The text is sent only to those that have not got it before.
fn agree(
    comm: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    host: &Host,
    waits: &Waits,
    bits: u64,
    find: impl FnOnce() -> String,
) -> Result<(u64, String)> {
    static KNOWN: Mutex<String> = Mutex::new(String::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let text = if rank == 0 { find() } else { known().clone() };
    let all = gathered(comm, size, waits, [bits, Fnv::of(&text)])?;
    let common = host.ranks.iter().fold(u64::MAX, |common, &mate| common & all[mate][0]);
    if all.iter().all(|said| said[1] == all[0][1]) {
        return Ok((common, text));
    }
    let text = broadcast_from_rank_0(comm, text)?;
    known().clone_from(&text);
    Ok((common, text))
}

/// Whether this process may read the memory of another.
fn readable(card: &Card) -> bool {
    let [nonce, address] = card.nonce;
    let mut found = [0; 8];
    // SAFETY: the target is there, and ours.
    let read = unsafe { single_copy::read(card.process, &[(address, 8)], &[(found.as_mut_ptr(), found.len())]) };
    read.is_ok() && u64::from_ne_bytes(found) == nonce
}

/// Says something that would be the same for every communicator.
fn once(text: &str) {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| say(text));
}

/// Rank 0's text on all ranks, which call this together.
fn broadcast_from_rank_0(comm: ffi::MPI_Comm, text: String) -> Result<String> {
    let mut bytes = text.into_bytes();
    let mut len = bytes.len().min(c_int::MAX as usize) as u64;
    // SAFETY: `len` is one element of that type, and a live communicator.
    let told = unsafe { ffi::PMPI_Bcast((&raw mut len).cast::<c_void>(), 1, ffi::RSMPI_UINT64_T, 0, comm) };
    accept("MPI_Bcast", told)?;
    bytes.resize(len as usize, 0);
    // SAFETY: `bytes` holds `len` bytes on all ranks.
    let told = unsafe {
        let at = bytes.as_mut_ptr().cast::<c_void>();
        ffi::PMPI_Bcast(at, len as c_int, ffi::RSMPI_UINT8_T, 0, comm)
    };
    accept("MPI_Bcast", told)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
