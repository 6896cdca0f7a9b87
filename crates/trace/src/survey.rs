//! A trace read once through before anything runs.

use array::HostOperation;
use std::io::BufRead;

use super::error::TraceError;
use super::reader::TraceReader;

/// What a whole trace holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceSurvey {
    /// All requests of the trace.
    pub requests: u64,
    /// Reads among the requests.
    pub reads: u64,
    /// Writes among the requests.
    pub writes: u64,
    /// Requests that do not begin or end at a sector.
    pub unaligned: u64,
    /// Requests with a measured response time.
    pub measured: u64,
    /// Whether requests have arrival times.
    pub has_arrivals: bool,
    /// The sum of all think times, ns.
    pub think_ns: u64,
    /// From the first arrival to the last, ns.
    pub span_ns: u64,
    /// The volumes, in the order in which they appear.
    pub volumes: Vec<VolumeSurvey>,
}

/// One volume of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VolumeSurvey {
    /// Its name in the trace.
    pub name: String,
    /// Requests to this volume.
    pub requests: u64,
    /// Where the furthest request ends.
    pub end_bytes: u64,
}

/// Reads a trace to its end, or until the first request that arrives at `until_ns` or later.
///
/// # Errors
/// The first fault of the trace; also when it holds no request.
pub fn survey<R: BufRead>(
    reader: &mut TraceReader<R>,
    until_ns: Option<u64>,
) -> Result<TraceSurvey, TraceError> {
    let mut survey = TraceSurvey::default();
    while let Some(request) = reader.next_request()? {
        let late = request
            .arrival_ns
            .zip(until_ns)
            .is_some_and(|(at, until)| at >= until);
        if late {
            break;
        }
        survey.requests += 1;
        match request.operation {
            HostOperation::Read => survey.reads += 1,
            HostOperation::Write => survey.writes += 1,
            HostOperation::Flush | HostOperation::Trim => {}
        }
        survey.unaligned += u64::from(!request.is_aligned());
        survey.measured += u64::from(request.measured_ns.is_some());
        survey.has_arrivals |= request.arrival_ns.is_some();
        survey.think_ns = survey.think_ns.saturating_add(request.think_ns);
        survey.span_ns = request.arrival_ns.unwrap_or(survey.span_ns);
        let number = request.volume as usize;
        if survey.volumes.len() <= number {
            survey.volumes.resize(number + 1, VolumeSurvey::default());
        }
        let volume = &mut survey.volumes[number];
        volume.requests += 1;
        volume.end_bytes = volume.end_bytes.max(request.end_bytes());
    }
    for (volume, name) in survey.volumes.iter_mut().zip(reader.volumes()) {
        volume.name.clone_from(name);
    }
    if survey.requests == 0 {
        return Err(TraceError::File {
            file: reader.file().to_owned(),
            message: "the trace holds no request".to_owned(),
            help: "is it complete, and in the format it was taken for?".to_owned(),
        });
    }
    Ok(survey)
}
