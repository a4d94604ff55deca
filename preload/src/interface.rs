//! The functions of `include/hypercoll.h`, for programs that know of us.

use crate::communicator::{Communicator, Cube};
use crate::failure;
use crate::native::{ffi, SUCCESS};
use crate::quick;
use crate::session;
use crate::turn;
use ffi::MPI_Comm;
use hypercoll::algorithm::registry;
use hypercoll::collective::Collective;
use hypercoll::select::Options;
use hypercoll::Error;
use std::ffi::{c_char, c_int, CStr};

/// Does something with what is kept of a communicator, and raises what goes wrong.
unsafe fn with(name: &str, comm: MPI_Comm, act: impl FnOnce(&mut Communicator) -> Result<(), Error>) -> c_int {
    let outcome = {
        if !session::is_active() {
            return crate::native::error_other();
        }
        let turn = turn::take();
        quick::forget();
        match session::tables(&turn).communicators.find(comm) {
            Some(own) => act(&mut *own).map_err(|error| ((*own).rank, error)),
            None => return crate::native::error_other(),
        }
    };
    match outcome {
        Ok(()) => SUCCESS,
        Err((rank, error)) => failure::raise(comm, name, rank, &error),
    }
}

fn text(text: *const c_char) -> Option<String> {
    // SAFETY: a string that ends, as the header asks for.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// See the header.
///
/// # Safety
/// So many bytes are there.
#[no_mangle]
pub unsafe extern "C" fn hypercoll_explain_last(comm: MPI_Comm, into: *mut c_char, room: usize) -> c_int {
    quick::look_at_all();
    with("hypercoll_explain_last", comm, |own| {
        let said = match (&own.left, own.last.upgrade(), &own.cube) {
            (Some(why), ..) => format!("native MPI ({why})"),
            (None, Some(cube), _) => cube.explain_last(),
            (None, None, Cube::Ours(cube)) => cube.explain_last(),
            (None, ..) => "no collective has run yet".into(),
        };
        if room > 0 && !into.is_null() {
            let mut end = said.len().min(room - 1);
            while !said.is_char_boundary(end) {
                end -= 1;
            }
            std::ptr::copy_nonoverlapping(said.as_ptr().cast(), into, end);
            *into.add(end) = 0;
        }
        Ok(())
    })
}

/// See the header.
///
/// # Safety
/// Strings that end, or null.
#[no_mangle]
pub unsafe extern "C" fn hypercoll_set_algorithm(
    comm: MPI_Comm,
    collective: *const c_char,
    algorithm: *const c_char,
    packet: usize,
) -> c_int {
    with("hypercoll_set_algorithm", comm, |own| {
        let name = text(collective).unwrap_or_default();
        let collective = name.parse::<Collective>().map_err(|_| Error::Environment {
            variable: "collective".into(),
            why: format!("'{name}' is no name of a collective"),
        })?;
        let algorithm = text(algorithm).map(|name| registry::find(collective, &name)).transpose()?;
        own.options.retain(|(known, _)| *known != collective);
        if algorithm.is_some() || packet > 0 {
            let algorithm = algorithm.map(|algorithm| algorithm.name.to_string());
            let packet = (packet > 0).then_some(packet);
            own.options.push((collective, Options { algorithm, packet, ..Options::default() }));
        }
        Ok(())
    })
}

/// See the header.
///
/// # Safety
/// So many pairs are there.
#[no_mangle]
pub unsafe extern "C" fn hypercoll_avoid_links(comm: MPI_Comm, links: *const [c_int; 2], count: c_int) -> c_int {
    with("hypercoll_avoid_links", comm, |own| {
        let all = (0..count.max(0) as usize).map(|at| *links.add(at));
        own.avoid = all.map(|[a, b]| (a.max(0) as usize, b.max(0) as usize)).collect();
        own.cubes().try_for_each(|cube| cube.avoid_links(&own.avoid))
    })
}

/// See the header.
///
/// # Safety
/// As MPI says of communicators.
#[no_mangle]
pub unsafe extern "C" fn hypercoll_set_reproducible(comm: MPI_Comm, on: c_int) -> c_int {
    with("hypercoll_set_reproducible", comm, |own| {
        own.reproducible = on != 0;
        Ok(())
    })
}
