//! What is to break and to be repaired, and what will come of it.

use std::collections::BTreeSet;

use super::Expansion;
use crate::Fault;
use crate::description::keys::{EventKeys, EventName, EventSubject};
use crate::raid::{GroupId, Level};

/// Something that is to happen to the array.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedEvent {
    /// When, ns since the measured phase began.
    pub at_ns: u64,
    /// What fails or is repaired.
    pub fault: Fault,
    /// The same as a sentence without its time, such as `disk 3 of group 'a-disks' fails`.
    pub text: String,
    /// Whether it ends one that lasts for a time.
    pub ends_another: bool,
    /// Number of the event that it is, or that it ends, among those of the description.
    number: usize,
    /// The key of its time.
    pub(in crate::description) path: String,
}

/// A disk group as its disks fail one after the other.
#[derive(Debug, Clone, Default)]
struct Standing {
    /// Members that are gone and on no spare.
    missing: usize,
    /// Members that are gone, even if a spare is being filled for them.
    not_whole: usize,
    spares: usize,
    failed: Vec<u32>,
    is_lost: bool,
}

impl Expansion<'_> {
    /// Adds the events in the order of their times, and notes what is to be expected of them.
    pub fn add_events(&mut self) -> Vec<PlannedEvent> {
        let keys = self.document.settings.event.clone();
        let mut events = Vec::new();
        for (number, keys) in keys.iter().enumerate() {
            let path = format!("event.{number}");
            let Some((fault, text)) = self.fault_of(keys, &path) else {
                continue;
            };
            events.push(PlannedEvent {
                at_ns: keys.at.as_ns(),
                fault,
                text,
                ends_another: false,
                number,
                path: format!("{path}.at"),
            });
            events.extend(self.repair_of(keys, number));
        }
        events.sort_by_key(|event| event.at_ns);
        self.check_slow_times(&events);
        self.expect(&events);
        events
    }

    /// The end of an event that lasts for a time, and with whose keys nothing is wrong.
    fn repair_of(&mut self, keys: &EventKeys, number: usize) -> Option<PlannedEvent> {
        let lasts = keys.lasts.or_else(|| keys.what.usual_length())?;
        let path = format!("event.{number}.lasts");
        let Some(what) = keys.what.repair() else {
            let message =
                "nothing ends this event after a time: it is a repair, or happens at once";
            self.report(&path, message, Some("omit 'lasts'"));
            return None;
        };
        let repair = EventKeys {
            what,
            factor: None,
            ..keys.clone()
        };
        let (fault, text) = self.fault_of(&repair, &path)?;
        Some(PlannedEvent {
            at_ns: keys.at.as_ns() + lasts.as_ns(),
            fault,
            text,
            ends_another: true,
            number,
            path,
        })
    }

    /// Refuses changes of a disk's speed while it is slow for a time: the end of that would undo them.
    fn check_slow_times(&mut self, events: &[PlannedEvent]) {
        let speed_of = |event: &PlannedEvent| match event.fault {
            Fault::SlowDisk { disk, .. } => Some(disk),
            _ => None,
        };
        for end in events.iter().filter(|event| event.ends_another) {
            let Some(disk) = speed_of(end) else { continue };
            let mut others = events.iter().filter(|event| speed_of(event) == Some(disk));
            let begin_ns = others.clone().find(|event| event.number == end.number);
            let begin_ns = begin_ns.map_or(end.at_ns, |begin| begin.at_ns);
            // Another slow time may end when this one begins.
            let is_within = |event: &PlannedEvent| {
                let after = match event.ends_another {
                    true => event.at_ns > begin_ns,
                    false => event.at_ns >= begin_ns,
                };
                event.number != end.number && after && event.at_ns < end.at_ns
            };
            let other = others.find(|event| is_within(event));
            if let Some(other) = other {
                let until = format_time(end.at_ns);
                let message =
                    format!("disk {disk} is slow already, and as fast as before at {until}");
                let help = "let the first slow time end before, or state the repairs as events of their own";
                self.report(&other.path, message, Some(help));
            }
        }
    }

    fn fault_of(&mut self, keys: &EventKeys, path: &str) -> Option<(Fault, String)> {
        let factor = self.factor_of(keys, path)?;
        let places = self.places_of(keys, path)?;
        match keys.what.subject() {
            EventSubject::Disk => {}
            EventSubject::Controller => return self.fault_of_controller(keys, path),
            EventSubject::Group => return self.fault_of_group(keys, path),
            EventSubject::Array => return self.fault_of_array(keys, path),
        }
        self.fault_of_disk(keys, factor, places, path)
    }

    fn fault_of_controller(&mut self, keys: &EventKeys, path: &str) -> Option<(Fault, String)> {
        for (key, is_there) in [
            ("disk", keys.disk.is_some()),
            ("group", keys.group.is_some()),
        ] {
            if is_there {
                let message = format!("this event is about a controller and has no {key}");
                self.report(&format!("{path}.{key}"), message, None);
                return None;
            }
        }
        let count = self.document.settings.controllers.count;
        let number = match (keys.controller, count) {
            (Some(number), _) if number < count => number,
            (None, 1) => 0,
            (Some(number), _) => {
                let message = format!("there is no controller {number}");
                let help = format!("the array has {count}, from 0 on");
                self.report(&format!("{path}.controller"), message, Some(&help));
                return None;
            }
            (None, _) => {
                let help = "write controller = 0 or controller = 1; with --event the number follows, as in 'battery-lost 0'";
                self.report(path, "nothing says which controller this is", Some(help));
                return None;
            }
        };
        let battery = format!("the cache battery of controller {number}");
        Some(match keys.what {
            EventName::ControllerFails => (
                Fault::FailController(number),
                format!("controller {number} fails"),
            ),
            EventName::ControllerReturns => (
                Fault::RestoreController(number),
                format!("controller {number} returns"),
            ),
            EventName::CacheBatteryFails => {
                (Fault::LoseCacheBattery(number), format!("{battery} fails"))
            }
            _ => (
                Fault::RestoreCacheBattery(number),
                format!("{battery} returns"),
            ),
        })
    }

    fn fault_of_array(&mut self, keys: &EventKeys, path: &str) -> Option<(Fault, String)> {
        for (key, is_there) in [
            ("disk", keys.disk.is_some()),
            ("controller", keys.controller.is_some()),
            ("group", keys.group.is_some()),
        ] {
            if is_there {
                let message = format!("this event is about the whole array and has no {key}");
                self.report(&format!("{path}.{key}"), message, None);
                return None;
            }
        }
        Some(match keys.what {
            EventName::PowerCut => (Fault::CutPower, "the power of the array is cut".to_owned()),
            _ => (
                Fault::RestorePower,
                "the power of the array is back".to_owned(),
            ),
        })
    }

    fn fault_of_group(&mut self, keys: &EventKeys, path: &str) -> Option<(Fault, String)> {
        for (key, is_there) in [
            ("disk", keys.disk.is_some()),
            ("controller", keys.controller.is_some()),
        ] {
            if is_there {
                let message = format!("this event is about a disk group and has no {key}");
                self.report(&format!("{path}.{key}"), message, None);
                return None;
            }
        }
        let pools = self.settings.pools.values();
        let tiers: Vec<String> = pools
            .flat_map(|pool| pool.groups.iter().map(|each| each.group.clone()))
            .collect();
        let help = match tiers.is_empty() {
            true => "no pool of the array has pages".to_owned(),
            false => format!(
                "the disk groups of pools with pages are {}",
                tiers.join(", ")
            ),
        };
        let Some(name) = &keys.group else {
            let message = "nothing says which disk group this is";
            let help = format!("write group = \"NAME\", with --event 'of NAME'; {help}");
            self.report(path, message, Some(&help));
            return None;
        };
        let groups = self.settings.backend.group_names();
        let number = groups.iter().position(|group| group == name);
        let number = number.filter(|_| tiers.contains(name));
        let Some(group) = number.and_then(|number| u16::try_from(number).ok()) else {
            let message = format!("no pool has pages in a disk group '{name}'");
            self.report(&format!("{path}.group"), message, Some(&help));
            return None;
        };
        Some(match keys.what {
            EventName::TierFills => (
                Fault::FillGroup(GroupId(group)),
                format!("data of others takes all that is free in group '{name}'"),
            ),
            _ => (
                Fault::EmptyGroup(GroupId(group)),
                format!("the data of others in group '{name}' is removed"),
            ),
        })
    }

    /// Reports beforehand the failures that the array does not tolerate.
    fn expect(&mut self, events: &[PlannedEvent]) {
        let groups = self.settings.backend.disk_group.clone();
        let mut standing: Vec<Standing> = groups
            .iter()
            .map(|group| Standing {
                spares: usize::from(group.spares),
                ..Standing::default()
            })
            .collect();
        let mut down = BTreeSet::new();
        for event in events {
            match event.fault {
                Fault::FailDisk(disk) => {
                    let Some((number, within)) = group_of(&groups, disk) else {
                        continue;
                    };
                    let note = standing[number].fail(&groups[number], within, disk);
                    if let Some(note) = note {
                        let text =
                            format!("After {} {}: {note}", format_time(event.at_ns), event.text);
                        self.notes.push(text);
                    }
                }
                Fault::ReplaceDisk(disk) => {
                    if let Some((number, _)) = group_of(&groups, disk) {
                        standing[number].replace(disk);
                    }
                }
                Fault::FailController(number) => {
                    down.insert(number);
                    if down.len() == self.document.settings.controllers.count as usize {
                        self.notes.push(format!(
                            "After {} no controller works: requests wait and then fail, and the \
                             run ends with exit status 4 unless one returns in time.",
                            format_time(event.at_ns)
                        ));
                    }
                }
                Fault::RestoreController(number) => {
                    down.remove(&number);
                }
                Fault::CutPower => self.notes.push(format!(
                    "At {} requests under way fail, and those that come later wait for the power.",
                    format_time(event.at_ns)
                )),
                Fault::RestorePower
                | Fault::LoseCacheBattery(_)
                | Fault::RestoreCacheBattery(_)
                | Fault::SlowDisk { .. }
                | Fault::DamageSectors { .. }
                | Fault::SpendCredits(_)
                | Fault::FillGroup(_)
                | Fault::EmptyGroup(_) => {}
            }
        }
    }
}

/// The disk group of a disk, and the disk's number in it.
pub(super) fn group_of(
    groups: &[crate::group::DiskGroupSettings],
    disk: u32,
) -> Option<(usize, u32)> {
    let mut first = 0;
    for (number, group) in groups.iter().enumerate() {
        let size = u32::from(group.disks) + u32::from(group.spares);
        if disk < first + size {
            return Some((number, disk - first));
        }
        first += size;
    }
    None
}

impl Standing {
    /// A disk fails; returns what follows if the level certainly does not tolerate it.
    fn fail(
        &mut self,
        group: &crate::group::DiskGroupSettings,
        within: u32,
        disk: u32,
    ) -> Option<String> {
        if self.failed.contains(&disk) {
            return Some("it has failed already, so nothing happens.".to_owned());
        }
        self.failed.push(disk);
        if within >= u32::from(group.disks) && self.spares > 0 {
            // A spare that may or may not be in use.
            self.spares -= 1;
            return None;
        }
        self.not_whole += 1;
        match self.spares {
            0 => self.missing += 1,
            _ => self.spares -= 1,
        }
        let tolerated = match group.level {
            Level::Linear | Level::Raid0 => 0,
            Level::Raid1 => usize::from(group.disks) - 1,
            Level::Raid10 | Level::Raid5 => 1,
            Level::Raid6 => 2,
            // Each virtual disk has its own level.
            Level::Vraid => return None,
        };
        let level = match group.level {
            Level::Linear => "a group without RAID",
            level => level.title(),
        };
        if self.missing > tolerated && !self.is_lost {
            self.is_lost = group.level != Level::Raid10;
            let may = match group.level {
                Level::Raid10 => "if both are of one pair, ",
                _ => "",
            };
            return Some(format!(
                "that is more than {level} tolerates; {may}the data of the group are lost, requests \
                 to it fail, and the run ends with exit status 4."
            ));
        }
        (self.not_whole > tolerated && !self.is_lost).then(|| {
            format!(
                "that is more than {level} tolerates unless the spare has been filled by then; if \
                 not, the data of the group are lost and the run ends with exit status 4."
            )
        })
    }

    fn replace(&mut self, disk: u32) {
        let before = self.failed.len();
        self.failed.retain(|&failed| failed != disk);
        if self.failed.len() == before {
            return;
        }
        if self.missing > 0 {
            self.missing -= 1;
            self.not_whole = self.not_whole.saturating_sub(1);
        } else {
            self.spares += 1;
        }
    }
}

/// A time as people say it.
pub(in crate::description) fn format_time(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    match seconds {
        _ if seconds >= 7200.0 => format!("{:.4} h", seconds / 3600.0).replace(".0000", ""),
        _ if seconds >= 120.0 => format!("{:.2} min", seconds / 60.0).replace(".00", ""),
        _ => format!("{seconds} s"),
    }
}
