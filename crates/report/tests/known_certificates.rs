//! Certificates whose every figure is known: each text, line and area of page and PDF file is where it
//! was.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use crate::expected::{expect, known};
use measure::display::Contribution;
use measure::recompute::Verified;
use measure::result::{
    BackedUpDatabase, BackupResult, Check, CheckId, DeviceResult, ErrorCount, FileHash,
    IntegrityClass, IoFigures, TargetPath, TestKind, Verdict, VerificationResult, VerifiedDatabase,
    WitnessResult,
};
use report::{Certificate, CertifiedRun, Details, Deviation, Run};

fn load(name: &str) -> CertifiedRun {
    CertifiedRun {
        run: Run::load(&known(name), |_| Contribution::default()).unwrap(),
        ..CertifiedRun::default()
    }
}

fn deviation(setting: &str) -> Deviation {
    Deviation {
        setting: setting.to_owned(),
        of_profile: "2h".to_owned(),
        of_run: "90s".to_owned(),
    }
}

fn verified(name: &str, pages: u64, pages_written: Option<u64>) -> VerifiedDatabase {
    VerifiedDatabase {
        name: name.to_owned(),
        pages,
        bytes: pages * 32_768,
        pages_written,
        pages_read_back: pages_written.map(|pages| pages / 4),
        ..VerifiedDatabase::default()
    }
}

fn words(number: usize) -> String {
    let words = ["Reads", "of", "the", "second", "database", "were", "slow"];
    (0..number)
        .map(|at| words[at % 7].to_owned() + " ")
        .collect()
}

/// A run with as much of everything as a certificate lists, and more.
fn full() -> CertifiedRun {
    let mut one = load("mail");
    let result = &mut one.run.result;
    let levels = CheckId::ALL.iter().copied().zip(1..);
    let levels = levels.map(|(id, number)| {
        let value = f64::from(number) - 0.5;
        Check::of(id, "db1", 20.0, Some(value), "A rule.".to_owned())
    });
    // Those that did not pass come last.
    let operations = (1..=9).map(|number| {
        let (id, value) = (CheckId::OperationP90, f64::from(10 + 2 * number));
        Check::of_run(id, 20.0, Some(value), "A rule.".to_owned()).about(&format!("kind {number}"))
    });
    result.checks = levels.chain(operations).collect();
    result.error_counts = vec![ErrorCount {
        database: "db1".to_owned(),
        class: Some(IntegrityClass::Hung),
        errors: 1_500,
        ..ErrorCount::default()
    }];
    let device = |number: usize| DeviceResult {
        name: format!("sd{number}"),
        serial: format!("ZA1B2C{number}"),
        size_bytes: 1_000_000_000 * number as u64,
        underlying_devices: vec![format!("nvme{number}n1"); number % 3],
        ..DeviceResult::default()
    };
    result.host.devices = (1..=8).map(device).collect();
    let place = |number: usize| TargetPath {
        path: format!("/mnt/{number}"),
        file_system: ["xfs", ""][number % 2].to_owned(),
        device: (number > 1).then(|| format!("sd{number}")),
        capacity_bytes: 3_000_000_000_000,
        ..TargetPath::default()
    };
    result.target.databases = (1..=6).map(place).collect();
    result.verification = Some(VerificationResult {
        not_verified: "The third database was not read.".to_owned(),
        databases: vec![
            verified("db1", 4_000, Some(1_200)),
            verified("db2", 70, None),
        ],
    });
    result.witness = Some(WitnessResult {
        run: "0123456789abcdef0123456789abcdef".to_owned(),
        acknowledged: Some(12_345),
        missed: Some(6),
        ..WitnessResult::default()
    });
    result.files = vec![FileHash {
        file: "samples.csv".to_owned(),
        size_bytes: 1_000,
        sha256: "5a".repeat(32),
    }];
    let no_blank = "no blank to break at: ".to_owned() + &"x".repeat(500);
    let others = (1..=12).map(|number| words(9 * number));
    result.warnings = std::iter::once(no_blank).chain(others).collect();
    result.verdict_reason = words(45);
    one.verified.document_sha256 = "c3".repeat(32);
    one.verified.not_verified = vec!["The samples were not compared.".to_owned()];
    one.deviations = Some(vec![
        deviation("run.duration"),
        deviation("service_levels.average_database_read"),
        deviation("mail.databases"),
    ]);
    one
}

fn passed() -> CertifiedRun {
    let mut one = load("mail");
    let result = &mut one.run.result;
    result.checks.retain(|check| check.passed == Some(true));
    result.errors.clear();
    result.warnings.clear();
    // It is not known what was written.
    result.verification = Some(VerificationResult {
        databases: vec![verified("db1", 4_000, None)],
        ..VerificationResult::default()
    });
    // It has no replicas, so nothing reads the log.
    result.totals.log_reads = IoFigures::default();
    result.set_verdict(Verdict::Pass, "All 4 checks passed.");
    one.deviations = Some(Vec::new());
    one
}

fn changed() -> CertifiedRun {
    let mut one = load("brokerage");
    let result = &mut one.run.result;
    (result.started, result.host.name) = (String::new(), String::new());
    result.workload.description.clear();
    result.throughput.target_iops = None;
    result.throughput.threads = None;
    result.target.databases.clear();
    result.target.logs.clear();
    result.witness = Some(WitnessResult {
        run: "unknown".to_owned(),
        ..WitnessResult::default()
    });
    one.verified.differences.count = 3;
    one
}

/// A backup and a soft recovery, without a load.
fn tests() -> CertifiedRun {
    let mut one = passed();
    let result = &mut one.run.result;
    result.duration_s = 0.0;
    result.tests = vec![TestKind::Backup, TestKind::Recovery];
    result.backup = Some(BackupResult {
        duration_s: 2.0,
        databases: vec![BackedUpDatabase {
            bytes: 512 << 20,
            ..BackedUpDatabase::default()
        }],
        ..BackupResult::default()
    });
    result.checks = vec![Check::of(
        CheckId::BackupRead,
        "db1",
        100.0,
        Some(100.0),
        String::new(),
    )];
    one
}

fn details() -> Details {
    let text = |name: &str| format!("{name} with as many words as stand on two lines of a column");
    Details {
        customer: "M\u{fc}nchen \u{20ac}".to_owned(),
        tester: "Smith (and) \\ sons".to_owned(),
        array: text("Array"),
        serial: "S-1".to_owned(),
        firmware: "VL280".to_owned(),
        disks: text("24 disks"),
        controllers: text("Two controllers"),
        connection: "2 x 16 Gb/s".to_owned(),
        note: text("A note"),
    }
}

/// The elements of a page with their texts, a line each.
fn elements(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let lines = body.split('<').filter(|part| !part.starts_with('/'));
    lines.map(|part| format!("<{part}\n")).collect()
}

/// The objects of a PDF file, with a line for each thing that is drawn.
fn drawn(pdf: &[u8]) -> String {
    let mut text = String::new();
    for line in pdf.split(|byte| *byte == b'\n') {
        if line == b"xref" {
            break;
        }
        text += &line.escape_ascii().to_string();
        // Ends of a text, a line, an area and an object.
        text.push(match line {
            b"ET" | b"S" | b"f" | b"endobj" => '\n',
            _ => ' ',
        });
    }
    text
}

#[test]
fn each_part_of_a_certificate_is_where_it_was() {
    for (name, runs, details) in [
        ("one", vec![passed()], details()),
        ("full", vec![full()], Details::default()),
        (
            "several",
            vec![full(), passed(), changed(), tests()],
            Details::default(),
        ),
        ("changed", vec![changed()], Details::default()),
    ] {
        let certificate = Certificate::new(&runs, &details);
        let (pdf, is_whole) = certificate.pdf();
        assert!(is_whole, "{name}");
        expect(
            &format!("certificate-{name}.txt"),
            &elements(&certificate.html()),
        );
        expect(&format!("certificate-{name}-pdf.txt"), &drawn(&pdf));
    }
}

/// Each answer of a verification and each verdict has its title and its word: the worst run decides.
#[test]
fn the_worst_run_gives_the_answer() {
    let of = |verdict, differences, not_verified: usize| {
        let mut one = passed();
        one.run.result.set_verdict(verdict, "A reason.");
        one.verified = Verified {
            not_verified: vec![String::new(); not_verified],
            ..Verified::default()
        };
        one.verified.differences.count = differences;
        one
    };
    // From the best to the worst.
    let runs = [
        (of(Verdict::Pass, 0, 0), "PASS"),
        (of(Verdict::Inconclusive, 0, 0), "INCONCLUSIVE"),
        (of(Verdict::Interrupted, 0, 0), "INTERRUPTED"),
        (of(Verdict::Fail, 0, 0), "FAIL (performance)"),
        (of(Verdict::Error, 0, 0), "FAIL (data)"),
        (of(Verdict::Pass, 1, 0), "NOT VERIFIED"),
    ];
    let page = |runs: &[CertifiedRun]| Certificate::new(runs, &Details::default());
    let accepted = "Certificate of storage acceptance test";
    for (number, (worst, word)) in runs.iter().enumerate() {
        let all: Vec<CertifiedRun> = runs[..=number].iter().map(|(one, _)| one.clone()).collect();
        let certificate = page(&all);
        let html = certificate.html();
        let (_, first) = html.split_once("<b>").unwrap();
        assert!(first.starts_with(&format!("{word}</b>")), "of {number}");
        if number > 0 {
            let of_all = format!(
                "1 of {} runs passed and were verified. Run {0} decides.",
                number + 1
            );
            assert!(first.contains(&of_all), "{word} of {number}");
        }
        assert_eq!(certificate.title == accepted, number == 0, "{word}");
        let alone = page(std::slice::from_ref(worst));
        let answer = format!("<b>{word}</b>");
        assert!(alone.html().contains(&answer), "{word} alone");
    }
    // What could not be compared does not change the answer, but it is no acceptance.
    let in_part = page(&[of(Verdict::Pass, 0, 1)]);
    assert!(in_part.html().contains("<b>PASS</b>"));
    assert_ne!(in_part.title, accepted);
    // Of several runs it is no pass.
    let passed = || of(Verdict::Pass, 0, 0);
    for (two, word) in [
        ([passed(), of(Verdict::Pass, 0, 1)], "INCONCLUSIVE"),
        ([of(Verdict::Built, 0, 0), passed()], "INCONCLUSIVE"),
        ([passed(), passed()], "PASS"),
    ] {
        let certificate = page(&two);
        let html = certificate.html();
        let (_, first) = html.split_once("<b>").unwrap();
        assert!(first.starts_with(&format!("{word}</b>")), "{word}");
        assert_eq!(certificate.title == accepted, word == "PASS");
    }
}
