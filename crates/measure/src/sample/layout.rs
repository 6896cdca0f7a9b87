//! What is distinguished: operations, databases, phases.

use std::fmt;
use strum::{IntoStaticStr, VariantArray};

use serde::{Deserialize, Serialize};

/// What a run is doing. Only samples of [`Phase::Measured`] enter the result.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    /// Databases are built or opened.
    Build,
    /// Passive copies of the databases are made.
    Seeding,
    /// The load runs until the caches are warm.
    WarmUp,
    /// The load is adjusted until it fits.
    Tuning,
    /// The load that is judged.
    Measured,
    /// The databases are verified after the load.
    Checksum,
    /// The databases are closed.
    Close,
    /// The databases are backed up; with or without the load.
    Backup,
    /// The load writes the log files that soft recovery replays.
    LogWriting,
    /// Databases that were not closed are recovered.
    Recovery,
}

impl Phase {
    /// Every phase, in their order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Name in `samples.csv` and `result.json`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the workload runs, so that figures of its requests say something.
    pub fn is_under_load(self) -> bool {
        matches!(self, Phase::WarmUp | Phase::Tuning | Phase::Measured)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A kind of operation of the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationKind {
    /// Name in the result, such as `insert`.
    pub name: String,
    /// Whether it counts when all operations are added up. A commit ends operations that were
    /// counted already, so it does not.
    pub in_total: bool,
}

impl OperationKind {
    /// A kind that is left out when all operations are added up.
    pub fn outside_total(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            in_total: false,
        }
    }
}

impl From<String> for OperationKind {
    fn from(name: String) -> Self {
        Self {
            name,
            in_total: true,
        }
    }
}

impl From<&str> for OperationKind {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

/// The names behind the indices that a [`super::Recorder`] takes: the same for all shards of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Names of the databases, each once.
    pub databases: Vec<String>,
    /// Kinds of operations, each once.
    pub operations: Vec<OperationKind>,
}

impl Layout {
    /// A layout of these databases and operations.
    pub fn new<D: Into<String>, O: Into<OperationKind>>(
        databases: impl IntoIterator<Item = D>,
        operations: impl IntoIterator<Item = O>,
    ) -> Layout {
        Layout {
            databases: databases.into_iter().map(Into::into).collect(),
            operations: operations.into_iter().map(Into::into).collect(),
        }
    }

    /// Index of the operation of this name.
    pub fn operation(&self, name: &str) -> Option<usize> {
        self.operations.iter().position(|o| o.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::PhaseResult;

    #[test]
    fn the_workload_runs_from_the_warm_up_to_the_end_of_the_measured_phase() {
        let phases = Phase::ALL.iter().copied();
        let under_load: Vec<Phase> = phases.filter(|phase| phase.is_under_load()).collect();
        assert_eq!(under_load, [Phase::WarmUp, Phase::Tuning, Phase::Measured]);
    }

    #[test]
    fn results_know_the_measured_phase_by_its_name() {
        let phases = Phase::ALL.iter().copied();
        let is_measured = |phase: &Phase| {
            let of_result = PhaseResult {
                name: phase.name().to_owned(),
                ..PhaseResult::default()
            };
            of_result.is_measured()
        };
        let measured: Vec<Phase> = phases.filter(is_measured).collect();
        assert_eq!(measured, [Phase::Measured]);
    }
}
