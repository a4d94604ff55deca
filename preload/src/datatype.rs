//! Datatypes: where the data of elements lies, and how it is brought together where there are gaps.
//!
//! Ranks of one call may pass different datatypes of the same data: ten integers, or one vector of ten. So data that is only moved
//! travels as bytes, packed where its elements do not lie one after another.

mod packing;

pub use packing::{pack, unpack};

use crate::native::{self, ffi, Named, SUCCESS};
use crate::session;
use ffi::{MPI_Aint, MPI_Count, MPI_Datatype};
use std::ffi::{c_int, c_void};

/// Elements beyond this many bytes are packed without a trial of whether they need it.
const TRIED: usize = 64 << 20;

/// How the data of an element lies.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Bytes of data.
    pub size: usize,
    /// Bytes from one element to the next.
    pub extent: isize,
    /// Bytes from the address of an element to its first and behind its last data.
    pub first: isize,
    pub end: isize,
    /// Whether the data lies in one piece, in the order in which it is sent.
    pub dense: bool,
    /// The name of a predefined datatype, and its group.
    pub name: Option<&'static str>,
    pub group: u32,
}

impl Layout {
    /// That of no data, whatever its datatype.
    pub const NOTHING: Layout = Layout { size: 0, extent: 0, first: 0, end: 0, dense: true, name: None, group: 0 };

    /// That of a datatype; `None` if MPI would not have it.
    pub fn of(datatype: MPI_Datatype) -> Option<Layout> {
        if native::is_null_type(datatype) {
            return None;
        }
        // Of a predefined one, which is what most are.
        if let Some(layout) = session::known_layout(datatype) {
            return Some(layout);
        }
        let named = session::facts().types.get(&native::word(datatype)).copied();
        if named.is_none() {
            // First, as all other questions about what is no datatype are errors of the communicator of all ranks. (Of Open MPI a handle is an
            // address, of which no question can be asked.)
            if cfg!(not(open_mpi)) && !is_committed(datatype) {
                return None;
            }
            if let Some(layout) = session::attached_layout(datatype) {
                return Some(layout);
            }
        }
        let layout = Layout::measured(datatype, named)?;
        match named {
            Some(_) => session::know_layout(datatype, layout),
            None => session::attach_layout(datatype, layout),
        }
        Some(layout)
    }

    fn measured(datatype: MPI_Datatype, named: Option<Named>) -> Option<Layout> {
        let mut size: MPI_Count = 0;
        let (mut lower, mut extent, mut first, mut span): (MPI_Aint, MPI_Aint, MPI_Aint, MPI_Aint) = (0, 0, 0, 0);
        // SAFETY: valid out parameters.
        let known = unsafe {
            ffi::PMPI_Type_size_x(datatype, &mut size) == SUCCESS
                && ffi::PMPI_Type_get_extent(datatype, &mut lower, &mut extent) == SUCCESS
                && ffi::PMPI_Type_get_true_extent(datatype, &mut first, &mut span) == SUCCESS
                && (named.is_some() || is_committed(datatype))
        };
        if !known || size < 0 {
            return None;
        }
        // As wide as an address, but another type of Rust's with some MPIs.
        #[allow(clippy::unnecessary_cast)]
        let (extent, first, span) = (extent as isize, first as isize, span as isize);
        let (size, end) = (size as usize, first + span);
        let known = named.or_else(|| native::of_a_precision(datatype));
        let (name, group) = known.map_or((None, 0), |known| (Some(known.name), known.group));
        let mut layout = Layout { size, extent, first, end, dense: false, name, group };
        layout.dense = size as isize == span && (named.is_some() || layout.in_order(datatype));
        Some(layout)
    }

    /// Whether an element whose data fills its place is packed into what is there: its parts could come in any order. Where how it was made
    /// does not tell that is tried, with bytes that say where they are from.
    fn in_order(&self, datatype: MPI_Datatype) -> bool {
        if self.size == 0 || native::is_piece(datatype) {
            return true;
        }
        if self.size > TRIED {
            return false;
        }
        let mut place = vec![0u8; self.size];
        let mut number = 0x9e37_79b9_7f4a_7c15u64;
        for byte in &mut place {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            *byte = (number >> 32) as u8;
        }
        let mut packed = vec![0u8; self.size];
        let at = place.as_ptr().wrapping_offset(-self.first);
        // SAFETY: the data of an element begins `first` bytes behind its address and fills the place.
        unsafe { pack(at, 1, datatype, *self, &mut packed) };
        packed == place
    }

    /// Whether an element has more bytes than MPI packs at a time.
    fn is_long(&self) -> bool {
        self.size > c_int::MAX as usize
    }

    /// Whether so many elements lie in one piece.
    pub fn is_dense(&self, count: usize) -> bool {
        self.dense && (count <= 1 || self.extent == self.size as isize) || self.size == 0 || count == 0
    }

    /// Where the data of so many elements begins and ends, from the address of the first.
    pub fn reach(&self, count: usize) -> (isize, isize) {
        let last = (count.max(1) as isize - 1) * self.extent;
        (self.first + last.min(0), self.end + last.max(0))
    }

    /// Where so many elements begin and end whose gaps may be read and written, too, as by an operation that copies elements as a whole: to
    /// their extents, if these are around the data.
    pub fn room(&self, count: usize) -> (isize, isize) {
        match 0 <= self.first && self.end <= self.extent {
            true => (0, count as isize * self.extent),
            false => self.reach(count),
        }
    }
}

/// Whether MPI has it, and sends it: none of its elements are packed.
fn is_committed(datatype: MPI_Datatype) -> bool {
    let (mut byte, mut end) = (0u8, 0);
    let at = (&raw mut byte).cast::<c_void>();
    // SAFETY: nothing is read or written.
    unsafe { ffi::PMPI_Pack(at, 0, datatype, at, 0, &mut end, session::alone()) == SUCCESS }
}

/// Memory of ours, aligned for any element.
pub struct Scratch {
    words: Vec<u128>,
    len: usize,
}

impl Scratch {
    pub fn new(len: usize) -> Scratch {
        Scratch { words: vec![0; len.div_ceil(size_of::<u128>())], len }
    }

    pub fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    fn get(&self) -> &[u8] {
        // SAFETY: so many bytes are there, all of them initialised.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes are there, all of them initialised.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }
}

/// Elements of a buffer of the program's.
#[derive(Clone, Copy)]
pub struct Data {
    pub at: *mut u8,
    pub count: usize,
    pub datatype: MPI_Datatype,
    pub layout: Layout,
}

impl Data {
    /// Bytes of data.
    pub fn len(&self) -> usize {
        self.count * self.layout.size
    }

    /// Where it begins, if it lies in one piece.
    pub fn piece(&self) -> Option<*mut u8> {
        self.layout.is_dense(self.count).then(|| self.at.wrapping_offset(self.layout.first))
    }

    /// # Safety
    /// The elements are there.
    pub unsafe fn pack(&self, into: &mut [u8]) {
        match self.piece() {
            Some(_) if into.is_empty() => (),
            Some(piece) => std::ptr::copy(piece, into.as_mut_ptr(), into.len()),
            None => pack(self.at, self.count, self.datatype, self.layout, into),
        }
    }

    /// # Safety
    /// The elements are there, and nobody else uses them.
    pub unsafe fn unpack(&self, from: &[u8]) {
        match self.piece() {
            Some(_) if from.is_empty() => (),
            Some(piece) => std::ptr::copy(from.as_ptr(), piece, from.len()),
            None => unpack(from, self.at, self.count, self.datatype, self.layout),
        }
    }

    /// # Safety
    /// The elements are there.
    pub unsafe fn copied(&self) -> Scratch {
        let mut copy = Scratch::new(self.len());
        self.pack(copy.bytes());
        copy
    }

    /// # Safety
    /// The elements are there until it is dropped.
    pub unsafe fn lent(&self) -> Lent {
        match self.piece() {
            Some(piece) => Lent { start: piece, scratch: None },
            None => Lent::own(self.copied()),
        }
    }

    /// What is sent: a copy if it lies where the result will.
    ///
    /// # Safety
    /// As [`Data::lent`].
    pub unsafe fn taken(&self, in_place: bool) -> Lent {
        if in_place {
            Lent::own(self.copied())
        } else {
            self.lent()
        }
    }

    /// A place for what is received, with what is there now if that counts; see [`Data::returned`].
    ///
    /// # Safety
    /// The elements are there until it is returned, and nobody else uses them.
    pub unsafe fn open(&self, with_data: bool) -> Lent {
        match self.piece() {
            Some(piece) => Lent { start: piece, scratch: None },
            None if with_data => Lent::own(self.copied()),
            None => Lent::own(Scratch::new(self.len())),
        }
    }

    /// Puts what was received in its place, if that is another one.
    ///
    /// # Safety
    /// As [`Data::open`].
    pub unsafe fn returned(&self, lent: &Lent) {
        if let Some(scratch) = &lent.scratch {
            self.unpack(scratch.get());
        }
    }
}

/// Data in one piece: the program's, or a copy of it.
pub struct Lent {
    pub start: *mut u8,
    scratch: Option<Scratch>,
}

impl Lent {
    pub fn own(mut scratch: Scratch) -> Lent {
        Lent { start: scratch.start(), scratch: Some(scratch) }
    }

    /// Whether it is the program's, or none.
    pub fn is_direct(&self) -> bool {
        self.scratch.is_none()
    }

    pub fn none() -> Lent {
        Lent { start: std::ptr::null_mut(), scratch: None }
    }
}

/// Blocks of a buffer of the program's, one a rank.
pub struct Blocks(pub Vec<Data>);

impl Blocks {
    pub fn lengths(&self) -> Vec<usize> {
        self.0.iter().map(Data::len).collect()
    }

    pub fn longest(&self) -> usize {
        self.0.iter().map(Data::len).max().unwrap_or(0)
    }

    /// Where the first piece begins and where the others are from there, if each block is in one piece.
    fn pieces(&self) -> Option<(*mut u8, Vec<usize>)> {
        let starts: Option<Vec<_>> =
            self.0.iter().map(|block| Some((block.len(), block.piece()?))).collect::<Option<_>>();
        let starts = starts?;
        let first = starts.iter().filter(|(len, _)| *len > 0).map(|(_, start)| *start).min();
        let first = first.unwrap_or(std::ptr::null_mut());
        let places = starts.iter().map(|(len, start)| if *len > 0 { start.addr() - first.addr() } else { 0 });
        Some((first, places.collect()))
    }

    /// # Safety
    /// The elements are there.
    unsafe fn copied(&self) -> Scratch {
        let mut copy = Scratch::new(self.0.iter().map(Data::len).sum());
        let mut rest = copy.bytes();
        for block in &self.0 {
            let (own, behind) = rest.split_at_mut(block.len());
            block.pack(own);
            rest = behind;
        }
        copy
    }

    /// # Safety
    /// As [`Data::lent`].
    pub unsafe fn lent(&self) -> (Lent, Vec<usize>) {
        match self.pieces() {
            Some((start, places)) => (Lent { start, scratch: None }, places),
            None => self.lent_packed(),
        }
    }

    /// The same of a copy.
    ///
    /// # Safety
    /// The elements are there.
    pub unsafe fn lent_packed(&self) -> (Lent, Vec<usize>) {
        (Lent::own(self.copied()), one_after_another(&self.lengths()))
    }

    /// # Safety
    /// As [`Data::open`].
    pub unsafe fn open(&self, with_data: bool) -> (Lent, Vec<usize>) {
        match self.pieces() {
            Some((start, places)) => (Lent { start, scratch: None }, places),
            None if with_data => self.lent_packed(),
            None => {
                let lengths = self.lengths();
                (Lent::own(Scratch::new(lengths.iter().sum())), one_after_another(&lengths))
            }
        }
    }

    /// # Safety
    /// As [`Data::open`].
    pub unsafe fn returned(&self, lent: &Lent) {
        if let Some(scratch) = &lent.scratch {
            let mut rest = scratch.get();
            for block in &self.0 {
                let (own, behind) = rest.split_at(block.len());
                block.unpack(own);
                rest = behind;
            }
        }
    }
}

/// Where what was received goes from where it was received, if that is another place.
pub enum Back {
    Nothing,
    Data(Data),
    Blocks(Blocks),
}

impl From<Data> for Back {
    fn from(data: Data) -> Back {
        Back::Data(data)
    }
}

impl From<Blocks> for Back {
    fn from(blocks: Blocks) -> Back {
        Back::Blocks(blocks)
    }
}

impl<B: Into<Back>> From<Option<B>> for Back {
    fn from(back: Option<B>) -> Back {
        back.map_or(Back::Nothing, B::into)
    }
}

impl Back {
    /// # Safety
    /// As [`Data::open`].
    pub unsafe fn returned(&self, lent: &Lent) {
        match self {
            Back::Nothing => (),
            Back::Data(data) => data.returned(lent),
            Back::Blocks(blocks) => blocks.returned(lent),
        }
    }
}

fn one_after_another(lengths: &[usize]) -> Vec<usize> {
    let starts = lengths.iter().scan(0, |end, len| {
        let start = *end;
        *end += len;
        Some(start)
    });
    starts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_room_for_their_extents() {
        let of = |first, end, extent| Layout { first, end, extent, size: 12, dense: false, ..Layout::NOTHING };
        assert_eq!(of(0, 12, 48).room(2), (0, 96));
        assert_eq!(of(8, 20, 48).room(1), (0, 48));
        // Of an address, and where an element is longer than its extent, nothing is known of gaps.
        for layout in [of(1 << 40, (1 << 40) + 12, 16), of(0, 12, 4), of(-4, 8, 16), of(0, 12, -16)] {
            assert_eq!(layout.room(3), layout.reach(3));
        }
    }
}
