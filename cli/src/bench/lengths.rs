//! Blocks of different lengths: how long they are, and the library's calls with them.

use super::budget::shuffled;
use hypercoll::algorithm;
use hypercoll::collective::{Call, Collective, Layout};
use hypercoll::select::Options;
use hypercoll::{Hypercube, Partition, PartitionMut, Result};
use serde::{Deserialize, Serialize};

/// Collectives that are measured with blocks of different lengths.
pub const COLLECTIVES: [Collective; 4] =
    [Collective::Scatter, Collective::Gather, Collective::AllGather, Collective::AllToAll];

/// One rank of so many has a block of length 0.
const EMPTY: usize = 4;

/// How long blocks are.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lengths {
    /// All the same.
    #[default]
    Equal,
    /// By Zipf's law: the k-th longest in proportion to k^(-5/4), a quarter of them 0; the seed says which rank has which, or, of an
    /// all-to-all, which one each rank sends to whom.
    Zipf,
}

impl Lengths {
    /// A call with blocks of `mean` elements in the mean: together as many as blocks of equal lengths have.
    pub fn call(self, collective: Collective, size: usize, mean: usize, seed: u64) -> Call {
        let call = Call::new(collective, size, mean);
        match self {
            Lengths::Equal => call,
            Lengths::Zipf if collective == Collective::AllToAll => {
                let rows = Vec::from_iter((0..size).map(|from| zipf(size, mean, seed, from)));
                call.with_layout(Layout::of_pairs(size, |from, to| rows[from][to]))
            }
            Lengths::Zipf => call.with_layout(Layout::of_vectors(zipf(size, mean, seed, 0))),
        }
    }
}

/// Lengths by rank, of which the sum is `size` times `mean`: the same on all machines, since IEEE 754 says how square roots are rounded.
/// The seed has an order of them for every turn.
fn zipf(size: usize, mean: usize, seed: u64, turn: usize) -> Vec<usize> {
    let long = size - size / EMPTY;
    let mut sums = vec![0.0];
    for k in 1..=long {
        let k = k as f64;
        sums.push(sums[sums.len() - 1] + 1.0 / (k * k.sqrt().sqrt()));
    }
    let all = size * mean;
    // Rounded sums, and not rounded lengths, make up the whole.
    let end = |k: usize| (all as f64 * (sums[k] / sums[long])).round() as usize;
    let mut lengths = vec![0; size];
    for (k, rank) in shuffled(size, seed, turn).into_iter().take(long).enumerate() {
        lengths[rank] = end(k + 1) - end(k);
    }
    lengths
}

/// Elements of each block, by rank, or by the rank that sends it and that which receives it; `None` if all are equal.
pub fn of_blocks(call: &Call) -> Option<Vec<usize>> {
    call.layout.as_ref()?;
    let blocks = if call.collective == Collective::AllToAll { call.size * call.size } else { call.size };
    Some((0..blocks).map(|block| call.block(block).len()).collect())
}

/// The blocks of which every rank is told the lengths, at the latest when it makes the call: of an all-to-all those that it sends and receives.
pub fn known(call: &Call) -> algorithm::Lengths {
    match call.layout {
        Some(_) if call.collective == Collective::AllToAll => algorithm::Lengths::Own,
        _ => algorithm::Lengths::All,
    }
}

/// Elements of each block of a vector for each rank, and where each begins.
pub fn places(call: &Call) -> (Vec<usize>, Vec<usize>) {
    one_after_another((0..call.size).map(|rank| call.block(rank).len()))
}

/// The same of the blocks that a rank of an all-to-all sends, and of those that it receives.
pub fn rows(call: &Call, rank: usize) -> [(Vec<usize>, Vec<usize>); 2] {
    let length = |from: usize, to: usize| call.block_between(from, to).len();
    let sends = one_after_another((0..call.size).map(|to| length(rank, to)));
    [sends, one_after_another((0..call.size).map(|from| length(from, rank)))]
}

fn one_after_another(lengths: impl Iterator<Item = usize>) -> (Vec<usize>, Vec<usize>) {
    let mut end = 0;
    let place = |length| {
        let start = end;
        end += length;
        (length, start)
    };
    lengths.map(place).unzip()
}

/// Makes the library run a call with blocks of different lengths, which only those ranks pass that must.
///
/// # Panics
/// If the collective is none of [`COLLECTIVES`].
pub fn run(cube: &Hypercube, call: &Call, options: &Options, send: &[f64], receive: &mut [f64]) -> Result<()> {
    let on_root = cube.rank() == call.root;
    let places = || places(call);
    match call.collective {
        Collective::Scatter => {
            let send = on_root.then(places).map(|(counts, starts)| Partition::new(send, counts, starts));
            cube.scatter(call.root).options(options).run_varcount(send.as_ref(), receive)
        }
        Collective::Gather => {
            let mut receive = on_root.then(places).map(|(counts, starts)| PartitionMut::new(receive, counts, starts));
            cube.gather(call.root).options(options).run_varcount(send, receive.as_mut())
        }
        Collective::AllGather => {
            let (counts, starts) = places();
            let mut receive = PartitionMut::new(receive, counts, starts);
            cube.all_gather().options(options).run_varcount(send, &mut receive)
        }
        Collective::AllToAll => {
            let [(sent, from), (received, at)] = rows(call, cube.rank());
            let mut receive = PartitionMut::new(receive, received, at);
            cube.all_to_all().options(options).run_varcount(&Partition::new(send, sent, from), &mut receive)
        }
        other => unreachable!("{other} is not measured with blocks of different lengths"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_the_length_of_equal_blocks() {
        for size in [1, 2, 3, 4, 7, 8, 16, 100] {
            for mean in [1, 2, 13, 8192, 1 << 22] {
                let lengths = zipf(size, mean, 0, 0);
                assert_eq!((lengths.len(), lengths.iter().sum::<usize>()), (size, size * mean), "{size} {mean}");
            }
        }
    }

    /// Worked out elsewhere, with logarithms: 1, 2^(-5/4) = 0.42045, and so on add up to 2.0912 for the six that are not empty.
    #[test]
    fn lengths_follow_zipfs_law() {
        let mut lengths = zipf(8, 1000, 0, 0);
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        for (length, expected) in lengths.iter().zip([3826, 1609, 969, 676, 512, 407]) {
            assert!(length.abs_diff(expected) <= 1, "{lengths:?}");
        }
        assert_eq!(lengths[6..], [0, 0]);
        assert_eq!(zipf(100, 64, 0, 0).iter().filter(|length| **length == 0).count(), 25);
    }

    #[test]
    fn the_seed_says_who_has_which() {
        assert_eq!(zipf(8, 1000, 7, 0), zipf(8, 1000, 7, 0));
        let mut others = [zipf(8, 1000, 7, 0), zipf(8, 1000, 8, 0)];
        assert_ne!(others[0], others[1]);
        others.iter_mut().for_each(|lengths| lengths.sort_unstable());
        assert_eq!(others[0], others[1]);
    }

    #[test]
    fn places_are_those_of_blocks_one_after_another() {
        let call = Call::new(Collective::Gather, 3, 9).with_layout(Layout::of_vectors([4, 0, 2]));
        assert_eq!(places(&call), (vec![4, 0, 2], vec![0, 4, 4]));
        assert_eq!(of_blocks(&call), Some(vec![4, 0, 2]));
        assert_eq!(of_blocks(&Call::new(Collective::Gather, 3, 9)), None);
    }

    /// What each rank sends follows the law for itself; what one sends is what the other receives.
    #[test]
    fn ranks_of_an_all_to_all_send_long_blocks_to_others() {
        let call = Lengths::Zipf.call(Collective::AllToAll, 8, 1000, 3);
        let all = of_blocks(&call).expect("unequal blocks");
        let rows = Vec::from_iter((0..8).map(|rank| rows(&call, rank)));
        for (rank, [(sent, from), (received, _)]) in rows.iter().enumerate() {
            assert_eq!(sent[..], all[8 * rank..][..8]);
            assert_eq!((sent.iter().sum::<usize>(), from[7] + sent[7]), (8000, 8000));
            assert!((0..8).all(|other| received[other] == all[8 * other + rank]));
        }
        assert_ne!(rows[0][0], rows[1][0]);
    }
}
