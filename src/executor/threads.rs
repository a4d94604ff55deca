//! Messages between threads of one process: copied once into a mailbox and once out of it; sends never wait.

use super::board::{Board, Presence};
use super::memory::{gather, scatter, total, Span};
use super::{Stamp, Token, Transport, Trouble};
use crate::error::Result;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How often a waiting rank looks whether anything but a message has come.
const LOOK: Duration = Duration::from_millis(20);

/// Messages to one rank.
#[derive(Default)]
struct Mailbox {
    arrived: Mutex<Arrived>,
    news: Condvar,
}

#[derive(Default)]
struct Arrived {
    /// By sender.
    messages: HashMap<usize, VecDeque<(Stamp, Vec<u8>)>>,
    /// Whether anything has come since the last look.
    news: bool,
}

impl Mailbox {
    /// A panic of another thread leaves whole messages only, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, mut arrived: MutexGuard<'_, Arrived>) {
        arrived.news = true;
        drop(arrived);
        self.news.notify_one();
    }
}

/// A receive that waits for its message.
type Receive = (Token, Stamp, Vec<Span>);

/// One rank's end.
pub(crate) struct Threads {
    rank: usize,
    mailboxes: Arc<[Mailbox]>,
    /// The rank that panicked first.
    panicked: Arc<OnceLock<usize>>,
    board: Board,
    /// By sender.
    receives: HashMap<usize, VecDeque<Receive>>,
    done: Vec<Token>,
    oldest: u64,
}

impl Threads {
    /// The ends of so many ranks, and where the first one whose thread panics is noted.
    pub fn between(ranks: usize) -> (Vec<Threads>, Arc<OnceLock<usize>>) {
        let mailboxes: Arc<[Mailbox]> = (0..ranks).map(|_| Mailbox::default()).collect();
        let panicked = Arc::new(OnceLock::new());
        let board = Board::of_threads(ranks);
        let end = |rank| Threads {
            rank,
            mailboxes: Arc::clone(&mailboxes),
            panicked: Arc::clone(&panicked),
            board: board(rank),
            receives: HashMap::new(),
            done: Vec::new(),
            oldest: 0,
        };
        ((0..ranks).map(end).collect(), Arc::clone(&panicked))
    }

    fn wake_all(&self) {
        self.mailboxes.iter().for_each(|mailbox| mailbox.notify(mailbox.lock()));
    }
}

impl Transport for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.mailboxes.len()
    }

    fn forget_before(&mut self, oldest: u64) {
        self.oldest = oldest;
    }

    fn receives_first(&self) -> bool {
        false
    }

    fn send(&mut self, _: Token, stamp: Stamp, peer: usize, spans: &[Span]) -> Result<bool> {
        let mut message = vec![0; total(spans)];
        gather(spans, &mut message);
        let mailbox = &self.mailboxes[peer];
        let mut arrived = mailbox.lock();
        arrived.messages.entry(self.rank).or_default().push_back((stamp, message));
        mailbox.notify(arrived);
        Ok(true)
    }

    fn receive(&mut self, token: Token, stamp: Stamp, peer: usize, spans: &[Span], _: bool) -> Result<bool> {
        self.receives.entry(peer).or_default().push_back((token, stamp, spans.to_vec()));
        Ok(false)
    }

    fn advance(&mut self, _: bool, _: u32, done: &mut Vec<Token>) -> std::result::Result<bool, Box<Trouble>> {
        let mut arrived = self.mailboxes[self.rank].lock();
        arrived.news = false;
        for (&peer, waiting) in self.receives.iter_mut().filter(|(_, waiting)| !waiting.is_empty()) {
            let Some(messages) = arrived.messages.get_mut(&peer) else { continue };
            let left_over = messages.iter().find(|(stamp, _)| stamp.number < self.oldest);
            if let (Some(&(found, _)), Some(&(_, expected, _))) = (left_over, waiting.front()) {
                return Err(Trouble::stray(expected.number.min(found.number), peer));
            }
            let mut at = 0;
            while let Some((token, expected, spans)) = waiting.get(at) {
                let Some(found) = messages.iter().position(|(stamp, _)| stamp == expected) else {
                    if messages.iter().any(|(stamp, _)| stamp.number == expected.number) {
                        return Err(Trouble::stray(expected.number, peer));
                    }
                    at += 1;
                    continue;
                };
                if let Some((_, message)) = messages.remove(found) {
                    if message.len() != total(spans) {
                        return Err(Trouble::length(*expected, peer, total(spans), message.len()));
                    }
                    scatter(&message, spans);
                }
                self.done.push(*token);
                waiting.remove(at);
            }
        }
        let moved = !self.done.is_empty();
        done.append(&mut self.done);
        Ok(moved)
    }

    fn pause(&mut self) -> bool {
        let mailbox = &self.mailboxes[self.rank];
        let arrived = mailbox.lock();
        if !arrived.news {
            drop(mailbox.news.wait_timeout(arrived, LOOK));
        }
        true
    }

    fn under_way(&self) -> Vec<usize> {
        self.receives.iter().filter(|(_, waiting)| !waiting.is_empty()).map(|(&peer, _)| peer).collect()
    }

    fn cease(&mut self, _: Duration) {
        self.receives.clear();
        self.done.clear();
        self.wake_all();
    }

    fn board(&self) -> Option<&Board> {
        Some(&self.board)
    }

    fn tell(&mut self, _: usize, _: &[u8]) {}

    fn part(&mut self, _: usize, _: &[u8]) {}

    fn hear(&mut self) -> Option<(usize, Vec<u8>)> {
        None
    }

    /// The process is more than the job.
    fn end_job(&self, _: &str) {}

    fn ways(&self) -> String {
        "memory of one process".into()
    }

    /// Sends never wait here; that no algorithm leans on it is shown by the checker and over MPI.
    fn synchronous_sends(&mut self, _: bool) {}

    fn set_single_copy_from(&mut self, _: usize) -> Option<usize> {
        None
    }
}

impl Drop for Threads {
    /// Says so on the board, at which those that wait look from time to time.
    fn drop(&mut self) {
        let panics = std::thread::panicking();
        if panics {
            self.panicked.get_or_init(|| self.rank);
        }
        self.board.mine().leave(if panics { Presence::Panicked } else { Presence::Left });
    }
}
