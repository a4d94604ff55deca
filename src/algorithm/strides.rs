//! How far ranks send where all do at once ([`Algorithm::strides`](super::Algorithm::strides)): what that is of all that a rank sends.

use super::Shape;
use crate::topology::circulant::Circulant;

/// As much across each dimension; of the TCBT (which goes along them as its square lies) nearly.
pub fn dimensions(shape: &Shape) -> Vec<(usize, f64)> {
    (0..shape.n).map(|port| (1 << port, 1.0 / f64::from(shape.n))).collect()
}

/// Of trees, in whose last round half of the ranks send: half of that, which is the most.
pub fn tree(shape: &Shape) -> Vec<(usize, f64)> {
    dimensions(shape).into_iter().map(|(stride, part)| (stride, part / 2.0)).collect()
}

/// Half across the lowest dimension, a quarter across the next, and so on: exchanges that end there, and paths by the Gray code.
pub fn halving(shape: &Shape) -> Vec<(usize, f64)> {
    let others = (shape.nodes() - 1) as f64;
    (0..shape.n).map(|port| (1 << port, (shape.nodes() >> (port + 1)) as f64 / others)).collect()
}

/// As much over each skip of a circulant graph.
pub fn skips(shape: &Shape) -> Vec<(usize, f64)> {
    let graph = Circulant::new(shape.size);
    let phase = graph.phase();
    (0..phase).map(|k| (graph.skip(k), 1.0 / phase as f64)).collect()
}

#[cfg(test)]
mod tests {
    use crate::algorithm::{registry, verify::schedules, Parameters, PortModel};
    use crate::collective::{Call, Collective};
    use crate::schedule::Kind;

    /// Counted in the schedules of vectors of many packets.
    #[test]
    fn parts_are_what_goes_so_far() -> crate::Result<()> {
        let names = ["msbt", "hamiltonian_path", "scatter_all_gather", "circulant"];
        let cubes = names.into_iter().flat_map(|name| [8, 16, 32].map(|size| (name, size)));
        for (name, size) in cubes.chain([("circulant", 12), ("circulant", 20)]) {
            let algorithm = registry::find(Collective::Broadcast, name)?;
            let call = Call::new(Collective::Broadcast, size, 64 * size);
            let packet = (!algorithm.packets.is_empty()).then_some(2);
            let parameters = Parameters { packet, ..Parameters::new(PortModel::OnePort) };
            let mut sent = vec![0.0; size];
            for (rank, schedule) in schedules(algorithm, &call, &parameters).iter().enumerate() {
                for operation in schedule.operations() {
                    if let Kind::Send { peer } = operation.kind {
                        let stride = if name == "circulant" { (peer + size - rank) % size } else { peer ^ rank };
                        sent[stride] += schedule.len(operation) as f64;
                    }
                }
            }
            let all: f64 = sent.iter().sum();
            let mut stated = vec![0.0; size];
            for (stride, part) in (algorithm.strides)(&algorithm.shape(&call, &parameters)) {
                stated[stride] += part;
            }
            for (stride, (sent, stated)) in sent.into_iter().zip(stated).enumerate() {
                let found: f64 = sent / all;
                assert!((found - stated).abs() < 0.06, "{name} on {size}, {stride} further: {found}, {stated}");
            }
        }
        Ok(())
    }
}
