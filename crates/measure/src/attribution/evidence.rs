//! The figures that rules are based on.

use crate::metric::{IoMetric, Metric, Stream};
use crate::result::{
    Check, CheckKind, DatabaseResult, DeviceResult, RunResult, Scope, SlowSample, SteadyState,
    WaitClass,
};

/// A device accounts for a read latency when its own is at least this share of it.
pub const DEVICE_SHARE: f64 = 0.6;
/// The same of log writes: one of them is several requests of a file system, one after the other.
pub const LOG_DEVICE_SHARE: f64 = 0.2;
/// A device that is busy for this share of the time limits the rate.
const BUSY_DEVICE: f64 = 0.9;
/// Storage is what the sessions of a database waited for when this share of them did, in percent.
const STORAGE_WAITS_PERCENT: f64 = 50.0;

/// A result document, read as evidence: over the measured phase, or over one sample of it.
pub(super) struct Evidence<'a> {
    pub(super) result: &'a RunResult,
    sample: Option<&'a SlowSample>,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(result: &'a RunResult) -> Self {
        Self {
            result,
            sample: None,
        }
    }

    /// What there is about one sample. Figures that samples do not have are those of the phase.
    pub(super) fn of_sample(result: &'a RunResult, sample: &'a SlowSample) -> Self {
        Self {
            result,
            sample: Some(sample),
        }
    }

    /// The mean of a host counter.
    pub(super) fn average(&self, metric: Metric) -> Option<f64> {
        let average = match self.sample {
            Some(sample) => sample.host_counter(metric),
            None => self.result.host.counter(metric).map(|one| one.average),
        };
        average.filter(|value| value.is_finite())
    }

    /// The highest value of a host counter.
    pub(super) fn maximum(&self, metric: Metric) -> Option<f64> {
        match self.sample {
            Some(sample) => sample.host_counter(metric),
            None => self.result.host.counter(metric).map(|one| one.maximum),
        }
    }

    /// A setting that is a number.
    pub(super) fn number(&self, path: &str) -> Option<f64> {
        self.result.workload.settings.get(path)?.as_f64()
    }

    /// A setting that is true or false.
    pub(super) fn flag(&self, path: &str) -> Option<bool> {
        self.result.workload.settings.get(path)?.as_bool()
    }

    /// The steady state that was required and was not reached.
    pub(super) fn missed_steady_state(&self) -> Option<&'a SteadyState> {
        let state = self.result.steady_state.as_ref()?;
        let is_required = self.flag("run.steady_state.required").unwrap_or(true);
        (is_required && state.steady == Some(false)).then_some(state)
    }

    /// Share of the time that a session worked on transactions, on average; `None` where their times or the
    /// number of sessions are not known.
    pub(super) fn working_share(&self) -> Option<f64> {
        let sessions = self.result.throughput.threads.filter(|count| *count > 0)?;
        let operations = self.result.operations.iter();
        let mut timed = operations
            .filter_map(|one| Some(one.per_second * one.service_time.as_ref()?.average_ms / 1e3))
            .peekable();
        timed.peek()?;
        Some(timed.sum::<f64>() / sessions as f64)
    }

    /// The database that a check is about.
    pub(super) fn database(&self, check: &Check) -> Option<&'a DatabaseResult> {
        let mut databases = self.result.databases.iter();
        databases
            .find(|one| one.name == check.place)
            .or(match self.result.databases.as_slice() {
                [only] => Some(only),
                _ => None,
            })
    }

    /// The stream of requests that a check is about.
    pub(super) fn stream(check: &Check) -> Stream {
        match check.scope() {
            Scope::Log => Stream::LogWrite,
            Scope::Run | Scope::Database => Stream::DatabaseRead,
        }
    }

    /// The block device that a check is about.
    pub(super) fn device(&self, check: &Check) -> Option<&'a DeviceResult> {
        let database = self.database(check)?;
        let path = match Self::stream(check) {
            Stream::LogWrite => &database.log_path,
            _ => &database.path,
        };
        self.result.device_under(path)
    }

    /// A figure of a block device; `whole` is that of the phase.
    pub(super) fn device_figure(
        &self,
        device: &DeviceResult,
        metric: Metric,
        whole: impl Into<Option<f64>>,
    ) -> Option<f64> {
        let figure = match self.sample {
            Some(sample) => sample.device_figure(&device.name, metric),
            None => whole.into(),
        };
        figure.filter(|value| value.is_finite())
    }

    /// The latency of the engine and that of the device below, of the reads or the log writes that a
    /// check is about, both in ms over the same samples.
    pub(super) fn latencies_ms(&self, check: &Check) -> Option<(f64, f64)> {
        let database = self.database(check)?;
        let device = self.device(check)?;
        let stream = Self::stream(check);
        let (metric, whole) = match stream {
            Stream::LogWrite => (Metric::DeviceWriteAverage, device.average_write_ms),
            _ => (Metric::DeviceReadAverage, device.average_read_ms),
        };
        let device_ms = self.device_figure(device, metric, whole)?;
        let engine_ms = match self.sample {
            Some(sample) => sample.average_ms,
            None => database.figures.stream(stream).get(IoMetric::Average)?,
        };
        (engine_ms.is_finite() && engine_ms > 0.0).then_some((engine_ms, device_ms))
    }

    /// Whether the figures show that storage was the reason for a level that was not met.
    pub(super) fn shows_storage(&self, check: &Check) -> bool {
        match check.kind() {
            CheckKind::Throughput | CheckKind::Resource => {
                let mut devices = self.result.host.devices.iter();
                self.waited_for_storage() || devices.any(|one| one.busy_fraction >= BUSY_DEVICE)
            }
            _ if check.scope() == Scope::Run => self.waited_for_storage(),
            _ => {
                let least = match Self::stream(check) {
                    Stream::LogWrite => LOG_DEVICE_SHARE,
                    _ => DEVICE_SHARE,
                };
                let latencies = self.latencies_ms(check);
                latencies.is_some_and(|(engine_ms, device_ms)| device_ms >= engine_ms * least)
            }
        }
    }

    fn waited_for_storage(&self) -> bool {
        self.waits_percent(WaitClass::Storage) >= STORAGE_WAITS_PERCENT
    }

    /// Share of the busy sessions of a database server that waited for this.
    pub(super) fn waits_percent(&self, class: WaitClass) -> f64 {
        let server = self.result.server.iter();
        let waits = server.flat_map(|server| &server.waits);
        let of_class = waits.filter(|wait| wait.class == class);
        of_class.map(|wait| wait.share_percent).sum()
    }
}
