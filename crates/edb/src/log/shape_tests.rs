//! The requests the log makes, and what it does when the storage misbehaves.

use super::{Log, LogError, LogReader, LogSettings};
use crate::format::database_header::Signature;
use crate::position::LogPosition;
use crate::settings::{Engine, EngineSettings, Internals};
use config::ByteSize;
use runtime::simulated::{Fault, FaultEffect};
use runtime::time::MILLISECOND_NS;
use runtime::trace::NoObserver;
use runtime::{Directory, Handle, IoCause, IoDirection, IoEvent, IoObserver, IoOperation};
use runtime::{Runtime, SimulatedDirectory, SimulatedDisk, SimulatedOptions};
use std::cell::RefCell;
use std::rc::Rc;

const KIB: u64 = 1024;

#[derive(Default)]
struct Recorder(RefCell<Vec<IoEvent>>);

impl IoObserver for Recorder {
    fn completed(&self, event: &IoEvent) {
        self.0.borrow_mut().push(*event);
    }
}

impl Recorder {
    /// Offset and length of the writes for `cause`, in KiB, since the last call.
    fn writes(&self, cause: IoCause) -> Vec<(u64, u64)> {
        self.requests(cause, IoDirection::Write)
    }

    /// The same of requests in either direction.
    fn requests(&self, cause: IoCause, direction: IoDirection) -> Vec<(u64, u64)> {
        let mut events = self.0.borrow_mut();
        let (wanted, others) = events
            .drain(..)
            .partition(|event| event.cause == cause && event.direction == direction);
        *events = others;
        let wanted: Vec<IoEvent> = wanted;
        let kib = |event: &IoEvent| (event.offset_bytes / KIB, event.length_bytes / KIB);
        wanted.iter().map(kib).collect()
    }
}

struct Bench {
    handle: Handle,
    disk: SimulatedDisk,
    directory: SimulatedDirectory,
    settings: LogSettings,
    recorder: Rc<Recorder>,
}

fn with_bench<T: Future<Output = ()> + 'static>(
    engine: &EngineSettings,
    capacity_bytes: u64,
    test: impl FnOnce(Bench) -> T + 'static,
) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let options = SimulatedOptions {
        capacity_bytes,
        ..SimulatedOptions::seeded(5)
    };
    let disk = SimulatedDisk::new(&handle, options);
    let bench = Bench {
        directory: disk.directory("log"),
        settings: LogSettings::new(engine, "E00", Signature::default()),
        recorder: Rc::default(),
        handle,
        disk,
    };
    runtime.block_on(test(bench));
}

impl Bench {
    async fn create(&self) -> Result<Log, LogError> {
        let observer = Rc::clone(&self.recorder);
        Log::create(&self.handle, &self.directory, &self.settings, observer).await
    }

    async fn read_all(&self) -> Result<usize, LogError> {
        let observer = Rc::new(NoObserver);
        let from = LogPosition::START;
        let reader = LogReader::open(&self.handle, &self.directory, "E00", from, observer).await?;
        let mut reader = reader.expect("there is a log");
        let mut records = 0;
        while reader.next().await?.is_some() {
            records += 1;
        }
        Ok(records)
    }
}

#[test]
fn commits_gather_in_whole_segments_that_are_written_once() {
    with_bench(&EngineSettings::default(), u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        // Two reserves, the first file, its header; the second file waits for progress.
        let formats = bench.recorder.writes(IoCause::LogFormat);
        assert_eq!(
            formats,
            [
                (0, 512),
                (512, 512),
                (0, 4),
                (0, 512),
                (512, 512),
                (0, 512),
                (512, 512)
            ]
        );
        let first = log.append(&[1; 100]);
        log.make_durable(first.end).await.expect("durable");
        let mut tasks = Vec::new();
        for _ in 0..20 {
            let log = log.clone();
            tasks.push(bench.handle.spawn(async move {
                let span = log.append(&[2; 1000]);
                log.make_durable(span.end).await.expect("durable");
            }));
        }
        for task in tasks {
            task.await;
        }
        let lazy = log.append(&[3; 10]);
        log.request(lazy.end, 50 * MILLISECOND_NS);
        bench.handle.sleep_ns(49 * MILLISECOND_NS).await;
        assert!(log.durable() < lazy.end, "nobody waits for it");
        bench.handle.sleep_ns(2 * MILLISECOND_NS).await;
        assert!(log.durable() >= lazy.end, "the time is up");
        let writes = bench.recorder.writes(IoCause::Log);
        assert_eq!(writes, [(4, 4), (8, 20), (28, 4)]);
        // Half a buffer of records goes out without anybody waiting; the open segment stays.
        for _ in 0..130 {
            log.append(&[4; 4052]);
        }
        bench.handle.sleep_ns(MILLISECOND_NS).await;
        assert_eq!(bench.recorder.writes(IoCause::Log), [(32, 520)]);
        // By now more than a fifth of the file is used: the next one is filled, by large writes.
        assert_eq!(bench.recorder.writes(IoCause::LogFormat), [(0, 512)]);
        log.close().await.expect("closed");
        assert_eq!(bench.read_all().await.expect("readable"), 1 + 20 + 1 + 130);
    });
}

fn tiny() -> EngineSettings {
    EngineSettings {
        engine: Engine {
            log_file_size: ByteSize::kib(64),
            log_buffer: ByteSize::kib(64),
            checkpoint_depth: ByteSize::mib(20),
            ..Engine::default()
        },
        ..EngineSettings::default()
    }
}

#[test]
fn released_files_are_used_again_without_being_filled() {
    with_bench(&tiny(), u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        for _ in 0..200 {
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end).await.expect("durable");
            log.release_before(log.generation().saturating_sub(1));
        }
        let statistics = log.statistics();
        assert!(statistics.rollovers >= 13, "{statistics:?}");
        assert!(statistics.files_created <= 4, "{statistics:?}");
        assert!(statistics.files_reused >= 10, "{statistics:?}");
        // The end of each file is written, too: nothing of its earlier life stays.
        let writes = bench.recorder.writes(IoCause::Log);
        let to_the_end = writes.iter().filter(|&&(at, length)| at + length == 64);
        assert_eq!(to_the_end.count() as u64, statistics.rollovers);
        log.close().await.expect("closed");
        let files = bench.directory.list().await.expect("listed");
        assert!(files.len() <= 7, "{files:?}");
    });
}

#[test]
fn each_further_copy_reads_every_full_file_once() {
    const READERS: u32 = 3;
    let engine = EngineSettings {
        log_replication_readers: READERS,
        internals: Internals {
            log_replication_read_bytes: 24 * KIB,
            ..Internals::default()
        },
        ..tiny()
    };
    with_bench(&engine, u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        for _ in 0..200 {
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end).await.expect("durable");
            // Everything may go at once; the files that are still to be read stay.
            log.release_before(log.generation());
        }
        let reads_of =
            |recorder: &Recorder| recorder.requests(IoCause::LogReplication, IoDirection::Read);
        bench.handle.sleep_ns(1000 * MILLISECOND_NS).await;
        let statistics = log.statistics();
        assert!(statistics.rollovers >= 13, "{statistics:?}");
        assert!(statistics.files_reused >= 10, "{statistics:?}");
        let reads = reads_of(&bench.recorder);
        let bytes: u64 = reads.iter().map(|(_, kib)| kib * KIB).sum();
        let of_full_files = statistics.rollovers * bench.settings.file_bytes();
        assert_eq!(bytes, u64::from(READERS) * of_full_files);
        for step in [(0, 24), (24, 24), (48, 16)] {
            let count = reads.iter().filter(|&&read| read == step).count() as u64;
            assert_eq!(count, u64::from(READERS) * statistics.rollovers);
        }
        log.close().await.expect("closed");
        assert_eq!(
            reads_of(&bench.recorder),
            [],
            "nothing is read after the end"
        );
    });
}

#[test]
fn a_reader_that_fails_holds_up_nobody() {
    let engine = EngineSettings {
        log_replication_readers: 1,
        ..tiny()
    };
    with_bench(&engine, u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        // Whoever observes the requests learns of it; files are used again all the same.
        let failure = runtime::IoFailure::Device("bad".to_owned());
        let fault = Fault::once(IoOperation::Read, 1, FaultEffect::Fail(failure));
        bench.disk.set_fault(fault.on_file("E0000000002.log"));
        for _ in 0..200 {
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end).await.expect("durable");
            log.release_before(log.generation());
        }
        let statistics = log.statistics();
        assert!(statistics.files_reused >= 8, "{statistics:?}");
        let events = bench.recorder.0.borrow().clone();
        let failed = events.iter().filter(|event| !event.succeeded);
        let causes: Vec<_> = failed.map(|event| event.cause).collect();
        assert_eq!(causes, [IoCause::LogReplication]);
        log.close().await.expect("closed");
    });
}

#[test]
fn a_log_that_is_closed_removes_nothing_any_more() {
    let mut engine = tiny();
    engine.engine.checkpoint_depth = ByteSize::kib(64);
    with_bench(&engine, u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        while log.generation() < 30 {
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end).await.expect("durable");
        }
        // The next file begins, and the task that prepares the one after it removes many.
        log.release_before(log.generation());
        let begun = log.generation();
        while log.generation() == begun {
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end).await.expect("durable");
        }
        log.close().await.expect("closed");
        let oldest = log.oldest_full();
        let files = bench.directory.list().await.expect("listed");
        bench.handle.sleep_ns(1000 * MILLISECOND_NS).await;
        assert_eq!(bench.directory.list().await.expect("listed"), files);
        assert_eq!(log.oldest_full(), oldest);
        assert!(
            log.statistics().files_removed > 10,
            "{:?}",
            log.statistics()
        );
    });
}

#[test]
fn files_released_together_wait_to_be_used_again() {
    let mut engine = tiny();
    engine.engine.checkpoint_depth = ByteSize::kib(4 * 64);
    with_bench(&engine, u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        let kept_files = 8; // Twice the depth.
        let mut waiting = 0;
        for at_once in [6, 8, 8, 14, 3] {
            let created = log.statistics().files_created;
            let until = log.generation() + at_once;
            while log.generation() < until {
                let span = log.append(&[7; 3000]);
                log.make_durable(span.end).await.expect("durable");
            }
            bench.handle.sleep_ns(50 * MILLISECOND_NS).await; // The next file is ready.
            log.release_before(log.generation());
            let made = (log.statistics().files_created - created) as u32;
            assert!(
                made <= at_once.saturating_sub(waiting) + 1,
                "{made} files made"
            );
            waiting = at_once.min(kept_files as u32) - 1;
        }
        let statistics = log.statistics();
        assert!(statistics.files_reused >= 18, "{statistics:?}");
        assert!(statistics.files_removed >= 2, "{statistics:?}");
        log.close().await.expect("closed");
        let files = bench.directory.list().await.expect("listed");
        // The current file, the next one and two reserves are not counted.
        assert!(files.len() <= kept_files + 4, "{files:?}");
    });
}

#[test]
fn a_full_disk_refuses_new_work_and_finishes_the_old() {
    // Room for the log, its successor, the reserves and a little more.
    with_bench(&tiny(), 5 * 64 * KIB + 32 * KIB, |bench| async move {
        let log = bench.create().await.expect("created");
        let mut refused = None;
        let mut records = 0;
        while refused.is_none() {
            refused = log.admit().await.err();
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end)
                .await
                .expect("what is under way ends");
            records += 1;
        }
        assert!(
            matches!(refused, Some(LogError::OutOfSpace(_))),
            "{refused:?}"
        );
        // A roll-back may need another file or two: the reserves are for it.
        for _ in 0..30 {
            let span = log.append(&[8; 3000]);
            log.make_durable(span.end)
                .await
                .expect("there are reserves");
            records += 1;
        }
        assert!(log.statistics().reserves_used > 0);
        log.close().await.expect("closed");
        assert_eq!(bench.read_all().await.expect("readable"), records);
    });
}

#[test]
fn damage_in_the_middle_is_distinguished_from_a_torn_end() {
    with_bench(&tiny(), u64::MAX, |bench| async move {
        // The fifth write to the stream is damaged by the disk, the sixth follows it.
        let log = bench.create().await.expect("created");
        let fault = Fault::once(IoOperation::Write, 5, FaultEffect::CorruptWrite);
        bench.disk.set_fault(fault.on_file("E00.log"));
        for count in 0..5 {
            let span = log.append(&[7; 3000]);
            log.make_durable(span.end).await.expect("the disk says so");
            assert!(count < 5);
        }
        assert_eq!(bench.read_all().await.expect("a torn end"), 4);
        let span = log.append(&[7; 3000]);
        log.make_durable(span.end).await.expect("durable");
        let damage = bench
            .read_all()
            .await
            .expect_err("the log goes on behind the damage");
        let text = damage.to_string();
        assert!(
            text.contains("E00.log") && text.contains("segment 5"),
            "{text}"
        );
    });
}

#[test]
fn a_failed_write_fails_everybody_who_waits() {
    with_bench(&tiny(), u64::MAX, |bench| async move {
        let log = bench.create().await.expect("created");
        let failure = runtime::IoFailure::Device("bad".to_owned());
        let fault = Fault::once(IoOperation::Write, 1, FaultEffect::Fail(failure));
        bench.disk.set_fault(fault.on_file("E00.log"));
        let span = log.append(&[1]);
        let waiting = log.make_durable(span.end).await;
        assert!(matches!(waiting, Err(LogError::Io(_))), "{waiting:?}");
        let span = log.append(&[1]);
        assert_eq!(
            log.make_durable(span.end).await,
            waiting,
            "the failure sticks"
        );
        assert_eq!(log.admit().await, waiting);
        assert_eq!(log.close().await, waiting);
    });
}
