//! What can differ between acknowledged work and the database.

use super::records::{Kind, Record};

/// A difference between ledger and database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    OrderLost,
    SubmissionLost,
    ResultLost,
    ResultChanged,
    Twice,
    OrderUnexpected,
    ResultUnexpected,
}

impl Difference {
    /// What was acknowledged, and what is there instead.
    pub(super) fn describe(self, trade: i64, at: &str) -> String {
        match self {
            Self::OrderLost => format!("order {trade}, acknowledged {at}, is not there"),
            Self::SubmissionLost => {
                format!("order {trade}, acknowledged as submitted {at}, is not submitted")
            }
            Self::ResultLost => {
                format!("the result of trade {trade}, acknowledged {at}, is not there")
            }
            Self::ResultChanged => {
                format!("the result of trade {trade}, acknowledged {at}, has another price")
            }
            Self::Twice => {
                format!("work on trade {trade} was acknowledged a second time {at}")
            }
            Self::OrderUnexpected => {
                format!("order {trade} is there and was never acknowledged")
            }
            Self::ResultUnexpected => {
                format!("trade {trade} has a result that was never acknowledged")
            }
        }
    }

    /// Whether the database has more than was acknowledged.
    pub(super) fn is_surplus(self) -> bool {
        matches!(self, Self::OrderUnexpected | Self::ResultUnexpected)
    }

    /// Whether this record is the one that the difference is about.
    pub(super) fn is_of(self, record: &Record) -> bool {
        let kinds: &[Kind] = match self {
            Self::OrderLost => &[Kind::EnteredPending, Kind::EnteredSubmitted],
            Self::SubmissionLost => &[Kind::EnteredSubmitted, Kind::Submitted],
            Self::ResultLost | Self::ResultChanged => &[Kind::Booked, Kind::FoundBooked],
            Self::Twice => &[
                Kind::EnteredPending,
                Kind::EnteredSubmitted,
                Kind::Submitted,
                Kind::Booked,
            ],
            Self::OrderUnexpected | Self::ResultUnexpected => &[],
        };
        kinds.contains(&record.kind)
    }
}
