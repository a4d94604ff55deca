//! Calls that go on while the program computes: requests, their scopes, and calls that are started again and again.
//!
//! As in rsmpi, a call that is only started borrows its buffers for the lifetime of a scope. At the latest when the scope ends
//! it is over, whatever has become of its request: dropped, leaked, or unwound by a panic.
//!
//! Any look at any request ([`Request::test`]), and any wait, moves all calls of the thread. Between looks nothing moves but what
//! the network and MPI do by themselves. The function of a reduction is called in the middle of a call: there, waits for other calls of
//! the same communicator are refused ([`Error::Nested`]), and a request that it drops is waited for at the end of its scope.
//!
//! ```
//! use hypercoll::{request, threads, SystemOperation};
//!
//! let results = threads::run(4, |cube| {
//!     let (mine, mut sum, mut all) = ([cube.rank(); 3], [0; 3], [0; 4]);
//!     request::scope(|scope| {
//!         let a = cube.immediate_all_reduce_into(scope, &mine, &mut sum, SystemOperation::sum())?;
//!         let b = cube.immediate_all_gather_into(scope, &mine[0], &mut all)?;
//!         // ... work on something else ...
//!         b.wait()?; // in any order
//!         a.wait()
//!     })?;
//!     hypercoll::Result::Ok((sum, all))
//! });
//! assert!(results.iter().all(|result| *result == Ok(([6; 3], [0, 1, 2, 3]))));
//! ```

mod collection;

pub use collection::{multiple_scope, Ended, RequestCollection};

use crate::engine::arguments::Arguments;
use crate::engine::{poll_others, Shared, Ticket};
use crate::error::{Error, Result};
use crate::plan::{Last, Plan};
use sealed::Started;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

/// What calls borrow their buffers for: [`StaticScope`], `&`[`LocalScope`], or rsmpi's types of these names.
pub trait Scope<'a>: Copy + sealed::Scope {}

mod sealed {
    use crate::engine::{Shared, Ticket};
    use std::rc::Rc;

    /// A call that has been started.
    pub struct Started {
        pub(super) engine: Shared,
        pub(super) ticket: Ticket,
    }

    impl Started {
        pub(super) fn of(engine: &Shared, ticket: Ticket) -> Started {
            Started { engine: Rc::clone(engine), ticket }
        }

        pub(super) fn is(&self, other: &Started) -> bool {
            Rc::ptr_eq(&self.engine, &other.engine) && self.ticket == other.ticket
        }
    }

    pub trait Scope {
        /// A call has been started.
        fn register(&self, call: Started);
        /// A call is over.
        fn unregister(&self, call: &Started);
    }
}

/// For buffers that live as long as the program, and calls without any.
#[derive(Clone, Copy, Debug)]
pub struct StaticScope;

impl sealed::Scope for StaticScope {
    fn register(&self, _: Started) {}
    fn unregister(&self, _: &Started) {}
}

impl Scope<'static> for StaticScope {}

/// For buffers that outlive it: made by [`scope`].
pub struct LocalScope<'a> {
    open: RefCell<Vec<Started>>,
    /// `'a` is neither longer nor shorter than that of the buffers.
    _buffers: PhantomData<Cell<&'a ()>>,
}

impl fmt::Debug for LocalScope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalScope of {} calls", self.open.borrow().len())
    }
}

impl sealed::Scope for &LocalScope<'_> {
    fn register(&self, call: Started) {
        self.open.borrow_mut().push(call);
    }

    fn unregister(&self, call: &Started) {
        self.open.borrow_mut().retain(|open| !open.is(call));
    }
}

impl<'a> Scope<'a> for &LocalScope<'a> {}

impl Drop for LocalScope<'_> {
    /// What is still under way ends here, as the buffers go.
    fn drop(&mut self) {
        for call in self.open.take() {
            end(&call.engine, call.ticket);
        }
    }
}

/// rsmpi's own scopes do as well; as with its own requests, what is leaked in one ends the program.
#[cfg(feature = "mpi")]
mod of_rsmpi {
    use super::sealed::{self, Started};
    use ::mpi::request::{LocalScope, Scope, StaticScope};

    impl sealed::Scope for StaticScope {
        fn register(&self, _: Started) {}
        fn unregister(&self, _: &Started) {}
    }

    impl super::Scope<'static> for StaticScope {}

    impl sealed::Scope for &LocalScope<'_> {
        fn register(&self, call: Started) {
            Scope::register(self);
            // The request holds the engine as well.
            drop(call);
        }

        fn unregister(&self, _: &Started) {
            // SAFETY: it was registered, and is over or ends with its request at once.
            unsafe { Scope::unregister(self) };
        }
    }

    impl<'a> super::Scope<'a> for &LocalScope<'a> {}
}

/// Lets calls borrow buffers that outlive this one. When `code` has returned or panicked, all of them are waited for.
///
/// # Examples
/// See the [module](self).
pub fn scope<'a, R>(code: impl FnOnce(&LocalScope<'a>) -> R) -> R {
    code(&LocalScope { open: RefCell::default(), _buffers: PhantomData })
}

/// Ends a call whose outcome nobody asks for any more; whether that can be done: a function of the user's cannot, in the middle of
/// another call of the communicator.
pub(super) fn end(engine: &Shared, ticket: Ticket) -> bool {
    let Ok(mut engine) = engine.try_borrow_mut() else { return false };
    if std::thread::panicking() {
        // The others must not wait for what this rank will not do, nor this one for them.
        engine.abandon("panicked");
    }
    engine.end(ticket);
    true
}

/// The same for a call that a scope knows of, which goes on to do so if it cannot be ended now.
fn end_in<'a>(scope: impl Scope<'a>, engine: &Shared, ticket: Ticket) {
    if end(engine, ticket) {
        scope.unregister(&Started::of(engine, ticket));
    }
}

/// Waits for a call, and takes its ticket if that can be done.
fn wait_in<'a>(scope: impl Scope<'a>, engine: &Shared, ticket: &mut Option<Ticket>) -> Result<()> {
    let Some(waited) = *ticket else { return Ok(()) };
    let mut free = engine.try_borrow_mut().map_err(|_| Error::Nested)?;
    *ticket = None;
    scope.unregister(&Started::of(engine, waited));
    free.wait(waited)
}

/// A call that has been started: rsmpi's type of that name.
///
/// Wait for it, or test it until it is over. Dropping it waits.
#[must_use = "dropping it waits"]
pub struct Request<'a, D: ?Sized, S: Scope<'a> = StaticScope> {
    engine: Shared,
    ticket: Option<Ticket>,
    scope: S,
    data: *const D,
    _borrowed: PhantomData<&'a mut D>,
}

impl<'a, D: ?Sized, S: Scope<'a>> fmt::Debug for Request<'a, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({:?})", self.ticket)
    }
}

impl<'a, D: ?Sized, S: Scope<'a>> Request<'a, D, S> {
    /// That of a call which has been started, and whose arguments come of `data`, among others.
    pub(crate) fn of(engine: Shared, ticket: Ticket, scope: S, data: *const D) -> Request<'a, D, S> {
        scope.register(Started::of(&engine, ticket));
        Request { engine, ticket: Some(ticket), scope, data, _borrowed: PhantomData }
    }

    /// Waits until the call is over on this rank.
    ///
    /// # Errors
    /// What has gone wrong, as for the blocking call.
    pub fn wait(mut self) -> Result<()> {
        self.finish()
    }

    /// Waits, and returns the buffer: of calls that receive on this rank that of what was received, of others that of what was sent.
    ///
    /// # Errors
    /// What has gone wrong.
    pub fn wait_for_data(mut self) -> Result<&'a D> {
        self.finish()?;
        // SAFETY: borrowed for `'a`, and the call is over.
        Ok(unsafe { &*self.data })
    }

    /// Moves all calls of the thread, and returns the outcome if this one is over; otherwise the request.
    ///
    /// # Errors
    /// The request itself, if the call is under way.
    pub fn test(mut self) -> std::result::Result<Result<()>, Request<'a, D, S>> {
        match self.look() {
            true => Ok(self.finish()),
            false => Err(self),
        }
    }

    /// Moves all calls of the thread; whether this one is over, and a wait for it none.
    pub fn look(&mut self) -> bool {
        look(&self.engine, self.ticket)
    }

    /// The call, which the scope knows of no more, for a collection to see to.
    fn into_parts(mut self) -> (Shared, Option<Ticket>, *const D) {
        let ticket = self.ticket.take();
        if let Some(ticket) = ticket {
            self.scope.unregister(&Started::of(&self.engine, ticket));
        }
        (Rc::clone(&self.engine), ticket, self.data)
    }

    fn finish(&mut self) -> Result<()> {
        wait_in(self.scope, &self.engine, &mut self.ticket)
    }
}

impl<'a, D: ?Sized, S: Scope<'a>> Drop for Request<'a, D, S> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            end_in(self.scope, &self.engine, ticket);
        }
    }
}

/// Moves all calls of the thread; whether a wait for one is none. In the middle of another call of its communicator it is an error at
/// once.
pub(super) fn look(engine: &Shared, ticket: Option<Ticket>) -> bool {
    match engine.try_borrow_mut() {
        Ok(mut engine) => engine.look_in_passing(),
        Err(_) => return true,
    }
    poll_others();
    // Where threads take turns, another one may wait there by now: then it looks.
    let Ok(mut engine) = engine.try_borrow_mut() else { return false };
    engine.looked();
    ticket.is_none_or(|ticket| engine.is_over(ticket))
}

/// Waits until one of the calls is over, takes its request out of the list, and returns its place in it and its outcome; `None` of
/// an empty list.
///
/// # Examples
/// ```
/// use hypercoll::{request, threads};
/// threads::run(3, |cube| {
///     let mut data = [[cube.rank(); 2]; 3];
///     request::scope(|scope| {
///         let started = data.iter_mut().enumerate();
///         let started = started.map(|(root, data)| cube.process_at_rank(root).immediate_broadcast_into(scope, data));
///         let mut requests: Vec<_> = started.collect::<Result<_, _>>().unwrap();
///         while let Some((_, outcome)) = request::wait_any(&mut requests) {
///             outcome.unwrap();
///         }
///     });
///     assert_eq!(data, [[0; 2], [1; 2], [2; 2]]);
/// });
/// ```
pub fn wait_any<'a, D: ?Sized, S: Scope<'a>>(requests: &mut Vec<Request<'a, D, S>>) -> Option<(usize, Result<()>)> {
    if requests.is_empty() {
        return None;
    }
    loop {
        for at in 0..requests.len() {
            if requests[at].look() {
                return Some((at, requests.remove(at).wait()));
            }
        }
        std::thread::yield_now();
    }
}

/// Waits until all of the calls are over.
///
/// # Errors
/// That of the first one in the list that has failed.
pub fn wait_all<'a, D: ?Sized + 'a, S: Scope<'a>>(requests: impl IntoIterator<Item = Request<'a, D, S>>) -> Result<()> {
    // All are waited for, whatever becomes of one.
    requests.into_iter().map(Request::wait).fold(Ok(()), Result::and)
}

/// A call that can be started again and again, as MPI's persistent ones: it is planned once. Made by the calls that end in `_init`.
///
/// All ranks start theirs in the same order among their calls. It has its buffers for the lifetime of its scope;
/// [`Persistent::buffers`] gives access to them between one start and the next.
///
/// # Examples
/// ```
/// use hypercoll::{request, threads, SystemOperation};
/// threads::run(4, |cube| {
///     let (mut mine, mut sum) = ([0.0; 2], [0.0; 2]);
///     request::scope(|scope| {
///         let mut call = cube.all_reduce_init(scope, &mut mine, &mut sum, SystemOperation::sum()).unwrap();
///         for step in 0..10 {
///             call.buffers().unwrap().0.fill(step as f64);
///             call.start().unwrap();
///             call.wait().unwrap();
///             assert_eq!(*call.buffers().unwrap().1, [4.0 * step as f64; 2]);
///         }
///     });
/// });
/// ```
pub struct Persistent<'a, S: ?Sized, R: ?Sized, Sc: Scope<'a> = StaticScope> {
    engine: Shared,
    /// Its communicator's.
    last: Rc<RefCell<Last>>,
    plan: Rc<Plan>,
    arguments: Arguments<'a>,
    ticket: Option<Ticket>,
    scope: Sc,
    buffers: (*mut S, *mut R),
}

/// A call that can be started again and again, whose buffers have elements of one type.
pub type PersistentOf<'a, T, Sc = StaticScope> = Persistent<'a, [T], [T], Sc>;

impl<'a, S: ?Sized, R: ?Sized, Sc: Scope<'a>> Persistent<'a, S, R, Sc> {
    /// Of a plan, and of arguments that come of the buffers.
    pub(crate) fn of(
        engine: Shared,
        last: Rc<RefCell<Last>>,
        plan: Rc<Plan>,
        arguments: Arguments<'a>,
        scope: Sc,
        buffers: (*mut S, *mut R),
    ) -> Persistent<'a, S, R, Sc> {
        Persistent { engine, last, plan, arguments, ticket: None, scope, buffers }
    }

    /// Starts the call; if it is under way, waits for it first.
    ///
    /// # Errors
    /// As the blocking call's.
    #[track_caller]
    pub fn start(&mut self) -> Result<()> {
        self.wait()?;
        self.arguments.at = Location::caller();
        let ticket = {
            let mut engine = self.engine.try_borrow_mut().map_err(|_| Error::Nested)?;
            engine.intact()?;
            engine.start(&self.plan, &mut self.arguments, false)
        };
        self.last.borrow_mut().note(&self.plan, None);
        self.ticket = Some(ticket);
        self.scope.register(Started::of(&self.engine, ticket));
        Ok(())
    }

    /// Moves all calls of the thread; whether this one is over, or has not been started.
    ///
    /// # Errors
    /// What has gone wrong.
    pub fn test(&mut self) -> Result<bool> {
        let over = look(&self.engine, self.ticket);
        if over {
            self.wait()?;
        }
        Ok(over)
    }

    /// Waits until the call is over on this rank; at once if it has not been started.
    ///
    /// # Errors
    /// What has gone wrong.
    pub fn wait(&mut self) -> Result<()> {
        wait_in(self.scope, &self.engine, &mut self.ticket)
    }

    /// What is sent and what is received, if the call has both, between one start and the next: if the call is under way, waits for
    /// it first. In calls with one buffer, that is the second, and the first is empty.
    ///
    /// They are slices of the elements, or of a [`StridedMut`](crate::buffer::StridedMut) all that its elements are among, and not a `Vec` that had them, which could be moved or made longer: every start takes them from
    /// where they were at first.
    ///
    /// ```compile_fail
    /// hypercoll::threads::run(1, |cube| {
    ///     let (mut mine, mut sum) = (vec![0.0], vec![0.0]);
    ///     hypercoll::request::scope(|scope| {
    ///         let operation = hypercoll::SystemOperation::sum();
    ///         let mut call = cube.all_reduce_init(scope, &mut mine, &mut sum, operation).unwrap();
    ///         *call.buffers().unwrap().0 = vec![1.0]; // what the next start sends would be gone
    ///     });
    /// });
    /// ```
    ///
    /// # Errors
    /// What has gone wrong.
    pub fn buffers(&mut self) -> Result<(&mut S, &mut R)> {
        self.wait()?;
        // SAFETY: two buffers borrowed mutably for `'a`, and no call is under way.
        Ok(unsafe { (&mut *self.buffers.0, &mut *self.buffers.1) })
    }
}

impl<'a, S: ?Sized, R: ?Sized, Sc: Scope<'a>> Drop for Persistent<'a, S, R, Sc> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            end_in(self.scope, &self.engine, ticket);
        }
    }
}
