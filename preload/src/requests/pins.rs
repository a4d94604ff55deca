//! Datatypes and operations that calls under way use. The program may free them meanwhile: that is done later.

use crate::native::{self, ffi};
use crate::session;
use crate::turn::{self, Turn};
use ffi::{MPI_Datatype, MPI_Op};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering::Relaxed;

/// One that the program has made.
#[derive(Clone, Copy)]
pub enum Pin {
    Type(MPI_Datatype),
    Operation(MPI_Op),
}

#[derive(Default)]
struct Uses {
    calls: usize,
    /// How often the program has freed it: MPI may have given it other references, which are the same handle.
    freed: usize,
}

type Table = FxHashMap<usize, Uses>;

/// All that are in use.
#[derive(Default)]
pub struct Pins {
    types: Table,
    operations: Table,
}

impl Pin {
    /// `None` of a predefined one.
    pub fn of_type(datatype: MPI_Datatype) -> Option<Pin> {
        let predefined = session::facts().types.contains_key(&native::word(datatype));
        (!predefined && !native::is_null_type(datatype)).then_some(Pin::Type(datatype))
    }

    /// `None` of a predefined one.
    pub fn of_operation(op: MPI_Op) -> Option<Pin> {
        let predefined = session::facts().operations.iter().any(|(known, _)| *known == native::word(op));
        (!predefined).then_some(Pin::Operation(op))
    }
}

impl Pins {
    fn uses(&mut self, pin: Pin) -> (&mut Table, usize) {
        match pin {
            Pin::Type(datatype) => (&mut self.types, native::word(datatype)),
            Pin::Operation(op) => (&mut self.operations, native::word(op)),
        }
    }

    fn add(&mut self, pin: Pin) {
        let (table, word) = self.uses(pin);
        table.entry(word).or_default().calls += 1;
    }

    /// Notes that the program frees one; whether it is in use.
    fn free_later(&mut self, pin: Pin) -> bool {
        let (table, word) = self.uses(pin);
        let used = table.get_mut(&word);
        used.map(|uses| uses.freed += 1).is_some()
    }

    /// One use of it ends; how often it is to be freed.
    fn end(&mut self, pin: Pin) -> usize {
        let (table, word) = self.uses(pin);
        let Some(uses) = table.get_mut(&word) else { return 0 };
        uses.calls -= 1;
        if uses.calls > 0 {
            return 0;
        }
        table.remove(&word).map_or(0, |uses| uses.freed)
    }
}

/// What a call uses, until this is dropped.
#[derive(Default)]
pub struct Pinned {
    pins: Vec<Pin>,
}

impl Pinned {
    pub fn add(&mut self, pin: Option<Pin>, turn: &Turn) {
        let Some(pin) = pin else { return };
        session::tables(turn).requests.pins.add(pin);
        self.pins.push(pin);
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.pins.is_empty() {
            return;
        }
        let turn = turn::take();
        for &pin in &self.pins {
            let times = session::tables(&turn).requests.pins.end(pin);
            for _ in 0..times {
                // SAFETY: the program has given it up so often, and nobody uses it.
                unsafe {
                    match pin {
                        Pin::Type(mut datatype) => ffi::PMPI_Type_free(&mut datatype),
                        Pin::Operation(mut op) => ffi::PMPI_Op_free(&mut op),
                    };
                }
            }
        }
    }
}

fn free_later(pin: Pin) -> bool {
    // One thread at a time frees nothing in the middle of a call that it waits for.
    (super::KNOWN.load(Relaxed) > 0 || session::several_threads())
        && session::is_active()
        && session::tables(&turn::take()).requests.pins.free_later(pin)
}

/// The program frees a datatype; whether that is done later.
#[inline]
pub fn free_type_later(datatype: MPI_Datatype) -> bool {
    free_later(Pin::Type(datatype))
}

/// The program frees an operation; whether that is done later.
#[inline]
pub fn free_operation_later(op: MPI_Op) -> bool {
    free_later(Pin::Operation(op))
}
