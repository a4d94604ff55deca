//! Random numbers, the same on all ranks that draw from the same seed.

/// Spreads bits.
pub fn mix(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// A sequence of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() >> 16) as usize % bound.max(1)
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    pub fn permutation(&mut self, size: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..size).collect();
        (1..size).for_each(|at| all.swap(at, self.below(at + 1)));
        all
    }
}
