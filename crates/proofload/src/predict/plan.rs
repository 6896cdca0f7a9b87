//! What a prediction needs of the array, and what it looks like.

use array::description::{DatabaseDemand, PlannedArray};
use measure::result::DatabaseResult;
use workload::controller::plan::database_name;
use workload::profile::Profile;

use crate::cli::PredictOptions;
use crate::human;
use crate::target::space::log_bytes;

/// Room for every database with its growth, and for its log.
pub fn demands(profile: &Profile) -> Vec<DatabaseDemand> {
    let data_bytes = profile.mail.reserved_database_bytes();
    let log_bytes = log_bytes(profile);
    (1..=profile.mail.databases as usize)
        .map(|number| DatabaseDemand {
            name: database_name(number),
            data_bytes,
            log_bytes,
        })
        .collect()
}

/// The databases as they are known before the prediction: their names and their volumes.
pub fn databases(planned: &PlannedArray) -> Vec<DatabaseResult> {
    let placement = planned.placement.iter().enumerate();
    let volume = |number: u16| planned.settings.volumes[usize::from(number)].name.clone();
    placement
        .map(|(number, place)| DatabaseResult {
            name: database_name(number + 1),
            path: volume(place.data.0),
            log_path: volume(place.log.0),
            ..DatabaseResult::default()
        })
        .collect()
}

/// The array and the load as text.
pub fn describe(options: &PredictOptions, profile: &Profile, planned: &PlannedArray) -> String {
    let (mail, settings) = (&profile.mail, &planned.settings);
    let mut text = format!(
        "{}: {} of {} each\n{}\n",
        options.workload,
        human::count(u64::from(mail.databases), "database"),
        human::size(mail.database_bytes()),
        settings.title,
    );
    for group in &settings.backend.disk_group {
        let level = match group.chunk_kib {
            Some(chunk_kib) => format!("{} in chunks of {chunk_kib} KiB", group.level.title()),
            None => group.level.title().to_owned(),
        };
        text.push_str(&format!(
            "  group {}: {} x {}, {level}\n",
            group.name, group.disks, group.disk
        ));
    }
    for volume in &settings.volumes {
        let place = volume.pool.as_ref().or(volume.group.as_ref());
        text.push_str(&format!(
            "  volume {}: {} in {}, controller {}\n",
            volume.name,
            human::size(volume.capacity_mib << 20),
            place.map_or("", String::as_str),
            volume.owner
        ));
    }
    for note in &planned.notes {
        text.push_str(&format!("{note}\n"));
    }
    let load = match (profile.run.held_rate, mail.threads) {
        (Some(rate), _) => format!("{rate} IOPS held"),
        (None, Some(threads)) => human::count(u64::from(threads), "thread"),
        (None, None) => format!("as many threads as reach {:.2} IOPS", mail.target_iops()),
    };
    text.push_str(&format!(
        "Load: {load}, measured for {} of simulated time in samples of {}\n",
        profile.run.duration, profile.run.sample_interval
    ));
    text
}
