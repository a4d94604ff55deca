//! What `preload` says before the program runs; what becomes of programs is in the tests of the library that it loads.

use super::*;

/// The loader would look for the parts of the name, say that there are none, and run the program without.
#[test]
fn a_library_that_the_loader_cannot_name_is_refused() {
    let folder = std::env::temp_dir().join(format!("hypercoll-preload-{}", std::process::id()));
    for name in ["a b.so", "a:b.so"] {
        let library = folder.join(name);
        std::fs::create_dir_all(&folder).expect("a directory");
        std::fs::write(&library, "").expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hypercoll"));
        command.args(["preload", "--library"]).arg(&library).args(["--", "echo", "natively"]);
        let output = run(command);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{}", output.told());
        assert!(output.stderr.contains(name) && output.stderr.contains("LD_PRELOAD"), "{}", output.told());
    }
    std::fs::remove_dir_all(folder).expect("removed");
}
