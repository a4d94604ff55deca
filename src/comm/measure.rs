//! What a machine can do, measured in milliseconds when a communicator is made, where no tuning file tells.
//!
//! Ranks send round rings: one of every host to one of the next host, so that all ports work at once, and to another of its own. The others
//! wait, as they do in a collective. What a start-up is, between hosts and within one, and what a byte takes within one, they find out when
//! all of them send, as they do in a pipelined call: on the cores that they share, and through one port, it goes up with the messages of all.
//! Over links they send to several others each ([`several`]); what messages take of which no rank sends and receives at once is measured for
//! itself ([`alone`]). From which length on messages within a host are copied once, several that send to one tell, and a ring where ranks do not
//! take turns on the cores of one host ([`copies`]). What all ranks of several hosts wait for each other, a barrier tells. For calls of which nobody knows whether there will be
//! more, that takes long over links: a [`brief`] measurement tells what a choice can be far off without.

mod alone;
mod apart;
mod brief;
mod copies;
mod links;
mod messages;
mod several;

use self::apart::Apart;
pub(super) use self::brief::{brief, seconds_of_all};
pub(super) use self::copies::AMONG_MORE;
use self::several::Senders;
use super::{Hypercube, Permute};
use crate::address::Hosts;
use crate::algorithm::{registry, Parameters, PortModel};
use crate::buffer::BufferMut;
use crate::collective::{Call, Collective};
use crate::error::Result;
use crate::executor::{piped_below, SINGLE_COPY_FROM};
use crate::operation::{Reduction, SystemOperation};
use crate::select::{predict, Lacks, Machine, Measurement, Options, Times, Together};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Messages of a train, and bytes of each.
const TRAIN: usize = 17;
const SHORT: usize = 64;
/// Times that short messages are measured, of which the lower quartile counts, as whatever disturbs them makes them longer; and messages
/// that follow one another each time.
const TURNS: usize = 8;
const ROUNDS: usize = 4;
/// The same where ranks share cores: all takes longer there, a barrier most of all, and there are more of them to tell.
const TURNS_IN_TURN: usize = 4;
/// Bytes of long messages: the first ones, how many times as long the next ones are, at least and at most, and the longest; and the longest
/// of ranks that share cores, of which there are more.
const FIRST: usize = 16 << 10;
const LONGER: [f64; 2] = [4.0, 16.0];
const LONGEST: usize = 256 << 10;
const LONGEST_IN_TURN: usize = 2 * SINGLE_COPY_FROM;
/// Bytes of a message after a pause, of which what a link lets pass at once is no great part; of those before it, a quarter; and seconds
/// of the pause at most.
const AFTER_PAUSE: usize = 128 << 10;
const PAUSE: f64 = 10e-3;
/// What a message after a pause takes, in start-ups and hops, at least: of shorter ones it cannot be told what was let pass at once.
const SEEN_FROM: f64 = 20.0;
/// Times that long messages are measured, of which the least counts.
const TRIES: usize = 3;
/// Hosts of which several ports may work at once, at least.
pub(super) const HOSTS: usize = 4;
/// Seconds that are long enough for one.
const ENOUGH: f64 = 2e-3;
/// Longer messages wait for their receivers: they go in packets of so many bytes.
const PACKET: usize = 16 << 10;
/// Short messages take at most so many times as long a byte: what is more, something else took.
const MOST_PIPED: f64 = 8.0;

/// Measures what is lacking, but what cannot be seen at the moment; all ranks call this together, and find the same.
pub(super) fn measure(cube: &Hypercube, lacks: Lacks) -> Result<Measurement> {
    let hosts = cube.hosts.as_ref();
    let (mut times, mut alone, mut burst, mut piped, mut single_copy_from) = (None, None, None, None, None);
    let mut together = Together::default();
    let own_cores = cube.machine.shared.is_some_and(|shared| shared.cores >= cube.size);
    let apart = if lacks.times && own_cores { Apart::keep(cube)? } else { None };
    if lacks.times && (apart.is_some() || !own_cores) {
        let ring = Ring::between_hosts(cube);
        if cube.machine.shared.is_some() {
            single_copy_from = copies::single_from(&ring)?;
        }
        let leaders = match cube.machine.shared {
            None => Senders::leaders(hosts, cube.size).start_up(cube, several::MOST)?,
            Some(_) => None,
        };
        let found = ring.times(leaders)?;
        times = Some(found);
        if let Some(hosts) = hosts {
            let all = match Senders::all(hosts).start_up(cube, several::MOST)? {
                Some((_, tau)) => tau,
                None => Ring::of(cube, |rank| other_host(hosts, rank)).start_up()?.1,
            };
            together.tau = Some(all.max(found.tau));
        }
        if cube.machine.shared.is_none() {
            alone = Some(alone::alone(cube)?);
            burst = Some(ring.burst(found)?);
        }
        if cube.machine.shared.is_some() {
            piped = Some(match single_copy_from {
                // The long ones took the same way.
                Some(usize::MAX) => found.t_c,
                _ => {
                    let short = Ring { packet: Some(piped_below(single_copy_from) - 1), ..ring };
                    let per_byte = short.per_byte((found.hop + found.tau) * short.turn)? / short.turn;
                    per_byte.clamp(found.t_c, MOST_PIPED * found.t_c)
                }
            });
        }
    }
    drop(apart);
    let near = match hosts {
        Some(hosts) if lacks.near => {
            let (one, single) = Ring::of(cube, |rank| mate(hosts, rank)).start_up()?;
            let together = Ring::of(cube, |rank| next_mate(hosts, rank));
            single_copy_from = copies::single_from(&together)?;
            let (latency, tau) = together.start_up()?;
            Some(Times { tau, hop: (one - single).max(0.0), t_c: together.per_byte(latency)? })
        }
        _ => None,
    };
    let found = Measurement { times, together, alone, burst, piped, single_copy_from, near, ..Measurement::default() };
    let machine = || cube.machine.clone().with(&found);
    let links = if lacks.links { Some(links::links(cube, &machine(), links::TRIES)?) } else { None };
    together.hop = match hosts {
        Some(_) if times.is_some() || lacks.near => {
            let machine = machine();
            hop_together(cube, &machine)?.map(|hop| hop.max(machine.hop))
        }
        _ => None,
    };
    Ok(Measurement { together, links, ..found })
}

/// Lets all ranks have what they make of their values, whatever packets the environment asks for.
fn agree<V>(cube: &Hypercube, values: &mut V, operation: SystemOperation) -> Result<()>
where
    V: BufferMut + ?Sized,
    SystemOperation: Reduction<V::Element>,
{
    cube.all_reduce().packet(Options::WHOLE).run_in_place(values, operation)
}

/// The seconds that each of so many calls takes, one after the other, from when ranks have met. All ranks call this together.
fn in_a_row(cube: &Hypercube, calls: usize, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    cube.barrier()?;
    let start = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(start.elapsed().as_secs_f64() / calls as f64)
}

/// The hop by which that machine takes as long for a barrier of all ranks as it does: they wait for each other's messages in every round,
/// which takes longer than messages round a ring, as the last of all counts.
fn hop_together(cube: &Hypercube, machine: &Machine) -> Result<Option<f64>> {
    let algorithm = registry::find(Collective::Barrier, "recursive_doubling")?;
    let parameters = Parameters::new(PortModel::OnePort);
    let options = Options::exactly(algorithm, &parameters);
    let call = Call { hosts: cube.hosts.clone(), ..Call::new(Collective::Barrier, cube.size, 0) };
    let mut times = [0.0; TURNS];
    for time in &mut times {
        cube.barrier()?;
        let start = Instant::now();
        cube.collective(call.clone()).options(&options).run(&[0u8; 0], &mut [])?;
        *time = start.elapsed().as_secs_f64();
    }
    agree(cube, &mut times, SystemOperation::max())?;
    times.sort_by(f64::total_cmp);
    let predicted = |hop: f64| {
        let together = Together { hop: Some(hop), ..machine.together };
        let machine = Machine { together, ..machine.clone() };
        predict(algorithm, &call, 1, &parameters, &machine)
    };
    let (other, hops) = (predicted(0.0), predicted(1.0) - predicted(0.0));
    Ok((hops > 0.0).then(|| (times[TURNS / 4] - other) / hops))
}

/// The start-up of one more message, given what one takes and what so many take.
fn of_one_more(one: f64, several: f64, messages: usize) -> f64 {
    // No message is free; what is less than the noise is taken for a small part.
    ((several - one) / (messages - 1) as f64).max(one / 100.0)
}

/// The first rank of a host. Without hosts, every rank is on one of its own.
fn first_of(hosts: Option<&Hosts>, host: usize) -> usize {
    hosts.map_or(host, |hosts| hosts.rank(hosts.places_of(host).start))
}

/// For the first rank of a host that of the next one; for others the rank itself.
fn next_host(hosts: &Hosts, rank: usize) -> usize {
    let place = hosts.place(rank);
    let host = hosts.host(place);
    match place == hosts.places_of(host).start {
        true => first_of(Some(hosts), (host + 1) % hosts.len()),
        false => rank,
    }
}

/// For every rank one of another host, each of another one, as far as no host has more ranks than all others together.
fn other_host(hosts: &Hosts, rank: usize) -> usize {
    hosts.rank((hosts.place(rank) + hosts.most_and_fewest().0) % hosts.ranks())
}

/// The other one of the first two ranks of a host; for others the rank itself.
fn mate(hosts: &Hosts, rank: usize) -> usize {
    let mates = hosts.places(hosts.place(rank));
    match hosts.place(rank) - mates.start {
        own if own < 2 && mates.len() > 1 => hosts.rank(mates.start + 1 - own),
        _ => rank,
    }
}

/// The next rank of the host, round all of them.
fn next_mate(hosts: &Hosts, rank: usize) -> usize {
    let place = hosts.place(rank);
    let mates = hosts.places(place);
    hosts.rank(if place + 1 < mates.end { place + 1 } else { mates.start })
}

/// From every rank one to another. All that the environment could ask for is said, as what is measured is this.
fn message<'c>(cube: &'c Hypercube, next: &[usize], packet: usize) -> Permute<'c> {
    cube.permute(next).algorithm("direct").packet(packet).ports(PortModel::OnePort).symmetrized(false)
}

/// Ranks that send each to the next.
struct Ring<'c> {
    cube: &'c Hypercube,
    next: Vec<usize>,
    /// Ranks that take turns on a core, if all share their memory.
    turn: f64,
    /// Times that short messages are measured and that long ones are, and bytes of the longest ones.
    turns: usize,
    tries: usize,
    longest: usize,
    /// Bytes of the packets of long messages; where all share one memory, they are copied as a whole.
    packet: Option<usize>,
    /// What is sent, and where what is received goes: used again, as memory that nobody has touched takes longer.
    buffers: RefCell<[Vec<u8>; 2]>,
}

impl<'c> Ring<'c> {
    fn of(cube: &'c Hypercube, next: impl Fn(usize) -> usize) -> Ring<'c> {
        let shared = cube.machine.shared;
        let cores = shared.map_or(cube.size, |shared| shared.cores);
        let (turns, longest) = match cube.size > cores {
            false => (TURNS, LONGEST),
            true => (TURNS_IN_TURN, LONGEST_IN_TURN),
        };
        Ring {
            cube,
            next: (0..cube.size).map(next).collect(),
            turn: (cube.size as f64 / cores as f64).max(1.0),
            turns,
            tries: TRIES,
            longest,
            packet: shared.is_none().then_some(PACKET),
            buffers: RefCell::default(),
        }
    }

    /// One rank of every host, to one of the next host. Without hosts, every rank is on one of its own.
    fn between_hosts(cube: &'c Hypercube) -> Ring<'c> {
        let hosts = cube.hosts.as_ref();
        Ring::of(cube, |rank| hosts.map_or((rank + 1) % cube.size, |hosts| next_host(hosts, rank)))
    }

    /// The times of a message, given what one takes and the start-up of one more, if that has been measured in another way.
    fn times(&self, start_up: Option<(f64, f64)>) -> Result<Times> {
        let (one, tau) = start_up.map_or_else(|| self.start_up(), Ok)?;
        Ok(Times { tau, hop: (one / self.turn - tau).max(0.0), t_c: self.per_byte(one)? / self.turn })
    }

    /// The seconds that one message takes, and the start-up of one more.
    fn start_up(&self) -> Result<(f64, f64)> {
        let (one, train) = (self.short(1)?, self.short(TRAIN)?);
        Ok((one, of_one_more(one, train, TRAIN) / self.turn))
    }

    /// The seconds that so many short messages take, in the mean of the ranks that send.
    fn short(&self, messages: usize) -> Result<f64> {
        // The first messages between two ranks open their connection.
        self.send(messages * SHORT, SHORT, 1)?;
        let mut times = vec![0.0; self.turns];
        for time in &mut times {
            *time = self.send(messages * SHORT, SHORT, ROUNDS)?;
        }
        times.sort_by(f64::total_cmp);
        let takes_part = if self.next[self.cube.rank] == self.cube.rank { 0.0 } else { 1.0 };
        let mut sums = [takes_part * times[self.turns / 4], takes_part];
        agree(self.cube, &mut sums, SystemOperation::sum())?;
        Ok(sums[0] / sums[1])
    }

    /// The seconds that a byte takes where a message follows another: by what three take longer than one, so that what a link lets pass
    /// at once after a pause does not count.
    fn per_byte(&self, latency: f64) -> Result<f64> {
        let mut bytes = FIRST;
        loop {
            let mut times = [f64::INFINITY; 2];
            for _ in 0..self.tries {
                for (time, rounds) in times.iter_mut().zip([1, 3]) {
                    *time = time.min(rounds as f64 * self.send(bytes, self.packet.unwrap_or(bytes), rounds)?);
                }
            }
            agree(self.cube, &mut times, SystemOperation::max())?;
            let [one, three] = times;
            if one >= ENOUGH || bytes >= self.longest {
                // Whatever disturbed a run, a byte takes about as much as in the mean.
                let mean = three / (3 * bytes) as f64;
                return Ok(((three - one - 2.0 * latency) / (2 * bytes) as f64).clamp(mean / 2.0, 1.5 * mean));
            }
            let [least, most] = LONGER;
            bytes = self.longest.min(bytes * (ENOUGH / one).clamp(least, most) as usize);
        }
    }

    /// Bytes that a link lets pass at once after a pause: what a message of so many takes more than four of a quarter, each after a pause.
    fn burst(&self, Times { tau, hop, t_c }: Times) -> Result<usize> {
        if AFTER_PAUSE as f64 * t_c < SEEN_FROM * (tau + hop) {
            return Ok(0);
        }
        let pause = Duration::from_secs_f64((AFTER_PAUSE as f64 * t_c).min(PAUSE));
        let mut times = [f64::INFINITY; 2];
        for _ in 0..TRIES {
            for (time, bytes) in times.iter_mut().zip([AFTER_PAUSE / 4, AFTER_PAUSE]) {
                std::thread::sleep(pause);
                *time = time.min(self.send(bytes, PACKET, 1)?);
            }
        }
        agree(self.cube, &mut times, SystemOperation::max())?;
        let [quarter, whole] = times.map(|time| time - hop);
        let ahead = (whole - 4.0 * quarter) / (3.0 * t_c);
        let some = (AFTER_PAUSE / 64) as f64..(AFTER_PAUSE / 4) as f64;
        Ok(if some.contains(&ahead) { ahead as usize } else { 0 })
    }

    /// Sends so many bytes to the next rank, again and again: the seconds until those of the one before are there.
    fn send(&self, bytes: usize, packet: usize, rounds: usize) -> Result<f64> {
        let [send, receive] = &mut *self.buffers.borrow_mut();
        for buffer in [&mut *send, &mut *receive] {
            buffer.resize(buffer.len().max(bytes), 1);
        }
        let (send, receive) = (&send[..bytes], &mut receive[..bytes]);
        in_a_row(self.cube, rounds, || message(self.cube, &self.next, packet).run(send, &mut *receive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_send_to_other_hosts_and_each_gets_one_message() {
        for ranks in [&[2, 2][..], &[4, 4, 4, 4], &[4, 3, 2, 1], &[3, 3, 1], &[1, 5, 4]] {
            for in_turn in [false, true] {
                let hosts = Hosts::with_ranks(ranks, in_turn).expect("several hosts with several ranks");
                let mut got: Vec<usize> = (0..hosts.ranks()).map(|rank| other_host(&hosts, rank)).collect();
                for (rank, &to) in got.iter().enumerate() {
                    assert_ne!(hosts.host(hosts.place(rank)), hosts.host(hosts.place(to)), "{ranks:?}: {rank} to {to}");
                }
                got.sort_unstable();
                assert!(got.into_iter().eq(0..hosts.ranks()));
            }
        }
    }
}
