//! What rank 0 finds in its environment, for all ranks of a communicator.

use super::measure::AMONG_MORE;
use crate::error::{Error, Result};
use crate::executor::mpi::Found;
use crate::select::tuning::Here;
use crate::select::{Machine, Measurement, Settings, Sources, Spread};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::Communicator;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// What this process has measured, with others on several hosts, and with others on one.
static MEASURED: LazyLock<Mutex<[Measurement; 2]>> = LazyLock::new(Mutex::default);

/// What the first rank of a communicator has told this process, which may be the first one of another later.
static TOLD: Mutex<Option<Sources>> = Mutex::new(None);

/// What rank 0 finds, as text; whether all ranks share one memory makes a difference.
pub(super) fn found(shares_memory: bool) -> String {
    static HERE: OnceLock<Here> = OnceLock::new();
    let here = HERE.get_or_init(|| {
        let host = ::mpi::environment::processor_name().unwrap_or_default();
        let library = ::mpi::environment::library_version().unwrap_or_default();
        Here::of(&host, Some(&library), shares_memory)
    });
    let here = Here { shares_memory, ..here.clone() };
    let measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(shares_memory)];
    let own = Sources::read(here, None).knowing(measured);
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    match &*told {
        Some(told) => own.told(told).text(),
        None => own.text(),
    }
}

/// Notes what has been measured, in place of what had been measured of it before, for the communicators to come.
pub(super) fn remember(shares_memory: bool, measured: &Measurement) {
    let known = &mut MEASURED.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(shares_memory)];
    // What was found briefly of links does not stand beside what was not, as if it had not been either.
    let links = known.links.filter(|_| measured.is_brief() || !known.is_brief());
    *known = measured.or(&Measurement { links, ..*known });
}

/// What follows from it for this one of so many ranks. It is mostly the same as for the communicator made before.
pub(super) fn resolved(found: Found, rank: usize, size: usize) -> Result<Settings> {
    thread_local! {
        static LAST: RefCell<Option<(Found, usize, Settings)>> = const { RefCell::new(None) };
    }
    if let Some(settings) = LAST.with_borrow(|last| {
        let (_, _, settings) = last.as_ref().filter(|(known, ranks, _)| *known == found && *ranks == size)?;
        Some(settings.clone())
    }) {
        return Ok(settings);
    }
    let sources = Sources::parse(&found.text).ok_or_else(|| Error::Environment {
        variable: "HYPERCOLL_".into(),
        why: "rank 0's settings cannot be read".into(),
    })?;
    let spread = Spread::of(size, found.hosts.as_ref(), found.cores.is_some());
    let settings = sources.resolve(found.cores, Some(&spread))?;
    let settings = Settings { machine: among(settings.machine, size), ..settings };
    // The first of all ranks is asked by the user, and need not be told.
    if rank > 0 && SimpleCommunicator::world().rank() > 0 {
        *TOLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(sources);
    }
    LAST.set(Some((found, size, settings.clone())));
    Ok(settings)
}

/// The machine for so many ranks: what two ranks have measured of short single copies is theirs alone.
fn among(machine: Machine, ranks: usize) -> Machine {
    let least = if ranks > 2 { AMONG_MORE } else { 0 };
    Machine { single_copy_from: machine.single_copy_from.map(|bytes| bytes.max(least)), ..machine }
}

/// Says once what users must know of their tuning file. That it was made for ranks that are spread in another way is said of the first
/// communicator alone, which is as a rule the one of all ranks: parts of it are spread as they like.
pub(super) fn warn(Settings { refused, stale, .. }: &Settings) {
    static FIRST: AtomicBool = AtomicBool::new(true);
    static REFUSED: AtomicBool = AtomicBool::new(false);
    let first = FIRST.swap(false, Ordering::Relaxed);
    if let Some(refused) = refused.as_ref().filter(|_| !REFUSED.swap(true, Ordering::Relaxed)) {
        log::warn!("{refused}; it is not used");
    }
    if let Some(stale) = stale.as_ref().filter(|_| first) {
        log::warn!("{stale}; it is used all the same");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_single_copies_are_for_two_ranks() {
        let of = |bytes, ranks| {
            let machine = Machine { single_copy_from: bytes, ..Machine::built_in(Some(2)) };
            among(machine, ranks).single_copy_from
        };
        assert_eq!(of(Some(4 << 10), 2), Some(4 << 10));
        assert_eq!(of(Some(4 << 10), 3), Some(16 << 10));
        assert_eq!(
            [Some(32 << 10), Some(usize::MAX), None].map(|bytes| of(bytes, 8)),
            [Some(32 << 10), Some(usize::MAX), None]
        );
    }
}
