//! The audit of a run after a power cut or a kill: what of its acknowledged transactions has survived.

use std::path::{Path, PathBuf};

use config::Source;
pub use execution::audit::AuditReport;
use execution::audit::{AuditSource, AuditedRun, transactions};
use execution::storage_run::{foreign, witness_refusal};
use execution::{Error, WitnessOptions};
use measure::display::number::{count, counted};
use measure::result::RunResult;
use measure::run_directory::{CONFIG_FILE, LoadError, RESULT_FILE};
use witness::{RunId, UnreadRecords};

use crate::registry::Registry;

/// What an audit is asked for.
#[derive(Clone, Debug)]
pub struct AuditRequest {
    /// The run directory, with the result and the settings of the run.
    pub directory: PathBuf,
    /// The witness of the run; without one, what the run has kept itself is used.
    pub witness: Option<WitnessOptions>,
    /// The database of a brokerage, when the run named a server.
    pub database: Option<String>,
}

/// Finds out what a run has acknowledged, recovers the databases of the run, and compares.
/// `doing` is called with what goes on.
///
/// # Errors
/// When the run had no such witness or kept nothing itself, the witness is not reached, the databases are in use or not there,
/// or the storage fails.
pub fn audit(
    request: &AuditRequest,
    registry: &Registry,
    doing: &mut dyn FnMut(&str),
) -> Result<AuditReport, Error> {
    let (result, config) = load(&request.directory)?;
    let profile = registry.read(&[Source::file(CONFIG_FILE, &config)])?;
    let workload = registry.runnable(profile.workload()).ok_or_else(foreign)?;
    let mut held = None;
    let mut unread = None;
    let source = match &request.witness {
        None => AuditSource::RunDirectory(request.directory.clone()),
        Some(witness) => {
            let run = witnessed_run(&request.directory, &result)?;
            doing("fetching the records of the witness");
            let records = witness::fetch(&witness.address, &witness.secret, run);
            let fetched = records.map_err(|error| witness_refusal(&error))?;
            unread = fetched.unread;
            let records = fetched.records;
            held = Some(transactions(&records));
            AuditSource::Witness { run, records }
        }
    };
    let audited = AuditedRun::of(&result, request.database.clone(), source);
    let mut report = workload.audit(&audited, &*profile, doing)?;
    let is_ended = result.complete;
    let had = result.witness.and_then(|witness| witness.acknowledged);
    if let Some(unread) = unread {
        // The result of a run that has come to its end knows how many there were.
        let is_whole = is_ended && had.is_some_and(|had| held >= Some(had));
        report.incomplete |= !is_whole;
        report
            .findings
            .extend((!is_whole).then(|| unread_records(unread)));
    }
    if let (Some(held), Some(had)) = (held, had) {
        note_missing_records(held, had, &mut report);
    }
    Ok(report)
}

/// That records of the witness cannot be read.
fn unread_records(unread: UnreadRecords) -> String {
    format!(
        "The records that the witness has of the run cannot be read from record {} on: the last {} of the file are \
         damaged, or were being written when the witness lost power. What was acknowledged in them is not known.",
        count(unread.from),
        counted(unread.bytes, "byte")
    )
}

/// Nothing can be said of transactions that the witness had when the run ended, and has not any more.
fn note_missing_records(held: u64, had: u64, report: &mut AuditReport) {
    let missing = had.saturating_sub(held);
    if missing == 0 {
        return;
    }
    report.acknowledged += missing;
    report.undecided += missing;
    report.findings.push(format!(
        "When the run ended the witness had records of {}, and now of {}: its files were cut short, or are damaged.",
        counted(had, "transaction"),
        count(held)
    ));
}

/// The result and the settings that a run has left. One that was interrupted has left both.
fn load(directory: &Path) -> Result<(RunResult, String), Error> {
    let refuse = |message: String| {
        let help = "Name the directory of the results of the run, such as \
                    proofload-runs/exchange-2013-...";
        Error::usage(message, help)
    };
    let result = measure::run_directory::load_result(directory);
    let result = result.map_err(|error: LoadError| refuse(format!("{error}.")))?;
    let path = directory.join(CONFIG_FILE);
    let config = std::fs::read_to_string(&path)
        .map_err(|error| refuse(format!("{} cannot be read: {error}.", path.display())))?;
    Ok((result, config))
}

/// The number by which the witness knows the run.
fn witnessed_run(directory: &Path, result: &RunResult) -> Result<RunId, Error> {
    let shown = directory.display();
    let Some(witness) = &result.witness else {
        return Err(Error::usage(
            format!("The run in {shown} had no witness."),
            "A brokerage run has kept a ledger itself: omit --witness and --secret-file. A mail \
             run without a witness cannot be audited.",
        ));
    };
    RunId::parse(&witness.run).ok_or_else(|| {
        Error::usage(
            format!("{shown}/{RESULT_FILE} does not say by what number the witness knows the run."),
            "Restore the file as the run has written it.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::Verdict;

    #[test]
    fn records_that_a_witness_has_no_more_leave_the_answer_open() {
        let audited = |held, had| {
            let mut report = AuditReport {
                acknowledged: held,
                ..AuditReport::default()
            };
            note_missing_records(held, had, &mut report);
            report
        };
        assert_eq!(audited(1_843, 1_843).verdict(), Verdict::Pass);
        // A run that was killed had not heard of all of them.
        assert_eq!(audited(1_843, 1_800).verdict(), Verdict::Pass);
        let short = audited(915, 1_843);
        assert_eq!(
            (short.verdict(), short.undecided),
            (Verdict::Inconclusive, 928)
        );
        assert!(short.findings[0].contains("had records of 1,843 transactions, and now of 915"));
    }
}
