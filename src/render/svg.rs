//! Trees as SVG: levels from the top down, subtrees side by side, after the figures of the papers.
//!
//! ```
//! use hypercoll::render::{svg, Panel, TreePicture};
//! use hypercoll::topology::{msbt::Ersbt, Tree};
//!
//! // The three edge-disjoint trees of the 3-cube, side by side.
//! let trees = [0, 1, 2].map(|j| Ersbt::new(3, j));
//! let panels = trees.iter().map(|tree| Panel::of_tree(tree, |_| None)).collect();
//! let mut out = Vec::new();
//! svg::tree(&TreePicture { title: "MSBT of the 3-cube".into(), root: 0, panels }, &mut out)?;
//! let picture = String::from_utf8(out).unwrap();
//! assert!(picture.starts_with("<svg"));
//! assert_eq!(picture.matches(">110</text>").count(), 3); // node 110 once in each tree
//! # std::io::Result::Ok(())
//! ```

use std::io::{self, Write};

use super::{Panel, TreePicture};

/// The advance of a character of the monospaced font, per unit of its size.
const CHARACTER: f64 = 0.603;
const ADDRESS_SIZE: f64 = 14.0;
const SMALL_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 17.0;
/// The least gap between neighbouring nodes of a level, and what is added between the subtrees of the root.
const GAP: f64 = 12.0;
const SUBTREE_GAP: f64 = 14.0;
const LEVEL_GAP: f64 = 36.0;
/// A label sits on its edge this far down, where the edges of one parent have parted.
const LABEL_AT: f64 = 0.62;
/// The colour of the labels.
const RED: &str = "#a11d1d";
const MARGIN: f64 = 24.0;
/// The width of the column with the numbers of the levels.
const RULER: f64 = 62.0;
const LEGEND_HEIGHT: f64 = 24.0;
/// Panels are set side by side up to this width, then in a further row.
const ROW_WIDTH: f64 = 1500.0;

/// The height of the row with the numbers of the subtrees.
const HEADER: f64 = 34.0;

/// Writes the picture as a complete SVG document with a white background.
///
/// Levels are rows, and the subtrees of the root columns under their numbers. Cyclic addresses are in square boxes, the
/// others in round ones; labels, where the picture has them, are on the edges.
pub fn tree(picture: &TreePicture, out: &mut dyn Write) -> io::Result<()> {
    let (mut x, mut y, mut row_height) = (MARGIN, MARGIN + 2.0 * TITLE_SIZE, 0.0f64);
    let mut width = text_width(&picture.title, TITLE_SIZE).max(legend_width(picture)) + 2.0 * MARGIN;
    let mut placed = Vec::new();
    for panel in &picture.panels {
        let drawing = Drawing::new(panel, picture.root);
        if x > MARGIN && x + drawing.width > ROW_WIDTH {
            (x, y, row_height) = (MARGIN, y + row_height + MARGIN, 0.0);
        }
        row_height = row_height.max(drawing.height);
        width = width.max(x + drawing.width + MARGIN);
        let next = x + drawing.width + MARGIN;
        placed.push((drawing, x, y));
        x = next;
    }
    let legend_y = y + row_height + MARGIN;
    let height = legend_y + LEGEND_HEIGHT + MARGIN;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{ADDRESS_SIZE}" fill="#1b1b1b">"##
    )?;
    writeln!(out, r#"<rect width="100%" height="100%" fill="white"/>"#)?;
    writeln!(
        out,
        r#"<text x="{MARGIN}" y="{}" font-size="{TITLE_SIZE}" font-weight="bold">{}</text>"#,
        MARGIN + TITLE_SIZE,
        escape(&picture.title)
    )?;
    for (drawing, x, y) in &placed {
        writeln!(out, r#"<g transform="translate({x:.1} {y:.1})">"#)?;
        drawing.write(out)?;
        writeln!(out, "</g>")?;
    }
    writeln!(out, r#"<g transform="translate({MARGIN} {legend_y:.1})" font-size="{SMALL_SIZE}">"#)?;
    write_legend(picture, out)?;
    writeln!(out, "</g>\n</svg>")
}

/// One tree with the place of every node.
struct Drawing<'a> {
    panel: &'a Panel,
    root: usize,
    /// The centre of every place.
    x: Vec<f64>,
    /// The centre line of every level.
    levels: Vec<f64>,
    width: f64,
    height: f64,
}

impl<'a> Drawing<'a> {
    fn new(panel: &'a Panel, root: usize) -> Self {
        let mut drawing =
            Drawing { panel, root, x: vec![0.0; panel.nodes.len()], levels: Vec::new(), width: 0.0, height: 0.0 };
        let outline = drawing.place(0);
        let (left, right) = bounds(&outline);
        drawing.width = RULER + right - left;
        drawing.x[0] = RULER - left;
        // Parents come before their children.
        for (place, node) in panel.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                drawing.x[place] += drawing.x[parent];
            }
        }
        let mut y = drawing.top();
        for level in 0..outline.len() {
            drawing.levels.push(y);
            // The edges out of a root with a wide fan need height, or they would lie on each other.
            let is_fan = level == 0 && drawing.names_subtrees();
            let fan = if is_fan { ((right - left) / 16.0).min(110.0) } else { 0.0 };
            let label = if panel.label_meaning.is_some() { SMALL_SIZE } else { 0.0 };
            y += drawing.node_height() + LEVEL_GAP + fan + label;
        }
        let last = drawing.levels.last().copied().unwrap_or_default();
        drawing.height = last + drawing.node_height() / 2.0 + 4.0;
        drawing
    }

    /// Sets the centres of the descendants of `c`, relative to their parents, and returns the outline of the subtree: the
    /// left and right bound of every level, relative to `c`.
    ///
    /// Children are set as close together as their outlines allow, and the parent midway above them. The subtrees of the
    /// root have columns of their own.
    fn place(&mut self, c: usize) -> Vec<(f64, f64)> {
        let children = &self.panel.nodes[c].children;
        let mut below: Vec<(f64, f64)> = Vec::new();
        for &child in children {
            let outline = self.place(child);
            let shift = if below.is_empty() {
                0.0
            } else if c == 0 {
                bounds(&below).1 + GAP + SUBTREE_GAP - bounds(&outline).0
            } else {
                below.iter().zip(&outline).map(|(done, new)| done.1 + GAP - new.0).fold(0.0, f64::max)
            };
            self.x[child] = shift;
            for (level, (left, right)) in outline.into_iter().enumerate() {
                match below.get_mut(level) {
                    Some(level) => level.1 = right + shift,
                    None => below.push((left + shift, right + shift)),
                }
            }
        }
        let middle = match (children.first(), children.last()) {
            (Some(&first), Some(&last)) => (self.x[first] + self.x[last]) / 2.0,
            _ => 0.0,
        };
        for &child in children {
            self.x[child] -= middle;
        }
        let half = self.node_width() / 2.0;
        let below = below.into_iter().map(|(left, right)| (left - middle, right - middle));
        std::iter::once((-half, half)).chain(below).collect()
    }

    fn node_width(&self) -> f64 {
        let last = (1usize << self.panel.dimension) - 1;
        let rank = if self.root == 0 { 0.0 } else { text_width(&rank_line(last), SMALL_SIZE) };
        text_width(&self.panel.address(0), ADDRESS_SIZE).max(rank) + 16.0
    }

    fn node_height(&self) -> f64 {
        if self.root == 0 {
            24.0
        } else {
            42.0
        }
    }

    /// The second line of a node: its rank, where that is not its relative address.
    fn rank_line(&self, c: usize) -> Option<String> {
        (self.root != 0).then(|| rank_line(self.panel.nodes[c].address ^ self.root))
    }

    /// The centre line of the root.
    fn top(&self) -> f64 {
        let name = if self.panel.name.is_some() { 1.8 * ADDRESS_SIZE } else { 0.0 };
        let header = if self.names_subtrees() { HEADER } else { 0.0 };
        name + header + self.node_height() / 2.0
    }

    /// Whether the subtrees of the root are numbered: not if there is only one.
    fn names_subtrees(&self) -> bool {
        self.panel.nodes[0].children.len() > 1
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(name) = &self.panel.name {
            let name = escape(name);
            writeln!(out, r#"<text x="{RULER}" y="{ADDRESS_SIZE}" font-weight="bold">{name}</text>"#)?;
        }
        writeln!(out, r##"<g font-size="{SMALL_SIZE}" fill="#777" stroke-dasharray="2 4">"##)?;
        for (level, y) in self.levels.iter().enumerate() {
            let word = if level == 0 { "level " } else { "" };
            let (start, end) = (RULER - 8.0, self.width);
            writeln!(out, r##"<path d="M{start} {y:.1}H{end:.1}" stroke="#ddd"/>"##)?;
            let (x, baseline) = (start - 4.0, y + SMALL_SIZE * 0.36);
            writeln!(out, r#"<text x="{x}" y="{baseline:.1}" text-anchor="end">{word}{level}</text>"#)?;
        }
        writeln!(out, "</g>")?;
        let places = || 0..self.panel.nodes.len();
        writeln!(out, r##"<g stroke="#555" stroke-width="1.2">"##)?;
        for place in places() {
            self.write_edge(place, out)?;
        }
        writeln!(out, "</g>\n<g text-anchor=\"middle\">")?;
        for place in places() {
            self.write_label(place, out)?;
            self.write_node(place, out)?;
        }
        if self.names_subtrees() {
            self.write_subtree_names(out)?;
        }
        writeln!(out, "</g>")
    }

    /// The ends of the edge into `c`, from the lower side of the parent to the upper side of the node.
    fn edge(&self, c: usize) -> Option<[f64; 4]> {
        let node = &self.panel.nodes[c];
        let (parent, level) = (node.parent?, node.level as usize);
        let half = self.node_height() / 2.0;
        Some([self.x[parent], self.levels[level - 1] + half, self.x[c], self.levels[level] - half])
    }

    fn write_edge(&self, c: usize, out: &mut dyn Write) -> io::Result<()> {
        match self.edge(c) {
            Some([x1, y1, x2, y2]) => writeln!(out, r#"<path d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"/>"#),
            None => Ok(()),
        }
    }

    fn write_label(&self, c: usize, out: &mut dyn Write) -> io::Result<()> {
        let (Some([x1, y1, x2, y2]), Some(label)) = (self.edge(c), self.panel.shown_label(c)) else {
            return Ok(());
        };
        let (x, y) = (x1 + LABEL_AT * (x2 - x1), y1 + LABEL_AT * (y2 - y1));
        let text = label.to_string();
        let (width, height) = (text_width(&text, SMALL_SIZE) + 4.0, SMALL_SIZE + 2.0);
        let (left, top) = (x - width / 2.0, y - height / 2.0);
        writeln!(out, r#"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" fill="white"/>"#)?;
        let baseline = y + SMALL_SIZE * 0.36;
        writeln!(out, r##"<text x="{x:.1}" y="{baseline:.1}" font-size="{SMALL_SIZE}" fill="{RED}">{text}</text>"##)
    }

    fn write_node(&self, c: usize, out: &mut dyn Write) -> io::Result<()> {
        let y = self.levels[self.panel.nodes[c].level as usize];
        let (width, height) = (self.node_width(), self.node_height());
        let (x, address) = (self.x[c], self.panel.address(c));
        write_box(self.panel.is_cyclic(c), [x - width / 2.0, y - height / 2.0, width, height], out)?;
        let rank = self.rank_line(c);
        let baseline = y + ADDRESS_SIZE * 0.36 - if rank.is_some() { 8.0 } else { 0.0 };
        writeln!(out, r#"<text x="{x:.1}" y="{baseline:.1}">{address}</text>"#)?;
        if let Some(rank) = rank {
            let baseline = baseline + ADDRESS_SIZE + 1.0;
            writeln!(
                out,
                r##"<text x="{x:.1}" y="{baseline:.1}" font-size="{SMALL_SIZE}" fill="#555">{rank}</text>"##
            )?;
        }
        Ok(())
    }

    fn write_subtree_names(&self, out: &mut dyn Write) -> io::Result<()> {
        // Above the root: the number of every subtree over a bracket as wide as the subtree.
        let y = self.top() - self.node_height() / 2.0 - 8.0;
        let (word_x, baseline) = (RULER - 12.0, y - 10.0);
        writeln!(
            out,
            r##"<text x="{word_x}" y="{baseline:.1}" text-anchor="end" font-size="{SMALL_SIZE}" fill="#777">subtree</text>"##
        )?;
        let half = self.node_width() / 2.0;
        for (j, &child) in self.panel.nodes[0].children.iter().enumerate() {
            let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
            let mut waiting = vec![child];
            while let Some(c) = waiting.pop() {
                (left, right) = (left.min(self.x[c] - half), right.max(self.x[c] + half));
                waiting.extend(&self.panel.nodes[c].children);
            }
            let x = (left + right) / 2.0;
            writeln!(out, r##"<path d="M{left:.1} {y:.1}v-6H{right:.1}v6" fill="none" stroke="#999"/>"##)?;
            writeln!(out, r##"<text x="{x:.1}" y="{baseline:.1}" fill="#333">{j}</text>"##)?;
        }
        Ok(())
    }
}

/// The second line of a node.
fn rank_line(rank: usize) -> String {
    format!("rank {rank}")
}

/// The box of a node, [left, top, width, height]: square for a cyclic address, round for another.
fn write_box(is_cyclic: bool, [x, y, width, height]: [f64; 4], out: &mut dyn Write) -> io::Result<()> {
    let (radius, fill) = if is_cyclic { (0.0, "#fbeec5") } else { (height.min(24.0) / 2.0, "white") };
    writeln!(
        out,
        r##"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}" fill="{fill}" stroke="#222" stroke-width="1.2"/>"##
    )
}

/// The width of the sample beside a text of the legend.
const SAMPLE: f64 = 30.0;

/// The texts of the legend, each with what it explains: a box, cyclic or not, or (`None`) the labels.
fn legend(picture: &TreePicture) -> Vec<(Option<bool>, &'static str)> {
    let boxes = [(Some(true), "cyclic relative address"), (Some(false), "other relative address")];
    let labels = picture.panels.iter().find_map(|panel| panel.label_meaning).map(|meaning| (None, meaning));
    boxes.into_iter().chain(labels).collect()
}

fn legend_width(picture: &TreePicture) -> f64 {
    legend(picture).iter().map(|(_, text)| SAMPLE + text_width(text, SMALL_SIZE) + MARGIN).sum()
}

fn write_legend(picture: &TreePicture, out: &mut dyn Write) -> io::Result<()> {
    let baseline = 8.0 + SMALL_SIZE * 0.36;
    let mut x = 0.0;
    for (sample, text) in legend(picture) {
        match sample {
            Some(is_cyclic) => write_box(is_cyclic, [x, 0.0, SAMPLE, 16.0], out)?,
            None => writeln!(out, r##"<text x="{:.1}" y="{baseline:.1}" fill="{RED}">1</text>"##, x + SAMPLE - 8.0)?,
        }
        x += SAMPLE + 8.0;
        writeln!(out, r#"<text x="{x:.1}" y="{baseline:.1}">{}</text>"#, escape(text))?;
        x += text_width(text, SMALL_SIZE) + MARGIN - 8.0;
    }
    Ok(())
}

/// The least and the greatest bound of an outline.
fn bounds(outline: &[(f64, f64)]) -> (f64, f64) {
    outline
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(left, right), level| (left.min(level.0), right.max(level.1)))
}

fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * CHARACTER
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::is_cyclic;
    use crate::topology::msbt::Ersbt;
    use crate::topology::sbg::Sbg;
    use crate::topology::sbnt::{Sbnt, Variant};
    use crate::topology::sbt::Sbt;
    use crate::topology::Tree;

    fn panel(tree: &dyn Tree) -> Panel {
        Panel::of_tree(tree, |_| None)
    }

    fn svg(picture: &TreePicture) -> String {
        let mut out = Vec::new();
        tree(picture, &mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("SVG is text")
    }

    #[test]
    fn nodes_do_not_overlap() {
        for n in 0..=8 {
            let trees: [&dyn Tree; 3] = [&Sbt::new(n), &Sbnt::new(n, Variant::MaxLeft), &Ersbt::new(n.max(1), 0)];
            for (tree, root) in trees.into_iter().flat_map(|tree| [(tree, 0), (tree, 1)]) {
                let panel = panel(tree);
                let drawing = Drawing::new(&panel, root);
                let half = drawing.node_width() / 2.0;
                let mut nodes: Vec<(u32, f64)> =
                    panel.nodes.iter().zip(&drawing.x).map(|(node, &x)| (node.level, x)).collect();
                assert!(panel.nodes.iter().all(|node| node.level == tree.level(node.address)));
                nodes.sort_by(|a, b| a.partial_cmp(b).expect("finite places"));
                assert!(nodes
                    .iter()
                    .all(|node| node.1 - half >= RULER - 1e-6 && node.1 + half <= drawing.width + 1e-6));
                for pair in nodes.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                    assert!(pair[1].1 - pair[0].1 >= 2.0 * half + GAP - 1e-6, "{pair:?} in the {n}-cube");
                }
                let least = drawing.node_height() + LEVEL_GAP - 1e-6;
                let apart = drawing.levels.windows(2).all(|pair| pair[1] - pair[0] >= least);
                assert!(apart && drawing.levels.last().is_some_and(|&y| y < drawing.height));
            }
        }
    }

    #[test]
    fn every_node_edge_and_label_is_drawn() {
        let trees: Vec<Ersbt> = (0..4).map(|j| Ersbt::new(4, j)).collect();
        let panels = trees
            .iter()
            .map(|tree| Panel::of_tree(tree, |c| tree.label(c)).labelled("cycles").named("a < b".to_owned()));
        let text = svg(&TreePicture { title: "R & D".to_owned(), root: 0, panels: panels.collect() });
        for c in 0..16 {
            assert_eq!(text.matches(&format!(">{c:04b}</text>")).count(), 4, "{c:04b}");
        }
        for label in 0..8 {
            let expected = trees.iter().flat_map(|tree| (1..16).filter(|&c| tree.label(c) == Some(label))).count();
            let mark = format!("fill=\"{RED}\">{label}</text>");
            assert_eq!(text.matches(&mark).count(), expected + usize::from(label == 1), "label {label} and the legend");
        }
        // The lines of the ruler are horizontal: H for L.
        let edges = text.lines().filter(|line| line.starts_with("<path d=\"M") && line.contains('L'));
        assert_eq!(edges.count(), 4 * 15);
        let squares = (0..16).filter(|&c| is_cyclic(c, 4)).count();
        assert_eq!(text.matches("rx=\"0\"").count(), 4 * squares + 1);
        assert!(text.contains("R &amp; D") && text.contains("a &lt; b") && text.contains("fill=\"white\""));
    }

    #[test]
    fn ranks_are_shown_if_they_are_not_the_addresses() {
        let tree = Sbt::new(3);
        let at = |root| svg(&TreePicture { title: String::new(), root, panels: vec![panel(&tree)] });
        assert!(!at(0).contains("rank"));
        let text = at(5);
        let lines: Vec<&str> = text.lines().collect();
        for c in 0..8 {
            let is_pair = |pair: &&[&str]| {
                pair[0].contains(&format!(">{c:03b}<")) && pair[1].contains(&format!(">rank {}<", c ^ 5))
            };
            assert_eq!(lines.windows(2).filter(is_pair).count(), 1, "{c:03b}");
        }
    }

    /// Figure by figure: the subtrees stand side by side under their numbers; a cyclic node of the graph is in each of its own.
    #[test]
    fn subtrees_have_columns_of_their_own() {
        for panel in [Panel::of_graph(&Sbg::new(6, Variant::MinRight)), panel(&Sbnt::new(6, Variant::MaxLeft))] {
            let drawing = Drawing::new(&panel, 0);
            let subtree = |mut place: usize| {
                while panel.nodes[place].level > 1 {
                    place = panel.nodes[place].parent.expect("not the root");
                }
                panel.nodes[0].children.iter().position(|&child| child == place)
            };
            let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); 6];
            for place in 1..panel.nodes.len() {
                let (left, right) = &mut ends[subtree(place).expect("below the root")];
                (*left, *right) = (left.min(drawing.x[place]), right.max(drawing.x[place]));
            }
            assert!(ends.windows(2).all(|pair| pair[0].1 + drawing.node_width() < pair[1].0), "{ends:?}");
        }
        let text = svg(&TreePicture {
            title: String::new(),
            root: 0,
            panels: vec![Panel::of_graph(&Sbg::new(4, Variant::MinRight))],
        });
        for (address, times) in [("0101", 2), ("1111", 4), ("0111", 1)] {
            assert_eq!(text.matches(&format!(">{address}</text>")).count(), times, "{address}");
        }
    }
}
