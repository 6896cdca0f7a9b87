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

/// The file is one block: JSON, zeros up to here, and the CRC-32 of both in eight hexadecimal digits.
const SUMMED_BYTES: usize = BLOCK_BYTES - 8;

fn checksum(block: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(&block[..SUMMED_BYTES]))
}

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

/// What lies in the place of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Missing,
    /// The state of a database.
    State(DatabaseState),
    /// What is left of a state that was damaged, or nothing but zeros. It may be written over.
    Damaged,
    /// Something else, which is left as it is; what it is.
    Other(String),
}

impl Found {
    /// What holds these contents, of a file with so many bytes.
    #[must_use]
    pub fn of(contents: &[u8], size_bytes: u64) -> Self {
        let is_whole = size_bytes >= BLOCK_BYTES as u64;
        match DatabaseState::parse(contents) {
            Some(state) if is_whole => Self::State(state),
            _ if size_bytes == 0 || is_recognised(contents) => Self::Damaged,
            _ if is_whole && contents.iter().all(|&byte| byte == 0) => Self::Damaged,
            _ => Self::Other(
                "it holds something that Proofload did not write, or is damaged beyond recognition"
                    .to_owned(),
            ),
        }
    }

    /// The state, if it is one.
    #[must_use]
    pub fn state(self) -> Option<DatabaseState> {
        match self {
            Self::State(state) => Some(state),
            _ => None,
        }
    }
}

/// Texts that every state has in its file. Two of them are in no file of somebody else.
const MARKS: [&str; 5] = [
    "\"condition\":\"",
    "\"population\":{",
    "\"built_rows\":",
    "\"next_row\":",
    "\"deletes\":",
];

fn is_recognised(contents: &[u8]) -> bool {
    let has = |mark: &&&str| {
        let mut places = contents.windows(mark.len());
        places.any(|place| place == mark.as_bytes())
    };
    MARKS.iter().filter(has).count() >= 2
}

/// What is to be done about a file that is something else than a state.
pub const MOVE_IT_AWAY: &str =
    "move it away; a run with --reuse then counts the messages and writes it anew";

impl DatabaseState {
    /// Finds out what is in the place of the state of the database in `directory`.
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn find<D: Directory>(directory: &D) -> Result<Found, Failure> {
        let found = find(directory).await;
        found.map_err(|error| Failure::of_io(&error, "reading the state of a database"))
    }

    /// Reads the state of the database in `directory`; `None` when there is none, or none that can be read.
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn read<D: Directory>(directory: &D) -> Result<Option<Self>, Failure> {
        Ok(Self::find(directory).await?.state())
    }

    /// The state that a file of this contents holds, if it holds one.
    #[must_use]
    pub fn parse(contents: &[u8]) -> Option<Self> {
        let sum = contents.get(SUMMED_BYTES..BLOCK_BYTES);
        let is_other = |sum: &[u8]| sum != checksum(contents).as_bytes();
        // Earlier versions wrote no checksum.
        if sum.is_some_and(|sum| sum.iter().any(|&byte| byte != 0) && is_other(sum)) {
            return None;
        }
        let length = contents.iter().position(|&byte| byte == 0);
        let text = &contents[..length.unwrap_or(contents.len())];
        serde_json::from_slice(text).ok()
    }

    /// Writes the state, in one step that either happens or not. A file in its place that is neither a state nor
    /// a damaged one is left as it is.
    ///
    /// # Errors
    /// If there is such a file, or the storage fails.
    pub async fn write<D: Directory>(&self, directory: &D) -> Result<(), Failure> {
        let written = self.try_write(directory).await;
        written.map_err(|error| Failure::of_io(&error, "writing the state of a database"))
    }

    async fn try_write<D: Directory>(&self, directory: &D) -> Result<(), IoError> {
        if let Found::Other(what) = find(directory).await? {
            return Err(IoError {
                operation: IoOperation::Rename,
                file: format!("{}/{STATE_FILE}", directory.describe()),
                offset_bytes: 0,
                length_bytes: 0,
                failure: IoFailure::NotOwn(format!("{what}; it was left as it is; {MOVE_IT_AWAY}")),
            });
        }
        match directory.remove(NEW_STATE_FILE).await {
            Err(error) if error.failure != IoFailure::NotFound => return Err(error),
            _ => {}
        }
        // These few fields always have a form in JSON.
        let text = serde_json::to_vec(self).unwrap_or_default();
        let mut buffer = Buffer::zeroed(BLOCK_BYTES);
        buffer[..text.len()].copy_from_slice(&text);
        let sum = checksum(&buffer);
        buffer[SUMMED_BYTES..].copy_from_slice(sum.as_bytes());
        let file = directory.create(NEW_STATE_FILE).await?;
        file.write(0, buffer.into(), Persistence::Durable).await?;
        file.sync().await?;
        directory.rename(NEW_STATE_FILE, STATE_FILE).await?;
        directory.sync().await
    }
}

async fn find<D: Directory>(directory: &D) -> Result<Found, IoError> {
    let file = match directory.open(STATE_FILE).await {
        Ok(file) => file,
        Err(IoError {
            failure: IoFailure::NotFound,
            ..
        }) => return Ok(Found::Missing),
        Err(IoError {
            failure: IoFailure::NotOwn(what),
            ..
        }) => return Ok(Found::Other(what)),
        Err(error) => return Err(error),
    };
    let size_bytes = file.size_bytes().await?;
    if size_bytes == 0 {
        return Ok(Found::Damaged);
    }
    // A file that is shorter than a block leaves the rest of the buffer as it is.
    let (buffer, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
    match result {
        Err(error) if error.failure != IoFailure::PastEnd => Err(error),
        _ => Ok(Found::of(&buffer, size_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_state_is_distinguished_from_the_file_of_somebody_else() {
        let state = DatabaseState {
            condition: Condition::Ready,
            seed: 7,
            population: PopulationState {
                built_rows: 100,
                next_row: 120,
                deletes: 3,
            },
            in_flight: None,
            last_run: String::new(),
            is_passive_copy: false,
            log_files: None,
            build_began_unix_ms: 0,
        };
        let mut written = serde_json::to_vec(&state).unwrap();
        written.resize(BLOCK_BYTES, 0);
        let found = |contents: &[u8]| Found::of(contents, contents.len() as u64);
        assert_eq!(found(&written), Found::State(state));
        let mut garbled = written.clone();
        garbled[..30].fill(b'#');
        let zeros = vec![0; BLOCK_BYTES];
        for damaged in [&garbled[..], &written[..100], &zeros, &[]] {
            assert_eq!(found(damaged), Found::Damaged);
        }
        // A digit that is still a number, in what is written today.
        let sum = checksum(&written);
        written[SUMMED_BYTES..].copy_from_slice(sum.as_bytes());
        assert!(matches!(found(&written), Found::State(_)));
        let digit = written.iter().position(|&byte| byte == b'1').unwrap();
        written[digit] = b'2';
        assert_eq!(found(&written), Found::Damaged);
        let mut letter = b"Dear \"population\":{ of the town,".to_vec();
        letter.resize(BLOCK_BYTES, 0);
        for other in [&letter[..], &vec![b'x'; BLOCK_BYTES], &[0; 7]] {
            assert!(matches!(found(other), Found::Other(_)));
        }
    }
}
