//! What machines and libraries are called in a tuning file, and where the file of a machine is.

use super::Here;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

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

/// What Linux calls the processor of this host; `None` if it does not say.
pub fn cpu_name() -> Option<String> {
    // Of many cores: the first one's lines are enough.
    let mut lines = BufReader::new(File::open("/proc/cpuinfo").ok()?).lines().map_while(std::io::Result::ok);
    lines.find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim().to_string()))
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

/// The tuning file that counts, and whether it was named: the one that is (none, if the name is empty), else the one in the default place if one may be there.
pub fn file_that_counts(
    here: &Here,
    named: Option<OsString>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<(PathBuf, bool)> {
    match named {
        Some(path) => (!path.is_empty()).then(|| (path.into(), true)),
        None => {
            let place = default_place(here, variable);
            place.filter(|path| !matches!(path.try_exists(), Ok(false))).map(|path| (path, false))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let here = Here { host: "a b/c".into(), cpu: None, mpi: None, shares_memory: true };
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
