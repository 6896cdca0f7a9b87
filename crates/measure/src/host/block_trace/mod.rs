//! Every request of a block device with its latency, as the kernel traces it.
//!
//! `/proc/diskstats` knows averages only. Where the kernel's trace files may be used (mostly by
//! root), each request is seen when it is handed to the device and when it comes back: its size,
//! its latency and who made it.
//!
//! - [`BlockTrace`] holds an instance of the kernel's tracer of its own, so that nobody else's
//!   tracing is disturbed, and takes it away when it is dropped.
//! - `files` finds the trace files, also where nobody has mounted them.
//! - `page` takes the events out of the pages of the kernel's ring buffers, one for each
//!   CPU; `format` and `event` read them; `pairing` joins beginnings and ends.
//!
//! The pages are read as they are: the same events as text cost the kernel and us ten times as
//! much, which is felt at ten thousand requests a second.

mod event;
mod extent;
mod files;
mod format;
mod page;
mod pairing;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub use event::{Direction, ProcessName};
pub use extent::DeviceExtent;
pub use pairing::DeviceRequest;

use super::own_name::{left_behind, own_name};
use event::{Event, Formats};
use files::TraceFiles;
use page::PageLayout;
use pairing::Pairing;

/// Room for the events of some seconds of 50,000 requests a second, for each CPU.
const BUFFER_KIB: usize = 8192;
const EVENTS: [&str; 2] = ["block_rq_issue", "block_rq_complete"];

/// Why requests cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum BlockTraceError {
    /// The kernel shows no trace files, or not to this user.
    #[error("the kernel's trace files are not accessible (root may use them)")]
    NotAccessible,
    /// A trace file could not be used.
    #[error("{path}: {error}")]
    File {
        /// Path of the trace file.
        path: PathBuf,
        /// What the system reported when it was read or written.
        error: io::Error,
    },
    /// The kernel describes its events in a way that is not known here.
    #[error("the kernel's description of its events ({path}) is of an unknown kind")]
    Unknown {
        /// Path of the kernel's description.
        path: PathBuf,
    },
}

/// Traces the requests of block devices, from its start until it is dropped.
#[derive(Debug)]
pub struct BlockTrace {
    // Closed before the instance goes: the kernel keeps one that is being read.
    /// The pages of each CPU.
    pipes: Vec<File>,
    _instance: Instance,
    // Closed after the instance is gone, which lies in it.
    _files: TraceFiles,
    layout: PageLayout,
    formats: Formats,
    page: Vec<u8>,
    /// Events that may not be taken in yet, with their moments.
    waiting: Vec<(u64, Event)>,
    pairing: Pairing,
    /// Bytes that the last fetch found at the CPU that had most.
    most_bytes: usize,
}

impl BlockTrace {
    /// Begins to trace requests in these parts of devices.
    ///
    /// # Errors
    /// The kernel's trace files are not there, or not for this user.
    pub fn start(extents: Vec<DeviceExtent>) -> Result<BlockTrace, BlockTraceError> {
        let files = TraceFiles::find().ok_or(BlockTraceError::NotAccessible)?;
        let (layout, formats) = described(&files.path.join("events"))?;
        let instances = files.path.join("instances");
        for left in left_behind(&instances) {
            drop(Instance(left));
        }
        let instance = instances.join(own_name());
        fs::create_dir(&instance).map_err(|_| BlockTraceError::NotAccessible)?;
        let instance = Instance(instance);
        Ok(BlockTrace {
            pipes: set_up(&instance.0, &extents)?,
            _instance: instance,
            _files: files,
            layout,
            formats,
            page: vec![0; layout.page_bytes()],
            waiting: Vec::new(),
            pairing: Pairing::new(extents),
            most_bytes: 0,
        })
    }

    /// Gives every request that had ended when this was called, in the order of their ends.
    ///
    /// # Errors
    /// The kernel's trace could not be read.
    pub fn poll(&mut self, mut each: impl FnMut(DeviceRequest)) -> io::Result<()> {
        // A request may begin on one CPU and end on another, whose events are read later or
        // earlier: only what all CPUs have delivered is taken in.
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let covered_until_ns =
            now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        self.fetch()?;
        self.waiting.sort_by_key(|&(at_ns, _)| at_ns);
        let complete = self
            .waiting
            .partition_point(|&(at_ns, _)| at_ns < covered_until_ns);
        for (at_ns, event) in self.waiting.drain(..complete) {
            if let Some(request) = self.pairing.take(at_ns, event) {
                each(request);
            }
        }
        Ok(())
    }

    /// Events that the kernel had to drop because nobody fetched them in time.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.pairing.lost()
    }

    /// How full the kernel's buffers were at the last poll: the fullest of them, 0 to 1. Who polls
    /// often enough for this to stay small loses no events.
    #[must_use]
    pub fn fullness(&self) -> f64 {
        self.most_bytes as f64 / (BUFFER_KIB << 10) as f64
    }

    /// Fetches what the CPUs recorded.
    fn fetch(&mut self) -> io::Result<()> {
        self.most_bytes = 0;
        for pipe in &mut self.pipes {
            let mut of_processor = 0;
            loop {
                let bytes = match pipe.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(bytes) => bytes,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                of_processor += bytes;
                let lost = self.layout.read(&self.page[..bytes], |at_ns, data| {
                    let event = self.formats.read(data);
                    self.waiting.extend(event.map(|event| (at_ns, event)));
                });
                if lost > 0 {
                    self.pairing.forget(lost);
                }
            }
            self.most_bytes = self.most_bytes.max(of_processor);
        }
        Ok(())
    }
}

/// The directory of an instance of the tracer, which goes with it.
#[derive(Debug)]
struct Instance(PathBuf);

impl Drop for Instance {
    fn drop(&mut self) {
        // Nothing can be done if this fails; the next start removes what is left.
        let _ = write_to(&self.0.join("events/enable"), "0");
        let _ = fs::remove_dir(&self.0);
    }
}

fn set_up(instance: &Path, extents: &[DeviceExtent]) -> Result<Vec<File>, BlockTraceError> {
    write_to(&instance.join("trace_clock"), "mono")?;
    write_to(&instance.join("buffer_size_kb"), &BUFFER_KIB.to_string())?;
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
    let no_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let of_processors = instance.join("per_cpu");
    let failed = |path: &Path, error| BlockTraceError::File {
        path: path.to_owned(),
        error,
    };
    let entries = fs::read_dir(&of_processors).map_err(|error| failed(&of_processors, error))?;
    let pipes = entries.flatten().map(|entry| {
        let path = entry.path().join("trace_pipe_raw");
        let mut options = OpenOptions::new();
        let pipe = options.read(true).custom_flags(no_waiting).open(&path);
        pipe.map_err(|error| failed(&path, error))
    });
    pipes.collect()
}

/// How the kernel lays out its pages and events.
fn described(events: &Path) -> Result<(PageLayout, Formats), BlockTraceError> {
    let text = |path: &Path| read_at_once(path).map_err(|_| BlockTraceError::NotAccessible);
    let unknown = |path: &Path| BlockTraceError::Unknown {
        path: path.to_owned(),
    };
    let header_page = events.join("header_page");
    let layout = PageLayout::parse(&text(&header_page)?).ok_or_else(|| unknown(&header_page))?;
    let [issued, completed] = EVENTS.map(|event| events.join("block").join(event).join("format"));
    let formats = Formats::parse(&text(&issued)?, &text(&completed)?);
    Ok((layout, formats.ok_or_else(|| unknown(&issued))?))
}

/// Reads a file of the tracer. Some of them give their text to the first read only, as much of it
/// as fits, so that reading a little to begin with would cut it off.
fn read_at_once(path: &Path) -> io::Result<String> {
    let mut text = vec![0; 64 << 10];
    let mut file = File::open(path)?;
    let mut length = 0;
    while let bytes @ 1.. = file.read(&mut text[length..])? {
        length += bytes;
    }
    text.truncate(length);
    String::from_utf8(text).map_err(io::Error::other)
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

#[cfg(test)]
mod tests {
    use super::event::tests::{COMPLETE, ISSUE};
    use super::*;
    use std::io::Seek;

    const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
    const PAGE_BYTES: usize = 4096;
    const EXTENT: DeviceExtent = DeviceExtent {
        major: 254,
        minor: 3,
        first_sector: 1_000,
        sectors: 100,
    };

    /// Files as the kernel has them: how it describes events, and an instance with two processors.
    fn recorded() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let mut files = vec![
            ("events/header_page".to_owned(), HEADER_PAGE),
            ("events/block/block_rq_issue/format".to_owned(), ISSUE),
            ("events/block/block_rq_complete/format".to_owned(), COMPLETE),
        ];
        for name in ["trace_clock", "buffer_size_kb"] {
            files.push((format!("own/{name}"), ""));
        }
        for event in EVENTS {
            for name in ["filter", "enable"] {
                files.push((format!("own/events/block/{event}/{name}"), ""));
            }
        }
        for processor in 0..2 {
            files.push((format!("own/per_cpu/cpu{processor}/trace_pipe_raw"), ""));
        }
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// A page with one event of 52 bytes; `flags` stand beside its length.
    fn page(at_ns: u64, flags: u64, id: u16, sector: u64) -> Vec<u8> {
        let words = 13_u32;
        let head = match cfg!(target_endian = "little") {
            true => words,
            false => words << 27,
        };
        let mut page = at_ns.to_ne_bytes().to_vec();
        page.extend((flags | 56).to_ne_bytes());
        page.extend(head.to_ne_bytes());
        let mut data = [0; 52];
        data[0..2].copy_from_slice(&id.to_ne_bytes());
        data[8..12].copy_from_slice(&((254_u32 << 20) | 3).to_ne_bytes());
        data[16..24].copy_from_slice(&sector.to_ne_bytes());
        if id == 7 {
            data[24..28].copy_from_slice(&8_192_u32.to_ne_bytes());
            data[28..30].copy_from_slice(b"WS");
        }
        page.extend(data);
        page.resize(PAGE_BYTES, 0);
        page
    }

    #[test]
    fn an_instance_is_set_up_for_the_devices_under_test() {
        let root = recorded();
        let other = DeviceExtent {
            major: 8,
            minor: 0,
            ..EXTENT
        };
        let own = root.path().join("own");
        assert_eq!(set_up(&own, &[EXTENT, other]).unwrap().len(), 2);
        let filter = format!("dev == {} || dev == {}", 254 << 20 | 3, 8 << 20);
        for (file, text) in [
            ("trace_clock", "mono"),
            ("buffer_size_kb", "8192"),
            ("events/block/block_rq_issue/filter", &filter),
            ("events/block/block_rq_issue/enable", "1"),
            ("events/block/block_rq_complete/filter", &filter),
            ("events/block/block_rq_complete/enable", "1"),
        ] {
            assert_eq!(fs::read_to_string(own.join(file)).unwrap(), text, "{file}");
        }
        let missing = own.join("trace_clock");
        fs::remove_file(&missing).unwrap();
        let error = set_up(&own, &[EXTENT]).unwrap_err();
        assert!(
            error.to_string().starts_with(missing.to_str().unwrap()),
            "{error}"
        );
    }

    #[test]
    fn events_of_all_processors_become_requests_in_the_order_of_time() {
        const HAS_LOST: u64 = 1 << 31;
        let root = recorded();
        let own = root.path().join("own");
        // Each request begins on one processor and ends on the other; the third has not ended yet.
        let later_ns = u64::MAX / 2;
        let pages = [
            [
                page(1_000, 0, 7, 1_010),
                page(6_000, 0, 9, 1_020),
                page(later_ns, 0, 9, 1_030),
            ],
            [
                page(2_000, 0, 7, 1_020),
                page(2_500, 0, 7, 1_030),
                page(9_000, 0, 9, 1_010),
            ],
        ];
        let pipe = |processor: usize| own.join(format!("per_cpu/cpu{processor}/trace_pipe_raw"));
        for (processor, pages) in pages.iter().enumerate() {
            fs::write(pipe(processor), pages.concat()).unwrap();
        }
        let (layout, formats) = described(&root.path().join("events")).unwrap();
        let instance = root.path().join("instance");
        fs::create_dir(&instance).unwrap();
        let mut trace = BlockTrace {
            pipes: set_up(&own, &[EXTENT]).unwrap(),
            _instance: Instance(instance.clone()),
            _files: TraceFiles::at(root.path().to_owned()),
            page: vec![0; layout.page_bytes()],
            layout,
            formats,
            waiting: Vec::new(),
            pairing: Pairing::new(vec![EXTENT]),
            most_bytes: 0,
        };
        assert_eq!(trace.page.len(), PAGE_BYTES);
        let poll = |trace: &mut BlockTrace| {
            let mut seen = Vec::new();
            let each = |one: DeviceRequest| seen.push((one.ended_ns, one.latency_ns, one.bytes));
            trace.poll(each).unwrap();
            seen
        };
        assert_eq!(
            poll(&mut trace),
            [(6_000, 4_000, 8_192), (9_000, 8_000, 8_192)]
        );
        assert_eq!((trace.lost(), trace.waiting.len()), (0, 1));
        assert_eq!(trace.fullness(), 3.0 * 4_096.0 / 8_388_608.0);
        // Nothing came since.
        assert_eq!(poll(&mut trace), []);
        assert_eq!(trace.fullness(), 0.0);
        // Ends of which the beginnings were lost are no requests.
        let mut file = OpenOptions::new().append(true).open(pipe(1)).unwrap();
        file.write_all(&page(9_500, 0, 7, 1_040)).unwrap();
        file.write_all(&page(9_600, HAS_LOST, 9, 1_040)).unwrap();
        assert_eq!(trace.pipes.len(), 2);
        poll(&mut trace);
        assert_eq!(trace.lost(), 1);
        // What cannot be read is an error, and no end of the events.
        trace.pipes.push(File::open(&own).unwrap());
        assert!(trace.poll(|_| ()).is_err());
        drop(trace);
        assert!(!instance.exists());
    }

    #[test]
    fn a_description_of_another_kind_is_refused() {
        let root = recorded();
        let events = root.path().join("events");
        let refused = || described(&events).unwrap_err().to_string();
        fs::write(events.join("block/block_rq_issue/format"), "something").unwrap();
        assert!(refused().contains("block_rq_issue/format) is of an unknown kind"));
        fs::write(events.join("header_page"), "something").unwrap();
        assert!(refused().contains("header_page) is of an unknown kind"));
        fs::remove_file(events.join("header_page")).unwrap();
        assert!(matches!(
            described(&events),
            Err(BlockTraceError::NotAccessible)
        ));
    }

    /// Needs root and a file on a block device; says so and passes without.
    #[test]
    fn requests_of_a_real_device_are_seen_with_their_latency() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(extent) = DeviceExtent::under(directory.path()) else {
            return test_support::skip(format_args!(
                "no block device under {}",
                directory.path().display()
            ));
        };
        let mut trace = match BlockTrace::start(vec![extent]) {
            Ok(trace) => trace,
            Err(error) => {
                return test_support::skip(format_args!("no trace of the block layer: {error}"));
            }
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
        assert!(trace.fullness() > 0.0 && trace.fullness() <= 1.0);
        assert_eq!(trace.lost(), 0);
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
