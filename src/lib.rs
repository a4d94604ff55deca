//! Hypercube collectives over MPI.
//!
//! Every rank plays a node of a Boolean cube, works out its parents, children and messages from its own address, and
//! carries them out by nonblocking point-to-point messages, over MPI between hosts and through shared memory within one:
//! broadcast along edge-disjoint spanning trees, scatter along balanced ones, exchanges that keep every link of the cube busy,
//! and the direct algorithms that are best where ranks share a memory. The collectives have rsmpi's names and argument order,
//! and return [`Result`]s.
//!
//! # The one idea
//! An algorithm is a pure function from (call, node) to the transfers of that node. What becomes of them is a [`schedule`],
//! plain data, and everything else consumes schedules:
//!
//! ```text
//! address -> topology -> algorithm -> schedule -+-> executor::mpi        nonblocking point-to-point, shared memory
//!                                               +-> executor::threads    ranks are threads; no MPI needed
//!                                               +-> executor::simulator  virtual time, port models
//!                                               +-> schedule::check      proof over all ranks
//!                                               +-> select               predicted time, choice
//! ```
//!
//! * [`address`]: relative addresses, rotations, necklaces, Gray code. * [`topology`]: the spanning trees.
//! * [`collective`]: what each collective means. * [`algorithm`]: the algorithms and their registry.
//! * [`schedule`]: from the transfers of nodes to the operations of ranks, for any number of ranks; checker and cost.
//! * [`select`]: which algorithm a call gets, and why. * [`executor`]: what carries schedules out.
//! * [`comm`]: the public API, [`Hypercube`], also without links that are faulty ([`Hypercube::avoid_links`]).
//! * [`histogram`]: values into bins. * [`matrix`]: products and transposes of matrices. * [`render`]: pictures.
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
//!
//! # Environment
//! Variables that users set, for programs that they cannot change. Rank 0's values count on all ranks, except for the last three,
//! which each rank reads for itself; threads ([`threads::run`]) read the first four.
//!
//! | variable | meaning |
//! |---|---|
//! | `HYPERCOLL_ALGORITHM` | algorithms of calls that name none: `broadcast=msbt,all-to-all=pairwise_xor`, or `sbt` for all collectives that have it |
//! | `HYPERCOLL_PACKET` | packet size in bytes: `broadcast=8KiB`, or `8KiB` for all collectives that have an algorithm with packets |
//! | `HYPERCOLL_PORTS` | port model, `one-way`, `one-port` or `all-ports`, in the same form |
//! | `HYPERCOLL_SYMMETRIZED` | all dimensions at once or one at a time, `true` or `false`, in the same form |
//! | `HYPERCOLL_TUNING` | the tuning file, as `hypercoll tune` writes it; empty: none. If it is not set, `hypercoll/<host>-<shared\|network>.toml` in `XDG_CONFIG_HOME` or `~/.config`, if there is one; [`select::tuning`] |
//! | `HYPERCOLL_TIMEOUT` | whole seconds without progress after which a collective ends the job, naming the ranks that are missing. A message through MPI (each part of one that is split: beyond 1 GiB with Open MPI, 128 MiB with MPICH), and a long one that its receiver copies out of the sender's memory, counts as progress only when it is complete: the limit must exceed the time of the longest one |
//! | `HYPERCOLL_SHARED_MEMORY` | `single-copy` (the default): messages between ranks of one host go through memory that they share, and long ones are copied out of the sender's; `two-copies`: ranks do not read each other's memory; `off`: messages go through MPI. The least willing rank counts |
//! | `HYPERCOLL_SYNCHRONOUS_SENDS` | `1`: every send waits for its receive, for tests |
//!
//! What a call's own options say goes before the environment. What does not exist is an error of `Hypercube::new`; what a call
//! cannot honour is an error of that call ([`Error::Environment`]), never silently left out. A tuning file that was made for other
//! hosts, or for another version of MPI or of this library, is refused with a warning (`log`), and the built-in parameters are
//! used; [`Hypercube::explain_last`] says so.
//!
//! # What is guaranteed
//! Any number of ranks from 1 on (products of matrices: 2^n), any root, any count (also 0), all `bytemuck::Pod` elements;
//! operations that do not commute are combined in rank order. For a given algorithm, number of ranks, packet size and
//! hosting, floating-point reductions combine in a fixed order: at every step what comes from a lower rank is the left operand, and the steps
//! are those of the broadcast, backwards, or exchanges. Errors of the arguments are found before anything is sent and leave
//! the buffers as they were. Ranks that pass different counts get an error where a message of the wrong length arrives; they,
//! and those that wait for them, do not hang, as long as the ranks agree on the number of messages. (Between hosts a message of more than 2 KiB
//! that meets a receive of another length is reported after a tenth of a second; it is written nowhere.)
//! Whatever else keeps a rank waiting is reported after ten seconds, by name of the ranks it waits for (`log`, warn level), and ends the job after
//! `HYPERCOLL_TIMEOUT` seconds, if set.
//!
//! # Papers
//! * HJ86: C.-T. Ho, S. L. Johnsson, Distributed Routing Algorithms for Broadcasting and Personalized Communication in
//!   Hypercubes, YALEU/DCS/TR-483, 1986.
//! * HJ88: C.-T. Ho, S. L. Johnsson, Spanning Balanced Trees in Boolean Cubes, YALEU/DCS/TR-611, 1988.
//! * BOSTT: D. P. Bertsekas, C. Ozveren, G. D. Stamoulis, P. Tseng, J. N. Tsitsiklis, Optimal Communication Algorithms for
//!   Hypercubes, Journal of Parallel and Distributed Computing 11, 1991.
//! * HJE: C.-T. Ho, S. L. Johnsson, A. Edelman, Matrix Multiplication on Hypercubes Using Full Bandwidth and Constant Storage,
//!   TR-19-91, Harvard University, 1991.
//! * SW: Q. F. Stout, B. Wagar, Intensive Hypercube Communication, Journal of Parallel and Distributed Computing 10, 1990.
#![deny(missing_docs)]

pub mod address;
pub mod algorithm;
pub mod buffer;
pub mod collective;
pub mod comm;
pub mod error;
pub mod executor;
pub mod explain;
pub mod histogram;
pub mod matrix;
pub mod operation;
pub mod render;
pub mod schedule;
pub mod select;
pub mod topology;

pub use comm::Hypercube;
pub use error::{Error, Result};
#[cfg(feature = "mpi")]
pub use executor::mpi::control_variables;
pub use executor::threads;
pub use operation::{Commutative, Reduction, SystemOperation};

/// The Rust of the pages: compiled, and run where it needs no MPI.
#[cfg(doctest)]
mod pages {
    #[cfg(feature = "mpi")]
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../docs/guide.md")]
    struct Guide;

    #[doc = include_str!("../docs/choosing.md")]
    struct Choosing;
}
