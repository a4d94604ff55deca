//! SimGrid's time-independent traces (SimGrid 3.32): a line an action, a file a rank, and a file that lists those files.
//!
//! `R init`, `R isend TO TAG BYTES`, `R irecv FROM TAG BYTES`, `R wait FROM TO TAG`, `R compute FLOPS`, `R waitall`, `R finalize`: R is the
//! rank. Tags number the messages of a channel, so that every wait names one message.

use super::order::{steps, InFlight, Step};
use super::{messages, Export, Total};
use hypercoll::schedule::Schedule;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the traces of all ranks into a directory, and `ranks.txt`, which is what SimGrid is given.
pub fn write(export: &Export, directory: &Path) -> io::Result<Total> {
    fs::create_dir_all(directory)?;
    // SimGrid looks for the files from where it runs.
    let directory = directory.canonicalize()?;
    let mut list = BufWriter::new(File::create(directory.join("ranks.txt"))?);
    let mut total = Total::default();
    for schedule in export.schedules() {
        let path = directory.join(format!("rank-{}.txt", schedule.rank));
        let mut file = BufWriter::new(File::create(&path)?);
        trace(&schedule, export, &mut total, &mut file)?;
        file.flush()?;
        writeln!(list, "{}", path.display())?;
    }
    list.flush()?;
    Ok(total)
}

/// Writes the trace of a rank.
pub(super) fn trace(schedule: &Schedule, export: &Export, total: &mut Total, out: &mut dyn Write) -> io::Result<()> {
    let rank = schedule.rank;
    let messages = messages(schedule, export.element);
    total.add(&messages);
    writeln!(out, "{rank} init")?;
    let in_flight = InFlight { turns: export.in_flight, ports: export.parameters.ports };
    for step in steps(schedule, in_flight) {
        match step {
            Step::Start(index) | Step::Wait(index) => {
                let Some(message) = &messages[index] else { continue };
                let (peer, tag, bytes) = (message.peer, message.tag, message.told());
                let (from, to) = if message.sends { (rank, peer) } else { (peer, rank) };
                match (step, message.sends) {
                    (Step::Wait(_), _) => writeln!(out, "{rank} wait {from} {to} {tag}")?,
                    (_, true) => writeln!(out, "{rank} isend {to} {tag} {bytes}")?,
                    (_, false) => writeln!(out, "{rank} irecv {from} {tag} {bytes}")?,
                }
            }
            Step::Compute(index) => match export.work.of(schedule, index, export.element) {
                0.0 => {}
                flops => writeln!(out, "{rank} compute {flops}")?,
            },
            Step::WaitForAll => writeln!(out, "{rank} waitall")?,
        }
    }
    writeln!(out, "{rank} finalize")
}
