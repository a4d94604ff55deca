//! Schedules: what one rank does in one collective call, as plain data.
//!
//! A [`Schedule`] is a list of operations on ranges of three buffers, with the dependencies that their read and write
//! hazards imply. It holds no pointer and knows no element type, so it can be cached, printed, checked, simulated and
//! drawn, and serves every element type of its call.
//!
//! The way to a schedule: an algorithm writes a [`Route`] for each node (which intervals travel over which port in
//! which round), [`fold()`] turns the routes of a rank's nodes into the rank's messages, [`place()`] finds the buffers,
//! and [`Builder`] derives the dependencies.
//!
//! # How a schedule is executed
//! Every executor, the simulator and the checker follow one rule. Operations are numbered in program order. Operation i
//! may start when its dependencies are complete, when the operation before it on its channel has started, and when
//! fewer than [`RunAhead::window`] operations separate it from the first incomplete one, or, where that is of an
//! earlier round, fewer than [`RunAhead::ahead`]; over links between hosts both may be less, or more. A channel is a peer and a
//! direction: messages between two ranks match in order. Nothing else orders operations: there are no barriers between
//! rounds.
//!
//! ```
//! use hypercoll::algorithm::{registry, verify, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//! use hypercoll::schedule::{check, Kind};
//!
//! // A broadcast of 10 elements from rank 0 to 4 ranks.
//! let sbt = registry::find(Collective::Broadcast, "sbt")?;
//! let call = Call::new(Collective::Broadcast, 4, 10);
//! let schedules = verify::schedules(sbt, &call, &Parameters::new(PortModel::OnePort));
//!
//! // Rank 1 receives from rank 0, then sends to rank 3.
//! let kinds: Vec<Kind> = schedules[1].operations().iter().map(|operation| operation.kind).collect();
//! assert_eq!(kinds, [Kind::Receive { peer: 0 }, Kind::Send { peer: 3 }]);
//!
//! let report = check(&call, &schedules, true);
//! assert!(report.violations.is_empty());
//! assert_eq!((report.cost.rounds, report.cost.messages), (2, 3));
//! # hypercoll::Result::Ok(())
//! ```

mod beginning;
mod builder;
mod check;
mod cost;
mod detour;
mod fold;
mod held;
mod intervals;
mod place;
mod prefix;
mod problem;
mod route;
mod run_ahead;
mod scratch;

pub(crate) use beginning::Beginning;
pub use builder::Builder;
pub use check::{check, Report, Violation};
pub use cost::{legal, Cost, PortModel};
pub use fold::{fold, Message, Messages};
pub use place::place;
pub use problem::Problem;
pub use route::{Multiplication, PartOf, Route, Transfer};
pub(crate) use run_ahead::messages_under_way;
pub use run_ahead::RunAhead;
pub(crate) use scratch::MEMORY_USED_ONCE;

pub use crate::address::Hosting;
pub use crate::collective::Avoided;

use crate::collective::Buffer;
use std::fmt;
use std::ops::Range;

/// A range of a buffer, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferRange {
    /// Which buffer.
    pub buffer: Buffer,
    /// First element.
    pub offset: usize,
    /// Number of elements.
    pub len: usize,
}

impl BufferRange {
    /// The elements as a range of indices.
    pub fn indices(&self) -> Range<usize> {
        self.offset..self.offset + self.len
    }
}

/// Which operand of a reduction the incoming value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// `into = from op into`.
    Left,
    /// `into = into op from`.
    Right,
}

/// What an operation does with its ranges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// One message to a peer, the ranges one after another.
    Send {
        /// The receiving rank.
        peer: usize,
    },
    /// One message from a peer, into the ranges one after another.
    Receive {
        /// The sending rank.
        peer: usize,
    },
    /// The first range into the second.
    Copy,
    /// The first range combined into the second.
    Combine {
        /// Which operand the first range is.
        side: Side,
    },
    /// The product of the first two ranges, matrices stored by rows, added to the third.
    Multiply {
        /// Columns of the first matrix, rows of the second: at least 1.
        inner: usize,
    },
}

impl Kind {
    /// Whether an operation of this kind writes the range at `position` of its ranges.
    pub fn writes(self, position: usize) -> bool {
        match self {
            Kind::Send { .. } => false,
            Kind::Receive { .. } => true,
            Kind::Copy | Kind::Combine { .. } => position == 1,
            Kind::Multiply { .. } => position == 2,
        }
    }
}

/// One operation of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// The routing step of the paper, for cost, pictures and the checker; executors ignore it.
    pub round: usize,
    ranges: Range<u32>,
    dependencies: Range<u32>,
    successors: Range<u32>,
    channel_predecessor: Option<u32>,
    channel_successor: Option<u32>,
}

/// What one rank does in one collective call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The rank.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// Elements of scratch memory.
    pub scratch: usize,
    /// How far the rank runs ahead of its first incomplete operation.
    pub run_ahead: RunAhead,
    /// Whether messages are cut into packets, so that several of a round between two ranks are one message of the algorithm's.
    pub cut: bool,
    operations: Vec<Operation>,
    ranges: Vec<BufferRange>,
    dependencies: Vec<u32>,
    successors: Vec<u32>,
    /// For each operation the first one of its round.
    rounds: Vec<u32>,
}

impl Schedule {
    /// How many operations, from the first, must be complete before an operation may start. It is no less for later operations.
    pub fn opens(&self, index: usize) -> usize {
        self.run_ahead.opens(index, self.rounds[index] as usize)
    }

    /// The same for a call that nobody waits for yet: never more.
    pub(crate) fn opens_unattended(&self, index: usize) -> usize {
        self.run_ahead.opens_unattended(index)
    }

    /// The operations in program order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The ranges of an operation: the parts of a message, or sources and target.
    pub fn ranges(&self, operation: &Operation) -> &[BufferRange] {
        &self.ranges[operation.ranges.start as usize..operation.ranges.end as usize]
    }

    /// The operations that must be complete before this one starts.
    pub fn dependencies(&self, operation: &Operation) -> &[u32] {
        &self.dependencies[operation.dependencies.start as usize..operation.dependencies.end as usize]
    }

    /// The operations that wait for this one to complete.
    pub fn successors(&self, operation: &Operation) -> &[u32] {
        &self.successors[operation.successors.start as usize..operation.successors.end as usize]
    }

    /// The operation before this one on the same channel, which must have started before this one starts.
    pub fn channel_predecessor(&self, operation: &Operation) -> Option<u32> {
        operation.channel_predecessor
    }

    /// The operation after this one on the same channel.
    pub fn channel_successor(&self, operation: &Operation) -> Option<u32> {
        operation.channel_successor
    }

    /// Elements that an operation moves.
    pub fn len(&self, operation: &Operation) -> usize {
        match operation.kind {
            Kind::Send { .. } | Kind::Receive { .. } => self.ranges(operation).iter().map(|r| r.len).sum(),
            Kind::Copy | Kind::Combine { .. } => self.ranges(operation)[1].len,
            Kind::Multiply { .. } => self.ranges(operation)[2].len,
        }
    }

    /// Messages that the rank sends.
    pub fn messages_sent(&self) -> usize {
        self.operations.iter().filter(|o| matches!(o.kind, Kind::Send { .. })).count()
    }

    /// Elements that the rank sends.
    pub fn elements_sent(&self) -> usize {
        self.operations.iter().filter(|o| matches!(o.kind, Kind::Send { .. })).map(|o| self.len(o)).sum()
    }
}

impl fmt::Display for BufferRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buffer = match self.buffer {
            Buffer::Send => "send",
            Buffer::Receive => "receive",
            Buffer::Scratch => "scratch",
        };
        write!(f, "{buffer}[{}..{}]", self.offset, self.offset + self.len)
    }
}

impl fmt::Display for Schedule {
    /// One operation a line: number, round, what, ranges, dependencies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "rank {} of {}, scratch {}, window {}", self.rank, self.size, self.scratch, self.run_ahead.window)?;
        for (index, operation) in self.operations.iter().enumerate() {
            let ranges: Vec<String> = self.ranges(operation).iter().map(|r| r.to_string()).collect();
            let what = match operation.kind {
                Kind::Send { peer } => format!("send {} to {peer}", ranges.join(" ")),
                Kind::Receive { peer } => format!("receive {} from {peer}", ranges.join(" ")),
                Kind::Copy => format!("copy {}", ranges.join(" to ")),
                Kind::Combine { side: Side::Left } => format!("combine {} (left) into {}", ranges[0], ranges[1]),
                Kind::Combine { side: Side::Right } => format!("combine {} (right) into {}", ranges[0], ranges[1]),
                Kind::Multiply { inner } => {
                    format!("multiply {} by {} (inner side {inner}) into {}", ranges[0], ranges[1], ranges[2])
                }
            };
            write!(f, "{index:4} round {:3}  {what}", operation.round)?;
            match self.dependencies(operation) {
                [] => writeln!(f)?,
                needs => writeln!(f, "  requires {needs:?}")?,
            }
        }
        Ok(())
    }
}
