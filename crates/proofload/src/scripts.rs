//! Scripts: events at times, and the settings that they need, under a name.

use config::{ConfigError, Document, Format, Source, settings};

/// A script that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledScript {
    /// The name it goes by.
    pub name: &'static str,
    /// Its TOML.
    pub toml: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(BundledScript {
            name: $name,
            toml: include_str!(concat!("../../../profiles/scripts/", $name, ".toml")),
        }),*]
    };
}

/// Every built-in script.
pub const BUNDLED_SCRIPTS: &[BundledScript] = bundled![
    "rebuild-under-load",
    "double-failure",
    "fail-slow-disk",
    "controller-failover",
    "battery-loss",
    "lost-flush",
    "tier-fills",
    "path-flapping",
    "power-cut",
    "latent-sector-errors",
    "silent-corruption",
    "burst-credits",
];

/// The built-in script of that name.
#[must_use]
pub fn bundled_script(name: &str) -> Option<BundledScript> {
    BUNDLED_SCRIPTS
        .iter()
        .copied()
        .find(|script| script.name == name)
}

settings! {
    /// What happens to an array that is served.
    pub struct Script {
        /// What it shows.
        pub title: String;
        /// Settings of the array that it needs, as `--set` has them.
        pub settings: Vec<String> = Vec::new();
        /// What happens, as `--event` has it; times count from the start.
        pub events: Vec<String>;
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place.
    pub fn load(sources: &[Source]) -> Result<Self, ConfigError> {
        static SCRIPT: Format = Format::plain("script");
        let document =
            Document::load_with_rules(&SCRIPT, sources, |_: &Document<Self>| Vec::new())?;
        Ok(document.settings)
    }
}
