//! The state of a run as a file of its run directory, there while the run lasts.
//!
//! The file is written over in place, so that the file system below has nothing to do but to keep a few
//! pages: a new file each second would be changes of its journal. A reader knows by two numbers whether
//! it has read between two states, and reads again. The process of the run holds a lock on the file:
//! where nobody does, the run was killed.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use measure::run_directory::{MOST_BYTES, STATUS_FILE, open_file};
use rustix::fs::{FlockOperation, flock};

use crate::status::RunStatus;

/// The document is filled up with blanks to a multiple of this, so that it rarely changes its length.
const UNIT: usize = 4_096;
/// How often a state is read that was just being written.
const MOST_READS: u32 = 20;

/// Keeps the file up to date, from a thread of its own: storage that hangs does not hold up the run.
pub struct StatusFile {
    shared: Arc<Shared>,
    path: PathBuf,
}

#[derive(Default)]
struct Shared {
    next: Mutex<Next>,
    changed: Condvar,
}

#[derive(Default)]
struct Next {
    status: Option<RunStatus>,
    ended: bool,
}

impl StatusFile {
    /// Makes the file in a run directory, with a first state.
    ///
    /// # Errors
    /// It cannot be made, locked or written.
    pub fn create(directory: &Path, first: RunStatus) -> io::Result<Self> {
        let path = directory.join(STATUS_FILE);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.set_len(0)?;
        write(&file, first, 1)?;
        let shared = Arc::new(Shared::default());
        let of_writer = Arc::clone(&shared);
        let writer = move || {
            let mut number = 1;
            while let Some(status) = of_writer.wait() {
                number += 1;
                // A state that cannot be written is followed by another one.
                let _ = write(&file, status, number);
            }
        };
        let thread = thread::Builder::new().name("status".to_owned());
        thread.spawn(writer)?;
        Ok(Self { shared, path })
    }

    /// Has the state written; one that was not written yet is left out.
    pub fn put(&self, status: RunStatus) {
        let mut next = self
            .shared
            .next
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        next.status = Some(status);
        self.shared.changed.notify_one();
    }
}

impl Drop for StatusFile {
    fn drop(&mut self) {
        let mut next = self
            .shared
            .next
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        next.ended = true;
        self.shared.changed.notify_one();
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Shared {
    /// The next state; `None` at the end.
    fn wait(&self) -> Option<RunStatus> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if next.ended {
                return None;
            }
            if let Some(status) = next.status.take() {
                return Some(status);
            }
            let waited = self.changed.wait(next);
            next = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Writes the state with this number.
fn write(file: &File, mut status: RunStatus, number: u64) -> io::Result<()> {
    (status.begin, status.end) = (number, number);
    let mut text = serde_json::to_vec(&status)?;
    text.push(b'\n');
    let before = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    let length = text.len().next_multiple_of(UNIT).max(before);
    text.resize(length, b' ');
    file.write_all_at(&text, 0)
}

/// What a run directory says of a run that may be going on.
#[derive(Debug)]
pub enum Found {
    /// It goes on.
    Running(Box<RunStatus>),
    /// Its process was killed.
    Killed(Box<RunStatus>),
    /// There is no state: it has ended, or has not begun.
    Nothing,
}

/// Reads the state in a run directory.
///
/// # Errors
/// The file is there and cannot be read.
pub fn read(directory: &Path) -> io::Result<Found> {
    let mut file = match open_file(&directory.join(STATUS_FILE), MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        opened => opened?.into_inner(),
    };
    let is_held = flock(&file, FlockOperation::NonBlockingLockShared).is_err();
    if !is_held {
        flock(&file, FlockOperation::Unlock)?;
    }
    for _ in 0..MOST_READS {
        if let Some(status) = read_once(&mut file)? {
            let status = Box::new(status);
            return Ok(match is_held {
                true => Found::Running(status),
                false => Found::Killed(status),
            });
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(Found::Nothing)
}

/// One reading; `None` where it fell between two states.
fn read_once(file: &mut File) -> io::Result<Option<RunStatus>> {
    let mut text = Vec::new();
    io::Seek::rewind(file)?;
    file.read_to_end(&mut text)?;
    let status: Option<RunStatus> = serde_json::from_slice(&text).ok();
    Ok(status.filter(|status| status.begin == status.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_for(directory: &Path, wanted: impl Fn(&Found) -> bool) -> Found {
        for _ in 0..500 {
            let found = read(directory).unwrap();
            if wanted(&found) {
                return found;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{:?}", read(directory));
    }

    #[test]
    fn a_state_can_be_read_while_it_is_kept_and_is_gone_afterwards() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert!(matches!(read(path).unwrap(), Found::Nothing));
        let mut status = RunStatus::new("1", "mail", "/t");
        let file = StatusFile::create(path, status.clone()).unwrap();
        // Whoever kills the run now leaves a state.
        assert!(matches!(read(path).unwrap(), Found::Running(_)));
        for number in 0..50 {
            status.done_bytes = number;
            status.notes = vec!["x".repeat(5_000 - 100 * number as usize)];
            file.put(status.clone());
        }
        let found = wait_for(
            path,
            |found| matches!(found, Found::Running(status) if status.done_bytes == 49),
        );
        assert!(matches!(found, Found::Running(status) if status.workload == "mail"));
        let other = StatusFile::create(path, status);
        assert!(other.is_err(), "one process keeps it");
        drop(file);
        assert!(matches!(read(path).unwrap(), Found::Nothing));
    }

    #[test]
    fn a_state_without_a_lock_is_that_of_a_killed_run() {
        let directory = tempfile::tempdir().unwrap();
        let file = File::create(directory.path().join(STATUS_FILE)).unwrap();
        let mut status = RunStatus::new("1", "mail", "/t");
        write(&file, status.clone(), 1).unwrap();
        let found = read(directory.path()).unwrap();
        assert!(matches!(found, Found::Killed(_)), "{found:?}");
        // Half a state is none.
        (status.begin, status.end) = (7, 8);
        std::fs::write(
            directory.path().join(STATUS_FILE),
            serde_json::to_vec(&status).unwrap(),
        )
        .unwrap();
        assert!(matches!(read(directory.path()).unwrap(), Found::Nothing));
    }
}
