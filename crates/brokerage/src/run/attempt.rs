//! A transaction tried until it is done: conflicts, lost servers and full volumes on the way.

use super::floor::Floor;
use super::line::lock;
use crate::error::DatabaseError;
use crate::session::Session;
use runtime::Handle;
use runtime::thread::{elsewhere, pause};
use std::sync::Arc;
use std::time::Duration;
use workload::brokerage::kinds::Operation;
use workload::controller::link::News;
use workload::random::Dice;

/// Conflicts after which a transaction is given up.
const MOST_CONFLICTS: u32 = 50;
/// The longest rest after a conflict; the average doubles with each one.
const LONGEST_REST_US: u64 = 50_000;
const FIRST_REST_US: u64 = 200;
/// Rest before a server that is gone is asked again, and one that has no room.
const SERVER_REST: Duration = Duration::from_millis(100);
const SPACE_REST: Duration = Duration::from_secs(1);

/// A seat on the floor: a session that is opened when it is needed, and again when it is lost.
pub struct Seat<'a> {
    floor: &'a Floor,
    session: Option<Box<dyn Session>>,
    dice: Dice,
    /// Whether it was refused and has not been served since.
    is_out: bool,
}

impl<'a> Seat<'a> {
    /// A seat without a session yet.
    #[must_use]
    pub fn new(floor: &'a Floor, dice: Dice) -> Self {
        Self {
            floor,
            session: None,
            dice,
            is_out: false,
        }
    }

    /// Tries a transaction until it is done, the floor closes, or conflicts are too many. `run` is
    /// told whether an earlier try may have been committed without an answer.
    pub async fn attempt<T>(
        &mut self,
        operation: Operation,
        mut run: impl AsyncFnMut(&mut dyn Session, bool) -> Result<T, DatabaseError>,
    ) -> Option<T> {
        let (mut conflicts, mut is_in_doubt) = (0, false);
        while self.floor.is_open() {
            let tried = match self.session().await {
                Ok(session) => run(session, is_in_doubt).await,
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
                    self.rest_after_conflict(conflicts).await;
                }
                Err(error @ DatabaseError::Unavailable(_)) => {
                    // Only a session that was there can have lost a commit's answer.
                    is_in_doubt |= self.session.take().is_some();
                    self.floor.tally.lose();
                    self.out_of_service(&error);
                    pause(SERVER_REST).await;
                }
                Err(error @ DatabaseError::NoSpace(_)) => {
                    self.floor.tally.lack_space();
                    self.out_of_service(&error);
                    pause(SPACE_REST).await;
                }
                Err(error) => {
                    self.floor.fail(&error, operation.name());
                    return None;
                }
            }
        }
        None
    }

    async fn session(&mut self) -> Result<&mut dyn Session, DatabaseError> {
        if self.session.is_none() {
            let database = Arc::clone(&self.floor.database);
            // A server that does not answer may take its time, which is not that of the others.
            let mut session = elsewhere(move || database.connect()).await?;
            if Handle::current().is_some() {
                session.share_thread();
            }
            self.session = Some(session);
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
        let line = &self.floor.line;
        let length_s = lock(&self.floor.outages).up(line.now_ns());
        if let Some(length_s) = length_s {
            line.report(News::Service { out_since_ns: None });
            line.note(format!("The server serves again, after {length_s:.1} s."));
        }
    }

    fn out_of_service(&mut self, error: &DatabaseError) {
        let line = &self.floor.line;
        let now_ns = line.now_ns();
        if !std::mem::replace(&mut self.is_out, true)
            && lock(&self.floor.outages).down(now_ns, &error.to_string())
        {
            line.report(News::Service {
                out_since_ns: Some(now_ns),
            });
            line.note(format!(
                "No service: {error}. The run goes on when it returns."
            ));
        }
    }

    async fn rest_after_conflict(&mut self, conflicts: u32) {
        let longest_us = (FIRST_REST_US << conflicts.min(20)).min(LONGEST_REST_US);
        let rest_us = self.dice.below(longest_us);
        pause(Duration::from_micros(rest_us)).await;
    }
}
