//! Building a database.

use super::{EdbHost, file_name, is_beside_database};
use crate::schema::{self, BuiltRows};
use crate::state_file::Condition;
use edb::bulk::{BuildError, BuildPlan};
use edb::format::database_header::Signature;
use edb::verification::StoredVersions;
use runtime::{Directory, File};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use workload::controller::host::Progress;
use workload::failure::{Failure, FailureKind};

impl<D: Directory> EdbHost<D> {
    /// Removes what an earlier, unfinished use of the directories has left.
    async fn clear(&self, database: usize) -> Result<(), Failure> {
        let place = self.place(database);
        let failure = |error| Failure::of_io(&error, "removing an unfinished database");
        for directory in [&place.data, &place.log] {
            for name in directory.list().await.map_err(failure)? {
                let is_log = name.starts_with(edb::database::LOG_PREFIX);
                let is_ours = name == file_name(database)
                    || is_beside_database(&name) && name.starts_with(&file_name(database));
                if is_log || is_ours {
                    directory.remove(&name).await.map_err(failure)?;
                }
            }
            directory.sync().await.map_err(failure)?;
        }
        Ok(())
    }

    pub(super) async fn rebuild(
        &self,
        database: usize,
        progress: Progress,
    ) -> Result<u64, Failure> {
        let place = self.place(database);
        self.new_state(Condition::Building)
            .write(&place.data)
            .await?;
        self.clear(database).await?;
        let name = file_name(database);
        let file = place.data.create(&name).await;
        let file = file.map_err(|error| Failure::of_io(&error, "creating a database"))?;
        let item = &self.plan.profile.mail.item;
        let build = BuildPlan {
            page_size_bytes: self.plan.profile.engine.page_size.bytes() as usize,
            extension_pages: self.plan.profile.engine.extension_pages,
            table: schema::definition(
                item.short_bytes as usize,
                item.page_fill_percent.round() as u32,
                item.indexed,
            ),
            signature: Signature {
                random: self.plan.database_seed(database) as u32,
                ..Signature::default()
            },
        };
        let maker = self.plan.item_maker(database, self.plan.built_rows);
        let mut rows = BuiltRows::new(maker, self.plan.built_rows);
        let stopped = std::cell::Cell::new(false);
        let report = |bytes| stopped.set(!progress(bytes));
        let building = edb::bulk::build(&self.handle, &file, &build, &mut rows, report);
        let built = until(building, || stopped.get()).await.ok_or_else(|| {
            Failure::new(
                FailureKind::Stopped,
                file.name(),
                "building a database",
                "the build was stopped before its end",
            )
        })?;
        let report = built.map_err(|error| build_failure(&error, &file.name()))?;
        let stored = StoredVersions::write(&place.data, &name, &report.header, &report.versions);
        stored
            .await
            .map_err(|error| Failure::of_io(&error, "storing the page versions"))?;
        self.new_state(Condition::Ready).write(&place.data).await?;
        Ok(report.file_size_bytes)
    }
}

/// Runs `work` to its end, or until `stop` says so: then it is dropped where it is.
async fn until<T>(work: impl Future<Output = T>, stop: impl Fn() -> bool) -> Option<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        if stop() {
            return Poll::Ready(None);
        }
        let polled = work.as_mut().poll(context).map(Some);
        if polled.is_pending() && stop() {
            Poll::Ready(None)
        } else {
            polled
        }
    })
    .await
}

fn build_failure(error: &BuildError, file: &str) -> Failure {
    let mut failure = Failure::new(
        FailureKind::Internal,
        file,
        "building a database",
        error.to_string(),
    );
    if let BuildError::Io(error) = error {
        failure = Failure::of_io(error, "building a database");
    }
    failure
}
