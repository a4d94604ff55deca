//! The tuning file: what `hypercoll tune` has measured of a machine.
//!
//! A small TOML file, which says for whom it is: it serves ranks on the same hosts (a host's name without its number), all on
//! one host or on several, with the same version of MPI and of hypercoll (major and minor). Elsewhere it is refused.
//!
//! ```
//! use hypercoll::select::tuning::{host_name, Here, Tuning};
//!
//! # let version = env!("CARGO_PKG_VERSION");
//! # let text = format!(r#"
//! # [machine]
//! # host = "node"
//! # cpu = "any"
//! # mpi = "Open MPI v4.1.4"
//! # hosts = 8
//! # ranks = 8
//! # hypercoll = "{version}"
//! # date = "2026-01-31"
//! # [parameters]
//! # tau = 2e-5
//! # hop = 1.5e-5
//! # t_c = 1e-9
//! # ports = 1
//! # pairs_linked = true
//! # packet = 8192
//! # burst = 0
//! # eager = 65536
//! # "#);
//! // `text`: what the file holds. It was made on node001 and others of its kind, with Open MPI.
//! let tuning = Tuning::parse(&text)?;
//! assert_eq!(tuning.machine.host, "node");
//!
//! let mut here = Here { host: host_name("node017.cluster").into(), mpi: Some("Open MPI v4.1.4".into()), shares_memory: false };
//! assert!(tuning.differences(&here).is_empty());
//! here.mpi = Some("MPICH 4.2".into());
//! assert_eq!(tuning.differences(&here), ["made for Open MPI v4.1.4, not MPICH 4.2"]);
//! # Ok::<(), String>(())
//! ```

use super::{Machine, SharedMemory, Times};
use crate::algorithm::PortModel;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use toml::de::{DeTable, DeValue};

/// What a tuning file says.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuning {
    /// Where it has been measured.
    pub machine: Origin,
    /// What has been measured.
    pub parameters: Measured,
    /// For ranks that share one memory.
    pub shared_memory: Option<Shared>,
    /// For several ranks on each of several hosts: what messages within a host take.
    pub near: Option<Times>,
}

/// Where and when a tuning file was made.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// Name of rank 0's host, without its number; see [`host_name`].
    pub host: String,
    /// Its processor.
    pub cpu: String,
    /// The MPI library and its version, as in "Open MPI v4.1.4".
    pub mpi: String,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// Version of hypercoll.
    pub hypercoll: String,
    /// The day, as in "2026-01-31".
    pub date: String,
}

/// Measured parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Start-up time of a message, in seconds: what each of several adds that are sent one after the other.
    pub tau: f64,
    /// Time in seconds until a rank that waits sees what another has sent, beyond the start-up; where ranks share cores, if each had
    /// one of its own.
    pub hop: f64,
    /// Transfer time in seconds per byte.
    pub t_c: f64,
    /// How many ports of a node work at once: from 1 to the dimension of the cube.
    pub ports: u32,
    /// Whether every two ranks are linked as well as neighbours on the cube are.
    pub pairs_linked: bool,
    /// Bytes of a packet that costs [`PACKET_COST`](super::PACKET_COST) besides, in a train of packets that are passed on.
    pub packet: usize,
    /// Bytes that a link lets pass at once after a pause, as shapers do.
    pub burst: usize,
    /// Bytes of the largest message that is sent without waiting for its receiver; 0 if no bound was found.
    pub eager: usize,
}

/// What else is measured where ranks share one memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Shared {
    /// Cores that the ranks shared.
    pub cores: usize,
    /// Seconds per byte of short messages; see [`Machine::piped`].
    pub piped: Option<f64>,
}

/// Where the ranks at hand are: what a tuning file is held against.
#[derive(Clone, PartialEq, Debug)]
pub struct Here {
    /// Name of rank 0's host, without its number; see [`host_name`].
    pub host: String,
    /// The MPI library and its version; `None` if it is not known, and then not compared.
    pub mpi: Option<String>,
    /// Whether all ranks share one memory.
    pub shares_memory: bool,
}

impl Tuning {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it: no TOML, an unknown or missing key, a value that cannot be.
    pub fn parse(text: &str) -> Result<Tuning, String> {
        let tuning = Tuning::read(text)?;
        let Measured { tau, hop, t_c, ports, packet, .. } = tuning.parameters;
        let near = tuning.near.unwrap_or(Times::NEAR);
        let piped = tuning.shared_memory.as_ref().and_then(|shared| shared.piped);
        for (key, time) in [
            ("parameters.tau", tau),
            ("parameters.t_c", t_c),
            ("parameters.hop", hop),
            ("near.tau", near.tau),
            ("near.t_c", near.t_c),
            ("near.hop", near.hop),
            ("shared_memory.piped", piped.unwrap_or(1.0)),
        ] {
            if !time.is_finite() || time < 0.0 {
                return Err(format!("{key}: {time} is no time"));
            }
            // If messages or bytes were free, any number of them would be as good.
            if time == 0.0 && !key.ends_with("hop") {
                return Err(format!("{key}: 0; more than 0 is needed"));
            }
        }
        let cores = tuning.shared_memory.as_ref().map_or(1, |shared| shared.cores);
        let counts = [
            ("machine.hosts", tuning.machine.hosts),
            ("machine.ranks", tuning.machine.ranks),
            ("parameters.ports", ports as usize),
            ("parameters.packet", packet),
            ("shared_memory.cores", cores),
        ];
        if let Some((key, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(format!("{key}: 0; at least 1 is needed"));
        }
        match (tuning.machine.hosts, &tuning.shared_memory) {
            (1, None) => Err("machine.hosts: 1, so the ranks share one memory, but there is no [shared_memory]".into()),
            (2.., Some(_)) => Err("shared_memory: ranks on several hosts share none".into()),
            (1, _) if tuning.near.is_some() => Err("near: ranks on one host are all near".into()),
            _ => Ok(tuning),
        }
    }

    /// What the file says, whether it can be or not.
    fn read(text: &str) -> Result<Tuning, String> {
        let table = DeTable::parse(text).map_err(|error| error.to_string().trim_end().to_string())?;
        let file = Section { name: "", table: table.get_ref() };
        file.knows(&["machine", "parameters", "shared_memory", "near"])?;
        let [host, cpu, mpi, hosts, ranks, hypercoll, date] =
            file.section("machine")?.entries(["host", "cpu", "mpi", "hosts", "ranks", "hypercoll", "date"])?;
        let machine = Origin {
            host: host.text()?,
            cpu: cpu.text()?,
            mpi: mpi.text()?,
            hosts: hosts.count()?,
            ranks: ranks.count()?,
            hypercoll: hypercoll.text()?,
            date: date.text()?,
        };
        let [tau, hop, t_c, ports, pairs_linked, packet, burst, eager] = file.section("parameters")?.entries([
            "tau",
            "hop",
            "t_c",
            "ports",
            "pairs_linked",
            "packet",
            "burst",
            "eager",
        ])?;
        let parameters = Measured {
            tau: tau.number()?,
            hop: hop.number()?,
            t_c: t_c.number()?,
            ports: ports.count()?,
            pairs_linked: pairs_linked.truth()?,
            packet: packet.count()?,
            burst: burst.count()?,
            eager: eager.count()?,
        };
        let shared_memory = if file.table.contains_key("shared_memory") {
            let section = file.section("shared_memory")?;
            section.knows(&["cores", "piped"])?;
            let piped = section.table.contains_key("piped").then(|| section.entry("piped")?.number()).transpose()?;
            Some(Shared { cores: section.entry("cores")?.count()?, piped })
        } else {
            None
        };
        let near = if file.table.contains_key("near") {
            let [tau, hop, t_c] = file.section("near")?.entries(["tau", "hop", "t_c"])?;
            Some(Times { tau: tau.number()?, hop: hop.number()?, t_c: t_c.number()? })
        } else {
            None
        };
        Ok(Tuning { machine, parameters, shared_memory, near })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let Origin { host, cpu, mpi, hosts, ranks, hypercoll, date } = &self.machine;
        let Measured { tau, hop, t_c, ports, pairs_linked, packet, burst, eager } = &self.parameters;
        let [host, cpu, mpi, hypercoll, date] = [host, cpu, mpi, hypercoll, date].map(|text| quoted(text));
        let mut text = format!(
            "# Written by `hypercoll tune`. HYPERCOLL_TUNING names the file to use.\n\
             [machine]\nhost = {host}\ncpu = {cpu}\nmpi = {mpi}\nhosts = {hosts}\nranks = {ranks}\n\
             hypercoll = {hypercoll}\ndate = {date}\n\n\
             [parameters]\n\
             tau = {tau:e} # start-up of a message, seconds\n\
             hop = {hop:e} # until a rank that waits sees a message, seconds\n\
             t_c = {t_c:e} # transfer time, seconds per byte\n\
             ports = {ports} # of a node that work at once\n\
             pairs_linked = {pairs_linked} # every two ranks are linked as well as neighbours on the cube\n\
             packet = {packet} # good packet that is passed on, bytes\n\
             burst = {burst} # what a link lets pass at once after a pause, bytes\n\
             eager = {eager} # largest message that does not wait for its receiver, bytes; 0: no bound found\n"
        );
        // Writing to a string does not fail.
        if let Some(Shared { cores, piped }) = &self.shared_memory {
            let _ = write!(text, "\n[shared_memory]\ncores = {cores}\n");
            if let Some(piped) = piped {
                let _ = writeln!(text, "piped = {piped:e} # transfer time of short messages, seconds per byte");
            }
        }
        if let Some(Times { tau, hop, t_c }) = &self.near {
            let _ = write!(text, "\n[near] # between ranks of one host\ntau = {tau:e}\nhop = {hop:e}\nt_c = {t_c:e}\n");
        }
        text
    }

    /// In what the ranks at hand differ from those that the file was made for; empty if it serves them.
    pub fn differences(&self, here: &Here) -> Vec<String> {
        let Origin { host, mpi, hypercoll, .. } = &self.machine;
        let mut differences = Vec::new();
        if *host != here.host {
            differences.push(format!("made on host {host}, not {}", here.host));
        }
        match (self.shared_memory.is_some(), here.shares_memory) {
            (true, false) => differences.push("made for ranks on one host, not on several".into()),
            (false, true) => differences.push("made for ranks on several hosts, not on one".into()),
            _ => {}
        }
        if let Some(other) = here.mpi.as_ref().filter(|other| *other != mpi) {
            differences.push(format!("made for {mpi}, not {other}"));
        }
        let own = env!("CARGO_PKG_VERSION");
        if release(hypercoll) != release(own) {
            differences.push(format!("made by hypercoll {hypercoll}, not {own}"));
        }
        differences
    }

    /// The machine that the choice takes; ranks share `cores` if they share one memory, or, where that is not known, as many as
    /// in the measurement.
    pub fn machine(&self, cores: Option<usize>) -> Machine {
        let Measured { tau, hop, t_c, ports, pairs_linked, packet, burst, eager } = self.parameters;
        let Origin { host, date, hosts, .. } = &self.machine;
        let shared = self.shared_memory.as_ref();
        let piped = shared.and_then(|shared| shared.piped);
        let shared = shared.map(|s| SharedMemory { cores: cores.unwrap_or(s.cores).max(1) });
        let kind = shared.map_or("network".into(), |s| format!("shared memory, {} cores", s.cores));
        // A model has one port or all: of some, the nearer.
        let all = ports > crate::address::dimension_for(*hosts) / 2 && ports > 1;
        Machine {
            name: format!("{kind} (measured on {host}, {date})"),
            tau,
            hop,
            t_c,
            ports: if all { PortModel::AllPorts } else { PortModel::OnePort },
            pairs_linked,
            packet: Some(packet),
            burst,
            // Where the receiver copies, a message that waits for it costs no second copy.
            packet_limit: (shared.is_none() && eager > 0).then_some(eager),
            shared,
            piped,
            near: self.near,
        }
    }
}

/// A section of a file, or all of it.
struct Section<'t> {
    name: &'static str,
    table: &'t DeTable<'t>,
}

/// A value of a section.
struct Entry<'t> {
    /// As in `parameters.tau`.
    key: String,
    value: &'t DeValue<'t>,
}

impl<'t> Section<'t> {
    fn key(&self, key: &str) -> String {
        match self.name {
            "" => key.into(),
            name => format!("{name}.{key}"),
        }
    }

    /// There are no other keys than these.
    fn knows(&self, keys: &[&str]) -> Result<(), String> {
        let unknown = self.table.keys().map(|key| key.get_ref()).find(|key| !keys.contains(&&***key));
        unknown.map_or(Ok(()), |key| Err(format!("{} is no key of a tuning file", self.key(key))))
    }

    fn entry(&self, key: &str) -> Result<Entry<'t>, String> {
        let value = self.table.get(key).ok_or_else(|| format!("{} is missing", self.key(key)))?;
        Ok(Entry { key: self.key(key), value: value.get_ref() })
    }

    /// The values of all its keys.
    fn entries<const N: usize>(&self, keys: [&str; N]) -> Result<[Entry<'t>; N], String> {
        self.knows(&keys)?;
        let entries: Result<Vec<_>, String> = keys.iter().map(|key| self.entry(key)).collect();
        entries?.try_into().map_err(|_| self.name.to_string())
    }

    fn section(&self, name: &'static str) -> Result<Section<'t>, String> {
        let entry = self.entry(name)?;
        let table = entry.is("a section", entry.value.as_table())?;
        Ok(Section { name, table })
    }
}

impl Entry<'_> {
    /// What has been read, if it could be.
    fn is<T>(&self, wanted: &str, read: Option<T>) -> Result<T, String> {
        read.ok_or_else(|| format!("{}: {wanted} is needed, not this {}", self.key, self.value.type_str()))
    }

    fn text(&self) -> Result<String, String> {
        self.is("a text", self.value.as_str().map(String::from))
    }

    fn truth(&self) -> Result<bool, String> {
        self.is("true or false", self.value.as_bool())
    }

    fn count<T: TryFrom<u64>>(&self) -> Result<T, String> {
        let digits = self.value.as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
        self.is("a whole number from 0 on", digits.and_then(|n| T::try_from(n).ok()))
    }

    /// Whole or not.
    fn number(&self) -> Result<f64, String> {
        let float = self.value.as_float().and_then(|number| number.as_str().parse().ok());
        let whole = self.value.as_integer().and_then(|number| number.as_str().parse().ok());
        self.is("a number", float.or(whole))
    }
}

/// A host's name without its domain and its number, so that all hosts of a cluster have the same: node017.example -> node. A name
/// that is nothing but a number stays.
pub fn host_name(host: &str) -> &str {
    let label = host.split('.').next().unwrap_or(host);
    match label.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "" => label,
        name => name,
    }
}

/// The name and version out of what an MPI library says of itself, as in "Open MPI v4.1.4".
pub fn mpi_name(library: &str) -> String {
    let line = library.lines().next().unwrap_or_default();
    line.split(", package").next().unwrap_or(line).trim_end_matches('\0').trim().to_string()
}

/// Where the tuning file of a machine is looked for if nobody names one: `hypercoll/<host>-<shared|network>.toml` in
/// `XDG_CONFIG_HOME` or `~/.config`. `None` if neither is known. `variable` tells the value of a variable of the environment.
pub fn default_place(here: &Here, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let host: String = here.host.chars().map(plain).collect();
    let kind = if here.shares_memory { "shared" } else { "network" };
    Some(config.join("hypercoll").join(format!("{host}-{kind}.toml")))
}

/// Major and minor version.
fn release(version: &str) -> Vec<&str> {
    version.split('.').take(2).collect()
}

/// A TOML string: printable characters as they are, others by number.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Tuning {
        Tuning {
            machine: Origin {
                host: "node".into(),
                cpu: "A \"quoted\" \\ processor\n\u{7f}".into(),
                mpi: "Open MPI v4.1.4".into(),
                hosts: 8,
                ranks: 8,
                hypercoll: env!("CARGO_PKG_VERSION").into(),
                date: "2026-01-31".into(),
            },
            parameters: Measured {
                tau: 123e-6,
                t_c: 1.6e-7,
                hop: 1.5e-5,
                ports: 3,
                pairs_linked: false,
                packet: 8192,
                burst: 16_384,
                eager: 65_000,
            },
            shared_memory: None,
            near: Some(Times { tau: 1e-7, hop: 2e-6, t_c: 1e-10 }),
        }
    }

    fn shared() -> Tuning {
        let mut tuning = network();
        tuning.machine.hosts = 1;
        tuning.shared_memory = Some(Shared { cores: 2, piped: Some(3e-10) });
        tuning.near = None;
        tuning
    }

    fn here(tuning: &Tuning) -> Here {
        Here {
            host: tuning.machine.host.clone(),
            mpi: Some(tuning.machine.mpi.clone()),
            shares_memory: tuning.shared_memory.is_some(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for tuning in [network(), shared()] {
            assert_eq!(Tuning::parse(&tuning.text()), Ok(tuning.clone()), "{}", tuning.text());
        }
        let mut extreme = network();
        extreme.parameters =
            Measured { tau: 1e-300, hop: 0.0, t_c: 1e300, ports: 1, pairs_linked: true, packet: 1, burst: 0, eager: 0 };
        assert_eq!(Tuning::parse(&extreme.text()), Ok(extreme));
    }

    #[test]
    fn files_that_make_no_sense_are_refused_by_key() {
        let (network, shared) = (network().text(), shared().text());
        let broken = [
            ("".to_string(), "machine"),
            ("[machine".to_string(), "TOML"),
            (network.replace("tau = ", "tao = "), "tao"),
            (network.replace("ports = 3", "ports = 0"), "ports"),
            (network.replace("ports = 3", "ports = -1"), "ports"),
            (network.replace("packet = 8192", "packet = 0"), "packet"),
            (network.replace("ranks = 8", "ranks = 0"), "ranks"),
            (network.replace("hosts = 8", "hosts = 1"), "shared_memory"),
            (shared.replace("hosts = 1", "hosts = 2"), "shared_memory"),
            (shared.replace("cores = 2", "cores = 0"), "cores"),
            (shared.replace("piped = 3", "piped = -3"), "piped"),
            (shared.clone() + "[near]\ntau = 1e-7\nhop = 0\nt_c = 1e-9\n", "near"),
            (network.replace("t_c = 1e-10", "t_c = 0.0"), "near.t_c"),
            (network.replace("hop = 2e-6", "hop = -1.0"), "near.hop"),
            (shared.replace("hop = 1.5e-5", "hop = nan"), "hop"),
            (network.replace("tau = 1", "tau = -1"), "tau"),
            (network.replace("t_c = 1.6e-7", "t_c = inf"), "t_c"),
            (network.replace("tau = 1.23e-4", "tau = 0.0"), "parameters.tau: 0;"),
            (network.replace("t_c = 1.6e-7", "t_c = 0.0"), "parameters.t_c: 0;"),
            (network.replace("pairs_linked = false", "pairs_linked = 0"), "pairs_linked"),
        ];
        for (text, word) in broken {
            let refusal = Tuning::parse(&text).expect_err(&text);
            assert!(refusal.contains(word), "'{word}' is not in: {refusal}");
        }
    }

    #[test]
    fn another_machine_is_told_by_what_differs() {
        for tuning in [network(), shared()] {
            let same = here(&tuning);
            assert_eq!(tuning.differences(&same), [""; 0]);
            assert_eq!(tuning.differences(&Here { mpi: None, ..same.clone() }), [""; 0]);
            let others = [
                (Here { host: "login".into(), ..same.clone() }, "host node, not login"),
                (
                    Here { mpi: Some("Open MPI v4.1.2".into()), ..same.clone() },
                    "made for Open MPI v4.1.4, not Open MPI v4.1.2",
                ),
                (Here { shares_memory: !same.shares_memory, ..same.clone() }, "ranks on"),
            ];
            for (other, words) in others {
                let differences = tuning.differences(&other);
                assert!(differences.len() == 1 && differences[0].contains(words), "{differences:?}: no '{words}'");
            }
        }
        let with = |version: &str| {
            let mut tuning = network();
            tuning.machine.hypercoll = version.into();
            tuning.differences(&here(&tuning))
        };
        let own: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
        assert_eq!(with(&format!("{}.{}.99", own[0], own[1])), [""; 0]);
        assert!(with(&format!("{}.99.0", own[0]))[0].contains("hypercoll"));
        assert_eq!(with(&format!("99.{}.0", own[1])).len(), 1);
    }

    #[test]
    fn the_machine_is_what_the_file_says() {
        let machine = network().machine(None);
        assert_eq!((machine.tau, machine.t_c, machine.ports), (123e-6, 1.6e-7, PortModel::AllPorts));
        assert_eq!((machine.pairs_linked, machine.packet, machine.packet_limit), (false, Some(8192), Some(65_000)));
        assert_eq!(machine.shared, None);
        assert!(machine.name.contains("node") && machine.name.contains("2026-01-31"), "{}", machine.name);
        assert_eq!(shared().machine(None).shared, Some(SharedMemory { cores: 2 }));
        assert_eq!(shared().machine(Some(7)).shared.map(|s| s.cores), Some(7));
        assert_eq!(shared().machine(None).packet_limit, None);
        let with = |ports, hosts| {
            let mut tuning = network();
            (tuning.parameters.ports, tuning.machine.hosts) = (ports, hosts);
            tuning.machine(None).ports
        };
        let (one, all) = (PortModel::OnePort, PortModel::AllPorts);
        assert_eq!(
            [with(1, 2), with(1, 8), with(2, 8), with(2, 4), with(2, 16), with(3, 16)],
            [one, one, all, all, one, all]
        );
    }

    #[test]
    fn names_of_hosts_lose_their_numbers() {
        let names = ["node017.example.org", "vm", "h0", "gpu-a-12", "42", ""].map(host_name);
        assert_eq!(names, ["node", "vm", "h", "gpu-a-", "42", ""]);
    }

    #[test]
    fn names_of_libraries() {
        assert_eq!(mpi_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4\0"), "Open MPI v4.1.4");
        assert_eq!(mpi_name("MPICH Version:\t4.0\nMPICH Release date:\t2022"), "MPICH Version:\t4.0");
    }

    #[test]
    fn the_default_place_is_the_user_s_configuration() {
        let here = Here { host: "a b/c".into(), mpi: None, shares_memory: true };
        let place = |known: &[(&str, &str)]| {
            let find = |name: &str| known.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            default_place(&here, find)
        };
        let home = ("HOME", "/home/me");
        assert_eq!(place(&[home]), Some("/home/me/.config/hypercoll/a_b_c-shared.toml".into()));
        assert_eq!(place(&[home, ("XDG_CONFIG_HOME", "/etc/me")]), Some("/etc/me/hypercoll/a_b_c-shared.toml".into()));
        // The specification of these directories has relative ones ignored.
        assert_eq!(
            place(&[home, ("XDG_CONFIG_HOME", "me")]),
            Some("/home/me/.config/hypercoll/a_b_c-shared.toml".into())
        );
        assert_eq!(place(&[]), None);
    }
}
