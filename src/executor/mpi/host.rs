//! Which ranks share a host, and what they find out about each other when they meet.

use super::affinity;
use crate::hash::Fnv;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// Words of what a rank tells of itself.
pub(super) const WORDS: usize = 9 + affinity::WORDS;

/// What a rank tells of itself when a communicator is made.
#[derive(Clone, Copy)]
pub(super) struct Card {
    /// Its host, as a number that no other host has, and its process there.
    pub host: u64,
    pub process: u64,
    /// The library's version, what shared memory looks like, and the order of bytes in a word.
    pub version: u64,
    /// What its environment asks for: the use of shared memory, or [`Card::REFUSED`].
    pub asks: u64,
    /// The numbers of its files: of the communicator's memory, and of a lobby's, if it can have one.
    pub file: u64,
    pub lobby: u64,
    /// What no other rank has, and where it lies.
    pub nonce: [u64; 2],
    /// Cores that it may keep busy, and those that it may use.
    limit: u64,
    cores: [u64; affinity::WORDS],
}

impl Card {
    /// Its environment asks for what there is not.
    pub const REFUSED: u64 = u64::MAX;

    /// That of this rank; `nonce` stays where it is until all ranks have looked for it.
    pub fn of_this(nonce: &u64, [file, lobby]: [u64; 2], asks: u64, layout: usize) -> Card {
        let (cores, limit) = affinity::cores();
        Card {
            host: host(),
            process: u64::from(std::process::id()),
            version: version(layout),
            asks,
            file,
            lobby,
            nonce: [*nonce, std::ptr::from_ref(nonce) as u64],
            limit: limit as u64,
            cores,
        }
    }

    pub fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let Card { host, process, version, asks, file, lobby, nonce: [nonce, at], limit, .. } = *self;
        words[..9].copy_from_slice(&[version, host, process, asks, file, lobby, nonce, at, limit]);
        words[9..].copy_from_slice(&self.cores);
        words
    }

    pub fn read(words: &[u64; WORDS]) -> Card {
        let [version, host, process, asks, file, lobby, nonce, at, limit, cores @ ..] = *words;
        Card { host, process, version, asks, file, lobby, nonce: [nonce, at], limit, cores }
    }

    /// The first rank with which this one cannot talk, as what they tell each other means something else there.
    pub fn stranger(rank: usize, cards: &[Card]) -> Option<usize> {
        cards.iter().position(|card| card.version != cards[rank].version)
    }
}

/// A number of what the words of this library mean, with this layout of shared memory.
fn version(layout: usize) -> u64 {
    Fnv::of(&(env!("CARGO_PKG_VERSION"), layout))
}

/// A number that no other process has, as good as certainly.
pub(super) fn nonce() -> u64 {
    // Seeded by the operating system.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// A number of this host. Processes of containers that see other processes or networks are on other hosts: what they could share is
/// not theirs to find.
pub(crate) fn host() -> u64 {
    static HOST: OnceLock<u64> = OnceLock::new();
    *HOST.get_or_init(|| {
        let name = mpi::environment::processor_name().unwrap_or_default();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let spaces = ["pid", "net", "uts"].map(|space| std::fs::read_link(format!("/proc/self/ns/{space}")).ok());
        Fnv::of(&(name, boot, spaces))
    })
}

/// The ranks of this rank's host.
pub(super) struct Host {
    /// The place of this rank among them.
    pub place: usize,
    /// Their ranks in the whole communicator, and their processes.
    pub ranks: Vec<usize>,
    pub processes: Vec<u64>,
    /// Cores that they share. Ranks may be bound to cores of their own: what counts is all cores that any of them may use.
    pub cores: usize,
}

impl Host {
    pub fn of(rank: usize, cards: &[Card]) -> Host {
        let here = |card: &&Card| card.host == cards[rank].host;
        let ranks: Vec<usize> = (0..cards.len()).filter(|&other| here(&&cards[other])).collect();
        let mut union = [0; affinity::WORDS];
        for card in cards.iter().filter(here) {
            union.iter_mut().zip(card.cores).for_each(|(all, word)| *all |= word);
        }
        let least = cards.iter().filter(here).map(|card| card.limit as usize).min().unwrap_or(1);
        Host {
            place: ranks.iter().position(|other| *other == rank).unwrap_or(0),
            processes: ranks.iter().map(|&rank| cards[rank].process).collect(),
            ranks,
            cores: least.min(union.iter().map(|word| word.count_ones() as usize).sum()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_host_find_each_other() {
        let card = |host, process, cores: u64, limit| Card {
            host,
            process,
            version: 1,
            asks: 2,
            file: 3,
            lobby: 6,
            nonce: [4, 5],
            limit,
            cores: std::array::from_fn(|word| if word == 0 { cores } else { 0 }),
        };
        let cards = [card(7, 10, 1, 9), card(8, 10, 3, 9), card(7, 11, 6, 9), card(7, 12, 6, 2)];
        let cards = cards.map(|card| Card::read(&card.words()));
        let host = Host::of(2, &cards);
        assert_eq!((host.place, host.ranks, host.processes, host.cores), (1, vec![0, 2, 3], vec![10, 11, 12], 2));
        assert_eq!(Host::of(1, &cards).cores, 2);
    }

    #[test]
    fn ranks_of_other_versions_or_orders_of_bytes_are_strangers() {
        let words =
            |version| std::array::from_fn::<u64, WORDS, _>(|word| if word == 0 { version } else { word as u64 });
        let (own, other_layout) = (words(version(64)), words(version(128)));
        let swapped = own.map(u64::swap_bytes);
        let mut other_version = own;
        other_version[0] ^= 1;
        assert_eq!(Card::stranger(0, &[own, own].map(|words| Card::read(&words))), None);
        for forged in [other_version, other_layout, swapped] {
            let cards = [own, own, forged].map(|words| Card::read(&words));
            // Every rank is told, and not only the one that differs.
            assert_eq!([0, 1, 2].map(|rank| Card::stranger(rank, &cards)), [Some(2), Some(2), Some(0)]);
        }
    }
}
