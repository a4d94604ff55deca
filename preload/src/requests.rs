//! Nonblocking and persistent calls: who sees to it that they go on, and what MPI and the program know of them.
//!
//! A call of ours has a handle of MPI's own. So every function of MPI takes it, alone or with other requests, in C and in Fortran, and
//! none of those that wait or test are replaced. A nonblocking one is a generalised request. A persistent one is a persistent receive of
//! a message from this rank to itself, which is sent when the call is over: of what MPI has, only that can be started again.
//!
//! While calls are under way, they are moved by whatever function of MPI waits or looks for anything ([`progress`]), as the standard asks
//! for. Datatypes and operations that the program frees meanwhile are freed when nobody uses them any more ([`pins`]).

mod handle;
mod pins;
mod progress;
mod transfer;

pub use handle::{are_known, cancel, free, start};
pub use pins::{free_operation_later, free_type_later, Pin, Pinned};
pub use progress::{any, give_way, is_made as are_possible};
pub use transfer::Transfer;

use crate::calls::{pass, How, Left, Native, Ours};
use crate::communicator::{Communicator, Cube};
use crate::datatype::{Back, Lent};
use crate::failure;
use crate::kind::{Form, Kind};
use crate::left::MPI_HAS_ENDED;
use crate::native::{self, ffi, SUCCESS};
use crate::operation::Operation;
use crate::quick::Key;
use crate::report::By;
use crate::session;
use crate::turn::{self, Turn};
use ffi::{MPI_Comm, MPI_Request};
use hypercoll::collective::Call;
use hypercoll::raw::Datatype;
use hypercoll::select::Options;
use hypercoll::{Error, Hypercube};
use pins::Pins;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Handles of ours that the program has.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// What is ours of all requests.
#[derive(Default)]
pub struct Requests {
    known: FxHashMap<usize, *mut Request>,
    /// Those whose calls are under way.
    active: Vec<*mut Request>,
    pins: Pins,
    itself: handle::Itself,
}

/// A call with a handle.
struct Request {
    handle: MPI_Request,
    kind: Kind,
    rank: usize,
    /// Whose error handler is called; of a communicator that has been freed meanwhile that of all ranks.
    comm: MPI_Comm,
    own: *mut Communicator,
    /// While the call is under way.
    transfer: Option<Transfer>,
    /// What has gone wrong, until it is raised, and its code.
    failed: Option<Error>,
    code: c_int,
    /// While it is being raised.
    raises: bool,
    bytes: usize,
    since: Option<Instant>,
    by: &'static str,
    _pins: Pinned,
    again: Option<Again>,
    /// Outlives the communicator, if the program frees that. The last to go.
    cube: Rc<Hypercube>,
}

/// Makes a call of its arguments.
type Plan = dyn Fn(&mut Ours) -> Result<(), Left>;

/// How a persistent call is started.
struct Again {
    plan: Box<Plan>,
    size: usize,
    options: Options,
    /// That of its message from this rank to itself.
    tag: c_int,
}

/// What a call that is only started needs, and leaves.
pub struct Start {
    /// If it has one.
    cube: Option<Rc<Hypercube>>,
    step: Step,
    options: Options,
    transfer: Option<Transfer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A nonblocking call.
    Once,
    /// A persistent call is made.
    Prepare,
    /// A persistent call is started.
    Again,
}

impl Start {
    fn new(cube: Option<Rc<Hypercube>>, step: Step, options: Options) -> Start {
        Start { cube, step, options, transfer: None }
    }

    /// Whether it has been decided who makes the call.
    pub fn is_chosen(&self) -> bool {
        self.step == Step::Again
    }

    /// Whether it is counted when its arguments are seen to make sense.
    pub fn counts(&self) -> bool {
        self.step == Step::Once
    }

    /// It is ours, and these are its options.
    pub fn chosen(&mut self, options: Options) -> Result<(), Left> {
        self.options = options;
        match self.step {
            Step::Prepare => Err(Left::ToLater),
            Step::Once | Step::Again => Ok(()),
        }
    }

    /// Tells the other ranks that this one cannot make the call; why, again.
    pub fn refuse(&self, call: &Call, why: Error) -> Error {
        match &self.cube {
            Some(cube) => cube.refuse_raw(call, why),
            None => why,
        }
    }

    /// # Safety
    /// As for [`Transfer::begin`].
    pub unsafe fn begin(
        &mut self,
        call: Call,
        sent: Lent,
        received: Lent,
        back: Back,
        element: &Datatype<'static>,
        op: Option<Operation>,
    ) -> Result<(), Left> {
        let data = (sent, received, back);
        let cube = self.cube.as_ref().ok_or(Left::ToMpi(MPI_HAS_ENDED))?;
        self.transfer = Some(Transfer::begin(cube, call, &self.options, data, element, op)?);
        Ok(())
    }
}

/// Has a call started, or prepared, by us or by MPI. One that has a key may be known from now on.
///
/// # Safety
/// As MPI says.
pub unsafe fn serve(
    native: &Native,
    comm: MPI_Comm,
    key: Option<Key>,
    plan: impl Fn(&mut Ours) -> Result<(), Left> + 'static,
) -> c_int {
    let (step, into) = match native.how {
        How::Starts(into) => (Step::Once, into),
        How::Prepares(into) => (Step::Prepare, into),
        How::Waits => return (native.call)(),
    };
    if !session::is_active() {
        return (native.call)();
    }
    if !progress::is_made() {
        return pass(native, "an MPI whose waits move nothing else");
    }
    let turn = turn::take();
    let Some(own) = session::tables(&turn).communicators.find(comm) else {
        drop(turn);
        return (native.call)();
    };
    let since = session::facts().asked.report.is_some().then(Instant::now);
    let (kind, rank, size) = (native.kind, (*own).rank, (*own).size);
    let form = native.how.form();
    let mut outcome = (*own).serves(kind, form, key);
    if step == Step::Prepare {
        // All ranks make it, also if MPI is to refuse it on some: see `lane`.
        outcome = outcome.and_then(|()| Communicator::count(own, kind.name(), form, &turn));
    }
    // They stay until MPI has been called, if it makes the call.
    let mut pins = Pinned::default();
    let outcome = outcome.and_then(|()| {
        let first = match &(*own).cube {
            Cube::Ours(cube) => Some(Rc::clone(cube)),
            _ => None,
        };
        let cube = if step == Step::Once { (*own).started() } else { first };
        let mut ours = Ours::started(own, kind, key, rank, size, Start::new(cube, step, Options::default()));
        let outcome = plan(&mut ours);
        pins = std::mem::take(&mut ours.pins);
        let is_ours = matches!(outcome, Err(Left::ToLater));
        let lane = (step == Step::Prepare).then(|| Communicator::lane(own, kind.name(), is_ours));
        match (outcome, ours.start) {
            (Ok(()), Some(start)) => {
                let cube = start.cube.clone().ok_or(Left::ToMpi(MPI_HAS_ENDED))?;
                Ok((ours.bytes, cube, *start))
            }
            (Err(Left::ToLater), Some(start)) => {
                let cube = lane.unwrap_or(Err(Left::ToMpi("nothing that is made")))?;
                Ok((ours.bytes, cube, *start))
            }
            (Err(why), _) => Err(why),
            (Ok(()), None) => Err(Left::ToMpi("nothing that was started")),
        }
    });
    (*own).left = match outcome {
        Err(Left::ToMpi(why)) => Some(why),
        _ => None,
    };
    match outcome {
        Ok((bytes, cube, start)) => {
            let Start { options, transfer, .. } = start;
            // A request that is only made has made no call.
            if step == Step::Once {
                (*own).last = Rc::downgrade(&cube);
            }
            let by = cube.last_algorithm().unwrap_or("nothing to do");
            let (mut transfer, mut failed) = (transfer, None);
            if step == Step::Once && transfer.as_ref().is_some_and(Transfer::is_over) {
                failed = transfer.take().and_then(|transfer| transfer.finish().err());
                note(kind, form, bytes, by, since, &turn);
                if failed.is_none() {
                    return handle::over(into);
                }
            }
            let again = (step == Step::Prepare).then(|| Again { plan: Box::new(plan), size, options, tag: 0 });
            let handle = ffi::RSMPI_REQUEST_NULL;
            let code = SUCCESS;
            let request = Request {
                handle,
                kind,
                rank,
                comm,
                own,
                transfer,
                failed,
                code,
                raises: false,
                bytes,
                since,
                by,
                _pins: pins,
                again,
                cube,
            };
            handle::give(request, into, &turn)
        }
        Err(Left::ToMpi(why)) => {
            drop(turn);
            pass(native, why)
        }
        Err(Left::ToLater) => SUCCESS,
        Err(Left::Failed(error)) => {
            drop(turn);
            failure::raise(comm, &form.name(kind), rank, &error)
        }
    }
}

/// Counts a call of ours that is over, if calls are counted.
fn note(kind: Kind, form: Form, bytes: usize, by: &'static str, since: Option<Instant>, turn: &Turn) {
    if let Some(since) = since {
        let seconds = since.elapsed().as_secs_f64();
        session::tables(turn).note((kind, form), bytes, By::Ours(by), seconds, None);
    }
}

impl Requests {
    fn know(&mut self, request: *mut Request, handle: MPI_Request) {
        self.known.insert(native::word(handle), request);
        KNOWN.store(self.known.len(), Relaxed);
    }

    fn forget(&mut self, handle: MPI_Request) {
        self.known.remove(&native::word(handle));
        KNOWN.store(self.known.len(), Relaxed);
    }

    fn find(&self, handle: MPI_Request) -> Option<*mut Request> {
        self.known.get(&native::word(handle)).copied()
    }
}

impl Request {
    fn form(&self) -> Form {
        match self.again {
            None => Form::Nonblocking,
            Some(_) => Form::Persistent,
        }
    }

    /// The call is over.
    unsafe fn end(&mut self, turn: &Turn) {
        let Some(transfer) = self.transfer.take() else { return };
        self.failed = transfer.finish().err();
        note(self.kind, self.form(), self.bytes, self.by, self.since, turn);
    }

    /// Raises what has gone wrong, if anything has, once; its code. A handler of the program's may ask for the request meanwhile.
    unsafe fn raise(request: *mut Request) -> c_int {
        if let Some(error) = (*request).failed.take() {
            let (comm, name, rank) = {
                // Another thread may be freeing the communicator. (One that does so while the handler is called no MPI would bear.)
                let _turn = turn::take();
                (*request).raises = true;
                ((*request).comm, (*request).form().name((*request).kind), (*request).rank)
            };
            let code = failure::raise(comm, &name, rank, &error);
            ((*request).code, (*request).raises) = (code, false);
        }
        (*request).code
    }
}

/// A communicator is freed: its calls under way go on.
pub fn outlive(own: *mut Communicator, turn: &Turn) {
    for &request in session::tables(turn).requests.known.values() {
        // SAFETY: there as long as it is known.
        unsafe {
            if (*request).own == own {
                (*request).own = std::ptr::null_mut();
                (*request).comm = ffi::RSMPI_COMM_WORLD;
            }
        }
    }
}

/// MPI ends: what the program has not freed goes before it. (Calls that are still under way would be an error of the program's; their
/// buffers stay.)
pub fn let_go(turn: &Turn) {
    progress::end();
    handle::let_go(turn);
}
