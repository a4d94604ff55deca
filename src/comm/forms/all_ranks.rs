//! Collectives with two buffers on every rank.

use super::{reduces, At};
use crate::address::dimension_for;
use crate::buffer::{Buffer, BufferMut, Element, Elements, ElementsMut, WithinSliceMut};
use crate::comm::prepared::{
    block, length, one_of, AllGather, AllReduce, AllToAll, ExclusiveScan, NeighborAllToAll, Permute, ReduceScatter,
    Scan,
};
use crate::engine::arguments::{Arguments, Held};
use crate::error::Result;
use crate::operation::Reduction;
use crate::raw::lent_mut;
use crate::raw::request::{PersistentOf, Request, Scope};
use std::panic::Location;

/// The forms of a collective with two buffers on every rank.
macro_rules! two_buffers {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it; see [`Hypercube::", $call, "`](crate::Hypercube::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
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
            ) -> Result<PersistentOf<'a, S::Element, Sc>>
            where
                S: WithinSliceMut + ?Sized,
                R: WithinSliceMut<Element = S::Element> + ?Sized,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let ((from, send), (into, receive)) = (send.kept(), receive.kept());
                let arguments = self.made(at, send.into(), receive);
                self.0.persistent(at, scope, arguments, (from, into))
            }
        }
    )*};
}

two_buffers! {
    AllGather "all_gather_into",
    AllToAll "all_to_all_into",
    NeighborAllToAll "neighbor_all_to_all_into",
    Permute "permute_into",
}

/// The forms of a reduction with two buffers on every rank.
macro_rules! two_buffers_and_operation {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it; see [`Hypercube::", $call, "`](crate::Hypercube::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length); [`Error::Operation`](crate::Error::Operation); options that cannot be honoured; what goes wrong between ranks.
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
            ) -> Result<PersistentOf<'a, S::Element, Sc>>
            where
                S: WithinSliceMut + ?Sized,
                R: WithinSliceMut<Element = S::Element> + ?Sized,
                O: Reduction<S::Element> + 'a,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let ((from, send), (into, receive)) = (send.kept(), receive.kept());
                let arguments = self.made(at, send.into(), receive, Held::Own(operation));
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
    fn made<'b, T: Element>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: ElementsMut<'b, T>,
    ) -> Result<Arguments<'b>> {
        let expected = send.len().saturating_mul(self.0.call.size);
        let checked = length("receive", receive.len(), expected, "one block a rank, as long as send");
        checked.map(|()| Arguments::new(at, send.len(), send, receive))
    }

    pub(super) fn made_in_place<'b, T: Element>(
        &mut self,
        at: At,
        blocks: ElementsMut<'b, T>,
    ) -> Result<Arguments<'b>> {
        self.0.call.in_place = true;
        let count = block("blocks", blocks.len(), self.0.call.size);
        count.map(|count| Arguments::new(at, count, Elements::default(), blocks))
    }
}

/// Exchanges of blocks, as many as all ranks or all ports.
macro_rules! exchanges {
    ($($name:ident $blocks:expr;)*) => {$(
        impl $name<'_> {
            fn made<'b, T: Element>(
                &mut self,
                at: At,
                send: Elements<'b, T>,
                receive: ElementsMut<'b, T>,
            ) -> Result<Arguments<'b>> {
                let checked = length("receive", receive.len(), send.len(), "as long as send");
                let count = one_of("send", send.len(), $blocks(self.0.call.size)).and_then(|count| checked.map(|()| count));
                count.map(|count| Arguments::new(at, count, send, receive))
            }

            pub(super) fn made_in_place<'b, T: Element>(
                &mut self,
                at: At,
                blocks: ElementsMut<'b, T>,
            ) -> Result<Arguments<'b>> {
                self.0.copied_in_place();
                let count = one_of("blocks", blocks.len(), $blocks(self.0.call.size));
                count.map(|count| Arguments::new(at, count, blocks.copied(), blocks))
            }
        }
    )*};
}

exchanges! {
    AllToAll |size| (size, "one block a rank");
    NeighborAllToAll |size| (dimension_for(size) as usize, "one block a port");
}

impl Permute<'_> {
    fn made<'b, T: Element>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: ElementsMut<'b, T>,
    ) -> Result<Arguments<'b>> {
        let checked = length("receive", receive.len(), send.len(), "as long as send");
        checked.map(|()| Arguments::new(at, send.len(), send, receive))
    }

    pub(super) fn made_in_place<'b, T: Element>(
        &mut self,
        at: At,
        values: ElementsMut<'b, T>,
    ) -> Result<Arguments<'b>> {
        self.0.copied_in_place();
        Ok(Arguments::new(at, values.len(), values.copied(), values))
    }
}

impl ReduceScatter<'_> {
    pub(super) fn made_in_place<'b, T: Element, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        values: ElementsMut<'b, T>,
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        self.0.copied_in_place();
        let count = block("values", values.len(), self.0.call.size)?;
        reduces(&mut self.0, operation.get())?;
        Ok(Arguments::reducing(at, count, values.copied(), values.first(count), operation))
    }

    fn made<'b, T: Element, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: ElementsMut<'b, T>,
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        let expected = receive.len().saturating_mul(self.0.call.size);
        let checked = length("send", send.len(), expected, "one block a rank, as long as receive");
        let checked = checked.and_then(|()| reduces(&mut self.0, operation.get()));
        checked.map(|()| Arguments::reducing(at, receive.len(), send, receive, operation))
    }
}

/// What the arguments of a reduction of vectors have to be that leaves a vector on every rank.
macro_rules! vectors_and_operation {
    ($($name:ident)*) => {$(
        impl $name<'_> {
            fn made<'b, T: Element, O: Reduction<T> + 'b>(
                &mut self,
                at: At,
                send: Elements<'b, T>,
                receive: ElementsMut<'b, T>,
                operation: Held<'b, O>,
            ) -> Result<Arguments<'b>> {
                let (receive, checked) = match self.0.receives() {
                    true => {
                        let checked = length("receive", receive.len(), send.len(), "as long as send");
                        (receive, checked)
                    }
                    // Where nothing ends, any buffer will do, and is not looked at.
                    false => (ElementsMut::default(), Ok(())),
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
                self.0.call.in_place = true;
                let checked = reduces(&mut self.0, operation.get());
                checked.map(|()| Arguments::reducing(at, values.len(), Elements::default(), values, operation))
            }
        }
    )*};
}

vectors_and_operation! { AllReduce Scan ExclusiveScan }
