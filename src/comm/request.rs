//! Collective calls with options: put together, checked, run.

use super::Hypercube;
use crate::algorithm::{Order, PortModel};
use crate::buffer::{Buffer, BufferMut};
use crate::collective::{Call, Collective};
use crate::error::{Error, Result};
use crate::executor::Compute;
use crate::matrix::Scalar;
use crate::operation::Reduction;
use crate::schedule::Side;
use crate::select::Options;
use crate::topology::sbnt::Variant;
use bytemuck::Pod;

/// A call being put together.
#[derive(Clone)]
pub(super) struct Prepared<'c> {
    pub cube: &'c Hypercube,
    pub call: Call,
    pub options: Options,
}

impl Prepared<'_> {
    /// Plans and executes. `count` as in [`Call::count`]; the lengths of the buffers have been checked.
    pub fn go(
        mut self,
        count: usize,
        element: usize,
        send: &[u8],
        receive: &mut [u8],
        compute: Option<Compute>,
    ) -> Result<()> {
        self.cube.intact()?;
        self.call.count = count;
        let plan = self.cube.plan(&self.call, element, &self.options)?;
        if matches!(compute, Some(Compute::Multiply(_))) {
            receive.fill(0); // products are added to it
        }
        self.cube.execute(&plan, send, receive, compute)
    }

    /// [`Prepared::go`] with a check of the lengths.
    fn checked<T: Pod>(mut self, count: usize, send: &[T], receive: &mut [T]) -> Result<()> {
        self.cube.intact()?;
        self.call.count = count;
        let plan = self.cube.plan(&self.call, size_of::<T>(), &self.options)?;
        length("send", send.len(), plan.lengths.0, "what this rank contributes")?;
        length("receive", receive.len(), plan.lengths.1, "what this rank gets")?;
        self.cube.execute(&plan, bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }

    /// [`Prepared::go`] for a reduction.
    fn reduce<T: Pod>(
        mut self,
        count: usize,
        send: &[T],
        receive: &mut [T],
        operation: &impl Reduction<T>,
    ) -> Result<()> {
        if !operation.defined() || align_of::<T>() > align_of::<u128>() {
            return Err(Error::Operation { operation: operation.name(), element: std::any::type_name::<T>() });
        }
        self.call.ordered = !operation.commutes();
        let combine = |side: Side, from: &[u8], into: &mut [u8]| {
            operation.combine(side, bytemuck::cast_slice(from), bytemuck::cast_slice_mut(into))
        };
        let receive = bytemuck::cast_slice_mut(receive);
        self.go(count, size_of::<T>(), bytemuck::cast_slice(send), receive, Some(Compute::Combine(&combine)))
    }

    fn is_root(&self) -> bool {
        self.cube.rank == self.call.root
    }
}

fn length(argument: &'static str, got: usize, expected: usize, why: &'static str) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Length { argument, got, expected: expected.to_string(), why })
}

/// The length of a block, if `len` is made of `size` of them.
fn block(argument: &'static str, len: usize, size: usize) -> Result<usize> {
    if len.is_multiple_of(size) {
        return Ok(len / size);
    }
    Err(Error::Length { argument, got: len, expected: format!("a multiple of {size}"), why: "one block a rank" })
}

macro_rules! prepared {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        #[must_use = "nothing happens before run"]
        pub struct $name<'c>(pub(super) Prepared<'c>);

        impl $name<'_> {
            /// Names the algorithm instead of leaving it to the library (all ranks the same one).
            pub fn algorithm(mut self, name: &str) -> Self {
                self.0.options.algorithm = Some(name.to_string());
                self
            }

            /// Sets the packet size in elements, at least 1 (all ranks the same).
            pub fn packet(mut self, elements: usize) -> Self {
                self.0.options.packet = Some(elements);
                self
            }

            /// Sets the port model for which the schedule is made (all ranks the same).
            pub fn ports(mut self, ports: PortModel) -> Self {
                self.0.options.ports = Some(ports);
                self
            }

            /// Sets the order of the blocks, where the algorithm has several (all ranks the same).
            pub fn order(mut self, order: Order) -> Self {
                self.0.options.order = Some(order);
                self
            }

            /// Sets the spanning balanced n-tree, where the algorithm uses one (all ranks the same).
            pub fn variant(mut self, variant: Variant) -> Self {
                self.0.options.variant = Some(variant);
                self
            }

            /// Uses all dimensions at once (true) or one dimension at a time (false), on all ranks the same.
            pub fn symmetrized(mut self, on: bool) -> Self {
                self.0.options.symmetrized = Some(on);
                self
            }

            /// Sets all options at once.
            pub fn options(mut self, options: &Options) -> Self {
                self.0.options = options.clone();
                self
            }
        }
    )*};
}

prepared! {
    /// A broadcast with options; see [`Hypercube::broadcast`].
    Broadcast,
    /// A scatter with options; see [`Hypercube::scatter`].
    Scatter,
    /// A gather with options; see [`Hypercube::gather`].
    Gather,
    /// An all-gather with options; see [`Hypercube::all_gather`].
    AllGather,
    /// An all-to-all with options; see [`Hypercube::all_to_all`].
    AllToAll,
    /// A reduce with options; see [`Hypercube::reduce`].
    Reduce,
    /// A reduce-scatter with options; see [`Hypercube::reduce_scatter`].
    ReduceScatter,
    /// An all-reduce with options; see [`Hypercube::all_reduce`].
    AllReduce,
    /// A permutation with options; see [`Hypercube::permute`].
    Permute,
    /// A send with options; see [`Hypercube::send`].
    Send,
    /// An exchange of two ranks with options; see [`Hypercube::exchange`].
    Exchange,
    /// A call given as data, with options; see [`Hypercube::collective`].
    Given,
}

impl Broadcast<'_> {
    /// Runs it; see [`Process::broadcast_into`](super::Process::broadcast_into).
    ///
    /// # Errors
    /// [`Error::Root`]; options that cannot be honoured; failures of the transport.
    pub fn run<B: BufferMut + ?Sized>(self, buffer: &mut B) -> Result<()> {
        let elements = buffer.elements_mut();
        let count = elements.len();
        self.0.go(count, size_of::<B::Element>(), &[], bytemuck::cast_slice_mut(elements), None)
    }
}

impl Scatter<'_> {
    /// Runs it: `send` on the root only (elsewhere `None`, and ignored), `receive` on all ranks; `send` is
    /// [`Hypercube::size`] times as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: Option<&S>, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let receive = receive.elements_mut();
        let send = send.filter(|_| self.0.is_root()).map_or(&[][..], |send| send.elements());
        if self.0.is_root() {
            length("send", send.len(), receive.len() * self.0.call.size, "one block a rank, as long as receive")?;
        }
        let count = receive.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl Gather<'_> {
    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); `receive` is
    /// [`Hypercube::size`] times as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: Option<&mut R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let send = send.elements();
        let receive = receive.filter(|_| self.0.is_root()).map_or(&mut [][..], |receive| receive.elements_mut());
        if self.0.is_root() {
            length("receive", receive.len(), send.len() * self.0.call.size, "one block a rank, as long as send")?;
        }
        let count = send.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl AllGather<'_> {
    /// Runs it; see [`Hypercube::all_gather_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("receive", receive.len(), send.len() * self.0.call.size, "one block a rank, as long as send")?;
        let count = send.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }

    /// Runs it in place; see [`Hypercube::all_gather_in_place`].
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run_in_place<R: BufferMut + ?Sized>(mut self, blocks: &mut R) -> Result<()> {
        let blocks = blocks.elements_mut();
        let count = block("blocks", blocks.len(), self.0.call.size)?;
        self.0.call.in_place = true;
        self.0.go(count, size_of::<R::Element>(), &[], bytemuck::cast_slice_mut(blocks), None)
    }
}

impl AllToAll<'_> {
    /// Runs it; see [`Hypercube::all_to_all_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        let count = block("send", send.len(), self.0.call.size)?;
        length("receive", receive.len(), send.len(), "as long as send")?;
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl Reduce<'_> {
    /// Runs it: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); equal lengths.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; failures of the
    /// transport.
    pub fn run<S, R, O>(self, send: &S, receive: Option<&mut R>, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let send = send.elements();
        let receive = receive.filter(|_| self.0.is_root()).map_or(&mut [][..], |receive| receive.elements_mut());
        if self.0.is_root() {
            length("receive", receive.len(), send.len(), "as long as send")?;
        }
        self.0.reduce(send.len(), send, receive, &operation)
    }
}

impl ReduceScatter<'_> {
    /// Runs it; see [`Hypercube::reduce_scatter_block_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R, O>(self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("send", send.len(), receive.len() * self.0.call.size, "one block a rank, as long as receive")?;
        self.0.reduce(receive.len(), send, receive, &operation)
    }
}

impl AllReduce<'_> {
    /// Runs it; see [`Hypercube::all_reduce_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R, O>(self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("receive", receive.len(), send.len(), "as long as send")?;
        self.0.reduce(send.len(), send, receive, &operation)
    }

    /// Runs it in place; see [`Hypercube::all_reduce_in_place`].
    ///
    /// # Errors
    /// [`Error::Operation`]; options that cannot be honoured; failures of the transport.
    pub fn run_in_place<R, O>(mut self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        let values = values.elements_mut();
        self.0.call.in_place = true;
        self.0.reduce(values.len(), &[], values, &operation)
    }
}

impl Permute<'_> {
    /// Runs it; see [`Hypercube::permute_into`].
    ///
    /// # Errors
    /// [`Error::Permutation`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<S, R>(self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let (send, receive) = (send.elements(), receive.elements_mut());
        length("receive", receive.len(), send.len(), "as long as send")?;
        let count = send.len();
        self.0.go(count, size_of::<S::Element>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), None)
    }
}

impl Send<'_> {
    /// Runs it: `count` elements on all ranks, `send` on the sending rank only, `receive` on the receiving one only (elsewhere
    /// `None`, and ignored). The other ranks may pass data on; their `T` is the same.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<T: Pod>(self, count: usize, send: Option<&[T]>, receive: Option<&mut [T]>) -> Result<()> {
        let send = send.filter(|_| self.0.is_root()).unwrap_or_default();
        let receive = receive.filter(|_| self.0.cube.rank == self.0.call.peer).unwrap_or_default();
        self.0.checked(count, send, receive)
    }
}

impl Exchange<'_> {
    /// Runs it: `count` elements on all ranks, `send` and `receive` on the two ranks only (elsewhere `None`, and ignored). The
    /// other ranks may pass data on; their `T` is the same.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`]; options that cannot be honoured; failures of the transport.
    pub fn run<T: Pod>(self, count: usize, send: Option<&[T]>, receive: Option<&mut [T]>) -> Result<()> {
        let takes_part = [self.0.call.root, self.0.call.peer].contains(&self.0.cube.rank);
        let send = send.filter(|_| takes_part).unwrap_or_default();
        let receive = receive.filter(|_| takes_part).unwrap_or_default();
        self.0.checked(count, send, receive)
    }
}

impl Given<'_> {
    /// Runs it: buffers of [`Call::send_len`] and [`Call::receive_len`] elements.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Root`]; [`Error::Permutation`]; [`Error::Operation`] for a reduction or a product of matrices,
    /// which have calls of their own; options that cannot be honoured; failures of the transport.
    pub fn run<T: Pod>(self, send: &[T], receive: &mut [T]) -> Result<()> {
        let call = &self.0.call;
        if call.size != self.0.cube.size {
            let why = "the ranks of the communicator";
            return Err(Error::Length {
                argument: "size",
                got: call.size,
                expected: self.0.cube.size.to_string(),
                why,
            });
        }
        if call.collective.reduces() || call.collective == Collective::MatrixMultiply {
            let element = std::any::type_name::<T>();
            return Err(Error::Operation { operation: format!("none given for {}", call.collective), element });
        }
        let count = call.count;
        self.0.checked(count, send, receive)
    }
}

impl Given<'_> {
    /// Runs a product of matrices: `send` holds this rank's block of A, slab by slab, and then that of B.
    pub(crate) fn multiply<T: Scalar>(self, send: &[T], receive: &mut [T]) -> Result<()> {
        let multiply = |inner: usize, a: &[u8], b: &[u8], c: &mut [u8]| {
            T::multiply(inner, bytemuck::cast_slice(a), bytemuck::cast_slice(b), bytemuck::cast_slice_mut(c))
        };
        let count = self.0.call.count;
        let compute = Some(Compute::Multiply(&multiply));
        self.0.go(count, size_of::<T>(), bytemuck::cast_slice(send), bytemuck::cast_slice_mut(receive), compute)
    }
}
