//! Errors of a server of our own.

use std::path::{Path, PathBuf};

/// An error in creating, starting or stopping a server of our own.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The server's programs are not installed.
    #[error(
        "no PostgreSQL was found in PATH or /usr/lib/postgresql: install the package postgresql, \
         name a server with --database postgres://user@host/database, or use --database sqlite"
    )]
    NoPrograms,
    /// The installed version is too old.
    #[error("PostgreSQL {version} in {directory} is too old: install version 13 or newer")]
    TooOld {
        /// The version found, as its program prints it.
        version: String,
        /// Directory of the programs.
        directory: PathBuf,
    },
    /// The directory exists and is not ours.
    #[error(
        "{0} exists and was not created by Proofload: name another directory, or remove it \
         yourself"
    )]
    NotOurs(PathBuf),
    /// A server of an earlier run still runs there.
    #[error(
        "the PostgreSQL server of an earlier run (process {process}) still runs in {directory}: \
         try again when it has stopped, or stop it with kill -INT {process}"
    )]
    StillRuns {
        /// Process id of the server.
        process: u32,
        /// Data directory of that server.
        directory: PathBuf,
    },
    /// PostgreSQL refuses to run as root, and no other user exists.
    #[error(
        "PostgreSQL does not run as root, and this system has neither a user postgres nor nobody: \
         run Proofload as an ordinary user"
    )]
    NoUser,
    /// The server's user may not enter the directory.
    #[error(
        "user {user}, as which PostgreSQL is to run, may not enter {directory}: \
         allow it with chmod o+x {directory}, or use a directory elsewhere"
    )]
    CannotEnter {
        /// Name of the user.
        user: String,
        /// The directory without permission.
        directory: PathBuf,
    },
    /// A file or directory could not be created, read or removed.
    #[error("{path} could not be {done}: {error}")]
    File {
        /// Path of the file or directory.
        path: PathBuf,
        /// The operation, as a participle.
        done: &'static str,
        /// The error of the system call.
        error: std::io::Error,
    },
    /// A program could not be run.
    #[error("{program} could not be run: {error}")]
    Program {
        /// Path of the program.
        program: PathBuf,
        /// The error of starting it.
        error: std::io::Error,
    },
    /// initdb exited with an error.
    #[error("initdb failed in {directory}: {output}")]
    Initdb {
        /// The data directory to be created.
        directory: PathBuf,
        /// The last lines of its output.
        output: String,
    },
    /// The server did not accept connections.
    #[error("the PostgreSQL server in {directory} did not start: {output}")]
    DidNotStart {
        /// The data directory of the server.
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
