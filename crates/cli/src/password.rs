//! Passwords must not stand in the list of processes, where everybody on the machine reads them.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::CommandError;
use brokerage::database::Target;

const OPTION: &str = "--database";

/// If `--database` was given with a password in it, this program starts itself again in its own
/// place, with the password in the environment, which others cannot read. It returns when there was
/// none.
///
/// # Errors
/// The program could not be started again.
pub fn hide() -> Result<(), CommandError> {
    let arguments: Vec<OsString> = env::args_os().collect();
    let Some((arguments, variable, password)) = without_password(&arguments) else {
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

/// The arguments without a password, with the variable and the value that hand it on.
fn without_password(arguments: &[OsString]) -> Option<(Vec<OsString>, &'static str, String)> {
    for (number, argument) in arguments.iter().enumerate() {
        let argument = argument.to_str()?;
        let (prefix, text) = match argument.strip_prefix(OPTION) {
            Some("") => ("", arguments.get(number + 1)?.to_str()?),
            Some(rest) => (OPTION, rest.strip_prefix('=')?),
            None => continue,
        };
        let (clean, variable, password) = Target::take_password(text)?;
        let mut arguments = arguments.to_vec();
        if prefix.is_empty() {
            arguments[number + 1] = clean.into();
        } else {
            arguments[number] = format!("{OPTION}={clean}").into();
        }
        return Some((arguments, variable, password.reveal().to_owned()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(arguments: &[&str]) -> Option<(Vec<String>, &'static str, String)> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let (clean, variable, password) = without_password(&arguments)?;
        let clean = clean.into_iter().map(|one| one.into_string().unwrap());
        Some((clean.collect(), variable, password))
    }

    #[test]
    fn a_password_moves_to_the_environment() {
        let url = "postgres://me:secret@db/trades";
        let (clean, variable, password) = taken(&["proofload", "run", OPTION, url]).unwrap();
        assert_eq!(clean[3], "postgres://me@db/trades");
        assert_eq!((variable, password.as_str()), ("PGPASSWORD", "secret"));
        let joined = format!("{OPTION}=mariadb://me:other@db/trades");
        let (clean, variable, password) = taken(&["proofload", &joined]).unwrap();
        assert_eq!(clean[1], "--database=mariadb://me@db/trades");
        assert_eq!((variable, password.as_str()), ("MYSQL_PWD", "other"));
    }

    #[test]
    fn without_a_password_nothing_happens() {
        assert_eq!(taken(&["proofload", OPTION, "sqlite"]), None);
        assert_eq!(taken(&["proofload", OPTION, "postgres://me@db"]), None);
        assert_eq!(taken(&["proofload", OPTION]), None);
        assert_eq!(taken(&["proofload", "run"]), None);
    }
}
