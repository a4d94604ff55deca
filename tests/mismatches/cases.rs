//! The cases: what one rank calls, and what the others call.

use crate::case::{case, Case, Kind};
use crate::rank::Rank;
use hypercoll::algorithm::{Order, PortModel};
use hypercoll::collective::{Call, Collective, Layout};
use hypercoll::histogram::Bins;
use hypercoll::matrix::Storage;
use hypercoll::topology::sbnt::Variant;
use hypercoll::{request, Commutative, Partition, PartitionMut, Result, SystemOperation};
use std::time::Duration;

const SUM: SystemOperation = SystemOperation::Sum;
/// Elements of 8 bytes.
const MIB: usize = 1 << 17;

fn add(a: &f64, b: &f64) -> f64 {
    a + b
}

pub fn all() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(collectives());
    all.extend(arguments());
    all.extend(options());
    all.extend(lengths());
    all.extend(sequences());
    all.extend(refusals());
    all.extend(requests());
    all.extend(long());
    all
}

#[rustfmt::skip]
fn collectives() -> Vec<Case> {
    vec![
        case("all-to-all, all-gather of the same lengths",
            |r| r.all_to_all(3),
            |r| r.all_gather(3, |c| c)),
        case("barrier, broadcast",
            |r| r.cube.barrier(),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("broadcast, barrier",
            |r| r.broadcast::<f64>(0, 5, |c| c),
            |r| r.cube.barrier()),
        case("reduce, all-reduce",
            |r| r.reduce(0, 5, SUM),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)),
        case("gather, scatter",
            |r| r.gather(0, 5),
            |r| r.scatter(0, 5, |c| c)),
        case("reduce, broadcast",
            |r| r.reduce(0, 5, SUM),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("send, exchange",
            |r| r.send(0, 1, 5),
            |r| r.exchange(0, 1, 5)),
    ]
}

#[rustfmt::skip]
fn arguments() -> Vec<Case> {
    vec![
        case("root of a broadcast",
            |r| r.broadcast::<f64>(1, 5, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("each its own root",
            |r| r.broadcast::<f64>(r.rank(), 5, |c| c),
            |r| r.broadcast::<f64>(r.rank(), 5, |c| c)).kind(Kind::Disagree),
        case("root of a scatter",
            |r| r.scatter(1, 5, |c| c),
            |r| r.scatter(0, 5, |c| c)),
        case("root of a reduce",
            |r| r.reduce(0, 5, SUM),
            |r| r.reduce(1, 5, SUM)),
        case("sender",
            |r| r.send(1, 0, 5),
            |r| r.send(0, 1, 5)),
        case("receiver",
            |r| r.send(0, 1, 5),
            |r| r.send(0, 2, 5)).from(3),
        case("peer of an exchange",
            |r| r.exchange(0, 1, 5),
            |r| r.exchange(0, 2, 5)).from(3),
        case("one element more",
            |r| r.broadcast::<f64>(0, 6, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("one element less",
            |r| r.all_reduce::<f64, _>(4, SUM, |c| c),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)),
        case("one block more",
            |r| r.all_to_all(4),
            |r| r.all_to_all(3)),
        case("the root sends nothing",
            |r| r.broadcast::<f64>(0, 0, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)).first(),
        case("nobody wants what the root sends",
            |r| r.broadcast::<f64>(0, 5, |c| c),
            |r| r.broadcast::<f64>(0, 0, |c| c)).first(),
        case("one wants nothing",
            |r| r.broadcast::<f64>(0, 0, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)).last(),
        case("one sends nothing",
            |r| r.gather(0, 0),
            |r| r.gather(0, 5)).last(),
        // These two once met in one receive, beyond which MPI wrote.
        case("the root's is longer",
            |r| r.broadcast::<f64>(0, 7728, |c| c.algorithm("sbt").packet(7728)),
            |r| r.broadcast::<f64>(0, 1932, |c| c.algorithm("sbt").packet(7728))).first(),
        case("the root's is shorter",
            |r| r.broadcast::<f64>(0, 1932, |c| c.algorithm("sbt").packet(7728)),
            |r| r.broadcast::<f64>(0, 7728, |c| c.algorithm("sbt").packet(7728))).first(),
        // Messages change their way at some lengths.
        case("just short, just long",
            |r| r.broadcast::<f64>(0, 256, |c| c.algorithm("sbt")),
            |r| r.broadcast::<f64>(0, 257, |c| c.algorithm("sbt"))),
        case("just long, just short",
            |r| r.broadcast::<f64>(0, 257, |c| c.algorithm("sbt")),
            |r| r.broadcast::<f64>(0, 256, |c| c.algorithm("sbt"))),
        case("short and long",
            |r| r.broadcast::<f64>(0, 1, |c| c.algorithm("sbt")),
            |r| r.broadcast::<f64>(0, 5000, |c| c.algorithm("sbt"))),
        case("element size",
            |r| r.broadcast::<f32>(0, 5, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("element size, in as many bytes",
            |r| r.broadcast::<f32>(0, 10, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("element type",
            |r| r.all_reduce::<u64, _>(5, SUM, |c| c),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)),
        case("signed, unsigned",
            |r| r.broadcast::<i64>(0, 5, |c| c),
            |r| r.broadcast::<u64>(0, 5, |c| c)),
        case("compound element types",
            |r| r.broadcast::<[u8; 8]>(0, 5, |c| c),
            |r| r.broadcast::<[f32; 2]>(0, 5, |c| c)),
        case("operation",
            |r| r.all_reduce::<f64, _>(1, SystemOperation::max(), |c| c),
            |r| r.all_reduce::<f64, _>(1, SUM, |c| c)),
        case("operation of a reduce",
            |r| r.reduce(0, 5, SystemOperation::product()),
            |r| r.reduce(0, 5, SUM)),
        case("closure",
            |r| r.all_reduce::<f64, _>(5, Commutative(add), |c| c.algorithm("sbt")),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c.algorithm("sbt"))),
        case("whether a closure commutes",
            |r| r.all_reduce::<f64, _>(5, add, |c| c.algorithm("sbt")),
            |r| r.all_reduce::<f64, _>(5, Commutative(add), |c| c.algorithm("sbt"))),
        case("all-gather in place",
            |r| { let (cube, _, blocks) = r.lend::<f64>(0, 4 * r.size()); cube.all_gather_in_place(blocks) },
            |r| r.all_gather(4, |c| c)),
        case("all-reduce in place",
            |r| { let (cube, _, sums) = r.lend::<f64>(0, 4); cube.all_reduce_in_place(sums, SUM) },
            |r| r.all_reduce::<f64, _>(4, SUM, |c| c)),
        case("all-to-all in place",
            |r| { let (cube, _, blocks) = r.lend::<f64>(0, 4 * r.size()); cube.all_to_all_in_place(blocks) },
            |r| r.all_to_all(4)),
        case("neighbours' all-to-all in place",
            |r| { let (cube, _, blocks) = r.lend::<f64>(0, 4 * r.cube.dimension() as usize); cube.neighbor_all_to_all_in_place(blocks) },
            |r| {
                let len = 4 * r.cube.dimension() as usize;
                let (cube, send, receive) = r.lend::<f64>(len, len);
                cube.neighbor_all_to_all_into(&*send, receive)
            }),
        case("permutation in place",
            |r| {
                let shift: Vec<usize> = (0..r.size()).map(|rank| (rank + 1) % r.size()).collect();
                let (cube, _, values) = r.lend::<f64>(0, 4);
                cube.permute_in_place(&shift, values)
            },
            |r| { let shift: Vec<usize> = (0..r.size()).map(|rank| (rank + 1) % r.size()).collect(); r.permute(&shift, 4, |c| c) }),
        case("reduce-scatter in place",
            |r| { let (cube, _, values) = r.lend::<f64>(0, 4 * r.size()); cube.reduce_scatter_block_in_place(values, SUM) },
            |r| { let (cube, send, block) = r.lend::<f64>(4 * r.size(), 4); cube.reduce_scatter_block_into(&*send, block, SUM) }),
        case("all-to-all of given lengths in place",
            |r| {
                let size = r.size();
                let (cube, _, blocks) = r.lend::<f64>(0, 4 * size);
                let displs: Vec<usize> = (0..size).map(|rank| 4 * rank).collect();
                cube.all_to_all_varcount_in_place(&mut PartitionMut::new(blocks, vec![4; size], displs))
            },
            |r| {
                let size = r.size();
                let (cube, send, receive) = r.lend::<f64>(4 * size, 4 * size);
                let (counts, displs) = (vec![4; size], (0..size).map(|rank| 4 * rank).collect::<Vec<usize>>());
                let sent = Partition::new(&*send, counts.clone(), displs.clone());
                cube.all_to_all_varcount_into(&sent, &mut PartitionMut::new(receive, counts, displs))
            }),
    ]
}

#[rustfmt::skip]
fn options() -> Vec<Case> {
    vec![
        case("algorithm",
            |r| r.broadcast::<f64>(0, 50, |c| c.algorithm("hamiltonian_path")),
            |r| r.broadcast::<f64>(0, 50, |c| c.algorithm("sbt"))),
        case("algorithm left open",
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c.algorithm("sbt"))),
        case("packet",
            |r| r.broadcast::<f64>(0, 64, |c| c.algorithm("sbt").packet(8)),
            |r| r.broadcast::<f64>(0, 64, |c| c.algorithm("sbt").packet(64))),
        case("packet left open",
            |r| r.broadcast::<f64>(0, 64, |c| c.algorithm("sbt").packet(8)),
            |r| r.broadcast::<f64>(0, 64, |c| c.algorithm("sbt"))),
        case("ports",
            |r| r.broadcast::<f64>(0, 64, |c| c.algorithm("sbt").ports(PortModel::AllPorts)),
            |r| r.broadcast::<f64>(0, 64, |c| c.algorithm("sbt").ports(PortModel::OnePort))),
        case("order",
            |r| r.scatter(0, 5, |c| c.algorithm("sbt").order(Order::GrayCode)),
            |r| r.scatter(0, 5, |c| c.algorithm("sbt").order(Order::Subtrees))),
        case("variant",
            |r| r.scatter(0, 5, |c| c.algorithm("sbnt").variant(Variant::MaxLeft)),
            |r| r.scatter(0, 5, |c| c.algorithm("sbnt").variant(Variant::MinRight))),
        case("symmetrized",
            |r| r.all_gather(5, |c| c.algorithm("complete_broadcast").ports(PortModel::AllPorts).symmetrized(true)),
            |r| r.all_gather(5, |c| c.algorithm("complete_broadcast").ports(PortModel::AllPorts).symmetrized(false))),
        case("permutation",
            |r| r.permute(&(0..r.size()).rev().collect::<Vec<_>>(), 5, |c| c),
            |r| r.permute(&(0..r.size()).collect::<Vec<_>>(), 5, |c| c)),
        case("avoided links",
            |r| r.cube.avoid_links(&[(0, 1)]).and_then(|()| r.broadcast::<f64>(0, 5, |c| c)),
            |r| r.broadcast::<f64>(0, 5, |c| c)).from(4),
        case("edges of a histogram's bins",
            |r| histogram(r, 2.0, 2),
            |r| histogram(r, 1.0, 2)),
        case("number of bins that span all values",
            |r| Bins::spanning(r.cube, &[1.0, 2.0], 9).map(|_| ()),
            |r| Bins::spanning(r.cube, &[1.0, 2.0], 8).map(|_| ())),
        case("no bins that span all values",
            |r| Bins::spanning(r.cube, &[1.0, 2.0], 0).map(|_| ()),
            |r| Bins::spanning(r.cube, &[1.0, 2.0], 8).map(|_| ())),
        // On 2, 4, 8 and 16 ranks their messages are equally long.
        case("storage of a matrix to be transposed",
            |r| transpose(r, true),
            |r| transpose(r, false)),
        case("layout",
            |r| { let lengths: Vec<usize> = (0..r.size()).collect(); given(r, Layout::of_vectors(lengths)) },
            |r| { let lengths: Vec<usize> = (0..r.size()).rev().collect(); given(r, Layout::of_vectors(lengths)) }),
    ]
}

/// A histogram of two values with so many weights.
#[track_caller]
fn histogram(rank: &mut Rank, high: f64, weights: usize) -> Result<()> {
    let (bins, weights) = (Bins::uniform(0.0, high, 8)?, vec![1.0; weights]);
    rank.cube.histogram(&[0.5, 0.7], &bins).weighted(&weights).everywhere().map(|_| ())
}

/// A transpose of 16 rows and columns.
#[track_caller]
fn transpose(rank: &mut Rank, cyclic: bool) -> Result<()> {
    let transpose = rank.cube.transpose(16, 16, Storage::Rows { cyclic, gray: false })?;
    let (cube, matrix, transposed) = rank.lend::<f64>(transpose.input().len(), transpose.output().len());
    cube.transpose(16, 16, Storage::Rows { cyclic, gray: false })?.run(&*matrix, transposed)
}

/// Two ranks that differ in the length of a block, which no other rank knows.
#[rustfmt::skip]
fn lengths() -> Vec<Case> {
    vec![
        case("a short block longer than its receive",
            |r| gathered(r, 3, 2), |r| gathered(r, 2, 2)).last().kind(Kind::Lengths),
        case("a short block shorter than its receive",
            |r| gathered(r, 1, 2), |r| gathered(r, 2, 2)).last().kind(Kind::Lengths),
        case("a long block longer than its receive",
            |r| gathered(r, 40_000, 30_000), |r| gathered(r, 30_000, 30_000)).last().kind(Kind::Lengths),
        case("a long block shorter than its receive",
            |r| gathered(r, 30_000, 40_000), |r| gathered(r, 40_000, 40_000)).last().kind(Kind::Lengths),
        case("a short block for a long receive",
            |r| gathered(r, 10, 40_000), |r| gathered(r, 40_000, 40_000)).last().kind(Kind::Lengths),
        case("a block that nobody sends",
            |r| gathered(r, 0, 10), |r| gathered(r, 10, 10)).last().kind(Kind::Unsent),
        case("a block of a packet more",
            |r| gathered_cut(r, 1200, 800, Some(400)), |r| gathered_cut(r, 800, 800, Some(400))).last().kind(Kind::Lengths),
        case("a block of which the last packet is longer",
            |r| gathered_cut(r, 1100, 900, Some(400)), |r| gathered_cut(r, 900, 900, Some(400))).last().kind(Kind::Lengths),
        case("an all-to-all that is no square",
            |r| exchanged(r, 5, 5, None), |r| exchanged(r, 4, 4, None)).kind(Kind::Lengths),
        case("one in packets, of which the last is longer",
            |r| exchanged(r, 1100, 1100, Some(400)), |r| exchanged(r, 900, 900, Some(400))).kind(Kind::Lengths),
        case("one in which one block has a packet more",
            |r| exchanged(r, 1200, 800, Some(400)), |r| exchanged(r, 800, 800, Some(400))).kind(Kind::Lengths),
        case("one in which one block has a packet less",
            |r| exchanged(r, 400, 800, Some(400)), |r| exchanged(r, 800, 800, Some(400))).kind(Kind::Lengths),
        case("one in which one block has a shorter packet",
            |r| exchanged(r, 850, 900, Some(400)), |r| exchanged(r, 900, 900, Some(400))).kind(Kind::Lengths),
        case("one in which one block has a longer packet, which waits for its receive",
            |r| exchanged(r, 35_000, 25_000, Some(20_000)), |r| exchanged(r, 25_000, 25_000, Some(20_000)))
            .kind(Kind::Lengths),
    ]
}

/// A gather on rank 0 of `own` elements from this rank, where the root expects `all` of each.
#[track_caller]
fn gathered(rank: &mut Rank, own: usize, all: usize) -> Result<()> {
    gathered_cut(rank, own, all, None)
}

/// The same, maybe in packets.
#[track_caller]
fn gathered_cut(rank: &mut Rank, own: usize, all: usize, packet: Option<usize>) -> Result<()> {
    let (here, size) = (rank.rank(), rank.size());
    let (cube, send, receive) = rank.lend::<u32>(own, if here == 0 { all * size } else { 0 });
    let places: Vec<usize> = (0..size).map(|rank| rank * all).collect();
    let mut partition = PartitionMut::new(receive, vec![all; size], places);
    let gather = cube.gather(0);
    let gather = match packet {
        Some(packet) => gather.algorithm("direct").packet(packet),
        None => gather,
    };
    gather.run_varcount(&*send, (here == 0).then_some(&mut partition))
}

/// An all-to-all of blocks that this rank takes to be so long, but that to the next rank, maybe in packets.
#[track_caller]
fn exchanged(rank: &mut Rank, to_next: usize, length: usize, packet: Option<usize>) -> Result<()> {
    let (here, size) = (rank.rank(), rank.size());
    let longest = length.max(to_next);
    let (cube, send, receive) = rank.lend::<u32>(size * longest, size * longest);
    let places: Vec<usize> = (0..size).map(|rank| rank * longest).collect();
    let length_to = |to: usize| if to == (here + 1) % size { to_next } else { length };
    let sent = Partition::new(&*send, Vec::from_iter((0..size).map(length_to)), &places[..]);
    let mut received = PartitionMut::new(receive, vec![length; size], &places[..]);
    let call = cube.all_to_all();
    match packet {
        Some(packet) => call.packet(packet).run_varcount(&sent, &mut received),
        None => call.run_varcount(&sent, &mut received),
    }
}

/// An all-gather of vectors.
#[track_caller]
fn given(rank: &mut Rank, layout: Layout) -> Result<()> {
    let call = Call::new(Collective::AllGather, rank.size(), 0).with_layout(layout);
    let lengths = (call.send_len(rank.rank()), call.receive_len(rank.rank()));
    let (cube, send, receive) = rank.lend::<f64>(lengths.0, lengths.1);
    cube.collective(call).run(&*send, receive)
}

#[rustfmt::skip]
fn sequences() -> Vec<Case> {
    vec![
        case("after calls in which all agree",
            |r| r.agree().and_then(|()| r.all_gather(3, |c| c)),
            |r| r.agree().and_then(|()| r.all_to_all(3))),
        case("one call more before",
            |r| r.cube.barrier().and_then(|()| r.broadcast::<f64>(0, 5, |c| c)),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("the same call twice",
            |r| (0..2).try_for_each(|_| r.broadcast::<f64>(0, 5, |c| c)),
            |r| r.broadcast::<f64>(0, 5, |c| c)).kind(Kind::Disagree),
        case("a call skipped",
            |_| Ok(()),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)).kind(Kind::Disagree),
        case("leaves at once",
            |_| Ok(()),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)).kind(Kind::Leaves),
        case("leaves after a root that waits for nobody has called",
            |r| r.agree(),
            |r| r.agree().and_then(|()| r.broadcast::<f64>(0, 5, |c| c.algorithm("sbt"))).and_then(|()| r.cube.barrier())).kind(Kind::Leaves).last(),
        case("refused, and leaves",
            |r| r.broadcast::<f64>(r.size(), 5, |c| c),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)).kind(Kind::RefusedAndLeaves),
        case("refused while long messages are under way, and leaves",
            |r| r.broadcast::<f64>(r.size(), 4 * MIB, |c| c),
            |r| r.broadcast::<f64>(0, 4 * MIB, |c| c)).kind(Kind::RefusedAndLeaves).last(),
        case("leaves early",
            |r| r.agree(),
            |r| r.agree().and_then(|()| r.broadcast::<f64>(0, 5, |c| c))).kind(Kind::Leaves),
        case("panics while it combines",
            |r| r.all_reduce::<f64, _>(5, Commutative(|_: &f64, _: &f64| -> f64 { panic!("on purpose") }), |c| c.algorithm("recursive_doubling")),
            |r| r.all_reduce::<f64, _>(5, Commutative(add), |c| c.algorithm("recursive_doubling"))).kind(Kind::Panics).first(),
        case("panics with a request under way",
            |r| request::scope(|scope| {
                let (cube, send, receive) = r.lend::<f64>(5, 5);
                let _request = cube.immediate_all_reduce_into(scope, &*send, receive, SUM)?;
                panic!("on purpose")
            }),
            |r| {
                // Till then the request is under way.
                std::thread::sleep(Duration::from_millis(50));
                r.all_reduce::<f64, _>(5, SUM, |c| c).and_then(|()| r.all_reduce::<f64, _>(5, SUM, |c| c))
            }).kind(Kind::Panics),
    ]
}

#[rustfmt::skip]
fn refusals() -> Vec<Case> {
    let cases = vec![
        case("length refused",
            |r| { let (cube, send, all) = r.lend::<f64>(3, 3 * r.size() + 1); cube.all_gather_into(&*send, all) },
            |r| r.all_gather(3, |c| c)),
        case("root refused",
            |r| r.broadcast::<f64>(r.size(), 5, |c| c),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("weights of a histogram refused",
            |r| histogram(r, 1.0, 3),
            |r| histogram(r, 1.0, 2)),
        case("role refused",
            |r| { let (cube, send, own) = r.lend::<f64>(3 * r.size(), 3); cube.process_at_rank(0).scatter_into_root(&*send, own) },
            |r| r.scatter(0, 3, |c| c)).last(),
        case("operation refused",
            |r| r.all_reduce::<f64, _>(5, SystemOperation::bitwise_or(), |c| c),
            |r| r.all_reduce::<f64, _>(5, SUM, |c| c)),
        case("unknown algorithm",
            |r| r.broadcast::<f64>(0, 5, |c| c.algorithm("best")),
            |r| r.broadcast::<f64>(0, 5, |c| c.algorithm("sbt"))),
        case("packet refused",
            |r| r.broadcast::<f64>(0, 5, |c| c.packet(0)),
            |r| r.broadcast::<f64>(0, 5, |c| c)),
        case("permutation refused",
            |r| r.permute(&vec![0; r.size()], 5, |c| c),
            |r| r.permute(&(0..r.size()).rev().collect::<Vec<_>>(), 5, |c| c)),
        case("refused after calls in which all agree",
            |r| r.agree().and_then(|()| r.all_gather(3, |c| c.algorithm("sbt"))),
            |r| r.agree().and_then(|()| r.all_gather(3, |c| c))),
        case("refused while long messages are under way",
            |r| r.broadcast::<f64>(r.size(), 4 * MIB, |c| c),
            |r| r.broadcast::<f64>(0, 4 * MIB, |c| c)),
    ];
    cases.into_iter().map(|case| case.kind(Kind::Refused)).collect()
}

#[rustfmt::skip]
fn requests() -> Vec<Case> {
    vec![
        case("blocking, immediate",
            |r| r.broadcast::<f64>(0, 5, |c| c),
            |r| request::scope(|scope| {
                let (cube, send, receive) = r.lend::<f64>(5, 5);
                cube.immediate_all_reduce_into(scope, &*send, receive, SUM)?.wait()
            })),
        case("the order of immediate calls",
            |r| {
                let (mut data, own, mut all) = ([1.0; 5], [2.0; 3], vec![0.0; 3 * r.size()]);
                request::scope(|scope| {
                    let gather = r.cube.immediate_all_gather_into(scope, &own, &mut all)?;
                    let broadcast = r.cube.process_at_rank(0).immediate_broadcast_into(scope, &mut data)?;
                    gather.wait().and(broadcast.wait())
                })
            },
            |r| {
                let (mut data, own, mut all) = ([1.0; 5], [2.0; 3], vec![0.0; 3 * r.size()]);
                request::scope(|scope| {
                    let broadcast = r.cube.process_at_rank(0).immediate_broadcast_into(scope, &mut data)?;
                    let gather = r.cube.immediate_all_gather_into(scope, &own, &mut all)?;
                    broadcast.wait().and(gather.wait())
                })
            }),
        case("one immediate call more",
            |r| r.cube.immediate_barrier().and_then(|barrier| r.all_gather(3, |c| c).and(barrier.wait())),
            |r| r.all_gather(3, |c| c)),
        case("persistent, blocking",
            |r| {
                let (mut own, mut sum) = ([1.0; 5], [0.0; 5]);
                request::scope(|scope| {
                    let mut call = r.cube.all_reduce_init(scope, &mut own, &mut sum, SUM)?;
                    call.start().and_then(|()| call.wait())
                })
            },
            |r| r.all_gather(5, |c| c)),
        case("the order of persistent calls",
            |r| {
                let (mut own, mut sum) = ([1.0; 5], [0.0; 5]);
                request::scope(|scope| {
                    let mut calls = (r.cube.barrier_init()?, r.cube.all_reduce_init(scope, &mut own, &mut sum, SUM)?);
                    calls.1.start().and_then(|()| calls.0.start()).and_then(|()| calls.0.wait())
                })
            },
            |r| {
                let (mut own, mut sum) = ([1.0; 5], [0.0; 5]);
                request::scope(|scope| {
                    let mut calls = (r.cube.barrier_init()?, r.cube.all_reduce_init(scope, &mut own, &mut sum, SUM)?);
                    calls.0.start().and_then(|()| calls.1.start()).and_then(|()| calls.1.wait())
                })
            }),
    ]
}

#[rustfmt::skip]
fn long() -> Vec<Case> {
    vec![
        case("1 MiB, a little less",
            |r| r.broadcast::<f64>(0, MIB - 1, |c| c.algorithm("sbt").packet(MIB)),
            |r| r.broadcast::<f64>(0, MIB, |c| c.algorithm("sbt").packet(MIB))),
        case("4 MiB, a little less",
            |r| r.broadcast::<f64>(0, 4 * MIB - 1, |c| c),
            |r| r.broadcast::<f64>(0, 4 * MIB, |c| c)),
        case("4 MiB, a little less on the root",
            |r| r.broadcast::<f64>(0, 4 * MIB - 1, |c| c.algorithm("sbt")),
            |r| r.broadcast::<f64>(0, 4 * MIB, |c| c.algorithm("sbt"))).first(),
        case("packets of 1 MiB",
            |r| r.broadcast::<f64>(0, MIB, |c| c.algorithm("sbt").packet(MIB / 8)),
            |r| r.broadcast::<f64>(0, MIB, |c| c.algorithm("sbt").packet(MIB / 4))),
        case("long all-gather, long all-to-all",
            |r| r.all_gather(MIB / 4, |c| c),
            |r| r.all_to_all(MIB / 4)),
        case("long reduce, long all-reduce",
            |r| r.reduce(0, MIB, SUM),
            |r| r.all_reduce::<f64, _>(MIB, SUM, |c| c)),
        case("long against short",
            |r| r.cube.barrier(),
            |r| r.all_reduce::<f64, _>(4 * MIB, SUM, |c| c)),
        case("leaves while 4 MiB are to come",
            |_| Ok(()),
            |r| r.broadcast::<f64>(0, 4 * MIB, |c| c)).kind(Kind::Leaves),
        case("panics in 1 MiB",
            |r| r.all_reduce::<f64, _>(MIB, Commutative(|_: &f64, _: &f64| -> f64 { panic!("on purpose") }), |c| c.algorithm("recursive_doubling")),
            |r| r.all_reduce::<f64, _>(MIB, Commutative(add), |c| c.algorithm("recursive_doubling"))).kind(Kind::Panics).first(),
        case("long immediate calls in another order",
            |r| {
                let (mut one, mut two) = (vec![1.0; MIB], vec![2.0; MIB]);
                request::scope(|scope| {
                    let first = r.cube.process_at_rank(1).immediate_broadcast_into(scope, &mut one)?;
                    let second = r.cube.process_at_rank(0).immediate_broadcast_into(scope, &mut two)?;
                    first.wait().and(second.wait())
                })
            },
            |r| {
                let (mut one, mut two) = (vec![1.0; MIB], vec![2.0; MIB]);
                request::scope(|scope| {
                    let first = r.cube.process_at_rank(0).immediate_broadcast_into(scope, &mut one)?;
                    let second = r.cube.process_at_rank(1).immediate_broadcast_into(scope, &mut two)?;
                    first.wait().and(second.wait())
                })
            }),
    ]
}
