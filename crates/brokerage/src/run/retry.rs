//! Retries a transaction after serialization failures and lost connections. A full volume ends the run.

use super::context::RunContext;
use crate::error::{DatabaseError, ROWS_OF_OTHERS};
use crate::operation::Operation;
use crate::parallel::lock;
use crate::session::Session;
use runtime::Handle;
use runtime::thread::{elsewhere, pause};
use std::sync::Arc;
use std::time::Duration;
use workload::controller::link::ShardMessage;
use workload::random::SeededRng;

/// Serialization failures after which a transaction is cancelled.
const MAX_CONFLICTS: u32 = 50;
/// The longest back-off after a serialization failure; the average doubles with each.
const MAX_BACK_OFF_US: u64 = 50_000;
const FIRST_BACK_OFF_US: u64 = 200;
/// Pause between two attempts to connect while the server does not answer.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(100);

/// A session that is opened when it is needed, and again after it was lost.
pub struct RetryingSession<'a> {
    context: &'a RunContext,
    session: Option<Box<dyn Session>>,
    /// The processes that the server had had when the session was opened last.
    processes: usize,
    rng: SeededRng,
    /// Whether it was refused and has not been served since.
    in_outage: bool,
}

impl<'a> RetryingSession<'a> {
    /// Without a session yet.
    #[must_use]
    pub fn new(context: &'a RunContext, rng: SeededRng) -> Self {
        Self {
            context,
            session: None,
            processes: lock(&context.server).look(),
            rng,
            in_outage: false,
        }
    }

    /// Retries a transaction until it is done, the run ends, or there are too many serialization
    /// failures. `run` is passed whether the outcome of an earlier commit is unknown.
    pub async fn attempt<T>(
        &mut self,
        operation: Operation,
        mut run: impl AsyncFnMut(&mut dyn Session, bool) -> Result<T, DatabaseError>,
    ) -> Option<T> {
        let (mut conflicts, mut commit_unknown) = (0, false);
        while self.context.is_open() {
            let tried = match self.session().await {
                Ok(session) => run(session, commit_unknown).await,
                Err(error) => Err(error),
            };
            match tried {
                Ok(done) => {
                    self.end_outage();
                    return Some(done);
                }
                Err(DatabaseError::Conflict(_)) => {
                    self.context.error_counts.conflict(operation);
                    conflicts += 1;
                    if conflicts >= MAX_CONFLICTS {
                        self.end_outage();
                        self.context.error_counts.cancel();
                        return None;
                    }
                    self.back_off(conflicts).await;
                }
                Err(error @ DatabaseError::Unavailable { .. }) => {
                    if self.context.fail_if_full(&error, operation.name()) {
                        self.context.error_counts.no_space();
                        return None;
                    }
                    // Only a session that was open can have lost the answer to a commit.
                    commit_unknown |= self.session.take().is_some();
                    self.context.error_counts.connection_lost();
                    self.begin_outage(&error);
                    pause(RECONNECT_INTERVAL).await;
                }
                Err(error @ DatabaseError::NoSpace(_)) => {
                    self.context.error_counts.no_space();
                    self.context.fail(&error, operation.name());
                    return None;
                }
                // A session that was lost may still have been at its commit when the work was
                // repeated, and then rows exist twice for an instant.
                Err(DatabaseError::ServerSide { cause, .. })
                    if commit_unknown && cause == ROWS_OF_OTHERS && conflicts < MAX_CONFLICTS =>
                {
                    conflicts += 1;
                    self.back_off(conflicts).await;
                }
                Err(error) => {
                    self.context.fail(&error, operation.name());
                    return None;
                }
            }
        }
        None
    }

    async fn session(&mut self) -> Result<&mut dyn Session, DatabaseError> {
        if self.session.is_none() {
            let database = Arc::clone(&self.context.database);
            // Connecting blocks, so another thread does it.
            let mut session = elsewhere(move || database.connect()).await?;
            if Handle::current().is_some() {
                session.share_thread();
            }
            self.session = Some(session);
            self.processes = lock(&self.context.server).look();
        }
        match &mut self.session {
            Some(session) => Ok(&mut **session),
            None => Err(DatabaseError::unavailable("no session")),
        }
    }

    /// An outage ends when every refused session has completed a transaction.
    fn end_outage(&mut self) {
        if !std::mem::take(&mut self.in_outage) {
            return;
        }
        let link = &self.context.link;
        let length_s = lock(&self.context.outages).up(link.now_ns());
        if let Some(length_s) = length_s {
            link.report(ShardMessage::Service { out_since_ns: None });
            link.note(format!(
                "The server is back after {length_s:.1} s of downtime."
            ));
        }
    }

    fn begin_outage(&mut self, error: &DatabaseError) {
        if std::mem::replace(&mut self.in_outage, true) {
            return;
        }
        let link = &self.context.link;
        let now_ns = link.now_ns();
        let by_server = lock(&self.context.server).ended_session_of(self.processes);
        if lock(&self.context.outages).down(now_ns, error, by_server) {
            link.report(ShardMessage::Service {
                out_since_ns: Some(now_ns),
            });
            link.note(format!(
                "Downtime: {error}. The run continues when the server is back."
            ));
        }
    }

    async fn back_off(&mut self, conflicts: u32) {
        let longest_us = (FIRST_BACK_OFF_US << conflicts.min(20)).min(MAX_BACK_OFF_US);
        let rest_us = self.rng.below(longest_us);
        pause(Duration::from_micros(rest_us)).await;
    }
}
