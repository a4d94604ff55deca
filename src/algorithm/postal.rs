//! The pattern behind trees in which a rank goes on sending while its first message is under way, between hosts and within them.
//!
//! In the postal model a rank starts a message every unit of time, and the other rank has it lambda units after its start. F(t) places can
//! be reached in t units: F(t) = 1 for t < lambda, F(t) = F(t - 1) + F(t - lambda), as the first message leaves a place with t - 1 units
//! for more, and another one with t - lambda. Of P places, F(t - 1) < P <= F(t), the first message is for the last P - F(t - 1), and so on
//! in both parts. lambda = 1 makes the binomial tree, lambda = 2 the Fibonacci tree, lambda >= P - 1 a star. Where a place sends no more than so
//! many messages, its [`Fan`], what is reached after each of them is counted apart.
//!
//! Where hosts have several ranks, one of each, its leader, is in a tree for the lambda between hosts, and then sends down one of its host
//! for the lambda there. The root leads its host, the first rank every other one. On a torus the trees between hosts are those of
//! [`rings`](super::rings).
//!
//! Reference: A. Bar-Noy, S. Kipnis 1992, "Designing broadcasting algorithms in the postal model for message-passing systems", section 3
//! (F_lambda, its index function and the tree); R. M. Karp, A. Sahay, E. E. Santos, K. E. Schauser 1993, "Optimal broadcast and summation
//! in the LogP model". lambda = (L + 2 o) / g rounded, [`Latency`](super::Latency).

use super::rings::{Edge, Rings, Way};
use super::{Figure, Formula, Latency, OnTorus, Shape};
use crate::schedule::{Problem, Route};

/// The most messages that a place sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fan(usize);

/// As many as there is time for.
pub const ANY: Fan = Fan(usize::MAX);

/// Two: the trees of lambda = 1 are those of Fibonacci's numbers, less one.
pub const TWO: Fan = Fan(2);

/// The trees of one lambda.
pub struct Postal {
    lambda: usize,
    fan: Fan,
    /// F(0), F(1), ..., up to the places that there are: of a place that may send one more message, two more, and so on, all others as many as
    /// any; a single row if that is no limit.
    reached: Vec<Vec<usize>>,
}

impl Postal {
    pub fn new(places: usize, lambda: usize, fan: Fan) -> Postal {
        let lambda = lambda.max(1);
        let rows = if fan == ANY { 1 } else { fan.0 };
        let mut tree = Postal { lambda, fan, reached: vec![vec![1; lambda]; rows] };
        while tree.reached[rows - 1].last().is_some_and(|last| *last < places) {
            let time = tree.reached[0].len();
            let there = tree.reached[rows - 1][time - lambda];
            let next: Vec<usize> = (0..rows).map(|row| tree.after(row, time - 1) + there).collect();
            tree.reached.iter_mut().zip(next).for_each(|(row, next)| row.push(next));
        }
        tree
    }

    /// F of a place that has sent one of the messages that a row stands for.
    fn after(&self, row: usize, time: usize) -> usize {
        match (self.fan, row) {
            (ANY, _) => self.reached[0][time],
            (_, 0) => 1,
            _ => self.reached[row - 1][time],
        }
    }

    /// The row after one message more, if another one may be sent.
    fn next(&self, row: usize) -> usize {
        if self.fan == ANY {
            0
        } else {
            row.saturating_sub(1)
        }
    }

    /// The row of a place that has sent nothing.
    fn top(&self) -> usize {
        self.reached.len() - 1
    }

    /// The units of time that so many places take.
    fn time(&self, places: usize) -> usize {
        self.time_in(self.top(), places)
    }

    fn time_in(&self, row: usize, places: usize) -> usize {
        self.reached[row].partition_point(|reached| *reached < places)
    }

    /// Units of time until the last message starts.
    fn units(&self, places: usize) -> usize {
        if places < 2 {
            0
        } else {
            self.time(places) + 1 - self.lambda
        }
    }

    /// Messages that the first of so many places sends.
    fn children(&self, places: usize) -> usize {
        self.units(places).min(self.fan.0)
    }

    /// Of so many places, those that the first message is not for.
    fn kept(&self, places: usize) -> usize {
        self.after(self.top(), self.time(places) - 1)
    }

    /// The most hops.
    fn height(&self, places: usize) -> usize {
        if places < 2 {
            return 0;
        }
        // Below the first message there may be fewer places than time would do for, below all others there are not.
        let others = if self.children(places) > 1 { (self.time(places) - 1) / self.lambda } else { 0 };
        others.max(1 + self.height(places - self.kept(places)))
    }

    /// The most messages that another than the first place sends.
    fn passed(&self, places: usize) -> usize {
        if places < 2 {
            return 0;
        }
        let left = self.time(places).checked_sub(1 + self.lambda);
        let second = left.map_or(0, |left| self.children(self.reached[self.top()][left]));
        self.children(places - self.kept(places)).max(second)
    }

    /// What follows one another on a way that takes as long as all: every hop is a start and lambda - 1 units more.
    fn way(&self, places: usize) -> Way {
        match self.height(places) {
            0 => Way::default(),
            hops => Way { messages: self.time(places) - hops * (self.lambda - 1), hops, links: 0 },
        }
    }

    /// The message into a position of so many, and those out of it, in the order of their starts.
    fn edges(&self, position: usize, places: usize) -> (Option<Edge>, Vec<Edge>) {
        let (mut into, mut out) = (None, Vec::new());
        // The part that a place is the first of, when it has one more message to start.
        let (mut first, mut left, mut start, mut row) = (0, places, 0, self.top());
        while left > 1 {
            let kept = self.after(row, self.time_in(row, left) - 1);
            let edge = Edge { from: first, to: first + kept, start };
            if position >= edge.to {
                into = Some(edge);
                (first, left, start, row) = (edge.to, left - kept, start + self.lambda, self.top());
            } else {
                if position == first {
                    out.push(edge);
                }
                (left, start, row) = (kept, start + 1, self.next(row));
            }
        }
        (into, out)
    }
}

/// The trees between hosts.
enum Far {
    /// Which are all alike.
    Any(Postal, usize),
    /// On a torus.
    Torus(Rings),
}

impl Far {
    fn new(fan: Fan, latency: Latency, hosts: usize) -> Far {
        match latency.torus.filter(|on| fan == ANY && on.torus.hosts() == hosts) {
            Some(OnTorus { torus, link }) => Far::Torus(Rings::new(torus, latency.far, link)),
            None => Far::Any(Postal::new(hosts, latency.far, fan), hosts),
        }
    }

    /// Units of time until the last message starts.
    fn units(&self) -> usize {
        match self {
            Far::Any(tree, hosts) => tree.units(*hosts),
            Far::Torus(rings) => rings.units(),
        }
    }

    /// Those of them in which a message starts.
    fn rounds(&self) -> usize {
        match self {
            Far::Any(..) => self.units(),
            Far::Torus(rings) => rings.rounds(),
        }
    }

    /// The most messages that the root sends, and that another host does.
    fn children(&self) -> (usize, usize) {
        match self {
            Far::Any(tree, hosts) => (tree.children(*hosts), tree.passed(*hosts)),
            Far::Torus(rings) => rings.children(),
        }
    }

    fn height(&self) -> usize {
        match self {
            Far::Any(tree, hosts) => tree.height(*hosts),
            Far::Torus(rings) => rings.height(),
        }
    }

    fn way(&self) -> Way {
        match self {
            Far::Any(tree, hosts) => tree.way(*hosts),
            Far::Torus(rings) => rings.way(),
        }
    }

    /// The message into a host, and those out of it, in the order of their starts.
    fn edges(&self, root: usize, host: usize) -> (Option<Edge>, Vec<Edge>) {
        match self {
            Far::Torus(rings) => rings.edges(root, host),
            Far::Any(tree, hosts) => {
                let (into, out) = tree.edges((host + hosts - root) % hosts, *hosts);
                let at = |position: usize| (root + position) % hosts;
                let edge = |Edge { from, to, start }| Edge { from: at(from), to: at(to), start };
                (into.map(edge), out.into_iter().map(edge).collect())
            }
        }
    }
}

/// The trees of a call: between hosts, and within the host that has the most ranks.
struct Trees {
    far: Far,
    near: (Postal, usize),
}

impl Trees {
    fn of(fan: Fan, shape: &Shape) -> Trees {
        let (latency, most) = (shape.parameters.latency, shape.on_host.0);
        Trees { far: Far::new(fan, latency, shape.hosts), near: (Postal::new(most, latency.near, fan), most) }
    }

    fn near<T>(&self, figure: impl Fn(&Postal, usize) -> T) -> T {
        figure(&self.near.0, self.near.1)
    }
}

/// The rank that leads a host: the root leads its own, the first rank every other one.
pub fn leader(problem: &Problem, host: usize) -> usize {
    match problem.host_at(problem.root) {
        home if home == host => problem.root,
        _ => problem.places_of(host).start,
    }
}

/// Writes what a node receives and sends after so many rounds, given which place is at a position.
fn put(
    problem: &Problem,
    (into, out): (Option<Edge>, Vec<Edge>),
    before: usize,
    place: impl Fn(usize) -> usize,
    route: &mut Route,
) {
    if let Some(Edge { from, start, .. }) = into {
        route.receive(before + start, place(from), [problem.vector()]);
    }
    for Edge { to, start, .. } in out {
        route.send(before + start, place(to), [problem.vector()]);
    }
}

impl Fan {
    /// Writes a node's messages, each with all of the vector.
    pub fn write(self, problem: &Problem, latency: Latency, node: usize, route: &mut Route) {
        let hosts = problem.hosts();
        let tree = Far::new(self, latency, hosts);
        if node < problem.call.size {
            let (home, own) = (problem.host_at(problem.root), problem.host_at(node));
            if node == leader(problem, own) {
                put(problem, tree.edges(home, own), 0, |host| leader(problem, host), route);
            }
        }
        self.write_within(problem, latency, tree.units(), node, route);
    }

    /// Writes a node's messages within its host, from its leader down, after so many rounds.
    pub fn write_within(self, problem: &Problem, latency: Latency, before: usize, node: usize, route: &mut Route) {
        // The first host has the most ranks.
        let (most, _) = problem.most_and_fewest();
        let tree = Postal::new(most, latency.near, self);
        route.set_rounds(before + tree.units(most));
        if node >= problem.call.size {
            return;
        }
        let own = problem.host_at(node);
        let (leads, mates) = (leader(problem, own), problem.places_of(own));
        let mate = |at: usize| mates.start + (leads - mates.start + at) % mates.len();
        let at = (node + mates.len() - leads) % mates.len();
        put(problem, tree.edges(at, mates.len()), before, mate, route);
    }

    /// The most messages that the root, and that another leader, sends.
    pub fn children(self, shape: &Shape) -> (usize, usize) {
        let trees = Trees::of(self, shape);
        let ((root, other), near) = (trees.far.children(), trees.near(Postal::children));
        (root + near, other + near)
    }

    /// Messages that the host that sends the most sends to others.
    pub fn crossing(self, shape: &Shape) -> usize {
        let (root, other) = Trees::of(self, shape).far.children();
        root.max(other)
    }

    /// Up the tree and down again; another host than the root's sends one up besides.
    pub fn crossing_twice(self, shape: &Shape) -> usize {
        let (root, other) = Trees::of(self, shape).far.children();
        root.max(other + usize::from(shape.hosts > 1))
    }

    /// Rounds and hops.
    pub fn formula(self, shape: &Shape) -> Formula {
        let trees = Trees::of(self, shape);
        let rounds = trees.far.rounds() + trees.near(Postal::units);
        let formula = Formula { rounds, hops: trees.far.height() + trees.near(Postal::height), ..Formula::NOTHING };
        // Up a tree of rings, or of few children, no rank need receive in every round, nor need a message start in every unit of time.
        formula
            .at_most(&[Figure::Path], self == ANY && matches!(trees.far, Far::Any(..)))
            .at_most(&[Figure::Rounds, Figure::Elements], self == ANY)
    }

    /// Rounds and hops within the host that has the most ranks.
    pub fn within(self, shape: &Shape) -> Formula {
        let trees = Trees::of(self, shape);
        Formula { rounds: trees.near(Postal::units), hops: trees.near(Postal::height), ..Formula::NOTHING }
    }

    /// What of them follows one another on a way that takes as long as all.
    pub fn way_within(self, shape: &Shape) -> Formula {
        on(Trees::of(self, shape).near(Postal::way))
    }

    /// Messages and hops between hosts on that way.
    pub fn far(self, shape: &Shape) -> (usize, usize) {
        let Way { messages, hops, .. } = Trees::of(self, shape).far.way();
        (messages, hops)
    }

    /// Rounds and hops on that way.
    pub fn way(self, shape: &Shape) -> Formula {
        let trees = Trees::of(self, shape);
        on(trees.far.way().then(trees.near(Postal::way)))
    }
}

fn on(Way { messages, hops, links }: Way) -> Formula {
    Formula { rounds: messages, hops, links, ..Formula::NOTHING }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition: places that have it start a message every unit, each to a place that has nothing, so many at most.
    fn most_reached(time: usize, lambda: usize, fan: Fan) -> usize {
        let mut starts = vec![0];
        let mut at = 0;
        while at < starts.len() {
            let sent = (starts[at]..time).take(fan.0).map(|start| start + lambda);
            starts.extend(sent.filter(|arrival| *arrival <= time));
            at += 1;
        }
        starts.len()
    }

    /// No tree is through sooner; every position is entered once, and sends what it has, one message a unit.
    #[test]
    fn trees_reach_every_position_as_soon_as_can_be() {
        let fans = [ANY, TWO, Fan(3), Fan(5)];
        let trees = fans.into_iter().flat_map(|fan| (1..=9).map(move |lambda| (fan, lambda)));
        for (fan, lambda, places) in trees.flat_map(|(fan, lambda)| (1..=150).map(move |places| (fan, lambda, places)))
        {
            let tree = Postal::new(places, lambda, fan);
            let (time, mut entered, mut children) = (tree.time(places), Vec::new(), Vec::new());
            let most = |time| most_reached(time, lambda, fan);
            assert!(places == 1 || most(time) >= places && most(time - 1) < places);
            let mut hops = vec![0; places];
            for position in 0..places {
                let (into, out) = tree.edges(position, places);
                let has = into.map_or(0, |edge| edge.start + lambda);
                assert!(out.iter().enumerate().all(|(nth, edge)| (edge.from, edge.start) == (position, has + nth)));
                assert!(out.iter().all(|edge| edge.start + lambda <= time) && out.len() <= fan.0);
                for edge in &out {
                    hops[edge.to] = hops[position] + 1;
                    assert_eq!(tree.edges(edge.to, places).0, Some(*edge));
                }
                entered.extend(out.iter().map(|edge| edge.to));
                children.push(out.len());
            }
            entered.sort_unstable();
            let what = format!("{fan:?} {lambda} {places}");
            assert!(entered.into_iter().eq(1..places), "{what}");
            assert_eq!(children[0], tree.children(places), "{what}");
            assert_eq!(children[1..].iter().max().copied().unwrap_or(0), tree.passed(places), "{what}");
            assert_eq!(hops.into_iter().max(), Some(tree.height(places)), "{what}");
        }
    }

    /// What is known of lambda = 1, 2 and large ones, and of Fibonacci's numbers.
    #[test]
    fn trees_that_have_names() {
        let times = |lambda: usize, fan| move |places| Postal::new(places, lambda, fan).time(places);
        assert_eq!([2, 3, 4, 5, 8, 9].map(times(1, ANY)), [1, 2, 2, 3, 3, 4]);
        assert_eq!([2, 3, 5, 8, 13, 21].map(times(2, ANY)), [2, 3, 4, 5, 6, 7]);
        assert_eq!([2, 4, 7, 12, 20, 33, 34].map(times(1, TWO)), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Postal::new(20, 19, ANY).children(20), 19);
    }
}
