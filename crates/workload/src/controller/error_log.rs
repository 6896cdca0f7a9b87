//! All errors of a run: each listed once, counted by database and class, in bounded memory.

use super::error_key::ErrorKey;
use crate::failure::{Failure, FailureKind};
use measure::result::{ErrorCount, ErrorKind, ErrorRecord, IntegrityClass};
use measure::sample::Layout;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Errors that are listed one by one.
const MOST_LISTED: usize = 500;
/// Errors that are known again when they are met again; further ones count each time.
const MOST_KNOWN: usize = 1_000_000;

/// What an error was to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It was not known before.
    New,
    /// It was met again.
    Known,
}

/// Lists and counts errors.
#[derive(Default)]
pub struct ErrorLog {
    layout: Arc<Layout>,
    records: Vec<ErrorRecord>,
    /// Where a known error is listed, if it is.
    known: BTreeMap<ErrorKey, Option<usize>>,
    counts: BTreeMap<(Option<usize>, Option<IntegrityClass>), Counted>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    errors: u64,
    times: u64,
}

impl ErrorLog {
    /// An empty log for databases of these names.
    #[must_use]
    pub fn new(layout: Arc<Layout>) -> Self {
        Self {
            layout,
            ..Self::default()
        }
    }

    /// Goes on with the errors of a run that was interrupted. One of them that is met again counts again.
    pub fn go_on(&mut self, records: &[ErrorRecord], counts: &[ErrorCount]) {
        self.records.extend_from_slice(records);
        for count in counts {
            let names = &self.layout.databases;
            let database = names.iter().position(|name| *name == count.database);
            let counted = self.counts.entry((database, count.class)).or_default();
            counted.errors += count.errors;
            counted.times += count.times;
        }
    }

    /// Enters an error that was met so many times until now.
    pub fn add(
        &mut self,
        database: Option<usize>,
        failure: &Failure,
        times: u64,
        now_ns: u64,
    ) -> Entry {
        let key = ErrorKey::of(database, failure);
        let known = self.known.get(&key).copied();
        // Whoever has met it, it was met once.
        let times = if known.is_some() { times } else { times.max(1) };
        if ErrorKind::from(failure.kind).is_of_data() {
            let count = self.counts.entry((database, failure.class())).or_default();
            count.times += times;
            count.errors += u64::from(known.is_none());
        }
        if let Some(place) = known {
            if let Some(record) = place.and_then(|place| self.records.get_mut(place)) {
                record.times += times;
                record.last_at_s = now_ns as f64 / 1e9;
                take_over(record, failure);
            }
            return Entry::Known;
        }
        let mut place = None;
        // What ends a run is always listed: the verdict names it.
        if self.records.len() < MOST_LISTED || failure.ends_run() {
            place = Some(self.records.len());
            let record = self.record(database, failure, times, now_ns);
            self.records.push(record);
        }
        if self.known.len() < MOST_KNOWN {
            self.known.insert(key, place);
        }
        Entry::New
    }

    /// Counts a wrong page that whoever met it has not listed.
    pub fn add_unlisted_page(
        &mut self,
        database: usize,
        class: IntegrityClass,
        page: u64,
        now_ns: u64,
    ) {
        let key = ErrorKey::of_page(database, class, page);
        let known = self.known.get(&key).copied();
        let count = self
            .counts
            .entry((Some(database), Some(class)))
            .or_default();
        count.times += 1;
        count.errors += u64::from(known.is_none());
        match known {
            Some(place) => {
                let listed = place.and_then(|place| self.records.get_mut(place));
                if let Some(record) = listed {
                    record.times += 1;
                    record.last_at_s = now_ns as f64 / 1e9;
                }
            }
            None if self.known.len() < MOST_KNOWN => drop(self.known.insert(key, None)),
            None => {}
        }
    }

    /// Counts errors that whoever met them has not listed.
    pub fn add_unlisted(&mut self, database: usize, class: IntegrityClass, errors: u64) {
        let count = self
            .counts
            .entry((Some(database), Some(class)))
            .or_default();
        count.errors += errors;
        count.times += errors;
    }

    /// Enters an error after which the run cannot go on. A database that takes no more work since a
    /// request failed is no further error: then that request has ended the run.
    pub fn add_ending(&mut self, database: Option<usize>, failure: &Failure, now_ns: u64) {
        let name = self.name(database);
        if failure.kind == FailureKind::Halted {
            let failed = self.records.iter_mut().find(|record| {
                let class = record.class;
                let is_cause = class == Some(IntegrityClass::Unwritable)
                    || failure.class().is_some() && class == failure.class();
                is_cause && (database.is_none() || record.database == name)
            });
            if let Some(record) = failed {
                record.ended_run = true;
                return;
            }
        }
        if failure.class() == Some(IntegrityClass::Hung) {
            let mut hung = self
                .records
                .iter_mut()
                .filter(|one| one.class == failure.class());
            if let Some(record) = hung.find(|one| one.answered != Some(true)) {
                record.ended_run = true;
                return;
            }
        }
        self.add(database, failure, 1, now_ns);
        let key = ErrorKey::of(database, failure);
        let place = self.known.get(&key).copied().flatten();
        let place = place.unwrap_or(self.records.len().saturating_sub(1));
        if let Some(record) = self.records.get_mut(place) {
            record.ended_run = true;
        }
    }

    /// The errors that are listed.
    #[must_use]
    pub fn records(&self) -> &[ErrorRecord] {
        &self.records
    }

    /// Different errors, those that are not listed included.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.counts.values().map(|count| count.errors).sum()
    }

    /// The number of errors and of times they were met, by database and class.
    #[must_use]
    pub fn counts(&self) -> Vec<ErrorCount> {
        let count = |(&(database, class), count): (&(_, _), &Counted)| ErrorCount {
            database: self.name(database),
            class,
            errors: count.errors,
            times: count.times,
        };
        self.counts.iter().map(count).collect()
    }

    fn name(&self, database: Option<usize>) -> String {
        let name = database.and_then(|database| self.layout.databases.get(database));
        name.cloned().unwrap_or_default()
    }

    fn record(
        &self,
        database: Option<usize>,
        failure: &Failure,
        times: u64,
        now_ns: u64,
    ) -> ErrorRecord {
        let at_s = now_ns as f64 / 1e9;
        let mut record = ErrorRecord {
            at_s,
            last_at_s: at_s,
            times,
            kind: failure.kind.into(),
            database: self.name(database),
            file: failure.file.clone(),
            page: failure.page,
            operation: failure.operation.clone(),
            ..ErrorRecord::default()
        };
        take_over(&mut record, failure);
        record
    }
}

/// Takes over what is known of an error by now.
fn take_over(record: &mut ErrorRecord, failure: &Failure) {
    record.error.clone_from(&failure.error);
    let Some(finding) = &failure.integrity else {
        return;
    };
    record.class = Some(finding.class);
    record.ese_error = finding.ese_error.or(finding.class.ese_error());
    record.offset_bytes = finding.offset_bytes.or(record.offset_bytes);
    record.expected_version = finding.expected_version.or(record.expected_version);
    record.last_write_unix_ms = finding.last_write_unix_ms.or(record.last_write_unix_ms);
    record.found_version = finding.found_version.or(record.found_version);
    record.on_medium = finding.on_medium.or(record.on_medium);
    record.is_patched |= finding.is_patched;
    record.partner_page = finding.partner_page.or(record.partner_page);
    let outstanding_s = finding
        .outstanding_ns
        .map(|length_ns| length_ns as f64 / 1e9);
    record.outstanding_s = outstanding_s.or(record.outstanding_s);
    record.answered = finding.answered.or(record.answered);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::IntegrityFinding;

    fn empty_log() -> ErrorLog {
        ErrorLog::new(Arc::new(Layout::new(["a", "b"], ["read"])))
    }

    fn bad_page(page: u64) -> Failure {
        let mut failure = Failure::of_data(IntegrityClass::Checksum, "a.edb", "reading", "wrong");
        failure.page = Some(page);
        failure
    }

    #[test]
    fn a_page_met_a_thousand_times_is_one_error() {
        let mut log = empty_log();
        assert_eq!(log.add(Some(0), &bad_page(7), 1, 1_000_000_000), Entry::New);
        for second in 2..=1_000 {
            let entry = log.add(Some(0), &bad_page(7), 1, second * 1_000_000_000);
            assert_eq!(entry, Entry::Known);
        }
        // The same page of another database is another one.
        assert_eq!(log.add(Some(1), &bad_page(7), 3, 5), Entry::New);
        assert_eq!((log.errors(), log.records().len()), (2, 2));
        let first = &log.records()[0];
        assert_eq!(
            (first.times, first.at_s, first.last_at_s),
            (1_000, 1.0, 1_000.0)
        );
        assert_eq!(
            (first.database.as_str(), first.ese_error, first.ended_run),
            ("a", Some(-1018), false)
        );
        let counts = log.counts();
        let counts: Vec<_> = counts
            .iter()
            .map(|count| (count.database.as_str(), count.errors, count.times))
            .collect();
        assert_eq!(counts, [("a", 1, 1_000), ("b", 1, 3)]);
    }

    #[test]
    fn more_errors_than_are_listed_are_counted_all_the_same() {
        let mut log = empty_log();
        for page in 0..5_000 {
            log.add(Some(0), &bad_page(page), 1, page);
        }
        // One that is not listed is known again.
        assert_eq!(log.add(Some(0), &bad_page(4_999), 1, 1), Entry::Known);
        assert_eq!((log.records().len(), log.errors()), (MOST_LISTED, 5_000));
        log.add_unlisted(0, IntegrityClass::Checksum, 70);
        assert_eq!(log.errors(), 5_070);
        // A page that is only named counts once, whether it is listed, known or new.
        for page in [3, 4_998, 5_001, 5_001] {
            log.add_unlisted_page(0, IntegrityClass::Checksum, page, 8_000_000_000);
        }
        assert_eq!(log.errors(), 5_071);
        let known = &log.records()[3];
        assert_eq!((known.times, known.last_at_s), (2, 8.0));
        assert_eq!(log.counts()[0].times, 5_000 + 1 + 70 + 4);
        // What ends the run is listed whatever came before.
        let full = Failure {
            kind: FailureKind::OutOfSpace,
            integrity: None,
            ..bad_page(1)
        };
        log.add_ending(None, &full, 9);
        let last = log
            .records()
            .last()
            .map(|record| (record.kind, record.ended_run));
        assert_eq!(last, Some((measure::result::ErrorKind::OutOfSpace, true)));
    }

    #[test]
    fn what_a_server_does_is_listed_and_counts_as_no_error_of_data() {
        let mut log = empty_log();
        for (number, kind) in [FailureKind::Unavailable, FailureKind::ServerSide]
            .into_iter()
            .enumerate()
        {
            let doing = "checking consistency";
            let failure = Failure::new(kind, "the database", doing, format!("{kind:?}"));
            log.add_ending(None, &failure, 9);
            assert_eq!((log.errors(), log.counts().len()), (0, 0));
            assert_eq!(log.records().len(), number + 1);
            assert!(log.records()[number].ended_run);
        }
        log.add_ending(None, &bad_page(1), 9);
        assert_eq!((log.errors(), log.counts().len()), (1, 1));
    }

    #[test]
    fn a_database_that_halts_after_a_failed_write_is_one_error() {
        let mut log = empty_log();
        let write = Failure {
            kind: FailureKind::Io,
            integrity: Some(Box::new(IntegrityFinding {
                offset_bytes: Some(4096),
                ..IntegrityFinding::of_class(IntegrityClass::Unwritable)
            })),
            ..bad_page(3)
        };
        log.add(Some(1), &write, 1, 10);
        let halted = Failure::new(
            FailureKind::Halted,
            "b.edb",
            "reading",
            "it takes no more work",
        );
        log.add_ending(Some(1), &halted, 20);
        assert_eq!(log.errors(), 1);
        assert!(log.records()[0].ended_run);
        // In another database nothing had failed before.
        log.add_ending(Some(0), &halted, 20);
        assert_eq!((log.errors(), log.records()[1].ended_run), (2, true));
    }
}
