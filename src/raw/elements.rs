//! The elements of a buffer: side by side, or with gaps between them.

use super::Packing;
use crate::buffer::Element;
use std::marker::PhantomData;
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
