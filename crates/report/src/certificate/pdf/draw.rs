//! The parts of a certificate on pages.

use super::super::{Block, Certificate, Fact, Grid};
use super::font::Font;
use super::sheet::{Color, INK, LEFT, QUIET, RIGHT, RULE, Sheets, Style};
use crate::tone::Tone;

/// Width of the names of facts.
const NAME_WIDTH: f32 = 100.0;
/// Room above a line that is written on.
const WRITING_ROOM: f32 = 4.0;
/// Between the two columns of facts, and between columns of a table.
const GUTTER: f32 = 18.0;
const CELL_GUTTER: f32 = 7.0;
/// Height of a signature line.
const SIGNATURE_LINE: f32 = 22.0;

pub(super) fn sheets(certificate: &Certificate) -> Sheets {
    let mut sheets = Sheets::new();
    for block in &certificate.blocks {
        draw(&mut sheets, block);
    }
    sheets.footers(&certificate.foot);
    sheets
}

fn draw(sheets: &mut Sheets, block: &Block) {
    let text = Style::of(Font::Regular, 9.0, INK);
    match block {
        Block::Title { title, subtitle } => draw_title(sheets, title, subtitle),
        Block::Answer {
            tone,
            word,
            sentence,
            reason,
        } => answer(sheets, *tone, word, sentence, reason),
        Block::Heading(title) => heading(sheets, title),
        Block::Facts(facts) => draw_facts(sheets, facts),
        Block::Table(grid) => table(sheets, grid),
        Block::Text(words) => paragraph(sheets, LEFT, words, text),
        Block::List(lines) => {
            for line in lines {
                sheets.reserve(text.leading());
                sheets.text(LEFT + 2.0, sheets.at - text.size, "\u{2022}", text);
                paragraph(sheets, LEFT + 11.0, line, text);
            }
        }
        Block::Signatures(roles) => signatures(sheets, roles),
        Block::NewPage => sheets.turn(),
    }
}

fn draw_title(sheets: &mut Sheets, title: &str, subtitle: &str) {
    let large = Style::of(Font::Bold, 18.0, INK);
    let quiet = Style::of(Font::Regular, 9.0, QUIET);
    sheets.text(LEFT, sheets.at - 16.0, title, large);
    sheets.text(LEFT, sheets.at - 30.0, subtitle, quiet);
    sheets.at -= 37.0;
    sheets.rule(LEFT, RIGHT, sheets.at, 1.5, INK);
    sheets.at -= 9.0;
}

fn colors(tone: Tone) -> (Color, Color) {
    match tone {
        Tone::Pass => ([0.043, 0.42, 0.31], [0.941, 0.976, 0.961]),
        Tone::Fail => ([0.702, 0.149, 0.118], [0.992, 0.953, 0.949]),
        Tone::Open => ([0.478, 0.322, 0.0], [0.992, 0.973, 0.918]),
    }
}

fn answer(sheets: &mut Sheets, tone: Tone, word: &str, sentence: &str, reason: &str) {
    let (color, ground) = colors(tone);
    let large = Style::of(Font::Bold, 15.0, color);
    let bold = Style::of(Font::Bold, 10.0, INK);
    let text = Style::of(Font::Regular, 9.0, INK);
    let width = RIGHT - LEFT - 26.0;
    let sentence = bold.lines(sentence, width);
    let reason = match reason {
        "" => Vec::new(),
        reason => text.lines(reason, width),
    };
    let height = 14.0
        + large.leading()
        + bold.leading() * sentence.len() as f32
        + text.leading() * reason.len() as f32;
    sheets.area(LEFT, sheets.at - height, RIGHT - LEFT, height, ground);
    sheets.area(LEFT, sheets.at - height, 5.0, height, color);
    let bottom = sheets.at - height;
    sheets.at -= 6.0;
    sheets.lines(LEFT + 16.0, &[word.to_owned()], large);
    sheets.at -= large.leading();
    sheets.lines(LEFT + 16.0, &sentence, bold);
    sheets.at -= bold.leading() * sentence.len() as f32;
    sheets.lines(LEFT + 16.0, &reason, text);
    sheets.at = bottom - 2.0;
}

fn heading(sheets: &mut Sheets, title: &str) {
    let style = Style::of(Font::Bold, 10.5, INK);
    // A heading does not stand alone at the end of a page.
    sheets.reserve(60.0);
    sheets.at -= 10.0;
    sheets.lines(LEFT, &[title.to_owned()], style);
    sheets.at -= style.leading() + 2.0;
    sheets.rule(LEFT, RIGHT, sheets.at, 0.5, QUIET);
    sheets.at -= 3.5;
}

fn paragraph(sheets: &mut Sheets, x: f32, words: &str, style: Style) {
    for line in style.lines(words, RIGHT - x) {
        sheets.reserve(style.leading());
        sheets.lines(x, &[line], style);
        sheets.at -= style.leading();
    }
    sheets.at -= 2.0;
}

/// Facts in two columns; a wide one takes a row of its own.
fn draw_facts(sheets: &mut Sheets, facts: &[Fact]) {
    let half = (RIGHT - LEFT - GUTTER) / 2.0;
    let mut rest = facts;
    while let [first, tail @ ..] = rest {
        let pair = match tail.first() {
            Some(second) if !first.is_wide && !second.is_wide => 2,
            _ => 1,
        };
        let width = if first.is_wide { RIGHT - LEFT } else { half };
        let (row, tail) = rest.split_at(pair);
        rest = tail;
        let heights = row.iter().map(|fact| fact_height(fact, width));
        let height = heights.fold(0.0, f32::max);
        sheets.reserve(height + WRITING_ROOM);
        if row.iter().any(|fact| fact.value.is_empty()) {
            sheets.at -= WRITING_ROOM;
        }
        for (number, fact) in row.iter().enumerate() {
            let x = LEFT + (half + GUTTER) * number as f32;
            draw_fact(sheets, x, width, fact);
        }
        sheets.at -= height;
    }
}

fn fact_style(fact: &Fact) -> Style {
    match fact.is_code {
        true => Style::of(Font::Code, 8.0, INK),
        false => Style::of(Font::Regular, 9.0, INK),
    }
}

fn fact_height(fact: &Fact, width: f32) -> f32 {
    let style = fact_style(fact);
    match fact.value.is_empty() {
        true => style.leading() + 2.6,
        false => {
            let lines = style.lines(&fact.value, width - NAME_WIDTH).len();
            style.leading() * lines as f32 + 2.6
        }
    }
}

fn draw_fact(sheets: &mut Sheets, x: f32, width: f32, fact: &Fact) {
    let name = Style::of(Font::Regular, 9.0, QUIET);
    let style = fact_style(fact);
    sheets.lines(x, std::slice::from_ref(&fact.name), name);
    if fact.value.is_empty() {
        let y = sheets.at - name.size - 2.5;
        sheets.rule(x + NAME_WIDTH, x + width, y, 0.5, INK);
        return;
    }
    let lines = style.lines(&fact.value, width - NAME_WIDTH);
    sheets.lines(x + NAME_WIDTH, &lines, style);
}

fn table(sheets: &mut Sheets, grid: &Grid) {
    let head = Style::of(Font::Bold, 8.0, QUIET);
    let text = Style::of(Font::Regular, 8.4, INK);
    sheets.at -= 2.0;
    let heads: Vec<String> = grid.columns.iter().map(|one| one.head.to_owned()).collect();
    row(sheets, grid, &heads, head);
    sheets.rule(LEFT, RIGHT, sheets.at, 0.7, INK);
    for cells in &grid.rows {
        row(sheets, grid, cells, text);
        sheets.rule(LEFT, RIGHT, sheets.at, 0.4, RULE);
    }
    sheets.at -= 4.0;
}

fn row(sheets: &mut Sheets, grid: &Grid, cells: &[String], style: Style) {
    let mut x = LEFT;
    let last = grid.columns.len().saturating_sub(1);
    let mut set = Vec::new();
    for (number, (column, cell)) in grid.columns.iter().zip(cells).enumerate() {
        let width = column.share * (RIGHT - LEFT);
        let end = if number == last {
            x + width
        } else {
            x + width - CELL_GUTTER
        };
        set.push((x, end, column.is_number, style.lines(cell, end - x)));
        x += width;
    }
    let lines = set.iter().map(|(.., lines)| lines.len()).max();
    let height = style.leading() * lines.unwrap_or(1) as f32 + 3.0;
    sheets.reserve(height);
    for (x, end, is_number, lines) in set {
        let mut y = sheets.at - style.size - 1.0;
        for line in lines {
            match is_number {
                true => sheets.text_before(end, y, &line, style),
                false => sheets.text(x, y, &line, style),
            }
            y -= style.leading();
        }
    }
    sheets.at -= height;
}

fn signatures(sheets: &mut Sheets, roles: &[(&'static str, String)]) {
    const LINES: [&str; 3] = ["Name", "Place, date", "Signature"];
    let bold = Style::of(Font::Bold, 9.0, INK);
    let small = Style::of(Font::Regular, 7.6, QUIET);
    let height = bold.leading() + SIGNATURE_LINE * LINES.len() as f32 + 4.0;
    sheets.reserve(height);
    let width = (RIGHT - LEFT - GUTTER * (roles.len() as f32 - 1.0)) / roles.len() as f32;
    for (number, (role, name)) in roles.iter().enumerate() {
        let x = LEFT + (width + GUTTER) * number as f32;
        let title = match name.as_str() {
            "" => (*role).to_owned(),
            name => format!("{role}: {name}"),
        };
        let lines = bold.lines(&title, width);
        sheets.lines(x, &lines[..1], bold);
        let mut y = sheets.at - bold.leading() - 2.0;
        for line in LINES {
            y -= SIGNATURE_LINE;
            sheets.text(x, y + 3.0, line, small);
            sheets.rule(x, x + width, y, 0.6, INK);
        }
    }
    sheets.at -= height;
}
