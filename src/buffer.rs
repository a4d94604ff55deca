//! What can be passed as a buffer: slices, vectors, arrays and single numbers, as in rsmpi.
//!
//! An [`Element`] is any plain data: numbers, complex ones among them, `bool`, `char`, arrays of them, and your own types. Counts are in
//! elements. Elements that are not side by side are sent and received as they lie: [`Strided`], and rsmpi's views.
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

pub use crate::raw::elements::{Elements, ElementsMut};
pub use crate::raw::strided::{Strided, StridedMut};
#[cfg(feature = "mpi")]
pub use crate::raw::view::MpiByte;
use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use num_complex::Complex;

/// A type of elements: what has no padding, is nothing when it is all zeros, and can be told to be valid. All [`bytemuck::Pod`] is, and
/// so are `bool`, `char`, and types that derive the three traits.
///
/// What is received is valid: a call whose messages are not is an error ([`Error::Element`](crate::Error::Element)), and leaves zeros.
pub trait Element: NoUninit + CheckedBitPattern + Zeroable {}

impl<T: NoUninit + CheckedBitPattern + Zeroable> Element for T {}

/// A buffer to read from.
pub trait Buffer {
    /// The type of an element.
    type Element: Element;

    /// The elements.
    fn elements(&self) -> Elements<'_, Self::Element>;
}

/// A buffer to write to.
pub trait BufferMut {
    /// The type of an element.
    type Element: Element;

    /// The elements.
    fn elements_mut(&mut self) -> ElementsMut<'_, Self::Element>;
}

/// A buffer whose elements are side by side.
pub trait Contiguous: Buffer {
    /// The elements.
    fn slice(&self) -> &[Self::Element];
}

/// A buffer to write to whose elements are side by side.
pub trait ContiguousMut: BufferMut {
    /// The elements.
    fn slice_mut(&mut self) -> &mut [Self::Element];
}

/// A buffer to write to whose elements are in a slice, side by side or at equal distances: a [`ContiguousMut`], or a [`StridedMut`].
///
/// Persistent calls take these. They give the slice back between one start and the next: of a [`StridedMut`] the one in which its elements
/// are, with what lies between them.
pub trait WithinSliceMut: BufferMut + sealed::WithinSliceMut {}

impl<B: BufferMut + sealed::WithinSliceMut + ?Sized> WithinSliceMut for B {}

pub(crate) mod sealed {
    use super::{BufferMut, ContiguousMut, ElementsMut, StridedMut};
    use crate::buffer::Element;
    use crate::raw::lent_mut;

    pub trait WithinSliceMut: BufferMut {
        /// The slice, and the elements in it, borrowed from that address.
        fn kept(&mut self) -> (*mut [Self::Element], ElementsMut<'_, Self::Element>);
    }

    impl<B: ContiguousMut + ?Sized> WithinSliceMut for B {
        fn kept(&mut self) -> (*mut [B::Element], ElementsMut<'_, B::Element>) {
            lent_mut(self.slice_mut())
        }
    }

    impl<T: Element> WithinSliceMut for StridedMut<'_, T> {
        fn kept(&mut self) -> (*mut [T], ElementsMut<'_, T>) {
            self.within()
        }
    }
}

macro_rules! contiguous {
    ($([$($generic:tt)*] $buffer:ty: $element:ty, $shared:expr, $mutable:expr;)*) => {$(
        impl<$($generic)*> Buffer for $buffer {
            type Element = $element;

            fn elements(&self) -> Elements<'_, $element> {
                self.slice().into()
            }
        }

        impl<$($generic)*> BufferMut for $buffer {
            type Element = $element;

            fn elements_mut(&mut self) -> ElementsMut<'_, $element> {
                self.slice_mut().into()
            }
        }

        impl<$($generic)*> Contiguous for $buffer {
            fn slice(&self) -> &[$element] {
                let shared: fn(&Self) -> &[$element] = $shared;
                shared(self)
            }
        }

        impl<$($generic)*> ContiguousMut for $buffer {
            fn slice_mut(&mut self) -> &mut [$element] {
                let mutable: fn(&mut Self) -> &mut [$element] = $mutable;
                mutable(self)
            }
        }
    )*};
}

contiguous! {
    [T: Element] [T]: T, |buffer| buffer, |buffer| buffer;
    [T: Element] Vec<T>: T, |buffer| buffer, |buffer| buffer;
    [T: Element, const N: usize] [T; N]: T, |buffer| buffer, |buffer| buffer;
}

macro_rules! single {
    ($($t:ty)*) => {
        contiguous! { $([] $t: $t, std::slice::from_ref, std::slice::from_mut;)* }
    };
}

single! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char Complex<f32> Complex<f64> }
