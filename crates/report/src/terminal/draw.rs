//! Heads, paragraphs and tables as text.

use comfy_table::{
    Attribute, Cell as TextCell, CellAlignment, Color, ContentArrangement, ContentLineStyle,
    LineStyle, Table as TextTable, TableStyle,
};

use super::{Style, fit};
use crate::table::{Cell, Table};
use crate::tone::Tone;
use crate::words::Headline;

/// Text that grows from top to bottom.
pub(super) struct Text<'a> {
    style: &'a Style,
    text: String,
}

impl<'a> Text<'a> {
    pub(super) fn new(style: &'a Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// The verdict: a sign, the word, the sentence; the reason below.
    pub(super) fn verdict(&mut self, headline: &Headline, tone: Tone) {
        let badge = self.painted(&format!(" {} ", headline.word), badge_code(tone));
        self.text.push_str(&badge);
        self.text.push(' ');
        let indent = " ".repeat(headline.word.len() + 3);
        let wrapped = wrap(
            &headline.sentence,
            usize::from(self.style.width),
            &indent,
            &indent,
        );
        let lines = wrapped
            .trim_start()
            .lines()
            .map(|line| self.painted(line, "1"));
        self.text.push_str(&lines.collect::<Vec<_>>().join("\n"));
        self.text.push('\n');
        if !headline.reason.is_empty() {
            self.paragraph(&headline.reason, "  ", "  ");
        }
        self.text.push('\n');
    }

    /// The head of a section.
    pub(super) fn head(&mut self, text: &str) {
        let head = self.painted(text, "1");
        self.text.push('\n');
        self.text.push_str(&head);
        self.text.push('\n');
    }

    /// A paragraph of its own.
    pub(super) fn line(&mut self, text: &str) {
        self.paragraph(text, "", "  ");
    }

    /// A paragraph that hangs behind a mark, such as a number.
    pub(super) fn item(&mut self, mark: &str, text: &str, tone: Option<Tone>) {
        let indent = " ".repeat(mark.len() + 1);
        let text = self.letters(text);
        let wrapped = wrap(&text, usize::from(self.style.width), &indent, &indent);
        let rest = wrapped.get(indent.len()..).unwrap_or_default().to_string();
        let mark = tone.map_or_else(
            || mark.to_string(),
            |tone| self.painted(mark, ink_code(tone)),
        );
        self.text.push_str(&format!("{mark} {rest}\n"));
    }

    fn paragraph(&mut self, text: &str, first: &str, next: &str) {
        let text = self.letters(text);
        let wrapped = wrap(&text, usize::from(self.style.width), first, next);
        self.text.push_str(&wrapped);
        self.text.push('\n');
    }

    /// The text in the letters that the terminal has.
    fn letters(&self, text: &str) -> String {
        if self.style.unicode {
            text.to_owned()
        } else {
            text.replace('\u{b1}', "+-")
        }
    }

    /// `text` between the codes of a terminal, or as it is.
    fn painted(&self, text: &str, code: &str) -> String {
        if self.style.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_string()
        }
    }

    /// A table: heads with their units below, numbers to the right, a line under the heads. Words stay
    /// whole; what does not fit beside the rest goes on below.
    pub(super) fn table(&mut self, table: &Table) {
        let table = &self.prepared(table);
        let parts = fit::parts(table, usize::from(self.style.width));
        for (number, columns) in parts.iter().enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            let drawn = self.drawn(table, columns).to_string();
            for line in drawn.lines() {
                let line = line.replace(NO_BREAK, " ");
                self.text.push_str(line.trim_end());
                self.text.push('\n');
            }
        }
    }

    /// The same table in the letters of the terminal. A number stays in one line with its unit, and with
    /// the sign that it is beyond its limit, for terminals without colour.
    fn prepared(&self, table: &Table) -> Table {
        let mut table = table.clone();
        for column in &mut table.columns {
            column.head = self.letters(&column.head);
        }
        let Table {
            columns,
            rows,
            sums,
            ..
        } = &mut table;
        for row in rows.iter_mut().chain(std::iter::once(sums)) {
            for (cell, column) in row.iter_mut().zip(columns.iter()) {
                cell.text = self.letters(&clean(&cell.text));
                if cell.notable && cell.tone.is_none() {
                    cell.text.push_str(" !");
                }
                if column.numeric {
                    cell.text = unbroken(&cell.text);
                }
            }
        }
        table
    }

    /// These columns of a table.
    fn drawn(&self, table: &Table, columns: &[usize]) -> TextTable {
        let mut drawn = TextTable::new();
        let line = if self.style.unicode { '\u{2500}' } else { '-' };
        drawn.load_style(
            TableStyle::new()
                .header_lines(ContentLineStyle::none().junction(' '))
                .header_separator(LineStyle::none().fill(line).junction(line))
                .content_lines(ContentLineStyle::none().junction(' ')),
        );
        drawn.set_content_arrangement(ContentArrangement::Dynamic);
        drawn.set_width(self.style.width);
        if self.style.colour {
            drawn.enforce_styling();
        } else {
            drawn.force_no_tty();
        }
        drawn.set_header(columns.iter().map(|index| self.head_of(table, *index)));
        let sums = std::iter::once(&table.sums).filter(|sums| !sums.is_empty());
        for row in table.rows.iter().chain(sums) {
            drawn.add_row(columns.iter().map(|index| self.cell(&row[*index])));
        }
        for (place, index) in columns.iter().enumerate() {
            let Some(column) = drawn.column_mut(place) else {
                continue;
            };
            column.set_padding((0, fit::PADDING));
            column.set_constraint(fit::whole_words(table, *index, self.style.width));
            if table.columns[*index].numeric {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        drawn
    }

    fn head_of(&self, table: &Table, index: usize) -> TextCell {
        let column = &table.columns[index];
        let parts = [&column.group, &column.head, &column.unit];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        let lines: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let cell = TextCell::new(lines.join("\n"));
        if self.style.colour {
            cell.add_attribute(Attribute::Dim)
        } else {
            cell
        }
    }

    fn cell(&self, cell: &Cell) -> TextCell {
        let drawn = TextCell::new(&cell.text);
        if !self.style.colour {
            return drawn;
        }
        match (cell.tone, cell.notable) {
            (Some(Tone::Pass), _) => drawn.fg(Color::Green),
            (Some(Tone::Fail), _) | (None, true) => {
                drawn.fg(Color::Red).add_attribute(Attribute::Bold)
            }
            (Some(Tone::Open), _) => drawn.fg(Color::Yellow),
            (None, false) => drawn,
        }
    }
}

fn badge_code(tone: Tone) -> &'static str {
    match tone {
        Tone::Pass => "1;30;42",
        Tone::Fail => "1;97;41",
        Tone::Open => "1;30;43",
    }
}

fn ink_code(tone: Tone) -> &'static str {
    match tone {
        Tone::Pass => "32",
        Tone::Fail => "1;31",
        Tone::Open => "33",
    }
}

/// A blank at which no line is broken.
const NO_BREAK: char = '\u{a0}';

/// A number with its unit in one word; what stands in brackets behind it may go to the next line.
fn unbroken(text: &str) -> String {
    let (number, words) = text.split_at(text.find(" (").unwrap_or(text.len()));
    number.replace(' ', &NO_BREAK.to_string()) + words
}

/// Text without control characters: a name must not be able to move the cursor.
fn clean(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .collect()
}

/// `text` broken into lines of at most `width` columns, at blanks only: paths, commands and names
/// stay whole, so that they can be copied.
fn wrap(text: &str, width: usize, first: &str, next: &str) -> String {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(next)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(true);
    textwrap::fill(&clean(text), options)
}
