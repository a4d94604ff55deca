//! The time where ranks share one memory, and cores.

use super::super::{Machine, SharedMemory};
use crate::address::dimension_for;
use crate::algorithm::{Algorithm, Formula, Parameters};
use crate::collective::{Blocks, Call, Collective};
use crate::executor::{pipe, piped_below, SINGLE_COPY_FROM};

/// What copies of packets, or of messages that are passed on, cost over those that all take at once where one rank has them, if what
/// goes through memory of both has not been measured. Measured in broadcasts of 256 KiB to 4 MiB, by the number of ranks and the core that
/// each met: 1.0 to 1.4.
const PASSED_ON: f64 = 1.2;

/// What copies of packets cost besides for each rank more than four that shares a core. Measured in broadcasts of 1 to 4 MiB on 16
/// ranks: 1.3 to 1.7 in all.
const PACKETS_IN_TURNS: f64 = 0.1;

/// What copies of packets cost where ranks that share a core get them over fewer links than a node of the cube has, besides, and for each rank
/// that shares it: in its turn a rank finds no more than a pipe of each. Measured on two cores of an AMD EPYC, 1 and 4 MiB
/// along the SBT, the TCBT and a chain, of the time by the MSBT or circulant graphs, four runs: broadcasts on 4 ranks 1.2 to 1.3 (by the TCBT,
/// which has two links there, 1.0), on 8 1.2 to 1.4, on 16 1.3 to 1.7; reductions on 8 1.1 to 1.3, on 16 1.2 to 1.5. (Where what goes
/// through memory of both has not been measured, [`PACKETS_IN_TURNS`] has a part of it.)
const FEW_LINKS: f64 = 0.15;
const FEW_LINKS_IN_TURNS: f64 = 1.0 / 32.0;

/// What a signal of a barrier costs its sender and its receiver together, in start-ups. Measured for 4 to 32 ranks on two cores: 2 to 4.
/// An exchange of all-reduce's recursive doubling, on 4 and 8 ranks on two cores: about as much. Where ranks have a core each, it is one start-up: on two
/// cores of an AMD EPYC that share no cache (a start-up .2 us, a hop .28) an all-reduce of 8 B takes .47 to .56 us. (Barriers of more than two
/// ranks with a core each have not been measured.)
const SIGNAL: f64 = 3.0;

/// What a byte of a whole message that goes through memory of both takes, of what was measured of packets, which follow one another and wait
/// for room there. Measured on 4, 8 and 16 ranks of an Intel Xeon with two cores, blocks of 4 to 32 KiB: .65 to .85. (Messages that are
/// longer than that memory wait for room, too: see [`full_pipes`] for those that are combined; of others that has not been measured.)
const PIPED_WHOLE: f64 = 0.75;

/// Hops that one of messages counts for which the receiver copies: it has to have its turn on a core while the sender waits, and the sender
/// has to have its own again. Measured on 8 ranks of that Xeon: all-gathers of 16 and 32 KiB, whose joined blocks are copied so in three hops of
/// 4 to 5 us, took 15 to 20 us longer than their hops and copies.
const COPIED_ONCE: f64 = 2.0;

/// Bytes that stay in a core's own cache, where it is not known how large that is.
const CACHE: usize = 512 << 10;

/// How many times as long it takes to combine, and to broadcast, what comes in messages that do not stay there: of one that is broadcast, or
/// of two that are combined. Measured: a reduction of 1 to 4 MiB takes about twice as long when whole vectors wait for each other as when
/// they come in packets, one of 512 KiB 1.1 to 1.25 times (on 16 ranks of an Intel Xeon whose cores have 2 MiB, .8); a broadcast of
/// 1 to 4 MiB on 4 ranks 1.1 to 1.4 times, one of 512 KiB .8 to 1.2 times; one of 1 to 4 MiB on 6 and 8 ranks that all copy from the
/// root .95 to 1.4 times, and on an AMD EPYC of November 2026, on 4, 8 and 16 ranks, 1.0 to 2.9 times.
const COMBINED_FAR: f64 = 2.0;
const BROADCAST_FAR: f64 = 1.4;

/// The same of two ranks that exchange whole vectors and combine all of them each, beside two that combine half and send that back. Measured
/// on two cores of an AMD EPYC, 4 MiB, two runs: 1.34 and 1.35.
const COMBINED_BY_BOTH: f64 = 1.35;

/// Hops that take the longer the more ranks wait for a core, two where a receiver copies, more where pipes are full; a start-up a round; and
/// the copies and signals, of which only as many go on at once as there are cores, and wait for each other; longer where what is to be combined
/// or broadcast does not stay in the caches.
pub fn time(
    algorithm: &Algorithm,
    call: &Call,
    element: usize,
    parameters: &Parameters,
    machine: &Machine,
    shared: SharedMemory,
) -> f64 {
    let formula = (algorithm.formula)(&algorithm.shape(call, parameters));
    let (hops, signals) = (formula.hops as f64, (algorithm.signals)(call.size) as f64);
    let rounds = formula.rounds as f64;
    let cores = shared.cores.clamp(1, call.size.max(1)) as f64;
    // One that holds all is none.
    let packet = parameters.packet.filter(|&packet| packet < call.space().len());
    // Short messages, and packets, are copied into memory of both and out of it. (Of messages of several lengths the mean decides.)
    let message = element as f64 * packet.map_or(formula.elements / rounds.max(1.0), |packet| packet as f64);
    let piped = machine.piped.filter(|_| message < machine.single_copy_from.unwrap_or(SINGLE_COPY_FROM) as f64);
    let copied_once = message > 0.0 && machine.single_copy_from.is_some_and(|from| message >= from as f64);
    // What goes through memory of both is half the sender's work and half the receiver's. So a rank that receives several messages of one
    // hop, of which the first is under way for a while, has half of them to copy, and so has the busiest sender. (A rank that does
    // both has more, which is no more than what the cores have to copy in all.)
    let path = match piped {
        Some(_) if formula.hops == 1 => (formula.path + formula.load) / 2.0,
        _ => formula.path,
    };
    let path = if piped.is_some() { path.max(formula.elements / 2.0) } else { path };
    // Ranks take turns on a core as it comes: the longest chain may wait while all cores copy what is not of it. No order in which no core
    // is idle takes longer (Graham 1969).
    let copies = match call.size > shared.cores {
        true => path + (formula.moved - path).max(0.0) / cores,
        false => path.max(formula.moved / cores),
    };
    // Ranks that share a core start their messages one after the other.
    let messages = if formula.elements > 0.0 { formula.moved * rounds / formula.elements } else { 0.0 };
    let started = rounds.max(messages / cores);
    let start_ups = match call.collective.has_data() && call.size <= shared.cores {
        true => started.max(signals / cores),
        false => started + SIGNAL * signals / cores,
    };
    // What was measured of packets of full length has their waiting in it: shorter ones wait more often.
    let measured = match (packet, machine.piped) {
        (Some(packet), Some(_)) => {
            (packet as f64 * element as f64 / piped_below(machine.single_copy_from) as f64).min(1.0)
        }
        _ => 0.0,
    };
    // Where one message at a time is under way, only its receiver has something to do: it has its turn when half of the others had theirs. (In
    // packets others have, too; scans of 64 KiB on 8 and 16 ranks took no longer for that.)
    let vector = call.collective.meaning().blocks == Blocks::Parts;
    let chain = vector && call.count > 0 && formula.moved <= hops * call.count as f64;
    let turn = if chain { (turn(call, shared) + 1.0) / 2.0 } else { turn(call, shared) };
    let awaited = packet.map_or(0.0, |_| (1.0 - measured) * awaited(turn, machine));
    let tau = machine.tau + awaited;
    let far = memory(call, message, &formula, shared);
    let once = machine.t_c * passed_on(call, packet, formula.hops, machine, shared) * far;
    let twice = piped.map_or(0.0, |piped| if packet.is_some() { piped } else { PIPED_WHOLE * piped });
    let hops = if copied_once { COPIED_ONCE * hops } else { hops };
    let (waits, slower) = match (piped, packet) {
        (None, _) => (0.0, 1.0),
        (Some(_), None) => (full_pipes(call, message, &formula, shared), 1.0),
        (Some(_), Some(_)) => (0.0, few_links(call, &formula, shared)),
    };
    let per_element = element as f64 * once.max(twice) * slower;
    (hops * turn + waits) * machine.hop + start_ups * tau + copies * per_element
}

/// Hops that ranks wait, as they take turns on a core, since a whole message is longer than a pipe: before its receiver has it all, and may
/// combine it, one after the other, the sender has to have its turn for each more pipe of it. (Where all ranks exchange, each has others'
/// messages to go on with.)
fn full_pipes(call: &Call, message: f64, formula: &Formula, shared: SharedMemory) -> f64 {
    let turn = turn(call, shared);
    if !call.collective.meaning().reduces || !vector_of_one(call) || turn <= 1.0 {
        return 0.0;
    }
    let pipes = (message / pipe(call.size) as f64).ceil();
    formula.rounds as f64 * (pipes - 1.0).max(0.0) * turn
}

/// What copies of a vector's packets cost because each rank gets them over few links.
fn few_links(call: &Call, formula: &Formula, shared: SharedMemory) -> f64 {
    let turn = turn(call, shared);
    // Of few packets no link has quite its part.
    let few = 1.4 * (call.count as f64) < formula.load * f64::from(dimension_for(call.size));
    if vector_of_one(call) && few && turn > 1.0 {
        1.0 + FEW_LINKS + FEW_LINKS_IN_TURNS * turn
    } else {
        1.0
    }
}

/// What copies cost because they are of packets, or of messages that are passed on.
fn passed_on(call: &Call, packet: Option<usize>, hops: usize, machine: &Machine, shared: SharedMemory) -> f64 {
    match (packet, machine.piped) {
        // What was measured of packets has it all, but that they are combined far from where they came.
        (Some(_), Some(_)) if !call.collective.meaning().reduces => 1.0,
        (Some(_), Some(_)) => PASSED_ON,
        (Some(_), None) => PASSED_ON + PACKETS_IN_TURNS * (turn(call, shared) - 4.0).max(0.0),
        (None, _) if hops > 1 => PASSED_ON,
        (None, _) => 1.0,
    }
}

/// What copies cost because of caches: messages that are to be combined go to memory and back; what is to be passed on, or copied by
/// several, comes from there.
fn memory(call: &Call, message: f64, formula: &Formula, shared: SharedMemory) -> f64 {
    let (messages, far) = match call.collective.meaning().reduces {
        true if vector_of_one(call) => (2.0, COMBINED_FAR),
        true if call.collective == Collective::AllReduce && call.size == 2 && formula.hops == 1 => {
            (2.0, COMBINED_BY_BOTH)
        }
        false if vector_of_one(call) && call.size > 2 => (1.0, BROADCAST_FAR),
        _ => (1.0, 1.0),
    };
    let cached = messages * message <= shared.cache.unwrap_or(CACHE) as f64;
    if cached {
        1.0
    } else {
        far
    }
}

/// Whether whole vectors go from or to one rank, or from one to the next.
fn vector_of_one(call: &Call) -> bool {
    let meaning = call.collective.meaning();
    (meaning.root || meaning.prefix) && meaning.blocks == Blocks::Parts
}

/// Ranks that take turns on a core.
pub fn turn(call: &Call, shared: SharedMemory) -> f64 {
    (call.size as f64 / shared.cores as f64).max(1.0)
}

/// How long a packet waits, in the mean, for its receiver's turn on a core. Measured: 1 us for two ranks a core, 2.8 us for four.
pub fn awaited(turn: f64, machine: &Machine) -> f64 {
    if turn > 1.0 {
        machine.hop * turn / 2.0
    } else {
        0.0
    }
}
