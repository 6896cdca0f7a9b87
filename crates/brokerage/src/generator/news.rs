//! Company news: headlines, summaries, and texts of up to 100,000 bytes.

use super::companies::companies_of;
use super::row_writer::RowWriter;
use crate::dataset::DataSet;
use crate::dataset::data_set::RandomField;
use crate::dataset::name_lists::name_lists;
use crate::dataset::names::{below, pick};
use crate::dataset::row_counts::{NEWS_BYTES, NEWS_PER_COMPANY};
use crate::dataset::trading_calendar::DAY_MS;
use crate::error::DatabaseError;
use workload::random::SeededRng;

/// Names of news sources.
const SOURCES: [&str; 6] = [
    "Morning Ledger",
    "Exchange Courier",
    "Harbor Wire",
    "Trade Gazette",
    "Province Post",
    "Evening Ticker",
];

/// What headlines say of a company.
const EVENTS: [&str; 12] = [
    "raises its estimate",
    "opens a plant",
    "names a new board",
    "buys a rival",
    "sells a division",
    "cuts its dividend",
    "wins a large order",
    "settles a dispute",
    "recalls a product",
    "reports its quarter",
    "borrows for growth",
    "closes an office",
];

/// Words of the texts.
const WORDS: [&str; 128] = [
    "a",
    "the",
    "of",
    "and",
    "to",
    "in",
    "for",
    "with",
    "from",
    "by",
    "at",
    "as",
    "on",
    "over",
    "after",
    "before",
    "its",
    "their",
    "this",
    "that",
    "which",
    "will",
    "has",
    "had",
    "was",
    "were",
    "said",
    "says",
    "expects",
    "reports",
    "plans",
    "holds",
    "sells",
    "buys",
    "builds",
    "moves",
    "grows",
    "falls",
    "rises",
    "keeps",
    "company",
    "market",
    "share",
    "shares",
    "price",
    "prices",
    "profit",
    "loss",
    "quarter",
    "year",
    "month",
    "week",
    "order",
    "orders",
    "plant",
    "office",
    "region",
    "product",
    "customer",
    "customers",
    "supplier",
    "worker",
    "workers",
    "contract",
    "board",
    "chairman",
    "manager",
    "owner",
    "bank",
    "credit",
    "loan",
    "bond",
    "dividend",
    "sale",
    "sales",
    "cost",
    "costs",
    "revenue",
    "margin",
    "demand",
    "supply",
    "export",
    "import",
    "tariff",
    "new",
    "old",
    "large",
    "small",
    "early",
    "late",
    "strong",
    "weak",
    "steady",
    "sharp",
    "slow",
    "rapid",
    "local",
    "foreign",
    "public",
    "private",
    "common",
    "recent",
    "annual",
    "total",
    "net",
    "gross",
    "higher",
    "lower",
    "better",
    "worse",
    "first",
    "second",
    "third",
    "last",
    "next",
    "again",
    "still",
    "also",
    "only",
    "about",
    "nearly",
    "more",
    "less",
    "between",
    "against",
    "without",
    "under",
    "since",
];

/// The news are at most this many days old at the opening: a year.
const NEWS_DAYS: u64 = 365;

/// Ids of the news about a company.
fn ids(data_set: &DataSet, company: u32) -> std::ops::Range<i64> {
    let first = (data_set.company_id(company) - 1) * i64::from(NEWS_PER_COMPANY) + 1;
    first..first + i64::from(NEWS_PER_COMPANY)
}

pub(super) fn items(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    let name_lists = name_lists();
    for company in companies_of(unit) {
        for id in ids(data_set, company) {
            let rng = &mut SeededRng::new(data_set.random_bits(RandomField::News, id as u64), 0);
            writer.number(id);
            writer.compose(|text| {
                data_set.write_company_name(company, text);
                text.push(' ');
                text.push_str(EVENTS[rng.below(EVENTS.len() as u64) as usize]);
            });
            let summary_bytes = 150 + rng.below(106) as usize;
            writer.compose(|text| write_text(rng, summary_bytes, text));
            let bytes = text_bytes(data_set, rng);
            writer.compose(|text| write_text(rng, bytes, text));
            let before_ms = rng.below(NEWS_DAYS * DAY_MS as u64) as i64;
            writer.number(data_set.opening_ms() - before_ms);
            writer.text(SOURCES[rng.below(SOURCES.len() as u64) as usize]);
            writer.compose(|text| {
                text.push_str(pick(&name_lists.first_names, rng.bits() as u32));
                text.push(' ');
                text.push_str(pick(&name_lists.last_names, rng.bits() as u32));
            });
            writer.end()?;
        }
    }
    Ok(())
}

pub(super) fn references(
    data_set: &DataSet,
    unit: u32,
    writer: &mut RowWriter,
) -> Result<(), DatabaseError> {
    for company in companies_of(unit) {
        for id in ids(data_set, company) {
            writer.numbers(&[id, data_set.company_id(company)]);
            writer.end()?;
        }
    }
    Ok(())
}

/// The length of a text, log-uniform: as many between 2,000 and 4,000 bytes as between 50,000 and
/// 100,000.
fn text_bytes(data_set: &DataSet, rng: &mut SeededRng) -> usize {
    let least = f64::from(*NEWS_BYTES.start());
    let most = f64::from(data_set.longest_news_bytes());
    (least * (most / least).powf(rng.unit())) as usize
}

/// Appends sentences of exactly this many bytes.
fn write_text(rng: &mut SeededRng, bytes: usize, text: &mut String) {
    let end = text.len() + bytes;
    let names = &name_lists().last_names;
    text.reserve(bytes + 32);
    let mut left_in_sentence = 0;
    while text.len() < end {
        let random_bits = rng.bits();
        if left_in_sentence == 0 {
            left_in_sentence = 6 + below(random_bits as u32, 12);
            text.push_str(pick(names, (random_bits >> 32) as u32));
        } else {
            text.push_str(WORDS[random_bits as usize % WORDS.len()]);
        }
        left_in_sentence -= 1;
        text.push_str(if left_in_sentence == 0 { ". " } else { " " });
    }
    // All of it is ASCII.
    text.truncate(end - 1);
    text.push('.');
}
