//! The choice, held against what was measured, and against what links need: on real links by `scripts/fabric run -- hypercoll bench
//! --experiment fabric --algorithms auto`, with the file of `hypercoll tune` before it.

mod shared_memory;

use hypercoll::address::Hosts;
use hypercoll::algorithm::PortModel;
use hypercoll::algorithm::PortModel::{AllPorts, OnePort};
use hypercoll::collective::{Call, Collective, Layout};
use hypercoll::schedule::Kind;
use hypercoll::select::tuning::Tuning;
use hypercoll::select::{candidates, choose, Alone, Choice, Machine, Options};

/// Links of a fixed rate, and what was measured on them.
struct Network {
    name: &'static str,
    /// A link's bits per second, in each direction.
    rate: f64,
    /// The tuning file.
    file: &'static str,
    /// Of each call the collective, elements of 8 bytes, an algorithm, the bytes of its packets (0: whole messages) and the median in
    /// seconds. (The port model was not written down.)
    forms: &'static str,
}

const NETWORKS: [Network; 7] = [
    Network {
        name: "cube1",
        rate: 50e6,
        file: include_str!("../measured/cube1.toml"),
        forms: include_str!("../measured/cube1.tsv"),
    },
    Network {
        name: "cube2",
        rate: 50e6,
        file: include_str!("../measured/cube2.toml"),
        forms: include_str!("../measured/cube2.tsv"),
    },
    Network {
        name: "cube3",
        rate: 50e6,
        file: include_str!("../measured/cube3.toml"),
        forms: include_str!("../measured/cube3.tsv"),
    },
    Network {
        name: "cube4",
        rate: 20e6,
        file: include_str!("../measured/cube4.toml"),
        forms: include_str!("../measured/cube4.tsv"),
    },
    Network {
        name: "cube5",
        rate: 5e6,
        file: include_str!("../measured/cube5.toml"),
        forms: include_str!("../measured/cube5.tsv"),
    },
    Network {
        name: "star8",
        rate: 50e6,
        file: include_str!("../measured/star8.toml"),
        forms: include_str!("../measured/star8.tsv"),
    },
    Network {
        name: "star16",
        rate: 25e6,
        file: include_str!("../measured/star16.toml"),
        forms: include_str!("../measured/star16.tsv"),
    },
];

/// Other forms of the same calls, measured on networks of the same links by earlier versions of the library: the name of the network,
/// then as above.
const EARLIER: &str = include_str!("../measured/earlier.tsv");

const ELEMENT: usize = 8;
/// Messages longer than this are predicted to within a tenth.
const LONG: usize = 64 << 10;
/// How many times the least time the choice may take.
const WITHIN: f64 = 1.07;

/// A form of a call, measured.
struct Form {
    collective: Collective,
    count: usize,
    algorithm: &'static str,
    /// In elements.
    packet: Option<usize>,
    seconds: f64,
}

fn form(line: &'static str) -> Form {
    let cells: Vec<&str> = line.split('\t').collect();
    let number = |at: usize| cells[at].parse::<usize>().expect("a number");
    let collective = cells[0].parse::<Collective>().expect("a collective");
    let packet = Some(number(3) / ELEMENT).filter(|packet| *packet > 0);
    let seconds = cells[4].parse().expect("a time");
    Form { collective, count: number(1), algorithm: cells[2], packet, seconds }
}

impl Network {
    fn tuning(&self) -> Tuning {
        Tuning::parse(self.file).expect("a tuning file")
    }

    fn forms(&self) -> Vec<Form> {
        self.forms.lines().map(form).collect()
    }

    fn earlier(&self) -> Vec<Form> {
        EARLIER.lines().filter_map(|line| line.strip_prefix(self.name)?.strip_prefix('\t')).map(form).collect()
    }

    /// The least seconds that links of this rate need for the bytes of a call, whatever the algorithm: of N hosts, with n ports each on a
    /// cube and one on a star. 1448 bytes of data are 1514 on a link.
    fn limit(&self, call: &Call) -> f64 {
        let (ranks, bytes) = (call.size as f64, (call.count * ELEMENT) as f64);
        let cube = self.name.starts_with("cube");
        let ports = if cube { ranks.log2() } else { 1.0 };
        let through_a_port = match call.collective {
            // All of it leaves the root, or the sender, or arrives there.
            Collective::Broadcast | Collective::Reduce | Collective::Send | Collective::Exchange => bytes / ports,
            // The blocks of all others leave a host, or arrive there.
            Collective::Scatter | Collective::Gather | Collective::AllGather | Collective::ReduceScatter => {
                (ranks - 1.0) * bytes / ports
            }
            // All of it, but a host's own part, once to be combined and once combined.
            Collective::AllReduce => 2.0 * (1.0 - 1.0 / ranks) * bytes / ports,
            // On a cube half of all blocks cross each dimension.
            Collective::AllToAll if cube => ranks / 2.0 * bytes,
            Collective::AllToAll => (ranks - 1.0) * bytes,
            // From rank r to N - 1 - r: over n links of a cube, all of which carry as much.
            Collective::Permute => bytes,
            other => panic!("{other} was not measured"),
        };
        through_a_port * 1514.0 / 1448.0 * 8.0 / self.rate
    }
}

fn chosen(call: &Call, options: &Options, machine: &Machine) -> Choice {
    choose(call, ELEMENT, options, machine).expect("a choice")
}

/// What is chosen has been measured, and took no longer than the best form that was measured, and no longer than the links need, but
/// for a few hundredths. (Of a few KiB links let more pass at once: there the limit is no bound, and other forms tell more.)
#[test]
fn on_links_the_choice_takes_the_least_time() {
    let (mut calls, mut unknown, mut slow) = (0, Vec::new(), Vec::new());
    for network in &NETWORKS {
        let (tuning, forms, earlier) = (network.tuning(), network.forms(), network.earlier());
        for &Form { collective, count, .. } in &forms {
            let call = Call::new(collective, tuning.machine.ranks, count);
            let choice = chosen(&call, &Options::default(), &tuning.machine(None));
            let what = format!("{}: {collective} of {count}: {choice:?}", network.name);
            let same_call =
                || forms.iter().chain(&earlier).filter(|form| (form.collective, form.count) == (collective, count));
            let found = (choice.algorithm.name, choice.parameters.packet);
            let best = same_call().map(|form| form.seconds).fold(f64::INFINITY, f64::min);
            match same_call().find(|form| (form.algorithm, form.packet) == found) {
                None => unknown.push(what),
                Some(form) if form.seconds > WITHIN * best.min(network.limit(&call)) => {
                    slow.push((what, form.seconds, best))
                }
                Some(_) => {}
            }
            calls += 1;
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
    assert!(unknown.is_empty(), "to be measured, and added to tests/measured: {unknown:#?}");
    assert_eq!(calls, 242);
}

/// Whatever is chosen now.
#[test]
fn on_links_long_messages_take_the_time_that_is_predicted() {
    let (mut long, mut off) = (0, Vec::new());
    for network in &NETWORKS {
        let tuning = network.tuning();
        for form in network.forms().into_iter().filter(|form| form.count * ELEMENT > LONG) {
            let call = Call::new(form.collective, tuning.machine.ranks, form.count);
            let options = Options { algorithm: Some(form.algorithm.into()), packet: form.packet, ..Options::default() };
            let served = candidates(&call, ELEMENT, &options, &tuning.machine(None)).expect("an algorithm").serving;
            let same = served.iter().find(|candidate| candidate.parameters.packet == form.packet).expect("a form");
            let ratio = same.predicted / form.seconds;
            if !(0.9..1.1).contains(&ratio) {
                let Form { collective, count, algorithm, .. } = form;
                off.push(format!("{}: {collective} of {count}: {algorithm} predicted {ratio:.2} times", network.name));
            }
            long += 1;
        }
    }
    assert!(off.is_empty() && long >= 110, "{long} {off:#?}");
}

/// On stars of 8 and 9 hosts, in microseconds (AMD EPYC, 26 November 2026): a broadcast of 1 KiB by `binary` 188, by `chain` 393, by
/// `direct` 1288, as `postal` was then; a reduce 176, 424, 1294. An all-reduce of 512 B on 9 hosts by `leaders` 274, by `shift` 727; three days
/// later, on an Intel Xeon, by `leaders` 260, by `lanes` 505, and of 4 KiB by `lanes` 1189, by `shift` 1229 and by `binary` 2083.
#[test]
fn on_stars_no_port_is_held_up_by_short_messages() {
    let machine = NETWORKS.iter().find(|network| network.name == "star8").expect("a star").tuning().machine(None);
    // As measured on the star of 9 on that Xeon, where no file tells.
    let alone = Some(Alone { tau: 13e-6, hop: 24e-6 });
    let nine = Machine { tau: 32e-6, hop: 34e-6, alone, ..machine.clone() };
    let cases = [
        (Collective::Broadcast, 9, 1 << 10, "binary"),
        (Collective::Reduce, 9, 1 << 10, "binary"),
        (Collective::AllReduce, 9, 512, "leaders"),
        (Collective::AllReduce, 9, 4 << 10, "lanes"),
        (Collective::AllReduce, 8, 64, "recursive_doubling"),
    ];
    for (collective, ranks, bytes, fastest) in cases {
        let machine = if ranks == 9 { &nine } else { &machine };
        let choice = chosen(&Call::new(collective, ranks, bytes / ELEMENT), &Options::default(), machine);
        assert_eq!(choice.algorithm.name, fastest, "{collective} of {bytes} B on {ranks}: {choice:?}");
    }
    // A rank that sends to all others is not taken for one that sends as much as what waits for each other.
    let call = Call::new(Collective::Broadcast, 8, (1 << 10) / ELEMENT);
    let serving = candidates(&call, ELEMENT, &Options::default(), &machine).expect("some").serving;
    let seconds = |name| serving.iter().find(|candidate| candidate.algorithm.name == name).map(|one| one.predicted);
    let (direct, binary) = (seconds("direct").expect("direct"), seconds("binary").expect("binary"));
    assert!(direct > 3.0 * binary, "{direct} {binary}");
}

/// 8 B on stars of 5 hosts, with what the library measured in the same run, in microseconds: a reduce (AMD EPYC, 27 November 2026), of which
/// `postal` was predicted to take 151, as the headers of its messages were counted twice; and a broadcast (Intel Xeon, 28 November 2026), of
/// which `direct` was predicted to take 156, as if each of its messages were answered by one.
#[test]
fn on_few_hosts_short_messages_go_directly() {
    let reduce = [("direct", 49.0), ("postal", 52.7), ("two_level", 53.4), ("sbt", 71.9), ("binary", 102.3)];
    let broadcast = [("two_level", 59.3), ("direct", 62.4), ("postal", 62.2), ("sbt", 83.6), ("binary", 71.8)];
    let measured = |tau, hop, t_c, burst| Machine { tau, hop, t_c, burst, ..Machine::network() };
    for (collective, machine, times) in [
        (Collective::Reduce, measured(28.424e-6, 26.689e-6, 169.8658e-9, 15_324), reduce),
        (Collective::Broadcast, measured(20.807e-6, 18.854e-6, 171.7724e-9, 14_812), broadcast),
    ] {
        let choice = chosen(&Call::new(collective, 5, 1), &Options::default(), &machine);
        let time = times.iter().find(|(name, _)| *name == choice.algorithm.name).map(|(_, time)| *time);
        assert!(time.is_some_and(|time| time <= 1.1 * times[0].1), "{choice:?}");
    }
}

/// On stars without a tuning file, in microseconds (AMD EPYC, 27 November 2026). 8 hosts: broadcast of 2 KiB by `msbt` in packets of 688 B 303,
/// by `hamiltonian_path`, which was chosen, 517, reduce 387 and 552. 16 hosts, 8 KiB in packets of 2 KiB:
/// broadcast 2548, by `hamiltonian_path` 4734, reduce 2150, 3638.
#[test]
fn short_vectors_go_all_ways_of_the_cube() {
    let measured = |tau, hop, t_c| Machine { tau, hop, t_c, burst: 14_000, ..Machine::network() };
    let (star8, star16) = (measured(26e-6, 41e-6, 1.7e-7), measured(68e-6, 178e-6, 3.25e-7));
    for collective in [Collective::Broadcast, Collective::Reduce] {
        for (machine, ranks, bytes, packet) in [(&star8, 8, 2 << 10, 688), (&star16, 16, 8 << 10, 2 << 10)] {
            let choice = chosen(&Call::new(collective, ranks, bytes / ELEMENT), &Options::default(), machine);
            let (name, cut) = (choice.algorithm.name, choice.parameters.packet);
            assert_eq!((name, cut), ("msbt", Some(packet / ELEMENT)), "{collective} of {bytes} B on {ranks}");
        }
    }
}

/// Milliseconds of blocks (of all-reduce, of a vector) of 64 B on the cube of 16 hosts, in one message a round, and symmetrised, in one a
/// port. (All-reduce: recursive doubling, and the other one symmetrised.)
const ROUNDS_OR_PORTS: [(Collective, f64, f64); 4] = [
    (Collective::AllGather, 0.98, 2.05),
    (Collective::AllToAll, 1.18, 2.79),
    (Collective::ReduceScatter, 1.23, 2.13),
    (Collective::AllReduce, 1.21, 1.58),
];

#[test]
fn on_cubes_short_messages_go_one_at_a_time() {
    let machine = NETWORKS[3].tuning().machine(None);
    for (collective, a_round, a_port) in ROUNDS_OR_PORTS {
        let ports = chosen(&Call::new(collective, 16, 8), &Options::default(), &machine).parameters.ports;
        let best = if a_round < a_port { PortModel::OnePort } else { PortModel::AllPorts };
        assert_eq!(ports, best, "{collective}");
    }
}

/// On all cubes, by hand: half of the blocks of 64 B, which is the longest message, are far less than a link lets pass at once, so that
/// start-ups are all that counts. One after the other, n of them are the fewest (in each round at most twice as many hosts know
/// something as before); forms that use all ports in each of n rounds start up to n^2. (From one root it is hops that count: on cubes of 8
/// and 16 hosts a scatter of 8 B with n messages one after the other took 125 and 680 us, with more messages and fewer hops 124 and 450.)
#[test]
fn on_cubes_short_messages_are_as_few_as_can_be() {
    for network in &NETWORKS[2..5] {
        let machine = network.tuning().machine(None);
        let ranks = network.tuning().machine.ranks;
        assert!(ranks / 2 * 64 < machine.burst / 6);
        for collective in
            [Collective::AllGather, Collective::AllToAll, Collective::ReduceScatter, Collective::AllReduce]
        {
            let call = Call::new(collective, ranks, 8);
            let choice = chosen(&call, &Options::default(), &machine);
            let messages = (0..ranks).map(|rank| {
                let schedule = choice.algorithm.schedule(&call, &choice.parameters, rank);
                schedule.operations().iter().filter(|operation| matches!(operation.kind, Kind::Send { .. })).count()
            });
            assert_eq!(messages.max(), Some(ranks.ilog2() as usize), "{}: {collective}: {choice:?}", network.name);
        }
    }
}

/// Blocks of lengths by Zipf's law, of 64 KiB in the mean, a quarter of them empty, whoever has the longest: what is chosen is predicted to
/// keep all links of the busiest rank busy, and blocks of equal lengths, said one by one, get what they get otherwise.
#[test]
fn on_cubes_all_links_share_long_blocks() {
    for network in &NETWORKS[1..5] {
        let tuning = network.tuning();
        let (machine, ranks) = (tuning.machine(None), tuning.machine.ranks);
        let law = |k: usize| if 4 * k <= 3 * ranks { (k as f64).powf(-1.25) } else { 0.0 };
        let unit = (ranks * LONG / ELEMENT) as f64 / (1..=ranks).map(law).sum::<f64>();
        for (collective, first) in [Collective::Scatter, Collective::Gather, Collective::AllGather]
            .into_iter()
            .flat_map(|collective| [(collective, 1), (collective, ranks - 1)])
        {
            let lengths: Vec<usize> = (0..ranks).map(|rank| (law((rank ^ first) + 1) * unit) as usize).collect();
            // Of a scatter or gather the choice sees the sum and the longest, and not how long the root's own block is.
            let all = lengths.iter().sum::<usize>();
            let busiest = if collective == Collective::AllGather { all } else { all - all / ranks };
            let limit = network.limit(&Call::new(Collective::Broadcast, ranks, busiest));
            let call = Call::new(collective, ranks, 0).with_layout(Layout::of_vectors(lengths));
            let choice = chosen(&call, &Options::default(), &machine);
            assert_eq!(choice.algorithm.name, "msbt", "{}: {collective}: {choice:?}", network.name);
            let of_limit = limit / choice.predicted;
            assert!((0.85..1.03).contains(&of_limit), "{}: {collective}: {of_limit} of the limit", network.name);
            let equal = Call::new(collective, ranks, LONG / ELEMENT);
            let alike = equal.clone().with_layout(Layout::of_vectors(vec![LONG / ELEMENT; ranks]));
            let [alike, equal] =
                [&alike, &equal].map(|call| chosen(call, &Options::default(), &machine).algorithm.name);
            assert_eq!(alike, equal, "{}: {collective}", network.name);
        }
    }
}

/// Of an all-to-all with blocks of different lengths a rank knows its own. All choose alike, over links what is right for long blocks, and
/// each predicts what its own take.
#[test]
fn blocks_that_only_their_two_ranks_know_go_as_long_ones_over_links() {
    let known = |rank: usize, ranks: usize, unit: usize| {
        let length = |from: usize, to: usize| unit * (1 + (3 * from + to) % 4) * (to % 3);
        let sends = Vec::from_iter((0..ranks).map(|to| length(rank, to)));
        let receives = Vec::from_iter((0..ranks).map(|from| length(from, rank)));
        Call::new(Collective::AllToAll, ranks, 0).with_layout(Layout::of_row(rank, &sends, &receives))
    };
    let chosen_by = |ranks: usize, unit: usize, machine: &Machine| {
        let by = |rank| chosen(&known(rank, ranks, unit), &Options::default(), machine);
        let choices = Vec::from_iter((0..ranks).map(by));
        let form = |choice: &Choice| (choice.algorithm.name, choice.parameters);
        assert!(choices.iter().all(|choice| form(choice) == form(&choices[0])), "{choices:?}");
        (form(&choices[0]), choices[0].predicted)
    };
    for network in NETWORKS.iter().filter(|network| network.name.starts_with("star")) {
        let tuning = network.tuning();
        let (machine, ranks) = (tuning.machine(None), tuning.machine.ranks);
        let equal = chosen(&Call::new(Collective::AllToAll, ranks, LONG / ELEMENT), &Options::default(), &machine);
        let (short, soon) = chosen_by(ranks, 1, &machine);
        let (long, late) = chosen_by(ranks, LONG / ELEMENT, &machine);
        assert_eq!(short, long, "{}", network.name);
        assert_eq!(long, (equal.algorithm.name, equal.parameters), "{}", network.name);
        assert!(long.1.packet.is_some_and(|packet| packet * ELEMENT < LONG), "{}: {long:?}", network.name);
        assert!(
            10.0 * soon < late && equal.predicted < late && late < 3.0 * equal.predicted,
            "{soon} {late} {equal:?}"
        );
    }
}

/// Blocks of 32 B on the cube of 8 hosts, a message a round: the algorithms of n start-ups.
#[test]
fn what_is_asked_for_takes_no_form_away_that_serves_it() {
    let machine = NETWORKS[2].tuning().machine(None);
    for (collective, algorithm) in [
        (Collective::AllGather, "complete_broadcast"),
        (Collective::AllToAll, "complete_exchange"),
        (Collective::ReduceScatter, "histogram"),
    ] {
        let options = [
            Options::default(),
            Options { packet: Some(100_000), ..Options::default() },
            Options { symmetrized: Some(false), ..Options::default() },
        ];
        for options in options {
            let choice = chosen(&Call::new(collective, 8, 4), &options, &machine);
            let found = (choice.algorithm.name, choice.parameters.ports);
            assert_eq!(found, (algorithm, PortModel::OnePort), "{collective} {options:?}");
        }
    }
}

/// A call: the collective, bytes, and microseconds by algorithm and port model.
type Short = (Collective, usize, &'static [(&'static str, PortModel, f64)]);

/// Short messages on the star of 8 hosts, on two machines.
const SHORT: [(&str, &[Short]); 2] = [
    (
        include_str!("../measured/star8.toml"),
        &[
            (Collective::AllReduce, 64, &[("recursive_doubling", OnePort, 144.0), ("histogram", OnePort, 243.0)]),
            (Collective::AllReduce, 1024, &[("histogram", OnePort, 334.0), ("recursive_doubling", OnePort, 437.0)]),
            (Collective::AllReduce, 4096, &[("histogram", OnePort, 1224.0), ("recursive_doubling", OnePort, 2058.0)]),
            (Collective::AllGather, 64, &[("complete_broadcast", OnePort, 150.0), ("pairwise_xor", OnePort, 188.0)]),
            (
                Collective::Broadcast,
                4096,
                &[
                    ("hamiltonian_path", OnePort, 664.0),
                    ("msbt", OnePort, 836.0),
                    ("hamiltonian_path_middle", OnePort, 1378.0),
                ],
            ),
        ],
    ),
    (
        include_str!("../measured/star8-slower-processors.toml"),
        &[
            (Collective::AllReduce, 1024, &[("recursive_doubling", OnePort, 458.0), ("histogram", OnePort, 704.0)]),
            (Collective::AllReduce, 4096, &[("histogram", OnePort, 1050.0), ("histogram", AllPorts, 1353.0)]),
            (Collective::AllGather, 512, &[("complete_broadcast", OnePort, 499.0), ("pairwise_xor", OnePort, 566.0)]),
            (
                Collective::Broadcast,
                4096,
                // On a third machine, one run of 28 November 2026, `msbt` in the packets that are chosen here, 1368 bytes. (On the machine of the
                // others `hamiltonian_path` took 785, and its middle 1222.)
                &[("msbt", OnePort, 668.0), ("hamiltonian_path", OnePort, 709.0)],
            ),
        ],
    ),
];

#[test]
fn on_stars_short_messages_take_the_least_time() {
    for (file, calls) in SHORT {
        let tuning = Tuning::parse(file).expect("a tuning file");
        for &(collective, bytes, forms) in calls {
            let call = Call::new(collective, tuning.machine.ranks, bytes / ELEMENT);
            let choice = chosen(&call, &Options::default(), &tuning.machine(None));
            let what = format!("{collective} of {bytes} B: {choice:?}");
            let same =
                |form: &&(&str, PortModel, f64)| (form.0, form.1) == (choice.algorithm.name, choice.parameters.ports);
            let time = forms.iter().find(same).unwrap_or_else(|| panic!("not measured: {what}")).2;
            assert!(forms.iter().all(|form| time <= WITHIN * form.2), "{what}: {time} us");
        }
    }
}

/// Long vectors on stars of 50 Mbit/s whose hosts are no power of two: round the ring .973 of the limit or more, every time (6, 9 and 12
/// hosts, 1 and 4 MiB). By shifts, of which the model would say as much but for their hops, 4 MiB on 12 hosts took from 1.32 to 1.98 s.
#[test]
fn on_stars_a_long_all_reduce_goes_round_the_ring() {
    let machine = NETWORKS[5].tuning().machine(None);
    for (ranks, bytes) in [6, 9, 12].into_iter().flat_map(|ranks| [(ranks, 1 << 20), (ranks, 4 << 20)]) {
        let call = Call::new(Collective::AllReduce, ranks, bytes / ELEMENT);
        let choice = chosen(&call, &Options::default(), &machine);
        assert_eq!(choice.algorithm.name, "ring", "{ranks} ranks, {bytes} B: {choice:?}");
        let of_limit = NETWORKS[5].limit(&call) / choice.predicted;
        assert!((0.95..1.0).contains(&of_limit), "{ranks} ranks, {bytes} B: {of_limit} of the limit");
    }
}

/// On a star of 12 hosts blocks of 64 KiB took 121 ms by `direct`, and 147 by `two_level`, whose leaders send last what comes last, both in
/// packets of 4 KiB; of 6 hosts two have one block to pass on.
#[test]
fn on_stars_a_long_scatter_goes_directly() {
    let machine = NETWORKS[5].tuning().machine(None);
    for ranks in [6, 7, 9, 12, 16] {
        let call = Call::new(Collective::Scatter, ranks, (64 << 10) / ELEMENT);
        let found = candidates(&call, ELEMENT, &Options::default(), &machine).expect("sound").serving;
        assert_eq!(found[0].algorithm.name, "direct", "{ranks} ranks: {:?}", found[0]);
        let passed_on = found.iter().find(|one| one.algorithm.name == "two_level").expect("it serves");
        let times = passed_on.predicted / found[0].predicted;
        let wide = if ranks == 12 { 1.18..1.28 } else { 1.05..1.6 };
        assert!(wide.contains(&times), "{ranks} ranks: {times} times");
    }
}

/// On a star of 12 hosts twelve calls of 256 KiB took 487 ms in pairs (median; the longest 518), and 497 by `shift` (684); on 6 hosts of 2
/// ranks 898 and 927, packets of 4 KiB all.
#[test]
fn on_stars_of_an_even_number_long_blocks_are_exchanged_in_pairs() {
    let machine = NETWORKS[5].tuning().machine(None);
    let hosts = |numbers: &[usize]| Hosts::with_ranks(numbers, true);
    for (ranks, hosts, pairs) in [
        (6, None, true),
        (12, None, true),
        (12, hosts(&[2; 6]), true),
        (7, None, false),
        (9, None, false),
        (15, hosts(&[3; 5]), false),
        (10, hosts(&[4, 3, 2, 1]), false),
        // By `pairwise_xor` .74 of the hosts' limit.
        (8, hosts(&[3, 3, 2]), false),
        (34, None, false),
    ] {
        let call = Call { hosts, ..Call::new(Collective::AllToAll, ranks, (256 << 10) / ELEMENT) };
        let choice = chosen(&call, &Options::default(), &machine);
        assert_eq!(choice.algorithm.name, if pairs { "one_factor" } else { "shift" }, "{ranks} ranks: {choice:?}");
    }
}

/// Bytes of vectors or blocks on the cube of 8 hosts with 2 ranks each, the algorithm that took the least time, in packets
/// of 8 KiB, and its median in milliseconds. (Where trees took no notice of hosts, a broadcast of 1 MiB took 98.65, a scatter 56.86.)
const TWO_RANKS_A_HOST: [(Collective, usize, &str, f64); 9] = [
    (Collective::Broadcast, 1 << 20, "msbt", 59.91),
    (Collective::Broadcast, 4 << 20, "msbt", 239.98),
    (Collective::Reduce, 1 << 20, "msbt", 60.08),
    (Collective::Reduce, 4 << 20, "msbt", 242.78),
    (Collective::AllReduce, 1 << 20, "histogram", 106.90),
    (Collective::Scatter, 64 << 10, "sbg", 51.09),
    (Collective::Gather, 64 << 10, "sbg", 51.32),
    (Collective::AllGather, 64 << 10, "complete_broadcast", 52.15),
    (Collective::AllToAll, 64 << 10, "complete_exchange", 178.49),
];

/// Trees go from host to host, and take the time that is predicted.
#[test]
fn on_a_cube_of_hosts_with_several_ranks_the_choice_counts_what_crosses_links() {
    let tuning = Tuning::parse(include_str!("../measured/cube3-two-ranks.toml")).expect("a tuning file");
    for (collective, bytes, algorithm, time) in TWO_RANKS_A_HOST {
        let hosts = Hosts::with_ranks(&[2; 8], false);
        let call = Call { hosts, ..Call::new(collective, tuning.machine.ranks, bytes / ELEMENT) };
        let choice = chosen(&call, &Options::default(), &tuning.machine(None));
        let ratio = choice.predicted * 1e3 / time;
        assert_eq!(
            (choice.algorithm.name, choice.parameters.packet),
            (algorithm, Some(1024)),
            "{collective} of {bytes} B"
        );
        assert!((0.9..1.1).contains(&ratio), "{collective} of {bytes} B: predicted {ratio:.2} times");
        // Nor does the packet depend on what a measurement makes of what links let pass at once: 11 to 15 KiB on these links.
        let others = [12 << 10, 14464, 15 << 10].map(|burst| Machine { burst, ..tuning.machine(None) });
        for machine in others {
            let packet = chosen(&call, &Options::default(), &machine).parameters.packet;
            assert!(packet.is_some_and(|packet| packet <= 1024), "{collective} of {bytes} B: {packet:?}");
        }
        // Its links stand still more than is known: 197 ms, where as long as for `complete_exchange` is predicted.
        let found = candidates(&call, ELEMENT, &Options::default(), &tuning.machine(None)).expect("sound").serving;
        let still = |name| collective == Collective::AllToAll && name == "sbnt";
        assert!(found.iter().all(|one| !still(one.algorithm.name)), "{found:?}");
    }
}

/// A choice that is asked for again is the same to the last parameter, also where the library would rather take packets.
#[test]
fn exactly_leaves_nothing_open() {
    let machine = Machine::network();
    for collective in Collective::ALL.into_iter().filter(|collective| collective.has_data()) {
        let call = Call::new(collective, 8, 1 << 19);
        for candidate in candidates(&call, 8, &Options::default(), &machine).expect("sound").serving {
            let asked = Options::exactly(candidate.algorithm, &candidate.parameters);
            let choice = choose(&call, 8, &asked, &machine).expect("what serves");
            assert_eq!((choice.algorithm.name, choice.parameters), (candidate.algorithm.name, candidate.parameters));
        }
    }
}
