//! Prefix sums: rank r ends with the element-wise combination of the vectors of ranks 0 to r (scan), or of those below r (exclusive
//! scan).
//!
//! One route serves both. A rank sends its *total*, which begins with its own vector and grows by what arrives; it ends with its *prefix*,
//! which begins with its own vector in a scan, and with nothing in an exclusive one. What comes from a higher rank is part of the total
//! only. All algorithms combine intervals of ranks, neighbour to neighbour, so that operations need not commute; node r is rank r.
//!
//! ```
//! use hypercoll::SystemOperation;
//! let sums = hypercoll::threads::run(5, |cube| {
//!     let mut sum = 0usize;
//!     let call = cube.scan().algorithm("doubling");
//!     call.run(&(cube.rank() + 1), &mut sum, SystemOperation::sum()).unwrap();
//!     sum
//! });
//! assert_eq!(sums, [1, 3, 6, 10, 15]);
//! ```

pub mod chain;
pub mod direct;
pub mod doubling;
pub mod recursive_doubling;

#[cfg(test)]
mod tests {
    use crate::algorithm::verify::{forms, verify};
    use crate::algorithm::{registry, Parameters, PortModel};
    use crate::collective::{Avoided, Call, Collective};
    use crate::schedule::Kind;

    fn all_parameters() -> impl Iterator<Item = Parameters> {
        PortModel::ALL.into_iter().flat_map(|ports| {
            [None, Some(1), Some(3)].map(|packet| Parameters { packet, symmetrized: false, ..Parameters::new(ports) })
        })
    }

    /// Any number of ranks, on hosts in any order, in place, operations that do not commute, links to be avoided.
    #[test]
    fn every_rank_ends_with_its_prefix_at_the_stated_cost() {
        let mut checked = [0; 2];
        for (exclusive, collective) in [Collective::Scan, Collective::ExclusiveScan].into_iter().enumerate() {
            for algorithm in registry::of(collective) {
                for (size, count) in (1..=17).flat_map(|size| [0, 1, 3, 8].map(|count| (size, count))) {
                    let mut calls = forms(collective, size, count, 0);
                    if size > 2 {
                        let avoid = Avoided::new(size, &[(0, 1)]).ok();
                        calls.push(Call { avoid, ..Call::new(collective, size, count) });
                    }
                    for (call, parameters) in calls.iter().flat_map(|call| all_parameters().map(move |p| (call, p))) {
                        if algorithm.accepts(call, &parameters).is_ok() {
                            let report = verify(algorithm, call, &parameters);
                            assert_eq!(report.violations, [], "{algorithm:?} {call:?} {parameters:?}");
                            checked[exclusive] += 1;
                        }
                    }
                }
            }
        }
        assert!(checked[0] > 4000 && checked[0] == checked[1], "{checked:?}");
    }

    /// What a rank sends on, and does not end with, it begins by copying its own: nobody waits for that.
    #[test]
    fn copies_of_what_a_rank_has_wait_for_no_message() {
        let call = Call::new(Collective::ExclusiveScan, 4, 8);
        for (algorithm, rank, copies) in [("chain", 2, 1), ("doubling", 1, 1), ("recursive_doubling", 1, 1)] {
            let algorithm = registry::find(call.collective, algorithm).expect("an algorithm");
            let schedule = algorithm.schedule(&call, &Parameters::new(PortModel::OnePort), rank);
            let copying = schedule.operations().iter().filter(|operation| operation.kind == Kind::Copy);
            let waiting = copying.clone().filter(|operation| !schedule.dependencies(operation).is_empty()).count();
            assert_eq!((copying.count(), waiting), (copies, 0), "{}", algorithm.name);
        }
    }
}
