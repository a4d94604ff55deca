//! A hash that is the same in every program.

use std::hash::{Hash, Hasher};

/// The hash of nothing.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Fowler, Noll and Vo's hash of 64 bits.
pub(crate) struct Fnv(u64);

impl Fnv {
    /// The hash of a value.
    pub fn of(value: &(impl Hash + ?Sized)) -> u64 {
        let mut hasher = Fnv(BASIS);
        value.hash(&mut hasher);
        hasher.finish()
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the authors' own list.
    #[test]
    fn it_is_theirs() {
        let of = |text: &str| {
            let mut hasher = Fnv(BASIS);
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        assert_eq!(["", "a", "foobar"].map(of), [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]);
    }
}
