//! From the routes of nodes to the messages of a rank: the one place that knows that a rank may play two nodes.
//!
//! * Transfers between the two nodes of one rank move nothing: both see the same memory.
//! * Where both nodes of a rank would be sent the same data, only the delivery that comes first stays (of two in one
//!   round, that to the lower node), and the other node's sends are fed from the copy at hand. Sender and receiver
//!   decide this by the same rule from the same routes, so they agree without a word.
//! * Transfers of one round between the same two ranks become one message.
//!
//! A reduction is its broadcast run backwards, after all this: [`Messages::reversed`]. So a rank that is sent everything
//! once sends everything once, and no contribution is counted twice.

use super::problem::Problem;
use super::route::{Multiplication, PartOf, Route};
use std::collections::HashMap;
use std::ops::Range;

/// One message of a rank: intervals of the space, ascending, neighbours joined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The routing step.
    pub round: usize,
    /// The other rank.
    pub peer: usize,
    /// Whether this rank sends (else it receives).
    pub sends: bool,
    /// Whether the receiver combines the data with its own (else it takes the place of none).
    pub combines: bool,
    /// What the data becomes part of, in a prefix sum.
    pub part_of: PartOf,
    /// The rank at the other end, which decides the side of an operand: the peer, or beyond it where a message goes a way
    /// round.
    pub partner: usize,
    /// Passes through this rank, which neither keeps nor combines it; both its messages carry the same number.
    pub through: Option<usize>,
    /// Which packet of the round's messages it is; 0 unless messages were cut.
    pub part: usize,
    pub(super) pieces: Range<usize>,
}

/// All messages of a rank, by round, sends first.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Messages {
    rank: usize,
    rounds: usize,
    flows: bool,
    list: Vec<Message>,
    pieces: Vec<Range<usize>>,
    multiplications: Vec<Multiplication>,
}

impl Messages {
    /// No messages yet, and the same products, where every round has become `stride` rounds.
    pub(super) fn stretched(&self, stride: usize) -> Messages {
        let later = |m: &Multiplication| Multiplication { round: m.round * stride, ..m.clone() };
        let multiplications = self.multiplications.iter().map(later).collect();
        Messages { rank: self.rank, rounds: self.rounds * stride, multiplications, ..Messages::default() }
    }

    /// Adds a message with its intervals.
    pub(super) fn push(&mut self, message: Message, pieces: &[Range<usize>]) {
        let start = self.pieces.len();
        self.pieces.extend_from_slice(pieces);
        self.list.push(Message { pieces: start..self.pieces.len(), ..message });
    }

    /// The messages sorted by round, within a round sends first, else as they were.
    pub(super) fn in_order(mut self) -> Messages {
        self.list.sort_by_key(|message| (message.round, !message.sends));
        self
    }

    /// States that nodes do not wait for each other's rounds, so that a receive may start in an earlier one's time.
    pub fn flowing(mut self, flows: bool) -> Messages {
        self.flows = flows;
        self
    }

    /// Whether nodes do not wait for each other's rounds.
    pub(super) fn flows(&self) -> bool {
        self.flows
    }

    /// The messages, by round, within a round sends first, then by peer.
    pub fn list(&self) -> &[Message] {
        &self.list
    }

    /// The intervals of a message.
    pub fn pieces(&self, message: &Message) -> &[Range<usize>] {
        &self.pieces[message.pieces.clone()]
    }

    /// About how many operations carry out the messages: one for each, and one to combine what comes.
    pub(super) fn operations(&self) -> usize {
        self.list.len() + self.list.iter().filter(|message| message.combines && !message.sends).count()
    }

    /// The products that the rank computes, by round.
    pub fn multiplications(&self) -> &[Multiplication] {
        &self.multiplications
    }

    /// The same messages, but none of more than `packet` elements: longer ones become several, which follow one another. Both
    /// ends cut alike. The first packets of all messages of a round come first, then the second ones, and so on, so that
    /// every packet travels on as soon as it is there, whatever is still to come behind it.
    pub fn cut(self, packet: usize) -> Messages {
        let packets = |m: &Message| self.pieces(m).iter().map(Range::len).sum::<usize>().div_ceil(packet).max(1);
        let most = self.list.iter().map(packets).max().unwrap_or(0);
        if most <= 1 {
            return self;
        }
        let mut cut = self.stretched(1).flowing(true);
        for message in &self.list {
            let (mut part, mut room) = (0, packet);
            let mut pieces = Vec::new();
            let mut close = |part: &mut usize, pieces: &mut Vec<Range<usize>>| {
                let through = message.through.map(|id| id * most + *part);
                cut.push(Message { part: *part, through, ..message.clone() }, pieces);
                pieces.clear();
                *part += 1;
            };
            for piece in self.pieces(message) {
                let mut at = piece.start;
                while at < piece.end {
                    if room == 0 {
                        close(&mut part, &mut pieces);
                        room = packet;
                    }
                    let end = piece.end.min(at + room);
                    pieces.push(at..end);
                    room -= end - at;
                    at = end;
                }
            }
            close(&mut part, &mut pieces);
        }
        cut.list.sort_by_key(|message| (message.round, message.part));
        cut
    }

    /// Elements of the message that was cut into packets of which this is one.
    pub(super) fn uncut(&self, message: &Message) -> usize {
        let same = |m: &&Message| (m.round, m.peer, m.sends) == (message.round, message.peer, message.sends);
        let begin = self.list.partition_point(|m| m.round < message.round);
        let round = self.list[begin..].iter().take_while(|m| m.round == message.round);
        round.filter(same).flat_map(|m| self.pieces(m)).map(Range::len).sum()
    }

    /// The messages of the opposite collective: in the opposite order and direction, what was copied now `combines`
    /// (reduction) or moves (gather). Of the messages of one round those of the nearest ranks come first, so that a
    /// reduction joins neighbouring intervals of ranks.
    pub fn reversed(mut self, combines: bool) -> Messages {
        self.list.reverse();
        for message in &mut self.list {
            message.round = self.rounds - 1 - message.round;
            message.sends = !message.sends;
            message.combines = combines;
        }
        let rank = self.rank;
        for round in self.list.chunk_by_mut(|a, b| a.round == b.round) {
            round.sort_by_key(|m| (!m.sends, m.peer.abs_diff(rank), m.peer));
        }
        self
    }

    /// The same messages, of which each is combined with what its receiver has.
    pub fn combining(mut self) -> Messages {
        self.list.iter_mut().for_each(|message| message.combines = true);
        self
    }

    /// These messages, then others, in later rounds.
    pub fn then(mut self, other: Messages) -> Messages {
        let shift = self.pieces.len();
        self.pieces.extend(other.pieces);
        self.list.extend(other.list.into_iter().map(|m| Message {
            round: m.round + self.rounds,
            pieces: m.pieces.start + shift..m.pieces.end + shift,
            ..m
        }));
        let later = |m: Multiplication| Multiplication { round: m.round + self.rounds, ..m };
        self.multiplications.extend(other.multiplications.into_iter().map(later));
        self.rounds += other.rounds;
        self
    }
}

/// An interval of a message: the round, whether it is received, the other rank, and what it becomes part of.
type Part = (usize, bool, usize, Range<usize>, PartOf);

/// The messages of `rank`, given how to write the route of any node.
pub fn fold(problem: &Problem, rank: usize, write: &dyn Fn(&Problem, usize, &mut Route)) -> Messages {
    let hosting = problem.hosting;
    let own = hosting.node(rank);
    let mut deliveries = Deliveries { problem, write, known: HashMap::new() };
    let mut parts: Vec<Part> = Vec::new();
    let (mut rounds, mut multiplications) = (0, Vec::new());
    for node in std::iter::once(own).chain(hosting.twin(own)) {
        let mut route = Route::new();
        write(problem, node, &mut route);
        rounds = rounds.max(route.rounds());
        multiplications.extend_from_slice(route.multiplications());
        for transfer in route.transfers() {
            let peer = hosting.host(transfer.peer);
            if peer == rank {
                continue;
            }
            let pieces = route.pieces(transfer);
            let mut part = |piece| parts.push((transfer.round, !transfer.sends, peer, piece, transfer.part_of));
            if pieces.is_empty() {
                part(0..0);
            }
            let to = if transfer.sends { transfer.peer } else { node };
            for piece in pieces {
                match hosting.twin(to).filter(|_| problem.call.collective.replicates()) {
                    None => part(piece.clone()),
                    Some(twin) => deliveries.first(to, twin, transfer.round, piece, &mut part),
                }
            }
        }
    }
    let place = |peer: usize| problem.place(peer);
    // Each way through the rank is written in order, as a rule: a sort that finds what is in order only merges these.
    parts.sort_by_key(|(round, receives, peer, piece, _)| (*round, *receives, place(*peer), piece.start));

    multiplications.sort_by_key(|m: &Multiplication| m.round);

    let mut messages = Messages { rank, rounds, multiplications, ..Messages::default() };
    let of_one_message = |a: &Part, b: &Part| (a.0, a.1, a.2) == (b.0, b.1, b.2);
    messages.list.reserve_exact(parts.chunk_by(of_one_message).count());
    messages.pieces.reserve_exact(parts.len());
    for (round, receives, peer, piece, part_of) in parts {
        let same = |m: &Message| (m.round, m.sends, m.peer) == (round, !receives, peer);
        if !messages.list.last().is_some_and(same) {
            let start = messages.pieces.len();
            messages.list.push(Message {
                round,
                peer,
                sends: !receives,
                combines: false,
                part_of,
                partner: peer,
                through: None,
                part: 0,
                pieces: start..start,
            });
        }
        let (Some(message), false) = (messages.list.last_mut(), piece.is_empty()) else { continue };
        match messages.pieces[message.pieces.clone()].last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => {
                messages.pieces.push(piece);
                message.pieces.end += 1;
            }
        }
    }
    messages
}

/// When each interval reaches a node, for the nodes of ranks that play two.
struct Deliveries<'a> {
    problem: &'a Problem<'a>,
    write: &'a dyn Fn(&Problem, usize, &mut Route),
    known: HashMap<usize, Vec<(Range<usize>, usize)>>,
}

impl Deliveries<'_> {
    /// Those parts of a delivery to `node` that its twin does not get before. What is never delivered to a node with a rank
    /// of its own was there from the start; to one without, the algorithm sends nothing.
    fn first(
        &mut self,
        node: usize,
        twin: usize,
        round: usize,
        piece: &Range<usize>,
        keep: &mut impl FnMut(Range<usize>),
    ) {
        let others = self.known.entry(twin).or_insert_with(|| {
            let mut route = Route::new();
            (self.write)(self.problem, twin, &mut route);
            let received = route.transfers().iter().filter(|t| !t.sends);
            let mut all: Vec<_> = received.flat_map(|t| route.pieces(t).iter().map(|p| (p.clone(), t.round))).collect();
            all.sort_unstable_by_key(|(p, _)| p.start);
            all
        });
        let starts_empty = self.problem.hosting.owner(twin).is_none();
        let mut keep_if = |wanted: bool, start: usize, end: usize| {
            if wanted && start < end {
                keep(start..end);
            }
        };
        let mut at = piece.start;
        let begin = others.partition_point(|(p, _)| p.end <= piece.start);
        for (other, when) in others[begin..].iter().take_while(|(p, _)| p.start < piece.end) {
            keep_if(starts_empty, at, other.start);
            let end = other.end.min(piece.end);
            keep_if((*when, twin) > (round, node), at.max(other.start), end);
            at = end;
        }
        keep_if(starts_empty, at, piece.end);
    }
}
