//! The modules of a crate, what they import of each other, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::tokens::{Token, item_end, tokens, without_tests};
use crate::{text_of, workspace};

/// A path of names, with the file and line where it stands.
#[derive(Clone)]
struct Mention {
    segments: Vec<String>,
    place: String,
}

#[derive(Default)]
struct Module {
    /// Names that `use` brings in, and where they come from; `*` is not among them.
    bound: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    defined: BTreeSet<String>,
    mentions: Vec<Mention>,
}

/// The modules of one crate by their path, which begins with the name of the crate.
#[derive(Default)]
pub struct Modules(BTreeMap<Vec<String>, Module>);

fn joined(path: &[String], name: &str) -> Vec<String> {
    [path, &[name.to_owned()]].concat()
}

impl Modules {
    pub fn read_file(&mut self, path: &[String], file: &Path) {
        let shown = file.strip_prefix(workspace()).unwrap_or(file);
        let shown = shown.to_string_lossy().into_owned();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let parent = file.parent().expect("a directory");
        let below = match &*stem {
            "lib" | "main" | "mod" => parent.to_owned(),
            stem => parent.join(stem),
        };
        for name in self.read(path, &without_tests(&tokens(&text_of(file))), &shown) {
            let files = [
                below.join(format!("{name}.rs")),
                below.join(&name).join("mod.rs"),
            ];
            let found = files.iter().find(|file| file.exists());
            let found = found.unwrap_or_else(|| panic!("{shown}: no file of module {name}"));
            self.read_file(&joined(path, &name), found);
        }
    }

    /// Reads the text of a module; returns the modules whose text is in other files.
    pub fn read(&mut self, path: &[String], tokens: &[Token], file: &str) -> Vec<String> {
        let mut module = Module::default();
        let mut files = Vec::new();
        let mut depth = 0_usize;
        let mut at = 0;
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
        while at < tokens.len() {
            let place = format!("{file}:{}", tokens[at].line);
            match text(at) {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "mod" if text(at + 2) == ";" => files.push(text(at + 1).to_owned()),
                "mod" if text(at + 2) == "{" => {
                    let end = item_end(tokens, at);
                    self.read(&joined(path, text(at + 1)), &tokens[at + 3..end - 1], file);
                    at = end;
                    continue;
                }
                "use" if depth == 0 || text(at + 2) == "::" => {
                    let end = item_end(tokens, at);
                    module.import(&tokens[at + 1..end], &[], &place);
                    at = end;
                    continue;
                }
                "struct" | "enum" | "trait" | "fn" | "type" | "const" | "static" | "union"
                    if depth == 0 =>
                {
                    module.defined.insert(text(at + 1).to_owned());
                }
                "crate" | "super" | "self"
                    if text(at + 1) == "::" && text(at.wrapping_sub(1)) != "::" =>
                {
                    let mut segments = vec![text(at).to_owned()];
                    while text(at + 1) == "::"
                        && text(at + 2).starts_with(|c: char| c == '_' || c.is_alphabetic())
                    {
                        segments.push(text(at + 2).to_owned());
                        at += 2;
                    }
                    module.mentions.push(Mention { segments, place });
                }
                _ => {}
            }
            at += 1;
        }
        self.0.insert(path.to_owned(), module);
        files
    }

    /// The modules that a path goes through, seen from `from`: each one in which a name was looked up last.
    fn reached(&self, from: &[String], segments: &[String], hops: usize) -> Vec<Vec<String>> {
        let mut current = from.to_owned();
        let mut rest = segments;
        if let ["crate", ..] = rest.first().map(String::as_str).as_slice() {
            current.truncate(1);
            rest = &rest[1..];
        }
        while let Some(word @ ("super" | "self")) = rest.first().map(String::as_str) {
            current.truncate(current.len() - usize::from(word == "super"));
            rest = &rest[1..];
        }
        while let Some(name) = rest.first() {
            let child = joined(&current, name);
            if !self.0.contains_key(&child) {
                break;
            }
            current = child;
            rest = &rest[1..];
        }
        let mut found = Vec::new();
        if let (Some(name), Some(module)) = (rest.first(), self.0.get(&current)) {
            let glob = module.globs.iter().find(|glob| {
                let target = self.reached(&current, glob, 0).pop();
                target
                    .and_then(|target| self.0.get(&target))
                    .is_some_and(|target| {
                        target.defined.contains(name) || target.bound.contains_key(name)
                    })
            });
            let bound = module
                .bound
                .get(name)
                .filter(|_| !module.defined.contains(name))
                .cloned();
            let bound = bound.or_else(|| glob.map(|glob| joined(glob, name)));
            let local = bound
                .as_ref()
                .and_then(|bound| bound.first())
                .is_some_and(|first| {
                    matches!(first.as_str(), "crate" | "super" | "self")
                        || self.0.contains_key(&joined(&current, first))
                });
            if let (Some(bound), true, true) = (bound, local, hops > 0) {
                found = self.reached(&current, &[&bound, &rest[1..]].concat(), hops - 1);
            }
        }
        found.insert(0, current);
        found
    }

    /// Every import between two modules that have the same parent.
    pub fn imports(&self) -> Vec<Import> {
        let mut found = Vec::new();
        for (path, module) in &self.0 {
            for mention in &module.mentions {
                for target in self.reached(path, &mention.segments, 8) {
                    let shared = path.iter().zip(&target).take_while(|(a, b)| a == b).count();
                    if let (Some(from), Some(to)) = (path.get(shared), target.get(shared)) {
                        found.push(Import {
                            parent: path[..shared].join("::"),
                            from: from.clone(),
                            to: to.clone(),
                            what: format!("{} {}", mention.place, mention.segments.join("::")),
                        });
                    }
                }
            }
        }
        found
    }
}

impl Module {
    /// Takes in the tree behind `use`, up to its semicolon.
    fn import(&mut self, tokens: &[Token], before: &[String], file_and_line: &str) {
        let file = file_and_line.rsplit_once(':').map_or("", |(file, _)| file);
        let mut segments = before.to_vec();
        let mut place = file_and_line.to_owned();
        let mut name = None;
        let mut at = 0;
        let mut end = |segments: &[String], name: Option<String>, place: &str| {
            let Some(last) = segments.last().filter(|_| segments.len() > before.len()) else {
                return;
            };
            let mut path = segments.to_vec();
            if last == "*" || last == "self" && path.len() > 1 {
                path.pop();
            }
            self.mentions.push(Mention {
                segments: path.clone(),
                place: place.to_owned(),
            });
            if last == "*" {
                self.globs.push(path);
            } else if let Some(name) = name.or_else(|| path.last().cloned()) {
                self.bound.insert(name, path);
            }
        };
        let mut groups = Vec::new();
        while at < tokens.len() {
            match tokens[at].text.as_str() {
                "," | ";" => {
                    end(&segments, name.take(), &place);
                    segments = before.to_vec();
                }
                "{" => {
                    let close = item_end(tokens, at + 1);
                    groups.push((at + 1..close, segments.clone()));
                    segments = before.to_vec();
                    at = close;
                }
                "as" => {
                    name = Some(tokens[at + 1].text.clone());
                    at += 1;
                }
                "::" => {}
                word => {
                    place = format!("{file}:{}", tokens[at].line);
                    segments.push(word.to_owned());
                }
            }
            at += 1;
        }
        end(&segments, name.take(), &place);
        for (range, before) in groups {
            self.import(&tokens[range], &before, file_and_line);
        }
    }
}

pub struct Import {
    parent: String,
    from: String,
    to: String,
    what: String,
}

/// Modules of one parent each of which imports, directly or through others, each other one.
pub struct Cycle {
    pub parent: String,
    pub members: Vec<String>,
    imports: Vec<String>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: cycle of {}", self.parent, self.members.join(", "))?;
        self.imports
            .iter()
            .try_for_each(|import| write!(f, "\n    {import}"))
    }
}

pub fn cycles(imports: &[Import]) -> Vec<Cycle> {
    let mut edges: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for import in imports {
        edges
            .entry((&import.parent, &import.from))
            .or_default()
            .insert(&import.to);
    }
    let reached: BTreeMap<_, BTreeSet<&str>> = edges
        .keys()
        .map(|&(parent, from)| {
            let mut reached = BTreeSet::new();
            let mut open = vec![from];
            while let Some(next) = open.pop() {
                let direct = edges.get(&(parent, next)).into_iter().flatten();
                open.extend(direct.filter(|to| reached.insert(**to)));
            }
            ((parent, from), reached)
        })
        .collect();
    let both = |parent, a, b| {
        let one = |a, b| {
            reached
                .get(&(parent, a))
                .is_some_and(|reached: &BTreeSet<&str>| reached.contains(b))
        };
        one(a, b) && one(b, a)
    };
    let mut found = Vec::new();
    for (&(parent, from), others) in &reached {
        let members: Vec<_> = others
            .iter()
            .filter(|other| both(parent, from, other))
            .map(|&other| other.to_owned())
            .collect();
        if members.first().is_some_and(|first| first == from) {
            let inside = |import: &&Import| {
                import.parent == parent
                    && members.contains(&import.from)
                    && members.contains(&import.to)
            };
            let imports: BTreeSet<_> = imports
                .iter()
                .filter(inside)
                .map(|import| format!("{} -> {}  {}", import.from, import.to, import.what))
                .collect();
            found.push(Cycle {
                parent: parent.to_owned(),
                members,
                imports: imports.into_iter().collect(),
            });
        }
    }
    found
}
