//! Scatter by waves of packets.
//!
//! Algorithm: the root sends all blocks in k waves, one packet a link in each, the farthest blocks in the first wave. Every packet
//! is about r times as long as the next one, and the last has the blocks of C_1 only. A block of a distance at which one wave
//! ends and the next begins is cut between them. In C_1 a wave is broken into wavelets, one for each distance, the farthest first,
//! which travel on by themselves while the next wave arrives. A wavelet spreads evenly: its part of the block for x lies
//! in equal shares on the nodes between the root and x at each distance, and each gives equal parts to all of the next.
//!
//! Reference: Stout and Wagar 1990, section 5, DISTRIBUTE 2, with O.C. SEND 3 (erratum 26: with O.C. SEND 2 the links out of C_1
//! would not be evenly loaded, and a wave not be on its way in time). d there is n here; tau there is t_c here, beta there is
//! tau here; C_l are the nodes at distance l; m elements a block. k is the least number with n ((n-1)^k - 1)/(n-2) >= 2^n - 1, and
//! r is such that n (r^k - 1)/(r - 1) = 2^n - 1 (erratum 27 for n <= 2); k = 1 2 2 2 3 3 3 3 3 4 4 4 for n = 1, ..., 12.
//!
//! Requirements: all ports at once.
//!
//! Cost: (2^n - 1)/n m t_c + k tau, the least possible, for nodes that do not wait for each other's rounds; exactly if m is
//! long enough for start-ups to hide (m t_c >= 3 tau for n = 3, 24 tau for n = 4, 2 to 8 tau for n = 5, ..., 9) and
//! each of 1, ..., n divides m. Round by round it would be slower than [`super::distribute`].
//!
//! Memory: a relay holds what passes through it.
//!
//! Correctness condition: a wave leaves C_1 over n - 1 links a node, and r < n - 1, so it is gone before the next one has arrived.
//! Both ends of a link know its share from the addresses alone ([`Spread`]).
//!
//! Example, n = 3, root 0: wave 0: a half of blocks 3 and 5 and a third of block 7 to 1, and so on to 2 and 4; wave 1: blocks 1, 2
//! and 4. Wavelets of wave 0 from 1: a sixth of block 7 to 3 and to 5, then a half of block 3 to 3 and of block 5 to 5.

use super::distribute;
use crate::address::{binomial, rotate_right, Ports};
use crate::algorithm::send::{relay::Spread, spread_unit};
use crate::algorithm::{Algorithm, Figure, Form, Formula, Lengths, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use crate::topology::sbnt::{Sbnt, Variant};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "distribute_waves",
    summary: "all ports, long blocks: the fewest start-ups, about n / log2 n",
    source: "SW DISTRIBUTE 2",
    section: "5",
    differs: "spreads as O.C. SEND 3, not 2 (erratum)",
    ports: &[PortModel::AllPorts],
    cost: "(2^n - 1)/n m t_c + k tau, k about n / log2 n, for m large",
    formula,
    flows: true,
    lengths: Lengths::All,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The cost of the scatter.
pub fn formula(shape: &Shape) -> Formula {
    if shape.n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let waves = Waves::new(shape.n);
    // One unit a message: a node of C_1 sends on one wavelet after the other, and no node beyond it has to wait.
    let (mut hops, mut busy) = (waves.number(), 0);
    for wave in 0..waves.number() {
        for l in (2..=shape.n).rev().filter(|&l| !waves.portion(wave, l, 0..shape.count).is_empty()) {
            busy = busy.max(wave + 1) + 1;
            hops = hops.max(busy + l as usize - 2);
        }
    }
    // Where blocks are short, start-ups do not hide behind them (of tau = t_c; n = 4 needs the longest ones).
    let rounds = if shape.count < LONG_ENOUGH { hops } else { waves.number() };
    let common = distribute::formula(shape);
    // Behind the last wave that goes on, every distance beyond the second adds a block at most.
    let path = common.path + (shape.n.saturating_sub(2) as usize * shape.count) as f64;
    Formula { rounds, hops, ..common }.with_path(path, false).at_most(&[Figure::Rounds], shape.count >= LONG_ENOUGH)
}

/// Elements of a block behind which start-ups hide that take as long as the transfer of an element.
const LONG_ENOUGH: usize = 24;

/// The cost of the gather, which is the same backwards: the root receives all blocks.
pub fn gathered(shape: &Shape) -> Formula {
    formula(shape).with_path(((shape.nodes() - 1) * shape.count) as f64, true)
}

/// Which part of the blocks of a distance travels in which wave.
struct Waves {
    /// The blocks of every distance, and those of all nearer ones, that a link of the root carries.
    carried: Vec<(f64, f64)>,
    /// What a link carries in the last wave, the last two, and so on, in blocks; without the first wave, which takes the rest.
    ends: Vec<f64>,
}

impl Waves {
    fn new(n: u32) -> Waves {
        let all = (1u64 << n) - 1;
        let (mut k, mut packet, mut sum) = (1, 1, u64::from(n));
        while sum < all {
            packet *= u64::from(n) - 1;
            sum += u64::from(n) * packet;
            k += 1;
        }
        // r by bisection; the sum grows with it.
        let sum = |r: f64, terms: usize| (0..terms).fold(0.0, |sum, _| sum * r + 1.0);
        let (mut low, mut high) = (0.0, f64::from(n));
        for _ in 0..64 {
            let r = (low + high) / 2.0;
            if f64::from(n) * sum(r, k) < all as f64 {
                low = r;
            } else {
                high = r;
            }
        }
        let mut nearer = 0.0;
        let carried = (0..=n).map(|l| {
            let own = if l == 0 { 0.0 } else { binomial(n, l) as f64 / f64::from(n) };
            let before = nearer;
            nearer += own;
            (own, before)
        });
        Waves { carried: carried.collect(), ends: (1..k).map(|terms| sum(high, terms)).collect() }
    }

    /// k.
    fn number(&self) -> usize {
        self.ends.len() + 1
    }

    /// The part of a block for C_l that travels in a wave; waves are counted from the first one, 0.
    ///
    /// It is cut where every node on the way can give equal parts, if there is such a place.
    fn portion(&self, wave: usize, l: u32, block: Range<usize>) -> Range<usize> {
        let (own, nearer) = self.carried[l as usize];
        let cut = |waves: usize| {
            let Some(end) = waves.checked_sub(1) else { return block.start };
            let Some(end) = self.ends.get(end) else { return block.end };
            let share = (end - nearer) / own;
            if share >= 1.0 {
                return block.end;
            }
            let unit = spread_unit(l);
            let units = (share.max(0.0) * block.len() as f64 / unit as f64).round() as usize;
            (block.start + units.saturating_mul(unit)).min(block.end)
        };
        let later = self.number() - 1 - wave;
        cut(later)..cut(later + 1)
    }
}

pub fn write(problem: &Problem, _: &Parameters, node: usize, route: &mut Route) {
    let (n, root) = (problem.n, problem.root);
    if n == 0 {
        return;
    }
    let waves = Waves::new(n);
    route.set_rounds((waves.number() + 1) * n as usize);
    let c = node ^ root;
    let beyond = !c & (problem.nodes() - 1);
    // The nodes x whose way leads through c, c itself last.
    let mut bits = beyond;
    loop {
        towards(problem, &waves, node, c | bits, route);
        if bits == 0 {
            break;
        }
        bits = (bits - 1) & beyond;
    }
}

/// Writes what a node on the way to the one of relative address x does for it.
fn towards(problem: &Problem, waves: &Waves, node: usize, x: usize, route: &mut Route) {
    let (n, root) = (problem.n, problem.root);
    let (c, l) = (node ^ root, x.count_ones());
    // Dimensions in cyclic order from x's index in the SBnT on, so that what does not divide is spread over the root's links.
    let index = if x == 0 { 0 } else { Sbnt::new(n, Variant::MinRight).index(x) };
    let turned = |v: usize| rotate_right(v, index, n);
    let spread = Spread::new(turned(x));
    let portions: Vec<_> =
        (0..waves.number()).map(|wave| (wave, waves.portion(wave, l, problem.block(x ^ root)))).collect();
    for port in Ports::from_mask(x) {
        // The end of the link that is nearer to the root sends.
        let from = c & !(1 << port);
        let units = spread.over(turned(from), (port + n - index) % n);
        for (wave, portion) in portions.iter().filter(|(_, portion)| !portion.is_empty()) {
            // A whole wave leaves the root, a wavelet every other node. Those are under way while the next wave arrives, which
            // must not wait for their memory.
            let round = match from.count_ones() {
                0 => wave * n as usize,
                j => (wave + 1) * n as usize + (n - l + j - 1) as usize,
            };
            let at = |unit| part(portion.clone(), unit, spread.whole).start;
            let pieces = units.iter().map(|units| at(units.start)..at(units.end));
            if from == c {
                route.send(round, node ^ 1 << port, pieces);
            } else {
                route.receive(round, node ^ 1 << port, pieces);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::registry;
    use crate::algorithm::verify::{schedules, verify};
    use crate::collective::Call;
    use crate::executor::simulator::{simulate, Machine, Timeline};
    use crate::schedule::{Kind, Schedule};

    #[test]
    fn numbers_of_waves() {
        // Erratum 27.
        let expected = [1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4];
        assert!((1..=12).map(|n| Waves::new(n).number()).eq(expected));
    }

    #[test]
    fn the_waves_share_out_every_block() {
        for n in 1..=12 {
            let waves = Waves::new(n);
            for l in 1..=n {
                for m in [0, 1, 2, 7, 60, 2520] {
                    let mut at = 50;
                    for wave in (0..waves.number()).rev() {
                        let portion = waves.portion(wave, l, 50..50 + m);
                        assert_eq!(portion.start, at, "n = {n}, block for C_{l} of {m}, wave {wave}");
                        assert!(l > 1 || wave == waves.number() - 1 || portion.is_empty());
                        at = portion.end;
                    }
                    assert_eq!(at, 50 + m);
                }
            }
        }
    }

    /// The definition of r: packets r times as long as the next one, which together carry everything.
    #[test]
    fn packets_grow_by_r() {
        for n in 1..=12u32 {
            let waves = Waves::new(n);
            let m = spread_unit(n) * 1000;
            let packets: Vec<f64> = (0..waves.number())
                .map(|wave| {
                    let length =
                        |l| binomial(n - 1, l - 1) as f64 / f64::from(l) * waves.portion(wave, l, 0..m).len() as f64;
                    (1..=n).map(length).sum::<f64>() / m as f64
                })
                .collect();
            let all = f64::from((1 << n) - 1) / f64::from(n);
            assert!((packets.iter().sum::<f64>() - all).abs() < 1e-9 * all);
            assert_eq!(packets.last(), Some(&1.0));
            let growth: Vec<f64> = packets.windows(2).map(|pair| pair[0] / pair[1]).collect();
            assert!(growth.windows(2).all(|pair| (pair[0] / pair[1] - 1.0).abs() < 1e-2), "n = {n}: {growth:?}");
            assert!(n < 3 || growth.iter().all(|&r| r < f64::from(n - 1)), "n = {n}: {growth:?}");
        }
    }

    fn run(n: u32, count: usize, tau: f64) -> (Vec<Schedule>, Timeline) {
        let call = Call::new(Collective::Scatter, 1 << n, count);
        let schedules =
            schedules(&ALGORITHM, &call, &Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) });
        let machine = Machine::new(tau, 1.0, PortModel::AllPorts);
        let timeline = simulate(&schedules, &machine).expect("a legal schedule");
        (schedules, timeline)
    }

    /// The paper's example, d = 3: the data of C_3 arrives at 11/6 m + 3 tau, of C_2 at 2 m + 3 tau, of C_1 at 7/3 m + 2 tau.
    #[test]
    fn the_arrivals_of_the_paper_s_example() {
        let (schedules, timeline) = run(3, 6, 1.0);
        let arrival = |rank: usize| {
            let operations = schedules[rank].operations().iter().zip(&timeline.operations[rank]);
            let ends = operations.filter(|(o, _)| matches!(o.kind, Kind::Receive { .. })).map(|(_, times)| times.1);
            ends.fold(0.0, f64::max)
        };
        assert_eq!([7, 3, 5, 6, 1, 2, 4].map(arrival), [14.0, 15.0, 15.0, 15.0, 16.0, 16.0, 16.0]);
    }

    /// How long m must be (erratum 27): the time is that of the root's links from m t_c = 3 tau on for n = 3, 24 tau for n = 4.
    #[test]
    fn start_ups_hide_behind_long_messages() {
        for (n, count, least) in [(3u32, 12, 3.0), (4, 120, 24.0)] {
            let root = f64::from((1 << n) - 1) / f64::from(n) * count as f64;
            let tau = count as f64 / least;
            assert_eq!(run(n, count, tau).1.time, root + 2.0 * tau, "n = {n}");
            assert!(run(n, count, tau + 0.5).1.time > root + 2.0 * tau + 1.0, "n = {n}");
        }
    }

    /// Blocks so long that memory is used again: no wave waits for that of the one before, here or backwards.
    #[test]
    fn waves_do_not_wait_for_memory() {
        for collective in [Collective::Scatter, Collective::Gather] {
            for (n, count) in [(5, 12_000), (6, 6_000)] {
                let algorithm = registry::find(collective, ALGORITHM.name).expect("in the registry");
                let parameters = Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
                let report = verify(algorithm, &Call::new(collective, 1 << n, count), &parameters);
                assert!(report.violations.is_empty(), "{algorithm:?}, n = {n}: {:?}", report.violations);
            }
        }
    }
}
