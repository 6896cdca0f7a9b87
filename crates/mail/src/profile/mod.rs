//! The profile of the mail workload: what to run, on what engine, judged by which limits.

mod load;
mod rules;
mod storage_tests;

pub use edb::settings::{Engine, Maintenance};
pub use load::{Access, Item, Mail, Mix};
pub use storage_tests::{Backup, PassiveCopies, Recovery, Test, TestSelection};

use config::{ConfigError, Layers, settings};
use measure::result::TestKind;
use workload::Bundled;
use workload::profile::{FindLoad, Levels, Run, Tuning, read};

/// The kind of workload, as profiles name it.
pub(crate) const KIND: &str = "mail";

settings! {
    /// What kind of workload this is.
    pub struct MailProfile {
        /// The kind of workload. Every profile file must say it.
        pub kind: String = KIND.to_owned(), source "Project default.";
        /// One line for lists and reports.
        pub description: String = String::new(), source "Project default.";
        /// How many mailboxes there are, and how much they ask for.
        pub mail: Mail = Mail::default();
        /// How the database engine caches, logs and writes.
        pub engine: Engine = Engine::default();
        /// The endless scan that reads and verifies every page of a database.
        pub maintenance: Maintenance = Maintenance::default();
        /// The limits that decide the verdict.
        pub service_levels: Levels = Levels::default();
        /// How long a run lasts and what it samples.
        pub run: Run = Run::default();
        /// How threads = "auto" finds its number.
        pub tuning: Tuning = Tuning::default();
        /// Which tests a run on real storage makes. A prediction is one of the performance test.
        pub test: Test = Test::default();
        /// The backup: all databases are read at the same time, each from its first page to its last.
        pub backup: Backup = Backup::default();
        /// Soft recovery: a load writes log files while the checkpoint is held, the databases are left
        /// without being closed, and are recovered.
        pub recovery: Recovery = Recovery::default();
        /// Passive copies of the databases (--copy-to): seeded before the load, then kept up to date by their
        /// log files, and compared at the end. Seeding reads as a backup does.
        pub passive_copies: PassiveCopies = PassiveCopies::default();
    }
}

/// The bundled profiles, the default first.
pub(crate) const BUNDLED: &[Bundled] = &[
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
];

/// A setting of earlier versions that nothing has ever read.
const WITHOUT_EFFECT: &str = "batch_size";

impl MailProfile {
    /// Reads a profile; `kinds` are all kinds of workload, for messages.
    ///
    /// # Errors
    /// Everything that is wrong, each fault with its place.
    pub fn read(layers: Layers, kinds: &[&str]) -> Result<Self, ConfigError> {
        read(layers, kinds, &Self::default(), rules::broken).map_err(explain_removed)
    }

    /// Whether transactions begin by the clock: at a rate that is given, or at those of a search.
    #[must_use]
    pub fn holds_rate(&self) -> bool {
        let holds = self.mail.held_transactions_per_second.is_some();
        holds || self.run.held_rate.is_some() || self.tuning.find == FindLoad::MaxIops
    }

    /// Database reads and writes per second that the run is to reach: the held rate if there is
    /// one, else what the mailboxes ask for; 0 while a rate of transactions is held.
    #[must_use]
    pub fn rate_to_reach(&self) -> f64 {
        match self.mail.held_transactions_per_second {
            Some(_) => 0.0,
            None => self.run.held_rate.unwrap_or(self.mail.target_iops()),
        }
    }

    /// The tests of a run, in their order.
    #[must_use]
    pub fn tests(&self) -> Vec<TestKind> {
        let kind = self.test.kind;
        let is_long = self.run.duration.as_seconds() > self.service_levels.lenient_above_s;
        let measured = match kind == TestSelection::Stress || is_long {
            true => TestKind::Stress,
            false => TestKind::Performance,
        };
        let all = [
            (measured, kind.is_measured()),
            (TestKind::Backup, kind.has_backup()),
            (TestKind::Recovery, kind.has_recovery()),
        ];
        let asked_for = all.into_iter().filter(|(_, is_part)| *is_part);
        asked_for.map(|(test, _)| test).collect()
    }
}

/// Says of a setting that is gone why it is: its unknown key alone would not.
fn explain_removed(mut error: ConfigError) -> ConfigError {
    let is_removed: Vec<bool> = error
        .diagnostics
        .iter()
        .map(|one| {
            let place = error.place_of(one);
            let key = place.and_then(|(source, span)| source.text.get(span));
            key.is_some_and(|key| key.rsplit('.').next() == Some(WITHOUT_EFFECT))
        })
        .collect();
    for (diagnostic, _) in error
        .diagnostics
        .iter_mut()
        .zip(is_removed)
        .filter(|one| one.1)
    {
        "maintenance.batch_size had no effect and is not a setting any more"
            .clone_into(&mut diagnostic.message);
        diagnostic.help = Some(
            "remove it; the scan reads as much at once as engine.max_coalesced_read".to_owned(),
        );
    }
    error
}
