//! How the time is split over the jobs, and in which order they run.

/// How many repetitions a job gets.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Passes over all jobs that there is time for.
    pub passes: usize,
    /// For each job the repetitions that count, in the next pass.
    pub batch: Vec<usize>,
}

/// Splits `seconds` over jobs whose repetitions take `costs` seconds each, all overhead included, and that want `wanted`
/// more repetitions: as many passes as wished, or as there is time for, and in each pass an equal time for every job, except
/// that no job gets more repetitions than it wants, or none; what the quick ones leave goes to the others.
pub fn split(costs: &[f64], wanted: &[usize], seconds: f64, passes: usize, warm_up: usize) -> Plan {
    let passes = passes.clamp(1, wanted.iter().copied().max().unwrap_or(0).max(1));
    let jobs: Vec<(f64, usize)> = costs.iter().map(|cost| cost.max(1e-7)).zip(wanted.iter().copied()).collect();
    let once: f64 = jobs.iter().filter(|(_, wanted)| *wanted > 0).map(|(cost, _)| cost * (warm_up + 1) as f64).sum();
    let passes = ((seconds / once.max(1e-9)) as usize).clamp(1, passes);
    let afforded = |(cost, wanted): (f64, usize), share: f64| match wanted {
        0 => 0,
        _ => ((share / cost) as usize).saturating_sub(warm_up).clamp(1, wanted.div_ceil(passes)),
    };
    let time = |job: (f64, usize), share| match afforded(job, share) {
        0 => 0.0,
        batch => job.0 * (warm_up + batch) as f64,
    };
    // The share is found by bisection: the time taken grows with it.
    let available = seconds / passes as f64;
    let (mut low, mut high) = (0.0, available);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if jobs.iter().map(|job| time(*job, middle)).sum::<f64>() <= available {
            low = middle;
        } else {
            high = middle;
        }
    }
    Plan { passes, batch: jobs.iter().map(|job| afforded(*job, low)).collect() }
}

/// The jobs in an order that depends on the seed and the pass alone, so that all ranks agree on it.
pub fn shuffled(jobs: usize, seed: u64, pass: usize) -> Vec<usize> {
    let mut state = seed.wrapping_mul(0xA24B_AED4_963E_E407) ^ pass as u64;
    let mut order: Vec<usize> = (0..jobs).collect();
    for last in (1..jobs).rev() {
        order.swap(last, (random(&mut state) % (last as u64 + 1)) as usize);
    }
    order
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(plan: &Plan, costs: &[f64], warm_up: usize) -> f64 {
        plan.passes as f64 * costs.iter().zip(&plan.batch).map(|(c, b)| c * (warm_up + b) as f64).sum::<f64>()
    }

    #[test]
    fn quick_jobs_get_all_they_want() {
        let plan = split(&[1e-6, 2e-6, 1e-6], &[200, 195, 0], 10.0, 10, 1);
        assert_eq!(plan, Plan { passes: 10, batch: vec![20, 20, 0] });
    }

    #[test]
    fn the_time_is_kept_and_used() {
        let costs = [1e-4, 1e-3, 1e-2, 5e-2];
        for warm_up in [0, 1, 3] {
            let plan = split(&costs, &[1000; 4], 20.0, 10, warm_up);
            let taken = time(&plan, &costs, warm_up);
            assert!(taken <= 20.0 && taken > 18.0, "{plan:?} takes {taken}");
            assert_eq!(plan.batch[0], 100);
            assert!(plan.batch[2] > plan.batch[3]);
        }
    }

    #[test]
    fn what_is_left_goes_to_the_slow() {
        let alone = split(&[0.01, 0.01], &[1000; 2], 10.0, 10, 0);
        let beside_quick = split(&[1e-6, 0.01], &[1000; 2], 10.0, 10, 0);
        assert_eq!(alone.batch[1], 50);
        assert!(beside_quick.batch[1] > 90, "{beside_quick:?}");
    }

    #[test]
    fn too_little_time_means_fewer_passes() {
        assert_eq!(split(&[1.0, 1.0], &[100; 2], 9.0, 10, 1), Plan { passes: 2, batch: vec![1, 1] });
        assert_eq!(split(&[1.0, 1.0], &[100; 2], 0.1, 10, 1), Plan { passes: 1, batch: vec![1, 1] });
        assert!(split(&[], &[], 1.0, 10, 1).batch.is_empty());
        assert_eq!(split(&[1e-6], &[3], 1.0, 10, 1), Plan { passes: 3, batch: vec![1] });
    }

    #[test]
    fn shuffling_keeps_every_job_and_changes_with_the_pass() {
        let orders: Vec<_> = (0..4).map(|pass| shuffled(50, 7, pass)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        }
        assert!(orders.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(orders[2], shuffled(50, 7, 2));
        assert_ne!(orders[2], shuffled(50, 8, 2));
    }
}
