//! A layout as XML: the same parts with the same labels.

use std::fmt::Write;

use super::{Layout, Part, html};

/// The document of a layout.
pub(super) fn document(layout: &Layout) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<JetstressLayoutReport generator=\"Proofload\" version={} \
         result={} prediction=\"{}\">\n",
        attribute(&layout.version),
        attribute(if layout.passed { "Pass" } else { "Fail" }),
        layout.is_prediction
    );
    for notice in html::notice(layout) {
        let _ = writeln!(text, "  <Notice>{}</Notice>", escaped(&notice));
    }
    for part in &layout.parts {
        write_part(&mut text, part);
    }
    text.push_str("</JetstressLayoutReport>\n");
    text
}

fn write_part(text: &mut String, part: &Part) {
    let _ = writeln!(text, "  <Section name={}>", attribute(&part.title));
    for row in &part.rows {
        let mut cells = row.iter();
        let label = cells.next().map_or("", String::as_str);
        let _ = writeln!(text, "    <Row name={}>", attribute(label));
        for (index, cell) in cells.enumerate() {
            let column = part.columns.get(index + 1).map_or("Value", String::as_str);
            let _ = writeln!(
                text,
                "      <Value name={}>{}</Value>",
                attribute(column),
                escaped(cell)
            );
        }
        text.push_str("    </Row>\n");
    }
    for line in &part.lines {
        let _ = writeln!(text, "    <Line>{}</Line>", escaped(line));
    }
    text.push_str("  </Section>\n");
}

fn attribute(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Text without the meaning of its special characters, and without those that XML cannot have.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}
