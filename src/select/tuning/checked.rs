//! The section `checked` of a tuning file: what calls took.

use super::section::{quoted, Entry, Section};
use crate::algorithm::{registry, PortModel};
use crate::collective::Collective;
use crate::select::{By, Checked, Spread, Timed};
use std::fmt::Write;

/// What stands for MPI's own collectives in the place of an algorithm.
const NATIVE: &str = "native";

/// Reads the section.
pub(super) fn read(section: &Section) -> Result<Checked, String> {
    let [ranks, times] = section.entries(["ranks", "times"])?;
    let spread: Spread = parsed(&ranks)?;
    let mut read: Vec<Timed> = Vec::new();
    for section in times.sections()? {
        let (timed, refuse) = timed(&section)?;
        // Packets of another size are no other form.
        let form = |by: By| match by {
            By::Native => None,
            By::Ours { algorithm, ports, packet } => Some((algorithm, ports, packet.is_some())),
        };
        let same = |other: &Timed| other.collective == timed.collective && other.bytes == timed.bytes;
        if read.iter().any(|other| same(other) && form(other.by) == form(timed.by)) {
            return Err(refuse);
        }
        read.push(timed);
    }
    Ok(Checked { spread, times: read })
}

/// Reads one time; and what to say if there is another one of the same.
fn timed(section: &Section) -> Result<(Timed, String), String> {
    section.knows(&["collective", "bytes", "algorithm", "ports", "packet", "time"])?;
    let collective = section.entry("collective")?;
    let (name, of) = (section.entry("algorithm")?, &collective);
    let collective: Collective = parsed(of)?;
    if !Checked::corrects(collective) {
        return Err(of.refuse(format!("calls of {collective} are not corrected")));
    }
    let by = match &*name.text()? {
        NATIVE => {
            section.knows(&["collective", "bytes", "algorithm", "time"])?;
            By::Native
        }
        text => {
            let algorithm = registry::find(collective, text).map_err(|error| name.refuse(error))?;
            let ports = section.entry("ports")?;
            let model: PortModel = parsed(&ports)?;
            if !algorithm.ports.contains(&model) {
                return Err(ports.refuse(format!("{} is not made for {model}", algorithm.name)));
            }
            let packet = section.has("packet").then(|| section.entry("packet")).transpose()?;
            let bytes = packet.as_ref().map(Entry::count::<usize>).transpose()?;
            if let (Some(packet), Some(0)) = (packet, bytes) {
                return Err(packet.refuse("0; at least 1 is needed"));
            }
            By::Ours { algorithm: algorithm.name, ports: model, packet: bytes }
        }
    };
    let seconds = section.entry("time")?;
    let time = seconds.number()?;
    if !time.is_finite() || time <= 0.0 {
        return Err(seconds.refuse(format!("{time} is no time that a call takes")));
    }
    let bytes = section.entry("bytes")?.count()?;
    let twice = name.refuse(format!("{} of {bytes} bytes by this is there already", collective));
    Ok((Timed { collective, bytes, by, time }, twice))
}

/// What a text says.
fn parsed<T: std::str::FromStr<Err = String>>(entry: &Entry) -> Result<T, String> {
    entry.text()?.parse().map_err(|error: String| entry.refuse(error))
}

/// Writes the section, a line for each time.
pub(super) fn write(Checked { spread, times }: &Checked, text: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n[checked] # what calls took, in seconds, on\n\
         ranks = {} # hosts x ranks on each\n\
         # By what the parameters above lead to; by what else they might; and by native MPI where that was faster than all.\n\
         times = [\n",
        quoted(&spread.to_string())
    );
    for Timed { collective, bytes, by, time } in times {
        let _ = write!(text, "  {{ collective = {}, bytes = {bytes}, ", quoted(collective.name()));
        let _ = match by {
            By::Native => write!(text, "algorithm = {}, ", quoted(NATIVE)),
            By::Ours { algorithm, ports, packet } => {
                let packet = packet.map_or(String::new(), |packet| format!("packet = {packet}, "));
                write!(text, "algorithm = {}, ports = {}, {packet}", quoted(algorithm), quoted(ports.name()))
            }
        };
        let _ = writeln!(text, "time = {time:e} }},");
    }
    text.push_str("]\n");
}

#[cfg(test)]
mod tests {
    use super::super::tests::{here, network, shared};
    use super::super::Tuning;
    use super::*;

    fn checked(spread: &str) -> Tuning {
        let time = |collective, bytes, by, time| Timed { collective, bytes, by, time };
        let ours = |algorithm, ports, packet| By::Ours { algorithm, ports, packet };
        let (one, all) = (PortModel::OnePort, PortModel::AllPorts);
        let times = vec![
            time(Collective::Broadcast, 8, ours("sbt", one, None), 1.25e-6),
            time(Collective::Broadcast, 1 << 20, ours("msbt", all, Some(8192)), 0.1),
            time(Collective::Broadcast, 1 << 20, ours("sbt", one, None), 1.0 / 3.0),
            time(Collective::Broadcast, 1 << 20, By::Native, 0.05),
            time(Collective::Barrier, 0, By::Native, 1e-9),
        ];
        Tuning { checked: Some(Checked { spread: spread.parse().expect("a spread"), times }), ..network() }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut tuning = checked("8 x 1");
        assert_eq!(Tuning::parse(&tuning.text()), Ok(tuning.clone()), "{}", tuning.text());
        tuning.checked.as_mut().expect("times").times.clear();
        assert_eq!(Tuning::parse(&tuning.text()), Ok(tuning));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_key() {
        let text = checked("8 x 1").text();
        let last = "checked.times[4]";
        for (from, to, word) in [
            ("ranks = \"8 x 1\"", "ranks = \"2 x 4\"", "checked.ranks: 2 x 4"),
            ("ranks = \"8 x 1\"", "ranks = \"8\"", "checked.ranks: '8'"),
            ("times = [", "tmies = [", "checked.tmies"),
            ("times = [", "times = [ 1,", "checked.times[0]: a section"),
            ("collective = \"barrier\"", "collective = \"barier\"", &format!("{last}.collective: ")),
            ("collective = \"barrier\"", "collective = \"permute\"", &format!("{last}.collective: ")),
            ("bytes = 0", "bytes = -1", &format!("{last}.bytes: ")),
            ("time = 1e-9", "time = 0.0", &format!("{last}.time: ")),
            ("time = 1e-9", "time = nan", &format!("{last}.time: ")),
            ("time = 1e-9", "time = 1e-9, ports = \"one-port\"", &format!("{last}.ports ")),
            (
                "\"sbt\", ports = \"one-port\", time = 1.25",
                "\"sbd\", ports = \"one-port\", time = 1.25",
                "checked.times[0].algorithm: ",
            ),
            (
                "\"sbt\", ports = \"one-port\", time = 1.25",
                "\"sbt\", ports = \"no-port\", time = 1.25",
                "checked.times[0].ports: ",
            ),
            ("\"sbt\", ports = \"one-port\", time = 1.25", "\"sbt\", time = 1.25", "checked.times[0].ports is missing"),
            (
                "\"sbt\", ports = \"one-port\", time = 1.25",
                "\"two_level\", ports = \"all-ports\", time = 1.25",
                "checked.times[0].ports: two_level is not made",
            ),
            ("packet = 8192,", "packet = 0,", "packet: 0"),
            (
                "bytes = 1048576, algorithm = \"sbt\"",
                "bytes = 8, algorithm = \"sbt\"",
                "checked.times[2].algorithm: broadcast of 8",
            ),
        ] {
            assert!(text.contains(from), "'{from}' is not in {text}");
            let refusal = Tuning::parse(&text.replace(from, to)).expect_err(to);
            assert!(refusal.contains(word), "'{word}' is not in: {refusal}");
        }
    }

    #[test]
    fn another_spread_or_other_cores_make_a_file_stale() {
        let spread = |text: &str| text.parse::<Spread>().expect("a spread");
        let stale = |tuning: &Tuning, on: &str, cores| tuning.stale(&here(tuning), &spread(on), cores);
        let tuning = checked("4 x 2");
        assert_eq!(stale(&tuning, "4 x 2", None), [""; 0]);
        let other = stale(&tuning, "2 x 3 + 1 x 2", None);
        assert!(other.len() == 1 && other[0].contains("4 x 2") && other[0].contains("not 2 x 3 + 1 x 2"), "{other:?}");
        // Where nothing was measured of calls, by how many there are.
        let (network, shared) = (network(), shared());
        assert_eq!((stale(&network, "8 x 1", None), stale(&network, "7 x 1", None).len()), (vec![], 1));
        assert_eq!(stale(&shared, "1 x 8", Some(2)), [""; 0]);
        let cores = stale(&shared, "1 x 8", Some(4));
        assert!(cores.len() == 1 && cores[0].contains("2 cores, not 4"), "{cores:?}");
    }

    /// Times of ranks that shared other cores say nothing.
    #[test]
    fn the_machine_takes_the_times_of_as_many_cores() {
        assert_eq!(checked("8 x 1").machine(None).checked.as_deref(), checked("8 x 1").checked.as_ref());
        let tuning =
            Tuning { checked: Some(Checked { spread: "1 x 8".parse().expect("one"), times: vec![] }), ..shared() };
        let known = |cores| tuning.machine(cores).checked.is_some();
        assert_eq!((known(None), known(Some(2)), known(Some(4))), (true, true, false));
    }
}
