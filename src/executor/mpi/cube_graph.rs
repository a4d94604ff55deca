//! MPI's own exchange with the neighbours on the cube, to measure against: a communicator whose graph is the cube, which rsmpi lacks.
//!
//! ```no_run
//! use hypercoll::cube_graph::CubeGraph;
//!
//! let universe = mpi::initialize().unwrap();
//! let graph = CubeGraph::new(&universe.world())?;
//! let (send, mut receive) = (vec![1.5; graph.ports()], vec![0.0; graph.ports()]); // a block of one element a port
//! graph.all_to_all(&send, &mut receive)?;
//! drop(graph); // before MPI ends
//! # hypercoll::Result::Ok(())
//! ```

use super::accept;
use crate::address::dimension_for;
use crate::error::{Error, Result};
use mpi::ffi;
use mpi::traits::{AsRaw, Communicator, Equivalence};
use std::ffi::c_int;
use std::marker::PhantomData;

/// A communicator with the edges of the cube that join two ranks: rank r and rank r XOR 2^j, for every port j.
///
/// Drop it while MPI is up, on all ranks.
pub struct CubeGraph {
    comm: ffi::MPI_Comm,
    /// The ports, and those across which there is a rank.
    ports: usize,
    linked: Vec<usize>,
    /// Stays with its thread, as MPI may have been initialised for one thread only.
    _thread: PhantomData<*const ()>,
}

impl CubeGraph {
    /// Makes the graph of a communicator. All its ranks call this; they keep their numbers.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn new(world: &impl Communicator) -> Result<CubeGraph> {
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        let ports = dimension_for(size) as usize;
        let linked: Vec<usize> = (0..ports).filter(|port| rank ^ 1 << port < size).collect();
        let neighbors: Vec<c_int> = linked.iter().map(|port| (rank ^ 1 << port) as c_int).collect();
        let (degree, equal) = (neighbors.len() as c_int, vec![1; neighbors.len()]);
        // SAFETY: a handle of MPI's, which is copied.
        let mut comm = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: both lists, and the weights, have `degree` numbers; a communicator that is up, and a valid out parameter.
        let code = unsafe {
            ffi::PMPI_Dist_graph_create_adjacent(
                world.as_raw(),
                degree,
                neighbors.as_ptr(),
                equal.as_ptr(),
                degree,
                neighbors.as_ptr(),
                equal.as_ptr(),
                ffi::RSMPI_INFO_NULL,
                0,
                &mut comm,
            )
        };
        accept("MPI_Dist_graph_create_adjacent", code)?;
        Ok(CubeGraph { comm, ports, linked, _thread: PhantomData })
    }

    /// Blocks of a buffer, of which those of ports that lead to no rank are left alone.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// `MPI_Neighbor_alltoallv`: block j of `send` goes over port j, and block j of `receive` comes from there. All ranks call this.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers differ in length or are not made of a block for each port; [`Error::Mpi`], also for more
    /// elements than MPI can count.
    pub fn all_to_all<T: Equivalence>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let wrong = |argument, got, expected: String| {
            Err(Error::Length { argument, got, expected, why: "one block a port, in both buffers" })
        };
        if receive.len() != send.len() {
            return wrong("receive", receive.len(), send.len().to_string());
        }
        if !send.len().is_multiple_of(self.ports) {
            return wrong("send", send.len(), format!("a multiple of {}", self.ports));
        }
        let count = send.len().checked_div(self.ports).unwrap_or(0);
        let call = "MPI_Neighbor_alltoallv";
        let number = |elements: usize| {
            c_int::try_from(elements)
                .map_err(|_| Error::Mpi { call, message: "more elements than it can count".into() })
        };
        let starts = self.linked.iter().map(|&port| number(port * count)).collect::<Result<Vec<c_int>>>()?;
        let counts = vec![number(count)?; starts.len()];
        let kind = T::equivalent_datatype().as_raw();
        // SAFETY: counts and starts of as many blocks as the graph has neighbours, all within buffers of elements of this type.
        let code = unsafe {
            ffi::PMPI_Neighbor_alltoallv(
                send.as_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                kind,
                receive.as_mut_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                kind,
                self.comm,
            )
        };
        accept(call, code)
    }
}

impl Drop for CubeGraph {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and freed once.
        unsafe { ffi::PMPI_Comm_free(&mut self.comm) };
    }
}
