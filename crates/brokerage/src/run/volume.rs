//! The requests that reach the volume, told apart by what they are for.
//!
//! A database server on a file system does not say which of its requests reach the device. The
//! kernel does: [`measure::host::BlockTrace`] sees each of them with its latency and with the
//! process that handed it over. What a request is for follows from that:
//!
//! - reads are reads of the database;
//! - writes on the volume of the log are log writes, when the log has one of its own;
//! - where both share a volume, writes that a session or the log writer waits for are log writes
//!   (committing is the only thing they wait for), and what the checkpointer and the kernel's
//!   write-back hand over are writes of the database;
//! - flushes make log writes durable, and are part of their latency.
//!
//! Without the trace, the kernel's averages per second stand for every request of that second:
//! rates, sizes and means are right, percentiles are those of averages.

use measure::host::{
    BlockDevice, BlockTrace, DeviceExtent, DeviceRequest, Direction, HostMonitor, ProcessName,
};
use measure::sample::{Recorder, Stream};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::durable::Durability;
use super::line::FIRST;

/// How the requests are seen.
enum Sight {
    /// Each of them.
    Requests(Box<BlockTrace>),
    /// By averages since the last look.
    Averages(HostMonitor),
    /// Not at all: the volume has no device of its own that the kernel shows.
    Nothing,
    /// No longer, and why.
    Lost(String),
}

/// What a process of the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A session, or the writer of the log: what it waits for is the log.
    Commits,
    /// The checkpointer or the background writer.
    WritesPages,
    /// Nothing of the server.
    Foreign,
}

/// Watches the volume of a database, and of its log if that is another one.
pub struct Volume {
    sight: Sight,
    /// Devices in the order of the averages: that of the data, then that of the log.
    has_own_log: bool,
    /// Which of the traced parts of devices holds the log alone.
    log_extent: Option<usize>,
    durability: Durability,
    /// The traced part of a device whose flushes are those of the log.
    flushed_extent: usize,
    roles: HashMap<u32, Role>,
    averaged_ns: u64,
    /// When the trace is read next.
    next_read_ns: u64,
    last_read_ns: u64,
    /// Events that the kernel had dropped when counting began.
    lost_before: u64,
}

/// The trace is read so often that its buffers would be no fuller than this at the rate seen last,
/// and at least so often: fewer readings cost less.
const FULLEST: f64 = 0.1;
const LONGEST_PAUSE_NS: u64 = 50_000_000;
/// Averages are taken once a second.
const AVERAGE_OVER_NS: u64 = 1_000_000_000;

impl Volume {
    /// Watches the devices under these directories.
    #[must_use]
    pub fn watch(data: &Path, log: &Path) -> Self {
        let extents = [DeviceExtent::under(data), DeviceExtent::under(log)];
        let [of_data, of_log] = extents;
        let has_own_log = of_data != of_log || BlockDevice::under(data) != BlockDevice::under(log);
        let sight = match (of_data, of_log) {
            (Some(of_data), Some(of_log)) => {
                let mut extents = vec![of_data];
                if of_log != of_data {
                    extents.push(of_log);
                }
                let trace = BlockTrace::start(extents);
                trace.map_or_else(
                    |_| averages(data, log, has_own_log),
                    |trace| Sight::Requests(Box::new(trace)),
                )
            }
            _ => averages(data, log, has_own_log),
        };
        let shares_device = of_data
            .zip(of_log)
            .is_some_and(|(data, log)| data.shares_device(&log));
        Self {
            has_own_log,
            log_extent: (of_data != of_log).then_some(1),
            durability: Durability::new(of_log.is_some_and(|log| log.has_volatile_cache())),
            flushed_extent: usize::from(!shares_device),
            ..Self::seen(sight)
        }
    }

    /// The volume of a server that does not tell where its data is.
    #[must_use]
    pub fn unknown() -> Self {
        Self::seen(Sight::Nothing)
    }

    fn seen(sight: Sight) -> Self {
        Self {
            sight,
            has_own_log: false,
            log_extent: None,
            durability: Durability::new(false),
            flushed_extent: 0,
            roles: HashMap::new(),
            averaged_ns: 0,
            next_read_ns: 0,
            last_read_ns: 0,
            lost_before: 0,
        }
    }

    /// How requests are seen, as the result says it.
    #[must_use]
    pub fn seen_by(&self) -> &'static str {
        match self.sight {
            Sight::Requests(_) => "every request",
            Sight::Averages(_) => "averages",
            Sight::Nothing => "",
            Sight::Lost(_) => "every request, until the kernel's trace was lost",
        }
    }

    /// What is to be known of figures that are seen this way; `None` when they are what they seem.
    #[must_use]
    pub fn caution(&self) -> Option<String> {
        match &self.sight {
            Sight::Requests(trace) if trace.lost() > self.lost_before => Some(format!(
                "The kernel dropped {} events of its trace of requests: rates of the volume are a \
                 little too low.",
                trace.lost() - self.lost_before
            )),
            Sight::Requests(_) => None,
            Sight::Averages(_) => Some(format!(
                "The requests of the volume were counted by the kernel's averages per second, so \
                 percentiles of their latency are those of averages{}. Root sees every request.",
                if self.has_own_log {
                    ""
                } else {
                    ", and the limits of log writes were held against all writes, of which those \
                     of the log could not be told apart"
                }
            )),
            Sight::Lost(why) => Some(format!(
                "The kernel's trace of requests could not be read to the end ({why}): what reached \
                 the volume afterwards is missing, and its rates are too low."
            )),
            Sight::Nothing => Some(
                "It is not known which block device of this machine the database lies on, so its \
                 storage could not be measured: no I/O rates, no latencies, no service levels of \
                 storage. A server tells where its data is to users with rights enough only; if \
                 it runs on this machine, name a directory on its volume with --on."
                    .to_owned(),
            ),
        }
    }

    /// Passes over what has happened on the volume since the last look: it was not the load's.
    pub fn skip(&mut self) {
        if let Sight::Requests(trace) = &mut self.sight {
            // If it cannot be read, counting will find out.
            let _ = trace.poll(|_| {});
            self.durability.clear();
            self.lost_before = trace.lost();
        }
    }

    /// The next [`count`](Self::count) looks at once: what has happened belongs to a phase that
    /// ends.
    pub fn expect_turn(&mut self) {
        self.next_read_ns = 0;
    }

    /// Counts what has happened on the volume since the last look, when it is time to look.
    pub fn count(&mut self, now_ns: u64, recorder: &mut Recorder) {
        match &mut self.sight {
            Sight::Requests(_) if now_ns < self.next_read_ns => {}
            Sight::Requests(trace) => {
                let (roles, log_extent) = (&mut self.roles, self.log_extent);
                let durability = &mut self.durability;
                let mut latest_ns = 0;
                let read = trace.poll(|request| {
                    latest_ns = request.ended_ns;
                    if request.direction == Direction::Flush {
                        if request.extent == self.flushed_extent {
                            let durable = durability.flush(&request);
                            durable.for_each(|write| enter(recorder, Stream::LogWrite, &write));
                        }
                        enter(recorder, Stream::OtherWrite, &request);
                        return;
                    }
                    let stream = stream_of(&request, log_extent, roles);
                    let ended = match stream {
                        Stream::LogWrite => durability.write(request),
                        _ => Some(request),
                    };
                    ended
                        .iter()
                        .for_each(|ended| enter(recorder, stream, ended));
                });
                let unflushed = durability.unflushed(latest_ns);
                unflushed.for_each(|write| enter(recorder, Stream::LogWrite, &write));
                let length_ns = now_ns.saturating_sub(self.last_read_ns);
                let pause_ns = length_ns as f64 * FULLEST / trace.fullness().max(1e-6);
                self.next_read_ns = now_ns + (pause_ns as u64).min(LONGEST_PAUSE_NS);
                self.last_read_ns = now_ns;
                if let Err(error) = read {
                    self.sight = Sight::Lost(error.to_string());
                }
            }
            Sight::Averages(monitor) => {
                if now_ns >= self.averaged_ns + AVERAGE_OVER_NS
                    && let Some(sample) = monitor.sample()
                {
                    self.averaged_ns = now_ns;
                    let seconds = sample.length_s;
                    for (number, device) in sample.devices.iter().enumerate() {
                        let is_log = number > 0 && self.has_own_log;
                        let writes = if is_log {
                            Stream::LogWrite
                        } else {
                            Stream::DatabaseWrite
                        };
                        let counts = [
                            (
                                Stream::DatabaseRead,
                                device.reads_per_second,
                                device.read_bytes_per_second,
                                device.average_read_ms,
                            ),
                            (
                                writes,
                                device.writes_per_second,
                                device.write_bytes_per_second,
                                device.average_write_ms,
                            ),
                        ];
                        for (stream, rate, bytes, average_ms) in counts {
                            enter_average(
                                recorder,
                                stream,
                                rate * seconds,
                                bytes * seconds,
                                average_ms,
                            );
                        }
                    }
                }
            }
            Sight::Nothing | Sight::Lost(_) => {}
        }
    }
}

fn averages(data: &Path, log: &Path, has_own_log: bool) -> Sight {
    let log = has_own_log.then(|| BlockDevice::under(log)).flatten();
    match BlockDevice::under(data) {
        Some(data) => {
            let names = [Some(data.name), log.map(|log| log.name)];
            Sight::Averages(HostMonitor::new(names.into_iter().flatten()))
        }
        None => Sight::Nothing,
    }
}

fn enter(recorder: &mut Recorder, stream: Stream, request: &DeviceRequest) {
    if request.failed {
        recorder.io_error(FIRST, stream);
    } else {
        recorder.io(FIRST, stream, request.bytes, request.latency_ns);
    }
}

/// Enters a second's requests with their average latency each.
fn enter_average(
    recorder: &mut Recorder,
    stream: Stream,
    requests: f64,
    bytes: f64,
    average_ms: Option<f64>,
) {
    let (requests, latency_ns) = (requests.round() as u64, average_ms.unwrap_or(0.0) * 1e6);
    let mut left = bytes.round() as u64;
    for number in 0..requests {
        let share = left / (requests - number);
        left -= share;
        recorder.io(FIRST, stream, share, latency_ns as u64);
    }
}

fn stream_of(
    request: &DeviceRequest,
    log_extent: Option<usize>,
    roles: &mut HashMap<u32, Role>,
) -> Stream {
    if request.direction == Direction::Read {
        return Stream::DatabaseRead;
    }
    if let Some(log_extent) = log_extent {
        return if request.extent == log_extent {
            Stream::LogWrite
        } else {
            Stream::DatabaseWrite
        };
    }
    let role = *roles
        .entry(request.process)
        .or_insert_with(|| role_of(request.process));
    match role {
        Role::Commits if request.is_synchronous => Stream::LogWrite,
        Role::Foreign if request.is_synchronous && is_thread_of_server(&request.command) => {
            Stream::LogWrite
        }
        Role::Commits | Role::WritesPages | Role::Foreign => Stream::DatabaseWrite,
    }
}

/// What a process does, by the title that PostgreSQL gives it.
fn role_of(process: u32) -> Role {
    let title = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let title = String::from_utf8_lossy(&title);
    role_by_title(&title)
}

fn role_by_title(title: &str) -> Role {
    let Some((_, title)) = title.split_once("postgres: ") else {
        return Role::Foreign;
    };
    let is = |name: &str| title.contains(name);
    if is("checkpointer") || is("background writer") || is("autovacuum") {
        Role::WritesPages
    } else {
        Role::Commits
    }
}

/// MariaDB works with threads, and so does SQLite, within this program.
fn is_thread_of_server(command: &ProcessName) -> bool {
    ["mariadbd", "mysqld", "ib_log", "proofload"]
        .iter()
        .any(|name| command.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(process: u32, is_synchronous: bool, extent: usize) -> DeviceRequest {
        DeviceRequest {
            extent,
            direction: Direction::Write,
            is_synchronous,
            bytes: 8_192,
            latency_ns: 1,
            ended_ns: 1,
            process,
            command: ProcessName::new(b"postgres"),
            failed: false,
        }
    }

    #[test]
    fn a_write_that_a_session_waits_for_is_the_log() {
        let titles = [
            "postgres: postgres proofload [local] COMMIT",
            "/usr/lib/postgresql/15/bin/postgres: checkpointer ",
            "postgres: walwriter ",
            "kworker/0:1H",
        ];
        let mut roles: HashMap<u32, Role> = (0..)
            .zip(titles)
            .map(|(process, title)| (process, role_by_title(title)))
            .collect();
        let mut of = |process, waits| stream_of(&write(process, waits, 0), None, &mut roles);
        assert_eq!(of(0, true), Stream::LogWrite);
        assert_eq!(of(0, false), Stream::DatabaseWrite);
        assert_eq!(of(1, true), Stream::DatabaseWrite);
        assert_eq!(of(2, true), Stream::LogWrite);
        assert_eq!(of(3, true), Stream::DatabaseWrite);
    }

    #[test]
    fn a_log_on_a_volume_of_its_own_is_told_by_the_volume() {
        let mut roles = HashMap::new();
        let mut of = |extent| stream_of(&write(0, false, extent), Some(1), &mut roles);
        assert_eq!(of(1), Stream::LogWrite);
        assert_eq!(of(0), Stream::DatabaseWrite);
    }
}
