//! Messages between ranks of one host, through memory that they share.
//!
//! Every two ranks have a row of [`Envelopes`] and a [`Pipe`] in each direction. A short message is in its envelope; the bytes of others go
//! through the pipe, and what finds no room there waits in the sender's queue, and goes on whenever that rank waits for anything in the
//! same collective, which ends only when all is sent. For a long message, if ranks may read each other's memory, the envelope says
//! where its bytes are: the receiver copies them itself, once, and only then is it sent; if it cannot, that message and all later ones
//! come through the pipe.
//!
//! Memory: the pipes to a rank have [`MEMORY`] bytes together, to the next power of two a pipe, on hosts of 8 to 128 ranks; beyond, 4
//! KiB a pair of ranks; and 2.5 KiB a pair for the rest. Where /dev/shm is too small for that, messages go through MPI.

use super::asked::Use;
use super::envelopes::Envelopes;
use super::host::Host;
use super::pipe::Pipe;
use super::transfers::{Incoming, Outgoing, Receiving, Sending};
use super::{segment, single_copy};
use crate::error::Result;
use crate::executor::{Buffers, Completion};
use crate::schedule::BufferRange;
use memmap2::MmapRaw;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Bytes of a rank's pipes in all.
const MEMORY: usize = 512 << 10;
/// Bytes of a pipe: more would not stay in the cores' caches, fewer would stop the sender too often.
const CAPACITY: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 10;

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

impl Peer {
    /// Where its pipes are: elsewhere whenever bytes have moved.
    fn positions(&self) -> (u64, u64) {
        (self.there.pipe.position(), self.here.pipe.position())
    }
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
        let name = format!("hypercoll-{}-{:016x}", told[0][0], told[0][1]);
        let Some(memory) = segment::share(host, &name, ranks * ranks * (Envelopes::SIZE + Pipe::size(capacity)))?
        else {
            return Ok(None);
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
        let there = |(envelopes, pipe): (Envelopes, Pipe)| Outgoing {
            envelopes: envelopes.writer(),
            pipe: pipe.inlet(),
            single_copy,
        };
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
        let mut sending = Sending::new(buffers.bytes(ranges), synchronous);
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
    pub fn receive(&mut self, operation: u32, from: usize, ranges: &[BufferRange], buffers: &mut Buffers) {
        let peer = &mut self.peers[from];
        let mut receiving = Receiving::new(buffers.bytes(ranges));
        // To copy a long one now would hold up sends that may start.
        if peer.receives.is_empty() && receiving.is_short() {
            let received = receiving.advance(&mut peer.here, peer.process, ranges, buffers);
            if received.is_some() {
                self.done.push(Completion { operation, received });
                return;
            }
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.extend_from_slice(ranges);
        self.peers[from].receives.push_back((operation, list, receiving));
        self.note(from);
    }

    fn note(&mut self, place: usize) {
        if !std::mem::replace(&mut self.peers[place].busy, true) {
            self.busy.push(place);
        }
    }

    /// Moves on what can move, without waiting, and reports what is complete: besides what was as soon as it started, at most one
    /// message from and to each peer, so that it can be passed on at once. Whether any bytes have moved through a pipe.
    pub fn advance(&mut self, buffers: &mut Buffers, done: &mut Vec<Completion>) -> bool {
        done.append(&mut self.done);
        let (mut index, mut moved) = (0, false);
        while let Some(&place) = self.busy.get(index) {
            let peer = &mut self.peers[place];
            let before = peer.positions();
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
            moved |= peer.positions() != before;
            peer.busy = !peer.sends.is_empty() || !peer.receives.is_empty();
            if peer.busy {
                index += 1;
            } else {
                self.busy.swap_remove(index);
            }
        }
        moved
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
