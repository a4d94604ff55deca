//! Which algorithm, port model and packet size a call gets, and why.
//!
//! The choice is a pure function of the call, the bytes of an element, the user's options and the machine, so all ranks
//! agree without a word.

mod machine;
mod model;

pub use machine::{Machine, SharedMemory};
pub use model::predict;

use crate::algorithm::{registry, Algorithm, Order, Parameters, PortModel};
use crate::collective::Call;
use crate::error::{Error, Result};
use crate::topology::sbnt::Variant;

/// What the user asks of a call; `None` leaves it to the library.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Name of the algorithm.
    pub algorithm: Option<String>,
    /// Packet size in elements.
    pub packet: Option<usize>,
    /// Port model for which the schedule is made.
    pub ports: Option<PortModel>,
    /// All dimensions at once (true) or one dimension at a time (false).
    pub symmetrized: Option<bool>,
    /// The order of a scatter's or gather's blocks.
    pub order: Option<Order>,
    /// Which spanning balanced n-tree.
    pub variant: Option<Variant>,
}

impl Options {
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
    /// Predicted time in seconds on the machine, by the registry's formula for the next larger whole cube.
    pub predicted: f64,
    /// Why this one.
    pub why: String,
}

/// Chooses for a call whose elements have `element` bytes.
///
/// # Errors
/// An option that cannot be honoured: unknown algorithm, packet of 0 elements, a parameter that the algorithm does not
/// take. Nothing is silently replaced.
pub fn choose(call: &Call, element: usize, options: &Options, machine: &Machine) -> Result<Choice> {
    if options.packet == Some(0) {
        return Err(Error::Packet);
    }
    let named = options.algorithm.as_deref().map(|name| registry::find(call.collective, name)).transpose()?;
    let candidates = registry::of(call.collective).filter(|a| named.is_none_or(|named| std::ptr::eq(named, *a)));
    let mut refusal = None;
    let mut best: Option<Choice> = None;
    for algorithm in candidates {
        if named.is_none() && !algorithm.cube_edges && !machine.pairs_linked {
            continue;
        }
        for parameters in model::parameters(algorithm, call, element, options, machine) {
            if let Err(why) = algorithm.accepts(call, &parameters) {
                refusal = Some(why);
                continue;
            }
            let predicted = predict(algorithm, call, element, &parameters, machine);
            if best.as_ref().is_none_or(|b| predicted < b.predicted) {
                let why = if named.is_some() {
                    "asked for".into()
                } else {
                    format!("least predicted time on {}", machine.name)
                };
                best = Some(Choice { algorithm, parameters, predicted, why });
            }
        }
    }
    best.ok_or_else(|| {
        refusal.unwrap_or(Error::UnknownAlgorithm {
            name: "auto".into(),
            collective: call.collective,
            known: registry::of(call.collective).map(|a| a.name).collect::<Vec<_>>().join(", "),
        })
    })
}
