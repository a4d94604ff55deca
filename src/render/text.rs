//! Trees as indented text.
//!
//! ```
//! use hypercoll::render::{text, Panel, TreePicture};
//! use hypercoll::topology::tcbt::Tcbt;
//!
//! let panels = vec![Panel::of_tree(&Tcbt::new(3), |_| None)];
//! let mut out = Vec::new();
//! text::tree(&TreePicture { title: "TCBT of the 3-cube".into(), root: 0, panels }, &mut out)?;
//! let nodes = String::from_utf8(out).unwrap().lines().skip(4).count();
//! assert_eq!(nodes, 8); // a line for each, after the title, what addresses mean, and the heading
//! # std::io::Result::Ok(())
//! ```

use std::io::{self, Write};

use super::{Panel, TreePicture};

/// Writes the picture as text: a line a node, with its level and its relative address, under its parent.
///
/// Cyclic addresses stand in square brackets; labels, where the picture has them, in the branches. A path, which would run off
/// to the right, is a list of lines without branches.
pub fn tree(picture: &TreePicture, out: &mut dyn Write) -> io::Result<()> {
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
        let labels = (0..panel.nodes.len()).filter_map(|place| panel.shown_label(place));
        let writer = Writer {
            panel,
            root: picture.root,
            label_width: labels.max().map(|label| label.to_string().len()),
            is_path: panel.height() > 2 * panel.dimension + 2,
        };
        writer.write(out)?;
    }
    Ok(())
}

struct Writer<'a> {
    panel: &'a Panel,
    root: usize,
    /// The digits of the largest label; `None` if there are no labels to be shown.
    label_width: Option<usize>,
    is_path: bool,
}

impl Writer<'_> {
    /// Depth first, without recursion: a path is as deep as the cube has nodes.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let dashes = self.label_width.map_or(0, |width| width + 1);
        // Places still to be written, each with the branches to its left, and whether it is the last child.
        let mut waiting = vec![(0, String::new(), None)];
        while let Some((place, indent, last)) = waiting.pop() {
            let label = self.panel.shown_label(place).map_or(String::new(), |label| label.to_string());
            let (branch, below) = match last {
                Some(_) if self.is_path => (String::new(), String::new()),
                None => (String::new(), String::new()),
                Some(is_last) => {
                    let corner = if is_last { '└' } else { '├' };
                    let bar = if is_last { ' ' } else { '│' };
                    // The label is right-aligned in a line of dashes.
                    (format!("{indent}{corner}{label:─>dashes$}── "), format!("{indent}{bar}{:1$}", "", dashes + 3))
                }
            };
            self.node(place, &branch, out)?;
            let children = &self.panel.nodes[place].children;
            for (i, &child) in children.iter().enumerate().rev() {
                waiting.push((child, below.clone(), Some(i + 1 == children.len())));
            }
        }
        Ok(())
    }

    fn node(&self, place: usize, branch: &str, out: &mut dyn Write) -> io::Result<()> {
        let (level, address) = (self.panel.nodes[place].level, self.panel.address(place));
        let (open, close) = if self.panel.is_cyclic(place) { ("[", "]") } else { ("", "") };
        write!(out, "{level:>5}  {branch}{open}{address}{close}")?;
        if self.root != 0 {
            write!(out, "  rank {}", self.panel.nodes[place].address ^ self.root)?;
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::hamiltonian_path::{Course, HamiltonianPath};
    use crate::topology::msbt::Ersbt;
    use crate::topology::sbg::Sbg;
    use crate::topology::sbnt::{Sbnt, Variant};

    fn text(picture: &TreePicture) -> Vec<String> {
        let mut out = Vec::new();
        tree(picture, &mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_balanced_tree() {
        let tree = Sbnt::new(3, Variant::MinRight);
        let panel = Panel::of_tree(&tree, |c| tree.label(c));
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
        let panel = Panel::of_tree(&tree, |c| tree.label(c));
        let lines = text(&TreePicture { title: String::new(), root: 0, panels: vec![panel] });
        let level_1: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("    1  ")).collect();
        assert_eq!(level_1, ["├── 100", "├── 010", "└── 001"]);
    }

    #[test]
    fn a_tree_with_labels_and_another_root() {
        // Labels of two widths: tree 7 of the 8-cube counts from 7 to 15.
        let tree = Ersbt::new(8, 7);
        let panel = Panel::of_tree(&tree, |c| tree.label(c)).labelled("cycles").named("tree 7".to_owned());
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

    #[test]
    fn cyclic_nodes_of_the_graph_stand_in_every_subtree() {
        let panel = Panel::of_graph(&Sbg::new(4, Variant::MinRight));
        let lines = text(&TreePicture { title: String::new(), root: 0, panels: vec![panel] });
        let places = |address: &str| lines.iter().filter(|line| line.ends_with(address)).count();
        assert_eq!((places("[0101]"), places("[1010]"), places("[1111]"), places(" 0111")), (2, 2, 4, 1));
        assert_eq!(lines.len(), 4 + 16 + 1 + 1 + 3);
    }

    #[test]
    fn a_path_has_no_branches() {
        let tree = HamiltonianPath::new(4, Course::Forward);
        let lines = text(&TreePicture { title: String::new(), root: 0, panels: vec![Panel::of_tree(&tree, |_| None)] });
        assert_eq!(lines[lines.len() - 2..], ["   14  1001", "   15  1000"]);
    }
}
