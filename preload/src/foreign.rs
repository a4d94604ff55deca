//! Programs of another MPI than the one that this is built for: they are told so, and run without us.
//!
//! If the program is linked with its MPI, the `PMPI_` functions that we call are that one's, as the program's libraries come before ours:
//! passing everything on is enough. If it loads its MPI later, as Python does, ours is there before, and some calls would go to one and
//! some to the other: the program starts again without us, before MPI has been initialised.

use crate::native::{self, ffi};
use std::ffi::{c_char, c_int, c_void, CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The version of the MPI whose functions are called here, if it is not the one that this is built for.
pub fn other() -> Option<String> {
    let mut text = vec![0u8; 1 << 14]; // more than any MPI writes
    let mut len = 0;
    // SAFETY: allowed at any time; the parameters are the same in every MPI.
    unsafe { ffi::PMPI_Get_library_version(text.as_mut_ptr().cast::<c_char>(), &mut len) };
    let version =
        CStr::from_bytes_until_nul(&text).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned());
    (!version.contains(native::built_for())).then(|| version.lines().next().unwrap_or_default().to_string())
}

/// What is said of such a program.
pub fn say(other: &str) {
    let ours = native::built_for();
    eprintln!("hypercoll: the program's MPI is {other}, and hypercoll was built for {ours}; it runs without hypercoll");
}

/// Whether a library is of another family of MPIs than the one that this is built for.
fn is_other(file: &[u8]) -> bool {
    let name = Path::new(std::ffi::OsStr::from_bytes(file)).file_name().map(|name| name.as_bytes()).unwrap_or_default();
    let of_mpich = name.starts_with(b"libmpich.so") || name.starts_with(b"libmpi.so.12");
    let of_open_mpi = name.starts_with(b"libopen-pal.so") || name.starts_with(b"libmpi.so.40");
    // With handles of their own, whoever's they are.
    let of_the_abi = name.starts_with(b"libmpi_abi.so");
    of_the_abi || if cfg!(open_mpi) { of_mpich } else { of_open_mpi }
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    let name = (*info).dlpi_name;
    if !name.is_null() && is_other(CStr::from_ptr(name).to_bytes()) {
        *found.cast::<Option<CString>>() = Some(CStr::from_ptr(name).to_owned());
        return 1;
    }
    0
}

/// Starts the program again without us, if it has loaded another MPI beside ours. Returns if it has not, or cannot be started.
pub fn start_again_if_there_are_two() {
    let mut found: Option<CString> = None;
    // SAFETY: `look` is called with what it expects, until this returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    let Some(found) = found else { return };
    say(&found.to_string_lossy());
    let others = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let others: Vec<&[u8]> = others
        .as_bytes()
        .split(|&byte| byte == b':' || byte == b' ')
        .filter(|file| !file.ends_with(b"libhypercoll_preload.so"))
        .collect();
    std::env::set_var("LD_PRELOAD", OsString::from_vec(others.join(&b':')));
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<CString> = line.split(|&byte| byte == 0).filter_map(|word| CString::new(word).ok()).collect();
    // The line ends with a zero, behind which there is no word.
    let mut words: Vec<*const c_char> =
        words.iter().take(words.len().saturating_sub(1)).map(|word| word.as_ptr()).collect();
    words.push(std::ptr::null());
    // SAFETY: strings that end, in a list that ends.
    unsafe { libc::execv(c"/proc/self/exe".as_ptr(), words.as_ptr()) };
    eprintln!("hypercoll: the program cannot be started again: {}", std::io::Error::last_os_error());
}
