//! The physical limit: the least time in which a network of known links can carry a collective.
//!
//! Start-ups count as nothing, and so does what a processor does; what remains is bytes by rate, for the port or the link
//! that has the most to carry whatever the algorithm.

use super::fabric::Fabric;
use hypercoll::collective::{Call, Collective, Links};

/// Bytes of a TCP segment's data, and of the Ethernet frame that carries it: an emulated link counts the frames.
const DATA: f64 = 1448.0;
const FRAME: f64 = 1514.0;

impl Fabric {
    /// The least time of a call, in seconds, with elements of so many bytes; `None` where it is not known, or nothing has
    /// to be carried.
    pub fn limit(&self, call: &Call, element: usize) -> Option<f64> {
        let one_each = vec![1; call.size];
        let on = if self.ranks().is_empty() { &one_each } else { self.ranks() };
        if on.iter().sum::<usize>() != call.size || !self.holds(on) || call.count == 0 {
            return None;
        }
        let elements_by_bps = match self {
            _ if call.layout.is_some() => self.longest(on, call)?,
            Fabric::Cube { rate_bps, ranks, .. } if ranks.is_empty() => call.limit(Links::Cube)? / rate_bps,
            Fabric::Star { rate_bps, slow, uplink_bps: None, ranks, .. } if ranks.is_empty() && slow.is_empty() => {
                call.limit(Links::Star)? / rate_bps
            }
            _ => self.longest(on, call)?,
        };
        Some(elements_by_bps * element as f64 * 8.0 * FRAME / DATA)
    }

    /// The longest time that some part of the network needs, for hosts with so many ranks: elements by bits per second.
    fn longest(&self, on: &[usize], call: &Call) -> Option<f64> {
        let hosts: Vec<f64> = (0..on.len()).map(|host| self.host_bps(host)).collect();
        // Every host by itself, and halves that few links join.
        let blocks = blocks(on, call);
        let part = |bps, is_inside: &dyn Fn(usize) -> bool| Part {
            crossing: crossing(on, call, is_inside),
            ..Part::of(&blocks, bps, is_inside)
        };
        let mut parts: Vec<Part> = (0..on.len()).map(|host| part(hosts[host], &|other| other == host)).collect();
        match *self {
            Fabric::Cube { dimension, rate_bps, .. } => parts.extend((0..dimension).map(|port| {
                let links = (on.len() / 2) as f64;
                part(links * rate_bps, &|host| host >> port & 1 == 0)
            })),
            Fabric::Star { hosts, uplink_bps, .. } => {
                parts.extend(uplink_bps.map(|bps| part(bps, &|host| host * 2 / hosts == 0)));
            }
        }
        // Each element leaves all hosts but one to be added up, and comes to all but one as a result.
        let twice = 2.0 * (on.len() - 1) as f64 * call.count as f64 / hosts.iter().sum::<f64>();
        let whole = if call.collective == Collective::AllReduce { twice } else { 0.0 };
        let parts = parts.iter().filter(|part| part.others);
        let times = parts.map(|part| Some(part.load(call)? / part.bps)).collect::<Option<Vec<f64>>>()?;
        Some(times.into_iter().fold(whole, f64::max)).filter(|time| *time > 0.0)
    }

    /// Bits per second of all links of a host together, in one direction.
    fn host_bps(&self, host: usize) -> f64 {
        match self {
            Fabric::Cube { dimension, rate_bps, .. } => *dimension as f64 * rate_bps,
            Fabric::Star { rate_bps, slow, .. } => {
                slow.iter().find(|(slow, _)| *slow == host).map_or(*rate_bps, |(_, bps)| *bps)
            }
        }
    }
}

/// Ranks of each host, and their blocks, each of the call's count. Ranks fill one host after another.
fn blocks(on: &[usize], call: &Call) -> Vec<(usize, f64)> {
    let mut first = 0;
    let of_host = |&ranks: &usize| {
        let these = first..first + ranks;
        first = these.end;
        let elements = || these.map(|rank| call.block(rank).len()).sum::<usize>() as f64;
        (ranks, if call.layout.is_some() { elements() / call.count as f64 } else { ranks as f64 })
    };
    on.iter().map(of_host).collect()
}

/// Elements that ranks of some hosts send to those of others, or these to them, whichever are more, in an all-to-all with blocks of different
/// lengths. Ranks fill one host after another.
fn crossing(on: &[usize], call: &Call, is_inside: &dyn Fn(usize) -> bool) -> Option<f64> {
    call.layout.as_ref().filter(|_| call.collective == Collective::AllToAll)?;
    let inside = Vec::from_iter(on.iter().enumerate().flat_map(|(host, &n)| std::iter::repeat_n(is_inside(host), n)));
    let mut crossing = [0, 0];
    for (from, to) in (0..call.size).flat_map(|from| (0..call.size).map(move |to| (from, to))) {
        if inside[from] != inside[to] {
            crossing[usize::from(inside[from])] += call.block_between(from, to).len();
        }
    }
    crossing.into_iter().max().map(|most| most as f64)
}

/// Some of the hosts, and the links to all others.
struct Part {
    /// Blocks of the ranks of these hosts, and of the others, each of the call's count.
    inside: f64,
    outside: f64,
    /// Whether there are ranks on other hosts.
    others: bool,
    /// Whether rank 0 is inside: it is on the first host, however ranks are placed.
    first: bool,
    /// Bits per second of the links together, in one direction.
    bps: f64,
    /// Elements that cross them, where blocks are of pairs of ranks.
    crossing: Option<f64>,
}

impl Part {
    fn of(on: &[(usize, f64)], bps: f64, is_inside: impl Fn(usize) -> bool) -> Part {
        let mut part = Part { inside: 0.0, outside: 0.0, others: false, first: is_inside(0), bps, crossing: None };
        for (host, &(ranks, blocks)) in on.iter().enumerate() {
            let inside = is_inside(host);
            *if inside { &mut part.inside } else { &mut part.outside } += blocks;
            part.others |= !inside && ranks > 0;
        }
        part
    }

    /// Elements that its links must carry in the direction that has more; `None` if that is not known.
    fn load(&self, call: &Call) -> Option<f64> {
        use Collective::*;
        let blocks = match call.collective {
            Broadcast | Reduce | AllReduce | Scan | ExclusiveScan => 1.0,
            Scatter | Gather if call.root == 0 => {
                if self.first {
                    self.outside
                } else {
                    self.inside
                }
            }
            AllGather | ReduceScatter => self.outside.max(self.inside),
            AllToAll if self.crossing.is_some() => return self.crossing,
            AllToAll | TransposeRows => self.inside * self.outside,
            _ => return None,
        };
        Some(blocks * call.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::collective::Layout;

    fn fabric(text: &str) -> Fabric {
        Fabric::parse(text).expect("a fabric")
    }

    fn limit(fabric: &str, collective: Collective, ranks: usize, bytes: usize) -> Option<f64> {
        self::fabric(fabric).limit(&Call::new(collective, ranks, bytes / 8), 8)
    }

    const CUBE: &str = "cube:3:50000000";
    const STAR: &str = "star:8:50000000";

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
            (Scan, VECTOR, 0.233892, 0.701676),
            (ExclusiveScan, VECTOR, 0.233892, 0.701676),
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
            fabric(CUBE).limit(&call, 8)
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

    /// In vectors, or blocks, by the rate of a link of 50 Mbit/s: `P` ranks, and so on, put into the formulas by hand.
    #[test]
    fn limits_of_hosts_with_several_ranks_and_of_unequal_links() {
        use Collective::*;
        const ALL: [Collective; 8] =
            [Broadcast, Reduce, AllReduce, Scatter, Gather, AllGather, ReduceScatter, AllToAll];
        const BYTES: usize = 1 << 20;
        let link = BYTES as f64 * 8.0 / 50e6 * 1514.0 / 1448.0;
        for (text, ranks, expected) in [
            // 4 hosts of 4: M, M, 2(3/4)M; 16 - 4 blocks; 4 * 12.
            ("star:4:50000000:4,4,4,4", 16, [1.0, 1.0, 1.5, 12.0, 12.0, 12.0, 12.0, 48.0]),
            // The root's host sends to 6; the host of one rank gets 9 blocks; 4 * 6 leave the first.
            ("star:4:50000000:4,3,2,1", 10, [1.0, 1.0, 1.5, 6.0, 6.0, 9.0, 9.0, 24.0]),
            // The host of 3 ranks sends 3 blocks to all others but gets one of theirs only.
            ("star:8:50000000:1,3", 4, [1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0]),
            // 8 hosts of 2 on a cube, by 3 links; all-to-all: 8 * 8 blocks over the 4 links of a dimension.
            (
                "cube:3:50000000:2,2,2,2,2,2,2,2",
                16,
                [1.0 / 3.0, 1.0 / 3.0, 7.0 / 12.0, 14.0 / 3.0, 14.0 / 3.0, 14.0 / 3.0, 14.0 / 3.0, 16.0],
            ),
            // Two links a host: 6 blocks out of the root's, 9 into those of one rank; two links between halves of 5 ranks, for 25 blocks.
            ("cube:2:50000000:4,1,4,1", 10, [0.5, 0.5, 0.75, 3.0, 3.0, 4.5, 4.5, 12.5]),
            // Half the rate for host 3: it takes twice as long for whatever it has alone.
            ("star:8:50000000,3=25000000", 8, [2.0, 2.0, 2.0, 7.0, 7.0, 14.0, 14.0, 14.0]),
            // Host 2 is slower, and gets 2 of the root's 6 blocks.
            ("star:4:50000000,2=10000000:4,3,2,1", 10, [5.0, 5.0, 5.0, 10.0, 10.0, 40.0, 40.0, 80.0]),
            // Two racks of 4 ranks: all-to-all, 16 blocks over two links' rate; 7 into a host.
            ("star:8:50000000,uplink=100000000", 8, [1.0, 1.0, 1.75, 7.0, 7.0, 7.0, 7.0, 8.0]),
            // The same behind half a link.
            ("star:8:50000000,uplink=25000000", 8, [2.0, 2.0, 2.0, 8.0, 8.0, 8.0, 8.0, 32.0]),
            // Three hosts, all in the first rack: the uplink carries nothing.
            ("star:8:50000000,uplink=1000000:2,2,2", 6, [1.0, 1.0, 4.0 / 3.0, 4.0, 4.0, 4.0, 4.0, 8.0]),
        ] {
            for (collective, expected) in ALL.into_iter().zip(expected) {
                let limit = limit(text, collective, ranks, BYTES).expect("is known") / link;
                assert!((limit - expected).abs() < 1e-9, "{collective} on {text}: {limit}, not {expected}");
            }
        }
        for text in ["star:4:50000000:4,4,4,4", "cube:2:50000000:4,4,4,4"] {
            assert_eq!(limit(text, Broadcast, 15, BYTES), None);
            assert_eq!(limit(text, Permute, 16, BYTES), None);
            assert_eq!(fabric(text).limit(&Call { root: 5, ..Call::new(Scatter, 16, 8) }, 8), None);
        }
        assert_eq!(limit("star:4:50000000:4", Broadcast, 4, BYTES), None);
    }

    /// Ranks with 3, 0, 1, ... blocks of 256 KiB, by formula: the root's port, all that a rank without a block of its own gets, and a third
    /// of both on the ports of a cube.
    #[test]
    fn limits_of_blocks_of_different_lengths_are_those_of_the_busiest_port() {
        use Collective::*;
        const BLOCK: usize = (256 << 10) / 8;
        let link = (256 << 10) as f64 * 8.0 / 50e6 * 1514.0 / 1448.0;
        let lengths = |lengths: &[usize]| Layout::of_vectors(lengths.iter().map(|blocks| blocks * BLOCK));
        let none = [3, 0, 1, 2, 0, 5, 1, 4];
        let some = [1, 2, 2, 9, 1, 3, 2, 4];
        let by_host = [1, 0, 0, 5];
        for (text, blocks, [scatter, all_gather]) in [
            (STAR, &none[..], [13.0, 16.0]),
            (CUBE, &none, [13.0 / 3.0, 16.0 / 3.0]),
            (STAR, &some, [23.0, 23.0]),
            (CUBE, &some, [23.0 / 3.0, 23.0 / 3.0]),
            // One rank has everything, and sends it once.
            (STAR, &[0, 0, 0, 0, 0, 0, 0, 6], [6.0, 6.0]),
            // Two ranks on each of two hosts: the second host's blocks leave it.
            ("star:2:50000000:2,2", &by_host, [5.0, 5.0]),
        ] {
            for (collective, expected) in [(Scatter, scatter), (Gather, scatter), (AllGather, all_gather)] {
                let call = Call::new(collective, blocks.len(), BLOCK).with_layout(lengths(blocks));
                let limit = fabric(text).limit(&call, 8).expect("is known") / link;
                assert!(
                    (limit - expected).abs() < 1e-9,
                    "{collective} of {blocks:?} on {text}: {limit}, not {expected}"
                );
            }
        }
        // Rank 3 sends 1, 2, ... blocks, and gets 1 from each; on hosts of two ranks what these have for each other crosses no link.
        let by_pair = |from: usize, to: usize| if from == 3 { (to + 1) * BLOCK } else { BLOCK };
        for (text, expected) in [(STAR, 32.0), (CUBE, 32.0 / 3.0), ("star:4:50000000:2,2,2,2", 35.0)] {
            let call = Call::new(AllToAll, 8, BLOCK).with_layout(Layout::of_pairs(8, by_pair));
            let limit = fabric(text).limit(&call, 8).expect("is known") / link;
            assert!((limit - expected).abs() < 1e-9, "{text}: {limit}, not {expected}");
        }
        let only_root = Call::new(Scatter, 8, BLOCK).with_layout(lengths(&[7, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(fabric(STAR).limit(&only_root, 8), None);
    }

    #[test]
    fn one_rank_a_host_is_the_same_either_way() {
        for (text, ranks) in
            [(CUBE, vec!["1"; 8]), (STAR, vec!["1"; 8]), (STAR, vec!["1"; 5]), ("cube:1:50000000", vec!["1"; 2])]
        {
            let said = format!("{text}:{}", ranks.join(","));
            for collective in Collective::ALL {
                if let Some(one) = limit(&said, collective, ranks.len(), 1 << 20) {
                    let other = limit(text, collective, ranks.len(), 1 << 20).expect("is known");
                    assert!((one / other - 1.0).abs() < 1e-9, "{collective} on {said}: {one}, not {other}");
                }
            }
        }
    }
}
