//! Whether databases, their growth and their logs fit, and how much would.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use workload::profile::Profile;

use super::site::{Identity, Site, SiteKind};
use super::{Layout, Place};
use crate::failure::Failure;
use crate::human;

/// Log files beyond the checkpoint depth: the one being filled, the next, reserves, and those that
/// are below the checkpoint but not yet used again.
const SPARE_LOG_FILES: u64 = 16;

/// Log records of an operation without the contents of its columns, generously.
const LOG_RECORD_BYTES: f64 = 1024.0;

/// The unit in which the log is written; half of one is left empty on average when a commit waits.
const LOG_SEGMENT_BYTES: f64 = 4096.0;

/// What a raw block device needs for its own table of files, with room to spare.
const DEVICE_TABLE_BYTES: u64 = 16 << 20;

/// The smallest database that is worth suggesting.
const LEAST_DATABASE_BYTES: u64 = 8 << 20;

/// One file system or block device and what shall go there.
struct Volume<'a> {
    identity: VolumeIdentity,
    /// The targets on it.
    sites: Vec<&'a Site>,
    free_bytes: u64,
    /// Bytes of kept databases that are counted as used already.
    present_bytes: u64,
    databases: u64,
    logs: u64,
}

/// What space is shared by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VolumeIdentity {
    FileSystem(u64),
    Device(u64),
}

/// Refuses a layout that does not fit, and says what would.
pub fn check(layout: &Layout, profile: &Profile) -> Result<(), Failure> {
    let volumes = volumes(layout, profile.engine.circular_logging)?;
    let database_bytes = profile.mail.reserved_database_bytes();
    let log_bytes = log_bytes(profile);
    for volume in &volumes {
        let databases = database_bytes.saturating_mul(volume.databases);
        let needed = databases.saturating_add(log_bytes.saturating_mul(volume.logs));
        if needed.saturating_sub(volume.present_bytes) > volume.free_bytes {
            let fitting = fitting_data_bytes(&volumes, profile);
            return Err(too_little(volume, needed, profile, fitting));
        }
    }
    Ok(())
}

/// What each file system and block device must hold, and what room it has, as sentences.
pub fn needs(layout: &Layout, profile: &Profile) -> Result<Vec<String>, Failure> {
    let (database, log) = (profile.mail.reserved_database_bytes(), log_bytes(profile));
    let need = |volume: &Volume<'_>| {
        let needed = database.saturating_mul(volume.databases);
        let needed = needed.saturating_add(log.saturating_mul(volume.logs));
        format!(
            "{} with room to grow on {}, where {} are free",
            human::size(needed.saturating_sub(volume.present_bytes)),
            volume.names().join(" and "),
            human::size(volume.free_bytes)
        )
    };
    Ok(volumes(layout, profile.engine.circular_logging)?
        .iter()
        .map(need)
        .collect())
}

impl Volume<'_> {
    /// Its targets as they were given.
    fn names(&self) -> Vec<String> {
        let given = self.sites.iter().map(|site| site.given.display());
        given.map(|given| given.to_string()).collect()
    }
}

/// Space for the log of one database. With circular logging, the flusher lets it run to 1.25 times
/// the checkpoint depth before it hurries, and never far beyond twice. Without, every file stays.
pub fn log_bytes(profile: &Profile) -> u64 {
    let engine = &profile.engine;
    let in_use = engine
        .checkpoint_depth
        .bytes()
        .saturating_mul(2)
        .saturating_add(SPARE_LOG_FILES * engine.log_file_size.bytes());
    if engine.circular_logging {
        return in_use;
    }
    in_use.saturating_add(written_log_bytes(profile))
}

/// Log that one database writes from the beginning of the warm-up to the end of the run, at the
/// rate that the run is to reach. A run with a fixed number of sessions on faster storage writes
/// more; nobody knows before how much.
fn written_log_bytes(profile: &Profile) -> u64 {
    let (run, mail) = (&profile.run, &profile.mail);
    let tuning = match (run.held_rate, mail.threads) {
        (None, None) => profile.tuning.total_limit.as_seconds(),
        _ => 0.0,
    };
    let seconds = run.warm_up.maximum.as_seconds() + tuning + run.duration.as_seconds();
    let operations = profile.rate_to_reach() / f64::from(mail.databases);
    // A float conversion saturates, so an absurd profile asks for an absurd amount of space.
    (operations * seconds * log_bytes_of_operation(profile)).ceil() as u64
}

/// Log of an average operation, if each causes one database read or write (most cause more): what
/// it inserts, or replaces with what was there before; the record around it with those of index,
/// space and commit; and the rest of a segment that a commit leaves empty.
fn log_bytes_of_operation(profile: &Profile) -> f64 {
    let (mix, item) = (&profile.mail.mix, &profile.mail.item);
    let (short, long) = (f64::from(item.short_bytes), f64::from(item.long_bytes));
    let changed = if item.replace_long {
        short + long
    } else {
        short
    };
    let share = |percent: f64| percent / 100.0;
    let contents = share(mix.insert_percent + mix.delete_percent) * (short + long)
        + share(mix.replace_percent) * 2.0 * changed;
    let changing = share(mix.insert_percent + mix.delete_percent + mix.replace_percent);
    contents + changing * (LOG_RECORD_BYTES + LOG_SEGMENT_BYTES / 2.0)
}

/// Data over all databases that would fit on every volume, without growth and logs; `None` when
/// not even small databases would.
fn fitting_data_bytes(volumes: &[Volume<'_>], profile: &Profile) -> Option<u64> {
    let log_bytes = log_bytes(profile);
    let mut per_database = u64::MAX;
    for volume in volumes {
        let room = volume.free_bytes.saturating_add(volume.present_bytes);
        let room = room.checked_sub(log_bytes.saturating_mul(volume.logs))?;
        if let Some(share) = room.checked_div(volume.databases) {
            let growth = 1.0 + profile.mail.growth_reserve_percent / 100.0;
            // Rounding down of the quotient keeps the answer on the safe side.
            per_database = per_database.min((share as f64 / growth) as u64);
        }
    }
    (per_database >= LEAST_DATABASE_BYTES)
        .then(|| per_database.saturating_mul(u64::from(profile.mail.databases)))
}

/// Two digits, rounded down, as an option takes it: `63GB`, `850MB`.
fn round_size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        1_000_000_000_000.. => (1_000_000_000_000, "TB"),
        1_000_000_000.. => (1_000_000_000, "GB"),
        _ => (1_000_000, "MB"),
    };
    let tenths = bytes / (unit / 10);
    if tenths < 100 && unit > 1_000_000 {
        return format!("{}.{}{name}", tenths / 10, tenths % 10);
    }
    let whole = bytes / unit;
    let kept = if whole >= 100 { whole / 10 * 10 } else { whole };
    format!("{kept}{name}")
}

fn too_little(
    volume: &Volume<'_>,
    needed: u64,
    profile: &Profile,
    fitting: Option<u64>,
) -> Failure {
    let names = volume.names();
    let mail = &profile.mail;
    let databases = if volume.databases == 0 {
        String::new()
    } else {
        format!(
            "{} with {} % room to grow",
            human::count_of_size(volume.databases, "database", mail.database_bytes()),
            mail.growth_reserve_percent,
        )
    };
    let logs = format!("the files of {}", human::count(volume.logs, "log"));
    let logs = match profile.engine.circular_logging {
        true => logs,
        false => format!("{logs} (engine.circular_logging = false keeps every file)"),
    };
    let contents = match (volume.databases, volume.logs) {
        (0, _) => logs,
        (_, 0) => databases,
        _ => format!("{databases} and {logs}"),
    };
    let verb = if names.len() == 1 { "has" } else { "share" };
    let message = format!(
        "{} {verb} {} free, but {contents} need {}.",
        names.join(" and "),
        human::size(volume.free_bytes),
        human::size(needed),
    );
    let help = match fitting {
        Some(bytes) => format!(
            "Put less mail into the mailboxes with --target-size {}, name more directories with --on, or make \
             room.",
            round_size(bytes)
        ),
        None if !profile.engine.circular_logging => "Name storage with more room, make the run \
             shorter (--duration), or add --set engine.circular_logging=true."
            .to_owned(),
        None => "Name storage with more room.".to_owned(),
    };
    Failure::environment(message, help)
}

/// Every file system and block device of the layout once. Kept logs count as room only if their
/// files are used again.
fn volumes(layout: &Layout, circular_logging: bool) -> Result<Vec<Volume<'_>>, Failure> {
    let mut volumes: Vec<Volume<'_>> = Vec::new();
    for (index, site) in layout.sites.iter().enumerate() {
        let data = layout
            .databases
            .iter()
            .filter(|place| place.data_site == index);
        let logs = layout
            .databases
            .iter()
            .filter(|place| place.log_site == index);
        let present = data.clone().map(|place| &place.data);
        let kept_logs = logs.clone().filter(|_| circular_logging);
        let present = present.chain(kept_logs.map(|place| &place.log));
        let (data, logs) = (data.count() as u64, logs.count() as u64);
        let present_bytes = present.map(bytes_in).sum();
        let identity = match site.identity {
            Identity::Directory { file_system, .. } => VolumeIdentity::FileSystem(file_system),
            Identity::Device { number } => VolumeIdentity::Device(number),
        };
        match volumes
            .iter_mut()
            .find(|volume| volume.identity == identity)
        {
            Some(volume) => {
                volume.sites.push(site);
                volume.databases += data;
                volume.logs += logs;
                volume.present_bytes += present_bytes;
            }
            None => volumes.push(Volume {
                identity,
                sites: vec![site],
                free_bytes: free_bytes(site)?,
                present_bytes,
                databases: data,
                logs,
            }),
        }
    }
    Ok(volumes)
}

fn free_bytes(site: &Site) -> Result<u64, Failure> {
    if let SiteKind::Device { size_bytes } = site.kind {
        return Ok(size_bytes.saturating_sub(DEVICE_TABLE_BYTES));
    }
    let facts = rustix::fs::statvfs(&site.path).map_err(|error| {
        Failure::environment(
            format!(
                "The file system of {} does not say how much room it has: {error}.",
                site.given.display()
            ),
            "See whether it is well ('dmesg' shows I/O errors).",
        )
    })?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Bytes that the files of a place take up already.
fn bytes_in(place: &Place) -> u64 {
    let Place::Directory(path) = place else {
        return 0;
    };
    allocated_bytes(path)
}

fn allocated_bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    let facts = entries.filter_map(|entry| entry.ok()?.metadata().ok());
    // `st_blocks` counts 512 bytes whatever the file system's blocks are.
    facts.map(|facts| facts.blocks() * 512).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::profile::TimeSpan;

    #[test]
    fn a_log_that_is_never_used_again_needs_room_for_the_whole_run() {
        let mut profile = Profile::default();
        let circular = log_bytes(&profile);
        profile.engine.circular_logging = false;
        profile.run.held_rate = Some(400.0);
        profile.mail.databases = 4;
        let two_hours = log_bytes(&profile) - circular;
        // 100 operations a second in each database, two thirds of them changes of some kilobytes,
        // for half an hour of warm-up and two hours.
        let operations = 100 * 9_000;
        assert!(
            (operations * 2_000..operations * 8_000).contains(&two_hours),
            "{two_hours}"
        );
        profile.run.duration = TimeSpan::seconds(2 * 3600 + 9_000);
        assert_eq!(log_bytes(&profile) - circular, 2 * two_hours);
        profile.run.held_rate = Some(1e300);
        assert_eq!(log_bytes(&profile), u64::MAX);
    }

    #[test]
    fn a_suggestion_has_two_digits_and_never_rounds_up() {
        assert_eq!(round_size(63_999_999_999), "63GB");
        assert_eq!(round_size(6_390_000_000), "6.3GB");
        assert_eq!(round_size(859_000_000), "850MB");
        assert_eq!(round_size(9_900_000), "9MB");
        assert_eq!(round_size(1_999_000_000_000), "1.9TB");
    }
}
