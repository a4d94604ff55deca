//! The forms of calls with blocks of different lengths.

use crate::blocks::Places;
use crate::data::Data;
use crate::draw::Call;
use crate::element::{Element, Operation};
use crate::forms::{kept, Again, Scoped};
use hypercoll::buffer::{Buffer, BufferMut};
use hypercoll::collective::Collective::*;
use hypercoll::request::LocalScope;
use hypercoll::select::Options;
use hypercoll::{Hypercube, Partition, PartitionMut, Result};

fn read<'b, B: Buffer + ?Sized>(buffer: &'b B, places: &Places) -> Partition<'b, B> {
    Partition::new(buffer, &places.counts[..], &places.at[..])
}

fn written<'b, B: BufferMut + ?Sized>(buffer: &'b mut B, places: &Places) -> PartitionMut<'b, B> {
    PartitionMut::new(buffer, &places.counts[..], &places.at[..])
}

/// Makes a call.
pub fn run<T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    send: &Data<T>,
    receive: &mut Data<T>,
) -> Result<()> {
    let (root, rank) = (cube.process_at_rank(call.root), cube.rank());
    let here = rank == call.root;
    let (sent, received) = (call.sent(rank), call.received(rank));
    if call.is_in_place(rank) {
        return run_in_place(cube, call, o, send, receive);
    }
    match (call.collective, o) {
        (Scatter, None) if here => root.scatter_varcount_into_root(&read(send, &sent), receive),
        (Scatter, None) => root.scatter_varcount_into(receive),
        (Scatter, Some(o)) => {
            let send = here.then(|| read(send, &sent));
            cube.scatter(call.root).options(o).run_varcount(send.as_ref(), receive)
        }
        (Gather, None) if here => root.gather_varcount_into_root(send, &mut written(receive, &received)),
        (Gather, None) => root.gather_varcount_into(send),
        (Gather, Some(o)) => {
            let mut receive = here.then(|| written(receive, &received));
            cube.gather(call.root).options(o).run_varcount(send, receive.as_mut())
        }
        (AllGather, None) => cube.all_gather_varcount_into(send, &mut written(receive, &received)),
        (AllGather, Some(o)) => cube.all_gather().options(o).run_varcount(send, &mut written(receive, &received)),
        (AllToAll, None) => cube.all_to_all_varcount_into(&read(send, &sent), &mut written(receive, &received)),
        (AllToAll, Some(o)) => {
            cube.all_to_all().options(o).run_varcount(&read(send, &sent), &mut written(receive, &received))
        }
        (_, None) => cube.reduce_scatter_into(send, receive, &sent.counts, Operation::<T>::of(call.combine)),
        (_, Some(o)) => {
            let operation = Operation::<T>::of(call.combine);
            cube.reduce_scatter().options(o).run_varcount(send, receive, &sent.counts, operation)
        }
    }
}

fn run_in_place<T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    send: &Data<T>,
    receive: &mut Data<T>,
) -> Result<()> {
    let (root, rank) = (cube.process_at_rank(call.root), cube.rank());
    let (sent, received) = (call.sent(rank), call.received(rank));
    let operation = Operation::<T>::of(call.combine);
    match (call.collective, o) {
        (Scatter, None) => root.scatter_varcount_in_place_root(&read(send, &sent)),
        (Scatter, Some(o)) => cube.scatter(call.root).options(o).run_varcount_in_place(&read(send, &sent)),
        (Gather, None) => root.gather_varcount_in_place_root(&mut written(receive, &received)),
        (Gather, Some(o)) => cube.gather(call.root).options(o).run_varcount_in_place(&mut written(receive, &received)),
        (AllGather, None) => cube.all_gather_varcount_in_place(&mut written(receive, &received)),
        (AllGather, Some(o)) => cube.all_gather().options(o).run_varcount_in_place(&mut written(receive, &received)),
        (AllToAll, None) => cube.all_to_all_varcount_in_place(&mut written(receive, &received)),
        (AllToAll, Some(o)) => cube.all_to_all().options(o).run_varcount_in_place(&mut written(receive, &received)),
        (_, None) => cube.reduce_scatter_in_place(receive, &sent.counts, operation),
        (_, Some(o)) => cube.reduce_scatter().options(o).run_varcount_in_place(receive, &sent.counts, operation),
    }
}

/// Starts a call.
pub fn start<'a, 's, T: Element>(
    cube: &Hypercube,
    call: &Call,
    o: Option<&Options>,
    scope: &'s LocalScope<'a>,
    send: &'a Data<'a, T>,
    receive: &'a mut Data<'a, T>,
) -> Result<Scoped<'a, 's, Data<'a, T>>> {
    let (root, rank) = (cube.process_at_rank(call.root), cube.rank());
    let here = rank == call.root;
    let (sent, received) = (call.sent(rank), call.received(rank));
    if call.is_in_place(rank) {
        let o = o.cloned().unwrap_or_default();
        let operation = Operation::<T>::of(call.combine);
        return match call.collective {
            Scatter => cube.scatter(call.root).options(&o).start_varcount_in_place(scope, kept(read(send, &sent))),
            Gather => {
                let receive = kept(written(receive, &received));
                cube.gather(call.root).options(&o).start_varcount_in_place(scope, receive)
            }
            AllGather => {
                cube.all_gather().options(&o).start_varcount_in_place(scope, kept(written(receive, &received)))
            }
            AllToAll => cube.all_to_all().options(&o).start_varcount_in_place(scope, kept(written(receive, &received))),
            _ => cube.reduce_scatter().options(&o).start_varcount_in_place(scope, receive, &sent.counts, operation),
        };
    }
    match (call.collective, o) {
        (Scatter, None) if here => root.immediate_scatter_varcount_into_root(scope, kept(read(send, &sent)), receive),
        (Scatter, None) => root.immediate_scatter_varcount_into(scope, receive),
        (Scatter, Some(o)) => {
            let send = here.then(|| &*kept(read(send, &sent)));
            cube.scatter(call.root).options(o).start_varcount(scope, send, receive)
        }
        (Gather, None) if here => {
            root.immediate_gather_varcount_into_root(scope, send, kept(written(receive, &received)))
        }
        (Gather, None) => root.immediate_gather_varcount_into(scope, send),
        (Gather, Some(o)) => {
            let receive = here.then(|| kept(written(receive, &received)));
            cube.gather(call.root).options(o).start_varcount(scope, send, receive)
        }
        (AllGather, None) => cube.immediate_all_gather_varcount_into(scope, send, kept(written(receive, &received))),
        (AllGather, Some(o)) => {
            cube.all_gather().options(o).start_varcount(scope, send, kept(written(receive, &received)))
        }
        (AllToAll, o) => {
            let (send, receive) = (kept(read(send, &sent)), kept(written(receive, &received)));
            match o {
                None => cube.immediate_all_to_all_varcount_into(scope, send, receive),
                Some(o) => cube.all_to_all().options(o).start_varcount(scope, send, receive),
            }
        }
        (_, None) => {
            let operation = Operation::<T>::of(call.combine);
            cube.immediate_reduce_scatter_into(scope, send, receive, &sent.counts, operation)
        }
        (_, Some(o)) => {
            let operation = Operation::<T>::of(call.combine);
            cube.reduce_scatter().options(o).start_varcount(scope, send, receive, &sent.counts, operation)
        }
    }
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
    let (root, rank) = (cube.process_at_rank(call.root), cube.rank());
    let here = rank == call.root;
    let (sent, received) = (call.sent(rank), call.received(rank));
    if call.is_in_place(rank) {
        let o = o.cloned().unwrap_or_default();
        let operation = Operation::<T>::of(call.combine);
        return Ok(match call.collective {
            Scatter => {
                let send = kept(written(send, &sent));
                Box::new(cube.scatter(call.root).options(&o).init_varcount_in_place(scope, send)?)
            }
            Gather => {
                let receive = kept(written(receive, &received));
                Box::new(cube.gather(call.root).options(&o).init_varcount_in_place(scope, receive)?)
            }
            AllGather => {
                let receive = kept(written(receive, &received));
                Box::new(cube.all_gather().options(&o).init_varcount_in_place(scope, receive)?)
            }
            AllToAll => {
                let receive = kept(written(receive, &received));
                Box::new(cube.all_to_all().options(&o).init_varcount_in_place(scope, receive)?)
            }
            _ => {
                let call = cube.reduce_scatter().options(&o);
                Box::new(call.init_varcount_in_place(scope, receive, &sent.counts, operation)?)
            }
        });
    }
    Ok(match (call.collective, o) {
        (Scatter, o) => {
            let send = here.then(|| kept(written(send, &sent)));
            Box::new(match o {
                None => root.scatter_varcount_init(scope, send, receive)?,
                Some(o) => cube.scatter(call.root).options(o).init_varcount(scope, send, receive)?,
            })
        }
        (Gather, o) => {
            let receive = here.then(|| kept(written(receive, &received)));
            Box::new(match o {
                None => root.gather_varcount_init(scope, send, receive)?,
                Some(o) => cube.gather(call.root).options(o).init_varcount(scope, send, receive)?,
            })
        }
        (AllGather, o) => {
            let receive = kept(written(receive, &received));
            Box::new(match o {
                None => cube.all_gather_varcount_init(scope, send, receive)?,
                Some(o) => cube.all_gather().options(o).init_varcount(scope, send, receive)?,
            })
        }
        (AllToAll, o) => {
            let (send, receive) = (kept(written(send, &sent)), kept(written(receive, &received)));
            Box::new(match o {
                None => cube.all_to_all_varcount_init(scope, send, receive)?,
                Some(o) => cube.all_to_all().options(o).init_varcount(scope, send, receive)?,
            })
        }
        (_, o) => {
            let operation = Operation::<T>::of(call.combine);
            Box::new(match o {
                None => cube.reduce_scatter_init(scope, send, receive, &sent.counts, operation)?,
                Some(o) => {
                    cube.reduce_scatter().options(o).init_varcount(scope, send, receive, &sent.counts, operation)?
                }
            })
        }
    })
}
