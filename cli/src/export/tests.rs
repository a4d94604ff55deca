//! What is exported, read back and replayed by what knows nothing but the formats.

use super::order::{steps, InFlight, Step};
use super::{goal, simgrid, Export, ExportArgs, Total, Work};
use crate::Failure;
use clap::Parser;
use hypercoll::algorithm::registry::ALGORITHMS;
use hypercoll::algorithm::verify::{schedules, verify};
use hypercoll::schedule::{Kind, Schedule};
use std::collections::{HashMap, HashSet, VecDeque};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: ExportArgs,
}

fn export(line: &str) -> Result<Export, Failure> {
    super::resolve(&Cli::parse_from(format!("export {line} --out nowhere").split_whitespace()).args)
}

/// Calls of every algorithm, with the line that names each.
fn calls() -> Vec<(String, Export)> {
    let mut calls = Vec::new();
    for algorithm in ALGORITHMS {
        for (size, rest) in [(1, "0"), (3, "0"), (6, "30"), (8, "30"), (8, "30 --packet 7"), (13, "30 --packet 7")] {
            for ports in algorithm.ports {
                let of = format!("{} {}", algorithm.collective.name(), algorithm.name);
                let line = format!("{of} --size {size} --ports {} --count {rest}", ports.name());
                if let Ok(export) = export(&line) {
                    calls.push((line, export));
                }
            }
        }
    }
    assert!(calls.len() > 300, "{} calls", calls.len());
    calls
}

/// A message: from, to, tag.
type Key = (usize, usize, usize);

#[derive(Clone, PartialEq, Debug)]
enum Action {
    Send(Key, u64),
    Receive(Key, u64),
    Wait(Key),
    WaitAll,
    Compute(f64),
}

/// Reads the trace of a rank: the rank in every line, `init` first, `finalize` last.
fn read_trace(text: &str, rank: usize) -> Vec<Action> {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    assert!(lines.iter().all(|words| words[0].parse() == Ok(rank)), "{text}");
    assert!(lines[0][1..] == ["init"] && lines[lines.len() - 1][1..] == ["finalize"], "{text}");
    let number = |word: &str| word.parse::<usize>().unwrap_or_else(|_| panic!("{word} in {text}"));
    let action = |words: &Vec<&str>| match words[1..] {
        ["isend", to, tag, bytes] => Action::Send((rank, number(to), number(tag)), number(bytes) as u64),
        ["irecv", from, tag, bytes] => Action::Receive((number(from), rank, number(tag)), number(bytes) as u64),
        ["wait", from, to, tag] => Action::Wait((number(from), number(to), number(tag))),
        ["waitall"] => Action::WaitAll,
        ["compute", flops] => Action::Compute(flops.parse().expect("flops")),
        _ => panic!("{words:?}"),
    };
    lines[1..lines.len() - 1].iter().map(action).collect()
}

fn traces(export: &Export) -> (Vec<Vec<Action>>, Total) {
    let mut total = Total::default();
    let trace = |schedule: Schedule| {
        let mut text = Vec::new();
        simgrid::trace(&schedule, export, &mut total, &mut text).expect("memory");
        read_trace(&String::from_utf8(text).expect("text"), schedule.rank)
    };
    (export.schedules().map(trace).collect(), total)
}

/// Runs traces with no buffer anywhere: a message is through when both its ends have started it. Messages and their bytes.
fn replay(traces: &[Vec<Action>], case: &str) -> (u64, u64) {
    let (mut sent, mut received) = (HashMap::new(), HashMap::new());
    let mut next = vec![0; traces.len()];
    let mut open: Vec<HashSet<Key>> = vec![HashSet::new(); traces.len()];
    loop {
        let mut moved = false;
        for rank in 0..traces.len() {
            while let Some(action) = traces[rank].get(next[rank]) {
                let through = |key: &Key| sent.contains_key(key) && received.contains_key(key);
                match action {
                    Action::Send(key, bytes) | Action::Receive(key, bytes) => {
                        let ends = if matches!(action, Action::Send(..)) { &mut sent } else { &mut received };
                        assert_eq!(ends.insert(*key, *bytes), None, "{case}: {key:?} twice");
                        open[rank].insert(*key);
                    }
                    Action::Wait(key) => {
                        assert!(open[rank].contains(key), "{case}: {key:?} is not under way");
                        if !through(key) {
                            break;
                        }
                        open[rank].remove(key);
                    }
                    Action::WaitAll if !open[rank].iter().all(through) => break,
                    Action::WaitAll => open[rank].clear(),
                    Action::Compute(_) => {}
                }
                next[rank] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let stuck: Vec<usize> = (0..traces.len()).filter(|&rank| next[rank] < traces[rank].len()).collect();
    assert!(stuck.is_empty(), "{case}: ranks {stuck:?} wait for ever");
    assert!(open.iter().all(HashSet::is_empty), "{case}: not waited for");
    assert_eq!(sent, received, "{case}");
    (sent.len() as u64, sent.values().sum())
}

fn check_total(export: &Export, total: &Total, replayed: (u64, u64), case: &str) {
    let cost = verify(export.algorithm, &export.call, &export.parameters).cost;
    let element = export.element as u64;
    assert_eq!((total.messages, total.bytes), (cost.messages as u64, cost.elements as u64 * element), "{case}");
    assert_eq!(replayed, (total.messages, total.bytes + total.empty), "{case}");
}

#[test]
fn traces_of_every_algorithm_come_to_their_end() {
    for (line, mut export) in calls() {
        for in_flight in [None, Some(1), Some(2)] {
            export.in_flight = in_flight;
            let case = format!("{line} --in-flight {in_flight:?}");
            let (traces, total) = traces(&export);
            check_total(&export, &total, replay(&traces, &case), &case);
        }
    }
}

/// The operations of a schedule as keys of messages, and which messages each needs, through copies and combinations.
fn needs(schedule: &Schedule) -> Vec<(Option<Key>, HashSet<Key>)> {
    let mut found: Vec<(Option<Key>, HashSet<Key>)> = Vec::new();
    for (index, operation) in schedule.operations().iter().enumerate() {
        let before = schedule.operations()[..index].iter().filter(|other| other.kind == operation.kind).count();
        let key = match operation.kind {
            Kind::Send { peer } => Some((schedule.rank, peer, before)),
            Kind::Receive { peer } => Some((peer, schedule.rank, before)),
            _ => None,
        };
        let dependencies = schedule.dependencies(operation).iter().map(|&need| need as usize);
        let mut all = HashSet::new();
        for need in dependencies.chain(0..schedule.opens(index)) {
            match &found[need] {
                (Some(key), _) => all.extend([*key]),
                (None, through) => all.extend(through),
            }
        }
        found.push((key, all));
    }
    found
}

#[test]
fn nothing_starts_before_what_it_needs() {
    let mut checked = 0;
    for (line, mut export) in calls() {
        for in_flight in [None, Some(1)] {
            export.in_flight = in_flight;
            for (trace, schedule) in traces(&export).0.iter().zip(export.schedules()) {
                let needs: HashMap<Key, HashSet<Key>> =
                    needs(&schedule).into_iter().filter_map(|(key, needs)| Some((key?, needs))).collect();
                let mut complete = HashSet::new();
                for action in trace {
                    match action {
                        Action::Send(key, _) | Action::Receive(key, _) => {
                            assert!(needs[key].is_subset(&complete), "{line} --in-flight {in_flight:?}: {key:?}");
                            checked += needs[key].len();
                        }
                        Action::Wait(key) => assert!(complete.insert(*key), "{line}"),
                        Action::WaitAll | Action::Compute(_) => {}
                    }
                }
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

/// With one turn under way, a rank of one port has sent a packet before it starts the next one; with all ports, to every peer.
#[test]
fn a_port_sends_one_message_after_the_other() {
    for (ports, line) in [
        ("one-port", "broadcast msbt --size 8 --count 60 --packet 4"),
        ("all-ports", "broadcast msbt --size 16 --count 60 --packet 2"),
        ("one-port", "broadcast circulant --size 13 --count 60 --packet 4"),
        ("one-port", "reduce msbt --size 8 --count 60 --packet 4"),
    ] {
        let mut export = export(&format!("{line} --ports {ports}")).unwrap_or_else(|_| panic!("{line}"));
        let mut most = |in_flight| {
            export.in_flight = in_flight;
            let (mut most, traces) = (0, traces(&export).0);
            replay(&traces, line);
            for trace in traces {
                let mut under_way: HashMap<(bool, usize), HashSet<Key>> = HashMap::new();
                for action in trace {
                    let port = |(from, to, _): Key, sends: bool| {
                        let peer = if sends { to } else { from };
                        (sends, if ports == "one-port" { 0 } else { peer })
                    };
                    match action {
                        Action::Send(key, _) | Action::Receive(key, _) => {
                            let keys = under_way.entry(port(key, matches!(action, Action::Send(..)))).or_default();
                            keys.insert(key);
                            most = most.max(keys.len());
                        }
                        Action::Wait(key) => under_way.values_mut().for_each(|keys| keys.retain(|&other| other != key)),
                        Action::WaitAll | Action::Compute(_) => {}
                    }
                }
            }
            most
        };
        assert_eq!([most(Some(1)), most(Some(2)), most(Some(3))], [1, 2, 3], "{line}");
        assert!(most(None) > 3, "{line}");
    }
}

/// The star of 2 ranks, by hand: rank 0 copies its block, and both exchange theirs.
#[test]
fn work_is_told_where_it_is_asked_for() {
    let mut export = export("all-reduce recursive_doubling --size 2 --count 5 --element-bytes 4").ok().expect("a call");
    export.work = Work { copy: 0.0, combine: 0.5, multiply: 0.0 };
    let flops = |export: &Export| {
        let all = traces(export).0.into_iter().flatten();
        all.filter_map(|action| if let Action::Compute(flops) = action { Some(flops) } else { None })
            .collect::<Vec<_>>()
    };
    assert_eq!(flops(&export), [10.0, 10.0]);
    export.work = Work::default();
    assert!(flops(&export).is_empty());
}

#[test]
fn copies_do_not_keep_sends_waiting() {
    // With all ports, what has come over one port is combined while other messages of the round go on.
    let export = export("reduce-scatter histogram --size 8 --count 21 --ports all-ports --symmetrized true")
        .ok()
        .expect("a call");
    for schedule in schedules(export.algorithm, &export.call, &export.parameters) {
        let steps = steps(&schedule, InFlight { turns: None, ports: export.parameters.ports });
        let sends = |index: usize| matches!(schedule.operations()[index].kind, Kind::Send { .. });
        let first_wait = steps.iter().position(|step| matches!(step, Step::Wait(_))).expect("a wait");
        let before = steps[..first_wait].iter().filter(|step| matches!(step, Step::Start(index) if sends(*index)));
        assert_eq!(before.count(), 3, "{schedule}{steps:?}");
    }
}

/// An operation of GOAL: what it is, and what it waits for.
#[derive(Default, Debug)]
struct Node {
    message: Option<(bool, Key, u64)>,
    requires: Vec<String>,
    started: Vec<String>,
}

fn read_goal(text: &str) -> Vec<HashMap<String, Node>> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let ranks: usize = lines.next().and_then(|line| line.strip_prefix("num_ranks ")?.parse().ok()).expect("ranks");
    let mut all: Vec<HashMap<String, Node>> = Vec::new();
    let mut within = false;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let rank = all.len().wrapping_sub(1);
        let number = |word: &str| word.parse::<usize>().unwrap_or_else(|_| panic!("{line}"));
        let bytes = |word: &str| word.strip_suffix('b').map(|bytes| number(bytes) as u64).expect("bytes");
        match words[..] {
            ["rank", number, "{"] => {
                assert!(!within && number.parse() == Ok(all.len()), "{line}");
                all.push(HashMap::new());
                within = true;
            }
            ["}"] => within = false,
            [after, kind @ ("requires" | "irequires"), before] => {
                assert!(all[rank].contains_key(before), "{line}: not known yet");
                let node = all[rank].get_mut(after).unwrap_or_else(|| panic!("{line}"));
                if kind == "requires" { &mut node.requires } else { &mut node.started }.push(before.into());
            }
            [label, ref what @ ..] => {
                let message = match *what {
                    ["send", size, "to", peer, "tag", tag] => {
                        Some((true, (rank, number(peer), number(tag)), bytes(size)))
                    }
                    ["recv", size, "from", peer, "tag", tag] => {
                        Some((false, (number(peer), rank, number(tag)), bytes(size)))
                    }
                    ["calc", time] => Some(number(time)).and(None),
                    _ => panic!("{line}"),
                };
                let label = label.strip_suffix(':').unwrap_or_else(|| panic!("{line}"));
                let node = Node { message, ..Node::default() };
                assert!(within && all[rank].insert(label.into(), node).is_none(), "{line}");
            }
            [] => {}
        }
    }
    assert!(!within && all.len() == ranks);
    all
}

/// Runs GOAL with no buffer anywhere.
fn replay_goal(ranks: &[HashMap<String, Node>], case: &str) -> (u64, u64) {
    let mut started: Vec<HashSet<&str>> = vec![HashSet::new(); ranks.len()];
    let mut complete = started.clone();
    let mut ends: HashMap<Key, Vec<(usize, &str, u64)>> = HashMap::new();
    // Whoever has moved lets others move; at first all may.
    let mut awake: VecDeque<usize> = (0..ranks.len()).collect();
    while let Some(rank) = awake.pop_front() {
        for (label, node) in &ranks[rank] {
            let free = node.requires.iter().all(|need| complete[rank].contains(need.as_str()))
                && node.started.iter().all(|need| started[rank].contains(need.as_str()));
            if !free || !started[rank].insert(label) {
                continue;
            }
            let ends = match node.message {
                None => vec![(rank, label.as_str(), 0)],
                Some((_, key, bytes)) => {
                    let ends = ends.entry(key).or_default();
                    ends.push((rank, label, bytes));
                    if ends.len() == 2 {
                        ends.clone()
                    } else {
                        vec![]
                    }
                }
            };
            for (rank, label, _) in &ends {
                complete[*rank].insert(label);
            }
            awake.extend(ends.iter().map(|(rank, ..)| *rank).chain([rank]));
        }
    }
    for (complete, rank) in complete.iter().zip(ranks) {
        assert_eq!(complete.len(), rank.len(), "{case}: not all complete");
    }
    for (key, ends) in &ends {
        assert!(ends.len() == 2 && ends[0].2 == ends[1].2 && ends[0].0 != ends[1].0, "{case}: {key:?} {ends:?}");
    }
    (ends.len() as u64, ends.values().map(|ends| ends[0].2).sum())
}

#[test]
fn goal_of_every_algorithm_comes_to_its_end() {
    for (line, export) in calls() {
        let (mut total, mut text) = (Total::default(), Vec::new());
        goal::write_to(&export, &mut total, &mut text).expect("memory");
        let ranks = read_goal(&String::from_utf8(text).expect("text"));
        check_total(&export, &total, replay_goal(&ranks, &line), &line);
        for (rank, schedule) in ranks.iter().zip(export.schedules()) {
            for (index, operation) in schedule.operations().iter().enumerate() {
                let node = &rank[&format!("l{index}")];
                for need in schedule.dependencies(operation) {
                    assert!(node.requires.contains(&format!("l{need}")), "{line}: {node:?}");
                }
                // All operations before the window are required, through the nodes that stand for them.
                let mut all: HashSet<&str> = HashSet::new();
                let mut open: Vec<&str> = node.requires.iter().map(String::as_str).collect();
                while let Some(label) = open.pop() {
                    if all.insert(label) && label.starts_with('p') {
                        open.extend(rank[label].requires.iter().map(String::as_str));
                    }
                }
                for before in 0..schedule.opens(index) {
                    assert!(all.contains(format!("l{before}").as_str()), "{line}: l{index} before l{before}");
                }
            }
        }
    }
}

/// Rank 0 of a broadcast by the binomial tree on 4 ranks: over port 0, then over port 1.
#[test]
fn goal_by_hand() {
    let export = export("broadcast sbt --size 4 --count 3 --ports one-port").ok().expect("a call");
    let (mut total, mut text) = (Total::default(), Vec::new());
    goal::write_to(&export, &mut total, &mut text).expect("memory");
    assert_eq!(
        String::from_utf8(text).expect("text"),
        "num_ranks 4\n\
         \nrank 0 {\nl0: send 24b to 1 tag 0\nl1: send 24b to 2 tag 0\n}\n\
         \nrank 1 {\nl0: recv 24b from 0 tag 0\nl1: send 24b to 3 tag 0\nl1 requires l0\n}\n\
         \nrank 2 {\nl0: recv 24b from 0 tag 0\n}\n\
         \nrank 3 {\nl0: recv 24b from 1 tag 0\n}\n"
    );
}

#[test]
fn in_flight_is_not_for_goal() {
    assert!(export("broadcast sbt --size 4 --count 3 --format goal --in-flight 1").is_err());
}
