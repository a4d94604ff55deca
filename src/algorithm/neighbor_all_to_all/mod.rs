//! A block from every rank to each of its neighbours on the cube: MPI's neighbourhood all-to-all, where the graph is the cube.
//!
//! Rank r and rank r XOR 2^j are neighbours across port j, if both are ranks. Block j of both buffers belongs to port j.
//!
//! ```
//! let received = hypercoll::threads::run(3, |cube| {
//!     let send = [10 * cube.rank(), 10 * cube.rank() + 1]; // a block for port 0, and one for port 1
//!     let mut receive = [99; 2];
//!     cube.neighbor_all_to_all_into(&send, &mut receive).unwrap();
//!     receive
//! });
//! // Rank 1 has no neighbour across port 1, nor rank 2 across port 0: there would be rank 3.
//! assert_eq!(received, [[10, 21], [0, 99], [99, 1]]);
//! ```

pub mod direct;
