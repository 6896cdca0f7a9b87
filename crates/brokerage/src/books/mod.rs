//! Whether the books balance: what must hold after any run, however it ended.
//!
//! - [`Before`] notes counters and balances before a run; [`check`] looks at everything that the run
//!   has touched and compares them with what its trades add up to. [`check_all`] looks at the whole
//!   books, which takes long where they are large.
//! - `invariants`: what must hold, each as a question for what breaks it.
//! - `laws`: the same in words.
//! - `sums`: counters and balances.

mod invariants;
mod laws;
mod sums;

pub use laws::{LAWS, Law};
pub use sums::Before;

use crate::error::DatabaseError;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use crate::transactions::batch::{Answers, Batch, Transaction, ask, values};
use crate::transactions::kinds::Status;
use invariants::{INVARIANTS, Invariant};
use runtime::thread::complete;

/// What is wrong in the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Name of what must hold, such as `positions`.
    pub invariant: &'static str,
    /// How many times it does not.
    pub count: u64,
    /// The whole of it in a sentence, with one example.
    pub sentence: String,
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// Everything that is wrong; nothing if the books balance.
    pub broken: Vec<Broken>,
    /// Trades in question that are completed.
    pub completed: u64,
    /// Those that wait for a price.
    pub pending: u64,
    /// Those that are with the market.
    pub submitted: u64,
    /// Those that were given up.
    pub cancelled: u64,
}

impl Checked {
    /// Whether the books balance.
    #[must_use]
    pub fn balance(&self) -> bool {
        self.broken.is_empty()
    }

    /// Which law does not hold, what was found, and how many others do not hold either; `None` if
    /// the books balance.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        let first = self.broken.first()?;
        let law = laws::rule_of(first.invariant).trim_end_matches('.');
        let others = match self.broken.len() - 1 {
            0 => String::new(),
            1 => " One more law does not hold.".to_owned(),
            more => format!(" {more} more laws do not hold."),
        };
        let found = &first.sentence;
        Some(format!(
            "The books do not balance. The law \"{law}\" does not hold: {found}{others}"
        ))
    }
}

/// Checks what a run has touched since `before`, and its counters and balances. Nothing else may
/// write meanwhile.
///
/// # Errors
/// Those of the session. What is wrong in the books is no error.
pub fn check(session: &mut dyn Session, before: &Before) -> Result<Checked, DatabaseError> {
    check_telling(session, before, &mut |_| {})
}

/// The same, which tells before each of the [`LAWS`] how many have been looked at: those of a large
/// house take their time.
///
/// # Errors
/// As [`check`].
pub fn check_telling(
    session: &mut dyn Session,
    before: &Before,
    told: &mut dyn FnMut(usize),
) -> Result<Checked, DatabaseError> {
    let mut checked = check_after(session, before.last_trade(), told)?;
    told(INVARIANTS.len());
    checked.broken.extend(before.compare(session)?);
    Ok(checked)
}

/// Checks the whole books, without counters and balances, which are only known by their changes.
///
/// # Errors
/// Those of the session. What is wrong in the books is no error.
pub fn check_all(session: &mut dyn Session) -> Result<Checked, DatabaseError> {
    check_after(session, 0, &mut |_| {})
}

fn check_after(
    session: &mut dyn Session,
    after_trade: i64,
    told: &mut dyn FnMut(usize),
) -> Result<Checked, DatabaseError> {
    let mut checked = Checked::default();
    let mut transaction = Transaction::begin(session, Isolation::RepeatableRead)?;
    for (done, invariant) in INVARIANTS.iter().enumerate() {
        told(done);
        let mut batch = Batch::new();
        batch.add(&invariant.question, values![after_trade]);
        let answers = complete(transaction.run(batch))?;
        checked.broken.extend(broken(invariant, &answers)?);
    }
    let mut batch = Batch::new();
    batch.add(&invariants::STATES, values![after_trade]);
    for row in complete(transaction.commit(batch))?.of(0).all() {
        let (status, trades) = (row.integer(0)?, row.integer(1)? as u64);
        match status {
            status if status == Status::Completed.id() => checked.completed = trades,
            status if status == Status::Pending.id() => checked.pending = trades,
            status if status == Status::Submitted.id() => checked.submitted = trades,
            status if status == Status::Cancelled.id() => checked.cancelled = trades,
            other => checked.broken.push(Broken {
                invariant: "states",
                count: trades,
                sentence: format!("{trades} trades have the status {other}, which none may have."),
            }),
        }
    }
    Ok(checked)
}

fn broken(invariant: &Invariant, answers: &Answers<'_>) -> Result<Option<Broken>, DatabaseError> {
    let Some(row) = answers.of(0).find() else {
        return Ok(None);
    };
    let (of, about) = (row.integer(0)?, row.text(1)?);
    let count = row.integer(4)? as u64;
    let sentence = (invariant.sentence)(&invariants::Example {
        count,
        of,
        about: &about,
        found: row.integer(2)?,
        expected: row.integer(3)?,
    });
    Ok(Some(Broken {
        invariant: invariant.name,
        count,
        sentence,
    }))
}

/// Every statement of the checks, so that each can be tried on every database.
#[must_use]
pub fn statements() -> Vec<&'static Statement> {
    let questions = INVARIANTS.iter().map(|invariant| &invariant.question);
    questions
        .chain([&invariants::STATES])
        .chain(sums::statements())
        .collect()
}

/// Trades of a broker or cash of an account since a trade, as far as one question goes.
fn rows<'a>(
    session: &'a mut dyn Session,
    statement: &'static Statement,
    after: i64,
) -> Result<Answers<'a>, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(statement, values![after]);
    complete(ask(session, Isolation::RepeatableRead, batch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_names_the_law_and_how_many_others_are_broken() {
        let mut checked = Checked::default();
        assert_eq!(checked.complaint(), None);
        let broken = |invariant| Broken {
            invariant,
            count: 1,
            sentence: "Something is wrong.".to_owned(),
        };
        checked.broken = vec![broken("positions")];
        assert_eq!(
            checked.complaint().unwrap(),
            "The books do not balance. The law \"Every position is the sum of its lots\" does not \
             hold: Something is wrong."
        );
        checked.broken.push(broken("states"));
        let complaint = checked.complaint().unwrap();
        assert!(complaint.ends_with("One more law does not hold."));
    }
}
