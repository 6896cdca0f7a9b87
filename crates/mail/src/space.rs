//! Space that the logs of a mail run take.

use crate::profile::MailProfile;
use workload::profile::FindLoad;

/// Log files beyond the checkpoint depth: the one being filled, the next, reserves, and those that
/// are below the checkpoint but not yet used again.
const SPARE_LOG_FILES: u64 = 16;

/// Log records of an operation without the contents of its columns, generously.
const LOG_RECORD_BYTES: f64 = 1024.0;

/// The unit in which the log is written; half of one is left empty on average when a commit waits.
const LOG_SEGMENT_BYTES: f64 = 4096.0;

/// Space for the log of one database. With circular logging, the flusher lets it run to 1.25 times
/// the checkpoint depth before it hurries, and never far beyond twice. Without, every file stays.
pub fn log_bytes(profile: &MailProfile) -> u64 {
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

/// The same for a run on real storage, with the log that its tests need.
pub fn log_bytes_of_run(profile: &MailProfile) -> u64 {
    match profile.test.kind.has_recovery() {
        true => log_bytes(profile).max(log_bytes_to_replay(profile)),
        false => log_bytes(profile),
    }
}

/// Log of one database that soft recovery replays. One that is faster than the others writes more until
/// all of them have written as much.
fn log_bytes_to_replay(profile: &MailProfile) -> u64 {
    let files = 2 * u64::from(profile.recovery.log_files) + SPARE_LOG_FILES;
    files.saturating_mul(profile.engine.log_file_size.bytes())
}

/// Log that one database writes from the beginning of the warm-up to the end of the run, at the
/// rate that the run is to reach. A run with a fixed number of sessions on faster storage writes
/// more; nobody knows before how much.
fn written_log_bytes(profile: &MailProfile) -> u64 {
    let (run, mail) = (&profile.run, &profile.mail);
    let finds_load = profile.tuning.find != FindLoad::None
        || (!profile.holds_rate() && mail.sessions().is_none());
    let tuning = profile.tuning.longest(run, finds_load).as_seconds();
    let seconds =
        run.warm_up.on_storage().longest.as_seconds() + tuning + run.duration.as_seconds();
    let operations = profile.rate_to_reach() / f64::from(mail.databases);
    // A float conversion saturates, so an absurd profile asks for an absurd amount of space.
    (operations * seconds * log_bytes_of_operation(profile)).ceil() as u64
}

/// Log of an average operation, if each causes one database read or write (most cause more): what
/// it inserts, or replaces with what was there before; the record around it with those of index,
/// space and commit; and the rest of a segment that a commit leaves empty.
fn log_bytes_of_operation(profile: &MailProfile) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use config::TimeSpan;

    #[test]
    fn the_log_that_is_replayed_needs_room() {
        let mut profile = MailProfile::default();
        profile.recovery.log_files = 5_000;
        let file = profile.engine.log_file_size.bytes();
        assert!(log_bytes_of_run(&profile) < 5_000 * file);
        profile.test.kind = crate::profile::TestSelection::All;
        assert!(log_bytes_of_run(&profile) > 5_000 * file);
        // A prediction makes the performance test alone.
        assert!(log_bytes(&profile) < 5_000 * file);
    }

    #[test]
    fn a_log_that_is_never_used_again_needs_room_for_the_whole_run() {
        let mut profile = MailProfile::default();
        let circular = log_bytes(&profile);
        profile.engine.circular_logging = false;
        profile.run.held_rate = Some(400.0);
        profile.mail.databases = 4;
        let two_hours = log_bytes(&profile) - circular;
        // 100 operations a second in each database, two thirds of them changes of some kilobytes,
        // for a quarter of an hour of warm-up and two hours.
        let operations = 100 * 8_100;
        assert!(
            (operations * 2_000..operations * 8_000).contains(&two_hours),
            "{two_hours}"
        );
        profile.run.duration = TimeSpan::seconds(2 * 3600 + 8_100);
        assert_eq!(log_bytes(&profile) - circular, 2 * two_hours);
        profile.run.held_rate = Some(1e300);
        assert_eq!(log_bytes(&profile), u64::MAX);
    }
}
