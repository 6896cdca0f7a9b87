//! The values of a configuration, each taken once.

use execution::Error;

use super::scalar::{Scalar, shown};

/// A value of the file: the text of an element, or an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// Its path below the root, such as `TestDesignInfo/OperationMix@InsertOps`.
    pub path: String,
    /// Its text, without the white space around it.
    pub value: String,
    /// Where it begins, in bytes of the text.
    pub at: usize,
}

/// The end of the path of a mark, which stands before the values of an element that may come several times.
pub(super) const GROUP_MARK: &str = "#";

impl Element {
    /// What it is called for people: its last names and its value.
    pub(super) fn described(&self) -> String {
        format!("{} {}", short_name(&self.path), shown(&self.value))
    }
}

/// The last part of a path, with its attribute.
pub(super) fn short_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The values that nobody has taken yet, in the order of the file.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    /// Name of the file.
    pub file: String,
    left: Vec<Element>,
    line_ends: Vec<usize>,
    empty: Vec<String>,
}

impl Elements {
    pub(super) fn new(file: &str, text: &str, found: Vec<Element>) -> Self {
        let bytes = text.bytes().enumerate();
        let line_ends = bytes.filter(|(_, byte)| *byte == b'\n');
        Self {
            file: file.to_owned(),
            left: found,
            line_ends: line_ends.map(|(at, _)| at).collect(),
            empty: Vec::new(),
        }
    }

    /// Line of a value, from 1.
    pub(super) fn line_of(&self, element: &Element) -> usize {
        1 + self.line_ends.partition_point(|end| *end < element.at)
    }

    /// Takes the value at a path. An empty one is not given, and said to be so.
    ///
    /// # Errors
    /// It is there twice.
    pub(super) fn take(&mut self, path: &str) -> Result<Option<Element>, Error> {
        let Some(first) = self.left.iter().position(|one| one.path == path) else {
            return Ok(None);
        };
        let element = self.left.remove(first);
        if let Some(second) = self.left.iter().find(|one| one.path == path) {
            let lines = match (self.line_of(&element), self.line_of(second)) {
                (one, other) if one == other => format!("line {one}"),
                (one, other) => format!("lines {one} and {other}"),
            };
            return Err(Error::usage(
                format!("{} has {} twice, in {lines}.", self.file, short_name(path)),
                "Take one of them out.",
            ));
        }
        if element.value.is_empty() {
            self.empty.push(short_name(path).to_owned());
            return Ok(None);
        }
        Ok(Some(element))
    }

    /// Takes a value of a type.
    ///
    /// # Errors
    /// It is there twice, or not of the type.
    pub(super) fn take_as<T: Scalar>(&mut self, path: &str) -> Result<Option<(T, Element)>, Error> {
        let Some(element) = self.take(path)? else {
            return Ok(None);
        };
        match T::parse(&element.value) {
            Ok(value) => Ok(Some((value, element))),
            Err(right) => Err(self.wrong(&element, &right)),
        }
    }

    /// The value at a path, which stays where it is.
    pub(super) fn peek(&self, path: &str) -> Option<&str> {
        let found = self.left.iter().find(|one| one.path == path);
        found.map(|one| one.value.as_str())
    }

    /// Takes every value whose path begins so, in the order of the file.
    pub(super) fn take_all(&mut self, begin: &str) -> Vec<Element> {
        let (taken, left) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(|one| one.path.starts_with(begin));
        self.left = left;
        taken
    }

    /// A value that is not what it should be: `right` says what would be.
    pub(super) fn wrong(&self, element: &Element, right: &str) -> Error {
        Error::usage(
            format!(
                "{}:{}: {} is '{}', which is not {right}.",
                self.file,
                self.line_of(element),
                short_name(&element.path),
                shown(&element.value)
            ),
            "Correct it, or take the element out.",
        )
    }

    /// The names of what was empty.
    pub(super) fn empty(&self) -> &[String] {
        &self.empty
    }

    /// What nobody has taken.
    pub(super) fn left(&self) -> &[Element] {
        &self.left
    }
}
