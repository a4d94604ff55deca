//! The arguments of one call, for every subcommand that takes one apart.

use crate::Failure;
use clap::builder::RangedU64ValueParser;
use hypercoll::address::Hosts;
use hypercoll::algorithm::{Algorithm, Latency, Order, Parameters, PortModel};
use hypercoll::collective::{check_permutation, Call, Collective, Permutation};
use hypercoll::schedule::Avoided;
use hypercoll::select::Options;
use hypercoll::topology::sbnt::Variant;
use std::ops::RangeInclusive;

/// Ranks of a call that is looked at and not made, and of one of its hosts.
pub const RANKS: RangeInclusive<u64> = 1..=1 << 20;

/// The count that is asked for; a barrier has none.
pub fn count(collective: Collective, count: Option<usize>) -> Result<usize, Failure> {
    let count = count.or((!collective.has_data()).then_some(0));
    count.ok_or_else(|| Failure::Usage(format!("count: {collective} needs --count")))
}

/// What a call is, apart from its collective, the number of ranks and the count. What is left open becomes the first of a few
/// usual choices that the algorithm serves.
#[derive(clap::Args, Default)]
pub struct CallArgs {
    /// Root; of a send or an exchange, the first rank
    #[arg(long, default_value_t = 0)]
    root: usize,
    /// The other rank of a send or an exchange (default: the farthest from the root that the algorithm serves)
    #[arg(long)]
    peer: Option<usize>,
    /// Permutation of the ranks: the target of rank 0, 1, ... (default: reversal, or another that the algorithm serves)
    #[arg(long, value_delimiter = ',')]
    permutation: Option<Vec<usize>>,
    /// Columns of the grid of a transposition or turn of submatrices (default: as square as powers of two allow)
    #[arg(long)]
    columns: Option<usize>,
    /// Links that must carry nothing, as pairs of ranks: 0-1,5-7
    #[arg(long, value_delimiter = ',', value_parser = link)]
    avoid: Vec<(usize, usize)>,
    /// The ranks of each host, where hosts have several: 4,4,2
    #[arg(long, value_delimiter = ',', value_parser = RangedU64ValueParser::<usize>::new().range(RANKS))]
    hosts: Vec<usize>,
    /// With --hosts: ranks go to the hosts in turn, and not host after host
    #[arg(long, requires = "hosts")]
    by_node: bool,
    /// In place (all-gather, all-reduce, reduce)
    #[arg(long)]
    in_place: bool,
    /// The operation of a reduction does not commute
    #[arg(long)]
    ordered: bool,
    /// Packet size in elements
    #[arg(long)]
    packet: Option<usize>,
    /// Port model: one-way, one-port, all-ports (default: the widest that the algorithm serves; for explain, the machine's)
    #[arg(long)]
    ports: Option<PortModel>,
    /// All dimensions at once (true) or one at a time (false)
    #[arg(long)]
    symmetrized: Option<bool>,
    /// Order of a scatter's or gather's blocks: subtrees, cyclic, postorder, reverse-breadth-first, gray-code
    #[arg(long)]
    order: Option<Order>,
    /// Which SBnT: min-right, max-left, min-left-reversed, max-right-reversed
    #[arg(long)]
    variant: Option<Variant>,
    /// For how many start-ups of latency a tree is made, between hosts and within one, as 6,3
    #[arg(long, value_name = "FAR,NEAR")]
    latency: Option<Latency>,
}

impl CallArgs {
    /// The call and its parameters; `ports` is the model to prefer if the user names none.
    ///
    /// # Errors
    /// A message that names the argument at fault.
    pub fn resolve(
        &self,
        algorithm: &Algorithm,
        size: usize,
        count: usize,
        ports: Option<PortModel>,
    ) -> Result<(Call, Parameters), Failure> {
        let collective = algorithm.collective;
        let mut refusal = None;
        // The call that the user names or would expect first; a port model that suits it before another call.
        for call in self.calls(collective, size, count)? {
            for parameters in self.parameters(algorithm, ports) {
                match algorithm.accepts(&call, &parameters) {
                    Ok(()) => return Ok((call, parameters)),
                    Err(why) => refusal = refusal.or(Some(why)),
                }
            }
        }
        Err(Failure::Usage(refusal.map_or_else(String::new, |why| why.to_string())))
    }

    /// The ranks of all hosts, where hosts are told of.
    pub fn ranks(&self) -> Option<usize> {
        (!self.hosts.is_empty()).then(|| self.hosts.iter().sum())
    }

    /// Whether ranks are told to be on several hosts.
    pub fn is_spread(&self) -> bool {
        self.hosts.len() > 1
    }

    /// The call that the user would expect first, and what is asked of it, for a subcommand that takes no algorithm or leaves the
    /// parameters open.
    ///
    /// # Errors
    /// A message that names the argument at fault.
    pub fn open(&self, collective: Collective, size: usize, count: usize) -> Result<(Call, Options), Failure> {
        let call = self.calls(collective, size, count)?.into_iter().next();
        let call = call.ok_or_else(|| Failure::Usage(format!("size: no usual {collective} on {size} ranks")))?;
        let Self { packet, ports, symmetrized, order, variant, latency, .. } = self;
        let options = Options {
            algorithm: None,
            packet: *packet,
            ports: *ports,
            symmetrized: *symmetrized,
            order: *order,
            variant: *variant,
            latency: *latency,
        };
        Ok((call, options))
    }

    fn check(&self, collective: Collective, size: usize) -> Result<(), Failure> {
        let refuse = |why: String| Err(Failure::Usage(why));
        if self.root >= size || !collective.has_root() && self.root > 0 {
            return refuse(format!("root: {} is no root of {collective} on {size} ranks", self.root));
        }
        if let Some(peer) = self.peer.filter(|&peer| peer >= size || !collective.has_peer()) {
            return refuse(format!("peer: {peer} is no peer of {collective} on {size} ranks"));
        }
        let permutation = collective.meaning().permutation;
        if self.permutation.is_some() && permutation != Some(Permutation::Any) {
            return refuse(format!("permutation: {collective} has none to choose"));
        }
        if let Some(columns) = self.columns {
            if !matches!(permutation, Some(Permutation::Grid { .. })) {
                return refuse(format!("columns: {collective} has no grid of ranks"));
            }
            if columns == 0 || !size.is_multiple_of(columns) {
                return refuse(format!("columns: {size} ranks make no grid with {columns} columns"));
            }
        }
        if !self.hosts.is_empty() {
            if !collective.knows_hosts() || !self.avoid.is_empty() {
                return refuse(format!(
                    "hosts: {collective} makes no difference between them, nor does it with --avoid"
                ));
            }
            if let Some(ranks) = self.ranks().filter(|&ranks| ranks != size) {
                return refuse(format!("hosts: they have {ranks} ranks together, not {size}"));
            }
        }
        if self.in_place && !collective.has_in_place() {
            return refuse(format!("in-place: {collective} has no such form"));
        }
        if self.ordered && !collective.reduces() {
            return refuse(format!("ordered: {collective} has no operation"));
        }
        Ok(())
    }

    /// The calls to consider, checked: one if the user leaves nothing open.
    fn calls(&self, collective: Collective, size: usize, count: usize) -> Result<Vec<Call>, Failure> {
        self.check(collective, size)?;
        let calls = self.unchecked(collective, size, count)?;
        calls.iter().try_for_each(Call::check).map_err(|error| error.to_string())?;
        Ok(calls)
    }

    fn unchecked(&self, collective: Collective, size: usize, count: usize) -> Result<Vec<Call>, Failure> {
        let mut call = Call::new(collective, size, count).with_root(self.root);
        (call.in_place, call.ordered) = (self.in_place, self.ordered);
        call.hosts = Hosts::with_ranks(&self.hosts, self.by_node);
        if !self.avoid.is_empty() {
            call.avoid = Some(Avoided::new(size, &self.avoid).map_err(|error| format!("avoid: {error}"))?);
        }
        if let Some(columns) = self.columns {
            call = call.with_grid(columns);
        }
        if let Some(permutation) = &self.permutation {
            check_permutation(permutation, size).map_err(|error| error.to_string())?;
            call.permutation = Some(permutation.as_slice().into());
        }
        if let Some(peer) = self.peer {
            call.peer = peer;
        } else if collective.has_peer() {
            // As far away as the cube allows, a step less, a neighbour.
            let near = [size.next_power_of_two() - 1, size.next_power_of_two() / 2 - usize::from(size > 1), 1];
            let mut peers: Vec<usize> = near.iter().map(|mask| self.root ^ mask).filter(|&peer| peer < size).collect();
            peers.push(size - 1 - self.root);
            return Ok(peers.into_iter().map(|peer| Call { peer, ..call.clone() }).collect());
        } else if collective.meaning().permutation == Some(Permutation::Any) && self.permutation.is_none() {
            // Reversal; if that is no translation, an exchange of neighbours may be one, and the identity is.
            let targets: [Box<dyn Fn(usize) -> usize>; 3] =
                [Box::new(|rank| size - 1 - rank), Box::new(|rank| (rank ^ 1).min(size - 1)), Box::new(|rank| rank)];
            let permutations = targets.iter().map(|target| (0..size).map(target).collect::<Vec<_>>());
            let calls = permutations.filter(|permutation| check_permutation(permutation, size).is_ok());
            return Ok(calls.map(|p| Call { permutation: Some(p.into()), ..call.clone() }).collect());
        }
        Ok(vec![call])
    }

    /// The parameters to consider.
    fn parameters(&self, algorithm: &Algorithm, preferred: Option<PortModel>) -> Vec<Parameters> {
        // Without a word the widest model that the algorithm serves: for the papers' algorithms, all ports.
        let mut models: Vec<PortModel> = match self.ports {
            Some(ports) => vec![ports],
            None => algorithm.ports.to_vec(),
        };
        models.sort_by_key(|&ports| {
            let plain = self.symmetrized == Some(false) && algorithm.symmetrizes && ports == PortModel::AllPorts;
            (Some(ports) != preferred, plain, std::cmp::Reverse(ports))
        });
        let with = |ports| {
            let usual = algorithm.symmetrizes && ports == PortModel::AllPorts && !self.ordered;
            Parameters {
                packet: self.packet,
                symmetrized: self.symmetrized.unwrap_or(usual),
                order: self.order,
                variant: self.variant.unwrap_or_default(),
                latency: self.latency.unwrap_or_default(),
                ..Parameters::new(ports)
            }
        };
        models.into_iter().map(with).collect()
    }
}

/// A link as `rank-rank`.
fn link(text: &str) -> Result<(usize, usize), String> {
    let ends = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    ends.ok_or_else(|| format!("'{text}' names no link; a link is two ranks, as 0-1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypercoll::algorithm::registry::ALGORITHMS;

    /// Every row of the registry serves a call of which nothing but its size is said.
    #[test]
    fn nothing_need_be_said() {
        for algorithm in ALGORITHMS {
            for size in [1, 2, 4, 8, 16, 64] {
                for count in [0, 1, 60] {
                    let case = format!("{algorithm:?} on {size} ranks, {count} elements");
                    match CallArgs::default().resolve(algorithm, size, count, None) {
                        Ok(_) => {}
                        Err(Failure::Usage(why) | Failure::Found(why)) => {
                            assert!(why.starts_with("size: "), "{case}: {why}")
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_widest_port_model_unless_one_is_preferred() {
        let msbt = hypercoll::algorithm::registry::find(Collective::Broadcast, "msbt").expect("msbt");
        let ports = |preferred| {
            let resolved = CallArgs::default().resolve(msbt, 8, 60, preferred);
            resolved.ok().map(|(_, parameters)| parameters.ports)
        };
        assert_eq!(ports(None), Some(PortModel::AllPorts));
        assert_eq!(ports(Some(PortModel::OneWay)), Some(PortModel::OneWay));
    }
}
