//! How long ranks wait before they say so, and how they say it.

use crate::error::{Error, Result};
use std::io::Write;
use std::time::Duration;

/// How long ranks wait.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Patience {
    /// Before they call the roll: `HYPERCOLL_ROLL_CALL`, in seconds.
    pub report: Option<Duration>,
    /// Without any progress at all: `HYPERCOLL_TIMEOUT`, in seconds. A message counts as progress only when it, or a part of it, has
    /// come: the limit must exceed the longest one.
    pub timeout: Option<Duration>,
    /// Whether the job then ends, or the call.
    pub ends_job: bool,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { report: Some(Duration::from_secs(10)), timeout: None, ends_job: true }
    }
}

impl Patience {
    /// As the environment of this process says.
    ///
    /// # Errors
    /// As [`Patience::of`].
    #[cfg(feature = "mpi")]
    pub fn of_environment() -> Result<Patience> {
        Patience::of(|name| std::env::var_os(name).unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Reads the variables; one that is empty counts as not set.
    ///
    /// # Errors
    /// [`Error::Environment`].
    pub fn of(variable: impl Fn(&str) -> String) -> Result<Patience> {
        let mut patience = Patience::default();
        let seconds = |text: &str| text.parse().ok().map(Duration::from_secs);
        let refused = |name: &str, text: &str, what: &str| {
            Err(Error::Environment { variable: name.into(), why: format!("'{text}' is {what}") })
        };
        let name = "HYPERCOLL_TIMEOUT";
        let text = variable(name);
        let (limit, ends_job) = match text.strip_suffix(",error") {
            Some(limit) => (limit, false),
            None => (text.as_str(), true),
        };
        match seconds(limit) {
            _ if text.is_empty() => (),
            Some(limit) if !limit.is_zero() => (patience.timeout, patience.ends_job) = (Some(limit), ends_job),
            _ => {
                let what = "neither a whole number of seconds from 1 on, nor one with ',error' behind it";
                return refused(name, &text, what);
            }
        }
        let name = "HYPERCOLL_ROLL_CALL";
        let text = variable(name);
        match seconds(&text) {
            _ if text.is_empty() => (),
            Some(limit) => patience.report = (!limit.is_zero()).then_some(limit),
            None => return refused(name, &text, "no whole number of seconds"),
        }
        Ok(patience)
    }
}

/// Says something to whoever runs the program: by its log, or where there is none on standard error.
pub(crate) fn say(text: &str) {
    if log::log_enabled!(log::Level::Warn) {
        log::warn!("{text}");
    } else {
        // Nobody may be there to read it, and then a wait goes on.
        let _ = writeln!(std::io::stderr(), "hypercoll: {text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Result<Patience> {
        Patience::of(|asked| if asked == name { value.into() } else { String::new() })
    }

    #[test]
    fn limits_are_read() {
        let usual = Patience::default();
        assert_eq!(of("", ""), Ok(usual));
        let timeout = Some(Duration::from_secs(60));
        assert_eq!(of("HYPERCOLL_TIMEOUT", "60"), Ok(Patience { timeout, ..usual }));
        assert_eq!(of("HYPERCOLL_TIMEOUT", "60,error"), Ok(Patience { timeout, ends_job: false, ..usual }));
        assert_eq!(of("HYPERCOLL_ROLL_CALL", "3"), Ok(Patience { report: Some(Duration::from_secs(3)), ..usual }));
        assert_eq!(of("HYPERCOLL_ROLL_CALL", "0"), Ok(Patience { report: None, ..usual }));
        for (name, value) in [
            ("HYPERCOLL_TIMEOUT", "1m"),
            ("HYPERCOLL_TIMEOUT", "1.5"),
            ("HYPERCOLL_TIMEOUT", "0"),
            ("HYPERCOLL_TIMEOUT", "-1"),
            ("HYPERCOLL_TIMEOUT", ",error"),
            ("HYPERCOLL_ROLL_CALL", "soon"),
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
