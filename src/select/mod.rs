//! Which algorithm, port model and packet size a call gets, and why.
//!
//! The choice is a pure function of the call, the bytes of an element, the user's options and the machine, so all ranks
//! agree without a word.

use crate::algorithm::{registry, Algorithm, Order, Parameters, PortModel, Shape};
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

/// What the choice needs to know of a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Its name in explanations.
    pub name: String,
    /// Start-up time of a message, in seconds.
    pub tau: f64,
    /// Transfer time in seconds per byte.
    pub t_c: f64,
    /// How many ports of a node work at once.
    pub ports: PortModel,
    /// Whether every two ranks are linked as well as neighbours on the cube are.
    pub pairs_linked: bool,
    /// Where ranks share one memory: how they share the cores.
    pub shared: Option<SharedMemory>,
}

/// What decides where ranks share one memory: receivers copy, all at once as far as there are cores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedMemory {
    /// Cores that the ranks share.
    pub cores: usize,
    /// Time in seconds until a rank that waits sees what another has sent, if each has a core of its own.
    pub hop: f64,
}

impl Machine {
    /// Ranks that share one memory and `cores` cores: any two are linked. The times are typical ones.
    pub fn shared_memory(cores: usize) -> Machine {
        Machine {
            name: format!("shared memory, {cores} cores (built in)"),
            tau: 0.3e-6,
            t_c: 0.1e-9,
            ports: PortModel::OnePort,
            pairs_linked: true,
            shared: Some(SharedMemory { cores: cores.max(1), hop: 1e-6 }),
        }
    }

    /// Hosts on a network that links every two of them, each with one port of about 10 Gbit/s. The times are typical ones.
    pub fn network() -> Machine {
        Machine {
            name: "network (built in)".into(),
            tau: 30e-6,
            t_c: 0.9e-9,
            ports: PortModel::OnePort,
            pairs_linked: true,
            shared: None,
        }
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
        for parameters in parameters(algorithm, call, element, options, machine) {
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

/// The parameters to consider: as asked for, or, what is left open, as the machine suggests.
fn parameters(
    algorithm: &Algorithm,
    call: &Call,
    element: usize,
    options: &Options,
    machine: &Machine,
) -> Vec<Parameters> {
    let ports = options.ports.unwrap_or(match options.symmetrized {
        Some(true) => PortModel::AllPorts,
        _ if algorithm.ports.contains(&machine.ports) => machine.ports,
        // Made for other machines: run all the same if asked for, as narrow as it can be.
        _ if options.algorithm.is_some() => algorithm.ports.iter().copied().min().unwrap_or(PortModel::OnePort),
        _ => PortModel::OnePort,
    });
    let symmetrized =
        options.symmetrized.unwrap_or(algorithm.symmetrizes && ports == PortModel::AllPorts && !call.ordered);
    let asked = Parameters {
        packet: options.packet,
        ports,
        symmetrized,
        order: options.order,
        variant: options.variant.unwrap_or_default(),
    };
    let mut all = vec![asked];
    if options.packet.is_none() && algorithm.packets.contains(&ports) && call.count > 0 {
        let shape = Shape::new(call, &asked);
        let best = (algorithm.best_packet)(&shape, machine.tau, machine.t_c * element as f64);
        all.push(Parameters { packet: Some((best.round() as usize).clamp(1, call.count)), ..asked });
    }
    all
}

/// The time for the next larger whole cube, in seconds: the paper's formula; on shared memory, hops that take the longer the
/// more ranks wait for a core, a start-up a round, and the copies, of which only as many go on at once as there are cores.
pub fn predict(algorithm: &Algorithm, call: &Call, element: usize, parameters: &Parameters, machine: &Machine) -> f64 {
    let shape = Shape::new(call, parameters);
    let formula = (algorithm.formula)(&shape);
    let t_c = machine.t_c * element as f64;
    let Some(SharedMemory { cores, hop }) = machine.shared else { return formula.time(machine.tau, t_c) };
    let turn = (call.size as f64 / cores as f64).max(1.0);
    let copies = formula.path.max(formula.moved / cores.min(call.size) as f64);
    formula.hops as f64 * hop * turn + formula.rounds as f64 * machine.tau + copies * t_c
}
