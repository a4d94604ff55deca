//! Where a measurement was made, where its file goes, and what is printed of it.

use super::calls::{Calls, Compared};
use super::links::Links;
use super::packet::Packet;
use super::ranks::{Ranks, Value};
use crate::bench::environment::now;
use crate::bench::sizes::show_bytes;
use crate::bench::statistics::Summary;
use crate::bench::ELEMENT;
use crate::{output, Failure};
use hypercoll::algorithm::PortModel;
use hypercoll::select::tuning::{cpu_name, default_place, host_name, mpi_name, Here, Origin, Tuning};
use hypercoll::select::{Candidate, OfLinks};
use serde_json::{json, Value as Json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where and when.
pub fn origin(ranks: &Ranks) -> Origin {
    let name = mpi::environment::processor_name().unwrap_or_default();
    let library = mpi::environment::library_version().unwrap_or_default();
    Origin {
        host: host_name(&name).to_string(),
        cpu: cpu_name().unwrap_or_else(|| "unknown".into()),
        mpi: mpi_name(&library),
        hosts: ranks.spread().hosts(),
        ranks: ranks.size,
        hypercoll: env!("CARGO_PKG_VERSION").into(),
        date: now().split('T').next().unwrap_or_default().to_string(),
    }
}

/// Where the file goes, once it is certain that it can be written there; `None` if there is no default place.
pub fn place(out: Option<&Path>, host: &str, shares_memory: bool) -> Result<Option<PathBuf>, String> {
    let here = Here { host: host.to_string(), cpu: None, mpi: None, shares_memory };
    let place = out.map(PathBuf::from).or_else(|| default_place(&here, |name| std::env::var_os(name)));
    if let Some(place) = &place {
        let folder = place.parent().filter(|_| out.is_none());
        let made = folder.map_or(Ok(()), std::fs::create_dir_all);
        made.map_err(|error| format!("out: cannot write {}: {error}", place.display()))?;
        output::check(place)?;
    }
    Ok(place)
}

/// What its user has written of links into the file that a new one is to replace. It stays where it is of as many hosts; either way that is said,
/// and if it is of another MPI, in time to save the file.
pub fn wiring(place: &Path, origin: &Origin) -> Option<OfLinks> {
    let hosts = origin.hosts;
    // Who reads a pipe waits.
    let text = place.is_file().then(|| std::fs::read_to_string(place).ok())??;
    let before = Tuning::parse(&text).map_err(|why| format!("makes no sense and is replaced: {why}"));
    if let Some(before) = before.as_ref().ok().filter(|before| before.machine.mpi != origin.mpi) {
        let Origin { mpi, date, .. } = &before.machine;
        let both = "to have both, tune with --out FILE, and name it to programs (HYPERCOLL_TUNING)";
        eprintln!(
            "hypercoll: {} is of {mpi}, {date}, and is replaced by one of {}; {both}",
            place.display(),
            origin.mpi
        );
    }
    let stays = before.and_then(|before| match before.wiring {
        Some(OfLinks { wiring, .. }) if before.machine.hosts != hosts => Err(format!(
            "is of {} hosts, not {hosts}: kind = \"{wiring}\" and its link are dropped",
            before.machine.hosts
        )),
        wiring => Ok(wiring),
    });
    match &stays {
        Ok(Some(OfLinks { wiring, link })) => {
            eprintln!("hypercoll: kind = \"{wiring}\" and link = {link:e} stay as they are in {}", place.display());
        }
        Ok(None) => {}
        Err(why) => eprintln!("hypercoll: {} {why}", place.display()),
    }
    stays.ok().flatten()
}

/// All that was found.
pub struct Found {
    pub tuning: Tuning,
    pub links: Links,
    pub packet: Packet,
    pub calls: Calls,
    pub place: Option<PathBuf>,
}

impl Found {
    pub fn json(&self) -> Json {
        let spread = |value: &Value| json!({ "median": value.median, "min": value.min, "max": value.max });
        json!({
            "file": self.place,
            // The file itself, in JSON.
            "tuning": toml::from_str::<Json>(&self.tuning.text()).ok(),
            "tau_s": spread(&self.links.tau),
            "t_c_s_per_byte": spread(&self.links.t_c),
            "port_speed_ups": self.links.speed_ups,
            "far_over_near": self.links.far,
            "packets": self.packet.tried.iter().map(|(bytes, time)| {
                json!({ "bytes": bytes, "s_per_byte": time })
            }).collect::<Vec<_>>(),
            "hop_s": spread(&self.links.hop),
            "calls": self.calls.compared.iter().map(compared).collect::<Vec<_>>(),
            "calls_left_out": self.calls.left_out,
        })
    }

    pub fn print(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let Origin { host, cpu, mpi, hosts, ranks, .. } = &self.tuning.machine;
        let Links { tau, hop, t_c, ports, speed_ups, pairs_linked, far } = &self.links;
        let on = if *hosts == 1 { "one host".into() } else { format!("{hosts} hosts") };
        writeln!(out, "{ranks} ranks on {on} ({host}, {cpu}), {mpi}")?;
        let mut row = |name: &str, value: String, sure: String| writeln!(out, "{name:<22} {value:>16}   {sure}");
        let times = |value: &Value| format!("{:.3} to {:.3}", value.min * 1e6, value.max * 1e6);
        row("start-up tau", format!("{:.3} us", tau.median * 1e6), times(tau))?;
        let rate = |t_c: f64| format!("{:.1}", 1e-6 / t_c);
        let rates = format!("{} to {} MB/s, median {}", rate(t_c.max), rate(t_c.min), rate(t_c.median));
        row("transfer time t_c", format!("{:.4} ns/B", t_c.median * 1e9), rates)?;
        row("hop", format!("{:.3} us", hop.median * 1e6), times(hop))?;
        if self.tuning.shared_memory.is_some() {
            row("ports at once", "1".into(), "a rank copies one message at a time".into())?;
        } else {
            let all: Vec<String> = speed_ups.iter().map(|speed_up| format!("{speed_up:.2}")).collect();
            row("ports at once", ports.to_string(), format!("rate of 1, 2, ... over that of one: {}", all.join(", ")))?;
        }
        let linked = if *pairs_linked { "yes" } else { "no" };
        let time =
            far.map_or("nothing to measure".into(), |far| format!("{far:.2} times as long as between neighbours"));
        row("every pair linked", linked.into(), time)?;
        let tried: Vec<String> = self.packet.tried.iter().map(|(_, time)| rate(*time)).collect();
        let first = self.packet.tried.first().map_or(0, |(bytes, _)| *bytes);
        let sure = format!("MB/s of {}, twice as much, ...: {}", show_bytes(first), tried.join(" "));
        row("best packet", show_bytes(self.packet.best), sure)?;
        if self.tuning.shared_memory.is_none() {
            row(
                "burst",
                format!("{} B", self.tuning.parameters.burst),
                "pass a link at once after a pause; what may be noise is left out".into(),
            )?;
        }
        if let Some(near) = self.tuning.near {
            row("within a host", format!("{:.3} us", (near.tau + near.hop) * 1e6), near.to_string())?;
        }
        let eager = self.tuning.parameters.eager;
        let (value, sure) = match eager {
            0 => ("none found".to_string(), "no size from which on messages wait for their receivers"),
            _ => (format!("{eager} B"), "largest message that did not wait, to 2 %"),
        };
        row("eager boundary", value, sure.into())?;
        self.print_calls(out)?;
        match &self.place {
            Some(place) => {
                writeln!(out, "written to {}", place.display())?;
                writeln!(out, "HYPERCOLL_TUNING={} makes programs use it on this machine", place.display())?;
            }
            None => writeln!(out, "written nowhere: neither HOME nor XDG_CONFIG_HOME is set (--out FILE)")?,
        }
        Ok(())
    }

    /// What was found of calls: where the choice is another one now, and where native MPI is faster.
    fn print_calls(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let Calls { compared, left_out, .. } = &self.calls;
        let better = compared.iter().filter(|call| call.better().is_some()).count();
        let native = compared.iter().filter(|call| call.native_is_faster().is_some()).count();
        write!(out, "{} calls compared: {better} choices corrected, native MPI faster in {native}", compared.len())?;
        match left_out.len() {
            0 => writeln!(out)?,
            some => writeln!(out, "; {some} calls left out for lack of time (see --seconds)")?,
        }
        for call in compared {
            let (choice, summary) = &call.ours[0];
            let (name, us) = (call.name(), |time: f64| format!("{:.1} us", time * 1e6));
            if let Some((better, time)) = call.better() {
                let [better, choice] = [better, choice].map(form);
                writeln!(out, "  {name}: {better} in {}, not {choice} in {}", us(time.median), us(summary.median))?;
            }
            if let Some([native, ours]) = call.native_is_faster() {
                writeln!(out, "  {name}: native MPI in {}, ours at best in {}", us(native), us(ours))?;
            }
        }
        Ok(())
    }
}

/// An algorithm, and what is not as usual of it.
pub fn form(Candidate { algorithm, parameters, .. }: &Candidate) -> String {
    let packet =
        parameters.packet.map_or(String::new(), |packet| format!(", packets of {}", show_bytes(packet * ELEMENT)));
    let ports = if parameters.ports == PortModel::AllPorts { ", all ports" } else { "" };
    format!("{}{ports}{packet}", algorithm.name)
}

fn compared(call: &Compared) -> Json {
    let time = |summary: &Summary| {
        let interval = summary.interval.map(|(low, high)| [low, high]);
        json!({ "median_s": summary.median, "interval_s": interval })
    };
    let ours = call.ours.iter().map(|(candidate, summary)| {
        json!({
            "algorithm": candidate.algorithm.name,
            "ports": candidate.parameters.ports.name(),
            "packet_bytes": candidate.parameters.packet.map(|packet| packet * ELEMENT),
            "predicted_s": candidate.predicted,
            "measured": time(summary),
        })
    });
    json!({
        "collective": call.call.collective.name(),
        "bytes": call.bytes,
        "ours": ours.collect::<Vec<_>>(),
        "native": time(&call.native),
        "corrected_to": call.better().map(|(candidate, _)| candidate.algorithm.name),
        "native_is_faster": call.native_is_faster().is_some(),
    })
}
