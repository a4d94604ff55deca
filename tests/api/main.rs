//! The public API, on threads, against results worked out one element at a time.

mod data;
mod elements;
mod hangs;
mod in_place;
mod options;
mod parts;
mod ranks;
mod reductions;
mod refusals;
mod requests;
mod varcount;
#[path = "../common/watch.rs"]
mod watch;

use hypercoll::address::Torus;
use hypercoll::algorithm::{registry, Algorithm, Latency, OnTorus, Order, Parameters, PortModel};
use hypercoll::collective::{Call, Collective};
use hypercoll::operation::{Commutative, Number, Reduction};
use hypercoll::select::Options;
use hypercoll::{threads, Error, Hypercube, SystemOperation};
use proptest::prelude::*;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use watch::on;

const SIZES: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16];
const COUNTS: [usize; 5] = [0, 1, 3, 17, 1000];

/// An element that is no number: three floats.
type Point = [f32; 3];

/// An element type and a different value for every rank and position (as far as the type has room).
trait Element: bytemuck::Pod + PartialEq + std::fmt::Debug + Send + Sync {
    fn value(rank: usize, at: usize) -> Self;
}

fn mix(rank: usize, at: usize) -> u64 {
    (rank as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (at as u64 + 7).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

macro_rules! elements {
    ($($t:ty: $value:expr,)*) => {$(
        impl Element for $t {
            fn value(rank: usize, at: usize) -> Self {
                #[allow(clippy::redundant_closure_call)]
                $value(mix(rank, at))
            }
        }
    )*};
}

elements! {
    u8: |x: u64| (x >> 40) as u8,
    u16: |x: u64| (x >> 40) as u16,
    i32: |x: u64| (x >> 20) as i32,
    u64: |x: u64| x,
    // Small whole numbers, whose sums and products are exact in any order.
    f32: |x: u64| (x >> 40) as u8 as f32,
    f64: |x: u64| (x >> 40) as u16 as f64 - 1000.0,
    Point: |x: u64| [(x >> 40) as u16 as f32, (x >> 20) as u8 as f32, -1.5],
}

fn sent<T: Element>(rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| T::value(rank, at)).collect()
}

/// What must not remain where a result belongs.
fn blank<T: Element>(len: usize) -> Vec<T> {
    vec![bytemuck::Zeroable::zeroed(); len]
}
