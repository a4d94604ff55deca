//! Broadcast along multiple spanning binomial trees (MSBT).
//!
//! Algorithm: the vector is cut into packets, and packet q goes down tree q mod n of n spanning trees that share no directed
//! edge, so every link of the cube carries data. With all ports each tree is a pipeline of its own. With one port, packet q
//! enters node i in cycle (q div n) n + f(i, j), j = q mod n, where the labels f make a node send and receive at most once a
//! cycle. With one way, a cycle is two steps: first those who send from a 0 bit to a 1 bit of the relative address.
//!
//! Where 2^k ranks of a host are a subcube, the links are those between hosts. Then there are m = n - k trees, those of the cube of
//! hosts, and an SBT in each host ([`Hosted`]): a packet enters a host once, and goes on there. With one port or one way a cycle ends
//! with k steps more, one across each dimension within hosts. Where hosts have unlike numbers of ranks, 2^k is what the largest has, rounded
//! down: a packet may then enter a host more than once, as [`crossing`] says. With one rank a host k = 0.
//!
//! Reference: Ho and Johnsson 1986, sections 3.2 and 3.3.2 (ERSBT j, f(i, j)); the one-way step count is theirs, the split by
//! direction the errata's. The hosts are not in the paper: there n is m here.
//!
//! Requirements: none; with m < 2 it is the SBT. The (at most two) trees that use a link to be avoided get no packets, as long
//! as a tree is left.
//!
//! Cost, m >= 2, P = ceil(M/B): one-way 2 P + m - 1 + k (P + m), one-port (P + m) (1 + k), all-ports ceil(P/m) + m + k rounds of
//! tau + B t_c; M/m crosses each link between hosts. On all ports the packets of a round share the links within a host, which are not
//! counted in that t_c; the path is then a bound where trees have unequal numbers of packets, and so are elements of few unequal packets.
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: along every tree the labels grow; at every node the labels of the incoming edges, and of the
//! outgoing edges, differ modulo m. Cycle t uses dimension t mod m between hosts only.
//!
//! Example, n = 3, root 0, labels of tree 0: into 1: 0; into 3: 1; into 5 and 7: 2; into 2, 4 and 6: 3. On 4 hosts of 2 ranks, m = 2,
//! one port, packet 0: 0 to 2 (round 0); 0 to 1, 2 to 3 (1); 2 to 6 (2); 6 to 7 (3); 6 to 4 (4); 4 to 5 (5).

use super::{packets, pipeline::down, ALL_PACKETS};
use crate::address::nodes_a_rank;
use crate::algorithm::{strides, Algorithm, Figure, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;
use crate::topology::{hosted::Hosted, msbt::Ersbt, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Broadcast,
    name: "msbt",
    summary: "long messages: n times the rate of the SBT, on one port as well as on all",
    source: "HJ86 MSBT",
    section: "3.3.2",
    packets: ALL_PACKETS,
    differs: "where hosts are subcubes, trees are those of the cube of hosts, with an SBT in each",
    cost: "one-way: (2 ceil(M/B) + n - 1) (tau + B t_c); one-port: (ceil(M/B) + n) (tau + B t_c); \
           all-ports: (ceil(M/(B n)) + n) (tau + B t_c)",
    formula,
    best_packet,
    crossing: Some(crossing),
    strides: strides::dimensions,
    form: Form::Forward(write),
    ..DEFAULTS
};

/// m and k: the dimensions between hosts and within them.
fn dimensions(shape: &Shape) -> (usize, usize) {
    ((shape.n - shape.near()) as usize, shape.near() as usize)
}

/// What goes into and out of each host, at most: the vector once, if its ranks are a subcube, else what its ranks send; twice that, where
/// ranks play two nodes.
pub fn crossing(shape: &Shape) -> f64 {
    let (m, k) = dimensions(shape);
    let sent = m * shape.packets().div_ceil(m.max(1)) * shape.packet() + k * shape.count;
    let once = if shape.hosts_are_subcubes() { shape.count } else { shape.on_host.0 * sent };
    (nodes_a_rank(shape.size, true) * once) as f64
}

/// The height of a tree. One packet uses tree 0 only, which is one level higher than the cube of hosts for m > 1.
fn height(m: usize, k: usize) -> usize {
    m + usize::from(m > 1) + k
}

/// The cost of the broadcast.
pub fn formula(shape: &Shape) -> Formula {
    let ((m, k), p) = (dimensions(shape), shape.packets());
    if m == 0 || p == 0 {
        return Formula::NOTHING;
    }
    // The packets of a tree follow one another; the last packet of all may be one that no other tree has any more.
    let (a_tree, last_is_extra) = (p.div_ceil(m), (p - 1) % m == 0);
    let (rounds, alone) = match shape.parameters.ports {
        PortModel::AllPorts => (a_tree + height(m, k) - 1, usize::from(last_is_extra)),
        _ if m == 1 => (p * (1 + k), 1 + k),
        PortModel::OnePort => ((p + m) * (1 + k), 1 + k),
        PortModel::OneWay => (2 * p + m - 1 + (p + m) * k, 2 + k),
    };
    let alone = if p == 1 { rounds } else { alone };
    let (all, b) = (shape.count as f64, shape.packet() as f64);
    let forward = Formula {
        rounds,
        elements: shape.in_packets(rounds, alone),
        moved: (shape.size - 1) as f64 * all,
        port: if k > 0 { 0.0 } else { (most_sent(m, p) * shape.packet()) as f64 },
        load: if k > 0 { all } else { shape.in_packets(a_tree, usize::from(last_is_extra)) },
        hops: height(m, k),
        path: all + (height(m, k) - 1) as f64 * b,
        ..Formula::NOTHING
    }
    .at_most(&[Figure::Path], shape.full_packets())
    .at_most(&[Figure::Port], shape.full_packets() && (p == 1 || p.is_multiple_of(m)));
    if k == 0 || m == 1 || p == 1 || shape.parameters.ports != PortModel::AllPorts {
        return forward;
    }
    // Within a host the packets of all trees share a link, until the last round, in which the trees' last leaves get one each, and the
    // round before, in which what is left over after equal numbers of packets comes to the leaves of the others.
    let left_over = p - (a_tree - 1) * m;
    let even = left_over == m && shape.full_packets();
    let (elements, exact) = match a_tree > 1 && a_tree + k > m + 1 {
        true => (shape.in_packets((rounds - 2) * m + left_over + 1, 1), true),
        false => (within_hosts(m, k, p) as f64 * b, shape.full_packets()),
    };
    // And every hop within it takes as long as these.
    let path = all + ((1 + k) * m - 1) as f64 * b;
    Formula { elements, ..forward }.at_most(&[Figure::Elements], exact).with_path(path, even)
}

/// The packets that a node sends at most, every host having one: of each n, one over each of its links; and of what is left over, to n - 1
/// children in every tree, over other links in another one.
fn most_sent(n: usize, p: usize) -> usize {
    let (of_all, left_over) = (p / n * n, p % n);
    of_all + (left_over * (n - 1)).min(n)
}

/// The packets that the busiest link within a host carries in a round, all rounds together, on all ports. A host at distance w from the
/// root's has packet i of w trees, any of them, in round w + i, and of the others two rounds later.
fn within_hosts(m: usize, k: usize, p: usize) -> usize {
    // Of the trees, so many have a packet more than the others.
    let (a_tree, longer) = (p.div_ceil(m), (p - 1) % m + 1);
    let busiest = |round: usize, hop: usize, w: usize| {
        let number = |level: usize, packets: usize| {
            usize::from(round.checked_sub(hop + level).is_some_and(|packet| packet < packets))
        };
        let early = w.saturating_sub(m - longer)..=w.min(longer);
        let later = if w > 0 { w + 2 } else { 0 };
        let carried = early.map(|early| {
            let late = (longer - early, m - longer + early - w);
            early * number(w, a_tree)
                + (w - early) * number(w, a_tree - 1)
                + late.0 * number(later, a_tree)
                + late.1 * number(later, a_tree - 1)
        });
        carried.max().unwrap_or(0)
    };
    let places = |round| (0..k).flat_map(move |hop| (0..=m).map(move |w| busiest(round, hop, w)));
    (0..a_tree + m + k).map(|round| places(round).max().unwrap_or(0)).sum()
}

/// The cost of the reduction, which is the same backwards.
pub fn reduced(shape: &Shape) -> Formula {
    let (forward, (m, k)) = (formula(shape), dimensions(shape));
    if forward == Formula::NOTHING {
        return forward;
    }
    let (all, b) = (shape.count as f64, shape.packet() as f64);
    if m == 1 {
        // The first vector that reaches the root where its result is to be needs no other place.
        let kept = if shape.in_place { 1 + k } else { k };
        return Formula { scratch: kept as f64 * all, path: (1 + k) as f64 * all, ..forward };
    }
    // Every port of a node belongs to one tree at most, so it receives m times what a tree carries at most; the root, all of the
    // trees once, of which the first arrival is combined with its own vector, or, if that is elsewhere, is the result so far.
    let tree = shape.packets().div_ceil(m) as f64 * b;
    let even = shape.packets().is_multiple_of(m) && shape.full_packets();
    // The first packet comes up m levels behind others. On all ports a node on the way receives those of other trees meanwhile, within
    // a host all of them at every level, if there are so many; the trees that have a packet more end later, and from m = 8 on, where
    // hosts have several nodes from m = 5 on, a node may have to take some more before.
    let counted = k == 0 && m < 8 || shape.parameters.ports != PortModel::AllPorts;
    let first = match shape.parameters.ports {
        PortModel::AllPorts if k > 0 => (2 * k + 1) * (m - 1) + m.saturating_sub(4),
        PortModel::AllPorts => 2 * (m - 1) + usize::from(!even && m > 2) + usize::from(!counted),
        PortModel::OneWay | PortModel::OnePort => (1 + k) * m,
    };
    let path = (1 + k) as f64 * all + first as f64 * b;
    Formula { scratch: m as f64 * tree.min(all) + k as f64 * all, path, ..forward }
        .at_most(&[Figure::Path], even && counted)
        .at_most(&[Figure::Scratch], even)
}

/// All ports: sqrt(M tau / (t_c m (m + k))); one-port: sqrt(M tau / (t_c m)); one-way: sqrt((2 + k) M tau / (t_c (m - 1 + k m))).
pub fn best_packet(shape: &Shape, tau: f64, t_c: f64) -> f64 {
    let ((m, k), mt) = (dimensions(shape), shape.count as f64 * tau / t_c);
    let later = height(m, k) as f64 - 1.0;
    let (m, k) = (m as f64, k as f64);
    match shape.parameters.ports {
        PortModel::AllPorts if later > 0.0 => (mt / (m * later)).sqrt(),
        PortModel::OnePort if m > 1.0 => (mt / m).sqrt(),
        PortModel::OneWay if m > 1.0 => ((2.0 + k) * mt / (m - 1.0 + k * m)).sqrt(),
        _ => shape.count as f64,
    }
}

/// The trees that use no link that must carry nothing; all of them if each does.
fn usable(problem: &Problem) -> Vec<Hosted<Ersbt>> {
    let (m, k) = (problem.n - problem.near(), problem.near());
    let trees = || (0..m).map(|j| Hosted::new(Ersbt::new(m, j), k));
    // A link within a host is in all trees, or in none that could do without it.
    let avoided: Vec<_> = problem.avoided_edges().into_iter().filter(|(from, to)| (from ^ to) >> k > 0).collect();
    let uses = |tree: &Hosted<Ersbt>| {
        avoided.iter().any(|&(from, to)| tree.parent(to ^ problem.root) == Some(from ^ problem.root))
    };
    let free: Vec<Hosted<Ersbt>> = trees().filter(|tree| !uses(tree)).collect();
    if free.is_empty() {
        trees().collect()
    } else {
        free
    }
}

pub fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    if problem.n == 0 {
        return;
    }
    let (m, k) = ((problem.n - problem.near()) as usize, problem.near() as usize);
    let trees = usable(problem);
    let packets_a_tree = packets(problem, parameters).count().div_ceil(trees.len());
    // Rounds of a cycle: those across a dimension between hosts, and one across each within them.
    let (far, cycles) = (if parameters.ports == PortModel::OneWay { 2 } else { 1 }, (packets_a_tree + 2) * m);
    route.set_rounds(match parameters.ports {
        PortModel::AllPorts => packets_a_tree + m + k + 1,
        PortModel::OnePort | PortModel::OneWay => cycles * (far + k),
    });
    for (index, tree) in trees.iter().enumerate() {
        let mine = || packets(problem, parameters).skip(index).step_by(trees.len());
        // The round in which packet q of this tree enters node c from its parent.
        let round = |c: usize, q: usize| {
            let (host, place) = tree.host(c);
            // A packet goes on within a host in the cycle in which it comes there, or leaves the root.
            let label = tree.hosts().label(host).unwrap_or(tree.hosts().number()) as usize;
            let cycle = q / trees.len() * m + label;
            match (parameters.ports, place.checked_ilog2()) {
                (PortModel::AllPorts, _) => q / trees.len() + tree.level(c) as usize - 1,
                (_, Some(port)) => cycle * (far + k) + far + port as usize,
                (PortModel::OnePort, None) => cycle * (far + k),
                (PortModel::OneWay, None) => {
                    cycle * (far + k) + (tree.hosts().parent(host).unwrap_or(0) >> (cycle % m) & 1)
                }
            }
        };
        down(problem, tree, node, route, mine, round);
    }
}

#[cfg(test)]
mod tests {
    use crate::address::Hosts;
    use crate::algorithm::verify::{schedules, verify};
    use crate::algorithm::{registry, Parameters, PortModel};
    use crate::collective::Call;
    use crate::collective::Collective::{Broadcast, Reduce};
    use crate::schedule::Kind;

    /// Hosts with 2 to 16 ranks each, from a root that does not lead its host: all figures are those of the row.
    #[test]
    fn trees_between_hosts_cost_what_the_row_says() {
        let shapes = (1..=6u32).flat_map(|m| (1..=4u32).map(move |k| (m, k))).filter(|(m, k)| m + k <= 7);
        let mut compared = 0;
        for (m, k) in shapes {
            let (hosts, size, per_tree) =
                (Hosts::with_ranks(&vec![1 << k; 1 << m], m % 2 == 0), 1 << (m + k), m as usize);
            let counts = [4, 8, 20].map(|packets| (packets * per_tree, Some(4)));
            let counts = counts.into_iter().chain((2..9).map(|packets| (4 * packets, Some(4))));
            let counts = [(24, None), (1, None), (61, Some(4)), (9, Some(4))].into_iter().chain(counts);
            let forms = counts.flat_map(|form| PortModel::ALL.map(|ports| (form, ports)));
            for ((count, packet), ports) in forms.filter(|(_, ports)| size <= 32 || *ports == PortModel::AllPorts) {
                for (collective, in_place) in [(Broadcast, false), (Reduce, false), (Reduce, true)] {
                    let algorithm = registry::find(collective, "msbt").expect("in the registry");
                    let call = Call { hosts: hosts.clone(), in_place, ..Call::new(collective, size, count) };
                    let parameters = Parameters { packet, symmetrized: false, ..Parameters::new(ports) };
                    let report = verify(algorithm, &call.with_root(size - 2), &parameters);
                    assert_eq!(report.violations, [], "{algorithm:?}, m {m}, k {k}, {count} in {packet:?}, {ports}");
                    compared += report.figures.len();
                }
            }
        }
        assert!(compared > 1000, "{compared}");
    }

    /// What crosses each link between hosts is a tree's share of the packets: of 3 trees a third, whichever rank is the root.
    #[test]
    fn links_between_hosts_carry_equal_shares() {
        let hosts = Hosts::with_ranks(&[4; 8], false);
        let parameters = Parameters { packet: Some(5), symmetrized: false, ..Parameters::new(PortModel::AllPorts) };
        for (collective, root) in [Broadcast, Reduce].into_iter().flat_map(|c| (0..32).map(move |root| (c, root))) {
            let algorithm = registry::find(collective, "msbt").expect("in the registry");
            let call = Call { hosts: hosts.clone(), ..Call::new(collective, 32, 60).with_root(root) };
            let mut carried = [[0; 8]; 8];
            for schedule in schedules(algorithm, &call, &parameters) {
                for operation in schedule.operations() {
                    if let Kind::Send { peer } = operation.kind {
                        carried[schedule.rank / 4][peer / 4] += schedule.len(operation);
                    }
                }
            }
            let between = (0..8).flat_map(|a| (0..8).filter(move |b| *b != a).map(move |b| carried[a][b]));
            // The links into the root's host carry nothing, out of it in a reduction.
            assert_eq!(between.filter(|carried| *carried == 20).count(), 24 - 3, "{collective} {root}: {carried:?}");
        }
    }
}
