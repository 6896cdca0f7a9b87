//! The traffic of others: what the devices do while nothing is done here.

use std::thread::sleep;
use std::time::{Duration, Instant};

use measure::host::DeviceCounters;
use storage::Examination;

use super::PlaceReport;

/// Watches the devices of all places at once, and notes the traffic of each.
pub(super) fn watch(
    mut places: Vec<(PlaceReport, Examination)>,
    length: Duration,
    notify: &mut dyn FnMut(&str),
) -> Vec<(PlaceReport, Examination)> {
    if length.is_zero() || places.iter().all(|(place, _)| place.devices.is_empty()) {
        return places;
    }
    notify(&format!(
        "watching the devices for {:.0} s for I/O of others",
        length.as_secs_f64().ceil()
    ));
    let before: Vec<DeviceCounters> = places.iter().map(|(place, _)| counters(place)).collect();
    let begun = Instant::now();
    sleep(length);
    let seconds = begun.elapsed().as_secs_f64();
    for ((place, _), before) in places.iter_mut().zip(before) {
        place.foreign_traffic = before.traffic(&counters(place), seconds);
    }
    places
}

fn counters(place: &PlaceReport) -> DeviceCounters {
    DeviceCounters::now(place.devices.iter().map(|device| device.name.as_str()))
}
