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
        let columns = comfy_table::Table::new().width();
        let columns = columns.filter(|_| std::io::stdout().is_terminal());
        let allows_colour = variable("NO_COLOR").is_empty() && variable("TERM") != "dumb";
        Self::of_columns(columns, allows_colour)
    }

    /// That of a terminal of so many columns, or of none. One of no columns is a pipe: `mpirun` gives its ranks
    /// such terminals, wherever it prints to itself.
    fn of_columns(columns: Option<u16>, allows_colour: bool) -> Self {
        let columns = columns.filter(|columns| *columns > 0);
        Self {
            width: columns.map_or(Self::plain().width, |columns| {
                columns.clamp(NARROWEST, WIDEST)
            }),
            colour: columns.is_some() && allows_colour,
            unicode: is_unicode_locale(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_columns_is_none() {
        let of = |columns| {
            let style = Style::of_columns(columns, true);
            (style.width, style.colour)
        };
        assert_eq!(of(None), (100, false));
        assert_eq!(of(Some(0)), (100, false));
        assert_eq!(of(Some(80)), (80, true));
        assert_eq!(of(Some(20)), (NARROWEST, true));
        assert_eq!(of(Some(300)), (WIDEST, true));
    }
}
