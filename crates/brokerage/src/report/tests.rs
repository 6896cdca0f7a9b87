use super::{contribution, tables};
use measure::display::{Advice, Medium, Table};
use measure::result::{
    Bottleneck, Check, CheckId, ErrorKind, ErrorRecord, LatencyFigures, OperationResult,
    OutageCause, OutageResult, RunResult, ServerFileIo, ServerResult, TransactionCounts, WaitClass,
    WaitShare,
};

fn result() -> RunResult {
    let operation = |name: &str, count, per_second| OperationResult {
        name: name.to_owned(),
        count,
        per_second,
        service_time: Some(LatencyFigures::default()),
        ..OperationResult::default()
    };
    let mut result = RunResult {
        operations: vec![
            operation("trade-status", 75, 200.0),
            operation("market-watch", 25, 97.0),
            operation("trade-result", 0, 30.0),
            operation("feed-entry", 0, 63.0),
        ],
        server: Some(ServerResult {
            name: "PostgreSQL".to_owned(),
            transactions: TransactionCounts {
                serialization_failures_by_operation: [("market-watch".to_owned(), 4)].into(),
                connection_failures: 2,
                ..TransactionCounts::default()
            },
            waits: vec![WaitShare {
                name: "IO: DataFileRead".to_owned(),
                class: WaitClass::Storage,
                share_percent: 80.0,
                ..WaitShare::default()
            }],
            bottleneck: Bottleneck::Locks,
            ..ServerResult::default()
        }),
        ..RunResult::default()
    };
    result.throughput.operations_per_second = 390.0;
    result.throughput.threads = Some(30);
    result
}

fn table(result: &RunResult, title: &str) -> Table {
    let mut parts = contribution(result).sections.remove(0).parts.into_iter();
    parts.find(|part| part.title == title).unwrap().table
}

fn only_advice(result: &RunResult) -> Advice {
    let mut all = contribution(result).advice;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn times_of_the_server_stand_beside_those_of_the_device() {
    let mut timed = result();
    assert!(table(&timed, "Storage times").rows.is_empty());
    timed.totals.log_writes.count = 7;
    if let Some(server) = &mut timed.server {
        server.file_io = vec![ServerFileIo {
            name: "client backend, relation".to_owned(),
            reads: 12,
            average_read_ms: Some(2.5),
            ..ServerFileIo::default()
        }];
    }
    let rows = table(&timed, "Storage times").rows;
    let texts = |row: usize| rows[row].iter().map(|cell| cell.text.clone());
    let of_server: Vec<_> = texts(0).take(3).collect();
    assert_eq!(
        of_server,
        ["by the server: client backend, relation", "12", "2.50 ms"]
    );
    let of_log: Vec<_> = texts(2).take(4).collect();
    assert_eq!(of_log, ["at the device: log", "", "", "7"]);
}

#[test]
fn shares_of_the_mix_and_conflicts_stand_beside_each_kind() {
    let transactions = table(&result(), "Transactions");
    let texts: Vec<&str> = transactions.rows[0]
        .iter()
        .map(|cell| cell.text.as_str())
        .collect();
    assert_eq!(texts[..3], ["trade-status", "75", "75.0"]);
    assert_eq!(transactions.rows[1].last().unwrap().text, "4");
    assert_eq!(table(&result(), "Wait events").rows.len(), 1);
}

#[test]
fn transactions_are_the_load_and_the_first_figure() {
    let own = contribution(&result());
    // Trade results and feed entries follow from what users begin.
    assert_eq!(
        own.load.unwrap(),
        "297 business transactions/s and 30.0 trade results/s (30 users)"
    );
    let figures = own.tiles.iter().map(|tile| (tile.name, tile.value));
    let expected = [("Business transactions", 297.0), ("Trade results", 30.0)];
    assert_eq!(figures.collect::<Vec<_>>(), expected);
    assert_eq!(own.tiles[0].beside, "limited by lock waits");
    let waits = own
        .metrics
        .iter()
        .find(|one| one.id == "storage_waits_percent");
    assert_eq!((waits.unwrap().value)(&result()), Some(80.0));
}

#[test]
fn failed_attempts_are_listed() {
    let measured = RunResult {
        duration_s: 60.0,
        ..result()
    };
    let sentences = &contribution(&measured).sections[0].sentences;
    assert!(
        sentences[1].contains("2 failed because the server was down"),
        "{sentences:?}"
    );
    // Where nothing was measured, there were no transactions.
    let built = &contribution(&result()).sections[0].sentences;
    assert!(!built.concat().contains("committed"), "{built:?}");
}

#[test]
fn a_prediction_has_no_server_but_the_notice_and_metrics_without_value() {
    let predicted = contribution(&RunResult::default());
    assert!(predicted.sections.is_empty() && predicted.tiles.is_empty());
    assert!(predicted.notice.is_some() && !predicted.shows_operations);
    let mut values = predicted
        .metrics
        .iter()
        .map(|one| (one.value)(&RunResult::default()));
    assert!(values.all(|value| value.is_none()));
}

#[test]
fn failed_checks_are_shown_in_the_terminal_too() {
    let medium = |passed| {
        let mut result = result();
        let check = measure::result::ConsistencyCheck {
            passed,
            ..Default::default()
        };
        result.server.as_mut().unwrap().consistency_checks = vec![check];
        contribution(&result).sections[0]
            .parts
            .last()
            .unwrap()
            .medium
    };
    assert_eq!((medium(true), medium(false)), (Medium::Page, Medium::Both));
}

#[test]
fn outages_and_a_wrong_mix_are_explained() {
    let mut result = RunResult::default();
    assert!(contribution(&result).advice.is_empty());
    result.server = Some(ServerResult {
        outages: vec![OutageResult {
            reason: "it was shut down".to_owned(),
            ..OutageResult::default()
        }],
        ..ServerResult::default()
    });
    let advice = only_advice(&result);
    assert!(advice.text.contains("it was shut down"), "{}", advice.text);
    assert!(advice.text.contains("dmesg"), "{}", advice.text);
    if let Some(server) = &mut result.server {
        server.outages[0].cause = OutageCause::Command;
    }
    let advice = only_advice(&result);
    assert!(advice.text.contains("who stopped it"), "{}", advice.text);
    if let Some(server) = &mut result.server {
        server.transactions.out_of_space = 3;
    }
    let advice = only_advice(&result);
    assert!(advice.text.contains("Free space"), "{}", advice.text);
    let check = Check::of_run(CheckId::MixDeviation, 1.0, Some(1.7), String::new());
    result.checks.push(check.about("trade-result"));
    assert!(
        contribution(&result).advice[1]
            .text
            .contains("1.70 percentage points")
    );
}

#[test]
fn failed_consistency_checks_name_the_settings() {
    let mut result = RunResult::default();
    result.errors.push(ErrorRecord {
        kind: ErrorKind::Inconsistent,
        error: "Consistency check \"a\" failed: b.".to_owned(),
        ..ErrorRecord::default()
    });
    let mut server = ServerResult::default();
    server.settings.insert("fsync".into(), "off".into());
    server
        .settings
        .insert("full_page_writes".into(), "on".into());
    result.server = Some(server);
    let text = only_advice(&result).text;
    // What was found stands in the verdict, and once is enough.
    assert!(text.contains("the verdict says what was found"), "{text}");
    assert!(!text.contains("failed: b."), "{text}");
    assert!(
        text.contains("Of its settings, fsync is off (a crash may lose"),
        "{text}"
    );
    assert!(!text.contains("full_page_writes is on"), "{text}");
    assert!(text.contains("not down in this run"), "{text}");
    if let Some(server) = &mut result.server {
        server.settings.clear();
        server.outages.push(OutageResult::default());
    }
    let text = contribution(&result).advice.remove(0).text;
    assert!(text.contains("without all committed data"), "{text}");
    assert!(text.contains("No setting that the server"), "{text}");
}

#[test]
fn a_prediction_shows_its_transactions_without_failures_of_a_server() {
    let mut result = result();
    let with_server = tables::transactions(&result);
    result.server = None;
    let own = contribution(&result);
    assert!(own.shows_operations);
    let parts = &own.sections[0].parts;
    assert_eq!(parts[0].table.rows.len(), with_server.rows.len());
    let heads = |table: &Table| table.columns.len();
    assert!(heads(&parts[0].table) < heads(&with_server));
}
