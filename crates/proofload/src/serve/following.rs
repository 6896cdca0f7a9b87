//! Follows a served array: what is planned, what has happened, and its state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::serve::{Client, Served, Watcher};
use array::description::PlannedArray;
use array::group::GroupState;
use array::payload::Bytes;
use array::pool::PoolCounters;
use array::{Array, ArrayCounters, Fault};
use measure::histogram::LatencyHistogram;
use measure::result::{ArrayResult, RunResult};

use super::state::{
    Clients, Controller, Disk, DiskCondition, Group, HappenedEvent, Latencies, PlannedEvent, Pool,
    Rebuild, SCHEMA, ServingState, Tier,
};
use crate::predict::watch::Watch;

/// Events that a state has at most.
const MOST_EVENTS: usize = 100;
/// The tiers of a pool, in the order in which they are counted.
const TIERS: [&str; 3] = ["performance", "standard", "archive"];

/// Where the state of a served array is found out, from any thread.
#[derive(Clone)]
pub struct StateSource {
    client: Client,
    following: Following,
}

impl StateSource {
    pub(super) fn new(client: Client, following: Following) -> Self {
        Self { client, following }
    }

    /// The state now; `None` if the array has ended.
    #[must_use]
    pub fn state(&self) -> Option<ServingState> {
        let following = self.following.clone();
        self.client
            .look(move |array, served| following.lock().state(array, served))
    }
}

/// What is known of a served array beside the array. Clones are the same.
#[derive(Clone)]
pub(super) struct Following(Arc<Mutex<Followed>>);

pub(super) struct Followed {
    watch: Watch,
    /// When events are due, and what they are, also those that have happened.
    planned: Vec<(u64, String)>,
    name: String,
    title: String,
    pools: Vec<String>,
    cache_lines: u64,
    warp: u64,
    has_begun: bool,
}

impl Following {
    /// Follows the array of that name.
    pub(super) fn new(planned: &PlannedArray, name: &str, title: &str) -> Self {
        let cache = &planned.settings.cache;
        let events = planned.events.iter();
        Self(Arc::new(Mutex::new(Followed {
            watch: Watch::new(planned),
            planned: events
                .map(|event| (event.at_ns, event.text.clone()))
                .collect(),
            name: name.to_owned(),
            title: title.to_owned(),
            pools: planned.settings.pools.keys().cloned().collect(),
            cache_lines: cache.capacity_mib * 1024 / u64::from(cache.line_kib.max(1)),
            warp: u64::from(planned.settings.backend.policy.warp),
            has_begun: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the planned events happen, counted from when the array is served first, and says what follows from them.
    pub(super) fn watcher(&self, notify: impl Fn(&str) + Send + 'static) -> Watcher {
        let following = self.clone();
        Box::new(move |array, now_ns| {
            let sentences = {
                let mut followed = following.lock();
                if !std::mem::replace(&mut followed.has_begun, true) {
                    followed.watch.begin(array, now_ns);
                }
                followed.watch.poll(array)
            };
            sentences.iter().for_each(|sentence| notify(sentence));
        })
    }

    /// The time of the array when it was served first.
    pub(super) fn start_ns(&self) -> u64 {
        self.lock().watch.from_ns()
    }

    /// Adds to figures of the inside how far rebuilds are.
    pub(super) fn enter(&self, inside: &mut ArrayResult) {
        self.lock().watch.enter(inside);
    }

    /// Adds to a result what has happened.
    pub(super) fn complete(&self, result: &mut RunResult) {
        self.lock().watch.complete(result);
    }

    /// Somebody has asked for something at `at_ns`, a time of the array.
    pub(super) fn expect(&self, at_ns: u64, fault: Fault, text: &str) {
        let mut followed = self.lock();
        followed.watch.expect(at_ns, fault);
        let after_ns = at_ns.saturating_sub(followed.watch.from_ns());
        followed.planned.push((after_ns, text.to_owned()));
        followed.planned.sort_by_key(|(at_ns, _)| *at_ns);
    }

    /// Seconds since the array is served, of a time of the array.
    pub(super) fn since_start_s(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.lock().watch.from_ns()) as f64 / 1e9
    }
}

impl Followed {
    fn state(&self, array: &Array<Bytes>, served: &Served) -> ServingState {
        let counters = array.counters();
        let elapsed_ns = counters.now_ns.saturating_sub(self.watch.from_ns());
        let elapsed_s = elapsed_ns as f64 / 1e9;
        let rebuilds = self.rebuilds(array, elapsed_s);
        let hits: u64 = counters.volumes.iter().map(|one| one.read_hits).sum();
        let misses: u64 = counters.volumes.iter().map(|one| one.read_misses).sum();
        let upcoming = self.planned.iter().filter(|(at_ns, _)| *at_ns > elapsed_ns);
        let events = self.watch.events();
        let last_events = events[events.len().saturating_sub(MOST_EVENTS)..].iter();
        let pools = self.pools.iter().zip(counters.pools.iter().skip(1));
        ServingState {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            array: self.name.clone(),
            title: self.title.clone(),
            warp: self.warp,
            elapsed_s,
            clients: clients(served),
            read_hit_fraction: ratio(hits, hits + misses),
            controllers: self.controllers(&counters),
            disks: self.disks(array, &counters, &rebuilds),
            groups: array
                .groups()
                .map(|group| Group {
                    name: group.name.to_owned(),
                    state: word(group.state).to_owned(),
                })
                .collect(),
            rebuilds,
            pools: pools.map(|(name, pool)| pool_state(name, pool)).collect(),
            events: last_events
                .map(|event| HappenedEvent {
                    at_s: event.measured_at_s,
                    what: event.what.clone(),
                    planned: event.planned,
                    text: event.text.clone(),
                })
                .collect(),
            planned_events: upcoming
                .map(|(at_ns, text)| PlannedEvent {
                    at_s: *at_ns as f64 / 1e9,
                    text: text.clone(),
                })
                .collect(),
            lost_sectors: counters.lost_sectors,
        }
    }

    fn controllers(&self, counters: &ArrayCounters) -> Vec<Controller> {
        let of_cache = |lines: u64| ratio(lines, self.cache_lines).unwrap_or(0.0);
        let controllers = (0..).zip(&counters.controllers);
        let controllers = controllers.map(|(number, now)| Controller {
            number,
            online: now.online,
            battery_works: now.battery_works,
            cache_used_fraction: of_cache(now.cached_lines),
            cache_dirty_fraction: of_cache(now.dirty_lines),
            waiting_writers: now.waiting_writers,
            destages_in_flight: now.destages_in_flight,
            backend_in_flight: now.backend_in_flight,
        });
        controllers.collect()
    }

    fn disks(
        &self,
        array: &Array<Bytes>,
        counters: &ArrayCounters,
        rebuilds: &[Rebuild],
    ) -> Vec<Disk> {
        let kept = array.kept_state();
        let spares = kept.disk_group.iter();
        let spares: Vec<(&str, u64)> = spares
            .flat_map(|group| {
                let numbers = group.spares.iter();
                numbers.map(|&number| (group.name.as_str(), u64::from(number)))
            })
            .collect();
        let disks = (0..).zip(&counters.disks);
        let disks = disks.map(|(number, now)| {
            let (group, within) = self.watch.disk(number);
            let is_rebuilt = || rebuilds.iter().any(|rebuild| rebuild.disk == number);
            let condition = match now {
                disk if !disk.online => DiskCondition::Failed,
                _ if is_rebuilt() => DiskCondition::Rebuilding,
                disk if disk.slowness > 1 => DiskCondition::Slow,
                _ if spares.contains(&(group, within)) => DiskCondition::Spare,
                _ => DiskCondition::Healthy,
            };
            Disk {
                number,
                group: group.to_owned(),
                condition,
                slowdown_factor: u64::from(now.slowness),
                queue_depth: u64::from(now.station.inside),
                checksum_errors: now.station.checksum_errors,
            }
        });
        disks.collect()
    }

    fn rebuilds(&self, array: &Array<Bytes>, elapsed_s: f64) -> Vec<Rebuild> {
        let rebuilds = array.rebuilds().map(|view| {
            let disk = u64::from(view.station.0);
            let began_s = self.watch.rebuild_began_s(disk);
            let spent_s = began_s.map(|began_s| elapsed_s - began_s);
            let left_s = spent_s.filter(|_| view.done_share > 0.0);
            Rebuild {
                disk,
                group: self.watch.disk(disk).0.to_owned(),
                began_s,
                completed_fraction: view.done_share,
                left_s: left_s.map(|spent_s| spent_s * (1.0 - view.done_share) / view.done_share),
            }
        });
        rebuilds.collect()
    }
}

fn clients(served: &Served) -> Clients {
    Clients {
        reads: latencies(&served.reads),
        writes: latencies(&served.writes),
        flushes: latencies(&served.flushes),
        lateness: latencies(&served.lateness),
        failed: served.failed,
        under_way: served.under_way,
    }
}

fn latencies(of: &LatencyHistogram) -> Latencies {
    let some = (of.count() > 0).then_some(());
    Latencies {
        count: of.count(),
        average_ms: of.average_ms(),
        p99_ms: some.map(|()| of.quantile_ms(0.99)),
        max_ms: some.map(|()| of.longest_ns() as f64 / 1e6),
    }
}

fn pool_state(name: &str, now: &PoolCounters) -> Pool {
    let tiers = TIERS.iter().zip(now.pages).zip(now.slots);
    let tiers = tiers.filter(|(_, slots)| *slots > 0);
    let cache = &now.read_cache;
    Pool {
        name: name.to_owned(),
        page_bytes: now.page_bytes,
        tiers: tiers
            .map(|((name, pages), slots)| Tier {
                name: (*name).to_owned(),
                pages,
                slots,
            })
            .collect(),
        moves_under_way: now.moves_under_way,
        promoted_bytes: now.bytes_moved_up(),
        demoted_bytes: now.bytes_moved_down(),
        read_cache_used_fraction: ratio(cache.lines, cache.lines_max),
        read_cache_hit_fraction: ratio(cache.hits, cache.hits + cache.misses),
    }
}

fn ratio(value: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| value as f64 / of as f64)
}

fn word(state: GroupState) -> &'static str {
    match state {
        GroupState::Healthy => "healthy",
        GroupState::Degraded => "degraded",
        GroupState::Critical => "critical",
        GroupState::Failed => "failed",
    }
}
