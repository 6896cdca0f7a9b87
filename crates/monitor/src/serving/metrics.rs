//! The state of a served array in the text format of Prometheus.

use std::fmt::Write;

use proofload::serve::state::{Disk, DiskCondition, Latencies, ServingState};

use crate::metrics::figures::{head, line, pair};
use crate::metrics::names::Kind;

/// The figures: name, kind, labels, meaning.
pub const SERVED: [(&str, Kind, &str, &str); 28] = [
    (
        "proofload_build_info",
        Kind::Gauge,
        "version",
        "Always 1; the version of the program.",
    ),
    (
        "proofload_served_info",
        Kind::Gauge,
        "array, title",
        "Always 1; what is served.",
    ),
    (
        "proofload_served_elapsed_seconds",
        Kind::Gauge,
        "",
        "For how long the array has been served.",
    ),
    (
        "proofload_served_warp",
        Kind::Gauge,
        "",
        "How many times as fast as in the array rebuilds, scrubs and moves between tiers go on.",
    ),
    (
        "proofload_served_requests_total",
        Kind::Counter,
        "operation",
        "Requests of clients that were answered.",
    ),
    (
        "proofload_served_request_seconds_total",
        Kind::Counter,
        "operation",
        "Their latencies from arrival to answer, added up.",
    ),
    (
        "proofload_served_latency_p99_seconds",
        Kind::Gauge,
        "operation",
        "99th percentile of their latencies.",
    ),
    (
        "proofload_served_failed_requests_total",
        Kind::Counter,
        "",
        "Requests that failed.",
    ),
    (
        "proofload_served_requests_under_way",
        Kind::Gauge,
        "",
        "Requests that are not answered yet.",
    ),
    (
        "proofload_served_lateness_seconds_total",
        Kind::Counter,
        "",
        "How much later than the model says answers were given, added up.",
    ),
    (
        "proofload_served_lateness_p99_seconds",
        Kind::Gauge,
        "",
        "99th percentile of that.",
    ),
    (
        "proofload_served_lost_bytes_total",
        Kind::Counter,
        "",
        "Acknowledged bytes that were lost.",
    ),
    (
        "proofload_served_read_hit_ratio",
        Kind::Gauge,
        "",
        "Share of the reads that the data cache held.",
    ),
    (
        "proofload_served_controller_online",
        Kind::Gauge,
        "controller",
        "1 while the controller is online, 0 otherwise.",
    ),
    (
        "proofload_served_battery_works",
        Kind::Gauge,
        "controller",
        "1 while the battery of its cache works, 0 otherwise.",
    ),
    (
        "proofload_served_cache_used_ratio",
        Kind::Gauge,
        "controller",
        "Share of its cache that is in use.",
    ),
    (
        "proofload_served_cache_dirty_ratio",
        Kind::Gauge,
        "controller",
        "Share of its cache with contents that the disks lack.",
    ),
    (
        "proofload_served_waiting_writers",
        Kind::Gauge,
        "controller",
        "Writes that wait for room in its cache.",
    ),
    (
        "proofload_served_disks",
        Kind::Gauge,
        "condition",
        "Disks that are healthy, slow, rebuilding, spare or failed.",
    ),
    (
        "proofload_served_disk_queue_depth",
        Kind::Gauge,
        "disk, group",
        "Requests at the disk and waiting for it.",
    ),
    (
        "proofload_served_checksum_errors_total",
        Kind::Counter,
        "disk, group",
        "Sectors that were read and disagreed with their checksums, where those are kept.",
    ),
    (
        "proofload_served_rebuild_completed_ratio",
        Kind::Gauge,
        "disk, group",
        "How far the rebuild onto the disk is.",
    ),
    (
        "proofload_served_rebuild_left_seconds",
        Kind::Gauge,
        "disk, group",
        "How long it will take at the pace that it has had so far.",
    ),
    (
        "proofload_served_tier_used_bytes",
        Kind::Gauge,
        "pool, tier",
        "Pages of the pool that lie on the tier.",
    ),
    (
        "proofload_served_tier_bytes",
        Kind::Gauge,
        "pool, tier",
        "Pages that the tier has room for.",
    ),
    (
        "proofload_served_read_cache_used_ratio",
        Kind::Gauge,
        "pool",
        "Share of the read cache that can be read.",
    ),
    (
        "proofload_served_read_cache_hit_ratio",
        Kind::Gauge,
        "pool",
        "Share of the reads that reached the pool which the read cache served.",
    ),
    (
        "proofload_served_planned_events",
        Kind::Gauge,
        "",
        "Events that are to happen.",
    ),
];

/// The text of all figures of a state.
#[must_use]
pub fn text(state: &ServingState) -> String {
    let mut text = String::new();
    for (name, kind, _, help) in SERVED {
        let values = values(state, name);
        if !values.is_empty() {
            head(&mut text, name, kind, help);
            for (labels, value) in values {
                line(&mut text, name, &labels, value);
            }
        }
    }
    text
}

/// The table of all names for the documentation.
#[must_use]
pub fn documentation() -> String {
    let mut text = String::from("| name | type | labels | meaning |\n|---|---|---|---|\n");
    for (name, kind, labels, help) in SERVED {
        let _ = writeln!(text, "| `{name}` | {} | {labels} | {help} |", kind.word());
    }
    text
}

/// Values with their labels.
type Values = Vec<(String, f64)>;

fn values(state: &ServingState, name: &str) -> Values {
    let clients = &state.clients;
    let lateness = &clients.lateness;
    match name {
        "proofload_build_info" => one(pair("version", &state.version), 1.0),
        "proofload_served_info" => {
            let (array, title) = (pair("array", &state.array), pair("title", &state.title));
            one(format!("{array},{title}"), 1.0)
        }
        "proofload_served_elapsed_seconds" => plain(Some(state.elapsed_s)),
        "proofload_served_warp" => plain(Some(state.warp as f64)),
        "proofload_served_requests_total" => operations(state, |of| Some(of.count as f64)),
        "proofload_served_request_seconds_total" => operations(state, |of| Some(sum_s(of))),
        "proofload_served_latency_p99_seconds" => operations(state, p99_s),
        "proofload_served_failed_requests_total" => plain(Some(clients.failed as f64)),
        "proofload_served_requests_under_way" => plain(Some(clients.under_way as f64)),
        "proofload_served_lateness_seconds_total" => plain(Some(sum_s(lateness))),
        "proofload_served_lateness_p99_seconds" => plain(p99_s(lateness)),
        "proofload_served_lost_bytes_total" => plain(Some(state.lost_sectors as f64 * 512.0)),
        "proofload_served_read_hit_ratio" => plain(state.read_hit_fraction),
        "proofload_served_planned_events" => plain(Some(state.planned_events.len() as f64)),
        "proofload_served_disks" => {
            let conditions = DiskCondition::ALL.iter();
            conditions
                .map(|condition| {
                    let disks = state.disks.iter();
                    let with = disks.filter(|disk| disk.condition == *condition).count();
                    (pair("condition", condition.word()), with as f64)
                })
                .collect()
        }
        "proofload_served_disk_queue_depth" => {
            let disks = state.disks.iter();
            disks
                .map(|disk| (of_disk(disk.number, &disk.group), disk.queue_depth as f64))
                .collect()
        }
        "proofload_served_checksum_errors_total" => {
            let disks = state.disks.iter();
            let of = |disk: &Disk| {
                (
                    of_disk(disk.number, &disk.group),
                    disk.checksum_errors as f64,
                )
            };
            disks.map(of).collect()
        }
        _ => of_parts(state, name),
    }
}

/// Figures of controllers, rebuilds and pools.
fn of_parts(state: &ServingState, name: &str) -> Values {
    let mut values = Values::new();
    for controller in &state.controllers {
        let value = match name {
            "proofload_served_controller_online" => f64::from(controller.online),
            "proofload_served_battery_works" => f64::from(controller.battery_works),
            "proofload_served_cache_used_ratio" => controller.cache_used_fraction,
            "proofload_served_cache_dirty_ratio" => controller.cache_dirty_fraction,
            "proofload_served_waiting_writers" => controller.waiting_writers as f64,
            _ => continue,
        };
        let number = controller.number.to_string();
        values.push((pair("controller", &number), value));
    }
    for rebuild in &state.rebuilds {
        let value = match name {
            "proofload_served_rebuild_completed_ratio" => Some(rebuild.completed_fraction),
            "proofload_served_rebuild_left_seconds" => rebuild.left_s,
            _ => None,
        };
        let labels = || of_disk(rebuild.disk, &rebuild.group);
        values.extend(value.map(|value| (labels(), value)));
    }
    for pool in &state.pools {
        let of_pool = pair("pool", &pool.name);
        let value = match name {
            "proofload_served_read_cache_used_ratio" => pool.read_cache_used_fraction,
            "proofload_served_read_cache_hit_ratio" => pool.read_cache_hit_fraction,
            _ => None,
        };
        values.extend(value.map(|value| (of_pool.clone(), value)));
        for tier in &pool.tiers {
            let pages = match name {
                "proofload_served_tier_used_bytes" => tier.pages,
                "proofload_served_tier_bytes" => tier.slots,
                _ => continue,
            };
            let labels = format!("{of_pool},{}", pair("tier", &tier.name));
            values.push((labels, (pages * pool.page_bytes) as f64));
        }
    }
    values
}

fn one(labels: String, value: f64) -> Values {
    vec![(labels, value)]
}

fn plain(value: Option<f64>) -> Values {
    value.map_or_else(Values::new, |value| one(String::new(), value))
}

fn operations(state: &ServingState, of: impl Fn(&Latencies) -> Option<f64>) -> Values {
    let clients = &state.clients;
    let operations = [
        ("read", &clients.reads),
        ("write", &clients.writes),
        ("flush", &clients.flushes),
    ];
    let operations = operations.into_iter();
    operations
        .filter_map(|(name, latencies)| Some((pair("operation", name), of(latencies)?)))
        .collect()
}

fn of_disk(number: u64, group: &str) -> String {
    let number = number.to_string();
    format!("{},{}", pair("disk", &number), pair("group", group))
}

fn sum_s(of: &Latencies) -> f64 {
    of.average_ms.unwrap_or(0.0) * of.count as f64 / 1e3
}

fn p99_s(of: &Latencies) -> Option<f64> {
    of.p99_ms.map(|p99_ms| p99_ms / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload::serve::state::{Controller, Disk, Pool, Rebuild, Tier};

    #[test]
    fn every_figure_has_a_value_where_the_array_has_the_part() {
        let latencies = Latencies {
            count: 4,
            average_ms: Some(2.5),
            p99_ms: Some(5.0),
            max_ms: Some(6.0),
        };
        let mut state = ServingState {
            read_hit_fraction: Some(0.5),
            controllers: vec![Controller::default()],
            disks: vec![Disk::default()],
            rebuilds: vec![Rebuild {
                left_s: Some(1.0),
                ..Rebuild::default()
            }],
            pools: vec![Pool {
                page_bytes: 4096,
                tiers: vec![Tier::default()],
                read_cache_used_fraction: Some(0.1),
                read_cache_hit_fraction: Some(0.2),
                ..Pool::default()
            }],
            ..ServingState::default()
        };
        state.clients.reads = latencies.clone();
        state.clients.lateness = latencies;
        let text = text(&state);
        for (name, kind, ..) in SERVED {
            let head = format!("# TYPE {name} {}\n{name}", kind.word());
            assert!(text.contains(&head), "no {name} in {text}");
            assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
        }
        let sum = "proofload_served_request_seconds_total{operation=\"read\"} 0.01\n";
        assert!(text.contains(sum), "{text}");
        assert!(text.contains("proofload_served_disks{condition=\"healthy\"} 1\n"));
    }
}
