//! Calls with blocks of different lengths: what their arguments have to be, and how ranks come to know the lengths that they need.
//!
//! As in MPI, a rank passes the lengths that it has: of an all-gather and a reduce-scatter those of all blocks, of an all-to-all those of
//! the blocks that it sends and receives, of a scatter and a gather those of all blocks on the root, and that of its own elsewhere.
//! [`crate::collective::Layout`] says what an algorithm must know.
//!
//! What is to be done where only the root of a scatter or gather knows the lengths, ranks decide alike by what they all know, which is
//! the machine and what was asked for:
//! * In shared memory, and where a rank has one port, nothing is gained by a tree but for short blocks on very many ranks: the root talks
//!   to every rank itself (`direct`), for which a rank needs no length but its own. Nothing goes ahead.
//! * Where all ports work at once, where links are avoided, or another algorithm or a packet was asked for, the root tells all ranks the sum and the longest
//!   first, by which they choose alike. Then the lengths go ahead down the tree of the choice: a rank is told those of the blocks that
//!   pass through it, as it will be sent them. If messages are cut into packets or go round links, so that a rank must know all, it is told all.
//!
//! So much waiting is not for a call that is only started: it goes the direct way, or is refused.

use super::prepared::{length, AllGather, AllToAll, Gather, Prepared, ReduceScatter, Scatter};
use super::{Hypercube, Process};
use crate::algorithm::{registry, Lengths, PortModel};
use crate::buffer::{Buffer, BufferMut};
use crate::collective::{Call, Collective, Known, Layout};
use crate::engine::arguments::{Arguments, Held};
use crate::error::{Error, Result};
use crate::operation::Reduction;
use crate::partition::{Count, Partitioned, PartitionedMut, Places};
use crate::raw::request::{Persistent, Request, Scope};
use crate::raw::{lent, lent_mut};
use crate::select::{Choice, Options};
use bytemuck::Pod;
use std::panic::Location;

type At = &'static Location<'static>;

/// Whether a call may wait before it starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// What one rank says of the lengths of a scatter or gather.
struct Said<'s> {
    /// Of all blocks, on the root.
    all: Option<&'s Places>,
    /// Of the rank's own.
    own: usize,
    /// The buffer of the rank's own block.
    argument: &'static str,
}

impl AllGather<'_> {
    fn made_varcount<'b, T: Pod>(
        &mut self,
        at: At,
        send: &'b [T],
        receive: &'b mut [T],
        places: &Places,
    ) -> Result<Arguments<'b>> {
        places.check("receive", self.0.call.size, receive.len(), true)?;
        length("send", send.len(), places.counts()[self.0.cube.rank], "this rank's block of receive")?;
        self.0.call.layout = Some(of_all(places.counts(), None, Some(places)));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths; see [`Hypercube::all_gather_varcount_into`].
    ///
    /// # Errors
    /// [`Error::Partition`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        let (at, places) = (Location::caller(), receive.places());
        let arguments = self.made_varcount(at, send.elements(), receive.elements_mut(), &places);
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is all of `receive`, its blocks and what lies between them.
    ///
    /// # Errors
    /// As for `run_varcount`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start_varcount<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, [S::Element], Sc>>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, places) = (Location::caller(), receive.places());
        let (data, receive) = lent_mut(receive.elements_mut());
        let arguments = self.made_varcount(at, send.elements(), receive, &places);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Pod, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut R,
    ) -> Result<Persistent<'a, [T], [T], Sc>>
    where
        R: PartitionedMut<Element = T> + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, places) = (Location::caller(), receive.places());
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive.elements_mut()));
        let arguments = self.made_varcount(at, send, receive, &places);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl AllToAll<'_> {
    fn made_varcount<'b, T: Pod>(
        &mut self,
        at: At,
        (send, sent): (&'b [T], &Places),
        (receive, received): (&'b mut [T], &Places),
    ) -> Result<Arguments<'b>> {
        let (rank, size) = (self.0.cube.rank, self.0.call.size);
        sent.check("send", size, send.len(), false)?;
        received.check("receive", size, receive.len(), true)?;
        length("receive", received.counts()[rank], sent.counts()[rank], "as this rank sends to itself")?;
        let layout = Layout::of_row(rank, sent.counts(), received.counts());
        self.0.call.layout = Some(placed(layout, Some(sent), Some(received)));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths; see [`Hypercube::all_to_all_varcount_into`].
    ///
    /// # Errors
    /// [`Error::Partition`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        let (at, sent, received) = (Location::caller(), send.places(), receive.places());
        let arguments = self.made_varcount(at, (send.elements(), &sent), (receive.elements_mut(), &received));
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is all of `receive`, its blocks and what lies between them.
    ///
    /// # Errors
    /// As for `run_varcount`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start_varcount<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'a, [S::Element], Sc>>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, sent, received) = (Location::caller(), send.places(), receive.places());
        let (data, receive) = lent_mut(receive.elements_mut());
        let arguments = self.made_varcount(at, (send.elements(), &sent), (receive, &received));
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Pod, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<Persistent<'a, [T], [T], Sc>>
    where
        S: PartitionedMut<Element = T> + ?Sized,
        R: PartitionedMut<Element = T> + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, sent, received) = (Location::caller(), send.places(), receive.places());
        let ((from, send), (into, receive)) = (lent_mut(send.elements_mut()), lent_mut(receive.elements_mut()));
        let arguments = self.made_varcount(at, (send, &sent), (receive, &received));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl ReduceScatter<'_> {
    fn made_varcount<'b, T: Pod, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        send: &'b [T],
        receive: &'b mut [T],
        counts: &[usize],
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        length("counts", counts.len(), self.0.call.size, "one count a rank")?;
        let all = counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count));
        length("send", send.len(), all, "the sum of the counts")?;
        length("receive", receive.len(), counts[self.0.cube.rank], "this rank's count")?;
        super::forms::reduces(&mut self.0, operation.get())?;
        self.0.call.layout = Some(of_all(counts, None, None));
        Ok(Arguments::reducing(at, self.0.longest(), send, receive, operation))
    }

    /// Runs it with blocks of different lengths; see [`Hypercube::reduce_scatter_into`].
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Operation`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R, I, O>(mut self, send: &S, receive: &mut R, counts: &[I], operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        I: Count,
        O: Reduction<S::Element>,
    {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let (send, receive) = (send.elements(), receive.elements_mut());
        let arguments = self.made_varcount(at, send, receive, &counts, Held::Lent(&operation));
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `receive`.
    ///
    /// # Errors
    /// As for `run_varcount`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start_varcount<'a, S, R, I, O, Sc>(
        mut self,
        scope: Sc,
        send: &'a S,
        receive: &'a mut R,
        counts: &[I],
        operation: O,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        I: Count,
        O: Reduction<S::Element> + 'a,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let (data, receive) = lent_mut(receive);
        let arguments = self.made_varcount(at, send.elements(), receive, &counts, Held::Own(operation));
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Pod, I: Count, O: Reduction<T> + 'a, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut [T],
        counts: &[I],
        operation: O,
    ) -> Result<Persistent<'a, [T], [T], Sc>> {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive));
        let arguments = self.made_varcount(at, send, receive, &counts, Held::Own(operation));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Scatter<'_> {
    fn made_varcount<'b, T: Pod>(
        &mut self,
        at: At,
        send: Option<(&'b [T], &Places)>,
        receive: &'b mut [T],
        waits: Waits,
    ) -> Result<Arguments<'b>> {
        let (send, places) = of_root(&self.0, send.map(|(send, places)| (send, Some(places))), "send", false)?;
        let said = Said { all: places, own: receive.len(), argument: "receive" };
        let layout = self.0.informed(at, &said, size_of::<T>(), waits)?;
        self.0.call.layout = Some(placed(layout, places, None));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths: `send` on the root only (elsewhere `None`, and ignored), `receive` on all ranks, as long as
    /// the rank's block; see [`Process::scatter_varcount_into_root`].
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Partition`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: Option<&S>, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let at = Location::caller();
        let send = send.map(|send| (send.elements(), send.places()));
        let send = send.as_ref().map(|(send, places)| (*send, places));
        let arguments = self.made_varcount(at, send, receive.elements_mut(), Waits::Yes);
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `receive`. Only the direct way needs no lengths of other ranks' blocks, which would have to be told
    /// before: other algorithms are refused.
    ///
    /// # Errors
    /// As for `run_varcount`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start_varcount<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: Option<&'a S>,
        receive: &'a mut R,
    ) -> Result<Request<'a, R, Sc>>
    where
        S: Partitioned + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let send = send.map(|send| (send.elements(), send.places()));
        let send = send.as_ref().map(|(send, places)| (*send, places));
        let (data, receive) = lent_mut(receive);
        let arguments = self.made_varcount(at, send, receive, Waits::No);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths, of which ranks tell each other now what they have to; `send` is that of the
    /// root, and `None` elsewhere.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Pod, S, Sc>(
        mut self,
        scope: Sc,
        send: Option<&'a mut S>,
        receive: &'a mut [T],
    ) -> Result<Persistent<'a, [T], [T], Sc>>
    where
        S: PartitionedMut<Element = T> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (places, send) = send.map(|send| (send.places(), send.elements_mut())).unzip();
        let ((from, send), (into, receive)) = (lent_mut(send.unwrap_or_default()), lent_mut(receive));
        let send = places.as_ref().map(|places| (&*send, places));
        let arguments = self.made_varcount(at, send, receive, Waits::Yes);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Gather<'_> {
    fn made_varcount<'b, T: Pod>(
        &mut self,
        at: At,
        send: &'b [T],
        receive: Option<(&'b mut [T], &Places)>,
        waits: Waits,
    ) -> Result<Arguments<'b>> {
        let (receive, places) = match receive.filter(|_| self.0.is_root()) {
            Some((receive, places)) => {
                let (_, places) = of_root(&self.0, Some((&*receive, Some(places))), "receive", true)?;
                (receive, places)
            }
            None => (&mut [][..], of_root::<T>(&self.0, None, "receive", true)?.1),
        };
        let said = Said { all: places, own: send.len(), argument: "send" };
        let layout = self.0.informed(at, &said, size_of::<T>(), waits)?;
        self.0.call.layout = Some(placed(layout, None, places));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); see
    /// [`Process::gather_varcount_into_root`].
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Partition`]; [`Error::Length`]; options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: &S, receive: Option<&mut R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        let at = Location::caller();
        let (places, receive) = receive.map(|receive| (receive.places(), receive.elements_mut())).unzip();
        let arguments = self.made_varcount(at, send.elements(), receive.zip(places.as_ref()), Waits::Yes);
        self.0.run(at, arguments)
    }

    /// Starts it; the request's data is `send`, as it is the one that every rank has. Algorithms but the direct one are refused, as in a
    /// scatter.
    ///
    /// # Errors
    /// As for `run_varcount`; what goes wrong between ranks may only be known when the request is waited for.
    #[track_caller]
    pub fn start_varcount<'a, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a S,
        receive: Option<&'a mut R>,
    ) -> Result<Request<'a, S, Sc>>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (places, receive) = receive.map(|receive| (receive.places(), receive.elements_mut())).unzip();
        let (data, send) = lent(send);
        let arguments = self.made_varcount(at, send, receive.zip(places.as_ref()), Waits::No);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths, of which ranks tell each other now what they have to; `receive` is that of
    /// the root, and `None` elsewhere.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Pod, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: Option<&'a mut R>,
    ) -> Result<Persistent<'a, [T], [T], Sc>>
    where
        R: PartitionedMut<Element = T> + ?Sized,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (places, receive) = receive.map(|receive| (receive.places(), receive.elements_mut())).unzip();
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive.unwrap_or_default()));
        let arguments = self.made_varcount(at, send, places.as_ref().map(|places| (receive, places)), Waits::Yes);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

/// The layout of blocks whose lengths all ranks know.
fn of_all(counts: &[usize], sent: Option<&Places>, received: Option<&Places>) -> Layout {
    placed(Layout::of_vectors(counts.iter().copied()), sent, received)
}

/// A layout with the displacements of this rank's buffers, where there are any.
fn placed(mut layout: Layout, sent: Option<&Places>, received: Option<&Places>) -> Layout {
    if let Some(places) = sent.and_then(Places::displacements) {
        layout = layout.sent_from(places);
    }
    if let Some(places) = received.and_then(Places::displacements) {
        layout = layout.received_at(places);
    }
    layout
}

/// What only the root passes, if this is the root.
fn of_root<'b, 'p, T: Pod>(
    prepared: &Prepared,
    passed: Option<(&'b [T], Option<&'p Places>)>,
    argument: &'static str,
    written: bool,
) -> Result<(&'b [T], Option<&'p Places>)> {
    let Call { root, size, .. } = prepared.call;
    if root >= size {
        return Err(Error::Root { root, size });
    }
    match passed.filter(|_| prepared.is_root()) {
        Some((buffer, Some(places))) => {
            places.check(argument, size, buffer.len(), written)?;
            Ok((buffer, Some(places)))
        }
        _ if prepared.is_root() => Err(Error::Partition { argument, why: "none, but the root's is needed".into() }),
        _ => Ok((&[], None)),
    }
}

impl Prepared<'_> {
    /// Elements of the longest block, as far as this rank knows.
    fn longest(&self) -> usize {
        self.call.layout.as_ref().map_or(0, Layout::longest)
    }

    /// The blocks of a scatter or gather, as this rank has to know them; see [the module](self).
    fn informed(&mut self, at: At, said: &Said, element: usize, waits: Waits) -> Result<Layout> {
        let (size, rank, root) = (self.call.size, self.cube.rank, self.call.root);
        if let Some(all) = said.all {
            length(said.argument, said.own, all.counts()[rank], "the root's block of its own")?;
        }
        let own = |known| Layout::of_some(size, known, [(rank, said.own)]);
        if size == 1 {
            return Ok(Layout::of_vectors([said.own]));
        }
        if !self.cube.goes_ahead(&self.call, element, &self.options, waits)? {
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
        let ahead = |collective: Collective| Prepared {
            call: Call { layout: None, in_place: false, ..self.cube.prepare(collective, root).call },
            options: Options::default(),
            lengths: None,
            chosen: None,
            besides: None,
            cube: self.cube,
        };
        ahead(Collective::Broadcast).run(at, Ok(Arguments::new(at, 2, &[], &mut facts)))?;
        let [sum, longest] = facts.map(|fact| fact as usize);
        let known = Known::Passing { sum, longest };
        let seen = self.call.clone().with_layout(own(Known::Summary { sum, longest }));
        let overrides = self.cube.overrides.as_ref().map_err(Clone::clone)?;
        let choice = overrides.choose(&seen, element, &self.options, &self.cube.machine)?;
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
                down.options = Options::exactly(tree, &choice.parameters);
                down.chosen = Some(Choice { algorithm: tree, ..choice.clone() });
                let counts: Vec<u64> =
                    said.all.map_or_else(Vec::new, |all| all.counts().iter().map(|&count| count as u64).collect());
                let mut told = vec![0u64; through.len()];
                down.run(at, Ok(Arguments::new(at, 1, &counts, &mut told)))?;
                let lengths = through.into_iter().zip(told.iter().map(|&told| told as usize));
                Layout::of_some(size, known, lengths)
            }
            Lengths::All => {
                let mut told: Vec<u64> = vec![0; size];
                if let Some(all) = said.all {
                    told.iter_mut().zip(all.counts()).for_each(|(told, &count)| *told = count as u64);
                }
                ahead(Collective::Broadcast).run(at, Ok(Arguments::new(at, size, &[], &mut told)))?;
                Layout::of_vectors(told.iter().map(|&told| told as usize))
            }
        };
        let block = Call { layout: Some(layout.clone()), ..self.call.clone() }.block(rank).len();
        length(said.argument, said.own, block, "what the root says of this rank's block")?;
        self.options = Options::exactly(choice.algorithm, &choice.parameters);
        self.chosen = Some(choice);
        Ok(layout)
    }
}

impl Hypercube {
    /// Whether the root tells lengths ahead: the same on all ranks.
    fn goes_ahead(&self, call: &Call, element: usize, options: &Options, waits: Waits) -> Result<bool> {
        if waits == Waits::No {
            return Ok(false);
        }
        let overrides = self.overrides.as_ref().map_err(Clone::clone)?;
        let (options, _) = overrides.merged(call.collective, element, options)?;
        if call.avoid.is_some() || options.packet.is_some() {
            return Ok(true);
        }
        Ok(match &options.algorithm {
            Some(name) => registry::find(call.collective, name)?.lengths != Lengths::Own,
            None => self.machine.shared.is_none() && self.machine.ports == PortModel::AllPorts,
        })
    }

    /// All-gather of blocks of different lengths: block r of `receive` becomes `send` of rank r.
    ///
    /// All ranks: the same counts; `send` has as many elements as the count of this rank. Displacements may differ between ranks.
    ///
    /// # Errors
    /// [`Error::Partition`]; [`Error::Length`]; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let send = vec![cube.rank(); cube.rank() + 1];
    ///     let mut receive = [9; 6];
    ///     cube.all_gather_varcount_into(&send, &mut PartitionMut::new(&mut receive, [1, 2, 3], [0, 1, 3])).unwrap();
    ///     assert_eq!(receive, [0, 1, 1, 2, 2, 2]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_gather_varcount_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        self.all_gather().run_varcount(send, receive)
    }

    /// All-to-all of blocks of different lengths: block j of `send` goes to rank j, block i of `receive` comes from rank i.
    ///
    /// All ranks: a rank's count for another one is what that one says that it receives. Blocks of `send` may overlap.
    ///
    /// # Errors
    /// [`Error::Partition`]; [`Error::Length`] if a rank's counts for itself differ; [`Error::Mismatch`], on all ranks, if two ranks'
    /// counts do; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, Partition, PartitionMut};
    /// threads::run(2, |cube| {
    ///     // To rank 0 the first element, to rank 1 all three.
    ///     let send = [10 * cube.rank(), 1, 2];
    ///     let length = [1, 3][cube.rank()];
    ///     let mut receive = vec![9; 2 * length];
    ///     let sent = Partition::new(&send, [1, 3], [0, 0]);
    ///     let mut received = PartitionMut::new(&mut receive, [length; 2], [0, length]);
    ///     cube.all_to_all_varcount_into(&sent, &mut received).unwrap();
    ///     assert_eq!(receive, [&[0, 10][..], &[0, 1, 2, 10, 1, 2]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_to_all_varcount_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        self.all_to_all().run_varcount(send, receive)
    }

    /// Reduce-scatter with blocks of different lengths: `receive` becomes this rank's block of the element-wise combination of `send` of all
    /// ranks, MPI's `MPI_Reduce_scatter`.
    ///
    /// All ranks: the same `counts`, one a rank; `send` has their sum, `receive` that of this rank.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(2, |cube| {
    ///     let send = [1, 2, 3];
    ///     let mut receive = vec![0; cube.rank() + 1];
    ///     cube.reduce_scatter_into(&send, &mut receive, &[1, 2], SystemOperation::sum()).unwrap();
    ///     assert_eq!(receive, [&[2][..], &[4, 6]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn reduce_scatter_into<S, R, I, O>(&self, send: &S, receive: &mut R, counts: &[I], operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        I: Count,
        O: Reduction<S::Element>,
    {
        self.reduce_scatter().run_varcount(send, receive, counts, operation)
    }
}

impl Process<'_> {
    /// Scatter of blocks of different lengths, on all ranks but the root: `receive` becomes this rank's block, and is as long.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; [`Error::Length`]; what goes wrong between ranks.
    #[track_caller]
    pub fn scatter_varcount_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<()> {
        self.role("scatter_varcount_into", "scatter_varcount_into_root", false)?;
        self.cube.scatter(self.rank).run_varcount(None::<&crate::Partition<[R::Element]>>, receive)
    }

    /// Scatter of blocks of different lengths, on the root: block i of `send` to rank i. The other ranks need not know the lengths but of
    /// their own block. Blocks may overlap.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Partition`]; [`Error::Length`]; [`Error::Mismatch`], on all ranks, if a rank
    /// expects a block of another length; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, Partition};
    /// threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(0);
    ///     let mut mine = vec![0; cube.rank()];
    ///     if cube.rank() == 0 {
    ///         root.scatter_varcount_into_root(&Partition::new(&[7, 8, 9], [0, 1, 2], [0, 0, 1]), &mut mine).unwrap();
    ///     } else {
    ///         root.scatter_varcount_into(&mut mine).unwrap();
    ///     }
    ///     assert_eq!(mine, [&[][..], &[7], &[8, 9]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn scatter_varcount_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.role("scatter_varcount_into_root", "scatter_varcount_into", true)?;
        self.cube.scatter(self.rank).run_varcount(Some(send), receive)
    }

    /// Gather of blocks of different lengths, on all ranks but the root: `send` becomes this rank's block.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] on the root; [`Error::Length`]; what goes wrong between ranks.
    #[track_caller]
    pub fn gather_varcount_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<()> {
        self.role("gather_varcount_into", "gather_varcount_into_root", false)?;
        self.cube.gather(self.rank).run_varcount(send, None::<&mut crate::PartitionMut<[S::Element]>>)
    }

    /// Gather of blocks of different lengths, on the root: block i of `receive` from rank i. The other ranks need not know the lengths.
    ///
    /// # Errors
    /// [`Error::Root`]; [`Error::Role`] elsewhere; [`Error::Partition`]; [`Error::Length`]; [`Error::Mismatch`], on all ranks, if a rank
    /// sends a block of another length; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(1);
    ///     let send = vec![cube.rank(); 2 - cube.rank()];
    ///     if cube.rank() == 1 {
    ///         let mut all = [9; 3];
    ///         root.gather_varcount_into_root(&send, &mut PartitionMut::new(&mut all, [2, 1, 0], [1, 0, 0])).unwrap();
    ///         assert_eq!(all, [1, 0, 0]);
    ///     } else {
    ///         root.gather_varcount_into(&send).unwrap();
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn gather_varcount_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        self.role("gather_varcount_into_root", "gather_varcount_into", true)?;
        self.cube.gather(self.rank).run_varcount(send, Some(receive))
    }
}
