//! What was chosen lately for calls of which a rank knows no lengths but its own. They are others in every call of some programs, and the
//! choice, which all ranks make alike, is the same.

use super::{own_time, Choice, Machine, Options};
use crate::collective::{Call, Known};
use crate::error::Result;

/// The last such choice, on one machine.
#[derive(Default)]
pub(crate) struct Lately(Option<Chosen>);

struct Chosen {
    /// What all ranks know of the call.
    agreed: Call,
    element: usize,
    options: Options,
    choice: Choice,
}

impl Lately {
    /// The choice for a call, as `choose` makes it, if it was not made lately.
    ///
    /// # Errors
    /// Those of `choose`.
    pub fn choose(
        &mut self,
        call: &Call,
        element: usize,
        options: &Options,
        machine: &Machine,
        choose: impl FnOnce() -> Result<Choice>,
    ) -> Result<Choice> {
        if call.layout.as_ref().is_none_or(|layout| layout.known() != Known::Own) {
            return choose();
        }
        let agreed = call.agreed();
        let same =
            |chosen: &&Chosen| chosen.element == element && chosen.agreed == agreed && chosen.options == *options;
        if let Some(Chosen { choice, .. }) = self.0.as_ref().filter(same) {
            let mut choice = choice.clone();
            if let Some(own) = own_time(call, element, choice.algorithm, &choice.parameters, machine) {
                (choice.model, choice.predicted) = (own, own);
            }
            return Ok(choice);
        }
        let choice = choose()?;
        self.0 = Some(Chosen { agreed, element, options: options.clone(), choice: choice.clone() });
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Collective, Layout};
    use crate::select::choose;

    /// What is chosen lately is what would be chosen, and it is chosen once for all lengths.
    #[test]
    fn lengths_do_not_matter() {
        for machine in [Machine::network(), Machine::built_in(Some(8))] {
            let (mut lately, mut chosen) = (Lately::default(), 0);
            let row = |length: usize| Layout::of_row(1, &[length, 7, 3], &[2 * length, 7, 0]);
            let own = |length| Layout::of_some(3, Known::Own, [(1, length)]);
            let all = |length| Layout::of_vectors([length, 7, 3]);
            let calls = |length| {
                let of = |collective, layout| Call::new(collective, 3, 0).with_layout(layout);
                let [exchange, gather, all_gather] = [
                    of(Collective::AllToAll, row(length)),
                    of(Collective::Gather, own(length)),
                    of(Collective::AllGather, all(length)),
                ];
                [exchange, gather.clone(), gather.with_root(1), all_gather]
            };
            for (nth, element) in [(0, 1), (0, 8), (1, 1), (2, 1), (3, 1)] {
                for length in [5, 100_000, 1] {
                    let call = &calls(length)[nth];
                    let options = Options::default();
                    let expected = choose(call, element, &options, &machine).unwrap();
                    let choose = || {
                        chosen += 1;
                        Ok(expected.clone())
                    };
                    let found = lately.choose(call, element, &options, &machine, choose).unwrap();
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                }
            }
            // Of what all ranks know the lengths of, each time.
            assert_eq!(chosen, 4 + 3);
        }
    }
}
