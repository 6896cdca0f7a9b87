//! A description that was read, and what is asked of it.

use std::collections::BTreeMap;

use config::{ConfigError, Diagnostic, Document, Format, Source};

use super::bundled::{BUNDLED_ARRAYS, bundled_array};
use super::event_line::line_of_event;
use super::expand::{
    DatabaseDemand, PlannedArray, TracedVolume, expand, expand_for_trace, format_time,
};
use super::keys::{CalibrationKeys, DescriptionKeys};
use crate::VolumeId;
use crate::disk::{WriteHistory, bundled_disk};

/// Descriptions of arrays as the loader of `config` reads them: bundled by name, or from a file.
static ARRAY: Format = Format {
    noun: "array",
    bundled: |name| bundled_array(name).map(|array| array.toml),
    names: || BUNDLED_ARRAYS.iter().map(|array| array.name).collect(),
    ignored: &[],
    required: None,
};

/// A setting by its path, and its value.
pub type Assignment<'a> = (&'a str, f64);

/// A description whose keys are all known and well-typed.
#[derive(Debug, Clone)]
pub struct Description {
    pub(super) document: Document<DescriptionKeys>,
}

impl Description {
    /// Reads a description: files and assignments, each over those before it.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place.
    pub fn load(sources: &[Source]) -> Result<Self, ConfigError> {
        let document = Document::load_with_rules(&ARRAY, sources, broken_in_any_case)?;
        Ok(Self { document })
    }

    /// The array's name for people.
    pub fn title(&self) -> &str {
        &self.document.settings.title
    }

    /// The product family whose parameters it uses.
    pub fn family(&self) -> &str {
        &self.document.settings.family
    }

    /// What is to break and to be repaired, as [`event_of_line`](super::event_of_line) reads it.
    #[must_use]
    pub fn event_lines(&self) -> Vec<String> {
        let events = self.document.settings.event.iter();
        events.map(line_of_event).collect()
    }

    /// The settings as they are declared.
    #[must_use]
    pub fn declaration() -> config::Table {
        <DescriptionKeys as config::Settings>::declaration()
    }

    /// All settings in force by their dotted paths.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        config::settings_by_path(&self.document.settings)
    }

    /// Everything the sources come to, as one TOML document that extends nothing.
    pub fn to_toml(&self) -> String {
        self.document.written_toml()
    }

    /// All settings in force as commented TOML, those left at their defaults included.
    pub fn resolved_toml(&self) -> String {
        config::to_toml(&self.document.settings)
    }

    /// Writes out the array for these databases, and checks every rule it must keep.
    ///
    /// # Errors
    /// Every rule that is broken, at the line of the key that breaks it.
    pub fn plan(&self, databases: &[DatabaseDemand]) -> Result<PlannedArray, ConfigError> {
        located(&self.document, |document| expand(document, databases))
    }

    /// Writes out the array with a volume for each volume of a trace: of `size_bytes`, or else of
    /// the size that the rule for databases says, or else as large as the trace reaches. The
    /// placement names them in the order of `volumes`. Listed volumes are taken by their names,
    /// or in their order when no name is that of one in the trace. Solid-state disks were written
    /// before as `[ssds]` says, or else `history`, or else their own descriptions.
    ///
    /// # Errors
    /// Every rule that is broken, at the line of the key that breaks it.
    pub fn plan_for_trace(
        &self,
        volumes: &[TracedVolume],
        size_bytes: Option<u64>,
        history: Option<WriteHistory>,
    ) -> Result<(PlannedArray, Vec<VolumeId>), ConfigError> {
        located(&self.document, |document| {
            expand_for_trace(document, volumes, size_bytes, history)
        })
    }

    /// Refuses events that lie behind the end of what is measured.
    ///
    /// # Errors
    /// Each of them, at its line.
    pub fn check_events_until(
        &self,
        planned: &PlannedArray,
        end_ns: u64,
    ) -> Result<(), ConfigError> {
        // One that lasts may outlast the run.
        let begun = planned.events.iter().filter(|event| !event.ends_another);
        let late = begun.filter(|event| event.at_ns >= end_ns);
        let found: Vec<Diagnostic> = late
            .map(|event| {
                let message = format!(
                    "this happens after {}, and nothing is measured after {}",
                    format_time(event.at_ns),
                    format_time(end_ns)
                );
                let help = "let it happen earlier, or measure longer with --duration";
                let help = Some(help.to_owned());
                self.document.diagnostic(&event.path, message, help)
            })
            .collect();
        match found.is_empty() {
            true => Ok(()),
            false => Err(self.document.error(found)),
        }
    }

    /// What a calibration left open; `None` where the numbers come from elsewhere.
    #[must_use]
    pub fn calibration(&self) -> Option<&CalibrationKeys> {
        let keys = &self.document.settings.calibration;
        (!keys.sets.is_empty()).then_some(keys)
    }

    /// The parameter sets of the calibration: the settings of each, with their values.
    pub fn parameter_sets(&self) -> impl Iterator<Item = Vec<Assignment<'_>>> {
        let keys = &self.document.settings.calibration;
        let paths = || keys.parameters.iter().map(String::as_str);
        let sets = keys.sets.iter();
        sets.map(move |values| paths().zip(values.iter().copied()).collect())
    }

    /// Capacity of the disk of an array that is one disk, in bytes, whole MiB of it; `None` when it
    /// cannot be built.
    #[must_use]
    pub fn one_disk_bytes(&self) -> Option<u64> {
        let keys = &self.document.settings;
        let name = &keys.group.first()?.disks.disk;
        let own = keys.disks.get(name).cloned();
        let description = own.or_else(|| bundled_disk(name)?.description().ok())?;
        let model = crate::disk::DiskModel::new(&description, 0).ok()?;
        let sectors = crate::disk::Disk::capacity_sectors(&model);
        Some((sectors * crate::SECTOR_BYTES) >> 20 << 20)
    }
}

/// What a document is expanded to, or the rules it breaks, each at the line that caused it.
fn located<T>(
    document: &Document<DescriptionKeys>,
    expand: impl Fn(&Document<DescriptionKeys>) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, ConfigError> {
    expand(document).map_err(|found| {
        let broken = |other: &Document<_>| expand(other).err().unwrap_or_default();
        document.error(document.located(found, broken))
    })
}

/// The rules that a description breaks whatever it will be used for. With databases on it it breaks
/// rules that it need not keep for a trace, and without them others: what is broken with and without
/// is wrong in any case.
fn broken_in_any_case(document: &Document<DescriptionKeys>) -> Vec<Diagnostic> {
    let demand = DatabaseDemand {
        name: "any".to_owned(),
        data_bytes: 0,
        log_bytes: 0,
    };
    let broken = |databases: &[DatabaseDemand]| {
        let planned = located(document, |document| expand(document, databases));
        planned.map_or_else(|error| error.diagnostics, |_| Vec::new())
    };
    let (with, without) = (broken(&[demand]), broken(&[]));
    let is_in_both = |one: &Diagnostic| without.iter().any(|other| other.is_like(one));
    with.into_iter().filter(is_in_both).collect()
}
