//! The raw entry: calls on untyped buffers, for those that wrap this library in another interface.
//!
//! A [`Datatype`] says how elements lie in memory, an [`Operator`] how the bytes of elements are combined; nothing below is generic.
//! The typed calls of [`Hypercube`] take the same way.

pub(crate) mod arguments;
pub mod request;

use crate::buffer::{Buffer, BufferMut};

/// A buffer that is borrowed for as long as a call may use it: its address, for when the call is over, and its elements.
pub(crate) fn lent<S: Buffer + ?Sized>(buffer: &S) -> (*const S, &[S::Element]) {
    (buffer, buffer.elements())
}

/// The same of one to be written. The elements are borrowed from the address, so that it stays good when they have been written.
pub(crate) fn lent_mut<R: BufferMut + ?Sized>(buffer: &mut R) -> (*mut R, &mut [R::Element]) {
    let address: *mut R = buffer;
    // SAFETY: the one reference to it, which the argument has become.
    (address, unsafe { &mut *address }.elements_mut())
}
