//! What links between hosts can do.
//!
//! Rates come of trains of messages, as pipelined algorithms send them, and of the difference between a long and a short train:
//! the start of a train, and what a shaper lets pass at once, is not in it.

use super::ranks::{Memory, Ranks, Value};
use hypercoll::address::dimension_for;
use hypercoll::algorithm::PortModel;
use std::time::Duration;

/// What was found of links.
pub struct Links {
    pub tau: Value,
    pub hop: Value,
    pub t_c: Value,
    /// Bytes that a link lets pass at once after a pause.
    pub burst: usize,
    pub ports: u32,
    /// Rate of 1, 2, ... ports at once, over that of one.
    pub speed_ups: Vec<f64>,
    pub pairs_linked: bool,
    /// Time of messages between ranks that are no neighbours, over that of as many between neighbours; `None` if all ranks
    /// are neighbours.
    pub far: Option<f64>,
}

/// The best packet that is passed on along a chain of ranks.
pub struct Packet {
    pub best: usize,
    /// For each packet size in bytes the seconds per byte.
    pub tried: Vec<(usize, f64)>,
}

/// A short train takes at least so long, in seconds, and carries so many bytes: more than shapers let pass at once.
const SHORT: f64 = 0.02;
const SHORT_BYTES: usize = 128 << 10;
/// A long train is so many times as long.
const LONGER: usize = 3;
/// Messages of trains, in bytes.
const MESSAGES: [usize; 3] = [16 << 10, 48 << 10, 512 << 10];
/// So much worse than the best one a packet size may be.
const AS_GOOD: f64 = 1.03;
/// Trains to ranks that are no neighbours take less than this if they have links of their own; on a cube they share them, and
/// take twice as long or longer.
const LINKED: f64 = 1.5;

pub fn measure(ranks: &Ranks, eager: usize, seconds: f64, reach: &dyn Fn(f64)) -> Links {
    let mut memory = Memory::default();
    let (tau, hop) = start_ups(ranks, 0.1 * seconds);
    reach(0.2);
    // The message with which a train over one port is fastest. Large ones are tried where there is time for them.
    let mut best: Option<(usize, usize, Value)> = None;
    for bytes in MESSAGES {
        let affordable = |(_, _, t_c): &(usize, usize, Value)| (20 * bytes) as f64 * t_c.median < 0.2 * seconds;
        if bytes > eager && !best.as_ref().is_none_or(affordable) {
            continue;
        }
        let count = calibrated(ranks, bytes, &mut memory);
        let t_c = per_byte(ranks, &neighbours(ranks, 1), bytes, count, 0.1 * seconds, &mut memory);
        if best.as_ref().is_none_or(|(_, _, other)| t_c.median < other.median) {
            best = Some((bytes, count, t_c));
        }
    }
    reach(0.4);
    let (bytes, count, t_c) = best.unwrap_or((MESSAGES[0], 1, Value::of(&[])));
    let burst = burst(ranks, t_c.median, 0.05 * seconds, &mut memory);
    let n = ranks.dimension;
    let mut speed_ups = vec![1.0];
    let share = 0.4 * seconds / n as f64;
    for ports in 2..=n {
        let peers = neighbours(ranks, ports);
        let together = per_byte(ranks, &peers, bytes, count, share, &mut memory);
        speed_ups.push(t_c.median / together.median);
    }
    reach(0.55);
    let far = (n > 1).then(|| {
        let near = per_byte(ranks, &neighbours(ranks, n), bytes, count, share / 2.0, &mut memory);
        per_byte(ranks, &strangers(ranks), bytes, count, share / 2.0, &mut memory).median / near.median
    });
    let most = speed_ups.iter().fold(1.0f64, |most, s| most.max(*s)).round() as u32;
    let pairs_linked = far.is_none_or(|far| far < LINKED);
    Links { tau, hop, t_c, burst, ports: most.clamp(1, n), speed_ups, pairs_linked, far }
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
    let mut times = [(PortModel::OnePort, Vec::new()), (PortModel::AllPorts, Vec::new())];
    // In turns, as what disturbs a machine lasts.
    for _ in 0..TURNS {
        for (ports, times) in &mut times {
            let call = || ranks.cube.all_gather().algorithm("complete_broadcast").ports(*ports);
            let share = seconds / (2 * TURNS) as f64;
            times.extend(ranks.repeat(share, || ranks.sound(call().run(&send[..], &mut receive[..]))));
        }
    }
    let [one, all] = times.map(|(_, times)| Value::of(&times));
    if n < 2 {
        // Two ranks exchange one message: what of its time is which cannot be told.
        return (one.scaled(0.5), one.scaled(0.5));
    }
    let tau = all.minus(one.median).scaled(1.0 / f64::from(n * (n - 1)));
    (tau, one.scaled(1.0 / f64::from(n)).minus(tau.median))
}

/// The number of messages of a train that is long enough.
fn calibrated(ranks: &Ranks, bytes: usize, memory: &mut Memory) -> usize {
    let mut count = SHORT_BYTES.div_ceil(bytes).max(2);
    loop {
        let peers = neighbours(ranks, 1);
        let times = ranks.repeat(0.0, || ranks.train(&peers, bytes, count, memory));
        if Value::of(&times).median >= SHORT || count * bytes >= 16 << 20 {
            return count;
        }
        count *= 2;
    }
}

/// Seconds per byte and direction of all ranks' trains to these peers, all peers together.
fn per_byte(ranks: &Ranks, peers: &[usize], bytes: usize, count: usize, seconds: f64, memory: &mut Memory) -> Value {
    // `count` is the messages of a train to one peer; several get as many together.
    let each = count.div_ceil(peers.len().max(1)).max(2);
    let mut train = |count| ranks.repeat(seconds / 2.0, || ranks.train(peers, bytes, count, memory));
    let short = Value::of(&train(each)).median;
    let long = train(LONGER * each);
    let mut more = [((LONGER - 1) * each * peers.len() * bytes) as f64];
    // Ranks outside the whole cube have no peers, and learn it from the others.
    ranks.maximum(&mut more);
    Value::of(&long.iter().map(|time| (time - short).max(0.0) / more[0]).collect::<Vec<_>>())
}

/// What a train is earlier after a pause than right behind another one, in bytes; what may be noise is none.
fn burst(ranks: &Ranks, t_c: f64, seconds: f64, memory: &mut Memory) -> usize {
    const BYTES: usize = 4 << 10;
    const TOTAL: usize = 64 << 10;
    const NOISE: f64 = 0.05;
    let peers = neighbours(ranks, 1);
    // As long as the train takes: whatever passes ahead of it has come back then.
    let pause = Duration::from_secs_f64((TOTAL as f64 * t_c).clamp(0.0, seconds));
    let mut trains = |count| {
        let times = ranks.repeat_after(
            seconds / 2.0,
            || std::thread::sleep(pause),
            || (0..count).for_each(|_| ranks.train(&peers, BYTES, TOTAL / BYTES, memory)),
        );
        // Whatever disturbs a train makes it longer, and differences feel it the most.
        Value::of(&times).min
    };
    let (one, two) = (trains(1), trains(2));
    let ahead = (two - 2.0 * one) / t_c;
    if ahead > NOISE * TOTAL as f64 && ahead < TOTAL as f64 {
        ahead as usize
    } else {
        0
    }
}

/// Finds the packet size by broadcasts along the path through all ranks: seconds per byte of a long one less a short one.
pub fn best_packet(ranks: &Ranks, t_c: f64, seconds: f64) -> Packet {
    const LEAST_PACKETS: usize = 4;
    let sizes: Vec<usize> = (10..=18).map(|shift| 1usize << shift).collect();
    let share = seconds / sizes.len() as f64;
    let mut tried = Vec::new();
    let mut vector: Vec<u8> = Vec::new();
    for packet in sizes {
        // A few packets must fit in the time.
        if !tried.is_empty() && 3.0 * ((LONGER + 1) * LEAST_PACKETS * packet) as f64 * t_c > share {
            break;
        }
        let bytes = ((SHORT / t_c) as usize).clamp(SHORT_BYTES, 4 << 20).max(LEAST_PACKETS * packet);
        let mut broadcast = |bytes: usize| {
            vector.resize(bytes, 1);
            let times = ranks.repeat(share / 2.0, || {
                let call = ranks.cube.broadcast(0).algorithm("hamiltonian_path").packet(packet);
                ranks.sound(call.run(&mut vector[..]));
            });
            // Whatever disturbs a run makes it longer, and differences feel it the most.
            Value::of(&times).min
        };
        let short = broadcast(bytes);
        let long = broadcast(LONGER * bytes);
        tried.push((packet, (long - short) / ((LONGER - 1) * bytes) as f64));
    }
    tried.retain(|(_, time)| *time > 0.0);
    let least = tried.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    let best = tried.iter().find(|(_, time)| *time <= least * AS_GOOD).map_or(1 << 10, |(packet, _)| *packet);
    Packet { best, tried }
}
