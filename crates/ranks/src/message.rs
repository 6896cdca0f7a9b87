//! The messages between ranks: a line of JSON, and bytes behind it.

use serde::{Deserialize, Serialize};

/// What a message is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Head {
    /// The first message of a rank: the host it runs on.
    Hello {
        /// Name of the host.
        host: String,
    },
    /// The hosts of all ranks, from rank 0.
    Hosts {
        /// Their names, by rank.
        hosts: Vec<String>,
    },
    /// Asks rank 0 for its clock.
    Ping {
        /// When it was sent, by the clock of the sender.
        sent_ns: u64,
    },
    /// The clocks of rank 0.
    Pong {
        /// When the ping was sent, by the clock of its sender.
        sent_ns: u64,
        /// The clock that runs evenly, when the ping was answered.
        at_ns: u64,
        /// The time of day then, in ns since 1970.
        unix_ns: u64,
    },
    /// The rank is alive; its state stands behind it.
    Beat,
    /// The rank has come to a point that all pass together.
    Ready {
        /// Name of the point.
        point: String,
    },
    /// All ranks have come to a point, which they pass at this time of the clock of rank 0.
    Go {
        /// Name of the point.
        point: String,
        /// When all shall begin, in ns of the clock of rank 0.
        at_ns: u64,
    },
    /// The rank ends its part before the others.
    Ends {
        /// Why, as a sentence.
        why: String,
    },
    /// A rank has ended its part, or is lost: what rank 0 has heard.
    Ended {
        /// Number of the rank.
        rank: usize,
        /// Why, as a sentence.
        why: String,
        /// Whether nothing more will be heard of it.
        lost: bool,
    },
    /// Nothing follows.
    Leaves,
    /// A message of the program, which stands behind it.
    Program {
        /// What it is about.
        topic: String,
    },
}

/// The bytes of a message.
pub fn encode(head: &Head, body: &[u8]) -> Vec<u8> {
    // Heads are plain data: texts and numbers.
    let mut frame = serde_json::to_vec(head).unwrap_or_default();
    frame.push(b'\n');
    frame.extend_from_slice(body);
    frame
}

/// A message from its bytes; `None` when they are none.
pub fn decode(mut frame: Vec<u8>) -> Option<(Head, Vec<u8>)> {
    let end = frame.iter().position(|&byte| byte == b'\n')?;
    let head = serde_json::from_slice(&frame[..end]).ok()?;
    Some((head, frame.split_off(end + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_behind_a_head_stay_as_they_are() {
        let head = Head::Program {
            topic: "a\nb".to_owned(),
        };
        let body = b"\n{}\n\0\xff".to_vec();
        assert_eq!(decode(encode(&head, &body)), Some((head, body)));
        assert_eq!(decode(b"no head".to_vec()), None);
    }
}
