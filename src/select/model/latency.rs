//! Trees that are made for a latency.

use super::super::{Machine, Times};
use crate::algorithm::{Algorithm, Latency};
use crate::collective::Call;

/// For how much latency a tree is made: what a rank can start until another one has its message, between hosts and within one. A message
/// that passes a port at its rate keeps it busy as well.
pub fn of(algorithm: &Algorithm, call: &Call, element: usize, machine: &Machine) -> Latency {
    if algorithm.way.is_none() {
        return Latency::default();
    }
    let machine = one_way(machine);
    let bytes = call.count as f64 * element as f64;
    let lambda = |Times { tau, hop, t_c }: Times, bytes: f64| {
        let starts = 1.0 + hop / (tau + t_c * bytes).max(f64::MIN_POSITIVE);
        (starts.round() as usize).clamp(1, Latency::MOST)
    };
    let Machine { tau, hop, t_c, burst, near, shared, .. } = machine;
    let far = Times { tau, hop, t_c };
    let near = if shared.is_some() { far } else { near.unwrap_or(Times::NEAR) };
    Latency { far: lambda(far, (bytes - burst as f64).max(0.0)), near: lambda(near, bytes) }
}

/// The machine for ranks that only send, or only receive. Start-ups are measured in exchanges: half of one is that of the rank that sends,
/// and the other half comes when the message is there.
pub fn one_way(machine: &Machine) -> Machine {
    let half = |Times { tau, hop, t_c }: Times| Times { tau: tau / 2.0, hop: hop + tau / 2.0, t_c };
    let Times { tau, hop, t_c } = half(Times { tau: machine.tau, hop: machine.hop, t_c: machine.t_c });
    let near = Some(half(machine.near.unwrap_or(Times::NEAR)));
    Machine { tau, hop, t_c, near, ..machine.clone() }
}
