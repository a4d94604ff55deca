//! What was chosen lately for calls of which a rank knows no lengths but its own. They are others in every call of some programs, and the
//! choice, which all ranks make alike, is the same.

use super::{own, predict, Choice, Machine, Options};
use crate::collective::{Call, Known};
use crate::error::Result;

/// Choices that are kept: calls of some roots and collectives in turn.
const MOST: usize = 8;

/// The last such choices, on one machine.
#[derive(Default)]
pub(crate) struct Lately(Vec<Chosen>);

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
        if let Some(Chosen { choice, .. }) = self.0.iter().find(same) {
            let mut choice = choice.clone();
            if let Some(own) = own(call) {
                choice.model = predict(choice.algorithm, &own, element, &choice.parameters, machine);
                choice.predicted = choice.model;
            }
            return Ok(choice);
        }
        let choice = choose()?;
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Chosen { agreed, element, options: options.clone(), choice: choice.clone() });
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Hosts;
    use crate::collective::{Avoided, Collective, Layout};
    use crate::select::choose;

    /// What is chosen lately is what would be chosen, and it is chosen once for all lengths.
    #[test]
    fn lengths_do_not_matter() {
        for machine in [Machine::network(), Machine::built_in(Some(8))] {
            let (mut lately, mut chosen) = (Lately::default(), 0);
            let row = |length: usize| Layout::of_row(1, &[length, 7, 3], &[2 * length, 7, 0]);
            let calls = |length| {
                let of = |collective, layout| Call::new(collective, 3, 0).with_layout(layout);
                let exchange = of(Collective::AllToAll, row(length));
                let gather = of(Collective::Gather, Layout::of_some(3, Known::Own, [(1, length)]));
                let avoiding = Call { avoid: Avoided::new(3, &[(0, 2)]).ok(), ..gather.clone() };
                let of_hosts = Call { hosts: Hosts::with_ranks(&[2, 1], false), ..exchange.clone() };
                let all_gather = of(Collective::AllGather, Layout::of_vectors([length, 7, 3]));
                [exchange, gather.clone(), gather.with_root(1), avoiding, of_hosts, all_gather]
            };
            let named = |name: &str| Options { algorithm: Some(name.into()), ..Options::default() };
            let asked = [
                (0, 1, Options::default()),
                (0, 2, Options::default()),
                (0, 4, Options::default()),
                (0, 8, Options::default()),
                (0, 1, named("shift")),
                (0, 1, named("one_factor")),
                (1, 1, Options::default()),
                (2, 1, Options::default()),
                (3, 1, Options::default()),
                (4, 1, Options::default()),
                (5, 1, Options::default()),
            ];
            for (nth, element, options) in &asked {
                for length in [5, 100_000, 1] {
                    let call = &calls(length)[*nth];
                    let expected = choose(call, *element, options, &machine);
                    let choose = || {
                        chosen += 1;
                        expected.clone()
                    };
                    let found = lately.choose(call, *element, options, &machine, choose);
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                }
            }
            // Of what all ranks know the lengths of, each time; and of what nothing serves.
            let refused = asked
                .iter()
                .filter(|(nth, element, options)| choose(&calls(5)[*nth], *element, options, &machine).is_err());
            assert_eq!(chosen, asked.len() + 2 + 2 * refused.clone().count());
            // The first ones have made room for others.
            assert!(asked.len() - 1 - refused.count() > MOST && lately.0.len() == MOST);
        }
    }
}
