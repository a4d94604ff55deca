//! Who makes a call, ours or MPI's: it is looked at, made, timed where that is asked for, and counted.

use super::{Left, Native, Ours};
use crate::communicator::Cube;
use crate::kind::Form;
use crate::native::{self, ffi::MPI_Comm};
use crate::quick::Key;
use crate::report::By;
use crate::trial::Who;
use crate::{failure, requests, session, turn};
use std::ffi::c_int;
use std::rc::Weak;
use std::time::Instant;

/// Has a call made by us, or by MPI. Of one that has a key it is not known who makes it, and may be from now on.
pub(super) unsafe fn serve(
    native: &Native,
    comm: MPI_Comm,
    key: Option<Key>,
    ours: impl Fn(&mut Ours) -> Result<(), Left> + 'static,
) -> c_int {
    match native.how.form() {
        Form::Blocking => looked_at(native, comm, key, ours),
        Form::Nonblocking => requests::serve(native, comm, key.map(Key::started), ours),
        Form::Persistent => requests::serve(native, comm, None, ours),
    }
}

/// The same for those that are over when this returns.
unsafe fn looked_at(
    native: &Native,
    comm: MPI_Comm,
    key: Option<Key>,
    ours: impl FnOnce(&mut Ours) -> Result<(), Left>,
) -> c_int {
    if !session::is_active() {
        return (native.call)();
    }
    let turn = turn::take();
    let Some(own) = session::tables(&turn).communicators.find(comm) else {
        drop(turn);
        return (native.call)();
    };
    let reports = session::facts().asked.report.is_some();
    let start = (reports || (*own).waits()).then(Instant::now);
    let (kind, rank, size) = (native.kind, (*own).rank, (*own).size);
    // What it pins stays until MPI has been called, if it makes the call.
    let mut call = Ours::waited_for(own, kind, key, rank, size);
    let outcome = (*own).serves(kind, Form::Blocking, key).and_then(|()| ours(&mut call));
    let (bytes, class, timed) = (call.bytes, call.class, call.timed);
    (*own).last = Weak::new();
    (*own).left = match outcome {
        Err(Left::ToMpi(why)) => Some(why),
        _ => None,
    };
    match outcome {
        Ok(()) => {
            if let (Some(start), Cube::Ours(cube)) = (start.filter(|_| reports), &(*own).cube) {
                let seconds = start.elapsed().as_secs_f64();
                let by = By::Ours(cube.last_algorithm().unwrap_or("nothing to do"));
                let natively = (*own).natively(kind, class);
                session::tables(&turn).note((native.kind, Form::Blocking), bytes, by, seconds, natively);
            }
            if let Some(start) = timed {
                (*own).trial(kind, class).note(Who::Ours, bytes, start.elapsed().as_secs_f64());
            }
            native::SUCCESS
        }
        Err(Left::ToLater) => native::SUCCESS,
        Err(Left::ToMpi(why)) => {
            // What ranks have asked each other before took its time, too, in which one may have waited for another.
            let waited = start.filter(|_| (*own).waits_by(why));
            drop(turn);
            if !reports && timed.is_none() && waited.is_none() {
                return (native.call)();
            }
            let start = Instant::now();
            let code = (native.call)();
            let seconds = start.elapsed().as_secs_f64();
            if session::is_active() {
                let turn = turn::take();
                let tables = session::tables(&turn);
                tables.natively += waited.map_or(0.0, |waited| waited.elapsed().as_secs_f64());
                tables.note((native.kind, Form::Blocking), bytes, By::Mpi(why), seconds, None);
                if timed.is_some() {
                    // It is there still: no communicator is freed in the middle of a call on it.
                    (*own).trial(kind, class).note(Who::Native, bytes, seconds);
                }
            }
            code
        }
        Err(Left::Failed(error)) => {
            let rank = call.rank;
            drop(turn);
            failure::raise(comm, native.kind.name(), rank, &error)
        }
    }
}

/// Has a call made by MPI, and counts it.
pub unsafe fn pass(native: &Native, why: &'static str) -> c_int {
    if !session::is_active() || session::facts().asked.report.is_none() {
        return (native.call)();
    }
    let start = Instant::now();
    let code = (native.call)();
    let what = (native.kind, native.how.form());
    session::tables(&turn::take()).note(what, 0, By::Mpi(why), start.elapsed().as_secs_f64(), None);
    code
}
