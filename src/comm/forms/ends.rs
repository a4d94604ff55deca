//! Sends and exchanges of two ranks, and calls given as data.

use super::At;
use crate::buffer::{Element, Elements, ElementsMut};
use crate::collective::Collective;
use crate::comm::prepared::{length, Exchange, Given, Prepared, Send};
use crate::engine::arguments::Arguments;
use crate::error::{Error, Result};
use crate::raw::lent_mut;
use crate::raw::request::{PersistentOf, Request, Scope};
use std::panic::Location;

/// Arguments of a call between two ranks, or of one given as data: their lengths are compared with what the call says.
fn compared<'b, T: Element>(
    prepared: &mut Prepared,
    at: At,
    count: usize,
    send: Option<impl Into<Elements<'b, T>>>,
    receive: Option<impl Into<ElementsMut<'b, T>>>,
) -> Arguments<'b> {
    let send: Elements<T> = send.map(Into::into).unwrap_or_default();
    let receive: ElementsMut<T> = receive.map(Into::into).unwrap_or_default();
    prepared.lengths = Some([send.len(), receive.len()]);
    Arguments::new(at, count, send, receive)
}

impl Send<'_> {
    /// Runs it: `count` elements on all ranks, `send` on the sending rank only, `receive` on the receiving one only (elsewhere
    /// `None`, and ignored). The other ranks may pass data on; their `T` is the same.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<T: Element>(mut self, count: usize, send: Option<&[T]>, receive: Option<&mut [T]>) -> Result<()> {
        let at = Location::caller();
        let send = send.filter(|_| self.0.is_root());
        let receive = receive.filter(|_| self.0.cube.rank == self.0.call.peer);
        let arguments = compared(&mut self.0, at, count, send, receive);
        self.0.run(at, Ok(arguments))
    }

    /// Starts it; the request's data is `receive`, or nothing where nothing is received.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, T: Element, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        count: usize,
        send: Option<&'a [T]>,
        receive: Option<&'a mut [T]>,
    ) -> Result<Request<'a, [T], Sc>> {
        let at = Location::caller();
        let send = send.filter(|_| self.0.is_root());
        let receive = receive.filter(|_| self.0.cube.rank == self.0.call.peer);
        let (data, receive) = lent_mut(receive.unwrap_or_default());
        let arguments = compared(&mut self.0, at, count, send, Some(receive));
        self.0.request(at, scope, Ok(arguments), data)
    }
}

impl Exchange<'_> {
    /// Runs it: `count` elements on all ranks, `send` and `receive` on the two ranks only (elsewhere `None`, and ignored). The
    /// other ranks may pass data on; their `T` is the same.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<T: Element>(mut self, count: usize, send: Option<&[T]>, receive: Option<&mut [T]>) -> Result<()> {
        let at = Location::caller();
        let takes_part = [self.0.call.root, self.0.call.peer].contains(&self.0.cube.rank);
        let (send, receive) = (send.filter(|_| takes_part), receive.filter(|_| takes_part));
        let arguments = compared(&mut self.0, at, count, send, receive);
        self.0.run(at, Ok(arguments))
    }

    /// Starts it; the request's data is `receive`, or nothing where nothing is received.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, T: Element, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        count: usize,
        send: Option<&'a [T]>,
        receive: Option<&'a mut [T]>,
    ) -> Result<Request<'a, [T], Sc>> {
        let at = Location::caller();
        let takes_part = [self.0.call.root, self.0.call.peer].contains(&self.0.cube.rank);
        let (send, receive) = (send.filter(|_| takes_part), receive.filter(|_| takes_part));
        let (data, receive) = lent_mut(receive.unwrap_or_default());
        let arguments = compared(&mut self.0, at, count, send, Some(receive));
        self.0.request(at, scope, Ok(arguments), data)
    }
}

impl Given<'_> {
    /// Whether the call can be made without saying how elements are combined, on these ranks.
    pub(crate) fn is_plain(&self, element: &'static str) -> Result<()> {
        let (call, size) = (&self.0.call, self.0.cube.size);
        length("size", call.size, size, "the ranks of the communicator")?;
        if call.collective.reduces() || call.collective == Collective::MatrixMultiply {
            return Err(Error::Operation { operation: format!("none given for {}", call.collective), element });
        }
        Ok(())
    }

    /// Runs it: buffers of [`Call::send_len`](crate::collective::Call::send_len) and
    /// [`Call::receive_len`](crate::collective::Call::receive_len) elements.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); [`Error::Root`](crate::Error::Root); [`Error::Permutation`](crate::Error::Permutation); [`Error::Operation`](crate::Error::Operation) for a reduction or a product of matrices,
    /// which have calls of their own; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<T: Element>(mut self, send: &[T], receive: &mut [T]) -> Result<()> {
        let at = Location::caller();
        let checked = self.is_plain(std::any::type_name::<T>());
        let count = self.0.call.count;
        let arguments = compared(&mut self.0, at, count, Some(send), Some(receive));
        self.0.run(at, checked.map(|()| arguments))
    }

    /// Starts it; the request's data is `receive`.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, T: Element, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        send: &'a [T],
        receive: &'a mut [T],
    ) -> Result<Request<'a, [T], Sc>> {
        let at = Location::caller();
        let checked = self.is_plain(std::any::type_name::<T>());
        let count = self.0.call.count;
        let (data, receive) = lent_mut(receive);
        let arguments = compared(&mut self.0, at, count, Some(send), Some(receive));
        self.0.request(at, scope, checked.map(|()| arguments), data)
    }

    /// Makes it to be started again and again.
    ///
    /// # Errors
    /// As for `run`.
    #[track_caller]
    pub fn init<'a, T: Element, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut [T],
    ) -> Result<PersistentOf<'a, T, Sc>> {
        let at = Location::caller();
        let checked = self.is_plain(std::any::type_name::<T>());
        let count = self.0.call.count;
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive));
        let arguments = compared(&mut self.0, at, count, Some(send), Some(receive));
        self.0.persistent(at, scope, checked.map(|()| arguments), (from, into))
    }

    /// Runs a product of matrices: `send` holds this rank's block of A, slab by slab, and then that of B. `multiply` adds to the last
    /// matrix the product of the first two, given the columns of the first; all as the bytes of elements.
    #[track_caller]
    pub(crate) fn multiply<T: Element>(
        mut self,
        send: &[T],
        receive: &mut [T],
        multiply: fn(usize, &[u8], &[u8], &mut [u8]),
    ) -> Result<()> {
        let at = Location::caller();
        let arguments = Arguments::new(at, self.0.call.count, send, receive);
        self.0.run(at, Ok(arguments.multiplying(multiply)))
    }
}
