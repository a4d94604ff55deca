//! Random programs, as a user would write them: every rank has some lists, whose lengths differ from rank to rank and come from what was
//! received before, and each step makes new ones out of them by calls of the library. After every step each rank compares its lists with
//! those of a model of all ranks that knows no library.
//!
//! On threads and over MPI. `HYPERCOLL_RANDOM_SEED` is another first seed than the usual, and `HYPERCOLL_RANDOM_PROGRAMS` another number of
//! programs. A failure names the seed of its program, and the step.
#![cfg(feature = "mpi")]

#[path = "common/mpirun.rs"]
mod mpirun;
#[path = "common/process.rs"]
mod process;
#[path = "common/random.rs"]
mod random;
#[path = "common/ranks.rs"]
mod ranks;
#[path = "common/watch.rs"]
mod watch;

use hypercoll::buffer::Strided;
use hypercoll::operation::Commutative;
use hypercoll::{request, Hypercube, Partition, PartitionMut, Result, SystemOperation};
use random::{mix, Random};

/// Lists of a rank, and elements of the longest that is kept.
const LISTS: usize = 4;
const LONGEST: usize = 3000;
const STEPS: usize = 25;
const PROGRAMS: usize = 12;

type Lists = [Vec<u64>; LISTS];

/// What is done next, on all ranks alike.
#[derive(Clone, Debug)]
struct Step {
    act: Act,
    /// The list that it is made of, the one that it becomes, and two others.
    from: usize,
    into: usize,
    also: [usize; 2],
    root: usize,
    peer: usize,
    permutation: Vec<usize>,
    salt: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Act {
    /// Every rank changes a list by itself: longer, shorter, or none of it.
    Change,
    /// The root tells all how long its list is, and sends it.
    Tell,
    /// All lists on all ranks.
    Collect,
    /// All lists on the root.
    CollectOnRoot,
    /// The root deals its list out, in parts of any length.
    Deal,
    /// Every rank deals its list out to all.
    DealAll,
    /// Sums of lists that are as long as the longest, and no longer than can be dealt out.
    Sums,
    /// The same, of which every rank keeps a part.
    PartsOfSums,
    /// Compositions of ranks 0 to this one, or of those below.
    Prefixes,
    PrefixesBelow,
    Rotate,
    Swap,
    /// Columns of the root's list as a matrix, which is a row of it for every rank.
    Columns,
    /// A list, three times longer each time, by the same call.
    Again,
    /// Two calls at once, which are waited for in any order.
    AtOnce,
    /// The root's own part stays where it is.
    InPlace,
}

const ACTS: [Act; 16] = [
    Act::Change,
    Act::Tell,
    Act::Collect,
    Act::CollectOnRoot,
    Act::Deal,
    Act::DealAll,
    Act::Sums,
    Act::PartsOfSums,
    Act::Prefixes,
    Act::PrefixesBelow,
    Act::Rotate,
    Act::Swap,
    Act::Columns,
    Act::Again,
    Act::AtOnce,
    Act::InPlace,
];

impl Step {
    fn draw(random: &mut Random, size: usize) -> Step {
        let lists = random.permutation(LISTS);
        Step {
            act: random.of(&ACTS),
            from: lists[0],
            into: lists[1],
            also: [lists[2], lists[3]],
            root: random.below(size),
            peer: random.below(size),
            permutation: random.permutation(size),
            salt: random.bits(),
        }
    }

    /// Lengths of so many parts of a list, some of them 0.
    fn parts(&self, len: usize, size: usize, rank: usize) -> Vec<usize> {
        let mut random = Random(self.salt ^ mix(rank as u64));
        let mut ends: Vec<usize> = (1..size).map(|_| random.below(len + 1)).chain([len]).collect();
        if !random.once_in(3) {
            ends.sort_unstable();
        } else {
            ends.fill(0);
            ends[random.below(size)..].fill(len);
            ends[size - 1] = len;
        }
        let mut start = 0;
        ends.into_iter().map(|end| end - std::mem::replace(&mut start, end)).collect()
    }

    /// What a rank makes of a list by itself.
    fn changed(&self, list: &[u64], rank: usize) -> Vec<u64> {
        let mut random = Random(self.salt ^ mix(rank as u64 + 99));
        let len = match random.below(5) {
            0 => 0,
            1 => 1,
            2 => random.below(LONGEST),
            _ => random.below(list.len() + 20),
        };
        (0..len)
            .map(|at| list.get(at).map_or_else(|| random.bits(), |value| value.rotate_left(7) ^ at as u64))
            .collect()
    }
}

/// A composition of the steps x -> f x + g, which does not commute.
fn after(a: &u64, b: &u64) -> u64 {
    let [(f, g), (h, k)] = [a, b].map(|step| (step >> 32, step & 0xffff_ffff));
    f.wrapping_mul(h) << 32 | g.wrapping_mul(h).wrapping_add(k) & 0xffff_ffff
}

/// As long as asked, by its own elements again and again.
fn padded(list: &[u64], len: usize) -> Vec<u64> {
    (0..len).map(|at| if list.is_empty() { 5 } else { list[at % list.len()] }).collect()
}

fn starts(counts: &[usize]) -> Vec<usize> {
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    ends.zip(counts).map(|(end, count)| end - count).collect()
}

fn kept(mut list: Vec<u64>) -> Vec<u64> {
    list.truncate(LONGEST);
    list
}

/// What a step means, for the lists of all ranks.
fn model(step: &Step, all: &mut [Lists]) {
    let size = all.len();
    let Step { from, into, root, peer, also: [third, fourth], .. } = *step;
    let before: Vec<Vec<u64>> = all.iter().map(|lists| lists[from].clone()).collect();
    let longest = before.iter().map(Vec::len).max().unwrap_or(0);
    let part = |rank: usize, to: usize| {
        let counts = step.parts(before[rank].len(), size, rank);
        let start = starts(&counts)[to];
        before[rank][start..start + counts[to]].to_vec()
    };
    let folded = |ranks: std::ops::Range<usize>, combine: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
        let lists = ranks.map(|rank| padded(&before[rank], longest));
        lists.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| combine(*a, *b)).collect()).unwrap_or_default()
    };
    let sums = folded(0..size, &u64::wrapping_add);
    let collected = before.concat();
    for rank in 0..size {
        let lists = &mut all[rank];
        match step.act {
            Act::Change => lists[into] = step.changed(&before[rank], rank),
            Act::Tell => lists[into] = before[root].clone(),
            Act::Collect => lists[into] = kept(collected.clone()),
            Act::CollectOnRoot if rank == root => lists[into] = kept(collected.clone()),
            Act::CollectOnRoot => {}
            Act::Deal => lists[into] = part(root, rank),
            Act::DealAll => lists[into] = kept((0..size).flat_map(|from| part(from, rank)).collect()),
            Act::Sums => lists[into] = sums.clone(),
            Act::PartsOfSums => {
                let counts = step.parts(longest, size, 0);
                let start = starts(&counts)[rank];
                lists[into] = sums[start..start + counts[rank]].to_vec();
            }
            Act::Prefixes => lists[into] = folded(0..rank + 1, &|a, b| after(&a, &b)),
            Act::PrefixesBelow if rank == 0 => lists[into] = vec![3; longest],
            Act::PrefixesBelow => lists[into] = folded(0..rank, &|a, b| after(&a, &b)),
            Act::Rotate => {
                let source = step.permutation.iter().position(|&to| to == rank).expect("a source");
                lists[into] = padded(&before[source], longest);
            }
            Act::Swap if rank == root => lists[into] = padded(&before[peer], longest),
            Act::Swap if rank == peer => lists[into] = padded(&before[root], longest),
            Act::Swap => {}
            Act::Columns => {
                let rows = before[root].len() / size;
                lists[into] = (0..rows).map(|row| before[root][row * size + rank]).collect();
            }
            // Of all ranks together: below.
            Act::Again => {}
            Act::AtOnce => {
                lists[into] = kept(collected.clone());
                let highest = folded(0..size, &u64::max);
                lists[third] = highest;
                lists[fourth] = folded(0..rank + 1, &|a, b| after(&a, &b));
            }
            Act::InPlace => lists[into] = kept(collected.clone()),
        }
    }
    if step.act == Act::Again {
        let mut lists: Vec<Vec<u64>> = before.iter().map(|list| padded(list, longest)).collect();
        for _ in 0..3 {
            let sum = |at: usize| lists.iter().fold(0u64, |sum, list| sum.wrapping_add(list[at]));
            let sums: Vec<u64> = (0..longest).map(sum).collect();
            for list in &mut lists {
                list.iter_mut()
                    .zip(&sums)
                    .enumerate()
                    .for_each(|(at, (own, sum))| *own ^= sum.wrapping_mul(at as u64 + 1));
            }
        }
        all.iter_mut().zip(lists).for_each(|(all, list)| all[into] = list);
    }
}

/// The lengths of a list on all ranks.
fn lengths(cube: &Hypercube, list: &[u64]) -> Result<Vec<usize>> {
    let mut lengths = vec![0; cube.size()];
    cube.all_gather_into(&list.len(), &mut lengths)?;
    Ok(lengths)
}

/// The longest of a list on all ranks.
fn longest(cube: &Hypercube, list: &[u64]) -> Result<usize> {
    let mut longest = list.len();
    cube.all_reduce_in_place(&mut longest, SystemOperation::max())?;
    Ok(longest)
}

fn collect(cube: &Hypercube, list: &[u64]) -> Result<Vec<u64>> {
    let counts = lengths(cube, list)?;
    let mut all = vec![0; counts.iter().sum()];
    cube.all_gather_varcount_into(list, &mut PartitionMut::new(&mut all, &counts[..], starts(&counts)))?;
    Ok(kept(all))
}

/// What a rank does in a step. `own` differs from rank to rank.
fn act(cube: &Hypercube, step: &Step, lists: &mut Lists, own: &mut Random) -> Result<()> {
    let (rank, size) = (cube.rank(), cube.size());
    let Step { from, into, root, peer, also: [third, fourth], .. } = *step;
    let (process, here) = (cube.process_at_rank(root), rank == root);
    let list = lists[from].clone();
    lists[into] = match step.act {
        Act::Change => step.changed(&list, rank),
        Act::Tell => {
            let mut len = list.len();
            process.broadcast_into(&mut len)?;
            let mut told = if here { list } else { vec![0; len] };
            process.broadcast_into(&mut told)?;
            told
        }
        Act::Collect => collect(cube, &list)?,
        Act::CollectOnRoot if here => {
            let mut counts = vec![0usize; size];
            process.gather_into_root(&list.len(), &mut counts)?;
            let mut all = vec![0; counts.iter().sum()];
            let mut parts = PartitionMut::new(&mut all, &counts[..], starts(&counts));
            process.gather_varcount_into_root(&list, &mut parts)?;
            kept(all)
        }
        Act::CollectOnRoot => {
            process.gather_into(&list.len())?;
            process.gather_varcount_into(&list)?;
            return Ok(());
        }
        Act::Deal => {
            let (counts, mut len) = (step.parts(list.len(), size, rank), 0);
            if here {
                process.scatter_into_root(&counts, &mut len)?;
            } else {
                process.scatter_into(&mut len)?;
            }
            let mut mine = vec![0; len];
            if here {
                process.scatter_varcount_into_root(&Partition::new(&list, &counts[..], starts(&counts)), &mut mine)?;
            } else {
                process.scatter_varcount_into(&mut mine)?;
            }
            mine
        }
        Act::DealAll => {
            let sends = step.parts(list.len(), size, rank);
            let mut receives = vec![0; size];
            cube.all_to_all_into(&sends, &mut receives)?;
            let mut all = vec![0; receives.iter().sum()];
            let sent = Partition::new(&list, &sends[..], starts(&sends));
            let mut received = PartitionMut::new(&mut all, &receives[..], starts(&receives));
            cube.all_to_all_varcount_into(&sent, &mut received)?;
            kept(all)
        }
        Act::Sums => {
            let mut sums = padded(&list, longest(cube, &list)?);
            let sum = Commutative(|a: &u64, b: &u64| a.wrapping_add(*b));
            cube.all_reduce_in_place(&mut sums, sum)?;
            sums
        }
        Act::PartsOfSums => {
            let longest = longest(cube, &list)?;
            let counts = step.parts(longest, size, 0);
            let mut mine = vec![0; counts[rank]];
            cube.reduce_scatter_into(&padded(&list, longest), &mut mine, &counts, SystemOperation::sum())?;
            mine
        }
        Act::Prefixes => {
            let mut values = padded(&list, longest(cube, &list)?);
            cube.scan_in_place(&mut values, after)?;
            values
        }
        Act::PrefixesBelow => {
            let values = padded(&list, longest(cube, &list)?);
            let mut below = vec![3; values.len()];
            cube.exclusive_scan_into(&values, &mut below, after)?;
            below
        }
        Act::Rotate => {
            let mut values = padded(&list, longest(cube, &list)?);
            cube.permute_in_place(&step.permutation, &mut values)?;
            values
        }
        Act::Swap => {
            let longest = longest(cube, &list)?;
            let mut other = vec![0; longest];
            let padded = padded(&list, longest);
            cube.exchange(root, peer).run(longest, Some(&padded), Some(&mut other))?;
            if !here && rank != peer {
                return Ok(());
            }
            other
        }
        Act::Columns => {
            let mut rows = list.len() / size;
            process.broadcast_into(&mut rows)?;
            let mut column = vec![0; rows];
            if here {
                process.scatter_into_root(&Strided::columns(&list[..rows * size], size)?, &mut column)?;
            } else {
                process.scatter_into(&mut column)?;
            }
            column
        }
        Act::Again => {
            let mut values = padded(&list, longest(cube, &list)?);
            let mut sums = vec![0; values.len()];
            request::scope(|scope| {
                let mut call = cube.all_reduce_init(scope, &mut values, &mut sums, SystemOperation::sum())?;
                for _ in 0..3 {
                    call.start()?;
                    while own.once_in(2) && !call.test()? {}
                    call.wait()?;
                    let (values, sums) = call.buffers()?;
                    let both = values.iter_mut().zip(&*sums).enumerate();
                    both.for_each(|(at, (own, sum))| *own ^= sum.wrapping_mul(at as u64 + 1));
                }
                Ok(())
            })?;
            values
        }
        Act::AtOnce => {
            let counts = lengths(cube, &list)?;
            let values = padded(&list, counts.iter().copied().max().unwrap_or(0));
            let [mut highest, mut prefixes] = [0, 0].map(|zero| vec![zero; values.len()]);
            let mut all = vec![0; counts.iter().sum()];
            let mut parts = PartitionMut::new(&mut all, &counts[..], starts(&counts));
            request::scope(|scope| {
                let collecting = cube.immediate_all_gather_varcount_into(scope, &list, &mut parts)?;
                let max = SystemOperation::max();
                let mut reducing = vec![cube.immediate_all_reduce_into(scope, &values, &mut highest, max)?];
                reducing.push(cube.immediate_scan_into(scope, &values, &mut prefixes, after)?);
                if own.once_in(2) {
                    reducing.swap(0, 1);
                }
                if own.once_in(3) {
                    drop(collecting);
                    return request::wait_all(reducing);
                }
                while let Some((_, outcome)) = request::wait_any(&mut reducing) {
                    outcome?;
                }
                collecting.wait()
            })?;
            lists[third] = highest;
            lists[fourth] = prefixes;
            kept(all)
        }
        Act::InPlace => {
            let counts = lengths(cube, &list)?;
            let start = starts(&counts)[rank];
            let mut all = vec![0; counts.iter().sum()];
            all[start..start + list.len()].copy_from_slice(&list);
            cube.all_gather_varcount_in_place(&mut PartitionMut::new(&mut all, &counts[..], starts(&counts)))?;
            kept(all)
        }
    };
    Ok(())
}

/// Runs a program on a rank beside the model of all.
fn program(cube: &Hypercube, seed: u64) {
    let (rank, size) = (cube.rank(), cube.size());
    let mut random = Random(mix(seed));
    let mut own = Random(seed ^ mix(rank as u64 + 1));
    let begins =
        |rank: usize| [0, 1, 2, 3].map(|list| padded(&[mix(seed ^ (rank * LISTS + list) as u64)], rank * list));
    let mut all: Vec<Lists> = (0..size).map(begins).collect();
    let mut lists = all[rank].clone();
    for at in 0..STEPS {
        let step = Step::draw(&mut random, size);
        let told = || format!("HYPERCOLL_RANDOM_SEED={seed}, rank {rank} of {size}, step {at}: {step:?}");
        act(cube, &step, &mut lists, &mut own).unwrap_or_else(|error| panic!("{}: {error}", told()));
        model(&step, &mut all);
        assert!(lists == all[rank], "{}", told());
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}: '{value}' is no number")))
}

fn programs(cube: &Hypercube) {
    let first = variable("HYPERCOLL_RANDOM_SEED").unwrap_or(1000 * cube.size() as u64);
    let number = variable("HYPERCOLL_RANDOM_PROGRAMS").unwrap_or(PROGRAMS as u64);
    (first..first + number).for_each(|seed| program(cube, seed));
}

#[test]
fn on_threads() {
    for size in [1, 2, 3, 4, 6, 7, 8, 13, 16] {
        watch::on(size, programs);
    }
}

fn on_mpi(test: &str, ranks: usize, shared_memory: &str) {
    let variables = [("HYPERCOLL_SHARED_MEMORY", shared_memory)];
    ranks::on_ranks(test, ranks, &variables, |world| programs(&Hypercube::new(world).expect("a hypercube")));
}

#[test]
fn on_6_ranks_in_shared_memory() {
    on_mpi("on_6_ranks_in_shared_memory", 6, "single-copy");
}

#[test]
fn on_7_ranks_over_mpi() {
    on_mpi("on_7_ranks_over_mpi", 7, "off");
}
