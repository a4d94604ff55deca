//! Whether an algorithm serves a call.

use super::{Algorithm, Latency, OnTorus, Parameters, PortModel};
use crate::address::Hosts;
use crate::collective::{Call, Known, Layout};
use crate::error::{Error, Result};
use crate::topology::sbnt::Variant;

impl Algorithm {
    /// Whether one rank of each host speaks with other hosts for all of its ranks.
    pub(crate) fn has_leaders(&self) -> bool {
        self.far.is_some() && !self.all_lead
    }

    /// Why it is not chosen for a call unless it is named, if so.
    pub(crate) fn not_chosen(&self, call: &Call) -> Option<&'static str> {
        let uneven = call.layout.as_ref().is_some_and(Layout::is_uneven);
        let equal = "is for blocks of unlike lengths: equal ones keep all links busy along shorter ways, too";
        let known = "is for other numbers of hosts and ranks";
        let shared = (self.shares && !uneven).then_some(equal);
        let on_host = call.hosts.as_ref().map_or((1, 1), Hosts::most_and_fewest);
        self.on_request.or(shared).or((self.among_hosts)(call.host_count(), on_host).then_some(known))
    }

    /// Whether the algorithm serves a call with these parameters.
    ///
    /// # Errors
    /// [`Error::Packet`] or [`Error::Unsuited`], naming the parameter.
    pub fn accepts(&self, call: &Call, parameters: &Parameters) -> Result<()> {
        let unsuited = |argument, why: String| {
            Err(Error::Unsuited { argument, algorithm: self.name, collective: self.collective, why })
        };
        if parameters.symmetrized && !self.symmetrizes {
            return unsuited("symmetrized", "has no symmetrised form".into());
        }
        if !self.ports.contains(&parameters.ports) {
            return unsuited("ports", format!("makes no schedule for {} nodes", parameters.ports));
        }
        if parameters.packet == Some(0) {
            return Err(Error::Packet);
        }
        if parameters.symmetrized && parameters.ports != PortModel::AllPorts {
            return unsuited(
                "symmetrized",
                format!("uses all ports at once when symmetrised, not {}", parameters.ports),
            );
        }
        if let Some(order) = parameters.order.filter(|order| !self.orders.contains(order)) {
            return unsuited("order", format!("does not send its blocks in the order {order}"));
        }
        if parameters.variant != Variant::default() && !self.variants {
            return unsuited("variant", "uses no spanning balanced n-tree that has variants".into());
        }
        if parameters.latency != Latency::default() && self.way.is_none() {
            return unsuited("latency", "makes the same tree whatever the latency".into());
        }
        let Latency { far, near, torus } = parameters.latency;
        if [far, near].iter().any(|lambda| !(1..=Latency::MOST).contains(lambda)) {
            return unsuited("latency", format!("takes numbers from 1 to {}", Latency::MOST));
        }
        let hosts = call.host_count();
        if let Some(OnTorus { torus, .. }) = torus.filter(|on| on.torus.hosts() != hosts) {
            return unsuited("latency", format!("is for {hosts} hosts, not {torus}"));
        }
        if call.ordered && !self.ordered {
            return unsuited(
                "operation",
                "cannot combine in rank order, which an operation that does not commute needs".into(),
            );
        }
        if call.ordered && parameters.symmetrized {
            return unsuited("symmetrized", "combines in rank order only one dimension at a time".into());
        }
        // What goes a way round comes after what arrives in its round straight, and the order would be lost.
        let link = call.avoid.as_ref().and_then(|avoid| avoid.links().next());
        if let (true, PortModel::AllPorts, Some((a, b))) = (call.ordered, parameters.ports, link) {
            let why = format!("combines in rank order only one port at a time while the link {a}-{b} is avoided");
            return unsuited("ports", why);
        }
        let known = call.layout.as_ref().map_or(Known::All, Layout::known);
        if !self.needs(call, parameters).are(known) {
            let why = match (parameters.packet, &call.avoid) {
                (None, None) => "passes blocks on, whose lengths this rank does not know",
                (Some(_), _) => "cuts into packets only where all ranks know the lengths of all blocks",
                (None, Some(_)) => {
                    "goes round links that are avoided only where all ranks know the lengths of all blocks"
                }
            };
            return unsuited("lengths", why.into());
        }
        (self.suits)(call, parameters).or_else(|(argument, why)| unsuited(argument, why))
    }
}
