//! Trees as indented text.

use std::io::{self, Write};

use super::{Panel, TreePicture};

/// Writes the picture as text: a line a node, with its level and its relative address, under its parent.
///
/// Cyclic addresses stand in square brackets; labels, where the picture has them, in the branches.
pub fn tree(picture: &TreePicture<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", picture.title)?;
    writeln!(out, "addresses: rank XOR root, in binary; [cyclic]")?;
    if let Some(meaning) = picture.panels.iter().find_map(|panel| panel.label_meaning) {
        writeln!(out, "numbers in the branches: {meaning}")?;
    }
    for panel in &picture.panels {
        writeln!(out)?;
        if let Some(name) = &panel.name {
            writeln!(out, "{name}")?;
        }
        writeln!(out, "level")?;
        let mut writer = Writer {
            panel,
            root: picture.root,
            label_width: (0..1 << panel.tree.dimension())
                .filter_map(|c| panel.shown_label(c))
                .max()
                .map(|label| label.to_string().len()),
            out,
        };
        writer.node(0, 0, "")?;
        writer.descendants(0, 1, &mut String::new())?;
    }
    Ok(())
}

struct Writer<'a> {
    panel: &'a Panel<'a>,
    root: usize,
    /// The digits of the largest label; `None` if there are no labels to be shown.
    label_width: Option<usize>,
    out: &'a mut dyn Write,
}

impl Writer<'_> {
    fn node(&mut self, c: usize, level: u32, branch: &str) -> io::Result<()> {
        let address = self.panel.address(c);
        let (open, close) = if self.panel.is_cyclic(c) { ("[", "]") } else { ("", "") };
        write!(self.out, "{level:>5}  {branch}{open}{address}{close}")?;
        if self.root != 0 {
            write!(self.out, "  rank {}", c ^ self.root)?;
        }
        writeln!(self.out)
    }

    fn descendants(&mut self, c: usize, level: u32, indent: &mut String) -> io::Result<()> {
        let children = self.panel.children(c);
        let length = indent.len();
        for (i, &child) in children.iter().enumerate() {
            let is_last = i + 1 == children.len();
            let label = self.panel.shown_label(child).map_or(String::new(), |label| label.to_string());
            let dashes = self.label_width.map_or(0, |width| width + 1);
            let corner = if is_last { '└' } else { '├' };
            self.node(child, level, &format!("{indent}{corner}{:─<1$}── ", label_field(&label, dashes), dashes))?;
            indent.push(if is_last { ' ' } else { '│' });
            indent.extend(std::iter::repeat_n(' ', dashes + 3));
            self.descendants(child, level + 1, indent)?;
            indent.truncate(length);
        }
        Ok(())
    }
}

/// The label with a dash before it, right-aligned in a line of dashes.
fn label_field(label: &str, width: usize) -> String {
    format!("{label:─>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::msbt::Ersbt;
    use crate::topology::sbnt::{Sbnt, Variant};

    fn text(picture: &TreePicture<'_>) -> Vec<String> {
        let mut out = Vec::new();
        tree(picture, &mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_balanced_tree() {
        let tree = Sbnt::new(3, Variant::MinRight);
        let panel = Panel { name: None, tree: &tree, label: Some(Box::new(|c| tree.label(c))), label_meaning: None };
        let lines = text(&TreePicture { title: "A tree".to_owned(), root: 0, panels: vec![panel] });
        let expected = [
            "A tree",
            "addresses: rank XOR root, in binary; [cyclic]",
            "",
            "level",
            "    0  [000]",
            "    1  ├── 001",
            "    2  │   └── 011",
            "    3  │       └── [111]",
            "    1  ├── 010",
            "    2  │   └── 110",
            "    1  └── 100",
            "    2      └── 101",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn subtrees_stand_in_the_order_of_their_labels() {
        // Subtree j of the variants that rotate left hangs from port n-1-j.
        let tree = Sbnt::new(3, Variant::MaxLeft);
        let panel = Panel { name: None, tree: &tree, label: Some(Box::new(|c| tree.label(c))), label_meaning: None };
        let lines = text(&TreePicture { title: String::new(), root: 0, panels: vec![panel] });
        let level_1: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("    1  ")).collect();
        assert_eq!(level_1, ["├── 100", "├── 010", "└── 001"]);
    }

    #[test]
    fn a_tree_with_labels_and_another_root() {
        // Labels of two widths: tree 7 of the 8-cube counts from 7 to 15.
        let tree = Ersbt::new(8, 7);
        let panel = Panel {
            name: Some("tree 7".to_owned()),
            tree: &tree,
            label: Some(Box::new(|c| tree.label(c))),
            label_meaning: Some("cycles"),
        };
        let lines = text(&TreePicture { title: String::new(), root: 3, panels: vec![panel] });
        assert_eq!(lines.len(), 6 + 256);
        let expected = [
            "numbers in the branches: cycles",
            "",
            "tree 7",
            "level",
            "    0  [00000000]  rank 3",
            "    1  └──7── 10000000  rank 131",
            "    2         ├──8── 10000001  rank 130",
        ];
        assert_eq!(lines[2..9], expected);
        assert!(lines.iter().any(|line| line.ends_with("└─15── 00000001  rank 2")));
    }
}
