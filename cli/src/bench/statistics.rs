//! What is said of a set of samples.

/// The least probability with which the confidence interval holds the median.
pub const CONFIDENCE: f64 = 0.95;

/// Order statistics of a set of samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    pub median: f64,
    /// Confidence interval of the median; `None` with fewer than 6 samples, which cannot give one.
    pub interval: Option<(f64, f64)>,
    pub min: f64,
    pub max: f64,
}

impl Summary {
    /// `None` for no samples.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
        let interval = interval_rank(n).map(|k| (sorted[k - 1], sorted[n - k]));
        Some(Summary { median, interval, min, max })
    }
}

/// The k for which the k-th smallest and the k-th largest of n samples enclose the median with [`CONFIDENCE`], as
/// narrowly as possible. It makes no assumption on the distribution, which for run times is far from normal: the number of
/// samples below the median is binomial with p = 1/2.
pub fn interval_rank(n: usize) -> Option<usize> {
    // In logarithms, as 2^-n is no f64 for n > 1074.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut best = None;
    for k in 1..=n / 2 {
        // Now log_term is that of C(n, k-1) / 2^n, and below becomes P(fewer than k samples are below the median).
        below += log_term.exp();
        if below > (1.0 - CONFIDENCE) / 2.0 {
            break;
        }
        best = Some(k);
        log_term += ((n - k + 1) as f64 / k as f64).ln();
    }
    best
}

/// `None` for no values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[3.0]).unwrap();
        assert_eq!((one.median, one.interval, one.min, one.max), (3.0, None, 3.0, 3.0));
        assert_eq!(Summary::of(&[5.0, 1.0, 2.0]).unwrap().median, 2.0);
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 8.0]).unwrap().median, 3.0);
    }

    /// The ranks of the usual tables (for instance Conover, "Practical nonparametric statistics", table A3, two-sided 95 %).
    #[test]
    fn interval_ranks_are_those_of_the_tables() {
        let known =
            [(6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (15, 4), (20, 6), (25, 8), (30, 10), (50, 18), (100, 40)];
        for (n, k) in known {
            assert_eq!(interval_rank(n), Some(k), "n = {n}");
        }
        assert!((0..6).all(|n| interval_rank(n).is_none()));
    }

    #[test]
    fn many_samples_follow_the_normal_approximation() {
        for n in [1000usize, 5000, 100_000] {
            let normal = n as f64 / 2.0 - 1.96 * (n as f64).sqrt() / 2.0;
            let k = interval_rank(n).unwrap() as f64;
            assert!((k - normal).abs() < 1.5, "n = {n}: {k}, not about {normal}");
        }
    }

    #[test]
    fn intervals_take_the_ranked_samples() {
        let samples: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(Summary::of(&samples).unwrap().interval, Some((2.0, 9.0)));
    }

    #[test]
    fn geometric_means() {
        assert_eq!(geometric_mean(&[]), None);
        assert!((geometric_mean(&[0.5, 2.0, 8.0]).unwrap() - 2.0).abs() < 1e-12);
    }
}
