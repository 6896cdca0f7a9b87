//! Errors by database and class, and what the verification after the run has read.

use measure::display::number::duration;
use measure::metric::Unit;
use measure::result::{ErrorCount, ErrorRecord, IntegrityClass, RunResult, VerifiedDatabase};

use super::{Cell, Column, Table};

/// One row for each database and class of error; empty when there was no error.
#[must_use]
pub fn error_counts_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("error"),
        Column::text("database"),
        Column::number("ESE error", ""),
        Column::number("errors", ""),
        Column::number("times met", ""),
    ]);
    for count in &result.error_counts {
        let class = count.class.unwrap_or_default();
        let numbers = ese_errors(result, count);
        table.push(vec![
            Cell::new(class.label()),
            Cell::new(count.database.clone()),
            Cell::new(numbers),
            Cell::count(count.errors).notable_when(true),
            Cell::count(count.times),
        ]);
    }
    table.without_empty_columns()
}

/// The numbers in ESE of these errors, as far as they have records.
fn ese_errors(result: &RunResult, count: &ErrorCount) -> String {
    let same = |one: &&ErrorRecord| (one.class, &one.database) == (count.class, &count.database);
    let of_records = result.errors.iter().filter(same);
    let mut numbers: Vec<i32> = of_records.filter_map(|one| one.ese_error).collect();
    if numbers.is_empty() {
        numbers.extend(count.class.and_then(IntegrityClass::ese_error));
    }
    numbers.sort_unstable_by_key(|number| number.abs());
    numbers.dedup();
    let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
    numbers.join(", ")
}

/// One row for each database that was verified; empty when none was.
#[must_use]
pub fn verification_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("pages verified", ""),
        Column::number("read", ""),
        Column::number("time", ""),
        Column::number("throughput", ""),
        Column::number("log files", ""),
        Column::number("errors", ""),
        Column::number("written", "").of("pages of the run"),
        Column::number("read back", "").of("pages of the run"),
        Column::number("never read back", "").of("pages of the run"),
    ]);
    let databases = match &result.verification {
        Some(verification) => verification.databases.as_slice(),
        None => &[],
    };
    for database in databases.iter().filter(|database| database.pages > 0) {
        table.push(row(database));
    }
    if table.rows.len() > 1 {
        table.sums = row(&sum(databases));
    }
    table.without_empty_columns()
}

fn row(database: &VerifiedDatabase) -> Vec<Cell> {
    let unknown = || Cell::of(None, Unit::Bytes);
    let count = |number: Option<u64>| number.map_or_else(unknown, Cell::count);
    vec![
        Cell::new(database.name.clone()),
        Cell::count(database.pages),
        Cell::of(database.bytes as f64, Unit::Bytes),
        Cell::new(duration(database.duration_s)),
        Cell::of(database.bytes_per_second(), Unit::BytesPerSecond),
        Cell::count(database.log_files),
        Cell::count(database.errors).notable_when(database.errors > 0),
        count(database.pages_written),
        count(database.pages_read_back),
        count(database.never_read_back()),
    ]
}

/// All databases together. They are read side by side, so the longest pass is the time of all.
fn sum(databases: &[VerifiedDatabase]) -> VerifiedDatabase {
    let mut sum = VerifiedDatabase {
        name: "all".to_owned(),
        ..VerifiedDatabase::default()
    };
    let add = |a: Option<u64>, b: Option<u64>| Some(a.unwrap_or(0) + b?);
    let all_counted = databases.iter().all(|one| one.pages_written.is_some());
    for one in databases {
        sum.pages += one.pages;
        sum.bytes += one.bytes;
        sum.errors += one.errors;
        sum.log_files += one.log_files;
        sum.log_segments += one.log_segments;
        sum.duration_s = sum.duration_s.max(one.duration_s);
        if all_counted {
            sum.pages_written = add(sum.pages_written, one.pages_written);
            sum.pages_read_back = add(sum.pages_read_back, one.pages_read_back);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{ErrorCount, IntegrityClass, VerificationResult};

    fn verified(name: &str, errors: u64) -> VerifiedDatabase {
        VerifiedDatabase {
            name: name.to_owned(),
            pages: 1_000,
            bytes: 32_768_000,
            duration_s: 2.0,
            log_files: 12,
            errors,
            ..VerifiedDatabase::default()
        }
    }

    fn heads(table: &Table) -> Vec<&str> {
        let columns = table.columns.iter();
        columns.map(|column| column.head.as_str()).collect()
    }

    #[test]
    fn what_nobody_counted_has_no_column() {
        let mut result = RunResult::default();
        assert!(verification_table(&result).is_empty());
        result.verification = Some(VerificationResult {
            databases: vec![verified("a", 0), verified("b", 3)],
            ..VerificationResult::default()
        });
        let table = verification_table(&result);
        assert_eq!(
            heads(&table),
            [
                "database",
                "pages verified",
                "read",
                "time",
                "throughput",
                "log files",
                "errors"
            ]
        );
        let notable: Vec<bool> = table.rows.iter().map(|row| row[6].notable).collect();
        assert_eq!(notable, [false, true]);
        assert_eq!(
            (table.sums[1].text.as_str(), table.sums[6].text.as_str()),
            ("2,000", "3")
        );
        let databases = &mut result.verification.get_or_insert_default().databases;
        for database in databases {
            (database.pages_written, database.pages_read_back) = (Some(70), Some(68));
        }
        let table = verification_table(&result);
        let texts = |row: &[Cell]| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
        assert_eq!(
            texts(&table.rows[0]),
            [
                "a",
                "1,000",
                "31.2 MiB",
                "2 s",
                "15.6 MiB/s",
                "12",
                "0",
                "70",
                "68",
                "2"
            ]
        );
        // Both were read at the same time.
        assert_eq!(
            texts(&table.sums),
            [
                "all",
                "2,000",
                "62.5 MiB",
                "2 s",
                "31.2 MiB/s",
                "24",
                "3",
                "140",
                "136",
                "4"
            ]
        );
        // Where one was not counted there is no sum, and what was not read has no row.
        let databases = &mut result.verification.get_or_insert_default().databases;
        databases[1].pages_written = None;
        databases.push(VerifiedDatabase::default());
        let table = verification_table(&result);
        assert_eq!(table.rows.len(), 2);
        assert_eq!(texts(&table.sums)[7..], ["-", "-", "-"]);
        let databases = &mut result.verification.get_or_insert_default().databases;
        databases.truncate(1);
        assert_eq!(texts(&verification_table(&result).sums), [""; 0]);
    }

    #[test]
    fn errors_are_shown_by_class_with_their_number_in_ese() {
        let count = |class, database: &str| ErrorCount {
            database: database.to_owned(),
            class,
            errors: 2,
            times: 9,
        };
        let result = RunResult {
            error_counts: vec![
                count(Some(IntegrityClass::LostWrite), "a"),
                count(Some(IntegrityClass::Hung), "b"),
            ],
            ..RunResult::default()
        };
        let table = error_counts_table(&result);
        let row: Vec<&str> = table.rows[0]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect();
        assert_eq!(row, ["lost write", "a", "-1119", "2", "9"]);
        assert_eq!(table.rows[1][2].text, "");
    }
}
