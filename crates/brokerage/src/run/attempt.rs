//! A transaction tried until it is done: conflicts, lost servers and full volumes on the way.

use super::floor::Floor;
use super::line::lock;
use crate::error::DatabaseError;
use crate::session::Session;
use std::thread;
use std::time::{Duration, Instant};
use workload::brokerage::kinds::Operation;

/// Conflicts after which a transaction is given up.
const MOST_CONFLICTS: u32 = 50;
/// The longest wait for a turn after a conflict.
const LONGEST_PATIENCE: Duration = Duration::from_millis(250);
/// Conflicts after which whoever has a turn rests all the same, and how long at most.
const CONFLICTS_WITHOUT_REST: u32 = 8;
const LONGEST_REST: Duration = Duration::from_millis(50);
/// Rest before a server that is gone is asked again, and one that has no room.
const SERVER_REST: Duration = Duration::from_millis(100);
const SPACE_REST: Duration = Duration::from_secs(1);

/// A seat on the floor: a session that is opened when it is needed, and again when it is lost.
pub struct Seat<'a> {
    floor: &'a Floor,
    session: Option<Box<dyn Session>>,
    /// Whether it was refused and has not been served since.
    is_out: bool,
}

impl<'a> Seat<'a> {
    /// A seat without a session yet.
    #[must_use]
    pub fn new(floor: &'a Floor) -> Self {
        Self {
            floor,
            session: None,
            is_out: false,
        }
    }

    /// Tries a transaction until it is done, the floor closes, or conflicts are too many. `run` is
    /// told whether an earlier try may have been committed without an answer.
    pub fn attempt<T>(
        &mut self,
        operation: Operation,
        mut run: impl FnMut(&mut dyn Session, bool) -> Result<T, DatabaseError>,
    ) -> Option<T> {
        let (mut conflicts, mut is_in_doubt) = (0, false);
        let mut turn = None;
        while self.floor.is_open() {
            let begun = Instant::now();
            let tried = match self.session() {
                Ok(session) => run(session, is_in_doubt),
                Err(error) => Err(error),
            };
            match tried {
                Ok(done) => {
                    self.serve_again();
                    return Some(done);
                }
                Err(DatabaseError::Conflict(_)) => {
                    self.floor.tally.conflict(operation);
                    conflicts += 1;
                    if conflicts >= MOST_CONFLICTS {
                        self.serve_again();
                        self.floor.tally.give_up();
                        return None;
                    }
                    let tried = begun.elapsed();
                    if turn.is_none() {
                        let again = &self.floor.again[operation as usize];
                        turn = again.wait(patience(conflicts, tried));
                    } else if conflicts > CONFLICTS_WITHOUT_REST {
                        // Whoever is in the way ends meanwhile.
                        thread::sleep(tried.min(LONGEST_REST));
                    }
                }
                Err(error @ DatabaseError::Unavailable(_)) => {
                    // Only a session that was there can have lost a commit's answer.
                    is_in_doubt |= self.session.take().is_some();
                    self.floor.tally.lose();
                    turn = None;
                    self.out_of_service(&error, SERVER_REST);
                }
                Err(error @ DatabaseError::NoSpace(_)) => {
                    self.floor.tally.lack_space();
                    turn = None;
                    self.out_of_service(&error, SPACE_REST);
                }
                Err(error) => {
                    self.floor.fail(&error, operation.name());
                    return None;
                }
            }
        }
        None
    }

    fn session(&mut self) -> Result<&mut dyn Session, DatabaseError> {
        if self.session.is_none() {
            self.session = Some(self.floor.database.connect()?);
        }
        match &mut self.session {
            Some(session) => Ok(&mut **session),
            None => Err(DatabaseError::Unavailable("no session".to_owned())),
        }
    }

    /// Time without service ends when everybody who was refused has done a transaction.
    fn serve_again(&mut self) {
        if !std::mem::take(&mut self.is_out) {
            return;
        }
        let length_s = lock(&self.floor.outages).up(self.floor.line.now_ns());
        if let Some(length_s) = length_s {
            let text = format!("The server serves again, after {length_s:.1} s.");
            self.floor.line.note(text);
        }
    }

    fn out_of_service(&mut self, error: &DatabaseError, rest: Duration) {
        let line = &self.floor.line;
        if !std::mem::replace(&mut self.is_out, true)
            && lock(&self.floor.outages).down(line.now_ns(), &error.to_string())
        {
            line.note(format!(
                "No service: {error}. The run goes on when it returns."
            ));
        }
        thread::sleep(rest);
    }
}

/// How long to wait for a turn after so many conflicts: others need about as long for a try as we
/// did.
fn patience(conflicts: u32, tried: Duration) -> Duration {
    let times = 1 << conflicts.min(16);
    tried.saturating_mul(times).min(LONGEST_PATIENCE)
}
