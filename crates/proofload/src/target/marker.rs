//! The file by which Proofload knows its own directories again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Name of the marker in every target directory.
pub const MARKER_NAME: &str = "proofload.json";

/// First words of a marker; its number changes when older programs would misread it.
const SCHEMA: &str = "proofload/target/1";

/// What Proofload has put into a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// `proofload/target/1`.
    pub schema: String,
    /// The program that made it, with its version.
    pub program: String,
    /// The workload it was made for.
    pub workload: String,
    /// The directories that Proofload made beside the marker. It touches nothing else.
    pub directories: Vec<String>,
}

impl Marker {
    /// A marker for directories that are about to be made.
    pub fn new(workload: &str, directories: Vec<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            program: format!("proofload {}", env!("CARGO_PKG_VERSION")),
            workload: workload.to_owned(),
            directories,
        }
    }

    /// The path of the marker of a target.
    pub fn path(target: &Path) -> PathBuf {
        target.join(MARKER_NAME)
    }

    /// Reads the marker of a target; `None` when there is none of ours.
    pub fn read(target: &Path) -> Option<Self> {
        let text = fs::read_to_string(Self::path(target)).ok()?;
        let marker: Self = serde_json::from_str(&text).ok()?;
        (marker.schema == SCHEMA).then_some(marker)
    }

    /// Writes the marker into an empty target. It is durable before anything else is made there.
    pub fn write(&self, target: &Path) -> io::Result<()> {
        let mut file = fs::File::create_new(Self::path(target))?;
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::File::open(target)?.sync_all()
    }
}
