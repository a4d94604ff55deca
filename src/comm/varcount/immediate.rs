//! The nonblocking and persistent short forms of calls with blocks of different lengths: rsmpi's `immediate_*_varcount_*`, and MPI 4's
//! `*_init`.
//!
//! Of a scatter and a gather, the nonblocking ones go the direct way: lengths that others need would have to be told before.

use crate::buffer::{Buffer, BufferMut, ContiguousMut, Element};
use crate::comm::{Hypercube, Process};
use crate::error::Result;
use crate::operation::Reduction;
use crate::partition::{Count, Partition, PartitionMut, Partitioned, PartitionedMut};
use crate::raw::request::{PersistentOf, Request, Scope};

impl Hypercube {
    /// A nonblocking [`Hypercube::all_gather_varcount_into`]. The request's data is the buffer of `receive`.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{request, threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let (send, mut receive) = (vec![cube.rank(); cube.rank()], [9; 3]);
    ///     let mut partition = PartitionMut::new(&mut receive, [0, 1, 2], [0, 0, 1]);
    ///     request::scope(|scope| {
    ///         let request = cube.immediate_all_gather_varcount_into(scope, &send, &mut partition).unwrap();
    ///         // ... work on something else ...
    ///         assert_eq!(request.wait_for_data().unwrap(), &[1, 2, 2]);
    ///     });
    /// });
    /// ```
    #[track_caller]
    pub fn immediate_all_gather_varcount_into<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R::Buffer, Sc>>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_gather().start_varcount(scope, send, receive)
    }

    /// A nonblocking [`Hypercube::all_to_all_varcount_into`]. The request's data is the buffer of `receive`.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_all_to_all_varcount_into<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R::Buffer, Sc>>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.all_to_all().start_varcount(scope, send, receive)
    }

    /// A nonblocking [`Hypercube::reduce_scatter_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_reduce_scatter_into<'a, S, R, I, O, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        counts: &[I],
        operation: O,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        I: Count,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        self.reduce_scatter().start_varcount(scope, send, receive, counts, operation)
    }

    /// A persistent [`Hypercube::all_gather_varcount_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn all_gather_varcount_init<'a, T: Element, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        R: PartitionedMut<Element = T> + ?Sized,
        R::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        self.all_gather().init_varcount(scope, send, receive)
    }

    /// A persistent [`Hypercube::all_to_all_varcount_into`]; what is sent is a [`PartitionMut`], as it changes between starts.
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn all_to_all_varcount_init<'a, T: Element, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        S: PartitionedMut<Element = T> + ?Sized,
        S::Buffer: ContiguousMut<Element = T>,
        R: PartitionedMut<Element = T> + ?Sized,
        R::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        self.all_to_all().init_varcount(scope, send, receive)
    }

    /// A persistent [`Hypercube::reduce_scatter_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn reduce_scatter_init<'a, T: Element, I: Count, O: Reduction<T> + 'a, Sc: Scope<'a>>(
        &self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut [T],
        counts: &[I],
        operation: O,
    ) -> Result<PersistentOf<'a, T, Sc>> {
        self.reduce_scatter().init_varcount(scope, send, receive, counts, operation)
    }
}

impl Process<'_> {
    /// A nonblocking [`Process::scatter_varcount_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_scatter_varcount_into<'a, R, Sc>(
        &self,
        scope: Sc,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_scatter_varcount_into", "immediate_scatter_varcount_into_root", false)?;
        self.cube.scatter(self.rank).start_varcount(scope, None::<&Partition<[R::Element]>>, receive)
    }

    /// A nonblocking [`Process::scatter_varcount_into_root`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_scatter_varcount_into_root<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Partitioned + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_scatter_varcount_into_root", "immediate_scatter_varcount_into", true)?;
        self.cube.scatter(self.rank).start_varcount(scope, Some(send), receive)
    }

    /// A nonblocking [`Process::gather_varcount_into`].
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_gather_varcount_into<'a, S, Sc>(&self, scope: Sc, send: &'a S) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_gather_varcount_into", "immediate_gather_varcount_into_root", false)?;
        self.cube.gather(self.rank).start_varcount(scope, send, None::<&'a mut PartitionMut<[S::Element]>>)
    }

    /// A nonblocking [`Process::gather_varcount_into_root`]. The request's data is what is sent.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_gather_varcount_into_root<'a, S, R, Sc>(
        &self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        self.role("immediate_gather_varcount_into_root", "immediate_gather_varcount_into", true)?;
        self.cube.gather(self.rank).start_varcount(scope, send, Some(receive))
    }

    /// A persistent scatter of blocks of different lengths, on all ranks; `send` on the root only (elsewhere `None`, and ignored).
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn scatter_varcount_init<'a, T: Element, S, Sc>(
        &self,
        scope: Sc,
        send: Option<&'a mut S>,
        receive: &'a mut [T],
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        S: PartitionedMut<Element = T> + ?Sized,
        S::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        self.cube.scatter(self.rank).init_varcount(scope, send, receive)
    }

    /// A persistent gather of blocks of different lengths, on all ranks; `receive` on the root only (elsewhere `None`, and ignored).
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn gather_varcount_init<'a, T: Element, R, Sc>(
        &self,
        scope: Sc,
        send: &'a mut [T],
        receive: Option<&'a mut R>,
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        R: PartitionedMut<Element = T> + ?Sized,
        R::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        self.cube.gather(self.rank).init_varcount(scope, send, receive)
    }
}
