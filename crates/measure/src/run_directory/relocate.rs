//! Going on with a run directory elsewhere when its file system is full.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use jiff::Timestamp;

use super::TEMPORARY_FILE;
use super::error::RunDirectoryError;
use super::place::make_new;
use super::series::SeriesWriter;
use super::write::RunDirectory;

impl RunDirectory {
    /// Copies everything that is whole into a new directory below `parent`, where the run goes on.
    /// What is here stays.
    ///
    /// # Errors
    /// When there is no room either, or a file cannot be read.
    pub fn continue_in(&self, parent: &Path) -> Result<RunDirectory, RunDirectoryError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = make_new(parent, &format!("proofload-{name}"), Timestamp::now())?;
        let copied = self
            .copy_to(&path)
            .map_err(|error| RunDirectoryError::Write {
                path: path.clone(),
                error,
            });
        let second = self.second.as_ref().map(SeriesWriter::whole);
        copied
            .and_then(|()| RunDirectory::resume(&path, self.first.whole(), second))
            .inspect_err(|_| {
                // Half a copy is of no use, and its room may be needed.
                let _ = fs::remove_dir_all(&path);
            })
    }

    fn copy_to(&self, path: &Path) -> io::Result<()> {
        let series = || {
            [Some(&self.first), self.second.as_ref()]
                .into_iter()
                .flatten()
        };
        for entry in fs::read_dir(self.here())? {
            let entry = entry?;
            let name = entry.file_name();
            if !entry.file_type()?.is_file() || name == TEMPORARY_FILE {
                continue;
            }
            let whole = |file| series().find_map(|series| series.whole_bytes_of(file));
            let most_bytes = name.to_str().and_then(whole).unwrap_or(u64::MAX);
            let mut from = File::open(entry.path())?.take(most_bytes);
            let mut to = File::create_new(path.join(name))?;
            io::copy(&mut from, &mut to)?;
        }
        Ok(())
    }
}
