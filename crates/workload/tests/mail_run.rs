//! Whole mail runs on the real engine over simulated disks, in virtual time.

#[path = "mail_run/support.rs"]
mod support;

use measure::result::Verdict;
use support::{Outcome, profile, run};
use workload::profile::TimeSpan;

#[test]
fn three_databases_go_from_nothing_to_a_verdict() {
    let mut profile = profile();
    // A minute is too short to be steady: the caches and the databases still grow.
    profile.run.steady_state.required = false;
    let Outcome { result, .. } = run(&profile);
    assert_eq!(result.errors, [], "{:#?}", result.errors);
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
    for database in &result.databases {
        assert!(
            database.reads.count > 0 && database.writes.count > 0,
            "{database:#?}"
        );
        assert!(
            database.log_writes.count > 0 && database.size_end_bytes >= database.size_begin_bytes
        );
        assert_eq!(database.reads.errors + database.writes.errors, 0);
    }
    assert!(
        (59.9..60.1).contains(&result.duration_s),
        "{}",
        result.duration_s
    );
}

#[test]
fn one_seed_is_one_run_on_the_engine_too() {
    let mut profile = profile();
    profile.run.duration = TimeSpan::seconds(10);
    let json = || serde_json::to_string(&run(&profile).result).unwrap();
    assert_eq!(json(), json());
}
