//! A layout as a page. Scripts read its lines, so every cell stands on one of its own.

use std::fmt::Write;

use maud::html as markup;

use super::{Layout, Part};

/// The look of the page.
const STYLE: &str = include_str!("style.css");
/// Nothing is fetched from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The row whose value has the colour of the outcome.
const OUTCOME: &str = "Overall Test Result";

/// The page of a layout.
pub(super) fn page(layout: &Layout) -> String {
    let title = escaped(&layout.title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title} - Proofload</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    for text in notice(layout) {
        let _ = writeln!(page, "<p class=\"notice\">{}</p>", escaped(&text));
    }
    for part in &layout.parts {
        write_part(&mut page, part, layout.passed);
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// Whose result this is, and whose it is not.
pub(super) fn notice(layout: &Layout) -> Vec<String> {
    let mut notice = vec![format!(
        "Made by Proofload {}. This is no result of Microsoft's Jetstress, and Microsoft has not reviewed it. \
         Order, labels and positions follow Jetstress's reports, so that scripts that read those can read this. \
         Times are in UTC. The full report is report.html in the same directory.",
        layout.version
    )];
    if layout.is_prediction {
        notice.push(
            "A prediction on a modelled array: nothing was measured on real storage.".to_owned(),
        );
    }
    notice
}

fn write_part(page: &mut String, part: &Part, passed: bool) {
    let title = escaped(&part.title);
    let _ = writeln!(page, "<fieldset>\n<legend>{title}</legend>");
    if !part.rows.is_empty() || !part.columns.is_empty() {
        page.push_str("<div class=\"wide\">\n<table>\n");
        if !part.columns.is_empty() {
            page.push_str("<tr>\n");
            for column in &part.columns {
                let _ = writeln!(page, "<th>{}</th>", escaped(column));
            }
            page.push_str("</tr>\n");
        }
        for row in &part.rows {
            write_row(page, row, passed);
        }
        page.push_str("</table>\n</div>\n");
    }
    for line in &part.lines {
        let _ = writeln!(page, "<p class=\"line\">{}</p>", escaped(line));
    }
    page.push_str("</fieldset>\n");
}

fn write_row(page: &mut String, row: &[String], passed: bool) {
    page.push_str("<tr>\n");
    let mut cells = row.iter();
    let label = cells.next().map_or("", String::as_str);
    let _ = writeln!(
        page,
        "<td class=\"grid_row_header\">{}</td>",
        escaped(label)
    );
    for cell in cells {
        let class = match (label == OUTCOME, passed) {
            (false, _) => "",
            (true, true) => " class=\"success\"",
            (true, false) => " class=\"failure\"",
        };
        let _ = writeln!(
            page,
            "<td{class}>{}</td>",
            escaped(cell).replace('\n', "<br>")
        );
    }
    page.push_str("</tr>\n");
}

/// Text without the meaning of its special characters.
fn escaped(text: &str) -> String {
    markup! { (text) }.into_string()
}
