//! Reading the log for commits that were acknowledged.

use super::pages::LoggedVersions;
use super::{AcknowledgedCommit, Opening};
use crate::checkpoint::{Checkpoint, CheckpointFile};
use crate::error::EngineError;
use crate::format::database_header::{DatabaseHeader, DatabaseState, Writer};
use crate::log::{LOG_PREFIX, LogError, LogReader, RecordChain};
use crate::log_record::LogRecord;
use crate::position::LogPosition;
use crate::reading::{CheckError, Reader};
use runtime::{Directory, Handle, IoObserver};
use std::rc::Rc;

/// What the log says of an acknowledged commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitState {
    /// Its record is there, with its hash.
    InLog,
    /// It lies before the oldest log file that is left, and before the checkpoint: its log is not needed
    /// any more.
    BeforeLog,
    /// It lies before the oldest log file that is left, and without a checkpoint it is not known whether its log is
    /// needed any more.
    Unknown,
    /// The log does not have it.
    Lost,
}

/// Whether a database is the one whose commits were acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// It is in the state in which that run left it.
    Same,
    /// It has been opened again since, for another run or for recovery.
    OpenedAgain,
    /// It is in a state from before that run opened it.
    Earlier,
    /// It is another database.
    Other,
}

/// What the log of a database says of acknowledged commits.
#[derive(Debug, Clone)]
pub struct AuditedLog {
    /// Whether it is the database that was meant; if not, nothing else was found out.
    pub lineage: Lineage,
    /// What is known of each commit, in the order given.
    pub states: Vec<CommitState>,
    /// Where the oldest log file begins that was read.
    pub oldest: LogPosition,
    /// The checkpoint that recovery begins with, if it can be read.
    pub checkpoint: Option<LogPosition>,
    /// Why the log could not be read to its end, if so.
    pub problem: Option<String>,
    /// The newest change of each page in the log.
    pub versions: LoggedVersions,
    /// Whether the database had been closed properly.
    pub is_closed: bool,
}

impl AuditedLog {
    /// What is known of so many commits when the database cannot be opened: nothing of its log.
    #[must_use]
    pub fn unread(commits: usize) -> Self {
        Self {
            lineage: Lineage::Same,
            states: vec![CommitState::BeforeLog; commits],
            oldest: LogPosition(u64::MAX),
            checkpoint: None,
            problem: None,
            versions: LoggedVersions::default(),
            is_closed: false,
        }
    }
}

/// Looks for `commits`, which are in the order of their positions, in the log of the database `name`.
/// Changes nothing but what an interrupted switch of log files has left over.
///
/// # Errors
/// If the file is no database, both its headers are damaged, or the storage fails.
pub async fn read_log<D: Directory>(
    handle: &Handle,
    (directory, name): (&D, &str),
    log_directory: &D,
    opening: &Opening,
    commits: &[AcknowledgedCommit],
    observer: Rc<dyn IoObserver>,
) -> Result<AuditedLog, EngineError> {
    let header = read_header(directory, name).await?;
    let found = Opening::of(&header, opening.from);
    let mut audited = AuditedLog {
        lineage: Lineage::Same,
        states: vec![CommitState::Lost; commits.len()],
        oldest: LogPosition(u64::MAX),
        checkpoint: None,
        problem: None,
        versions: LoggedVersions::default(),
        is_closed: header.state == DatabaseState::Clean,
    };
    if found.database != opening.database {
        audited.lineage = Lineage::Other;
        return Ok(audited);
    }
    let opened = CheckpointFile::open(handle, log_directory, LOG_PREFIX, Rc::clone(&observer));
    let checkpoint = opened.await?.read().await?;
    let checkpoint = checkpoint.filter(|one| one.signature == header.log_signature);
    audited.checkpoint = checkpoint.map(|checkpoint| checkpoint.position);
    let open = async |from| {
        let observer = Rc::clone(&observer);
        let reader = LogReader::open(handle, log_directory, LOG_PREFIX, from, observer).await;
        // The log of another database is as good as none.
        reader.map(|reader| reader.filter(|one| one.signature() == header.log_signature))
    };
    let mut reader = match open(LogPosition::START).await {
        Ok(reader) => reader,
        Err(LogError::Io(error)) => return Err(error.into()),
        Err(error) => {
            audited.problem = Some(error.to_string());
            None
        }
    };
    let file_bytes = match (&reader, &checkpoint) {
        (Some(reader), _) => reader.file_size_bytes(),
        (None, Some(checkpoint)) => checkpoint.log_file_size_bytes,
        (None, None) => 1,
    };
    if found.attached != opening.attached {
        audited.lineage = match opening.is_before(&header, file_bytes) {
            true => Lineage::OpenedAgain,
            false => Lineage::Earlier,
        };
        return Ok(audited);
    }
    let mut search = Search::new(opening, file_bytes, header.log_signature.random, commits);
    if let Some(error) = search.read(reader.as_mut(), &mut audited).await? {
        // What recovery has no need of may be gone or in the middle of being used again.
        let needed = checkpoint.map(|one| first_needed(&one));
        let again = match needed.filter(|needed| *needed > audited.oldest) {
            Some(needed) => open(needed).await.ok().flatten(),
            None => None,
        };
        audited.problem = Some(error.to_string());
        if let Some(mut reader) = again {
            search = Search::new(opening, file_bytes, header.log_signature.random, commits);
            let read = search.read(Some(&mut reader), &mut audited).await?;
            audited.problem = read.map(|error| error.to_string());
        }
    }
    let (oldest, checkpoint) = (audited.oldest, audited.checkpoint);
    for (state, commit) in audited.states.iter_mut().zip(commits) {
        if *state == CommitState::Lost && commit.position < oldest {
            *state = match checkpoint {
                Some(checkpoint) if commit.position < checkpoint => CommitState::BeforeLog,
                Some(_) => CommitState::Lost,
                None => CommitState::Unknown,
            };
        }
    }
    Ok(audited)
}

/// Where the log file begins that recovery reads first.
fn first_needed(checkpoint: &Checkpoint) -> LogPosition {
    let bytes = checkpoint.log_file_size_bytes;
    LogPosition::new(checkpoint.position.generation(bytes), 0, bytes)
}

async fn read_header<D: Directory>(
    directory: &D,
    name: &str,
) -> Result<DatabaseHeader, EngineError> {
    let file = directory.open(name).await?;
    let refuse = |reason: String| EngineError::NotADatabase {
        file: name.to_owned(),
        reason,
    };
    let reader = Reader::open(&file).await.map_err(|error| match error {
        CheckError::Io(error) => error.into(),
        error => refuse(error.to_string()),
    })?;
    match reader.header.writer {
        Writer::Other => Err(refuse("it was written by another program".to_owned())),
        _ => Ok(reader.header),
    }
}

/// Goes through the log and the commits side by side.
struct Search<'a> {
    from: LogPosition,
    chain: RecordChain,
    commits: &'a [AcknowledgedCommit],
    /// The first commit that lies at the present position of the log or behind it.
    next: usize,
}

impl<'a> Search<'a> {
    fn new(
        opening: &Opening,
        file_bytes: u64,
        stream: u32,
        commits: &'a [AcknowledgedCommit],
    ) -> Self {
        Self {
            from: opening.from,
            chain: RecordChain::new(opening.from, file_bytes, stream),
            commits,
            next: 0,
        }
    }

    /// Reads to the end of the log; what is wrong with it, if it ends before.
    async fn read<D: Directory>(
        &mut self,
        reader: Option<&mut LogReader<D>>,
        audited: &mut AuditedLog,
    ) -> Result<Option<LogError>, EngineError> {
        audited.states.fill(CommitState::Lost);
        audited.oldest = LogPosition(u64::MAX);
        let Some(reader) = reader else {
            return Ok(None);
        };
        audited.oldest = reader.begin();
        loop {
            match reader.next().await {
                Ok(Some((span, record))) => self.take(span.begin, &record, audited),
                Ok(None) => return Ok(None),
                Err(LogError::Io(error)) => return Err(error.into()),
                Err(error) => return Ok(Some(error)),
            }
        }
    }

    fn take(&mut self, begin: LogPosition, record: &[u8], audited: &mut AuditedLog) {
        audited.versions.note(record);
        if begin < self.from {
            return;
        }
        self.chain.add(begin, record);
        while let Some(commit) = self
            .commits
            .get(self.next)
            .filter(|one| one.position <= begin)
        {
            let is_commit = matches!(LogRecord::decode(record), Some(LogRecord::Commit { .. }));
            if commit.position == begin
                && is_commit
                && commit.hash == self.chain.hash(begin, record)
            {
                audited.states[self.next] = CommitState::InLog;
            }
            self.next += 1;
        }
    }
}
