//! What rank 0 finds in its environment and its files, and what all ranks make of it.
//!
//! Ranks may have different environments, and some no file system: rank 0 reads, its [`Sources`] are spread, and every
//! rank draws the same conclusions from them.

use super::tuning::{file_that_counts, Here, Tuning};
use super::{caches, Alone, Links, Machine, Measurement, Overrides, Spread, Times, Together};
use crate::algorithm::PortModel;
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::Path;

/// The variable that names a tuning file.
const TUNING: &str = "HYPERCOLL_TUNING";

/// The variable that says whether what no file tells is measured.
const MEASURE: &str = "HYPERCOLL_MEASURE";

/// What was found: variables and a file, as texts, and what has been measured before.
#[derive(Clone, PartialEq, Debug)]
pub struct Sources {
    here: Here,
    variables: Vec<(String, String)>,
    file: Option<File>,
    /// As [`SharedMemory::cache`](super::SharedMemory::cache).
    cache: Option<usize>,
    measured: Measurement,
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
    /// The tuning file that the machine is from.
    pub file: Option<String>,
    /// A tuning file that has been refused, and why.
    pub refused: Option<String>,
    /// In what the ranks differ from those for which the file that is used was made; see [`Tuning::stale`].
    pub stale: Option<String>,
    /// What the machine lacks that a measurement would tell; nothing if the user wants none.
    pub lacks: Lacks,
    /// The part of it that a brief measurement over links would tell, as far as none has told it.
    pub lacks_at_first: Lacks,
}

/// What is not known of a machine; see [`Measurement`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lacks {
    /// [`Measurement::times`].
    pub times: bool,
    /// [`Measurement::near`].
    pub near: bool,
    /// [`Measurement::links`].
    pub links: bool,
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

    /// The same with what has been measured before.
    pub fn knowing(self, measured: Measurement) -> Sources {
        Sources { measured, ..self }
    }

    /// The same, but with what the user has asked of another process, which told this one: processes on other hosts may have other variables, and
    /// no file system. What is in the default place for such ranks goes before what that one found there.
    #[cfg(feature = "mpi")]
    pub(crate) fn told(self, told: &Sources) -> Sources {
        let named = told.variables.iter().any(|(name, _)| name == TUNING);
        let file = match self.file.filter(|_| !named) {
            None if named || told.here.shares_memory == self.here.shares_memory => told.file.clone(),
            own => own.filter(|file| !file.named),
        };
        Sources { variables: told.variables.clone(), file, ..self }
    }

    /// As one text, which [`Sources::parse`] reads on other ranks: fields, each ended by a NUL, which no variable, path or TOML has.
    pub fn text(&self) -> String {
        let Sources { here: Here { host, cpu, mpi, shares_memory }, variables, file, cache, measured } = self;
        let mut text = String::new();
        let mut field = |part: &str| {
            text.push_str(&part.replace('\0', "\u{fffd}"));
            text.push('\0');
        };
        field(host);
        field(flag(*shares_memory));
        field(flag(cpu.is_some()));
        field(cpu.as_deref().unwrap_or_default());
        field(flag(mpi.is_some()));
        field(mpi.as_deref().unwrap_or_default());
        field(&bits_text(measured.times.map(|Times { tau, hop, t_c }| [tau, hop, t_c])));
        field(&bits_text(measured.together.tau.map(|tau| [tau])));
        field(&bits_text(measured.together.hop.map(|hop| [hop])));
        field(&bits_text(measured.alone.map(|Alone { tau, hop }| [tau, hop])));
        field(&measured.burst.map_or(String::new(), |bytes| bytes.to_string()));
        field(&bits_text(measured.piped.map(|piped| [piped])));
        field(&measured.single_copy_from.map_or(String::new(), |bytes| bytes.to_string()));
        field(&bits_text(measured.near.map(|Times { tau, hop, t_c }| [tau, hop, t_c])));
        let links = measured.links.map(|Links { ports, pairs_linked }| [ports == PortModel::AllPorts, pairs_linked]);
        field(&links.map_or(String::new(), |both| both.map(flag).join(" ")));
        field(&cache.map_or(String::new(), |bytes| bytes.to_string()));
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
        let mut known = || {
            let (known, text) = (field()? == flag(true), field()?);
            Some(known.then_some(text))
        };
        let (cpu, mpi) = (known()?, known()?);
        let times = |[tau, hop, t_c]: [f64; 3]| Times { tau, hop, t_c };
        let measured = Measurement {
            times: bits_of(&field()?).map(times),
            together: Together { tau: bits_of(&field()?).map(|[tau]| tau), hop: bits_of(&field()?).map(|[hop]| hop) },
            alone: bits_of(&field()?).map(|[tau, hop]| Alone { tau, hop }),
            burst: field()?.parse().ok(),
            piped: bits_of(&field()?).map(|[piped]| piped),
            single_copy_from: field()?.parse().ok(),
            near: bits_of(&field()?).map(times),
            links: field()?.split_once(' ').map(|(all_ports, linked)| Links {
                ports: if all_ports == flag(true) { PortModel::AllPorts } else { PortModel::OnePort },
                pairs_linked: linked == flag(true),
            }),
        };
        let cache = field()?.parse().ok();
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
        Some(Sources { here: Here { host, cpu, mpi, shares_memory }, variables, file, cache, measured })
    }

    fn found(here: Here, file: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Sources {
        let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
        let names = Overrides::VARIABLES.iter().chain([&MEASURE, &TUNING]);
        let set = names.filter_map(|name| Some((name.to_string(), text(name)?)));
        let variables = set.collect();
        let named = file.map(Path::as_os_str).map(OsString::from).or_else(|| variable(TUNING));
        let file = file_that_counts(&here, named, &variable).map(|(path, named)| File::read(&path, named));
        Sources { here, variables, file, cache: caches::second(), measured: Measurement::default() }
    }

    /// What follows for ranks that share `cores`, or no memory, and are spread over hosts like this, if that is known.
    ///
    /// # Errors
    /// [`Error::Environment`]; [`Error::Tuning`] if a file that the user named cannot be read or makes no sense. One that was
    /// made for other machines is no error but refused, with a warning.
    pub fn resolve(&self, cores: Option<usize>, spread: Option<&Spread>) -> Result<Settings> {
        let find = |name: &str| self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let overrides = Overrides::parse(find)?;
        let measures = match find(MEASURE).as_deref().unwrap_or_default() {
            "" | "on" => true,
            "off" => false,
            other => {
                let why = format!("'{other}' is neither on nor off");
                return Err(Error::Environment { variable: MEASURE.into(), why });
            }
        };
        let (mut machine, mut refused, mut differences) = (None, None, Vec::new());
        if let Some(File { path, named, text }) = &self.file {
            let refusal = match text.as_ref().map_err(String::clone).and_then(|text| Tuning::parse(text)) {
                Err(why) if *named => return Err(Error::Tuning { file: path.clone(), why }),
                Err(why) => why,
                Ok(tuning) => {
                    differences = spread.map(|spread| tuning.stale(&self.here, spread, cores)).unwrap_or_default();
                    let refusal = tuning.differences(&self.here).join("; ");
                    machine = Some(tuning.here(&self.here).machine(cores));
                    refusal
                }
            };
            if !refusal.is_empty() {
                (machine, refused) = (None, Some(format!("tuning file {path} refused: {refusal}")));
            }
        }
        let file = self.file.as_ref().filter(|_| machine.is_some()).map(|file| file.path.clone());
        let stale = file.as_ref().filter(|_| !differences.is_empty());
        let stale = stale.map(|path| format!("tuning file {path} is stale: {}", differences.join("; ")));
        let over_links = measures && cores.is_none();
        let no_file = measures && machine.is_none();
        let lacks_at_first = Lacks {
            times: no_file && over_links && self.measured.times.is_none(),
            near: false,
            links: no_file && over_links && self.measured.links.is_none(),
        };
        // What a brief measurement has told is measured again.
        let briefly = over_links && self.measured.is_brief();
        let lacks = Lacks {
            times: no_file && (briefly || self.measured.times.is_none()),
            near: over_links
                && machine.as_ref().is_none_or(|machine| machine.near.is_none())
                && self.measured.near.is_none(),
            links: no_file && over_links && (briefly || self.measured.links.is_none()),
        };
        // What a file says goes before what has been measured in passing.
        let known = match &machine {
            Some(machine) => Measurement {
                near: machine.near.or(self.measured.near),
                together: self.measured.together,
                single_copy_from: self.measured.single_copy_from,
                ..Measurement::default()
            },
            None => self.measured,
        };
        let mut machine = machine.unwrap_or_else(|| Machine::built_in(cores)).with(&known);
        machine.shared.iter_mut().for_each(|shared| shared.cache = shared.cache.or(self.cache));
        if let Some(words) = refused.as_ref().or(stale.as_ref()) {
            machine.name = format!("{}; {words})", machine.name.trim_end_matches(')'));
        }
        Ok(Settings { machine, overrides, file, refused, stale, lacks, lacks_at_first })
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

/// Numbers as a field, exact to the bit; nothing if there are none.
fn bits_text<const N: usize>(numbers: Option<[f64; N]>) -> String {
    numbers.map_or(String::new(), |numbers| numbers.map(|number| format!("{:x}", number.to_bits())).join(" "))
}

/// What [`bits_text`] has written.
fn bits_of<const N: usize>(text: &str) -> Option<[f64; N]> {
    let bits: Option<Vec<u64>> = text.split(' ').map(|bits| u64::from_str_radix(bits, 16).ok()).collect();
    Some(<[u64; N]>::try_from(bits?).ok()?.map(f64::from_bits))
}

#[cfg(test)]
mod tests {
    use super::super::SharedMemory;
    use super::*;

    #[test]
    fn what_one_rank_writes_another_reads() {
        let here = |mpi: Option<&str>| {
            let [cpu, mpi] = [mpi.and(Some("a processor")), mpi].map(|text| text.map(String::from));
            Here { host: "h".into(), shares_memory: mpi.is_none(), cpu, mpi }
        };
        let file = |named, text| Some(File { path: "/a b/c.toml".into(), named, text });
        let variables =
            vec![("HYPERCOLL_PACKET".to_string(), "8KiB".to_string()), ("HYPERCOLL_PORTS".into(), "".into())];
        for mpi in [None, Some(""), Some("Open MPI v4.1.4")] {
            for file in [None, file(true, Ok("tau = 1\n".into())), file(false, Err("cannot be read".into()))] {
                for variables in [Vec::new(), variables.clone()] {
                    let near = mpi.map(|_| Times { tau: 0.1, hop: 1.0 / 3.0, t_c: 1e-9 });
                    let times = Some(Times::NEAR).filter(|_| variables.is_empty());
                    let single_copy_from = times.map(|_| usize::MAX);
                    let together = Together { tau: times.map(|_| 0.6), hop: times.map(|_| 0.7) };
                    let piped = times.map(|_| 0.3);
                    let burst = times.map(|_| 4096);
                    let links = burst.map(|_| Links { ports: PortModel::AllPorts, pairs_linked: mpi.is_none() });
                    let alone = times.map(|_| Alone { tau: 0.8, hop: 0.9 });
                    let measured = Measurement { times, together, alone, burst, piped, single_copy_from, near, links };
                    let cache = burst;
                    let sources = Sources { here: here(mpi), variables, file: file.clone(), cache, measured };
                    assert_eq!(Sources::parse(&sources.text()), Some(sources));
                }
            }
        }
        assert_eq!(Sources::parse(""), None);
        assert_eq!(Sources::parse("h\0yes\0"), None);
    }

    /// A file that was measured on ranks that are spread in another way is used, and said to be stale.
    #[test]
    fn a_file_for_other_ranks_is_stale() {
        let tuning = crate::select::tuning::Tuning::parse(&crate::select::tuning::example()).expect("sound");
        let here = Here { host: tuning.machine.host.clone(), cpu: None, mpi: None, shares_memory: false };
        let file = Some(File { path: "a.toml".into(), named: true, text: Ok(tuning.text()) });
        let sources = Sources { here, variables: vec![], file, cache: None, measured: Measurement::default() };
        let settings = |spread: &str| sources.resolve(None, spread.parse().ok().as_ref()).expect("sound");
        let same = settings("8 x 1");
        assert_eq!((same.stale, same.refused, same.file.as_deref()), (None, None, Some("a.toml")));
        let other = settings("4 x 2");
        let words = other.stale.expect("stale");
        assert!(words.contains("a.toml is stale: ") && words.contains("not 4 x 2"), "{words}");
        assert!(other.machine.name.contains(&words) && other.machine.tau == same.machine.tau, "{}", other.machine.name);
        // Where it is not known how ranks are spread, nothing is said of it.
        assert_eq!(settings("").stale, None);
    }

    /// Who becomes the first rank of a communicator asks what the one asked that told it.
    #[test]
    #[cfg(feature = "mpi")]
    fn what_one_process_was_told_it_tells_others() {
        let file = |named, path: &str| Some(File { path: path.into(), named, text: Ok(String::new()) });
        let of = |variables: &[(&str, &str)], file: Option<File>, shares_memory| Sources {
            here: Here { host: "h".into(), cpu: None, mpi: None, shares_memory },
            variables: variables.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect(),
            file,
            cache: None,
            measured: Measurement::default(),
        };
        let files = |own: Option<File>, told: &Sources, shares_memory| {
            let found = of(&[("HYPERCOLL_PACKET", "1")], own, shares_memory).told(told);
            assert_eq!((&found.variables, found.here.shares_memory), (&told.variables, shares_memory));
            found.file.map(|file| file.path)
        };
        let packet = ("HYPERCOLL_PACKET", "2");
        let named = of(&[packet, (TUNING, "a")], file(true, "a"), false);
        let none = of(&[(TUNING, "")], None, false);
        let default = of(&[packet], file(false, "b"), false);
        for own in [None, file(true, "c"), file(false, "c")] {
            for shares_memory in [false, true] {
                assert_eq!(files(own.clone(), &named, shares_memory).as_deref(), Some("a"));
                assert_eq!(files(own.clone(), &none, shares_memory), None);
            }
        }
        assert_eq!(files(file(false, "c"), &default, false).as_deref(), Some("c"));
        assert_eq!(files(None, &default, false).as_deref(), Some("b"));
        assert_eq!(files(None, &default, true), None, "that is for other ranks");
        assert_eq!(files(file(true, "c"), &default, true), None, "nobody else has named it");
    }

    /// A file goes before a measurement, and a measurement before built-in values; what neither tells is lacking unless the user wants none.
    #[test]
    fn what_is_not_known_is_lacking() {
        let sources = |measure: Option<&str>, measured| Sources {
            here: Here { host: "h".into(), cpu: None, mpi: None, shares_memory: false },
            variables: measure.map(|value| (MEASURE.to_string(), value.to_string())).into_iter().collect(),
            file: None,
            cache: Some(1 << 20),
            measured,
        };
        let lacks =
            |measure, measured, cores| sources(measure, measured).resolve(cores, None).map(|settings| settings.lacks);
        let none = Measurement::default();
        let links = Some(Links { ports: PortModel::AllPorts, pairs_linked: false });
        let both = Measurement { times: Some(Times::NEAR), burst: Some(0), near: Some(Times::NEAR), links, ..none };
        assert_eq!(lacks(None, none, None), Ok(Lacks { times: true, near: true, links: true }));
        assert_eq!(lacks(None, none, Some(2)), Ok(Lacks { times: true, ..Lacks::default() }));
        assert_eq!(lacks(Some("off"), none, None), Ok(Lacks::default()));
        assert_eq!(lacks(Some("on"), both, None), Ok(Lacks::default()));
        assert_eq!(lacks(None, Measurement { near: None, ..both }, None), Ok(Lacks { near: true, ..Lacks::default() }));
        // What was measured between hosts of several ranks, of a program that began with one on each.
        let together = Together { tau: Some(2.0), hop: Some(1.0) };
        assert_eq!(Machine::network().with(&Measurement { together, ..none }).together, together);
        let no_links = Measurement { links: None, ..both };
        assert_eq!(lacks(None, no_links, None), Ok(Lacks { links: true, ..Lacks::default() }));
        let at_first = |measured, cores| {
            sources(None, measured).resolve(cores, None).map(|settings| (settings.lacks_at_first, settings.lacks))
        };
        let all = Lacks { times: true, near: true, links: true };
        assert_eq!(at_first(none, None), Ok((Lacks { near: false, ..all }, all)));
        assert_eq!(at_first(none, Some(2)).map(|(at_first, _)| at_first), Ok(Lacks::default()));
        let brief = Measurement { times: Some(Times::NEAR), links, ..none };
        assert_eq!(at_first(brief, None), Ok((Lacks::default(), all)), "what has been told briefly is measured again");
        assert_eq!(at_first(both, None), Ok((Lacks::default(), Lacks::default())));
        assert!(
            matches!(lacks(Some("no"), none, None), Err(Error::Environment { variable, .. }) if variable == MEASURE)
        );
        let machine = sources(None, both).resolve(None, None).expect("sound").machine;
        assert_eq!((machine.tau, machine.near), (Times::NEAR.tau, Some(Times::NEAR)));
        assert_eq!((machine.ports, machine.pairs_linked), (PortModel::AllPorts, false));
        assert!(machine.name.contains("measured"), "{}", machine.name);
        let shared = |cores| sources(None, both).resolve(cores, None).expect("sound").machine.shared;
        assert_eq!((shared(Some(2)), shared(None)), (Some(SharedMemory { cores: 2, cache: Some(1 << 20) }), None));
    }
}
