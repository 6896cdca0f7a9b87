//! Reads a tree into declared settings and collects everything that is wrong on the way.

use super::{Codec, Settings};
use crate::node::{Node, NodeValue};
use crate::shape::Table;
use crate::source::{Diagnostic, Source};
use crate::suggest;

/// What is read, for messages, and what was found to be wrong.
pub struct Reader<'a> {
    sources: &'a [Source],
    noun: &'static str,
    root: fn() -> Table,
    /// The tables around what is being read, from the outermost on.
    path: Vec<Step>,
    /// The meaning of the setting that is being read.
    meaning: &'static str,
    /// Whether the next table is written among the keys of the one around it.
    is_flattened: bool,
    diagnostics: Vec<Diagnostic>,
}

/// A table on the way to a setting.
struct Step {
    /// Its name as it was written.
    written: String,
    /// Its name in the declaration: `NAME` where any will do.
    declared: String,
    /// Whether there can be several of it, so that it has no single path.
    is_repeated: bool,
}

/// Reads `T` from a tree; `base` gives what the tree leaves out.
///
/// # Errors
/// Everything that is wrong, in the order of the declaration.
pub(crate) fn read<T: Settings>(
    root: &Node,
    base: Option<&T>,
    sources: &[Source],
    noun: &'static str,
) -> Result<T, Vec<Diagnostic>> {
    let mut reader = Reader {
        sources,
        noun,
        root: T::declaration,
        path: Vec::new(),
        meaning: "",
        is_flattened: false,
        diagnostics: Vec::new(),
    };
    match T::read(root, base, &mut reader) {
        Some(settings) if reader.diagnostics.is_empty() => Ok(settings),
        _ => Err(reader.diagnostics),
    }
}

impl Reader<'_> {
    /// Takes a value over, or reports at `node` why not.
    pub fn take<T>(&mut self, node: &Node, read: Result<T, String>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(message) => {
                let meaning = (!self.meaning.is_empty()).then(|| self.meaning.to_owned());
                self.report(node, message, meaning);
                None
            }
        }
    }

    fn report(&mut self, node: &Node, message: String, help: Option<String>) {
        let location = match node.value {
            // The whole of a table is too much to underline.
            NodeValue::Table(_) => node.key_location(),
            _ => node.location(),
        };
        self.diagnostics.push(Diagnostic {
            location: Some(location),
            message,
            help,
        });
    }

    /// Reports a name that is none of those that fit.
    pub(crate) fn unknown_name(&mut self, node: &Node, given: &str, names: &[&str]) {
        let message = format!(
            "\"{given}\" is none of the words that fit here; write \"{}\"",
            names.join("\" or \"")
        );
        let near = suggest::nearest(given, names.iter().copied());
        let help = near.map_or_else(
            || self.meaning.to_owned(),
            |near| format!("did you mean \"{near}\"?"),
        );
        self.report(node, message, Some(help).filter(|help| !help.is_empty()));
    }

    /// Reports a value where a table belongs.
    pub(crate) fn not_a_table<T>(&mut self, node: &Node) -> Option<T> {
        let path = self.written_path();
        if self.path.last().is_none_or(|step| step.is_repeated) {
            let message = format!(
                "{} does not fit here; write a table",
                node.value.described()
            );
            return self.take(node, Err(message));
        }
        let message = format!("'{path}' is a section, not a setting");
        let source = self.sources.get(node.source);
        let help = match source.filter(|source| source.assigned_path().is_some()) {
            Some(source) => format!("write {} {path}.SETTING=VALUE", source.name),
            None => format!("write [{path}] and its settings below"),
        };
        self.diagnostics.push(Diagnostic {
            location: Some(node.key_location()),
            message,
            help: Some(help),
        });
        None
    }

    /// Reads something inside the table `name`, which may be called anything.
    pub(crate) fn below<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Step {
            written: name.to_owned(),
            declared: "NAME".to_owned(),
            is_repeated: true,
        });
        let found = read(self);
        self.path.pop();
        found
    }

    fn written_path(&self) -> String {
        let steps: Vec<&str> = self.path.iter().map(|step| step.written.as_str()).collect();
        steps.join(".")
    }

    fn report_missing(&mut self, table: &Node, key: &str, meaning: &'static str) {
        let message = match self.written_path().as_str() {
            "" => format!("the key '{key}' is missing"),
            path => format!("the key '{key}' is missing in [{path}]"),
        };
        let help = (!meaning.is_empty()).then(|| meaning.to_owned());
        self.report(table, message, help);
    }

    /// Reports a key that is not declared.
    fn report_unknown(&mut self, node: &Node, key: &str) {
        let written = self.written_path();
        let place = match written.as_str() {
            "" => format!("the top of {}", suggest::with_article(self.noun)),
            path => format!("[{path}]"),
        };
        let message = format!("{place} has no setting or section '{key}'");
        let declared: Vec<&str> = self
            .path
            .iter()
            .map(|step| step.declared.as_str())
            .collect();
        let has_path = self.path.iter().all(|step| !step.is_repeated);
        let help = suggest::for_unknown(&(self.root)(), &declared.join("."), key, has_path);
        self.diagnostics.push(Diagnostic {
            location: Some(node.key_location()),
            message,
            help: Some(help),
        });
    }
}

/// The keys of one table while its settings are read.
pub struct Keys<'n, 'r, 's> {
    node: &'n Node,
    reader: &'r mut Reader<'s>,
    known: Vec<&'static str>,
    is_flattened: bool,
}

impl<'n, 'r, 's> Keys<'n, 'r, 's> {
    /// The keys at a node, which is a table.
    pub fn new(node: &'n Node, reader: &'r mut Reader<'s>) -> Self {
        let is_flattened = std::mem::take(&mut reader.is_flattened);
        Self {
            node,
            reader,
            known: Vec::new(),
            is_flattened,
        }
    }

    /// Reads one declared setting. Left out, it is what `base` or else `default` has.
    pub fn field<T: Clone>(
        &mut self,
        key: &'static str,
        meaning: &'static str,
        codec: &impl Codec<T>,
        base: Option<&T>,
        default: Option<T>,
    ) -> Option<T> {
        let under = base.or(default.as_ref());
        if codec.is_flattened() {
            let table = codec.shape().table();
            let inner = table.iter().flat_map(|table| &table.fields);
            self.known.extend(inner.map(|field| field.key));
            self.reader.is_flattened = true;
            return codec.read(self.node, under, self.reader);
        }
        self.known.push(key);
        let Some(node) = self.node.get(key) else {
            let found = base.cloned().or(default).or_else(|| codec.absent());
            if found.is_none() {
                self.reader.report_missing(self.node, key, meaning.trim());
            }
            return found;
        };
        self.reader.path.push(Step {
            written: key.to_owned(),
            declared: key.to_owned(),
            is_repeated: codec.shape().is_repeated(),
        });
        let around = std::mem::replace(&mut self.reader.meaning, meaning.trim());
        let found = codec.read(node, under, self.reader);
        self.reader.meaning = around;
        self.reader.path.pop();
        found
    }

    /// Reports the keys that are not declared. A table that is written among the keys of another
    /// leaves that to the other.
    pub fn finish(self) {
        let NodeValue::Table(table) = &self.node.value else {
            return;
        };
        for (key, node) in table {
            if !self.is_flattened && !self.known.contains(&key.as_str()) {
                self.reader.report_unknown(node, key);
            }
        }
    }
}
