//! The database and the storage that the options ask for.

use crate::database::Target;
use crate::profile::BrokerageProfile;
use measure::units;
use storage::{Layout, Request};

use execution::Error;
use execution::RunOptions;

/// What `--database` names, and whether `--on` goes with it.
pub(super) fn wanted_database(options: &RunOptions) -> Result<Target, Error> {
    let target = match &options.database {
        None => Target::Auto,
        Some(text) => Target::parse(text)
            .map_err(|error| Error::usage(format!("{}.", units::sentence(&error)), ""))?,
    };
    let is_existing = matches!(target, Target::PostgreSql(_) | Target::MariaDb(_));
    if !is_existing && options.on.is_empty() {
        return Err(Error::usage(
            "A brokerage needs storage to run on.",
            "Name an empty directory on it with --on DIR, or an existing server with \
             --database postgres://user@host/database.",
        ));
    }
    for (option, paths) in [("--on", &options.on), ("--log-on", &options.log_on)] {
        if is_existing && let Some(missing) = paths.iter().find(|path| !path.exists()) {
            return Err(Error::usage(
                format!("{} does not exist.", missing.display()),
                format!(
                    "Give {option} a directory on the volume of the server's files, to have it \
                     measured, or omit {option}."
                ),
            ));
        }
        if is_existing && paths.len() > 1 {
            return Err(Error::usage(
                format!("A brokerage has one database, and {option} names several directories."),
                format!("Give {option} {}.", paths[0].display()),
            ));
        }
    }
    if is_existing && options.on.is_empty() && !options.log_on.is_empty() {
        return Err(Error::usage(
            "--log-on names the volume of a server's log, and --on, for its data, is missing.",
            "Give both, or omit --log-on.",
        ));
    }
    if target == Target::Sqlite && !options.log_on.is_empty() {
        return Err(Error::usage(
            "--log-on does not go with --database sqlite, which keeps its log beside its file.",
            "Omit --log-on.",
        ));
    }
    if options.erase_device {
        return Err(Error::usage(
            "--erase-device does not go with a brokerage: a database server needs a file system.",
            "Make one on the device, mount it, and name a directory on it with --on.",
        ));
    }
    Ok(target)
}

/// Looks at the storage under test. An existing server has its data where it has it: `--on`
/// then only says which volume to watch, and nothing is made there.
pub(super) fn survey(
    options: &RunOptions,
    profile: &BrokerageProfile,
    target: &Target,
) -> Result<Option<Layout>, Error> {
    if matches!(target, Target::PostgreSql(_) | Target::MariaDb(_)) {
        return Ok(None);
    }
    storage::survey(
        &Request {
            on: &options.on,
            log_on: &options.log_on,
            profile,
            reuse: options.reuse,
            erase_device: false,
        },
        &mut |text| options.notify(text),
    )
    .map(Some)
    .map_err(Error::from)
}
