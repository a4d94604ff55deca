//! Persistent collectives: planned once, started again and again. MPI 4 has them under these names.
//!
//! See [`Persistent`](crate::request::Persistent). The long forms with options have `init` beside `run`.

use super::{Hypercube, Process};
use crate::buffer::WithinSliceMut;
use crate::collective::Collective;
use crate::engine::arguments::Arguments;
use crate::error::Result;
use crate::operation::Reduction;
use crate::raw::request::{Persistent, PersistentOf, Scope, StaticScope};
use std::panic::Location;
use std::ptr::NonNull;

impl Hypercube {
    /// A persistent [`Hypercube::barrier`].
    ///
    /// # Errors
    /// What goes wrong between ranks.
    #[track_caller]
    pub fn barrier_init(&self) -> Result<Persistent<'static, (), ()>> {
        let at = Location::caller();
        let arguments = Ok(Arguments::new::<u8>(at, 0, &[], &mut []));
        let none = NonNull::dangling().as_ptr();
        self.prepare(Collective::Barrier, 0).persistent(at, StaticScope, arguments, (none, none))
    }

    /// A persistent [`Hypercube::all_gather_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn all_gather_init<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_gather().init(scope, send, receive)
    }

    /// A persistent [`Hypercube::all_to_all_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn all_to_all_init<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_to_all().init(scope, send, receive)
    }

    /// A persistent [`Hypercube::neighbor_all_to_all_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn neighbor_all_to_all_init<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.neighbor_all_to_all().init(scope, send, receive)
    }

    /// A persistent [`Hypercube::all_reduce_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn all_reduce_init<'a, S, R, O, Sc>(
        &self,
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
        self.all_reduce().init(scope, send, receive, operation)
    }

    /// A persistent [`Hypercube::reduce_scatter_block_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn reduce_scatter_block_init<'a, S, R, O, Sc>(
        &self,
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
        self.reduce_scatter().init(scope, send, receive, operation)
    }

    /// A persistent [`Hypercube::permute_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn permute_init<'a, S, R, Sc>(
        &self,
        scope: Sc,
        permutation: &[usize],
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.permute(permutation).init(scope, send, receive)
    }
}

impl Process<'_> {
    /// A persistent [`Process::broadcast_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn broadcast_init<'a, R, Sc>(
        &self,
        scope: Sc,
        buffer: &'a mut R,
    ) -> Result<Persistent<'a, (), [R::Element], Sc>>
    where
        R: WithinSliceMut + ?Sized,
        Sc: Scope<'a>,
    {
        self.cube.broadcast(self.rank).init(scope, buffer)
    }

    /// A persistent scatter, on all ranks; `send` counts on the root only, and may be empty elsewhere.
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn scatter_init<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.cube.scatter(self.rank).init(scope, send, receive)
    }

    /// A persistent gather, on all ranks; `receive` counts on the root only, and may be empty elsewhere.
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn gather_init<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, S::Element, Sc>>
    where
        S: WithinSliceMut + ?Sized,
        R: WithinSliceMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.cube.gather(self.rank).init(scope, send, receive)
    }

    /// A persistent reduce, on all ranks; `receive` counts on the root only, and may be empty elsewhere.
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn reduce_init<'a, S, R, O, Sc>(
        &self,
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
        self.cube.reduce(self.rank).init(scope, send, receive, operation)
    }
}
