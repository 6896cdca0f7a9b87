//! Whether databases, their growth and their logs fit, and how much would.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use workload::DatabaseNeeds;

use crate::target::{Identity, Target, TargetKind};
use crate::{Layout, Place};
use measure::units;
use workload::Refusal;

/// What a raw block device needs for its own table of files, with room to spare.
pub(crate) const DEVICE_TABLE_BYTES: u64 = 16 << 20;

/// The smallest database that is worth suggesting.
const LEAST_DATABASE_BYTES: u64 = 8 << 20;

/// One file system or block device and what shall go there.
struct Volume<'a> {
    identity: VolumeIdentity,
    /// The targets on it.
    targets: Vec<&'a Target>,
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
pub fn check(layout: &Layout, needs: &DatabaseNeeds) -> Result<(), Refusal> {
    let volumes = volumes(layout, needs.log_reuse_off.is_none())?;
    let (database_bytes, log_bytes) = (needs.reserved_bytes, needs.log_bytes);
    for volume in &volumes {
        let databases = database_bytes.saturating_mul(volume.databases);
        let needed = databases.saturating_add(log_bytes.saturating_mul(volume.logs));
        if needed.saturating_sub(volume.present_bytes) > volume.free_bytes {
            let fitting = fitting_data_bytes(&volumes, needs, 1.0);
            return Err(too_little(volume, needed, needs, fitting));
        }
    }
    Ok(())
}

/// What each file system and block device must hold, and what room it has, as sentences.
pub fn needs(layout: &Layout, needs: &DatabaseNeeds) -> Result<Vec<String>, Refusal> {
    let (database, log) = (needs.reserved_bytes, needs.log_bytes);
    let need = |volume: &Volume<'_>| {
        let needed = database.saturating_mul(volume.databases);
        let needed = needed.saturating_add(log.saturating_mul(volume.logs));
        format!(
            "{} with room to grow on {}, where {} are free",
            units::size(needed.saturating_sub(volume.present_bytes)),
            volume.names().join(" and "),
            units::size(volume.free_bytes)
        )
    };
    Ok(volumes(layout, needs.log_reuse_off.is_none())?
        .iter()
        .map(need)
        .collect())
}

impl Volume<'_> {
    /// Its targets as they were given.
    fn names(&self) -> Vec<String> {
        let given = self.targets.iter().map(|target| target.given.display());
        given.map(|given| given.to_string()).collect()
    }
}

/// Data over all databases that fits this share of the room on every volume with growth and logs; `None`
/// when not even small databases do.
pub(crate) fn fitting(
    layout: &Layout,
    needs: &DatabaseNeeds,
    share: f64,
) -> Result<Option<u64>, Refusal> {
    let volumes = volumes(layout, needs.log_reuse_off.is_none())?;
    Ok(fitting_data_bytes(&volumes, needs, share))
}

/// Data over all databases that would fit in this share of every volume, without growth and logs; `None`
/// when not even small databases would.
fn fitting_data_bytes(volumes: &[Volume<'_>], needs: &DatabaseNeeds, share: f64) -> Option<u64> {
    let mut per_database = u64::MAX;
    for volume in volumes {
        let room = volume.free_bytes.saturating_add(volume.present_bytes);
        let room = (room as f64 * share) as u64;
        let room = room.checked_sub(needs.log_bytes.saturating_mul(volume.logs))?;
        if let Some(share) = room.checked_div(volume.databases) {
            let growth = 1.0 + needs.growth_percent / 100.0;
            // Rounding down of the quotient keeps the answer on the safe side.
            per_database = per_database.min((share as f64 / growth) as u64);
        }
    }
    (per_database >= LEAST_DATABASE_BYTES)
        .then(|| per_database.saturating_mul(u64::from(needs.count)))
}

/// Two digits or more, rounded down, as an option takes it: `63GiB`, `850MiB`.
fn round_size(bytes: u64) -> String {
    let (unit, name): (u64, _) = match bytes >> 20 {
        0x0010_0000.. => (1 << 40, "TiB"),
        0x0400.. => (1 << 30, "GiB"),
        _ => (1 << 20, "MiB"),
    };
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    if tenths < 100 && unit > 1 << 20 {
        return format!("{}.{}{name}", tenths / 10, tenths % 10);
    }
    let whole = bytes / unit;
    let kept = if whole >= 100 { whole / 10 * 10 } else { whole };
    format!("{kept}{name}")
}

fn too_little(
    volume: &Volume<'_>,
    needed: u64,
    needs: &DatabaseNeeds,
    fitting: Option<u64>,
) -> Refusal {
    let names = volume.names();
    let databases = if volume.databases == 0 {
        String::new()
    } else {
        format!(
            "{} with {} % room to grow",
            units::count_of_size(volume.databases, "database", needs.data_bytes),
            needs.growth_percent,
        )
    };
    let logs = match volume.logs {
        1 => "the log files of one database".to_owned(),
        logs => format!("the log files of {logs} databases"),
    };
    let logs = match needs.log_reuse_off {
        None => logs,
        Some(setting) => format!("{logs} ({setting} = false keeps every file)"),
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
        units::size(volume.free_bytes),
        units::size(needed),
    );
    let help = match (fitting, needs.log_reuse_off) {
        (Some(bytes), _) => format!(
            "{} with --target-size {}, name more directories with --on, or make room.",
            needs.to_shrink,
            round_size(bytes)
        ),
        (None, Some(setting)) => format!(
            "Name storage with more room, make the run shorter (--duration), or add --set \
             {setting}=true."
        ),
        (None, None) => "Name storage with more room.".to_owned(),
    };
    Refusal::environment(message, help)
}

/// Every file system and block device of the layout once. Kept logs count as room only if their
/// files are used again.
fn volumes(layout: &Layout, circular_logging: bool) -> Result<Vec<Volume<'_>>, Refusal> {
    let mut volumes: Vec<Volume<'_>> = Vec::new();
    for (index, target) in layout.targets.iter().enumerate() {
        let data = layout
            .databases
            .iter()
            .filter(|place| place.data_target == index);
        let logs = layout
            .databases
            .iter()
            .filter(|place| place.log_target == index);
        let present = data.clone().map(|place| &place.data);
        let kept_logs = logs.clone().filter(|_| circular_logging);
        let present = present.chain(kept_logs.map(|place| &place.log));
        let (data, logs) = (data.count() as u64, logs.count() as u64);
        let present_bytes = present.map(bytes_in).sum();
        let identity = match target.identity {
            Identity::Directory { file_system, .. } => VolumeIdentity::FileSystem(file_system),
            Identity::Device { number } => VolumeIdentity::Device(number),
        };
        match volumes
            .iter_mut()
            .find(|volume| volume.identity == identity)
        {
            Some(volume) => {
                volume.targets.push(target);
                volume.databases += data;
                volume.logs += logs;
                volume.present_bytes += present_bytes;
            }
            None => volumes.push(Volume {
                identity,
                targets: vec![target],
                free_bytes: free_bytes(target)?,
                present_bytes,
                databases: data,
                logs,
            }),
        }
    }
    Ok(volumes)
}

/// Room for files on a target.
pub(crate) fn free_bytes(target: &Target) -> Result<u64, Refusal> {
    if let TargetKind::Device { size_bytes } = target.kind {
        return Ok(size_bytes.saturating_sub(DEVICE_TABLE_BYTES));
    }
    let facts = rustix::fs::statvfs(&target.path).map_err(|error| {
        Refusal::environment(
            format!(
                "The file system of {} does not say how much room it has: {error}.",
                target.given.display()
            ),
            "Check it ('dmesg' shows I/O errors).",
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

    #[test]
    fn a_suggestion_has_two_digits_and_never_rounds_up() {
        assert_eq!(round_size((64 << 30) - 1), "63GiB");
        assert_eq!(round_size((64 << 30) / 10 - 1), "6.3GiB");
        assert_eq!(round_size(859 << 20), "850MiB");
        assert_eq!(round_size((10 << 20) - 1), "9MiB");
        assert_eq!(round_size((2 << 40) - 1), "1.9TiB");
        assert_eq!(round_size((1 << 40) - 1), "1020GiB");
    }
}
