//! From a workload's name and the options to the profile that is run.

use std::fs;
use std::io;
use std::path::Path;

use array::description::Source;
use workload::profile::{BUNDLED, ByteSize, Kind, Layer, Profile, bundled, load};

use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::target;

/// The text of a workload: a bundled name, or the path of a file.
pub fn find(workload: &str) -> Result<Layer, Failure> {
    if let Some(profile) = bundled(workload) {
        return Ok(Layer::file(profile.name, profile.toml));
    }
    match fs::read_to_string(workload) {
        Ok(text) => Ok(Layer::file(workload, &text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unknown(workload)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Failure::usage(
            format!("The profile {workload} is not text in UTF-8."),
            "Give the path of a TOML file, or a name from 'proofload list'.",
        )),
        Err(error) => Err(Failure::usage(
            format!("The profile {workload} cannot be read: {error}."),
            "Give the path of a readable TOML file, or a name from 'proofload list'.",
        )),
    }
}

/// The file of a workload, if it has `[[event]]` tables, which are about the array.
pub fn events(workload: &str) -> Option<Source> {
    let text = fs::read_to_string(workload).ok()?;
    let table: toml::Table = toml::from_str(&text).ok()?;
    table
        .contains_key("event")
        .then(|| Source::events(workload, &text))
}

fn unknown(workload: &str) -> Failure {
    let names = BUNDLED.map(|profile| profile.name);
    let near = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(workload, name), name))
        // Of equally near ones the first, which is the newest.
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= 3);
    let help = match near {
        Some((_, name)) => format!("Did you mean {name}? 'proofload list' names them all."),
        None => format!(
            "Name one of {}, or give the path of a profile file.",
            names.join(", ")
        ),
    };
    Failure::usage(
        format!("There is no bundled workload and no file called '{workload}'."),
        help,
    )
}

/// The short name of a workload, for the directory of its results.
pub fn short_name(workload: &str) -> String {
    let stem = Path::new(workload).file_stem();
    let bundled_name = bundled(workload).map(|profile| profile.name.to_owned());
    bundled_name
        .or_else(|| stem.map(|stem| stem.to_string_lossy().into_owned()))
        .unwrap_or_else(|| workload.to_owned())
}

/// The profile with every option of the command line applied. With `--reuse` the settings that the
/// kept databases were built with hold where the command line says nothing.
pub fn resolve(options: &RunOptions) -> Result<Profile, Failure> {
    let mut layers = vec![find(&options.workload)?];
    if options.reuse {
        layers.extend(target::kept_settings(
            &options.on,
            &short_name(&options.workload),
        ));
    }
    let kind = load(layers.clone())?.kind;
    layers.extend(options.layers(kind));
    if kind != Kind::Brokerage && (options.users.is_some() || options.database.is_some()) {
        return Err(Failure::usage(
            format!(
                "--users and --database are a brokerage's, and {} is none.",
                options.workload
            ),
            "Give --threads for the sessions of mail, which has an engine of its own.",
        ));
    }
    if kind == Kind::Brokerage {
        return brokerage(options, layers);
    }
    let mut profile = load(layers)?;
    if let Some(text) = &options.mailboxes {
        profile.mail.mailboxes_per_database = shared_out(text, profile.mail.databases)?;
    }
    if let Some(text) = &options.target_size {
        let size = ByteSize::parse(text)
            .map_err(|problem| Failure::usage(format!("--target-size: {problem}."), SIZE_HELP))?;
        let least = u64::from(profile.mail.databases) * LEAST_DATABASE.bytes();
        if size.bytes() < least {
            return Err(Failure::usage(
                format!(
                    "--target-size {size} is too small for {} databases of {LEAST_DATABASE} or \
                     more each.",
                    profile.mail.databases
                ),
                format!("Give --target-size {} or more.", ByteSize(least)),
            ));
        }
        profile.mail.scale_to(size);
    }
    Ok(profile)
}

/// The profile of a brokerage with the options that it knows.
fn brokerage(options: &RunOptions, mut layers: Vec<Layer>) -> Result<Profile, Failure> {
    // A prediction names no storage of its own.
    let is_predicted = options.on.is_empty() && options.database.is_none();
    for (option, value) in [
        ("--mailboxes", &options.mailboxes),
        ("--databases", &options.databases),
        ("--rate", if is_predicted { &options.rate } else { &None }),
    ] {
        if value.is_some() {
            if option == "--rate" {
                return Err(Failure::usage(
                    "--rate does not go with a brokerage on a modelled array: its users begin the \
                     next transaction when the last is done.",
                    "Give --users for the load; 'proofload run' holds rates of transactions.",
                ));
            }
            return Err(Failure::usage(
                format!("{option} does not go with a brokerage, which has one database and users."),
                "Give --users for the users, and --target-size for the data.",
            ));
        }
    }
    let size = options.target_size.as_ref();
    layers.extend(size.map(|size| Layer::option("--target-size", "brokerage.data_size", size)));
    Ok(load(layers)?)
}

const SIZE_HELP: &str = "Write a size such as --target-size 20GB.";

/// The smallest database worth a run: a few hundred pages of any size.
const LEAST_DATABASE: ByteSize = ByteSize::mib(8);

/// Mailboxes per database when `text` mailboxes are dealt out, rounded up.
fn shared_out(text: &str, databases: u32) -> Result<u32, Failure> {
    let mailboxes: u32 = text.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
        Failure::usage(
            format!("--mailboxes {text} is not a number of mailboxes."),
            "Write a whole number, 1 or more.",
        )
    })?;
    Ok(mailboxes.div_ceil(databases))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> RunOptions {
        RunOptions {
            workload: "exchange-2013".to_owned(),
            ..RunOptions::default()
        }
    }

    #[test]
    fn options_change_the_settings_they_stand_for() {
        let profile = resolve(&RunOptions {
            duration: Some("10m".to_owned()),
            threads: Some("8".to_owned()),
            databases: Some("3".to_owned()),
            mailboxes: Some("10".to_owned()),
            set: vec!["run.duration=5m".to_owned(), "mail.databases=9".to_owned()],
            ..options()
        });
        let profile = profile.unwrap();
        assert_eq!(profile.run.duration.as_seconds(), 600.0);
        assert_eq!(profile.mail.threads, Some(8));
        assert_eq!(profile.mail.databases, 3);
        assert_eq!(profile.mail.mailboxes_per_database, 4);
    }

    #[test]
    fn a_target_size_keeps_the_mailboxes_and_their_load() {
        let profile = resolve(&RunOptions {
            target_size: Some("20GB".to_owned()),
            ..options()
        });
        let profile = profile.unwrap();
        assert!(profile.mail.total_bytes() <= 20_000_000_000);
        assert!(profile.mail.total_bytes() > 19_999_000_000);
        assert_eq!(profile.mail.mailboxes_per_database, 250);
    }

    #[test]
    fn options_mean_users_and_data_of_a_brokerage() {
        let profile = resolve(&RunOptions {
            workload: "brokerage".to_owned(),
            threads: Some("8".to_owned()),
            target_size: Some("20GB".to_owned()),
            duration: Some("10m".to_owned()),
            ..options()
        });
        let profile = profile.unwrap();
        assert_eq!(profile.brokerage.users, 8);
        assert_eq!(profile.brokerage.data_size, ByteSize(20_000_000_000));
        assert_eq!(profile.run.duration.as_seconds(), 600.0);
    }

    #[test]
    fn wrong_options_are_usage_errors() {
        for wrong in [
            RunOptions {
                target_size: Some("20".to_owned()),
                ..options()
            },
            RunOptions {
                target_size: Some("twenty".to_owned()),
                ..options()
            },
            RunOptions {
                mailboxes: Some("0".to_owned()),
                ..options()
            },
            RunOptions {
                duration: Some("2 weeks".to_owned()),
                ..options()
            },
            RunOptions {
                workload: "brokerage".to_owned(),
                mailboxes: Some("7".to_owned()),
                ..options()
            },
            RunOptions {
                workload: "brokerage".to_owned(),
                threads: Some("auto".to_owned()),
                ..options()
            },
            RunOptions {
                workload: "exchange-2103".to_owned(),
                ..options()
            },
        ] {
            let failure = resolve(&wrong).unwrap_err();
            assert_eq!(failure.status().code(), 2, "{wrong:?}");
        }
    }
}
