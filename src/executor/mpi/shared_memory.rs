//! Messages between ranks of one host, through memory that they share.
//!
//! Every two ranks have a row of [`Envelopes`] and a [`Pipe`] in each direction. A short message is in its envelope; the bytes of others go
//! through the pipe, and what finds no room there waits in the sender's queue, and goes on whenever that rank waits for anything in the
//! same collective, which ends only when all is sent. For a long message, if ranks may read each other's memory, the envelope says
//! where its bytes are: the receiver copies them itself, once, and only then is it sent; if it cannot, the message comes through the
//! pipe.
//!
//! Memory: the pipes to a rank have [`MEMORY`] bytes together, to the next power of two a pipe, on hosts of 8 to 128 ranks; beyond, 4
//! KiB a pair of ranks; and 1.4 KiB a pair for the rest. Where /dev/shm is too small for that, messages go through MPI.

use super::envelopes::{Envelopes, Message, Reader, Way, Writer, SHORT};
use super::host::Host;
use super::pipe::{Inlet, Outlet, Pipe};
use super::single_copy::{self, Piece, Target};
use crate::collective::Buffer;
use crate::error::{Error, Result};
use crate::executor::{Buffers, Completion};
use crate::schedule::BufferRange;
use memmap2::{MmapOptions, MmapRaw};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::ptr::NonNull;

/// Where files live in memory.
const MEMORY_FILES: &str = "/dev/shm";
/// Bytes of a rank's pipes in all.
const MEMORY: usize = 512 << 10;
/// Bytes of a pipe: more would not stay in the cores' caches, fewer would stop the sender too often.
const CAPACITY: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 10;
/// Bytes of a message from which on it is copied by its receiver.
const LONG: usize = 64 << 10;
/// Pieces that such a message consists of at most: their addresses and lengths are in the envelope.
const PIECES: usize = SHORT / size_of::<Piece>();

/// The variable that says what ranks of one host do with memory that they can share.
const VARIABLE: &str = "HYPERCOLL_SHARED_MEMORY";

/// What ranks of one host do with memory that they can share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Use {
    /// Nothing: messages go through MPI.
    Off,
    /// All messages go through it.
    TwoCopies,
    /// Long messages are copied from the sender's own memory.
    SingleCopy,
}

impl Use {
    /// What the environment says.
    ///
    /// # Errors
    /// [`Error::Environment`].
    pub fn asked() -> Result<Use> {
        let value = std::env::var_os(VARIABLE).unwrap_or_default();
        match value.to_string_lossy().as_ref() {
            "" | "single-copy" => Ok(Use::SingleCopy),
            "two-copies" => Ok(Use::TwoCopies),
            "off" => Ok(Use::Off),
            other => Err(Use::refused(&format!("'{other}' is none of single-copy, two-copies, off"))),
        }
    }

    /// What is wrong with the variable.
    pub fn refused(why: &str) -> Error {
        Error::Environment { variable: VARIABLE.into(), why: why.into() }
    }
}

/// The pipes of one rank, and what is under way in them.
pub(super) struct SharedMemory {
    peers: Vec<Peer>,
    /// For each rank of the communicator, its place in `peers`.
    places: Vec<Option<usize>>,
    /// The places of peers with something under way.
    busy: Vec<usize>,
    /// What was complete as soon as it had started.
    done: Vec<Completion>,
    /// Lists of ranges to use again.
    spare: Vec<Vec<BufferRange>>,
    single_copy: bool,
    /// Keeps the pipes' memory.
    _memory: MmapRaw,
}

struct Peer {
    rank: usize,
    process: u64,
    /// What goes there, and what comes from there.
    there: Outgoing,
    here: Incoming,
    /// What is under way, in the order of starting.
    sends: VecDeque<(u32, Vec<BufferRange>, Sending)>,
    receives: VecDeque<(u32, Vec<BufferRange>, Receiving)>,
    busy: bool,
}

struct Outgoing {
    envelopes: Writer,
    pipe: Inlet,
}

struct Incoming {
    envelopes: Reader,
    pipe: Outlet,
}

impl SharedMemory {
    /// The ways between the ranks of a host, or `None` if one of them does not want them or cannot have them. All of them
    /// call this together; `size` is that of the whole communicator, and what the least willing rank asks for is done.
    pub fn between(host: &Host, size: usize, asked: Use) -> Result<Option<SharedMemory>> {
        let ranks = host.ranks.len();
        if ranks < 2 || !host.agree(asked > Use::Off)? {
            return Ok(None);
        }
        let capacity = (MEMORY / ranks).next_power_of_two().clamp(*CAPACITY.start(), *CAPACITY.end());
        // What no other rank has, and lies where the others may try to read it.
        let probe = Box::new(nonce());
        let told = host.gather([u64::from(std::process::id()), *probe, std::ptr::from_ref(&*probe) as u64])?;
        let file = Path::new(MEMORY_FILES).join(format!("hypercoll-{}-{:016x}", told[0][0], told[0][1]));
        let bytes = ranks * ranks * (Envelopes::SIZE + Pipe::size(capacity));
        // The first rank makes the file, the others open it, and it goes as soon as they have: only the memory stays.
        let made = if host.place == 0 { create(&file, bytes) } else { Ok(()) };
        host.agree(made.is_ok())?;
        let mapped = made.and_then(|()| open(&file));
        let all = host.agree(mapped.is_ok())?;
        if host.place == 0 && mapped.is_ok() {
            // Should that fail, a file stays behind, and nothing else happens.
            let _ = std::fs::remove_file(&file);
        }
        let memory = match mapped {
            Ok(memory) if all => memory,
            Ok(_) => return Ok(None),
            Err(error) => {
                log::warn!("no memory is shared on this host ({}: {error}); messages go through MPI", file.display());
                return Ok(None);
            }
        };
        let neighbour = (host.place + 1) % ranks;
        let may = || asked == Use::SingleCopy && readable(told[neighbour]);
        let single_copy = host.agree(may())?;
        if !single_copy && host.place == 0 {
            log::info!("ranks do not read each other's memory: long messages are copied twice");
        }
        let way = |from: usize, into: usize| {
            let offset = (into * ranks + from) * (Envelopes::SIZE + Pipe::size(capacity));
            // SAFETY: envelopes and pipe lie inside the mapping, which is page-aligned, was zeros, and lives as long as the peers; the
            // ranks of the host use one end each, as all name their ways by the same places.
            unsafe {
                let start = NonNull::new_unchecked(memory.as_mut_ptr().add(offset));
                (Envelopes::at(start), Pipe::at(start.add(Envelopes::SIZE), capacity))
            }
        };
        let there =
            |(envelopes, pipe): (Envelopes, Pipe)| Outgoing { envelopes: envelopes.writer(), pipe: pipe.inlet() };
        let here =
            |(envelopes, pipe): (Envelopes, Pipe)| Incoming { envelopes: envelopes.reader(), pipe: pipe.outlet() };
        let mut places = vec![None; size];
        let peers: Vec<Peer> = (0..ranks)
            .filter(|&place| place != host.place)
            .map(|place| Peer {
                rank: host.ranks[place],
                process: told[place][0],
                there: there(way(host.place, place)),
                here: here(way(place, host.place)),
                sends: VecDeque::new(),
                receives: VecDeque::new(),
                busy: false,
            })
            .collect();
        peers.iter().enumerate().for_each(|(place, peer)| places[peer.rank] = Some(place));
        let (busy, done, spare) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Some(SharedMemory { peers, places, busy, done, spare, single_copy, _memory: memory }))
    }

    /// The number of ranks that share it.
    pub fn ranks(&self) -> usize {
        self.peers.len() + 1
    }

    /// How messages travel, in words.
    pub fn ways(&self) -> &'static str {
        if self.single_copy {
            "shared memory, long messages by a single copy"
        } else {
            "shared memory, by two copies"
        }
    }

    /// The place of a rank that shares memory with this one.
    pub fn place(&self, rank: usize) -> Option<usize> {
        self.places[rank]
    }

    /// Starts to send the ranges to a peer; if `synchronous`, the send is complete when the message has been received.
    pub fn send(&mut self, operation: u32, to: usize, ranges: &[BufferRange], buffers: &Buffers, synchronous: bool) {
        let peer = &mut self.peers[to];
        let mut sending = Sending::new(buffers.bytes(ranges), synchronous, self.single_copy);
        if peer.sends.is_empty() && sending.advance(&mut peer.there, ranges, buffers) {
            self.done.push(Completion { operation, received: None });
            return;
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.extend_from_slice(ranges);
        self.peers[to].sends.push_back((operation, list, sending));
        self.note(to);
    }

    /// Starts to receive the ranges from a peer.
    pub fn receive(&mut self, operation: u32, from: usize, ranges: &[BufferRange], buffers: &Buffers) {
        let mut list = self.spare.pop().unwrap_or_default();
        list.extend_from_slice(ranges);
        self.peers[from].receives.push_back((operation, list, Receiving::new(buffers.bytes(ranges))));
        self.note(from);
    }

    fn note(&mut self, place: usize) {
        if !std::mem::replace(&mut self.peers[place].busy, true) {
            self.busy.push(place);
        }
    }

    /// Moves on what can move, without waiting, and reports what is complete: at most one message from and to each peer, so that
    /// it can be passed on at once.
    pub fn advance(&mut self, buffers: &mut Buffers, done: &mut Vec<Completion>) {
        done.append(&mut self.done);
        let mut index = 0;
        while let Some(&place) = self.busy.get(index) {
            let peer = &mut self.peers[place];
            if let Some((operation, ranges, sending)) = peer.sends.front_mut() {
                if sending.advance(&mut peer.there, ranges, buffers) {
                    done.push(Completion { operation: *operation, received: None });
                    self.spare.extend(peer.sends.pop_front().map(|(_, ranges, _)| emptied(ranges)));
                }
            }
            if let Some((operation, ranges, receiving)) = peer.receives.front_mut() {
                let received = receiving.advance(&mut peer.here, peer.process, ranges, buffers);
                if received.is_some() {
                    done.push(Completion { operation: *operation, received });
                    self.spare.extend(peer.receives.pop_front().map(|(_, ranges, _)| emptied(ranges)));
                }
            }
            peer.busy = !peer.sends.is_empty() || !peer.receives.is_empty();
            if peer.busy {
                index += 1;
            } else {
                self.busy.swap_remove(index);
            }
        }
    }

    /// The ranks with which something is under way.
    pub fn under_way(&self) -> impl Iterator<Item = usize> + '_ {
        self.busy.iter().map(|&place| self.peers[place].rank)
    }
}

fn emptied(mut ranges: Vec<BufferRange>) -> Vec<BufferRange> {
    ranges.clear();
    ranges
}

/// Makes a file of zeros with all its memory, so that no later access finds that there is none.
fn create(file: &Path, bytes: usize) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let reserved = reserve(&options.open(file)?, bytes);
    if reserved.is_err() {
        std::fs::remove_file(file)?;
    }
    reserved
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: usize) -> std::io::Result<()> {
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
    loop {
        // SAFETY: the file is open.
        match unsafe { libc::posix_fallocate(descriptor, 0, bytes as libc::off_t) } {
            0 => return Ok(()),
            libc::EINTR => (),
            code => return Err(std::io::Error::from_raw_os_error(code)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: usize) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

fn open(file: &Path) -> std::io::Result<MmapRaw> {
    MmapOptions::new().map_raw(&OpenOptions::new().read(true).write(true).open(file)?)
}

/// A number that no other process has, as good as certainly.
fn nonce() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Seeded by the operating system.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// Whether this process may read the memory of another, which tells its number, its nonce and where that is.
fn readable([process, nonce, address]: [u64; 3]) -> bool {
    let mut found = [0; 8];
    // SAFETY: the target is there, and ours.
    let read = unsafe { single_copy::read(process, &[(address, 8)], &[(found.as_mut_ptr(), found.len())]) };
    read.is_ok() && u64::from_ne_bytes(found) == nonce
}

/// Where ranges to be received are in memory.
fn targets(ranges: &[BufferRange], buffers: &mut Buffers) -> Vec<Target> {
    let (receive, scratch) = (buffers.receive.len(), buffers.scratch.len());
    let starts = (buffers.receive.as_mut_ptr(), buffers.scratch.as_mut_ptr());
    let target = |range: &BufferRange| {
        let (start, bytes) = match range.buffer {
            Buffer::Send => return None, // schedules never write it
            Buffer::Receive => (starts.0, receive),
            Buffer::Scratch => (starts.1, scratch),
        };
        let (offset, len) = (range.offset * buffers.element, range.len * buffers.element);
        assert!(offset + len <= bytes, "a range beyond its buffer");
        Some((start.wrapping_add(offset), len))
    };
    ranges.iter().filter_map(target).collect()
}

/// A place in a message: a range, and the bytes of it that are done.
#[derive(Default)]
struct Cursor {
    range: usize,
    bytes: usize,
}

impl Cursor {
    /// Moves on by some bytes of the current range, which has so many in all.
    fn advance(&mut self, bytes: usize, of: usize) {
        self.bytes += bytes;
        if self.bytes == of {
            *self = Cursor { range: self.range + 1, bytes: 0 };
        }
    }
}

/// How far a message to be sent is.
struct Sending {
    bytes: usize,
    synchronous: bool,
    single_copy: bool,
    /// The number of its envelope, once that is sent.
    envelope: Option<u64>,
    cursor: Cursor,
}

impl Sending {
    fn new(bytes: usize, synchronous: bool, single_copy: bool) -> Sending {
        let single_copy = single_copy && bytes >= LONG;
        Sending { bytes, synchronous, single_copy, envelope: None, cursor: Cursor::default() }
    }

    /// Sends what there is room for; whether the send is complete.
    fn advance(&mut self, there: &mut Outgoing, ranges: &[BufferRange], buffers: &Buffers) -> bool {
        let envelope = match self.envelope {
            Some(envelope) => envelope,
            None if !there.envelopes.is_free() => return false,
            None => self.begin(there, ranges, buffers),
        };
        self.single_copy &= !there.envelopes.is_refused(envelope);
        if self.bytes > SHORT && !self.single_copy && !self.put(&mut there.pipe, ranges, buffers) {
            return false;
        }
        !(self.synchronous || self.single_copy) || there.envelopes.has_read(envelope)
    }

    /// Sends the envelope; its number.
    fn begin(&mut self, there: &mut Outgoing, ranges: &[BufferRange], buffers: &Buffers) -> u64 {
        let (mut data, mut len) = ([0; SHORT], 0);
        let mut enclose = |bytes: &[u8]| {
            data[len..len + bytes.len()].copy_from_slice(bytes);
            len += bytes.len();
        };
        self.single_copy &= ranges.len() <= PIECES;
        let way = if self.bytes <= SHORT {
            ranges.iter().for_each(|range| enclose(buffers.part(range)));
            Way::Enclosed
        } else if self.single_copy {
            for part in ranges.iter().map(|range| buffers.part(range)) {
                enclose(&(part.as_ptr() as u64).to_ne_bytes());
                enclose(&(part.len() as u64).to_ne_bytes());
            }
            Way::Pieces(ranges.len() as u8)
        } else if there.pipe.rewind() {
            Way::PipeFromStart
        } else {
            Way::Pipe
        };
        *self.envelope.insert(there.envelopes.write(way, self.bytes as u64, &data[..len]))
    }

    /// Puts bytes into the pipe as long as there is room; whether all are in.
    fn put(&mut self, pipe: &mut Inlet, ranges: &[BufferRange], buffers: &Buffers) -> bool {
        while let Some(range) = ranges.get(self.cursor.range) {
            let part = buffers.part(range);
            let rest = &part[self.cursor.bytes..];
            let len = rest.len().min(pipe.stretch());
            if pipe.room(len) < len {
                break;
            }
            pipe.put(&rest[..len]);
            self.cursor.advance(len, part.len());
            if pipe.unpublished() >= pipe.stretch() {
                pipe.publish();
            }
        }
        if pipe.unpublished() > 0 {
            pipe.publish();
        }
        self.cursor.range == ranges.len()
    }
}

/// How far a message to be received is.
struct Receiving {
    expected: usize,
    /// What its envelope says, once that is there.
    message: Option<Message>,
    taken: usize,
    cursor: Cursor,
}

impl Receiving {
    fn new(expected: usize) -> Receiving {
        Receiving { expected, message: None, taken: 0, cursor: Cursor::default() }
    }

    /// Receives what is there; the message's bytes, if it is complete. One of another length than expected is left out.
    fn advance(
        &mut self,
        here: &mut Incoming,
        process: u64,
        ranges: &[BufferRange],
        buffers: &mut Buffers,
    ) -> Option<usize> {
        let message = match self.message {
            Some(message) => message,
            None => {
                let message = here.envelopes.read()?;
                if message.way == Way::PipeFromStart {
                    here.pipe.rewind();
                }
                *self.message.insert(message)
            }
        };
        let (bytes, wanted) = (message.bytes as usize, message.bytes as usize == self.expected);
        match message.way {
            Way::Enclosed if wanted => buffers.scatter(&message.data[..bytes], ranges),
            Way::Pieces(pieces) if wanted => {
                let numbers: [u64; 2 * PIECES] = bytemuck::cast(message.data);
                let pieces =
                    [0, 1, 2].map(|piece| (numbers[2 * piece], numbers[2 * piece + 1])).into_iter().take(pieces.into());
                let pieces: Vec<Piece> = pieces.collect();
                // SAFETY: the ranges of an operation under way are disjoint and inside their buffers, and nobody touches them but
                // the transport.
                if let Err(error) = unsafe { single_copy::read(process, &pieces, &targets(ranges, buffers)) } {
                    log::warn!("process_vm_readv: {error}; a message of {bytes} bytes is copied twice instead");
                    here.envelopes.refuse();
                    self.message = Some(Message { way: Way::Pipe, ..message });
                    return None;
                }
            }
            Way::Pipe | Way::PipeFromStart if !self.take(bytes, &mut here.pipe, ranges, buffers) => return None,
            _ => (),
        }
        here.envelopes.done();
        Some(bytes)
    }

    /// Takes the bytes that are there out of the pipe; whether they are all of the message.
    fn take(&mut self, bytes: usize, pipe: &mut Outlet, ranges: &[BufferRange], buffers: &mut Buffers) -> bool {
        while self.taken < bytes {
            let there = pipe.available(1).min(bytes - self.taken).min(pipe.stretch());
            if there == 0 {
                break;
            }
            let range = ranges.get(self.cursor.range).filter(|_| bytes == self.expected);
            let len = match range {
                Some(range) => {
                    let part = buffers.part_mut(range);
                    let len = there.min(part.len() - self.cursor.bytes);
                    pipe.take(&mut part[self.cursor.bytes..][..len]);
                    self.cursor.advance(len, part.len());
                    len
                }
                None => {
                    pipe.skip(there);
                    there
                }
            };
            self.taken += len;
            if pipe.unreleased() >= pipe.stretch() {
                pipe.release();
            }
        }
        if pipe.unreleased() > 0 {
            pipe.release();
        }
        self.taken == bytes
    }
}
