//! MPI's own collectives, by rsmpi.

use super::candidates::Forced;
use super::{lengths, mpich};
use hypercoll::collective::{Call, Collective, MpiFunction};
use hypercoll::control_variables::ControlVariables;
use hypercoll::cube_graph::CubeGraph;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::{Count, Rank};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Lets Open MPI look at the variables that force algorithms. It reads this one when it starts, and never again.
const DYNAMIC_RULES: &str = "coll_tuned_use_dynamic_rules";

/// The communicator on which a call is made.
pub type World = Rc<SimpleCommunicator>;

/// The communicators of native calls; the library works on a duplicate of the first.
pub struct Native {
    world: World,
    rank: usize,
    variables: Option<ControlVariables>,
    forcing: Option<Forcing>,
    /// Duplicates on which an algorithm is forced.
    forced: RefCell<HashMap<Forced, World>>,
    /// The collective whose variable of MPICH's is set, and to what.
    set: Cell<Option<(&'static str, i64)>>,
    /// The cube as MPI's graph, once all ranks have asked for it.
    graph: OnceCell<hypercoll::Result<CubeGraph>>,
}

/// When an MPI library reads the variables that force an algorithm.
#[derive(Clone, Copy, PartialEq)]
enum Forcing {
    /// When a communicator is made: Open MPI.
    Communicators,
    /// At every call: MPICH.
    Calls,
}

/// The variable of Open MPI that forces an algorithm of a collective, and the one that says its segment size.
fn variables(collective: &str) -> [String; 2] {
    ["", "_segmentsize"].map(|end| format!("coll_tuned_{collective}_algorithm{end}"))
}

/// Before MPI starts: asks Open MPI to let algorithms be forced. As long as none is, it chooses as it always does: its
/// component `tuned` replaces the fixed decision of a communicator for those collectives alone that have one forced when the
/// communicator is made. What the user has set stays.
pub fn allow_forcing() {
    let name = format!("OMPI_MCA_{DYNAMIC_RULES}");
    if std::env::var_os(&name).is_none() {
        std::env::set_var(name, "1");
    }
}

impl Native {
    pub fn new(world: SimpleCommunicator) -> Native {
        let rank = world.rank() as usize;
        let variables = ControlVariables::open().ok();
        let read = |name: &str| variables.as_ref().and_then(|variables| variables.read(name).ok()).flatten();
        let forcing = match (read(DYNAMIC_RULES), read(&mpich::variable("bcast"))) {
            (Some(1), _) => Some(Forcing::Communicators),
            (_, Some(_)) => Some(Forcing::Calls),
            _ => None,
        };
        Native {
            world: Rc::new(world),
            rank,
            variables,
            forcing,
            forced: RefCell::default(),
            set: Cell::default(),
            graph: OnceCell::new(),
        }
    }

    /// Whether algorithms can be forced, on all ranks (which call this together).
    pub fn can_force(&self) -> bool {
        let mut refusals = [f64::from(u8::from(self.forcing.is_none()))];
        self.maximum(&mut refusals);
        refusals[0] == 0.0
    }

    /// Numbers and names of the algorithms of a collective, by Open MPI's name for it.
    pub fn algorithms(&self, collective: &str) -> Vec<(i64, String)> {
        let Some(variables) = &self.variables else { return Vec::new() };
        let algorithms = match self.forcing {
            Some(Forcing::Communicators) => variables.values(&self::variables(collective)[0]),
            Some(Forcing::Calls) => {
                variables.description(&mpich::variable(collective)).map(|text| mpich::algorithms(&text))
            }
            None => return Vec::new(),
        };
        algorithms.unwrap_or_default()
    }

    /// Whether algorithms that are forced cut messages into segments of a size that is forced as well.
    pub fn has_segments(&self) -> bool {
        self.forcing == Some(Forcing::Communicators)
    }

    /// Gets ready to run an algorithm that is forced (all ranks call this together): where variables are read when a communicator is made,
    /// makes one, unless there is one, and puts them back at once.
    pub fn force(&self, forced: &Forced) -> hypercoll::Result<()> {
        let Some(variables) = self.variables.as_ref().filter(|_| self.forcing == Some(Forcing::Communicators)) else {
            return Ok(());
        };
        if self.forced.borrow().contains_key(forced) {
            return Ok(());
        }
        let [algorithm, segment] = self::variables(forced.collective);
        let segment = (segment, forced.segment as i64);
        let mut wanted = vec![(algorithm, forced.algorithm)];
        // A barrier has none.
        wanted.extend(variables.read(&segment.0)?.map(|_| segment));
        let mut before = Vec::new();
        for (name, value) in &wanted {
            before.push((name, variables.read(name)?));
            variables.write(name, *value)?;
            let call = "MPI_T_cvar_write";
            if variables.read(name)? != Some(*value) {
                return Err(hypercoll::Error::Mpi { call, message: format!("{name} does not keep the value {value}") });
            }
        }
        let communicator = self.world.duplicate();
        for (name, value) in before {
            value.map_or(Ok(()), |value| variables.write(name, value))?;
        }
        self.forced.borrow_mut().insert(forced.clone(), Rc::new(communicator));
        Ok(())
    }

    /// The communicator of calls by MPI's own choice or by an algorithm that has been forced, which the next calls on it then go by: found
    /// before anything is timed.
    ///
    /// # Panics
    /// If [`Native::force`] has not been called for the algorithm before.
    pub fn ready(&self, forced: Option<&Forced>) -> World {
        self.select(forced);
        let duplicates = self.forced.borrow();
        let duplicate = forced.filter(|_| self.forcing == Some(Forcing::Communicators));
        Rc::clone(duplicate.map_or(&self.world, |forced| &duplicates[forced]))
    }

    /// Lets MPICH's next calls go by an algorithm, or by its own choice again.
    fn select(&self, forced: Option<&Forced>) {
        let Some(variables) = self.variables.as_ref().filter(|_| self.forcing == Some(Forcing::Calls)) else { return };
        let wanted = forced.map(|forced| (forced.collective, forced.algorithm));
        if self.set.get() == wanted {
            return;
        }
        let before = self.set.replace(wanted).map(|(collective, _)| (collective, mpich::OWN_CHOICE));
        for (collective, algorithm) in before.into_iter().chain(wanted) {
            let written = variables.write(&mpich::variable(collective), algorithm);
            written.unwrap_or_else(|error| self.fail(&error));
        }
    }

    /// Runs a call on a communicator that is ready for it; the buffers are those of the library's call.
    pub fn run(&self, world: &SimpleCommunicator, call: &Call, send: &[f64], receive: &mut [f64]) {
        let root = || world.process_at_rank(call.root as Rank);
        let on_root = self.rank == call.root;
        let sum = SystemOperation::sum;
        if call.layout.is_some() {
            return blocks_of_lengths(world, call, send, receive);
        }
        match call.collective.meaning().native {
            Some(MpiFunction::Bcast) => root().broadcast_into(receive),
            Some(MpiFunction::Scatter) if on_root => root().scatter_into_root(send, receive),
            Some(MpiFunction::Scatter) => root().scatter_into(receive),
            Some(MpiFunction::Gather) if on_root => root().gather_into_root(send, receive),
            Some(MpiFunction::Gather) => root().gather_into(send),
            Some(MpiFunction::Allgather) => world.all_gather_into(send, receive),
            Some(MpiFunction::Alltoall) => world.all_to_all_into(send, receive),
            Some(MpiFunction::NeighborAlltoallv) => {
                let graph = self.graph.get_or_init(|| CubeGraph::new(world));
                let done = graph.as_ref().map_err(Clone::clone).and_then(|graph| graph.all_to_all(send, receive));
                done.unwrap_or_else(|error| self.fail(&error))
            }
            Some(MpiFunction::Reduce) if on_root => root().reduce_into_root(send, receive, sum()),
            Some(MpiFunction::Reduce) => root().reduce_into(send, sum()),
            Some(MpiFunction::ReduceScatterBlock) => world.reduce_scatter_block_into(send, receive, sum()),
            Some(MpiFunction::Allreduce) => world.all_reduce_into(send, receive, sum()),
            Some(MpiFunction::Scan) => world.scan_into(send, receive, sum()),
            Some(MpiFunction::Exscan) => world.exclusive_scan_into(send, receive, sum()),
            Some(MpiFunction::PointToPoint) => point_to_point(world, call, send, receive),
            // What MPI has nothing for is no part of any experiment.
            Some(MpiFunction::Barrier) | None => world.barrier(),
        }
    }

    /// Element by element the largest value of all ranks.
    pub fn maximum(&self, values: &mut [f64]) {
        let own = values.to_vec();
        self.world.all_reduce_into(&own[..], values, SystemOperation::max());
    }

    /// The bytes of all ranks, one after another.
    pub fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        let mut all = vec![0; own.len() * self.world.size() as usize];
        self.world.all_gather_into(own, &mut all[..]);
        all
    }

    /// Ends all ranks, and says why.
    fn fail(&self, error: &hypercoll::Error) -> ! {
        eprintln!("hypercoll: {error}");
        self.abort()
    }

    /// Ends all ranks.
    pub fn abort(&self) -> ! {
        self.world.abort(1)
    }
}

/// The calls for blocks of different lengths.
fn blocks_of_lengths(world: &SimpleCommunicator, call: &Call, send: &[f64], receive: &mut [f64]) {
    let root = world.process_at_rank(call.root as Rank);
    let on_root = world.rank() as usize == call.root;
    let counted = |(counts, starts): (Vec<usize>, Vec<usize>)| {
        [counts, starts].map(|all| all.into_iter().map(|elements| elements as Count).collect::<Vec<_>>())
    };
    let places = || counted(lengths::places(call));
    match call.collective {
        Collective::Scatter if on_root => {
            let [counts, starts] = places();
            root.scatter_varcount_into_root(&Partition::new(send, counts, starts), receive);
        }
        Collective::Scatter => root.scatter_varcount_into(receive),
        Collective::Gather if on_root => {
            let [counts, starts] = places();
            root.gather_varcount_into_root(send, &mut PartitionMut::new(receive, counts, starts));
        }
        Collective::Gather => root.gather_varcount_into(send),
        Collective::AllToAll => {
            let [[sent, from], [received, at]] = lengths::rows(call, world.rank() as usize).map(counted);
            let mut receive = PartitionMut::new(receive, received, at);
            world.all_to_all_varcount_into(&Partition::new(send, sent, from), &mut receive);
        }
        _ => {
            let [counts, starts] = places();
            world.all_gather_varcount_into(send, &mut PartitionMut::new(receive, counts, starts));
        }
    }
}

/// What a program would write where MPI has no collective: every rank sends one vector at most, and receives one at most.
fn point_to_point(world: &SimpleCommunicator, call: &Call, send: &[f64], receive: &mut [f64]) {
    let rank = world.rank() as usize;
    let other = call.root ^ call.peer ^ rank;
    let target = || call.permutation.as_ref().map_or(other, |to| to[rank]);
    let source = || call.permutation.as_ref().map_or(Some(other), |to| to.iter().position(|to| *to == rank));
    let target = (!send.is_empty()).then(|| world.process_at_rank(target() as Rank));
    let source = (!receive.is_empty()).then(source).flatten().map(|source| world.process_at_rank(source as Rank));
    match (target, source) {
        (Some(target), Some(source)) => _ = send_receive_into(send, &target, receive, &source),
        (Some(target), None) => target.send(send),
        (None, Some(source)) => _ = source.receive_into(receive),
        (None, None) => {}
    }
}
