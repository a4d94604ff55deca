//! `hypercoll tree`: a spanning tree of the cube, as text, JSON or SVG.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use hypercoll::render::{svg, text, Panel, TreePicture};
use hypercoll::topology::msbt::Ersbt;
use hypercoll::topology::sbnt::{Sbnt, Variant};
use hypercoll::topology::sbt::Sbt;
use hypercoll::topology::Tree;
use serde::{Serialize, Serializer};

/// The largest dimension whose nodes are listed, and the largest whose nodes are drawn.
const MAX_LISTED: u32 = 20;
const MAX_DRAWN: u32 = 12;

/// Print a spanning tree of the cube, or the edge-disjoint trees of the MSBT.
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
    /// Which SBnT: min-right, max-left, min-left-reversed, max-right-reversed [default: min-right]
    #[arg(long, value_name = "V")]
    variant: Option<Variant>,
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
    /// Spanning balanced n-tree
    Sbnt,
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
    match args.variant {
        Some(variant) if args.kind != Kind::Sbnt => {
            Err(format!("--variant {variant}: only the kind sbnt has variants"))
        }
        _ => Ok(()),
    }
}

fn print(args: &TreeArgs, format: Format, out: &mut dyn Write) -> io::Result<()> {
    let TreeArgs { dim, root, .. } = *args;
    let variant = args.variant.unwrap_or_default();
    let trees: Vec<Ersbt> = (0..dim).map(|j| Ersbt::new(dim, j)).collect();
    let (sbt, sbnt) = (Sbt::new(dim), Sbnt::new(dim, variant));
    let (graph, panels) = match args.kind {
        Kind::Sbt => ("Spanning binomial tree (SBT)".to_owned(), vec![single(&sbt)]),
        Kind::Sbnt => {
            let panel = Panel { label: Some(Box::new(|c| sbnt.label(c))), ..single(&sbnt) };
            (format!("Spanning balanced n-tree (SBnT, {variant})"), vec![panel])
        }
        Kind::Msbt => {
            let panels = trees.iter().enumerate().map(|(j, tree)| Panel {
                name: Some(format!("ERSBT {j}")),
                label: Some(Box::new(|c| tree.label(c))),
                label_meaning: Some("cycle of the tree's first packet"),
                ..single(tree)
            });
            ("Multiple spanning binomial trees (MSBT)".to_owned(), panels.collect())
        }
    };
    let title = format!("{graph} of the {dim}-cube, root {root}");
    let picture = TreePicture { title, root, panels };
    match format {
        Format::Text => text::tree(&picture, out),
        Format::Svg => svg::tree(&picture, out),
        Format::Json => {
            serde_json::to_writer(&mut *out, &Graph::new(args.kind, variant, &picture, dim))?;
            writeln!(out)
        }
    }
}

/// A tree that is the whole picture.
fn single(tree: &dyn Tree) -> Panel<'_> {
    Panel { name: None, tree, label: None, label_meaning: None }
}

/// The JSON of a graph; every list is indexed by the rank.
#[derive(Serialize)]
struct Graph<'a> {
    kind: &'static str,
    variant: Option<&'static str>,
    dimension: u32,
    root: usize,
    parents: Option<Parents<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trees: Option<Vec<LabelledTree<'a>>>,
}

#[derive(Serialize)]
struct LabelledTree<'a> {
    index: usize,
    parents: Parents<'a>,
    labels: Labels<'a>,
}

impl<'a> Graph<'a> {
    fn new(kind: Kind, variant: Variant, picture: &'a TreePicture<'a>, dimension: u32) -> Self {
        let lists = |panel| (Parents { panel, root: picture.root }, Labels { panel, root: picture.root });
        let labelled = |(index, panel)| {
            let (parents, labels) = lists(panel);
            LabelledTree { index, parents, labels }
        };
        let has_trees = kind == Kind::Msbt;
        Graph {
            kind: match kind {
                Kind::Sbt => "sbt",
                Kind::Msbt => "msbt",
                Kind::Sbnt => "sbnt",
            },
            variant: (kind == Kind::Sbnt).then(|| variant.name()),
            dimension,
            root: picture.root,
            parents: picture.panels.first().filter(|_| !has_trees).map(|panel| lists(panel).0),
            trees: has_trees.then(|| picture.panels.iter().enumerate().map(labelled).collect()),
        }
    }
}

/// The parent of every rank, written without a copy in memory.
struct Parents<'a> {
    panel: &'a Panel<'a>,
    root: usize,
}

impl Serialize for Parents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ranks = 0..1usize << self.panel.tree.dimension();
        serializer.collect_seq(ranks.map(|rank| self.panel.tree.parent(rank ^ self.root).map(|up| up ^ self.root)))
    }
}

/// The label of the edge into every rank.
struct Labels<'a> {
    panel: &'a Panel<'a>,
    root: usize,
}

impl Serialize for Labels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ranks = 0..1usize << self.panel.tree.dimension();
        let label = |rank: usize| self.panel.label.as_ref().and_then(|label| label(rank ^ self.root));
        serializer.collect_seq(ranks.map(label))
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
        let words = std::iter::once("tree").chain(line.split(' '));
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
        for kind in lines.iter().map(String::as_str).chain(["sbt", "msbt"]) {
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
                            assert!(steps <= 5);
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
}
