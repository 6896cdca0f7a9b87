//! The rules a description of a pool must keep.

use std::collections::BTreeSet;

use super::{GroupFacts, PoolSettings, PoolVolume, ReadCacheSettings, Tier, gib_in_sectors};
use crate::Complaint;
use crate::pool::page::{GROUPS_MAX, SLOTS_MAX};

/// Complaints about one pool, collected under its path.
struct Complaints<'a> {
    path: &'a str,
    list: Vec<Complaint>,
}

impl Complaints<'_> {
    fn add(&mut self, key: &str, message: String) {
        self.list
            .push(Complaint::new(format!("{}.{key}", self.path), message));
    }

    fn require(&mut self, holds: bool, key: &str, message: &str) {
        if !holds {
            self.add(key, message.to_owned());
        }
    }
}

impl PoolSettings {
    /// Every rule this pool breaks. `path` is where it stands in the description, as in
    /// `pools.0`; `groups` are all disk groups that exist, `volumes` those of this pool.
    pub fn check(
        &self,
        path: &str,
        groups: &[GroupFacts],
        volumes: &[PoolVolume],
    ) -> Vec<Complaint> {
        let mut complaints = Complaints {
            path,
            list: Vec::new(),
        };
        complaints.require(
            self.page_size_kib.is_power_of_two() && (4..=1 << 20).contains(&self.page_size_kib),
            "page_size_kib",
            "A page must be a power of two from 4 KiB to 1 GiB.",
        );
        if !complaints.list.is_empty() {
            return complaints.list;
        }
        let pages = self.check_groups(groups, &mut complaints);
        self.check_volumes(volumes, pages, &mut complaints);
        self.check_tiering(&mut complaints);
        if let Some(cache) = &self.read_cache {
            self.check_read_cache(cache, groups, volumes, &mut complaints);
        }
        complaints.require(
            (0.0..=100.0).contains(&self.page_spread_percent),
            "page_spread_percent",
            "A share is 0 to 100 percent.",
        );
        let levels = &self.warning_levels_percent;
        complaints.require(
            levels.is_sorted_by(|low, high| low < high) && levels.iter().all(|&l| l <= 100),
            "warning_levels_percent",
            "Warning levels must ascend and be at most 100.",
        );
        complaints.list
    }

    /// Checks the groups; says how many pages they hold if all of them are known.
    fn check_groups(&self, groups: &[GroupFacts], complaints: &mut Complaints) -> Option<u64> {
        complaints.require(
            !self.groups.is_empty() && self.groups.len() <= GROUPS_MAX,
            "groups",
            &format!("A pool needs 1 to {GROUPS_MAX} disk groups."),
        );
        let mut names = BTreeSet::new();
        let mut pages = Some(0);
        for (index, entry) in self.groups.iter().enumerate() {
            let key = format!("groups.{index}.group");
            if !names.insert(&entry.group) {
                complaints.add(&key, format!("Disk group {:?} stands twice.", entry.group));
            }
            let Some(facts) = groups.iter().find(|facts| facts.name == entry.group) else {
                pages = None;
                complaints.add(&key, unknown_group(&entry.group, groups));
                continue;
            };
            let slots = facts.usable_sectors / self.page_sectors();
            pages = pages.map(|pages| pages + slots);
            if slots == 0 || slots > u64::from(SLOTS_MAX) {
                let message = format!(
                    "Disk group {:?} holds {slots} pages; it must hold 1 to {SLOTS_MAX}.",
                    entry.group
                );
                complaints.add(&key, message);
            }
            let key = format!("groups.{index}.tier");
            complaints.require(
                (entry.tier == Tier::Performance) == facts.solid_state,
                &key,
                "The performance tier is made of SSDs, and SSDs are the performance tier; put \
                 spinning disks into \"standard\" or \"archive\".",
            );
        }
        pages
    }

    fn check_volumes(
        &self,
        volumes: &[PoolVolume],
        pages: Option<u64>,
        complaints: &mut Complaints,
    ) {
        let (mut virtual_pages, mut thick_pages) = (0_u64, 0_u64);
        for volume in volumes {
            let needed = volume.sectors.div_ceil(self.page_sectors());
            virtual_pages = virtual_pages.saturating_add(needed);
            if !volume.thick {
                continue;
            }
            thick_pages = thick_pages.saturating_add(needed);
            if let Some(pages) = pages.filter(|&pages| thick_pages > pages) {
                let message = format!(
                    "The thick volumes up to this one need {thick_pages} pages of {} KiB, their \
                     pool has {pages}; make the volume smaller or thin, or add disks.",
                    self.page_size_kib
                );
                complaints.list.push(Complaint::new(&volume.path, message));
            }
        }
        if virtual_pages > u64::from(u32::MAX / 2) {
            let message = "The volumes of a pool may have at most 2,147,483,647 pages together; \
                           make them smaller or the pages larger.";
            complaints.add("page_size_kib", message.to_owned());
        }
    }

    fn check_tiering(&self, complaints: &mut Complaints) {
        let tiering = &self.tiering;
        let not_negative = |value: f64| value.is_finite() && value >= 0.0;
        complaints.require(
            tiering.interval_s.is_finite() && (1e-3..=1e6).contains(&tiering.interval_s),
            "tiering.interval_s",
            "The interval must be from 0.001 to 1,000,000 seconds.",
        );
        complaints.require(
            tiering.half_life_s.is_finite()
                && (tiering.half_life_s == 0.0 || tiering.half_life_s * 16.0 >= tiering.interval_s),
            "tiering.half_life_s",
            "The half-life must be 0 (no fading) or at least a sixteenth of the interval.",
        );
        for (key, value) in [
            ("tiering.promote_score", tiering.promote_score),
            (
                "tiering.promote_score_preferred",
                tiering.promote_score_preferred,
            ),
            ("tiering.swap_margin", tiering.swap_margin),
            ("tiering.cold_score", tiering.cold_score),
        ] {
            complaints.require(
                not_negative(f64::from(value)),
                key,
                "A score must be 0 or more.",
            );
        }
        complaints.require(
            tiering.swap_ratio.is_finite() && tiering.swap_ratio >= 1.0,
            "tiering.swap_ratio",
            "The ratio must be at least 1, or pages would give way to colder ones.",
        );
        complaints.require(
            (0.0..=100.0).contains(&tiering.settled_percent),
            "tiering.settled_percent",
            "A share is 0 to 100 percent.",
        );
        complaints.require(
            (1..=4096).contains(&tiering.moves_in_flight_max),
            "tiering.moves_in_flight_max",
            "From 1 to 4096 pages can be moved at once.",
        );
        complaints.require(
            (0.0..=1e9).contains(&tiering.head_start_s),
            "tiering.head_start_s",
            "The head start must be 0 s or more.",
        );
        complaints.require(
            (0.0..=1e6).contains(&tiering.aged_h),
            "tiering.aged_h",
            "The tier must have 0 hours or more behind it.",
        );
        complaints.require(
            tiering.aged_h == 0.0 || tiering.head_start_s > 0.0,
            "tiering.aged_h",
            "A tier that has hours behind it needs a head start: set tiering.head_start_s, too.",
        );
        complaints.require(
            u64::from(tiering.move_limit_mib) * 1024 >= u64::from(self.page_size_kib),
            "tiering.move_limit_mib",
            "The limit must allow at least one page per interval.",
        );
    }

    fn check_read_cache(
        &self,
        cache: &ReadCacheSettings,
        groups: &[GroupFacts],
        volumes: &[PoolVolume],
        complaints: &mut Complaints,
    ) {
        complaints.require(
            self.groups.iter().all(|entry| entry.group != cache.group),
            "read_cache.group",
            "The read cache needs a disk group of its own; this one holds pages.",
        );
        let line_fits = cache.line_kib.is_power_of_two() && cache.line_kib <= self.page_size_kib;
        complaints.require(
            line_fits,
            "read_cache.line_kib",
            "A line must be a power of two, 1 KiB to a page.",
        );
        let page_lines = u64::from(self.page_size_kib / cache.line_kib.max(1)).max(1);
        let pages = volumes.iter().map(|volume| {
            let pages = volume.sectors.div_ceil(self.page_sectors());
            pages.saturating_mul(page_lines)
        });
        complaints.require(
            !line_fits || pages.fold(0, u64::saturating_add) < u64::from(u32::MAX),
            "read_cache.line_kib",
            "The volumes of the pool have more than 4,294,967,294 such lines; use longer ones.",
        );
        complaints.require(
            (0.0..=100.0).contains(&cache.fill.warm_percent),
            "read_cache.fill.warm_percent",
            "A share is 0 to 100 percent.",
        );
        complaints.require(
            cache.fill.at_miss > 0 && cache.fill.in_flight_max > 0,
            "read_cache.fill",
            "at_miss and in_flight_max must be at least 1; leave the read cache out to have none.",
        );
        let policy = self.tiering.policy;
        complaints.require(
            !cache.fill.hot_pages_only || policy.scores_pages(),
            "read_cache.fill.hot_pages_only",
            "Pages are hot by a tiering policy that scores them: scan-rank-move or heat.",
        );
        let limit_fits = cache.limit_gib.is_finite() && cache.limit_gib > 0.0;
        complaints.require(
            limit_fits,
            "read_cache.limit_gib",
            "The limit must be above 0.",
        );
        let Some(facts) = groups.iter().find(|facts| facts.name == cache.group) else {
            complaints.add("read_cache.group", unknown_group(&cache.group, groups));
            return;
        };
        complaints.require(
            facts.solid_state,
            "read_cache.group",
            "A read cache is made of SSDs.",
        );
        check_cache_size(cache, facts, complaints);
    }
}

fn check_cache_size(cache: &ReadCacheSettings, facts: &GroupFacts, complaints: &mut Complaints) {
    let line_sectors = u64::from(cache.line_kib) * 2;
    let size = cache.size_gib.map_or(facts.usable_sectors, gib_in_sectors);
    complaints.require(
        size >= line_sectors && size <= facts.usable_sectors,
        "read_cache.size_gib",
        "The cache must hold at least one line and fit into its disk group.",
    );
    if let Some(size_gib) = cache.size_gib {
        complaints.require(
            size_gib <= cache.limit_gib,
            "read_cache.size_gib",
            &format!(
                "The cache is larger than its limit of {:.0} GiB (read_cache.limit_gib).",
                cache.limit_gib
            ),
        );
    }
}

fn unknown_group(name: &str, groups: &[GroupFacts]) -> String {
    let known: Vec<&str> = groups.iter().map(|facts| facts.name.as_str()).collect();
    format!(
        "There is no disk group {name:?}; the disk groups are: {}.",
        known.join(", ")
    )
}
