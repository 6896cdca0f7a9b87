//! The server of NBD beside a flat model, and under clients that do not keep to the protocol.

mod client;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use array::VolumeId;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serve::nbd::{Address, ListenError, Listener, NbdServer};
use serve::{LiveArray, ServedVolume};

use client::{
    BLOCK_STATUS, Client, FAST_ZERO, FLUSH, FUA, NO_HOLE, READ, TRIM, WRITE, WRITE_ZEROES, Wanted,
};

/// Fast disks below a pool with pages of 64 KiB, and a group without a pool.
const ARRAY: &str = r#"
title = "Small"

[controllers]
count = 1
ports_per_controller = 1
port = { rate_mb_per_s = 10000 }
service = { read_us = 1, write_us = 1 }

[cache]
capacity_mib = 1
line_kib = 4
mirror = false
dirty_limit_percent = 50
destage = { age_ms = 5, high_watermark_percent = 80, low_watermark_percent = 60, idle_ms = 1, in_flight = 8 }

[disks.plain]
title = "Plain"
[disks.plain.ideal]
capacity_bytes = 16_777_216
service_us = 20
distribution = "exponential"
servers = 4

[[backend.disk_group]]
name = "pooled"
disk = "plain"
disks = 3
level = "raid5"
chunk_kib = 16

[[backend.disk_group]]
name = "alone"
disk = "plain"
disks = 1
level = "linear"

[pools.pool]
page_size_kib = 64
groups = [{ group = "pooled", tier = "performance" }]
tiering = { policy = "off" }

[[volumes]]
name = "thin"
pool = "pool"
capacity_mib = 8

[[volumes]]
name = "thick"
group = "alone"
capacity_mib = 8
"#;

const SIZE_BYTES: u64 = 8 << 20;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const ENOTSUP: u32 = 95;

/// An array that is served at a socket of its own.
struct Served {
    array: LiveArray,
    server: NbdServer,
    socket: PathBuf,
    _directory: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        Self::start_array(ARRAY)
    }

    fn start_array(text: &str) -> Self {
        let settings = config::from_toml(text).expect("valid settings");
        let array = LiveArray::start(settings, 1, None, Box::new(|_, _| {})).expect("an array");
        let directory = tempfile::tempdir().expect("a directory");
        let socket = directory.path().join("socket");
        let listener = listen(&socket).expect("a socket");
        let volumes = ["thin", "thick"].iter().enumerate();
        let volumes = volumes.map(|(number, name)| ServedVolume {
            id: VolumeId(number as u16),
            name: (*name).to_owned(),
            size_bytes: SIZE_BYTES,
            trim_bytes: None,
        });
        let server = NbdServer::start(listener, array.client(), volumes.collect(), "Small", None);
        Self {
            array,
            server: server.expect("a server"),
            socket,
            _directory: directory,
        }
    }

    fn client(&self, export: &str, structured: bool) -> Client {
        Client::connect(&self.socket, export, structured)
    }

    /// Whether it still serves.
    fn is_sound(&self) -> bool {
        let read = wanted(READ, 0, 0, 512);
        self.client("thick", true).ask(read, &[]).is_ok()
    }

    /// Ends it; how many reads it has answered.
    fn end(self) -> u64 {
        drop(self.server);
        let at_the_end = self.array.stop();
        assert!(!self.socket.exists(), "the socket is removed");
        at_the_end.reads.count()
    }
}

fn listen(socket: &Path) -> Result<Listener, ListenError> {
    Listener::bind(&Address::Unix(socket.to_owned()), false)
}

fn wanted(kind: u16, flags: u16, offset: u64, length: u32) -> Wanted {
    Wanted {
        kind,
        flags,
        offset,
        length,
    }
}

/// Lengths and states of a reply about space.
fn stretches(reply: &[u8]) -> Vec<(u32, u32)> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    let pairs = reply.chunks_exact(8);
    pairs
        .map(|pair| (number(&pair[..4]), number(&pair[4..])))
        .collect()
}

#[test]
fn clients_find_what_a_flat_model_has() {
    let seed = std::env::var("PROOFLOAD_NBD_SEED").map_or(1, |seed| seed.parse().expect("a seed"));
    let served = Served::start();
    for (export, structured) in [("thin", true), ("thin", false), ("thick", true)] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut clients = [true, false].map(|other| served.client(export, structured == other));
        let mut model = vec![0; SIZE_BYTES as usize];
        let all = wanted(WRITE_ZEROES, 0, 0, SIZE_BYTES as u32);
        clients[0].ask(all, &[]).expect("zeros");
        for turn in 0..400 {
            let client = &mut clients[random.random_range(0..2)];
            one_turn(
                &mut random,
                client,
                &mut model,
                &format!("{export}, seed {seed}, turn {turn}"),
            );
        }
        let read = wanted(READ, 0, 0, SIZE_BYTES as u32);
        assert!(
            clients[1].ask(read, &[]).expect("all of it") == model,
            "{export}, seed {seed}"
        );
    }
    served.end();
}

fn one_turn(random: &mut Xoshiro256PlusPlus, client: &mut Client, model: &mut [u8], context: &str) {
    let most = [64, 5_000, 300_000][random.random_range(0..3)];
    let (mut offset, mut length) = (
        random.random_range(0..SIZE_BYTES - most),
        random.random_range(1..=most),
    );
    if random.random_bool(0.6) {
        offset = offset / 512 * 512;
        length = length.next_multiple_of(512).min(SIZE_BYTES - offset);
    }
    if random.random_bool(0.2) {
        offset = offset / 65_536 * 65_536;
        length = length.next_multiple_of(65_536).min(SIZE_BYTES - offset);
    }
    let stretch = &mut model[offset as usize..(offset + length) as usize];
    let fua = if random.random_bool(0.1) { FUA } else { 0 };
    let request = |kind, flags| wanted(kind, flags, offset, length as u32);
    match random.random_range(0..10) {
        0..4 => {
            let found = client.ask(request(READ, 0), &[]).expect("data");
            assert!(found == stretch, "{context}");
        }
        4..7 => {
            random.fill(stretch);
            client.ask(request(WRITE, fua), stretch).expect("written");
        }
        7 => {
            let flags = [0, NO_HOLE, FAST_ZERO, NO_HOLE | FAST_ZERO][random.random_range(0..4)];
            match client.ask(request(WRITE_ZEROES, flags | fua), &[]) {
                Ok(_) => stretch.fill(0),
                Err(error) => assert!(error == ENOTSUP && flags & FAST_ZERO != 0, "{context}"),
            }
        }
        8 => {
            client.ask(request(TRIM, fua), &[]).expect("trimmed");
            // Whatever is there now stays: each byte is what it was, or zero.
            let found = client.ask(request(READ, 0), &[]).expect("data");
            let mut both = found.iter().zip(stretch.iter());
            assert!(both.all(|(&is, &was)| is == was || is == 0), "{context}");
            stretch.copy_from_slice(&found);
        }
        _ => {
            client.ask(wanted(FLUSH, 0, 0, 0), &[]).expect("flushed");
        }
    }
}

#[test]
fn what_has_no_space_is_known_and_zeros_are_fast_where_pages_are_given_back() {
    const PAGE: u32 = 65_536;
    let served = Served::start();
    let mut thin = served.client("thin", true);
    let mut status = |offset: u64, length: u32| {
        let reply = thin.ask(wanted(BLOCK_STATUS, 0, offset, length), &[]);
        stretches(&reply.expect("stretches"))
    };
    assert_eq!(status(0, 8 << 20), [(8 << 20, 3)]);
    let mut other = served.client("thin", true);
    let written = wanted(WRITE, 0, u64::from(PAGE) + 100, 10);
    other.ask(written, &[1; 10]).expect("written");
    assert_eq!(status(0, 3 * PAGE), [(PAGE, 3), (PAGE, 0), (PAGE, 3)]);
    assert_eq!(status(100, PAGE), [(PAGE - 100, 3), (100, 0)]);
    let all = wanted(WRITE_ZEROES, FAST_ZERO, 0, 3 * PAGE);
    assert_eq!(other.ask(all, &[]), Ok(Vec::new()));
    assert_eq!(status(0, 3 * PAGE), [(3 * PAGE, 3)]);
    let some = wanted(WRITE_ZEROES, FAST_ZERO, 0, PAGE + 512);
    assert_eq!(other.ask(some, &[]), Err(ENOTSUP));
    let kept = wanted(WRITE_ZEROES, NO_HOLE, 0, PAGE);
    assert_eq!(other.ask(kept, &[]), Ok(Vec::new()));
    assert_eq!(status(0, 2 * PAGE), [(PAGE, 0), (PAGE, 3)]);
    let mut thick = served.client("thick", true);
    let status = wanted(BLOCK_STATUS, 0, 0, 8 << 20);
    let reply = thick.ask(status, &[]).expect("stretches");
    assert_eq!(stretches(&reply), [(8 << 20, 0)]);
    assert_eq!(thick.ask(all, &[]), Err(ENOTSUP));
    // Whoever has not chosen the context in the handshake cannot ask.
    assert_eq!(served.client("thin", false).ask(status, &[]), Err(EINVAL));
    served.end();
}

#[test]
fn requests_beyond_the_end_fail_and_the_connection_goes_on() {
    let served = Served::start();
    for structured in [true, false] {
        let mut client = served.client("thin", structured);
        let end = SIZE_BYTES - 512;
        assert_eq!(client.ask(wanted(READ, 0, end, 513), &[]), Err(EINVAL));
        assert_eq!(
            client.ask(wanted(WRITE, 0, end, 513), &[1; 513]),
            Err(ENOSPC)
        );
        assert_eq!(client.ask(wanted(TRIM, 0, u64::MAX, 2), &[]), Err(EINVAL));
        assert_eq!(client.ask(wanted(99, 0, 0, 0), &[]), Err(EINVAL));
        let last = client.ask(wanted(READ, 0, end, 512), &[]);
        assert_eq!(last, Ok(vec![0; 512]));
    }
    served.end();
}

#[test]
fn a_client_that_does_not_take_its_replies_holds_up_nobody_else() {
    let served = Served::start();
    let mut slow = served.client("thin", true);
    let limit = Some(Duration::from_millis(200));
    slow.stream.set_write_timeout(limit).expect("a limit");
    // Far more data than sockets and the server hold: the server takes no more requests at some point.
    let asked = (0..1 << 20).take_while(|&cookie| {
        let read = wanted(READ, 0, 0, 4 << 20);
        slow.send(cookie, read, &[]).is_ok()
    });
    let asked = asked.count();
    assert!((8..1 << 20).contains(&asked), "{asked}");
    assert!(served.is_sound());
    // What it has asked for is there when it goes on.
    let (_, answer) = slow.reply(|_| 4 << 20).expect("a reply");
    assert_eq!(answer.expect("data").len(), 4 << 20);
    // What was received and not begun is not begun any more.
    let answered = served.end();
    assert!(answered < asked as u64, "{answered} of {asked}");
}

#[test]
fn bad_clients_lose_their_connection_and_nothing_else_happens() {
    let served = Served::start();
    // An option that is too long, a request that is too long, and one that is none.
    let mut stream = Client::greeted(&served.socket);
    stream
        .write_all(b"IHAVEOPT\0\0\0\x07\0\x10\0\0")
        .expect("it");
    assert!(Client::is_ended(&mut stream));
    let mut client = served.client("thin", true);
    let long = wanted(WRITE, 0, 0, (32 << 20) + 1);
    client.send(1, long, &[]).expect("a request");
    assert!(Client::is_ended(&mut client.stream));
    let mut client = served.client("thin", true);
    client.stream.write_all(&[0; 28]).expect("zeros");
    assert!(Client::is_ended(&mut client.stream));
    // One that goes away within a payload.
    let mut client = served.client("thin", true);
    let large = wanted(WRITE, 0, 0, 32 << 20);
    client.send(1, large, &[1; 1000]).expect("a beginning");
    drop(client);
    // Bytes by chance, behind all of a handshake or none.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for turn in 0..100 {
        let mut bytes = vec![0; random.random_range(1..300)];
        random.fill(&mut bytes[..]);
        let mut stream = match turn % 2 {
            0 => Client::greeted(&served.socket),
            _ => served.client("thin", true).stream,
        };
        // It may be closed before all of them are sent.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(Client::is_ended(&mut stream), "{turn}");
    }
    assert!(served.is_sound());
    served.end();
}

#[test]
fn too_many_connections_are_closed_and_others_come_later() {
    let served = Served::start();
    let open: Vec<Client> = (0..64).map(|_| served.client("thin", true)).collect();
    let mut one_more = std::os::unix::net::UnixStream::connect(&served.socket).expect("a socket");
    assert!(Client::is_ended(&mut one_more));
    drop(open);
    while std::os::unix::net::UnixStream::connect(&served.socket)
        .map(|mut stream| std::io::Read::read(&mut stream, &mut [0]).unwrap_or(0) == 0)
        .expect("a socket")
    {
        thread::sleep(Duration::from_millis(1));
    }
    served.end();
}

#[test]
fn several_connections_at_once_lose_nothing() {
    let served = Served::start();
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        for number in 0..4_u8 {
            let (served, done) = (&served, &done);
            scope.spawn(move || {
                let mut client = served.client("thin", number % 2 == 0);
                let part = SIZE_BYTES / 4;
                let at = |cookie: u64| u64::from(number) * part + cookie * 4096;
                for cookie in 0..128 {
                    let data = vec![number ^ cookie as u8; 4096];
                    let write = wanted(WRITE, 0, at(cookie), 4096);
                    client.send(cookie, write, &data).expect("a request");
                }
                for _ in 0..128 {
                    let (_, answer) = client.reply(|_| 0).expect("a reply");
                    answer.expect("written");
                }
                for cookie in 0..128 {
                    let read = wanted(READ, 0, at(cookie), 4096);
                    client.send(cookie, read, &[]).expect("a request");
                }
                for _ in 0..128 {
                    let (cookie, answer) = client.reply(|_| 4096).expect("a reply");
                    assert_eq!(answer, Ok(vec![number ^ cookie as u8; 4096]));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 512);
    served.end();
}

#[test]
fn an_array_that_stops_answers_what_is_under_way() {
    let served = Served::start_array(&ARRAY.replace("service_us = 20", "service_us = 300000"));
    let mut client = served.client("thick", true);
    client
        .send(1, wanted(READ, 0, 0, 512), &[])
        .expect("a request");
    // A request that was answered follows one that was taken.
    let mut other = served.client("thin", true);
    other.ask(wanted(FLUSH, 0, 0, 0), &[]).expect("flushed");
    let (array, server) = (served.array, served.server);
    let (stopped, stops) = std::sync::mpsc::channel();
    thread::spawn(move || drop(stopped.send(array.stop())));
    let (_, answer) = client.reply(|_| 512).expect("a reply");
    assert_eq!(answer, Ok(vec![0; 512]));
    let limit = Duration::from_secs(60);
    let at_the_end = stops.recv_timeout(limit).expect("it stops");
    assert_eq!(at_the_end.reads.count(), 1);
    // What comes later fails, and nobody waits for it.
    let late = client.ask(wanted(READ, 0, 0, 512), &[]);
    assert!(late.is_err(), "{late:?}");
    drop(server);
}

#[test]
fn a_socket_of_a_dead_server_is_replaced_and_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("socket");
    let first = listen(&socket).expect("a socket");
    assert!(matches!(listen(&socket), Err(ListenError::InUse(_))));
    drop(first);
    assert!(!socket.exists());
    drop(std::os::unix::net::UnixListener::bind(&socket).expect("a socket"));
    assert!(socket.exists(), "as a killed server leaves it");
    let second = listen(&socket).expect("it is replaced");
    // What has come in its place is not removed.
    std::fs::remove_file(&socket).expect("removed");
    std::fs::write(&socket, "mine").expect("a file");
    drop(second);
    assert!(matches!(listen(&socket), Err(ListenError::NoSocket(_))));
    assert_eq!(std::fs::read_to_string(&socket).expect("a file"), "mine");
}

#[test]
fn addresses_that_other_machines_reach_need_encryption() {
    let bind = |text: &str, encrypted| {
        let address = Address::parse(text).expect("an address");
        Listener::bind(&address, encrypted)
    };
    for exposed in ["0.0.0.0:0", "[::]:0"] {
        let refused = bind(exposed, false).expect_err("refused");
        assert!(matches!(refused, ListenError::Exposed(_)), "{refused}");
    }
    let first = bind("127.0.0.1:0", false).expect("a port");
    let port = first.port().expect("a port");
    let again = bind(&format!("127.0.0.1:{port}"), false);
    assert!(matches!(again, Err(ListenError::InUse(_))));
    assert!(bind("0.0.0.0:0", true).is_ok());
    for none in [
        "",
        "unix:",
        "host",
        ":10809",
        "host:",
        "host:port",
        "host:65536",
    ] {
        assert_eq!(Address::parse(none), None, "{none}");
    }
}
