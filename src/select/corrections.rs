//! What `hypercoll tune` has measured of calls, and how that corrects what the model predicts.
//!
//! At a size that was measured, an algorithm's correction is its measured time over what the model says. Algorithms that were not
//! measured are corrected by as much as the one that took the longest in comparison with what the model says: so one of which nothing is
//! known is put before none that the model puts before it.
//!
//! Between two sizes, corrections are interpolated: their logarithms are linear in the logarithm of the size. Where the next size is
//! farther away than a factor of [`REACH`], or there is none, they fade out within it. To a size are added the bytes that could be
//! transferred while one message starts: of calls that are short beside those, one tells all of another. Calls of another kind, and ranks
//! that are spread over hosts in another way than those that measured, are not corrected at all: which algorithm wins there, nobody has seen.
//!
//! The correction is a pure function of the call and the machine, like all of the choice. Times, not factors, are what is kept: they mean the
//! same when the parameters of the machine are changed.

use super::logarithm::{exp2, log2};
use super::model::latency;
use super::{predict, Machine, Spread};
use crate::algorithm::{registry, Algorithm, Parameters, PortModel};
use crate::collective::{Call, Collective};

/// How far a size tells something of another one.
pub const REACH: f64 = 16.0;

/// Bytes of the elements in what was measured.
const ELEMENT: usize = 8;

/// What calls took, on ranks that are spread in one way.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// How the ranks were spread.
    pub spread: Spread,
    /// The times. Of several of one collective and size the first one of ours is that of the model's choice; native's is there only if it
    /// was faster than all of ours.
    pub times: Vec<Timed>,
}

/// What one call took: with root 0, not in place, by an operation that commutes, of elements of 8 bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Timed {
    /// The collective: one that [`Checked::corrects`].
    pub collective: Collective,
    /// Bytes of the vector or of a block.
    pub bytes: usize,
    /// What carried it out.
    pub by: By,
    /// Seconds: the median of what the slowest rank took, or, where noise tells no more, what it leads to be expected.
    pub time: f64,
}

/// What carries out a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum By {
    /// MPI's own collective, as it chooses by itself.
    Native,
    /// The library.
    Ours {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// The port model.
        ports: PortModel,
        /// Bytes of its packets; `None` for whole messages.
        packet: Option<usize>,
    },
}

impl Checked {
    /// Whether calls of a collective are corrected: those that MPI has, too, and that name no ranks but a root.
    pub fn corrects(collective: Collective) -> bool {
        collective.meaning().native.is_some() && collective.knows_hosts()
    }

    /// The sizes of a collective that were measured, in order.
    fn sizes(&self, collective: Collective) -> Vec<usize> {
        let of_it = self.times.iter().filter(|timed| timed.collective == collective);
        let mut sizes: Vec<usize> = of_it.map(|timed| timed.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// What was measured of a collective at a size.
    fn at(&self, collective: Collective, bytes: usize) -> impl Iterator<Item = &Timed> {
        self.times.iter().filter(move |timed| timed.collective == collective && timed.bytes == bytes)
    }
}

impl Machine {
    /// Whether native MPI was measured faster, for a call of elements of so many bytes, than all algorithms of the library: at the sizes
    /// next to it, as far as they are no farther away than a factor of [`REACH`]. The library cannot run native collectives; who can is
    /// told here where to.
    pub fn native_is_faster(&self, call: &Call, element: usize) -> bool {
        let Some(checked) = self.checked.as_deref().filter(|checked| serves(checked, call, self)) else { return false };
        let near = near(&checked.sizes(call.collective), call, element, self);
        let native = |bytes| checked.at(call.collective, bytes).any(|timed| timed.by == By::Native);
        !near.is_empty() && near.into_iter().all(|(bytes, _)| native(bytes))
    }
}

/// Whether a call is like those that were measured.
fn serves(checked: &Checked, call: &Call, machine: &Machine) -> bool {
    let alike = !call.ordered && call.layout.is_none() && call.avoid.is_none();
    let spread = || Spread::of(call.size, call.hosts.as_ref(), machine.shared.is_some());
    alike && Checked::corrects(call.collective) && checked.spread.ranks() == call.size && checked.spread == spread()
}

/// The sizes next to a call's, each with its weight, from above 0 to 1.
fn near(sizes: &[usize], call: &Call, element: usize, machine: &Machine) -> Vec<(usize, f64)> {
    let bytes = call.count.saturating_mul(element);
    let one = Call { count: 1, ..call.clone() };
    let blocks = one.send_len(call.root).max(one.receive_len(call.root)) as f64;
    let started = (machine.tau + machine.hop) / machine.t_c;
    let log = |bytes: usize| log2((bytes as f64 * blocks + started).max(1.0));
    let above = sizes.partition_point(|size| *size <= bytes);
    let (lower, upper) = (above.checked_sub(1).map(|at| sizes[at]), sizes.get(above).copied());
    let apart = lower.zip(upper).map_or(f64::INFINITY, |(lower, upper)| log(upper) - log(lower));
    let weight = |size| 1.0 - (log(size) - log(bytes)).abs() / apart.min(log2(REACH));
    let weighted = [lower, upper].into_iter().flatten().map(|size| (size, weight(size)));
    weighted.filter(|(_, weight)| *weight > 0.0).collect()
}

/// The corrections of one call.
pub(super) struct Corrections(Vec<Correction>);

/// What one size says.
struct Correction {
    weight: f64,
    /// Logarithms of measured over predicted times.
    factors: Vec<(By, f64)>,
    /// That of all others: the largest of those.
    unknown: f64,
}

impl Corrections {
    /// Those of a call whose elements have so many bytes; none as a rule.
    pub fn of(call: &Call, element: usize, machine: &Machine) -> Corrections {
        let checked = machine.checked.as_deref().filter(|checked| serves(checked, call, machine));
        let Some(checked) = checked else { return Corrections(Vec::new()) };
        let sizes = near(&checked.sizes(call.collective), call, element, machine);
        let correction = |(bytes, weight): (usize, f64)| {
            let measured = Call { count: bytes / ELEMENT, ..call.clone() };
            let factor = |timed: &Timed| Some((timed.by, log2(timed.time / timed.by.predicted(&measured, machine)?)));
            let factors = checked.at(call.collective, bytes).filter_map(factor);
            let factors: Vec<(By, f64)> = factors.filter(|(_, factor)| factor.is_finite()).collect();
            let unknown = factors.iter().map(|(_, factor)| *factor).reduce(f64::max).unwrap_or(0.0);
            Correction { weight, factors, unknown }
        };
        Corrections(sizes.into_iter().map(correction).collect())
    }

    /// How many times as long an algorithm takes as the model says.
    pub fn factor(&self, algorithm: &Algorithm, parameters: &Parameters) -> f64 {
        let logarithm = self.0.iter().map(|Correction { weight, factors, unknown }| {
            let own = factors.iter().find(|(by, _)| by.is(algorithm, parameters));
            weight * own.map_or(*unknown, |(_, factor)| *factor)
        });
        exp2(logarithm.sum())
    }
}

impl By {
    /// An algorithm with parameters, on elements of so many bytes.
    pub fn ours(algorithm: &Algorithm, parameters: &Parameters, element: usize) -> By {
        let packet = parameters.packet.map(|packet| packet * element);
        By::Ours { algorithm: algorithm.name, ports: parameters.ports, packet }
    }

    /// Whether it is an algorithm in this form: on as many ports, in packets or in whole messages.
    fn is(&self, algorithm: &Algorithm, parameters: &Parameters) -> bool {
        let usual = usual(algorithm, parameters.ports, parameters.packet);
        // The latency is the machine's.
        let usual = *parameters == Parameters { latency: parameters.latency, ..usual };
        let By::Ours { algorithm: name, ports, packet } = *self else { return false };
        usual && name == algorithm.name && ports == parameters.ports && packet.is_some() == parameters.packet.is_some()
    }

    /// What the model says of a call of elements of 8 bytes; nothing of native MPI.
    fn predicted(&self, call: &Call, machine: &Machine) -> Option<f64> {
        let By::Ours { algorithm, ports, packet } = *self else { return None };
        let algorithm = registry::find(call.collective, algorithm).ok()?;
        let packet = packet.map(|bytes| (bytes / ELEMENT).max(1));
        let latency = latency(algorithm, call, ELEMENT, machine);
        let parameters = Parameters { latency, ..usual(algorithm, ports, packet) };
        Some(predict(algorithm, call, ELEMENT, &parameters, machine))
    }
}

/// The parameters that the choice considers where nothing is asked for.
fn usual(algorithm: &Algorithm, ports: PortModel, packet: Option<usize>) -> Parameters {
    let symmetrized = algorithm.symmetrizes && ports == PortModel::AllPorts;
    Parameters { packet, symmetrized, ..Parameters::new(ports) }
}

#[cfg(test)]
mod tests {
    use super::super::{candidates, choose, Candidate, Options};
    use super::*;
    use crate::address::Hosts;
    use crate::collective::Layout;
    use crate::schedule::Avoided;
    use std::sync::Arc;

    const P: usize = 8;

    fn call(bytes: usize) -> Call {
        Call::new(Collective::Broadcast, P, bytes / ELEMENT)
    }

    fn serving(call: &Call, machine: &Machine) -> Vec<Candidate> {
        candidates(call, ELEMENT, &Options::default(), machine).expect("sound").serving
    }

    /// A candidate's measured time: so many times what the model says.
    fn timed(candidate: &Candidate, bytes: usize, times: f64) -> Timed {
        let by = By::ours(candidate.algorithm, &candidate.parameters, ELEMENT);
        Timed { collective: Collective::Broadcast, bytes, by, time: times * candidate.model }
    }

    fn with(times: Vec<Timed>) -> Machine {
        let checked = Checked { spread: Spread::of(P, None, false), times };
        Machine { checked: Some(Arc::new(checked)), ..Machine::network() }
    }

    /// The second of the candidates was measured faster than the first.
    fn overturned(bytes: usize) -> (Vec<Candidate>, Machine) {
        let before = serving(&call(bytes), &Machine::network());
        let faster = 0.5 * before[0].model / before[1].model;
        let machine = with(vec![timed(&before[0], bytes, 2.0), timed(&before[1], bytes, faster)]);
        (before, machine)
    }

    #[test]
    fn what_was_measured_faster_is_chosen_and_explained() {
        let (before, machine) = overturned(1 << 20);
        let choice = choose(&call(1 << 20), ELEMENT, &Options::default(), &machine).expect("sound");
        assert_eq!((choice.algorithm.name, choice.parameters), (before[1].algorithm.name, before[1].parameters));
        assert!((choice.predicted / (0.5 * before[0].model) - 1.0).abs() < 1e-9 && choice.model == before[1].model);
        assert!(choice.why.contains("corrected by what tune measured"), "{}", choice.why);
        let plain = choose(&call(1 << 20), ELEMENT, &Options::default(), &Machine::network()).expect("sound");
        assert!(plain.predicted == plain.model && !plain.why.contains("corrected"), "{}", plain.why);
    }

    /// Whatever the model's choice was measured to take, what was not measured keeps its distance.
    #[test]
    fn nothing_unknown_overtakes() {
        for bytes in [8, 1 << 10, 1 << 16, 1 << 20] {
            let before = serving(&call(bytes), &Machine::network());
            for times in [0.01, 1.0, 100.0] {
                let machine = with(vec![timed(&before[0], bytes, times)]);
                for size in [bytes, bytes * 3, bytes * 8] {
                    let after = serving(&call(size), &machine);
                    let names =
                        |all: &[Candidate]| all.iter().map(|c| (c.algorithm.name, c.parameters)).collect::<Vec<_>>();
                    assert_eq!(
                        names(&after),
                        names(&serving(&call(size), &Machine::network())),
                        "{bytes} {times} {size}"
                    );
                }
            }
        }
    }

    /// The model was right of its choice and wrong of the next one: of a third nobody knows whether it is like the one or the other.
    #[test]
    fn what_is_unknown_is_taken_to_be_as_slow_as_any() {
        let bytes = 1 << 20;
        let before = serving(&call(bytes), &Machine::network());
        let machine = with(vec![timed(&before[0], bytes, 1.0), timed(&before[1], bytes, 3.0)]);
        let corrections = Corrections::of(&call(bytes), ELEMENT, &machine);
        let factor = |nth: usize| corrections.factor(before[nth].algorithm, &before[nth].parameters);
        for (nth, factor_of) in [(0, 1.0), (1, 3.0), (2, 3.0)] {
            assert!((factor(nth) / factor_of - 1.0).abs() < 1e-9, "{nth}");
        }
    }

    #[test]
    fn corrections_fade_with_the_distance() {
        let bytes = 1 << 16;
        let (before, machine) = overturned(bytes);
        let algorithm = before[0].algorithm;
        let factor = |bytes: usize, machine: &Machine| {
            Corrections::of(&call(bytes), ELEMENT, machine).factor(algorithm, &before[0].parameters)
        };
        let about = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
        assert!(about(factor(bytes, &machine), 2.0));
        // So many times as far from what could be transferred while a message starts.
        let started = (machine.tau + machine.hop) / machine.t_c;
        let times = |times: f64| ((bytes as f64 + started) * times - started) as usize;
        // Half the way to where nothing is left.
        assert!(
            about(factor(times(4.0), &machine), 2f64.sqrt()) && about(factor(times(0.5), &machine), 2f64.powf(0.75))
        );
        for far in [times(16.0) + 8, 1 << 30] {
            assert_eq!(factor(far, &machine), 1.0, "{far}");
        }
        // Between two sizes from one to the other.
        let mut timings = machine.checked.as_ref().expect("corrections").times.clone();
        let upper = times(4.0) / 8 * 8;
        let serving = serving(&call(upper), &machine);
        let same =
            serving.iter().find(|c| By::ours(c.algorithm, &c.parameters, 8).is(algorithm, &before[0].parameters));
        timings.push(timed(same.expect("it serves"), upper, 8.0));
        let machine = with(timings);
        assert!(about(factor(bytes, &machine), 2.0) && about(factor(times(2.0), &machine), 4.0));
        assert!(about(factor(upper, &machine), 8.0) && about(factor(times(16.0), &machine), 8f64.sqrt()));
    }

    /// What starts of messages decide is alike for all short calls; what is transferred meanwhile is all that a call has to do with.
    #[test]
    fn short_calls_tell_of_each_other() {
        let (before, machine) = overturned(128);
        let factor = |bytes: usize| {
            Corrections::of(&call(bytes), ELEMENT, &machine).factor(before[0].algorithm, &before[0].parameters)
        };
        for short in [0, 8, 1 << 10] {
            assert!((factor(short) / 2.0 - 1.0).abs() < 0.02, "{short}: {}", factor(short));
        }
        assert!(factor(1 << 17) < 1.5 && factor(1 << 20) == 1.0);
        // Of many blocks all are counted.
        let gather = |bytes: usize| Call::new(Collective::AllGather, 1 << 14, bytes / ELEMENT);
        let machine = Machine::network();
        let weight = |call: &Call| near(&[8], call, ELEMENT, &machine).iter().map(|(_, weight)| *weight).sum::<f64>();
        assert!(weight(&gather(8)) == 1.0 && weight(&gather(128)) < 0.5);
    }

    #[test]
    fn only_calls_like_those_measured_are_corrected() {
        let all = [Collective::AllReduce, Collective::AllGather];
        let [reduce, gather] = all.map(|collective| Call::new(collective, P, 1 << 10));
        let time = |call: &Call| Timed {
            collective: call.collective,
            ..timed(&serving(call, &Machine::network())[0], 1 << 13, 2.0)
        };
        let machine = with(vec![time(&reduce), time(&gather)]);
        let corrected = |call: &Call, machine: &Machine| {
            let serving = serving(call, machine);
            assert!(!serving.is_empty(), "{call:?}");
            serving.iter().any(|c| c.predicted != c.model)
        };
        for like in [reduce.clone(), gather.clone(), Call { in_place: true, ..reduce.clone() }] {
            assert!(corrected(&like, &machine), "{like:?}");
        }
        let others = [
            Call::new(Collective::AllReduce, P - 1, reduce.count),
            Call::new(Collective::AllToAll, P, gather.count),
            Call { hosts: Hosts::with_ranks(&[4, 4], false), ..reduce.clone() },
            Call { avoid: Avoided::new(P, &[(0, 1)]).ok(), ..gather.clone() },
            Call { ordered: true, ..reduce.clone() },
            gather.clone().with_layout(Layout::of_vectors([1 << 10; P])),
        ];
        for other in others {
            assert!(!corrected(&other, &machine), "{other:?}");
        }
        // As many ranks, but on one host.
        let shared = Machine { checked: machine.checked.clone(), ..Machine::shared_memory(2) };
        assert!(!corrected(&reduce, &shared));
        // Roots are alike.
        let (_, machine) = overturned(1 << 20);
        assert!(corrected(&call(1 << 20).with_root(5), &machine));
    }

    #[test]
    fn all_ranks_choose_alike_whatever_the_order_of_sizes() {
        let (_, one) = overturned(1 << 10);
        let (_, other) = overturned(1 << 20);
        let times = |machine: &Machine| machine.checked.as_ref().expect("corrections").times.clone();
        let forwards = with([times(&one), times(&other)].concat());
        let backwards = with([times(&other), times(&one)].concat());
        for bytes in (3..24).map(|shift| 1 << shift) {
            let all =
                |machine: &Machine| serving(&call(bytes), machine).iter().map(|c| c.predicted).collect::<Vec<_>>();
            assert_eq!(all(&forwards), all(&backwards));
        }
    }

    #[test]
    fn native_is_faster_where_all_sizes_next_to_it_say_so() {
        let native = |bytes| Timed { collective: Collective::Broadcast, bytes, by: By::Native, time: 1e-6 };
        let ours = |bytes| timed(&serving(&call(bytes), &Machine::network())[0], bytes, 1.0);
        let machine = with(vec![ours(1 << 10), ours(1 << 13), native(1 << 13), ours(1 << 16), native(1 << 16)]);
        let faster = |bytes| machine.native_is_faster(&call(bytes), ELEMENT);
        assert!([1 << 13, 1 << 14, 1 << 16, 1 << 18].into_iter().all(faster));
        assert!(![8, 1 << 10, 1 << 12, 1 << 22].into_iter().any(faster));
        let other = Call::new(Collective::Broadcast, P + 1, 1 << 10);
        assert!(!machine.native_is_faster(&other, ELEMENT) && !Machine::network().native_is_faster(&call(1 << 13), 8));
    }
}
