//! From a scenario to the profile that is run.

use std::io::{self, Read};
use std::path::Path;

use config::Source;
use workload::{LoadOption, LoadOptions, Profile, Workload};

use crate::jetstress::looks_like_xml;
use crate::nearest::nearest;
use crate::registry::Registry;
use crate::scenario::Scenario;
use crate::setting::{Key, Value};
use execution::Error;

/// The text of a workload: a bundled name, or the path of a file.
///
/// # Errors
/// When it is neither, or cannot be read.
pub fn find(scenario: &Scenario) -> Result<Source, Error> {
    let (registry, workload) = (scenario.registry, scenario.workload.as_str());
    if let Some(profile) = registry.bundled(workload) {
        return Ok(Source::file(profile.name, profile.toml));
    }
    let text = scenario.files.read_text(workload);
    if is_configuration_of_jetstress(scenario, &text) {
        return Err(Error::usage(
            format!("{workload} is XML, as configurations of Jetstress are, and no profile."),
            format!("Make a profile of it: proofload import {workload} --out profile.toml"),
        ));
    }
    match text {
        Ok(text) => Ok(Source::file(workload, &text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unknown(registry, workload)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Error::usage(
            format!("The profile {workload} is not text in UTF-8."),
            "Give the path of a TOML file, or a name from 'proofload list'.",
        )),
        Err(error) => Err(Error::usage(
            format!("The profile {workload} cannot be read: {error}."),
            "Give the path of a readable TOML file, or a name from 'proofload list'.",
        )),
    }
}

/// Whether the file of the workload is XML, also in an encoding that is no text here.
fn is_configuration_of_jetstress(scenario: &Scenario, text: &io::Result<String>) -> bool {
    match text {
        Ok(text) => looks_like_xml(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let file = scenario.files.open(Path::new(&scenario.workload));
            let mut begin = Vec::new();
            let read = file.and_then(|file| file.take(64).read_to_end(&mut begin));
            read.is_ok() && looks_like_xml(&begin)
        }
        Err(_) => false,
    }
}

fn unknown(registry: &Registry, workload: &str) -> Error {
    let names = registry.bundled_profiles().map(|profile| profile.name);
    let names: Vec<&str> = names.collect();
    // Of equally near ones the newest.
    let help = match nearest(workload, names.iter().copied()) {
        Some(name) => format!("Did you mean {name}? 'proofload list' names them all."),
        None => format!(
            "Name one of {}, or give the path of a profile file.",
            names.join(", ")
        ),
    };
    Error::usage(
        format!("There is no bundled workload and no file called '{workload}'."),
        help,
    )
}

/// The short name of a workload, for the directory of its results.
pub fn short_name(registry: &Registry, workload: &str) -> String {
    let stem = Path::new(workload).file_stem();
    let bundled_name = registry
        .bundled(workload)
        .map(|profile| profile.name.to_owned());
    bundled_name
        .or_else(|| stem.map(|stem| stem.to_string_lossy().into_owned()))
        .unwrap_or_else(|| workload.to_owned())
}

/// What a profile is resolved for.
#[derive(Debug)]
pub enum Purpose {
    /// A run on real storage.
    Run {
        /// Settings that hold where the scenario says nothing.
        kept: Vec<Source>,
        /// Whether the database is a server that is there.
        has_server: bool,
    },
    /// A prediction on a modelled array.
    Prediction,
}

/// The workload that the profile of the scenario is for.
///
/// # Errors
/// Every fault of the profile.
pub fn workload_of(scenario: &Scenario) -> Result<&'static dyn Workload, Error> {
    let source = find(scenario)?;
    Ok(scenario.registry.read(&[source])?.workload())
}

/// The profile with every setting of the scenario applied.
///
/// # Errors
/// Every fault of the profile or of a setting.
pub fn resolve(scenario: &Scenario, purpose: Purpose) -> Result<Box<dyn Profile>, Error> {
    let registry = scenario.registry;
    let mut sources = vec![find(scenario)?];
    let workload = registry.read(&sources)?.workload();
    let (is_predicted, has_server, kept) = match purpose {
        Purpose::Run { kept, has_server } => (false, has_server, kept),
        Purpose::Prediction => (true, false, Vec::new()),
    };
    sources.extend(kept);
    let settings = scenario.settings.iter();
    sources.extend(settings.filter_map(|setting| setting.of_profile(workload)));
    let given = |key| scenario.value_of(key).map(Value::as_str);
    let load = LoadOptions {
        workload: &scenario.workload,
        has_users: given(&Key::Users).is_some(),
        has_rate: given(&Key::Rate).is_some() || given(&Key::RateOfTransactions).is_some(),
        has_threads: given(&Key::Threads).is_some(),
        has_duration: given(&Key::Duration).is_some(),
        has_databases: given(&Key::Databases).is_some(),
        mailboxes: given(&Key::Mailboxes),
        target_size: given(&Key::TargetSize),
        has_server,
        is_predicted,
    };
    workload.check_options(&load)?;
    if given(&Key::RateOfTransactions).is_some() {
        refuse_without_rate_of_transactions(&scenario.workload, workload)?;
    }
    if given(&Key::Test).is_some() {
        refuse_without_tests(&scenario.workload, workload, is_predicted)?;
    }
    let mut profile = registry.read(&sources)?;
    profile.apply(&load)?;
    if !is_predicted && profile.run().until_percent.is_some() {
        return Err(Error::usage(
            "run.until_percent ends predictions; a run on real storage lasts as long as it is asked to.",
            "Remove it from the profile, or say how long to measure with --duration.",
        ));
    }
    Ok(profile)
}

fn refuse_without_rate_of_transactions(name: &str, workload: &dyn Workload) -> Result<(), Error> {
    match workload.setting_of(LoadOption::RateOfTransactions) {
        Some(_) => Ok(()),
        None => Err(Error::usage(
            format!("--rate-transactions does not go with {name}."),
            "Give --rate, which holds its transactions or its I/O.",
        )),
    }
}

/// Refuses tests of a workload that has the performance test alone, and of a prediction.
pub(crate) fn refuse_without_tests(
    name: &str,
    workload: &dyn Workload,
    is_predicted: bool,
) -> Result<(), Error> {
    if workload.setting_of(LoadOption::Test).is_none() {
        return Err(Error::usage(
            format!(
                "--test, --backup-to, --restore and --copy-to are about databases of our own, and {name} has none."
            ),
            "Leave them out, or name a mail workload.",
        ));
    }
    if is_predicted {
        return Err(Error::usage(
            "A prediction is always one of the performance test.",
            "Make the other tests on real storage: proofload run --test ...",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use brokerage::profile::BrokerageProfile;
    use config::ByteSize;
    use mail::profile::MailProfile;

    fn scenario(workload: &str, settings: &[(&str, &str)]) -> Scenario {
        let mut scenario = Scenario::new(workload);
        for (key, value) in settings {
            scenario.set(&Key::named(key), &Value::from(*value));
        }
        scenario
    }

    fn resolved(workload: &str, settings: &[(&str, &str)]) -> Result<Box<dyn Profile>, Error> {
        resolve(&scenario(workload, settings), Purpose::Prediction)
    }

    #[test]
    fn options_change_the_settings_they_stand_for() {
        let profile = resolved(
            "exchange-2013",
            &[
                ("run.duration", "5m"),
                ("mail.databases", "9"),
                ("duration", "10m"),
                ("threads", "8"),
                ("databases", "3"),
                ("mailboxes", "10"),
            ],
        );
        let profile = profile.unwrap();
        let profile = profile.downcast::<MailProfile>().unwrap();
        assert_eq!(profile.run.duration.as_seconds(), 600.0);
        assert_eq!(profile.mail.threads, Some(8));
        assert_eq!(profile.mail.databases, 3);
        assert_eq!(profile.mail.mailboxes_per_database, 4);
    }

    #[test]
    fn a_target_size_keeps_the_mailboxes_and_their_load() {
        let profile = resolved("exchange-2013", &[("target-size", "20GB")]);
        let profile = profile.unwrap();
        let profile = profile.downcast::<MailProfile>().unwrap();
        assert!(profile.mail.total_bytes() <= 20_000_000_000);
        assert!(profile.mail.total_bytes() > 19_999_000_000);
        assert_eq!(profile.mail.mailboxes_per_database, 250);
    }

    #[test]
    fn options_mean_users_and_data_of_a_brokerage() {
        let profile = resolved(
            "brokerage",
            &[
                ("duration", "10m"),
                ("threads", "8"),
                ("target-size", "20GB"),
            ],
        );
        let profile = profile.unwrap();
        let profile = profile.downcast::<BrokerageProfile>().unwrap();
        assert_eq!(profile.brokerage.users, 8);
        assert_eq!(profile.brokerage.data_size, ByteSize(20_000_000_000));
        assert_eq!(profile.run.duration.as_seconds(), 600.0);
    }

    #[test]
    fn wrong_options_are_usage_errors() {
        let cases: [(&str, &[(&str, &str)]); 7] = [
            ("exchange-2013", &[("target-size", "20")]),
            ("exchange-2013", &[("target-size", "twenty")]),
            ("exchange-2013", &[("mailboxes", "0")]),
            ("exchange-2013", &[("duration", "2 weeks")]),
            ("brokerage", &[("mailboxes", "7")]),
            ("brokerage", &[("threads", "auto")]),
            ("exchange-2103", &[]),
        ];
        for (workload, settings) in cases {
            let wrong = scenario(workload, settings);
            let error = resolve(&wrong, Purpose::Prediction).unwrap_err();
            assert_eq!(error.class(), workload::ErrorClass::Usage, "{wrong:?}");
        }
    }
}
