//! Collectives that move data, for every size, count, root and type.

use super::*;

/// All collectives that move data, with one count, and with every root for the small counts.
fn move_data<T: Element>(cube: &Hypercube, count: usize) {
    let (rank, size) = (cube.rank(), cube.size());
    let case = format!("rank {rank} of {size}, count {count}, {}", std::any::type_name::<T>());
    let own: Vec<T> = sent(rank, count);
    let wide: Vec<T> = sent(rank, count * size);
    let from = |source: usize, offset: usize| move |at: usize| T::value(source, offset + at);
    for root in (0..size).filter(|root| count <= 17 || root % 5 == 2 || *root == 0) {
        let process = cube.process_at_rank(root);
        assert_eq!(process.rank(), root);
        let mut data = if rank == root { own.clone() } else { blank(count) };
        process.broadcast_into(&mut data).unwrap();
        assert!((0..count).map(from(root, 0)).eq(data.iter().copied()), "broadcast, root {root}, {case}");

        let mut receive: Vec<T> = blank(count);
        if rank == root {
            process.scatter_into_root(&wide, &mut receive).unwrap();
        } else {
            process.scatter_into(&mut receive).unwrap();
        }
        assert!((0..count).map(from(root, rank * count)).eq(receive), "scatter, root {root}, {case}");

        if rank == root {
            let mut receive: Vec<T> = blank(count * size);
            process.gather_into_root(&own, &mut receive).unwrap();
            let expected = (0..size).flat_map(|source| (0..count).map(from(source, 0)));
            assert!(expected.eq(receive), "gather, root {root}, {case}");
        } else {
            process.gather_into(&own).unwrap();
        }
    }

    let everything = || (0..size).flat_map(|source| (0..count).map(from(source, 0)));
    let mut receive: Vec<T> = blank(count * size);
    cube.all_gather_into(&own, &mut receive).unwrap();
    assert!(everything().eq(receive), "all-gather, {case}");
    let mut blocks: Vec<T> = blank(count * size);
    blocks[rank * count..(rank + 1) * count].copy_from_slice(&own);
    cube.all_gather_in_place(&mut blocks).unwrap();
    assert!(everything().eq(blocks), "all-gather in place, {case}");

    let mut receive: Vec<T> = blank(count * size);
    cube.all_to_all_into(&wide, &mut receive).unwrap();
    let expected = (0..size).flat_map(|source| (0..count).map(from(source, rank * count)));
    assert!(expected.eq(receive), "all-to-all, {case}");

    for shift in [0, 1, size / 2] {
        let mut receive: Vec<T> = blank(count);
        let permutation: Vec<usize> = (0..size).map(|r| (r + shift) % size).collect();
        cube.permute_into(&permutation, &own, &mut receive).unwrap();
        let source = (rank + size - shift % size) % size;
        assert!((0..count).map(from(source, 0)).eq(receive), "permute by {shift}, {case}");
    }
    // The user's data is as it was.
    assert_eq!((own, wide), (sent(rank, count), sent(rank, count * size)), "send buffers, {case}");
    cube.barrier().unwrap();
}

#[test]
fn data_moves_for_every_size_count_root_and_type() {
    for size in SIZES {
        on(size, |cube| {
            for count in COUNTS {
                move_data::<u8>(cube, count);
                move_data::<u64>(cube, count);
                move_data::<Point>(cube, count);
                if count < 1000 {
                    move_data::<u16>(cube, count);
                    move_data::<i32>(cube, count);
                    move_data::<f32>(cube, count);
                    move_data::<f64>(cube, count);
                }
            }
        });
    }
}
