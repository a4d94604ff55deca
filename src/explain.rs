//! What ran and why: [`Hypercube::last`](crate::Hypercube::last) returns it after a call, as data and, printed, as
//! text.
//!
//! ```
//! hypercoll::threads::run(8, |cube| {
//!     let mut data = [0u32; 100];
//!     cube.broadcast(0).algorithm("sbt").run(&mut data).unwrap();
//!
//!     let explanation = cube.last().unwrap();
//!     assert_eq!((explanation.algorithm, explanation.why.as_str()), ("sbt", "asked for"));
//!     if cube.rank() == 0 {
//!         // The root of the binomial tree sends 3 messages of 100 elements of 4 bytes.
//!         assert_eq!((explanation.rounds, explanation.messages, explanation.bytes), (3, 3, 1200));
//!         assert!(explanation.to_string().starts_with("broadcast of 100 x 4 B on 8 ranks, root 0: sbt"));
//!     }
//! });
//! ```

use crate::algorithm::Parameters;
use crate::collective::{Collective, MatrixProduct};
use crate::plan::{Part, Plan};
use crate::schedule::Kind;
use crate::select::{candidates, Candidate, Machine, Options};
use std::collections::BTreeSet;
use std::fmt;

/// How many other algorithms an explanation names.
const ALTERNATIVES: usize = 3;

/// What one rank did in one collective.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The collective.
    pub collective: Collective,
    /// Number of ranks.
    pub size: usize,
    /// The root, where there is one.
    pub root: Option<usize>,
    /// The other rank of a send or exchange.
    pub peer: Option<usize>,
    /// Elements of the vector or block, and bytes of one.
    pub count: usize,
    /// Bytes of an element.
    pub element: usize,
    /// Shape and grid of a product of matrices.
    pub matrices: Option<MatrixProduct>,
    /// The algorithm.
    pub algorithm: &'static str,
    /// Its name in its paper.
    pub source: &'static str,
    /// Its parameters; the packet in elements.
    pub parameters: Parameters,
    /// Links that carry nothing, each as (lower rank, higher rank).
    pub avoided: Vec<(usize, usize)>,
    /// Why this algorithm with these parameters.
    pub why: String,
    /// How many parts of the vector were calls of their own, one after the other: 1 but for long vectors in short packets in shared
    /// memory.
    pub parts: usize,
    /// Rounds in which the rank had something to do.
    pub rounds: usize,
    /// Messages that the rank sent.
    pub messages: usize,
    /// Bytes that the rank sent.
    pub bytes: usize,
    /// Where hosts have several ranks: what of that went to other hosts.
    pub far: Option<Far>,
    /// Predicted time of the collective in seconds.
    pub predicted: f64,
    /// The next best algorithms, as a choice puts them in order, each in its best form, if all had been left to the library.
    pub alternatives: Vec<Alternative>,
    /// Measured time on this rank in seconds, if it has run, and was predicted to take 10 us at least: two looks at the clock
    /// would be a noticeable part of a shorter call.
    pub measured: Option<f64>,
}

/// What one rank sent to other hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Far {
    /// Number of hosts.
    pub hosts: usize,
    /// Messages.
    pub messages: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Far {
    fn of(plan: &Plan) -> Option<Far> {
        let hosts = plan.call.hosts.as_ref()?;
        let host = |rank: usize| hosts.host(hosts.place(rank));
        let mut far = Far { hosts: hosts.len(), messages: 0, bytes: 0 };
        for Part { schedule, .. } in plan.parts.iter() {
            for operation in schedule.operations() {
                if matches!(operation.kind, Kind::Send { peer } if host(peer) != host(schedule.rank)) {
                    far.messages += 1;
                    far.bytes += schedule.len(operation) * plan.element;
                }
            }
        }
        Some(far)
    }
}

/// An algorithm that could have served instead.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// Its name.
    pub algorithm: &'static str,
    /// Its parameters; the packet in elements.
    pub parameters: Parameters,
    /// Predicted time of the collective in seconds.
    pub predicted: f64,
}

/// The best forms of the algorithms that could have served a plan's call instead.
fn alternatives(plan: &Plan, machine: &Machine) -> Vec<Alternative> {
    let serving = candidates(&plan.call, plan.element, &Options::default(), machine).map(|found| found.serving);
    let mut alternatives: Vec<Alternative> = Vec::new();
    for Candidate { algorithm, parameters, predicted, .. } in serving.unwrap_or_default() {
        let known = |name| name == algorithm.name;
        if !known(plan.choice.algorithm.name) && !alternatives.iter().any(|other| known(other.algorithm)) {
            alternatives.push(Alternative { algorithm: algorithm.name, parameters, predicted });
        }
    }
    alternatives.truncate(ALTERNATIVES);
    alternatives
}

impl Explanation {
    pub(crate) fn of(plan: &Plan, measured: Option<f64>, machine: &Machine) -> Explanation {
        let rounds = |part: &Part| part.schedule.operations().iter().map(|o| o.round).collect::<BTreeSet<_>>().len();
        let sum = |of: &dyn Fn(&Part) -> usize| plan.parts.iter().map(of).sum();
        Explanation {
            collective: plan.call.collective,
            size: plan.call.size,
            root: plan.call.collective.has_root().then_some(plan.call.root),
            peer: plan.call.collective.has_peer().then_some(plan.call.peer),
            count: plan.call.count,
            element: plan.element,
            matrices: (plan.call.collective == Collective::MatrixMultiply).then(|| plan.call.product()),
            algorithm: plan.choice.algorithm.name,
            source: plan.choice.algorithm.source,
            parameters: plan.choice.parameters,
            avoided: plan.call.avoid.iter().flat_map(|avoid| avoid.links()).collect(),
            why: plan.choice.why.clone(),
            parts: plan.parts.number,
            rounds: sum(&rounds),
            messages: sum(&|part| part.schedule.messages_sent()),
            bytes: sum(&|part| part.schedule.elements_sent() * plan.element),
            far: Far::of(plan),
            predicted: plan.choice.predicted,
            alternatives: alternatives(plan, machine),
            measured,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.matrices {
            None => write!(f, "{} of {} x {} B on {} ranks", self.collective, self.count, self.element, self.size)?,
            Some(MatrixProduct { rows, inner, columns, grid_rows, grid_columns }) => write!(
                f,
                "{} of {rows} x {inner} by {inner} x {columns} elements of {} B on {grid_rows} x {grid_columns} = {} ranks",
                self.collective, self.element, self.size
            )?,
        }
        if let Some(root) = self.root {
            write!(f, ", root {root}")?;
        }
        if let Some(peer) = self.peer {
            write!(f, ", peer {peer}")?;
        }
        write!(f, ": {} ({}), {}", self.algorithm, self.source, self.parameters.form())?;
        if !self.avoided.is_empty() {
            let links: Vec<String> = self.avoided.iter().map(|(a, b)| format!("{a}-{b}")).collect();
            write!(f, ", avoiding {}", links.join(" "))?;
        }
        match self.parameters.packet {
            Some(packet) => write!(f, ", packets of {packet} elements")?,
            None => write!(f, ", whole messages")?,
        }
        if self.parts > 1 {
            write!(f, ", in {} parts", self.parts)?;
        }
        write!(
            f,
            "; {}; this rank: {} rounds, {} messages, {} bytes sent",
            self.why, self.rounds, self.messages, self.bytes
        )?;
        if let Some(Far { hosts, messages, bytes }) = self.far {
            write!(f, ", of which {messages} messages, {bytes} bytes to the other hosts of {hosts}")?;
        }
        write!(f, "; predicted {:.1} us", self.predicted * 1e6)?;
        if let Some(measured) = self.measured {
            write!(f, ", measured {:.1} us", measured * 1e6)?;
        }
        for (at, other) in self.alternatives.iter().enumerate() {
            let ports = other.parameters.ports;
            let before = if at == 0 { "; others: " } else { ", " };
            write!(f, "{before}{} {ports} {:.1} us", other.algorithm, other.predicted * 1e6)?;
        }
        Ok(())
    }
}
