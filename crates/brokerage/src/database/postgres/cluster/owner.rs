//! The user that the server runs as.

use std::os::unix::fs::{MetadataExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::error::ClusterError;

/// Ourselves, or an unprivileged user if we are root: PostgreSQL refuses to run as root.
pub(super) struct Owner {
    other: Option<User>,
}

struct User {
    name: String,
    uid: u32,
    gid: u32,
}

impl Owner {
    pub fn choose() -> Result<Self, ClusterError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { other: None });
        }
        let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let other = ["postgres", "nobody"]
            .iter()
            .find_map(|name| user(&known, name));
        other.map_or(Err(ClusterError::NoUser), |user| {
            Ok(Self { other: Some(user) })
        })
    }

    /// Lets a program run as this user, in a process group of its own: Ctrl-C at the terminal must
    /// not reach the server.
    pub fn run_as<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(user) = &self.other {
            command.uid(user.uid).gid(user.gid);
        }
        command.process_group(0)
    }

    /// Changes the owner of a file or directory that we have created; a link is not followed.
    pub fn hand_over(&self, path: &Path) -> Result<(), ClusterError> {
        let Some(user) = &self.other else {
            return Ok(());
        };
        lchown(path, Some(user.uid), Some(user.gid))
            .map_err(ClusterError::file(path, "given to the server's user"))
    }

    /// Checks that this user can reach a directory.
    pub fn can_enter(&self, directory: &Path) -> Result<(), ClusterError> {
        let Some(user) = &self.other else {
            return Ok(());
        };
        for above in directory.ancestors().skip(1).filter(|above| above.is_dir()) {
            let about = above
                .metadata()
                .map_err(ClusterError::file(above, "examined"))?;
            let may_enter = match about.uid() == user.uid {
                true => about.mode() & 0o100 != 0,
                false if about.gid() == user.gid => about.mode() & 0o010 != 0,
                false => about.mode() & 0o001 != 0,
            };
            if !may_enter {
                return Err(ClusterError::CannotEnter {
                    user: user.name.clone(),
                    directory: above.to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// A user by name from passwd(5).
fn user(known: &str, name: &str) -> Option<User> {
    known.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let mut numbers = fields.skip(1);
        Some(User {
            name: name.to_owned(),
            uid: numbers.next()?.parse().ok()?,
            gid: numbers.next()?.parse().ok()?,
        })
    })
}
