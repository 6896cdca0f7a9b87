//! Passwords must not stand in the list of processes, where everybody on the machine reads them.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::CommandError;
use brokerage::database::without_password;

const OPTION: &str = "--database";

/// If `--database` was given with a password in it, this program starts itself again in its own
/// place, with the password in the environment, which others cannot read. It returns when there was
/// none.
///
/// # Errors
/// The program could not be started again.
pub fn hide() -> Result<(), CommandError> {
    let arguments: Vec<OsString> = env::args_os().collect();
    let Some((arguments, variable, password)) = without_password(&arguments, OPTION) else {
        return Ok(());
    };
    let program = env::current_exe().map_err(|error| unstartable(&error))?;
    let mut command = Command::new(program);
    command
        .arg0(arguments.first().cloned().unwrap_or_default())
        .args(arguments.iter().skip(1))
        .env(variable, password);
    Err(unstartable(&command.exec()))
}

fn unstartable(error: &std::io::Error) -> CommandError {
    CommandError::environment(
        format!(
            "The password in --database cannot be taken out of the list of processes: {error}."
        ),
        "Leave it out of --database and give it in the environment: PGPASSWORD for PostgreSQL, \
         MYSQL_PWD for MariaDB.",
    )
}
