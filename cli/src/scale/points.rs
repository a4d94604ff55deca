//! Which points are run.

use super::network::Network;
use super::ScaleArgs;
use clap::ValueEnum;
use hypercoll::algorithm::registry::find;
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

    /// What it has in common with others that are run together.
    pub fn ranks(&self) -> (Network, usize, usize) {
        (self.network, self.size, self.per_host)
    }

    /// Whether it is one of those that are run unless others are asked for: with more ranks there are fewer sizes and networks, so that
    /// all of it ends in a quarter of an hour.
    fn usual(&self) -> bool {
        let Point { network, size, collective, bytes, .. } = *self;
        let rooted = matches!(
            collective,
            Collective::Broadcast | Collective::Reduce | Collective::Scatter | Collective::Gather | Collective::Barrier
        );
        let long = bytes > 256 << 10;
        // As many messages as pairs of ranks: a million, where blocks are long.
        let few = !long && (collective != Collective::AllToAll || bytes <= 4 << 10);
        match (size, network) {
            (0..256, _) => true,
            (1024, _) | (1000, Network::Star | Network::Torus) => few,
            (4096, Network::Star | Network::FatTree) | (4097, Network::Star) => {
                few && (rooted || collective == Collective::AllReduce)
            }
            _ => false,
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

const SIZES: [usize; 5] = [64, 1000, 1024, 4096, 4097];
const BYTES: [usize; 4] = [8, 4 << 10, 256 << 10, 16 << 20];

fn or<T: Clone>(asked: &[T], usual: &[T]) -> Vec<T> {
    if asked.is_empty() {
        usual.to_vec()
    } else {
        asked.to_vec()
    }
}

/// The points that the arguments ask for: of what is asked for all, of the rest the usual ones.
///
/// # Errors
/// An algorithm that no collective of them has.
pub fn chosen(args: &ScaleArgs) -> Result<Vec<Point>, String> {
    let has = |collective: Collective| args.algorithm.as_ref().is_none_or(|name| find(collective, name).is_ok());
    let collectives: Vec<Collective> = or(&args.collectives, &COLLECTIVES).into_iter().filter(|c| has(*c)).collect();
    if let Some(name) = args.algorithm.as_ref().filter(|_| collectives.is_empty()) {
        return Err(format!("algorithm: {name} is none of these collectives' (see hypercoll algorithms)"));
    }
    let (sizes, networks): (&[usize], &[Network]) =
        if args.short { (&SIZES[..1], &Network::value_variants()[..3]) } else { (&SIZES, Network::value_variants()) };
    let mut points = Vec::new();
    for size in or(&args.ranks, sizes) {
        for network in or(&args.networks, networks) {
            for per_host in or(&args.per_host, if args.short { &[1] } else { &[1, 16] }) {
                for &collective in &collectives {
                    let mut blocks = Vec::new();
                    for bytes in or(&args.bytes, &BYTES) {
                        let point = Point { network, size, per_host, collective, bytes };
                        // Many ranks' blocks of 8 bytes are the same call for several numbers of bytes.
                        let again = blocks.contains(&point.block());
                        if !again && (point.usual() || args.asks()) {
                            blocks.push(point.block());
                            points.push(point);
                        }
                    }
                }
            }
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: ScaleArgs,
    }

    fn collectives(line: &str) -> Result<Vec<Collective>, String> {
        let arguments =
            ["scale", "--out", "x", "--ranks", "64", "--bytes", "8", "--networks", "star", "--per-host", "1"];
        let args = Cli::parse_from(arguments.into_iter().chain(line.split_whitespace())).args;
        Ok(chosen(&args)?.into_iter().map(|point| point.collective).collect())
    }

    #[test]
    fn collectives_without_an_algorithm_have_no_points() {
        assert_eq!(collectives("").map(|all| all.len()), Ok(COLLECTIVES.len()));
        let with = collectives("--algorithm msbt").expect("some have it");
        assert!(with.contains(&Collective::Broadcast) && !with.contains(&Collective::Barrier), "{with:?}");
        assert!(
            collectives("--algorithm dissemination --collectives broadcast,barrier").is_ok_and(|all| all.len() == 1)
        );
        assert!(collectives("--algorithm msbt --collectives barrier").is_err_and(|why| why.contains("msbt")));
    }
}
