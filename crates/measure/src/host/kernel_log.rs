//! What the kernel says of the devices under test while a run goes on: `/dev/kmsg`.
//!
//! A thread reads it once a second, because the kernel keeps the latest messages only. Where it may not
//! be read there are no messages.

use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::result::KernelMessage;

/// Messages that are kept; further ones are counted.
const MOST_KEPT: usize = 100;
/// Letters of a message that are kept.
const LONGEST: usize = 500;
/// The kernel gives one message at a time, which is never longer.
const RECORD_BYTES: usize = 8192;
/// How often the thread reads.
const PAUSE: Duration = Duration::from_millis(1_000);
/// How often it checks whether it is to end.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What a message is about when it names no device: words of the block layer and of file systems about
/// requests that failed.
const ERRORS: [&str; 13] = [
    "I/O error",
    "attempt to access beyond end of device",
    "critical medium error",
    "critical target error",
    "Medium Error",
    "Unrecovered read error",
    "blk_update_request",
    "EXT4-fs error",
    "EXT4-fs warning",
    "metadata I/O",
    "blocked for more than",
    "not responding",
    "Remounting filesystem read-only",
];

/// The messages of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelMessages {
    /// The first messages, in the order of the kernel's log.
    pub messages: Vec<KernelMessage>,
    /// Those that are not kept.
    pub more: u64,
}

impl KernelMessages {
    fn add(&mut self, record: &str, devices: &[String], begun_us: u64) {
        let Some(message) = parse(record, begun_us) else {
            return;
        };
        if !is_about(&message.text, devices) {
            return;
        }
        if self.messages.len() < MOST_KEPT {
            self.messages.push(message);
        } else {
            self.more += 1;
        }
    }
}

/// Follows the kernel's messages from now on.
pub struct KernelLog {
    ends: Arc<AtomicBool>,
    reader: JoinHandle<KernelMessages>,
}

impl KernelLog {
    /// Follows messages about devices with these kernel names; `None` where they may not be read.
    pub fn follow(devices: Vec<String>) -> Option<Self> {
        Self::follow_file(Path::new("/dev/kmsg"), devices)
    }

    fn follow_file(path: &Path, devices: Vec<String>) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        rustix::fs::seek(&file, SeekFrom::End(0)).ok()?;
        let now = clock_gettime(ClockId::Monotonic);
        let begun_us = now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000;
        let ends = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&ends);
        let devices = with_controllers(devices);
        let reader = thread::Builder::new().name("kernel log".to_owned());
        let reader = reader.spawn(move || {
            let mut messages = KernelMessages::default();
            loop {
                let is_last = asked.load(Ordering::Relaxed);
                read_all(&file, |record| messages.add(record, &devices, begun_us));
                if is_last {
                    return messages;
                }
                let mut slept = Duration::ZERO;
                while slept < PAUSE && !asked.load(Ordering::Relaxed) {
                    thread::sleep(STOP_POLL_INTERVAL);
                    slept += STOP_POLL_INTERVAL;
                }
            }
        });
        Some(Self {
            ends,
            reader: reader.ok()?,
        })
    }

    /// The messages until now.
    pub fn finish(self) -> KernelMessages {
        self.ends.store(true, Ordering::Relaxed);
        self.reader.join().unwrap_or_default()
    }
}

/// Reads the records that are there.
fn read_all(file: &OwnedFd, mut take: impl FnMut(&str)) {
    let mut buffer = vec![0; RECORD_BYTES];
    loop {
        match rustix::io::read(file, &mut buffer[..]) {
            Ok(0) => return,
            Ok(length) => take(&String::from_utf8_lossy(&buffer[..length])),
            // Records were overwritten before they were read; the next one is there.
            Err(Errno::PIPE | Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// A record such as `3,412,5140900,-;I/O error, dev sdb, sector 8`; lines that follow name the device
/// for machines. `begun_us` is the start of the run on the same clock.
fn parse(record: &str, begun_us: u64) -> Option<KernelMessage> {
    let (head, rest) = record.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let at_us: u64 = fields.nth(1)?.parse().ok()?;
    let text = rest.lines().next().unwrap_or_default();
    Some(KernelMessage {
        at_s: at_us.saturating_sub(begun_us) as f64 / 1e6,
        level: level(priority & 7).to_owned(),
        text: unescaped(text).chars().take(LONGEST).collect(),
    })
}

/// A text without the escapes by which the kernel writes line ends within a message, backslashes and what is not
/// ASCII: `\x0a` and the like. Line ends become blanks.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        let digits = after.get(..2);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(if byte.is_ascii_control() { b' ' } else { byte });
                rest = &after[2..];
            }
            None => {
                bytes.extend_from_slice(b"\\x");
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn level(severity: u32) -> &'static str {
    match severity {
        0 => "emergency",
        1 => "alert",
        2 => "critical",
        3 => "error",
        4 => "warning",
        5 => "notice",
        6 => "information",
        _ => "debug",
    }
}

/// Whether a message names one of the devices, or is about requests that failed.
fn is_about(text: &str, devices: &[String]) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let mut words = text.split(|letter| !is_part(letter));
    words.any(|word| devices.iter().any(|device| device == word))
        || ERRORS.iter().any(|error| text.contains(error))
}

/// The names, and those of the controllers of NVMe devices: timeouts are reported of `nvme0`, not of
/// `nvme0n1`.
fn with_controllers(devices: Vec<String>) -> Vec<String> {
    let controllers = devices.iter().filter_map(|device| {
        let number = device.strip_prefix("nvme")?;
        let digits = number.find(|letter: char| !letter.is_ascii_digit())?;
        Some(format!("nvme{}", &number[..digits]))
    });
    let controllers: Vec<String> = controllers.collect();
    devices.into_iter().chain(controllers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: [&str; 8] = [
        "6,339,5140900,-;NET: Registered PF_VSOCK protocol family\n",
        "3,1412,92000000,-;I/O error, dev sdb, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1 prio \
         class 2\n SUBSYSTEM=block\n DEVICE=b8:16\n",
        "6,1413,93500000,-;sd 2:0:0:0: [sdb] tag#12 Sense Key : Medium Error [current]\n",
        "4,1414,94000000,-;nvme nvme0: I/O 123 QID 4 timeout, aborting\n",
        "2,1415,95000000,-;EXT4-fs error (device dm-3): ext4_find_entry:1463: inode #2: comm x\n",
        "6,1416,96000000,-;sdbc: unknown partition table\n",
        "not a record",
        "6,1417,97000000,-;usb 1-1: new device\n",
    ];

    #[test]
    fn a_device_in_a_second_line_of_a_message_is_found() {
        let mut messages = KernelMessages::default();
        let devices = ["loop2".to_owned()];
        let record =
            "4,9,100,-;proofload: refused\\x0aloop2: rw=34816, a\\x5cb \\xc3\\xa9 \\xzz\\x\n";
        messages.add(record, &devices, 0);
        assert_eq!(messages.messages.len(), 1);
        let text = &messages.messages[0].text;
        assert_eq!(
            text,
            "proofload: refused loop2: rw=34816, a\\b \u{e9} \\xzz\\x"
        );
    }

    #[test]
    fn recorded_messages_about_the_devices_are_kept() {
        let devices = with_controllers(vec!["sdb".to_owned(), "nvme0n1".to_owned()]);
        assert_eq!(devices, ["sdb", "nvme0n1", "nvme0"]);
        let mut messages = KernelMessages::default();
        for record in RECORDED {
            messages.add(record, &devices, 90_000_000);
        }
        let kept: Vec<(f64, &str, &str)> = messages
            .messages
            .iter()
            .map(|one| (one.at_s, one.level.as_str(), &one.text[..20]))
            .collect();
        assert_eq!(
            kept,
            [
                (2.0, "error", "I/O error, dev sdb, "),
                (3.5, "information", "sd 2:0:0:0: [sdb] ta"),
                (4.0, "warning", "nvme nvme0: I/O 123 "),
                (5.0, "critical", "EXT4-fs error (devic"),
            ]
        );
        assert!(!messages.messages[0].text.contains("SUBSYSTEM"));
    }

    #[test]
    fn a_record_has_its_severity_whatever_part_of_the_kernel_wrote_it() {
        let levels = [
            "emergency",
            "alert",
            "critical",
            "error",
            "warning",
            "notice",
            "information",
            "debug",
        ];
        for (severity, level) in levels.into_iter().enumerate() {
            for facility in [0, 3] {
                let record = format!("{},7,1000000,-;text\n", 8 * facility + severity);
                let parsed = parse(&record, 0).unwrap();
                assert_eq!((parsed.level.as_str(), parsed.at_s), (level, 1.0));
            }
        }
        for broken in ["text", "x,7,1000000,-;text", "3,7,x,-;text", "3;text"] {
            assert_eq!(parse(broken, 0), None, "{broken}");
        }
    }

    #[test]
    fn a_message_is_kept_for_a_whole_name_of_a_device_or_a_known_error() {
        let devices = ["sdb", "dm-3", "md_d0", "nvme0"].map(str::to_owned);
        for (text, is_kept) in [
            ("sdb: unknown partition table", true),
            ("[sdb] tag#12", true),
            ("usb 1-1: new device", false),
            ("xsdb sdb1 sdb_1 sdb-1 bsdb", false),
            ("raid on dm-3", true),
            ("raid on dm-33 and dm", false),
            ("(md_d0)", true),
            ("nvme nvme0: timeout", true),
            ("nvme nvme1: timeout", false),
        ] {
            assert_eq!(is_about(text, &devices), is_kept, "{text}");
        }
        for error in ERRORS {
            assert!(is_about(&format!("x {error} y"), &[]), "{error}");
        }
        let controllers = with_controllers(vec!["nvme12n3p1".to_owned(), "sda".to_owned()]);
        assert_eq!(controllers, ["nvme12n3p1", "sda", "nvme12"]);
    }

    #[test]
    fn messages_are_followed_from_the_begin_of_the_run_to_its_end() {
        use std::io::Write;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kmsg");
        let devices = || vec!["sdb".to_owned()];
        assert!(KernelLog::follow_file(&path, devices()).is_none());
        std::fs::write(&path, RECORDED[2]).unwrap();
        let now_us = || {
            let now = Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap();
            now.as_micros() as u64
        };
        let before_us = now_us();
        let log = KernelLog::follow_file(&path, devices()).unwrap();
        let after_us = now_us();
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        let at_us = after_us + 5_000_000;
        writeln!(file, "3,1,{at_us},-;sdb: I/O error").unwrap();
        let found = log.finish();
        let texts: Vec<&str> = found.messages.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["sdb: I/O error"], "not what was there before");
        // The begin of the run lies between the two looks at the clock.
        let at_s = found.messages[0].at_s;
        let longest_s = (at_us - before_us) as f64 / 1e6;
        assert!((5.0..=longest_s).contains(&at_s), "{at_s} of {longest_s}");
    }

    #[test]
    fn a_storm_of_messages_stays_within_bounds() {
        let mut messages = KernelMessages::default();
        for _ in 0..1_000 {
            messages.add(RECORDED[1], &[], 0);
        }
        assert_eq!((messages.messages.len(), messages.more), (MOST_KEPT, 900));
        let long = format!("3,1,2,-;I/O error {}", "x".repeat(5_000));
        let parsed = parse(&long, 0).unwrap();
        assert_eq!((parsed.text.len(), parsed.at_s), (LONGEST, 0.000_002));
    }

    #[test]
    fn following_ends_when_it_is_asked_to() {
        // Where it may not be read there is nothing to end.
        if let Some(log) = KernelLog::follow(vec!["sdb".to_owned()]) {
            drop(log.finish());
        }
    }
}
