//! The pattern behind trees for a latency on a torus, where a message is the longer under way the more links it goes over.
//!
//! A message started at unit of time t is there at t + lambda + l d, d the links that it goes over. The trees go along one side of the
//! torus after the other: first round the ring of the root, then all of its hosts round theirs along the next side, and so on. A ring is two
//! lines, which the root serves in turns. On a line of m hosts, the first of which has the vector, T_g(1) = 0, and
//!
//! T_g(m) = min over s of max(g + T_g(s), lambda + l s + T_1(m - s)), g = 2 for the root, 1 for others:
//!
//! its next message is for the host s links away, which has the rest to do, and g units later, if s > 1, it goes on with the others. For
//! l = 0 these are the trees of [`postal`](super::postal); for l >= 2 the root sends to all hosts of its ring itself, the farthest first, and
//! all have the vector at the same time, as soon as the farthest one can have it.
//!
//! Reference: the postal model and its trees as there (BK92, section 3); that what a message takes goes up with the links, and trees are made
//! side by side: as usual for tori, without a paper of its own.

use crate::address::Torus;

/// A message between two hosts, and the unit of time in which it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub start: usize,
}

/// What follows one another on a way that takes as long as all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Way {
    pub messages: usize,
    pub hops: usize,
    pub links: usize,
}

impl Way {
    pub fn then(self, other: Way) -> Way {
        let Way { messages, hops, links } = other;
        Way { messages: self.messages + messages, hops: self.hops + hops, links: self.links + links }
    }
}

/// The trees of a torus.
pub struct Rings {
    torus: Torus,
    lambda: usize,
    link: usize,
    /// Of lines of so many hosts, the first of which sends every unit, or every other one: the time, and how far the first message goes.
    lines: [Vec<(usize, usize)>; 2],
}

/// A line: whether its first host serves another one in turns, and so sends every other unit; its hosts; when it starts.
#[derive(Clone, Copy)]
struct Line {
    in_turns: bool,
    hosts: usize,
    start: usize,
}

impl Rings {
    /// For messages that are there lambda units after their start, and `link` more for every link.
    pub fn new(torus: Torus, lambda: usize, link: usize) -> Rings {
        let most = torus.sides().iter().max().map_or(1, |side| side / 2 + 1);
        let lambda = lambda.max(1);
        let mut lines: [Vec<(usize, usize)>; 2] = [vec![(0, 0); 2], vec![(0, 0); 2]];
        for hosts in 2..=most {
            for at in [0, 1] {
                let kept = |s: usize| if s > 1 { at + 1 + lines[at][s].0 } else { 0 };
                let time = |s: usize| kept(s).max(lambda + link * s + lines[0][hosts - s].0);
                let best = (1..hosts).map(|s| (time(s), s)).min().unwrap_or_default();
                lines[at].push(best);
            }
        }
        Rings { torus, lambda, link, lines }
    }

    /// The two lines of a ring of so many hosts, as its root sees them.
    fn of_ring(hosts: usize) -> [Line; 2] {
        let line = |others, start| Line { in_turns: true, hosts: others + 1, start };
        [line(hosts / 2, 0), line((hosts - 1) / 2, 1)]
    }

    fn line(&self, line: Line) -> (usize, usize) {
        self.lines[usize::from(line.in_turns)][line.hosts]
    }

    /// The line in two: what its first host keeps, and what the next message, if there is one to send, leaves to the host so far away.
    fn split(&self, line: Line) -> Option<(Line, usize, Line)> {
        let Line { in_turns, hosts, start } = line;
        let (_, far) = self.line(line);
        let kept = Line { hosts: far, start: start + 1 + usize::from(in_turns), ..line };
        let left = Line { in_turns: false, hosts: hosts - far, start: start + self.lambda + self.link * far };
        (hosts > 1).then_some((kept, far, left))
    }

    fn way_of(&self, line: Line) -> Way {
        let Some((kept, far, left)) = self.split(line) else { return Way::default() };
        match kept.hosts > 1 && left.start + self.line(left).0 < kept.start + self.line(kept).0 {
            true => Way { messages: kept.start - line.start, ..Way::default() }.then(self.way_of(kept)),
            false => Way { messages: 1, hops: 1, links: far }.then(self.way_of(left)),
        }
    }

    /// What a line comes to by a figure of it and of its two parts, 0 for a line of one host.
    fn over(&self, line: Line, figure: &dyn Fn(Line, usize, usize) -> usize) -> usize {
        let Some((kept, _, left)) = self.split(line) else { return 0 };
        figure(line, self.over(kept, figure), self.over(left, figure))
    }

    /// Messages that the first host of a line sends.
    fn sends(&self, line: Line) -> usize {
        self.over(line, &|_, kept, _| kept + 1)
    }

    /// The most messages that another host of a line sends.
    fn passed(&self, line: Line) -> usize {
        let Some((kept, _, left)) = self.split(line) else { return 0 };
        self.passed(kept).max(self.passed(left)).max(self.sends(left))
    }

    /// For each side in turn.
    fn each<'r, T>(&'r self, figure: impl Fn([Line; 2]) -> T + 'r) -> impl Iterator<Item = T> + 'r {
        self.torus.sides().iter().map(move |&hosts| figure(Rings::of_ring(hosts)))
    }

    /// The units of time in which messages of a ring start, in their order.
    fn starts(&self, ring: [Line; 2]) -> Vec<usize> {
        let (mut starts, mut lines) = (Vec::new(), Vec::from(ring));
        while let Some(line) = lines.pop() {
            if let Some((kept, _, left)) = self.split(line) {
                starts.push(line.start);
                lines.extend([kept, left]);
            }
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Units of time until the last message of a ring starts.
    fn units_of(&self, ring: [Line; 2]) -> usize {
        self.starts(ring).last().map_or(0, |last| last + 1)
    }

    /// The same of all, where messages along a side start when all along the side before have started.
    pub fn units(&self) -> usize {
        self.each(|ring| self.units_of(ring)).sum()
    }

    /// Those of them in which a message starts.
    pub fn rounds(&self) -> usize {
        self.each(|ring| self.starts(ring).len()).sum()
    }

    /// The most hops.
    pub fn height(&self) -> usize {
        let height = |line| self.over(line, &|_, kept, left| kept.max(1 + left));
        self.each(|ring| ring.into_iter().map(height).max().unwrap_or(0)).sum()
    }

    /// The most messages that the root sends, and that another host does.
    pub fn children(&self) -> (usize, usize) {
        let sends = |ring: [Line; 2]| ring.into_iter().map(|line| self.sends(line)).sum::<usize>();
        let passed = |ring: [Line; 2]| ring.into_iter().map(|line| self.passed(line)).max().unwrap_or(0);
        // Along the later sides every host that has the vector sends as much as the root.
        self.each(|ring| (sends(ring), passed(ring))).fold((0, 0), |(root, other), (sends, passed)| {
            (root + sends, passed.max(if root > 0 { other + sends } else { 0 }))
        })
    }

    pub fn way(&self) -> Way {
        self.each(|[right, left]| {
            let time = |line: Line| line.start + self.line(line).0;
            match left.hosts > 1 && time(left) > time(right) {
                true => Way { messages: left.start, ..Way::default() }.then(self.way_of(left)),
                false => self.way_of(right),
            }
        })
        .fold(Way::default(), Way::then)
    }

    /// The message into a host, and those out of it in the order of their starts.
    pub fn edges(&self, root: usize, host: usize) -> (Option<Edge>, Vec<Edge>) {
        let (mut into, mut out) = (None, Vec::new());
        let (mut before, mut first) = (0, root);
        for (side, &hosts) in self.torus.sides().iter().enumerate() {
            let (ring, own) = (Rings::of_ring(hosts), self.torus.along(side, root, host));
            let member = self.torus.moved(side, first, own);
            // Others on its way take part for it in the rings along the sides before its last one.
            if member == host {
                let mut sent = Vec::new();
                for (line, backwards) in ring.into_iter().zip([false, true]) {
                    let steps = |place: usize| if backwards { (hosts - place) % hosts } else { place };
                    let Some(place) = (0..line.hosts).find(|&place| steps(place) == own) else { continue };
                    let edge = |Edge { from, to, start }| {
                        let [from, to] = [from, to].map(|place| self.torus.moved(side, first, steps(place)));
                        Edge { from, to, start: before + start }
                    };
                    let (entered, left) = self.on_line(line, place);
                    into = entered.map(edge).or(into);
                    sent.extend(left.into_iter().map(edge));
                }
                sent.sort_by_key(|edge| edge.start);
                out.extend(sent);
            }
            before += self.units_of(ring);
            first = member;
        }
        (into, out)
    }

    /// The same on a line, by places.
    fn on_line(&self, mut line: Line, place: usize) -> (Option<Edge>, Vec<Edge>) {
        let (mut into, mut out, mut from) = (None, Vec::new(), 0);
        while let Some((kept, far, left)) = self.split(line) {
            let edge = Edge { from, to: from + far, start: line.start };
            if place >= edge.to {
                into = Some(edge);
                (line, from) = (left, edge.to);
            } else {
                if place == from {
                    out.push(edge);
                }
                line = kept;
            }
        }
        // The last one on the way is the one into the place.
        (into.filter(|edge| edge.to == place), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The hosts by the messages into them, and what each sends, root first.
    fn all(rings: &Rings, root: usize) -> Vec<(Option<Edge>, Vec<Edge>)> {
        (0..rings.torus.hosts()).map(|host| rings.edges(root, host)).collect()
    }

    /// Every host but the root gets one message, and sends it on afterwards, one message a round; what is said of the trees is so.
    #[test]
    fn every_host_is_entered_once() {
        for sides in [&[1][..], &[2], &[3], &[7], &[16], &[4, 3], &[2, 5], &[1, 6], &[4, 4, 4], &[8, 3, 5]] {
            let torus = Torus::new(sides).expect("a torus");
            for (lambda, link) in (1..5).flat_map(|lambda| (0..4).map(move |link| (lambda, link))) {
                let rings = Rings::new(torus, lambda, link);
                for root in [0, torus.hosts() / 2, torus.hosts() - 1] {
                    let case = format!("{torus} from {root}, {lambda}, {link}");
                    let hosts = all(&rings, root);
                    let (mut sends, mut rounds) = ((0, 0), BTreeSet::new());
                    for (host, (into, out)) in hosts.iter().enumerate() {
                        assert_eq!(into.is_none(), host == root, "{case}");
                        assert!(into.is_none_or(|edge| hosts[edge.from].1.contains(&edge)), "{case}");
                        let mut last = into.map(|edge| edge.start);
                        for edge in out {
                            assert_eq!((edge.from, hosts[edge.to].0), (host, Some(*edge)), "{case}");
                            assert!(last.is_none_or(|last| last < edge.start), "{case}: {edge:?}");
                            last = Some(edge.start);
                            rounds.insert(edge.start);
                        }
                        let most = if host == root { &mut sends.0 } else { &mut sends.1 };
                        *most = (*most).max(out.len());
                    }
                    let hops = |mut host: usize| {
                        let mut hops = 0;
                        while let Some(edge) = hosts[host].0 {
                            (host, hops) = (edge.from, hops + 1);
                        }
                        hops
                    };
                    assert!(rounds.last().map_or(0, |last| last + 1) <= rings.units(), "{case}");
                    let height = (0..hosts.len()).map(hops).max();
                    assert_eq!(
                        (rings.children(), rings.rounds(), Some(rings.height())),
                        (sends, rounds.len(), height),
                        "{case}"
                    );
                }
            }
        }
    }

    /// On a ring, by the times of all messages: the way is one that takes as long as all, and no message of a host starts before its own
    /// has come.
    #[test]
    fn the_way_takes_as_long_as_all() {
        for hosts in 1..40 {
            for (lambda, link) in (1..5).flat_map(|lambda| (0..4).map(move |link| (lambda, link))) {
                let rings = Rings::new(Torus::new(&[hosts]).expect("a ring"), lambda, link);
                let there = |edge: Edge| {
                    let by = edge.from.abs_diff(edge.to);
                    edge.start + lambda + link * by.min(hosts - by)
                };
                let all = all(&rings, 0);
                let late =
                    all.iter().all(|(into, out)| into.is_none_or(|edge| out.iter().all(|o| o.start >= there(edge))));
                let time = all.iter().filter_map(|(into, _)| *into).map(there).max().unwrap_or(0);
                let Way { messages, hops, links } = rings.way();
                assert!(
                    late && time == messages + hops * (lambda - 1) + link * links,
                    "{hosts}, {lambda}, {link}: {time}"
                );
                // The farthest host can have it no sooner.
                let least = if hosts > 1 { lambda + link * (hosts / 2) } else { 0 };
                assert!(if link >= 2 { time <= least + 1 } else { time >= least }, "{hosts}, {lambda}, {link}: {time}");
            }
        }
    }

    /// Without links that count, a line is the tree of the postal model.
    #[test]
    fn lines_are_postal_trees_where_links_do_not_count() {
        for lambda in 1..6 {
            let rings = Rings::new(Torus::new(&[120]).expect("a ring"), lambda, 0);
            for hosts in 1..=61 {
                let mut reached = vec![1usize; lambda];
                while reached[reached.len() - 1] < hosts {
                    reached.push(reached[reached.len() - 1] + reached[reached.len() - lambda]);
                }
                let time = if hosts == 1 { 0 } else { reached.len() - 1 };
                assert_eq!(rings.lines[0][hosts].0, time, "{lambda}, {hosts}");
            }
        }
    }
}
