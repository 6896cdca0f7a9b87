//! The section of a run on a real database.

use maud::{Markup, html};
use measure::result::RunResult;

use super::tables;
use crate::table::{
    Table, consistency_sentence, consistency_table, outages_table, server_counters_table,
    server_sentences, transactions_table, waits_table,
};

/// The server, its transactions, wait events and consistency checks; nothing for other workloads.
pub(super) fn section(result: &RunResult) -> Markup {
    let Some(server) = &result.server else {
        return html! {};
    };
    html! {
        h2 id="database" { "Database server" }
        @for sentence in server_sentences(result) { p { (sentence) } }
        @if let Some(sentence) = consistency_sentence(server) { p { (sentence) } }
        (part("Transactions", &transactions_table(result)))
        (part("Downtime", &outages_table(result)))
        (part("Wait events", &waits_table(result)))
        (part("Server counters", &server_counters_table(result)))
        (part("Consistency checks", &consistency_table(result)))
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
