//! Keys, references and statistics, made after the rows are in.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::house::Database;
use crate::error::DatabaseError;
use crate::schema::{Class, TABLES, Table};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is, for progress and errors, such as "the primary key of trade".
    pub what: String,
    /// The statement that does it.
    pub sql: String,
    /// Whether the house is right without it, so that a server may refuse it for want of rights.
    pub is_optional: bool,
}

/// Where the finishing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished<'a> {
    /// The step that has just ended.
    pub what: &'a str,
    /// Steps that have ended.
    pub done: usize,
    /// All steps.
    pub of: usize,
}

impl Step {
    pub(super) fn new(what: String, sql: String) -> Self {
        Self {
            what,
            sql,
            is_optional: false,
        }
    }
}

/// The tables with the longest first, as far as that can be told without their rows: a long step
/// begun last would leave the other hands idle.
pub(super) fn longest_first() -> Vec<&'static Table> {
    let mut tables: Vec<_> = TABLES.iter().collect();
    tables.sort_by_key(|table| match table.class {
        Class::Growing => 0,
        Class::Scaling => 1,
        Class::Fixed => 2,
    });
    tables
}

/// Carries out all steps that a database asks for after the rows, by at most so many threads, and
/// tells of each that has ended. Ends before the next step when `told` says that it is to.
///
/// # Errors
/// The first step that failed; steps not yet begun are then left out.
pub fn finish(
    database: &dyn Database,
    threads: usize,
    told: &(dyn Fn(&Finished<'_>) -> bool + Sync),
) -> Result<(), DatabaseError> {
    let phases = database.finishing();
    let of = phases.iter().map(Vec::len).sum();
    let done = AtomicUsize::new(0);
    let threads = threads.min(database.hands()).max(1);
    let is_over = AtomicBool::new(false);
    for phase in &phases {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        let work = || {
            while let Some(step) = phase.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = database.carry_out(step) {
                    next.store(phase.len(), Ordering::Relaxed);
                    failure
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .get_or_insert(error);
                    return;
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let goes_on = told(&Finished {
                    what: &step.what,
                    done,
                    of,
                });
                if !goes_on {
                    is_over.store(true, Ordering::Relaxed);
                    next.store(phase.len(), Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(phase.len()) {
                scope.spawn(work);
            }
            work();
        });
        let failure = failure
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(error) = failure {
            return Err(error);
        }
    }
    Ok(())
}
