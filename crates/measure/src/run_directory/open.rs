//! Opening files that may have been put there by others, such as those of a run directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Take};
use std::path::Path;

use super::error::RunDirectoryError;

/// Bytes of a file that is read into memory at most: 2 GiB. The samples of 24 hours of 100 databases take
/// some hundred MiB.
pub const MOST_BYTES: u64 = 2 << 30;

/// Opens a file, such as one of a run directory, to be read as far as it reaches now. A pipe, a socket or a device is
/// refused: reading one may wait forever, or never end.
///
/// # Errors
/// When there is no such file, it is none, or it is larger than `most_bytes`.
pub fn open_file(path: &Path, most_bytes: u64) -> io::Result<Take<File>> {
    let facts = fs::metadata(path)?;
    if !facts.is_file() {
        let text = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    if facts.len() > most_bytes {
        let text = format!(
            "it has {} bytes, and at most {most_bytes} are read",
            facts.len()
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    // Some files of the kernel have no length and no end.
    Ok(File::open(path)?.take(facts.len()))
}

/// The bytes of a file of a run directory, of which there are at most [`MOST_BYTES`].
///
/// # Errors
/// As those of [`open_file`], and when it cannot be read.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path, MOST_BYTES)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file of a run directory to be appended to. What it holds beyond `most_bytes` is cut off.
pub(super) fn open_to_append(
    directory: &Path,
    file: &str,
    most_bytes: Option<u64>,
) -> Result<File, RunDirectoryError> {
    let path = directory.join(file);
    let open = || {
        refuse_link(&path)?;
        let file = OpenOptions::new().append(true).open(&path)?;
        if let Some(bytes) = most_bytes {
            file.set_len(bytes)?;
        }
        Ok(file)
    };
    open().map_err(|error| RunDirectoryError::Write {
        path: path.clone(),
        error,
    })
}

/// A link that was put in the place of a file would lead writes elsewhere.
pub(super) fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is a link or not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_are_read_as_far_as_they_reach() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "abc").unwrap();
        assert_eq!(read_file(&path).unwrap(), b"abc");
        let refusal = |most_bytes| open_file(&path, most_bytes).map_err(|error| error.kind());
        assert!(refusal(3).is_ok());
        assert_eq!(refusal(2).unwrap_err(), io::ErrorKind::FileTooLarge);
        let mut opened = open_file(&path, 3).unwrap();
        let grown = File::options().append(true).open(&path).unwrap();
        grown.set_len(10).unwrap();
        let mut text = String::new();
        opened.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
        let absent = read_file(&scratch.path().join("absent"));
        assert_eq!(absent.unwrap_err().kind(), io::ErrorKind::NotFound);
        let directory = read_file(scratch.path()).unwrap_err();
        assert_eq!(directory.to_string(), "it is not a regular file");
    }
}
