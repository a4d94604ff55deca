//! Where in the program a call comes from: its function and line, as far as symbols say.

use backtrace::Frame;
use std::collections::HashMap;
use std::ffi::{c_void, CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What has been found, by address: looking through what a compiler says of a program takes long.
static FOUND: Mutex<Option<HashMap<usize, String>>> = Mutex::new(None);

/// The place that this thread has called MPI from: the function and its line, `solve (solve.c:42)`; the function; or where it is in its
/// file, which tools know how to read. Nothing if it was not the program that called.
pub fn place() -> Option<String> {
    let mut caller = None;
    backtrace::trace(|frame| {
        let object = Object::of(frame.ip());
        if object.as_ref().is_some_and(Object::is_of_mpi) {
            return true;
        }
        caller = object.map(|object| (frame.clone(), object));
        false
    });
    let (frame, object) = caller.filter(|(_, object)| !object.is_of_the_system())?;
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let place = found.get_or_insert_with(HashMap::new).entry(frame.ip() as usize);
    Some(place.or_insert_with(|| named(&frame, &object)).clone())
}

fn named(frame: &Frame, object: &Object) -> String {
    let (mut function, mut line) = (None, None);
    backtrace::resolve_frame(frame, |symbol| {
        // What is inlined comes before what it is in.
        function = function.take().or_else(|| Some(symbol.name()?.to_string()));
        line = line.take().or_else(|| Some(format!("{}:{}", name(symbol.filename()?), symbol.lineno()?)));
    });
    match (function, line) {
        (Some(function), Some(line)) => format!("{function} ({line})"),
        (Some(function), None) => format!("{function} ({})", name(&object.file)),
        (None, line) => line.unwrap_or_else(|| {
            // Of the call, not of where it returns to.
            format!("{}+{:#x}", name(&object.file), (frame.ip() as usize).saturating_sub(object.base + 1))
        }),
    }
}

/// Without its folders, for which errors of MPI have no room.
fn name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// What has been loaded from a file.
struct Object {
    file: PathBuf,
    base: usize,
}

impl Object {
    fn of(address: *mut c_void) -> Option<Object> {
        // SAFETY: all zero is a value of it.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: any address; a valid out parameter.
        if unsafe { libc::dladdr(address, &mut found) } == 0 || found.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the loader's, of an object that is in use.
        let file = unsafe { CStr::from_ptr(found.dli_fname) };
        Some(Object { file: OsStr::from_bytes(file.to_bytes()).into(), base: found.dli_fbase as usize })
    }

    /// This library, or one of MPI's.
    fn is_of_mpi(&self) -> bool {
        let own = Object::of(place as *mut c_void).is_some_and(|own| own.base == self.base);
        own || name(&self.file).starts_with("libmpi")
    }

    /// What a thread begins in that is none of the program's.
    fn is_of_the_system(&self) -> bool {
        ["libc.so", "libpthread.so", "ld-"].iter().any(|system| name(&self.file).starts_with(system))
    }
}
