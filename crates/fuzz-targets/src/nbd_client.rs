//! What clients send to a server of NBD.

use std::io::{self, Read, Write};

use serve::nbd::{Encryption, Export, Handshake, MOST_REQUEST_BYTES, Request, Step};

/// Bytes of a client; what it gets is not kept.
struct Client<'a>(&'a [u8]);

impl Read for Client<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for Client<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A handshake and the requests behind it: of each no more than its limit is read.
pub fn nbd(bytes: &[u8]) {
    let exports = ["volume-1", "volume-2"].map(|name| Export {
        name: name.to_owned(),
        size_bytes: 1 << 30,
        description: "An array".to_owned(),
    });
    let mut client = Client(bytes);
    let mut handshake = Handshake::new(exports.into(), Encryption::Unavailable);
    match handshake.begin(&mut client) {
        Ok(Step::Use(agreed)) => assert!(agreed.export < 2),
        Ok(Step::Continue | Step::StartTls) => unreachable!("neither ends a handshake here"),
        Ok(Step::End) | Err(_) => return,
    }
    while let Ok(Some(request)) = Request::read(&mut client) {
        assert!(request.payload_bytes() <= MOST_REQUEST_BYTES);
        if request.read_payload(&mut client).is_err() {
            return;
        }
    }
}
