//! Which points are run.

use super::network::Network;
use super::ScaleArgs;
use clap::ValueEnum;
use hypercoll::collective::Collective;

/// A call on ranks on a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub network: Network,
    pub size: usize,
    pub per_host: usize,
    pub collective: Collective,
    /// Of the vector, or of all blocks of a rank's together.
    pub bytes: usize,
}

impl Point {
    /// Bytes of the vector, or of a block: at least 8.
    pub fn block(&self) -> usize {
        match self.collective {
            Collective::Broadcast | Collective::Reduce | Collective::AllReduce => self.bytes,
            Collective::Barrier => 0,
            _ => (self.bytes / self.size / 8 * 8).max(8),
        }
    }
}

const COLLECTIVES: [Collective; 9] = [
    Collective::Broadcast,
    Collective::Scatter,
    Collective::Gather,
    Collective::AllGather,
    Collective::AllToAll,
    Collective::Reduce,
    Collective::ReduceScatter,
    Collective::AllReduce,
    Collective::Barrier,
];

/// The points that the arguments ask for.
pub fn chosen(args: &ScaleArgs) -> Vec<Point> {
    fn or<T: Clone>(asked: &[T], usual: &[T]) -> Vec<T> {
        if asked.is_empty() {
            usual.to_vec()
        } else {
            asked.to_vec()
        }
    }
    let mut points = Vec::new();
    for network in or(&args.networks, Network::value_variants()) {
        for size in or(&args.ranks, &[64]) {
            for per_host in or(&args.per_host, &[1, 16]) {
                for collective in or(&args.collectives, &COLLECTIVES) {
                    for bytes in or(&args.bytes, &[8, 4 << 10, 256 << 10, 16 << 20]) {
                        if collective == Collective::Barrier && bytes != 8 {
                            continue;
                        }
                        points.push(Point { network, size, per_host, collective, bytes });
                    }
                }
            }
        }
    }
    points
}
