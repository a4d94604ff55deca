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
//! each of 1, ..., n divides m. Rounds are numbered as if a wave took n of them.
//!
//! Memory: a relay holds what passes through it.
//!
//! Correctness condition: a wave leaves C_1 over n - 1 links a node, and r < n - 1, so it is gone before the next one has arrived.
//! Shares by position: a node cuts what it holds, in ascending order, into equal parts, so that both ends of a link know them. To
//! know its own shares a node follows those of all nodes between the root and itself.
//!
//! Example, n = 3, root 0: wave 0: a half of blocks 3 and 5 and a third of block 7 to 1, and so on to 2 and 4; wave 1: blocks 1, 2
//! and 4. Wavelets of wave 0 from 1: a sixth of block 7 to 3 and to 5, then a half of block 3 to 3 and of block 5 to 5.

use super::distribute::{self, lcm, turn};
use crate::address::Ports;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::{part, Collective};
use crate::schedule::Problem;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Scatter,
    name: "distribute_waves",
    summary: "all ports, long blocks: the fewest start-ups, about n / log2 n",
    source: "SW DISTRIBUTE 2",
    section: "5",
    ports: &[PortModel::AllPorts],
    cost: "(2^n - 1)/n m t_c + k tau, k about n / log2 n, for m large",
    formula,
    // Long enough for tau = t_c: only for n = 4 is that more than divisibility asks for.
    exact: |shape| shape.count.is_multiple_of(lcm(shape.n)) && (shape.n != 4 || shape.count >= 24),
    flows: true,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// The time and elements of the scatter, and of the gather, which is the same backwards.
pub fn formula(shape: &Shape) -> Formula {
    if shape.n == 0 || shape.count == 0 {
        return Formula::default();
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
    Formula { rounds: waves.number(), hops, ..distribute::formula(shape) }
}

/// Which part of the blocks of a distance travels in which wave.
struct Waves {
    n: u32,
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
        Waves { n, ends: (1..k).map(|terms| sum(high, terms)).collect() }
    }

    /// k.
    fn number(&self) -> usize {
        self.ends.len() + 1
    }

    /// The part of a block for C_l that travels in a wave; waves are counted from the first one, 0.
    ///
    /// It is cut where every node on the way can give equal parts, if there is such a place.
    fn portion(&self, wave: usize, l: u32, block: Range<usize>) -> Range<usize> {
        let links = f64::from(self.n);
        let nearer: f64 = (1..l).map(|l| binomial(self.n, l) / links).sum();
        let cut = |waves: usize| {
            let Some(end) = waves.checked_sub(1) else { return block.start };
            let Some(end) = self.ends.get(end) else { return block.end };
            let share = (end - nearer) / (binomial(self.n, l) / links);
            if share >= 1.0 {
                return block.end;
            }
            let unit = lcm(l);
            let units = (share.max(0.0) * block.len() as f64 / unit as f64).round() as usize;
            (block.start + units.saturating_mul(unit)).min(block.end)
        };
        let later = self.number() - 1 - wave;
        cut(later)..cut(later + 1)
    }
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |value, i| value * f64::from(n - i) / f64::from(i + 1))
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
        let x = c | bits;
        let l = x.count_ones();
        for wave in (0..waves.number()).filter(|_| x != 0) {
            let portion = waves.portion(wave, l, problem.block(x ^ root));
            if portion.is_empty() {
                continue;
            }
            // The round in which it leaves a node of C_j: a whole wave leaves the root, a wavelet every other node. Those are
            // under way while the next wave arrives, which must not wait for their memory.
            let round = |j: u32| match j {
                0 => wave * n as usize,
                _ => (wave + 1) * n as usize + (n - l + j - 1) as usize,
            };
            let spread = Spread { n, x };
            let shares = spread.shares(c, portion);
            let own = shares.len() - 1;
            for (index, port) in Ports::from_mask(c).iter().enumerate() {
                let source = &shares[own ^ 1 << index];
                route.receive(round(c.count_ones() - 1), node ^ 1 << port, spread.given(source, c ^ 1 << port, port));
            }
            for port in Ports::from_mask(x ^ c) {
                route.send(round(c.count_ones()), node ^ 1 << port, spread.given(&shares[own], c, port));
            }
        }
        if bits == 0 {
            break;
        }
        bits = (bits - 1) & beyond;
    }
}

/// Ascending intervals.
type Share = Vec<Range<usize>>;

/// O.C. SEND 3 from the root to node x.
#[derive(Clone, Copy)]
struct Spread {
    n: u32,
    x: usize,
}

impl Spread {
    /// The shares of all nodes between the root and c, both included, in ascending order.
    fn shares(&self, c: usize, whole: Range<usize>) -> Vec<Share> {
        let mut shares = vec![vec![whole]];
        let bits: Vec<u32> = Ports::from_mask(c).iter().collect();
        // Bit b of an index stands for bit bits[b] of a node.
        for at in 1..1usize << bits.len() {
            let mut share = Vec::new();
            let between: usize = Ports::from_mask(at).iter().map(|b| 1 << bits[b as usize]).sum();
            for b in Ports::from_mask(at) {
                let port = bits[b as usize];
                share.extend(self.given(&shares[at ^ 1 << b], between ^ 1 << port, port));
            }
            share.sort_unstable_by_key(|piece| piece.start);
            share.dedup_by(|next, piece| {
                let joined = next.start == piece.end;
                if joined {
                    piece.end = next.end;
                }
                joined
            });
            shares.push(share);
        }
        shares
    }

    /// What the node `from` gives across a port of its share.
    fn given(&self, share: &Share, from: usize, port: u32) -> Share {
        let ways = self.x ^ from;
        let total = share.iter().map(Range::len).sum();
        let wanted = part(0..total, turn(self.n, self.x, ways, port), ways.count_ones() as usize);
        let mut at = 0;
        let pieces = share.iter().map(|piece| {
            let within = |position: usize| piece.start + position.saturating_sub(at).min(piece.len());
            let taken = within(wanted.start)..within(wanted.end);
            at += piece.len();
            taken
        });
        pieces.filter(|piece| !piece.is_empty()).collect()
    }
}
