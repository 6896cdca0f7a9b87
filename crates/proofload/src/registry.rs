//! The workloads that there are: a workload is a crate of its own and one line here.

use config::{ConfigError, Format, Layers, Source};
#[cfg(feature = "host")]
use execution::RunnableWorkload;
use measure::display::Contribution;
use measure::result::RunResult;
use serde_json::Value;
use workload::Workload;
use workload::{Bundled, Profile};

/// The workloads of this library.
pub static WORKLOADS: Registry = Registry {
    workloads: &[&mail::WORKLOAD, &brokerage::WORKLOAD],
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
    // What a profile says of the array is read with the array.
    ignored: &["array", "event", "settled"],
    required: Some((
        "kind",
        "the profile does not say what kind it is",
        "begin the file with a kind, such as kind = \"mail\"; 'proofload list' has them all. Arrays, disks and \
         studies are shown with --array, --disk and --study",
    )),
};

/// A workload as the registry has it: with `host` it runs on real storage, too.
#[cfg(feature = "host")]
pub type RegisteredWorkload = dyn RunnableWorkload;

/// A workload as the registry has it, for predictions.
#[cfg(not(feature = "host"))]
pub type RegisteredWorkload = dyn Workload;

/// A set of workloads. A profile says by its `kind` which of them it is for.
#[derive(Debug)]
pub struct Registry {
    /// The workloads, the default first.
    pub workloads: &'static [&'static RegisteredWorkload],
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
        self.all().flat_map(Workload::bundled).copied()
    }

    /// The bundled profile of that name.
    #[must_use]
    pub fn bundled(&self, name: &str) -> Option<Bundled> {
        self.bundled_profiles().find(|profile| profile.name == name)
    }

    /// What the workload of a result adds to its report; nothing for a workload that is not here,
    /// and for a trace.
    #[must_use]
    pub fn contribution(&self, result: &RunResult) -> Contribution {
        let known = self.workload_of(result);
        known.map_or_else(Contribution::default, |one| one.contribution(result))
    }

    /// The workload of a result; none for one that is not here, and for a trace.
    #[must_use]
    pub fn workload_of(&self, result: &RunResult) -> Option<&'static dyn Workload> {
        let kind = result.workload.settings.get("kind").and_then(Value::as_str);
        let kind = kind.filter(|_| result.kind.is_of_workload());
        self.all().find(|one| Some(one.kind()) == kind)
    }

    /// Reads the profile that the sources describe, later ones over earlier ones.
    ///
    /// # Errors
    /// Everything that is wrong, each fault with its place.
    pub fn read(&self, sources: &[Source]) -> Result<Box<dyn Profile>, ConfigError> {
        let layers = Layers::join(self.format, sources);
        let kind = layers.text("kind").map(str::to_owned);
        let kinds: Vec<&str> = self.all().map(Workload::kind).collect();
        // A kind that is missing or wrong is found with the settings.
        let known = self.all().find(|one| Some(one.kind()) == kind.as_deref());
        let known = known.unwrap_or(self.workloads[0]);
        known.read(layers, &kinds)
    }

    /// A workload as one that runs on real storage.
    #[cfg(feature = "host")]
    pub(crate) fn runnable(
        &self,
        workload: &dyn Workload,
    ) -> Option<&'static dyn RunnableWorkload> {
        let kind = workload.kind();
        let mut workloads = self.workloads.iter().copied();
        workloads.find(|one| one.kind() == kind)
    }

    fn all(&self) -> impl Iterator<Item = &'static dyn Workload> + use<> {
        self.workloads.iter().map(|one| *one as &dyn Workload)
    }
}
