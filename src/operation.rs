//! Operations of reductions: MPI's own and closures.
//!
//! MPI's are [`SystemOperation`]s. Any closure over two elements will do as well, provided that it is associative.
//! Contributions to a closure are combined in rank order, so it need not commute. If it does, wrap it in
//! [`Commutative`]: then algorithms that combine in another order may be chosen, too.
//!
//! ```
//! use hypercoll::{threads, Commutative, SystemOperation};
//!
//! threads::run(3, |cube| {
//!     let mine = cube.rank() as f64;
//!     let mut largest = 0.0;
//!     cube.all_reduce_into(&mine, &mut largest, SystemOperation::max()).unwrap();
//!     assert_eq!(largest, 2.0);
//!
//!     let mut norm = 0.0;
//!     cube.all_reduce_into(&mine, &mut norm, Commutative(|a: &f64, b: &f64| a.hypot(*b))).unwrap();
//!     assert!((norm - 5f64.sqrt()).abs() < 1e-12); // sqrt(0 + 1 + 4)
//!
//!     // Steps x -> 2x + r, rank after rank, as one: 2(2(2x + 0) + 1) + 2 = 8x + 4.
//!     let mut all = [[0.0; 2]];
//!     let then = |f: &[f64; 2], g: &[f64; 2]| [g[0] * f[0], g[0] * f[1] + g[1]];
//!     cube.all_reduce_into(&[[2.0, mine]][..], &mut all[..], then).unwrap();
//!     assert_eq!(all, [[8.0, 4.0]]);
//! });
//! ```

use crate::buffer::Element;
use crate::hash::Fnv;
use crate::schedule::Side;
use num_complex::Complex;
use std::fmt;

pub use crate::raw::located::{Located, Place};

/// MPI's predefined operations, under rsmpi's names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SystemOperation {
    /// Sum; integers wrap around.
    Sum,
    /// Product; integers wrap around.
    Product,
    /// The larger value.
    Max,
    /// The smaller value.
    Min,
    /// 1 if both are not zero, else 0 (integers).
    LogicalAnd,
    /// 1 if one is not zero, else 0 (integers).
    LogicalOr,
    /// 1 if just one is not zero, else 0 (integers).
    LogicalXor,
    /// Bits that are in both (integers).
    BitwiseAnd,
    /// Bits that are in one (integers).
    BitwiseOr,
    /// Bits that are in just one (integers).
    BitwiseXor,
}

macro_rules! constructors {
    ($($name:ident $variant:ident,)*) => {
        impl SystemOperation {
            $(
                /// The operation of that name, as in rsmpi.
                pub fn $name() -> SystemOperation {
                    SystemOperation::$variant
                }
            )*

            /// All operations.
            pub const ALL: [SystemOperation; 10] = [$(SystemOperation::$variant),*];
        }
    };
}

constructors! {
    sum Sum,
    product Product,
    max Max,
    min Min,
    logical_and LogicalAnd,
    logical_or LogicalOr,
    logical_xor LogicalXor,
    bitwise_and BitwiseAnd,
    bitwise_or BitwiseOr,
    bitwise_xor BitwiseXor,
}

impl fmt::Display for SystemOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What a reduction does with two vectors of equal length.
///
/// Implemented by [`SystemOperation`] (and rsmpi's type of that name), by closures `Fn(&T, &T) -> T`, which are taken not
/// to commute, and by [`Commutative`].
pub trait Reduction<T> {
    /// `into = from op into` or `into = into op from`, element by element.
    fn combine(&self, side: Side, from: &[T], into: &mut [T]);

    /// Whether operands may be exchanged; if not, contributions are combined in rank order.
    fn commutes(&self) -> bool;

    /// Whether the operation is defined for the type.
    fn defined(&self) -> bool {
        true
    }

    /// The name in messages.
    fn name(&self) -> String;

    /// What ranks compare, so that they find out if their operations differ. Two closures look alike.
    fn signature(&self) -> u64 {
        Fnv::of(&self.name())
    }
}

/// A closure whose operands may be exchanged, so that every algorithm may be used.
#[derive(Clone, Copy)]
pub struct Commutative<F>(pub F);

impl<T, F: Fn(&T, &T) -> T> Reduction<T> for F {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        match side {
            Side::Left => from.iter().zip(into).for_each(|(f, i)| *i = self(f, i)),
            Side::Right => from.iter().zip(into).for_each(|(f, i)| *i = self(i, f)),
        }
    }

    fn commutes(&self) -> bool {
        false
    }

    fn name(&self) -> String {
        "closure".into()
    }

    fn signature(&self) -> u64 {
        101
    }
}

impl<T, F: Fn(&T, &T) -> T> Reduction<T> for Commutative<F> {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        self.0.combine(side, from, into);
    }

    fn commutes(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        "commutative closure".into()
    }

    fn signature(&self) -> u64 {
        102
    }
}

/// Numbers that the predefined operations work on.
pub trait Number: Element {
    /// Whether the operation is defined for the type.
    fn defines(operation: SystemOperation) -> bool;

    /// Combines two vectors; `from` is the operand on that side. Does nothing if the operation is not defined.
    fn combine(operation: SystemOperation, side: Side, from: &[Self], into: &mut [Self]);
}

impl<T: Number> Reduction<T> for SystemOperation {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        T::combine(*self, side, from, into);
    }

    fn commutes(&self) -> bool {
        true
    }

    fn defined(&self) -> bool {
        T::defines(*self)
    }

    fn name(&self) -> String {
        self.to_string()
    }

    fn signature(&self) -> u64 {
        *self as u64 + 1
    }
}

/// By reference, as rsmpi takes operations too.
impl<T> Reduction<T> for &SystemOperation
where
    SystemOperation: Reduction<T>,
{
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        (**self).combine(side, from, into);
    }

    fn commutes(&self) -> bool {
        (**self).commutes()
    }

    fn defined(&self) -> bool {
        (**self).defined()
    }

    fn name(&self) -> String {
        self.to_string()
    }

    fn signature(&self) -> u64 {
        (**self).signature()
    }
}

/// The least of the values, with its place: MPI's `MPI_MINLOC`. Of equal ones, the lowest place; what is no number is greater than all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MinLoc;

/// The greatest of the values, with its place: MPI's `MPI_MAXLOC`. Of equal ones, the lowest place; what is no number is less than all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaxLoc;

macro_rules! with_places {
    ($($name:ident $is_better:tt $signature:literal,)*) => {$(
        impl<T: Place> Reduction<Located<T>> for $name
        where
            Located<T>: Element,
        {
            fn combine(&self, side: Side, from: &[Located<T>], into: &mut [Located<T>]) {
                each(side, from, into, |a, b| {
                    // What compares with nothing, not even with itself, is no number.
                    let better = b.value $is_better a.value || a.value != a.value && b.value == b.value;
                    let worse = a.value $is_better b.value || b.value != b.value && a.value == a.value;
                    if better || !worse && b.place < a.place { b } else { a }
                });
            }

            fn commutes(&self) -> bool {
                true
            }

            fn name(&self) -> String {
                stringify!($name).into()
            }

            fn signature(&self) -> u64 {
                $signature
            }
        }
    )*};
}

with_places! {
    MinLoc < 104,
    MaxLoc > 105,
}

/// One loop an operation, so that the compiler makes vector code of each.
fn each<T: Copy>(side: Side, from: &[T], into: &mut [T], operation: impl Fn(T, T) -> T) {
    match side {
        Side::Left => from.iter().zip(into).for_each(|(f, i)| *i = operation(*f, *i)),
        Side::Right => from.iter().zip(into).for_each(|(f, i)| *i = operation(*i, *f)),
    }
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn defines(_: SystemOperation) -> bool {
                true
            }

            fn combine(operation: SystemOperation, side: Side, from: &[Self], into: &mut [Self]) {
                match operation {
                    SystemOperation::Sum => each(side, from, into, <$t>::wrapping_add),
                    SystemOperation::Product => each(side, from, into, <$t>::wrapping_mul),
                    SystemOperation::Max => each(side, from, into, Ord::max),
                    SystemOperation::Min => each(side, from, into, Ord::min),
                    SystemOperation::LogicalAnd => each(side, from, into, |a, b| <$t>::from(a != 0 && b != 0)),
                    SystemOperation::LogicalOr => each(side, from, into, |a, b| <$t>::from(a != 0 || b != 0)),
                    SystemOperation::LogicalXor => each(side, from, into, |a, b| <$t>::from((a != 0) != (b != 0))),
                    SystemOperation::BitwiseAnd => each(side, from, into, |a, b| a & b),
                    SystemOperation::BitwiseOr => each(side, from, into, |a, b| a | b),
                    SystemOperation::BitwiseXor => each(side, from, into, |a, b| a ^ b),
                }
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn defines(operation: SystemOperation) -> bool {
                use SystemOperation::*;
                matches!(operation, Sum | Product | Max | Min)
            }

            fn combine(operation: SystemOperation, side: Side, from: &[Self], into: &mut [Self]) {
                match operation {
                    SystemOperation::Sum => each(side, from, into, |a, b| a + b),
                    SystemOperation::Product => each(side, from, into, |a, b| a * b),
                    SystemOperation::Max => each(side, from, into, |a, b| if b > a { b } else { a }),
                    SystemOperation::Min => each(side, from, into, |a, b| if b < a { b } else { a }),
                    _ => {}
                }
            }
        }
    )*};
}

floats!(f32 f64);

/// Logical operations, as on MPI's type of that kind.
impl Number for bool {
    fn defines(operation: SystemOperation) -> bool {
        use SystemOperation::*;
        matches!(operation, LogicalAnd | LogicalOr | LogicalXor)
    }

    fn combine(operation: SystemOperation, side: Side, from: &[bool], into: &mut [bool]) {
        match operation {
            SystemOperation::LogicalAnd => each(side, from, into, |a, b| a && b),
            SystemOperation::LogicalOr => each(side, from, into, |a, b| a || b),
            SystemOperation::LogicalXor => each(side, from, into, |a, b| a != b),
            _ => {}
        }
    }
}

macro_rules! complex {
    ($($t:ty)*) => {$(
        impl Number for Complex<$t> {
            fn defines(operation: SystemOperation) -> bool {
                matches!(operation, SystemOperation::Sum | SystemOperation::Product)
            }

            fn combine(operation: SystemOperation, side: Side, from: &[Self], into: &mut [Self]) {
                match operation {
                    SystemOperation::Sum => each(side, from, into, |a, b| a + b),
                    SystemOperation::Product => each(side, from, into, |a, b| a * b),
                    _ => {}
                }
            }
        }
    )*};
}

complex!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn combined<T: Number>(operation: SystemOperation, side: Side, from: T, into: T) -> T {
        let mut into = [into];
        Reduction::combine(&operation, side, &[from], &mut into);
        into[0]
    }

    #[test]
    fn operations_are_mpi_s() {
        use SystemOperation::*;
        let pairs = [
            (Sum, 8),
            (Product, 12),
            (Max, 6),
            (Min, 2),
            (LogicalAnd, 1),
            (LogicalOr, 1),
            (LogicalXor, 0),
            (BitwiseAnd, 2),
            (BitwiseOr, 6),
            (BitwiseXor, 4),
        ];
        for (operation, expected) in pairs {
            assert_eq!(combined(operation, Side::Left, 6u8, 2), expected, "{operation}");
            assert_eq!(combined(operation, Side::Right, 2i64, 6), expected as i64, "{operation}");
        }
        assert_eq!(combined(LogicalXor, Side::Left, 0u8, 9), 1);
        assert_eq!(combined(LogicalAnd, Side::Left, 0u8, 9), 0);
        assert_eq!(combined(Sum, Side::Left, 255u8, 2), 1, "integers wrap around");
        assert_eq!(combined(Max, Side::Left, -1.5f64, 2.5), 2.5);
        assert_eq!(combined(Min, Side::Right, -1.5f32, 2.5), -1.5);
        assert!(!f64::defines(BitwiseAnd) && f64::defines(Product));
    }

    #[test]
    fn closures_get_their_operands_in_order() {
        let mut into = [10.0];
        (|a: &f64, b: &f64| a - b).combine(Side::Left, &[3.0], &mut into);
        assert_eq!(into, [-7.0]);
        (|a: &f64, b: &f64| a - b).combine(Side::Right, &[3.0], &mut into);
        assert_eq!(into, [-10.0]);
    }
}
