//! Reductions and prefix sums, with rsmpi's operations.

use super::moved;
use mpi::collective::{self, SystemOperation, UnsafeUserOperation};
use mpi::ffi::MPI_Datatype;
use mpi::topology::Rank;
use std::os::raw::{c_int, c_void};

/// x -> a x + b as a pair, first the left one: an operation in C's form that does not commute.
unsafe extern "C" fn then(left: *mut c_void, right: *mut c_void, len: *mut c_int, _: *mut MPI_Datatype) {
    let (left, right) = (left as *const i32, right as *mut i32);
    for at in 0..*len as usize / 2 {
        let (f, g) = (left.add(2 * at), right.add(2 * at));
        let composed = [*f * *g, *f.add(1) * *g + *g.add(1)];
        (*g, *g.add(1)) = (composed[0], composed[1]);
    }
}

unsafe extern "C" fn add(left: *mut c_void, right: *mut c_void, len: *mut c_int, _: *mut MPI_Datatype) {
    for at in 0..*len as usize {
        *(right as *mut Rank).add(at) += *(left as *const Rank).add(at);
    }
}

pub fn reduce() {
    let world = moved();
    let (rank, size) = (world.rank(), world.size());
    let root = world.process_at_rank(0);
    if rank == 0 {
        let mut sum: Rank = 0;
        root.reduce_into_root(&rank, &mut sum, SystemOperation::sum()).unwrap();
        assert_eq!(sum, size * (size - 1) / 2);
    } else {
        root.reduce_into(&rank, SystemOperation::sum()).unwrap();
    }

    let mut most: Rank = -1;
    world.all_reduce_into(&rank, &mut most, SystemOperation::max()).unwrap();
    assert_eq!(most, size - 1);

    // rsmpi's own, on this rank alone.
    let mut bits = 0b1100u16;
    collective::reduce_local_into(&0b1010u16, &mut bits, SystemOperation::bitwise_xor());
    assert_eq!(bits, 0b0110);

    let (ranks, mut product) = ((0..size).collect::<Vec<_>>(), 0);
    world.reduce_scatter_block_into(&ranks[..], &mut product, SystemOperation::product()).unwrap();
    assert_eq!(product, rank.wrapping_pow(size as u32));

    let mut sum = 0;
    let operation = unsafe { UnsafeUserOperation::commutative(add) };
    world.all_reduce_into(&(rank + 1), &mut sum, &operation).unwrap();
    assert_eq!(sum, size * (size + 1) / 2);

    // One element of two numbers, so that no algorithm takes them apart.
    let operation = unsafe { UnsafeUserOperation::associative(then) };
    let mut steps = [0; 2];
    world.all_reduce().algorithm("recursive_doubling").run(&[2, rank], &mut steps, &operation).unwrap();
    assert_eq!(steps, (0..size).fold([1, 0], |[a, b], rank| [2 * a, 2 * b + rank]));
}

pub fn immediate_reduce() {
    let world = moved();
    let (rank, size) = (world.rank(), world.size());
    let root = world.process_at_rank(0);
    let (mut sum, mut most, mut product, mut again) = (0, -1, 0, 0);
    let ranks = (0..size).collect::<Vec<_>>();
    let operation = unsafe { UnsafeUserOperation::commutative(add) };
    mpi::request::scope(|scope| {
        let call = match rank {
            0 => root.immediate_reduce_into_root(scope, &rank, &mut sum, SystemOperation::sum()),
            _ => root.immediate_reduce_into(scope, &rank, SystemOperation::sum()),
        };
        call.unwrap().wait().unwrap();
        let call = world.immediate_all_reduce_into(scope, &rank, &mut most, SystemOperation::max());
        call.unwrap().wait().unwrap();
        let operator = SystemOperation::product();
        let call = world.immediate_reduce_scatter_block_into(scope, &ranks[..], &mut product, operator);
        call.unwrap().wait().unwrap();
        world.immediate_all_reduce_into(scope, &rank, &mut again, &operation).unwrap().wait().unwrap();
    });
    let all = size * (size - 1) / 2;
    assert_eq!(sum, if rank == 0 { all } else { 0 });
    assert_eq!((most, product, again), (size - 1, rank.wrapping_pow(size as u32), all));
}

pub fn scan() {
    let world = moved();
    let (mut up_to, mut below) = (0, 0);
    world.scan_into(&world.rank(), &mut up_to, &SystemOperation::sum()).unwrap();
    assert_eq!(up_to, (0..=world.rank()).sum());
    world.exclusive_scan_into(&(world.rank() + 1), &mut below, &SystemOperation::product()).unwrap();
    if world.rank() > 0 {
        assert_eq!(below, (1..=world.rank()).product());
    }
}

pub fn immediate_scan() {
    let world = moved();
    let (rank, next) = (world.rank(), world.rank() + 1);
    let (mut up_to, mut below) = (0, 0);
    mpi::request::scope(|scope| {
        world.immediate_scan_into(scope, &rank, &mut up_to, SystemOperation::sum()).unwrap().wait().unwrap();
        let call = world.immediate_exclusive_scan_into(scope, &next, &mut below, SystemOperation::product());
        call.unwrap().wait().unwrap();
    });
    assert_eq!(up_to, (0..=rank).sum());
    if rank > 0 {
        assert_eq!(below, (1..=rank).product());
    }
}
