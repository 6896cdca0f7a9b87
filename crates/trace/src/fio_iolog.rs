//! What `fio --write_iolog` writes: versions 2 and 3.
//!
//! Version 2 has no times: `FILE ACTION OFFSET LENGTH`, with `wait` lines of microseconds between.
//! Version 3 has a time before each line; fio 3.33 writes it in microseconds.

use super::error::{LineError, shown};
use super::line::{LineParser, Parsed, RawRequest, Volumes};
use super::number::{time_ns, whole};
use super::request::operation_of;
use array::HostOperation;

const US: u64 = 1_000;

/// fio leaves shorter waits out.
const SHORTEST_WAIT_US: u64 = 100;

/// Reads an iolog line by line.
#[derive(Debug, Default)]
pub(super) struct IologParser {
    version: Option<u8>,
    /// Waits since the last request, ns.
    wait_ns: u64,
}

impl LineParser for IologParser {
    fn line(&mut self, line: &str, volumes: &mut Volumes) -> Result<Parsed, LineError> {
        let Some(version) = self.version else {
            self.version = Some(version_of(line)?);
            return Ok(Parsed::Nothing);
        };
        let (time, rest) = match version {
            3 => line
                .trim()
                .split_once(char::is_whitespace)
                .unwrap_or((line.trim(), "")),
            _ => ("", line.trim()),
        };
        let mut words = rest.rsplitn(4, char::is_whitespace);
        let last = words.next().unwrap_or("");
        if matches!(last, "add" | "open" | "close") {
            return Ok(Parsed::Nothing);
        }
        let (offset, action) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let file = words.next().unwrap_or("").trim();
        let (Some(offset), Some(length)) = (whole(offset), whole(last)) else {
            return Err(malformed(line, version));
        };
        if file.is_empty() {
            return Err(malformed(line, version));
        }
        if action == "wait" {
            return self.wait(version, offset);
        }
        let operation = operation_of(action).filter(|_| action.len() > 1);
        let operation = operation.or((action == "sync_file_range").then_some(HostOperation::Flush));
        let Some(operation) = operation else {
            return Err(LineError::new(
                format!("{} is not an action of an iolog", shown(action)),
                "the actions are add, open, close, read, write, sync, datasync, trim and wait",
            ));
        };
        let arrival_ns = match version {
            3 => Some(time_ns(time, US).ok_or_else(|| malformed(line, version))?),
            _ => None,
        };
        let has_stretch = operation.has_stretch();
        Ok(Parsed::Request(RawRequest {
            arrival_ns,
            think_ns: (version == 2).then(|| std::mem::take(&mut self.wait_ns)),
            volume: volumes.number(file),
            operation,
            offset_bytes: if has_stretch { offset } else { 0 },
            size_bytes: if has_stretch { length } else { 0 },
            measured_ns: None,
        }))
    }
}

impl IologParser {
    fn wait(&mut self, version: u8, wait_us: u64) -> Result<Parsed, LineError> {
        if version == 3 {
            let help = "version 3 has times instead; write 'fio version 2 iolog' in the first line";
            return Err(LineError::new(
                "'wait' belongs in iologs of version 2",
                help,
            ));
        }
        if wait_us >= SHORTEST_WAIT_US {
            let more_ns = wait_us.saturating_mul(US);
            self.wait_ns = self.wait_ns.saturating_add(more_ns).min(i64::MAX as u64);
        }
        Ok(Parsed::Nothing)
    }
}

fn version_of(line: &str) -> Result<u8, LineError> {
    match line.trim() {
        "fio version 2 iolog" => Ok(2),
        "fio version 3 iolog" => Ok(3),
        other => Err(LineError::new(
            format!("{} does not begin an iolog", shown(other)),
            "the first line is 'fio version 2 iolog' or 'fio version 3 iolog'; no others are read",
        )),
    }
}

fn malformed(line: &str, version: u8) -> LineError {
    let form = match version {
        3 => "TIME FILE ACTION OFFSET LENGTH",
        _ => "FILE ACTION OFFSET LENGTH",
    };
    LineError::new(
        format!(
            "{} is not a line of an iolog of version {version}",
            shown(line)
        ),
        format!("a request is '{form}', with the time in microseconds and the rest in bytes"),
    )
}
