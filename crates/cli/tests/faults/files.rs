//! Harm done to log files and to the copies of the header.

use super::super::PAGE_BYTES;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of a segment of a log file.
const SEGMENT_BYTES: u64 = 4096;

/// The part of a database that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The log file that is being written.
    CurrentLog,
    /// The newest one that is full.
    FullLog,
    FirstHeader,
    SecondHeader,
}

impl Part {
    /// The class that damage to it is reported as.
    pub fn class(self) -> &'static str {
        match self {
            Self::CurrentLog | Self::FullLog => "log",
            Self::FirstHeader | Self::SecondHeader => "header",
        }
    }
}

/// What is done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    Flip,
    Zero,
    /// Of a log file: bytes of its header.
    Header,
    /// What it, or a file like it, held before.
    Older,
    /// What belongs to another database.
    Foreign,
    Missing,
    /// It has lost its second half.
    Cut,
}

/// What is done to log files.
pub const LOG_HARMS: &[Harm] = &[
    Harm::Flip,
    Harm::Zero,
    Harm::Header,
    Harm::Older,
    Harm::Missing,
    Harm::Cut,
];

/// Harms one part below `target`. `other`: the header to put in the place.
pub fn harm(target: &Path, part: Part, how: Harm, other: Option<&[u8]>) {
    match part {
        Part::FirstHeader => harm_header(target, 0, how, other),
        Part::SecondHeader => harm_header(target, 1, how, other),
        Part::CurrentLog => {
            let full = full_logs(target);
            harm_log(&target.join("log-001/E00.log"), how, &full[0]);
        }
        Part::FullLog => {
            let full = full_logs(target);
            harm_log(full.last().expect("a full file"), how, &full[0]);
        }
    }
}

/// Full log files, the oldest first.
fn full_logs(target: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(target.join("log-001")).expect("log files");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_full = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.len() == "E0000000001.log".len() && name.ends_with(".log"))
    };
    let mut full: Vec<PathBuf> = paths.filter(is_full).collect();
    full.sort();
    assert!(full.len() > 1, "{full:?}");
    full
}

fn open(path: &Path) -> fs::File {
    let file = fs::File::options().read(true).write(true).open(path);
    file.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn harm_log(path: &Path, how: Harm, oldest: &Path) {
    let put = |offset: u64, bytes: &[u8]| open(path).write_all_at(bytes, offset);
    let done = match how {
        Harm::Flip => {
            let mut byte = [0];
            let place = 3 * SEGMENT_BYTES + 100;
            let read = open(path).read_exact_at(&mut byte, place);
            read.and_then(|()| put(place, &[byte[0] ^ 4]))
        }
        Harm::Zero => put(3 * SEGMENT_BYTES, &[0; SEGMENT_BYTES as usize]),
        Harm::Header => put(60, &[0xA5; 8]),
        Harm::Older => fs::read(oldest).and_then(|bytes| put(0, &bytes)),
        Harm::Missing => fs::remove_file(path),
        Harm::Cut => {
            let file = open(path);
            let bytes = file.metadata().map(|facts| facts.len());
            bytes.and_then(|bytes| file.set_len(bytes / 2))
        }
        Harm::Foreign => unreachable!("logs of other databases have a test of their own"),
    };
    done.unwrap_or_else(|error| panic!("{how:?} {}: {error}", path.display()));
}

fn harm_header(target: &Path, copy: u64, how: Harm, other: Option<&[u8]>) {
    let file = open(&target.join("mail-001/mail-001.edb"));
    let offset = copy * PAGE_BYTES;
    let mut bytes = vec![0; PAGE_BYTES as usize];
    file.read_exact_at(&mut bytes, offset).expect("a header");
    let start = offset as usize;
    match (how, other) {
        (Harm::Flip, _) => bytes[100] ^= 4,
        (Harm::Zero, _) => bytes.fill(0),
        (Harm::Older | Harm::Foreign, Some(other)) => {
            bytes.copy_from_slice(&other[start..start + PAGE_BYTES as usize]);
        }
        _ => unreachable!("{how:?} is not done to a header"),
    }
    file.write_all_at(&bytes, offset).expect("written");
}
