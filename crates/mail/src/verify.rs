//! What the verification of a closed database has found, in the form that a run reports.

use super::edb_store::failure_of;
use edb::Damage;
use edb::check::{CheckError, CheckReport, FindingKind};
use edb::integrity::EseError;
use edb::verification::Verification;
use measure::result::IntegrityClass;
use std::collections::{BTreeMap, BTreeSet};
use workload::controller::host::VerifyReport;
use workload::failure::{Failure, class_of};

/// What is being done, for messages.
const DOING: &str = "verification after the run";

/// The report of what was found in the database `file`.
#[must_use]
pub fn report_of(found: Verification, file: &str) -> VerifyReport {
    let mut report = VerifyReport {
        pages: found.pages.pages,
        bytes: found.pages.bytes,
        seconds: found.pages.seconds,
        pages_written: Some(found.coverage.written_pages),
        // This pass reads every page, unless it was stopped.
        pages_read_back: Some(match found.pages.stopped {
            true => found.coverage.written_pages - found.coverage.never_read_back_pages,
            false => found.coverage.written_pages,
        }),
        stopped: found.pages.stopped,
        never_written_pages: found.pages.never_written_pages,
        log_files: found.log.files,
        log_segments: found.log.segments,
        unlisted: unlisted(&found),
        ..VerifyReport::default()
    };
    let known: BTreeSet<u32> = found
        .pages
        .findings
        .iter()
        .map(|error| error.page.0)
        .collect();
    let pages = found.pages.findings.into_iter().map(Damage::Page);
    let files = found.copies.into_iter().chain(found.log.findings);
    let damage = pages.chain(files.map(Damage::File));
    report
        .findings
        .extend(damage.map(|damage| failure_of(damage, DOING)));
    match found.trees {
        Some(Ok(trees)) => {
            report.tree_pages = Some(trees.used_pages);
            let findings = tree_failures(&trees, file, &known);
            report.findings.extend(findings);
        }
        // That the database is not closed has been reported where closing failed, and a check that
        // was stopped is no finding.
        None | Some(Err(CheckError::NotClean { .. })) => {}
        Some(Err(error)) => report
            .findings
            .push(tree_failure(file, None, &error.to_string())),
    }
    report
}

/// Wrong pages and segments that are only counted.
fn unlisted(found: &Verification) -> BTreeMap<IntegrityClass, u64> {
    let mut unlisted = BTreeMap::new();
    for (class, &count) in &found.pages.classes {
        let is_listed = |error: &&edb::cache::PageError| {
            error
                .finding()
                .is_some_and(|finding| finding.class == *class)
        };
        let listed = found.pages.findings.iter().filter(is_listed).count() as u64;
        if count > listed {
            unlisted.insert(class_of(*class), count - listed);
        }
    }
    let segments = |finding: &&edb::integrity::FileFinding| {
        matches!(
            finding.part,
            edb::integrity::FilePart::Log {
                segment: Some(_),
                ..
            }
        )
    };
    let listed = found.log.findings.iter().filter(segments).count() as u64;
    if found.log.wrong_segments > listed {
        unlisted.insert(IntegrityClass::Log, found.log.wrong_segments - listed);
    }
    unlisted
}

/// What walking the trees has found, but for pages that are known to be wrong and space that is lost,
/// which harms nothing.
fn tree_failures(trees: &CheckReport, file: &str, known: &BTreeSet<u32>) -> Vec<Failure> {
    let is_news = |finding: &&edb::check::Finding| {
        let of_page = matches!(
            finding.kind,
            FindingKind::Checksum
                | FindingKind::NeverWritten
                | FindingKind::PageNumber
                | FindingKind::Unreadable
        );
        let is_known = finding.page.is_some_and(|page| known.contains(&page));
        // The headers have been compared with what was written.
        !(finding.kind == FindingKind::Leaked
            || finding.kind == FindingKind::Header
            || of_page && is_known)
    };
    let news = trees.findings.iter().filter(is_news);
    news.map(|finding| {
        let page = finding.page.map(u64::from);
        tree_failure(file, page, &format!("{finding}"))
    })
    .collect()
}

fn tree_failure(file: &str, page: Option<u64>, problem: &str) -> Failure {
    let error = format!("{problem} ({})", EseError::DATABASE_CORRUPTED);
    Failure {
        page,
        ..Failure::of_data(IntegrityClass::Structure, file, DOING, &error)
    }
}
