//! Which columns of a table stand beside each other, so that no word is broken.

use comfy_table::{ColumnConstraint, Width};

use crate::table::Table;

/// Blanks behind each column.
pub(super) const PADDING: u16 = 1;

/// Blanks between two columns: that behind the first, and one that stands for a line.
const GAP: usize = PADDING as usize + 1;

/// The columns of the parts that a table is drawn in, one below the other. A table that fits into
/// `width` columns of text is one part. Each further part begins with the columns that name a row.
pub(super) fn parts(table: &Table, width: usize) -> Vec<Vec<usize>> {
    let least: Vec<usize> = (0..table.columns.len())
        .map(|index| longest_word(table, index) + GAP)
        .collect();
    let names: Vec<usize> = (0..table.names.clamp(1, least.len().max(1))).collect();
    let of_names: usize = names.iter().filter_map(|index| least.get(*index)).sum();
    let mut parts = Vec::new();
    // No line stands behind the last column.
    let width = width + 1;
    let (mut part, mut used) = (names.clone(), of_names);
    for (index, own) in least.iter().enumerate().skip(names.len()) {
        // A part holds one column at least, however wide that is.
        if used + own > width && part.len() > names.len() {
            parts.push(std::mem::replace(&mut part, names.clone()));
            used = of_names;
        }
        part.push(index);
        used += own;
    }
    parts.push(part);
    parts
}

/// Holds a column to the width of its longest word.
pub(super) fn whole_words(table: &Table, index: usize, width: u16) -> ColumnConstraint {
    let least = u16::try_from(longest_word(table, index)).unwrap_or(u16::MAX);
    let with_padding = least.saturating_add(PADDING);
    ColumnConstraint::LowerBoundary(Width::Fixed(with_padding.min(width)))
}

/// Room for the longest word of a column.
fn longest_word(table: &Table, index: usize) -> usize {
    let column = &table.columns[index];
    let heads = [&column.group, &column.head, &column.unit];
    let rows = table.rows.iter().chain(std::iter::once(&table.sums));
    let cells = rows.filter_map(|row| row.get(index));
    let texts = heads.into_iter().chain(cells.map(|cell| &cell.text));
    let words = texts.flat_map(|text| text.split(' '));
    words.map(textwrap::core::display_width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Column};

    fn table(words: &[&str], names: usize) -> Table {
        let columns = words.iter().map(|_| Column::text("")).collect();
        let mut table = Table::new(columns);
        table.push(words.iter().copied().map(Cell::new).collect());
        table.names = names;
        table
    }

    #[test]
    fn a_table_that_fits_is_one_part() {
        let table = table(&["rate", "two words", "10"], 1);
        assert_eq!(parts(&table, 16), [[0, 1, 2]]);
    }

    #[test]
    fn a_wide_table_goes_on_below_with_its_names() {
        let wide = table(&["one", "two", "three", "four", "five"], 2);
        assert_eq!(parts(&wide, 21), [vec![0, 1, 2], vec![0, 1, 3, 4]]);
        // What fits nowhere stands alone.
        let wider = table(&["one", "inconclusive", "inconclusive"], 1);
        assert_eq!(parts(&wider, 10), [[0, 1], [0, 2]]);
        assert_eq!(parts(&table(&["alone"], 3), 2), [[0]]);
    }
}
