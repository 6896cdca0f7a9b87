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

type Histogram = hdrhistogram::Histogram<u64>;

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

    /// Goes on with a log that was begun already.
    pub fn resume(writer: W) -> IntervalLog<W> {
        let serializer = V2DeflateSerializer::new();
        IntervalLog { writer, serializer }
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
        log.write_histogram(&histogram.values(), begins, length, Tag::new(&tag))
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

/// One entry of a histogram log, or several of one tag together.
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

/// Reads a histogram log back, entry by entry in its order. A day of samples holds hundreds of
/// thousands of histograms, so they are never all in memory.
pub struct IntervalLogReader<'a> {
    entries: IntervalLogIterator<'a>,
    deserializer: Deserializer,
}

impl<'a> IntervalLogReader<'a> {
    /// Reads the whole text of a log. A last line without an end, as a crash leaves it, is left
    /// out.
    pub fn new(text: &'a [u8]) -> IntervalLogReader<'a> {
        let whole = text
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |end| end + 1);
        IntervalLogReader {
            entries: IntervalLogIterator::new(&text[..whole]),
            deserializer: Deserializer::new(),
        }
    }

    fn decode(&mut self, entry: &IntervalLogHistogram<'_>) -> Result<Histogram, IntervalLogError> {
        let damaged = |reason: String| IntervalLogError::Decode {
            tag: tag_of(entry).to_owned(),
            start_s: entry.start_timestamp().as_secs_f64(),
            reason,
        };
        let bytes = base64_bytes(entry.encoded_histogram()).map_err(damaged)?;
        self.deserializer
            .deserialize::<u64, _>(&mut bytes.as_slice())
            .map_err(|error| damaged(error.to_string()))
    }

    fn next_entry(&mut self) -> Option<Result<IntervalLogHistogram<'a>, IntervalLogError>> {
        loop {
            return match self.entries.next()? {
                Ok(LogEntry::Interval(entry)) => Some(Ok(entry)),
                Ok(_) => continue,
                Err(LogIteratorError::ParseError { offset }) => {
                    Some(Err(IntervalLogError::Parse { offset }))
                }
            };
        }
    }
}

impl Iterator for IntervalLogReader<'_> {
    type Item = Result<LoggedInterval, IntervalLogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let decoded = self.next_entry()?.and_then(|entry| {
            let values = self.decode(&entry)?;
            Ok(LoggedInterval {
                histogram: LatencyHistogram::from_values(&values),
                tag: tag_of(&entry).to_owned(),
                begins_s: entry.start_timestamp().as_secs_f64(),
                length_s: entry.duration().as_secs_f64(),
            })
        });
        Some(decoded)
    }
}

/// Adds up a histogram log: one entry for each tag, in the order of their first appearance, from
/// the start of its first interval to the end of its last one. `wanted` says by its tag whether an
/// entry is looked at.
///
/// # Errors
/// When the text is not a histogram log, or a wanted entry is damaged.
pub fn merge_interval_log(
    text: &[u8],
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<LoggedInterval>, IntervalLogError> {
    let mut reader = IntervalLogReader::new(text);
    let mut merged: Vec<LoggedInterval> = Vec::new();
    while let Some(entry) = reader.next_entry() {
        let entry = entry?;
        let tag = tag_of(&entry);
        if !wanted(tag) {
            continue;
        }
        let values = reader.decode(&entry)?;
        let begins_s = entry.start_timestamp().as_secs_f64();
        let length_s = entry.duration().as_secs_f64();
        match merged.iter_mut().find(|m| m.tag == tag) {
            Some(known) => {
                known.histogram.add_values(&values);
                known.length_s = begins_s + length_s - known.begins_s;
            }
            None => merged.push(LoggedInterval {
                tag: tag.to_owned(),
                begins_s,
                length_s,
                histogram: LatencyHistogram::from_values(&values),
            }),
        }
    }
    Ok(merged)
}

fn tag_of<'a>(entry: &IntervalLogHistogram<'a>) -> &'a str {
    entry.tag().map_or("", |tag| tag.as_str())
}

fn base64_bytes(text: &str) -> Result<Vec<u8>, String> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| error.to_string())
}

/// A tag without the characters that a log does not allow in one.
pub(crate) fn clean_tag(tag: &str) -> String {
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

        let read: Vec<LoggedInterval> = IntervalLogReader::new(&text)
            .collect::<Result<_, _>>()
            .unwrap();
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
    fn intervals_of_a_tag_add_up_to_the_whole() {
        let (mut first, mut second) = (LatencyHistogram::new(), LatencyHistogram::new());
        (1..=500u64).for_each(|i| first.record(i * 1_000_000));
        (1..=700u64).for_each(|i| second.record(i * 5_000));
        let mut text = Vec::new();
        let mut log = IntervalLog::begin(&mut text, SystemTime::UNIX_EPOCH).unwrap();
        log.append("a", 10.0, 15.0, &first).unwrap();
        log.append("b", 10.0, 15.0, &first).unwrap();
        log.append("a", 25.0, 15.0, &second).unwrap();
        let merged = merge_interval_log(&text, |tag| tag == "a").unwrap();
        assert_eq!(merged.len(), 1);
        assert!((merged[0].begins_s - 10.0).abs() < 1e-9);
        assert!((merged[0].length_s - 30.0).abs() < 1e-9);
        first.merge(&second);
        let (whole, sum) = (&first, &merged[0].histogram);
        assert_eq!(
            whole.buckets().collect::<Vec<_>>(),
            sum.buckets().collect::<Vec<_>>()
        );
        let (a, b) = (whole.average_ms().unwrap(), sum.average_ms().unwrap());
        assert!((a - b).abs() < a * 0.001, "{a} and {b}");
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
        let error = merge_interval_log(text.as_bytes(), |_| true)
            .unwrap_err()
            .to_string();
        assert!(error.contains("histogram of a at 0 s"), "{error}");
    }
}
