//! Writing a run directory.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::error::RunDirectoryError;
use super::hashes::{hash_files, seal, text_of};
use super::place::{self, new_directory};
use super::series::{FIRST_SERIES, SECOND_SERIES, SeriesWriter, create_file};
use super::{CONFIG_FILE, LOG_FILE, RESULT_FILE, TEMPORARY_FILE};
use crate::result::RunResult;
use crate::sample::Sample;

/// The files of a run, open for writing.
pub struct RunDirectory {
    pub(super) path: PathBuf,
    /// Held open, so that files are replaced in this very directory, whatever its path leads to by
    /// then; `None` where directories cannot be opened.
    pub(super) opened: Option<File>,
    pub(super) first: SeriesWriter,
    pub(super) second: Option<SeriesWriter>,
    pub(super) log: File,
    /// Whether the directory itself was made for this run.
    pub(super) is_made: bool,
}

impl RunDirectory {
    /// Makes the directory and opens every file, so that what can fail fails before the run.
    ///
    /// `out` is the directory named by the user; it must be new or empty. Without it the directory
    /// is `proofload-runs/<workload>-<UTC time>`. `workload` is a name or the path of a profile.
    /// `config` is the text of `config.toml`.
    ///
    /// # Errors
    /// When the directory holds something, or cannot be made or written.
    pub fn create(
        out: Option<&Path>,
        workload: &str,
        started: Timestamp,
        config: &str,
    ) -> Result<RunDirectory, RunDirectoryError> {
        let was_there = out.is_some_and(Path::is_dir);
        let path = new_directory(out, workload, started)?;
        // Of two runs that begin at once one makes this file, and the directory is its own.
        let config_file = create_file(&path.join(CONFIG_FILE))?;
        let filled = Self::fill(path.clone(), config_file, started, config);
        let mut directory = filled.inspect_err(|_| {
            // Or the same command would be refused once the cause is gone.
            place::remove_begun(&path);
            if !was_there {
                let _ = fs::remove_dir(&path);
            }
        })?;
        directory.is_made = !was_there;
        Ok(directory)
    }

    /// Makes the files of a run in its directory, which has an empty `config.toml` only.
    fn fill(
        path: PathBuf,
        mut config_file: BufWriter<File>,
        started: Timestamp,
        config: &str,
    ) -> Result<RunDirectory, RunDirectoryError> {
        let written = config_file.write_all(config.as_bytes());
        let written = written.and_then(|()| config_file.flush());
        written.map_err(|error| RunDirectoryError::Write {
            path: path.join(CONFIG_FILE),
            error,
        })?;
        drop(config_file);
        let first = SeriesWriter::create(&path, FIRST_SERIES, started)?;
        let log_path = path.join(LOG_FILE);
        let log = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(&log_path)
            .map_err(|error| RunDirectoryError::Write {
                path: log_path,
                error,
            })?;
        let directory = RunDirectory {
            opened: File::open(&path).ok(),
            path,
            first,
            second: None,
            log,
            is_made: false,
        };
        let mut result = RunResult::new();
        result.started = started.to_string();
        directory.write_result(&result)?;
        Ok(directory)
    }

    /// The same with the files of a second series of samples.
    ///
    /// # Errors
    /// When they cannot be made; nothing is left in the directory then.
    pub fn with_second_series(
        mut self,
        started: Timestamp,
    ) -> Result<RunDirectory, RunDirectoryError> {
        let second = SeriesWriter::create(&self.path, SECOND_SERIES, started);
        self.second = Some(second.inspect_err(|_| self.discard())?);
        Ok(self)
    }

    /// Removes the files of a run that does not begin after all, and the directory if it was made for them, so
    /// that the same command is not refused because of them.
    pub fn discard(&self) {
        place::remove_begun(&self.here());
        if self.is_made {
            // One that holds something stays.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Path of the directory, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line into `log.txt`, with the present time before it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn log(&mut self, line: &str) -> Result<(), RunDirectoryError> {
        let now = Timestamp::now();
        // One call, so that a crash never leaves half a time stamp.
        let text = format!("{now:.3} {line}\n");
        self.log
            .write_all(text.as_bytes())
            .map_err(|error| RunDirectoryError::Write {
                path: self.path.join(LOG_FILE),
                error,
            })
    }

    /// Appends a sample of the first series.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn append(&mut self, sample: &Sample) -> Result<(), RunDirectoryError> {
        let here = self.here();
        self.first.append(sample, &here, &self.path)
    }

    /// Appends a sample of the second series; without one it does nothing.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn append_second(&mut self, sample: &Sample) -> Result<(), RunDirectoryError> {
        let here = self.here();
        match &mut self.second {
            Some(second) => second.append(sample, &here, &self.path),
            None => Ok(()),
        }
    }

    /// Replaces `result.json` in one step: a reader sees the old document or the new one. Only a
    /// complete result is forced to stable storage, because doing so at every sample would disturb
    /// the storage under test when the run directory lies on it.
    ///
    /// # Errors
    /// When the document holds a number that JSON cannot express, or cannot be written.
    pub fn write_result(&self, result: &RunResult) -> Result<(), RunDirectoryError> {
        let mut result = Cow::Borrowed(result);
        if !result.complete && result.document_sha256.is_empty() {
            let samples = &mut result.to_mut().samples;
            samples.files_reach = Some(self.first.whole());
            samples.second_files_reach = self.second.as_ref().map(SeriesWriter::whole);
        }
        let text = text_of(&result)?;
        // A number that is not finite is written as null and would make the document unreadable.
        serde_json::from_slice::<RunResult>(&text)?;
        let here = self.here();
        let path = here.join(RESULT_FILE);
        let temporary = here.join(TEMPORARY_FILE);
        let replace = || {
            // A link that somebody put there is removed, and not followed.
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = File::create_new(&temporary)?;
            file.write_all(&text)?;
            // With a witness it is to be found after a power cut.
            if result.complete || result.witness.is_some() {
                file.sync_all()?;
            }
            fs::rename(&temporary, &path)
        };
        replace().map_err(|error| {
            // Half a document is of no use and may take the last room.
            let _ = fs::remove_file(&temporary);
            RunDirectoryError::Write {
                path: self.path.join(RESULT_FILE),
                error,
            }
        })
    }

    /// Makes the files that are there durable, so that they are found after a power cut.
    ///
    /// # Errors
    /// When the storage of the results fails.
    pub fn sync(&self) -> Result<(), RunDirectoryError> {
        let here = self.here();
        let parent = self.path.parent().filter(|path| path.is_dir());
        let directories = [Some(here.as_path()), parent];
        let sync = |path: &Path| File::open(path).and_then(|opened| opened.sync_all());
        let files = [CONFIG_FILE, RESULT_FILE].map(|name| here.join(name));
        let files = files.iter().map(PathBuf::as_path);
        for path in files.chain(directories.into_iter().flatten()) {
            sync(path).map_err(|error| RunDirectoryError::Write {
                path: path.to_owned(),
                error,
            })?;
        }
        Ok(())
    }

    /// Writes the result of a run that has ended: with the hashes of all other files, which are not
    /// written any more, and its own, so that a later change of any of them is found. They are set in
    /// `result`, too.
    ///
    /// # Errors
    /// As [`RunDirectory::write_result`], when a file cannot be read, and, after the result has been written, when
    /// the samples are not what was written.
    pub fn write_final_result(&self, result: &mut RunResult) -> Result<(), RunDirectoryError> {
        result.files = hash_files(&self.here()).map_err(|error| RunDirectoryError::Hash {
            path: self.path.clone(),
            error,
        })?;
        seal(result)?;
        self.write_result(result)?;
        let series = [Some(&self.first), self.second.as_ref()];
        let mut series = series.into_iter().flatten();
        series.try_for_each(|series| series.refuse_changed(&result.files, &self.path))
    }

    /// Whether its path still leads to it.
    ///
    /// # Errors
    /// When it does not, and everything that is written by the path goes elsewhere.
    pub fn refuse_replaced(&self) -> Result<(), RunDirectoryError> {
        let opened = self
            .opened
            .as_ref()
            .and_then(|opened| opened.metadata().ok());
        let now = fs::metadata(&self.path).ok();
        match (opened, now) {
            (Some(opened), Some(now)) if identity(&opened) == identity(&now) => Ok(()),
            (None, _) => Ok(()), // Directories cannot be opened here.
            _ => Err(RunDirectoryError::Replaced {
                path: self.path.clone(),
            }),
        }
    }

    /// A path of the directory that is held open: the kernel's name for it, or else its own.
    pub(super) fn here(&self) -> PathBuf {
        let opened = self.opened.as_ref().and_then(kernel_name);
        opened.unwrap_or_else(|| self.path.clone())
    }
}

#[cfg(unix)]
fn identity(facts: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (facts.dev(), facts.ino())
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// The path by which this process reaches an open directory itself.
#[cfg(target_os = "linux")]
fn kernel_name(directory: &File) -> Option<PathBuf> {
    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let path = PathBuf::from(path);
    path.is_dir().then_some(path)
}

#[cfg(not(target_os = "linux"))]
fn kernel_name(_: &File) -> Option<PathBuf> {
    None
}
