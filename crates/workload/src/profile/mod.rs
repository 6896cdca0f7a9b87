//! The profile of a workload: everything a run does, in one typed tree.
//!
//! [`Profile`] is the tree; its defaults are the bundled profile `exchange-2013`. Each section
//! lists its settings once (see [`setting`]), with range, meaning and source. From that list come
//! the loader ([`load`]: files and `--set`, with the place of every fault), the resolved TOML
//! ([`Profile::to_toml`]) and the reference in `docs/profiles.md` ([`reference`]).

pub mod brokerage;
mod brokerage_rules;
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

pub use brokerage::Brokerage;
pub use bundled::{BUNDLED, Bundled, bundled};
pub use engine::{DatabaseWrites, Engine, Maintenance, TornPageGuard};
pub use load::{Fault, Layer, LoadError, load, scalar_of_text};
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
    /// The brokerage load.
    pub brokerage: Brokerage,
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
    /// A brokerage house on a database.
    Brokerage,
}

impl Named for Kind {
    const NAMES: &'static [(&'static str, Self)] =
        &[("mail", Self::Mail), ("brokerage", Self::Brokerage)];
}

impl Profile {
    /// The defaults of a kind of workload.
    #[must_use]
    pub fn of_kind(kind: Kind) -> Self {
        let mut profile = Self {
            kind,
            ..Self::default()
        };
        if kind == Kind::Brokerage {
            profile.run.verify_after_run = false;
            profile.run.warm_up.minimum = TimeSpan::seconds(900);
        }
        profile
    }

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
        match self.kind {
            Kind::Mail => {
                self.mail.visit(v);
                self.engine.visit(v);
                self.maintenance.visit(v);
                service_levels::visit(&mut self.service_levels, v);
                self.run.visit(v);
                self.tuning.visit(v);
            }
            Kind::Brokerage => {
                self.brokerage.visit(v);
                service_levels::visit(&mut self.service_levels, v);
                self.run.visit(v);
            }
        }
    }

    /// The rate the run is to reach: the held rate if there is one, else what the mailboxes ask
    /// for.
    #[must_use]
    pub fn rate_to_reach(&self) -> f64 {
        let asked_for = match self.kind {
            Kind::Mail => self.mail.target_iops(),
            Kind::Brokerage => 0.0,
        };
        self.run.held_rate.unwrap_or(asked_for)
    }
}
