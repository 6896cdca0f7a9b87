//! Work on a database server that may go down meanwhile.

use super::shard_link::ShardLink;
use crate::database::Database;
use crate::error::DatabaseError;
use crate::session::Session;
use std::thread;
use std::time::{Duration, Instant};

/// How long a server has to come back.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How often work is begun. A server that goes down each time may do so because of the work.
const MOST_ATTEMPTS: u32 = 5;

/// Does `work` on a session, and when the server goes down meanwhile all of it again on a new one;
/// `lost` gets the reason before that. `connect` waits for the server.
///
/// # Errors
/// Those of the work and of connecting; a lost connection when the server went down in every attempt.
pub(super) fn repeat_after_outages<S, T>(
    mut connect: impl FnMut() -> Result<S, DatabaseError>,
    mut work: impl FnMut(&mut S) -> Result<T, DatabaseError>,
    mut lost: impl FnMut(&str),
) -> Result<T, DatabaseError> {
    for _ in 1..MOST_ATTEMPTS {
        match work(&mut connect()?) {
            Err(DatabaseError::Unavailable { message: why, .. }) => lost(&why),
            done => return done,
        }
    }
    work(&mut connect()?)
}

/// Connects to a server that may be down for a while; `revive` starts it again if it is our own.
///
/// # Errors
/// It has not come back in time, or refuses.
pub(super) fn wait_for_server(
    database: &dyn Database,
    revive: &(dyn Fn() + Send + Sync),
    link: &ShardLink,
) -> Result<Box<dyn Session>, DatabaseError> {
    let started = Instant::now();
    let mut is_reported = false;
    loop {
        match database.connect_to_check() {
            Err(DatabaseError::Unavailable { message: why, .. }) if started.elapsed() < TIMEOUT => {
                if !std::mem::replace(&mut is_reported, true) {
                    link.note(format!(
                        "The work on the database begins again when the server is back; it has {} s \
                         for that: {why}.",
                        TIMEOUT.as_secs()
                    ));
                }
                revive();
                thread::sleep(Duration::from_millis(200));
            }
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone() -> DatabaseError {
        DatabaseError::unavailable("unexpected postmaster exit")
    }

    /// Does work in which the server goes down this often; returns what came of it, how often a
    /// session was opened, and how often a loss was reported.
    fn done(losses: u32) -> (Result<u32, DatabaseError>, u32, u32) {
        let (mut opened, mut reported) = (0, 0);
        let connect = || {
            opened += 1;
            Ok(opened)
        };
        let work = |session: &mut u32| match *session > losses {
            true => Ok(*session),
            false => Err(gone()),
        };
        let lost = |why: &str| {
            assert!(why.contains("postmaster"), "{why}");
            reported += 1;
        };
        let done = repeat_after_outages(connect, work, lost);
        (done, opened, reported)
    }

    #[test]
    fn work_is_done_again_when_the_server_went_down() {
        assert_eq!(done(0), (Ok(1), 1, 0));
        assert_eq!(done(1), (Ok(2), 2, 1));
        assert_eq!(done(4), (Ok(5), 5, 4));
        // It is not waited for without end.
        assert_eq!(done(5), (Err(gone()), 5, 4));
        assert_eq!(done(100), (Err(gone()), 5, 4));
    }

    #[test]
    fn other_errors_end_the_work() {
        let damaged = || DatabaseError::Damaged("a page".to_owned());
        let work = |(): &mut ()| Err::<(), _>(damaged());
        let nothing = |_: &str| panic!("nothing was lost");
        assert_eq!(
            repeat_after_outages(|| Ok(()), work, nothing),
            Err(damaged())
        );
        let refused = || Err::<(), _>(damaged());
        let work = |(): &mut ()| -> Result<(), _> { panic!("there is no session") };
        assert_eq!(repeat_after_outages(refused, work, nothing), Err(damaged()));
    }
}
