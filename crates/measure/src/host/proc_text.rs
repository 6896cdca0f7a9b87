//! Readers of the texts in `/proc`. Each takes the text, so each can be tested with a recording.

use serde::Serialize;

/// CPU time of the whole machine since boot, in clock ticks (proc(5), `/proc/stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTicks {
    /// Ticks in which a CPU worked.
    pub busy: u64,
    /// Ticks in which a CPU was idle while I/O was outstanding.
    pub io_wait: u64,
    /// Ticks that a hypervisor gave to other machines; they count as busy, too.
    pub steal: u64,
    /// All ticks: busy, idle and waiting for I/O, over all CPUs.
    pub total: u64,
}

/// Reads the first line of `/proc/stat`. The fields are user, nice, system, idle, iowait, irq,
/// softirq, steal; guest time is already in user time.
pub fn cpu_ticks(stat: &str) -> Option<CpuTicks> {
    let line = stat.lines().find(|l| l.starts_with("cpu "))?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .map_while(|f| f.parse().ok())
        .collect();
    if ticks.len() < 4 {
        return None;
    }
    let total = ticks.iter().take(8).sum();
    let io_wait = ticks.get(4).copied().unwrap_or(0);
    Some(CpuTicks {
        busy: total - ticks[3] - io_wait,
        io_wait,
        steal: ticks.get(7).copied().unwrap_or(0),
        total,
    })
}

/// A value of `/proc/meminfo` in bytes, such as that of `MemAvailable`.
pub fn memory_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find(|l| l.strip_prefix(name).is_some_and(|r| r.starts_with(':')))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Resident pages of a process (proc(5), `/proc/self/stat`). The name of the program may hold spaces
/// and parentheses, so fields are counted from the last closing parenthesis.
pub fn resident_pages(stat: &str) -> Option<u64> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    // The field after the name is the third.
    after_name.split_whitespace().nth(24 - 3)?.parse().ok()
}

/// Time in microseconds in which some task waited, from the `some` line of a file in
/// `/proc/pressure` (kernel documentation, accounting/psi).
pub fn pressure_us(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|l| l.starts_with("some "))?;
    line.split_whitespace()
        .find_map(|f| f.strip_prefix("total="))?
        .parse()
        .ok()
}

/// Pages swapped in and out since boot (`/proc/vmstat`).
pub fn swapped_pages(vmstat: &str) -> Option<u64> {
    let count = |name: &str| -> Option<u64> {
        let mut lines = vmstat.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.trim().parse().ok()
    };
    Some(count("pswpin")? + count("pswpout")?)
}

/// What a thread has done since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTimes {
    /// Nanoseconds on a CPU.
    pub ran_ns: u64,
    /// Nanoseconds of waiting for a CPU.
    pub waited_ns: u64,
}

/// The first two figures of a thread's `schedstat` (kernel documentation, scheduler/sched-stats).
pub fn thread_times(schedstat: &str) -> Option<ThreadTimes> {
    let mut figures = schedstat.split_whitespace().map(str::parse);
    Some(ThreadTimes {
        ran_ns: figures.next()?.ok()?,
        waited_ns: figures.next()?.ok()?,
    })
}

/// Counters of one block device since boot (kernel documentation, admin-guide/iostats).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskCounters {
    /// Reads that ended since boot.
    pub reads: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Sum of the latencies of all reads in milliseconds.
    pub read_ms: u64,
    /// Writes that ended since boot.
    pub writes: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Sum of the latencies of all writes in milliseconds.
    pub write_ms: u64,
    /// Milliseconds in which at least one request was in flight.
    pub busy_ms: u64,
    /// Milliseconds weighted with the number of requests in flight.
    pub weighted_ms: u64,
}

/// The counters of the device `name` in `/proc/diskstats`.
pub fn disk_counters(diskstats: &str, name: &str) -> Option<DiskCounters> {
    let line = diskstats
        .lines()
        .find(|l| l.split_whitespace().nth(2) == Some(name))?;
    let fields: Vec<u64> = line
        .split_whitespace()
        .skip(3)
        .map_while(|f| f.parse().ok())
        .collect();
    if fields.len() < 11 {
        return None;
    }
    Some(DiskCounters {
        reads: fields[0],
        read_sectors: fields[2],
        read_ms: fields[3],
        writes: fields[4],
        write_sectors: fields[6],
        write_ms: fields[7],
        busy_ms: fields[9],
        weighted_ms: fields[10],
    })
}

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// Where it is mounted.
    pub mount_point: String,
    /// Type of the file system.
    pub file_system: String,
    /// What is mounted, such as `/dev/sda1`.
    pub source: String,
    /// Options of the mount and of the file system, each once.
    pub options: Vec<String>,
}

/// Options that leave flushes away, as ext4 and btrfs call them.
const WITHOUT_FLUSHES: [&str; 2] = ["nobarrier", "barrier=0"];

impl Mount {
    /// The option by which the file system sends its device no flushes.
    #[must_use]
    pub fn option_without_flushes(&self) -> Option<&str> {
        let mut options = self.options.iter().map(String::as_str);
        options.find(|option| WITHOUT_FLUSHES.contains(option))
    }
}

/// The mount that the absolute path `path` lies on: the longest mount point that is a prefix of
/// it, the last one when several are stacked (proc(5), `/proc/pid/mountinfo`).
pub fn mount_of(mountinfo: &str, path: &str) -> Option<Mount> {
    let mut best: Option<Mount> = None;
    for mount in mountinfo.lines().filter_map(parse_mount) {
        let below = mount.mount_point == "/"
            || path
                .strip_prefix(mount.mount_point.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if below
            && best
                .as_ref()
                .is_none_or(|b| b.mount_point.len() <= mount.mount_point.len())
        {
            best = Some(mount);
        }
    }
    best
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut right = right.split_whitespace();
    let mut left = left.split_whitespace().skip(4);
    let mount_point = unescape(left.next()?);
    let of_mount = left.next().unwrap_or_default();
    let (file_system, source) = (right.next()?.to_owned(), unescape(right.next()?));
    let mut options: Vec<String> = Vec::new();
    for option in of_mount
        .split(',')
        .chain(right.flat_map(|all| all.split(',')))
    {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    Some(Mount {
        mount_point,
        file_system,
        source,
        options,
    })
}

/// The kernel writes blank, tab, newline and backslash as octal escapes.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  1000 10 500 8000 400 30 60 0 5 0\n\
                        cpu0 500 5 250 4000 200 15 30 0 0 0\n\
                        intr 1 2 3\n";
    const MEMINFO: &str = "MemTotal:       16384256 kB\nMemFree:         1000000 kB\n\
                           MemAvailable:    8000000 kB\nHugePages_Total:       0\n";
    const DISKSTATS: &str = "\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       0 nvme0n1 53236 9232 4784930 16516 26662 17182 2915136 9687 3 10032 27104 8455 77 70 725
 259       1 nvme0n1p1 100 2 800 40 5 6 56 7 0 9 47
 252       0 old 1 2 3 4
";
    const MOUNTINFO: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 /sub /data rw - btrfs /dev/sdb rw
31 22 0:41 / /data\\040base rw shared:7 master:1 - xfs /dev/sdc1 rw
32 30 0:42 / /data/over rw - overlay overlay rw,lowerdir=/a:/b
";

    #[test]
    fn processor_time_is_read() {
        let expected = CpuTicks {
            busy: 1600,
            io_wait: 400,
            steal: 0,
            total: 10_000,
        };
        assert_eq!(cpu_ticks(STAT), Some(expected));
        assert_eq!(cpu_ticks("cpu 1 2\n"), None);
        assert_eq!(cpu_ticks(""), None);
    }

    #[test]
    fn memory_is_read_by_its_whole_name() {
        assert_eq!(memory_bytes(MEMINFO, "MemAvailable"), Some(8_192_000_000));
        assert_eq!(memory_bytes(MEMINFO, "Mem"), None);
    }

    #[test]
    fn a_process_with_an_odd_name_is_read() {
        let stat = "42 (odd) name) S 1 42 42 0 -1 4194304 99 0 0 0 250 50 7 8 20 0 9 0 99167 \
                    3133440 409 184467 94 94 14";
        assert_eq!(resident_pages(stat), Some(409));
        assert_eq!(resident_pages("nonsense"), None);
    }

    #[test]
    fn pressure_is_read() {
        let text = "some avg10=0.79 avg60=2.30 avg300=1.16 total=11506415\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure_us(text), Some(11_506_415));
    }

    #[test]
    fn swap_and_run_queue_delay_are_read() {
        let text = "pgpgin 5\npswpin 7\npswpout 30\npswpout_x 9\n";
        assert_eq!(swapped_pages(text), Some(37));
        assert_eq!(swapped_pages("pswpin 7\n"), None);
        let times = ThreadTimes {
            ran_ns: 1500,
            waited_ns: 2500,
        };
        assert_eq!(thread_times("1500 2500 3\n"), Some(times));
        assert_eq!(thread_times("1500"), None);
    }

    #[test]
    fn disk_counters_are_read_by_their_whole_name() {
        let disk = disk_counters(DISKSTATS, "nvme0n1").unwrap();
        assert_eq!(
            (disk.reads, disk.read_sectors, disk.read_ms),
            (53_236, 4_784_930, 16_516)
        );
        assert_eq!(
            (disk.writes, disk.write_sectors, disk.write_ms),
            (26_662, 2_915_136, 9_687)
        );
        assert_eq!((disk.busy_ms, disk.weighted_ms), (10_032, 27_104));
        assert_eq!(disk_counters(DISKSTATS, "nvme0n1p1").unwrap().writes, 5);
        assert_eq!(disk_counters(DISKSTATS, "nvme0"), None);
        assert_eq!(disk_counters(DISKSTATS, "old"), None);
    }

    #[test]
    fn the_nearest_mount_is_found() {
        let source = |path: &str| mount_of(MOUNTINFO, path).unwrap().source;
        assert_eq!(source("/database"), "/dev/sda1");
        assert_eq!(source("/data"), "/dev/sdb");
        assert_eq!(source("/data/x/y"), "/dev/sdb");
        assert_eq!(source("/data base/x"), "/dev/sdc1");
        assert_eq!(source("/data/over/x"), "overlay");
        assert_eq!(
            mount_of(MOUNTINFO, "/data base").unwrap().file_system,
            "xfs"
        );
        let options = |path: &str| mount_of(MOUNTINFO, path).unwrap().options;
        assert_eq!(options("/database"), ["rw", "relatime"]);
        assert_eq!(options("/data/over"), ["rw", "lowerdir=/a:/b"]);
        assert_eq!(
            mount_of(MOUNTINFO, "/data")
                .unwrap()
                .option_without_flushes(),
            None
        );
        let without = mount_of("9 1 8:1 / / rw - ext4 /dev/sda1 rw,nobarrier", "/x").unwrap();
        assert_eq!(without.option_without_flushes(), Some("nobarrier"));
    }
}
