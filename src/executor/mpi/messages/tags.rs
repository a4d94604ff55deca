//! The tags of MPI's messages: of what ranks tell each other, and of calls, whose numbers they carry as far as there is room.

use mpi::ffi;
use std::ffi::{c_int, c_void};

/// The largest tag that every MPI library has.
const LEAST_TAG_BOUND: usize = 32_767;

/// Which tags messages carry.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tags {
    /// Numbers that can be told apart.
    numbers: u64,
}

impl Tags {
    /// What ranks tell each other beside their messages; that a call has failed and they are through, or which rank has gone; the last
    /// that one tells that goes while all is well; and that a call has failed and MPI still uses memory of its user's.
    pub const NOTE: c_int = 0;
    pub const FAREWELL: c_int = 1;
    pub const PARTING: c_int = 2;
    pub const HELD: c_int = 3;
    /// Above them are those of calls.
    pub const CALLS: c_int = 4;

    fn within(bound: usize) -> Tags {
        Tags { numbers: (bound as u64 - Self::CALLS as u64 - 1) / 2 }
    }

    /// Those of the MPI library, the same on all ranks.
    pub fn of_mpi() -> Tags {
        let (mut bound, mut told): (*const c_int, c_int) = (std::ptr::null(), 0);
        // SAFETY: a communicator that lives as long as MPI, and valid out parameters; this attribute is the address of an `int`.
        let bound = unsafe {
            let into = (&raw mut bound).cast::<c_void>();
            ffi::PMPI_Comm_get_attr(ffi::RSMPI_COMM_WORLD, ffi::MPI_TAG_UB as c_int, into, &mut told);
            (told != 0).then(|| *bound as usize)
        };
        Tags::within(bound.unwrap_or(LEAST_TAG_BOUND))
    }

    /// The tag of first messages of a call.
    pub fn first(self, number: u64) -> c_int {
        Self::CALLS + (2 * (number % self.numbers)) as c_int
    }

    /// The tag of what follows them.
    pub fn later(self, number: u64) -> c_int {
        self.first(number) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least bound of MPI, those of MPICH over some networks, and that of Open MPI.
    #[test]
    fn tags_are_in_bounds_and_tell_calls_apart() {
        for bound in [LEAST_TAG_BOUND, (1 << 19) - 1, (1 << 20) - 1, (1 << 28) - 1, c_int::MAX as usize] {
            let tags = Tags::within(bound);
            let last = tags.numbers - 1;
            for number in [0, 1, last, last + 1, u64::MAX] {
                let both = [tags.first(number), tags.later(number)];
                assert!(both.iter().all(|tag| (4..=bound as i64).contains(&i64::from(*tag))), "{bound}: {both:?}");
            }
            let near: std::collections::HashSet<c_int> =
                (last - 5000..last + 5000).flat_map(|number| [tags.first(number), tags.later(number)]).collect();
            assert_eq!(near.len(), 20_000);
        }
    }
}
