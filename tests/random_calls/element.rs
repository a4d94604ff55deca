//! Types of elements, and what they are combined with.

use bytemuck::Pod;
use hypercoll::schedule::Side;
use hypercoll::{Commutative, Reduction, SystemOperation};
use mpi::traits::Equivalence;
use std::fmt::Debug;

/// The type of a call's elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    U8,
    I32,
    U64,
    F32,
    F64,
    Point,
}

impl Kind {
    pub const ALL: [Kind; 6] = [Kind::U8, Kind::I32, Kind::U64, Kind::F32, Kind::F64, Kind::Point];
}

/// Calls a generic function for a kind.
macro_rules! typed {
    ($kind:expr, $function:ident($($argument:expr),*)) => {
        match $kind {
            Kind::U8 => $function::<u8>($($argument),*),
            Kind::I32 => $function::<i32>($($argument),*),
            Kind::U64 => $function::<u64>($($argument),*),
            Kind::F32 => $function::<f32>($($argument),*),
            Kind::F64 => $function::<f64>($($argument),*),
            Kind::Point => $function::<[f64; 3]>($($argument),*),
        }
    };
}
pub(crate) use typed;

pub trait Element: Pod + Debug + PartialEq + 'static {
    /// What MPI sends such an element as.
    type Scalar: Equivalence + Pod;

    /// The operations of MPI that are defined, and exact whatever the order.
    const OPERATIONS: &'static [SystemOperation];

    /// An element made of random bits; products of many tame ones are exact.
    fn of(bits: u64, tame: bool) -> Self;

    /// One of MPI's operations.
    fn system(operation: SystemOperation, side: Side, from: &[Self], into: &mut [Self]);

    /// An operation that is associative and does not commute.
    fn plain(a: &Self, b: &Self) -> Self;

    /// One that commutes as well.
    fn commuting(a: &Self, b: &Self) -> Self;
}

macro_rules! integers {
    ($($t:ty, $half:literal;)*) => {$(
        impl Element for $t {
            type Scalar = $t;
            const OPERATIONS: &'static [SystemOperation] = &SystemOperation::ALL;

            fn of(bits: u64, _: bool) -> $t {
                // Zeros are what logical operations are about.
                if bits >> 62 == 0 { 0 } else { bits as $t }
            }

            fn system(operation: SystemOperation, side: Side, from: &[$t], into: &mut [$t]) {
                operation.combine(side, from, into);
            }

            /// The upper half f and the lower half g as the step x -> f x + g, one after another.
            fn plain(a: &$t, b: &$t) -> $t {
                let mask = ((1 as $t) << $half) - 1;
                let [(f, g), (h, k)] = [a, b].map(|step| ((step >> $half) & mask, step & mask));
                let (both, offset) = (f.wrapping_mul(h), g.wrapping_mul(h).wrapping_add(k));
                (both & mask) << $half | offset & mask
            }

            fn commuting(a: &$t, b: &$t) -> $t {
                a.wrapping_add(*b).wrapping_add(1)
            }
        }
    )*};
}

integers! { u8, 4; i32, 16; u64, 32; }

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Element for $t {
            type Scalar = $t;
            const OPERATIONS: &'static [SystemOperation] =
                &[SystemOperation::Sum, SystemOperation::Product, SystemOperation::Max, SystemOperation::Min];

            fn of(bits: u64, tame: bool) -> $t {
                if tame { [1.0, -1.0, 2.0, 1.0][(bits >> 62) as usize] } else { (bits >> 40) as i8 as $t }
            }

            fn system(operation: SystemOperation, side: Side, from: &[$t], into: &mut [$t]) {
                operation.combine(side, from, into);
            }

            /// The first that is not negative.
            fn plain(a: &$t, b: &$t) -> $t {
                if *a < 0.0 { *b } else { *a }
            }

            fn commuting(a: &$t, b: &$t) -> $t {
                a + b + 1.0
            }
        }
    )*};
}

floats! { f32 f64 }

impl Element for [f64; 3] {
    type Scalar = f64;
    const OPERATIONS: &'static [SystemOperation] = &[];

    fn of(bits: u64, tame: bool) -> [f64; 3] {
        [0, 8, 16].map(|shift| f64::of(bits << shift, tame))
    }

    fn system(_: SystemOperation, _: Side, _: &[[f64; 3]], _: &mut [[f64; 3]]) {}

    /// Products of triangular matrices.
    fn plain(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
        [a[0] + b[0], a[1] + b[1], a[2] + b[2] + a[0] * b[1]]
    }

    fn commuting(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
        [a[0] + b[0], a[1].max(b[1]), a[2].min(b[2])]
    }
}

/// What a call combines with, whatever its elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Combine {
    System(SystemOperation),
    Plain,
    Commuting,
}

type Closure<T> = Box<dyn Fn(&T, &T) -> T>;

/// The same for elements of a type. The closures are boxed, so that one that is used after its end is found.
pub enum Operation<T> {
    System(SystemOperation),
    Plain(Closure<T>),
    Commuting(Commutative<Closure<T>>),
}

impl<T: Element> Operation<T> {
    pub fn of(combine: Combine) -> Operation<T> {
        // Something to be kept.
        let kept = std::hint::black_box(vec![7u64]);
        match combine {
            Combine::System(operation) => Operation::System(operation),
            Combine::Plain => Operation::Plain(Box::new(move |a, b| {
                assert_eq!(kept, [7]);
                T::plain(a, b)
            })),
            Combine::Commuting => Operation::Commuting(Commutative(Box::new(move |a, b| {
                assert_eq!(kept, [7]);
                T::commuting(a, b)
            }))),
        }
    }
}

impl<T: Element> Reduction<T> for Operation<T> {
    fn combine(&self, side: Side, from: &[T], into: &mut [T]) {
        match self {
            Operation::System(operation) => T::system(*operation, side, from, into),
            Operation::Plain(closure) => closure.combine(side, from, into),
            Operation::Commuting(closure) => closure.combine(side, from, into),
        }
    }

    fn commutes(&self) -> bool {
        !matches!(self, Operation::Plain(_))
    }

    fn name(&self) -> String {
        match self {
            Operation::System(operation) => operation.to_string(),
            Operation::Plain(closure) => Reduction::<T>::name(closure),
            Operation::Commuting(closure) => Reduction::<T>::name(closure),
        }
    }
}
