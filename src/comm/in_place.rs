//! Collectives in place, which rsmpi does not have: the short forms. `run_in_place`, `start_in_place` and `init_in_place` of the long ones
//! take options, and make nonblocking and persistent calls.

use super::{Hypercube, Process};
use crate::buffer::{Buffer, BufferMut};
use crate::error::Result;
use crate::operation::Reduction;

impl Hypercube {
    /// All-to-all in place: block j of `blocks` goes to rank j, and becomes the block that comes from there.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if the length is no multiple of the number of ranks; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut blocks = [0, 1, 2].map(|to| 10 * cube.rank() + to);
    ///     cube.all_to_all_in_place(&mut blocks).unwrap();
    ///     assert_eq!(blocks, [0, 1, 2].map(|from| 10 * from + cube.rank()));
    /// });
    /// ```
    #[track_caller]
    pub fn all_to_all_in_place<R: BufferMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.all_to_all().run_in_place(blocks)
    }

    /// Neighbourhood all-to-all in place: block j of `blocks` goes to the neighbour across port j, and becomes the block that comes from there;
    /// where there is no such rank, it stays.
    ///
    /// # Errors
    /// As [`Hypercube::neighbor_all_to_all_into`].
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut blocks = [10 * cube.rank(), 10 * cube.rank() + 1];
    ///     cube.neighbor_all_to_all_in_place(&mut blocks).unwrap();
    ///     assert_eq!(blocks, [[10, 21], [0, 11], [20, 1]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn neighbor_all_to_all_in_place<R: BufferMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.neighbor_all_to_all().run_in_place(blocks)
    }

    /// Permutation in place: `values` goes to rank `permutation[rank]`, and becomes what comes from the rank whose target this one is.
    ///
    /// # Errors
    /// As [`Hypercube::permute_into`].
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut values = [cube.rank(); 2];
    ///     cube.permute_in_place(&[1, 2, 0], &mut values).unwrap();
    ///     assert_eq!(values, [(cube.rank() + 2) % 3; 2]);
    /// });
    /// ```
    #[track_caller]
    pub fn permute_in_place<R: BufferMut + ?Sized>(&self, permutation: &[usize], values: &mut R) -> Result<()> {
        self.permute(permutation).run_in_place(values)
    }

    /// Reduce-scatter in place: `values` is [`Hypercube::size`] blocks; the first becomes this rank's block of the combination of all
    /// ranks'. The others stay as they are.
    ///
    /// # Errors
    /// As [`Hypercube::reduce_scatter_block_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(2, |cube| {
    ///     let mut values = [1, 2];
    ///     cube.reduce_scatter_block_in_place(&mut values, SystemOperation::sum()).unwrap();
    ///     assert_eq!(values, [[2, 2], [4, 2]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn reduce_scatter_block_in_place<R, O>(&self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        self.reduce_scatter().run_in_place(values, operation)
    }
}

impl Process<'_> {
    /// Scatter in place, on the root: block i of `blocks` to rank i; its own stays where it is. The other ranks call
    /// [`Process::scatter_into`].
    ///
    /// # Errors
    /// As [`Process::scatter_into_root`].
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(1);
    ///     if cube.rank() == 1 {
    ///         root.scatter_in_place_root(&[5usize, 6, 7]).unwrap();
    ///     } else {
    ///         let mut mine = 0;
    ///         root.scatter_into(&mut mine).unwrap();
    ///         assert_eq!(mine, 5 + cube.rank());
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn scatter_in_place_root<S: Buffer + ?Sized>(&self, blocks: &S) -> Result<()> {
        self.role("scatter_in_place_root", "scatter_into", true)?;
        self.cube.scatter(self.rank).run_in_place(blocks)
    }

    /// Gather in place, on the root: block i of `blocks` becomes that of rank i; its own is there. The other ranks call
    /// [`Process::gather_into`].
    ///
    /// # Errors
    /// As [`Process::gather_into_root`].
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(1);
    ///     if cube.rank() == 1 {
    ///         let mut blocks = [0usize, 6, 0];
    ///         root.gather_in_place_root(&mut blocks).unwrap();
    ///         assert_eq!(blocks, [5, 6, 7]);
    ///     } else {
    ///         root.gather_into(&(5 + cube.rank())).unwrap();
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn gather_in_place_root<R: BufferMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.role("gather_in_place_root", "gather_into", true)?;
        self.cube.gather(self.rank).run_in_place(blocks)
    }

    /// Reduce in place, on the root: `values` is its contribution and becomes the result. The other ranks call [`Process::reduce_into`].
    ///
    /// # Errors
    /// As [`Process::reduce_into_root`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(0);
    ///     let mut sum = cube.rank() + 1;
    ///     if cube.rank() == 0 {
    ///         root.reduce_in_place_root(&mut sum, SystemOperation::sum()).unwrap();
    ///         assert_eq!(sum, 6);
    ///     } else {
    ///         root.reduce_into(&sum, SystemOperation::sum()).unwrap();
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn reduce_in_place_root<R, O>(&self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        self.role("reduce_in_place_root", "reduce_into", true)?;
        self.cube.reduce(self.rank).run_in_place(values, operation)
    }
}
