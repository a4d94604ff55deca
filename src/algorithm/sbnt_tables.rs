//! The costs of everything along SBnTs and SBGs on cubes larger than those of the checker's tests, against values that
//! do not come from the formulas of the registry: the papers' tables, counts by brute force, and a separate computation
//! from the definitions for what the paper leaves open.

use super::verify::verify;
use super::{registry, Order, Parameters, PortModel};
use crate::collective::{Call, Collective};
use crate::schedule::Cost;
use crate::topology::sbnt::{Sbnt, Variant, Variant::*};
use crate::topology::Tree;

/// The cost of the schedules of all ranks, which must be right and agree with the registry's formula.
fn cost(collective: Collective, name: &str, n: u32, count: usize, parameters: Parameters) -> Cost {
    let call = Call::new(collective, 1 << n, count).with_root(if collective.has_root() { (1 << n) / 3 } else { 0 });
    let algorithm = registry::find(collective, name).expect("a row of the registry");
    algorithm.accepts(&call, &parameters).expect("a call that it serves");
    let report = verify(algorithm, &call, &parameters);
    assert!(report.violations.is_empty(), "{name} {n} {parameters:?}: {:?}", report.violations.first());
    report.cost
}

/// Rounds and elements.
fn time(collective: Collective, name: &str, n: u32, count: usize, parameters: Parameters) -> (usize, usize) {
    let cost = cost(collective, name, n, count, parameters);
    (cost.rounds, cost.longest_sum())
}

fn with(ports: PortModel, variant: Variant, order: Option<Order>, packet: Option<usize>) -> Parameters {
    Parameters { variant, order, packet, symmetrized: false, ..Parameters::new(ports) }
}

/// 1988, table 1.
const LARGEST: [usize; 7] = [2, 3, 5, 7, 13, 19, 35];

#[test]
fn scatter_and_gather_through_all_ports() {
    use Collective::{Gather, Scatter};
    for (n, largest) in (2u32..).zip(LARGEST) {
        // The maximising variants, from their definition: by distance the larger of levels 1 and 2, for the SBG in 1/n.
        let busiest = [2, 3, 5, 7, 13, 20, 38][n as usize - 2];
        let busiest_parts = [3, 7, 15, 31, 66, 134, 279][n as usize - 2];
        for variant in Variant::ALL {
            let minimises = matches!(variant, MinRight | MinLeftReversed);
            let usual = with(PortModel::AllPorts, variant, None, None);
            let expected = if minimises { largest } else { busiest };
            let parts = if minimises { (1 << n) - 1 } else { busiest_parts };
            for collective in [Scatter, Gather] {
                assert_eq!(time(collective, "sbnt", n, 3, usual), (n as usize, 3 * expected));
                let split = cost(collective, "sbg", n, n as usize, usual);
                assert_eq!((split.rounds, split.longest_sum()), (n as usize, parts));
                assert_eq!(split.max_link_load, (1 << n) - 1);
                // Blocks that n does not divide are served all the same.
                cost(collective, "sbg", n, n as usize + 1, usual);
            }
            for order in [None, Some(Order::Postorder)] {
                let packets = with(PortModel::AllPorts, variant, order, Some(2));
                assert_eq!(time(Scatter, "sbnt", n, 6, packets), (3 * largest, 6 * largest));
                cost(Scatter, "sbnt", n, 2, with(PortModel::AllPorts, variant, order, Some(9)));
                let all = with(PortModel::AllPorts, variant, order, Some(1 << n));
                let none = with(PortModel::AllPorts, variant, order, None);
                assert_eq!(time(Scatter, "sbnt", n, 2, all), time(Scatter, "sbnt", n, 2, none));
            }
        }
        // Subtrees whole, level after level: the path 1, 11, 111, ... has the largest (proof of theorem 6).
        let tree = Sbnt::new(n, MinRight);
        let trailing: u32 = (1..1usize << n).filter(|&c| tree.index(c) == 0).map(usize::trailing_ones).sum();
        let postorder = with(PortModel::AllPorts, MinRight, Some(Order::Postorder), None);
        assert_eq!(time(Scatter, "sbnt", n, 1, postorder), (n as usize, trailing as usize));
    }
}

#[test]
fn scatter_and_gather_through_one_port() {
    use Collective::{Gather, Scatter};
    // Sums of the longest messages of the rounds of lemma 17, computed from the definitions apart from this library.
    let minimal = [3, 8, 18, 38, 76, 153, 300];
    let maximal = [3, 8, 18, 38, 77, 156, 310];
    let labelled = [(MinRight, minimal), (MinLeftReversed, minimal), (MaxLeft, maximal), (MaxRightReversed, maximal)];
    for ports in [PortModel::OnePort, PortModel::OneWay] {
        for n in 2..=8u32 {
            let others = (1 << n) - 1;
            for (variant, sums) in labelled {
                for order in [None, Some(Order::Cyclic), Some(Order::Postorder)] {
                    let whole = time(Scatter, "sbnt", n, 2, with(ports, variant, order, None));
                    assert_eq!(whole, (2 * n as usize - 2, 2 * sums[n as usize - 2]));
                    for (count, packet, passes) in [(4, 4, 1), (4, 2, 2), (5, 2, 3)] {
                        let packets = with(ports, variant, order, Some(packet));
                        assert_eq!(cost(Scatter, "sbnt", n, count, packets).rounds, passes * others);
                    }
                    // One packet for all: as without packets.
                    let all = with(ports, variant, order, Some(1 << n));
                    assert_eq!(time(Scatter, "sbnt", n, 2, all), whole);
                    // Two blocks and a half a packet: never more than the subtrees in turn and the tail.
                    let merged = with(ports, variant, order, Some(5));
                    let cycles = (2 * LARGEST[n as usize - 2]).div_ceil(5) * n as usize;
                    assert!(cost(Gather, "sbnt", n, 2, merged).rounds <= cycles + n as usize - 2);
                }
            }
            let gray = with(ports, MinRight, Some(Order::GrayCode), Some(2));
            assert_eq!(time(Scatter, "sbt", n, 4, gray), (2 * others, 4 * others));
            assert_eq!(time(Gather, "sbt", n, 4, gray), (2 * others, 4 * others));
        }
    }
}

/// 1988, table 2 with erratum 19, for blocks that n divides.
#[test]
fn table_2() {
    use Collective::{AllGather, AllToAll, ReduceScatter};
    for (collective, personalised, largest) in [(AllGather, false, 7), (ReduceScatter, false, 6), (AllToAll, true, 6)] {
        for n in 2..=largest {
            let (rounds, nodes, count) = (n as usize, 1usize << n, n as usize);
            let received = if personalised { rounds * nodes / 2 } else { nodes - 1 };
            for variant in if n < 6 { &Variant::ALL[..] } else { &[MinRight, MaxLeft] } {
                let run = |name, ports| time(collective, name, n, count, with(ports, *variant, None, None));
                assert_eq!(run("sbg", PortModel::AllPorts), (rounds, received));
                assert_eq!(run("sbnt", PortModel::OnePort), (2 * rounds - 2, received * count));
                assert_eq!(run("sbg", PortModel::OnePort), (2 * rounds - 1, received * count));
                assert_eq!(run("sbnt", PortModel::OneWay), (4 * rounds - 4, 2 * received * count));
                // Whole blocks: at every level the busiest dimension.
                let tree = Sbnt::new(n, *variant);
                let mut traffic = vec![vec![0; rounds]; rounds];
                for c in 1..nodes {
                    let port = tree.parent_port(c).expect("not the root") as usize;
                    traffic[tree.level(c) as usize - 1][port] += if personalised { tree.subtree_size(c) } else { 1 };
                }
                let busiest: usize = traffic.iter().filter_map(|level| level.iter().max()).sum();
                assert_eq!(run("sbnt", PortModel::AllPorts), (rounds, busiest * count));
                if !personalised && [2, 3, 5, 7].contains(&n) {
                    assert_eq!(busiest, (nodes - 2) / rounds + 1, "corollary 3");
                }
            }
        }
    }
}

/// Cubes with missing nodes.
#[test]
fn sizes_that_are_no_powers_of_two() {
    for size in [33, 60] {
        for collective in [Collective::Scatter, Collective::Gather, Collective::AllGather, Collective::AllToAll] {
            for name in ["sbnt", "sbg"] {
                let call = Call::new(collective, size, 3).with_root(if collective.has_root() { size - 1 } else { 0 });
                let algorithm = registry::find(collective, name).expect("a row of the registry");
                for (ports, packet) in
                    [(PortModel::AllPorts, None), (PortModel::OneWay, None), (PortModel::OnePort, Some(2))]
                {
                    let parameters = with(ports, MaxLeft, None, packet);
                    if algorithm.accepts(&call, &parameters).is_ok() {
                        let violations = verify(algorithm, &call, &parameters).violations;
                        assert!(violations.is_empty(), "{algorithm:?} {size} {parameters:?}: {:?}", violations.first());
                    }
                }
            }
        }
    }
}
