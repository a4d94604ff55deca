//! `hypercoll tree`: a spanning tree or graph of the cube, as text, JSON or SVG.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use hypercoll::render::{svg, text, Panel, TreePicture};
use hypercoll::topology::balanced_tree::BalancedTree;
use hypercoll::topology::hamiltonian_path::{self, HamiltonianPath};
use hypercoll::topology::msbt::Ersbt;
use hypercoll::topology::multinode::MultinodeTree;
use hypercoll::topology::sbg::Sbg;
use hypercoll::topology::sbnt::{Sbnt, Variant};
use hypercoll::topology::sbt::Sbt;
use hypercoll::topology::tcbt::Tcbt;
use hypercoll::topology::wave::DoubleWave;
use hypercoll::topology::Tree;
use serde::{Serialize, Serializer};

/// The largest dimension whose nodes are listed, and the largest whose nodes are drawn.
const MAX_LISTED: u32 = 20;
const MAX_DRAWN: u32 = 12;

/// Print a spanning tree of the cube, the edge-disjoint trees of the MSBT, or the spanning balanced graph.
#[derive(clap::Args)]
pub struct TreeArgs {
    /// The graph
    kind: Kind,
    /// Dimension of the cube, at most 20 (svg: 12)
    #[arg(long, value_name = "N")]
    dim: u32,
    /// Rank of the root
    #[arg(long, value_name = "R", default_value_t = 0)]
    root: usize,
    /// Which SBnT or SBG: min-right, max-left, min-left-reversed, max-right-reversed [default: min-right]
    #[arg(long, value_name = "V")]
    variant: Option<Variant>,
    /// Which way the Hamiltonian path goes round the Gray code [default: forward]
    #[arg(long)]
    course: Option<Course>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// Spanning binomial tree
    Sbt,
    /// Multiple spanning binomial trees: n edge-disjoint trees
    Msbt,
    /// Two-rooted complete binary tree
    Tcbt,
    /// Path along the binary-reflected Gray code
    HamiltonianPath,
    /// Spanning balanced n-tree
    Sbnt,
    /// Spanning balanced graph: the SBnT with several parents for cyclic nodes
    Sbg,
    /// Perfectly balanced shortest-path tree
    Balanced,
    /// Tree of the multinode broadcast
    Multinode,
    /// The n trees of the double wave
    DoubleWave,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Course {
    /// From the root up the code
    Forward,
    /// From the root down the code
    Backward,
    /// The root in the middle
    Middle,
    /// Two paths: forward and backward
    Opposite,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Svg,
}

/// Prints the tree that `args` ask for, to their file or to `out`. An error is the message for the user.
pub fn run(args: &TreeArgs, out: &mut dyn Write) -> Result<(), String> {
    let format = if args.json { Format::Json } else { args.format };
    check(args, format)?;
    match &args.out {
        None => print(args, format, out).map_err(|error| format!("cannot write: {error}")),
        Some(path) => File::create(path)
            .and_then(|file| {
                let mut file = BufWriter::new(file);
                print(args, format, &mut file)?;
                file.flush()
            })
            .map_err(|error| format!("--out {}: {error}", path.display())),
    }
}

fn check(args: &TreeArgs, format: Format) -> Result<(), String> {
    let TreeArgs { dim, root, .. } = *args;
    if dim > MAX_LISTED {
        return Err(format!("--dim {dim}: a whole tree is printed up to dimension {MAX_LISTED}"));
    }
    if format == Format::Svg && dim > MAX_DRAWN {
        return Err(format!("--dim {dim}: a tree is drawn up to dimension {MAX_DRAWN}"));
    }
    if root >> dim != 0 {
        return Err(format!("--root {root}: the ranks of the {dim}-cube are 0 to {}", (1usize << dim) - 1));
    }
    if let Some(variant) = args.variant.filter(|_| !matches!(args.kind, Kind::Sbnt | Kind::Sbg)) {
        return Err(format!("--variant {variant}: only the kinds sbnt and sbg have variants"));
    }
    if args.course.is_some() && args.kind != Kind::HamiltonianPath {
        return Err("--course: only the kind hamiltonian-path goes one way or another".into());
    }
    Ok(())
}

/// The label of the edge into a node of a tree.
type Label<'a> = Box<dyn Fn(usize) -> Option<u32> + 'a>;

/// What a kind stands for.
enum Shape<'a> {
    /// One tree; children are drawn in ascending order of the labels, where it has any.
    Tree(Box<dyn Tree>, Option<Label<'a>>),
    /// Several, which belong together.
    Trees(Vec<(Box<dyn Tree>, Label<'a>)>),
    Graph(Sbg),
}

/// A graph with all that is said about it.
struct Graph<'a> {
    title: String,
    /// The variant, or the course of a path.
    variant: Option<&'static str>,
    /// What a tree of several is called.
    part: &'static str,
    /// What the labels mean, if they are to be shown.
    meaning: Option<&'static str>,
    shape: Shape<'a>,
}

impl<'a> Graph<'a> {
    fn of(args: &TreeArgs) -> Graph<'a> {
        let n = args.dim;
        let variant = args.variant.unwrap_or_default();
        let plain = |title: &str, shape| Graph { title: title.into(), variant: None, part: "", meaning: None, shape };
        match args.kind {
            Kind::Sbt => plain("Spanning binomial tree (SBT)", Shape::Tree(Box::new(Sbt::new(n)), None)),
            Kind::Msbt => {
                let trees = (0..n).map(|j| Ersbt::new(n, j));
                Graph {
                    part: "ERSBT",
                    meaning: Some("cycle of the tree's first packet"),
                    ..plain("Multiple spanning binomial trees (MSBT)", several(trees, Ersbt::label))
                }
            }
            Kind::Tcbt => {
                let tree = Tcbt::new(n);
                Graph {
                    meaning: Some("step of the first packet, one port"),
                    ..plain("Two-rooted complete binary tree (TCBT)", labelled(tree, Tcbt::label))
                }
            }
            Kind::HamiltonianPath => path(args.course.unwrap_or(Course::Forward), n),
            Kind::Sbnt => Graph {
                title: format!("Spanning balanced n-tree (SBnT, {variant})"),
                variant: Some(variant.name()),
                ..plain("", labelled(Sbnt::new(n, variant), Sbnt::label))
            },
            Kind::Sbg => Graph {
                title: format!("Spanning balanced graph (SBG, {variant})"),
                variant: Some(variant.name()),
                ..plain("", Shape::Graph(Sbg::new(n, variant)))
            },
            Kind::Balanced => {
                plain("Perfectly balanced shortest-path tree", Shape::Tree(Box::new(BalancedTree::new(n)), None))
            }
            Kind::Multinode => {
                let step = |tree: &MultinodeTree, c: usize| (c != 0).then(|| tree.step(c) as u32);
                Graph {
                    meaning: Some("step"),
                    ..plain("Tree of the multinode broadcast", labelled(MultinodeTree::new(n), step))
                }
            }
            Kind::DoubleWave => {
                let trees = (0..n).map(|i| DoubleWave::new(n, i));
                Graph {
                    part: "packet",
                    meaning: Some("step, from 0"),
                    ..plain("Trees of the double wave", several(trees, DoubleWave::step))
                }
            }
        }
    }

    fn picture(&self, args: &TreeArgs) -> TreePicture {
        let panel = |tree: &dyn Tree, label: Option<&Label<'_>>| {
            let panel = Panel::of_tree(tree, |c| label.and_then(|label| label(c)));
            match self.meaning {
                Some(meaning) => panel.labelled(meaning),
                None => panel,
            }
        };
        let panels = match &self.shape {
            Shape::Tree(tree, label) => vec![panel(&**tree, label.as_ref())],
            Shape::Trees(trees) => {
                let named = |(j, (tree, label)): (usize, &(Box<dyn Tree>, Label<'_>))| {
                    panel(&**tree, Some(label)).named(format!("{} {j}", self.part))
                };
                trees.iter().enumerate().map(named).collect()
            }
            Shape::Graph(graph) => vec![Panel::of_graph(graph)],
        };
        let title = format!("{} of the {}-cube, root {}", self.title, args.dim, args.root);
        TreePicture { title, root: args.root, panels }
    }
}

fn labelled<'a, T: Tree + Copy + 'static>(tree: T, label: impl Fn(&T, usize) -> Option<u32> + 'a) -> Shape<'a> {
    Shape::Tree(Box::new(tree), Some(Box::new(move |c| label(&tree, c))))
}

fn several<'a, T: Tree + Copy + 'static>(
    trees: impl Iterator<Item = T>,
    label: impl Fn(&T, usize) -> Option<u32> + Copy + 'a,
) -> Shape<'a> {
    let boxed = |tree: T| -> (Box<dyn Tree>, Label<'a>) { (Box::new(tree), Box::new(move |c| label(&tree, c))) };
    Shape::Trees(trees.map(boxed).collect())
}

/// A Hamiltonian path, or two.
fn path<'a>(course: Course, n: u32) -> Graph<'a> {
    use hamiltonian_path::Course::{Backward, Forward, Middle};
    let tree = |course| HamiltonianPath::new(n, course);
    let single = |course| Shape::Tree(Box::new(tree(course)), None);
    let (variant, shape) = match course {
        Course::Forward => (None, single(Forward)),
        Course::Backward => (Some("backward"), single(Backward)),
        Course::Middle => (Some("middle"), single(Middle)),
        Course::Opposite => {
            let step = |tree: &HamiltonianPath, c: usize| (c != 0).then(|| tree.level(c) - 1);
            (Some("opposite"), several([tree(Forward), tree(Backward)].into_iter(), step))
        }
    };
    let which = variant.map_or(String::new(), |variant| format!(" ({variant})"));
    Graph { title: format!("Hamiltonian path{which}"), variant, part: "path", meaning: None, shape }
}

fn print(args: &TreeArgs, format: Format, out: &mut dyn Write) -> io::Result<()> {
    let graph = Graph::of(args);
    match format {
        Format::Text => text::tree(&graph.picture(args), out),
        Format::Svg => svg::tree(&graph.picture(args), out),
        Format::Json => {
            serde_json::to_writer(&mut *out, &Json::new(&graph, args))?;
            writeln!(out)
        }
    }
}

/// The JSON of a graph; every list is indexed by the rank, and is written without a copy in memory.
#[derive(Serialize)]
struct Json<'a> {
    kind: String,
    variant: Option<&'static str>,
    dimension: u32,
    root: usize,
    parents: Option<Ranks<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trees: Option<Vec<LabelledTree<'a>>>,
}

#[derive(Serialize)]
struct LabelledTree<'a> {
    index: usize,
    parents: Ranks<'a>,
    labels: Ranks<'a>,
}

impl<'a> Json<'a> {
    fn new(graph: &'a Graph<'a>, args: &TreeArgs) -> Self {
        let (dimension, root) = (args.dim, args.root);
        let ranks = |of| Ranks { dimension, root, of };
        let (parents, trees) = match &graph.shape {
            Shape::Tree(tree, _) => (Some(ranks(Of::Parent(&**tree))), None),
            Shape::Graph(graph) => (Some(ranks(Of::Parents(graph))), None),
            Shape::Trees(trees) => {
                let labelled = |(index, (tree, label)): (usize, &'a (Box<dyn Tree>, Label<'a>))| LabelledTree {
                    index,
                    parents: ranks(Of::Parent(&**tree)),
                    labels: ranks(Of::Label(label)),
                };
                (None, Some(trees.iter().enumerate().map(labelled).collect()))
            }
        };
        let kind = args.kind.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        Json { kind, variant: graph.variant, dimension, root, parents, trees }
    }
}

/// Something about every rank, in the order of ranks.
struct Ranks<'a> {
    dimension: u32,
    root: usize,
    of: Of<'a>,
}

enum Of<'a> {
    Parent(&'a dyn Tree),
    Parents(&'a Sbg),
    Label(&'a Label<'a>),
}

impl Serialize for Ranks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let root = self.root;
        let addresses = (0..1usize << self.dimension).map(|rank| rank ^ root);
        match self.of {
            Of::Parent(tree) => serializer.collect_seq(addresses.map(|c| tree.parent(c).map(|up| up ^ root))),
            Of::Parents(graph) => {
                let parents = |c| graph.parents(c).map(|(_, up)| up ^ root).collect::<Vec<_>>();
                serializer.collect_seq(addresses.map(parents))
            }
            Of::Label(label) => serializer.collect_seq(addresses.map(label)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::{json, Value};

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: TreeArgs,
    }

    fn output(line: &str) -> Result<String, String> {
        let words = std::iter::once("tree").chain(line.split_whitespace());
        let command = Command::try_parse_from(words).map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        run(&command.args, &mut out)?;
        String::from_utf8(out).map_err(|error| error.to_string())
    }

    fn parsed(line: &str) -> Value {
        serde_json::from_str(&output(line).expect(line)).expect("valid JSON")
    }

    #[test]
    fn json_is_indexed_by_rank() {
        assert_eq!(
            output("sbt --dim 2 --root 1 --json").as_deref(),
            Ok("{\"kind\":\"sbt\",\"variant\":null,\"dimension\":2,\"root\":1,\"parents\":[1,null,0,1]}\n")
        );
        let expected =
            json!({"kind": "sbnt", "variant": "max-left", "dimension": 2, "root": 0, "parents": [null, 0, 0, 2]});
        assert_eq!(parsed("sbnt --dim 2 --variant max-left --format json"), expected);
        // Tree 0 of the 3-cube in the errata, with ranks 0 and 1 exchanged, 2 and 3, and so on.
        let msbt = parsed("msbt --dim 3 --root 1 --json");
        assert_eq!((&msbt["parents"], &msbt["variant"]), (&Value::Null, &Value::Null));
        let first = json!({"index": 0, "parents": [1, null, 0, 2, 0, 4, 2, 6], "labels": [0, null, 1, 3, 2, 3, 2, 3]});
        assert_eq!(msbt["trees"][0], first);
        assert_eq!(msbt["trees"].as_array().map(Vec::len), Some(3));
        assert_eq!(parsed("msbt --dim 0 --json")["trees"], json!([]));
        assert_eq!(parsed("sbnt --dim 0 --json")["parents"], json!([null]));
    }

    #[test]
    fn every_root_reaches_every_rank() {
        let lines = Variant::ALL.map(|variant| format!("sbnt --variant {variant}"));
        let others = ["sbt", "msbt", "tcbt", "hamiltonian-path", "balanced", "multinode", "double-wave"];
        let courses = ["backward", "middle", "opposite"].map(|course| format!("hamiltonian-path --course {course}"));
        for kind in lines.iter().chain(&courses).map(String::as_str).chain(others) {
            for root in 0..16 {
                let graph = parsed(&format!("{kind} --dim 4 --root {root} --json"));
                let trees = match graph["trees"].as_array() {
                    Some(trees) => trees.iter().map(|tree| &tree["parents"]).collect(),
                    None => vec![&graph["parents"]],
                };
                for parents in trees {
                    for mut rank in 0..16u64 {
                        let mut steps = 0;
                        while let Some(up) = parents[rank as usize].as_u64() {
                            assert_eq!((rank ^ up).count_ones(), 1, "{rank} below {up} is no edge");
                            rank = up;
                            steps += 1;
                            assert!(steps < 16);
                        }
                        assert_eq!(rank, root, "{kind}");
                    }
                }
            }
        }
    }

    #[test]
    fn errors_name_the_argument() {
        let cases = [
            ("sbt --dim 21", "--dim 21"),
            ("sbt --dim 13 --format svg", "--dim 13"),
            ("sbt --dim 3 --root 8", "--root 8"),
            ("sbt --dim 3 --variant min-right", "--variant min-right"),
            ("sbnt --dim 3 --variant left", "max-right-reversed"),
            ("tcbt --dim 3 --course middle", "--course"),
            ("hamiltonian-path --dim 3 --course round", "opposite"),
            ("ring --dim 3", "msbt"),
            ("sbt", "--dim"),
            ("sbt --dim 3 --json --format svg", "--json"),
            ("sbt --dim 3 --out /no/such/folder/tree.svg", "--out /no/such/folder/tree.svg"),
        ];
        for (line, mention) in cases {
            let error = output(line).expect_err(line);
            assert!(error.contains(mention), "{line}: {error}");
        }
        assert!(output("sbt --dim 3 --root 7").is_ok());
    }

    #[test]
    fn text_and_pictures() {
        let text = output("msbt --dim 3").expect("text");
        assert!(text.starts_with("Multiple spanning binomial trees (MSBT) of the 3-cube, root 0\n"));
        assert!(text.contains("ERSBT 2\n") && text.contains("└─2── 100\n"));
        let file = std::env::temp_dir().join(format!("hypercoll-tree-{}.svg", std::process::id()));
        let printed = output(&format!("sbnt --dim 4 --format svg --out {}", file.display()));
        let svg = std::fs::read_to_string(&file).expect("the picture");
        std::fs::remove_file(&file).expect("the picture is ours");
        assert_eq!(printed.as_deref(), Ok(""));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains(">1011</text>"));
    }

    #[test]
    fn graphs_of_the_papers_in_json() {
        // The Gray code 0 1 3 2 6 7 5 4, from its end and from the middle.
        let path = |line: &str| parsed(&format!("hamiltonian-path --dim 3 {line} --json"));
        assert_eq!(path("")["parents"], json!([null, 0, 3, 1, 5, 7, 2, 6]));
        assert_eq!(path("")["variant"], Value::Null);
        assert_eq!(path("--course middle")["parents"], json!([null, 0, 3, 1, 0, 4, 2, 5]));
        assert_eq!(path("--course opposite")["trees"][1]["parents"], json!([null, 3, 6, 2, 0, 4, 7, 5]));
        // The errata: the parents of a cyclic node, each from one of the subtrees that it is in.
        let graph = parsed("sbg --dim 4 --json");
        assert_eq!((&graph["kind"], &graph["variant"]), (&json!("sbg"), &json!("min-right")));
        assert_eq!(graph["parents"][5], json!([1, 4]));
        assert_eq!(graph["parents"][15], json!([7, 14, 13, 11]));
        assert_eq!((&graph["parents"][0], &graph["parents"][6]), (&json!([]), &json!([2])));
        assert_eq!(parsed("sbg --dim 4 --root 3 --json")["parents"][5 ^ 3], json!([1 ^ 3, 4 ^ 3]));
        assert_eq!(parsed("balanced --dim 3 --json")["parents"], json!([null, 0, 0, 1, 0, 4, 2, 3]));
        assert_eq!(parsed("multinode --dim 3 --json")["parents"], json!([null, 0, 0, 2, 0, 1, 4, 6]));
        assert_eq!(parsed("double-wave --dim 3 --json")["trees"][0]["labels"], json!([null, 0, 2, 1, 1, 1, 2, 2]));
    }
}
