//! A run and its witness over a real connection: what is delivered, and what happens when either side is
//! lost, silent or knows another secret.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use witness::{Client, Record, RunId, Secret, Server, WitnessError, fetch};

const LIMIT: Duration = Duration::from_secs(60);

fn secret() -> Secret {
    Secret::new(b"a secret of the tests").unwrap()
}

fn other_secret() -> Secret {
    Secret::new(b"a secret of somebody else").unwrap()
}

/// A witness on a thread of its own, which ends with the process.
fn serve(directory: &Path) -> SocketAddr {
    let server = Server::bind("127.0.0.1:0", secret(), directory, |_| {}).unwrap();
    let address = server.address().unwrap();
    thread::spawn(move || server.serve());
    address
}

fn record(number: u64) -> Record {
    Record {
        kind: 1,
        database: 0,
        time_ms: 0,
        position: number,
        hash: number * 3,
    }
}

/// Passes bytes on between clients and a witness, until it is cut; then it can be joined again.
struct Link {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Link {
    fn to(witness: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_cut = Arc::new(AtomicBool::new(false));
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (cut, streams) = (Arc::clone(&is_cut), Arc::clone(&open));
        thread::spawn(move || {
            for here in listener.incoming() {
                let here = here.unwrap();
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let there = TcpStream::connect(witness).unwrap();
                let mut open = streams.lock().unwrap();
                for (mut from, mut to) in [
                    (here.try_clone().unwrap(), there.try_clone().unwrap()),
                    (there.try_clone().unwrap(), here.try_clone().unwrap()),
                ] {
                    thread::spawn(move || std::io::copy(&mut from, &mut to));
                }
                open.extend([here, there]);
            }
        });
        Self {
            address,
            is_cut,
            open,
        }
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    fn join(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_sent_is_acknowledged_and_fetched() {
    let directory = tempfile::tempdir().unwrap();
    let address = serve(directory.path()).to_string();
    let client = Client::connect(&address, &secret()).unwrap();
    let run = client.run();
    client.sender().send(Record::fact(0, 0, 5, 6));
    let senders: Vec<_> = (0..4_u64)
        .map(|part| {
            let sender = client.sender();
            thread::spawn(move || {
                for number in 0..5_000 {
                    sender.send(record(part * 5_000 + number));
                }
            })
        })
        .collect();
    senders.into_iter().for_each(|one| one.join().unwrap());
    let delivery = client.finish(LIMIT);
    assert_eq!((delivery.acknowledged, delivery.missed), (20_000, 0));
    assert_eq!((delivery.interruptions, delivery.last_error), (0, None));
    let fetched = fetch(&address, &secret(), run).unwrap().records;
    assert_eq!(fetched[0], Record::fact(0, 0, 5, 6));
    let mut numbers: Vec<u64> = fetched[1..].iter().map(|one| one.position).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..20_000));
}

#[test]
fn a_run_that_the_witness_does_not_know_is_said_to_be_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let address = serve(directory.path()).to_string();
    let error = fetch(&address, &secret(), RunId([1; 16])).unwrap_err();
    assert!(matches!(error, WitnessError::UnknownRun(_)), "{error}");
}

#[test]
fn another_secret_is_refused_on_either_side() {
    let directory = tempfile::tempdir().unwrap();
    let address = serve(directory.path()).to_string();
    let refused = Client::connect(&address, &other_secret()).err().unwrap();
    assert!(matches!(refused, WitnessError::WrongSecret), "{refused}");
    let refused = fetch(&address, &other_secret(), RunId([1; 16])).unwrap_err();
    assert!(matches!(refused, WitnessError::WrongSecret), "{refused}");
    assert!(
        std::fs::read_dir(directory.path())
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn a_lost_connection_is_made_again_and_nothing_is_sent_twice() {
    let directory = tempfile::tempdir().unwrap();
    let link = Link::to(serve(directory.path()));
    let client = Client::connect(&link.address.to_string(), &secret()).unwrap();
    let (sender, run) = (client.sender(), client.run());
    let mut sent = 0;
    for _ in 0..3 {
        (0..3_000).for_each(|number| sender.send(record(sent + number)));
        sent += 3_000;
        link.cut();
        (0..3_000).for_each(|number| sender.send(record(sent + number)));
        sent += 3_000;
        link.join();
        wait_until(|| client.delivery().acknowledged == sent);
    }
    let delivery = client.finish(LIMIT);
    assert_eq!((delivery.acknowledged, delivery.missed), (sent, 0));
    let address = link.address.to_string();
    let fetched = fetch(&address, &secret(), run).unwrap().records;
    let numbers = fetched.iter().map(|one| one.position);
    assert!(numbers.eq(0..sent));
}

#[test]
fn a_witness_that_is_gone_is_reported_and_holds_nothing_up() {
    let directory = tempfile::tempdir().unwrap();
    let link = Link::to(serve(directory.path()));
    let client = Client::connect(&link.address.to_string(), &secret()).unwrap();
    let sender = client.sender();
    sender.send(record(0));
    wait_until(|| client.delivery().acknowledged == 1);
    link.cut();
    (1..100).for_each(|number| sender.send(record(number)));
    wait_until(|| client.delivery().interruptions > 0);
    let delivery = client.finish(Duration::from_millis(10));
    assert_eq!((delivery.acknowledged, delivery.missed), (1, 99));
    assert!(delivery.last_error.is_some());
}

#[test]
fn a_witness_that_lost_its_records_ends_the_delivery() {
    let directory = tempfile::tempdir().unwrap();
    let link = Link::to(serve(directory.path()));
    let client = Client::connect(&link.address.to_string(), &secret()).unwrap();
    let sender = client.sender();
    (0..10).for_each(|number| sender.send(record(number)));
    wait_until(|| client.delivery().acknowledged == 10);
    link.cut();
    // The witness forgets a run that no connection sends for when the next one begins.
    let file = directory.path().join(format!("{}.records", client.run()));
    std::fs::remove_file(&file).unwrap();
    sender.send(record(10));
    wait_until(|| client.delivery().interruptions > 0);
    link.join();
    let lost = |text: &str| text.contains("has lost records: it had acknowledged 10, and has 0");
    wait_until(|| client.delivery().last_error.as_deref().is_some_and(lost));
    let delivery = client.finish(LIMIT);
    assert_eq!((delivery.acknowledged, delivery.missed), (10, 1));
}

#[test]
fn who_speaks_another_protocol_or_too_much_is_disconnected() {
    let directory = tempfile::tempdir().unwrap();
    let address = serve(directory.path());
    let length = |bytes: u32| bytes.to_le_bytes().to_vec();
    let inputs = [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        length(u32::MAX),
        length(65_537),
        length(39),
        [length(3), b"abc".to_vec()].concat(),
        [length(38), vec![0; 38]].concat(),
    ];
    for input in inputs {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.write_all(&input).unwrap();
        // Bytes that were not read may turn the end of the connection into a reset.
        match stream.read(&mut [0; 64]) {
            Ok(count) => assert_eq!(count, 0, "{input:?}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{input:?}"),
        }
    }
    Client::connect(&address.to_string(), &secret()).unwrap();
}

#[test]
fn two_witnesses_do_not_share_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let _first = Server::bind("127.0.0.1:0", secret(), directory.path(), |_| {}).unwrap();
    let second = Server::bind("127.0.0.1:0", secret(), directory.path(), |_| {});
    assert!(matches!(second.err().unwrap(), WitnessError::InUse(_)));
}
