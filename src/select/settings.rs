//! What rank 0 finds in its environment and its files, and what all ranks make of it.
//!
//! Ranks may have different environments, and some no file system: rank 0 reads, its [`Sources`] are spread, and every
//! rank draws the same conclusions from them.

use super::tuning::{default_place, Here, Tuning};
use super::{Machine, Overrides};
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::Path;

/// The variable that names a tuning file.
const TUNING: &str = "HYPERCOLL_TUNING";

/// What was found: variables and a file, as texts.
#[derive(Clone, PartialEq, Debug)]
pub struct Sources {
    here: Here,
    variables: Vec<(String, String)>,
    file: Option<File>,
}

#[derive(Clone, PartialEq, Debug)]
struct File {
    path: String,
    /// Named by the user, and not found in the default place.
    named: bool,
    /// Its text, or why it cannot be read.
    text: std::result::Result<String, String>,
}

/// What follows from [`Sources`].
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The machine that the choice takes.
    pub machine: Machine,
    /// What the environment asks of calls.
    pub overrides: Overrides,
    /// A tuning file that has been refused, and why.
    pub refused: Option<String>,
}

impl Sources {
    /// Reads the environment and the tuning file: `file`, if given, else the one that `HYPERCOLL_TUNING` names (none, if
    /// empty), else the one in the default place, if there is one.
    pub fn read(here: Here, file: Option<&Path>) -> Sources {
        let variable = |name: &str| std::env::var_os(name);
        Sources::found(here, file, variable)
    }

    /// The same without a tuning file.
    pub fn without_file(self) -> Sources {
        Sources { file: None, ..self }
    }

    /// As one text, which [`Sources::parse`] reads on other ranks: fields, each ended by a NUL, which no variable, path or TOML has.
    pub fn text(&self) -> String {
        let Sources { here: Here { host, mpi, shares_memory }, variables, file } = self;
        let mut text = String::new();
        let mut field = |part: &str| {
            text.push_str(&part.replace('\0', "\u{fffd}"));
            text.push('\0');
        };
        field(host);
        field(flag(*shares_memory));
        field(flag(mpi.is_some()));
        field(mpi.as_deref().unwrap_or_default());
        field(flag(file.is_some()));
        if let Some(File { path, named, text }) = file {
            field(path);
            field(flag(*named));
            field(flag(text.is_ok()));
            field(text.as_ref().unwrap_or_else(|why| why));
        }
        for (name, value) in variables {
            field(name);
            field(value);
        }
        text
    }

    /// What was written by [`Sources::text`]; `None` if `text` was not.
    pub fn parse(text: &str) -> Option<Sources> {
        let mut fields = text.strip_suffix('\0')?.split('\0');
        let mut field = || fields.next().map(String::from);
        let host = field()?;
        let shares_memory = field()? == flag(true);
        let (known, mpi) = (field()? == flag(true), field()?);
        let file = match field()? == flag(true) {
            false => None,
            true => {
                let (path, named, read, text) = (field()?, field()? == flag(true), field()? == flag(true), field()?);
                Some(File { path, named, text: if read { Ok(text) } else { Err(text) } })
            }
        };
        let mut variables = Vec::new();
        while let Some(name) = field() {
            variables.push((name, field()?));
        }
        Some(Sources { here: Here { host, mpi: known.then_some(mpi), shares_memory }, variables, file })
    }

    fn found(here: Here, file: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Sources {
        let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
        let set = Overrides::VARIABLES.iter().filter_map(|name| Some((name.to_string(), text(name)?)));
        let variables = set.collect();
        let named = file.map(Path::as_os_str).map(OsString::from).or_else(|| variable(TUNING));
        let file = match named {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(File::read(Path::new(&path), true)),
            None => {
                let place = default_place(&here, &variable);
                place.filter(|path| !matches!(path.try_exists(), Ok(false))).map(|path| File::read(&path, false))
            }
        };
        Sources { here, variables, file }
    }

    /// What follows for ranks that share `cores`, or no memory.
    ///
    /// # Errors
    /// [`Error::Environment`]; [`Error::Tuning`] if a file that the user named cannot be read or makes no sense. One that was
    /// made for other machines is no error but refused, with a warning.
    pub fn resolve(&self, cores: Option<usize>) -> Result<Settings> {
        let find = |name: &str| self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let overrides = Overrides::parse(find)?;
        let built_in = || Machine::built_in(cores);
        let Some(File { path, named, text }) = &self.file else {
            return Ok(Settings { machine: built_in(), overrides, refused: None });
        };
        let refusal = match text.as_ref().map_err(String::clone).and_then(|text| Tuning::parse(text)) {
            Err(why) if *named => return Err(Error::Tuning { file: path.clone(), why }),
            Err(why) => why,
            Ok(tuning) => match tuning.differences(&self.here) {
                differences if differences.is_empty() => {
                    return Ok(Settings { machine: tuning.machine(cores), overrides, refused: None });
                }
                differences => differences.join("; "),
            },
        };
        let refused = format!("tuning file {path} refused: {refusal}");
        let mut machine = built_in();
        machine.name = format!("{}; {refused})", machine.name.trim_end_matches(')'));
        Ok(Settings { machine, overrides, refused: Some(refused) })
    }
}

impl File {
    fn read(path: &Path, named: bool) -> File {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"));
        File { path: path.display().to_string(), named, text }
    }
}

/// A yes or a no, as a field.
fn flag(yes: bool) -> &'static str {
    if yes {
        "yes"
    } else {
        "no"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_rank_writes_another_reads() {
        let here =
            |mpi: Option<&str>| Here { host: "h".into(), mpi: mpi.map(String::from), shares_memory: mpi.is_none() };
        let file = |named, text| Some(File { path: "/a b/c.toml".into(), named, text });
        let variables =
            vec![("HYPERCOLL_PACKET".to_string(), "8KiB".to_string()), ("HYPERCOLL_PORTS".into(), "".into())];
        for mpi in [None, Some(""), Some("Open MPI v4.1.4")] {
            for file in [None, file(true, Ok("tau = 1\n".into())), file(false, Err("cannot be read".into()))] {
                for variables in [Vec::new(), variables.clone()] {
                    let sources = Sources { here: here(mpi), variables, file: file.clone() };
                    assert_eq!(Sources::parse(&sources.text()), Some(sources));
                }
            }
        }
        assert_eq!(Sources::parse(""), None);
        assert_eq!(Sources::parse("h\0yes\0"), None);
    }
}
