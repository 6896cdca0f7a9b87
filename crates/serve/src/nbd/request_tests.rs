//! Requests on bytes.

use std::io::ErrorKind;

use proptest::prelude::*;

use super::export::MOST_REQUEST_BYTES;
use super::handshake::Agreed;
use super::request::{Command, Request};
use super::wire::{REQUEST_MAGIC, command, command_flag, errno};

const SIZE_BYTES: u64 = 1 << 30;
const AGREED: Agreed = Agreed {
    export: 0,
    structured: true,
    block_status: true,
};

fn a_request(kind: u16, flags: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = REQUEST_MAGIC.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(0x0102_0304_0506_0708_u64.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

fn parsed(bytes: &[u8]) -> Option<Request> {
    Request::parse(bytes.try_into().unwrap())
}

#[test]
fn requests_are_read_with_their_payload() {
    let mut sent = a_request(command::WRITE, command_flag::FUA, 4096, 3);
    sent.extend(b"abc");
    sent.extend(a_request(command::READ, 0, 8192, 512));
    sent.extend(a_request(command::DISC, 0, 0, 0));
    let mut stream = &sent[..];
    let write = Request::read(&mut stream).unwrap().unwrap();
    assert_eq!(
        (write.command, write.cookie),
        (Command::Write, 0x0102_0304_0506_0708)
    );
    assert_eq!((write.offset, write.length), (4096, 3));
    assert!(write.is_durable());
    assert_eq!(write.read_payload(&mut stream).unwrap(), b"abc");
    let read = Request::read(&mut stream).unwrap().unwrap();
    assert_eq!((read.command, read.payload_bytes()), (Command::Read, 0));
    assert!(!read.is_durable());
    assert_eq!(Request::read(&mut stream).unwrap(), None, "the end");
    let ended = Request::read(&mut stream).unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn what_cannot_be_followed_ends_the_connection() {
    let mut wrong = a_request(command::READ, 0, 0, 512);
    wrong[3] ^= 1;
    assert_eq!(parsed(&wrong), None);
    let long = a_request(command::WRITE, 0, 0, MOST_REQUEST_BYTES + 1);
    assert_eq!(Request::read(&mut &long[..]).unwrap(), None);
    let longest = a_request(command::WRITE, 0, 0, MOST_REQUEST_BYTES);
    assert!(Request::read(&mut &longest[..]).unwrap().is_some());
}

#[test]
fn requests_that_are_not_served_are_refused() {
    use command::{BLOCK_STATUS, DISC, FLUSH, READ, TRIM, WRITE, WRITE_ZEROES};
    let simple = Agreed {
        structured: false,
        block_status: false,
        ..AGREED
    };
    let end = SIZE_BYTES;
    let (read_only_flag, fast) = (command_flag::DF, command_flag::FAST_ZERO);
    for (kind, flags, offset, length, agreed, refused) in [
        (READ, 0, 0, 512, simple, None),
        (READ, 0, end, 0, simple, None),
        (READ, 0, end - 1, 2, simple, Some(errno::EINVAL)),
        (READ, 0, u64::MAX, 2, simple, Some(errno::EINVAL)),
        (READ, 0, 0, MOST_REQUEST_BYTES, simple, None),
        (
            READ,
            0,
            0,
            MOST_REQUEST_BYTES + 1,
            simple,
            Some(errno::EINVAL),
        ),
        (READ, read_only_flag, 0, 512, AGREED, None),
        (READ, read_only_flag, 0, 512, simple, Some(errno::EINVAL)),
        (WRITE, command_flag::FUA, end - 512, 512, simple, None),
        (WRITE, 0, end - 511, 512, simple, Some(errno::ENOSPC)),
        (WRITE, fast, 0, 512, simple, Some(errno::EINVAL)),
        (FLUSH, 0, 0, 0, simple, None),
        (TRIM, 0, 0, u32::MAX, simple, Some(errno::EINVAL)),
        (WRITE_ZEROES, fast, 0, 1 << 30, simple, None),
        (WRITE_ZEROES, 0, 1, 1 << 30, simple, Some(errno::ENOSPC)),
        (BLOCK_STATUS, command_flag::REQ_ONE, 0, 1, AGREED, None),
        (BLOCK_STATUS, 0, 0, 0, AGREED, Some(errno::EINVAL)),
        (BLOCK_STATUS, 0, 0, 1, simple, Some(errno::EINVAL)),
        (DISC, 0, 0, 0, simple, Some(errno::EINVAL)),
        (5, 0, 0, 0, AGREED, Some(errno::EINVAL)),
    ] {
        let request = parsed(&a_request(kind, flags, offset, length)).unwrap();
        let number = request
            .refusal(SIZE_BYTES, agreed)
            .map(|(number, _)| number);
        assert_eq!(number, refused, "{request:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_requests_within_limits_or_the_end(
        beginning in any::<bool>(),
        rest in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let magic = REQUEST_MAGIC.to_be_bytes();
        let sent = [&magic[..if beginning { 4 } else { 0 }], &rest].concat();
        let mut stream = &sent[..];
        while let Ok(Some(request)) = Request::read(&mut stream) {
            prop_assert!(request.payload_bytes() <= MOST_REQUEST_BYTES);
            prop_assert!(request.held_bytes() <= MOST_REQUEST_BYTES as usize);
            if request.refusal(SIZE_BYTES, AGREED).is_none() && request.command != Command::Flush {
                prop_assert!(request.offset + u64::from(request.length) <= SIZE_BYTES);
            }
            if request.read_payload(&mut stream).is_err() {
                break;
            }
        }
    }
}
