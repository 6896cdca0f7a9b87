//! What `fio --write_lat_log=NAME --log_offset=1` writes: `TIME, LATENCY, DIRECTION, SIZE, OFFSET`
//! and more, one line for each I/O, when it has ended. The time is that of the end in whole
//! milliseconds, the latency is in nanoseconds.

use super::error::{LineError, shown};
use super::line::{LineParser, Parsed, RawRequest, Volumes};
use super::number::whole;
use array::HostOperation;

/// Whether a line can be one of such a log.
pub(super) fn is_entry(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let numbers = fields.iter().take(4).all(|field| whole(field).is_some());
    (4..=8).contains(&fields.len()) && numbers
}

/// Reads a log line by line.
#[derive(Debug, Default)]
pub(super) struct FioLogParser;

impl LineParser for FioLogParser {
    fn line(&mut self, line: &str, volumes: &mut Volumes) -> Result<Parsed, LineError> {
        let mut numbers = line.split(',').map(whole);
        let mut next = || numbers.next().flatten();
        let (time_ms, latency_ns, direction) = (next(), next(), next());
        let (size_bytes, offset_bytes) = (next(), next());
        let (Some(time_ms), Some(latency_ns), Some(direction), Some(size_bytes)) =
            (time_ms, latency_ns, direction, size_bytes)
        else {
            return Err(LineError::new(
                format!("{} is not a line of a latency log of fio", shown(line)),
                "a line is 'TIME, LATENCY, DIRECTION, SIZE, OFFSET' and more, in whole numbers",
            ));
        };
        let Some(offset_bytes) = offset_bytes else {
            let help = "log again with --log_offset=1";
            return Err(LineError::new(
                "the log does not say where the I/O went",
                help,
            ));
        };
        if size_bytes == 0 {
            return Err(LineError::new(
                "the line stands for many I/Os",
                "log every I/O of its own: fio without --log_avg_msec, and with --log_offset=1",
            ));
        }
        let operation = match direction {
            0 => HostOperation::Read,
            1 => HostOperation::Write,
            2 => HostOperation::Trim,
            other => {
                let message = format!("{other} is not a direction");
                return Err(LineError::new(message, "0 is a read, 1 a write, 2 a trim"));
            }
        };
        let ended_ns = time_ms
            .checked_mul(1_000_000)
            .and_then(|ns| i64::try_from(ns).ok());
        let began_ns = ended_ns.zip(i64::try_from(latency_ns).ok());
        let Some((ended_ns, latency)) = began_ns else {
            return Err(LineError::new(
                "the times are too large",
                "is this a latency log of fio?",
            ));
        };
        Ok(Parsed::Request(RawRequest {
            arrival_ns: Some(ended_ns - latency),
            think_ns: None,
            volume: volumes.number("trace"),
            operation,
            offset_bytes,
            size_bytes,
            measured_ns: Some(latency_ns),
        }))
    }
}
