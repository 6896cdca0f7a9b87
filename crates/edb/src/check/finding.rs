//! What is wrong with a database, as data.

use std::fmt;
use strum::IntoStaticStr;

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FindingKind {
    /// A header copy is damaged, or the two differ.
    Header,
    /// The storage refused to read a page.
    Unreadable,
    /// A page that should hold something was never written.
    NeverWritten,
    /// The checksum of a page is wrong.
    Checksum,
    /// A page that belongs to another place in the file.
    PageNumber,
    /// Tags, nodes or flags of a page break the format.
    Structure,
    /// A page of another tree, or one that is not what its place in the tree asks for.
    WrongPage,
    /// A key outside the bounds that the page's parent sets.
    KeyBounds,
    /// Leaves at different depths.
    Depth,
    /// Neighbouring leaves do not point at each other.
    Links,
    /// A page that two parents point at.
    ReachedTwice,
    /// A page changed later than the header knows.
    PageTime,
    /// Extents that overlap or lie outside their tree's space.
    Extents,
    /// A page in use that is listed as free.
    UsedAndFree,
    /// A page in use by a tree that does not own it.
    NotOwned,
    /// Owned pages that are neither used nor free: lost space, nothing worse.
    Leaked,
    /// Catalog rows that make no sense, or a copy or index that differs from the catalog.
    Catalog,
    /// A record that cannot be read.
    Record,
    /// Index entries and rows that do not belong together one to one.
    Index,
    /// A long value that is missing, incomplete or that no record refers to.
    LongValue,
}

impl FindingKind {
    /// Identifier in JSON output, which does not change between versions.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the finding is about: a page, the space of a tree, an index and so on.
    pub kind: FindingKind,
    /// The page where it was found, if it is about one.
    pub page: Option<u32>,
    /// The table, index or other object, such as "table messages"; empty if it is none.
    pub object: String,
    /// What is wrong, as the end of a line that begins with page and object.
    pub sentence: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.page, self.object.as_str()) {
            (Some(page), "") => write!(f, "page {page}: ")?,
            (Some(page), object) => write!(f, "page {page} of {object}: ")?,
            (None, "") => {}
            (None, object) => write!(f, "{object}: ")?,
        }
        f.write_str(&self.sentence)
    }
}

/// Findings kept in full; further ones are only counted.
const MAX_KEPT: usize = 1000;

/// The findings of a check: the first [`MAX_KEPT`] in full, a count of the others.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) kept: Vec<Finding>,
    pub(super) further: u64,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        kind: FindingKind,
        page: Option<u32>,
        object: &str,
        sentence: impl Into<String>,
    ) {
        if self.kept.len() == MAX_KEPT {
            self.further += 1;
            return;
        }
        let (object, sentence) = (object.to_owned(), sentence.into());
        self.kept.push(Finding {
            kind,
            page,
            object,
            sentence,
        });
    }
}
