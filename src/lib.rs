//! Hypercube collectives over MPI.
//!
//! Every rank plays a node of a Boolean cube. From its own address it works out its parents, its children and its
//! messages. Between hosts these travel by nonblocking point-to-point calls of MPI; within a host they go through
//! shared memory.
//!
//! Among the algorithms are broadcasts along edge-disjoint spanning trees, scatters along balanced ones, and exchanges
//! that keep every link of the cube busy. There are direct algorithms as well, which are often best where ranks share a
//! memory. The library chooses one for each call, unless you name one. The collectives have rsmpi's names and argument
//! order, and return [`Result`]s.
//!
//! # Over MPI
//! ```no_run
//! # #[cfg(feature = "mpi")] {
//! use hypercoll::{Hypercube, SystemOperation};
//!
//! let universe = mpi::initialize().unwrap();
//! let cube = Hypercube::new(&universe.world()).unwrap(); // was: let world = universe.world();
//!
//! let mut data = vec![cube.rank() as f64; 1000];
//! cube.process_at_rank(0).broadcast_into(&mut data).unwrap();
//! let mut sum = 0.0;
//! cube.all_reduce_into(&data[0], &mut sum, SystemOperation::sum()).unwrap();
//! println!("{}", cube.explain_last());
//! # }
//! ```
//!
//! A program that uses rsmpi moves over by the line that makes its communicator: [`MpiHypercube`](comm).
//!
//! # Without MPI
//! The same code runs on threads, for tests and for trying things out:
//! ```
//! use hypercoll::{threads, SystemOperation};
//!
//! let results = threads::run(8, |cube| {
//!     // Every rank contributes one value for each of 8 bins; rank i gets the sum of bin i.
//!     let values = [cube.rank() as u32; 8];
//!     let mut bin = 0u32;
//!     cube.reduce_scatter_block_into(&values, &mut bin, SystemOperation::sum()).unwrap();
//!
//!     // An algorithm by name; the packet size in elements.
//!     let mut vector = [if cube.rank() == 3 { 7 } else { 0 }; 100];
//!     cube.broadcast(3).algorithm("msbt").packet(10).run(&mut vector).unwrap();
//!     (bin, vector[99], cube.explain_last())
//! });
//! assert!(results.iter().all(|(bin, last, _)| (*bin, *last) == (28, 7)));
//! assert!(results[0].2.contains("msbt (HJ86 MSBT)"));
//! ```
//! The feature `mpi`, which is on by default, needs an MPI library and libclang. Without it (`default-features =
//! false`) all but `Hypercube::new` and the control variables of MPI is there.
//!
//! # Where to find what
//! * [`comm`]: the communicator, [`Hypercube`], and its collectives. Start here.
//! * [`threads`]: the same on threads, without MPI.
//! * [`request`]: calls that go on while the program computes, and calls that are started again and again. [`raw`]: calls on
//!   untyped buffers.
//! * [`operation`]: what reductions combine with. [`buffer`]: what can be sent and received. [`error`]: what can go
//!   wrong.
//! * [`matrix`]: products and transposes of matrices that are spread over the ranks.
//! * [`histogram`]: values into bins.
//! * [`explain`]: what ran, and why. [`select`]: how the library chooses.
//! * [`algorithm`]: the algorithms, their list ([`algorithm::registry`]), and the proof of one ([`algorithm::verify`]).
//! * [`collective`]: what each collective means. [`topology`]: the spanning trees. [`address`]: the addresses of nodes.
//! * [`schedule`]: what a rank does in a call, as data; its check and its cost.
//! * [`executor`]: what carries schedules out, with a [simulator](executor::simulator).
//! * [`render`]: pictures of trees.
//!
//! # How it works
//! An algorithm is a pure function from a call and a node to what that node sends and receives. This is made into a
//! [`schedule`] for each rank, for any number of ranks. A schedule is plain data, and all else reads schedules:
//!
//! ```text
//! address -> topology -> algorithm -> schedule -+-> executor::mpi        nonblocking point-to-point, shared memory
//!                                               +-> executor::threads    ranks are threads; no MPI needed
//!                                               +-> executor::simulator  virtual time, port models
//!                                               +-> schedule::check      proof over all ranks
//!                                               +-> select               predicted time, choice
//! ```
//!
//! # Environment
//! These variables are for users of programs that they cannot change. Rank 0's values count on all ranks; only the last
//! five are read by each rank for itself. Threads ([`threads::run`]) read the first four and the two limits.
//!
//! | variable | meaning |
//! |---|---|
//! | `HYPERCOLL_ALGORITHM` | algorithms of calls that name none: `broadcast=msbt,all-to-all=pairwise_xor`, or `sbt` for all collectives that have it |
//! | `HYPERCOLL_PACKET` | packet size in bytes: `broadcast=8KiB`, or `8KiB` for all collectives that have an algorithm with packets |
//! | `HYPERCOLL_PORTS` | port model, `one-way`, `one-port` or `all-ports`, in the same form |
//! | `HYPERCOLL_SYMMETRIZED` | all dimensions at once or one at a time, `true` or `false`, in the same form |
//! | `HYPERCOLL_TUNING` | the tuning file that `hypercoll tune` has written ([`select::tuning`]); empty: none. Not set: `hypercoll/<host>-<shared\|network>.toml` in `XDG_CONFIG_HOME` or `~/.config`, if there is one |
//! | `HYPERCOLL_MEASURE` | `off`: where there is no tuning file, the choice takes typical values of a machine; not set, or `on`: the first `Hypercube::new` measures for some milliseconds |
//! | `HYPERCOLL_ROLL_CALL` | whole seconds without progress after which a rank of each host says what every rank of the communicator is doing, once for all that wait (`log`, level warn, or standard error where no logger is set); not set: 10; `0`: never |
//! | `HYPERCOLL_TIMEOUT` | whole seconds without progress after which a collective ends the job; `60,error`: it returns [`Error::Timeout`] on all ranks instead (on threads always) |
//! | `HYPERCOLL_SHARED_MEMORY` | not set: messages between ranks of one host go through memory that they share, and long ones are copied out of the sender's where that is measured to be sooner (from 64 KiB on where nothing was measured); `single-copy`: those of 64 KiB and more are; `two-copies`: ranks do not read each other's memory; `off`: messages go through MPI, and ranks of a host still see what the others are in; `none`: they share nothing at all, nor see what the others are in, for tests (algorithms are chosen as for one host). If ranks differ, the one that allows the least counts |
//! | `HYPERCOLL_PROGRESS` | `thread`: while there is a [`Hypercube`] with messages through MPI, a thread calls MPI every 0.1 ms, so that messages under way go on while the program computes; what starts when they have come starts when the program looks. Each rank decides for itself. MPI must have been initialised with `Threading::Multiple`. `calls`, or not set: no thread |
//! | `HYPERCOLL_SYNCHRONOUS_SENDS` | `1`: every send waits for its receive, for tests |
//!
//! The options of a call count for more than the environment. A variable that asks for what does not exist is an error
//! of `Hypercube::new`. If a call cannot do what a variable asks for, that call returns [`Error::Environment`].
//!
//! `HYPERCOLL_TIMEOUT` must be longer than the longest message takes. Through MPI, or copied out of the sender's
//! memory, a message is no progress before it is complete. (Through MPI, messages beyond 1 GiB with Open MPI, or 128
//! MiB with MPICH, are split; each part counts.)
//!
//! A tuning file may have been made for other hosts, or for another version of MPI or of this library. It is then
//! refused with a warning (`log`), the machine is measured in passing instead, if `HYPERCOLL_MEASURE` lets it be, and [`Hypercube::explain_last`] says so.
//!
//! # What is guaranteed
//! If all ranks make the same calls, in the same order, with arguments that fit together:
//! * Every number of ranks from 1 on is served, every root, every count, also 0 on all ranks, and every
//!   [`buffer::Element`]. Products of matrices need 2^n ranks.
//! * Operations that do not commute are combined in rank order.
//! * Reductions in floating point combine in a fixed order, whatever the timing. The order depends on the call, the
//!   number of ranks, and the algorithm with its parameters. In every step, what comes from a lower rank is the left
//!   operand. Which algorithm the library chooses depends on the machine: name it, with its parameters, if results must
//!   be the same to the last bit on different machines.
//!
//! In any case:
//! * A rank whose own arguments are wrong gets an error before it sends anything, and its buffers stay as they were.
//! * A message is never written beyond the buffer that it is received into, and none of one call is ever taken for one of another.
//! * If ranks make different calls, all of them get an error that says which ranks deviate, what each side has called, and
//!   where ([`Error::Mismatch`]). So they do if a rank was refused its arguments, has panicked, has let go of its
//!   [`Hypercube`], has ended or was killed ([`Error::Mismatch`], [`Error::RankFailed`]).
//! * No wait is silent: see `HYPERCOLL_ROLL_CALL` and `HYPERCOLL_TIMEOUT` above. [`Hypercube::new`] is covered, too.
//!
//! # When ranks disagree
//! Every call on a communicator has a number, and a signature: collective, root or peer, lengths, type and size of
//! elements, operation, whether it is in place, options, the algorithm chosen with its parameters, permutation, avoided
//! links. Messages carry both. A rank that waits looks at what the others of its host have called, and asks those of other
//! hosts.
//!
//! A rank that has nothing to wait for is not held up for the sake of this. The root of a broadcast, for instance, may
//! have returned before anybody else has called: such a rank is told in its next call on the communicator.
//!
//! After such an error the communicator is broken on all ranks: calls return [`Error::Broken`]. A new [`Hypercube`] made from
//! the same MPI communicator works, and nothing that was sent on the old one is ever taken for one of its messages. An
//! error of the arguments that all ranks get alike breaks nothing.
//!
//! What cannot be seen: two closures that differ look alike, and so do two types of one name and size; that data is wrong;
//! and between hosts what a rank has called that is in no call, as it does not answer before its next one.
//!
//! # Papers
//! * HJ86: C.-T. Ho, S. L. Johnsson, Distributed Routing Algorithms for Broadcasting and Personalized Communication in
//!   Hypercubes, YALEU/DCS/TR-483, 1986.
//! * HJ88: C.-T. Ho, S. L. Johnsson, Spanning Balanced Trees in Boolean Cubes, YALEU/DCS/TR-611, 1988.
//! * BOSTT: D. P. Bertsekas, C. Ozveren, G. D. Stamoulis, P. Tseng, J. N. Tsitsiklis, Optimal Communication Algorithms
//!   for Hypercubes, Journal of Parallel and Distributed Computing 11, 1991.
//! * HJE: C.-T. Ho, S. L. Johnsson, A. Edelman, Matrix Multiplication on Hypercubes Using Full Bandwidth and Constant
//!   Storage, TR-19-91, Harvard University, 1991.
//! * SW: Q. F. Stout, B. Wagar, Intensive Hypercube Communication, Journal of Parallel and Distributed Computing 10,
//!   1990.
#![deny(missing_docs)]

pub mod address;
pub mod algorithm;
pub mod buffer;
pub mod collective;
pub mod comm;
mod engine;
pub mod error;
pub mod executor;
pub mod explain;
mod hash;
pub mod histogram;
pub mod matrix;
pub mod operation;
pub mod partition;
mod plan;
pub mod raw;
pub mod render;
pub mod schedule;
pub mod select;
pub mod threads;
pub mod topology;

pub use comm::Hypercube;
#[cfg(feature = "mpi")]
pub use comm::MpiHypercube;
pub use error::{Error, Result};
#[cfg(feature = "mpi")]
pub use executor::mpi::{control_variables, cube_graph};
pub use operation::{Commutative, Reduction, SystemOperation};
pub use partition::{Partition, PartitionMut};
pub use raw::request;

/// The Rust of the pages: compiled, and run where it needs no MPI.
#[cfg(doctest)]
mod pages {
    #[cfg(feature = "mpi")]
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../docs/guide.md")]
    struct Guide;

    #[cfg(feature = "mpi")]
    #[doc = include_str!("../docs/moving-from-rsmpi.md")]
    struct Moving;

    #[doc = include_str!("../docs/choosing.md")]
    struct Choosing;
}
