//! Settings whose effect no prediction shows, each with the test that shows it.

/// A setting that no prediction shows.
pub struct Elsewhere {
    pub path: &'static str,
    /// Why a prediction does not show it.
    pub why: &'static str,
    /// The test that shows its effect: a file below `crates`, and a function in it.
    pub test: (&'static str, &'static str),
}

const fn elsewhere(
    path: &'static str,
    why: &'static str,
    file: &'static str,
    function: &'static str,
) -> Elsewhere {
    let test = (file, function);
    Elsewhere { path, why, test }
}

const HERE: &str = "proofload/tests/settings.rs";
const REPLICATION: &str = "mail/tests/mail_run/replication.rs";
const ENGINE: &str = "edb/tests/settings.rs";
const STORAGE_TESTS: &str = "mail/tests/mail_run/storage_tests.rs";
const PERFORMANCE_ONLY: &str = "a prediction is one of the performance test";

/// Settings of a mail server.
pub const MAIL_ELSEWHERE: [Elsewhere; 22] = [
    elsewhere(
        "kind",
        "another kind is another workload",
        HERE,
        "kinds_are_distinguished",
    ),
    elsewhere(
        "mail.load_weights",
        "there is one weight for each database",
        "mail/src/run_tests/sessions.rs",
        "weights_divide_the_load",
    ),
    elsewhere(
        "mail.other_io_percent",
        "nobody else uses a modelled array",
        "measure/src/attribution/tests/other_io.rs",
        "the_share_of_others_that_is_too_much_is_a_setting",
    ),
    elsewhere(
        "mail.item.compressible_percent",
        "predictions have no contents",
        HERE,
        "contents_are_compressible",
    ),
    elsewhere(
        "engine.cache_minimum_per_database",
        "predictions have no shortage of memory",
        "mail/tests/mail_run/caches.rs",
        "a_cache_shrinks_while_memory_is_short",
    ),
    elsewhere(
        "engine.version_store",
        "predictions keep no versions",
        ENGINE,
        "every_setting_has_an_effect",
    ),
    elsewhere(
        "engine.torn_pages",
        "predictions have no page images",
        ENGINE,
        "every_setting_has_an_effect",
    ),
    elsewhere(
        "maintenance.log_read_back_rate",
        "predictions read no log back",
        ENGINE,
        "every_setting_has_an_effect",
    ),
    elsewhere(
        "maintenance.header_read_back_interval",
        "predictions read no header back",
        ENGINE,
        "every_setting_has_an_effect",
    ),
    elsewhere(
        "run.verify_after_run",
        "predictions have no contents",
        HERE,
        "pages_are_verified_after_a_run",
    ),
    elsewhere(
        "run.stop_after_errors",
        "predictions meet no damage",
        "mail/tests/mail_run/errors.rs",
        "the_load_ends_early_when_that_is_asked_for_and_everything_is_verified",
    ),
    elsewhere(
        "run.hung_request_after",
        "predicted requests never hang",
        "workload/src/controller/hung.rs",
        "the_limit_decides_which_requests_are_reported",
    ),
    elsewhere(
        "run.io_driver",
        "predictions have no driver",
        "cli/tests/io_driver.rs",
        "a_driver_that_is_asked_for_is_the_only_one",
    ),
    elsewhere(
        "run.warm_up.until_steady",
        "predictions do not wait for a steady load",
        "mail/src/run_tests.rs",
        "a_warm_up_waits_for_a_steady_load_where_asked_to",
    ),
    elsewhere(
        "test.kind",
        PERFORMANCE_ONLY,
        STORAGE_TESTS,
        "all_tests_follow_each_other_on_the_same_databases",
    ),
    elsewhere(
        "backup.pages_per_read",
        PERFORMANCE_ONLY,
        STORAGE_TESTS,
        "reads_of_a_backup_are_as_large_and_as_many_as_set",
    ),
    elsewhere(
        "backup.reads_outstanding",
        PERFORMANCE_ONLY,
        STORAGE_TESTS,
        "reads_of_a_backup_are_as_large_and_as_many_as_set",
    ),
    elsewhere(
        "backup.under_load",
        PERFORMANCE_ONLY,
        STORAGE_TESTS,
        "copies_made_under_load_are_whole",
    ),
    elsewhere(
        "recovery.log_files",
        PERFORMANCE_ONLY,
        STORAGE_TESTS,
        "recovery_replays_as_many_log_files_as_set",
    ),
    elsewhere(
        "recovery.background_maintenance",
        PERFORMANCE_ONLY,
        STORAGE_TESTS,
        "background_maintenance_is_off_in_recovery_unless_set",
    ),
    elsewhere(
        "passive_copies.checkpoint_depth",
        PERFORMANCE_ONLY,
        REPLICATION,
        "a_deeper_checkpoint_of_the_copy_writes_less",
    ),
    elsewhere(
        "passive_copies.cache_percent",
        PERFORMANCE_ONLY,
        REPLICATION,
        "a_larger_cache_of_the_copy_reads_less",
    ),
];

/// Settings of a brokerage.
pub const BROKERAGE_ELSEWHERE: [Elsewhere; 11] = [
    elsewhere(
        "kind",
        "another kind is another workload",
        HERE,
        "kinds_are_distinguished",
    ),
    elsewhere(
        "brokerage.checked_rows",
        "predictions have no rows",
        "brokerage/tests/data_integrity/at_rest.rs",
        "checked_rows_decide_whether_alterations_at_rest_are_found",
    ),
    elsewhere(
        "brokerage.service_levels.other_io_percent",
        "nobody else uses a modelled array",
        "brokerage/src/run/start.rs",
        "the_limit_of_other_io_decides_whether_it_is_a_doubt",
    ),
    elsewhere(
        "service_levels.achieved_margin_fraction",
        "predictions hold no rate",
        "brokerage/src/run/start.rs",
        "the_margin_decides_whether_a_rate_was_achieved",
    ),
    elsewhere(
        "run.held_rate",
        "predictions refuse it",
        HERE,
        "what_only_servers_have_is_refused",
    ),
    elsewhere(
        "run.arrivals",
        "predictions hold no rate",
        "brokerage/src/run/arrivals.rs",
        "spacing_decides_when_transactions_are_due",
    ),
    elsewhere(
        "run.verify_after_run",
        "servers verify their pages themselves, so another value is refused",
        HERE,
        "what_only_servers_have_is_refused",
    ),
    elsewhere(
        "run.stop_after_errors",
        "servers end a run at the first error, so another value is refused",
        HERE,
        "what_only_servers_have_is_refused",
    ),
    elsewhere(
        "run.hung_request_after",
        "servers make their requests themselves, so another value is refused",
        HERE,
        "what_only_servers_have_is_refused",
    ),
    elsewhere(
        "run.io_driver",
        "servers make their requests themselves, so another value is refused",
        HERE,
        "what_only_servers_have_is_refused",
    ),
    elsewhere(
        "run.warm_up.until_steady",
        "predictions do not wait for a steady load",
        "mail/src/run_tests.rs",
        "a_warm_up_waits_for_a_steady_load_where_asked_to",
    ),
];
