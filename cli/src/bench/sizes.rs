//! Sizes in bytes, as people write them.

pub use hypercoll::select::parse_bytes;

/// Reads a list `8,1KiB,4MiB`, or a range `8..4MiB` in steps of x4, or `8..4MiB:2` in steps of x2. Both ends of a range
/// belong to it.
pub fn parse_sizes(text: &str) -> Result<Vec<usize>, String> {
    let mut sizes = Vec::new();
    for part in text.split(',') {
        let Some((first, rest)) = part.split_once("..") else {
            sizes.push(parse_bytes(part)?);
            continue;
        };
        let (last, factor) = rest.split_once(':').unwrap_or((rest, "4"));
        let (first, last) = (parse_bytes(first)?, parse_bytes(last)?);
        let factor: usize =
            factor.parse().ok().filter(|f| *f >= 2).ok_or_else(|| format!("'{part}': the step must be 2 or more"))?;
        if first == 0 || first > last {
            return Err(format!("'{part}' is an empty range"));
        }
        let mut size = first;
        while size < last {
            sizes.push(size);
            size = size.saturating_mul(factor);
        }
        sizes.push(last);
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// `1 KiB`, `4 MiB`, or `1000 B` for what is no whole number of a larger unit.
pub fn show_bytes(bytes: usize) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in
            [("8", 8), (" 64 B", 64), ("1KiB", 1024), ("64k", 65536), ("4 MiB", 4 << 20), ("1G", 1 << 30)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "KiB", "1.5KiB", "-8", "8KB", "8x", "99999999999999999999", "99999999999999G"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(parse_sizes("1KiB,8, 8"), Ok(vec![8, 1024]));
        assert_eq!(parse_sizes("8..200"), Ok(vec![8, 32, 128, 200]));
        assert_eq!(parse_sizes("8..32:2,1KiB"), Ok(vec![8, 16, 32, 1024]));
        assert_eq!(parse_sizes("8..8"), Ok(vec![8]));
        for text in ["", "8,", "64..8", "0..8", "8..64:1", "8..64:x"] {
            assert!(parse_sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_as_they_are_read() {
        for (bytes, text) in
            [(0, "0 B"), (8, "8 B"), (1000, "1000 B"), (1024, "1 KiB"), (4 << 20, "4 MiB"), (3 << 29, "1536 MiB")]
        {
            assert_eq!(show_bytes(bytes), text);
            assert_eq!(parse_bytes(text), Ok(bytes));
        }
    }
}
