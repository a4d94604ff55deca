//! In place, in all forms, against the same with two buffers.

use super::*;
use hypercoll::request;

const COUNT: usize = 5;

/// The results of a call in place that is run, started, and made to be started twice, from the same buffer before.
macro_rules! all_forms {
    ($before:expr, $call:expr $(, $operation:expr)?) => {{
        let before: Vec<u64> = $before;
        let (mut run, mut started, mut again) = (before.clone(), before.clone(), before.clone());
        $call.run_in_place(&mut run $(, $operation)?).unwrap();
        request::scope(|scope| {
            let request = $call.start_in_place(scope, &mut started $(, $operation)?).unwrap();
            request.wait().unwrap();
        });
        request::scope(|scope| {
            let mut persistent = $call.init_in_place(scope, &mut again $(, $operation)?).unwrap();
            persistent.start().unwrap();
            persistent.buffers().unwrap().1.copy_from_slice(&before);
            persistent.start().unwrap();
            persistent.wait().unwrap();
        });
        assert_eq!(run, started);
        assert_eq!(run, again);
        run
    }};
}

fn forms(cube: &Hypercube) {
    let (rank, size) = (cube.rank(), cube.size());
    let own: Vec<u64> = sent(rank, COUNT);
    let wide: Vec<u64> = sent(rank, COUNT * size);
    let sum = SystemOperation::sum();

    let mut received = vec![0; COUNT * size];
    cube.all_to_all_into(&wide, &mut received).unwrap();
    assert_eq!(all_forms!(wide.clone(), cube.all_to_all()), received);

    let shifted: Vec<usize> = (0..size).map(|rank| (rank + 1) % size).collect();
    let mut received = vec![0; COUNT];
    cube.permute_into(&shifted, &own, &mut received).unwrap();
    assert_eq!(all_forms!(own.clone(), cube.permute(&shifted)), received);

    let mut block = vec![0; COUNT];
    cube.reduce_scatter_block_into(&wide, &mut block, sum).unwrap();
    let result = all_forms!(wide.clone(), cube.reduce_scatter(), sum);
    assert_eq!((&result[..COUNT], &result[COUNT..]), (&block[..], &wide[COUNT..]));

    let mut total = vec![0; COUNT];
    cube.all_reduce_into(&own, &mut total, sum).unwrap();
    assert_eq!(all_forms!(own.clone(), cube.all_reduce(), sum), total);
    let mut prefix = vec![0; COUNT];
    cube.scan_into(&own, &mut prefix, sum).unwrap();
    assert_eq!(all_forms!(own.clone(), cube.scan(), sum), prefix);
    let mut below = own.clone();
    cube.exclusive_scan_into(&own, &mut below, sum).unwrap();
    assert_eq!(all_forms!(own.clone(), cube.exclusive_scan(), sum), below);

    let mut all = vec![0; COUNT * size];
    cube.all_gather_into(&own, &mut all).unwrap();
    let mut partly = vec![0; COUNT * size];
    partly[rank * COUNT..][..COUNT].copy_from_slice(&own);
    assert_eq!(all_forms!(partly.clone(), cube.all_gather()), all);

    let root = size / 2;
    if rank == root {
        assert_eq!(all_forms!(partly, cube.gather(root)), all);
        assert_eq!(all_forms!(own.clone(), cube.reduce(root), sum), total);
        let mut blocks = wide.clone();
        cube.scatter(root).run_in_place(&blocks).unwrap();
        request::scope(|scope| cube.scatter(root).start_in_place(scope, &blocks).unwrap().wait().unwrap());
        request::scope(|scope| {
            let mut persistent = cube.scatter(root).init_in_place(scope, &mut blocks).unwrap();
            persistent.start().unwrap();
            persistent.start().unwrap();
        });
        assert_eq!(blocks, wide);
    } else {
        (0..4).for_each(|_| cube.gather(root).run(&own, None::<&mut [u64]>).unwrap());
        (0..4).for_each(|_| cube.reduce(root).run(&own, None::<&mut [u64]>, sum).unwrap());
        for _ in 0..4 {
            let mut block = vec![0; COUNT];
            cube.scatter(root).run(None::<&[u64]>, &mut block).unwrap();
            assert!(block.iter().enumerate().all(|(at, value)| *value == u64::value(root, rank * COUNT + at)));
        }
    }
}

#[test]
fn in_place_is_as_with_two_buffers_in_all_forms() {
    SIZES.into_iter().for_each(|size| drop(on(size, forms)));
}

#[test]
fn only_the_root_is_in_place() {
    on(2, |cube| {
        let mut blocks = [0; 2];
        let refused = match cube.rank() {
            1 => cube.gather(0).run_in_place(&mut blocks),
            _ => Err(Error::Role { call: "gather in place", rank: 1, root: 0, instead: "run, start or init" }),
        };
        assert_eq!(
            refused,
            Err(Error::Role { call: "gather in place", rank: 1, root: 0, instead: "run, start or init" })
        );
        let odd = cube.all_to_all_in_place(&mut [0; 3]);
        assert!(odd.is_err());
    });
}
