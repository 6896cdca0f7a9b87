//! Sources laid over each other: what a file extends, the file, single assignments.

use std::ops::Range;

use crate::node::{Node, NodeValue};
use crate::source::{Diagnostic, Location, Source, SourceKind};
use crate::suggest::with_article;

/// Longer texts are no settings.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// More steps of `extends`, and more parts of a path, than anybody needs.
const DEPTH_MAX: usize = 16;

/// A kind of TOML document.
#[derive(Debug)]
pub struct Format {
    /// What a document of this kind is called in messages: "array", "profile".
    pub noun: &'static str,
    /// The bundled documents, by name, that others may extend.
    pub bundled: fn(&str) -> Option<&'static str>,
    /// The names of the bundled documents, for messages.
    pub names: fn() -> Vec<&'static str>,
    /// Keys at the top that somebody else reads.
    pub ignored: &'static [&'static str],
    /// A key that every file must have, what to say without it, and what would be right.
    pub required: Option<(&'static str, &'static str, &'static str)>,
}

impl Format {
    /// Documents that extend nothing and have no key that all of them need.
    #[must_use]
    pub const fn plain(noun: &'static str) -> Self {
        Self {
            noun,
            bundled: |_| None,
            names: Vec::new,
            ignored: &[],
            required: None,
        }
    }
}

/// Sources that lie over each other, later ones over earlier ones; nothing is known of keys yet.
#[derive(Clone, Debug)]
pub struct Layers {
    pub(crate) root: Node,
    pub(crate) sources: Vec<Source>,
    /// The sources as they were given, without what they extend.
    pub(crate) given: Vec<Source>,
    /// The numbers of the sources in the order in which they were laid over each other.
    pub(crate) order: Vec<usize>,
    pub(crate) format: &'static Format,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What is left out.
    pub(crate) omitted: Vec<Location>,
}

impl Layers {
    /// Lays the sources over each other.
    #[must_use]
    pub fn join(format: &'static Format, sources: &[Source]) -> Self {
        Self::without(format, sources, &[])
    }

    /// The same without what stands at the places to be `omitted`.
    pub(crate) fn without(
        format: &'static Format,
        sources: &[Source],
        omitted: &[Location],
    ) -> Self {
        let mut layers = Self {
            root: Node::empty(),
            sources: Vec::new(),
            given: sources.to_vec(),
            order: Vec::new(),
            format,
            diagnostics: Vec::new(),
            omitted: omitted.to_vec(),
        };
        for source in sources {
            match &source.kind {
                SourceKind::File => layers.add_file(source, 0),
                SourceKind::Assignment(path_bytes) => {
                    let path = &source.text[..*path_bytes];
                    let value = path_bytes + 1..source.text.len();
                    layers.put(source, path, 0..*path_bytes, value);
                }
                SourceKind::Option(path) => {
                    layers.put(source, path, 0..0, 0..source.text.len());
                }
                SourceKind::List(key) => layers.add_list(source, key),
                SourceKind::Table(path) => layers.add_table(source, path),
                SourceKind::Part(key) => layers.add_part(source, key),
            }
        }
        layers
    }

    /// The text that was written at the dotted `path`, such as the kind of a document.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        match &self.root.find(path)?.value {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the sources are TOML that can be joined, whatever its keys.
    pub(crate) fn is_sound(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// In the order of the layers and of the lines.
    pub(crate) fn sorted(&self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        diagnostics.sort_by_key(|one| {
            let location = one.location.as_ref()?;
            Some((self.rank(location), location.span.start))
        });
        diagnostics
    }

    /// How many layers lie below that of a place.
    pub(crate) fn rank(&self, location: &Location) -> usize {
        let found = self.order.iter().position(|one| *one == location.source);
        found.unwrap_or(self.order.len())
    }

    fn report(&mut self, location: Option<Location>, message: String, help: Option<String>) {
        self.diagnostics.push(Diagnostic {
            location,
            message,
            help,
        });
    }

    /// A document without what is to be left out of it; `None`, and a report, if it is no TOML.
    fn parse(&mut self, number: usize, text: &str) -> Option<Node> {
        let mut parsed = match Node::parse(number, text) {
            Ok(parsed) => parsed,
            Err((location, message)) => {
                self.report(location, format!("this is not TOML: {message}"), None);
                return None;
            }
        };
        let omitted = self.omitted.iter().filter(|place| place.source == number);
        omitted.for_each(|place| parsed.omit(&place.span));
        Some(parsed)
    }

    /// Adds what a file extends, then the file.
    fn add_file(&mut self, source: &Source, depth: usize) {
        let number = self.sources.len();
        let noun = self.format.noun;
        if source.text.len() > TEXT_BYTES_MAX {
            self.sources.push(Source::file(&source.name, ""));
            let message = format!(
                "{} is too long to be the description of {}",
                source.name,
                with_article(noun)
            );
            self.report(None, message, None);
            return;
        }
        self.sources.push(source.clone());
        if let Some(parsed) = self.parse(number, &source.text) {
            self.add_document(parsed, number, depth);
        }
    }

    /// Adds what a document extends, then the document.
    fn add_document(&mut self, mut parsed: Node, number: usize, depth: usize) {
        let noun = self.format.noun;
        let extends = parsed.get("extends").cloned();
        let extends = extends.filter(|_| !(self.format.names)().is_empty());
        if let Some(extends) = extends {
            parsed.remove("extends");
            let bundled = match &extends.value {
                NodeValue::Text(name) => (self.format.bundled)(name).map(|text| (name, text)),
                _ => None,
            };
            match bundled {
                Some((name, text)) if depth < DEPTH_MAX => {
                    self.add_file(&Source::file(name, text), depth + 1);
                }
                _ => {
                    let names = (self.format.names)().join(", ");
                    let given = extends.value.described();
                    self.report(
                        Some(extends.location()),
                        format!("{given} is not a bundled {noun}"),
                        Some(format!("extend one of {names}")),
                    );
                }
            }
        }
        if let Some((key, message, help)) = self.format.required
            && parsed.get(key).is_none()
        {
            let top = Location {
                source: number,
                span: 0..0,
            };
            self.report(Some(top), message.to_owned(), Some(help.to_owned()));
        }
        for key in self.format.ignored {
            parsed.remove(key);
        }
        self.order.push(number);
        self.root.overlay(parsed);
    }

    /// Adds a file that is a table of the document.
    fn add_table(&mut self, source: &Source, path: &[String]) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        let Some(mut node) = self.parse(number, &source.text) else {
            return;
        };
        self.order.push(number);
        for key in path.iter().rev() {
            let mut around = Node::empty();
            around.put(key, node);
            node = around;
        }
        self.root.overlay(node);
    }

    /// Adds a table of a file that is otherwise about something else, with what the table extends.
    fn add_part(&mut self, source: &Source, key: &str) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        // Who reads the rest of it says what else is wrong with it.
        let before = self.diagnostics.len();
        let parsed = self.parse(number, &source.text);
        self.diagnostics.truncate(before);
        let Some(part) = parsed.as_ref().and_then(|parsed| parsed.get(key)) else {
            return;
        };
        if !matches!(part.value, NodeValue::Table(_)) {
            let given = part.value.described();
            let message = format!("{given} is no table");
            let help = format!("write [{key}] and its settings below it");
            self.report(Some(part.location()), message, Some(help));
            return;
        }
        self.add_document(part.clone(), number, 0);
    }

    /// Appends the elements of a list of a file that is otherwise about something else.
    fn add_list(&mut self, source: &Source, key: &str) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        // Who reads the rest of it says what else is wrong with it.
        let before = self.diagnostics.len();
        let parsed = self.parse(number, &source.text);
        self.diagnostics.truncate(before);
        let Some(list) = parsed.as_ref().and_then(|parsed| parsed.get(key)) else {
            return;
        };
        self.order.push(number);
        let mut all = self.root.get(key).map_or(Vec::new(), Node::elements);
        all.extend(list.elements());
        let joined = Node {
            value: NodeValue::List(all),
            ..list.clone()
        };
        self.root.put(key, joined);
    }

    /// Takes the stretch `value` of a source's text as the value at `path`.
    fn put(&mut self, source: &Source, path: &str, key: Range<usize>, value: Range<usize>) {
        let number = self.sources.len();
        self.sources.push(source.clone());
        let noun = self.format.noun;
        let location = Location {
            source: number,
            span: key.clone(),
        };
        let parts: Vec<&str> = path.split('.').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) || parts.len() > DEPTH_MAX {
            self.report(
                Some(location),
                format!("'{path}' is not the path of a setting"),
                Some(format!("write {} PATH.TO.KEY=VALUE", source.name)),
            );
            return;
        }
        if parts == ["extends"] {
            self.report(
                Some(location),
                format!("what {} extends is not a setting", with_article(noun)),
                Some(format!("name the {noun} itself")),
            );
            return;
        }
        if self.omitted.iter().any(|place| place.source == number) {
            return;
        }
        self.order.push(number);
        let value = Node::assigned(number, &source.text, key, value);
        if let Err(message) = self.root.assign(&parts, &value) {
            self.report_conflict(&parts, location, message);
        }
    }

    /// Reports an assignment that does not go with an earlier one: at the earlier one if that gave
    /// a value to the table in which the later setting belongs.
    fn report_conflict(&mut self, parts: &[&str], later: Location, message: String) {
        let earlier = self.root.nearest(&parts.join("."));
        let source = self.sources.get(earlier.source);
        let assigned = source.and_then(|source| Some((source, source.assigned_path()?.trim())));
        let conflict = assigned.map(|(source, path)| {
            (
                earlier.key_location(),
                format!("'{path}' cannot have a value and settings below it"),
                format!("write {} {path}.SETTING=VALUE", source.name),
            )
        });
        match conflict {
            Some((earlier, message, help)) => self.report(Some(earlier), message, Some(help)),
            None => self.report(Some(later), message, None),
        }
    }
}
