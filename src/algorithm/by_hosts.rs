//! The pattern behind exchanges from host to host: what every rank has enters every host once, and is passed on there.
//!
//! In phase k = 1, ..., H - 1 every host gets what the ranks of the host k places before it have, either straight from there (shift) or
//! from the host before it, which got that in the phase before (ring). Of the l-th rank's, the l-th rank of a host sends and receives
//! it, counted modulo the ranks of that host, and then passes it on to its mates. So all ranks of a host work its ports together. Where
//! hosts have more ranks than others, a phase has several waves.

use crate::algorithm::{Figure, Formula, Shape};
use crate::collective::{part, part_with};
use crate::schedule::{Problem, Route};
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

/// Waves of a phase, given the most and the fewest ranks of a host: ranks of the host that has the most for each one of the host that has the fewest.
pub fn waves(most: usize, fewest: usize) -> usize {
    most.div_ceil(fewest.max(1))
}

/// The cost of an all-gather of blocks of m elements: (P - 1) (m t_c + tau) if all hosts have as many ranks.
pub fn gathered(course: Course, shape: &Shape) -> Formula {
    let Shape { size, count, hosts, on_host: (most, fewest), .. } = *shape;
    if size == 1 || count == 0 {
        return Formula::NOTHING;
    }
    let phases = hosts - 1;
    let rounds = most - 1 + phases * most * waves(most, fewest);
    // Within a host go a rank's own block and one of each wave; between hosts one, or one of each wave.
    let load = match (course, most) {
        (Course::Shift, 1) => 1,
        (Course::Ring, 1) => phases,
        _ => 1 + phases * waves(most, fewest),
    };
    let elements = (rounds * count) as f64;
    Formula {
        rounds,
        elements,
        moved: (size * (size - 1) * count) as f64,
        load: (load * count) as f64,
        // As many messages follow one another between two mates, or round the ring.
        hops: load,
        path: elements,
        ..Formula::NOTHING
    }
}

/// The partial results that a rank receives in the opposite direction.
fn received(shape: &Shape) -> usize {
    let (most, fewest) = shape.on_host;
    let far = (shape.hosts - 1) * waves(most, fewest);
    (1 + far) * (most - 1) + far
}

/// The cost of a reduce-scatter: the same, and all that a rank combines but what comes first for its own block is kept.
pub fn scattered(course: Course, shape: &Shape) -> Formula {
    let kept = received(shape).saturating_sub(1) * shape.count;
    Formula { scratch: kept as f64, ..gathered(course, shape) }
}

/// The cost of an all-reduce of vectors of M elements, each host's part of which is as long: what comes first of a block that a
/// rank has a part in lies where its result will be.
pub fn reduced(course: Course, shape: &Shape) -> Formula {
    let Shape { count, hosts, on_host: (most, fewest), .. } = *shape;
    // Of a host with so many ranks.
    let block = |ranks: usize| count.div_ceil(hosts * ranks.max(1));
    let longest = block(fewest);
    let back = gathered(course, &Shape { count: longest, ..*shape });
    // In its later waves there are only ranks of hosts that have so many.
    let phase: usize = (0..waves(most, fewest)).map(|wave| most * block(fewest.max(wave * fewest + 1))).sum();
    let elements = if shape.size > 1 { ((most - 1) * longest + (hosts - 1) * phase) as f64 } else { 0.0 };
    let back = Formula { elements, path: elements, ..back };
    let both = back.then(back);
    // Round a ring of more than two, the reduction goes the other way.
    let opposite = course == Course::Ring && most == 1 && shape.size > 2;
    let load = if opposite { back.load } else { both.load };
    let combined = if course == Course::Ring || most > 1 { hosts } else { 1 };
    let kept = received(shape).saturating_sub(if shape.in_place { 0 } else { combined }) * longest;
    let even = most == fewest && count.is_multiple_of(shape.size);
    Formula { moved: (2 * (shape.size - 1) * count) as f64, load, scratch: kept as f64, ..both }
        .at_most(&[Figure::Elements, Figure::Load, Figure::Scratch, Figure::Hops, Figure::Path], even)
}

/// The block of a place, of the vector that is to be reduced: hosts have as long parts, so that as much goes into each, and so have the
/// ranks of a host.
fn share(problem: &Problem, place: usize) -> Range<usize> {
    let host = problem.host_at(place);
    let mates = problem.places_of(host);
    part(part(problem.vector(), host, problem.hosts()), place - mates.start, mates.len())
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

/// Writes that `item(place)`, what each place has, goes to all others.
pub fn write(course: Course, problem: &Problem, node: usize, route: &mut Route, item: impl Fn(usize) -> Range<usize>) {
    write_phases(course, problem, node, route, 0..problem.hosts(), item);
}

/// Writes that the parts of a vector go from those that they belong to to all others.
pub fn write_shares(course: Course, problem: &Problem, node: usize, route: &mut Route) {
    let (hosts, vector) = (problem.hosts(), problem.vector());
    if vector.len() >= hosts || node >= problem.call.size {
        return write(course, problem, node, route, |place| share(problem, place));
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
    write_phases(course, problem, node, route, phases, |place| share(problem, place));
}

/// The phases that are given, in their order.
fn write_phases(
    course: Course,
    problem: &Problem,
    node: usize,
    route: &mut Route,
    phases: impl IntoIterator<Item = usize>,
    item: impl Fn(usize) -> Range<usize>,
) {
    let hosts = problem.hosts();
    let ranks = |host: usize| problem.places_of(host).len();
    // The first host has the most ranks, the last one the fewest.
    let (most, waves) = (ranks(0), waves(ranks(0), ranks(hosts - 1)));
    route.set_rounds(most - 1 + (hosts - 1) * most * waves);
    if node >= problem.call.size {
        return;
    }
    let host = problem.host_at(node);
    let ahead = |steps: usize| problem.places_of((host + steps) % hosts);
    let behind = |steps: usize| problem.places_of((host + hosts - steps) % hosts);
    let mates = behind(0);
    let own = node - mates.start;
    // Whose a rank of this host sends or receives in a wave, if the other host has so many ranks, of those of the host `of`.
    let carried = |mate: usize, wave: usize, other: usize, of: &Range<usize>| {
        let width = mates.len().min(other);
        let index = (wave * width..(wave + 1) * width).find(|index| index % mates.len() == mate)?;
        (index < of.len()).then_some(index)
    };
    for phase in phases {
        let (to, sent) = if course == Course::Ring { (1, phase.saturating_sub(1)) } else { (phase, 0) };
        let (to, from, sent, got) = (ahead(to), behind(if phase == 0 { 0 } else { to }), behind(sent), behind(phase));
        for wave in 0..if phase == 0 { 1 } else { waves } {
            let mut round = 0;
            if phase > 0 {
                round = most - 1 + ((phase - 1) * waves + wave) * most;
                if let Some(index) = carried(own, wave, to.len(), &sent) {
                    route.send(round, to.start + index % to.len(), [item(sent.start + index)]);
                }
                if let Some(index) = carried(own, wave, from.len(), &got) {
                    route.receive(round, from.start + index % from.len(), [item(got.start + index)]);
                }
                round += 1;
            }
            give(&mates, node, round, route, |mate, _| {
                carried(mate - mates.start, wave, from.len(), &got).map(|index| item(got.start + index))
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
    use crate::algorithm::{registry::ALGORITHMS, verify::schedules, Parameters, PortModel};
    use crate::collective::{Blocks, Call};
    use crate::schedule::Kind;

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
