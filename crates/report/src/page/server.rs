//! What the report says of a run on a real database.

use maud::{Markup, html};
use measure::result::RunResult;

use super::tables;
use crate::table::{
    Table, books_table, outages_table, server_counters_table, server_sentences, transactions_table,
    waits_table,
};

/// The server, its transactions, its waits and its books; nothing for other workloads.
pub(super) fn section(result: &RunResult) -> Markup {
    let Some(server) = &result.server else {
        return html! {};
    };
    html! {
        h2 id="database" { "The database" }
        @for sentence in server_sentences(result) { p { (sentence) } }
        (part("Transactions", &transactions_table(result)))
        (part("Without service", &outages_table(result)))
        (part("What sessions waited for", &waits_table(result)))
        (part("What the server counted", &server_counters_table(result)))
        (part("The books", &books_table(result)))
        @if !server.settings.is_empty() {
            details {
                summary { "Settings of the server" }
                dl.facts {
                    @for (name, value) in &server.settings { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}

fn part(title: &str, table: &Table) -> Markup {
    html! { @if !table.is_empty() { h3 { (title) } (tables::table(table)) } }
}
