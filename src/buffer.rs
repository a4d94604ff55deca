//! What can be passed as a buffer: slices, vectors, arrays and single numbers, as in rsmpi.
//!
//! An element is any plain old data ([`bytemuck::Pod`]): numbers, arrays of them, and your own types. Counts are in elements.
//!
//! ```
//! use hypercoll::{threads, SystemOperation};
//!
//! threads::run(4, |cube| {
//!     let mut number = cube.rank() as u64;
//!     cube.all_reduce_in_place(&mut number, SystemOperation::sum()).unwrap();
//!     assert_eq!(number, 6);
//!
//!     let mut vector = vec![cube.rank() as f32; 8];
//!     cube.process_at_rank(3).broadcast_into(&mut vector[2..]).unwrap(); // a part of it
//!     assert_eq!(vector[7], 3.0);
//!
//!     // A vector of points: one element has three coordinates.
//!     let mut points = vec![[0.0; 3]; 4];
//!     cube.all_gather_into(&[[cube.rank() as f64; 3]][..], &mut points).unwrap();
//!     assert_eq!(points, [[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]]);
//! });
//! ```

use bytemuck::Pod;

/// A buffer to read from.
pub trait Buffer {
    /// The type of an element.
    type Element: Pod;

    /// The elements.
    fn elements(&self) -> &[Self::Element];
}

/// A buffer to write to.
pub trait BufferMut: Buffer {
    /// The elements.
    fn elements_mut(&mut self) -> &mut [Self::Element];
}

impl<T: Pod> Buffer for [T] {
    type Element = T;

    fn elements(&self) -> &[T] {
        self
    }
}

impl<T: Pod> BufferMut for [T] {
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: Pod> Buffer for Vec<T> {
    type Element = T;

    fn elements(&self) -> &[T] {
        self
    }
}

impl<T: Pod> BufferMut for Vec<T> {
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: Pod, const N: usize> Buffer for [T; N] {
    type Element = T;

    fn elements(&self) -> &[T] {
        self
    }
}

impl<T: Pod, const N: usize> BufferMut for [T; N] {
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Buffer for $t {
            type Element = $t;

            fn elements(&self) -> &[$t] {
                std::slice::from_ref(self)
            }
        }

        impl BufferMut for $t {
            fn elements_mut(&mut self) -> &mut [$t] {
                std::slice::from_mut(self)
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
