//! The workloads that there are: a workload is a crate of its own and one line here.

use config::{ConfigError, Format, Layers, Source};
use workload::Workload;
use workload::{Bundled, Profile};

/// The workloads of this library.
pub static WORKLOADS: Registry = Registry {
    workloads: &[
        Registered {
            workload: &mail::WORKLOAD,
            #[cfg(feature = "host")]
            prepare: crate::run::prepare_mail,
        },
        Registered {
            workload: &brokerage::WORKLOAD,
            #[cfg(feature = "host")]
            prepare: crate::run::prepare_brokerage,
        },
    ],
    format: &PROFILE,
};

static PROFILE: Format = Format {
    noun: "profile",
    bundled: |name| WORKLOADS.bundled(name).map(|profile| profile.toml),
    names: || {
        WORKLOADS
            .bundled_profiles()
            .map(|profile| profile.name)
            .collect()
    },
    // What breaks is read by the array that it breaks in.
    ignored: &["event"],
    required: Some((
        "kind",
        "the profile does not say what kind it is",
        "begin the file with kind = \"mail\" or kind = \"brokerage\"",
    )),
};

/// A workload, and how it runs on real storage.
#[derive(Debug)]
pub struct Registered {
    /// The workload.
    pub workload: &'static dyn Workload,
    /// What begins a run on real storage.
    #[cfg(feature = "host")]
    pub prepare: crate::run::Prepare,
}

/// A set of workloads. A profile says by its `kind` which of them it is for.
#[derive(Debug)]
pub struct Registry {
    /// The workloads, the default first.
    pub workloads: &'static [Registered],
    /// How their profiles are joined from texts: what they may extend.
    pub format: &'static Format,
}

impl Default for &'static Registry {
    fn default() -> Self {
        &WORKLOADS
    }
}

impl Registry {
    /// Every bundled profile, in the order of the workloads.
    pub fn bundled_profiles(&self) -> impl Iterator<Item = Bundled> + use<> {
        let workloads = self.workloads.iter();
        workloads.flat_map(|one| one.workload.bundled()).copied()
    }

    /// The bundled profile of that name.
    #[must_use]
    pub fn bundled(&self, name: &str) -> Option<Bundled> {
        self.bundled_profiles().find(|profile| profile.name == name)
    }

    /// Reads the profile that the sources describe, later ones over earlier ones.
    ///
    /// # Errors
    /// Everything that is wrong, each fault with its place.
    pub fn read(&self, sources: &[Source]) -> Result<Box<dyn Profile>, ConfigError> {
        let layers = Layers::join(self.format, sources);
        let kind = layers.text("kind").map(str::to_owned);
        let kinds: Vec<&str> = self
            .workloads
            .iter()
            .map(|one| one.workload.kind())
            .collect();
        let named = |one: &&Registered| Some(one.workload.kind()) == kind.as_deref();
        // A kind that is missing or wrong is found with the settings.
        let known = self.workloads.iter().find(named);
        known
            .unwrap_or(&self.workloads[0])
            .workload
            .read(layers, &kinds)
    }
}
