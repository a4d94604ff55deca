//! Blocks of different lengths: rank r has r elements.

use super::moved;
use mpi::datatype::{Partition, PartitionMut};
use mpi::Count;

/// The counts and where the blocks begin.
fn layout(size: Count) -> (Vec<Count>, Vec<Count>) {
    let begins = (0..size).map(|rank| rank * (rank - 1) / 2);
    ((0..size).collect(), begins.collect())
}

fn all(size: Count) -> Vec<Count> {
    (0..size).flat_map(|rank| 0..rank).collect()
}

pub fn all_gather() {
    let world = moved();
    let mine: Vec<_> = (0..world.rank()).collect();
    let (counts, begins) = layout(world.size());
    let mut received = vec![-1; all(world.size()).len()];
    {
        let mut partition = PartitionMut::new(&mut received[..], counts, &begins[..]);
        world.all_gather_varcount_into(&mine[..], &mut partition).unwrap();
    }
    assert_eq!(received, all(world.size()));
}

pub fn immediate_all_gather() {
    let world = moved();
    let mine: Vec<_> = (0..world.rank()).collect();
    let (counts, begins) = layout(world.size());
    let mut received = vec![-1; all(world.size()).len()];
    {
        let mut partition = PartitionMut::new(&mut received[..], counts, &begins[..]);
        mpi::request::scope(|scope| {
            world.immediate_all_gather_varcount_into(scope, &mine[..], &mut partition).unwrap().wait().unwrap();
        });
    }
    assert_eq!(received, all(world.size()));
}

pub fn gather() {
    let world = moved();
    let root = world.process_at_rank(0);
    let mine: Vec<_> = (0..world.rank()).collect();
    if world.rank() == 0 {
        let (counts, begins) = layout(world.size());
        let mut received = vec![-1; all(world.size()).len()];
        root.gather_varcount_into_root(&mine[..], &mut PartitionMut::new(&mut received[..], counts, &begins[..]))
            .unwrap();
        assert_eq!(received, all(world.size()));
    } else {
        root.gather_varcount_into(&mine[..]).unwrap();
    }
}

pub fn immediate_gather() {
    let world = moved();
    let root = world.process_at_rank(0);
    let mine: Vec<_> = (0..world.rank()).collect();
    if world.rank() == 0 {
        let (counts, begins) = layout(world.size());
        let mut received = vec![-1; all(world.size()).len()];
        {
            let mut partition = PartitionMut::new(&mut received[..], counts, &begins[..]);
            mpi::request::scope(|scope| {
                let call = root.immediate_gather_varcount_into_root(scope, &mine[..], &mut partition);
                call.unwrap().wait().unwrap();
            });
        }
        assert_eq!(received, all(world.size()));
    } else {
        mpi::request::scope(|scope| {
            root.immediate_gather_varcount_into(scope, &mine[..]).unwrap().wait().unwrap();
        });
    }
}

pub fn scatter() {
    let world = moved();
    let root = world.process_at_rank(0);
    let mut mine = vec![-1; world.rank() as usize];
    if world.rank() == 0 {
        let (counts, begins) = layout(world.size());
        let sent = all(world.size());
        root.scatter_varcount_into_root(&Partition::new(&sent[..], counts, &begins[..]), &mut mine[..]).unwrap();
    } else {
        root.scatter_varcount_into(&mut mine[..]).unwrap();
    }
    assert!(mine.into_iter().eq(0..world.rank()));
}

pub fn immediate_scatter() {
    let world = moved();
    let root = world.process_at_rank(0);
    let mut mine = vec![-1; world.rank() as usize];
    if world.rank() == 0 {
        let (counts, begins) = layout(world.size());
        let sent = all(world.size());
        let partition = Partition::new(&sent[..], counts, &begins[..]);
        mpi::request::scope(|scope| {
            let call = root.immediate_scatter_varcount_into_root(scope, &partition, &mut mine[..]);
            call.unwrap().wait().unwrap();
        });
    } else {
        mpi::request::scope(|scope| {
            root.immediate_scatter_varcount_into(scope, &mut mine[..]).unwrap().wait().unwrap();
        });
    }
    assert!(mine.into_iter().eq(0..world.rank()));
}
