//! `hypercoll verify`: runs all algorithms for real and compares their results with what they should be.

use crate::run::run as run_call;
use crate::Failure;
use hypercoll::address::{Hosts, Torus};
use hypercoll::algorithm::{registry, Algorithm, Latency, OnTorus, Parameters, PortModel};
use hypercoll::collective::{Buffer, Call, Collective, Permutation};
use hypercoll::operation::Commutative;
use hypercoll::select::Options;
use hypercoll::topology::sbnt::Variant;
#[cfg(feature = "mpi")]
use hypercoll::Error;
use hypercoll::{threads, Hypercube, Result, SystemOperation};
use std::io::Write;

/// Arguments of `hypercoll verify`.
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// Only this collective
    collective: Option<Collective>,
    /// Only this algorithm
    #[arg(requires = "collective")]
    algorithm: Option<String>,
    /// All algorithms (the default without a collective)
    #[arg(long, conflicts_with = "collective")]
    all: bool,
    /// Ranks as threads of this process instead of under mpirun
    #[arg(long)]
    threads: Option<usize>,
    /// Sends that wait for their receive: nothing may lean on MPI's buffers
    #[arg(long)]
    synchronous: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was tried and what failed on one rank.
#[derive(Default)]
struct Tally {
    calls: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Compares what a call has brought with what it should have.
    fn judge(
        &mut self,
        cube: &Hypercube,
        algorithm: &Algorithm,
        what: &str,
        outcome: Result<()>,
        got: &[u64],
        expected: &[u64],
    ) {
        self.calls += 1;
        let mut elements = got.iter().zip(expected).enumerate();
        let wrong = match outcome {
            Err(error) => error.to_string(),
            Ok(()) => match elements.find(|(_, (got, expected))| got != expected) {
                Some((at, (got, expected))) => format!("element {at} is {got:#x}, not {expected:#x}"),
                None => return,
            },
        };
        self.failures.push(format!("rank {} of {}: {algorithm:?} {what}: {wrong}", cube.rank(), cube.size()));
    }
}

pub fn run(args: &VerifyArgs, out: &mut dyn Write) -> std::result::Result<(), Failure> {
    if let (Some(collective), Some(name)) = (args.collective, &args.algorithm) {
        registry::find(collective, name).map_err(|e| e.to_string())?;
    }
    match args.threads {
        Some(0) => Err(Failure::Usage("threads: at least 1 rank is needed".into())),
        Some(ranks) => report(args, &threads::run(ranks, |cube| verify(args, cube)), out),
        None => under_mpi(args, out),
    }
}

/// Prints what all ranks found.
fn report(args: &VerifyArgs, tallies: &[Tally], out: &mut dyn Write) -> std::result::Result<(), Failure> {
    let ranks = tallies.len();
    let calls: u64 = tallies.iter().map(|t| t.calls).sum();
    let failures: Vec<&String> = tallies.iter().flat_map(|t| &t.failures).collect();
    if args.json {
        let value = serde_json::json!({
            "ok": failures.is_empty(), "ranks": ranks, "calls": calls, "failures": failures,
        });
        writeln!(out, "{value}")?;
    } else {
        for failure in failures.iter().take(20) {
            writeln!(out, "WRONG: {failure}")?;
        }
        let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
        writeln!(out, "verify: {ranks} ranks, {calls} calls, {} wrong: {verdict}", failures.len())?;
    }
    match failures.len() {
        0 => Ok(()),
        n => Err(Failure::Found(format!("{n} results are wrong"))),
    }
}

/// Collects what all ranks found, and reports it on rank 0 before MPI ends: a rank that ends with an error may take the
/// others' last words with it.
#[cfg(feature = "mpi")]
fn under_mpi(args: &VerifyArgs, out: &mut dyn Write) -> std::result::Result<(), Failure> {
    use mpi::traits::*;
    let universe = mpi::initialize().ok_or_else(|| "MPI is initialised already".to_string())?;
    let world = universe.world();
    crate::launch::check(&world)?;
    let cube = Hypercube::new(&world).map_err(|e| e.to_string())?;
    cube.synchronous_sends(args.synchronous);
    let mut tally = verify(args, &cube);
    if args.collective.is_none() {
        mismatch(args, &world, &mut tally);
    }
    // What the ranks found is collected by native MPI: the library is what is being verified.
    let own = [tally.calls, tally.failures.len() as u64];
    let mut all = vec![0u64; if cube.rank() == 0 { 2 * cube.size() } else { 0 }];
    let root = world.process_at_rank(0);
    if cube.rank() > 0 {
        root.gather_into(&own[..]);
        tally.failures.iter().take(3).for_each(|failure| eprintln!("WRONG: {failure}"));
        world.barrier();
        return if tally.failures.is_empty() { Ok(()) } else { Err(Failure::Found(String::new())) };
    }
    root.gather_into_root(&own[..], &mut all[..]);
    let mut tallies = vec![tally];
    for (rank, counts) in all.chunks(2).enumerate().skip(1) {
        let failures = vec![format!("rank {rank}: see its own messages"); counts[1] as usize];
        tallies.push(Tally { calls: counts[0], failures });
    }
    let outcome = report(args, &tallies, out);
    let flushed = out.flush();
    world.barrier();
    outcome.and(flushed.map_err(Failure::from))
}

/// If ranks pass different counts, all of them get an error; each time on a communicator of its own, as it is broken afterwards.
#[cfg(feature = "mpi")]
fn mismatch(args: &VerifyArgs, world: &impl mpi::traits::Communicator, tally: &mut Tally) {
    if world.size() == 1 {
        return;
    }
    for (on_root, elsewhere) in [
        (20, 10),
        (10, 20),
        (1000, 10),
        (10, 1000),
        (100_000, 10),
        (10, 100_000),
        (100_000, 200_000),
        (200_000, 100_000),
    ] {
        let outcome = Hypercube::new(world).map(|cube| {
            cube.synchronous_sends(args.synchronous);
            let mut data = vec![UNTOUCHED; if cube.rank() == 0 { on_root } else { elsewhere }];
            // Whoever need not wait in the first call is told in the next one.
            cube.broadcast(0).algorithm("sbt").run(&mut data).and_then(|()| cube.barrier())
        });
        tally.calls += 1;
        let right = match &outcome {
            Ok(outcome) => matches!(outcome, Err(Error::Mismatch { .. })),
            Err(_) => false,
        };
        if !right {
            tally.failures.push(format!("counts {on_root} on the root and {elsewhere} elsewhere: {outcome:?}"));
        }
    }
}

#[cfg(not(feature = "mpi"))]
fn under_mpi(_: &VerifyArgs, _: &mut dyn Write) -> std::result::Result<(), Failure> {
    Err(Failure::Usage("this hypercoll was built without MPI; use --threads RANKS".into()))
}

fn verify(args: &VerifyArgs, cube: &Hypercube) -> Tally {
    let mut tally = Tally::default();
    for algorithm in registry::ALGORITHMS {
        let wanted = args.collective.is_none_or(|c| c == algorithm.collective)
            && args.algorithm.as_ref().is_none_or(|name| name.replace('-', "_") == algorithm.name);
        if wanted {
            for parameters in variants(algorithm, cube.hosts().map_or(cube.size(), Hosts::len)) {
                // 20,000 elements of 8 bytes pass the eager limits of shared memory and TCP.
                for count in [0, 1, 13, 1000, 20_000] {
                    // Thousands of packets show nothing that a few do not.
                    let most = if algorithm.cuts(parameters.ports) { 13 } else { 1000 };
                    if count > most && parameters.packet.is_some_and(|p| p < 100) {
                        continue;
                    }
                    run_calls(cube, algorithm, &parameters, count, &mut tally);
                }
            }
        }
    }
    tally
}

/// What is asked of an algorithm on so many hosts.
fn variants(algorithm: &Algorithm, hosts: usize) -> Vec<Parameters> {
    let mut variants = Vec::new();
    for ports in PortModel::ALL {
        for symmetrized in [false, true] {
            for packet in [None, Some(7), Some(1000)] {
                variants.push(Parameters { packet, symmetrized, ..Parameters::new(ports) });
            }
        }
    }
    // Each order and each tree once; the checker tries them with everything else.
    for ports in PortModel::ALL {
        let plain = Parameters { symmetrized: false, ..Parameters::new(ports) };
        variants.extend(algorithm.orders.iter().map(|&order| Parameters { order: Some(order), ..plain }));
        let trees = Variant::ALL.into_iter().filter(|&v| algorithm.variants && v != Variant::default());
        variants.extend(trees.map(|variant| Parameters { variant, ..plain }));
    }
    // A square grid takes four ranks, a send that is not to the opposite corner as well.
    let mut calls = [2, 4].map(|size| Call::new(algorithm.collective, size, 1)).to_vec();
    if algorithm.collective.has_peer() {
        calls.push(Call { peer: 1, ..Call::new(algorithm.collective, 4, 1) });
    }
    variants.retain(|p| calls.iter().any(|call| algorithm.accepts(call, p).is_ok()));
    // Where trees are made for a latency: for a ring of all hosts.
    if let Some(torus) = Torus::new(&[hosts]).filter(|_| algorithm.way.is_some()) {
        let latency = Latency { far: 2, near: 1, torus: Some(OnTorus { torus, link: 1 }) };
        variants.push(Parameters { latency, ..Parameters::new(PortModel::OnePort) });
    }
    variants
}

/// The value at position `at` of what `rank` sends.
fn value(rank: usize, at: usize) -> u64 {
    (rank as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (at as u64).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

fn sent(rank: usize, len: usize) -> Vec<u64> {
    (0..len).map(|at| value(rank, at)).collect()
}

/// An operation that does not commute: composition of the maps x -> a x + b (modulo 2^32), packed in 64 bits.
fn compose(left: &u64, right: &u64) -> u64 {
    let (a, b) = ((left >> 32) as u32, *left as u32);
    let (c, d) = ((right >> 32) as u32, *right as u32);
    (c.wrapping_mul(a) as u64) << 32 | c.wrapping_mul(b).wrapping_add(d) as u64
}

const UNTOUCHED: u64 = 0xDEAD_BEEF_DEAD_BEEF;

/// Runs an algorithm with all roots (few on many ranks) and forms, and compares.
fn run_calls(cube: &Hypercube, algorithm: &Algorithm, parameters: &Parameters, count: usize, tally: &mut Tally) {
    if algorithm.collective.multiplies() {
        return multiply(cube, algorithm, parameters, count, tally);
    }
    let rank = cube.rank();
    let options = &Options::exactly(algorithm, parameters);
    let mut judge = |what: &str, call: &Call, outcome: Result<()>, got: &[u64], combine: Combine| {
        let what = format!("{what} {call:?} {parameters:?}");
        tally.judge(cube, algorithm, &what, outcome, got, &expected(call, rank, combine));
    };
    // Some algorithms serve some numbers of ranks, distances or permutations only, and trees for a torus as many hosts.
    let hosts = cube.hosts().filter(|_| parameters.latency.torus.is_some());
    let serves = |call: &Call| algorithm.accepts(&Call { hosts: hosts.cloned(), ..call.clone() }, parameters).is_ok();
    for call in &calls(algorithm.collective, cube.size(), count) {
        if !serves(call) {
            continue;
        }
        let send = &sent(rank, call.send_len(rank));
        let mut receive = before(call, rank);
        // Operations by their names, by closures, and by closures that do not commute.
        let outcome = if call.collective == Collective::ReduceScatter {
            run_call(cube, call, options, send, &mut receive, Commutative(add))
        } else {
            run_call(cube, call, options, send, &mut receive, SystemOperation::Sum)
        };
        judge("", call, outcome, &receive, add);
        if call.collective.reduces() && algorithm.ordered && !parameters.symmetrized {
            let mut receive = before(call, rank);
            let outcome = run_call(cube, call, options, send, &mut receive, compose);
            judge("ordered", call, outcome, &receive, compose);
        }
        // (The library has no call for a reduction to one rank in place.)
        if call.collective.has_in_place() && !call.collective.has_root() {
            let call = &Call { in_place: true, ..call.clone() };
            let mut receive = before(call, rank);
            let outcome = run_call(cube, call, options, &[], &mut receive, SystemOperation::Max);
            judge("in place", call, outcome, &receive, |a, b| *a.max(b));
        }
    }
}

/// The calls that are tried: all roots or few, each with two peers; a reversal, two shifts of it, and an exchange of neighbours.
fn calls(collective: Collective, size: usize, count: usize) -> Vec<Call> {
    let usual = Call::new(collective, size, count);
    let mut roots: Vec<usize> =
        if size <= 4 || count == 13 { (0..size).collect() } else { vec![0, size / 2, size - 1] };
    roots.dedup();
    if collective.has_peer() {
        let peers = |root: usize| [size - 1 - root, (root + 1) % size].map(|peer| (root, peer));
        return roots.into_iter().flat_map(peers).map(|(root, peer)| Call { root, peer, ..usual.clone() }).collect();
    }
    if collective.has_root() {
        return roots.into_iter().map(|root| usual.clone().with_root(root)).collect();
    }
    if collective.meaning().permutation == Some(Permutation::Any) {
        let shifts = [0, 1, size / 2 + 1].map(|shift| (0..size).map(|i| (size - 1 - i + shift) % size).collect());
        // An exchange of neighbours, but for the last of an odd number.
        let neighbours: Vec<usize> = (0..size).map(|i| if i ^ 1 < size { i ^ 1 } else { i }).collect();
        let permutations = shifts.into_iter().chain([neighbours]);
        return permutations.map(|p| Call { permutation: Some(p.into()), ..usual.clone() }).collect();
    }
    let count = if collective.has_data() { count } else { 0 };
    vec![Call { count, ..usual }]
}

/// The receive buffer before a call: what is sent from there, and what no result contains.
fn before(call: &Call, rank: usize) -> Vec<u64> {
    let mut receive = vec![UNTOUCHED; call.receive_len(rank)];
    for held in call.initial(rank).into_iter().filter(|held| held.buffer == Buffer::Receive) {
        receive[held.offset..][..held.space.len()].copy_from_slice(&sent(rank, held.space.len()));
    }
    receive
}

type Combine = fn(&u64, &u64) -> u64;

fn add(a: &u64, b: &u64) -> u64 {
    a.wrapping_add(*b)
}

/// What the receive buffer must hold after a call: what ranks have sent, of reductions combined in rank order.
fn expected(call: &Call, rank: usize, combine: Combine) -> Vec<u64> {
    // Where data lies before, in place or not, it is the same.
    let apart = Call { in_place: false, ..call.clone() };
    let mut expected: Vec<Option<u64>> = vec![None; call.receive_len(rank)];
    for origin in apart.origins(rank) {
        for (element, at) in expected[origin.target].iter_mut().zip(origin.offset..) {
            let value = value(origin.rank, at);
            *element = Some(element.map_or(value, |left| combine(&left, &value)));
        }
    }
    // What nobody contributes to stays as it is.
    expected.into_iter().zip(before(call, rank)).map(|(element, before)| element.unwrap_or(before)).collect()
}

/// A product; what is expected is computed one by one, so large ones are left out.
fn multiply(cube: &Hypercube, algorithm: &Algorithm, parameters: &Parameters, count: usize, tally: &mut Tally) {
    // Only 2^n ranks multiply.
    if !cube.size().is_power_of_two()
        || count > 1000
        || algorithm.accepts(&Call::new(algorithm.collective, cube.size(), count), parameters).is_err()
    {
        return;
    }
    let side = count.min(96);
    let inner = side + count % 5;
    let product = cube.matrix_multiply(side, inner, side).options(&Options::exactly(algorithm, parameters));
    let factor = |which: usize, (i, j): (usize, usize)| value(which, 1000 * i + j);
    let (a, b, c) = (product.a().indices(), product.b().indices(), product.c());
    let (a, b): (Vec<_>, Vec<_>) = (a.map(|at| factor(0, at)).collect(), b.map(|at| factor(1, at)).collect());
    let mut receive = vec![UNTOUCHED; c.len()];
    let outcome = product.run(&a, &b, &mut receive);
    let terms = |(i, j)| (0..inner).map(move |k| factor(0, (i, k)).wrapping_mul(factor(1, (k, j))));
    let expected: Vec<u64> = c.indices().map(|at| terms(at).fold(0, u64::wrapping_add)).collect();
    tally.judge(cube, algorithm, &format!("count {count} {parameters:?}"), outcome, &receive, &expected);
}
