//! Profiles, arrays, disks and studies as documents: those that are built in, what their settings come to,
//! the JSON Schema of each kind.

use std::io;

use array::description::{BUNDLED_ARRAYS, Description, DescriptionKeys, bundled_array};
use array::disk::{BUNDLED_DISKS, DiskDescription, bundled_disk};
use config::{ConfigError, Source, json_schema, to_toml};
use execution::Error;
use serde_json::{Value, json};

use crate::files::Files;
use crate::nearest::nearest;
use crate::registry::WORKLOADS;
use crate::scenario::Scenario;
use crate::scripts::{BUNDLED_SCRIPTS, Script, bundled_script};
use crate::study::{BUNDLED_STUDIES, Study, bundled_study};
use crate::workloads;

/// What a document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A workload: data, load, service levels.
    Profile,
    /// An array: controllers, caches, pools, disks.
    Array,
    /// A disk of modelled arrays.
    Disk,
    /// A study: published figures and the cases that predict them.
    Study,
    /// A script of a served array: events at times.
    Script,
}

impl DocumentKind {
    /// Every kind; where several have a document of one name, the first is meant.
    pub const ALL: [Self; 5] = [
        Self::Profile,
        Self::Array,
        Self::Disk,
        Self::Study,
        Self::Script,
    ];

    /// The kind of the bundled document of this name.
    #[must_use]
    pub fn of_bundled(name: &str) -> Option<Self> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.bundled(name).is_some())
    }

    /// The names of the bundled documents of this kind.
    fn names(self) -> Vec<&'static str> {
        match self {
            Self::Profile => WORKLOADS.bundled_profiles().map(|one| one.name).collect(),
            Self::Array => BUNDLED_ARRAYS.iter().map(|one| one.name).collect(),
            Self::Disk => BUNDLED_DISKS.iter().map(|one| one.name).collect(),
            Self::Study => BUNDLED_STUDIES.iter().map(|one| one.name).collect(),
            Self::Script => BUNDLED_SCRIPTS.iter().map(|one| one.name).collect(),
        }
    }

    /// What is wrong with a name that no bundled document of any kind has, and no file either.
    #[must_use]
    pub fn unknown(name: &str) -> Error {
        let names = Self::ALL.into_iter().flat_map(Self::names);
        let help = match nearest(name, names) {
            Some(name) => format!("Did you mean {name}?"),
            None => "'proofload list' names the workloads; 'proofload list arrays', 'disks', 'studies' and 'scripts' \
                     the others."
                .to_owned(),
        };
        Error::usage(
            format!("There is no bundled document and no file called '{name}'."),
            help,
        )
    }

    /// The commented TOML of the bundled document of this kind and name.
    #[must_use]
    pub fn bundled(self, name: &str) -> Option<&'static str> {
        match self {
            Self::Profile => WORKLOADS.bundled(name).map(|profile| profile.toml),
            Self::Array => bundled_array(name).map(|array| array.toml),
            Self::Disk => bundled_disk(name).map(|disk| disk.toml),
            Self::Study => bundled_study(name).map(|study| study.toml),
            Self::Script => bundled_script(name).map(|script| script.toml),
        }
    }

    /// The names of the bundled documents of this kind, each with its title.
    ///
    /// # Errors
    /// A document that cannot be read, which a test excludes.
    pub fn titles(self) -> Result<Vec<(&'static str, String)>, ConfigError> {
        match self {
            Self::Profile => {
                let profiles = WORKLOADS.bundled_profiles().map(|one| {
                    let read = WORKLOADS.read(&[Source::file(one.name, one.toml)])?;
                    Ok((one.name, read.description().to_owned()))
                });
                profiles.collect()
            }
            Self::Array => {
                let arrays = BUNDLED_ARRAYS.iter().map(|one| {
                    let read = Description::load(&[Source::file(one.name, one.toml)])?;
                    Ok((one.name, read.title().to_owned()))
                });
                arrays.collect()
            }
            Self::Disk => {
                let disks = BUNDLED_DISKS.iter();
                let disks = disks.map(|one| Ok((one.name, one.description()?.title)));
                disks.collect()
            }
            Self::Study => {
                let studies = BUNDLED_STUDIES.iter();
                studies.map(|one| Ok((one.name, one.title()?))).collect()
            }
            Self::Script => {
                let scripts = BUNDLED_SCRIPTS.iter().map(|one| {
                    let script = Script::load(&[Source::file(one.name, one.toml)])?;
                    Ok((one.name, script.title))
                });
                scripts.collect()
            }
        }
    }

    /// The text of the document of this kind: a bundled name, or the path of a file.
    ///
    /// # Errors
    /// When it is neither, or cannot be read.
    pub fn find(self, name: &str) -> Result<Source, Error> {
        if let Some(text) = self.bundled(name) {
            return Ok(Source::file(name, text));
        }
        let (noun, listed) = match self {
            Self::Profile => return workloads::find(&Scenario::new(name)),
            Self::Array => ("array", "arrays"),
            Self::Disk => ("disk", "disks"),
            Self::Study => ("study", "studies"),
            Self::Script => ("script", "scripts"),
        };
        let text = Files::default().read_text(name).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("There is no bundled {noun} and no file called '{name}'.")
                }
                _ => format!("The {noun} {name} cannot be read: {error}."),
            };
            let help = format!(
                "Give the path of a readable TOML file, or a name from 'proofload list {listed}'."
            );
            Error::usage(message, help)
        })?;
        Ok(Source::file(name, &text))
    }

    /// All settings in force as commented TOML, those left at their defaults included. Later sources are
    /// over earlier ones.
    ///
    /// # Errors
    /// Everything that is wrong, each fault with its place.
    pub fn resolved_toml(self, sources: &[Source]) -> Result<String, ConfigError> {
        Ok(match self {
            Self::Profile => WORKLOADS.read(sources)?.to_toml(),
            Self::Array => Description::load(sources)?.resolved_toml(),
            Self::Disk => to_toml(&DiskDescription::load(sources)?),
            Self::Study => to_toml(&Study::load(sources)?),
            Self::Script => to_toml(&Script::load(sources)?),
        })
    }

    /// The JSON Schema of documents of this kind: of a profile, those of the workload of `sources`.
    ///
    /// # Errors
    /// A profile whose workload is not known.
    pub fn schema(self, sources: &[Source]) -> Result<Value, ConfigError> {
        let array = || {
            let names: Vec<&str> = BUNDLED_ARRAYS.iter().map(|array| array.name).collect();
            json_schema::<DescriptionKeys>("Array", &names)
        };
        Ok(match self {
            Self::Profile => {
                let names: Vec<&str> = WORKLOADS.bundled_profiles().map(|one| one.name).collect();
                let mut schema = WORKLOADS.read(sources)?.json_schema(&names);
                // What a profile says of the array; the array reads it.
                let mut array = array();
                schema["properties"]["event"] = array["properties"]["event"].clone();
                array["description"] =
                    "The array that predictions are made on, where none is named.".into();
                schema["properties"]["array"] = array;
                schema["properties"]["settled"] = json!({
                    "type": "boolean",
                    "description": "Whether a prediction begins as after days of its load: tiers full, read caches warm.",
                });
                schema
            }
            Self::Array => array(),
            Self::Disk => json_schema::<DiskDescription>("Disk", &[]),
            Self::Study => json_schema::<Study>("Study", &[]),
            Self::Script => json_schema::<Script>("Script", &[]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_document_is_found_by_its_name() {
        for kind in DocumentKind::ALL {
            let titles = kind.titles().unwrap();
            assert!(!titles.is_empty());
            for (name, title) in titles {
                assert!(!title.is_empty(), "{name}");
                let first = DocumentKind::of_bundled(name).unwrap();
                assert!(first == kind || first.bundled(name).is_some());
                let source = kind.find(name).unwrap();
                assert!(kind.resolved_toml(&[source]).is_ok(), "{name}");
            }
        }
        assert_eq!(DocumentKind::of_bundled("nothing"), None);
        for kind in DocumentKind::ALL {
            let refused = kind.find("nothing").unwrap_err();
            assert_eq!(refused.class(), workload::ErrorClass::Usage);
        }
    }
}
