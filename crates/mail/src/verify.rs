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
pub(crate) const DOING: &str = "verification after the run";

/// The report of what was found in the database `file`.
#[must_use]
pub fn report_of(found: Verification, file: &str) -> VerifyReport {
    let mut report = VerifyReport {
        pages: found.pages.pages,
        bytes: found.pages.bytes,
        seconds: found.pages.seconds,
        pages_written: Some(found.coverage.written_pages),
        // This pass reads every page of the file, unless it was stopped.
        pages_read_back: Some(match found.pages.stopped {
            true => found.coverage.written_pages - found.coverage.never_read_back_pages,
            false => found.coverage.written_pages - found.pages.written_behind_end,
        }),
        stopped: found.pages.stopped,
        never_written_pages: found.pages.never_written_pages,
        log_files: found.log.files,
        log_segments: found.log.segments,
        unlisted: unlisted(&found),
        unlisted_pages: further_pages(&found).collect(),
        ..VerifyReport::default()
    };
    let described = found.pages.findings.iter().map(|error| error.page.0);
    let further = found.pages.further_pages.iter().map(|(page, _)| page.0);
    let known: BTreeSet<u32> = described.chain(further).collect();
    let pages = found.pages.findings.into_iter().map(Damage::Page);
    let files = found.pages.cut_short.into_iter();
    let files = files.chain(found.copies).chain(found.log.findings);
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

/// Damaged pages of which only the number and the class are known.
fn further_pages(found: &Verification) -> impl Iterator<Item = (u64, IntegrityClass)> + '_ {
    let pages = found.pages.further_pages.iter();
    pages.map(|&(page, class)| (u64::from(page.0), class_of(class)))
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
        let listed = found.pages.findings.iter().filter(is_listed).count();
        let further = found.pages.further_pages.iter();
        let listed = (listed + further.filter(|(_, of)| of == class).count()) as u64;
        if count > listed {
            unlisted.insert(class_of(*class), count - listed);
        }
    }
    let described = found.pages.findings.iter();
    let described = described.filter(|error| error.finding().is_none()).count() as u64;
    if found.pages.unreadable_pages > described {
        let further = found.pages.unreadable_pages - described;
        unlisted.insert(IntegrityClass::Unreadable, further);
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

#[cfg(test)]
mod tests {
    use super::*;
    use edb::check::Finding;
    use edb::format::database_header::Writer;
    use edb::integrity::DamageClass;
    use edb::position::PageNumber;

    #[test]
    fn pages_of_which_only_the_number_is_known_are_no_news_of_the_trees() {
        let finding = |page| Finding {
            kind: FindingKind::Checksum,
            page: Some(page),
            object: "table Messages".to_owned(),
            sentence: "the checksum is wrong".to_owned(),
        };
        let trees = CheckReport {
            findings: vec![finding(7), finding(9), finding(9)],
            further_findings: 0,
            used_pages: 20,
            file_pages: 30,
            rows: 0,
            deleted_nodes: 0,
            writer: Writer::Proofload,
        };
        let mut found = Verification {
            coverage: Default::default(),
            pages: Default::default(),
            trees: Some(Ok(trees)),
            copies: Vec::new(),
            log: Default::default(),
        };
        found.pages.further_pages = vec![(PageNumber(7), DamageClass::Checksum)];
        found.pages.classes = BTreeMap::from([(DamageClass::Checksum, 5)]);
        found.pages.unreadable_pages = 3;
        let report = report_of(found, "mail-001.edb");
        assert_eq!(report.unlisted_pages, [(7, IntegrityClass::Checksum)]);
        let counted = [
            (IntegrityClass::Checksum, 4),
            (IntegrityClass::Unreadable, 3),
        ];
        assert_eq!(report.unlisted, BTreeMap::from(counted));
        let pages: Vec<_> = report.findings.iter().map(|one| one.page).collect();
        assert_eq!(pages, [Some(9); 2]);
        // Two findings about one page are one error.
        assert_eq!(report.errors(), 1 + 1 + 4 + 3);
    }
}
