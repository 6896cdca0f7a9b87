//! What a server does by itself is named as such.

use super::{Load, acknowledged, copies};
use crate::common;
use brokerage::database::postgres::Postgres;
use brokerage::database::{Database, Endpoint};
use measure::result::{ErrorKind, RunResult, Verdict};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Settings of a role that a run must not depend on.
const UNSUITABLE: &str = "ALTER ROLE ALL SET statement_timeout = '20ms'; \
     ALTER ROLE ALL SET lock_timeout = '1ms'; \
     ALTER ROLE ALL SET default_transaction_read_only = 'on'; \
     ALTER ROLE ALL SET search_path = ''";

#[test]
fn sessions_have_settings_of_their_own() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    common::build(&postgres);
    postgres.connect_for_sql().unwrap().ask(UNSUITABLE).unwrap();
    let mut connection = postgres.connect_for_sql().unwrap();
    for (sql, value) in [
        ("SHOW statement_timeout", "0"),
        ("SHOW lock_timeout", "0"),
        ("SHOW default_transaction_read_only", "off"),
        ("SHOW search_path", "\"$user\", public"),
    ] {
        let shown = connection.ask(sql).unwrap();
        assert_eq!(shown[0][0].as_deref(), Some(value), "{sql}");
    }
    connection.ask("SELECT pg_sleep(0.1)").unwrap();
    assert!(!postgres.tables_and_indexes().unwrap().is_empty());
}

#[test]
fn keys_of_another_client_make_a_run_inconclusive() {
    let room = common::room();
    let Some(cluster) = copies::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let mut other = postgres.connect_for_sql().unwrap();
    let load = Load::start(Arc::new(postgres));
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    // The ids that the users would take next.
    let taken = other.ask(
        "INSERT INTO trade SELECT last.id + next, t.entered_at, 5, t.trade_type_id, t.is_cash, \
         t.symbol, t.quantity, t.bid_price_cents, t.account_id, t.executor_name, NULL, 0, 0, 0, 0 \
         FROM (SELECT MAX(id) AS id FROM trade GROUP BY id / 4294967296) last, \
         generate_series(1, 2000) next, (SELECT * FROM trade ORDER BY id LIMIT 1) t \
         ON CONFLICT DO NOTHING",
    );
    taken.unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let result = load.end();
    // The run ends early, and names whose keys they are; the rows of the other client are found.
    assert!(!result.errors.is_empty(), "{}", result.verdict_reason);
    assert_eq!(result.errors[0].kind, ErrorKind::ServerSide);
    assert_ne!(result.verdict, Verdict::Pass);
    let work = result.server.as_ref().unwrap().acknowledged.as_ref();
    assert!(work.unwrap().unexpected_orders > 0);
}

/// A query that is sent once before the load and once in each attempt of the checks after it.
const VOLUMES: &str = "SELECT symbol, volume FROM last_trade";

/// The same of the checks of the rows that an earlier run has left.
const AT_REST: &str = "SELECT status_id, COUNT(*) FROM trade WHERE id > ";

/// When a server gets SIGKILL: instead of a query of all connections.
#[derive(Clone, Copy)]
struct Moment {
    query: &'static str,
    /// How often it was sent before.
    after: u32,
}

/// Forwards bytes from a client to the server and back, until the moment.
fn forward(
    client: UnixStream,
    server: UnixStream,
    moment: Moment,
    seen: &Arc<AtomicU32>,
    process: u32,
) {
    let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (mut from_client, mut to_server) = ends;
    let seen = Arc::clone(seen);
    std::thread::spawn(move || {
        let query = moment.query.as_bytes();
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_client.read(&mut buffer) {
            let sent = &buffer[..length];
            let is_query = sent.windows(query.len()).any(|bytes| bytes == query);
            if is_query && seen.fetch_add(1, Ordering::Relaxed) == moment.after {
                let kill = Command::new("kill")
                    .args(["-KILL", &process.to_string()])
                    .status();
                assert!(kill.unwrap().success());
            } else if to_server.write_all(sent).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let (mut from_server, mut to_client) = (server, client);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
}

/// Listens before the server's socket for as long as the test program runs.
fn listen(
    listener: UnixListener,
    socket: PathBuf,
    moment: Moment,
    seen: Arc<AtomicU32>,
    process: u32,
) {
    std::thread::spawn(move || {
        for client in listener.incoming() {
            // Clients of a server that is down are refused.
            if let (Ok(client), Ok(server)) = (client, UnixStream::connect(&socket)) {
                forward(client, server, moment, &seen, process);
            }
        }
    });
}

/// A run on a server that is killed at this moment and started again; its result, and how often the query was
/// sent. `None` where there is no PostgreSQL.
fn killed_at(moment: Moment) -> Option<(RunResult, u32)> {
    let room = common::room();
    let cluster = copies::cluster(&room)?;
    let mut address = cluster.address();
    let Endpoint::Socket(socket) = address.endpoint.clone() else {
        panic!("a socket");
    };
    let before = room.path().join("before");
    let seen = Arc::new(AtomicU32::new(0));
    let process = cluster.process_id().unwrap();
    let listener = UnixListener::bind(&before).unwrap();
    listen(listener, socket, moment, Arc::clone(&seen), process);
    address.endpoint = Endpoint::Socket(before);
    let postgres = Postgres::open(&address).unwrap();
    let cluster = Arc::new(Mutex::new(cluster));
    let of_run = Arc::clone(&cluster);
    let revive = Arc::new(move || {
        let _ = of_run.lock().unwrap().revive();
    });
    let load = Load::with(Arc::new(postgres), revive);
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    let result = load.end();
    assert_ne!(cluster.lock().unwrap().process_id(), Some(process));
    Some((result, seen.load(Ordering::Relaxed)))
}

#[test]
fn a_server_that_is_killed_around_the_load_is_started_again_and_checked() {
    for (query, after, sent, doing) in [
        (AT_REST, 0, 3, "while the kept data were checked"),
        (VOLUMES, 0, 3, "while the database was opened"),
        (VOLUMES, 1, 3, "while the data were checked"),
    ] {
        let Some((result, seen)) = killed_at(Moment { query, after }) else {
            return;
        };
        // What it was killed in was done again from the beginning.
        assert_eq!(seen, sent, "{doing}");
        assert_eq!((&result.errors[..], result.error_count()), (&[][..], 0));
        assert_eq!(result.verdict, Verdict::Interrupted, "{doing}");
        let work = acknowledged(&result);
        assert!(work.orders > 0 && work.not_compared.is_none(), "{work:?}");
        let server = result.server.as_ref().unwrap();
        let checks = &server.consistency_checks;
        assert!(!checks.is_empty() && checks.iter().all(|check| check.passed));
        assert_eq!(server.checked_rows.len(), 2, "{:?}", server.checked_rows);
        let mut warned = result.warnings.iter().filter(|text| text.contains(doing));
        assert!(warned.next().is_some(), "{doing}: {:?}", result.warnings);
    }
}

/// Whoever may not ask for the data directory finds it by the process of the session.
#[test]
fn an_ordinary_user_knows_the_processes_of_a_server_on_this_machine() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    common::build(&postgres);
    let mut administrator = postgres.connect_for_sql().unwrap();
    administrator.ask("CREATE ROLE ordinary LOGIN").unwrap();
    let mut address = cluster.address();
    address.user = "ordinary".to_owned();
    let ordinary = Postgres::open(&address).unwrap();
    let refused = ordinary
        .connect_for_sql()
        .unwrap()
        .ask("SHOW data_directory");
    assert!(refused.is_err(), "{refused:?}");
    let (seen, known) = (ordinary.server().unwrap(), postgres.server().unwrap());
    assert_eq!(seen.data_directory, Some(cluster.data_directory()));
    assert_eq!(seen.process, known.process);
}
