//! `proofload audit`: what of that which a run had acknowledged has survived a power cut or a kill.

use std::fmt::Write;

use measure::display::number::counted;
use measure::units::count_of;
use proofload::WORKLOADS;
use proofload::audit::{AuditReport, AuditRequest};
use serde_json::json;

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::AuditOptions;
use crate::print::notify;

/// Recovers the databases of a run and prints what is lost.
pub fn audit(options: &AuditOptions) -> Result<ExitStatus, CommandError> {
    let request = AuditRequest {
        directory: options.run.clone(),
        witness: options.witness()?,
        database: options.database.clone(),
    };
    let report = proofload::audit::audit(&request, &WORKLOADS, &mut |doing| notify(doing))?;
    let status = status(&report);
    let text = match options.json {
        true => as_json(&report, status),
        false => as_text(&report),
    };
    print_answer(&text, status)
}

/// Loss is loss, whatever cannot be decided besides. Without an acknowledged transaction nothing is known.
fn status(report: &AuditReport) -> ExitStatus {
    if report.lost > 0 || report.damaged {
        ExitStatus::Integrity
    } else if report.undecided > 0 || report.acknowledged == 0 {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Pass
    }
}

fn as_text(report: &AuditReport) -> String {
    let mut text = match report.acknowledged {
        0 => "INCONCLUSIVE: no acknowledged transaction of this run is known.\n".to_owned(),
        all if report.undecided == all => format!(
            "INCONCLUSIVE: it cannot be said of {} whether they are lost.\n",
            counted(all, "acknowledged transaction")
        ),
        all => format!(
            "{}{} of {} lost\n",
            if report.damaged { "At least " } else { "" },
            count_of(report.lost),
            counted(all - report.undecided, "acknowledged transaction")
        ),
    };
    if report.undecided > 0 && report.undecided < report.acknowledged {
        let _ = writeln!(
            text,
            "INCONCLUSIVE: it cannot be said of {} whether they are lost.",
            counted(report.undecided, "other acknowledged transaction")
        );
    }
    let lines = |text: &mut String, lines: &[String]| {
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    };
    lines(&mut text, &report.examples);
    if report.lost > report.examples.len() as u64 {
        let more = report.lost - report.examples.len() as u64;
        let _ = writeln!(text, "  and {} more", count_of(more));
    }
    lines(&mut text, &report.findings);
    if !report.basis.is_empty() {
        text.push_str("What is not lost is known to be there:\n");
        lines(&mut text, &report.basis);
    }
    text
}

fn as_json(report: &AuditReport, status: ExitStatus) -> String {
    let document = json!({
        "schema": "proofload/audit/1",
        "acknowledged": report.acknowledged,
        "lost": report.lost,
        "undecided": report.undecided,
        "damaged": report.damaged,
        "examples": report.examples,
        "findings": report.findings,
        "basis": report.basis,
        "exit_status": status.code(),
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(acknowledged: u64, lost: u64, undecided: u64) -> AuditReport {
        AuditReport {
            acknowledged,
            lost,
            undecided,
            examples: vec!["the first".to_owned(); lost.min(2) as usize],
            ..AuditReport::default()
        }
    }

    #[test]
    fn the_answer_and_the_exit_status_agree() {
        let cases = [
            (
                report(1_204_551, 0, 0),
                0,
                "0 of 1,204,551 acknowledged transactions lost\n",
            ),
            (
                report(10, 3, 0),
                4,
                "3 of 10 acknowledged transactions lost\n",
            ),
            (
                report(10, 3, 2),
                4,
                "3 of 8 acknowledged transactions lost\nINCONCLUSIVE: it cannot be said of 2 other",
            ),
            (
                report(10, 0, 2),
                5,
                "0 of 8 acknowledged transactions lost\nINCONCLUSIVE: it cannot be said of 2 other",
            ),
            (
                report(10, 0, 10),
                5,
                "INCONCLUSIVE: it cannot be said of 10",
            ),
            (report(0, 0, 0), 5, "INCONCLUSIVE: no acknowledged"),
        ];
        for (report, code, text) in cases {
            assert_eq!(status(&report).code(), code, "{text}");
            assert!(as_text(&report).contains(text), "{}", as_text(&report));
        }
        assert!(as_text(&report(10, 3, 0)).contains("and 1 more"));
        let damaged = AuditReport {
            damaged: true,
            ..report(10, 0, 0)
        };
        assert_eq!(status(&damaged).code(), 4);
        assert!(as_text(&damaged).starts_with("At least 0 of 10 "));
    }
}
