//! What there is from `MPI_Init` to `MPI_Finalize`: what the environment asks for, what MPI is like, and what is ours in this process.

use crate::caller;
use crate::communicator::{self, Communicators};
use crate::datatype::Layout;
use crate::foreign;
use crate::heap;
use crate::kind::{Form, Kind, Kinds};
use crate::native::{self, ffi, Named, Predefined, SUCCESS};
use crate::quick;
use crate::report::{self, Report};
use crate::requests::{self, Requests};
use crate::told;
use crate::turn::{self, Turn};
use ffi::{MPI_Comm, MPI_Datatype};
use hypercoll::select::tuning::{file_that_counts, host_name, Here};
use rustc_hash::FxHashMap;
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void, OsString};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

const BEFORE: u8 = 0;
const ACTIVE: u8 = 1;
const OVER: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(BEFORE);
static SEVERAL_THREADS: AtomicBool = AtomicBool::new(false);
/// Whether MPI begins by a function that all ranks call.
static STARTS: AtomicBool = AtomicBool::new(false);
static FACTS: OnceLock<Facts> = OnceLock::new();
static OWN: Own = Own(UnsafeCell::new(None));

/// What does not change.
pub struct Facts {
    pub types: FxHashMap<usize, Named>,
    pub operations: Vec<(usize, Predefined)>,
    /// Where communicators, and datatypes, have what is ours.
    pub communicator_key: c_int,
    datatype_key: c_int,
    alone: Alone,
    /// Whether MPI refuses to send and receive into the same memory.
    pub refuses_aliases: bool,
    /// Whether it is one of those that refuse it in a reduction to a rank, and of two elements or more in one to all, and nowhere else.
    pub refuses_reduced_aliases: bool,
    /// As [`Facts::refuses_aliases`] where nothing is received, as on rank 0 in `MPI_Exscan`.
    pub refuses_unused_aliases: bool,
    /// Whether MPI looks at no datatype of `MPI_Alltoallw` of which there are no elements.
    pub takes_any_type_of_nothing: bool,
    pub asked: Asked,
}

/// A communicator of this rank alone, which returns errors.
struct Alone(MPI_Comm);

// SAFETY: a handle, which MPI takes from every thread that it serves.
unsafe impl Send for Alone {}
// SAFETY: as above.
unsafe impl Sync for Alone {}

/// A communicator of this rank alone, which returns errors.
pub fn alone() -> MPI_Comm {
    facts().alone.0
}

/// What the environment asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The collectives that are ours.
    pub ours: Kinds,
    /// The call on a communicator from which on its calls are ours.
    pub from: u64,
    /// The calls for which native MPI is tried out, and which it makes if it is faster.
    pub compares: Compares,
    /// Where to report to.
    pub report: Option<String>,
    /// The same bits in every run.
    pub reproducible: bool,
    /// Whether calls over links may be native MPI's until they are worth more.
    pub may_wait: bool,
}

/// Calls for which native MPI is tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compares {
    None,
    /// Those whose results are the same whoever makes them.
    Exact,
    /// Reductions of floating-point numbers, too: who makes them depends on the time that they take, and so do their last bits.
    All,
}

impl Compares {
    /// That of this number.
    pub fn of(number: c_int) -> Compares {
        let all = [Compares::None, Compares::Exact, Compares::All];
        all.into_iter().find(|compares| *compares as c_int == number).unwrap_or(Compares::None)
    }
}

/// What is ours, of the thread that has its turn.
pub struct Tables {
    layouts: FxHashMap<usize, Layout>,
    pub communicators: Communicators,
    pub requests: Requests,
    pub report: Option<Report>,
    /// Seconds spent in calls of MPI's on communicators that wait for a hypercube.
    pub natively: f64,
}

struct Own(UnsafeCell<Option<Tables>>);

// SAFETY: used by the thread that has its turn, alone; where MPI serves one thread at a time, the program sees to that.
unsafe impl Sync for Own {}

/// Whether MPI serves several threads at once.
pub fn several_threads() -> bool {
    SEVERAL_THREADS.load(Ordering::Relaxed)
}

/// Whether calls may be ours. (A program whose `MPI_Init` went another way is noticed here.)
pub fn is_active() -> bool {
    match STATE.load(Ordering::Acquire) {
        ACTIVE => true,
        BEFORE => late(),
        _ => false,
    }
}

#[cold]
fn late() -> bool {
    let (mut is_up, mut is_over) = (0, 0);
    // SAFETY: allowed at any time; valid out parameters.
    unsafe {
        ffi::PMPI_Initialized(&mut is_up);
        ffi::PMPI_Finalized(&mut is_over);
    }
    if is_up != 0 && is_over == 0 && !STARTS.load(Ordering::Acquire) {
        begin(false);
    }
    STATE.load(Ordering::Acquire) == ACTIVE
}

/// The facts; there are some while calls may be ours.
pub fn facts() -> &'static Facts {
    FACTS.get().expect("only asked for while calls may be ours")
}

/// The tables, for the thread that has its turn. What is got of them is not kept beyond the next call that may change them.
pub fn tables(_: &Turn) -> &'static mut Tables {
    // SAFETY: of one thread at a time; no two references from here are used alternately, as each is used up before the next is got.
    unsafe { (*OWN.0.get()).as_mut() }.expect("only asked for while calls may be ours")
}

/// MPI begins on all ranks of `MPI_COMM_WORLD` together: until [`begin`] is called, no other thread of the program's may come before it.
pub fn starts() {
    STARTS.store(true, Ordering::Release);
}

/// The environment, when it is read, is that of MPI_Init; what makes no sense in it is said, and leaves everything to MPI. `together`: all
/// ranks of `MPI_COMM_WORLD` call this.
pub fn begin(together: bool) {
    // Several threads may come here, if each makes its first call after an MPI_Init that went another way.
    static BEGINS: Mutex<()> = Mutex::new(());
    let _one_of_them = BEGINS.lock().unwrap_or_else(PoisonError::into_inner);
    if STATE.load(Ordering::Acquire) != BEFORE {
        return;
    }
    if let Some(other) = foreign::other() {
        foreign::say(&other);
        STATE.store(OVER, Ordering::Release);
        return;
    }
    heap::survives_forks();
    hypercoll::raw::callers_named_by(caller::place);
    let mut level = 0;
    // SAFETY: MPI is up; a valid out parameter.
    unsafe { ffi::PMPI_Query_thread(&mut level) };
    SEVERAL_THREADS.store(level >= ffi::MPI_THREAD_MULTIPLE as c_int, Ordering::Release);
    let told = if together { told::to_all().map_err(|error| error.to_string()) } else { Ok(()) };
    let asked = match told.and_then(|()| Asked::of(|name| std::env::var(name).ok())) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("hypercoll: {why}; all collectives are left to MPI");
            STATE.store(OVER, Ordering::Release);
            return;
        }
    };
    if asked.reproducible {
        // What is measured differs from run to run, and so would the choice.
        std::env::set_var("HYPERCOLL_MEASURE", "off");
        if std::env::var_os("HYPERCOLL_TUNING").is_none() {
            std::env::set_var("HYPERCOLL_TUNING", "");
        }
    }
    if level >= ffi::MPI_THREAD_SERIALIZED as c_int {
        // A request may be waited for by another thread than the one that has started it.
        // SAFETY: whatever uses the library here has its turn, or the program lets one thread call MPI at a time.
        unsafe { hypercoll::raw::threads_take_turns(requests::give_way) };
    }
    let (mut communicator_key, mut datatype_key, mut end_key) = (0, 0, 0);
    // SAFETY: a constant of the support library.
    let mut alone = unsafe { ffi::RSMPI_COMM_NULL };
    let nothing = std::ptr::null_mut();
    // SAFETY: MPI is up; the functions have the signatures that it calls them by, and are there as long as the program.
    let made = unsafe {
        ffi::PMPI_Comm_create_keyval(
            Some(not_copied::<MPI_Comm>),
            Some(communicator::freed),
            &mut communicator_key,
            nothing,
        ) == SUCCESS
            && ffi::PMPI_Type_create_keyval(
                Some(not_copied::<MPI_Datatype>),
                Some(type_freed),
                &mut datatype_key,
                nothing,
            ) == SUCCESS
            && ffi::PMPI_Comm_create_keyval(Some(not_copied::<MPI_Comm>), Some(mpi_ends), &mut end_key, nothing)
                == SUCCESS
            && ffi::PMPI_Comm_set_attr(ffi::RSMPI_COMM_SELF, end_key, nothing) == SUCCESS
            // Not a duplicate, for which attributes of the program's would be asked.
            && ffi::PMPI_Comm_split(ffi::RSMPI_COMM_SELF, 0, 0, &mut alone) == SUCCESS
            && ffi::PMPI_Comm_set_errhandler(alone, ffi::RSMPI_ERRORS_RETURN) == SUCCESS
    };
    if !made {
        eprintln!("hypercoll: MPI gives no attributes, or no communicators; all collectives are left to it");
        STATE.store(OVER, Ordering::Release);
        return;
    }
    let report = asked.report.is_some().then(Report::new);
    let types = native::types().into_iter().collect();
    let facts = Facts {
        types,
        operations: native::operations(),
        communicator_key,
        datatype_key,
        alone: Alone(alone),
        refuses_aliases: native::refuses_aliases(ffi::PMPI_Allreduce, alone),
        refuses_reduced_aliases: native::refuses_reduced_aliases(alone),
        refuses_unused_aliases: native::refuses_aliases(ffi::PMPI_Exscan, alone),
        takes_any_type_of_nothing: native::takes_any_type_of_nothing(alone),
        asked,
    };
    let _ = FACTS.set(facts);
    let requests = Requests::default();
    let tables = Tables {
        layouts: FxHashMap::default(),
        communicators: Communicators::default(),
        requests,
        report,
        natively: 0.0,
    };
    // SAFETY: the state says that nobody uses it yet, and one thread is here at a time.
    unsafe { *OWN.0.get() = Some(tables) };
    STATE.store(ACTIVE, Ordering::Release);
}

/// A duplicate of a communicator, or of a datatype, has nothing of its own at first.
unsafe extern "C" fn not_copied<H>(
    _: H,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    copied: *mut c_int,
) -> c_int {
    *copied = 0;
    SUCCESS
}

/// `MPI_Finalize` begins: it gives up `MPI_COMM_SELF` first, while all of MPI can still be used.
extern "C" fn mpi_ends(_: MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    if STATE.swap(OVER, Ordering::AcqRel) == ACTIVE {
        let turn = turn::take();
        quick::forget();
        requests::let_go(&turn);
        let tables = tables(&turn);
        let served = tables.communicators.let_go();
        if let (Some(report), Some(target)) = (tables.report.take(), &facts().asked.report) {
            report::write(report, served, target);
        }
        let mut alone = alone();
        // SAFETY: a communicator of ours; nothing of ours goes on.
        unsafe { ffi::PMPI_Comm_free(&mut alone) };
    }
    SUCCESS
}

/// The layout of a predefined datatype, if it has been needed before.
pub fn known_layout(datatype: MPI_Datatype) -> Option<Layout> {
    tables(&turn::take()).layouts.get(&native::word(datatype)).copied()
}

pub fn know_layout(datatype: MPI_Datatype, layout: Layout) {
    tables(&turn::take()).layouts.insert(native::word(datatype), layout);
}

/// The layout of a datatype of the program's, which MPI keeps with it.
pub fn attached_layout(datatype: MPI_Datatype) -> Option<Layout> {
    let (mut found, mut is_there) = (std::ptr::null_mut::<Layout>(), 0);
    // SAFETY: a live datatype and key; the out parameters are valid, the first of them as MPI wants it: the address of a pointer.
    let code = unsafe {
        ffi::PMPI_Type_get_attr(datatype, facts().datatype_key, (&raw mut found).cast::<c_void>(), &mut is_there)
    };
    // SAFETY: what is attached is a box, until the datatype is freed.
    (code == SUCCESS && is_there != 0).then(|| unsafe { *found })
}

pub fn attach_layout(datatype: MPI_Datatype, layout: Layout) {
    let kept = Box::into_raw(Box::new(layout));
    // SAFETY: a live datatype and key; `type_freed` gives the box back.
    let code = unsafe { ffi::PMPI_Type_set_attr(datatype, facts().datatype_key, kept.cast()) };
    if code != SUCCESS {
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(kept) });
    }
}

unsafe extern "C" fn type_freed(_: MPI_Datatype, _: c_int, kept: *mut c_void, _: *mut c_void) -> c_int {
    let _turn = turn::take();
    drop(Box::from_raw(kept.cast::<Layout>()));
    SUCCESS
}

impl Asked {
    /// What the variables say.
    ///
    /// # Errors
    /// Which one makes no sense, and why.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Asked, String> {
        let said = |name: &str| variable(name).filter(|value| !value.is_empty());
        let kinds =
            |name: &str| said(name).map(|list| Kinds::parse(&list).map_err(|why| format!("{name}: {why}"))).transpose();
        let mut ours = kinds("HYPERCOLL_ONLY")?.unwrap_or(Kinds::SERVED);
        if let Some(native) = kinds("HYPERCOLL_NATIVE")? {
            ours = ours.without(native);
        }
        let reproducible = match said("HYPERCOLL_REPRODUCIBLE").as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => return Err(format!("HYPERCOLL_REPRODUCIBLE: '{other}' is neither 0 nor 1")),
        };
        // Who asks for algorithms wants to see them.
        let forces = FORCES.iter().any(|name| said(name).is_some());
        let from = match said("HYPERCOLL_FROM_CALL") {
            None if forces || reproducible => 1,
            None => DEFAULT_FROM,
            Some(value) => match value.parse() {
                Ok(from @ 1..) => from,
                _ => return Err(format!("HYPERCOLL_FROM_CALL: '{value}' is no number of a call, from 1 on")),
            },
        };
        let compares = match said("HYPERCOLL_COMPARE").as_deref() {
            None if forces => Compares::None,
            None | Some("exact") => Compares::Exact,
            Some("all") => Compares::All,
            Some("off") => Compares::None,
            Some(other) => return Err(format!("HYPERCOLL_COMPARE: '{other}' is none of off, exact, all")),
        };
        // What depends on the time that calls take differs from run to run.
        let compares = if reproducible { Compares::None } else { compares };
        // What is known need not be measured, nor does what is to be ours in any case wait for that.
        let is_measured = said("HYPERCOLL_MEASURE").as_deref() != Some("off");
        let host = mpi::environment::processor_name().unwrap_or_default();
        let here = Here { host: host_name(&host).into(), cpu: None, mpi: None, shares_memory: false };
        let text = |name: &str| variable(name).map(OsString::from);
        let is_known = file_that_counts(&here, text("HYPERCOLL_TUNING"), text).is_some();
        let may_wait = is_measured && !is_known && from > 1 && compares != Compares::None;
        Ok(Asked { ours, from, compares, report: said("HYPERCOLL_REPORT"), reproducible, may_wait })
    }
}

/// To make a hypercube takes as long as a number of short calls, and many communicators are made for a few.
const DEFAULT_FROM: u64 = 17;

/// Variables that ask for algorithms.
const FORCES: [&str; 4] = ["HYPERCOLL_ALGORITHM", "HYPERCOLL_PACKET", "HYPERCOLL_PORTS", "HYPERCOLL_SYMMETRIZED"];

impl Tables {
    /// Notes a call, if that is asked for.
    pub fn note(&mut self, what: (Kind, Form), bytes: usize, by: report::By, seconds: f64, natively: Option<f64>) {
        if let Some(report) = &mut self.report {
            report.note(what, bytes, by, seconds, natively);
        }
    }
}
