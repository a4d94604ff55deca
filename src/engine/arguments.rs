//! The arguments of a call as the engine takes them: buffers as addresses, elements as bytes, operations as functions of bytes.

use super::kind;
use super::staging::{Staged, Staging};
use crate::buffer::{Element, Elements, ElementsMut};
use crate::executor::memory::Span;
use crate::hash::Fnv;
use crate::operation::Reduction;
use crate::raw::RawPlan;
use crate::schedule::Side;
use bytemuck::checked;
use std::any::type_name;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

/// Anything that is only kept.
trait Kept {}
impl<T> Kept for T {}

/// Combines the bytes of elements into others: `into = from op into`, or the other way round.
#[derive(Clone)]
pub(crate) struct Operator {
    data: *const (),
    act: unsafe fn(*const (), Side, &[u8], &mut [u8]),
    name: unsafe fn(*const ()) -> String,
    signature: u64,
    /// Keeps what `data` points to, where nobody else does.
    _kept: Option<Rc<dyn Kept>>,
}

/// # Safety
/// `data` points to an `O`.
unsafe fn combine<T: Element, O: Reduction<T>>(data: *const (), side: Side, from: &[u8], into: &mut [u8]) {
    // Of elements without bytes there is nothing to be seen, and so no place that is aligned for them.
    if !from.is_empty() {
        (*data.cast::<O>()).combine(side, checked::cast_slice(from), checked::cast_slice_mut(into));
    }
}

/// Whether these are the bytes of elements. All are, where there is nothing to be seen, and then nothing is looked at.
fn valid<T: Element>(bytes: &[u8]) -> bool {
    size_of::<T>() == 0
        || bytes.chunks_exact(size_of::<T>()).all(|one| checked::try_pod_read_unaligned::<T>(one).is_ok())
}

/// # Safety
/// As [`combine`].
unsafe fn name<T: Element, O: Reduction<T>>(data: *const ()) -> String {
    (*data.cast::<O>()).name()
}

/// # Safety
/// `data` points to an `O`.
unsafe fn combine_bytes<O: Reduction<u8>>(data: *const (), side: Side, from: &[u8], into: &mut [u8]) {
    (*data.cast::<O>()).combine(side, from, into);
}

impl Operator {
    /// # Safety
    /// `data` points to an `O` for as long as the operator is used.
    unsafe fn at<T: Element, O: Reduction<T>>(data: *const O, kept: Option<Rc<dyn Kept>>) -> Operator {
        let signature = (*data).signature();
        Operator { data: data.cast(), act: combine::<T, O>, name: name::<T, O>, signature, _kept: kept }
    }

    pub fn combine(&self, side: Side, from: &[u8], into: &mut [u8]) {
        // SAFETY: `at` was promised that the data is there for as long as the operator is used.
        unsafe { (self.act)(self.data, side, from, into) }
    }

    fn name(&self) -> String {
        // SAFETY: as in `combine`.
        unsafe { (self.name)(self.data) }
    }
}

/// An operation of a call: one that outlives it, or one that the call keeps.
pub(crate) enum Held<'b, O> {
    Lent(&'b O),
    Own(O),
}

impl<'b, O> Held<'b, O> {
    pub fn get(&self) -> &O {
        match self {
            Held::Lent(operation) => operation,
            Held::Own(operation) => operation,
        }
    }

    /// The operator, which is good for `'b`.
    #[inline]
    fn operator<T: Element>(self) -> Operator
    where
        O: Reduction<T> + 'b,
    {
        let kept = match self {
            // SAFETY: it outlives the arguments that this is made for.
            Held::Lent(operation) => return unsafe { Operator::at::<T, O>(operation, None) },
            Held::Own(operation) => Rc::new(operation),
        };
        let data = Rc::as_ptr(&kept);
        let kept: Rc<dyn Kept + 'b> = kept;
        // SAFETY: only the lifetime changes: what the operation borrows is borrowed for as long as the arguments are, and whoever
        // starts a call with them drops its copy of the operator when the call is over.
        let kept = unsafe { std::mem::transmute::<Rc<dyn Kept + 'b>, Rc<dyn Kept>>(kept) };
        // SAFETY: it is kept.
        unsafe { Operator::at::<T, O>(data, Some(kept)) }
    }
}

/// What a call computes.
#[derive(Clone)]
pub(crate) enum Compute {
    /// A reduction.
    Combine(Operator),
    /// Adds to the last matrix the product of the first two, given the columns of the first; all as the bytes of elements.
    Multiply(fn(usize, &[u8], &[u8], &mut [u8])),
}

/// The type of an element, in words.
#[derive(Clone, Copy)]
enum Named {
    Type(fn() -> &'static str),
    Name(&'static str),
}

/// The arguments of a call, whose buffers and operation are borrowed for `'b`.
#[derive(Clone)]
pub(crate) struct Arguments<'b> {
    /// As in [`Call::count`](crate::collective::Call::count).
    pub count: usize,
    /// Bytes of an element.
    pub element: usize,
    element_name: Named,
    kind: u64,
    pub buffers: [Span; 2],
    pub compute: Option<Compute>,
    /// What stands for the buffers, if they have gaps.
    pub staging: Option<Rc<Staging>>,
    /// Whether what was received is valid.
    pub valid: fn(&[u8]) -> bool,
    /// What else ranks must agree on, in words.
    pub besides: Option<Rc<str>>,
    /// The caller's source line.
    pub at: &'static Location<'static>,
    _borrowed: PhantomData<&'b mut ()>,
}

impl<'b> Arguments<'b> {
    #[inline]
    pub fn new<T: Element>(
        at: &'static Location<'static>,
        count: usize,
        send: impl Into<Elements<'b, T>>,
        receive: impl Into<ElementsMut<'b, T>>,
    ) -> Arguments<'b> {
        Arguments::with(at, count, send.into(), receive.into(), None)
    }

    /// The same with an operation.
    #[inline]
    pub fn reducing<T: Element, O: Reduction<T> + 'b>(
        at: &'static Location<'static>,
        count: usize,
        send: impl Into<Elements<'b, T>>,
        receive: impl Into<ElementsMut<'b, T>>,
        operation: Held<'b, O>,
    ) -> Arguments<'b> {
        Arguments::with(at, count, send.into(), receive.into(), Some(Compute::Combine(operation.operator::<T>())))
    }

    #[inline]
    fn with<T: Element>(
        at: &'static Location<'static>,
        count: usize,
        send: Elements<'b, T>,
        receive: ElementsMut<'b, T>,
        compute: Option<Compute>,
    ) -> Arguments<'b> {
        let bytes = [send.len(), receive.len()].map(|len| len * size_of::<T>());
        let starts = [send.start.cast_mut().cast(), receive.start.cast()];
        // SAFETY: the buffers are borrowed for as long as these arguments are; whoever starts a call with them sees to it that it is
        // over by then. Nothing is ever put into the first.
        let mut buffers = unsafe { [Span::new(starts[0], bytes[0]), Span::new(starts[1], bytes[1])] };
        let mut staging = None;
        if send.gaps.is_some() || receive.gaps.is_some() {
            let staged = |at: usize, gaps: Option<_>| gaps.map(|gaps| Staged::new(starts[at], bytes[at], gaps));
            let made = Staging { send: staged(0, send.gaps), receive: staged(1, receive.gaps) };
            for (buffer, staged) in buffers.iter_mut().zip([&made.send, &made.receive]) {
                *buffer = staged.as_ref().map_or(*buffer, Staged::span);
            }
            staging = Some(Rc::new(made));
        }
        let (element, kind, element_name) = (size_of::<T>(), kind::<T>(), Named::Type(type_name::<T>));
        Arguments {
            count,
            element,
            element_name,
            kind,
            buffers,
            compute,
            staging,
            valid: valid::<T>,
            besides: None,
            at,
            _borrowed: PhantomData,
        }
    }

    /// Of a raw call, whose datatype is known only by its size and name, with the operation of its plan, which takes the bytes of elements.
    ///
    /// # Safety
    /// The buffers are there, the second for writing, until the call is over; so is the operation.
    #[inline(always)]
    pub unsafe fn untyped<O: Reduction<u8>>(
        planned: &RawPlan,
        operation: Option<&O>,
        buffers: [Span; 2],
    ) -> Arguments<'b> {
        let &RawPlan { ref plan, ref datatype, kind, operation: signature, at } = planned;
        let (act, name) = (combine_bytes::<O>, name::<u8, O>);
        let compute = operation.map(|operation| {
            let data = std::ptr::from_ref(operation).cast();
            Compute::Combine(Operator { data, act, name, signature, _kept: None })
        });
        Arguments {
            count: plan.call.count,
            element: datatype.size,
            element_name: Named::Name(datatype.name),
            kind,
            buffers,
            compute,
            staging: None,
            valid: |_| true,
            besides: None,
            at,
            _borrowed: PhantomData,
        }
    }

    /// With products of matrices, by a function as in [`Compute::Multiply`].
    pub fn multiplying(self, multiply: fn(usize, &[u8], &[u8], &mut [u8])) -> Arguments<'b> {
        Arguments { compute: Some(Compute::Multiply(multiply)), ..self }
    }

    /// Whether products are added to what is received.
    pub fn multiplies(&self) -> bool {
        matches!(self.compute, Some(Compute::Multiply(_)))
    }

    /// Fills what is received with zeros.
    pub fn clear(&mut self) {
        self.buffers[1].put_zeros();
    }

    /// A hash of the type of elements, of the operation, and of what else ranks must agree on.
    #[inline]
    pub fn signature(&self) -> u64 {
        let own = match &self.compute {
            Some(Compute::Combine(operator)) => self.kind.rotate_left(32) ^ operator.signature,
            _ => self.kind.rotate_left(32),
        };
        match &self.besides {
            Some(besides) => own ^ Fnv::of(besides),
            None => own,
        }
    }

    /// The type of elements, and the operation if there is one, in words.
    pub fn words(&self) -> (&'static str, Option<String>) {
        let element = match self.element_name {
            Named::Type(name) => name(),
            Named::Name(name) => name,
        };
        match &self.compute {
            Some(Compute::Combine(operator)) => (element, Some(operator.name())),
            _ => (element, None),
        }
    }
}
