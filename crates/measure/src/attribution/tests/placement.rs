//! A server that has files on another storage.

use super::*;
use crate::result::FilesElsewhere;

pub(super) fn files_elsewhere(result: &mut RunResult) {
    let server = result.server.get_or_insert_default();
    server.files_elsewhere.push(FilesElsewhere {
        what: "the WAL".to_owned(),
        path: "/fast/wal".to_owned(),
        file_system: "xfs of /dev/sdb, mounted on /fast".to_owned(),
        measured: "/mnt/a".to_owned(),
    });
}

fn with_files_elsewhere(mut result: RunResult) -> RunResult {
    files_elsewhere(&mut result);
    result
}

#[test]
fn a_server_with_files_elsewhere_neither_passes_nor_fails() {
    let expected = (Verdict::Inconclusive, vec![CauseId::FilesElsewhere]);
    assert_eq!(causes(with_files_elsewhere(passed())), expected);
    assert_eq!(causes(with_files_elsewhere(slow())), expected);
    let mut result = with_files_elsewhere(passed());
    attribute(&mut result);
    let reason = &result.verdict_reason;
    assert!(
        reason.contains(
            "the WAL in /fast/wal on xfs of /dev/sdb, mounted on /fast, and not on that of /mnt/a."
        ),
        "{reason}"
    );
    assert!(reason.contains("--log-on"), "{reason}");
    // The same is worked out again from what was recorded.
    assert_eq!(result.exit_status, 5);
    result.set_verdict(Verdict::Pass, "Every service level was met.");
    assert_eq!(causes(result), expected);
}
