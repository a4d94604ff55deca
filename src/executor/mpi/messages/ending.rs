//! How messages end that nobody waits for any more: when calls have failed, and when a communicator is left.

use super::{any_source, any_tag, Messages, Tags};
use crate::executor::board::Board;
use crate::executor::mpi::requests::Owner;
use crate::executor::Stamp;
use std::time::{Duration, Instant};

/// How long ranks are waited for that have not said that they are through with a communicator that is broken.
const FAREWELL: Duration = Duration::from_secs(1);
/// After so long a rank says that MPI still uses memory of its user's. Most are through by then.
const HELD: Duration = Duration::from_millis(100);

/// How long at most a message is waited for that had met its receive, which can then not be taken back, when its sender was known to have gone: what that has
/// sent is still on its way, unless it has died.
const ON_ITS_WAY: Duration = Duration::from_secs(5);

/// Tests that fail before it is given up.
const MOST_FAILURES: usize = 1000;

impl Messages {
    /// Of a communicator that this rank has left: whether all of these have left it as well while all was well, nothing is under way,
    /// and nothing has come that nobody has asked for. Nothing of calls is received.
    pub fn have_left(&mut self, peers: &[usize]) -> bool {
        match self.requests.test(false, 1) {
            Ok(completed) => self.requests.take_back(completed),
            Err(_) => return false,
        }
        while (0..Tags::CALLS).any(|tag| self.take(tag).is_some()) {}
        // What they wait for will not come.
        for peer in 0..self.held.len() {
            if std::mem::take(&mut self.held[peer]) {
                self.part(peer, &[]);
            }
        }
        peers.iter().all(|&peer| self.gone[peer]) && !self.is_spoilt()
    }

    /// These messages, and none in their place.
    pub fn leave(&mut self) -> Messages {
        let none = Messages::on(self.requests.comm(), 0);
        std::mem::replace(self, none)
    }

    /// Nothing of any call goes on. What comes is taken out of the way, and when nobody uses memory of the user's any more, and these
    /// peers have said the same or are gone, this returns. Ranks of the board that are gone are so for the peers, too.
    ///
    /// A receive that no message has met can be taken back from MPI, a send cannot: it ends when its receiver takes it out of the way, or is known to have
    /// gone. One that goes tells its neighbours, who pass it on. So nobody returns while a send of another rank that is here has not ended;
    /// those that come later are told that this one receives nothing any more. If a send of this rank takes longer than the limit,
    /// the job is ended: memory that MPI uses is not given back.
    pub fn cease(&mut self, peers: &[usize], board: Option<&Board>, limit: Duration) {
        if std::mem::replace(&mut self.ceased, true) {
            return;
        }
        let messages = &self.messages;
        self.requests.cancel(|owner| messages[owner].receives || messages[owner].introduces);
        let begun = Instant::now();
        let (mut said, mut asked, mut looked, mut failures) = (false, false, begun, 0);
        loop {
            let completed = self.requests.test(false, 1).unwrap_or_else(|error| {
                failures += 1;
                if failures > MOST_FAILURES {
                    // MPI would go on to use memory that is no longer ours.
                    self.requests.abort(&format!("{error}; messages are under way that MPI can no longer test"));
                }
                Vec::new()
            });
            for &(owner, _) in &completed {
                self.messages[owner].left -= 1;
                if self.messages[owner].left == 0 {
                    self.messages[owner].lent = false;
                }
            }
            self.requests.take_back(completed);
            self.take_out_of_the_way();
            if looked.elapsed() > Duration::from_millis(20) {
                looked = Instant::now();
                for (place, &rank) in board.iter().flat_map(|board| board.ranks.iter().enumerate()) {
                    self.gone[rank] |= board.is_some_and(|board| board.line(place).is_gone());
                }
            }
            // Not all ranks have been told by one that goes that it does.
            let is_news = |rank: &usize| self.gone[*rank] && !self.passed_on[*rank];
            let news: Vec<usize> = (0..self.gone.len()).filter(is_news).collect();
            for gone in news {
                (self.passed_on[gone], self.through[gone]) = (true, true);
                let others = peers.iter().filter(|&&peer| peer != gone);
                others.for_each(|&peer| self.note(peer, Tags::FAREWELL, &(gone as u64).to_ne_bytes()));
            }
            let waited = begun.elapsed();
            let lent = |owner: &Owner| {
                let message = &self.messages[*owner];
                message.lent && (!self.gone[message.peer] || message.receives && waited < ON_ITS_WAY.min(limit))
            };
            let lent_to = self.requests.owners().find(lent).map(|owner| self.messages[owner].peer);
            match lent_to {
                None if !said => {
                    said = true;
                    peers.iter().for_each(|&peer| self.note(peer, Tags::FAREWELL, &[]));
                }
                Some(_) if !asked && waited > HELD => {
                    asked = true;
                    peers.iter().for_each(|&peer| self.note(peer, Tags::HELD, &[]));
                }
                Some(peer) if waited > limit => self.requests.abort(&format!(
                    "a call has failed; {} s later MPI still uses its buffers, for a message to rank {peer}",
                    waited.as_secs()
                )),
                _ => (),
            }
            let missing = || peers.iter().copied().filter(|&peer| !self.through[peer]);
            let patient = waited <= FAREWELL || waited <= limit && missing().any(|peer| self.held[peer]);
            if said && (missing().next().is_none() || !patient) {
                let late: Vec<usize> = missing().filter(|&peer| !self.receives_from(peer)).collect();
                late.into_iter().for_each(|peer| self.part(peer, &[]));
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Whether anything of a call is being received from a rank.
    fn receives_from(&self, peer: usize) -> bool {
        self.requests.owners().any(|owner| self.messages[owner].receives && self.messages[owner].peer == peer)
    }

    /// Takes what has come: what ranks tell each other, and messages of calls, which are received into memory of ours, if they are long
    /// while other things go on.
    fn take_out_of_the_way(&mut self) {
        while let Ok(Some((peer, tag, bytes))) = self.requests.unexpected(any_source(), any_tag()) {
            if tag < Tags::CALLS {
                self.take(tag);
                continue;
            }
            let owner = self.open(None, Stamp { number: 0, signature: 0 }, peer);
            let message = &mut self.messages[owner];
            message.packed.resize(bytes, 0);
            (message.receives, message.left) = (true, 1);
            let start = message.packed.as_mut_ptr();
            // SAFETY: as in `post`; it has room for the message.
            if unsafe { self.requests.receive(owner, peer, tag, start, bytes) }.is_err() {
                return;
            }
        }
    }

    /// Whether messages of this communicator may still come, which nobody receives: it must not be freed.
    pub fn is_spoilt(&mut self) -> bool {
        self.ceased || self.broken || self.any() || self.requests.is_anything_there()
    }

    /// Leaves what is under way to MPI, with its memory.
    pub fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.messages));
    }
}
