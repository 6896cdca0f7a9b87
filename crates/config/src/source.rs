//! The texts that settings are read from, and what is wrong with them.

use std::fmt;
use std::ops::Range;

/// One text that settings come from. Later ones go over earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What to call it in messages: the path of a file, or an option.
    pub name: String,
    /// The text that locations refer to.
    pub text: String,
    pub(crate) kind: SourceKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceKind {
    /// A whole TOML document.
    File,
    /// The value of a setting: `path.to.key=value`, with so many bytes of path.
    Assignment(usize),
    /// The value of the setting at this path, given by an option of its own.
    Option(&'static str),
    /// A whole TOML document of which only this list is taken, beside what there is of it.
    List(&'static str),
    /// A whole TOML document that is the table at this path.
    Table(Vec<String>),
    /// A whole TOML document of which only this table is taken, as if it were a document of its own.
    Part(&'static str),
}

impl Source {
    fn new(name: &str, text: &str, kind: SourceKind) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            kind,
        }
    }

    /// A file: a whole TOML document.
    #[must_use]
    pub fn file(name: &str, text: &str) -> Self {
        Self::new(name, text, SourceKind::File)
    }

    /// The value of the setting at `path`, such as `pool.raid`. A value that is not TOML counts as
    /// text, so that `raid6` needs no quotes. `name` is the option it was given with.
    #[must_use]
    pub fn value(name: &str, path: &str, value: &str) -> Self {
        let kind = SourceKind::Assignment(path.len());
        Self::new(name, &format!("{path}={value}"), kind)
    }

    /// The value of an option such as `--duration` that stands for the setting at `path`.
    #[must_use]
    pub fn option(name: &str, path: &'static str, value: &str) -> Self {
        Self::new(name, value, SourceKind::Option(path))
    }

    /// The elements of the list `key` of a document whose other keys are for others; they are
    /// appended to those there are.
    #[must_use]
    pub fn list(name: &str, key: &'static str, text: &str) -> Self {
        Self::new(name, text, SourceKind::List(key))
    }

    /// A file that is the table at `path`.
    #[must_use]
    pub fn table(name: &str, path: &[&str], text: &str) -> Self {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Self::new(name, text, SourceKind::Table(path))
    }

    /// The table `key` of a document whose other keys are for others, as a document of its own: it may extend another.
    #[must_use]
    pub fn part(name: &str, key: &'static str, text: &str) -> Self {
        Self::new(name, text, SourceKind::Part(key))
    }

    /// Whether this is a value given on the command line and no file.
    #[must_use]
    pub fn is_given_by_option(&self) -> bool {
        matches!(self.kind, SourceKind::Assignment(_) | SourceKind::Option(_))
    }

    /// The path of the setting that it is the value of, if it is one by [`Source::value`].
    pub(crate) fn assigned_path(&self) -> Option<&str> {
        match self.kind {
            SourceKind::Assignment(path_bytes) => self.text.get(..path_bytes),
            _ => None,
        }
    }
}

/// A stretch of one of the sources: its number and bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The source's number, in the order in which they were given.
    pub source: usize,
    /// Range of bytes in the text of the source.
    pub span: Range<usize>,
}

/// Something wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where; `None` when no source says anything about it.
    pub location: Option<Location>,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Whether both say the same of the same line: of two repeated tables that come from it, so
    /// that names in quotes and numbers may differ.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.location == other.location && kind(&self.message) == kind(&other.message)
    }
}

/// A message without the names in quotes and the numbers in it.
fn kind(message: &str) -> String {
    let unquoted = message.split('\'').step_by(2);
    let digits = |letter: char| letter.is_ascii_digit() || letter == '.';
    unquoted.map(|part| part.replace(digits, "")).collect()
}

/// Everything wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The texts they were read from, those they extend included.
    pub sources: Vec<Source>,
    /// What is wrong. Never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl ConfigError {
    /// The text that a diagnostic is about and the bytes of it that are wrong.
    #[must_use]
    pub fn place_of(&self, diagnostic: &Diagnostic) -> Option<(&Source, Range<usize>)> {
        let location = diagnostic.location.as_ref()?;
        let source = self.sources.get(location.source)?;
        Some((source, location.span.clone()))
    }
}

impl fmt::Display for ConfigError {
    /// Each on a line of its own: `name:line: what is wrong; what would be right`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, diagnostic) in self.diagnostics.iter().enumerate() {
            if number > 0 {
                writeln!(formatter)?;
            }
            match self.place_of(diagnostic) {
                Some((source, _)) if source.is_given_by_option() => {
                    write!(formatter, "{} {}: ", source.name, source.text)?;
                }
                Some((source, span)) => {
                    let before = source.text.bytes().take(span.start);
                    let line = 1 + before.filter(|byte| *byte == b'\n').count();
                    write!(formatter, "{}:{line}: ", source.name)?;
                }
                None => {}
            }
            formatter.write_str(&diagnostic.message)?;
            if let Some(help) = &diagnostic.help {
                write!(formatter, "; {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
