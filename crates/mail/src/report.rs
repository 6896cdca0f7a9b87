//! What the mail workload adds to the reports of its runs.

mod growth;
mod replication;
mod storage_tests;

pub(crate) use storage_tests::METRICS;

use crate::edb_host::is_database_file;
use measure::display::number::{counted, limit, quantity};
use measure::display::{Advice, AdviceId, Contribution, LoadWords, Section};
use measure::metric::Unit;
use measure::result::{CheckId, ErrorKind, ErrorRecord, RunKind, RunResult};

const WORDS: LoadWords = LoadWords {
    client: "thread",
    fewer: "mailboxes",
    to_sustain: "a lower --rate",
    to_find_most: "--find max-iops finds the highest rate that this storage carries.",
};

/// The same of a run for which the highest rate was looked for.
const WORDS_OF_SEARCH: LoadWords = LoadWords {
    to_find_most: "The loads above it that the search tried stand in its table.",
    ..WORDS
};

/// The same of a prediction, which can be searched.
const WORDS_OF_PREDICTION: LoadWords = LoadWords {
    to_find_most: "--find max-iops finds the highest rate that passes.",
    ..WORDS
};

/// What reports of a result show besides the storage.
pub(crate) fn contribution(result: &RunResult) -> Contribution {
    let error = result.ending_error().or(result.errors.first());
    let full = error.filter(|error| error.kind == ErrorKind::OutOfSpace);
    let damaged = error.filter(|error| is_database(error));
    let advice = full.map(|error| out_of_space(result, error)).into_iter();
    let advice = advice.chain(growth::advice(result));
    Contribution {
        words: match result.kind {
            RunKind::Prediction => WORDS_OF_PREDICTION,
            _ if finds_maximum(result) => WORDS_OF_SEARCH,
            _ => WORDS,
        },
        load: load(result),
        tiles: storage_tests::tiles(result),
        metrics: METRICS,
        sections: sections(result),
        advice: advice.collect(),
        has_jetstress_report: true,
        check_command: damaged.map(|error| format!("proofload edb check {}", error.file)),
        ..Contribution::default()
    }
}

fn finds_maximum(result: &RunResult) -> bool {
    let tuning = result.tuning.as_ref();
    tuning.is_some_and(|tuning| tuning.finds_maximum)
}

fn sections(result: &RunResult) -> Vec<Section> {
    let mut sections = storage_tests::sections(result);
    sections.extend(replication::section(result));
    sections.extend(growth::section(result));
    sections
}

/// The rate, after that of transactions where it was held, with the mailboxes that made it; `None` when their
/// number is not known.
fn load(result: &RunResult) -> Option<String> {
    let settings = &result.workload.settings;
    let each = settings.get("mail.mailboxes_per_database")?.as_u64()?;
    let mailboxes = each * result.databases.len() as u64;
    if !result.has_measured_phase() {
        return None;
    }
    let rate = quantity(result.throughput.achieved_iops, Unit::Iops);
    let rate = match transactions(result) {
        Some(transactions) => format!("{transactions}, {rate}"),
        None => rate,
    };
    (mailboxes > 0).then(|| format!("{rate} ({})", counted(mailboxes, "mailbox")))
}

/// The rate of transactions and its target, where one was held.
fn transactions(result: &RunResult) -> Option<String> {
    let held = &result.workload.settings;
    let held = held.get("mail.held_transactions_per_second")?.as_f64()?;
    let mut checks = result.checks.iter();
    let achieved = checks.find(|check| check.id == CheckId::TransactionRate)?;
    let achieved = quantity(achieved.value?, Unit::TransactionsPerSecond);
    Some(format!("{achieved} (target {})", limit(held)))
}

/// Whether an error is about a database, which can be checked, and not about a log or another file.
fn is_database(error: &ErrorRecord) -> bool {
    error.page.is_some() || is_database_file(&error.file)
}

/// A full disk says nothing against the storage.
fn out_of_space(result: &RunResult, error: &ErrorRecord) -> Advice {
    if result.array.is_some() {
        return Advice::new(
            AdviceId::OUT_OF_SPACE,
            "Make the volumes larger, then predict again",
            format!(
                "No space was left for {}: more messages arrived than the volume was sized for. \
                 Give the databases larger volumes with `--set \
                 array.volumes.database_size_gb=N`, hold a `--rate`, or predict a shorter time.",
                error.file
            ),
        );
    }
    let (place, _) = error.file.rsplit_once('/').unwrap_or((".", &error.file));
    let remedy = if is_database(error) {
        "Databases grow while messages arrive: free space for the whole run, or run for a shorter \
         time or with a smaller --target-size"
    } else {
        "Every commit writes to the log: free space there, or reuse old log files with \
         engine.circular_logging"
    };
    Advice::new(
        AdviceId::OUT_OF_SPACE,
        "Free space, then run again",
        format!(
            "No space was left for {} in {place}. {remedy}. `proofload run --dry-run` shows how \
             much is needed where. --reuse recovers the databases and continues; if a page was being \
             written when space ran out, it may say that they have to be built again.",
            error.file
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Check, DatabaseResult, TuningResult};

    fn failed(kind: ErrorKind, file: &str) -> RunResult {
        let mut result = RunResult::default();
        result.errors.push(ErrorRecord {
            kind,
            file: file.into(),
            ..ErrorRecord::default()
        });
        result
    }

    #[test]
    fn a_full_disk_asks_for_space() {
        for (file, remedy) in [
            ("/mnt/a/mail-001/mail-001.edb", "--target-size"),
            ("/mnt/a/log-001/E00tmp.log", "circular_logging"),
        ] {
            let own = contribution(&failed(ErrorKind::OutOfSpace, file));
            assert_eq!(own.advice[0].id, AdviceId::OUT_OF_SPACE);
            let text = &own.advice[0].text;
            assert!(text.contains(file) && text.contains(remedy), "{text}");
        }
    }

    #[test]
    fn a_database_can_be_checked_and_a_log_cannot() {
        let command = |file| contribution(&failed(ErrorKind::Io, file)).check_command;
        let check = "proofload edb check /mnt/a/db1.edb".to_owned();
        assert_eq!(command("/mnt/a/db1.edb"), Some(check));
        assert_eq!(command("/mnt/a/log-001/E00tmp.log"), None);
    }

    #[test]
    fn the_highest_rate_is_not_looked_for_again() {
        let mut result = RunResult::default();
        let most = |result: &RunResult| contribution(result).words.to_find_most;
        assert!(most(&result).contains("--find max-iops"));
        result.tuning = Some(TuningResult {
            finds_maximum: true,
            ..TuningResult::default()
        });
        assert!(most(&result).contains("the search tried"));
        result.kind = RunKind::Prediction;
        assert!(most(&result).contains("--find max-iops"));
    }

    #[test]
    fn the_load_is_the_rate_with_the_mailboxes() {
        let mut result = RunResult {
            databases: vec![DatabaseResult::default(); 16],
            ..RunResult::default()
        };
        result.throughput.achieved_iops = 400.4;
        assert_eq!(contribution(&result).load, None);
        let settings = &mut result.workload.settings;
        settings.insert("mail.mailboxes_per_database".to_string(), 250.into());
        let load = contribution(&result).load;
        assert_eq!(load.unwrap(), "400 IOPS (4,000 mailboxes)");
        let held = "mail.held_transactions_per_second";
        let settings = &mut result.workload.settings;
        settings.insert(held.to_string(), 120.into());
        result.checks.push(Check {
            id: CheckId::TransactionRate,
            value: Some(119.6),
            ..Check::default()
        });
        let load = contribution(&result).load;
        assert_eq!(
            load.unwrap(),
            "120 transactions/s (target 120), 400 IOPS (4,000 mailboxes)"
        );
    }
}
