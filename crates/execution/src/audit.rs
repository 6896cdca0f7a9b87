//! Looking for acknowledged transactions after a power cut or a kill: what every workload is asked, and
//! answers.

mod report;

use std::path::PathBuf;

use measure::result::RunResult;
use storage::{Claim, Layout, Request};
use witness::{Record, RunId};
use workload::Profile;

use crate::error::Error;
use crate::storage_run::base::places_of;

pub use report::{AuditReport, MOST_EXAMPLES};

/// A run whose acknowledged transactions are looked for.
#[derive(Clone, Debug)]
pub struct AuditedRun {
    /// The targets of its databases.
    pub on: Vec<PathBuf>,
    /// Those of its logs; beside the databases when empty.
    pub log_on: Vec<PathBuf>,
    /// The database of a brokerage, when it was named.
    pub database: Option<String>,
    /// Where it is known from what the run has acknowledged.
    pub source: AuditSource,
}

/// Where it is known from what a run has acknowledged.
#[derive(Clone, Debug)]
pub enum AuditSource {
    /// The witness has it, on another machine.
    Witness {
        /// The number by which it knows the run.
        run: RunId,
        /// What it has of the run, in the order in which it was sent.
        records: Vec<Record>,
    },
    /// What the run has kept itself, in its results directory.
    RunDirectory(PathBuf),
}

impl AuditedRun {
    /// The run that left this result.
    #[must_use]
    pub fn of(result: &RunResult, database: Option<String>, source: AuditSource) -> Self {
        let (on, log_on) = places_of(result);
        Self {
            on,
            log_on,
            database,
            source,
        }
    }

    /// Takes the targets with what is on them, as a run with `--reuse` does. `doing` hears when
    /// that takes a while.
    ///
    /// # Errors
    /// When they are in use, or what is on them is not of this profile.
    pub fn claim(
        &self,
        profile: &dyn Profile,
        doing: &mut dyn FnMut(&str),
    ) -> Result<Claim, Error> {
        let layout: Layout = storage::survey(
            &Request {
                on: &self.on,
                log_on: &self.log_on,
                profile,
                reuse: true,
                erase_device: false,
            },
            doing,
        )?;
        Ok(Claim::reuse(layout, profile.workload())?)
    }
}

/// Transactions among the records of a witness.
#[must_use]
pub fn transactions(records: &[Record]) -> u64 {
    records.iter().filter(|one| one.is_transaction()).count() as u64
}
