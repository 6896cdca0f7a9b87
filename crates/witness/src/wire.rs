//! A connection: frames over TCP, each within a time limit.

use crate::error::WitnessError;
use crate::frame::{CODE_BYTES, MAX_FRAME_BYTES, Opener, Sealer, length_of};
use crate::handshake::{DENIED, HELLO_BYTES, Keys, hello, nonce, read_hello};
use crate::message::Message;
use crate::secret::Secret;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Time for the whole handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Time for a connection to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// Time for an answer, which waits for the storage of the witness.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);

/// A connection whose other side knows the secret.
pub(crate) struct Wire {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
}

impl Wire {
    /// Connects to a witness.
    ///
    /// # Errors
    /// If nobody answers in time, or not as a witness with this secret does.
    pub(crate) fn connect(address: &str, secret: &Secret) -> Result<Self, WitnessError> {
        let unreachable = |error| WitnessError::Unreachable {
            address: address.to_owned(),
            error,
        };
        let mut stream = reach(address).map_err(unreachable)?;
        let deadline = Instant::now() + HANDSHAKE;
        let own = nonce()?;
        send(&mut stream, &hello(&own), deadline)?;
        let answer = receive(&mut stream, HELLO_BYTES, deadline)?;
        let keys = Keys::new(secret, &own, &read_hello(&answer)?);
        send(&mut stream, &keys.client_proof(), deadline)?;
        let proof = receive(&mut stream, CODE_BYTES, deadline)?;
        if !keys.is_server(&proof) {
            return Err(WitnessError::WrongSecret);
        }
        let (sealer, opener) = keys.of_client();
        Ok(Self {
            stream,
            sealer,
            opener,
        })
    }

    /// Answers a client that has connected.
    ///
    /// # Errors
    /// If it does not prove in time that it knows the secret.
    pub(crate) fn accept(mut stream: TcpStream, secret: &Secret) -> Result<Self, WitnessError> {
        let deadline = Instant::now() + HANDSHAKE;
        stream.set_nodelay(true)?;
        let first = receive(&mut stream, HELLO_BYTES, deadline)?;
        let client = read_hello(&first)?;
        let own = nonce()?;
        send(&mut stream, &hello(&own), deadline)?;
        let keys = Keys::new(secret, &client, &own);
        let proof = receive(&mut stream, CODE_BYTES, deadline)?;
        if !keys.is_client(&proof) {
            send(&mut stream, DENIED, deadline)?;
            return Err(WitnessError::WrongSecret);
        }
        send(&mut stream, &keys.server_proof(), deadline)?;
        let (sealer, opener) = keys.of_server();
        Ok(Self {
            stream,
            sealer,
            opener,
        })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If it is not taken within `limit`.
    pub(crate) fn send(&mut self, message: &Message, limit: Duration) -> Result<(), WitnessError> {
        let frame = self.sealer.seal(message);
        write(&mut self.stream, &frame, Instant::now() + limit)
    }

    /// Receives the next message.
    ///
    /// # Errors
    /// If none comes within `limit`, or one that the other side did not send.
    pub(crate) fn receive(&mut self, limit: Duration) -> Result<Message, WitnessError> {
        let frame = receive(&mut self.stream, MAX_FRAME_BYTES, Instant::now() + limit)?;
        self.opener.open(&frame)
    }

    /// Sends a message and waits for the answer; a refusal is an error.
    ///
    /// # Errors
    /// As those of sending and receiving, and what the witness refuses.
    pub(crate) fn ask(&mut self, message: &Message) -> Result<Message, WitnessError> {
        self.send(message, ANSWER)?;
        match self.receive(ANSWER)? {
            Message::Refused(refusal) => Err(WitnessError::Refused(refusal)),
            answer => Ok(answer),
        }
    }
}

/// Tries all addresses of a host.
fn reach(address: &str) -> std::io::Result<TcpStream> {
    let mut last = ErrorKind::AddrNotAvailable.into();
    for one in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&one, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Sends some bytes with their number in front.
fn send(stream: &mut TcpStream, bytes: &[u8], deadline: Instant) -> Result<(), WitnessError> {
    let frame = [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
    write(stream, &frame, deadline)
}

/// Receives bytes with their number in front, `most` of them.
fn receive(
    stream: &mut TcpStream,
    most: usize,
    deadline: Instant,
) -> Result<Vec<u8>, WitnessError> {
    let mut length = [0; 4];
    fill(stream, &mut length, deadline)?;
    let bytes = length_of(length)?;
    if bytes > most {
        return Err(WitnessError::TooLong { bytes });
    }
    let mut frame = vec![0; bytes];
    fill(stream, &mut frame, deadline)?;
    Ok(frame)
}

/// What is left until the deadline; an error when nothing is.
fn left(deadline: Instant) -> std::io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

/// The time limit is that of the whole, so that a peer that sends byte by byte gains nothing.
fn fill(
    stream: &mut TcpStream,
    mut buffer: &mut [u8],
    deadline: Instant,
) -> Result<(), WitnessError> {
    while !buffer.is_empty() {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(buffer) {
            Ok(0) => return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) => again(error)?,
        }
    }
    Ok(())
}

fn write(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> Result<(), WitnessError> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(std::io::Error::from(ErrorKind::WriteZero).into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) => again(error)?,
        }
    }
    Ok(())
}

/// Whether a request is to be made again: after a timeout the deadline decides.
fn again(error: std::io::Error) -> Result<(), WitnessError> {
    match error.kind() {
        ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(()),
        _ => Err(error.into()),
    }
}
