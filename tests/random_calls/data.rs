//! The buffers of a call as they are passed: elements side by side, or some apart.

use crate::element::Element;
use hypercoll::buffer::{Buffer, BufferMut, Elements, ElementsMut, Strided, StridedMut};

/// What is read, or written.
pub enum Data<'b, T> {
    Read(&'b [T]),
    Written(&'b mut [T]),
    ReadApart(Strided<'b, T>),
    WrittenApart(StridedMut<'b, T>),
}

/// Every so many-th element.
pub fn every<T: Element>(buffer: &mut [T], stride: usize) -> StridedMut<'_, T> {
    let count = buffer.len() / stride;
    StridedMut::new(buffer, 0, &[(count, stride)]).expect("within it")
}

impl<'b, T: Element> Data<'b, T> {
    /// Of a buffer of which every so many-th element counts.
    pub fn read(buffer: &'b [T], stride: usize) -> Data<'b, T> {
        match stride {
            1 => Data::Read(buffer),
            _ => Data::ReadApart(Strided::new(buffer, 0, &[(buffer.len() / stride, stride)]).expect("within it")),
        }
    }

    pub fn written(buffer: &'b mut [T], stride: usize) -> Data<'b, T> {
        match stride {
            1 => Data::Written(buffer),
            _ => Data::WrittenApart(every(buffer, stride)),
        }
    }

    /// Where calls take slices only.
    pub fn slice(&self) -> &[T] {
        let Data::Read(slice) = self else { unreachable!("side by side") };
        slice
    }

    pub fn slice_mut(&mut self) -> &mut [T] {
        let Data::Written(slice) = self else { unreachable!("side by side") };
        slice
    }
}

impl<T: Element> Buffer for Data<'_, T> {
    type Element = T;

    fn elements(&self) -> Elements<'_, T> {
        match self {
            Data::Read(slice) => slice.elements(),
            Data::Written(slice) => slice.elements(),
            Data::ReadApart(apart) => apart.elements(),
            Data::WrittenApart(_) => unreachable!("what is written is not sent"),
        }
    }
}

impl<T: Element> BufferMut for Data<'_, T> {
    type Element = T;

    fn elements_mut(&mut self) -> ElementsMut<'_, T> {
        match self {
            Data::Written(slice) => slice.elements_mut(),
            Data::WrittenApart(apart) => apart.elements_mut(),
            _ => unreachable!("what is read is not received"),
        }
    }
}
