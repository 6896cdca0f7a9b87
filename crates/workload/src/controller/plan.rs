//! What a run does, worked out from its profile.

use super::load::{Loop, Pause};
use crate::brokerage::{books, kinds};
use crate::mail::content::{ContentSource, pool};
use crate::mail::deck::Operation;
use crate::mail::item::ItemMaker;
use crate::mail::permutation::RowKeys;
use crate::mail::population::HotSet;
use crate::mail::recount::InFlight;
use crate::mail::session::{SessionSettings, layout};
use crate::mail::sizing::RowSizes;
use crate::profile::{Kind, Mail, Profile};
use crate::random::derive;
use measure::sample::Layout;
use std::sync::Arc;

/// Sessions per database that carry out the arrivals of an open loop when the profile gives no
/// number.
const OPEN_LOOP_SESSIONS_PER_DATABASE: u32 = 64;
/// Seconds of arrivals that may wait for a session before arrivals are dropped.
pub const BACKLOG_S: f64 = 10.0;

/// What must be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyBy {
    /// The rate of database reads and writes.
    Rate,
    /// The average latency of database reads, for where the rate is held: it is then steady
    /// whatever the storage does.
    ReadLatency,
}

/// Everything a run needs to know. The same for all of its threads.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The settings in force.
    pub profile: Profile,
    /// Databases and operations.
    pub layout: Arc<Layout>,
    /// The databases of each shard.
    pub shards: Vec<Vec<usize>>,
    /// What transactions look like.
    pub session: SessionSettings,
    /// The hot set, if there is one.
    pub hot_set: Option<HotSet>,
    /// How transactions begin.
    pub how: Loop,
    /// Size of each database when it has been built.
    pub database_bytes: u64,
    /// Rows that each database is built with.
    pub built_rows: u64,
    /// Seed of the contents; that of the profile, or the one a reused database was built with.
    pub data_seed: u64,
    /// Whether the databases of an earlier run are expected to be there.
    pub reuse: bool,
    /// Whether the run ends when the databases have been built.
    pub build_only: bool,
    /// What is looked at to say whether the run was steady.
    pub steady_by: SteadyBy,
}

impl RunPlan {
    /// The plan of a run with up to `shards` threads.
    #[must_use]
    pub fn new(profile: &Profile, shards: usize) -> Self {
        match profile.kind {
            Kind::Mail => Self::of_mail(profile, shards),
            Kind::Brokerage => Self::of_brokerage(profile),
        }
    }

    /// A brokerage has one database and runs on one thread.
    fn of_brokerage(profile: &Profile) -> Self {
        let brokerage = &profile.brokerage;
        let scale = books::scale(brokerage);
        let mut plan = Self {
            layout: Arc::new(kinds::layout()),
            shards: vec![vec![0]],
            database_bytes: books::bytes_of(brokerage, scale),
            built_rows: 0,
            ..Self::of_mail(profile, 1)
        };
        plan.profile.service_levels.operations = kinds::levels(profile);
        plan
    }

    fn of_mail(profile: &Profile, shards: usize) -> Self {
        let mail = &profile.mail;
        let databases = mail.databases as usize;
        // With fewer sessions than threads some databases would get none.
        let threads = mail.threads.map_or(usize::MAX, |threads| threads as usize);
        let shards = shards.min(databases).min(threads).max(1);
        let dealt = |shard: usize| (shard..databases).step_by(shards).collect();
        let operations = f64::from(mail.mix.operations_per_transaction);
        let how = match profile.run.held_rate {
            None => Loop::Closed(Pause {
                fixed_ns: mail.session_pause.as_ns(),
                factor: mail.session_pause_factor,
            }),
            Some(rate) => Loop::Open {
                spacing: profile.run.arrivals,
                // An operation causes about one I/O or more.
                backlog_limit: (rate / operations * BACKLOG_S).ceil() as usize,
            },
        };
        Self {
            layout: Arc::new(layout((1..=databases).map(database_name))),
            shards: (0..shards).map(dealt).collect(),
            session: session_settings(mail),
            hot_set: hot_set(mail),
            how,
            database_bytes: mail.database_bytes(),
            built_rows: row_sizes(profile).rows_in(mail.database_bytes()),
            data_seed: profile.run.seed,
            reuse: false,
            build_only: false,
            steady_by: SteadyBy::Rate,
            profile: profile.clone(),
        }
    }

    /// Seed of one database: the places of its rows and the order of its deletes.
    #[must_use]
    pub fn database_seed(&self, database: usize) -> u64 {
        derive(self.data_seed, database as u64 + 1)
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
            mailboxes: mail.mailboxes_per_database,
            with_contents: true,
        }
    }

    /// Sessions to run when they are not tuned.
    #[must_use]
    pub fn fixed_sessions(&self) -> Option<u32> {
        let open = || OPEN_LOOP_SESSIONS_PER_DATABASE * self.profile.mail.databases;
        if self.profile.kind == Kind::Brokerage {
            return Some(self.profile.brokerage.users);
        }
        let threads = self.profile.mail.threads;
        threads.or_else(|| self.profile.run.held_rate.map(|_| open()))
    }

    /// The most rows that sessions insert or delete at one time in one database.
    #[must_use]
    pub fn most_in_flight(&self) -> InFlight {
        let sessions = self.fixed_sessions();
        let sessions = sessions.unwrap_or(self.profile.tuning.maximum_threads);
        let operations = self.profile.mail.mix.operations_per_transaction;
        InFlight(u64::from(sessions) * u64::from(operations))
    }

    /// Deals `sessions` over the shards by their numbers of databases, every shard at least one.
    #[must_use]
    pub fn deal_sessions(&self, sessions: u32) -> Vec<u32> {
        let databases = self.profile.mail.databases as usize;
        let mut dealt = vec![0; self.shards.len()];
        // Session by session to the database that is next, as the databases were dealt themselves.
        for session in 0..sessions as usize {
            dealt[session % databases % self.shards.len()] += 1;
        }
        dealt
            .iter()
            .map(|&sessions| u32::max(sessions, 1))
            .collect()
    }

    /// The share of the whole load that a shard carries.
    #[must_use]
    pub fn share_of(&self, shard: usize) -> f64 {
        self.shards[shard].len() as f64 / f64::from(self.profile.mail.databases)
    }
}

/// Name of database `number`, counted from 1.
#[must_use]
pub fn database_name(number: usize) -> String {
    format!("mail-{number:03}")
}

fn row_sizes(profile: &Profile) -> RowSizes {
    let item = &profile.mail.item;
    RowSizes {
        short_bytes: u64::from(item.short_bytes),
        long_bytes: u64::from(item.long_bytes),
        page_bytes: profile.engine.page_size.bytes(),
        page_fill: item.page_fill_percent / 100.0,
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::arrivals::Spacing;

    #[test]
    fn a_held_rate_is_spread_as_the_profile_says() {
        let mut profile = Profile::default();
        profile.run.held_rate = Some(100.0);
        for wanted in [Spacing::Even, Spacing::Poisson] {
            profile.run.arrivals = wanted;
            let how = RunPlan::new(&profile, 1).how;
            assert!(matches!(how, Loop::Open { spacing, .. } if spacing == wanted));
        }
    }

    #[test]
    fn every_database_and_every_session_is_dealt_once() {
        let mut profile = Profile::default();
        for (databases, cores, threads) in [(4, 2, 7), (5, 3, 11), (3, 8, 64), (6, 4, 2), (1, 1, 1)]
        {
            profile.mail.databases = databases;
            profile.mail.threads = Some(threads);
            let plan = RunPlan::new(&profile, cores);
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
