//! The parts of an array, and how busy each was: what its picture shows, and which of them was busiest.

use array::ArraySettings;
use measure::display::number::{count, counted, percent};
use measure::result::{ArrayController, ArrayGroup, ArrayPool, ArrayResult};
use measure::units;
use serde::Serialize;

/// A part of an array.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Part {
    /// Names it among the parts.
    pub id: String,
    /// `ports`, `controller`, `link`, `pool` or `group`.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// What it is made of.
    pub details: Vec<String>,
    /// The controller that it belongs to, or the pool; empty where it belongs to none.
    pub within: String,
    /// Share of the time that it was busy, from 0 to 1; absent where it is not measured.
    pub busy_fraction: Option<f64>,
    /// What is measured, in words.
    pub measure: &'static str,
}

/// The parts from the hosts down to the disks.
#[must_use]
pub fn parts(settings: &ArraySettings, result: &ArrayResult) -> Vec<Part> {
    let mut parts = Vec::new();
    for controller in &result.controllers {
        parts.push(ports(settings, controller));
        parts.push(controller_part(settings, controller));
    }
    if result.controllers.len() > 1 {
        parts.extend(link(result));
    }
    parts.extend(result.pools.iter().map(|pool| pool_part(settings, pool)));
    let groups = result.groups.iter();
    parts.extend(groups.map(|group| group_part(settings, group)));
    parts
}

/// The busiest part in a sentence; empty without any that is measured.
#[must_use]
pub fn busiest(parts: &[Part]) -> String {
    let known = parts
        .iter()
        .filter_map(|part| Some((part.busy_fraction?, part)));
    let most = known.clone().max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((share, part)) = most else {
        return String::new();
    };
    let others = known.filter(|(_, other)| other.kind != part.kind);
    let next = others.map(|(share, _)| share).fold(0.0, f64::max);
    format!(
        "Busiest part: {}, {} % ({}). Parts of other kinds: {} % at most.",
        part.name,
        percent(share),
        part.measure,
        percent(next)
    )
}

fn ports(settings: &ArraySettings, controller: &ArrayController) -> Part {
    let of = &settings.controllers;
    let room = f64::from(of.ports_per_controller) * of.port.rate_mb_per_s * 1e6;
    let (received, sent) = (
        controller.received_bytes_per_second,
        controller.sent_bytes_per_second,
    );
    Part {
        id: format!("ports-{}", controller.number),
        kind: "ports",
        name: format!("ports of controller {}", controller.number),
        details: vec![
            format!(
                "{} of {} MB/s",
                counted(of.ports_per_controller.into(), "port"),
                of.port.rate_mb_per_s
            ),
            format!("{} in, {} out", rate(received), rate(sent)),
        ],
        within: format!("controller-{}", controller.number),
        busy_fraction: Some(received.max(sent) / room),
        measure: "of the rate of the busier direction",
    }
}

fn rate(bytes_per_second: f64) -> String {
    measure::display::number::quantity(bytes_per_second, measure::metric::Unit::BytesPerSecond)
}

fn controller_part(settings: &ArraySettings, controller: &ArrayController) -> Part {
    let lines = controller.cache_lines_max.max(1) as f64;
    let dirty = controller.cache_dirty_lines as f64 / lines;
    let mut details = vec![
        format!(
            "data cache {}",
            units::size(settings.cache.capacity_mib << 20)
        ),
        format!("{} % dirty at the end", percent(dirty)),
    ];
    if !controller.online {
        details.push("offline at the end".to_owned());
    }
    Part {
        id: format!("controller-{}", controller.number),
        kind: "controller",
        name: format!("controller {}", controller.number),
        details,
        within: String::new(),
        busy_fraction: Some(controller.cpu_busy_fraction),
        measure: "of the time of its CPU",
    }
}

/// The link between two controllers.
fn link(result: &ArrayResult) -> Option<Part> {
    let controllers = result.controllers.iter();
    let busy = controllers
        .map(|one| one.link_busy_fraction)
        .reduce(f64::max)?;
    Some(Part {
        id: "link".to_owned(),
        kind: "link",
        name: "controller link".to_owned(),
        details: Vec::new(),
        within: String::new(),
        busy_fraction: Some(busy),
        measure: "of the time of the busier direction",
    })
}

fn pool_part(settings: &ArraySettings, pool: &ArrayPool) -> Part {
    let volumes = settings.volumes.iter();
    let mut owners = volumes.filter(|volume| volume.pool.as_ref() == Some(&pool.name));
    let owner = owners
        .next()
        .map(|volume| format!("controller-{}", volume.owner));
    let mut details = Vec::new();
    let pages = pool.performance_pages + pool.standard_pages + pool.archive_pages;
    if pool.performance_slots > 0 && pages > 0 {
        let share = pool.performance_pages as f64 / pages as f64;
        details.push(format!(
            "{} % of its pages on the performance tier",
            percent(share)
        ));
    }
    if pool.read_cache_lines_max > 0 {
        let share = pool.read_cache_lines as f64 / pool.read_cache_lines_max as f64;
        details.push(format!("{} % of the read cache in use", percent(share)));
    }
    if let Some(hits) = pool.read_cache_hit_fraction {
        details.push(format!(
            "{} % of its reads from the read cache",
            percent(hits)
        ));
    }
    Part {
        id: format!("pool-{}", pool.name),
        kind: "pool",
        name: format!("pool {}", pool.name),
        details,
        within: owner.unwrap_or_default(),
        busy_fraction: None,
        measure: "",
    }
}

fn group_part(settings: &ArraySettings, group: &ArrayGroup) -> Part {
    let within = within(settings, &group.name);
    let iops = group.reads_per_second + group.writes_per_second;
    Part {
        id: format!("group-{}", group.name),
        kind: "group",
        name: format!("disk group {}", group.name),
        details: vec![
            format!("{} x {}", count(group.disks), group.disk),
            format!("{}, {} IOPS", group.level, count(iops.round() as u64)),
        ],
        within,
        busy_fraction: Some(group.average_busy_fraction),
        measure: "of the time, average of its disks",
    }
}

/// The pool of a group, or the controller that owns its volumes.
fn within(settings: &ArraySettings, group: &str) -> String {
    let mut pools = settings.pools.iter().filter(|(_, pool)| {
        let mut groups = pool.groups.iter().map(|one| &one.group);
        let cache = pool.read_cache.as_ref().map(|cache| &cache.group);
        groups.any(|one| one == group) || cache.is_some_and(|one| one == group)
    });
    if let Some((name, _)) = pools.next() {
        return format!("pool-{name}");
    }
    let volumes = settings.volumes.iter();
    let mut owners = volumes.filter(|volume| volume.group.as_deref() == Some(group));
    let owner = owners
        .next()
        .map(|volume| format!("controller-{}", volume.owner));
    owner.unwrap_or_default()
}
