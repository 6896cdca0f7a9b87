//! What product families assume, and what the other families' calibration would have made of it.
//!
//! A blind prediction repeats a study as if nobody had seen it: every parameter of the family that
//! no public source gives is replaced by the value that the other families came to.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::bundled::FAMILIES;
use crate::failure::Failure;

/// The families by the name in `family` of an array's description.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Families(BTreeMap<String, Family>);

/// A family and what it assumes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Its name for people.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    pub title: String,
    /// Its assumptions.
    #[serde(default)]
    pub assumption: Vec<Assumption>,
}

/// One assumed parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// Path of the key in the description of an array.
    pub key: String,
    /// What the other families would have set, as in `--set`.
    pub blind: String,
    /// Where that comes from.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    pub from: String,
}

impl Families {
    /// The families that are built in.
    pub fn bundled() -> Result<Self, Failure> {
        Self::parse(FAMILIES)
    }

    /// The families that a text describes.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|error| {
            Failure::usage(
                format!("The list of product families is wrong: {error}"),
                "",
            )
        })
    }

    /// The assignments, as `--set` takes them, that make an array of `family` a blind one.
    pub fn blind_settings(&self, family: &str) -> Vec<String> {
        let assumptions = self.0.get(family).map(|family| family.assumption.iter());
        let assumptions = assumptions.into_iter().flatten();
        assumptions
            .map(|assumption| format!("array.{}={}", assumption.key, assumption.blind))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use array::description::{BUNDLED_ARRAYS, Description, Source};

    use super::*;

    #[test]
    fn every_assumption_is_a_key_of_its_family() {
        let families = Families::bundled().unwrap();
        for (name, family) in &families.0 {
            assert!(
                !family.title.is_empty() && family.assumption.iter().all(|a| !a.from.is_empty())
            );
            let mut met = false;
            for array in BUNDLED_ARRAYS {
                let own = Source::file(array.name, array.toml);
                let plain = Description::load(std::slice::from_ref(&own)).unwrap();
                if plain.family() != name {
                    continue;
                }
                met = true;
                if family.assumption.is_empty() {
                    continue;
                }
                let mut sources = vec![own];
                for text in families.blind_settings(name) {
                    let text = text.strip_prefix("array.").unwrap();
                    sources.push(Source::assignment("--set array.", text));
                }
                let blind = Description::load(&sources).unwrap_or_else(|error| panic!("{error}"));
                assert_ne!(blind.to_toml(), plain.to_toml(), "{}", array.name);
            }
            assert!(met, "there is no array of the family {name}");
        }
    }

    #[test]
    fn an_unknown_family_assumes_nothing() {
        let families = Families::bundled().unwrap();
        assert!(families.blind_settings("no such family").is_empty());
    }
}
