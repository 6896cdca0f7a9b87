//! A certificate as one page of HTML, made to be printed.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Block, Certificate, Fact, Grid};

const STYLE: &str = include_str!("style.css");
/// Nothing is fetched from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(super) fn page(certificate: &Certificate) -> String {
    let sheets: Vec<&[Block]> = certificate
        .blocks
        .split(|block| matches!(block, Block::NewPage))
        .collect();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (certificate.title) " - Proofload" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                @for (number, sheet) in sheets.iter().enumerate() {
                    section.sheet {
                        @for block in *sheet { (part(block)) }
                        footer {
                            span { (certificate.foot) }
                            span { "Part " (number + 1) " of " (sheets.len()) }
                        }
                    }
                }
            }
        }
    }
    .into_string()
}

fn part(block: &Block) -> Markup {
    match block {
        Block::Title { title, subtitle } => html! {
            header {
                h1 { (title) }
                p { (subtitle) }
            }
        },
        Block::Answer {
            tone,
            word,
            sentence,
            reason,
        } => html! {
            div class={ "answer " (tone.class()) } {
                b { (word) }
                p.sentence { (sentence) }
                @if !reason.is_empty() { p { (reason) } }
            }
        },
        Block::Heading(text) => html! { h2 { (text) } },
        Block::Facts(facts) => html! { dl { @for one in facts { (fact(one)) } } },
        Block::Table(grid) => table(grid),
        Block::Text(text) => html! { p { (text) } },
        Block::List(lines) => html! { ul { @for line in lines { li { (line) } } } },
        Block::Signatures(roles) => html! {
            div.signatures {
                @for (role, name) in roles {
                    div {
                        p { b { (role) } @if !name.is_empty() { ": " (name) } }
                        @for line in ["Name", "Place, date", "Signature"] {
                            p.line { span { (line) } }
                        }
                    }
                }
            }
        },
        Block::NewPage => html! {},
    }
}

fn fact(fact: &Fact) -> Markup {
    html! {
        div.wide[fact.is_wide] {
            dt { (fact.name) }
            @if fact.value.is_empty() { dd.blank {} }
            @else if fact.is_code { dd { code { (fact.value) } } }
            @else { dd { (fact.value) } }
        }
    }
}

fn table(grid: &Grid) -> Markup {
    html! {
        table {
            colgroup {
                @for column in &grid.columns {
                    col style={ "width:" (format!("{:.0}", 100.0 * column.share)) "%" };
                }
            }
            thead { tr { @for column in &grid.columns {
                th.number[column.is_number] { (column.head) }
            } } }
            tbody { @for row in &grid.rows { tr {
                @for (column, text) in grid.columns.iter().zip(row) {
                    td.number[column.is_number] data-head=(column.head) { (text) }
                }
            } } }
        }
    }
}
