//! What product families assume, and what the other families' calibration would have made of it.
//!
//! A blind prediction repeats a study as if nobody had seen it: every parameter of the family that
//! no public source gives is replaced by the value that the other families came to, and so is what
//! the study lists of its workload.

use std::collections::BTreeMap;

use config::{ConfigError, settings};

use super::bundled::FAMILIES;
use crate::setting::{Setting, Value};

settings! {
    /// What each product family assumes.
    pub struct Families {
        /// The families by the name in `family` of an array's description.
        pub family: BTreeMap<String, Family>;
    }
}

settings! {
    /// A family and what it assumes.
    pub struct Family {
        /// Its name for people.
        pub title: String;
        /// Parameters of the family that no public source gives.
        pub assumption: Vec<Assumption> = Vec::new();
    }
}

settings! {
    /// A setting that no public source gives, and what stands for it in a blind prediction.
    pub struct Assumption {
        /// The key, as in `--set`.
        pub key: String;
        /// The value in a blind prediction, as in `--set`.
        pub blind: String;
        /// Where that comes from.
        pub from: String;
    }
}

impl Families {
    /// The families that are built in.
    pub fn bundled() -> Result<Self, ConfigError> {
        config::from_toml(FAMILIES)
    }

    /// The settings that make an array of `family` a blind one.
    pub fn blind_settings(&self, family: &str) -> Vec<Setting> {
        let assumptions = self
            .family
            .get(family)
            .map(|family| family.assumption.iter());
        let assumptions = assumptions.into_iter().flatten();
        assumptions.map(Assumption::blind_setting).collect()
    }
}

impl Assumption {
    /// The setting of a blind prediction.
    pub fn blind_setting(&self) -> Setting {
        Setting::at(self.key.clone(), Value::of_text(&self.blind))
    }
}

#[cfg(test)]
mod tests {
    use array::description::{BUNDLED_ARRAYS, Description};
    use config::Source;

    use super::*;
    use crate::options::StudyOptions;
    use crate::predict::{Plan, config};
    use crate::study::bundled::BUNDLED_STUDIES;
    use crate::study::cases::scenario_of;
    use crate::study::description::Study;

    #[test]
    fn every_assumption_is_a_key_of_its_family() {
        let families = Families::bundled().unwrap();
        for (name, family) in &families.family {
            assert!(!family.title.is_empty());
            for assumption in &family.assumption {
                assert!(assumption.key.starts_with("array.") && !assumption.from.is_empty());
            }
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
                let settings = families.blind_settings(name);
                sources.extend(settings.iter().filter_map(Setting::of_array));
                let blind = Description::load(&sources).unwrap_or_else(|error| panic!("{error}"));
                assert_ne!(blind.to_toml(), plain.to_toml(), "{}", array.name);
            }
            assert!(met, "there is no array of the family {name}");
        }
    }

    #[test]
    fn every_assumption_of_a_study_changes_each_of_its_cases() {
        for bundled in BUNDLED_STUDIES {
            let name = bundled.name;
            let study = Study::load(&[Source::file(name, bundled.toml)]).unwrap();
            for assumption in &study.assumption {
                for case in study.case.values() {
                    let case = case.over(&study.defaults);
                    let options = StudyOptions::default();
                    let settings = |blind: &[Setting]| {
                        let scenario = scenario_of(&case, &options, blind).unwrap();
                        config(&Plan::check(&scenario).unwrap())
                    };
                    let blind = settings(&[assumption.blind_setting()]);
                    assert_ne!(blind, settings(&[]), "{name}: {}", assumption.key);
                }
            }
        }
    }

    #[test]
    fn an_unknown_family_assumes_nothing() {
        let families = Families::bundled().unwrap();
        assert!(families.blind_settings("no such family").is_empty());
    }
}
