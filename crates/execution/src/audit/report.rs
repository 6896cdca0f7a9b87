//! What an audit has found, its verdict and its words.

use std::fmt::{self, Write};

use measure::display::number::counted;
use measure::result::Verdict;
use measure::units::count_of;
use serde_json::{Value, json};

/// First lost transactions that are described.
pub const MOST_EXAMPLES: usize = 5;

/// What an audit has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Transactions that are known to be acknowledged.
    pub acknowledged: u64,
    /// Of those, the ones that are lost.
    pub lost: u64,
    /// Of those, the ones of which it cannot be said.
    pub undecided: u64,
    /// Whether the databases lack something else that was durable.
    pub damaged: bool,
    /// Whether more may have been acknowledged, of which the records cannot be read.
    pub incomplete: bool,
    /// The first lost ones, each described.
    pub examples: Vec<String>,
    /// Why it cannot be said of some, and what else is wrong, in sentences.
    pub findings: Vec<String>,
    /// What the answer is based on, in sentences.
    pub basis: Vec<String>,
}

impl AuditReport {
    /// Loss is loss, whatever cannot be decided besides. Without an acknowledged transaction nothing is known.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.lost > 0 || self.damaged {
            Verdict::Error
        } else if self.undecided > 0 || self.incomplete || self.acknowledged == 0 {
            Verdict::Inconclusive
        } else {
            Verdict::Pass
        }
    }

    /// Adds a lost transaction to the examples, if there are few.
    pub fn add_example(&mut self, describe: impl FnOnce() -> String) {
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(describe());
        }
    }

    /// The document of `proofload audit --json`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "schema": "proofload/audit/1",
            "acknowledged": self.acknowledged,
            "lost": self.lost,
            "undecided": self.undecided,
            "damaged": self.damaged,
            "incomplete": self.incomplete,
            "examples": self.examples,
            "findings": self.findings,
            "basis": self.basis,
            "exit_status": self.verdict().exit_status(),
        })
    }
}

impl fmt::Display for AuditReport {
    /// The answer and what it is based on, in lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

fn text(report: &AuditReport) -> String {
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
    if report.incomplete {
        text.push_str(
            "INCONCLUSIVE: more may have been acknowledged, of which the witness cannot read its records.\n",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_cannot_be_read_leave_the_answer_open() {
        let mut report = report(100, 0, 0);
        assert_eq!(report.verdict(), Verdict::Pass);
        report.incomplete = true;
        assert_eq!(report.verdict(), Verdict::Inconclusive);
        assert!(text(&report).contains("INCONCLUSIVE: more may have been acknowledged"));
        report.lost = 1;
        assert_eq!(report.verdict(), Verdict::Error);
    }

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
    fn the_answer_and_the_verdict_agree() {
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
            assert_eq!(report.verdict().exit_status(), code, "{text}");
            assert!(report.to_string().contains(text), "{report}");
        }
        assert!(report(10, 3, 0).to_string().contains("and 1 more"));
        let damaged = AuditReport {
            damaged: true,
            ..report(10, 0, 0)
        };
        assert_eq!(damaged.verdict().exit_status(), 4);
        assert!(damaged.to_string().starts_with("At least 0 of 10 "));
    }
}
