//! Volumes for a block trace, in place of those for the databases of a workload.

use std::path::Path;

use config::{Diagnostic, Document, Source};

use super::volumes::{Wanted, mib_of};
use super::{Expansion, PlannedArray};
use crate::VolumeId;
use crate::description::keys::DescriptionKeys;
use crate::disk::{WriteHistory, bundled_disk};

/// A volume that a trace goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedVolume {
    /// Its name in the trace.
    pub name: String,
    /// How far the trace reaches.
    pub reach_bytes: u64,
}

/// The sources of an array that is one disk and takes no time of its own; `None` when no disk of
/// that name is built in.
#[must_use]
pub fn one_disk(name: &str) -> Option<Vec<Source>> {
    bundled_disk(name)?;
    Some(alone(name))
}

/// The same for a disk that the file at `path` describes. It is called after the file.
#[must_use]
pub fn one_disk_of_file(path: &str, text: &str) -> Vec<Source> {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str());
    let plain = |letter: char| match letter {
        letter if letter.is_alphanumeric() || "-_".contains(letter) => letter,
        _ => '-',
    };
    let name: String = stem.unwrap_or("disk").chars().map(plain).collect();
    let mut sources = alone(&name);
    sources.push(Source::table(path, &["disks", &name], text));
    sources
}

fn alone(name: &str) -> Vec<Source> {
    let whole = Source::file(name, include_str!("../one_disk.toml"));
    let disk = Source::value(name, "group.0.disk", &format!("\"{name}\""));
    let title = Source::value(name, "title", &format!("\"One disk: {name}\""));
    vec![whole, disk, title]
}

/// Whether a text describes a disk and no array: it has a table that only disks have, and none that
/// every array has or extends.
#[must_use]
pub fn describes_disk(text: &str) -> bool {
    let Ok(table) = text.parse::<toml::Table>() else {
        return false;
    };
    let has = |keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
    has(&["hard_disk", "solid_state", "cloud_volume", "ideal"])
        && !has(&["extends", "controllers", "cache", "pool", "group", "disks"])
}

/// The array with volumes for a trace, or every rule it breaks.
pub(crate) fn expand_for_trace(
    document: &Document<DescriptionKeys>,
    volumes: &[TracedVolume],
    size_bytes: Option<u64>,
    history: Option<WriteHistory>,
) -> Result<(PlannedArray, Vec<VolumeId>), Vec<Diagnostic>> {
    let mut expansion = Expansion::new(document);
    expansion.ssd_history = history;
    expansion.check_counts();
    expansion.check_calibration();
    if expansion.diagnostics.is_empty() {
        expansion.add_pools();
        expansion.add_groups();
        expansion.note_ssds();
        expansion.note_skews();
    }
    let mut placement = Vec::new();
    if expansion.diagnostics.is_empty() {
        placement = match document.settings.volume.is_empty() {
            true => expansion.add_traced(volumes, size_bytes),
            false => expansion.take_listed(volumes),
        };
        expansion.check_settings();
    }
    let events = expansion.add_events();
    Ok((expansion.planned(Vec::new(), events)?, placement))
}

impl Expansion<'_> {
    fn add_traced(&mut self, volumes: &[TracedVolume], size_bytes: Option<u64>) -> Vec<VolumeId> {
        let rule = self.document.settings.volumes.clone();
        let places: Vec<String> = match rule.databases_on.is_empty() {
            true => self.places.iter().map(|place| place.name.clone()).collect(),
            false => rule.databases_on.clone(),
        };
        let size_path = "volumes.database_size_gb".to_owned();
        let numbered = volumes.iter().enumerate();
        numbered
            .map(|(number, volume)| {
                let capacity_mib = match (size_bytes, rule.database_size_gb) {
                    (Some(bytes), _) => bytes >> 20,
                    (None, Some(size_gb)) => mib_of(size_gb),
                    (None, None) => volume.reach_bytes.div_ceil(1 << 20),
                };
                let turn = number % places.len().max(1);
                self.add(Wanted {
                    name: volume.name.clone(),
                    capacity_mib: capacity_mib.max(1),
                    on: places.get(turn).cloned().unwrap_or_default(),
                    owner: None,
                    vraid: rule.database_vraid,
                    policy: rule.policy.clone(),
                    size_path: size_path.clone(),
                    on_path: format!("volumes.databases_on.{turn}"),
                    path: "volumes".to_owned(),
                })
            })
            .collect()
    }

    fn take_listed(&mut self, volumes: &[TracedVolume]) -> Vec<VolumeId> {
        let listed = self.document.settings.volume.clone();
        let numbers: Vec<VolumeId> = listed
            .iter()
            .enumerate()
            .map(|(number, keys)| self.add_one(number, keys))
            .collect();
        let named = |volume: &TracedVolume| listed.iter().position(|one| one.name == volume.name);
        let by_name = volumes.iter().any(|volume| named(volume).is_some());
        let mut placement = Vec::new();
        for (number, volume) in volumes.iter().enumerate() {
            let place = if by_name { named(volume) } else { Some(number) };
            match place.and_then(|place| numbers.get(place)) {
                Some(&id) => placement.push(id),
                None => {
                    let message = format!(
                        "the trace goes to '{}', and no volume is left for it",
                        volume.name
                    );
                    let help = "add a table [[volume]] of that name";
                    self.report("volume", message, Some(help));
                }
            }
        }
        placement
    }
}
