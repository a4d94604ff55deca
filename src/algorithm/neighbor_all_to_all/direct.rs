//! Neighbourhood all-to-all by one message over each link.
//!
//! Algorithm: over every port j a node sends block j and receives block j of its neighbour there. All ports: at once. One port: port after
//! port, so that in round j all nodes are paired across dimension j. One way: of each pair the node whose bit j is 0 sends first.
//!
//! Reference: classic.
//!
//! Requirements: none.
//!
//! Cost: all-ports M t_c + tau; one-port n (M t_c + tau); one-way twice that; M is the block. No algorithm has links busy for less
//! time: a node sends n blocks, and has n links.
//!
//! Memory: none besides the buffers.
//!
//! Correctness condition: j is a port of r XOR 2^j, and leads back to r. Where the number of ranks is no power of two, a block for a
//! neighbour that is no rank is not sent, and the block of its port in the receive buffer stays as it is.
//!
//! Example, n = 2, one-port: round 0 joins 0 with 1 and 2 with 3, round 1 joins 0 with 2 and 1 with 3.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, DEFAULTS};
use crate::collective::Collective;
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::NeighborAllToAll,
    name: "direct",
    summary: "one message over each link: nothing can take less time",
    source: "classic direct",
    section: "-",
    cost: "all-ports M t_c + tau; one-port n (M t_c + tau) (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn formula(shape: &Shape) -> Formula {
    let n = shape.n as usize;
    if n == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let rounds = match shape.parameters.ports {
        PortModel::AllPorts => 1,
        PortModel::OnePort => n,
        PortModel::OneWay => 2 * n,
    };
    let m = shape.count as f64;
    let received = n as f64 * m;
    Formula {
        rounds,
        elements: rounds as f64 * m,
        moved: shape.size as f64 * received,
        load: m,
        hops: 1,
        path: received,
        ..Formula::NOTHING
    }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let round = |port: u32, sender: usize| match parameters.ports {
        PortModel::AllPorts => 0,
        PortModel::OnePort => port as usize,
        PortModel::OneWay => 2 * port as usize + (sender >> port & 1),
    };
    route.set_rounds(2 * problem.n as usize);
    for port in 0..problem.n {
        let peer = node ^ 1 << port;
        route.send(round(port, node), peer, [problem.block_over(node, port)]);
        route.receive(round(port, peer), peer, [problem.block_over(peer, port)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::schedules;
    use crate::collective::Call;
    use crate::schedule::Kind;

    /// Worked by hand: whom rank 0 meets in which round, of 4 ranks and of 3, by port model.
    #[test]
    fn rounds_are_as_in_the_example() {
        let met = |size: usize, ports: PortModel, rank: usize| {
            let call = Call::new(Collective::NeighborAllToAll, size, 5);
            let all = schedules(&ALGORITHM, &call, &Parameters::new(ports));
            let sent = all[rank].operations().iter().filter_map(|operation| match operation.kind {
                Kind::Send { peer } => Some((operation.round, peer)),
                _ => None,
            });
            sent.collect::<Vec<_>>()
        };
        assert_eq!(met(4, PortModel::OnePort, 0), [(0, 1), (1, 2)]);
        assert_eq!(met(4, PortModel::AllPorts, 3), [(0, 1), (0, 2)]);
        assert_eq!(met(4, PortModel::OneWay, 1), [(1, 0), (2, 3)]);
        // Rank 1 plays node 3, too, for which there is nothing.
        assert_eq!(met(3, PortModel::OnePort, 1), [(0, 0)]);
    }
}
