//! Settings together with the texts that they came from.

use crate::codec::Settings;
use crate::codec::read;
use crate::layers::{Format, Layers};
use crate::node::NodeValue;
use crate::source::{ConfigError, Diagnostic, Location, Source};

/// Settings that were read, and where each was written.
#[derive(Clone, Debug)]
pub struct Document<T> {
    /// The settings in force, all layers merged.
    pub settings: T,
    pub(crate) layers: Layers,
}

impl Layers {
    /// Reads settings of type `T`; what no source says comes from `base`, or from the declaration.
    ///
    /// # Errors
    /// Everything that is wrong with types and names, each with its place.
    pub fn read<T: Settings>(self, base: Option<&T>) -> Result<Document<T>, ConfigError> {
        let failed = |diagnostics: Vec<Diagnostic>| ConfigError {
            diagnostics,
            sources: self.sources.clone(),
        };
        if !self.diagnostics.is_empty() {
            return Err(failed(self.sorted(self.diagnostics.clone())));
        }
        match read(&self.root, base, &self.sources, self.format.noun) {
            Ok(settings) => Ok(Document {
                settings,
                layers: self,
            }),
            Err(diagnostics) => Err(failed(self.sorted(diagnostics))),
        }
    }
}

impl<T: Settings> Document<T> {
    /// Reads sources: files and assignments, each over those before it.
    ///
    /// # Errors
    /// Everything that is wrong with types and names, each with its place.
    pub fn load(format: &'static Format, sources: &[Source]) -> Result<Self, ConfigError> {
        Layers::join(format, sources).read(None)
    }

    /// The document as it would be without what was written at `places`; `None` when that is none.
    pub(crate) fn without(
        format: &'static Format,
        sources: &[Source],
        places: &[Location],
    ) -> Option<Self> {
        let layers = Layers::without(format, sources, places);
        match layers.is_sound() {
            true => layers.read(None).ok(),
            false => None,
        }
    }

    /// The texts that the settings came from, those they extend included.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.layers.sources
    }

    /// A diagnostic at the nearest place to the dotted `path` that was written.
    #[must_use]
    pub fn diagnostic(&self, path: &str, message: String, help: Option<String>) -> Diagnostic {
        Diagnostic {
            location: self.location(path),
            message,
            help,
        }
    }

    /// A diagnostic about a rule between settings, shown at the one of `paths` that was given last;
    /// nowhere when none of them was given.
    #[must_use]
    pub fn broken_rule(&self, paths: &[&str], message: String, help: Option<String>) -> Diagnostic {
        let given = paths.iter().filter_map(|path| self.layers.root.find(path));
        let last = given.max_by_key(|node| self.layers.rank(&node.location()));
        Diagnostic {
            location: last.map(crate::Node::location),
            message,
            help,
        }
    }

    /// The nearest place to the dotted `path` that was written.
    #[must_use]
    pub fn location(&self, path: &str) -> Option<Location> {
        let node = self.layers.root.nearest(path);
        match &node.value {
            NodeValue::Table(_) => Some(node.key_location()),
            _ => Some(node.location()),
        }
    }

    /// Whether an option, not a file, gave the setting at the dotted `path`.
    #[must_use]
    pub fn is_given_by_option(&self, path: &str) -> bool {
        let found = self.layers.root.find(path);
        let source = found.map(|node| &self.layers.sources[node.source]);
        source.is_some_and(Source::is_given_by_option)
    }

    /// These diagnostics as an error, in the order of the layers and of the lines.
    #[must_use]
    pub fn error(&self, diagnostics: Vec<Diagnostic>) -> ConfigError {
        ConfigError {
            sources: self.layers.sources.clone(),
            diagnostics,
        }
    }

    /// Whether there are none of these diagnostics.
    ///
    /// # Errors
    /// Those there are, in the order of the layers and of the lines.
    pub fn accept(self, diagnostics: Vec<Diagnostic>) -> Result<Self, ConfigError> {
        if diagnostics.is_empty() {
            return Ok(self);
        }
        Err(self.error(self.layers.sorted(diagnostics)))
    }

    /// What was written, laid over each other, as one TOML document that extends nothing. Defaults
    /// are not in it; [`to_toml`](crate::to_toml) writes those, too.
    #[must_use]
    pub fn written_toml(&self) -> String {
        toml::to_string(&self.layers.root.to_toml()).unwrap_or_default()
    }
}

/// Reads settings from one text that extends nothing.
///
/// # Errors
/// Everything that is wrong with types and names, each with its line.
pub fn from_toml<T: Settings>(text: &str) -> Result<T, ConfigError> {
    static PLAIN: Format = Format::plain("document");
    let document = Document::load(&PLAIN, &[Source::file("line", text)])?;
    Ok(document.settings)
}
