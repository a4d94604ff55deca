//! Memory that the ranks of a host share: a file that lives in memory and has a name only until all have opened it.

use super::host::Host;
use crate::error::Result;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::path::Path;

/// Where files live in memory.
const MEMORY_FILES: &str = "/dev/shm";

/// So many bytes of zeros that all ranks of a host see, or `None` if one of them cannot have them. All of them call this together,
/// with the same `name`, which no other file has.
pub(super) fn share(host: &Host, name: &str, bytes: usize) -> Result<Option<MmapRaw>> {
    let file = Path::new(MEMORY_FILES).join(name);
    // The first rank makes the file, the others open it, and it goes as soon as they have: only the memory stays.
    let made = if host.place == 0 { create(&file, bytes) } else { Ok(()) };
    let _name = (host.place == 0 && made.is_ok()).then(|| Name(&file));
    host.agree(made.is_ok())?;
    let mapped = made.and_then(|()| open(&file));
    let all = host.agree(mapped.is_ok())?;
    if let Err(error) = &mapped {
        log::warn!("no memory is shared on this host ({}: {error}); messages go through MPI", file.display());
    }
    Ok(mapped.ok().filter(|_| all))
}

/// The name of a file that this rank has made: it goes with its owner, also where something fails before all have opened it.
struct Name<'n>(&'n Path);

impl Drop for Name<'_> {
    fn drop(&mut self) {
        // Should that fail, a file stays behind, and nothing else happens.
        let _ = std::fs::remove_file(self.0);
    }
}

/// Makes a file of zeros with all its memory, so that no later access finds that there is none.
fn create(file: &Path, bytes: usize) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let reserved = reserve(&options.open(file)?, bytes);
    if reserved.is_err() {
        std::fs::remove_file(file)?;
    }
    reserved
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: usize) -> std::io::Result<()> {
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
    loop {
        // SAFETY: the file is open.
        match unsafe { libc::posix_fallocate(descriptor, 0, bytes as libc::off_t) } {
            0 => return Ok(()),
            libc::EINTR => (),
            code => return Err(std::io::Error::from_raw_os_error(code)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: usize) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

fn open(file: &Path) -> std::io::Result<MmapRaw> {
    MmapOptions::new().map_raw(&OpenOptions::new().read(true).write(true).open(file)?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_with_its_name_and_its_memory_stays() {
        let file = std::env::temp_dir().join(format!("hypercoll-test-{}", std::process::id()));
        create(&file, 5000).unwrap();
        let name = Name(&file);
        assert!(create(&file, 5000).is_err(), "the file is there already");
        let mapped = open(&file).unwrap();
        drop(name);
        assert!(!file.exists());
        assert_eq!(mapped.len(), 5000);
    }
}
