//! The physical limit: the least time in which a network of known links can carry a collective.
//!
//! Start-ups count as nothing, and so does what a processor does; what remains is bytes by rate, for the port or the link
//! that has the most to carry whatever the algorithm.

use hypercoll::collective::{Call, Links};
use serde::{Deserialize, Serialize};

/// Bytes of a TCP segment's data, and of the Ethernet frame that carries it: an emulated link counts the frames.
const DATA: f64 = 1448.0;
const FRAME: f64 = 1514.0;

/// A network of which the links are known. Every link has the rate, in bits per second, in both directions at once.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Fabric {
    /// 2^dimension hosts, one rank each; links along the edges of the cube.
    Cube { dimension: usize, rate_bps: f64 },
    /// Hosts, one rank each, with one link each to a switch.
    Star { hosts: usize, rate_bps: f64 },
}

impl Fabric {
    /// Reads `cube:3:50000000` (dimension, bits per second) or `star:8:50000000` (hosts, bits per second).
    pub fn parse(text: &str) -> Result<Fabric, String> {
        let wrong =
            || format!("'{text}' is no fabric; fabrics are like cube:3:50000000 (dimension, bits/s), star:8:50000000");
        let parts: Vec<&str> = text.split(':').collect();
        let [kind, number, rate] = parts[..] else { return Err(wrong()) };
        let number: usize = number.parse().map_err(|_| wrong())?;
        let rate_bps: f64 = rate.parse().map_err(|_| wrong())?;
        if !rate_bps.is_finite() || rate_bps <= 0.0 {
            return Err(wrong());
        }
        match kind {
            "cube" if number <= 20 => Ok(Fabric::Cube { dimension: number, rate_bps }),
            "star" if number > 0 => Ok(Fabric::Star { hosts: number, rate_bps }),
            _ => Err(wrong()),
        }
    }

    /// Whether every rank of so many has a host of its own, where the algorithms suppose it.
    pub fn holds(&self, ranks: usize) -> bool {
        match *self {
            Fabric::Cube { dimension, .. } => ranks == 1 << dimension,
            Fabric::Star { hosts, .. } => ranks <= hosts,
        }
    }

    /// Bytes of data that a link can carry in a second, in one direction.
    fn rate(&self) -> f64 {
        let (Fabric::Cube { rate_bps, .. } | Fabric::Star { rate_bps, .. }) = *self;
        rate_bps / 8.0 * DATA / FRAME
    }

    /// The least time of a call, in seconds, with elements of so many bytes; `None` where it is not known, or nothing has
    /// to be carried.
    pub fn limit(&self, call: &Call, element: usize) -> Option<f64> {
        let links = match self {
            Fabric::Cube { .. } => Links::Cube,
            Fabric::Star { .. } => Links::Star,
        };
        let elements = call.limit(links).filter(|_| self.holds(call.size))?;
        Some(elements * element as f64 / self.rate())
    }
}

/// `cube of dimension 3, 50 Mbit/s links`.
impl std::fmt::Display for Fabric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fabric::Cube { dimension, rate_bps } => {
                write!(f, "cube of dimension {dimension}, links of {} Mbit/s", rate_bps / 1e6)
            }
            Fabric::Star { hosts, rate_bps } => write!(f, "star of {hosts} hosts, links of {} Mbit/s", rate_bps / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::collective::Collective;

    const CUBE: Fabric = Fabric::Cube { dimension: 3, rate_bps: 50e6 };
    const STAR: Fabric = Fabric::Star { hosts: 8, rate_bps: 50e6 };

    fn limit(fabric: Fabric, collective: Collective, ranks: usize, bytes: usize) -> Option<f64> {
        fabric.limit(&Call::new(collective, ranks, bytes / 8), 8)
    }

    /// Worked out by hand for 8 ranks at 50 Mbit/s, that is 6,250,000 bytes of frames or 5,977,543 bytes of data a second:
    /// vectors of 4 MiB take 0.701676 s over one link, blocks of 256 KiB 0.043855 s.
    #[test]
    fn limits_are_those_worked_out_by_hand() {
        use Collective::*;
        const VECTOR: usize = 4 << 20;
        const BLOCK: usize = 256 << 10;
        for (collective, bytes, cube, star) in [
            (Broadcast, VECTOR, 0.233892, 0.701676),
            (Reduce, VECTOR, 0.233892, 0.701676),
            (Scatter, BLOCK, 0.102328, 0.306983),
            (Gather, BLOCK, 0.102328, 0.306983),
            (AllGather, BLOCK, 0.102328, 0.306983),
            (AllToAll, BLOCK, 0.175419, 0.306983),
            (ReduceScatter, BLOCK, 0.102328, 0.306983),
            (AllReduce, VECTOR, 0.409311, 1.227935),
            (Permute, VECTOR, 0.701676, 0.701676),
            (Send, VECTOR, 0.233892, 0.701676),
            (Exchange, VECTOR, 0.233892, 0.701676),
        ] {
            for (fabric, expected) in [(CUBE, cube), (STAR, star)] {
                let limit = limit(fabric, collective, 8, bytes).expect("is known");
                assert!((limit - expected).abs() < 2e-6, "{collective} on {fabric}: {limit}, not {expected}");
            }
        }
    }

    #[test]
    fn permutations_are_bounded_by_all_links_together_and_by_one_node() {
        let permute = |permutation: Vec<usize>| {
            let call = Call { permutation: Some(permutation.into()), ..Call::new(Collective::Permute, 8, 1 << 19) };
            CUBE.limit(&call, 8)
        };
        // One dimension for all, or one pair only: a node's three ports carry one message.
        for permutation in [vec![1, 0, 3, 2, 5, 4, 7, 6], vec![1, 0, 2, 3, 4, 5, 6, 7]] {
            assert!((permute(permutation).expect("is known") - 0.233892).abs() < 2e-6);
        }
        // Two dimensions for all: two thirds of the reversal.
        assert!((permute(vec![3, 2, 1, 0, 7, 6, 5, 4]).expect("is known") - 0.467784).abs() < 2e-6);
        assert_eq!(permute((0..8).collect()), None);
    }

    #[test]
    fn other_numbers_of_ranks_have_no_limit() {
        assert_eq!(limit(CUBE, Collective::Broadcast, 7, 1024), None);
        assert_eq!(limit(STAR, Collective::Broadcast, 9, 1024), None);
        assert!(limit(STAR, Collective::Broadcast, 5, 1024).is_some());
        assert_eq!(limit(CUBE, Collective::Barrier, 8, 0), None);
        assert_eq!(limit(STAR, Collective::Broadcast, 1, 1024), None);
    }

    #[test]
    fn fabrics_are_read() {
        assert_eq!(Fabric::parse("cube:3:50000000"), Ok(CUBE));
        assert_eq!(Fabric::parse("star:8:50000000"), Ok(STAR));
        for text in [
            "",
            "cube",
            "cube:3",
            "ring:3:5",
            "cube:x:5",
            "cube:3:0",
            "cube:3:x",
            "cube:21:5",
            "star:0:5",
            "cube:3:5:6",
        ] {
            assert!(Fabric::parse(text).is_err(), "{text}");
        }
        let json = serde_json::json!({"kind": "cube", "dimension": 3, "rate_bps": 50e6});
        assert_eq!(serde_json::to_value(CUBE).ok(), Some(json));
    }
}
