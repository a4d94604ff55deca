//! Errors of the library as errors of MPI, which go to the communicator's error handler.

use crate::caller;
use crate::native::{self, ffi, SUCCESS};
use ffi::MPI_Comm;
use hypercoll::Error;
use std::collections::HashMap;
use std::ffi::{c_int, CStr, CString};
use std::sync::{Mutex, PoisonError};

/// Texts that have a code: MPI keeps codes for ever, so that few are made.
static CODES: Mutex<Option<HashMap<String, c_int>>> = Mutex::new(None);
const MANY: usize = 64;

/// Raises an error on a communicator. If its handler returns, so does this: the code of the error.
pub fn raise(comm: MPI_Comm, call: &str, rank: usize, error: &Error) -> c_int {
    let at = caller::place().map_or(String::new(), |place| format!(" at {place}"));
    let text = format!("hypercoll: rank {rank}: {call}{at}: {error}");
    let class = native::error_revoked(comm).unwrap_or_else(|| class(error));
    let code = code(&text, class);
    if native::errors_are_fatal(comm) || code == class {
        // MPI says no more than its error strings have room for, and of a mere class nothing of this.
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

/// An error code of a class with that text, as far as MPI has room for it.
fn code(text: &str, class: c_int) -> c_int {
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let codes = codes.get_or_insert_with(HashMap::new);
    if let Some(&code) = codes.get(text) {
        return code;
    }
    let mut code = class;
    if codes.len() >= MANY {
        return code;
    }
    let mut end = text.len().min(ffi::MPI_MAX_ERROR_STRING as usize - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let Ok(string) = CString::new(&text[..end]) else { return code };
    // SAFETY: valid out parameters, and a string that is short enough.
    unsafe {
        let mut own = code;
        if ffi::PMPI_Add_error_code(code, &mut own) == SUCCESS
            && ffi::PMPI_Add_error_string(own, string.as_ptr().cast_mut()) == SUCCESS
            && says(own) == Some(string)
        {
            code = own;
        }
    }
    codes.insert(text.to_string(), code);
    code
}

/// What MPI says of a code. (MPICH 4.0 says something else of one that is added to a class of its own than what it was told.)
unsafe fn says(code: c_int) -> Option<CString> {
    let mut text = vec![0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut len = 0;
    let known = ffi::PMPI_Error_string(code, text.as_mut_ptr().cast(), &mut len) == SUCCESS;
    known.then(|| CStr::from_bytes_until_nul(&text).ok().map(CStr::to_owned)).flatten()
}
