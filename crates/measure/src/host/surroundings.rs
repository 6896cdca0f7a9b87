//! What a test on this machine shares with everything else: memory, the clock rate of its CPUs, other I/O.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::proc_text::{DiskCounters, disk_counters, memory_bytes};

/// What the machine has for a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Surroundings {
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Memory that programs can have without others being swapped out.
    pub available_memory_bytes: u64,
    /// How the clock rate of the CPUs is chosen, such as `performance`, each word once; empty where the
    /// kernel does not show it, as in most virtual machines.
    pub cpu_governors: Vec<String>,
}

impl Surroundings {
    /// Those of this machine.
    #[must_use]
    pub fn now() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            memory_bytes: memory_bytes(&meminfo, "MemTotal").unwrap_or(0),
            available_memory_bytes: memory_bytes(&meminfo, "MemAvailable").unwrap_or(0),
            cpu_governors: cpu_governors(Path::new("/sys/devices/system/cpu")),
        }
    }
}

fn cpu_governors(cpus: &Path) -> Vec<String> {
    let entries = fs::read_dir(cpus).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path().join("cpufreq/scaling_governor"));
    let words = files.filter_map(|file| fs::read_to_string(file).ok());
    let mut words: Vec<String> = words.map(|word| word.trim().to_owned()).collect();
    words.sort();
    words.dedup();
    words
}

/// The counters of some block devices at one time.
#[derive(Debug)]
pub struct DeviceCounters(BTreeMap<String, DiskCounters>);

/// What a block device did between two times, on average.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceTraffic {
    /// Kernel name of the device.
    pub device: String,
    /// Reads and writes per second.
    pub iops: f64,
    /// Bytes read and written per second.
    pub bytes_per_second: f64,
}

impl DeviceCounters {
    /// Reads the counters of these devices.
    #[must_use]
    pub fn now<'a>(devices: impl IntoIterator<Item = &'a str>) -> Self {
        let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        let counters = devices.into_iter().filter_map(|name| {
            // The kernel writes the slash of a name as an exclamation mark in some places.
            let found = disk_counters(&text, name);
            Some((name.to_owned(), found?))
        });
        Self(counters.collect())
    }

    /// The traffic from then to now, `seconds` later.
    #[must_use]
    pub fn traffic(&self, now: &Self, seconds: f64) -> Vec<DeviceTraffic> {
        let both = self.0.iter();
        let both = both.filter_map(|(name, before)| Some((name, before, now.0.get(name)?)));
        let traffic = both.map(|(name, before, after)| {
            let rate = |of: fn(&DiskCounters) -> u64| {
                of(after).saturating_sub(of(before)) as f64 / seconds.max(1e-9)
            };
            DeviceTraffic {
                device: name.clone(),
                iops: rate(|one| one.reads + one.writes),
                bytes_per_second: rate(|one| one.read_sectors + one.write_sectors)
                    * super::device::SECTOR_BYTES as f64,
            }
        });
        traffic.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory() {
        let now = Surroundings::now();
        assert!(now.memory_bytes >= now.available_memory_bytes);
        assert!(now.available_memory_bytes > 0);
    }

    #[test]
    fn governors_are_named_once() {
        let root = tempfile::tempdir().unwrap();
        for (cpu, word) in [
            ("cpu0", "powersave\n"),
            ("cpu1", "powersave\n"),
            ("cpu2", "performance\n"),
        ] {
            let directory = root.path().join(cpu).join("cpufreq");
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("scaling_governor"), word).unwrap();
        }
        fs::create_dir(root.path().join("cpuidle")).unwrap();
        assert_eq!(cpu_governors(root.path()), ["performance", "powersave"]);
    }

    #[test]
    fn traffic_is_what_the_counters_went_up_by() {
        let counters = |reads: u64, write_sectors: u64| {
            let one = DiskCounters {
                reads,
                write_sectors,
                ..DiskCounters::default()
            };
            DeviceCounters(BTreeMap::from([("sda".to_owned(), one)]))
        };
        let traffic = counters(100, 1000).traffic(&counters(150, 3000), 2.0);
        assert_eq!(traffic.len(), 1);
        assert_eq!(
            (traffic[0].iops, traffic[0].bytes_per_second),
            (25.0, 512_000.0)
        );
        let gone = counters(1, 1).traffic(&DeviceCounters(BTreeMap::new()), 1.0);
        assert!(gone.is_empty());
    }
}
