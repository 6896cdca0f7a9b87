//! Host counters, sample by sample.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::counters::{DeviceSample, HostSample};
use super::device::SECTOR_BYTES;
use super::pauses::PauseWatch;
use super::proc_text::{
    CpuTicks, DiskCounters, ThreadTimes, cpu_ticks, disk_counters, memory_bytes, pressure_us,
    resident_pages, swapped_pages, thread_times,
};
use crate::metric::Metric;

/// The kernel counts CPU time in steps of 10 ms: over less than this its counters say nothing.
const SHORTEST: Duration = Duration::from_millis(100);

/// Reads the host's counters and gives what changed since the last reading.
#[derive(Debug)]
pub struct HostMonitor {
    proc: PathBuf,
    devices: Vec<String>,
    page_size_bytes: f64,
    pauses: Option<PauseWatch>,
    last: Reading,
}

#[derive(Debug, Clone)]
struct Reading {
    at: Instant,
    cpu: Option<CpuTicks>,
    /// CPU time of this process, user and system, of all its threads.
    process_cpu: Duration,
    resident_pages: Option<u64>,
    available_bytes: Option<u64>,
    pressure_us: Pressure,
    swapped_pages: Option<u64>,
    /// Of all threads that there are at the time, by their names below `/proc`.
    threads: BTreeMap<OsString, ThreadTimes>,
    disks: Vec<Option<DiskCounters>>,
}

/// Time in which some task waited, by what it waited for.
#[derive(Debug, Clone, Copy, Default)]
struct Pressure {
    io: Option<u64>,
    cpu: Option<u64>,
    memory: Option<u64>,
}

impl HostMonitor {
    /// Begins to watch the host and these block devices (kernel names).
    pub fn new(devices: impl IntoIterator<Item = String>) -> HostMonitor {
        HostMonitor::with_proc(PathBuf::from("/proc"), devices.into_iter().collect())
    }

    /// Begins to watch the same anew, for samples of another length.
    #[must_use]
    pub fn another(&self) -> HostMonitor {
        HostMonitor::with_proc(self.proc.clone(), self.devices.clone())
    }

    fn with_proc(proc: PathBuf, devices: Vec<String>) -> HostMonitor {
        let mut monitor = HostMonitor {
            last: Reading {
                at: Instant::now(),
                cpu: None,
                process_cpu: Duration::ZERO,
                resident_pages: None,
                available_bytes: None,
                pressure_us: Pressure::default(),
                swapped_pages: None,
                threads: BTreeMap::new(),
                disks: Vec::new(),
            },
            proc,
            devices,
            page_size_bytes: rustix::param::page_size() as f64,
            pauses: PauseWatch::begin(),
        };
        monitor.last = monitor.read();
        monitor
    }

    /// What happened since the last sample (since [`HostMonitor::new`], at the first one). `None`
    /// right after it: the next sample then has all of it.
    pub fn sample(&mut self) -> Option<HostSample> {
        if self.last.at.elapsed() < SHORTEST {
            return None;
        }
        let now = self.read();
        let elapsed_s = now.at.duration_since(self.last.at).as_secs_f64();
        let sample = self.difference(&now, elapsed_s);
        self.last = now;
        Some(sample)
    }

    fn read(&self) -> Reading {
        let text = |name: &str| fs::read_to_string(self.proc.join(name)).unwrap_or_default();
        let diskstats = text("diskstats");
        Reading {
            at: Instant::now(),
            cpu: cpu_ticks(&text("stat")),
            process_cpu: process_cpu(),
            resident_pages: resident_pages(&text("self/stat")),
            available_bytes: memory_bytes(&text("meminfo"), "MemAvailable"),
            pressure_us: Pressure {
                io: pressure_us(&text("pressure/io")),
                cpu: pressure_us(&text("pressure/cpu")),
                memory: pressure_us(&text("pressure/memory")),
            },
            swapped_pages: swapped_pages(&text("vmstat")),
            threads: self.threads(),
            disks: self
                .devices
                .iter()
                .map(|name| disk_counters(&diskstats, name))
                .collect(),
        }
    }

    /// The times of all threads. One that has ended meanwhile takes its times with it.
    fn threads(&self) -> BTreeMap<OsString, ThreadTimes> {
        let threads = fs::read_dir(self.proc.join("self/task"));
        let of_one = |thread: fs::DirEntry| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((thread.file_name(), thread_times(&text)?))
        };
        let threads = threads.into_iter().flatten();
        threads.filter_map(|thread| of_one(thread.ok()?)).collect()
    }

    fn difference(&self, now: &Reading, elapsed_s: f64) -> HostSample {
        let last = &self.last;
        let cpu = last.cpu.zip(now.cpu).filter(|(a, b)| b.total > a.total);
        let share = |part: fn(&CpuTicks) -> u64| {
            cpu.map(|(a, b)| {
                let whole = (b.total - a.total) as f64;
                (100.0 * part(&b).saturating_sub(part(&a)) as f64 / whole).min(100.0)
            })
        };
        let per_second = |amount: u64| amount as f64 / elapsed_s.max(1e-9);
        let change = |last: Option<u64>, now: Option<u64>| {
            let (last, now) = last.zip(now)?;
            Some(per_second(now.saturating_sub(last)))
        };
        let pressure = |of: fn(&Pressure) -> Option<u64>| {
            let us = change(of(&last.pressure_us), of(&now.pressure_us))?;
            Some((100.0 * us / 1e6).min(100.0))
        };
        let process_cpu = now.process_cpu.saturating_sub(last.process_cpu);
        let waited_ns = change(waited_ns(&last.threads), waited_ns(&now.threads));
        let swapped_pages = change(last.swapped_pages, now.swapped_pages);
        let page_bytes = self.page_size_bytes;
        let pauses = self.pauses.as_ref().map(PauseWatch::take);
        let values = [
            (Metric::CpuBusy, share(|c| c.busy)),
            (Metric::CpuIoWait, share(|c| c.io_wait)),
            (
                Metric::ProcessCpu,
                Some(100.0 * process_cpu.as_secs_f64() / elapsed_s.max(1e-9)),
            ),
            (
                Metric::ProcessMemory,
                now.resident_pages.map(|pages| pages as f64 * page_bytes),
            ),
            (
                Metric::AvailableMemory,
                now.available_bytes.map(|b| b as f64),
            ),
            (Metric::IoPressure, pressure(|all| all.io)),
            (Metric::CpuSteal, share(|c| c.steal)),
            (Metric::RunQueueDelay, waited_ns.map(|ns| 100.0 * ns / 1e9)),
            (
                Metric::BusiestThread,
                busiest_ns(&last.threads, &now.threads)
                    .map(|ns| (100.0 * per_second(ns) / 1e9).min(100.0)),
            ),
            (Metric::CpuPressure, pressure(|all| all.cpu)),
            (Metric::MemoryPressure, pressure(|all| all.memory)),
            (Metric::Swap, swapped_pages.map(|pages| pages * page_bytes)),
            (
                Metric::LongestPause,
                pauses.map(|one| one.longest.as_secs_f64() * 1e3),
            ),
            (
                Metric::Paused,
                pauses
                    .map(|one| (100.0 * one.total.as_secs_f64() / elapsed_s.max(1e-9)).min(100.0)),
            ),
        ];
        HostSample {
            length_s: elapsed_s,
            values: values.into_iter().collect(),
            devices: self.device_differences(now, elapsed_s),
        }
    }

    fn device_differences(&self, now: &Reading, elapsed_s: f64) -> Vec<DeviceSample> {
        let pairs = self.last.disks.iter().zip(&now.disks);
        self.devices
            .iter()
            .zip(pairs)
            .filter_map(|(name, (last, now))| {
                Some(device_difference(
                    name,
                    last.as_ref()?,
                    now.as_ref()?,
                    elapsed_s,
                ))
            })
            .collect()
    }
}

/// How long all threads have waited for a CPU. `None` where the kernel does not say it.
fn waited_ns(threads: &BTreeMap<OsString, ThreadTimes>) -> Option<u64> {
    (!threads.is_empty()).then(|| threads.values().map(|one| one.waited_ns).sum())
}

/// How long the thread that ran longest has run between two readings.
fn busiest_ns(
    last: &BTreeMap<OsString, ThreadTimes>,
    now: &BTreeMap<OsString, ThreadTimes>,
) -> Option<u64> {
    let ran_ns = now.iter().filter_map(|(thread, now)| {
        let last = last.get(thread)?;
        Some(now.ran_ns.saturating_sub(last.ran_ns))
    });
    ran_ns.max()
}

/// CPU time that this process has used, by the clock of the scheduler.
fn process_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default() // It is never negative.
}

/// What a device did between two readings of its counters. A counter that went backwards (a
/// device that was taken away and came back) counts as no change.
fn device_difference(
    name: &str,
    last: &DiskCounters,
    now: &DiskCounters,
    elapsed_s: f64,
) -> DeviceSample {
    let elapsed_s = elapsed_s.max(1e-9);
    let change = |part: fn(&DiskCounters) -> u64| part(now).saturating_sub(part(last)) as f64;
    let (reads, writes) = (change(|d| d.reads), change(|d| d.writes));
    let sector_bytes = SECTOR_BYTES as f64;
    let rate = |amount: f64| Some(amount / elapsed_s);
    let average = |ms: f64, count: f64| (count > 0.0).then(|| ms / count);
    let values = [
        (Metric::DeviceReads, rate(reads)),
        (Metric::DeviceWrites, rate(writes)),
        (
            Metric::DeviceReadBytes,
            rate(change(|d| d.read_sectors) * sector_bytes),
        ),
        (
            Metric::DeviceWriteBytes,
            rate(change(|d| d.write_sectors) * sector_bytes),
        ),
        (
            Metric::DeviceReadAverage,
            average(change(|d| d.read_ms), reads),
        ),
        (
            Metric::DeviceWriteAverage,
            average(change(|d| d.write_ms), writes),
        ),
        (
            Metric::DeviceQueueDepth,
            rate(change(|d| d.weighted_ms) / 1e3),
        ),
        (
            Metric::DeviceBusy,
            rate(change(|d| d.busy_ms) / 1e3).map(|busy| busy.min(1.0)),
        ),
    ];
    DeviceSample {
        name: name.to_owned(),
        values: values.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn record(proc: &Path, name: &str, text: &str) {
        let path = proc.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn recorded_counters_become_rates() {
        let proc = tempfile::tempdir().unwrap();
        record(proc.path(), "stat", "cpu  100 0 100 800 0 0 0 0 0 0\n");
        record(
            proc.path(),
            "diskstats",
            "8 0 sda 100 0 1000 500 10 0 80 20 0 400 520\n",
        );
        let pressure = |io: u64, cpu: u64, memory: u64| {
            for (name, us) in [("io", io), ("cpu", cpu), ("memory", memory)] {
                let text = format!("some avg10=0.00 total={us}\n");
                record(proc.path(), &format!("pressure/{name}"), &text);
            }
        };
        pressure(500_000, 10_000, 100_000);
        record(proc.path(), "vmstat", "pswpin 5\npswpout 10\n");
        record(proc.path(), "self/task/7/schedstat", "9 100000000 2\n");
        record(proc.path(), "self/task/8/schedstat", "800000000 0 2\n");
        let devices = vec!["sda".to_owned(), "gone".to_owned()];
        let monitor = HostMonitor::with_proc(proc.path().to_owned(), devices);
        record(proc.path(), "stat", "cpu  130 0 150 840 60 0 0 20 0 0\n");
        record(
            proc.path(),
            "diskstats",
            "8 0 sda 300 0 5000 2500 17 0 580 70 0 900 2520\n",
        );
        pressure(900_000, 610_000, 200_000);
        record(proc.path(), "vmstat", "pswpin 12\npswpout 30\n");
        record(proc.path(), "self/task/7/schedstat", "9 500000000 2\n");
        record(proc.path(), "self/task/8/schedstat", "2400000000 0 2\n");
        // It has begun since.
        record(proc.path(), "self/task/9/schedstat", "1900000000 0 2\n");
        record(proc.path(), "meminfo", "MemAvailable: 1000 kB\n");
        let stat = format!("1 (a b) S{} 7 0\n", " 0".repeat(20));
        record(proc.path(), "self/stat", &stat);
        let mut now = monitor.read();
        now.process_cpu = monitor.last.process_cpu + Duration::from_millis(500);
        let sample = monitor.difference(&now, 2.0);
        assert_eq!(sample.length_s, 2.0);
        let page_bytes = rustix::param::page_size() as f64;
        let found = Metric::HOST.map(|metric| (metric, sample.values.get(metric)));
        // How long this test was paused is not known.
        let known = found
            .iter()
            .filter(|one| !matches!(one.0, Metric::LongestPause | Metric::Paused));
        let known: Vec<(Metric, Option<f64>)> = known.copied().collect();
        assert_eq!(
            known,
            [
                (Metric::CpuBusy, Some(50.0)),
                (Metric::CpuIoWait, Some(30.0)),
                (Metric::ProcessCpu, Some(25.0)),
                (Metric::ProcessMemory, Some(7.0 * page_bytes)),
                (Metric::AvailableMemory, Some(1_024_000.0)),
                (Metric::IoPressure, Some(20.0)),
                (Metric::CpuSteal, Some(10.0)),
                (Metric::RunQueueDelay, Some(20.0)),
                (Metric::BusiestThread, Some(80.0)),
                (Metric::CpuPressure, Some(30.0)),
                (Metric::MemoryPressure, Some(5.0)),
                (Metric::Swap, Some(13.5 * page_bytes)),
            ]
        );
        assert_eq!(
            sample.devices.len(),
            1,
            "a device that is not there is left out"
        );
        let values = [
            (Metric::DeviceReads, Some(100.0)),
            (Metric::DeviceWrites, Some(3.5)),
            (Metric::DeviceReadBytes, Some(1_024_000.0)),
            (Metric::DeviceWriteBytes, Some(128_000.0)),
            (Metric::DeviceReadAverage, Some(10.0)),
            (Metric::DeviceWriteAverage, Some(50.0 / 7.0)),
            (Metric::DeviceQueueDepth, Some(1.0)),
            (Metric::DeviceBusy, Some(0.25)),
        ];
        let expected = DeviceSample {
            name: "sda".to_owned(),
            values: values.into_iter().collect(),
        };
        assert_eq!(sample.devices[0], expected);
        // Nothing moved since, and the device worked all the time: no latency, and no more than all.
        record(
            proc.path(),
            "diskstats",
            "8 0 sda 100 0 1000 500 10 0 80 20 0 4400 520\n",
        );
        // The clock of the processors stood still, and tasks waited for longer than there was time.
        record(proc.path(), "stat", "cpu  100 0 100 800 0 0 0 0 0 0\n");
        pressure(4_500_000, 10_000, 100_000);
        let sample = monitor.difference(&monitor.read(), 2.0);
        assert_eq!(sample.values.get(Metric::CpuBusy), None);
        assert_eq!(sample.values.get(Metric::IoPressure), Some(100.0));
        let idle = &sample.devices[0].values;
        assert_eq!(idle.get(Metric::DeviceReadAverage), None);
        assert_eq!(idle.get(Metric::DeviceWriteAverage), None);
        assert_eq!(idle.get(Metric::DeviceBusy), Some(1.0));
    }

    #[test]
    fn this_machine_can_be_watched() {
        let here = std::env::current_dir().unwrap();
        let device = super::super::device_under(&here).map(|d| d.name);
        let mut monitor = HostMonitor::new(device.clone());
        assert_eq!(monitor.sample(), None, "nothing can be said yet");
        // Work until the clock of /proc (10 ms) has surely ticked.
        let mut sum = 0u64;
        let begun = Instant::now();
        while begun.elapsed().as_millis() < 60 {
            sum = sum.wrapping_mul(31).wrapping_add(std::hint::black_box(7));
        }
        std::hint::black_box(sum);
        std::thread::sleep(SHORTEST);
        let sample = monitor.sample().unwrap();
        assert!(sample.length_s >= SHORTEST.as_secs_f64());
        assert!(
            sample
                .values
                .get(Metric::CpuBusy)
                .is_some_and(|p| (0.0..=100.0).contains(&p))
        );
        let most = 100.0 * std::thread::available_parallelism().unwrap().get() as f64;
        // A clock of another kind may have run on for a moment.
        assert!(
            sample
                .values
                .get(Metric::ProcessCpu)
                .is_some_and(|p| p > 0.0 && p < 1.5 * most)
        );
        assert!(
            sample
                .values
                .get(Metric::ProcessMemory)
                .is_some_and(|b| b > 1e5)
        );
        assert!(
            sample
                .values
                .get(Metric::AvailableMemory)
                .is_some_and(|b| b > 1e6)
        );
        let watched: Vec<String> = sample.devices.iter().map(|d| d.name.clone()).collect();
        assert_eq!(
            watched,
            Vec::from_iter(device),
            "the kernel counts the device found for a path"
        );
    }
}
