//! Becoming a rank, and the checks of the launch that are made then.

use std::path::Path;
use std::time::Duration;

use ::ranks::launch::Launch;
use ::ranks::{Heartbeats, JoinError, Peers, Transport, TransportError};
use execution::Error;

use super::RankError;

/// What helps where launcher and library do not fit each other.
pub const LAUNCH_REMEDY: &str = "Start it with the mpirun of the MPI it was built for ('mpirun.openmpi' and 'mpirun.mpich' on Debian; \
     'srun --mpi=list' shows what Slurm has), and see 'proofload doctor --mpi'.";

/// The name of this host.
#[must_use]
pub fn host_name() -> String {
    let nowhere: [&Path; 0] = [];
    measure::host::facts(&nowhere).name
}

/// Whether a launcher has started this process as one of several.
#[must_use]
pub fn is_launched() -> Option<Launch> {
    Launch::of_environment().filter(|launch| launch.size > 1)
}

/// Connects with the other ranks. A rank that is not heard for `timeout` is lost.
///
/// # Errors
/// When the carrier cannot be started, when it sees fewer processes than the launcher has started, and when
/// a rank does not answer.
pub fn join<T: Transport>(
    timeout: Duration,
    connect: impl FnOnce() -> Result<T, TransportError> + Send + 'static,
) -> Result<Peers, RankError> {
    let peers = Peers::join(host_name(), Heartbeats { timeout }, connect);
    let peers = peers.map_err(|error| match error {
        JoinError::Start(error) => {
            Error::environment(format!("MPI cannot be started: {error}."), LAUNCH_REMEDY)
        }
        JoinError::Lost(lost) => super::lost(&lost),
    })?;
    let wrong = is_launched().and_then(|launch| launch.mismatch(peers.size(), peers.library()));
    match wrong {
        // Each process believes that it is the first one; by the launcher only one is.
        Some(_) if is_launched().is_some_and(|launch| launch.rank > 0) => Err(RankError::Elsewhere),
        Some(text) => Err(Error::environment(text, LAUNCH_REMEDY).into()),
        None => Ok(peers),
    }
}
