//! Going on in the directory of a run that was interrupted.

use std::fs::File;
use std::path::Path;

use super::error::RunDirectoryError;
use super::open::{open_to_append, refuse_link};
use super::series::{FIRST_SERIES, SECOND_SERIES, SeriesWriter};
use super::write::RunDirectory;
use super::{LOG_FILE, RESULT_FILE};
use crate::result::WholeBytes;

/// The begin of an interval is logged in milliseconds.
const BEGIN_TOLERANCE_S: f64 = 0.0015;

impl RunDirectory {
    /// Opens the directory of a run that was interrupted, in which the run goes on. What its files hold
    /// beyond `first` and, with a second series of samples, `second` is cut off.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn resume(
        path: &Path,
        first: WholeBytes,
        second: Option<WholeBytes>,
    ) -> Result<RunDirectory, RunDirectoryError> {
        refuse_link(&path.join(RESULT_FILE)).map_err(|error| RunDirectoryError::Write {
            path: path.join(RESULT_FILE),
            error,
        })?;
        let second = second.map(|whole| SeriesWriter::resume(path, SECOND_SERIES, whole));
        Ok(RunDirectory {
            opened: File::open(path).ok(),
            path: path.to_owned(),
            first: SeriesWriter::resume(path, FIRST_SERIES, first)?,
            second: second.transpose()?,
            log: open_to_append(path, LOG_FILE, None)?,
            is_made: false,
        })
    }
}

/// How far the two files of a series hold whole samples. That is as far as they had been written when the
/// result was (`reach`), unless a power cut has taken a part of it: then up to the last sample that is whole
/// in both. Samples that end after `until_s` are left out.
#[must_use]
pub fn whole_samples(
    samples: &[u8],
    histograms: &[u8],
    reach: WholeBytes,
    until_s: f64,
) -> WholeBytes {
    let samples = first_bytes(samples, reach.samples);
    let histograms = first_bytes(histograms, reach.histograms);
    // A file system may have kept the length and lost the contents.
    let is_cut =
        |text: &[u8], reach_bytes: u64| (text.len() as u64) < reach_bytes || !text.ends_with(b"\n");
    let is_samples_cut = is_cut(samples, reach.samples);
    let is_histograms_cut = is_cut(histograms, reach.histograms);
    let beyond = first_beyond(samples, until_s + BEGIN_TOLERANCE_S);
    if !is_samples_cut && !is_histograms_cut && beyond.is_none() {
        return reach;
    }
    let rows = || lines(samples).map(|(end, line)| (end, begin_of_row(line)));
    let intervals = || lines(histograms).map(|(end, line)| (end, begin_of_interval(line)));
    // The last sample of a file that was cut may lack rows, and all that is unreadable follows it.
    let last = |is_cut: bool, begins: &mut dyn Iterator<Item = Option<f64>>| match is_cut {
        true => begins.flatten().last().unwrap_or(f64::NEG_INFINITY),
        false => f64::INFINITY,
    };
    let lost_from_s = f64::min(
        last(is_samples_cut, &mut rows().map(|(_, begin)| begin)),
        last(is_histograms_cut, &mut intervals().map(|(_, begin)| begin)),
    );
    let lost_from_s = lost_from_s.min(beyond.unwrap_or(f64::INFINITY));
    let before = lost_from_s - BEGIN_TOLERANCE_S;
    WholeBytes {
        samples: end_before(rows(), before),
        histograms: end_before(intervals(), before),
    }
}

fn first_bytes(text: &[u8], most: u64) -> &[u8] {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    &text[..text.len().min(most)]
}

/// Whole lines, each with the place behind it.
fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut end = 0;
    text.split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
        .map(move |line| {
            end += line.len() as u64;
            (end, line)
        })
}

/// The end of the lines that stand before the first that begins later, or of which no begin is known though
/// one was known before.
fn end_before(lines: impl Iterator<Item = (u64, Option<f64>)>, before_s: f64) -> u64 {
    let (mut end_bytes, mut has_begun) = (0, false);
    for (end, begin_s) in lines {
        match begin_s {
            Some(begin_s) if begin_s < before_s => has_begun = true,
            None if !has_begun => {}
            _ => break,
        }
        end_bytes = end;
    }
    end_bytes
}

/// The begin of the first sample that ends after `until_s`.
fn first_beyond(samples: &[u8], until_s: f64) -> Option<f64> {
    let mut rows = lines(samples).map(|(_, line)| (begin_of_row(line), field(line, 3)));
    rows.find_map(|row| match row {
        (Some(begins_s), Some(length_s)) => (begins_s + length_s > until_s).then_some(begins_s),
        _ => None,
    })
}

/// The begin of the sample in a row of `samples.csv`; `None` in the names of columns.
fn begin_of_row(line: &[u8]) -> Option<f64> {
    field(line, 2)
}

/// The begin of the interval in a line of `histograms.hlog`; `None` in lines of the header.
fn begin_of_interval(line: &[u8]) -> Option<f64> {
    line.starts_with(b"Tag=").then(|| field(line, 1)).flatten()
}

fn field(line: &[u8], number: usize) -> Option<f64> {
    let field = line.split(|&byte| byte == b',').nth(number)?;
    std::str::from_utf8(field).ok()?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: &str = "sample,phase,begins_s,length_s\n0,warm-up,0,15\n0,warm-up,0,15\n\
                           1,measured,15,15\n1,measured,15,15\n2,measured,30,15\n2,measured,30,15\n";
    const HISTOGRAMS: &str = "#[comment]\n\"StartTimestamp\"\nTag=a/read,15.000,15.0,9,H\n\
                              Tag=a/write,15.000,15.0,9,H\nTag=a/read,30.000,15.0,9,H\nTag=a/write,30.000,15.0,9,H\n";

    fn kept(samples: &str, histograms: &str) -> (String, String) {
        let reach = WholeBytes {
            samples: SAMPLES.len() as u64,
            histograms: HISTOGRAMS.len() as u64,
        };
        let whole = whole_samples(
            samples.as_bytes(),
            histograms.as_bytes(),
            reach,
            f64::INFINITY,
        );
        (
            samples[..whole.samples as usize].to_owned(),
            histograms[..whole.histograms as usize].to_owned(),
        )
    }

    fn begins(text: &str, begin: fn(&[u8]) -> Option<f64>) -> Vec<f64> {
        lines(text.as_bytes())
            .filter_map(|(_, line)| begin(line))
            .collect()
    }

    #[test]
    fn files_that_reach_as_far_as_the_result_says_are_cut_there() {
        let samples = format!("{SAMPLES}3,measured,45\n");
        let histograms = format!("{HISTOGRAMS}Tag=a/read,45");
        let (samples, histograms) = kept(&samples, &histograms);
        assert_eq!((&*samples, &*histograms), (SAMPLES, HISTOGRAMS));
    }

    #[test]
    fn of_files_that_were_cut_every_sample_is_kept_that_is_whole_in_both() {
        for cut in 0..SAMPLES.len() {
            let (samples, histograms) = kept(&SAMPLES[..cut], HISTOGRAMS);
            let mut rows = begins(&samples, begin_of_row);
            assert_eq!(rows.len() % 2, 0, "{cut}: {samples}");
            rows.dedup();
            let mut intervals = begins(&histograms, begin_of_interval);
            assert_eq!(intervals.len() % 2, 0, "{cut}: {histograms}");
            intervals.dedup();
            rows.retain(|&begin| begin > 0.0);
            // Without a row there is no sample to go on with.
            assert!(rows.is_empty() || rows == intervals, "{cut}");
        }
        for cut in 0..HISTOGRAMS.len() {
            let (samples, histograms) = kept(SAMPLES, &HISTOGRAMS[..cut]);
            let (rows, intervals) = (
                begins(&samples, begin_of_row),
                begins(&histograms, begin_of_interval),
            );
            assert_eq!((rows.len() % 2, intervals.len() % 2), (0, 0), "{cut}");
            if cut >= HISTOGRAMS.find("Tag=a/read,30").unwrap() + 30 {
                assert_eq!((rows.len(), intervals.len()), (4, 2), "{cut}");
            }
        }
    }

    #[test]
    fn samples_that_end_too_late_are_left_out_of_both_files() {
        let reach = WholeBytes {
            samples: SAMPLES.len() as u64,
            histograms: HISTOGRAMS.len() as u64,
        };
        let left = |until_s| {
            let whole = whole_samples(SAMPLES.as_bytes(), HISTOGRAMS.as_bytes(), reach, until_s);
            let samples = &SAMPLES[..whole.samples as usize];
            let histograms = &HISTOGRAMS[..whole.histograms as usize];
            (
                begins(samples, begin_of_row),
                begins(histograms, begin_of_interval),
            )
        };
        let (first, second) = ([0.0, 0.0, 15.0, 15.0], [15.0, 15.0]);
        assert_eq!(
            left(45.0),
            (
                [&first[..], &[30.0; 2]].concat(),
                [&second[..], &[30.0; 2]].concat()
            )
        );
        assert_eq!(left(44.9), (first.to_vec(), second.to_vec()));
        assert_eq!(left(30.0), (first.to_vec(), second.to_vec()));
        assert_eq!(left(29.0), (vec![0.0, 0.0], Vec::new()));
    }

    #[test]
    fn zeros_at_the_end_of_a_file_are_no_lines() {
        let mut samples = SAMPLES[..SAMPLES.find("2,measured").unwrap()].to_owned();
        samples.push_str(&"\0".repeat(SAMPLES.len() - samples.len()));
        let (samples, histograms) = kept(&samples, HISTOGRAMS);
        // Nobody knows whether the last sample that is there lacks a row.
        assert_eq!(begins(&samples, begin_of_row), [0.0, 0.0]);
        assert!(begins(&histograms, begin_of_interval).is_empty());
    }
}
