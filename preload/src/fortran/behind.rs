//! MPI's own functions of Fortran, of which ours have the names.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::sync::{Mutex, PoisonError};

/// Libraries in which functions have been found that are not the whole program's. They stay where they are.
static LIBRARIES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// MPI's function of this name, if there is one.
///
/// It is behind ours among the libraries of the whole program. But who loads a library as a plug-in, as Python does, may have MPI's
/// Fortran with it for that library alone: then it is in one of those that are loaded.
///
/// # Safety
/// A string that ends with a zero, the name of our function; the type of a function that takes what MPI's takes.
pub unsafe fn behind<Function: Copy>(name: &str, ours: *const c_void) -> Option<Function> {
    const { assert!(size_of::<Function>() == size_of::<*mut c_void>()) };
    let found = look(name, ours);
    (!found.is_null()).then(|| std::mem::transmute_copy(&found))
}

unsafe fn look(name: &str, ours: *const c_void) -> *mut c_void {
    let name: *const c_char = name.as_ptr().cast();
    let found = libc::dlsym(libc::RTLD_NEXT, name);
    if !found.is_null() {
        return found;
    }
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = libraries.iter().map(|&library| libc::dlsym(library as *mut c_void, name)).find(|it| !it.is_null());
    if let Some(found) = known {
        return found;
    }
    let mut files: Vec<CString> = Vec::new();
    libc::dl_iterate_phdr(Some(list), (&raw mut files).cast());
    for file in files {
        let Some((library, found)) = has(&file, name) else { continue };
        if !found.is_null() && found.cast_const() != ours {
            // The library that it is in, which may be another one that this one needs.
            let mut place: libc::Dl_info = std::mem::zeroed();
            let own = match libc::dladdr(found, &mut place) {
                0 => None,
                _ => has(CStr::from_ptr(place.dli_fname), name),
            };
            libraries.push(own.map_or(library, |(own, _)| own) as usize);
            return found;
        }
        libc::dlclose(library);
    }
    std::ptr::null_mut()
}

/// A library that is loaded, and what it, or what it needs, has by a name.
unsafe fn has(file: &CStr, name: *const c_char) -> Option<(*mut c_void, *mut c_void)> {
    let library = libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
    (!library.is_null()).then(|| (library, libc::dlsym(library, name)))
}

/// The program itself, which has no name here, has been looked at.
unsafe extern "C" fn list(info: *mut libc::dl_phdr_info, _: usize, files: *mut c_void) -> c_int {
    let name = (*info).dlpi_name;
    if !name.is_null() && *name != 0 {
        (*files.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
    }
    0
}
