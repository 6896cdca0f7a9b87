//! The database of a run: a server of our own on the storage under test, a file there, or a server
//! that is there.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::database::mariadb::MariaDb;
use crate::database::owners::ServerProcess;
use crate::database::postgres::cluster::{Programs, Settings};
use crate::database::postgres::{Cluster, ClusterError, Postgres};
use crate::database::sqlite::Sqlite;
use crate::database::{Database, Endpoint, Target};
use crate::error::DatabaseError;
use crate::profile::BrokerageProfile;
use crate::run::market_workers;
use crate::run::placement::{self, Placement};
use crate::statement::Dialect;
use measure::result::ServerResult;

use super::size::SizedDatabase;
use execution::Error;
use measure::units;
use storage::Layout;

/// The share of the data that fits into the memory of a server of our own, at most: with more, most
/// reads would never reach the storage.
const MEMORY_SHARE: f64 = 0.1;
/// Servers are slow to no purpose with less.
const LEAST_MEMORY_BYTES: u64 = 16 << 20;
/// Sessions that a server of our own lets in beside those of a run: those that end while new ones
/// begin, and an administrator's.
const SPARE_SESSIONS: u32 = 13;
/// Assumed, not measured, to be enough for any server: its log, which all of them write, is one, and
/// each unit in work takes memory.
const MOST_LOADERS: usize = 16;

/// Where the data and the log are.
pub struct Place {
    /// A directory on the volume of the data.
    pub data: PathBuf,
    /// A directory on the volume of the log.
    pub log: PathBuf,
}

/// The volumes to watch under a server that was there before, as the user named them.
#[derive(Debug, Clone, Copy)]
pub struct Watched<'a> {
    /// A directory on the volume of its data.
    pub data: Option<&'a Path>,
    /// A directory on the volume of its log, if that is another one.
    pub log: Option<&'a Path>,
}

/// A database that answers.
pub struct Opened {
    /// The database itself, which sessions are opened on.
    pub database: Arc<dyn Database>,
    /// What the result says of it.
    pub server: ServerResult,
    /// How its processes are known, if it runs on this machine.
    pub process: ServerProcess,
    /// Where it lies, if that is known.
    pub place: Option<Place>,
    /// A server of our own.
    cluster: Option<Arc<Mutex<Cluster>>>,
    /// Whether the server was there before us.
    pub was_there: bool,
    name: String,
}

/// Sessions that a run opens on a server: those of the users, of the market, and of whoever watches
/// and checks.
pub fn sessions_for(users: u32) -> u32 {
    const WATCHING: u32 = 3;
    users + market_workers::worker_count(users) + WATCHING
}

/// Threads that load, each with a session: no more than the run needs later.
pub fn loaders_for(users: u32) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    loaders_of(processors, users)
}

fn loaders_of(processors: usize, users: u32) -> usize {
    let sessions = sessions_for(users) as usize;
    processors.clamp(2, MOST_LOADERS).min(sessions)
}

/// The kind of database that will be opened.
pub fn dialect(target: &Target, layout: Option<&Layout>) -> Dialect {
    match target {
        Target::PostgreSql(_) => Dialect::PostgreSql,
        Target::MariaDb(_) => Dialect::MariaDb,
        Target::Sqlite => Dialect::Sqlite,
        Target::Auto if layout.is_some_and(has_file) => Dialect::Sqlite,
        Target::Auto => match Programs::find() {
            Err(ClusterError::NoPrograms) => Dialect::Sqlite,
            // Others are reported when it is opened.
            Ok(_) | Err(_) => Dialect::PostgreSql,
        },
    }
}

/// Starts or finds the database; `notify` gets what is waited for.
pub fn open(
    profile: &BrokerageProfile,
    sized_database: &SizedDatabase,
    target: &Target,
    watched: Watched<'_>,
    layout: Option<&Layout>,
    notify: &mut dyn FnMut(&str),
) -> Result<Opened, Error> {
    match (target, layout) {
        (Target::PostgreSql(address), _) => {
            let database = Postgres::open(address).map_err(|error| refusal(&error))?;
            let name = database.database_name().to_owned();
            there(Arc::new(database), &name, &address.endpoint, watched)
        }
        (Target::MariaDb(address), _) => {
            let database = MariaDb::open(address).map_err(|error| refusal(&error))?;
            let name = database.database_name().to_owned();
            there(Arc::new(database), &name, &address.endpoint, watched)
        }
        (_, None) => Err(Error::usage(
            "A brokerage needs storage to run on.",
            "Name an empty directory on it with --on DIR.",
        )),
        (Target::Sqlite, Some(layout)) => file(profile, sized_database, layout, ""),
        (Target::Auto, Some(layout)) if has_file(layout) => {
            file(profile, sized_database, layout, "")
        }
        (Target::Auto, Some(layout)) => match cluster(profile, sized_database, layout, notify) {
            Ok(opened) => Ok(opened),
            Err(ClusterError::NoPrograms) => file(profile, sized_database, layout, NO_POSTGRESQL),
            Err(error) => Err(Error::environment(
                format!("{}.", units::sentence(&error)),
                "",
            )),
        },
    }
}

const NO_POSTGRESQL: &str = " No PostgreSQL was found (package postgresql), so the built-in \
                             database, SQLite, is used instead.";

/// What SQLite cannot show.
const ONE_WRITER: &str = "SQLite lets one transaction write at a time and has no server process: \
                          the I/O of concurrent writers, background checkpoints and waits of \
                          sessions are not measured. The page cache of the system is not \
                          limited: what it holds of the file is not read from the storage.";

fn there(
    database: Arc<dyn Database>,
    database_name: &str,
    endpoint: &Endpoint,
    watched: Watched<'_>,
) -> Result<Opened, Error> {
    let server = database.server().map_err(|error| refusal(&error))?;
    // A directory of a server elsewhere means nothing here.
    let is_here = match endpoint {
        Endpoint::Socket(_) => true,
        Endpoint::Tcp { host, .. } => ["localhost", "127.0.0.1", "::1"].contains(&host.as_str()),
    };
    let own = server.data_directory.clone();
    let own = own.filter(|own| is_here && own.exists());
    let data = watched.data.map(Path::to_owned).or(own);
    let name = format!("the database {database_name} at {endpoint}");
    let origin = format!("Existing server, {name}; its settings were not changed.");
    let process = match is_here {
        true => {
            let directory = server.data_directory.as_deref();
            server.process.clone().if_found(directory)
        }
        false => ServerProcess::Unknown,
    };
    let log = watched.log.map(Path::to_owned);
    // Where nothing is named, what the server says is measured.
    let log = log.or_else(|| match watched.data {
        Some(_) => None,
        None => placement::log_directory(&*database, &process),
    });
    let place = data.map(|data| Place {
        log: log.unwrap_or_else(|| data.clone()),
        data,
    });
    Ok(Opened {
        server: described(&server, &origin),
        process,
        database,
        place,
        cluster: None,
        was_there: true,
        name,
    })
}

/// How long the server of a run that was killed has to stop. It does so by itself: first it ends what its
/// sessions are doing.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Starts a server when the one that an earlier run has left there has ended; `notify` gets what is waited for.
/// No run uses that server any more: it would have its directory locked.
fn after_stop<T>(
    start: impl Fn() -> Result<T, ClusterError>,
    timeout: Duration,
    notify: &mut dyn FnMut(&str),
) -> Result<T, ClusterError> {
    let began = Instant::now();
    let mut is_notified = false;
    loop {
        match start() {
            Err(ClusterError::StillRuns { process, .. }) if began.elapsed() < timeout => {
                if !std::mem::replace(&mut is_notified, true) {
                    notify(&format!(
                        "Waiting for the PostgreSQL server of an earlier run (process {process}) to stop, {} \
                         s at most.",
                        timeout.as_secs()
                    ));
                }
                std::thread::sleep(STOP_POLL_INTERVAL);
            }
            done => return done,
        }
    }
}

fn cluster(
    profile: &BrokerageProfile,
    sized_database: &SizedDatabase,
    layout: &Layout,
    notify: &mut dyn FnMut(&str),
) -> Result<Opened, ClusterError> {
    let place = &layout.databases[0];
    let (data, log) = (place.data.path(), place.log.path());
    let brokerage = &profile.brokerage;
    let memory_bytes = memory_bytes(profile, sized_database);
    let settings = Settings {
        page_cache_bytes: Some(memory_bytes / 4),
        log_directory: (log != data).then(|| log.to_owned()),
        connections: sessions_for(brokerage.users) + SPARE_SESSIONS,
        max_wal_size_bytes: super::size::log_bytes(sized_database),
        ..Settings::with_memory(memory_bytes)
    };
    let start = || Cluster::start(&data.join("cluster"), &settings);
    let cluster = after_stop(start, STOP_TIMEOUT, notify)?;
    let unavailable = |error: DatabaseError| ClusterError::DidNotStart {
        directory: data.to_owned(),
        output: error.to_string(),
    };
    let database = cluster.database().map_err(unavailable)?;
    let server = database.server().map_err(unavailable)?;
    let origin = format!(
        "A server of its own was started on {}, with {} of memory for pages, a tenth of the data \
         or less. {}",
        layout.targets[place.data_target].given.display(),
        units::size(memory_bytes),
        cluster.page_cache_note()
    );
    Ok(Opened {
        server: described(&server, &origin),
        process: server.process,
        database: Arc::new(database),
        place: Some(Place {
            data: data.to_owned(),
            log: log.to_owned(),
        }),
        name: layout.targets[place.data_target]
            .given
            .display()
            .to_string(),
        cluster: Some(Arc::new(Mutex::new(cluster))),
        was_there: false,
    })
}

fn has_file(layout: &Layout) -> bool {
    let directory = layout.databases[0].data.path();
    Sqlite::new(directory, 0, 1).path().exists()
}

fn file(
    profile: &BrokerageProfile,
    sized_database: &SizedDatabase,
    layout: &Layout,
    why: &str,
) -> Result<Opened, Error> {
    let place = &layout.databases[0];
    let data = place.data.path();
    let users = profile.brokerage.users;
    let sessions = users + market_workers::worker_count(users);
    let database = Sqlite::new(data, memory_bytes(profile, sized_database), sessions);
    let server = database.server().map_err(|error| refusal(&error))?;
    let origin = format!(
        "A file on {}.{why} {ONE_WRITER}",
        layout.targets[place.data_target].given.display()
    );
    Ok(Opened {
        server: described(&server, &origin),
        process: server.process,
        database: Arc::new(database),
        place: Some(Place {
            data: data.to_owned(),
            log: data.to_owned(),
        }),
        name: layout.targets[place.data_target]
            .given
            .display()
            .to_string(),
        cluster: None,
        was_there: false,
    })
}

/// Memory for pages: what the profile says, and a tenth of the data at most.
fn memory_bytes(profile: &BrokerageProfile, sized_database: &SizedDatabase) -> u64 {
    let share = sized_database.bytes() as f64 * MEMORY_SHARE;
    let most = (share as u64).max(LEAST_MEMORY_BYTES);
    profile.brokerage.database.memory.bytes().min(most)
}

fn described(server: &crate::database::Server, origin: &str) -> ServerResult {
    let (name, version) = server
        .name
        .split_once(' ')
        .unwrap_or((server.name.as_str(), ""));
    ServerResult {
        name: name.to_owned(),
        version: version.to_owned(),
        connection: server.connection.clone(),
        origin: origin.trim_end().to_owned(),
        settings: server.settings.iter().cloned().collect(),
        ..ServerResult::default()
    }
}

impl Opened {
    /// Where it is, in words.
    pub fn describe(&self) -> String {
        self.name.clone()
    }

    /// Where the files of the server belong; `None` without a server, or where no storage is measured.
    pub fn placement(&self) -> Option<Placement> {
        let place = self.place.as_ref()?;
        let has_server = self.database.dialect() != Dialect::Sqlite;
        has_server.then(|| Placement {
            data: place.data.clone(),
            log: place.log.clone(),
            process: self.process.clone(),
        })
    }

    /// What is to be done when the data set is built: a server of our own then gets the little memory
    /// that it is to have.
    pub fn when_built(&self) -> Arc<dyn Fn() + Send + Sync> {
        let cluster = self.cluster.clone();
        Arc::new(move || {
            if let Some(cluster) = &cluster {
                let mut cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
                cluster.hold_page_cache();
            }
        })
    }

    /// The process whose threads the sessions are: MariaDB's, and no other server's.
    pub fn sessions_process(&self) -> ServerProcess {
        match self.database.dialect() {
            Dialect::MariaDb => self.process.clone(),
            Dialect::PostgreSql | Dialect::Sqlite => ServerProcess::Unknown,
        }
    }

    /// What is to be done while the server does not serve: one of our own that has ended is started
    /// again, as a service manager would do. If it does not come up, the next call
    /// tries once more.
    pub fn when_gone(&self) -> Arc<dyn Fn() + Send + Sync> {
        let cluster = self.cluster.clone();
        Arc::new(move || {
            if let Some(cluster) = &cluster {
                let mut cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = cluster.revive();
            }
        })
    }

    /// Ends it: stops a server of our own, and removes what was made if `remove`. Gives back what was left
    /// in its directory because somebody else has put it there.
    ///
    /// # Errors
    /// What was not removed, and what to do about it.
    pub fn close(self, remove: bool) -> Result<Vec<PathBuf>, String> {
        let left = |error: &dyn std::fmt::Display| {
            format!(
                "The brokerage in {} was not removed: {error}. See what it is before you remove it \
                 by hand.",
                self.name
            )
        };
        match &self.cluster {
            Some(cluster) => {
                let mut cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
                if remove {
                    return cluster.remove().map_err(|error| left(&error));
                }
                cluster.stop();
            }
            None if remove => self.database.remove().map_err(|error| left(&error))?,
            None => {}
        }
        Ok(Vec::new())
    }
}

/// An error of the database before the run, with its remedy.
pub fn refusal(error: &DatabaseError) -> Error {
    let message = format!("{}.", units::sentence(error));
    let help = match error {
        DatabaseError::Unavailable { .. } => {
            "See whether the server runs and whether host and port are right."
        }
        DatabaseError::Refused(_) => {
            "See whether user, password and database are right, and whether the user may create a \
             database."
        }
        DatabaseError::Unusable(_) => "",
        DatabaseError::NoSpace(_) => "Make room on its volume, or give a smaller --target-size.",
        DatabaseError::Damaged(_) => "Look at the server's log, and at 'dmesg' for I/O errors.",
        DatabaseError::ServerSide { .. }
        | DatabaseError::Conflict(_)
        | DatabaseError::Failed { .. } => "Look at the server's log for the reason.",
    };
    Error::environment(message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_an_earlier_run_has_time_to_stop() {
        let running = || ClusterError::StillRuns {
            process: 7,
            directory: PathBuf::from("/mnt/a"),
        };
        let (left, mut said) = (std::cell::Cell::new(2), Vec::new());
        let start = || match left.replace(left.get() - 1) {
            0 => Ok("started"),
            _ => Err(running()),
        };
        let long = Duration::from_secs(600);
        let started = after_stop(start, long, &mut |text| said.push(text.to_owned()));
        assert_eq!(started.unwrap(), "started");
        assert!(said.len() == 1 && said[0].contains("process 7"), "{said:?}");
        // It is not waited for without end.
        let never = || Err::<(), _>(running());
        let refused = after_stop(never, Duration::ZERO, &mut |_| {}).unwrap_err();
        assert!(refused.to_string().contains("try again"), "{refused}");
        let other = || Err::<(), _>(ClusterError::NoPrograms);
        let refused = after_stop(other, long, &mut |text| panic!("{text}"));
        assert!(matches!(refused, Err(ClusterError::NoPrograms)));
    }

    #[test]
    fn loading_takes_no_more_sessions_than_the_run() {
        for users in [1, 2, 8, 30, 5_000] {
            for processors in [1, 2, 4, 64, 512] {
                let loaders = loaders_of(processors, users);
                assert!(
                    (2..=MOST_LOADERS).contains(&loaders),
                    "{users} {processors}"
                );
                assert!(
                    loaders <= sessions_for(users) as usize,
                    "{users} {processors}"
                );
            }
        }
        assert_eq!(
            (loaders_of(4, 30), loaders_of(64, 30), loaders_of(64, 1)),
            (4, 16, 8)
        );
    }
}
