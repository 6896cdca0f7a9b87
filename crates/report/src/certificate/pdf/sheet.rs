//! Pages that fill from top to bottom: text, lines, areas.

use pdf_writer::{Content, Name, Str};

use super::font::{Font, encoded};

/// Width of an A4 page, points of 1/72 inch.
pub(super) const WIDTH: f32 = 595.276;
pub(super) const HEIGHT: f32 = 841.89;

/// What is left empty at the sides.
pub(super) const LEFT: f32 = 42.5;
pub(super) const RIGHT: f32 = WIDTH - 42.5;
const TOP: f32 = HEIGHT - 42.0;
const BOTTOM: f32 = 52.0;
const FOOT: f32 = 34.0;

/// A colour: red, green, blue from 0 to 1.
pub(super) type Color = [f32; 3];

pub(super) const INK: Color = [0.106, 0.141, 0.188];
pub(super) const QUIET: Color = [0.357, 0.404, 0.463];
pub(super) const RULE: Color = [0.8, 0.83, 0.86];

/// How a text is set.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) font: Font,
    pub(super) size: f32,
    pub(super) color: Color,
}

impl Style {
    pub(super) fn of(font: Font, size: f32, color: Color) -> Self {
        Self { font, size, color }
    }

    /// From one line to the next.
    pub(super) fn leading(self) -> f32 {
        1.28 * self.size
    }

    /// The lines of a text in a column of this width. Words that are too long are broken.
    pub(super) fn lines(self, text: &str, width: f32) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in text.split_whitespace() {
            let joined = match line.as_str() {
                "" => word.to_owned(),
                line => format!("{line} {word}"),
            };
            if self.width(&joined) <= width {
                line = joined;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for letter in word.chars() {
                line.push(letter);
                if self.width(&line) > width && line.chars().count() > 1 {
                    line.pop();
                    lines.push(std::mem::replace(&mut line, letter.to_string()));
                }
            }
        }
        lines.push(line);
        lines
    }

    fn width(self, text: &str) -> f32 {
        self.font.width(&encoded(text).0, self.size)
    }
}

/// The pages so far.
pub(super) struct Sheets {
    pub(super) pages: Vec<Content>,
    /// Whether the fonts have every letter.
    pub(super) is_whole: bool,
    /// Where the next thing stands, from below.
    pub(super) at: f32,
}

impl Sheets {
    pub(super) fn new() -> Self {
        Self {
            pages: vec![Content::new()],
            is_whole: true,
            at: TOP,
        }
    }

    /// Begins a new page, on which further text goes.
    pub(super) fn turn(&mut self) {
        self.pages.push(Content::new());
        self.at = TOP;
    }

    /// Begins a page when this one has no room for something of this height.
    pub(super) fn reserve(&mut self, height: f32) {
        if self.at - height < BOTTOM && self.at < TOP {
            self.turn();
        }
    }

    fn page(&mut self) -> &mut Content {
        let last = self.pages.len() - 1;
        &mut self.pages[last]
    }

    /// Sets a text with its base line at a height.
    pub(super) fn text(&mut self, x: f32, y: f32, text: &str, style: Style) {
        let (bytes, is_whole) = encoded(text);
        self.is_whole &= is_whole;
        let [red, green, blue] = style.color;
        let page = self.page();
        page.set_fill_rgb(red, green, blue);
        page.begin_text();
        page.set_font(Name(style.font.label()), style.size);
        page.next_line(x, y);
        page.show(Str(&bytes));
        page.end_text();
    }

    /// The same with its end at `x`.
    pub(super) fn text_before(&mut self, x: f32, y: f32, text: &str, style: Style) {
        self.text(x - style.width(text), y, text, style);
    }

    /// Sets the lines of a text below `self.at`; does not move on.
    pub(super) fn lines(&mut self, x: f32, lines: &[String], style: Style) {
        let mut y = self.at - style.size;
        for line in lines {
            self.text(x, y, line, style);
            y -= style.leading();
        }
    }

    /// Draws a line from one side to the other.
    pub(super) fn rule(&mut self, from: f32, to: f32, y: f32, width: f32, color: Color) {
        let [red, green, blue] = color;
        let page = self.page();
        page.set_stroke_rgb(red, green, blue);
        page.set_line_width(width);
        page.move_to(from, y);
        page.line_to(to, y);
        page.stroke();
    }

    /// Fills a rectangle with a colour; position and size in points.
    pub(super) fn area(&mut self, x: f32, y: f32, width: f32, height: f32, color: Color) {
        let [red, green, blue] = color;
        let page = self.page();
        page.set_fill_rgb(red, green, blue);
        page.rect(x, y, width, height);
        page.fill_nonzero();
    }

    /// Sets the footer of every page.
    pub(super) fn footers(&mut self, foot: &str) {
        let count = self.pages.len();
        let style = Style::of(Font::Regular, 6.8, QUIET);
        // Each page becomes the last one for a moment, which is the one that is written on.
        for number in 0..count {
            self.text(LEFT, FOOT, foot, style);
            let label = format!("Page {} of {count}", count - number);
            self.text_before(RIGHT, FOOT, &label, style);
            self.pages.rotate_right(1);
        }
    }
}
