//! Random calls, the same on all ranks that draw from the same seed.

use crate::blocks::lengths;
use crate::element::{typed, Combine, Element, Kind};
pub use crate::random::{mix, Random};
use hypercoll::algorithm::{registry, PortModel};
use hypercoll::collective::Collective;
use hypercoll::select::Options;

/// How a call is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Way {
    Blocking,
    Immediate,
    /// Started so many times.
    Persistent(usize),
}

#[derive(Clone, Debug)]
pub struct Call {
    /// The communicator, by its place among those of the session, and its size.
    pub group: usize,
    pub size: usize,
    pub collective: Collective,
    pub kind: Kind,
    pub count: usize,
    /// Of blocks of different lengths: how long they are.
    pub lengths: Option<Vec<usize>>,
    pub root: usize,
    pub peer: usize,
    pub permutation: Vec<usize>,
    pub combine: Combine,
    pub in_place: bool,
    /// By the long form; otherwise by the short one.
    pub options: Option<Options>,
    pub way: Way,
    /// What its data are made of.
    pub data: u64,
}

const COLLECTIVES: [Collective; 15] = [
    Collective::Broadcast,
    Collective::Scatter,
    Collective::Gather,
    Collective::AllGather,
    Collective::AllToAll,
    Collective::NeighborAllToAll,
    Collective::Reduce,
    Collective::ReduceScatter,
    Collective::AllReduce,
    Collective::Scan,
    Collective::ExclusiveScan,
    Collective::Permute,
    Collective::Send,
    Collective::Exchange,
    Collective::Barrier,
];

impl Call {
    /// Whether a rank passes one buffer for both.
    pub fn is_in_place(&self, rank: usize) -> bool {
        self.in_place && (!self.collective.has_root() || rank == self.root)
    }

    /// Every so many-th element of a rank's buffers counts.
    pub fn strides(&self, rank: usize) -> [usize; 2] {
        let fixed = matches!(self.way, Way::Persistent(_)) && self.lengths.is_some();
        let slices = matches!(self.collective, Collective::Send | Collective::Exchange | Collective::Barrier);
        let mut own = Random(mix(self.data ^ (rank as u64) << 40));
        [0, 1].map(|_| if fixed || slices || !own.once_in(6) { 1 } else { 2 + own.below(2) })
    }

    /// A call on one of the communicators, whose sizes these are.
    pub fn draw(random: &mut Random, sizes: &[usize]) -> Call {
        let group = random.below(sizes.len());
        let size = sizes[group];
        let collective = random.of(&COLLECTIVES);
        let kind = random.of(&Kind::ALL);
        let way = match random.below(5) {
            0 | 1 => Way::Blocking,
            2 | 3 => Way::Immediate,
            _ => Way::Persistent(1 + random.below(3)),
        };
        let long_only = matches!(collective, Collective::Send | Collective::Exchange);
        let varcount = has_blocks(collective) && random.once_in(2);
        let in_place = has_in_place(collective) && random.once_in(3);
        // Some forms are not persistent.
        let way = match way {
            Way::Persistent(_) if long_only => Way::Immediate,
            way => way,
        };
        let count = count(random, collective, size, typed!(kind, bytes()));
        let lengths = varcount.then(|| lengths(random, collective, size, count, in_place));
        let options =
            (collective != Collective::Barrier && random.once_in(3)).then(|| options(random, collective, count));
        Call {
            group,
            size,
            collective,
            kind,
            count,
            lengths,
            root: random.below(size),
            peer: random.below(size),
            permutation: random.permutation(size),
            combine: typed!(kind, combine(random)),
            in_place,
            options: if long_only { options.or(Some(Options::default())) } else { options },
            way,
            data: random.bits(),
        }
    }
}

/// Whether a rank has a block of each in a buffer, which may differ in length.
fn has_blocks(collective: Collective) -> bool {
    use Collective::*;
    matches!(collective, Scatter | Gather | AllGather | AllToAll | ReduceScatter)
}

fn has_in_place(collective: Collective) -> bool {
    !matches!(collective, Collective::Broadcast | Collective::Send | Collective::Exchange | Collective::Barrier)
}

fn bytes<T: Element>() -> usize {
    size_of::<T>()
}

fn combine<T: Element>(random: &mut Random) -> Combine {
    match random.below(4) {
        0 => Combine::Plain,
        1 => Combine::Commuting,
        _ if T::OPERATIONS.is_empty() => Combine::Plain,
        _ => Combine::System(random.of(T::OPERATIONS)),
    }
}

/// None, one, a few, an odd number, and up to so many that a rank has 100 KiB, seldom 1 MiB.
fn count(random: &mut Random, collective: Collective, size: usize, element: usize) -> usize {
    let blocks = if has_blocks(collective) || collective == Collective::NeighborAllToAll { size } else { 1 };
    let most = |bytes: usize| bytes / element / blocks;
    match random.below(64) {
        0..=3 => 0,
        4..=13 => 1,
        14..=33 => 2 + random.below(20),
        34..=49 => 1 + 2 * random.below(1 + most(16 << 10) / 2),
        50..=62 => random.below(most(100 << 10) + 1),
        _ => most(1 << 20),
    }
}

/// In packets by the dozen, or by the hundred, as long vectors are that go in parts.
fn options(random: &mut Random, collective: Collective, count: usize) -> Options {
    let packets = if random.once_in(3) { 400 } else { 12 };
    let names: Vec<&str> = registry::of(collective).map(|algorithm| algorithm.name).collect();
    let ports = [None, None, Some(PortModel::OneWay), Some(PortModel::OnePort), Some(PortModel::AllPorts)];
    Options {
        algorithm: (!random.once_in(8)).then(|| random.of(&names).to_string()),
        packet: random.once_in(3).then(|| (count / (1 + random.below(packets))).max(1)),
        ports: random.of(&ports),
        symmetrized: random.of(&[None, None, None, Some(false), Some(true)]),
        ..Options::default()
    }
}
