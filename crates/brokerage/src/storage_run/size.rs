//! The data set that fits the size asked for, and whether it fits the volume.

use crate::scale::{LOAD_UNIT, MIN_DAYS, Scale};
use std::path::Path;

use crate::dataset::DataSet;
use crate::profile::BrokerageProfile;
use crate::statement::Dialect;
use config::ByteSize;

use execution::Error;
use execution::storage_run::RunRequest;
use measure::units;
use storage::Layout;

/// Log, temporary files of index building, and what a run adds, as a share of the data.
const BESIDE_THE_DATA: f64 = 0.35;
/// The least log that a server keeps, whatever the data.
const LEAST_LOG_BYTES: u64 = 256 << 20;

/// A data set and the kind of database that holds it, which decides how many bytes its rows take.
#[derive(Debug, Clone, Copy)]
pub struct SizedDatabase {
    /// Who and what there is.
    pub data_set: DataSet,
    /// The kind of database.
    pub dialect: Dialect,
}

impl SizedDatabase {
    /// Bytes of all tables and their indexes.
    pub fn bytes(&self) -> u64 {
        self.data_set.estimated_bytes_of_all(self.dialect)
    }
}

/// The data set for the size in the profile, unless the profile says how many customers it has.
pub fn sized_database(
    profile: &BrokerageProfile,
    dialect: Dialect,
) -> Result<SizedDatabase, Error> {
    let brokerage = &profile.brokerage;
    let seed = profile.run.seed;
    let of = |customers, trade_days| SizedDatabase {
        data_set: DataSet::new(customers, trade_days, seed),
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

fn too_small(wanted: ByteSize, of: impl Fn(Scale) -> SizedDatabase) -> Error {
    let least = of(Scale {
        customers: LOAD_UNIT,
        trade_days: MIN_DAYS,
    })
    .bytes();
    // A size that is displayed may be rounded: whole MiB, upwards, lie above what is too small.
    let least_mib = least.div_ceil(1 << 20);
    Error::usage(
        format!(
            "{} is too small for a brokerage: 1,000 customers with {MIN_DAYS} days of trading \
             need {}.",
            units::size(wanted.bytes()),
            units::size(least_mib << 20)
        ),
        format!("Give --target-size {least_mib}MiB or more."),
    )
}

/// Log that a server of our own keeps between two checkpoints, about.
pub fn log_bytes(sized_database: &SizedDatabase) -> u64 {
    (sized_database.bytes() / 4).clamp(LEAST_LOG_BYTES, 4 << 30)
}

/// Bytes that its log needs on a volume of its own: a checkpoint takes some time, in which more log
/// is written.
fn needed_log_bytes(sized_database: &SizedDatabase) -> u64 {
    log_bytes(sized_database) / 2 * 3
}

/// Bytes that a data set of this size needs on its volume, with log and room to grow.
fn needed_bytes(sized_database: &SizedDatabase, profile: &BrokerageProfile) -> u64 {
    let data = sized_database.bytes() as f64;
    let growth = 1.0 + profile.brokerage.growth_reserve_percent / 100.0;
    (data * growth * (1.0 + BESIDE_THE_DATA)) as u64 + LEAST_LOG_BYTES
}

/// Refuses a data set that does not fit, and says what would.
pub fn check_space(
    layout: &Layout,
    sized_database: &SizedDatabase,
    profile: &BrokerageProfile,
    reuse: bool,
) -> Result<(), Error> {
    if reuse {
        return Ok(());
    }
    check_log_space(layout, sized_database)?;
    let data = &layout.targets[layout.databases[0].data_target];
    check_room(&data.path, &data.given, sized_database, profile)
}

/// The same for the volume under a directory, which people know as `given`.
pub fn check_room(
    path: &Path,
    given: &Path,
    sized_database: &SizedDatabase,
    profile: &BrokerageProfile,
) -> Result<(), Error> {
    let free_bytes = free_bytes(path)?;
    let needed = needed_bytes(sized_database, profile);
    if needed <= free_bytes {
        return Ok(());
    }
    let shown = given.display();
    let room = free_bytes.saturating_sub(LEAST_LOG_BYTES) as f64 / (1.0 + BESIDE_THE_DATA);
    let fitting = (room / (1.0 + profile.brokerage.growth_reserve_percent / 100.0)) as u64;
    Err(Error::environment(
        format!(
            "{shown} has {} free, but a brokerage of {} with its log and room to grow needs {}.",
            units::size(free_bytes),
            units::size(sized_database.bytes()),
            units::size(needed)
        ),
        format!(
            "Give --target-size {}MiB, name a larger volume with --on, or free space on this one.",
            fitting >> 20
        ),
    ))
}

fn check_log_space(layout: &Layout, sized_database: &SizedDatabase) -> Result<(), Error> {
    let place = &layout.databases[0];
    if place.log_target == place.data_target {
        return Ok(());
    }
    let log = &layout.targets[place.log_target];
    let (free_bytes, needed) = (free_bytes(&log.path)?, needed_log_bytes(sized_database));
    if needed <= free_bytes {
        return Ok(());
    }
    Err(Error::environment(
        format!(
            "{} has {} free, but the log of a brokerage of {} needs {}.",
            log.given.display(),
            units::size(free_bytes),
            units::size(sized_database.bytes()),
            units::size(needed)
        ),
        "Name a larger volume with --log-on, or free space on this one.",
    ))
}

fn free_bytes(path: &Path) -> Result<u64, Error> {
    let room = rustix::fs::statvfs(path).map_err(|error| {
        Error::environment(
            format!(
                "{} does not say how much room it has: {error}.",
                path.display()
            ),
            "Check its file system ('dmesg' shows I/O errors).",
        )
    })?;
    // What is set aside for root is no room: a server does not run as root.
    Ok(room.f_bavail * room.f_frsize)
}

/// What would be built, for `--dry-run`.
pub fn describe(
    request: &RunRequest,
    profile: &BrokerageProfile,
    sized_database: &SizedDatabase,
    layout: Option<&Layout>,
) -> String {
    let mut text = format!(
        "{}: {} with {} of trading, about {}\n",
        request.workload,
        units::count(u64::from(sized_database.data_set.customers()), "customer"),
        units::count(u64::from(sized_database.data_set.trade_days()), "day"),
        units::size(sized_database.bytes())
    );
    if let Some(layout) = layout {
        let place = &layout.databases[0];
        text += &format!("  data in {}", place.data.path().display());
        if place.log != place.data {
            text += &format!(", log in {}", place.log.path().display());
        }
        text += &format!(
            "\nSpace: {} with its log and room to grow\n",
            units::size(needed_bytes(sized_database, profile))
        );
        if place.log_target != place.data_target {
            text += &format!(
                "Space for the log: {}\n",
                units::size(needed_log_bytes(sized_database))
            );
        }
    }
    let rate = match profile.run.held_rate {
        Some(rate) => format!("held at {rate} transactions/s"),
        None => "no rate limit".to_owned(),
    };
    text += &format!(
        "Load: {}, {rate}\n",
        units::count(u64::from(profile.brokerage.users), "user"),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Brokerage;

    const KINDS: [Dialect; 3] = [Dialect::PostgreSql, Dialect::Sqlite, Dialect::MariaDb];

    fn sized(brokerage: Brokerage, dialect: Dialect) -> Result<SizedDatabase, Error> {
        let profile = BrokerageProfile {
            brokerage,
            ..BrokerageProfile::default()
        };
        sized_database(&profile, dialect)
    }

    fn of_size(data_size: ByteSize) -> Brokerage {
        Brokerage {
            data_size,
            ..Brokerage::default()
        }
    }

    #[test]
    fn fewer_days_bring_a_data_set_nearer_to_its_size() {
        let sizes = [1_u64, 3, 8, 20, 23, 75, 600, 3_500];
        for (gigabytes, dialect) in sizes
            .into_iter()
            .flat_map(|size| KINDS.map(|kind| (size, kind)))
        {
            let size = of_size(ByteSize(gigabytes * 1_000_000_000));
            let sized_database = sized(size, dialect).unwrap();
            let (wanted, has) = (gigabytes * 1_000_000_000, sized_database.bytes());
            assert!(
                has <= wanted,
                "{gigabytes} GB: {sized_database:?} has {has}"
            );
            let missing_percent = (wanted - has) * 100 / wanted;
            assert!(
                missing_percent < 5,
                "{gigabytes} GB: {sized_database:?} has {has}"
            );
            let data_set = sized_database.data_set;
            assert!(data_set.trade_days() <= 300);
            let is_cut_short =
                u64::from(data_set.customers()) > 2 * LOAD_UNIT && data_set.trade_days() < 150;
            assert!(
                !is_cut_short,
                "history was left out for customers: {data_set:?}"
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
            let data_set = DataSet::new(customers, days, 1);
            let bytes = SizedDatabase { data_set, dialect }.bytes();
            let share = bytes as f64 / measured_bytes as f64;
            assert!(
                (0.95..1.05).contains(&share),
                "{dialect:?} {data_set:?}: {share}"
            );
        }
    }

    #[test]
    fn customers_that_are_given_stay() {
        let given = Brokerage {
            customers: Some(4_000),
            trade_days: 7,
            ..of_size(ByteSize(1_000_000_000))
        };
        let data_set = sized(given, Dialect::PostgreSql);
        let data_set = data_set.unwrap().data_set;
        assert_eq!((data_set.customers(), data_set.trade_days()), (4_000, 7));
    }

    #[test]
    fn a_size_below_a_thousand_customers_is_refused() {
        let refusal = sized(of_size(ByteSize::mib(16)), Dialect::Sqlite).unwrap_err();
        assert!(refusal.to_string().contains("too small"), "{refusal}");
    }
}
