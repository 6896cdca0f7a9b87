//! The two files of a series of samples.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;

use super::error::RunDirectoryError;
use super::hashed_file::{HashedFile, Written};
use super::open::open_to_append;
use super::{HISTOGRAMS_FILE, SAMPLES_FILE};
use crate::histogram::{IntervalLog, IntervalLogError};
use crate::metric::Stream;
use crate::result::{FileHash, WholeBytes};
use crate::sample::{OperationMeter, Phase, Sample, SampleWriter};

/// The names of the files of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesFiles {
    /// Rows of each sample of every phase.
    pub samples: &'static str,
    /// Histograms of each sample of the measured phase.
    pub histograms: &'static str,
}

/// The series that a run is judged by.
pub const FIRST_SERIES: SeriesFiles = SeriesFiles {
    samples: SAMPLES_FILE,
    histograms: HISTOGRAMS_FILE,
};

/// The same run in samples of another length.
pub const SECOND_SERIES: SeriesFiles = SeriesFiles {
    samples: "samples-2.csv",
    histograms: "histograms-2.hlog",
};

/// A series, open for writing.
pub(super) struct SeriesWriter {
    files: SeriesFiles,
    samples: SampleWriter<BufWriter<HashedFile>>,
    histograms: IntervalLog<BufWriter<HashedFile>>,
    /// What both files must hold.
    written: [Written; 2],
    /// What a failed write leaves behind it is of no use.
    whole: WholeBytes,
}

impl SeriesWriter {
    /// Makes the files in a run directory.
    pub(super) fn create(
        directory: &Path,
        files: SeriesFiles,
        started: Timestamp,
    ) -> Result<Self, RunDirectoryError> {
        let path = directory.join(files.samples);
        let file = HashedFile::new(create(&path)?);
        let written_samples = file.written();
        let samples = SampleWriter::begin(BufWriter::new(file))
            .map_err(|error| RunDirectoryError::Samples { path, error })?;
        let path = directory.join(files.histograms);
        let file = HashedFile::new(create(&path)?);
        let written = [written_samples, file.written()];
        let mut histograms = IntervalLog::begin(BufWriter::new(file), SystemTime::from(started))
            .map_err(|error| RunDirectoryError::Histograms {
                path: path.clone(),
                error,
            })?;
        histograms
            .flush()
            .map_err(|error| RunDirectoryError::Write { path, error })?;
        let mut series = Self {
            files,
            samples,
            histograms,
            written,
            whole: WholeBytes::default(),
        };
        series.note_whole(directory, directory)?;
        Ok(series)
    }

    /// Opens the files of a run directory to go on behind `whole`.
    pub(super) fn resume(
        directory: &Path,
        files: SeriesFiles,
        whole: WholeBytes,
    ) -> Result<Self, RunDirectoryError> {
        let append = |name: &str, bytes| {
            let file = open_to_append(directory, name, Some(bytes))?;
            let path = directory.join(name);
            HashedFile::resume(file, &path)
                .map_err(|error| RunDirectoryError::Write { path, error })
        };
        let samples = append(files.samples, whole.samples)?;
        let histograms = append(files.histograms, whole.histograms)?;
        let written = [samples.written(), histograms.written()];
        Ok(Self {
            files,
            written,
            samples: SampleWriter::resume(BufWriter::new(samples)),
            histograms: IntervalLog::resume(BufWriter::new(histograms)),
            whole,
        })
    }

    /// Appends a sample, and its histograms when it belongs to the measured phase. `here` is where the
    /// directory is now, `directory` its path as it was given.
    pub(super) fn append(
        &mut self,
        sample: &Sample,
        here: &Path,
        directory: &Path,
    ) -> Result<(), RunDirectoryError> {
        self.refuse_cut(here, directory)?;
        let path = |file: &str| directory.join(file);
        self.samples
            .append(sample)
            .map_err(|error| RunDirectoryError::Samples {
                path: path(self.files.samples),
                error,
            })?;
        if sample.phase == Phase::Measured {
            append_histograms(&mut self.histograms, sample).map_err(|error| {
                RunDirectoryError::Histograms {
                    path: path(self.files.histograms),
                    error,
                }
            })?;
        }
        self.note_whole(here, directory)
    }

    /// A file that is not as long as it was written has lost samples.
    fn refuse_cut(&self, here: &Path, directory: &Path) -> Result<(), RunDirectoryError> {
        for (name, written) in self.names().into_iter().zip(&self.written) {
            let facts = fs::metadata(here.join(name));
            if facts.is_ok_and(|facts| facts.len() < written.bytes()) {
                let path = directory.join(name);
                return Err(RunDirectoryError::Changed { path });
            }
        }
        Ok(())
    }

    /// Refuses files whose hashes are not those of what was written to them.
    pub(super) fn refuse_changed(
        &self,
        hashes: &[FileHash],
        directory: &Path,
    ) -> Result<(), RunDirectoryError> {
        for (name, written) in self.names().into_iter().zip(&self.written) {
            let path = directory.join(name);
            match hashes.iter().find(|hash| hash.file == name) {
                None => return Err(RunDirectoryError::Removed { path }),
                Some(hash) if hash.sha256 != written.sha256() => {
                    return Err(RunDirectoryError::Changed { path });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The names of the files, in the order of what they must hold.
    fn names(&self) -> [&'static str; 2] {
        [self.files.samples, self.files.histograms]
    }

    /// What was written to a file that was removed is lost.
    fn note_whole(&mut self, here: &Path, directory: &Path) -> Result<(), RunDirectoryError> {
        let length = |file| {
            let path = directory.join(file);
            match fs::metadata(here.join(file)) {
                Ok(facts) => Ok(facts.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Err(RunDirectoryError::Removed { path })
                }
                Err(error) => Err(RunDirectoryError::Write { path, error }),
            }
        };
        self.whole = WholeBytes {
            samples: length(self.files.samples)?,
            histograms: length(self.files.histograms)?,
        };
        Ok(())
    }

    /// How far the files hold whole samples.
    pub(super) fn whole(&self) -> WholeBytes {
        self.whole
    }

    /// How much of a file is whole; `None` of one that is not of this series.
    pub(super) fn whole_bytes_of(&self, file: &str) -> Option<u64> {
        let SeriesFiles {
            samples,
            histograms,
        } = self.files;
        match file {
            _ if file == samples => Some(self.whole.samples),
            _ if file == histograms => Some(self.whole.histograms),
            _ => None,
        }
    }
}

/// One entry for each stream of each database, and two for each operation of all databases.
fn append_histograms(
    log: &mut IntervalLog<BufWriter<HashedFile>>,
    sample: &Sample,
) -> Result<(), IntervalLogError> {
    let (begins_s, length_s) = (sample.begins_s, sample.length_s);
    for (name, meters) in sample.layout.databases.iter().zip(&sample.databases) {
        for stream in Stream::ALL {
            if let Some(meter) = meters.stream(stream) {
                log.append(
                    &format!("{name}/{stream}"),
                    begins_s,
                    length_s,
                    &meter.latency,
                )?;
            }
        }
    }
    for (index, kind) in sample.layout.operations.iter().enumerate() {
        let mut all = OperationMeter::default();
        sample
            .databases
            .iter()
            .filter_map(|d| d.operation(index))
            .for_each(|m| all.merge(m));
        let tag = format!("operation/{}", kind.name);
        log.append(&tag, begins_s, length_s, &all.service)?;
        let tag = format!("{tag}/response-time");
        log.append(&tag, begins_s, length_s, &all.response_time)?;
    }
    log.flush()?;
    Ok(())
}

pub(super) fn create_file(path: &Path) -> Result<BufWriter<File>, RunDirectoryError> {
    create(path).map(BufWriter::new)
}

fn create(path: &Path) -> Result<File, RunDirectoryError> {
    File::create_new(path).map_err(|error| RunDirectoryError::Write {
        path: path.to_owned(),
        error,
    })
}
