//! Pictures of spanning trees, as text and as SVG.
//!
//! They need no drawing library and know no command line: a [`TreePicture`] is made from a tree, and [`text::tree`] or
//! [`svg::tree`] writes it.
//!
//! ```
//! use hypercoll::render::{text, Panel, TreePicture};
//! use hypercoll::topology::sbt::Sbt;
//!
//! let panels = vec![Panel::of_tree(&Sbt::new(2), |_| None)];
//! let mut out = Vec::new();
//! text::tree(&TreePicture { title: "The binomial tree of 4 nodes".into(), root: 0, panels }, &mut out)?;
//! let picture = String::from_utf8(out).unwrap();
//! // Addresses that a rotation brings back to themselves stand in brackets.
//! assert!(picture.ends_with("\
//! level
//!     0  [00]
//!     1  ├── 01
//!     2  │   └── [11]
//!     1  └── 10
//! "));
//! # std::io::Result::Ok(())
//! ```

pub mod svg;
pub mod text;

use crate::topology::sbg::Sbg;
use crate::topology::Tree;

/// What is drawn: spanning trees of one cube under one root, a panel each.
pub struct TreePicture {
    /// One line over the picture: the graph, the cube, the root.
    pub title: String,
    /// The rank of the root. Nodes carry their relative addresses, and their ranks as well if this is not 0.
    pub root: usize,
    /// The trees, in the order of drawing.
    pub panels: Vec<Panel>,
}

/// One tree of a [`TreePicture`], or a graph of which the subtrees of the root share nodes: these are drawn in each of them.
pub struct Panel {
    /// The name of the tree, if the picture has several.
    pub name: Option<String>,
    /// What the labels mean, in a few words, if they are to be written at the edges.
    pub label_meaning: Option<&'static str>,
    dimension: u32,
    /// The root, and then every node after its parent.
    nodes: Vec<Node>,
}

/// A node at one of its places in the picture.
struct Node {
    /// The relative address.
    address: usize,
    /// Edges between this place and the root.
    level: u32,
    /// The place of the parent.
    parent: Option<usize>,
    /// The label of the edge from the parent.
    label: Option<u32>,
    /// The places of the children, in the order of drawing.
    children: Vec<usize>,
}

impl Panel {
    /// A tree. The children of a node are drawn in ascending order of the labels of the edges to them, or, where these are
    /// equal or missing, of their ports.
    pub fn of_tree(tree: &dyn Tree, label: impl Fn(usize) -> Option<u32>) -> Panel {
        Panel::grow(tree.dimension(), |c, ()| {
            let mut children: Vec<_> = tree.children(c).map(|child| (child, label(child), ())).collect();
            children.sort_by_key(|&(_, label, ())| label);
            children
        })
    }

    /// The spanning balanced graph: the subtrees of the root in their order, a cyclic node in each that it belongs to.
    pub fn of_graph(graph: &Sbg) -> Panel {
        let n = graph.dimension();
        // Below the root a place knows its subtree.
        Panel::grow(n, |c, subtree: Option<u32>| {
            let subtrees = subtree.map_or(0..n, |j| j..j + 1);
            let mut children: Vec<_> = subtrees
                .flat_map(|j| graph.child_ports(c, j).iter().map(move |port| (c ^ 1 << port, j)))
                .map(|(child, j)| (child, graph.label(child, j), Some(j)))
                .collect();
            children.sort_by_key(|&(_, label, j)| (j, label));
            children
        })
    }

    /// The picture with the labels written at the edges, which mean `meaning`.
    pub fn labelled(self, meaning: &'static str) -> Panel {
        Panel { label_meaning: Some(meaning), ..self }
    }

    /// The picture under a name.
    pub fn named(self, name: String) -> Panel {
        Panel { name: Some(name), ..self }
    }

    /// `children`: of an address at a place that the mark tells from others of the same address.
    fn grow<M: Copy + Default>(dimension: u32, children: impl Fn(usize, M) -> Vec<(usize, Option<u32>, M)>) -> Panel {
        let mut nodes = vec![Node { address: 0, level: 0, parent: None, label: None, children: Vec::new() }];
        let mut marks = vec![M::default()];
        for place in 0.. {
            let Some(Node { address, level, .. }) = nodes.get(place) else { break };
            let level = level + 1;
            for (address, label, mark) in children(*address, marks[place]) {
                let child = nodes.len();
                nodes[place].children.push(child);
                nodes.push(Node { address, level, parent: Some(place), label, children: Vec::new() });
                marks.push(mark);
            }
        }
        Panel { name: None, label_meaning: None, dimension, nodes }
    }

    /// The label to be written at the edge into a place.
    fn shown_label(&self, place: usize) -> Option<u32> {
        self.label_meaning?;
        self.nodes[place].label
    }

    /// The relative address in binary, with as many digits as the cube has dimensions (one for dimension 0).
    fn address(&self, place: usize) -> String {
        format!("{:0digits$b}", self.nodes[place].address, digits = self.dimension as usize)
    }

    fn is_cyclic(&self, place: usize) -> bool {
        crate::address::is_cyclic(self.nodes[place].address, self.dimension)
    }

    /// The number of levels below the root.
    fn height(&self) -> u32 {
        self.nodes.last().map_or(0, |node| node.level)
    }
}
