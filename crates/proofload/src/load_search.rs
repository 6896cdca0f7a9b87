//! How the load of a run is found: options that stand for settings of `[tuning]`, together.

use config::choice;
use workload::LoadOption;

use crate::scenario::Scenario;
use crate::setting::{Key, Setting, Value};
use crate::sweep::Axis;
use crate::workloads;
use execution::Error;
use workload::profile::FindLoad;

choice! {
    /// What a run asks of the storage, as Jetstress distinguishes it.
    pub enum LoadScenario {
        /// A number of mailboxes with their I/O and their size: the settings of the profile.
        Mailboxes = "mailboxes",
        /// Databases that fill a part of the volumes, and a part of the highest rate that they carry.
        Throughput = "throughput",
    }
}

/// How the load of a run is found, and how large its databases are.
#[derive(Clone, Debug, Default)]
pub struct LoadSearch {
    /// What the run asks of the storage; mailboxes unless given.
    pub scenario: Option<LoadScenario>,
    /// Which load is looked for.
    pub find: Option<FindLoad>,
    /// Parts of a rate in percent, as a list or a range `10..100:10`.
    pub curve: Option<String>,
    /// Part of the highest rate that the measured phase holds, in percent.
    pub throughput_percent: Option<String>,
    /// Part of the room on the volumes that the databases take, in percent.
    pub capacity_percent: Option<f64>,
}

impl LoadSearch {
    /// Changes the settings of a scenario as these options ask for it.
    ///
    /// # Errors
    /// Options that do not go together, or not with this workload.
    pub fn apply(&self, scenario: &mut Scenario) -> Result<(), Error> {
        self.refuse_conflicts()?;
        let has_rate = [Key::Rate, Key::Path("run.held_rate".to_owned())];
        let has_rate = has_rate.iter().any(|key| scenario.value_of(key).is_some());
        let finds = self.is_throughput()
            || self.find == Some(FindLoad::MaxIops)
            || (self.curve.is_some() && !has_rate);
        if !finds && self.curve.is_none() {
            return match self.throughput_percent {
                None => Ok(()),
                Some(_) => Err(Error::usage(
                    "--throughput-percent is a part of the highest rate, and nothing looks for that.",
                    "Add --find max-iops, or --scenario throughput.",
                )),
            };
        }
        self.refuse_without_rate(scenario)?;
        let mut set = |path: &str, value: Value| scenario.settings.push(Setting::at(path, value));
        if finds {
            set("tuning.find", Value::from("max-iops"));
        }
        if let Some(percent) = &self.throughput_percent {
            set("tuning.held_percent", Value::of_text(percent.as_str()));
        }
        if let Some(text) = &self.curve {
            set("tuning.curve_percent", parts(text)?);
        }
        Ok(())
    }

    fn is_throughput(&self) -> bool {
        self.scenario == Some(LoadScenario::Throughput)
    }

    /// The part of the room on the volumes that the databases are to take, in percent; `None` when their
    /// size is that of the profile or was given.
    #[must_use]
    pub fn capacity_percent(&self, scenario: &Scenario) -> Option<f64> {
        let is_sized = scenario.value_of(&Key::TargetSize).is_some();
        let of_scenario = (self.is_throughput() && !is_sized).then_some(100.0);
        self.capacity_percent.or(of_scenario)
    }

    fn refuse_conflicts(&self) -> Result<(), Error> {
        if self.scenario != Some(LoadScenario::Mailboxes) {
            return Ok(());
        }
        let given = [
            ("--capacity-percent", self.capacity_percent.is_some()),
            ("--throughput-percent", self.throughput_percent.is_some()),
        ];
        let Some((option, _)) = given.iter().find(|(_, given)| *given) else {
            return Ok(());
        };
        Err(Error::usage(
            format!("{option} is not a setting of --scenario mailboxes."),
            "Give --scenario throughput, or the mailboxes with --mailboxes and --target-size.",
        ))
    }

    /// Refuses a workload that has no rate of I/O to be varied.
    fn refuse_without_rate(&self, scenario: &Scenario) -> Result<(), Error> {
        let workload = workloads::workload_of(scenario)?;
        if workload.setting_of(LoadOption::Find).is_some() {
            return Ok(());
        }
        let option = match (self.scenario, &self.find) {
            (Some(LoadScenario::Throughput), _) => "--scenario throughput",
            (_, Some(_)) => "--find",
            _ => "--curve",
        };
        let name = &scenario.workload;
        Err(Error::usage(
            format!(
                "{option} varies the rate of I/O that a run of mail holds, and the load of {name} is its \
                 users."
            ),
            format!(
                "Run it with --users 10, 20, 40 and compare the runs with 'proofload report DIR...'; on a \
                 modelled array 'proofload predict {name} --array ARRAY --find max-iops' finds the most \
                 users."
            ),
        ))
    }
}

/// The parts as a list in TOML.
fn parts(text: &str) -> Result<Value, Error> {
    let axis = Axis::parse(&format!("curve={text}")).map_err(|_| wrong_parts(text))?;
    let are_numbers = axis.values.iter().all(|value| value.number().is_some());
    if !are_numbers {
        return Err(wrong_parts(text));
    }
    let values: Vec<&str> = axis.values.iter().map(Value::as_str).collect();
    Ok(Value::of_text(format!("[{}]", values.join(", "))))
}

fn wrong_parts(text: &str) -> Error {
    Error::usage(
        format!("--curve {text} is no list of parts in percent."),
        "Write a range such as --curve 10..100:10, or a list such as --curve 25,50,75,100.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(options: &LoadSearch, workload: &str) -> Result<Vec<String>, Error> {
        let mut scenario = Scenario::new(workload);
        options.apply(&mut scenario)?;
        Ok(scenario.settings.iter().map(Setting::to_string).collect())
    }

    #[test]
    fn options_become_settings() {
        let finds = LoadSearch {
            find: Some(FindLoad::MaxIops),
            ..LoadSearch::default()
        };
        let settings = applied(&finds, "exchange-2013").unwrap();
        assert_eq!(settings, ["tuning.find=max-iops"]);
        let throughput = LoadSearch {
            scenario: Some(LoadScenario::Throughput),
            throughput_percent: Some("80".to_owned()),
            curve: Some("20..60:20".to_owned()),
            ..LoadSearch::default()
        };
        let settings = applied(&throughput, "exchange-2013").unwrap();
        assert_eq!(
            settings,
            [
                "tuning.find=max-iops",
                "tuning.held_percent=80",
                "tuning.curve_percent=[20, 40, 60]"
            ]
        );
        assert_eq!(
            throughput.capacity_percent(&Scenario::new("x")),
            Some(100.0)
        );
        let sized = Scenario::new("x");
        let mut sized = sized;
        sized.set(&Key::TargetSize, &Value::from("1GiB"));
        assert_eq!(throughput.capacity_percent(&sized), None);
        assert!(
            applied(&LoadSearch::default(), "brokerage")
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_curve_of_a_held_rate_needs_no_search() {
        let curve = LoadSearch {
            curve: Some("50,100".to_owned()),
            ..LoadSearch::default()
        };
        let mut scenario = Scenario::new("exchange-2013");
        scenario.set(&Key::Rate, &Value::from("500"));
        curve.apply(&mut scenario).unwrap();
        let last = scenario.settings.last().unwrap().to_string();
        assert_eq!(
            (scenario.settings.len(), last.as_str()),
            (2, "tuning.curve_percent=[50, 100]")
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let base = LoadSearch::default();
        let percent = || Some("80".to_owned());
        let wrong = [
            LoadSearch {
                throughput_percent: percent(),
                ..base.clone()
            },
            LoadSearch {
                curve: Some("10..5".to_owned()),
                ..base.clone()
            },
            LoadSearch {
                curve: Some("a,b".to_owned()),
                ..base.clone()
            },
            LoadSearch {
                scenario: Some(LoadScenario::Mailboxes),
                throughput_percent: percent(),
                ..base.clone()
            },
        ];
        for options in wrong {
            let error = applied(&options, "exchange-2013").unwrap_err();
            assert_eq!(error.class(), workload::ErrorClass::Usage, "{options:?}");
        }
        let finds = LoadSearch {
            find: Some(FindLoad::MaxIops),
            ..base
        };
        let error = applied(&finds, "brokerage").unwrap_err().to_string();
        assert!(error.contains("its users"), "{error}");
    }
}
