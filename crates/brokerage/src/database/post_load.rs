//! Keys, indexes and statistics, created after loading.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::interface::Database;
use crate::error::DatabaseError;
use crate::parallel::work_through;
use crate::schema::{Class, TABLES, Table};

/// Progress after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished<'a> {
    /// The step that has just ended.
    pub what: &'a str,
    /// Number of steps that have ended.
    pub done: usize,
    /// Number of all steps.
    pub of: usize,
}

/// The tables by class, growing ones first: a long step begun last would leave the other workers
/// idle.
pub(super) fn largest_first() -> Vec<&'static Table> {
    let mut tables: Vec<_> = TABLES.iter().collect();
    tables.sort_by_key(|table| match table.class {
        Class::Growing => 0,
        Class::Scaling => 1,
        Class::Fixed => 2,
    });
    tables
}

/// Runs all steps of a database after loading, with at most this many threads, and calls `report`
/// after each. Stops before the next step when `report` returns false.
///
/// # Errors
/// The first step that failed; steps not yet begun are then left out.
pub fn finish(
    database: &dyn Database,
    threads: usize,
    report: &(dyn Fn(&Finished<'_>) -> bool + Sync),
) -> Result<(), DatabaseError> {
    let phases = database.post_load_steps();
    let of = phases.iter().map(Vec::len).sum();
    let done = AtomicUsize::new(0);
    let threads = threads.min(database.max_parallel_steps()).max(1);
    let is_over = AtomicBool::new(false);
    for phase in &phases {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        work_through(phase, threads.min(phase.len()), |steps| {
            while let Some(step) = steps.take() {
                database.run_step(step)?;
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let what = &step.what;
                if !report(&Finished { what, done, of }) {
                    is_over.store(true, Ordering::Relaxed);
                    steps.stop();
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}
