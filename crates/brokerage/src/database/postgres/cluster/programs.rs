//! Finds the server's programs.

use std::io::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::ClusterError;

use crate::database::postgres::connection::OLDEST;

/// Where Debian and Ubuntu install one directory per version.
const VERSIONED: &str = "/usr/lib/postgresql";

/// A directory with `initdb` and `postgres`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    directory: PathBuf,
    major: u32,
}

impl Programs {
    /// The first in PATH, or else the newest under /usr/lib/postgresql.
    ///
    /// # Errors
    /// There are none, or they are too old.
    pub fn find() -> Result<Self, ClusterError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let in_path = std::env::split_paths(&path).find(|directory| has_programs(directory));
        let directory = in_path.or_else(|| newest_in(Path::new(VERSIONED)));
        Self::at(&directory.ok_or(ClusterError::NoPrograms)?)
    }

    /// Those in a directory.
    ///
    /// # Errors
    /// They do not run, or are too old.
    pub fn at(directory: &Path) -> Result<Self, ClusterError> {
        // A link in PATH may lead to some of the programs only; all are where it leads to.
        let linked = directory.join("postgres").canonicalize().ok();
        let real = linked.as_deref().and_then(Path::parent);
        let directory = real.filter(|real| has_programs(real)).unwrap_or(directory);
        let server = directory.join("postgres");
        let output = Command::new(&server).arg("--version").output();
        let output = output.map_err(ClusterError::program(&server))?;
        let answer = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || answer.trim().is_empty() {
            let why = String::from_utf8_lossy(&output.stderr);
            let why = why
                .lines()
                .next()
                .unwrap_or("it does not print its version");
            return Err(ClusterError::program(&server)(Error::other(why.trim())));
        }
        let answer = answer.trim();
        let version = answer
            .trim_start_matches("postgres (PostgreSQL) ")
            .to_owned();
        match major(answer) {
            Some(major) if major >= OLDEST => Ok(Self {
                directory: directory.to_owned(),
                major,
            }),
            _ => Err(ClusterError::TooOld {
                version,
                directory: directory.to_owned(),
            }),
        }
    }

    /// Path of a program.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The programs' major version, such as 15.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.major
    }
}

fn has_programs(directory: &Path) -> bool {
    ["initdb", "postgres"]
        .iter()
        .all(|program| directory.join(program).is_file())
}

fn newest_in(directory: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(directory).ok()?.flatten();
    versions
        .filter_map(|entry| {
            let major = entry.file_name().to_str()?.parse::<u32>().ok()?;
            let programs = entry.path().join("bin");
            has_programs(&programs).then_some((major, programs))
        })
        .max()
        .map(|(_, programs)| programs)
}

/// From "postgres (PostgreSQL) 15.18 (Debian ...)" the 15; from 9.6.1 the 9.
fn major(version: &str) -> Option<u32> {
    let number = version.split_whitespace().nth(2)?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_several_versions_is_taken() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9", "13", "17", "18"] {
            let programs = root.path().join(version).join("bin");
            std::fs::create_dir_all(&programs).unwrap();
            std::fs::write(programs.join("initdb"), "").unwrap();
            if version != "18" {
                std::fs::write(programs.join("postgres"), "").unwrap();
            }
        }
        assert_eq!(newest_in(root.path()), Some(root.path().join("17/bin")));
    }

    #[test]
    fn old_programs_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let server = root.path().join("postgres");
        std::fs::write(
            &server,
            "#!/bin/sh\necho 'postgres (PostgreSQL) 12.22 (Debian)'\n",
        )
        .unwrap();
        std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = Programs::at(root.path()).unwrap_err().to_string();
        assert!(
            refused.contains("12.22") && refused.contains("13 or newer"),
            "{refused}"
        );
        assert!(!refused.contains("PostgreSQL postgres"), "{refused}");
        assert_eq!(major("postgres (PostgreSQL) 19devel"), Some(19));
        assert_eq!(major("postgres (PostgreSQL) 9.6.24"), Some(9));
    }

    #[test]
    fn programs_that_do_not_run_are_not_called_too_old() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let server = root.path().join("postgres");
        let script = "#!/bin/sh\necho 'libicu.so.1: not found' >&2\nexit 127\n";
        std::fs::write(&server, script).unwrap();
        std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = Programs::at(root.path()).unwrap_err().to_string();
        assert!(
            refused.contains("could not be run: libicu.so.1"),
            "{refused}"
        );
    }
}
