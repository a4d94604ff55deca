//! Whether calls between hosts are worth hypercubes, which take their time there: to make and briefly measure them some .1 s on 8 hosts at
//! 50 Mbit/s. Native MPI makes a communicator's calls until they are: so a program that makes few loses next to nothing.
//!
//! That is so when a rank has spent long enough in native calls, when there have been very many, or when a call comes that is worth it alone. All
//! but the first say all ranks alike, and in every run. Sums whose last bits depend on who makes them go by those only.

use crate::session;

/// Seconds that a rank has spent in blocking calls of native MPI's that might have been ours, of which it has waited for others in a part.
pub const SECONDS: f64 = 0.5;
/// A call about so many bytes is worth it at once: to measure takes about as long as to send some hundred KiB.
const LONG: usize = 64 << 10;
/// So is a sum of so many, and of shorter ones one that comes when there have been as many as make a communicator one for more than a few.
const LONG_SUM: usize = 4096;
/// So many calls are, whoever waits in them, and if nobody does.
const MANY_CALLS: u64 = 4096;

/// What is known of that for a communicator, from the calls that all its ranks make.
#[derive(Default)]
pub struct Worth {
    /// Short sums.
    sums: u64,
    /// Whether its calls are worth hypercubes.
    is_known: bool,
    /// Whether there has been a call since in which ranks could meet.
    is_reached: bool,
    /// Whether its ranks have once found that they are not.
    was_not: bool,
}

impl Worth {
    /// Notes a call about so many bytes, if all ranks know how many, that is the communicator's so many-th: whether calls are worth hypercubes by now.
    pub fn note(&mut self, bytes: Option<usize>, is_sum: bool, calls: u64) -> bool {
        let alone = bytes.is_some_and(|bytes| {
            let is_short_sum = is_sum && bytes < LONG_SUM;
            self.sums += u64::from(is_short_sum);
            bytes >= LONG || is_sum && (!is_short_sum || self.sums >= session::facts().asked.from)
        });
        self.is_known |= alone || calls >= MANY_CALLS;
        self.is_known
    }

    /// In a call in which ranks can meet: whether it is the first such since calls are worth hypercubes.
    pub fn reach(&mut self) -> bool {
        self.is_known && !std::mem::replace(&mut self.is_reached, true)
    }

    /// A persistent request, which is made in order to be used often, is worth one.
    pub fn know(&mut self) {
        self.is_known = true;
    }

    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Its ranks have met, and none of them says so.
    pub fn is_not(&mut self) {
        self.was_not = true;
    }

    pub fn was_not(&self) -> bool {
        self.was_not
    }

    /// Whether sums are native MPI's, whoever makes other calls: when there are hypercubes goes by time, and that must not.
    pub fn leaves_sums(&self) -> bool {
        self.was_not && !self.is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_worth_it_alone_or_as_many_and_stay_so() {
        let mut worth = Worth::default();
        assert!(!worth.note(Some(LONG - 1), false, 0) && !worth.note(None, true, MANY_CALLS - 1));
        assert!(!worth.reach());
        assert!(worth.note(None, false, MANY_CALLS) && worth.note(Some(0), false, 0));
        assert_eq!([(); 2].map(|()| worth.reach()), [true, false]);
        assert!(Worth::default().note(Some(LONG), false, 0) && Worth::default().note(Some(LONG_SUM), true, 0));
    }

    #[test]
    fn sums_are_left_from_when_ranks_say_so_until_calls_are_worth_it() {
        let mut worth = Worth::default();
        assert!(!worth.leaves_sums());
        worth.is_not();
        assert!(worth.leaves_sums() && !worth.reach() && worth.leaves_sums());
        worth.know();
        assert!(worth.leaves_sums(), "no call has come in which ranks meet");
        assert!(worth.reach() && !worth.leaves_sums());
    }
}
