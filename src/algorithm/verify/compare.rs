//! The figures of schedules beside those of the row.

use super::super::{Algorithm, Figure, Formula, Parameters, PortModel};
use super::{is_whole, nodes_a_rank};
use crate::address::dimension_for;
use crate::collective::Call;
use crate::executor::simulator::{simulate, Machine};
use crate::schedule::{Cost, Schedule, Violation, MEMORY_USED_ONCE};

/// A figure of schedules beside what is stated of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// Which, in words.
    pub figure: &'static str,
    /// The schedules'.
    pub found: f64,
    /// The formula's.
    pub stated: f64,
    /// Whether the schedules may stay below it.
    pub bound: bool,
}

impl Compared {
    /// Whether the schedules do not exceed what is stated, nor, unless it is a bound, stay below it. What is no number is wrong.
    pub fn is_right(&self) -> bool {
        let Compared { found, stated, bound, .. } = *self;
        let rounding = 1e-9 * stated.abs();
        found <= stated + rounding && (bound || found >= stated - rounding)
    }

    /// Whether a bound is reached.
    pub fn is_reached(&self) -> bool {
        Compared { bound: false, ..self.clone() }.is_right()
    }

    fn violation(&self) -> Violation {
        let at_most = if self.bound { "at most " } else { "" };
        let expected = format!("{at_most}{}", self.stated);
        Violation::Formula { what: self.figure, found: self.found.to_string(), expected }
    }
}

/// The schedules' cost beside the row's.
pub struct Comparison<'a> {
    pub algorithm: &'a Algorithm,
    pub call: &'a Call,
    pub parameters: &'a Parameters,
    pub schedules: &'a [Schedule],
    pub cost: &'a Cost,
}

impl Comparison<'_> {
    /// All figures, and what is wrong with them.
    pub fn outcome(&self) -> (Vec<Compared>, Vec<Violation>) {
        let formula = (self.algorithm.formula)(&self.algorithm.shape(self.call, self.parameters));
        let mut figures = Vec::new();
        for figure in Figure::ALL {
            let Some(found) = self.found(figure, &formula) else { continue };
            let (stated, bound) = self.stated(figure, &formula);
            figures.push(Compared { figure: figure.name(), found, stated, bound });
        }
        let equal = |figure, found: usize, stated: f64| Compared { figure, found: found as f64, stated, bound: false };
        if let Some(signals) = self.signals() {
            figures.push(equal("signals", self.cost.messages, signals as f64));
        }
        if let Some(delivered) = self.delivered() {
            figures.push(equal("elements that are delivered", self.cost.elements, delivered));
        }
        if self.flows_by_itself() && formula.scratch <= MEMORY_USED_ONCE as f64 {
            let of_time = [Figure::Rounds, Figure::Elements];
            let bound = !self.is_whole() || of_time.iter().any(|&figure| formula.at_most.contains(figure));
            let (found, stated) = (self.time(1.0, 1.0, self.parameters.ports), formula.time(1.0, 1.0));
            figures.push(Compared { figure: "time for tau = t_c = 1", found, stated, bound });
        }
        let wrong = figures.iter().filter(|figure| !figure.is_right()).map(Compared::violation).collect();
        (figures, wrong)
    }

    /// Messages that carry nothing, or whose number counts all the same.
    fn signals(&self) -> Option<usize> {
        let signals = (self.algorithm.signals)(self.call.size);
        let counted =
            !self.call.collective.has_data() || signals > 0 && self.call.count > 0 && self.parameters.packet.is_none();
        (counted && self.call.avoid.is_none()).then_some(signals)
    }

    fn is_whole(&self) -> bool {
        is_whole(self.algorithm, self.call)
    }

    /// Whether messages are cut into packets that the algorithm's rounds know nothing of.
    fn is_cut(&self) -> bool {
        self.parameters.packet.is_some() && self.algorithm.cuts(self.parameters.ports)
    }

    /// Whether the paper's time is that of nodes that do not wait for each other's rounds.
    fn flows_by_itself(&self) -> bool {
        self.algorithm.flows && !self.is_cut() && self.call.avoid.is_none() && self.call.size.is_power_of_two()
    }

    /// The time if ranks run as far ahead as data lets them.
    fn time(&self, tau: f64, t_c: f64, ports: PortModel) -> f64 {
        let mut schedules = self.schedules.to_vec();
        for schedule in &mut schedules {
            let all = schedule.operations().len();
            schedule.run_ahead.window = schedule.run_ahead.window.max(all);
            schedule.run_ahead.ahead = schedule.run_ahead.window;
        }
        simulate(&schedules, &Machine::new(tau, t_c, ports)).map_or(f64::INFINITY, |timeline| timeline.time)
    }

    /// A figure of the schedules, if it is comparable.
    fn found(&self, figure: Figure, formula: &Formula) -> Option<f64> {
        let cost = self.cost;
        Some(match figure {
            // Without rounds to wait for, the formula counts the start-ups that follow one another instead.
            Figure::Rounds | Figure::Elements if self.algorithm.flows => return None,
            Figure::Rounds => cost.rounds as f64,
            Figure::Elements => cost.longest_sum() as f64,
            Figure::Moved => cost.elements as f64,
            Figure::Load => cost.max_link_load as f64,
            Figure::Port if formula.port == 0.0 => return None,
            Figure::Port => cost.max_port_load as f64,
            Figure::Scratch => cost.scratch as f64,
            // Cut or detoured, messages are others; where memory is used again, they wait for that, too.
            Figure::Hops if self.parameters.packet.is_some() || self.call.avoid.is_some() => return None,
            Figure::Hops if formula.scratch > MEMORY_USED_ONCE as f64 => return None,
            Figure::Hops => self.time(1.0, 0.0, PortModel::AllPorts),
            Figure::Path if formula.scratch > MEMORY_USED_ONCE as f64 => return None,
            Figure::Path => cost.path.map_or(f64::INFINITY, |path| path as f64),
        })
    }

    /// What the formula says of it, for this call, and whether that is a bound.
    fn stated(&self, figure: Figure, formula: &Formula) -> (f64, bool) {
        let value = formula.figure(figure);
        if self.is_whole() {
            let reused = figure == Figure::Scratch && value > MEMORY_USED_ONCE as f64;
            let cut = figure == Figure::Path && self.is_cut();
            return (value, formula.at_most.contains(figure) || reused || cut);
        }
        // A rank that plays two nodes does the work of both, some of it at once.
        let nodes = nodes_a_rank(self.algorithm, self.call) as f64;
        let load = nodes * formula.load;
        // The farthest blocks may be the last to leave, where nearer ranks are missing.
        let late = match self.parameters.packet {
            Some(_) if nodes > 1.0 && !self.is_cut() => f64::from(dimension_for(self.call.size) - 1),
            _ => 0.0,
        };
        let twice = match figure {
            Figure::Rounds => value + late,
            Figure::Moved | Figure::Hops => value,
            Figure::Elements | Figure::Load | Figure::Port | Figure::Scratch | Figure::Path => nodes * value,
        };
        let Some(avoid) = &self.call.avoid else { return (twice, true) };
        // Every round becomes several, in which what went over a link goes over a few others instead and through their ranks.
        let (hops, stride) = avoid.cost(self.call.in_order_of_nodes(), self.parameters.ports == PortModel::OneWay);
        let around = match figure {
            Figure::Rounds | Figure::Elements => stride as f64 * twice,
            Figure::Moved => twice + (hops.iter().sum::<usize>() - hops.len()) as f64 * load,
            Figure::Load => (1 + hops.len()) as f64 * load,
            Figure::Port => twice + (hops.iter().sum::<usize>() - hops.len()) as f64 * load,
            // Trees that use it may be left out, and others carry their share.
            Figure::Scratch => (1 + hops.len()) as f64 * twice + hops.len() as f64 * load,
            Figure::Hops => twice,
            Figure::Path => twice + 2.0 * (hops.iter().sum::<usize>() - hops.len()) as f64 * load,
        };
        (around, true)
    }

    /// Where the same data ends on all ranks, or comes from all: every rank but one is sent everything, or sends it, just once.
    fn delivered(&self) -> Option<f64> {
        let others = (self.call.size - 1) as f64 * self.call.space().len() as f64;
        let once = self.call.collective.meaning().passes == 1;
        (once && self.call.avoid.is_none()).then_some(others)
    }
}
