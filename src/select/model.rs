//! The cost model: what an algorithm's parameters should be on a machine, and how long it then takes.

use super::{Machine, Options, SharedMemory};
use crate::algorithm::{Algorithm, Parameters, PortModel, Shape};
use crate::collective::Call;

/// The parameters to consider: as asked for, or, what is left open, as the machine suggests.
pub(super) fn parameters(
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
