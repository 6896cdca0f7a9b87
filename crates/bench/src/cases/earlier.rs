//! This build in turn with an earlier one, each on a database that it has built itself: what changes in
//! between have cost, such as checks that were added.

use std::path::Path;

use super::Bench;
use super::checks::UNCHECKED;
use super::read_only::READS_ONLY;
use crate::product::Product;
use crate::ratio::{Goal, Pairs};
use serde_json::Value;

/// What builds without these settings did: their default load, and the end of their warm-up, which did
/// not wait for a steady load.
const EARLIER_LOAD: [&str; 6] = [
    "mail.item.indexed=true",
    "mail.item.read_by_index_percent=100",
    "mail.mix.lazy_commit_window=1s",
    "run.warm_up.minimum=0s",
    "run.warm_up.maximum=30m",
    "run.warm_up.until_steady=false",
];

/// Rows for the read-only and the default mix, and for the latter without the checks that cause I/O.
///
/// # Errors
/// A sentence when a build cannot run.
pub fn rows(bench: &Bench, earlier: &Path) -> Result<Vec<String>, String> {
    let storage = &bench.product.storage;
    let ours = on(bench, &bench.product.binary, &storage.join("this"));
    let theirs = on(bench, earlier, &storage.join("earlier"));
    ours.build_afresh("build", &EARLIER_LOAD)?;
    theirs.build_afresh("build", &[])?;
    let mut rows = Vec::new();
    for (what, settings, only_this) in [
        (
            "read-only mix, 32 sessions: I/O of database and log",
            READS_ONLY,
            &[][..],
        ),
        (
            "default mix, 32 sessions: I/O of database and log",
            &[],
            &[],
        ),
        // What the checks cost that earlier builds had not has a row of its own.
        (
            "the same, without reading back log and headers",
            &[],
            &UNCHECKED,
        ),
    ] {
        let mut rates = Pairs::new(what, "/s", Goal::AtLeast(0.97));
        for round in 0..bench.rounds {
            // Each goes first in half of the rounds.
            let rate_of_this =
                || io_per_second(&ours, &[&EARLIER_LOAD, settings, only_this].concat());
            let rate_of_earlier = || io_per_second(&theirs, settings);
            let pair = if round % 2 == 0 {
                let this = rate_of_this()?;
                (this, rate_of_earlier()?)
            } else {
                let earlier = rate_of_earlier()?;
                (rate_of_this()?, earlier)
            };
            eprintln!(
                "{what}: {:.0} and {:.0} with the earlier build",
                pair.0, pair.1
            );
            rates.add(pair.0, pair.1);
        }
        rows.push(rates.row());
    }
    Ok(rows)
}

fn on(bench: &Bench, binary: &Path, storage: &Path) -> Bench {
    Bench {
        product: Product {
            binary: binary.to_owned(),
            storage: storage.to_owned(),
            ..bench.product.clone()
        },
        ..bench.clone()
    }
}

fn io_per_second(side: &Bench, settings: &[&str]) -> Result<f64, String> {
    let document = side
        .product
        .document("load", &side.load_arguments(settings))?;
    let rate = |stream: &str| document["totals"][stream]["per_second"].as_f64();
    let streams = ["reads", "writes", "log_writes"].map(rate);
    let all: Option<f64> = streams.into_iter().sum();
    all.ok_or_else(|| missing(&document))
}

fn missing(document: &Value) -> String {
    format!("no rates are in the result: {}", document["totals"])
}
