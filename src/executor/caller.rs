//! Where in a program its calls come from, where another interface wraps this library: what calls the library is then that interface,
//! which alone knows.

use std::sync::OnceLock;

/// The place in the program from which this thread has called the interface, if that can be seen.
pub(crate) type Caller = fn() -> Option<String>;

static CALLER: OnceLock<Caller> = OnceLock::new();

/// From now on calls come from where this says; for good.
#[cfg(feature = "mpi")]
pub(crate) fn named_by(caller: Caller) {
    // A second one would be of the same interface: there is one in a process.
    let _ = CALLER.set(caller);
}

/// Whether calls come from an interface, so that their place in its source tells users nothing.
pub(crate) fn is_interface() -> bool {
    CALLER.get().is_some()
}

/// The place, behind some words; nothing if it is not known. To find it takes long where a program has much to be looked through: for
/// what is rarely said.
pub(crate) fn place(behind: &str) -> String {
    CALLER.get().and_then(|caller| caller()).map_or(String::new(), |place| format!("{behind}{place}"))
}
