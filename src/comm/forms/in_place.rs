//! Collectives in place: one buffer that is sent and received into.
//!
//! All-gathers, all-reduces and prefix sums know that they are in place, and copy nothing. Of what other collectives send, the library takes
//! a copy when the call starts.

use crate::buffer::{BufferMut, WithinSliceMut};
use crate::comm::prepared::{
    AllGather, AllReduce, AllToAll, ExclusiveScan, Gather, NeighborAllToAll, Permute, Reduce, ReduceScatter, Scan,
};
use crate::engine::arguments::Held;
use crate::error::Result;
use crate::operation::Reduction;
use crate::raw::lent_mut;
use crate::raw::request::{Persistent, Request, Scope};
use std::panic::Location;
use std::ptr::NonNull;

/// The forms in place of collectives that combine nothing.
macro_rules! in_place {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it in place; see [`", $call, "`](crate::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
            #[track_caller]
            pub fn run_in_place<R: BufferMut + ?Sized>(mut self, buffer: &mut R) -> Result<()> {
                let at = Location::caller();
                let arguments = self.made_in_place(at, buffer.elements_mut());
                self.0.run(at, arguments)
            }

            /// Starts it in place; the request's data is `buffer`.
            ///
            /// # Errors
            /// As for `run_in_place`.
            #[track_caller]
            pub fn start_in_place<'a, R, Sc>(mut self, scope: Sc, buffer: &'a mut R) -> Result<Request<'a, R, Sc>>
            where
                R: BufferMut + ?Sized,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let (data, buffer) = lent_mut(buffer);
                let arguments = self.made_in_place(at, buffer);
                self.0.request(at, scope, arguments, data)
            }

            /// Makes it to be started again and again in place.
            ///
            /// # Errors
            /// As for `run_in_place`.
            #[track_caller]
            pub fn init_in_place<'a, R, Sc>(
                mut self,
                scope: Sc,
                buffer: &'a mut R,
            ) -> Result<Persistent<'a, (), [R::Element], Sc>>
            where
                R: WithinSliceMut + ?Sized,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let (data, buffer) = buffer.kept();
                let arguments = self.made_in_place(at, buffer);
                self.0.persistent(at, scope, arguments, (NonNull::dangling().as_ptr(), data))
            }
        }
    )*};
}

in_place! {
    AllGather "Hypercube::all_gather_in_place",
    AllToAll "Hypercube::all_to_all_in_place",
    NeighborAllToAll "Hypercube::neighbor_all_to_all_in_place",
    Permute "Hypercube::permute_in_place",
    Gather "comm::Process::gather_in_place_root",
}

/// The forms in place of reductions.
macro_rules! in_place_and_operation {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it in place; see [`", $call, "`](crate::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length); [`Error::Operation`](crate::Error::Operation); options that cannot be honoured; what goes wrong between ranks.
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

            /// Makes it to be started again and again in place.
            ///
            /// # Errors
            /// As for `run_in_place`.
            #[track_caller]
            pub fn init_in_place<'a, R, O, Sc>(
                mut self,
                scope: Sc,
                values: &'a mut R,
                operation: O,
            ) -> Result<Persistent<'a, (), [R::Element], Sc>>
            where
                R: WithinSliceMut + ?Sized,
                O: Reduction<R::Element> + 'a,
                Sc: Scope<'a>,
            {
                let at = Location::caller();
                let (data, values) = values.kept();
                let arguments = self.made_in_place(at, values, Held::Own(operation));
                self.0.persistent(at, scope, arguments, (NonNull::dangling().as_ptr(), data))
            }
        }
    )*};
}

in_place_and_operation! {
    AllReduce "Hypercube::all_reduce_in_place",
    Scan "Hypercube::scan_in_place",
    ExclusiveScan "Hypercube::exclusive_scan_in_place",
    Reduce "comm::Process::reduce_in_place_root",
    ReduceScatter "Hypercube::reduce_scatter_block_in_place",
}
