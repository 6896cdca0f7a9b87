//! The profile of a workload: everything a run does, in one typed tree.
//!
//! [`Profile`] is the tree; its defaults are the bundled profile `exchange-2013`. Each section
//! lists its settings once (see [`setting`]), with range, meaning and source. From that list come
//! the loader ([`load`]: files and `--set`, with the place of every fault), the resolved TOML
//! ([`Profile::to_toml`]) and the reference in `docs/profiles.md` ([`reference`]).

mod bundled;
mod engine;
mod load;
mod mail;
mod quantity;
mod render;
mod rules;
mod run;
mod service_levels;
pub mod setting;

pub use bundled::{BUNDLED, Bundled, bundled};
pub use engine::{DatabaseWrites, Engine, Maintenance, TornPageGuard};
pub use load::{Fault, Layer, LoadError, load};
pub use mail::{Access, Item, Mail, Mix};
pub use quantity::{ByteSize, TimeSpan};
pub use render::reference;
pub use run::{Run, SteadyState, Tuning, WarmUp};

use measure::service_level::ServiceLevels;
use setting::{Choice, Named, Setting, SettingVisitor, Text};

/// A workload: what to run, on what engine, judged by which limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The kind of workload.
    pub kind: Kind,
    /// One line for lists.
    pub description: String,
    /// The mail load.
    pub mail: Mail,
    /// The database engine.
    pub engine: Engine,
    /// The background scan.
    pub maintenance: Maintenance,
    /// The limits of the verdict.
    pub service_levels: ServiceLevels,
    /// The course of a run.
    pub run: Run,
    /// The search for the thread count.
    pub tuning: Tuning,
}

/// The kinds of workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A mail server.
    #[default]
    Mail,
}

impl Named for Kind {
    const NAMES: &'static [(&'static str, Self)] = &[("mail", Self::Mail)];
}

impl Profile {
    /// Walks over every setting, section by section.
    pub fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section("", "What kind of workload this is.");
        v.setting(Setting {
            key: "kind",
            value: &mut Choice(&mut self.kind),
            meaning: "The kind of workload. Every profile file must say it.",
            source: "Ours.",
        });
        v.setting(Setting {
            key: "description",
            value: &mut Text(&mut self.description),
            meaning: "One line for lists and reports.",
            source: "Ours.",
        });
        self.mail.visit(v);
        self.engine.visit(v);
        self.maintenance.visit(v);
        service_levels::visit(&mut self.service_levels, v);
        self.run.visit(v);
        self.tuning.visit(v);
    }

    /// The rate the run is to reach: the held rate if there is one, else what the mailboxes ask
    /// for.
    #[must_use]
    pub fn rate_to_reach(&self) -> f64 {
        self.run
            .held_rate
            .unwrap_or_else(|| self.mail.target_iops())
    }
}
