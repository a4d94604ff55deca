//! The lobby of a host: where ranks that have met before meet again, without a message.
//!
//! The first ranks of a host to make a communicator tell each other by messages where they are. They keep what they have learned, and
//! some memory with a stall a rank. If later some of them, and nobody else, make another communicator, each writes into its stall what
//! it has to tell, and reads the others': twice, what they ask for, and then what they have found. That goes on while MPI duplicates the
//! communicator.
//!
//! Which meeting words are of is told by a key: the ranks, and how often these ranks have met here. All ranks count alike, since MPI
//! asks ranks of one group to make their communicators in one order; but threads at once need not keep to it, so where MPI serves
//! them there is no lobby.
//!
//! A rank writes over its words only when all have read them. One that cannot wait for that, or that has left a meeting before it
//! was over, does not come to the lobby any more, and says so: whoever waits for it, or would, meets by messages. A meeting has either
//! all of its ranks in the lobby or none, since nobody goes on before all have come.

use super::host::{Card, Host};
use super::together::Waits;
use super::{accept, segment};
use crate::error::Result;
use crate::hash::Fnv;
use memmap2::MmapRaw;
use mpi::ffi;
use std::collections::HashMap;
use std::ffi::c_int;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lobbies of a process: what ranks of ever other groups have to tell is told by messages from some time on.
const MOST: usize = 8;
/// How long others may take to read what a rank has told them at an earlier meeting.
const READ_WITHIN: Duration = Duration::from_secs(1);
/// Words of a rank that comes, and that has looked around.
const WORDS: usize = 3;

/// What one rank tells the others.
#[repr(C, align(128))]
struct Stall {
    /// Of which meeting the words are, each set once they are there.
    came: AtomicU64,
    looked: AtomicU64,
    words: [AtomicU64; WORDS],
    found: AtomicU64,
    /// Ranks that have not read them yet.
    unread: AtomicU64,
    /// Whether it does not come any more.
    away: AtomicU64,
}

/// A lobby, as one of its ranks has it.
struct Lobby {
    /// What no other lobby has, the same on all ranks.
    id: u64,
    /// The ranks of the host that have stalls, in the order of these.
    group: Group,
    cards: Vec<Card>,
    memory: MmapRaw,
    /// Whether ranks may read each other's memory.
    readable: bool,
    /// How often ranks have met here, by which they are.
    meetings: Mutex<HashMap<u64, u64>>,
}

// SAFETY: a group is a handle of MPI's, which any thread that MPI serves may use; it is written nowhere.
unsafe impl Send for Lobby {}
// SAFETY: as above.
unsafe impl Sync for Lobby {}

static LOBBIES: Mutex<Vec<Arc<Lobby>>> = Mutex::new(Vec::new());

fn lobbies() -> std::sync::MutexGuard<'static, Vec<Arc<Lobby>>> {
    LOBBIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file for a lobby, if this rank could have one more.
pub(super) fn file() -> Option<File> {
    let mut level: c_int = 0;
    // SAFETY: a valid out parameter.
    let asked = unsafe { ffi::PMPI_Query_thread(&mut level) };
    accept("MPI_Query_thread", asked).ok()?;
    let is_possible = level < ffi::MPI_THREAD_MULTIPLE as c_int && lobbies().len() < MOST;
    is_possible.then(segment::create)?.ok()
}

/// Opens a lobby, of which all ranks of the host have mapped the memory.
///
/// # Errors
/// Those of MPI.
pub(super) fn open(comm: ffi::MPI_Comm, cards: &[Card], host: &Host, memory: MmapRaw, readable: bool) -> Result<()> {
    let group = Group::of(comm)?.part(&host.ranks)?;
    let cards: Vec<Card> = host.ranks.iter().map(|&rank| cards[rank]).collect();
    let [nonce, _] = cards[0].nonce;
    let meetings = Mutex::default();
    let lobby = Lobby { id: nonce, group, cards, memory, readable, meetings };
    let mut lobbies = lobbies();
    lobbies.push(Arc::new(lobby));
    // So that all ranks come upon the same one of several that would do.
    lobbies.sort_by_key(|lobby| lobby.id);
    Ok(())
}

/// Whether ranks of the host, some or all of a communicator's, have a lobby already; all of them know alike.
///
/// # Errors
/// Those of MPI.
pub(super) fn is_there(comm: ffi::MPI_Comm, ranks: &[usize]) -> Result<bool> {
    if lobbies().is_empty() {
        return Ok(false);
    }
    let group = Group::of(comm)?.part(ranks)?;
    for lobby in lobbies().iter() {
        if lobby.places(&group, ranks.len())?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A group of ranks.
struct Group(ffi::MPI_Group);

impl Group {
    fn of(comm: ffi::MPI_Comm) -> Result<Group> {
        // SAFETY: a constant handle of MPI's, initialised by the rsmpi support library.
        let mut group = Group(unsafe { ffi::RSMPI_GROUP_NULL });
        // SAFETY: a live communicator, and a valid out parameter.
        accept("MPI_Comm_group", unsafe { ffi::PMPI_Comm_group(comm, &mut group.0) })?;
        Ok(group)
    }

    /// Some of its ranks.
    fn part(&self, ranks: &[usize]) -> Result<Group> {
        let ranks: Vec<c_int> = ranks.iter().map(|&rank| rank as c_int).collect();
        // SAFETY: a constant handle of MPI's, initialised by the rsmpi support library.
        let mut part = Group(unsafe { ffi::RSMPI_GROUP_NULL });
        // SAFETY: a live group, so many of its ranks, and a valid out parameter.
        let made = unsafe { ffi::PMPI_Group_incl(self.0, ranks.len() as c_int, ranks.as_ptr(), &mut part.0) };
        accept("MPI_Group_incl", made)?;
        Ok(part)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: a live group of ours, or none.
        unsafe {
            if self.0 != ffi::RSMPI_GROUP_NULL {
                ffi::PMPI_Group_free(&mut self.0);
            }
        }
    }
}

impl Lobby {
    /// The places of a communicator's ranks, if all of them have one.
    fn places(&self, group: &Group, size: usize) -> Result<Option<Vec<usize>>> {
        if size > self.cards.len() {
            return Ok(None);
        }
        let mut same: c_int = 0;
        // SAFETY: two live groups, and a valid out parameter.
        accept("MPI_Group_compare", unsafe { ffi::PMPI_Group_compare(group.0, self.group.0, &mut same) })?;
        if same == ffi::MPI_IDENT as c_int {
            return Ok(Some((0..size).collect()));
        }
        let ranks: Vec<c_int> = (0..size as c_int).collect();
        let mut places = vec![0; size];
        // SAFETY: two live groups, all ranks of the first, and room for as many.
        let found = unsafe {
            ffi::PMPI_Group_translate_ranks(group.0, size as c_int, ranks.as_ptr(), self.group.0, places.as_mut_ptr())
        };
        accept("MPI_Group_translate_ranks", found)?;
        Ok(places.iter().map(|&place| usize::try_from(place).ok()).collect())
    }

    fn stall(&self, place: usize) -> &Stall {
        assert!(place < self.cards.len());
        // SAFETY: within the memory, which begins on a page, was zeros, and is kept; all that is in it is atomic.
        unsafe { &*self.memory.as_ptr().cast::<Stall>().add(place) }
    }
}

/// Ranks that make a communicator, in the lobby.
pub(super) struct Guests {
    lobby: Arc<Lobby>,
    /// Places by rank.
    places: Vec<usize>,
    rank: usize,
    key: u64,
    /// Whether this rank is through with the meeting, or never came.
    over: bool,
}

impl Guests {
    /// The ranks of a communicator, if all of them have met before. `is_allowed`: as far as this rank is concerned.
    ///
    /// # Errors
    /// Those of MPI.
    pub fn of(parent: ffi::MPI_Comm, rank: usize, size: usize, is_allowed: bool) -> Result<Option<Guests>> {
        if size < 2 || lobbies().is_empty() {
            return Ok(None);
        }
        let group = Group::of(parent)?;
        for lobby in lobbies().iter() {
            let Some(places) = lobby.places(&group, size)? else { continue };
            let mut guests = Guests { lobby: Arc::clone(lobby), places, rank, key: 0, over: true };
            if !is_allowed {
                guests.stay_away();
            }
            if guests.places.iter().any(|&place| guests.is_away(place)) || !guests.all_have_read() {
                return Ok(None);
            }
            let mut meetings = lobby.meetings.lock().unwrap_or_else(PoisonError::into_inner);
            let met = meetings.entry(Fnv::of(&guests.places)).or_insert(0);
            *met += 1;
            guests.key = Fnv::of(&(&guests.places, *met)).max(1);
            drop(meetings);
            return Ok(Some(guests));
        }
        Ok(None)
    }

    fn own(&self) -> &Stall {
        self.lobby.stall(self.places[self.rank])
    }

    fn stay_away(&self) {
        self.own().away.store(1, Ordering::Release);
    }

    fn is_away(&self, place: usize) -> bool {
        self.lobby.stall(place).away.load(Ordering::Acquire) != 0
    }

    /// Whether others have read what this rank told them last; if not, it stays away.
    fn all_have_read(&self) -> bool {
        let since = Instant::now();
        while self.own().unread.load(Ordering::Acquire) > 0 {
            if since.elapsed() > READ_WITHIN {
                self.stay_away();
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// What each rank says when it comes, by rank, as soon as all have; `None` if one does not come here.
    ///
    /// # Errors
    /// As [`Waits::until`]'s, and of what is done meanwhile.
    pub fn come(
        &mut self,
        words: [u64; WORDS],
        waits: &Waits,
        mut meanwhile: impl FnMut() -> Result<()>,
    ) -> Result<Option<Vec<[u64; WORDS]>>> {
        let (own, key) = (self.own(), self.key);
        own.words.iter().zip(words).for_each(|(at, word)| at.store(word, Ordering::Relaxed));
        own.unread.store(self.places.len() as u64 - 1, Ordering::Relaxed);
        own.came.store(key, Ordering::Release);
        self.over = false;
        let has_come = |&place: &usize| self.lobby.stall(place).came.load(Ordering::Acquire) == key;
        let (mut here, mut missing) = (0, false);
        waits.until(|| {
            meanwhile()?;
            here += self.places[here..].iter().take_while(|place| has_come(place)).count();
            // Whoever is away has come before that, or never will; and others may have seen it.
            missing = self.places[here..].iter().any(|place| self.is_away(*place) && !has_come(place));
            Ok(missing || here == self.places.len())
        })?;
        if missing {
            // Nobody has got beyond this, so that nobody will read.
            self.own().unread.store(0, Ordering::Relaxed);
            self.over = true;
            return Ok(None);
        }
        let read = |&place: &usize| self.lobby.stall(place).words.each_ref().map(|word| word.load(Ordering::Relaxed));
        Ok(Some(self.places.iter().map(read).collect()))
    }

    /// The bits that all ranks have found, as soon as all have looked.
    ///
    /// # Errors
    /// As [`Guests::come`]'s.
    pub fn agree(&mut self, bits: u64, waits: &Waits, mut meanwhile: impl FnMut() -> Result<()>) -> Result<u64> {
        let (own, key) = (self.own(), self.key);
        own.found.store(bits, Ordering::Relaxed);
        own.looked.store(key, Ordering::Release);
        let mut here = 0;
        waits.until(|| {
            meanwhile()?;
            let stalls = self.places[here..].iter().map(|&place| self.lobby.stall(place));
            here += stalls.take_while(|stall| stall.looked.load(Ordering::Acquire) == key).count();
            Ok(here == self.places.len())
        })?;
        let mut common = bits;
        for stall in self.places.iter().map(|&place| self.lobby.stall(place)) {
            common &= stall.found.load(Ordering::Relaxed);
            if !std::ptr::eq(stall, self.own()) {
                stall.unread.fetch_sub(1, Ordering::Release);
            }
        }
        self.over = true;
        Ok(common)
    }

    /// What is known of the ranks, by rank.
    pub fn cards(&self) -> Vec<Card> {
        self.places.iter().map(|&place| self.lobby.cards[place]).collect()
    }

    /// Whether ranks may read each other's memory.
    pub fn readable(&self) -> bool {
        self.lobby.readable
    }
}

impl Drop for Guests {
    /// A meeting that this rank has left is not counted by all alike.
    fn drop(&mut self) {
        if !self.over {
            self.stay_away();
        }
    }
}

/// The memory of a lobby, in a file of a process; with `make`, it is made.
///
/// # Errors
/// Those of the operating system.
pub(super) fn map(process: u64, file: u64, ranks: usize, make: bool) -> std::io::Result<MmapRaw> {
    segment::map(process, file, ranks * size_of::<Stall>(), make)
}
