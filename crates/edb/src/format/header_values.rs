//! Times and log positions as the database header stores them.

use std::fmt;

/// A point in time, as headers store it: calendar fields in UTC and milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogTime {
    /// Milliseconds since 1970, UTC, until the year 2155; 0 = not set.
    pub unix_ms: u64,
}

/// As people read it, or the time since the run began where the clock begins there.
impl fmt::Display for LogTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, milliseconds) = (self.unix_ms / 1000, self.unix_ms % 1000);
        let (hour, minute, second) = (seconds % 86_400 / 3600, seconds / 60 % 60, seconds % 60);
        let time = format!("{hour:02}:{minute:02}:{second:02}.{milliseconds:03}");
        if seconds < 86_400 {
            return write!(f, "{time} after the start");
        }
        let (year, month, day) = self.date();
        write!(f, "{year}-{month:02}-{day:02} {time} UTC")
    }
}

impl LogTime {
    /// Year, month and day in UTC.
    #[must_use]
    pub fn date(self) -> (u64, u64, u64) {
        civil_of_days(self.unix_ms / 86_400_000)
    }

    pub(crate) fn encode(self) -> [u8; 8] {
        if self.unix_ms == 0 {
            return [0; 8];
        }
        let (seconds, millisecond) = (self.unix_ms / 1000, self.unix_ms % 1000);
        let (year, month, day) = civil_of_days(seconds / 86_400);
        [
            (seconds % 60) as u8,
            (seconds / 60 % 60) as u8,
            (seconds / 3600 % 24) as u8,
            day as u8,
            month as u8,
            (year - 1900) as u8,
            1 | ((millisecond & 0x7F) as u8) << 1,
            ((millisecond >> 7) as u8) << 1,
        ]
    }

    pub(crate) fn decode(bytes: [u8; 8]) -> Self {
        if bytes == [0; 8] {
            return Self::default();
        }
        let [second, minute, hour, day, month, year, low, high] = bytes.map(u64::from);
        let days = days_of_civil(year + 1900, month.clamp(1, 12), day.max(1));
        let millisecond = (low >> 1) | (high >> 1 & 7) << 7;
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
        Self {
            unix_ms: seconds * 1000 + millisecond,
        }
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil_of_days(mut days: u64) -> (u64, u64, u64) {
    let (mut year, mut month) = (1970, 1);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

fn days_of_civil(year: u64, month: u64, day: u64) -> u64 {
    let years: u64 = (1970..year).map(|y| 365 + u64::from(is_leap(y))).sum();
    let months: u64 = (1..month).map(|m| days_of_month(year, m)).sum();
    years + months + day - 1
}

/// A place in the log, as headers store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct HeaderLogPosition {
    /// Log file, from 1; 0 = not set.
    pub generation: u32,
    /// Sector of 4,096 bytes in that file.
    pub sector: u16,
    /// Byte in that sector.
    pub byte: u16,
}

/// Bytes of a log sector.
const LOG_SECTOR_BYTES: u64 = 4096;

impl HeaderLogPosition {
    /// From the byte position in the endless stream of log files.
    ///
    /// # Panics
    /// If the position does not fit the fields (beyond two thousand million log files).
    #[must_use]
    pub fn from_stream(position: u64, log_file_size_bytes: u64) -> Self {
        let generation = position / log_file_size_bytes;
        assert!(
            generation <= i32::MAX as u64,
            "the log has run out of generations"
        );
        let within = position % log_file_size_bytes;
        Self {
            generation: generation as u32,
            sector: (within / LOG_SECTOR_BYTES) as u16,
            byte: (within % LOG_SECTOR_BYTES) as u16,
        }
    }

    /// The byte position in the endless stream of log files.
    #[must_use]
    pub fn to_stream(self, log_file_size_bytes: u64) -> u64 {
        let within = u64::from(self.sector) * LOG_SECTOR_BYTES + u64::from(self.byte);
        u64::from(self.generation) * log_file_size_bytes + within
    }

    pub(crate) fn encode(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..2].copy_from_slice(&self.byte.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.sector.to_le_bytes());
        bytes[4..].copy_from_slice(&self.generation.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        Self {
            byte: u16::from_le_bytes([a, b]),
            sector: u16::from_le_bytes([c, d]),
            generation: u32::from_le_bytes([e, f, g, h]),
        }
    }
}
