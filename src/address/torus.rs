//! Hosts on a torus.

use super::factors;
use std::fmt;
use std::str::FromStr;

/// A box of hosts, of which every two that are next to each other are linked, and the first and last ones of every row as well.
///
/// Host 0 is in a corner, and the next ones follow it along the first side, as the ranks of a job do that has a box to itself.
///
/// ```
/// use hypercoll::address::Torus;
/// let torus: Torus = "4x3".parse()?;
/// assert_eq!((torus.hosts(), torus.to_string()), (12, "4x3".into()));
/// // Host 7 is the last of the second row. From host 0 to it a message goes back along the first side, and up the second one.
/// assert_eq!((torus.along(0, 0, 7), torus.along(1, 0, 7)), (3, 1));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Torus {
    /// Hosts along each side; 1 where it has fewer sides.
    sides: [usize; Torus::SIDES],
}

impl Torus {
    /// Sides that a torus may have, and the longest one.
    pub const SIDES: usize = 6;
    const LONGEST: usize = 1 << 10;

    /// The torus with these sides; `None` if one is 0 or too long, or there are too many.
    pub fn new(given: &[usize]) -> Option<Torus> {
        factors::sound(given, Torus::LONGEST).map(|sides| Torus { sides })
    }

    /// Hosts along each side.
    pub fn sides(&self) -> &[usize] {
        &self.sides
    }

    /// All hosts.
    pub fn hosts(&self) -> usize {
        self.sides.iter().product()
    }

    /// Links between two hosts in the mean, the shorter way round each side.
    pub fn links(&self) -> f64 {
        self.sides.iter().map(|&side| (side * side / 4) as f64 / side as f64).sum()
    }

    /// Links from one host to another.
    pub fn links_between(&self, from: usize, to: usize) -> usize {
        let along = |(side, &hosts): (usize, &usize)| {
            let by = self.along(side, from, to);
            by.min(hosts - by)
        };
        self.sides.iter().enumerate().map(along).sum()
    }

    /// The links from a host to those whose numbers differ in one bit, the lowest first.
    pub fn links_by_bit(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.hosts().ilog2()).map(|bit| self.links_between(0, 1 << bit))
    }

    /// How far along a side another host is, always forwards: less than the side.
    pub fn along(&self, side: usize, from: usize, to: usize) -> usize {
        let length = self.sides[side];
        (self.at(side, to) + length - self.at(side, from)) % length
    }

    /// The host that is so far along a side of another one.
    pub fn moved(&self, side: usize, from: usize, by: usize) -> usize {
        let at = self.at(side, from);
        from - at * self.stride(side) + (at + by) % self.sides[side] * self.stride(side)
    }

    fn stride(&self, side: usize) -> usize {
        self.sides[..side].iter().product()
    }

    fn at(&self, side: usize, host: usize) -> usize {
        host / self.stride(side) % self.sides[side]
    }
}

impl fmt::Display for Torus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&factors::text(&self.sides))
    }
}

impl FromStr for Torus {
    type Err = String;

    fn from_str(text: &str) -> Result<Torus, String> {
        factors::parse(text).and_then(|sides| Torus::new(&sides)).ok_or_else(|| {
            let (most, longest) = (Torus::SIDES, Torus::LONGEST);
            format!("'{text}' is no torus; that is up to {most} sides of 1 to {longest} hosts, as 8x8x16")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_reached_along_the_sides() {
        for sides in [&[1][..], &[5], &[4, 3], &[2, 3, 4], &[2, 1, 2, 3]] {
            let torus = Torus::new(sides).expect("a torus");
            let mut links = 0;
            for (from, to) in (0..torus.hosts()).flat_map(|from| (0..torus.hosts()).map(move |to| (from, to))) {
                let mut at = from;
                for (side, &length) in torus.sides().iter().enumerate() {
                    at = torus.moved(side, at, torus.along(side, from, to));
                    // One link brings it to a neighbour.
                    let near = [1, length - 1].map(|by| torus.moved(side, from, by));
                    assert!(near.iter().all(|&near| torus.links_between(from, near) == usize::from(length > 1)));
                }
                links += torus.links_between(from, to);
                assert_eq!(at, to, "{torus}: from {from}");
            }
            let mean = links as f64 / (torus.hosts() * torus.hosts()) as f64;
            assert!((torus.links() - mean).abs() < 1e-9, "{torus}: {mean}");
        }
    }

    #[test]
    fn bits_of_numbers_are_sides_halved_again_and_again() {
        let links = |sides: &[usize]| Torus::new(sides).map(|torus| torus.links_by_bit().collect::<Vec<_>>());
        assert_eq!(links(&[8, 4, 2]), Some(vec![1, 2, 4, 1, 2, 1]));
        // 4 is two back along the side of 6; 8 is two along it and one along the other.
        assert_eq!(links(&[6, 3]), Some(vec![1, 2, 2, 3]));
    }

    #[test]
    fn what_is_no_torus_is_refused() {
        for text in ["", "0", "4x", "x4", "4x0", "-1x2", "4x4x4x4x4x4x4", "1025", "4 by 4"] {
            assert!(text.parse::<Torus>().is_err(), "{text}");
        }
        assert_eq!("4 x 1 x 2 x 1".parse::<Torus>().map(|torus| torus.to_string()), Ok("4x1x2".into()));
    }
}
