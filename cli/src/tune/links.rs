//! What links between hosts can do.
//!
//! Rates come of trains of messages, as pipelined algorithms send them, and of the difference between a long and a short train:
//! the start of a train, and what a shaper lets pass at once, is not in it.

use super::ranks::{Memory, Ranks, Value};
use hypercoll::address::dimension_for;
use hypercoll::algorithm::PortModel;

/// What was found of links.
pub struct Links {
    pub tau: Value,
    pub hop: Value,
    pub t_c: Value,
    pub ports: u32,
    /// Rate of 1, 2, ... ports at once, over that of one.
    pub speed_ups: Vec<f64>,
    pub pairs_linked: bool,
    /// Time of messages between ranks that are no neighbours, over that of as many between neighbours; `None` if all ranks
    /// are neighbours.
    pub far: Option<f64>,
}

/// A short train takes at least so long, in seconds, and carries so many bytes: more than shapers let pass at once.
pub(super) const SHORT: f64 = 0.02;
pub(super) const SHORT_BYTES: usize = 128 << 10;
/// A long train is so many times as long.
pub(super) const LONGER: usize = 3;
/// Messages of trains, in bytes.
const MESSAGES: [usize; 3] = [16 << 10, 48 << 10, 512 << 10];
/// Trains to ranks that are no neighbours take less than this if they have links of their own; on a cube they share them, and
/// take twice as long or longer.
const LINKED: f64 = 1.5;

pub fn measure(ranks: &Ranks, eager: usize, seconds: f64, reach: &dyn Fn(f64)) -> Links {
    let mut memory = Memory::default();
    let (tau, hop) = start_ups(ranks, 0.1 * seconds);
    reach(0.2);
    // The message with which a train over one port is fastest. Large ones are tried where there is time for them.
    let mut best: Option<(usize, usize, PerByte)> = None;
    for bytes in MESSAGES {
        let affordable = |(_, _, best): &(usize, usize, PerByte)| (20 * bytes) as f64 * best.t_c.median < 0.2 * seconds;
        if bytes > eager && !best.as_ref().is_none_or(affordable) {
            continue;
        }
        let count = calibrated(ranks, bytes, &mut memory);
        let found = per_byte(ranks, &neighbours(ranks, 1), bytes, count, 0.1 * seconds, &mut memory);
        if best.as_ref().is_none_or(|(_, _, other)| found.average < other.average) {
            best = Some((bytes, count, found));
        }
    }
    reach(0.4);
    let (bytes, count, PerByte { t_c, .. }) =
        best.unwrap_or((MESSAGES[0], 1, PerByte { t_c: Value::of(&[]), average: 0.0 }));
    let n = ranks.dimension;
    let mut speed_ups = vec![1.0];
    let share = 0.4 * seconds / n as f64;
    for ports in 2..=n {
        let peers = neighbours(ranks, ports);
        let together = per_byte(ranks, &peers, bytes, count, share, &mut memory).t_c;
        speed_ups.push(ratio(t_c.median, together.median));
    }
    reach(0.55);
    let far = (n > 1).then(|| {
        let near = per_byte(ranks, &neighbours(ranks, n), bytes, count, share / 2.0, &mut memory);
        let far = per_byte(ranks, &strangers(ranks), bytes, count, share / 2.0, &mut memory);
        ratio(far.t_c.median, near.t_c.median)
    });
    let most = speed_ups.iter().fold(1.0f64, |most, s| most.max(*s)).round() as u32;
    let pairs_linked = far.is_none_or(|far| far < LINKED);
    Links { tau, hop, t_c, ports: most.clamp(1, n), speed_ups, pairs_linked, far }
}

/// How many times as long one takes as the other; as long, if noise has left nothing of either.
fn ratio(one: f64, other: f64) -> f64 {
    if one > 0.0 && other > 0.0 {
        one / other
    } else {
        1.0
    }
}

/// The neighbours of this rank across the lowest dimensions; of a rank outside the whole cube none.
fn neighbours(ranks: &Ranks, ports: u32) -> Vec<usize> {
    (0..ports).filter(|_| ranks.takes_part()).map(|port| ranks.rank ^ (1 << port)).collect()
}

/// As many ranks as there are neighbours, as far away as can be, so that on a cube they share the most links.
fn strangers(ranks: &Ranks) -> Vec<usize> {
    let mut masks: Vec<usize> = (1..1usize << ranks.dimension).filter(|mask| mask.count_ones() > 1).collect();
    masks.sort_by_key(|mask| std::cmp::Reverse(mask.count_ones()));
    let masks = masks.into_iter().cycle().take(ranks.dimension as usize);
    masks.filter(|_| ranks.takes_part()).map(|mask| ranks.rank ^ mask).collect()
}

/// The start-up and the hop, of all-gathers of a few bytes: one sends n messages a rank, one after the other, symmetrised it sends n in
/// each of its n rounds. A rank starts one after the other, and where ranks share processors, those have the more to do.
fn start_ups(ranks: &Ranks, seconds: f64) -> (Value, Value) {
    const TURNS: usize = 10;
    let n = dimension_for(ranks.size);
    // An element for each of the n parts.
    let (send, mut receive) = (vec![1u8; n as usize], vec![0u8; ranks.size * n as usize]);
    let mut times = |ports: PortModel| {
        ranks.repeat(seconds / (2 * TURNS) as f64, || {
            let call = ranks.cube.all_gather().algorithm("complete_broadcast").ports(ports);
            ranks.sound(call.run(&send[..], &mut receive[..]));
        })
    };
    // In turns, as what disturbs a machine lasts: it is in both times of a turn, and so not in their difference.
    let (mut one, mut differences) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let times_of_one = times(PortModel::OnePort);
        if n > 1 {
            let all = Value::of(&times(PortModel::AllPorts));
            differences.push((all.median - Value::of(&times_of_one).median).max(0.0));
        }
        one.extend(times_of_one);
    }
    let one = Value::of(&one);
    if n < 2 {
        // Two ranks exchange one message: what of its time is which cannot be told.
        return (one.scaled(0.5), one.scaled(0.5));
    }
    let mut tau = Value::of(&differences).scaled(1.0 / f64::from(n * (n - 1)));
    if tau.median <= 0.0 {
        // Less than the noise, but no message is free: a small part of what start-up and hop are together.
        tau.median = one.median / f64::from(4 * n);
    }
    (tau, one.scaled(1.0 / f64::from(n)).minus(tau.median))
}

/// The number of messages of a train that is long enough.
fn calibrated(ranks: &Ranks, bytes: usize, memory: &mut Memory) -> usize {
    let mut count = SHORT_BYTES.div_ceil(bytes).max(2);
    loop {
        let peers = neighbours(ranks, 1);
        let times = ranks.repeat(0.0, || {
            ranks.train(&peers, bytes, count, memory);
        });
        if Value::of(&times).median >= SHORT || count * bytes >= 16 << 20 {
            return count;
        }
        count *= 2;
    }
}

/// Seconds per byte and direction.
struct PerByte {
    /// Of what a long train has more than a short one.
    t_c: Value,
    /// Of a long train in all. Which messages are fast is seen from this: where a short train now and then stands still, as those of
    /// long messages do over TCP, the difference may be anything.
    average: f64,
}

/// What all ranks' trains to these peers take, all peers together.
fn per_byte(ranks: &Ranks, peers: &[usize], bytes: usize, count: usize, seconds: f64, memory: &mut Memory) -> PerByte {
    // `count` is the messages of a train to one peer; several get as many together.
    let each = count.div_ceil(peers.len().max(1)).max(2);
    let mut train = |count| {
        ranks.repeat(seconds / 2.0, || {
            ranks.train(peers, bytes, count, memory);
        })
    };
    // Whatever disturbs a train makes it longer, and a short one that is too long would make the difference too short.
    let short = Value::of(&train(each)).min;
    let long = train(LONGER * each);
    let mut of_short = [(each * peers.len() * bytes) as f64];
    // Ranks outside the whole cube have no peers, and learn it from the others.
    ranks.maximum(&mut of_short);
    let more = (LONGER - 1) as f64 * of_short[0];
    PerByte {
        t_c: Value::of(&long.iter().map(|time| (time - short).max(0.0) / more).collect::<Vec<_>>()),
        average: Value::of(&long).median / (LONGER as f64 * of_short[0]),
    }
}
