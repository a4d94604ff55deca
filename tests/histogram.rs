//! Histograms of distributed values, on threads, against a serial one that compares every value with every edge.

#[path = "common/watch.rs"]
mod watch;

use hypercoll::histogram::{Bins, Histogram};
use hypercoll::select::Options;
use hypercoll::{Error, Hypercube, Result};
use proptest::prelude::*;
use watch::on;

/// The bin of a value, by comparison with all edges, from the definition.
fn serial_bin(edges: &[f64], value: f64) -> Option<usize> {
    let bins = edges.len() - 1;
    let inside =
        |&bin: &usize| edges[bin] <= value && (value < edges[bin + 1] || (bin == bins - 1 && value == edges[bin + 1]));
    (0..bins).find(inside)
}

fn serial(edges: &[f64], values: &[f64]) -> Histogram {
    let mut histogram =
        Histogram { bins: 0..edges.len() - 1, counts: vec![0; edges.len() - 1], below: 0, above: 0, nan: 0 };
    for &value in values {
        let count = match serial_bin(edges, value) {
            Some(bin) => &mut histogram.counts[bin],
            None if value.is_nan() => &mut histogram.nan,
            None if value < edges[0] => &mut histogram.below,
            None => &mut histogram.above,
        };
        *count += 1;
    }
    histogram
}

/// The values of a rank: none on rank 2, and a few that are outside or no number.
fn values(rank: usize) -> Vec<f64> {
    let number = [200, 57, 0, 311][rank % 4];
    let value = |at: usize| match (at * 37 + rank * 11) % 41 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        other => (other as f64 - 12.0) / 4.0,
    };
    (0..number).map(value).collect()
}

fn all_values(size: usize) -> Vec<f64> {
    (0..size).flat_map(values).collect()
}

/// The three forms of the result, on every rank, against the serial histogram.
fn compare(cube: &Hypercube, bins: &Bins) {
    let (rank, size) = (cube.rank(), cube.size());
    let own = values(rank);
    let expected = serial(bins.edges(), &all_values(size));
    let case = format!("rank {rank} of {size}, {} bins", bins.number());

    assert_eq!(cube.histogram(&own, bins).everywhere().unwrap(), expected, "{case}");
    for root in 0..size {
        let result = cube.histogram(&own, bins).on_root(root).unwrap();
        assert_eq!(result, (rank == root).then(|| expected.clone()), "{case}, root {root}");
    }
    let scattered = cube.histogram(&own, bins).scattered().unwrap();
    let (from, to) = (rank * bins.number() / size, (rank + 1) * bins.number() / size);
    assert_eq!(scattered.bins, from..to, "{case}");
    assert_eq!(
        scattered,
        Histogram { bins: from..to, counts: expected.counts[from..to].to_vec(), ..expected },
        "{case}"
    );
}

#[test]
fn any_number_of_ranks_and_bins_gives_the_serial_histogram() {
    for size in 1..=9 {
        on(size, |cube| {
            for number in [1, 2, 3, 7, 8, 9, 16, 61] {
                compare(cube, &Bins::uniform(-2.0, 5.0, number).unwrap());
            }
            for edges in [vec![-1.0, 0.0], vec![-3.0, -0.5, 0.25, 0.5, 4.0], vec![0.0, 1e-300, 1.0, 1e300]] {
                compare(cube, &Bins::from_edges(edges).unwrap());
            }
        });
    }
}

#[test]
fn every_type_of_number_is_counted() {
    on(3, |cube| {
        let bins = Bins::from_edges([0.0, 2.0, 4.0]).unwrap();
        let rank = cube.rank();
        let check = |histogram: Result<Histogram>| {
            let histogram = histogram.unwrap();
            assert_eq!((histogram.counts, histogram.above), (vec![2, 2], 1), "ranks 0, 1, 2 have 0 | 1, 2 | 4, 5");
        };
        macro_rules! each {
            ($($t:ty)*) => {$({
                let own: &[$t] = [&[0 as $t][..], &[1 as $t, 2 as $t], &[4 as $t, 5 as $t]][rank];
                check(cube.histogram(own, &bins).everywhere());
            })*};
        }
        each!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
        let signed = cube.histogram(&[-1i8; 5], &bins).everywhere().unwrap();
        assert_eq!((signed.below, signed.counts), (15, vec![0, 0]));
    });
}

#[test]
fn weights_are_added_instead_of_ones() {
    for size in 1..=9 {
        on(size, move |cube| {
            let bins = Bins::uniform(-2.0, 5.0, 7).unwrap();
            // Quarters: exact in any order.
            let weights =
                |rank: usize| (0..values(rank).len()).map(|at| (at % 7) as f64 / 4.0 - 0.5).collect::<Vec<_>>();
            let (own, own_weights) = (values(cube.rank()), weights(cube.rank()));
            let mut expected = [0.0; 7];
            let mut nan = 0.0;
            for (value, weight) in all_values(size).into_iter().zip((0..size).flat_map(weights)) {
                match serial_bin(bins.edges(), value) {
                    Some(bin) => expected[bin] += weight,
                    None if value.is_nan() => nan += weight,
                    None => {}
                }
            }
            let result = cube.histogram(&own, &bins).weighted(&own_weights).everywhere().unwrap();
            assert_eq!((result.counts, result.nan), (expected.to_vec(), nan));
            let result = cube.histogram(&own, &bins).weighted(&own_weights).scattered().unwrap();
            assert_eq!(result.counts, expected[result.bins]);
        });
    }
}

#[test]
fn the_range_is_that_of_all_ranks() {
    on(5, |cube| {
        let spanning = |values: &[f64], number| Bins::spanning(cube, values, number).map(|b| b.edges().to_vec());
        // The least value is on rank 1, the greatest on rank 3; rank 2 has none, rank 4 what has no place in a range.
        let own: &[f64] = [&[1.0, 2.0][..], &[-3.5], &[], &[4.5, 0.0], &[f64::NAN, f64::INFINITY]][cube.rank()];
        assert_eq!(spanning(own, 4).unwrap(), [-3.5, -1.5, 0.5, 2.5, 4.5]);
        let bins = Bins::spanning(cube, own, 4).unwrap();
        let histogram = cube.histogram(own, &bins).everywhere().unwrap();
        assert_eq!(histogram.counts, [1, 1, 2, 1], "-3.5 | 0 | 1, 2 | 4.5, the upper edge itself");
        assert_eq!((histogram.below, histogram.above, histogram.nan), (0, 1, 1));

        assert_eq!(spanning(&[7.0], 2).unwrap(), [6.5, 7.0, 7.5]);
        assert_eq!(spanning(&[], 2).unwrap(), [0.0, 0.5, 1.0]);
        assert!(spanning(&[1e300], 2).is_err(), "half a unit is nothing there");
        assert_eq!(Bins::spanning(cube, &[3u8, 5], 2).unwrap().edges(), [3.0, 4.0, 5.0]);
    });
}

#[test]
fn collectives_are_the_papers() {
    on(8, |cube| {
        let bins = Bins::uniform(0.0, 1.0, 100).unwrap();
        let options = Options { algorithm: Some("histogram".into()), ..Options::default() };
        cube.histogram(&[0.5], &bins).options(&options).scattered().unwrap();
        assert!(cube.explain_last().contains("reduce-scatter of 16 x 8 B"), "{}", cube.explain_last());
        assert!(cube.explain_last().contains("SW HISTOGRAM"), "{}", cube.explain_last());
        cube.histogram(&[0.5], &bins).options(&options).everywhere().unwrap();
        assert!(cube.explain_last().contains("all-reduce"), "{}", cube.explain_last());
        let refused = cube.histogram(&[0.5], &bins).options(&options).on_root(0);
        assert!(matches!(refused, Err(Error::UnknownAlgorithm { .. })), "no such reduce: nothing takes its place");
    });
}

/// The message of an error of the bins.
fn message(bins: Result<Bins>) -> String {
    bins.unwrap_err().to_string()
}

#[test]
fn errors_name_the_argument() {
    assert_eq!(message(Bins::uniform(0.0, 1.0, 0)), "number: 0 bins; a histogram has at least one");
    assert_eq!(message(Bins::uniform(1.0, 1.0, 5)), "low: 1 is not less than high, 1");
    assert_eq!(message(Bins::uniform(2.0, 1.0, 5)), "low: 2 is not less than high, 1");
    assert_eq!(message(Bins::uniform(f64::NAN, 1.0, 5)), "low: NaN is not finite");
    assert_eq!(message(Bins::uniform(0.0, f64::INFINITY, 5)), "high: inf is not finite");
    assert!(message(Bins::uniform(-1e308, 1e308, 5)).starts_with("high: the range"));
    assert!(message(Bins::uniform(0.0, 1e308, 5)).starts_with("high: the range"));
    assert!(message(Bins::uniform(1e16, 1e16 + 4.0, 5)).starts_with("number: 5 bins"));
    assert!(Bins::uniform(1e16, 1e16 + 4.0, 2).is_ok());
    assert_eq!(message(Bins::from_edges([])), "edges: 0 of them; a bin has two");
    assert_eq!(message(Bins::from_edges([1.0])), "edges: 1 of them; a bin has two");
    assert_eq!(message(Bins::from_edges([0.0, 2.0, 2.0])), "edges: edge 2 is 2, not greater than edge 1, 2");
    assert_eq!(message(Bins::from_edges([0.0, f64::NAN])), "edges: edge 1 is NaN, which is not finite");

    on(2, |cube| {
        let bins = Bins::uniform(0.0, 1.0, 2).unwrap();
        let outcome = cube.histogram(&[0.5; 3], &bins).weighted(&[1.0; 2]).everywhere();
        assert_eq!(outcome.unwrap_err().to_string(), "weights: 2 elements, but 3 are needed (one weight a value)");
        assert_eq!(cube.histogram(&[0.5], &bins).on_root(2), Err(Error::Root { root: 2, size: 2 }));
        assert_eq!(cube.histogram(&[0.5], &bins).everywhere().unwrap().counts, [0, 2], "nothing is broken");
    });
}

/// Edge i as documented.
fn uniform_edges(low: f64, high: f64, number: usize) -> Vec<f64> {
    let edge = |i: usize| if i == number { high } else { low + i as f64 * (high - low) / number as f64 };
    (0..=number).map(edge).collect()
}

fn next_up_and_down(value: f64) -> [f64; 3] {
    [value.next_down(), value, value.next_up()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any range, also such as leave few numbers to a bin; all edges and the numbers next to them, and others between.
    #[test]
    fn uniform_bins_are_those_of_their_edges(
        low in prop_oneof![-10.0..10.0, -1e-300..1e-300, -1e16..1e16, any::<f64>()],
        width in prop_oneof![0.0..10.0, 1e-320..1e-300, 0.0..1e17, 1e-10..1e-9],
        number in 1..70usize,
        fractions in prop::collection::vec(-0.1..1.1, 20),
    ) {
        let high = low + width;
        let Ok(bins) = Bins::uniform(low, high, number) else { return Ok(()) };
        let edges = uniform_edges(low, high, number);
        prop_assert_eq!(bins.edges(), &edges[..]);
        let between = fractions.iter().map(|f| low + f * (high - low));
        for value in edges.iter().copied().flat_map(next_up_and_down).chain(between) {
            prop_assert_eq!(bins.index(value), serial_bin(&edges, value), "{} in {:?}", value, edges);
        }
    }

    #[test]
    fn given_bins_are_those_of_their_edges(mut edges in prop::collection::vec(-1e3..1e3, 2..40)) {
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let Ok(bins) = Bins::from_edges(edges.clone()) else { return Ok(()) };
        for value in edges.iter().copied().flat_map(next_up_and_down).chain([f64::NAN, f64::INFINITY, -2e3, 0.0]) {
            prop_assert_eq!(bins.index(value), serial_bin(&edges, value), "{} in {:?}", value, edges);
        }
    }
}

/// What `numpy.histogram` gives for the same values: `np.histogram([1, 2, 1, 4, 4.5, 5], bins=[0, 1, 2, 3, 4, 5])`, in which
/// 5 lies in the last bin.
#[test]
fn bins_are_numpy_s() {
    on(2, |cube| {
        let own: &[f64] = [&[1.0, 2.0, 1.0][..], &[4.0, 4.5, 5.0]][cube.rank()];
        let expected = [0, 2, 1, 0, 3];
        let given = Bins::from_edges([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(cube.histogram(own, &given).everywhere().unwrap().counts, expected);
        let uniform = Bins::uniform(0.0, 5.0, 5).unwrap();
        assert_eq!(cube.histogram(own, &uniform).everywhere().unwrap().counts, expected);
    });
}

/// Tenths as they are written: the edges are the numbers nearest to 0.1, 0.2, ...
#[test]
fn edges_of_tenths_are_tenths() {
    let bins = Bins::uniform(0.0, 1.0, 10).unwrap();
    for (bin, value) in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].into_iter().enumerate() {
        assert_eq!(bins.index(value), Some(bin), "{value}");
    }
}
