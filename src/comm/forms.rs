//! The forms of every collective with options: run, started (`start`), and made to be started again and again (`init`).
//!
//! Each collective says once what its arguments have to be; its forms differ in what becomes of them.

use super::prepared::{block, length, Prepared};
use super::prepared::{AllGather, AllReduce, AllToAll, Broadcast, Exchange, Gather, Given, Permute};
use super::prepared::{ExclusiveScan, Reduce, ReduceScatter, Scan, Scatter, Send};
use crate::buffer::{Buffer, BufferMut};
use crate::collective::Collective;
use crate::engine::arguments::{Arguments, Held};
use crate::error::{Error, Result};
use crate::operation::Reduction;
use crate::raw::request::{Persistent, Request, Scope};
use crate::raw::{lent, lent_mut};
use bytemuck::Pod;
use std::panic::Location;

type At = &'static Location<'static>;

/// Whether an operation serves elements of a type, and what it asks of the call.
pub(super) fn reduces<T: Pod, O: Reduction<T>>(prepared: &mut Prepared, operation: &O) -> Result<()> {
    if !operation.defined() || align_of::<T>() > align_of::<u128>() {
        return Err(Error::Operation { operation: operation.name(), element: std::any::type_name::<T>() });
    }
    prepared.call.ordered = !operation.commutes();
    Ok(())
}

/// The forms of a collective with two buffers on every rank.
macro_rules! two_buffers {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it; see [`Hypercube::", $call, "`](super::Hypercube::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
            #[track_caller]
            pub fn run<S, R>(mut self, send: &S, receive: &mut R) -> Result<()>
            where
                S: Buffer + ?Sized,
                R: BufferMut<Element = S::Element> + ?Sized,
            {
                let at = Location::caller();
                let arguments = self.made(at, send.elements(), receive.elements_mut());
                self.0.run(at, arguments)
            }

            /// Starts it; the request's data is `receive`.
            ///
            /// # Errors
            /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
            #[track_caller]
            pub fn start<'a, S, R, Sc>(mut self, scope: Sc, send: &'a S, receive: &'a mut R) -> Result<Request<'a, R, Sc>>
            where
                S: Buffer + ?Sized,
                R: BufferMut<Element = S::Element> + ?Sized,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let (data, receive) = lent_mut(receive);
                let arguments = self.made(at, send.elements(), receive);
                self.0.request(at, scope, arguments, data)
            }

            /// Makes it to be started again and again.
            ///
            /// # Errors
            /// As for `run`.
            #[track_caller]
            pub fn init<'a, S, R, Sc>(
                mut self,
                scope: Sc,
                send: &'a mut S,
                receive: &'a mut R,
            ) -> Result<Persistent<'a, [S::Element], [S::Element], Sc>>
            where
                S: BufferMut + ?Sized,
                R: BufferMut<Element = S::Element> + ?Sized,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
                let arguments = self.made(at, send, receive);
                self.0.persistent(at, scope, arguments, (from, into))
            }
        }
    )*};
}

two_buffers! {
    AllGather "all_gather_into",
    AllToAll "all_to_all_into",
    Permute "permute_into",
}

/// The forms of a reduction with two buffers on every rank.
macro_rules! two_buffers_and_operation {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it; see [`Hypercube::", $call, "`](super::Hypercube::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; what goes wrong between ranks.
            #[track_caller]
            pub fn run<S, R, O>(mut self, send: &S, receive: &mut R, operation: O) -> Result<()>
            where
                S: Buffer + ?Sized,
                R: BufferMut<Element = S::Element> + ?Sized,
                O: Reduction<S::Element>,
            {
                let at = Location::caller();
                let arguments = self.made(at, send.elements(), receive.elements_mut(), Held::Lent(&operation));
                self.0.run(at, arguments)
            }

            /// Starts it; the request's data is `receive`.
            ///
            /// # Errors
            /// As for `run`; what goes wrong between ranks may only be known when the request is waited for.
            #[track_caller]
            pub fn start<'a, S, R, O, Sc>(
                mut self,
                scope: Sc,
                send: &'a S,
                receive: &'a mut R,
                operation: O,
            ) -> Result<Request<'a, R, Sc>>
            where
                S: Buffer + ?Sized,
                R: BufferMut<Element = S::Element> + ?Sized,
                O: Reduction<S::Element> + 'a,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let (data, receive) = lent_mut(receive);
                let arguments = self.made(at, send.elements(), receive, Held::Own(operation));
                self.0.request(at, scope, arguments, data)
            }

            /// Makes it to be started again and again.
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
            ) -> Result<Persistent<'a, [S::Element], [S::Element], Sc>>
            where
                S: BufferMut + ?Sized,
                R: BufferMut<Element = S::Element> + ?Sized,
                O: Reduction<S::Element> + 'a,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
                let arguments = self.made(at, send, receive, Held::Own(operation));
                self.0.persistent(at, scope, arguments, (from, into))
            }
        }
    )*};
}

two_buffers_and_operation! {
    ReduceScatter "reduce_scatter_block_into",
    AllReduce "all_reduce_into",
    Scan "scan_into",
    ExclusiveScan "exclusive_scan_into",
}

impl AllGather<'_> {
    fn made<'b, T: Pod>(&mut self, at: At, send: &'b [T], receive: &'b mut [T]) -> Result<Arguments<'b>> {
        let expected = send.len().saturating_mul(self.0.call.size);
        let checked = length("receive", receive.len(), expected, "one block a rank, as long as send");
        checked.map(|()| Arguments::new(at, send.len(), send, receive))
    }

    fn made_in_place<'b, T: Pod>(&mut self, at: At, blocks: &'b mut [T]) -> Result<Arguments<'b>> {
        self.0.call.in_place = true;
        let count = block("blocks", blocks.len(), self.0.call.size);
        count.map(|count| Arguments::new(at, count, &[], blocks))
    }

    /// Runs it in place; see [`Hypercube::all_gather_in_place`](super::Hypercube::all_gather_in_place).
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_in_place<R: BufferMut + ?Sized>(mut self, blocks: &mut R) -> Result<()> {
        let at = Location::caller();
        let arguments = self.made_in_place(at, blocks.elements_mut());
        self.0.run(at, arguments)
    }

    /// Starts it in place; the request's data is `blocks`.
    ///
    /// # Errors
    /// As for `run_in_place`.
    #[track_caller]
    pub fn start_in_place<'a, R, Sc>(mut self, scope: Sc, blocks: &'a mut R) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, blocks) = lent_mut(blocks);
        let arguments = self.made_in_place(at, blocks);
        self.0.request(at, scope, arguments, data)
    }
}

impl AllToAll<'_> {
    fn made<'b, T: Pod>(&mut self, at: At, send: &'b [T], receive: &'b mut [T]) -> Result<Arguments<'b>> {
        let checked = length("receive", receive.len(), send.len(), "as long as send");
        let count = block("send", send.len(), self.0.call.size).and_then(|count| checked.map(|()| count));
        count.map(|count| Arguments::new(at, count, send, receive))
    }
}

impl Permute<'_> {
    fn made<'b, T: Pod>(&mut self, at: At, send: &'b [T], receive: &'b mut [T]) -> Result<Arguments<'b>> {
        let checked = length("receive", receive.len(), send.len(), "as long as send");
        checked.map(|()| Arguments::new(at, send.len(), send, receive))
    }
}

impl ReduceScatter<'_> {
    fn made<'b, T: Pod, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        send: &'b [T],
        receive: &'b mut [T],
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        let expected = receive.len().saturating_mul(self.0.call.size);
        let checked = length("send", send.len(), expected, "one block a rank, as long as receive");
        let checked = checked.and_then(|()| reduces(&mut self.0, operation.get()));
        checked.map(|()| Arguments::reducing(at, receive.len(), send, receive, operation))
    }
}

/// What the arguments of a reduction of vectors have to be that leaves a vector on every rank, and its forms in place.
macro_rules! vectors_and_operation {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            fn made<'b, T: Pod, O: Reduction<T> + 'b>(
                &mut self,
                at: At,
                send: &'b [T],
                receive: &'b mut [T],
                operation: Held<'b, O>,
            ) -> Result<Arguments<'b>> {
                let checked = match self.0.receives() {
                    true => length("receive", receive.len(), send.len(), "as long as send"),
                    false => Ok(()),
                };
                let checked = checked.and_then(|()| reduces(&mut self.0, operation.get()));
                checked.map(|()| Arguments::reducing(at, send.len(), send, receive, operation))
            }

            fn made_in_place<'b, T: Pod, O: Reduction<T> + 'b>(
                &mut self,
                at: At,
                values: &'b mut [T],
                operation: Held<'b, O>,
            ) -> Result<Arguments<'b>> {
                self.0.call.in_place = true;
                let checked = reduces(&mut self.0, operation.get());
                checked.map(|()| Arguments::reducing(at, values.len(), &[], values, operation))
            }

            #[doc = concat!("Runs it in place; see [`Hypercube::", $call, "`](super::Hypercube::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Operation`]; options that cannot be honoured; what goes wrong between ranks.
            #[track_caller]
            pub fn run_in_place<R, O>(mut self, values: &mut R, operation: O) -> Result<()>
            where
                R: BufferMut + ?Sized,
                O: Reduction<R::Element>,
            {
                let at = Location::caller();
                let arguments = self.made_in_place(at, values.elements_mut(), Held::Lent(&operation));
                self.0.run(at, arguments)
            }

            /// Starts it in place; the request's data is `values`.
            ///
            /// # Errors
            /// As for `run_in_place`.
            #[track_caller]
            pub fn start_in_place<'a, R, O, Sc>(
                mut self,
                scope: Sc,
                values: &'a mut R,
                operation: O,
            ) -> Result<Request<'a, R, Sc>>
            where
                R: BufferMut + ?Sized,
                O: Reduction<R::Element> + 'a,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let (data, values) = lent_mut(values);
                let arguments = self.made_in_place(at, values, Held::Own(operation));
                self.0.request(at, scope, arguments, data)
            }
        }
    )*};
}

vectors_and_operation! {
    AllReduce "all_reduce_in_place",
    Scan "scan_in_place",
    ExclusiveScan "exclusive_scan_in_place",
}

impl Broadcast<'_> {
    fn made<'b, T: Pod>(&mut self, at: At, buffer: &'b mut [T]) -> Result<Arguments<'b>> {
        Ok(Arguments::new(at, buffer.len(), &[], buffer))
    }

    /// Runs it; see [`Process::broadcast_into`](super::Process::broadcast_into).
    ///
    /// # Errors
    /// [`Error::Root`]; options that cannot be honoured; what goes wrong between ranks.
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
        B: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (data, buffer) = lent_mut(buffer.elements_mut());
        let arguments = self.made(at, buffer);
        self.0.persistent(at, scope, arguments, (std::ptr::NonNull::dangling().as_ptr(), data))
    }
}

impl Scatter<'_> {
    fn made<'b, T: Pod>(&mut self, at: At, send: Option<&'b [T]>, receive: &'b mut [T]) -> Result<Arguments<'b>> {
        let send = send.filter(|_| self.0.is_root()).unwrap_or_default();
        let expected = receive.len().saturating_mul(self.0.call.size);
        let checked = match self.0.is_root() {
            true => length("send", send.len(), expected, "one block a rank, as long as receive"),
            false => Ok(()),
        };
        checked.map(|()| Arguments::new(at, receive.len(), send, receive))
    }

    /// Runs it: `send` on the root only (elsewhere `None`, and ignored), `receive` on all ranks; `send` is
    /// [`Hypercube::size`](super::Hypercube::size) times as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
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
    ) -> Result<Persistent<'a, [S::Element], [S::Element], Sc>>
    where
        S: BufferMut + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
        let arguments = self.made(at, Some(&*send), receive);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Gather<'_> {
    fn made<'b, T: Pod>(&mut self, at: At, send: &'b [T], receive: Option<&'b mut [T]>) -> Result<Arguments<'b>> {
        let receive = receive.filter(|_| self.0.is_root()).unwrap_or_default();
        let expected = send.len().saturating_mul(self.0.call.size);
        let checked = match self.0.is_root() {
            true => length("receive", receive.len(), expected, "one block a rank, as long as send"),
            false => Ok(()),
        };
        checked.map(|()| Arguments::new(at, send.len(), send, receive))
    }

    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); `receive` is
    /// [`Hypercube::size`](super::Hypercube::size) times as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
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
    ) -> Result<Persistent<'a, [S::Element], [S::Element], Sc>>
    where
        S: BufferMut + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
        let arguments = self.made(at, send, Some(receive));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Reduce<'_> {
    fn made<'b, T: Pod, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        send: &'b [T],
        receive: Option<&'b mut [T]>,
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

    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); equal lengths.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; what goes wrong between
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
    ) -> Result<Persistent<'a, [S::Element], [S::Element], Sc>>
    where
        S: BufferMut + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
        let arguments = self.made(at, send, Some(receive), Held::Own(operation));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

/// Arguments of a call between two ranks, or of one given as data: their lengths are compared with what the call says.
fn compared<'b, T: Pod>(
    prepared: &mut Prepared,
    at: At,
    count: usize,
    send: Option<&'b [T]>,
    receive: Option<&'b mut [T]>,
) -> Arguments<'b> {
    let (send, receive) = (send.unwrap_or_default(), receive.unwrap_or_default());
    prepared.lengths = Some([send.len(), receive.len()]);
    Arguments::new(at, count, send, receive)
}

impl Send<'_> {
    /// Runs it: `count` elements on all ranks, `send` on the sending rank only, `receive` on the receiving one only (elsewhere
    /// `None`, and ignored). The other ranks may pass data on; their `T` is the same.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<T: Pod>(mut self, count: usize, send: Option<&[T]>, receive: Option<&mut [T]>) -> Result<()> {
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
    pub fn start<'a, T: Pod, Sc: Scope<'a>>(
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
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<T: Pod>(mut self, count: usize, send: Option<&[T]>, receive: Option<&mut [T]>) -> Result<()> {
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
    pub fn start<'a, T: Pod, Sc: Scope<'a>>(
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
    /// [`Error::Length`]; [`Error::Root`]; [`Error::Permutation`]; [`Error::Operation`] for a reduction or a product of matrices,
    /// which have calls of their own; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run<T: Pod>(mut self, send: &[T], receive: &mut [T]) -> Result<()> {
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
    pub fn start<'a, T: Pod, Sc: Scope<'a>>(
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
    pub fn init<'a, T: Pod, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut [T],
    ) -> Result<Persistent<'a, [T], [T], Sc>> {
        let at = Location::caller();
        let checked = self.is_plain(std::any::type_name::<T>());
        let count = self.0.call.count;
        let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
        let arguments = compared(&mut self.0, at, count, Some(&*send), Some(receive));
        self.0.persistent(at, scope, checked.map(|()| arguments), (from, into))
    }

    /// Runs a product of matrices: `send` holds this rank's block of A, slab by slab, and then that of B. `multiply` adds to the last
    /// matrix the product of the first two, given the columns of the first; all as the bytes of elements.
    #[track_caller]
    pub(crate) fn multiply<T: Pod>(
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
