//! A call under way, with all that it uses until it is over.

use super::progress;
use crate::datatype::{Back, Lent};
use crate::operation::Operation;
use hypercoll::collective::Call;
use hypercoll::raw::{Buffers, Combine, Datatype, Operator, RawRequest};
use hypercoll::schedule::Side;
use hypercoll::select::Options;
use hypercoll::{Error, Hypercube};

/// A call under way.
pub struct Transfer {
    request: RawRequest<'static>,
    _operator: Option<Box<Combining>>,
    _sent: Lent,
    received: Lent,
    back: Back,
}

/// An operation that stays where it is.
struct Combining {
    operator: Operator<'static>,
    _combine: Box<Combine<'static>>,
}

impl Combining {
    fn new(op: Operation) -> Box<Combining> {
        let combine: Box<Combine<'static>> =
            Box::new(move |side: Side, from: &[u8], into: &mut [u8]| op.combine(side, from, into));
        // SAFETY: it is kept beside the reference, and does not move, as it is in a box.
        let lent: &'static Combine<'static> = unsafe { &*std::ptr::from_ref(&*combine) };
        let operator = Operator { name: op.name, commutes: op.commutes, combine: lent };
        Box::new(Combining { operator, _combine: combine })
    }
}

impl Transfer {
    /// Starts a call that takes what was sent, and receives into what then goes back.
    ///
    /// # Safety
    /// As for [`Hypercube::start_raw`], with buffers that are as the call says. It is waited for, or finished when it is over.
    pub unsafe fn begin(
        cube: &Hypercube,
        call: Call,
        options: &Options,
        (sent, received, back): (Lent, Lent, Back),
        element: &Datatype<'static>,
        op: Option<Operation>,
    ) -> Result<Transfer, Error> {
        let operator = op.map(Combining::new);
        let buffers = Buffers { send: sent.start, receive: received.start };
        let by = operator.as_ref().map(|combining| &combining.operator);
        let request = cube.start_raw(call, options, buffers, element, by)?;
        Ok(Transfer { request, _operator: operator, _sent: sent, received, back })
    }

    /// Whether it is over, as far as it has been moved.
    pub fn is_over(&self) -> bool {
        self.request.is_over()
    }

    /// Ends a call that is over.
    ///
    /// # Safety
    /// The buffers are there.
    ///
    /// # Errors
    /// What has gone wrong.
    pub unsafe fn finish(self) -> Result<(), Error> {
        self.request.wait()?;
        self.back.returned(&self.received);
        Ok(())
    }

    /// Waits for it, as a thread that others may see what is over of their calls.
    ///
    /// # Safety
    /// As for [`Transfer::finish`].
    ///
    /// # Errors
    /// What has gone wrong.
    pub unsafe fn wait(self) -> Result<(), Error> {
        while !self.is_over() {
            hypercoll::raw::progress();
            progress::give_way();
            std::thread::yield_now();
        }
        self.finish()
    }
}
