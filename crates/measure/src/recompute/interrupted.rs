//! A run that was interrupted, as its directory has it, so that it can go on.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::samples::{SampleTotals, recount};
use super::{Criteria, Differences, TermsOf, Verified, changed_files, compare, judged};
use crate::result::{Interruption, RunKind, RunResult, Verdict, WholeBytes};
use crate::run_directory::{
    CONFIG_FILE, FIRST_SERIES, LoadError, RESULT_FILE, SECOND_SERIES, SeriesFiles, document_hash,
    load_result, load_samples, read_file, read_result, run_directory_of, whole_samples,
};
use crate::sample::{RunTotals, SampleRow};

/// A run that was interrupted: what it had found out, and how far its files reach.
#[derive(Debug, Clone)]
pub struct InterruptedRun {
    /// Its run directory.
    pub directory: PathBuf,
    /// The result document as it was written last.
    pub result: RunResult,
    /// The same with what follows from the whole samples: it differs where some have been lost.
    pub recomputed: RunResult,
    /// The text of its `config.toml`.
    pub config: String,
    /// What its whole samples come to.
    pub totals: RunTotals,
    /// Whole samples of any phase, which is the number of the next one.
    pub samples: u64,
    /// When the last of them ends, in seconds since the start of the run.
    pub ends_s: f64,
    /// How far the files hold whole samples.
    pub whole: WholeBytes,
    /// The same of the second series, and the number of its next sample; `None` without one.
    pub second: Option<(WholeBytes, u64)>,
}

/// The whole samples of a series.
struct WholeSeries {
    rows: Vec<SampleRow>,
    counts: SampleTotals,
    whole: WholeBytes,
    /// Whether they are all that the result was written with.
    is_complete: bool,
}

/// Why a run cannot go on from its directory.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The directory cannot be read as that of a run.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file cannot be read.
    #[error("{path} cannot be read: {error}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The run has come to its end.
    #[error("the run in {path} was not interrupted: it has ended")]
    Ended {
        /// The run directory.
        path: PathBuf,
    },
    /// It is no run on real storage, or one of several ranks.
    #[error("the run in {path} is {what}, which cannot be resumed")]
    OtherKind {
        /// The run directory.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Nothing was measured before it was interrupted.
    #[error("the run in {path} was interrupted before a whole sample was measured")]
    NothingMeasured {
        /// The run directory.
        path: PathBuf,
    },
    /// Its samples have other columns than this version writes.
    #[error("the run in {path} was begun by version {version}, whose samples have other columns")]
    OtherVersion {
        /// The run directory.
        path: PathBuf,
        /// The version that wrote it.
        version: String,
    },
    /// Samples, histograms and figures contradict each other.
    #[error("the results in {path} were changed, or are damaged: {what}")]
    Damaged {
        /// The run directory.
        path: PathBuf,
        /// The first thing that is wrong.
        what: String,
    },
}

impl InterruptedRun {
    /// Reads the directory of a run that was interrupted, and recomputes its figures. Writes nothing. What
    /// a power cut has left of a sample is left out. `terms` as of [`super::verify`].
    ///
    /// # Errors
    /// When there is none, it cannot go on, or its files contradict each other.
    pub fn load(directory: &Path, terms: TermsOf<'_>) -> Result<InterruptedRun, ResumeError> {
        let directory = run_directory_of(directory).to_owned();
        let result = load_result(&directory)?;
        refuse_kind(&directory, &result)?;
        refuse_changed_files(&directory, &result)?;
        let config = String::from_utf8_lossy(&read(&directory, CONFIG_FILE)?).into_owned();
        let (interval_s, reach) = (result.samples.interval_s, result.samples.files_reach);
        let first = whole_series(
            &directory,
            &result,
            FIRST_SERIES,
            interval_s,
            (reach, f64::INFINITY),
        )?;
        let Some(last) = first.rows.last() else {
            return Err(ResumeError::NothingMeasured { path: directory });
        };
        let totals = &first.counts.totals;
        if totals.measured_s() <= 0.0 {
            return Err(ResumeError::NothingMeasured { path: directory });
        }
        // The numbers are those from 0 on, or there was a difference.
        let (samples, ends_s) = (last.sample + 1, last.begins_s + last.length_s);
        refuse_odd_interruptions(&directory, &result, totals.measured_s())?;
        // Settings that cannot be read are refused where the run is prepared, with the reason.
        let terms = terms(&result, &config).unwrap_or_default();
        let recomputed = recomputed(&directory, &result, &first, terms.as_ref())?;
        let second = match result.samples.second_interval_s {
            Some(interval_s) => {
                let reach = (result.samples.second_files_reach, ends_s);
                let second = whole_series(&directory, &result, SECOND_SERIES, interval_s, reach)?;
                let next = second.rows.last().map_or(0, |row| row.sample + 1);
                Some((second.whole, next))
            }
            None => None,
        };
        Ok(InterruptedRun {
            samples,
            ends_s,
            whole: first.whole,
            totals: first.counts.totals,
            recomputed,
            second,
            config,
            result,
            directory,
        })
    }

    /// What had been measured and is in no sample any more, in seconds.
    #[must_use]
    pub fn lost_s(&self) -> f64 {
        let lost_s = self.result.duration_s - self.totals.measured_s();
        // Lengths are written with six digits behind the point.
        if lost_s > 1e-3 { lost_s } else { 0.0 }
    }

    /// The interruption, for a run that goes on at this time, in seconds since the start of the run.
    #[must_use]
    pub fn interruption(&self, resumed_at_s: f64) -> Interruption {
        Interruption {
            last_sample_s: self.ends_s,
            resumed_at_s,
            measured_s: self.totals.measured_s(),
            lost_s: self.lost_s(),
        }
    }
}

fn read(directory: &Path, file: &str) -> Result<Vec<u8>, ResumeError> {
    let path = directory.join(file);
    read_file(&path).map_err(|error| ResumeError::Read { path, error })
}

/// Reads the whole samples of a series: as far as the result reaches, and none that ends after a time.
fn whole_series(
    directory: &Path,
    result: &RunResult,
    files: SeriesFiles,
    interval_s: f64,
    (reach, until_s): (Option<WholeBytes>, f64),
) -> Result<WholeSeries, ResumeError> {
    let mut histograms = read(directory, files.histograms)?;
    let samples = read(directory, files.samples)?;
    // A run that was stopped has brought its files to an end.
    let reach = reach.unwrap_or(WholeBytes {
        samples: samples.len() as u64,
        histograms: histograms.len() as u64,
    });
    let whole = whole_samples(&samples, &histograms, reach, until_s);
    drop(samples);
    histograms.truncate(usize::try_from(whole.histograms).unwrap_or(usize::MAX));
    refuse_other_columns(directory, result, files)?;
    let rows = load_samples(&directory.join(files.samples), whole.samples)?;
    let damaged = |what: String| ResumeError::Damaged {
        path: directory.to_owned(),
        what,
    };
    let mut differences = Differences::default();
    let counts = recount(files, &rows, &histograms, interval_s, &mut differences);
    let counts = counts.map_err(|error| damaged(error.to_string()))?;
    refuse_differences(directory, &differences)?;
    Ok(WholeSeries {
        rows,
        counts,
        whole,
        is_complete: whole == reach,
    })
}

/// The result as it follows from the samples. Where none is missing, it is the recorded one, or something was
/// changed. Settings are not compared: they are looked at when the run is prepared.
fn recomputed(
    directory: &Path,
    result: &RunResult,
    samples: &WholeSeries,
    terms: Option<&Criteria>,
) -> Result<RunResult, ResumeError> {
    let mut recomputed = judged::recomputed(result, &samples.counts, terms).result;
    recomputed
        .workload
        .settings
        .clone_from(&result.workload.settings);
    if samples.is_complete {
        let mut verified = Verified::default();
        compare::compare(result, &recomputed, &mut verified);
        refuse_differences(directory, &verified.differences)?;
    }
    Ok(recomputed)
}

fn refuse_differences(directory: &Path, differences: &Differences) -> Result<(), ResumeError> {
    match differences.listed.first() {
        None => Ok(()),
        Some(first) => Err(ResumeError::Damaged {
            path: directory.to_owned(),
            what: format!("{}, {}", first.file, first.field),
        }),
    }
}

fn refuse_kind(directory: &Path, result: &RunResult) -> Result<(), ResumeError> {
    let path = directory.to_owned();
    let what = match result.kind {
        RunKind::Prediction => "a prediction",
        RunKind::Trace => "a replay of a trace",
        RunKind::Served => "an array that was served",
        RunKind::Run if !result.ranks.is_empty() => "one of several ranks",
        RunKind::Run if result.witness.is_some() => {
            "one with a witness, which knows what one opening of the databases has acknowledged"
        }
        RunKind::Run if result.replication.is_some() => "one with passive copies",
        RunKind::Run if result.ending_error().is_some() => "one that an error has ended",
        RunKind::Run => {
            let was_stopped = !result.complete || result.verdict == Verdict::Interrupted;
            return match was_stopped {
                true => Ok(()),
                false => Err(ResumeError::Ended { path }),
            };
        }
    };
    Err(ResumeError::OtherKind { path, what })
}

/// A run that was stopped has recorded the hashes of its files and of its result.
fn refuse_changed_files(directory: &Path, result: &RunResult) -> Result<(), ResumeError> {
    let damaged = |file: &str| ResumeError::Damaged {
        path: directory.to_owned(),
        what: format!("{file} has another SHA-256 than was recorded at the end of the run"),
    };
    if let Some(hash) = document_hash(&read_result(directory)?)
        && hash.recorded != hash.recomputed
    {
        return Err(damaged(RESULT_FILE));
    }
    if result.complete && result.document_sha256.is_empty() {
        return Err(damaged(RESULT_FILE));
    }
    match changed_files(directory, result).next() {
        Some((recorded, _)) => Err(damaged(&recorded.file)),
        None => Ok(()),
    }
}

/// Interruptions follow each other, and none after more was measured than there is.
fn refuse_odd_interruptions(
    directory: &Path,
    result: &RunResult,
    measured_s: f64,
) -> Result<(), ResumeError> {
    let mut latest_s = 0.0;
    for one in &result.interruptions {
        // One that gave no sample is followed by another with the same last one.
        let in_order = (latest_s..=one.resumed_at_s).contains(&one.last_sample_s);
        if !in_order
            || !one.resumed_at_s.is_finite()
            || !(0.0..=measured_s + 1e-3).contains(&one.measured_s)
        {
            return Err(ResumeError::Damaged {
                path: directory.to_owned(),
                what: format!("{RESULT_FILE}, interruptions"),
            });
        }
        latest_s = one.last_sample_s;
    }
    Ok(())
}

/// Rows are appended under the names of columns that are there.
fn refuse_other_columns(
    directory: &Path,
    result: &RunResult,
    files: SeriesFiles,
) -> Result<(), ResumeError> {
    let path = directory.join(files.samples);
    let mut names = String::new();
    let file = File::open(&path).map_err(|error| ResumeError::Read {
        path: path.clone(),
        error,
    })?;
    let read = BufReader::new(file).read_line(&mut names);
    read.map_err(|error| ResumeError::Read { path, error })?;
    if names.is_empty() {
        return Err(ResumeError::Damaged {
            path: directory.to_owned(),
            what: format!("{} is empty", files.samples),
        });
    }
    if names.trim_end() == SampleRow::columns().join(",") {
        return Ok(());
    }
    Err(ResumeError::OtherVersion {
        path: directory.to_owned(),
        version: result.version.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{ErrorRecord, RankResult, ReplicationResult, WitnessResult};

    /// Why a run of which this was recorded does not go on; `None` when it does.
    fn refusal(change: impl FnOnce(&mut RunResult)) -> Option<String> {
        let mut result = RunResult::new();
        change(&mut result);
        let refused = refuse_kind(Path::new("out"), &result);
        refused.err().map(|error| error.to_string())
    }

    #[test]
    fn only_runs_that_were_interrupted_go_on() {
        assert_eq!(refusal(|_| ()), None);
        let stopped = |one: &mut RunResult| {
            one.complete = true;
            one.verdict = Verdict::Interrupted;
        };
        assert_eq!(refusal(stopped), None);
        type Change = fn(&mut RunResult);
        let refused: [(&str, Change); 8] = [
            ("it has ended", |one| one.complete = true),
            ("a prediction", |one| one.kind = RunKind::Prediction),
            ("a replay of a trace", |one| one.kind = RunKind::Trace),
            ("an array that was served", |one| one.kind = RunKind::Served),
            ("one of several ranks", |one| {
                one.ranks = vec![RankResult::default()];
            }),
            ("one with a witness", |one| {
                one.witness = Some(WitnessResult::default());
            }),
            ("one with passive copies", |one| {
                one.replication = Some(ReplicationResult::default());
            }),
            ("one that an error has ended", |one| {
                one.errors = vec![ErrorRecord {
                    ended_run: true,
                    ..ErrorRecord::default()
                }];
            }),
        ];
        for (why, change) in refused {
            let text = refusal(change).expect(why);
            assert!(text.contains(why), "{text}");
        }
    }

    #[test]
    fn interruptions_follow_each_other_within_what_was_measured() {
        let in_order = |times: &[(f64, f64, f64)]| {
            let mut result = RunResult::new();
            let interruption = |&(last_sample_s, resumed_at_s, measured_s)| Interruption {
                last_sample_s,
                resumed_at_s,
                measured_s,
                lost_s: 0.0,
            };
            result.interruptions = times.iter().map(interruption).collect();
            refuse_odd_interruptions(Path::new("out"), &result, 60.0).is_ok()
        };
        assert!(in_order(&[]));
        assert!(in_order(&[(30.0, 90.0, 20.0), (120.0, 200.0, 60.0)]));
        // One that gave no sample.
        assert!(in_order(&[(30.0, 90.0, 20.0), (30.0, 200.0, 20.0)]));
        assert!(!in_order(&[(30.0, 29.0, 20.0)]), "resumed before");
        assert!(!in_order(&[(30.0, 90.0, 20.0), (29.0, 200.0, 20.0)]));
        assert!(!in_order(&[(30.0, 90.0, 60.1)]), "more than there is");
        assert!(!in_order(&[(30.0, 90.0, -1.0)]));
        assert!(!in_order(&[(30.0, f64::INFINITY, 20.0)]));
        assert!(!in_order(&[(f64::NAN, 90.0, 20.0)]));
    }
}
