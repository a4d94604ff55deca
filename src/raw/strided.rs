//! Elements at equal distances: columns of matrices, and blocks of them.

use super::elements::{Elements, ElementsMut, Gaps};
use super::Packing;
use crate::buffer::{Buffer, BufferMut, Element};
use crate::error::{Error, Result};
use std::rc::Rc;

/// Where the elements are: at `offset`, plus any multiple below `count` of each `stride`; the last level varies fastest.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Places {
    offset: usize,
    /// (count, stride)
    levels: Vec<(usize, usize)>,
    len: usize,
}

impl Places {
    /// All of them are in a buffer of so many elements, and, where they are written, apart.
    fn new(available: usize, offset: usize, levels: &[(usize, usize)], written: bool) -> Result<Places> {
        let wrong = |why: String| Err(Error::Partition { argument: "strided elements", why });
        let Some(len) = levels.iter().try_fold(1usize, |len, &(count, _)| len.checked_mul(count)) else {
            return wrong("more of them than can be counted".into());
        };
        let levels: Vec<(usize, usize)> = levels.iter().copied().filter(|&(count, _)| count != 1).collect();
        if len == 0 {
            return Ok(Places { offset: 0, levels: vec![(0, 1)], len });
        }
        let last =
            levels.iter().try_fold(offset, |last, &(count, stride)| last.checked_add((count - 1).checked_mul(stride)?));
        if last.is_none_or(|last| last >= available) {
            let last = last.map_or("one that cannot be counted".into(), |last| last.to_string());
            return wrong(format!("the last is element {last} of a buffer of {available}"));
        }
        if written {
            // From the finest stride on, each is beyond all that the finer ones reach.
            let mut finest = levels.clone();
            finest.sort_unstable_by_key(|&(_, stride)| stride);
            let mut reach = 0;
            for (count, stride) in finest {
                if stride <= reach {
                    return wrong("some overlap, and all would be written".into());
                }
                reach += (count - 1) * stride;
            }
        }
        Ok(Places { offset, levels, len })
    }

    /// Calls `act` with the place of each run of elements that are side by side, and its length, in order.
    fn runs(&self, mut act: impl FnMut(usize, usize)) {
        let (outer, run) = match self.levels.split_last() {
            Some((&(count, 1), outer)) => (outer, count),
            _ => (&self.levels[..], 1),
        };
        let mut at = vec![0; outer.len()];
        let mut place = self.offset;
        if self.len == 0 {
            return;
        }
        loop {
            act(place, run);
            let mut level = outer.len();
            loop {
                let Some(next) = level.checked_sub(1) else { return };
                level = next;
                let (count, stride) = outer[level];
                at[level] += 1;
                place += stride;
                if at[level] < count {
                    break;
                }
                place -= count * stride;
                at[level] = 0;
            }
        }
    }
}

/// Elements of so many bytes.
struct Sized {
    places: Rc<Places>,
    bytes: usize,
}

impl Packing for Sized {
    unsafe fn pack(&self, from: *const u8, _: usize, into: &mut [u8]) {
        let mut done = 0;
        self.places.runs(|place, run| {
            let bytes = run * self.bytes;
            let target = &mut into[done..done + bytes];
            std::ptr::copy_nonoverlapping(from.add(place * self.bytes), target.as_mut_ptr(), bytes);
            done += bytes;
        });
    }

    unsafe fn unpack(&self, from: &[u8], into: *mut u8, _: usize) {
        let mut done = 0;
        self.places.runs(|place, run| {
            let bytes = run * self.bytes;
            let source = &from[done..done + bytes];
            std::ptr::copy_nonoverlapping(source.as_ptr(), into.add(place * self.bytes), bytes);
            done += bytes;
        });
    }
}

fn gaps<T>(places: &Rc<Places>) -> Gaps {
    Gaps { packing: Rc::new(Sized { places: Rc::clone(places), bytes: size_of::<T>() }), count: 1 }
}

/// Elements of a slice at equal distances, as a buffer to read from. The call copies them once, into memory of the library.
///
/// # Examples
/// ```
/// use hypercoll::buffer::{Strided, StridedMut};
/// let columns = hypercoll::threads::run(3, |cube| {
///     // A matrix of 2 rows and 3 columns on rank 0, row after row: column i to rank i.
///     let (matrix, mut column) = ([1, 2, 3, 4, 5, 6], [0; 2]);
///     let root = cube.process_at_rank(0);
///     if cube.rank() == 0 {
///         root.scatter_into_root(&Strided::columns(&matrix, 3).unwrap(), &mut column).unwrap();
///     } else {
///         root.scatter_into(&mut column).unwrap();
///     }
///     // Back into the middle column of every rank's matrix.
///     let mut back = [0; 6];
///     back[1] = column[0];
///     cube.process_at_rank(2).broadcast_into(&mut StridedMut::new(&mut back, 1, &[(2, 3)]).unwrap()).unwrap();
///     assert_eq!(back[4], 0, "the last element of rank 2's column was never set");
///     column
/// });
/// assert_eq!(columns, [[1, 4], [2, 5], [3, 6]]);
/// ```
#[derive(Clone, Debug)]
pub struct Strided<'b, T> {
    buffer: &'b [T],
    places: Rc<Places>,
}

/// The same to be written. What lies between the elements stays as it is.
#[derive(Debug)]
pub struct StridedMut<'b, T> {
    buffer: &'b mut [T],
    places: Rc<Places>,
}

impl<'b, T: Element> Strided<'b, T> {
    /// The elements at `offset` plus any multiple, below the count, of each stride: `levels` is pairs of count and stride, of which the last
    /// varies fastest. `&[(rows, width), (block, 1)]` is blocks of a row each, `&[(rows, width)]` a column.
    ///
    /// # Errors
    /// [`Error::Partition`] if one is beyond the buffer.
    pub fn new(buffer: &'b [T], offset: usize, levels: &[(usize, usize)]) -> Result<Self> {
        let places = Rc::new(Places::new(buffer.len(), offset, levels, false)?);
        Ok(Strided { buffer, places })
    }

    /// The columns of a matrix that lies row after row, of so many columns, one after another.
    ///
    /// # Errors
    /// [`Error::Partition`] if the rows are not whole.
    pub fn columns(matrix: &'b [T], width: usize) -> Result<Self> {
        let rows = rows(matrix.len(), width)?;
        Strided::new(matrix, 0, &[(width, 1), (rows, width)])
    }
}

impl<'b, T: Element> StridedMut<'b, T> {
    /// As [`Strided::new`].
    ///
    /// # Errors
    /// [`Error::Partition`] if an element is beyond the buffer, or if two are the same. (Levels whose elements alternate are taken to be.)
    pub fn new(buffer: &'b mut [T], offset: usize, levels: &[(usize, usize)]) -> Result<Self> {
        let places = Rc::new(Places::new(buffer.len(), offset, levels, true)?);
        Ok(StridedMut { buffer, places })
    }

    /// The address of the slice, and the elements, which are borrowed from it.
    pub(crate) fn within(&mut self) -> (*mut [T], ElementsMut<'_, T>) {
        let slice: *mut [T] = self.buffer;
        // SAFETY: all places are within the slice, and as many as that.
        (slice, unsafe { ElementsMut::with_gaps(slice.cast(), self.places.len, gaps::<T>(&self.places)) })
    }

    /// As [`Strided::columns`].
    ///
    /// # Errors
    /// [`Error::Partition`] if the rows are not whole.
    pub fn columns(matrix: &'b mut [T], width: usize) -> Result<Self> {
        let rows = rows(matrix.len(), width)?;
        StridedMut::new(matrix, 0, &[(width, 1), (rows, width)])
    }
}

/// The rows of a matrix of so many elements and columns.
fn rows(elements: usize, width: usize) -> Result<usize> {
    if elements == 0 || width > 0 && elements.is_multiple_of(width) {
        return Ok(elements / width.max(1));
    }
    let why = format!("{elements} elements are no whole rows of {width}");
    Err(Error::Partition { argument: "strided elements", why })
}

impl<T: Element> Buffer for Strided<'_, T> {
    type Element = T;

    fn elements(&self) -> Elements<'_, T> {
        // SAFETY: all places are within the slice, and as many as that.
        unsafe { Elements::with_gaps(self.buffer.as_ptr(), self.places.len, gaps::<T>(&self.places)) }
    }
}

impl<T: Element> BufferMut for StridedMut<'_, T> {
    type Element = T;

    fn elements_mut(&mut self) -> ElementsMut<'_, T> {
        self.within().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(available: usize, offset: usize, levels: &[(usize, usize)]) -> Vec<usize> {
        let mut listed = Vec::new();
        let places = Places::new(available, offset, levels, true).unwrap();
        places.runs(|place, run| listed.extend(place..place + run));
        assert_eq!(listed.len(), places.len);
        listed
    }

    #[test]
    fn elements_are_in_the_order_of_their_levels() {
        assert_eq!(listed(6, 0, &[(3, 1), (2, 3)]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(listed(12, 1, &[(3, 4), (2, 1)]), [1, 2, 5, 6, 9, 10]);
        assert_eq!(listed(8, 2, &[]), [2]);
        assert_eq!(listed(8, 2, &[(3, 2)]), [2, 4, 6]);
        assert_eq!(listed(0, 7, &[(0, 2), (3, 1)]), [0; 0]);
        assert_eq!(listed(30, 0, &[(2, 15), (2, 1), (3, 5)]), [0, 5, 10, 1, 6, 11, 15, 20, 25, 16, 21, 26]);
    }

    #[test]
    fn what_is_beyond_or_twice_is_refused() {
        let why = |offset, levels: &[(usize, usize)], written| {
            Places::new(8, offset, levels, written).unwrap_err().to_string()
        };
        assert_eq!(why(2, &[(4, 2)], false), "strided elements: the last is element 8 of a buffer of 8");
        assert!(why(usize::MAX, &[(4, 2)], false).contains("cannot be counted"));
        assert!(why(0, &[(usize::MAX, 2), (3, 1)], false).contains("more of them than can be counted"));
        assert!(why(0, &[(3, 2), (3, 1)], true).contains("overlap"));
        assert!(why(0, &[(3, 0)], true).contains("overlap"));
        assert_eq!(Places::new(8, 0, &[(3, 2), (3, 1)], false).unwrap().len, 9);
    }
}
