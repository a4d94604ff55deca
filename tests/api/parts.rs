//! Long vectors in short packets: calls in parts, one after the other.

use super::*;
use hypercoll::request;

/// In packets of 5 elements: the last packet is shorter, the last part is, or none; fewer than two parts' packets are one part, and there
/// are 16 at most.
const CASES: [(usize, usize); 5] =
    [(5 * 64 * 3 + 7, 3), (5 * 64 * 2, 2), (5 * 64 * 2 - 5, 1), (5 * 64 * 16, 16), (5 * 64 * 50 + 1, 16)];

fn in_packets(algorithm: &Algorithm, parameters: &Parameters) -> Options {
    Options::exactly(algorithm, &Parameters { packet: Some(5), ..*parameters })
}

#[test]
fn all_parts_of_a_vector_arrive() {
    let vectors =
        [Collective::Broadcast, Collective::Reduce, Collective::AllReduce, Collective::Scan, Collective::ExclusiveScan];
    for size in [1, 2, 3, 5, 8] {
        on(size, move |cube| {
            let mut tried = 0;
            for (collective, algorithm) in vectors.iter().flat_map(|&c| registry::of(c).map(move |a| (c, a))) {
                let call = Call::new(collective, size, 1000).with_root(size / 2);
                let mut forms = PortModel::ALL.map(Parameters::new).to_vec();
                forms.retain(|form| algorithm.accepts(&call, &Parameters { packet: Some(5), ..*form }).is_ok());
                for form in forms {
                    for (count, parts) in CASES {
                        options::with_options(cube, collective, size / 2, count, &in_packets(algorithm, &form));
                        let last = cube.last().unwrap();
                        assert_eq!((last.algorithm, last.parts), (algorithm.name, parts), "{count} on {size}");
                        tried += 1;
                    }
                }
            }
            assert!(tried > 50, "{tried} on {size}");
        });
    }
}

/// What a rank sends is what the plan of all of it sends; of blocks, nothing is in parts.
#[test]
fn what_is_sent_in_parts_is_all_of_it() {
    on(6, |cube| {
        let mut data = vec![0u32; 5 * 64 * 3];
        cube.broadcast(0).algorithm("chain").packet(5).run(&mut data).unwrap();
        let last = cube.last().unwrap();
        assert!(last.parts == 3 && last.to_string().contains("packets of 5 elements, in 3 parts;"), "{last}");
        let sends = usize::from(cube.rank() < 5);
        assert_eq!((last.messages, last.bytes), (64 * 3 * sends, 4 * 5 * 64 * 3 * sends));
        let mut all = vec![0u32; 6 * data.len()];
        cube.all_gather().algorithm("ring").packet(5).run(&data, &mut all).unwrap();
        assert_eq!(cube.last().unwrap().parts, 1);
    });
}

#[test]
fn calls_in_parts_go_on_beside_others() {
    for size in [2, 3, 5] {
        on(size, move |cube| {
            let count = 5 * 64 * 4 + 1;
            let own: Vec<u64> = sent(cube.rank(), count);
            let sum = |at: usize| (0..size).fold(0u64, |sum, rank| sum.wrapping_add(u64::value(rank, at)));
            let (mut first, mut second, mut data, mut gathered) =
                (vec![0; count], vec![0; count], own.clone(), vec![0; size]);
            request::scope(|scope| {
                let ring = || cube.all_reduce().algorithm("ring").packet(5);
                let a = ring().start(scope, &own, &mut first, SystemOperation::Sum).unwrap();
                let b = cube.broadcast(1).algorithm("chain").packet(5).start(scope, &mut data).unwrap();
                let c = ring().start(scope, &own, &mut second, SystemOperation::Sum).unwrap();
                cube.all_gather_into(&[cube.rank()], &mut gathered).unwrap();
                // Not in the same order on all ranks.
                for request in if cube.rank() % 2 == 0 { [a, c] } else { [c, a] } {
                    request.wait().unwrap();
                }
                b.wait().unwrap();
            });
            assert!((0..count).all(|at| first[at] == sum(at)) && first == second);
            assert_eq!(data, sent::<u64>(1, count));
            assert!(gathered.into_iter().eq(0..size));
        });
    }
}

/// A function that panics in a later part ends the call on all ranks.
#[test]
fn a_panic_ends_all_parts() {
    let outcome = catch_unwind(|| {
        threads::run(3, |cube| {
            let (own, mut sum) = (sent::<u64>(cube.rank(), 5 * 64 * 4), vec![0; 5 * 64 * 4]);
            let calls = AtomicUsize::new(0);
            let late = Commutative(|a: &u64, b: &u64| match calls.fetch_add(1, Ordering::Relaxed) {
                800.. => panic!("in the third part"),
                _ => a.wrapping_add(*b),
            });
            cube.all_reduce().algorithm("ring").packet(5).run(&own, &mut sum, late).unwrap();
        })
    });
    let panic = outcome.expect_err("the panic is passed on");
    assert_eq!(panic.downcast_ref(), Some(&"in the third part"));
}

/// Nothing ends on rank 0 of an exclusive scan, whatever it passes: a shorter buffer, a longer one, or none.
#[test]
fn what_rank_0_passes_to_an_exclusive_scan_does_not_matter() {
    on(4, |cube| {
        let own = sent::<u64>(cube.rank(), 5 * 64 * 2);
        for length in [0, 1, 5 * 64 + 1, 5 * 64 * 3] {
            let mut receive = vec![7u64; if cube.rank() == 0 { length } else { own.len() }];
            let scan = cube.exclusive_scan().algorithm("chain").packet(5);
            scan.run(&own, &mut receive, SystemOperation::sum()).unwrap();
            assert_eq!(cube.last().unwrap().parts, 2);
            assert!(cube.rank() > 0 || receive == vec![7; length]);
        }
    });
}
