//! Servers that are not what they should be: silent, sending garbage, far away, or full.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use crate::common;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use brokerage::database::postgres::{Cluster, Postgres};
use brokerage::database::sqlite::Sqlite;
use brokerage::database::{Address, Build, Database, Endpoint, TlsSettings, mariadb, postgres};
use brokerage::error::DatabaseError;
use brokerage::schema::TableName;
use rand::{RngExt, SeedableRng};

fn address(endpoint: Endpoint) -> Address {
    Address {
        user: "ann".to_owned(),
        password: Some(brokerage::database::Secret::new("hush".to_owned())),
        endpoint,
        database: None,
        tls: TlsSettings::default(),
    }
}

/// The errors of both kinds of clients.
fn try_both(address: &Address, timeout: Duration) -> [DatabaseError; 2] {
    let one = postgres::Connection::session(address, "postgres", timeout).err();
    let other = mariadb::Connection::open(address, None, timeout).err();
    [one.unwrap(), other.unwrap()]
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    let room = common::room();
    let socket = room.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let started = Instant::now();
    for error in try_both(
        &address(Endpoint::Socket(socket)),
        Duration::from_millis(50),
    ) {
        let is_reported = matches!(&error, DatabaseError::Unavailable { message: why, .. } if why.contains("in time"));
        assert!(is_reported, "{error:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(30));
    let nobody = address(Endpoint::Socket(room.path().join("nobody")));
    for error in try_both(&nobody, Duration::from_secs(1)) {
        assert!(
            matches!(error, DatabaseError::Unavailable { .. }),
            "{error:?}"
        );
    }
}

/// The beginnings of real greetings, truncated and garbled.
fn babble(rng: &mut rand_xoshiro::Xoshiro256PlusPlus) -> Vec<u8> {
    let greetings: [&[u8]; 5] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"R\0\0\0\x08\0\0\0\0S\0\0\0\x16server_version\x0018\0Z\0\0\0\x05I",
        b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0R\0\0\0\x0c\0\0\0\x0babcd",
        b"\x37\0\0\0\x0a11.4.2-MariaDB\0\x01\0\0\0abcdefgh\0\xff\xff\x2d\x02\0\xff\xff\x15\
          \0\0\0\0\0\0\0\0\0\0abcdefghijkl\0mysql_native_password\0\x07\0\0\x02\0\0\0\x02\0\0\0",
        b"\x10\0\0\0\xff\x10\x04#08004Too many connections",
    ];
    let mut said = greetings[rng.random_range(0..greetings.len())].to_vec();
    for _ in 0..rng.random_range(0..4) {
        let at = rng.random_range(0..said.len());
        said[at] = rng.random();
    }
    said.truncate(rng.random_range(0..=said.len()));
    said
}

#[test]
fn a_server_that_babbles_is_an_error_and_no_more() {
    let room = common::room();
    let socket = room.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let address = address(Endpoint::Socket(socket));
    for seed in 0..300 {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        let said = babble(&mut rng);
        println!("seed {seed}: {said:?}");
        std::thread::scope(|scope| {
            let listener = &listener;
            scope.spawn(move || {
                for _ in 0..2 {
                    let (mut client, _) = listener.accept().unwrap();
                    // The client may have gone before all of it is sent.
                    let _ = client.write_all(&said);
                    let _ = client.shutdown(std::net::Shutdown::Write);
                    let _ = client.read_to_end(&mut Vec::new());
                }
            });
            // What the last greeting admits fails at its first query.
            let _ = try_both(&address, Duration::from_millis(500));
        });
    }
}

#[test]
fn another_or_an_old_server_is_reported_with_the_remedy() {
    let room = common::room();
    let socket = room.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let address = address(Endpoint::Socket(socket));
    let refused_by = |said: &[u8]| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut client, _) = listener.accept().unwrap();
                client.write_all(said).unwrap();
                let _ = client.read_to_end(&mut Vec::new());
            });
            let session = postgres::Connection::open(&address, "postgres", Duration::from_secs(5));
            session.err().unwrap().to_string()
        })
    };
    let other = refused_by(b"\x5a\0\0\0\x0a11.4.2-MariaDB\0\x01\0\0\0abcdefgh\0\xff\xff");
    assert!(
        other.contains("is not PostgreSQL") && other.contains("mariadb://"),
        "{other}"
    );
    let old = refused_by(b"R\0\0\0\x08\0\0\0\0S\0\0\0\x16server_version\x0012\0Z\0\0\0\x05I");
    assert!(old.contains("12 is too old: use version 13"), "{old}");
}

/// Forwards bytes between a TCP port and a Unix socket, for as long as the test program runs.
fn forward(listener: TcpListener, socket: PathBuf) {
    std::thread::spawn(move || {
        for tcp in listener.incoming() {
            let (tcp, unix) = (tcp.unwrap(), UnixStream::connect(&socket).unwrap());
            let (tcp_in, unix_in) = (tcp.try_clone().unwrap(), unix.try_clone().unwrap());
            std::thread::spawn(move || copy(tcp_in, unix));
            std::thread::spawn(move || copy(unix_in, tcp));
        }
    });
}

/// Copies bytes to the end of a connection, and ends the other.
fn copy<R, W>(mut from: R, mut to: W)
where
    R: Read,
    W: Write + AsFd,
{
    let _ = std::io::copy(&mut from, &mut to);
    let _ = rustix::net::shutdown(to, rustix::net::Shutdown::Write);
}

#[test]
fn a_server_is_reached_over_tcp() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let mut address = cluster.address();
    let Endpoint::Socket(socket) = address.endpoint.clone() else {
        panic!("a socket");
    };
    let listener = TcpListener::bind("localhost:0").unwrap();
    address.endpoint = Endpoint::Tcp {
        host: "localhost".to_owned(),
        port: listener.local_addr().unwrap().port(),
    };
    forward(listener, socket);
    let postgres = Postgres::open(&address).unwrap();
    assert!(postgres.server().unwrap().name.starts_with("PostgreSQL"));
}

/// Loads until an error, which is to be a full volume.
fn fill(database: &dyn Database) -> DatabaseError {
    let mut loader = database.loader().unwrap();
    // Texts that do not compress.
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let letters = (0..20_000).map(|_| char::from(rng.random_range(b' '..b'~')));
    let long: String = letters.collect();
    loader.begin(TableName::NewsItem).unwrap();
    for number in 0..20_000 {
        for column in TableName::NewsItem.table().columns {
            match column.of {
                brokerage::schema::Type::Long => loader.text(&long),
                brokerage::schema::Type::Text(_) => loader.text("t"),
                _ => loader.integer(number),
            }
        }
        if let Err(error) = loader.end_row() {
            return error;
        }
    }
    loader.end().unwrap_err()
}

#[test]
fn a_full_volume_is_called_full() {
    let room = common::room();
    let on = room.path().join("small");
    let Some(_volume) = common::Small::mount(&on, "size=8m") else {
        return;
    };
    let sqlite = Sqlite::new(&on, 1 << 20, 1);
    sqlite.create(&Build::new(1000, 2, 1)).unwrap();
    let error = fill(&sqlite);
    assert!(matches!(error, DatabaseError::NoSpace(_)), "{error:?}");
    sqlite.remove().unwrap();

    let on = room.path().join("larger");
    let Some(_volume) = common::Small::mount(&on, "size=160m") else {
        return;
    };
    if common::cluster(&room).is_none() {
        return;
    }
    let mut settings = common::settings();
    // The log has to fit, or it is the first to find the volume full, which a server does not
    // survive.
    settings.max_wal_size_bytes = 32 << 20;
    let cluster = Cluster::start(&on.join("server"), &settings).unwrap();
    let postgres = cluster.database().unwrap();
    postgres.create(&Build::new(1000, 2, 1)).unwrap();
    let error = fill(&postgres);
    let is_reported = matches!(
        error,
        DatabaseError::NoSpace(_) | DatabaseError::Unavailable { .. }
    );
    assert!(is_reported, "{error:?}");
    println!("{error}");
}
