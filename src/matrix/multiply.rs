//! The call of a matrix multiplication.

use super::{options, Part, Scalar};
use crate::algorithm::{registry, Parameters, PortModel, Shape};
use crate::buffer::{Contiguous, ContiguousMut};
use crate::collective::{Call, Collective, MatrixProduct};
use crate::error::{Error, Result};
use crate::select::Options;
use crate::Hypercube;
use std::panic::Location;

/// A product of matrices with options; see [`Hypercube::matrix_multiply`].
#[derive(Clone)]
#[must_use = "nothing happens before run"]
pub struct MatrixMultiply<'c> {
    cube: &'c Hypercube,
    product: MatrixProduct,
    /// Whether the grid is one that was asked for.
    grid_is_set: bool,
    options: Options,
}

options!(MatrixMultiply, then settle);

impl Hypercube {
    /// The product C = A B of a matrix of `rows` x `inner` and one of `inner` x `columns` elements, which are spread over a grid of
    /// ranks, by the algorithms of Ho, Johnsson and Edelman 1991. All ranks make the call with the same numbers; the number
    /// of ranks must be a power of two.
    ///
    /// Rank k N2 + l of a grid of N1 x N2 ranks holds the block in row k and column l of each matrix, whose sides are cut into N1
    /// and N2 parts as evenly as possible: what [`MatrixMultiply::a`], [`MatrixMultiply::b`] and [`MatrixMultiply::c`] say. The
    /// grid is the one on which the fewest elements move (a square one for square matrices), of those that the algorithm serves if one is
    /// named, unless [`MatrixMultiply::grid`] sets another.
    ///
    /// ```
    /// hypercoll::threads::run(8, |cube| {
    ///     let product = cube.matrix_multiply(100, 30, 70).algorithm("block").grid(4, 2).unwrap();
    ///     let a = vec![1.5; product.a().len()];
    ///     let b = vec![2.0; product.b().len()];
    ///     let mut c = vec![0.0; product.c().len()];
    ///     product.run(&a, &b, &mut c).unwrap();
    ///     assert!(c.iter().all(|&sum| sum == 90.0));
    /// });
    /// ```
    pub fn matrix_multiply(&self, rows: usize, inner: usize, columns: usize) -> MatrixMultiply<'_> {
        let product = usual_grid(MatrixProduct::new(self.size(), rows, inner, columns), None);
        MatrixMultiply { cube: self, product, grid_is_set: false, options: Options::default() }
    }
}

/// The product on the grid on which the fewest elements move, one dimension at a time; of several the one nearest to a square. Grids that
/// an algorithm does not serve come last.
fn usual_grid(product: MatrixProduct, algorithm: Option<&str>) -> MatrixProduct {
    let size = product.grid_rows * product.grid_columns;
    if !size.is_power_of_two() || product.checked_space().is_none() {
        return product;
    }
    let find = |name| registry::find(Collective::MatrixMultiply, name).ok();
    let Some(dns) = find("dns") else { return product };
    let named = algorithm.and_then(find);
    let cost = |product| {
        let (call, parameters) = (call(product), Parameters::new(PortModel::OnePort));
        let moved = (dns.formula)(&Shape::new(&call, &parameters)).moved;
        (named.is_some_and(|algorithm| (algorithm.suits)(&call, &parameters).is_err()), moved)
    };
    let (mut best, mut least) = (product, cost(product));
    // From the most square grid to the longest ones.
    for n1 in (0..=product.grid_rows.ilog2()).rev() {
        for (grid_rows, grid_columns) in [(1 << n1, size >> n1), (size >> n1, 1 << n1)] {
            let other = MatrixProduct { grid_rows, grid_columns, ..product };
            let others = cost(other);
            if others < least {
                (best, least) = (other, others);
            }
        }
    }
    best
}

fn call(product: MatrixProduct) -> Call {
    let size = product.grid_rows * product.grid_columns;
    let count = product.rows.max(product.inner).max(product.columns);
    Call { matrices: Some(product.into()), ..Call::new(Collective::MatrixMultiply, size, count) }
}

impl MatrixMultiply<'_> {
    /// Sets the grid of ranks (all ranks the same).
    ///
    /// # Errors
    /// [`Error::Shape`] if it has not as many places as there are ranks, or its sides are no powers of two.
    pub fn grid(mut self, rows: usize, columns: usize) -> Result<Self> {
        let size = self.cube.size();
        if rows.checked_mul(columns) != Some(size) || !rows.is_power_of_two() || !columns.is_power_of_two() {
            let why = format!("{rows} x {columns} places for {size} ranks; both sides must be powers of two");
            return Err(Error::Shape { argument: "grid", why });
        }
        (self.product.grid_rows, self.product.grid_columns) = (rows, columns);
        self.grid_is_set = true;
        Ok(self)
    }

    /// Rows and columns of the grid of ranks.
    pub fn grid_sides(&self) -> (usize, usize) {
        (self.product.grid_rows, self.product.grid_columns)
    }

    /// Takes the grid that suits the options, unless one was asked for.
    fn settle(&mut self) {
        if !self.grid_is_set {
            let MatrixProduct { rows, inner, columns, .. } = self.product;
            let product = MatrixProduct::new(self.cube.size(), rows, inner, columns);
            self.product = usual_grid(product, self.options.algorithm.as_deref());
        }
    }

    fn position(&self) -> (usize, usize) {
        self.product.position(self.cube.rank())
    }

    /// This rank's block of A.
    pub fn a(&self) -> Part {
        let (k, l) = self.position();
        Part::new(self.product.row_part(k), self.product.inner_part_of_a(l))
    }

    /// This rank's block of B.
    pub fn b(&self) -> Part {
        let (k, l) = self.position();
        Part::new(self.product.inner_part_of_b(k), self.product.column_part(l))
    }

    /// This rank's block of C.
    pub fn c(&self) -> Part {
        let (k, l) = self.position();
        Part::new(self.product.row_part(k), self.product.column_part(l))
    }

    /// Runs it: `a` and `b` are this rank's blocks of the factors, `c` becomes its block of the product, all stored row after row.
    ///
    /// Besides the three blocks the library holds a copy of `a` and `b`, and at most two more for what is on its way, whatever
    /// the number of ranks; the algorithm `broadcasts`, if it is named, all of A in a row of the grid and all of B in a column. Sums of floating-point numbers are in a fixed order for a given rank, grid and algorithm.
    ///
    /// # Errors
    /// [`Error::Length`], naming `a`, `b` or `c`; [`Error::Shape`] if the matrices have more elements than can be counted;
    /// [`Error::Unsuited`] if the number of ranks is no power of two, or options cannot be honoured; failures of the transport.
    #[track_caller]
    pub fn run<A, B, C>(self, a: &A, b: &B, c: &mut C) -> Result<()>
    where
        A: Contiguous + ?Sized,
        A::Element: Scalar,
        B: Contiguous<Element = A::Element> + ?Sized,
        C: ContiguousMut<Element = A::Element> + ?Sized,
    {
        let (a, b, c) = (a.slice(), b.slice(), c.slice_mut());
        let at = Location::caller();
        let name = Collective::MatrixMultiply.name();
        self.check([a.len(), b.len(), c.len()]).map_err(|error| self.cube.refuse(name, error, at))?;
        let mut factors = Vec::with_capacity(a.len() + b.len());
        self.pack(a, &mut factors);
        factors.extend_from_slice(b);
        let multiply = |inner: usize, a: &[u8], b: &[u8], c: &mut [u8]| {
            A::Element::multiply(inner, bytemuck::cast_slice(a), bytemuck::cast_slice(b), bytemuck::cast_slice_mut(c));
        };
        self.cube.collective(call(self.product)).options(&self.options).multiply(&factors, c, multiply)
    }

    /// Whether there are such matrices, and blocks of so many elements are this rank's.
    fn check(&self, [a, b, c]: [usize; 3]) -> Result<()> {
        if self.product.checked_space().is_none() {
            let MatrixProduct { rows, inner, columns, .. } = self.product;
            let why = format!("{rows} x {inner} by {inner} x {columns}: too many elements to be counted");
            return Err(Error::Shape { argument: "matrices", why });
        }
        self.a().expect("a", a, "this rank's block of A")?;
        self.b().expect("b", b, "this rank's block of B")?;
        self.c().expect("c", c, "this rank's block of C")
    }

    /// Appends the block of A slab by slab.
    fn pack<T: Copy>(&self, a: &[T], packed: &mut Vec<T>) {
        let product = self.product;
        let column = self.position().1;
        let block = product.inner_part_of_a(column);
        let kept = product.keys() / product.grid_columns;
        let first = column * kept;
        for key in first..first + kept {
            for panel in 0..product.panels() {
                let slab = product.slab(key, panel);
                let columns = slab.start - block.start..slab.end - block.start;
                if !columns.is_empty() {
                    a.chunks_exact(block.len()).for_each(|row| packed.extend_from_slice(&row[columns.clone()]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    fn element(seed: usize, i: usize, j: usize) -> i32 {
        ((i * 31 + j * 17 + i * j * seed) % 23) as i32 - 11
    }

    /// Against a serial product: all grids and algorithms, sides that nothing divides.
    #[test]
    fn products_are_serial_products() {
        for n in 0..=4u32 {
            for (rows, inner, columns) in
                [(1, 1, 1), (0, 5, 3), (4, 0, 5), (16, 48, 16), (13, 29, 7), (5, 3, 40), (61, 37, 2)]
            {
                threads::run(1 << n, |cube| {
                    for n1 in 0..=n {
                        for (algorithm, ports) in [
                            ("block", PortModel::AllPorts),
                            ("dns", PortModel::AllPorts),
                            ("dns", PortModel::OnePort),
                            ("dns", PortModel::OneWay),
                            ("cannon", PortModel::AllPorts),
                            ("broadcasts", PortModel::AllPorts),
                            ("broadcasts", PortModel::OneWay),
                        ] {
                            if algorithm == "cannon" && ![(0, 0), (2, 1), (4, 2)].contains(&(n, n1)) {
                                continue;
                            }
                            let product = cube.matrix_multiply(rows, inner, columns).algorithm(algorithm).ports(ports);
                            let product = product.grid(1 << n1, 1 << (n - n1)).unwrap();
                            let (a_part, b_part, c_part) = (product.a(), product.b(), product.c());
                            let a: Vec<f64> = a_part.indices().map(|(i, j)| f64::from(element(1, i, j))).collect();
                            let b: Vec<f64> = b_part.indices().map(|(i, j)| f64::from(element(2, i, j))).collect();
                            let mut c = vec![f64::NAN; c_part.len()];
                            product.run(&a, &b, &mut c).unwrap();
                            let serial = |(i, j)| (0..inner).map(|k| element(1, i, k) * element(2, k, j)).sum::<i32>();
                            let expected: Vec<f64> = c_part.indices().map(|at| f64::from(serial(at))).collect();
                            assert_eq!(c, expected, "{algorithm} 2^{n1} of 2^{n}, {rows} {inner} {columns}");
                        }
                    }
                });
            }
        }
    }

    #[test]
    fn the_library_chooses_grid_and_algorithm() {
        let grid = |algorithm: Option<&str>, size, rows, inner, columns| {
            let usual = usual_grid(MatrixProduct::new(size, rows, inner, columns), algorithm);
            (usual.grid_rows, usual.grid_columns)
        };
        assert_eq!((grid(None, 16, 100, 100, 100), grid(None, 8, 100, 100, 100)), ((4, 4), (2, 4)));
        // A matrix so tall that it pays to move the other one only.
        assert_eq!((grid(None, 16, 100_000, 10, 10), grid(None, 16, 10, 10, 100_000)), ((16, 1), (1, 16)));
        // Of 2^odd ranks the squarest grid has two ways to lie.
        assert_eq!((grid(None, 2, 100_000, 10, 10), grid(None, 32, 200, 100, 100)), ((2, 1), (8, 4)));
        // Cannon's rings want a square.
        assert_eq!(
            (grid(Some("cannon"), 16, 100_000, 10, 10), grid(Some("block"), 16, 10, 10, 100_000)),
            ((4, 4), (1, 16))
        );
        let results = threads::run(8, |cube| {
            let product = cube.matrix_multiply(9, 10, 11);
            let (a, b) = (vec![3u64; product.a().len()], vec![u64::MAX; product.b().len()]);
            let mut c = vec![1; product.c().len()];
            product.run(&a, &b, &mut c).unwrap();
            (c, cube.explain_last())
        });
        let negative = 0u64.wrapping_sub(30); // integers wrap around
        assert!(results.iter().all(|(c, _)| c.iter().all(|&sum| sum == negative)));
        assert!(results[0].1.contains("HJE"), "{}", results[0].1);
    }

    #[test]
    fn bad_input_is_named() {
        threads::run(6, |cube| {
            let product = cube.matrix_multiply(6, 6, 6);
            let (a, b) = (vec![0.5; product.a().len()], vec![0.5; product.b().len()]);
            let mut c = vec![7.0; product.c().len()];
            let error = product.clone().run(&a, &b, &mut c).unwrap_err();
            assert!(error.to_string().starts_with("size: "), "{error}");
            assert!(c.iter().all(|&x| x == 7.0), "buffers stay as they were");
            assert!(product.grid(2, 3).is_err_and(|error| error.to_string().starts_with("grid: 2 x 3")));
        });
        threads::run(4, |cube| {
            let product = cube.matrix_multiply(5, 6, 7);
            let (a, b) = (vec![0.5f32; product.a().len()], vec![0.5; product.b().len()]);
            let mut c = vec![7.0; product.c().len()];
            let error = product.clone().run(&a[1..], &b, &mut c).unwrap_err();
            assert!(error.to_string().starts_with("a: "), "{error}");
            let error = product.clone().run(&a, &b[1..], &mut c).unwrap_err();
            assert!(error.to_string().starts_with("b: "), "{error}");
            let error = product.clone().run(&a, &b, &mut c[1..]).unwrap_err();
            assert!(error.to_string().starts_with("c: "), "{error}");
            let error = product.clone().algorithm("strassen").run(&a, &b, &mut c).unwrap_err();
            assert!(error.to_string().contains("block, cannon, dns"), "{error}");
            assert!(product.clone().grid(4, 2).is_err() && product.grid(0, 4).is_err());
            let huge = cube.matrix_multiply(usize::MAX, 2, usize::MAX);
            assert!(matches!(huge.run(&a, &b, &mut c), Err(Error::Shape { argument: "matrices", .. })));
            assert!(c.iter().all(|&x| x == 7.0), "buffers stay as they were");
        });
    }
}
