//! What rank 0 finds in its environment, for all ranks of a communicator.

use crate::error::{Error, Result};
use crate::executor::mpi::Found;
use crate::select::{tuning, Measurement, Settings, Sources};
use std::cell::RefCell;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What this process has measured, with others on several hosts, and with others on one.
static MEASURED: Mutex<[Measurement; 2]> = Mutex::new([Measurement { times: None, piped: None, near: None }; 2]);

/// What rank 0 finds, as text; whether all ranks share one memory makes a difference.
pub(super) fn found(shares_memory: bool) -> String {
    static NAMES: OnceLock<(String, Option<String>)> = OnceLock::new();
    let (host, mpi) = NAMES.get_or_init(|| {
        let host = ::mpi::environment::processor_name().unwrap_or_default();
        let library = ::mpi::environment::library_version().unwrap_or_default();
        (tuning::host_name(&host).to_string(), Some(tuning::mpi_name(&library)))
    });
    let here = tuning::Here { host: host.clone(), mpi: mpi.clone(), shares_memory };
    let measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(shares_memory)];
    Sources::read(here, None).knowing(measured).text()
}

/// Notes what has been measured, for the communicators to come.
pub(super) fn remember(shares_memory: bool, measured: &Measurement) {
    let known = &mut MEASURED.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(shares_memory)];
    known.times = known.times.or(measured.times);
    known.piped = known.piped.or(measured.piped);
    known.near = known.near.or(measured.near);
}

/// What follows from it. It is mostly the same as for the communicator made before.
pub(super) fn resolved(found: Found) -> Result<Settings> {
    thread_local! {
        static LAST: RefCell<Option<(Found, Settings)>> = const { RefCell::new(None) };
    }
    if let Some(settings) = LAST.with_borrow(|last| {
        let (_, settings) = last.as_ref().filter(|(known, _)| *known == found)?;
        Some(settings.clone())
    }) {
        return Ok(settings);
    }
    let sources = Sources::parse(&found.text).ok_or_else(|| Error::Environment {
        variable: "HYPERCOLL_".into(),
        why: "rank 0's settings cannot be read".into(),
    })?;
    let settings = sources.resolve(found.cores)?;
    LAST.set(Some((found, settings.clone())));
    Ok(settings)
}
