//! The pool of pages as a whole, over groups in memory.

mod analytic;
mod behaviour;
mod bytes;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::settings::{
    Affinity, GroupFacts, PoolGroupSettings, PoolPolicy, PoolSettings, PoolVolume,
    ReadCacheSettings,
};
use super::testing::MemoryGroups;
use super::tier::Tier;
use super::{PagedPool, PoolCompletion, PoolRead, PoolWrite};
use crate::VolumeId;
use crate::group::{GroupId, IoClass};
use crate::payload::Payload;

/// A disk group of a test: name, tier (none: a read cache), sectors, sectors of a stripe.
type TestGroup = (&'static str, Option<Tier>, u64, u64);

/// A pool and its groups.
struct Rig<P> {
    pool: PagedPool<P>,
    groups: MemoryGroups<P>,
    now_ns: u64,
}

fn facts(groups: &[TestGroup]) -> Vec<GroupFacts> {
    let facts = groups.iter().enumerate().map(|(number, group)| GroupFacts {
        name: group.0.to_owned(),
        id: GroupId(number as u16),
        usable_sectors: group.2,
        solid_state: group.1.is_none_or(|tier| tier == Tier::Performance),
    });
    facts.collect()
}

fn pool_settings(page_size_kib: u32, groups: &[TestGroup]) -> PoolSettings {
    let entries = groups.iter().filter_map(|&(name, tier, ..)| {
        tier.map(|tier| PoolGroupSettings {
            group: name.to_owned(),
            tier,
        })
    });
    PoolSettings {
        groups: entries.collect(),
        policy: PoolPolicy {
            page_size_kib,
            ..PoolPolicy::default()
        },
        read_cache: None,
    }
}

fn cache_settings(text: &str) -> Option<ReadCacheSettings> {
    Some(config::from_toml(&format!("group = \"cache\"\n{text}")).expect("a read cache"))
}

fn volume(number: u16, sectors: u64) -> PoolVolume {
    PoolVolume {
        id: VolumeId(number),
        path: format!("volumes.{number}.capacity_mib"),
        sectors,
        thick: false,
        affinity: Affinity::None,
    }
}

impl<P: Payload> Rig<P> {
    fn new(settings: &PoolSettings, groups: &[TestGroup], volumes: &[PoolVolume]) -> Self {
        let sizes: Vec<(u64, u64)> = groups.iter().map(|g| (g.2, g.3)).collect();
        let pool = PagedPool::new("pools.0", settings, &facts(groups), volumes);
        Self {
            pool: pool.expect("a pool that can exist"),
            groups: MemoryGroups::new(&sizes),
            now_ns: 0,
        }
    }

    fn read(&mut self, owner_id: u32, volume: u16, first_sector: u64, sectors: u32) {
        let read = PoolRead {
            owner_id,
            volume: VolumeId(volume),
            first_sector,
            sectors,
            class: IoClass::HostRead,
            sequential: false,
        };
        self.pool.read(self.now_ns, read, &mut self.groups);
    }

    fn write(&mut self, owner_id: u32, volume: u16, pieces: &[(u64, u32, P)]) {
        let write = PoolWrite {
            owner_id,
            volume: VolumeId(volume),
            class: IoClass::Destage,
            sequential: false,
        };
        self.pool
            .write(self.now_ns, write, pieces, &mut self.groups);
    }

    /// Lets one request below take effect or complete.
    fn step(&mut self, random: &mut Xoshiro256PlusPlus) {
        if let Some(completion) = self.groups.step(random) {
            self.pool
                .backend_done(self.now_ns, completion, &mut self.groups);
        }
    }

    /// Lets everything below complete, in the order it was submitted; returns what ended above.
    fn settle(&mut self) -> Vec<PoolCompletion<P>> {
        while let Some(completion) = self.groups.complete_oldest() {
            self.pool
                .backend_done(self.now_ns, completion, &mut self.groups);
        }
        std::iter::from_fn(|| self.pool.pop_done()).collect()
    }

    /// Lets the next plan happen.
    fn tick(&mut self) {
        if let Some(due_ns) = self.pool.next_event_ns() {
            self.now_ns = due_ns;
            self.pool.on_timer(due_ns, &mut self.groups);
        }
    }
}
