//! Text, tables and charts of any kind, for what is not a run.

use crate::chart::Chart;
use crate::table::Table;

/// A page, or the text of a terminal.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Title of the page.
    pub title: String,
    /// Version of the program that found out what stands in it.
    pub version: String,
    /// Parts in the order of the page.
    pub sections: Vec<Section>,
}

/// A part of a document.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The head; empty for none.
    pub head: String,
    /// Paragraphs; what stands between backticks is a command.
    pub paragraphs: Vec<String>,
    /// A table below them.
    pub table: Option<Table>,
    /// Charts below it. A terminal shows none.
    pub charts: Vec<Chart>,
}
