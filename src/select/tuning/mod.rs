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
//! let (host, mpi) = (host_name("node017.cluster").to_string(), Some("Open MPI v4.1.4".into()));
//! let mut here = Here { host, cpu: None, mpi, shares_memory: false };
//! assert!(tuning.differences(&here).is_empty());
//! here.mpi = Some("MPICH 4.2".into());
//! assert_eq!(tuning.differences(&here), ["made for Open MPI v4.1.4, not MPICH 4.2"]);
//! # Ok::<(), String>(())
//! ```

mod checked;
mod file;
mod place;
mod section;

pub use place::{cpu_name, default_place, file_that_counts, host_name, mpi_name};

use super::{Alone, Checked, Machine, OfLinks, SharedMemory, Spread, Times, Together};
use crate::algorithm::PortModel;
use std::sync::Arc;

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
    /// For several ranks on a host: bytes from which on a message is copied once; see [`Machine::single_copy_from`].
    pub single_copy_from: Option<usize>,
    /// For several ranks on each of several hosts: see [`Machine::together`].
    pub together: Together,
    /// See [`Machine::alone`].
    pub alone: Option<Alone>,
    /// How hosts are linked, and what a link takes: see [`Machine::wiring`]. It is not measured, but written into the file by its user.
    pub wiring: Option<OfLinks>,
    /// What calls took where it was made; see [`Machine::checked`].
    pub checked: Option<Checked>,
}

/// Where and when a tuning file was made.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// Name of rank 0's host, without its number; see [`host_name`].
    pub host: String,
    /// Its processor; see [`cpu_name`].
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
    /// See [`SharedMemory::cache`].
    pub cache: Option<usize>,
    /// Seconds per byte of short messages; see [`Machine::piped`].
    pub piped: Option<f64>,
}

/// Where the ranks at hand are: what a tuning file is held against.
#[derive(Clone, PartialEq, Debug)]
pub struct Here {
    /// Name of rank 0's host, without its number; see [`host_name`].
    pub host: String,
    /// Its processor; `None` if it is not known, and then not compared. See [`cpu_name`].
    pub cpu: Option<String>,
    /// The MPI library and its version; `None` if it is not known, and then not compared.
    pub mpi: Option<String>,
    /// Whether all ranks share one memory.
    pub shares_memory: bool,
}

impl Here {
    /// This host, given its whole name, and what MPI says of its version, if that is known.
    pub fn of(host: &str, library: Option<&str>, shares_memory: bool) -> Here {
        Here { host: host_name(host).to_string(), cpu: cpu_name(), mpi: library.map(mpi_name), shares_memory }
    }
}

impl Tuning {
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

    /// In what ranks here that are spread over hosts like this, and share `cores` if they share one memory, differ from those that measured;
    /// empty if in nothing. The file serves them all the same, but is not what a measurement on them would be.
    pub fn stale(&self, here: &Here, spread: &Spread, cores: Option<usize>) -> Vec<String> {
        let Origin { hosts, ranks, ref cpu, .. } = self.machine;
        let mut differences = Vec::new();
        if let Some(other) = here.cpu.as_ref().filter(|_| !self.is_of_cpu(here)) {
            differences.push(format!("measured on {cpu}, not {other}"));
        }
        let measured = self.checked.as_ref().map(|checked| &checked.spread);
        if measured.map_or((hosts, ranks) != (spread.hosts(), spread.ranks()), |measured| measured != spread) {
            let measured =
                measured.map_or(format!("{ranks} ranks on {hosts} hosts"), |spread| format!("{spread} ranks"));
            differences.push(format!("measured with {measured}, not {spread} (hosts x ranks)"));
        }
        match (&self.shared_memory, cores) {
            (Some(shared), Some(cores)) if shared.cores != cores => {
                differences.push(format!("measured on {} cores, not {cores}", shared.cores));
            }
            _ => {}
        }
        differences
    }

    /// Whether it was measured on the processor of the ranks at hand, as far as both are known.
    fn is_of_cpu(&self, here: &Here) -> bool {
        self.machine.cpu.is_empty() || here.cpu.as_ref().is_none_or(|cpu| *cpu == self.machine.cpu)
    }

    /// The same without what calls took, where that was on another processor than the one here: which algorithm is how much off what is
    /// predicted is a matter of the processor, as it is of the ranks and their cores.
    pub(super) fn here(self, here: &Here) -> Tuning {
        let checked = if self.is_of_cpu(here) { self.checked } else { None };
        Tuning { checked, ..self }
    }

    /// The machine that the choice takes; ranks share `cores` if they share one memory, or, where that is not known, as many as
    /// in the measurement.
    pub fn machine(&self, cores: Option<usize>) -> Machine {
        let Measured { tau, hop, t_c, ports, pairs_linked, packet, burst, eager } = self.parameters;
        let Origin { host, date, hosts, .. } = &self.machine;
        let shared = self.shared_memory.as_ref();
        let piped = shared.and_then(|shared| shared.piped);
        let shared = shared.map(|s| SharedMemory { cores: cores.unwrap_or(s.cores).max(1), cache: s.cache });
        // What calls took depends on the cores that ranks share.
        let as_many = self.shared_memory.as_ref().map(|s| s.cores) == shared.map(|s| s.cores);
        let checked = self.checked.clone().filter(|_| as_many).map(Arc::new);
        let kind = shared.map_or("network".into(), |s| format!("shared memory, {} cores", s.cores));
        Machine {
            name: format!("{kind} (measured on {host}, {date})"),
            tau,
            hop,
            together: self.together,
            alone: self.alone,
            t_c,
            ports: PortModel::nearest(ports, crate::address::dimension_for(*hosts)),
            pairs_linked,
            wiring: self.wiring,
            packet: Some(packet),
            burst,
            // Where the receiver copies, a message that waits for it costs no second copy.
            packet_limit: (shared.is_none() && eager > 0).then_some(eager),
            shared,
            piped,
            single_copy_from: self.single_copy_from,
            near: self.near,
            checked,
        }
    }
}

/// Major and minor version.
fn release(version: &str) -> Vec<&str> {
    version.split('.').take(2).collect()
}

/// A file for 8 hosts of one rank.
#[cfg(test)]
pub(super) fn example() -> String {
    tests::network().text()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn network() -> Tuning {
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
            single_copy_from: Some(256 << 10),
            together: Together { tau: Some(1.5e-4), hop: Some(4.5e-5) },
            alone: Some(Alone { tau: 5e-6, hop: 9e-6 }),
            wiring: None,
            checked: None,
        }
    }

    pub(super) fn shared() -> Tuning {
        let mut tuning = network();
        tuning.machine.hosts = 1;
        tuning.shared_memory = Some(Shared { cores: 2, cache: Some(1 << 20), piped: Some(3e-10) });
        (tuning.near, tuning.together, tuning.alone) = (None, Together::default(), None);
        tuning.single_copy_from = Some(usize::MAX);
        tuning
    }

    pub(super) fn here(tuning: &Tuning) -> Here {
        Here {
            host: tuning.machine.host.clone(),
            cpu: Some(tuning.machine.cpu.clone()),
            mpi: Some(tuning.machine.mpi.clone()),
            shares_memory: tuning.shared_memory.is_some(),
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

    /// Hosts of another kind may have names alike: the file serves them, but what calls took on it is not what they take there.
    #[test]
    fn another_processor_is_told_and_not_corrected() {
        let spread = Spread::of(8, None, false);
        let checked = Some(Checked { spread: spread.clone(), times: vec![] });
        let tuning = Tuning { checked, ..network() };
        let told = |cpu: Option<&str>| {
            let here = Here { cpu: cpu.map(String::from), ..here(&tuning) };
            let corrected = tuning.clone().here(&here).checked.is_some();
            (tuning.differences(&here), tuning.stale(&here, &spread, None), corrected)
        };
        for same in [None, Some(&*tuning.machine.cpu)] {
            assert_eq!(told(same), (vec![], vec![], true));
        }
        let (differences, stale, corrected) = told(Some("B"));
        assert!(differences.is_empty() && !corrected);
        assert_eq!(stale, [format!("measured on {}, not B", tuning.machine.cpu)]);
    }

    #[test]
    fn the_machine_is_what_the_file_says() {
        let machine = network().machine(None);
        assert_eq!((machine.tau, machine.t_c, machine.ports), (123e-6, 1.6e-7, PortModel::AllPorts));
        assert_eq!((machine.pairs_linked, machine.packet, machine.packet_limit), (false, Some(8192), Some(65_000)));
        assert_eq!(machine.shared, None);
        assert!(machine.name.contains("node") && machine.name.contains("2026-01-31"), "{}", machine.name);
        assert_eq!(shared().machine(None).shared, Some(SharedMemory { cores: 2, cache: Some(1 << 20) }));
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
}
