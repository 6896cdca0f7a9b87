//! The profiles built into the binary.

use super::load::{Layer, load};
use super::{LoadError, Profile};

/// A profile that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// The name to run it by.
    pub name: &'static str,
    /// The commented TOML.
    pub toml: &'static str,
}

/// Every bundled profile, the default first.
pub const BUNDLED: [Bundled; 5] = [
    Bundled {
        name: "exchange-2013",
        toml: include_str!("../../../../profiles/workloads/exchange-2013.toml"),
    },
    Bundled {
        name: "exchange-2010",
        toml: include_str!("../../../../profiles/workloads/exchange-2010.toml"),
    },
    Bundled {
        name: "exchange-2007",
        toml: include_str!("../../../../profiles/workloads/exchange-2007.toml"),
    },
    Bundled {
        name: "exchange-2003",
        toml: include_str!("../../../../profiles/workloads/exchange-2003.toml"),
    },
    Bundled {
        name: "brokerage",
        toml: include_str!("../../../../profiles/workloads/brokerage.toml"),
    },
];

/// The bundled profile of that name.
#[must_use]
pub fn bundled(name: &str) -> Option<Bundled> {
    BUNDLED.into_iter().find(|profile| profile.name == name)
}

impl Bundled {
    /// The profile as settings.
    ///
    /// # Errors
    /// None for the profiles as they are built in; a test loads them all.
    pub fn load(self) -> Result<Profile, LoadError> {
        load(vec![Layer::file(self.name, self.toml)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn every_bundled_profile_loads_and_describes_itself() {
        for profile in BUNDLED {
            let loaded = profile.load().unwrap_or_else(|error| panic!("{error}"));
            assert!(!loaded.description.is_empty(), "{}", profile.name);
        }
    }

    #[test]
    fn the_defaults_of_each_kind_are_bundled() {
        for (name, kind) in [
            ("exchange-2013", Kind::Mail),
            ("brokerage", Kind::Brokerage),
        ] {
            let mut profile = bundled(name).unwrap().load().unwrap();
            profile.description.clear();
            assert_eq!(profile, Profile::of_kind(kind));
        }
    }
}
