//! `histograms.hlog`: one histogram per interval and tag, in the HdrHistogram V2 text format.
//!
//! Any tool that reads HdrHistogram logs reads these. All values are nanoseconds.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, IntervalLogWriterError,
    LogEntry, LogIteratorError, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};

use super::LatencyHistogram;

/// A failure to write or read a histogram log.
#[derive(Debug, thiserror::Error)]
pub enum IntervalLogError {
    /// The file could not be written.
    #[error("the histogram log cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A histogram could not be encoded.
    #[error("a histogram cannot be encoded: {0}")]
    Encode(String),
    /// The text is not a histogram log.
    #[error("the histogram log is damaged at byte {offset}")]
    Parse {
        /// Where the text stops making sense.
        offset: usize,
    },
    /// A histogram in the log could not be decoded.
    #[error("the histogram of {tag} at {start_s} s in the histogram log is damaged: {reason}")]
    Decode {
        /// Tag of the damaged entry.
        tag: String,
        /// Start of its interval in seconds.
        start_s: f64,
        /// What the decoder said.
        reason: String,
    },
}

/// Writes a histogram log as the run goes on.
pub struct IntervalLog<W: Write> {
    writer: W,
    serializer: V2DeflateSerializer,
}

impl<W: Write> IntervalLog<W> {
    /// Begins a log whose interval times count from `started`.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn begin(mut writer: W, started: SystemTime) -> Result<IntervalLog<W>, IntervalLogError> {
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment("[All values in nanoseconds, times in seconds since the start]")
            .with_start_time(started)
            .with_base_time(started)
            .begin_log_with(&mut writer, &mut serializer)?;
        writer.write_all(b"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",")?;
        writer.write_all(b"\"Interval_Compressed_Histogram\"\n")?;
        Ok(IntervalLog { writer, serializer })
    }

    /// Appends the histogram of one interval under `tag`. Characters that a tag may not hold
    /// become `_`; an empty histogram is not written.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(
        &mut self,
        tag: &str,
        begins_s: f64,
        length_s: f64,
        histogram: &LatencyHistogram,
    ) -> Result<(), IntervalLogError> {
        if histogram.is_empty() {
            return Ok(());
        }
        let tag = clean_tag(tag);
        // A builder without settings writes no header, so this continues the log.
        let mut log = IntervalLogWriterBuilder::new()
            .begin_log_with(&mut self.writer, &mut self.serializer)?;
        let begins = Duration::from_secs_f64(begins_s.max(0.0));
        let length = Duration::from_secs_f64(length_s.max(0.0));
        log.write_histogram(histogram.values(), begins, length, Tag::new(&tag))
            .map_err(|error| match error {
                IntervalLogWriterError::IoError(error) => IntervalLogError::Io(error),
                IntervalLogWriterError::SerializeError(error) => {
                    IntervalLogError::Encode(error.to_string())
                }
            })
    }

    /// Hands everything to the writer below.
    ///
    /// # Errors
    /// When that fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// One entry of a histogram log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedInterval {
    /// Tag of the stream or operation.
    pub tag: String,
    /// Start of the interval in seconds since the start of the run.
    pub begins_s: f64,
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// The latencies of the interval, true to three digits.
    pub histogram: LatencyHistogram,
}

/// Reads a histogram log back, in its order.
///
/// # Errors
/// When the text is not a histogram log, or an entry is damaged.
pub fn read_interval_log(text: &[u8]) -> Result<Vec<LoggedInterval>, IntervalLogError> {
    let mut deserializer = Deserializer::new();
    let mut intervals = Vec::new();
    for entry in IntervalLogIterator::new(text) {
        let entry =
            entry.map_err(
                |LogIteratorError::ParseError { offset }| IntervalLogError::Parse { offset },
            )?;
        if let LogEntry::Interval(interval) = entry {
            intervals.push(decode(&interval, &mut deserializer)?);
        }
    }
    Ok(intervals)
}

fn decode(
    interval: &IntervalLogHistogram<'_>,
    deserializer: &mut Deserializer,
) -> Result<LoggedInterval, IntervalLogError> {
    let tag = interval
        .tag()
        .map_or(String::new(), |t| t.as_str().to_owned());
    let begins_s = interval.start_timestamp().as_secs_f64();
    let damaged = |reason: String| IntervalLogError::Decode {
        tag: tag.clone(),
        start_s: begins_s,
        reason,
    };
    let bytes = base64_bytes(interval.encoded_histogram()).map_err(&damaged)?;
    let values = deserializer
        .deserialize::<u64, _>(&mut bytes.as_slice())
        .map_err(|error| damaged(error.to_string()))?;
    Ok(LoggedInterval {
        histogram: LatencyHistogram::from_values(&values),
        tag,
        begins_s,
        length_s: interval.duration().as_secs_f64(),
    })
}

fn base64_bytes(text: &str) -> Result<Vec<u8>, String> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| error.to_string())
}

fn clean_tag(tag: &str) -> String {
    tag.chars()
        .map(|c| {
            if c == ',' || c.is_whitespace() || c.is_control() {
                '_'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_logged_can_be_read_back() {
        let mut fast = LatencyHistogram::new();
        let mut slow = LatencyHistogram::new();
        for i in 1..=1000u64 {
            fast.record(i * 100_000);
            slow.record(i * 10_000_000);
        }
        let mut text = Vec::new();
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut log = IntervalLog::begin(&mut text, started).unwrap();
        log.append("db 1/database-read", 15.0, 14.75, &fast)
            .unwrap();
        log.append("empty", 15.0, 15.0, &LatencyHistogram::new())
            .unwrap();
        log.append("db2/log-write", 29.75, 15.25, &slow).unwrap();
        log.flush().unwrap();

        let read = read_interval_log(&text).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].tag, "db_1/database-read");
        assert!((read[0].begins_s - 15.0).abs() < 1e-9 && (read[0].length_s - 14.75).abs() < 1e-9);
        assert_eq!(read[1].tag, "db2/log-write");
        for (logged, original) in [(&read[0].histogram, &fast), (&read[1].histogram, &slow)] {
            assert_eq!(logged.count(), original.count());
            for q in [0.01, 0.5, 0.99, 1.0] {
                let (a, b) = (logged.quantile_ms(q), original.quantile_ms(q));
                assert!((a - b).abs() <= b * 0.002, "quantile {q}: {a} and {b}");
            }
        }
    }

    #[test]
    fn a_damaged_log_is_refused_with_the_place() {
        let mut text = Vec::new();
        let mut log = IntervalLog::begin(&mut text, SystemTime::UNIX_EPOCH).unwrap();
        let mut histogram = LatencyHistogram::new();
        histogram.record(1_000_000);
        log.append("a", 0.0, 1.0, &histogram).unwrap();
        let mut text = String::from_utf8(text).unwrap();
        let at = text.find("HIST").unwrap();
        text.replace_range(at..at + 8, "!!!!!!!!");
        let error = read_interval_log(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("histogram of a at 0 s"), "{error}");
    }
}
