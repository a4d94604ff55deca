//! The README cannot drift: its table is the registry's.

#[test]
fn the_table_of_algorithms_is_the_registry_s() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_hypercoll"))
        .args(["algorithms", "--markdown"])
        .output()
        .expect("hypercoll algorithms");
    let table = String::from_utf8(output.stdout).expect("text");
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).expect("README.md");
    assert!(table.lines().count() > 10);
    assert!(readme.contains(&table), "README.md: replace the table by the output of `hypercoll algorithms --markdown`");
}
