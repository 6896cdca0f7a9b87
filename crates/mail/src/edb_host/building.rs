//! Building a database.

use super::{EdbHost, file_name, is_beside_database};
use crate::schema::{self, BuiltRows};
use crate::state_file::{Condition, DatabaseState};
use edb::bulk::{self, BuildError, BuildPlan};
use edb::format::database_header::{LogTime, Signature};
use edb::verification::StoredVersions;
use runtime::{Directory, File, IoFailure};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::{SystemTime, UNIX_EPOCH};
use workload::controller::host::{OnFound, Progress};
use workload::failure::{Failure, FailureKind};

impl<D: Directory> EdbHost<D> {
    /// Removes what an earlier, unfinished use of the directories has left; the database file itself unless
    /// it is `kept`.
    pub(super) async fn clear(&self, database: usize, kept: bool) -> Result<(), Failure> {
        let place = self.place(database);
        let failure = |error| Failure::of_io(&error, "removing an unfinished database");
        for directory in [&place.data, &place.log] {
            for name in directory.list().await.map_err(failure)? {
                let is_log = name.starts_with(edb::database::LOG_PREFIX);
                let is_file = name == file_name(database) && !kept;
                let is_beside = is_beside_database(&name) && name.starts_with(&file_name(database));
                if is_log || is_file || is_beside {
                    directory.remove(&name).await.map_err(failure)?;
                }
            }
            directory.sync().await.map_err(failure)?;
        }
        Ok(())
    }

    /// Builds a database in empty directories.
    pub(super) async fn build_new(
        &self,
        database: usize,
        progress: Progress,
    ) -> Result<u64, Failure> {
        let place = self.place(database);
        let state = DatabaseState {
            build_began_unix_ms: self.unix_ms(),
            ..self.new_state(Condition::Building)
        };
        let began = state.build_began_unix_ms;
        self.write_state(database, state).await?;
        self.clear(database, false).await?;
        let file = place.data.create(&file_name(database)).await;
        let file = file.map_err(|error| Failure::of_io(&error, "creating a database"))?;
        self.fill(database, (&file, began), progress, None).await
    }

    /// The time of day; 0 on the virtual clock, where the same seed makes the same database.
    fn unix_ms(&self) -> u64 {
        if self.handle.is_virtual() {
            return 0;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |since| since.as_millis() as u64)
    }

    /// Goes on with a build that was interrupted. `found` hears how much of it was there.
    pub(super) async fn go_on_building(
        &self,
        database: usize,
        progress: Progress,
        found: OnFound,
    ) -> Result<u64, Failure> {
        let file = match self.place(database).data.open(&file_name(database)).await {
            Err(error) if error.failure == IoFailure::NotFound => {
                return self.build_new(database, progress).await;
            }
            file => file.map_err(|error| Failure::of_io(&error, "opening a database"))?,
        };
        self.clear(database, true).await?;
        let state = DatabaseState::read(&self.place(database).data).await?;
        let began = state.map_or(0, |state| state.build_began_unix_ms);
        let found = Some(found);
        self.fill(database, (&file, began), progress, found).await
    }

    /// Fills a database file, over what is there if somebody wants to know how much that is, and says that
    /// the database is complete.
    async fn fill(
        &self,
        database: usize,
        (file, began_unix_ms): (&D::File, u64),
        progress: Progress,
        found: Option<OnFound>,
    ) -> Result<u64, Failure> {
        let build = self.build_plan(database, began_unix_ms);
        let maker = self.plan.item_maker(database, self.plan.built_rows);
        let mut rows = BuiltRows::new(maker, self.plan.built_rows);
        let stopped = std::cell::Cell::new(false);
        let report = |bytes| stopped.set(!progress(bytes));
        let building = async {
            match found {
                Some(found) => {
                    let found = move |bytes| found(bytes);
                    bulk::go_on(&self.handle, file, &build, &mut rows, found, report).await
                }
                None => bulk::build(&self.handle, file, &build, &mut rows, report).await,
            }
        };
        let built = until(building, || stopped.get()).await.ok_or_else(|| {
            Failure::new(
                FailureKind::Stopped,
                file.name(),
                "building a database",
                "the build was stopped before its end",
            )
        })?;
        let report = built.map_err(|error| build_failure(&error, &file.name()))?;
        let (data, name) = (&self.place(database).data, file_name(database));
        let stored = StoredVersions::write(data, &name, &report.header, &report.versions);
        stored
            .await
            .map_err(|error| Failure::of_io(&error, "storing the page versions"))?;
        let state = self.new_state(Condition::Ready);
        self.write_state(database, state).await?;
        Ok(report.file_size_bytes)
    }

    fn build_plan(&self, database: usize, began_unix_ms: u64) -> BuildPlan {
        let item = &self.plan.profile.mail.item;
        BuildPlan {
            page_size_bytes: self.plan.profile.engine.page_size.bytes() as usize,
            extension_pages: self.plan.profile.engine.extension_pages,
            table: schema::definition(
                item.short_bytes as usize,
                item.page_fill_percent.round() as u32,
                item.indexed,
            ),
            signature: Signature {
                random: self.plan.signature_of(self.plan.data_seed, database),
                created: LogTime {
                    unix_ms: began_unix_ms,
                },
            },
        }
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
