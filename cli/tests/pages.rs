//! The pages (README.md, docs/, ...) cannot drift from the project: links lead somewhere, commands can be typed as they stand,
//! scripts, files and variables exist, and tables are what the command prints. (`cargo test --doc` compiles their Rust.)

#[path = "../../tests/common/process.rs"]
mod process;

use process::{run, Output};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// README.md is for newcomers: what is longer belongs into docs/.
const LINES_OF_README: usize = 150;

/// Words that a command of cargo has before the name of a program, which is not run there.
const NAMES_A_PROGRAM: [&str; 3] = ["--bin", "-p", "--package"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root of the repository").to_path_buf()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page by its path.
fn pages() -> BTreeMap<String, String> {
    let mut names: Vec<String> =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "cli/README.md"].map(String::from).into();
    let docs = fs::read_dir(root().join("docs")).expect("docs/");
    names.extend(
        docs.map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()))
            .filter(|name| name.ends_with(".md")),
    );
    assert!(names.len() > 10, "{names:?}");
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// A page in its parts: text, and blocks of code with their language.
struct Parts {
    text: String,
    blocks: Vec<(String, String)>,
}

fn parts(name: &str, page: &str) -> Parts {
    let mut parts = Parts { text: String::new(), blocks: Vec::new() };
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                assert!(!language.is_empty(), "{name}: a block of code says what it is, for instance ```sh");
                open = Some((language.to_string(), String::new()));
            }
            (Some(_), Some(_)) => parts.blocks.extend(open.take()),
            (None, Some((_, block))) => *block += &format!("{line}\n"),
            (None, None) => parts.text += &format!("{line}\n"),
        }
    }
    assert!(open.is_none(), "{name}: a block of code does not end");
    parts
}

/// What stands in backticks, and the text without it.
fn spans(text: &str) -> (Vec<&str>, String) {
    let (mut inside, mut outside) = (Vec::new(), String::new());
    for (at, piece) in text.split('`').enumerate() {
        if at % 2 == 1 {
            inside.push(piece);
        } else {
            outside += piece;
        }
    }
    (inside, outside)
}

/// The anchors that headings make.
fn anchors(name: &str, page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in parts(name, page).text.lines().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (name, page) in &pages {
        let directory = root().join(name).parent().expect("a directory").to_path_buf();
        let (_, text) = spans(&parts(name, page).text);
        for piece in text.split("](").skip(1) {
            let target = piece.split(')').next().unwrap_or_default();
            if target.starts_with("http://") || target.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { root().join(name) } else { directory.join(file) };
            let there = match fs::read_to_string(&path) {
                Ok(text) => anchor.is_empty() || anchors(target, &text).contains(anchor),
                Err(_) => anchor.is_empty() && path.exists(),
            };
            if !there {
                wrong.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere: {wrong:#?}");
    assert!(seen > 30, "only {seen} links found");
}

#[test]
fn the_rust_of_every_page_is_compiled() {
    let library = read("src/lib.rs");
    let mut seen = 0;
    for (name, page) in pages() {
        if parts(&name, &page).blocks.iter().any(|(language, _)| language.starts_with("rust")) {
            seen += 1;
            assert!(
                library.contains(&format!("include_str!(\"../{name}\")")),
                "src/lib.rs, `pages`, leaves out {name}"
            );
        }
    }
    assert!(seen >= 3, "{seen} pages with Rust");
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(
        lines <= LINES_OF_README,
        "README.md: {lines} lines; what is more than {LINES_OF_README} belongs into docs/"
    );
}

#[test]
fn every_page_of_docs_is_linked_from_the_readme() {
    let readme = read("README.md");
    for name in pages().keys().filter(|name| name.starts_with("docs/")) {
        assert!(readme.contains(&format!("({name})")), "README.md does not link {name}");
    }
}

#[test]
fn the_table_of_algorithms_is_the_registry_s() {
    let table = hypercoll(&["algorithms", "--markdown"]).stdout;
    assert!(table.lines().count() > 10);
    let page = read("docs/algorithms.md");
    let expected = format!("<!-- algorithms -->\n{table}<!-- /algorithms -->\n");
    assert!(
        page.contains(&expected),
        "docs/algorithms.md: put the output of `hypercoll algorithms --markdown` between the two markers"
    );
}

#[test]
fn errors_has_every_error() {
    let source = read("src/error.rs");
    let variants = source.split("pub enum Error {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the enum");
    let names: Vec<&str> = variants
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
        .map(|line| line.trim_end_matches([',', '{', ' ']))
        .collect();
    assert!(names.len() > 15, "{names:?}");
    let page = read("docs/errors.md");
    for name in names {
        assert!(page.contains(&format!("\n### `{name}`\n")), "docs/errors.md has no section on {name}");
    }
}

/// All names of variables in a text.
fn variables(text: &str) -> BTreeSet<&str> {
    let name = |rest: &str| rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
    let starts = text.match_indices("HYPERCOLL_").map(|(at, _)| at);
    starts.map(|at| &text[at..at + name(&text[at..])]).filter(|name| name.len() > "HYPERCOLL_".len()).collect()
}

/// The text of all files below some directories.
fn sources(directories: &[&str]) -> String {
    let mut text = String::new();
    let mut open: Vec<PathBuf> = directories.iter().map(|directory| root().join(directory)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()));
        } else {
            text += &fs::read_to_string(&path).unwrap_or_default();
        }
    }
    text
}

#[test]
fn variables_exist_and_the_guide_has_those_of_users() {
    let sources = sources(&["src", "cli/src", "preload/src", "scripts"]);
    let known = variables(&sources);
    for (name, page) in pages() {
        for variable in variables(&page) {
            assert!(known.contains(variable), "{name}: nothing reads {variable}");
        }
    }
    let library = read("src/lib.rs");
    let of_users: BTreeSet<&str> =
        library.lines().filter(|line| line.starts_with("//! | `HYPERCOLL_")).flat_map(variables).collect();
    assert!(of_users.len() > 5, "{of_users:?}");
    let guide = read("docs/guide.md");
    let told = variables(&guide);
    assert!(of_users.is_subset(&told), "docs/guide.md leaves out some of {of_users:?}");
}

#[test]
fn lines_for_cargo_are_those_of_this_version() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("Cargo.toml");
    let mpi = manifest["dependencies"]["mpi"]["version"].as_str().expect("the version of mpi");
    let own = manifest["workspace"]["package"]["version"].as_str().expect("the version");
    let mut seen = 0;
    for (name, page) in pages() {
        for (_, block) in parts(&name, &page).blocks.iter().filter(|(language, _)| language == "toml") {
            let table: toml::Table = block.parse().unwrap_or_else(|error| panic!("{name}: {error}: {block}"));
            let Some(dependencies) = table.get("dependencies") else { continue };
            seen += 1;
            for (package, expected) in [("mpi", mpi), ("hypercoll", own)] {
                let dependency = dependencies.get(package);
                let version = dependency.and_then(|it| it.get("version").unwrap_or(it).as_str());
                assert!(
                    version.is_none_or(|version| version == expected),
                    "{name}: {package} {version:?}, not {expected}"
                );
            }
        }
    }
    assert!(seen >= 2, "{seen} blocks of dependencies");
}

fn hypercoll(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hypercoll"));
    command.args(arguments).env_remove("RUST_LOG");
    run(command)
}

/// The commands of a block for the shell, in words.
fn commands(block: &str) -> Vec<Vec<String>> {
    let lines = block.replace("\\\n", " ");
    let lines =
        lines.lines().map(|line| if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or(line) });
    lines.flat_map(|line| line.split("&&")).map(words).filter(|words| !words.is_empty()).collect()
}

/// Words with spaces between, but not within quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("a word").push(c),
        }
    }
    assert!(!quoted, "quotes do not end: {line}");
    words.retain(|word| !word.is_empty());
    words
}

fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    word.contains('=') && !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Where in a command `hypercoll` is run.
fn place_of_hypercoll(words: &[String]) -> Option<usize> {
    let is_program = |word: &String| word == "hypercoll" || word.ends_with("/hypercoll");
    let at = words.iter().position(is_program)?;
    let named = at > 0 && NAMES_A_PROGRAM.contains(&&*words[at - 1]);
    (!named).then_some(at)
}

/// Whether a command line of `hypercoll` takes no time, and needs nothing that is not there.
fn is_cheap(arguments: &[String]) -> bool {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let needs_more = ["bench", "figures", "plot", "tune"].iter().any(|subcommand| has(subcommand));
    let needs_ranks = has("verify") && !has("--threads");
    let takes_long = has("check") && has("--all");
    !(needs_more || needs_ranks || takes_long)
}

/// What is wrong with a command line of `hypercoll`. It is run if it is `whole`, stands alone, and is cheap; else it is parsed.
fn complaint(words: &[String], at: usize, whole: bool) -> Option<String> {
    let arguments = &words[at + 1..];
    let place = std::env::temp_dir().join(format!("hypercoll-pages-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hypercoll"));
    command.args(arguments).env_remove("RUST_LOG").current_dir(&place);
    if whole && words[..at].iter().all(|word| is_assignment(word)) && is_cheap(arguments) {
        command.envs(words[..at].iter().filter_map(|word| word.split_once('=')));
        // A tuning file that an earlier command of the page has made.
        for file in arguments.iter().filter(|argument| argument.ends_with(".toml")) {
            let file = place.join(file);
            fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
            fs::copy(root().join("tests/measured/cube3.toml"), file).expect("a tuning file");
        }
    } else if arguments != ["help"] {
        // Options and values are looked at before the help is given. What comes behind `--` is for another program.
        let own = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        command = Command::new(env!("CARGO_BIN_EXE_hypercoll"));
        command.args(&arguments[..own]).arg("--help").env_remove("RUST_LOG").current_dir(&place);
    }
    let output = run(command);
    fs::remove_dir_all(&place).expect("the directory is no longer needed");
    (output.code != Some(0)).then(|| output.told())
}

/// What `--help` says of a program.
fn help(program: impl AsRef<std::ffi::OsStr>, subcommand: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(subcommand).arg("--help");
    let output = run(command);
    assert_eq!(output.code, Some(0), "{}", output.told());
    output.stdout
}

/// The options that a command gives to a script and that neither the script nor, for `scripts/run`, the benchmark knows.
fn unknown_options(words: &[String]) -> Vec<String> {
    let Some(at) = words.iter().position(|word| word.starts_with("scripts/")) else { return Vec::new() };
    let options: Vec<&str> = words[at + 1..]
        .iter()
        .take_while(|word| *word != "--")
        .filter(|word| word.starts_with("--"))
        .map(|option| option.split('=').next().unwrap_or(option))
        .collect();
    if options.is_empty() {
        return Vec::new();
    }
    let mut told = help(root().join(&words[at]), &[]);
    if words[at] == "scripts/run" {
        told += &help(env!("CARGO_BIN_EXE_hypercoll"), &["bench"]);
    }
    let known: BTreeSet<&str> = told.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    let unknown = options.into_iter().filter(|option| !known.contains(option));
    unknown.map(|option| format!("{} knows no {option}", words[at])).collect()
}

/// The examples that a command runs and that do not exist.
fn unknown_examples(words: &[String]) -> Vec<String> {
    let named = words.windows(2).filter(|pair| pair[0] == "--example").map(|pair| pair[1].as_str());
    let run = words.iter().filter_map(|word| word.split_once("release/examples/")).map(|(_, example)| example);
    let unknown = named.chain(run).filter(|example| !root().join(format!("examples/{example}.rs")).exists());
    unknown.map(|example| format!("there is no example {example}")).collect()
}

#[test]
fn commands_can_be_typed_as_they_stand() {
    let (mut wrong, mut seen, mut of_hypercoll) = (Vec::new(), BTreeSet::new(), 0);
    for (name, page) in pages() {
        let parts = parts(&name, &page);
        let blocks = parts.blocks.iter().filter(|(language, _)| language == "sh").map(|(_, block)| block.as_str());
        let whole = blocks.flat_map(commands).map(|words| (words, true));
        // In a sentence a command may lack arguments, or have words in capitals in their place.
        let (spans, _) = spans(&parts.text);
        let in_text =
            spans.into_iter().filter(|span| span.starts_with("hypercoll ") && !span.contains(char::is_uppercase));
        let in_text = in_text.flat_map(commands).map(|words| (words, false));
        for (words, whole) in whole.chain(in_text) {
            if !seen.insert(words.clone()) {
                continue;
            }
            let mut complaints = unknown_options(&words);
            complaints.extend(unknown_examples(&words));
            if let Some(at) = place_of_hypercoll(&words) {
                of_hypercoll += 1;
                complaints.extend(complaint(&words, at, whole));
            }
            let line = words.join(" ");
            wrong.extend(complaints.into_iter().map(|why| format!("{name}: {line}\n{why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(of_hypercoll > 20, "only {of_hypercoll} commands found");
}

#[test]
fn files_that_are_named_exist() {
    const FOLDERS: [&str; 9] =
        ["src/", "cli/", "tests/", "docs/", "examples/", "bench/", "hostfiles/", "scripts/", ".ci/"];
    /// The file that a reader of README.md writes.
    const OF_USERS: &str = "src/main.rs";
    let mut wrong = Vec::new();
    for (name, page) in pages() {
        let mut named: Vec<String> = Vec::new();
        let text = parts(&name, &page).text;
        named.extend(spans(&text).0.into_iter().flat_map(words));
        // Scripts are meant wherever they are named.
        let starts = page.match_indices("scripts/").map(|(at, _)| &page[at..]);
        let ends = |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && !"/-".contains(c)).unwrap_or(rest.len());
        named.extend(starts.map(|rest| rest[..ends(rest)].to_string()));
        for file in named.iter().filter(|file| FOLDERS.iter().any(|folder| file.starts_with(folder))) {
            let is_pattern = file.contains(['<', '*', '{']);
            let names = [file.clone(), format!("{file}.sh"), format!("{file}.rs")];
            if !is_pattern && file != OF_USERS && !names.iter().any(|name| root().join(name).exists()) {
                wrong.push(format!("{name}: {file}"));
            }
        }
    }
    assert!(wrong.is_empty(), "files that do not exist: {wrong:#?}");
}
