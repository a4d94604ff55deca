//! What a rank's environment asks of its transport.

use crate::error::{Error, Result};

/// What ranks of one host do with memory that they can share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Use {
    /// Nothing at all, as if each were on a host of its own.
    None,
    /// What they tell each other beside their messages, which go through MPI.
    Off,
    /// All messages go through it.
    TwoCopies,
    /// Long messages are copied from the sender's own memory.
    SingleCopy,
    /// The same from the length on from which that is sooner, as measured.
    #[default]
    Sooner,
}

/// What the variables say, or what goes without saying.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Asked {
    /// `HYPERCOLL_SHARED_MEMORY`.
    pub shared_memory: Use,
    /// Every send waits for its receive: `HYPERCOLL_SYNCHRONOUS_SENDS`.
    pub synchronous: bool,
    /// A thread drives MPI: `HYPERCOLL_PROGRESS`.
    pub progress: bool,
}

impl Asked {
    /// Reads the variables; one that is empty counts as not set.
    ///
    /// # Errors
    /// [`Error::Environment`].
    pub fn of(variable: impl Fn(&str) -> String) -> Result<Asked> {
        let mut asked = Asked::default();
        let refused = |name: &str, why: String| Err(Error::Environment { variable: name.into(), why });
        let name = "HYPERCOLL_SHARED_MEMORY";
        asked.shared_memory = match variable(name).as_str() {
            "" => Use::Sooner,
            "single-copy" => Use::SingleCopy,
            "two-copies" => Use::TwoCopies,
            "off" => Use::Off,
            "none" => Use::None,
            other => return refused(name, format!("'{other}' is none of single-copy, two-copies, off, none")),
        };
        let name = "HYPERCOLL_SYNCHRONOUS_SENDS";
        asked.synchronous = match variable(name).as_str() {
            "" | "0" => false,
            "1" => true,
            other => return refused(name, format!("'{other}' is neither 0 nor 1")),
        };
        let name = "HYPERCOLL_PROGRESS";
        asked.progress = match variable(name).as_str() {
            "" | "calls" => false,
            "thread" => true,
            other => return refused(name, format!("'{other}' is neither calls nor thread")),
        };
        Ok(asked)
    }

    /// For ranks that were asked for what there is, if others were not.
    pub fn refused_elsewhere() -> Error {
        let why =
            "on another rank, one of SHARED_MEMORY, TIMEOUT, ROLL_CALL, PROGRESS, SYNCHRONOUS_SENDS asks for what there is not";
        Error::Environment { variable: "HYPERCOLL_".into(), why: why.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Result<Asked> {
        Asked::of(|asked| if asked == name { value.into() } else { String::new() })
    }

    #[test]
    fn what_is_not_said_goes_without_saying() {
        let usual = Asked { shared_memory: Use::Sooner, synchronous: false, progress: false };
        assert_eq!(of("", ""), Ok(usual));
    }

    #[test]
    fn what_there_is_is_understood() {
        let usual = Asked::default();
        let shared = |way| Ok(Asked { shared_memory: way, ..usual });
        assert_eq!(of("HYPERCOLL_SHARED_MEMORY", "none"), shared(Use::None));
        assert_eq!(of("HYPERCOLL_SHARED_MEMORY", "off"), shared(Use::Off));
        assert_eq!(of("HYPERCOLL_SHARED_MEMORY", "two-copies"), shared(Use::TwoCopies));
        assert_eq!(of("HYPERCOLL_SHARED_MEMORY", "single-copy"), shared(Use::SingleCopy));
        assert_eq!(of("HYPERCOLL_SYNCHRONOUS_SENDS", "1"), Ok(Asked { synchronous: true, ..usual }));
        assert_eq!(of("HYPERCOLL_SYNCHRONOUS_SENDS", "0"), Ok(usual));
        assert_eq!(of("HYPERCOLL_PROGRESS", "thread"), Ok(Asked { progress: true, ..usual }));
        assert_eq!(of("HYPERCOLL_PROGRESS", "calls"), Ok(usual));
    }

    #[test]
    fn what_there_is_not_is_refused_by_name() {
        for (name, value) in [
            ("HYPERCOLL_SHARED_MEMORY", "on"),
            ("HYPERCOLL_SYNCHRONOUS_SENDS", "yes"),
            ("HYPERCOLL_PROGRESS", "threads"),
        ] {
            match of(name, value) {
                Err(Error::Environment { variable, why }) => {
                    assert_eq!(variable, name);
                    assert!(why.contains(value), "{why}");
                }
                other => panic!("{name}={value}: {other:?}"),
            }
        }
    }
}
