//! Permutation by inversion of address bits: node v to v XOR mask, one dimension of the mask after the other.
//!
//! Algorithm: in the step of a dimension every node sends what it holds to its neighbour across it and gets what that one holds.
//! Plain, the whole vectors cross the k dimensions of the mask from the lowest to the highest; symmetrised, slice i of k starts
//! with the i-th of them and goes round. The identity (k = 0) sends nothing, and an exchange across one dimension (k = 1) is one
//! message a node.
//!
//! Reference: Stout and Wagar 1990, section 6, INVERSION (all bits); Ho, Johnsson and Edelman 1991, Lemma 1, and Lemma 2 for a
//! subset of the bits: M t_c cannot be beaten. Their k, the number of bits, is n; M elements a vector (K there).
//!
//! Requirements: a permutation that takes every rank i to i XOR a mask; it is refused otherwise.
//!
//! Cost: symmetrised, all-ports M t_c + k tau, if k divides M; plain k (M t_c + tau); plain, one-way twice that.
//!
//! Memory: one vector in scratch memory for k > 1.
//!
//! Correctness condition: after the steps over a set D of dimensions a node v holds the slice from v XOR D. In a step the
//! slices use different ports. (Where the number of ranks is no power of two, every XOR with a part of such a mask takes ranks to
//! ranks again: the number is a multiple of 2^(b+1) for its highest bit b.)
//!
//! Example, n = 3, mask 5, symmetrised: slice 0 from 0 by 1 to 5, slice 1 from 0 by 4 to 5.

use crate::address::Ports;
use crate::algorithm::{Algorithm, Form, Formula, Parameters, PortModel, Route, Shape, Unsuited, DEFAULTS};
use crate::collective::{part, Call, Collective};
use crate::schedule::Problem;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Permute,
    name: "inversion",
    summary: "rank i to i XOR mask: no detour, and symmetrised every port of the mask is busy in every round",
    source: "SW INVERSION",
    section: "6",
    symmetrizes: true,
    suits,
    cost: "k bits inverted: symmetrised, all-ports M t_c + k tau; plain k (M t_c + tau) (one-way: twice)",
    formula,
    form: Form::Forward(write),
    ..DEFAULTS
};

fn suits(call: &Call, _: &Parameters) -> Result<(), Unsuited> {
    let suited = call.translation().is_some();
    suited.then_some(()).ok_or(("permutation", "needs one that takes every rank i to i XOR a mask".into()))
}

fn formula(shape: &Shape) -> Formula {
    let k = shape.distance as usize;
    if k == 0 || shape.count == 0 {
        return Formula::NOTHING;
    }
    let m = shape.count as f64;
    let path = k as f64 * m;
    let common = Formula {
        rounds: k,
        elements: path,
        moved: path * shape.size as f64,
        load: m,
        scratch: path - m,
        hops: k,
        path,
        ..Formula::NOTHING
    };
    match shape.parameters {
        Parameters { symmetrized: true, .. } => Formula { elements: (k * shape.count.div_ceil(k)) as f64, ..common },
        Parameters { ports: PortModel::OneWay, .. } => Formula { rounds: 2 * k, elements: 2.0 * path, ..common },
        _ => common,
    }
}

fn write(problem: &Problem, parameters: &Parameters, node: usize, route: &mut Route) {
    let ports: Vec<u32> = Ports::from_mask(problem.call.translation().unwrap_or(0)).iter().collect();
    let k = ports.len();
    let one_way = parameters.ports == PortModel::OneWay;
    route.set_rounds(if one_way { 2 * k } else { k });
    let slices = if parameters.symmetrized { k } else { k.min(1) };
    for slice in 0..slices {
        let mut done = 0;
        for step in 0..k {
            let port = ports[(slice + step) % k];
            let peer = node ^ 1 << port;
            let held = |v: usize| [part(problem.block(v ^ done), slice, slices)];
            // One way at a time, the neighbour whose bit is 0 sends first.
            let round = |sender: usize| if one_way { 2 * step + (sender >> port & 1) } else { step };
            route.send(round(node), peer, held(node));
            route.receive(round(peer), peer, held(peer));
            done |= 1 << port;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::verify::{schedules, verify};
    use crate::executor::simulator::{simulate, Machine as Network};
    use crate::schedule::Kind;
    use crate::select::{candidates, Machine, Options};

    /// Of what keeps to the edges of the cube, the choice finds what is better than permuted send, and no refused algorithm.
    #[test]
    fn translations_are_found_by_the_choice() {
        let first = |call: &Call, machine: &Machine| {
            let all = candidates(call, 8, &Options::default(), machine).unwrap();
            all.serving.into_iter().find(|candidate| candidate.algorithm.cube_edges).unwrap()
        };
        let machine = Machine { pairs_linked: false, ..Machine::network() };
        for ports in PortModel::ALL {
            let machine = Machine { ports, ..machine.clone() };
            for (size, last_mask) in [(1usize, 0usize), (2, 1), (8, 7), (12, 3), (6, 1), (16, 15)] {
                for mask in 0..=last_mask {
                    let mut call = Call::new(Collective::Permute, size, 1000);
                    call.permutation = Some((0..size).map(|i| i ^ mask).collect());
                    let found = first(&call, &machine);
                    assert_eq!(found.algorithm.name, "inversion", "mask {mask} of {size}, {ports}");
                }
            }
            for shift in [1usize, 3] {
                let mut call = Call::new(Collective::Permute, 8, 1000);
                call.permutation = Some((0..8).map(|i| (i + shift) % 8).collect());
                let found = first(&call, &machine);
                assert_eq!(found.algorithm.name, "permuted_send");
                let refused = ALGORITHM.accepts(&call, &found.parameters).unwrap_err();
                assert!(refused.to_string().starts_with("permutation: inversion (permute)"), "{refused}");
            }
        }
    }

    fn call(size: usize, mask: usize, count: usize) -> Call {
        let permutation = (0..size).map(|i| i ^ mask).collect();
        Call { permutation: Some(permutation), ..Call::new(Collective::Permute, size, count) }
    }

    /// Lemmas 1 and 2 of Ho, Johnsson and Edelman: for every mask each link across a dimension of it carries just M elements,
    /// the others none, so that M t_c is both needed and enough.
    #[test]
    fn every_mask_takes_the_time_of_one_vector() {
        for (n, mask) in (0..=5u32).flat_map(|n| (0..1usize << n).map(move |mask| (n, mask))) {
            let call = call(1 << n, mask, 120);
            let parameters = Parameters::new(PortModel::AllPorts);
            assert_eq!(verify(&ALGORITHM, &call, &parameters).violations, [], "mask {mask:b} of {n}");
            let schedules = schedules(&ALGORITHM, &call, &parameters);
            for schedule in &schedules {
                let mut loads = vec![0; n as usize];
                for operation in schedule.operations() {
                    if let Kind::Send { peer } = operation.kind {
                        loads[(peer ^ schedule.rank).ilog2() as usize] += schedule.len(operation);
                    }
                }
                assert!((0..n).all(|port| loads[port as usize] == 120 * (mask >> port & 1)), "mask {mask:b} of {n}");
            }
            let machine = Network::new(10.0, 1.0, PortModel::AllPorts);
            let expected = if mask == 0 { 0.0 } else { 120.0 + 10.0 * f64::from(mask.count_ones()) };
            let time = simulate(&schedules, &machine).unwrap().time;
            assert!((time - expected).abs() < 1e-9, "mask {mask:b} of {n}: {time}");
        }
    }

    #[test]
    fn ranks_need_be_no_power_of_two() {
        for size in 1..=24usize {
            for mask in (0..size.next_power_of_two()).filter(|mask| (0..size).all(|i| i ^ mask < size)) {
                for ports in PortModel::ALL {
                    for count in [1, 7] {
                        let report = verify(&ALGORITHM, &call(size, mask, count), &Parameters::new(ports));
                        assert_eq!(report.violations, [], "mask {mask:b} of {size}, {ports}");
                    }
                }
            }
        }
    }
}
