//! Which algorithm, port model and packet size a call gets, and why.
//!
//! The choice is a pure function of the call, the bytes of an element, the user's options and the machine. Ranks that
//! make the same call therefore choose alike, and need no message to do so. Of blocks of unequal lengths it sees what all ranks know:
//! their sum and the longest, or nothing ([`Layout`]). What the machine is, they agree on when a
//! [`crate::Hypercube`] is made: the parameters of a [`tuning`] file, or those that were measured then, or built-in ones.
//!
//! ```
//! use hypercoll::collective::{Call, Collective};
//! use hypercoll::select::{choose, Machine, Options};
//!
//! // What would a broadcast of 2^20 bytes to 16 hosts on a network get?
//! let call = Call::new(Collective::Broadcast, 16, 1 << 20);
//! let choice = choose(&call, 1, &Options::default(), &Machine::network())?;
//! println!("{}: {:.1} ms, {}", choice.algorithm.name, 1e3 * choice.predicted, choice.why);
//! // A port takes in 2^20 bytes in 0.94 ms, at 0.9 ns a byte. No rank has them sooner.
//! assert!(choice.predicted > 0.94e-3);
//!
//! // And by the binomial tree? It sends all of it four times.
//! let sbt = Options { algorithm: Some("sbt".into()), packet: Some(1 << 20), ..Options::default() };
//! assert!(choose(&call, 1, &sbt, &Machine::network())?.predicted > 4.0 * 0.94e-3);
//! # hypercoll::Result::Ok(())
//! ```

mod caches;
mod corrections;
mod lately;
mod logarithm;
mod machine;
mod model;
mod overrides;
mod settings;
mod spread;
pub mod tuning;
mod wiring;

pub use corrections::{By, Checked, Timed, REACH};
pub(crate) use lately::Lately;
pub use machine::{Alone, Links, Machine, Measurement, SharedMemory, Times, Together, PACKET_COST};
pub use model::{predict, IN_A_ROW};
pub use overrides::{parse_bytes, Overrides};
pub use settings::{Lacks, Settings, Sources};
pub use spread::Spread;
pub use wiring::{OfLinks, Wiring};

use crate::address::dimension_for;
use crate::algorithm::{registry, Algorithm, Formula, Latency, Order, Parameters, PortModel};
use crate::collective::{Call, Collective, Known, Layout, Steps};
use crate::error::{Error, Result};
use crate::topology::sbnt::Variant;
use corrections::Corrections;

/// What the user asks of a call; `None` leaves it to the library.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Name of the algorithm.
    pub algorithm: Option<String>,
    /// Packet size in elements; [`Options::WHOLE`] for whole messages.
    pub packet: Option<usize>,
    /// Port model for which the schedule is made.
    pub ports: Option<PortModel>,
    /// All dimensions at once (true) or one dimension at a time (false).
    pub symmetrized: Option<bool>,
    /// The order of a scatter's or gather's blocks.
    pub order: Option<Order>,
    /// Which spanning balanced n-tree.
    pub variant: Option<Variant>,
    /// For how much latency a tree is made.
    pub latency: Option<Latency>,
}

impl Options {
    /// The packet size that asks for whole messages, of any algorithm, also of those that do not cut messages.
    pub const WHOLE: usize = usize::MAX;

    /// An algorithm with all its parameters, none left open but an order that they do not give.
    pub fn exactly(algorithm: &Algorithm, parameters: &Parameters) -> Options {
        Options {
            algorithm: Some(algorithm.name.into()),
            packet: Some(parameters.packet.unwrap_or(Options::WHOLE)),
            ports: Some(parameters.ports),
            symmetrized: Some(parameters.symmetrized),
            order: parameters.order,
            variant: Some(parameters.variant),
            latency: Some(parameters.latency),
        }
    }

    /// Whether all is left to the library.
    pub fn is_empty(&self) -> bool {
        *self == Options::default()
    }
}

/// An algorithm with its parameters, and the reason.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub parameters: Parameters,
    /// Predicted time in seconds on the machine, corrected by what has been measured of such calls there. Of an all-to-all with blocks of
    /// different lengths it is that of this rank's own.
    pub predicted: f64,
    /// What the model alone predicts, by the registry's formula for the next larger whole cube.
    pub model: f64,
    /// Why this one.
    pub why: String,
}

/// An algorithm with parameters that serve a call.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub parameters: Parameters,
    /// Predicted time in seconds, as in [`Choice::predicted`].
    pub predicted: f64,
    /// What the model alone predicts, as in [`Choice::model`].
    pub model: f64,
}

/// All algorithms of a collective: those that serve a call, and those that do not.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// Those that serve it, each with every set of parameters considered, the least predicted time first; of equal times, or such that
    /// only differ by what formulas round, the first of the registry. Of an all-to-all with blocks of different lengths the order is that of
    /// long ones, as all ranks find it alike, and the times are those of this rank's own.
    pub serving: Vec<Candidate>,
    /// Those that do not, in the order of the registry, with the reason.
    pub refused: Vec<(&'static Algorithm, Error)>,
}

/// Of two algorithms with as many rounds, hops and packets, times that differ by less differ by what formulas round, which is no reason
/// to choose.
const ROUNDED: f64 = 1.001;

/// What a call whose elements have `element` bytes can be served by. Of an algorithm that `options` name, by that one alone.
///
/// # Errors
/// [`Error::Packet`] for a packet of 0 elements; [`Error::UnknownAlgorithm`].
pub fn candidates(call: &Call, element: usize, options: &Options, machine: &Machine) -> Result<Candidates> {
    if options.packet == Some(0) {
        return Err(Error::Packet);
    }
    let named = options.algorithm.as_deref().map(|name| registry::find(call.collective, name)).transpose()?;
    let mut candidates = Candidates::default();
    let corrections = Corrections::of(call, element, machine);
    let given = call;
    for algorithm in registry::of(call.collective).filter(|a| named.is_none_or(|named| std::ptr::eq(named, *a))) {
        if let (Some(why), None) = (algorithm.not_chosen(given), named) {
            let Algorithm { name, collective, .. } = *algorithm;
            let why = Error::Unsuited { argument: "algorithm", algorithm: name, collective, why: why.into() };
            candidates.refused.push((algorithm, why));
            continue;
        }
        let (mut serves, mut refusal) = (false, None);
        let call = &evened(given, element, algorithm, machine);
        for parameters in model::parameters(algorithm, call, element, options, machine) {
            // A packet that holds all is none, unless it was asked for.
            if serves
                && options.packet.is_none()
                && parameters.packet.is_some_and(|packet| packet >= call.space().len())
            {
                continue;
            }
            match algorithm.accepts(given, &parameters) {
                Ok(()) => {
                    serves = true;
                    let model = predict(algorithm, call, element, &parameters, machine);
                    let predicted = model * corrections.factor(algorithm, &parameters);
                    candidates.serving.push(Candidate { algorithm, parameters, predicted, model });
                }
                Err(why) => refusal = Some(why),
            }
        }
        candidates.refused.extend(refusal.filter(|_| !serves).map(|why| (algorithm, why)));
    }
    // Stable: of equal ones the first of the registry.
    candidates.serving.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let shape = |candidate: &Candidate| {
        let Candidate { algorithm, parameters, .. } = candidate;
        let call = evened(given, element, algorithm, machine);
        let Formula { rounds, hops, .. } = (algorithm.formula)(&algorithm.shape(&call, parameters));
        (rounds, hops, parameters.packet)
    };
    let place = |algorithm| registry::of(call.collective).position(|other| std::ptr::eq(other, algorithm));
    if let Some(least) = candidates.serving.first() {
        let close = candidates.serving.iter().enumerate();
        let close = close.take_while(|(_, candidate)| candidate.predicted <= ROUNDED * least.predicted);
        let equal = close.filter(|(at, candidate)| *at == 0 || shape(candidate) == shape(least));
        if let Some((first, _)) = equal.min_by_key(|(_, candidate)| place(candidate.algorithm)) {
            candidates.serving[..=first].rotate_right(1);
        }
    }
    // The order is the same on all ranks; the times are this one's.
    if let Some(own) = own(given) {
        for Candidate { algorithm, parameters, predicted, model } in &mut candidates.serving {
            *model = predict(algorithm, &own, element, parameters, machine);
            *predicted = *model;
        }
    }
    Ok(candidates)
}

/// Of an all-to-all of which a rank knows its own lengths alone, one with equal blocks that takes this rank as long.
fn own(call: &Call) -> Option<Call> {
    let count = call.layout.as_ref()?.mean_of_row()?;
    Some(Call { layout: None, count, ..call.clone() })
}

/// Bytes that a block is taken to have over links if none but its own two ranks know: as many as make a difference. In packets, as long ones
/// go, short ones are whole.
const UNKNOWN: usize = 64 << 10;

/// Whether blocks of that call are such.
fn is_unknown(call: &Call, machine: &Machine) -> bool {
    let is_own = |layout: &Layout| layout.known() == Known::Own;
    call.collective == Collective::AllToAll && machine.shared.is_none() && call.layout.as_ref().is_some_and(is_own)
}

/// The call with equal blocks that an algorithm would take about as long for as for the given ones: the same on all ranks, as it depends
/// on nothing but what all of them know of the lengths ([`Layout::typical`]).
fn evened(call: &Call, element: usize, algorithm: &Algorithm, machine: &Machine) -> Call {
    let Some(layout) = &call.layout else { return call.clone() };
    let unit = Call { layout: None, count: 1, ..call.clone() };
    if is_unknown(call, machine) {
        return Call { count: (UNKNOWN / element.max(1)).max(1), ..unit };
    }
    let ports = match machine.ports {
        PortModel::AllPorts if !algorithm.shares => dimension_for(call.size).max(1) as usize,
        _ => 1,
    };
    let formula = (algorithm.formula)(&algorithm.shape(&unit, &Parameters::new(PortModel::OnePort)));
    let one_by_one = formula.rounds + 1 >= call.size;
    let steps = match machine.shared.is_none() && call.flows() {
        // A block that visits every rank in turn goes on as it comes, and so does what all links share; over links, ranks run far enough
        // ahead for that.
        true if algorithm.shares => Steps::Flowing,
        true if one_by_one && !algorithm.cube_edges && formula.hops + 1 >= call.size => Steps::Flowing,
        _ if one_by_one => Steps::OneByOne,
        _ => Steps::Together,
    };
    let count = layout.typical(call.collective.has_root(), steps, ports);
    Call { count, ..unit }
}

/// Chooses for a call whose elements have `element` bytes: the first of the [`candidates`].
///
/// # Errors
/// An option that cannot be honoured: unknown algorithm, packet of 0 elements, a parameter that the algorithm does not
/// take. Nothing is silently replaced.
pub fn choose(call: &Call, element: usize, options: &Options, machine: &Machine) -> Result<Choice> {
    let candidates = candidates(call, element, options, machine)?;
    match candidates.serving.first() {
        Some(&Candidate { algorithm, parameters, predicted, model }) => {
            let mut why = match options.algorithm {
                Some(_) => "asked for".into(),
                None if is_unknown(call, machine) => {
                    let (on, unknown) = (&machine.name, UNKNOWN >> 10);
                    format!(
                        "least predicted time on {on} of blocks of {unknown} KiB, as ranks know but their own lengths"
                    )
                }
                None => format!("least predicted time on {}", machine.name),
            };
            if predicted != model {
                why += &format!(", corrected by what tune measured (the model says {:.1} us)", model * 1e6);
            }
            Ok(Choice { algorithm, parameters, predicted, model, why })
        }
        None => {
            // That an algorithm has to be named says nothing of the call.
            let telling = |(algorithm, _): &(&Algorithm, Error)| {
                options.algorithm.is_some() || algorithm.not_chosen(call).is_none()
            };
            Err(candidates.refused.into_iter().rfind(telling).map_or_else(
                || Error::UnknownAlgorithm {
                    name: "auto".into(),
                    collective: call.collective,
                    known: registry::of(call.collective).map(|a| a.name).collect::<Vec<_>>().join(", "),
                },
                |(_, why)| why,
            ))
        }
    }
}
