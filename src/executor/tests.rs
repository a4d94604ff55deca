//! What an execution makes of a transport that fails.

use super::*;
use crate::schedule::Builder;

/// A transport to rank 1 whose messages are complete at once, and whose first look fails.
struct Failing {
    error: Option<Error>,
    /// Whether that look reports what is complete all the same.
    reports: bool,
    complete: Vec<Completion>,
    /// For each send, whether it was an empty message in place of another.
    sent: Vec<bool>,
    over: bool,
}

impl Transport for Failing {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn send(&mut self, operation: u32, _: usize, _: &[BufferRange], _: &Buffers, failed: bool) -> Result<()> {
        self.sent.push(failed);
        self.complete.push(Completion { operation, received: None });
        Ok(())
    }

    fn receive(&mut self, operation: u32, _: usize, ranges: &[BufferRange], buffers: &mut Buffers) -> Result<()> {
        self.complete.push(Completion { operation, received: Some(buffers.bytes(ranges)) });
        Ok(())
    }

    fn progress(&mut self, _: Wait, _: &mut Buffers, done: &mut Vec<Completion>) -> Result<()> {
        assert!(!self.over, "nothing is under way any more");
        let outcome = self.error.take().map_or(Ok(()), Err);
        if outcome.is_ok() || self.reports {
            done.append(&mut self.complete);
        }
        self.over = outcome.is_err() && done.is_empty();
        outcome
    }

    fn ways(&self) -> String {
        "none".into()
    }

    fn synchronous_sends(&mut self, _: bool) {}
}

/// Receives 4 bytes and sends them back: how the call ends, and what [`Failing::sent`] tells.
fn outcome(error: &Error, reports: bool) -> (Result<()>, Vec<bool>) {
    let mut builder = Builder::new();
    let range = BufferRange { buffer: Buffer::Receive, offset: 0, len: 4 };
    builder.receive(0, 1, &[range]);
    builder.send(1, 1, &[range]);
    let schedule = builder.finish(0, 2, 0);
    let (mut work, mut receive) = (Workspace::default(), [0; 4]);
    let buffers = Buffers { send: &[], receive: &mut receive, scratch: &mut [], element: 1 };
    let mut transport =
        Failing { error: Some(error.clone()), reports, complete: Vec::new(), sent: Vec::new(), over: false };
    let outcome = Execution::new(&schedule, buffers, None, &mut transport, &mut work).run();
    (outcome, transport.sent)
}

#[test]
fn a_rank_whose_message_failed_still_sends_what_others_wait_for() {
    let error = Error::Mpi { call: "MPI_Testsome", message: "no luck".into() };
    assert_eq!(outcome(&error, true), (Err(error), vec![true]));
}

#[test]
fn a_rank_with_nothing_under_way_any_more_waits_for_nothing() {
    let error = Error::Mpi { call: "MPI_Testsome", message: "no luck".into() };
    assert_eq!(outcome(&error, false), (Err(error), vec![]));
}
