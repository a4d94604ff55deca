//! The pattern behind exchanges from host to host: what every rank has enters every host once, and is passed on there.
//!
//! In phase k = 1, ..., H - 1 every host gets what the ranks of the host k places before it have, either straight from there (shift) or
//! from the host before it, which got that in the phase before (ring). Some ranks of a host are its carriers: they alone send to other hosts
//! and receive from them, block i by carrier i modulo their number, and pass on to their mates what they get. In phase 0 all ranks of a host have
//! given each other what they have. Where hosts have as many ranks, all are carriers, and work the ports of their host together.
//!
//! Where they have not, a phase has several waves, in each of which as many blocks go as that of the two hosts has carriers that has fewer. In an all-gather all
//! ranks are carriers then, too, but where one host has more than all others, which have as many as each other: it has no more carriers than
//! they. (If more of its ranks sent, what comes first would come as slowly as the last, and go on that late: all-gathers of 64 and 256 KiB on
//! hosts of 5, 1, 1 and 1 ranks reached .65 and .71 of the limit, and .94 and .97 this way. Few carriers on several wide hosts have too much to give to
//! their mates: on hosts of 4, 4, 4 and 1 they took .98 of the limit at 50 Mbit/s either way, but at 500 Mbit/s three quarters of the rate.)
//!
//! A vector that is reduced has a part for each host. Hosts of unlike numbers of ranks cut theirs into as many blocks as the others
//! ([`blocks_of_part`]), and their carriers take turns: so all hosts take the same steps, and none has to run ahead. (Cut into a block for each
//! rank, all-reduces on hosts of 4, 3, 2 and 1 ranks had to: the queues of ports filled, and they reached .67 to .94 of the limit, where these
//! reach .97. Far ahead, with a window of 64 to 8192 operations, these reached .83 to .95. Where 13 ranks on two cores cannot fill links of 500 Mbit/s, though,
//! ranks in step wait for each other's turns: 4 MiB on hosts of 4, 4, 4 and 1 reached .22, far ahead .28 to .42.)

use crate::algorithm::{Figure, Formula, Shape};
use crate::collective::{part, part_with};
use crate::schedule::{Problem, Route};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

/// The way from host to host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// Straight.
    Shift,
    /// Through all hosts between.
    Ring,
}

/// Waves in which so many blocks go, so many at a time.
pub fn waves(blocks: usize, width: usize) -> usize {
    blocks.div_ceil(width.max(1))
}

/// The cost of an all-gather of blocks of m elements: (P - 1) (m t_c + tau) if all hosts have as many ranks.
pub fn gathered(course: Course, shape: &Shape) -> Formula {
    let Shape { size, count, hosts, on_host: (most, fewest), .. } = *shape;
    if size == 1 || count == 0 {
        return Formula::NOTHING;
    }
    let waves = waves(most, fewest);
    let (rounds, messages) = (rounds(hosts, most, waves), in_a_row(course, shape, waves));
    let elements = (rounds * count) as f64;
    Formula {
        rounds,
        elements,
        moved: (size * (size - 1) * count) as f64,
        load: (messages * count) as f64,
        hops: messages,
        path: elements,
        ..Formula::NOTHING
    }
}

/// Rounds of all phases, each of which has so many waves, on hosts of so many ranks at most.
fn rounds(hosts: usize, most: usize, waves: usize) -> usize {
    most - 1 + (hosts - 1) * most * waves
}

/// Messages that follow one another between two mates, or round the ring: within a host one of a rank's own and one of each wave; between hosts
/// one, or one of each wave.
fn in_a_row(course: Course, shape: &Shape, waves: usize) -> usize {
    let phases = shape.hosts - 1;
    match (course, shape.on_host.0) {
        (Course::Shift, 1) => 1,
        (Course::Ring, 1) => phases,
        _ => 1 + phases * waves,
    }
}

/// The partial results that a rank receives in the opposite direction, on a host of so many ranks, of its own blocks and of those that it carries.
fn received(ranks: usize, own: usize, far: usize) -> usize {
    (own + far) * (ranks - 1) + far
}

/// The cost of a reduce-scatter: the same, and all that a rank combines but what comes first for its own block is kept.
pub fn scattered(course: Course, shape: &Shape) -> Formula {
    let (most, fewest) = shape.on_host;
    let far = (shape.hosts - 1) * waves(most, fewest);
    let kept = received(most, 1, far).saturating_sub(1) * shape.count;
    Formula { scratch: kept as f64, ..gathered(course, shape) }
}

/// The blocks into which every host's part of a vector is cut: one for each rank where hosts have as many ranks; else that number of blocks for which
/// the hosts with the most and with the fewest ranks have the most carriers together, of equal ones the fewest. (The hosts between are not looked at:
/// of 13, 12 and 1 ranks the second has one carrier.)
fn blocks_of_part((most, fewest): (usize, usize)) -> usize {
    if most == fewest {
        return most;
    }
    let carry = |blocks: usize| carriers(blocks, most) + carriers(blocks, fewest);
    (1..=most).min_by_key(|&blocks| Reverse(carry(blocks))).unwrap_or(1)
}

/// The ranks of a host of so many that carry blocks between hosts, as many blocks each.
fn carriers(blocks: usize, ranks: usize) -> usize {
    (1..=blocks.min(ranks)).rev().find(|&carriers| blocks.is_multiple_of(carriers)).unwrap_or(1)
}

/// The cost of an all-reduce of vectors of M elements, each host's part of which is as long: what comes first of a block that a
/// rank has a part in lies where its result will be.
pub fn reduced(course: Course, shape: &Shape) -> Formula {
    let Shape { size, count, hosts, on_host: (most, fewest), .. } = *shape;
    if size == 1 || count == 0 {
        return Formula::NOTHING;
    }
    let (blocks, phases) = (blocks_of_part(shape.on_host), hosts - 1);
    let block = count.div_ceil(hosts * blocks);
    let waves = waves(blocks, carriers(blocks, fewest));
    // A rank's own go together.
    let (own, messages) = (blocks.div_ceil(fewest), in_a_row(course, shape, waves));
    let elements = (((most - 1) * own + phases * most * waves) * block) as f64;
    let load = ((messages + own - 1) * block) as f64;
    let rounds = rounds(hosts, most, waves);
    let back = Formula { rounds, elements, load, hops: messages, path: elements, ..Formula::NOTHING };
    let both = back.then(back);
    // Round a ring of more than two, the reduction goes the other way.
    let opposite = course == Course::Ring && most == 1 && size > 2;
    let load = if opposite { back.load } else { both.load };
    // Of what a rank on a host of so many receives in the opposite direction, from its mates and from other hosts.
    let kept = |ranks: usize| {
        let own = blocks.div_ceil(ranks);
        let far = phases * blocks / carriers(blocks, ranks);
        let combined = if course == Course::Ring || ranks > 1 { own + far } else { own };
        received(ranks, own, far).saturating_sub(if shape.in_place { 0 } else { combined })
    };
    let scratch = (fewest..=most).map(kept).max().unwrap_or(0) * block;
    let even = most == fewest && count.is_multiple_of(size);
    Formula { moved: (2 * (size - 1) * count) as f64, load, scratch: scratch as f64, ..both }
        .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Hops, Figure::Path], even)
}

/// What goes into and out of a host that reduces vectors, in elements: its part from all others, and theirs, there and back.
pub fn crossing_reduced(shape: &Shape) -> f64 {
    (2 * (shape.hosts - 1) * shape.count.div_ceil(shape.hosts)) as f64
}

/// What goes into the host with the fewest ranks, or straight from the one with the most, in elements.
pub fn crossing(course: Course, shape: &Shape) -> f64 {
    let (most, fewest) = shape.on_host;
    let out = if course == Course::Shift { most * (shape.hosts - 1) } else { 0 };
    (out.max(shape.size - fewest) * shape.count) as f64
}

/// What goes to all: the blocks of hosts, and `item(host, block)`, what each is.
struct Items<I> {
    /// How many each host has of a vector that is cut alike for all; else each has one of each rank.
    of_part: Option<usize>,
    /// The carriers of every host of blocks of ranks, if not all its ranks.
    narrow: Option<usize>,
    item: I,
}

impl<I: Fn(usize, usize) -> Range<usize>> Items<I> {
    /// Of a host of so many ranks.
    fn of(&self, ranks: usize) -> usize {
        self.of_part.unwrap_or(ranks)
    }

    /// The ranks of such a host that carry them.
    fn carriers(&self, ranks: usize) -> usize {
        self.of_part.map_or(self.narrow.unwrap_or(ranks), |blocks| carriers(blocks, ranks))
    }

    /// How many go in a wave between hosts of so many carriers: parts go on in step with the host that has the fewest.
    fn width(&self, one: usize, other: usize, fewest: usize) -> usize {
        if self.of_part.is_some() {
            fewest
        } else {
            one.min(other)
        }
    }
}

/// Writes that `item(place)`, what each place has, goes to all others.
pub fn write(course: Course, problem: &Problem, node: usize, route: &mut Route, item: impl Fn(usize) -> Range<usize>) {
    let item = |host: usize, index: usize| item(problem.places_of(host).start + index);
    let (_, fewest) = problem.most_and_fewest();
    // The hosts with more ranks come first.
    let one_is_wide = problem.hosts() > 2 && problem.places_of(1).len() == fewest;
    let narrow = one_is_wide.then_some(fewest);
    write_phases(course, problem, node, route, 0..problem.hosts(), Items { of_part: None, narrow, item });
}

/// Writes that the parts of a vector go from those that they belong to to all others.
pub fn write_shares(course: Course, problem: &Problem, node: usize, route: &mut Route) {
    let (hosts, vector) = (problem.hosts(), problem.vector());
    let blocks = blocks_of_part(problem.most_and_fewest());
    let item = |host: usize, index: usize| part(part(vector.clone(), host, hosts), index, blocks);
    let blocks = Items { of_part: Some(blocks), narrow: None, item };
    if vector.len() >= hosts || node >= problem.call.size {
        return write_phases(course, problem, node, route, 0..hosts, blocks);
    }
    // Of fewer elements than hosts most have no part: phases in which nothing comes and nothing goes are not looked at.
    let own = problem.host_at(node);
    let holders = (0..vector.len()).map(|nth| part_with(nth, vector.len(), hosts));
    let behind: BTreeSet<usize> = holders.map(|holder| (own + hosts - holder) % hosts).collect();
    let phases: BTreeSet<usize> = match course {
        Course::Shift if behind.contains(&0) => (0..hosts).collect(),
        Course::Shift => behind,
        Course::Ring => behind.iter().flat_map(|&steps| [steps, steps + 1]).filter(|&phase| phase < hosts).collect(),
    };
    write_phases(course, problem, node, route, phases, blocks);
}

/// The phases that are given, in their order.
fn write_phases(
    course: Course,
    problem: &Problem,
    node: usize,
    route: &mut Route,
    phases: impl IntoIterator<Item = usize>,
    blocks: Items<impl Fn(usize, usize) -> Range<usize>>,
) {
    let hosts = problem.hosts();
    let places = |host: usize| problem.places_of(host % hosts);
    let (most, fewest) = problem.most_and_fewest();
    let narrowest = blocks.carriers(fewest);
    let waves = waves(blocks.of(most), narrowest);
    route.set_rounds(rounds(hosts, most, waves));
    if node >= problem.call.size {
        return;
    }
    let host = problem.host_at(node);
    let mates = places(host);
    let own = node - mates.start;
    let carriers = blocks.carriers(mates.len());
    // The block of the host `of` that a rank of this host sends or receives in a wave, if the other host has so many carriers.
    let carried = |mate: usize, wave: usize, other: usize, of: usize| {
        let width = blocks.width(carriers, other, narrowest);
        let index = (wave * width..(wave + 1) * width).find(|index| index % carriers == mate)?;
        (index < blocks.of(places(of).len())).then_some(index)
    };
    for phase in phases {
        if phase == 0 {
            give(&mates, node, 0, route, |mate, _| {
                let own = (mate - mates.start..blocks.of(mates.len())).step_by(mates.len());
                own.map(|index| (blocks.item)(host, index))
            });
            continue;
        }
        let (steps, sent) = if course == Course::Ring { (1, phase - 1) } else { (phase, 0) };
        let behind = |steps: usize| (host + hosts - steps) % hosts;
        let (to, from, sent, got) = (places(host + steps), places(behind(steps)), behind(sent), behind(phase));
        let [takers, givers] = [&to, &from].map(|places| blocks.carriers(places.len()));
        for wave in 0..waves {
            let round = most - 1 + ((phase - 1) * waves + wave) * most;
            if let Some(index) = carried(own, wave, takers, sent) {
                route.send(round, to.start + index % takers, [(blocks.item)(sent, index)]);
            }
            if let Some(index) = carried(own, wave, givers, got) {
                route.receive(round, from.start + index % givers, [(blocks.item)(got, index)]);
            }
            give(&mates, node, round + 1, route, |mate, _| {
                carried(mate - mates.start, wave, givers, got).map(|index| (blocks.item)(got, index))
            });
        }
    }
}

/// Writes that the ranks of a host give each other `given(from, to)`, by shifts.
pub fn give<G: IntoIterator<Item = Range<usize>>>(
    mates: &Range<usize>,
    node: usize,
    first_round: usize,
    route: &mut Route,
    given: impl Fn(usize, usize) -> G,
) {
    let mate = |steps: usize| mates.start + (node - mates.start + steps) % mates.len();
    for shift in 1..mates.len() {
        let (to, from) = (mate(shift), mate(mates.len() - shift));
        route.send(first_round + shift - 1, to, given(node, to));
        route.receive(first_round + shift - 1, from, given(from, node));
    }
}

#[cfg(test)]
mod tests {
    use crate::address::Hosts;
    use crate::algorithm::verify::{schedules, verify};
    use crate::algorithm::{registry::ALGORITHMS, Parameters, PortModel};
    use crate::collective::{Blocks, Call, Collective};
    use crate::schedule::Kind;

    /// On hosts of unlike numbers of ranks, with several waves and several carriers, carriers that are not all of their host's ranks, and hosts
    /// between those with the most and the fewest.
    #[test]
    fn schedules_on_unlike_hosts_are_right() {
        let rows = ALGORITHMS.iter().filter(|algorithm| {
            let collectives = [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce];
            collectives.contains(&algorithm.collective) && ["ring", "shift"].contains(&algorithm.name)
        });
        let shapes: [&[usize]; 6] = [&[4, 2], &[6, 4], &[7, 5, 4], &[8, 8, 3], &[9, 4, 4], &[5, 1, 1, 1]];
        let mut verified = 0;
        for (algorithm, ranks) in rows.flat_map(|algorithm| shapes.map(|ranks| (algorithm, ranks))) {
            let (size, hosts) = (ranks.iter().sum::<usize>(), Hosts::with_ranks(ranks, true));
            for (count, in_place) in
                [1, ranks.len() - 1, 5 * size + 1].into_iter().flat_map(|count| [(count, false), (count, true)])
            {
                let call = Call { hosts: hosts.clone(), in_place, ..Call::new(algorithm.collective, size, count) };
                let report = verify(algorithm, &call, &Parameters::new(PortModel::OnePort));
                assert!(report.violations.is_empty(), "{algorithm:?} on {ranks:?}, {count}: {:?}", report.violations);
                verified += 1;
            }
        }
        assert_eq!(verified, 6 * 6 * 6);
    }

    /// Blocks of a part, and carriers of each host.
    #[test]
    fn parts_are_cut_for_most_carriers() {
        let cut = |ranks: &[usize]| {
            let blocks = super::blocks_of_part((ranks[0], ranks[ranks.len() - 1]));
            (blocks, Vec::from_iter(ranks.iter().map(|&ranks| super::carriers(blocks, ranks))))
        };
        assert_eq!(cut(&[4, 4]), (4, vec![4, 4]));
        assert_eq!(cut(&[4, 3, 2, 1]), (4, vec![4, 2, 2, 1]));
        assert_eq!(cut(&[7, 6]), (6, vec![6, 6]));
        assert_eq!(cut(&[3, 2]), (2, vec![2, 2]));
        assert_eq!(cut(&[16, 16, 10]), (16, vec![16, 16, 8]));
    }

    /// What goes into and out of the busiest host, counted in the schedules, is what the rows say.
    #[test]
    fn what_crosses_is_what_rows_say() {
        let shapes: [&[usize]; 11] = [
            &[2, 2],
            &[4, 4, 4, 4],
            &[3, 3, 3, 3],
            &[2; 6],
            &[5, 5, 5],
            &[4, 3, 2, 1],
            &[1, 5, 1],
            &[4, 4, 2],
            &[4, 4, 4, 3],
            &[8, 8, 8, 8, 4],
            &[8, 8, 1],
        ];
        let mut counted = 0;
        for (ranks, in_turn) in shapes.iter().flat_map(|ranks| [(ranks, false), (ranks, true)]) {
            let (size, hosts) = (ranks.iter().sum::<usize>(), Hosts::with_ranks(ranks, in_turn));
            let rows = ALGORITHMS.iter().filter(|algorithm| algorithm.crossing.is_some());
            let plain = |packet| Parameters { packet, ..Parameters::new(PortModel::OnePort) };
            let symmetrized = Parameters { symmetrized: true, ..Parameters::new(PortModel::AllPorts) };
            let forms = [plain(None), plain(Some(2)), symmetrized];
            let forms = rows.flat_map(|algorithm| forms.map(|parameters| (algorithm, parameters)));
            for (algorithm, parameters) in forms.filter(|(row, form)| row.symmetrizes || !form.symmetrized) {
                let call =
                    Call { hosts: hosts.clone(), ..Call::new(algorithm.collective, size, 2 * size).with_root(1) };
                // Where ranks keep their order, whatever hosts they are on, each is taken to be on one of its own.
                let host = |rank: usize| call.placing().map_or(rank, |hosts| hosts.host(hosts.place(rank)));
                let mut crossed = vec![[0usize; 2]; size];
                for schedule in schedules(algorithm, &call, &parameters) {
                    for operation in schedule.operations() {
                        let Kind::Send { peer } = operation.kind else { continue };
                        let (from, to) = (host(schedule.rank), host(peer));
                        let elements = if from == to { 0 } else { schedule.len(operation) };
                        crossed[from][0] += elements;
                        crossed[to][1] += elements;
                    }
                }
                let most = crossed.iter().flatten().max().map_or(0.0, |&most| most as f64);
                let stated = algorithm.crossing.map_or(0.0, |crossing| crossing(&algorithm.shape(&call, &parameters)));
                // There and back, what one host has most of in one direction another has in the other; and a root may be on any host.
                let meaning = algorithm.collective.meaning();
                let any_host = meaning.root && meaning.blocks != Blocks::Parts;
                let unlike = ranks.iter().any(|&n| n != ranks[0]);
                // Ranks that fill no subcube cross fewer links of the cube.
                let part = algorithm.cube_edges && !(ranks[0].is_power_of_two() && ranks.len().is_power_of_two());
                // Doubling carries on what hosts behind have, which may be more.
                let doubles = algorithm.name == "lanes";
                let bound = part || unlike && (meaning.passes == 2 || any_host || doubles || algorithm.cube_edges);
                let right = if bound { most <= stated } else { most == stated };
                assert!(
                    right,
                    "{algorithm:?} {parameters:?} on {ranks:?}, in turn: {in_turn}: {most}, stated {stated}"
                );
                counted += 1;
            }
        }
        assert_eq!(counted, 22 * (48 * 2 + 5));
    }
}
