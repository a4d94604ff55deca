//! How much of an all-to-all goes on while a program computes: the time of one alone, of as long a computation, and of both at once,
//! with a look at the request from time to time. Where ranks are more than cores, a look also takes as long as others compute before it
//! gets a core again: with `--sleep 1` ranks sleep instead, as if they computed on cores of their own.
//!
//! ```text
//! cargo run --release --example overlap -- --block 4096 --polls 8 --repetitions 5
//! scripts/fabric up star --hosts 8 --rate 50mbit
//! scripts/fabric run -- target/release/examples/overlap --block 262144 --polls 8
//! ```

mod common;

use hypercoll::{request, Hypercube, SystemOperation};
use std::time::{Duration, Instant};

/// Work that takes so long in all, in so many equal parts.
struct Work {
    time: Duration,
    parts: u32,
    done: Duration,
    sleeps: bool,
}

impl Work {
    /// Computes to the end of a part. What a part takes too long, since other programs want the core, the next is shorter.
    fn compute(&mut self, part: u32) {
        let (start, mut sum) = (Instant::now(), 0.0f64);
        let until = self.time * part / self.parts;
        if self.sleeps {
            std::thread::sleep(until.saturating_sub(self.done));
        }
        while self.done + start.elapsed() < until {
            sum = (0..1000).fold(sum, |sum, term| sum + 1.0 / f64::from(term + 1));
        }
        std::hint::black_box(sum);
        self.done += start.elapsed();
    }
}

/// The seconds that something takes on the rank on which it takes longest.
fn time(cube: &Hypercube, code: impl FnOnce()) -> f64 {
    cube.barrier().expect("barrier");
    let start = Instant::now();
    code();
    let mut seconds = start.elapsed().as_secs_f64();
    cube.all_reduce_in_place(&mut seconds, SystemOperation::max()).expect("all-reduce");
    seconds
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let options = [("--block", 65_536), ("--polls", 8), ("--repetitions", 9), ("--sleep", 0)];
    common::run_with(options, |cube, [block, polls, repetitions, sleep]| {
        let (rank, size) = (cube.rank(), cube.size());
        let send: Vec<u8> = (0..size).flat_map(|to| vec![(3 * rank + to) as u8; block]).collect();
        let expected: Vec<u8> = (0..size).flat_map(|from| vec![(3 * from + rank) as u8; block]).collect();
        let mut receive = vec![0; send.len()];

        let mut all_to_all = || time(cube, || cube.all_to_all_into(&send, &mut receive).expect("all-to-all"));
        all_to_all(); // connections are made by the first one
                      // All ranks have the same times, and compute for as long as that.
        let time_alone = (0..3).map(|_| all_to_all()).fold(f64::INFINITY, f64::min);
        let parts = polls as u32 + 1;
        let work =
            || Work { time: Duration::from_secs_f64(time_alone), parts, done: Duration::ZERO, sleeps: sleep > 0 };
        cube.all_to_all_into(&send, &mut receive).expect("all-to-all");
        let what_runs = cube.explain_last();
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..repetitions.max(1) {
            times[0].push(time(cube, || cube.all_to_all_into(&send, &mut receive).expect("all-to-all")));
            times[1].push(time(cube, || work().compute(parts)));
            receive.fill(0);
            times[2].push(time(cube, || {
                request::scope(|scope| {
                    let mut work = work();
                    let mut request = cube.immediate_all_to_all_into(scope, &send, &mut receive).expect("a start");
                    for part in 1..parts {
                        work.compute(part);
                        request.look();
                    }
                    work.compute(parts);
                    request.wait().expect("all-to-all");
                });
            }));
            assert_eq!(receive, expected);
        }
        if rank == 0 {
            println!("{what_runs}");
            let [alone, computation, both] = times.map(median);
            println!(
                "{size} ranks, blocks of {block} bytes, {polls} polls, medians of {repetitions}, on the slowest rank:"
            );
            println!("  blocking   {:9.3} ms", 1e3 * alone);
            println!("  computing  {:9.3} ms", 1e3 * computation);
            println!("  both       {:9.3} ms, {:.3} of the longer one", 1e3 * both, both / alone.max(computation));
        }
    });
}
