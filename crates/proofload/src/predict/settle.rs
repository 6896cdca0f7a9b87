//! `--settled`: an array as it stands after days of a load, without the days.
//!
//! A tiering engine moves a few MB in a second, and a read cache takes one line for each miss, so
//! both need hours until they hold what they will hold. A prediction of minutes that begins empty
//! says nothing of what flash does for the load. With these settings the clock starts when the tiers
//! are full and the read caches hold what reads and writes leave in them.

use array::Array;
use array::pool::settings::{OnWrite, TieringName};
use config::TimeSpan;
use measure::result::{ArrayPool, RunResult};
use workload::Profile;

use super::plan::Plan;
use crate::setting::{Setting, Value};
use execution::Error;
use measure::units;

/// How long pages are put on their tier by rank before anything is measured: a load that is the same
/// all over its data still asks for the pages of its indexes most.
const INSTANT_MOVES_S: u32 = 180;

/// The warm-up that leaves room for it, and in which the data caches fill and destage.
const WARM_UP: TimeSpan = TimeSpan(240_000_000_000);

/// The same for a load that prefers some of its data.
const HEAD_START_BY_RANK_S: u32 = 480;
const WARM_UP_BY_RANK: TimeSpan = TimeSpan(600_000_000_000);

/// A tier that lacks less than this share of its pages is full.
const FULL_SHARE: f64 = 0.95;

/// What follows from a pool that is still filling.
const NOT_SETTLED: &str = "Latencies will change over days of this load; --settled starts \
    with the state after them.";

/// A tier is still filling when pages went up at this share of what the engine may move.
const FILLING_SHARE: f64 = 0.5;

/// A read cache is still filling when it grew by this share of its lines while it was measured.
const GROWING_SHARE: f64 = 0.05;

/// The settings with which `plan` begins as it stands after days. None for an
/// array that has neither tiers nor read caches.
///
/// # Errors
/// When the array cannot be built.
pub fn settings(plan: &Plan) -> Result<Vec<Setting>, Error> {
    let model = Array::<()>::new(&plan.planned.settings, plan.profile.run().seed)
        .map_err(|error| Error::usage(error.to_string(), ""))?;
    let counters = model.counters();
    let mut tier_share: Option<f64> = None;
    let mut cache_share: Option<f64> = None;
    // The first pool is that of the volumes without one.
    let pools = plan.planned.settings.pools.iter();
    for ((name, pool), counted) in pools.zip(counters.pools.iter().skip(1)) {
        let data_bytes = laid_out_bytes(plan, name).max(1) as f64;
        let share_of = |room_bytes: u64| (room_bytes as f64 / data_bytes).min(1.0);
        if pool.policy.tiering.policy != TieringName::Off && counted.slots[0] > 0 {
            let kept_free = u64::from(pool.policy.tiering.free_pages);
            let pages = counted.slots[0].saturating_sub(kept_free);
            let share = share_of(pages * counted.page_bytes);
            tier_share = Some(tier_share.map_or(share, |least| least.min(share)));
        }
        if let Some(cache) = &pool.read_cache {
            let room_bytes = counted.read_cache.lines_max * u64::from(cache.policy.line_kib) * 1024;
            let share = share_of(room_bytes) * kept_share(&*plan.profile, cache.policy.on_write);
            cache_share = Some(cache_share.map_or(share, |least| least.min(share)));
        }
    }
    // Which pages come first matters most where not all of them come.
    let by_rank = plan.profile.has_hot_data() || prior_load_h(plan).is_some();
    let (instant_moves_s, warm_up) = match by_rank {
        true => (HEAD_START_BY_RANK_S, WARM_UP_BY_RANK),
        false => (INSTANT_MOVES_S, WARM_UP),
    };
    let mut settings = Vec::new();
    if let Some(share) = tier_share {
        // A tier of an age of its own is filled by instant moves, as far as the engine comes.
        if prior_load_h(plan).is_none() {
            let percent = share * 100.0;
            let path = "array.pool.tiering.settled_percent";
            settings.push(Setting::at(path, Value::of_text(format!("{percent:.2}"))));
        }
        settings.push(Setting::at(
            "array.pool.tiering.instant_moves_s",
            instant_moves_s,
        ));
    }
    if let Some(share) = cache_share {
        let percent = share * 100.0;
        let path = "array.pool.read_cache.fill.warm_percent";
        settings.push(Setting::at(path, Value::of_text(format!("{percent:.2}"))));
    }
    if !settings.is_empty() {
        let own = plan.profile.warm_up_in_prediction();
        let minimum = own.shortest.max(warm_up).min(own.longest);
        let minimum = Value::of_text(minimum.to_string());
        settings.push(Setting::at("run.warm_up.minimum", minimum));
    }
    Ok(settings)
}

/// The setting that lets pages move at once.
pub fn head_start() -> Setting {
    Setting::at("array.pool.tiering.instant_moves_s", INSTANT_MOVES_S)
}

/// How long the load has lasted when a settled prediction begins.
pub fn age(plan: &Plan) -> String {
    prior_load_h(plan).map_or("days".to_owned(), |hours| units::rough_time(hours * 3600.0))
}

/// The hours that a tier has behind it, where the array says how many.
fn prior_load_h(plan: &Plan) -> Option<f64> {
    let pools = plan.planned.settings.pools.values();
    let hours = pools
        .map(|pool| pool.policy.tiering.prior_load_h)
        .filter(|hours| *hours > 0.0);
    hours.reduce(f64::max)
}

/// What lies in a pool before the clock starts.
fn laid_out_bytes(plan: &Plan, pool: &str) -> u64 {
    let volumes = &plan.planned.settings.volumes;
    let sizes = plan.laid_out_bytes();
    let placed = plan.planned.placement.iter().zip(sizes);
    let here = placed.filter(|(place, _)| {
        let volume = &volumes[usize::from(place.data.0)];
        volume.pool.as_deref() == Some(pool)
    });
    here.map(|(_, bytes)| bytes).sum()
}

/// Share of the lines of a read cache that are valid when as many are copied as writes drop: that
/// of the reads among the requests that reach the disks. Where writes drop nothing, all are.
fn kept_share(profile: &dyn Profile, on_write: OnWrite) -> f64 {
    match on_write {
        OnWrite::Update => 1.0,
        _ => profile.read_share_at_disks(),
    }
}

/// What a reader must know of a result whose array was still changing: none when it was not.
pub fn warnings(plan: &Plan, result: &RunResult) -> Vec<String> {
    let Some(inside) = &result.array else {
        return Vec::new();
    };
    let settings = plan.planned.settings.pools.iter();
    let pools = settings.filter_map(|(name, settings)| {
        let counted = inside.pools.iter().find(|pool| pool.name == *name)?;
        let tiering = &settings.policy.tiering;
        // Who says how old the load is, wants the tier as it is then.
        let of_an_age = tiering.prior_load_h > 0.0;
        let pace = Pace {
            bytes_per_s: f64::from(tiering.move_limit_mib) * f64::from(1 << 20)
                / tiering.interval_s,
            is_kept: result.simulated_seconds.unwrap_or(0.0) >= tiering.instant_moves_s,
        };
        tier_is_filling(counted, inside.counted_s, &pace)
            .filter(|_| !of_an_age)
            .or_else(|| cache_is_filling(counted))
    });
    pools.collect()
}

/// How fast a tiering engine moves pages.
struct Pace {
    /// Most bytes that it moves per second.
    bytes_per_s: f64,
    /// Whether it moves no faster, the instant moves being over.
    is_kept: bool,
}

fn tier_is_filling(pool: &ArrayPool, counted_s: f64, pace: &Pace) -> Option<String> {
    let room_pages = pool
        .performance_slots
        .saturating_sub(pool.performance_pages);
    let went_up_per_s = pool.promoted_bytes as f64 / counted_s;
    let low_pages = (pool.standard_pages + pool.archive_pages).min(room_pages);
    let is_full = pool.performance_pages as f64 >= FULL_SHARE * pool.performance_slots as f64;
    let is_over = low_pages == 0 || counted_s <= 0.0;
    if is_full || is_over || went_up_per_s < FILLING_SHARE * pace.bytes_per_s {
        return None;
    }
    let percent = 100.0 * pool.performance_pages as f64 / pool.performance_slots as f64;
    // By the engine's own limit: what was seen moving depends on how the beginning went.
    let left_s = low_pages as f64 * pool.page_bytes as f64 / pace.bytes_per_s;
    let left = match pace.is_kept {
        true => format!(
            "; at the {}/s that the tiering engine may move, the rest takes {}",
            units::size(pace.bytes_per_s as u64),
            units::rough_time(left_s),
        ),
        false => String::new(),
    };
    Some(format!(
        "The performance tier of pool {} was still filling: {percent:.1} % of it is in use{left}. \
         {NOT_SETTLED}",
        pool.name,
    ))
}

fn cache_is_filling(pool: &ArrayPool) -> Option<String> {
    let left = pool.read_cache_evictions + pool.read_cache_invalidations;
    let grown = pool.read_cache_fills.saturating_sub(left);
    if grown == 0 || (grown as f64) < GROWING_SHARE * pool.read_cache_lines as f64 {
        return None;
    }
    let percent = 100.0 * pool.read_cache_lines as f64 / pool.read_cache_lines_max as f64;
    Some(format!(
        "The read cache of pool {} was still filling: {percent:.1} % of it is in use. \
         {NOT_SETTLED}",
        pool.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tier of 1,000 pages of 4 MiB, a tenth full, with more than enough below it.
    fn filling(promoted_bytes: u64) -> ArrayPool {
        ArrayPool {
            name: "a".to_owned(),
            page_bytes: 4 << 20,
            performance_slots: 1_000,
            performance_pages: 100,
            standard_pages: 5_000,
            promoted_bytes,
            ..ArrayPool::default()
        }
    }

    #[test]
    fn the_time_that_filling_takes_does_not_hang_on_how_it_began() {
        let pace = Pace {
            bytes_per_s: 4.0 * 1024.0 * 1024.0,
            is_kept: true,
        };
        let warning = |promoted_bytes| tier_is_filling(&filling(promoted_bytes), 100.0, &pace);
        let slowly = warning(220_000_000).expect("a warning");
        assert_eq!(slowly, warning(400_000_000).expect("a warning"));
        // 900 pages of 4 MiB.
        assert!(
            slowly
                .contains("at the 4 MiB/s that the tiering engine may move, the rest takes 15 min"),
            "{slowly}"
        );
        assert_eq!(warning(100_000_000), None);
    }

    #[test]
    fn no_time_is_reported_while_a_head_start_lasts() {
        let pace = Pace {
            bytes_per_s: 4.0 * 1024.0 * 1024.0,
            is_kept: false,
        };
        let warning = tier_is_filling(&filling(400_000_000), 100.0, &pace).expect("a warning");
        assert!(
            warning.contains("10.0 % of it is in use. Latencies"),
            "{warning}"
        );
    }
}
