//! A communicator of the program, with a `Hypercube` of its ranks, which is made when it is first needed and goes with it.

mod all;
mod lanes;
mod worth;

use crate::kind::{Form, Kind};
use crate::left::Left;
use crate::native::{self, ffi};
use crate::quick::{self, Key};
use crate::requests;
use crate::session::{self, Compares};
use crate::stands::{Counter, Stands};
use crate::trial::{Class, Trial};
use crate::turn::Turn;
use ffi::MPI_Comm;
use hypercoll::collective::{Call, Collective};
use hypercoll::select::{Choice, Machine, Options};
use hypercoll::{Error, Hypercube};
use lanes::made;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use worth::Worth;

#[cfg(revoke)]
pub use all::is_revoked;
pub use all::{free, freed, is_made, Communicators};

/// A communicator of the program's.
pub struct Communicator {
    pub comm: MPI_Comm,
    pub rank: usize,
    pub size: usize,
    counter: Rc<Counter>,
    /// What depends on no time that was measured, and the same of calls that are not counted.
    always: Box<Stands>,
    uncounted: Box<Stands>,
    /// For its blocking calls.
    pub cube: Cube,
    since: Instant,
    /// Of those that were made before the machine was measured, the seconds that they were predicted to take, and how sums are made.
    predicted: f64,
    early: FxHashMap<(Call, usize), Options>,
    /// Whether its ranks have found that the machine should be measured.
    measures: bool,
    worth: Worth,
    /// For its nonblocking calls, if any may be made by us, and for its persistent requests: see [`lanes`].
    started: Option<Rc<Hypercube>>,
    lanes: Vec<Rc<Hypercube>>,
    /// What is asked of its calls, by collective, where anything is.
    pub options: Vec<(Collective, Options)>,
    pub avoid: Vec<(usize, usize)>,
    pub reproducible: bool,
    /// Whether the program has revoked it.
    revoked: bool,
    /// Why its ranks have not met, once they have not: what some of them have begun on it others may end later.
    lost: Option<Error>,
    /// Why the last call was left to MPI, if it was.
    pub left: Option<&'static str>,
    /// The hypercube of the last call, if it was not a blocking one.
    pub last: Weak<Hypercube>,
    /// What was last asked of the machine, and whether native MPI is faster.
    faster: [Option<(Question, bool)>; 4],
    /// Who makes which calls, by collective and size.
    trials: FxHashMap<(Kind, Class), Trial>,
    /// The calls for which that is tried out.
    tries: Compares,
    /// Its place in the list.
    place: usize,
}

/// What says whether native MPI is faster: a collective, how many elements of how many bytes, and whether their order matters.
type Question = (Collective, usize, usize, bool);

/// Whether the program has made nonblocking calls.
static STARTS: AtomicBool = AtomicBool::new(false);

/// What is not known of a machine is measured when the calls on a communicator are worth that, which takes as long as many short ones: by the
/// predicted seconds of those of ours, so many times as many, or, where ranks share their memory, by the number of all, and by how long
/// the communicator has had its hypercube: so many times as long, as a million calls that native MPI makes may take .1 s. (With new hypercubes to
/// measure took three times as long as the measurement itself is taken to: 10 ms on 2 ranks of an AMD EPYC of family 25, 30 on 8.) Ranks ask
/// each other in the first blocking call from such a number on, and each time that there are twice as many.
const WORTH: f64 = 10.0;
const MANY_CALLS: u64 = 8192;
const SELDOM: f64 = 200.0;
const FIRST_LOOK: u64 = 8;

/// Why MPI makes calls that are worth no hypercubes yet.
const NOT_WORTH: &str = "few calls over links so far";
const NOT_STARTED: &str = "a hypercube that was made before there were such calls";

/// Hypercubes that there are at a time, of communicators that have one. Each takes communicators of MPI's, of which the program may want
/// as many as there can be: with MPICH some 2000, with Open MPI as many as fit into 16 bits.
const AT_ONCE: usize = if cfg!(open_mpi) { 4096 } else { 128 };

/// What serves its calls.
pub enum Cube {
    /// That is to be seen.
    Later,
    /// Native MPI, and why.
    Native(&'static str),
    Ours(Rc<Hypercube>),
}

/// Ranks that the program has spawned, or met, need not have this library before them: nor can they be asked, as they would not answer.
const ANOTHER_JOB: &str = "ranks of another job";
const OF_ANOTHER_JOB: Cube = Cube::Native(ANOTHER_JOB);

impl Communicator {
    /// One of so many ranks, of which this is that one, at a place in the list.
    fn new(comm: MPI_Comm, (rank, size): (usize, usize), cube: Cube, place: usize) -> Communicator {
        // From when on it may be ours.
        let counter = Rc::new(Counter::new(if is_world(comm) { 1 } else { session::facts().asked.from }));
        Communicator {
            comm,
            rank,
            size,
            always: Box::new(Stands::always(&counter)),
            uncounted: Box::new(Stands::always(&Rc::new(Counter::new(u64::MAX)))),
            counter,
            cube,
            since: Instant::now(),
            predicted: 0.0,
            early: FxHashMap::default(),
            measures: false,
            worth: Worth::default(),
            started: None,
            lanes: Vec::new(),
            options: Vec::new(),
            avoid: Vec::new(),
            reproducible: session::facts().asked.reproducible,
            revoked: false,
            lost: None,
            left: None,
            last: Weak::new(),
            faster: [None; 4],
            trials: FxHashMap::default(),
            tries: Compares::None,
            place,
        }
    }

    /// Why calls of a kind are not ours whatever they are about, if they are not. If that stays so, one that has a key is known from now on.
    pub fn serves(&self, kind: Kind, form: Form, key: Option<Key>) -> Result<(), Left> {
        if form == Form::Nonblocking {
            STARTS.store(true, Relaxed);
        }
        if let Some(error) = &self.lost {
            return Err(Left::Failed(error.clone()));
        }
        let why = match self.cube {
            _ if self.revoked => return Err(Left::ToMpi("a communicator that is revoked")),
            Cube::Native(why) => why,
            _ if !session::facts().asked.ours.has(kind, form) => "asked for",
            // Where that goes by time, such calls are noted nevertheless: who makes other ones may depend on how many there are.
            Cube::Ours(_) if form == Form::Nonblocking && self.started.is_none() && !self.worth.was_not() => {
                NOT_STARTED
            }
            Cube::Ours(_) | Cube::Later => return Ok(()),
        };
        quick::remember(kind, self.comm, key, &raw const *self.uncounted, None);
        Err(Left::ToMpi(why))
    }

    /// What has come of it that ranks were to meet.
    pub fn met<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Left> {
        outcome.map_err(|error| {
            self.lost = Some(error.clone());
            quick::forget();
            Left::Failed(error)
        })
    }

    /// Counts a call of that name, and does what it is time for then: has a hypercube made, or the machine measured; why the call is not ours, if it
    /// is not.
    ///
    /// # Safety
    /// A live communicator, all of whose ranks do the same: none makes a call alone that is counted, as it may one that MPI refuses.
    pub unsafe fn count(own: *mut Communicator, call: &'static str, form: Form, turn: &Turn) -> Result<(), Left> {
        (*own).counter.count();
        if form == Form::Persistent {
            (*own).worth.know();
        }
        let reaches = form != Form::Nonblocking && (*own).worth.reach();
        match (*own).cube {
            Cube::Native(why) => return Err(Left::ToMpi(why)),
            // It may not wait for other ranks, as it takes to make one.
            Cube::Later if form == Form::Nonblocking => {
                return Err(Left::ToMpi("no hypercube yet, and no time to make one"));
            }
            Cube::Ours(_) if form == Form::Nonblocking && (*own).started.is_none() => {
                return Err(Left::ToMpi(NOT_STARTED));
            }
            Cube::Ours(_) => {
                if reaches && (*own).worth.was_not() && (*own).started.is_none() {
                    // When it was made went by time, and so whether there had been nonblocking calls.
                    let nobody_starts = (*own).all_say(call, !STARTS.load(Relaxed));
                    let nobody_starts = (*own).met(nobody_starts)?;
                    (*own).start_calls(!nobody_starts, call)?;
                    quick::forget_on(native::word((*own).comm));
                }
                if form != Form::Blocking || !(*own).counter.is_due() {
                    return Ok(());
                }
                if !(*own).is_settled() {
                    let looked = (*own).look(call);
                    (*own).met(looked)?;
                }
                if (*own).is_settled() {
                    (*own).counter.settle();
                }
                return Ok(());
            }
            Cube::Later => (),
        }
        let is_young = !is_world((*own).comm) && (*own).counter.calls() < session::facts().asked.from;
        let worth = (*own).worth.is_known();
        match (*own).is_asked() {
            false if is_young => Err(Left::ToMpi("a young communicator")),
            false if !worth && !(*own).counter.is_due() => Err(Left::ToMpi(NOT_WORTH)),
            asked => Communicator::make(own, call, asked || worth, turn),
        }
    }

    /// Has a hypercube made, if there is room for one, and the ranks share a host, or that is worth it for one of them.
    ///
    /// # Safety
    /// As for [`Communicator::count`].
    pub unsafe fn make(own: *mut Communicator, call: &'static str, worth: bool, turn: &Turn) -> Result<(), Left> {
        let asked = &session::facts().asked;
        if !native::is_of_this_job((*own).comm) {
            (*own).cube = OF_ANOTHER_JOB;
            return Err(Left::ToMpi(ANOTHER_JOB));
        }
        let tables = session::tables(turn);
        let room = tables.communicators.live() < AT_ONCE;
        let worth = worth || !asked.may_wait;
        let by_time = tables.natively >= worth::SECONDS;
        // Ranks share a host if its number is the least and the greatest.
        let host = hypercoll::raw::host();
        let said = [u64::from(room), u64::from(!worth), u64::from(!by_time), host, !host];
        let agreed = native::agree(call, said, ffi::RSMPI_UINT64_T, ffi::RSMPI_MIN, (*own).comm);
        let [room, for_nobody, nor_by_time, least, greatest] = (*own).met(agreed)?.unwrap_or_default();
        if room == 0 {
            let why = "as many communicators as are served at a time";
            (*own).cube = Cube::Native(why);
            return Err(Left::ToMpi(why));
        }
        (*own).counter.looks(FIRST_LOOK);
        if for_nobody == 1 && least != !greatest {
            // Noted whatever time says, by which no sum may go.
            (*own).worth.is_not();
            if nor_by_time == 1 {
                return Err(Left::ToMpi(NOT_WORTH));
            }
        }
        // Most communicators have no nonblocking calls. That of all ranks gets its hypercube before it is known.
        let starts = asked.from == 1 || is_world((*own).comm) || STARTS.load(Relaxed);
        let said = [c_int::from(!starts), asked.compares as c_int];
        let made = made(call, (*own).comm, (*own).measures, said);
        (*own).cube = match (*own).met(made)? {
            Ok((cube, [nobody_starts, tries])) => {
                (*own).tries = Compares::of(tries);
                // Links that are none were refused when they were named, if there was a hypercube then.
                if cube.avoid_links(&(*own).avoid).is_err() {
                    (*own).avoid.clear();
                }
                (*own).start_calls(nobody_starts == 0, call)?;
                session::tables(turn).communicators.served += 1;
                (*own).since = Instant::now();
                Cube::Ours(Rc::new(cube))
            }
            Err(why) => {
                if let Some(why) = why.filter(|_| (*own).rank == 0) {
                    eprintln!("hypercoll: collectives of a communicator are left to MPI: {why}");
                }
                Cube::Native("no hypercube can be made")
            }
        };
        // Of nonblocking calls that are known to be MPI's.
        quick::forget_on(native::word((*own).comm));
        match (*own).cube {
            Cube::Native(why) => Err(Left::ToMpi(why)),
            _ => Ok(()),
        }
    }

    /// Has a hypercube made for its nonblocking calls, if a rank has made some.
    ///
    /// # Safety
    /// As for [`Communicator::count`].
    unsafe fn start_calls(&mut self, starts: bool, call: &'static str) -> Result<(), Left> {
        if starts && requests::are_possible() {
            let another = self.another(call);
            self.started = self.met(another)?;
        }
        Ok(())
    }

    /// What stands for all calls on it.
    pub fn always(&self) -> &Stands {
        &self.always
    }

    /// Whether its hypercube stays.
    fn is_settled(&self) -> bool {
        match &self.cube {
            Cube::Ours(cube) => cube.is_measured(),
            _ => true,
        }
    }

    /// Whether all ranks say so, which meet in that call: they may have made other communicators, each with other ranks.
    ///
    /// # Errors
    /// As [`native::agree`]'s.
    ///
    /// # Safety
    /// A live communicator, all of whose ranks do the same.
    unsafe fn all_say(&self, call: &'static str, so: bool) -> Result<bool, Error> {
        let said = [c_int::from(so)];
        Ok(native::agree(call, said, ffi::RSMPI_INT32_T, ffi::RSMPI_MIN, self.comm)? == Some([1]))
    }

    /// Whether something was asked of its calls.
    fn is_asked(&self) -> bool {
        self.reproducible || !self.options.is_empty() || !self.avoid.is_empty()
    }

    /// Notes what another call is about, so many bytes if all ranks know how many, and whether its last bits depend on who makes it.
    pub fn note_worth(&mut self, bytes: Option<usize>, is_sum: bool) {
        self.worth.note(bytes, is_sum, self.counter.calls());
    }

    /// Whether such sums are native MPI's, as all ranks have begun with a few.
    pub fn leaves_sums(&self) -> bool {
        self.worth.leaves_sums() && !self.is_asked()
    }

    /// Whether nothing but a hypercube, if there comes one, changes who makes such a call.
    pub fn is_left_alone(&self, is_sum: bool) -> bool {
        !is_sum || self.worth.is_known()
    }

    /// Whether it has no hypercube yet, and may get one.
    pub fn waits(&self) -> bool {
        matches!(self.cube, Cube::Later)
    }

    /// Whether native MPI makes a call, for that reason, only because calls are worth no hypercube yet.
    pub fn waits_by(&self, why: &str) -> bool {
        self.waits() && why == NOT_WORTH
    }

    /// Whether native MPI may make calls because it is faster, whose results depend on who makes them or not.
    pub fn may_be_native(&self, exact: bool) -> bool {
        self.tries >= if exact { Compares::Exact } else { Compares::All } && !self.is_asked()
    }

    /// What is known of calls of a collective and about one size.
    pub fn trial(&mut self, kind: Kind, class: Class) -> &mut Trial {
        self.trials.entry((kind, class)).or_insert_with(|| Trial::new(&self.counter))
    }

    /// Until when calls like these are found to be faster by native MPI, if they are.
    pub fn found_native(&self, kind: Kind, class: Class) -> Option<&Stands> {
        self.trials.get(&(kind, class)).and_then(Trial::found_native)
    }

    /// What a call like these takes natively, if that has been tried, and they are about one size.
    pub fn natively(&self, kind: Kind, class: Class) -> Option<f64> {
        self.trials.get(&(kind, class)).filter(|_| class != Class::Any).and_then(Trial::natively)
    }

    /// Notes a call that was made before the machine has been measured. A reduction like it that is not `exact` is made in the same way after
    /// that, too, so that the last bits of sums stay the same within a run: to those a measurement is worth nothing. What is to be noted if it
    /// is made again.
    pub fn note_early(&mut self, call: Call, element: usize, exact: bool, choice: &Choice) -> f64 {
        let chosen = || Options::exactly(choice.algorithm, &choice.parameters);
        if exact || self.early.insert((call, element), chosen()).is_none() {
            self.predicted += choice.predicted;
        }
        if exact {
            choice.predicted
        } else {
            0.0
        }
    }

    /// Notes such a call that is made again.
    pub fn note_again(&mut self, seconds: f64) {
        self.predicted += seconds;
    }

    /// What is asked of a call.
    pub fn asked(&self, call: &Call, element: usize) -> Options {
        if self.options.is_empty() && !self.reproducible {
            let early = Some(&self.early).filter(|early| !early.is_empty() && self.is_settled());
            return early.and_then(|early| early.get(&(call.clone(), element))).cloned().unwrap_or_default();
        }
        let asked = self.options.iter().find(|(collective, _)| *collective == call.collective);
        let asked = asked.map_or_else(Options::default, |(_, options)| options.clone());
        let Cube::Ours(cube) = &self.cube else { return asked };
        if !self.reproducible || !call.collective.reduces() {
            return asked;
        }
        // By what is the same in every run, and not by what was measured in this one.
        let machine = Machine::built_in(cube.machine().shared.map(|shared| shared.cores));
        let call = placed(call, cube);
        match cube.choice_on(&machine, &call, element, &asked) {
            Ok(choice) => Options::exactly(choice.algorithm, &choice.parameters),
            // The call itself says what is wrong.
            Err(_) => asked,
        }
    }

    /// Whether native MPI is known to be faster for a call.
    pub fn native_is_faster(&mut self, call: &Call, element: usize) -> bool {
        let Cube::Ours(cube) = &self.cube else { return true };
        if cube.machine().checked.is_none() || call.layout.is_some() || self.is_asked() {
            return false;
        }
        let asked = (call.collective, call.count, element, call.ordered);
        let place = (call.collective as usize ^ call.count) % self.faster.len();
        if let Some((_, faster)) = self.faster[place].filter(|(known, _)| *known == asked) {
            return faster;
        }
        let call = placed(call, cube);
        let faster = cube.machine().native_is_faster(&call, element);
        self.faster[place] = Some((asked, faster));
        faster
    }
}

/// Whether it is that of all ranks.
fn is_world(comm: MPI_Comm) -> bool {
    // SAFETY: a constant of the support library.
    native::word(comm) == native::word(unsafe { ffi::RSMPI_COMM_WORLD })
}

/// A call with the hosts that the ranks share.
fn placed(call: &Call, cube: &Hypercube) -> Call {
    let hosts = cube.hosts().filter(|_| call.collective.knows_hosts()).cloned();
    Call { hosts, ..call.clone() }
}
