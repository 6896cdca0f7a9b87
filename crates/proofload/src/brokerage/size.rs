//! The house that fits the size asked for, and whether it fits the volume.

use std::path::Path;

use brokerage::house::House;
use brokerage::statement::Dialect;
use workload::brokerage::scale::{FEWEST_DAYS, LOAD_UNIT, Scale};
use workload::profile::{ByteSize, Profile};

use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::human;
use crate::target::Layout;

/// Log, temporary files of index building, and what a run adds, as a share of the data.
const BESIDE_THE_DATA: f64 = 0.35;
/// The least log that a server keeps, whatever the data.
const LEAST_LOG_BYTES: u64 = 256 << 20;

/// A house, and the kind of database that it is to stand in, which decides what its rows take.
#[derive(Debug, Clone, Copy)]
pub struct Premises {
    /// Who and what there is.
    pub house: House,
    /// The kind of database.
    pub dialect: Dialect,
}

impl Premises {
    /// Bytes of all tables and their indexes.
    pub fn bytes(&self) -> u64 {
        self.house.estimated_bytes_of_all(self.dialect)
    }
}

/// The house for the size in the profile, unless the profile says how many customers it has.
pub fn premises(profile: &Profile, dialect: Dialect) -> Result<Premises, Failure> {
    let brokerage = &profile.brokerage;
    let seed = profile.run.seed;
    let of = |customers, trade_days| Premises {
        house: House::new(customers, trade_days, seed),
        dialect,
    };
    if let Some(customers) = brokerage.customers {
        return Ok(of(customers, brokerage.trade_days));
    }
    let of_scale = |scale: Scale| of(scale.customers as u32, scale.trade_days);
    let wanted_bytes = brokerage.data_size.bytes();
    let bytes = |scale| of_scale(scale).bytes();
    Scale::nearest(wanted_bytes, brokerage.trade_days, bytes)
        .map(of_scale)
        .ok_or_else(|| too_small(brokerage.data_size, of_scale))
}

fn too_small(wanted: ByteSize, of: impl Fn(Scale) -> Premises) -> Failure {
    let least = of(Scale {
        customers: LOAD_UNIT,
        trade_days: FEWEST_DAYS,
    })
    .bytes();
    Failure::usage(
        format!(
            "{wanted} is too small for a brokerage: a thousand customers with {FEWEST_DAYS} days \
             of trading need {}.",
            human::size(least)
        ),
        format!(
            "Give --target-size {}MB or more.",
            least.div_ceil(1_000_000)
        ),
    )
}

/// Log that a server of our own keeps between two checkpoints, about.
pub fn log_bytes(premises: &Premises) -> u64 {
    (premises.bytes() / 4).clamp(LEAST_LOG_BYTES, 4 << 30)
}

/// Bytes that its log needs on a volume of its own: a checkpoint takes some time, in which more log
/// is written.
fn needed_log_bytes(premises: &Premises) -> u64 {
    log_bytes(premises) / 2 * 3
}

/// Bytes that a house of this size needs on its volume, with log and room to grow.
fn needed_bytes(premises: &Premises, profile: &Profile) -> u64 {
    let data = premises.bytes() as f64;
    let growth = 1.0 + profile.brokerage.growth_reserve_percent / 100.0;
    (data * growth * (1.0 + BESIDE_THE_DATA)) as u64 + LEAST_LOG_BYTES
}

/// Refuses a house that does not fit, and says what would.
pub fn check_space(
    layout: &Layout,
    premises: &Premises,
    profile: &Profile,
    reuse: bool,
) -> Result<(), Failure> {
    if reuse {
        return Ok(());
    }
    check_log_space(layout, premises)?;
    let data = &layout.sites[layout.databases[0].data_site];
    check_room(&data.path, &data.given, premises, profile)
}

/// The same for the volume under a directory, which people know as `given`.
pub fn check_room(
    path: &Path,
    given: &Path,
    premises: &Premises,
    profile: &Profile,
) -> Result<(), Failure> {
    let free_bytes = free_bytes(path)?;
    let needed = needed_bytes(premises, profile);
    if needed <= free_bytes {
        return Ok(());
    }
    let shown = given.display();
    let room = free_bytes.saturating_sub(LEAST_LOG_BYTES) as f64 / (1.0 + BESIDE_THE_DATA);
    let fitting = (room / (1.0 + profile.brokerage.growth_reserve_percent / 100.0)) as u64;
    Err(Failure::environment(
        format!(
            "{shown} has {} free, but a brokerage of {} with its log and room to grow needs {}.",
            human::size(free_bytes),
            human::size(premises.bytes()),
            human::size(needed)
        ),
        format!(
            "Give --target-size {}MB, name a larger volume with --on, or make room.",
            fitting / 1_000_000
        ),
    ))
}

fn check_log_space(layout: &Layout, premises: &Premises) -> Result<(), Failure> {
    let place = &layout.databases[0];
    if place.log_site == place.data_site {
        return Ok(());
    }
    let log = &layout.sites[place.log_site];
    let (free_bytes, needed) = (free_bytes(&log.path)?, needed_log_bytes(premises));
    if needed <= free_bytes {
        return Ok(());
    }
    Err(Failure::environment(
        format!(
            "{} has {} free, but the log of a brokerage of {} needs {}.",
            log.given.display(),
            human::size(free_bytes),
            human::size(premises.bytes()),
            human::size(needed)
        ),
        "Name a larger volume with --log-on, or make room.",
    ))
}

fn free_bytes(path: &Path) -> Result<u64, Failure> {
    let room = rustix::fs::statvfs(path).map_err(|error| {
        Failure::environment(
            format!(
                "{} does not say how much room it has: {error}.",
                path.display()
            ),
            "See whether its file system is well.",
        )
    })?;
    // What is set aside for root is no room: a server does not run as root.
    Ok(room.f_bavail * room.f_frsize)
}

/// What would be built, for `--dry-run`.
pub fn describe(
    options: &RunOptions,
    profile: &Profile,
    premises: &Premises,
    layout: Option<&Layout>,
) -> String {
    let mut text = format!(
        "{}: {} customers with {} days of trading, about {}\n",
        options.workload,
        human::count_of(u64::from(premises.house.customers())),
        premises.house.trade_days(),
        human::size(premises.bytes())
    );
    if let Some(layout) = layout {
        let place = &layout.databases[0];
        text += &format!("  data in {}", place.data.path().display());
        if place.log != place.data {
            text += &format!(", log in {}", place.log.path().display());
        }
        text += &format!(
            "\nSpace: {} with its log and room to grow\n",
            human::size(needed_bytes(premises, profile))
        );
        if place.log_site != place.data_site {
            text += &format!(
                "Space for the log: {}\n",
                human::size(needed_log_bytes(premises))
            );
        }
    }
    let load = match profile.run.held_rate {
        Some(rate) => format!("{rate} transactions per second, by up to"),
        None => "as fast as they can,".to_owned(),
    };
    text += &format!(
        "Load: {load} {} users, measured for {} in samples of {}\n",
        profile.brokerage.users, profile.run.duration, profile.run.sample_interval
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::resolve;

    const KINDS: [Dialect; 3] = [Dialect::PostgreSql, Dialect::Sqlite, Dialect::MariaDb];

    fn sized(settings: &[&str], dialect: Dialect) -> Result<Premises, Failure> {
        let profile = resolve(&RunOptions {
            workload: "brokerage".to_owned(),
            set: settings.iter().map(|&one| one.to_owned()).collect(),
            ..RunOptions::default()
        });
        premises(&profile.unwrap(), dialect)
    }

    #[test]
    fn fewer_days_bring_a_house_nearer_to_its_size() {
        let sizes = [1_u64, 3, 8, 20, 23, 75, 600, 3_500];
        for (gigabytes, dialect) in sizes
            .into_iter()
            .flat_map(|size| KINDS.map(|kind| (size, kind)))
        {
            let size = format!("brokerage.data_size={gigabytes}GB");
            let premises = sized(&[&size], dialect).unwrap();
            let (wanted, has) = (gigabytes * 1_000_000_000, premises.bytes());
            assert!(has <= wanted, "{gigabytes} GB: {premises:?} has {has}");
            let missing_percent = (wanted - has) * 100 / wanted;
            assert!(
                missing_percent < 5,
                "{gigabytes} GB: {premises:?} has {has}"
            );
            let house = premises.house;
            assert!(house.trade_days() <= 300);
            let is_cut_short =
                u64::from(house.customers()) > 2 * LOAD_UNIT && house.trade_days() < 150;
            assert!(
                !is_cut_short,
                "history was left out for customers: {house:?}"
            );
        }
    }

    /// As they were measured: `proofload run brokerage --build-only`, bytes of the database.
    #[test]
    fn estimates_are_near_what_databases_take() {
        for (dialect, customers, days, measured_bytes) in [
            (Dialect::PostgreSql, 1_000, 8, 475_400_000_u64),
            (Dialect::Sqlite, 1_000, 8, 185_600_000),
            (Dialect::Sqlite, 1_000, 13, 292_651_008),
            (Dialect::Sqlite, 1_000, 54, 988_233_728),
            (Dialect::Sqlite, 1_000, 25, 506_937_344),
            (Dialect::Sqlite, 4_000, 10, 915_456_000),
            (Dialect::MariaDb, 1_000, 8, 481_700_000),
            (Dialect::MariaDb, 1_000, 9, 527_843_328),
            (Dialect::MariaDb, 1_000, 21, 1_007_042_560),
            (Dialect::MariaDb, 1_000, 25, 1_158_037_504),
            (Dialect::MariaDb, 4_000, 10, 2_051_342_336),
        ] {
            let house = House::new(customers, days, 1);
            let bytes = Premises { house, dialect }.bytes();
            let share = bytes as f64 / measured_bytes as f64;
            assert!(
                (0.95..1.05).contains(&share),
                "{dialect:?} {house:?}: {share}"
            );
        }
    }

    #[test]
    fn customers_that_are_given_stay() {
        let house = sized(
            &[
                "brokerage.customers=4000",
                "brokerage.data_size=1GB",
                "brokerage.trade_days=7",
            ],
            Dialect::PostgreSql,
        );
        let house = house.unwrap().house;
        assert_eq!((house.customers(), house.trade_days()), (4_000, 7));
    }

    #[test]
    fn a_size_below_a_thousand_customers_is_refused() {
        let refusal = sized(&["brokerage.data_size=16MiB"], Dialect::Sqlite).unwrap_err();
        assert!(refusal.to_string().contains("too small"), "{refusal}");
    }
}
