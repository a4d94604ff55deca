//! The choice where ranks share a memory, and cores, held against what was measured: five times 500 barriers in a row, and
//! `bench --native none` on the other calls.

use super::{chosen, ELEMENT};
use hypercoll::algorithm::PortModel::OnePort;
use hypercoll::collective::{Call, Collective};
use hypercoll::select::{candidates, Machine, Options, SharedMemory};

/// Ranks on two cores, and microseconds of a barrier of each kind: direct, central, dissemination (or recursive doubling, as many signals).
const BARRIERS: [(usize, [f64; 3]); 4] =
    [(4, [4.6, 6.2, 7.8]), (8, [17.4, 13.6, 26.1]), (16, [48.6, 31.2, 54.3]), (32, [268.0, 91.4, 211.0])];

#[test]
fn barriers_are_as_fast_as_the_fastest_kind() {
    let machine = Machine::shared_memory(2);
    for (ranks, times) in BARRIERS {
        let call = Call::new(Collective::Barrier, ranks, 0);
        let found = chosen(&call, &Options::default(), &machine).algorithm.name;
        let kinds: [&[&str]; 3] = [&["direct"], &["central"], &["dissemination", "recursive_doubling"]];
        let time = kinds.iter().position(|kind| kind.contains(&found)).map(|kind| times[kind]).expect("a kind");
        assert!(times.iter().all(|other| time <= 1.1 * other), "{ranks}: {found}");
    }
}

/// Ranks on two cores, a call, and microseconds of the best form in packets and of the best one of whole messages.
type Forms = (usize, Collective, usize, [f64; 2]);

/// Packets gain where a vector does not stay in the caches, and lose where many ranks take turns on a core.
const FORMS: [Forms; 8] = [
    (4, Collective::Broadcast, 1 << 20, [182.0, 225.0]),
    (8, Collective::Broadcast, 128 << 10, [50.0, 43.0]),
    (8, Collective::Broadcast, 512 << 10, [216.0, 194.0]),
    (8, Collective::Broadcast, 4 << 20, [1860.0, 2036.0]),
    (16, Collective::Broadcast, 1 << 20, [1380.0, 790.0]),
    (16, Collective::Broadcast, 4 << 20, [6500.0, 4090.0]),
    (16, Collective::Reduce, 4 << 20, [9050.0, 10634.0]),
    (32, Collective::Reduce, 1 << 20, [6199.0, 3667.0]),
];

#[test]
fn a_packet_that_holds_all_takes_as_long_as_a_whole_message() {
    let machine = Machine::shared_memory(2);
    for (collective, count) in
        [(Collective::Reduce, 1 << 19), (Collective::Broadcast, 1 << 19), (Collective::Reduce, 8)]
    {
        let call = Call::new(collective, 8, count);
        let predicted = |packet| {
            let options = Options { algorithm: Some("sbt".into()), packet, ports: Some(OnePort), ..Options::default() };
            let serving = candidates(&call, 8, &options, &machine).unwrap().serving;
            let form = serving.into_iter().find(|form| form.parameters.packet == packet);
            form.unwrap_or_else(|| panic!("no form of {collective:?} with packets of {packet:?}")).predicted
        };
        let whole = predicted(None);
        for packet in [count, count + 1, 2 * count] {
            assert_eq!(predicted(Some(packet)), whole, "{collective:?} of {count}, packets of {packet}");
        }
        assert_ne!(predicted(Some(count / 2)), whole, "{collective:?} of {count}");
    }
}

/// Two ranks on cores of their own of an AMD EPYC, that share their caches, or not: tau and hop in us, and what an all-reduce of 8 B took by
/// `recursive_doubling`, `histogram` and `direct` (1 December 2026, medians of 12 runs).
const OWN_CORES: [([f64; 2], [f64; 3]); 2] =
    [([0.064, 0.172], [0.265, 0.333, 0.333]), ([0.200, 0.276], [0.532, 0.750, 0.750])];

/// What ranks exchange goes both ways at once.
#[test]
fn ranks_with_cores_of_their_own_exchange_what_is_short() {
    for ([tau, hop], times) in OWN_CORES {
        for (ranks, cores) in [(2, 2), (4, 4), (4, 64), (8, 8), (8, 9), (64, 64)] {
            let machine = Machine { tau: tau * 1e-6, hop: hop * 1e-6, t_c: 6e-11, ..Machine::shared_memory(cores) };
            let call = Call::new(Collective::AllReduce, ranks, 1);
            let choice = chosen(&call, &Options::default(), &machine);
            assert_eq!(choice.algorithm.name, "recursive_doubling", "{ranks} ranks, {cores} cores, tau {tau} us");
            if ranks == 2 {
                let all = candidates(&call, ELEMENT, &Options::default(), &machine).expect("sound").serving;
                for (name, time) in ["recursive_doubling", "histogram", "direct"].into_iter().zip(times) {
                    let found = all.iter().find(|candidate| candidate.algorithm.name == name).expect("it serves");
                    let ratio = found.predicted * 1e6 / time;
                    assert!((0.8..1.5).contains(&ratio), "{name}: {ratio}");
                }
            }
        }
    }
}

/// With a core for each of 8 ranks, a root that puts a vector into the memory that it shares with each of the others does half of seven
/// copies itself. Receivers that copy it out of the root's memory do that at once.
#[test]
fn a_root_puts_in_what_receivers_do_not_copy_themselves() {
    const BYTES: usize = 256 << 10;
    let call = Call::new(Collective::Broadcast, 8, BYTES / ELEMENT);
    let of_direct = |single_copy_from| {
        let machine =
            Machine { piped: Some(1e-10), single_copy_from: Some(single_copy_from), ..Machine::shared_memory(8) };
        let options = Options { algorithm: Some("direct".into()), ..Options::default() };
        (chosen(&call, &options, &machine).predicted, chosen(&call, &Options::default(), &machine))
    };
    let copy = BYTES as f64 * 1e-10;
    let (direct, choice) = of_direct(usize::MAX);
    assert!((3.5 * copy..4.0 * copy).contains(&direct), "{direct} s");
    assert!(choice.predicted < 0.7 * direct, "{choice:?}");
    assert!((copy..1.5 * copy).contains(&of_direct(64 << 10).0));
}

#[test]
fn packets_are_chosen_where_they_gain() {
    let machine = Machine::shared_memory(2);
    for (ranks, collective, bytes, [in_packets, whole]) in FORMS {
        let call = Call::new(collective, ranks, bytes / ELEMENT);
        let choice = chosen(&call, &Options::default(), &machine);
        let time = if choice.parameters.packet.is_some() { in_packets } else { whole };
        let best = in_packets.min(whole);
        assert!(time <= 1.1 * best, "{ranks} ranks, {collective} of {bytes} B: {}", choice.algorithm.name);
    }
}

/// Where copies by the receiver were quick when ranks started: exclusive scans of 4 MiB took 1150 us in packets, whole 2228 or more.
#[test]
fn what_a_long_prefix_sum_combines_does_not_stay_in_the_caches_either() {
    let (tau, hop, t_c, piped) = (0.254e-6, 0.599e-6, 0.0621e-9, Some(0.1521e-9));
    let single_copy_from = Some(32 << 10);
    let machine = Machine { tau, hop, t_c, piped, single_copy_from, ..Machine::shared_memory(2) };
    let call = Call::new(Collective::ExclusiveScan, 4, (4 << 20) / ELEMENT);
    let choice = chosen(&call, &Options::default(), &machine);
    assert!(choice.parameters.packet.is_some(), "{}", choice.algorithm.name);
}

/// Ranks on two cores, and what the library measured when they started: tau, hop and t_c, seconds a byte of packets, and bytes from which on
/// messages are copied once.
type Measured = (usize, [f64; 4], usize);

/// The machine of so many ranks.
fn of_ranks(ranks: usize, all: [Measured; 3]) -> Machine {
    let measured = all.into_iter().find(|measured| measured.0 == ranks);
    let (_, [tau, hop, t_c, piped], from) = measured.expect("a machine of so many ranks");
    let (piped, single_copy_from) = (Some(piped), Some(from));
    Machine { tau, hop, t_c, piped, single_copy_from, ..Machine::shared_memory(2) }
}

/// On an Intel Xeon.
const MEASURED: [Measured; 3] = [
    (4, [0.286e-6, 0.803e-6, 0.1101e-9, 0.1681e-9], 64 << 10),
    (8, [0.372e-6, 1.589e-6, 0.1189e-9, 0.1790e-9], 64 << 10),
    (16, [0.322e-6, 1.082e-6, 0.1134e-9, 0.1916e-9], 32 << 10),
];

/// Ranks, a collective, KiB, and microseconds of algorithms in the same run.
type Joined = (usize, Collective, usize, &'static [(&'static str, f64)]);

/// Blocks and vectors of about that length, and shorter ones that trees join to longer ones (Intel Xeon, 29 November 2026). Gather and
/// all-gather on 8 ranks once went along trees in 41 and 126 us, the scans of 64 KiB on 8 and 16 ranks by `recursive_doubling`.
const JOINED: [Joined; 22] = [
    (4, Collective::Reduce, 16, &[("two_level", 10.0), ("direct", 10.0), ("sbt", 12.0), ("msbt", 14.0)]),
    (4, Collective::AllReduce, 32, &[("shift", 20.0), ("direct", 24.0), ("histogram", 26.0), ("sbt", 31.0)]),
    (4, Collective::AllReduce, 64, &[("shift", 30.0), ("histogram", 39.0), ("direct", 44.0), ("sbt", 55.0)]),
    (4, Collective::Gather, 64, &[("direct", 17.0), ("sbnt", 25.0), ("sbt", 25.0), ("msbt", 37.0)]),
    (4, Collective::AllGather, 16, &[("pairwise_xor", 18.0), ("complete_broadcast", 22.0), ("sbnt", 24.0)]),
    (8, Collective::Gather, 32, &[("direct", 25.0), ("sbnt", 34.0), ("sbt", 40.0), ("msbt", 55.0)]),
    (8, Collective::AllGather, 16, &[("pairwise_xor", 51.0), ("sbnt", 63.0), ("complete_broadcast", 68.0)]),
    (8, Collective::AllGather, 32, &[("pairwise_xor", 106.0), ("sbnt", 116.0), ("complete_broadcast", 125.0)]),
    (8, Collective::AllToAll, 32, &[("pairwise_xor", 134.0), ("complete_exchange", 229.0), ("sbnt", 236.0)]),
    (8, Collective::Reduce, 16, &[("direct", 20.0), ("sbt", 25.0), ("msbt", 27.0)]),
    (8, Collective::AllReduce, 64, &[("shift", 77.0), ("histogram", 78.0), ("direct", 88.0), ("sbt", 91.0)]),
    (8, Collective::ReduceScatter, 16, &[("pairwise_xor", 61.0), ("histogram", 75.0), ("sbnt", 79.0)]),
    (16, Collective::Gather, 32, &[("direct", 68.0), ("sbnt", 125.0), ("sbt", 150.0), ("msbt", 223.0)]),
    (16, Collective::AllGather, 32, &[("pairwise_xor", 546.0), ("sbnt", 691.0), ("complete_broadcast", 778.0)]),
    (16, Collective::Reduce, 16, &[("direct", 52.0), ("sbt", 78.0), ("msbt", 80.0)]),
    (16, Collective::ReduceScatter, 32, &[("pairwise_xor", 859.0), ("sbnt", 907.0), ("histogram", 1074.0)]),
    (4, Collective::Scan, 64, &[("chain", 27.0), ("doubling", 32.0), ("direct", 36.0), ("recursive_doubling", 38.0)]),
    (8, Collective::Scan, 4, &[("direct", 20.0), ("doubling", 19.0), ("recursive_doubling", 21.0), ("chain", 24.0)]),
    (8, Collective::Scan, 64, &[("chain", 58.0), ("recursive_doubling", 106.0), ("direct", 127.0)]),
    (8, Collective::ExclusiveScan, 64, &[("chain", 62.0), ("recursive_doubling", 99.0), ("direct", 118.0)]),
    (16, Collective::Scan, 64, &[("chain", 257.0), ("doubling", 412.0), ("recursive_doubling", 442.0)]),
    (16, Collective::ExclusiveScan, 64, &[("chain", 283.0), ("doubling", 455.0), ("recursive_doubling", 450.0)]),
];

#[test]
fn blocks_go_directly_where_that_is_sooner_than_joined_to_long_ones() {
    for (ranks, collective, kib, times) in JOINED {
        let machine = of_ranks(ranks, MEASURED);
        let choice = chosen(&Call::new(collective, ranks, (kib << 10) / ELEMENT), &Options::default(), &machine);
        let found = choice.algorithm.name;
        let time = times.iter().find(|(name, _)| *name == found).map(|(_, time)| *time);
        let best = times.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        assert!(time.is_some_and(|time| time <= 1.1 * best), "{ranks} ranks, {collective} of {kib} KiB: {found}");
    }
}

/// As in [`MEASURED`], on two cores of an AMD EPYC of 30 November 2026, where nothing, or only what is as long as that, is copied once.
const MEASURED_AMD: [Measured; 3] = [
    (4, [0.184e-6, 0.844e-6, 0.0431e-9, 0.0431e-9], usize::MAX),
    (8, [0.185e-6, 1.038e-6, 0.0484e-9, 0.0484e-9], usize::MAX),
    (16, [0.248e-6, 1.149e-6, 0.1153e-9, 0.1259e-9], 128 << 10),
];

/// Ranks, a collective, KiB, and microseconds of algorithms in the same run, in packets and whole, where both were measured.
type Waiting = (usize, Collective, usize, &'static [(&'static str, [f64; 2])]);

const NO: f64 = f64::INFINITY;

/// Vectors that a root or the next rank combines, longer than a pipe or not, and broadcasts in packets over few links and many. The
/// reductions of 8 and 16 ranks but of 8 by 64 KiB once were by `direct`, the scan along a whole `chain`, the broadcast by `tcbt`.
const WAITING: [Waiting; 7] = [
    (4, Collective::Reduce, 512, &[("msbt", [62.0, 123.0]), ("pipelined_wave", [64.0, NO]), ("direct", [NO, 103.0])]),
    (8, Collective::Reduce, 64, &[("direct", [NO, 27.5]), ("sbt", [32.0, 31.3]), ("msbt", [36.2, 35.9])]),
    (8, Collective::Reduce, 128, &[("msbt", [58.0, 82.0]), ("double_wave", [NO, 57.0]), ("direct", [NO, 81.0])]),
    (8, Collective::Reduce, 512, &[("msbt", [158.0, 327.0]), ("circulant", [155.0, NO]), ("direct", [NO, 400.0])]),
    (16, Collective::Reduce, 64, &[("double_wave", [NO, 107.0]), ("two_level", [NO, 126.0]), ("direct", [NO, 253.0])]),
    (16, Collective::Scan, 64, &[("chain", [223.0, 408.0]), ("doubling", [NO, 267.0])]),
    (
        16,
        Collective::Broadcast,
        4 << 10,
        &[("msbt", [3771.0, 4941.0]), ("circulant", [3800.0, NO]), ("tcbt", [5367.0, NO])],
    ),
];

#[test]
fn whole_vectors_and_packets_of_few_links_wait_where_ranks_take_turns() {
    for (ranks, collective, kib, times) in WAITING {
        let machine = of_ranks(ranks, MEASURED_AMD);
        let shared = machine.shared.map(|shared| SharedMemory { cache: Some(1 << 20), ..shared });
        let call = Call::new(collective, ranks, (kib << 10) / ELEMENT);
        let choice = chosen(&call, &Options::default(), &Machine { shared, ..machine });
        let found = times.iter().find(|(name, _)| *name == choice.algorithm.name);
        let time =
            found.map(|(_, [packets, whole])| if choice.parameters.packet.is_some() { *packets } else { *whole });
        let best = times.iter().flat_map(|(_, times)| *times).fold(NO, f64::min);
        let (name, packet) = (choice.algorithm.name, choice.parameters.packet);
        assert!(
            time.is_some_and(|time| time <= 1.1 * best),
            "{ranks} ranks, {collective} of {kib} KiB: {name}, {packet:?}"
        );
    }
}

/// Two ranks: what both combine as a whole comes from memory where halves would do. (Microseconds on the processor of [`MEASURED_AMD`]; 4 MiB once went by
/// `recursive_doubling`.)
#[test]
fn two_ranks_combine_a_half_each_of_what_does_not_stay_in_the_caches() {
    let times = [(8 << 10, [0.8, 1.0]), (4 << 20, [358.0, 265.0])];
    let shared = Some(SharedMemory { cores: 2, cache: Some(1 << 20) });
    let [tau, hop, t_c] = [0.072e-6, 0.189e-6, 0.0367e-9];
    let machine = Machine { tau, hop, t_c, piped: Some(t_c), shared, ..Machine::shared_memory(2) };
    for (bytes, [whole, halves]) in times {
        let call = Call::new(Collective::AllReduce, 2, bytes / ELEMENT);
        let found =
            chosen(&call, &Options::default(), &Machine { single_copy_from: Some(usize::MAX), ..machine.clone() });
        let expected = if whole < halves { "recursive_doubling" } else { "histogram" };
        assert_eq!(found.algorithm.name, expected, "{bytes} B");
    }
}

/// By hand: the pipe between two of 8 ranks has 64 KiB, between two of 16 half of that. Of vectors as long as three pipes a root that combines
/// seven waits twice for each besides the one hop, while a gather of as much, or a root with a core of its own, does not.
#[test]
fn who_combines_what_is_longer_than_a_pipe_waits_for_the_sender_s_turns() {
    let hops = |collective, ranks, cores, bytes: usize| {
        let machine = Machine { tau: 0.0, t_c: 0.0, piped: Some(0.0), ..Machine::shared_memory(cores) };
        let machine = Machine { single_copy_from: Some(usize::MAX), ..machine };
        let options = Options { algorithm: Some("direct".into()), packet: Some(Options::WHOLE), ..Options::default() };
        let call = Call::new(collective, ranks, bytes / ELEMENT);
        chosen(&call, &options, &machine).predicted / machine.hop * cores.min(ranks) as f64 / ranks as f64
    };
    for (collective, ranks, cores, kib, by_hand) in [
        (Collective::Reduce, 8, 2, 64, 1.0),
        (Collective::Reduce, 8, 2, 192, 1.0 + 7.0 * 2.0),
        (Collective::Reduce, 16, 2, 64, 1.0 + 15.0),
        (Collective::Gather, 8, 2, 192, 1.0),
        (Collective::Reduce, 8, 8, 192, 1.0),
    ] {
        let found = hops(collective, ranks, cores, kib << 10);
        assert!(
            (found - by_hand).abs() < 0.01,
            "{collective} of {kib} KiB on {ranks} ranks: {found}, by hand {by_hand}"
        );
    }
}

/// By hand: of 8 ranks on two cores, a chain of packets gets all over one link and not over three.
#[test]
fn packets_over_one_link_cost_more_where_ranks_take_turns() {
    let one_link = copies(Collective::Broadcast, "chain", 2, usize::MAX, 1 << 10);
    let own_cores = copies(Collective::Broadcast, "chain", 8, usize::MAX, 1 << 10);
    let (path, moved) = (1.0 + 6.0 / 16.0, 7.0);
    let by_hand = 2.0 * (path + (moved - path) / 2.0);
    assert!((one_link / by_hand - 1.275).abs() < 0.01, "{one_link}, by hand {by_hand}");
    assert!((own_cores / (2.0 * path) - 1.0).abs() < 0.01, "{own_cores}");
}

/// Copies of a vector or block that a call is predicted to take where nothing else takes time, a byte copied once a nanosecond, twice two.
fn copies(collective: Collective, algorithm: &str, cores: usize, from: usize, packet: usize) -> f64 {
    const COUNT: usize = 1 << 14;
    let options = Options { algorithm: Some(algorithm.into()), packet: Some(packet), ..Options::default() };
    let (piped, single_copy_from) = (Some(2e-9), Some(from));
    let machine = Machine { tau: 0.0, hop: 0.0, t_c: 1e-9, piped, single_copy_from, ..Machine::shared_memory(cores) };
    chosen(&Call::new(collective, 8, COUNT), &options, &machine).predicted / ((COUNT * ELEMENT) as f64 * 1e-9)
}

/// By hand, of 8 ranks. Along the binomial tree three vectors are combined one after the other, of seven: on two cores the other four wait
/// for them, or they for those, and all that is passed on takes 1.2 times as long. Of a root that receives seven blocks through memory
/// of both with a core for each rank, half of them are the senders' work, but for the first; whole ones take .75 of what packets do. Of a root
/// that sends three vectors in packets half is its own work.
#[test]
fn copies_are_counted_as_by_hand() {
    let close =
        |copies: f64, by_hand: f64| assert!((copies / by_hand - 1.0).abs() < 0.01, "{copies}, by hand {by_hand}");
    close(copies(Collective::Reduce, "sbt", 2, 1, Options::WHOLE), 1.2 * (3.0 + 4.0 / 2.0));
    close(copies(Collective::Gather, "direct", 8, 1, Options::WHOLE), 7.0);
    close(copies(Collective::Gather, "direct", 8, usize::MAX, Options::WHOLE), 0.75 * 2.0 * (7.0 + 1.0) / 2.0);
    close(copies(Collective::Broadcast, "sbt", 8, usize::MAX, 1 << 10), 2.0 * 3.0 / 2.0);
}

/// From where on receivers copy messages, senders wait for them at every hop of a tree; where nothing is sent, or nobody copies so, none does.
#[test]
fn a_message_that_its_receiver_copies_is_two_hops() {
    const FROM: usize = 16 << 10;
    let of = |collective, bytes: usize, single_copy_from| {
        let (tau, t_c, piped) = (0.0, 0.0, Some(0.0));
        let machine = Machine { tau, t_c, piped, single_copy_from, ..Machine::shared_memory(8) };
        let options = Options { algorithm: Some("sbt".into()), packet: Some(Options::WHOLE), ..Options::default() };
        let options = if collective == Collective::Barrier { Options::default() } else { options };
        chosen(&Call::new(collective, 8, bytes / ELEMENT), &options, &machine).predicted / machine.hop
    };
    let hops = |bytes, from| of(Collective::Broadcast, bytes, from).round();
    assert_eq!([hops(FROM - ELEMENT, Some(FROM)), hops(FROM, Some(FROM)), hops(FROM, None)], [3.0, 6.0, 3.0]);
    assert_eq!(of(Collective::Barrier, 0, Some(0)), of(Collective::Barrier, 0, None));
}

/// By hand, of 8 ranks on two cores: along a chain one message at a time is under way, and of the four ranks of a core its receiver is in the
/// mean the second or third that has a turn; in a binomial tree, or where all exchange, it may be the last.
#[test]
fn the_next_of_a_chain_does_not_wait_for_all_others() {
    let hops = |collective, algorithm: &str| {
        let machine = Machine { tau: 0.0, t_c: 0.0, piped: Some(0.0), ..Machine::shared_memory(2) };
        let options = Options { algorithm: Some(algorithm.into()), ..Options::default() };
        let options = Options { packet: Some(Options::WHOLE), ..options };
        chosen(&Call::new(collective, 8, 1), &options, &machine).predicted / machine.hop
    };
    for (collective, algorithm, by_hand) in [
        (Collective::Scan, "chain", 7.0 * 2.5),
        (Collective::Broadcast, "chain", 7.0 * 2.5),
        (Collective::Broadcast, "sbt", 3.0 * 4.0),
        (Collective::Scan, "recursive_doubling", 3.0 * 4.0),
    ] {
        assert!((hops(collective, algorithm) - by_hand).abs() < 0.01, "{collective} along {algorithm}");
    }
}

/// By hand, of 4 ranks on two cores along the binomial tree, whole vectors copied once, two hops one after the other of three copies in all: what
/// does not stay in a core's cache takes 1.4 times as long to broadcast, and twice to combine, of which there are two. Packets stay there.
#[test]
fn messages_beyond_a_core_s_cache_come_from_memory() {
    const BYTES: usize = 1 << 20;
    let copies = |collective, cache, packet| {
        let machine = Machine { tau: 0.0, hop: 0.0, t_c: 1e-9, single_copy_from: Some(1), ..Machine::shared_memory(2) };
        let shared = machine.shared.map(|shared| SharedMemory { cache, ..shared });
        let options = Options { algorithm: Some("sbt".into()), packet: Some(packet), ..Options::default() };
        let call = Call::new(collective, 4, BYTES / ELEMENT);
        chosen(&call, &options, &Machine { shared, ..machine }).predicted / (BYTES as f64 * 1e-9) / (1.2 * 2.5)
    };
    for (collective, far, fits) in [(Collective::Broadcast, 1.4, BYTES), (Collective::Reduce, 2.0, 2 * BYTES)] {
        let in_packets = copies(collective, Some(fits), 1 << 10);
        for (cache, packet, by_hand) in [
            (Some(fits), Options::WHOLE, 1.0),
            (Some(fits - 1), Options::WHOLE, far),
            (None, Options::WHOLE, far),
            (Some(32 << 10), 1 << 10, in_packets),
            (Some(1 << 10), 1 << 10, far * in_packets),
        ] {
            let found = copies(collective, cache, packet);
            assert!(
                (found / by_hand - 1.0).abs() < 0.01,
                "{collective}, cache of {cache:?}: {found}, by hand {by_hand}"
            );
        }
    }
}
