//! The time where hosts have several ranks: the ranks of a host share its ports, and reach each other through its memory.

use super::super::Machine;
use super::over_links;
use crate::address::dimension_for;
use crate::algorithm::{Algorithm, Formula, Parameters, PortModel, Shape};
use crate::collective::Call;

/// What ranks of a host share: typical times, as of the built-in machine.
const NEAR_HOP: f64 = 1e-6;
const NEAR_START_UP: f64 = 0.15e-6;
const NEAR_BYTE: f64 = 0.2e-9;

/// What goes between hosts of all that an algorithm does.
struct Far {
    /// Elements that go into or out of the busiest host.
    crossing: f64,
    /// Of the rounds, messages and hops, the part between hosts.
    part: f64,
}

/// As the row says, or, if it does not: along the edges of a cube the upper dimensions lead to other hosts, and all ranks of a host that
/// send there do so at once.
fn far(algorithm: &Algorithm, formula: &Formula, shape: &Shape, ports: f64) -> Far {
    let (hosts, most) = (shape.hosts as f64, shape.on_host.0 as f64);
    let upper = f64::from(dimension_for(shape.hosts)) / f64::from(shape.n.max(1));
    let hops_between = if algorithm.cube_edges || formula.rounds <= shape.n as usize {
        upper
    } else {
        (hosts - 1.0) / (shape.size - 1) as f64
    };
    if let Some(crossing) = algorithm.crossing {
        return Far { crossing: crossing(shape) / ports, part: hops_between };
    }
    let all = formula.moved >= shape.size as f64 * formula.elements;
    let busy = if all { most } else { 1.0 };
    // Blocks of the root's own host, of which there are fewer, do not leave it.
    let crossing = if algorithm.cube_edges { busy * formula.elements * upper } else { busy * formula.elements };
    Far { crossing: crossing / ports, part: hops_between }
}

/// The time of a call on hosts with several ranks.
pub fn time(algorithm: &Algorithm, call: &Call, element: usize, parameters: &Parameters, machine: &Machine) -> f64 {
    let shape = algorithm.shape(call, parameters);
    let formula = (algorithm.formula)(&shape);
    let bytes = element.max(1) as f64;
    let ports = match machine.ports {
        PortModel::AllPorts if algorithm.cube_edges => f64::from(dimension_for(shape.hosts).max(1)),
        _ => 1.0,
    };
    let Far { crossing, part } = far(algorithm, &formula, &shape, ports);
    let transfers = machine.t_c * bytes;
    // Besides transfers: start-ups and hops, and what packets cost, as if every rank had a host of its own.
    let besides =
        (over_links::time(algorithm, call, element, parameters, machine) - formula.elements * transfers).max(0.0);
    let near = (1.0 - part) * (formula.hops as f64 * NEAR_HOP + formula.rounds as f64 * NEAR_START_UP)
        + formula.elements * bytes * NEAR_BYTE;
    crossing * transfers + part * besides + near
}
