//! Several processes that a launcher of MPI has started for one run.

use std::sync::Arc;
use std::time::Duration;

use proofload::ranks::{Peers, RankError, RankHelpers, is_launched};

use crate::error::CommandError;

/// This process among those of the run; `None` when it is the only one. A rank that is not heard for
/// `timeout` is lost.
///
/// # Errors
/// When launcher and library do not fit each other.
#[cfg(feature = "mpi")]
pub fn join(timeout: Duration) -> Result<Option<Peers>, RankError> {
    if is_launched().is_none() {
        return Ok(None);
    }
    proofload::ranks::join(timeout, ranks_mpi::MpiTransport::start).map(Some)
}

/// This program was built without MPI: one of several processes would not know of the others.
///
/// # Errors
/// When a launcher has started several.
#[cfg(not(feature = "mpi"))]
pub fn join(_: Duration) -> Result<Option<Peers>, RankError> {
    match is_launched() {
        None => Ok(None),
        Some(launch) if launch.rank > 0 => Err(RankError::Elsewhere),
        Some(launch) => Err(RankError::Error(proofload::Error::usage(
            format!(
                "{} has started {} processes, and this program was built without MPI: each would run by \
                 itself.",
                launch.launcher.name(),
                launch.size
            ),
            "Use the release file for MPI, or build with 'cargo build --release -p cli --features mpi'.",
        ))),
    }
}

/// How long a rank that predicts may be silent.
const TIMEOUT_OF_PREDICTIONS: Duration = Duration::from_secs(30);

/// This process among those of a sweep or a study.
///
/// # Errors
/// When launcher and library do not fit each other.
pub fn join_all() -> Result<Option<Peers>, CommandError> {
    match join(TIMEOUT_OF_PREDICTIONS) {
        Ok(peers) => Ok(peers),
        Err(RankError::Error(error)) => Err(error.into()),
        Err(RankError::Elsewhere) => Err(CommandError::OutputClosed),
    }
}

/// Rank 0 of a sweep or a study: works with the others as helpers, and lets them end.
pub fn lead<T>(
    peers: Peers,
    work: impl FnOnce(&RankHelpers) -> Result<T, proofload::Error>,
) -> Result<T, proofload::Error> {
    let helpers = RankHelpers::lead(Arc::new(peers));
    let worked = work(&helpers);
    helpers.end();
    worked
}
