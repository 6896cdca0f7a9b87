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
    /// The first copy in the checkpoint file.
    FirstCheckpoint,
    SecondCheckpoint,
}

impl Part {
    /// The class that damage to it is reported as.
    pub fn class(self) -> &'static str {
        match self {
            Self::CurrentLog | Self::FullLog => "log",
            Self::FirstHeader | Self::SecondHeader => "header",
            Self::FirstCheckpoint | Self::SecondCheckpoint => "checkpoint",
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

impl Part {
    /// What is done to it.
    pub fn harms(self) -> &'static [Harm] {
        match self {
            Self::CurrentLog | Self::FullLog => LOG_HARMS,
            Self::FirstHeader | Self::SecondHeader => HEADER_HARMS,
            Self::FirstCheckpoint | Self::SecondCheckpoint => CHECKPOINT_HARMS,
        }
    }
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

/// What is done to copies of the header.
const HEADER_HARMS: &[Harm] = &[Harm::Flip, Harm::Zero, Harm::Older, Harm::Foreign];

/// What is done to copies of the checkpoint, or to their file.
const CHECKPOINT_HARMS: &[Harm] = &[
    Harm::Flip,
    Harm::Zero,
    Harm::Older,
    Harm::Foreign,
    Harm::Missing,
    Harm::Cut,
];

const CHECKPOINT_FILE: &str = "log-001/E00.chk";

/// Both copies of the header or of the checkpoint, of the database below `target`.
pub fn both_copies(target: &Path, part: Part) -> Vec<u8> {
    let (name, bytes) = match part {
        Part::FirstCheckpoint | Part::SecondCheckpoint => (CHECKPOINT_FILE, 2 * SEGMENT_BYTES),
        _ => ("mail-001/mail-001.edb", 2 * PAGE_BYTES),
    };
    let mut copies = vec![0; bytes as usize];
    let read = open(&target.join(name)).read_exact_at(&mut copies, 0);
    read.map(|()| copies).expect("both copies")
}

/// Harms one part below `target`. `other`: the copies to put in the place.
pub fn harm(target: &Path, part: Part, how: Harm, other: Option<&[u8]>) {
    match part {
        Part::FirstHeader | Part::SecondHeader => {
            let file = open(&target.join("mail-001/mail-001.edb"));
            let copy = u64::from(part == Part::SecondHeader);
            harm_copy(&file, copy, PAGE_BYTES, how, other);
        }
        Part::FirstCheckpoint | Part::SecondCheckpoint => {
            let path = target.join(CHECKPOINT_FILE);
            let copy = u64::from(part == Part::SecondCheckpoint);
            match how {
                Harm::Missing => fs::remove_file(&path).expect("removed"),
                Harm::Cut => open(&path).set_len(SEGMENT_BYTES).expect("cut"),
                _ => harm_copy(&open(&path), copy, SEGMENT_BYTES, how, other),
            }
        }
        Part::CurrentLog => {
            let full = full_logs(target);
            harm_log(&target.join("log-001/E00.log"), how, &full[0]);
        }
        Part::FullLog => {
            let full = full_logs(target);
            assert!(full.len() > 1, "{full:?}");
            harm_log(full.last().expect("a full file"), how, &full[0]);
        }
    }
}

/// Whether there are log files to harm: two full ones, and a current one that goes well beyond the segment
/// that is harmed. (A fault in the last request looks like the end of the log.)
pub fn has_logs_to_harm(target: &Path) -> bool {
    let current = fs::read(target.join("log-001/E00.log")).unwrap_or_default();
    let mut segments = current.chunks(SEGMENT_BYTES as usize);
    let Some(header) = segments.next() else {
        return false;
    };
    // The generation stands in the header, and in the position that each segment begins with.
    let is_of_this_file = |segment: &&[u8]| segment[12..16] == header[4..8];
    full_logs(target).len() > 1 && segments.take_while(is_of_this_file).count() > 8
}

/// Full log files, the oldest first.
pub fn full_logs(target: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(target.join("log-001")).expect("log files");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_full = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.len() == "E0000000001.log".len() && name.ends_with(".log"))
    };
    let mut full: Vec<PathBuf> = paths.filter(is_full).collect();
    full.sort();
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

fn harm_copy(file: &fs::File, copy: u64, copy_bytes: u64, how: Harm, other: Option<&[u8]>) {
    let offset = copy * copy_bytes;
    let mut bytes = vec![0; copy_bytes as usize];
    file.read_exact_at(&mut bytes, offset).expect("a copy");
    let start = offset as usize;
    match (how, other) {
        (Harm::Flip, _) => bytes[100] ^= 4,
        (Harm::Zero, _) => bytes.fill(0),
        (Harm::Older | Harm::Foreign, Some(other)) => {
            bytes.copy_from_slice(&other[start..start + copy_bytes as usize]);
        }
        _ => unreachable!("{how:?} is not done to a copy"),
    }
    file.write_all_at(&bytes, offset).expect("written");
}
