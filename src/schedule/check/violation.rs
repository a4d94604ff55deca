//! What a check can find.

use crate::schedule::PortModel;
use std::fmt;

/// What is wrong with a set of schedules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// The schedules are not one for each rank, in order.
    Ranks {
        /// Whose schedules there are.
        found: Vec<usize>,
        /// Ranks of the call.
        size: usize,
    },
    /// An operation reaches beyond a buffer or writes the send buffer.
    Bounds {
        /// The rank.
        rank: usize,
        /// Index of the operation.
        operation: usize,
        /// The range.
        range: String,
    },
    /// Two conflicting operations that no dependency orders.
    Hazard {
        /// The rank.
        rank: usize,
        /// The earlier operation.
        first: usize,
        /// The later one.
        second: usize,
    },
    /// Unequal numbers of sends and receives between two ranks.
    Unmatched {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Sends.
        sends: usize,
        /// Receives.
        receives: usize,
    },
    /// A send and its receive differ in length.
    Length {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Which message between them.
        message: usize,
        /// Elements sent.
        sent: usize,
        /// Elements expected.
        expected: usize,
    },
    /// A send and its receive are in different rounds.
    Rounds {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Which message between them.
        message: usize,
        /// Round of the send.
        sent: usize,
        /// Round of the receive.
        expected: usize,
    },
    /// A message between ranks that are no neighbours.
    NotAnEdge {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A message over a link that must carry nothing.
    Avoided {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A send waits for data that arrive in its own round or later, so the round numbers mean nothing.
    Round {
        /// The rank.
        rank: usize,
        /// Index of the send.
        operation: usize,
        /// Its round.
        round: usize,
        /// The round of what it waits for.
        needs: usize,
    },
    /// More in one round than the ports allow.
    Ports {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The port model.
        ports: PortModel,
    },
    /// Without buffering some ranks wait for ever.
    Deadlock(Vec<(usize, usize)>),
    /// Two operands of a reduction are different elements of the vector, or one is undefined; or two factors are no slabs that
    /// meet in the block to which their product is added.
    Operands {
        /// The rank.
        rank: usize,
        /// Index of the operation.
        operation: usize,
    },
    /// The result is not what the collective means.
    Postcondition {
        /// The rank.
        rank: usize,
        /// Offset in the receive buffer.
        offset: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// A rank may leave a barrier before another has entered it.
    Barrier {
        /// The rank that may leave.
        rank: usize,
        /// The ranks that it has not heard of.
        missing: Vec<usize>,
    },
    /// An operation waits for another one without cause: no range that one of them writes is the other's too.
    Needless {
        /// The rank.
        rank: usize,
        /// Index of the operation.
        operation: usize,
        /// What it waits for.
        needs: usize,
    },
    /// Something else goes over a link in a round than the algorithm's routes say.
    Route {
        /// The round.
        round: usize,
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Messages of the schedules, their elements in all, and of the longest.
        found: [usize; 3],
        /// Those of the routes.
        expected: [usize; 3],
    },
    /// The cost is not the paper's.
    Formula {
        /// Which figure.
        what: &'static str,
        /// The schedule's.
        found: String,
        /// The paper's.
        expected: String,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Ranks { found, size } => write!(f, "schedules of ranks {found:?} for a call on {size} ranks"),
            Violation::Bounds { rank, operation, range } => {
                write!(f, "rank {rank}, operation {operation}: {range} is out of bounds or not writable")
            }
            Violation::Hazard { rank, first, second } => {
                write!(f, "rank {rank}: operations {first} and {second} touch the same elements and are not ordered")
            }
            Violation::Unmatched { from, to, sends, receives } => {
                write!(f, "{from} to {to}: {sends} sends, {receives} receives")
            }
            Violation::Length { from, to, message, sent, expected } => {
                write!(f, "{from} to {to}, message {message}: {sent} elements sent, {expected} expected")
            }
            Violation::Rounds { from, to, message, sent, expected } => {
                write!(f, "{from} to {to}, message {message}: sent in round {sent}, expected in round {expected}")
            }
            Violation::NotAnEdge { from, to } => write!(f, "{from} to {to}: not a cube edge"),
            Violation::Avoided { from, to } => write!(f, "{from} to {to}: a message over a link that is to be avoided"),
            Violation::Round { rank, operation, round, needs } => write!(
                f,
                "rank {rank}, operation {operation}: sent in round {round}, but waits for data of round {needs}"
            ),
            Violation::Ports { rank, round, ports } => {
                write!(f, "rank {rank}, round {round}: more messages than {ports} allows")
            }
            Violation::Deadlock(stuck) => write!(f, "deadlock: {stuck:?} (rank, operation) wait for ever"),
            Violation::Operands { rank, operation } => {
                write!(f, "rank {rank}, operation {operation}: combines values that do not belong together")
            }
            Violation::Postcondition { rank, offset, found, expected } => {
                write!(f, "rank {rank}: receive buffer at {offset} holds {found}, not {expected}")
            }
            Violation::Barrier { rank, missing } => {
                write!(f, "rank {rank} may leave the barrier before ranks {missing:?} have entered")
            }
            Violation::Needless { rank, operation, needs } => {
                write!(f, "rank {rank}: operation {operation} waits for {needs} without cause")
            }
            Violation::Route { round, from, to, found, expected } => {
                let said = |[messages, elements, longest]: [usize; 3]| {
                    format!("{messages} messages of {elements} elements in all, the longest of {longest}")
                };
                write!(
                    f,
                    "round {round}, {from} to {to}: {}; the algorithm's routes say {}",
                    said(*found),
                    said(*expected)
                )
            }
            Violation::Formula { what, found, expected } => write!(f, "{what}: {found}, the formula says {expected}"),
        }
    }
}

impl std::error::Error for Violation {}
