//! What is different when a brokerage is predicted: one database over several volumes.

use array::description::{DatabaseDemand, PlannedArray};
use measure::result::DatabaseResult;
use workload::brokerage::{books, kinds};
use workload::profile::Profile;

use crate::human;

/// Log files beyond the checkpoint depth, as for mail.
const SPARE_LOG_FILES: u64 = 16;

/// Name of data file `number`, counted from 1, as a volume's purpose.
fn data_name(number: usize) -> String {
    format!("brokerage-data-{number}")
}

/// Room for every data file with its growth. The log, which is one, asks for room with the first.
pub fn demands(profile: &Profile) -> Vec<DatabaseDemand> {
    let brokerage = &profile.brokerage;
    let files = u64::from(brokerage.data_files);
    let pages = books::Books::build(brokerage).all_pages();
    let page_bytes = brokerage.database.page_size.bytes();
    let data_bytes = workload::brokerage::twin::file_bytes(pages, files, page_bytes);
    let database = &brokerage.database;
    let log_bytes = database.checkpoint_depth.bytes().saturating_mul(2)
        + SPARE_LOG_FILES * database.log_file_size.bytes();
    (1..=files as usize)
        .map(|number| DatabaseDemand {
            name: data_name(number),
            data_bytes,
            log_bytes: if number == 1 { log_bytes } else { 0 },
        })
        .collect()
}

/// The one database as it is known before the prediction.
pub fn database(planned: &PlannedArray) -> DatabaseResult {
    let volumes = &planned.settings.volumes;
    let volume = |number: u16| volumes[usize::from(number)].name.clone();
    let mut names: Vec<String> = planned
        .placement
        .iter()
        .map(|place| volume(place.data.0))
        .collect();
    names.dedup();
    let log = planned.placement.first().map(|place| volume(place.log.0));
    DatabaseResult {
        name: kinds::DATABASE.to_owned(),
        path: names.join(", "),
        log_path: log.unwrap_or_default(),
        ..DatabaseResult::default()
    }
}

/// The house in a line.
pub fn describe(workload: &str, profile: &Profile) -> String {
    let brokerage = &profile.brokerage;
    let scale = books::scale(brokerage);
    format!(
        "{workload}: {} of data for {} customers with {} of trading in {}",
        human::size(books::bytes_of(brokerage, scale)),
        human::count_of(scale.customers),
        human::count(u64::from(scale.trade_days), "day"),
        human::count(u64::from(brokerage.data_files), "file"),
    )
}

/// The load in a few words.
pub fn load(profile: &Profile) -> String {
    human::count(u64::from(profile.brokerage.users), "user")
}
