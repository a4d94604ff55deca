//! Messages through MPI: nonblocking point-to-point calls.
//!
//! A long message of one range is sent from and received into the user's buffer; one of several ranges is packed. Messages of
//! more bytes than a tag can say are split, which is before MPI can no longer count them.
//!
//! No message is longer than its receive: what MPI libraries make of one that is differs. MPICH ends the program, and Open MPI 4.1
//! writes beyond the end of a receive that is too short when it copies from process to process.

use super::{abort, accept, class};
use crate::error::Result;
use crate::executor::{Buffers, Completion};
use crate::schedule::BufferRange;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// Bytes up to which messages carry the tag 0, come into memory that holds any of them, and are compared with what was expected
/// when they are there. Up to here that copy costs next to nothing.
const SHORT_MESSAGE: usize = 2048;
/// The largest tag that every MPI library has.
pub(super) const LEAST_TAG_BOUND: usize = 32_767;

/// How long messages are split into MPI messages, and which tags those carry.
///
/// The communicator is ours, and messages between two ranks match in order, so no tag is needed to tell them apart; but a long
/// message must not meet a receive of another length. So the tag of a part says its length, and whether more parts follow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Split {
    /// Bytes of a part at most.
    largest: usize,
}

impl Split {
    /// For tags up to a bound. It is 2^k - 1 everywhere, so that parts but the last are of odd length: messages that differ in length
    /// by whole parts would meet part by part, and it takes no round number of elements to differ by that.
    pub fn within(tag_bound: usize) -> Split {
        Split { largest: (tag_bound - 1) / 2 }
    }

    /// For the tags of the MPI library, the same on all ranks.
    fn of_mpi() -> Split {
        let (mut bound, mut told): (*const c_int, c_int) = (std::ptr::null(), 0);
        // SAFETY: a communicator that lives as long as MPI, and valid out parameters; this attribute is the address of an `int`.
        let bound = unsafe {
            let into = (&raw mut bound).cast::<c_void>();
            ffi::PMPI_Comm_get_attr(ffi::RSMPI_COMM_WORLD, ffi::MPI_TAG_UB as c_int, into, &mut told);
            (told != 0).then(|| *bound as usize)
        };
        Split::within(bound.unwrap_or(LEAST_TAG_BOUND))
    }

    /// The parts of a message of so many bytes: offset, length and tag of each.
    fn parts(self, bytes: usize) -> impl ExactSizeIterator<Item = (usize, usize, c_int)> {
        (0..bytes.div_ceil(self.largest).max(1)).map(move |part| {
            let offset = part * self.largest;
            let len = (bytes - offset).min(self.largest);
            (offset, len, if bytes <= SHORT_MESSAGE { 0 } else { tag(len, offset + len < bytes) })
        })
    }
}

fn tag(len: usize, more_follow: bool) -> c_int {
    (2 * len + usize::from(more_follow)) as c_int
}

fn more_follow(tag: c_int) -> bool {
    tag % 2 != 0
}

/// The messages of a communicator that are under way.
pub(super) struct Messages {
    comm: ffi::MPI_Comm,
    pub split: Split,
    requests: Vec<ffi::MPI_Request>,
    /// For each request, in the same order, the index of its message.
    owners: Vec<usize>,
    messages: Vec<Message>,
    unused: Vec<usize>,
    indices: Vec<c_int>,
    statuses: Vec<ffi::MPI_Status>,
    /// Whether the statuses of the last test say which requests failed.
    failed: bool,
    /// Whether receives have been cancelled because the messages that came are others.
    cancelled: bool,
}

/// A message under way.
#[derive(Default)]
struct Message {
    operation: u32,
    peer: usize,
    receives: bool,
    /// Where the parts of a packed message go, and the packed message itself; its memory is used again.
    ranges: Vec<BufferRange>,
    packed: Vec<u8>,
    /// MPI messages still under way, and bytes received.
    left: usize,
    received: usize,
    /// Bytes in all.
    bytes: usize,
    /// Whether another message came in its place.
    replaced: bool,
}

impl Messages {
    /// Of a live communicator that returns errors, on which nobody else sends or receives.
    pub fn on(comm: ffi::MPI_Comm) -> Messages {
        Messages {
            comm,
            split: Split::of_mpi(),
            requests: Vec::new(),
            owners: Vec::new(),
            messages: Vec::new(),
            unused: Vec::new(),
            indices: Vec::new(),
            statuses: Vec::new(),
            failed: false,
            cancelled: false,
        }
    }

    /// Whether any are under way.
    pub fn any(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Lets MPI make progress on whatever is under way on any communicator; it yields the core if it was told to. MPI libraries
    /// make none if a probe finds something: this one is for a message of this rank to itself, and there are none. Nothing depends
    /// on it, so its errors are left to the calls that something depends on.
    pub fn make_progress(&mut self, rank: usize) {
        let mut there: c_int = 0;
        // SAFETY: MPI_Status is plain data that MPI fills in; a live communicator, and valid out parameters.
        unsafe {
            let mut status: ffi::MPI_Status = std::mem::zeroed();
            let (itself, any) = (rank as c_int, ffi::RSMPI_ANY_TAG);
            ffi::PMPI_Iprobe(itself, any, self.comm, &mut there, &mut status);
        }
    }

    /// The ranks with which some are under way.
    pub fn under_way(&self) -> impl Iterator<Item = usize> + '_ {
        self.owners.iter().map(|&owner| self.messages[owner].peer)
    }

    /// A place for a new message.
    fn open(&mut self, operation: u32, peer: usize, receives: bool, bytes: usize) -> usize {
        let at = self.unused.pop().unwrap_or_else(|| {
            self.messages.push(Message::default());
            self.messages.len() - 1
        });
        let message = &mut self.messages[at];
        (message.operation, message.peer, message.receives) = (operation, peer, receives);
        message.left = self.split.parts(bytes).len();
        (message.received, message.bytes, message.replaced) = (0, bytes, false);
        message.ranges.clear();
        at
    }

    /// Starts the MPI messages that carry the bytes from or to `start`; with `empty` they carry none of them.
    ///
    /// # Safety
    /// `start` must be valid for the message's bytes, and if it `receives`, for writing and for [`SHORT_MESSAGE`] bytes at least, until
    /// the requests are complete.
    unsafe fn post(&mut self, owner: usize, start: *mut u8, empty: bool, synchronous: bool) -> Result<()> {
        let Message { peer, receives, bytes, .. } = self.messages[owner];
        for (part, (offset, len, tag)) in self.split.parts(bytes).enumerate() {
            let (offset, len) = match tag {
                _ if empty => (0, 0),
                0 if receives => (0, SHORT_MESSAGE),
                _ => (offset, len),
            };
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let at = start.add(offset).cast::<c_void>();
            let (count, kind, peer) = (len as c_int, ffi::RSMPI_UINT8_T, peer as c_int);
            let (call, code) = if receives {
                ("MPI_Irecv", ffi::PMPI_Irecv(at, count, kind, peer, tag, self.comm, &mut request))
            } else if synchronous {
                ("MPI_Issend", ffi::PMPI_Issend(at, count, kind, peer, tag, self.comm, &mut request))
            } else {
                ("MPI_Isend", ffi::PMPI_Isend(at, count, kind, peer, tag, self.comm, &mut request))
            };
            match accept(call, code) {
                // The caller would take it that the buffer is free, and the parts before go on to use it.
                Err(error) if part > 0 => abort(self.comm, &format!("{error}; parts of the message are under way")),
                posted => posted?,
            }
            self.requests.push(request);
            self.owners.push(owner);
        }
        Ok(())
    }

    /// Looks for messages from ranks that this one waits for which match no receive, and cancels the receives that wait in
    /// their place. MPI refuses to cancel a receive that has been matched, so nothing goes wrong if the message is one
    /// for a later receive.
    pub fn cancel_mismatched(&mut self) -> Result<()> {
        let mut looked: Vec<usize> = Vec::new();
        for index in 0..self.requests.len() {
            let message = &self.messages[self.owners[index]];
            if !message.receives || looked.contains(&message.peer) {
                continue;
            }
            looked.push(message.peer);
            let mut there: c_int = 0;
            // SAFETY: MPI_Status is plain data that MPI fills in; all-zero is a valid value of its fields.
            let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
            // SAFETY: a live communicator, a live request of ours, and valid out parameters.
            unsafe {
                let (peer, any) = (message.peer as c_int, ffi::RSMPI_ANY_TAG);
                accept("MPI_Iprobe", ffi::PMPI_Iprobe(peer, any, self.comm, &mut there, &mut status))?;
            }
            if there != 0 {
                // With all its parts: the message that came has parts of its own.
                let owner = self.owners[index];
                for part in index..self.requests.len() {
                    if self.owners[part] == owner {
                        self.cancel(part)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Cancels a receive, unless it has been matched. Open MPI 4.1 calls that an error, of the communicator of all processes and
    /// not of ours.
    fn cancel(&mut self, index: usize) -> Result<()> {
        // SAFETY: constant handles of MPI, an error handler that is put back at once, and a live request of ours.
        unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            let mut handler = ffi::RSMPI_ERRORS_RETURN;
            accept("MPI_Comm_get_errhandler", ffi::PMPI_Comm_get_errhandler(world, &mut handler))?;
            accept("MPI_Comm_set_errhandler", ffi::PMPI_Comm_set_errhandler(world, ffi::RSMPI_ERRORS_RETURN))?;
            self.cancelled |= ffi::PMPI_Cancel(&mut self.requests[index]) == ffi::MPI_SUCCESS as c_int;
            accept("MPI_Comm_set_errhandler", ffi::PMPI_Comm_set_errhandler(world, handler))?;
            accept("MPI_Errhandler_free", ffi::PMPI_Errhandler_free(&mut handler))
        }
    }

    /// If a receive was cancelled, takes the message that came in its place out of the way, so that its sender need not wait: the
    /// number of its bytes. That of all parts is taken once.
    fn stray(&mut self, at: usize, owner: usize) -> Result<Option<usize>> {
        let mut cancelled: c_int = 0;
        // SAFETY: a status that MPI filled in, and a valid out parameter.
        let code = unsafe { ffi::PMPI_Test_cancelled(&self.statuses[at], &mut cancelled) };
        accept("MPI_Test_cancelled", code)?;
        let message = &mut self.messages[owner];
        if cancelled == 0 || std::mem::replace(&mut message.replaced, true) {
            return Ok((cancelled != 0).then_some(0));
        }
        let peer = message.peer as c_int;
        let mut bytes = 0;
        loop {
            let mut size: c_int = 0;
            // SAFETY: MPI_Status is plain data that MPI fills in; a live communicator, valid out parameters; `waste` holds the `size`
            // bytes of the message that the probe has seen, and nobody else receives on this communicator.
            let tag = unsafe {
                let mut status: ffi::MPI_Status = std::mem::zeroed();
                accept("MPI_Probe", ffi::PMPI_Probe(peer, ffi::RSMPI_ANY_TAG, self.comm, &mut status))?;
                accept("MPI_Get_count", ffi::PMPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut size))?;
                let mut waste = vec![0u8; size.max(0) as usize];
                let (to, tag, kind) = (waste.as_mut_ptr().cast::<c_void>(), status.MPI_TAG, ffi::RSMPI_UINT8_T);
                accept("MPI_Recv", ffi::PMPI_Recv(to, size, kind, peer, tag, self.comm, &mut status))?;
                tag
            };
            bytes += size.max(0) as usize;
            // The sender has started all parts together.
            if !more_follow(tag) {
                return Ok(Some(bytes));
            }
        }
    }

    /// Tests the requests once; the number that have completed. With `all` it is either all of them or none, which is cheaper
    /// to find out.
    fn test(&mut self, all: bool) -> Result<usize> {
        let count = self.requests.len();
        if self.indices.len() < count {
            self.indices.resize(count, 0);
            // SAFETY: MPI_Status is plain data that MPI fills in; all-zero is a valid value of its fields.
            self.statuses.resize(count, unsafe { std::mem::zeroed() });
        }
        let mut completed: c_int = 0;
        let (requests, statuses) = (self.requests.as_mut_ptr(), self.statuses.as_mut_ptr());
        // SAFETY: `requests`, `indices` and `statuses` hold at least `count` elements.
        let code = unsafe {
            if all {
                ffi::PMPI_Testall(count as c_int, requests, &mut completed, statuses)
            } else {
                let indices = self.indices.as_mut_ptr();
                ffi::PMPI_Testsome(count as c_int, requests, &mut completed, indices, statuses)
            }
        };
        if all && completed != 0 {
            completed = count as c_int;
            (0..).zip(&mut self.indices[..count]).for_each(|(index, place)| *place = index);
        }
        // Errors of single requests are in the statuses.
        self.failed = class(code) == ffi::MPI_ERR_IN_STATUS;
        if !self.failed {
            accept("MPI_Testsome", code)?;
        }
        Ok(completed.max(0) as usize)
    }

    /// Bytes that came, as a status reports.
    fn received(&self, status: &ffi::MPI_Status) -> usize {
        let mut count: c_int = 0;
        // SAFETY: `status` was filled in by MPI, `count` is a valid out parameter.
        unsafe { ffi::PMPI_Get_count(status, ffi::RSMPI_UINT8_T, &mut count) };
        count.max(0) as usize
    }

    /// Starts to send the ranges as one message, or an empty one in its place if this rank has `failed`; if `synchronous`, the send is
    /// complete only when it has met its receive.
    pub fn send(
        &mut self,
        operation: u32,
        peer: usize,
        ranges: &[BufferRange],
        buffers: &Buffers,
        failed: bool,
        synchronous: bool,
    ) -> Result<()> {
        let bytes = buffers.bytes(ranges);
        let owner = self.open(operation, peer, false, bytes);
        let start = match ranges {
            [] => std::ptr::NonNull::<u8>::dangling().as_ptr(),
            _ if failed => std::ptr::NonNull::<u8>::dangling().as_ptr(),
            [range] => buffers.part(range).as_ptr().cast_mut(),
            _ => {
                buffers.gather(ranges, &mut self.messages[owner].packed);
                self.messages[owner].packed.as_mut_ptr()
            }
        };
        // SAFETY: `start` is valid for `bytes` bytes: it is the range itself, which the execution neither moves nor writes
        // before this operation is reported complete, or the packed copy, which lives in `messages` and stays as it is as
        // long as the message is under way. MPI only reads it.
        unsafe { self.post(owner, start, failed, synchronous) }
    }

    /// Starts to receive one message into the ranges.
    pub fn receive(
        &mut self,
        operation: u32,
        peer: usize,
        ranges: &[BufferRange],
        buffers: &mut Buffers,
    ) -> Result<()> {
        let bytes = buffers.bytes(ranges);
        let owner = self.open(operation, peer, true, bytes);
        let start = match ranges {
            [range] if bytes > SHORT_MESSAGE => buffers.part_mut(range).as_mut_ptr(),
            _ => {
                let message = &mut self.messages[owner];
                message.ranges.extend_from_slice(ranges);
                let room = bytes.max(SHORT_MESSAGE).max(message.packed.len());
                message.packed.resize(room, 0);
                message.packed.as_mut_ptr()
            }
        };
        // SAFETY: as in `send`; the execution does not touch the range before the operation is reported complete.
        unsafe { self.post(owner, start, false, false) }
    }

    /// Tests what is under way once, and reports what is complete; whether anything is, be it a part of a message. With `all` it is all
    /// or nothing, which is cheaper to find out. Every test makes MPI's own progress once, and yields the core if MPI was told to.
    ///
    /// # Errors
    /// If messages failed, they are reported complete all the same; if MPI cannot test at all, nothing is.
    pub fn advance(&mut self, all: bool, buffers: &mut Buffers, done: &mut Vec<Completion>) -> Result<bool> {
        let completed = self.test(all && !self.cancelled)?;
        if completed == 0 {
            return Ok(false);
        }
        let mut outcome = Ok(());
        for at in 0..completed {
            let index = self.indices[at] as usize;
            let owner = self.owners[index];
            let error = if self.failed { self.statuses[at].MPI_ERROR } else { ffi::MPI_SUCCESS as c_int };
            outcome = outcome.and(accept("MPI_Testsome", error));
            if self.messages[owner].receives {
                let stray = if self.cancelled { self.stray(at, owner) } else { Ok(None) };
                let received = stray.map(|stray| stray.unwrap_or_else(|| self.received(&self.statuses[at])));
                let message = &mut self.messages[owner];
                match received {
                    Ok(received) => message.received += received,
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
            let message = &mut self.messages[owner];
            message.left -= 1;
            if message.left == 0 {
                if message.receives && !message.ranges.is_empty() && message.received == message.bytes {
                    buffers.scatter(&message.packed[..message.bytes], &message.ranges);
                }
                let received = message.receives.then_some(message.received);
                done.push(Completion { operation: message.operation, received });
                self.unused.push(owner);
            }
        }
        // Completed requests have become null: close the gaps.
        let (mut kept, mut next) = (0, 0);
        self.indices[..completed].sort_unstable();
        for index in 0..self.requests.len() {
            if next < completed && self.indices[next] as usize == index {
                next += 1;
            } else {
                self.requests[kept] = self.requests[index];
                self.owners[kept] = self.owners[index];
                kept += 1;
            }
        }
        self.requests.truncate(kept);
        self.owners.truncate(kept);
        self.cancelled &= kept > 0;
        outcome.map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The least bound of MPI, those of MPICH over some networks, and that of Open MPI.
    const BOUNDS: [usize; 5] = [LEAST_TAG_BOUND, (1 << 19) - 1, (1 << 20) - 1, (1 << 28) - 1, c_int::MAX as usize];

    #[test]
    fn a_message_is_all_its_parts() {
        for split in BOUNDS.map(Split::within) {
            let largest = split.largest;
            assert!(largest > SHORT_MESSAGE && largest <= c_int::MAX as usize);
            let ends = [0, 1, SHORT_MESSAGE, SHORT_MESSAGE + 1, largest - 1, largest, largest + 1];
            for bytes in ends.into_iter().chain([2 * largest - 1, 2 * largest, 7 * largest + 5]) {
                let mut end = 0;
                for (offset, len, _) in split.parts(bytes) {
                    assert_eq!(offset, end, "{split:?}: {bytes}");
                    assert!(len <= largest && (len > 0 || bytes == 0), "{split:?}: {bytes}");
                    end += len;
                }
                assert_eq!(end, bytes, "{split:?}");
                assert_eq!(split.parts(bytes).len(), bytes.div_ceil(largest).max(1));
            }
        }
    }

    /// So no message is written into a receive of another length.
    #[test]
    fn parts_of_different_lengths_have_different_tags() {
        for bound in BOUNDS {
            let split = Split::within(bound);
            let mut lengths: HashMap<c_int, usize> = HashMap::new();
            let near = [1, 2, 3, 10].map(|parts| parts * split.largest);
            let lists = near.map(|middle| middle - 3000..middle + 3000);
            for bytes in (SHORT_MESSAGE + 1..70_000).chain(lists.into_iter().flatten()).filter(|b| *b > SHORT_MESSAGE) {
                let last = split.parts(bytes).len() - 1;
                for (part, (_, len, tag)) in split.parts(bytes).enumerate() {
                    assert!((1..=bound).contains(&(tag as usize)), "{split:?}: {bytes}: {tag}");
                    assert_eq!(*lengths.entry(tag).or_insert(len), len, "{split:?}: {bytes}: {tag}");
                    assert_eq!(more_follow(tag), part < last, "{split:?}: {bytes}: {tag}");
                }
            }
            assert!((0..=SHORT_MESSAGE).all(|bytes| split.parts(bytes).all(|(_, _, tag)| tag == 0)));
        }
    }
}
