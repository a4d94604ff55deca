//! What a case is: what one rank calls and what the others call, and what is to come of it.

use crate::rank::Rank;
use hypercoll::{Error, Result};
use std::panic::Location;

/// What is to come of a case.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// A mismatch; the error names the odd rank, and the source lines of both calls.
    Differ,
    /// A mismatch of calls in which no rank is odder than others, or which are in one line.
    Disagree,
    /// The odd rank's arguments are refused.
    Refused,
    /// The odd rank lets go of its communicator.
    Leaves,
    /// The odd rank's arguments are refused, and it lets go of its communicator.
    RefusedAndLeaves,
    /// The odd rank panics in a call.
    Panics,
    /// The odd rank and another one differ in the length of a block.
    Lengths,
    /// The same, and the odd rank sends none at all.
    Unsent,
}

impl Kind {
    /// Whether the odd rank makes no calls after its own.
    pub fn leaves(self) -> bool {
        matches!(self, Kind::Leaves | Kind::RefusedAndLeaves)
    }
}

/// Which rank is odd.
#[derive(Clone, Copy)]
enum Odd {
    /// One or another.
    Any,
    First,
    Last,
}

pub type Code = fn(&mut Rank) -> Result<()>;

#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub kind: Kind,
    /// Where it is in the file of the cases.
    pub line: u32,
    odd: Odd,
    codes: [Code; 2],
    least: usize,
}

impl Case {
    /// The odd rank, which is another one in every case.
    pub fn odd(&self, index: usize, size: usize) -> usize {
        match self.odd {
            Odd::Any => index % size,
            Odd::First => 0,
            Odd::Last => size - 1,
        }
    }

    pub fn run(&self, rank: &mut Rank, is_odd: bool) -> Result<()> {
        (self.codes[usize::from(!is_odd)])(rank)
    }

    /// What the odd rank calls before it leaves; what is wrong with that.
    pub fn leave(&self, rank: &mut Rank) -> std::result::Result<(), String> {
        match (self.kind, self.run(rank, true)) {
            (Kind::Leaves, Ok(())) => Ok(()),
            (Kind::RefusedAndLeaves, Err(error)) if !matches!(error, Error::Mismatch { .. }) => Ok(()),
            (_, outcome) => Err(format!("before it leaves: {outcome:?}")),
        }
    }

    pub fn serves(&self, size: usize) -> bool {
        size >= self.least
    }

    /// For so many ranks and more.
    pub fn from(self, least: usize) -> Case {
        Case { least, ..self }
    }

    pub fn kind(self, kind: Kind) -> Case {
        Case { kind, ..self }
    }

    pub fn first(self) -> Case {
        Case { odd: Odd::First, ..self }
    }

    pub fn last(self) -> Case {
        Case { odd: Odd::Last, ..self }
    }
}

/// The name, what the odd rank calls, and what the others do, each in a line of its own.
#[track_caller]
pub fn case(name: &'static str, odd: Code, others: Code) -> Case {
    let line = Location::caller().line();
    Case { name, kind: Kind::Differ, line, odd: Odd::Any, codes: [odd, others], least: 2 }
}
