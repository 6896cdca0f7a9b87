//! What a run and its witness say to each other once they know each other.

use crate::record::{Record, RunId, decode_all};
use std::fmt;

/// Records in one message at most.
pub(crate) const RECORDS_PER_MESSAGE: usize = 2_048;

/// A message. The first three come from the client, the others are answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Records of this run follow.
    Begin {
        /// The run that reports.
        run: RunId,
    },
    /// Records of the run that was begun, `first` being the number of the first one. Without records it
    /// only asks whether the witness is there.
    Records {
        /// Number of the first record of the message, counted from 0 in the run.
        first: u64,
        /// The records, in the order of their numbers.
        records: Vec<Record>,
    },
    /// Asks for the records of a run from number `from` on.
    Fetch {
        /// The run whose records are asked for.
        run: RunId,
        /// The first record wanted.
        from: u64,
    },
    /// The witness has the records before `next` on stable storage.
    Stored {
        /// Number of the record that is expected next.
        next: u64,
    },
    /// Records of the run that was asked for; none: there are no more.
    Fetched {
        /// The records of the run, in the order of their numbers.
        records: Vec<Record>,
    },
    /// What the witness has of the run that was asked for cannot be read from here on.
    Unreadable(UnreadRecords),
    /// The witness does not do it.
    Refused(Refusal),
}

/// The end of the records of a run that is damaged, or was being written when the witness lost power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadRecords {
    /// Number of the first record that cannot be read, counted from 0 in the run.
    pub from: u64,
    /// Bytes of the file from there on.
    pub bytes: u64,
}

/// Why a witness does not do what it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It has no records of the run.
    UnknownRun,
    /// Its storage is full or fails.
    Storage,
    /// The numbers of the records do not follow on those that it has.
    Sequence,
    /// The run has gone on over another connection.
    Superseded,
    /// The message is not expected here.
    Unexpected,
    /// Its records of the run are damaged.
    Damaged,
}

impl Refusal {
    const ALL: [Self; 6] = [
        Self::UnknownRun,
        Self::Storage,
        Self::Sequence,
        Self::Superseded,
        Self::Unexpected,
        Self::Damaged,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UnknownRun => "it has no records of this run",
            Self::Storage => "its storage is full or fails; its messages say more",
            Self::Sequence => "the records do not follow on those that it has",
            Self::Superseded => "the run has gone on over another connection",
            Self::Unexpected => "the message is not expected here",
            Self::Damaged => "its records of this run are damaged; its messages say where",
        })
    }
}

const BEGIN: u8 = 1;
const RECORDS: u8 = 2;
const FETCH: u8 = 3;
const STORED: u8 = 4;
const FETCHED: u8 = 5;
const REFUSED: u8 = 6;
const UNREADABLE: u8 = 7;

impl Message {
    /// The message as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Begin { run } => {
                out.push(BEGIN);
                out.extend(run.0);
            }
            Self::Records { first, records } => {
                out.push(RECORDS);
                out.extend(first.to_le_bytes());
                records.iter().for_each(|record| record.encode(&mut out));
            }
            Self::Fetch { run, from } => {
                out.push(FETCH);
                out.extend(run.0);
                out.extend(from.to_le_bytes());
            }
            Self::Stored { next } => {
                out.push(STORED);
                out.extend(next.to_le_bytes());
            }
            Self::Fetched { records } => {
                out.push(FETCHED);
                records.iter().for_each(|record| record.encode(&mut out));
            }
            Self::Unreadable(unread) => {
                out.push(UNREADABLE);
                out.extend(unread.from.to_le_bytes());
                out.extend(unread.bytes.to_le_bytes());
            }
            Self::Refused(refusal) => out.extend([REFUSED, *refusal as u8]),
        }
        out
    }

    /// Reads a message; `None` if the bytes are none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match *kind {
            BEGIN => Self::Begin {
                run: RunId(rest.try_into().ok()?),
            },
            RECORDS => {
                let (first, rest) = rest.split_first_chunk()?;
                Self::Records {
                    first: u64::from_le_bytes(*first),
                    records: few(rest)?,
                }
            }
            FETCH => {
                let (run, rest) = rest.split_first_chunk()?;
                Self::Fetch {
                    run: RunId(*run),
                    from: u64::from_le_bytes(rest.try_into().ok()?),
                }
            }
            STORED => Self::Stored {
                next: u64::from_le_bytes(rest.try_into().ok()?),
            },
            FETCHED => Self::Fetched {
                records: few(rest)?,
            },
            UNREADABLE => {
                let (from, rest) = rest.split_first_chunk()?;
                Self::Unreadable(UnreadRecords {
                    from: u64::from_le_bytes(*from),
                    bytes: u64::from_le_bytes(rest.try_into().ok()?),
                })
            }
            REFUSED => {
                let [number] = rest else { return None };
                Self::Refused(*Refusal::ALL.get(usize::from(*number))?)
            }
            _ => return None,
        })
    }
}

/// No more records than a message may have.
fn few(bytes: &[u8]) -> Option<Vec<Record>> {
    decode_all(bytes).filter(|records| records.len() <= RECORDS_PER_MESSAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Message> {
        let run = RunId([7; 16]);
        let records = vec![Record::fact(1, 0, 2, 3), Record::default()];
        let mut all = vec![
            Message::Begin { run },
            Message::Records {
                first: 9,
                records: records.clone(),
            },
            Message::Fetch { run, from: 5 },
            Message::Stored { next: 11 },
            Message::Fetched { records },
            Message::Unreadable(UnreadRecords { from: 3, bytes: 88 }),
        ];
        all.extend(Refusal::ALL.map(Message::Refused));
        all
    }

    #[test]
    fn a_message_is_read_as_it_was_written_and_not_when_cut() {
        for message in all() {
            let bytes = message.encode();
            assert_eq!(Message::decode(&bytes), Some(message.clone()));
            let is_list = matches!(message, Message::Records { .. } | Message::Fetched { .. });
            for length in (0..bytes.len()).filter(|_| !is_list) {
                assert_eq!(Message::decode(&bytes[..length]), None, "{message:?}");
            }
            assert_eq!(Message::decode(&[&bytes[..], &[0]].concat()), None);
        }
    }

    #[test]
    fn more_records_than_a_message_may_have_are_refused() {
        let message = |count| Message::Records {
            first: 0,
            records: vec![Record::default(); count],
        };
        let most = message(RECORDS_PER_MESSAGE).encode();
        assert!(Message::decode(&most).is_some());
        let more = message(RECORDS_PER_MESSAGE + 1).encode();
        assert_eq!(Message::decode(&more), None);
    }
}
