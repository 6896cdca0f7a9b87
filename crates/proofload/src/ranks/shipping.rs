//! The run directories of the ranks on their way to rank 0.
//!
//! A rank says which files it has, with their hashes. Rank 0 asks for those that it does not see itself:
//! on one host, or on a file system that all share, they are there already.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use ::ranks::{Lost, Peers};
use measure::result::FileHash;
use measure::run_directory::hash_file;

use super::coordinator::Facts;
use super::{decoded, encoded};

/// Bytes of a file in one message.
const CHUNK_BYTES: usize = 1 << 20;

const FACTS: &str = "facts";

/// The channel of run directories.
const RUN: &str = "run";

/// Hands the run directory of this rank to rank 0.
///
/// # Errors
/// When rank 0 is lost.
pub fn send(peers: &Peers, directory: &Path, facts: &Facts) -> Result<(), Lost> {
    peers.send(0, FACTS, encoded(facts));
    send_directory(peers, directory, RUN)
}

/// Hands the files of a directory to rank 0. Several can be under way, each on a channel of its own.
///
/// # Errors
/// When rank 0 is lost.
pub fn send_directory(peers: &Peers, directory: &Path, channel: &str) -> Result<(), Lost> {
    let files = offered(directory).unwrap_or_default();
    peers.send(0, &offer(channel), encoded(&files));
    let wanted = peers.receive(0, &wanted(channel))?;
    let wanted: Vec<String> = decoded(Some(&wanted)).unwrap_or_default();
    for name in wanted {
        send_file(peers, &directory.join(name), channel);
    }
    Ok(())
}

fn offer(channel: &str) -> String {
    format!("offer {channel}")
}

fn wanted(channel: &str) -> String {
    format!("wanted {channel}")
}

fn chunk(channel: &str) -> String {
    format!("chunk {channel}")
}

fn offered(directory: &Path) -> io::Result<Vec<FileHash>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let (true, Ok(name)) = (
            entry.file_type()?.is_file(),
            entry.file_name().into_string(),
        ) {
            files.push(hash_file(directory, name, u64::MAX)?);
        }
    }
    Ok(files)
}

/// Sends a file in parts; an empty part ends it. What cannot be read is missed by its hash.
fn send_file(peers: &Peers, path: &Path, channel: &str) {
    if let Ok(mut file) = File::open(path) {
        let mut part = vec![0; CHUNK_BYTES];
        while let Ok(length @ 1..) = file.read(&mut part) {
            peers.send(0, &chunk(channel), part[..length].to_vec());
        }
    }
    peers.send(0, &chunk(channel), Vec::new());
}

/// Rank 0: takes the run directory of a rank, and what it knows of itself.
///
/// # Errors
/// When the rank is lost before it has said what it has.
pub fn receive(peers: &Peers, rank: usize, directory: &Path) -> Result<Received, Lost> {
    let facts = peers.receive(rank, FACTS)?;
    Ok(Received {
        facts: decoded(Some(&facts)).unwrap_or_default(),
        trouble: receive_directory(peers, rank, directory, RUN)?,
    })
}

/// What has arrived of a rank.
#[derive(Debug)]
pub struct Received {
    pub facts: Facts,
    /// The first file that could not be taken, as a sentence.
    pub trouble: Option<String>,
}

/// Rank 0: takes the files of a directory of a rank; gives the first that could not be taken, as a sentence.
///
/// # Errors
/// When the rank is lost before it has said what it has.
pub fn receive_directory(
    peers: &Peers,
    rank: usize,
    directory: &Path,
    channel: &str,
) -> Result<Option<String>, Lost> {
    let files = peers.receive(rank, &offer(channel))?;
    let files: Vec<FileHash> = decoded(Some(&files)).unwrap_or_default();
    let is_plain = |file: &&FileHash| !file.file.contains('/') && !file.file.starts_with('.');
    let missing = files.iter().filter(is_plain);
    let missing: Vec<&FileHash> = missing.filter(|file| !is_there(directory, file)).collect();
    let names: Vec<&str> = missing.iter().map(|file| file.file.as_str()).collect();
    peers.send(rank, &wanted(channel), encoded(&names));
    let mut trouble = None;
    for file in missing {
        let taken = take_file(peers, rank, &directory.join(&file.file), channel)?;
        let taken = taken.map_err(|error| error.to_string());
        let taken = taken.and_then(|()| match is_there(directory, file) {
            true => Ok(()),
            false => Err("it arrived otherwise than it was sent".to_owned()),
        });
        if let Err(error) = taken {
            trouble.get_or_insert(format!("{} of rank {rank} is missing: {error}.", file.file));
        }
    }
    Ok(trouble)
}

fn is_there(directory: &Path, file: &FileHash) -> bool {
    hash_file(directory, file.file.clone(), u64::MAX).is_ok_and(|found| found == *file)
}

/// Takes the parts of a file. They are taken to the end also where they cannot be written.
fn take_file(
    peers: &Peers,
    rank: usize,
    path: &Path,
    channel: &str,
) -> Result<io::Result<()>, Lost> {
    let parent = path.parent().unwrap_or(path);
    let mut file = fs::create_dir_all(parent).and_then(|()| File::create(path));
    loop {
        let part = peers.receive(rank, &chunk(channel))?;
        if part.is_empty() {
            return Ok(file.map(drop));
        }
        if let Ok(open) = &mut file
            && let Err(error) = open.write_all(&part)
        {
            file = Err(error);
        }
    }
}
