//! What precedes the opening of a database, and what is reported of one that has just been opened.

use crate::state_file::{Condition, DatabaseState};
use edb::integrity::{FileClass, FileFinding, FilePart, Persistence};
use edb::{Damage, RecoveryReport, passive};
use measure::units;
use runtime::Directory;
use workload::failure::Failure;

/// Prepares a passive copy whose replication was interrupted; a sentence about what it lacks, empty when it has all of
/// the log.
pub(super) async fn activate<D: Directory>(
    file: &str,
    log_directory: &D,
) -> Result<String, Failure> {
    let last = passive::activate(file, log_directory).await;
    let last =
        last.map_err(|error| Failure::of_engine(&error, file, "activating a passive copy"))?;
    Ok(last.map_or(String::new(), |last| {
        format!(
            "{file} is a passive copy whose replication was interrupted; it was activated with the log that had been \
             shipped, up to log file {} of {}. What was committed in later log files is lost",
            last.generation, last.created
        )
    }))
}

/// What is wrong with header, checkpoint and page versions. A kill or a power cut during the closing or the opening of a
/// database may leave the two copies of its header different, but not those of another one; all else that recovery
/// reports, none leaves.
pub(super) fn damage_since_close(
    file: &str,
    state: &DatabaseState,
    recovery: &RecoveryReport,
) -> Vec<Damage> {
    let is_closed = state.condition == Condition::Ready;
    let not_closed = (is_closed && !recovery.was_clean).then(|| FileFinding {
        file: file.to_owned(),
        part: FilePart::Header { copy: 1 },
        class: FileClass::LostWrite,
        problem: "the database header is that of an open database, but it was closed: the last \
                  write of it was lost"
            .to_owned(),
        persistence: Persistence::ReadOnce,
    });
    let header = recovery.damaged_header.clone();
    let header = header.filter(|header| is_closed || is_foreign(header));
    let findings = header
        .or(not_closed)
        .into_iter()
        .chain(recovery.damaged_checkpoint.clone())
        .chain(recovery.damaged_versions.clone());
    findings.map(Damage::File).collect()
}

fn is_foreign(finding: &FileFinding) -> bool {
    finding.class == FileClass::Foreign
}

/// What recovery has done and found; empty when there was nothing.
pub(super) fn recovered(file: &str, recovery: &RecoveryReport) -> String {
    let damage = recovery.damaged_header.as_ref();
    let damage = damage.filter(|damage| !is_foreign(damage)).map(|damage| {
        format!(
            "{file}: {}. It was rewritten from the other copy. A kill or a power cut while it was being \
             written leaves it so; otherwise the storage has damaged it",
            damage.problem
        )
    });
    let recovered = (!recovery.was_clean).then(|| recovered_by_log(file, recovery));
    let sentences: Vec<String> = damage.into_iter().chain(recovered).collect();
    sentences.join(". ")
}

fn recovered_by_log(file: &str, recovery: &RecoveryReport) -> String {
    format!(
        "{file} had not been closed properly; it was recovered in {:.1} s: {} redone, {} undone",
        recovery.seconds,
        units::count(recovery.records, "log record"),
        units::count(recovery.undone_transactions, "unfinished transaction"),
    )
}

/// Sentences in a row, without those that are empty.
pub(super) fn join_sentences<const N: usize>(sentences: [String; N]) -> String {
    let sentences: Vec<String> = sentences
        .into_iter()
        .filter(|one| !one.is_empty())
        .collect();
    sentences.join(". ")
}
