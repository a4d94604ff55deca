//! The ranks of a communicator that share one memory, as MPI sees it: those of one host.

use super::{accept, affinity};
use crate::error::Result;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// The ranks of this rank's host, and a communicator of theirs.
pub(super) struct Host {
    comm: ffi::MPI_Comm,
    /// The place of this rank among them.
    pub place: usize,
    /// Their ranks in the whole communicator.
    pub ranks: Vec<usize>,
    /// Cores that they share. Ranks may be bound to cores of their own: what counts is all cores that any of them may use.
    pub cores: usize,
}

impl Host {
    /// The host of `rank`. All ranks of `comm`, which is live, call this together.
    pub fn of(comm: ffi::MPI_Comm, rank: usize) -> Result<Host> {
        let (mut local, mut place, mut ranks): (ffi::MPI_Comm, c_int, c_int) = (comm, 0, 0);
        // SAFETY: `comm` is a live communicator on which all ranks make these calls; the others are valid out parameters.
        unsafe {
            let (shared, key) = (ffi::RSMPI_COMM_TYPE_SHARED, rank as c_int);
            let split = ffi::PMPI_Comm_split_type(comm, shared, key, ffi::RSMPI_INFO_NULL, &mut local);
            accept("MPI_Comm_split_type", split)?;
            accept("MPI_Comm_rank", ffi::PMPI_Comm_rank(local, &mut place))?;
            accept("MPI_Comm_size", ffi::PMPI_Comm_size(local, &mut ranks))?;
        }
        let mut host = Host { comm: local, place: place as usize, ranks: vec![0; ranks as usize], cores: 0 };
        let (set, limit) = affinity::cores();
        let mut union = [0; affinity::WORDS];
        let mut least = limit;
        for (index, [of, limit, words @ ..]) in host.gather(told(rank, limit, set))?.into_iter().enumerate() {
            host.ranks[index] = of as usize;
            least = least.min(limit as usize);
            union.iter_mut().zip(words).for_each(|(all, word)| *all |= word);
        }
        host.cores = least.min(union.iter().map(|word| word.count_ones() as usize).sum());
        Ok(host)
    }

    /// What the ranks of the host pass, by place. All of them call this together.
    pub fn gather<const N: usize>(&self, values: [u64; N]) -> Result<Vec<[u64; N]>> {
        let mut all = vec![[0; N]; self.ranks.len()];
        // SAFETY: a live communicator, N elements to send, and room for N of every rank.
        let code = unsafe {
            let (from, into) = (values.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
            let (count, kind) = (N as c_int, ffi::RSMPI_UINT64_T);
            ffi::PMPI_Allgather(from, count, kind, into, count, kind, self.comm)
        };
        accept("MPI_Allgather", code)?;
        Ok(all)
    }

    /// Whether all ranks of the host say yes. All of them call this together.
    pub fn agree(&self, yes: bool) -> Result<bool> {
        Ok(self.gather([u64::from(yes)])?.iter().all(|[said]| *said == 1))
    }
}

/// What a rank tells those of its host: its number, how many cores it may keep busy, and which.
fn told(rank: usize, limit: usize, set: [u64; affinity::WORDS]) -> [u64; affinity::WORDS + 2] {
    let mut values = [0; affinity::WORDS + 2];
    (values[0], values[1]) = (rank as u64, limit as u64);
    values[2..].copy_from_slice(&set);
    values
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the communicator is ours and is freed once; a host is let go of before MPI ends.
        unsafe { ffi::PMPI_Comm_free(&mut self.comm) };
    }
}
