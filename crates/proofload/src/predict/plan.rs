//! One prediction, checked: the load, the array, and where the databases lie on it.

use crate::registry::WORKLOADS;
use array::description::{Description, PlannedArray};
use jiff::Timestamp;
use measure::result::{DatabaseResult, RunKind, RunResult, TargetKind, TargetPath};
use workload::Profile;

use crate::error_bars::ParameterSets;
use crate::scenario::Scenario;
use crate::workloads;
use measure::display::number::duration;
use measure::units;

/// A prediction that can run: every rule has been checked, and nothing has been computed yet.
/// Plans are plain data, so that several can run on threads of their own.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was asked for.
    pub scenario: Scenario,
    /// Short name of the workload.
    pub workload: String,
    /// The array as it was asked for: a bundled name, or the path of its description or of the profile that has it.
    pub array: String,
    /// All settings of the workload.
    pub profile: Box<dyn Profile>,
    /// The array as people describe it.
    pub description: Description,
    /// The array written out for the databases of the workload.
    pub planned: PlannedArray,
}

impl Plan {
    /// The result as far as it is known before anything runs.
    pub fn base(&self, started: Timestamp) -> RunResult {
        let mut result = RunResult::new();
        result.kind = RunKind::Prediction;
        result.workload.name = self.workload.clone();
        result.workload.description = self.profile.description().to_owned();
        result.workload.settings = self.profile.settings();
        result.workload.question = self.profile.describe_question();
        result.host = measure::host::facts::<&str>(&[]);
        result.seed = self.profile.run().seed;
        result.started = started.to_string();
        result.notes.extend(self.planned.notes.iter().cloned());
        result.warnings.extend(self.planned.warning());
        result.databases = self.databases();
        result.target.databases = vec![self.target()];
        result.target.logs = result.target.databases.clone();
        result
    }

    /// The databases as they are known before the prediction: their names and their volumes. One
    /// that is spread over several volumes has its log with the first.
    fn databases(&self) -> Vec<DatabaseResult> {
        let volumes = &self.planned.settings.volumes;
        let volume = |number: u16| volumes[usize::from(number)].name.clone();
        let placed = self.planned.placement.iter();
        let placed = placed.map(|one| (volume(one.data.0), volume(one.log.0)));
        let placed: Vec<_> = placed.collect();
        let names = self.profile.database_names();
        let of_each = placed.len() / names.len().max(1);
        let places = placed.chunks(of_each.max(1));
        let databases = names.into_iter().zip(places).map(|(name, places)| {
            let mut paths: Vec<String> = places.iter().map(|(data, _)| data.clone()).collect();
            paths.dedup();
            DatabaseResult {
                name,
                path: paths.join(", "),
                log_path: places
                    .first()
                    .map_or_else(String::new, |(_, log)| log.clone()),
                ..DatabaseResult::default()
            }
        });
        databases.collect()
    }

    /// What lies on the volume of each demand before the clock starts, in their order.
    pub fn laid_out_bytes(&self) -> Vec<u64> {
        let demands = self.profile.volume_demands().into_iter();
        demands.map(|demand| demand.data_bytes).collect()
    }

    /// Whether one database is spread over all volumes.
    pub fn has_spread_database(&self) -> bool {
        self.profile.database_names().len() < self.planned.placement.len()
    }

    fn target(&self) -> TargetPath {
        let volumes = self.planned.settings.volumes.iter();
        let capacity_bytes = volumes.map(|volume| volume.capacity_mib << 20).sum();
        TargetPath {
            path: workloads::short_name(&WORKLOADS, &self.array),
            kind: TargetKind::ModelledArray,
            capacity_bytes,
            free_bytes: capacity_bytes,
            ..TargetPath::default()
        }
    }

    /// The predictions that the calibration of the array asks for, if it was calibrated.
    pub fn parameter_sets(&self) -> Option<ParameterSets> {
        ParameterSets::of(&self.scenario, &self.description)
    }

    /// The array and the load as text.
    pub fn describe(&self) -> String {
        let settings = &self.planned.settings;
        let data = self.profile.describe_data();
        let mut text = format!("{}: {data}\n{}\n", self.workload, settings.title);
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
                units::size(volume.capacity_mib << 20),
                place.map_or("", String::as_str),
                volume.owner
            ));
        }
        let notes = self.planned.notes.iter().cloned();
        let notes = notes.chain(self.planned.warning());
        for line in self.planned.events_in_words().chain(notes) {
            text.push_str(&format!("{line}\n"));
        }
        let run = self.profile.run();
        let load = self.profile.describe_load();
        let until = run.until_percent.map_or_else(String::new, |percent| {
            format!("until mean and p99 of the latencies are known to {percent} %, ")
        });
        let at_most = if until.is_empty() { "" } else { " at most" };
        text.push_str(&format!(
            "Load: {load}, measured {until}for {}{at_most} of simulated time in samples of {}\n",
            duration(run.duration.as_seconds()),
            duration(run.sample_interval().as_seconds())
        ));
        let sets = self.parameter_sets();
        text.push_str(&sets.map_or_else(String::new, |sets| sets.describe()));
        text
    }
}
