//! Collectives with a root.

use super::{only_root, reduces, At};
use crate::buffer::{Buffer, BufferMut, Element, Elements, ElementsMut, WithinSliceMut};
use crate::comm::prepared::{block, length, Broadcast, Gather, Reduce, Scatter};
use crate::engine::arguments::{Arguments, Held};
use crate::error::Result;
use crate::operation::Reduction;
use crate::raw::request::{Persistent, PersistentOf, Request, Scope};
use crate::raw::{lent, lent_mut};
use std::panic::Location;

impl Broadcast<'_> {
    fn made<'b, T: Element>(&mut self, at: At, buffer: ElementsMut<'b, T>) -> Result<Arguments<'b>> {
        Ok(Arguments::new(at, buffer.len(), Elements::default(), buffer))
    }

    /// Runs it; see [`Process::broadcast_into`](crate::comm::Process::broadcast_into).
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<B: BufferMut + ?Sized>(mut self, buffer: &mut B) -> Result<()> {
        let at = Location::caller();
        let arguments = self.made(at, buffer.elements_mut());
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `buffer`.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, B, Sc>(mut self, scope: Sc, buffer: &'a mut B) -> Result<Request<'a, B, Sc>>
    where
        B: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, buffer) = lent_mut(buffer);
        let arguments = self.made(at, buffer);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again.
    ///
    /// # Errors
    /// As for `run`.
    #[track_caller]
    pub fn init<'a, B, Sc>(mut self, scope: Sc, buffer: &'a mut B) -> Result<Persistent<'a, (), [B::Element], Sc>>
    where
        B: WithinSliceMut + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, buffer) = buffer.kept();
        let arguments = self.made(at, buffer);
        self.0.persistent(at, scope, arguments, (std::ptr::NonNull::dangling().as_ptr(), data))
    }
}

impl Scatter<'_> {
    fn made<'b, T: Element>(
        &mut self,
        at: At,
        send: Option<Elements<'b, T>>,
        receive: ElementsMut<'b, T>,
    ) -> Result<Arguments<'b>> {
        let send = send.filter(|_| self.0.is_root()).unwrap_or_default();
        let expected = receive.len().saturating_mul(self.0.call.size);
        let checked = match self.0.is_root() {
            true => length("send", send.len(), expected, "one block a rank, as long as receive"),
            false => Ok(()),
        };
        checked.map(|()| Arguments::new(at, receive.len(), send, receive))
    }

    fn made_in_place<'b, T: Element>(&mut self, at: At, blocks: Elements<'b, T>) -> Result<Arguments<'b>> {
        only_root(&self.0, "scatter in place")?;
        let count = block("blocks", blocks.len(), self.0.call.size)?;
        Ok(Arguments::new(at, count, blocks, ElementsMut::nowhere(count)))
    }

    /// Runs it in place, on the root only: its own block stays where it is. The other ranks run it.
    ///
    /// # Errors
    /// [`Error::Role`](crate::Error::Role) elsewhere; [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_in_place<S: Buffer + ?Sized>(mut self, blocks: &S) -> Result<()> {
        let at = Location::caller();
        let arguments = self.made_in_place(at, blocks.elements());
        self.0.run(at, arguments)
    }

    /// Starts it in place, on the root only; the request's data is `blocks`.
    ///
    /// # Errors
    /// As for `run_in_place`.
    #[track_caller]
    pub fn start_in_place<'a, S, Sc>(mut self, scope: Sc, blocks: &'a S) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, blocks) = lent(blocks);
        let arguments = self.made_in_place(at, blocks);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again in place, on the root only.
    ///
    /// # Errors
    /// As for `run_in_place`.
    #[track_caller]
    pub fn init_in_place<'a, S, Sc>(
        mut self,
        scope: Sc,
        blocks: &'a mut S,
    ) -> Result<Persistent<'a, [S::Element], (), Sc>>
    where
        S: WithinSliceMut + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, blocks) = blocks.kept();
        let arguments = self.made_in_place(at, blocks.into());
        self.0.persistent(at, scope, arguments, (data, std::ptr::NonNull::dangling().as_ptr()))
    }

    /// Runs it: `send` on the root only (elsewhere `None`, and ignored), `receive` on all ranks; `send` is
    /// [`Hypercube::size`](crate::Hypercube::size) times as long.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<S, R>(mut self, send: Option<&S>, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let at = Location::caller();
        let arguments = self.made(at, send.map(Buffer::elements), receive.elements_mut());
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `receive`.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: Option<&'a S>,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, receive) = lent_mut(receive);
        let arguments = self.made(at, send.map(Buffer::elements), receive);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again; `send` may be empty but on the root.
    ///
    /// # Errors
    /// As for `run`.
    #[track_caller]
    pub fn init<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let ((from, send), (into, receive)) = (send.kept(), receive.kept());
        let arguments = self.made(at, Some(send.into()), receive);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Gather<'_> {
    fn made<'b, T: Element>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: Option<ElementsMut<'b, T>>,
    ) -> Result<Arguments<'b>> {
        let receive = receive.filter(|_| self.0.is_root()).unwrap_or_default();
        let expected = send.len().saturating_mul(self.0.call.size);
        let checked = match self.0.is_root() {
            true => length("receive", receive.len(), expected, "one block a rank, as long as send"),
            false => Ok(()),
        };
        checked.map(|()| Arguments::new(at, send.len(), send, receive))
    }

    pub(super) fn made_in_place<'b, T: Element>(
        &mut self,
        at: At,
        blocks: ElementsMut<'b, T>,
    ) -> Result<Arguments<'b>> {
        only_root(&self.0, "gather in place")?;
        let count = block("blocks", blocks.len(), self.0.call.size)?;
        let own = self.0.call.root * count;
        Ok(Arguments::new(at, count, blocks.copied_part(own..own + count), blocks))
    }

    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); `receive` is
    /// [`Hypercube::size`](crate::Hypercube::size) times as long.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<S, R>(mut self, send: &S, receive: Option<&mut R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let at = Location::caller();
        let arguments = self.made(at, send.elements(), receive.map(BufferMut::elements_mut));
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `send`, as it is the one that every rank has. What was received on the root is there when
    /// the call is over.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a S,
        receive: Option<&'a mut R>,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, send) = lent(send);
        let arguments = self.made(at, send, receive.map(BufferMut::elements_mut));
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again; `receive` may be empty but on the root.
    ///
    /// # Errors
    /// As for `run`.
    #[track_caller]
    pub fn init<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let ((from, send), (into, receive)) = (send.kept(), receive.kept());
        let arguments = self.made(at, send.into(), Some(receive));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Reduce<'_> {
    fn made<'b, T: Element, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: Option<ElementsMut<'b, T>>,
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        let receive = receive.filter(|_| self.0.is_root()).unwrap_or_default();
        let checked = match self.0.is_root() {
            true => length("receive", receive.len(), send.len(), "as long as send"),
            false => Ok(()),
        };
        let checked = checked.and_then(|()| reduces(&mut self.0, operation.get()));
        checked.map(|()| Arguments::reducing(at, send.len(), send, receive, operation))
    }

    pub(super) fn made_in_place<'b, T: Element, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        values: ElementsMut<'b, T>,
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        only_root(&self.0, "reduce in place")?;
        reduces(&mut self.0, operation.get())?;
        Ok(Arguments::reducing(at, values.len(), values.copied(), values, operation))
    }

    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); equal lengths.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Length`](crate::Error::Length); [`Error::Operation`](crate::Error::Operation); options that cannot be honoured; what goes wrong between
    /// ranks.
    #[track_caller]
    pub fn run<S, R, O>(mut self, send: &S, receive: Option<&mut R>, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let at = Location::caller();
        let receive = receive.map(BufferMut::elements_mut);
        let arguments = self.made(at, send.elements(), receive, Held::Lent(&operation));
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `send`, as it is the one that every rank has. What was received on the root is there when
    /// the call is over.
    ///
    /// # Errors
    /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start<'a, S, R, O, Sc>(
        mut self,
        scope: Sc,
        send: &'a S,
        receive: Option<&'a mut R>,
        operation: O,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, send) = lent(send);
        let arguments = self.made(at, send, receive.map(BufferMut::elements_mut), Held::Own(operation));
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again; `receive` may be empty but on the root.
    ///
    /// # Errors
    /// As for `run`.
    #[track_caller]
    pub fn init<'a, S, R, O, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let ((from, send), (into, receive)) = (send.kept(), receive.kept());
        let arguments = self.made(at, send.into(), Some(receive), Held::Own(operation));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}
