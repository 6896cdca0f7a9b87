//! The certificate of runs, for signature: HTML and PDF of two pages for one run; of several runs a summary
//! with the answer of all of them, and then the two pages of each.
//!
//! The order of one run is that of published results of the Exchange Solution Reviewed Program (storage): what was
//! tested, on what, for whom; the question and the answer; reliability; storage performance; the limits
//! with the figures that decided; deviations; evidence; signatures.
//!
//! [`content`] says what stands in it as [`Block`]s, which [`html`] and [`pdf`] draw. What is not known
//! is a line to be filled in by hand. [`CertifiedRun::load`] is what may stand on it, and [`Details`] what
//! nobody but the owner of the storage knows.

mod certified;
mod content;
mod details;
mod html;
mod pdf;
mod place;
mod run;
mod shared;
mod summary;

use crate::tone::Tone;

pub use certified::{CertifiedRun, Deviation, NotCertified};
pub use details::Details;
pub use place::{CERTIFICATE_HTML, CERTIFICATE_PDF, check_certificate_place};

/// A certificate, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// What the document is called.
    pub title: String,
    /// What is below the title.
    pub subtitle: String,
    /// What is at the foot of each page.
    pub foot: String,
    /// The parts, in order.
    blocks: Vec<Block>,
}

/// A part of a certificate.
#[derive(Clone, Debug)]
enum Block {
    /// Begins the document or the part of one run: what it is called, and what is below that. Sections
    /// are numbered from here.
    Title { title: String, subtitle: String },
    /// The answer, with the colour of its verdict.
    Answer {
        tone: Tone,
        word: String,
        sentence: String,
        reason: String,
    },
    /// The heading of a section.
    Heading(String),
    /// Names with their values, in two columns.
    Facts(Vec<Fact>),
    /// A table with a head row.
    Table(Grid),
    /// A paragraph of running text.
    Text(String),
    /// Sentences below each other.
    List(Vec<String>),
    /// Lines to sign on, by role.
    Signatures(Vec<(&'static str, String)>),
    /// What follows begins a page.
    NewPage,
}

/// A name with its value; without one a line to write on.
#[derive(Clone, Debug)]
struct Fact {
    name: String,
    value: String,
    /// Whether it takes the whole width.
    is_wide: bool,
    /// Whether the value is a hash.
    is_code: bool,
}

impl Fact {
    fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            is_wide: false,
            is_code: false,
        }
    }

    fn wide(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            is_wide: true,
            ..Self::new(name, value)
        }
    }

    fn code(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            is_code: true,
            ..Self::wide(name, value)
        }
    }
}

/// A table of texts.
#[derive(Clone, Debug)]
struct Grid {
    columns: Vec<GridColumn>,
    rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
struct GridColumn {
    head: &'static str,
    /// Share of the width.
    share: f32,
    /// Whether it holds figures, which are set to the right.
    is_number: bool,
}

/// A column of texts.
const fn texts(head: &'static str, share: f32) -> GridColumn {
    GridColumn {
        head,
        share,
        is_number: false,
    }
}

/// A column of figures.
const fn figures(head: &'static str, share: f32) -> GridColumn {
    GridColumn {
        head,
        share,
        is_number: true,
    }
}

impl Certificate {
    /// The certificate of these runs, of which there is at least one.
    #[must_use]
    pub fn new(runs: &[CertifiedRun], details: &Details) -> Self {
        content::certificate(runs, details)
    }

    /// A page of HTML that needs nothing but itself, to be printed on A4.
    #[must_use]
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// A PDF file with pages of A4, and whether all letters could be written: its fonts are those that
    /// every reader of PDF has, which hold the letters of western Europe only. Others are a `?`.
    #[must_use]
    pub fn pdf(&self) -> (Vec<u8>, bool) {
        pdf::file(self)
    }
}
