//! The protocol between a run and its witness.

use witness::{Keys, MAX_FRAME_BYTES, Message, Secret};

/// Messages that are decoded say the same when they are encoded again, and frames that nobody sealed are
/// refused.
pub fn witness(bytes: &[u8]) {
    if let Some(message) = Message::decode(bytes) {
        assert_eq!(message.encode(), bytes, "a message has one form");
    }
    let Ok(secret) = Secret::new(b"a secret of the fuzz targets") else {
        return;
    };
    let keys = Keys::new(&secret, &[1; 32], &[2; 32]);
    let (_, mut of_client) = keys.of_client();
    let (_, mut of_server) = keys.of_server();
    for opener in [&mut of_client, &mut of_server] {
        assert!(opener.open(bytes).is_err(), "nobody has sealed it");
    }
    if bytes.len() + 32 <= MAX_FRAME_BYTES
        && let Some(message) = Message::decode(bytes)
    {
        let (mut sealer, _) = keys.of_client();
        let frame = sealer.seal(&message);
        let opened = of_server.open(&frame[4..]);
        assert_eq!(opened.ok(), Some(message), "a sealed frame is opened");
    }
}
