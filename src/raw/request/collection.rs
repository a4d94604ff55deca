//! Many requests at a time, with the names of rsmpi's: [`multiple_scope`] and [`RequestCollection`].

use super::{end, look, wait_in, LocalScope, Request, Scope, StaticScope};
use crate::engine::{Shared, Ticket};
use crate::error::Result;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// A call that a collection waits for.
struct Pending<D: ?Sized> {
    engine: Shared,
    ticket: Option<Ticket>,
    data: *const D,
}

/// Requests that are waited for together. Made by [`multiple_scope`].
///
/// Each has the number that [`add`](RequestCollection::add) has given it, from 0 on. What has ended is told as that number and the
/// outcome: the request's data, or what has gone wrong.
pub struct RequestCollection<'a, D: ?Sized> {
    pending: Vec<Option<Pending<D>>>,
    incomplete: usize,
    _data: PhantomData<Cell<&'a D>>,
}

/// A request that has ended: its number in the collection, and its outcome.
pub type Ended<'a, D> = (usize, Result<&'a D>);

impl<D: ?Sized> fmt::Debug for RequestCollection<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestCollection of {}, {} incomplete", self.pending.len(), self.incomplete)
    }
}

/// As [`scope`](super::scope), with a collection of requests. What is left in it when `code` has returned or panicked is waited for.
///
/// `reserve` is how many requests there will be, more or less.
///
/// # Examples
/// ```
/// use hypercoll::{request, threads};
/// threads::run(3, |cube| {
///     let mut data = [[cube.rank(); 2]; 3];
///     request::multiple_scope(3, |scope, requests| {
///         for (root, data) in data.iter_mut().enumerate() {
///             requests.add(cube.process_at_rank(root).immediate_broadcast_into(scope, data).unwrap());
///         }
///         while let Some((root, data)) = requests.wait_any() {
///             assert_eq!(data.unwrap(), &[root; 2]);
///         }
///         assert_eq!(requests.incomplete(), 0);
///     });
/// });
/// ```
pub fn multiple_scope<'a, R, D: ?Sized + 'a>(
    reserve: usize,
    code: impl FnOnce(&LocalScope<'a>, &mut RequestCollection<'a, D>) -> R,
) -> R {
    super::scope(|scope| {
        let pending = Vec::with_capacity(reserve);
        code(scope, &mut RequestCollection { pending, incomplete: 0, _data: PhantomData })
    })
}

impl<'a, D: ?Sized> RequestCollection<'a, D> {
    /// How many requests have not been told to have ended.
    pub fn incomplete(&self) -> usize {
        self.incomplete
    }

    /// Adds a request; its number.
    pub fn add<S: Scope<'a>>(&mut self, request: Request<'a, D, S>) -> usize {
        let (engine, ticket, data) = request.into_parts();
        self.incomplete += usize::from(ticket.is_some());
        self.pending.push(ticket.map(|_| Pending { engine, ticket, data }));
        self.pending.len() - 1
    }

    /// Waits until a request has ended; `None` if all have been told.
    pub fn wait_any(&mut self) -> Option<Ended<'a, D>> {
        while self.incomplete > 0 {
            if let Some(ended) = self.test_any() {
                return Some(ended);
            }
            std::thread::yield_now();
        }
        None
    }

    /// Waits until at least one request has ended, if there are any; `ended` becomes all that have.
    pub fn wait_some(&mut self, ended: &mut Vec<Ended<'a, D>>) {
        self.test_some(ended);
        while ended.is_empty() && self.incomplete > 0 {
            std::thread::yield_now();
            self.test_some(ended);
        }
    }

    /// Waits until all requests have ended; `ended` becomes those that had not been told.
    pub fn wait_all(&mut self, ended: &mut Vec<Ended<'a, D>>) {
        ended.clear();
        for at in 0..self.pending.len() {
            ended.extend(self.take(at));
        }
    }

    /// A request that has ended and has not been told, if there is one.
    pub fn test_any(&mut self) -> Option<Ended<'a, D>> {
        let at = (0..self.pending.len()).find(|&at| self.has_ended(at))?;
        self.take(at)
    }

    /// `ended` becomes the requests that have ended and have not been told.
    pub fn test_some(&mut self, ended: &mut Vec<Ended<'a, D>>) {
        ended.clear();
        for at in 0..self.pending.len() {
            if self.has_ended(at) {
                ended.extend(self.take(at));
            }
        }
    }

    /// Whether all requests have ended: then `ended` becomes those that had not been told.
    pub fn test_all(&mut self, ended: &mut Vec<Ended<'a, D>>) -> bool {
        ended.clear();
        let all = (0..self.pending.len()).all(|at| self.pending[at].is_none() || self.has_ended(at));
        if all {
            self.wait_all(ended);
        }
        all
    }

    /// Moves all calls of the thread; whether this request is here and has ended.
    fn has_ended(&self, at: usize) -> bool {
        self.pending[at].as_ref().is_some_and(|pending| look(&pending.engine, pending.ticket))
    }

    /// Waits for a request, if it is here, and takes it out.
    fn take(&mut self, at: usize) -> Option<Ended<'a, D>> {
        let mut pending = self.pending[at].take()?;
        self.incomplete -= 1;
        // Out of here, so that a call in which a function of the user's panics is not told later.
        let outcome = wait_in(StaticScope, &pending.engine, &mut pending.ticket);
        let data = pending.data;
        if pending.ticket.is_some() {
            self.pending[at] = Some(pending);
            self.incomplete += 1;
        }
        // SAFETY: borrowed for `'a`, and the call is over.
        Some((at, outcome.map(|()| unsafe { &*data })))
    }
}

impl<D: ?Sized> Drop for RequestCollection<'_, D> {
    /// What is still under way ends here, as the buffers go.
    fn drop(&mut self) {
        for Pending { engine, ticket, .. } in self.pending.drain(..).flatten() {
            if ticket.is_some_and(|ticket| !end(&engine, ticket)) {
                // Only a function of the user's can do that, in the middle of a call, to a collection that it has taken from outside. MPI
                // and other ranks go on using buffers that may be gone at any time.
                eprintln!("hypercoll: requests were dropped in the middle of another call");
                std::process::abort();
            }
        }
    }
}
