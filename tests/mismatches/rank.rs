//! A rank in a case: its calls, and memory around their buffers that nobody may write.

use bytemuck::Pod;
use hypercoll::comm::{AllGather, AllReduce, Broadcast, Permute, Scatter};
use hypercoll::{Hypercube, Reduction, Result, SystemOperation};

/// Bytes before and behind a buffer.
const GUARD: usize = 4096;
/// What is in them: no buffer's contents.
const CANARY: u8 = 0xa5;

/// Memory with a buffer in its middle.
#[derive(Clone, PartialEq)]
struct Guarded {
    memory: Vec<u128>,
    /// Bytes of the buffer.
    len: usize,
}

impl Guarded {
    fn of(len: usize, content: u8) -> Guarded {
        let mut memory = vec![0u128; (GUARD + len.next_multiple_of(16) + GUARD) / 16];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        bytes.fill(CANARY);
        bytes[GUARD..][..len].fill(content);
        Guarded { memory, len }
    }

    fn buffer<T: Pod>(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.memory);
        bytemuck::cast_slice_mut(&mut bytes[GUARD..][..self.len])
    }

    fn is_intact(&self) -> bool {
        let bytes: &[u8] = bytemuck::cast_slice(&self.memory);
        bytes[..GUARD].iter().chain(&bytes[GUARD + self.len..]).all(|byte| *byte == CANARY)
    }
}

/// The buffers of a rank's calls: pairs of what is sent and received.
#[derive(Default)]
pub struct Buffers {
    pairs: Vec<[Guarded; 2]>,
    /// What they held when all calls had returned.
    seen: Vec<[Guarded; 2]>,
    content: u8,
}

impl Buffers {
    /// Notes what they hold when all calls have returned; what is wrong with them.
    pub fn look(&mut self) -> Option<&'static str> {
        self.seen.clone_from(&self.pairs);
        let content = self.content;
        let sent_is_same = |pair: &mut [Guarded; 2]| pair[0].buffer::<u8>().iter().all(|byte| *byte == content);
        match () {
            () if !self.pairs.iter().flatten().all(Guarded::is_intact) => Some("memory around a buffer was written"),
            () if !self.pairs.iter_mut().all(sent_is_same) => Some("what is sent was written"),
            () => None,
        }
    }

    /// Looks again, later.
    pub fn look_again(&self) -> Option<&'static str> {
        (self.seen != self.pairs).then_some("a buffer was written after its call")
    }
}

/// A rank's communicator and buffers.
pub struct Rank<'c> {
    pub cube: &'c Hypercube,
    pub buffers: Buffers,
}

impl<'c> Rank<'c> {
    pub fn of(cube: &'c Hypercube) -> Rank<'c> {
        Rank { cube, buffers: Buffers { content: 1 + cube.rank() as u8, ..Buffers::default() } }
    }

    pub fn rank(&self) -> usize {
        self.cube.rank()
    }

    pub fn size(&self) -> usize {
        self.cube.size()
    }

    /// Buffers of so many elements, to send and to receive.
    pub fn lend<T: Pod>(&mut self, send: usize, receive: usize) -> (&'c Hypercube, &mut [T], &mut [T]) {
        let Buffers { pairs, content, .. } = &mut self.buffers;
        pairs.push([send, receive].map(|len| Guarded::of(len * size_of::<T>(), *content)));
        let [send, receive] = pairs.last_mut().expect("just pushed");
        (self.cube, send.buffer(), receive.buffer())
    }

    #[track_caller]
    pub fn broadcast<T: Pod>(&mut self, root: usize, count: usize, with: fn(Broadcast) -> Broadcast) -> Result<()> {
        let (cube, _, data) = self.lend::<T>(0, count);
        with(cube.broadcast(root)).run(data)
    }

    #[track_caller]
    pub fn scatter(&mut self, root: usize, count: usize, with: fn(Scatter) -> Scatter) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        let (cube, send, receive) = self.lend::<f64>(count * size, count);
        with(cube.scatter(root)).run((rank == root).then_some(&*send), receive)
    }

    #[track_caller]
    pub fn gather(&mut self, root: usize, count: usize) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        let (cube, send, receive) = self.lend::<f64>(count, count * size);
        cube.gather(root).run(&*send, (rank == root).then_some(receive))
    }

    #[track_caller]
    pub fn all_gather(&mut self, count: usize, with: fn(AllGather) -> AllGather) -> Result<()> {
        let size = self.size();
        let (cube, send, receive) = self.lend::<f64>(count, count * size);
        with(cube.all_gather()).run(&*send, receive)
    }

    #[track_caller]
    pub fn all_to_all(&mut self, count: usize) -> Result<()> {
        let size = self.size();
        let (cube, send, receive) = self.lend::<f64>(count * size, count * size);
        cube.all_to_all_into(&*send, receive)
    }

    #[track_caller]
    pub fn reduce(&mut self, root: usize, count: usize, operation: SystemOperation) -> Result<()> {
        let rank = self.rank();
        let (cube, send, receive) = self.lend::<f64>(count, count);
        cube.reduce(root).run(&*send, (rank == root).then_some(receive), operation)
    }

    #[track_caller]
    pub fn all_reduce<T: Pod, O: Reduction<T>>(
        &mut self,
        count: usize,
        operation: O,
        with: fn(AllReduce) -> AllReduce,
    ) -> Result<()> {
        let (cube, send, receive) = self.lend::<T>(count, count);
        with(cube.all_reduce()).run(&*send, receive, operation)
    }

    #[track_caller]
    pub fn permute(&mut self, permutation: &[usize], count: usize, with: fn(Permute) -> Permute) -> Result<()> {
        let (cube, send, receive) = self.lend::<f64>(count, count);
        with(cube.permute(permutation)).run(&*send, receive)
    }

    /// Sends from a rank to another.
    #[track_caller]
    pub fn send(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        let rank = self.rank();
        let (cube, send, receive) = self.lend::<f64>(count, count);
        cube.send(from, to).run(count, (rank == from).then_some(&*send), (rank == to).then_some(receive))
    }

    #[track_caller]
    pub fn exchange(&mut self, one: usize, other: usize, count: usize) -> Result<()> {
        let takes_part = [one, other].contains(&self.rank());
        let (cube, send, receive) = self.lend::<f64>(count, count);
        cube.exchange(one, other).run(count, takes_part.then_some(&*send), takes_part.then_some(receive))
    }

    /// Some calls in which all agree.
    pub fn agree(&mut self) -> Result<()> {
        (0..3).try_for_each(|_| self.all_reduce::<f64, _>(9, SystemOperation::sum(), |call| call))
    }
}
