//! The answer of a run as one sentence, the same on the terminal, in the report and in `result.json`.

mod without_answer;

use crate::display::number::{bounded, bytes, count, duration, latency, limit, quantity};
use crate::display::tuning_outcome;
use crate::metric::Unit;
use crate::result::{CheckId, ErrorKind, RunKind, RunResult, TargetPath, TargetResult, Verdict};

/// A shorter run is no performance test as Jetstress has it.
const SIGN_OFF_S: f64 = 2.0 * 3600.0;

/// The verdict in capitals, such as `PASS`; of a failure with its kind behind it.
#[must_use]
pub fn word(result: &RunResult) -> &'static str {
    match result.verdict {
        Verdict::Error if !result.kind.is_of_workload() => "ERROR",
        Verdict::Interrupted if !result.complete => "UNFINISHED",
        Verdict::Interrupted => "INTERRUPTED",
        _ if result.kind == RunKind::Trace => "REPLAYED",
        _ if result.kind == RunKind::Served => "SERVED",
        Verdict::Pass => "PASS",
        Verdict::Built => "BUILT",
        Verdict::Fail => "FAIL (performance)",
        Verdict::Inconclusive => "INCONCLUSIVE",
        Verdict::Error => word_of_error(result),
    }
}

/// The word for a run with errors: whether it is the storage or its data that failed.
fn word_of_error(result: &RunResult) -> &'static str {
    let of_data = |kind| {
        matches!(
            kind,
            ErrorKind::Io | ErrorKind::Integrity | ErrorKind::Inconsistent
        )
    };
    match result.ended_by() {
        Some(kind) if !of_data(kind) && kind != ErrorKind::Unknown => "ERROR",
        _ => "FAIL (data)",
    }
}

/// The verdict with the answer behind it. Of a run that was measured: what was asked, the load that was
/// reached, the latencies with their limits, and the storage. `load` is what the workload itself calls its
/// load, if it does.
#[must_use]
pub fn compose(result: &RunResult, load: Option<&str>) -> String {
    let word = word(result);
    let is_answer = matches!(
        result.verdict,
        Verdict::Pass | Verdict::Fail | Verdict::Inconclusive
    );
    let tests = of_tests(result);
    let has_tests_alone = !result.has_measured_phase() && !tests.is_empty();
    if is_answer && result.kind.is_of_workload() && has_tests_alone {
        let name = &result.workload.name;
        return format!("{word}: {name}: {tests}, on {}.", storage(result));
    }
    if !is_answer || !result.kind.is_of_workload() || result.duration_s <= 0.0 {
        return format!("{word}: {}", without_answer::sentence(result));
    }
    let asked = match result.workload.question.as_str() {
        "" => result.workload.name.as_str(),
        question => question,
    };
    let mut text = format!(
        "{word}: {asked}: {}, for {}",
        reached(result, load, asked),
        duration(result.duration_s)
    );
    let levels = [
        (CheckId::DatabaseReadAverage, "database read latency"),
        (CheckId::LogWriteAverage, "log write latency"),
    ];
    for (id, name) in levels {
        let checks = result.checks.iter().filter(|check| check.id == id);
        let measured = checks.filter_map(|check| Some((check.value?, check)));
        if let Some((value, check)) = measured.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let limit = bounded(check.limit, check.unit);
            text += &format!(", {name} {} average (limit {limit})", latency(value));
        }
    }
    if !tests.is_empty() {
        text += &format!("; {tests}");
    }
    text += &format!(", on {}", storage(result));
    for note in notes(result) {
        text += &format!("; {note}");
    }
    text + "."
}

/// What backup and soft recovery have found, in short; empty without them.
#[must_use]
pub fn of_tests(result: &RunResult) -> String {
    let backup = result.backup.as_ref().and_then(|backup| {
        let rate = quantity(backup.bytes_per_second()?, Unit::BytesPerSecond);
        Some(format!("backup {rate}"))
    });
    let recovery = result.recovery.as_ref().and_then(|recovery| {
        let time = latency(recovery.s_per_log_file()? * 1e3);
        Some(format!("soft recovery {time} per log file"))
    });
    let parts: Vec<String> = backup.into_iter().chain(recovery).collect();
    parts.join(", ")
}

/// The rate against its target, without what was `asked` already.
fn reached(result: &RunResult, load: Option<&str>, asked: &str) -> String {
    let throughput = &result.throughput;
    let achieved = throughput.achieved_iops;
    if let Some(outcome) = result.tuning.as_ref().and_then(tuning_outcome) {
        let held = result
            .tuning
            .as_ref()
            .and_then(|tuning| tuning.held_percent);
        let held = held.filter(|percent| *percent < 100.0);
        let held = held.map_or(String::new(), |percent| {
            format!(" with {} % of it held", limit(percent))
        });
        return format!(
            "{outcome}; achieved {}{held}",
            quantity(achieved, Unit::Iops)
        );
    }
    match (load, throughput.target_iops) {
        (Some(load), None) => {
            let known = load
                .strip_suffix(')')
                .and_then(|load| load.rsplit_once(" ("));
            let known = known.filter(|(_, clients)| asked.starts_with(clients));
            let load = known.map_or(load, |(rate, _)| rate);
            load.replace(" (", ", ").replace(')', "")
        }
        (_, None) => quantity(achieved, Unit::Iops),
        (_, Some(target)) => {
            let target = bounded(target, Unit::Iops);
            let target = target.strip_suffix(" IOPS").unwrap_or(&target);
            let achieved = quantity(achieved, Unit::Iops);
            format!("achieved {achieved}, target {target}")
        }
    }
}

fn storage(result: &RunResult) -> String {
    if !result.ranks.is_empty() {
        return format!("the storage of {}", result.host.name);
    }
    if let Some(array) = &result.array {
        return format!("the modelled array {}", array.name);
    }
    let TargetResult {
        databases, logs, ..
    } = &result.target;
    let all = |places: &[TargetPath]| {
        let places = places.iter().map(|place| described(result, place));
        places.collect::<Vec<_>>().join(" and ")
    };
    // Their free space may have changed between the two readings.
    let is_same = (logs.iter().map(|one| &one.path)).eq(databases.iter().map(|one| &one.path));
    match (databases.is_empty(), logs.is_empty() || is_same) {
        (true, _) => "storage that is not known here".to_owned(),
        (false, true) => all(databases),
        (false, false) => format!("{}, logs on {}", all(databases), all(logs)),
    }
}

/// A place with its device: `/mnt/mail (nvme0n1, Samsung SSD 980, 932 GiB)`.
fn described(result: &RunResult, place: &TargetPath) -> String {
    let named = place.device.as_deref().unwrap_or_default();
    let device = result.host.devices.iter().find(|one| one.name == named);
    let Some(device) = device else {
        let file_system = match place.file_system.as_str() {
            "" => String::new(),
            file_system => format!("{file_system}, "),
        };
        let size = bytes(place.capacity_bytes as f64);
        return format!("{} ({file_system}{size})", place.path);
    };
    let name = match place.path.ends_with(&format!("/{}", device.name)) {
        true => "",
        false => device.name.as_str(),
    };
    let size = bytes(device.size_bytes as f64);
    let parts = [name, device.model.as_str(), &size];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{} ({})", place.path, parts.join(", "))
}

/// What a reader must know before using the answer.
#[must_use]
pub fn notes(result: &RunResult) -> Vec<String> {
    let mut notes = Vec::new();
    if result.verdict == Verdict::Pass && !result.causes.is_empty() {
        notes.push("measured with data that fits a cache, which was allowed".to_owned());
    }
    let errors = result.error_count();
    // Those that end a run, or are more than is allowed, are its verdict.
    if result.verdict != Verdict::Error && result.ending_error().is_none() && errors > 0 {
        let noun = match errors {
            1 => "error that was",
            _ => "errors that were",
        };
        let counts = crate::service_level::describe_counts(&result.error_counts);
        let errors = count(errors);
        notes.push(format!("with {errors} {noun} allowed: {counts}"));
    }
    match result.interruptions.len() {
        0 => {}
        1 => notes.push("interrupted once and resumed".to_owned()),
        times => notes.push(format!("interrupted {times} times and resumed")),
    }
    let lost_s: f64 = result.interruptions.iter().map(|one| one.lost_s).sum();
    if lost_s > 0.0 {
        notes.push(format!(
            "samples of {} lost",
            duration((lost_s * 10.0).ceil() / 10.0)
        ));
    }
    let is_judged = result.kind == RunKind::Run && result.has_measured_phase();
    // The orders that begin and end a phase take some milliseconds.
    if is_judged && result.duration_s.round() < SIGN_OFF_S {
        notes.push("too short to sign off storage (2 h)".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{
        BackedUpDatabase, BackupResult, Check, DeviceResult, ErrorRecord, RecoveredDatabase,
        RecoveryResult, SearchEnd, TestKind, TuningResult, TuningStep,
    };

    fn measured() -> RunResult {
        let mut result = RunResult::new();
        result.workload.question = "4,000 mailboxes of 2 GiB at 0.12 IOPS each".to_owned();
        result.duration_s = 7_200.0;
        result.throughput.achieved_iops = 480.2;
        result.throughput.target_iops = Some(480.0);
        let check = |place, value| {
            let id = CheckId::DatabaseReadAverage;
            Check::of(id, place, 20.0, Some(value), String::new())
        };
        result.checks = vec![check("db1", 9.0), check("db2", 11.2)];
        result.target.databases = vec![TargetPath {
            path: "/dev/sdb".to_owned(),
            device: Some("sdb".to_owned()),
            ..TargetPath::default()
        }];
        result.host.devices = vec![DeviceResult {
            name: "sdb".to_owned(),
            model: "Maker Model".to_owned(),
            size_bytes: 4 << 40,
            ..DeviceResult::default()
        }];
        result.set_verdict(Verdict::Pass, "All 2 checks passed.");
        result
    }

    #[test]
    fn a_part_of_the_maximum_that_was_held_is_named() {
        let mut result = measured();
        let tuning = TuningResult {
            finds_maximum: true,
            maximum_iops: Some(960.0),
            held_percent: Some(50.0),
            ended: SearchEnd::Time,
            steps: vec![TuningStep::default()],
            ..TuningResult::default()
        };
        result.tuning = Some(tuning.clone());
        let text = compose(&result, None);
        let held = "; achieved 480 IOPS with 50 % of it held, for 2 h";
        assert!(text.contains(held), "{text}");
        result.tuning = Some(TuningResult {
            held_percent: Some(100.0),
            ..tuning
        });
        let text = compose(&result, None);
        assert!(text.contains("achieved 480 IOPS, for 2 h"), "{text}");
    }

    #[test]
    fn tests_without_a_measured_phase_have_an_answer() {
        let mut result = measured();
        result.duration_s = 0.0;
        let text = compose(&result, None);
        assert!(text.starts_with("PASS: The storage meets"), "{text}");
        result.tests = vec![TestKind::Backup, TestKind::Recovery];
        result.workload.name = "exchange-2013".to_owned();
        result.backup = Some(BackupResult {
            duration_s: 2.0,
            databases: vec![BackedUpDatabase {
                bytes: 512 << 20,
                ..BackedUpDatabase::default()
            }],
            ..BackupResult::default()
        });
        result.recovery = Some(RecoveryResult {
            databases: vec![RecoveredDatabase {
                log_files: 500,
                duration_s: 10.0,
                ..RecoveredDatabase::default()
            }],
            ..RecoveryResult::default()
        });
        let text = compose(&result, None);
        let expected =
            "PASS: exchange-2013: backup 256 MiB/s, soft recovery 20.0 ms per log file, on";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn the_answer_names_question_load_latency_and_storage() {
        let mut result = measured();
        assert_eq!(
            compose(&result, None),
            "PASS: 4,000 mailboxes of 2 GiB at 0.12 IOPS each: achieved 480 IOPS, target 480, for \
             2 h, database read latency 11.2 ms average (limit 20 ms), on /dev/sdb (Maker Model, 4 TiB)."
        );
        result.duration_s = 90.0;
        result.throughput.target_iops = None;
        result.host.devices.clear();
        result.verdict = Verdict::Fail;
        let text = compose(&result, Some("12 trades/s"));
        assert!(text.starts_with("FAIL (performance): "), "{text}");
        assert!(text.contains("each: 12 trades/s, for 1 min 30 s"), "{text}");
        for (clients, said) in [("9 users", ", 9 users"), ("4,000 mailboxes", "")] {
            let text = compose(&result, Some(&format!("12 trades/s ({clients})")));
            let said = format!("each: 12 trades/s{said}, for 1 min 30 s");
            assert!(text.contains(&said), "{text}");
        }
        assert!(
            text.ends_with("; too short to sign off storage (2 h)."),
            "{text}"
        );
    }

    #[test]
    fn places_are_named_with_what_is_known_of_them() {
        let place = |path: &str, device: &str, file_system: &str| TargetPath {
            path: path.to_owned(),
            device: Some(device.to_owned()),
            file_system: file_system.to_owned(),
            capacity_bytes: 1 << 40,
            ..TargetPath::default()
        };
        let (disk, mail, share, nothing) = (
            place("/dev/sdb", "sdb", ""),
            place("/mnt/mail", "sdb", "ext4"),
            place("/mnt/share", "", "nfs"),
            place("/mnt/x", "sdz", ""),
        );
        for (databases, logs, text) in [
            (vec![], vec![mail.clone()], "storage that is not known here"),
            (vec![disk.clone()], vec![], "/dev/sdb (Maker Model, 4 TiB)"),
            (
                vec![mail.clone(), share],
                vec![],
                "/mnt/mail (sdb, Maker Model, 4 TiB) and /mnt/share (nfs, 1 TiB)",
            ),
            (
                vec![nothing.clone()],
                vec![nothing.clone()],
                "/mnt/x (1 TiB)",
            ),
            (
                vec![nothing],
                vec![mail],
                "/mnt/x (1 TiB), logs on /mnt/mail (sdb, Maker Model, 4 TiB)",
            ),
        ] {
            let mut result = measured();
            result.target.databases = databases;
            result.target.logs = logs;
            let answer = compose(&result, None);
            assert!(answer.ends_with(&format!(", on {text}.")), "{answer}");
        }
        let mut result = measured();
        result.array = Some(crate::result::ArrayResult {
            name: "msa2050".to_owned(),
            ..Default::default()
        });
        assert!(compose(&result, None).ends_with(", on the modelled array msa2050."));
    }

    #[test]
    fn what_limits_the_answer_stands_behind_it() {
        let error = |class, errors| crate::result::ErrorCount {
            class: Some(class),
            errors,
            ..Default::default()
        };
        let class = crate::result::IntegrityClass::Hung;
        let short = "too short to sign off storage (2 h)";
        let end = |change: &dyn Fn(&mut RunResult)| {
            let mut result = measured();
            change(&mut result);
            let answer = compose(&result, None);
            let (_, end) = answer.split_once("4 TiB)").unwrap();
            end.to_owned()
        };
        assert_eq!(end(&|_| ()), ".", "2 h are enough");
        assert_eq!(end(&|one| one.duration_s = 7_199.98), ".", "to the second");
        assert_eq!(end(&|one| one.duration_s = 7_199.0), format!("; {short}."));
        assert_eq!(
            end(&|one| {
                one.duration_s = 7_199.0;
                one.kind = RunKind::Prediction;
            }),
            "."
        );
        assert_eq!(
            end(&|one| one.error_counts = vec![error(class, 1)]),
            "; with 1 error that was allowed: hung request."
        );
        assert_eq!(
            end(&|one| one.error_counts = vec![error(class, 2)]),
            "; with 2 errors that were allowed: 2 x hung request."
        );
        let cached = |one: &mut RunResult| one.causes = vec![crate::result::Cause::default()];
        assert_eq!(
            end(&cached),
            "; measured with data that fits a cache, which was allowed."
        );
        // Of the cache the reason of a run that did not pass speaks.
        let open = |one: &mut RunResult| {
            cached(one);
            one.error_counts = vec![error(class, 2)];
            one.verdict = Verdict::Inconclusive;
        };
        assert_eq!(
            end(&open),
            "; with 2 errors that were allowed: 2 x hung request."
        );
        assert_eq!(
            end(&|one| {
                open(one);
                one.errors = vec![ErrorRecord {
                    ended_run: true,
                    ..ErrorRecord::default()
                }];
            }),
            "."
        );
    }

    #[test]
    fn each_verdict_has_its_word() {
        let word_of = |verdict, complete, ended_by: Option<ErrorKind>| {
            let mut result = measured();
            (result.verdict, result.complete) = (verdict, complete);
            result
                .errors
                .extend(ended_by.map(|kind| crate::result::ErrorRecord {
                    kind,
                    ended_run: true,
                    ..Default::default()
                }));
            word(&result)
        };
        for (verdict, text) in [
            (Verdict::Pass, "PASS"),
            (Verdict::Built, "BUILT"),
            (Verdict::Fail, "FAIL (performance)"),
            (Verdict::Inconclusive, "INCONCLUSIVE"),
            (Verdict::Interrupted, "INTERRUPTED"),
            (Verdict::Error, "FAIL (data)"),
        ] {
            assert_eq!(word_of(verdict, true, None), text);
        }
        assert_eq!(word_of(Verdict::Interrupted, false, None), "UNFINISHED");
        for (kind, text) in [
            (ErrorKind::Io, "FAIL (data)"),
            (ErrorKind::Integrity, "FAIL (data)"),
            (ErrorKind::Inconsistent, "FAIL (data)"),
            (ErrorKind::Unknown, "FAIL (data)"),
            (ErrorKind::OutOfSpace, "ERROR"),
            (ErrorKind::HalfWritten, "ERROR"),
            (ErrorKind::Internal, "ERROR"),
        ] {
            assert_eq!(word_of(Verdict::Error, true, Some(kind)), text, "{kind:?}");
        }
    }
}
