//! The texts a description is read from, and what is wrong with them.

use std::fmt;
use std::ops::Range;

/// One text that a description comes from. Later ones go over earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What to call it in messages: the path of a file, or an option.
    pub name: String,
    /// The text that the places of faults refer to.
    pub text: String,
    pub(super) kind: SourceKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// A whole TOML document.
    File,
    /// `path.to.key=value`.
    Assignment,
    /// A whole TOML document of which only the list `event` is taken, beside those there are.
    Events,
    /// A whole TOML document that describes one disk, and the name of that disk.
    Disk(String),
}

impl Source {
    /// A description file.
    pub fn file(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            kind: SourceKind::File,
        }
    }

    /// The `[[event]]` tables of the profile of a workload; its other keys are for others.
    pub fn events(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            kind: SourceKind::Events,
        }
    }

    /// A file that describes one disk, which is to be called `disk`.
    pub fn disk(name: &str, disk: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            kind: SourceKind::Disk(disk.to_owned()),
        }
    }

    /// One `path.to.key=value`. A value that is not TOML counts as text, so that
    /// `pool.raid=raid6` needs no quotes. `name` is the option it was given with.
    pub fn assignment(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            kind: SourceKind::Assignment,
        }
    }
}

/// A stretch of one of the sources: its number and bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The source's number.
    pub source: usize,
    /// The bytes.
    pub span: Range<usize>,
}

/// Something wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptionFault {
    /// Where; nothing when no source says anything about it.
    pub place: Option<Location>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl DescriptionFault {
    /// Whether both say the same of the same line: of two pools or volumes that come from it, so that
    /// names in quotes and numbers may differ.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.place == other.place && kind(&self.message) == kind(&other.message)
    }
}

/// A message without the names in quotes and the numbers in it.
fn kind(message: &str) -> String {
    let unquoted = message.split('\'').step_by(2);
    let digits = |letter: char| letter.is_ascii_digit() || letter == '.';
    unquoted.map(|part| part.replace(digits, "")).collect()
}

/// Everything wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptionError {
    /// The texts it was read from, those it extends included.
    pub sources: Vec<Source>,
    /// The faults. Never empty.
    pub faults: Vec<DescriptionFault>,
}

impl fmt::Display for DescriptionError {
    /// Each fault on a line of its own: `name:line: what is wrong; what would be right`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.faults.iter().enumerate() {
            if number > 0 {
                writeln!(formatter)?;
            }
            if let Some(place) = &fault.place {
                let source = &self.sources[place.source];
                match &source.kind {
                    SourceKind::Assignment => {
                        write!(formatter, "{} {}: ", source.name, source.text)?;
                    }
                    SourceKind::File | SourceKind::Events | SourceKind::Disk(_) => {
                        let before = source.text.bytes().take(place.span.start);
                        let line = 1 + before.filter(|byte| *byte == b'\n').count();
                        write!(formatter, "{}:{line}: ", source.name)?;
                    }
                }
            }
            formatter.write_str(&fault.message)?;
            if let Some(help) = &fault.help {
                write!(formatter, "; {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for DescriptionError {}
