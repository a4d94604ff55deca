//! Compiles what only the header of MPI knows, by the compiler of the MPI that the package is built with, and finds out which functions
//! that MPI has.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/header.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    println!("cargo:rustc-check-cfg=cfg(mpi4, open_mpi, persistent, revoke, sessions)");
    let compiler = env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    cc::Build::new().compiler(&compiler).file("src/header.c").warnings(true).compile("hypercoll_header");
    let said = Command::new(&compiler).args(["-E", "-DHYPERCOLL_PROBE", "src/header.c"]).output();
    let said = said.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(said.status.success(), "{compiler}: {}", String::from_utf8_lossy(&said.stderr));
    let said = String::from_utf8_lossy(&said.stdout);
    for name in ["mpi4", "open_mpi", "persistent", "revoke", "sessions"] {
        if said.contains(&format!("hypercoll_has_{name}")) {
            println!("cargo:rustc-cfg={name}");
        }
    }
    // Symbols of MPI are what the library is about: none is left out because nothing in it calls it.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhypercoll_preload.so");
}
