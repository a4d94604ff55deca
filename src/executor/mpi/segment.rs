//! Memory that the ranks of a host share: a file that lives in memory and never has a name, so that nothing is left of it, whatever
//! becomes of them. It counts as memory of the processes, not of /dev/shm, and only where somebody has written.

use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io::{Error, Result};

/// A file of no length yet.
#[cfg(target_os = "linux")]
pub(super) fn create() -> Result<File> {
    // SAFETY: a text that ends with zero; the descriptor is ours if it is one.
    unsafe {
        let descriptor = libc::memfd_create(c"hypercoll".as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(Error::last_os_error());
        }
        Ok(std::os::fd::FromRawFd::from_raw_fd(descriptor))
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn create() -> Result<File> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The number of a file, by which other processes of the host find it.
pub(super) fn number(file: &File) -> u64 {
    #[cfg(unix)]
    return std::os::fd::AsRawFd::as_raw_fd(file) as u64;
    #[cfg(not(unix))]
    return u64::MAX;
}

/// So many bytes of a file of a process, as memory of this one; with `make`, they are zeros from now on.
pub(super) fn map(process: u64, number: u64, bytes: usize, make: bool) -> Result<MmapRaw> {
    let file = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/fd/{number}"))?;
    if make {
        file.set_len(bytes as u64)?;
    }
    MmapOptions::new().len(bytes).map_raw(&file)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn all_see_the_same_memory_and_it_stays() {
        let file = create().unwrap();
        let this = u64::from(std::process::id());
        let [a, b] = [true, false].map(|make| map(this, number(&file), 5000, make).unwrap());
        drop(file);
        // SAFETY: inside the mapping, which nobody else uses.
        unsafe {
            a.as_mut_ptr().add(4999).write(7);
            assert_eq!((b.as_ptr().read(), b.as_ptr().add(4999).read()), (0, 7));
        }
        assert!(map(this, u64::MAX, 5000, false).is_err());
    }
}
