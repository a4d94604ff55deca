//! In place, with blocks of different lengths: one buffer that is sent and received into.

use super::{of_all, of_root, placed, At, Said, Waits};
use crate::buffer::{Buffer, BufferMut, ContiguousMut, Element, Elements, ElementsMut};
use crate::collective::Layout;
use crate::comm::forms::{only_root, reduces};
use crate::comm::prepared::{length, AllGather, AllToAll, Gather, ReduceScatter, Scatter};
use crate::comm::{Hypercube, Process};
use crate::engine::arguments::{Arguments, Held};
use crate::error::Result;
use crate::operation::Reduction;
use crate::partition::{Count, Partitioned, PartitionedMut, Places};
use crate::raw::request::{Persistent, Request, Scope};
use crate::raw::{lent, lent_mut};
use std::panic::Location;
use std::ptr::NonNull;

/// A call of which every rank in place passes one buffer made of blocks.
macro_rules! blocks_in_place {
    ($($name:ident $call:literal,)*) => {$(
        impl $name<'_> {
            #[doc = concat!("Runs it in place with blocks of different lengths; see [`", $call, "`](crate::", $call, ").")]
            ///
            /// # Errors
            /// [`Error::Role`](crate::Error::Role) where only the root is in place; [`Error::Partition`](crate::Error::Partition); options that cannot be
            /// honoured; what goes wrong between ranks.
            #[track_caller]
            pub fn run_varcount_in_place<R: PartitionedMut + ?Sized>(mut self, blocks: &mut R) -> Result<()> {
                let (at, places) = (Location::caller(), blocks.places());
                let arguments = self.made_varcount_in_place(at, blocks.buffer_mut().elements_mut(), &places, Waits::Yes);
                self.0.run(at, arguments)
            }

            /// Starts it in place; the request's data is all of `blocks`, and what lies between them.
            ///
            /// # Errors
            /// As for `run_varcount_in_place`, and as for `start_varcount`.
            #[track_caller]
            pub fn start_varcount_in_place<'a, R, Sc>(
                mut self,
                scope: Sc,
                blocks: &'a mut R,
            ) -> Result<Request<'a, R::Buffer, Sc>>
            where
                R: PartitionedMut + ?Sized,
                Sc: Scope<'a>,
            {
                let (at, places) = (Location::caller(), blocks.places());
                let (data, blocks) = lent_mut(blocks.buffer_mut());
                let arguments = self.made_varcount_in_place(at, blocks, &places, Waits::No);
                self.0.request(at, scope, arguments, data)
            }

            /// Makes it to be started again and again in place, with these lengths.
            ///
            /// # Errors
            /// As for `run_varcount_in_place`.
            #[track_caller]
            pub fn init_varcount_in_place<'a, R, Sc>(
                mut self,
                scope: Sc,
                blocks: &'a mut R,
            ) -> Result<Persistent<'a, (), [R::Element], Sc>>
            where
                R: PartitionedMut + ?Sized,
                R::Buffer: ContiguousMut<Element = R::Element>,
                Sc: Scope<'a>,
            {
                let (at, places) = (Location::caller(), blocks.places());
                let (data, blocks) = lent_mut(blocks.buffer_mut().slice_mut());
                let arguments = self.made_varcount_in_place(at, blocks, &places, Waits::Yes);
                self.0.persistent(at, scope, arguments, (NonNull::dangling().as_ptr(), data))
            }
        }
    )*};
}

blocks_in_place! {
    AllGather "Hypercube::all_gather_varcount_in_place",
    AllToAll "Hypercube::all_to_all_varcount_in_place",
    Gather "comm::Process::gather_varcount_in_place_root",
}

impl AllGather<'_> {
    fn made_varcount_in_place<'b, T: Element>(
        &mut self,
        at: At,
        blocks: ElementsMut<'b, T>,
        places: &Places,
        _: Waits,
    ) -> Result<Arguments<'b>> {
        places.check("blocks", self.0.call.size, blocks.len(), true)?;
        self.0.call.in_place = true;
        self.0.call.layout = Some(of_all(places.counts(), None, Some(places)));
        Ok(Arguments::new(at, self.0.longest(), Elements::default(), blocks))
    }
}

impl AllToAll<'_> {
    fn made_varcount_in_place<'b, T: Element>(
        &mut self,
        at: At,
        blocks: ElementsMut<'b, T>,
        places: &Places,
        _: Waits,
    ) -> Result<Arguments<'b>> {
        places.check("blocks", self.0.call.size, blocks.len(), true)?;
        self.0.copied_in_place();
        let layout = Layout::of_row(self.0.cube.rank, places.counts(), places.counts());
        self.0.call.layout = Some(placed(layout, Some(places), Some(places)));
        Ok(Arguments::new(at, self.0.longest(), blocks.copied(), blocks))
    }
}

impl Gather<'_> {
    fn made_varcount_in_place<'b, T: Element>(
        &mut self,
        at: At,
        blocks: ElementsMut<'b, T>,
        places: &Places,
        waits: Waits,
    ) -> Result<Arguments<'b>> {
        only_root(&self.0, "gather in place")?;
        let places = of_root(&self.0, Some((blocks.len(), places)), "blocks", true)?;
        let own = places.map_or(0..0, |places| places.block(self.0.call.root));
        let said = Said { all: places, own: own.len(), argument: "blocks" };
        let layout = self.0.informed(at, &said, size_of::<T>(), waits)?;
        self.0.call.layout = Some(placed(layout, None, places));
        Ok(Arguments::new(at, self.0.longest(), blocks.copied_part(own), blocks))
    }
}

impl Scatter<'_> {
    fn made_varcount_in_place<'b, T: Element>(
        &mut self,
        at: At,
        blocks: Elements<'b, T>,
        places: &Places,
        waits: Waits,
    ) -> Result<Arguments<'b>> {
        only_root(&self.0, "scatter in place")?;
        let places = of_root(&self.0, Some((blocks.len(), places)), "blocks", false)?;
        let own = places.map_or(0, |places| places.counts()[self.0.call.root]);
        let said = Said { all: places, own, argument: "blocks" };
        let layout = self.0.informed(at, &said, size_of::<T>(), waits)?;
        self.0.call.layout = Some(placed(layout, places, None));
        Ok(Arguments::new(at, self.0.longest(), blocks, ElementsMut::nowhere(own)))
    }

    /// Runs it in place with blocks of different lengths, on the root only; see
    /// [`Process::scatter_varcount_in_place_root`]. The other ranks call `run_varcount`.
    ///
    /// # Errors
    /// [`Error::Role`](crate::Error::Role) elsewhere; [`Error::Partition`](crate::Error::Partition); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount_in_place<S: Partitioned + ?Sized>(mut self, blocks: &S) -> Result<()> {
        let (at, places) = (Location::caller(), blocks.places());
        let arguments = self.made_varcount_in_place(at, blocks.buffer().elements(), &places, Waits::Yes);
        self.0.run(at, arguments)
    }

    /// Starts it in place, on the root only; the request's data is all of `blocks`, and what lies between them.
    ///
    /// # Errors
    /// As for `run_varcount_in_place`, and as for `start_varcount`.
    #[track_caller]
    pub fn start_varcount_in_place<'a, S, Sc>(mut self, scope: Sc, blocks: &'a S) -> Result<Request<'a, S::Buffer, Sc>>
    where
        S: Partitioned + ?Sized,
        Sc: Scope<'a>,
    {
        let (at, places) = (Location::caller(), blocks.places());
        let (data, blocks) = lent(blocks.buffer());
        let arguments = self.made_varcount_in_place(at, blocks, &places, Waits::No);
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again in place, on the root only, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount_in_place`.
    #[track_caller]
    pub fn init_varcount_in_place<'a, S, Sc>(
        mut self,
        scope: Sc,
        blocks: &'a mut S,
    ) -> Result<Persistent<'a, [S::Element], (), Sc>>
    where
        S: PartitionedMut + ?Sized,
        S::Buffer: ContiguousMut<Element = S::Element>,
        Sc: Scope<'a>,
    {
        let (at, places) = (Location::caller(), blocks.places());
        let (data, blocks) = lent_mut(blocks.buffer_mut().slice_mut());
        let arguments = self.made_varcount_in_place(at, blocks.into(), &places, Waits::Yes);
        self.0.persistent(at, scope, arguments, (data, NonNull::dangling().as_ptr()))
    }
}

impl ReduceScatter<'_> {
    fn made_varcount_in_place<'b, T: Element, O: Reduction<T> + 'b>(
        &mut self,
        at: At,
        values: ElementsMut<'b, T>,
        counts: &[usize],
        operation: Held<'b, O>,
    ) -> Result<Arguments<'b>> {
        length("counts", counts.len(), self.0.call.size, "one count a rank")?;
        let all = counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count));
        length("values", values.len(), all, "the sum of the counts")?;
        reduces(&mut self.0, operation.get())?;
        self.0.copied_in_place();
        self.0.call.layout = Some(of_all(counts, None, None));
        let own = counts[self.0.cube.rank];
        Ok(Arguments::reducing(at, self.0.longest(), values.copied(), values.first(own), operation))
    }

    /// Runs it in place with blocks of different lengths; see [`Hypercube::reduce_scatter_in_place`].
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); [`Error::Operation`](crate::Error::Operation); options that cannot be honoured; what goes wrong between ranks.
    #[track_caller]
    pub fn run_varcount_in_place<R, I, O>(mut self, values: &mut R, counts: &[I], operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        I: Count,
        O: Reduction<R::Element>,
    {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let arguments = self.made_varcount_in_place(at, values.elements_mut(), &counts, Held::Lent(&operation));
        self.0.run(at, arguments)
    }

    /// Starts it in place; the request's data is `values`.
    ///
    /// # Errors
    /// As for `run_varcount_in_place`.
    #[track_caller]
    pub fn start_varcount_in_place<'a, R, I, O, Sc>(
        mut self,
        scope: Sc,
        values: &'a mut R,
        counts: &[I],
        operation: O,
    ) -> Result<Request<'a, R, Sc>>
    where
        R: BufferMut + ?Sized,
        I: Count,
        O: Reduction<R::Element> + 'a,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let (data, values) = lent_mut(values);
        let arguments = self.made_varcount_in_place(at, values, &counts, Held::Own(operation));
        self.0.request(at, scope, arguments, data)
    }

    /// Makes it to be started again and again in place, with these lengths.
    ///
    /// # Errors
    /// As for `run_varcount_in_place`.
    #[track_caller]
    pub fn init_varcount_in_place<'a, R, I, O, Sc>(
        mut self,
        scope: Sc,
        values: &'a mut R,
        counts: &[I],
        operation: O,
    ) -> Result<Persistent<'a, (), [R::Element], Sc>>
    where
        R: ContiguousMut + ?Sized,
        I: Count,
        O: Reduction<R::Element> + 'a,
        Sc: Scope<'a>,
    {
        let at = Location::caller();
        let counts: Vec<usize> = counts.iter().map(|count| count.elements()).collect();
        let (data, values) = lent_mut(values.slice_mut());
        let arguments = self.made_varcount_in_place(at, values, &counts, Held::Own(operation));
        self.0.persistent(at, scope, arguments, (NonNull::dangling().as_ptr(), data))
    }
}

impl Hypercube {
    /// All-gather in place of blocks of different lengths: this rank's block is there, the others come.
    ///
    /// All ranks: the same counts. Displacements may differ between ranks.
    ///
    /// # Errors
    /// As [`Hypercube::all_gather_varcount_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let mut all = [9; 6];
    ///     all[[0, 1, 3][cube.rank()]..][..cube.rank() + 1].fill(cube.rank());
    ///     cube.all_gather_varcount_in_place(&mut PartitionMut::new(&mut all, [1, 2, 3], [0, 1, 3])).unwrap();
    ///     assert_eq!(all, [0, 1, 1, 2, 2, 2]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_gather_varcount_in_place<R: PartitionedMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.all_gather().run_varcount_in_place(blocks)
    }

    /// All-to-all in place of blocks of different lengths: block j of `blocks` goes to rank j, and becomes the block that comes from there,
    /// which is as long.
    ///
    /// # Errors
    /// As [`Hypercube::all_to_all_varcount_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(2, |cube| {
    ///     // The two ranks exchange two elements, and keep their own one.
    ///     let mut blocks = [10 * cube.rank(); 3];
    ///     let (counts, places) = [([1, 2], [0, 1]), ([2, 1], [0, 2])][cube.rank()];
    ///     cube.all_to_all_varcount_in_place(&mut PartitionMut::new(&mut blocks, counts, places)).unwrap();
    ///     assert_eq!(blocks, [[0, 10, 10], [0, 0, 10]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_to_all_varcount_in_place<R: PartitionedMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.all_to_all().run_varcount_in_place(blocks)
    }

    /// Reduce-scatter in place with blocks of different lengths: the first of `values`, as many as this rank's count, become this rank's block
    /// of the combination of all ranks'. The others stay as they are.
    ///
    /// All ranks: the same `counts`, one a rank; `values` has their sum.
    ///
    /// # Errors
    /// As [`Hypercube::reduce_scatter_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(2, |cube| {
    ///     let mut values = [1, 2, 3];
    ///     cube.reduce_scatter_in_place(&mut values, &[1, 2], SystemOperation::sum()).unwrap();
    ///     assert_eq!(values, [[2, 2, 3], [4, 6, 3]][cube.rank()]);
    /// });
    /// ```
    #[track_caller]
    pub fn reduce_scatter_in_place<R, I, O>(&self, values: &mut R, counts: &[I], operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        I: Count,
        O: Reduction<R::Element>,
    {
        self.reduce_scatter().run_varcount_in_place(values, counts, operation)
    }
}

impl Process<'_> {
    /// Scatter in place of blocks of different lengths, on the root: block i of `blocks` to rank i; its own stays where it is. The other
    /// ranks call [`Process::scatter_varcount_into`].
    ///
    /// # Errors
    /// As [`Process::scatter_varcount_into_root`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, Partition};
    /// threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(0);
    ///     if cube.rank() == 0 {
    ///         root.scatter_varcount_in_place_root(&Partition::new(&[7, 8, 8], [1, 0, 2], [0, 1, 1])).unwrap();
    ///     } else {
    ///         let mut mine = vec![0; [1, 0, 2][cube.rank()]];
    ///         root.scatter_varcount_into(&mut mine).unwrap();
    ///         assert!(mine.iter().all(|&value| value == 8));
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn scatter_varcount_in_place_root<S: Partitioned + ?Sized>(&self, blocks: &S) -> Result<()> {
        self.role("scatter_varcount_in_place_root", "scatter_varcount_into", true)?;
        self.cube.scatter(self.rank).run_varcount_in_place(blocks)
    }

    /// Gather in place of blocks of different lengths, on the root: block i of `blocks` becomes that of rank i; its own is there. The other
    /// ranks call [`Process::gather_varcount_into`].
    ///
    /// # Errors
    /// As [`Process::gather_varcount_into_root`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::{threads, PartitionMut};
    /// threads::run(3, |cube| {
    ///     let root = cube.process_at_rank(1);
    ///     if cube.rank() == 1 {
    ///         let mut all = [0, 5, 0, 0];
    ///         root.gather_varcount_in_place_root(&mut PartitionMut::new(&mut all, [1, 1, 2], [0, 1, 2])).unwrap();
    ///         assert_eq!(all, [7, 5, 9, 9]);
    ///     } else {
    ///         root.gather_varcount_into([&[7][..], &[], &[9, 9]][cube.rank()]).unwrap();
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn gather_varcount_in_place_root<R: PartitionedMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.role("gather_varcount_in_place_root", "gather_varcount_into", true)?;
        self.cube.gather(self.rank).run_varcount_in_place(blocks)
    }
}
