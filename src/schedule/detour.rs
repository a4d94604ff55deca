//! Ways round links that must carry nothing.
//!
//! Whatever an algorithm sends over such a link goes, by this one transformation of messages, over a shortest way of other
//! links: in a cube of dimension n >= 2 three hops, a - a^2^d - b^2^d - b. The ranks in between keep it apart from what they
//! hold themselves, so that a broadcast on its way is not stored and a partial result is not combined. Every round of the
//! algorithm makes room behind it for the hops of each link's detour, one round a hop, so the port model still holds.
//!
//! The ranks of a detour learn what to pass on from the messages of the rank that sends, which they work out themselves.

use super::fold::{Message, Messages};
use crate::collective::Avoided;

impl Avoided {
    /// The messages of `rank` after all detours. `of` gives the messages of any rank before them; `ordered`: ranks are hosted
    /// in order; `one_way`: a rank sends or receives, not both at once.
    pub fn detour(
        &self,
        messages: Messages,
        rank: usize,
        (ordered, one_way): (bool, bool),
        of: &dyn Fn(usize) -> Messages,
    ) -> Messages {
        let (ways, stride) = self.ways(ordered, one_way);
        let mut all = messages.stretched(stride);
        for message in messages.list() {
            let ends = if message.sends { (rank, message.peer) } else { (message.peer, rank) };
            let mut moved = Message { round: message.round * stride, ..message.clone() };
            if let Some((way, first)) = ways.iter().find(|(way, _)| (way[0], way[way.len() - 1]) == ends) {
                let hop = if message.sends { 0 } else { way.len() - 2 };
                moved.round += first + hop;
                moved.peer = way[if message.sends { 1 } else { hop }];
            }
            all.push(moved, messages.pieces(message));
        }
        for (id, (way, first)) in ways.iter().enumerate() {
            let (from, to) = (way[0], way[way.len() - 1]);
            let Some(at) = way[1..way.len() - 1].iter().position(|&between| between == rank) else { continue };
            let sender = of(from);
            for message in sender.list().iter().filter(|message| message.sends && message.peer == to) {
                let round = message.round * stride + first + at;
                let passed = Message { through: Some(id), round, ..message.clone() };
                all.push(Message { sends: false, peer: way[at], ..passed.clone() }, sender.pieces(message));
                all.push(Message { peer: way[at + 2], round: round + 1, ..passed }, sender.pieces(message));
            }
        }
        all.in_order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{registry, verify::schedules, Parameters, PortModel};
    use crate::collective::{Call, Collective};
    use crate::schedule::{check, Violation};

    /// The check of the check: schedules that know nothing of the link are caught.
    #[test]
    fn a_message_over_the_link_is_found() {
        let algorithm = registry::find(Collective::Broadcast, "sbt").unwrap();
        let mut call = Call::new(Collective::Broadcast, 8, 5);
        let straight = schedules(algorithm, &call, &Parameters::new(PortModel::OnePort));
        call.avoid = Some(Avoided::new(8, &[(1, 3)]).unwrap());
        assert_eq!(check(&call, &straight, true).violations, [Violation::Avoided { from: 1, to: 3 }]);
    }
}
