//! Broadcast, scatter, gather and all-gather that survive a faulty link.
//!
//! The link between two ranks, 0 and 1 if nothing is said, is out of order, and every rank says so. From then on nothing is sent
//! over it: the broadcast drops the trees that use it and spreads its data over the others, and whatever else would cross the
//! link goes round it.
//!
//! ```text
//! cargo run --release --example faulty_link -- --threads 8
//! mpirun -n 8 target/release/examples/faulty_link          the link 0-1, blocks of 80,000 bytes
//! mpirun -n 8 target/release/examples/faulty_link 2-3 1048576
//! mpirun -n 8 target/release/examples/faulty_link none 1048576 broadcast      all links are in order; only the broadcast
//! ```

mod common;

use hypercoll::Hypercube;

const COLLECTIVES: [&str; 4] = ["broadcast", "scatter", "gather", "all-gather"];

struct Arguments {
    faulty: Option<(usize, usize)>,
    /// Of the broadcast's vector, and of a block of the other collectives.
    bytes: usize,
    collective: Option<String>,
}

fn arguments() -> Option<Arguments> {
    let mut words = common::arguments().into_iter();
    let faulty = match words.next().as_deref() {
        None => Some((0, 1)),
        Some("none") => None,
        Some(link) => {
            let (a, b) = link.split_once('-')?;
            Some((a.parse().ok()?, b.parse().ok()?))
        }
    };
    let bytes = words.next().map_or(Some(80_000), |bytes| bytes.parse().ok())?;
    let collective = words.next();
    let known = collective.as_deref().is_none_or(|name| COLLECTIVES.contains(&name));
    (known && words.next().is_none()).then_some(Arguments { faulty, bytes, collective })
}

fn main() {
    let Some(Arguments { faulty, bytes, collective }) = arguments() else {
        eprintln!("usage: faulty_link [A-B | none [BYTES [{}]]] [--threads N]", COLLECTIVES.join(" | "));
        std::process::exit(2);
    };
    common::run(|cube| {
        let (rank, size) = (cube.rank(), cube.size());
        let links: Vec<(usize, usize)> = faulty.into_iter().collect();
        if let Err(error) = cube.avoid_links(&links) {
            // Without that link there is no way to some rank: so it is on two ranks.
            if rank == 0 {
                println!("{size} ranks: {error}");
            }
            return;
        }
        assert_eq!(cube.avoided_links(), links);

        // The root is at one end of the link.
        let root = faulty.map_or(0, |(a, _)| a);
        for name in COLLECTIVES.into_iter().filter(|name| collective.as_deref().is_none_or(|asked| asked == *name)) {
            run(cube, name, root, bytes / size_of::<f64>());
            if rank == root {
                println!("{}", cube.explain_last());
            }
        }
        if rank == root {
            let over = faulty.map_or(String::new(), |(a, b)| format!(", nothing of it over the link {a}-{b}"));
            println!("all data arrived on {size} ranks{over}");
        }
    });
}

/// One collective, and whether its result is right.
fn run(cube: &Hypercube, collective: &str, root: usize, elements: usize) {
    let (rank, size) = (cube.rank(), cube.size());
    let here = rank == root;
    let blocks: Vec<f64> = (0..elements * size).map(|at| at as f64 / 3.0).collect();
    let own = &blocks[rank * elements..(rank + 1) * elements];
    match collective {
        "broadcast" => {
            let mut vector = if here { blocks[..elements].to_vec() } else { vec![0.0; elements] };
            cube.broadcast(root).algorithm("msbt").packet(1024).run(&mut vector).expect("broadcast");
            assert!(vector == blocks[..elements], "broadcast");
        }
        "scatter" => {
            let mut block = vec![0.0; elements];
            cube.scatter(root).algorithm("sbnt").run(here.then_some(&blocks), &mut block).expect("scatter");
            assert!(block == own, "scatter");
        }
        "gather" => {
            let mut gathered = vec![0.0; if here { blocks.len() } else { 0 }];
            cube.gather(root).algorithm("sbnt").run(own, here.then_some(&mut gathered)).expect("gather");
            assert!(!here || gathered == blocks, "gather");
        }
        _ => {
            let mut gathered = vec![0.0; blocks.len()];
            cube.all_gather().algorithm("complete_broadcast").run(own, &mut gathered).expect("all-gather");
            assert!(gathered == blocks, "all-gather");
        }
    }
}
