//! Pictures, as text and as SVG. They are written by hand, know no command line and read nothing but the graph.

pub mod svg;
pub mod text;

use crate::address::is_cyclic;
use crate::topology::Tree;

/// What is drawn: spanning trees of one cube under one root, a panel each.
pub struct TreePicture<'a> {
    /// One line over the picture: the graph, the cube, the root.
    pub title: String,
    /// The rank of the root. Nodes carry their relative addresses, and their ranks as well if this is not 0.
    pub root: usize,
    /// The trees, in the order of drawing.
    pub panels: Vec<Panel<'a>>,
}

/// One tree of a [`TreePicture`].
pub struct Panel<'a> {
    /// The name of the tree, if the picture has several.
    pub name: Option<String>,
    /// The tree, in relative addresses.
    pub tree: &'a dyn Tree,
    /// The label of the edge into a node: children are drawn in ascending order of it. Without it, of their ports.
    pub label: Option<Box<dyn Fn(usize) -> Option<u32> + 'a>>,
    /// What the labels mean, in a few words, if they are to be written at the edges.
    pub label_meaning: Option<&'static str>,
}

impl Panel<'_> {
    /// The children of node `c` in the order of drawing.
    fn children(&self, c: usize) -> Vec<usize> {
        let mut children: Vec<usize> = self.tree.children(c).collect();
        if let Some(label) = &self.label {
            children.sort_by_key(|&child| label(child));
        }
        children
    }

    /// The label to be written at the edge into node `c`.
    fn shown_label(&self, c: usize) -> Option<u32> {
        self.label_meaning?;
        self.label.as_ref()?(c)
    }

    /// The relative address in binary, with as many digits as the cube has dimensions (one for dimension 0).
    fn address(&self, c: usize) -> String {
        format!("{c:0digits$b}", digits = self.tree.dimension() as usize)
    }

    fn is_cyclic(&self, c: usize) -> bool {
        is_cyclic(c, self.tree.dimension())
    }
}
