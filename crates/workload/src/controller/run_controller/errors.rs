//! Errors, as the run controller takes them: which of them end the load, and what is said of them.

use super::RunController;
use crate::controller::error_log::Entry;
use crate::controller::host::VerifyReport;
use crate::controller::listener::RunListener;
use crate::controller::pending_errors::PendingError;
use crate::failure::{Failure, FailureKind};
use measure::result::VerifiedDatabase;

/// Errors that have a line of their own; after them their number is said now and then.
const MOST_LINES: u64 = 20;
/// Time between two lines about the number of errors.
const QUIET_NS: u64 = 30_000_000_000;

/// What was said of errors so far.
#[derive(Debug, Default)]
pub(super) struct ErrorNotes {
    lines: u64,
    /// The number that was said last, and when.
    said: Option<(u64, u64)>,
}

impl ErrorNotes {
    /// The line about a new error, one of `errors` so far; `None` when there have been many lines.
    fn line(&mut self, failure: &Failure, errors: u64, now_ns: u64) -> Option<String> {
        self.lines += 1;
        if self.lines <= MOST_LINES {
            return Some(format!("error: {failure}"));
        }
        let is_due = self
            .said
            .is_none_or(|(said, at_ns)| now_ns >= at_ns + QUIET_NS && errors > said);
        if !is_due {
            return None;
        }
        self.said = Some((errors, now_ns));
        Some(format!(
            "error: {errors} errors so far, the last one: {failure}"
        ))
    }
}

impl RunController {
    /// Takes in errors after which the run goes on.
    pub(super) fn enter_errors(
        &mut self,
        errors: Vec<PendingError>,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        for met in errors {
            let entry = self
                .account
                .count(met.database, &met.failure, met.times, now_ns);
            if entry == Entry::New {
                self.note_error(&met.failure, now_ns, listener);
            }
        }
    }

    pub(super) fn note_error(
        &mut self,
        failure: &Failure,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        let errors = self.account.errors();
        if let Some(line) = self.error_notes.line(failure, errors, now_ns) {
            listener.note(&line);
        }
    }

    /// Takes in what the pass over a database has read.
    pub(super) fn enter_verified(
        &mut self,
        database: usize,
        report: &VerifyReport,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        let errors = report.errors();
        for failure in &report.findings {
            let entry = self.account.count(Some(database), failure, 1, now_ns);
            if entry == Entry::New {
                self.note_error(failure, now_ns, listener);
            }
        }
        for &page in &report.unlisted_pages {
            self.account.count_unlisted_page(database, page, now_ns);
        }
        for (&class, &errors) in &report.unlisted {
            self.account.count_unlisted(database, class, errors);
        }
        if report.stopped {
            self.account
                .not_verified("The verification was stopped before its end.");
        }
        let name = self.plan.layout.databases.get(database);
        self.account.verified(VerifiedDatabase {
            name: name.cloned().unwrap_or_default(),
            pages: report.pages,
            bytes: report.bytes,
            duration_s: report.seconds,
            errors,
            log_files: report.log_files,
            log_segments: report.log_segments,
            pages_written: report.pages_written,
            pages_read_back: report.pages_read_back,
        });
    }

    /// Takes in that a database could not be verified.
    pub(super) fn enter_not_verified(&mut self, database: usize) {
        let name = self.plan.layout.databases.get(database);
        let name = name.map_or("a database", String::as_str);
        let why = format!("{name} could not be verified after the run.");
        self.account.cannot_verify(&why);
    }

    /// Takes in an error after which the run cannot go on.
    pub(super) fn fail(&mut self, failure: &Failure, now_ns: u64, listener: &mut dyn RunListener) {
        match failure.kind {
            // The verdict says it once more; every shard has come to the same instant.
            FailureKind::ZeroDelayLoop if self.account.has_failed() => {}
            FailureKind::ZeroDelayLoop => listener.note(&failure.error),
            _ => listener.note(&format!("error: {failure}")),
        }
        self.account.fail(failure, now_ns);
        self.is_failing = true;
    }

    /// Ends the load once there are more errors than the run goes on with.
    pub(super) fn apply_error_limit(&mut self, listener: &mut dyn RunListener) {
        let Some(limit) = self.plan.run.stop_after_errors else {
            return;
        };
        let is_load = self.stage.is_load();
        let allowed = self.plan.service_levels.allowed_errors;
        let errors = self.account.errors();
        if is_load && !self.is_failing && errors > allowed.saturating_add(limit) {
            self.is_failing = true;
            let text = format!(
                "The load was ended after {errors} errors, {allowed} of which are allowed \
                 (run.stop_after_errors is {limit}; --continue-on-errors goes on whatever their \
                 number)."
            );
            listener.note(&text);
            self.account.end_load(text);
        }
    }

    /// Whether the closed databases are verified now; if they should have been and cannot, the result
    /// says why.
    pub(super) fn verifies(&mut self) -> bool {
        if !self.plan.run.verify_after_run {
            return false;
        }
        match self.account.why_not_to_verify() {
            None => true,
            Some(why) => {
                self.account.not_verified(&why);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::IntegrityClass;

    #[test]
    fn very_many_errors_are_said_in_few_lines() {
        let mut notes = ErrorNotes::default();
        let failure = Failure::of_data(IntegrityClass::Checksum, "a.edb", "reading", "wrong");
        let second = 1_000_000_000;
        let lines =
            (0..3_600).filter_map(|number| notes.line(&failure, number + 1, number * second));
        let lines: Vec<String> = lines.collect();
        assert_eq!(
            lines.len() as u64,
            MOST_LINES + (3_600 - MOST_LINES).div_ceil(30)
        );
        assert_eq!(lines[0], "error: a.edb: wrong (reading)");
        assert!(
            lines[21].starts_with("error: 51 errors so far"),
            "{}",
            lines[21]
        );
    }
}
