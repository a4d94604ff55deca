//! The lists that a call has, of counts, displacements and datatypes, one entry a rank.

use super::{block_is_nowhere, How, Left, Native, WRONG};
use crate::communicator::Cube;
use crate::datatype::{Blocks, Data};
use crate::native::ffi::{MPI_Comm, MPI_Count, MPI_Datatype};
use crate::{session, turn};
use std::ffi::c_int;
use std::rc::Rc;

/// A list of counts or displacements, one a rank.
#[derive(Clone)]
pub enum List {
    Ints(*const c_int),
    Counts(*const MPI_Count),
    Addresses(*const isize),
    Kept(Rc<[i64]>),
}

/// Whose lists a call reads.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    All,
    Root(i64),
    /// Nobody's: they stand for nothing.
    None,
}

/// How many entries lists have that are read when a call is started, if that may be later: the program need not have them any more then.
///
/// # Safety
/// As MPI says of communicators.
pub(super) unsafe fn kept(native: &Native, comm: MPI_Comm, reads: Reads) -> Option<usize> {
    if !matches!(native.how, How::Prepares(_)) || !session::is_active() {
        return None;
    }
    let own = &*session::tables(&turn::take()).communicators.find(comm)?;
    let read = match reads {
        Reads::All => true,
        Reads::Root(root) => own.rank as i64 == root,
        Reads::None => false,
    };
    (read && !matches!(own.cube, Cube::Native(_))).then_some(own.size)
}

impl List {
    /// # Safety
    /// The list has it.
    pub unsafe fn get(&self, at: usize) -> i64 {
        match self {
            List::Ints(list) => (*list.add(at)).into(),
            List::Counts(list) => *list.add(at),
            List::Addresses(list) => *list.add(at) as i64,
            List::Kept(list) => list[at],
        }
    }

    /// Whether it is the same list of the program's, and not one like it.
    pub fn is(&self, other: &List) -> bool {
        match (self, other) {
            (List::Ints(one), List::Ints(other)) => one == other,
            (List::Counts(one), List::Counts(other)) => one == other,
            (List::Addresses(one), List::Addresses(other)) => one == other,
            _ => false,
        }
    }

    pub fn is_null(&self) -> bool {
        match self {
            List::Ints(list) => list.is_null(),
            List::Counts(list) => list.is_null(),
            List::Addresses(list) => list.is_null(),
            List::Kept(_) => false,
        }
    }

    /// A list that stays: see [`kept`].
    ///
    /// # Safety
    /// It has so many entries, if it is one.
    pub unsafe fn kept(self, entries: Option<usize>) -> List {
        match entries.filter(|_| !self.is_null()) {
            Some(entries) => List::Kept((0..entries).map(|at| self.get(at)).collect()),
            None => self,
        }
    }
}

/// Blocks of one datatype with the counts and displacements of lists. They make sense; what else there is to know of each is not worked out
/// for a call that may be MPI's.
pub(super) struct Listed<'l> {
    /// As if there were one element a rank.
    all: Data,
    counts: &'l List,
    displacements: &'l List,
    /// The bytes of the longest block.
    pub longest: usize,
}

impl<'l> Listed<'l> {
    /// # Safety
    /// The lists have as many entries as there are elements.
    pub unsafe fn of(all: Data, counts: &'l List, displacements: &'l List) -> Result<Listed<'l>, Left> {
        if counts.is_null() || displacements.is_null() {
            return Err(WRONG);
        }
        let mut most = 0;
        for rank in 0..all.count {
            let count = usize::try_from(counts.get(rank)).map_err(|_| WRONG)?;
            if block_is_nowhere(all.at.cast_const().cast(), displacements.get(rank) as isize, count, &all.layout) {
                return Err(WRONG);
            }
            most = most.max(count);
        }
        Ok(Listed { all, counts, displacements, longest: most * all.layout.size })
    }

    pub fn block(&self, rank: usize) -> Data {
        // SAFETY: there is an entry of each rank, and a count is no less than 0.
        let (count, displacement) = unsafe { (self.counts.get(rank), self.displacements.get(rank)) };
        let at = self.all.at.wrapping_offset(displacement as isize * self.all.layout.extent);
        Data { at, count: count as usize, ..self.all }
    }

    pub fn blocks(&self) -> Blocks {
        Blocks((0..self.all.count).map(|rank| self.block(rank)).collect())
    }
}

/// A list of datatypes, one a rank.
pub(super) struct Types {
    pub list: *const MPI_Datatype,
    _kept: Option<Rc<[MPI_Datatype]>>,
}

impl Types {
    /// # Safety
    /// As of [`List::kept`].
    pub unsafe fn of(list: *const MPI_Datatype, entries: Option<usize>) -> Types {
        let kept = entries.filter(|_| !list.is_null());
        let kept: Option<Rc<[_]>> = kept.map(|entries| (0..entries).map(|at| *list.add(at)).collect());
        Types { list: kept.as_ref().map_or(list, |kept| kept.as_ptr()), _kept: kept }
    }
}
