//! The elements of a buffer: side by side, or with gaps between them.

use super::Packing;
use crate::buffer::Element;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

/// How elements with gaps are gathered: that many times what a packing packs.
#[derive(Clone)]
pub(crate) struct Gaps {
    pub packing: Rc<dyn Packing>,
    pub count: usize,
}

/// The elements of a buffer, to read from.
pub struct Elements<'b, T> {
    pub(crate) start: *const T,
    len: usize,
    pub(crate) gaps: Option<Gaps>,
    _buffer: PhantomData<&'b [T]>,
}

/// The elements of a buffer, to write to.
pub struct ElementsMut<'b, T> {
    pub(crate) start: *mut T,
    len: usize,
    pub(crate) gaps: Option<Gaps>,
    _buffer: PhantomData<&'b mut [T]>,
}

impl<T> Elements<'_, T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> ElementsMut<'_, T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Element> Elements<'_, T> {
    /// With gaps between them.
    ///
    /// # Safety
    /// The packing reads what is borrowed for this lifetime, and nothing else, and gives `len` elements.
    pub(crate) unsafe fn with_gaps(start: *const T, len: usize, gaps: Gaps) -> Self {
        Elements { start, len, gaps: Some(gaps), _buffer: PhantomData }
    }
}

impl<'b, T: Element> ElementsMut<'b, T> {
    /// With gaps between them.
    ///
    /// # Safety
    /// The packing reads and writes what is borrowed for this lifetime, and nothing else, and takes `len` elements.
    pub(crate) unsafe fn with_gaps(start: *mut T, len: usize, gaps: Gaps) -> Self {
        ElementsMut { start, len, gaps: Some(gaps), _buffer: PhantomData }
    }
}

/// So many bytes side by side, of which a copy is taken.
struct SideBySide(usize);

impl Packing for SideBySide {
    unsafe fn pack(&self, from: *const u8, _: usize, into: &mut [u8]) {
        std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), self.0);
    }

    unsafe fn unpack(&self, from: &[u8], into: *mut u8, _: usize) {
        std::ptr::copy_nonoverlapping(from.as_ptr(), into, self.0);
    }
}

/// Some of the bytes that others pack.
struct Part {
    whole: Gaps,
    bytes: usize,
    part: Range<usize>,
}

impl Packing for Part {
    unsafe fn pack(&self, from: *const u8, _: usize, into: &mut [u8]) {
        let mut whole = vec![0; self.bytes];
        self.whole.packing.pack(from, self.whole.count, &mut whole);
        into.copy_from_slice(&whole[self.part.clone()]);
    }

    unsafe fn unpack(&self, from: &[u8], into: *mut u8, _: usize) {
        let mut whole = vec![0; self.bytes];
        self.whole.packing.pack(into, self.whole.count, &mut whole);
        whole[self.part.clone()].copy_from_slice(from);
        self.whole.packing.unpack(&whole, into, self.whole.count);
    }
}

/// Nothing: what is received is not wanted.
struct Nowhere;

impl Packing for Nowhere {
    unsafe fn pack(&self, _: *const u8, _: usize, _: &mut [u8]) {}
    unsafe fn unpack(&self, _: &[u8], _: *mut u8, _: usize) {}
}

impl<'b, T: Element> ElementsMut<'b, T> {
    /// What they are when a call starts, to be sent while they are received into.
    pub(crate) fn copied(&self) -> Elements<'b, T> {
        self.copied_part(0..self.len)
    }

    /// The same of some of them, which there are.
    pub(crate) fn copied_part(&self, part: Range<usize>) -> Elements<'b, T> {
        let (len, size) = (part.len(), size_of::<T>());
        let (start, gaps) = match self.gaps_of(&part) {
            Some(gaps) => (self.start, gaps),
            None => {
                let packing = Rc::new(SideBySide(len * size));
                (self.start.wrapping_add(part.start), Gaps { packing, count: 1 })
            }
        };
        Elements { start, len, gaps: Some(gaps), _buffer: PhantomData }
    }

    /// The first of them, which there are.
    pub(crate) fn first(self, len: usize) -> ElementsMut<'b, T> {
        let gaps = self.gaps_of(&(0..len));
        ElementsMut { len, gaps, ..self }
    }

    /// So many that nobody looks at.
    pub(crate) fn nowhere(len: usize) -> ElementsMut<'b, T> {
        let gaps = Some(Gaps { packing: Rc::new(Nowhere), count: 0 });
        ElementsMut { len, gaps, ..ElementsMut::default() }
    }

    /// How some of them are gathered, if they have gaps.
    fn gaps_of(&self, part: &Range<usize>) -> Option<Gaps> {
        let (whole, size) = (self.gaps.clone()?, size_of::<T>());
        let part = part.start * size..part.end * size;
        Some(Gaps { packing: Rc::new(Part { whole, bytes: self.len * size, part }), count: 1 })
    }
}

impl<'b, T: Element> From<&'b [T]> for Elements<'b, T> {
    fn from(slice: &'b [T]) -> Self {
        Elements { start: slice.as_ptr(), len: slice.len(), gaps: None, _buffer: PhantomData }
    }
}

impl<'b, T: Element> From<&'b mut [T]> for Elements<'b, T> {
    fn from(slice: &'b mut [T]) -> Self {
        Elements::from(&*slice)
    }
}

impl<'b, T: Element> From<&'b mut [T]> for ElementsMut<'b, T> {
    fn from(slice: &'b mut [T]) -> Self {
        ElementsMut { start: slice.as_mut_ptr(), len: slice.len(), gaps: None, _buffer: PhantomData }
    }
}

impl<'b, T: Element, const N: usize> From<&'b [T; N]> for Elements<'b, T> {
    fn from(array: &'b [T; N]) -> Self {
        Elements::from(&array[..])
    }
}

impl<'b, T: Element, const N: usize> From<&'b mut [T; N]> for ElementsMut<'b, T> {
    fn from(array: &'b mut [T; N]) -> Self {
        ElementsMut::from(&mut array[..])
    }
}

impl<'b, T: Element> From<ElementsMut<'b, T>> for Elements<'b, T> {
    fn from(elements: ElementsMut<'b, T>) -> Self {
        let ElementsMut { start, len, gaps, .. } = elements;
        Elements { start, len, gaps, _buffer: PhantomData }
    }
}

impl<T: Element> Default for Elements<'_, T> {
    fn default() -> Self {
        (&[][..]).into()
    }
}

impl<T: Element> Default for ElementsMut<'_, T> {
    fn default() -> Self {
        (&mut [][..]).into()
    }
}
