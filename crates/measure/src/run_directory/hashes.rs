//! SHA-256 of the files of a run, and of the result document that holds them.
//!
//! The document cannot hold its own hash, so that field is empty in what is hashed: the hash is that of
//! the bytes of `result.json` with nothing between the quotes behind `document_sha256`. Every other
//! byte counts, also blanks and the last digit of a number.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::open::open_file;
use super::{RESULT_FILE, STATUS_FILE, TEMPORARY_FILE};
use crate::result::{FileHash, RunResult};

/// What stands before the hash of the document. Only a field of the document itself stands two blanks
/// from the margin, and a string has no line end in it.
const BEFORE_HASH: &[u8] = b"\n  \"document_sha256\": \"";

/// Endings of the names of reports, certificates among them.
const REPORTS: [&str; 4] = ["html", "md", "pdf", "xml"];

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The hash that stands in a result document, and the one that it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHash {
    /// What stands in it.
    pub recorded: String,
    /// What follows from its bytes.
    pub recomputed: String,
}

/// The hashes of the files of a run that are written while it lasts, by name. Reports are not among
/// them, as they can be made again, nor is the state of the run, which is removed at its end.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn hash_files(directory: &Path) -> io::Result<Vec<FileHash>> {
    let mut hashes = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let Ok(file) = entry.file_name().into_string() else {
            continue;
        };
        let is_derived =
            is_report(&file) || [RESULT_FILE, STATUS_FILE, TEMPORARY_FILE].contains(&file.as_str());
        if entry.file_type()?.is_file() && !is_derived {
            hashes.push(hash_file(directory, file, u64::MAX)?);
        }
    }
    hashes.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(hashes)
}

/// Whether it is a page or a document made of a result, which may have been made of an interrupted run.
fn is_report(file: &str) -> bool {
    let ending = Path::new(file).extension();
    ending.is_some_and(|ending| REPORTS.iter().any(|report| ending == *report))
}

/// The hash of one file of a directory.
///
/// # Errors
/// When it is none, is larger than `most_bytes`, or cannot be read.
pub fn hash_file(directory: &Path, file: String, most_bytes: u64) -> io::Result<FileHash> {
    let mut reader = open_file(&directory.join(&file), most_bytes)?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
    let mut size_bytes = 0;
    loop {
        match reader.read(&mut chunk)? {
            0 => break,
            length => {
                hash.update(&chunk[..length]);
                size_bytes += length as u64;
            }
        }
    }
    let sha256 = hexadecimal(&hash.finalize());
    Ok(FileHash {
        file,
        size_bytes,
        sha256,
    })
}

/// Sets the hash of the document in the document, by the text that is written.
///
/// # Errors
/// When the result holds what JSON cannot express.
pub(super) fn seal(result: &mut RunResult) -> Result<(), serde_json::Error> {
    result.document_sha256.clear();
    result.document_sha256 = hexadecimal(&Sha256::digest(text_of(result)?));
    Ok(())
}

/// The text of `result.json`.
///
/// # Errors
/// When the result holds what JSON cannot express.
pub(super) fn text_of(result: &RunResult) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = serde_json::to_vec_pretty(result)?;
    text.push(b'\n');
    Ok(text)
}

/// The hash in the text of a result document beside the one that follows from the text; `None` when
/// the document has none, as one that was written by an earlier version or before the end of its run.
#[must_use]
pub fn document_hash(text: &[u8]) -> Option<DocumentHash> {
    let found = text
        .windows(BEFORE_HASH.len())
        .rposition(|window| window == BEFORE_HASH)?;
    let begin = found + BEFORE_HASH.len();
    let length = text[begin..].iter().position(|&byte| byte == b'"')?;
    let (recorded, rest) = text[begin..].split_at(length);
    if recorded.is_empty() {
        return None;
    }
    let hash = Sha256::new()
        .chain_update(&text[..begin])
        .chain_update(rest)
        .finalize();
    Some(DocumentHash {
        recorded: String::from_utf8_lossy(recorded).into_owned(),
        recomputed: hexadecimal(&hash),
    })
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Verdict;

    fn sealed() -> Vec<u8> {
        let mut result = RunResult::new();
        result.set_verdict(Verdict::Pass, "All 12 checks passed.");
        result.duration_s = 7200.25;
        result
            .notes
            .push("\n  \"document_sha256\": \"not this one\"".to_owned());
        seal(&mut result).unwrap();
        text_of(&result).unwrap()
    }

    #[test]
    fn every_single_changed_byte_of_a_document_is_found() {
        let text = sealed();
        let hash = document_hash(&text).unwrap();
        assert_eq!(hash.recorded, hash.recomputed);
        assert_eq!(hash.recorded.len(), 64);
        let mut unnoticed = Vec::new();
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] = if changed[at] == b'7' { b'8' } else { b'7' };
            let same = document_hash(&changed).is_some_and(|one| one.recorded == one.recomputed);
            unnoticed.extend(same.then_some(at));
        }
        assert_eq!(unnoticed, [] as [usize; 0]);
    }

    #[test]
    fn a_document_without_a_hash_has_none() {
        let text = text_of(&RunResult::new()).unwrap();
        assert_eq!(document_hash(&text), None);
        assert_eq!(document_hash(b"{}"), None);
    }

    #[test]
    fn files_are_hashed_as_sha256sum_does() {
        let directory = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("b.csv", "abc"),
            ("a.toml", ""),
            ("report.html", "x"),
            ("old.xml", "x"),
            ("certificate.pdf", "x"),
            ("summary.md", "x"),
        ] {
            fs::write(directory.path().join(file), text).unwrap();
        }
        let hashes = hash_files(directory.path()).unwrap();
        let names: Vec<&str> = hashes.iter().map(|one| one.file.as_str()).collect();
        assert_eq!(names, ["a.toml", "b.csv"]);
        assert_eq!(
            hashes[1].sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(hashes[1].size_bytes, 3);
    }
}
