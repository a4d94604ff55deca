//! The arguments of a call as the engine takes them: buffers as addresses, elements as bytes, operations as functions of bytes.

use super::kind;
use crate::executor::memory::Span;
use crate::hash::Fnv;
use crate::operation::Reduction;
use crate::schedule::Side;
use bytemuck::Pod;
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
unsafe fn combine<T: Pod, O: Reduction<T>>(data: *const (), side: Side, from: &[u8], into: &mut [u8]) {
    (*data.cast::<O>()).combine(side, bytemuck::cast_slice(from), bytemuck::cast_slice_mut(into));
}

/// # Safety
/// As [`combine`].
unsafe fn name<T: Pod, O: Reduction<T>>(data: *const ()) -> String {
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
    unsafe fn at<T: Pod, O: Reduction<T>>(data: *const O, kept: Option<Rc<dyn Kept>>) -> Operator {
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
    fn operator<T: Pod>(self) -> Operator
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
enum Element {
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
    element_name: Element,
    kind: u64,
    pub buffers: [Span; 2],
    pub compute: Option<Compute>,
    /// What else ranks must agree on, in words.
    pub besides: Option<Rc<str>>,
    /// The caller's source line.
    pub at: &'static Location<'static>,
    _borrowed: PhantomData<&'b mut ()>,
}

impl<'b> Arguments<'b> {
    #[inline]
    pub fn new<T: Pod>(
        at: &'static Location<'static>,
        count: usize,
        send: &'b [T],
        receive: &'b mut [T],
    ) -> Arguments<'b> {
        Arguments::with(at, count, send, receive, None)
    }

    /// The same with an operation.
    #[inline]
    pub fn reducing<T: Pod, O: Reduction<T> + 'b>(
        at: &'static Location<'static>,
        count: usize,
        send: &'b [T],
        receive: &'b mut [T],
        operation: Held<'b, O>,
    ) -> Arguments<'b> {
        Arguments::with(at, count, send, receive, Some(Compute::Combine(operation.operator::<T>())))
    }

    #[inline]
    fn with<T: Pod>(
        at: &'static Location<'static>,
        count: usize,
        send: &'b [T],
        receive: &'b mut [T],
        compute: Option<Compute>,
    ) -> Arguments<'b> {
        let (send_len, receive_len) = (size_of_val(send), size_of_val(receive));
        // SAFETY: the buffers are borrowed for as long as these arguments are; whoever starts a call with them sees to it that it is
        // over by then. Nothing is ever put into the first.
        let buffers = unsafe {
            let send = Span::new(send.as_ptr().cast_mut().cast(), send_len);
            [send, Span::new(receive.as_mut_ptr().cast(), receive_len)]
        };
        let (element, kind, element_name) = (size_of::<T>(), kind::<T>(), Element::Type(type_name::<T>));
        Arguments { count, element, element_name, kind, buffers, compute, besides: None, at, _borrowed: PhantomData }
    }

    /// Of a datatype that is known only by its size and name.
    ///
    /// # Safety
    /// The buffers are there, the second for writing, until the call is over.
    pub unsafe fn untyped(
        at: &'static Location<'static>,
        count: usize,
        element: usize,
        name: &'static str,
        buffers: [Span; 2],
    ) -> Arguments<'b> {
        let (kind, element_name) = (Fnv::of(name), Element::Name(name));
        Arguments {
            count,
            element,
            element_name,
            kind,
            buffers,
            compute: None,
            besides: None,
            at,
            _borrowed: PhantomData,
        }
    }

    /// With an operation that takes the bytes of elements.
    ///
    /// # Safety
    /// It is there until the call is over.
    pub unsafe fn combine_by<O: Reduction<u8>>(&mut self, operation: &O) {
        let operator = Operator::at::<u8, O>(operation, None);
        self.compute = Some(Compute::Combine(Operator { act: combine_bytes::<O>, ..operator }));
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
            Element::Type(name) => name(),
            Element::Name(name) => name,
        };
        match &self.compute {
            Some(Compute::Combine(operator)) => (element, Some(operator.name())),
            _ => (element, None),
        }
    }
}
