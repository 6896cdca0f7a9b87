//! Joins the sources of a description: what it extends, its file, single assignments.

use super::blame::with_broken_rules;
use super::bundled::{BUNDLED_ARRAYS, bundled_array};
use super::keys::DescriptionKeys;
use super::node::{Node, NodeValue};
use super::read::read;
use super::source::{DescriptionError, DescriptionFault, Location, Source, SourceKind};

/// Longer texts are no descriptions.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// More steps of `extends` than anybody needs.
const EXTENDS_MAX: usize = 16;

/// A description whose keys are all known and well-typed.
#[derive(Debug, Clone)]
pub struct Description {
    pub(super) keys: DescriptionKeys,
    pub(super) root: Node,
    pub(super) sources: Vec<Source>,
    /// The sources as they were given, without what they extend.
    pub(super) given: Vec<Source>,
    /// The numbers of the sources in the order in which they were laid over each other.
    pub(super) order: Vec<usize>,
}

impl Description {
    /// Reads a description: files and assignments, each over those before it.
    ///
    /// # Errors
    /// Every fault found, each with its place.
    pub fn load(sources: &[Source]) -> Result<Self, DescriptionError> {
        let joined = Joined::of(sources, &[]);
        if !joined.faults.is_empty() {
            return Err(DescriptionError {
                sources: joined.sources,
                faults: joined.faults,
            });
        }
        let faults = match joined.read(sources) {
            Ok(description) => return Ok(description),
            Err(faults) => faults,
        };
        Err(DescriptionError {
            faults: with_broken_rules(sources, faults),
            sources: joined.sources,
        })
    }

    /// The description as it would be without what was written at `places`; `None` when that is none.
    pub(super) fn without(sources: &[Source], places: &[Location]) -> Option<Self> {
        let joined = Joined::of(sources, places);
        match joined.faults.is_empty() {
            true => joined.read(sources).ok(),
            false => None,
        }
    }

    /// The array's name for people.
    pub fn title(&self) -> &str {
        &self.keys.title
    }

    /// The product family whose parameters it uses.
    pub fn family(&self) -> &str {
        &self.keys.family
    }

    /// Everything the sources come to, as one TOML document that extends nothing.
    pub fn to_toml(&self) -> String {
        let mut document = self.root.to_toml();
        if let Some(table) = document.as_table_mut() {
            table.remove("extends");
        }
        toml::to_string(&document).unwrap_or_default()
    }

    /// An error with one fault at the nearest place to the dotted `path` that was written.
    pub(super) fn fault(
        &self,
        path: &str,
        message: String,
        help: Option<String>,
    ) -> DescriptionFault {
        DescriptionFault {
            place: self.place(path),
            message,
            help,
        }
    }

    pub(super) fn place(&self, path: &str) -> Option<Location> {
        let node = self.root.nearest(path);
        match &node.value {
            NodeValue::Table(_) => Some(node.key_location()),
            _ => Some(node.location()),
        }
    }

    /// Whether an assignment, not a file, gave the key at the dotted `path`.
    pub(super) fn was_assigned(&self, path: &str) -> bool {
        let source = self.root.find(path).map(|node| &self.sources[node.source]);
        source.is_some_and(|source| source.kind == SourceKind::Assignment)
    }

    pub(super) fn error(&self, faults: Vec<DescriptionFault>) -> DescriptionError {
        DescriptionError {
            sources: self.sources.clone(),
            faults,
        }
    }
}

struct Joined {
    root: Node,
    sources: Vec<Source>,
    order: Vec<usize>,
    faults: Vec<DescriptionFault>,
    /// What is left out.
    omitted: Vec<Location>,
}

impl Default for Joined {
    fn default() -> Self {
        Self {
            root: Node::empty(),
            sources: Vec::new(),
            order: Vec::new(),
            faults: Vec::new(),
            omitted: Vec::new(),
        }
    }
}

impl Joined {
    /// The sources laid over each other, without what stands at the places to be `omitted`.
    fn of(sources: &[Source], omitted: &[Location]) -> Self {
        let mut joined = Self {
            omitted: omitted.to_vec(),
            ..Self::default()
        };
        for source in sources {
            match &source.kind {
                SourceKind::File => joined.add_file(source, 0),
                SourceKind::Assignment => joined.assign(source),
                SourceKind::Events => joined.add_events(source),
                SourceKind::Disk(name) => joined.add_disk(source, name),
            }
        }
        joined
    }

    fn read(&self, given: &[Source]) -> Result<Description, Vec<DescriptionFault>> {
        Ok(Description {
            keys: read(&self.root)?,
            root: self.root.clone(),
            sources: self.sources.clone(),
            given: given.to_vec(),
            order: self.order.clone(),
        })
    }

    /// A document without what is to be left out of it.
    fn parse(&self, number: usize, text: &str) -> Result<Node, (Option<Location>, String)> {
        let mut parsed = Node::parse(number, text)?;
        let omitted = self.omitted.iter().filter(|place| place.source == number);
        omitted.for_each(|place| parsed.omit(&place.span));
        Ok(parsed)
    }

    fn fault(&mut self, place: Option<Location>, message: String, help: Option<String>) {
        self.faults.push(DescriptionFault {
            place,
            message,
            help,
        });
    }

    /// Adds what a file extends, then the file.
    fn add_file(&mut self, source: &Source, depth: usize) {
        let number = self.sources.len();
        if source.text.len() > TEXT_BYTES_MAX {
            self.sources.push(Source::file(&source.name, ""));
            let message = format!(
                "{} is too long to be the description of an array",
                source.name
            );
            self.fault(None, message, None);
            return;
        }
        self.sources.push(source.clone());
        let parsed = match self.parse(number, &source.text) {
            Ok(parsed) => parsed,
            Err((place, message)) => {
                self.fault(place, format!("this is not TOML: {message}"), None);
                return;
            }
        };
        if let Some(extends) = parsed.get("extends") {
            let base = match &extends.value {
                NodeValue::Text(name) => bundled_array(name),
                _ => None,
            };
            match base {
                Some(base) if depth < EXTENDS_MAX => {
                    self.add_file(&Source::file(base.name, base.toml), depth + 1);
                }
                _ => {
                    let names: Vec<&str> = BUNDLED_ARRAYS.iter().map(|array| array.name).collect();
                    self.fault(
                        Some(extends.location()),
                        format!("{} is not a bundled array", extends.value.described()),
                        Some(format!("extend one of {}", names.join(", "))),
                    );
                }
            }
        }
        self.order.push(number);
        self.root.overlay(parsed);
    }

    /// Adds a file that is a disk of the array's own.
    fn add_disk(&mut self, source: &Source, name: &str) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        let disk = match self.parse(number, &source.text) {
            Ok(disk) => disk,
            Err((place, message)) => {
                self.fault(place, format!("this is not TOML: {message}"), None);
                return;
            }
        };
        self.order.push(number);
        let mut disks = Node::empty();
        disks.put(name, disk);
        let mut over = Node::empty();
        over.put("disks", disks);
        self.root.overlay(over);
    }

    /// Appends the events of a file that is otherwise about something else.
    fn add_events(&mut self, source: &Source) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        // Who reads the rest of it says what else is wrong with it.
        let Ok(parsed) = self.parse(number, &source.text) else {
            return;
        };
        let Some(events) = parsed.get("event") else {
            return;
        };
        self.order.push(number);
        let mut all = self.root.get("event").map_or(Vec::new(), Node::elements);
        all.extend(events.elements());
        let list = Node {
            value: NodeValue::List(all),
            ..events.clone()
        };
        self.root.put("event", list);
    }

    fn assign(&mut self, source: &Source) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        let text = &source.text;
        let place = |span| {
            Some(Location {
                source: number,
                span,
            })
        };
        let Some((path, _)) = text
            .split_once('=')
            .filter(|_| text.len() <= TEXT_BYTES_MAX)
        else {
            let help = format!("write {text}=VALUE");
            self.fault(
                place(0..text.len()),
                "the key needs a value".into(),
                Some(help),
            );
            return;
        };
        let key = 0..path.len();
        let parts: Vec<&str> = path.split('.').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) || parts.len() > EXTENDS_MAX {
            self.fault(
                place(key),
                format!("'{path}' is not the path of a key"),
                None,
            );
            return;
        }
        if parts == ["extends"] {
            let help = "name the array itself".to_owned();
            self.fault(
                place(key),
                "what an array extends is no setting".into(),
                Some(help),
            );
            return;
        }
        if self.omitted.iter().any(|place| place.source == number) {
            return;
        }
        self.order.push(number);
        let value = Node::assigned(number, text, key.clone(), path.len() + 1..text.len());
        if let Err(message) = self.root.assign(&parts, &value) {
            self.fault(place(key), message, None);
        }
    }
}
