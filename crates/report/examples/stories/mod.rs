//! The runs that the sample reports show.

use measure::result::{
    ErrorCount, ErrorKind, ErrorRecord, IntegrityClass, Verdict, VerificationResult,
    VerifiedDatabase,
};
use report::Run;

use crate::invented::Story;

/// Each corner case with the name of its file.
pub fn all() -> Vec<(&'static str, Run)> {
    vec![
        (
            "pass",
            Story {
                tuned: true,
                ..Story::default()
            }
            .run(),
        ),
        (
            "fail-device",
            Story {
                read_ms: 24.6,
                reads_per_second: 95.0,
                ..Story::default()
            }
            .run(),
        ),
        (
            "fail-log",
            Story {
                log_ms: 13.4,
                databases: 1,
                target_iops: None,
                ..Story::default()
            }
            .run(),
        ),
        (
            "spike",
            Story {
                spike_ms: 168.0,
                ..Story::default()
            }
            .run(),
        ),
        ("flash", flash()),
        ("many-databases", many()),
        (
            "one-day",
            Story {
                samples: 5_760,
                read_ms: 8.3,
                ..Story::default()
            }
            .run(),
        ),
        ("two-samples", two_samples()),
        ("interrupted", interrupted()),
        ("error", error()),
        ("hostile-names", hostile()),
        ("empty", Run::default()),
    ]
}

fn flash() -> Run {
    Story {
        name: "flash",
        read_ms: 0.31,
        log_ms: 0.09,
        reads_per_second: 5_200.0,
        processor_percent: 93.0,
        stalls_per_second: 6.5,
        target_iops: None,
        ..Story::default()
    }
    .run()
}

fn many() -> Run {
    Story {
        databases: 40,
        slow_database: Some(16),
        read_ms: 9.1,
        target_iops: None,
        ..Story::default()
    }
    .run()
}

fn two_samples() -> Run {
    let mut run = Story {
        samples: 2,
        databases: 1,
        target_iops: None,
        ..Story::default()
    }
    .run();
    let reason = "Only 2 samples were taken; at least 20 are needed to judge.";
    run.result.set_verdict(Verdict::Inconclusive, reason);
    if let Some(state) = &mut run.result.steady_state {
        state.steady = None;
        state.rounds.clear();
    }
    run
}

fn interrupted() -> Run {
    let mut run = Story {
        samples: 33,
        ..Story::default()
    }
    .run();
    run.result.set_verdict(
        Verdict::Interrupted,
        "The run was stopped after 8 min 15 s of 2 h.",
    );
    run
}

fn error() -> Run {
    let mut run = Story {
        samples: 60,
        ..Story::default()
    }
    .run();
    run.result.errors.push(ErrorRecord {
        at_s: 3_122.4,
        last_at_s: 3_122.4,
        kind: ErrorKind::Integrity,
        file: "/mnt/mail/db03/db03.edb".into(),
        page: Some(1_204_377),
        operation: "database read".into(),
        error: "the checksum of the page does not fit its contents".into(),
        class: Some(IntegrityClass::Checksum),
        ese_error: IntegrityClass::Checksum.ese_error(),
        database: "db03".into(),
        times: 12,
        ..ErrorRecord::default()
    });
    run.result.error_counts.push(ErrorCount {
        database: "db03".into(),
        class: Some(IntegrityClass::Checksum),
        errors: 1,
        times: 12,
    });
    let verified = ["db01", "db02", "db03"].map(|name| VerifiedDatabase {
        name: name.into(),
        pages: 1_310_720,
        bytes: 42_949_672_960,
        duration_s: 214.0,
        errors: u64::from(name == "db03"),
        pages_written: Some(812_044),
        pages_read_back: Some(812_044),
        log_files: 96,
        log_segments: 196_512,
    });
    run.result.verification = Some(VerificationResult {
        databases: verified.into(),
        ..VerificationResult::default()
    });
    run.result
        .warnings
        .push("The file system was 93 % full before the run.".into());
    run.result
        .set_verdict(Verdict::Error, "A page of db03 came back damaged.");
    run
}

fn hostile() -> Run {
    let mut run = Story {
        samples: 40,
        ..Story::default()
    }
    .run();
    let script = "</script><script>document.body.dataset.broken='1'</script>&\"'\u{1b}[31m";
    run.name = script.into();
    let result = &mut run.result;
    result.workload.name = script.into();
    result.host.name = script.into();
    result.databases[0].name = script.into();
    result.databases[0].path = script.into();
    result.target.databases[0].path = script.into();
    result.checks[0].name = script.into();
    result.checks[0].place = script.into();
    result.checks[0].rule = script.into();
    result.warnings.push(script.into());
    result
        .workload
        .settings
        .insert(script.into(), script.into());
    result.verdict_reason = script.into();
    result.host.devices[0].name = script.into();
    for row in run.timeline.iter_mut().flat_map(|one| &mut one.rows) {
        row.name = script.into();
    }
    run
}

/// Disks only, with a read cache, with a tier of flash: the same load on three configurations.
pub fn three_configurations() -> Vec<Run> {
    let story = |name, read_ms, reads_per_second, log_ms, seed| {
        Story {
            name,
            read_ms,
            reads_per_second,
            log_ms,
            seed,
            ..Story::default()
        }
        .run()
    };
    let mut runs = vec![
        story("disks only", 21.9, 118.0, 2.3, 1),
        story("read cache", 14.6, 149.0, 2.1, 2),
        story("flash tier", 6.8, 263.0, 1.4, 3),
    ];
    for (run, flash) in runs.iter_mut().zip(["none", "read-cache", "tier"]) {
        run.result
            .workload
            .settings
            .insert("array.flash".into(), flash.into());
    }
    runs
}
