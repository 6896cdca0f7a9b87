//! What can go wrong between a run and its witness.

use crate::message::Refusal;
use crate::record::RunId;
use std::io;
use std::path::PathBuf;

/// Why a witness cannot be reached, does not answer, or has not what is asked for.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// The secret could be guessed.
    #[error("the secret has {bytes} bytes, and {least} are the fewest")]
    ShortSecret {
        /// Length of the secret in bytes.
        bytes: usize,
        /// How many it needs.
        least: usize,
    },
    /// The file of the secret cannot be read.
    #[error("the file of the secret, {path}, cannot be read: {problem}", path = path.display())]
    SecretFile {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Nobody is reached at the address.
    #[error("the witness at {address} is not reached: {error}")]
    Unreachable {
        /// Host and port of the witness.
        address: String,
        /// What the system said.
        error: io::Error,
    },
    /// The address cannot be listened at.
    #[error("{address} cannot be listened at: {error}")]
    Listen {
        /// Address and port to listen at.
        address: String,
        /// What the system said.
        error: io::Error,
    },
    /// The connection was lost or stayed silent.
    #[error("the connection was lost: {0}")]
    Connection(#[from] io::Error),
    /// The other side does not know the secret.
    #[error("the witness has another secret")]
    WrongSecret,
    /// What answers speaks another protocol.
    #[error("what answers is no witness, or one of another version ({0})")]
    Protocol(&'static str),
    /// A frame was changed, repeated or cut on its way.
    #[error("a message was changed on its way")]
    Tampered,
    /// A frame is longer than any that is sent.
    #[error("a message of {bytes} bytes is longer than any of the protocol")]
    TooLong {
        /// Length of the message in bytes.
        bytes: usize,
    },
    /// The witness does not do what it is asked for.
    #[error("the witness refuses: {0}")]
    Refused(Refusal),
    /// The witness has never heard of the run.
    #[error("the witness has no records of run {0}")]
    UnknownRun(RunId),
    /// The witness has fewer records than it has acknowledged.
    #[error("the witness has lost records: it had acknowledged {acknowledged}, and has {present}")]
    LostRecords {
        /// Records that it had acknowledged.
        acknowledged: u64,
        /// Records that it has.
        present: u64,
    },
    /// The directory of the witness is used by another one.
    #[error("another witness uses the directory {path}", path = .0.display())]
    InUse(PathBuf),
    /// A file of the witness failed or is damaged.
    #[error("{path} failed: {error}", path = path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

impl WitnessError {
    /// Whether a file of the witness is not what was written.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::File { error, .. } if error.kind() == io::ErrorKind::InvalidData)
    }
}
