//! Hands out the figures over HTTP.
//!
//! A reader that is slow, sends nonsense or never ends costs a thread for a few seconds, of which there are
//! few; the run only ever replaces the text that is handed out.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proofload::Error;

/// The path of the figures.
pub const PATH: &str = "/metrics";
/// The host where only a port is named: other hosts have to be allowed in.
const HOST: &str = "127.0.0.1";

/// Readers that are served at a time; more of them are refused.
const MOST_READERS: usize = 8;
/// Time that a reader has in all.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that a request may have.
const MOST_BYTES: usize = 8 << 10;
/// Least time between two readers: a flood of them takes no CPU that the run needs.
const BETWEEN_READERS: Duration = Duration::from_millis(5);

/// Hands out a text until it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    text: Mutex<Arc<str>>,
    readers: AtomicUsize,
    ended: AtomicBool,
}

impl Server {
    /// Serves the figures at an address.
    ///
    /// # Errors
    /// As of [`listen`].
    pub fn open(address: &str) -> Result<Self, Error> {
        let listener = listen(address)?;
        let address = listener
            .local_addr()
            .map_err(|error| refused(address, &error))?;
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("metrics".to_owned());
        thread
            .spawn(move || serve(&listener, &of_thread))
            .map_err(|error| refused(&address.to_string(), &error))?;
        Ok(Self { address, shared })
    }

    /// The address at which the metrics can be read.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Replaces what is handed out.
    pub fn put(&self, text: String) {
        let mut kept = self
            .shared
            .text
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = text.into();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Ends the wait for the next reader, and with it the thread.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_millis(200));
    }
}

/// Listens at an address, such as `0.0.0.0:9464`, `[::1]:9464`, or `9464` for this host alone.
///
/// # Errors
/// It is no address, or its port is in use.
pub(crate) fn listen(address: &str) -> Result<TcpListener, Error> {
    let found = resolve(address)?;
    TcpListener::bind(&*found).map_err(|error| refused(address, &error))
}

fn resolve(text: &str) -> Result<Vec<SocketAddr>, Error> {
    let full = match text.strip_prefix(':').unwrap_or(text) {
        port if port.parse::<u16>().is_ok() => format!("{HOST}:{port}"),
        _ => text.to_owned(),
    };
    let wrong = |why: &str| {
        Error::usage(
            format!("{text} is not an address to listen at{why}."),
            "Name a port, such as --metrics 9464, or an address with it, such as 0.0.0.0:9464.",
        )
    };
    let found = full.to_socket_addrs().map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => wrong(""),
        _ => wrong(&format!(": {error}")),
    })?;
    let found: Vec<SocketAddr> = found.collect();
    match found.is_empty() {
        true => Err(wrong("")),
        false => Ok(found),
    }
}

fn refused(address: &str, error: &io::Error) -> Error {
    let why = match error.kind() {
        ErrorKind::AddrInUse => "another program listens there".to_owned(),
        ErrorKind::PermissionDenied => "ports below 1024 need a privilege".to_owned(),
        _ => error.to_string(),
    };
    Error::environment(
        format!("Metrics cannot be served at {address}: {why}."),
        "Name another port with --metrics.",
    )
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        if let Ok((stream, _)) = accepted {
            accept(stream, shared);
        }
        thread::sleep(BETWEEN_READERS);
    }
}

fn accept(mut stream: TcpStream, shared: &Arc<Shared>) {
    let until = Instant::now() + TIMEOUT;
    if shared.readers.fetch_add(1, Ordering::Relaxed) >= MOST_READERS {
        shared.readers.fetch_sub(1, Ordering::Relaxed);
        let _ = stream.set_write_timeout(Some(Duration::from_millis(10)));
        let _ =
            stream.write_all(answer("503 Service Unavailable", "Too many readers.\n").as_bytes());
        return;
    }
    let of_thread = Arc::clone(shared);
    let spawned = thread::Builder::new()
        .name("metrics reader".to_owned())
        .stack_size(128 << 10)
        .spawn(move || {
            // A reader that has gone needs no answer.
            let _ = answer_reader(&mut stream, &of_thread, until);
            of_thread.readers.fetch_sub(1, Ordering::Relaxed);
        });
    if spawned.is_err() {
        shared.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

fn answer_reader(stream: &mut TcpStream, shared: &Shared, until: Instant) -> io::Result<()> {
    let answer = match read_request(stream, until)? {
        Request::Figures { body } => {
            let text = shared.text.lock().unwrap_or_else(PoisonError::into_inner);
            let text = Arc::clone(&text);
            match body {
                true => answer("200 OK", &text),
                false => head("200 OK", text.len()),
            }
        }
        Request::Refused(status) => answer(status, "The figures are at /metrics.\n"),
    };
    write_until(stream, answer.as_bytes(), until)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    drain(stream, until)
}

/// Reads what is left of a request: the kernel takes an answer back whose question was not read.
fn drain(stream: &mut TcpStream, until: Instant) -> io::Result<()> {
    let mut part = [0; 1_024];
    for _ in 0..MOST_BYTES / part.len() {
        stream.set_read_timeout(Some(left(until)?))?;
        if stream.read(&mut part)? == 0 {
            break;
        }
    }
    Ok(())
}

/// What a reader asks for.
enum Request {
    /// The figures, or only their head.
    Figures { body: bool },
    /// Something that there is not: this status answers it.
    Refused(&'static str),
}

fn read_request(stream: &mut TcpStream, until: Instant) -> io::Result<Request> {
    let mut text = Vec::new();
    let mut part = [0; 1_024];
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        if text.len() >= MOST_BYTES {
            return Ok(Request::Refused("431 Request Header Fields Too Large"));
        }
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(&mut part)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => text.extend_from_slice(&part[..length]),
        }
    }
    let text = String::from_utf8_lossy(&text);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    if !version.is_some_and(|version| version.starts_with("HTTP/1.")) {
        return Ok(Request::Refused("400 Bad Request"));
    }
    let path = target.unwrap_or_default().split('?').next();
    Ok(match (method, path) {
        (Some("GET"), Some(PATH)) => Request::Figures { body: true },
        (Some("HEAD"), Some(PATH)) => Request::Figures { body: false },
        (Some("GET" | "HEAD"), _) => Request::Refused("404 Not Found"),
        _ => Request::Refused("405 Method Not Allowed"),
    })
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

fn write_until(stream: &mut TcpStream, bytes: &[u8], until: Instant) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(until)?))?;
        match stream.write(rest)? {
            0 => return Err(ErrorKind::WriteZero.into()),
            length => rest = &rest[length..],
        }
    }
    Ok(())
}

fn head(status: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )
}

fn answer(status: &str, body: &str) -> String {
    head(status, body.len()) + body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &Server, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    }

    #[test]
    fn the_figures_and_nothing_else_are_served() {
        let server = Server::open("0").unwrap();
        server.put("a 1\n".to_owned());
        let get = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
        let text = ask(&server, get);
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("version=0.0.4"), "{text}");
        assert!(text.ends_with("\r\n\r\na 1\n"), "{text}");
        let long = format!("GET /metrics HTTP/1.1\r\nX: {}", "a".repeat(9 << 10));
        for (request, status) in [
            ("HEAD /metrics HTTP/1.0\r\n\r\n", "200"),
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("GET /metrics/../../etc/passwd HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("nonsense\r\n\r\n", "400"),
            (&long, "431"),
        ] {
            let text = ask(&server, request);
            assert_eq!(text.get(9..12), Some(status), "{request}: {text}");
            assert!(!text.contains("a 1"), "{text}");
        }
    }

    #[test]
    fn readers_that_say_nothing_keep_nobody_from_the_next_for_long() {
        let server = Server::open("127.0.0.1:0").unwrap();
        server.put("a 1\n".to_owned());
        let silent: Vec<TcpStream> = (0..2 * MOST_READERS)
            .map(|_| TcpStream::connect(server.address).unwrap())
            .collect();
        // The text is replaced at once, whoever reads.
        let began = Instant::now();
        (0..1_000).for_each(|_| server.put("a 2\n".to_owned()));
        assert!(began.elapsed() < TIMEOUT / 2);
        let until = Instant::now() + 4 * TIMEOUT;
        while Instant::now() < until {
            if ask(&server, "GET /metrics HTTP/1.1\r\n\r\n").contains("a 2") {
                drop(silent);
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the silent readers are never sent away");
    }

    #[test]
    fn a_port_alone_is_for_this_host() {
        for text in ["0", ":0"] {
            let server = Server::open(text).unwrap();
            assert!(server.address.ip().is_loopback(), "{text}");
            assert!(server.url().starts_with("http://127.0.0.1:"), "{text}");
        }
        for wrong in ["", "a b", "1.2.3.4", "70000", "host:port"] {
            let refused = Server::open(wrong).err().expect("it is refused");
            assert_eq!(refused.class(), proofload::ErrorClass::Usage, "{wrong}");
        }
        let server = Server::open("0").unwrap();
        let again = Server::open(&server.address.to_string());
        let refused = again.err().expect("the port is in use");
        assert_eq!(refused.class(), proofload::ErrorClass::Environment);
        assert!(refused.to_string().contains("another program listens"));
    }
}
