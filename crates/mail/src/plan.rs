//! What a run on mailbox databases does, worked out from its profile.

use crate::content::{ContentSource, pool};
use crate::item::ItemMaker;
use crate::keys::RowKeys;
use crate::operation::Operation;
use crate::population::{HotSet, Population, PopulationState};
use crate::profile::{Mail, MailProfile};
use crate::recount::InFlight;
use crate::session::{MailDatabase, MailDatabaseParts, SessionSettings, layout};
use crate::sizing::RowSizes;
use crate::store::MailStore;
use measure::sample::Recorder;
use measure::service_level::OperationLevels;
use runtime::Handle;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use workload::Profile;
use workload::controller::load::{Loop, Pause};
use workload::controller::plan::{BackupPlan, RecoveryPlan, SteadyBy, Tests};
use workload::controller::{RunPlan, Together};
use workload::pacing::turns::Division;
use workload::progress::Clients;
use workload::random::derive;

/// Sessions per database that carry out the arrivals of an open loop when the profile gives no
/// number.
pub(crate) const OPEN_LOOP_SESSIONS_PER_DATABASE: u32 = 64;

/// Everything that a run on mailbox databases needs to know. The same for all of its threads.
#[derive(Debug, Clone)]
pub struct MailPlan {
    /// The settings in force.
    pub profile: MailProfile,
    /// What it has in common with every other run.
    pub run: RunPlan,
    /// What transactions look like.
    pub session: SessionSettings,
    /// The hot set, if there is one.
    pub hot_set: Option<HotSet>,
    /// Rows that each database is built with.
    pub built_rows: u64,
    /// Seed of the contents; that of the profile, or the one a reused database was built with.
    pub data_seed: u64,
    /// What a database notes of the run: when it was started and how often it was resumed; empty when that is
    /// nobody's concern.
    pub last_run: String,
}

impl MailPlan {
    /// The plan of a run with up to `shards` threads.
    #[must_use]
    pub fn new(profile: &MailProfile, shards: usize) -> Self {
        let mail = &profile.mail;
        Self {
            profile: profile.clone(),
            run: run_plan(profile, shards),
            session: session_settings(mail),
            hot_set: hot_set(mail),
            built_rows: row_sizes(profile).rows_in(mail.database_bytes()),
            data_seed: profile.run.seed,
            last_run: String::new(),
        }
    }

    /// Seed of one database: the places of its rows and the order of its deletes.
    #[must_use]
    pub fn database_seed(&self, database: usize) -> u64 {
        derive(self.data_seed, database as u64 + 1)
    }

    /// What the header of a database is distinguished by that was built with this seed.
    #[must_use]
    pub fn signature_of(&self, seed: u64, database: usize) -> u32 {
        derive(seed, database as u64 + 1) as u32
    }

    /// Makes and checks the items of a database that was built with `built_rows` rows.
    #[must_use]
    pub fn item_maker(&self, database: usize, built_rows: u64) -> ItemMaker {
        let mail = &self.profile.mail;
        let seed = self.database_seed(database);
        let compressible = mail.item.compressible_percent / 100.0;
        ItemMaker {
            keys: RowKeys::new(built_rows, seed),
            content: ContentSource::with_pool(pool(self.data_seed), seed, compressible),
            short_bytes: mail.item.short_bytes as usize,
            long_bytes: mail.item.long_bytes as usize,
            is_indexed: mail.item.indexed,
            mailboxes: mail.mailboxes_per_database,
            with_contents: true,
        }
    }

    /// The database that sessions work on, over an opened store with these rows. `recorder` counts
    /// its operations.
    #[must_use]
    pub fn loaded<S: MailStore>(
        &self,
        database: usize,
        handle: &Handle,
        store: S,
        rows: PopulationState,
        recorder: Rc<RefCell<Recorder>>,
    ) -> MailDatabase<S> {
        let seed = self.database_seed(database);
        MailDatabase::new(MailDatabaseParts {
            store,
            handle: handle.clone(),
            settings: self.session.clone(),
            maker: self.item_maker(database, rows.built_rows),
            population: Population::new(rows, seed, self.hot_set),
            recorder,
            index: database,
            seed: self.run.run.seed,
        })
    }

    /// The most rows that sessions insert or delete at one time in one database.
    #[must_use]
    pub fn most_in_flight(&self) -> InFlight {
        let sessions = self.run.fixed_sessions;
        let sessions = sessions.unwrap_or(self.profile.tuning.maximum_threads);
        let operations = self.profile.mail.mix.operations_per_transaction;
        InFlight(u64::from(sessions) * u64::from(operations))
    }
}

fn run_plan(profile: &MailProfile, shards: usize) -> RunPlan {
    let mail = &profile.mail;
    let databases = mail.databases as usize;
    // With fewer sessions than threads some databases would get none.
    let threads = mail
        .sessions()
        .map_or(usize::MAX, |threads| threads as usize);
    let shards = shards.min(databases).min(threads).max(1);
    let dealt = |shard: usize| (shard..databases).step_by(shards).collect();
    let how = match profile.holds_rate() {
        false => Loop::Closed(Pause {
            fixed_ns: mail.session_pause.as_ns(),
            factor: mail.session_pause_factor,
        }),
        true => Loop::Open {
            spacing: profile.run.arrivals,
        },
    };
    let of_arrivals = || OPEN_LOOP_SESSIONS_PER_DATABASE * mail.databases;
    RunPlan {
        layout: Arc::new(layout((1..=databases).map(database_name))),
        shards: (0..shards).map(dealt).collect(),
        clients: Clients::THREADS,
        how,
        operations_per_transaction: mail.mix.operations_per_transaction,
        fixed_sessions: mail
            .sessions()
            .or_else(|| profile.holds_rate().then(of_arrivals)),
        division: Division {
            keeps_database: mail.threads_per_database.is_some(),
            weights: mail.load_weights.clone(),
        },
        held_transactions_per_second: mail.held_transactions_per_second,
        target_iops: match mail.held_transactions_per_second {
            Some(_) => 0.0,
            None => mail.target_iops(),
        },
        database_bytes: mail.database_bytes(),
        page_bytes: profile.engine.page_size.bytes(),
        reuse: false,
        restored_from: None,
        build_only: false,
        warm_up: profile.warm_up_in_prediction(),
        steady_by: SteadyBy::Rate,
        tests: tests(profile),
        together: Together::default(),
        interrupted: None,
        run: profile.run.clone(),
        tuning: profile.tuning.clone(),
        service_levels: profile.service_levels.with(OperationLevels::default()),
    }
}

/// The tests besides a load that is measured. Where copies go is known to whoever takes that place.
fn tests(profile: &MailProfile) -> Tests {
    let kind = profile.test.kind;
    Tests {
        without_measured_phase: !kind.is_measured(),
        backup: kind.has_backup().then(|| BackupPlan {
            under_load: profile.backup.under_load,
            copied_to: String::new(),
        }),
        recovery: kind.has_recovery().then(|| RecoveryPlan {
            log_files: profile.recovery.log_files,
            log_file_bytes: profile.engine.log_file_size.bytes(),
        }),
        replication: None,
    }
}

/// How the names of databases begin.
pub(crate) const DATABASE_PREFIX: &str = "mail-";

/// Name of database `number`, counted from 1.
#[must_use]
pub fn database_name(number: usize) -> String {
    format!("{DATABASE_PREFIX}{number:03}")
}

fn row_sizes(profile: &MailProfile) -> RowSizes {
    let item = &profile.mail.item;
    RowSizes {
        short_bytes: u64::from(item.short_bytes),
        long_bytes: u64::from(item.long_bytes),
        page_bytes: profile.engine.page_size.bytes(),
        page_fill: item.page_fill_percent / 100.0,
        is_indexed: item.indexed,
    }
}

fn hot_set(mail: &Mail) -> Option<HotSet> {
    let access = &mail.access;
    (access.hot_data_percent < 100.0).then(|| HotSet {
        rows_fraction: access.hot_data_percent / 100.0,
        accesses_fraction: access.hot_access_percent / 100.0,
    })
}

fn session_settings(mail: &Mail) -> SessionSettings {
    let mix = &mail.mix;
    SessionSettings {
        mix: vec![
            (Operation::Insert, mix.insert_percent),
            (Operation::Delete, mix.delete_percent),
            (Operation::Replace, mix.replace_percent),
            (Operation::Read, mix.read_percent().max(0.0)),
            (Operation::Scan, mix.scan_percent),
        ],
        operations_per_transaction: mix.operations_per_transaction,
        lazy_fraction: mix.lazy_commit_percent / 100.0,
        lazy_within_ms: mix.lazy_commit_window.as_ms() as u64,
        replace_long: mail.item.replace_long,
        read_long: mail.item.read_long,
        read_by_index_fraction: mail.item.read_by_index_percent / 100.0,
        scan_items: mix.scan_items,
        scan_long: mail.item.scan_long,
        scan_read_ahead: mix.scan_read_ahead,
        read_ahead: mix.read_ahead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::pacing::arrivals::Spacing;

    #[test]
    fn a_held_rate_is_spread_as_the_profile_says() {
        let mut profile = MailProfile::default();
        profile.run.held_rate = Some(100.0);
        for wanted in [Spacing::Even, Spacing::Poisson] {
            profile.run.arrivals = wanted;
            let how = MailPlan::new(&profile, 1).run.how;
            assert!(matches!(how, Loop::Open { spacing } if spacing == wanted));
        }
    }

    #[test]
    fn every_database_and_every_session_is_dealt_once() {
        let mut profile = MailProfile::default();
        for (databases, cores, threads) in [(4, 2, 7), (5, 3, 11), (3, 8, 64), (6, 4, 2), (1, 1, 1)]
        {
            profile.mail.databases = databases;
            profile.mail.threads = Some(threads);
            let plan = MailPlan::new(&profile, cores).run;
            let mut dealt: Vec<usize> = plan.shards.concat();
            dealt.sort_unstable();
            assert_eq!(dealt, (0..databases as usize).collect::<Vec<_>>());
            assert_eq!(plan.deal_sessions(threads).iter().sum::<u32>(), threads);
            let shares: f64 = (0..plan.shards.len())
                .map(|shard| plan.share_of(shard))
                .sum();
            assert!((shares - 1.0).abs() < 1e-9);
        }
    }
}
