//! Where a database server has its files, as it says itself: paths on its machine.

use std::path::PathBuf;

/// Which storage a file of a server belongs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// That of the data.
    Data,
    /// That of the log.
    Log,
    /// Either of both.
    Any,
}

/// A file or directory of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFile {
    /// What it is, such as "the WAL".
    pub what: String,
    /// Where it is; symbolic links are not followed yet.
    pub path: PathBuf,
    /// Which storage it belongs on.
    pub part: Part,
}

/// The files of a server that take part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerFiles {
    /// Those of the server.
    pub files: Vec<ServerFile>,
    /// Those that hold rows of the data set, each with the name of its table.
    pub tables: Vec<(String, PathBuf)>,
    /// What the server did not say, in sentences.
    pub unknown: Vec<String>,
}

impl ServerFiles {
    /// Adds a file of the server.
    pub fn add(&mut self, what: &str, path: PathBuf, part: Part) {
        self.files.push(ServerFile {
            what: what.to_owned(),
            path,
            part,
        });
    }
}
