//! The I/O requests of the volume, by purpose.
//!
//! A database server on a file system does not report which of its requests reach the device. The
//! kernel does: [`measure::host::BlockTrace`] has each of them with its latency and with the
//! process that submitted it. Requests of processes that are not the server's are not its I/O, and
//! are counted apart (`owners`). The purpose of the others follows from the process:
//!
//! - reads are database reads;
//! - writes on a separate log volume are log writes;
//! - on a shared volume, synchronous writes by a backend or the WAL writer are log writes
//!   (committing is the only thing they wait for), and writes by the checkpointer and the kernel's
//!   write-back are database writes;
//! - flushes make log writes durable, and are part of their latency.
//!
//! Without the trace, the kernel's averages per second stand for every request of that second:
//! rates, sizes and means are right, percentiles are those of averages.

use measure::host::{
    BlockTrace, DeviceExtent, DeviceRequest, Direction, HostMonitor, ProcessName, device_under,
};
use measure::metric::{Metric, Stream};
use measure::result::OtherIo;
use measure::sample::Recorder;
use std::path::{Path, PathBuf};

use super::durability::Durability;
use super::process_io::ProcessIo;
use super::server_cpu::ServerCpu;
use super::shard_link::ONLY_SHARD;
#[cfg(test)]
use crate::database::owners::role_by_title;
use crate::database::owners::{Owner, Owners, Role, ServerProcess};

/// Where the figures come from.
enum Source {
    /// Each request, from the kernel's trace.
    Requests(Box<BlockTrace>),
    /// Averages per second, from /proc/diskstats.
    Averages(Box<HostMonitor>),
    /// Nothing: the volume has no device of its own.
    Nothing,
    /// The trace failed, with the reason.
    Lost(String),
}

/// Measures the volume of a database, and of its log if that is another one.
pub struct Volume {
    source: Source,
    /// Whether the log has a device of its own, the second one of the averages.
    has_own_log: bool,
    /// A directory of the log whose storage has no block device, although that of the data has one.
    unmeasured_log: Option<PathBuf>,
    /// Which of the traced extents holds the log alone.
    log_extent: Option<usize>,
    durability: Durability,
    /// The traced extent whose flushes are those of the log.
    flushed_extent: usize,
    owners: Owners,
    /// What stands in for the owners without the trace.
    process_io: ProcessIo,
    server_cpu: ServerCpu,
    /// Bytes that the devices have moved since the measurement began, by averages.
    averaged_bytes: f64,
    /// Log writes since the measurement began, and those of them that no flush followed although
    /// the device has a volatile cache.
    log_writes: u64,
    unflushed_writes: u64,
    averaged_ns: u64,
    /// When the trace is read next.
    next_read_ns: u64,
    last_read_ns: u64,
    /// Events that the kernel had dropped when counting began.
    lost_before: u64,
}

/// The trace is read often enough that its buffers would be no fuller than this at the last rate,
/// and at least at this interval: fewer reads cost less.
const BUFFER_FILL_MAX: f64 = 0.1;
const LONGEST_PAUSE_NS: u64 = 50_000_000;
/// Averages are taken once a second.
const AVERAGE_OVER_NS: u64 = 1_000_000_000;

impl Volume {
    /// Measures the devices under these directories. Requests of processes that are not the
    /// server's are counted apart.
    #[must_use]
    pub fn watch(data: &Path, log: &Path, server: ServerProcess) -> Self {
        let extents = [DeviceExtent::under(data), DeviceExtent::under(log)];
        let [of_data, of_log] = extents;
        let has_own_log = of_data != of_log || device_under(data) != device_under(log);
        let source = match (of_data, of_log) {
            (Some(of_data), Some(of_log)) => {
                let mut extents = vec![of_data];
                if of_log != of_data {
                    extents.push(of_log);
                }
                let trace = BlockTrace::start(extents);
                trace.map_or_else(
                    |_| averages(data, log, has_own_log),
                    |trace| Source::Requests(Box::new(trace)),
                )
            }
            _ => averages(data, log, has_own_log),
        };
        let shares_device = of_data
            .zip(of_log)
            .is_some_and(|(data, log)| data.shares_device(&log));
        let has_device = |path| device_under(path).is_some();
        let is_unmeasured = has_device(data) && !has_device(log);
        Self {
            has_own_log,
            unmeasured_log: is_unmeasured.then(|| log.to_owned()),
            log_extent: (of_data != of_log).then_some(1),
            durability: Durability::new(of_log.is_some_and(|log| log.has_volatile_cache())),
            flushed_extent: usize::from(!shares_device),
            owners: Owners::new(server.clone()),
            process_io: ProcessIo::new(server.clone()),
            server_cpu: ServerCpu::new(server),
            ..Self::with_source(source)
        }
    }

    /// For a server whose data directory is unknown.
    #[must_use]
    pub fn unknown() -> Self {
        Self::with_source(Source::Nothing)
    }

    fn with_source(source: Source) -> Self {
        Self {
            source,
            has_own_log: false,
            unmeasured_log: None,
            log_extent: None,
            durability: Durability::new(false),
            flushed_extent: 0,
            owners: Owners::new(ServerProcess::Unknown),
            process_io: ProcessIo::new(ServerProcess::Unknown),
            server_cpu: ServerCpu::new(ServerProcess::Unknown),
            averaged_bytes: 0.0,
            log_writes: 0,
            unflushed_writes: 0,
            averaged_ns: 0,
            next_read_ns: 0,
            last_read_ns: 0,
            lost_before: 0,
        }
    }

    /// A directory of the log whose writes are in no figure, because its storage has no block device.
    #[must_use]
    pub fn unmeasured_log(&self) -> Option<&Path> {
        self.unmeasured_log.as_deref()
    }

    /// How requests are measured, as the result says it.
    #[must_use]
    pub fn measured_by(&self) -> &'static str {
        match self.source {
            Source::Requests(_) => "every request",
            Source::Averages(_) => "averages",
            Source::Nothing => "",
            Source::Lost(_) => "every request, until the kernel's trace was lost",
        }
    }

    /// A warning about figures that are measured this way; `None` if there is nothing to warn of.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        match &self.source {
            Source::Requests(trace) if trace.lost() > self.lost_before => Some(format!(
                "The kernel dropped {} events of its block trace: I/O rates of the volume are \
                 slightly too low.",
                trace.lost() - self.lost_before
            )),
            Source::Requests(_) if self.owners.counts().is_none() => Some(
                "Which processes are those of the database server is not known, so requests of \
                 other programs on the volume count as the database's. Run where the server runs, \
                 not in a container, as a user who may read its data directory (of PostgreSQL also \
                 with the role pg_monitor)."
                    .to_owned(),
            ),
            Source::Requests(_) => None,
            Source::Averages(_) => Some(format!(
                "I/O of the volume was measured by averages per second (/proc/diskstats), so \
                 latency percentiles are those of averages{}. As root each request is traced.",
                if self.has_own_log {
                    ""
                } else {
                    ", and the limits of log writes were applied to all writes, because log \
                     writes could not be distinguished"
                }
            )),
            Source::Lost(why) => Some(format!(
                "The kernel's block trace failed ({why}): later requests are missing, and I/O \
                 rates of the volume are too low."
            )),
            Source::Nothing => Some(
                "The database's block device is unknown, so its storage was not measured: no I/O \
                 rates, no latencies, no service levels of storage. A server shows its data \
                 directory to privileged users only; if it runs on this machine, name a directory \
                 on its volume with --on."
                    .to_owned(),
            ),
        }
    }

    /// Counts owners and flushes from now on.
    pub fn begin_measurement(&mut self) {
        self.owners.begin();
        self.server_cpu.begin();
        if matches!(self.source, Source::Averages(_)) {
            self.process_io.begin();
            self.averaged_bytes = 0.0;
        }
        (self.log_writes, self.unflushed_writes) = (0, 0);
    }

    /// The I/O of processes that are not the server's, since the measurement began: their requests,
    /// or an estimate of their bytes where requests are not traced. `None` if neither is known, or
    /// the server's processes are not.
    #[must_use]
    pub fn other_io(&self) -> Option<OtherIo> {
        match self.source {
            Source::Requests(_) => {}
            Source::Averages(_) => return self.process_io.others(self.averaged_bytes as u64),
            Source::Nothing | Source::Lost(_) => return None,
        }
        let counts = self.owners.counts()?;
        Some(OtherIo {
            requests: Some(counts.others),
            bytes: counts.other_bytes,
            share_percent: 100.0 * counts.others as f64 / counts.all.max(1) as f64,
            processes: counts.names(),
        })
    }

    /// CPU time of the server since the measurement began, in percent of one core; `None` if its
    /// processes are not known.
    #[must_use]
    pub fn server_cpu_percent(&self) -> Option<f64> {
        self.server_cpu.percent()
    }

    /// Log writes since the measurement began, and those of them that no flush followed although the
    /// device has a volatile cache.
    #[must_use]
    pub fn log_writes(&self) -> (u64, u64) {
        (self.log_writes, self.unflushed_writes)
    }

    /// Drops the requests since the last call: they were not the load's.
    pub fn skip(&mut self) {
        if let Source::Requests(trace) = &mut self.source {
            // If it cannot be read, counting will find out.
            let _ = trace.poll(|_| {});
            self.durability.clear();
            self.lost_before = trace.lost();
        }
    }

    /// Makes the next [`count`](Self::count) read at once: what has happened belongs to a phase
    /// that ends.
    pub fn expect_turn(&mut self) {
        self.next_read_ns = 0;
    }

    /// Counts the requests since the last call, when it is time.
    pub fn count(&mut self, now_ns: u64, recorder: &mut Recorder) {
        match &mut self.source {
            Source::Requests(_) if now_ns < self.next_read_ns => {}
            Source::Requests(trace) => {
                let (owners, log_extent) = (&mut self.owners, self.log_extent);
                let durability = &mut self.durability;
                let log_writes = &mut self.log_writes;
                let mut latest_ns = 0;
                let read = trace.poll(|request| {
                    latest_ns = request.ended_ns;
                    if request.direction == Direction::Flush {
                        if request.extent == self.flushed_extent {
                            let durability = durability.flush(&request);
                            durability.for_each(|write| enter(recorder, Stream::LogWrite, &write));
                        }
                        enter(recorder, Stream::OtherWrite, &request);
                        return;
                    }
                    let owner = owners.count(request.process, &request.command, request.bytes);
                    let Owner::Server(role) = owner else {
                        return;
                    };
                    let stream = stream_of(&request, log_extent, role);
                    let ended = match stream {
                        Stream::LogWrite => {
                            *log_writes += 1;
                            durability.write(request)
                        }
                        _ => Some(request),
                    };
                    ended
                        .iter()
                        .for_each(|ended| enter(recorder, stream, ended));
                });
                let unflushed_writes = &mut self.unflushed_writes;
                durability.unflushed(latest_ns).for_each(|write| {
                    *unflushed_writes += 1;
                    enter(recorder, Stream::LogWrite, &write);
                });
                let length_ns = now_ns.saturating_sub(self.last_read_ns);
                let pause_ns = length_ns as f64 * BUFFER_FILL_MAX / trace.fullness().max(1e-6);
                self.next_read_ns = now_ns + (pause_ns as u64).min(LONGEST_PAUSE_NS);
                self.last_read_ns = now_ns;
                if let Err(error) = read {
                    self.source = Source::Lost(error.to_string());
                }
            }
            Source::Averages(monitor) => {
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
                        let rate = |metric| device.values.get(metric).unwrap_or(0.0);
                        let counts = [
                            (
                                Stream::DatabaseRead,
                                rate(Metric::DeviceReads),
                                rate(Metric::DeviceReadBytes),
                                device.values.get(Metric::DeviceReadAverage),
                            ),
                            (
                                writes,
                                rate(Metric::DeviceWrites),
                                rate(Metric::DeviceWriteBytes),
                                device.values.get(Metric::DeviceWriteAverage),
                            ),
                        ];
                        for (stream, rate, bytes, average_ms) in counts {
                            self.averaged_bytes += bytes * seconds;
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
            Source::Nothing | Source::Lost(_) => {}
        }
    }
}

fn averages(data: &Path, log: &Path, has_own_log: bool) -> Source {
    let log = has_own_log.then(|| device_under(log)).flatten();
    match device_under(data) {
        Some(data) => {
            let names = [Some(data.name), log.map(|log| log.name)];
            Source::Averages(Box::new(HostMonitor::new(names.into_iter().flatten())))
        }
        None => Source::Nothing,
    }
}

fn enter(recorder: &mut Recorder, stream: Stream, request: &DeviceRequest) {
    if request.failed {
        recorder.io_error(ONLY_SHARD, stream);
    } else {
        recorder.io(ONLY_SHARD, stream, request.bytes, request.latency_ns);
    }
}

/// Counts a second's requests with their average latency each.
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
        recorder.io(ONLY_SHARD, stream, share, latency_ns as u64);
    }
}

fn stream_of(request: &DeviceRequest, log_extent: Option<usize>, role: Role) -> Stream {
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
    match role {
        Role::Commits | Role::Session if request.is_synchronous => Stream::LogWrite,
        Role::Unknown if request.is_synchronous && is_thread_of_server(&request.command) => {
            Stream::LogWrite
        }
        Role::Commits | Role::Session | Role::WritesPages | Role::Unknown => Stream::DatabaseWrite,
    }
}

/// MariaDB has threads, and SQLite runs within this program.
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
            command: ProcessName::new(b"kworker"),
            failed: false,
        }
    }

    #[test]
    fn a_synchronous_write_of_a_backend_is_a_log_write() {
        let of = |title, waits| stream_of(&write(0, waits, 0), None, role_by_title(title));
        let backend = "postgres: postgres proofload [local] COMMIT";
        assert_eq!(of(backend, true), Stream::LogWrite);
        assert_eq!(of(backend, false), Stream::DatabaseWrite);
        let checkpointer = "/usr/lib/postgresql/15/bin/postgres: checkpointer ";
        assert_eq!(of(checkpointer, true), Stream::DatabaseWrite);
        assert_eq!(of("postgres: walwriter ", true), Stream::LogWrite);
        assert_eq!(of("kworker/0:1H", true), Stream::DatabaseWrite);
    }

    #[test]
    fn a_log_without_a_block_device_is_not_measured() {
        let data = std::env::temp_dir();
        let has_device = device_under(&data).is_some();
        let watch = |log| Volume::watch(&data, log, ServerProcess::Unknown);
        let nowhere = Path::new("/proc/self");
        let expected = has_device.then_some(nowhere);
        assert_eq!(watch(nowhere).unmeasured_log(), expected);
        assert_eq!(watch(&data).unmeasured_log(), None);
    }

    #[test]
    fn writes_on_a_separate_log_volume_are_log_writes() {
        let of = |extent| stream_of(&write(0, false, extent), Some(1), Role::Unknown);
        assert_eq!(of(1), Stream::LogWrite);
        assert_eq!(of(0), Stream::DatabaseWrite);
    }
}
