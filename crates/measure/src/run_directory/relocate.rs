//! Going on with a run directory elsewhere when its file system is full.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read};
use std::path::Path;

use jiff::Timestamp;

use super::error::RunDirectoryError;
use super::place::make_new;
use super::write::RunDirectory;
use super::{HISTOGRAMS_FILE, LOG_FILE, SAMPLES_FILE, TEMPORARY_FILE};
use crate::histogram::IntervalLog;
use crate::sample::SampleWriter;

impl RunDirectory {
    /// Copies everything that is whole into a new directory below `parent`, where the run goes on.
    /// What is here stays.
    ///
    /// # Errors
    /// When there is no room either, or a file cannot be read.
    pub fn continue_in(&self, parent: &Path) -> Result<RunDirectory, RunDirectoryError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = make_new(parent, &format!("proofload-{name}"), Timestamp::now())?;
        let copied = self.copy_to(&path);
        copied.map_err(|error| {
            // Half a copy is of no use, and its room may be needed.
            let _ = fs::remove_dir_all(&path);
            RunDirectoryError::Write { path, error }
        })
    }

    fn copy_to(&self, path: &Path) -> io::Result<RunDirectory> {
        for entry in fs::read_dir(self.here())? {
            let entry = entry?;
            let name = entry.file_name();
            if !entry.file_type()?.is_file() || name == TEMPORARY_FILE {
                continue;
            }
            let most_bytes = match name.to_str() {
                Some(SAMPLES_FILE) => self.whole.samples,
                Some(HISTOGRAMS_FILE) => self.whole.histograms,
                _ => u64::MAX,
            };
            let mut from = File::open(entry.path())?.take(most_bytes);
            let mut to = File::create_new(path.join(name))?;
            io::copy(&mut from, &mut to)?;
        }
        let append = |file: &str| OpenOptions::new().append(true).open(path.join(file));
        Ok(RunDirectory {
            opened: File::open(path).ok(),
            path: path.to_owned(),
            samples: SampleWriter::resume(BufWriter::new(append(SAMPLES_FILE)?)),
            histograms: IntervalLog::resume(BufWriter::new(append(HISTOGRAMS_FILE)?)),
            log: append(LOG_FILE)?,
            whole: self.whole,
        })
    }
}
