//! Algorithms on a cube and on a star in SimGrid, beside the formulas and our own simulator.

use super::network::{cube, star};
use super::simulator::{Ranks, SimGrid, Software};
use crate::call::CallArgs;
use crate::export::{Export, Format, Work};
use crate::Failure;
use hypercoll::algorithm::verify::schedules;
use hypercoll::algorithm::{registry, Parameters, PortModel};
use hypercoll::collective::Collective;
use hypercoll::executor::simulator::{simulate, Machine};
use serde_json::{json, Value};

/// Seconds of a start-up, and of a byte.
const TAU: f64 = 10e-6;
const T_C: f64 = 1e-9;
/// Bytes of an element.
const ELEMENT: usize = 1000;

/// Algorithm, ports, elements, elements of a packet.
const CASES: [(Collective, &str, PortModel, usize, Option<usize>); 15] = [
    (Collective::Broadcast, "sbt", PortModel::OnePort, 960, None),
    (Collective::Broadcast, "msbt", PortModel::OnePort, 960, Some(60)),
    (Collective::Broadcast, "msbt", PortModel::AllPorts, 960, Some(60)),
    (Collective::Broadcast, "tcbt", PortModel::OnePort, 960, Some(60)),
    (Collective::Broadcast, "hamiltonian_path", PortModel::OnePort, 960, Some(60)),
    (Collective::Scatter, "sbt", PortModel::OnePort, 60, None),
    (Collective::Scatter, "sbnt", PortModel::OnePort, 60, None),
    (Collective::Scatter, "sbnt", PortModel::AllPorts, 60, None),
    (Collective::AllGather, "sbnt", PortModel::AllPorts, 20, None),
    (Collective::AllToAll, "complete_exchange", PortModel::OnePort, 20, None),
    (Collective::AllToAll, "sbnt", PortModel::AllPorts, 20, None),
    (Collective::Reduce, "msbt", PortModel::OnePort, 960, Some(60)),
    (Collective::Broadcast, "circulant", PortModel::OnePort, 960, Some(60)),
    (Collective::AllReduce, "ring", PortModel::OnePort, 960, None),
    (Collective::AllToAll, "shift", PortModel::OnePort, 20, None),
];

/// A row a case and dimension: the formula's time, our simulator's, SimGrid's, in seconds.
///
/// # Errors
/// What cannot be run.
pub fn rows(simgrid: &SimGrid, dimensions: &[u32]) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    let networks = dimensions.iter().flat_map(|&dimension| [("cube", dimension), ("star", dimension)]);
    for (network, dimension) in networks {
        let size = 1usize << dimension;
        let on_cube = network == "cube";
        let platform = if on_cube { cube(dimension, TAU, T_C) } else { star(size, TAU, T_C) };
        let ranks = Ranks::write(simgrid, network, size, 1, &platform)?;
        for (collective, name, ports, count, packet) in CASES {
            let algorithm = registry::find(collective, name).map_err(|error| error.to_string())?;
            // A star has one port a node, and links any two.
            if on_cube && !algorithm.cube_edges || !on_cube && ports == PortModel::AllPorts {
                continue;
            }
            let (call, usual) = CallArgs::default().resolve(algorithm, size, count, Some(ports))?;
            let parameters = Parameters { packet, ..usual };
            let t_c = T_C * ELEMENT as f64;
            let formula = (algorithm.formula)(&algorithm.shape(&call, &parameters)).time(TAU, t_c);
            let ours = simulate(&schedules(algorithm, &call, &parameters), &Machine::new(TAU, t_c, parameters.ports));
            let ours = ours.map_err(|_| Failure::Found(format!("{name}: refused by the simulator")))?.time;
            let export = Export {
                algorithm,
                call,
                parameters,
                chosen: None,
                element: ELEMENT,
                work: Work::default(),
                in_flight: Some(1),
            };
            let traces = simgrid.directory().join("cube");
            export.write(Format::Simgrid, &traces)?;
            let time = simgrid.traces(&ranks, &traces.join("ranks.txt"), Software::Free);
            let time = time.ok_or_else(|| Failure::Found(format!("{name}: SimGrid did not come to its end")))?;
            rows.push(json!({
                "network": network, "collective": collective.name(), "algorithm": name, "ports": parameters.ports.name(), "dimension": dimension,
                "formula_s": formula, "simulate_s": ours, "simgrid_s": time,
            }));
        }
    }
    Ok(rows)
}
