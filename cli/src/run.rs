//! A call given as data, made by the calls that users write.

use hypercoll::collective::{Call, Collective};
use hypercoll::operation::Number;
use hypercoll::select::Options;
use hypercoll::{Hypercube, Reduction, Result};

/// Makes the library run a call; `operation` is for reductions. The buffers are as long as the call says.
pub fn run<T: Number>(
    cube: &Hypercube,
    call: &Call,
    options: &Options,
    send: &[T],
    receive: &mut [T],
    operation: impl Reduction<T>,
) -> Result<()> {
    let on_root = cube.rank() == call.root;
    match call.collective {
        Collective::Broadcast => cube.broadcast(call.root).options(options).run(receive),
        Collective::Scatter => cube.scatter(call.root).options(options).run(on_root.then_some(send), receive),
        Collective::Gather => cube.gather(call.root).options(options).run(send, on_root.then_some(receive)),
        Collective::AllGather if call.in_place => cube.all_gather().options(options).run_in_place(receive),
        Collective::AllGather => cube.all_gather().options(options).run(send, receive),
        Collective::AllToAll => cube.all_to_all().options(options).run(send, receive),
        Collective::NeighborAllToAll => cube.neighbor_all_to_all().options(options).run(send, receive),
        Collective::Reduce => cube.reduce(call.root).options(options).run(send, on_root.then_some(receive), operation),
        Collective::ReduceScatter => cube.reduce_scatter().options(options).run(send, receive, operation),
        Collective::AllReduce if call.in_place => cube.all_reduce().options(options).run_in_place(receive, operation),
        Collective::AllReduce => cube.all_reduce().options(options).run(send, receive, operation),
        Collective::Scan if call.in_place => cube.scan().options(options).run_in_place(receive, operation),
        Collective::Scan => cube.scan().options(options).run(send, receive, operation),
        Collective::ExclusiveScan if call.in_place => {
            cube.exclusive_scan().options(options).run_in_place(receive, operation)
        }
        Collective::ExclusiveScan => cube.exclusive_scan().options(options).run(send, receive, operation),
        Collective::Permute => {
            let permutation = call.permutation.as_deref().unwrap_or_default();
            cube.permute(permutation).options(options).run(send, receive)
        }
        // The others have no form but this one, or need no other.
        _ => cube.collective(call.clone()).options(options).run(send, receive),
    }
}
