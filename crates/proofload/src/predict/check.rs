//! From a scenario to a plan.

use array::description::{DatabaseDemand, PlannedEvent};
use array::{Fault, SectorDamage};
use workload::Profile;

use super::plan::Plan;
use super::{arrays, settle};
use crate::array_of_profile;
use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::workloads::{self, Purpose};
use execution::Error;

impl Plan {
    /// Reads the workload and the array with all their settings, and checks every rule.
    ///
    /// # Errors
    /// Every fault of the profile or of the array, each at its line.
    pub fn check(scenario: &Scenario) -> Result<Self, Error> {
        if !array_of_profile::is_settled(scenario)? {
            return Self::check_as_given(scenario);
        }
        let plan = Self::check_before_settled(scenario)?;
        let settings = settle::settings(&plan)?;
        if settings.is_empty() {
            return Ok(plan);
        }
        let note = format!(
            "Begins as after {} of this load: {}.",
            settle::age(&plan),
            joined(&settings)
        );
        let mut settled = scenario.clone();
        // What the user sets comes later and so counts more.
        settled.settings = settings;
        settled.settings.extend(scenario.settings.iter().cloned());
        let mut plan = Self::check_as_given(&settled)?;
        plan.planned.notes.push(note);
        Ok(plan)
    }

    /// The plan that says what to settle. The rule that hours of prior load need instant moves is kept by what
    /// settling adds.
    fn check_before_settled(scenario: &Scenario) -> Result<Self, Error> {
        Self::check_as_given(scenario).or_else(|error| {
            let mut with_head_start = scenario.clone();
            with_head_start.settings.insert(0, settle::head_start());
            Self::check_as_given(&with_head_start).map_err(|_| error)
        })
    }

    /// Checks the predictions with each parameter set of a calibrated array, too.
    ///
    /// # Errors
    /// As [`check`](Self::check), under the number of the parameter set.
    pub fn check_parameter_sets(&self) -> Result<(), Error> {
        let sets = self.parameter_sets();
        sets.map_or(Ok(()), |sets| sets.check(|one| Self::check(one).map(drop)))
    }

    fn check_as_given(scenario: &Scenario) -> Result<Self, Error> {
        let mut profile = workloads::resolve(scenario, Purpose::Prediction)?;
        profile.check_prediction()?;
        // Nothing was stored, so there is nothing to verify.
        profile.run_mut().verify_after_run = false;
        let description = arrays::load(scenario)?;
        let mut planned = description.plan(&demands(&*profile))?;
        planned.notes.extend(scenario.notes.iter().cloned());
        description.check_events_until(&planned, profile.run().duration.as_ns())?;
        let corrupts = |event: &PlannedEvent| {
            matches!(
                event.fault,
                Fault::DamageSectors {
                    damage: SectorDamage::Corrupted,
                    ..
                }
            )
        };
        if planned.events.iter().any(corrupts) {
            return Err(Error::usage(
                "A prediction stores no contents, so there is nothing that sectors-corrupted could change.",
                "Omit the event, or serve the array ('proofload serve'), and run on what it serves.",
            ));
        }
        if profile.run().until_percent.is_some() && !planned.events.is_empty() {
            return Err(Error::usage(
                "Events are planned, and the measured phase may end before them (run.until_percent, --until).",
                "Omit --until, or the events.",
            ));
        }
        Ok(Self {
            scenario: scenario.clone(),
            workload: workloads::short_name(scenario.registry, &scenario.workload),
            array: match scenario.array.as_str() {
                "" => array_of_profile::name(scenario),
                array => array.to_owned(),
            },
            profile,
            description,
            planned,
        })
    }
}

/// Settings in a row, as they are written.
fn joined(settings: &[Setting]) -> String {
    let written: Vec<String> = settings.iter().map(Setting::to_string).collect();
    written.join(", ")
}

/// Room for every database with its growth, and for its log.
fn demands(profile: &dyn Profile) -> Vec<DatabaseDemand> {
    let demands = profile.volume_demands().into_iter();
    demands
        .map(|demand| DatabaseDemand {
            name: demand.name,
            data_bytes: demand.reserved_bytes,
            log_bytes: demand.log_bytes,
        })
        .collect()
}
