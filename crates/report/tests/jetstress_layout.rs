//! The layout of Jetstress's reports, read as the public scripts do that parse them: by the number of a fieldset,
//! of its row and of its cell, or by the line behind a label.

use std::fs;
use std::path::{Path, PathBuf};

use crate::invented::Story;
use measure::result::{
    BackedUpDatabase, BackupResult, ErrorCount, ErrorKind, ErrorRecord, IntegrityClass,
    PhaseResult, RecoveredDatabase, RecoveryResult, TestKind, Verdict, VerificationResult,
    VerifiedDatabase,
};
use report::{NoJetstressReport, Run, jetstress_layouts, write_jetstress_report};

/// The contents of every element of a name, in the order of the page; such elements do not lie in each other.
fn elements<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(begin) = rest.find(&format!("<{name}")) {
        let from = &rest[begin..];
        let content = from.find('>').expect("the end of a tag") + 1;
        let end = from
            .find(&format!("</{name}>"))
            .expect("the end of an element");
        found.push(&from[content..end]);
        rest = &from[end..];
    }
    found
}

/// The cells of each row of a fieldset.
fn rows(page: &str, fieldset: usize) -> Vec<Vec<&str>> {
    let fieldset = elements(page, "fieldset")[fieldset];
    let rows = elements(fieldset, "tr").into_iter();
    rows.map(|row| elements(row, "td")).collect()
}

/// As the resource of Desired State Configuration does: the value is on the line behind its label.
fn value_behind<'a>(page: &'a str, label: &str) -> &'a str {
    let label = format!("<td class=\"grid_row_header\">{label}</td>");
    let mut lines = page.lines().skip_while(|line| !line.contains(&label));
    let value = lines.nth(1).expect("a line behind the label");
    let begin = value.find('>').expect("a tag") + 1;
    let end = value.rfind('<').expect("the end of the tag");
    &value[begin..end]
}

fn written(run: &Run, directory: &Path) -> Vec<PathBuf> {
    write_jetstress_report(run, directory).expect("a report")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_script_that_counts_fieldsets_rows_and_cells_finds_its_figures() {
    let run = Story::default().run();
    let directory = tempfile::tempdir().expect("a directory");
    let files = written(&run, directory.path());
    let names: Vec<String> = files
        .iter()
        .map(|path| {
            path.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(
        names,
        [
            "Performance_2026_3_1_12_0_0.html",
            "Performance_2026_3_1_12_0_0.xml"
        ]
    );
    let page = read(&files[0]);
    let result = &run.result;

    // Row 3 of fieldset 1 is the final size in bytes.
    let size_bytes: f64 = rows(&page, 1)[3][1].parse().expect("a number");
    let sizes = result
        .databases
        .iter()
        .map(|one| one.figures.size_end_bytes);
    assert_eq!(size_bytes as u64, sizes.sum::<u64>());

    // Fieldset 4 has one row for each database behind its head, and 12 cells behind the instance.
    let rows = rows(&page, 4);
    assert_eq!(rows.len(), 1 + result.databases.len());
    for (row, database) in rows[1..].iter().zip(&result.databases) {
        let cells: Vec<f64> = row[1..]
            .iter()
            .map(|cell| cell.parse().expect("a number"))
            .collect();
        assert_eq!(cells.len(), 12);
        let figures = &database.figures;
        let latency = |io: &measure::result::IoFigures| io.latency.expect("a latency").average_ms;
        for (index, right) in [
            (0, latency(&figures.reads)),
            (1, latency(&figures.writes)),
            (2, figures.reads.per_second),
            (3, figures.writes.per_second),
            (7, latency(&figures.log_writes)),
            (9, figures.log_writes.per_second),
        ] {
            assert!(
                (cells[index] - right).abs() < 0.001,
                "{index}: {} {right}",
                cells[index]
            );
        }
    }
}

#[test]
fn a_script_that_looks_for_labels_finds_the_outcome_on_the_next_line() {
    let run = Story::default().run();
    assert_eq!(run.result.verdict, Verdict::Pass);
    let directory = tempfile::tempdir().expect("a directory");
    let page = read(&written(&run, directory.path())[0]);
    assert_eq!(value_behind(&page, "Overall Test Result"), "Pass");
    assert!(page.contains("<td class=\"success\">Pass</td>"));
    let achieved: f64 = value_behind(&page, "Achieved Transactional I/O per Second")
        .parse()
        .expect("a number");
    assert!((achieved - run.result.throughput.achieved_iops).abs() < 0.001);
    // It says whose result it is.
    assert!(
        page.contains("no result of Microsoft&#39;s Jetstress")
            || page.contains("no result of Microsoft's Jetstress")
    );
}

#[test]
fn what_did_not_pass_is_never_taken_for_a_pass() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, run) in crate::stories::all() {
        let Ok(files) = write_jetstress_report(&run, directory.path()) else {
            assert!(run.result.databases.is_empty(), "{name}");
            continue;
        };
        let page = read(&files[0]);
        let passed = run.result.verdict == Verdict::Pass;
        assert_eq!(
            page.contains("<td class=\"success\">Pass</td>"),
            passed,
            "{name}"
        );
        assert_eq!(
            value_behind(&page, "Overall Test Result") == "Pass",
            passed,
            "{name}"
        );
        assert_eq!(
            page.contains("Fail - ") || page.contains("Error - "),
            !passed,
            "{name}"
        );
        assert!(
            !page.contains("<script"),
            "{name}: a name became an element"
        );
    }
}

#[test]
fn a_day_is_a_stress_test() {
    let run = Story {
        samples: 5_760,
        ..Story::default()
    };
    let mut run = run.run();
    let settings = &mut run.result.workload.settings;
    settings.insert("service_levels.lenient_above".to_owned(), "6h".into());
    settings.insert("run.duration".to_owned(), "1d".into());
    let layouts = jetstress_layouts(&run).expect("a report");
    assert_eq!(layouts[0].stem, "Stress_2026_3_1_12_0_0");
}

#[test]
fn a_verification_has_a_report_of_its_own() {
    let mut run = Story::default().run();
    let verified = |name: &str, errors| VerifiedDatabase {
        name: name.to_owned(),
        pages: 1_000,
        bytes: 32 << 20,
        duration_s: 2.0,
        errors,
        ..VerifiedDatabase::default()
    };
    run.result.verification = Some(VerificationResult {
        databases: vec![verified("a", 0), verified("b", 3)],
        ..VerificationResult::default()
    });
    let directory = tempfile::tempdir().expect("a directory");
    let files = written(&run, directory.path());
    let page = read(&files[2]);
    assert!(files[2].ends_with("DBChecksum_2026_3_1_12_0_0.html"));
    let rows = rows(&page, 0);
    assert_eq!(rows[2], ["b", "1000", "3", "32.000", "2.000", "16.000"]);
    assert_eq!(rows[3], ["Sum", "2000", "3", "64.000", "2.000", "32.000"]);
    assert_eq!(value_behind(&page, "Overall Test Result"), "Fail");
}

#[test]
fn backup_and_recovery_have_their_average_and_sum_behind_the_databases() {
    let mut run = Story::default().run();
    let result = &mut run.result;
    result.tests = vec![TestKind::Backup, TestKind::Recovery];
    result.phases.retain(|phase| !phase.is_measured());
    result.duration_s = 0.0;
    let backed_up = |seconds: f64| BackedUpDatabase {
        size_bytes: 64 << 20,
        bytes: 64 << 20,
        duration_s: seconds,
        ..BackedUpDatabase::default()
    };
    result.backup = Some(BackupResult {
        duration_s: 4.0,
        databases: vec![backed_up(2.0), backed_up(4.0)],
        ..BackupResult::default()
    });
    let recovered = |seconds: f64| RecoveredDatabase {
        log_files: 500,
        duration_s: seconds,
        ..RecoveredDatabase::default()
    };
    result.recovery = Some(RecoveryResult {
        databases: vec![recovered(100.0), recovered(150.0)],
        ..RecoveryResult::default()
    });
    let directory = tempfile::tempdir().expect("a directory");
    let files = written(&run, directory.path());
    assert!(
        files[0].ends_with("DatabaseBackup_2026_3_1_12_0_0.html"),
        "{files:?}"
    );
    assert!(
        files[2].ends_with("SoftRecovery_2026_3_1_12_0_0.html"),
        "{files:?}"
    );
    // Behind the head and the databases: the average, then the sum.
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    let backup_page = read(&files[0]);
    let backup = rows(&backup_page, 0);
    assert_eq!((number(backup[3][3]), number(backup[4][3])), (24.0, 32.0));
    let recovery_page = read(&files[2]);
    let recovery = rows(&recovery_page, 0);
    assert_eq!(
        (number(recovery[4][1]), number(recovery[4][2])),
        (1000.0, 250.0)
    );
    // No load has run: nobody claims its threads, latencies and samples.
    for text in [
        "Operation mix",
        "Performance logging",
        "Read Average Latency",
    ] {
        assert!(!recovery_page.contains(text), "{text}");
    }
    assert_eq!(value_behind(&recovery_page, "Thread Count"), "");
}

#[test]
fn errors_beyond_the_list_count_and_the_verdict_ends_the_log() {
    let mut run = Story::default().run();
    let result = &mut run.result;
    let database = &result.databases[0];
    let (name, path) = (database.name.clone(), database.path.clone());
    let class = Some(IntegrityClass::Zeroed);
    result.errors = vec![ErrorRecord {
        class,
        kind: ErrorKind::Integrity,
        database: name.clone(),
        file: path,
        ..ErrorRecord::default()
    }];
    result.error_counts = vec![ErrorCount {
        database: name,
        class,
        errors: 750,
        times: 750,
    }];
    let last = PhaseResult {
        name: "checksum".to_owned(),
        duration_s: 9.0,
        ..result.phases.last().expect("a phase").clone()
    };
    result.phases.push(last);
    let directory = tempfile::tempdir().expect("a directory");
    let page = read(&written(&run, directory.path())[0]);
    let rows = page
        .lines()
        .map(str::trim)
        .filter(|line| line.contains(">750<"));
    assert_eq!(rows.count(), 1, "the errors of one volume");
    let log = page.find("-- Result: ").expect("a verdict");
    let checksum = page.find("-- Phase checksum").expect("a phase");
    assert!(checksum < log);
}

#[test]
fn the_xml_is_well_formed_and_has_the_same_figures() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, run) in crate::stories::all() {
        let Ok(files) = write_jetstress_report(&run, directory.path()) else {
            continue;
        };
        let text = read(&files[1]);
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut sections = 0;
        loop {
            match reader
                .read_event()
                .unwrap_or_else(|error| panic!("{name}: {error}"))
            {
                quick_xml::events::Event::Start(start) if start.name().as_ref() == "Section" => {
                    sections += 1;
                }
                quick_xml::events::Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(sections, 12, "{name}");
    }
}

#[test]
fn runs_that_jetstress_has_no_report_of_are_refused() {
    let mut brokerage = Story::default().run();
    brokerage.contribution.has_jetstress_report = false;
    assert!(matches!(
        jetstress_layouts(&brokerage),
        Err(NoJetstressReport::OtherWorkload(_))
    ));
    let mut empty = Run::default();
    empty.contribution.has_jetstress_report = true;
    assert!(matches!(
        jetstress_layouts(&empty),
        Err(NoJetstressReport::NothingMeasured(_))
    ));
}
