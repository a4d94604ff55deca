//! Finds out what is built: the commit of the source, and cargo's profile.

use std::env;
use std::path::Path;
use std::process::Command;

/// What the program is made of, from the root of the repository.
const SOURCES: [&str; 6] = ["src", "cli/src", "cli/experiments", "cli/build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo:rerun-if-env-changed=HYPERCOLL_COMMIT");
    let root = Path::new("..");
    // Of a package by itself nothing is known: a repository around it is another one.
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(["--no-optional-locks", "-C"]).arg(root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let in_git = root.join(".git").exists();
    let commit = || {
        let changed = [&["status", "--porcelain", "--"][..], &SOURCES].concat();
        let dirty = if git(&changed)?.is_empty() { "" } else { "-dirty" };
        Some(git(&["rev-parse", "HEAD"])? + dirty)
    };
    let told = env::var("HYPERCOLL_COMMIT").ok().filter(|commit| !commit.is_empty());
    // Said also if it is not known, as cargo's own environment would be seen otherwise.
    let commit = told.or_else(|| commit().filter(|_| in_git)).unwrap_or_default();
    println!("cargo:rustc-env=HYPERCOLL_COMMIT={commit}");
    println!("cargo:rustc-env=HYPERCOLL_PROFILE={}", profile());
    // The log of HEAD grows with every commit, also where HEAD is a branch whose file is not there.
    let logs = ["HEAD", "logs/HEAD"].map(|name| git(&["rev-parse", "--path-format=absolute", "--git-path", name]));
    let watched = logs.into_iter().flatten().filter(|_| in_git);
    let sources = SOURCES.iter().map(|source| root.join(source).display().to_string());
    // What is not there would count as changed for ever.
    for path in watched.chain(sources).chain(["src".into(), "build.rs".into()]).filter(|path| Path::new(path).exists())
    {
        println!("cargo:rerun-if-changed={path}");
    }
}

/// The folder of the target directory: of profiles that are not its own cargo says but from which of these they inherit.
fn profile() -> String {
    let place = env::var("OUT_DIR").unwrap_or_default();
    let build = Path::new(&place).ancestors().find(|folder| folder.ends_with("build"));
    let folder = build.and_then(|build| build.parent()?.file_name()).map(|name| name.to_string_lossy().into_owned());
    folder.or(env::var("PROFILE").ok()).unwrap_or_default()
}
