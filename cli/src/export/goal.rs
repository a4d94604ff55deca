//! GOAL, the language of LogGOPSim: the operations of each rank with what they require, as text.
//!
//! `lI: send BYTESb to R tag T`, `lI: recv BYTESb from R tag T`, `lI: calc NANOSECONDS` are operation I. `lI requires lJ`: I starts when J is
//! complete. `lI irequires lJ`: I starts when J has started, as messages of a channel do. `pI: calc 0` is complete when all operations before
//! I are; it stands for how far a rank runs ahead.

use super::{messages, Export, Total};
use hypercoll::schedule::Schedule;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes all ranks into a file, one after the other.
pub fn write(export: &Export, path: &Path) -> io::Result<Total> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut total = Total::default();
    write_to(export, &mut total, &mut file)?;
    file.flush()?;
    Ok(total)
}

pub(super) fn write_to(export: &Export, total: &mut Total, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "num_ranks {}", export.call.size)?;
    for schedule in export.schedules() {
        rank(&schedule, export, total, out)?;
    }
    Ok(())
}

fn rank(schedule: &Schedule, export: &Export, total: &mut Total, out: &mut dyn Write) -> io::Result<()> {
    let messages = messages(schedule, export.element);
    total.add(&messages);
    writeln!(out, "\nrank {} {{", schedule.rank)?;
    let mut complete = 0;
    for (index, operation) in schedule.operations().iter().enumerate() {
        let opens = schedule.opens(index);
        if opens > complete {
            writeln!(out, "p{opens}: calc 0")?;
            if complete > 0 {
                writeln!(out, "p{opens} requires p{complete}")?;
            }
            for before in complete..opens {
                writeln!(out, "p{opens} requires l{before}")?;
            }
            complete = opens;
        }
        match &messages[index] {
            Some(message) => {
                let (what, to) = if message.sends { ("send", "to") } else { ("recv", "from") };
                writeln!(out, "l{index}: {what} {}b {to} {} tag {}", message.told(), message.peer, message.tag)?;
            }
            None => writeln!(out, "l{index}: calc {:.0}", export.work.of(schedule, index, export.element))?,
        }
        for need in schedule.dependencies(operation) {
            writeln!(out, "l{index} requires l{need}")?;
        }
        if let Some(before) = schedule.channel_predecessor(operation) {
            writeln!(out, "l{index} irequires l{before}")?;
        }
        if opens > 0 {
            writeln!(out, "l{index} requires p{opens}")?;
        }
    }
    writeln!(out, "}}")
}
