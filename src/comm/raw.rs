//! Calls on untyped buffers: the raw entry as methods of a communicator. See [`crate::raw`].

use super::Hypercube;
use crate::collective::Call;
use crate::engine::arguments::Arguments;
use crate::error::{Error, Result};
use crate::raw::{packed, Buffers, Datatype, Operator, RawRequest};
use crate::select::Options;
use std::panic::Location;
use std::rc::Rc;

impl Hypercube {
    /// The name of the algorithm of the last collective on this communicator: [`Hypercube::last`] without all else.
    pub fn last_algorithm(&self) -> Option<&'static str> {
        self.last.borrow().as_ref().map(|(plan, _)| plan.choice.algorithm.name)
    }

    /// Starts a call. `operator` is for collectives that reduce, and for them alone.
    ///
    /// # Safety
    /// The buffers have as many elements as the call says, the receive buffer for writing, until the request is over; so have the
    /// operator and what it borrows, and the packing. The request is waited for, or dropped.
    ///
    /// # Errors
    /// As the typed calls'; [`Error::Operation`] if an operator is missing or there is nothing to reduce.
    #[track_caller]
    pub unsafe fn start_raw<'d>(
        &self,
        mut call: Call,
        options: &Options,
        buffers: Buffers,
        datatype: &Datatype<'d>,
        operator: Option<&Operator>,
    ) -> Result<RawRequest<'d>> {
        let at = Location::caller();
        call.ordered = operator.is_some_and(|operator| !operator.commutes);
        let rank = self.rank();
        let lengths = if call.check().is_ok() { [call.send_len(rank), call.receive_len(rank)] } else { [0, 0] };
        let (spans, packed) = packed(&call, lengths, buffers, datatype);
        let mut arguments = Ok(Arguments::untyped(at, call.count, datatype.size, datatype.name, spans));
        if call.size != self.size() {
            let (got, expected) = (call.size, self.size().to_string());
            let why = "the ranks of the communicator";
            arguments = Err(Error::Length { argument: "size", got, expected, why });
        } else if operator.is_some() != call.collective.reduces() || call.collective.multiplies() {
            let operation = operator.map_or("none".into(), |operator| operator.name.into());
            arguments = Err(Error::Operation { operation, element: datatype.name });
        }
        if let (Ok(arguments), Some(operator)) = (&mut arguments, operator) {
            arguments.combine_by(operator);
        }
        let ticket = self.collective(call).options(options).0.start(at, arguments)?;
        Ok(RawRequest::of(Rc::clone(&self.engine), ticket, packed))
    }

    /// Runs a call to its end; [`Hypercube::start_raw`] and [`RawRequest::wait`].
    ///
    /// # Safety
    /// As for [`Hypercube::start_raw`], until this returns.
    ///
    /// # Errors
    /// As for [`Hypercube::start_raw`].
    #[track_caller]
    pub unsafe fn run_raw(
        &self,
        call: Call,
        options: &Options,
        buffers: Buffers,
        datatype: &Datatype,
        operator: Option<&Operator>,
    ) -> Result<()> {
        self.start_raw(call, options, buffers, datatype, operator)?.wait()
    }
}
