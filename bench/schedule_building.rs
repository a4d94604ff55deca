//! What it costs a rank to work out its part of a collective. Run with `cargo bench`.
//!
//! The point: a rank asks the address bits and builds no table of the cube, so that its schedule of a one-packet broadcast
//! takes microseconds even on a cube of 2^20 nodes, in proportion to its own messages and not to the number of ranks.

use criterion::{criterion_group, criterion_main, Criterion};
use hypercoll::algorithm::{registry, Algorithm, Parameters, PortModel};
use hypercoll::collective::{Call, Collective};
use std::hint::black_box;
use std::time::Duration;

fn algorithm(collective: Collective, name: &str) -> &'static Algorithm {
    registry::find(collective, name).unwrap_or_else(|error| panic!("{error}"))
}

/// In the SBT rank 0 sends over all 20 ports, 1023 over half of them, the last one over none; the one packet of the MSBT goes
/// down the tree whose root's only child is rank 1.
fn broadcast(criterion: &mut Criterion) {
    const N: u32 = 20;
    let mut group = criterion.benchmark_group("broadcast, one packet, n = 20");
    let call = Call::new(Collective::Broadcast, 1 << N, 1024);
    for name in ["sbt", "msbt"] {
        let algorithm = algorithm(Collective::Broadcast, name);
        for rank in [0, 1, (1 << (N / 2)) - 1, (1 << N) - 1] {
            let parameters = Parameters::new(PortModel::OnePort);
            group.bench_function(format!("{name} rank {rank}"), |bencher| {
                bencher.iter(|| algorithm.schedule(black_box(&call), black_box(&parameters), black_box(rank)))
            });
        }
    }
    group.finish();
}

/// A rank of a 64-node all-to-all has 63 blocks to move through 6 dimensions.
fn complete_exchange(criterion: &mut Criterion) {
    let algorithm = algorithm(Collective::AllToAll, "complete_exchange");
    let call = Call::new(Collective::AllToAll, 64, 1024);
    let mut group = criterion.benchmark_group("all-to-all, n = 6");
    for (what, ports) in [("plain", PortModel::OnePort), ("symmetrised", PortModel::AllPorts)] {
        let parameters = Parameters::new(ports);
        group.bench_function(format!("complete_exchange {what}"), |bencher| {
            bencher.iter(|| algorithm.schedule(black_box(&call), black_box(&parameters), black_box(5)))
        });
    }
    group.finish();
}

/// A whole call whose plan is cached, on one rank: all that the library adds to the messages themselves. The uncached one
/// has a new length every time.
fn cached_plan(_: &mut Criterion) {
    hypercoll::threads::run(1, |cube| {
        // Ranks are threads, which cannot share the one that is passed.
        let mut criterion = short().configure_from_args();
        let mut group = criterion.benchmark_group("broadcast call on 1 rank");
        let mut data = vec![0.0f64; 1 << 16];
        let mut count = 0;
        let mut broadcast = |count: usize| cube.broadcast(0).run(&mut data[..count]);
        group.bench_function("cached plan", |bencher| bencher.iter(|| broadcast(8)));
        group.bench_function("new plan", |bencher| {
            bencher.iter(|| {
                count = count % ((1 << 16) - 1) + 1;
                broadcast(count)
            })
        });
        group.finish();
    });
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000))
        .without_plots()
}

criterion_group! { name = benches; config = short(); targets = broadcast, complete_exchange, cached_plan }
criterion_main!(benches);
