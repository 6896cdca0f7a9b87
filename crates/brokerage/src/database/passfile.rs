//! Passwords from a file in libpq's format: `~/.pgpass`, or the one that `PGPASSFILE` names.
//!
//! Each line is `host:port:database:user:password`. An asterisk matches any value of the first
//! four, a backslash escapes a colon or a backslash. The first matching line counts. A file that
//! others may read is ignored, as by libpq.

use super::endpoint::Endpoint;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Permissions that only the owner may have.
const OF_OTHERS: u32 = 0o077;

/// The path of the file in a given environment.
pub fn path(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = environment("PGPASSFILE").map(PathBuf::from);
    named.or_else(|| Some(Path::new(&environment("HOME")?).join(".pgpass")))
}

/// The password for this user and database of the server at `endpoint`.
pub fn password_for(
    file: &Path,
    endpoint: &Endpoint,
    database: &str,
    user: &str,
) -> Option<String> {
    let facts = fs::metadata(file).ok()?;
    let is_private = facts.permissions().mode() & OF_OTHERS == 0;
    if !facts.is_file() || !is_private {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    find(&text, endpoint, database, user)
}

fn find(text: &str, endpoint: &Endpoint, database: &str, user: &str) -> Option<String> {
    let (hosts, port) = names(endpoint);
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let fields = fields(line);
            let [of_host, of_port, of_database, of_user, password] = fields.as_slice() else {
                return None;
            };
            let fits = |field: &String, wanted: &str| field == "*" || field == wanted;
            let fits_all = hosts.iter().any(|host| fits(of_host, host))
                && fits(of_port, &port)
                && fits(of_database, database)
                && fits(of_user, user);
            (fits_all && !password.is_empty()).then(|| password.clone())
        })
}

/// What a line may call the host of an endpoint, and its port. A socket is known by its directory,
/// and as `localhost`.
fn names(endpoint: &Endpoint) -> (Vec<String>, String) {
    match endpoint {
        Endpoint::Tcp { host, port } => (vec![host.clone()], port.to_string()),
        Endpoint::Socket(file) => {
            let directory = file.parent().unwrap_or(Path::new("/"));
            let port = file.extension().unwrap_or_default();
            let hosts = vec![directory.display().to_string(), "localhost".to_owned()];
            (hosts, port.to_string_lossy().into_owned())
        }
    }
}

/// The fields of a line, without their backslashes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# a comment:1:*:ann:never\n\
                        db:5432:trades:ann:of-trades\n\
                        db:*:*:ann:with\\:colon\\\\\n\
                        localhost:5433:*:bob:of-socket\n\
                        *:*:*:eve:\n";

    fn at(host: &str, port: u16) -> Endpoint {
        Endpoint::Tcp {
            host: host.to_owned(),
            port,
        }
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let find = |endpoint: &Endpoint, database, user| find(FILE, endpoint, database, user);
        let db = at("db", 5432);
        assert_eq!(find(&db, "trades", "ann").unwrap(), "of-trades");
        assert_eq!(find(&db, "other", "ann").unwrap(), "with:colon\\");
        assert_eq!(find(&at("db", 1), "trades", "ann").unwrap(), "with:colon\\");
        assert_eq!(find(&at("elsewhere", 5432), "trades", "ann"), None);
        assert_eq!(find(&db, "trades", "eve"), None, "it has no password");
        let socket = Endpoint::Socket("/run/postgresql/.s.PGSQL.5433".into());
        assert_eq!(find(&socket, "x", "bob").unwrap(), "of-socket");
        assert_eq!(find(&socket, "x", "ann"), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pass");
        fs::write(&file, "*:*:*:*:hush\n").unwrap();
        let look = |mode| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            password_for(&file, &at("db", 1), "x", "ann")
        };
        assert_eq!(look(0o644), None);
        assert_eq!(look(0o600).as_deref(), Some("hush"));
        assert_eq!(
            password_for(directory.path(), &at("db", 1), "x", "ann"),
            None
        );
    }

    #[test]
    fn the_environment_names_the_file() {
        let of = |wanted: &'static str| {
            move |name: &str| (name == wanted).then(|| "/somewhere".to_owned())
        };
        assert_eq!(path(&of("PGPASSFILE")).unwrap(), Path::new("/somewhere"));
        assert_eq!(path(&of("HOME")).unwrap(), Path::new("/somewhere/.pgpass"));
        assert_eq!(path(&of("USER")), None);
    }
}
