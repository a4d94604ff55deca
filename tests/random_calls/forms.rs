//! The forms of the library's calls: blocking, immediate and persistent, short and long.

use crate::draw::Call;
use crate::element::{Element, Operation};
use hypercoll::collective::Collective;
use hypercoll::request::{LocalScope, Persistent, Request, Scope, StaticScope};
use hypercoll::select::Options;
use hypercoll::{Hypercube, Result};

/// A request of a scope.
pub type Scoped<'a, 's, T> = Request<'a, [T], &'s LocalScope<'a>>;

/// Makes a call.
pub fn run<T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    send: &[T],
    receive: &mut [T],
) -> Result<()> {
    use Collective::*;
    let (root, here) = (cube.process_at_rank(call.root), cube.rank() == call.root);
    let operation = Operation::<T>::of(call.combine);
    match (call.collective, o, call.in_place) {
        (Broadcast, None, _) => root.broadcast_into(receive),
        (Broadcast, Some(o), _) => cube.broadcast(call.root).options(o).run(receive),
        (Scatter, None, _) if here => root.scatter_into_root(send, receive),
        (Scatter, None, _) => root.scatter_into(receive),
        (Scatter, Some(o), _) => cube.scatter(call.root).options(o).run(Some(send), receive),
        (Gather, None, _) if here => root.gather_into_root(send, receive),
        (Gather, None, _) => root.gather_into(send),
        (Gather, Some(o), _) => cube.gather(call.root).options(o).run(send, Some(receive)),
        (AllGather, None, true) => cube.all_gather_in_place(receive),
        (AllGather, Some(o), true) => cube.all_gather().options(o).run_in_place(receive),
        (AllGather, None, false) => cube.all_gather_into(send, receive),
        (AllGather, Some(o), false) => cube.all_gather().options(o).run(send, receive),
        (AllToAll, None, _) => cube.all_to_all_into(send, receive),
        (AllToAll, Some(o), _) => cube.all_to_all().options(o).run(send, receive),
        (Reduce, None, _) if here => root.reduce_into_root(send, receive, operation),
        (Reduce, None, _) => root.reduce_into(send, operation),
        (Reduce, Some(o), _) => cube.reduce(call.root).options(o).run(send, Some(receive), operation),
        (ReduceScatter, None, _) => cube.reduce_scatter_block_into(send, receive, operation),
        (ReduceScatter, Some(o), _) => cube.reduce_scatter().options(o).run(send, receive, operation),
        (AllReduce, None, true) => cube.all_reduce_in_place(receive, operation),
        (AllReduce, Some(o), true) => cube.all_reduce().options(o).run_in_place(receive, operation),
        (AllReduce, None, false) => cube.all_reduce_into(send, receive, operation),
        (AllReduce, Some(o), false) => cube.all_reduce().options(o).run(send, receive, operation),
        (Scan, None, true) => cube.scan_in_place(receive, operation),
        (Scan, Some(o), true) => cube.scan().options(o).run_in_place(receive, operation),
        (Scan, None, false) => cube.scan_into(send, receive, operation),
        (Scan, Some(o), false) => cube.scan().options(o).run(send, receive, operation),
        (ExclusiveScan, None, true) => cube.exclusive_scan_in_place(receive, operation),
        (ExclusiveScan, Some(o), true) => cube.exclusive_scan().options(o).run_in_place(receive, operation),
        (ExclusiveScan, None, false) => cube.exclusive_scan_into(send, receive, operation),
        (ExclusiveScan, Some(o), false) => cube.exclusive_scan().options(o).run(send, receive, operation),
        (Permute, None, _) => cube.permute_into(&call.permutation, send, receive),
        (Permute, Some(o), _) => cube.permute(&call.permutation).options(o).run(send, receive),
        (Send, o, _) => {
            let given = cube.send(call.root, call.peer).options(o.unwrap_or(&Options::default()));
            given.run(call.count, Some(send), Some(receive))
        }
        (Exchange, o, _) => {
            let given = cube.exchange(call.root, call.peer).options(o.unwrap_or(&Options::default()));
            given.run(call.count, Some(send), Some(receive))
        }
        _ => cube.barrier(),
    }
}

/// Starts a call other than a barrier.
pub fn start<'a, 's, T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    scope: &'s LocalScope<'a>,
    send: &'a [T],
    receive: &'a mut [T],
) -> Result<Scoped<'a, 's, T>> {
    use Collective::*;
    let (root, here) = (cube.process_at_rank(call.root), cube.rank() == call.root);
    let operation = Operation::<T>::of(call.combine);
    match (call.collective, o, call.in_place) {
        (Broadcast, None, _) => root.immediate_broadcast_into(scope, receive),
        (Broadcast, Some(o), _) => cube.broadcast(call.root).options(o).start(scope, receive),
        (Scatter, None, _) if here => root.immediate_scatter_into_root(scope, send, receive),
        (Scatter, None, _) => root.immediate_scatter_into(scope, receive),
        (Scatter, Some(o), _) => cube.scatter(call.root).options(o).start(scope, Some(send), receive),
        (Gather, None, _) if here => root.immediate_gather_into_root(scope, send, receive),
        (Gather, None, _) => root.immediate_gather_into(scope, send),
        (Gather, Some(o), _) => cube.gather(call.root).options(o).start(scope, send, Some(receive)),
        (AllGather, None, true) => cube.immediate_all_gather_in_place(scope, receive),
        (AllGather, Some(o), true) => cube.all_gather().options(o).start_in_place(scope, receive),
        (AllGather, None, false) => cube.immediate_all_gather_into(scope, send, receive),
        (AllGather, Some(o), false) => cube.all_gather().options(o).start(scope, send, receive),
        (AllToAll, None, _) => cube.immediate_all_to_all_into(scope, send, receive),
        (AllToAll, Some(o), _) => cube.all_to_all().options(o).start(scope, send, receive),
        (Reduce, None, _) if here => root.immediate_reduce_into_root(scope, send, receive, operation),
        (Reduce, None, _) => root.immediate_reduce_into(scope, send, operation),
        (Reduce, Some(o), _) => cube.reduce(call.root).options(o).start(scope, send, Some(receive), operation),
        (ReduceScatter, None, _) => cube.immediate_reduce_scatter_block_into(scope, send, receive, operation),
        (ReduceScatter, Some(o), _) => cube.reduce_scatter().options(o).start(scope, send, receive, operation),
        (AllReduce, None, true) => cube.immediate_all_reduce_in_place(scope, receive, operation),
        (AllReduce, Some(o), true) => cube.all_reduce().options(o).start_in_place(scope, receive, operation),
        (AllReduce, None, false) => cube.immediate_all_reduce_into(scope, send, receive, operation),
        (AllReduce, Some(o), false) => cube.all_reduce().options(o).start(scope, send, receive, operation),
        (Scan, None, true) => cube.immediate_scan_in_place(scope, receive, operation),
        (Scan, Some(o), true) => cube.scan().options(o).start_in_place(scope, receive, operation),
        (Scan, None, false) => cube.immediate_scan_into(scope, send, receive, operation),
        (Scan, Some(o), false) => cube.scan().options(o).start(scope, send, receive, operation),
        (ExclusiveScan, None, true) => cube.immediate_exclusive_scan_in_place(scope, receive, operation),
        (ExclusiveScan, Some(o), true) => cube.exclusive_scan().options(o).start_in_place(scope, receive, operation),
        (ExclusiveScan, None, false) => cube.immediate_exclusive_scan_into(scope, send, receive, operation),
        (ExclusiveScan, Some(o), false) => cube.exclusive_scan().options(o).start(scope, send, receive, operation),
        (Permute, None, _) => cube.immediate_permute_into(scope, &call.permutation, send, receive),
        (Permute, Some(o), _) => cube.permute(&call.permutation).options(o).start(scope, send, receive),
        (Send, o, _) => {
            let given = cube.send(call.root, call.peer).options(o.unwrap_or(&Options::default()));
            given.start(scope, call.count, Some(send), Some(receive))
        }
        (Exchange, o, _) => {
            let given = cube.exchange(call.root, call.peer).options(o.unwrap_or(&Options::default()));
            given.start(scope, call.count, Some(send), Some(receive))
        }
        (other, ..) => unreachable!("{other} is not started"),
    }
}

/// A persistent call, whatever its types.
pub trait Again {
    fn start(&mut self) -> Result<()>;
    fn test(&mut self) -> Result<bool>;
    fn wait(&mut self) -> Result<()>;
    /// Shows its buffers.
    fn show(&mut self, look: &mut dyn FnMut(&mut [u8], &mut [u8])) -> Result<()>;
    fn forget(self: Box<Self>);
}

/// No elements, of any type.
fn nothing() -> &'static mut [u8] {
    bytemuck::cast_slice_mut::<u64, u8>(&mut [])
}

macro_rules! again {
    ($([$($generics:tt)*] $a:lifetime, $send:ty, $receive:ty, $scope:ty, |$from:ident, $into:ident| $bytes:expr;)*) => {$(
        impl<$($generics)*> Again for Persistent<$a, $send, $receive, $scope> {
            fn start(&mut self) -> Result<()> {
                Persistent::start(self)
            }

            fn test(&mut self) -> Result<bool> {
                Persistent::test(self)
            }

            fn wait(&mut self) -> Result<()> {
                Persistent::wait(self)
            }

            fn show(&mut self, look: &mut dyn FnMut(&mut [u8], &mut [u8])) -> Result<()> {
                let ($from, $into) = self.buffers()?;
                let (send, receive): (&mut [u8], &mut [u8]) = $bytes;
                look(send, receive);
                Ok(())
            }

            fn forget(self: Box<Self>) {
                std::mem::forget(*self);
            }
        }
    )*};
}

again! {
    ['a, T: Element, S: Scope<'a>] 'a, [T], [T], S,
        |send, receive| (bytemuck::cast_slice_mut(send), bytemuck::cast_slice_mut(receive));
    ['a, T: Element, S: Scope<'a>] 'a, (), [T], S, |_none, receive| (nothing(), bytemuck::cast_slice_mut(receive));
    [] 'static, (), (), StaticScope, |_none, _nothing| (nothing(), nothing());
}

/// Makes a call to be started again and again.
pub fn init<'a: 's, 's, T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    scope: &'s LocalScope<'a>,
    send: &'a mut [T],
    receive: &'a mut [T],
) -> Result<Box<dyn Again + 's>> {
    use Collective::*;
    let root = cube.process_at_rank(call.root);
    let operation = Operation::<T>::of(call.combine);
    Ok(match (call.collective, o) {
        (Broadcast, None) => Box::new(root.broadcast_init(scope, receive)?),
        (Broadcast, Some(o)) => Box::new(cube.broadcast(call.root).options(o).init(scope, receive)?),
        (Scatter, None) => Box::new(root.scatter_init(scope, send, receive)?),
        (Scatter, Some(o)) => Box::new(cube.scatter(call.root).options(o).init(scope, send, receive)?),
        (Gather, None) => Box::new(root.gather_init(scope, send, receive)?),
        (Gather, Some(o)) => Box::new(cube.gather(call.root).options(o).init(scope, send, receive)?),
        (AllGather, None) => Box::new(cube.all_gather_init(scope, send, receive)?),
        (AllGather, Some(o)) => Box::new(cube.all_gather().options(o).init(scope, send, receive)?),
        (AllToAll, None) => Box::new(cube.all_to_all_init(scope, send, receive)?),
        (AllToAll, Some(o)) => Box::new(cube.all_to_all().options(o).init(scope, send, receive)?),
        (Reduce, None) => Box::new(root.reduce_init(scope, send, receive, operation)?),
        (Reduce, Some(o)) => Box::new(cube.reduce(call.root).options(o).init(scope, send, receive, operation)?),
        (ReduceScatter, None) => Box::new(cube.reduce_scatter_block_init(scope, send, receive, operation)?),
        (ReduceScatter, Some(o)) => Box::new(cube.reduce_scatter().options(o).init(scope, send, receive, operation)?),
        (AllReduce, None) => Box::new(cube.all_reduce_init(scope, send, receive, operation)?),
        (AllReduce, Some(o)) => Box::new(cube.all_reduce().options(o).init(scope, send, receive, operation)?),
        (Scan, None) => Box::new(cube.scan_init(scope, send, receive, operation)?),
        (Scan, Some(o)) => Box::new(cube.scan().options(o).init(scope, send, receive, operation)?),
        (ExclusiveScan, None) => Box::new(cube.exclusive_scan_init(scope, send, receive, operation)?),
        (ExclusiveScan, Some(o)) => Box::new(cube.exclusive_scan().options(o).init(scope, send, receive, operation)?),
        (Permute, None) => Box::new(cube.permute_init(scope, &call.permutation, send, receive)?),
        (Permute, Some(o)) => Box::new(cube.permute(&call.permutation).options(o).init(scope, send, receive)?),
        (Barrier, _) => Box::new(cube.barrier_init()?),
        (other, _) => unreachable!("{other} is not persistent"),
    })
}
