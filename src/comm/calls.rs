//! The collectives of a communicator: the short forms, which leave the algorithm to the library, and the long ones, which take options.

use super::prepared::{
    AllGather, AllReduce, AllToAll, Broadcast, Exchange, Gather, Given, NeighborAllToAll, Permute, Prepared,
};
use super::prepared::{Reduce, ReduceScatter, Scatter, Send};
use super::Hypercube;
use crate::buffer::{Buffer, BufferMut};
use crate::collective::{Call, Collective};
use crate::engine::arguments::Arguments;
use crate::error::Result;
use crate::operation::Reduction;
use std::panic::Location;
use std::sync::Arc;

impl Hypercube {
    /// Waits until all ranks have called it.
    ///
    /// # Errors
    /// What goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    /// let entered = AtomicUsize::new(0);
    /// hypercoll::threads::run(3, |cube| {
    ///     entered.fetch_add(1, SeqCst);
    ///     cube.barrier().unwrap();
    ///     assert_eq!(entered.load(SeqCst), 3);
    /// });
    /// ```
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let at = Location::caller();
        self.prepare(Collective::Barrier, 0).run(at, Ok(Arguments::new::<u8>(at, 0, &[], &mut [])))
    }

    /// All-gather: `receive` becomes the blocks `send` of all ranks, by rank.
    ///
    /// All ranks: `send` has m elements, `receive` m times [`Hypercube::size`].
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut all = [0; 6];
    ///     cube.all_gather_into(&[cube.rank(), 7], &mut all).unwrap();
    ///     assert_eq!(all, [0, 7, 1, 7, 2, 7]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_gather_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.all_gather().run(send, receive)
    }

    /// All-gather in place: block r of `blocks` is the block of rank r; the others are filled in.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if the length is no multiple of the number of ranks; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut all = ['-' as u8; 3];
    ///     all[cube.rank()] = b"abc"[cube.rank()];
    ///     cube.all_gather_in_place(&mut all).unwrap();
    ///     assert_eq!(&all, b"abc");
    /// });
    /// ```
    #[track_caller]
    pub fn all_gather_in_place<R: BufferMut + ?Sized>(&self, blocks: &mut R) -> Result<()> {
        self.all_gather().run_in_place(blocks)
    }

    /// All-to-all: block j of `send` goes to rank j, block i of `receive` comes from rank i.
    ///
    /// All ranks: both have the same length, m times [`Hypercube::size`].
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(2, |cube| {
    ///     let send = [["0 to 0", "0 to 1"], ["1 to 0", "1 to 1"]][cube.rank()].map(|text| text.as_bytes());
    ///     let mut receive = [0; 12];
    ///     cube.all_to_all_into(&send.concat(), &mut receive).unwrap();
    ///     String::from_utf8(receive.to_vec()).unwrap()
    /// });
    /// assert_eq!(received, ["0 to 01 to 0", "0 to 11 to 1"]);
    /// ```
    #[track_caller]
    pub fn all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.all_to_all().run(send, receive)
    }

    /// Neighbourhood all-to-all on the cube: block j of `send` goes to the neighbour across port j, that is rank r XOR 2^j, and block j of
    /// `receive` comes from it; r is this rank.
    ///
    /// All ranks: both have the same length, m times n, where n is the dimension of the cube that has a node for every rank: 3 for 5
    /// to 8 ranks. Where the number of ranks is no power of two, some neighbours are no ranks: their blocks are there, but what is for
    /// them is not sent, and theirs in `receive` stay as they are. A single rank has no blocks.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     let send = [["0 to 1", "0 to 2"], ["1 to 0", "1 to 3"], ["2 to 3", "2 to 0"], ["3 to 2", "3 to 1"]];
    ///     let mut receive = [0; 12];
    ///     cube.neighbor_all_to_all_into(send[cube.rank()].concat().as_bytes(), &mut receive).unwrap();
    ///     String::from_utf8(receive.to_vec()).unwrap()
    /// });
    /// assert_eq!(received, ["1 to 02 to 0", "0 to 13 to 1", "3 to 20 to 2", "2 to 31 to 3"]);
    /// ```
    #[track_caller]
    pub fn neighbor_all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.neighbor_all_to_all().run(send, receive)
    }

    /// All-reduce: `receive` becomes the element-wise combination of `send` of all ranks.
    ///
    /// All ranks: both have the same length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); [`Error::Operation`](crate::Error::Operation) if it is not defined for the type; what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mine = [1.0, cube.rank() as f64];
    ///     let mut sums = [0.0; 2];
    ///     cube.all_reduce_into(&mine, &mut sums, SystemOperation::sum()).unwrap();
    ///     assert_eq!(sums, [4.0, 6.0]);
    /// });
    /// ```
    #[track_caller]
    pub fn all_reduce_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.all_reduce().run(send, receive, operation)
    }

    /// All-reduce in place: `values` is contribution and result.
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut least = 10 - cube.rank();
    ///     cube.all_reduce_in_place(&mut least, SystemOperation::min()).unwrap();
    ///     assert_eq!(least, 7);
    /// });
    /// ```
    #[track_caller]
    pub fn all_reduce_in_place<R, O>(&self, values: &mut R, operation: O) -> Result<()>
    where
        R: BufferMut + ?Sized,
        O: Reduction<R::Element>,
    {
        self.all_reduce().run_in_place(values, operation)
    }

    /// Reduce-scatter: `receive` becomes this rank's block of the element-wise combination of `send` of all ranks (the
    /// papers' histogram).
    ///
    /// All ranks: `receive` has m elements, `send` m times [`Hypercube::size`].
    ///
    /// # Errors
    /// As [`Hypercube::all_reduce_into`].
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// let sums = hypercoll::threads::run(2, |cube| {
    ///     let send = [[1, 2, 3, 4], [10, 20, 30, 40]][cube.rank()];
    ///     let mut block = [0; 2];
    ///     cube.reduce_scatter_block_into(&send, &mut block, SystemOperation::sum()).unwrap();
    ///     block
    /// });
    /// assert_eq!(sums, [[11, 22], [33, 44]]);
    /// ```
    #[track_caller]
    pub fn reduce_scatter_block_into<S, R, O>(&self, send: &S, receive: &mut R, operation: O) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
        O: Reduction<S::Element>,
    {
        self.reduce_scatter().run(send, receive, operation)
    }

    /// Permutation: `send` goes to rank `permutation[rank]`, `receive` comes from the rank whose target this one is.
    ///
    /// All ranks pass the same permutation and equal lengths.
    ///
    /// # Errors
    /// [`Error::Permutation`](crate::Error::Permutation); [`Error::Length`](crate::Error::Length); what goes wrong between ranks.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     // Round in a circle: from every rank to the next one.
    ///     let mut receive = 0usize;
    ///     cube.permute_into(&[1, 2, 3, 0], &cube.rank(), &mut receive).unwrap();
    ///     receive
    /// });
    /// assert_eq!(received, [3, 0, 1, 2]);
    /// ```
    #[track_caller]
    pub fn permute_into<S, R>(&self, permutation: &[usize], send: &S, receive: &mut R) -> Result<()>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Element = S::Element> + ?Sized,
    {
        self.permute(permutation).run(send, receive)
    }

    /// Sends from rank `from` to rank `to`, over all the links that an algorithm finds between them: all ranks make the call,
    /// and may pass data on.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut received = [0; 3];
    ///     let send = (cube.rank() == 2).then_some(&[4, 5, 6][..]);
    ///     let receive = (cube.rank() == 1).then_some(&mut received[..]);
    ///     cube.send(2, 1).run(3, send, receive).unwrap(); // all ranks, also 0 and 3
    ///     assert_eq!(received, if cube.rank() == 1 { [4, 5, 6] } else { [0; 3] });
    /// });
    /// ```
    pub fn send(&self, from: usize, to: usize) -> Send<'_> {
        let mut prepared = self.prepare(Collective::Send, from);
        prepared.call.peer = to;
        Send(prepared)
    }

    /// Exchanges the vectors of two ranks; all ranks make the call, and may pass data on.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     let (mine, mut other) = ([10 * cube.rank()], [0]);
    ///     let takes_part = [1, 3].contains(&cube.rank());
    ///     let (send, receive) = (takes_part.then_some(&mine[..]), takes_part.then_some(&mut other[..]));
    ///     cube.exchange(1, 3).run(1, send, receive).unwrap(); // all ranks
    ///     other[0]
    /// });
    /// assert_eq!(received, [0, 30, 0, 10]);
    /// ```
    pub fn exchange(&self, one: usize, other: usize) -> Exchange<'_> {
        let mut prepared = self.prepare(Collective::Exchange, one);
        prepared.call.peer = other;
        Exchange(prepared)
    }

    /// Any call that combines nothing, given as data.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::collective::{Call, Collective, Layout};
    /// let received = hypercoll::threads::run(3, |cube| {
    ///     // Vectors of 1, 2 and 3 elements, each to the next rank.
    ///     let mut call = Call::new(Collective::Permute, 3, 0).with_layout(Layout::of_vectors([1, 2, 3]));
    ///     call.permutation = Some([1, 2, 0].into());
    ///     let send = vec![cube.rank(); call.send_len(cube.rank())];
    ///     let mut receive = vec![9; call.receive_len(cube.rank())];
    ///     cube.collective(call).run(&send, &mut receive).unwrap();
    ///     receive
    /// });
    /// assert_eq!(received, [vec![2, 2, 2], vec![0], vec![1, 1]]);
    /// ```
    pub fn collective(&self, mut call: Call) -> Given<'_> {
        self.placed(&mut call);
        Given(Prepared::of(self, call))
    }

    /// A broadcast with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(8, |cube| {
    ///     let mut data = vec![cube.rank(); 1000];
    ///     cube.broadcast(5).algorithm("hamiltonian_path").packet(100).run(&mut data).unwrap();
    ///     assert_eq!(data, [5; 1000]);
    /// });
    /// ```
    pub fn broadcast(&self, root: usize) -> Broadcast<'_> {
        Broadcast(self.prepare(Collective::Broadcast, root))
    }

    /// A scatter with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let all = [1.5, 2.5, 3.5]; // used on the root alone
    ///     let mut mine = 0.0;
    ///     cube.scatter(0).run(Some(&all), &mut mine).unwrap();
    ///     assert_eq!(mine, 1.5 + cube.rank() as f64);
    /// });
    /// ```
    pub fn scatter(&self, root: usize) -> Scatter<'_> {
        Scatter(self.prepare(Collective::Scatter, root))
    }

    /// A gather with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(3, |cube| {
    ///     let mut all = [0; 3];
    ///     cube.gather(2).run(&(cube.rank() + 1), Some(&mut all)).unwrap(); // changed on the root alone
    ///     assert_eq!(all, if cube.rank() == 2 { [1, 2, 3] } else { [0; 3] });
    /// });
    /// ```
    pub fn gather(&self, root: usize) -> Gather<'_> {
        Gather(self.prepare(Collective::Gather, root))
    }

    /// An all-gather with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::algorithm::PortModel;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut all = [0; 4];
    ///     let call = cube.all_gather().algorithm("multinode_broadcast").ports(PortModel::AllPorts);
    ///     call.run(&cube.rank(), &mut all).unwrap();
    ///     assert_eq!(all, [0, 1, 2, 3]);
    /// });
    /// ```
    pub fn all_gather(&self) -> AllGather<'_> {
        AllGather(self.prepare(Collective::AllGather, 0))
    }

    /// An all-to-all with options.
    ///
    /// # Examples
    /// ```
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut receive = [9; 4];
    ///     cube.all_to_all().algorithm("pairwise_xor").run(&[cube.rank(); 4], &mut receive).unwrap();
    ///     assert_eq!(receive, [0, 1, 2, 3]);
    /// });
    /// ```
    pub fn all_to_all(&self) -> AllToAll<'_> {
        AllToAll(self.prepare(Collective::AllToAll, 0))
    }

    /// A neighbourhood all-to-all with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::algorithm::PortModel;
    /// hypercoll::threads::run(8, |cube| {
    ///     let mut receive = [9; 3];
    ///     // One link after the other.
    ///     cube.neighbor_all_to_all().ports(PortModel::OnePort).run(&[cube.rank(); 3], &mut receive).unwrap();
    ///     assert_eq!(receive, [1, 2, 4].map(|bit| cube.rank() ^ bit));
    /// });
    /// ```
    pub fn neighbor_all_to_all(&self) -> NeighborAllToAll<'_> {
        NeighborAllToAll(self.prepare(Collective::NeighborAllToAll, 0))
    }

    /// A reduce with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut product = 0usize;
    ///     let call = cube.reduce(1).algorithm("sbt");
    ///     call.run(&(cube.rank() + 1), Some(&mut product), SystemOperation::product()).unwrap();
    ///     assert_eq!(product, if cube.rank() == 1 { 24 } else { 0 });
    /// });
    /// ```
    pub fn reduce(&self, root: usize) -> Reduce<'_> {
        Reduce(self.prepare(Collective::Reduce, root))
    }

    /// A reduce-scatter with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut most = 0;
    ///     let send = [0, 1, 2, 3].map(|block| block * cube.rank());
    ///     cube.reduce_scatter().algorithm("histogram").run(&send, &mut most, SystemOperation::max()).unwrap();
    ///     assert_eq!(most, 3 * cube.rank());
    /// });
    /// ```
    pub fn reduce_scatter(&self) -> ReduceScatter<'_> {
        ReduceScatter(self.prepare(Collective::ReduceScatter, 0))
    }

    /// An all-reduce with options.
    ///
    /// # Examples
    /// ```
    /// use hypercoll::SystemOperation;
    /// hypercoll::threads::run(4, |cube| {
    ///     let mut bits = 1u8 << cube.rank();
    ///     let call = cube.all_reduce().algorithm("recursive_doubling");
    ///     call.run_in_place(&mut bits, SystemOperation::bitwise_or()).unwrap();
    ///     assert_eq!(bits, 0b1111);
    /// });
    /// ```
    pub fn all_reduce(&self) -> AllReduce<'_> {
        AllReduce(self.prepare(Collective::AllReduce, 0))
    }

    /// A permutation with options.
    ///
    /// # Examples
    /// ```
    /// let received = hypercoll::threads::run(4, |cube| {
    ///     let mut receive = 0usize;
    ///     cube.permute(&[3, 2, 1, 0]).algorithm("inversion").run(&cube.rank(), &mut receive).unwrap();
    ///     receive
    /// });
    /// assert_eq!(received, [3, 2, 1, 0]);
    /// ```
    pub fn permute(&self, permutation: &[usize]) -> Permute<'_> {
        let mut prepared = self.prepare(Collective::Permute, 0);
        let mut last = self.permutation.borrow_mut();
        if last.as_deref() != Some(permutation) {
            *last = Some(Arc::from(permutation));
        }
        prepared.call.permutation = last.clone();
        Permute(prepared)
    }

    /// Notes in a call what is known of the communicator: the links to be avoided, or, if the collective has algorithms that know of
    /// them, the hosts. (Links are named by ranks, as if these were nodes.)
    #[inline]
    pub(super) fn placed(&self, call: &mut Call) {
        if call.avoid.is_none() {
            call.avoid.clone_from(&self.avoid.borrow());
        }
        if call.hosts.is_none() && call.avoid.is_none() && call.collective.knows_hosts() {
            call.hosts.clone_from(&self.hosts);
        }
    }

    pub(super) fn prepare(&self, collective: Collective, root: usize) -> Prepared<'_> {
        let avoid = self.avoid.borrow().clone();
        let hosts = self.hosts.as_ref().filter(|_| avoid.is_none() && collective.knows_hosts()).cloned();
        Prepared::of(self, Call { root, avoid, hosts, ..Call::bare(collective, self.size, 0) })
    }
}
