//! The handshake on bytes.

use std::io::{self, ErrorKind, Read, Write};

use proptest::prelude::*;

use super::export::Export;
use super::handshake::{Agreed, Encryption, Handshake, Step};
use super::wire::{OPTION_MAGIC, option, option_reply};

/// What a client sends, and what it gets.
struct Wire<'a> {
    sent: &'a [u8],
    received: Vec<u8>,
}

impl Read for Wire<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.sent.read(into)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.received.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn handshake(names: &[&str], encryption: Encryption) -> Handshake {
    let exports = names.iter().map(|name| Export {
        name: (*name).to_owned(),
        size_bytes: 1 << 30,
        description: "An array".to_owned(),
    });
    Handshake::new(exports.collect(), encryption)
}

fn an_option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION_MAGIC.to_be_bytes().to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn text(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}

/// Data of `NBD_OPT_GO` and `NBD_OPT_INFO` for an export, with all that can be asked about it.
fn of_export(name: &str) -> Vec<u8> {
    [&text(name.as_bytes())[..], &[0, 3, 0, 1, 0, 2, 0, 3]].concat()
}

/// Data of the options for contexts.
fn of_contexts(name: &str, queries: &[&str]) -> Vec<u8> {
    let count = (queries.len() as u32).to_be_bytes().to_vec();
    let queries = queries.iter().flat_map(|query| text(query.as_bytes()));
    [&text(name.as_bytes())[..], &count]
        .concat()
        .into_iter()
        .chain(queries)
        .collect()
}

/// What comes of the options; the kinds and the contents of the replies.
fn outcome(mut handshake: Handshake, options: &[Vec<u8>]) -> (Step, Vec<(u32, Vec<u8>)>) {
    let sent = [&[0, 0, 0, 3][..], &options.concat()].concat();
    let mut wire = Wire {
        sent: &sent,
        received: Vec::new(),
    };
    let step = handshake.begin(&mut wire).unwrap();
    let mut received = &wire.received[18..];
    let mut replies = Vec::new();
    while received.len() >= 20 {
        let number = |at: usize| u32::from_be_bytes(received[at..at + 4].try_into().unwrap());
        let (kind, length) = (number(12), number(16) as usize);
        replies.push((kind, received[20..20 + length].to_vec()));
        received = &received[20 + length..];
    }
    (step, replies)
}

fn kinds(replies: &[(u32, Vec<u8>)]) -> Vec<u32> {
    replies.iter().map(|(kind, _)| *kind).collect()
}

#[test]
fn an_export_is_described_and_used() {
    let options = [
        an_option(option::STRUCTURED_REPLY, &[]),
        an_option(
            option::SET_META_CONTEXT,
            &of_contexts("two", &["base:allocation", "qemu:x"]),
        ),
        an_option(option::GO, &of_export("two")),
    ];
    let open = handshake(&["one", "two"], Encryption::Unavailable);
    let (step, replies) = outcome(open, &options);
    let agreed = Agreed {
        export: 1,
        structured: true,
        block_status: true,
    };
    assert_eq!(step, Step::Use(agreed));
    use option_reply::{ACK, INFO, META_CONTEXT};
    let expected = [ACK, META_CONTEXT, ACK, INFO, INFO, INFO, INFO, ACK];
    assert_eq!(kinds(&replies), expected);
    assert_eq!(
        replies[1].1,
        [&[0, 0, 0, 1][..], b"base:allocation"].concat()
    );
    // Size, and flags with those for structured replies.
    assert_eq!(replies[3].1[..10], [0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0]);
    assert_eq!(replies[3].1[10..], [0b1001, 0b1110_1101]);
    let sizes = [0, 3, 0, 0, 0, 1, 0, 0, 0x10, 0, 2, 0, 0, 0];
    assert_eq!(replies[4].1, sizes);
    assert_eq!(replies[5].1, b"\0\x01two");
    assert_eq!(replies[6].1, b"\0\x02An array");
}

#[test]
fn an_export_can_be_used_by_its_name_alone() {
    let by_name = |name: &[u8]| an_option(option::EXPORT_NAME, name);
    let agreed = |export| {
        Step::Use(Agreed {
            export,
            structured: false,
            block_status: false,
        })
    };
    for (names, name, step) in [
        (&["one", "two"][..], &b"two"[..], agreed(1)),
        (&["one"], b"", agreed(0)),
        (&["one", "two"], b"", Step::End),
        (&["one", "two"], b"three", Step::End),
    ] {
        let open = handshake(names, Encryption::Unavailable);
        assert_eq!(outcome(open, &[by_name(name)]).0, step, "{name:?}");
    }
    // Without structured replies, and with the padding of old clients.
    let sent = [&[0, 0, 0, 1][..], &by_name(b"one")].concat();
    let mut wire = Wire {
        sent: &sent,
        received: Vec::new(),
    };
    let mut open = handshake(&["one"], Encryption::Unavailable);
    assert_eq!(open.begin(&mut wire).unwrap(), agreed(0));
    assert_eq!(
        wire.received[18..][..10],
        [0, 0, 0, 0, 0x40, 0, 0, 0, 9, 0x6d]
    );
    assert_eq!(wire.received.len(), 18 + 10 + 124);
}

#[test]
fn contexts_belong_to_their_export() {
    for (chosen, used, block_status) in [
        ("one", "one", true),
        ("one", "two", false),
        ("three", "one", false),
    ] {
        let options = [
            an_option(option::STRUCTURED_REPLY, &[]),
            an_option(
                option::SET_META_CONTEXT,
                &of_contexts(chosen, &["base:allocation"]),
            ),
            an_option(option::GO, &of_export(used)),
        ];
        let open = handshake(&["one", "two"], Encryption::Unavailable);
        let (step, _) = outcome(open, &options);
        let Step::Use(agreed) = step else {
            panic!("{step:?}");
        };
        assert_eq!(agreed.block_status, block_status, "{chosen} {used}");
    }
}

#[test]
fn what_cannot_be_answered_is_refused_and_the_handshake_goes_on() {
    use option_reply::{ACK, ERR_INVALID, ERR_UNKNOWN, ERR_UNSUP, META_CONTEXT, SERVER};
    let contexts = an_option(option::LIST_META_CONTEXT, &of_contexts("one", &[]));
    let options = [
        an_option(option::LIST, &[]),
        an_option(option::LIST, b"x"),
        an_option(option::INFO, &of_export("three")),
        an_option(option::GO, b"\0\0\0\x09one"),
        contexts.clone(),
        an_option(99, b"anything"),
        an_option(option::STARTTLS, &[]),
        an_option(option::STRUCTURED_REPLY, &[]),
        contexts,
        an_option(option::ABORT, &[]),
    ];
    let open = handshake(&["one", "two"], Encryption::Unavailable);
    let (step, replies) = outcome(open, &options);
    assert_eq!(step, Step::End);
    let expected = [
        SERVER,
        SERVER,
        ACK, // The list.
        ERR_INVALID,
        ERR_UNKNOWN,
        ERR_INVALID,
        ERR_INVALID, // Contexts without structured replies.
        ERR_UNSUP,
        ERR_UNSUP,
        ACK,
        META_CONTEXT,
        ACK,
        ACK,
    ];
    assert_eq!(kinds(&replies), expected);
    assert_eq!(replies[1].1, b"\0\0\0\x03two");
}

#[test]
fn nothing_is_served_before_it_is_encrypted() {
    let secret = || handshake(&["one"], Encryption::Required);
    let by_name = an_option(option::EXPORT_NAME, b"one");
    assert_eq!(outcome(secret(), &[by_name]).0, Step::End);
    let options = [
        an_option(option::LIST, &[]),
        an_option(option::GO, &of_export("one")),
        an_option(option::STRUCTURED_REPLY, &[]),
        an_option(option::STARTTLS, &[]),
    ];
    let (step, replies) = outcome(secret(), &options);
    assert_eq!(step, Step::StartTls);
    let required = option_reply::ERR_TLS_REQD;
    assert_eq!(
        kinds(&replies),
        [required, required, required, option_reply::ACK]
    );
}

#[test]
fn what_was_agreed_on_without_encryption_does_not_count() {
    let mut open = handshake(&["one"], Encryption::Required);
    let sent = [&[0, 0, 0, 3][..], &an_option(option::STARTTLS, &[])].concat();
    let mut wire = Wire {
        sent: &sent,
        received: Vec::new(),
    };
    assert_eq!(open.begin(&mut wire).unwrap(), Step::StartTls);
    let sent = [
        an_option(option::STARTTLS, &[]),
        an_option(option::GO, &of_export("one")),
    ]
    .concat();
    wire.sent = &sent;
    let step = open.go_on_encrypted(&mut wire).unwrap();
    let agreed = Agreed {
        export: 0,
        structured: false,
        block_status: false,
    };
    assert_eq!(step, Step::Use(agreed));
}

#[test]
fn long_options_and_wrong_beginnings_end_the_connection() {
    let mut long = an_option(option::GO, &[]);
    long[12..16].copy_from_slice(&(16 * 1024 + 1_u32).to_be_bytes());
    let mut wrong = an_option(option::LIST, &[]);
    wrong[0] ^= 1;
    for bad in [long, wrong] {
        let open = handshake(&["one"], Encryption::Unavailable);
        assert_eq!(outcome(open, &[bad]), (Step::End, Vec::new()));
    }
    let mut open = handshake(&["one"], Encryption::Unavailable);
    let mut wire = Wire {
        sent: &[0, 0, 0, 7],
        received: Vec::new(),
    };
    assert_eq!(open.begin(&mut wire).unwrap(), Step::End, "unknown flags");
    wire.sent = &[0, 0];
    let ended = open.begin(&mut wire).unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::UnexpectedEof);
}

/// Options, most of them with the right beginning.
fn some_options() -> impl Strategy<Value = Vec<u8>> {
    let data = proptest::collection::vec(any::<u8>(), 0..64);
    let known = prop_oneof![
        Just(of_export("one")),
        Just(of_contexts("one", &["base:allocation"])),
        data.clone(),
    ];
    let one = prop_oneof![
        8 => (0_u32..12, known).prop_map(|(number, data)| an_option(number, &data)),
        1 => data,
    ];
    proptest::collection::vec(one, 0..8).prop_map(|options| options.concat())
}

proptest! {
    #[test]
    fn any_bytes_end_a_handshake(flags in 0_u32..5, sent in some_options(), cut in 0_usize..600) {
        let mut sent = [&flags.to_be_bytes()[..], &sent].concat();
        sent.truncate(cut);
        for encryption in [Encryption::Unavailable, Encryption::Required] {
            let mut wire = Wire { sent: &sent, received: Vec::new() };
            let step = handshake(&["one", "two"], encryption).begin(&mut wire);
            let uses = matches!(step, Ok(Step::Use(_)));
            prop_assert!(!(uses && encryption == Encryption::Required));
            prop_assert!(!matches!(step, Ok(Step::Continue)));
            // A reply to an option has a few short parts.
            prop_assert!(wire.received.len() <= 18 + 256 * (sent.len() / 16 + 1));
        }
    }
}
