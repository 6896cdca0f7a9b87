//! What breaks and is repaired in an array while it is modelled: planned events go in, everything
//! that follows is reported, and kept for the result.

use array::description::PlannedArray;
use array::group::GroupState;
use array::payload::Payload;
use array::raid::Level;
use array::{Array, Fault, Incident, IncidentKind, SECTOR_BYTES, SectorDamage};
use measure::result::{ArrayResult, EventResult, RebuildResult, RunResult};

/// A rebuild is spoken of each time it has come so far.
const REPORTED_EACH: f64 = 0.25;

/// Follows the events of an array.
pub struct Watch {
    /// When each planned event is due, since the measured phase began, and what it is.
    planned: Vec<(u64, Fault)>,
    /// The disk group of every disk, and the disk's number in it.
    disks: Vec<(String, usize)>,
    /// The name of every volume.
    volumes: Vec<String>,
    /// Disk groups whose disks are rebuilt all over the group, and on no spare.
    spread: Vec<String>,
    /// When the measured phase began.
    from_ns: Option<u64>,
    events: Vec<EventResult>,
    rebuilds: Vec<TrackedRebuild>,
}

struct TrackedRebuild {
    result: RebuildResult,
    reported: f64,
}

impl Watch {
    /// Watches an array with its planned events.
    pub fn new(planned: &PlannedArray) -> Self {
        let groups = planned.settings.backend.disk_group.iter();
        let disks = groups.flat_map(|group| {
            let count = usize::from(group.disks) + usize::from(group.spares);
            (0..count).map(|number| (group.name.clone(), number))
        });
        let of_segments = planned.settings.backend.disk_group.iter();
        let of_segments = of_segments.filter(|group| group.level == Level::Vraid);
        let events = planned.events.iter();
        let volumes = planned.settings.volumes.iter();
        Self {
            spread: of_segments.map(|group| group.name.clone()).collect(),
            planned: events.map(|event| (event.at_ns, event.fault)).collect(),
            disks: disks.collect(),
            volumes: volumes.map(|volume| volume.name.clone()).collect(),
            from_ns: None,
            events: Vec::new(),
            rebuilds: Vec::new(),
        }
    }

    /// The measured phase begins at `now_ns`: planned events count from here.
    pub fn begin<P: Payload>(&mut self, array: &mut Array<P>, now_ns: u64) {
        self.from_ns = Some(now_ns);
        for &(at_ns, fault) in &self.planned {
            array.inject(now_ns.saturating_add(at_ns), fault);
        }
    }

    /// The disk group of a disk, and the disk's number in it.
    pub fn disk(&self, number: u64) -> (&str, u64) {
        let disk = self.disks.get(number as usize);
        disk.map_or(("", number), |(group, within)| (group, *within as u64))
    }

    /// When the measured phase began; 0 before that.
    pub fn from_ns(&self) -> u64 {
        self.from_ns.unwrap_or(0)
    }

    /// Somebody has asked for something that happens at `at_ns`: it counts as planned.
    pub fn expect(&mut self, at_ns: u64, fault: Fault) {
        let after_ns = at_ns.saturating_sub(self.from_ns());
        self.planned.push((after_ns, fault));
    }

    /// What has happened so far.
    pub fn events(&self) -> &[EventResult] {
        &self.events
    }

    /// When the last rebuild onto a disk began, in seconds since the measured phase began.
    pub fn rebuild_began_s(&self, disk: u64) -> Option<f64> {
        let rebuilds = self.rebuilds.iter().rev();
        let mut of_disk = rebuilds.filter(|one| one.result.disk == disk);
        of_disk.next().map(|one| one.result.began_s)
    }

    /// Collects what has happened since the last call, in sentences.
    pub fn poll<P: Payload>(&mut self, array: &mut Array<P>) -> Vec<String> {
        let mut sentences = Vec::new();
        for incident in array.take_incidents() {
            let text = self.take(array, incident);
            sentences.push(text);
        }
        for view in array.rebuilds() {
            let disk = u64::from(view.station.0);
            let open =
                |one: &&mut TrackedRebuild| one.result.disk == disk && one.result.ended_s.is_none();
            let Some(followed) = self.rebuilds.iter_mut().rev().find(open) else {
                continue;
            };
            followed.result.completed_fraction = view.done_share;
            if view.done_share >= followed.reported + REPORTED_EACH {
                followed.reported = (view.done_share / REPORTED_EACH).floor() * REPORTED_EACH;
                let percent = view.done_share * 100.0;
                let name = named(&self.disks, u32::from(view.station.0));
                sentences.push(format!(
                    "The rebuild onto {name} is {percent:.0} % complete."
                ));
            }
        }
        sentences
    }

    fn take<P: Payload>(&mut self, array: &Array<P>, incident: Incident) -> String {
        let from_ns = self.from_ns.unwrap_or(incident.at_ns);
        let after_ns = incident.at_ns.saturating_sub(from_ns);
        let measured_at_s = after_ns as f64 / 1e9;
        let mut text = self.sentence(array, incident.kind);
        match incident.kind {
            IncidentKind::RebuildBegan(disk) => self.rebuilds.push(TrackedRebuild {
                result: RebuildResult {
                    disk: u64::from(disk),
                    group: self
                        .disks
                        .get(disk as usize)
                        .map_or("", |one| &one.0)
                        .to_owned(),
                    began_s: measured_at_s,
                    ..RebuildResult::default()
                },
                reported: 0.0,
            }),
            IncidentKind::RebuildEnded(disk) => {
                let open = |one: &&mut TrackedRebuild| {
                    one.result.disk == u64::from(disk) && one.result.ended_s.is_none()
                };
                if let Some(followed) = self.rebuilds.iter_mut().rev().find(open) {
                    followed.result.ended_s = Some(measured_at_s);
                    followed.result.completed_fraction = 1.0;
                    let took_s = measured_at_s - followed.result.began_s;
                    text.push_str(&format!(" after {}", clock(took_s)));
                }
            }
            _ => {}
        }
        let is_planned = |&(at_ns, fault): &(u64, Fault)| {
            at_ns == after_ns && is_asked_for(fault, incident.kind)
        };
        let planned = self.from_ns.is_some() && self.planned.iter().any(is_planned);
        self.events.push(EventResult {
            at_s: incident.at_ns as f64 / 1e9,
            measured_at_s,
            what: incident.kind.word().to_owned(),
            planned,
            text: format!("{}{}.", text[..1].to_uppercase(), &text[1..]),
        });
        format!("At {}: {text}.", clock(measured_at_s))
    }

    fn sentence<P: Payload>(&self, array: &Array<P>, kind: IncidentKind) -> String {
        let disk = |number| named(&self.disks, number);
        match kind {
            IncidentKind::DiskFailed(number) => format!("{} fails", disk(number)),
            IncidentKind::DiskSlowed {
                disk: number,
                factor,
            } => format!("{} slows down by a factor of {factor}", disk(number)),
            IncidentKind::DiskRecovered(number) => {
                format!("{} is as fast as before", disk(number))
            }
            IncidentKind::DiskReplaced(number) => format!("{} is replaced", disk(number)),
            IncidentKind::SectorsDamaged {
                disk: number,
                places,
                damage: SectorDamage::Unreadable,
            } => format!(
                "{} cannot read {places} places of 4 KiB any more",
                disk(number)
            ),
            IncidentKind::SectorsDamaged {
                disk: number,
                places,
                damage: SectorDamage::Corrupted,
            } => format!(
                "{} holds something else in {places} places of 4 KiB",
                disk(number)
            ),
            IncidentKind::ChecksumsDisagreed {
                disk: number,
                sector,
                sectors,
            } => format!(
                "{} gave back something else than was written, at byte {}: {sectors} sectors of it so far",
                disk(number),
                sector * SECTOR_BYTES
            ),
            IncidentKind::ReadFailed {
                volume,
                first_sector,
                sectors,
            } => format!(
                "a read of {} bytes at {} of volume {} fails: they cannot be read or computed",
                u64::from(sectors) * SECTOR_BYTES,
                first_sector * SECTOR_BYTES,
                self.volumes
                    .get(usize::from(volume))
                    .map_or("", String::as_str)
            ),
            IncidentKind::CreditsSpent(number) => {
                format!("the credits of {} for bursts are spent", disk(number))
            }
            IncidentKind::RebuildBegan(number) => {
                format!(
                    "the {} begins",
                    rebuild_of(&self.disks, &self.spread, number)
                )
            }
            IncidentKind::RebuildEnded(number) => {
                format!("the {} ends", rebuild_of(&self.disks, &self.spread, number))
            }
            IncidentKind::GroupChanged(group, state) => {
                let name = array.group(group).name;
                match state {
                    GroupState::Healthy => format!("group '{name}' is optimal again"),
                    GroupState::Degraded => format!("group '{name}' is degraded"),
                    GroupState::Critical => {
                        format!("group '{name}' is critical: one more disk failure may lose data")
                    }
                    GroupState::Failed => {
                        format!("group '{name}' has failed, and its data are lost")
                    }
                }
            }
            IncidentKind::ControllerFailed(number) => format!("controller {number} fails"),
            IncidentKind::ControllerTookOver(number) => {
                format!("controller {number} takes over the volumes of its partner")
            }
            IncidentKind::ControllerReturned(number) => format!("controller {number} returns"),
            IncidentKind::CacheBatteryFailed(number) => {
                format!("the cache battery of controller {number} fails")
            }
            IncidentKind::CacheBatteryReturned(number) => {
                format!("the cache battery of controller {number} returns")
            }
            IncidentKind::GroupFilled(group) => {
                let name = array.group(group).name;
                format!("data of others takes all that is free in group '{name}'")
            }
            IncidentKind::GroupEmptied(group) => {
                let name = array.group(group).name;
                format!("the data of others in group '{name}' is removed")
            }
            IncidentKind::PowerCut => "the power of the array is cut".to_owned(),
            IncidentKind::PowerReturned => "the power of the array is back".to_owned(),
            IncidentKind::DataLost(sectors) => {
                format!("{} acknowledged bytes are lost", sectors * 512)
            }
        }
    }

    /// Adds how far rebuilds are to the groups of a sample.
    pub fn enter(&self, inside: &mut ArrayResult) {
        for followed in &self.rebuilds {
            let rebuild = &followed.result;
            let group = inside
                .groups
                .iter_mut()
                .find(|group| group.name == rebuild.group);
            // The latest of a group counts; once it is whole there is nothing to follow.
            if let Some(group) = group {
                let open = rebuild.ended_s.is_none();
                group.rebuild_completed_fraction = open.then_some(rebuild.completed_fraction);
            }
        }
    }

    /// Adds what happened to the result.
    pub fn complete(&self, result: &mut RunResult) {
        result.events.clone_from(&self.events);
        let rebuilds = self.rebuilds.iter();
        result.rebuilds = rebuilds.map(|followed| followed.result.clone()).collect();
        if let Some(inside) = &mut result.array {
            self.enter(inside);
        }
    }
}

/// Whether an event makes that happen. Where few places of a disk hold data, fewer are damaged than were asked for.
fn is_asked_for(fault: Fault, kind: IncidentKind) -> bool {
    match (fault, kind) {
        (
            Fault::DamageSectors { disk, damage, .. },
            IncidentKind::SectorsDamaged {
                disk: damaged,
                damage: found,
                ..
            },
        ) => (disk, damage) == (damaged, found),
        _ => asked_for(fault) == Some(kind),
    }
}

/// What an event makes happen at once.
fn asked_for(fault: Fault) -> Option<IncidentKind> {
    Some(match fault {
        Fault::FailDisk(number) => IncidentKind::DiskFailed(number),
        Fault::SlowDisk { disk, factor: 1 } => IncidentKind::DiskRecovered(disk),
        Fault::SlowDisk { disk, factor } => IncidentKind::DiskSlowed { disk, factor },
        Fault::ReplaceDisk(number) => IncidentKind::DiskReplaced(number),
        Fault::DamageSectors {
            disk,
            places,
            damage,
        } => IncidentKind::SectorsDamaged {
            disk,
            places,
            damage,
        },
        Fault::SpendCredits(number) => IncidentKind::CreditsSpent(number),
        Fault::FailController(number) => IncidentKind::ControllerFailed(number),
        Fault::RestoreController(number) => IncidentKind::ControllerReturned(number),
        Fault::LoseCacheBattery(number) => IncidentKind::CacheBatteryFailed(number),
        Fault::RestoreCacheBattery(number) => IncidentKind::CacheBatteryReturned(number),
        Fault::FillGroup(group) => IncidentKind::GroupFilled(group),
        Fault::EmptyGroup(group) => IncidentKind::GroupEmptied(group),
        Fault::CutPower => IncidentKind::PowerCut,
        Fault::RestorePower => IncidentKind::PowerReturned,
    })
}

fn named(disks: &[(String, usize)], number: u32) -> String {
    match disks.get(number as usize) {
        Some((group, within)) => format!("disk {within} of group '{group}'"),
        None => format!("disk {number}"),
    }
}

/// A rebuild onto a disk, or of what a disk held where that is spread over its group.
fn rebuild_of(disks: &[(String, usize)], spread: &[String], number: u32) -> String {
    let name = named(disks, number);
    let group = disks.get(number as usize).map(|disk| &disk.0);
    match group.is_some_and(|group| spread.contains(group)) {
        true => format!("rebuild of what {name} held"),
        false => format!("rebuild onto {name}"),
    }
}

/// Hours, minutes and seconds.
pub fn clock(seconds: f64) -> String {
    let whole = seconds as u64;
    let (hours, minutes) = (whole / 3600, whole / 60 % 60);
    let rest = seconds - (hours * 3600 + minutes * 60) as f64;
    format!("{hours}:{minutes:02}:{rest:04.1}")
}
