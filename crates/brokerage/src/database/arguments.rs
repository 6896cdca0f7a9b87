//! Passwords in the arguments of a program.

use std::ffi::OsString;

use super::Target;

/// The arguments of a program without the password in that of `option`, with the variable and the value that hand
/// it on; `None` where there is none.
#[must_use]
pub fn without_password(
    arguments: &[OsString],
    option: &str,
) -> Option<(Vec<OsString>, &'static str, String)> {
    for (number, argument) in arguments.iter().enumerate() {
        let Some(argument) = argument.to_str() else {
            continue;
        };
        let (prefix, text) = match argument.strip_prefix(option) {
            Some("") => ("", arguments.get(number + 1)?.to_str()?),
            Some(rest) => (option, rest.strip_prefix('=')?),
            None => continue,
        };
        let (clean, variable, password) = Target::take_password(text)?;
        let mut arguments = arguments.to_vec();
        if prefix.is_empty() {
            arguments[number + 1] = clean.into();
        } else {
            arguments[number] = format!("{option}={clean}").into();
        }
        return Some((arguments, variable, password.reveal().to_owned()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTION: &str = "--database";

    fn taken(arguments: &[&str]) -> Option<(Vec<String>, &'static str, String)> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let (clean, variable, password) = without_password(&arguments, OPTION)?;
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
    fn names_that_are_no_text_do_not_keep_a_password_in_the_list() {
        use std::os::unix::ffi::OsStringExt as _;
        let name = OsString::from_vec(vec![0xFF]);
        let url = OsString::from("postgres://me:secret@db/trades");
        let arguments = [name, OPTION.into(), url];
        let (clean, _, password) = without_password(&arguments, OPTION).unwrap();
        assert_eq!(clean[2], "postgres://me@db/trades");
        assert_eq!(password, "secret");
    }

    #[test]
    fn without_a_password_nothing_happens() {
        assert_eq!(taken(&["proofload", OPTION, "sqlite"]), None);
        assert_eq!(taken(&["proofload", OPTION, "postgres://me@db"]), None);
        assert_eq!(taken(&["proofload", OPTION]), None);
        assert_eq!(taken(&["proofload", "run"]), None);
    }
}
