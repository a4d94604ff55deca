//! Runs the collectives of unchanged MPI programs through hypercoll: a library that is loaded before the program.
//!
//! ```sh
//! mpirun -n 8 hypercoll preload -- ./program
//! mpirun -n 8 -x LD_PRELOAD=libhypercoll_preload.so ./program
//! ```
//!
//! It exports the collective functions of MPI, which the program then calls instead of MPI's own. Each is translated to a call of the
//! library's untyped entry ([`hypercoll::raw`]). What is not served goes to the function of MPI by its `PMPI_` name, and
//! so does everything else that is called in here.
//!
//! ```text
//! c        the functions that are exported
//! signatures    what each collective is called with, in C and in Fortran
//! fortran, f08    the same in Fortran, where MPI's own wrappers would pass us by
//! calls    one function a collective: buffers, counts, datatypes and operations as the library takes them
//! requests nonblocking and persistent calls: who sees to it that they go on, and what MPI knows of them
//! communicator, datatype, operation    what they are of MPI's handles
//! session  from MPI_Init to MPI_Finalize
//! told     what the first rank is asked for, told to all
//! caller   where in the program a call comes from
//! attributes    of the program's, which do not see what we duplicate
//! trial, quick    whether native MPI makes a call, and calls of which that is known
//! turn     threads of the program, one at a time
//! heap     memory of our own, beside the program's
//! ```

#![allow(clippy::missing_safety_doc)] // of functions of our own that take the arguments of MPI's: as MPI says

#[macro_use]
mod signatures;

pub mod attributes;
pub mod c;
mod caller;
mod calls;
mod communicator;
mod datatype;
#[cfg(not(open_mpi))]
pub mod f08;
mod failure;
mod foreign;
#[cfg(open_mpi)]
pub mod fortran;
mod heap;
pub mod interface;
mod kind;
mod left;
mod native;
mod operation;
mod quick;
mod report;
mod requests;
mod session;
mod stands;
mod told;
mod trial;
mod turn;
