//! Nonblocking calls, in rsmpi's scopes.

use super::equal::table;
use super::moved;
use mpi::datatype::{MutView, UserDatatype, View};
use mpi::traits::*;
use mpi::Count;

pub fn all_gather() {
    let world = moved();
    let size = world.size() as usize;
    let mine = 3 * world.rank() as u64;
    let mut ranks = vec![0u64; size];
    mpi::request::scope(|scope| {
        world.immediate_all_gather_into(scope, &mine, &mut ranks[..]).unwrap().wait().unwrap();
    });
    assert!(ranks.iter().enumerate().all(|(rank, &got)| got == 3 * rank as u64));

    let row = table(size)[world.rank() as usize * size..][..size].to_vec();
    let datatype = UserDatatype::contiguous(size as Count, &u64::equivalent_datatype());
    let mut rows = vec![0u64; size * size];
    {
        let sent = unsafe { View::with_count_and_datatype(&row[..], 1, &datatype) };
        let mut received = unsafe { MutView::with_count_and_datatype(&mut rows[..], size as Count, &datatype) };
        mpi::request::scope(|scope| {
            world.immediate_all_gather_into(scope, &sent, &mut received).unwrap().wait().unwrap();
        });
    }
    assert_eq!(rows, table(size));
}

pub fn all_to_all() {
    let world = moved();
    let sent = vec![world.rank(); world.size() as usize];
    let mut received = vec![-1; world.size() as usize];
    mpi::request::scope(|scope| {
        world.immediate_all_to_all_into(scope, &sent[..], &mut received[..]).unwrap().wait().unwrap();
    });
    assert!(received.into_iter().eq(0..world.size()));
}

pub fn broadcast() {
    let world = moved();
    let root = world.process_at_rank(0);
    let mut number = if world.rank() == 0 { 77u64 } else { 0 };
    let mut numbers = if world.rank() == 0 { vec![5u64, 6, 7] } else { vec![0; 3] };
    mpi::request::scope(|scope| {
        root.immediate_broadcast_into(scope, &mut number).unwrap().wait().unwrap();
        root.immediate_broadcast_into(scope, &mut numbers[..]).unwrap().wait().unwrap();
    });
    assert_eq!((number, &numbers[..]), (77, &[5, 6, 7][..]));
}

pub fn gather() {
    let world = moved();
    let root = world.process_at_rank(0);
    let size = world.size() as usize;
    let row = table(size)[world.rank() as usize * size..][..size].to_vec();
    let datatype = UserDatatype::contiguous(size as Count, &u64::equivalent_datatype());
    let sent = unsafe { View::with_count_and_datatype(&row[..], 1, &datatype) };
    if world.rank() == 0 {
        let (mut rows, mut again) = (vec![0u64; size * size], vec![0u64; size * size]);
        {
            let mut received = unsafe { MutView::with_count_and_datatype(&mut again[..], size as Count, &datatype) };
            mpi::request::scope(|scope| {
                root.immediate_gather_into_root(scope, &row[..], &mut rows[..]).unwrap().wait().unwrap();
                root.immediate_gather_into_root(scope, &sent, &mut received).unwrap().wait().unwrap();
            });
        }
        assert_eq!((rows, again), (table(size), table(size)));
    } else {
        mpi::request::scope(|scope| {
            root.immediate_gather_into(scope, &row[..]).unwrap().wait().unwrap();
            root.immediate_gather_into(scope, &sent).unwrap().wait().unwrap();
        });
    }
}

pub fn scatter() {
    let world = moved();
    let root = world.process_at_rank(0);
    let (ranks, mut mine) = ((0..world.size()).collect::<Vec<_>>(), -1);
    mpi::request::scope(|scope| {
        let call = match world.rank() {
            0 => root.immediate_scatter_into_root(scope, &ranks[..], &mut mine),
            _ => root.immediate_scatter_into(scope, &mut mine),
        };
        call.unwrap().wait().unwrap();
    });
    assert_eq!(mine, world.rank());
}

/// With rsmpi: `mpi::request::multiple_scope`, whose collection takes MPI's requests alone.
pub fn multiple_barrier() {
    const CALLS: usize = 40;
    let world = moved();
    for way in 0..6 {
        hypercoll::request::multiple_scope(CALLS, |_, requests| {
            for _ in 0..CALLS {
                requests.add(world.immediate_barrier().unwrap());
            }
            let (mut ended, mut told) = (Vec::new(), 0);
            while requests.incomplete() > 0 {
                match way {
                    0 => ended = vec![requests.wait_any().unwrap()],
                    1 => requests.wait_some(&mut ended),
                    2 => requests.wait_all(&mut ended),
                    3 => ended = requests.test_any().into_iter().collect(),
                    4 => requests.test_some(&mut ended),
                    _ => assert_eq!(requests.test_all(&mut ended), requests.incomplete() == 0),
                }
                told += ended.len();
                assert!(ended.iter().all(|(_, outcome)| outcome.is_ok()));
                assert_eq!(requests.incomplete(), CALLS - told);
            }
            assert_eq!(told, CALLS);
            assert!(requests.wait_any().is_none());
        });
    }
}
