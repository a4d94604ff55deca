//! Copies straight from the memory of another process, where the operating system allows it (Linux): long messages between
//! ranks of one host are then copied once.

use std::io::Result;

/// Pieces that one system call copies at most.
#[cfg(target_os = "linux")]
const PIECES: usize = 64;

/// Bytes in the memory of a process: the first one's address, and their number.
pub(super) type Piece = (u64, u64);

/// Memory of this process: its start and length.
pub(super) type Target = (*mut u8, usize);

/// Copies the pieces of a process's memory, one after another, into the targets, which hold as many bytes in all.
///
/// # Safety
/// The targets are valid for writing, and nobody else uses them.
///
/// # Errors
/// Those of the operating system; the targets may then hold anything.
#[cfg(target_os = "linux")]
pub(super) unsafe fn read(process: u64, pieces: &[Piece], targets: &[Target]) -> Result<()> {
    let mut pieces = pieces.iter().copied().filter(|piece| piece.1 > 0);
    let mut piece = pieces.next().unwrap_or((0, 0));
    let (mut from, mut into): (Vec<libc::iovec>, Vec<libc::iovec>) = (Vec::new(), Vec::new());
    for &(start, bytes) in targets {
        let mut done = 0;
        while done < bytes && piece.1 > 0 {
            let len = (bytes - done).min(piece.1 as usize);
            into.push(libc::iovec { iov_base: start.add(done).cast(), iov_len: len });
            from.push(libc::iovec { iov_base: piece.0 as *mut libc::c_void, iov_len: len });
            done += len;
            piece = (piece.0 + len as u64, piece.1 - len as u64);
            if piece.1 == 0 {
                piece = pieces.next().unwrap_or((0, 0));
            }
            if from.len() == PIECES {
                copy(process, &mut from, &mut into)?;
            }
        }
    }
    copy(process, &mut from, &mut into)
}

/// Copies between vectors of equal lengths, and empties them.
///
/// # Safety
/// `into` describes memory that is valid for writing, and that nobody else uses.
#[cfg(target_os = "linux")]
unsafe fn copy(process: u64, from: &mut Vec<libc::iovec>, into: &mut Vec<libc::iovec>) -> Result<()> {
    let (mut done, bytes) = (0, into.iter().map(|v| v.iov_len).sum::<usize>());
    while done < bytes {
        // What is wrong with `from`, in the other process, is an error of the call.
        let (process, count) = (process as libc::pid_t, into.len() as libc::c_ulong);
        let copied = libc::process_vm_readv(process, into.as_ptr(), count, from.as_ptr(), count, 0);
        if copied <= 0 {
            return Err(std::io::Error::last_os_error());
        }
        // One call copies up to 2 GiB: what is left goes into the next.
        done += copied as usize;
        let mut gone = copied as usize;
        for (a, b) in from.iter_mut().zip(into.iter_mut()) {
            let len = gone.min(a.iov_len);
            for vector in [a, b] {
                vector.iov_base = vector.iov_base.cast::<u8>().wrapping_add(len).cast();
                vector.iov_len -= len;
            }
            gone -= len;
        }
    }
    from.clear();
    into.clear();
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) unsafe fn read(_: u64, _: &[Piece], _: &[Target]) -> Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_copied_one_after_another_however_they_are_cut() {
        let source: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let cut = |at: usize, len: usize| ((source.as_ptr() as u64) + at as u64, len as u64);
        let mut pieces = vec![cut(9_000, 1_000), cut(0, 0)];
        pieces.extend((0..90).map(|i| cut(100 * i, 100)));
        let mut target = vec![0u8; 10_000];
        let (a, rest) = target.split_at_mut(1);
        let (b, c) = rest.split_at_mut(4_000);
        let targets = [a, b, &mut [], c].map(|part| (part.as_mut_ptr(), part.len()));
        // SAFETY: the targets are borrowed from `target`.
        unsafe { read(u64::from(std::process::id()), &pieces, &targets) }.unwrap();
        assert_eq!([&source[9_000..], &source[..9_000]].concat(), target);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let mut target = [0u8; 8];
        // SAFETY: the target is there.
        assert!(unsafe { read(u64::from(std::process::id()), &[(8, 8)], &[(target.as_mut_ptr(), 8)]) }.is_err());
    }
}
