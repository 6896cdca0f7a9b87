//! `proofload serve --nbd` as a person runs it, with the clients that others have written.

mod common;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Ended, Running, Scratch};

/// A live array that listens, and the addresses of its volumes.
struct Served {
    running: Running,
    addresses: Vec<String>,
}

impl Served {
    fn start(here: &Scratch, line: &str) -> Self {
        let mut running = Running::start(here, &format!("serve msa2050 --size 256MiB {line}"));
        let said = running.wait_until_it_says("Ctrl-C").to_owned();
        let addresses = said.lines().map(str::trim);
        let addresses = addresses.filter(|line| line.starts_with("nbd"));
        let addresses = addresses.map(str::to_owned).collect();
        Self { running, addresses }
    }

    fn address(&self) -> &str {
        &self.addresses[0]
    }

    fn end(mut self) -> Ended {
        self.running.signal("INT");
        self.running.end().exits(0)
    }
}

/// Whether a client is there.
fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        test_support::skip(format!("{program} is not installed"));
    }
    there
}

fn run(here: &Scratch, program: &str, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    let output = command.args(words).current_dir(here.path("")).output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// What a client prints that succeeds.
#[track_caller]
fn prints(here: &Scratch, program: &str, words: &[&str]) -> String {
    let output = run(here, program, words);
    assert!(output.status.success(), "{program} {words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

/// A file of this size; its contents differ from place to place, and there are holes.
fn image(here: &Scratch, name: &str, megabytes: u64) {
    let file = File::create(here.path(name)).expect("a file");
    file.set_len(megabytes << 20).expect("its size");
    let mut random = File::open("/dev/urandom").expect("random bytes");
    let mut bytes = vec![0; 3 << 20];
    for at in [0, 9 << 20, (megabytes << 20) - (3 << 20)] {
        random.read_exact(&mut bytes).expect("random bytes");
        file.write_all_at(&bytes, at).expect("written");
    }
}

fn is_same(here: &Scratch, one: &str, other: &str) -> bool {
    let read = |name: &str| fs::read(here.path(name)).expect("a file");
    read(one) == read(other)
}

#[test]
fn nbdinfo_finds_each_volume_with_all_that_it_can_do() {
    if !has("nbdinfo") {
        return;
    }
    let here = Scratch::new();
    let served = Served::start(&here, "--nbd unix:socket --volumes 2");
    assert_eq!(
        served.addresses,
        [
            "nbd+unix:///volume-1?socket=socket",
            "nbd+unix:///volume-2?socket=socket"
        ]
    );
    let list = prints(&here, "nbdinfo", &["--list", "nbd+unix:///?socket=socket"]);
    assert!(
        list.contains("\"volume-1\"") && list.contains("\"volume-2\""),
        "{list}"
    );
    let about = prints(&here, "nbdinfo", &[&served.addresses[1]]);
    for words in [
        "using structured packets",
        "description: HPE MSA 2050",
        "export-size: 268435456",
        "base:allocation",
        "is_read_only: false",
        "can_df: true",
        "can_fast_zero: true",
        "can_flush: true",
        "can_fua: true",
        "can_multi_conn: true",
        "can_trim: true",
        "can_zero: true",
        "block_size_minimum: 1",
        "block_size_preferred: 4096",
        "block_size_maximum: 33554432",
    ] {
        assert!(about.contains(words), "{words}: {about}");
    }
    // Which of two volumes is meant has to be said.
    let output = run(&here, "nbdinfo", &["nbd+unix:///?socket=socket"]);
    assert!(!output.status.success(), "{output:?}");
    served.end();
}

#[test]
fn qemu_io_reads_what_it_has_written_and_gives_space_back() {
    if !has("qemu-io") || !has("nbdinfo") {
        return;
    }
    let here = Scratch::new();
    let served = Served::start(&here, "--nbd unix:socket");
    let map = || prints(&here, "nbdinfo", &["--map", served.address()]);
    let extents = |map: &str| -> Vec<Vec<String>> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        map.lines().map(words).collect()
    };
    assert_eq!(extents(&map()), [["0", "268435456", "3", "hole,zero"]]);
    let commands = [
        "write -P 7 0 1M",
        "read -P 7 0 1M",
        // Parts of sectors.
        "write -P 9 4097 3",
        "read -P 9 4097 3",
        "read -P 7 4100 1000",
        "flush",
        // Zeros that keep their space, and zeros that need none.
        "write -z 64k 64k",
        "read -P 0 64k 64k",
        "write -z -u 512k 100",
        "read -P 0 512k 100",
        "read -P 7 524388 1000",
        "write -f -P 3 8M 64k",
        "read -P 3 8M 64k",
    ];
    let mut words = vec!["-f", "raw", served.address()];
    words.extend(commands.iter().flat_map(|command| ["-c", command]));
    prints(&here, "qemu-io", &words);
    let written = extents(&map());
    assert_eq!(
        written[0][1..],
        ["4194304", "0", "data"],
        "a page of the pool"
    );
    assert_eq!(written[2][..3], ["8388608", "4194304", "0"]);
    prints(
        &here,
        "qemu-io",
        &[
            "-f",
            "raw",
            served.address(),
            "-c",
            "discard 0 16M",
            "-c",
            "read -P 0 0 16M",
        ],
    );
    assert_eq!(extents(&map()), [["0", "268435456", "3", "hole,zero"]]);
    let ended = served.end().prints("reads").prints("writes");
    assert!(!ended.stdout.contains("failed"), "{}", ended.stdout);
}

#[test]
fn images_are_the_same_after_the_way_there_and_back() {
    let here = Scratch::new();
    image(&here, "image", 256);
    let served = Served::start(&here, "--nbd 127.0.0.1:0 --volumes 2");
    assert!(
        served.address().starts_with("nbd://127.0.0.1:"),
        "{}",
        served.address()
    );
    let [one, other] = &served.addresses[..] else {
        panic!("{:?}", served.addresses);
    };
    if has("nbdcopy") {
        prints(&here, "nbdcopy", &["image", one]);
        prints(&here, "nbdcopy", &[one, other]);
        prints(&here, "nbdcopy", &[other, "nbdcopy-back"]);
        assert!(is_same(&here, "image", "nbdcopy-back"));
    }
    if has("qemu-img") {
        let raw = ["-f", "raw", "-O", "raw"];
        let to = [&["convert", "-n"][..], &raw, &["image", one]].concat();
        prints(&here, "qemu-img", &to);
        let back = [&["convert"][..], &raw, &[one, "qemu-back"]].concat();
        prints(&here, "qemu-img", &back);
        assert!(is_same(&here, "image", "qemu-back"));
        let compare = ["compare", "-f", "raw", "-F", "raw", "image", one];
        assert!(prints(&here, "qemu-img", &compare).contains("identical"));
    }
    served.end();
}

#[test]
fn fio_verifies_what_it_has_written_at_random() {
    let engines = Command::new("fio").arg("--enghelp").output();
    let engines = engines.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !engines.is_ok_and(|engines| engines.lines().any(|line| line.trim() == "nbd")) {
        return test_support::skip("fio has no engine for NBD");
    }
    let here = Scratch::new();
    let served = Served::start(&here, "--nbd unix:socket");
    let uri = format!("--uri={}", served.address());
    let job = [
        "--name=verify",
        "--ioengine=nbd",
        &uri,
        "--rw=randrw",
        "--bsrange=512-64k",
        "--blockalign=512",
        "--iodepth=32",
        "--size=64m",
        "--io_size=64m",
        "--verify=crc32c",
        "--randseed=1",
    ];
    let report = prints(&here, "fio", &job);
    assert!(report.contains("err= 0"), "{report}");
    served.end();
}

/// Certificates for a server at `localhost`, for a client, and of the authority of both, in three directories.
fn certificates(here: &Scratch) -> bool {
    if Command::new("openssl").arg("version").output().is_err() {
        test_support::skip("openssl is not installed");
        return false;
    }
    for directory in ["server", "client", "stranger"] {
        here.directory(directory);
    }
    let key = ["-nodes", "-newkey", "rsa:2048"];
    let openssl = |words: &[&str]| drop(prints(here, "openssl", words));
    let authority = ["req", "-x509", "-days", "30", "-subj", "/CN=authority"];
    let files = ["-keyout", "ca-key.pem", "-out", "ca-cert.pem"];
    openssl(&[&authority[..], &key, &files].concat());
    here.file("names", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    for name in ["server", "client"] {
        let (own_key, cert) = (
            format!("{name}/{name}-key.pem"),
            format!("{name}/{name}-cert.pem"),
        );
        let request = [
            "req",
            "-new",
            "-subj",
            "/CN=localhost",
            "-keyout",
            &own_key,
            "-out",
            "request",
        ];
        openssl(&[&request[..], &key].concat());
        openssl(&[
            "x509",
            "-req",
            "-in",
            "request",
            "-days",
            "30",
            "-CA",
            "ca-cert.pem",
            "-CAkey",
            "ca-key.pem",
            "-CAcreateserial",
            "-extfile",
            "names",
            "-out",
            &cert,
        ]);
        fs::copy(
            here.path("ca-cert.pem"),
            here.path(name).join("ca-cert.pem"),
        )
        .expect("copied");
    }
    fs::copy(here.path("ca-cert.pem"), here.path("stranger/ca-cert.pem")).expect("copied");
    true
}

#[test]
fn encrypted_volumes_are_for_clients_with_a_certificate() {
    let here = Scratch::new();
    if !has("nbdcopy") || !certificates(&here) {
        return;
    }
    image(&here, "image", 256);
    let mut served = Served::start(&here, "--nbd localhost:0 --nbd-certificates server");
    served
        .running
        .wait_until_it_says("Clients need a certificate");
    let address = served.address().to_owned();
    assert!(address.starts_with("nbds://localhost:"), "{address}");
    let of = |directory: &str| {
        let directory = here.path(directory);
        format!("{address}?tls-certificates={}", directory.display())
    };
    let client = of("client");
    let about = prints(&here, "nbdinfo", &[&client]);
    assert!(
        about.contains("with TLS, using structured packets"),
        "{about}"
    );
    prints(&here, "nbdcopy", &["image", &client]);
    prints(&here, "nbdcopy", &[&client, "back"]);
    assert!(is_same(&here, "image", "back"));
    let plain = address.replace("nbds://", "nbd://");
    for refused in [plain, of("stranger")] {
        let output = run(&here, "nbdinfo", &[&refused]);
        assert!(!output.status.success(), "{refused}: {output:?}");
    }
    prints(&here, "nbdinfo", &[&client]);
    served.end();
    // Without an authority of clients, any of them may come.
    fs::remove_file(here.path("server/ca-cert.pem")).expect("removed");
    let served = Served::start(&here, "--nbd localhost:0 --nbd-certificates server");
    let stranger = here.path("stranger");
    let address = format!(
        "{}?tls-certificates={}",
        served.address(),
        stranger.display()
    );
    prints(&here, "nbdinfo", &[&address]);
    served.end();
}

#[test]
fn a_socket_is_taken_over_from_a_killed_server_and_from_no_other() {
    let here = Scratch::new();
    let again = "serve msa2050 --nbd unix:socket";
    let mut killed = Served::start(&here, "--nbd unix:socket");
    here.proofload(again)
        .exits(3)
        .says("Another program listens at socket.");
    killed.running.signal("KILL");
    drop(killed.running.end());
    assert!(here.path("socket").exists());
    let served = Served::start(&here, "--nbd unix:socket");
    served.end();
    assert!(!here.path("socket").exists());
    here.file("socket", "mine");
    here.proofload(again)
        .exits(2)
        .says("socket is there already, and is no socket.");
    assert_eq!(fs::read_to_string(here.path("socket")).expect("it"), "mine");
}

#[test]
fn addresses_that_cannot_be_served_are_refused_in_a_sentence() {
    let here = Scratch::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("its address").to_string();
    here.directory("empty");
    for (options, status, words) in [
        (
            "--nbd 0.0.0.0:10809",
            2,
            "connections would not be encrypted.",
        ),
        ("--nbd nowhere", 2, "nowhere is no address to listen at."),
        (
            "--nbd unix:missing/socket",
            3,
            "Nothing can listen at missing/socket",
        ),
        (
            "--nbd 127.0.0.1:0 --nbd-certificates empty",
            2,
            "server-cert.pem",
        ),
        ("--nbd-certificates empty", 2, "--nbd"),
        ("", 2, "--at <DIR>|--nbd <ADDRESS>"),
    ] {
        let line = format!("serve msa2050 {options}");
        here.proofload(&line).exits(status).says(words);
    }
    let line = format!("serve msa2050 --nbd {taken}");
    let words = format!("Another program listens at {taken}.");
    here.proofload(&line).exits(3).says(&words);
}

#[test]
fn files_and_clients_see_the_same_volume() {
    let fuse = File::options().read(true).write(true).open("/dev/fuse");
    if fuse.is_err() {
        return test_support::skip("there is no FUSE (/dev/fuse)");
    }
    if !has("qemu-io") {
        return;
    }
    let here = Scratch::new();
    here.directory("array");
    let served = Served::start(&here, "--at array --nbd unix:socket");
    let file = File::options()
        .read(true)
        .write(true)
        .open(here.path("array/volume-1"));
    let file = file.expect("a volume");
    file.write_all_at(&[5; 1000], 100).expect("written");
    let commands = ["read -P 5 100 1000", "write -P 6 600 100", "flush"];
    let mut words = vec!["-f", "raw", served.address()];
    words.extend(commands.iter().flat_map(|command| ["-c", command]));
    prints(&here, "qemu-io", &words);
    let mut read = [0; 1000];
    file.read_exact_at(&mut read, 100).expect("read");
    assert!(read[..500] == [5; 500] && read[500..600] == [6; 100] && read[600..] == [5; 400]);
    drop(file);
    served.end();
    assert!(is_empty(&here.path("array")));
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).expect("a directory").count() == 0
}
