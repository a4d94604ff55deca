//! Links to be avoided, as a user meets them: results stay right, errors name the link, and what ran says so.

#[path = "common/watch.rs"]
mod watch;

use hypercoll::{Error, SystemOperation};
use watch::on;

/// All collectives once, compared.
fn everything(cube: &hypercoll::Hypercube) {
    let (rank, size) = (cube.rank(), cube.size());
    for root in 0..size {
        let mut data = vec![if rank == root { root + 7 } else { 0 }; 100];
        cube.process_at_rank(root).broadcast_into(&mut data).unwrap();
        assert_eq!(data, vec![root + 7; 100]);
        cube.broadcast(root).algorithm("msbt").packet(9).run(&mut data).unwrap();
        let all: Vec<usize> = (0..3 * size).collect();
        let mut mine = vec![0; 3];
        cube.scatter(root).algorithm("sbnt").run((rank == root).then_some(&all), &mut mine).unwrap();
        assert_eq!(mine, [3 * rank, 3 * rank + 1, 3 * rank + 2]);
        let mut back = vec![0; if rank == root { 3 * size } else { 0 }];
        cube.gather(root).run(&mine, (rank == root).then_some(&mut back)).unwrap();
        assert!(rank != root || back == all);
        let mut sum = 0;
        cube.reduce(root)
            .algorithm("sbt")
            .run(&rank, (rank == root).then_some(&mut sum), SystemOperation::Sum)
            .unwrap();
        assert!(rank != root || sum == size * (size - 1) / 2);
    }
    let mut ranks = vec![0; size];
    cube.all_gather().algorithm("complete_broadcast").run(&rank, &mut ranks).unwrap();
    assert_eq!(ranks, (0..size).collect::<Vec<_>>());
    let rows: Vec<usize> = (0..size).map(|to| 100 * rank + to).collect();
    let mut columns = vec![0; size];
    cube.all_to_all().algorithm("complete_exchange").run(&rows, &mut columns).unwrap();
    assert_eq!(columns, (0..size).map(|from| 100 * from + rank).collect::<Vec<_>>());
    // Composition of maps does not commute.
    let compose = |f: &[u64; 2], g: &[u64; 2]| [f[0] * g[0] % 1009, (f[0] * g[1] + f[1]) % 1009];
    let map = |rank: usize| [rank as u64 + 2, 3 * rank as u64 + 1];
    let mut composed = [0; 2];
    cube.all_reduce_into(std::slice::from_ref(&map(rank)), std::slice::from_mut(&mut composed), compose).unwrap();
    assert_eq!(composed, (1..size).fold(map(0), |f, rank| compose(&f, &map(rank))));
    cube.barrier().unwrap();
}

#[test]
fn results_are_right_whatever_link_is_avoided() {
    for size in [3, 4, 6, 8] {
        let tried = on(size, move |cube| {
            let mut tried = 0;
            for (a, b) in (0..size).flat_map(|a| (0..a).map(move |b| (a, b))) {
                match cube.avoid_links(&[(a, b)]) {
                    Ok(()) => {
                        assert_eq!(cube.avoided_links(), [(b, a)]);
                        everything(cube);
                        tried += 1;
                    }
                    Err(error) => assert!(matches!(error, Error::Link { link, .. } if link == (b, a)), "{error}"),
                }
            }
            tried
        });
        assert!(tried[0] >= size - 1, "{size} ranks: {tried:?}");
    }
}

#[test]
fn several_links_and_none_again() {
    on(8, |cube| {
        cube.avoid_links(&[(0, 1), (6, 7), (0, 4)]).unwrap();
        everything(cube);
        cube.broadcast(0).algorithm("msbt").run(&mut [0u8; 64]).unwrap();
        assert!(cube.explain_last().contains("avoiding 0-1 0-4 6-7"), "{}", cube.explain_last());
        // What cannot be done leaves the cube as it was.
        assert!(cube.avoid_links(&[(0, 1), (0, 2), (0, 4)]).unwrap_err().to_string().contains("0-1"));
        assert_eq!(cube.avoided_links(), [(0, 1), (0, 4), (6, 7)]);
        cube.avoid_links(&[]).unwrap();
        everything(cube);
        assert!(!cube.explain_last().contains("avoiding"));
    });
}
