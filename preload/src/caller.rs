//! Where in the program a call comes from: its function and line, as far as symbols say.

use backtrace::Frame;
use std::collections::HashMap;
use std::ffi::{c_int, c_void, CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Characters of a name that are told: errors of MPI have room for 255 in all.
const NAME: usize = 40;

/// What has been found, by address: looking through what a compiler says of a program takes long.
static FOUND: Mutex<Option<HashMap<usize, String>>> = Mutex::new(None);

/// The place that this thread has called MPI from: the function and its line, `solve (solve.c:42)`; the function; or where it is in its
/// file, which tools know how to read. Nothing if it was not the program that called.
pub fn place() -> Option<String> {
    // Beyond the last one that is MPI's: it may call us from the middle of its waits, through libraries of its own.
    let (mut caller, mut is_beyond) = (None, false);
    let own = Object::of(place as *const () as usize);
    let is_ours = |object: &Object| own.as_ref().is_some_and(|own| own.file == object.file);
    backtrace::trace(|frame| {
        let object = Object::of(frame.ip() as usize);
        if object.as_ref().is_some_and(|object| is_ours(object) || object.is_of_mpi()) {
            (caller, is_beyond) = (None, true);
        } else if is_beyond {
            caller = object.map(|object| (frame.clone(), object));
            is_beyond = false;
        }
        true
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
        function = function.take().or_else(|| Some(cut(format!("{:#}", symbol.name()?))));
        line = line.take().or_else(|| Some(format!("{}:{}", name(symbol.filename()?), symbol.lineno()?)));
    });
    match (function, line) {
        (Some(function), Some(line)) => format!("{function} ({line})"),
        (Some(function), None) => format!("{function} ({})", name(&object.file)),
        (None, line) => line.unwrap_or_else(|| {
            // Of the call, not of where it returns to.
            format!("{}+{:#x}", name(&object.file), (frame.ip() as usize - 1).wrapping_sub(object.moved_by))
        }),
    }
}

fn cut(name: String) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name,
    }
}

/// Without its folders.
fn name(file: &Path) -> String {
    cut(file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned())
}

/// What has been loaded from a file.
struct Object {
    file: PathBuf,
    /// How far from where its file has it.
    moved_by: usize,
}

/// An address, and what it is in.
struct Looked {
    address: usize,
    found: Option<Object>,
}

impl Object {
    fn of(address: usize) -> Option<Object> {
        let mut looked = Looked { address, found: None };
        // SAFETY: it calls the function with what is passed here, before it returns.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut looked).cast()) };
        looked.found
    }

    /// One of MPI's libraries, by its name.
    fn is_of_mpi(&self) -> bool {
        name(&self.file).starts_with("libmpi")
    }

    /// What a thread begins in that is none of the program's.
    fn is_of_the_system(&self) -> bool {
        ["libc.so", "libpthread.so"].iter().any(|system| name(&self.file).starts_with(system))
    }
}

/// Whether the address is in one that has been loaded: goes on until it is.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, looked: *mut c_void) -> c_int {
    let (info, looked) = (&*info, &mut *looked.cast::<Looked>());
    let segments = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
    let is_in = segments.iter().any(|segment| {
        let start = (info.dlpi_addr as usize).wrapping_add(segment.p_vaddr as usize);
        segment.p_type == libc::PT_LOAD && looked.address.wrapping_sub(start) < segment.p_memsz as usize
    });
    if !is_in {
        return 0;
    }
    let named = !info.dlpi_name.is_null() && *info.dlpi_name != 0;
    let file = match named {
        true => OsStr::from_bytes(CStr::from_ptr(info.dlpi_name).to_bytes()).into(),
        // The program itself has no name here.
        false => std::env::current_exe().unwrap_or_default(),
    };
    looked.found = Some(Object { file, moved_by: info.dlpi_addr as usize });
    1
}
