//! How far a rank runs ahead of the first operation that it has not completed: all that is decided about it.
//!
//! A schedule says how far it makes sense by its steps; whether messages go through memory or over links between hosts narrows it.

use super::{Kind, Operation, Schedule};
use crate::collective::Call;

/// The least window: enough for the requests of a round on cubes of any practical dimension.
const LEAST_WINDOW: usize = 64;

/// Exchanges of packets that may be under way with later partners while one with the present partner is not complete. A rank that ran
/// further ahead would send to where others still send, and its own port would stand still meanwhile: on 16 hosts with one port each,
/// all-gathers of blocks of 64 KiB reached .85 of the limit as far as the window admits, .99 with 4.
const EXCHANGES_AHEAD: usize = 4;

/// The least window over links between hosts, where a rank sends or receives several messages in a step and has more operations than
/// [`LEAST_WINDOW`] admits at once; it is no less than the messages of two steps. A rank that ran further ahead would fill the queues of
/// its ports, behind which acknowledgements wait, and links whose other end may have little under way, as TCP says after every pause,
/// would stand still. On 16 hosts, reductions of 4 MiB reached .95 of the limit with 64, .94 with 24 and .97 with 16, all-reduces of
/// 256 KiB .93, .95 and .97; exchanges of long blocks on 8 hosts lose half a percent where nothing stood still.
const LEAST_WINDOW_OVER_LINKS: usize = 16;

/// The least window of a call that is only looked at from time to time: what has not started at one look waits for the next. (On a
/// star of 8 hosts of 50 Mbit/s each, an all-to-all of blocks of 256 KiB in packets of 2 KiB beside a sleep of the same length, with 8
/// looks, took 1.22 to 1.25 times as long as alone with 512, 1.12 to 1.15 with 1024, and 1.05 to 1.08 with this one.)
const WINDOW_UNATTENDED: usize = 2048;

/// The window where steps are of unlike lengths: what is only a part of the call ahead is worse than nothing. (On a star of 8 hosts of
/// 50 Mbit/s each, all-to-alls with blocks of evenly random lengths, 1 MiB in the mean, in packets of 4 KiB, reached .86 of the limit with 2048
/// and .99 with this one, of heavy-tailed lengths .92 and .99.)
const WINDOW_FLOWING: usize = 8192;

/// How far a rank runs ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunAhead {
    /// How many operations beyond the first incomplete one may be under way: the bound on outstanding requests.
    pub window: usize,
    /// How many, where the first incomplete one is of an earlier round.
    pub ahead: usize,
    /// The window over links between hosts.
    over_links: usize,
}

impl RunAhead {
    /// By the steps of a schedule, of which these are the ends: the window admits all operations of any one of them, so that none waits
    /// for a later one. `cut` says that messages are cut into packets.
    pub(super) fn of(operations: &[Operation], steps: &[usize], cut: bool) -> RunAhead {
        let (mut longest, mut most, mut exchanges, mut begin) = (0, 0, true, 0);
        for &step in steps {
            longest = longest.max(step - begin);
            let operations = &operations[begin..step];
            let sends = operations.iter().filter(|o| matches!(o.kind, Kind::Send { .. })).count();
            let receives = operations.iter().filter(|o| matches!(o.kind, Kind::Receive { .. })).count();
            most = most.max(sends + receives);
            exchanges &= sends <= 1 && receives <= 1;
            begin = step;
        }
        let window = LEAST_WINDOW.max(longest);
        let streams = !exchanges && operations.len() > LEAST_WINDOW;
        let two_steps = LEAST_WINDOW_OVER_LINKS.max(2 * most).max(longest);
        RunAhead {
            window,
            ahead: if cut && exchanges { window.min(EXCHANGES_AHEAD * longest) } else { window },
            over_links: if streams { two_steps } else { window },
        }
    }

    /// How many operations, from the first, must be complete before one may start, of whose round the first is given.
    pub(super) fn opens(self, index: usize, first_of_round: usize) -> usize {
        let within = |operations: usize| (index + 1).saturating_sub(operations);
        within(self.window).max(within(self.ahead).min(first_of_round))
    }

    /// The same for a call that is only looked at from time to time.
    pub(super) fn opens_unattended(self, index: usize) -> usize {
        (index + 1).saturating_sub(self.window.max(WINDOW_UNATTENDED))
    }

    /// The same where messages go over links between hosts: where several go in a step, ranks run less far ahead. (What a narrower
    /// window lets start, a wider one does as well.)
    fn over_links(self) -> RunAhead {
        let window = self.window.min(self.over_links);
        RunAhead { window, ahead: self.ahead.min(window), ..self }
    }
}

impl Schedule {
    /// The same schedule for steps of unlike lengths: a long block goes on as it comes, and not when all of it has come, and who has little
    /// to send in a step waits for nobody who has much. (On a star of 8
    /// hosts, all-gathers round a ring of blocks of 64 and 256 KiB in the mean, by Zipf's law, reached .30 to .32 of the limit without
    /// that, and .95 to .97 with it; on hosts of 4, 3, 2 and 1 ranks, with equal blocks, .56 and .59, and .91 to .98; all-to-alls there .93 and .95,
    /// and .98 and .97; of evenly random lengths on a star of 8 .78, and .99.)
    fn flowing(mut self) -> Schedule {
        let RunAhead { window, ahead, .. } = &mut self.run_ahead;
        *window = (*window).max(WINDOW_FLOWING);
        *ahead = *window;
        self
    }

    /// The same schedule over links between hosts.
    pub(super) fn over_links(mut self) -> Schedule {
        self.run_ahead = self.run_ahead.over_links();
        self
    }

    /// The same schedule for a call whose messages go over links between hosts, or not. `far_ahead`: steps are of unlike lengths.
    pub(crate) fn fitted(self, call: &Call, links: bool, far_ahead: bool) -> Schedule {
        // Between two ranks data goes along paths of unequal lengths, on which a rank is ahead by as much.
        match links && !call.collective.has_peer() {
            true if far_ahead => self.flowing(),
            true => self.over_links(),
            false => self,
        }
    }
}

/// Messages of packets that a rank has under way at once over links, over all ports or one, as predictions take it.
pub(crate) fn messages_under_way(all_ports: bool) -> usize {
    if all_ports {
        LEAST_WINDOW / 2
    } else {
        2 * EXCHANGES_AHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Hosts;
    use crate::algorithm::{registry, Parameters, PortModel};
    use crate::collective::{Collective, Layout};

    /// Over links, calls in which hosts or blocks are unlike go far ahead, as no rank has its turn at the same time as the others; but those of
    /// algorithms in which all take the same steps.
    #[test]
    fn what_is_unlike_flows() -> crate::Result<()> {
        for (collective, name, flows) in [
            (Collective::AllGather, "ring", true),
            (Collective::AllToAll, "shift", true),
            (Collective::AllReduce, "lanes", true),
            (Collective::AllReduce, "ring", false),
            (Collective::AllReduce, "shift", false),
            (Collective::ReduceScatter, "shift", true),
            (Collective::Scatter, "direct", false),
        ] {
            let algorithm = registry::find(collective, name)?;
            for (ranks, unlike) in [(&[4, 3, 2, 1][..], true), (&[5, 5], false)] {
                let call = Call { hosts: Hosts::with_ranks(ranks, false), ..Call::new(collective, 10, 1000) };
                let parameters = Parameters { packet: Some(10), ..Parameters::new(PortModel::OnePort) };
                for links in [true, false] {
                    let window = |rank| algorithm.fitted(&call, &parameters, rank, links).run_ahead.window;
                    let goes_far = Vec::from_iter((0..10).map(|rank| window(rank) >= WINDOW_FLOWING));
                    assert_eq!(goes_far, [flows && unlike && links; 10], "{collective} {name} {ranks:?} {links}");
                }
            }
        }
        Ok(())
    }

    /// So do calls whose blocks are of unlike lengths, by what a rank knows of them, but not those whose lengths differ a little.
    #[test]
    fn blocks_of_unlike_lengths_flow() {
        let of = |lengths: &[usize]| lengths.repeat(8 / lengths.len());
        for (lengths, flows) in [
            (of(&[100, 100, 100, 100]), false),
            (of(&[80, 120, 90, 110]), false),
            (of(&[60, 130, 100, 110]), true),
            (of(&[0, 0, 0, 7]), true),
            (of(&[0, 0, 0, 0]), false),
            (vec![usize::MAX / 16; 8], false),
            (vec![100, 110], false),
        ] {
            let vectors = Layout::of_vectors(lengths.iter().copied());
            let row = Layout::of_row(1, &lengths, &lengths);
            for (collective, layout, may) in [
                (Collective::AllGather, &vectors, true),
                (Collective::ReduceScatter, &vectors, true),
                (Collective::AllToAll, &row, true),
                (Collective::Scatter, &vectors, false),
            ] {
                let call = Call::new(collective, lengths.len(), 0).with_layout(layout.clone());
                assert_eq!(call.flows(), flows && may, "{collective} {lengths:?}");
            }
        }
        // What a rank keeps goes over no link.
        for (sends, receives, flows) in [([100, 5000], [100, 5000], false), ([100, 0], [10, 0], true)] {
            let call = Call::new(Collective::AllToAll, 2, 0).with_layout(Layout::of_row(1, &sends, &receives));
            assert_eq!(call.flows(), flows, "{sends:?} {receives:?}");
        }
    }
}
