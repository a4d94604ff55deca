//! What the ranks of a host tell each other beside their messages: a line a rank, in memory that all of them see.
//!
//! A rank writes its own line as it goes, and reads the others' only when something is wrong, so that a line stays with its owner's
//! core. All of it is atomic words: what is read while it is written may be of two calls, and is read again.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Calls whose words are kept.
pub(crate) const KEPT: u64 = 8;
/// Calls whose signatures are kept.
pub(crate) const HISTORY: u64 = 64;

/// How long the words of a rank that has found something may take to come.
const PUBLISHED_WITHIN: Duration = Duration::from_millis(100);
/// Bytes of the words of a call.
pub(crate) const CALL_WORDS: usize = 8 * 30;

/// Bytes of a finding.
pub(crate) const FINDING_WORDS: usize = 8 * 127;

/// As much of a text as so many bytes hold.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A text, its length first.
#[repr(C)]
struct Text<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Text<WORDS> {
    fn set(&self, text: &str) {
        let text = cut(text, 8 * (WORDS - 1));
        self.0[0].store(text.len() as u64, Ordering::Relaxed);
        for (word, bytes) in self.0[1..].iter().zip(text.as_bytes().chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(eight), Ordering::Relaxed);
        }
    }

    fn get(&self) -> String {
        let len = (self.0[0].load(Ordering::Relaxed) as usize).min(8 * (WORDS - 1));
        let words = self.0[1..].iter().take(len.div_ceil(8));
        let bytes: Vec<u8> = words.flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect();
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }
}

/// Whether a rank takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    /// It has not come yet, or is there.
    There,
    /// It has let go of its communicator.
    Left,
    /// It has panicked.
    Panicked,
}

/// A call, as a rank tells of it.
#[repr(C, align(64))]
struct Told {
    /// Of which call the words are; 0 while they are written.
    number: AtomicU64,
    text: Text<{ CALL_WORDS / 8 + 1 }>,
}

/// What one rank tells.
#[repr(C, align(128))]
pub(crate) struct Line {
    /// Calls that it has begun, and ended.
    begun: AtomicU64,
    ended: AtomicU64,
    /// The first call that it has not ended.
    oldest: AtomicU64,
    presence: AtomicU64,
    process: AtomicU64,
    /// How often it has said for whom it waits, and when last, in seconds of the clock.
    waits: AtomicU64,
    history: [AtomicU64; HISTORY as usize],
    calls: [Told; KEPT as usize],
    /// Where in which call it waits for whom.
    waiting: Text<32>,
    /// What has gone wrong, if this rank was the first to find it.
    finding: Text<{ FINDING_WORDS / 8 + 1 }>,
}

impl Line {
    /// The rank's process.
    pub fn process(&self) -> u64 {
        self.process.load(Ordering::Acquire)
    }

    /// Whether its process is no more.
    pub fn is_dead(&self) -> bool {
        is_dead(self.process())
    }

    /// Whether it does nothing any more, one way or another.
    #[cfg(feature = "mpi")]
    pub fn is_gone(&self) -> bool {
        self.presence() != Presence::There || self.is_dead()
    }

    /// A process takes part.
    #[cfg(feature = "mpi")]
    pub fn enter(&self, process: u64) {
        self.process.store(process, Ordering::Release);
    }

    /// A call begins.
    pub fn begin(&self, number: u64, signature: u64) {
        // Who sees it sees that the call before has begun.
        self.history[(number % HISTORY) as usize].store(signature, Ordering::Release);
        self.begun.store(number, Ordering::Release);
    }

    /// So many calls are over, and all before one.
    pub fn end(&self, calls: u64, oldest: u64) {
        self.ended.store(calls, Ordering::Release);
        self.oldest.store(oldest, Ordering::Release);
    }

    /// Whether it has made a call, and is through with it.
    pub fn is_over(&self, number: u64) -> bool {
        number < self.oldest.load(Ordering::Acquire)
    }

    /// The words of a call.
    pub fn tell(&self, number: u64, text: &str) {
        let told = &self.calls[(number % KEPT) as usize];
        told.number.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        told.text.set(text);
        told.number.store(number, Ordering::Release);
    }

    /// The words of the call in the same place are those of this one, too.
    pub fn tell_again(&self, number: u64) {
        self.calls[(number % KEPT) as usize].number.store(number, Ordering::Release);
    }

    pub fn leave(&self, presence: Presence) {
        self.presence.store(presence as u64, Ordering::Release);
    }

    pub fn presence(&self) -> Presence {
        match self.presence.load(Ordering::Acquire) {
            1 => Presence::Left,
            2 => Presence::Panicked,
            _ => Presence::There,
        }
    }

    /// The number of its last call; 0 before the first.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    pub fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// The signature of one of its last calls; `None` if it has not made it, or long ago.
    pub fn signature(&self, number: u64) -> Option<u64> {
        let begun = self.begun();
        let signature = self.history[(number % HISTORY) as usize].load(Ordering::Acquire);
        // That of the next call may be there already.
        let kept = (1..=begun).contains(&number) && self.begun() + 1 < number + HISTORY;
        kept.then_some(signature)
    }

    /// The words of one of its last calls.
    pub fn told(&self, number: u64) -> Option<String> {
        let told = &self.calls[(number % KEPT) as usize];
        let is_there = || told.number.load(Ordering::Acquire) == number;
        let text = is_there().then(|| told.text.get())?;
        fence(Ordering::Acquire);
        is_there().then_some(text)
    }

    /// Says where it waits, since when in seconds of the clock.
    pub fn wait(&self, since: u64, text: &str) {
        self.waiting.set(text);
        self.waits.store(since, Ordering::Release);
    }

    /// It waits no more.
    pub fn go_on(&self) {
        self.waits.store(0, Ordering::Release);
    }

    /// Where it waits, and since when, if it has said so.
    pub fn waits(&self) -> Option<(u64, String)> {
        let since = self.waits.load(Ordering::Acquire);
        (since != 0).then(|| (since, self.waiting.get()))
    }
}

/// Whether a process of this host is no more; `false` where that cannot be seen.
fn is_dead(process: u64) -> bool {
    if process == 0 || !std::path::Path::new("/proc/self/stat").exists() {
        return false;
    }
    match std::fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state comes after the name, which may hold anything.
        Ok(text) => text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[repr(C, align(128))]
struct Head {
    /// One more than the place of the rank that first found something wrong.
    finder: AtomicU64,
    /// Whether its finding is there.
    found: AtomicU64,
    /// When a rank last announced that it would call the roll, and when one last did, in milliseconds of the clock.
    announced: AtomicU64,
    called: AtomicU64,
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}

/// The lines of the ranks of a host.
#[derive(Clone)]
pub(crate) struct Board {
    memory: NonNull<u8>,
    /// The place of this rank, and the rank of each place.
    pub place: usize,
    pub ranks: Arc<[usize]>,
    _keep: Arc<dyn Any + Send + Sync>,
}

// SAFETY: all of it is atomic, and the memory stays for as long as it is kept.
unsafe impl Send for Board {}

impl Board {
    /// Bytes that a board of so many ranks needs.
    pub const fn size(ranks: usize) -> usize {
        size_of::<Head>() + ranks * size_of::<Line>()
    }

    /// A board in memory that was filled with zeros.
    ///
    /// # Safety
    /// The memory is aligned to 128 bytes, holds [`Board::size`] bytes and stays for as long as `keep`; it is used for nothing else.
    pub unsafe fn at(
        memory: NonNull<u8>,
        place: usize,
        ranks: Arc<[usize]>,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Board {
        Board { memory, place, ranks, _keep: keep }
    }

    /// A board in memory of this process, for ranks that are threads, seen by one of them.
    pub fn of_threads(ranks: usize) -> impl Fn(usize) -> Board {
        let words: Vec<AtomicU64> = (0..(Board::size(ranks) + 128) / 8).map(|_| AtomicU64::new(0)).collect();
        let words: Arc<Vec<AtomicU64>> = Arc::new(words);
        let all: Arc<[usize]> = (0..ranks).collect();
        move |place| {
            let start = words.as_ptr().cast_mut().cast::<u8>();
            // SAFETY: there is room to align the start; the words are atomic, and live as long as the board keeps them.
            unsafe {
                let start = NonNull::new_unchecked(start.add(start.align_offset(128)));
                Board::at(start, place, Arc::clone(&all), Arc::clone(&words) as _)
            }
        }
    }

    fn head(&self) -> &Head {
        // SAFETY: `at` was promised that it is there; all of it is atomic.
        unsafe { self.memory.cast().as_ref() }
    }

    /// The line of a rank, by its place.
    pub fn line(&self, place: usize) -> &Line {
        assert!(place < self.ranks.len());
        // SAFETY: as for the head, and the place is one of the board.
        unsafe { self.memory.add(size_of::<Head>()).cast::<Line>().add(place).as_ref() }
    }

    /// This rank's line.
    pub fn mine(&self) -> &Line {
        self.line(self.place)
    }

    /// Says what has gone wrong, unless another rank has said something first; whether this one was the first.
    pub fn find(&self, finding: &str) -> bool {
        let head = self.head();
        let first = head.finder.compare_exchange(0, self.place as u64 + 1, Ordering::AcqRel, Ordering::Acquire);
        // Who sees what the program then does with its memory sees that something has gone wrong.
        fence(Ordering::Release);
        if first.is_ok() {
            self.mine().finding.set(finding);
            head.found.store(1, Ordering::Release);
        }
        // Another one says it just now; all are to say the same. It may end in the middle.
        let start = Instant::now();
        while first.is_err() && !self.is_broken() && start.elapsed() < PUBLISHED_WITHIN {
            std::thread::yield_now();
        }
        first.is_ok()
    }

    /// Announces that this rank will call the roll, for all of the host that wait by then; `false` if one has done so less than `pause` ago.
    /// It may go on before it does: then another one announces it after that time.
    pub fn announce_roll(&self, now: Duration, pause: Duration) -> bool {
        let (announced, now) = (&self.head().announced, milliseconds(now));
        let last = announced.load(Ordering::Acquire);
        // The clock may have been set back.
        now.abs_diff(last) >= milliseconds(pause)
            && announced.compare_exchange(last, now, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the roll has been called since then.
    pub fn has_called_roll(&self, since: Duration, now: Duration) -> bool {
        (milliseconds(since)..=milliseconds(now)).contains(&self.head().called.load(Ordering::Acquire))
    }

    /// Whether this rank is to call the roll now: the first since then.
    pub fn call_roll(&self, since: Duration, now: Duration) -> bool {
        let (called, now) = (&self.head().called, milliseconds(now));
        let last = called.load(Ordering::Acquire);
        !(milliseconds(since)..=now).contains(&last)
            && called.compare_exchange(last, now, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether something has gone wrong.
    pub fn is_broken(&self) -> bool {
        self.head().found.load(Ordering::Relaxed) != 0
    }

    /// Whether a rank has found something wrong, be it not said yet.
    #[cfg(feature = "mpi")]
    pub fn has_finder(&self) -> bool {
        self.head().finder.load(Ordering::Acquire) != 0
    }

    /// What has gone wrong, and the rank that found it.
    pub fn finding(&self) -> Option<(usize, String)> {
        if self.head().found.load(Ordering::Acquire) == 0 {
            return None;
        }
        let place = self.head().finder.load(Ordering::Acquire) as usize - 1;
        Some((*self.ranks.get(place)?, self.line(place).finding.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_of_the_last_calls() {
        let boards = Board::of_threads(2);
        let (mine, other) = (boards(0), boards(1));
        assert_eq!(
            (other.line(0).begun(), other.line(0).signature(0), other.line(0).told(0)),
            (0, None, Some("".into()))
        );
        for number in 1..=100 {
            mine.mine().begin(number, 1000 + number);
            mine.mine().tell(number, &format!("call {number} \u{e4}"));
            mine.mine().end(number - 1, number);
        }
        let line = other.line(0);
        assert_eq!((line.begun(), line.ended()), (100, 99));
        assert_eq!([98, 99, 100].map(|number| line.is_over(number)), [true, true, false]);
        assert_eq!([1, 37, 38, 100, 101].map(|n| line.signature(n)), [None, None, Some(1038), Some(1100), None]);
        assert_eq!([92, 93].map(|n| line.told(n)), [None, Some("call 93 \u{e4}".into())]);
        assert_eq!(other.mine().begun(), 0);
    }

    /// Its signature comes before its number: a rank may be asked for what it overwrites.
    #[test]
    fn a_call_that_begins_is_not_taken_for_the_one_in_its_place() {
        let boards = Board::of_threads(1);
        let line = boards(0);
        (1..=HISTORY).for_each(|number| line.mine().begin(number, 1000 + number));
        line.mine().history[1].store(7, Ordering::Relaxed);
        assert_eq!([1, 2].map(|number| line.mine().signature(number)), [None, Some(1002)]);
    }

    #[test]
    fn the_first_finding_stays() {
        let boards = Board::of_threads(3);
        assert!(!boards(0).is_broken() && boards(0).finding().is_none());
        assert!(boards(2).find("a long one".repeat(200).as_str()));
        assert!(!boards(1).find("another"));
        let (rank, text) = boards(0).finding().unwrap();
        assert_eq!((rank, text.len()), (2, 127 * 8));
    }

    #[test]
    fn the_roll_is_called_once_for_all_that_wait() {
        let boards = Board::of_threads(3);
        let [start, limit] = [1000, 10].map(Duration::from_secs);
        let at = |seconds| start + Duration::from_secs(seconds);
        let announces = |rank: usize, seconds| boards(rank).announce_roll(at(seconds), limit);
        let calls = |rank: usize, since, now| boards(rank).call_roll(at(since), at(now));
        assert_eq!([announces(1, 9), announces(0, 9)], [true, false]);
        assert_eq!([calls(1, 9, 10), calls(0, 9, 10)], [true, false]);
        assert!(boards(2).has_called_roll(at(9), at(11)));
        // One that has said that it waits only then, and one whose announcement comes to nothing.
        assert!(!boards(2).has_called_roll(at(12), at(13)));
        assert_eq!(
            [announces(2, 13), announces(2, 19), announces(0, 28), announces(0, 29)],
            [false, true, false, true]
        );
        assert_eq!([calls(0, 12, 30), calls(2, 12, 30)], [true, false]);
        // The clock is set back.
        let earlier = |seconds| Duration::from_secs(seconds);
        assert!(!boards(1).has_called_roll(earlier(5), earlier(6)));
        assert!(boards(1).announce_roll(earlier(6), limit) && boards(1).call_roll(earlier(5), earlier(6)));
    }

    #[test]
    fn what_is_waited_for_is_said_and_taken_back() {
        let boards = Board::of_threads(2);
        boards(0).mine().wait(7, "for rank 1");
        assert_eq!(boards(1).line(0).waits(), Some((7, "for rank 1".into())));
        boards(0).mine().go_on();
        assert_eq!(boards(1).line(0).waits(), None);
        boards(0).mine().leave(Presence::Left);
        assert_eq!([0, 1].map(|place| boards(1).line(place).presence()), [Presence::Left, Presence::There]);
    }
}
