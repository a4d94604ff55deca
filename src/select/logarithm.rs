//! Logarithms and powers of two that are the same to the bit on every machine, so that all ranks choose alike. What the system's `ln` and
//! `exp` give depends on its version and on its processor: glibc's differ in the last bit where there is no FMA.

use std::f64::consts::{LN_2, SQRT_2};

/// Bits of a number behind its exponent, and the exponent of 1.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
const BIAS: i64 = 1023;

/// Terms of the series, after which none changes a bit.
const OF_LOGARITHM: u32 = 12;
const OF_POWER: u32 = 15;

/// The logarithm to base 2; not a number of what is not positive, infinite or subnormal.
pub fn log2(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return f64::NAN;
    }
    let exponent = (x.to_bits() >> FRACTION) as i64 - BIAS;
    let fraction = f64::from_bits(x.to_bits() & ((1 << FRACTION) - 1) | power_of_two(0).to_bits());
    let (fraction, exponent) = if fraction > SQRT_2 { (fraction / 2.0, exponent + 1) } else { (fraction, exponent) };
    // ln((1 + s)/(1 - s)) = 2 (s + s^3/3 + s^5/5 + ...), s at most .172.
    let s = (fraction - 1.0) / (fraction + 1.0);
    let series = (0..OF_LOGARITHM).rev().fold(0.0, |sum, k| sum * (s * s) + 1.0 / f64::from(2 * k + 1));
    exponent as f64 + 2.0 * s * series / LN_2
}

/// Two to the power of x; beyond what can be represented the largest or the smallest normal power.
pub fn exp2(x: f64) -> f64 {
    let x = x.clamp((1 - BIAS) as f64, BIAS as f64);
    let whole = x.round();
    // 1 + r (1 + r/2 (1 + r/3 (...))), r at most .347.
    let r = (x - whole) * LN_2;
    let series = (1..=OF_POWER).rev().fold(1.0, |sum, n| 1.0 + r / f64::from(n) * sum);
    series * power_of_two(whole as i64)
}

fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + BIAS) as u64) << FRACTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_what_they_are_called() {
        for nth in 1..2000 {
            let (x, y) = (f64::from(nth * nth) / 1024.0, f64::from(nth - 1000) / 32.0);
            assert!((log2(x) - x.log2()).abs() <= 4.0 * f64::EPSILON * x.log2().abs(), "{x}");
            assert!((exp2(y) / y.exp2() - 1.0).abs() <= 4.0 * f64::EPSILON, "{y}");
        }
        for power in [-1022, -5, 0, 1, 4, 1023] {
            let x = f64::from(power).exp2();
            assert_eq!((log2(x), exp2(f64::from(power))), (f64::from(power), x));
        }
        assert!([0.0, -1.0, f64::INFINITY, f64::NAN].into_iter().all(|x| log2(x).is_nan()));
        assert!(exp2(1e9).is_finite() && exp2(-1e9) > 0.0);
    }

    /// Computed in Python by the same operations.
    #[test]
    fn they_are_the_same_everywhere() {
        let bits = |of: &dyn Fn(i32) -> f64| {
            (1..=2000).fold(0u64, |sum, nth| sum.wrapping_mul(31).wrapping_add(of(nth).to_bits()))
        };
        assert_eq!(bits(&|nth| log2(f64::from(nth * nth) / 1024.0)), 0x5ad0_c39e_3ce0_dcd3);
        assert_eq!(bits(&|nth| exp2(f64::from(nth - 1000) / 32.0)), 0x6c8e_b487_fd4f_76fb);
    }
}
