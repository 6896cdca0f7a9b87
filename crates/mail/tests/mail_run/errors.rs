//! Runs that meet errors of the storage: which of them they go on after.

use super::support::{Outcome, profile, run_with};
use config::{ByteSize, TimeSpan};
use mail::profile::MailProfile;
use measure::result::{IntegrityClass, RunResult, Verdict};
use runtime::simulated::{Fault, FaultEffect};
use runtime::{IoFailure, IoOperation};

fn two_databases() -> MailProfile {
    let mut profile = profile();
    profile.mail.databases = 2;
    profile.run.duration = TimeSpan::seconds(30);
    profile.run.sample_interval = Some(TimeSpan::seconds(2));
    // Half a minute is too short to be steady.
    profile.run.steady_state.required = false;
    profile
}

fn run_with_fault(profile: &MailProfile, fault: Fault) -> RunResult {
    let Outcome { result, .. } = run_with(profile, |disk| disk.set_fault(fault));
    result
}

/// From now on each read, of one page or of many, gives one wrong bit.
fn bad_reads_of_the_second_database() -> Fault {
    let read = Fault::from_then_on(IoOperation::Read, 3_000, FaultEffect::FlipBit);
    read.on_file("mail-002.edb")
}

/// The run went its full length, and every database was verified.
fn assert_whole(result: &RunResult) {
    let length_s = result.duration_s;
    assert!((29.9..30.1).contains(&length_s), "{length_s}");
    let verification = result.verification.as_ref().unwrap();
    assert_eq!(verification.not_verified, "");
    let verified = verification
        .databases
        .iter()
        .filter(|one| one.pages > 1_000);
    assert_eq!(verified.count(), 2, "{verification:?}");
}

/// Without a bound it would be made again for ever, also after the end of the run.
#[test]
fn a_transaction_that_no_version_store_can_hold_ends_the_run() {
    let mut profile = two_databases();
    profile.engine.version_store = ByteSize::mib(1);
    profile.mail.mix.operations_per_transaction = 20_000;
    let Outcome { result, .. } = run_with(&profile, |_| ());
    assert_eq!(result.verdict, Verdict::Inconclusive);
    let reason = &result.verdict_reason;
    for part in [
        "The run ended early: A transaction needs more versions of rows",
        "set engine.version_store higher",
        "mail.mix.operations_per_transaction lower",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(result.duration_s < 30.0);
}

#[test]
fn an_error_within_the_allowance_does_not_end_the_run() {
    let mut profile = two_databases();
    profile.service_levels.allowed_errors = 1;
    let effects = [
        FaultEffect::FlipBit,
        FaultEffect::Fail(IoFailure::Device("no answer".into())),
    ];
    let classes = [IntegrityClass::Checksum, IntegrityClass::Unreadable];
    for (effect, class) in effects.into_iter().zip(classes) {
        let once = Fault::once(IoOperation::Read, 2_000, effect).on_file("mail-001.edb");
        let result = run_with_fault(&profile, once.clone());
        assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
        assert_whole(&result);
        let error = &result.errors[0];
        assert_eq!(result.errors.len(), 1, "{:#?}", result.errors);
        assert_eq!((error.class, error.times), (Some(class), 1), "{error:?}");
        assert!(
            error.page.is_some() && error.file.contains("mail-001.edb"),
            "{error:?}"
        );
        assert!(
            !error.ended_run && error.database == "mail-001",
            "{error:?}"
        );
        let reason = format!(
            "There was 1 error of 1 allowed: {} in mail-001.",
            class.label()
        );
        assert!(
            result.verdict_reason.ends_with(&reason),
            "{}",
            result.verdict_reason
        );
        // One more than is allowed is no pass, and nothing else has changed.
        let strict = MailProfile {
            service_levels: workload::profile::Levels {
                allowed_errors: 0,
                ..profile.service_levels
            },
            ..profile.clone()
        };
        let result = run_with_fault(&strict, once);
        assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
        assert_whole(&result);
    }
}

#[test]
fn the_load_ends_early_when_that_is_asked_for_and_everything_is_verified() {
    let mut profile = two_databases();
    profile.run.stop_after_errors = Some(0);
    let result = run_with_fault(&profile, bad_reads_of_the_second_database());
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    assert!(result.duration_s < 29.0, "{}", result.duration_s);
    let verification = result.verification.as_ref().unwrap();
    assert_eq!(verification.not_verified, "");
    let errors: Vec<u64> = verification
        .databases
        .iter()
        .map(|one| one.errors)
        .collect();
    assert!(
        errors.len() == 2 && errors[0] == 0 && errors[1] > 20,
        "{errors:?}"
    );
    let text = "The load was ended after";
    assert!(
        result.warnings.iter().any(|one| one.starts_with(text)),
        "{:?}",
        result.warnings
    );
    let error = &result.errors[0];
    assert!(error.file.contains("mail-002.edb"), "{error:?}");
    assert!(
        error.page.is_some() && error.error.contains("damaged"),
        "{error:?}"
    );
}

#[test]
fn a_run_goes_on_whatever_the_number_of_errors() {
    let mut profile = two_databases();
    let result = run_with_fault(&profile, bad_reads_of_the_second_database());
    let ended_early = result
        .warnings
        .iter()
        .any(|one| one.starts_with("The load was ended"));
    let listed = result.errors.len();
    profile.run.stop_after_errors = None;
    let result = run_with_fault(&profile, bad_reads_of_the_second_database());
    assert_eq!(result.verdict, Verdict::Error);
    let all = result.error_count();
    assert!(all > 100 && listed <= 501, "{all} errors, {listed} listed");
    // Unless a page was missing that a rollback needed: then nothing can follow.
    if result.ending_error().is_none() {
        assert_whole(&result);
    }
    assert!(ended_early || result.error_count() <= 1_000);
}

#[test]
fn a_run_that_a_failed_write_has_ended_never_passes() {
    let mut profile = two_databases();
    profile.service_levels.allowed_errors = 1_000;
    let effect = FaultEffect::Fail(IoFailure::Device("no answer".into()));
    for (file, nth) in [("mail-001.edb", 2_000), ("log0", 500)] {
        let write = Fault::from_then_on(IoOperation::Write, nth, effect.clone()).on_file(file);
        let result = run_with_fault(&profile, write);
        assert_eq!(
            (result.verdict, result.exit_status),
            (Verdict::Error, 4),
            "{file}"
        );
        let ending = result.ending_error();
        let ending = ending.unwrap_or_else(|| panic!("{file}: {:#?}", result.errors));
        assert_eq!(ending.class, Some(IntegrityClass::Unwritable), "{ending:?}");
        let reason = &result.verdict_reason;
        assert!(reason.contains("could not go on"), "{reason}");
        // The other database is whole, and the one that failed is read as it is.
        let verification = result.verification.as_ref().unwrap();
        assert_eq!(verification.databases.len(), 2, "{verification:?}");
    }
}
