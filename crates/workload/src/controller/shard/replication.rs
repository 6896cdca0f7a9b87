//! The stages of passive copies.

use super::Shard;
use crate::controller::host::{CopyObservers, DatabaseHost, LoadedDatabase};
use crate::controller::link::ShardMessage;
use crate::controller::observer::CopyObserver;
use crate::failure::Failure;
use futures_util::future::join_all;
use std::rc::Rc;

impl<H: DatabaseHost> Shard<H> {
    /// Makes the copies of all databases, at the same time.
    pub(super) async fn seed(&self) -> Result<(), Failure> {
        let Some(load) = self.load.borrow().clone() else {
            return Ok(());
        };
        let sizes_bytes = load.databases().iter();
        let sizes_bytes = sizes_bytes.map(|one| one.statistics().size_bytes);
        let parts = self.parts(sizes_bytes.collect());
        let databases = self.databases().iter().zip(load.databases()).enumerate();
        let seeded = databases.map(|(part, (&database, open))| {
            let observers = CopyObservers {
                active: self.observer(database),
                copy: Rc::new(CopyObserver::new(Rc::clone(&self.recorder), database)),
            };
            let seeded = self
                .host
                .seed(database, open, observers, parts.progress(part));
            async move { (database, seeded.await) }
        });
        for (database, seeded) in join_all(seeded).await {
            match seeded {
                Ok(report) => self
                    .follower
                    .report(ShardMessage::Seeded { database, report }),
                Err(failure) => self.note_or_fail(database, failure)?,
            }
        }
        Ok(())
    }

    /// Compares the copies with their databases, one after the other.
    pub(super) async fn compare_copies(&self) -> Result<(), Failure> {
        let mut sizes_bytes = self.sizes_bytes.borrow().clone();
        sizes_bytes.resize(self.databases().len(), self.plan.database_bytes);
        let parts = self.parts(sizes_bytes);
        let mut failures = Vec::new();
        for (part, &database) in self.databases().iter().enumerate() {
            let compared = self.host.compare_copy(database, parts.progress(part)).await;
            if let Some(mut report) = compared {
                failures.extend(report.failure.take().map(|failure| (database, failure)));
                self.follower
                    .report(ShardMessage::Compared { database, report });
            }
            parts.finish(part);
        }
        self.note_or_fail_all(failures)
    }

    /// Says of copies that do not follow their database any more why.
    pub(super) fn note_suspensions(&self) {
        for &database in self.databases() {
            if let Some(text) = self.host.take_suspension(database) {
                self.note(text);
            }
        }
    }
}
