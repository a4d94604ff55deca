//! How the ranks of a communicator meet: they duplicate it, tell each other where they are, and map the memory that they share.

use super::affinity;
use super::asked::{Asked, Use};
use super::host::{nonce, Card, Host};
use super::lobby::{self, Guests};
use super::progress::Progress;
use super::shared_memory::{Copies, Layout, SharedMemory};
use super::together::{broadcast_from_rank_0, gathered, UnderWay, Waits};
use super::{accept, segment, single_copy};
use crate::address::Hosts;
use crate::error::{Error, Result};
use crate::executor::board::Board;
use crate::executor::patience::{say, Patience};
use crate::executor::SINGLE_COPY_FROM;
use crate::hash::Fnv;
use mpi::ffi;
use std::ffi::c_int;
use std::fs::File;
use std::io::ErrorKind;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all ranks of a host can do, as bits: have they mapped the memory, may they read each other's, can they have a lobby, and do
/// they know what rank 0 finds?
const MAPPED: u64 = 1;
const READABLE: u64 = 2;
const LOBBY: u64 = 4;
const INFORMED: u64 = 8;

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
        let usual = Patience::default();
        let waits =
            Waits { call: "Hypercube::new", comm: parent, patience: *patience.as_ref().unwrap_or(&usual), meanwhile };
        let asked = Asked::of(|name| std::env::var_os(name).unwrap_or_default().to_string_lossy().into_owned());
        let asked = patience.and(asked).and_then(|asked| match asked.progress {
            true => Progress::is_possible().map(|()| asked),
            false => Ok(asked),
        });
        let is_allowed = asked.as_ref().map_or(true, |asked| asked.shared_memory != Use::None);
        let [rank, size] = rank_and_size(parent)?;
        let guests = Guests::of(parent, rank, size, is_allowed)?;
        let mut duplicate = Duplicate::of(parent)?;
        let mut ranks = Ranks { rank, size, duplicate: &mut duplicate, waits: &waits };
        Meeting::between(&mut ranks, asked, guests, find).inspect_err(|error| {
            if !matches!(error, Error::Timeout { .. } | Error::Mpi { .. }) {
                if let Ok(mut comm) = duplicate.comm(&waits) {
                    // SAFETY: the communicator is ours, and nothing is under way on it.
                    unsafe { ffi::PMPI_Comm_free(&mut comm) };
                }
            }
        })
    }

    /// Of ranks whose communicator is being duplicated, that may be guests of the lobby.
    fn between(
        ranks: &mut Ranks,
        asked: Result<Asked>,
        guests: Option<Guests>,
        find: &dyn Fn(bool) -> String,
    ) -> Result<Meeting> {
        let (rank, size) = (ranks.rank, ranks.size);
        let asks = asked.as_ref().map_or(Card::REFUSED, |asked| asked.shared_memory as u64);
        // The first rank of a host makes the memory; which one that is, ranks of several hosts know only when they have met.
        let file = if guests.is_none() || rank == 0 { segment::create() } else { Err(ErrorKind::NotFound.into()) };
        let number = file.as_ref().map_or(u64::MAX, segment::number);
        let met = match guests {
            Some(guests) => ranks.meet_in_lobby(guests, asks, number, || find(true))?,
            None => None,
        };
        let (cards, mut met) = match met {
            Some((cards, met)) => (cards, Met::InLobby(met)),
            None => {
                let met = Messages { probe: Box::new(nonce()), lobby: lobby::file() };
                (ranks.meet(&met, asks, number)?, Met::ByMessages(met))
            }
        };
        if let Some(other) = Card::stranger(rank, &cards) {
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
        let cores = (host.ranks.len() == size).then_some(host.cores);
        // Nobody lets go of its files or its nonce before all have looked for them.
        let is_mapped = matches!(mapped, Some(Ok(_)));
        // Who makes the memory knows why there is none, and each of the others why it cannot have what there is.
        let why = match (&file, &mapped) {
            (Err(error), Some(_)) if host.place == 0 => Some(error.to_string()),
            (_, Some(Err(error))) if first.file != u64::MAX => Some(error.to_string()),
            _ => None,
        };
        let (all, text) = match &mut met {
            Met::InLobby(met) => ranks.agree_in_lobby(met, is_mapped)?,
            Met::ByMessages(met) => ranks.agree(met, &cards, &host, share, is_mapped, || find(cores.is_some()))?,
        };
        drop((file, met));
        if let Some(why) = why {
            once(&format!("rank {rank}: no memory is shared on this host ({why}); messages go through MPI"));
        }
        let memory = mapped.and_then(std::result::Result::ok).filter(|_| all & MAPPED != 0).map(Arc::new);
        let board = memory.as_ref().map(|memory| {
            let (start, ranks) = (memory.as_mut_ptr(), Arc::from(&host.ranks[..]));
            // SAFETY: the mapping begins with the board, is page-aligned, was zeros, and is kept.
            unsafe { Board::at(NonNull::new_unchecked(start), host.place, ranks, Arc::clone(memory) as _) }
        });
        board.iter().for_each(|board| board.mine().enter(u64::from(std::process::id())));
        let copies = match all & READABLE != 0 {
            true if asks >= Use::Sooner as u64 => Copies::Sooner(SINGLE_COPY_FROM),
            true if asks == Use::SingleCopy as u64 => Copies::Single,
            _ => Copies::Two,
        };
        let ways = memory.as_deref().zip(board.as_ref()).filter(|_| asks > Use::Off as u64);
        let shared_memory = ways.map(|ways| SharedMemory::between(&host, size, ways, &layout, copies));
        let crowded = host.ranks.len() > host.cores || affinity::job_is_crowded();
        let names: Vec<u64> = cards.iter().map(|card| card.host).collect();
        let found = Found { text, cores, hosts: Hosts::of(&names) };
        let progress = progress && shared_memory.as_ref().is_none_or(|memory| memory.ranks() < size);
        let comm = ranks.duplicate.comm(ranks.waits)?;
        Ok(Meeting { comm, rank, size, synchronous, progress, shared_memory, board, crowded, found })
    }
}

/// How ranks have met.
enum Met {
    InLobby(InLobby),
    ByMessages(Messages),
}

/// What ranks keep who have met in the lobby.
struct InLobby {
    guests: Guests,
    /// The text that this rank knows, and the hash of that which rank 0 has found.
    text: String,
    found: u64,
}

/// What ranks keep who have met by messages: what no other rank has, and the file of a lobby, if they may have one.
struct Messages {
    probe: Box<u64>,
    lobby: Option<File>,
}

/// Ranks that meet while their communicator is being duplicated.
struct Ranks<'r> {
    rank: usize,
    size: usize,
    duplicate: &'r mut Duplicate,
    waits: &'r Waits<'r>,
}

impl Ranks<'_> {
    /// What all ranks tell of themselves, by rank; in the lobby.
    fn meet_in_lobby(
        &mut self,
        mut guests: Guests,
        asks: u64,
        file: u64,
        find: impl FnOnce() -> String,
    ) -> Result<Option<(Vec<Card>, InLobby)>> {
        let text = if self.rank == 0 { find() } else { known().clone() };
        let words = [asks, file, Fnv::of(&text)];
        let Some(told) = guests.come(words, self.waits, || self.duplicate.advance())? else { return Ok(None) };
        let mut cards = guests.cards();
        for (card, &[asks, file, _]) in cards.iter_mut().zip(&told) {
            (card.asks, card.file) = (asks, file);
        }
        Ok(Some((cards, InLobby { guests, text, found: told[0][2] })))
    }

    /// The bits that all ranks have, and the text that rank 0 has found; in the lobby.
    fn agree_in_lobby(&mut self, met: &mut InLobby, is_mapped: bool) -> Result<(u64, String)> {
        let is_informed = Fnv::of(&met.text) == met.found;
        let readable = met.guests.readable();
        let bits = [(is_mapped, MAPPED), (readable, READABLE), (is_informed, INFORMED)];
        let all = met.guests.agree(bits_of(bits), self.waits, || self.duplicate.advance())?;
        let text = std::mem::take(&mut met.text);
        let text = if all & INFORMED != 0 { text } else { self.inform(text)? };
        Ok((all, text))
    }

    /// What all ranks tell of themselves, by rank.
    fn meet(&mut self, met: &Messages, asks: u64, file: u64) -> Result<Vec<Card>> {
        let lobby = met.lobby.as_ref().map_or(u64::MAX, segment::number);
        let card = Card::of_this(&met.probe, [file, lobby], asks, Layout::of(8, true).bytes());
        let comm = self.duplicate.comm(self.waits)?;
        Ok(gathered(comm, self.size, self.waits, card.words())?.iter().map(Card::read).collect())
    }

    /// The bits that all ranks of this rank's host have, and the text that rank 0 finds. The text is sent only to those that have not
    /// got it before.
    fn agree(
        &mut self,
        met: &Messages,
        cards: &[Card],
        host: &Host,
        share: bool,
        is_mapped: bool,
        find: impl FnOnce() -> String,
    ) -> Result<(u64, String)> {
        let first = &cards[host.ranks[0]];
        let neighbour = &cards[host.ranks[(host.place + 1) % host.ranks.len()]];
        let readable = share && readable(neighbour);
        let comm = self.duplicate.comm(self.waits)?;
        let lobby = match share && met.lobby.is_some() && !lobby::is_there(comm, &host.ranks)? {
            true => lobby::map(first.process, first.lobby, host.ranks.len(), host.place == 0).ok(),
            false => None,
        };
        let text = if self.rank == 0 { find() } else { known().clone() };
        let bits = bits_of([(is_mapped, MAPPED), (readable, READABLE), (lobby.is_some(), LOBBY)]);
        let all = gathered(comm, self.size, self.waits, [bits, Fnv::of(&text)])?;
        let common = host.ranks.iter().fold(u64::MAX, |common, &mate| common & all[mate][0]);
        if let Some(memory) = lobby.filter(|_| common & LOBBY != 0) {
            lobby::open(comm, cards, host, memory, common & READABLE != 0)?;
        }
        let is_known = all.iter().all(|said| said[1] == all[0][1]);
        Ok((common, if is_known { text } else { self.inform(text)? }))
    }

    /// Rank 0's text on all ranks.
    fn inform(&mut self, text: String) -> Result<String> {
        let text = broadcast_from_rank_0(self.duplicate.comm(self.waits)?, self.waits, text)?;
        known().clone_from(&text);
        Ok(text)
    }
}

/// The text that rank 0 of some communicator has found last, as far as this process has been told.
fn known() -> MutexGuard<'static, String> {
    static KNOWN: Mutex<String> = Mutex::new(String::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bits_of(bits: [(bool, u64); 3]) -> u64 {
    bits.iter().filter(|(is_so, _)| *is_so).fold(0, |bits, (_, bit)| bits | bit)
}

/// The duplicate of a communicator, which MPI may be at work on.
pub(super) struct Duplicate {
    made: Option<ffi::MPI_Comm>,
    under_way: Option<UnderWay<ffi::MPI_Comm>>,
}

impl Duplicate {
    pub fn of(parent: ffi::MPI_Comm) -> Result<Duplicate> {
        // SAFETY: a constant handle of MPI, initialised by the rsmpi support library.
        let comm = unsafe { ffi::RSMPI_COMM_NULL };
        let under_way = UnderWay::start("MPI_Comm_idup", comm, |comm, request| {
            // SAFETY: `parent` is a live communicator; the memory is kept until the request is complete.
            unsafe { ffi::PMPI_Comm_idup(parent, comm, request) }
        })?;
        Ok(Duplicate { made: None, under_way: Some(under_way) })
    }

    /// Lets MPI work on it.
    fn advance(&mut self) -> Result<()> {
        self.under_way.as_mut().map_or(Ok(()), |under_way| under_way.test().map(drop))
    }

    /// The communicator, as soon as it is there; it returns errors.
    pub fn comm(&mut self, waits: &Waits) -> Result<ffi::MPI_Comm> {
        if let Some(under_way) = self.under_way.take() {
            let comm = under_way.wait(waits)?;
            // SAFETY: a live communicator.
            let set = unsafe { ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN) };
            accept("MPI_Comm_set_errhandler", set)?;
            self.made = Some(comm);
        }
        let why = "its duplicate has not been made";
        self.made.ok_or_else(|| Error::Communicator { why: why.into() })
    }
}

/// A live communicator's rank of this process, and size.
fn rank_and_size(comm: ffi::MPI_Comm) -> Result<[usize; 2]> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    // SAFETY: a live communicator, and valid out parameters.
    unsafe {
        accept("MPI_Comm_rank", ffi::PMPI_Comm_rank(comm, &mut rank))?;
        accept("MPI_Comm_size", ffi::PMPI_Comm_size(comm, &mut size))?;
    }
    Ok([rank as usize, size as usize])
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
