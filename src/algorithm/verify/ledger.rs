//! What all ranks send, by what an algorithm's routes say: from the routes of all nodes at once and from the definitions of folding,
//! of reversal, of detours and of packets, not by the code that does all this rank by rank.

use super::super::{Algorithm, Form, Parameters, PortModel, Write};
use crate::collective::Call;
use crate::schedule::{Kind, Problem, Route, Schedule, Violation};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// By round, sender and receiver: what goes over that link in that round.
#[derive(Default)]
pub struct Ledger(BTreeMap<(usize, usize, usize), Sent>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sent {
    messages: usize,
    elements: usize,
    /// The elements of the longest message.
    longest: usize,
}

/// What a node is sent in a round.
struct Delivery {
    round: usize,
    from: usize,
    to: usize,
    pieces: Vec<Range<usize>>,
}

impl Ledger {
    /// What schedules send.
    pub fn of_schedules(schedules: &[Schedule]) -> Ledger {
        let mut ledger = Ledger::default();
        for schedule in schedules {
            for operation in schedule.operations() {
                if let Kind::Send { peer } = operation.kind {
                    let sent = ledger.0.entry((operation.round, schedule.rank, peer)).or_default();
                    let elements = schedule.len(operation);
                    sent.messages += 1;
                    sent.elements += elements;
                    sent.longest = sent.longest.max(elements);
                }
            }
        }
        ledger
    }

    /// What the routes say.
    pub fn of_routes(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> Ledger {
        let own = &algorithm.own(parameters);
        let problem = Problem::new(call);
        let forward = |write: Write| Ledger::folded(&problem, own, write);
        let (ledger, _) = match algorithm.form {
            Form::Forward(write) | Form::Combining(write) => forward(write),
            Form::Backward(write) => reversed(forward(write)),
            Form::BackwardForward(up, down) => then(reversed(forward(up)), forward(down)),
            Form::Between(ends, middle) => then(then(reversed(forward(ends)), forward(middle)), forward(ends)),
        };
        let ledger = match &call.avoid {
            None => ledger,
            Some(_) => ledger.around(call, own.ports == PortModel::OneWay),
        };
        match parameters.packet.filter(|_| algorithm.cuts(parameters.ports)) {
            None => ledger,
            Some(packet) => {
                let cut = |Sent { elements, .. }: Sent| Sent {
                    messages: elements.div_ceil(packet).max(1),
                    elements,
                    longest: elements.min(packet),
                };
                Ledger(ledger.0.into_iter().map(|(link, sent)| (link, cut(sent))).collect())
            }
        }
    }

    /// From nodes to ranks, with the rounds that the routes state.
    fn folded(problem: &Problem, parameters: &Parameters, write: Write) -> (Ledger, usize) {
        let hosting = problem.hosting;
        let (mut rounds, mut deliveries) = (0, Vec::new());
        for from in 0..problem.nodes() {
            let mut route = Route::new();
            write(problem, parameters, from, &mut route);
            rounds = rounds.max(route.rounds());
            for transfer in route.transfers().iter().filter(|transfer| transfer.sends) {
                let pieces = route.pieces(transfer).to_vec();
                deliveries.push(Delivery { round: transfer.round, from, to: transfer.peer, pieces });
            }
        }
        if problem.call.collective.replicates() {
            for node in (0..problem.nodes()).filter(|&node| hosting.owner(node).is_none()) {
                if let Some(twin) = hosting.twin(node) {
                    deliver_once(&mut deliveries, twin, node);
                }
            }
            deliveries.retain(|delivery| !delivery.pieces.is_empty());
        }
        let mut ledger = Ledger::default();
        for Delivery { round, from, to, pieces } in deliveries {
            let (from, to) = (hosting.host(from), hosting.host(to));
            if from != to {
                let sent = ledger.0.entry((round, from, to)).or_default();
                sent.messages = 1;
                sent.elements += pieces.iter().map(Range::len).sum::<usize>();
                sent.longest = sent.elements;
            }
        }
        (ledger, rounds)
    }

    /// What goes over links to be avoided goes the ways round them, in the rounds that each round of the algorithm makes room for.
    fn around(self, call: &Call, one_way: bool) -> Ledger {
        let Some(avoid) = &call.avoid else { return self };
        let (detours, stride) = avoid.ways(call.in_order_of_nodes(), one_way);
        let mut ledger = Ledger::default();
        for ((round, from, to), sent) in self.0 {
            match detours.iter().find(|(way, _)| (way.first(), way.last()) == (Some(&from), Some(&to))) {
                None => _ = ledger.0.insert((round * stride, from, to), sent),
                Some((way, first)) => {
                    for (hop, ends) in way.windows(2).enumerate() {
                        ledger.0.insert((round * stride + first + hop, ends[0], ends[1]), sent);
                    }
                }
            }
        }
        ledger
    }

    /// Where these differ from what is expected.
    pub fn differences(&self, expected: &Ledger) -> impl Iterator<Item = Violation> + '_ {
        let links: BTreeSet<_> = self.0.keys().chain(expected.0.keys()).copied().collect();
        let both = links.into_iter().map(|link| {
            let sent = |ledger: &Ledger| ledger.0.get(&link).copied().unwrap_or_default();
            (link, sent(self), sent(expected))
        });
        let differing: Vec<_> = both.filter(|(_, found, expected)| found != expected).collect();
        differing.into_iter().map(|((round, from, to), found, expected)| Violation::Route {
            round,
            from,
            to,
            found: [found.messages, found.elements, found.longest],
            expected: [expected.messages, expected.elements, expected.longest],
        })
    }
}

/// The opposite collective: rounds and links the other way round.
fn reversed((ledger, rounds): (Ledger, usize)) -> (Ledger, usize) {
    let turned = ledger.0.into_iter().map(|((round, from, to), sent)| ((rounds - 1 - round, to, from), sent));
    (Ledger(turned.collect()), rounds)
}

/// One after the other.
fn then((mut first, before): (Ledger, usize), (second, after): (Ledger, usize)) -> (Ledger, usize) {
    first.0.extend(second.0.into_iter().map(|((round, from, to), sent)| ((before + round, from, to), sent)));
    (first, before + after)
}

/// Of data that reaches both nodes of a rank, `own` and `other`, which has nothing at the start, only what comes to the one of them
/// that it reaches first is left; of two in one round the lower node. What does not reach the rank's own node was there from the
/// start.
fn deliver_once(deliveries: &mut [Delivery], own: usize, other: usize) {
    let ours: Vec<usize> = (0..deliveries.len()).filter(|&at| [own, other].contains(&deliveries[at].to)).collect();
    let ends: BTreeSet<usize> =
        ours.iter().flat_map(|&at| deliveries[at].pieces.iter().flat_map(|p| [p.start, p.end])).collect();
    let ends: Vec<usize> = ends.into_iter().collect();
    let mut kept: Vec<Vec<Range<usize>>> = vec![Vec::new(); deliveries.len()];
    for part in ends.windows(2).map(|ends| ends[0]..ends[1]) {
        let holds = |at: &usize| deliveries[*at].pieces.iter().any(|p| p.start <= part.start && part.end <= p.end);
        let arrivals: Vec<usize> = ours.iter().copied().filter(holds).collect();
        if arrivals.iter().any(|&at| deliveries[at].to == own) {
            let first = arrivals.iter().map(|&at| (deliveries[at].round, deliveries[at].to)).min();
            let there = arrivals.iter().filter(|&&at| first.is_some_and(|(_, node)| deliveries[at].to == node));
            there.for_each(|&at| kept[at].push(part.clone()));
        }
    }
    for at in ours {
        deliveries[at].pieces = std::mem::take(&mut kept[at]);
    }
}
