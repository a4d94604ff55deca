//! Files that a measurement is written to once it has ended.

use std::fs::{self, OpenOptions};
use std::path::Path;

/// Whether a file can be written, found out before the measurement: what is in it stays, and no empty file is left. (Who reads from a pipe
/// would take it for all that comes if it was opened and closed.)
///
/// # Errors
/// A message that names the file.
pub fn check(path: &Path) -> Result<(), String> {
    let there = path.exists();
    if there && !path.is_file() && !path.is_dir() {
        return Ok(());
    }
    let opened = OpenOptions::new().append(true).create(true).open(path);
    // Of a link to nothing, what it names is made and removed.
    let checked = opened.and_then(|_| if there { Ok(()) } else { fs::remove_file(fs::canonicalize(path)?) });
    checked.map_err(|error| format!("out: cannot write {}: {error}", path.display()))
}

/// Writes a file, which keeps its owner and its permissions if it is there.
///
/// # Errors
/// A message that names the file.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("out: cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_file_stays_until_it_is_written() {
        let folder = std::env::temp_dir().join(format!("hypercoll-output-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.join(name));
        let names = || fs::read_dir(&folder).unwrap().count();
        assert_eq!((check(&file), names()), (Ok(()), 0));
        fs::write(&file, "before").unwrap();
        assert_eq!((check(&file), fs::read_to_string(&file).unwrap()), (Ok(()), "before".into()));
        assert_eq!((write(&file, "after"), fs::read_to_string(&file).unwrap()), (Ok(()), "after".into()));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert_eq!((write(&link, "by a link"), fs::read_to_string(&file).unwrap()), (Ok(()), "by a link".into()));
            fs::remove_file(&file).unwrap();
            assert_eq!(check(&link), Ok(()));
            assert!(!file.exists() && fs::symlink_metadata(&link).is_ok(), "a link to nothing is as it was");
            fs::remove_file(&link).unwrap();
        }
        fs::write(&file, "").unwrap();
        assert_eq!(names(), 1);
        for fails in [check, |path: &Path| write(path, "")] {
            assert!(fails(&file.join("nowhere")).is_err_and(|why| why.contains("nowhere")));
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
