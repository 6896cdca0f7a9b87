//! `proofload show`: a document as it is written, all its settings in force, or the JSON Schema of
//! its kind.

use std::fs;
use std::io;

use array::description::{BUNDLED_ARRAYS, Description, DescriptionKeys, bundled_array};
use array::disk::{DiskDescription, bundled_disk};
use config::{ConfigError, Source, json_schema, to_toml};
use serde_json::Value;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::ShowOptions;
use crate::print::print;
use proofload::study::{Study, bundled_study};
use proofload::workloads;
use proofload::{Scenario, Setting, WORKLOADS};

/// Prints the commented TOML of a bundled document, the settings that a document comes to, or the
/// schema of its kind.
pub fn show(options: &ShowOptions) -> Result<ExitStatus, CommandError> {
    let name = options.name.as_str();
    let kind = Kind::of(options);
    let bundled = kind.bundled(name);
    let as_written = options.set.is_empty() && !options.resolved && !options.schema;
    if let Some(text) = bundled.filter(|_| as_written) {
        return print(text);
    }
    let mut sources = vec![match bundled {
        Some(text) => Source::file(name, text),
        None => kind.file(name)?,
    }];
    if options.schema {
        return print(&format!("{:#}\n", kind.schema(&sources)?));
    }
    for text in &options.set {
        let Setting { key, value } = Setting::parse(text)?;
        sources.push(Source::value("--set", &key.to_string(), value.as_str()));
    }
    print(&kind.resolved_toml(&sources)?)
}

/// What a document describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Profile,
    Array,
    Disk,
    Study,
}

impl Kind {
    /// The kind that the options name, or that a bundled document of the name has; profiles are the
    /// first of them, and files are taken as such.
    fn of(options: &ShowOptions) -> Self {
        match (options.array, options.disk, options.study) {
            (true, _, _) => return Self::Array,
            (_, true, _) => return Self::Disk,
            (_, _, true) => return Self::Study,
            _ => {}
        }
        let kinds = [Self::Profile, Self::Array, Self::Disk, Self::Study];
        let mut kinds = kinds.into_iter();
        let named = kinds.find(|kind| kind.bundled(&options.name).is_some());
        named.unwrap_or(Self::Profile)
    }

    /// The TOML of the bundled document of this kind and name.
    fn bundled(self, name: &str) -> Option<&'static str> {
        match self {
            Self::Profile => WORKLOADS.bundled(name).map(|profile| profile.toml),
            Self::Array => bundled_array(name).map(|array| array.toml),
            Self::Disk => bundled_disk(name).map(|disk| disk.toml),
            Self::Study => bundled_study(name).map(|study| study.toml),
        }
    }

    /// The file at `path`.
    fn file(self, path: &str) -> Result<Source, CommandError> {
        let (noun, listed) = match self {
            Self::Profile => return Ok(workloads::find(&Scenario::new(path))?),
            Self::Array => ("array", "arrays"),
            Self::Disk => ("disk", "disks"),
            Self::Study => ("study", "studies"),
        };
        let text = fs::read_to_string(path).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("There is no bundled {noun} and no file called '{path}'.")
                }
                _ => format!("The {noun} {path} cannot be read: {error}."),
            };
            let help = format!(
                "Give the path of a readable TOML file, or a name from 'proofload list {listed}'."
            );
            CommandError::usage(message, help)
        })?;
        Ok(Source::file(path, &text))
    }

    /// All settings in force as commented TOML, those left at their defaults included.
    fn resolved_toml(self, sources: &[Source]) -> Result<String, ConfigError> {
        Ok(match self {
            Self::Profile => WORKLOADS.read(sources)?.to_toml(),
            Self::Array => Description::load(sources)?.resolved_toml(),
            Self::Disk => to_toml(&DiskDescription::load(sources)?),
            Self::Study => to_toml(&Study::load(sources)?),
        })
    }

    /// The JSON Schema of documents of this kind: of a profile, those of the same workload.
    fn schema(self, sources: &[Source]) -> Result<Value, ConfigError> {
        let array = || {
            let names: Vec<&str> = BUNDLED_ARRAYS.iter().map(|array| array.name).collect();
            json_schema::<DescriptionKeys>("Array", &names)
        };
        Ok(match self {
            Self::Profile => {
                let names: Vec<&str> = WORKLOADS.bundled_profiles().map(|one| one.name).collect();
                let mut schema = WORKLOADS.read(sources)?.json_schema(&names);
                // What breaks may stand in the profile; the array reads it.
                schema["properties"]["event"] = array()["properties"]["event"].take();
                schema
            }
            Self::Array => array(),
            Self::Disk => json_schema::<DiskDescription>("Disk", &[]),
            Self::Study => json_schema::<Study>("Study", &[]),
        })
    }
}
