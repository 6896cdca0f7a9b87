//! The lines of the state of a served array.

use std::collections::VecDeque;

use console::{Style, truncate_str};
use measure::display::number::{count, duration, latency_or_absent, quantity};
use measure::metric::Unit;
use measure::units;
use proofload::serve::state::{
    Clients, Controller, DiskCondition, Latencies, Pool, Rebuild, ServingState,
};
use report::progress::figures::clock;

use crate::view::screen::plain;
use crate::view::terminal::Size;

pub use crate::view::screen::Whose;

/// Rates are over at least so long.
const RATES_OVER_S: f64 = 1.0;
/// Columns of what a line is about.
const NAMES: usize = 10;

/// Keeps states for rates: the first is what the last is compared with.
pub fn keep(states: &mut VecDeque<ServingState>, now: ServingState) {
    let is_old = |state: &ServingState| now.elapsed_s - state.elapsed_s >= RATES_OVER_S;
    while states.get(1).is_some_and(is_old) {
        states.pop_front();
    }
    states.push_back(now);
}

/// The lines of a state for a terminal, no more and no wider than there is room for. Rates are those since `before`.
#[must_use]
pub fn lines(
    state: &ServingState,
    before: Option<&ServingState>,
    size: Size,
    whose: Whose,
) -> Vec<String> {
    let foot = match whose {
        Whose::Own => "q: leave this view, the array is still served   Ctrl-C: end it",
        Whose::Other => "q: leave this view, the array is still served",
    };
    let mut lines = all(state, before);
    let above = size.rows.saturating_sub(1);
    lines.truncate(above);
    lines.resize(above, String::new());
    lines.push(Style::new().for_stderr().dim().apply_to(foot).to_string());
    lines.truncate(size.rows);
    let fit = |line: String| truncate_str(&line, size.columns, "").into_owned();
    lines.into_iter().map(fit).collect()
}

/// A state as plain lines, for what is no terminal.
#[must_use]
pub fn text(state: &ServingState) -> String {
    let lines = all(state, None);
    let lines = lines.iter().map(|line| console::strip_ansi_codes(line));
    let lines: Vec<String> = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    lines.concat()
}

fn all(state: &ServingState, before: Option<&ServingState>) -> Vec<String> {
    let bold = Style::new().for_stderr().bold();
    let elapsed = clock(std::time::Duration::from_secs_f64(state.elapsed_s.max(0.0)));
    let mut lines = vec![
        format!(
            "{} serves {}, for {elapsed} (process {})",
            bold.apply_to("Proofload"),
            plain(&state.title),
            state.process
        ),
        String::new(),
    ];
    if state.warp > 1 {
        lines[1] = format!(
            "Rebuilds, scrubs and moves between tiers go on {} times as fast as in the array.",
            count(state.warp)
        );
        lines.push(String::new());
    }
    lines.extend(clients(state, before));
    lines.push(String::new());
    lines.extend(disks(state));
    lines.extend(named("cache", caches(state)));
    lines.extend(named("pools", state.pools.iter().map(pool).collect()));
    lines.extend(named("queues", vec![queues(state)]));
    lines.push(String::new());
    lines.extend(named("planned", planned(state)));
    lines.extend(named("events", happened(state)));
    lines
}

/// A share in percent.
fn percent(share: f64) -> String {
    quantity(share * 100.0, Unit::Percent)
}

/// Lines of which the first has a name in front.
fn named(name: &str, lines: Vec<String>) -> Vec<String> {
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(number, line)| {
            let name = if number == 0 { name } else { "" };
            format!("{name:<NAMES$}{line}")
        })
        .collect()
}

fn clients(state: &ServingState, before: Option<&ServingState>) -> Vec<String> {
    let heads = ["count", "IOPS", "average", "p99", "max"];
    let [counts, rates, averages, p99s, maxima] = heads;
    let before = before.filter(|before| before.elapsed_s < state.elapsed_s);
    let has_rates = before.is_some();
    let rates = if has_rates { rates } else { "" };
    let mut lines = vec![format!(
        "{:<NAMES$}{counts:>14}{rates:>12}{averages:>12}{p99s:>12}{maxima:>12}",
        ""
    )];
    let of = |clients: &Clients| {
        [
            ("reads", clients.reads.clone()),
            ("writes", clients.writes.clone()),
            ("flushes", clients.flushes.clone()),
            ("lateness", clients.lateness.clone()),
        ]
    };
    let earlier = before.map(|before| (of(&before.clients), before.elapsed_s));
    for (number, (name, now)) in of(&state.clients).into_iter().enumerate() {
        let rate = earlier.as_ref().map(|(earlier, at_s)| {
            let grown = now.count.saturating_sub(earlier[number].1.count);
            let span_s = state.elapsed_s - at_s;
            quantity(grown as f64 / span_s, Unit::Iops)
        });
        let rate = rate.unwrap_or_default().replace(" IOPS", "");
        lines.push(row(name, &now, &rate));
    }
    let mut last = format!(
        "{} under way",
        units::count(state.clients.under_way, "request")
    );
    if state.clients.failed > 0 {
        let failed = units::count(state.clients.failed, "request");
        let red = Style::new().for_stderr().red();
        last.push_str(&format!(", {}", red.apply_to(format!("{failed} failed"))));
    }
    if state.lost_sectors > 0 {
        let lost = units::size(state.lost_sectors * 512);
        last.push_str(&format!(", {lost} that were acknowledged are lost"));
    }
    lines.push(last);
    lines
}

fn row(name: &str, now: &Latencies, rate: &str) -> String {
    let [average, p99, max] = [now.average_ms, now.p99_ms, now.max_ms].map(latency_or_absent);
    format!(
        "{name:<NAMES$}{:>14}{rate:>12}{average:>12}{p99:>12}{max:>12}",
        count(now.count)
    )
}

fn disks(state: &ServingState) -> Vec<String> {
    let with = |condition| {
        let disks = state.disks.iter();
        disks.filter(|disk| disk.condition == condition).count()
    };
    let counts = DiskCondition::ALL.map(|condition| (with(condition), condition.word()));
    let counts = counts.iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let mut lines = vec![counts.join(", ")];
    let red = Style::new().for_stderr().red();
    let yellow = Style::new().for_stderr().yellow();
    for disk in &state.disks {
        let name = format!("disk {} ({})", disk.number, plain(&disk.group));
        match disk.condition {
            DiskCondition::Failed => {
                lines.push(red.apply_to(format!("{name} has failed")).to_string());
            }
            DiskCondition::Slow => lines.push(
                yellow
                    .apply_to(format!(
                        "{name} is slower by a factor of {}",
                        disk.slowdown_factor
                    ))
                    .to_string(),
            ),
            DiskCondition::Healthy | DiskCondition::Rebuilding | DiskCondition::Spare => {}
        }
        if disk.checksum_errors > 0 {
            let sectors = units::count(disk.checksum_errors, "sector");
            let text = format!("{name} gave back something else than was written in {sectors}");
            lines.push(yellow.apply_to(text).to_string());
        }
    }
    lines.extend(state.rebuilds.iter().map(rebuild));
    let unwell = state.groups.iter().filter(|group| group.state != "healthy");
    lines.extend(unwell.map(|group| {
        let text = format!("group {} is {}", plain(&group.name), group.state);
        yellow.apply_to(text).to_string()
    }));
    named("disks", lines)
}

fn rebuild(rebuild: &Rebuild) -> String {
    let left = rebuild.left_s.map_or_else(String::new, |left_s| {
        format!(", about {} left", duration(left_s.round()))
    });
    format!(
        "the rebuild onto disk {} ({}) is {} complete{left}",
        rebuild.disk,
        plain(&rebuild.group),
        percent(rebuild.completed_fraction)
    )
}

fn caches(state: &ServingState) -> Vec<String> {
    let mut lines: Vec<String> = state.controllers.iter().map(cache).collect();
    if let Some(hits) = state.read_hit_fraction {
        lines.push(format!("{} of the reads were in the cache", percent(hits)));
    }
    lines
}

fn cache(controller: &Controller) -> String {
    let red = Style::new().for_stderr().red();
    let mut text = format!(
        "controller {}: {} dirty, {} in use",
        controller.number,
        percent(controller.cache_dirty_fraction),
        percent(controller.cache_used_fraction)
    );
    if !controller.online {
        text.push_str(&format!(", {}", red.apply_to("offline")));
    }
    let battery = match controller.battery_works {
        true => "battery works".to_owned(),
        false => red.apply_to("battery has failed").to_string(),
    };
    format!("{text}, {battery}")
}

fn pool(pool: &Pool) -> String {
    let tiers = pool.tiers.iter().map(|tier| {
        format!(
            "{} {} of {}",
            plain(&tier.name),
            units::size(tier.pages * pool.page_bytes),
            units::size(tier.slots * pool.page_bytes)
        )
    });
    let mut parts: Vec<String> = tiers.collect();
    if let Some(used) = pool.read_cache_used_fraction {
        let hits = pool.read_cache_hit_fraction;
        let hits = hits.map_or_else(String::new, |hits| format!(", {} hits", percent(hits)));
        parts.push(format!("read cache {} full{hits}", percent(used)));
    }
    if pool.promoted_bytes + pool.demoted_bytes + pool.moves_under_way > 0 {
        parts.push(format!(
            "moved up {}, down {}",
            units::size(pool.promoted_bytes),
            units::size(pool.demoted_bytes)
        ));
    }
    format!("{}: {}", plain(&pool.name), parts.join(", "))
}

fn queues(state: &ServingState) -> String {
    let sum = |of: fn(&Controller) -> u64| state.controllers.iter().map(of).sum::<u64>();
    let deepest = state.disks.iter().max_by_key(|disk| disk.queue_depth);
    let at_disks = match deepest.filter(|disk| disk.queue_depth > 0) {
        Some(disk) => format!("up to {} at a disk ({})", disk.queue_depth, disk.number),
        None => "0 at the disks".to_owned(),
    };
    format!(
        "{at_disks}, {} at the disk groups, {} in destaging, {} waiting",
        sum(|one| one.backend_in_flight),
        units::count(sum(|one| one.destages_in_flight), "stripe"),
        units::count(sum(|one| one.waiting_writers), "write"),
    )
}

fn planned(state: &ServingState) -> Vec<String> {
    let events = state.planned_events.iter();
    events
        .map(|event| {
            let in_s = (event.at_s - state.elapsed_s).max(0.0).ceil();
            format!("in {}: {}", duration(in_s), plain(&event.text))
        })
        .collect()
}

/// The newest first, so that they are seen where there is little room.
fn happened(state: &ServingState) -> Vec<String> {
    let events = state.events.iter().rev();
    events
        .map(|event| {
            let at = clock(std::time::Duration::from_secs_f64(event.at_s.max(0.0)));
            format!("{at}  {}", plain(&event.text))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::measure_text_width;
    use proofload::serve::state::{Disk, HappenedEvent, PlannedEvent};

    fn state() -> ServingState {
        let disk = |number, condition| Disk {
            number,
            group: "a-disks".to_owned(),
            condition,
            slowdown_factor: if condition == DiskCondition::Slow {
                20
            } else {
                1
            },
            queue_depth: number,
            checksum_errors: 0,
        };
        ServingState {
            title: "An\x1b[31m array".to_owned(),
            elapsed_s: 100.0,
            disks: vec![
                disk(0, DiskCondition::Healthy),
                disk(1, DiskCondition::Slow),
                disk(2, DiskCondition::Rebuilding),
                disk(3, DiskCondition::Failed),
            ],
            controllers: vec![Controller {
                cache_dirty_fraction: 0.25,
                ..Controller::default()
            }],
            rebuilds: vec![Rebuild {
                disk: 2,
                group: "a-disks".to_owned(),
                completed_fraction: 0.5,
                left_s: Some(3600.0),
                ..Rebuild::default()
            }],
            events: vec![HappenedEvent {
                at_s: 5.0,
                text: "Disk 3 fails.".to_owned(),
                ..HappenedEvent::default()
            }],
            planned_events: vec![PlannedEvent {
                at_s: 160.0,
                text: "disk 3 is replaced".to_owned(),
            }],
            ..ServingState::default()
        }
    }

    #[test]
    fn a_state_says_what_is_not_as_it_was_made() {
        let text = text(&state());
        for part in [
            "1 healthy, 1 slow, 1 rebuilding, 1 failed",
            "disk 1 (a-disks) is slower by a factor of 20",
            "disk 3 (a-disks) has failed",
            "the rebuild onto disk 2 (a-disks) is 50.0 % complete, about ",
            "25.0 % dirty",
            "battery has failed",
            "Disk 3 fails.",
            "disk 3 is replaced",
            "up to 3 at a disk (3)",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        assert!(!text.contains('\x1b'), "{text:?}");
    }

    #[test]
    fn lines_fit_and_rates_are_those_since_the_state_before() {
        let mut now = state();
        let mut states = VecDeque::new();
        for (elapsed_s, count) in [(100.0, 0), (100.5, 100), (102.0, 850), (103.0, 1350)] {
            now.elapsed_s = elapsed_s;
            now.clients.reads.count = count;
            keep(&mut states, now.clone());
        }
        assert_eq!(states.len(), 2);
        let size = Size {
            columns: 60,
            rows: 9,
        };
        let lines = lines(&now, states.front(), size, Whose::Own);
        assert_eq!(lines.len(), 9);
        let wide = lines.iter().map(|line| measure_text_width(line)).max();
        assert!(wide <= Some(60), "{lines:?}");
        assert!(lines[3].contains("500"), "{lines:?}");
    }
}
