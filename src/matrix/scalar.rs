//! The local product: the one place that knows how numbers are multiplied.

use bytemuck::Pod;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar};
use num_complex::Complex;

/// Numbers of which matrices can be multiplied.
///
/// `f32`, `f64` and complex numbers of either (`num_complex`) by the kernels behind `ndarray`; integers by a plain loop, wrapping
/// around.
pub trait Scalar: Pod {
    /// C becomes C + A B. All are stored by rows; A has `inner` columns, B as many rows.
    ///
    /// # Panics
    /// If `inner` is 0, or the lengths are not those of such matrices.
    fn multiply(inner: usize, a: &[Self], b: &[Self], c: &mut [Self]);
}

/// Rows of A and columns of B.
///
/// # Panics
/// If the lengths are not those of a product of matrices.
fn sides(inner: usize, a: usize, b: usize, c: usize) -> (usize, usize) {
    let (rows, columns) = (a / inner, b / inner);
    assert!(
        rows * inner == a && columns * inner == b && rows * columns == c,
        "matrices of {a} and {b} elements with {inner} columns and rows make no matrix of {c} elements"
    );
    (rows, columns)
}

fn kernel<T: LinalgScalar>(inner: usize, a: &[T], b: &[T], c: &mut [T]) {
    let (rows, columns) = sides(inner, a.len(), b.len(), c.len());
    let (a, b) = (ArrayView2::from_shape((rows, inner), a), ArrayView2::from_shape((inner, columns), b));
    // The lengths are right, so that all three are matrices.
    if let (Ok(a), Ok(b), Ok(mut c)) = (a, b, ArrayViewMut2::from_shape((rows, columns), c)) {
        general_mat_mul(T::one(), &a, &b, T::one(), &mut c);
    }
}

macro_rules! kernels {
    ($($number:ty)*) => {$(
        impl Scalar for $number {
            fn multiply(inner: usize, a: &[Self], b: &[Self], c: &mut [Self]) {
                kernel(inner, a, b, c);
            }
        }
    )*};
}

kernels!(f32 f64 Complex<f32> Complex<f64>);

macro_rules! integers {
    ($($number:ty)*) => {$(
        impl Scalar for $number {
            fn multiply(inner: usize, a: &[Self], b: &[Self], c: &mut [Self]) {
                let (_, columns) = sides(inner, a.len(), b.len(), c.len());
                if columns == 0 {
                    return;
                }
                for (row, c) in a.chunks_exact(inner).zip(c.chunks_exact_mut(columns)) {
                    for (&factor, b) in row.iter().zip(b.chunks_exact(columns)) {
                        c.iter_mut().zip(b).for_each(|(c, &b)| *c = c.wrapping_add(factor.wrapping_mul(b)));
                    }
                }
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition, with small integers, of which floating point makes no rounding error.
    fn compare<T: Scalar + PartialEq + std::fmt::Debug>(number: impl Fn(i32) -> T) {
        for (rows, inner, columns) in [(1, 1, 1), (3, 5, 2), (17, 9, 33), (0, 4, 3), (3, 4, 0)] {
            let value = |seed: usize, at: usize| ((at * 7 + seed * 13) % 19) as i32 - 9;
            let matrix = |seed, len| -> Vec<T> { (0..len).map(|at| number(value(seed, at))).collect() };
            let mut c = matrix(3, rows * columns);
            T::multiply(inner, &matrix(1, rows * inner), &matrix(2, inner * columns), &mut c);
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / columns, at % columns);
                let terms = (0..inner).map(|k| value(1, i * inner + k) * value(2, k * columns + j));
                assert_eq!(got, number(value(3, at) + terms.sum::<i32>()), "{rows} {inner} {columns}: {at}");
            }
        }
    }

    #[test]
    fn products_are_those_of_the_definition() {
        compare(|x| x as f32);
        compare(f64::from);
        compare(i64::from);
        compare(|x| x as u8);
    }

    #[test]
    fn complex_products() {
        let i = Complex::new(0.0, 1.0);
        let one = Complex::new(1.0, 0.0);
        let mut c = [one + i];
        Complex::multiply(2, &[one + i * 2.0, i], &[one * 3.0 - i, i * 4.0], &mut c);
        // (1 + 2i)(3 - i) + i 4i + 1 + i = 5 + 5i - 4 + 1 + i
        assert_eq!(c, [Complex::new(2.0, 6.0)]);
        compare(|x| Complex::new(x as f32, 0.0));
    }

    #[test]
    #[should_panic(expected = "make no matrix of 7 elements")]
    fn lengths_must_fit() {
        f64::multiply(2, &[0.0; 4], &[0.0; 6], &mut [0.0; 7]);
    }
}
