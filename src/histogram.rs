//! Histograms of values that are spread over the ranks.
//!
//! Every rank sorts its own values into bins; one reduce-scatter, reduce or all-reduce adds the counts of all ranks and leaves
//! them scattered, on one rank or everywhere. Stout and Wagar call the first of these the histogram (SW, HISTOGRAM).
//!
//! A value v lies in bin i if edge i <= v < edge i + 1; the last bin also has its upper edge, as in `numpy.histogram`. Values
//! outside are counted apart, and so are those that are no number.
//!
//! ```
//! use hypercoll::histogram::Bins;
//!
//! hypercoll::threads::run(2, |cube| {
//!     let values = [[0.5, 1.0, 7.0], [1.5, 2.0, 2.5]][cube.rank()];
//!     let bins = Bins::uniform(0.0, 2.0, 2).unwrap(); // 0 <= v < 1 and 1 <= v <= 2
//!     let histogram = cube.histogram(&values, &bins).everywhere().unwrap();
//!     assert_eq!(histogram.counts, [1, 3]);
//!     assert_eq!(histogram.above, 2); // 7.0 and 2.5
//! });
//! ```

use crate::buffer::Contiguous;
use crate::collective::part;
use crate::error::{Error, Result};
use crate::hash::Fnv;
use crate::operation::{Number, SystemOperation};
use crate::select::Options;
use crate::Hypercube;
use bytemuck::Pod;
use std::ops::{AddAssign, Range};
use std::panic::Location;

/// Bins on the line of numbers: ascending edges.
#[derive(Clone, PartialEq, Debug)]
pub struct Bins {
    edges: Vec<f64>,
    /// Bins of equal width: how many go into a unit, which tells about where a value lies.
    scale: Option<f64>,
}

impl Bins {
    /// `number` bins of equal width from `low` to `high`. Edge i is `low + i * (high - low) / number`, worked out in this order.
    ///
    /// # Errors
    /// [`Error::Bins`] if `number` is 0, `low` or `high` is not finite, `low >= high`, the range is too wide for the edges to
    /// be worked out, or the bins are so narrow that two edges are the same number.
    pub fn uniform(low: f64, high: f64, number: usize) -> Result<Bins> {
        let refuse = |argument, why: String| Err(Error::Bins { argument, why });
        if number == 0 {
            return refuse("number", "0 bins; a histogram has at least one".into());
        }
        for (argument, bound) in [("low", low), ("high", high)] {
            if !bound.is_finite() {
                return refuse(argument, format!("{bound} is not finite"));
            }
        }
        if low >= high {
            return refuse("low", format!("{low} is not less than high, {high}"));
        }
        let width = high - low;
        if !(width * number as f64).is_finite() {
            return refuse("high", format!("the range {low} to {high} is too wide for {number} bins"));
        }
        let mut edges: Vec<f64> = (0..number).map(|i| low + i as f64 * width / number as f64).collect();
        edges.push(high);
        if let Some(bin) = edges.windows(2).position(|w| w[0] >= w[1]) {
            let edge = edges[bin];
            return refuse("number", format!("{number} bins from {low} to {high} are too narrow: bin {bin} at {edge}"));
        }
        Ok(Bins { edges, scale: Some(number as f64 / width) })
    }

    /// Bins between neighbouring `edges`, of which there are one more than bins.
    ///
    /// # Errors
    /// [`Error::Bins`] if there are fewer than two edges, one is not finite, or one is not greater than the one before.
    pub fn from_edges(edges: impl Into<Vec<f64>>) -> Result<Bins> {
        let edges = edges.into();
        let refuse = |why: String| Err(Error::Bins { argument: "edges", why });
        if edges.len() < 2 {
            return refuse(format!("{} of them; a bin has two", edges.len()));
        }
        if let Some(at) = edges.iter().position(|edge| !edge.is_finite()) {
            return refuse(format!("edge {at} is {}, which is not finite", edges[at]));
        }
        if let Some(at) = edges.windows(2).position(|w| w[0] >= w[1]) {
            return refuse(format!("edge {} is {}, not greater than edge {at}, {}", at + 1, edges[at + 1], edges[at]));
        }
        Ok(Bins { edges, scale: None })
    }

    /// `number` bins of equal width from the least to the greatest finite value on any rank, by one all-reduce. All ranks
    /// call it, each with its own values, and get equal bins. If all values are the same, the bins reach from half a unit below
    /// to half a unit above; if there is none at all, from 0 to 1.
    ///
    /// # Errors
    /// As [`Bins::uniform`], on all ranks; failures of the transport.
    #[track_caller]
    pub fn spanning<S>(cube: &Hypercube, values: &S, number: usize) -> Result<Bins>
    where
        S: Contiguous + ?Sized,
        S::Element: Value,
    {
        // The least value, negated, and the greatest: one reduction finds both.
        let mut extremes = [f64::NEG_INFINITY; 2];
        for value in values.slice().iter().map(|v| v.value()).filter(|v| v.is_finite()) {
            extremes = [extremes[0].max(-value), extremes[1].max(value)];
        }
        let all_reduce = cube.all_reduce().besides(&format!("{number} bins"));
        all_reduce.run_in_place(&mut extremes, SystemOperation::Max)?;
        let (low, high) = (-extremes[0], extremes[1]);
        if low > high {
            Bins::uniform(0.0, 1.0, number)
        } else if low == high {
            Bins::uniform(low - 0.5, high + 0.5, number)
        } else {
            Bins::uniform(low, high, number)
        }
    }

    /// What ranks must agree on.
    fn words(&self) -> String {
        let edges: Vec<u64> = self.edges.iter().map(|edge| (edge + 0.0).to_bits()).collect(); // -0 is 0
        let (first, last) = (self.edges[0], self.edges[self.number()]);
        format!("{} bins from {first} to {last}, edges {:016x}", self.number(), Fnv::of(&edges))
    }

    /// The number of bins, at least 1.
    pub fn number(&self) -> usize {
        self.edges.len() - 1
    }

    /// The edges, one more than bins; bin i lies between edges i and i + 1.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The bin of a value, if it lies in one.
    pub fn index(&self, value: f64) -> Option<usize> {
        let last = self.number() - 1;
        if !(self.edges[0]..=self.edges[last + 1]).contains(&value) {
            return None;
        }
        Some(match self.scale {
            None => self.edges.partition_point(|&edge| edge <= value).saturating_sub(1).min(last),
            Some(scale) => {
                // Rounding may lead to a neighbour of the right bin: the edges decide.
                let mut bin = (((value - self.edges[0]) * scale) as usize).min(last);
                while value < self.edges[bin] {
                    bin -= 1;
                }
                while bin < last && value >= self.edges[bin + 1] {
                    bin += 1;
                }
                bin
            }
        })
    }
}

/// A number that can be sorted into bins. Integers become `f64`, which is exact up to 2^53.
pub trait Value: Pod {
    /// The value as `f64`.
    fn value(self) -> f64;
}

macro_rules! values {
    ($($t:ty)*) => {$(
        impl Value for $t {
            fn value(self) -> f64 {
                self as f64
            }
        }
    )*};
}

values!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

/// How much each value counts; see [`Binning::weighted`].
pub trait Weights {
    /// The type of the sums.
    type Sum: Number + AddAssign + Default;

    /// The weight of a rank's value `index`.
    fn weight(&self, index: usize) -> Self::Sum;

    /// How many weights there are, if there are no more.
    fn number(&self) -> Option<usize>;
}

/// Every value counts 1.
#[derive(Clone, Copy, Debug)]
pub struct Ones;

impl Weights for Ones {
    type Sum = u64;

    fn weight(&self, _: usize) -> u64 {
        1
    }

    fn number(&self) -> Option<usize> {
        None
    }
}

impl Weights for &[f64] {
    type Sum = f64;

    fn weight(&self, index: usize) -> f64 {
        self[index]
    }

    fn number(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// Totals over all ranks, of some bins: `C` is `u64`, or `f64` if the values have weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram<C = u64> {
    /// Which bins.
    pub bins: Range<usize>,
    /// Their totals: of bin `bins.start + i` at i.
    pub counts: Vec<C>,
    /// Total of the values below the first edge, on all ranks.
    pub below: C,
    /// Total of the values above the last edge, on all ranks.
    pub above: C,
    /// Total of the values that are no number (NaN), on all ranks.
    pub nan: C,
}

/// A histogram to be made; see [`Hypercube::histogram`].
#[derive(Clone)]
#[must_use = "nothing happens before scattered, on_root or everywhere"]
pub struct Binning<'a, T, W = Ones> {
    cube: &'a Hypercube,
    values: &'a [T],
    bins: &'a Bins,
    weights: W,
    options: Options,
}

impl Hypercube {
    /// Sorts the values of all ranks into bins.
    ///
    /// All ranks: each passes its own `values`, any number of them, and equal `bins`.
    ///
    /// ```
    /// use hypercoll::{histogram::Bins, threads};
    ///
    /// threads::run(3, |cube| {
    ///     let values = [cube.rank() as f32, 0.5, 9.0];
    ///     let bins = Bins::uniform(0.0, 3.0, 3)?;
    ///     let histogram = cube.histogram(&values, &bins).everywhere()?;
    ///     assert_eq!(histogram.counts, [4, 1, 1]);
    ///     assert_eq!(histogram.above, 3);
    ///     hypercoll::Result::Ok(())
    /// });
    /// ```
    pub fn histogram<'a, S>(&'a self, values: &'a S, bins: &'a Bins) -> Binning<'a, S::Element>
    where
        S: Contiguous + ?Sized,
        S::Element: Value,
    {
        Binning { cube: self, values: values.slice(), bins, weights: Ones, options: Options::default() }
    }
}

impl<'a, T: Value, W: Weights> Binning<'a, T, W> {
    /// Sums weights instead of counting: `weights[i]` is that of the rank's value i. All ranks do the same.
    ///
    /// A rank adds up its own weights in the order of its values, and the sums of the ranks are added in the order of the
    /// collective's algorithm.
    pub fn weighted(self, weights: &'a [f64]) -> Binning<'a, T, &'a [f64]> {
        Binning { cube: self.cube, values: self.values, bins: self.bins, weights, options: self.options }
    }

    /// Sets the options of the collective that adds up the counts: a reduce-scatter, reduce or all-reduce (all ranks the same).
    pub fn options(mut self, options: &Options) -> Self {
        self.options = options.clone();
        self
    }

    /// Leaves each rank with its share of the bins, by one reduce-scatter: rank r has bins
    /// [`part`]`(0..number, r, size)`, so that the numbers of bins differ by one at most.
    ///
    /// # Errors
    /// [`Error::Length`] if there are not as many weights as values; options that cannot be honoured; failures of the transport.
    #[track_caller]
    pub fn scattered(self) -> Result<Histogram<W::Sum>> {
        let (rank, size) = (self.cube.rank(), self.cube.size());
        let local = self.count(Location::caller())?;
        let (outside, counts) = local.split_at(OUTSIDE);
        // Blocks of a reduce-scatter are equally long: those of fewer bins are filled up. Each also takes what lies outside, so
        // that one collective does for all.
        let block = OUTSIDE + counts.len().div_ceil(size);
        let mut send = Vec::with_capacity(block * size);
        for to in 0..size {
            send.extend_from_slice(outside);
            send.extend_from_slice(&counts[part(0..counts.len(), to, size)]);
            send.resize(block * (to + 1), W::Sum::default());
        }
        let bins = part(0..counts.len(), rank, size);
        let mut receive = vec![W::Sum::default(); block];
        let reduce_scatter = self.cube.reduce_scatter().options(&self.options).besides(&self.bins.words());
        reduce_scatter.run(&send, &mut receive, SystemOperation::Sum)?;
        Ok(totals(bins, receive))
    }

    /// Leaves the whole histogram on rank `root`, by one reduce; the other ranks get `None`.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Length`] if there are not as many weights as values; options that cannot be honoured; failures
    /// of the transport.
    #[track_caller]
    pub fn on_root(self, root: usize) -> Result<Option<Histogram<W::Sum>>> {
        let local = self.count(Location::caller())?;
        let is_root = self.cube.rank() == root;
        let mut receive = vec![W::Sum::default(); if is_root { local.len() } else { 0 }];
        let reduce = self.cube.reduce(root).options(&self.options).besides(&self.bins.words());
        reduce.run(&local, is_root.then_some(&mut receive), SystemOperation::Sum)?;
        Ok(is_root.then(|| totals(0..self.bins.number(), receive)))
    }

    /// Leaves the whole histogram on all ranks, by one all-reduce.
    ///
    /// # Errors
    /// [`Error::Length`] if there are not as many weights as values; options that cannot be honoured; failures of the transport.
    #[track_caller]
    pub fn everywhere(self) -> Result<Histogram<W::Sum>> {
        let mut counts = self.count(Location::caller())?;
        let all_reduce = self.cube.all_reduce().options(&self.options).besides(&self.bins.words());
        all_reduce.run_in_place(&mut counts, SystemOperation::Sum)?;
        Ok(totals(0..self.bins.number(), counts))
    }

    /// The rank's own: what is below, above and no number, then the bins.
    fn count(&self, at: &'static Location<'static>) -> Result<Vec<W::Sum>> {
        let values = self.values.len();
        if let Some(got) = self.weights.number().filter(|&number| number != values) {
            let why = "one weight a value";
            let error = Error::Length { argument: "weights", got, expected: values.to_string(), why };
            return Err(self.cube.refuse("histogram", error, at));
        }
        let mut counts = vec![W::Sum::default(); OUTSIDE + self.bins.number()];
        for (at, value) in self.values.iter().enumerate() {
            let value = value.value();
            let place = match self.bins.index(value) {
                Some(bin) => OUTSIDE + bin,
                None if value < self.bins.edges[0] => 0,
                None if value.is_nan() => 2,
                None => 1,
            };
            counts[place] += self.weights.weight(at);
        }
        Ok(counts)
    }
}

/// Values below, values above, values that are no number.
const OUTSIDE: usize = 3;

/// The histogram from the sums of all ranks, laid out as by `count`, perhaps with more after the last bin.
fn totals<C: Copy>(bins: Range<usize>, mut sums: Vec<C>) -> Histogram<C> {
    let [below, above, nan] = [sums[0], sums[1], sums[2]];
    sums.drain(..OUTSIDE);
    sums.truncate(bins.len());
    Histogram { bins, counts: sums, below, above, nan }
}
