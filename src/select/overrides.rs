//! What the environment asks of calls, for users who cannot change the code.

use super::{choose, Choice, Machine, Options};
use crate::algorithm::{registry, Algorithm, PortModel};
use crate::collective::{Call, Collective};
use crate::error::{Error, Result};
use std::str::FromStr;

/// The options that the environment asks for; the options of a call itself go before them.
///
/// Each variable is a list of values with commas between, `COLLECTIVE=VALUE` for one collective, or `VALUE` alone for all
/// collectives that have an algorithm to which it can apply. Of several for one collective the last counts.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Overrides {
    algorithm: Asked<String>,
    packet: Asked<usize>,
    ports: Asked<PortModel>,
    symmetrized: Asked<bool>,
}

/// What one variable asks for, by collective; of several entries the last counts.
type Asked<T> = Vec<(Collective, T)>;

const ALGORITHM: &str = "HYPERCOLL_ALGORITHM";
const PACKET: &str = "HYPERCOLL_PACKET";
const PORTS: &str = "HYPERCOLL_PORTS";
const SYMMETRIZED: &str = "HYPERCOLL_SYMMETRIZED";

impl Overrides {
    /// The variables that are read.
    pub const VARIABLES: [&'static str; 4] = [ALGORITHM, PACKET, PORTS, SYMMETRIZED];

    /// Takes the values of the variables, as `value` tells them.
    ///
    /// # Errors
    /// [`Error::Environment`]: a collective, an algorithm or a value that does not exist.
    pub fn parse(value: impl Fn(&str) -> Option<String>) -> Result<Overrides> {
        let value = |variable| value(variable).unwrap_or_default();
        let packet = |text: &str| match parse_bytes(text)? {
            0 => Err("a packet holds at least one byte".to_string()),
            bytes => Ok(bytes),
        };
        let symmetrized = |text: &str| bool::from_str(text).map_err(|_| format!("'{text}' is neither true nor false"));
        Ok(Overrides {
            algorithm: algorithms(&value(ALGORITHM))?,
            packet: asked(PACKET, &value(PACKET), packet, |algorithm, _| algorithm.collective.has_data())?,
            ports: asked(PORTS, &value(PORTS), PortModel::from_str, |algorithm, ports| {
                algorithm.ports.contains(ports)
            })?,
            symmetrized: asked(SYMMETRIZED, &value(SYMMETRIZED), symmetrized, |algorithm, _| algorithm.symmetrizes)?,
        })
    }

    /// Chooses as [`choose`] does, with what the environment asks for where `options` leave it open.
    ///
    /// # Errors
    /// As [`choose`]; if the environment asked for something, as [`Error::Environment`] that names the variables.
    pub fn choose(&self, call: &Call, element: usize, options: &Options, machine: &Machine) -> Result<Choice> {
        let (merged, by) = self.merged(call.collective, element, options)?;
        if by.is_empty() {
            return choose(call, element, options, machine);
        }
        let variables = by.join(", ");
        let mut choice = choose(call, element, &merged, machine)
            .map_err(|error| Error::Environment { variable: variables.clone(), why: error.to_string() })?;
        choice.why = match by.contains(&ALGORITHM) {
            true => format!("asked for by {variables}"),
            false => format!("{}; parameters asked for by {variables}", choice.why),
        };
        Ok(choice)
    }

    /// The options with what the environment adds for a collective, and the variables that added something.
    ///
    /// # Errors
    /// [`Error::Environment`]: a packet that holds no element of so many bytes.
    pub fn merged(
        &self,
        collective: Collective,
        element: usize,
        options: &Options,
    ) -> Result<(Options, Vec<&'static str>)> {
        let (mut merged, mut by) = (options.clone(), Vec::new());
        let packet = find(&self.packet, collective);
        if let (None, Some(bytes)) = (options.packet, packet) {
            if bytes < element {
                let why = format!("a packet of {bytes} bytes holds no element of {element} bytes");
                return Err(Error::Environment { variable: PACKET.into(), why });
            }
        }
        let packet = packet.map(|bytes| bytes / element.max(1));
        fill(&mut merged.algorithm, find(&self.algorithm, collective), ALGORITHM, &mut by);
        fill(&mut merged.packet, packet, PACKET, &mut by);
        fill(&mut merged.ports, find(&self.ports, collective), PORTS, &mut by);
        fill(&mut merged.symmetrized, find(&self.symmetrized, collective), SYMMETRIZED, &mut by);
        Ok((merged, by))
    }
}

fn find<T: Clone>(asked: &Asked<T>, collective: Collective) -> Option<T> {
    asked.iter().rev().find(|(other, _)| *other == collective).map(|(_, value)| value.clone())
}

fn fill<T>(place: &mut Option<T>, value: Option<T>, variable: &'static str, by: &mut Vec<&'static str>) {
    if place.is_none() && value.is_some() {
        *place = value;
        by.push(variable);
    }
}

/// The entries of a list: the collective, if one is named, and the value.
fn entries<'t>(variable: &'static str, text: &'t str) -> Result<Vec<(Option<Collective>, &'t str)>> {
    let refuse = |why: String| Error::Environment { variable: variable.into(), why };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.split_once('=') {
            None => Ok((None, part)),
            Some((name, value)) => Ok((Some(name.trim().parse().map_err(refuse)?), value.trim())),
        })
        .collect()
}

fn algorithms(text: &str) -> Result<Asked<String>> {
    let refuse = |why: String| Error::Environment { variable: ALGORITHM.into(), why };
    let mut asked = Vec::new();
    for (collective, name) in entries(ALGORITHM, text)? {
        match collective {
            Some(collective) => {
                let algorithm = registry::find(collective, name).map_err(|error| refuse(error.to_string()))?;
                asked.push((collective, algorithm.name.to_string()));
            }
            None => {
                let found = Collective::ALL.into_iter().filter_map(|c| Some((c, registry::find(c, name).ok()?.name)));
                let found: Vec<_> = found.map(|(collective, name)| (collective, name.to_string())).collect();
                if found.is_empty() {
                    return Err(refuse(format!("'{name}' does not name an algorithm of any collective")));
                }
                asked.extend(found);
            }
        }
    }
    Ok(asked)
}

fn asked<T: Clone>(
    variable: &'static str,
    text: &str,
    parse: impl Fn(&str) -> std::result::Result<T, String>,
    applies: impl Fn(&Algorithm, &T) -> bool,
) -> Result<Asked<T>> {
    let refuse = |why: String| Error::Environment { variable: variable.into(), why };
    let mut asked = Vec::new();
    for (collective, value) in entries(variable, text)? {
        let value = parse(value).map_err(refuse)?;
        let able = |collective: &Collective| registry::of(*collective).any(|algorithm| applies(algorithm, &value));
        match collective {
            Some(collective) if !able(&collective) => {
                return Err(refuse(format!("no algorithm of {collective} can do what '{text}' asks for")));
            }
            Some(collective) => asked.push((collective, value)),
            None => asked.extend(Collective::ALL.into_iter().filter(able).map(|c| (c, value.clone()))),
        }
    }
    Ok(asked)
}

/// Reads a number of bytes: `8`, `64 B`, `1KiB`, `64K`, `4MiB`, `1G`; all units are powers of 1024.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_bytes(text: &str) -> std::result::Result<usize, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim());
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return Err(format!("'{text}' is no size; sizes are like 8, 64KiB, 4MiB (B, KiB, MiB, GiB)")),
    };
    let number: usize = number.parse().map_err(|_| format!("'{text}' is no size; sizes are like 8, 64KiB, 4MiB"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is more than can be counted"))
}
