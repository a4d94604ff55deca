//! Checks an algorithm as a whole: the schedules of all ranks against the collective's meaning, the algorithm's routes, the port
//! model, and every figure of the paper's formula.
//!
//! ```
//! use hypercoll::algorithm::{registry, verify, Parameters, PortModel};
//! use hypercoll::collective::{Call, Collective};
//!
//! let msbt = registry::find(Collective::Broadcast, "msbt")?;
//! let parameters = Parameters { packet: Some(8), ..Parameters::new(PortModel::AllPorts) };
//! let call = Call::new(Collective::Broadcast, 8, 24);
//! let report = verify::verify(msbt, &call, &parameters);
//! assert!(report.violations.is_empty());
//! // Three edge-disjoint trees carry one packet each.
//! assert_eq!(report.cost.max_link_load, 8);
//!
//! // The schedules of another root are no broadcast from root 0.
//! let others = verify::schedules(msbt, &call.clone().with_root(1), &parameters);
//! assert!(!verify::verify_schedules(msbt, &call, &parameters, &others).violations.is_empty());
//! # hypercoll::Result::Ok(())
//! ```

mod compare;
mod forms;
mod ledger;
#[cfg(test)]
mod tests;

pub use compare::Compared;
pub use forms::forms;

use super::{Algorithm, Parameters};
use crate::address::{self, Hosts};
use crate::collective::Call;
use crate::schedule::{check, legal, Cost, Report as Checked, Schedule, Violation};
use ledger::Ledger;

/// What was found of the schedules of a call.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Report {
    /// Their cost.
    pub cost: Cost,
    /// The figures of the row beside the schedules'; empty if the schedules are wrong, and need not have a cost at all.
    pub figures: Vec<Compared>,
    /// Whether the call is what formulas are for: equal blocks on a whole cube with all its links. Elsewhere all figures but a few
    /// are bounds ([`super::Formula`]).
    pub whole: bool,
    /// All that is wrong; empty if nothing is.
    pub violations: Vec<Violation>,
}

/// Builds the schedules of all ranks.
pub fn schedules(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> Vec<Schedule> {
    (0..call.size).map(|rank| algorithm.schedule(call, parameters, rank)).collect()
}

/// Builds and checks the schedules of all ranks.
pub fn verify(algorithm: &Algorithm, call: &Call, parameters: &Parameters) -> Report {
    verify_schedules(algorithm, call, parameters, &schedules(algorithm, call, parameters))
}

/// Checks schedules of all ranks as those of an algorithm: whoever wrote them, they must
/// * be right: [`check`];
/// * send what the algorithm's routes say, in those rounds and over those links, and no more;
/// * do no more in a round than the ports allow (a rank that plays two nodes of the cube, as much as two nodes);
/// * cost what the formula of the row says, figure by figure: as much, or, where the formula is stated as a bound, at most as much
///   ([`Formula`](super::Formula): rounds, elements, elements moved, the largest load of a link and of a port, scratch memory, hops, path).
pub fn verify_schedules(algorithm: &Algorithm, call: &Call, parameters: &Parameters, schedules: &[Schedule]) -> Report {
    let Checked { cost, violations } = check(call, schedules, algorithm.cube_edges);
    let mut report = Report { cost, figures: Vec::new(), whole: is_whole(algorithm, call), violations };
    if report.violations.iter().any(|violation| matches!(violation, Violation::Ranks { .. })) {
        return report;
    }
    let expected = Ledger::of_routes(algorithm, call, parameters);
    report.violations.extend(Ledger::of_schedules(schedules).differences(&expected));
    report.violations.extend(legal(schedules, parameters.ports, nodes_a_rank(algorithm, call)));
    if report.violations.is_empty() {
        let comparison = compare::Comparison { algorithm, call, parameters, schedules, cost: &report.cost };
        (report.figures, report.violations) = comparison.outcome();
    }
    report
}

/// On a whole cube, or where any number of ranks is one, with equal blocks, as many ranks on every host, and all links in use.
fn is_whole(algorithm: &Algorithm, call: &Call) -> bool {
    let known = call.size.is_power_of_two() || !algorithm.cube_edges;
    let equal = call.hosts.as_ref().map(Hosts::most_and_fewest).is_none_or(|(most, fewest)| most == fewest);
    known && equal && call.layout.is_none() && call.avoid.is_none()
}

/// The nodes that a rank plays at most: where it has to, or where ways round a link lead along the edges of the cube.
fn nodes_a_rank(algorithm: &Algorithm, call: &Call) -> usize {
    address::nodes_a_rank(call.size, algorithm.cube_edges || call.avoid.is_some())
}
