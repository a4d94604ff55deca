//! Waits in which nothing moves: when a rank looks at what the others do, what it makes of that, and what it says. And in which words it says
//! that two ranks differ, which messages may show as well.

use super::finding::{listed, understood, LISTED};
use super::record::sentence;
use super::{roll_call, Engine};
use crate::executor::caller;
use crate::executor::patience::{say, Patience};
use crate::executor::Stamp;
use crate::plan::Plan;
use std::time::{Duration, Instant};

/// After so long without progress a rank compares what it has called with the others.
const SUSPICION: Duration = Duration::from_millis(20);
/// How long it then leaves it at that.
const AGAIN: Duration = Duration::from_millis(100);
/// After so long it asks those that are not on its board. Over slow links nothing may move for a while, and a question that comes when
/// its receiver has ended finds nobody.
const FAR_SUSPICION: Duration = Duration::from_millis(300);
/// From one look at the clock to the next so much counts as a wait, at most: a rank that computes for longer waits for nobody meanwhile.
const COUNTED: Duration = Duration::from_secs(1);
/// After so much of a limit a rank says that it waits, and asks what the others do.
const NEAR: f64 = 0.9;

/// A wait without progress.
#[derive(Default)]
pub(super) struct Waiting {
    pub looks: u32,
    /// When it began, later by the time that does not count, and when the clock was last looked at.
    clock: Option<(Instant, Instant)>,
    /// What had been waited when the others were last looked at.
    pub judged: Option<Duration>,
    /// The rank that was through then with a call for which it is waited, and the call.
    vain: Option<(usize, u64)>,
    /// When this rank has said that it waits, by the clock that ranks of a host share, and from where in the program it does.
    said: Option<Duration>,
    at: String,
    /// What had been waited when it announced that it would call the roll, and whether that has been called.
    announced: Option<Duration>,
    called: bool,
    /// Whether it has asked the others before it gives up.
    expires: bool,
}

impl Waiting {
    /// How long it has been, at a look at the clock.
    fn waited(&mut self, now: Instant) -> Duration {
        let (since, last) = self.clock.get_or_insert((now, now));
        *since += now.duration_since(*last).saturating_sub(COUNTED);
        *last = now;
        now.duration_since(*since)
    }
}

impl Engine {
    /// Progress ends a wait, and so does the first call after some time without any.
    pub(super) fn moved(&mut self) {
        if self.waiting.said.is_some() {
            self.agreement.board().iter().for_each(|board| board.mine().go_on());
        }
        if self.waiting.looks > 0 {
            self.waiting = Waiting::default();
        }
    }

    /// Looks at the clock, and at the others if it is time.
    pub(super) fn watch(&mut self) {
        let waited = self.waiting.waited(Instant::now());
        while let Some((rank, bytes)) = self.agreement.hear(&mut *self.transport) {
            // It may ask what this one is doing, which is something else than when it was last said.
            self.agreement.doing = self.doing();
            if let Some(finding) = self.agreement.heed(rank, &bytes, &mut *self.transport) {
                return self.fail(understood(&finding));
            }
        }
        let Some(oldest) = self.oldest() else { return };
        if waited >= self.waiting.judged.map_or(SUSPICION, |judged| judged + AGAIN) {
            self.waiting.judged = Some(waited);
            self.agreement.doing = self.doing();
            if let Some(finding) = self.agreement.judge(oldest, &mut *self.transport) {
                return self.find(&finding);
            }
            // If it is so still when it is time to look again, what it sent would have come, and what it expected been taken.
            let vain = self.in_vain();
            if let Some((peer, number)) = vain.filter(|_| vain == self.waiting.vain) {
                let rank = self.agreement.rank;
                let what = format!("is through, while rank {rank} has more to send it or to receive from it");
                return self.find_differing(number, peer, &what);
            }
            self.waiting.vain = vain;
            if waited >= FAR_SUSPICION {
                let peers = self.transport.under_way();
                self.agreement.ask_again(&peers, oldest, &mut *self.transport);
            }
        }
        self.report(waited, oldest);
    }

    /// Says that this rank waits, and what all ranks do, and ends what takes too long.
    fn report(&mut self, waited: Duration, oldest: u64) {
        let Patience { report, timeout, .. } = self.patience;
        // A little earlier, so that all have said it, and far ranks have answered, when the roll is called.
        let is_near = |limit: Option<Duration>| limit.is_some_and(|limit| waited >= limit.mul_f64(NEAR));
        if !is_near(report) && !is_near(timeout) {
            return;
        }
        let now = roll_call::clock();
        if self.waiting.said.is_none() {
            self.waiting.said = Some(now);
            self.waiting.at = caller::place(", called from ");
            self.agreement.doing = self.doing();
            let since = now.saturating_sub(waited);
            self.agreement.board().iter().for_each(|board| board.mine().wait(since.as_secs(), &self.agreement.doing));
        }
        if is_near(timeout) && !self.waiting.expires {
            self.waiting.expires = true;
            self.agreement.ask_all(oldest, &mut *self.transport);
        }
        if let Some(limit) = report.filter(|_| is_near(report) && !self.waiting.called) {
            self.see_to_roll_call(waited, limit, oldest);
        }
        if timeout.is_some_and(|limit| waited >= limit) {
            self.expire(waited);
        }
    }

    /// Sees that the roll is called when this rank has waited for so long, by one of those that wait.
    fn see_to_roll_call(&mut self, waited: Duration, limit: Duration, oldest: u64) {
        let (now, said) = (roll_call::clock(), self.waiting.said);
        if self.agreement.board().is_some_and(|board| said.is_some_and(|said| board.has_called_roll(said, now))) {
            self.waiting.called = true;
            return;
        }
        let announced = match self.waiting.announced {
            Some(announced) => announced,
            None if self.agreement.board().is_none_or(|board| board.announce_roll(now, limit)) => {
                self.waiting.announced = Some(waited);
                self.agreement.ask_all(oldest, &mut *self.transport);
                waited
            }
            None => return,
        };
        if waited >= limit.max(announced + limit.mul_f64(1.0 - NEAR)) {
            self.call_roll(waited);
        }
    }

    /// Calls the roll, unless another rank of this host has done so since this one has said that it waits; in words.
    fn call_roll(&mut self, waited: Duration) -> String {
        let (now, said) = (roll_call::clock(), self.waiting.said.unwrap_or_default());
        let roll = roll_call::roll_call(&self.agreement, self.transport.size());
        let called = std::mem::replace(&mut self.waiting.called, true);
        if !called && self.agreement.board().is_none_or(|board| board.call_roll(said, now)) {
            say(&format!("rank {}: no progress for {} s. {roll}", self.agreement.rank, waited.as_secs()));
        }
        roll
    }

    /// Ends what has waited for so long.
    fn expire(&mut self, waited: Duration) {
        let (roll, rank, seconds) = (self.call_roll(waited), self.agreement.rank, waited.as_secs());
        if self.patience.ends_job {
            self.transport.end_job(&format!("rank {rank}: HYPERCOLL_TIMEOUT: no progress for {seconds} s"));
        }
        let peers: Vec<String> = self.awaited().iter().take(LISTED).map(usize::to_string).collect();
        self.find(&format!("timeout\n{}\nno progress for {seconds} s; {roll}", peers.join(" ")));
    }

    /// The ranks with which something is under way, in order.
    fn awaited(&self) -> Vec<usize> {
        let mut peers = self.transport.under_way();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// What this rank is doing, in words.
    pub(super) fn doing(&self) -> String {
        let oldest = self.active.iter().map(|&place| &self.executions[place as usize]).min_by_key(|e| e.stamp.number);
        let Some(execution) = oldest else { return "in no call".into() };
        let number = execution.stamp.number;
        let words = self.agreement.records.told(number).unwrap_or_default();
        let round = execution.round().map_or(String::new(), |(part, round)| match part {
            0 if execution.has_one_part() => format!(", round {round}"),
            _ => format!(", round {round} of part {}", part + 1),
        });
        let peers = self.awaited();
        let whom = if peers.is_empty() { String::new() } else { format!(", waiting for {}", listed(&peers)) };
        let more = if self.active.len() > 1 { format!(" and {} more", self.active.len() - 1) } else { String::new() };
        format!("in {}{more}{round}{whom}{}", sentence(number, &words), self.waiting.at)
    }

    /// Something is wrong between ranks: says so to all.
    pub(super) fn find(&mut self, finding: &str) {
        let error = self.agreement.find(finding, &mut *self.transport);
        self.fail(error);
    }

    /// Two ranks differ in the length of a block.
    #[cold]
    pub(super) fn find_lengths(&mut self, stamp: Stamp, peer: usize, expected: usize, found: usize) {
        let rank = self.agreement.rank;
        let element = self.plan_of(stamp.number).map_or(1, |plan| plan.element.max(1));
        let (sends, expects) = (found / element, expected / element);
        let what = format!("sends {sends} elements to rank {rank}, which expects {expects}");
        self.find_differing(stamp.number, peer, &what);
    }

    /// The plan of a call under way.
    fn plan_of(&self, number: u64) -> Option<&Plan> {
        let under_way = self.executions.iter().find(|execution| execution.stamp.number == number);
        under_way.and_then(|execution| execution.plan.as_deref())
    }

    /// Two ranks of one call differ in what goes between them.
    #[cold]
    pub(super) fn find_stray(&mut self, number: u64, peer: usize) {
        let rank = self.agreement.rank;
        let call = self.plan_of(number).and_then(|plan| plan.cut_apart());
        let what = match call.map(|call| call.straight(peer, rank)) {
            Some(expects) => {
                format!("sends rank {rank} a block that has not the {expects} elements which that one expects")
            }
            None => format!("sends rank {rank} what that one does not receive"),
        };
        self.find_differing(number, peer, &what);
    }

    /// The same, and what the other rank does.
    #[cold]
    pub(super) fn find_differing(&mut self, number: u64, peer: usize, what: &str) {
        let words = self.agreement.records.told(number).unwrap_or_default();
        let rank = self.agreement.rank;
        self.find(&format!("mismatch\n{peer} {rank}\nrank {peer} {what}, in {}", sentence(number, &words)));
    }

    /// A rank of this host with which this one has messages under way of its first call, and which is through with it.
    fn in_vain(&self) -> Option<(usize, u64)> {
        let under_way = self.active.iter().map(|&place| &self.executions[place as usize]);
        let execution = under_way.min_by_key(|execution| execution.stamp.number)?;
        let (board, number) = (self.agreement.board()?, execution.stamp.number);
        let over = |peer: usize| {
            let place = board.ranks.iter().position(|&rank| rank == peer);
            place.is_some_and(|place| board.line(place).is_over(number))
        };
        let peer = execution.peers().find(|&peer| over(peer))?;
        Some((peer, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rank_computes_meanwhile_is_no_wait() {
        let (mut waiting, begin) = (Waiting::default(), Instant::now());
        let mut waited = |millis| waiting.waited(begin + Duration::from_millis(millis)).as_millis();
        assert_eq!([0, 300, 1_300].map(&mut waited), [0, 300, 1_300]);
        // It looks before and after it computes for 55 s.
        assert_eq!([56_300, 56_400, 156_400].map(&mut waited), [2_300, 2_400, 3_400]);
    }
}
