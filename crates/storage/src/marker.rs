//! The file by which Proofload knows its own directories again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use config::Source;
use serde::{Deserialize, Serialize};
use workload::Profile;

/// Name of the marker in every target directory.
pub const MARKER_NAME: &str = "proofload.json";

/// First words of a marker; its number changes when older programs would misread it.
const SCHEMA: &str = "proofload/target/1";

/// What Proofload has put into a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Always [`SCHEMA`] when written by this version.
    pub schema: String,
    /// The program that made it, with its version.
    pub program: String,
    /// The workload it was made for.
    pub workload: String,
    /// The seed that the contents were made with.
    pub seed: u64,
    /// The settings that the contents depend on, by their paths.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The directories that Proofload made beside the marker. It touches nothing else.
    pub directories: Vec<String>,
}

fn built_with(profile: &dyn Profile) -> BTreeMap<String, serde_json::Value> {
    let mut settings = profile.settings();
    let built_with = profile.workload().built_with();
    settings.retain(|path, _| built_with.contains(&path.as_str()));
    settings
}

/// A value as it stands in a profile, texts without their quotes.
fn shown(value: &serde_json::Value) -> String {
    let text = value.as_str();
    text.map_or_else(|| value.to_string(), str::to_owned)
}

impl Marker {
    /// A marker for directories that are about to be made.
    pub fn new(workload: &str, profile: &dyn Profile, directories: Vec<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            program: format!("proofload {}", env!("CARGO_PKG_VERSION")),
            workload: workload.to_owned(),
            seed: profile.run().seed,
            settings: built_with(profile),
            directories,
        }
    }

    /// What the contents were made with, as a source of settings each.
    pub fn sources(&self, built_with: &[&'static str]) -> Vec<Source> {
        let given = built_with
            .iter()
            .filter_map(|path| Some((*path, self.settings.get(*path)?)));
        let given = given.map(|(path, value)| Source::option(MARKER_NAME, path, &shown(value)));
        given.collect()
    }

    /// The first setting in which a profile differs from the one that was built, with the value it
    /// was built with.
    pub fn difference(&self, profile: &dyn Profile) -> Option<(String, String)> {
        let wanted = built_with(profile);
        let differs = self
            .settings
            .iter()
            .find(|(path, value)| wanted.get(*path) != Some(value));
        differs.map(|(path, value)| (path.clone(), shown(value)))
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
