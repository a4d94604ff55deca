//! Nonblocking collectives: rsmpi's `immediate_*`, with its argument order and scopes, and requests that return [`Result`]s.
//!
//! All ranks start their calls in the same order; they may finish them in any. See [`crate::request`].

use super::{Hypercube, Process};
use crate::buffer::{Buffer, BufferMut};
use crate::collective::Collective;
use crate::engine::arguments::Arguments;
use crate::error::Result;
use crate::operation::Reduction;
use crate::raw::request::{Request, Scope, StaticScope};
use std::panic::Location;

impl Hypercube {
    /// A nonblocking [`Hypercube::barrier`].
    ///
    /// # Errors
    /// What goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let entered = cube.immediate_barrier().unwrap();
    ///     // ... work on something else ...
    ///     entered.wait().unwrap(); // all ranks have started it
    /// });
    /// ```
    #[track_caller]
    pub fn immediate_barrier(&self) -> Result<Request<'static, [u8]>> {
        let (at, none): (_, &'static mut [u8]) = (Location::caller(), &mut []);
        let data = std::ptr::from_ref(&*none);
        let arguments = Ok(Arguments::new(at, 0, &[], none));
        self.prepare(Collective::Barrier, 0).request(at, StaticScope, arguments, data)
    }

    /// A nonblocking [`Hypercube::all_gather_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_all_gather_into<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_gather().start(scope, send, receive)
    }

    /// A nonblocking [`Hypercube::all_to_all_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_all_to_all_into<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_to_all().start(scope, send, receive)
    }

    /// A nonblocking [`Hypercube::neighbor_all_to_all_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_neighbor_all_to_all_into<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.neighbor_all_to_all().start(scope, send, receive)
    }

    /// A nonblocking [`Hypercube::all_reduce_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_all_reduce_into<'a, S, R, O, Sc>(
        &self,
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
        self.all_reduce().start(scope, send, receive, operation)
    }

    /// A nonblocking [`Hypercube::reduce_scatter_block_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_reduce_scatter_block_into<'a, S, R, O, Sc>(
        &self,
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
        self.reduce_scatter().start(scope, send, receive, operation)
    }

    /// A nonblocking [`Hypercube::permute_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_permute_into<'a, S, R, Sc>(
        &self,
        scope: Sc,
        permutation: &[usize],
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.permute(permutation).start(scope, send, receive)
    }

    /// A nonblocking [`Hypercube::all_gather_in_place`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_all_gather_in_place<'a, R, Sc>(&self, scope: Sc, blocks: &'a mut R) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_gather().start_in_place(scope, blocks)
    }

    /// A nonblocking [`Hypercube::all_reduce_in_place`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_all_reduce_in_place<'a, R, O, Sc>(
        &self,
        scope: Sc,
        values: &'a mut R,
        operation: O,
    ) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element> + 'a,
        Sc: Scope<'a>,
    {
        self.all_reduce().start_in_place(scope, values, operation)
    }
}

impl Process<'_> {
    /// A nonblocking [`Process::broadcast_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{request, threads};
    /// threads::run(4, |cube| {
    ///     let mut data = [if cube.rank() == 1 { 7 } else { 0 }; 5];
    ///     request::scope(|scope| {
    ///         let request = cube.process_at_rank(1).immediate_broadcast_into(scope, &mut data).unwrap();
    ///         // ... work on something else ...
    ///         assert_eq!(request.wait_for_data().unwrap(), &[7; 5]);
    ///     });
    /// });
    /// ```
    #[track_caller]
    pub fn immediate_broadcast_into<'a, R, Sc>(&self, scope: Sc, buffer: &'a mut R) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        self.cube.broadcast(self.rank).start(scope, buffer)
    }

    /// A nonblocking [`Process::scatter_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_scatter_into<'a, R, Sc>(&self, scope: Sc, receive: &'a mut R) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_scatter_into", "immediate_scatter_into_root", false)?;
        self.cube.scatter(self.rank).start(scope, None::<&[R::Element]>, receive)
    }

    /// A nonblocking [`Process::scatter_into_root`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_scatter_into_root<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_scatter_into_root", "immediate_scatter_into", true)?;
        self.cube.scatter(self.rank).start(scope, Some(send), receive)
    }

    /// A nonblocking [`Process::gather_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_gather_into<'a, S, Sc>(&self, scope: Sc, send: &'a S) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_gather_into", "immediate_gather_into_root", false)?;
        self.cube.gather(self.rank).start(scope, send, None::<&'a mut [S::Element]>)
    }

    /// A nonblocking [`Process::gather_into_root`]. The request's data is what is sent.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_gather_into_root<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_gather_into_root", "immediate_gather_into", true)?;
        self.cube.gather(self.rank).start(scope, send, Some(receive))
    }

    /// A nonblocking [`Process::reduce_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_reduce_into<'a, S, O, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        operation: O,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        self.role("immediate_reduce_into", "immediate_reduce_into_root", false)?;
        self.cube.reduce(self.rank).start(scope, send, None::<&'a mut [S::Element]>, operation)
    }

    /// A nonblocking [`Process::reduce_into_root`]. The request's data is what is sent.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_reduce_into_root<'a, S, R, O, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        operation: O,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        self.role("immediate_reduce_into_root", "immediate_reduce_into", true)?;
        self.cube.reduce(self.rank).start(scope, send, Some(receive), operation)
    }
}
