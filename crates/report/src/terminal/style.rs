//! How wide and how colourful the text may be.

use std::io::IsTerminal as _;

use measure::display::is_unicode_locale;

/// The look of terminal text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: u16,
    /// Whether colours and bold type may be used.
    pub colour: bool,
    /// Whether lines may be drawn with characters beyond ASCII.
    pub unicode: bool,
}

/// Wider tables are harder to read, however wide the terminal is.
const WIDEST: u16 = 110;
/// Narrower tables cannot hold their columns.
const NARROWEST: u16 = 60;

impl Style {
    /// Plain text of 100 columns, for logs and files.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            width: 100,
            colour: false,
            unicode: false,
        }
    }

    /// What standard output can show. `NO_COLOR` (not empty) and `TERM=dumb` mean no colour.
    #[must_use]
    pub fn of_standard_output() -> Self {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let is_terminal = std::io::stdout().is_terminal();
        let colour = is_terminal && variable("NO_COLOR").is_empty() && variable("TERM") != "dumb";
        let unicode = is_unicode_locale();
        let width = comfy_table::Table::new()
            .width()
            .filter(|_| is_terminal)
            .unwrap_or(100);
        Self {
            width: width.clamp(NARROWEST, WIDEST),
            colour,
            unicode,
        }
    }
}
