//! One prediction, checked: the load, the array, and where the databases lie on it.

use array::description::{DatabaseDemand, Description, PlannedArray};
use jiff::Timestamp;
use measure::result::{DatabaseResult, RunResult, TargetPath};
use workload::controller::plan::database_name;
use workload::profile::{Kind, Profile};

use super::{arrays, brokerage, settle};
use crate::cli::PredictOptions;
use crate::failure::Failure;
use crate::human;
use crate::target::space::log_bytes;
use crate::workloads;

/// A prediction that can run: every rule has been checked, and nothing has been computed yet.
/// Plans are plain data, so that several can run on threads of their own.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name of the workload.
    pub workload: String,
    /// The array as it was asked for: a bundled name or a path.
    pub array: String,
    /// All settings of the workload.
    pub profile: Profile,
    /// The array as people describe it.
    pub description: Description,
    /// The array written out for the databases of the workload.
    pub planned: PlannedArray,
}

impl Plan {
    /// Reads the workload and the array with all their settings, and checks every rule.
    ///
    /// # Errors
    /// Every fault of the profile or of the array, each at its line.
    pub fn check(options: &PredictOptions) -> Result<Self, Failure> {
        if !options.begins_settled() {
            return Self::check_as_given(options);
        }
        let plan = Self::check_before_settled(options)?;
        let settings = settle::settings(&plan)?;
        if settings.is_empty() {
            return Ok(plan);
        }
        let note = format!(
            "Begins as after {} of this load: {}.",
            settle::age(&plan),
            settings.join(", ")
        );
        let mut settled = options.clone();
        // What the user sets comes later and so counts more.
        settled.set = settings;
        settled.set.extend(options.set.iter().cloned());
        let mut plan = Self::check_as_given(&settled)?;
        plan.planned.notes.push(note);
        Ok(plan)
    }

    /// The plan that says what to settle. The rule that an age needs a head start is kept by what
    /// settling adds.
    fn check_before_settled(options: &PredictOptions) -> Result<Self, Failure> {
        Self::check_as_given(options).or_else(|failure| {
            let mut begun = options.clone();
            begun.set.insert(0, settle::head_start());
            Self::check_as_given(&begun).map_err(|_| failure)
        })
    }

    fn check_as_given(options: &PredictOptions) -> Result<Self, Failure> {
        let mut profile = workloads::resolve(&options.as_run())?;
        if profile.kind == Kind::Brokerage && profile.run.held_rate.is_some() {
            return Err(Failure::usage(
                "A predicted brokerage has no held rate: its users make the load.",
                "Leave run.held_rate at \"none\" and give brokerage.users a number.",
            ));
        }
        // Nothing was stored, so there is nothing to verify.
        profile.run.verify_after_run = false;
        let description = arrays::load(options)?;
        let planned = description.plan(&demands(&profile))?;
        description.check_events_until(&planned, profile.run.duration.as_ns())?;
        Ok(Self {
            workload: workloads::short_name(&options.workload),
            array: options.array.clone(),
            profile,
            description,
            planned,
        })
    }

    /// The result as far as it is known before anything runs.
    pub fn base(&self, started: Timestamp) -> RunResult {
        let mut result = RunResult::new();
        result.kind = "prediction".to_owned();
        result.workload.name = self.workload.clone();
        result.workload.description = self.profile.description.clone();
        result.workload.settings = self.profile.settings();
        result.host = measure::host::facts::<&str>(&[]);
        result.seed = self.profile.run.seed;
        result.started = started.to_string();
        result.notes.extend(self.planned.notes.iter().cloned());
        result.databases = self.databases();
        result.target.databases = vec![self.target()];
        result.target.logs = result.target.databases.clone();
        result
    }

    /// The databases as they are known before the prediction: their names and their volumes.
    fn databases(&self) -> Vec<DatabaseResult> {
        if self.profile.kind == Kind::Brokerage {
            return vec![brokerage::database(&self.planned)];
        }
        let volumes = &self.planned.settings.volumes;
        let volume = |number: u16| volumes[usize::from(number)].name.clone();
        let placement = self.planned.placement.iter().enumerate();
        placement
            .map(|(number, place)| DatabaseResult {
                name: database_name(number + 1),
                path: volume(place.data.0),
                log_path: volume(place.log.0),
                ..DatabaseResult::default()
            })
            .collect()
    }

    /// What lies on the volume of each database before the clock starts, in their order.
    pub fn laid_out_bytes(&self) -> Vec<u64> {
        match self.profile.kind {
            Kind::Brokerage => {
                let demands = brokerage::demands(&self.profile).into_iter();
                demands.map(|demand| demand.data_bytes).collect()
            }
            Kind::Mail => {
                let mail = &self.profile.mail;
                vec![mail.database_bytes(); mail.databases as usize]
            }
        }
    }

    fn target(&self) -> TargetPath {
        let volumes = self.planned.settings.volumes.iter();
        let capacity_bytes = volumes.map(|volume| volume.capacity_mib << 20).sum();
        TargetPath {
            path: workloads::short_name(&self.array),
            kind: "modelled-array".to_owned(),
            capacity_bytes,
            free_bytes: capacity_bytes,
            ..TargetPath::default()
        }
    }

    /// The array and the load as text.
    pub fn describe(&self) -> String {
        let settings = &self.planned.settings;
        let mut text = format!("{}\n{}\n", self.describe_data(), settings.title);
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
        for note in &self.planned.notes {
            text.push_str(&format!("{note}\n"));
        }
        let run = &self.profile.run;
        let load = self.describe_load();
        text.push_str(&format!(
            "Load: {load}, measured for {} of simulated time in samples of {}\n",
            run.duration, run.sample_interval
        ));
        text
    }

    fn describe_data(&self) -> String {
        let mail = &self.profile.mail;
        match self.profile.kind {
            Kind::Mail => format!(
                "{}: {}",
                self.workload,
                human::count_of_size(u64::from(mail.databases), "database", mail.database_bytes()),
            ),
            Kind::Brokerage => brokerage::describe(&self.workload, &self.profile),
        }
    }

    fn describe_load(&self) -> String {
        let (run, mail) = (&self.profile.run, &self.profile.mail);
        match (self.profile.kind, run.held_rate, mail.threads) {
            (Kind::Brokerage, _, _) => brokerage::load(&self.profile),
            (Kind::Mail, Some(rate), _) => format!("{rate} IOPS held"),
            (Kind::Mail, None, Some(threads)) => human::count(u64::from(threads), "thread"),
            (Kind::Mail, None, None) => {
                format!("as many threads as reach {:.2} IOPS", mail.target_iops())
            }
        }
    }
}

/// Room for every database with its growth, and for its log.
fn demands(profile: &Profile) -> Vec<DatabaseDemand> {
    if profile.kind == Kind::Brokerage {
        return brokerage::demands(profile);
    }
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
