//! How ranks come to know the lengths that they need of a scatter or gather.

use super::{of_all, At, Said, Waits};
use crate::algorithm::{registry, Lengths, PortModel};
use crate::collective::{Call, Collective, Known, Layout};
use crate::comm::prepared::{length, Prepared};
use crate::comm::Hypercube;
use crate::engine::arguments::Arguments;
use crate::error::Result;
use crate::select::{Choice, Options};

impl Prepared<'_> {
    /// Elements of the longest block, as far as this rank knows.
    pub(super) fn longest(&self) -> usize {
        self.call.layout.as_ref().map_or(0, Layout::longest)
    }

    /// The blocks of a scatter or gather, as this rank has to know them; see [the module](super).
    pub(super) fn informed(&mut self, at: At, said: &Said, element: usize, waits: Waits) -> Result<Layout> {
        let (size, rank, root) = (self.call.size, self.cube.rank, self.call.root);
        if let Some(all) = said.all {
            length(said.argument, said.own, all.counts()[rank], "the root's block of its own")?;
        }
        let own = |known| Layout::of_some(size, known, [(rank, said.own)]);
        if size == 1 {
            return Ok(Layout::of_vectors([said.own]));
        }
        let options = self.options().cloned().unwrap_or_default();
        if !self.cube.goes_ahead(&self.call, element, &options, waits)? {
            return Ok(match said.all {
                Some(all) => of_all(all.counts(), None, None).knowing(Known::Own),
                None => own(Known::Own),
            });
        }
        let mut facts = [0u64; 2];
        if let Some(all) = said.all {
            let sum = all.counts().iter().fold(0usize, |sum, &count| sum.saturating_add(count));
            facts = [sum as u64, all.counts().iter().copied().max().unwrap_or(0) as u64];
        }
        // What goes ahead is of calls of their own.
        let ahead = |collective: Collective| {
            let mut call = self.cube.prepare(collective, root);
            // Packets that the environment asks for need not hold a length.
            call.asked().options.packet = Some(Options::WHOLE);
            call
        };
        ahead(Collective::Broadcast).run(at, Ok(Arguments::new(at, 2, &[], &mut facts)))?;
        let [sum, longest] = facts.map(|fact| fact as usize);
        let known = Known::Passing { sum, longest };
        let seen = self.call.clone().with_layout(own(Known::Summary { sum, longest }));
        let overrides = self.cube.overrides.as_ref().map_err(Clone::clone)?;
        let choice = overrides.choose(&seen, element, &options, &self.cube.machine)?;
        let layout = match choice.algorithm.needs(&seen, &choice.parameters) {
            Lengths::Own => match said.all {
                Some(all) => of_all(all.counts(), None, None).knowing(known),
                None => own(known),
            },
            Lengths::Passing => {
                let mut down = ahead(Collective::Scatter);
                // The same tree, by the same name.
                let tree = registry::find(Collective::Scatter, choice.algorithm.name)?;
                let through = tree.passing(&down.call, &choice.parameters, rank);
                let units = through.iter().map(|&block| (block, 1));
                let all = Known::Passing { sum: size, longest: 1 };
                down.call.layout = Some(Layout::of_some(size, all, units).keeping());
                down.asked().options = Options::exactly(tree, &choice.parameters);
                down.asked().chosen = Some(Choice { algorithm: tree, ..choice.clone() });
                let counts: Vec<u64> =
                    said.all.map_or_else(Vec::new, |all| all.counts().iter().map(|&count| count as u64).collect());
                let mut told = vec![0u64; through.len()];
                down.run(at, Ok(Arguments::new(at, 1, &counts[..], &mut told[..])))?;
                let lengths = through.into_iter().zip(told.iter().map(|&told| told as usize));
                Layout::of_some(size, known, lengths)
            }
            Lengths::All => {
                let mut told: Vec<u64> = vec![0; size];
                if let Some(all) = said.all {
                    told.iter_mut().zip(all.counts()).for_each(|(told, &count)| *told = count as u64);
                }
                ahead(Collective::Broadcast).run(at, Ok(Arguments::new(at, size, &[], &mut told[..])))?;
                Layout::of_vectors(told.iter().map(|&told| told as usize))
            }
        };
        let block = Call { layout: Some(layout.clone()), ..self.call.clone() }.block(rank).len();
        length(said.argument, said.own, block, "what the root says of this rank's block")?;
        self.asked().options = Options::exactly(choice.algorithm, &choice.parameters);
        self.asked().chosen = Some(choice);
        Ok(layout)
    }
}

impl Hypercube {
    /// Whether the root tells lengths ahead: the same on all ranks.
    pub(super) fn goes_ahead(&self, call: &Call, element: usize, options: &Options, waits: Waits) -> Result<bool> {
        if waits == Waits::No {
            return Ok(false);
        }
        let overrides = self.overrides.as_ref().map_err(Clone::clone)?;
        let (options, _) = overrides.merged(call.collective, element, options)?;
        if call.avoid.is_some() || options.packet.is_some_and(|packet| packet != Options::WHOLE) {
            return Ok(true);
        }
        Ok(match &options.algorithm {
            Some(name) => registry::find(call.collective, name)?.lengths != Lengths::Own,
            None => self.machine.shared.is_none() && self.machine.ports == PortModel::AllPorts,
        })
    }
}
