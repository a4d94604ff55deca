//! rsmpi's messages from rank to rank, on a communicator whose collectives are this library's.
//!
//! MPI moves its own collectives while a program waits in a receive or a send; it knows nothing of those of this library. Here, whoever
//! waits for a message moves them, too: without that, a rank that waits for the message of another one, which waits for a nonblocking
//! collective of the first, would wait for ever.

use crate::comm::{Hypercube, Process};
use mpi::point_to_point::{Message, Status};
use mpi::topology;
use mpi::traits::{AsCommunicator, Buffer, BufferMut, Destination, Equivalence, MatchedReceiveVec, Source};
use mpi::{request, Rank, Tag};
use std::fmt;
use std::ops::Deref;

/// A rank of an [`MpiHypercube`](crate::MpiHypercube): the root of collectives, as a [`Process`], and the other end of rsmpi's messages.
#[derive(Clone, Copy)]
pub struct MpiProcess<'c> {
    process: Process<'c>,
    peer: topology::Process<'c>,
}

/// Any rank of an [`MpiHypercube`](crate::MpiHypercube), as the source of rsmpi's messages.
#[derive(Clone, Copy)]
pub struct MpiAnyProcess<'c> {
    cube: &'c Hypercube,
    peer: topology::AnyProcess<'c>,
}

impl<'c> MpiProcess<'c> {
    pub(crate) fn new(process: Process<'c>, peer: topology::Process<'c>) -> MpiProcess<'c> {
        MpiProcess { process, peer }
    }

    /// The rank, as rsmpi's type.
    pub fn rank(&self) -> Rank {
        self.peer.rank()
    }

    /// Whether it is the caller's.
    pub fn is_self(&self) -> bool {
        self.peer.is_self()
    }

    fn cube(&self) -> &'c Hypercube {
        self.process.cube()
    }
}

impl<'c> MpiAnyProcess<'c> {
    pub(crate) fn new(cube: &'c Hypercube, peer: topology::AnyProcess<'c>) -> MpiAnyProcess<'c> {
        MpiAnyProcess { cube, peer }
    }

    fn cube(&self) -> &'c Hypercube {
        self.cube
    }
}

/// The collectives that have this rank as their root.
impl<'c> Deref for MpiProcess<'c> {
    type Target = Process<'c>;

    fn deref(&self) -> &Process<'c> {
        &self.process
    }
}

impl fmt::Debug for MpiProcess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MpiProcess({})", self.rank())
    }
}

impl fmt::Debug for MpiAnyProcess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MpiAnyProcess")
    }
}

macro_rules! source {
    ($name:ident) => {
        impl<'c> AsCommunicator for $name<'c> {
            type Out = topology::AnyProcess<'c>;

            fn as_communicator(&self) -> &Self::Out {
                self.peer.as_communicator()
            }
        }

        impl $name<'_> {
            /// Returns when there is a message that a receive would take, so that it does not wait, or no collective is under way;
            /// moves them meanwhile.
            fn await_message(&self, tag: Tag) {
                while self.cube().progress() && self.peer.immediate_probe_with_tag(tag).is_none() {
                    std::thread::yield_now();
                }
            }
        }

        // SAFETY: rsmpi's own rank and communicator.
        unsafe impl Source for $name<'_> {
            fn source_rank(&self) -> Rank {
                self.peer.source_rank()
            }

            fn probe_with_tag(&self, tag: Tag) -> Status {
                self.await_message(tag);
                self.peer.probe_with_tag(tag)
            }

            fn matched_probe_with_tag(&self, tag: Tag) -> (Message, Status) {
                while self.cube().progress() {
                    match self.peer.immediate_matched_probe_with_tag(tag) {
                        Some(found) => return found,
                        None => std::thread::yield_now(),
                    }
                }
                self.peer.matched_probe_with_tag(tag)
            }

            fn receive_with_tag<Msg: Equivalence>(&self, tag: Tag) -> (Msg, Status) {
                self.await_message(tag);
                self.peer.receive_with_tag(tag)
            }

            fn receive_into_with_tag<Buf: BufferMut + ?Sized>(&self, buf: &mut Buf, tag: Tag) -> Status {
                self.await_message(tag);
                self.peer.receive_into_with_tag(buf, tag)
            }

            fn receive_vec_with_tag<Msg: Equivalence>(&self, tag: Tag) -> (Vec<Msg>, Status) {
                self.matched_probe_with_tag(tag).matched_receive_vec()
            }
        }
    };
}

source!(MpiProcess);
source!(MpiAnyProcess);

impl MpiProcess<'_> {
    /// Waits for a send, and moves the collectives meanwhile.
    fn await_send<'a, D: ?Sized>(&self, mut send: request::Request<'a, D, &request::LocalScope<'a>>) {
        while self.cube().progress() {
            match send.test() {
                Ok(_) => return,
                Err(unfinished) => send = unfinished,
            }
            std::thread::yield_now();
        }
        send.wait_without_status();
    }
}

impl Destination for MpiProcess<'_> {
    fn destination_rank(&self) -> Rank {
        self.peer.destination_rank()
    }

    fn send_with_tag<Buf: Buffer + ?Sized>(&self, buf: &Buf, tag: Tag) {
        match self.cube().progress() {
            true => request::scope(|scope| self.await_send(self.peer.immediate_send_with_tag(scope, buf, tag))),
            false => self.peer.send_with_tag(buf, tag),
        }
    }

    fn synchronous_send_with_tag<Buf: Buffer + ?Sized>(&self, buf: &Buf, tag: Tag) {
        match self.cube().progress() {
            true => {
                request::scope(|scope| self.await_send(self.peer.immediate_synchronous_send_with_tag(scope, buf, tag)))
            }
            false => self.peer.synchronous_send_with_tag(buf, tag),
        }
    }
}
