//! Blocking calls with blocks of equal length, and the element types and views that rsmpi has.

use super::moved;
use mpi::datatype::{MutView, UserDatatype, View};
use mpi::traits::*;
use mpi::Count;
use num_complex::Complex64;

/// The products of ranks and places, counted from 1, row after row: what gathers of rows make.
pub fn table(size: usize) -> Vec<u64> {
    (1..=size as u64).flat_map(|row| (1..=size as u64).map(move |column| row * column)).collect()
}

pub fn all_gather() {
    let world = moved();
    let size = world.size() as usize;

    let mut ranks = vec![0u64; size];
    world.all_gather_into(&(3 * world.rank() as u64), &mut ranks[..]).unwrap();
    assert!(ranks.iter().enumerate().all(|(rank, &got)| got == 3 * rank as u64));

    let row = table(size)[world.rank() as usize * size..][..size].to_vec();
    let mut rows = vec![0u64; size * size];
    world.all_gather_into(&row[..], &mut rows[..]).unwrap();
    assert_eq!(rows, table(size));

    // A row is one element of a datatype.
    let datatype = UserDatatype::contiguous(size as Count, &u64::equivalent_datatype());
    rows.fill(0);
    {
        let sent = unsafe { View::with_count_and_datatype(&row[..], 1, &datatype) };
        let mut received = unsafe { MutView::with_count_and_datatype(&mut rows[..], size as Count, &datatype) };
        world.all_gather_into(&sent, &mut received).unwrap();
    }
    assert_eq!(rows, table(size));
}

pub fn all_gather_bool() {
    let world = moved();
    let mut odd = vec![false; world.size() as usize];
    world.all_gather_into(&(world.rank() % 2 == 1), &mut odd[..]).unwrap();
    assert!(odd.iter().enumerate().all(|(rank, odd)| *odd == (rank % 2 == 1)));
}

pub fn all_to_all() {
    let world = moved();
    let sent = vec![world.rank(); world.size() as usize];
    let mut received = vec![-1; world.size() as usize];
    world.all_to_all_into(&sent[..], &mut received[..]).unwrap();
    assert!(received.into_iter().eq(0..world.size()));
}

pub fn broadcast() {
    let world = moved();
    let root_rank = world.size() - 1;
    let root = world.process_at_rank(root_rank);

    let mut number = if world.rank() == root_rank { 77u64 } else { 0 };
    root.broadcast_into(&mut number).unwrap();
    assert_eq!(number, 77);

    let mut numbers = if world.rank() == root_rank { vec![5u64, 6, 7] } else { vec![0; 3] };
    root.broadcast_into(&mut numbers).unwrap();
    assert_eq!(numbers, [5, 6, 7]);
}

pub fn gather() {
    let world = moved();
    let root = world.process_at_rank(0);
    let size = world.size() as usize;
    let mine = 3 * world.rank() as u64;
    let row = table(size)[world.rank() as usize * size..][..size].to_vec();
    let datatype = UserDatatype::contiguous(size as Count, &u64::equivalent_datatype());
    let sent = unsafe { View::with_count_and_datatype(&row[..], 1, &datatype) };

    if world.rank() == 0 {
        let mut ranks = vec![0u64; size];
        root.gather_into_root(&mine, &mut ranks[..]).unwrap();
        assert!(ranks.iter().enumerate().all(|(rank, &got)| got == 3 * rank as u64));
        let mut rows = vec![0u64; size * size];
        root.gather_into_root(&row[..], &mut rows[..]).unwrap();
        assert_eq!(rows, table(size));
        rows.fill(0);
        {
            let mut received = unsafe { MutView::with_count_and_datatype(&mut rows[..], size as Count, &datatype) };
            root.gather_into_root(&sent, &mut received).unwrap();
        }
        assert_eq!(rows, table(size));
    } else {
        root.gather_into(&mine).unwrap();
        root.gather_into(&row[..]).unwrap();
        root.gather_into(&sent).unwrap();
    }
}

pub fn scatter() {
    let world = moved();
    let root = world.process_at_rank(0);
    let mut mine = -1;
    if world.rank() == 0 {
        root.scatter_into_root(&(0..world.size()).collect::<Vec<_>>(), &mut mine).unwrap();
    } else {
        root.scatter_into(&mut mine).unwrap();
    }
    assert_eq!(mine, world.rank());
}

pub fn complex_numbers() {
    let world = moved();
    let numbers = [Complex64::new(0.5, -1.0), Complex64::i()];
    let mut data = if world.rank() == 0 { numbers.to_vec() } else { vec![Complex64::default(); 2] };
    world.process_at_rank(0).broadcast_into(&mut data).unwrap();
    assert_eq!(data, numbers);
}

/// A column of a matrix as rsmpi describes it, with gaps.
pub fn column() {
    let world = moved();
    let column = UserDatatype::vector(3, 1, 4, &i32::equivalent_datatype());
    let mut matrix = [0; 12];
    if world.rank() == 0 {
        matrix = std::array::from_fn(|at| at as i32 + 1);
    }
    {
        let mut sent = unsafe { MutView::with_count_and_datatype(&mut matrix[1..], 1, &column) };
        world.process_at_rank(0).broadcast_into(&mut sent).unwrap();
    }
    if world.rank() > 0 {
        assert_eq!(matrix, [0, 2, 0, 0, 0, 6, 0, 0, 0, 10, 0, 0]);
    }
}

/// A struct with padding, by the datatype that rsmpi has for tuples of its fields.
pub fn structs() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(C)]
    struct Particle {
        charge: i8,
        place: [f64; 2],
    }
    let world = moved();
    let particle = |rank: i32| Particle { charge: rank as i8, place: [rank as f64, 0.5] };
    let fields = [std::mem::offset_of!(Particle, charge), std::mem::offset_of!(Particle, place)];
    let datatype = UserDatatype::structured(
        &[1, 2],
        &fields.map(|offset| offset as mpi::Address),
        &[i8::equivalent_datatype(), f64::equivalent_datatype()],
    );
    // One field of bytes, which rsmpi takes the address of.
    let (mine, mut all) = ([particle(world.rank())], vec![particle(-1); world.size() as usize]);
    {
        let bytes = unsafe { std::slice::from_raw_parts(mine.as_ptr().cast::<u8>(), size_of_val(&mine)) };
        let count = all.len();
        let into = unsafe { std::slice::from_raw_parts_mut(all.as_mut_ptr().cast::<u8>(), size_of_val(&all[..])) };
        let sent = unsafe { View::with_count_and_datatype(bytes, 1, &datatype) };
        let mut received = unsafe { MutView::with_count_and_datatype(into, count as Count, &datatype) };
        world.all_gather_into(&sent, &mut received).unwrap();
    }
    assert!(all.iter().zip(0..).all(|(got, rank)| *got == particle(rank)));
}
