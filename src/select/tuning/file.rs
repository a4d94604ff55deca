//! A tuning file as text.

use super::section::{quoted, Entry, Section};
use super::{checked, Measured, Origin, Shared, Tuning};
use crate::select::{Alone, OfLinks, Times, Together, Wiring};
use std::fmt::Write;
use toml::de::DeTable;

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
            ("parameters.tau_together", tuning.together.tau.unwrap_or(1.0)),
            ("parameters.hop_together", tuning.together.hop.unwrap_or(1.0)),
            ("parameters.tau_alone", tuning.alone.map_or(1.0, |alone| alone.tau)),
            ("parameters.hop_alone", tuning.alone.map_or(1.0, |alone| alone.hop)),
            ("near.tau", near.tau),
            ("near.t_c", near.t_c),
            ("near.hop", near.hop),
            ("shared_memory.piped", piped.unwrap_or(1.0)),
            ("parameters.link", tuning.wiring.map_or(1.0, |links| links.link)),
        ] {
            if !time.is_finite() || time < 0.0 {
                return Err(format!("{key}: {time} is no time"));
            }
            // If messages or bytes were free, any number of them would be as good.
            if time == 0.0 && !key.contains(".hop") {
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
        let Origin { hosts, ranks, .. } = tuning.machine;
        if let Some(spread) = tuning.checked.as_ref().map(|checked| &checked.spread) {
            if (spread.hosts(), spread.ranks()) != (hosts, ranks) {
                return Err(format!("checked.ranks: {spread} are not the {ranks} ranks on {hosts} hosts of [machine]"));
            }
        }
        match (hosts, &tuning.shared_memory) {
            (1, None) => Err("machine.hosts: 1, so the ranks share one memory, but there is no [shared_memory]".into()),
            (2.., Some(_)) => Err("shared_memory: ranks on several hosts share none".into()),
            (1, _) if tuning.near.is_some() => Err("near: ranks on one host are all near".into()),
            (1, _) if tuning.together != Together::default() => {
                Err("parameters: tau_together, hop_together: ranks on one host send to no other".into())
            }
            (1, _) if tuning.alone.is_some() => {
                Err("parameters: tau_alone, hop_alone: ranks on one host send to no other".into())
            }
            _ => Ok(tuning),
        }
    }

    /// What the file says, whether it can be or not.
    fn read(text: &str) -> Result<Tuning, String> {
        let table = DeTable::parse(text).map_err(|error| error.to_string().trim_end().to_string())?;
        let file = Section { name: String::new(), table: table.get_ref() };
        file.knows(&["machine", "parameters", "shared_memory", "near", "checked"])?;
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
        let section = file.section("parameters")?;
        let keys = ["tau", "hop", "t_c", "ports", "packet", "burst", "eager"];
        let times = ["tau_together", "hop_together", "tau_alone", "hop_alone"];
        let others = ["single_copy_from", "pairs_linked", "kind", "link"];
        section.knows(&[&keys[..], &times, &others].concat())?;
        let time = |key| section.optional(key)?.map(|time| time.number()).transpose();
        let together = Together { tau: time("tau_together")?, hop: time("hop_together")? };
        let alone = match (time("tau_alone")?, time("hop_alone")?) {
            (Some(tau), Some(hop)) => Some(Alone { tau, hop }),
            (None, None) => None,
            _ => return Err("parameters: of tau_alone and hop_alone one is missing".into()),
        };
        let single_copy_from = section.optional("single_copy_from")?.map(|bytes| bytes.count()).transpose()?;
        let single_copy_from = single_copy_from.map(|bytes| if bytes == 0 { usize::MAX } else { bytes });
        let (pairs_linked, wiring) = kind(&section, machine.hosts)?;
        let [tau, hop, t_c, ports, packet, burst, eager] = section.those(keys)?;
        let parameters = Measured {
            tau: tau.number()?,
            hop: hop.number()?,
            t_c: t_c.number()?,
            ports: ports.count()?,
            pairs_linked,
            packet: packet.count()?,
            burst: burst.count()?,
            eager: eager.count()?,
        };
        let shared_memory = if file.has("shared_memory") {
            let section = file.section("shared_memory")?;
            section.knows(&["cores", "cache", "piped"])?;
            let piped = section.optional("piped")?.map(|piped| piped.number()).transpose()?;
            let cache = section.optional("cache")?.map(|bytes| bytes.count()).transpose()?;
            Some(Shared { cores: section.entry("cores")?.count()?, cache, piped })
        } else {
            None
        };
        let near = if file.has("near") {
            let [tau, hop, t_c] = file.section("near")?.entries(["tau", "hop", "t_c"])?;
            Some(Times { tau: tau.number()?, hop: hop.number()?, t_c: t_c.number()? })
        } else {
            None
        };
        let checked = file.has("checked").then(|| checked::read(&file.section("checked")?)).transpose()?;
        Ok(Tuning { machine, parameters, shared_memory, near, single_copy_from, together, alone, wiring, checked })
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
        let Together { tau, hop } = self.together;
        let (all, one) = ("while all ranks of each host send to others", "where no rank sends and receives at once");
        for (key, time, when) in [
            ("tau_together", tau, all),
            ("hop_together", hop, all),
            ("tau_alone", self.alone.map(|alone| alone.tau), one),
            ("hop_alone", self.alone.map(|alone| alone.hop), one),
        ] {
            if let Some(time) = time {
                let _ = writeln!(text, "{key} = {time:e} # the same {when}, seconds");
            }
        }
        if let Some(OfLinks { wiring, link }) = self.wiring {
            let after = if wiring == Wiring::Cube { "after the first" } else { "that a message goes over" };
            let _ =
                writeln!(text, "kind = \"{wiring}\" # of network\nlink = {link:e} # for each link {after}, seconds");
        }
        if let Some(bytes) = self.single_copy_from {
            let bytes = if bytes == usize::MAX { 0 } else { bytes };
            let _ = writeln!(
                text,
                "single_copy_from = {bytes} # shortest message that is copied once within a host, bytes; 0: none is"
            );
        }
        if let Some(Shared { cores, cache, piped }) = &self.shared_memory {
            let _ = write!(text, "\n[shared_memory]\ncores = {cores}\n");
            if let Some(bytes) = cache {
                let _ = writeln!(text, "cache = {bytes} # of a core alone, bytes");
            }
            if let Some(piped) = piped {
                let _ = writeln!(text, "piped = {piped:e} # transfer time of short messages, seconds per byte");
            }
        }
        if let Some(Times { tau, hop, t_c }) = &self.near {
            let _ = write!(text, "\n[near] # between ranks of one host\ntau = {tau:e}\nhop = {hop:e}\nt_c = {t_c:e}\n");
        }
        self.checked.iter().for_each(|checked| checked::write(checked, &mut text));
        text
    }
}

/// The kind of network of so many hosts: whether every two are linked as well as neighbours on the cube, and how they are linked, if a link is said to
/// take something.
fn kind(section: &Section, hosts: usize) -> Result<(bool, Option<OfLinks>), String> {
    let link = section.optional("link")?;
    let refuse_link =
        |link: Entry| Err(link.refuse("what a link takes counts on a cube, a torus, a tree or a dragonfly only"));
    let Some(kind) = section.optional("kind")? else {
        return link.map_or(Ok((section.entry("pairs_linked")?.truth()?, None)), refuse_link);
    };
    let text = kind.text()?;
    let (name, sides) = text.split_once(' ').unwrap_or((&text, ""));
    let refuse = |why: String| kind.refuse(why);
    let wiring = match name {
        "star" if sides.is_empty() => None,
        "cube" if sides.is_empty() => Some(Wiring::Cube),
        "torus" => Some(Wiring::Torus(sides.trim().parse().map_err(refuse)?)),
        "tree" => Some(Wiring::Tree { switches: sides.trim().parse().map_err(refuse)?, hosts }),
        "dragonfly" => Some(Wiring::Dragonfly { dragonfly: sides.trim().parse().map_err(refuse)?, hosts }),
        _ => {
            let why = format!(
                "'{text}' is none of star, cube, torus 8x8x16 (its sides), tree 32 (hosts on a switch), dragonfly 2x8 (hosts on a router, routers in a group)"
            );
            return Err(kind.refuse(why));
        }
    };
    let wiring = match (wiring, link) {
        (None, Some(link)) => return refuse_link(link),
        (None, None) | (Some(Wiring::Cube), None) => None,
        (Some(_), None) => return Err(kind.refuse("link, what each link takes in seconds, is missing")),
        (Some(wiring), Some(link)) => Some(OfLinks { wiring, link: link.number()? }),
    };
    let linked = name != "cube";
    match section.optional("pairs_linked")? {
        Some(given) if given.truth()? != linked => Err(kind.refuse(format!("pairs_linked is {linked} there"))),
        _ => Ok((linked, wiring)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{network, shared};
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let unknown = Tuning { single_copy_from: None, ..shared() };
        let mut torus = network();
        torus.parameters.pairs_linked = true;
        torus.wiring = Some(OfLinks { wiring: Wiring::Torus("4x2x1".parse().expect("a torus")), link: 5e-7 });
        for tuning in [network(), shared(), unknown, torus] {
            assert_eq!(Tuning::parse(&tuning.text()), Ok(tuning.clone()), "{}", tuning.text());
        }
        let mut extreme = network();
        extreme.parameters =
            Measured { tau: 1e-300, hop: 0.0, t_c: 1e300, ports: 1, pairs_linked: true, packet: 1, burst: 0, eager: 0 };
        assert_eq!(Tuning::parse(&extreme.text()), Ok(extreme));
    }

    #[test]
    fn the_kind_of_network_says_what_is_linked() {
        let tree = Wiring::Tree { switches: "16x8".parse().expect("a tree"), hosts: network().machine.hosts };
        let dragonfly =
            Wiring::Dragonfly { dragonfly: "2x8".parse().expect("a dragonfly"), hosts: network().machine.hosts };
        let kinds = [
            ("\"star\"", true, None),
            ("\"cube\"", false, None),
            ("\"cube\"\nlink = 1e-6", false, Some(Wiring::Cube)),
            ("\"torus 4x2\"\nlink = 1e-6", true, Some(Wiring::Torus("4x2".parse().expect("a torus")))),
            ("\"tree 16x8\"\nlink = 1e-6", true, Some(tree)),
            ("\"dragonfly 2x8\"\nlink = 1e-6", true, Some(dragonfly)),
        ];
        for (kind, linked, wiring) in kinds {
            let text = network().text().replace("pairs_linked = false", &format!("kind = {kind}"));
            let wiring = wiring.map(|wiring| OfLinks { wiring, link: 1e-6 });
            let read = Tuning::parse(&text).map(|tuning| (tuning.parameters.pairs_linked, tuning.wiring));
            assert_eq!(read, Ok((linked, wiring)), "{kind}");
            // Written and read again.
            let again =
                Tuning::parse(&text).and_then(|tuning| Tuning::parse(&tuning.text()).map(|again| (tuning, again)));
            assert!(again.is_ok_and(|(tuning, again)| tuning == again), "{kind}");
        }
    }

    #[test]
    fn files_that_make_no_sense_are_refused_by_key() {
        let (network, shared) = (network().text(), shared().text());
        let broken = [
            (network.replace("pairs_linked = false", "kind = \"dragonfly 8\"\nlink = 1e-6"), "dragonfly"),
            (network.replace("pairs_linked = false", "kind = \"dragonfly 2x8\""), "link"),
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
            (network.replace("hop_together = 4.5e-5", "hop_together = -1.0"), "hop_together"),
            (network.replace("tau_together = 1.5e-4", "tau_together = 0.0"), "tau_together: 0;"),
            (shared.replace("eager", "hop_together = 1e-6\neager"), "hop_together"),
            (shared.replace("eager", "tau_together = 1e-6\neager"), "tau_together"),
            (network.replace("hop_alone = 9e-6", "hop_alone = nan"), "parameters.hop_alone"),
            (network.replace("hop_alone = 9e-6", ""), "hop_alone"),
            (network.replace("tau_alone = 5e-6", "tau_alone = 0.0"), "tau_alone: 0;"),
            (shared.replace("eager", "tau_alone = 1e-6\nhop_alone = 1e-6\neager"), "tau_alone"),
            (network.replace("hop = 2e-6", "hop = -1.0"), "near.hop"),
            (shared.replace("hop = 1.5e-5", "hop = nan"), "hop"),
            (network.replace("tau = 1", "tau = -1"), "tau"),
            (network.replace("t_c = 1.6e-7", "t_c = inf"), "t_c"),
            (network.replace("tau = 1.23e-4", "tau = 0.0"), "parameters.tau: 0;"),
            (network.replace("t_c = 1.6e-7", "t_c = 0.0"), "parameters.t_c: 0;"),
            (network.replace("single_copy_from = 262144", "single_copy_from = -1"), "single_copy_from"),
            (network.replace("single_copy_from", "single_copy_to"), "single_copy_to"),
            (network.replace("pairs_linked = false", "pairs_linked = 0"), "pairs_linked"),
            (network.replace("pairs_linked = false", ""), "pairs_linked is missing"),
            (network.replace("pairs_linked = false", "kind = \"bus\""), "kind: 'bus'"),
            (network.replace("pairs_linked = false", "kind = \"torus 8\""), "kind: link"),
            (network.replace("pairs_linked = false", "kind = \"torus 8x\"\nlink = 1e-6"), "kind: '8x'"),
            (network.replace("pairs_linked = false", "kind = \"tree\"\nlink = 1e-6"), "kind: ''"),
            (network.replace("pairs_linked = false", "kind = \"tree 8\""), "kind: link"),
            (network.replace("pairs_linked = false", "kind = \"cube 8\"\nlink = 1e-6"), "kind: 'cube 8'"),
            (network.replace("pairs_linked = false", "kind = \"torus 8\"\nlink = -1.0"), "parameters.link"),
            (network.replace("pairs_linked", "kind = \"star\"\npairs_linked"), "kind: pairs_linked is true there"),
            (network.replace("pairs_linked", "link = 1e-6\npairs_linked"), "link: what"),
        ];
        for (text, word) in broken {
            let refusal = Tuning::parse(&text).expect_err(&text);
            assert!(refusal.contains(word), "'{word}' is not in: {refusal}");
        }
    }
}
