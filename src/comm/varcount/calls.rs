//! The blocking short forms of calls with blocks of different lengths: rsmpi's `*_varcount_into`.

use crate::buffer::{Buffer, BufferMut};
use crate::comm::{Hypercube, Process};
use crate::error::Result;
use crate::operation::Reduction;
use crate::partition::{Count, Partitioned, PartitionedMut};

impl Hypercube {
    /// All-gather of blocks of different lengths: block r of `receive` becomes `send` of rank r.
    ///
    /// All ranks: the same counts; `send` has as many elements as the count of this rank. Displacements may differ between ranks.
    ///
    /// # Errors
    /// [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let send = vec![cube.rank(); cube.rank() + 1];
    ///     let mut receive = [9; 6];
    ///     cube.all_gather_varcount_into(&send, &mut PartitionMut::new(&mut receive, [1, 2, 3], [0, 1, 3])).unwrap();
    ///     assert_eq!(receive, [0, 1, 1, 2, 2, 2]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_gather_varcount_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        self.all_gather().run_varcount(send, receive)
    }

    /// All-to-all of blocks of different lengths: block j of `send` goes to rank j, block i of `receive` comes from rank i.
    ///
    /// All ranks: a rank's count for another one is what that one says that it receives. Blocks of `send` may overlap.
    ///
    /// # Errors
    /// [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length) if a rank's counts for itself differ; [`Error::Mismatch`](crate::Error::Mismatch), on all ranks, if two ranks'
    /// counts do; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, Partition, PartitionMut};
    /// threads::run(2, |cube| {
    ///     // To rank 0 the first element, to rank 1 all three.
    ///     let send = [10 * cube.rank(), 1, 2];
    ///     let length = [1, 3][cube.rank()];
    ///     let mut receive = vec![9; 2 * length];
    ///     let sent = Partition::new(&send, [1, 3], [0, 0]);
    ///     let mut received = PartitionMut::new(&mut receive, [length; 2], [0, length]);
    ///     cube.all_to_all_varcount_into(&sent, &mut received).unwrap();
    ///     assert_eq!(receive, [&[0, 10][..], &[0, 1, 2, 10, 1, 2]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_to_all_varcount_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        self.all_to_all().run_varcount(send, receive)
    }

    /// Reduce-scatter with blocks of different lengths: `receive` becomes this rank's block of the element-wise combination of `send` of all
    /// ranks, MPI's `MPI_Reduce_scatter`.
    ///
    /// All ranks: the same `counts`, one a rank; `send` has their sum, `receive` that of this rank.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(2, |cube| {
    ///     let send = [1, 2, 3];
    ///     let mut receive = vec![0; cube.rank() + 1];
    ///     cube.reduce_scatter_into(&send, &mut receive, &[1, 2], SystemOperation::sum()).unwrap();
    ///     assert_eq!(receive, [&[2][..], &[4, 6]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn reduce_scatter_into<S, R, I, O>(&self, send: &S, receive: &mut R, counts: &[I], operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        I: Count,
        O: Reduction<S::Element>,
    {
        self.reduce_scatter().run_varcount(send, receive, counts, operation)
    }
}

impl Process<'_> {
    /// Scatter of blocks of different lengths, on all ranks but the root: `receive` becomes this rank's block, and is as long.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Role`](crate::Error::Role) on the root; [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    #[track_caller]
    pub fn scatter_varcount_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<()> {
        self.role("scatter_varcount_into", "scatter_varcount_into_root", false)?;
        self.cube.scatter(self.rank).run_varcount(None::<&crate::Partition<[R::Element]>>, receive)
    }

    /// Scatter of blocks of different lengths, on the root: block i of `send` to rank i. The other ranks need not know the lengths but of
    /// their own block. Blocks may overlap.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Role`](crate::Error::Role) elsewhere; [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); [`Error::Mismatch`](crate::Error::Mismatch), on all ranks, if a rank
    /// expects a block of another length; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, Partition};
    /// threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(0);
    ///     let mut mine = vec![0; cube.rank()];
    ///     if cube.rank() == 0 {
    ///         root.scatter_varcount_into_root(&Partition::new(&[7, 8, 9], [0, 1, 2], [0, 0, 1]), &mut mine).unwrap();
    ///     } else {
    ///         root.scatter_varcount_into(&mut mine).unwrap();
    ///     }
    ///     assert_eq!(mine, [&[][..], &[7], &[8, 9]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn scatter_varcount_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.role("scatter_varcount_into_root", "scatter_varcount_into", true)?;
        self.cube.scatter(self.rank).run_varcount(Some(send), receive)
    }

    /// Gather of blocks of different lengths, on all ranks but the root: `send` becomes this rank's block.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Role`](crate::Error::Role) on the root; [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    #[track_caller]
    pub fn gather_varcount_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<()> {
        self.role("gather_varcount_into", "gather_varcount_into_root", false)?;
        self.cube.gather(self.rank).run_varcount(send, None::<&mut crate::PartitionMut<[S::Element]>>)
    }

    /// Gather of blocks of different lengths, on the root: block i of `receive` from rank i. The other ranks need not know the lengths.
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Role`](crate::Error::Role) elsewhere; [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); [`Error::Mismatch`](crate::Error::Mismatch), on all ranks, if a rank
    /// sends a block of another length; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(1);
    ///     let send = vec![cube.rank(); 2 - cube.rank()];
    ///     if cube.rank() == 1 {
    ///         let mut all = [9; 3];
    ///         root.gather_varcount_into_root(&send, &mut PartitionMut::new(&mut all, [2, 1, 0], [1, 0, 0])).unwrap();
    ///         assert_eq!(all, [1, 0, 0]);
    ///     } else {
    ///         root.gather_varcount_into(&send).unwrap();
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn gather_varcount_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        self.role("gather_varcount_into_root", "gather_varcount_into", true)?;
        self.cube.gather(self.rank).run_varcount(send, Some(receive))
    }
}
