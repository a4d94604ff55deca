//! MPI's own collectives, by rsmpi.

use super::arena::{permutation, source};
use hypercoll::collective::{Call, Collective};
use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::Rank;

/// The communicator of native calls: the library works on a duplicate of it.
pub struct Native {
    world: SimpleCommunicator,
    rank: usize,
}

impl Native {
    pub fn new(world: SimpleCommunicator) -> Native {
        let rank = world.rank() as usize;
        Native { world, rank }
    }

    /// Runs a call; the buffers are those of the library's call.
    pub fn run(&self, call: &Call, send: &[f64], receive: &mut [f64]) {
        let world = &self.world;
        let root = || world.process_at_rank(call.root as Rank);
        let on_root = self.rank == call.root;
        let sum = SystemOperation::sum;
        match call.collective {
            Collective::Broadcast => root().broadcast_into(receive),
            Collective::Scatter if on_root => root().scatter_into_root(send, receive),
            Collective::Scatter => root().scatter_into(receive),
            Collective::Gather if on_root => root().gather_into_root(send, receive),
            Collective::Gather => root().gather_into(send),
            Collective::AllGather => world.all_gather_into(send, receive),
            Collective::AllToAll | Collective::TransposeRows => world.all_to_all_into(send, receive),
            Collective::Reduce if on_root => root().reduce_into_root(send, receive, sum()),
            Collective::Reduce => root().reduce_into(send, sum()),
            Collective::ReduceScatter => world.reduce_scatter_block_into(send, receive, sum()),
            Collective::AllReduce => world.all_reduce_into(send, receive, sum()),
            Collective::Permute | Collective::TransposeSubmatrices => {
                // MPI has no permutation; this is what a program would write instead.
                let to = world.process_at_rank(permutation(call)[self.rank] as Rank);
                let from = world.process_at_rank(source(call, self.rank) as Rank);
                send_receive_into(send, &to, receive, &from);
            }
            Collective::Send => {
                if on_root {
                    world.process_at_rank(call.peer as Rank).send(send);
                }
                if self.rank == call.peer {
                    root().receive_into(receive);
                }
            }
            Collective::Exchange if on_root || self.rank == call.peer => {
                let other = world.process_at_rank((call.root ^ call.peer ^ self.rank) as Rank);
                send_receive_into(send, &other, receive, &other);
            }
            Collective::Exchange => {}
            Collective::Barrier | Collective::MatrixMultiply => world.barrier(),
        }
    }

    /// Element by element the largest value of all ranks.
    pub fn maximum(&self, values: &mut [f64]) {
        let own = values.to_vec();
        self.world.all_reduce_into(&own[..], values, SystemOperation::max());
    }

    /// The bytes of all ranks, one after another.
    pub fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        let mut all = vec![0; own.len() * self.world.size() as usize];
        self.world.all_gather_into(own, &mut all[..]);
        all
    }

    /// Ends all ranks.
    pub fn abort(&self) -> ! {
        self.world.abort(1)
    }
}
