//! The forms with options of calls with blocks of different lengths.

use super::{of_all, of_root, placed, At, Said, Waits};
use crate::buffer::{Buffer, BufferMut, ContiguousMut, Element, Elements, ElementsMut};
use crate::collective::Layout;
use crate::comm::prepared::{length, AllGather, AllToAll, Gather, ReduceScatter, Scatter};
use crate::engine::arguments::{Arguments, Held};
use crate::error::Result;
use crate::operation::Reduction;
use crate::partition::{Count, Partitioned, PartitionedMut, Places};
use crate::raw::request::{PersistentOf, Request, Scope};
use crate::raw::{lent, lent_mut};
use std::panic::Location;

impl AllGather<'_> {
    fn made_varcount<'b, T: Element>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: ElementsMut<'b, T>,
        places: &Places,
    ) -> Result<Arguments<'b>> {
        places.check("receive", self.0.call.size, receive.len(), true)?;
        length("send", send.len(), places.counts()[self.0.cube.rank], "this rank's block of receive")?;
        self.0.call.layout = Some(of_all(places.counts(), None, Some(places)));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths; see [`Hypercube::all_gather_varcount_into`](crate::Hypercube::all_gather_varcount_into).
    ///
    /// # Errors
    /// [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        let (at, places) = (Location::caller(), receive.places());
        let arguments = self.made_varcount(at, send.elements(), receive.buffer_mut().elements_mut(), &places);
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
    ) -> Result<Request<'a, R::Buffer, Sc>>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, places) = (Location::caller(), receive.places());
        let (data, receive) = lent_mut(receive.buffer_mut());
        let arguments = self.made_varcount(at, send.elements(), receive, &places);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Element, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        R: PartitionedMut<Element = T> + ?Sized,
        R::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        let (at, places) = (Location::caller(), receive.places());
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive.buffer_mut().slice_mut()));
        let arguments = self.made_varcount(at, send.into(), receive, &places);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl AllToAll<'_> {
    fn made_varcount<'b, T: Element>(
        &mut self,
        at: At,
        (send, sent): (Elements<'b, T>, &Places),
        (receive, received): (ElementsMut<'b, T>, &Places),
    ) -> Result<Arguments<'b>> {
        let (rank, size) = (self.0.cube.rank, self.0.call.size);
        sent.check("send", size, send.len(), false)?;
        received.check("receive", size, receive.len(), true)?;
        length("receive", received.counts()[rank], sent.counts()[rank], "as this rank sends to itself")?;
        let layout = Layout::of_row(rank, sent.counts(), received.counts());
        self.0.call.layout = Some(placed(layout, Some(sent), Some(received)));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths; see [`Hypercube::all_to_all_varcount_into`](crate::Hypercube::all_to_all_varcount_into).
    ///
    /// # Errors
    /// [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        let (at, sent, received) = (Location::caller(), send.places(), receive.places());
        let arguments =
            self.made_varcount(at, (send.buffer().elements(), &sent), (receive.buffer_mut().elements_mut(), &received));
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
    ) -> Result<Request<'a, R::Buffer, Sc>>
    where
        S: Partitioned + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, sent, received) = (Location::caller(), send.places(), receive.places());
        let (data, receive) = lent_mut(receive.buffer_mut());
        let arguments = self.made_varcount(at, (send.buffer().elements(), &sent), (receive, &received));
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount`.
    #[track_caller]
    pub fn init_varcount<'a, T: Element, S, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut S,
        receive: &'a mut R,
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        S: PartitionedMut<Element = T> + ?Sized,
        S::Buffer: ContiguousMut<Element = T>,
        R: PartitionedMut<Element = T> + ?Sized,
        R::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        let (at, sent, received) = (Location::caller(), send.places(), receive.places());
        let ((from, send), (into, receive)) =
            (lent_mut(send.buffer_mut().slice_mut()), lent_mut(receive.buffer_mut().slice_mut()));
        let arguments = self.made_varcount(at, (send.into(), &sent), (receive, &received));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl ReduceScatter<'_> {
    fn made_varcount<'b, T: Element, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: ElementsMut<'b, T>,
        counts: &[usize],
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        length("counts", counts.len(), self.0.call.size, "one count a rank")?;
        let all = counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count));
        length("send", send.len(), all, "the sum of the counts")?;
        length("receive", receive.len(), counts[self.0.cube.rank], "this rank's count")?;
        crate::comm::forms::reduces(&mut self.0, operation.get())?;
        self.0.call.layout = Some(of_all(counts, None, None));
        Ok(Arguments::reducing(at, self.0.longest(), send, receive, operation))
    }

    /// Runs it with blocks of different lengths; see [`Hypercube::reduce_scatter_into`](crate::Hypercube::reduce_scatter_into).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); [`Error::Operation`](crate::Error::Operation); options that cannot be honoured; what goes wrong between ranks.
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
    pub fn init_varcount<'a, T: Element, I: Count, O: Reduction<T> + 'a, Sc: Scope<'a>>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: &'a mut [T],
        counts: &[I],
        operation: O,
    ) -> Result<PersistentOf<'a, T, Sc>> {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive));
        let arguments = self.made_varcount(at, send.into(), receive, &counts, Held::Own(operation));
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Scatter<'_> {
    fn made_varcount<'b, T: Element>(
        &mut self,
        at: At,
        send: Option<(Elements<'b, T>, &Places)>,
        receive: ElementsMut<'b, T>,
        waits: Waits,
    ) -> Result<Arguments<'b>> {
        let send = send.filter(|_| self.0.is_root());
        let places = of_root(&self.0, send.as_ref().map(|(send, places)| (send.len(), *places)), "send", false)?;
        let send = send.map(|(send, _)| send).unwrap_or_default();
        let said = Said { all: places, own: receive.len(), argument: "receive" };
        let layout = self.0.informed(at, &said, size_of::<T>(), waits)?;
        self.0.call.layout = Some(placed(layout, places, None));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths: `send` on the root only (elsewhere `None`, and ignored), `receive` on all ranks, as long as
    /// the rank's block; see [`Process::scatter_varcount_into_root`](crate::comm::Process::scatter_varcount_into_root).
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: Option<&S>, receive: &mut R) -> Result<()>
    where
        S: Partitioned + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        let at = Location::caller();
        let (send, places) = send.map(|send| (send.buffer().elements(), send.places())).unzip();
        let send = send.zip(places.as_ref());
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
        let (send, places) = send.map(|send| (send.buffer().elements(), send.places())).unzip();
        let send = send.zip(places.as_ref());
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
    pub fn init_varcount<'a, T: Element, S, Sc>(
        mut self,
        scope: Sc,
        send: Option<&'a mut S>,
        receive: &'a mut [T],
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        S: PartitionedMut<Element = T> + ?Sized,
        S::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (places, send) = send.map(|send| (send.places(), send.buffer_mut().slice_mut())).unzip();
        let ((from, send), (into, receive)) = (lent_mut(send.unwrap_or_default()), lent_mut(receive));
        let send = places.as_ref().map(|places| (send.into(), places));
        let arguments = self.made_varcount(at, send, receive, Waits::Yes);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}

impl Gather<'_> {
    fn made_varcount<'b, T: Element>(
        &mut self,
        at: At,
        send: Elements<'b, T>,
        receive: Option<(ElementsMut<'b, T>, &Places)>,
        waits: Waits,
    ) -> Result<Arguments<'b>> {
        let receive = receive.filter(|_| self.0.is_root());
        let passed = receive.as_ref().map(|(receive, places)| (receive.len(), *places));
        let places = of_root(&self.0, passed, "receive", true)?;
        let receive = receive.map(|(receive, _)| receive).unwrap_or_default();
        let said = Said { all: places, own: send.len(), argument: "send" };
        let layout = self.0.informed(at, &said, size_of::<T>(), waits)?;
        self.0.call.layout = Some(placed(layout, None, places));
        Ok(Arguments::new(at, self.0.longest(), send, receive))
    }

    /// Runs it with blocks of different lengths: `send` on all ranks, `receive` on the root only (elsewhere `None`, and ignored); see
    /// [`Process::gather_varcount_into_root`](crate::comm::Process::gather_varcount_into_root).
    ///
    /// # Errors
    /// [`Error::Root`](crate::Error::Root); [`Error::Partition`](crate::Error::Partition); [`Error::Length`](crate::Error::Length); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount<S, R>(mut self, send: &S, receive: Option<&mut R>) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: PartitionedMut<Element = S::Element> + ?Sized,
    {
        let at = Location::caller();
        let (places, receive) = receive.map(|receive| (receive.places(), receive.buffer_mut().elements_mut())).unzip();
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
        let (places, receive) = receive.map(|receive| (receive.places(), receive.buffer_mut().elements_mut())).unzip();
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
    pub fn init_varcount<'a, T: Element, R, Sc>(
        mut self,
        scope: Sc,
        send: &'a mut [T],
        receive: Option<&'a mut R>,
    ) -> Result<PersistentOf<'a, T, Sc>>
    where
        R: PartitionedMut<Element = T> + ?Sized,
        R::Buffer: ContiguousMut<Element = T>,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let (places, receive) = receive.map(|receive| (receive.places(), receive.buffer_mut().slice_mut())).unzip();
        let ((from, send), (into, receive)) = (lent_mut(send), lent_mut(receive.unwrap_or_default()));
        let arguments =
            self.made_varcount(at, send.into(), places.as_ref().map(|places| (receive, places)), Waits::Yes);
        self.0.persistent(at, scope, arguments, (from, into))
    }
}
