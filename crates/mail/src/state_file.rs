//! The small file beside a database that says what has become of it: so that a build that was cut
//! off, or a run that was, is known again and never taken for a whole database.

use super::population::PopulationState;
use super::recount::InFlight;
use edb::integrity::FileFinding;
use runtime::buffer::BLOCK_BYTES;
use runtime::{Buffer, Directory, File, IoError, IoFailure, IoOperation, Persistence};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use workload::failure::Failure;

/// Name of the file.
pub const STATE_FILE: &str = "mail.state";
/// What it is called until it is complete.
const NEW_STATE_FILE: &str = "mail.state.new";

/// What has become of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// It is being built; if nobody does, the build was interrupted, and goes on.
    Building,
    /// It is being copied from elsewhere; if nobody does, that was interrupted, or the check of the copy has
    /// found it damaged. What is there is of no use.
    Copying,
    /// It is complete and closed.
    Ready,
    /// A run works on it; if none does, one was interrupted, and the database is recovered.
    InUse,
}

/// The log files of a closed database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFiles {
    /// Generations of the oldest and the newest full one; `None` if that which was written last is the only one.
    pub full: Option<(u32, u32)>,
}

impl LogFiles {
    /// Those in the log directory of a database that has just been closed.
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn of_closed<D: Directory>(directory: &D) -> Result<Self, Failure> {
        let full = edb::log::full_log_files(directory).await;
        let full = full.map_err(|error| Failure::of_io(&error, "listing the log files"))?;
        Ok(Self {
            full: full.map(RangeInclusive::into_inner),
        })
    }

    /// What is missing of them.
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn missing<D: Directory>(
        &self,
        directory: &D,
    ) -> Result<Option<FileFinding>, Failure> {
        let full = self.full.map(|(from, to)| from..=to);
        let missing = edb::log::missing_log_files(directory, full).await;
        missing.map_err(|error| Failure::of_io(&error, "listing the log files"))
    }
}

/// What is known about a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseState {
    /// What has become of it.
    pub condition: Condition,
    /// Seed of its contents.
    pub seed: u64,
    /// The rows that it holds when it is ready, or held before it was in use.
    pub population: PopulationState,
    /// In use: the most rows that are inserted or deleted at one time. Absent from files of the
    /// first versions.
    #[serde(default)]
    pub in_flight: Option<InFlight>,
    /// When the last run on it was started, as its result says it, and how often it had been resumed then
    /// (`2025-03-01T12:00:00Z 1`), so that this run alone can be resumed. Empty before the first run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_run: String,
    /// Whether it was seeded as a passive copy and not opened since: its log may end with the last file that
    /// was shipped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_passive_copy: bool,
    /// The log files that lay there when it was closed. `None` if it was not, or was never opened, and in files
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_files: Option<LogFiles>,
    /// Being built: when that began, in milliseconds since 1970, which makes its pages distinct from those of
    /// another database of the same seed. 0 on the virtual clock, and of a build that an earlier version began.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub build_began_unix_ms: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl DatabaseState {
    /// Reads the state of the database in `directory`; `None` when there is none (or none that can
    /// be read: it is written whole or not at all).
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn read<D: Directory>(directory: &D) -> Result<Option<Self>, Failure> {
        let file = match directory.open(STATE_FILE).await {
            Ok(file) => file,
            Err(error) if error.failure == IoFailure::NotFound => return Ok(None),
            Err(error) => return Err(Failure::of_io(&error, "reading the state of a database")),
        };
        let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
        result.map_err(|error| Failure::of_io(&error, "reading the state of a database"))?;
        Ok(Self::parse(&buffer))
    }

    /// The state that a file of this contents holds, if it holds one.
    #[must_use]
    pub fn parse(contents: &[u8]) -> Option<Self> {
        let length = contents.iter().position(|&byte| byte == 0);
        let text = &contents[..length.unwrap_or(contents.len())];
        serde_json::from_slice(text).ok()
    }

    /// Writes the state, in one step that either happens or not. A file in its place that holds no state is none of
    /// ours, or damaged, and is left as it is.
    ///
    /// # Errors
    /// If there is such a file, or the storage fails.
    pub async fn write<D: Directory>(&self, directory: &D) -> Result<(), Failure> {
        let written = self.try_write(directory).await;
        written.map_err(|error| Failure::of_io(&error, "writing the state of a database"))
    }

    async fn try_write<D: Directory>(&self, directory: &D) -> Result<(), IoError> {
        refuse_foreign(directory).await?;
        match directory.remove(NEW_STATE_FILE).await {
            Err(error) if error.failure != IoFailure::NotFound => return Err(error),
            _ => {}
        }
        // These few fields always have a form in JSON.
        let text = serde_json::to_vec(self).unwrap_or_default();
        let mut buffer = Buffer::zeroed(BLOCK_BYTES);
        buffer[..text.len()].copy_from_slice(&text);
        let file = directory.create(NEW_STATE_FILE).await?;
        file.write(0, buffer.into(), Persistence::Durable).await?;
        file.sync().await?;
        directory.rename(NEW_STATE_FILE, STATE_FILE).await?;
        directory.sync().await
    }
}

async fn refuse_foreign<D: Directory>(directory: &D) -> Result<(), IoError> {
    let file = match directory.open(STATE_FILE).await {
        Err(error) if error.failure == IoFailure::NotFound => return Ok(()),
        opened => opened?,
    };
    let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
    match result {
        Ok(_) if DatabaseState::parse(&buffer).is_some() => Ok(()),
        Err(error) if error.failure != IoFailure::PastEnd => Err(error),
        _ => Err(IoError {
            operation: IoOperation::Rename,
            file: format!("{}/{STATE_FILE}", directory.describe()),
            offset_bytes: 0,
            length_bytes: 0,
            failure: IoFailure::NotOwn(
                "the file in its place holds something that Proofload did not write, or is damaged; it was left as \
                 it is; move it away"
                    .to_owned(),
            ),
        }),
    }
}
