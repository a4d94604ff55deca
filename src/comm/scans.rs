//! Prefix sums: all their short forms, and the long ones, which take options.

use super::prepared::{ExclusiveScan, Scan};
use super::Hypercube;
use crate::buffer::{Buffer, BufferMut, WithinSliceMut};
use crate::collective::Collective;
use crate::error::Result;
use crate::operation::Reduction;
use crate::raw::request::{PersistentOf, Request, Scope};

impl Hypercube {
    /// Scan: `receive` becomes the element-wise combination of `send` of ranks 0 to this one, in rank order.
    ///
    /// All ranks: both have the same length.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let ends = hypercoll::threads::run(4, |cube| {
    ///     // Every rank has some elements of a long list: where do they end in it?
    ///     let (mine, mut end) = ([3, 0, 5, 1][cube.rank()], 0);
    ///     cube.scan_into(&mine, &mut end, SystemOperation::sum()).unwrap();
    ///     end
    /// });
    /// assert_eq!(ends, [3, 3, 8, 9]);
    /// ```
    #[track_caller]
    pub fn scan_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.scan().run(send, receive, operation)
    }

    /// Exclusive scan: `receive` becomes the element-wise combination of `send` of the ranks below this one, in rank order. On rank 0,
    /// below which there is none, it stays as it is.
    ///
    /// All ranks: both have the same length; that of `receive` on rank 0 does not matter.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let starts = hypercoll::threads::run(4, |cube| {
    ///     // Every rank has some elements of a long list: where do they start in it?
    ///     let (mine, mut start) = ([3, 0, 5, 1][cube.rank()], 0);
    ///     cube.exclusive_scan_into(&mine, &mut start, SystemOperation::sum()).unwrap();
    ///     start
    /// });
    /// assert_eq!(starts, [0, 3, 3, 8]);
    /// ```
    #[track_caller]
    pub fn exclusive_scan_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.exclusive_scan().run(send, receive, operation)
    }

    /// Scan in place: `values` is contribution and result.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let sums = hypercoll::threads::run(3, |cube| {
    ///     let mut sums = [1, 10 * cube.rank()];
    ///     cube.scan_in_place(&mut sums, SystemOperation::sum()).unwrap();
    ///     sums
    /// });
    /// assert_eq!(sums, [[1, 0], [2, 10], [3, 30]]);
    /// ```
    #[track_caller]
    pub fn scan_in_place<R, O>(&self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        self.scan().run_in_place(values, operation)
    }

    /// A nonblocking [`Hypercube::scan_into`]. The request's data is `receive`.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_scan_into<'a, S, R, O, Sc>(
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
        self.scan().start(scope, send, receive, operation)
    }

    /// A nonblocking [`Hypercube::scan_in_place`]. The request's data is `values`.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_scan_in_place<'a, R, O, Sc>(
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
        self.scan().start_in_place(scope, values, operation)
    }

    /// A persistent [`Hypercube::scan_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn scan_init<'a, S, R, O, Sc>(
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
        self.scan().init(scope, send, receive, operation)
    }

    /// Exclusive scan in place: `values` is contribution and result; rank 0 keeps its contribution.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// let first = hypercoll::threads::run(3, |cube| {
    ///     let mut first = b"abc"[cube.rank()];
    ///     // An operation that does not commute: the left one of two.
    ///     cube.exclusive_scan_in_place(&mut first, |left: &u8, _: &u8| *left).unwrap();
    ///     first
    /// });
    /// assert_eq!(first, *b"aaa");
    /// ```
    #[track_caller]
    pub fn exclusive_scan_in_place<R, O>(&self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        self.exclusive_scan().run_in_place(values, operation)
    }

    /// A nonblocking [`Hypercube::exclusive_scan_into`]. The request's data is `receive`.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_exclusive_scan_into<'a, S, R, O, Sc>(
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
        self.exclusive_scan().start(scope, send, receive, operation)
    }

    /// A nonblocking [`Hypercube::exclusive_scan_in_place`]. The request's data is `values`.
    ///
    /// # Errors
    /// As the blocking call's; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn immediate_exclusive_scan_in_place<'a, R, O, Sc>(
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
        self.exclusive_scan().start_in_place(scope, values, operation)
    }

    /// A persistent [`Hypercube::exclusive_scan_into`].
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn exclusive_scan_init<'a, S, R, O, Sc>(
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
        self.exclusive_scan().init(scope, send, receive, operation)
    }

    /// A scan with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let largest = hypercoll::threads::run(4, |cube| {
    ///     let (mine, mut largest) = ([5, 2, 8, 3][cube.rank()], 0);
    ///     let call = cube.scan().algorithm("chain").packet(1);
    ///     call.run(&mine, &mut largest, SystemOperation::max()).unwrap();
    ///     largest
    /// });
    /// assert_eq!(largest, [5, 5, 8, 8]);
    /// ```
    pub fn scan(&self) -> Scan<'_> {
        Scan(self.prepare(Collective::Scan, 0))
    }

    /// An exclusive scan with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let largest = hypercoll::threads::run(4, |cube| {
    ///     let (mine, mut largest) = ([5, 2, 8, 3][cube.rank()], 0);
    ///     let call = cube.exclusive_scan().algorithm("chain").packet(1);
    ///     call.run(&mine, &mut largest, SystemOperation::max()).unwrap();
    ///     largest
    /// });
    /// assert_eq!(largest, [0, 5, 5, 8]);
    /// ```
    pub fn exclusive_scan(&self) -> ExclusiveScan<'_> {
        ExclusiveScan(self.prepare(Collective::ExclusiveScan, 0))
    }
}
