//! Errors of the library as errors of MPI, which go to the communicator's error handler.

use crate::native::{self, ffi, SUCCESS};
use ffi::MPI_Comm;
use hypercoll::Error;
use std::collections::HashMap;
use std::ffi::{c_int, CString};
use std::sync::{Mutex, PoisonError};

/// Texts that have a code: MPI keeps codes for ever, so that few are made.
static CODES: Mutex<Option<HashMap<String, c_int>>> = Mutex::new(None);
const MANY: usize = 64;

/// Raises an error on a communicator. If its handler returns, so does this: the code of the error.
pub fn raise(comm: MPI_Comm, call: &str, rank: usize, error: &Error) -> c_int {
    let text = format!("hypercoll: rank {rank}: {call}: {error}");
    let (code, is_told) = code(&text, native::error_revoked(comm).unwrap_or_else(|| class(error)));
    if !is_told || native::errors_are_fatal(comm) {
        // MPI says no more than its error strings have room for.
        eprintln!("{text}");
    }
    // SAFETY: a live communicator.
    unsafe { ffi::PMPI_Comm_call_errhandler(comm, code) };
    code
}

/// What MPI calls it: a buffer that does not suit the call, or what it has no name for.
fn class(error: &Error) -> c_int {
    match error {
        Error::Length { .. } => ffi::MPI_ERR_TRUNCATE as c_int,
        _ => native::error_other(),
    }
}

/// An error code of a class with that text, as far as MPI has room for it; and whether MPI tells it, or this has been asked before.
fn code(text: &str, class: c_int) -> (c_int, bool) {
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let codes = codes.get_or_insert_with(HashMap::new);
    if let Some(&code) = codes.get(text) {
        return (code, true);
    }
    if codes.len() >= MANY {
        return (class, true);
    }
    let made = made(text, class);
    codes.insert(text.to_string(), made.unwrap_or(class));
    (made.unwrap_or(class), made.is_some())
}

/// A new error code. MPICH 4.0 takes a text for a class of MPI's, and tells one of its own.
fn made(text: &str, class: c_int) -> Option<c_int> {
    let mut end = text.len().min(ffi::MPI_MAX_ERROR_STRING as usize - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let string = CString::new(&text[..end]).ok()?;
    let mut told = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let (mut code, mut len) = (class, 0);
    // SAFETY: valid out parameters, a string that is short enough, and room for the longest.
    let is_known = unsafe {
        ffi::PMPI_Add_error_code(class, &mut code) == SUCCESS
            && ffi::PMPI_Add_error_string(code, string.as_ptr().cast_mut()) == SUCCESS
            && ffi::PMPI_Error_string(code, told.as_mut_ptr().cast(), &mut len) == SUCCESS
    };
    (is_known && told.starts_with(string.as_bytes())).then_some(code)
}
