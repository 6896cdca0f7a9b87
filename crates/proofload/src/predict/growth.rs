//! Whether the databases outgrow their volumes before a prediction is over.
//!
//! A closed loop does as much as the array lets it, and nobody knows before how much that is. So
//! what the databases have grown by is looked at with every sample: when they will need more group
//! than there is, that is said while most of the time is still to come, with the group that would do.

use measure::result::{ErrorKind, RunResult, Verdict};
use measure::sample::Sample;

use super::plan::Plan;
use measure::units;

/// What is asked for beyond what was worked out.
const SPARE: f64 = 1.1;

/// Volumes that hold databases, all alike.
struct VolumeGroup {
    /// The numbers of the databases.
    databases: Vec<usize>,
    /// How many volumes these lie on, and how many bytes one of them has.
    volumes: u64,
    volume_bytes: u64,
}

/// Sizes of all databases at a time since the start.
struct SizeSample {
    at_s: f64,
    sizes_bytes: Vec<u64>,
}

/// Follows the sizes of the databases.
pub struct Growth {
    volume_groups: Vec<VolumeGroup>,
    duration_s: f64,
    /// The sample from which growth is counted, and the last one.
    from: SizeSample,
    last: SizeSample,
    /// When the measured phase began.
    measured_from_s: Option<f64>,
    is_reported: bool,
}

impl Growth {
    /// Follows the databases of a plan.
    pub fn new(plan: &Plan) -> Self {
        let laid_out = plan.laid_out_bytes();
        let sizes_bytes = match plan.has_spread_database() {
            true => vec![laid_out.iter().sum()],
            false => laid_out,
        };
        Self {
            volume_groups: volume_groups(plan),
            duration_s: plan.profile.run().duration.as_seconds(),
            last: SizeSample {
                at_s: 0.0,
                sizes_bytes: sizes_bytes.clone(),
            },
            from: SizeSample {
                at_s: 0.0,
                sizes_bytes,
            },
            measured_from_s: None,
            is_reported: false,
        }
    }

    /// The measured phase begins: growth is counted from the next sample on.
    pub fn begin(&mut self, now_s: f64) {
        self.measured_from_s = Some(now_s);
        self.from = SizeSample {
            at_s: self.last.at_s,
            sizes_bytes: self.last.sizes_bytes.clone(),
        };
    }

    /// Takes in a sample; says once when the databases will not have group enough.
    pub fn observe(&mut self, sample: &Sample) -> Option<String> {
        let sizes = sample.databases.iter().map(|database| database.size_bytes);
        let sizes_bytes: Vec<u64> = sizes.collect::<Option<_>>()?;
        self.last = SizeSample {
            at_s: sample.begins_s + sample.length_s,
            sizes_bytes,
        };
        let from_s = self.measured_from_s?;
        let end_s = from_s + self.duration_s;
        if self.is_reported {
            return None;
        }
        let (group, needed_bytes) = self.shortage(end_s)?;
        let grown = group.bytes(&self.last.sizes_bytes) as f64;
        let left_bytes = (group.whole_bytes() as f64 - grown).max(0.0);
        let full_s = self.last.at_s + left_bytes / self.bytes_per_s(group) - from_s;
        let text = format!(
            "The databases grow by {}/s: after {} of {} there will be no space left. {}",
            units::size(self.bytes_per_s(group) as u64),
            units::rough_time(full_s),
            units::rough_time(self.duration_s),
            remedy(group, needed_bytes)
        );
        self.is_reported = true;
        Some(text)
    }

    /// Says in a result that ended for lack of space how much would have been enough.
    pub fn conclude(&mut self, result: &mut RunResult, now_s: f64) {
        let ran_out = result
            .errors
            .iter()
            .any(|one| one.kind == ErrorKind::OutOfSpace);
        if result.verdict != Verdict::Error || !ran_out {
            return;
        }
        let ends = result
            .databases
            .iter()
            .map(|one| one.figures.size_end_bytes);
        let ends: Vec<u64> = ends.collect();
        if ends.len() == self.last.sizes_bytes.len() && !ends.contains(&0) {
            self.last = SizeSample {
                at_s: now_s,
                sizes_bytes: ends,
            };
        }
        let end_s = self.measured_from_s.unwrap_or(now_s) + self.duration_s;
        if let Some((group, needed_bytes)) = self.shortage(end_s) {
            let remedy = remedy(group, needed_bytes);
            result.verdict_reason = format!("{} {remedy}", result.verdict_reason);
        }
    }

    /// The volumes that are too small by most, and what its databases will need until `end_s`.
    fn shortage(&self, end_s: f64) -> Option<(&VolumeGroup, f64)> {
        let left_s = (end_s - self.last.at_s).max(0.0);
        let needs = self.volume_groups.iter().map(|group| {
            let now = group.bytes(&self.last.sizes_bytes) as f64;
            (group, now + self.bytes_per_s(group) * left_s)
        });
        let lacking = needs.filter(|(group, needed)| *needed > group.whole_bytes() as f64);
        lacking.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    fn bytes_per_s(&self, group: &VolumeGroup) -> f64 {
        let [from, until] = [&self.from, &self.last].map(|one| group.bytes(&one.sizes_bytes));
        let passed_s = self.last.at_s - self.from.at_s;
        if passed_s <= 0.0 {
            return 0.0;
        }
        until.saturating_sub(from) as f64 / passed_s
    }
}

impl VolumeGroup {
    fn whole_bytes(&self) -> u64 {
        self.volume_bytes.saturating_mul(self.volumes)
    }

    fn bytes(&self, sizes_bytes: &[u64]) -> u64 {
        let own = self
            .databases
            .iter()
            .filter_map(|one| sizes_bytes.get(*one));
        own.sum()
    }
}

/// The volumes of a plan with the databases on them.
fn volume_groups(plan: &Plan) -> Vec<VolumeGroup> {
    let volumes = &plan.planned.settings.volumes;
    let mut volume_groups: Vec<(u16, VolumeGroup)> = Vec::new();
    for (number, place) in plan.planned.placement.iter().enumerate() {
        let volume_bytes = volumes[usize::from(place.data.0)].capacity_mib << 20;
        match volume_groups
            .iter_mut()
            .find(|(volume, _)| *volume == place.data.0)
        {
            Some((_, group)) => group.databases.push(number),
            None => volume_groups.push((
                place.data.0,
                VolumeGroup {
                    databases: vec![number],
                    volumes: 1,
                    volume_bytes,
                },
            )),
        }
    }
    let volume_groups = volume_groups.into_iter().map(|(_, group)| group);
    if !plan.has_spread_database() {
        return volume_groups.collect();
    }
    // One database over all of them, each with a file of the same size.
    let least = |one: VolumeGroup, other: VolumeGroup| VolumeGroup {
        databases: vec![0],
        volumes: one.volumes + other.volumes,
        volume_bytes: one.volume_bytes.min(other.volume_bytes),
    };
    volume_groups.reduce(least).into_iter().collect()
}

fn remedy(group: &VolumeGroup, needed_bytes: f64) -> String {
    let needed_gb = (needed_bytes * SPARE / group.volumes as f64 / 1e9).ceil();
    format!(
        "Volumes of {} are too small for the whole time at this load: \
         --set array.volumes.database_size_gb={needed_gb:.0} makes them large enough (size_gb where \
         they are listed as [[volume]]); less load (--rate) or time (--duration) needs less.",
        units::size(group.volume_bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(volume_bytes: u64, from: SizeSample, last: SizeSample) -> Growth {
        Growth {
            volume_groups: vec![VolumeGroup {
                databases: vec![0, 1],
                volumes: 1,
                volume_bytes,
            }],
            duration_s: 100.0,
            from,
            last,
            measured_from_s: Some(10.0),
            is_reported: false,
        }
    }

    fn size_sample(at_s: f64, each_bytes: u64) -> SizeSample {
        SizeSample {
            at_s,
            sizes_bytes: vec![each_bytes; 2],
        }
    }

    #[test]
    fn the_room_for_the_whole_time_is_worked_out() {
        // Two databases grow by 100 MB/s each, and 90 s are left.
        let (from, last) = (
            size_sample(10.0, 1_000_000_000),
            size_sample(20.0, 2_000_000_000),
        );
        let growth = growth(8_000_000_000, from, last);
        let (group, needed_bytes) = growth.shortage(110.0).expect("a shortage");
        assert!((needed_bytes - 22e9).abs() < 1.0, "{needed_bytes}");
        let text = remedy(group, needed_bytes);
        assert!(
            text.contains("array.volumes.database_size_gb=25 "),
            "{text}"
        );
    }

    #[test]
    fn what_fits_is_no_shortage() {
        let (from, last) = (
            size_sample(10.0, 1_000_000_000),
            size_sample(20.0, 2_000_000_000),
        );
        let growth = growth(23_000_000_000, from, last);
        assert!(growth.shortage(110.0).is_none());
    }
}
