//! What the cores of this host have caches for, as Linux tells it.

use std::path::Path;
use std::sync::OnceLock;

/// Bytes of the second cache of a core, which no other core has as a rule: a hardware thread's part of it; `None` where it is not known.
///
/// It is looked up once.
pub(super) fn second() -> Option<usize> {
    static SECOND: OnceLock<Option<usize>> = OnceLock::new();
    *SECOND.get_or_init(|| in_folder(Path::new("/sys/devices/system/cpu/cpu0/cache")))
}

fn in_folder(folder: &Path) -> Option<usize> {
    (0..8).map(|index| folder.join(format!("index{index}"))).find_map(|folder| {
        let line = |name: &str| std::fs::read_to_string(folder.join(name)).ok().map(|line| line.trim().to_string());
        let holds_data = line("type")? != "Instruction";
        if line("level")? != "2" || !holds_data {
            return None;
        }
        Some(line("size").as_deref().and_then(bytes)? / sharers(&line("shared_cpu_map")?))
    })
}

/// Reads a size as the kernel prints it.
fn bytes(size: &str) -> Option<usize> {
    size.strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1 << 10)
}

/// Hardware threads in a mask as the kernel prints it: hexadecimal words with commas between.
fn sharers(mask: &str) -> usize {
    mask.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit.count_ones() as usize).sum::<usize>().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder like the kernel's, with caches of these levels, types, sizes and masks.
    fn folder(name: &str, caches: &[[&str; 4]]) -> std::path::PathBuf {
        let place = std::env::temp_dir().join(format!("hypercoll-caches-{}-{name}", std::process::id()));
        for (index, cache) in caches.iter().enumerate() {
            let folder = place.join(format!("index{index}"));
            std::fs::create_dir_all(&folder).expect("a folder");
            for (file, text) in ["level", "type", "size", "shared_cpu_map"].iter().zip(cache) {
                std::fs::write(folder.join(file), format!("{text}\n")).expect("a file");
            }
        }
        place
    }

    #[test]
    fn a_thread_has_its_part_of_the_second_cache() {
        let first = [["1", "Data", "48K", "1"], ["1", "Instruction", "32K", "1"]];
        for (name, second, expected) in [
            ("own", ["2", "Unified", "2048K", "00000000,00000001"], Some(2 << 20)),
            ("shared", ["2", "Unified", "1024K", "0001,00000001"], Some(512 << 10)),
            ("code", ["2", "Instruction", "1024K", "1"], None),
            ("third", ["3", "Unified", "32768K", "ff"], None),
            ("strange", ["2", "Unified", "much", "1"], None),
        ] {
            let place = folder(name, &[first[0], first[1], second]);
            assert_eq!(in_folder(&place), expected, "{name}");
            std::fs::remove_dir_all(place).expect("removed");
        }
        assert_eq!(in_folder(Path::new("/nowhere")), None);
    }
}
