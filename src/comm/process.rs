//! A rank as the root of collectives.

use super::Hypercube;
use crate::buffer::{Buffer, BufferMut};
use crate::error::{Error, Result};
use crate::operation::Reduction;
use std::panic::Location;

/// A rank as the root of collectives, as in rsmpi. All ranks make the same call for the same root.
///
/// # Examples
/// ```
/// use hypercoll::SystemOperation;
/// hypercoll::threads::run(3, |cube| {
///     let root = cube.process_at_rank(2);
///     let mut sum = 0usize;
///     if cube.rank() == root.rank() {
///         root.reduce_into_root(&cube.rank(), &mut sum, SystemOperation::sum()).unwrap();
///         assert_eq!(sum, 3);
///     } else {
///         root.reduce_into(&cube.rank(), SystemOperation::sum()).unwrap();
///     }
/// });
/// ```
#[derive(Clone, Copy)]
pub struct Process<'c> {
    pub(super) cube: &'c Hypercube,
    pub(super) rank: usize,
}

impl<'c> Process<'c> {
    /// The communicator.
    #[cfg(feature = "mpi")]
    pub(crate) fn cube(&self) -> &'c Hypercube {
        self.cube
    }
}

impl Process<'_> {
    /// The rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Broadcast: `buffer` of this process to all ranks. All ranks: buffers of equal length.
    ///
    /// # Errors
    /// [`Error::Root`]; what goes wrong between ranks.
    #[track_caller]
    pub fn broadcast_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<()> {
        self.cube.broadcast(self.rank).run(buffer)
    }

    /// Scatter, on all ranks but the root: `receive` becomes this rank's block of the root's buffer.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; what goes wrong between ranks.
    #[track_caller]
    pub fn scatter_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<()> {
        self.role("scatter_into", "scatter_into_root", false)?;
        self.cube.scatter(self.rank).run(None::<&[R::Element]>, receive)
    }

    /// Scatter, on the root: block i of `send` to rank i. `send` is [`Hypercube::size`] times as long as `receive`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Length`]; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(0);
    ///     let mut mine = [0; 2];
    ///     if cube.rank() == 0 {
    ///         root.scatter_into_root(&[0, 1, 2, 3, 4, 5], &mut mine).unwrap();
    ///     } else {
    ///         root.scatter_into(&mut mine).unwrap();
    ///     }
    ///     assert_eq!(mine, [[0, 1], [2, 3], [4, 5]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn scatter_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.role("scatter_into_root", "scatter_into", true)?;
        self.cube.scatter(self.rank).run(Some(send), receive)
    }

    /// Gather, on all ranks but the root: `send` becomes this rank's block in the root's buffer.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; what goes wrong between ranks.
    #[track_caller]
    pub fn gather_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<()> {
        self.role("gather_into", "gather_into_root", false)?;
        self.cube.gather(self.rank).run(send, None::<&mut [S::Element]>)
    }

    /// Gather, on the root: `receive` becomes the blocks of all ranks. It is [`Hypercube::size`] times as long as `send`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Length`]; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(0);
    ///     let mine = [b'a' + cube.rank() as u8];
    ///     if cube.rank() == 0 {
    ///         let mut all = [0; 3];
    ///         root.gather_into_root(&mine, &mut all).unwrap();
    ///         assert_eq!(&all, b"abc");
    ///     } else {
    ///         root.gather_into(&mine).unwrap();
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn gather_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.role("gather_into_root", "gather_into", true)?;
        self.cube.gather(self.rank).run(send, Some(receive))
    }

    /// Reduce, on all ranks but the root: contributes `send`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; [`Error::Operation`]; what goes wrong between ranks.
    #[track_caller]
    pub fn reduce_into<S, O>(&self, send: &S, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        O: Reduction<S::Element>,
    {
        self.role("reduce_into", "reduce_into_root", false)?;
        self.cube.reduce(self.rank).run(send, None::<&mut [S::Element]>, operation)
    }

    /// Reduce, on the root: `receive` becomes the element-wise combination of `send` of all ranks; equal lengths.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Length`]; [`Error::Operation`]; what goes wrong between ranks.
    #[track_caller]
    pub fn reduce_into_root<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.role("reduce_into_root", "reduce_into", true)?;
        self.cube.reduce(self.rank).run(send, Some(receive), operation)
    }

    /// Whether this rank may make the call; if not, the others are told.
    #[track_caller]
    pub(super) fn role(&self, call: &'static str, instead: &'static str, on_root: bool) -> Result<()> {
        let refused = match (self.rank >= self.cube.size, (self.cube.rank == self.rank) == on_root) {
            (true, _) => Error::Root { root: self.rank, size: self.cube.size },
            (_, false) => Error::Role { call, rank: self.cube.rank, root: self.rank, instead },
            (_, true) => return Ok(()),
        };
        self.cube.engine()?.intact()?;
        Err(self.cube.refuse(call, refused, Location::caller()))
    }
}
