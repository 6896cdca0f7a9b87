//! Making a pool, taking pages and giving them back.

use super::moves::Moves;
use super::{PagedPool, Stretch};
use crate::payload::Payload;
use crate::pool::allocation;
use crate::pool::counters::PoolCounters;
use crate::pool::operations::Operations;
use crate::pool::page::{GroupSpace, Location, PageMap};
use crate::pool::read_cache::ReadCache;
use crate::pool::records::Records;
use crate::pool::request::PoolFull;
use crate::pool::settings::{Affinity, GroupFacts, PoolSettings, PoolVolume, TieringName};
use crate::pool::stripes::StripeBatch;
use crate::pool::tier::Tier;
use crate::pool::tiering::{AnyTiering, TieringPolicy};
use crate::raid::GroupId;
use crate::{BrokenRule, FirstWrite, VolumeId};

impl<P: Payload> PagedPool<P> {
    /// The pool that `settings` describe, with all pages of its thick volumes taken. `groups` are
    /// the disk groups that exist, `volumes` those of this pool.
    ///
    /// # Errors
    ///
    /// All broken rules, when the settings break a rule; their paths begin with `path`.
    pub fn new(
        path: &str,
        settings: &PoolSettings,
        groups: &[GroupFacts],
        volumes: &[PoolVolume],
    ) -> Result<Self, Vec<BrokenRule>> {
        let broken_rules = settings.check(path, groups, volumes);
        if !broken_rules.is_empty() {
            return Err(broken_rules);
        }
        let facts = |name: &str| groups.iter().find(|facts| facts.name == name);
        let page_sectors = settings.page_sectors();
        let space = |facts: &GroupFacts, tier| {
            let slots = (facts.usable_sectors / page_sectors) as u32;
            GroupSpace::new(
                facts.id,
                tier,
                slots,
                settings.policy.page_spread_percent / 100.0,
            )
        };
        let spaces: Vec<GroupSpace> = settings
            .groups
            .iter()
            .filter_map(|entry| facts(&entry.group).map(|facts| space(facts, entry.tier)))
            .collect();
        let cache = settings.read_cache.as_ref();
        let cache = cache.and_then(|cache| Some(ReadCache::new(cache, facts(&cache.group)?)));
        let interval_ns = (settings.policy.tiering.interval_s * 1e9) as u64;
        let plans = settings.policy.tiering.policy != TieringName::Off
            || settings.policy.tiering.drain_critical;
        let fill = settings.read_cache.as_ref().map(|cache| &cache.policy.fill);
        let copies_hot_only = fill.is_some_and(|fill| fill.hot_pages_only);
        // Where there is one group there is nowhere to move to, and nobody else asks what is hot.
        let plans = plans && (spaces.len() > 1 || copies_hot_only);
        let policy = if plans {
            settings.policy.tiering.policy
        } else {
            TieringName::Off
        };
        let mut pool = Self {
            next_plan_ns: plans.then_some(interval_ns),
            map: PageMap::new(page_sectors.trailing_zeros(), spaces),
            settings: settings.clone(),
            affinities: Vec::new(),
            tiering: AnyTiering::new(policy, &settings.policy.tiering),
            interval_ns,
            cache,
            copies_hot_only,
            moves: Moves::default(),
            warp: 1,
            operations: Operations::new(),
            parts: Records::default(),
            batch: StripeBatch::new(),
            pieces: Vec::new(),
            slots: Vec::new(),
            levels_passed: 0,
            counters: PoolCounters::default(),
        };
        for volume in volumes {
            pool.add_volume(volume);
        }
        Ok(pool)
    }

    fn add_volume(&mut self, volume: &PoolVolume) {
        self.map.add_volume(volume.id, volume.sectors);
        let index = usize::from(volume.id.0);
        if self.affinities.len() <= index {
            self.affinities.resize(index + 1, Affinity::None);
        }
        self.affinities[index] = volume.affinity;
        self.tiering.add_pages(self.map.pages(), volume.affinity);
        if volume.thick {
            let taken = self.map_for_write(volume.id, 0, volume.sectors, FirstWrite::Sequential);
            assert!(taken.is_ok(), "the check lets no thick volume overflow");
        }
    }

    /// Takes the pages that a first write to this stretch needs, as it would, without time
    /// passing. Pages that are there stay where they are.
    ///
    /// # Errors
    ///
    /// [`PoolFull`] if there are not enough; then none is taken.
    pub fn map_for_write(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), PoolFull> {
        let (mut needed, mut last) = (0, None);
        let mut first = None;
        self.for_pages(volume, first_sector, sectors, |Stretch { page, .. }| {
            needed += u64::from(self.map.location(page).is_none());
            first.get_or_insert(page);
            last = Some(page);
        });
        if needed == 0 {
            return Ok(());
        }
        let free = self.map.free();
        if needed > free {
            self.counters.refused_first_writes += 1;
            return Err(PoolFull { needed, free });
        }
        if let (Some(first), Some(last)) = (first, last) {
            for page in first..=last {
                let taken = self.take_page(volume, page, first_write);
                assert!(taken, "the free pages were counted");
            }
        }
        Ok(())
    }

    /// Takes pages before the clock starts: as first writes would, but for what the settings say
    /// that the tiering engine has moved and the read cache has copied by then.
    ///
    /// # Errors
    ///
    /// [`PoolFull`] as soon as there is no page.
    pub fn lay_out(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), PoolFull> {
        let settled = self.settings.policy.tiering.settled_percent / 100.0;
        if settled <= 0.0 && self.cache.is_none() {
            return self.map_for_write(volume, first_sector, sectors, first_write);
        }
        let mut stretches = Vec::new();
        self.for_pages(volume, first_sector, sectors, |stretch| {
            stretches.push(stretch);
        });
        for stretch in stretches {
            let how = match is_among(stretch.page, settled) {
                true => FirstWrite::Random,
                false => first_write,
            };
            if !self.take_page(volume, stretch.page, how) {
                self.counters.refused_first_writes += 1;
                return Err(PoolFull { needed: 1, free: 0 });
            }
            self.warm(&stretch);
        }
        Ok(())
    }

    /// Puts the share of the lines of a stretch into the read cache that is there from the start.
    fn warm(&mut self, stretch: &Stretch) {
        let page_sectors = self.map.page_sectors();
        let warm = self.settings.read_cache.as_ref();
        let warm = warm.map_or(0.0, |cache| cache.policy.fill.warm_percent / 100.0);
        let spinning = self.map.location(stretch.page).is_some();
        let Some(cache) = self.cache.as_mut().filter(|_| warm > 0.0 && spinning) else {
            return;
        };
        let shift = cache.line_shift();
        let first = stretch.page * (page_sectors >> shift) + (stretch.first >> shift);
        for line in first..first + (stretch.sectors >> shift) {
            if is_among(line, warm) {
                cache.warm(line);
            }
        }
    }

    /// Takes a place for `page`, if it has none and there is one.
    pub(super) fn take_page(
        &mut self,
        volume: VolumeId,
        page: u32,
        first_write: FirstWrite,
    ) -> bool {
        if self.map.location(page).is_some() {
            return true;
        }
        let affinity = self.affinities[usize::from(volume.0)];
        let order = allocation::order(self.settings.policy.allocation, affinity, first_write);
        for tier in order {
            let Some(group) = self.group_with_most_free_pages(tier) else {
                continue;
            };
            let taken = self.map.place(page, group);
            assert!(taken, "the group has room");
            self.tiering.placed(page, tier);
            self.warn_if_filling();
            return true;
        }
        false
    }

    /// The group of `tier` with the largest share of free pages, the first of them if they are
    /// alike.
    pub(super) fn group_with_most_free_pages(&self, tier: Tier) -> Option<usize> {
        let mut best: Option<(usize, u64, u64)> = None;
        for (index, space) in self.map.spaces.iter().enumerate() {
            let (free, slots) = (u64::from(space.free()), u64::from(space.slots()));
            if space.tier != tier || free == 0 {
                continue;
            }
            if best.is_none_or(|(_, best_free, best_slots)| free * best_slots > best_free * slots) {
                best = Some((index, free, slots));
            }
        }
        best.map(|(index, ..)| index)
    }

    /// Counts a warning when the pages in use rise over a level.
    fn warn_if_filling(&mut self) {
        let levels = &self.settings.policy.warning_levels_percent;
        let Some(&level) = levels.get(self.levels_passed) else {
            return;
        };
        let slots: u64 = self.map.spaces.iter().map(|s| u64::from(s.slots())).sum();
        let used: u64 = self.map.spaces.iter().map(|s| u64::from(s.owned())).sum();
        if used * 100 > slots * u64::from(level) {
            self.counters.warnings += 1;
            self.levels_passed += 1;
        }
    }

    /// Gives pages that lie wholly in this stretch back; they read as zeros from now on. What
    /// lies in other pages stays as it is. Returns where those lay that nobody reads or writes any more: group,
    /// first sector, sectors.
    pub fn trim(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
    ) -> Vec<(GroupId, u64, u64)> {
        let page_sectors = self.map.page_sectors();
        let mut pages = Vec::new();
        self.for_pages(volume, first_sector, sectors, |stretch| {
            if stretch.sectors == page_sectors {
                pages.push(stretch.page);
            }
        });
        let freed: Vec<Location> = pages
            .into_iter()
            .filter_map(|page| self.drop_page(page))
            .collect();
        self.forget_warnings();
        let idle = freed.into_iter().filter_map(|location| {
            let space = &self.map.spaces[location.group()];
            let (is_free, _) = space.is_free_or_lingers(location.slot());
            let first_sector = self.map.first_sector(location);
            is_free.then_some((space.group, first_sector, u64::from(page_sectors)))
        });
        idle.collect()
    }

    /// Whether a sector has space, and how many of a stretch from it on are like it.
    pub fn has_space(&self, volume: VolumeId, first_sector: u64, sectors: u64) -> (bool, u64) {
        let (page, _) = self.map.page_of(volume, first_sector);
        let has_space = self.map.location(page).is_some();
        let page_sectors = u64::from(self.map.page_sectors());
        let end_sector = first_sector + sectors;
        let mut alike_until = first_sector;
        while alike_until < end_sector {
            let (page, _) = self.map.page_of(volume, alike_until);
            if self.map.location(page).is_some() != has_space {
                break;
            }
            alike_until = (alike_until / page_sectors + 1) * page_sectors;
        }
        (has_space, alike_until.min(end_sector) - first_sector)
    }

    /// Gives a page back; where it lay.
    fn drop_page(&mut self, page: u32) -> Option<Location> {
        if let Some(cache) = &mut self.cache {
            let lines = self.map.page_sectors() >> cache.line_shift();
            for line in page * lines..(page + 1) * lines {
                cache.drop_line(line);
            }
        }
        self.cancel_move(page);
        let location = self.map.release(page)?;
        self.tiering.removed(page);
        Some(location)
    }

    /// Lets levels that the pages in use are below again warn again.
    fn forget_warnings(&mut self) {
        let slots: u64 = self.map.spaces.iter().map(|s| u64::from(s.slots())).sum();
        let used: u64 = self.map.spaces.iter().map(|s| u64::from(s.owned())).sum();
        let levels = &self.settings.policy.warning_levels_percent;
        let passed = |&&level: &&u32| used * 100 > slots * u64::from(level);
        let passed = levels.iter().take_while(passed).count();
        self.levels_passed = self.levels_passed.min(passed);
    }
}

/// Whether `number` is among `share` of all numbers, scattered so that every stretch of them holds
/// nearly that share: the multiples of the square root of two lie evenly in the unit interval. Those
/// of the golden ratio do so, too, but tables of lines are hashed by it, and all lines among a share
/// would have their homes in that share of a table.
fn is_among(number: u32, share: f64) -> bool {
    const ROOT_OF_TWO: u64 = 0x6A09_E667_F3BC_C909;
    let place = u64::from(number).wrapping_mul(ROOT_OF_TWO) >> 11;
    (place as f64) < share * (1_u64 << 53) as f64
}
