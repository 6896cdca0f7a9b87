//! News about companies: headlines, summaries, and texts of up to 100,000 bytes.

use super::companies::companies_of;
use super::pen::Pen;
use crate::error::DatabaseError;
use crate::house::House;
use crate::house::identity::Chance;
use crate::house::moments::DAY_MS;
use crate::house::names::{below, pick};
use crate::house::size::{NEWS_BYTES, NEWS_PER_COMPANY};
use crate::house::words::words;
use workload::random::Dice;

/// Where news come from.
const SOURCES: [&str; 6] = [
    "Morning Ledger",
    "Exchange Courier",
    "Harbor Wire",
    "Trade Gazette",
    "Province Post",
    "Evening Ticker",
];

/// What companies do in headlines.
const EVENTS: [&str; 12] = [
    "raises its outlook",
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

/// Ordinary words of which texts are made.
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

/// Days before the opening in which the news came: a year.
const NEWS_DAYS: u64 = 365;

/// Ids of the news about a company.
fn ids(house: &House, company: u32) -> std::ops::Range<i64> {
    let first = (house.company_id(company) - 1) * i64::from(NEWS_PER_COMPANY) + 1;
    first..first + i64::from(NEWS_PER_COMPANY)
}

pub(super) fn items(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    let words = words();
    for company in companies_of(unit) {
        for id in ids(house, company) {
            let dice = &mut Dice::new(house.chance(Chance::News, id as u64), 0);
            pen.number(id);
            pen.compose(|text| {
                house.write_company_name(company, text);
                text.push(' ');
                text.push_str(EVENTS[dice.below(EVENTS.len() as u64) as usize]);
            });
            let summary_bytes = 150 + dice.below(106) as usize;
            pen.compose(|text| write_text(dice, summary_bytes, text));
            let bytes = text_bytes(house, dice);
            pen.compose(|text| write_text(dice, bytes, text));
            let before_ms = dice.below(NEWS_DAYS * DAY_MS as u64) as i64;
            pen.number(house.opening_ms() - before_ms);
            pen.text(SOURCES[dice.below(SOURCES.len() as u64) as usize]);
            pen.compose(|text| {
                text.push_str(pick(&words.first_names, dice.bits() as u32));
                text.push(' ');
                text.push_str(pick(&words.last_names, dice.bits() as u32));
            });
            pen.end()?;
        }
    }
    Ok(())
}

pub(super) fn references(house: &House, unit: u32, pen: &mut Pen) -> Result<(), DatabaseError> {
    for company in companies_of(unit) {
        for id in ids(house, company) {
            pen.numbers(&[id, house.company_id(company)]);
            pen.end()?;
        }
    }
    Ok(())
}

/// The length of a text: as many between 2,000 and 4,000 bytes as between 50,000 and 100,000.
fn text_bytes(house: &House, dice: &mut Dice) -> usize {
    let least = f64::from(*NEWS_BYTES.start());
    let most = f64::from(house.longest_news_bytes());
    (least * (most / least).powf(dice.unit())) as usize
}

/// Appends sentences of exactly so many bytes.
fn write_text(dice: &mut Dice, bytes: usize, text: &mut String) {
    let end = text.len() + bytes;
    let names = &words().last_names;
    text.reserve(bytes + 32);
    let mut left_in_sentence = 0;
    while text.len() < end {
        let chance = dice.bits();
        if left_in_sentence == 0 {
            left_in_sentence = 6 + below(chance as u32, 12);
            text.push_str(pick(names, (chance >> 32) as u32));
        } else {
            text.push_str(WORDS[chance as usize % WORDS.len()]);
        }
        left_in_sentence -= 1;
        text.push_str(if left_in_sentence == 0 { ". " } else { " " });
    }
    // All of it is ASCII.
    text.truncate(end - 1);
    text.push('.');
}
