//! The forms of the library's calls: blocking, immediate and persistent, short and long.

use crate::data::{every, Data};
use crate::draw::Call;
use crate::element::{Element, Operation};
use crate::varcount;
use hypercoll::buffer::WithinSliceMut;
use hypercoll::collective::Collective;
use hypercoll::request::{LocalScope, Persistent, Request, Scope, StaticScope};
use hypercoll::select::Options;
use hypercoll::{Hypercube, Result};

/// A request of a scope.
pub type Scoped<'a, 's, D> = Request<'a, D, &'s LocalScope<'a>>;

/// Makes a call.
pub fn run<T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    send: &[T],
    receive: &mut [T],
) -> Result<()> {
    use Collective::*;
    let (root, here, in_place) = (cube.process_at_rank(call.root), cube.rank() == call.root, call.in_place);
    let operation = Operation::<T>::of(call.combine);
    let [apart, apart_too] = call.strides(cube.rank());
    let (send, receive) = (&Data::read(send, apart), &mut Data::written(receive, apart_too));
    if call.lengths.is_some() {
        return varcount::run(cube, call, o, send, receive);
    }
    match (call.collective, o) {
        (Broadcast, None) => root.broadcast_into(receive),
        (Broadcast, Some(o)) => cube.broadcast(call.root).options(o).run(receive),
        (Scatter, None) if in_place && here => root.scatter_in_place_root(send),
        (Scatter, Some(o)) if in_place && here => cube.scatter(call.root).options(o).run_in_place(send),
        (Scatter, None) if here => root.scatter_into_root(send, receive),
        (Scatter, None) => root.scatter_into(receive),
        (Scatter, Some(o)) => cube.scatter(call.root).options(o).run(Some(send), receive),
        (Gather, None) if in_place && here => root.gather_in_place_root(receive),
        (Gather, Some(o)) if in_place && here => cube.gather(call.root).options(o).run_in_place(receive),
        (Gather, None) if here => root.gather_into_root(send, receive),
        (Gather, None) => root.gather_into(send),
        (Gather, Some(o)) => cube.gather(call.root).options(o).run(send, Some(receive)),
        (AllGather, None) if in_place => cube.all_gather_in_place(receive),
        (AllGather, Some(o)) if in_place => cube.all_gather().options(o).run_in_place(receive),
        (AllGather, None) => cube.all_gather_into(send, receive),
        (AllGather, Some(o)) => cube.all_gather().options(o).run(send, receive),
        (AllToAll, None) if in_place => cube.all_to_all_in_place(receive),
        (AllToAll, Some(o)) if in_place => cube.all_to_all().options(o).run_in_place(receive),
        (AllToAll, None) => cube.all_to_all_into(send, receive),
        (AllToAll, Some(o)) => cube.all_to_all().options(o).run(send, receive),
        (NeighborAllToAll, None) if in_place => cube.neighbor_all_to_all_in_place(receive),
        (NeighborAllToAll, Some(o)) if in_place => cube.neighbor_all_to_all().options(o).run_in_place(receive),
        (NeighborAllToAll, None) => cube.neighbor_all_to_all_into(send, receive),
        (NeighborAllToAll, Some(o)) => cube.neighbor_all_to_all().options(o).run(send, receive),
        (Reduce, None) if in_place && here => root.reduce_in_place_root(receive, operation),
        (Reduce, Some(o)) if in_place && here => cube.reduce(call.root).options(o).run_in_place(receive, operation),
        (Reduce, None) if here => root.reduce_into_root(send, receive, operation),
        (Reduce, None) => root.reduce_into(send, operation),
        (Reduce, Some(o)) => cube.reduce(call.root).options(o).run(send, Some(receive), operation),
        (ReduceScatter, None) if in_place => cube.reduce_scatter_block_in_place(receive, operation),
        (ReduceScatter, Some(o)) if in_place => cube.reduce_scatter().options(o).run_in_place(receive, operation),
        (ReduceScatter, None) => cube.reduce_scatter_block_into(send, receive, operation),
        (ReduceScatter, Some(o)) => cube.reduce_scatter().options(o).run(send, receive, operation),
        (AllReduce, None) if in_place => cube.all_reduce_in_place(receive, operation),
        (AllReduce, Some(o)) if in_place => cube.all_reduce().options(o).run_in_place(receive, operation),
        (AllReduce, None) => cube.all_reduce_into(send, receive, operation),
        (AllReduce, Some(o)) => cube.all_reduce().options(o).run(send, receive, operation),
        (Scan, None) if in_place => cube.scan_in_place(receive, operation),
        (Scan, Some(o)) if in_place => cube.scan().options(o).run_in_place(receive, operation),
        (Scan, None) => cube.scan_into(send, receive, operation),
        (Scan, Some(o)) => cube.scan().options(o).run(send, receive, operation),
        (ExclusiveScan, None) if in_place => cube.exclusive_scan_in_place(receive, operation),
        (ExclusiveScan, Some(o)) if in_place => cube.exclusive_scan().options(o).run_in_place(receive, operation),
        (ExclusiveScan, None) => cube.exclusive_scan_into(send, receive, operation),
        (ExclusiveScan, Some(o)) => cube.exclusive_scan().options(o).run(send, receive, operation),
        (Permute, None) if in_place => cube.permute_in_place(&call.permutation, receive),
        (Permute, Some(o)) if in_place => cube.permute(&call.permutation).options(o).run_in_place(receive),
        (Permute, None) => cube.permute_into(&call.permutation, send, receive),
        (Permute, Some(o)) => cube.permute(&call.permutation).options(o).run(send, receive),
        (Send, o) => {
            let given = cube.send(call.root, call.peer).options(o.unwrap_or(&Options::default()));
            given.run(call.count, Some(send.slice()), Some(receive.slice_mut()))
        }
        (Exchange, o) => {
            let given = cube.exchange(call.root, call.peer).options(o.unwrap_or(&Options::default()));
            given.run(call.count, Some(send.slice()), Some(receive.slice_mut()))
        }
        _ => cube.barrier(),
    }
}

/// A started call.
pub enum Started<'a, 's, T: Element> {
    Whole(Scoped<'a, 's, Data<'a, T>>),
    Slices(Scoped<'a, 's, [T]>),
}

/// Starts a call other than a barrier.
pub fn start<'a, 's, T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    scope: &'s LocalScope<'a>,
    send: &'a [T],
    receive: &'a mut [T],
) -> Result<Started<'a, 's, T>> {
    use Collective::*;
    let [apart, apart_too] = call.strides(cube.rank());
    let (send, receive) = (kept(Data::read(send, apart)), kept(Data::written(receive, apart_too)));
    if call.lengths.is_some() {
        return varcount::start(cube, call, o, scope, send, receive).map(Started::Whole);
    }
    let (root, here, in_place) = (cube.process_at_rank(call.root), cube.rank() == call.root, call.in_place);
    let operation = Operation::<T>::of(call.combine);
    let none = Options::default();
    let with = o.unwrap_or(&none);
    let started = match (call.collective, o) {
        (Broadcast, None) => root.immediate_broadcast_into(scope, receive),
        (Broadcast, Some(o)) => cube.broadcast(call.root).options(o).start(scope, receive),
        (Scatter, _) if in_place && here => cube.scatter(call.root).options(with).start_in_place(scope, send),
        (Scatter, None) if here => root.immediate_scatter_into_root(scope, send, receive),
        (Scatter, None) => root.immediate_scatter_into(scope, receive),
        (Scatter, Some(o)) => cube.scatter(call.root).options(o).start(scope, Some(send), receive),
        (Gather, _) if in_place && here => cube.gather(call.root).options(with).start_in_place(scope, receive),
        (Gather, None) if here => root.immediate_gather_into_root(scope, send, receive),
        (Gather, None) => root.immediate_gather_into(scope, send),
        (Gather, Some(o)) => cube.gather(call.root).options(o).start(scope, send, Some(receive)),
        (AllGather, None) if in_place => cube.immediate_all_gather_in_place(scope, receive),
        (AllGather, Some(o)) if in_place => cube.all_gather().options(o).start_in_place(scope, receive),
        (AllGather, None) => cube.immediate_all_gather_into(scope, send, receive),
        (AllGather, Some(o)) => cube.all_gather().options(o).start(scope, send, receive),
        (AllToAll, _) if in_place => cube.all_to_all().options(with).start_in_place(scope, receive),
        (AllToAll, None) => cube.immediate_all_to_all_into(scope, send, receive),
        (AllToAll, Some(o)) => cube.all_to_all().options(o).start(scope, send, receive),
        (NeighborAllToAll, _) if in_place => cube.neighbor_all_to_all().options(with).start_in_place(scope, receive),
        (NeighborAllToAll, None) => cube.immediate_neighbor_all_to_all_into(scope, send, receive),
        (NeighborAllToAll, Some(o)) => cube.neighbor_all_to_all().options(o).start(scope, send, receive),
        (Reduce, _) if in_place && here => {
            cube.reduce(call.root).options(with).start_in_place(scope, receive, operation)
        }
        (Reduce, None) if here => root.immediate_reduce_into_root(scope, send, receive, operation),
        (Reduce, None) => root.immediate_reduce_into(scope, send, operation),
        (Reduce, Some(o)) => cube.reduce(call.root).options(o).start(scope, send, Some(receive), operation),
        (ReduceScatter, _) if in_place => cube.reduce_scatter().options(with).start_in_place(scope, receive, operation),
        (ReduceScatter, None) => cube.immediate_reduce_scatter_block_into(scope, send, receive, operation),
        (ReduceScatter, Some(o)) => cube.reduce_scatter().options(o).start(scope, send, receive, operation),
        (AllReduce, None) if in_place => cube.immediate_all_reduce_in_place(scope, receive, operation),
        (AllReduce, Some(o)) if in_place => cube.all_reduce().options(o).start_in_place(scope, receive, operation),
        (AllReduce, None) => cube.immediate_all_reduce_into(scope, send, receive, operation),
        (AllReduce, Some(o)) => cube.all_reduce().options(o).start(scope, send, receive, operation),
        (Scan, None) if in_place => cube.immediate_scan_in_place(scope, receive, operation),
        (Scan, Some(o)) if in_place => cube.scan().options(o).start_in_place(scope, receive, operation),
        (Scan, None) => cube.immediate_scan_into(scope, send, receive, operation),
        (Scan, Some(o)) => cube.scan().options(o).start(scope, send, receive, operation),
        (ExclusiveScan, None) if in_place => cube.immediate_exclusive_scan_in_place(scope, receive, operation),
        (ExclusiveScan, Some(o)) if in_place => {
            cube.exclusive_scan().options(o).start_in_place(scope, receive, operation)
        }
        (ExclusiveScan, None) => cube.immediate_exclusive_scan_into(scope, send, receive, operation),
        (ExclusiveScan, Some(o)) => cube.exclusive_scan().options(o).start(scope, send, receive, operation),
        (Permute, _) if in_place => cube.permute(&call.permutation).options(with).start_in_place(scope, receive),
        (Permute, None) => cube.immediate_permute_into(scope, &call.permutation, send, receive),
        (Permute, Some(o)) => cube.permute(&call.permutation).options(o).start(scope, send, receive),
        (Send, _) => {
            let given = cube.send(call.root, call.peer).options(with);
            let request = given.start(scope, call.count, Some(send.slice()), Some(receive.slice_mut()));
            return request.map(Started::Slices);
        }
        (Exchange, _) => {
            let given = cube.exchange(call.root, call.peer).options(with);
            let request = given.start(scope, call.count, Some(send.slice()), Some(receive.slice_mut()));
            return request.map(Started::Slices);
        }
        (other, _) => unreachable!("{other} is not started"),
    };
    started.map(Started::Whole)
}

/// What a request needs for as long as its scope lasts, which began before.
pub fn kept<'a, B>(buffer: B) -> &'a mut B {
    Box::leak(Box::new(buffer))
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
    ['a, T: Element, S: Scope<'a>] 'a, [T], (), S, |send, _none| (bytemuck::cast_slice_mut(send), nothing());
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
    match call.strides(cube.rank()) {
        _ if call.lengths.is_some() => varcount::init(cube, call, o, scope, send, receive),
        [1, 1] => init_of(cube, call, o, scope, send, receive),
        [apart, apart_too] => init_of(cube, call, o, scope, kept(every(send, apart)), kept(every(receive, apart_too))),
    }
}

fn init_of<'a: 's, 's, T, S, R>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    scope: &'s LocalScope<'a>,
    send: &'a mut S,
    receive: &'a mut R,
) -> Result<Box<dyn Again + 's>>
where
    T: Element,
    S: WithinSliceMut<Element = T> + ?Sized,
    R: WithinSliceMut<Element = T> + ?Sized,
{
    use Collective::*;
    let root = cube.process_at_rank(call.root);
    let operation = Operation::<T>::of(call.combine);
    if call.is_in_place(cube.rank()) {
        let none = Options::default();
        let o = o.unwrap_or(&none);
        return Ok(match call.collective {
            Scatter => Box::new(cube.scatter(call.root).options(o).init_in_place(scope, send)?),
            Gather => Box::new(cube.gather(call.root).options(o).init_in_place(scope, receive)?),
            AllGather => Box::new(cube.all_gather().options(o).init_in_place(scope, receive)?),
            AllToAll => Box::new(cube.all_to_all().options(o).init_in_place(scope, receive)?),
            NeighborAllToAll => Box::new(cube.neighbor_all_to_all().options(o).init_in_place(scope, receive)?),
            Permute => Box::new(cube.permute(&call.permutation).options(o).init_in_place(scope, receive)?),
            Reduce => Box::new(cube.reduce(call.root).options(o).init_in_place(scope, receive, operation)?),
            ReduceScatter => Box::new(cube.reduce_scatter().options(o).init_in_place(scope, receive, operation)?),
            AllReduce => Box::new(cube.all_reduce().options(o).init_in_place(scope, receive, operation)?),
            Scan => Box::new(cube.scan().options(o).init_in_place(scope, receive, operation)?),
            ExclusiveScan => Box::new(cube.exclusive_scan().options(o).init_in_place(scope, receive, operation)?),
            other => unreachable!("{other} is not in place"),
        });
    }
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
        (NeighborAllToAll, None) => Box::new(cube.neighbor_all_to_all_init(scope, send, receive)?),
        (NeighborAllToAll, Some(o)) => Box::new(cube.neighbor_all_to_all().options(o).init(scope, send, receive)?),
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
