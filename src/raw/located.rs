//! Values with their places: the elements of reductions that find the least or the greatest one, and where it is.

use bytemuck::{Pod, Zeroable};

/// A number that can be found with its place.
pub trait Place: Copy + PartialOrd {
    /// The type of its place: an integer that is as long.
    type Place: Copy + Ord;
}

/// A value and its place, which is any number that the program gives it: a rank, or an index.
///
/// # Examples
/// ```
/// use hypercoll::operation::{Located, MinLoc};
/// let least = hypercoll::threads::run(4, |cube| {
///     let mine = [Located::new([3.5, 1.5, 2.5, 1.5][cube.rank()], cube.rank() as u64)];
///     let mut least = mine;
///     cube.all_reduce_into(&mine, &mut least, MinLoc).unwrap();
///     least[0]
/// });
/// assert_eq!(least, [Located::new(1.5, 1u64); 4]);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Located<T: Place> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: T::Place,
}

impl<T: Place> Located<T> {
    /// A value at a place.
    pub fn new(value: T, place: T::Place) -> Located<T> {
        Located { value, place }
    }
}

macro_rules! places {
    ($($value:ty: $place:ty,)*) => {$(
        impl Place for $value {
            type Place = $place;
        }

        // SAFETY: two plain numbers of equal size, without padding.
        unsafe impl Zeroable for Located<$value> {}
        // SAFETY: as above.
        unsafe impl Pod for Located<$value> {}

        const _: () = assert!(size_of::<Located<$value>>() == 2 * size_of::<$value>());
    )*};
}

places! {
    f32: u32,
    f64: u64,
    i16: u16,
    i32: u32,
    i64: u64,
    u16: u16,
    u32: u32,
    u64: u64,
}
