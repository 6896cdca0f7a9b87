//! The rules a description of a pool must keep.

use std::collections::BTreeSet;

use super::{GroupFacts, PoolSettings, PoolVolume, ReadCacheSettings, Tier, gib_in_sectors};
use crate::BrokenRule;
use crate::broken_rule::Checker;
use crate::pool::page::{GROUPS_MAX, SLOTS_MAX};

impl PoolSettings {
    /// Every rule this pool breaks. `path` is where it stands in the description, as in
    /// `pools.0`; `groups` are all disk groups that exist, `volumes` those of this pool.
    pub fn check(
        &self,
        path: &str,
        groups: &[GroupFacts],
        volumes: &[PoolVolume],
    ) -> Vec<BrokenRule> {
        let mut checker = Checker::new(self, path);
        checker.require(
            self.policy.page_size_kib.is_power_of_two(),
            "page_size_kib",
            "A page must be a power of two from 4 KiB to 1 GiB.",
        );
        if !checker.is_empty() {
            return checker.finish();
        }
        let pages = self.check_groups(groups, &mut checker);
        self.check_volumes(volumes, pages, &mut checker);
        self.check_tiering(&mut checker);
        if let Some(cache) = &self.read_cache {
            self.check_read_cache(cache, groups, volumes, &mut checker);
        }
        checker.require(
            self.policy
                .warning_levels_percent
                .is_sorted_by(|low, high| low < high),
            "warning_levels_percent",
            "Warning levels must ascend.",
        );
        checker.finish()
    }

    /// Checks the groups; says how many pages they hold if all of them are known.
    fn check_groups(&self, groups: &[GroupFacts], checker: &mut Checker<'_>) -> Option<u64> {
        checker.require(
            !self.groups.is_empty() && self.groups.len() <= GROUPS_MAX,
            "groups",
            &format!("A pool needs 1 to {GROUPS_MAX} disk groups."),
        );
        let mut names = BTreeSet::new();
        let mut pages = Some(0);
        for (index, entry) in self.groups.iter().enumerate() {
            let key = format!("groups.{index}.group");
            if !names.insert(&entry.group) {
                checker.add(&key, format!("Disk group {:?} appears twice.", entry.group));
            }
            let Some(facts) = groups.iter().find(|facts| facts.name == entry.group) else {
                pages = None;
                checker.add(&key, unknown_group(&entry.group, groups));
                continue;
            };
            let slots = facts.usable_sectors / self.page_sectors();
            pages = pages.map(|pages| pages + slots);
            if slots == 0 || slots > u64::from(SLOTS_MAX) {
                let message = format!(
                    "Disk group {:?} holds {slots} pages; it must hold 1 to {SLOTS_MAX}.",
                    entry.group
                );
                checker.add(&key, message);
            }
            let key = format!("groups.{index}.tier");
            checker.require(
                (entry.tier == Tier::Performance) == facts.solid_state,
                &key,
                "The performance tier is made of SSDs, and SSDs are the performance tier; put \
                 spinning disks into \"standard\" or \"archive\".",
            );
        }
        pages
    }

    fn check_volumes(&self, volumes: &[PoolVolume], pages: Option<u64>, checker: &mut Checker<'_>) {
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
                    self.policy.page_size_kib
                );
                checker.add_at(&volume.path, message);
            }
        }
        if virtual_pages > u64::from(u32::MAX / 2) {
            let message = "The volumes of a pool may have at most 2,147,483,647 pages together; \
                           make them smaller or the pages larger.";
            checker.add("page_size_kib", message.to_owned());
        }
    }

    fn check_tiering(&self, checker: &mut Checker<'_>) {
        let tiering = &self.policy.tiering;
        checker.require(
            tiering.half_life_s == 0.0 || tiering.half_life_s * 16.0 >= tiering.interval_s,
            "tiering.half_life_s",
            "The half-life must be 0 (no fading) or at least a sixteenth of the interval.",
        );
        checker.require(
            tiering.prior_load_h == 0.0 || tiering.instant_moves_s > 0.0,
            "tiering.prior_load_h",
            "tiering.prior_load_h needs tiering.instant_moves_s: set it, too.",
        );
        checker.require(
            u64::from(tiering.move_limit_mib) * 1024 >= u64::from(self.policy.page_size_kib),
            "tiering.move_limit_mib",
            "The limit must allow at least one page per interval.",
        );
    }

    fn check_read_cache(
        &self,
        cache: &ReadCacheSettings,
        groups: &[GroupFacts],
        volumes: &[PoolVolume],
        checker: &mut Checker<'_>,
    ) {
        checker.require(
            self.groups.iter().all(|entry| entry.group != cache.group),
            "read_cache.group",
            "The read cache needs a disk group of its own; this one holds pages.",
        );
        let line_fits = cache.policy.line_kib.is_power_of_two()
            && cache.policy.line_kib <= self.policy.page_size_kib;
        checker.require(
            line_fits,
            "read_cache.line_kib",
            "A line must be a power of two, 1 KiB to a page.",
        );
        let page_lines = u64::from(self.policy.page_size_kib / cache.policy.line_kib.max(1)).max(1);
        let pages = volumes.iter().map(|volume| {
            let pages = volume.sectors.div_ceil(self.page_sectors());
            pages.saturating_mul(page_lines)
        });
        checker.require(
            !line_fits || pages.fold(0, u64::saturating_add) < u64::from(u32::MAX),
            "read_cache.line_kib",
            "The volumes of the pool have more than 4,294,967,294 such lines; use longer ones.",
        );
        let policy = self.policy.tiering.policy;
        checker.require(
            !cache.policy.fill.hot_pages_only || policy.scores_pages(),
            "read_cache.fill.hot_pages_only",
            "Pages are hot by a tiering policy that scores them: scan-rank-move or heat.",
        );
        let Some(facts) = groups.iter().find(|facts| facts.name == cache.group) else {
            checker.add("read_cache.group", unknown_group(&cache.group, groups));
            return;
        };
        checker.require(
            facts.solid_state,
            "read_cache.group",
            "A read cache is made of SSDs.",
        );
        check_cache_size(cache, facts, checker);
    }
}

fn check_cache_size(cache: &ReadCacheSettings, facts: &GroupFacts, checker: &mut Checker<'_>) {
    let line_sectors = u64::from(cache.policy.line_kib) * 2;
    let size = cache
        .policy
        .size_gib
        .map_or(facts.usable_sectors, gib_in_sectors);
    checker.require(
        size >= line_sectors && size <= facts.usable_sectors,
        "read_cache.size_gib",
        "The cache must hold at least one line and fit into its disk group.",
    );
    if let Some(size_gib) = cache.policy.size_gib {
        checker.require(
            size_gib <= cache.policy.limit_gib,
            "read_cache.size_gib",
            &format!(
                "The cache is larger than its limit of {:.0} GiB (read_cache.limit_gib).",
                cache.policy.limit_gib
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
