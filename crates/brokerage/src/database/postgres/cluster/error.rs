//! Why a server of our own does not come up.

use std::path::{Path, PathBuf};

/// An error in making, starting or stopping a server of our own.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The programs are not on this machine.
    #[error(
        "no PostgreSQL was found in PATH or /usr/lib/postgresql: install the package postgresql, \
         name a server with --database postgres://user@host/database, or use --database sqlite"
    )]
    NoPrograms,
    /// They are too old.
    #[error("PostgreSQL {version} in {directory} is too old: install version 13 or newer")]
    TooOld {
        /// What it says it is.
        version: String,
        /// Where it is.
        directory: PathBuf,
    },
    /// The directory is somebody else's.
    #[error(
        "{0} exists and was not made by Proofload: name another directory, or remove it yourself"
    )]
    NotOurs(PathBuf),
    /// A server of an earlier run still runs there.
    #[error(
        "a PostgreSQL server (process {process}) still runs in {directory}: \
         end the run that it belongs to, or stop it with kill -INT {process}"
    )]
    StillRuns {
        /// Its process.
        process: u32,
        /// Where it has its data.
        directory: PathBuf,
    },
    /// Root may not run it, and there is nobody else to.
    #[error(
        "PostgreSQL does not run as root, and this system has neither a user postgres nor nobody: \
         run Proofload as an ordinary user"
    )]
    NoUser,
    /// The user that it is to run as cannot come to the directory.
    #[error(
        "user {user}, as which PostgreSQL is to run, may not enter {directory}: \
         allow it with chmod o+x {directory}, or use a directory elsewhere"
    )]
    CannotEnter {
        /// The user.
        user: String,
        /// The directory on the way that is shut.
        directory: PathBuf,
    },
    /// A file or directory of ours could not be made, read or removed.
    #[error("{path} could not be {done}: {error}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What was to be done.
        done: &'static str,
        /// What the system says.
        error: std::io::Error,
    },
    /// A program did not run.
    #[error("{program} could not be run: {error}")]
    Program {
        /// Which one.
        program: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// initdb failed.
    #[error("a new database cluster could not be made in {directory}: {output}")]
    Initdb {
        /// Where.
        directory: PathBuf,
        /// The last lines that it wrote.
        output: String,
    },
    /// The server did not come up.
    #[error("the PostgreSQL server in {directory} did not start: {output}")]
    DidNotStart {
        /// Where.
        directory: PathBuf,
        /// The last lines of its log.
        output: String,
    },
}

impl ClusterError {
    pub(super) fn file(path: &Path, done: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, done, error }
    }

    pub(super) fn program(program: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let program = program.to_owned();
        move |error| Self::Program { program, error }
    }
}
