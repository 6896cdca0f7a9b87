//! Every request of a block device with its latency, as the kernel traces it.
//!
//! `/proc/diskstats` knows averages only. Where the kernel's trace files may be used (mostly by
//! root), each request is seen when it is handed to the device and when it comes back: its size,
//! its latency and who made it.
//!
//! - [`BlockTrace`] holds an instance of the kernel's tracer of its own, so that nobody else's
//!   tracing is disturbed, and takes it away when it is dropped.
//! - `line` reads the lines that the kernel prints, `pairing` joins beginnings and ends.

mod extent;
mod line;
mod pairing;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub use extent::DeviceExtent;
pub use line::Direction;
pub use pairing::DeviceRequest;

use line::Line;
use pairing::Pairing;

/// Where the kernel's trace files are mounted.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const NAME: &str = "proofload-";
/// Room for the events of some seconds of 50,000 requests a second, for each processor.
const BUFFER_KIB: &str = "8192";
/// Traces that this process has started, for names that no two have in common.
static STARTED: AtomicU32 = AtomicU32::new(0);
const EVENTS: [&str; 2] = ["block_rq_issue", "block_rq_complete"];

/// Why requests cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum BlockTraceError {
    /// The kernel shows no trace files, or not to this user.
    #[error(
        "the kernel's trace files are not accessible (root may use them, where tracefs is mounted)"
    )]
    NotAccessible,
    /// A trace file could not be used.
    #[error("{path}: {error}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
}

/// Traces the requests of block devices, from its start until it is dropped.
#[derive(Debug)]
pub struct BlockTrace {
    // Closed before the instance goes: the kernel keeps one that is being read.
    pipe: File,
    _instance: Instance,
    /// Text that has come in without the end of its line.
    unfinished: Vec<u8>,
    pairing: Pairing,
}

impl BlockTrace {
    /// Begins to trace requests in these parts of devices.
    ///
    /// # Errors
    /// The kernel's trace files are not there, or not for this user.
    pub fn start(extents: Vec<DeviceExtent>) -> Result<BlockTrace, BlockTraceError> {
        let mount = MOUNTS.iter().map(Path::new);
        let mount = mount
            .into_iter()
            .find(|mount| mount.join("instances").is_dir());
        BlockTrace::start_at(mount.ok_or(BlockTraceError::NotAccessible)?, extents)
    }

    fn start_at(mount: &Path, extents: Vec<DeviceExtent>) -> Result<BlockTrace, BlockTraceError> {
        let instances = mount.join("instances");
        remove_orphans(&instances);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let instance = instances.join(format!("{NAME}{}-{number}", std::process::id()));
        fs::create_dir(&instance).map_err(|_| BlockTraceError::NotAccessible)?;
        let instance = Instance(instance);
        Ok(BlockTrace {
            pipe: set_up(&instance.0, &extents)?,
            _instance: instance,
            unfinished: Vec::new(),
            pairing: Pairing::new(extents),
        })
    }

    /// Gives every request that has ended since the last call, in the order of their ends, without
    /// waiting for more.
    ///
    /// # Errors
    /// The kernel's trace could not be read.
    pub fn poll(&mut self, mut each: impl FnMut(DeviceRequest)) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match self.pipe.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(bytes) => self.take_in(&buffer[..bytes], &mut each),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Events that the kernel had to drop because nobody fetched them in time.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.pairing.lost()
    }

    fn take_in(&mut self, text: &[u8], each: &mut impl FnMut(DeviceRequest)) {
        self.unfinished.extend_from_slice(text);
        let Some(end) = self.unfinished.iter().rposition(|&byte| byte == b'\n') else {
            return;
        };
        for line in self.unfinished[..end].split(|&byte| byte == b'\n') {
            let line = std::str::from_utf8(line).ok().and_then(Line::parse);
            if let Some(request) = line.and_then(|line| self.pairing.take(line)) {
                each(request);
            }
        }
        self.unfinished.drain(..=end);
    }
}

/// The directory of an instance of the tracer, which goes with it.
#[derive(Debug)]
struct Instance(PathBuf);

impl Drop for Instance {
    fn drop(&mut self) {
        // Nobody can be told if this fails; the next start removes what is left.
        let _ = write_to(&self.0.join("events/enable"), "0");
        let _ = fs::remove_dir(&self.0);
    }
}

fn set_up(instance: &Path, extents: &[DeviceExtent]) -> Result<File, BlockTraceError> {
    write_to(&instance.join("trace_clock"), "mono")?;
    write_to(&instance.join("buffer_size_kb"), BUFFER_KIB)?;
    let only = extents.iter().map(|extent| {
        // The kernel's own number for a device: major above 20 bits of minor.
        let device = (u64::from(extent.major) << 20) | u64::from(extent.minor);
        format!("dev == {device}")
    });
    let filter = only.collect::<Vec<_>>().join(" || ");
    for event in EVENTS {
        let event = instance.join("events/block").join(event);
        write_to(&event.join("filter"), &filter)?;
        write_to(&event.join("enable"), "1")?;
    }
    let path = instance.join("trace_pipe");
    let no_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new()
        .read(true)
        .custom_flags(no_waiting)
        .open(&path)
        .map_err(|error| BlockTraceError::File { path, error })
}

fn write_to(path: &Path, text: &str) -> Result<(), BlockTraceError> {
    let written = OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| BlockTraceError::File {
        path: path.to_owned(),
        error,
    })
}

/// Removes the instances of runs that were killed.
fn remove_orphans(instances: &Path) {
    let entries = fs::read_dir(instances).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(NAME));
        let process = process.and_then(|rest| rest.split('-').next());
        let Some(process) = process.and_then(|number| number.parse::<u32>().ok()) else {
            continue;
        };
        if !Path::new("/proc").join(process.to_string()).exists() {
            drop(Instance(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek;

    /// Needs root, tracefs and a file on a block device; says so and passes without.
    #[test]
    fn requests_of_a_real_device_are_seen_with_their_latency() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(extent) = DeviceExtent::under(directory.path()) else {
            return println!(
                "skipped: no block device under {}",
                directory.path().display()
            );
        };
        let mut trace = match BlockTrace::start(vec![extent]) {
            Ok(trace) => trace,
            Err(error) => return println!("skipped: {error}"),
        };
        let instance = trace._instance.0.clone();
        let mut file = File::create(directory.path().join("written")).unwrap();
        let block = vec![7_u8; 256 << 10];
        for _ in 0..8 {
            file.rewind().unwrap();
            file.write_all(&block).unwrap();
            file.sync_data().unwrap();
        }
        let mut seen = Vec::new();
        trace.poll(|request| seen.push(request)).unwrap();
        let mine: Vec<&DeviceRequest> = seen
            .iter()
            .filter(|request| request.direction == Direction::Write)
            .collect();
        let bytes: u64 = mine.iter().map(|request| request.bytes).sum();
        assert!(
            bytes >= (8 * 256) << 10,
            "{bytes} bytes in {} writes",
            mine.len()
        );
        assert!(mine.iter().all(|request| request.latency_ns > 0));
        drop(trace);
        assert!(!instance.exists());
    }
}
