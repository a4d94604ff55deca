//! The lists that a call has, of counts, displacements and datatypes, one entry a rank.

use super::{block_is_nowhere, How, Left, Native, WRONG};
use crate::communicator::Cube;
use crate::datatype::{Blocks, Data, Layout};
use crate::native::ffi::{MPI_Comm, MPI_Count, MPI_Datatype};
use crate::{session, turn};
use std::ffi::{c_int, c_void};
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

/// Whether a count makes sense, whatever the datatype.
#[inline]
pub fn is_short(count: i64) -> bool {
    (0..=i64::from(c_int::MAX)).contains(&count)
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

    /// The largest of so many counts, if none is one that MPI refuses, and there are displacements.
    ///
    /// # Safety
    /// The list has so many entries, if it is one.
    #[inline]
    pub unsafe fn most(&self, displacements: &List, entries: usize) -> Option<usize> {
        if entries > 0 && (self.is_null() || displacements.is_null()) {
            return None;
        }
        let mut counts = (0..entries).map(|rank| self.get(rank));
        counts.try_fold(0, |most, count| is_short(count).then(|| most.max(count as usize)))
    }

    /// What a reduction sees in counts on which it depends how it is made: the largest, and whether they are all the same. As [`List::most`].
    ///
    /// # Safety
    /// The list has so many entries, if it is one.
    #[inline]
    pub unsafe fn seen(&self, entries: usize) -> Option<usize> {
        let most = self.most(self, entries)?;
        let differ = (0..entries).any(|rank| self.get(rank) != most as i64);
        Some(most | usize::from(differ) << c_int::BITS)
    }

    /// The first count, if there is one.
    ///
    /// # Safety
    /// The list has an entry, if it is one.
    #[inline]
    pub unsafe fn first(&self) -> i64 {
        if self.is_null() {
            0
        } else {
            self.get(0)
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
    /// Where the displacements begin.
    at: *mut u8,
    datatype: MPI_Datatype,
    layout: Layout,
    ranks: usize,
    counts: &'l List,
    displacements: &'l List,
    /// The elements of the longest block.
    pub most: usize,
}

impl<'l> Listed<'l> {
    /// Blocks of so many ranks.
    ///
    /// # Safety
    /// The lists have as many entries.
    pub unsafe fn of(
        ranks: usize,
        (at, datatype, layout): (*const c_void, MPI_Datatype, Layout),
        counts: &'l List,
        displacements: &'l List,
    ) -> Result<Listed<'l>, Left> {
        if counts.is_null() || displacements.is_null() {
            return Err(WRONG);
        }
        let mut most = 0;
        for rank in 0..ranks {
            let count = usize::try_from(counts.get(rank)).map_err(|_| WRONG)?;
            if block_is_nowhere(at, displacements.get(rank) as isize, count, &layout) {
                return Err(WRONG);
            }
            most = most.max(count);
        }
        most.checked_mul(layout.size).ok_or(WRONG)?;
        let at = at.cast_mut().cast();
        Ok(Listed { at, datatype, layout, ranks, counts, displacements, most })
    }

    /// The bytes of the longest block.
    pub fn longest(&self) -> usize {
        self.most * self.layout.size
    }

    pub fn block(&self, rank: usize) -> Data {
        // SAFETY: there is an entry of each rank, and a count is no less than 0.
        let (count, displacement) = unsafe { (self.counts.get(rank), self.displacements.get(rank)) };
        let at = self.at.wrapping_offset(displacement as isize * self.layout.extent);
        Data { at, count: count as usize, datatype: self.datatype, layout: self.layout }
    }

    pub fn blocks(&self) -> Blocks {
        Blocks((0..self.ranks).map(|rank| self.block(rank)).collect())
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
